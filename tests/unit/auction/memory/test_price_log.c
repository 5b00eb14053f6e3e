/* test_price_log.c - past prices: lines that outlive the process, whatever a file has become;
 * bounds; what the report says of them. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction/memory/price_log.h"
#include "unit/support/splitmix.h"

#define T0   1800000000.0
#define SLOT 300.0

static struct auc_price_log *l;

static int set_up(void **state)
{
	(void)state;
	l = auc_price_log_create();
	return l ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	auc_price_log_destroy(l);
	return 0;
}

/* Shape "s" costs NOW and LOW in the slot number I. */
static void add(unsigned i, double now, double low)
{
	auc_price_log_moment(l, T0 + i * SLOT);
	auc_price_log_add(l, AUC_PRICE_LOG_SHAPE, "s", now, low);
}

static double item(struct json_object *o, const char *a, const char *b, size_t i)
{
	o = json_object_array_get_idx(json_object_object_get(o, "shapes"), 0);
	o = json_object_object_get(json_object_object_get(o, a), b);
	return json_object_is_type(o, json_type_array)
		       ? json_object_get_double(json_object_array_get_idx(o, i))
		       : json_object_get_double(o);
}

static void test_the_report_has_ranks_of_what_was_there(void **state)
{
	struct json_object *o;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add(i, 100 - i, i < 10 ? NAN : 1);
	o = auc_price_log_report(l, T0 + 100 * SLOT);
	assert_true(item(o, "week", "moments", 0) == 100);
	assert_true(item(o, "week", "none", 0) == 0);
	assert_true(item(o, "week", "now", 0) == 1);
	assert_true(item(o, "week", "now", 25) == 50);
	assert_true(item(o, "week", "now", 45) == 90);
	assert_true(item(o, "week", "now", 50) == 100);
	assert_true(item(o, "day", "low", 50) == 1);
	json_object_put(o);
	/* In a day's time the day has what is of it. */
	add(300, NAN, NAN);
	o = auc_price_log_report(l, T0 + 300 * SLOT);
	assert_true(item(o, "week", "moments", 0) == 101);
	assert_true(item(o, "week", "none", 0) == 1);
	assert_true(item(o, "day", "moments", 0) == 89);
	assert_true(item(o, "day", "now", 50) == 88);
	json_object_put(o);
}

static void test_a_week_and_so_many_moments_are_kept(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		add(i, 1, 1);
	assert_int_equal(auc_price_log_count(l), 2017);
	for (unsigned i = 0; i < 5000; i++) {
		auc_price_log_moment(l, T0 + 3000 * SLOT + i);
		auc_price_log_add(l, AUC_PRICE_LOG_SHAPE, "s", 1, 1);
	}
	assert_int_equal(auc_price_log_count(l), AUC_PRICE_LOG_MOMENTS);
	/* A clock that is set back. */
	add(1, 1, 1);
	assert_int_equal(auc_price_log_count(l), 1);
	assert_true(auc_price_log_last(l) == T0 + SLOT);
}

static void test_series_that_are_gone_make_room(void **state)
{
	struct json_object *o;
	char name[300];

	(void)state;
	auc_price_log_moment(l, T0);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "old-%u", i);
		auc_price_log_add(l, AUC_PRICE_LOG_CLASS, name, 1, 1);
	}
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	auc_price_log_add(l, AUC_PRICE_LOG_SHAPE, name, 1, 1);
	add(1, 5, 5); /* there is no room for it yet */
	o = auc_price_log_report(l, T0 + SLOT);
	assert_int_equal(json_object_array_length(json_object_object_get(o, "shapes")), 0);
	assert_int_equal(json_object_array_length(json_object_object_get(o, "classes")),
			 AUC_PRICE_LOG_SERIES);
	json_object_put(o);
	add(2100, 5, 5); /* a week later */
	o = auc_price_log_report(l, T0 + 2100 * SLOT);
	assert_true(item(o, "week", "now", 0) == 5);
	json_object_put(o);
}

