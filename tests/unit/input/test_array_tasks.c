/* test_array_tasks.c - the tasks of an array, read and printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input/array_tasks.h"

#define MOST 1001

static void test_read_and_printed(void **state)
{
	static const struct {
		const char *text, *printed;
		unsigned n, at_once;
	} cases[] = {
		{"0-9", "0-9", 10, 0},
		{"5", "5", 1, 0},
		{"1,3,7", "1,3,7", 3, 0},
		{"7,3,1,3", "1,3,7", 3, 0},
		{"1,2", "1,2", 2, 0},
		{"0-15:4", "0,4,8,12", 4, 0},
		{"0-1,1-3", "0-3", 4, 0},
		{"0-9%2", "0-9", 10, 2},
		{"[1-3,9%4]", "1-3,9", 4, 4},
		{"[1-3]%4", NULL, 0, 0},
		{"1000", "1000", 1, 0},
		{"0-1000:4294967294", "0", 1, 0},
		{"1001", NULL, 0, 0},
		{"0-1001", NULL, 0, 0},
		{"99999999999999999999", NULL, 0, 0},
		{"", NULL, 0, 0},
		{"1,", NULL, 0, 0},
		{"3-1", NULL, 0, 0},
		{"1-3:0", NULL, 0, 0},
		{"-1", NULL, 0, 0},
		{"1%", NULL, 0, 0},
		{"1%x", NULL, 0, 0},
		{"1 2", NULL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_array_tasks t;
		struct auc_err err;
		char *printed;

		if (!cases[i].printed) {
			assert_int_equal(auc_array_read(cases[i].text, MOST, &t, &err), AUC_EINVAL);
			assert_non_null(strstr(err.text, "expected numbers of tasks below 1001"));
			assert_null(t.ids);
			continue;
		}
		assert_int_equal(auc_array_read(cases[i].text, MOST, &t, &err), AUC_OK);
		assert_int_equal(t.n, cases[i].n);
		assert_int_equal(t.at_once, cases[i].at_once);
		printed = auc_array_print(t.ids, t.n);
		assert_string_equal(printed, cases[i].printed);
		free(printed);
		free(t.ids);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_and_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
