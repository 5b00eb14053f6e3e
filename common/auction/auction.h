/*
 * auction.h - the whole auction as one object, safe for concurrent calls: what the plugins hold.
 *
 * A lock guards market, policy, ledger and history. It is held for the time of a decision, never
 * across I/O: changes queue events in memory, and auc_auction_commit(), called by one thread only,
 * writes them to the spool. A second lock puts calls that do I/O in order; no bid waits for it.
 *
 * Life: create (from a configuration) -> set_servers (nodes are known) -> open_spool (state
 * recovered) -> ready. Before that, and when the state is broken, bids get AUC_ESTATE with a
 * sentence for the user.
 */
#ifndef AUC_AUCTION_H
#define AUC_AUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "input/array_tasks.h"
#include "input/bid.h"
#include "input/conf.h"
#include "ledger/ledger.h"
#include "policy/policy.h"
#include "ledger/receipt.h"
#include "ledger/spool.h"

struct auc_auction;

/* A server as the cluster describes it. */
struct auc_server_spec {
	char name[AUC_NAME_MAX];
	char partition[AUC_NAME_MAX]; /* names an auc_conf_partition */
	unsigned ncapacity;
	struct auc_named capacity[AUC_TRES_MAX];
	bool down;                       /* known but not for sale now */
	char leaf[AUC_NAME_MAX];         /* its switch, as in auc_market_set_switch(); "": none */
	char features[AUC_FEATURES_MAX]; /* "a,b" */
	/* CPUs that a job, and each of its tasks, gets a multiple of: those of a core, or socket.
	 * 0: any number. */
	unsigned cpu_step, task_step;
};

/* CONF is owned by the auction from then on, also when it fails. AUC_ENOENT, AUC_EINVAL: the policy
 * or its options. */
enum auc_code auc_auction_create(struct auc_conf *conf, struct auc_auction **a,
				 struct auc_err *err);
void auc_auction_destroy(struct auc_auction *a);
/* The configuration in force. Stays valid until the auction is destroyed, even when another one has
 * taken its place. */
const struct auc_conf *auc_auction_conf(const struct auc_auction *a);

/*
 * (Re)builds the market from the cluster's nodes, at Unix time NOW. Live sales stay booked by
 * server name; if one no longer fits or its server is gone, it stays in the ledger, is booked as
 * far as it fits, and is reported in ERR with AUC_EFULL (the rest is done).
 */
enum auc_code auc_auction_set_servers(struct auc_auction *a, const struct auc_server_spec *servers,
				      unsigned nservers, double now, struct auc_err *err);
/* A time, FROM to TO in Unix time (TO INFINITY: for good), in which nothing more is sold on a
 * server. */
struct auc_closing {
	char server[AUC_NAME_MAX];
	double from, to;
};
/* From now on LIST is closed, and nothing else; what is sold there stays sold. AUC_ENOMEM. */
enum auc_code auc_auction_close(struct auc_auction *a, const struct auc_closing *list, unsigned n,
				struct auc_err *err);
/* What the cluster's own rules allow a plan in a partition. */
struct auc_partition_limit {
	char partition[AUC_NAME_MAX];
	bool paused;                      /* nothing new is sold there, what is sold stays */
	bool hidden;                      /* the status says so of its servers: not for all eyes */
	double seconds;                   /* from its first slot there to its last; INFINITY: any */
	unsigned nodes;                   /* at one time; UINT_MAX: any */
	double mem_per_cpu, mem_per_node; /* MB, of what one node gives; INFINITY: any */
};
/*
 * From now on LIST holds for what is sold, and nothing else; other partitions have no limits. A bid
 * whose best schedule breaks one is sold the best one without that partition. AUC_ENOMEM.
 */
enum auc_code auc_auction_limit(struct auc_auction *a, const struct auc_partition_limit *list,
				unsigned n, struct auc_err *err);
