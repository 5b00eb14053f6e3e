/*
 * dps_paper.c - policy dps as it is printed, for reproduction: Algorithms 2 to 4 of R. Zhou, N.
 * Wang, Y. Huang, J. Pang, H. Chen: "DPS: Dynamic Pricing and Scheduling for Distributed Machine
 * Learning Jobs in Edge-Cloud Networks", IEEE TMC 2023. Option: variant=paper of policy dps.
 *
 * Kept, though it makes the search inexact and its payoff not that of the payment:
 *  - COST_D records a candidate with the PSs on one of the last servers only after a move, so that
 *    such a server is never tried with the workers as they lie (line 29).
 *  - Moves compare, and add to the cost of all slots, prices of the first slot alone (lines 24,
 * 26).
 *  - PSs are counted with a ceiling, and priced as a fraction (lines 22, 24, 26, 27).
 *  - As many workers as fit are moved, also past the point where it pays (lines 25 to 28).
 * The job is accepted if the payoff of this reckoning is positive. It pays what its plan costs, as
 * in every policy here, which may be more than that reckoning, and more than its value.
 *
 * Takes neither gangs nor budgets, which are not in print.
 *
 * Repaired, for without it schedules would not be executable:
 *  - The job holds slots a..a+d-1, and a server is usable from arrival + Delta on.
 *  - A server is not moved to itself, and a move of no worker is none (line 23).
 *  - Candidates whose workers all end up beside the PSs are not distributed, and those that do not
 * fit where workers and PSs share TRES are no schedules: both are dropped.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "auctionsim/baseline/registry.h"
#include "policy/option.h"

/* A schedule: N workers by server (workers[], of the search), the PSs on one. */
struct candidate {
	double payoff, value, cost; /* cost as printed */
	unsigned worker, ps, start, d, ps_server;
	bool colocated;
	int64_t z;
};

struct auc_policy_ctx {
	unsigned alloc;
	uint32_t *order; /* servers usable at the start by ascending price there */
	unsigned norder;
	int32_t *fit, *ps_fit; /* by server, over the window */
	double *sum, *ps_sum;  /* prices over the window */
	int64_t *laid, *moved; /* workers by server: y and y' */
	int64_t *best_workers;
	uint64_t steps, limit; /* beyond it nothing else is tried */
	bool found;
	struct candidate best;
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
};

static enum auc_code paper_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err);
static void paper_destroy(struct auc_policy_ctx *p);
static enum auc_code paper_quote(struct auc_policy_ctx *p, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err);
static int64_t paper_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n);
static bool make_room(struct auc_policy_ctx *p, unsigned nservers);
static void clear(struct auc_policy_ctx *p);
static void search_pair(struct auc_policy_ctx *p, struct candidate *c);
static void sort_servers(struct auc_policy_ctx *p, const struct candidate *c);
static void start_window(struct auc_policy_ctx *p);
static void extend_window(struct auc_policy_ctx *p, const struct candidate *c, unsigned slot);
static void cost_c(struct auc_policy_ctx *p, struct candidate *c, int64_t n);
static void cost_d(struct auc_policy_ctx *p, struct candidate *c, int64_t n);
static void cost_d_moves(struct auc_policy_ctx *p, struct candidate *c, int64_t n, unsigned last,
			 unsigned to, double cost_w);
static bool fits_jointly(struct auc_policy_ctx *p, const struct candidate *c, int64_t workers);
static void record(struct auc_policy_ctx *p, const struct candidate *c, const int64_t *workers);
static enum auc_code make_plan(const struct auc_policy_ctx *p, struct auc_decision *decision,
			       struct auc_err *err);

const struct auc_policy sim_policy_dps_paper = {
	.name = "dps",
	.summary = "dps as printed",
	.create = paper_create,
	.destroy = paper_destroy,
	.quote = paper_quote,
	.least_slots = paper_least_slots,
};

/* Its options but "variant" are read as dps reads them, and change nothing. */
static enum auc_code paper_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "variant", .choices = "exact|paper", .offset = 0},
		{.key = "bounds", .choices = "on|off", .offset = sizeof(unsigned)},
	};
	unsigned values[2] = {0};
	enum auc_code rc = auc_options_read("dps", options, list, 2, values, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	*ctx = calloc(1, sizeof(**ctx));
	return *ctx ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "no memory for policy dps");
}

