/* tiny.c - see tiny.h. No two draws in one expression: their order would be the compiler's choice.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bid_resolve.h"
#include "unit/support/splitmix.h"
#include "unit/support/tiny.h"

const char *const tiny_tres_names[TINY_TRES] = {"gpu", "cpu", "mem", "gpu:t4"};

static void must(enum auc_code rc, const struct auc_err *err)
{
	if (rc == AUC_OK)
		return;
	fprintf(stderr, "tiny: %s\n", err->text);
	exit(1);
}

int tiny_int(struct tiny_random *r, int low, int high)
{
	return low + (int)(splitmix(&r->state) % (uint64_t)(high - low + 1));
}

double tiny_real(struct tiny_random *r)
{
	return splitmix_real(&r->state);
}

/* In [0, 1), small ones more often. */
static long double asked(const struct tiny_market *t, unsigned s, unsigned k, int64_t slot);
static double square(struct tiny_random *r)
{
	double x = tiny_real(r);

	return x * x;
}

bool tiny_chance(struct tiny_random *r, double p)
{
	return tiny_real(r) < p;
}

/* A bundle of one to all TRES in steps that leave remainders: 0.1, 0.3 GPU, whole and half CPUs,
 * MB. */
static void make_bundle(int64_t *amount, struct tiny_random *r, unsigned ntres)
{
	static const int gpu[] = {10, 10, 30, 50, 100, 100, 70};
	bool any = false;
	unsigned k;

	for (k = 0; k < ntres; k++) {
		if (!tiny_chance(r, 0.55))
			continue;
		any = true;
		if (k == 2)
			amount[k] = 100 * (int64_t)tiny_int(r, 1, 3) * 512;
		else if (k == 1)
			amount[k] = 50 * tiny_int(r, 1, 6);
		else
			amount[k] = gpu[tiny_int(r, 0, 6)];
	}
	if (!any)
		amount[0] = 10;
}

static void preload(struct tiny_market *t, struct tiny_random *r)
{
	unsigned s, k, n, i, from, to;
	int64_t amount, least;

	for (n = (unsigned)tiny_int(r, 0, 4 * (int)t->nservers); n; n--) {
		s = (unsigned)tiny_int(r, 0, (int)t->nservers - 1);
		k = (unsigned)tiny_int(r, 0, (int)t->ntres - 1);
		from = (unsigned)tiny_int(r, 0, (int)t->nslots - 1);
		to = (unsigned)tiny_int(r, (int)from, (int)t->nslots - 1);
		least = t->capacity[s][k];
		for (i = from; i <= to; i++)
			if (t->capacity[s][k] - t->used[s][k][i] < least)
				least = t->capacity[s][k] - t->used[s][k][i];
		amount = least / 10 * tiny_int(r, 0, tiny_chance(r, 0.2) ? 10 : 5);
		for (i = from; i <= to; i++)
			t->used[s][k][i] += amount;
	}
}

