/*
 * posted_rivals.c - see posted_rivals.h: placements, and the policy with all options:
 *
 *   pricing=shared|bandit|top|random|fixed
 *   placement=pa|upa|rs|cha   bandwidth=static|dynamic: runtimes (1) or (22)
 *   variant=paper             the bandit as printed, theta too
 *   theta=auto|paper|SHARE    of a type's jobs that pay nothing at first (bandit); auto: the
 *                             printed one, at most 0.1
 *   ceiling=CREDITS           the unit price that the papers call 1
 *   seed=N                    of what is random
 *   fixed=W1/W2/.../P1/...    unit prices of worker types, then of PS types
 */
#include "config.h"

#include <stdlib.h>

#include "auctionsim/baseline/posted_rivals.h"
#include "auctionsim/baseline/registry.h"
#include "policy/option.h"

static enum auc_code rivals_create(const char *options, struct auc_policy_ctx **ctx,
				   struct auc_err *err);
static unsigned first_in_ring(const struct auc_posted_ask *ask, unsigned nservers);
static void shuffle(uint32_t *order, unsigned n, uint64_t luck);
static bool on_one(struct auc_posted_layout *l, const struct auc_posted_room *room,
		   const struct auc_posted_ask *ask);

const struct auc_policy sim_policy_posted = {AUC_POSTED_POLICY, .create = rivals_create};

struct options {
	unsigned pricing, placement, bandwidth, variant, theta_word;
	double theta, ceiling;
	uint64_t seed;
	char *fixed;
};

#define IN_OPTIONS(member) offsetof(struct options, member)
static const struct auc_option list[] = {
	{.key = "pricing",
	 .choices = "shared|bandit|top|random|fixed",
	 .offset = IN_OPTIONS(pricing)},
	{.key = "placement", .choices = "pa|upa|rs|cha", .offset = IN_OPTIONS(placement)},
	{.key = "bandwidth", .choices = "static|dynamic", .offset = IN_OPTIONS(bandwidth)},
	{.key = "variant", .choices = "paper", .offset = IN_OPTIONS(variant)},
	{.key = "theta", .choices = "auto|paper", .offset = IN_OPTIONS(theta_word)},
	{.key = "theta", .type = AUC_OPTION_NUMBER, .max = 1, .offset = IN_OPTIONS(theta)},
	{.key = "ceiling",
	 .type = AUC_OPTION_NUMBER,
	 .min = 1e-6,
	 .max = 1e6,
	 .offset = IN_OPTIONS(ceiling)},
	{.key = "seed",
	 .type = AUC_OPTION_COUNT,
	 .max = (double)(UINT64_MAX >> 11),
	 .offset = IN_OPTIONS(seed)},
	{.key = "fixed", .type = AUC_OPTION_TEXT, .choices = "PRICES", .offset = IN_OPTIONS(fixed)},
};

static enum auc_code rivals_create(const char *options, struct auc_policy_ctx **ctx,
				   struct auc_err *err)
{
	static const struct auc_posted_pricing *const pricings[] = {
		&auc_posted_shared, &sim_posted_bandit, &sim_posted_top, &sim_posted_random,
		&sim_posted_fixed};
	struct options o = {.pricing = AUC_OPTION_NOT_GIVEN,
			    .variant = AUC_OPTION_NOT_GIVEN,
			    .theta_word = AUC_OPTION_NOT_GIVEN,
			    .theta = -1,
			    .ceiling = 1,
			    .seed = 1};
	enum auc_code rc =
		auc_options_read("posted", options, list, sizeof(list) / sizeof(*list), &o, err);
	bool paper = o.variant != AUC_OPTION_NOT_GIVEN;
	struct auc_posted_choice c = {.place = sim_posted_place,
				      .how = o.placement,
				      .dynamic = o.bandwidth == 1,
				      .paper = paper,
				      .ceiling = o.ceiling,
				      .seed = o.seed,
				      .fixed = o.fixed,
				      .theta = AUC_POSTED_THETA_AUTO};

	*ctx = NULL;
	if (rc != AUC_OK) {
		free(o.fixed);
		return rc;
	}
	if (o.theta >= 0)
		c.theta = o.theta;
	else if (o.theta_word == 1 || (o.theta_word == AUC_OPTION_NOT_GIVEN && paper))
		c.theta = AUC_POSTED_THETA_PAPER;
	if (o.pricing != AUC_OPTION_NOT_GIVEN)
		c.pricing = pricings[o.pricing];
	else
		c.pricing = o.fixed ? &sim_posted_fixed
			    : paper ? &sim_posted_bandit
				    : &auc_posted_shared;
	return auc_posted_create(&c, ctx, err);
}

/* -- placements -- */

bool sim_posted_place(struct auc_posted_layout *l, unsigned how, const struct auc_posted_room *room,
		      const struct auc_posted_ask *ask, uint64_t luck)
{
	unsigned n = room->nservers, at = how == SIM_POSTED_CHA ? first_in_ring(ask, n) : 0;

	if (how != SIM_POSTED_RS && how != SIM_POSTED_CHA)
		return auc_posted_place(l, how, room, ask, luck);
	for (unsigned i = 0; i < n; i++)
		l->order[i] = at + i < n ? at + i : at + i - n;
	if (how == SIM_POSTED_RS)
		shuffle(l->order, n, luck);
	else if (on_one(l, room, ask))
		return true;
	return auc_posted_fill(l, room, ask);
}

static unsigned first_in_ring(const struct auc_posted_ask *ask, unsigned nservers)
{
	uint64_t h = 0;

	for (int kind = 0; kind < AUC_POSTED_KINDS; kind++)
		h = auc_posted_hash(auc_posted_hash(h + ask->type[kind]) + ask->count[kind]);
	return nservers ? (unsigned)(h % nservers) : 0;
}

static void shuffle(uint32_t *order, unsigned n, uint64_t luck)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned k = (unsigned)(auc_posted_luck(luck, i) * i);
		uint32_t swap = order[i - 1];

		order[i - 1] = order[k];
		order[k] = swap;
	}
}

/* The first server in order that holds all. */
static bool on_one(struct auc_posted_layout *l, const struct auc_posted_room *room,
		   const struct auc_posted_ask *ask)
{
	unsigned workers = ask->count[AUC_POSTED_WORKER], ps = ask->count[AUC_POSTED_PS];

	for (unsigned i = 0; i < room->nservers; i++) {
		unsigned s = l->order[i];
		int32_t beside = room->idle[AUC_POSTED_PS][s];

		if (room->idle[AUC_POSTED_WORKER][s] < (int32_t)workers)
			continue;
		if (room->beside && workers)
			beside = room->beside(room, s, workers);
		if (beside < (int32_t)ps)
			continue;
		l->n = 1;
		l->shares[0] = (struct auc_share){s, workers, ps};
		return true;
	}
	return false;
}
