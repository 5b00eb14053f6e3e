/* plan.c - see plan.h. The one place where a plan's cost and payment are computed. */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/list.h"
#include "market/cells.h"
#include "market/timeline.h"
#include "market/plan.h"
#include "market/utility.h"

#define FRONT_TIE  1e-9
#define SLOT_LIMIT INT64_C(1000000000000000) /* beyond any clock: sums of slots cannot overflow */

static enum auc_code grow(void **array, unsigned *alloc, unsigned used, size_t size,
			  struct auc_err *err);
static void add_slot_cost(const struct auc_plan *p, const struct auc_market *m,
			  const struct auc_run *run, auc_slot t, double *cost);
static bool add_types(struct json_object *o, const struct auc_plan *p, const struct auc_market *m);
static struct json_object *run_to_json(const struct auc_plan *p, const struct auc_run *run,
				       const struct auc_market *m);
static struct json_object *gang_to_json(const struct auc_plan *p, const struct auc_run *run,
					const struct auc_market *m);
static enum auc_code read_nodes(struct json_object *o, const struct auc_market *m,
				struct auc_plan *p, struct auc_err *err);
static enum auc_code read_head(struct json_object *o, const struct auc_market *m,
			       struct auc_plan *p, struct auc_err *err);
static enum auc_code read_run(struct json_object *o, const struct auc_market *m, struct auc_plan *p,
			      struct auc_err *err);
static enum auc_code read_slot(struct json_object *o, const char *key, auc_slot *slot,
			       struct auc_err *err);
static enum auc_code read_type(struct json_object *o, const char *key, const struct auc_market *m,
			       int (*find)(const struct auc_market *, const char *), unsigned *type,
			       struct auc_err *err);
static enum auc_code get_counts(struct json_object *run, const char *key,
				struct json_object **counts, struct auc_err *err);
static enum auc_code read_counts(struct json_object *counts, const char *key,
				 const struct auc_market *m, struct auc_share *shares, unsigned *n,
				 struct auc_err *err);
static int by_server(const void *a, const void *b);
static bool add_chunks(struct json_object *o, const struct auc_plan *p, const struct auc_market *m);
static struct json_object *chunk_to_json(const struct auc_plan *p, const struct auc_plan_chunk *c,
					 const struct auc_market *m);
static enum auc_code read_chunks(struct json_object *o, const struct auc_market *m,
				 struct auc_plan *p, struct auc_err *err);
static enum auc_code read_chunk(struct json_object *o, const struct auc_market *m,
				struct auc_plan *p, struct auc_err *err);
static enum auc_code copy_array(void **to, unsigned *alloc, const void *from, unsigned n,
				size_t size, struct auc_err *err);
static enum auc_code match_type(const struct auc_market *m, bool ps, unsigned *type,
				struct json_object *o, struct auc_err *err);

void auc_plan_init(struct auc_plan *p)
{
	memset(p, 0, sizeof(*p));
}

void auc_plan_reset(struct auc_plan *p)
{
	struct auc_plan kept = *p;

	memset(p, 0, sizeof(*p));
	p->runs = kept.runs;
	p->runs_alloc = kept.runs_alloc;
	p->shares = kept.shares;
	p->shares_alloc = kept.shares_alloc;
	p->moves = kept.moves;
	p->moves_alloc = kept.moves_alloc;
	p->chunks = kept.chunks;
	p->chunks_alloc = kept.chunks_alloc;
	p->spans = kept.spans;
	p->spans_alloc = kept.spans_alloc;
}

void auc_plan_clear(struct auc_plan *p)
{
	free(p->runs);
	free(p->shares);
	free(p->moves);
	free(p->chunks);
	free(p->spans);
	memset(p, 0, sizeof(*p));
}

enum auc_code auc_plan_copy(struct auc_plan *to, const struct auc_plan *from, struct auc_err *err)
{
	struct auc_plan head = *from;
	enum auc_code rc;

