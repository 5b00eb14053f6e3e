/*
 * free_room.h - what is free on each server in one slot, while a stepper fills it.
 */
#ifndef AUC_FREE_ROOM_H
#define AUC_FREE_ROOM_H

#include "market/timeline.h"

struct auc_free_room {
	const struct auc_market *m; /* of the slot at hand */
	unsigned alloc;
	int64_t *left; /* by server and TRES, in units */
};

/* Makes *R (zeroed, or used before) what is free in slot T of M; a slot outside M has no room. */
enum auc_code auc_free_room_open(struct auc_free_room *r, const struct auc_market *m, auc_slot t,
				 struct auc_err *err);
/* The same of an empty cluster. */
enum auc_code auc_free_room_open_empty(struct auc_free_room *r, const struct auc_market *m,
				       struct auc_err *err);
void auc_free_room_clear(struct auc_free_room *r);

/* How many of TYPE fit on SERVER, as its roles allow; TYPE's TRES may go beyond those of M. */
unsigned auc_free_room_fit(const struct auc_free_room *r, unsigned server,
			   const struct auc_bundle *type);
/* Takes N that fit; gives N back that were taken. */
void auc_free_room_take(struct auc_free_room *r, unsigned server, const struct auc_bundle *type,
			unsigned n);
void auc_free_room_give(struct auc_free_room *r, unsigned server, const struct auc_bundle *type,
			unsigned n);

#endif
