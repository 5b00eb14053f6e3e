/*
 * proto.h - what workers and PSs say to each other over TCP. A message is a header and COUNT
 * doubles, all in little-endian order.
 *
 *   HELLO   worker -> PS   token, then rank, number of workers, parameters of this PS: opens the
 * connection START   worker 0 -> PS the parameters to start with, and how many epochs they have
 * behind them PUSH    worker -> PS   samples, loss and correct answers of its mini-batch, and the
 * sum of their gradients PARAMS  PS -> worker   the three sums over all workers, and the parameters
 * of the next step BYE     worker -> PS   it has all it wants
 *
 * A PS answers START with PARAMS of step 0, and the last of all workers' PUSH of step n with PARAMS
 * of step n + 1, to everybody.
 */
#ifndef TRAIN_PROTO_H
#define TRAIN_PROTO_H

#include <stdint.h>

#include "train.h"

#define PROTO_MAGIC   0x52545541u /* "AUTR" */
#define PROTO_METRICS 3           /* doubles in front of a PUSH's and a PARAMS' vector */

enum proto_type { PROTO_HELLO = 1, PROTO_START, PROTO_PUSH, PROTO_PARAMS, PROTO_BYE };

struct proto_header {
	uint32_t magic;
	uint32_t type;
	uint64_t step;
	uint64_t epochs; /* START and PARAMS of step 0: epochs behind */
	uint64_t count;  /* doubles that follow */
};

struct proto_hello {
	struct proto_header header;
	char token[TRAIN_TOKEN_LEN];
	uint64_t rank, nworkers, params;
};

_Static_assert(sizeof(struct proto_header) == 32 && sizeof(struct proto_hello) == 88,
	       "no holes in messages");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "messages are little-endian, as all our machines are");

#endif
