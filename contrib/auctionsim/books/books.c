/* books.c - see books.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/books/books-private.h"

#define SLACK   1e-9L      /* relative: formats.md, section 5 */
#define FIT_MAX 1048576.0L /* a server is not taken to hold more of a type */

/* Of what is sold a step is 1 / STEPS, or ten times as much, and so on, so that a server has no
 * more than STEPS_MAX of them. */
#define STEPS     1e9
#define STEPS_MAX 4503599627370496.0

static void add_tres(struct books *b, const struct auc_named *list, unsigned n);
static void set_steps(struct books *b);
static long double times(const struct books *b, unsigned tres, long double left, double amount);
static size_t at(const struct books *b, unsigned server, unsigned tres, uint64_t slot);
static long double asked_price(const struct books *b, unsigned server, unsigned tres,
			       uint64_t slot);
static long double unit_price(const struct books *b, unsigned server, unsigned tres, uint64_t slot);
static void enter(const struct books *b, long double *cells, const struct scenario_entry *e,
		  bool add);
static void raise_eta(struct books *b, const struct scenario_job *job);
static void shape_ratios(struct books *b, const struct scenario_job *job,
			 const struct scenario_shape *shape, double upload);
static void pair_ratios(struct books *b, const struct scenario_job *job,
			const struct scenario_type *worker, double worker_seconds,
			const struct scenario_type *ps, double ps_seconds, bool colocated,
			double upload);

struct books *books_open(const struct scenario *s)
{
	struct books *b = calloc(1, sizeof(*b));
	unsigned i, k, tres;
	size_t cells;

	if (!b)
		return NULL;
	b->s = s;
	for (i = 0; i < s->nservers; i++)
		add_tres(b, s->servers[i].capacity, s->servers[i].ncapacity);
	for (i = 0; i < TRES_MAX; i++)
		b->eta[i] = 1;
	if (b->ntres == TRES_MAX) { /* far more than libauction takes */
		books_close(b);
		return NULL;
	}
	set_steps(b);
	cells = (size_t)s->nservers * b->ntres;
	b->capacity = calloc(cells + 1, sizeof(*b->capacity));
	b->used = calloc(cells * s->slots + 1, sizeof(*b->used));
	b->given = calloc(cells * s->slots + 1, sizeof(*b->given));
	if (!b->capacity || !b->used || !b->given || !books_open_traffic(b)) {
		books_close(b);
		return NULL;
	}
	for (i = 0; i < s->nservers; i++)
		for (k = 0; k < s->servers[i].ncapacity; k++) {
			tres = (unsigned)books_tres(b, s->servers[i].capacity[k].name);
			b->capacity[i * b->ntres + tres] =
				books_counted(b, tres, s->servers[i].capacity[k].value);
		}
	for (i = 0; i < s->nstate; i++)
		enter(b, b->used, &s->state[i], true);
	return b;
}

void books_close(struct books *b)
{
	if (!b)
		return;
	free(b->capacity);
	free(b->used);
	free(b->given);
	free(b->sent);
	free(b->send_price);
	books_free_packing(b->packing);
	free(b);
}

bool books_set_prices(struct books *b, enum books_policy policy)
{
	const struct scenario *s = b->s;
	bool bounded = policy == BOOKS_OASIS ||
		       (policy == BOOKS_ERIS && s->prices == SCENARIO_PRICES_BOUNDS);
	unsigned i;
	int k;

	b->sites = policy == BOOKS_ERIS;
	books_set_traffic(b);
	if (s->prices == SCENARIO_PRICES_GIVEN) {
		for (i = 0; i < s->nvalues; i++)
			enter(b, b->given, &s->values[i], false);
		return true;
	}
	free(b->given);
	b->given = NULL;
	b->bounded = bounded;
	if (bounded)
		return books_set_bounds(b);
	for (i = 0; i < s->eta.n; i++) {
		k = books_tres(b, s->eta.list[i].name);
		if (k >= 0)
			b->eta[k] = s->eta.list[i].value;
	}
	for (i = 0; i < s->njobs && s->prices == SCENARIO_PRICES_OFFLINE && !b->sites; i++)
		raise_eta(b, &s->jobs[i]);
	return true;
}

