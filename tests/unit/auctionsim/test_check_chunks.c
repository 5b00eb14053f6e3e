/*
 * test_check_chunks.c - the checker, of jobs that are trained chunk by chunk: correct results pass,
 * and each of many ways to corrupt one is found.
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
 * Under aonline: 0 "a" is on all three workers of the edge, where 1 "b" preempts a chunk and 3 "d",
 * whose type takes half as much, another one; 2 "c" is in the cloud; 4 "e" is not done at the end;
 * 5 "f" would take too long. The storage of e1 is full.
 */
static const char text[] = "{\"format\":\"auction-scenario/"
			   "1\",\"name\":\"k\",\"slots\":20,\"slot_seconds\":100,\"worker_types\":["
			   "{\"name\":\"w\",\"tres\":{\"gpu\":1},\"bandwidth_mbps\":16},{\"name\":"
			   "\"v\",\"tres\":{\"gpu\":0.5},"
			   "\"bandwidth_mbps\":16}],\"ps_types\":[{\"name\":\"p\",\"tres\":{"
			   "\"cpu\":1},\"bandwidth_mbps\":16}],"
			   "\"servers\":[{\"name\":\"e1\",\"capacity\":{\"gpu\":2,\"cpu\":1,"
			   "\"storage\":9}},{\"name\":\"e2\","
			   "\"capacity\":{\"gpu\":1,\"cpu\":1,\"storage\":100}},{\"name\":\"e3\","
			   "\"roles\":[\"ps\"],\"capacity\":{"
			   "\"cpu\":1}},{\"name\":\"c\",\"site\":\"cloud\",\"capacity\":{\"gpu\":"
			   "50,\"cpu\":50}}],\"jobs\":["
			   "{\"id\":\"a\",\"arrival\":1,\"epochs\":5,\"chunks\":4,\"minibatches\":"
			   "10,\"gradient_mb\":1,"
			   "\"worker_seconds\":{\"w\":5},\"ps_seconds\":{\"p\":1},\"upload_slots\":"
			   "{\"c\":20}},{\"id\":\"b\","
			   "\"arrival\":2,\"epochs\":4,\"chunks\":1,\"minibatches\":10,\"gradient_"
			   "mb\":1,\"worker_seconds\":{"
			   "\"w\":5},\"ps_seconds\":{\"p\":1},\"upload_slots\":{\"c\":12},\"upload_"
			   "default\":1},{\"id\":\"c\","
			   "\"arrival\":3,\"epochs\":5,\"chunks\":3,\"minibatches\":10,\"gradient_"
			   "mb\":3,\"worker_seconds\":{"
			   "\"w\":5},\"ps_seconds\":{\"p\":1},\"upload_slots\":{\"c\":2}},{\"id\":"
			   "\"d\",\"arrival\":4,\"epochs\":5,"
			   "\"chunks\":2,\"minibatches\":10,\"gradient_mb\":1,\"worker_seconds\":{"
			   "\"v\":5},\"ps_seconds\":{"
			   "\"p\":1},\"upload_slots\":{\"c\":17},\"utility\":{\"form\":\"linear\","
			   "\"intercept\":100,\"slope\":3}},"
			   "{\"id\":\"e\",\"arrival\":18,\"epochs\":5,\"chunks\":2,\"minibatches\":"
			   "10,\"gradient_mb\":1,"
			   "\"worker_seconds\":{\"v\":5},\"ps_seconds\":{\"p\":1},\"upload_slots\":"
			   "{\"c\":17}},{\"id\":\"f\","
			   "\"arrival\":5,\"epochs\":50000,\"chunks\":2,\"minibatches\":10,"
			   "\"gradient_mb\":1,\"worker_seconds\":{"
			   "\"v\":50},\"ps_seconds\":{\"p\":1}}]}";

