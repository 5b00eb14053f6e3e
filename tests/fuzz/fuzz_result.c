/*
 * fuzz_result.c - any bytes as a result of a small scenario. What is accepted must lie within the
 * scenario; it is booked again, and fits, or is said not to, or not to be one of such a scenario.
 */
#include "config.h"

#include <string.h>

#include <json-c/json.h>

#include "auctionsim/io/document.h"
#include "fuzz/fuzz.h"
#include "auctionsim/plot/plot_read.h"

#define SERVERS 2
#define SLOTS   20

/* a may use a type of its own. */
static const char scenario_text[] =
	"{\"format\": \"auction-scenario/1\", \"name\": \"f\", \"slots\": 20, \"slot_seconds\": "
	"100,"
	"\"worker_types\": [{\"name\": \"w\", \"tres\": {\"gpu\": 1, \"cpu\": 2}, "
	"\"bandwidth_mbps\": 1000}],"
	"\"ps_types\": [{\"name\": \"p\", \"tres\": {\"cpu\": 1}, \"bandwidth_mbps\": 2000}],"
	"\"servers\": [{\"name\": \"e1\", \"capacity\": {\"gpu\": 5, \"cpu\": 15}},"
	"{\"name\": \"e2\", \"site\": \"cloud\", \"capacity\": {\"gpu\": 1, \"cpu\": 8}}],"
	"\"jobs\": [{\"id\": \"a\", \"arrival\": 2, \"utility\": {\"form\": \"constant\", "
	"\"scale\": 9}, "
	"\"epochs\": 1, \"chunks\": 4, \"minibatches\": 1, \"gradient_mb\": 1, "
	"\"worker_types\": [{\"name\": \"v\", \"tres\": {\"gpu\": 0.5}, \"bandwidth_mbps\": 10}], "
	"\"worker_seconds\": {\"w\": 2, \"v\": 3}, \"ps_seconds\": {\"p\": 0.1}},"
	"{\"id\": \"b\", \"arrival\": 1, \"utility\": {\"form\": \"constant\", \"scale\": 9}, "
	"\"epochs\": 1, \"chunks\": 4, \"minibatches\": 1, \"gradient_mb\": 1, "
	"\"worker_seconds\": {\"w\": 2}, \"ps_seconds\": {\"p\": 0.1}}]}";

static void check_plan(const struct auc_plan *plan);
static void look(void *arg, const struct auc_market *m, auc_slot from, auc_slot to);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *root = NULL;
	struct auc_err err = {.text = ""};
	struct result result = {0};
	char *text = malloc(size + 1);
	auc_slot shown = 0;
	struct scenario *s;
	unsigned i;

	REQUIRE(text &&
		scenario_parse(scenario_text, sizeof(scenario_text) - 1, "s", &s, NULL) == AUC_OK);
	memcpy(text, data, size);
	text[size] = '\0';
	if (document_parse(text, size, "f", &root, &err) == AUC_OK &&
	    plot_result_read(s, root, "f", -1, &result, &err) == AUC_OK) {
		REQUIRE(result.njobs == 2 && *result.policy && result.accepted <= 2 &&
			result.completed <= result.accepted && result.welfare >= 0);
		for (i = 0; i < 2; i++)
			check_plan(&result.jobs[i].plan);
		if (replay_repeat(s, &result, look, &shown, &err) == AUC_OK)
			REQUIRE(shown == SLOTS);
		else
			REQUIRE(err.code == AUC_EFULL || strstr(err.text, "expected the key"));
	} else {
		REQUIRE(err.code != AUC_OK && !strncmp(err.text, "f: ", 3));
	}
	result_clear(&result);
	json_object_put(root);
	scenario_free(s);
	free(text);
	return 0;
}

static void check_plan(const struct auc_plan *plan)
{
	const struct auc_run *run;
	auc_slot last = 0;
	unsigned i, k;

	REQUIRE(plan->worker_type < 2 && plan->ps_type < 1);
	for (k = 0; k < plan->nruns; k++) {
		run = &plan->runs[k];
		REQUIRE(run->from > last && run->to >= run->from && run->to <= SLOTS);
		last = run->to;
		for (i = 0; i < run->nshares; i++)
			REQUIRE(plan->shares[run->first_share + i].server < SERVERS);
	}
}

/* Every slot once, in order, with what fits. */
static void look(void *arg, const struct auc_market *m, auc_slot from, auc_slot to)
{
	auc_slot *shown = arg;

	REQUIRE(from == *shown + 1 && to >= from && to <= SLOTS && auc_market_sound(m));
	*shown = to;
}