/*
 * From now on sales that get another plan keep to the limits on jobs and TRES that SOURCE makes
 * for UID, ACCOUNT ("": its default) and QOS: malloc'd into *CAPS; NULL: there are none. It is
 * called with ARG and locks of the auction held, so it does not call the auction. SOURCE NULL:
 * there are no such limits.
 */
struct auc_caps;
typedef enum auc_code auc_caps_source(void *arg, uint32_t uid, const char *account, const char *qos,
				      struct auc_caps **caps, struct auc_err *err);
void auc_auction_set_caps(struct auc_auction *a, auc_caps_source *source, void *arg);
/* Takes a new configuration (owned), keeping sales and history, and rebuilds the market with the
 * servers known. */
enum auc_code auc_auction_reconfigure(struct auc_auction *a, struct auc_conf *conf, double now,
				      struct auc_err *err);
/* Recovers from the spool directory and keeps it for commits. A failure leaves the auction broken,
 * with the reason. */
enum auc_code auc_auction_open_spool(struct auc_auction *a, const char *dir, double now,
				     struct auc_spool_report *report, struct auc_err *err);
/*
 * Lets go of the spool, so that another process can open it: what is not committed is lost, and no
 * bids are taken until auc_auction_open_spool() has read it again.
 */
void auc_auction_close_spool(struct auc_auction *a);
/* Declares the state broken (bids are refused with REASON) or ready. */
void auc_auction_break(struct auc_auction *a, const char *reason);
/* Sells nothing new, for REASON, and carries out the rest; NULL: it sells again. */
void auc_auction_pause(struct auc_auction *a, const char *reason);
/* A transfer by hand, durable with the next commit: as auc_ledger_transfer(); AUC_ESTATE. */
enum auc_code auc_auction_transfer(struct auc_auction *a, const struct auc_transfer *t,
				   struct auc_err *err);
/*
 * Makes the transfers that Refill= and Return= say at NOW, durable with the next commit; *MADE: how
 * many. To be called often: it looks once an hour, and after a new configuration. AUC_ESTATE, or as
 * auc_ledger_transfer().
 */
enum auc_code auc_auction_allowances(struct auc_auction *a, double now, unsigned *made,
				     struct auc_err *err);
/* AUC_OK if bids can be taken, else AUC_ESTATE and why. */
enum auc_code auc_auction_ready(struct auc_auction *a, struct auc_err *err);

/*
 * What one server gives to a plan, from START to END: what the adapter makes into one single-node
 * job. At any time of the plan exactly one part is the lead's; all those of the lead are one job,
 * the user's own, which moves from one to the next.
 */
struct auc_part {
	char server[AUC_NAME_MAX];
	char partition[AUC_NAME_MAX];
	bool lead;         /* on a server of PSs */
	double start, end; /* Unix time */
	unsigned workers, ps;
	unsigned ntres;
	struct auc_named tres[AUC_TRES_MAX]; /* workers * worker TRES + ps * PS TRES, by name */
	/*
	 * Of a gang, which is one part and one job on all of its nodes: how many (else 0), and
	 * their names with commas, SERVER's first, in the memory of the array that this part is in.
	 * WORKERS is 1 then, and TRES what each node gives.
	 */
	unsigned nnodes;
	const char *nodes;
	bool whole; /* of a gang: nobody else has anything of its nodes */
	bool block; /* and they are reserved for jobs of its owner's, and not the job itself */
};
/* The next of PART's nodes after *AT (NULL at first) into NAME, false after the last. Of a part
 * that is no gang's the only one is its server. */
bool auc_part_next_node(const struct auc_part *part, const char **at, char name[AUC_NAME_MAX]);

