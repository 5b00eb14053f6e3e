/*
 * auction-private.h - the inside of struct auc_auction, for the files of this folder only.
 *
 * Two mutexes. `lock` guards what decisions read and change; it is never held across I/O. `admin`
 * puts the calls that build, open, write and look (set_servers, reconfigure, open_spool, tick,
 * commit, status) one after the other, I/O included; a bid never takes it. Order: admin, then
 * lock.
 */
#ifndef AUC_AUCTION_PRIVATE_H
#define AUC_AUCTION_PRIVATE_H

#include <pthread.h>

#include "pricing/past/posted_answers.h"
#include "auction/memory/activity.h"
#include "auction/auction.h"
#include "auction/caps.h"
#include "pricing/fit.h"
#include "pricing/past/price_history.h"
#include "pricing/past/bid_log.h"
#include "pricing/past/job_times.h"
#include "auction/memory/offer_standing.h"
#include "pricing/tariff.h"
#include "auction/memory/refusals.h"
#include "auction/memory/held_bids.h"
#include "auction/memory/user_limits.h"

#define AUC_SNAPSHOT_BYTES (1u << 20) /* of journal, and another one follows */

struct auc_events {
	struct json_object *list; /* array */
	bool missed; /* there was no memory for one: the list does not say all that happened */
};

/* Sold jobs that wait for their slots (rearrange.c). */
struct auc_rearrange {
	bool due;                 /* a fit or a sale has ended since they were placed anew */
	auc_slot slot;            /* in which that was last */
	struct auc_tariff *costs; /* what slots cost by the last fit; NULL: there was none */
	/* Behind admin: the search under way, in the market as it is laid out now; NULL: none. */
	struct auc_rearrange_run *search;
};

/* When a shape of the board can be had, and for how much. */
struct auc_board_price {
	bool found;
	double start, end; /* Unix time */
	auc_money price;
	char partition[AUC_NAME_MAX];
};
struct auc_board_row {
	bool known;
	auc_slot slot; /* in which it was priced */
	struct auc_board_price soonest, cheapest;
	char why[256]; /* why it cannot be had; "": it can */
};
struct auc_board {
	const struct auc_conf *conf; /* whose shapes the rows are; NULL: none */
	struct auc_board_row *rows;
};

/* One bid on its way to a decision. The auction keeps one, so that a decision allocates nothing. */
struct auc_question {
	struct auc_bid bid;                  /* without the partitions that limits rule out */
	struct auc_job job;                  /* what it is in the market */
	struct auc_decision decision, extra; /* on it; and on another one, for hints */
	struct auc_decision planned;         /* of several plans of it the best up to now */
	struct auc_payers payers;
	auc_money left; /* what they can pay; AUC_UNLIMITED */
	uint32_t uid;   /* who asks; 0: nobody in particular */
	bool again;     /* the bid stands and has been decided before: it teaches nothing more */
	bool task;      /* it is that of a task of an array */
	bool later;     /* it begins later than it could: BID says so */
	char ruled_out[512]; /* limits that the decision was made without; "": none */
	double locked;       /* when the lock was had for it */
	/* Canonical text of the bid, printed once: for the sale, the log of bids and offers. NULL:
	 * no text is needed. SITES: for the sale instead, with where it may run and for how long it
	 * was planned; NULL: as TEXT. */
	char *text, *sites;
};

struct auc_auction {
	pthread_mutex_t admin;
	pthread_mutex_t lock;

