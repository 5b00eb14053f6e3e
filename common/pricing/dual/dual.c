/* dual.c - see dual.h */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "pricing/dual/dual.h"
#include "market/timeline.h"
#include "market/plan.h"

#define MAGIC      "auction-dual/1\n"
#define MOMENT     0.9  /* how much of the old is kept: of the mean slack */
#define SQUARE     0.99 /* and of its square */
#define SQUARE_MIN 1e-6
#define PATIENCE                                                                                   \
	4 /* that part of the iterations without a better bound, and it goes back to the best      \
	     prices */
#define PATIENCE_LEAST                                                                             \
	12 /* where prices come from another level: for some ten steps the bound is worse */
#define BACK_OFF  0.25 /* and takes smaller steps */
#define PRICE_TOP 1e15 /* what a market takes */
#define RARE      0.25

/* By (group, slot), all in one piece of memory: what a phase works on. */
struct tables {
	size_t n;                              /* of one table */
	double *price, *sum, *moment, *square; /* saved */
	double *best, *best_use; /* saved: prices of the best bound, and what they sell */
	double *capacity, *use;
	double *memory;
};

struct auc_dual {
	struct auc_market *m; /* our own, its prices given */
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
	struct auc_decision decision;
	const struct auc_cancel *cancel;
	const struct auc_dual_job *jobs;
	unsigned njobs;
	double *payoff, *best_payoff; /* by job */
	double bound;                 /* of the best prices */
	double slots, schedules;      /* of the schedules last quoted: sums of weights */
	bool scaled;
	double scale[AUC_TRES_MAX]; /* of prices, by TRES */
	/* the phase */
	struct auc_dual_phase phase;
	unsigned done, summed; /* iterations; those in tables.sum */
	unsigned stalled;      /* iterations since the last that was better */
	unsigned resumed;      /* iterations before the last time it went back */
	double backed_off;     /* factor of steps: what stalled took off */
	unsigned ngroups;
	uint32_t *group; /* by server and TRES */
	unsigned *tres;  /* by group */
	struct tables t;
	struct auc_given_price *given; /* scratch */
	struct auc_dual_pool pool;     /* our own copies; capacity NULL: none was set */
};

/* What is saved before the tables. */
struct header {
	uint32_t njobs, nservers, slots, ntres;
	uint32_t level, iterations, done, summed, ngroups, scaled, stalled, resumed;
	double first_step, last_step, bound;
	double backed_off;
	double scale[AUC_TRES_MAX];
};

static enum auc_code take_pool(struct auc_dual *d, struct auc_err *err);
static enum auc_code make_groups(struct auc_dual *d, enum auc_dual_level level,
				 struct auc_err *err);
static bool alike(const struct auc_dual *d, enum auc_dual_level level, unsigned a, unsigned b,
		  unsigned tres);
static enum auc_code make_tables(struct auc_dual *d, enum auc_dual_level level,
				 struct auc_err *err);
static void add_capacity(struct auc_dual *d);
static enum auc_code evaluate(struct auc_dual *d, const double *price, double *bound,
			      struct auc_err *err);
static enum auc_code give(struct auc_dual *d, const double *price, struct auc_err *err);
static enum auc_code quote_all(struct auc_dual *d, double *sum, size_t *terms, struct auc_err *err);
static void add_unsold(const struct auc_dual *d, double *sum, size_t *terms);
static void add_unsold_pool(const struct auc_dual *d, const double *price, double *sum,
			    size_t *terms);
static void free_pool(struct auc_dual_pool *pool);
static void add_use(struct auc_dual *d, const struct auc_market *m, double weight);
static double certify(double sum, size_t terms);
static void keep_best(struct auc_dual *d, const double *price, double bound);
static void set_scale(struct auc_dual *d, double gained);
static unsigned patience(const struct auc_dual_phase *phase);
static void move(struct auc_dual *d);
static double *saved_table(struct auc_dual *d, unsigned i, size_t *n);

enum auc_code auc_dual_create(const struct auc_market *m, const struct auc_policy *policy,
			      const char *options, const struct auc_dual_job *jobs, unsigned njobs,
			      struct auc_dual **out, struct auc_err *err)
{
	struct auc_dual *d;
	enum auc_code rc;

