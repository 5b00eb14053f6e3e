/*
 * test_option.c - the table of a policy's options: every type of value, what is refused and how.
 */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/option.h"

struct values {
	unsigned how, word;
	uint64_t n;
	double x;
};

static const struct auc_option list[] = {
	{.key = "how", .choices = "well|badly", .offset = offsetof(struct values, how)},
	{.key = "n",
	 .type = AUC_OPTION_COUNT,
	 .min = 1,
	 .max = 9,
	 .offset = offsetof(struct values, n)},
	/* a word or a number */
	{.key = "x", .choices = "auto", .offset = offsetof(struct values, word)},
	{.key = "x", .type = AUC_OPTION_NUMBER, .max = 0.5, .offset = offsetof(struct values, x)},
};
#define EXPECTED "expected how=well|badly, n=1 to 9, x=auto or x=0 to 0.5"

static struct values read_ok(const char *options)
{
	struct values v = {7, 7, 7, 7};
	struct auc_err err = {.text = ""};

	if (auc_options_read("p", options, list, 4, &v, &err) != AUC_OK)
		fail_msg("%s: %s", options, err.text);
	return v;
}

static void test_values(void **state)
{
	struct values v;

	(void)state;
	v = read_ok("");
	assert_true(v.how == 7 && v.word == 7 && v.n == 7 && v.x == 7);
	v = read_ok("how=well");
	assert_int_equal(v.how, 0);
	v = read_ok("n=9,how=badly");
	assert_int_equal(v.how, 1);
	assert_int_equal(v.n, 9);
	v = read_ok("x=auto");
	assert_true(v.word == 0 && v.x == 7);
	v = read_ok("x=0.25,");
	assert_true(v.word == 7 && v.x == 0.25);
}

static void test_text(void **state)
{
	static const struct auc_option text = {
		.key = "fixed", .type = AUC_OPTION_TEXT, .choices = "PRICES"};
	char *value = NULL;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_options_read("p", "fixed=0.5/1=2", &text, 1, &value, NULL), AUC_OK);
	assert_string_equal(value, "0.5/1=2");
	free(value);
	value = NULL;
	assert_int_equal(auc_options_read("p", "fixed=", &text, 1, &value, &err), AUC_EINVAL);
	assert_null(value);
	assert_string_equal(err.text, "Policy=p: 'fixed=' is no option, expected fixed=PRICES");
	assert_int_equal(auc_options_read("p", "fixed=a,x", &text, 1, &value, &err), AUC_EINVAL);
	assert_string_equal(value, "a");
	free(value);
}

static void test_refused(void **state)
{
	static const struct {
		const char *options, *says;
	} wrong[] = {
		{"how=so", "Policy=p: 'how=so' is no option, " EXPECTED},
		{"how=", "Policy=p: 'how=' is no option, " EXPECTED},
		{"how", "Policy=p: 'how' is no option, " EXPECTED},
		{"how=wel", "Policy=p: 'how=wel' is no option, " EXPECTED},
		{"how=well|badly", "Policy=p: 'how=well|badly' is no option, " EXPECTED},
		{"=well", "Policy=p: '=well' is no option, " EXPECTED},
		{"n=1,hows=well,x=0", "Policy=p: 'hows=well' is no option, " EXPECTED},
		{"n=0", "Policy=p: 'n=0' is no option, " EXPECTED},
		{"n=10", "Policy=p: 'n=10' is no option, " EXPECTED},
		{"n=-1", "Policy=p: 'n=-1' is no option, " EXPECTED},
		{"x=0.6", "Policy=p: 'x=0.6' is no option, " EXPECTED},
		{"x=nan", "Policy=p: 'x=nan' is no option, " EXPECTED},
		{"n=1,,x=0", "Policy=p: '' is no option, " EXPECTED},
		{",", "Policy=p: '' is no option, " EXPECTED},
		{"n=1,x=0,n=1", "Policy=p: 'n=1': expected n once"},
		{"x=auto,x=0", "Policy=p: 'x=0': expected x once"},
	};
	struct values v;
	struct auc_err err;
	char longest[200] = "how=";

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(auc_options_read("p", wrong[i].options, list, 4, &v, &err),
				 AUC_EINVAL);
		assert_string_equal(err.text, wrong[i].says);
	}
	memset(longest + 4, 'w', 150);
	assert_int_equal(auc_options_read("p", longest, list, 4, &v, &err), AUC_EINVAL);
	longest[80] = '\0';
	assert_memory_equal(err.text + strlen("Policy=p: '"), longest, 80);
	assert_int_equal(auc_options_read("p", "", NULL, 0, NULL, NULL), AUC_OK);
	assert_int_equal(auc_options_read("p", "a=b", NULL, 0, NULL, &err), AUC_EINVAL);
	assert_string_equal(err.text, "Policy=p: 'a=b' is no option, expected none");
}

static void test_have(void **state)
{
	(void)state;
	assert_true(auc_options_have("seed=1", "seed"));
	assert_true(auc_options_have("a=b,seed=", "seed"));
	assert_false(auc_options_have("", "seed"));
	assert_false(auc_options_have("a=seed,seeds=1,seed,noseed=1,", "seed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_have),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
