/* retry.c - see retry.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sched/rpc/retry.h"

#define WAIT_FIRST 1.0
#define WAIT_MAX   60.0

double auc_retry_wait(double last)
{
	return last > 0 ? fmin(2 * last, WAIT_MAX) : WAIT_FIRST;
}

bool auc_retry_say(struct auc_retry_said *s, const char *text, double now)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < AUC_RETRY_TEXTS; i++) {
		if (s->said[i].at > 0 && !strcmp(s->said[i].text, text)) {
			if (now < s->said[i].at + AUC_RETRY_SAID)
				return false;
			oldest = i;
			break;
		}
		if (s->said[i].at < s->said[oldest].at)
			oldest = i;
	}
	s->said[oldest].at = now;
	snprintf(s->said[oldest].text, sizeof(s->said[oldest].text), "%s", text);
	return true;
}