	/* Behind lock. Conf, specs and market change only with both held, so either is enough to
	 * read them. */
	struct auc_conf *conf;
	struct auc_conf **old_confs; /* kept until the end: a caller may still be reading one */
	unsigned nold_confs;
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
	struct auc_server_spec *specs;
	unsigned nspecs;
	struct auc_closing *closed;
	unsigned nclosed;
	struct auc_partition_limit *limits;
	unsigned nlimits;
	auc_caps_source *caps_source; /* of sales that get another plan; NULL: there are none */
	void *caps_arg;
	struct auc_seal *seal;     /* of receipts; NULL: they have no bids */
	struct auc_market *market; /* NULL until the nodes are known */
	bool misfits;              /* sales did not fit in it when it was built */
	struct auc_ledger *ledger;
	struct auc_price_history *price_history;
	struct auc_bid_log *bid_log;
	struct auc_job_times *job_times;    /* what jobs took that have ended */
	struct auc_posted_answers *answers; /* of a policy that posts prices */
	struct auc_offer_standing *offers;  /* its offers */
	struct auc_tariff *tariff;          /* published last; NULL: none yet */
	struct auc_tariff *next_tariff;     /* of the last fit, to be published; NULL: none */
	struct auc_fit_memory fit_memory;   /* of the last fit, for the next */
	double fit_time, fit_seconds;       /* when the last fit began, and what it took */
	unsigned long long fit_added;       /* bids that it knew, of all that ever were */
	unsigned fit_bids;                  /* and that meant something */
	struct auc_price price;             /* the market's, where no tariff holds */
	bool stale;                         /* plans of a policy that steps could be others now */
	double revise_next;                 /* they are not revised before */
	struct auc_rearrange rearrange;     /* of a policy that rearranges */
	bool price_old;                     /* the history says more than the price does */
	unsigned fresh;                     /* bids that the price does not know */
	struct auc_question question; /* memory of a decision; auc_auction_bid() hands it on */
	/* Decisions since the auction was made. */
	struct {
		uint64_t decisions, cut; /* CUT: not everything was looked at */
		uint64_t most_steps;     /* of one */
		uint64_t limited;        /* not made: its user has had too many */
	} made;
	struct auc_user_limits *users;
	struct auc_held_bids *held;    /* bids that stand */
	struct auc_refusals *refusals; /* what users were told last */
	char *published[2]; /* what all users are told of prices, and of past ones; NULL: nothing
			       yet */
	struct auc_events events; /* decided, not yet taken by a commit */
	bool recovered;           /* the spool was read */
	int64_t allowed_hour;     /* when money last came by itself; 0: not by this conf */
	char paused[256];         /* why nothing new is sold; "": it is */
	char broken[512];         /* why bids are refused: said from outside, or recovery failed */
	char io_error[512];       /* why the last commit failed */
	char warning[512]; /* why the last snapshot failed, or what of the spool is left out */
	struct auc_activity activity;
	struct auc_board board;

	/* Behind admin. */
	struct auc_spool *spool;
	struct auc_events writing; /* taken, not yet in the spool's queue */
	uint64_t snapshot_at;      /* bytes of journal at which the next snapshot is due */
};

/* closures.c: closes in M what is closed now. */
enum auc_code auc_auction_apply_closures(const struct auc_auction *a, struct auc_market *m,
					 struct auc_err *err);
/* rebuild.c; both mutexes are held. A market of the configuration and servers there are now.
 * AUC_EFULL: done, but a sale no longer fits. */
enum auc_code auc_auction_rebuild(struct auc_auction *a, double now, struct auc_err *err);
/* A market of A's configuration and servers with whatever the ledger's RECORDS name, and the slots
 * to LAST (AUC_SLOT_NONE: as many as there are for sale), booked by nobody. */
#define AUC_SLOT_NONE (INT64_MIN / 2)
enum auc_code auc_auction_build_market(const struct auc_auction *a, struct json_object *records,
				       auc_slot last, double now, struct auc_market **market,
				       struct auc_err *err);
/*
 * prices.c; the lock is held. The tariff by which is sold, NULL if by A->price; what Q's bid says
 * to the next fit, at once ("": it was refused; AGAIN: as one before was) or when there is a job of
 * SALE; there is one; true if the time has come at which the last fit's prices hold.
 */
const struct auc_tariff *auc_auction_tariff_in_force(const struct auc_auction *a);
enum auc_code auc_auction_remember(struct auc_auction *a, const struct auc_question *q,
				   uint32_t uid, double now, const char *sale, bool *again,
				   struct auc_err *err);
void auc_auction_remember_sold(struct auc_auction *a, const char *sale);
bool auc_auction_publish(struct auc_auction *a, double now);
/* Prices that follow from configuration, history and what was published. */
enum auc_code auc_auction_take_price(struct auc_auction *a, struct auc_err *err);
/* bidding.c: ANSWER, to an offer of the policy, is believed. The lock is held. */
void auc_auction_keep_answer(struct auc_auction *a, const struct auc_answer *answer);
/* Lets liens lapse, counted in *LAPSED (may be NULL), and the market's window move. */
void auc_auction_pass_time(struct auc_auction *a, double now, unsigned *lapsed);
/* store.c: the ledger's sink, behind lock; EVENT to the end of ARG, a struct auc_events, taking
 * it over (NULL: no memory). */
