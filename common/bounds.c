/* bounds.c - see bounds.h */
#include "config.h"

#include <math.h>
#include <string.h>

#include "bounds.h"
#include "market-private.h"
#include "num.h"
#include "text.h"

#define RATIO 1e5 /* U / L */

static bool claim_pair(const struct auc_market *m, const struct auc_job *job, unsigned worker,
		       unsigned ps, struct auc_claim *claim, int64_t *slots);
static unsigned list_amounts(const struct auc_market *m, const struct auc_bundle *b,
			     struct auc_named *list);
static void start(const struct auc_market *m, struct auc_price *price);
static void raise_upper(const struct auc_market *m, const struct auc_claim *claim,
			struct auc_price *price);
static double sum_of(const struct auc_named *list, unsigned n);
static double capacity_of(const struct auc_market *m, unsigned role);

bool auc_claim_make(const struct auc_market *m, const struct auc_job *job, struct auc_claim *claim)
{
	int64_t slots = INT64_MAX;
	bool found = false;
	unsigned w, p;

	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			if (job->worker_seconds[w] >= 0 && job->ps_seconds[p] >= 0)
				found = claim_pair(m, job, w, p, claim, &slots) || found;
	return found;
}

void auc_bounds_print(const struct auc_market *m, const struct auc_claim *const *claims, unsigned n,
		      struct auc_price *price)
{
	double least[AUC_PRICE_ROLES], eta[AUC_PRICE_ROLES], sum, lower;
	const struct auc_claim *c;
	unsigned i, r, k;

	start(m, price);
	for (r = 0; r < AUC_PRICE_ROLES; r++)
		least[r] = eta[r] = INFINITY;
	for (i = 0; i < n; i++) {
		c = claims[i];
		raise_upper(m, c, price);
		for (r = 0; r < AUC_PRICE_ROLES; r++) {
			sum = c->slots[AUC_PRICE_WORKER] * sum_of(c->amount[r], c->n[r]);
			least[r] = fmin(least[r], c->late - log(sum));
			eta[r] = fmin(eta[r], log(sum));
		}
	}
	for (r = 0; r < AUC_PRICE_ROLES; r++) {
		lower = least[r] + eta[r] -
			log(4 * m->slots *
			    capacity_of(m, r == AUC_PRICE_WORKER ? AUC_ROLE_WORKER : AUC_ROLE_PS));
		for (k = 0; k < price->nbounds; k++)
			price->bounds[k].lower[r] = fmin(lower, price->bounds[k].upper[r]);
	}
}

void auc_bounds_learn(const struct auc_market *m, const struct auc_claim *const *claims, unsigned n,
		      struct auc_price *price)
{
	unsigned i, r, k;

	start(m, price);
	for (i = 0; i < n; i++)
		raise_upper(m, claims[i], price);
	for (r = 0; r < AUC_PRICE_ROLES; r++)
		for (k = 0; k < price->nbounds; k++)
			price->bounds[k].lower[r] = price->bounds[k].upper[r] - log(RATIO);
}

/* Takes the pair if it is better than what completes in *SLOTS. */
static bool claim_pair(const struct auc_market *m, const struct auc_job *job, unsigned worker,
		       unsigned ps, struct auc_claim *claim, int64_t *slots)
{
	const struct auc_bundle *w = &m->types[worker], *p = &m->types[auc_ps_index(m, ps)];
	int64_t work = auc_job_worker_slots(m, job, worker), most = m->cache[worker].total0, d;
	unsigned upload = UINT32_MAX, s;

	if ((uint64_t)most > job->chunks)
		most = (int64_t)job->chunks;
	if (!most || work == INT64_MAX || auc_job_ps(m, worker, ps, 1) > 1)
		return false;
	most = work < most ? work : most;
	d = auc_job_duration((double)work, most);
	if (d > *slots || (d == *slots && (double)work >= claim->slots[AUC_PRICE_WORKER]))
		return false;
	*slots = d;
	for (s = 0; s < m->nservers; s++)
		upload = job->upload[s] < upload ? job->upload[s] : upload;
	claim->arrival = job->arrival;
	claim->value = auc_utility_value(&job->utility, (double)d + upload);
	claim->late =
		auc_utility_log(&job->utility, (double)(auc_market_last(m) + 1 - job->arrival));
	claim->slots[AUC_PRICE_WORKER] = (double)work;
	claim->slots[AUC_PRICE_PS] = (double)d * (double)auc_job_ps(m, worker, ps, most);
	claim->n[AUC_PRICE_WORKER] = list_amounts(m, w, claim->amount[AUC_PRICE_WORKER]);
	claim->n[AUC_PRICE_PS] = list_amounts(m, p, claim->amount[AUC_PRICE_PS]);
	return true;
}

static unsigned list_amounts(const struct auc_market *m, const struct auc_bundle *b,
			     struct auc_named *list)
{
	unsigned i;

	for (i = 0; i < b->nused; i++) {
		strcpy(list[i].name, m->tres[b->used[i]].name);
		list[i].value = b->amount[b->used[i]];
	}
	return b->nused;
}

/* Everything is free. */
static void start(const struct auc_market *m, struct auc_price *price)
{
	unsigned k, r;

	memset(price, 0, sizeof(*price));
	price->kind = AUC_PRICE_BOUNDS;
	price->nbounds = m->ntres;
	for (k = 0; k < m->ntres; k++) {
		strcpy(price->bounds[k].name, m->tres[k].name);
		for (r = 0; r < AUC_PRICE_ROLES; r++)
			price->bounds[k].lower[r] = price->bounds[k].upper[r] = -INFINITY;
	}
}

/* (23) and (24): the most that a job is worth for a unit of the TRES. */
static void raise_upper(const struct auc_market *m, const struct auc_claim *claim,
			struct auc_price *price)
{
	double limit = log(AUC_PRICE_LIMIT), *upper;
	const struct auc_named *a;
	unsigned r;
	int k;

	for (r = 0; r < AUC_PRICE_ROLES; r++)
		for (a = claim->amount[r]; a < claim->amount[r] + claim->n[r]; a++) {
			k = auc_market_find_tres(m, a->name);
			if (k < 0)
				continue;
			upper = &price->bounds[k].upper[r];
			*upper = fmin(limit, fmax(*upper, log(claim->value / a->value)));
		}
}

static double sum_of(const struct auc_named *list, unsigned n)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += list[i].value;
	return sum;
}

/* Of all TRES of the servers of that role, added up as the paper does. */
static double capacity_of(const struct auc_market *m, unsigned role)
{
	double sum = 0;
	unsigned s, k;

	for (s = 0; s < m->nservers; s++)
		for (k = 0; k < m->ntres && (m->servers[s].roles & role); k++)
			sum += m->servers[s].amount[k];
	return sum;
}
