/*
 * check_turns.c - see check-private.h: whose turn it is in a slot of policy aonline. Jobs take what
 * they need one after the other, shorter ones first, then who came first. A worker trains the first
 * chunk that is there and has its data, a job that runs on keeps its PS, and another PS is on the
 * first server with room, at the edge before the cloud. A job may have to wait where servers are
 * full; what they have left when it is its turn is not in a result, only how much is taken at most.
 * So only what is certain is asked for.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/check/check-private.h"

/* A job that was accepted. */
struct turn {
	const struct sold *j;
	const struct scenario_type *type[2]; /* of its workers, of its PS */
	double seconds[2];
	long double *takes[2]; /* what one of the type takes, by TRES */
	long double chunk_slots, length;
	unsigned kind; /* the first job with this type of worker */
	bool together; /* all in the cloud */
	/* by chunk: its worker in struct turns, when its data are there, its run in the slot or the
	 * next one */
	size_t *worker;
	long double *ready;
	unsigned *at;
	unsigned next;                  /* of its own runs */
	const struct run *before, *now; /* in the slot before, and in the slot */
	bool told;                      /* that it waited */
};

/* Of a worker at the edge: the latest slot in which it trains, trains one of those who have had
 * their turn, could have trained one of theirs, perhaps had no room in one's turn. */
struct worker {
	uint64_t trains, busy, asked, lost;
};

struct turns {
	struct check *c;
	unsigned n, ntres;
	struct turn *list; /* in the order in which they go */
	struct worker *workers;
	uint64_t slot;
	long double
		*used; /* at most, by server and TRES, by those who go first and those who wait */
};

/* A chunk, for finding which of them are on one worker. */
struct seat {
	unsigned server, kind;
	uint64_t worker;
	size_t *place;
};

static bool make_turn(struct turns *l, struct turn *u, const struct sold *j);
static long double ready_on(const struct scenario_job *job, unsigned server);
static bool find_types(const struct check *c, struct turn *u);
static bool fits_anywhere(const struct check *c, const struct scenario_type *type, unsigned role);
static void set_length(const struct check *c, struct turn *u);
static bool seat_chunks(struct turns *l);
static bool same_type(const struct turns *l, const struct turn *a, const struct turn *b);
static int compare_turns(const void *a, const void *b);
static int compare_seats(const void *a, const void *b);
static void open_slot(struct turns *l);
static bool is_there(const struct turns *l, const struct turn *u);
static bool may_train(const struct turns *l, const struct turn *u, unsigned chunk);
static bool trains(const struct turns *l, const struct turn *u, unsigned chunk);
static void use(struct turns *l, const struct turn *u, unsigned server, unsigned role,
		long double count);
static void hold(struct turns *l, const struct turn *u, long double sign);
static void take_turn(struct turns *l, struct turn *u);
static bool must_train(struct turns *l, const struct turn *u, unsigned chunk);
static bool could_have_ps(const struct turns *l, const struct turn *u);
static void check_ps(struct turns *l, const struct turn *u, bool first);
static bool was_taken(const struct turns *l, const struct turn *u);
static unsigned find_ps(const struct turns *l, const struct turn *u);
static bool has_room_for_ps(const struct turns *l, const struct turn *u, unsigned server,
			    const struct turn *without);
static bool fits(const struct turns *l, const struct turn *u, unsigned server, unsigned role,
		 long double workers, long double pss, const struct turn *without);
static long double waiting_on(const struct turns *l, const struct turn *u, unsigned server);
static uint64_t workers_on(const struct run *run, unsigned server);

