/* measure.c - see measure.h */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "measure.h"

uint64_t measure_random = 1;

static int ascending(const void *a, const void *b);

double measure_uniform(void)
{
	uint64_t z = measure_random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

unsigned measure_pick(unsigned low, unsigned high)
{
	return low + (unsigned)(measure_uniform() * (high - low + 1));
}

double measure_cpu(void)
{
	return auc_clock(CLOCK_THREAD_CPUTIME_ID);
}

double measure_resident_mb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

unsigned measure_sort(double *seconds, unsigned n)
{
	qsort(seconds, n, sizeof(*seconds), ascending);
	return (unsigned)(((uint64_t)n * 99 + 99) / 100 - 1);
}

void measure_must(const char *program, enum auc_code rc, const struct auc_err *err)
{
	if (rc == AUC_OK)
		return;
	fprintf(stderr, "%s: %s\n", program, err->text);
	exit(1);
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}
