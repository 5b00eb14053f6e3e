/*
 * verify.c - see verify.h. A job's best payoff: all completions until the value is not above the
 * best so far, all windows, all types and placements with the fewest workers of the window's
 * duration, but for those whose cheapest slots already cost too much. In a window, all PS servers
 * and all numbers of workers on them, the others on the cheapest servers.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/books/books.h"
#include "auctionsim/bound/verify.h"
#include "auctionsim/io/progress.h"

#define SLACK   1e-9L  /* of a payoff: two ways to compute one number */
#define ROUNDED 1e-15L /* of the sum: far more than its rounding */

/* A type at every slot and server: what one costs, how many there is room for. */
struct view {
	const struct scenario_type *type;
	unsigned role;
	double seconds;
	long double *price, *room;
	long double *least; /* by slot: what the slots before cost at least */
	/* the window at hand; from 0: none */
	uint64_t from, to;
	long double *sum, *fit; /* by server */
	bool sorted;
	unsigned norder, *order; /* servers with room by ascending sum */
};

struct verify {
	const struct scenario *s;
	const struct scenario_job *job;
	struct books *books;
	unsigned nviews;
	struct view *views; /* types of the scenario: workers, PSs; then those of the job at hand */
	uint64_t *ready;    /* by server: first slot it can be used in */
	long double best;
};

static enum auc_code open_books(struct verify *v, const struct proof *p, struct auc_err *err);
static bool look_at(struct verify *v, const struct scenario_type *type, unsigned role);
static bool fill_view(const struct verify *v, struct view *w);
static void forget_from(struct verify *v, unsigned first);
static bool has_keys(const struct scenario_job *job);
static bool best_payoff(struct verify *v, const struct scenario_job *job);
static bool try_shape(struct verify *v, const struct scenario_shape *shape);
static void try_nodes(struct verify *v, const struct view *w, uint64_t n, long double value,
		      unsigned first);
static void search(struct verify *v, struct view **workers, unsigned nworkers, struct view **pss,
		   unsigned nps);
static void try_pair(struct verify *v, struct view *worker, struct view *ps, uint64_t completion,
		     long double value, bool colocated);
static void try_window(struct verify *v, struct view *worker, struct view *ps, uint64_t from,
		       uint64_t to, uint64_t n, long double value, bool colocated);
static void try_server(struct verify *v, struct view *worker, struct view *ps, unsigned server,
		       uint64_t n, long double value, bool colocated);
static void set_window(struct verify *v, struct view *w, uint64_t from, uint64_t to);
static void sort(struct verify *v, struct view *w);
static long double cheapest(const struct view *w, uint64_t n, unsigned without);

enum auc_code verify_bound(const struct scenario *s, const struct proof *p, long double *bound,
			   unsigned *wrong, struct auc_err *err)
{
	struct verify v = {
		.s = s, .books = books_open(s), .ready = calloc(s->nservers + 1, sizeof(*v.ready))};
	enum auc_code rc = v.books && v.ready
				   ? open_books(&v, p, err)
				   : auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	unsigned i, common = v.nviews;
	const struct proof_row *row;
	uint64_t t;

	*bound = 0;
	*wrong = 0;
	progress_say("verifying jobs");
	for (i = 0; i < s->njobs && rc == AUC_OK; i++) {
		v.best = p->payoff[i];
		if (!has_keys(&s->jobs[i]))
			rc = auc_err_set(err, AUC_EINVAL,
					 "%s: $.jobs[%u]: a key that a schedule needs is missing",
					 s->file, i);
		else if (!best_payoff(&v, &s->jobs[i]))
			rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
		*wrong += v.best > p->payoff[i] + SLACK * (1 + p->payoff[i]);
		*bound += v.best;
		forget_from(&v, common);
		progress_count(i + 1, s->njobs);
	}
	for (row = p->rows; rc == AUC_OK && row < p->rows + p->nrows; row++)
		for (t = 1; t <= s->slots; t++)
			*bound +=
				row->price[t - 1] * books_left(v.books, row->server, row->tres, t);
	*bound *= 1 + ROUNDED;
	forget_from(&v, 0);
	free(v.views);
	free(v.ready);
	books_close(v.books);
	return rc;
}

