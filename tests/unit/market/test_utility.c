/* test_utility.c - the forms of a utility: values, text, what is refused (utility.h) */
#include "config.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "market/utility.h"

#define SLOT    300.0
#define HORIZON 288.0

static struct auc_utility parsed(const char *text)
{
	struct auc_utility u;
	struct auc_err err = {.text = ""};

	if (auc_utility_parse(text, SLOT, HORIZON, &u, "--bid", &err) != AUC_OK)
		fail_msg("%s: %s", text, err.text);
	return u;
}

static double value(const char *text, double x)
{
	struct auc_utility u = parsed(text);

	return auc_utility_value(&u, x);
}

static void near(double got, double expected)
{
	if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
		fail_msg("%.17g, expected %.17g", got, expected);
}

static void test_values(void **state)
{
	(void)state;
	near(value("300", 0), 300);
	near(value("constant:300", 1e6), 300);
	near(value("sigmoid:300,0.02", 0), 150);
	near(value("sigmoid:300,0.02", 10), 300 / (1 + exp(0.2)));
	near(value("sigmoid:300,0.02,10", 10), 150);
	near(value("sigmoid:300,1e9", 1000), 0);
	near(value("linear:100,3", 10), 70);
	near(value("linear:100,3", 40), 0);
	near(value("inverse:2", 1), 2 * 287);
	near(value("inverse:2", 0), 2 * 287);
	near(value("inverse:2", 144), 2);
	near(value("inverse:2", 288), 0);
	near(value("inverse:2", 300), 0);
	near(value("inverse:2,10", 5), 2);
	near(value("deadline:50,4", 4), 50);
	near(value("deadline:50,4", 4.0001), 0);
	near(value("table:2=10,4=6,8=0", 0), 10);
	near(value("table:2=10,4=6,8=0", 3), 8);
	near(value("table:2=10,4=6,8=0", 4), 6);
	near(value("table:2=10,4=6,8=0", 7), 1.5);
	near(value("table:2=10,4=6,8=3", 9), 3);
	near(value("table:2=10", 9), 10);
}

static void test_units(void **state)
{
	(void)state;
	assert_true(parsed("deadline:50,4").target == 4);
	assert_true(parsed("deadline:50,0.1").target == 0.1); /* not 0.1 * 300 / 300 */
	assert_true(parsed("deadline:50,4h").target == 48);
	assert_true(parsed("deadline:50,10m").target == 2);
	assert_true(parsed("deadline:50,4slots").target == 4);
	assert_true(parsed("deadline:50,1d").target == 288);
	near(parsed("sigmoid:300,0.5/h").decay, 0.5 / 12);
	near(parsed("sigmoid:300,0.5/h,2h").target, 24);
	near(parsed("linear:300,10/slot").decay, 10);
	near(parsed("linear:300,24/d").decay, 24 / 288.0);
	near(parsed("table:1h=10,2h=3").points[1].x, 24);
}

/* What is printed reads back to the same bits. */
static void test_print(void **state)
{
	static const char *const texts[] = {
		"300",
		"0",
		"0.1",
		"1e-300",
		"1000000000",
		"sigmoid:300,0.3333333333333333333",
		"sigmoid:300,0.5/h,7m",
		"linear:100,1/d",
		"linear:0,0",
		"inverse:2",
		"inverse:2,100",
		"deadline:50,1s",
		"table:0=3.3333333333333335,1m=2,2=1",
	};
	struct auc_utility a, b;
	unsigned i, k;
	char *text;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		a = parsed(texts[i]);
		text = auc_utility_print(&a);
		assert_non_null(text);
		/* another slot length and horizon must not matter to canonical text */
		assert_int_equal(auc_utility_parse(text, 7, 5, &b, "--bid", NULL), AUC_OK);
		assert_int_equal(a.form, b.form);
		assert_true(a.scale == b.scale && a.decay == b.decay && a.target == b.target);
		assert_int_equal(a.npoints, b.npoints);
		for (k = 0; k < a.npoints; k++)
			assert_true(a.points[k].x == b.points[k].x &&
				    a.points[k].value == b.points[k].value);
		free(text);
	}
	a = parsed("sigmoid:300,0.02");
	text = auc_utility_print(&a);
	assert_string_equal(text, "sigmoid:300,0.02");
	free(text);
}

