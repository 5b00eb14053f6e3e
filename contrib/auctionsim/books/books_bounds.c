/* books_bounds.c - the checker's own reckoning of OASiS's bounds L and U, see books-private.h. It
 * is as common/pricing/past/oasis_bounds.c says, from the scenario alone. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/books/books-private.h"

#define PRICE_MAX 1e15L

/* What a job says: the value of its shortest completion and what it takes till then, by role. */
struct word {
	uint64_t arrival;
	long double value, late, work, ps_work;
	const struct scenario_type *worker, *ps;
};

struct books_packing {
	unsigned n, known; /* known: that the bounds were made of */
	struct word *word;
	long double *left; /* scratch: by job, and by job what it can pay for a unit */
	long double *density;
};

static bool hear(struct books *b, const struct scenario_job *job);
static void hear_types(const struct books *b, const struct scenario_job *job,
		       const struct scenario_pair *pair, unsigned ps_index, struct word *best,
		       long double *least);
static const struct scenario_pair *find_pair(const struct scenario_pair *list, unsigned n,
					     unsigned index);
static void print_bounds(struct books *b);
static void learn(struct books *b);
static long double use_of(const struct books *b, const struct word *w, unsigned role, unsigned k);
static long double clearing_price(const struct books *b, unsigned role, unsigned k,
				  long double (*price)[TRES_MAX], long double capacity);
static long double capacity_of(const struct books *b, unsigned role, unsigned k);
static void raise_upper(struct books *b, const struct word *w);
static const struct auc_named *find(const struct scenario_amounts *list, const char *name);
static long double log_value(const struct auc_utility *u, long double x);

bool books_set_bounds(struct books *b)
{
	const struct scenario *s = b->s;
	unsigned r, k, i;

	for (r = 0; r < 2; r++)
		for (k = 0; k < b->ntres; k++)
			books_named_bounds(s, b->tres[k], r, &b->lower[r][k], &b->upper[r][k]);
	b->packing = calloc(1, sizeof(*b->packing));
	if (!b->packing)
		return false;
	b->packing->word = calloc(s->njobs + 1, sizeof(*b->packing->word));
	b->packing->left = calloc(s->njobs + 1, sizeof(long double));
	b->packing->density = calloc(s->njobs + 1, 2 * sizeof(long double));
	if (!b->packing->word || !b->packing->left || !b->packing->density)
		return false;
	for (i = 0; i < s->njobs && s->prices == SCENARIO_PRICES_OFFLINE; i++)
		hear(b, &s->jobs[i]);
	if (s->prices == SCENARIO_PRICES_OFFLINE)
		print_bounds(b);
	return true;
}

void books_free_packing(struct books_packing *p)
{
	if (!p)
		return;
	free(p->word);
	free(p->left);
	free(p->density);
	free(p);
}

/* Anew whenever the jobs have grown by an eighth. */
void books_learn_bounds(struct books *b, const struct scenario_job *job)
{
	struct books_packing *p = b->packing;

	if (!hear(b, job) && p->known == p->n)
		return;
	if (8 * (p->n - p->known) < p->n)
		return;
	p->known = p->n;
	learn(b);
}

void books_named_bounds(const struct scenario *s, const char *name, unsigned role,
			long double *lower, long double *upper)
{
	const struct scenario_bounds *given = role ? &s->ps_bounds : &s->worker;
	const struct auc_named *l, *u;

	if (!find(&given->lower, name) && !find(&given->upper, name))
		given = &s->both;
	l = find(&given->lower, name);
	u = find(&given->upper, name);
	*lower = l ? logl(l->value) : -INFINITY;
	*upper = u ? logl(u->value) : *lower;
}

long double books_curve(const long double lower[2], const long double upper[2], unsigned roles,
			long double x)
{
	long double least = -INFINITY, most = -INFINITY;
	unsigned r;

	for (r = 0; r < 2; r++) {
		if (!(roles & (r ? AUC_ROLE_PS : AUC_ROLE_WORKER)) || isinf(upper[r]))
			continue;
		least = isinf(most) ? lower[r] : fminl(least, lower[r]);
		most = fmaxl(most, upper[r]);
	}
	if (x >= 1)
		return expl(most);
	return isinf(least) ? 0 : expl(least * (1 - x) + most * x);
}

long double books_bounded_price(const struct books *b, unsigned server, unsigned tres,
				long double x)
{
	const long double lower[] = {b->lower[0][tres], b->lower[1][tres]};
	const long double upper[] = {b->upper[0][tres], b->upper[1][tres]};

	return books_curve(lower, upper, b->s->servers[server].roles, x);
}