static void test_lines_outlive_the_process(void **state)
{
	struct auc_price_log *again = auc_price_log_create();
	char *all, *last, *same;

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		add(i, i % 7 ? i / 3.0 : NAN, i % 7 ? 0.1 : NAN);
		auc_price_log_add(l, AUC_PRICE_LOG_CLASS, "edge/v100", 0.25, 0.25);
	}
	all = auc_price_log_print(l, true);
	last = auc_price_log_print(l, false);
	assert_non_null(strstr(all, last));
	assert_int_equal(auc_price_log_read(again, all, strlen(all), T0 + 1e6), 0);
	same = auc_price_log_print(again, true);
	assert_string_equal(all, same);
	/* Torn in the last line, as after a crash. */
	auc_price_log_destroy(again);
	again = auc_price_log_create();
	assert_int_equal(auc_price_log_read(again, all, strlen(all) - 5, T0 + 1e6), 1);
	assert_int_equal(auc_price_log_count(again), 49);
	free(all);
	free(last);
	free(same);
	auc_price_log_destroy(again);
}

static void test_whatever_is_no_moment_is_left_out(void **state)
{
	static const char *const bad[] = {
		"\n",
		"null\n",
		"[]\n",
		"{}\n",
		"{\"t\":1}\n",
		"{\"t\":-1,\"p\":[]}\n",
		"{\"t\":1e300,\"p\":[]}\n",
		"{\"t\":\"1\",\"p\":[]}\n",
		"{\"t\":1,\"p\":{}}\n",
		"{\"t\":1,\"p\":[]}",            /* without an end */
		"{\"t\":1800000001,\"p\":[]}\n", /* to come */
		"\x00\n",
	};
	static const char odd[] =
		"{\"t\":1,\"p\":[1,[],[0],[0,5,1,1],[0,\"a\",-1,1],[0,\"b\",1,\"1\"],"
		"[0,\"c\\\"\",1,1],[0,\"\",1,1],[0,\"d\",1e300,1],[0,\"ok\",1,null]]}\n";
	struct json_object *o;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(auc_price_log_read(l, bad[i], *bad[i] ? strlen(bad[i]) : 2, T0),
				 1);
		assert_int_equal(auc_price_log_count(l), 0);
	}
	assert_int_equal(auc_price_log_read(l, odd, strlen(odd), T0), 0);
	o = auc_price_log_report(l, 2);
	assert_int_equal(json_object_array_length(json_object_object_get(o, "shapes")), 1);
	json_object_put(o);
	/* Not in order: the first that comes counts. */
	assert_int_equal(auc_price_log_read(l, odd, strlen(odd), T0), 1);
}

/* Whatever bytes. */
static void test_torn_texts(void **state)
{
	uint64_t seed = 7;
	char *all, *text;
	size_t n;

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		add(i, i, i);
	all = auc_price_log_print(l, true);
	n = strlen(all);
	text = malloc(n + 1);
	for (unsigned k = 0; k < 2000; k++) {
		struct auc_price_log *again = auc_price_log_create();

		memcpy(text, all, n + 1);
		for (unsigned i = splitmix(&seed) % 4 + 1; i; i--)
			text[splitmix(&seed) % n] = (char)splitmix(&seed);
		auc_price_log_read(again, text, splitmix(&seed) % (n + 1), T0 + 1e6);
		assert_true(auc_price_log_count(again) <= 20);
		json_object_put(auc_price_log_report(again, T0 + 1e6));
		auc_price_log_destroy(again);
	}
	free(text);
	free(all);
}

static void test_lines_by_four_hours(void **state)
{
	struct json_object *o, *line, *one;

	(void)state;
	add(0, 1, 1);
	add(1, 3, 1);
	add(2, NAN, NAN);
	add(48, NAN, NAN); /* four hours later */
	o = auc_price_log_report(l, T0 + 48 * SLOT);
	line = json_object_object_get(
		json_object_array_get_idx(json_object_object_get(o, "shapes"), 0), "line");
	assert_int_equal(json_object_array_length(line), 2);
	one = json_object_array_get_idx(line, 0);
	assert_string_equal(json_object_to_json_string_ext(one, JSON_C_TO_STRING_PLAIN),
			    "[125000,2,1,2,3]");
	one = json_object_array_get_idx(line, 1);
	assert_string_equal(json_object_to_json_string_ext(one, JSON_C_TO_STRING_PLAIN),
			    "[125001,0,0,0,0]");
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_report_has_ranks_of_what_was_there, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_week_and_so_many_moments_are_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_series_that_are_gone_make_room, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_lines_outlive_the_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whatever_is_no_moment_is_left_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_torn_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines_by_four_hours, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
