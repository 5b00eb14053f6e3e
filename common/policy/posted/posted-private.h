/*
 * posted-private.h - the parts of policy posted: R. Zhou, X. Zhang, J. C. S. Lui, Z. Li: "Dynamic
 * Pricing and Placing for Distributed Machine Learning Jobs: An Online Learning Approach", IEEE
 * JSAC 2023, as policies.md reads it.
 *
 * A job asks for a fixed number of workers of one type k and of PSs of one type m. It is placed
 * first (posted_place.c), then priced (a struct auc_posted_pricing); its user takes the offer p_k
 * d_k + p_m d_m or leaves it. Nothing here is ever told what a user would have paid: a pricing
 * learns from the offers that it made and whether each was taken, and from nothing else.
 */
#ifndef AUC_POSTED_PRIVATE_H
#define AUC_POSTED_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "market/plan.h"
#include "policy/policy.h"

enum { AUC_POSTED_WORKER, AUC_POSTED_PS, AUC_POSTED_KINDS };

/* What one job asks for. */
struct auc_posted_ask {
	auc_slot arrival;
	unsigned type[AUC_POSTED_KINDS];  /* k_i and m_i: type indices of the market */
	unsigned count[AUC_POSTED_KINDS]; /* d_ik and d_im, at least 1 */
	double epochs;                    /* alpha_i: how often gradients are exchanged */
	double seconds;                   /* beta_i: computing of one epoch */
	double gradient_mb;               /* w_i */
};

/* -- placing -- */

enum auc_posted_placement { AUC_POSTED_PA, AUC_POSTED_UPA };

/* What is idle, by server. */
struct auc_posted_room {
	unsigned nservers;
	const int32_t *idle[AUC_POSTED_KINDS]; /* of the job's types */
	/* NULL: workers and PSs share no TRES. Else how many PSs fit on SERVER beside WORKERS,
	 * which fit. */
	int32_t (*beside)(const struct auc_posted_room *room, unsigned server, unsigned workers);
	const void *arg;
};

/* Where a job goes: shares ascending by server. Memory for all servers. */
struct auc_posted_layout {
	unsigned nservers, n;
	struct auc_share *shares;
	/* scratch */
	uint64_t *key;
	uint32_t *order, *sorted;
	int32_t *ps_idle;
	unsigned *count[AUC_POSTED_KINDS]; /* by server; 0 between calls */
};

enum auc_code auc_posted_layout_open(struct auc_posted_layout *l, unsigned nservers,
				     struct auc_err *err);
void auc_posted_layout_clear(struct auc_posted_layout *l);

/*
 * Places ASK as HOW, an auc_posted_placement, says. False: it does not fit. PA (Alg. 2): of servers
 * by idle workers descending, idle PSs descending, index ascending the first that holds all; else
 * workers, and then PSs, fill servers in that order. UPA (Alg. 3): the shortest prefix of that
 * order that holds the workers, and they as even there as idle counts allow; PSs likewise. No
 * placement looks at a price. LUCK is for others of this type.
 */
bool auc_posted_place(struct auc_posted_layout *l, unsigned how, const struct auc_posted_room *room,
		      const struct auc_posted_ask *ask, uint64_t luck);
/* Fills servers, all of them, in the order of L->order, each as full as it gets: workers, then PSs.
 * False: it does not fit. */
bool auc_posted_fill(struct auc_posted_layout *l, const struct auc_posted_room *room,
		     const struct auc_posted_ask *ask);

struct auc_posted_speed {
	bool dynamic;                       /* (22), else (1) */
	double bandwidth[AUC_POSTED_KINDS]; /* h_k and H_m, Mbit/s */
};
/* tau_i in seconds of SHARES: (1), or (22), whose minima run over servers that host a worker (a PS)
 * of the job. */
double auc_posted_seconds(const struct auc_posted_ask *ask, const struct auc_posted_speed *speed,
			  const struct auc_share *shares, unsigned n);
/* The same in whole slots, at least 1. INT64_MAX: beyond counting. */
int64_t auc_posted_slots(double seconds, double slot_seconds);

/* -- pricing -- */

#define AUC_POSTED_THETA_AUTO  (-1.0) /* as printed, at most 0.1 */
#define AUC_POSTED_THETA_PAPER (-2.0)

