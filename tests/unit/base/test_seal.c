/* test_seal.c - sealed texts are opened with their own key and context only; the key's file. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/seal.h"

static char dir[32], path[64];
static struct auc_seal *seal;
static struct auc_err err;

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "seal-XXXXXX");
	snprintf(path, sizeof(path), "%s/key", mkdtemp(dir) ? dir : "");
	return auc_seal_open_key(path, &seal, &err);
}

static int teardown(void **state)
{
	(void)state;
	auc_seal_free(seal);
	unlink(path);
	return rmdir(dir); /* nothing else was left there */
}

static void assert_opens(const char *context, const char *sealed, const char *text)
{
	char *opened = auc_seal_open(seal, context, sealed);

	assert_non_null(opened);
	assert_string_equal(opened, text);
	free(opened);
}

static void test_round_trip(void **state)
{
	char text[1000] = "", *sealed, *again;
	size_t lengths = 0, last = 0;

	(void)state;
	for (unsigned n = 0; n < sizeof(text) - 1; n++) {
		sealed = auc_seal_close(seal, "ab-1", text);
		assert_non_null(sealed);
		assert_opens("ab-1", sealed, text);
		again = auc_seal_close(seal, "ab-1", text);
		assert_string_equal(sealed, again);
		free(again);
		assert_true(n < 4 || !strstr(sealed, text));
		lengths += strlen(sealed) != last;
		last = strlen(sealed);
		free(sealed);
		text[n] = (char)('a' + n % 26);
	}
	/* It does not tell how long the text is, but for each 128 bytes. */
	assert_int_equal(lengths, 8);
	auc_seal_free(NULL);
}

static void test_others(void **state)
{
	char *sealed = auc_seal_close(seal, "ab-1", "bid=300"), *more;
	struct auc_seal *other;

	(void)state;
	assert_null(auc_seal_open(seal, "ab-2", sealed));
	assert_null(auc_seal_open(seal, "", sealed));
	more = auc_seal_close(seal, "ab-2", "bid=300");
	assert_string_not_equal(sealed, more);
	free(more);
	more = auc_seal_close(seal, "ab-1", "bid=301");
	assert_string_not_equal(sealed, more);
	free(more);
	/* The same key from its file, and then another. */
	assert_int_equal(auc_seal_open_key(path, &other, &err), AUC_OK);
	more = auc_seal_open(other, "ab-1", sealed);
	assert_string_equal(more, "bid=300");
	free(more);
	auc_seal_free(other);
	unlink(path);
	assert_int_equal(auc_seal_open_key(path, &other, &err), AUC_OK);
	assert_null(auc_seal_open(other, "ab-1", sealed));
	auc_seal_free(other);
	free(sealed);
}

static void test_damage(void **state)
{
	char *sealed = auc_seal_close(seal, "ab-1", "bid=300"), *copy;
	size_t len = strlen(sealed);

	(void)state;
	for (size_t i = 0; i < len; i++) {
		copy = strdup(sealed);
		copy[i] = copy[i] == 'A' ? 'B' : 'A';
		assert_null(auc_seal_open(seal, "ab-1", copy));
		copy[i] = '\0';
		assert_null(auc_seal_open(seal, "ab-1", copy));
		free(copy);
	}
	assert_null(auc_seal_open(seal, "ab-1", "not base64 !"));
	free(sealed);
}

static void test_key_file(void **state)
{
	static const char *const damaged[] = {"", "auction-key 1 \n", "auction-key 2 00\n"};
	struct auc_seal *other;
	struct stat st;
	FILE *f;

	(void)state;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(auc_seal_open_key(path, &other, &err), AUC_OK);
	auc_seal_free(other);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	for (unsigned i = 0; i < 3; i++) {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(damaged[i], f);
		fclose(f);
		assert_int_equal(auc_seal_open_key(path, &other, &err), AUC_ECORRUPT);
		assert_null(other);
	}
	unlink(path);
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(auc_seal_open_key(path, &other, &err), AUC_ESTATE);
	assert_int_equal(auc_seal_open_key("nowhere/key", &other, &err), AUC_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_key_file, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