	*out = NULL;
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	if (!auc_policy_is_priced(policy))
		return auc_err_set(err, AUC_EINVAL,
				   "policy %s: expected one that sells: a baseline does not look "
				   "for the best schedule",
				   policy->name);
	d = calloc(1, sizeof(*d));
	if (!d)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a bound");
	auc_decision_init(&d->decision);
	d->policy = policy;
	d->jobs = jobs;
	d->njobs = njobs;
	d->bound = INFINITY;
	d->m = auc_market_clone(m);
	d->payoff = calloc((size_t)njobs + 1, sizeof(*d->payoff));
	d->best_payoff = calloc((size_t)njobs + 1, sizeof(*d->best_payoff));
	d->group = calloc((size_t)m->nservers * m->ntres + 1, sizeof(*d->group));
	d->tres = calloc((size_t)m->nservers * m->ntres + 1, sizeof(*d->tres));
	rc = d->m && d->payoff && d->best_payoff && d->group && d->tres
		     ? policy->create(options, &d->ctx, err)
		     : auc_err_set(err, AUC_ENOMEM, "no memory for a bound");
	if (rc == AUC_OK)
		*out = d;
	else
		auc_dual_destroy(d);
	return rc;
}

void auc_dual_destroy(struct auc_dual *d)
{
	if (!d)
		return;
	if (d->ctx)
		d->policy->destroy(d->ctx);
	auc_decision_clear(&d->decision);
	auc_market_destroy(d->m);
	free(d->payoff);
	free(d->best_payoff);
	free(d->group);
	free(d->tres);
	free(d->t.memory);
	free(d->given);
	free_pool(&d->pool);
	free(d);
}

void auc_dual_set_cancel(struct auc_dual *d, const struct auc_cancel *w)
{
	d->cancel = w;
}

static void *copy_of(const void *from, size_t n)
{
	void *to = malloc(n + 1);

	if (to && n)
		memcpy(to, from, n);
	return to;
}

static void free_pool(struct auc_dual_pool *pool)
{
	free((void *)pool->group);
	free((void *)pool->tres);
	free((void *)pool->capacity);
	*pool = (struct auc_dual_pool){0};
}

enum auc_code auc_dual_set_pool(struct auc_dual *d, const struct auc_dual_pool *pool,
				struct auc_err *err)
{
	size_t cells = (size_t)d->m->nservers * d->m->ntres;
	size_t slots = (size_t)pool->ngroups * d->m->slots;
	unsigned *grown;

	free_pool(&d->pool);
	d->pool = (struct auc_dual_pool){
		.ngroups = pool->ngroups,
		.group = copy_of(pool->group, cells * sizeof(*pool->group)),
		.tres = copy_of(pool->tres, pool->ngroups * sizeof(*pool->tres)),
		.capacity = copy_of(pool->capacity, slots * sizeof(*pool->capacity)),
	};
	grown = realloc(d->tres, (cells + pool->ngroups + 1) * sizeof(*grown));
	d->tres = grown ? grown : d->tres;
	if (d->pool.group && d->pool.tres && d->pool.capacity && grown)
		return AUC_OK;
	free_pool(&d->pool);
	return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
}

enum auc_code auc_dual_continue(struct auc_dual *d, const struct auc_dual *from,
				struct auc_err *err)
{
	unsigned last = from->m->slots - 1, g, t;
	auc_slot at;

	if (d->ngroups != from->ngroups || d->m->ntres != from->m->ntres ||
	    (d->ngroups && memcmp(d->tres, from->tres, d->ngroups * sizeof(*d->tres)) != 0))
		return auc_err_set(err, AUC_EINVAL,
				   "prices of %u groups, expected %u of the same TRES",
				   from->ngroups, d->ngroups);
	for (g = 0; g < d->ngroups; g++)
		for (t = 0; t < d->m->slots; t++) {
			at = d->m->first + t - from->m->first;
			at = at < 0 ? 0 : at > last ? last : at;
			d->t.price[(size_t)g * d->m->slots + t] =
				from->t.best[(size_t)g * from->m->slots + (size_t)at];
		}
	memcpy(d->t.best, d->t.price, d->t.n * sizeof(double));
	memcpy(d->scale, from->scale, sizeof(d->scale));
	d->scaled = from->scaled;
	return AUC_OK;
}