void auc_auction_queue_event(void *arg, struct json_object *event);
void auc_event_append(void *arg, struct json_object *event);
enum auc_code auc_auction_no_memory(struct auc_err *err);
/* The lock is held. AUC_ESTATE: bids are not taken, and why. */
enum auc_code auc_auction_check_ready(const struct auc_auction *a, struct auc_err *err);
/* The same of new bids, which also end when a check of this process has failed (check.h). */
enum auc_code auc_auction_check_open(const struct auc_auction *a, struct auc_err *err);
#define AUC_CHECK_REASON "a check of its books failed; slurmctld's log has the evidence"
/*
 * offer_accept.c; the lock is held. Q's decision, on a quote, stands as an offer, which is named in
 * OFFER, if there is one and there is room for it; and Q's decision is again what BID takes, for
 * its job. The sentences are the user's.
 */
void auc_auction_stand(struct auc_auction *a, struct auc_question *q, const struct auc_bid *bid,
		       uint32_t uid, double now, struct auc_offer *offer);
enum auc_code auc_auction_take(struct auc_auction *a, struct auc_question *q,
			       const struct auc_bid *bid, uint32_t uid, double now,
			       struct auc_err *err);
/*
 * limits.c; the lock is held. Whether UID may make the bid (HOLD) or quote Q at NOW, which may have
 * been counted before; its liens that are known to have become no job make room for it. AUC_ELIMIT:
 * the sentence is the user's.
 */
enum auc_code auc_auction_allows(struct auc_auction *a, const struct auc_question *q, uint32_t uid,
				 double now, bool hold, struct auc_err *err);
/* Who pays for Q's bid, of UID, and what they have left, with what Refill= gives them at NOW. */
enum auc_code auc_auction_budget(struct auc_auction *a, struct auc_question *q, uint32_t uid,
				 double now, struct auc_err *err);
/* Q's decision stands only if its payment is left. */
void auc_auction_keep_budget(struct auc_question *q);
/* A limit on jobs or TRES that a decision breaks. */
struct auc_cap_break {
	const struct auc_cap *cap;
	char why[512];
	auc_slot from; /* since then the same could be had, as what keeps it has ended; 0: never */
	double room;   /* what it leaves a job whenever that is */
};
/*
 * caps.c; the lock is held. Whether Q's decision breaks one of the limits of Q's bid: the first.
 * The same of another PLAN for S: what its old one broke as much does not count. Other sales are as
 * the ledger has them, or, where LIST is not NULL, the N of LIST as that says; then limits on each
 * job are no matter: what each of those may need rearrange_search.h says.
 */
bool auc_auction_breaks_cap(const struct auc_auction *a, const struct auc_question *q,
			    struct auc_cap_break *b);
bool auc_auction_change_breaks_cap(const struct auc_auction *a, const struct auc_caps *caps,
				   const struct auc_sale *s, const struct auc_plan *plan,
				   const struct auc_revision *list, unsigned n,
				   struct auc_cap_break *b);
/* The limits of a sale of UID for BID as they are now, malloc'd; NULL: it has none. And AUC_EFULL
 * if PLAN, another one for S, breaks one. */
enum auc_code auc_auction_caps_of(const struct auc_auction *a, uint32_t uid, const char *bid,
				  struct auc_caps **caps, struct auc_err *err);
enum auc_code auc_auction_keep_caps(const struct auc_auction *a, const struct auc_sale *s,
				    const struct auc_plan *plan, struct auc_err *err);
/* A sale, as limits count it; and the look whether PLAN breaks some of CAPS. */
struct auc_cap_sale {
	uint32_t uid;
	const char *bid;
	const struct auc_plan *plan;
};
struct auc_cap_look {
	const struct auc_market *market;
	const struct auc_caps *caps; /* NULL: there are none */
	uint32_t uid;
	const struct auc_plan *plan, *old; /* OLD: what it has; NULL: nothing */
	auc_slot from;                     /* the slots before are over */
	bool finds_room;                   /* since when it would not is to be said, too */
	bool together; /* only those on what sales have together, not those on each job */
	unsigned n;    /* sales beside it; OTHER: the I-th; false: it is none */
	bool (*other)(const void *arg, unsigned i, struct auc_cap_sale *sale);
	const void *arg;
};
bool auc_cap_is_broken(const struct auc_cap_look *look, struct auc_cap_break *b);
/* Drops the shapes of BID's gang for which B has no room; true if some are left of more. */
bool auc_cap_drop_shapes(const struct auc_cap_break *b, struct auc_bid *bid);
/* bidding.c: the first slot that a bid of NOW can have. */
auc_slot auc_auction_arrival(const struct auc_auction *a, double now);
/* The first slot that a decision of NOW may still change, of a policy that steps (revise.c). */
auc_slot auc_auction_first_open(const struct auc_auction *a, double now);
/* bidding.c: the decision on JOB at nodes, not at servers of many nodes; of those on which it does
 * not fit JOB is kept away. */
