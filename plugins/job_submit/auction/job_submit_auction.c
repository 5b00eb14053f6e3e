/*
 * job_submit_auction.c - decides on bids at submission and protects what was sold.
 *
 * slurmctld holds read locks while it calls us, so there is no I/O and no RPC here: the decision is
 * made in memory, about a millisecond, and nothing is sold yet. An accepted job carries a lien that
 * lapses unless sched/auction finds its record.
 *
 * Jobs without a bid go through untouched unless they name a partition of the auction.
 */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auction/auction.h"
#include "input/bid.h"
#include "input/bid_time.h"
#include "adapter/decide.h"
#include "adapter/desc.h"
#include "adapter/desc_block.h"
#include "adapter/desc_gang.h"
#include "adapter/describe.h"
#include "adapter/secrets.h"
#include "ledger/receipt.h"
#include "policy/registry.h"
#include "adapter/site.h"
#include "adapter/spending.h"
#include "adapter/slurm_compat.h"

/* What sbatch says after our own lines ("Batch job submission failed: ..."). */
#define RC_REFUSED  ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE
#define RC_BAD_BID  ESLURM_NOT_SUPPORTED
#define RC_QUOTE    ESLURM_DISABLED
#define RC_NO_BATCH ESLURM_BATCH_ONLY
/* Seconds from its submission on an array is listed by the accounting from: not 0. */
#define LISTED   2.0
#define RC_AGAIN EAGAIN /* sbatch waits a second and asks again, some two minutes long */

#define EACH_SIZE 32 /* of a few words */

struct job_record; /* slurmctld's own; we never look into it */

extern const char plugin_name[];
extern const char plugin_type[];
extern const uint32_t plugin_version;
const char plugin_name[] = "Job submit auction plugin";
const char plugin_type[] = "job_submit/auction";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init(void);
int fini(void);
int job_submit(job_desc_msg_t *desc, uint32_t submit_uid, char **err_msg);
#if AUC_JOB_MODIFY_HAS_MSG
int job_modify(job_desc_msg_t *desc, struct job_record *job, uint32_t submit_uid, char **err_msg);
#else
int job_modify(job_desc_msg_t *desc, struct job_record *job, uint32_t submit_uid);
#endif

enum where { ELSEWHERE, OURS, MIXED };

static void check_order(const char *plugins);
static bool is_federated(void);
static int submit_with_receipt(const job_desc_msg_t *desc, uint32_t submit_uid, char **err_msg);
static int submit_inside(job_desc_msg_t *desc, bool bids, char **err_msg);
static int submit_elsewhere(job_desc_msg_t *desc, char **err_msg);
static enum where partition_of(const job_desc_msg_t *desc);
static enum auc_diverts diverts(const job_desc_msg_t *desc, char *why, size_t size);
static int submit_bid(job_desc_msg_t *desc, uint32_t submit_uid, const char *text, char **err_msg);
static int decide(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
		  const char *text, char **err_msg);
static int answer(struct auc_auction *a, const job_desc_msg_t *desc, uint32_t submit_uid,
		  struct auc_bid *bid, char **err_msg);
static enum auc_code decide_now(struct auc_auction *a, const job_desc_msg_t *desc,
				uint32_t submit_uid, struct auc_bid *bid, struct auc_offer *offer,
				char *barred, size_t size, struct auc_err *err);
static void prefer_now(struct auc_auction *a, const job_desc_msg_t *desc, uint32_t submit_uid,
		       struct auc_bid *bid);
static enum auc_code check_wait(struct auc_auction *a, const struct auc_offer *offer,
				struct auc_err *err);
static int hold(struct auc_auction *a, job_desc_msg_t *desc, struct auc_bid *bid,
		const struct auc_offer *offer, const char *barred, char **err_msg);
static int take_offer(struct auc_auction *a, job_desc_msg_t *desc, const struct auc_offer *offer,
		      char **err_msg);
static void show_spending(job_desc_msg_t *desc, uint32_t cents);
static int bid_array(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
		     struct auc_bid *bid, char **err_msg);
static enum auc_code check_array(const job_desc_msg_t *desc, const struct auc_bid *bid,
				 struct auc_array_tasks *array, struct auc_err *err);
static const struct auc_bid *list_partitions(const struct auc_auction *a, struct auc_bid *bid);
static const struct auc_bid *list_known(const struct auc_conf *conf, struct auc_bid *bid);
static bool posts(const struct auc_auction *a);
static enum auc_code take_posted(const struct auc_bid *bid, bool quote, struct auc_offer *offer,
				 struct auc_err *err);
