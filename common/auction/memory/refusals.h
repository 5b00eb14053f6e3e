/*
 * refusals.h - what users were told last when a bid of theirs was refused, until they ask or the
 * process ends. Bounded: one for each user, and users may take one another's place.
 */
#ifndef AUC_REFUSALS_H
#define AUC_REFUSALS_H

#include <stdint.h>

struct auc_refusals;

struct auc_refusals *auc_refusals_create(void); /* NULL: no memory */
void auc_refusals_destroy(struct auc_refusals *r);
/* Keeps TEXT, copied, said to UID at WHEN (Unix time), in place of an earlier one. Without memory
 * it is forgotten. */
void auc_refusals_keep(struct auc_refusals *r, uint32_t uid, double when, const char *text);
/* NULL: there is none. Valid until the next change. */
const char *auc_refusals_find(const struct auc_refusals *r, uint32_t uid, double *when);

#endif