static const struct auc_named *find(const struct scenario_amounts *list, const char *name)
{
	unsigned i;

	for (i = 0; i < list->n; i++)
		if (!strcasecmp(list->list[i].name, name))
			return &list->list[i];
	return NULL;
}

/* Of the types of the shortest completion, then least work, then those that come first: of the
 * scenario, then its own. False: there are none. */
static bool hear(struct books *b, const struct scenario_job *job)
{
	struct word *w = &b->packing->word[b->packing->n], best = {.value = -1};
	unsigned nworkers = b->s->nworker_types + job->nworker_types, i;
	unsigned nps = b->s->nps_types + job->nps_types, k;
	const struct scenario_pair *worker, *ps;
	long double least = INFINITY;

	for (i = 0; i < nworkers; i++) {
		worker = find_pair(job->worker_seconds, job->nworker_seconds, i);
		for (k = 0; k < nps && worker; k++) {
			ps = find_pair(job->ps_seconds, job->nps_seconds, k);
			if (ps)
				hear_types(b, job, worker, ps->index, &best, &least);
		}
	}
	if (!best.worker)
		return false;
	*w = best;
	b->packing->n++;
	return true;
}

/* Takes them if they are better than BEST, which is complete after LEAST slots. */
static void hear_types(const struct books *b, const struct scenario_job *job,
		       const struct scenario_pair *pair, unsigned ps_index, struct word *best,
		       long double *least)
{
	const struct scenario_type *worker, *ps;
	long double most = 0, upload = INFINITY, work, d;
	unsigned s;

	worker =
		books_type(b->s->worker_types, b->s->nworker_types, job->worker_types, pair->index);
	ps = books_type(b->s->ps_types, b->s->nps_types, job->ps_types, ps_index);
	for (s = 0; s < b->s->nservers; s++) {
		most += books_fit(b, worker, AUC_ROLE_WORKER, s);
		upload = fminl(upload, books_ceil(scenario_upload(job, s)));
	}
	work = fmaxl(1, books_ceil(books_work(b, job, worker, pair->value, 0, false)));
	most = fminl(fminl(most, job->chunks), work);
	if (!(most > 0) || books_ps(worker, ps, 1) > 1)
		return;
	d = books_duration(work, most);
	if (d > *least || (d == *least && work >= best->work))
		return;
	*least = d;
	*best = (struct word){
		.arrival = job->arrival,
		.value = books_value(&job->utility, d + upload),
		.late = log_value(&job->utility, (long double)b->s->slots + 1 - job->arrival),
		.work = work,
		.ps_work = d * books_ps(worker, ps, most),
		.worker = worker,
		.ps = ps};
}

static const struct scenario_pair *find_pair(const struct scenario_pair *list, unsigned n,
					     unsigned index)
{
	unsigned i;

	for (i = 0; i < n && list[i].index != index; i++)
		;
	return i < n ? &list[i] : NULL;
}

/* (23) to (26) as policies are told to read them. */
static void print_bounds(struct books *b)
{
	const struct books_packing *p = b->packing;
	long double worth, size, all, sum;
	const struct scenario_type *type;
	unsigned i, k, r;

	for (i = 0; i < p->n; i++)
		raise_upper(b, &p->word[i]);
	for (r = 0; r < 2; r++) {
		worth = size = INFINITY;
		for (i = 0; i < p->n; i++) {
			type = r ? p->word[i].ps : p->word[i].worker;
			for (k = 0, sum = 0; k < type->ntres; k++)
				sum += type->tres[k].value;
			size = fminl(size, p->word[i].work * sum);
			worth = fminl(worth, p->word[i].late - logl(p->word[i].work * sum));
		}
		for (k = 0, all = 0; k < b->ntres; k++)
			all += capacity_of(b, r, k);
		for (k = 0; k < b->ntres && p->n; k++)
			b->lower[r][k] = fminl(b->upper[r][k],
					       worth + logl(size) - logl(4 * b->s->slots * all));
	}
}

/* The duals of packing twice the jobs so far, as fractions, into the time since the first of them.
 */
