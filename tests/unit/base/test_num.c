/* test_num.c - numbers, time spans, money, and the 1e-9 rule (num.h) */
#include "config.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/num.h"

static void test_ceil(void **state)
{
	(void)state;
	assert_int_equal(auc_ceil(0), 0);
	assert_int_equal(auc_ceil(1e-300), 1);
	assert_int_equal(auc_ceil(0.3), 1);
	assert_int_equal(auc_ceil(3 * 0.1 / 0.1), 3); /* 3.0000000000000004 */
	assert_int_equal(auc_ceil(7 * (1 + 0.99e-9)), 7);
	assert_int_equal(auc_ceil(7 * (1 + 1.1e-9)), 8);
	assert_int_equal(auc_ceil(nextafter(5, 0)), 5);
	assert_int_equal(auc_ceil(-1), 0);
	assert_int_equal(auc_ceil(1e300), INT64_MAX);
	assert_int_equal(auc_ceil(NAN), INT64_MAX);
	assert_int_equal(auc_ceil(INFINITY), INT64_MAX);
}

static void test_floor(void **state)
{
	(void)state;
	assert_int_equal(auc_floor(0), 0);
	assert_int_equal(auc_floor(0.99), 0);
	assert_int_equal(auc_floor(1 - 1e-10), 1);
	assert_int_equal(auc_floor(0.3 / 0.1), 3); /* 2.9999999999999996 */
	assert_int_equal(auc_floor(7 * (1 - 1.1e-9)), 6);
	assert_int_equal(auc_floor(4), 4);
	assert_int_equal(auc_floor(1e300), INT64_MAX);
	assert_int_equal(auc_floor(NAN), INT64_MAX);
}

static void assert_money(auc_money m, const char *text)
{
	char buf[AUC_MONEY_LEN];
	auc_money back;

	assert_string_equal(auc_money_str(m, buf), text);
	assert_int_equal(auc_money_parse(text, &back, "m", NULL), AUC_OK);
	assert_int_equal(back, m);
}

static void test_money(void **state)
{
	static const char *const bad[] = {"",          "-",     ".5",  "1.",
					  "1.0000001", "+1",    " 1",  "1 ",
					  "1,5",       "1e3",   "0x1", "9223372036855",
					  "nan",       "1.2.3", "--1"};
	struct auc_err err;
	auc_money m = 7;
	size_t i;

	(void)state;
	assert_money(12600000, "12.600000");
	assert_money(0, "0.000000");
	assert_money(-500000, "-0.500000");
	assert_money(AUC_MONEY_MAX, "1000000000.000000");
	assert_money(INT64_MAX, "9223372036854.775807");
	assert_int_equal(auc_money_parse("3", &m, "m", NULL), AUC_OK);
	assert_int_equal(m, 3 * AUC_CREDIT);
	assert_int_equal(auc_money_parse("3.25", &m, "m", NULL), AUC_OK);
	assert_int_equal(m, 3250000);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(auc_money_parse(bad[i], &m, "payment", &err), AUC_EINVAL);
	assert_string_equal(err.text, "payment: '--1' is not an amount of money such as 12.600000");
	assert_int_equal(m, 3250000);

	assert_int_equal(auc_money_from(0.1 + 0.2), 300000);
	assert_int_equal(auc_money_from(-1.0000005), -1000001);
	assert_int_equal(auc_money_from(1e9), AUC_MONEY_MAX);
	assert_int_equal(auc_money_from(1e300), AUC_MONEY_MAX);
	assert_int_equal(auc_money_from(NAN), 0);
	assert_true(auc_money_to(2500000) == 2.5);
}

static void assert_number(const char *s, double expected)
{
	double v = -1;

	assert_int_equal(auc_parse_number(s, -1e300, 1e300, &v, "x", NULL), AUC_OK);
	assert_true(v == expected);
}