void books_learn(struct books *b, const struct scenario_job *job)
{
	if (b->given || b->s->prices != SCENARIO_PRICES_LEARNED)
		return;
	if (b->bounded)
		books_learn_bounds(b, job);
	else if (b->sites)
		books_raise_sites(b, job);
	else
		raise_eta(b, job);
}

const struct scenario_type *books_worker_type(const struct books *b, const struct scenario_job *job,
					      const char *name, double *seconds)
{
	const struct scenario_type *type;
	unsigned i, n = job->nworker_seconds;

	/* where no times are named, all types may be used */
	if (!job->has_worker_seconds)
		n = b->s->nworker_types + job->nworker_types;
	for (i = 0; i < n; i++) {
		type = books_type(b->s->worker_types, b->s->nworker_types, job->worker_types,
				  job->has_worker_seconds ? job->worker_seconds[i].index : i);
		*seconds = job->has_worker_seconds ? job->worker_seconds[i].value : 0;
		if (!strcmp(type->name, name))
			return type;
	}
	return NULL;
}

const struct scenario_type *books_ps_type(const struct books *b, const struct scenario_job *job,
					  const char *name, double *seconds)
{
	const struct scenario_type *type;
	unsigned i, n = job->nps_seconds;

	/* where no times are named, all types may be used */
	if (!job->has_ps_seconds)
		n = b->s->nps_types + job->nps_types;
	for (i = 0; i < n; i++) {
		type = books_type(b->s->ps_types, b->s->nps_types, job->ps_types,
				  job->has_ps_seconds ? job->ps_seconds[i].index : i);
		*seconds = job->has_ps_seconds ? job->ps_seconds[i].value : 0;
		if (!strcmp(type->name, name))
			return type;
	}
	return NULL;
}

long double books_cost(const struct books *b, const struct scenario_type *type, unsigned server,
		       uint64_t from, uint64_t to, uint64_t count)
{
	long double cost = 0;
	uint64_t t;
	unsigned i;
	int k;

	for (i = 0; i < type->ntres; i++) {
		/* what it takes 0 of, its server may lack: that has no price */
		if (!(type->tres[i].value > 0))
			continue;
		k = books_tres(b, type->tres[i].name);
		for (t = from; t <= to && k >= 0; t++)
			cost += unit_price(b, server, (unsigned)k, t) *
				books_counted(b, (unsigned)k, type->tres[i].value) * count;
	}
	return cost;
}

const char *books_add(struct books *b, const struct scenario_type *type, unsigned server,
		      uint64_t from, uint64_t to, uint64_t count, uint64_t *slot)
{
	const char *over = NULL;
	long double *used, capacity;
	uint64_t t;
	unsigned i;
	int k;

	for (i = 0; i < type->ntres; i++) {
		if (!(type->tres[i].value > 0))
			continue;
		k = books_tres(b, type->tres[i].name);
		if (k < 0) {
			*slot = from;
			return type->tres[i].name; /* no server has any */
		}
		capacity = b->capacity[server * b->ntres + (unsigned)k];
		for (t = from; t <= to; t++) {
			used = &b->used[at(b, server, (unsigned)k, t)];
			*used += books_counted(b, (unsigned)k, type->tres[i].value) * count;
			if (*used > capacity + SLACK / 2 && *used > capacity * (1 + 1e-15L) &&
			    !over) {
				over = type->tres[i].name;
				*slot = t;
			}
		}
	}
	return over;
}

void books_remove(struct books *b, const struct scenario_type *type, unsigned server, uint64_t from,
		  uint64_t to, uint64_t count)
{
	int k;

	for (unsigned i = 0; i < type->ntres; i++) {
		k = books_tres(b, type->tres[i].name);
		for (uint64_t t = from; t <= to && k >= 0; t++)
			b->used[at(b, server, (unsigned)k, t)] -=
				books_counted(b, (unsigned)k, type->tres[i].value) * count;
	}
}

void books_give_price(struct books *b, unsigned server, const char *tres, uint64_t slot,
		      double price)
{
	int k = books_tres(b, tres);

	if (k >= 0)
		b->given[at(b, server, (unsigned)k, slot)] = price;
}

