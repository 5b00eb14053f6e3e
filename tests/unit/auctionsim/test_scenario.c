/* test_scenario.c - the reader of auction-scenario/1: what it takes, and where it says no */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/edited.h"
#include "auctionsim/scenario/scenario.h"

static const char base[] =
	"{\"format\":\"auction-scenario/1\",\"name\":\"two\",\"slots\":50,\"slot_seconds\":3600,"
	"\"transfer_mb_per_slot\":20480,"
	"\"worker_types\":[{\"name\":\"v100\",\"tres\":{\"gpu:v100\":1,\"cpu\":4},"
	"\"bandwidth_mbps\":1024}],"
	"\"ps_types\":[{\"name\":\"ps.m\",\"tres\":{\"cpu\":2},\"bandwidth_mbps\":8192}],"
	"\"servers\":[{\"name\":\"e1\",\"site\":\"edge\",\"roles\":[\"worker\",\"ps\"],"
	"\"capacity\":{\"gpu:v100\":2,\"cpu\":24}},"
	"{\"name\":\"cloud\",\"site\":\"cloud\",\"capacity\":{\"gpu:v100\":64,\"cpu\":1024}}],"
	"\"jobs\":[{\"id\":\"j1\",\"arrival\":3,"
	"\"utility\":{\"form\":\"sigmoid\",\"scale\":300,\"decay\":0.02},"
	"\"epochs\":30,\"chunks\":27,\"minibatches\":58,\"gradient_mb\":97.4,"
	"\"worker_seconds\":{\"v100\":1.9,\"own\":2},\"ps_seconds\":{\"ps.m\":0.05},"
	"\"worker_types\":[{\"name\":\"own\",\"tres\":{\"cpu\":0.1},\"bandwidth_mbps\":10}],"
	"\"upload_slots\":{\"e1\":2,\"cloud\":12},\"upload_default\":1,"
	"\"data_chunks\":{\"e1\":20,\"cloud\":7},\"chunk_mb\":3,\"exchange_mb_per_slot\":5,"
	"\"chunks_per_slot\":2.5,\"workers\":4,\"ps\":1,\"compute_seconds_per_epoch\":9,"
	"\"budget\":12,\"guaranteed\":false},"
	"{\"id\":\"j2\",\"arrival\":1,\"utility\":{\"form\":\"table\",\"points\":[[0,5],[9,1]]}}],"
	"\"state\":[{\"server\":\"e1\",\"tres\":\"cpu\",\"from\":1,\"to\":4,\"used\":1}],"
	"\"prices\":{\"mode\":\"eta\",\"eta\":{\"cpu\":2}}}";

