/*
 * oasis_bounds.c - see oasis_bounds.h.
 *
 * The paper's estimate (25) is no good at any load: L is so low that idle capacity is all but free,
 * and early jobs take what later ones would pay more for. Learned bounds begin at what capacity is
 * worth: if the past jobs, LOAD times as many, could be packed as fractions, each at its shortest
 * completion, into what the servers had in the time since the first of them, then L is the dual
 * price of each TRES, plus a little that protects it where nothing is short. The duals are found by
 * coordinate descent: each step is the density of value of the job at which a TRES runs out.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/past/oasis_bounds.h"
#include "market/timeline.h"
#include "base/num.h"
#include "base/list.h"

/* Of learned bounds, found by trial on the setting "gen oasis" with 50 to 800 jobs: little depends
 * on them. */
#define RATIO       100 /* U / L */
#define FLOOR_RATIO 1e5 /* the paper's U / the least L */
#define LOAD        2   /* so many times the jobs that came: lumps do not pack as fractions do */
#define AHEAD       10  /* slots that those who came last have before them */
#define PASSES      3

#define MOST_COLUMNS (AUC_PRICE_ROLES * AUC_TRES_MAX)

/* One TRES on the servers of one role. */
struct column {
	unsigned role, tres;
	double capacity, load, price;
	size_t row; /* of use[] */
};

struct density {
	double value; /* what a job can pay for a unit */
	unsigned job;
};

/* The past jobs as a problem of fractional packing, of which the prices of columns are the dual. */
struct packing {
	unsigned n, ncolumns;
	struct column column[MOST_COLUMNS];
	double *use;  /* by column and job */
	double *left; /* by job: its value less what it pays */
	struct density *order;
};

static void set_up(struct packing *p, const struct auc_market *m,
		   const struct auc_claim *const *claims);
static void reprice(struct packing *p, struct column *c);
static double tres_of(const struct auc_market *m, unsigned role, unsigned k);
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

void auc_oasis_bounds_print(const struct auc_market *m, const struct auc_claim *const *claims,
			    unsigned n, struct auc_price *price)
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
		lower = least[r] + eta[r] - log(4 * m->slots * capacity_of(m, r));
		for (k = 0; k < price->nbounds; k++)
			price->bounds[k].lower[r] = fmin(lower, price->bounds[k].upper[r]);
	}
}

enum auc_code auc_oasis_bounds_learn(const struct auc_market *m,
				     const struct auc_claim *const *claims, unsigned n,
				     struct auc_price *price, struct auc_err *err)
{
	struct packing p = {.n = n};
	struct column *c;
	enum auc_code rc = AUC_OK;
	double lower;
	unsigned i, r, k;

	start(m, price);
	if (!n)
		return AUC_OK;
	p.left = calloc((size_t)n + 1, sizeof(*p.left));
	p.use = calloc((size_t)n * MOST_COLUMNS + 1, sizeof(*p.use));
	p.order = calloc((size_t)n + 1, sizeof(*p.order));
	if (p.left && p.use && p.order) {
		for (i = 0; i < n; i++)
			raise_upper(m, claims[i], price);
		set_up(&p, m, claims);
		for (i = 0; i < PASSES; i++)
			for (c = p.column; c < p.column + p.ncolumns; c++)
				reprice(&p, c);
		for (r = 0; r < AUC_PRICE_ROLES; r++)
			for (k = 0; k < price->nbounds; k++) {
				lower = exp(price->bounds[k].upper[r]) / FLOOR_RATIO;
				for (c = p.column; c < p.column + p.ncolumns; c++)
					if (c->role == r && c->tres == k)
						lower += c->price;
				price->bounds[k].lower[r] = log(lower);
				price->bounds[k].upper[r] =
					fmin(log(lower * RATIO), log(AUC_PRICE_LIMIT));
			}
	} else {
		rc = auc_err_set(err, AUC_ENOMEM, "prices: out of memory");
	}
	free(p.order);
	free(p.use);
	free(p.left);
	return rc;
}

/* -- learned bounds -- */

/* One column for each TRES on servers of either role that there is and that somebody uses, the one
 * that is shortest first. */
static void set_up(struct packing *p, const struct auc_market *m,
		   const struct auc_claim *const *claims)
{
	auc_slot first = INT64_MAX, last = INT64_MIN;
	const struct auc_named *amount;
	struct column c, *at;
	unsigned r, k, i;

	for (i = 0; i < p->n; i++) {
		first = claims[i]->arrival < first ? claims[i]->arrival : first;
		last = claims[i]->arrival > last ? claims[i]->arrival : last;
		p->left[i] = claims[i]->value;
	}
	for (r = 0; r < AUC_PRICE_ROLES; r++)
		for (k = 0; k < m->ntres; k++) {
			c = (struct column){.role = r, .tres = k, .row = p->n * p->ncolumns};
			c.capacity = tres_of(m, r, k) * ((double)last - (double)first + 1 + AHEAD);
			for (i = 0; i < p->n; i++) {
				amount = auc_list_find_tres(claims[i]->amount[r], claims[i]->n[r],
							    m->tres[k].name);
				p->use[c.row + i] =
					amount ? LOAD * claims[i]->slots[r] * amount->value : 0;
				c.load += p->use[c.row + i];
			}
			if (!(c.capacity > 0) || !(c.load > 0))
				continue;
			c.load /= c.capacity;
			for (at = p->column + p->ncolumns; at > p->column && at[-1].load < c.load;
			     at--)
				*at = at[-1];
			*at = c;
			p->ncolumns++;
		}
}

static int compare_density(const void *a, const void *b)
{
	const struct density *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

/* The least price of C at which the jobs that can still pay it, at the prices of the others, need
 * no more than there is. */
static void reprice(struct packing *p, struct column *c)
{
	const double *use = p->use + c->row;
	double sum = 0;
	unsigned i, n = 0;

	for (i = 0; i < p->n; i++) {
		p->left[i] += c->price * use[i];
		if (p->left[i] > 0 && use[i] > 0)
			p->order[n++] = (struct density){p->left[i] / use[i], i};
	}
	qsort(p->order, n, sizeof(*p->order), compare_density);
	for (i = 0; i < n && sum <= c->capacity; i++)
		sum += use[p->order[i].job];
	c->price = sum > c->capacity ? p->order[i - 1].value : 0;
	for (i = 0; i < p->n; i++)
		p->left[i] -= c->price * use[i];
}

/* How much of TRES K the servers of a role have. */
static double tres_of(const struct auc_market *m, unsigned role, unsigned k)
{
	unsigned bit = role == AUC_PRICE_WORKER ? AUC_ROLE_WORKER : AUC_ROLE_PS, s;
	double sum = 0;

	for (s = 0; s < m->nservers; s++)
		if (m->servers[s].roles & bit)
			sum += m->servers[s].amount[k];
	return sum;
}

/* -- what they share -- */

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
	unsigned k;

	for (k = 0; k < m->ntres; k++)
		sum += tres_of(m, role, k);
	return sum;
}
