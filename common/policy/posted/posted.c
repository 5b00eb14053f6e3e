/*
 * posted.c - policy posted: take it or leave it. R. Zhou, X. Zhang, J. C. S. Lui, Z. Li: "Dynamic
 * Pricing and Placing for Distributed Machine Learning Jobs: An Online Learning Approach", IEEE
 * JSAC 2023, as policies.md reads it. A job starts when it comes, or as soon as its data are where
 * it fits; it is placed first, and then priced. The price is for all of the job: p_k d_k + p_m d_m.
 *
 * What the user would pay is not in the job that a quote sees; the caller asks, and tells
 * answered(). What that teaches is the pricing's: posted_shared.c says why it is as it is. The
 * paper's own pricing, and what it is compared with, are in the simulator, which makes this policy
 * with another choice (auc_posted_create()).
 *
 * Options, ',' between them:
 *   pricing=shared            there is no other
 *   placement=pa|upa          bandwidth=static|dynamic: runtimes (1) or (22)
 *   ceiling=CREDITS           the unit price that the papers call 1
 *   seed=N                    of what is random
 *
 * Gangs are placed and priced by posted_gang.c. What they answer is not put down (answer()).
 *
 * A bid without counts asks for a worker per chunk and the PSs of DPS's (12); without the computing
 * time of an epoch, an epoch is a mini-batch on each worker. Of several types that the job may use
 * it is the pair with the least time of a mini-batch.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "base/num.h"
#include "policy/pairs.h"
#include "policy/option.h"
#include "policy/policy.h"
#include "policy/posted/posted-private.h"
#include "policy/posted/posted_gang.h"

struct auc_policy_ctx {
	struct auc_posted_choice choice;
	struct auc_posted_terms terms;
	/* of the market that was seen last; self: what the pricing knows */
	bool open;
	char names[2 * AUC_TYPES_MAX][AUC_NAME_MAX];
	void *self;
	struct auc_posted_layout layout;
	int32_t *idle[AUC_POSTED_KINDS]; /* by server, of the window at hand */
	struct auc_posted_queue running;
	uint64_t jobs;
	struct auc_posted_gangs *gangs; /* NULL: none has come */
};

/* One placement that is looked for: in slots START to START + SLOTS - 1, on servers that have the
 * data after UPLOAD. */
struct search {
	struct auc_policy_ctx *ctx;
	const struct auc_market *m;
	const struct auc_job *job;
	struct auc_posted_ask ask;
	struct auc_posted_speed speed;
	struct auc_posted_room room;
	unsigned upload;
	auc_slot start;
	int64_t slots;
	uint64_t steps, limit; /* beyond it no other place is looked for */
};

static enum auc_code posted_create(const char *options, struct auc_policy_ctx **ctx,
				   struct auc_err *err);
static enum auc_code quote_gang(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err);
static bool read_offer(const struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision,
		       struct auc_posted_offer *offer);
static unsigned of_kind(const struct auc_market *m, unsigned kind, unsigned i);
static void learn(struct auc_policy_ctx *ctx, const struct auc_posted_offer *offer, bool offered,
		  bool accepted, auc_slot completion);
static enum auc_code prepare(struct auc_policy_ctx *ctx, const struct auc_market *m,
			     struct auc_err *err);
static bool same_types(const struct auc_policy_ctx *ctx, const struct auc_market *m);
static bool make_ask(const struct auc_market *m, const struct auc_job *job,
		     struct auc_posted_ask *ask);
static bool find_place(struct search *s);
static bool find_window(struct search *s);
static void look(struct search *s);
static bool holds(const struct search *s, int64_t slots);
static int32_t least_fit(const struct auc_market *m, unsigned type, unsigned server, auc_slot t,
			 int64_t slots);
static int32_t ps_beside(const struct auc_posted_room *room, unsigned server, unsigned workers);
static bool share_tres(const struct auc_market *m, const struct auc_posted_ask *ask);
static unsigned next_upload(const struct search *s);
static void make_offer(const struct search *s, struct auc_posted_offer *offer);
static void raise_offer(struct auc_decision *decision, const struct auc_market *m,
			const unsigned *count);
static enum auc_code make_plan(const struct search *s, const struct auc_posted_offer *offer,
			       struct auc_decision *decision, struct auc_err *err);

