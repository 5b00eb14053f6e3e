/*
 * place.c - see place.h. R. Zhou et al.: "DPS: Dynamic Pricing and Scheduling for Distributed
 * Machine Learning Jobs in Edge-Cloud Networks", IEEE TMC 2023, section 6.1, describes FIFO and DRF
 * in a sentence each: what it leaves open is settled here and said where it is.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "auctionsim/baseline/place.h"

/* One layout that is looked for. */
struct ask {
	const struct auc_market *m;
	const struct auc_job *job;
	unsigned worker, ps;
	int64_t n, min_ps;
	/* slot indices of the window; empty: an empty cluster, whose data are everywhere */
	unsigned start, d;
	bool empty;
};

static enum auc_code make_room(struct baseline *b, const struct auc_market *m, struct auc_err *err);
static bool find_layout(struct baseline *b, struct ask *a, bool colocated, unsigned *ps_server,
			int64_t *z);
static void look(struct baseline *b, const struct ask *a);
static bool usable(const struct ask *a, unsigned server);
static bool layout_colocated(struct baseline *b, const struct ask *a, unsigned *ps_server,
			     int64_t *z);
static bool layout_distributed(struct baseline *b, const struct ask *a, unsigned *ps_server,
			       int64_t *z);
static bool try_ps_server(struct baseline *b, const struct ask *a, unsigned server, int64_t total,
			  int64_t *z);
static void look_left(const struct ask *a, unsigned server, int64_t *left);
static bool fits_jointly(const struct ask *a, const int64_t *left, int64_t workers, int64_t z);
static int64_t ps_needed(const struct ask *a, int64_t elsewhere);
static enum auc_code make_plan(const struct baseline *b, const struct ask *a, bool colocated,
			       unsigned ps_server, int64_t z, struct auc_decision *decision,
			       struct auc_err *err);

void baseline_clear(struct baseline *b)
{
	free(b->fit);
	free(b->ps_fit);
	free(b->order);
	free(b->workers);
	memset(b, 0, sizeof(*b));
}

enum auc_code baseline_place(struct baseline *b, const struct auc_market *m,
			     const struct auc_job *job, unsigned worker, unsigned ps, int64_t n,
			     int64_t min_ps, struct auc_decision *decision, struct auc_err *err)
{
	struct ask a = {.m = m, .job = job, .worker = worker, .ps = ps, .n = n, .min_ps = min_ps};
	auc_slot first = job->arrival > m->first ? job->arrival : m->first;
	int64_t d[2], z;
	unsigned ps_server, i;
	enum auc_code rc = make_room(b, m, err);

	if (rc != AUC_OK)
		return rc;
	a.empty = true;
	if (!find_layout(b, &a, true, &ps_server, &z) && !find_layout(b, &a, false, &ps_server, &z))
		return AUC_OK;
	a.empty = false;
	decision->accepted = true;
	decision->reason = AUC_REASON_NONE;
	decision->plan.worker_type = worker;
	decision->plan.ps_type = ps;
	decision->plan.arrival = job->arrival;
	for (i = 0; i < 2; i++)
		d[i] = auc_job_duration(auc_job_work(m, job, worker, ps, i == 0), n);
	if (!b->reserving && b->started && b->last_start > first)
		first = b->last_start;
	for (; first <= auc_market_last(m); first++) {
		a.start = (unsigned)(first - m->first);
		for (i = 0; i < 2; i++) {
			if (d[i] > (int64_t)m->slots - a.start)
				continue;
			a.d = (unsigned)d[i];
			if (find_layout(b, &a, i == 0, &ps_server, &z))
				return make_plan(b, &a, i == 0, ps_server, z, decision, err);
		}
	}
	return AUC_OK;
}

void baseline_booked(struct baseline *b, const struct auc_decision *decision)
{
	if (!decision->plan.nruns)
		return;
	if (!b->started || decision->plan.start > b->last_start)
		b->last_start = decision->plan.start;
	b->started = true;
}

static enum auc_code make_room(struct baseline *b, const struct auc_market *m, struct auc_err *err)
{
	size_t n = m->nservers + 1;
	bool started = b->started;
	unsigned reserving = b->reserving;
	auc_slot last_start = b->last_start;

	if (b->alloc >= n)
		return AUC_OK;
	baseline_clear(b);
	b->reserving = reserving;
	b->started = started;
	b->last_start = last_start;
	b->fit = calloc(n, sizeof(*b->fit));
	b->ps_fit = calloc(n, sizeof(*b->ps_fit));
	b->order = calloc(n, sizeof(*b->order));
	b->workers = calloc(n, sizeof(*b->workers));
	if (!b->fit || !b->ps_fit || !b->order || !b->workers)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a quote among %u servers",
				   m->nservers);
	b->alloc = (unsigned)n;
	return AUC_OK;
}

/* A layout in the window of A: the workers by server in b->workers, the PSs' server and number. */
static bool find_layout(struct baseline *b, struct ask *a, bool colocated, unsigned *ps_server,
			int64_t *z)
{
	memset(b->workers, 0, a->m->nservers * sizeof(*b->workers));
	look(b, a);
	return colocated ? layout_colocated(b, a, ps_server, z)
			 : layout_distributed(b, a, ps_server, z);
}