	auc_plan_reset(to);
	rc = copy_array((void **)&to->runs, &to->runs_alloc, from->runs, from->nruns,
			sizeof(*to->runs), err);
	if (rc == AUC_OK)
		rc = copy_array((void **)&to->shares, &to->shares_alloc, from->shares,
				from->nshares, sizeof(*to->shares), err);
	if (rc == AUC_OK)
		rc = copy_array((void **)&to->chunks, &to->chunks_alloc, from->chunks,
				from->nchunks, sizeof(*to->chunks), err);
	if (rc == AUC_OK)
		rc = copy_array((void **)&to->spans, &to->spans_alloc, from->spans, from->nspans,
				sizeof(*to->spans), err);
	if (rc == AUC_OK)
		rc = copy_array((void **)&to->moves, &to->moves_alloc, from->moves, from->nmoves,
				sizeof(*to->moves), err);
	if (rc != AUC_OK)
		return rc;
	head.runs = to->runs;
	head.runs_alloc = to->runs_alloc;
	head.shares = to->shares;
	head.shares_alloc = to->shares_alloc;
	head.chunks = to->chunks;
	head.chunks_alloc = to->chunks_alloc;
	head.spans = to->spans;
	head.spans_alloc = to->spans_alloc;
	head.moves = to->moves;
	head.moves_alloc = to->moves_alloc;
	*to = head;
	return AUC_OK;
}

static enum auc_code copy_array(void **to, unsigned *alloc, const void *from, unsigned n,
				size_t size, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	while (*alloc < n && rc == AUC_OK)
		rc = grow(to, alloc, *alloc, size, err);
	if (n && rc == AUC_OK)
		memcpy(*to, from, n * size);
	return rc;
}

enum auc_code auc_plan_add_run(struct auc_plan *p, auc_slot from, auc_slot to, struct auc_err *err)
{
	enum auc_code rc;

	if (from > to || from < -SLOT_LIMIT || to > SLOT_LIMIT ||
	    (p->nruns && from <= p->runs[p->nruns - 1].to))
		return auc_err_set(err, AUC_EINVAL,
				   "run %lld..%lld: runs must be ordered and disjoint",
				   (long long)from, (long long)to);
	rc = grow((void **)&p->runs, &p->runs_alloc, p->nruns, sizeof(*p->runs), err);
	if (rc != AUC_OK)
		return rc;
	p->runs[p->nruns++] = (struct auc_run){.from = from, .to = to, .first_share = p->nshares};
	return AUC_OK;
}

enum auc_code auc_plan_add_share(struct auc_plan *p, unsigned server, unsigned workers, unsigned ps,
				 struct auc_err *err)
{
	struct auc_run *run = p->nruns ? &p->runs[p->nruns - 1] : NULL;
	enum auc_code rc;

	if (!run)
		return auc_err_set(err, AUC_EINVAL, "a share needs a run");
	if (!workers && !ps)
		return auc_err_set(err, AUC_EINVAL, "server %u: a share without workers and PSs",
				   server);
	if (run->nshares && server <= p->shares[p->nshares - 1].server)
		return auc_err_set(err, AUC_EINVAL, "server %u: shares must ascend by server",
				   server);
	rc = grow((void **)&p->shares, &p->shares_alloc, p->nshares, sizeof(*p->shares), err);
	if (rc != AUC_OK)
		return rc;
	p->shares[p->nshares++] =
		(struct auc_share){.server = server, .workers = workers, .ps = ps};
	run->nshares++;
	return AUC_OK;
}

enum auc_code auc_plan_add_move(struct auc_plan *p, auc_slot slot, unsigned from, unsigned to,
				unsigned chunks, struct auc_err *err)
{
	const struct auc_move *last = p->nmoves ? &p->moves[p->nmoves - 1] : NULL;
	enum auc_code rc;

	if (!chunks || from == to || (last && slot < last->slot))
		return auc_err_set(err, AUC_EINVAL,
				   "slot %lld: moves are of chunks, between servers, in order",
				   (long long)slot);
	rc = grow((void **)&p->moves, &p->moves_alloc, p->nmoves, sizeof(*p->moves), err);
	if (rc != AUC_OK)
		return rc;
	p->moves[p->nmoves++] =
		(struct auc_move){.slot = slot, .from = from, .to = to, .chunks = chunks};
	return AUC_OK;
}

enum auc_code auc_plan_add_chunk(struct auc_plan *p, unsigned server, unsigned worker,
				 struct auc_err *err)
{
	enum auc_code rc =
		grow((void **)&p->chunks, &p->chunks_alloc, p->nchunks, sizeof(*p->chunks), err);

	if (rc != AUC_OK)
		return rc;
	p->chunks[p->nchunks++] = (struct auc_plan_chunk){
		.server = server, .worker = worker, .first_span = p->nspans};
	return AUC_OK;
}

