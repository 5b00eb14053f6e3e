/*
 * chunks.h - who trains on what: the chunks of an epoch, each handed out until it has been done and
 * counted once, however often workers leave with theirs. Pure.
 */
#ifndef TRAIN_CHUNKS_H
#define TRAIN_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "model.h"

struct chunks {
	uint64_t n;
	uint64_t epochs;     /* behind */
	uint64_t ndone;      /* of the present epoch */
	uint64_t *done;      /* bit by chunk */
	uint64_t *out;       /* bit by chunk: somebody has it */
	uint64_t next;       /* no chunk below is free */
	struct metrics sum;  /* of the chunks that are done */
	struct metrics last; /* of the last whole epoch */
};

/* N chunks, EPOCHS epochs behind. AUC_ENOMEM. Free with chunks_clear(). */
enum auc_code chunks_init(struct chunks *c, uint64_t n, uint64_t epochs, struct auc_err *err);
void chunks_clear(struct chunks *c);
/* Words in the bitmaps of N chunks. */
uint64_t chunks_words(uint64_t n);
/* Takes up an epoch of which DONE[chunks_words()] and SUM are behind. */
void chunks_resume(struct chunks *c, const uint64_t *done, const struct metrics *sum);

/* Hands a chunk out. False: all that are not done are out. */
bool chunks_take(struct chunks *c, uint64_t *chunk);
/*
 * CHUNK of epoch EPOCH (epochs behind when it was handed out) has been trained on, with metrics M.
 * True if it counts: it was out. With the last one the next epoch begins, and *WHOLE is set.
 */
bool chunks_done(struct chunks *c, uint64_t epoch, uint64_t chunk, const struct metrics *m,
		 bool *whole);
/* It has not, and is free again. */
void chunks_return(struct chunks *c, uint64_t epoch, uint64_t chunk);

#endif