/* How many workers, and PSs, fit on each server throughout the window. */
static void look(struct baseline *b, const struct ask *a)
{
	const struct auc_type_cache *w = &a->m->cache[a->worker];
	const struct auc_type_cache *p = &a->m->cache[auc_ps_index(a->m, a->ps)];
	unsigned s, t;
	int32_t fit;

	for (s = 0; s < a->m->nservers; s++) {
		b->fit[s] = usable(a, s) ? w->fit0[s] : 0;
		b->ps_fit[s] = usable(a, s) ? p->fit0[s] : 0;
	}
	if (a->empty)
		return;
	for (t = a->start; t < a->start + a->d; t++)
		for (s = 0; s < a->m->nservers; s++) {
			fit = auc_type_fit(w, t, s);
			if (fit < b->fit[s])
				b->fit[s] = fit;
			fit = auc_type_fit(p, t, s);
			if (fit < b->ps_fit[s])
				b->ps_fit[s] = fit;
		}
}

/* True if the job's data are there. */
static bool usable(const struct ask *a, unsigned server)
{
	auc_slot t = a->m->first + (auc_slot)a->start - a->job->arrival;

	return a->empty || t >= (auc_slot)a->job->upload[server];
}

static bool layout_colocated(struct baseline *b, const struct ask *a, unsigned *ps_server,
			     int64_t *z)
{
	int64_t left[AUC_TRES_MAX];
	unsigned s;

	*z = a->min_ps > 1 ? a->min_ps : 1;
	for (s = 0; s < a->m->nservers; s++) {
		if (b->fit[s] < a->n || b->ps_fit[s] < *z)
			continue;
		look_left(a, s, left);
		if (!fits_jointly(a, left, a->n, *z))
			continue;
		b->workers[s] = (unsigned)a->n;
		*ps_server = s;
		return true;
	}
	return false;
}

static int compare_room(const void *x, const void *y, void *arg)
{
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const int32_t *fit = arg;

	if (fit[i] != fit[j])
		return fit[i] > fit[j] ? -1 : 1;
	return (i > j) - (i < j);
}

/* Servers by room for workers: the first that can hold the PSs too gets them. */
static bool layout_distributed(struct baseline *b, const struct ask *a, unsigned *ps_server,
			       int64_t *z)
{
	unsigned i, s, n = a->m->nservers;
	int64_t total = 0;

	for (s = 0; s < n; s++) {
		b->order[s] = s;
		total += b->fit[s];
	}
	if (total < a->n)
		return false;
	qsort_r(b->order, n, sizeof(*b->order), compare_room, b->fit);
	for (i = 0; i < n; i++)
		if (try_ps_server(b, a, b->order[i], total, z)) {
			*ps_server = b->order[i];
			return true;
		}
	return false;
}

/* As many workers beside the PSs on SERVER as fit, at least one elsewhere. */
static bool try_ps_server(struct baseline *b, const struct ask *a, unsigned server, int64_t total,
			  int64_t *z)
{
	int64_t here = b->fit[server] < a->n ? b->fit[server] : a->n - 1;
	int64_t left[AUC_TRES_MAX], open;
	unsigned i, s;

	look_left(a, server, left);
	for (; here >= 0; here--) {
		if (a->n - here > total - b->fit[server])
			return false;
		*z = ps_needed(a, a->n - here);
		if (*z <= b->ps_fit[server] && fits_jointly(a, left, here, *z))
			break;
	}
	if (here < 0)
		return false;
	b->workers[server] = (unsigned)here;
	open = a->n - here;
	for (i = 0; i < a->m->nservers && open; i++) {
		s = b->order[i];
		if (s == server)
			continue;
		b->workers[s] = (unsigned)(b->fit[s] < open ? b->fit[s] : open);
		open -= b->workers[s];
	}
	return true;
}

/* What is left of each TRES throughout the window. */
static void look_left(const struct ask *a, unsigned server, int64_t *left)
{
	unsigned k, t, slots = a->empty ? 0 : a->d;
	const int64_t *used;

	for (k = 0; k < a->m->ntres; k++)
		left[k] = a->m->servers[server].units[k];
	for (t = 0; t < slots; t++) {
		used = a->m->used + auc_cell(a->m, a->start + t, server) * a->m->ntres;
		for (k = 0; k < a->m->ntres; k++)
			if (a->m->servers[server].units[k] - used[k] < left[k])
				left[k] = a->m->servers[server].units[k] - used[k];
	}
}

/* Workers and PSs may share TRES. Both fit alone, so that neither product overflows. */
static bool fits_jointly(const struct ask *a, const int64_t *left, int64_t workers, int64_t z)
{
	const struct auc_bundle *w = &a->m->types[a->worker];
	const struct auc_bundle *p = &a->m->types[auc_ps_index(a->m, a->ps)];
	unsigned k;

	for (k = 0; k < a->m->ntres; k++)
		if (workers * w->units[k] + z * p->units[k] > left[k])
			return false;
	return true;
}

static int64_t ps_needed(const struct ask *a, int64_t elsewhere)
{
	int64_t z = auc_job_ps(a->m, a->worker, a->ps, elsewhere);

	return z > a->min_ps ? z : a->min_ps;
}

static enum auc_code make_plan(const struct baseline *b, const struct ask *a, bool colocated,
			       unsigned ps_server, int64_t z, struct auc_decision *decision,
			       struct auc_err *err)
{
	struct auc_plan *plan = &decision->plan;
	enum auc_code rc;
	unsigned s;

	plan->colocated = colocated;
	plan->start = a->m->first + a->start;
	plan->completion = plan->start + a->d;
	plan->value =
		auc_utility_value(&a->job->utility, (double)(plan->completion - a->job->arrival));
	rc = auc_plan_add_run(plan, plan->start, plan->completion - 1, err);
	for (s = 0; s < a->m->nservers && rc == AUC_OK; s++)
		if (b->workers[s] || s == ps_server)
			rc = auc_plan_add_share(plan, s, b->workers[s],
						s == ps_server ? (unsigned)z : 0, err);
	plan->cost = auc_plan_cost(plan, a->m);
	decision->best_payoff = plan->value - plan->cost;
	return rc;
}