/* The answer to a bid. Free with auc_offer_clear(). */
struct auc_offer {
	bool accepted;
	enum auc_reason reason;
	char sale[AUC_SALE_ID_LEN]; /* lien, if one was put */
	/* Of a quote of posted prices: the offer that a bid can accept, and for how long; 0: none.
	 */
	uint64_t id;
	double seconds;
	double best_payoff;
	/* It took too many steps to look at everything (policy.h): another schedule may have a
	 * payoff that is higher by up to DISTANCE. */
	bool cut;
	double distance;
	auc_money payment, value;
	double start, end; /* Unix time at which the plan begins, and at which it ends */
	struct auc_plan plan;
	char *receipt; /* AdminComment text, if a lien was put */
	unsigned nparts;
	struct auc_part *parts; /* by start, the lead's first */
	/* Lines for the user's terminal, '\n' between them: what was decided, why, what would be
	 * accepted. */
	char *message;
};
void auc_offer_clear(struct auc_offer *o);

/*
 * Decides on BID at Unix time NOW for user UID. Arrival is the first slot that begins at or after
 * NOW + StartMargin, with LateStart one that began up to that long before NOW. If HOLD and the
 * payoff is positive, puts a lien that lapses after LienSeconds. A refusal is AUC_OK with accepted
 * false. AUC_ENOENT, AUC_EINVAL: the bid names what nobody has; AUC_ESTATE: not ready; AUC_EFULL:
 * more than AUC_PARTS_MAX nodes; AUC_ELIMIT: a limit of its user, or its accounts cannot pay.
 * Counts the bid, and with prices learned remembers what it says (held bids and refusals; not with
 * HOLD false: a quote changes nothing). Posted prices: what a quote offers stands for OfferTime,
 * and a bid that accepts it gets that, at its price, as many slots later as the first it can have
 * has moved, or one of the errors of auc_offer_standing_find(); AUC_EFULL: its place is taken.
 */
enum auc_code auc_auction_bid(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
			      double now, bool hold, struct auc_offer *offer, struct auc_err *err);

/*
 * Bids that stand (--stands): what was refused is decided again while its job is held, at most once
 * a slot, in fair turns (memory/held_bids.h), when something that it could use has changed, by the
 * same decision. Its value counts from its first arrival on, and it teaches prices once only.
 */
/*
 * BID of UID stands from now on; *RECEIPT is its job's (malloc'd). ANSWER: what was said of it when
 * it was refused at NOW. Or it is that of each task of ARRAY (NULL: of none), which has not been
 * decided and is due at once. AUC_ELIMIT: too many stand, with the limit named; AUC_EFULL: its
 * receipt is too long; AUC_ESTATE: there is no key to seal it with.
 */
enum auc_code auc_auction_held_add(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
				   double now, const char *answer,
				   const struct auc_array_tasks *array, char **receipt,
				   struct auc_err *err);
/* Such a RECEIPT was seen at JOB_ID, held, of UID. AUC_EEXIST: that is known; AUC_EINVAL: it cannot
 * be read; AUC_EFULL, AUC_ENOMEM. */
enum auc_code auc_auction_held_seen(struct auc_auction *a, const char *receipt, uint32_t job_id,
				    uint32_t uid, struct auc_err *err);
struct auc_held_view {
	char id[AUC_SALE_ID_LEN];
	uint32_t uid, job_id; /* 0: not seen yet */
	double since, until;
	unsigned tasks, at_once; /* of an array, else 0 */
	bool stays;              /* what is refused of it is decided again later */
};
/* All of them in the order of submission, those whose jobs never came left out; malloc'd, free it.
 * AUC_ENOMEM. */
enum auc_code auc_auction_held(struct auc_auction *a, double now, struct auc_held_view **list,
			       unsigned *n, struct auc_err *err);
/* True if tasks of an array of UID's are being decided. */
bool auc_auction_decides(struct auc_auction *a, uint32_t uid);
bool auc_auction_is_held(struct auc_auction *a, uint32_t job_id);
enum auc_held_turn {
	AUC_HELD_NONE,      /* nobody's */
	AUC_HELD_PASSED,    /* of one for which nothing has changed; ask for the next */
	AUC_HELD_DUE,       /* VIEW is to be decided: BID */
	AUC_HELD_WORTHLESS, /* VIEW is worth nothing any more */
};
/* Whose turn it is at NOW; each is taken once in a slot. */
enum auc_held_turn auc_auction_held_next(struct auc_auction *a, double now,
					 struct auc_held_view *view, struct auc_bid *bid);