enum auc_code auc_quote_nodes(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
			      const struct auc_market *m, struct auc_job *job,
			      struct auc_decision *d, struct auc_err *err);
/*
 * bidding.c; the lock is held. The decision on BID into Q, and what is left of *STEPS that it may
 * take; planned.c: the same for as long as BID's job is planned best, which BID says then.
 */
enum auc_code auc_auction_quote_as(struct auc_auction *a, struct auc_question *q,
				   const struct auc_bid *bid, auc_slot arrival, uint64_t *steps,
				   struct auc_err *err);
enum auc_code auc_auction_quote(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
				auc_slot arrival, uint64_t *steps, struct auc_err *err);
/*
 * planned.c; the lock is held. What the job of S took, which ends at NOW for WHY, as a factor of
 * what it stated; false: that says nothing. And it is known from now on.
 */
bool auc_auction_took(struct auc_auction *a, const struct auc_sale *s, const char *why, double now,
		      struct auc_job_time *took);
void auc_auction_hear(struct auc_auction *a, const struct auc_job_time *took);
/* bidding.c; the lock is held. The decision on BID at NOW into A's question, as if somebody without
 * limits asked, and nobody had. */
enum auc_code auc_auction_look_up(struct auc_auction *a, const struct auc_bid *bid, double now,
				  struct auc_err *err);
/* gang_quote.c; the lock is held. How many nodes there are that have what the gang of BID takes of
 * one. */
unsigned auc_gang_count(const struct auc_auction *a, const struct auc_bid *bid);
/* board.c; the lock is held. The board as JSON, an array; NULL: no memory. */
struct json_object *auc_auction_board(const struct auc_auction *a);
/* gang_quote.c: the same of a gang, whose nodes are of one group: Slurm's job has one partition. */
enum auc_code auc_quote_gang(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
			     const struct auc_market *m, struct auc_job *job,
			     struct auc_decision *d, struct auc_err *err);
/* rearrange.c: moves jobs that wait, and do not begin within LEAD seconds, to where they cost less
 * by now, and adds to *CHANGED (may be NULL) how many; LIMITED as in auc_auction_revise(). Admin is
 * held. */
enum auc_code auc_auction_rearrange(struct auc_auction *a, double now, double lead, bool limited,
				    unsigned *changed, struct auc_err *err);
void auc_auction_rearrange_free(struct auc_rearrange_run *s);
/* The text of S's receipt into *RECEIPT, if RECEIPT is not NULL. */
enum auc_code auc_auction_give_receipt(const struct auc_auction *a, const struct auc_sale *s,
				       auc_money refund, const char *why, char **receipt,
				       struct auc_err *err);
/* True if S buys more slots at the end of its plan, as its bid or else auction.conf says
 * (sale_change.c). */
bool auc_sale_extends(const struct auc_auction *a, const struct auc_sale *s);
/* The same of a job that is to buy its plan (planned.c). */
bool auc_bid_extends(const struct auc_auction *a, const struct auc_bid *bid);
/* And if it may go on elsewhere. */
bool auc_sale_goes_on(const struct auc_auction *a, const struct auc_sale *s);
/* True if the script of S handles a notice before its end. */
bool auc_sale_notice(const struct auc_sale *s);
/*
 * partition_limits.c; the lock or admin is held. True if nothing new is sold in SERVER's partition,
 * if it is hidden;
 * the first limit that P, a plan in M, breaks, with a sentence in WHY, or NULL; confines BID to
 * what it may use but PARTITION: false if that leaves nothing (BID is as it was then).
 */
bool auc_auction_is_paused(const struct auc_auction *a, unsigned server);
bool auc_auction_is_hidden(const struct auc_auction *a, unsigned server);
const struct auc_partition_limit *auc_auction_broken_limit(const struct auc_auction *a,
							   const struct auc_market *m,
							   const struct auc_plan *p, char *why,
							   size_t size);
bool auc_auction_leave(const struct auc_auction *a, struct auc_bid *bid, const char *partition);
/* True if SERVER's partition is sold and the server is up. */
bool auc_auction_sells(const struct auc_auction *a, unsigned server);

/*
 * The text of OFFER (offer_text.c), filled but for the message, from Q's decision on its job at
 * Unix time NOW. For a refusal it asks the policy some more. NULL: no memory.
 */
char *auc_offer_message(struct auc_auction *a, struct auc_question *q,
			const struct auc_offer *offer, bool hold);

#endif