static void learn(struct books *b)
{
	const struct books_packing *p = b->packing;
	long double price[2][TRES_MAX] = {{0}}, load[2][TRES_MAX] = {{0}}, capacity[2][TRES_MAX],
		    slots;
	uint64_t first = UINT64_MAX, last = 0;
	unsigned i, k, r, pass, n = 0, order[2 * TRES_MAX], at;

	for (i = 0; i < p->n; i++) {
		first = p->word[i].arrival < first ? p->word[i].arrival : first;
		last = p->word[i].arrival > last ? p->word[i].arrival : last;
	}
	slots = (long double)(last - first) + 11;
	for (r = 0; r < 2; r++)
		for (k = 0; k < b->ntres; k++) {
			b->upper[r][k] = -INFINITY;
			capacity[r][k] = slots * capacity_of(b, r, k);
			for (i = 0; i < p->n; i++)
				load[r][k] += use_of(b, &p->word[i], r, k);
			if (!(capacity[r][k] > 0) || !(load[r][k] > 0))
				continue;
			load[r][k] /= capacity[r][k];
			for (at = n++;
			     at &&
			     load[order[at - 1] / TRES_MAX][order[at - 1] % TRES_MAX] < load[r][k];
			     at--)
				order[at] = order[at - 1];
			order[at] = r * TRES_MAX + k;
		}
	for (i = 0; i < p->n; i++)
		raise_upper(b, &p->word[i]);
	for (pass = 0; pass < 3; pass++)
		for (i = 0; i < n; i++) {
			r = order[i] / TRES_MAX;
			k = order[i] % TRES_MAX;
			price[r][k] = 0;
			price[r][k] = clearing_price(b, r, k, price, capacity[r][k]);
		}
	for (r = 0; r < 2; r++)
		for (k = 0; k < b->ntres; k++) {
			b->lower[r][k] = logl(expl(b->upper[r][k]) / 1e5L + price[r][k]);
			b->upper[r][k] = fminl(b->lower[r][k] + logl(100), logl(PRICE_MAX));
		}
}

static int compare_falling(const void *a, const void *b)
{
	const long double *x = a, *y = b;

	return (x[0] < y[0]) - (x[0] > y[0]);
}

/* At the prices of the others: what the job can pay for a unit with which the TRES runs out. */
static long double clearing_price(const struct books *b, unsigned role, unsigned tres,
				  long double (*price)[TRES_MAX], long double capacity)
{
	const struct books_packing *p = b->packing;
	long double left, use, sum = 0;
	unsigned i, r, k, n = 0;

	for (i = 0; i < p->n; i++) {
		use = use_of(b, &p->word[i], role, tres);
		left = p->word[i].value;
		for (r = 0; r < 2; r++)
			for (k = 0; k < b->ntres; k++)
				if (price[r][k] > 0)
					left -= price[r][k] * use_of(b, &p->word[i], r, k);
		if (!(use > 0) || !(left > 0))
			continue;
		p->density[2 * n] = left / use;
		p->density[2 * n++ + 1] = use;
	}
	qsort(p->density, n, 2 * sizeof(*p->density), compare_falling);
	for (i = 0; i < n; i++) {
		sum += p->density[2 * i + 1];
		if (sum > capacity)
			return p->density[2 * i];
	}
	return 0;
}

/* Twice what the job takes of a TRES on servers of that role. */
static long double use_of(const struct books *b, const struct word *w, unsigned role, unsigned k)
{
	return 2 * (role ? w->ps_work * books_amount(b, w->ps, k)
			 : w->work * books_amount(b, w->worker, k));
}

static long double capacity_of(const struct books *b, unsigned role, unsigned k)
{
	long double sum = 0;
	unsigned s;

	for (s = 0; s < b->s->nservers; s++)
		if (b->s->servers[s].roles & (role ? AUC_ROLE_PS : AUC_ROLE_WORKER))
			sum += b->capacity[s * b->ntres + k];
	return sum;
}

static void raise_upper(struct books *b, const struct word *w)
{
	long double amount;
	unsigned r, k;

	for (r = 0; r < 2; r++)
		for (k = 0; k < b->ntres; k++) {
			amount = books_amount(b, r ? w->ps : w->worker, k);
			if (amount > 0)
				b->upper[r][k] = fmaxl(b->upper[r][k],
						       logl(fminl(w->value / amount, PRICE_MAX)));
		}
}

static long double log_value(const struct auc_utility *u, long double x)
{
	long double z = u->decay * (x - u->target);

	if (u->form == AUC_FORM_SIGMOID)
		return logl(u->scale) - (z > 0 ? z + log1pl(expl(-z)) : log1pl(expl(z)));
	return logl(books_value(u, x));
}