void tiny_market_make(struct tiny_market *t, struct tiny_random *r, unsigned servers,
		      unsigned slots)
{
	static const int mbps[] = {10, 25, 40, 50, 100};
	static const int lengths[] = {1, 10, 30, 60};
	bool alike = tiny_chance(r, 0.3), free_of_charge = tiny_chance(r, 0.1);
	unsigned s, k, i;
	double unit;

	memset(t, 0, sizeof(*t));
	t->nservers = servers;
	t->nslots = slots;
	t->ntres = (unsigned)tiny_int(r, 1, TINY_TRES);
	t->nworkers = (unsigned)tiny_int(r, 1, TINY_TYPES);
	t->nps = (unsigned)tiny_int(r, 1, TINY_TYPES);
	t->first = tiny_chance(r, 0.5) ? 1 : 5800000 + tiny_int(r, 0, 1000);
	t->slot_seconds = lengths[tiny_int(r, 0, 3)];
	for (i = 0; i < t->nworkers; i++) {
		make_bundle(t->worker[i], r, t->ntres);
		t->worker_mbps[i] = mbps[tiny_int(r, 0, 4)];
	}
	for (i = 0; i < t->nps; i++) {
		make_bundle(t->ps[i], r, t->ntres);
		t->ps_mbps[i] = mbps[tiny_int(r, 0, 4)];
		t->ps_mbps[i] *= tiny_chance(r, 0.3) ? 2 : 1;
	}
	for (s = 0; s < t->nservers; s++) {
		t->hosts_workers[s] = tiny_chance(r, 0.85);
		t->hosts_ps[s] = tiny_chance(r, 0.7);
		t->cloud[s] = tiny_chance(r, 0.25);
		t->upload[s] = tiny_chance(r, 0.7) ? 0 : tiny_int(r, 0, 30);
		for (k = 0; k < t->ntres; k++)
			if (alike && s)
				t->capacity[s][k] = t->capacity[0][k];
			else if (k == 2)
				t->capacity[s][k] = 100 * (int64_t)tiny_int(r, 2, 16) * 512;
			else if (tiny_chance(r, 0.95))
				t->capacity[s][k] = 10 * tiny_int(r, 5, k == 1 ? 120 : 40);
	}
	for (k = 0; k < t->ntres; k++) {
		unit = k == 2 ? 1.0 / 512 : 1;
		t->eta[k] = free_of_charge || tiny_chance(r, 0.1) ? 1 : 1 + unit * 40 * square(r);
	}
	if (tiny_chance(r, 0.85))
		preload(t, r);
}

static void make_utility(struct auc_utility *u, struct tiny_random *r)
{
	double scale = pow(10, 4 * tiny_real(r) - 0.5);
	unsigned i;

	memset(u, 0, sizeof(*u));
	u->form = (enum auc_form)tiny_int(r, 0, 5);
	u->scale = scale;
	switch (u->form) {
	case AUC_FORM_SIGMOID:
		u->decay = 2 * tiny_real(r);
		u->target = tiny_chance(r, 0.5) ? 0 : tiny_int(r, 1, 6);
		break;
	case AUC_FORM_LINEAR:
		u->decay = scale * tiny_real(r) / 3;
		break;
	case AUC_FORM_INVERSE:
	case AUC_FORM_DEADLINE:
		u->target = tiny_int(r, 1, 9);
		u->target += tiny_chance(r, 0.3) ? 0.5 : 0;
		break;
	case AUC_FORM_TABLE:
		u->npoints = (unsigned)tiny_int(r, 1, 4);
		for (i = 0; i < u->npoints; i++) {
			u->points[i].x = (i ? u->points[i - 1].x : 0) + 0.5 * tiny_int(r, 1, 5);
			u->points[i].value = i ? u->points[i - 1].value * tiny_real(r) : scale;
		}
		break;
	case AUC_FORM_CONSTANT:
		break;
	}
}

void tiny_job_make(struct tiny_job *j, struct tiny_random *r, const struct tiny_market *t)
{
	double batches, work = 0.3 + square(r) * 3 * t->nslots;
	unsigned i;

	memset(j, 0, sizeof(*j));
	j->arrival = t->first + tiny_int(r, -1, tiny_chance(r, 0.05) ? (int)t->nslots + 1 : 2);
	make_utility(&j->utility, r);
	j->epochs = tiny_int(r, 1, 5);
	j->chunks = tiny_int(r, 1, 6);
	j->minibatches = tiny_int(r, 1, 10);
	batches = j->epochs * j->chunks * j->minibatches;
	for (i = 0; i < TINY_TYPES; i++) {
		j->worker_seconds[i] = j->ps_seconds[i] = -1;
		if (i < t->nworkers && (!i || tiny_chance(r, 0.8)))
			j->worker_seconds[i] = 1 + (int)(work * (0.5 + tiny_real(r)) *
							 t->slot_seconds * 100 / batches);
		if (i < t->nps && (!i || tiny_chance(r, 0.8)))
			j->ps_seconds[i] = tiny_chance(r, 0.3)
						   ? 0
						   : tiny_int(r, 0, 1 + j->worker_seconds[0] / 4);
	}
	j->gradient = tiny_chance(r, 0.3)
			      ? 0
			      : tiny_int(r, 0, j->worker_seconds[0] * t->worker_mbps[0] / 320 + 1);
	j->upload_group = tiny_chance(r, 0.3) ? tiny_int(r, 0, 20) : -1;
	j->upload_default = tiny_chance(r, 0.3) ? tiny_int(r, 0, 20) : -1;
	for (i = 0; i < t->nservers; i++)
		j->upload[i] = tiny_chance(r, 0.2) ? tiny_int(r, 0, 40) : -1;
}