bool check_turns(struct check *c)
{
	struct turns l = {.c = c, .ntres = books_ntres(c->books)};
	const struct sold *j;
	bool ok;
	unsigned i;

	l.list = calloc(c->s->njobs + 1, sizeof(*l.list));
	l.used = calloc((size_t)c->s->nservers * l.ntres + 1, sizeof(*l.used));
	ok = l.list && l.used;
	for (j = c->sold; j < c->sold + c->s->njobs && ok; j++)
		if (j->accepted && j->nchunks == j->job->chunks)
			ok = make_turn(&l, &l.list[l.n], j);
	ok = ok && seat_chunks(&l);
	for (l.slot = 1; l.slot <= c->s->slots && ok; l.slot++) {
		open_slot(&l);
		for (i = 0; i < l.n; i++)
			if (is_there(&l, &l.list[i]))
				take_turn(&l, &l.list[i]);
	}
	for (i = 0; l.list && i <= l.n && i < c->s->njobs; i++) {
		free(l.list[i].takes[0]);
		free(l.list[i].worker);
		free(l.list[i].ready);
		free(l.list[i].at);
	}
	free(l.list);
	free(l.used);
	free(l.workers);
	return ok;
}

/* False: no memory. A job that is left out never runs: it is in nobody's way. */
static bool make_turn(struct turns *l, struct turn *u, const struct sold *j)
{
	unsigned role, k;

	*u = (struct turn){
		.j = j, .type = {j->worker, j->ps}, .seconds = {j->worker_seconds, j->ps_seconds}};
	if (!j->nruns && !find_types(l->c, u))
		return true;
	u->takes[0] = calloc(2 * l->ntres + 1, sizeof(*u->takes[0]));
	u->worker = calloc(j->nchunks + 1, sizeof(*u->worker));
	u->ready = calloc(j->nchunks + 1, sizeof(*u->ready));
	u->at = calloc(j->nchunks + 1, sizeof(*u->at));
	if (!u->takes[0] || !u->worker || !u->ready || !u->at)
		return false;
	for (k = 0; k < j->nchunks; k++)
		u->ready[k] = ready_on(j->job, j->chunks[k].server);
	u->takes[1] = u->takes[0] + l->ntres;
	for (role = 0; role < 2; role++)
		for (k = 0; k < l->ntres; k++)
			u->takes[role][k] = books_amount(l->c->books, u->type[role], k);
	set_length(l->c, u);
	l->n++;
	return true;
}

static long double ready_on(const struct scenario_job *job, unsigned server)
{
	return job->arrival + books_ceil(scenario_upload(job, server));
}

/* Of a job that never ran: those that take it the least time. False: that is not clear. */
static bool find_types(const struct check *c, struct turn *u)
{
	const struct scenario_job *job = u->j->job;
	const struct scenario_type *worker, *ps;
	long double work, least = INFINITY, second = INFINITY;
	unsigned i, k;

	for (i = 0; i < job->nworker_seconds; i++)
		for (k = 0; k < job->nps_seconds; k++) {
			worker = books_type(c->s->worker_types, c->s->nworker_types,
					    job->worker_types, job->worker_seconds[i].index);
			ps = books_type(c->s->ps_types, c->s->nps_types, job->ps_types,
					job->ps_seconds[k].index);
			if (!fits_anywhere(c, worker, AUC_ROLE_WORKER) ||
			    !fits_anywhere(c, ps, AUC_ROLE_PS))
				continue;
			work = books_work(c->books, job, worker, job->worker_seconds[i].value,
					  job->ps_seconds[k].value, false);
			second = fminl(second, fmaxl(work, least));
			if (work >= least)
				continue;
			least = work;
			u->type[0] = worker;
			u->type[1] = ps;
			u->seconds[0] = job->worker_seconds[i].value;
			u->seconds[1] = job->ps_seconds[k].value;
		}
	return u->type[0] && second > least * (1 + 1e-9L);
}

static bool fits_anywhere(const struct check *c, const struct scenario_type *type, unsigned role)
{
	unsigned s;

	for (s = 0; s < c->s->nservers && !(books_fit(c->books, type, role, s) > 0); s++)
		;
	return s < c->s->nservers;
}

static void set_length(const struct check *c, struct turn *u)
{
	const struct sold *j = u->j;
	unsigned i;

	u->together = c->s->servers[j->chunks->server].cloud;
	for (i = 1; i < j->nchunks; i++)
		u->together = u->together && j->chunks[i].server == j->chunks->server;
	u->chunk_slots = books_duration(books_work(c->books, j->job, u->type[0], u->seconds[0],
						   u->seconds[1], u->together) /
						j->nchunks,
					1);
	u->length = j->nchunks * u->chunk_slots;
}