static void paper_destroy(struct auc_policy_ctx *p)
{
	if (!p)
		return;
	clear(p);
	free(p);
}

static int64_t paper_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n)
{
	return auc_policy_dps.least_slots(m, job, worker, ps, n);
}

/* Algorithm 2. */
static enum auc_code paper_quote(struct auc_policy_ctx *p, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err)
{
	struct candidate c = {0};
	enum auc_code rc = AUC_OK;

	auc_decision_reset(decision);
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	if (!make_room(p, m->nservers))
		return auc_err_set(err, AUC_ENOMEM, "no memory for a quote among %u servers",
				   m->nservers);
	p->m = m;
	p->job = job;
	p->found = false;
	p->steps = 0;
	p->limit = decision->most_steps ? decision->most_steps : UINT64_MAX;
	for (c.worker = 0; c.worker < m->nworker_types; c.worker++)
		for (c.ps = 0; c.ps < m->nps_types; c.ps++) {
			if (job->worker_seconds[c.worker] < 0 || job->ps_seconds[c.ps] < 0)
				continue;
			c.colocated = true;
			search_pair(p, &c);
			c.colocated = false;
			search_pair(p, &c);
		}
	decision->steps = p->steps;
	if (p->found)
		rc = make_plan(p, decision, err);
	/* The printed algorithm proves nothing of what it has not looked at. */
	auc_decision_cut(decision,
			 p->steps > p->limit ? auc_utility_value(&job->utility, 1) : -INFINITY);
	return rc;
}

static bool make_room(struct auc_policy_ctx *p, unsigned nservers)
{
	size_t n = (size_t)nservers + 1;

	if (p->alloc >= n)
		return true;
	clear(p);
	p->order = calloc(n, sizeof(*p->order));
	p->fit = calloc(n, sizeof(*p->fit));
	p->ps_fit = calloc(n, sizeof(*p->ps_fit));
	p->sum = calloc(n, sizeof(*p->sum));
	p->ps_sum = calloc(n, sizeof(*p->ps_sum));
	p->laid = calloc(n, sizeof(*p->laid));
	p->moved = calloc(n, sizeof(*p->moved));
	p->best_workers = calloc(n, sizeof(*p->best_workers));
	if (!p->order || !p->fit || !p->ps_fit || !p->sum || !p->ps_sum || !p->laid || !p->moved ||
	    !p->best_workers)
		return false;
	p->alloc = (unsigned)n;
	return true;
}

static void clear(struct auc_policy_ctx *p)
{
	free(p->order);
	free(p->fit);
	free(p->ps_fit);
	free(p->sum);
	free(p->ps_sum);
	free(p->laid);
	free(p->moved);
	free(p->best_workers);
	memset(p, 0, sizeof(*p));
}

/*
 * All starts and worker counts of C's types and placement. Counts descend, so that windows grow;
 * no cost is negative, so that a window is over once its value is not above the best payoff.
 */
static void search_pair(struct auc_policy_ctx *p, struct candidate *c)
{
	const struct auc_market *m = p->m;
	double work = auc_job_work(m, p->job, c->worker, c->ps, c->colocated);
	auc_slot t = p->job->arrival > m->first ? p->job->arrival : m->first;
	int64_t n, most = m->cache[c->worker].total0, d;
	unsigned end;

	if ((uint64_t)most > p->job->chunks)
		most = (int64_t)p->job->chunks;
	for (; t <= auc_market_last(m) && p->steps <= p->limit; t++) {
		c->start = (unsigned)(t - m->first);
		sort_servers(p, c);
		start_window(p);
		end = c->start;
		for (n = most; n >= 1 && p->steps <= p->limit; n--) {
			d = auc_job_duration(work, n);
			p->steps += 4 * (uint64_t)p->norder + 16;
			if (d > (int64_t)(m->slots - c->start))
				break;
			c->d = (unsigned)d;
			c->value = auc_utility_value(&p->job->utility,
						     (double)(t + d - p->job->arrival));
			if (c->value <= (p->found ? p->best.payoff : -INFINITY))
				break;
			for (; end < c->start + c->d; end++)
				extend_window(p, c, end);
			if (c->colocated)
				cost_c(p, c, n);
			else
				cost_d(p, c, n);
		}
	}
}

