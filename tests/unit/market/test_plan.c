/* test_plan.c - building, copying, payment and JSON of plans (plan.h) */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "unit/support/caches.h"
#include "unit/support/edited.h"
#include "market/timeline.h"
#include "market/plan.h"
#include "unit/support/sound.h"

static const char good[] =
	"{\"worker_type\":\"w\",\"ps_type\":\"p\",\"colocated\":false,\"arrival\":4,\"start\":5,"
	"\"completion\":12,\"plan\":[{\"workers\":{\"s1\":2,\"s0\":1},\"ps\":{\"s0\":1},"
	"\"from\":5,\"to\":7},{\"from\":9,\"to\":11,\"workers\":{\"s1\":3},\"ps\":{\"s1\":2}}]}";

static const char good_gang[] = "{\"shape\":2,\"per_node\":{\"cpu\":2.5,\"gpu\":1},\"gang_within\":"
				"\"switch\",\"gang_whole\":true,\"gang_block\":true,"
				"\"gang_missing\":1.5,"
				"\"arrival\":4,\"start\":5,\"completion\":8,"
				"\"plan\":[{\"from\":5,\"to\":7,\"nodes\":[\"s0\",\"s1\"]}]}";

/* GANGS: it has no other jobs. */
static struct auc_market *open_market(bool gangs)
{
	static const struct auc_named capacity[] = {{"cpu", 8}, {"gpu", 4}};
	static const struct auc_named worker[] = {{"cpu", 1}, {"gpu", 1}}, ps[] = {{"cpu", 2}};
	static const struct auc_price price = {.neta = 2, .eta = {{"cpu", 4}, {"gpu", 9}}};
	struct auc_market *m = auc_market_create(20, 60, 1);

	auc_market_add_server(m, "s0", "edge", false, 3, 0, capacity, 2, NULL);
	auc_market_add_server(m, "s1", "edge", false, 3, 0, capacity, 2, NULL);
	auc_market_add_worker_type(m, "w", worker, 2, 1, NULL);
	auc_market_add_ps_type(m, "p", ps, 1, 1, NULL);
	if (gangs)
		auc_market_gangs_only(m);
	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	return m;
}

static struct auc_market *make_market(void)
{
	return open_market(false);
}