enum auc_code auc_plan_add_span(struct auc_plan *p, auc_slot from, auc_slot to, struct auc_err *err)
{
	struct auc_plan_chunk *c = p->nchunks ? &p->chunks[p->nchunks - 1] : NULL;
	struct auc_span *last = c && c->nspans ? &p->spans[p->nspans - 1] : NULL;
	enum auc_code rc;

	if (!c || from > to || from < -SLOT_LIMIT || to > SLOT_LIMIT || (last && from <= last->to))
		return auc_err_set(
			err, AUC_EINVAL,
			"slots %lld..%lld: those of a chunk must be ordered and disjoint",
			(long long)from, (long long)to);
	if (last && from == last->to + 1) {
		last->to = to;
		return AUC_OK;
	}
	rc = grow((void **)&p->spans, &p->spans_alloc, p->nspans, sizeof(*p->spans), err);
	if (rc != AUC_OK)
		return rc;
	p->spans[p->nspans++] = (struct auc_span){from, to};
	c->nspans++;
	return AUC_OK;
}

/* Member by member: a move has bytes that belong to none. */
static bool same_moves(const struct auc_move *a, const struct auc_move *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a[i].slot != b[i].slot || a[i].from != b[i].from || a[i].to != b[i].to ||
		    a[i].chunks != b[i].chunks)
			return false;
	return true;
}

/* What only gangs have. */
static bool same_gang(const struct auc_plan *a, const struct auc_plan *b)
{
	return a->gang == b->gang && a->shape == b->shape && a->within_switch == b->within_switch &&
	       a->whole == b->whole && a->block == b->block && a->missing == b->missing &&
	       !memcmp(a->amount, b->amount, sizeof(a->amount));
}

bool auc_plan_same(const struct auc_plan *a, const struct auc_plan *b)
{
	return same_gang(a, b) && a->worker_type == b->worker_type && a->ps_type == b->ps_type &&
	       a->colocated == b->colocated && a->arrival == b->arrival && a->start == b->start &&
	       a->completion == b->completion && a->lost == b->lost && a->due == b->due &&
	       a->nruns == b->nruns && a->nshares == b->nshares && a->nchunks == b->nchunks &&
	       a->nspans == b->nspans && a->nmoves == b->nmoves && a->chunk_mb == b->chunk_mb &&
	       a->exchange_mb == b->exchange_mb && same_moves(a->moves, b->moves, a->nmoves) &&
	       (!a->nruns || !memcmp(a->runs, b->runs, a->nruns * sizeof(*a->runs))) &&
	       (!a->nshares || !memcmp(a->shares, b->shares, a->nshares * sizeof(*a->shares))) &&
	       (!a->nchunks || !memcmp(a->chunks, b->chunks, a->nchunks * sizeof(*a->chunks))) &&
	       (!a->nspans || !memcmp(a->spans, b->spans, a->nspans * sizeof(*a->spans)));
}

double auc_plan_cost(const struct auc_plan *p, const struct auc_market *m)
{
	const struct auc_run *run;
	double cost = 0;
	auc_slot from, to, t;

	for (run = p->runs; run < p->runs + p->nruns; run++) {
		from = run->from;
		to = run->to;
		if (!auc_market_clip(m, &from, &to))
			continue;
		for (t = from; t <= to; t++)
			add_slot_cost(p, m, run, t, &cost);
	}
	return cost + auc_plan_traffic_cost(p, m);
}

/* What a unit of TRES of SERVER costs its owner in the slots of RUN. */
static double floor_of(const struct auc_market *m, unsigned server, unsigned tres,
		       const struct auc_run *run)
{
	double sum = 0;

	if (!m->servers[server].hourly)
		return m->servers[server].floor[tres] * (double)(run->to - run->from + 1);
	for (auc_slot t = run->from; t <= run->to; t++)
		sum += auc_cells_floor(m, server, tres, t);
	return sum;
}

double auc_plan_floor(const struct auc_plan *p, const struct auc_market *m)
{
	const struct auc_run *run;
	const struct auc_share *share;
	double sum = 0;

	for (run = p->runs; m->floors && run < p->runs + p->nruns; run++)
		for (unsigned i = 0; i < run->nshares; i++) {
			share = &p->shares[run->first_share + i];
			for (unsigned k = 0; k < m->ntres; k++)
				sum += floor_of(m, share->server, k, run) *
				       auc_plan_amount(p, m, share->workers, share->ps, k);
		}
	return sum;
}

