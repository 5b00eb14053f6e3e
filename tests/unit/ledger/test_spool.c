/* test_spool.c - the spool's promises and messages on a healthy disk; tests/crash has the rest. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "ledger/spool.h"
#include "unit/support/sound.h"

struct seen {
	unsigned n;
	int64_t value[64];
	int64_t fail_at; /* value that the callback refuses */
};

static char dir[64];
static struct auc_err err;

static void path_of(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", dir, name);
}

static enum auc_code see(void *arg, struct json_object *payload, struct auc_err *e)
{
	struct seen *seen = arg;
	struct json_object *v;

	assert_true(json_object_object_get_ex(payload, "v", &v));
	if (json_object_get_int64(v) == seen->fail_at)
		return auc_err_set(e, AUC_ECORRUPT, "no such sale");
	assert_true(seen->n < 64);
	seen->value[seen->n++] = json_object_get_int64(v);
	return AUC_OK;
}

static struct json_object *payload(int64_t v)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "v", json_object_new_int64(v));
	return o;
}

static void add(struct auc_spool *s, int64_t v)
{
	struct json_object *o = payload(v);

	assert_int_equal(auc_spool_add(s, o, &err), AUC_OK);
	json_object_put(o);
}

static void snapshot_add(struct auc_spool *s, int64_t v)
{
	struct json_object *o = payload(v);

	assert_int_equal(auc_spool_snapshot_add(s, o, &err), AUC_OK);
	json_object_put(o);
}

static struct auc_spool *open_spool(struct seen *seen, struct auc_spool_report *report)
{
	struct auc_spool *s;

