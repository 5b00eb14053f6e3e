/*
 * test_eris_large.c - policy eris on random markets that are too large for brute force: more sites,
 * budgets of traffic that bind, jobs of so many chunks that they are planned by lumps. Every quote
 * is answered, and every schedule can be carried out and costs what it names.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "auctionsim/baseline/registry.h"
#include "market/timeline.h"
#include "unit/support/property.h"

#define MARKETS 800 /* of which one in eight is made */
#define SITES   12
#define SLOTS   20
#define JOBS    6
#define TRES    2

struct large {
	struct auc_market *m;
	unsigned nsites, nslots;
	struct auc_job job;
	struct auc_data data[SITES];
	unsigned upload[SITES];
};

static void make_market(struct large *l, struct tiny_random *r)
{
	static const char *const tres[] = {"gpu", "cpu", AUC_TRANSFER};
	struct auc_price price = {.kind = AUC_PRICE_ETA, .neta = TRES + 1};
	struct auc_named list[TRES];
	int budget = tiny_int(r, 0, 3) * tiny_int(r, 0, 300);
	unsigned s, k, i;
	char name[16];

	l->nsites = (unsigned)tiny_int(r, 2, SITES);
	l->nslots = (unsigned)tiny_int(r, 1, SLOTS);
	l->m = auc_market_create(l->nslots, 60, 1);
	assert_non_null(l->m);
	for (k = 0; k <= TRES; k++) {
		strcpy(price.eta[k].name, tres[k]);
		price.eta[k].value = pow(10, 3 * tiny_real(r));
	}
	for (k = 0; k < TRES; k++)
		strcpy(list[k].name, tres[k]);
	for (s = 0; s < l->nsites; s++) {
		snprintf(name, sizeof(name), "s%u", s);
		for (k = 0; k < TRES; k++)
			list[k].value = tiny_int(r, 0, 12);
		assert_int_equal(auc_market_add_server(l->m, name, "edge", false,
						       AUC_ROLE_WORKER | AUC_ROLE_PS, 0, list, TRES,
						       NULL),
				 AUC_OK);
	}
	for (k = 0; k < TRES; k++)
		list[k].value = tiny_int(r, k == 0, 2);
	assert_int_equal(auc_market_add_worker_type(l->m, "w", list, TRES, 1, NULL), AUC_OK);
	for (k = 0; k < TRES; k++)
		list[k].value = tiny_int(r, k == 1, 6);
	assert_int_equal(auc_market_add_ps_type(l->m, "p", list, TRES, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_set_traffic(l->m, budget, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(l->m, &price, NULL), AUC_OK);
	for (i = 1; i <= l->nslots; i++)
		assert_int_equal(
			auc_market_reserve_traffic(l->m, i, i, tiny_int(r, 0, budget), NULL),
			AUC_OK);
}

static void make_job(struct large *l, struct tiny_random *r)
{
	struct auc_job *j = &l->job;
	unsigned s;

	memset(j, 0, sizeof(*j));
	j->arrival = tiny_int(r, 1, 3);
	j->utility = (struct auc_utility){.form = AUC_FORM_SIGMOID,
					  .scale = pow(10, 4 * tiny_real(r)),
					  .decay = 0.5 * tiny_real(r)};
	j->epochs = (uint64_t)tiny_int(r, 1, 6);
	j->chunk_mb = tiny_int(r, 0, 20) / 10.0;
	j->exchange_mb = tiny_int(r, 0, 3) * tiny_int(r, 0, 8);
	for (s = 0; s < AUC_TYPES_MAX; s++)
		j->worker_seconds[s] = j->ps_seconds[s] = s ? -1 : 0;
	for (s = 0; s < l->nsites; s++) {
		l->upload[s] = tiny_chance(r, 0.2) ? (unsigned)tiny_int(r, 0, 4) : 0;
		if (!tiny_chance(r, 0.5) && (s || j->ndata))
			continue;
		l->data[j->ndata++] = (struct auc_data){
			s, (uint64_t)tiny_int(r, 1, tiny_chance(r, 0.5) ? 8 : 900)};
		j->chunks += l->data[j->ndata - 1].chunks;
	}
	if (!j->ndata)
		l->data[j->ndata++] = (struct auc_data){0, j->chunks = 5};
	j->chunks_per_slot = fmax(0.5, (double)(j->epochs * j->chunks) / tiny_int(r, 1, 60));
	j->upload = l->upload;
	j->data = l->data;
}

static unsigned chunks_for(const struct auc_job *j, unsigned workers)
{
	return (unsigned)fmin((double)j->chunks,
			      floor(workers * j->chunks_per_slot / (double)j->epochs + 1e-6));
}

/* The chunks can be trained by the workers where they lie or are moved to; the market says whether
 * there is room for it. */
static void assert_plan(const struct large *l, const struct auc_plan *plan)
{
	const struct auc_job *j = &l->job;
	const struct auc_move *move;
	uint64_t lie[SITES] = {0}, in[SITES], sum = 0;
	int64_t room[SITES] = {0};
	const struct auc_share *share;
	const struct auc_run *run;
	unsigned i, k = 0, pss, s;
	auc_slot t;

	for (i = 0; i < j->ndata; i++)
		lie[j->data[i].server] = j->data[i].chunks;
	assert_true(plan->nruns && plan->start >= j->arrival);
	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (t = run->from; t <= run->to; t++) {
			memset(in, 0, sizeof(in));
			assert_true(k == plan->nmoves || plan->moves[k].slot >= t);
			for (; k < plan->nmoves && plan->moves[k].slot == t; k++) {
				move = &plan->moves[k];
				assert_true(move->chunks && move->from != move->to);
				assert_true(lie[move->from] >= move->chunks);
				lie[move->from] -= move->chunks;
				in[move->to] += move->chunks;
				sum += move->chunks;
			}
			for (i = pss = 0; i < run->nshares; i++) {
				share = &plan->shares[run->first_share + i];
				s = share->server;
				assert_true(t >= j->arrival + (auc_slot)l->upload[s]);
				pss += share->ps;
				assert_true(chunks_for(j, share->workers) >= in[s]);
				room[s] += chunks_for(j, share->workers) - (int64_t)in[s];
				in[s] = 0;
			}
			assert_int_equal(pss, 1);
			for (s = 0; s < l->nsites; s++)
				assert_int_equal(in[s], 0);
		}
	assert_true(k == plan->nmoves && sum <= j->chunks);
	for (s = 0; s < l->nsites; s++)
		assert_true(room[s] >= (int64_t)lie[s]);
}

static void ask(struct large *l, struct auc_policy_ctx *ctx, struct auc_decision *d)
{
	struct auc_err err = {.text = ""};

	if (auc_policy_eris.quote(ctx, l->m, &l->job, d, &err) != AUC_OK)
		fail_msg("%s", err.text);
	if (d->reason == AUC_REASON_CAPACITY)
		return;
	assert_plan(l, &d->plan);
	assert_true(d->plan.cost == auc_plan_cost(&d->plan, l->m));
	assert_int_equal(auc_market_book(l->m, &d->plan, 1, l->nslots, NULL), AUC_OK);
	assert_true(auc_market_sound(l->m));
	assert_int_equal(auc_market_unbook(l->m, &d->plan, 1, l->nslots, NULL), AUC_OK);
}

static void test_large(void **state)
{
	static const char *const options[] = {"", "exact=off,effort=2", "variant=paper"};
	struct auc_policy_ctx *ctx[3];
	unsigned i, k, n, lumps = 0, moved = 0, found = 0;
	struct tiny_random r;
	struct auc_decision d;
	struct large l;

	(void)state;
	auc_decision_init(&d);
	for (k = 0; k < 3; k++)
		assert_int_equal((k == 2 ? sim_policy_eris_paper : auc_policy_eris)
					 .create(options[k], &ctx[k], NULL),
				 AUC_OK);
	for (i = 0; i < property.markets; i += 8) {
		r.state = property.seed = property.first_seed + i;
		make_market(&l, &r);
		for (n = 0; n < JOBS; n++) {
			property.job = n;
			make_job(&l, &r);
			for (k = 3; k-- > 0;)
				ask(&l, ctx[k], &d);
			lumps += l.job.chunks > 400;
			found += d.reason != AUC_REASON_CAPACITY;
			moved += d.reason != AUC_REASON_CAPACITY && d.plan.nmoves;
			if (d.accepted)
				assert_int_equal(auc_market_book(l.m, &d.plan, 1, l.nslots, NULL),
						 AUC_OK);
		}
		auc_market_destroy(l.m);
	}
	print_message("%u markets: %u schedules, %u with moves, %u jobs in lumps\n",
		      property.markets / 8, found, moved, lumps);
	if (property.markets >= MARKETS)
		assert_true(found > 100 && moved > 50 && lumps > 100);
	for (k = 0; k < 3; k++)
		auc_policy_eris.destroy(ctx[k]);
	auc_decision_clear(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(cmocka_run_group_tests_name("eris_large", tests, NULL, NULL));
}