long double tiny_value(const struct auc_utility *u, long double x)
{
	long double v = 0, a, b;
	unsigned i;

	switch (u->form) {
	case AUC_FORM_CONSTANT:
		v = u->scale;
		break;
	case AUC_FORM_SIGMOID:
		v = u->scale / (1 + expl(u->decay * (x - u->target)));
		break;
	case AUC_FORM_LINEAR:
		v = u->scale - u->decay * x;
		break;
	case AUC_FORM_INVERSE:
		x = x < 1 ? 1 : x;
		v = u->scale * (u->target - x) / x;
		break;
	case AUC_FORM_DEADLINE:
		v = x <= u->target ? u->scale : 0;
		break;
	case AUC_FORM_TABLE:
		if (x <= u->points[0].x)
			v = u->points[0].value;
		else
			v = u->points[u->npoints - 1].value;
		for (i = 0; i + 1 < u->npoints; i++)
			if (x > u->points[i].x && x <= u->points[i + 1].x) {
				a = u->points[i].value;
				b = u->points[i + 1].value;
				v = a + (b - a) * (x - u->points[i].x) /
						(u->points[i + 1].x - u->points[i].x);
			}
		break;
	}
	return v > 0 ? v : 0;
}

void tiny_costs(struct tiny_market *t, struct tiny_random *r)
{
	if (!tiny_chance(r, 0.33))
		return;
	for (unsigned s = 0; s < t->nservers; s++)
		for (unsigned k = 0; k < t->ntres; k++)
			if (t->capacity[s][k] && tiny_chance(r, 0.5))
				t->cost[s][k] = (k == 2 ? 1.0 / 512 : 1) * 5 * square(r) * 3600 /
						t->slot_seconds;
}

long double tiny_price(const struct tiny_market *t, unsigned s, unsigned k, int64_t slot)
{
	long double floor = t->cost[s][k] * t->slot_seconds / 3600.0, price = asked(t, s, k, slot);
	int64_t hour = (int64_t)floorl((long double)(t->first + slot) * t->slot_seconds / 3600) %
		       AUC_DAY_HOURS;

	if (t->hours && s % 2)
		floor *= (double)((hour < 0 ? hour + AUC_DAY_HOURS : hour) * (s + 3) % 5) / 2;
	return price > floor ? price : floor;
}

static long double asked(const struct tiny_market *t, unsigned s, unsigned k, int64_t slot)
{
	long double x, lower = 0, upper = 0;
	unsigned r, hosts;

	if (t->given)
		return t->price[s][k][slot];
	x = t->capacity[s][k] ? (long double)t->used[s][k][slot] / t->capacity[s][k] : 0;
	if (!t->bounded)
		return t->used[s][k][slot] ? expl(logl(t->eta[k]) * x) - 1 : 0;
	for (r = 0; r < 2; r++) {
		hosts = r ? t->hosts_ps[s] : t->hosts_workers[s];
		if ((!hosts && (t->hosts_ps[s] || t->hosts_workers[s])) || t->upper[r][k] == 0)
			continue;
		lower = upper == 0 || t->lower[r][k] < lower ? t->lower[r][k] : lower;
		upper = t->upper[r][k] > upper ? t->upper[r][k] : upper;
	}
	if (upper == 0 || !t->capacity[s][k])
		return 0;
	return x == 1 ? upper : lower == 0 ? 0 : lower * expl(logl(upper / lower) * x);
}

int64_t tiny_up(__int128 a, __int128 b)
{
	return (int64_t)((a + b - 1) / b);
}

int64_t tiny_upload(const struct tiny_market *t, const struct tiny_job *j, unsigned server)
{
	int tenths = t->upload[server];

	if (j->upload[server] >= 0)
		tenths = j->upload[server];
	else if (j->upload_group >= 0 && !t->cloud[server])
		tenths = j->upload_group;
	else if (j->upload_default >= 0)
		tenths = j->upload_default;
	return (tenths + 9) / 10;
}

