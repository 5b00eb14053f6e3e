/*
 * decisions.c - prints every decision of policies dps, eris and oasis on random small markets, to
 * the last bit of their numbers, and every layout of policies that decide slot by slot. tests/run
 * compares what the builds of several compilers and levels print: decisions must not depend on
 * them.
 *
 * Usage: decisions [MARKETS [FIRST-SEED]]
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "auctionsim/baseline/registry.h"
#include "policy/policy.h"
#include "unit/support/stepping.h"
#include "unit/support/tiny.h"

#define MARKETS 2000
#define JOBS    6

static void decide(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
		   struct tiny_market *t, struct auc_market *m, struct tiny_random *r);
static void lay_data(struct auc_job *job, const struct auc_market *m, struct tiny_random *r);
static void step(const struct tiny_market *t, struct tiny_random *r);
static void print_decision(const struct auc_decision *d, const struct auc_market *m);
static void must(enum auc_code code, const struct auc_err *err);

int main(int argc, char **argv)
{
	unsigned markets = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : MARKETS, i, n;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	static struct tiny_market t;
	struct auc_policy_ctx *ctx, *oasis, *eris;
	struct tiny_random r;
	struct auc_err err;

	must(auc_policy_dps.create("", &ctx, &err), &err);
	must(auc_policy_oasis.create("", &oasis, &err), &err);
	must(auc_policy_eris.create("", &eris, &err), &err);
	for (i = 0; i < markets; i++) {
		struct auc_market *m;
		unsigned servers, slots;

		r.state = seed + i;
		/* in two statements: arguments are evaluated in any order */
		servers = (unsigned)tiny_int(&r, 2, TINY_SERVERS);
		slots = (unsigned)tiny_int(&r, 4, TINY_SLOTS);
		tiny_market_make(&t, &r, servers, slots);
		m = tiny_build(&t);
		printf("market %llu\n", (unsigned long long)(seed + i));
		for (n = 0; n < JOBS; n++)
			decide(&auc_policy_dps, ctx, &t, m, &r);
		for (n = 0; n < JOBS / 2; n++)
			decide(&auc_policy_eris, eris, &t, m, &r);
		tiny_set_bounds(&t, &r, m);
		for (n = 0; n < JOBS / 2; n++)
			decide(&auc_policy_oasis, oasis, &t, m, &r);
		auc_market_destroy(m);
		step(&t, &r);
	}
	auc_policy_dps.destroy(ctx);
	auc_policy_oasis.destroy(oasis);
	auc_policy_eris.destroy(eris);
	return EXIT_SUCCESS;
}

static void decide(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
		   struct tiny_market *t, struct auc_market *m, struct tiny_random *r)
{
	struct auc_decision d;
	struct auc_job job = {0};
	struct tiny_job j;
	struct auc_err err;

	tiny_job_make(&j, r, t);
	tiny_resolve(m, &j, &job);
	if (policy->sites)
		lay_data(&job, m, r);
	auc_decision_init(&d);
	must(policy->quote(ctx, m, &job, &d, &err), &err);
	print_decision(&d, m);
	if (d.accepted)
		tiny_book(t, m, &d.plan);
	auc_decision_clear(&d);
	auc_job_clear(&job);
}

/* Some of the chunks on one server, the others on another. */
static void lay_data(struct auc_job *job, const struct auc_market *m, struct tiny_random *r)
{
	unsigned first = (unsigned)tiny_int(r, 0, (int)auc_market_nservers(m) - 2);
	uint64_t some = (uint64_t)tiny_int(r, 0, (int)job->chunks);

	job->data = calloc(2, sizeof(*job->data));
	if (!job->data)
		exit(EXIT_FAILURE);
	if (some)
		job->data[job->ndata++] = (struct auc_data){first, some};
	if (some < job->chunks)
		job->data[job->ndata++] = (struct auc_data){first + 1, job->chunks - some};
}

static void step(const struct tiny_market *t, struct tiny_random *r)
{
	struct tiny_job list[STEPPING_JOBS];
	unsigned i;

	for (i = 0; i < STEPPING_JOBS; i++)
		tiny_job_make(&list[i], r, t);
	for (i = 0; sim_steppers[i]; i++) {
		if (sim_steppers[i]->sites) /* these jobs have no chunks at sites */
			continue;
		puts(sim_steppers[i]->name);
		stepping_run(sim_steppers[i], "", t, list, STEPPING_JOBS, stdout);
	}
}

static void print_decision(const struct auc_decision *d, const struct auc_market *m)
{
	struct json_object *o;

	printf("%s", auc_reason_word(d->reason));
	if (d->reason == AUC_REASON_NONE || d->reason == AUC_REASON_PAYOFF) {
		o = auc_plan_to_json(&d->plan, m);
		printf(" %a %a %a %lld %s", d->best_payoff, d->plan.value, d->plan.cost,
		       (long long)auc_plan_payment(&d->plan),
		       json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
		json_object_put(o);
	}
	putchar('\n');
}

static void must(enum auc_code code, const struct auc_err *err)
{
	if (code == AUC_OK)
		return;
	fprintf(stderr, "decisions: %s\n", err->text);
	exit(EXIT_FAILURE);
}
