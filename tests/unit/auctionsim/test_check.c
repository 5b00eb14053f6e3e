/*
 * test_check.c - the checker: correct results of every policy pass, and each of many ways to
 * corrupt one is found, where it is.
 */
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

#include "unit/support/corrupt.h"

/*
 * Under dps: 0 "a" and 1 "b" are co-located and pay nothing, 2 "i" is refused for its payoff, 3 "h"
 * is distributed and pays, 4 "d" and 5 "e" follow, 6 "f" arrives too late, 7 "g" fits nowhere.
 */
static const char text[] =
	"{\"format\":\"auction-scenario/"
	"1\",\"name\":\"c\",\"slots\":20,\"slot_seconds\":100,\"worker_types\":[{\"name\":\"w\","
	"\"tres\":{\"gpu\":1,\"cpu\":2},\"bandwidth_mbps\":1000},{\"name\":\"v\",\"tres\":{\"gpu\":"
	"0.1,\"cpu\":0.3},\"bandwidth_mbps\":500}],\"ps_types\":[{\"name\":\"p\",\"tres\":{\"cpu\":"
	"1},\"bandwidth_mbps\":2000}],"
	"\"servers\":[{\"name\":\"e1\",\"capacity\":{\"gpu\":3,\"cpu\":9}},{\"name\":\"e2\","
	"\"capacity\":{\"gpu\":2,\"cpu\":8}},{\"name\":\"e3\",\"roles\":[\"ps\"],\"capacity\":{"
	"\"cpu\":4}},{\"name\":\"c\",\"site\":\"cloud\",\"capacity\":{\"gpu\":8,\"cpu\":32}}],"
	"\"jobs\":["
	"{\"id\":\"a\",\"arrival\":1,\"utility\":{\"form\":\"linear\",\"intercept\":100,\"slope\":"
	"8},\"epochs\":10,\"chunks\":3,\"minibatches\":10,\"gradient_mb\":1,\"worker_seconds\":{"
	"\"w\":2},\"ps_seconds\":{\"p\":0.1},\"upload_slots\":{\"e1\":1,\"c\":12}},"
	"{\"id\":\"b\",\"arrival\":2,\"utility\":{\"form\":\"sigmoid\",\"scale\":120,\"decay\":0.3,"
	"\"target\":6},\"epochs\":10,\"chunks\":2,\"minibatches\":10,\"gradient_mb\":10,\"worker_"
	"seconds\":{\"w\":2,\"v\":4},\"ps_seconds\":{\"p\":0.1},\"upload_slots\":{\"c\":9}},"
	"{\"id\":\"i\",\"arrival\":2,\"utility\":{\"form\":\"deadline\",\"scale\":1,\"deadline\":3}"
	",\"epochs\":10,\"chunks\":1,\"minibatches\":10,\"gradient_mb\":1,\"worker_seconds\":{"
	"\"v\":2},\"ps_seconds\":{\"p\":0.1},\"upload_slots\":{\"c\":9}},"
	"{\"id\":\"h\",\"arrival\":2,\"utility\":{\"form\":\"deadline\",\"scale\":400,\"deadline\":"
	"3},\"epochs\":10,\"chunks\":1,\"minibatches\":10,\"gradient_mb\":1,\"worker_seconds\":{"
	"\"w\":2.5},\"ps_seconds\":{\"p\":0.1},\"upload_slots\":{\"c\":9}},"
	"{\"id\":\"d\",\"arrival\":3,\"utility\":{\"form\":\"constant\",\"scale\":2},\"epochs\":10,"
	"\"chunks\":4,\"minibatches\":10,\"gradient_mb\":1,\"worker_seconds\":{\"w\":2},\"ps_"
	"seconds\":{\"p\":0.1},\"upload_default\":1,\"upload_slots\":{\"c\":19}},"
	"{\"id\":\"e\",\"arrival\":4,\"utility\":{\"form\":\"constant\",\"scale\":90},\"epochs\":"
	"10,\"chunks\":3,\"minibatches\":10,\"gradient_mb\":0.5,\"worker_seconds\":{\"w\":2.5},"
	"\"ps_seconds\":{\"p\":0.1},\"upload_default\":0,\"upload_slots\":{\"c\":19}},"
	"{\"id\":\"f\",\"arrival\":21,\"utility\":{\"form\":\"constant\",\"scale\":90},\"epochs\":"
	"10,\"chunks\":3,\"minibatches\":10,\"gradient_mb\":0.5,\"worker_seconds\":{\"w\":2.5},"
	"\"ps_seconds\":{\"p\":0.1}},"
	"{\"id\":\"g\",\"arrival\":4,\"utility\":{\"form\":\"constant\",\"scale\":90},\"epochs\":"
	"100,\"chunks\":3,\"minibatches\":100,\"gradient_mb\":0.5,\"worker_seconds\":{\"w\":2.5},"
	"\"ps_seconds\":{\"p\":0.1}}],"
	"\"prices\":{\"mode\":\"eta\",\"eta\":{\"gpu\":40,\"cpu\":3}}}";

