/*
 * check.h - invariants that are checked at run time, always.
 *
 * AUC_CHECK(condition, format, ...) is true if CONDITION is. If it is not, the program has a defect
 * or its memory is damaged. Nothing aborts: slurmctld and its ordinary jobs go on. But the process
 * keeps the evidence of the first failure, and the auction takes no more bids (auction.c); what is
 * sold is still carried out and settled. Only a restart forgets.
 *
 * Any thread may check. Nothing is allocated, no lock is taken, and no I/O is done: who may log
 * asks for the evidence (auc_check_evidence()).
 */
#ifndef AUC_CHECK_H
#define AUC_CHECK_H

#include <stdbool.h>

#define AUC_CHECK(condition, ...)                                                                  \
	((condition) ? auc_check_holds()                                                           \
		     : auc_check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__))

static inline bool auc_check_holds(void)
{
	return true;
}

/* Keeps the evidence if it is the first. False. */
bool auc_check_failed(const char *file, int line, const char *condition, const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));
/* What failed first: "FILE:LINE: CONDITION: text". It may name sales and jobs, so it is for
 * administrators only. NULL: nothing failed. */
const char *auc_check_evidence(void);
/* Forgets it: for tests, while nobody else checks. */
void auc_check_forget(void);

#endif
