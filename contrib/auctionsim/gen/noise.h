/*
 * noise.h - how far jobs are from what they say: true times that are drawn, for gen and import.
 */
#ifndef SIM_NOISE_H
#define SIM_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum noise_kind { NOISE_NONE, NOISE_LOGNORMAL, NOISE_UNIFORM, NOISE_SLOWER };

struct noise {
	enum noise_kind kind;
	double size;        /* sigma of the logarithm; or the part, of 1 */
	double part, times; /* stragglers: that many jobs, of 1, take so many times as long */
	uint64_t random;    /* draws of its own: the same jobs without it */
};

/*
 * Reads "lognormal:0.1", "uniform:5%" (from 5 % less to 5 % more) or "slower:5%", and behind any of
 * these, or alone, "stragglers:2%x3" (2 % of the jobs take three times as long), with a comma
 * between. AUC_EINVAL.
 */
enum auc_code noise_read(const char *text, uint64_t seed, struct noise *n, struct auc_err *err);
/* The true time of the next job, above 0, with four decimals. */
double noise_draw(struct noise *n);

#endif