/* The scenario's types at the prices P. */
static enum auc_code open_books(struct verify *v, const struct proof *p, struct auc_err *err)
{
	const struct proof_row *row;
	bool ok = true;
	unsigned i;
	uint64_t t;

	if (strcmp(p->policy, "dps") != 0)
		return auc_err_set(err, AUC_EINVAL,
				   "prices of policy %.80s: expected dps, whose schedules this "
				   "program can search by itself",
				   p->policy);
	for (row = p->rows; row < p->rows + p->nrows; row++)
		for (t = 1; t <= v->s->slots; t++)
			books_give_price(v->books, row->server, row->tres, t, row->price[t - 1]);
	for (i = 0; i < v->s->nworker_types && ok; i++)
		ok = look_at(v, &v->s->worker_types[i], AUC_ROLE_WORKER);
	for (i = 0; i < v->s->nps_types && ok; i++)
		ok = look_at(v, &v->s->ps_types[i], AUC_ROLE_PS);
	return ok ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "%s: no memory", v->s->file);
}

/* Adds the view of a type. False: no memory. */
static bool look_at(struct verify *v, const struct scenario_type *type, unsigned role)
{
	struct view *grown = realloc(v->views, (v->nviews + 1) * sizeof(*grown));

	if (!grown)
		return false;
	v->views = grown;
	v->views[v->nviews] = (struct view){.type = type, .role = role};
	return fill_view(v, &v->views[v->nviews++]);
}

static bool fill_view(const struct verify *v, struct view *w)
{
	size_t servers = v->s->nservers, cells = servers * v->s->slots, cell;
	long double least;
	unsigned s;
	uint64_t t;

	w->price = calloc(cells + 1, sizeof(*w->price));
	w->room = calloc(cells + 1, sizeof(*w->room));
	w->least = calloc(v->s->slots + 1, sizeof(*w->least));
	w->sum = calloc(servers + 1, sizeof(*w->sum));
	w->fit = calloc(servers + 1, sizeof(*w->fit));
	w->order = calloc(servers + 1, sizeof(*w->order));
	if (!w->price || !w->room || !w->least || !w->sum || !w->fit || !w->order)
		return false;
	for (t = 1; t <= v->s->slots; t++) {
		least = INFINITY;
		for (s = 0; s < servers; s++) {
			cell = (t - 1) * servers + s;
			w->price[cell] = books_cost(v->books, w->type, s, t, t, 1);
			w->room[cell] = books_room(v->books, w->type, w->role, s, t, t, NULL, 0);
			if (w->room[cell] >= 1)
				least = fminl(least, w->price[cell]);
		}
		w->least[t] = w->least[t - 1] + (isinf(least) ? 0 : least);
	}
	return true;
}

static void forget_from(struct verify *v, unsigned first)
{
	struct view *w;

	while (v->nviews > first) {
		w = &v->views[--v->nviews];
		free(w->price);
		free(w->room);
		free(w->least);
		free(w->sum);
		free(w->fit);
		free(w->order);
	}
}

static bool has_keys(const struct scenario_job *job)
{
	if (job->ngang)
		return job->has_utility;
	return job->has_utility && job->epochs && job->chunks && job->minibatches &&
	       job->gradient_mb >= 0 && job->has_worker_seconds && job->has_ps_seconds;
}