/* The order of the jobs, and which chunks are on one worker. False: no memory. */
static bool seat_chunks(struct turns *l)
{
	struct seat *list;
	struct turn *u;
	size_t n = 0, i, workers = 0;
	unsigned k;

	qsort(l->list, l->n, sizeof(*l->list), compare_turns);
	for (u = l->list; u < l->list + l->n; u++) {
		while (u->kind < u - l->list && !same_type(l, &l->list[u->kind], u))
			u->kind++;
		n += u->j->nchunks;
	}
	list = calloc(n + 1, sizeof(*list));
	l->workers = calloc(n + 1, sizeof(*l->workers));
	if (!list || !l->workers) {
		free(list);
		return false;
	}
	n = 0;
	for (u = l->list; u < l->list + l->n; u++)
		for (k = 0; k < u->j->nchunks; k++)
			list[n++] = (struct seat){u->j->chunks[k].server, u->kind,
						  u->j->chunks[k].worker, &u->worker[k]};
	qsort(list, n, sizeof(*list), compare_seats);
	for (i = 0; i < n; i++) {
		workers += i && compare_seats(&list[i - 1], &list[i]) != 0;
		*list[i].place = workers;
	}
	free(list);
	return true;
}

/* Jobs may bring the same type along. */
static bool same_type(const struct turns *l, const struct turn *a, const struct turn *b)
{
	return a->type[0] == b->type[0] ||
	       (!strcmp(a->type[0]->name, b->type[0]->name) &&
		!memcmp(a->takes[0], b->takes[0], l->ntres * sizeof(*a->takes[0])));
}

static int compare_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	if (x->j->job->arrival != y->j->job->arrival)
		return x->j->job->arrival < y->j->job->arrival ? -1 : 1;
	return (x->j > y->j) - (x->j < y->j);
}

static int compare_seats(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->worker > y->worker) - (x->worker < y->worker);
}

/* -- a slot -- */

/* What is sold before, and what those who ran in the slot before may keep. */
static void open_slot(struct turns *l)
{
	const struct scenario *s = l->c->s;
	const struct scenario_entry *e;
	struct turn *u;
	unsigned i;
	int k;

	memset(l->used, 0, (size_t)s->nservers * l->ntres * sizeof(*l->used));
	for (i = 0; i < s->nstate; i++) {
		e = &s->state[i];
		k = books_tres(l->c->books, e->tres);
		if (e->server != SCENARIO_ANY_SERVER && k >= 0 && e->from <= l->slot &&
		    l->slot <= e->to)
			l->used[e->server * l->ntres + (unsigned)k] +=
				books_counted(l->c->books, (unsigned)k, e->amount);
	}
	for (u = l->list; u < l->list + l->n; u++) {
		u->before = u->now;
		u->now = NULL;
		if (!is_there(l, u))
			continue;
		while (u->next < u->j->nruns && u->j->runs[u->next].to < l->slot)
			u->next++;
		if (u->next < u->j->nruns && u->j->runs[u->next].from <= l->slot)
			u->now = &u->j->runs[u->next];
		hold(l, u, 1);
		for (i = 0; i < u->j->nchunks; i++) {
			while (u->at[i] < u->j->chunks[i].nruns &&
			       u->j->chunks[i].runs[u->at[i]].to < l->slot)
				u->at[i]++;
			if (trains(l, u, i))
				l->workers[u->worker[i]].trains = l->slot;
		}
	}
}

/* It has come and is not complete. */
static bool is_there(const struct turns *l, const struct turn *u)
{
	return u->j->job->arrival <= l->slot && !(u->j->completed && u->j->completion <= l->slot);
}