double auc_plan_front(const struct auc_plan *p, const struct auc_market *m)
{
	double cost = 0, most = 0;
	auc_slot passed = 0, t;

	for (const struct auc_run *run = p->runs; run < p->runs + p->nruns; run++)
		for (t = run->from; t <= run->to; t++) {
			if (t >= auc_market_first(m) && t <= auc_market_last(m))
				add_slot_cost(p, m, run, t, &cost);
			most = fmax(most, cost / (double)++passed);
		}
	/* what rounding adds is not more */
	return passed && most > (1 + FRONT_TIE) * cost / (double)passed ? most : 0;
}

/* Adds to *COST what slot T of RUN, in the window, costs. */
static void add_slot_cost(const struct auc_plan *p, const struct auc_market *m,
			  const struct auc_run *run, auc_slot t, double *cost)
{
	const struct auc_share *share = p->shares + run->first_share, *end = share + run->nshares;

	for (; share < end; share++) {
		int whole = auc_market_whole(m, share->server);
		unsigned s = whole < 0 ? share->server : (unsigned)whole;
		const double *unit = m->unit_price + auc_units(m, (unsigned)(t - m->first), s);

		for (unsigned k = 0; k < m->ntres; k++)
			*cost += unit[(size_t)k * m->nservers] *
				 auc_plan_amount(p, m, share->workers, share->ps, k);
	}
}

double auc_plan_amount(const struct auc_plan *p, const struct auc_market *m, unsigned workers,
		       unsigned pss, unsigned tres)
{
	if (p->gang)
		return workers * p->amount[tres];
	return workers * m->types[p->worker_type].amount[tres] +
	       pss * m->types[auc_ps_index(m, p->ps_type)].amount[tres];
}

auc_money auc_plan_payment(const struct auc_plan *p)
{
	auc_money cost = auc_money_from(p->cost), value = auc_plan_value(p);

	if (cost > value)
		cost = value;
	return cost > 0 ? cost : 0;
}

auc_money auc_plan_value(const struct auc_plan *p)
{
	auc_money value = auc_money_from(p->value);

	/* from() rounds to nearest: step down where that went up */
	return value > 0 && (double)value > p->value * (double)AUC_CREDIT ? value - 1 : value;
}

struct json_object *auc_plan_to_json(const struct auc_plan *p, const struct auc_market *m)
{
	struct json_object *o = json_object_new_object(), *runs = json_object_new_array();
	char text[AUC_NUMBER_LEN];
	unsigned i;
	bool ok;

	ok = o && runs && (p->gang ? auc_plan_add_gang(o, p, m) : add_types(o, p, m)) &&
	     auc_json_add(o, "arrival", json_object_new_int64(p->arrival)) &&
	     auc_json_add(o, "start", json_object_new_int64(p->start)) &&
	     auc_json_add(o, "completion", json_object_new_int64(p->completion));
	if (ok && p->lost)
		ok = auc_json_add(o, "lost", json_object_new_int64(p->lost));
	if (ok && p->front > 0)
		ok = auc_json_add(
			o, "front",
			json_object_new_double_s(p->front, auc_number_str(p->front, text)));
	for (i = 0; ok && i < p->nruns; i++)
		ok = auc_json_push(runs, run_to_json(p, &p->runs[i], m));
	if (!ok)
		json_object_put(runs);
	if (ok && auc_json_add(o, "plan", runs) && add_chunks(o, p, m) &&
	    auc_plan_add_traffic(o, p, m))
		return o;
	json_object_put(o);
	return NULL;
}

static bool add_types(struct json_object *o, const struct auc_plan *p, const struct auc_market *m)
{
	return auc_json_add_text(o, "worker_type",
				 auc_market_worker_type_name(m, p->worker_type)) &&
	       auc_json_add_text(o, "ps_type", auc_market_ps_type_name(m, p->ps_type)) &&
	       auc_json_add_bool(o, "colocated", p->colocated);
}

enum auc_code auc_plan_from_json(struct json_object *o, const struct auc_market *m,
				 struct auc_plan *p, struct auc_err *err)
{
	struct json_object *runs;
	enum auc_code rc;
	size_t i;