const struct auc_policy auc_policy_posted = {AUC_POSTED_POLICY, .create = posted_create};

struct options {
	unsigned pricing, placement, bandwidth;
	double ceiling;
	uint64_t seed;
};

#define IN_OPTIONS(member) offsetof(struct options, member)
static const struct auc_option posted_options[] = {
	{.key = "pricing", .choices = "shared", .offset = IN_OPTIONS(pricing)},
	{.key = "placement", .choices = "pa|upa", .offset = IN_OPTIONS(placement)},
	{.key = "bandwidth", .choices = "static|dynamic", .offset = IN_OPTIONS(bandwidth)},
	{.key = "ceiling",
	 .type = AUC_OPTION_NUMBER,
	 .min = 1e-6,
	 .max = 1e6,
	 .offset = IN_OPTIONS(ceiling)},
	{.key = "seed",
	 .type = AUC_OPTION_COUNT,
	 .max = (double)(UINT64_MAX >> 11),
	 .offset = IN_OPTIONS(seed)},
};
#define NOPTIONS (sizeof(posted_options) / sizeof(*posted_options))

static enum auc_code posted_create(const char *options, struct auc_policy_ctx **out,
				   struct auc_err *err)
{
	struct options o = {.ceiling = 1, .seed = 1};
	enum auc_code rc = auc_options_read("posted", options, posted_options, NOPTIONS, &o, err);

	*out = NULL;
	if (rc != AUC_OK)
		return rc;
	return auc_posted_create(&(struct auc_posted_choice){.pricing = &auc_posted_shared,
							     .place = auc_posted_place,
							     .how = o.placement,
							     .dynamic = o.bandwidth == 1,
							     .ceiling = o.ceiling,
							     .seed = o.seed},
				 out, err);
}

enum auc_code auc_posted_create(const struct auc_posted_choice *c, struct auc_policy_ctx **out,
				struct auc_err *err)
{
	struct auc_policy_ctx *ctx = calloc(1, sizeof(*ctx));

	*out = ctx;
	if (!ctx) {
		free(c->fixed);
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy posted");
	}
	ctx->choice = *c;
	ctx->terms.paper = c->paper;
	ctx->terms.ceiling = c->ceiling;
	ctx->terms.seed = c->seed;
	ctx->terms.fixed = c->fixed;
	ctx->terms.theta = c->theta;
	ctx->terms.delta = c->delta;
	return AUC_OK;
}

void auc_posted_destroy(struct auc_policy_ctx *ctx)
{
	if (!ctx)
		return;
	if (ctx->self)
		ctx->choice.pricing->destroy(ctx->self);
	auc_posted_layout_clear(&ctx->layout);
	auc_posted_queue_clear(&ctx->running);
	auc_posted_gangs_destroy(ctx->gangs);
	free(ctx->idle[AUC_POSTED_WORKER]);
	free(ctx->idle[AUC_POSTED_PS]);
	free(ctx->choice.fixed);
	free(ctx);
}

enum auc_code auc_posted_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err)
{
	struct search s = {.ctx = ctx, .m = m, .job = job};
	struct auc_posted_running done;
	struct auc_posted_offer offer;
	enum auc_code rc;
	bool found;

	if (job->nshapes)
		return quote_gang(ctx, m, job, decision, err);
	rc = prepare(ctx, m, err);
	auc_decision_reset(decision);
	if (rc != AUC_OK)
		return rc;
	while (auc_posted_queue_pop(&ctx->running, job->arrival, &done))
		if (ctx->choice.pricing->completed)
			ctx->choice.pricing->completed(ctx->self, done.type, (double)done.slots);
	s.limit = decision->most_steps ? decision->most_steps : UINT64_MAX;
	found = make_ask(m, job, &s.ask) && find_place(&s);
	decision->steps = s.steps;
	auc_decision_cut(decision, !found && s.steps > s.limit ? INFINITY : -INFINITY);
	if (!found)
		return AUC_OK;
	make_offer(&s, &offer);
	return make_plan(&s, &offer, decision, err);
}

static enum auc_code quote_gang(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err)
{
	auc_decision_reset(decision);
	if (ctx->choice.fixed)
		return auc_err_set(
			err, AUC_EINVAL,
			"policy posted: fixed: expected no gangs, which have none of the "
			"types that these prices are of");
	if (!ctx->gangs)
		ctx->gangs = auc_posted_gangs_create(ctx->choice.pricing, &ctx->terms);
	if (!ctx->gangs)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy posted");
	return auc_posted_gangs_quote(ctx->gangs, m, job, decision, err);
}