/* ID could not be decided at its turn: it is to be at its next, or (SOON) once more in the slot of
 * NOW. */
void auc_auction_held_again(struct auc_auction *a, const char *id, double now, bool soon);
/* The decision of its turn, as auc_auction_bid() with HOLD; a refusal has no message. AUC_ENOENT:
 * it does not stand. */
enum auc_code auc_auction_bid_again(struct auc_auction *a, const char *id,
				    const struct auc_bid *bid, double now, struct auc_offer *offer,
				    struct auc_err *err);
/*
 * One task of the array ID, as auc_auction_bid() with HOLD, but that UserQuotes and UserLiens do
 * not count: who asks keeps their number small. A refusal has its message, and is not kept for
 * auc_auction_tell(). AUC_ENOENT.
 */
enum auc_code auc_auction_bid_task(struct auc_auction *a, const char *id, const struct auc_bid *bid,
				   double now, struct auc_offer *offer, struct auc_err *err);
/*
 * The tasks of the array ID that are left, N of them, end unsold for WHY: its user is told TEXT if
 * asked (NULL: nothing), and the result is their last receipt, malloc'd (NULL: not known, or no
 * memory). It stands no more.
 */
char *auc_auction_array_end(struct auc_auction *a, const char *id, unsigned n, const char *why,
			    const char *text, double now);
/*
 * ID stands no more. WHY NULL: it was sold; else its user is told so if asked, and the result is
 * its last receipt, malloc'd (NULL: not known, or no memory).
 */
char *auc_auction_held_end(struct auc_auction *a, const char *id, const char *why, double now);

/*
 * The answer to BID of UID, which asks (enum auc_ask), as one line "auction: JSON", malloc'd: what
 * the accounts that would pay have, what UID was told when a bid of it was refused last, or
 * what was published last. NULL: no memory.
 */
char *auc_auction_tell(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid, double now);
/* What users were told last of refusals, as text (refusals.h), malloc'd; NULL: it is as it was at
 * *EDITION (0 at first), which is brought up to date, or there is no memory. */
char *auc_auction_refusals(struct auc_auction *a, uint64_t *edition);
/* Remembers those of TEXT, of a process before this one. */
void auc_auction_recall_refusals(struct auc_auction *a, const char *text);
/* UID was told TEXT at NOW: its bid was refused for what the auction does not look at. */
void auc_auction_keep_refusal(struct auc_auction *a, uint32_t uid, double now, const char *text);
/* From now on all users are told TEXT, one JSON object that is copied, of prices (summary.h), or
 * (PAST) of past ones (price_log.h). Without memory the old one stays. */
void auc_auction_post_prices(struct auc_auction *a, bool past, const char *text);
/* True if JOB_ID is the lead of a live sale, or the number of an array of which no task waits to be
 * decided and some have live sales: when the plan, or the last of them, begins and ends (Unix time)
 * is in *START and *END then. */
bool auc_auction_times(struct auc_auction *a, uint32_t job_id, double *start, double *end);
/* True if JOB_ID itself is the lead of a live sale, which ends at *END then. For many jobs. */
bool auc_auction_job_ends(struct auc_auction *a, uint32_t job_id, double *end);

/* Ledger operations under the lock; see ledger.h. RECEIPT (may be NULL) gets the new AdminComment
 * text, malloc'd. */
enum auc_code auc_auction_confirm(struct auc_auction *a, const char *sale, uint32_t job_id,
				  char **receipt, struct auc_err *err);
enum auc_code auc_auction_drop(struct auc_auction *a, const char *sale, struct auc_err *err);
enum auc_code auc_auction_start(struct auc_auction *a, uint32_t job_id, double now, char **receipt,
				struct auc_err *err);