/* BASE with the first OLD replaced by NEW is refused at PATH, and the error says SAYS. */
static const struct {
	const char *old, *new, *path, *says;
} bad[] = {
	{"scenario/1", "scenario/2", "$.format", "auction-scenario/1"},
	{"\"name\":\"two\",", "", "$.name", "found none"},
	{"\"name\":\"two\"", "\"name\":\"\"", "$.name", "expected a text"},
	{"\"slots\":50", "\"slots\":0", "$.slots", "1 to 10000"},
	{"\"slots\":50", "\"slots\":1.5", "$.slots", "found 1.5"},
	{"\"slots\":50", "\"slots\":\"50\"", "$.slots", "found \"50\""},
	{"\"slots\":50", "\"slots\":null", "$.slots", "found null"},
	{"\"slot_seconds\":3600", "\"slot_seconds\":0", "$.slot_seconds", "above 0"},
	{"20480", "-1", "$.transfer_mb_per_slot", "found -1"},
	{"\"slots\":50", "\"slots\":50,\"more\":1", "$.more", "unknown key"},
	{"\"slots\":50", "\"slots\":50,\"slots\":50", "$.slots", "found it twice"},
	{"\"gpu:v100\":1,", "\"gpu:v100\":-1,", "$.worker_types[0].tres[\"gpu:v100\"]", "found -1"},
	{"\"bandwidth_mbps\":1024", "\"bandwidth_mbps\":0", "$.worker_types[0].bandwidth_mbps",
	 "0"},
	{"\"bandwidth_mbps\":1024", "\"bandwith\":1", "$.worker_types[0].bandwith", "unknown key"},
	{"\"name\":\"cloud\"", "\"name\":\"e1\"", "$.servers[1].name", "second time"},
	{"\"name\":\"cloud\"", "\"name\":\"*\"", "$.servers[1].name", "stands for all"},
	{"\"site\":\"cloud\"", "\"site\":\"sky\"", "$.servers[1].site", "\"edge\" or \"cloud\""},
	{"[\"worker\",\"ps\"]", "[\"worker\",\"worker\"]", "$.servers[0].roles[1]", "each once"},
	{"[\"worker\",\"ps\"]", "[]", "$.servers[0].roles", "an array of"},
	{"\"cpu\":1024", "\"cpu\":NaN", "$.servers[1].capacity.cpu", "found NaN"},
	{"\"cpu\":1024", "\"cpu\":1e999", "$.servers[1].capacity.cpu", "found 1e999"},
	{"\"id\":\"j2\"", "\"id\":\"j1\"", "$.jobs[1].id", "second time"},
	{"\"arrival\":3", "\"arrival\":0", "$.jobs[0].arrival", "found 0"},
	{"\"arrival\":3", "\"arrival\":[3]", "$.jobs[0].arrival", "found an array of 1"},
	{"\"decay\":0.02", "\"decay\":-0.02", "$.jobs[0].utility.decay", "found -0.02"},
	{"\"decay\":0.02", "\"slope\":1", "$.jobs[0].utility.slope", "unknown key"},
	{"\"sigmoid\"", "\"cubic\"", "$.jobs[0].utility.form", "\"sigmoid\""},
	{"\"scale\":300", "\"scale\":-300", "$.jobs[0].utility.scale", "found -300"},
	{"[9,1]", "[9,6]", "$.jobs[1].utility.points[1][1]", "never rises"},
	{"[9,1]", "[0,1]", "$.jobs[1].utility.points[1][0]", "more than 0"},
	{"[9,1]", "[9]", "$.jobs[1].utility.points[1]", "[x, value]"},
	{"\"epochs\":30", "\"epochs\":0", "$.jobs[0].epochs", "found 0"},
	{"\"epochs\":30", "\"epochs\":30,\"ep\\u006fchs\":30", "$.jobs[0].epochs", "twice"},
	{"\"gradient_mb\":97.4", "\"gradient_mb\":-1", "$.jobs[0].gradient_mb", "found -1"},
	{"\"v100\":1.9", "\"v101\":1.9", "$.jobs[0].worker_seconds.v101", "worker type"},
	{"\"v100\":1.9", "\"v100\":\"1.9\"", "$.jobs[0].worker_seconds.v100", "a number"},
	{"\"ps.m\":0.05", "\"v100\":0.05", "$.jobs[0].ps_seconds.v100", "PS type"},
	{"\"name\":\"own\"", "\"name\":\"v100\"", "$.jobs[0].worker_types[0].name", "second time"},
	{"\"e1\":2,", "\"e2\":2,", "$.jobs[0].upload_slots.e2", "server"},
	{"\"upload_default\":1", "\"upload_default\":-1", "$.jobs[0].upload_default", "found -1"},
	{"\"cloud\":7", "\"cloud\":8", "$.jobs[0].data_chunks", "expected 27 chunks"},
	{"\"cloud\":7", "\"cloud\":7.5", "$.jobs[0].data_chunks.cloud", "whole number"},
	{"\"chunks_per_slot\":2.5", "\"chunks_per_slot\":0", "$.jobs[0].chunks_per_slot",
	 "above 0"},
	{"\"workers\":4", "\"workers\":0", "$.jobs[0].workers", "found 0"},
	{"\"budget\":12", "\"budget\":-12", "$.jobs[0].budget", "found -12"},
	{"\"guaranteed\":false", "\"guaranteed\":0", "$.jobs[0].guaranteed", "true or false"},
	{"\"server\":\"e1\"", "\"server\":\"e9\"", "$.state[0].server", "found \"e9\""},
	{"\"server\":\"e1\"", "\"server\":\"*\"", "$.state[0].tres", "\"transfer\""},
	{"\"tres\":\"cpu\"", "\"tres\":\"cup\"", "$.state[0].tres", "found \"cup\""},
	{"\"from\":1", "\"from\":5", "$.state[0].to", "from 5 on"},
	{"\"used\":1", "\"price\":1", "$.state[0].price", "unknown key"},
	{"\"mode\":\"eta\"", "\"mode\":\"learned\"", "$.prices.eta", "unknown key"},
	{"\"mode\":\"eta\"", "\"mode\":\"free\"", "$.prices.mode", "\"given\""},
	{"{\"cpu\":2}}", "{\"cpu\":0.5}}", "$.prices.eta.cpu", "found 0.5"},
	{"{\"cpu\":2}}", "{\"gpu\":2}}", "$.prices.eta.gpu", "found 'gpu'"},
	{"\"name\":\"two\"", "\"name\":\"t\\u0000wo\"", "", "no NUL"},
	{"\"name\":\"two\"", "\"name\":\"t\xff\"", "", "line 1"},
	{"\"name\":\"two\"", "\"name\":\"t\xed\xa0\x80\"", "",
	 "column 41: expected one JSON value, "
	 "found: bytes that are not UTF-8"},
	{"\"name\":\"two\"", "\"name\":\"t\xc0\xaf\"", "", "not UTF-8"},
	{"\"name\":\"two\"", "\"name\":\"t\\ud800\"", "", "half a character"},
	{"\"name\":\"two\"", "\"name\":\"t\\udc00\\ud800\"", "", "half a character"},
	{"\"name\":\"two\"", "\"name\":\"t\\ud800\\u0041\"", "", "half a character"},
	{"\"name\":\"two\"", "\"name\":\"t\two\"", "", "line 1"},
	{"\"name\":\"two\"", "\"na\\ud800me\":\"two\"", "", "half a character"},
	{"\"slots\":50", "\"slots\":50.", "",
	 "column 53: expected one JSON value, found: a number"},
	{"\"slots\":50", "\"slots\":5.e1", "", "number"},
	{"\"decay\":0.02", "\"decay\":00.02", "", "number"},
	{"\"decay\":0.02", "\"decay\":-.02", "", "number"},
	{"{\"cpu\":2}}}", "{\"cpu\":2}}", "", "line 1"},
	{"{\"cpu\":2}}}", "{\"cpu\":2}}} {", "", "line 1"},
};