static const struct corruption mutations[] = {
	{"dps", "/format", "\"auction-result/2\"", "$.format"},
	{"dps", "/scenario", "\"other\"", "$.scenario"},
	{"dps", "/policy", "\"nobody\"", "$.policy"},
	{"dps", "/policy", "\"dps,variant=best\"",
	 "$.policy: Policy=dps: 'variant=best' is no option"},
	{"dps", "/policy", "\"dps,,\"", "$.policy: Policy=dps: '' is no option"},
	{"fifo", "/policy", "\"fifo,variant=paper\"",
	 "$.policy: Policy=fifo: 'variant=paper' is no"},
	{"srtf", "/policy", "\"srtf,speed=2\"", "$.policy: Policy=srtf: 'speed=2' is no option"},
#ifdef HAVE_GLPK
	{"unpriced", "/policy", "\"offline,seconds=no\"",
	 "$.policy: Policy=offline: 'seconds=no' is no"},
#endif
	{"unpriced", "/policy", "\"bfp,fit=x\"", "$.policy: Policy=bfp: 'fit=x' is no option"},
	{"dps", "/policy", "\"unpriced\"", "$.jobs[3].payment"},
	{"dps", "/policy", "\"fifo\"", "$.jobs[3].payment"},
	{"dps", "/seed", "-1", "$.seed"},
	{"dps", "/jobs/0", NULL, "job a: expected once"},
	{"dps", "/jobs/0/id", "\"b\"", "twice"},
	{"dps", "/jobs/0/id", "\"z\"", "$.jobs[0].id"},
	{"dps", "/jobs/0/note", "1", "$.jobs[0].note"},
	{"dps", "/jobs/0/accepted", "false", "$.jobs[0]"},
	{"dps", "/jobs/0/accepted", "1", "$.jobs[0].accepted"},
	{"dps", "/jobs/6/accepted", "true", "$.jobs[6]"},
	{"dps", "/jobs/0/value", "69", "$.jobs[0].value"},
	{"dps", "/jobs/0/value", NULL, "$.jobs[0].value"},
	{"dps", "/jobs/0/value", "NaN", "$.jobs[0].value"},
	{"dps", "/jobs/3/payment", "37", "$.jobs[3].payment"},
	{"dps", "/jobs/3/payment", "0", "$.jobs[3].payment"},
	{"dps", "/jobs/0/payment", "1", "$.jobs[0].payment"},
	{"dps", "/jobs/3/payoff", "362", "$.jobs[3].payoff"},
	{"dps", "/jobs/3/payoff", "-1", "more than 0"},
	{"dps", "/jobs/0/start", "2", "$.jobs[0].start"},
	{"dps", "/jobs/0/completion", "6", "$.jobs[0].completion"},
	{"dps", "/jobs/0/completion", NULL, "$.jobs[0].completion"},
	{"dps", "/jobs/0/worker_type", "\"v\"", "$.jobs[0].worker_type"},
	{"dps", "/jobs/0/worker_type", NULL, "$.jobs[0].worker_type"},
	{"dps", "/jobs/1/worker_type", "\"v\"", "$.jobs[1].plan"},
	{"dps", "/jobs/0/ps_type", "\"q\"", "$.jobs[0].ps_type"},
	{"dps", "/jobs/0/colocated", "false", "$.jobs[0].colocated"},
	{"dps", "/jobs/3/colocated", "true", "$.jobs[3].colocated"},
	{"dps", "/jobs/0/colocated", NULL, "$.jobs[0].plan"},
	{"dps", "/jobs/0/plan", "[]", "$.jobs[0].plan"},
	{"dps", "/jobs/0/plan/0/from", "0", "$.jobs[0].plan[0].from"},
	{"dps", "/jobs/1/plan/0/from", "1", "before the arrival"},
	{"dps", "/jobs/0/plan/0/to", "5", "slots for 2 workers"},
	{"dps", "/jobs/0/plan/0/to", "21", "at most 20"},
	{"dps", "/jobs/0/plan/0/workers", "{}", "expected workers"},
	{"dps", "/jobs/0/plan/0/workers", "{\"e2\":1}", " for 1 worker, found "},
	{"dps", "/jobs/0/plan/0/workers", "{\"e2\":4}", "one a chunk"},
	{"dps", "/jobs/0/plan/0/workers", "{\"e2\":1.5}", "workers.e2"},
	{"dps", "/jobs/0/plan/0/workers", "{\"e2\":-2}", "workers.e2"},
	{"dps", "/jobs/0/plan/0/workers", "{\"e9\":2}", "workers.e9"},
	{"dps", "/jobs/0/plan/0/workers", "{\"e1\":2}", "before slot 2"},
	{"dps", "/jobs/3/plan/0/workers", "{\"e3\":1}", "expected no workers on e3"},
	{"dps", "/jobs/3/plan/0/workers", "{\"e2\":1}", "within its capacity"},
	{"dps", "/jobs/4/plan/0/workers", "{\"e2\":3}", "within its capacity"},
	{"dps", "/jobs/3/plan/0/ps", "{\"e3\":2}", "expected 1 PSs"},
	{"dps", "/jobs/3/plan/0/ps", "{\"e3\":1,\"e2\":1}", "all PSs on one server"},
	{"dps", "/jobs/3/plan/0/ps", "{}", "all PSs on one server"},
	{"dps", "/jobs/3/plan/0/ps", "{\"c\":1}", "before slot 11"},
	{"dps", "/jobs/3/transfers", "[{\"slot\":1,\"from\":\"e1\",\"to\":\"e2\",\"chunks\":1}]",
	 "transfers"},
	{"dps", "/jobs/2/reason", "\"capacity\"", "$.jobs[2].best_payoff"},
	{"dps", "/jobs/2/reason", "\"price\"", "$.jobs[2].reason"},
	{"dps", "/jobs/2/reason", NULL, "$.jobs[2].reason"},
	{"dps", "/jobs/2/best_payoff", "3", "$.jobs[2].best_payoff"},
	{"dps", "/jobs/2/value", "3", "$.jobs[2]"},
	{"dps", "/jobs/6/reason", "\"payoff\"", "$.jobs[6].reason"},
	{"dps", "/totals/jobs", "7", "$.totals"},
	{"dps", "/totals/accepted", "6", "$.totals"},
	{"dps", "/totals/completed", "4", "$.totals"},
	{"dps", "/totals/welfare", "645", "$.totals.welfare"},
	{"dps", "/totals/revenue", "38", "$.totals.revenue"},
	{"dps", "/totals/mean_jct_slots", "4.5", "$.totals.mean_jct_slots"},
	{"dps", "/totals/preemptions", "1", "$.totals.preemptions"},
	{"dps", "/totals/profit", "1", "$.totals.profit"},
	{"dps", "/totals", NULL, "$.totals"},
	{"dps", "/timing/decisions", "99", "$.timing.decisions"},
	{"dps", "/timing/p50_us", "1e9", "$.timing"},
	{"fifo", "/jobs/7/value", "1", "never runs"},
	{"fifo", "/jobs/7/start", "1", "never runs"},
	{"fifo", "/jobs/7/plan", NULL, "$.jobs[7]"},
	{"fifo", "/jobs/0/payment", "1", "$.jobs[0].payment"},
	{"fifo", "/jobs/6/reason", "\"payoff\"", "$.jobs[6].reason"},
	{"unpriced", "/jobs/0/payment", "1", "$.jobs[0].payment"},
	{"srtf", "/policy", "\"fifo\"", "$.jobs"},
	{"srtf", "/jobs/0/reason", "\"payoff\"", "$.jobs[0].reason"},
	{"srtf", "/jobs/0/value", "69", "$.jobs[0].value"},
	{"srtf", "/jobs/0/payment", "1", "$.jobs[0].payment"},
	{"srtf", "/jobs/0/start", "9", "$.jobs[0].start"},
	{"srtf", "/jobs/0/completion", NULL, "$.jobs[0].value"},
	{"srtf", "/jobs/0/completion", "19", "$.jobs[0].completion"},
	{"srtf", "/jobs/0/chunks", "[]", "$.jobs[0].chunks"},
	{"srtf", "/jobs/0/colocated", "false", "$.jobs[0].colocated"},
	{"srtf", "/jobs/5/plan/0/to", "3", "slots in order"},
	{"srtf", "/jobs/5/plan/0/from", "3", "slots in order"},
	{"srtf", "/jobs/5/plan/0/to", "20", "parts of chunks"},
	{"srtf", "/jobs/5/plan/0/workers", "{\"e1\":1}", "parts of chunks"},
	{"srtf", "/jobs/5/plan/0/ps", "{\"e1\":2}", "expected 1 PS"},
	{"srtf", "/jobs/4/plan/0/workers", "{\"e2\":9}", "within its capacity"},
	{"srtf", "/jobs/4/plan", "[]", "never runs"},
	{"srtf", "/totals/preemptions", "7", "$.totals.preemptions"},
	{"srtf", "/totals/completed", "0", "$.totals"},
	{"srtf", "/timing/decisions", "21", "$.timing.decisions"},
};