/* The offer is worked out anew from the decision: nothing has happened in between. */
static bool read_offer(const struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision,
		       struct auc_posted_offer *offer)
{
	unsigned kind;

	*offer = (struct auc_posted_offer){.slots = 0};
	if (!ctx->open || job->nshapes || !make_ask(m, job, &offer->ask))
		return false;
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		offer->price[kind] = decision->offer[kind];
		offer->idle[kind] = decision->idle[kind];
	}
	if (decision->offered)
		offer->slots = (double)(decision->plan.completion - decision->plan.start);
	else
		offer->slots = (double)auc_posted_slots(offer->ask.epochs * offer->ask.seconds,
							m->slot_seconds);
	return true;
}

void auc_posted_answered(struct auc_policy_ctx *ctx, const struct auc_market *m,
			 const struct auc_job *job, const struct auc_decision *decision,
			 bool accepted)
{
	struct auc_posted_offer offer;

	if (job->nshapes) {
		if (ctx->gangs)
			auc_posted_gangs_answered(ctx->gangs, m, job, decision, accepted);
		return;
	}
	if (read_offer(ctx, m, job, decision, &offer))
		learn(ctx, &offer, decision->offered, accepted, decision->plan.completion);
}

/* ACCEPTED: it runs until COMPLETION. */
static void learn(struct auc_policy_ctx *ctx, const struct auc_posted_offer *offer, bool offered,
		  bool accepted, auc_slot completion)
{
	struct auc_posted_running r = {
		.completion = completion, .id = ctx->jobs++, .slots = offer->slots};

	if (ctx->choice.pricing->answered)
		ctx->choice.pricing->answered(ctx->self, offer, offered, accepted);
	memcpy(r.type, offer->ask.type, sizeof(r.type));
	if (accepted) /* without memory for it, a duration goes unlearned */
		(void)auc_posted_queue_push(&ctx->running, &r);
}

bool auc_posted_answer(const struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision,
		       bool accepted, struct auc_answer *answer)
{
	struct auc_posted_offer offer;
	unsigned kind;

	if (!read_offer(ctx, m, job, decision, &offer) || offer.slots > AUC_ANSWER_SLOTS_MAX)
		return false;
	*answer = (struct auc_answer){.slots = offer.slots,
				      .arrival = offer.ask.arrival,
				      .offered = decision->offered,
				      .accepted = accepted};
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		memcpy(answer->type[kind], m->types[of_kind(m, kind, offer.ask.type[kind])].name,
		       AUC_NAME_MAX);
		answer->count[kind] = offer.ask.count[kind];
		answer->price[kind] = offer.price[kind];
		answer->idle[kind] = offer.idle[kind];
	}
	return true;
}

enum auc_code auc_posted_recall(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_answer *answer, struct auc_err *err)
{
	struct auc_posted_offer offer = {.slots = answer->slots};
	unsigned kind, i, n[] = {m->nworker_types, m->nps_types};
	enum auc_code rc = prepare(ctx, m, err);

	if (rc != AUC_OK || answer->arrival > auc_market_last(m) ||
	    !(answer->slots <= AUC_ANSWER_SLOTS_MAX))
		return rc;
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		for (i = 0; i < n[kind] &&
			    strcmp(m->types[of_kind(m, kind, i)].name, answer->type[kind]) != 0;
		     i++)
			;
		if (i == n[kind])
			return AUC_OK;
		offer.ask.type[kind] = i;
		offer.ask.count[kind] = answer->count[kind];
		offer.price[kind] = answer->price[kind];
		offer.idle[kind] = answer->idle[kind];
	}
	offer.ask.arrival = answer->arrival;
	if (answer->arrival < ctx->terms.first)
		ctx->terms.first = answer->arrival;
	learn(ctx, &offer, answer->offered, answer->accepted,
	      answer->arrival + (auc_slot)answer->slots);
	return AUC_OK;
}

/* Where M has type I of KIND. */
static unsigned of_kind(const struct auc_market *m, unsigned kind, unsigned i)
{
	return kind == AUC_POSTED_PS ? auc_ps_index(m, i) : i;
}