void auc_dual_start(struct auc_dual *d, const struct auc_given_price *list, size_t n,
		    const double *scale)
{
	memset(d->t.price, 0, d->t.n * sizeof(double));
	for (size_t i = n; i-- > 0;) { /* the first server of a group is the last to write */
		uint32_t g = d->group[(size_t)list[i].server * d->m->ntres + list[i].tres];
		double *price = d->t.price + (size_t)g * d->m->slots;

		if (g == AUC_DUAL_NO_GROUP)
			continue;
		for (auc_slot t = list[i].from; t <= list[i].to; t++)
			if (t >= d->m->first && t <= auc_market_last(d->m))
				price[t - d->m->first] = list[i].price;
	}
	memcpy(d->t.best, d->t.price, d->t.n * sizeof(double));
	memcpy(d->scale, scale, d->m->ntres * sizeof(double));
	d->scaled = true;
}

enum auc_code auc_dual_begin(struct auc_dual *d, const struct auc_dual_phase *phase,
			     struct auc_err *err)
{
	struct tables old = d->t;
	uint32_t *old_group = d->group, *group;
	unsigned s, k, t;
	enum auc_code rc;
	size_t cell;

	if (!phase->iterations || !(phase->last_step > 0 && phase->first_step >= phase->last_step &&
				    phase->first_step <= 1))
		return auc_err_set(err, AUC_EINVAL,
				   "a phase of %u iterations, steps %g to %g: expected at least "
				   "one, and steps that shrink from at most 1",
				   phase->iterations, phase->first_step, phase->last_step);
	group = calloc((size_t)d->m->nservers * d->m->ntres + 1, sizeof(*group));
	if (!group)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a bound");
	d->group = group;
	rc = phase->level == AUC_DUAL_POOL ? take_pool(d, err) : make_groups(d, phase->level, err);
	if (rc == AUC_OK) {
		d->t = (struct tables){0};
		rc = make_tables(d, phase->level, err);
	}
	if (rc != AUC_OK) {
		/* without prices there is nothing to go on with */
		free(old.memory);
		free(old_group);
		return rc;
	}
	d->phase = *phase;
	d->done = d->summed = d->stalled = d->resumed = 0;
	d->backed_off = 1;
	for (s = 0; old.memory && s < d->m->nservers; s++)
		for (k = 0; k < d->m->ntres; k++) {
			cell = (size_t)s * d->m->ntres + k;
			for (t = 0; group[cell] != AUC_DUAL_NO_GROUP && t < d->m->slots; t++)
				d->t.price[(size_t)group[cell] * d->m->slots + t] =
					old.best[(size_t)old_group[cell] * d->m->slots + t];
		}
	memcpy(d->t.best, d->t.price, d->t.n * sizeof(double));
	free(old.memory);
	free(old_group);
	return AUC_OK;
}

enum auc_code auc_dual_step(struct auc_dual *d, struct auc_err *err)
{
	enum auc_code rc;
	double bound;
	size_t i;

	if (!auc_dual_left(d))
		return auc_err_set(err, AUC_ESTATE, "no iterations are left");
	rc = evaluate(d, d->t.price, &bound, err);
	if (rc != AUC_OK)
		return rc;
	keep_best(d, d->t.price, bound);
	if (!d->scaled)
		set_scale(d, bound);
	if (d->done >= d->phase.iterations / 2) {
		d->summed++;
		for (i = 0; i < d->t.n; i++)
			d->t.sum[i] += d->t.price[i];
	}
	d->done++;
	if (auc_dual_left(d)) {
		move(d);
		return AUC_OK;
	}
	for (i = 0; i < d->t.n; i++)
		d->t.price[i] = d->t.sum[i] / d->summed;
	rc = evaluate(d, d->t.price, &bound, err);
	if (rc == AUC_OK)
		keep_best(d, d->t.price, bound);
	return rc;
}

unsigned auc_dual_left(const struct auc_dual *d)
{
	return d->phase.iterations - d->done;
}

double auc_dual_bound(const struct auc_dual *d)
{
	return d->bound;
}