static void test_correct(void **state)
{
	static const char *const policies[] = {"dps",
					       "dps,bounds=off",
					       "dps,variant=paper",
					       "unpriced",
					       "fifo",
					       "fifo,reading=reserving",
					       "drf",
					       "drf,reading=reserving,history=asked",
					       "srtf",
					       "srtf,site=any"};
	static const char *const prices[] = {
		"{\"mode\":\"learned\"}",
		"{\"mode\":\"eta\",\"eta\":{}}",
		"{\"mode\":\"given\",\"values\":[{\"server\":\"e1\",\"tres\":\"gpu\",\"from\":1,"
		"\"to\":9,"
		"\"price\":0.125},{\"server\":\"*\",\"tres\":\"transfer\",\"from\":1,\"to\":9,"
		"\"price\":3}]}",
	};
	struct scenario *s = corrupt_scenario(text);
	char other[sizeof(text) + 400];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		corrupt_none(s, policies[i]);
	scenario_free(s);
	for (i = 0; i < sizeof(prices) / sizeof(prices[0]); i++) {
		snprintf(other, sizeof(other), "%.*s\"prices\":%s}",
			 (int)(strstr(text, "\"prices\"") - text), text, prices[i]);
		s = corrupt_scenario(other);
		corrupt_none(s, "dps");
		scenario_free(s);
	}
	/* without prices: estimated from all jobs */
	snprintf(other, sizeof(other), "%.*s}", (int)(strstr(text, ",\"prices\"") - text), text);
	s = corrupt_scenario(other);
	corrupt_none(s, "dps");
	scenario_free(s);
}

static void test_mutations(void **state)
{
	struct scenario *s = corrupt_scenario(text);

	(void)state;
	corrupt_all(s, mutations, sizeof(mutations) / sizeof(mutations[0]));
	scenario_free(s);
}

/* Several results in one file are all looked at. */
static void test_array(void **state)
{
	struct scenario *s = corrupt_scenario(text);
	struct json_object *both = json_object_new_array();
	char *said = NULL;

	(void)state;
	json_object_array_add(both, corrupt_result(s, "dps"));
	json_object_array_add(both, corrupt_result(s, "fifo"));
	assert_int_equal(corrupt_check(s, both, &said), 0);
	free(said);
	corrupt_put(&both, "/1/totals/welfare", "1");
	assert_int_equal(corrupt_check(s, both, &said), 1);
	assert_non_null(strstr(said, "$[1].totals.welfare"));
	free(said);
	json_object_put(both);
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_correct),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