/* A process with another decimal point, of one byte or of two, reads and writes the same. */
static void test_locale(void **state)
{
	static const char *const names[] = {"de_DE.UTF-8", "ps_AF.UTF-8"};
	char dir[] = "/tmp/test_utility.XXXXXX", command[256], *text;
	struct auc_utility u;
	unsigned i, tried = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	setenv("LOCPATH", dir, 1);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(command, sizeof(command), "localedef -f UTF-8 -i %.5s %s/%s 2> /dev/null",
			 names[i], dir, names[i]);
		if (system(command) != 0 || !setlocale(LC_ALL, names[i]))
			continue;
		tried++;
		assert_string_not_equal(localeconv()->decimal_point, ".");
		u = parsed("sigmoid:300.5,0.02,1.5");
		text = auc_utility_print(&u);
		setlocale(LC_ALL, "C");
		assert_true(u.scale == 300.5 && u.decay == 0.02 && u.target == 1.5);
		assert_string_equal(text, "sigmoid:300.5,0.02,1.5");
		free(text);
	}
	unsetenv("LOCPATH");
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	if (!tried) /* no localedef, or no sources of locales */
		skip();
}

static void test_never_rises(void **state)
{
	static const char *const texts[] = {
		"sigmoid:300,0.02,50", "linear:100,0.3333",
		"inverse:3.3",         "table:1=9.1,3.3=9.1,7.7=3.1,7.8=0.1",
		"deadline:3,7",        "sigmoid:0.1,3",
	};
	struct auc_utility u;
	double last, now, x;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		u = parsed(texts[i]);
		last = auc_utility_value(&u, 0);
		for (x = 0; x < 300; x += 0.037) {
			now = auc_utility_value(&u, x);
			assert_true(now >= 0 && now <= last);
			last = now;
		}
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"sigmod:300", "--bid: 'sigmod:300' is not a utility: expected a value in credits, "
			       "such as 300, or "
			       "sigmoid:, linear:, inverse:, deadline: or table:"},
		{"", "--bid: '' is not a utility: expected a value in credits, such as 300, or "
		     "sigmoid:, linear:, inverse:, deadline: or table:"},
		{"nan",
		 "--bid: 'nan' is not a utility: expected a value in credits, such as 300, or "
		 "sigmoid:, linear:, inverse:, deadline: or table:"},
		{"-5", "--bid: value: '-5' is out of range, expected 0 to 1000000000"},
		{"1e10", "--bid: value: '1e10' is out of range, expected 0 to 1000000000"},
		{"1e999", "--bid: value: '1e999' is out of range, expected 0 to 1000000000"},
		{"1,000",
		 "--bid: '1,000' has a comma: write a value in credits without one, such as 1000 "
		 "or 0.5, or name its form: sigmoid:, linear:, inverse:, deadline: or table:"},
		{"constant:300,2", "--bid: constant has too many values, expected constant:VALUE"},
		{"0x10", "--bid: value: '0x10' is not a decimal number"},
		{"300 ", "--bid: value: '300 ' is not a decimal number"},
		{"sigmoid:300",
		 "--bid: sigmoid has too few values, expected sigmoid:SCALE,DECAY[,TARGET]"},
		{"sigmoid:300,0.1,2,3",
		 "--bid: sigmoid has too many values, expected sigmoid:SCALE,DECAY[,TARGET]"},
		{"sigmoid:300,-0.1",
		 "--bid: decay: '-0.1' is out of range, expected 0 to 1000000000"},
		{"sigmoid:300,nan", "--bid: decay: 'nan' is not a decimal number"},
		{"sigmoid:inf,1", "--bid: value: 'inf' is not a decimal number"},
		{"sigmoid:300,1/y",
		 "--bid: decay: '/y' is not a unit, expected /s, /m, /h, /d or /slot"},
		{"sigmoid:300,1/",
		 "--bid: decay: '/' is not a unit, expected /s, /m, /h, /d or /slot"},
		{"sigmoid:300,1/2",
		 "--bid: decay: '/2' is not a unit, expected /s, /m, /h, /d or /slot"},
		{"linear:100,-3", "--bid: slope: '-3' is out of range, expected 0 to 1000000000"},
		{"linear:100", "--bid: linear has too few values, expected linear:INTERCEPT,SLOPE"},
		{"inverse:1e9", "--bid: value after one slot: '287000000000' is out of range, "
				"expected 0 to 1000000000"},
		{"deadline:3,4w", "--bid: deadline: '4w' is not a time, expected a number and ms, "
				  "s, m, h, d or slots"},
		{"deadline:3,-4",
		 "--bid: deadline: '-4' is out of range, expected 0 to 1000000 slots"},
		{"deadline:3,1e9h",
		 "--bid: deadline: '1e9h' is out of range, expected 0 to 10000000000 s"},
		{"table:1=10,2=20",
		 "--bid: value 20 after 10 in a table, expected values that never rise with time"},
		{"table:2=10,1=5",
		 "--bid: time 1 after 2 (slots) in a table, expected times that rise"},
		{"table:2=10,2=5",
		 "--bid: time 2 after 2 (slots) in a table, expected times that rise"},
		{"table:5",
		 "--bid: '5' is not a point of a table, expected table:TIME=VALUE,TIME=VALUE,..."},
		{"table:",
		 "--bid: '' is not a point of a table, expected table:TIME=VALUE,TIME=VALUE,..."},
		{"table:1=nan", "--bid: value: 'nan' is not a decimal number"},
	};
	struct auc_utility u = {.form = AUC_FORM_LINEAR, .scale = 7};
	struct auc_err err;
	char text[2048] = "table:0=9";
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(auc_utility_parse(bad[i].text, SLOT, HORIZON, &u, "--bid", &err),
				 AUC_EINVAL);
		assert_string_equal(err.text, bad[i].message);
		assert_true(u.form == AUC_FORM_LINEAR && u.scale == 7); /* untouched */
	}
	for (i = 1; i < AUC_TABLE_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%u=9", i);
	assert_int_equal(auc_utility_parse(text, SLOT, HORIZON, &u, "--bid", &err), AUC_OK);
	strcat(text, ",99=9");
	assert_int_equal(auc_utility_parse(text, SLOT, HORIZON, &u, "--bid", &err), AUC_EINVAL);
	assert_string_equal(err.text, "--bid: '99=9' is one point too many, expected at most 64");
}

