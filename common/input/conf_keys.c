/*
 * conf_keys.c - auc_conf_keys[] is the whole of what auction.conf may say: it parses, bounds, fills
 * defaults, words the errors, prints the configuration and prints the manual's list.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/conf-private.h"
#include "input/conf_prices.h"
#include "base/num.h"
#include "policy/policy.h"
#include "policy/registry.h"
#include "base/list.h"

#define PARTITIONS_MAX 64
#define MODELS_MAX     256
#define REFILLS_MAX    1024
#define SHAPES_MAX     32
#define AMOUNT_MIN     1e-9 /* of a TRES in one worker or PS */
#define AMOUNT_MAX     1e12
#define ETA_MAX        1e12
#define SECONDS_MAX    1e9
#define DAY            86400.0

#define IN_CONF(member)   offsetof(struct auc_conf, member)
#define IN_PART(member)   offsetof(struct auc_conf_partition, member)
#define IN_TYPE(member)   offsetof(struct auc_conf_type, member)
#define IN_MODEL(member)  offsetof(struct auc_conf_model, member)
#define IN_REFILL(member) offsetof(struct auc_conf_refill, member)
#define IN_SHAPE(member)  offsetof(struct auc_conf_shape, member)

/* clang-format off */
const struct key auc_conf_keys[] = {
	{.section = GLOBAL, .name = "Policy", .type = TYPE_POLICY, .preset = "dps",
	 .help = "How schedules are found and priced, with the options of that policy."},
	{.section = GLOBAL, .name = "SlotSeconds", .type = TYPE_SPAN, .offset = IN_CONF(slot_seconds),
	 .min = 1, .max = 7 * DAY, .preset = "300",
	 .help = "Length of a slot, the unit of time that is sold."},
	{.section = GLOBAL, .name = "Slots", .type = TYPE_COUNT, .offset = IN_CONF(slots),
	 .min = 1, .max = AUC_SLOTS_MAX, .preset = "288",
	 .help = "How many slots ahead are for sale."},
	{.section = GLOBAL, .name = "StartMargin", .type = TYPE_SPAN, .offset = IN_CONF(start_margin),
	 .min = 0, .max = DAY, .preset = "2",
	 .help = "A slot that begins sooner than this after the submission is not sold to it."},
	{.section = GLOBAL, .name = "LateStart", .type = TYPE_SPAN, .offset = IN_CONF(late_start),
	 .min = 0, .max = DAY, .preset = "0",
	 .help = "A slot that began no longer ago than this is sold, too, at its full price: the job starts at once. 0: jobs "
		 "wait for a slot to begin. Less than SlotSeconds."},
	{.section = GLOBAL, .name = "EndMargin", .type = TYPE_SPAN, .offset = IN_CONF(end_margin),
	 .min = 0, .max = DAY, .preset = "1",
	 .help = "A job's time limit ends this long before its last slot does, so that the next one starts on a free node. "
		 "Less than SlotSeconds."},
	{.section = GLOBAL, .name = "Overrun", .type = TYPE_CHOICE, .offset = IN_CONF(extends),
	 .choices = "kill|extend", .preset = "extend",
	 .help = "What happens at the end of its plan to a job whose bid does not say (--overrun): it ends, or buys one slot after the other "
		 "while nobody else has bought them, at the price of the moment, up to its value. With policies aonline, posted and eris it ends."},
	{.section = GLOBAL, .name = "Margin", .type = TYPE_MARGIN, .offset = IN_CONF(margin),
	 .preset = "none",
	 .help = "For how long jobs are planned whose bids do not say how long they take at most (--time-max). none: as they state. A number "
		 "from 1 to 10: for that many times it. learned, or learned:QUANTILE: for as long as 0.95, or that part, of the site's jobs took "
		 "that have ended, those of the same user, model and partition counting for more; no less than is stated, no more than twice that. "
		 "Where that is refused, as stated. Not with policies aonline and posted."},
	{.section = GLOBAL, .name = "ChangeNotice", .type = TYPE_SPAN, .offset = IN_CONF(change_notice),
	 .min = 0, .max = DAY,
	 .help = "How long before its layout changes a job is told, and one whose script handles that, before its end. At most half "
		 "of SlotSeconds. Default: 90 s, but three tenths of SlotSeconds at most and 5 s at least."},
	{.section = GLOBAL, .name = "ChangeSignal", .type = TYPE_NAME, .offset = IN_CONF(change_signal), .preset = "USR1",
	 .help = "The signal that tells it, such as USR1, URG or WINCH; none: no signal. Not KILL, STOP, TERM, INT, HUP or CHLD, which "
		 "slaunch does not take for it."},
	{.section = GLOBAL, .name = "LienSeconds", .type = TYPE_SPAN, .offset = IN_CONF(lien_seconds),
	 .min = 1, .max = 3600, .preset = "10",
	 .help = "How long a plan is held for a submission until its job is seen."},
	{.section = GLOBAL, .name = "OfferTime", .type = TYPE_SPAN, .offset = IN_CONF(offer_seconds),
	 .min = 0, .max = 3600, .preset = "60",
	 .help = "Policy=posted: how long what sbatch --quote offers can be had at its price by sbatch --accept. 0: not at all."},
	{.section = GLOBAL, .name = "Prices", .type = TYPE_ONE_OF, .offset = IN_CONF(prices),
	 .choices = "none|given|published|flat|learned", .preset = "learned",
	 .help = "Where prices come from. none: everything that is free costs nothing. given: Eta (Policy=oasis: Lower and Upper). "
		 "published: the function of the policy's paper, its parameters learned from past bids. flat: one price for each "
		 "TRES, fitted to past bids. learned: prices for each class of nodes and slot, or none, or the published, or flat ones, "
		 "whichever past bids, replayed, say is best; published ones until there are bids to learn from."},
	{.section = GLOBAL, .name = "Eta", .type = TYPE_AMOUNTS, .offset = IN_CONF(eta), .count = IN_CONF(neta),
	 .limit = AUC_TRES_MAX, .min = 1, .max = ETA_MAX,
	 .help = "Base of the price function for each TRES; one that is not named has base 1 and is free. With "
		 "published prices, also if learned takes these: what the base is at least."},
	{.section = GLOBAL, .name = "TransferBudget", .type = TYPE_NUMBER, .offset = IN_CONF(transfer_mb),
	 .min = 0.001, .max = 4e9,
	 .help = "Policy=eris: MB (millions of bytes) that all nodes together may send each other in a slot: chunks that are "
		 "moved, and what workers away from the PS exchange with it. Sold like a TRES called transfer, whose base "
		 "stands in Eta. Default: no limit, and no price."},
	{.section = GLOBAL, .name = "Lower", .type = TYPE_AMOUNTS, .offset = IN_CONF(bounds.lower), .count = IN_CONF(bounds.nlower),
	 .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Policy=oasis: unit price of each TRES where nothing is sold, 0 for one that is not named. With "
		 "published prices, and with flat ones of form bounds, also if learned takes these: what it is at least."},
	{.section = GLOBAL, .name = "Upper", .type = TYPE_AMOUNTS, .offset = IN_CONF(bounds.upper), .count = IN_CONF(bounds.nupper),
	 .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Policy=oasis: unit price of each TRES where all of it is sold; one that is not named is free. With "
		 "published prices, also if learned takes these: what it is at least."},
	{.section = GLOBAL, .name = "PSLower", .type = TYPE_AMOUNTS, .offset = IN_CONF(ps_bounds.lower),
	 .count = IN_CONF(ps_bounds.nlower), .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Lower of servers that host PSs. Needs PSUpper."},
	{.section = GLOBAL, .name = "PSUpper", .type = TYPE_AMOUNTS, .offset = IN_CONF(ps_bounds.upper),
	 .count = IN_CONF(ps_bounds.nupper), .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "Upper of servers that host PSs; one that hosts workers, too, has the lower Lower and the higher Upper of both. "
		 "Default: the same as Lower and Upper."},
	{.section = GLOBAL, .name = "HistoryBids", .type = TYPE_COUNT, .offset = IN_CONF(history_bids),
	 .min = 1, .max = 10000, .preset = "8000",
	 .help = "How many of the last bids prices are learned from."},
	{.section = GLOBAL, .name = "Rearrange", .type = TYPE_CHOICE, .offset = IN_CONF(rearrange),
	 .choices = "no|yes", .preset = "yes",
	 .help = "Prices=learned with Policy=dps: whether jobs that are sold and have not begun move to nodes and slots that cost less by now. They complete no later, and pay what they were sold for."},
	{.section = GLOBAL, .name = "SpoolDir", .type = TYPE_PATH, .offset = IN_CONF(spool_dir),
	 .help = "Directory of the price state. Default: auction in StateSaveLocation."},
	{.section = GLOBAL, .name = "PublicStatus", .type = TYPE_PATH, .offset = IN_CONF(public_status),
	 .help = "File that all users may read: prices, what is free, and what prices were learned from, but no sales. sprice shows it to "
		 "those who may not read the whole status, and prices in short without it. Its directory must exist, be on the controller's own disk, and one where SlurmUser "
		 "may write and nobody else. Default: none."},
	{.section = GLOBAL, .name = "DefaultBid", .type = TYPE_TEXT, .offset = IN_CONF(default_bid),
	 .help = "Bid of a job that comes to an auction partition without one, words key=value in quotes or separated by "
		 "';'. Default: such a job is refused."},
	{.section = GLOBAL, .name = "DefaultModel", .type = TYPE_NAME, .offset = IN_CONF(default_model),
	 .help = "Model that fills what a bid without a model leaves out."},
	{.section = GLOBAL, .name = "RefundUnused", .type = TYPE_ONE_OF, .offset = IN_CONF(refund_unused),
	 .choices = "no|yes|seconds", .preset = "seconds",
	 .help = "What a job that ends early gets back. seconds: the share of its payment for the time that was left of its plan; with LateStart "
		 "the rest of the slot is for sale, too. yes: that of whole slots that it did not begin. no: nothing. What it used is charged as "
		 "if it had bought no more."},
	{.section = GLOBAL, .name = "CancelFee", .type = TYPE_FEE, .offset = IN_CONF(cancel), .count = IN_CONF(ncancel),
	 .limit = AUC_CANCEL_MAX, .preset = "0.5,10m=0.25,1h=0.1,1d=0.05",
	 .help = "The share of its payment that is kept of a job that is cancelled before it starts: the first one, or that of the longest "
		 "TIME before its start that is not over yet. 0: all is paid back."},
	{.section = GLOBAL, .name = "UserLiens", .type = TYPE_COUNT, .offset = IN_CONF(user_liens),
	 .min = 0, .max = 1e6, .preset = "32",
	 .help = "How many accepted bids of a user may wait until their jobs are seen. Each holds its place for up to LienSeconds, also "
		 "that of sbatch --test-only, which never becomes a job. 0: no limit. Not for root."},
	{.section = GLOBAL, .name = "UserQuotes", .type = TYPE_COUNT, .offset = IN_CONF(user_quotes),
	 .min = 0, .max = 1e6, .preset = "60",
	 .help = "How many bids and quotes a minute a user may make that do not become jobs. 0: no limit. Not for root."},
	{.section = GLOBAL, .name = "UserJobs", .type = TYPE_COUNT, .offset = IN_CONF(user_jobs),
	 .min = 0, .max = 1e6, .preset = "500",
	 .help = "How many jobs a user may have bought that have not ended. 0: no limit. Not for root."},
	{.section = GLOBAL, .name = "StandsMax", .type = TYPE_SPAN, .offset = IN_CONF(stands_max),
	 .min = 0, .max = 604800, .preset = "1d",
	 .help = "For how long a refused bid may stand (--stands): its job is held and decided again. 0: no bid does."},
	{.section = GLOBAL, .name = "UserStands", .type = TYPE_COUNT, .offset = IN_CONF(user_stands),
	 .min = 1, .max = 2048, .preset = "16",
	 .help = "How many bids of a user may stand at a time. For root, too."},
	{.section = GLOBAL, .name = "Stands", .type = TYPE_COUNT, .offset = IN_CONF(stands),
	 .min = 1, .max = 2048, .preset = "512",
	 .help = "How many bids may stand at a time, of all users together."},

	{.section = GLOBAL, .name = "Budgets", .type = TYPE_ONE_OF, .offset = IN_CONF(budgets),
	 .choices = "none|user|account", .preset = "none",
	 .help = "Whose money bids spend. none: nobody is held to a budget. user: each user has an own one. account: the Slurm account that "
		 "a job runs for pays, and so do, in that what they have left is a limit, the accounts above it that were granted something. "
		 "sauction grant and Refill give money; who was given nothing has nothing. Not for root."},
	{.section = GLOBAL, .name = "Return", .type = TYPE_ONE_OF, .offset = IN_CONF(give_back),
	 .choices = "none|equal|shares", .preset = "none",
	 .help = "Whether what the market has earned goes back, as a lump sum when a period of ReturnEvery begins, to those who had money "
		 "before, so that prices make a site's users no poorer. equal: to each as much; shares: in proportion to their Refill."},
	{.section = GLOBAL, .name = "ReturnEvery", .type = TYPE_ONE_OF, .offset = IN_CONF(return_every),
	 .choices = "hour|day|week|month", .preset = "month",
	 .help = "The periods of Return. They begin on the hour, at midnight, on a Monday or on the first, UTC."},
	{.section = GLOBAL, .name = "Mail", .type = TYPE_CHOICE, .offset = IN_CONF(mail),
	 .choices = "no|yes", .preset = "yes",
	 .help = "Whether users are mailed of their sales, as --mail-type of their jobs asks, by MailProg of slurm.conf: with BEGIN of the sale, with END of "
		 "what was paid and paid back and of a bid that stood in vain, with FAIL of these where a job did not complete, with any of the three when 80 % and 95 % of a budget are "
		 "spent or held."},
	{.section = GLOBAL, .name = "Fence", .type = TYPE_ONE_OF, .offset = IN_CONF(fence),
	 .choices = "no|yes|auto", .preset = "auto",
	 .help = "Whether nodes are reserved for the times that are sold, so that other partitions' jobs stay out: all that "
		 "are sold, none, or those that are in another partition, too."},
	{.section = GLOBAL, .name = "PowerUpLead", .type = TYPE_SPAN, .offset = IN_CONF(power_up_lead),
	 .min = 0, .max = DAY, .preset = "0",
	 .help = "How long before its slot a node that is powered down is powered up. 0: ResumeTimeout of slurm.conf."},

	{.section = PARTITION, .name = "PartitionName", .type = TYPE_NEW_NAME, .offset = IN_PART(name), .required = true,
	 .help = "Opens the line of a partition of slurm.conf whose nodes are sold."},
	{.section = PARTITION, .name = "Site", .type = TYPE_CHOICE, .offset = IN_PART(cloud),
	 .choices = "edge|cloud", .preset = "edge",
	 .help = "Whether its nodes are near the data or in the cloud."},
	{.section = PARTITION, .name = "Roles", .type = TYPE_ONE_OF, .offset = IN_PART(roles),
	 .choices = "both|worker|ps", .preset = "both",
	 .help = "What its nodes may host: workers, PSs or both. OASiS keeps them apart."},
	{.section = PARTITION, .name = "Upload", .type = TYPE_SPAN, .offset = IN_PART(upload_seconds),
	 .min = 0, .max = SECONDS_MAX, .preset = "0",
	 .help = "Time until a job's data are on its nodes, unless the bid says otherwise."},
	{.section = PARTITION, .name = "OneServer", .type = TYPE_CHOICE, .offset = IN_PART(one_server),
	 .choices = "no|yes", .preset = "no",
	 .help = "Whether its nodes are one large server, as a cloud is: what a schedule has there, workers and PSs of a co-located job, "
		 "too, is spread over as many of them as it takes."},

	{.section = PARTITION, .name = "Bandwidth", .type = TYPE_NUMBER, .offset = IN_PART(bandwidth_mbps),
	 .min = 0, .max = 1e9, .preset = "0",
	 .help = "Network bandwidth at which a job's data get to its nodes, in Mbit/s: with the bid's --data-mb the time "
		 "until they are there, instead of Upload. 0: not known."},

	{.section = PARTITION, .name = "Cost", .type = TYPE_AMOUNTS, .offset = IN_PART(cost), .count = IN_PART(ncost),
	 .limit = AUC_TRES_MAX, .min = 0, .max = ETA_MAX,
	 .help = "What a unit of each TRES of its nodes costs the site, in credits per hour. Nothing there is sold for less, wherever prices "
		 "come from, and prices are chosen by what is left of the value of jobs. One that is not named costs nothing."},

	{.section = PARTITION, .name = "CostHours", .type = TYPE_HOURS, .offset = IN_PART(cost_hour), .count = IN_PART(hourly),
	 .help = "At which hours of the day, UTC, that cost is another, as factors of it: 8-20=1.5,22-6=0.5. A slot costs what the hour "
		 "in which it begins does; the later of two spans holds, and 1 where there is none."},
	{.section = WORKER_TYPE, .name = "WorkerType", .type = TYPE_NEW_NAME, .offset = IN_TYPE(name), .required = true,
	 .help = "Opens the line of a kind of worker."},
	{.section = WORKER_TYPE, .name = "TRES", .type = TYPE_AMOUNTS, .offset = IN_TYPE(tres), .count = IN_TYPE(ntres),
	 .limit = AUC_TRES_MAX, .min = AMOUNT_MIN, .max = AMOUNT_MAX, .required = true,
	 .help = "What one worker takes of a node: cpu, mem (in MB), gpu or gpu:TYPE."},
	{.section = WORKER_TYPE, .name = "Bandwidth", .type = TYPE_NUMBER, .offset = IN_TYPE(bandwidth_mbps),
	 .min = 1e-3, .max = 1e9, .preset = "1000",
	 .help = "Network bandwidth one worker has, in Mbit/s."},
	{.section = PS_TYPE, .name = "PSType", .type = TYPE_NEW_NAME, .offset = IN_TYPE(name), .required = true,
	 .help = "Opens the line of a kind of parameter server."},
	{.section = PS_TYPE, .name = "TRES", .type = TYPE_AMOUNTS, .offset = IN_TYPE(tres), .count = IN_TYPE(ntres),
	 .limit = AUC_TRES_MAX, .min = AMOUNT_MIN, .max = AMOUNT_MAX, .required = true,
	 .help = "What one PS takes of a node."},
	{.section = PS_TYPE, .name = "Bandwidth", .type = TYPE_NUMBER, .offset = IN_TYPE(bandwidth_mbps),
	 .min = 1e-3, .max = 1e9, .preset = "10000",
	 .help = "Network bandwidth one PS has, in Mbit/s."},

	{.section = MODEL, .name = "Model", .type = TYPE_NEW_NAME, .offset = IN_MODEL(name), .required = true,
	 .help = "Opens the line of a profile that bids can take their work from."},
	{.section = MODEL, .name = "Epochs", .type = TYPE_COUNT64, .offset = IN_MODEL(epochs),
	 .min = 1, .max = AUC_WORK_MAX, .help = "Passes over the data set."},
	{.section = MODEL, .name = "Chunks", .type = TYPE_COUNT64, .offset = IN_MODEL(chunks),
	 .min = 1, .max = AUC_WORK_MAX, .help = "Chunks of the data set."},
	{.section = MODEL, .name = "Minibatches", .type = TYPE_COUNT64, .offset = IN_MODEL(minibatches),
	 .min = 1, .max = AUC_WORK_MAX, .help = "Mini-batches in one chunk."},
	{.section = MODEL, .name = "GradientMB", .type = TYPE_NUMBER, .offset = IN_MODEL(gradient_mb),
	 .min = 0, .max = 1e9, .help = "Size of the gradients, in MB."},
	{.section = MODEL, .name = "WorkerTime", .type = TYPE_TIMES, .offset = IN_MODEL(worker_seconds),
	 .count = IN_MODEL(nworkers), .limit = AUC_BID_TYPES_MAX, .min = 1e-9, .max = SECONDS_MAX,
	 .help = "Time of one mini-batch on each worker type the model runs on."},
	{.section = MODEL, .name = "PSTime", .type = TYPE_TIMES, .offset = IN_MODEL(ps_seconds),
	 .count = IN_MODEL(nps), .limit = AUC_BID_TYPES_MAX, .min = 0, .max = SECONDS_MAX,
	 .help = "Time of one parameter update on each PS type."},

	{.section = REFILL, .name = "Refill", .type = TYPE_PAYER, .offset = IN_REFILL(name), .required = true,
	 .help = "Opens the line of an account that is given credits by itself when a period begins. With * every user, or every account, "
		 "that has no line of its own. A period that slurmctld was away for is not made up for."},
	{.section = REFILL, .name = "Amount", .type = TYPE_NUMBER, .offset = IN_REFILL(amount),
	 .min = 0, .max = AUC_VALUE_MAX, .required = true,
	 .help = "How much."},
	{.section = REFILL, .name = "Every", .type = TYPE_ONE_OF, .offset = IN_REFILL(every),
	 .choices = "hour|day|week|month", .preset = "month",
	 .help = "How often. Periods begin on the hour, at midnight, on a Monday or on the first, UTC."},
	{.section = REFILL, .name = "Carry", .type = TYPE_CHOICE, .offset = IN_REFILL(carry),
	 .choices = "no|yes", .preset = "no",
	 .help = "Whether what is left of the period before is kept. What bids hold is kept always."},

	{.section = SHAPE, .name = "Shape", .type = TYPE_NEW_NAME, .offset = IN_SHAPE(name), .required = true,
	 .help = "Opens the line of a standard shape of a job, whose price is kept on a board for all users (sprice --board) and "
		 "whose past prices are (sprice --history). For policies that take jobs without a model."},
	{.section = SHAPE, .name = "Nodes", .type = TYPE_COUNT, .offset = IN_SHAPE(nodes),
	 .min = 1, .max = 100000, .preset = "1",
	 .help = "How many nodes it has."},
	{.section = SHAPE, .name = "GpusPerNode", .type = TYPE_COUNT, .offset = IN_SHAPE(gpus),
	 .min = 0, .max = 1024, .preset = "0",
	 .help = "How many GPUs of each node."},
	{.section = SHAPE, .name = "Type", .type = TYPE_NAME, .offset = IN_SHAPE(type),
	 .help = "The type of its GPUs. Default: any, whichever costs least."},
	{.section = SHAPE, .name = "CpusPerNode", .type = TYPE_COUNT, .offset = IN_SHAPE(cpus),
	 .min = 1, .max = 65536, .preset = "1",
	 .help = "How many CPUs of each node."},
	{.section = SHAPE, .name = "MemPerNode", .type = TYPE_NUMBER, .offset = IN_SHAPE(mem),
	 .min = 0, .max = AMOUNT_MAX, .preset = "0",
	 .help = "How much memory of each node, in MB."},
	{.section = SHAPE, .name = "Time", .type = TYPE_SPAN, .offset = IN_SHAPE(seconds),
	 .min = 1, .max = SECONDS_MAX, .required = true,
	 .help = "For how long."},
	{.section = SHAPE, .name = "Partition", .type = TYPE_NAME, .offset = IN_SHAPE(partition),
	 .help = "Where, one that has a line PartitionName. Default: any of them."},
};
/* clang-format on */
#define NKEYS (sizeof(auc_conf_keys) / sizeof(*auc_conf_keys))
const unsigned auc_conf_nkeys = NKEYS;
_Static_assert(NKEYS <= AUC_CONF_KEYS_MAX, "more keys than there is room for");

const struct list auc_conf_lists[NSECTIONS] = {
	[PARTITION] = {IN_CONF(partitions), IN_CONF(npartitions), sizeof(struct auc_conf_partition),
		       PARTITIONS_MAX},
	[WORKER_TYPE] = {IN_CONF(worker_types), IN_CONF(nworker_types),
			 sizeof(struct auc_conf_type), AUC_TYPES_MAX},
	[PS_TYPE] = {IN_CONF(ps_types), IN_CONF(nps_types), sizeof(struct auc_conf_type),
		     AUC_TYPES_MAX},
	[MODEL] = {IN_CONF(models), IN_CONF(nmodels), sizeof(struct auc_conf_model), MODELS_MAX},
	[REFILL] = {IN_CONF(refills), IN_CONF(nrefills), sizeof(struct auc_conf_refill),
		    REFILLS_MAX},
	[SHAPE] = {IN_CONF(shapes), IN_CONF(nshapes), sizeof(struct auc_conf_shape), SHAPES_MAX},
};

static enum auc_code set_name(const struct key *key, void *base, const char *value,
			      struct auc_err *err);
static enum auc_code set_payer(const struct key *key, void *base, const char *value);
static enum auc_code set_policy(struct auc_conf *conf, const char *value, struct auc_err *err);
static enum auc_code set_choice(const struct key *key, void *base, const char *value,
				struct auc_err *err);
static enum auc_code set_one_of(const struct key *key, void *base, const char *value);
static enum auc_code set_text(const struct key *key, void *base, const char *value,
			      struct auc_err *err);
static enum auc_code set_list(const struct auc_conf *conf, const struct key *key, void *base,
			      const char *value, struct auc_err *err);
static enum auc_code set_span(const struct auc_conf *conf, const struct key *key, void *base,
			      const char *value, struct auc_err *err);
static enum auc_code set_fee(const struct key *key, void *base, const char *value);
static enum auc_code set_margin(struct auc_margin *margin, const char *value);
static void print_section(const struct auc_conf *conf, enum section section, const void *base,
			  FILE *out);
static bool print_value(const struct auc_conf *conf, const struct key *key, const void *base,
			FILE *out);

const struct auc_conf_partition *auc_conf_partition(const struct auc_conf *conf, const char *name)
{
	return auc_conf_item_find(conf, PARTITION, name);
}

const struct auc_conf_type *auc_conf_worker_type(const struct auc_conf *conf, const char *name)
{
	return auc_conf_item_find(conf, WORKER_TYPE, name);
}

const struct auc_conf_type *auc_conf_ps_type(const struct auc_conf *conf, const char *name)
{
	return auc_conf_item_find(conf, PS_TYPE, name);
}

const struct auc_conf_model *auc_conf_model(const struct auc_conf *conf, const char *name)
{
	return auc_conf_item_find(conf, MODEL, name);
}

unsigned auc_conf_name_users(struct auc_conf *conf, bool (*find)(const char *name, uint32_t *uid),
			     const char **unknown)
{
	unsigned n = 0;
	uint32_t uid;

	for (unsigned i = 0; i < conf->nrefills; i++) {
		char *name = conf->refills[i].name, *user = name + strlen("user:");

		if (strncmp(name, "user:", strlen("user:")) || !strcmp(user, "*") ||
		    strspn(user, "0123456789") == strlen(user))
			continue;
		if (find(user, &uid) && uid)
			snprintf(user, AUC_REFILL_NAME_LEN - strlen("user:"), "%" PRIu32, uid);
		else if (!n++)
			*unknown = user;
	}
	return n;
}

const struct auc_conf_refill *auc_conf_refill(const struct auc_conf *conf, const char *name)
{
	const struct auc_conf_refill *own = auc_conf_item_find(conf, REFILL, name);

	if (own)
		return own;
	if (!strncmp(name, "user:", 5))
		return auc_conf_item_find(conf, REFILL, "user:*");
	return strncmp(name, "account:", 8) ? NULL : auc_conf_item_find(conf, REFILL, "account:*");
}

void auc_conf_print(const struct auc_conf *conf, FILE *out)
{
	enum section section;
	const char *items;
	unsigned i, n;

	print_section(conf, GLOBAL, conf, out);
	for (section = PARTITION; section < NSECTIONS; section++) {
		items = *(char *const *)((const char *)conf + auc_conf_lists[section].items);
		n = *(const unsigned *)((const char *)conf + auc_conf_lists[section].count);
		for (i = 0; i < n; i++)
			print_section(conf, section, items + i * auc_conf_lists[section].size, out);
	}
}

void auc_conf_print_keys(FILE *out)
{
	const struct key *key;
	char range[128];

	for (key = auc_conf_keys; key < auc_conf_keys + auc_conf_nkeys; key++) {
		auc_conf_key_describe(key, range, sizeof(range));
		fprintf(out, "%s\t%s\t%s\t%s\t%s\n",
			key->section == GLOBAL ? "" : auc_conf_key_opening(key->section)->name,
			key->name, range, key->preset ? key->preset : "", key->help);
	}
}

const struct key *auc_conf_key_find(enum section section, const char *name)
{
	const struct key *key;

	for (key = auc_conf_keys; key < auc_conf_keys + auc_conf_nkeys; key++)
		if (key->section == section && auc_conf_same_word(key->name, name))
			return key;
	return NULL;
}

const struct key *auc_conf_key_opening(enum section section)
{
	const struct key *key = auc_conf_keys;

	while (key->section != section)
		key++;
	return key;
}

enum auc_code auc_conf_key_set(const struct auc_conf *conf, const struct key *key, void *base,
			       const char *value, struct auc_err *err)
{
	void *to = (char *)base + key->offset;
	uint64_t count;
	enum auc_code rc;

	switch (key->type) {
	case TYPE_NAME:
	case TYPE_NEW_NAME:
		return set_name(key, base, value, err);
	case TYPE_PAYER:
		return set_payer(key, base, value);
	case TYPE_POLICY:
		return set_policy(base, value, err);
	case TYPE_COUNT:
	case TYPE_COUNT64:
		rc = auc_parse_count(value, (uint64_t)key->min, (uint64_t)key->max, &count,
				     key->name, NULL);
		if (rc == AUC_OK && key->type == TYPE_COUNT)
			*(unsigned *)to = (unsigned)count;
		else if (rc == AUC_OK)
			*(uint64_t *)to = count;
		return rc;
	case TYPE_NUMBER:
		return auc_parse_number(value, key->min, key->max, to, key->name, NULL);
	case TYPE_SPAN:
		return set_span(conf, key, base, value, err);
	case TYPE_CHOICE:
		return set_choice(key, base, value, err);
	case TYPE_ONE_OF:
		return set_one_of(key, base, value);
	case TYPE_TEXT:
	case TYPE_PATH:
		return set_text(key, base, value, err);
	case TYPE_AMOUNTS:
	case TYPE_TIMES:
		return set_list(conf, key, base, value, err);
	case TYPE_HOURS:
		*(bool *)((char *)base + key->count) = true;
		return auc_conf_hours_set(to, value);
	case TYPE_MARGIN:
		return set_margin(to, value);
	case TYPE_FEE:
		return set_fee(key, base, value);
	}
	return AUC_EINVAL;
}

static enum auc_code set_name(const struct key *key, void *base, const char *value,
			      struct auc_err *err)
{
	(void)err;
	if (!auc_name_valid(value))
		return AUC_EINVAL;
	strcpy((char *)base + key->offset, value);
	return AUC_OK;
}

/* "user=UID" or "account=NAME", or "*" for the latter word, into the ledger's "user:UID". */
static enum auc_code set_payer(const struct key *key, void *base, const char *value)
{
	bool user = !strncmp(value, "user=", 5) || !strncmp(value, "user:", 5);
	const char *name = value + strcspn(value, "=:");
	uint64_t uid;

	if (!*name || (!user && strncmp(value, "account=", 8) && strncmp(value, "account:", 8)))
		return AUC_EINVAL;
	name++;
	if (strcmp(name, "*") &&
	    (user && strspn(name, "0123456789") == strlen(name)
		     ? auc_parse_count(name, 1, UINT32_MAX, &uid, key->name, NULL) != AUC_OK
		     : !auc_name_valid(name)))
		return AUC_EINVAL;
	snprintf((char *)base + key->offset, AUC_REFILL_NAME_LEN, "%s:%s",
		 user ? "user" : "account", name);
	/* As Slurm names accounts. */
	if (!user)
		auc_list_lower((char *)base + key->offset);
	return AUC_OK;
}

/* The policy itself says whether it can be made with these options. */
static enum auc_code set_policy(struct auc_conf *conf, const char *value, struct auc_err *err)
{
	size_t n = strcspn(value, ",");
	const char *options = value[n] ? value + n + 1 : "";
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
	char name[AUC_NAME_MAX], word[64];
	const char *why;

	if (n >= sizeof(name) || strlen(options) >= sizeof(conf->policy_options))
		return AUC_EINVAL;
	memcpy(name, value, n);
	name[n] = '\0';
	policy = auc_policy_find(name);
	if (!policy)
		return auc_err_set(err, AUC_ENOENT,
				   "there is no policy '%s' to sell by: expected %s, %s, %s, %s or "
				   "%s",
				   name, auc_policy_dps.name, auc_policy_oasis.name,
				   auc_policy_eris.name, auc_policy_posted.name,
				   auc_policy_aonline.name);
	why = auc_policy_only_simulated(options, word, sizeof(word));
	if (why)
		return auc_err_set(err, AUC_EINVAL, "'%s' is only available in auctionsim: %s",
				   word, why);
	if (policy->create(options, &ctx, err) != AUC_OK)
		return AUC_EINVAL;
	policy->destroy(ctx);
	strcpy(conf->policy, name);
	strcpy(conf->policy_options, options);
	return AUC_OK;
}

static enum auc_code set_choice(const struct key *key, void *base, const char *value,
				struct auc_err *err)
{
	const char *second = strchr(key->choices, '|') + 1;
	char first[16];

	(void)err;
	snprintf(first, sizeof(first), "%.*s", (int)(second - key->choices - 1), key->choices);
	if (!auc_conf_same_word(value, first) && !auc_conf_same_word(value, second))
		return AUC_EINVAL;
	*(bool *)((char *)base + key->offset) = auc_conf_same_word(value, second);
	return AUC_OK;
}

static enum auc_code set_one_of(const struct key *key, void *base, const char *value)
{
	const char *p = key->choices;
	char word[16];
	size_t n;

	for (unsigned i = 0;; i++, p += n + 1) {
		n = strcspn(p, "|");
		snprintf(word, sizeof(word), "%.*s", (int)n, p);
		if (auc_conf_same_word(value, word)) {
			*(unsigned *)((char *)base + key->offset) = i;
			return AUC_OK;
		}
		if (!p[n])
			return AUC_EINVAL;
	}
}

static enum auc_code set_text(const struct key *key, void *base, const char *value,
			      struct auc_err *err)
{
	char **to = (char **)((char *)base + key->offset);

	(void)err;
	if (!*value || (key->type == TYPE_PATH && *value != '/') ||
	    (key->type == TYPE_PATH && strlen(value) >= 1024))
		return AUC_EINVAL;
	*to = strdup(value);
	return *to ? AUC_OK : AUC_ENOMEM;
}

static enum auc_code set_list(const struct auc_conf *conf, const struct key *key, void *base,
			      const char *value, struct auc_err *err)
{
	const struct auc_list_rule rule = {
		.syntax = key->type == TYPE_TIMES ? "TYPE=TIME" : "TRES=NUMBER",
		.unit = key->type == TYPE_TIMES ? AUC_UNIT_SECONDS : AUC_UNIT_NONE,
		.min = key->min,
		.max = key->max,
		.slot_seconds = conf->slot_seconds,
		.limit = key->limit,
		.tres = key->type == TYPE_AMOUNTS,
	};

	return auc_list_parse(value, &rule, (struct auc_named *)((char *)base + key->offset),
			      (unsigned *)((char *)base + key->count), NULL, key->name, err);
}

/* Globals have no slots to count in: SlotSeconds is one of them. */
static enum auc_code set_span(const struct auc_conf *conf, const struct key *key, void *base,
			      const char *value, struct auc_err *err)
{
	double slot = key->section == GLOBAL ? 0 : conf->slot_seconds;
	double seconds;
	enum auc_code rc;

	(void)err;
	rc = auc_parse_span(value, 1, slot, &seconds, key->name, NULL);
	if (rc == AUC_OK && !(seconds >= key->min && seconds <= key->max))
		rc = AUC_EINVAL;
	if (rc == AUC_OK)
		*(double *)((char *)base + key->offset) = seconds;
	return rc;
}

static enum auc_code set_margin(struct auc_margin *margin, const char *value)
{
	static const char learned[] = "learned:";

	*margin = (struct auc_margin){.how = AUC_MARGIN_NONE, .number = 1};
	if (auc_conf_same_word(value, "none"))
		return AUC_OK;
	if (auc_conf_same_word(value, "learned")) {
		*margin = (struct auc_margin){AUC_MARGIN_LEARNED, AUC_MARGIN_QUANTILE};
		return AUC_OK;
	}
	margin->how = AUC_MARGIN_FIXED;
	if (strncasecmp(value, learned, strlen(learned)) != 0)
		return auc_parse_number(value, 1, 10, &margin->number, "Margin", NULL);
	margin->how = AUC_MARGIN_LEARNED;
	return auc_parse_number(value + strlen(learned), 0.01, 0.999, &margin->number, "Margin",
				NULL);
}

/* "SHARE[,TIME=SHARE...]", times ascending, shares descending. */
static enum auc_code set_fee(const struct key *key, void *base, const char *value)
{
	struct auc_cancel_step *list = (struct auc_cancel_step *)((char *)base + key->offset), *s;
	unsigned n = 0;
	char piece[64], *number;
	size_t len;

	for (;; value += len + 1) {
		len = strcspn(value, ",");
		if (n == key->limit || len >= sizeof(piece))
			return AUC_EINVAL;
		snprintf(piece, sizeof(piece), "%.*s", (int)len, value);
		number = strchr(piece, '=');
		if ((number != NULL) != (n > 0))
			return AUC_EINVAL;
		s = &list[n++];
		s->seconds = 0;
		if (number) {
			*number++ = '\0';
			if (auc_parse_span(piece, 1, 0, &s->seconds, key->name, NULL) != AUC_OK ||
			    !(s->seconds > s[-1].seconds))
				return AUC_EINVAL;
		}
		if (auc_parse_number(number ? number : piece, 0, 1, &s->share, key->name, NULL) !=
			    AUC_OK ||
		    (n > 1 && s->share > s[-1].share))
			return AUC_EINVAL;
		if (!value[len])
			break;
	}
	*(unsigned *)((char *)base + key->count) = n;
	return AUC_OK;
}

void auc_conf_key_describe(const struct key *key, char *buf, size_t size)
{
	size_t n;

	switch (key->type) {
	case TYPE_NAME:
	case TYPE_NEW_NAME:
		snprintf(buf, size, "a name of up to %d letters, digits and ._:/+-",
			 AUC_NAME_MAX - 1);
		break;
	case TYPE_PAYER:
		snprintf(buf, size, "user=NAME, account=NAME, user=* or account=*");
		break;
	case TYPE_POLICY:
		snprintf(buf, size, "a policy's name[,option=value...]");
		break;
	case TYPE_COUNT:
	case TYPE_COUNT64:
		snprintf(buf, size, "a whole number from %.15g to %.15g", key->min, key->max);
		break;
	case TYPE_NUMBER:
		snprintf(buf, size, "a number from %.15g to %.15g", key->min, key->max);
		break;
	case TYPE_SPAN:
		snprintf(buf, size, "a time from %.15g s to %.15g s", key->min, key->max);
		break;
	case TYPE_CHOICE:
		n = strcspn(key->choices, "|");
		snprintf(buf, size, "%.*s or %s", (int)n, key->choices, key->choices + n + 1);
		break;
	case TYPE_ONE_OF:
		snprintf(buf, size, "one of %s", key->choices);
		break;
	case TYPE_TEXT:
		snprintf(buf, size, "a bid");
		break;
	case TYPE_PATH:
		snprintf(buf, size, "an absolute path");
		break;
	case TYPE_AMOUNTS:
		snprintf(buf, size, "TRES=NUMBER,... with numbers from %.15g to %.15g", key->min,
			 key->max);
		break;
	case TYPE_HOURS:
		snprintf(buf, size,
			 "FROM-TO=FACTOR,... with hours from 0 to 24 and factors up to "
			 "1000");
		break;
	case TYPE_MARGIN:
		snprintf(buf, size, "none, learned, learned:QUANTILE or a number from 1 to 10");
		break;
	case TYPE_FEE:
		snprintf(buf, size,
			 "SHARE[,TIME=SHARE...], shares from 1 to 0 that descend, times that "
			 "ascend");
		break;
	case TYPE_TIMES:
		snprintf(buf, size, "TYPE=TIME,... with times from %.15g s to %.15g s", key->min,
			 key->max);
		break;
	}
}

/* One section's keys and values: globals a line each, an item on one line. */
static void print_section(const struct auc_conf *conf, enum section section, const void *base,
			  FILE *out)
{
	const struct key *key;

	for (key = auc_conf_keys; key < auc_conf_keys + auc_conf_nkeys; key++) {
		if (key->section != section || !print_value(conf, key, base, out))
			continue;
		fputc(section == GLOBAL ? '\n' : ' ', out);
	}
	if (section != GLOBAL)
		fputc('\n', out);
}

static bool print_list(const struct key *key, const void *base, FILE *out)
{
	unsigned n = *(const unsigned *)((const char *)base + key->count);

	if (!n)
		return false;
	fprintf(out, "%s=", key->name);
	auc_list_print(out, (const struct auc_named *)((const char *)base + key->offset), n,
		       key->type == TYPE_TIMES ? "s" : "");
	return true;
}

static bool print_hours(const struct key *key, const void *base, FILE *out)
{
	return *(const bool *)((const char *)base + key->count) &&
	       auc_conf_hours_print(key->name, (const double *)((const char *)base + key->offset),
				    out);
}

static bool print_margin(const struct key *key, const struct auc_margin *margin, FILE *out)
{
	char number[AUC_NUMBER_LEN];

	auc_number_str(margin->number, number);
	if (margin->how == AUC_MARGIN_NONE)
		fprintf(out, "%s=none", key->name);
	else
		fprintf(out, "%s=%s%s", key->name,
			margin->how == AUC_MARGIN_LEARNED ? "learned:" : "", number);
	return true;
}

static bool print_fee(const struct key *key, const struct auc_conf *conf, FILE *out)
{
	char number[AUC_NUMBER_LEN];

	fprintf(out, "%s=", key->name);
	for (unsigned i = 0; i < conf->ncancel; i++) {
		if (i)
			fprintf(out, ",%s=", auc_number_str(conf->cancel[i].seconds, number));
		fputs(auc_number_str(conf->cancel[i].share, number), out);
	}
	return true;
}

/* Prints KEY=value unless the value is the one that stands for "not given"; true if it did. */
static bool print_value(const struct auc_conf *conf, const struct key *key, const void *base,
			FILE *out)
{
	const char *from = (const char *)base + key->offset;
	char number[AUC_NUMBER_LEN];
	const char *text = from;
	size_t n;

	switch (key->type) {
	case TYPE_NAME:
	case TYPE_NEW_NAME:
		if (!*text)
			return false;
		fprintf(out, "%s=%s", key->name, text);
		return true;
	case TYPE_PAYER:
		n = strcspn(text, ":");
		fprintf(out, "%s=%.*s=%s", key->name, (int)n, text, text + n + 1);
		return true;
	case TYPE_POLICY:
		fprintf(out, "%s=\"%s%s%s\"", key->name, conf->policy,
			*conf->policy_options ? "," : "", conf->policy_options);
		return true;
	case TYPE_COUNT:
		fprintf(out, "%s=%u", key->name, *(const unsigned *)from);
		return true;
	case TYPE_COUNT64:
		if (!*(const uint64_t *)from)
			return false;
		fprintf(out, "%s=%llu", key->name, (unsigned long long)*(const uint64_t *)from);
		return true;
	case TYPE_NUMBER:
	case TYPE_SPAN:
		if (*(const double *)from < 0)
			return false;
		fprintf(out, "%s=%s", key->name, auc_number_str(*(const double *)from, number));
		return true;
	case TYPE_CHOICE:
		n = strcspn(key->choices, "|");
		text = *(const bool *)from ? key->choices + n + 1 : key->choices;
		fprintf(out, "%s=%.*s", key->name, (int)strcspn(text, "|"), text);
		return true;
	case TYPE_ONE_OF:
		text = key->choices;
		for (n = *(const unsigned *)from; n; n--)
			text = strchr(text, '|') + 1;
		fprintf(out, "%s=%.*s", key->name, (int)strcspn(text, "|"), text);
		return true;
	case TYPE_TEXT:
	case TYPE_PATH:
		text = *(char *const *)from;
		if (!text)
			return false;
		fprintf(out, "%s=\"%s\"", key->name, text);
		return true;
	case TYPE_AMOUNTS:
	case TYPE_TIMES:
		return print_list(key, base, out);
	case TYPE_HOURS:
		return print_hours(key, base, out);
	case TYPE_MARGIN:
		return print_margin(key, (const struct auc_margin *)from, out);
	case TYPE_FEE:
		return print_fee(key, conf, out);
	}
	return false;
}

const void *auc_conf_item_find(const struct auc_conf *conf, enum section section, const char *name)
{
	const struct list *list = &auc_conf_lists[section];
	const char *items = *(char *const *)((const char *)conf + list->items);
	unsigned n = *(const unsigned *)((const char *)conf + list->count);
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(items + i * list->size, name))
			return items + i * list->size;
	return NULL;
}

bool auc_conf_same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a;
		int y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;

		if (x != y)
			return false;
	}
	return *a == *b;
}
