/*
 * cases.h - how many random cases a test looks at.
 */
#ifndef AUC_TEST_CASES_H
#define AUC_TEST_CASES_H

#include <stdlib.h>

/* N cases; AUC_TEST_PART per cent of them where that is set, as where sanitizers make each dear, but
 * LEAST. */
static inline unsigned cases(unsigned n, unsigned least)
{
	const char *part = getenv("AUC_TEST_PART");
	double wanted = part ? n * atof(part) / 100 : n;

	return wanted > least ? (unsigned)wanted : least;
}

#endif
