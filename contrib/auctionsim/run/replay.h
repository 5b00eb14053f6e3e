/*
 * replay.h - what a policy does with the jobs of a scenario, one after the other as they arrive.
 */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "market/plan.h"
#include "policy/policy.h"
#include "policy/stepper.h"
#include "auctionsim/scenario/scenario.h"

/* What really came of a job that was sold, once it has ended. */
struct realised {
	bool known;          /* the scenario has true times */
	auc_slot completion; /* 0: it was ended before it was done */
	double value, payment;
	unsigned moves; /* behind its plan it went on elsewhere so often */
};

/* What became of one job. */
struct outcome {
	bool accepted, completed;
	enum auc_reason reason;
	bool has_best; /* best_payoff is known */
	double best_payoff;
	double value, payment;
	double cost;  /* of what it was sold, to who owns the servers */
	bool offered; /* at posted prices OFFER of a worker and of a PS; VALUE is then the budget,
			 also if refused */
	double offer[2];
	struct auc_plan plan; /* no runs: it never starts */
	double planned;       /* of true times: for how many times what it says */
	auc_slot decided;     /* when it was accepted, if not at its arrival; else 0 */
	struct realised realised;
	unsigned nchunks;
	struct auc_chunk *chunks; /* NULL: its policy is not one of chunks */
};

struct result {
	char *policy; /* "NAME[,option=value...]" as asked for */
	uint64_t seed;
	unsigned njobs;
	struct outcome *jobs; /* in the order of the scenario */
	/* totals */
	unsigned accepted, completed;
	double welfare, revenue, mean_jct_slots;
	double cost; /* of what was sold, to who owns the servers */
	uint64_t preemptions;
	unsigned killed; /* of true times: ended before they were done */
	double realised_welfare, realised_revenue;
	unsigned rearranged; /* times that a job that waited was placed anew */
	char *remark;        /* NULL, or a sentence about the result for the user */
	/* decisions, in microseconds */
	unsigned decisions;
	double p50_us, p99_us, max_us;
};

/* Told of every job, or slot, that is decided; may be NULL. False: the work ends with AUC_ESTATE.
 */
typedef bool (*replay_progress)(void *arg, unsigned done, unsigned all);

/*
 * Runs POLICY ("NAME[,option=value...]"), of either kind, over S. *RESULT is zeroed by the caller
 * and cleared by result_clear(). Prices are what the scenario asks for; a policy that prices
 * nothing has none. AUC_ENOENT (no such policy), AUC_EINVAL (options, a scenario that the policy
 * cannot take), AUC_ENOMEM.
 */
enum auc_code replay_run(const struct scenario *s, const char *policy, uint64_t seed,
			 replay_progress progress, void *arg, struct result *result,
			 struct auc_err *err);
void result_clear(struct result *r);
/* Whether replay_run() takes these options of POLICY. AUC_ENOENT, AUC_EINVAL, AUC_ENOMEM. */
enum auc_code replay_check_options(const char *policy, struct auc_err *err);

/* Shown M when the slots FROM to TO have passed: no later job changes what they hold and cost. */
typedef void (*replay_look)(void *arg, const struct auc_market *m, auc_slot from, auc_slot to);

/*
 * Books what MADE, a result of S, says was sold, with the scenario's prices if its policy sells by
 * them, and shows the market as it goes. AUC_EFULL: more is sold than there is.
 */
enum auc_code replay_repeat(const struct scenario *s, const struct result *made, replay_look look,
			    void *arg, struct auc_err *err);
/* True if POLICY ("NAME[,option=value...]") is one of ours that prices what it sells. */
bool replay_is_priced(const char *policy);

#endif
