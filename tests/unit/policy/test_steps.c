/*
 * test_steps.c - no bid makes a decision long: in markets that are full of holes, and for bids that
 * are made to take time, every policy keeps to the most steps that it may take, says so when it was
 * cut, and what it then has is a schedule that can be had.
 *
 * With arguments "SERVERS SLOTS [POLICY [STEPS]]" it prints what each bid takes there, in steps and
 * time.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "auctionsim/baseline/registry.h"
#include "market/timeline.h"
#include "policy/policy.h"
#include "policy/registry.h"

#define SERVERS 100
#define SLOTS   100
#define BIDS    24
#define TYPES   3

static uint64_t state;

/* splitmix64 */
static uint64_t draw(void)
{
	uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static unsigned pick(unsigned low, unsigned high)
{
	return low + (unsigned)(draw() % (high - low + 1));
}

static void must(enum auc_code rc, const struct auc_err *err)
{
	if (rc != AUC_OK)
		fail_msg("%s", err->text);
}

static struct auc_named amount(const char *name, double value)
{
	struct auc_named n = {.value = value};

	strcpy(n.name, name);
	return n;
}

/* Prices by which POLICY sells: dear where much is sold. */
static void set_price(const struct auc_policy *policy, struct auc_price *price)
{
	static const char *const tres[] = {"cpu", "mem", "gpu:a", "gpu:b"};
	bool mem;

	*price = (struct auc_price){.kind = policy->prices};
	for (unsigned i = 0; i < 4; i++) {
		struct auc_price_bounds *b = &price->bounds[i];

		mem = i == 1;
		price->eta[i] = amount(tres[i], mem ? 1.0001 : 20);
		strcpy(b->name, tres[i]);
		for (unsigned role = 0; role < AUC_PRICE_ROLES; role++) {
			b->lower[role] = log(mem ? 1e-6 : 0.1);
			b->upper[role] = log(mem ? 1e-3 : 30);
		}
	}
	price->neta = price->nbounds = 4;
}

/* Nodes of two kinds of GPU, all of them for workers and PSs, which share CPUs and memory. */
static struct auc_market *make_market(const struct auc_policy *policy, unsigned servers,
				      unsigned slots)
{
	struct auc_market *m = auc_market_create(slots, 300, 1000);
	struct auc_named list[3];
	struct auc_price price;
	struct auc_err err = {0};
	char name[AUC_NAME_MAX];

	assert_non_null(m);
	for (unsigned i = 0; i < servers; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		list[0] = amount("cpu", 16 + 4 * pick(0, 4));
		list[1] = amount("mem", 65536 + 8192 * pick(0, 8));
		list[2] = amount(i % 2 ? "gpu:a" : "gpu:b", 4 + 4 * pick(0, 1));
		must(auc_market_add_server(m, name, i % 10 ? "edge" : "cloud", i % 10 == 0,
					   AUC_ROLES_ALL, 0, list, 3, &err),
		     &err);
	}
	for (unsigned i = 0; i < TYPES; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		list[0] = amount("cpu", 2 + i);
		list[1] = amount("mem", 4096 + 1024 * i);
		list[2] = amount(i % 2 ? "gpu:a" : "gpu:b", 1);
		must(auc_market_add_worker_type(m, name, list, 3, 1000, &err), &err);
		snprintf(name, sizeof(name), "p%u", i);
		must(auc_market_add_ps_type(m, name, list, 2, 1000 * (1 + i), &err), &err);
	}
	set_price(policy, &price);
	must(auc_market_ready(m, &price, &err), &err);
	return m;
}

/* Sells a piece here and there until the market is full of holes, no two servers alike. */
static void fragment(struct auc_market *m)
{
	unsigned slots = m->slots, servers = m->nservers, k, length;
	double share;
	auc_slot t;

	auc_market_begin_bulk(m);
	for (unsigned s = 0; s < servers; s++)
		for (t = 0; t < slots; t += length) {
			length = pick(1, 6);
			for (k = 0; k < m->ntres; k++) {
				share = pick(0, 3) ? pick(0, 90) / 100.0 : 0;
				(void)auc_market_reserve(
					m, s, k, m->first + t, m->first + t + length - 1,
					floor(share * auc_market_capacity(m, s, k)), NULL);
			}
		}
	auc_market_end_bulk(m);
}

/* A bid made to take time: much work or little, many chunks, data that come late here and there,
 * worth the same for ever, or just about what it costs. */
static void make_job(struct auc_job *job, const struct auc_policy *policy,
		     const struct auc_market *m)
{
	static const unsigned chunks[] = {1, 7, 40, 200, 1000};
	struct auc_utility *u = &job->utility;
	double work;

	job->arrival = m->first;
	job->epochs = pick(1, 40);
	job->chunks = chunks[pick(0, 4)];
	job->minibatches = pick(1, 100);
	job->gradient_mb = pick(0, 1) ? 0 : pick(1, 400);
	work = (double)job->chunks * pick(1, m->slots) / 2;
	for (unsigned i = 0; i < TYPES; i++) {
		job->worker_seconds[i] = work * 300 /
					 (double)(job->epochs * job->chunks * job->minibatches) *
					 (1 + pick(0, 100) / 400.0);
		job->ps_seconds[i] = pick(0, 1) ? 0 : job->worker_seconds[i] * pick(0, 50) / 100;
	}
	for (unsigned s = 0; s < m->nservers; s++)
		job->upload[s] = pick(0, 2) ? 0 : pick(0, m->slots / 2);
	memset(u, 0, sizeof(*u));
	u->form = pick(0, 2) ? AUC_FORM_CONSTANT : AUC_FORM_LINEAR;
	u->scale = work * pow(10, pick(0, 50) / 10.0 - 1);
	u->decay = u->form == AUC_FORM_LINEAR ? u->scale / m->slots / 2 : 0;
	job->ndata = 0;
	if (!policy->sites)
		return;
	for (unsigned s = 0, left = (unsigned)job->chunks, n; left; s++) {
		n = s + 1 == m->nservers || s == 30 ? left : pick(0, 3);

		n = n < left ? n : left;
		if (n)
			job->data[job->ndata++] = (struct auc_data){s, n};
		left -= n;
	}
}

struct seen {
	unsigned decided, accepted, cut, cut_accepted;
	uint64_t most;        /* steps */
	double slow, slowest; /* seconds: all, the longest one */
};

/* Decides on BIDS bids in MOST steps each, and looks at each decision. */
static struct seen decide(const struct auc_policy *policy, const char *options, unsigned servers,
			  unsigned slots, uint64_t most, bool print)
{
	struct auc_market *m;
	struct auc_job job = {.upload = calloc(servers, sizeof(unsigned)),
			      .data = calloc(servers, sizeof(struct auc_data))};
	struct auc_policy_ctx *ctx;
	struct auc_decision d;
	struct seen seen = {0};
	struct auc_err err = {0};
	struct timespec a, b;
	double took;

	state = 1;
	m = make_market(policy, servers, slots);
	fragment(m);
	must(policy->create(options, &ctx, &err), &err);
	auc_decision_init(&d);
	for (unsigned i = 0; i < BIDS; i++) {
		make_job(&job, policy, m);
		if (policy->look)
			must(policy->look(ctx, m, &err), &err);
		d.most_steps = most;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		must(policy->quote(ctx, m, &job, &d, &err), &err);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		took = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
		seen.slow += took;
		seen.slowest = fmax(seen.slowest, took);
		seen.most = d.steps > seen.most ? d.steps : seen.most;
		seen.decided++;
		seen.accepted += d.accepted;
		seen.cut += d.cut;
		seen.cut_accepted += d.cut && d.accepted;
		if (print)
			printf("%s %ux%u chunks %4llu %s: %9.3f ms %11llu steps %s payoff %g "
			       "distance %g\n",
			       policy->name, servers, slots, (unsigned long long)job.chunks,
			       auc_reason_word(d.reason), took * 1e3, (unsigned long long)d.steps,
			       d.cut ? "cut" : "", d.best_payoff, d.distance);
		if (d.accepted && !policy->stepper && !policy->posts) {
			assert_true(auc_market_has_room(m, &d.plan, &err) == AUC_OK);
			assert_true(d.best_payoff > 0);
			assert_true(d.plan.cost == auc_plan_cost(&d.plan, m));
		}
		assert_true(d.distance >= 0);
		if (!d.cut)
			assert_true(d.distance == 0);
	}
	policy->destroy(ctx);
	auc_decision_clear(&d);
	auc_job_clear(&job);
	auc_market_destroy(m);
	return seen;
}

static const struct auc_policy *const policies[] = {&auc_policy_dps, &auc_policy_oasis,
						    &auc_policy_eris, &auc_policy_posted,
						    &auc_policy_aonline};
#define NPOLICIES (sizeof(policies) / sizeof(*policies))

/* In more steps than that no decision ends, however many types of workers and PSs there are. */
#define MOST_STEPS (3 * AUC_MOST_STEPS)

static void test_limit_holds(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < NPOLICIES; i++) {
		struct seen s = decide(policies[i], "", SERVERS, SLOTS, AUC_MOST_STEPS, false);

		if (s.most > MOST_STEPS)
			fail_msg("%s: %llu steps", policies[i]->name, (unsigned long long)s.most);
		assert_true(s.most > 0);
		assert_true(s.accepted > 0);
	}
}