double auc_dual_scale(const struct auc_dual *d, unsigned tres)
{
	return d->scale[tres];
}

double auc_dual_price(const struct auc_dual *d, unsigned server, unsigned tres, auc_slot t)
{
	uint32_t g = d->group[(size_t)server * d->m->ntres + tres];

	if (!d->t.n || g == AUC_DUAL_NO_GROUP || t < d->m->first || t > auc_market_last(d->m))
		return 0;
	return d->t.best[(size_t)g * d->m->slots + (size_t)(t - d->m->first)];
}

double auc_dual_group_price(const struct auc_dual *d, unsigned group, auc_slot t)
{
	if (group >= d->ngroups || t < d->m->first || t > auc_market_last(d->m))
		return 0;
	return d->t.best[(size_t)group * d->m->slots + (size_t)(t - d->m->first)];
}

double auc_dual_payoff(const struct auc_dual *d, unsigned job)
{
	return d->best_payoff[job];
}

double auc_dual_duration(const struct auc_dual *d)
{
	return d->schedules > 0 ? d->slots / d->schedules : 0;
}

enum auc_code auc_dual_bound_at(struct auc_dual *d, const struct auc_given_price *list, size_t n,
				double *bound, struct auc_err *err)
{
	enum auc_code rc = auc_market_give_prices(d->m, list, n, err);
	size_t terms = 0;
	double sum = 0;

	if (rc == AUC_OK)
		rc = quote_all(d, &sum, &terms, err);
	add_unsold(d, &sum, &terms);
	*bound = certify(sum, terms);
	return rc;
}

enum auc_code auc_dual_save(const struct auc_dual *d, FILE *out, struct auc_err *err)
{
	struct header h = {
		.njobs = d->njobs,
		.nservers = d->m->nservers,
		.slots = d->m->slots,
		.ntres = d->m->ntres,
		.level = d->phase.level,
		.iterations = d->phase.iterations,
		.done = d->done,
		.summed = d->summed,
		.ngroups = d->ngroups,
		.scaled = d->scaled,
		.stalled = d->stalled,
		.resumed = d->resumed,
		.backed_off = d->backed_off,
		.first_step = d->phase.first_step,
		.last_step = d->phase.last_step,
		.bound = d->bound,
	};
	XXH3_state_t *hash = XXH3_createState();
	const double *table;
	uint64_t sum;
	unsigned i;
	size_t n;
	bool ok = hash != NULL;

	if (!ok)
		return auc_err_set(err, AUC_ENOMEM, "no memory to save a bound");
	memcpy(h.scale, d->scale, sizeof(h.scale));
	XXH3_64bits_reset(hash);
	XXH3_64bits_update(hash, &h, sizeof(h));
	ok = fwrite(MAGIC, sizeof(MAGIC) - 1, 1, out) == 1 && fwrite(&h, sizeof(h), 1, out) == 1;
	for (i = 0; ok && (table = saved_table((struct auc_dual *)d, i, &n)); i++) {
		XXH3_64bits_update(hash, table, n * sizeof(*table));
		ok = fwrite(table, sizeof(*table), n, out) == n;
	}
	sum = XXH3_64bits_digest(hash);
	XXH3_freeState(hash);
	if (!ok || fwrite(&sum, sizeof(sum), 1, out) != 1)
		return auc_err_set(err, AUC_EIO, "the state of a bound could not be written");
	return AUC_OK;
}

enum auc_code auc_dual_load(struct auc_dual *d, FILE *in, struct auc_err *err)
{
	char magic[sizeof(MAGIC)] = "";
	XXH3_state_t *hash;
	struct header h;
	uint64_t sum = 0;
	enum auc_code rc;
	double *table;
	unsigned i;
	size_t n;
	bool ok;