/* A look at Slurm's jobs that began at LOOKED (Unix time) found none of SALE, a lien. If its
 * submission must have become a job by then, the next bid of its user takes its place. */
void auc_auction_unclaimed(struct auc_auction *a, const char *sale, double looked);
/*
 * Ends the sale of JOB_ID at NOW. The refund follows the published rule: never started, node
 * failure or lost: everything; else the slots that could not be had (plan.lost) and with
 * RefundUnused the whole slots not begun, pro rata of the payment by slots.
 */
enum auc_code auc_auction_settle(struct auc_auction *a, uint32_t job_id, const char *why,
				 double now, char **receipt, struct auc_err *err);
/*
 * One more slot for JOB_ID, which runs, with the layout of its last: at today's price, if its bid
 * wants that and is worth more than what it pays then. AUC_ESTATE: it does not or is not;
 * AUC_EFULL: the slot is sold.
 */
enum auc_code auc_auction_extend(struct auc_auction *a, uint32_t job_id, char **receipt,
				 struct auc_err *err);
/*
 * Slots for JOB_ID behind its plan where it cannot have its own nodes any more (auc_plan_go_on()):
 * two minutes at least, as soon as there are some within twelve slots that its bid is worth, at
 * today's price. AUC_ESTATE, AUC_EFULL: likewise.
 */
enum auc_code auc_auction_go_on(struct auc_auction *a, uint32_t job_id, char **receipt,
				struct auc_err *err);
/*
 * What SERVER was to give JOB_ID in slots not over at SINCE (Unix time) moves to other servers of
 * its partition that are up and have room, at no charge (auc_plan_without()). Where there are none,
 * all that was to come from SINCE on comes later, by as few slots as it takes, up to a hundred, and
 * as long as the bid is worth its payment then. AUC_EFULL: it cannot be; AUC_ENOENT: SERVER was to
 * give nothing.
 */
enum auc_code auc_auction_move(struct auc_auction *a, uint32_t job_id, const char *server,
			       double since, char **receipt, struct auc_err *err);
/*
 * What JOB_ID was to have from SINCE on (Unix time, the begin of a slot) and could not, through no
 * fault of its own, comes so many slots later that it begins at UNTIL or after it, at no charge,
 * on the same servers or others of their partition, while the bid is worth its payment then. Where
 * there is no room for that, it loses its slots before UNTIL (plan.lost), for which it is paid back
 * in the end; if no other is left, all comes as soon as there is room, as in auc_auction_move().
 * AUC_EINVAL: none of its slots is from SINCE on; AUC_EFULL: it cannot be; AUC_ESTATE: its plan is
 * revised (auc_auction_revise()), not put off.
 */
enum auc_code auc_auction_put_off(struct auc_auction *a, uint32_t job_id, double since,
				  double until, char **receipt, struct auc_err *err);
/*
 * Brings plans of sales up to date, if something has happened since they were made. With a policy
 * that decides slot by slot, all of its sales'; with learned prices and a policy that rearranges,
 * those of jobs that wait and cost less elsewhere by now (rearrange.c), for a tenth of a second at
 * a time; who begins within LEAD seconds, for whom nodes are being powered up, stays. LIMITED:
 * limits of their owners may end jobs that need more than before, so none does. *CHANGED (may be
 * NULL): how many got another. Of one thread, the one that confirms, starts and settles. AUC_EFULL:
 * they stay as they are for now, and it is tried again.
 */
enum auc_code auc_auction_revise(struct auc_auction *a, double now, double lead, bool limited,
				 unsigned *changed, struct auc_err *err);
/* Of the block of JOB_ID, which runs, nodes could not be used for MISSING slots in all since it
 * began, which is no less than was said before. AUC_EINVAL: it is no such block. */
enum auc_code auc_auction_miss(struct auc_auction *a, uint32_t job_id, double missing,
			       struct auc_err *err);
