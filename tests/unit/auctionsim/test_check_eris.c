/*
 * test_check_eris.c - the checker, of schedules whose chunks lie at sites and are moved: correct
 * results pass, and each of many ways to corrupt one is found.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "unit/support/corrupt.h"

/*
 * j1 moves its chunks from c to the PS at a; j2 stays at b; j3 takes two slots and pays for the
 * workers away from its PS, some of which train moved chunks; j4 comes too late; j5 is not worth a
 * worker in the only slot that it is worth anything in.
 */
static const char text[] = "{\"format\":\"auction-scenario/1\",\"name\":\"sites\",\"slots\":6,\"sl"
			   "ot_seconds\":60,\"transfer_mb_per_slot\":30,\"prices\":{\"mode\":\"eta"
			   "\",\"eta\":{\"gpu\":10,\"transfer\":5}},\"worker_types\":[{\"name\":\""
			   "w\",\"tres\":{\"gpu\":1}}],\"ps_types\":[{\"name\":\"p\",\"tres\":{\"c"
			   "pu\":1}}],\"servers\":[{\"name\":\"a\",\"capacity\":{\"gpu\":4,\"cpu\""
			   ":2}},{\"name\":\"b\",\"capacity\":{\"gpu\":2,\"cpu\":2}},{\"name\":\"c"
			   "\",\"capacity\":{\"gpu\":2,\"cpu\":2}},{\"name\":\"d\",\"roles\":[\"ps"
			   "\"],\"capacity\":{\"gpu\":9,\"cpu\":2}}],\"jobs\":[{\"id\":\"j1\",\"ar"
			   "rival\":1,\"utility\":{\"form\":\"sigmoid\",\"scale\":100,\"decay\":0."
			   "3},\"epochs\":2,\"chunks\":6,\"chunk_mb\":2,\"exchange_mb_per_slot\":1"
			   "0,\"chunks_per_slot\":3,\"data_chunks\":{\"a\":2,\"c\":4}},{\"id\":\"j"
			   "2\",\"arrival\":1,\"utility\":{\"form\":\"sigmoid\",\"scale\":100,\"de"
			   "cay\":0.3},\"epochs\":1,\"chunks\":2,\"chunk_mb\":1,\"exchange_mb_per_"
			   "slot\":4,\"chunks_per_slot\":1,\"data_chunks\":{\"b\":2}},{\"id\":\"j3"
			   "\",\"arrival\":2,\"utility\":{\"form\":\"linear\",\"intercept\":400,\""
			   "slope\":100},\"epochs\":1,\"chunks\":9,\"chunk_mb\":1,\"exchange_mb_pe"
			   "r_slot\":4,\"chunks_per_slot\":1,\"data_chunks\":{\"a\":9}},{\"id\":\""
			   "j4\",\"arrival\":6,\"utility\":{\"form\":\"constant\",\"scale\":5},\"e"
			   "pochs\":1,\"chunks\":9,\"chunk_mb\":1,\"exchange_mb_per_slot\":4,\"chu"
			   "nks_per_slot\":1,\"data_chunks\":{\"a\":9}},{\"id\":\"j5\",\"arrival\""
			   ":1,\"utility\":{\"form\":\"deadline\",\"scale\":1,\"deadline\":1},\"ep"
			   "ochs\":1,\"chunks\":1,\"chunk_mb\":1,\"exchange_mb_per_slot\":4,\"chun"
			   "ks_per_slot\":1,\"data_chunks\":{\"c\":1}}],\"state\":[{\"server\":\"c"
			   "\",\"tres\":\"gpu\",\"from\":1,\"to\":6,\"used\":1},{\"server\":\"*\","
			   "\"tres\":\"transfer\",\"from\":2,\"to\":3,\"used\":6}]}";

static void test_correct(void **state)
{
	struct scenario *s = corrupt_scenario(text);

	(void)state;
	corrupt_none(s, "eris");
	corrupt_none(s, "eris,variant=paper");
	corrupt_none(s, "eris,effort=0");
	corrupt_none(s, "tiresias");
	corrupt_none(s, "antman");
	corrupt_none(s, "liquid,workers=3");
	scenario_free(s);
}

