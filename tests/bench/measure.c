/* measure.c - see measure.h */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/support/splitmix.h"
#include "base/clock.h"
#include "bench/measure.h"

#define LOOP_SIZE   32768
#define LOOP_ROUNDS 8
#define READ_SIZE   (1u << 25) /* 256 MB */
#define READ_PASSES 5

uint64_t measure_random = 1;

static int ascending(const void *a, const void *b);

double measure_uniform(void)
{
	return splitmix_real(&measure_random);
}

unsigned measure_pick(unsigned low, unsigned high)
{
	return low + (unsigned)(measure_uniform() * (high - low + 1));
}

double measure_cpu(void)
{
	return auc_clock(CLOCK_THREAD_CPUTIME_ID);
}

double measure_loop(void)
{
	static double price[LOOP_SIZE];
	static uint32_t order[LOOP_SIZE];
	volatile double sink;
	double start, sum = 0;
	uint32_t at = 1;

	for (unsigned i = 0; !order[0] && i < LOOP_SIZE; i++) {
		at = at * 1664525 + 1013904223;
		order[i] = (at >> 8) % LOOP_SIZE;
		price[i] = at % 1000;
	}
	order[0] = 1;
	start = measure_cpu();
	for (unsigned round = 0; round < LOOP_ROUNDS; round++)
		for (unsigned i = 0; i < LOOP_SIZE; i++)
			if (price[order[i]] < 900)
				sum += price[order[i]];
	sink = sum;
	(void)sink;
	return measure_cpu() - start;
}

double measure_read(void)
{
	uint64_t *word = malloc(READ_SIZE * sizeof(*word));
	volatile uint64_t sink;
	double least = word ? INFINITY : 0;

	for (unsigned i = 0; word && i < READ_SIZE; i++)
		word[i] = i;
	for (unsigned pass = 0; word && pass < READ_PASSES; pass++) {
		double start = measure_cpu(), took;
		uint64_t sum = 0;

		for (unsigned i = 0; i < READ_SIZE; i++)
			sum += word[i];
		sink = sum;
		(void)sink;
		took = (measure_cpu() - start) / READ_SIZE;
		least = took < least ? took : least;
	}
	free(word);
	return least;
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

void measure_add(struct measure_series *s, double seconds)
{
	if (s->n == s->alloc) {
		s->alloc = s->alloc ? 2 * s->alloc : 1024;
		s->seconds = realloc(s->seconds, s->alloc * sizeof(*s->seconds));
		if (!s->seconds)
			exit(1);
	}
	s->seconds[s->n++] = seconds;
}

void measure_print(struct measure_series *s)
{
	unsigned p99;

	if (!s->n)
		return;
	p99 = measure_sort(s->seconds, s->n);
	printf("  %-20s median %10.1f us  p99 %10.1f us  worst %10.1f us  (%u)\n", s->what,
	       1e6 * s->seconds[s->n / 2], 1e6 * s->seconds[p99], 1e6 * s->seconds[s->n - 1], s->n);
}

void measure_must(const char *program, enum auc_code rc, const struct auc_err *err)
{
	if (rc == AUC_OK)
		return;
	fprintf(stderr, "%s: %s\n", program, err->text);
	exit(1);
}

void measure_remove_spool(const char *dir)
{
	static const char *const names[] = {"journal",      "state",          "lock",
					    "before/state", "before/journal", "before"};
	char path[128];

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	rmdir(dir);
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}