struct by_price {
	const struct auc_type_cache *type;
	unsigned slot;
};

static int compare_price(const void *a, const void *b, void *arg)
{
	const struct by_price *by = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	double x = auc_type_price(by->type, by->slot, i), y = auc_type_price(by->type, by->slot, j);

	if (x != y)
		return x < y ? -1 : 1;
	return (i > j) - (i < j);
}

static void sort_servers(struct auc_policy_ctx *p, const struct candidate *c)
{
	const struct auc_market *m = p->m;
	auc_slot t = m->first + c->start - p->job->arrival;
	unsigned s;

	p->norder = 0;
	p->steps += 16 * (uint64_t)m->nservers;
	for (s = 0; s < m->nservers; s++)
		if (t >= (auc_slot)p->job->upload[s])
			p->order[p->norder++] = s;
	qsort_r(p->order, p->norder, sizeof(*p->order), compare_price,
		&(struct by_price){&m->cache[c->worker], c->start});
}

static void start_window(struct auc_policy_ctx *p)
{
	unsigned i;

	for (i = 0; i < p->norder; i++) {
		p->fit[p->order[i]] = p->ps_fit[p->order[i]] = INT32_MAX;
		p->sum[p->order[i]] = p->ps_sum[p->order[i]] = 0;
	}
}

static void extend_window(struct auc_policy_ctx *p, const struct candidate *c, unsigned slot)
{
	const struct auc_type_cache *w = &p->m->cache[c->worker];
	const struct auc_type_cache *q = &p->m->cache[auc_ps_index(p->m, c->ps)];
	unsigned i, s;
	int32_t fit;

	p->steps += 4 * (uint64_t)p->norder;
	for (i = 0; i < p->norder; i++) {
		s = p->order[i];
		fit = auc_type_fit(w, slot, s);
		if (fit < p->fit[s])
			p->fit[s] = fit;
		fit = auc_type_fit(q, slot, s);
		if (fit < p->ps_fit[s])
			p->ps_fit[s] = fit;
		p->sum[s] += auc_type_price(w, slot, s);
		p->ps_sum[s] += auc_type_price(q, slot, s);
	}
}

/* Algorithm 4. */
static void cost_c(struct auc_policy_ctx *p, struct candidate *c, int64_t n)
{
	double cost, least = INFINITY;
	unsigned i, s, best = 0;

	c->z = 1;
	for (i = 0; i < p->norder; i++) {
		s = p->order[i];
		c->ps_server = s;
		if (p->fit[s] < n || p->ps_fit[s] < 1 || !fits_jointly(p, c, n))
			continue;
		cost = (double)n * p->sum[s] + p->ps_sum[s];
		if (cost < least) {
			least = cost;
			best = s;
		}
	}
	if (isinf(least))
		return;
	memset(p->laid, 0, p->m->nservers * sizeof(*p->laid));
	p->laid[best] = n;
	c->ps_server = best;
	c->cost = least;
	record(p, c, p->laid);
}

/* Algorithm 3. */
static void cost_d(struct auc_policy_ctx *p, struct candidate *c, int64_t n)
{
	int64_t left = n;
	unsigned i, s, last = 0;
	double cost_w = 0;

	memset(p->laid, 0, p->m->nservers * sizeof(*p->laid));
	for (i = 0; i < p->norder && left; i++) {
		s = p->order[i];
		p->laid[s] = p->fit[s] < left ? p->fit[s] : left;
		left -= p->laid[s];
		if (!p->laid[s])
			continue;
		cost_w += (double)p->laid[s] * p->sum[s];
		last = i;
	}
	if (left)
		return;
	for (i = 0; i < last; i++) {
		s = p->order[i];
		c->z = auc_job_ps(p->m, c->worker, c->ps, n - p->laid[s]);
		c->ps_server = s;
		if (c->z > p->ps_fit[s] || !fits_jointly(p, c, p->laid[s]))
			continue;
		c->cost = cost_w + (double)c->z * p->ps_sum[s];
		record(p, c, p->laid);
	}
	for (i = last; i < p->norder && p->steps <= p->limit; i++)
		if (p->ps_fit[p->order[i]] > 0)
			cost_d_moves(p, c, n, last, p->order[i], cost_w);
}