/* Its data are there and it is not done. */
static bool may_train(const struct turns *l, const struct turn *u, unsigned chunk)
{
	const struct chunk *c = &u->j->chunks[chunk];

	return (u->at[chunk] < c->nruns || c->slots < u->chunk_slots) && u->ready[chunk] <= l->slot;
}

static bool trains(const struct turns *l, const struct turn *u, unsigned chunk)
{
	const struct chunk *c = &u->j->chunks[chunk];

	return u->at[chunk] < c->nruns && c->runs[u->at[chunk]].from <= l->slot;
}

static void use(struct turns *l, const struct turn *u, unsigned server, unsigned role,
		long double count)
{
	unsigned k;

	for (k = 0; k < l->ntres; k++)
		l->used[server * l->ntres + k] += count * u->takes[role][k];
}

/* Of the slot before: the PS, and workers in the cloud, where nobody is preempted. */
static void hold(struct turns *l, const struct turn *u, long double sign)
{
	const struct group *g;

	if (!u->before)
		return;
	use(l, u, u->before->ps->server, 1, sign);
	for (g = u->before->workers; g < u->before->workers + u->before->nworkers; g++)
		if (l->c->s->servers[g->server].cloud)
			use(l, u, g->server, 0, sign * g->count);
}

static void take_turn(struct turns *l, struct turn *u)
{
	const struct chunk *c;
	struct worker *w;
	bool first = false, cloud;
	const struct group *g;
	unsigned i;

	hold(l, u, -1);
	for (i = 0; i < u->j->nchunks; i++) {
		if (!may_train(l, u, i))
			continue;
		c = &u->j->chunks[i];
		w = &l->workers[u->worker[i]];
		cloud = l->c->s->servers[c->server].cloud;
		first = first || cloud || w->asked != l->slot;
		w->asked = l->slot;
		if (trains(l, u, i)) {
			w->busy = l->slot;
		} else if ((cloud || w->busy != l->slot) && must_train(l, u, i) && !u->told) {
			u->told = true;
			check_violation(l->c, "chunks", u->j,
					"chunk %u: expected training on %s in slot %" PRIu64
					", where it is its turn",
					i, l->c->s->servers[c->server].name, l->slot);
		}
	}
	if (!u->now)
		return;
	check_ps(l, u, first);
	use(l, u, u->now->ps->server, 1, 1);
	for (g = u->now->workers; g < u->now->workers + u->now->nworkers; g++)
		use(l, u, g->server, 0, g->count);
}

/* A chunk that is before all that its worker trains has to wait if there is no room for the worker,
 * which then trains nothing, if there is no PS, or if its worker gives way to the PS. */
static bool must_train(struct turns *l, const struct turn *u, unsigned chunk)
{
	struct worker *w = &l->workers[u->worker[chunk]];
	unsigned server = u->j->chunks[chunk].server, k;
	bool cloud = l->c->s->servers[server].cloud, lost;
	bool here = (u->now && u->now->ps->server == server) ||
		    (u->before && u->before->ps->server == server);

	if (cloud || w->trains != l->slot) {
		lost = !cloud && w->lost == l->slot;
		/* the job's other workers there may have had the room */
		if (!fits(l, u, server, 0, workers_on(u->now, server) + waiting_on(l, u, server),
			  here, NULL))
			w->lost = l->slot;
		if (lost || !fits(l, u, server, 0, 1.0L + workers_on(u->now, server), here, NULL))
			return false;
	}
	if (!u->now)
		return could_have_ps(l, u);
	for (k = 0; u->now->ps->server == server && k < l->ntres; k++)
		if (u->takes[0][k] > 0 && u->takes[1][k] > 0)
			return false;
	return true;
}

/* There is room for it, or was if one of those who come later did not keep theirs. */
static bool could_have_ps(const struct turns *l, const struct turn *u)
{
	const struct turn *v;

	if (find_ps(l, u) < l->c->s->nservers)
		return true;
	for (v = u + 1; v < l->list + l->n; v++)
		if (v->before && v->now && v->before->ps->server == v->now->ps->server &&
		    has_room_for_ps(l, u, v->now->ps->server, v))
			return true;
	return false;
}