/* From now on receipts have their bids sealed with SEAL, which is taken over (NULL: they have
 * none).
 */
void auc_auction_set_seal(struct auc_auction *a, struct auc_seal *seal);
/* Sells a receipt again as it stood, for JOB_ID in STATE. */
enum auc_code auc_auction_adopt(struct auc_auction *a, const char *receipt, uint32_t job_id,
				uint32_t uid, enum auc_sale_state state, struct auc_err *err);
/*
 * Time passes: lapses liens, moves the horizon, and takes the prices that the bids since the last
 * tick teach, or publishes those of a fit. A clock that was ahead and is set back by more than a
 * slot gets a new market. Waits for a commit under way. Returns the number of liens that lapsed.
 */
unsigned auc_auction_tick(struct auc_auction *a, double now);

/* A consistent copy of one live sale in the cluster's terms. Free with auc_sale_view_clear(). */
struct auc_sale_view {
	char sale[AUC_SALE_ID_LEN];
	enum auc_sale_state state;
	uint32_t job_id, uid;
	double start, end; /* Unix time */
	double slot_seconds;
	auc_money payment, value;
	unsigned revision; /* changes with the plan */
	bool extend;       /* its bid buys more slots at the end */
	bool goes_on;      /* elsewhere, too */
	bool notice;       /* its script is to get a notice before the end */
	double missing;    /* of a block: as in its plan (plan.h) */
	char *block_users; /* of a block: those beside its owner (bid.h), malloc'd; NULL: none */
	unsigned nparts;
	struct auc_part *parts; /* by start, the lead's first */
};
void auc_sale_view_clear(struct auc_sale_view *v);
/* Another whenever the answer of auc_auction_sales() or auc_auction_sale() may be another; 0: it
 * has no ledger yet. */
uint64_t auc_auction_edition(struct auc_auction *a);
/* All live sales in order of sale (liens too), without their parts; *VIEWS is malloc'd, free each
 * and the array. */
enum auc_code auc_auction_sales(struct auc_auction *a, struct auc_sale_view **views, unsigned *n,
				struct auc_err *err);
enum auc_code auc_auction_sale(struct auc_auction *a, const char *sale, struct auc_sale_view *view,
			       struct auc_err *err);
enum auc_code auc_auction_sale_of_job(struct auc_auction *a, uint32_t job_id,
				      struct auc_sale_view *view, struct auc_err *err);
/* True if JOB_ID is the lead of a live sale: what job_modify asks; takes the lock for a look-up
 * only. */
bool auc_auction_owns(struct auc_auction *a, uint32_t job_id);
/* True if JOB_ID is that of a live block: its partition is in PARTITION then. */
bool auc_auction_has_block(struct auc_auction *a, uint32_t job_id, char partition[AUC_NAME_MAX]);
/* True if UID has a lien: one of its jobs, nobody knows which, may have been sold. Asked before
 * auc_auction_owns() no job slips through between the two. */
bool auc_auction_awaits(struct auc_auction *a, uint32_t uid);
/* How many jobs at once PARTS are at most: one for each node at a time. */
unsigned auc_parts_at_once(const struct auc_part *parts, unsigned nparts);
/* What is spent or held of the account that SALE leaves least of, of those that pay for it. */
struct auc_budget_use {
	char account[AUC_ACCOUNT_LEN];
	double share, before; /* of what was granted: with SALE, and without it */
	auc_money left, granted;
};
/* False: nobody that pays for it is held to a budget, or it is not known. */
bool auc_auction_budget_use(struct auc_auction *a, const char *sale, struct auc_budget_use *use);
/* All that a node has. */
struct auc_node_size {
	unsigned n;
	struct auc_named tres[AUC_TRES_MAX];
};
/*
 * What each node has that the gang of BID, whose shapes say what it takes at least, may use.
 * AUC_ENOENT: there is none; AUC_EINVAL: they have different amounts of memory, so that all of it is
 * not one shape.
 */
