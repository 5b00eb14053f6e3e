/* train.h - what one task of auction-train knows: its options (train.c), its place in the group
 * (place.c), and its two roles. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "train/model/homes.h"

#define TRAIN_TASKS_MAX 4096
#define TRAIN_ID_MAX    1000000000
#define TRAIN_TOKEN_LEN 32 /* bytes that open a connection between our tasks */
#define TRAIN_HOST_MAX  128
#define TRAIN_NODE_MAX  64

/* From the command line; the same in all tasks. */
struct train_options {
	uint64_t epochs, chunks, minibatches, batch; /* E, D, M, samples in a mini-batch */
	uint64_t seed, hidden, held_out;
	double rate;
	const char *checkpoint; /* NULL: none */
	double pace; /* least seconds of a mini-batch (worker) or an update (PS): from --pace, by
			type */
	double connect_wait; /* how long to try to reach the PSs */
	bool async;
	double checkpoint_every; /* seconds; asynchronous training */
	double lost;             /* seconds of silence after which a worker's chunk is taken back */
	const char *data; /* directory of this node's chunks, chunk.N (NULL: they are generated) */
	struct homes homes; /* on which nodes the chunks lie; asynchronous training only */
};

enum train_role { TRAIN_WORKER, TRAIN_PS, TRAIN_SCHEDULER };

struct train_host {
	char host[TRAIN_HOST_MAX];
	unsigned port;
};

/* From the environment that slaunch sets. */
struct place {
	enum train_role role;
	unsigned rank, nworkers, nps;
	uint64_t id;                     /* a worker's name; its rank may change, this does not */
	bool elastic;                    /* more workers may come at any time */
	struct train_host *ps;           /* nps of them */
	char type[64];                   /* worker or PS type, or "" */
	char node[TRAIN_NODE_MAX];       /* this task's, or "" */
	char token[TRAIN_TOKEN_LEN + 1]; /* zeros where there is none */
};

/*
 * Reads AUCTION_*, or where they are missing DMLC_* (which name one PS only). AUC_EINVAL names the
 * variable. Free with place_clear().
 */
enum auc_code place_read(struct place *p, struct auc_err *err);
void place_clear(struct place *p);

/* --pace: "1.9s" for every type, or "v100=1.9s,t4=3.4s"; a type that is not named has 0. *SECONDS
 * is that of TYPE. */
enum auc_code pace_parse(const char *text, const char *type, double *seconds, struct auc_err *err);

/*
 * The two roles; both return when training is over. What went wrong they say themselves, before
 * they let go of their connections: the others fail then too, and the first failure ends all tasks.
 */
enum auc_code ps_run(const struct place *p, const struct train_options *opt, struct auc_err *err);
enum auc_code worker_run(const struct place *p, const struct train_options *opt,
			 struct auc_err *err);

/* The same for asynchronous training, in which workers may come and go. */
enum auc_code async_ps_run(const struct place *p, const struct train_options *opt,
			   struct auc_err *err);
enum auc_code async_worker_run(const struct place *p, const struct train_options *opt,
			       struct auc_err *err);

/* Prints "auction-train: SENTENCE" to stderr. */
void complain(const struct auc_err *err);

/* The I-th of N equal parts of TOTAL is [*from, *to): how parameters are divided over the PSs. */
static inline void part_of(uint64_t total, unsigned i, unsigned n, uint64_t *from, uint64_t *to)
{
	*from = total * i / n;
	*to = total * (i + 1) / n;
}

#endif
