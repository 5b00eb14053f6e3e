/* test_packed.c - long texts made short, and what is none of them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/packed.h"

#define LONG 300000

static void test_round_trip(void **state)
{
	char *text = malloc(LONG + 1);

	(void)state;
	assert_non_null(text);
	for (size_t n = 0; n <= LONG; n = n < 40 ? n + 1 : n * 3) {
		char *packed, *again;

		for (size_t i = 0; i < n; i++)
			text[i] = (char)('0' + i * i % 11 + i / 50 % 7);
		text[n] = 0;
		packed = auc_pack(text);
		assert_non_null(packed);
		assert_int_equal(strlen(packed) % 4, 0);
		again = auc_unpack(packed, n);
		assert_non_null(again);
		assert_string_equal(again, text);
		free(again);
		if (n)
			assert_null(auc_unpack(packed, n - 1));
		if (n > 100000)
			assert_true(strlen(packed) < n / 10);
		free(packed);
	}
	free(text);
}

/* printf hello | gzip -n9 | base64 */
static void test_others(void **state)
{
	char *text = auc_unpack("H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==", 100);

	(void)state;
	assert_non_null(text);
	assert_string_equal(text, "hello");
	free(text);
}

static void test_bad(void **state)
{
	static const char *const cases[] = {
		"",
		"H",
		"====",
		"H4sI",
		"H4s=",
		"hello, world",
		"H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAA===",
		"H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAAA=", /* a byte more */
		"H4sIAAAAAAACA8tIzcnJBwCGphA3BQAAAA==", /* another sum */
		"H4sIAAAAAAACA8tIzcnJBwCGphA2BQAA",     /* cut */
		"H4sIAAAAAAACA8tIzcnJBwCGph=2BQAAAA==", /* padded within */
		"H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==AAAA",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (auc_unpack(cases[i], 100))
			fail_msg("case %u: '%s'", i, cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