/* A utility that did not come from text, such as a scenario's. */
static void test_check(void **state)
{
	struct auc_utility u = {.form = AUC_FORM_SIGMOID, .scale = NAN};
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_utility_check(&u, "utility", &err), AUC_EINVAL);
	u.scale = 1;
	u.decay = INFINITY;
	assert_int_equal(auc_utility_check(&u, "utility", &err), AUC_EINVAL);
	u.decay = 1;
	u.target = -1;
	assert_int_equal(auc_utility_check(&u, "utility", &err), AUC_EINVAL);
	u.target = 0;
	assert_int_equal(auc_utility_check(&u, "utility", &err), AUC_OK);
	u.form = AUC_FORM_TABLE;
	assert_int_equal(auc_utility_check(&u, "utility", &err), AUC_EINVAL);
	assert_string_equal(err.text,
			    "utility: a table of 0 points, expected 1 to 64 points TIME=VALUE");
	u.form = (enum auc_form)99;
	assert_int_equal(auc_utility_check(&u, "utility", &err), AUC_EINVAL);
	assert_string_equal(auc_form_name(AUC_FORM_INVERSE), "inverse");
	assert_string_equal(auc_form_name((enum auc_form)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_units),
		cmocka_unit_test(test_print),  cmocka_unit_test(test_locale),
		cmocka_unit_test(test_bad),    cmocka_unit_test(test_never_rises),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
