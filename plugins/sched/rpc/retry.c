/* retry.c - see retry.h. */
#include "config.h"

#include <math.h>

#include "sched/rpc/retry.h"

#define WAIT_FIRST 1.0
#define WAIT_MAX   60.0

static uint64_t hash_of(const char *text);

double auc_retry_wait(double last)
{
	return last > 0 ? fmin(2 * last, WAIT_MAX) : WAIT_FIRST;
}

bool auc_retry_say(struct auc_retry_said *s, const char *text, double now)
{
	uint64_t hash = hash_of(text);
	unsigned oldest = 0;

	for (unsigned i = 0; i < AUC_RETRY_TEXTS; i++) {
		if (s->said[i].at > 0 && s->said[i].text == hash) {
			if (now < s->said[i].at + AUC_RETRY_SAID)
				return false;
			oldest = i;
			break;
		}
		if (s->said[i].at < s->said[oldest].at)
			oldest = i;
	}
	s->said[oldest].at = now;
	s->said[oldest].text = hash;
	return true;
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3;
	return hash;
}