	if (fread(magic, sizeof(MAGIC) - 1, 1, in) != 1 || strcmp(magic, MAGIC) != 0 ||
	    fread(&h, sizeof(h), 1, in) != 1)
		return auc_err_set(err, AUC_ECORRUPT, "not the state of a bound");
	if (h.njobs != d->njobs || h.nservers != d->m->nservers || h.slots != d->m->slots ||
	    h.ntres != d->m->ntres)
		return auc_err_set(err, AUC_ECORRUPT,
				   "the state of another bound: %u jobs, %u servers, %u slots, %u "
				   "TRES; expected %u, %u, %u, %u",
				   h.njobs, h.nservers, h.slots, h.ntres, d->njobs, d->m->nservers,
				   d->m->slots, d->m->ntres);
	rc = h.level <= AUC_DUAL_POOL && h.done <= h.iterations && h.summed <= h.done
		     ? auc_dual_begin(d,
				      &(struct auc_dual_phase){(enum auc_dual_level)h.level,
							       h.iterations, h.first_step,
							       h.last_step},
				      err)
		     : auc_err_set(err, AUC_ECORRUPT, "the state of a bound is damaged");
	if (rc == AUC_OK && h.ngroups != d->ngroups)
		rc = auc_err_set(err, AUC_ECORRUPT,
				 "the state of another bound: %u groups of servers, expected %u",
				 h.ngroups, d->ngroups);
	if (rc != AUC_OK)
		return rc;
	hash = XXH3_createState();
	if (!hash)
		return auc_err_set(err, AUC_ENOMEM, "no memory to read the state of a bound");
	XXH3_64bits_reset(hash);
	XXH3_64bits_update(hash, &h, sizeof(h));
	ok = true;
	for (i = 0; ok && (table = saved_table(d, i, &n)); i++) {
		ok = fread(table, sizeof(*table), n, in) == n;
		XXH3_64bits_update(hash, table, n * sizeof(*table));
	}
	ok = ok && fread(&sum, sizeof(sum), 1, in) == 1 && sum == XXH3_64bits_digest(hash);
	XXH3_freeState(hash);
	if (!ok)
		return auc_err_set(err, AUC_ECORRUPT, "the state of a bound is damaged");
	d->done = h.done;
	d->summed = h.summed;
	d->scaled = h.scaled;
	d->stalled = h.stalled;
	d->resumed = h.resumed;
	d->backed_off = h.backed_off;
	d->bound = h.bound;
	memcpy(d->scale, h.scale, sizeof(h.scale));
	return AUC_OK;
}

/* The tables of the state in their order; NULL after the last. */
static double *saved_table(struct auc_dual *d, unsigned i, size_t *n)
{
	double *const tables[] = {d->t.price, d->t.sum,      d->t.moment,   d->t.square,
				  d->t.best,  d->t.best_use, d->best_payoff};

	if (i >= sizeof(tables) / sizeof(tables[0]))
		return NULL;
	*n = tables[i] == d->best_payoff ? d->njobs : d->t.n;
	return tables[i];
}

/* -- groups of servers -- */

static enum auc_code take_pool(struct auc_dual *d, struct auc_err *err)
{
	if (!d->pool.capacity)
		return auc_err_set(err, AUC_EINVAL, "there is no pool");
	d->ngroups = d->pool.ngroups;
	memcpy(d->group, d->pool.group, (size_t)d->m->nservers * d->m->ntres * sizeof(*d->group));
	memcpy(d->tres, d->pool.tres, d->ngroups * sizeof(*d->tres));
	return AUC_OK;
}

/* Gives each server and TRES that it has its group at LEVEL: that of the first server that is
 * alike. */
static enum auc_code make_groups(struct auc_dual *d, enum auc_dual_level level, struct auc_err *err)
{
	unsigned n = d->m->nservers, ntres = d->m->ntres, s, k, i;
	/* of the servers looked at so far, those that were like no other */
	uint32_t *firsts = calloc((size_t)n + 1, sizeof(*firsts)), nfirsts;

	if (!firsts)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a bound");
	d->ngroups = 0;
	for (k = 0; k < ntres; k++) {
		nfirsts = 0;
		for (s = 0; s < n; s++) {
			d->group[(size_t)s * ntres + k] = AUC_DUAL_NO_GROUP;
			if (!d->m->servers[s].units[k])
				continue;
			for (i = 0; i < nfirsts && !alike(d, level, firsts[i], s, k); i++)
				;
			if (i < nfirsts) {
				d->group[(size_t)s * ntres + k] =
					d->group[(size_t)firsts[i] * ntres + k];
				continue;
			}
			firsts[nfirsts++] = s;
			d->tres[d->ngroups] = k;
			d->group[(size_t)s * ntres + k] = d->ngroups++;
		}
	}
	free(firsts);
	return AUC_OK;
}