static const struct corruption mutations[] = {
	{"aonline", "/policy", "\"srtf\"", "$.jobs[0].chunks"},
	{"aonline", "/jobs/0/chunks", NULL, "$.jobs[0].chunks"},
	{"aonline", "/jobs/0/chunks", "{}", "$.jobs[0].chunks"},
	{"aonline", "/jobs/0/chunks/1", NULL, "expected 4, found 3"},
	{"aonline", "/jobs/0/chunks/1/server", "\"e9\"", "chunks[1].server"},
	{"aonline", "/jobs/0/chunks/1/server", "\"e2\"", "expected a worker of e2, 0 to 0"},
	{"aonline", "/jobs/0/chunks/1/server", "\"e3\"", "expected no worker on e3"},
	{"aonline", "/jobs/0/chunks/1/server", "\"c\"", "before slot 21"},
	{"aonline", "/jobs/0/chunks/1/server", NULL, "chunks[1]"},
	{"aonline", "/jobs/0/chunks/1/worker", "0", "for one chunk at a time"},
	{"aonline", "/jobs/0/chunks/1/worker", "2", "expected a worker of e1, 0 to 1"},
	{"aonline", "/jobs/0/chunks/1/worker", "-1", "chunks[1].worker"},
	{"aonline", "/jobs/0/chunks/1/runs", "[[1,2],[6,6]]", "expected 4 slots of training"},
	{"aonline", "/jobs/0/chunks/1/runs", "[[1,2],[6,8]]", "expected 4 slots of training"},
	{"aonline", "/jobs/0/chunks/1/runs", "[[1,2],[5,6]]", "for one chunk at a time"},
	{"aonline", "/jobs/0/chunks/1/runs", "[[1,2],[7,8]]", "expected a worker for each chunk"},
	{"aonline", "/jobs/0/chunks/1/runs", "[[6,7],[1,2]]", "in order"},
	{"aonline", "/jobs/0/chunks/0/runs", "[[1,2],[3,4]]", "maximal runs"},
	{"aonline", "/jobs/0/chunks/0/runs", "[[1,0]]", "chunks[0].runs[0]"},
	{"aonline", "/jobs/0/chunks/0/runs", "[[1,21]]", "chunks[0].runs[0]"},
	{"aonline", "/jobs/0/chunks/0/runs", "[[1,2,3]]", "[from, to]"},
	{"aonline", "/jobs/0/chunks/0/runs", "[]", "expected 4 slots of training"},
	{"aonline", "/jobs/1/chunks/0/runs", "[[2,4]]", "before slot 3"},
	{"aonline", "/jobs/0/chunks/2/server", "\"e1\"", "MB stored on e1"},
	{"aonline", "/jobs/0/plan/0/workers", "{\"e1\":2}", "1 too few"},
	{"aonline", "/jobs/0/plan/0/workers", "{\"e1\":2,\"e2\":2}", "1 too many"},
	{"aonline", "/jobs/0/plan/0/workers", "{\"e1\":1,\"e2\":2}", "expected a worker for each"},
	{"aonline", "/jobs/0/plan/0/ps", "{}", "all PSs on one server"},
	{"aonline", "/jobs/0/plan/0/ps", "{\"e1\":2}", "expected 1 PS"},
	{"aonline", "/jobs/0/plan/0/ps", "{\"c\":1}", "before slot 21"},
	{"aonline", "/jobs/1/plan/0/ps", "{\"e1\":1}", "within its capacity"},
	{"aonline", "/jobs/2/plan/0/ps", "{\"e3\":1}", "in the cloud with all"},
	{"aonline", "/jobs/0/plan/2", NULL, "expected a worker for each chunk"},
	{"aonline", "/jobs/0/plan", "[]", "never runs"},
	{"aonline", "/jobs/0/completion", "10", "$.jobs[0].completion"},
	{"aonline", "/jobs/0/completion", NULL, "for all is trained"},
	{"aonline", "/jobs/4/completion", "21", "expected 4 slots of training"},
	{"aonline", "/jobs/0/colocated", "true", "$.jobs[0].colocated"},
	{"aonline", "/jobs/2/colocated", "false", "$.jobs[2].colocated"},
	{"aonline", "/jobs/3/worker_type", "\"w\"", "$.jobs[3].worker_type"},
	{"aonline", "/jobs/3/value", "87", "$.jobs[3].value"},
	{"aonline", "/jobs/3/payment", "1", "$.jobs[3].payment"},
	{"aonline", "/jobs/5/chunks", "[]", "$.jobs[5]"},
	{"aonline", "/totals/preemptions", "1", "$.totals.preemptions"},
	{"aonline", "/totals/completed", "5", "$.totals"},
	{"aonline", "/totals/mean_jct_slots", "5", "$.totals.mean_jct_slots"},
	{"aonline,guard=none", "/jobs/0/chunks/0/runs/0/0", "2", "expected 4 slots of training"},
};

static void test_correct(void **state)
{
	static const char *const policies[] = {"aonline", "aonline,guard=none",
					       "aonline,variant=paper", "aonline,site=edge",
					       "aonline,site=cloud"};
	struct scenario *s = corrupt_scenario(text);
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		corrupt_none(s, policies[i]);
	scenario_free(s);
}

static void test_mutations(void **state)
{
	struct scenario *s = corrupt_scenario(text);

	(void)state;
	corrupt_all(s, mutations, sizeof(mutations) / sizeof(mutations[0]));
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_correct),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