long double books_left(const struct books *b, unsigned server, const char *tres, uint64_t slot)
{
	int k = books_tres(b, tres);

	if (k < 0)
		return 0;
	return fmaxl(0, b->capacity[server * b->ntres + (unsigned)k] -
				b->used[at(b, server, (unsigned)k, slot)]);
}

long double books_room(const struct books *b, const struct scenario_type *type, unsigned role,
		       unsigned server, uint64_t from, uint64_t to,
		       const struct scenario_type *beside, uint64_t count)
{
	long double most = FIT_MAX, left;
	unsigned i;
	uint64_t t;
	int k;

	if (!(b->s->servers[server].roles & role))
		return 0;
	for (i = 0; i < type->ntres; i++) {
		if (!(type->tres[i].value > 0))
			continue;
		k = books_tres(b, type->tres[i].name);
		if (k < 0)
			return 0;
		for (t = from; t <= to; t++) {
			left = books_left(b, server, type->tres[i].name, t);
			if (beside)
				left -= count * books_amount(b, beside, (unsigned)k);
			most = fminl(most, times(b, (unsigned)k, left, type->tres[i].value));
		}
	}
	return most;
}

long double books_ceil(long double x)
{
	return x - floorl(x) <= SLACK * x ? floorl(x) : ceill(x);
}

long double books_floor(long double x)
{
	return ceill(x) - x <= SLACK * x ? ceill(x) : floorl(x);
}

long double books_work(const struct books *b, const struct scenario_job *job,
		       const struct scenario_type *worker, double worker_seconds, double ps_seconds,
		       bool colocated)
{
	long double k = (long double)worker_seconds + ps_seconds;

	if (!colocated)
		k += 16.0L * job->gradient_mb / worker->bandwidth_mbps;
	return (long double)job->epochs * job->chunks * job->minibatches * k / b->s->slot_seconds;
}

long double books_duration(long double work, long double n)
{
	long double d = books_ceil(work / n);

	return d > 1 ? d : 1;
}

long double books_ps(const struct scenario_type *worker, const struct scenario_type *ps,
		     long double elsewhere)
{
	long double z = books_ceil(worker->bandwidth_mbps * elsewhere / ps->bandwidth_mbps);

	return z > 1 ? z : 1;
}

long double books_value(const struct auc_utility *u, long double x)
{
	long double v = 0, part;
	unsigned i;

	switch (u->form) {
	case AUC_FORM_SIGMOID:
		v = u->scale / (1 + expl(u->decay * (x - u->target)));
		break;
	case AUC_FORM_LINEAR:
		v = u->scale - u->decay * x;
		break;
	case AUC_FORM_INVERSE:
		v = u->scale * (u->target - (x < 1 ? 1 : x)) / (x < 1 ? 1 : x);
		break;
	case AUC_FORM_CONSTANT:
		v = u->scale;
		break;
	case AUC_FORM_DEADLINE:
		v = x <= u->target ? u->scale : 0;
		break;
	case AUC_FORM_TABLE:
		v = u->points[0].value;
		for (i = 1; i < u->npoints && u->points[i - 1].x < x; i++) {
			part = (x - u->points[i - 1].x) / (u->points[i].x - u->points[i - 1].x);
			part = part > 1 ? 1 : part;
			v = u->points[i - 1].value +
			    part * ((long double)u->points[i].value - u->points[i - 1].value);
		}
		break;
	}
	return v > 0 ? v : 0;
}

unsigned books_ntres(const struct books *b)
{
	return b->ntres;
}

long double books_capacity(const struct books *b, unsigned server, unsigned tres)
{
	return b->capacity[server * b->ntres + tres];
}

int books_tres(const struct books *b, const char *name)
{
	unsigned k;

	for (k = 0; k < b->ntres; k++)
		if (!strcasecmp(b->tres[k], name))
			return (int)k;
	return -1;
}

static void add_tres(struct books *b, const struct auc_named *list, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (books_tres(b, list[i].name) < 0 && b->ntres < TRES_MAX)
			b->tres[b->ntres++] = list[i].name;
}

