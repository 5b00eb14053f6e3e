/* board.h - the board of standard shapes (Shape= of auction.conf), priced once a slot for each, a few
 * at a time. Of the agent's thread. */
#ifndef AUC_BOARD_H
#define AUC_BOARD_H

#include <stdbool.h>

#include "auction/auction.h"

/* Prices shapes whose turn it is, for a small part of a second; true if there is something new. */
bool auc_board_keep(struct auc_auction *a);

#endif
