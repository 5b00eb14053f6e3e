/*
 * test_whole_jobs.c - the baselines whose jobs run with all of their workers or not at all
 * (baseline/whole_jobs.h): srtf, tiresias-l, batchsche, followed by hand.
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

#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

/* One slot of one worker does 1/SLOTS of a chunk; with the exchange it takes two slots more. */
#define FAR_JOB(id, arrival, chunks, workers, slots, upload)                                       \
	"{\"id\":\"" id "\",\"arrival\":" #arrival ",\"epochs\":1,\"chunks\":" #chunks             \
	",\"minibatches\":1,\"gradient_mb\":20,\"workers\":" #workers                              \
	",\"worker_seconds\":{\"w\":" #slots                                                       \
	"0},\"ps_seconds\":{\"p\":0},\"upload_slots\":{" upload "}}"
#define JOB(id, arrival, chunks, workers, slots) FAR_JOB(id, arrival, chunks, workers, slots, "")
#define CLOUD_JOB(id, arrival, chunks, workers, slots)                                             \
	FAR_JOB(id, arrival, chunks, workers, slots, "\"c\":3")

#define SCENARIO(servers, jobs)                                                                    \
	"{\"format\":\"auction-scenario/1\",\"name\":\"g\",\"slots\":40,\"slot_seconds\":10,"      \
	"\"worker_types\":[{\"name\":\"w\",\"tres\":{\"gpu\":1},\"bandwidth_mbps\":16}],"          \
	"\"ps_types\":[{\"name\":\"p\",\"tres\":{\"cpu\":1},\"bandwidth_mbps\":16}],"              \
	"\"servers\":[" servers "],\"jobs\":[" jobs "]}"

#define EDGE(name, gpus, cpus)                                                                     \
	"{\"name\":\"" name "\",\"capacity\":{\"gpu\":" #gpus ",\"cpu\":" #cpus "}}"
#define CLOUD ",{\"name\":\"c\",\"site\":\"cloud\",\"capacity\":{\"gpu\":99,\"cpu\":99}}"

static const struct {
	const char *policy, *scenario;
	auc_slot completion[4]; /* 0: never, in the order of the jobs */
	unsigned preemptions;
} cases[] = {
	/* b is the shorter one, a goes on after it */
	{"srtf",
	 SCENARIO(EDGE("e", 2, 9), JOB("a", 1, 2, 2, 6) "," JOB("b", 3, 2, 2, 2)),
	 {9, 5},
	 1},
	/* c fits beside b, all or nothing: a waits for both */
	{"srtf",
	 SCENARIO(EDGE("e", 3, 9),
		  JOB("a", 1, 3, 3, 6) "," JOB("b", 2, 2, 2, 2) "," JOB("c", 2, 1, 1, 4)),
	 {11, 4, 6},
	 1},
	/* over two servers the chunks take two slots more; one PS for one job */
	{"srtf",
	 SCENARIO(EDGE("e", 1, 1) "," EDGE("f", 1, 0),
		  JOB("a", 1, 2, 2, 4) "," JOB("b", 1, 1, 1, 9)),
	 {7, 16},
	 0},
	/* more workers than there are: as many as there are */
	{"srtf", SCENARIO(EDGE("e", 2, 1), JOB("a", 1, 4, 4, 3)), {7}, 0},
	{"srtf", SCENARIO(EDGE("e", 1, 1) CLOUD, CLOUD_JOB("a", 1, 4, 4, 3)), {13}, 0},
	{"srtf,site=any", SCENARIO(EDGE("e", 1, 1) CLOUD, CLOUD_JOB("a", 1, 4, 4, 3)), {7}, 0},
	/* a has had 4 worker-slots when slot 3 begins, b never comes to so many */
	{"tiresias-l,threshold=4",
	 SCENARIO(EDGE("e", 2, 9), JOB("a", 1, 2, 2, 3) "," JOB("b", 2, 2, 2, 2)),
	 {6, 5},
	 1},
	{"tiresias-l",
	 SCENARIO(EDGE("e", 2, 9), JOB("a", 1, 2, 2, 3) "," JOB("b", 2, 2, 2, 2)),
	 {4, 6},
	 0},
	/* the third class begins at 8: there a is before b again */
	{"tiresias-l,threshold=1",
	 SCENARIO(EDGE("e", 1, 9), JOB("a", 1, 1, 1, 12) "," JOB("b", 9, 1, 1, 9)),
	 {21, 22},
	 2},
	/* the batch of slot 4: b first; c comes later and does not push a away */
	{"batchsche,interval=4",
	 SCENARIO(EDGE("e", 2, 9),
		  JOB("a", 1, 2, 2, 6) "," JOB("b", 3, 2, 2, 2) "," JOB("c", 5, 2, 2, 1)),
	 {12, 6, 13},
	 0},
	/* an idle edge is free; used, it is dearer than the cloud, data are there 3 slots later */
	{"batchsche,interval=1",
	 SCENARIO(EDGE("e", 2, 9) CLOUD, CLOUD_JOB("a", 1, 2, 2, 6) "," CLOUD_JOB("b", 3, 9, 2, 2)),
	 {7, 8},
	 0},
	{"batchsche,interval=1,cloud_price=2",
	 SCENARIO(EDGE("e", 2, 9) CLOUD, CLOUD_JOB("a", 1, 2, 2, 6) "," CLOUD_JOB("b", 3, 2, 2, 2)),
	 {7, 9},
	 0},
};

static void test_by_hand(void **state)
{
	struct auc_err err = {.text = ""};
	struct result result;
	struct scenario *s;
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&result, 0, sizeof(result));
		assert_int_equal(
			scenario_parse(cases[i].scenario, strlen(cases[i].scenario), "g", &s, &err),
			AUC_OK);
		assert_int_equal(replay_run(s, cases[i].policy, 1, NULL, NULL, &result, &err),
				 AUC_OK);
		for (k = 0; k < s->njobs; k++)
			if (result.jobs[k].plan.completion != cases[i].completion[k])
				fail_msg("case %u, %s, job %s: expected %lld, found %lld", i,
					 cases[i].policy, s->jobs[k].id,
					 (long long)cases[i].completion[k],
					 (long long)result.jobs[k].plan.completion);
		assert_int_equal(result.preemptions, cases[i].preemptions);
		result_clear(&result);
		scenario_free(s);
	}
}

static void test_options(void **state)
{
	static const char *const bad[] = {"srtf,site",
					  "srtf,site=edge,site=any",
					  "tiresias-l,threshold=0",
					  "tiresias-l,threshold=",
					  "tiresias-l,queues=3",
					  "batchsche,interval=0",
					  "batchsche,cloud_price=-1",
					  "batchsche,cloud_price=nan",
					  "batchsche,site=any"};
	struct auc_err err = {.text = ""};
	struct result result = {0};
	struct scenario *s;
	unsigned i;

	(void)state;
	assert_int_equal(
		scenario_parse(cases[0].scenario, strlen(cases[0].scenario), "g", &s, &err),
		AUC_OK);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(replay_run(s, bad[i], 1, NULL, NULL, &result, &err), AUC_EINVAL);
		result_clear(&result);
	}
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