	auc_plan_reset(p);
	if (!json_object_is_type(o, json_type_object))
		return auc_err_set(err, AUC_EINVAL, "plan: expected an object");
	rc = read_head(o, m, p, err);
	if (rc != AUC_OK)
		return rc;
	if (!json_object_object_get_ex(o, "plan", &runs) ||
	    !json_object_is_type(runs, json_type_array) || !json_object_array_length(runs))
		return auc_err_set(err, AUC_EINVAL, "plan: expected an array of runs");
	for (i = 0; i < json_object_array_length(runs) && rc == AUC_OK; i++)
		rc = read_run(json_object_array_get_idx(runs, i), m, p, err);
	if (rc != AUC_OK)
		return rc;
	rc = auc_plan_check(p, err);
	if (rc == AUC_OK)
		rc = read_chunks(o, m, p, err);
	return rc == AUC_OK ? auc_plan_read_traffic(o, m, p, err) : rc;
}

enum auc_code auc_plan_check(const struct auc_plan *p, struct auc_err *err)
{
	if (p->block && p->nruns > 1)
		return auc_err_set(err, AUC_EINVAL, "plan: expected one run of a block, found %u",
				   p->nruns);
	if (p->nruns && p->arrival <= p->start && p->start == p->runs[0].from &&
	    p->completion == p->runs[p->nruns - 1].to + 1)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL,
			   "plan: arrival %lld, start %lld, completion %lld do not agree with the "
			   "runs",
			   (long long)p->arrival, (long long)p->start, (long long)p->completion);
}

enum auc_code auc_plan_match_types(struct auc_plan *p, const struct auc_market *m,
				   struct json_object *o, struct auc_err *err)
{
	enum auc_code rc;

	if (p->gang)
		return AUC_OK;
	rc = match_type(m, false, &p->worker_type, o, err);
	return rc == AUC_OK ? match_type(m, true, &p->ps_type, o, err) : rc;
}

static enum auc_code match_type(const struct auc_market *m, bool ps, unsigned *type,
				struct json_object *o, struct auc_err *err)
{
	const char *name =
		ps ? auc_market_ps_type_name(m, *type) : auc_market_worker_type_name(m, *type);
	struct auc_named tres[AUC_TRES_MAX];
	unsigned ntres;
	enum auc_code rc;
	int found;

	rc = auc_json_amounts(o, ps ? "ps_tres" : "worker_tres", AUC_TRES_MAX, tres, &ntres, err);
	if (rc != AUC_OK)
		return rc;
	found = auc_market_match_type(m, ps, name, tres, ntres);
	if (found < 0)
		return auc_err_set(err, AUC_ENOENT, "%s: '%s' was another one when it was sold",
				   ps ? "ps_type" : "worker_type", name);
	*type = (unsigned)found;
	return AUC_OK;
}

/* Makes room for one more element after USED. */
static enum auc_code grow(void **array, unsigned *alloc, unsigned used, size_t size,
			  struct auc_err *err)
{
	unsigned more = *alloc * 2 + 4;
	void *grown;

	if (used < *alloc)
		return AUC_OK;
	grown = more > *alloc ? realloc(*array, more * size) : NULL;
	if (!grown)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a plan");
	*array = grown;
	*alloc = more;
	return AUC_OK;
}

static struct json_object *run_to_json(const struct auc_plan *p, const struct auc_run *run,
				       const struct auc_market *m)
{
	struct json_object *o, *workers, *ps;
	const struct auc_share *share = p->shares + run->first_share, *end = share + run->nshares;
	const char *name;
	bool ok;

	if (p->gang)
		return gang_to_json(p, run, m);
	o = json_object_new_object();
	workers = json_object_new_object();
	ps = json_object_new_object();
	ok = o && workers && ps;

	for (; ok && share < end; share++) {
		name = auc_market_server_name(m, share->server);
		if (share->workers)
			ok = auc_json_add(workers, name, json_object_new_int64(share->workers));
		if (ok && share->ps)
			ok = auc_json_add(ps, name, json_object_new_int64(share->ps));
	}
	ok = ok && auc_json_add(o, "from", json_object_new_int64(run->from)) &&
	     auc_json_add(o, "to", json_object_new_int64(run->to)) &&
	     !json_object_object_add(o, "workers", json_object_get(workers)) &&
	     !json_object_object_add(o, "ps", json_object_get(ps));
	json_object_put(workers);
	json_object_put(ps);
	return auc_json_if(ok, o);
}