static void test_mutations(void **state)
{
	static const struct corruption list[] = {
		{"eris", "/jobs/0/transfers/0/chunks", "3",
		 "workers that train all chunks where they lie or are moved to"},
		{"eris", "/jobs/0/transfers/0/chunks", "5",
		 "workers that train all chunks where they lie or are moved to"},
		{"eris", "/jobs/0/transfers/0/chunks", "0", "chunks: expected"},
		{"eris", "/jobs/0/transfers/0/slot", "2",
		 "where the job has workers in that slot, found one in slot 2"},
		{"eris", "/jobs/0/transfers/0/to", "\"b\"", "expected moves to other servers"},
		{"eris", "/jobs/0/transfers/0/to", "\"c\"", "expected moves to other servers"},
		{"eris", "/jobs/0/transfers/0/from", "\"a\"", "expected moves to other servers"},
		{"eris", "/jobs/0/transfers/0/from", "\"d\"", "workers that train all chunks"},
		{"eris", "/jobs/0/transfers/0/from", "\"z\"",
		 "expected a server of the scenario, found 'z'"},
		{"eris", "/jobs/0/transfers", "[]", "workers that train all chunks"},
		{"eris", "/jobs/0/transfers", "7", "transfers: expected"},
		{"eris", "/jobs/0/transfers", NULL, "expected colocated, plan and transfers"},
		{"eris", "/jobs/1/transfers",
		 "[{\"slot\":1,\"from\":\"a\",\"to\":\"b\",\"chunks\":1}]",
		 "workers that train all chunks"},
		{"eris", "/jobs/0/plan/0/workers", "{\"a\":3}", "workers that train all chunks"},
		{"eris", "/jobs/0/plan/0/workers", "{\"a\":5}",
		 "expected gpu of server a within its capacity"},
		{"eris", "/jobs/0/plan/0/workers", "{}", "expected workers, found none"},
		{"eris", "/jobs/1/plan/0/workers", "{\"d\":2}",
		 "expected no workers on d, whose roles do not allow it"},
		{"eris", "/jobs/0/plan/0/ps", "{\"b\":1}",
		 "no more sent than the budget of slot 1"},
		{"eris", "/jobs/0/plan/0/ps", "{\"a\":2}", "expected 1 PS, found 2"},
		{"eris", "/jobs/0/plan/0/ps", "{}", "expected all PSs on one server"},
		{"eris", "/jobs/0/plan/0/ps", "{\"a\":1,\"b\":1}",
		 "expected all PSs on one server"},
		{"eris", "/jobs/0/plan/0/to", "0", "to: expected"},
		{"eris", "/jobs/0/plan/0/to", "7", "expected slots in order"},
		{"eris", "/jobs/0/colocated", "false", "colocated: job j1: expected true"},
		{"eris", "/jobs/2/colocated", "true", "colocated: job j3: expected false"},
		{"eris", "/jobs/0/completion", "3", "expected 2, the slot after the plan's last"},
		{"eris", "/jobs/0/start", "2", "expected 1, the plan's first slot"},
		{"eris", "/jobs/0/value", "50", "value: job j1: expected 42.5"},
		{"eris", "/jobs/2/payment", "0.01", "payment: job j3: expected"},
		{"eris", "/jobs/2/payoff", "19", "expected value less payment"},
		{"eris", "/jobs/2/transfers/0/chunks", "2", "payment: job j3: expected"},
		{"eris", "/jobs/2/plan/1",
		 "{\"from\":2,\"to\":3,\"workers\":{\"a\":3},\"ps\":{\"a\":1}}",
		 "expected slots in order"},
		{"eris", "/jobs/0/worker_type", "\"v\"", "expected a type that the job may use"},
		{"eris", "/jobs/3/reason", "\"payoff\"",
		 "best_payoff: job j4: expected with reason payoff"},
		{"eris", "/jobs/4/best_payoff", "1", "expected at most 0 of a refused job"},
		{"eris", "/totals/welfare", "1", "totals.welfare"},
		{"eris", "/totals/revenue", "1", "totals.revenue"},
		{"antman,workers=4", "/jobs/0/transfers", "[]", "all chunks of a completed job"},
		{"antman", "/jobs/0/payment", "1", "payment: job j1: expected 0"},
		{"liquid", "/jobs/1/plan/0/workers", "{\"b\":3}", "gpu of server b within"},
		{"liquid", "/jobs/1/plan/0/ps", "{\"b\":2}", "expected 1 PS, found 2"},
		{"tiresias", "/totals/preemptions", "9", "totals.preemptions"},
	};
	struct scenario *s = corrupt_scenario(text);

	(void)state;
	corrupt_all(s, list, sizeof(list) / sizeof(list[0]));
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
