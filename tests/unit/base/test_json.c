/* test_json.c - what is JSON and what is not, in letters of all the world, for every json-c. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "base/json.h"

static void test_taken(void **state)
{
	static const char *const texts[] = {
		"", "plain", "\xc3\xa9t\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff\x80",
	};
	struct json_object *o, *v, *again;
	const char *line;
	char key[40];

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		snprintf(key, sizeof(key), "k%s", texts[i]);
		o = json_object_new_object();
		assert_true(auc_json_add_text(o, key, texts[i]));
		assert_true(auc_json_add_int(o, "n", 7));
		line = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
		again = auc_json_parse(line, strlen(line));
		assert_non_null(again);
		assert_true(json_object_object_get_ex(again, key, &v));
		assert_string_equal(json_object_get_string(v), texts[i]);
		assert_int_equal(json_object_object_length(again), 2);
		json_object_put(again);
		json_object_put(o);
	}
}

/* Each with letters that are no ASCII, and without. */
static void test_refused(void **state)
{
	static const struct {
		const char *text;
		size_t end; /* where it is said to be wrong; 0: anywhere */
	} cases[] = {
		{"", 0},
		{"{\"a\":\"e\"", 0},
		{"{\"a\":\"e\",}", 9},
		{"{\"a\":'e'}", 5},
		{"{\"a\":\"e\"}x", 9},
		{"{\"a\":\"e\"} {}", 0},
		{"{\"a\":\"e\",e}", 9},
		{"{\"a\":\"e\",\"b\":01}", 0},
		{"{\"a\":\"e\",\"b\":nan}", 0},
		{"/* e */{\"a\":1}", 0},
		{"[\"e\"]", 0},
		{"\"e\"", 0},
	};
	struct json_object *o;
	char text[64], *p;
	const char *why;
	size_t end, len;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		len = strlen(cases[i].text);
		for (int ascii = 1; ascii >= 0; ascii--) {
			strcpy(text, cases[i].text);
			for (p = text; !ascii && (p = strchr(p, 'e')); p++)
				*p = (char)0xe9;
			if (auc_json_parse(text, len))
				fail_msg("case %u: taken", i);
			end = 0;
			auc_json_parse_any(text, len, 4, &o, &end, &why);
			if (cases[i].end && end != cases[i].end)
				fail_msg("case %u: wrong at %zu", i, end);
			json_object_put(o);
		}
	}
	/* Too deep, and just not. */
	assert_int_equal(auc_json_parse_any("[[[\"\xc3\xa9\"]]]", 10, 3, &o, &end, &why),
			 AUC_EINVAL);
	assert_null(o);
	assert_non_null(strstr(why, "deep"));
	assert_int_equal(auc_json_parse_any("[[[\"\xc3\xa9\"]]]", 10, 4, &o, &end, &why), AUC_OK);
	assert_int_equal(end, 10);
	json_object_put(o);
	/* A NUL in it. */
	assert_null(auc_json_parse("{\"a\":\"\xc3\0\"}", 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