static void set_steps(struct books *b)
{
	const struct scenario_server *server;
	double most;
	unsigned i, k;

	for (k = 0; k < b->ntres; k++) {
		most = 0;
		for (server = b->s->servers; server < b->s->servers + b->s->nservers; server++)
			for (i = 0; i < server->ncapacity; i++)
				if (!strcasecmp(server->capacity[i].name, b->tres[k]))
					most = fmax(most, server->capacity[i].value);
		for (b->steps[k] = STEPS; b->steps[k] > 1 && most * b->steps[k] > STEPS_MAX;)
			b->steps[k] /= 10;
	}
}

static size_t at(const struct books *b, unsigned server, unsigned tres, uint64_t slot)
{
	return ((size_t)server * b->ntres + tres) * b->s->slots + (slot - 1);
}

/* What it costs in SLOT, as a factor of its cost. */
static double hour_of(const struct books *b, unsigned server, uint64_t slot)
{
	const struct scenario_server *s = &b->s->servers[server];
	double seconds = b->s->hour * 3600 + (double)(slot - 1) * b->s->slot_seconds;

	return s->hourly ? s->cost_hours[(uint64_t)(seconds / 3600) % AUC_DAY_HOURS] : 1;
}

/* By the scenario's prices, and no less than what it costs. */
static long double unit_price(const struct books *b, unsigned server, unsigned tres, uint64_t slot)
{
	const struct scenario_server *s = &b->s->servers[server];
	long double price = asked_price(b, server, tres, slot);

	for (unsigned i = 0; i < s->ncost; i++)
		if (books_tres(b, s->cost[i].name) == (int)tres)
			price = fmaxl(price, (long double)s->cost[i].value * b->s->slot_seconds /
						     3600 * hour_of(b, server, slot));
	return price;
}

static long double asked_price(const struct books *b, unsigned server, unsigned tres, uint64_t slot)
{
	size_t cell = at(b, server, tres, slot);

	if (b->given)
		return b->given[cell];
	if (b->bounded)
		return books_bounded_price(b, server, tres,
					   b->used[cell] / b->capacity[server * b->ntres + tres]);
	if (!(b->used[cell] > 0))
		return 0;
	return powl(b->eta[tres], b->used[cell] / b->capacity[server * b->ntres + tres]) - 1;
}

/* Puts what E says into the slots of the horizon. */
static void enter(const struct books *b, long double *cells, const struct scenario_entry *e,
		  bool add)
{
	int k = books_tres(b, e->tres);
	uint64_t t;

	if (e->server == SCENARIO_ANY_SERVER || k < 0)
		return;
	for (t = e->from; t <= e->to && t <= b->s->slots; t++)
		if (add)
			cells[at(b, e->server, (unsigned)k, t)] +=
				books_counted(b, (unsigned)k, e->amount);
		else
			cells[at(b, e->server, (unsigned)k, t)] = e->amount;
}

/* DPS section 4.2: eta is 1 more than the most that a job is worth per unit and slot. */
static void raise_eta(struct books *b, const struct scenario_job *job)
{
	const struct scenario_type *worker, *ps;
	double upload = INFINITY;
	unsigned i, k, s;

	for (s = 0; s < b->s->nservers; s++)
		upload = fmin(upload, (double)books_ceil(scenario_upload(job, s)));
	for (i = 0; i < job->ngang; i++)
		shape_ratios(b, job, &job->gang[i], upload);
	for (i = 0; i < job->nworker_seconds; i++)
		for (k = 0; k < job->nps_seconds; k++) {
			worker = books_type(b->s->worker_types, b->s->nworker_types,
					    job->worker_types, job->worker_seconds[i].index);
			ps = books_type(b->s->ps_types, b->s->nps_types, job->ps_types,
					job->ps_seconds[k].index);
			pair_ratios(b, job, worker, job->worker_seconds[i].value, ps,
				    job->ps_seconds[k].value, true, upload);
			pair_ratios(b, job, worker, job->worker_seconds[i].value, ps,
				    job->ps_seconds[k].value, false, upload);
		}
}

