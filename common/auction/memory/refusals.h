/*
 * refusals.h - what users were told last when a bid of theirs was refused. Bounded: one for each
 * user, and users may take one another's place. As text it outlives the process.
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
/* Another with each change; not 0. */
uint64_t auc_refusals_edition(const struct auc_refusals *r);
/* The same again, to be printed without the lock of R. NULL: no memory. */
struct auc_refusals *auc_refusals_copy(const struct auc_refusals *r);
/* All of them as text, malloc'd: a JSON object on each line, its text cut at AUC_REFUSAL_MAX bytes.
 * NULL: no memory. */
#define AUC_REFUSAL_MAX 2000
char *auc_refusals_print(const struct auc_refusals *r);
/* Keeps those of TEXT that are newer than what is there; what is no refusal is left out. */
void auc_refusals_read(struct auc_refusals *r, const char *text);

#endif
