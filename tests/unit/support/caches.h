/*
 * caches.h - whether what a market keeps is right: its caches by auc_market_cache_sound(), and that
 * rows of one stamp say the same whenever and in whatever market they are seen.
 */
#ifndef AUC_TEST_CACHES_H
#define AUC_TEST_CACHES_H

#include <stdlib.h>

#include "market/timeline.h"

#define CACHES_SEEN 65536 /* rows that are remembered; a power of two */

static inline uint64_t caches_mix(uint64_t sum, const void *data, size_t size)
{
	const unsigned char *byte = data;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ byte[i]) * UINT64_C(1099511628211); /* FNV-1a */
	return sum;
}

static inline uint64_t caches_sum(const struct auc_market *m, unsigned row)
{
	uint64_t sum = UINT64_C(14695981039346656037);
	for (unsigned i = 0; i < m->nworker_types + m->nps_types; i++) {
		const struct auc_type_cache *c = &m->cache[i];

		for (unsigned s = 0; s < m->nservers; s++) {
			int32_t fit = auc_type_fit(c, row, s);
			double price = auc_type_price(c, row, s);

			sum = caches_mix(sum, &fit, sizeof(fit));
			sum = caches_mix(sum, &price, sizeof(price));
		}
		for (unsigned r = 0; r < m->nservers; r++) {
			uint32_t server;
			double price;
			int32_t fit;

			if (!auc_type_ranked(c, row, r, &server, &fit, &price))
				break;
			sum = caches_mix(sum, &server, sizeof(server));
		}
	}
	return sum;
}

/* The last row seen at a place of the table may be another one: then nothing is compared. */
static inline bool caches_sound(const struct auc_market *m)
{
	static struct {
		uint64_t stamp, sum;
	} seen[CACHES_SEEN];

	for (unsigned row = 0; row < m->nrows && !m->gangs_only; row++) {
		uint64_t stamp = m->stamp[row], sum = caches_sum(m, row);
		size_t at = stamp % CACHES_SEEN;

		if (!stamp || (seen[at].stamp == stamp && seen[at].sum != sum))
			return false;
		seen[at].stamp = stamp;
		seen[at].sum = sum;
	}
	return auc_market_cache_sound(m);
}

#endif
