/*
 * proto.h - what workers and PSs say to each other over TCP. A message is a header and COUNT
 * doubles, all in little-endian order.
 *
 *   HELLO   worker -> PS    token, then id, number of workers, parameters of this PS, its node
 *   PUSH    worker -> PS    samples, loss and correct answers of its mini-batch, and the sum of
 *                           their gradients
 *   PARAMS  PS -> worker    three sums, and the parameters
 *   BYE     worker -> PS    it has all it wants
 *
 * Synchronous training: worker 0 opens with
 *
 *   START   worker 0 -> PS  the parameters to start with, how many epochs they have behind them,
 *                           and how many mini-batches of the next one
 *
 * A PS answers START with PARAMS of step 0, and the last of all workers' PUSH of step n with PARAMS
 * of step n + 1, to everybody; the sums are those over all workers.
 *
 * Asynchronous training: a PS answers each PUSH, and each PULL, with PARAMS at once. PS 0 hands out
 * the chunks:
 *
 *   PULL    worker -> PS
 *   HERE    worker -> PS 0  where chunks are files: those that it has, as doubles
 *   NEXT    worker -> PS 0  the chunk that it has done, if any, with its three sums; it wants
 *                           another
 *   CHUNK   PS 0 -> worker  here it is; the answer waits until there is one
 *   WAIT    PS 0 -> worker  none of those that it has, for now
 *   END     PS 0 -> worker  there are no more
 *
 * PS 0 is a worker of the other PSs that only pulls (PROTO_COORDINATOR): for checkpoints.
 */
#ifndef TRAIN_PROTO_H
#define TRAIN_PROTO_H

#include <stdint.h>

#include "train/train.h"

#define PROTO_MAGIC   0x52545541u /* "AUTR" */
#define PROTO_METRICS 3           /* doubles in front of a PUSH's and a PARAMS' vector */

#define PROTO_ASYNC       0          /* for the number of workers: any */
#define PROTO_COORDINATOR UINT64_MAX /* for the id of a worker */

enum proto_type {
	PROTO_HELLO = 1,
	PROTO_START,
	PROTO_PUSH,
	PROTO_PARAMS,
	PROTO_BYE,
	PROTO_PULL,
	PROTO_NEXT,
	PROTO_CHUNK,
	PROTO_END,
	PROTO_HERE,
	PROTO_WAIT
};

struct proto_header {
	uint32_t magic;
	uint32_t type;
	uint64_t step;
	uint64_t epochs; /* START, PARAMS of step 0: epochs behind; NEXT, CHUNK: how often that
			    chunk was done */
	uint64_t done;   /* START, PARAMS of step 0: mini-batches behind; NEXT, CHUNK: the chunk */
	uint64_t count;  /* doubles that follow */
};

struct proto_hello {
	struct proto_header header;
	char token[TRAIN_TOKEN_LEN];
	uint64_t id, nworkers, params;
	char node[TRAIN_NODE_MAX]; /* where the worker is; ends with a 0 */
};

_Static_assert(sizeof(struct proto_header) == 40 && sizeof(struct proto_hello) == 160,
	       "no holes in messages");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "messages are little-endian, as all our machines are");

#endif