static void test_build(void **state)
{
	struct auc_plan p, copy;

	(void)state;
	auc_plan_init(&p);
	auc_plan_init(&copy);
	assert_int_equal(auc_plan_add_share(&p, 0, 1, 0, NULL), AUC_EINVAL); /* no run */
	assert_int_equal(auc_plan_add_run(&p, 5, 4, NULL), AUC_EINVAL);
	assert_int_equal(auc_plan_add_run(&p, 5, 7, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(&p, 3, 0, 0, NULL), AUC_EINVAL);
	assert_int_equal(auc_plan_add_share(&p, 3, 1, 0, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(&p, 3, 1, 0, NULL), AUC_EINVAL); /* not ascending */
	assert_int_equal(auc_plan_add_run(&p, 7, 9, NULL), AUC_EINVAL);      /* overlaps */
	assert_int_equal(auc_plan_add_run(&p, 8, 9, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(&p, 0, 2, 1, NULL), AUC_OK); /* a new run begins anew */
	assert_int_equal(auc_plan_copy(&copy, &p, NULL), AUC_OK);
	assert_int_equal(copy.nruns, 2);
	assert_int_equal(copy.nshares, 2);
	assert_int_equal(copy.runs[1].first_share, 1);
	assert_int_equal(copy.shares[1].ps, 1);
	auc_plan_reset(&p);
	assert_int_equal(p.nruns + p.nshares, 0);
	assert_int_equal(copy.shares[0].server, 3);
	auc_plan_clear(&p);
	auc_plan_clear(&copy);
}

static void test_payment(void **state)
{
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	p.value = 10.0000009; /* rounds up to ..01, which is above it */
	p.cost = 2.4999995;
	assert_int_equal(auc_plan_value(&p), 10000000);
	assert_int_equal(auc_plan_payment(&p), 2500000);
	p.cost = 10.00000085;
	assert_int_equal(auc_plan_payment(&p), 10000000);
	p.cost = -1e-9;
	assert_int_equal(auc_plan_payment(&p), 0);
	p.value = 1e9;
	p.cost = 1e300;
	assert_int_equal(auc_plan_payment(&p), AUC_MONEY_MAX);
}

static void test_cost(void **state)
{
	struct auc_market *m = make_market();
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	assert_int_equal(auc_plan_add_run(&p, 3, 4, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(&p, 1, 2, 1, NULL), AUC_OK);
	assert_true(auc_plan_cost(&p, m) == 0);
	assert_int_equal(auc_market_reserve(m, 1, 0, 4, 4, 4, NULL),
			 AUC_OK); /* cpu at 4^(1/2) - 1 = 1 */
	assert_int_equal(auc_market_reserve(m, 1, 1, 4, 4, 2, NULL),
			 AUC_OK); /* gpu at 9^(1/2) - 1 = 2 */
	assert_true(auc_plan_cost(&p, m) == (2 + 2) * 1 + 2 * 2);
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

static void test_json(void **state)
{
	struct auc_market *m = make_market();
	struct json_object *o = json_tokener_parse(good), *again;
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	assert_int_equal(auc_plan_from_json(o, m, &p, NULL), AUC_OK);
	assert_int_equal(p.nruns, 2);
	assert_int_equal(p.nshares, 3);
	assert_int_equal(p.shares[0].server, 0);
	assert_int_equal(p.shares[0].ps, 1);
	assert_int_equal(p.shares[1].workers, 2);
	assert_int_equal(p.completion, 12);
	again = auc_plan_to_json(&p, m);
	assert_non_null(again);
	assert_true(json_object_equal(o, again));
	json_object_put(o);
	json_object_put(again);
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

static void test_gang_json(void **state)
{
	struct auc_market *m = make_market();
	struct json_object *o = json_tokener_parse(good_gang), *again;
	struct auc_plan p, copy;

	(void)state;
	auc_plan_init(&p);
	auc_plan_init(&copy);
	assert_int_equal(auc_plan_from_json(o, m, &p, NULL), AUC_OK);
	assert_true(p.gang && p.within_switch && p.whole);
	assert_int_equal(p.shape, 2);
	assert_int_equal(p.nshares, 2);
	assert_int_equal(p.shares[1].workers, 1);
	assert_true(auc_plan_amount(&p, m, 2, 0, 0) == 5);
	assert_int_equal(auc_plan_match_types(&p, m, o, NULL), AUC_OK);
	again = auc_plan_to_json(&p, m);
	assert_true(json_object_equal(o, again));
	assert_int_equal(auc_plan_copy(&copy, &p, NULL), AUC_OK);
	assert_true(auc_plan_same(&copy, &p));
	copy.amount[0] = 2;
	assert_false(auc_plan_same(&copy, &p));
	json_object_put(o);
	json_object_put(again);
	auc_plan_clear(&p);
	auc_plan_clear(&copy);
	auc_market_destroy(m);
}

/* What a gang's plan takes is what is booked, priced, given back, and too much in the end. */
static void test_gang_booked(void **state)
{
	struct auc_market *m = make_market();
	struct json_object *o = json_tokener_parse(good_gang);
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	assert_int_equal(auc_plan_from_json(o, m, &p, NULL), AUC_OK);
	assert_int_equal(auc_market_reserve(m, 1, 1, 6, 6, 2, NULL), AUC_OK);
	assert_true(auc_plan_cost(&p, m) == 2); /* gpu at 9^(1/2) - 1 in one slot of s1 */
	assert_int_equal(auc_market_book(m, &p, 1, 20, NULL), AUC_OK);
	assert_true(auc_market_used(m, 0, 0, 5) == 2.5 && auc_market_used(m, 0, 1, 7) == 1);
	assert_true(auc_market_used(m, 1, 1, 6) == 3 && auc_market_used(m, 1, 1, 8) == 0);
	assert_int_equal(auc_market_book(m, &p, 1, 20, NULL), AUC_OK);
	assert_int_equal(auc_market_book(m, &p, 1, 20, NULL), AUC_EFULL);
	assert_true(auc_market_sound(m) && caches_sound(m));
	assert_int_equal(auc_market_unbook(m, &p, 1, 20, NULL), AUC_OK);
	assert_int_equal(auc_market_unbook(m, &p, 1, 20, NULL), AUC_OK);
	assert_int_equal(auc_market_unbook(m, &p, 1, 20, NULL), AUC_ESTATE);
	json_object_put(o);
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

static void test_bad_gang(void **state)
{
	static const char *const bad[][3] = {
		{"\"shape\":2", "\"shape\":64", "shape: expected a whole number from 0 to 63"},
		{"\"cpu\":2.5", "\"cpus\":2.5",
		 "per_node: this cluster does not have all that was sold"},
		{"{\"cpu\":2.5,\"gpu\":1}", "{\"cpu\":0}", "per_node: expected an amount above 0"},
		{"\"gang_whole\":true", "\"gang_whole\":1", "gang_whole: expected true or false"},
		{"\"gang_block\":true", "\"gang_block\":\"yes\"",
		 "gang_block: expected true or false"},
		{"\"gang_missing\":1.5", "\"gang_missing\":-1",
		 "gang_missing: -1, expected a number from 0 to 1e+12"},
		{"\"switch\"", "\"rack\"", "gang_within: expected \"switch\""},
		{"\"s1\"", "\"s2\"", "nodes: server 's2' is not in this cluster"},
		{"\"s1\"", "\"s0\"", "server 0: shares must ascend by server"},
		{"\"s1\"", "1", "nodes: expected names of servers"},
		{"[\"s0\",\"s1\"]", "[]", "nodes: expected an array of servers"},
		{"\"to\":7,", "\"to\":6,\"nodes\":[\"s0\"]},{\"from\":7,\"to\":7,",
		 "plan: expected one run of a block, found 2"},
	};
	struct auc_market *m = make_market();
	struct auc_err err;
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *text = edited(good_gang, bad[i][0], bad[i][1]);
		struct json_object *o = json_tokener_parse(text);

		assert_non_null(o);
		assert_int_not_equal(auc_plan_from_json(o, m, &p, &err), AUC_OK);
		assert_string_equal(err.text, bad[i][2]);
		json_object_put(o);
		free(text);
	}
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

static void test_bad_json(void **state)
{
	/* what to replace in the good text by what, and what is said then */
	static const char *const bad[][3] = {
		{"\"w\"", "\"x\"", "worker_type: 'x' is not in this cluster"},
		{"\"p\"", "7", "ps_type: expected a name"},
		{"false", "0", "colocated: expected true or false"},
		{"\"arrival\":4", "\"arrival\":6",
		 "plan: arrival 6, start 5, completion 12 do not agree with the runs"},
		{"\"start\":5", "\"start\":5.0", "start: expected a slot"},
		{"\"completion\":12", "\"completion\":13",
		 "plan: arrival 4, start 5, completion 13 do not agree with the runs"},
		{"\"completion\":12", "\"completion\":9223372036854775807",
		 "completion: expected a slot"},
		{"\"from\":9", "\"from\":7", "run 7..11: runs must be ordered and disjoint"},
		{"\"to\":7", "\"to\":4", "run 5..4: runs must be ordered and disjoint"},
		{"\"s1\":3", "\"s9\":3", "workers: server 's9' is not in this cluster"},
		{"\"s1\":3", "\"s1\":0", "workers: server 's1': expected a count >= 1"},
		{"\"s1\":3", "\"s1\":-1", "workers: server 's1': expected a count >= 1"},
		{"\"s1\":3", "\"s1\":4294967297", "workers: server 's1': expected a count >= 1"},
		{"{\"s1\":2}", "{}", "ps: expected counts by server"},
		{"{\"s1\":2}", "[]", "ps: expected counts by server"},
		{"\"plan\":[", "\"plan\":[3,", "plan: expected an object for each run"},
		{"\"plan\"", "\"plam\"", "plan: expected an array of runs"},
	};
	struct auc_market *m = make_market();
	struct json_object *o;
	struct auc_err err;
	struct auc_plan p;
	char *text;
	size_t i;

	(void)state;
	auc_plan_init(&p);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		text = edited(good, bad[i][0], bad[i][1]);
		o = json_tokener_parse(text);
		assert_non_null(o);
		assert_int_not_equal(auc_plan_from_json(o, m, &p, &err), AUC_OK);
		assert_string_equal(err.text, bad[i][2]);
		json_object_put(o);
		free(text);
	}
	assert_int_equal(auc_plan_from_json(NULL, m, &p, &err), AUC_EINVAL);
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

/* A market of gangs holds what any other does, but for what only other jobs look up. */
static void test_gangs_only(void **state)
{
	struct auc_given_price given = {.server = 1, .from = 2, .to = 30, .price = 0.7};
	struct auc_market *m[3];
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	p.start = 3;
	p.completion = 8;
	assert_int_equal(auc_plan_add_run(&p, 3, 7, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(&p, 1, 3, 0, NULL), AUC_OK);
	p.gang = true;
	for (unsigned i = 0; i < 2; i++) {
		m[i] = open_market(i);
		p.amount[auc_market_find_tres(m[i], "gpu")] = 1;
		given.tres = (unsigned)auc_market_find_tres(m[i], "cpu");
		assert_int_equal(auc_market_book(m[i], &p, 1, 20, NULL), AUC_OK);
		assert_int_equal(auc_market_reserve(m[i], 0, given.tres, 4, 5, 7, NULL), AUC_OK);
		assert_int_equal(auc_market_give_prices(m[i], &given, 1, NULL), AUC_OK);
		auc_market_advance(m[i], 4);
	}
	m[2] = auc_market_clone(m[1]);
	assert_non_null(m[2]);
	for (unsigned i = 1; i < 3; i++) {
		size_t cells = (size_t)m[0]->slots * m[0]->nservers;

		assert_true(caches_sound(m[i]) && auc_market_sound(m[i]));
		assert_memory_equal(m[0]->used, m[i]->used,
				    cells * m[0]->ntres * sizeof(*m[0]->used));
		assert_memory_equal(m[0]->unit_price, m[i]->unit_price,
				    cells * m[0]->ntres * sizeof(*m[0]->unit_price));
		for (unsigned type = 0; type < m[0]->nworker_types + m[0]->nps_types; type++) {
			assert_int_equal(m[0]->cache[type].max0, m[i]->cache[type].max0);
			for (size_t cell = 0; cell < cells; cell++)
				assert_int_equal(auc_market_fits(m[0], type, cell),
						 auc_market_fits(m[i], type, cell));
		}
	}
	for (unsigned i = 0; i < 3; i++)
		auc_market_destroy(m[i]);
	auc_plan_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build),      cmocka_unit_test(test_payment),
		cmocka_unit_test(test_cost),       cmocka_unit_test(test_json),
		cmocka_unit_test(test_bad_json),   cmocka_unit_test(test_gang_json),
		cmocka_unit_test(test_bad_gang),   cmocka_unit_test(test_gang_booked),
		cmocka_unit_test(test_gangs_only),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, sound_teardown);
}
