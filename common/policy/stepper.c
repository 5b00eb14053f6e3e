/* stepper.c - the table of steppers: see stepper.h. */
#include "config.h"

#include <string.h>

#include "policy/stepper.h"

const struct auc_stepper *const auc_steppers[] = {
	&auc_stepper_aonline,   &auc_stepper_srtf,       &auc_stepper_tiresias_l,
	&auc_stepper_batchsche, &auc_stepper_oasis_fifo, &auc_stepper_oasis_drf,
	&auc_stepper_rrh,       &auc_stepper_dorm,       &auc_stepper_tiresias,
	&auc_stepper_antman,    &auc_stepper_liquid,     NULL};

const struct auc_stepper *auc_stepper_find(const char *name)
{
	unsigned i;

	for (i = 0; auc_steppers[i]; i++)
		if (!strcmp(auc_steppers[i]->name, name))
			return auc_steppers[i];
	return NULL;
}