static const char *each_task(const struct auc_array_tasks *array, char each[static EACH_SIZE]);
static int hold_array(struct auc_auction *a, job_desc_msg_t *desc, struct auc_bid *bid,
		      const struct auc_offer *offer, const struct auc_array_tasks *array,
		      char **err_msg);
static int code_of(enum auc_code code);
static int check_modify(const job_desc_msg_t *desc, uint32_t uid, char *why, size_t size);
static bool asks_for_spending(const job_desc_msg_t *desc, char *why, size_t size);
static bool bars_reservation(const job_desc_msg_t *desc, uint32_t uid, char *why, size_t size);
static void say(char **err_msg, const char *lines);
static void say_with(char **err_msg, const char *lines, const char *barred);
static int fail(char **err_msg, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

int init(void)
{
	struct auc_err err;

	check_order(slurm_conf.job_submit_plugins);
	if (!(slurm_conf.private_data & PRIVATE_DATA_JOBS))
		slurm_info("auction: PrivateData of slurm.conf does not have jobs: all users see "
			   "what others have bought, and what they paid");
	/* Without a site every bid is refused with the reason; slurmctld itself goes on. */
	if (auc_site_get(plugin_version, &err)) {
		slurm_error("job_submit/auction: %s", err.text);
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

/* A plugin that comes later can put a job without a bid into a partition that is sold. */
static void check_order(const char *plugins)
{
	const char *comma = plugins ? strrchr(plugins, ',') : NULL;
	const char *last = comma ? comma + 1 : plugins;

	if (last && strcmp(last, "auction") && strcmp(last, "job_submit/auction"))
		slurm_error("auction: JobSubmitPlugins=%s: auction has to be the last: what comes "
			    "after it can put jobs without a bid into partitions that are sold",
			    plugins);
}

/* slurmctld itself asks other clusters. A request by hand that says so where there are none would
 * end it: it looks their names up in a list that it has not. */
static bool is_federated(void)
{
	void *const *federation = (void *const *)dlsym(RTLD_DEFAULT, "fed_mgr_fed_rec");

	return !federation || *federation;
}

int fini(void)
{
	auc_site_put();
	return SLURM_SUCCESS;
}

int job_submit(job_desc_msg_t *desc, uint32_t submit_uid, char **err_msg)
{
	const char *bid;
	char names[512], why[256];
	enum where where;

	if (desc->fed_siblings_viable && !is_federated())
		return fail(err_msg, ESLURM_NOT_SUPPORTED,
			    "fed_siblings_viable: this cluster is in no federation");
	if (desc->admin_comment && auc_receipt_is(desc->admin_comment))
		return submit_with_receipt(desc, submit_uid, err_msg);
	if (desc->reservation && auc_fence_is_ours(desc->reservation))
		return fail(err_msg, ESLURM_RESERVATION_ACCESS,
			    "--reservation=%.128s: it is for what was sold only; leave it out",
			    desc->reservation);
	if (asks_for_spending(desc, why, sizeof(why)))
		return fail(err_msg, ESLURM_INVALID_LICENSES, "%s", why);
	bid = auc_desc_bid(desc);
	if (desc->reservation && auc_block_among(desc->reservation))
		return submit_inside(desc, bid, err_msg);
	where = partition_of(desc);
	if (!bid && where == ELSEWHERE)
		return submit_elsewhere(desc, err_msg);
	auc_site_partitions(names, sizeof(names));
	if (bid && desc->partition && where != OURS)
		return fail(err_msg, ESLURM_INVALID_PARTITION_NAME,
			    "--partition=%.128s: a bid is for a partition of the auction (%s); "
			    "name one of them or none",
			    desc->partition, names);
	if (!bid && where == MIXED)
		return fail(err_msg, ESLURM_INVALID_PARTITION_NAME,
			    "--partition=%.128s: the auction's partitions (%s) cannot be combined "
			    "with others",
			    desc->partition, names);
	return submit_bid(desc, submit_uid, bid, err_msg);
}

#if AUC_JOB_MODIFY_HAS_MSG
int job_modify(job_desc_msg_t *desc, struct job_record *job, uint32_t submit_uid, char **err_msg)
{
#else
int job_modify(job_desc_msg_t *desc, struct job_record *job, uint32_t submit_uid)
{
	char **err_msg = NULL;
#endif
	char why[256];
	int rc;

	(void)job;
	/* The agent's own updates come through here too; it must not wait for anything it holds. */
	if (submit_uid == 0 || submit_uid == slurm_conf.slurm_user_id)
		return SLURM_SUCCESS;
	rc = check_modify(desc, submit_uid, why, sizeof(why));
	if (rc == SLURM_SUCCESS)
		return rc;
	slurm_info("auction: job %u: change by uid %u denied: %s", auc_desc_job_id(desc),
		   submit_uid, why);
	return fail(err_msg, rc, "%s", why);
}

/* A receipt in a submission: right for members that the agent submits now, forged otherwise. */
static int submit_with_receipt(const job_desc_msg_t *desc, uint32_t submit_uid, char **err_msg)
{
	struct auc_receipt r;
	bool member = false;

	if (submit_uid == slurm_conf.slurm_user_id &&
	    !auc_receipt_parse(desc->admin_comment, &r, NULL)) {
		member = !strcmp(r.state, "member") && auc_site_expects_member(r.sale);
		auc_receipt_clear(&r);
	}
	if (member)
		return SLURM_SUCCESS;
	slurm_info("auction: uid %u sent an AdminComment that looks like a receipt; refused",
		   submit_uid);
	return fail(err_msg, ESLURM_ACCESS_DENIED,
		    "AdminComment: a receipt is written by the auction only; leave it out");
}

/* A job in a block that was bought. Whether its user may be in there, Slurm knows. */
static int submit_inside(job_desc_msg_t *desc, bool bids, char **err_msg)
{
	uint32_t job = auc_block_of(desc->reservation);
	char partition[AUC_NAME_MAX], names[512];
	struct auc_auction *a;
	struct auc_err err;
	bool live;
	int sig;

	a = auc_site_enter(&err);
	if (!a)
		return fail(err_msg, RC_REFUSED,
			    "no bids and no jobs in the auction's partitions now: %s", err.text);
	sig = auc_conf_change_signal(auc_auction_conf(a));
	live = auc_auction_has_block(a, job, partition);
	auc_site_leave();
	if (!live)
		return fail(err_msg, ESLURM_RESERVATION_INVALID,
			    "--reservation=%.128s: there is no such block%s", desc->reservation,
			    job ? ", or it is over; sbid list shows yours"
				: "; expected one, and no other reservation beside it");
	if (bids)
		return fail(err_msg, RC_BAD_BID,
			    "--reservation=%.128s: given with a bid, expected one of them: what "
			    "runs in a block is paid for; leave the bid out (%s)",
			    desc->reservation, AUC_ENV_BID);
	auc_site_partitions(names, sizeof(names));
	if (partition_of(desc) == MIXED)
		return fail(err_msg, ESLURM_INVALID_PARTITION_NAME,
			    "--partition=%.128s: the auction's partitions (%s) cannot be combined "
			    "with others",
			    desc->partition, names);
	auc_block_enter(desc, job, partition, sig);
	auc_block_user_add(desc->user_id);
	return SLURM_SUCCESS;
}

static int submit_elsewhere(job_desc_msg_t *desc, char **err_msg)
{
	char why[256];

	switch (diverts(desc, why, sizeof(why))) {
	case AUC_DIVERTED:
		return fail(err_msg, ESLURM_PARTITION_NOT_AVAIL, "%s", why);
	case AUC_MAY_BE_DIVERTED:
		return fail(err_msg, RC_AGAIN, "%s", why);
	case AUC_STAYS:
		break;
	}
	auc_desc_make_ordinary(desc);
	return SLURM_SUCCESS;
}

static enum where partition_of(const job_desc_msg_t *desc)
{
	const char *p = desc->partition ? desc->partition : "";
	unsigned ours = 0, others = 0;

	p += strspn(p, ",");
	/* Of commas alone later releases make the default, too. */
	if (!*p)
		return auc_site_default_is_ours() ? OURS : ELSEWHERE;
	for (; *p; p += strspn(p, ",")) {
		size_t n = strcspn(p, ",");

		if (auc_site_is_ours(p, n))
			ours++;
		else
			others++;
		p += n;
	}
	if (!ours)
		return ELSEWHERE;
	return others ? MIXED : OURS;
}

/* Whether one of DESC's partitions, of which none is ours, stands for one that is; if so, WHY says
 * it. */
static enum auc_diverts diverts(const job_desc_msg_t *desc, char *why, size_t size)
{
	const char *p = desc->partition ? desc->partition : "";
	char name[AUC_NAME_MAX], sold[AUC_NAME_MAX];
	enum auc_diverts d;
	size_t n;

	p += strspn(p, ",");
	if (!*p) {
		auc_site_default(name);
		p = name;
	}
	for (; *p; p += n + strspn(p + n, ",")) {
		n = strcspn(p, ",");
		d = auc_site_diverts(p, n, sold);
		if (d == AUC_STAYS)
			continue;
		snprintf(why, size,
			 d == AUC_DIVERTED
				 ? "partition %.*s takes no jobs now, and its Alternate=, %.64s, "
				   "is sold by auction"
				 : "partition %.*s has an Alternate= that is sold by auction, "
				   "%.64s, and its State is being looked at; try again in a moment",
			 (int)n < 64 ? (int)n : 64, p, sold);
		return d;
	}
	return AUC_STAYS;
}

/* TEXT may be NULL: the configured default bid, if there is one. */
static int submit_bid(job_desc_msg_t *desc, uint32_t submit_uid, const char *text, char **err_msg)
{
	struct auc_auction *a;
	struct auc_err err;
	int rc;

	a = auc_site_enter(&err);
	if (!a)
		return fail(err_msg, RC_REFUSED,
			    "no bids and no jobs in the auction's partitions now: %s", err.text);
	if (!text && desc->script)
		text = auc_auction_conf(a)->default_bid;
	if (!text)
		rc = fail(err_msg, ESLURM_ACCESS_DENIED,
			  "partition %.128s is sold by auction: %s (sbatch --help lists the "
			  "auction's options)",
			  desc->partition ? desc->partition : "(the default)",
			  auc_bid_needed(auc_auction_conf(a)));
	else if (auc_site_open(&err))
		rc = fail(err_msg,
			  err.code == AUC_EAGAIN && auc_site_may_ask_again(desc->user_id)
				  ? RC_AGAIN
				  : RC_REFUSED,
			  "no bids are taken now: %s", err.text);
	else
		rc = decide(a, desc, submit_uid, text, err_msg);
	auc_site_leave();
	return rc;
}

static int decide(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
		  const char *text, char **err_msg)
{
	char barred[512] = "";
	struct auc_offer offer = {0};
	struct auc_bid *bid;
	struct auc_err err;
	enum auc_code code;
	int rc;

	if (strlen(text) > AUC_BID_TEXT_MAX)
		return fail(err_msg, RC_BAD_BID, "%s: more than %d bytes", AUC_ENV_BID,
			    AUC_BID_TEXT_MAX);
	bid = malloc(sizeof(*bid));
	if (!bid)
		return fail(err_msg, RC_REFUSED, "out of memory");
	code = auc_bid_parse(auc_auction_conf(a), text, bid, &err);
	if (!code && bid->ask) /* one that there is not: contrib/sauction/ask.c */
		AUC_XFREE(desc->reservation);
	if (!code)
		code = auc_describe(a, desc, submit_uid, bid, &err);
	auc_desc_forget_secrets(desc);
	if (!code && !desc->script && bid->stands > 0)
		code = auc_err_set(&err, AUC_EINVAL,
				   "--stands: given, expected none: nobody sits before a salloc "
				   "for long; use sbatch");
	if (!code && !desc->script && !bid->ask && !bid->gang.nshapes) {
		free(bid);
		return fail(err_msg, RC_NO_BATCH,
			    "workers and PSs: only batch jobs can bid for them; use sbatch, or bid "
			    "for what salloc's own options name (-N, --gpus-per-node, -t)");
	}
	if (!code && bid->ask) {
		rc = answer(a, desc, submit_uid, bid, err_msg);
		free(bid);
		return rc;
	}
	if (!code && desc->array_inx) {
		rc = bid_array(a, desc, submit_uid, bid, err_msg);
		free(bid);
		return rc;
	}
	if (!code && !desc->script)
		code = decide_now(a, desc, submit_uid, bid, &offer, barred, sizeof(barred), &err);
	else if (!code)
		code = auc_decide(a, desc, submit_uid, bid, NULL, false, &offer, barred,
				  sizeof(barred), &err);
	if (code) {
		rc = fail(err_msg,
			  desc->array_inx && code != AUC_EAGAIN ? ESLURM_INVALID_ARRAY
								: code_of(code),
			  "%s", err.text);
	} else if (!offer.accepted && bid->stands > 0) {
		rc = hold(a, desc, bid, &offer, barred, err_msg);
	} else if (bid->quote || !offer.accepted) {
		say_with(err_msg, offer.message, offer.accepted ? "" : barred);
		rc = bid->quote ? RC_QUOTE : RC_REFUSED;
	} else {
		rc = take_offer(a, desc, &offer, err_msg);
	}
	auc_offer_clear(&offer);
	free(bid);
	return rc;
}

/* What a question, which becomes no job, is answered: to the user it is of, of whom slurmctld is
 * sure. */
static int answer(struct auc_auction *a, const job_desc_msg_t *desc, uint32_t submit_uid,
		  struct auc_bid *bid, char **err_msg)
{
	char barred[512], *text;
	struct auc_err err;

	/* It says which accounts pay; to where the bid may go it does not matter. */
	(void)auc_site_confine(desc, submit_uid, bid, barred, sizeof(barred), &err);
	text = auc_auction_tell(a, bid, desc->user_id, auc_site_now());
	say(err_msg, text);
	free(text);
	return RC_QUOTE;
}

/* auc_decide() for salloc and srun, which do not wait for long. */
static enum auc_code decide_now(struct auc_auction *a, const job_desc_msg_t *desc,
				uint32_t submit_uid, struct auc_bid *bid, struct auc_offer *offer,
				char *barred, size_t size, struct auc_err *err)
{
	enum auc_code code;

	prefer_now(a, desc, submit_uid, bid);
	code = auc_decide(a, desc, submit_uid, bid, NULL, false, offer, barred, size, err);
	return !code && offer->accepted && !bid->quote ? check_wait(a, offer, err) : code;
}

/* Confines BID to what begins in this slot or the next, if that pays, though later may cost less.
 */
static void prefer_now(struct auc_auction *a, const job_desc_msg_t *desc, uint32_t submit_uid,
		       struct auc_bid *bid)
{
	double slot = auc_auction_conf(a)->slot_seconds, longest = bid->time_max;
	struct auc_bid *trial = malloc(sizeof(*trial));
	struct auc_offer offer = {0};
	struct auc_err err;
	char barred[512];

	if (!trial)
		return;
	for (unsigned i = 0; i < bid->gang.nshapes; i++)
		longest = fmax(longest, bid->gang.shapes[i].seconds);
	*trial = *bid;
	trial->quote = true;
	trial->gang.now = auc_site_now() + auc_auction_conf(a)->start_margin +
			  (2 + ceil(longest / slot)) * slot;
	if (!auc_decide(a, desc, submit_uid, trial, NULL, false, &offer, barred, sizeof(barred),
			&err) &&
	    offer.accepted)
		bid->gang.now = trial->gang.now;
	auc_offer_clear(&offer);
	free(trial);
}

/* Nobody sits before salloc or srun for long: AUC_ESTATE (a lien of OFFER is dropped then) if it
 * comes later than in the slot after this one. */
static enum auc_code check_wait(struct auc_auction *a, const struct auc_offer *offer,
				struct auc_err *err)
{
	double slot = auc_auction_conf(a)->slot_seconds, wait = offer->start - auc_site_now();
	char when[32];
	time_t start = (time_t)offer->start;
	struct tm tm;

	if (wait <= 2 * slot + auc_auction_conf(a)->start_margin)
		return AUC_OK;
	if (offer->sale[0])
		auc_auction_drop(a, offer->sale, NULL);
	strftime(when, sizeof(when), "%F %T", localtime_r(&start, &tm));
	return auc_err_set(
		err, AUC_ESTATE,
		"salloc and srun wait for this slot and the next only, and could have "
		"these nodes from %s on, for %.2f; ask for less, or use sbatch, which waits",
		when, auc_money_to(offer->payment));
}

/* Its bid was refused, and stands: the job waits held. */
static int hold(struct auc_auction *a, job_desc_msg_t *desc, struct auc_bid *bid,
		const struct auc_offer *offer, const char *barred, char **err_msg)
{
	double until = auc_site_now() + bid->stands;
	time_t at = (time_t)until;
	char *receipt, *text, when[32];
	struct auc_err err;
	struct tm tm;

	/* It becomes no job. */
	if (bid->dry_run) {
		say_with(err_msg, offer->message, barred);
		return RC_REFUSED;
	}
	if (auc_auction_held_add(a, bid, desc->user_id, auc_site_now(), offer->message, NULL,
				 &receipt, &err)) {
		if (asprintf(&text, "%s\nauction: it does not stand: %s", offer->message,
			     err.text) < 0)
			return fail(err_msg, RC_REFUSED, "out of memory");
		say_with(err_msg, text, barred);
		free(text);
		return RC_REFUSED;
	}
	auc_desc_hold(desc, list_partitions(a, bid), auc_auction_conf(a), until, receipt);
	show_spending(desc, 1);
	free(receipt);
	if (!bid->gang.nshapes)
		auc_desc_trap(desc, auc_conf_change_signal(auc_auction_conf(a)));
	strftime(when, sizeof(when), "%F %T", localtime_r(&at, &tm));
	if (asprintf(&text,
		     "%s\nauction: it stands until %s: the job is held, and is decided again as "
		     "prices and bookings change; scancel withdraws it",
		     offer->message, when) < 0)
		return SLURM_SUCCESS;
	say_with(err_msg, text, barred);
	free(text);
	return SLURM_SUCCESS;
}

/*
 * The tasks of an array are decided one after another while it waits, held, by the agent. What one
 * would cost now is said here; where that is more than it is worth, none is taken.
 */
static int bid_array(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
		     struct auc_bid *bid, char **err_msg)
{
	bool quote = bid->quote || bid->dry_run;
	struct auc_offer offer = {0};
	struct auc_array_tasks array = {.n = 0};
	char barred[512] = "", *text, each[EACH_SIZE];
	enum auc_code code;
	struct auc_err err;
	int rc;

	code = check_array(desc, bid, &array, &err);
	bid->quote = true;
	if (!code)
		code = auc_decide(a, desc, submit_uid, bid, NULL, false, &offer, barred,
				  sizeof(barred), &err);
	bid->quote = false;
	if (!code)
		code = auc_site_count_jobs(desc,
					   bid->npartitions
						   ? bid->partitions[0]
						   : auc_auction_conf(a)->partitions[0].name,
					   array.n, 0, "", &err);
	if (code == AUC_EAGAIN && !auc_site_may_ask_again(desc->user_id))
		code = AUC_ESTATE;
	if (!code && posts(a))
		code = take_posted(bid, quote, &offer, &err);
	if (code) {
		rc = fail(err_msg, code_of(code), "%s", err.text);
	} else if (!offer.accepted && (quote || !(bid->stands > 0))) {
		say_with(err_msg, offer.message, barred);
		rc = quote ? RC_QUOTE : RC_REFUSED;
	} else if (quote) {
		rc = asprintf(&text,
			      "%s\nauction: that is one task now; %s decided in its turn, at the "
			      "prices of its moment",
			      offer.message, each_task(&array, each));
		say(err_msg, rc < 0 ? offer.message : text);
		if (rc >= 0)
			free(text);
		rc = RC_QUOTE;
	} else {
		rc = hold_array(a, desc, bid, &offer, &array, err_msg);
	}
	free(array.ids);
	auc_offer_clear(&offer);
	return rc;
}

static bool posts(const struct auc_auction *a)
{
	const struct auc_policy *policy = auc_policy_find(auc_auction_conf(a)->policy);

	return policy && policy->posts;
}

/* Where prices are posted, OFFER is for one job to take or to leave: for an array it says only what
 * the first task would be offered. The user's limit is in no text. */
static enum auc_code take_posted(const struct auc_bid *bid, bool quote, struct auc_offer *offer,
				 struct auc_err *err)
{
	if (bid->max_price < 0 && !quote)
		return auc_err_set(err, AUC_EINVAL,
				   "--max-price: not given, expected what each task may cost, in "
				   "credits");
	if (!offer->message || !offer->accepted)
		return AUC_OK;
	offer->message[strcspn(offer->message, "\n")] = '\0';
	if (quote)
		return AUC_OK;
	offer->accepted = offer->payment <= auc_money_from(bid->max_price);
	if (!offer->accepted && !(bid->stands > 0))
		return auc_err_set(err, AUC_EFULL, "refused: the price is above --max-price: %s",
				   offer->message + strlen("auction: offered: "));
	return AUC_OK;
}

/* What a bid of each task of an array cannot be. */
static enum auc_code check_array(const job_desc_msg_t *desc, const struct auc_bid *bid,
				 struct auc_array_tasks *array, struct auc_err *err)
{
	if (bid->accept)
		return auc_err_set(
			err, AUC_EINVAL,
			"--accept: given with --array, expected one of them: an offer is "
			"for one job");
	return auc_array_read(desc->array_inx, slurm_conf.max_array_sz, array, err);
}

/* "each of the 3 is", in EACH. */
static const char *each_task(const struct auc_array_tasks *array, char each[static EACH_SIZE])
{
	if (array->n == 1)
		return "it is";
	snprintf(each, EACH_SIZE, "each of the %u is", array->n);
	return each;
}

static int hold_array(struct auc_auction *a, job_desc_msg_t *desc, struct auc_bid *bid,
		      const struct auc_offer *offer, const struct auc_array_tasks *array,
		      char **err_msg)
{
	char *receipt, *text, each[EACH_SIZE];
	struct auc_err err;
	enum auc_code code;

	code = auc_auction_held_add(a, bid, desc->user_id, auc_site_now(), offer->message, array,
				    &receipt, &err);
	if (code)
		return fail(err_msg, code_of(code), "%s", err.text);
	auc_desc_hold(desc, list_partitions(a, bid), auc_auction_conf(a), auc_site_now() + LISTED,
		      receipt);
	show_spending(desc, 1);
	free(receipt);
	if (asprintf(&text,
		     "%s\nauction: that is one task now; %s decided in its turn, at the prices of "
		     "its moment%s; \"sbid list\" shows what was bought, \"sbid why\" why "
		     "something was not",
		     offer->message, each_task(array, each),
		     bid->stands > 0 ? ", and again if it is refused" : "") < 0)
		return SLURM_SUCCESS;
	say(err_msg, text);
	free(text);
	return SLURM_SUCCESS;
}

static int code_of(enum auc_code code)
{
	return code == AUC_EAGAIN                         ? RC_AGAIN
	       : code == AUC_EINVAL || code == AUC_ENOENT ? RC_BAD_BID
							  : RC_REFUSED;
}

/* BID, which then names all partitions that are sold and that Slurm has, if it names none: a job of
 * another Slurm does not take. */
static const struct auc_bid *list_partitions(const struct auc_auction *a, struct auc_bid *bid)
{
	const struct auc_conf *conf = auc_auction_conf(a);

	for (unsigned i = 0; !bid->npartitions && i < conf->npartitions; i++)
		if (auc_site_lacks(conf->partitions[i].name))
			return list_known(conf, bid);
	return bid;
}

static const struct auc_bid *list_known(const struct auc_conf *conf, struct auc_bid *bid)
{
	for (unsigned i = 0; i < conf->npartitions && bid->npartitions < AUC_BID_PARTITIONS_MAX;
	     i++)
		if (!auc_site_lacks(conf->partitions[i].name))
			memcpy(bid->partitions[bid->npartitions++], conf->partitions[i].name,
			       sizeof(bid->partitions[0]));
	return bid;
}

/* Makes the job the lead of its group, or a gang. */
static int take_offer(struct auc_auction *a, job_desc_msg_t *desc, const struct auc_offer *offer,
		      char **err_msg)
{
	struct auc_slice slice;
	struct auc_err err;

	for (unsigned i = offer->nparts; i-- > 0;) {
		const struct auc_part *p = &offer->parts[i];

		if (auc_slice_of(p, p->start, p->end, &slice, &err)) {
			auc_auction_drop(a, offer->sale, NULL);
			return fail(err_msg, RC_REFUSED, "%s", err.text);
		}
	}
	if (!offer->nparts || !offer->receipt) {
		auc_auction_drop(a, offer->sale, NULL);
		return fail(err_msg, RC_REFUSED, "out of memory");
	}
	if (offer->parts[0].block) {
		auc_block_apply(desc, &slice, offer->end, offer->receipt);
	} else if (slice.nnodes) {
		slice.one_gpu_type = auc_auction_one_gpu_type(a, offer->parts);
		auc_desc_apply_gang(desc, &slice, offer->receipt);
	} else {
		auc_desc_apply(desc, &slice, offer->receipt);
	}
	if (!offer->parts[0].block)
		show_spending(desc, auc_spending_of(offer->payment, offer->parts, offer->nparts));
	auc_desc_environment(desc, offer->sale, offer->start, offer->end);
	if (!slice.nnodes)
		auc_desc_trap(desc, auc_conf_change_signal(auc_auction_conf(a)));
	say(err_msg, offer->message);
	return SLURM_SUCCESS;
}

/* Where the site has spending.h's licence DESC holds CENTS of it while it runs; one that is held is
 * given as many as it then pays. A bid with licences of its own was refused. */
static void show_spending(job_desc_msg_t *desc, uint32_t cents)
{
	char text[AUC_CENTS_SIZE];

	if (!cents || !auc_spending_shows(slurm_conf.licenses))
		return;
	auc_spending_print(cents, text);
	AUC_XFREE(desc->licenses);
	desc->licenses = slurm_xstrdup(text);
}

/* Slurm's code if UID, an ordinary user, may not make the change DESC asks for, with the reason in
 * WHY.
 */
static int check_modify(const job_desc_msg_t *desc, uint32_t uid, char *why, size_t size)
{
	uint32_t job_id = auc_desc_job_id(desc);
	struct auc_auction *a;
	enum auc_protect protect;
	bool sold = false, awaited = false, stands = false;

	if (desc->admin_comment && auc_receipt_is(desc->admin_comment)) {
		snprintf(why, size, "AdminComment: a receipt is written by the auction only");
		return ESLURM_ACCESS_DENIED;
	}
	if (asks_for_spending(desc, why, size))
		return ESLURM_INVALID_LICENSES;
	if (bars_reservation(desc, uid, why, size))
		return ESLURM_RESERVATION_ACCESS;
	if (!job_id && auc_site_attached()) {
		snprintf(why, size,
			 "the job is not named by its number, by which the auction knows what was "
			 "sold; give that");
		return ESLURM_INVALID_JOB_ID;
	}
	protect = auc_site_protects(job_id);
	if (protect == AUC_PROTECT_UNKNOWN) {
		snprintf(why, size,
			 "the auction is starting and does not know its jobs yet; try again in a "
			 "moment");
		return ESLURM_TRANSITION_STATE_NO_UPDATE;
	}
	a = protect == AUC_PROTECT_YES ? NULL : auc_site_enter(NULL);
	if (a) {
		awaited = auc_auction_awaits(a, uid);
		sold = auc_auction_owns(a, job_id);
		stands = auc_auction_is_held(a, job_id);
		auc_site_leave();
	}
	if (stands) {
		snprintf(why, size,
			 "job %u is a bid that stands and cannot be changed or released; scancel "
			 "withdraws it",
			 job_id);
		return ESLURM_ACCESS_DENIED;
	}
	if (sold || protect == AUC_PROTECT_YES) {
		snprintf(why, size,
			 "job %u was sold by auction as it stands and cannot be changed; cancel it "
			 "and bid again",
			 job_id);
		return ESLURM_ACCESS_DENIED;
	}
	if (awaited) {
		snprintf(why, size,
			 "a bid of yours has just been accepted, and which job it is of is not "
			 "known yet; try again in a moment");
		return ESLURM_TRANSITION_STATE_NO_UPDATE;
	}
	if (desc->partition && partition_of(desc) != ELSEWHERE) {
		snprintf(why, size,
			 "partition %.64s is sold by auction; a job gets in by a bid at its "
			 "submission only",
			 desc->partition);
		return ESLURM_ACCESS_DENIED;
	}
	if (desc->partition && diverts(desc, why, size) != AUC_STAYS)
		return ESLURM_PARTITION_NOT_AVAIL;
	return SLURM_SUCCESS;
}

/* True if DESC asks for the licence that shows what was paid, with the reason in WHY. */
static bool asks_for_spending(const job_desc_msg_t *desc, char *why, size_t size)
{
	bool plain = auc_spending_named(desc->licenses);

	/* From 23.02 on tasks may ask for licences, too. */
	if (!plain && !auc_spending_named(desc->tres_per_task))
		return false;
	snprintf(why, size,
		 "--%s=%.128s: " AUC_CENTS " shows what was paid, and jobs that are sold alone "
		 "have it; leave it out",
		 plain ? "licenses" : "tres-per-task",
		 plain ? desc->licenses : desc->tres_per_task);
	return true;
}

/* True if UID may not put the job into the reservation that DESC names, or out of its own. */
static bool bars_reservation(const job_desc_msg_t *desc, uint32_t uid, char *why, size_t size)
{
	if (!desc->reservation)
		return false;
	if (auc_fence_is_ours(desc->reservation)) {
		snprintf(why, size, "reservation %.128s is for what was sold only",
			 desc->reservation);
		return true;
	}
	if (!auc_block_among(desc->reservation) && !auc_block_user(uid))
		return false;
	snprintf(why, size,
		 "reservation %.128s: a job gets into a block of the auction at its submission "
		 "only, and does not leave it; scancel it and submit again",
		 *desc->reservation ? desc->reservation : "(none)");
	return true;
}

/* Gives the user LINES; slurmctld frees the text. */
static void say(char **err_msg, const char *lines)
{
	if (!err_msg || !lines)
		return;
	AUC_XFREE(*err_msg);
	*err_msg = slurm_xstrdup(lines);
}

/* LINES, and one more of partitions that the job was BARRED from ("": none). */
static void say_with(char **err_msg, const char *lines, const char *barred)
{
	char *text;

	if (!*barred || !lines ||
	    asprintf(&text, "%s\nauction: not open to this job: %s", lines, barred) < 0) {
		say(err_msg, lines);
		return;
	}
	say(err_msg, text);
	free(text);
}

static int fail(char **err_msg, int rc, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n = snprintf(text, sizeof(text), "auction: ");

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	say(err_msg, text);
	return rc;
}
