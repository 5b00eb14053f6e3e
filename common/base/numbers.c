/* numbers.c - see numbers.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/numbers.h"

bool auc_numbers_make(struct auc_numbers *a, size_t n, uint32_t largest)
{
	*a = (struct auc_numbers){0};
	if (largest <= UINT16_MAX)
		a->narrow = calloc(n, sizeof(*a->narrow));
	else
		a->wide = calloc(n, sizeof(*a->wide));
	return a->narrow || a->wide;
}

void auc_numbers_free(struct auc_numbers *a)
{
	free(a->narrow);
	free(a->wide);
	*a = (struct auc_numbers){0};
}

bool auc_numbers_hold(const struct auc_numbers *a, uint32_t largest)
{
	return a->wide || largest <= UINT16_MAX;
}

void auc_numbers_move(struct auc_numbers *a, size_t to, size_t from, size_t n)
{
	if (a->narrow)
		memmove(a->narrow + to, a->narrow + from, n * sizeof(*a->narrow));
	else
		memmove(a->wide + to, a->wide + from, n * sizeof(*a->wide));
}

AUC_VECTORIZED void auc_numbers_read(const struct auc_numbers *a, size_t at, size_t n, uint32_t *to)
{
	if (!a->narrow)
		memcpy(to, a->wide + at, n * sizeof(*to));
	else
		for (size_t i = 0; i < n; i++)
			to[i] = a->narrow[at + i];
}

AUC_VECTORIZED void auc_numbers_write(struct auc_numbers *a, size_t at, size_t n,
				      const uint32_t *from)
{
	if (!a->narrow)
		memcpy(a->wide + at, from, n * sizeof(*from));
	else
		for (size_t i = 0; i < n; i++)
			a->narrow[at + i] = (uint16_t)from[i];
}

AUC_VECTORIZED void auc_numbers_lower(const struct auc_numbers *a, size_t at, size_t n,
				      uint32_t *least)
{
	if (a->narrow)
		for (size_t i = 0; i < n; i++)
			least[i] = a->narrow[at + i] < least[i] ? a->narrow[at + i] : least[i];
	else
		for (size_t i = 0; i < n; i++)
			least[i] = a->wide[at + i] < least[i] ? a->wide[at + i] : least[i];
}

bool auc_numbers_equal(const struct auc_numbers *a, size_t x, size_t y, size_t n)
{
	return a->narrow ? !memcmp(a->narrow + x, a->narrow + y, n * sizeof(*a->narrow))
			 : !memcmp(a->wide + x, a->wide + y, n * sizeof(*a->wide));
}
