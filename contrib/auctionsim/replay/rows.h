/*
 * rows.h - what a replay of a log found: a row for each way in which its jobs could have been
 * served, and the numbers of each.
 */
#ifndef SIM_REPLAY_ROWS_H
#define SIM_REPLAY_ROWS_H

#include "auctionsim/import/import_log.h"

#define ROWS_MAX 6

/* Why a row is there. */
enum row_kind {
	ROW_CONFIGURED, /* the auction as auction.conf has it */
	ROW_LEARNED,    /* the same by learned prices */
	ROW_NONE,       /* the same without prices */
	ROW_FIFO,
	ROW_EASY,  /* by the limits of the log, as far as it has any */
	ROW_EXACT, /* EASY that knows what jobs will take */
};

struct row {
	enum row_kind kind;
	const char *name; /* one word */
	char label[96];
	char prices[200]; /* by which it sold last, or "" */
	unsigned completed;
	double welfare, revenue; /* credits; what jobs are worth, less what their nodes cost */
	double cost;             /* what their nodes cost, by Cost of auction.conf */
	double *day_welfare;     /* by day of submission */
	double *wait;            /* by job: hours from submission to start; < 0: never started */
	double *use;             /* by bin: GPUs that work, on average */
	double wait_mean, wait_median, wait_p90; /* hours, of those that started */
	double used; /* share of the GPU time of the log's days that works */
	unsigned users_served, users_without; /* of those that submitted anything */
};

struct replay_rows {
	struct import_log_facts facts; /* of what the rows are about */
	struct import_log_facts whole; /* of the log */
	struct import_log_facts done;  /* of its days that are in all rows, without users */
	char log[200];
	char values[320]; /* where the values of jobs come from */
	unsigned n;
	struct row rows[ROWS_MAX];
	unsigned nbins;
	double bin_seconds;
	double potential;  /* credits: each job alone on the cluster */
	bool costs;        /* some server has a cost */
	unsigned *user;    /* by job; 0: not known */
	double short_part; /* part of jobs that are shorter than a slot */
	double history;    /* days that prices are learned from at most */
};

/* Memory for N rows of the jobs of R->facts. AUC_ENOMEM. */
enum auc_code rows_make(struct replay_rows *r, struct auc_err *err);
void rows_clear(struct replay_rows *r);
/* JOB of ROW ran on GPUS GPUs from START for SECONDS, counted from the begin of the first day; it
 * was submitted on DAY and at SUBMIT. Its nodes cost COST. */
void rows_ran(struct replay_rows *r, struct row *row, unsigned job, unsigned day, double submit,
	      double start, double seconds, double gpus, double value, double payment, double cost);
/* What users have of ROW: value less payment. */
double row_kept(const struct row *row);
/* Works out what is left when all jobs are in. */
enum auc_code rows_finish(struct replay_rows *r, struct auc_err *err);
/* The same where only the days of R->done, at least one, are to count: no more are added. */
enum auc_code rows_finish_early(struct replay_rows *r, struct auc_err *err);
/* A sentence if days of the log are missing, else "". */
void rows_missing(const struct replay_rows *r, char *text, size_t size);
/* The first row of that kind; NULL: there is none. */
const struct row *rows_find(const struct replay_rows *r, enum row_kind kind);

enum advice {
	ADVICE_NO_SHORTAGE, /* there is nothing to share out */
	ADVICE_KEEP_QUEUE,  /* the auction is worth less */
	ADVICE_NO_MATTER,   /* neither is better by more than chance */
	ADVICE_AUCTION,     /* it is worth more, and users keep more */
	ADVICE_PAID,        /* it is worth more, but users keep less after paying */
};

/* The advice that follows from the numbers, and the sentences that say why: TEXT is malloc'd,
 * one paragraph a line. AUC_ENOMEM. */
enum auc_code verdict_of(const struct replay_rows *r, enum advice *advice, char **text,
			 struct auc_err *err);
/* One word. */
const char *verdict_word(enum advice advice);

/* The table and the advice for people; auction-replay/1; a page of HTML with pictures. */
enum auc_code rows_print_table(FILE *out, const struct replay_rows *r, struct auc_err *err);
enum auc_code rows_print_json(FILE *out, const struct replay_rows *r, struct auc_err *err);
enum auc_code rows_print_page(FILE *out, const struct replay_rows *r, struct auc_err *err);

#endif
