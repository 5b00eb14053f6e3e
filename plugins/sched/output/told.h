/*
 * told.h - what users were told last of refusals, in a file of the spool's directory, so that "sbid
 * why" knows it after a restart, too, and on a backup controller. It is no more than that: nothing
 * else depends on the file. Under the lock of status.c.
 */
#ifndef AUC_TOLD_H
#define AUC_TOLD_H

#include "auction/auction.h"

/* Writes it, mode 0600, if there is something new and it was not written just now; reads it first,
 * if A is another auction than at the last call. A is ready. AUC_EIO. */
enum auc_code auc_told_write(const char *dir, struct auc_auction *a, double now,
			     struct auc_err *err);

#endif