/* -- the market -- */

/* What the market has today; a pricing is made anew only where the types are others. */
static enum auc_code prepare(struct auc_policy_ctx *ctx, const struct auc_market *m,
			     struct auc_err *err)
{
	struct auc_posted_terms *t = &ctx->terms;
	enum auc_code rc;
	unsigned i;

	if (ctx->layout.nservers < m->nservers || !ctx->layout.shares) {
		for (i = 0; i < AUC_POSTED_KINDS; i++) {
			free(ctx->idle[i]);
			ctx->idle[i] = calloc((size_t)m->nservers + 1, sizeof(*ctx->idle[i]));
		}
		rc = ctx->idle[0] && ctx->idle[1]
			     ? auc_posted_layout_open(&ctx->layout, m->nservers, err)
			     : auc_err_set(err, AUC_ENOMEM, "no memory for policy posted");
		if (rc != AUC_OK)
			return rc;
	}
	for (i = 0; i < m->nworker_types; i++)
		t->capacity[AUC_POSTED_WORKER][i] = (double)m->cache[i].total0;
	for (i = 0; i < m->nps_types; i++)
		t->capacity[AUC_POSTED_PS][i] = (double)m->cache[auc_ps_index(m, i)].total0;
	if (ctx->open && same_types(ctx, m))
		return AUC_OK;
	if (ctx->self)
		ctx->choice.pricing->destroy(ctx->self);
	auc_posted_queue_clear(&ctx->running);
	ctx->self = NULL;
	ctx->open = false;
	t->slots = m->slots;
	t->first = m->first;
	t->ntypes[AUC_POSTED_WORKER] = m->nworker_types;
	t->ntypes[AUC_POSTED_PS] = m->nps_types;
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		memcpy(ctx->names[i], m->types[i].name, AUC_NAME_MAX);
	rc = ctx->choice.pricing->create(t, &ctx->self, err);
	ctx->open = rc == AUC_OK;
	return rc;
}

static bool same_types(const struct auc_policy_ctx *ctx, const struct auc_market *m)
{
	unsigned i;

	if (ctx->terms.ntypes[AUC_POSTED_WORKER] != m->nworker_types ||
	    ctx->terms.ntypes[AUC_POSTED_PS] != m->nps_types)
		return false;
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		if (strcmp(ctx->names[i], m->types[i].name) != 0)
			return false;
	return true;
}

/* False: it may use no types, or asks for too much. */
static bool make_ask(const struct auc_market *m, const struct auc_job *job,
		     struct auc_posted_ask *ask)
{
	uint64_t workers = job->workers ? job->workers : job->chunks;
	int64_t ps = (int64_t)job->ps;
	unsigned w, p;

	if (workers > AUC_FIT_MAX || !auc_pairs_fastest(m, job, &w, &p))
		return false;
	if (!ps)
		ps = auc_job_ps(m, w, p, (int64_t)workers);
	if (ps > AUC_FIT_MAX)
		return false;
	ask->arrival = job->arrival;
	ask->type[AUC_POSTED_WORKER] = w;
	ask->type[AUC_POSTED_PS] = p;
	ask->count[AUC_POSTED_WORKER] = (unsigned)workers;
	ask->count[AUC_POSTED_PS] = (unsigned)ps;
	ask->gradient_mb = job->gradient_mb;
	ask->epochs = (double)job->epochs;
	ask->seconds = job->compute_seconds;
	if (!(ask->seconds > 0)) {
		ask->epochs *= (double)job->chunks * (double)job->minibatches / (double)workers;
		ask->seconds = job->worker_seconds[w] + job->ps_seconds[p];
	}
	return true;
}

/* -- the place -- */

