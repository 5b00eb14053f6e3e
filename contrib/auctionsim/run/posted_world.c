/* posted_world.c - see posted_world.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "auctionsim/run/posted_world.h"
#include "base/list.h"

/* One run. */
struct now {
	const struct posted_world *w;
	const struct posted_rules *rules;
	struct posted_run *out;
	struct auc_posted_terms terms;
	void *self;
	int32_t *idle[AUC_POSTED_KINDS]; /* by type and server */
	double left[AUC_POSTED_KINDS][AUC_TYPES_MAX];
	struct auc_posted_layout layout;
	struct auc_posted_queue running;
	unsigned *first, *n; /* by job: its shares */
	unsigned nshares, alloc;
	struct auc_share *shares;
};

static enum auc_code read_types(const struct scenario *s, struct posted_world *w,
				struct auc_err *err);
static enum auc_code read_users(const struct scenario *s, unsigned first, unsigned stride,
				struct posted_world *w, struct auc_err *err);
static int compare_arrival(const void *a, const void *b);
static bool own_tres(const struct scenario *s, const struct scenario_type *type);
static double amount_of(const struct auc_named *list, unsigned n, const char *name);
static enum auc_code prepare(struct now *n, struct auc_err *err);
static void release(struct now *n, auc_slot now);
static bool take(struct now *n, unsigned job, int64_t slots);
static bool serve(struct now *n, unsigned job);
static void give(struct now *n, const struct auc_posted_ask *ask, const struct auc_share *share,
		 int sign);
static double exchange_gb(const struct now *n, const struct auc_posted_ask *ask);

enum auc_code posted_world_open(const struct scenario *s, unsigned first, unsigned stride,
				struct posted_world *w, struct auc_err *err)
{
	enum auc_code rc;

	*w = (struct posted_world){.nservers = s->nservers,
				   .slots = (double)s->slots,
				   .slot_seconds = s->slot_seconds};
	if (s->nstate)
		return auc_err_set(err, AUC_EINVAL, "%s: $.state: expected nothing sold already",
				   s->file);
	w->users = calloc(s->njobs + 1, sizeof(*w->users));
	w->capacity[0] = calloc((size_t)AUC_TYPES_MAX * s->nservers + 1, sizeof(int32_t));
	w->capacity[1] = calloc((size_t)AUC_TYPES_MAX * s->nservers + 1, sizeof(int32_t));
	if (w->users && w->capacity[0] && w->capacity[1]) {
		rc = read_types(s, w, err);
		if (rc == AUC_OK)
			rc = read_users(s, first, stride, w, err);
	} else {
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	}
	if (rc != AUC_OK)
		posted_world_close(w);
	return rc;
}

void posted_world_close(struct posted_world *w)
{
	free(w->users);
	free(w->capacity[0]);
	free(w->capacity[1]);
	memset(w, 0, sizeof(*w));
}

enum auc_code posted_world_run(const struct posted_world *w, const struct posted_rules *rules,
			       struct posted_run *run, struct auc_err *err)
{
	struct now n = {.w = w, .rules = rules, .out = run};
	double *earned = run->earned, *ran = run->ran, *price = run->price;
	enum auc_code rc = prepare(&n, err);
	unsigned i, t = 0;

	*run = (struct posted_run){.earned = earned, .ran = ran, .price = price};
	for (i = 0; i < w->njobs && rc == AUC_OK; i++) {
		if (rules->later && run->revenue + rules->later[i] < rules->beat)
			break;
		for (; t + 1 < w->users[i].ask.arrival; t++) {
			if (earned)
				earned[t] = run->revenue;
			if (ran)
				ran[t] = run->runtime;
		}
		if (!serve(&n, i))
			rc = auc_err_set(err, AUC_ENOMEM, "no memory for a run");
	}
	for (; t < w->slots; t++) {
		if (earned)
			earned[t] = run->revenue;
		if (ran)
			ran[t] = run->runtime;
	}
	if (n.self)
		rules->pricing->destroy(n.self);
	free(n.idle[0]);
	free(n.idle[1]);
	auc_posted_layout_clear(&n.layout);
	auc_posted_queue_clear(&n.running);
	free(n.first);
	free(n.n);
	free(n.shares);
	return rc;
}

/* Each type takes TRES that no other takes. */
static enum auc_code read_types(const struct scenario *s, struct posted_world *w,
				struct auc_err *err)
{
	const struct scenario_type *types[] = {s->worker_types, s->ps_types}, *type;
	const struct scenario_server *server;
	unsigned kind, i, k, q, role[] = {AUC_ROLE_WORKER, AUC_ROLE_PS};
	double fit;