static void test_number(void **state)
{
	static const char *const bad[] = {"",      "abc",      "0x10",  "inf", "nan", "1 ",
					  " 1",    "1e",       "1.2.3", ".",   "-",   "1,5",
					  "1e999", "infinity", "1e3 x", "--3", "e5"};
	struct auc_err err;
	double v = 5;
	size_t i;

	(void)state;
	assert_number("3", 3);
	assert_number("0.02", 0.02);
	assert_number(".5", 0.5);
	assert_number("5.", 5);
	assert_number("1e3", 1000);
	assert_number("-2.5E-1", -0.25);
	assert_number("-0", 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(auc_parse_number(bad[i], -1e300, 1e300, &v, "x", &err),
				 AUC_EINVAL);
	assert_true(v == 5);
	assert_int_equal(auc_parse_number("-3", 0, 1e9, &v, "--gradient-mb", &err), AUC_EINVAL);
	assert_string_equal(err.text,
			    "--gradient-mb: '-3' is out of range, expected 0 to 1000000000");
	assert_int_equal(auc_parse_number("nan", 0, 1e9, &v, "--bid", &err), AUC_EINVAL);
	assert_string_equal(err.text, "--bid: 'nan' is not a decimal number");
}

static void test_number_locale(void **state)
{
	(void)state;
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		skip();
	assert_number("0.5", 0.5);
	setlocale(LC_NUMERIC, "C");
}

static void test_count(void **state)
{
	uint64_t v = 5;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_parse_count("1000", 1, 1000, &v, "x", NULL), AUC_OK);
	assert_int_equal(v, 1000);
	assert_int_equal(auc_parse_count("1e3", 1, 1000, &v, "x", NULL), AUC_OK);
	assert_int_equal(v, 1000);
	assert_int_equal(auc_parse_count("18446744073709551615", 0, UINT64_MAX, &v, "x", NULL),
			 AUC_OK);
	assert_true(v == UINT64_MAX);
	assert_int_equal(auc_parse_count("18446744073709551616", 0, UINT64_MAX, &v, "x", NULL),
			 AUC_EINVAL);
	assert_int_equal(auc_parse_count("0", 1, 10, &v, "--epochs", &err), AUC_EINVAL);
	assert_string_equal(err.text, "--epochs: '0' is out of range, expected 1 to 10");
	assert_int_equal(auc_parse_count("1.5", 1, 10, &v, "--epochs", &err), AUC_EINVAL);
	assert_string_equal(err.text, "--epochs: '1.5' is not a whole number");
	assert_int_equal(auc_parse_count("-1", 1, 10, &v, "x", NULL), AUC_EINVAL);
	assert_int_equal(auc_parse_count("1e30", 1, 1000000000, &v, "--epochs", &err), AUC_EINVAL);
	assert_string_equal(err.text, "--epochs: '1e30' is out of range, expected 1 to 1000000000");
	assert_int_equal(auc_parse_count("ten", 1, 10, &v, "x", NULL), AUC_EINVAL);
	assert_int_equal(auc_parse_count("", 0, 10, &v, "x", NULL), AUC_EINVAL);
}

static void assert_span(const char *s, double expected)
{
	double v = -1;

	assert_int_equal(auc_parse_span(s, 1, 300, &v, "x", NULL), AUC_OK);
	assert_true(v == expected);
}

static void test_span(void **state)
{
	static const char *const bad[] = {"",    "s",    "5x",      "5 s", "5ss",
					  "-1s", "1e11", "3slotss", "1e"};
	double v = 5;
	struct auc_err err;
	size_t i;

	(void)state;
	assert_span("1.9s", 1.9);
	assert_span("50ms", 0.05);
	assert_span("2", 2);
	assert_span("2m", 120);
	assert_span("2min", 120);
	assert_span("1.5h", 5400);
	assert_span("1d", 86400);
	assert_span("3slots", 900);
	assert_span("1slot", 300);
	assert_span("1e2s", 100);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(auc_parse_span(bad[i], 1, 300, &v, "x", &err), AUC_EINVAL);
	assert_int_equal(auc_parse_span("5x", 1, 300, &v, "Upload", &err), AUC_EINVAL);
	assert_string_equal(
		err.text,
		"Upload: '5x' is not a time, expected a number and ms, s, m, h, d or slots");
	assert_int_equal(auc_parse_span("3slots", 1, 0, &v, "SlotSeconds", &err), AUC_EINVAL);
	assert_string_equal(err.text, "SlotSeconds: '3slots' cannot be in slots here, expected a "
				      "number and ms, s, m, h or d");
	assert_int_equal(auc_parse_span("5x", 1, 0, &v, "--wait", &err), AUC_EINVAL);
	assert_string_equal(err.text,
			    "--wait: '5x' is not a time, expected a number and ms, s, m, h or d");
	assert_true(v == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ceil),          cmocka_unit_test(test_floor),
		cmocka_unit_test(test_money),         cmocka_unit_test(test_number),
		cmocka_unit_test(test_count),         cmocka_unit_test(test_span),
		cmocka_unit_test(test_number_locale),
	};

	return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