	memset(seen, 0, sizeof(*seen));
	seen->fail_at = -1;
	err.text[0] = 0;
	if (auc_spool_open(dir, see, seen, &s, report, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return s;
}

static char *slurp(const char *name, size_t *len)
{
	char path[128];
	char *data = malloc(1 << 20);
	FILE *f;

	path_of(name, path, sizeof(path));
	f = fopen(path, "r");
	assert_non_null(f);
	*len = fread(data, 1, (1 << 20) - 1, f);
	data[*len] = 0;
	fclose(f);
	return data;
}

static void spit(const char *name, const char *data, size_t len)
{
	char path[128];
	FILE *f;

	path_of(name, path, sizeof(path));
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void assert_refused(enum auc_code code, const char *text)
{
	struct seen seen = {.fail_at = -1};
	struct auc_spool *s;
	char expected[512];

	snprintf(expected, sizeof(expected), "spool %s%s", dir, text);
	err.text[0] = 0;
	assert_int_equal(auc_spool_open(dir, see, &seen, &s, NULL, &err), code);
	assert_null(s);
	assert_string_equal(err.text, expected);
	assert_int_equal(auc_spool_open(dir, see, &seen, &s, NULL, NULL), code);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "spool-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = {"journal",        "state",     "lock",
					    "journal.new",    "state.new", "before/state",
					    "before/journal", "before"};
	char path[128];

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		path_of(names[i], path, sizeof(path));
		remove(path);
	}
	return rmdir(dir);
}

static void test_round_trip(void **state)
{
	struct auc_spool_report report;
	struct seen seen;
	struct auc_spool *s;

	(void)state;
	s = open_spool(&seen, &report);
	assert_int_equal(seen.n, 0);
	assert_int_equal(report.last_seq, 0);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	assert_int_equal(auc_spool_journal_bytes(s), 0);
	add(s, 10);
	add(s, 11);
	add(s, 12);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	assert_true(auc_spool_journal_bytes(s) > 3 * 20);
	add(s, 13); /* never committed */
	auc_spool_close(s);

	s = open_spool(&seen, &report);
	assert_int_equal(seen.n, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(seen.value[i], 10 + i);
	assert_int_equal(report.snapshot_records, 0);
	assert_int_equal(report.journal_records, 3);
	assert_int_equal(report.last_seq, 3);
	assert_int_equal(report.torn_bytes, 0);
	auc_spool_close(s);
}

static void test_snapshot(void **state)
{
	struct auc_spool_report report;
	struct seen seen;
	struct auc_spool *s;
	char path[128], *text;
	size_t len;
	FILE *out;

	(void)state;
	s = open_spool(&seen, &report);
	add(s, 1);
	assert_int_equal(auc_spool_snapshot_begin(s, &err), AUC_ESTATE);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	assert_int_equal(auc_spool_snapshot_end(s, &err), AUC_ESTATE);
	assert_int_equal(auc_spool_snapshot_begin(s, &err), AUC_OK);
	snapshot_add(s, 100);
	snapshot_add(s, 101);
	assert_int_equal(auc_spool_snapshot_end(s, &err), AUC_OK);
	assert_int_equal(auc_spool_journal_bytes(s), 0);
	add(s, 2);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	auc_spool_close(s);

	s = open_spool(&seen, &report);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.value[0], 100);
	assert_int_equal(seen.value[1], 101);
	assert_int_equal(seen.value[2], 2);
	assert_int_equal(report.snapshot_records, 2);
	assert_int_equal(report.journal_records, 1);
	assert_int_equal(report.last_seq, 2);
	auc_spool_close(s);

	/* What was there before it can still be looked at. */
	path_of("before", path, sizeof(path));
	out = open_memstream(&text, &len);
	assert_int_equal(auc_spool_inspect(path, out, &err), AUC_OK);
	fclose(out);
	assert_non_null(strstr(text, "# 0 records up to event 0, verified"));
	assert_non_null(strstr(text, "# 1 event up to 1, verified"));
	free(text);
}

static void test_modes_and_leftovers(void **state)
{
	struct seen seen;
	struct auc_spool *s;
	struct stat st;
	char path[128];

	(void)state;
	rmdir(dir);
	s = open_spool(&seen, NULL);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	path_of("journal", path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	auc_spool_close(s);
	spit("state.new", "half", 4);
	spit("journal.new", "half", 4);
	s = open_spool(&seen, NULL);
	path_of("state.new", path, sizeof(path));
	assert_int_equal(access(path, F_OK), -1);
	path_of("journal.new", path, sizeof(path));
	assert_int_equal(access(path, F_OK), -1);
	auc_spool_close(s);
}

static void test_one_process(void **state)
{
	struct seen seen;
	struct auc_spool *s;

	(void)state;
	s = open_spool(&seen, NULL);
	assert_refused(AUC_EEXIST, ": another process has it open");
	auc_spool_close(s);
	auc_spool_close(open_spool(&seen, NULL));
}

static void test_too_long(void **state)
{
	struct json_object *o = json_object_new_object();
	char *text = malloc(1 << 20);
	struct seen seen;
	struct auc_spool *s;

	(void)state;
	memset(text, 'x', 1 << 20);
	s = open_spool(&seen, NULL);
	json_object_object_add(o, "v", json_object_new_string_len(text, (1 << 20) - 1));
	assert_int_equal(auc_spool_add(s, o, &err), AUC_EINVAL);
	json_object_put(o);
	free(text);
	add(s, 7);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	auc_spool_close(s);
	auc_spool_close(open_spool(&seen, NULL));
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.value[0], 7);
}

/* A spool with one snapshot (two records, up to event 1) and a journal of one commit of two events
 * and one of one. */
static void make_sample(void)
{
	struct seen seen;
	struct auc_spool *s = open_spool(&seen, NULL);

	add(s, 1);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	assert_int_equal(auc_spool_snapshot_begin(s, &err), AUC_OK);
	snapshot_add(s, 100);
	snapshot_add(s, 101);
	assert_int_equal(auc_spool_snapshot_end(s, &err), AUC_OK);
	add(s, 2);
	add(s, 3);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	add(s, 4);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	auc_spool_close(s);
}

static void test_corruption_messages(void **state)
{
	char *journal, *old_state, *p, *q;
	size_t jlen, slen;
	char path[128];

	(void)state;
	make_sample();
	journal = slurp("journal", &jlen);
	old_state = slurp("state", &slen);

	p = strstr(journal, "{\"v\":2}");
	p[5] = '9';
	spit("journal", journal, jlen);
	snprintf(path, sizeof(path), "/journal line 2: checksum %.16s, but the text has ",
		 strchr(journal, '\n') + 1);
	struct seen seen = {.fail_at = -1};
	struct auc_spool *s;
	assert_int_equal(auc_spool_open(dir, see, &seen, &s, NULL, &err), AUC_ECORRUPT);
	assert_non_null(strstr(err.text, path));
	p[5] = '2';

	/* An event is missing; an event is there twice. */
	p = strchr(journal, '\n') + 1;
	q = strchr(p, '\n') + 1;
	memmove(p, q, jlen - (size_t)(q - journal));
	spit("journal", journal, jlen - (size_t)(q - p));
	assert_refused(AUC_ECORRUPT, "/journal line 2: event 3, expected 2");
	free(journal);

	journal = slurp("journal", &jlen);
	assert_string_equal(strchr(journal, '\n') + 1 + 17, strstr(journal, "3 . "));
	free(journal);
	unlink(strcat(strcpy(path, dir), "/journal"));
	unlink(strcat(strcpy(path, dir), "/state"));
	make_sample();
	journal = slurp("journal", &jlen);
	p = strchr(strchr(strchr(journal, '\n') + 1, '\n') + 1, '\n') + 1;
	memcpy(journal + jlen, p, jlen - (size_t)(p - journal));
	spit("journal", journal, jlen + jlen - (size_t)(p - journal));
	assert_refused(AUC_ECORRUPT, "/journal line 5: event 4, expected 5");
	spit("journal", journal, jlen);

	/* The snapshot's last line is gone; something stands behind it; it is of another journal.
	 */
	p = strrchr(old_state, '\n');
	*p = 0;
	q = strrchr(old_state, '\n') + 1;
	*p = '\n';
	spit("state", old_state, (size_t)(q - old_state));
	assert_refused(AUC_ECORRUPT, "/state line 4: the end line is missing");
	spit("state", old_state, slen - 1);
	assert_refused(AUC_ECORRUPT, "/state line 4: the end line is missing");
	memcpy(old_state + slen, q, slen - (size_t)(q - old_state));
	spit("state", old_state, slen + slen - (size_t)(q - old_state));
	assert_refused(AUC_ECORRUPT, "/state line 5: something after the end line");
	spit("state", journal, jlen);
	assert_refused(AUC_ECORRUPT, "/state line 1: not a header of auction-state");
	spit("state", "", 0);
	assert_refused(AUC_ECORRUPT, "/state line 1: no complete header line");
	spit("state", "hello\n", 6);
	assert_refused(AUC_ECORRUPT,
		       "/state line 1: not a line of ours: expected a checksum and a text");

	path_of("state", path, sizeof(path));
	unlink(path);
	assert_refused(AUC_ECORRUPT, "/state: missing, but there is a journal with events");
	spit("state", old_state, slen);
	path_of("journal", path, sizeof(path));
	unlink(path);
	assert_refused(AUC_ECORRUPT, "/journal: missing, but there is a state");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(auc_spool_open(dir, see, &seen, &s, NULL, &err), AUC_EIO);
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(AUC_ECORRUPT, "/journal: not a regular file");
	unlink(path);
	free(journal);
	free(old_state);
}

static void test_bases(void **state)
{
	char *journal, *older;
	size_t jlen, slen;
	struct seen seen;
	struct auc_spool *s;

	(void)state;
	make_sample();
	older = slurp("state", &slen);
	s = open_spool(&seen, NULL);
	assert_int_equal(auc_spool_snapshot_begin(s, &err), AUC_OK);
	assert_int_equal(auc_spool_snapshot_end(s, &err), AUC_OK);
	auc_spool_close(s);
	spit("state", older, slen);
	assert_refused(
		AUC_ECORRUPT,
		"/state line 1: holds events up to 1, but the journal has those from 5 to 4");
	journal = slurp("journal", &jlen);
	free(journal);
	free(older);
}

static void test_callback_stops(void **state)
{
	struct seen seen = {.fail_at = 3};
	struct auc_spool *s;
	char expected[128];

	(void)state;
	make_sample();
	assert_int_equal(auc_spool_open(dir, see, &seen, &s, NULL, &err), AUC_ECORRUPT);
	snprintf(expected, sizeof(expected), "spool %s/journal line 3: no such sale", dir);
	assert_string_equal(err.text, expected);
}

static void test_inspect(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	make_sample();
	out = open_memstream(&text, &len);
	assert_int_equal(auc_spool_inspect(dir, out, &err), AUC_OK);
	fclose(out);
	assert_non_null(strstr(
		text, "1 . {\"v\":100}\n2 . {\"v\":101}\n# 2 records up to event 1, verified\n"));
	assert_non_null(strstr(text, "2 + {\"v\":2}\n3 . {\"v\":3}\n4 . {\"v\":4}\n# 3 events up "
				     "to 4, verified; 0 bytes"));
	free(text);
	spit("state", "hello\n", 6);
	out = open_memstream(&text, &len);
	assert_int_equal(auc_spool_inspect(dir, out, NULL), AUC_ECORRUPT);
	fclose(out);
	assert_non_null(strstr(text, "not a line of ours"));
	free(text);
	assert_int_equal(auc_spool_inspect("no/such/dir", stderr, &err), AUC_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_snapshot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_modes_and_leftovers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_corruption_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bases, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callback_stops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inspect, setup, teardown),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, sound_teardown);
}