/* At the arrival where the data are, else when they are in more places. */
static bool find_place(struct search *s)
{
	const struct auc_market *m = s->m;

	s->speed.dynamic = s->ctx->choice.dynamic;
	s->speed.bandwidth[AUC_POSTED_WORKER] = m->types[s->ask.type[AUC_POSTED_WORKER]].bandwidth;
	s->speed.bandwidth[AUC_POSTED_PS] =
		m->types[auc_ps_index(m, s->ask.type[AUC_POSTED_PS])].bandwidth;
	s->room.nservers = m->nservers;
	s->room.idle[AUC_POSTED_WORKER] = s->ctx->idle[AUC_POSTED_WORKER];
	s->room.idle[AUC_POSTED_PS] = s->ctx->idle[AUC_POSTED_PS];
	s->room.arg = s;
	if (share_tres(m, &s->ask))
		s->room.beside = ps_beside;
	for (s->upload = 0; s->upload != UINT32_MAX && s->steps <= s->limit;
	     s->upload = next_upload(s)) {
		s->steps += m->nservers;
		s->start = s->job->arrival + (auc_slot)s->upload;
		if (s->start > auc_market_last(m))
			return false;
		if (s->start >= m->first && find_window(s))
			return true;
	}
	return false;
}

/*
 * How long the job takes is known when it is placed; where that does not last (something is sold
 * ahead), it is placed again by what is idle all that time.
 */
static bool find_window(struct search *s)
{
	struct auc_posted_layout *l = &s->ctx->layout;
	int64_t slots;

	for (s->slots = 1; s->steps <= s->limit; s->slots = slots) {
		look(s);
		if (!s->ctx->choice.place(l, s->ctx->choice.how, &s->room, &s->ask,
					  s->ctx->terms.seed ^ auc_posted_hash(s->ctx->jobs)))
			return false;
		slots = auc_posted_slots(auc_posted_seconds(&s->ask, &s->speed, l->shares, l->n),
					 s->m->slot_seconds);
		if (slots > auc_market_last(s->m) - s->start + 1)
			return false;
		if (slots <= s->slots || holds(s, slots)) {
			s->slots = slots;
			return true;
		}
	}
	return false;
}

/* What is idle on each server throughout the window. */
static void look(struct search *s)
{
	unsigned kind, i, type, *upload = s->job->upload;

	/* of the look, of the placing, and of what fits beside workers in each slot */
	s->steps += (uint64_t)s->m->nservers *
		    (16 + (s->slots > 1 ? 32 : 0) + (s->room.beside ? (uint64_t)s->slots : 0));

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		type = kind == AUC_POSTED_PS ? auc_ps_index(s->m, s->ask.type[kind])
					     : s->ask.type[kind];
		if (s->slots == 1)
			auc_type_fits(s->m, type, (unsigned)(s->start - s->m->first),
				      s->ctx->idle[kind]);
		else
			for (i = 0; i < s->m->nservers; i++)
				s->ctx->idle[kind][i] =
					least_fit(s->m, type, i, s->start, s->slots);
		for (i = 0; i < s->m->nservers; i++)
			if (upload[i] > s->upload)
				s->ctx->idle[kind][i] = 0;
	}
}

/* Does the layout at hand fit for SLOTS? */
static bool holds(const struct search *s, int64_t slots)
{
	const struct auc_posted_layout *l = &s->ctx->layout;
	struct search longer = *s;
	struct auc_posted_room room = s->room;
	const struct auc_share *share;

	longer.slots = slots;
	room.arg = &longer;
	for (share = l->shares; share < l->shares + l->n; share++) {
		if (share->workers && least_fit(s->m, s->ask.type[AUC_POSTED_WORKER], share->server,
						s->start, slots) < (int32_t)share->workers)
			return false;
		if (share->ps && least_fit(s->m, auc_ps_index(s->m, s->ask.type[AUC_POSTED_PS]),
					   share->server, s->start, slots) < (int32_t)share->ps)
			return false;
		if (room.beside && share->ps &&
		    room.beside(&room, share->server, share->workers) < (int32_t)share->ps)
			return false;
	}
	return true;
}

/* How many of TYPE fit on SERVER throughout SLOTS slots from T on: block by block. */
static int32_t least_fit(const struct auc_market *m, unsigned type, unsigned server, auc_slot t,
			 int64_t slots)
{
	const struct auc_type_cache *c = &m->cache[type];
	int32_t least = INT32_MAX, here;
	unsigned level;

	while (slots > 0) {
		for (level = 0; level + 1 < m->nlevels && !(t & (((auc_slot)2 << level) - 1)) &&
				(2 << level) <= slots;
		     level++)
			;
		here = auc_type_fit(c, auc_block_row(m, level, t >> level), server);
		least = here < least ? here : least;
		t += (auc_slot)1 << level;
		slots -= (int64_t)1 << level;
	}
	return least;
}

