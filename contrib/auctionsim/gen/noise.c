/* noise.c - see noise.h */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "auctionsim/gen/gen-private.h"
#include "base/num.h"

#define SIZE_MAX_OF 10.0
#define TIMES_MAX   1e4

static enum auc_code read_part(const char *text, double max, double *part, struct auc_err *err);

enum auc_code noise_read(const char *text, uint64_t seed, struct noise *n, struct auc_err *err)
{
	static const char *const words[] = {"lognormal:", "uniform:", "slower:", "stragglers:"};
	char copy[80], *word, *at, *rest = copy;
	enum auc_code rc = AUC_OK;
	unsigned k;

	*n = (struct noise){.times = 1, .random = seed ^ UINT64_C(0x6e6f697365)};
	if (strlen(text) >= sizeof(copy))
		return auc_err_set(err, AUC_EINVAL, "--noise: '%.40s...' is too long", text);
	strcpy(copy, text);
	while (rc == AUC_OK && (word = strsep(&rest, ","))) {
		for (k = 0; k < 4 && strncmp(word, words[k], strlen(words[k])) != 0; k++)
			;
		if (k == 4 || (k < 3 && n->kind) || (k == 3 && n->part > 0))
			return auc_err_set(
				err, AUC_EINVAL,
				"--noise: '%.80s', expected lognormal:SIGMA, uniform:5%% "
				"or slower:5%%, and stragglers:2%%x3",
				text);
		at = word + strlen(words[k]);
		if (k == 3) {
			char *times = strchr(at, 'x');

			if (times)
				*times++ = '\0';
			rc = read_part(at, 1, &n->part, err);
			n->times = 3;
			if (rc == AUC_OK && times)
				rc = auc_parse_number(times, 1, TIMES_MAX, &n->times,
						      "--noise: stragglers", err);
			continue;
		}
		n->kind = (enum noise_kind)(k + 1);
		rc = read_part(at, k == 1 ? 0.99 : SIZE_MAX_OF, &n->size, err);
	}
	return rc;
}

/* "5%" or "0.05". */
static enum auc_code read_part(const char *text, double max, double *part, struct auc_err *err)
{
	size_t len = strlen(text);
	bool percent = len && text[len - 1] == '%';
	char number[80];
	enum auc_code rc;

	snprintf(number, sizeof(number), "%.*s", (int)(len - percent), text);
	rc = auc_parse_number(number, 0, percent ? 100 * max : max, part, "--noise", err);
	if (rc == AUC_OK && percent)
		*part /= 100;
	return rc;
}

double noise_draw(struct noise *n)
{
	double u = gen_random(&n->random), v = gen_random(&n->random), factor = 1;

	if (n->kind == NOISE_LOGNORMAL)
		factor = exp(n->size * sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v));
	else if (n->kind == NOISE_UNIFORM)
		factor = 1 + n->size * (2 * u - 1);
	else if (n->kind == NOISE_SLOWER)
		factor = 1 + n->size;
	if (gen_random(&n->random) < n->part)
		factor *= n->times;
	return fmax(1e-4, round(factor * 1e4) / 1e4);
}