/* Lines 21 to 34: workers move to server TO, from the dearest on. */
static void cost_d_moves(struct auc_policy_ctx *p, struct candidate *c, int64_t n, unsigned last,
			 unsigned to, double cost_w)
{
	const struct auc_market *m = p->m;
	unsigned ps = auc_ps_index(m, c->ps), from, i;
	double share = m->types[c->worker].bandwidth / m->types[ps].bandwidth, gain;
	const struct auc_type_cache *w = &m->cache[c->worker];
	double ps_price = auc_type_price(&m->cache[ps], c->start, to);
	int64_t room = p->fit[to] - p->laid[to], by;

	p->steps += m->nservers / 4 + last;
	c->ps_server = to;
	c->cost = cost_w + p->ps_sum[to] * share * (double)(n - p->laid[to]);
	memcpy(p->moved, p->laid, m->nservers * sizeof(*p->moved));
	for (i = last + 1; i-- > 0;) {
		from = p->order[i];
		if (from == to || !p->moved[from])
			continue;
		gain = auc_type_price(w, c->start, to) - auc_type_price(w, c->start, from) -
		       share * ps_price;
		if (!(gain <= 0) || room <= 0)
			return;
		by = p->moved[from] < room ? p->moved[from] : room;
		room -= by;
		c->cost += gain * (double)by;
		p->moved[from] -= by;
		p->moved[to] += by;
		if (p->moved[to] == n)
			return; /* not distributed any more */
		c->z = auc_job_ps(m, c->worker, c->ps, n - p->moved[to]);
		if (c->z <= p->ps_fit[to] && fits_jointly(p, c, p->moved[to]))
			record(p, c, p->moved);
	}
}

/* WORKERS of them beside the PSs, throughout the window. */
static bool fits_jointly(struct auc_policy_ctx *p, const struct candidate *c, int64_t workers)
{
	const struct auc_market *m = p->m;
	const struct auc_bundle *w = &m->types[c->worker];
	const struct auc_bundle *q = &m->types[auc_ps_index(m, c->ps)];
	const int64_t *used;
	unsigned t, k;

	p->steps += 2 * (uint64_t)c->d;
	for (t = c->start; t < c->start + c->d; t++) {
		used = m->used + auc_cell(m, t, c->ps_server) * m->ntres;
		for (k = 0; k < m->ntres; k++)
			if (w->units[k] && q->units[k] &&
			    workers * w->units[k] + c->z * q->units[k] >
				    m->servers[c->ps_server].units[k] - used[k])
				return false;
	}
	return true;
}

static void record(struct auc_policy_ctx *p, const struct candidate *c, const int64_t *workers)
{
	double payoff = c->value - c->cost;

	if (p->found && payoff <= p->best.payoff)
		return;
	p->found = true;
	p->best = *c;
	p->best.payoff = payoff;
	memcpy(p->best_workers, workers, p->m->nservers * sizeof(*workers));
}

static enum auc_code make_plan(const struct auc_policy_ctx *p, struct auc_decision *decision,
			       struct auc_err *err)
{
	const struct candidate *c = &p->best;
	struct auc_plan *plan = &decision->plan;
	unsigned s;
	enum auc_code rc;

	plan->worker_type = c->worker;
	plan->ps_type = c->ps;
	plan->colocated = c->colocated;
	plan->arrival = p->job->arrival;
	plan->start = p->m->first + c->start;
	plan->completion = plan->start + c->d;
	plan->value = c->value;
	rc = auc_plan_add_run(plan, plan->start, plan->completion - 1, err);
	for (s = 0; s < p->m->nservers && rc == AUC_OK; s++)
		if (p->best_workers[s] || s == c->ps_server)
			rc = auc_plan_add_share(plan, s, (unsigned)p->best_workers[s],
						s == c->ps_server ? (unsigned)c->z : 0, err);
	plan->cost = auc_plan_cost(plan, p->m);
	decision->best_payoff = c->payoff;
	decision->accepted = c->payoff > 0;
	decision->reason = decision->accepted ? AUC_REASON_NONE : AUC_REASON_PAYOFF;
	return rc;
}