/* Few steps are not enough, and the decision says so. */
static void test_cut(void **unused)
{
	static const char *const paper[][2] = {{"dps,variant=paper", "variant=paper"},
					       {"oasis,variant=paper", "variant=paper"},
					       {"eris,variant=paper", "variant=paper"},
					       {"dps", "bounds=off"}};
	struct seen s;

	(void)unused;
	for (unsigned i = 0; i < NPOLICIES; i++) {
		s = decide(policies[i], "", SERVERS, SLOTS, 2000, false);
		if (!s.cut)
			fail_msg("%s: nothing was cut", policies[i]->name);
	}
	/* What is only kept to reproduce papers is no way out either. */
	for (unsigned i = 0; i < sizeof(paper) / sizeof(*paper); i++) {
		s = decide(sim_policy_of(paper[i][0]), paper[i][1], 30, 40, AUC_MOST_STEPS / 10,
			   false);
		if (s.most > MOST_STEPS / 5)
			fail_msg("%s: %llu steps", paper[i][0], (unsigned long long)s.most);
	}
}

/* What was left out is no better than the decision says, and ordinary bids are never cut. */
static void test_distance(void **unused)
{
	static const struct auc_policy *const exact[] = {&auc_policy_dps, &auc_policy_oasis};
	static const uint64_t limits[] = {1000, 20000, 100000, 400000};
	struct auc_policy_ctx *ctx;
	struct auc_decision full, d;
	struct auc_err err = {0};
	unsigned cut = 0, i, k, n;

	(void)unused;
	for (k = 0; k < 2; k++)
		for (i = 0; i < 4; i++) {
			struct auc_job job = {.upload = calloc(30, sizeof(unsigned)),
					      .data = calloc(30, sizeof(struct auc_data))};
			struct auc_market *m;

			state = 7 + i;
			m = make_market(exact[k], 30, 40);
			fragment(m);
			auc_decision_init(&full);
			auc_decision_init(&d);
			must(exact[k]->create("", &ctx, &err), &err);
			for (n = 0; n < BIDS; n++) {
				make_job(&job, exact[k], m);
				if (job.chunks > 200)
					continue;
				full.most_steps = 0;
				must(exact[k]->quote(ctx, m, &job, &full, &err), &err);
				assert_false(full.cut);
				d.most_steps = limits[n % 4];
				must(exact[k]->quote(ctx, m, &job, &d, &err), &err);
				cut += d.cut;
				if (full.reason == AUC_REASON_CAPACITY) {
					assert_int_equal(d.reason, AUC_REASON_CAPACITY);
					continue;
				}
				if (d.reason == AUC_REASON_CAPACITY)
					assert_true(d.cut &&
						    d.distance >= full.best_payoff * (1 - 1e-9));
				else
					assert_true(
						fmax(0, full.best_payoff) <=
						fmax(0, d.best_payoff + d.distance) +
							1e-9 * (full.plan.value + full.plan.cost));
				/* the same one once more is cut at the same place */
				full.most_steps = d.most_steps;
				must(exact[k]->quote(ctx, m, &job, &full, &err), &err);
				assert_true(full.steps == d.steps && full.cut == d.cut &&
					    full.best_payoff == d.best_payoff &&
					    full.distance == d.distance);
			}
			exact[k]->destroy(ctx);
			auc_decision_clear(&full);
			auc_decision_clear(&d);
			auc_job_clear(&job);
			auc_market_destroy(m);
		}
	assert_true(cut > 40);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_holds),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_distance),
	};

	for (unsigned i = 0; argc > 2 && i < NPOLICIES; i++)
		if (argc < 4 || !strcmp(argv[3], policies[i]->name)) {
			uint64_t most = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
			struct seen s = decide(policies[i], "", (unsigned)atoi(argv[1]),
					       (unsigned)atoi(argv[2]), most, true);

			printf("%s: %u decided, %u accepted, %u cut (%u accepted), mean %.3f ms, "
			       "longest %.3f ms, %llu steps\n",
			       policies[i]->name, s.decided, s.accepted, s.cut, s.cut_accepted,
			       1e3 * s.slow / s.decided, 1e3 * s.slowest,
			       (unsigned long long)s.most);
			fflush(stdout);
		}
	return argc > 2 ? EXIT_SUCCESS : cmocka_run_group_tests(tests, NULL, NULL);
}
