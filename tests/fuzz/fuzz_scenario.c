/*
 * fuzz_scenario.c - any bytes as a scenario. What is accepted must be complete and consistent; a
 * small one is replayed, its result must be JSON that the reader takes, and the checker must come
 * to an end with it.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/check/check.h"
#include "auctionsim/io/document.h"
#include "fuzz/fuzz.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/run/result.h"
#include "auctionsim/scenario/scenario.h"

#define SMALL 12 /* servers, jobs, slots of what is replayed */

static void check_scenario(const struct scenario *s);
static void check_job(const struct scenario *s, const struct scenario_job *j);
static void replay(const struct scenario *s);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct auc_err err = {.text = ""};
	struct scenario *s;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (scenario_parse(text, size, "f", &s, &err) != AUC_OK) {
		REQUIRE(!s && err.code != AUC_OK && !strncmp(err.text, "f: ", 3));
	} else {
		check_scenario(s);
		if (s->nservers <= SMALL && s->njobs <= SMALL && s->slots <= SMALL)
			replay(s);
		scenario_free(s);
	}
	free(text);
	return 0;
}

static void check_scenario(const struct scenario *s)
{
	unsigned i;

	REQUIRE(*s->name && s->slots >= 1 && s->slots <= AUC_SLOTS_MAX && s->slot_seconds > 0);
	for (i = 0; i < s->nservers; i++)
		REQUIRE(*s->servers[i].name && s->servers[i].roles);
	for (i = 0; i < s->njobs; i++)
		check_job(s, &s->jobs[i]);
	for (i = 0; i < s->nstate; i++)
		REQUIRE(s->state[i].from >= 1 && s->state[i].to >= s->state[i].from &&
			s->state[i].amount >= 0);
	for (i = 0; i < s->nvalues; i++)
		REQUIRE((s->values[i].server < s->nservers ||
			 s->values[i].server == SCENARIO_ANY_SERVER) &&
			s->values[i].amount >= 0);
}

static void check_job(const struct scenario *s, const struct scenario_job *j)
{
	unsigned i;
	double x;

	REQUIRE(*j->id && j->arrival >= 1);
	for (i = 0; i < j->nworker_seconds; i++)
		REQUIRE(*scenario_worker_type_name(s, j, j->worker_seconds[i].index));
	for (i = 0; i < j->nps_seconds; i++)
		REQUIRE(*scenario_ps_type_name(s, j, j->ps_seconds[i].index));
	for (i = 0; i < j->nupload; i++)
		REQUIRE(j->upload[i].index < s->nservers && j->upload[i].value >= 0);
	for (x = 1; j->has_utility && x < 1e6; x *= 3)
		REQUIRE(auc_utility_value(&j->utility, x) >=
				auc_utility_value(&j->utility, 2 * x) &&
			auc_utility_value(&j->utility, x) >= 0);
}

static void replay(const struct scenario *s)
{
	struct json_object *root = NULL;
	struct result result = {0};
	struct auc_err err = {.text = ""};
	unsigned violations;
	char *json, *said;
	size_t size;
	FILE *out;

	if (replay_run(s, "dps", 1, NULL, NULL, &result, &err) != AUC_OK) {
		REQUIRE(*err.text);
		result_clear(&result);
		return;
	}
	out = open_memstream(&json, &size);
	REQUIRE(out && result_print_json(out, s, &result, 1, NULL) == AUC_OK && !fclose(out));
	REQUIRE(document_parse(json, size, "r", &root, NULL) == AUC_OK);
	out = open_memstream(&said, &size);
	REQUIRE(out && check_result(s, root, "r", out, &violations, NULL) == AUC_OK &&
		!fclose(out));
	json_object_put(root);
	free(json);
	free(said);
	result_clear(&result);
}