static void test_refused(void **state)
{
	struct scenario *s;
	struct auc_err err;
	char *text, where[200];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		text = edited(base, bad[i].old, bad[i].new);
		memset(&err, 0, sizeof(err));
		s = (void *)&err;
		assert_int_equal(scenario_parse(text, strlen(text), "f.json", &s, &err),
				 AUC_EINVAL);
		assert_null(s);
		snprintf(where, sizeof(where), "f.json: %s%s", bad[i].path,
			 *bad[i].path ? ":" : "");
		if (strncmp(err.text, where, strlen(where)) != 0 || !strstr(err.text, bad[i].says))
			fail_msg("%s -> %s: expected %s and '%s', got: %s", bad[i].old, bad[i].new,
				 where, bad[i].says, err.text);
		free(text);
	}
}

static struct scenario *parse(const char *old, const char *new)
{
	char *text = edited(base, old, new);
	struct auc_err err = {.text = ""};
	struct scenario *s;

	if (scenario_parse(text, strlen(text), "f", &s, &err) != AUC_OK)
		fail_msg("%s", err.text);
	free(text);
	return s;
}

static void test_read(void **state)
{
	struct scenario *s = parse("two", "two");
	const struct scenario_job *j = s->jobs;

	(void)state;
	assert_string_equal(s->name, "two");
	assert_int_equal(s->slots, 50);
	assert_int_equal(s->nservers, 2);
	assert_true(s->servers[1].cloud && !s->servers[0].cloud);
	assert_int_equal(s->servers[1].roles, AUC_ROLE_WORKER | AUC_ROLE_PS);
	assert_int_equal(j->nworker_seconds, 2);
	assert_int_equal(j->worker_seconds[1].index, 1); /* its own follow the scenario's */
	assert_string_equal(scenario_worker_type_name(s, j, 1), "own");
	assert_string_equal(scenario_worker_type_name(s, j, 0), "v100");
	assert_true(scenario_upload(j, 1) == 12 && scenario_upload(j, 0) == 2);
	assert_true(j->budget == 12 && !j->guaranteed && j->workers == 4 && j->chunk_mb == 3);
	assert_true(auc_utility_value(&j->utility, 0) == 150);
	j++;
	assert_true(j->guaranteed && j->chunk_mb == 2 && j->budget < 0 && !j->epochs);
	assert_true(auc_utility_value(&j->utility, 4.5) == 3);
	assert_int_equal(s->nstate, 1);
	assert_int_equal(s->prices, SCENARIO_PRICES_ETA);
	assert_true(s->eta.n == 1 && s->eta.list[0].value == 2);
	scenario_free(s);
}

