/*
 * chunks.h - which worker trains which chunk. Each chunk is handed out until it has been done and
 * counted once, even if workers leave with theirs. Pure.
 *
 * Where chunks may be trained anywhere, an epoch begins when all chunks of the one before are done.
 * Where each has a home, only workers of that node get it, as often as there are epochs, and no
 * chunk waits for others: a plan may train them in turn.
 */
#ifndef TRAIN_CHUNKS_H
#define TRAIN_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "train/model/homes.h"
#include "train/model/model.h"

struct chunks {
	uint64_t n;
	const struct homes *homes; /* borrowed; NULL: none */
	uint64_t last_epoch;       /* with homes: each chunk is done so often */
	uint64_t epochs;           /* behind: the chunks that were done are so many times N, */
	uint64_t ndone;            /* and so many */
	uint64_t *passes;          /* by chunk: how often it was done */
	bool *out;                 /* by chunk: somebody has it */
	uint64_t next;             /* without homes: no chunk below is free */
	struct metrics sum;        /* of the last NDONE */
	struct metrics last;       /* of the last whole epoch */
};

/* N chunks, EPOCHS epochs behind. AUC_ENOMEM. Free with chunks_clear(). */
enum auc_code chunks_init(struct chunks *c, uint64_t n, uint64_t epochs, struct auc_err *err);
void chunks_clear(struct chunks *c);
/* Each chunk has a home in HOMES (borrowed), and is done EPOCHS times in all. */
void chunks_settle(struct chunks *c, const struct homes *homes, uint64_t epochs);
/* Takes up where each chunk was done PASSES[N] times, with SUM over those of the present epoch. */
void chunks_resume(struct chunks *c, const uint64_t *passes, const struct metrics *sum);

/* Hands a chunk out to a worker of NODE (homes_find(); any without homes) that has those of HERE (a
 * bit by chunk, 64 a word; NULL: all). False: there is none for it now. */
bool chunks_take(struct chunks *c, uint32_t node, const uint64_t *here, uint64_t *chunk);
/*
 * CHUNK, done PASS times when it was handed out, has been trained on, with metrics M. True if it
 * counts: it was out. With the last one of an epoch the next begins, and *WHOLE is set.
 */
bool chunks_done(struct chunks *c, uint64_t pass, uint64_t chunk, const struct metrics *m,
		 bool *whole);
/* It has not, and is free again. */
void chunks_return(struct chunks *c, uint64_t pass, uint64_t chunk);

#endif