/* FIRST: the job was the first on one of its workers, so that it kept the PS of the slot before. */
static void check_ps(struct turns *l, const struct turn *u, bool first)
{
	const struct scenario_server *servers = l->c->s->servers;
	unsigned server = u->now->ps->server, found;

	if (u->before && u->before->ps->server == server)
		return;
	if (u->before && first && !was_taken(l, u)) {
		check_violation(l->c, "plan", u->j,
				"expected the PS on %s in slot %" PRIu64
				", too, for nobody who goes first has taken its place, found %s",
				servers[u->before->ps->server].name, l->slot, servers[server].name);
		return;
	}
	found = find_ps(l, u);
	if (found < l->c->s->nservers &&
	    (servers[found].cloud != servers[server].cloud ? servers[server].cloud
							   : found < server))
		check_violation(l->c, "plan", u->j,
				"expected the new PS of slot %" PRIu64
				" on %s, the first server with room, found %s",
				l->slot, servers[found].name, servers[server].name);
}

/* Somebody may be on its PS's place, or more is sold there. */
static bool was_taken(const struct turns *l, const struct turn *u)
{
	unsigned server = u->before->ps->server;
	const struct scenario *s = l->c->s;
	const struct turn *v;

	for (unsigned i = 0; i < s->nstate; i++)
		if (s->state[i].server == server && s->state[i].from == l->slot)
			return true;
	for (v = l->list; v < u; v++)
		if (v->now && v->now->ps->server == server &&
		    !(v->before && v->before->ps->server == server))
			return true;
	return false;
}

/* The first server with room for its PS; the number of servers: none is sure to have any. */
static unsigned find_ps(const struct turns *l, const struct turn *u)
{
	const struct scenario *s = l->c->s;
	unsigned server, cloud;

	for (cloud = 0; cloud < 2; cloud++)
		for (server = 0; server < s->nservers; server++)
			if (s->servers[server].cloud == (cloud == 1) &&
			    has_room_for_ps(l, u, server, NULL))
				return server;
	return s->nservers;
}

static bool has_room_for_ps(const struct turns *l, const struct turn *u, unsigned server,
			    const struct turn *without)
{
	const struct scenario_server *s = &l->c->s->servers[server];
	long double workers;

	if (!(s->roles & AUC_ROLE_PS) || (u->together && server != u->j->chunks->server) ||
	    (s->cloud && check_option(l->c, "site=edge")))
		return false;
	/* Its workers come before its PS, also if they then have to wait for it. */
	workers = u->now ? workers_on(u->now, server) : waiting_on(l, u, server);
	return fits(l, u, server, 1, workers, 1, without) && ready_on(u->j->job, server) <= l->slot;
}

/* Is there what one of ROLE takes, for so many of U's beside all others but the PS of WITHOUT? */
static bool fits(const struct turns *l, const struct turn *u, unsigned server, unsigned role,
		 long double workers, long double pss, const struct turn *without)
{
	long double need, left;
	unsigned k;

	for (k = 0; k < l->ntres; k++) {
		need = workers * u->takes[0][k] + pss * u->takes[1][k];
		left = books_capacity(l->c->books, server, k) - l->used[server * l->ntres + k];
		if (without)
			left += without->takes[1][k];
		if (u->takes[role][k] > 0 && need > left + 1e-10L)
			return false;
	}
	return true;
}

/* Workers of U that could train more of its chunks, at most. */
static long double waiting_on(const struct turns *l, const struct turn *u, unsigned server)
{
	unsigned i, n = 0;

	for (i = 0; i < u->j->nchunks; i++)
		n += u->j->chunks[i].server == server && may_train(l, u, i) && !trains(l, u, i);
	return fminl(n, books_fit(l->c->books, u->type[0], AUC_ROLE_WORKER, server));
}

static uint64_t workers_on(const struct run *run, unsigned server)
{
	unsigned i;

	for (i = 0; run && i < run->nworkers; i++)
		if (run->workers[i].server == server)
			return run->workers[i].count;
	return 0;
}