/* What a pricing is told of the market. Capacities may change while it lives. */
struct auc_posted_terms {
	double slots;                                     /* T */
	auc_slot first;                                   /* the first of them */
	unsigned ntypes[AUC_POSTED_KINDS];                /* K and M */
	double capacity[AUC_POSTED_KINDS][AUC_TYPES_MAX]; /* C_k and C_m */
	double ceiling;                                   /* a unit price of 1 is so many credits */
	uint64_t seed;
	/* Of pricings that only the simulator has (posted_rivals.h there). */
	double theta;      /* share of nil prices, or one of the two above */
	double delta;      /* 0, or a factor of the printed step between prices */
	bool paper;        /* variant=paper */
	const char *fixed; /* unit prices, '/' between them */
};

/* What is offered, or what became of it. */
struct auc_posted_offer {
	struct auc_posted_ask ask;
	double slots;                   /* tau_i of the placement */
	double idle[AUC_POSTED_KINDS];  /* of the job's types, before it */
	double price[AUC_POSTED_KINDS]; /* p_ik and p_im */
};

struct auc_posted_pricing {
	const char *summary;
	/* *SELF: what it knows, NULL on failure: AUC_ENOMEM, or AUC_EINVAL of "fixed". TERMS
	 * outlives it. */
	enum auc_code (*create)(const struct auc_posted_terms *terms, void **self,
				struct auc_err *err);
	void (*destroy)(void *self);
	/* Sets OFFER's prices. Changes nothing that a later offer depends on. */
	void (*offer)(void *self, struct auc_posted_offer *offer);
	/* A job came. It was offered OFFER, and took it or not; or nothing, for it does not fit
	 * (OFFERED false): its slots are then those of its computing alone. May be NULL. */
	void (*answered)(void *self, const struct auc_posted_offer *offer, bool offered,
			 bool accepted);
	/* One that had accepted is done after SLOTS. May be NULL. */
	void (*completed)(void *self, const unsigned type[AUC_POSTED_KINDS], double slots);
};

extern const struct auc_posted_pricing auc_posted_shared;

/* A number in [0, 1) that is random in SEED and N. */
double auc_posted_luck(uint64_t seed, uint64_t n);
uint64_t auc_posted_hash(uint64_t x);

/* -- the policy, for those that choose other pricings and placements -- */

struct auc_posted_choice {
	const struct auc_posted_pricing *pricing;
	bool (*place)(struct auc_posted_layout *l, unsigned how, const struct auc_posted_room *room,
		      const struct auc_posted_ask *ask, uint64_t luck);
	unsigned how;
	bool dynamic; /* (22), else (1) */
	double ceiling, theta, delta;
	bool paper;
	uint64_t seed;
	char *fixed; /* malloc'd, or NULL; taken over */
};
/* AUC_ENOMEM. */
enum auc_code auc_posted_create(const struct auc_posted_choice *c, struct auc_policy_ctx **ctx,
				struct auc_err *err);
void auc_posted_destroy(struct auc_policy_ctx *ctx);
enum auc_code auc_posted_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err);
void auc_posted_answered(struct auc_policy_ctx *ctx, const struct auc_market *m,
			 const struct auc_job *job, const struct auc_decision *decision,
			 bool accepted);
bool auc_posted_answer(const struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision,
		       bool accepted, struct auc_answer *answer);
enum auc_code auc_posted_recall(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_answer *answer, struct auc_err *err);
/* All of struct auc_policy but create(). */
#define AUC_POSTED_POLICY                                                                          \
	.name = "posted", .summary = "posted prices that learn from who takes them (JSAC 2023)",   \
	.posts = true, .gangs = true, .budgets = true, /* which the user keeps to */               \
		.destroy = auc_posted_destroy, .quote = auc_posted_quote,                          \
	.answered = auc_posted_answered, .answer = auc_posted_answer, .recall = auc_posted_recall

/* -- jobs that run, for what is told of their completion -- */

struct auc_posted_running {
	auc_slot completion;
	uint64_t id; /* the caller's; ties: the lower first */
	unsigned type[AUC_POSTED_KINDS];
	double slots;
};
struct auc_posted_queue {
	unsigned n, alloc;
	struct auc_posted_running *heap;
};
/* False: no memory. */
bool auc_posted_queue_push(struct auc_posted_queue *q, const struct auc_posted_running *r);
/* Takes the next one that is done by slot NOW; false: none is. */
bool auc_posted_queue_pop(struct auc_posted_queue *q, auc_slot now, struct auc_posted_running *r);
void auc_posted_queue_clear(struct auc_posted_queue *q);

#endif