/* Raises v->best to the best payoff of JOB. False: no memory. */
static bool best_payoff(struct verify *v, const struct scenario_job *job)
{
	unsigned nw = v->s->nworker_types, np = v->s->nps_types, common = v->nviews, i, index;
	struct view **workers = calloc(job->nworker_seconds + 1, sizeof(struct view *));
	struct view **pss = calloc(job->nps_seconds + 1, sizeof(struct view *));
	bool ok = workers && pss;

	v->job = job;
	for (i = 0; i < v->s->nservers; i++)
		v->ready[i] = job->arrival + (uint64_t)books_ceil(scenario_upload(job, i));
	for (i = 0; i < job->ngang && ok; i++)
		ok = try_shape(v, &job->gang[i]);
	if (job->ngang) {
		free(workers);
		free(pss);
		return ok;
	}
	for (i = 0; i < job->nworker_types && ok; i++)
		ok = look_at(v, &job->worker_types[i], AUC_ROLE_WORKER);
	for (i = 0; i < job->nps_types && ok; i++)
		ok = look_at(v, &job->ps_types[i], AUC_ROLE_PS);
	for (i = 0; i < job->nworker_seconds && ok; i++) {
		index = job->worker_seconds[i].index;
		workers[i] = &v->views[index < nw ? index : common + index - nw];
		workers[i]->seconds = job->worker_seconds[i].value;
		workers[i]->from = 0;
	}
	for (i = 0; i < job->nps_seconds && ok; i++) {
		index = job->ps_seconds[i].index;
		pss[i] = &v->views[index < np ? nw + index
					      : common + job->nworker_types + index - np];
		pss[i]->seconds = job->ps_seconds[i].value;
		pss[i]->from = 0;
	}
	if (ok)
		search(v, workers, job->nworker_seconds, pss, job->nps_seconds);
	free(workers);
	free(pss);
	return ok;
}

/* All windows of a gang's shape. False: no memory. */
static bool try_shape(struct verify *v, const struct scenario_shape *shape)
{
	struct scenario_type node = books_node(shape);
	long double d = books_duration((long double)shape->seconds / v->s->slot_seconds, 1), value;
	struct view *w;
	uint64_t from;

	if (!look_at(v, &node, AUC_ROLE_WORKER))
		return false;
	w = &v->views[v->nviews - 1];
	for (from = v->job->arrival; from + d <= v->s->slots + 1; from++) {
		value = books_value(&v->job->utility, (long double)from + d - v->job->arrival);
		if (value <= v->best)
			break;
		if (value - shape->nodes * (w->least[from - 1 + (uint64_t)d] - w->least[from - 1]) *
				    (1 - SLACK) <=
		    v->best)
			continue;
		set_window(v, w, from, from + (uint64_t)d - 1);
		sort(v, w);
		for (unsigned i = 0; i < w->norder; i++)
			try_nodes(v, w, shape->nodes, value, i);
	}
	forget_from(v, v->nviews - 1);
	return true;
}

/* The cheapest servers; if they must be on one switch, those on that of place FIRST in the order,
 * where it is the first of it. */
static void try_nodes(struct verify *v, const struct view *w, uint64_t n, long double value,
		      unsigned first)
{
	const char *leaf = v->s->servers[w->order[first]].leaf;
	long double cost = 0;
	unsigned i;

	if (!v->job->within_switch && first)
		return;
	for (i = 0; i < first && v->job->within_switch; i++)
		if (!strcmp(v->s->servers[w->order[i]].leaf, leaf))
			return;
	for (i = first; i < w->norder && n && (!v->job->within_switch || *leaf); i++) {
		if (v->job->within_switch && strcmp(v->s->servers[w->order[i]].leaf, leaf) != 0)
			continue;
		cost += w->sum[w->order[i]];
		n--;
	}
	if (!n && value - cost > v->best && (!v->job->within_switch || *leaf))
		v->best = value - cost;
}

static void search(struct verify *v, struct view **workers, unsigned nworkers, struct view **pss,
		   unsigned nps)
{
	uint64_t completion;
	long double value;
	unsigned i, k;

	for (completion = v->job->arrival + 1; completion <= v->s->slots + 1; completion++) {
		value = books_value(&v->job->utility, completion - v->job->arrival);
		if (value <= v->best)
			return;
		for (i = 0; i < nworkers; i++)
			for (k = 0; k < nps; k++) {
				try_pair(v, workers[i], pss[k], completion, value, true);
				try_pair(v, workers[i], pss[k], completion, value, false);
			}
	}
}

/* All windows that end before COMPLETION. */
static void try_pair(struct verify *v, struct view *worker, struct view *ps, uint64_t completion,
		     long double value, bool colocated)
{
	long double work = books_work(v->books, v->job, worker->type, worker->seconds, ps->seconds,
				      colocated),
		    n, least;
	long double z = colocated ? 1 : books_ps(worker->type, ps->type, 1);
	uint64_t d, from;

	for (d = 1; d <= completion - v->job->arrival; d++) {
		from = completion - d;
		n = fmaxl(1, floorl(work / d) - 1);
		while (books_duration(work, n) > d)
			n++;
		if (n > v->job->chunks)
			continue;
		least = n * (worker->least[completion - 1] - worker->least[from - 1]) +
			z * (ps->least[completion - 1] - ps->least[from - 1]);
		if (value - least * (1 - SLACK) > v->best && books_duration(work, n) == d)
			try_window(v, worker, ps, from, completion - 1, (uint64_t)n, value,
				   colocated);
		if (n <= 1)
			return; /* longer windows are longer than the work */
	}
}