	w->ntypes[0] = s->nworker_types;
	w->ntypes[1] = s->nps_types;
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		for (i = 0; i < w->ntypes[kind]; i++) {
			type = &types[kind][i];
			if (i >= AUC_TYPES_MAX || !own_tres(s, type) || !(type->bandwidth_mbps > 0))
				return auc_err_set(err, AUC_EINVAL,
						   "%s: $.%s[%u]: type %s: expected "
						   "bandwidth_mbps, and TRES that no other type "
						   "takes",
						   s->file, kind ? "ps_types" : "worker_types", i,
						   type->name);
			w->bandwidth[kind][i] = type->bandwidth_mbps;
			for (q = 0; q < s->nservers; q++) {
				server = &s->servers[q];
				fit = server->roles & role[kind] ? 1 << 20 : 0;
				for (k = 0; k < type->ntres; k++)
					if (type->tres[k].value > 0)
						fit = fmin(fit,
							   (double)auc_floor(
								   amount_of(server->capacity,
									     server->ncapacity,
									     type->tres[k].name) /
								   type->tres[k].value));
				w->capacity[kind][i * s->nservers + q] = (int32_t)fit;
				w->total[kind][i] += fit;
			}
		}
	return AUC_OK;
}

static bool own_tres(const struct scenario *s, const struct scenario_type *type)
{
	const struct scenario_type *other;
	unsigned i, k;

	for (i = 0; i < s->nworker_types + s->nps_types; i++) {
		other = i < s->nworker_types ? &s->worker_types[i]
					     : &s->ps_types[i - s->nworker_types];
		for (k = 0; k < type->ntres && other != type; k++)
			if (amount_of(other->tres, other->ntres, type->tres[k].name) > 0)
				return false;
	}
	return true;
}

static double amount_of(const struct auc_named *list, unsigned n, const char *name)
{
	const struct auc_named *found = auc_list_find(list, n, name);

	return found ? found->value : 0;
}

static enum auc_code read_users(const struct scenario *s, unsigned first, unsigned stride,
				struct posted_world *w, struct auc_err *err)
{
	const struct scenario_job *j;
	struct posted_user *u;
	unsigned i;

	for (i = first; i < s->njobs; i += stride) {
		j = &s->jobs[i];
		if (j->nworker_seconds != 1 || j->nps_seconds != 1 || j->nworker_types ||
		    j->nps_types || j->nupload || j->upload_default > 0 || !j->workers || !j->ps ||
		    !j->epochs || j->budget < 0 || !(j->compute_seconds_per_epoch > 0) ||
		    j->gradient_mb < 0)
			return auc_err_set(err, AUC_EINVAL,
					   "%s: $.jobs[%u]: expected workers, ps, epochs, "
					   "gradient_mb, budget, "
					   "compute_seconds_per_epoch, one worker type and one PS "
					   "type, both of the scenario, and no "
					   "uploads",
					   s->file, i);
		if (j->arrival > s->slots)
			continue;
		u = &w->users[w->njobs++];
		u->ask.arrival = (auc_slot)j->arrival;
		u->ask.type[AUC_POSTED_WORKER] = j->worker_seconds->index;
		u->ask.type[AUC_POSTED_PS] = j->ps_seconds->index;
		u->ask.count[AUC_POSTED_WORKER] = (unsigned)j->workers;
		u->ask.count[AUC_POSTED_PS] = (unsigned)j->ps;
		u->ask.epochs = (double)j->epochs;
		u->ask.seconds = j->compute_seconds_per_epoch;
		u->ask.gradient_mb = j->gradient_mb;
		u->budget = j->budget;
		u->index = i;
	}
	qsort(w->users, w->njobs, sizeof(*w->users), compare_arrival);
	return AUC_OK;
}

static int compare_arrival(const void *a, const void *b)
{
	const struct posted_user *x = a, *y = b;

	if (x->ask.arrival != y->ask.arrival)
		return x->ask.arrival < y->ask.arrival ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static enum auc_code prepare(struct now *n, struct auc_err *err)
{
	const struct posted_world *w = n->w;
	unsigned kind;
	size_t size;

	n->terms = (struct auc_posted_terms){.slots = w->slots,
					     .first = 1,
					     .theta = n->rules->theta,
					     .delta = n->rules->delta,
					     .paper = n->rules->paper,
					     .ceiling = 1,
					     .seed = n->rules->seed};
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		n->terms.ntypes[kind] = w->ntypes[kind];
		memcpy(n->terms.capacity[kind], w->total[kind], sizeof(w->total[kind]));
		memcpy(n->left[kind], w->total[kind], sizeof(w->total[kind]));
		size = (size_t)w->ntypes[kind] * w->nservers * sizeof(int32_t);
		n->idle[kind] = malloc(size + 1);
		if (n->idle[kind])
			memcpy(n->idle[kind], w->capacity[kind], size);
	}
	n->first = calloc(w->njobs + 1, sizeof(*n->first));
	n->n = calloc(w->njobs + 1, sizeof(*n->n));
	if (!n->idle[0] || !n->idle[1] || !n->first || !n->n ||
	    auc_posted_layout_open(&n->layout, w->nservers, NULL) != AUC_OK)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a run");
	return n->rules->fixed ? AUC_OK : n->rules->pricing->create(&n->terms, &n->self, err);
}

double posted_world_asked(const struct posted_world *w, const double *fixed, unsigned job)
{
	const struct auc_posted_ask *ask = &w->users[job].ask;

	return fixed[ask->type[0]] * ask->count[0] +
	       fixed[w->ntypes[0] + ask->type[1]] * ask->count[1];
}