/* Of a gang that there are servers and slots for. */
static void shape_ratios(struct books *b, const struct scenario_job *job,
			 const struct scenario_shape *shape, double upload)
{
	struct scenario_type node = books_node(shape);
	long double d = books_duration((long double)shape->seconds / b->s->slot_seconds, 1), units;
	long double value = books_value(&job->utility, upload + d);
	unsigned n = 0, s, k;

	for (s = 0; s < b->s->nservers; s++)
		n += books_fit(b, &node, AUC_ROLE_WORKER, s) >= 1;
	if (n < shape->nodes || job->arrival + upload + d > b->s->slots + 1.0L)
		return;
	for (k = 0; k < b->ntres; k++) {
		units = books_amount(b, &node, k) * shape->nodes * d;
		if (units > 0 && value / units + 1 > b->eta[k])
			b->eta[k] = value / units + 1;
	}
}

struct scenario_type books_node(const struct scenario_shape *shape)
{
	return (struct scenario_type){.ntres = shape->nper_node, .tres = shape->per_node};
}

/* All durations d with the fewest workers n that need no more: more of them are worth less each. */
static void pair_ratios(struct books *b, const struct scenario_job *job,
			const struct scenario_type *worker, double worker_seconds,
			const struct scenario_type *ps, double ps_seconds, bool colocated,
			double upload)
{
	long double work = books_work(b, job, worker, worker_seconds, ps_seconds, colocated);
	long double n, z = colocated ? 1 : books_ps(worker, ps, 1), room = 0, ps_room = 0, units;
	long double value, f;
	unsigned k, s;
	uint64_t d;

	for (s = 0; s < b->s->nservers; s++) {
		f = books_fit(b, worker, AUC_ROLE_WORKER, s);
		room = colocated ? fmaxl(room, f) : room + f;
		ps_room = fmaxl(ps_room, books_fit(b, ps, AUC_ROLE_PS, s));
	}
	if (z > ps_room)
		return;
	for (d = 1; job->arrival + upload + d <= b->s->slots + 1.0L; d++) {
		n = fmaxl(1, floorl(work / d) - 1);
		while (books_duration(work, n) > d)
			n++;
		if (n > job->chunks || n > room)
			continue;
		value = books_value(&job->utility, upload + books_duration(work, n));
		for (k = 0; k < b->ntres; k++) {
			units = (n * books_amount(b, worker, k) + z * books_amount(b, ps, k)) *
				books_duration(work, n);
			if (units > 0 && value / units + 1 > b->eta[k])
				b->eta[k] = value / units + 1;
		}
		if (n == 1)
			return;
	}
}

/* How many of TYPE an empty SERVER holds. */
long double books_fit(const struct books *b, const struct scenario_type *type, unsigned role,
		      unsigned server)
{
	long double most = FIT_MAX, capacity;
	unsigned i;
	int k;

	if (!(b->s->servers[server].roles & role))
		return 0;
	for (i = 0; i < type->ntres; i++) {
		if (!(type->tres[i].value > 0))
			continue;
		k = books_tres(b, type->tres[i].name);
		if (k < 0)
			return 0;
		capacity = b->capacity[server * b->ntres + (unsigned)k];
		most = fminl(most, times(b, (unsigned)k, capacity, type->tres[i].value));
	}
	return most;
}

/* How often AMOUNT of a TRES is in LEFT, exactly. */
static long double times(const struct books *b, unsigned tres, long double left, double amount)
{
	long double steps = b->steps[tres];

	return left > 0 ? floorl(roundl(left * steps) /
				 roundl(books_counted(b, tres, amount) * steps))
			: 0;
}

long double books_amount(const struct books *b, const struct scenario_type *type, unsigned tres)
{
	unsigned i;

	for (i = 0; i < type->ntres; i++)
		if (!strcasecmp(type->tres[i].name, b->tres[tres]))
			return books_counted(b, tres, type->tres[i].value);
	return 0;
}

/* As doc/formats.md says: what is sold is counted in whole steps. */
long double books_counted(const struct books *b, unsigned tres, double amount)
{
	double steps = amount * b->steps[tres];

	return steps > STEPS_MAX ? amount : roundl(steps) / b->steps[tres];
}

const struct scenario_type *books_type(const struct scenario_type *common, unsigned ncommon,
				       const struct scenario_type *own, unsigned index)
{
	return index < ncommon ? &common[index] : &own[index - ncommon];
}
