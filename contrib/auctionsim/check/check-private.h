/*
 * check-private.h - what the parts of the checker share: a result as read, and the rules that are
 * the same for every policy. check.c reads, and holds the rules of policies that plan a job once;
 * check_oasis.c those of oasis, check_posted.c those of posted prices, check_steps.c those of
 * policies that decide slot by slot, check_chunks.c those of chunks.
 */
#ifndef SIM_CHECK_PRIVATE_H
#define SIM_CHECK_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "auctionsim/books/books.h"
#include "auctionsim/check/check.h"
#include "auctionsim/run/margin.h"
#include "auctionsim/io/document.h"
#include "auctionsim/scenario/scenario.h"

/* Workers or PSs on one server. */
struct group {
	unsigned server;
	uint64_t count;
};

struct run {
	uint64_t from, to;
	bool has_workers, has_ps, has_nodes;
	unsigned nworkers, nps; /* nodes of a gang: workers, 1 each */
	struct group *workers, *ps;
};

/* Slots, inclusive. */
struct span {
	uint64_t from, to;
};

/* One chunk of a job, as read. */
struct chunk {
	unsigned server, nruns;
	uint64_t worker, slots; /* slots: of all its runs */
	struct span *runs;
};

/* Chunks that are moved. */
struct transfer {
	uint64_t slot, chunks;
	unsigned from, to;
};

/* What a job that was sold comes to, worked out. */
struct tale {
	bool live, started, killed;
	long double said, left; /* worker-slots that it says; that it needs behind its plan */
	uint64_t done, until; /* slot after it is done in its plan, or 0; the last that it holds */
	uint64_t more;        /* slots that it holds behind its plan */
	long double paid;     /* for those */
	uint64_t waited;      /* slots since it held one */
	uint64_t moves;
	struct run spot;     /* where it is, once it has moved: its groups are its own */
	uint64_t completion; /* 0: none */
	long double value, payment;
};

/* One job of a result, as read. */
struct sold {
	char *id, *reason, *worker_type, *ps_type;
	bool accepted, colocated, has_colocated, has_plan, has_transfers;
	double value, payment, payoff, best_payoff; /* NAN: not there */
	uint64_t start, completion;                 /* 0: not there */
	unsigned nruns, ntransfers;
	struct run *runs;
	struct transfer *transfers;
	bool has_offer;
	double offer[2]; /* posted prices of a worker and of a PS */
	bool has_shape;
	uint64_t shape;
	bool has_chunks;
	unsigned nchunks;
	struct chunk *chunks;
	uint64_t decided; /* 0: not there */
	double planned;   /* for how many times what it says; 0: not said */
	bool has_realised;
	uint64_t real_completion; /* 0: null */
	double real_value, real_payment;
	uint64_t real_moves;
	/* worked out */
	const struct scenario_job *job;
	size_t index; /* in the result */
	bool sound;   /* its plan can be booked */
	bool completed;
	const struct scenario_type *worker, *ps;
	double worker_seconds, ps_seconds;
	long double chunk_slots;
	uint64_t when; /* slot in which it was decided: its arrival, or DECIDED */
	uint64_t rank; /* whose turn it was among those that stood in that slot */
	struct tale tale;
};

struct totals {
	uint64_t jobs, accepted, completed, preemptions;
	double welfare, revenue, mean_jct_slots;
	double cost, realised_welfare, realised_revenue, killed; /* NAN: not there */
};

struct timing {
	uint64_t decisions;
	double p50_us, p99_us, max_us;
};

struct fair {
	bool there;
	double users, nothing, gini, kept, short_jobs, short_accepted;
};

/* One result. */
struct check {
	struct fair fair;
	const struct scenario *s;
	const char *name;
	FILE *out;
	unsigned violations;
	struct reader r; /* path of what is looked at */
	struct auc_err why;
	char *policy;
	bool priced, admits_all, own_reckoning; /* of the policy */
	bool elastic;                           /* oasis: workers vary */
	bool gangs;                             /* it takes gangs */
	double *left;                           /* by budget of the scenario */
	bool sites;                             /* eris and its baselines: chunks are moved */
	bool posted;                            /* jobs are offered posted prices */
	const struct check_steps *steps;        /* NULL: it plans a job once */
	uint64_t preemptions;                   /* counted */
	bool no_memory;
	struct totals totals;
	struct timing timing;
	bool has_timing;
	struct json_object *jobs;
	struct sold *sold;   /* by job of the scenario */
	struct sold **order; /* of decision */
	struct sold **arrived;
	unsigned norder;
	uint64_t now; /* the last slot that began */
	struct scenario_times times;
	struct margin *margin;
	long double stretch; /* of the job at hand: how much longer it is planned than it says */
	struct books *books;
};