enum auc_code auc_auction_node_size(struct auc_auction *a, const struct auc_bid *bid,
				    struct auc_node_size *size, struct auc_err *err);
/* Of the nodes that the gang of BID may use: their partition, of several the first in BID or, if it
 * names none, in auction.conf; "" if there is no such node; whether some partition has as many that
 * are up as one of its shapes takes; and the least common multiples of what a job and its tasks get
 * CPUs by, at least 1. */
struct auc_gang_reach {
	char partition[AUC_NAME_MAX];
	bool enough;
	bool mixed; /* some of them have GPUs of several types */
	unsigned gpu_kinds;     /* types of their GPUs: 0, 1, or more, which are not counted */
	char gpu[AUC_NAME_MAX]; /* the type, if it is one ("gpu:a100") */
	unsigned cpu_step, task_step;
};
void auc_auction_gang_reach(struct auc_auction *a, const struct auc_bid *bid,
			    struct auc_gang_reach *reach);
/* True if none of PART's nodes has GPUs of several types; false, too, if one of them is not known
 * any more. */
bool auc_auction_one_gpu_type(struct auc_auction *a, const struct auc_part *part);
/* AUC_ENOENT: a node that the gang of BID must have is none of the partitions where it may go, or
 * no node that it may have there has the features that it asks for. */
enum auc_code auc_auction_gang_names(struct auc_auction *a, const struct auc_bid *bid,
				     struct auc_err *err);
void auc_auction_totals(struct auc_auction *a, struct auc_totals *totals);

/*
 * Makes everything decided so far durable; a snapshot now and then. Only one thread may call it; no
 * lock is held during I/O. On AUC_EIO the events stay queued and the auction counts as broken until
 * a later commit succeeds; so on AUC_ENOMEM. Where there was no memory for an event, the next
 * commit writes a snapshot, which has all that is, in place of events.
 */
enum auc_code auc_auction_commit(struct auc_auction *a, struct auc_err *err);

/*
 * Prices that learn (Prices=flat and Prices=learned): the last bids are fitted (fit.h) in a thread
 * of the caller's, one at a time: due -> begin (copies, under the locks) -> run (long, without any
 * lock) -> end. What it found is published by the first auc_auction_tick() of a later slot, and
 * holds until the next: in between no price changes. What was sold or held before keeps its price.
 */
struct auc_fit_job;
struct auc_tariff;
struct auc_cancel;
/* True if there is something new to fit. A fit follows no sooner than AUC_FIT_COST times
 * the processor time that the last one took. */
bool auc_auction_fit_due(struct auc_auction *a, double now);
/* *JOB is for auc_auction_fit_end(). AUC_ESTATE: prices are not learned, or it is not ready. */
enum auc_code auc_auction_fit_begin(struct auc_auction *a, double now, struct auc_fit_job **job,
				    struct auc_err *err);
/* As auc_fit(). */
enum auc_code auc_fit_job_run(struct auc_fit_job *job, const struct auc_cancel *cancel,
			      struct auc_tariff **t, struct auc_err *err);
/* Takes JOB over, and T (NULL: the fit failed), to be published if it is what the configuration
 * still wants. */
void auc_auction_fit_end(struct auc_auction *a, struct auc_fit_job *job, struct auc_tariff *t);
/* A copy of the prices that hold, to be freed; false: none were published yet. */
bool auc_auction_tariff(struct auc_auction *a, struct auc_tariff **t);

/*
 * The board: prices of the standard shapes (Shape= of auction.conf), as a bid of this moment would
 * pay them, by the same decision. Prices one shape that has no price of the slot of NOW yet,
 * without a trace of it in prices and counts; false: there is none.
 */
bool auc_auction_board_step(struct auc_auction *a, double now);

struct json_object;
/* Market, prices and use by server, TRES and slot, sales and totals, as JSON (doc/status.md): for
 * sprice and tests; waits for a commit under way. New reference. */
struct json_object *auc_auction_status(struct auc_auction *a, double now);

#endif
