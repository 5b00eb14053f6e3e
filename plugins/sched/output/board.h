/*
 * board.h - the board of standard shapes (Shape= of auction.conf), priced once a slot for each, a
 * few at a time; and what they and the classes of nodes cost in the last week, in a file of the
 * spool's directory (price_log.h), so that it is known after a restart, and on a backup controller,
 * too. Nothing else depends on the file. Of the agent's thread.
 */
#ifndef AUC_BOARD_H
#define AUC_BOARD_H

#include <stdbool.h>

#include "auction/auction.h"

/* Prices shapes whose turn it is, for a small part of a second; true if there is something new that
 * auc_board_record() has not seen. */
bool auc_board_keep(struct auc_auction *a);
/*
 * Takes down what SUMMARY (summary.h), made at NOW, says of prices, if nothing was in its slot yet
 * and the board is of it, and tells all users. DIR has the file, which is read first if A is
 * another auction than at the last call. A is ready. AUC_EIO: it cannot be written; users are told
 * all the same.
 */
enum auc_code auc_board_record(const char *dir, struct auc_auction *a, struct json_object *summary,
			       double now, struct auc_err *err);

#endif
