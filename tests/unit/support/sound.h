/* sound.h - no test ends well after a run-time check of the program has failed (base/check.h). */
#ifndef AUC_TEST_SOUND_H
#define AUC_TEST_SOUND_H

#include <stdio.h>

#include "base/check.h"

/* cmocka's tear-down, of a test or of a group. */
static inline int sound_teardown(void **state)
{
	const char *evidence = auc_check_evidence();

	(void)state;
	if (evidence)
		fprintf(stderr, "a check failed: %s\n", evidence);
	return evidence ? -1 : 0;
}

#endif
