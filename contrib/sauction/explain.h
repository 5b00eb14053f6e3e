/* explain.h - between the files of "sauction explain". */
#ifndef SAUCTION_EXPLAIN_H
#define SAUCTION_EXPLAIN_H

#include "auction/auction.h"
#include "sauction/sauction.h"

struct json_object;

/* Into O, as "prices", what a unit of the plan's main resource cost in the slots of SOLD, and how
 * much of it was free all that time, by node, in the auction A at NOW. */
void explain_prices(struct json_object *o, struct auc_auction *a, struct json_object *sold,
		    double now);
/* All that was found, in words. SLOT: seconds of one. */
void explain_print(struct json_object *o, double slot);

#endif