static unsigned name_amounts(struct auc_named *named, const int64_t *amount, unsigned ntres)
{
	unsigned k, n = 0;

	for (k = 0; k < ntres; k++) {
		if (!amount[k])
			continue;
		strcpy(named[n].name, tiny_tres_names[k]);
		named[n++].value = (double)amount[k] / 100;
	}
	return n;
}

static unsigned name_costs(struct auc_named *named, const double *cost, unsigned ntres)
{
	unsigned n = 0;

	for (unsigned k = 0; k < ntres; k++)
		if (cost[k] > 0) {
			strcpy(named[n].name, tiny_tres_names[k]);
			named[n++].value = cost[k];
		}
	return n;
}

struct auc_market *tiny_build(const struct tiny_market *t)
{
	struct auc_market *m = auc_market_create(t->nslots, t->slot_seconds, t->first);
	struct auc_named named[TINY_TRES], all[TINY_TRES];
	struct auc_price price = {.neta = t->ntres};
	double hour[AUC_DAY_HOURS];
	struct auc_err err = {0};
	char name[AUC_NAME_MAX];
	unsigned i, k, n;
	int tres;

	for (k = 0; k < t->ntres; k++) {
		strcpy(all[k].name, tiny_tres_names[k]);
		all[k].value = 0;
		price.eta[k] = all[k];
		price.eta[k].value = t->eta[k];
	}
	for (i = 0; m && i < t->nservers; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		n = name_amounts(named, t->capacity[i], t->ntres);
		must(auc_market_add_server(m, name, t->cloud[i] ? "cloud" : "edge", t->cloud[i],
					   (t->hosts_workers[i] ? AUC_ROLE_WORKER : 0) |
						   (t->hosts_ps[i] ? AUC_ROLE_PS : 0),
					   t->upload[i] / 10.0, named, n, &err),
		     &err);
		n = name_costs(named, t->cost[i], t->ntres);
		must(auc_market_set_cost(m, named, n, &err), &err);
		for (unsigned h = 0; h < AUC_DAY_HOURS; h++)
			hour[h] = (double)(h * (i + 3) % 5) / 2;
		if (t->hours && i % 2)
			must(auc_market_set_cost_hours(m, hour, &err), &err);
		snprintf(name, sizeof(name), "leaf%d", t->leaf[i]);
		if (t->leaf[i])
			must(auc_market_set_switch(m, name, &err), &err);
	}
	for (i = 0; i < t->nworkers; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		n = name_amounts(named, t->worker[i], t->ntres);
		must(auc_market_add_worker_type(m, name, named, n, t->worker_mbps[i], &err), &err);
	}
	for (i = 0; i < t->nps; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		n = name_amounts(named, t->ps[i], t->ntres);
		must(auc_market_add_ps_type(m, name, named, n, t->ps_mbps[i], &err), &err);
	}
	must(auc_market_ready(m, &price, &err), &err);
	for (i = 0; i < t->nservers; i++)
		for (k = 0; k < t->ntres; k++)
			for (n = 0; n < t->nslots; n++) {
				tres = auc_market_find_tres(m, tiny_tres_names[k]);
				if (!t->used[i][k][n])
					continue;
				must(auc_market_reserve(m, i, (unsigned)tres, t->first + n,
							t->first + n,
							(double)t->used[i][k][n] / 100, &err),
				     &err);
			}
	return m;
}

void tiny_give_prices(struct tiny_market *t, struct tiny_random *r, struct auc_market *m)
{
	struct auc_given_price list[TINY_SERVERS * TINY_TRES * TINY_SLOTS / 4], *g;
	struct auc_err err = {0};
	size_t i, n = 0;
	unsigned s, k, slots;
	auc_slot at;
	int tres;

	for (s = 0; s < t->nservers; s++)
		for (k = 0; k < t->ntres; k++)
			for (i = 0; i < 3 && n < sizeof(list) / sizeof(list[0]); i++) {
				tres = auc_market_find_tres(m, tiny_tres_names[k]);
				if (tres < 0)
					break;
				slots = (unsigned)tiny_int(r, 1, (int)t->nslots);
				g = &list[n++];
				g->server = s;
				g->tres = (unsigned)tres;
				g->from = t->first + tiny_int(r, 0, (int)(t->nslots - slots));
				g->to = g->from + slots - 1;
				g->price = tiny_chance(r, 0.2) ? 0
							       : 5 * square(r) / (k == 2 ? 512 : 1);
				for (at = g->from; at <= g->to; at++)
					t->price[s][k][at - t->first] = g->price;
			}
	t->given = true;
	must(auc_market_give_prices(m, list, n, &err), &err);
}