/* True if A and B share a price of TRES. */
static bool alike(const struct auc_dual *d, enum auc_dual_level level, unsigned a, unsigned b,
		  unsigned tres)
{
	const struct auc_server *x = &d->m->servers[a], *y = &d->m->servers[b];
	size_t cells = (size_t)d->m->ntres, t;
	unsigned j;

	if (x->cloud != y->cloud || x->units[tres] != y->units[tres] ||
	    strcmp(x->group, y->group) != 0)
		return false;
	if (level == AUC_DUAL_CLASSES)
		return true;
	if (x->roles != y->roles || memcmp(x->units, y->units, cells * sizeof(x->units[0])) != 0)
		return false;
	for (j = 0; j < d->njobs; j++)
		if (d->jobs[j].job->upload[a] != d->jobs[j].job->upload[b])
			return false;
	for (t = 0; t < d->m->slots; t++)
		if (memcmp(d->m->used + auc_cell(d->m, (unsigned)t, a) * cells,
			   d->m->used + auc_cell(d->m, (unsigned)t, b) * cells,
			   cells * sizeof(d->m->used[0])) != 0)
			return false;
	return true;
}

static enum auc_code make_tables(struct auc_dual *d, enum auc_dual_level level, struct auc_err *err)
{
	double **const tables[] = {&d->t.price, &d->t.sum,      &d->t.moment,   &d->t.square,
				   &d->t.best,  &d->t.best_use, &d->t.capacity, &d->t.use};
	unsigned i, n = sizeof(tables) / sizeof(tables[0]);
	struct auc_given_price *given;

	d->t.n = (size_t)d->ngroups * d->m->slots;
	d->t.memory = calloc(d->t.n * n + 1, sizeof(double));
	given = realloc(d->given,
			((size_t)d->m->nservers * d->m->ntres * d->m->slots + 1) * sizeof(*given));
	if (given)
		d->given = given;
	if (!d->t.memory || !given) {
		free(d->t.memory);
		d->t = (struct tables){0};
		return auc_err_set(err, AUC_ENOMEM, "no memory for a bound with %zu prices",
				   d->t.n);
	}
	for (i = 0; i < n; i++)
		*tables[i] = d->t.memory + i * d->t.n;
	if (level != AUC_DUAL_POOL)
		add_capacity(d);
	else if (d->t.n)
		memcpy(d->t.capacity, d->pool.capacity, d->t.n * sizeof(double));
	return AUC_OK;
}

/* What each group has for sale. */
static void add_capacity(struct auc_dual *d)
{
	const struct auc_market *m = d->m;
	unsigned s, k, t;
	uint32_t g;

	for (s = 0; s < m->nservers; s++)
		for (k = 0; k < m->ntres; k++) {
			g = d->group[(size_t)s * m->ntres + k];
			for (t = 0; g != AUC_DUAL_NO_GROUP && t < m->slots; t++)
				d->t.capacity[(size_t)g * m->slots + t] +=
					(double)(m->servers[s].units[k] -
						 m->used[auc_cell(m, t, s) * m->ntres + k]) /
					m->tres[k].scale;
		}
}

/* -- the bound at given prices -- */

/* At PRICE (by group and slot); also what the jobs' best schedules use. */
static enum auc_code evaluate(struct auc_dual *d, const double *price, double *bound,
			      struct auc_err *err)
{
	enum auc_code rc = give(d, price, err);
	size_t terms = 0;
	double sum = 0;

	memset(d->t.use, 0, d->t.n * sizeof(double));
	if (rc == AUC_OK)
		rc = quote_all(d, &sum, &terms, err);
	if (d->phase.level == AUC_DUAL_POOL)
		add_unsold_pool(d, price, &sum, &terms);
	else
		add_unsold(d, &sum, &terms);
	*bound = certify(sum, terms);
	return rc;
}

static enum auc_code give(struct auc_dual *d, const double *price, struct auc_err *err)
{
	unsigned slots = d->m->slots, s, k, t, from;
	const double *p;
	size_t n = 0;
	uint32_t g;