static struct json_object *gang_to_json(const struct auc_plan *p, const struct auc_run *run,
					const struct auc_market *m)
{
	struct json_object *o = json_object_new_object(), *nodes = json_object_new_array();
	bool ok = o && nodes && auc_json_add_int(o, "from", run->from) &&
		  auc_json_add_int(o, "to", run->to);

	for (unsigned i = 0; ok && i < run->nshares; i++)
		ok = auc_json_push(nodes, json_object_new_string(auc_market_server_name(
						  m, p->shares[run->first_share + i].server)));
	ok = auc_json_add_if(ok, o, "nodes", nodes);
	return auc_json_if(ok, o);
}

static enum auc_code read_head(struct json_object *o, const struct auc_market *m,
			       struct auc_plan *p, struct auc_err *err)
{
	struct json_object *colocated, *lost, *front;
	enum auc_code rc;

	p->gang = auc_plan_json_is_gang(o);
	rc = p->gang ? auc_plan_read_gang(o, m, p, err)
		     : read_type(o, "worker_type", m, auc_market_find_worker_type, &p->worker_type,
				 err);
	if (rc == AUC_OK && !p->gang)
		rc = read_type(o, "ps_type", m, auc_market_find_ps_type, &p->ps_type, err);
	if (rc == AUC_OK)
		rc = read_slot(o, "arrival", &p->arrival, err);
	if (rc == AUC_OK)
		rc = read_slot(o, "start", &p->start, err);
	if (rc == AUC_OK)
		rc = read_slot(o, "completion", &p->completion, err);
	if (rc != AUC_OK)
		return rc;
	if (!p->gang && (!json_object_object_get_ex(o, "colocated", &colocated) ||
			 !json_object_is_type(colocated, json_type_boolean)))
		return auc_err_set(err, AUC_EINVAL, "colocated: expected true or false");
	p->colocated = !p->gang && json_object_get_boolean(colocated);
	p->front = 0;
	if (json_object_object_get_ex(o, "front", &front)) {
		p->front = json_object_get_double(front);
		if ((!json_object_is_type(front, json_type_double) &&
		     !json_object_is_type(front, json_type_int)) ||
		    !(p->front >= 0 && p->front <= AUC_VALUE_MAX))
			return auc_err_set(err, AUC_EINVAL, "front: expected credits, 0 to %g",
					   AUC_VALUE_MAX);
	}
	if (!json_object_object_get_ex(o, "lost", &lost))
		return AUC_OK;
	if (!json_object_is_type(lost, json_type_int) || json_object_get_int64(lost) < 0 ||
	    json_object_get_int64(lost) > INT_MAX)
		return auc_err_set(err, AUC_EINVAL, "lost: expected a number of slots");
	p->lost = (unsigned)json_object_get_int64(lost);
	return AUC_OK;
}

static enum auc_code read_run(struct json_object *o, const struct auc_market *m, struct auc_plan *p,
			      struct auc_err *err)
{
	struct json_object *workers, *ps;
	struct auc_share *shares = NULL;
	auc_slot from, to;
	unsigned n = 0, i;
	enum auc_code rc;

	if (!json_object_is_type(o, json_type_object))
		return auc_err_set(err, AUC_EINVAL, "plan: expected an object for each run");
	rc = read_slot(o, "from", &from, err);
	if (rc == AUC_OK)
		rc = read_slot(o, "to", &to, err);
	if (rc == AUC_OK && p->gang) {
		rc = auc_plan_add_run(p, from, to, err);
		return rc == AUC_OK ? read_nodes(o, m, p, err) : rc;
	}
	if (rc == AUC_OK)
		rc = get_counts(o, "workers", &workers, err);
	if (rc == AUC_OK)
		rc = get_counts(o, "ps", &ps, err);
	if (rc == AUC_OK)
		rc = auc_plan_add_run(p, from, to, err);
	if (rc != AUC_OK)
		return rc;
	shares = calloc((size_t)json_object_object_length(workers) +
				(size_t)json_object_object_length(ps),
			sizeof(*shares));
	if (!shares)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a plan");
	rc = read_counts(workers, "workers", m, shares, &n, err);
	if (rc == AUC_OK)
		rc = read_counts(ps, "ps", m, shares, &n, err);
	if (rc == AUC_OK)
		qsort(shares, n, sizeof(*shares), by_server);
	for (i = 0; i < n && rc == AUC_OK; i++) {
		/* Workers and PSs of one server are one share. */
		if (i + 1 < n && shares[i].server == shares[i + 1].server) {
			shares[i + 1].workers += shares[i].workers;
			shares[i + 1].ps += shares[i].ps;
		} else {
			rc = auc_plan_add_share(p, shares[i].server, shares[i].workers,
						shares[i].ps, err);
		}
	}
	free(shares);
	return rc;
}