void tiny_set_bounds(struct tiny_market *t, struct tiny_random *r, struct auc_market *m)
{
	struct auc_price price = {.kind = AUC_PRICE_BOUNDS, .nbounds = t->ntres};
	struct auc_err err = {0};
	unsigned role, k;
	double unit;

	for (k = 0; k < t->ntres; k++) {
		strcpy(price.bounds[k].name, tiny_tres_names[k]);
		unit = k == 2 ? 1.0 / 512 : 1;
		for (role = 0; role < 2; role++) {
			t->upper[role][k] = tiny_chance(r, 0.1) ? 0 : unit * 100 * square(r);
			t->lower[role][k] = t->upper[role][k];
			t->lower[role][k] *= tiny_chance(r, 0.1) ? 0 : pow(10, -5 * tiny_real(r));
			price.bounds[k].lower[role] = log(t->lower[role][k]);
			price.bounds[k].upper[role] = log(t->upper[role][k]);
		}
	}
	t->bounded = true;
	must(auc_market_set_price(m, &price, &err), &err);
}

void tiny_resolve(const struct auc_market *m, const struct tiny_job *j, struct auc_job *job)
{
	struct auc_bid bid = {.utility = j->utility,
			      .epochs = (uint64_t)j->epochs,
			      .chunks = (uint64_t)j->chunks,
			      .minibatches = (uint64_t)j->minibatches,
			      .gradient_mb = j->gradient / 10.0,
			      .upload_default =
				      j->upload_default < 0 ? -1 : j->upload_default / 10.0};
	struct auc_err err = {0};
	unsigned i;

	for (i = 0; i < TINY_TYPES; i++) {
		if (j->worker_seconds[i] >= 0) {
			snprintf(bid.worker_seconds[bid.nworkers].name, AUC_NAME_MAX, "w%u", i);
			bid.worker_seconds[bid.nworkers++].value = j->worker_seconds[i] / 100.0;
		}
		if (j->ps_seconds[i] >= 0) {
			snprintf(bid.ps_seconds[bid.nps].name, AUC_NAME_MAX, "p%u", i);
			bid.ps_seconds[bid.nps++].value = j->ps_seconds[i] / 100.0;
		}
	}
	for (i = 0; i < auc_market_nservers(m); i++)
		if (j->upload[i] >= 0) {
			snprintf(bid.upload[bid.nupload].name, AUC_NAME_MAX, "s%u", i);
			bid.upload[bid.nupload++].value = j->upload[i] / 10.0;
		}
	for (i = 0; j->upload_group >= 0 && i < auc_market_nservers(m); i++)
		if (!strcmp(auc_market_server_group(m, i), "edge")) {
			strcpy(bid.upload[bid.nupload].name, "edge");
			bid.upload[bid.nupload++].value = j->upload_group / 10.0;
			break;
		}
	must(auc_bid_resolve(m, &bid, j->arrival, job, &err), &err);
}

void tiny_book(struct tiny_market *t, struct auc_market *m, const struct auc_plan *plan)
{
	const struct auc_share *share;
	const struct auc_run *run;
	struct auc_err err = {0};
	int64_t slot, amount;
	unsigned i, k;

	must(auc_market_book(m, plan, plan->start, plan->completion - 1, &err), &err);
	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (i = 0; i < run->nshares; i++)
			for (k = 0; k < t->ntres; k++) {
				share = &plan->shares[run->first_share + i];
				amount = share->workers * t->worker[plan->worker_type][k] +
					 share->ps * t->ps[plan->ps_type][k];
				for (slot = run->from; slot <= run->to; slot++)
					t->used[share->server][k][slot - t->first] += amount;
			}
}