	for (s = 0; s < d->m->nservers; s++)
		for (k = 0; k < d->m->ntres; k++) {
			g = d->group[(size_t)s * d->m->ntres + k];
			if (g == AUC_DUAL_NO_GROUP)
				continue;
			p = price + (size_t)g * slots;
			for (from = 0; from < slots; from = t) {
				for (t = from + 1; t < slots && p[t] == p[from]; t++)
					;
				if (p[from] > 0)
					d->given[n++] = (struct auc_given_price){
						s, k, d->m->first + from, d->m->first + t - 1,
						p[from]};
			}
		}
	return auc_market_give_prices(d->m, d->given, n, err);
}

/* Adds what the jobs gain at the prices that the market has now. */
static enum auc_code quote_all(struct auc_dual *d, double *sum, size_t *terms, struct auc_err *err)
{
	const struct auc_market *m = d->m;
	const struct auc_dual_job *j;
	enum auc_code rc = AUC_OK;
	struct auc_market *at;
	unsigned i;

	d->slots = d->schedules = 0;
	if (d->policy->look)
		rc = d->policy->look(d->ctx, m, err);
	for (i = 0; i < d->njobs && rc == AUC_OK; i++) {
		j = &d->jobs[i];
		at = j->own ? j->own : d->m;
		if (!auc_cancel_goes_on(d->cancel))
			return auc_err_set(err, AUC_ESTATE, "the work was stopped");
		if (j->own)
			rc = auc_market_copy_state(at, m, err);
		if (rc == AUC_OK)
			rc = d->policy->quote(d->ctx, at, j->job, &d->decision, err);
		d->payoff[i] = 0;
		if (rc != AUC_OK || d->decision.reason == AUC_REASON_CAPACITY)
			continue;
		d->payoff[i] =
			fmax(0, d->decision.best_payoff +
					AUC_QUOTE_SLACK * auc_utility_value(&j->job->utility, 0));
		*sum += j->weight * d->payoff[i];
		(*terms)++;
		if (d->decision.accepted && d->t.n) /* there is a phase */
			add_use(d, at, j->weight);
	}
	return rc;
}

/* Adds what there is to sell, at the prices that the market has now. */
static void add_unsold(const struct auc_dual *d, double *sum, size_t *terms)
{
	const struct auc_market *m = d->m;
	const int64_t *used = m->used;

	for (unsigned t = 0; t < m->slots; t++)
		for (unsigned s = 0; s < m->nservers; s++, used += m->ntres)
			for (unsigned k = 0; k < m->ntres; k++) {
				double unit =
					m->unit_price[auc_units(m, t, s) + (size_t)k * m->nservers];

				if (unit > 0) {
					*sum += unit * ((double)(m->servers[s].units[k] - used[k]) /
							m->tres[k].scale);
					(*terms)++;
				}
			}
}

/* The same at PRICE, of what the pool has. */
static void add_unsold_pool(const struct auc_dual *d, const double *price, double *sum,
			    size_t *terms)
{
	size_t i;

	for (i = 0; i < d->t.n; i++)
		*sum += price[i] * d->t.capacity[i];
	*terms += d->t.n;
}

/* What the schedule that was quoted in market M uses. */
static void add_use(struct auc_dual *d, const struct auc_market *m, double weight)
{
	const struct auc_plan *plan = &d->decision.plan;
	const struct auc_share *share;
	const struct auc_run *run;
	unsigned i, k;
	double amount;
	auc_slot t;
	uint32_t g;
	int own;

	d->schedules += weight;
	d->slots += weight * (double)(plan->completion - plan->start);
	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (i = 0; i < run->nshares; i++) {
			share = &plan->shares[run->first_share + i];
			for (k = 0; k < d->m->ntres; k++) {
				own = m == d->m ? (int)k
						: auc_market_find_tres(m, d->m->tres[k].name);
				g = d->group[(size_t)share->server * d->m->ntres + k];
				if (own < 0 || g == AUC_DUAL_NO_GROUP)
					continue;
				amount = auc_plan_amount(plan, m, share->workers, share->ps,
							 (unsigned)own);
				if (!(amount > 0))
					continue;
				for (t = run->from; t <= run->to; t++)
					d->t.use[(size_t)g * d->m->slots +
						 (size_t)(t - d->m->first)] += weight * amount;
			}
		}
}

