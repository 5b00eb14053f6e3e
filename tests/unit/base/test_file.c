/* test_file.c - files that are replaced as a whole, and what is left where that fails. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

static char dir[64], path[128];
static struct auc_err err;

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "file-XXXXXX");
	snprintf(path, sizeof(path), "%s/text", mkdtemp(dir) ? dir : "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	rmdir(path);
	return rmdir(dir); /* nothing else was left there */
}

static unsigned open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void assert_text(const char *expected)
{
	char text[64];
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(text, expected);
}

static void test_replaced(void **state)
{
	mode_t umask_before = umask(077);
	struct stat st;

	(void)state;
	assert_int_equal(auc_file_replace(path, "old one\n", 8, 0600, false, &err), AUC_OK);
	assert_text("old one\n");
	assert_int_equal(auc_file_replace(path, "new", 3, 0644, true, &err), AUC_OK);
	assert_text("new");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(auc_file_replace(path, "", 0, 0644, true, &err), AUC_OK);
	assert_text("");
	umask(umask_before);
}

/* Where others may write: what they left under the name that is used is not followed. */
static void test_link_of_others(void **state)
{
	char other[PATH_MAX], made[PATH_MAX];
	struct stat st;

	(void)state;
	snprintf(other, sizeof(other), "%.4000s.other", path);
	snprintf(made, sizeof(made), "%.4000s.new", path);
	assert_int_equal(auc_file_replace(other, "theirs", 6, 0600, false, &err), AUC_OK);
	assert_int_equal(symlink(other, made), 0);
	assert_int_equal(auc_file_replace(path, "ours", 4, 0644, false, &err), AUC_OK);
	assert_text("ours");
	assert_int_equal(stat(other, &st), 0);
	assert_true(st.st_size == 6 && (st.st_mode & 07777) == 0600);
	assert_int_equal(unlink(other), 0);
}

/* Each failure leaves the old text, no other file, and as many open files as there were. */
static void test_failures(void **state)
{
	struct rlimit limit, tight;
	unsigned before = open_files();
	char name[PATH_MAX + 8];

	(void)state;
	assert_int_equal(auc_file_replace("no/such/directory", "x", 1, 0644, true, &err), AUC_EIO);
	assert_string_equal(err.text, "no/such/directory: No such file or directory");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(auc_file_replace(name, "x", 1, 0644, true, &err), AUC_EIO);

	assert_int_equal(auc_file_replace(path, "old", 3, 0644, false, &err), AUC_OK);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	tight = limit;
	tight.rlim_cur = 4;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(auc_file_replace(path, "too much", 8, 0644, true, &err), AUC_EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_non_null(strstr(err.text, "/text: File too large"));
	assert_text("old");

	/* what is renamed last cannot take the place of a directory */
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(auc_file_replace(path, "x", 1, 0644, true, &err), AUC_EIO);
	assert_non_null(strstr(err.text, "/text: Is a directory"));
	assert_int_equal(open_files(), before);
}

static void test_owned(void **state)
{
	char link_path[160];
	struct stat st;

	(void)state;
	assert_int_equal(auc_file_own(path, 0600, &err), AUC_OK); /* there is none */
	assert_int_equal(auc_file_replace(path, "x", 1, 0644, false, &err), AUC_OK);
	assert_int_equal(auc_file_own(path, 0600, &err), AUC_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(auc_file_own(dir, 0600, &err), AUC_ESTATE);
	snprintf(link_path, sizeof(link_path), "%s.link", path);
	assert_int_equal(symlink("text", link_path), 0);
	assert_int_equal(auc_file_own(link_path, 0600, &err), AUC_ESTATE);
	assert_non_null(strstr(err.text, "link"));
	unlink(link_path);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
		assert_int_equal(auc_file_own(path, 0600, &err), AUC_ESTATE);
		assert_non_null(strstr(err.text, "belongs to uid 12345, expected 0"));
		assert_int_equal(chown(path, 0, (gid_t)-1), 0);
	}
}

static void test_owned_directory(void **state)
{
	static const mode_t modes[] = {0700, 0755, 0770, 0707, 01777};

	(void)state;
	assert_int_equal(auc_dir_own(path, &err), AUC_OK);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(chmod(dir, modes[i]), 0);
		assert_int_equal(auc_dir_own(dir, &err), i < 2 ? AUC_OK : AUC_ESTATE);
	}
	assert_non_null(strstr(err.text, "others can write to it"));
	if (geteuid() == 0) {
		assert_int_equal(chmod(dir, 0700), 0);
		assert_int_equal(chown(dir, 12345, (gid_t)-1), 0);
		assert_int_equal(auc_dir_own(dir, &err), AUC_ESTATE);
	}
}

/* open() of a FIFO would wait for somebody to write. */
static void test_opened(void **state)
{
	char other[160];
	FILE *f;

	(void)state;
	assert_null(auc_file_open(path));
	assert_int_equal(errno, ENOENT);
	assert_null(auc_file_open(dir));
	assert_int_equal(errno, EISDIR);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(auc_file_open(path));
	assert_int_equal(errno, EINVAL);
	unlink(path);
	assert_int_equal(auc_file_replace(path, "x", 1, 0644, false, &err), AUC_OK);
	snprintf(other, sizeof(other), "%s.link", path);
	assert_int_equal(symlink("text", other), 0);
	f = auc_file_open(other);
	assert_non_null(f);
	assert_int_equal(getc(f), 'x');
	fclose(f);
	unlink(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_link_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owned, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owned_directory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