static void try_window(struct verify *v, struct view *worker, struct view *ps, uint64_t from,
		       uint64_t to, uint64_t n, long double value, bool colocated)
{
	long double least;
	unsigned s;

	set_window(v, worker, from, to);
	set_window(v, ps, from, to);
	if (!colocated) {
		sort(v, worker);
		least = cheapest(worker, n, UINT32_MAX);
		if (value - least <= v->best)
			return;
	} else {
		least = 0;
	}
	for (s = 0; s < v->s->nservers; s++)
		if (v->ready[s] <= from && ps->fit[s] >= 1 && value - least - ps->sum[s] > v->best)
			try_server(v, worker, ps, s, n, value, colocated);
}

/* PSs on SERVER. */
static void try_server(struct verify *v, struct view *worker, struct view *ps, unsigned server,
		       uint64_t n, long double value, bool colocated)
{
	uint64_t here, low = colocated ? n : 0, high = colocated ? n : n - 1;
	long double z, payoff;

	for (here = low; here <= high && here <= worker->fit[server]; here++) {
		z = colocated ? 1 : books_ps(worker->type, ps->type, n - here);
		if (z > ps->fit[server])
			continue;
		payoff = value - z * ps->sum[server];
		if (here)
			payoff -= here * worker->sum[server];
		if (payoff <= v->best ||
		    (here && books_room(v->books, worker->type, AUC_ROLE_WORKER, server,
					worker->from, worker->to, ps->type, (uint64_t)z) < here))
			continue;
		if (!colocated)
			payoff -= cheapest(worker, n - here, server);
		if (payoff > v->best)
			v->best = payoff;
	}
}

/* Windows with one end mostly grow. */
static void set_window(struct verify *v, struct view *w, uint64_t from, uint64_t to)
{
	size_t servers = v->s->nservers, s, cell;

	if (w->from == from && w->to == to)
		return;
	if (!w->from || w->to != to || w->from < from) {
		w->from = to + 1;
		w->to = to;
		for (s = 0; s < servers; s++) {
			w->sum[s] = 0;
			w->fit[s] = INFINITY;
		}
	}
	w->sorted = false;
	while (w->from > from) {
		w->from--;
		for (s = 0; s < servers; s++) {
			cell = (w->from - 1) * servers + s;
			w->sum[s] += w->price[cell];
			w->fit[s] = fminl(w->fit[s], w->room[cell]);
		}
	}
}

static int compare_sum(const void *a, const void *b, void *arg)
{
	const long double *sum = arg;
	unsigned i = *(const unsigned *)a, j = *(const unsigned *)b;

	if (sum[i] != sum[j])
		return sum[i] < sum[j] ? -1 : 1;
	return (i > j) - (i < j);
}

static void sort(struct verify *v, struct view *w)
{
	unsigned s;

	if (w->sorted)
		return;
	w->sorted = true;
	w->norder = 0;
	for (s = 0; s < v->s->nservers; s++)
		if (w->fit[s] >= 1 && v->ready[s] <= w->from)
			w->order[w->norder++] = s;
	qsort_r(w->order, w->norder, sizeof(*w->order), compare_sum, w->sum);
}

/* What N workers cost at least, none on server WITHOUT; INFINITY: they do not fit. */
static long double cheapest(const struct view *w, uint64_t n, unsigned without)
{
	long double cost = 0, left = n, here;
	unsigned i;

	for (i = 0; i < w->norder && left > 0; i++) {
		if (w->order[i] == without)
			continue;
		here = fminl(left, w->fit[w->order[i]]);
		cost += here * w->sum[w->order[i]];
		left -= here;
	}
	return left > 0 ? INFINITY : cost;
}