/*
 * What a sum of that many terms >= 0 is at most, if each was computed with four roundings: its own
 * two, that of its addition, and one to spare for the capacity.
 */
static double certify(double sum, size_t terms)
{
	return sum * (1 + ((double)terms + 8) * 4 * DBL_EPSILON);
}

/* -- the method -- */

static void keep_best(struct auc_dual *d, const double *price, double bound)
{
	d->stalled++;
	if (!(bound <= d->bound))
		return;
	d->stalled = 0;
	d->bound = bound;
	memcpy(d->t.best, price, d->t.n * sizeof(double));
	memcpy(d->t.best_use, d->t.use, d->t.n * sizeof(double));
	memcpy(d->best_payoff, d->payoff, d->njobs * sizeof(double));
}

/*
 * What a unit of each TRES that was used at the first prices, 0, earned on average. Of one that was
 * hardly used: as if that were RARE times the average of all, or its price would move in leaps that
 * no bound gets over.
 */
static void set_scale(struct auc_dual *d, double gained)
{
	double used[AUC_TRES_MAX] = {0}, all[AUC_TRES_MAX] = {0}, part = 0;
	unsigned g, k, t, n = 0;
	size_t i;

	for (g = 0; g < d->ngroups; g++)
		for (t = 0; t < d->m->slots; t++) {
			i = (size_t)g * d->m->slots + t;
			used[d->tres[g]] += d->t.use[i];
			all[d->tres[g]] += d->t.capacity[i];
		}
	for (k = 0; k < d->m->ntres; k++)
		if (all[k] > 0) {
			part += used[k] / all[k];
			n++;
		}
	part = part > 0 ? RARE * part / n : 1;
	for (k = 0; k < d->m->ntres; k++)
		d->scale[k] = all[k] > 0 ? gained / fmax(used[k], part * all[k]) : 0;
	d->scaled = true;
}

/* Iterations without a better bound, until it goes back to the best prices. */
static unsigned patience(const struct auc_dual_phase *phase)
{
	unsigned n = phase->iterations / PATIENCE;

	return phase->level != AUC_DUAL_POOL && n < PATIENCE_LEAST ? PATIENCE_LEAST : n;
}

/* Down where not everything is used, up where more is. */
static void move(struct auc_dual *d)
{
	double last = d->phase.iterations > 1 ? d->phase.iterations - 1 : 1;
	double step = d->phase.first_step *
		      pow(d->phase.last_step / d->phase.first_step, (d->done - 1) / last);
	double slack, mean, square, by, moments, squares;
	unsigned g, t;
	size_t i;

	if (d->stalled > patience(&d->phase)) {
		d->stalled = 0;
		d->resumed = d->done - 1;
		d->backed_off *= BACK_OFF;
		memcpy(d->t.price, d->t.best, d->t.n * sizeof(double));
		memcpy(d->t.use, d->t.best_use, d->t.n * sizeof(double));
		memset(d->t.moment, 0, d->t.n * sizeof(double));
	}
	step *= d->backed_off;
	moments = 1 - pow(MOMENT, d->done - d->resumed);
	squares = 1 - pow(SQUARE, d->done);
	for (g = 0; g < d->ngroups; g++)
		for (t = 0; t < d->m->slots; t++) {
			i = (size_t)g * d->m->slots + t;
			if (!(d->t.capacity[i] > 0))
				continue;
			slack = (d->t.capacity[i] - d->t.use[i]) / d->t.capacity[i];
			d->t.moment[i] = MOMENT * d->t.moment[i] + (1 - MOMENT) * slack;
			d->t.square[i] = SQUARE * d->t.square[i] + (1 - SQUARE) * slack * slack;
			mean = d->t.moment[i] / moments;
			square = d->t.square[i] / squares;
			by = step * d->scale[d->tres[g]] * mean / sqrt(square + SQUARE_MIN);
			d->t.price[i] = fmin(fmax(d->t.price[i] - by, 0), PRICE_TOP);
		}
}