/* False: no memory. */
static bool serve(struct now *n, unsigned job)
{
	const struct posted_world *w = n->w;
	const struct posted_user *u = &w->users[job];
	const struct posted_rules *rules = n->rules;
	const unsigned *type = u->ask.type, *count = u->ask.count;
	struct auc_posted_offer offer = {.ask = u->ask};
	struct auc_posted_speed speed = {rules->dynamic,
					 {w->bandwidth[0][type[0]], w->bandwidth[1][type[1]]}};
	struct auc_posted_room room = {
		.nservers = w->nservers,
		.idle = {n->idle[0] + type[0] * w->nservers, n->idle[1] + type[1] * w->nservers}};
	struct posted_run *out = n->out;
	int64_t slots = auc_posted_slots(u->ask.epochs * u->ask.seconds, w->slot_seconds);
	bool fits, accepted = false;
	double asked = NAN;

	/* a user who goes in any case changes nothing */
	if (rules->later && posted_world_asked(w, rules->fixed, job) > u->budget)
		return true;
	release(n, u->ask.arrival);
	fits = sim_posted_place(&n->layout, rules->placement, &room, &u->ask,
				rules->seed ^ auc_posted_hash(job));
	if (fits) {
		slots = auc_posted_slots(
			auc_posted_seconds(&u->ask, &speed, n->layout.shares, n->layout.n),
			w->slot_seconds);
		fits = u->ask.arrival + slots - 1 <= (auc_slot)w->slots;
	}
	if (!fits)
		slots = auc_posted_slots(u->ask.epochs * u->ask.seconds, w->slot_seconds);
	offer.slots = (double)slots;
	offer.idle[0] = fits ? n->left[0][type[0]] : 0;
	offer.idle[1] = fits ? n->left[1][type[1]] : 0;
	if (fits) {
		if (rules->fixed) {
			offer.price[0] = rules->fixed[type[0]];
			offer.price[1] = rules->fixed[w->ntypes[0] + type[1]];
		} else {
			rules->pricing->offer(n->self, &offer);
		}
		asked = offer.price[0] * count[0] + offer.price[1] * count[1];
		accepted = asked <= u->budget;
	}
	if (!rules->fixed && rules->pricing->answered)
		rules->pricing->answered(n->self, &offer, fits, accepted);
	if (out->price)
		out->price[job] = asked;
	out->blocked += !fits;
	out->refused += fits && !accepted;
	if (!accepted)
		return true;
	out->accepted++;
	out->revenue += asked;
	out->welfare += u->budget;
	out->runtime += (double)slots;
	out->exchanged_gb += exchange_gb(n, &u->ask);
	return take(n, job, slots);
}

static void release(struct now *n, auc_slot now)
{
	struct auc_posted_running r;
	unsigned i, job;

	while (auc_posted_queue_pop(&n->running, now, &r)) {
		job = (unsigned)r.id;
		for (i = 0; i < n->n[job]; i++)
			give(n, &n->w->users[job].ask, &n->shares[n->first[job] + i], 1);
		if (!n->rules->fixed && n->rules->pricing->completed)
			n->rules->pricing->completed(n->self, r.type, r.slots);
	}
}

static bool take(struct now *n, unsigned job, int64_t slots)
{
	const struct auc_posted_ask *ask = &n->w->users[job].ask;
	struct auc_posted_running r = {
		ask->arrival + slots, job, {ask->type[0], ask->type[1]}, (double)slots};
	struct auc_share *grown;
	unsigned i, alloc;

	if (n->nshares + n->layout.n > n->alloc) {
		alloc = 2 * (n->nshares + n->layout.n) + 1024;
		grown = realloc(n->shares, alloc * sizeof(*grown));
		if (!grown)
			return false;
		n->shares = grown;
		n->alloc = alloc;
	}
	n->first[job] = n->nshares;
	n->n[job] = n->layout.n;
	for (i = 0; i < n->layout.n; i++) {
		n->shares[n->nshares++] = n->layout.shares[i];
		give(n, ask, &n->layout.shares[i], -1);
	}
	return auc_posted_queue_push(&n->running, &r);
}

/* Gives SHARE back (SIGN 1) or takes it. */
static void give(struct now *n, const struct auc_posted_ask *ask, const struct auc_share *share,
		 int sign)
{
	unsigned count[] = {share->workers, share->ps}, kind;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		n->idle[kind][ask->type[kind] * n->w->nservers + share->server] +=
			sign * (int32_t)count[kind];
		n->left[kind][ask->type[kind]] += sign * (double)count[kind];
	}
}

/* What the layout at hand sends between servers in all epochs: gradients there, parameters back,
 * for each pair apart. */
static double exchange_gb(const struct now *n, const struct auc_posted_ask *ask)
{
	double pairs = (double)ask->count[0] * ask->count[1], apart = pairs;
	unsigned i;

	for (i = 0; i < n->layout.n; i++)
		apart -= (double)n->layout.shares[i].workers * n->layout.shares[i].ps;
	return 2 * ask->epochs * ask->gradient_mb * (double)ask->count[0] * (apart / pairs) / 1000;
}
