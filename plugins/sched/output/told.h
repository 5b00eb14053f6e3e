/*
 * told.h - what users were told last of refusals, in a file of the spool's directory, so that "sbid
 * why" knows it after a restart, too, and on a backup controller. It is no more than that: nothing
 * else depends on the file. Of the agent's thread.
 */
#ifndef AUC_TOLD_H
#define AUC_TOLD_H

#include "auction/auction.h"

/* Reads the file in DIR into A; without one, nothing. */
void auc_told_read(const char *dir, struct auc_auction *a);
/* Writes it, mode 0600, if there is something new and it was not written just now (NOW
 * INFINITY: in any case). AUC_EIO. */
enum auc_code auc_told_write(const char *dir, struct auc_auction *a, double now,
			     struct auc_err *err);

#endif