static void test_forms(void **state)
{
	static const struct {
		const char *utility;
		double x, value;
	} forms[] = {
		{"{\"form\":\"linear\",\"intercept\":10,\"slope\":2}", 3, 4},
		{"{\"form\":\"linear\",\"intercept\":10,\"slope\":2}", 9, 0},
		{"{\"form\":\"inverse\",\"scale\":2}", 5, 18},
		{"{\"form\":\"constant\",\"scale\":7}", 999, 7},
		{"{\"scale\":7,\"deadline\":3,\"form\":\"deadline\"}", 3, 7},
		{"{\"scale\":7,\"deadline\":3,\"form\":\"deadline\"}", 4, 0},
		{"{\"form\":\"sigmoid\",\"scale\":8,\"decay\":1,\"target\":6}", 6, 4},
	};
	struct scenario *s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		s = parse("{\"form\":\"sigmoid\",\"scale\":300,\"decay\":0.02}", forms[i].utility);
		assert_true(auc_utility_value(&s->jobs[0].utility, forms[i].x) == forms[i].value);
		scenario_free(s);
	}
}

/* All of them are JSON. */
static void test_written(void **state)
{
	static const char *const slots[] = {"50", "5e1", "5E+1", "50.0", "500e-1", "0.5e2"};
	static const char *const names[] = {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"};
	char text[64];
	struct scenario *s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		snprintf(text, sizeof(text), "\"slots\":%s,", slots[i]);
		s = parse("\"slots\":50,", text);
		assert_int_equal(s->slots, 50);
		scenario_free(s);
	}
	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "\"name\":\"%s\\n\\\\u\"", names[i]);
		s = parse("\"name\":\"two\"", text);
		assert_string_equal(s->name, "\xf0\x9f\x98\x80\n\\u");
		scenario_free(s);
	}
}

/* Keys may stand in any order: jobs before what they name. */
static void test_order(void **state)
{
	static const char text[] =
		"{\"jobs\":[{\"worker_seconds\":{\"w\":1},\"arrival\":1e0,\"id\":\"a\"}],"
		"\"prices\":{\"values\":[{\"price\":2,\"to\":9,\"from\":1,\"tres\":\"transfer\","
		"\"server\":\"*\"}],\"mode\":\"given\"},"
		"\"servers\":[{\"capacity\":{},\"name\":\"s\"}],"
		"\"worker_types\":[{\"tres\":{\"x\":1},\"name\":\"w\"}],"
		"\"slot_seconds\":0.5,\"slots\":9,\"name\":\"n\",\"format\":\"auction-scenario/"
		"1\"}";
	struct scenario *s;

	(void)state;
	assert_int_equal(scenario_parse(text, strlen(text), "f", &s, NULL), AUC_OK);
	assert_int_equal(s->values[0].server, SCENARIO_ANY_SERVER);
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_read),
		cmocka_unit_test(test_forms),   cmocka_unit_test(test_written),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
