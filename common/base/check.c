/* check.c - see check.h. */
#include "config.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

enum { SOUND, FAILING, FAILED };

static atomic_int state;
static char evidence[512];

bool auc_check_failed(const char *file, int line, const char *condition, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	int sound = SOUND, n;
	va_list args;

	if (!atomic_compare_exchange_strong(&state, &sound, FAILING))
		return false;
	n = snprintf(evidence, sizeof(evidence), "%s:%d: %s: ", name ? name + 1 : file, line,
		     condition);
	if (n > 0 && (size_t)n < sizeof(evidence)) {
		va_start(args, format);
		vsnprintf(evidence + n, sizeof(evidence) - (size_t)n, format, args);
		va_end(args);
	}
	atomic_store(&state, FAILED);
	return false;
}

const char *auc_check_evidence(void)
{
	return atomic_load(&state) == FAILED ? evidence : NULL;
}

void auc_check_forget(void)
{
	atomic_store(&state, SOUND);
}