/* PSs beside WORKERS in the window of the search. */
static int32_t ps_beside(const struct auc_posted_room *room, unsigned server, unsigned workers)
{
	const struct search *s = room->arg;
	const struct auc_market *m = s->m;
	const struct auc_bundle *w = &m->types[s->ask.type[AUC_POSTED_WORKER]];
	const struct auc_bundle *p = &m->types[auc_ps_index(m, s->ask.type[AUC_POSTED_PS])];
	int64_t left, fits = room->idle[AUC_POSTED_PS][server], most = 0;
	auc_slot t;
	unsigned i, k;

	for (i = 0; i < p->nused; i++) {
		k = p->used[i];
		for (t = s->start, most = 0; t < s->start + s->slots; t++) {
			left = m->used[auc_cell(m, (unsigned)(t - m->first), server) * m->ntres +
				       k];
			most = left > most ? left : most;
		}
		left = m->servers[server].units[k] - most - (int64_t)workers * w->units[k];
		left = left > 0 ? left / p->units[k] : 0;
		fits = left < fits ? left : fits;
	}
	return (int32_t)fits;
}

static bool share_tres(const struct auc_market *m, const struct auc_posted_ask *ask)
{
	const struct auc_bundle *w = &m->types[ask->type[AUC_POSTED_WORKER]];
	const struct auc_bundle *p = &m->types[auc_ps_index(m, ask->type[AUC_POSTED_PS])];
	unsigned i;

	for (i = 0; i < p->nused; i++)
		if (w->units[p->used[i]])
			return true;
	return false;
}

/* The least time of an upload above the one at hand. */
static unsigned next_upload(const struct search *s)
{
	unsigned next = UINT32_MAX, i;

	for (i = 0; i < s->m->nservers; i++)
		if (s->job->upload[i] > s->upload && s->job->upload[i] < next)
			next = s->job->upload[i];
	return next;
}

/* -- the offer -- */

static void make_offer(const struct search *s, struct auc_posted_offer *offer)
{
	unsigned kind, i;

	*offer = (struct auc_posted_offer){.ask = s->ask, .slots = (double)s->slots};
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		for (i = 0; i < s->m->nservers; i++)
			offer->idle[kind] += s->ctx->idle[kind][i];
	s->ctx->choice.pricing->offer(s->ctx->self, offer);
}

static enum auc_code make_plan(const struct search *s, const struct auc_posted_offer *offer,
			       struct auc_decision *decision, struct auc_err *err)
{
	const struct auc_posted_layout *l = &s->ctx->layout;
	struct auc_plan *plan = &decision->plan;
	enum auc_code rc;
	unsigned i;

	decision->accepted = true;
	decision->reason = AUC_REASON_NONE;
	decision->offered = true;
	plan->worker_type = s->ask.type[AUC_POSTED_WORKER];
	plan->ps_type = s->ask.type[AUC_POSTED_PS];
	plan->colocated = l->n == 1;
	plan->arrival = s->job->arrival;
	plan->start = s->start;
	plan->completion = s->start + s->slots;
	plan->cost = 0;
	for (i = 0; i < AUC_POSTED_KINDS; i++) {
		decision->offer[i] = offer->price[i];
		decision->idle[i] = offer->idle[i];
		plan->cost += offer->price[i] * s->ask.count[i];
	}
	rc = auc_plan_add_run(plan, plan->start, plan->completion - 1, err);
	for (i = 0; i < l->n && rc == AUC_OK; i++)
		rc = auc_plan_add_share(plan, l->shares[i].server, l->shares[i].workers,
					l->shares[i].ps, err);
	if (rc == AUC_OK)
		raise_offer(decision, s->m, s->ask.count);
	return rc;
}

/* Offers no less than what the plan costs the site. */
static void raise_offer(struct auc_decision *decision, const struct auc_market *m,
			const unsigned *count)
{
	struct auc_plan *plan = &decision->plan;
	double least = auc_plan_floor(plan, m), cost = plan->cost;

	if (cost >= least)
		return;
	plan->cost = least;
	for (unsigned i = 0; i < AUC_POSTED_KINDS && cost > 0; i++)
		decision->offer[i] *= least / cost;
	if (!(cost > 0))
		decision->offer[AUC_POSTED_WORKER] = least / count[AUC_POSTED_WORKER];
}