/* The nodes of a gang's run, in whatever order. */
static enum auc_code read_nodes(struct json_object *o, const struct auc_market *m,
				struct auc_plan *p, struct auc_err *err)
{
	struct auc_share *shares;
	struct json_object *nodes, *name;
	enum auc_code rc = AUC_OK;
	size_t n, i;
	int server;

	if (!json_object_object_get_ex(o, "nodes", &nodes) ||
	    !json_object_is_type(nodes, json_type_array) || !(n = json_object_array_length(nodes)))
		return auc_err_set(err, AUC_EINVAL, "nodes: expected an array of servers");
	shares = calloc(n, sizeof(*shares));
	if (!shares)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a plan");
	for (i = 0; i < n && rc == AUC_OK; i++) {
		name = json_object_array_get_idx(nodes, i);
		if (!json_object_is_type(name, json_type_string)) {
			rc = auc_err_set(err, AUC_EINVAL, "nodes: expected names of servers");
			break;
		}
		server = auc_market_find_server(m, json_object_get_string(name));
		if (server < 0)
			rc = auc_err_set(err, AUC_ENOENT,
					 "nodes: server '%.80s' is not in this cluster",
					 json_object_get_string(name));
		shares[i] = (struct auc_share){.server = (unsigned)server, .workers = 1};
	}
	if (rc == AUC_OK)
		qsort(shares, n, sizeof(*shares), by_server);
	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = auc_plan_add_share(p, shares[i].server, 1, 0, err);
	free(shares);
	return rc;
}

static enum auc_code read_slot(struct json_object *o, const char *key, auc_slot *slot,
			       struct auc_err *err)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_int) ||
	    json_object_get_int64(v) < -SLOT_LIMIT || json_object_get_int64(v) > SLOT_LIMIT)
		return auc_err_set(err, AUC_EINVAL, "%s: expected a slot", key);
	*slot = json_object_get_int64(v);
	return AUC_OK;
}

static enum auc_code read_type(struct json_object *o, const char *key, const struct auc_market *m,
			       int (*find)(const struct auc_market *, const char *), unsigned *type,
			       struct auc_err *err)
{
	struct json_object *v;
	int found;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return auc_err_set(err, AUC_EINVAL, "%s: expected a name", key);
	found = find(m, json_object_get_string(v));
	if (found < 0)
		return auc_err_set(err, AUC_ENOENT, "%s: '%.80s' is not in this cluster", key,
				   json_object_get_string(v));
	*type = (unsigned)found;
	return AUC_OK;
}

/* The object of counts by server under KEY: not empty. */
static enum auc_code get_counts(struct json_object *run, const char *key,
				struct json_object **counts, struct auc_err *err)
{
	if (json_object_object_get_ex(run, key, counts) &&
	    json_object_is_type(*counts, json_type_object) && json_object_object_length(*counts))
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL, "%s: expected counts by server", key);
}

/* Appends a share for each of the counts under KEY, checked: servers known, counts 1..INT_MAX. */
static enum auc_code read_counts(struct json_object *counts, const char *key,
				 const struct auc_market *m, struct auc_share *shares, unsigned *n,
				 struct auc_err *err)
{
	bool ps = !strcmp(key, "ps");
	unsigned count;
	int found;

	json_object_object_foreach(counts, server, v)
	{
		found = auc_market_find_server(m, server);
		if (found < 0)
			return auc_err_set(err, AUC_ENOENT,
					   "%s: server '%.80s' is not in this cluster", key,
					   server);
		if (!json_object_is_type(v, json_type_int) || json_object_get_int64(v) < 1 ||
		    json_object_get_int64(v) > INT_MAX)
			return auc_err_set(err, AUC_EINVAL,
					   "%s: server '%.80s': expected a count >= 1", key,
					   server);
		count = (unsigned)json_object_get_int64(v);
		shares[(*n)++] = (struct auc_share){
			.server = (unsigned)found, .workers = ps ? 0 : count, .ps = ps ? count : 0};
	}
	return AUC_OK;
}

