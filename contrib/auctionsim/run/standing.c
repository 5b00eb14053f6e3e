/* standing.c - see standing.h */
#include "config.h"

#include <stdlib.h>

#include "auctionsim/run/standing.h"
#include "auctionsim/scenario/scenario_market.h"

struct bid {
	unsigned index;
	uint64_t seen; /* changes when it was decided last */
	double left;   /* what its user had then */
	unsigned rank;
};

struct standing {
	const struct scenario *s;
	unsigned *place; /* by job: in the order of arrival */
	unsigned n;
	struct bid *bids; /* in the order of arrival */
	uint64_t changes, priced;
	uint64_t *freed; /* by server: the last change there */
};

static void forget(struct standing *st, auc_slot now);
static bool may_use(const struct standing *st, const struct auc_market *m, const struct bid *b,
		    const double *left);
static bool could_hold(const struct standing *st, const struct auc_market *m,
		       const struct scenario_job *job, unsigned server);
static bool holds(const struct auc_market *m, unsigned server, const struct auc_named *tres,
		  unsigned n);
static int compare(const void *a, const void *b, void *arg);

enum auc_code standing_open(const struct scenario *s, const unsigned *order, struct standing **out,
			    struct auc_err *err)
{
	struct standing *st = calloc(1, sizeof(*st));

	*out = st;
	if (st) {
		st->s = s;
		st->place = calloc(s->njobs + 1, sizeof(*st->place));
		st->bids = calloc(s->njobs + 1, sizeof(*st->bids));
		st->freed = calloc(s->nservers + 1, sizeof(*st->freed));
	}
	if (!st || !st->place || !st->bids || !st->freed) {
		standing_close(st);
		*out = NULL;
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	}
	for (unsigned i = 0; i < s->njobs; i++)
		st->place[order[i]] = i;
	return AUC_OK;
}

void standing_close(struct standing *st)
{
	if (!st)
		return;
	free(st->place);
	free(st->bids);
	free(st->freed);
	free(st);
}

void standing_add(struct standing *st, unsigned index, double left)
{
	st->bids[st->n++] = (struct bid){.index = index, .seen = st->changes, .left = left};
}

void standing_freed(struct standing *st, unsigned server)
{
	st->freed[server] = ++st->changes;
}

void standing_priced(struct standing *st)
{
	st->priced = ++st->changes;
}

bool standing_any(const struct standing *st, auc_slot now)
{
	const struct scenario_job *job;

	for (unsigned i = 0; i < st->n; i++) {
		job = &st->s->jobs[st->bids[i].index];
		if (job->arrival + job->stands >= (uint64_t)now)
			return true;
	}
	return false;
}

unsigned standing_due(struct standing *st, const struct auc_market *m, auc_slot now,
		      const double *left, unsigned *list)
{
	unsigned n = 0;

	forget(st, now);
	/* All that stand count for whose turn it is, looked at again or not. */
	for (unsigned i = 0; i < st->n; i++) {
		unsigned user = st->s->jobs[st->bids[i].index].user;

		st->bids[i].rank = 0;
		for (unsigned k = 0; k < i && user; k++)
			st->bids[i].rank += st->s->jobs[st->bids[k].index].user == user;
	}
	for (unsigned i = 0; i < st->n; i++)
		if (may_use(st, m, &st->bids[i], left)) {
			unsigned purse = st->s->jobs[st->bids[i].index].purse;

			st->bids[i].seen = st->changes;
			st->bids[i].left = purse ? left[purse - 1] : 0;
			list[n++] = i;
		}
	qsort_r(list, n, sizeof(*list), compare, st);
	for (unsigned i = 0; i < n; i++)
		list[i] = st->bids[list[i]].index;
	return n;
}

void standing_accepted(struct standing *st, unsigned index)
{
	unsigned n = 0;

	for (unsigned i = 0; i < st->n; i++)
		if (st->bids[i].index != index)
			st->bids[n++] = st->bids[i];
	st->n = n;
}

/* Those whose time is over. */
static void forget(struct standing *st, auc_slot now)
{
	const struct scenario_job *job;
	unsigned n = 0;

	for (unsigned i = 0; i < st->n; i++) {
		job = &st->s->jobs[st->bids[i].index];
		if (job->arrival + job->stands >= (uint64_t)now)
			st->bids[n++] = st->bids[i];
	}
	st->n = n;
}

static bool may_use(const struct standing *st, const struct auc_market *m, const struct bid *b,
		    const double *left)
{
	const struct scenario_job *job = &st->s->jobs[b->index];

	if (st->priced > b->seen || (job->purse && left[job->purse - 1] != b->left))
		return true;
	for (unsigned s = 0; s < st->s->nservers; s++)
		if (st->freed[s] > b->seen && could_hold(st, m, job, s))
			return true;
	return false;
}

/* Whether SERVER holds a worker, a PS or a node of JOB if it is empty. */
static bool could_hold(const struct standing *st, const struct auc_market *m,
		       const struct scenario_job *job, unsigned server)
{
	const struct scenario *s = st->s;
	const struct scenario_type *type;

	if (scenario_market_is_own(job) || (!job->ngang && !job->has_worker_seconds))
		return true;
	for (unsigned i = 0; i < job->ngang; i++)
		if (holds(m, server, job->gang[i].per_node, job->gang[i].nper_node))
			return true;
	for (unsigned i = 0; i < job->nworker_seconds; i++) {
		type = &s->worker_types[job->worker_seconds[i].index];
		if (holds(m, server, type->tres, type->ntres))
			return true;
	}
	for (unsigned i = 0; i < job->nps_seconds; i++) {
		type = &s->ps_types[job->ps_seconds[i].index];
		if (holds(m, server, type->tres, type->ntres))
			return true;
	}
	return false;
}

static bool holds(const struct auc_market *m, unsigned server, const struct auc_named *tres,
		  unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int k = auc_market_find_tres(m, tres[i].name);

		if (tres[i].value > 0 &&
		    (k < 0 || auc_market_capacity(m, server, (unsigned)k) < tres[i].value))
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct standing *st = arg;
	const struct bid *x = &st->bids[*(const unsigned *)a], *y = &st->bids[*(const unsigned *)b];

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return st->place[x->index] < st->place[y->index] ? -1 : 1;
}