/* A policy that decides slot by slot. */
struct check_steps {
	const char *name;
	/* Is the work of J what its runs, in order, make of it? Tells violations, counts
	 * preemptions. */
	void (*work)(struct check *c, struct sold *j);
	void (*end)(struct check *c); /* NULL, or after the last job: what concerns all of them */
	bool chunks;                  /* its jobs say what became of each chunk */
	bool sites;                   /* its jobs move chunks */
	bool spread;                  /* PSs as OASiS has them: by bandwidth, on any servers */
};

/* The schedule of an accepted job of policy oasis, whose types are known. False: it is none that
 * could be priced. */
bool check_oasis(struct check *c, const struct sold *j);
/* Refused by oasis for its payoff or for capacity: is there a schedule? Of types that may be in
 * each other's way only what could be without that is known. */
void check_oasis_refused(struct check *c, const struct sold *j);
/* Workers and PSs of RUN as OASiS has them. False: there are none. */
bool check_pss(struct check *c, const struct sold *j, const struct run *run);
/* The work of a baseline of oasis: a struct check_steps' work(). */
void check_elastic(struct check *c, struct sold *j);
/* No two runs in a row that are one. */
void check_maximal(struct check *c, const struct sold *j);
/* Maximal runs in order, within the horizon, from the arrival on. */
bool check_times(struct check *c, const struct sold *j);
/* The same of policy eris; a struct check_steps' work() of its baselines; MB that RUN sends in a
 * slot; sends them, which must be within the budget; a reader of "transfers". */
bool check_eris(struct check *c, const struct sold *j);
void check_eris_steps(struct check *c, struct sold *j);
long double check_sent(const struct sold *j, const struct run *run, uint64_t slot);
void check_send(struct check *c, const struct sold *j, const struct run *run, uint64_t slot);
enum auc_code check_read_transfers(struct reader *r, struct json_object *v, const struct field *f,
				   void *target);
/* check_gang.c: an accepted gang: what its keys are, its schedule and its money. */
void check_gang_job(struct check *c, struct sold *j);
enum auc_code check_read_nodes(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
enum auc_code check_read_shape(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
/* What an accepted job pays is taken off its user's budget, which must be enough. */
void check_budget(struct check *c, const struct sold *j);
/* The value at COMPLETION and what J pays are these. */
void check_worth(struct check *c, const struct sold *j, uint64_t completion, long double cost);
/* The schedule of a job that took a posted price, whose types are known; its money; a refused one.
 */
bool check_posted(struct check *c, const struct sold *j);
void check_posted_money(struct check *c, const struct sold *j);
void check_posted_refused(struct check *c, struct sold *j);
/* The rules of POLICY ("NAME[,OPTION...]"); NULL: it is none of those. */
const struct check_steps *check_steps_find(const char *policy);
/* An accepted job of such a policy. */
void check_steps_job(struct check *c, struct sold *j);
/* Jobs that are trained chunk by chunk: a reader of "chunks", and the rules. */
enum auc_code check_read_chunks(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
void check_chunks(struct check *c, struct sold *j);
void check_chunks_end(struct check *c);
void check_clear_chunks(struct sold *j);
/* Who waits in policy aonline had to, in a result that is sound apart from that. False: no memory.
 */
bool check_turns(struct check *c);

/* check_true.c: a reader of "realised", of "times"; the slots up to TO begin; for how
 * many times what it says J is planned now; an accepted job; after the last slot. */
enum auc_code check_read_realised(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
enum auc_code check_read_times(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
bool check_true_begin(struct check *c); /* false: no memory */
long double check_true_planned(struct check *c, const struct sold *j);
void check_true_pass(struct check *c, uint64_t to);
void check_true_sold(struct check *c, struct sold *j);
void check_true_end(struct check *c);
/* check_fairness.c: a reader of "fairness"; what it should say. False: no memory. */
enum auc_code check_read_fairness(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
bool check_fairness(struct check *c);
/* check_stands.c: the order in which jobs were decided; a job that was accepted while it stood. */
bool check_stands_order(struct check *c);
void check_stands(struct check *c, const struct sold *j);
/* The work of OASiS of an accepted job, FACTOR times as long as it says. */
long double check_oasis_work(const struct check *c, const struct sold *j, long double factor);

/* KEY: a member of the job, or of the result if J is NULL; NULL: the text says it all. */
void check_violation(struct check *c, const char *key, const struct sold *j, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Is WORD one of the policy's options? */
bool check_option(const struct check *c, const char *word);
/* Finds the types that J names. */
bool check_types(struct check *c, struct sold *j);
/* One window within the horizon, not before the arrival. */
bool check_window(struct check *c, const struct sold *j);
/* Workers somewhere, PSs on one server. */
bool check_groups(struct check *c, const struct sold *j, const struct run *run);
/* Nothing of RUN is where data or roles do not allow it. */
void check_uploads(struct check *c, const struct sold *j, const struct run *run);
/* Books RUN; it must fit. */
void check_book(struct check *c, const struct sold *j, const struct run *run);
uint64_t check_sum(const struct group *g, unsigned n);
bool check_close(long double a, long double b);

#endif