static int by_server(const void *a, const void *b)
{
	const struct auc_share *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}

/* -- chunks -- */

static bool add_chunks(struct json_object *o, const struct auc_plan *p, const struct auc_market *m)
{
	struct json_object *chunks, *chunk;
	unsigned i;

	if (!p->nchunks)
		return true;
	chunks = json_object_new_array();
	if (!chunks || !auc_json_add(o, "due", json_object_new_int64(p->due)) ||
	    !auc_json_add(o, "chunks", chunks))
		return false;
	for (i = 0; i < p->nchunks; i++) {
		chunk = chunk_to_json(p, &p->chunks[i], m);
		if (!auc_json_push(chunks, chunk))
			return false;
	}
	return true;
}

static struct json_object *chunk_to_json(const struct auc_plan *p, const struct auc_plan_chunk *c,
					 const struct auc_market *m)
{
	struct json_object *o = json_object_new_object(), *slots = json_object_new_array(), *span;
	const char *server = auc_market_server_name(m, c->server);
	bool ok = o && slots && auc_json_add(o, "server", json_object_new_string(server)) &&
		  auc_json_add(o, "worker", json_object_new_int64(c->worker));
	unsigned i;

	for (i = c->first_span; ok && i < c->first_span + c->nspans; i++) {
		span = json_object_new_array();
		ok = span && !json_object_array_add(slots, span) &&
		     !json_object_array_add(span, json_object_new_int64(p->spans[i].from)) &&
		     !json_object_array_add(span, json_object_new_int64(p->spans[i].to));
	}
	if (!ok)
		json_object_put(slots);
	if (ok && auc_json_add(o, "runs", slots))
		return o;
	json_object_put(o);
	return NULL;
}

static enum auc_code read_chunks(struct json_object *o, const struct auc_market *m,
				 struct auc_plan *p, struct auc_err *err)
{
	struct json_object *chunks;
	enum auc_code rc;
	size_t i;

	if (!json_object_object_get_ex(o, "chunks", &chunks))
		return AUC_OK;
	rc = read_slot(o, "due", &p->due, err);
	if (rc == AUC_OK && !json_object_is_type(chunks, json_type_array))
		rc = auc_err_set(err, AUC_EINVAL, "chunks: expected an array");
	for (i = 0; rc == AUC_OK && i < json_object_array_length(chunks); i++)
		rc = read_chunk(json_object_array_get_idx(chunks, i), m, p, err);
	return rc;
}

static enum auc_code read_chunk(struct json_object *o, const struct auc_market *m,
				struct auc_plan *p, struct auc_err *err)
{
	struct json_object *server, *worker, *slots, *span, *from, *to;
	enum auc_code rc;
	int found;
	size_t i;

	if (!json_object_object_get_ex(o, "server", &server) ||
	    !json_object_is_type(server, json_type_string) ||
	    !json_object_object_get_ex(o, "worker", &worker) ||
	    !json_object_is_type(worker, json_type_int) || json_object_get_int64(worker) < 0 ||
	    json_object_get_int64(worker) > INT_MAX ||
	    !json_object_object_get_ex(o, "runs", &slots) ||
	    !json_object_is_type(slots, json_type_array))
		return auc_err_set(err, AUC_EINVAL,
				   "chunks: expected server, worker and runs of each chunk");
	found = auc_market_find_server(m, json_object_get_string(server));
	if (found < 0)
		return auc_err_set(err, AUC_ENOENT, "chunks: server '%.80s' is not in this cluster",
				   json_object_get_string(server));
	rc = auc_plan_add_chunk(p, (unsigned)found, (unsigned)json_object_get_int64(worker), err);
	for (i = 0; rc == AUC_OK && i < json_object_array_length(slots); i++) {
		span = json_object_array_get_idx(slots, i);
		from = json_object_is_type(span, json_type_array)
			       ? json_object_array_get_idx(span, 0)
			       : NULL;
		to = from ? json_object_array_get_idx(span, 1) : NULL;
		if (!json_object_is_type(from, json_type_int) ||
		    !json_object_is_type(to, json_type_int))
			return auc_err_set(err, AUC_EINVAL, "chunks: expected runs as [from, to]");
		rc = auc_plan_add_span(p, json_object_get_int64(from), json_object_get_int64(to),
				       err);
	}
	return rc;
}
