/*
 * test_spool_crash.c - stops the world under the spool at every step, lets every call fail once,
 * tears and flips every byte.
 *
 * spool.c is linked in with --wrap for each call that changes the disk. The wrappers do the real
 * call in a scratch directory and beside it keep a model of what is durable: a file's bytes at its
 * last fsync or fdatasync, the directory's names at its last fsync. When call number `stop_at`
 * comes, the world stops: it and all later calls fail without effect. What a crash there could have
 * left is then built from the model, once for every combination of: unsynced bytes lost, kept, or
 * cut at half; unsynced names lost, kept, or as they were just before the last rename, which alone
 * is lost: a new file whose first name is on the disk already. The real syncs are left out: the
 * model stands for them.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "ledger/spool.h"
#include "unit/support/cases.h"

/* -- the disk's model -- */

#define FILES_MAX 64
#define BYTES_MAX (1 << 16)
#define NAMES     4

static const char *const names[NAMES] = {"journal", "state", "journal.new", "state.new"};

struct model_file {
	ino_t inode;
	int fd; /* keeps the inode from being used again */
	char durable[BYTES_MAX];
	size_t durable_len;
};

static struct model_file files[FILES_MAX];
static unsigned nfiles;
static int durable_names[NAMES]; /* index into files, -1: no such name */
static int before_names[NAMES];  /* just before the last rename, */
static bool renamed;             /* which there was, and no sync of the directory since */
static unsigned long lost;       /* states that were looked at with a rename lost alone */

enum fault { FAULT_NONE, FAULT_EIO, FAULT_ENOSPC, FAULT_EINTR, FAULT_SHORT };

static char dir[64];
static long calls;   /* made so far */
static long stop_at; /* 0: never */
static bool stopped;
static bool checking; /* what the model says is being looked at, not made */
static long fault_at; /* 0: never */
static enum fault fault;
static unsigned failures; /* of checks */

ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t off);
int __real_ftruncate(int fd, off_t len);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __real_unlinkat(int fd, const char *name, int flags);
int __real_mkdir(const char *path, mode_t mode);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t off);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate(int fd, off_t len);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_unlinkat(int fd, const char *name, int flags);
int __wrap_mkdir(const char *path, mode_t mode);

#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			failures++;                                                                \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                            \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
		}                                                                                  \
	} while (0)

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* One call comes: true if it must not happen, with errno set. */
static bool interfere(bool *cut_short)
{
	if (cut_short)
		*cut_short = false;
	if (checking)
		return false;
	if (stopped) {
		errno = EIO;
		return true;
	}
	calls++;
	if (calls == stop_at) {
		stopped = true;
		errno = EIO;
		return true;
	}
	if (calls != fault_at)
		return false;
	switch (fault) {
	case FAULT_EIO:
		errno = EIO;
		return true;
	case FAULT_ENOSPC:
		errno = ENOSPC;
		return true;
	case FAULT_EINTR:
		errno = EINTR;
		return true;
	case FAULT_SHORT:
		if (cut_short)
			*cut_short = true;
		return false;
	case FAULT_NONE:
		break;
	}
	return false;
}

static int model_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		die("fstat");
	for (unsigned i = 0; i < nfiles; i++)
		if (files[i].inode == st.st_ino)
			return (int)i;
	assert(nfiles < FILES_MAX);
	files[nfiles].inode = st.st_ino;
	files[nfiles].fd = dup(fd);
	files[nfiles].durable_len = 0;
	return (int)nfiles++;
}

/* The names as they are now, in terms of the model's files. */
static void present_names(int *list)
{
	char path[128];

	for (int i = 0; i < NAMES; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		list[i] = fd < 0 ? -1 : model_of(fd);
		if (fd >= 0)
			close(fd);
	}
}

static void made_durable(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		die("fstat");
	if (S_ISDIR(st.st_mode)) {
		struct stat own;

		if (!stat(dir, &own) && own.st_ino == st.st_ino) {
			present_names(durable_names);
			renamed = false;
		}
		return;
	}
	struct model_file *f = &files[model_of(fd)];
	ssize_t n = pread(fd, f->durable, BYTES_MAX, 0);

	assert(n >= 0 && n < BYTES_MAX);
	f->durable_len = (size_t)n;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t off)
{
	bool was_stopped = stopped, cut_short;

	if (interfere(&cut_short)) {
		/* The write during which the world stops may have got half way. */
		if (!was_stopped && stopped && __real_pwrite(fd, data, len / 2, off) < 0)
			die("pwrite");
		errno = EIO;
		if (!stopped)
			errno = fault == FAULT_ENOSPC ? ENOSPC : fault == FAULT_EINTR ? EINTR : EIO;
		return -1;
	}
	return __real_pwrite(fd, data, cut_short && len > 1 ? len / 2 : len, off);
}

int __wrap_fsync(int fd)
{
	if (interfere(NULL))
		return -1;
	if (!checking)
		made_durable(fd);
	return 0;
}

int __wrap_fdatasync(int fd)
{
	return __wrap_fsync(fd);
}

int __wrap_ftruncate(int fd, off_t len)
{
	return interfere(NULL) ? -1 : __real_ftruncate(fd, len);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	int list[NAMES];

	if (!checking)
		present_names(list);
	if (interfere(NULL))
		return -1;
	if (!checking) {
		memcpy(before_names, list, sizeof(before_names));
		renamed = true;
	}
	return __real_renameat(from_fd, from, to_fd, to);
}

int __wrap_unlinkat(int fd, const char *name, int flags)
{
	int list[NAMES];

	if (!checking)
		present_names(list);
	return interfere(NULL) ? -1 : __real_unlinkat(fd, name, flags);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	return interfere(NULL) ? -1 : __real_mkdir(path, mode);
}

/* -- the workload: commits of increasing numbers, snapshots that hold their sum -- */

struct ledger {
	uint64_t count; /* numbers seen: 1..count, each once, in order */
	bool broken;
};

struct work {
	uint64_t acked;    /* last number whose commit was acknowledged */
	uint64_t added;    /* last number given to the spool */
	uint64_t ends[64]; /* last number of each commit tried */
	unsigned nends;
};

static enum auc_code learn(void *arg, struct json_object *payload, struct auc_err *err)
{
	struct ledger *l = arg;
	struct json_object *v;

	(void)err;
	if (json_object_object_get_ex(payload, "upto", &v))
		l->broken |= l->count != 0, l->count = (uint64_t)json_object_get_int64(v);
	else if (json_object_object_get_ex(payload, "n", &v))
		l->broken |= (uint64_t)json_object_get_int64(v) != l->count + 1, l->count++;
	else
		l->broken = true;
	return AUC_OK;
}

static struct json_object *number(const char *key, uint64_t n)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, key, json_object_new_int64((int64_t)n));
	json_object_object_add(o, "text",
			       json_object_new_string("some words to make the line longer"));
	return o;
}

static bool commit(struct auc_spool *s, struct work *w, unsigned n)
{
	struct json_object *o;

	for (unsigned i = 0; i < n; i++) {
		o = number("n", ++w->added);
		if (auc_spool_add(s, o, NULL) != AUC_OK)
			die("auc_spool_add");
		json_object_put(o);
	}
	if (w->nends < 64)
		w->ends[w->nends++] = w->added;
	if (auc_spool_commit(s, NULL) != AUC_OK)
		return false;
	w->acked = w->added;
	return true;
}

static bool snapshot(struct auc_spool *s, const struct work *w)
{
	struct json_object *o;
	enum auc_code rc = auc_spool_snapshot_begin(s, NULL);

	if (rc != AUC_OK)
		return false;
	o = number("upto", w->acked);
	rc = auc_spool_snapshot_add(s, o, NULL);
	json_object_put(o);
	return rc == AUC_OK && auc_spool_snapshot_end(s, NULL) == AUC_OK;
}

/* Every step is tried RETRIES + 1 times, as the caller would at its next turn. Returns false if the
 * spool could not be opened. */
static bool run_workload(struct work *w, unsigned retries)
{
	static const int steps[] = {1, 3, 0, 2, 1, 0, 4}; /* numbers in a commit; 0: a snapshot */
	struct ledger l = {0};
	struct auc_spool *s = NULL;
	unsigned tries;

	memset(w, 0, sizeof(*w));
	for (tries = 0; tries <= retries && !s; tries++)
		(void)auc_spool_open(dir, learn, &l, &s, NULL, NULL);
	if (!s)
		return false;
	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		bool done = false;

		for (tries = 0; tries <= retries && !done; tries++)
			done = steps[i] ? commit(s, w, tries ? 0 : (unsigned)steps[i])
					: snapshot(s, w);
		if (!done && steps[i] && retries)
			break;
	}
	auc_spool_close(s);
	return true;
}

/* -- scratch directories -- */

static void clear_dir(const char *path)
{
	char name[160];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, names[i]);
		unlink(name);
	}
	snprintf(name, sizeof(name), "%s/lock", path);
	unlink(name);
	/* What a snapshot leaves for who looks back; nothing is recovered from it. */
	snprintf(name, sizeof(name), "%s/before/state", path);
	unlink(name);
	snprintf(name, sizeof(name), "%s/before/journal", path);
	unlink(name);
	snprintf(name, sizeof(name), "%s/before", path);
	rmdir(name);
	rmdir(path);
}

static void write_file(const char *path, const char *data, size_t len)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		die(path);
}

static size_t read_file(const char *path, char *data)
{
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		die(path);
	n = fread(data, 1, BYTES_MAX, f);
	fclose(f);
	return n;
}

static void reset_world(void)
{
	clear_dir(dir);
	while (nfiles)
		close(files[--nfiles].fd);
	for (int i = 0; i < NAMES; i++)
		durable_names[i] = -1;
	calls = stop_at = fault_at = 0;
	stopped = renamed = false;
	fault = FAULT_NONE;
}

/* -- checks -- */

static void check_recovered(const char *path, const struct work *w, const char *what, long at)
{
	struct auc_spool_report report;
	struct ledger l = {0};
	struct auc_spool *s;
	struct auc_err err = {0};
	bool whole;

	if (auc_spool_open(path, learn, &l, &s, &report, &err) != AUC_OK) {
		CHECK(false, "%s, call %ld: does not open: %s", what, at, err.text);
		return;
	}
	whole = l.count == w->acked;
	for (unsigned i = 0; i < w->nends; i++)
		whole |= l.count == w->ends[i];
	CHECK(!l.broken, "%s, call %ld: events out of order", what, at);
	CHECK(l.count >= w->acked && l.count <= w->added,
	      "%s, call %ld: %" PRIu64 " events, acknowledged %" PRIu64, what, at, l.count,
	      w->acked);
	CHECK(whole, "%s, call %ld: half a commit, %" PRIu64 " events", what, at, l.count);
	/* And it goes on from there, twice. */
	struct work more = {.added = l.count};
	uint64_t before = l.count;

	CHECK(commit(s, &more, 2), "%s, call %ld: no commit after recovery", what, at);
	CHECK(snapshot(s, &more), "%s, call %ld: no snapshot after recovery", what, at);
	CHECK(commit(s, &more, 1), "%s, call %ld: no commit after the snapshot", what, at);
	auc_spool_close(s);
	memset(&l, 0, sizeof(l));
	if (auc_spool_open(path, learn, &l, &s, &report, &err) != AUC_OK) {
		CHECK(false, "%s, call %ld: does not open again: %s", what, at, err.text);
		return;
	}
	CHECK(!l.broken && l.count == before + 3 && report.torn_bytes == 0,
	      "%s, call %ld: second opening", what, at);
	auc_spool_close(s);
}

/* How much of a file's unsynced bytes the crash left. */
enum left { LEFT_DURABLE, LEFT_HALF, LEFT_ALL, LEFT_KINDS };

static size_t contents_after(int file, const char *real, enum left left, char *data)
{
	const struct model_file *f = &files[file];
	size_t n = 0, common = 0;

	if (left != LEFT_DURABLE)
		n = read_file(real, data);
	if (left == LEFT_ALL)
		return n;
	while (common < n && common < f->durable_len && data[common] == f->durable[common])
		common++;
	if (left == LEFT_HALF && n > f->durable_len && common == f->durable_len)
		return f->durable_len + (n - f->durable_len) / 2;
	memcpy(data, f->durable, f->durable_len);
	return f->durable_len;
}

/* Builds in AFTER what a crash now could have left and checks it. */
static void check_crash(const struct work *w, const char *what, long at)
{
	static char data[BYTES_MAX];
	char after[80], to[160], from[160];
	int now[NAMES];

	snprintf(after, sizeof(after), "%s.after", dir);
	present_names(now);
	for (int which = 0; which < 2 + renamed; which++)
		for (enum left left = LEFT_DURABLE; left < LEFT_KINDS; left++) {
			const int *list = which == 2 ? before_names : which ? now : durable_names;

			lost += which == 2;
			clear_dir(after);
			if (__real_mkdir(after, 0700))
				die(after);
			for (int i = 0; i < NAMES; i++) {
				const char *real = NULL;

				if (list[i] < 0)
					continue;
				for (int k = 0; k < NAMES; k++)
					if (now[k] == list[i])
						real = names[k];
				snprintf(from, sizeof(from), "%s/%s", dir, real ? real : "");
				snprintf(to, sizeof(to), "%s/%s", after, names[i]);
				/* A file that no name leads to any more is whole: it was the
				 * journal until a rename. */
				write_file(to, data,
					   contents_after(list[i], from, real ? left : LEFT_DURABLE,
							  data));
			}
			checking = true;
			check_recovered(after, w, what, at);
			checking = false;
		}
	clear_dir(after);
}

static long count_calls(void)
{
	struct work w;

	reset_world();
	run_workload(&w, 0);
	CHECK(w.acked == w.added && w.added == 11, "the workload does not run");
	return calls;
}

static void stop_everywhere(void)
{
	long n = count_calls();
	struct work w;

	CHECK(n > 30, "only %ld calls", n);
	for (long at = 1; at <= n; at++) {
		reset_world();
		stop_at = at;
		run_workload(&w, 0);
		check_crash(&w, "stopped", at);
	}
	printf("stopped at each of %ld calls, %d states after each, %lu with a rename lost\n", n,
	       2 * LEFT_KINDS, lost);
	CHECK(lost >= 3ul * LEFT_KINDS, "only %lu states with a rename lost", lost);
}

static void fail_everywhere(void)
{
	static const enum fault kinds[] = {FAULT_EIO, FAULT_ENOSPC, FAULT_EINTR, FAULT_SHORT};
	long n = count_calls();
	struct work w;

	for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (long at = 1; at <= n; at++) {
			reset_world();
			fault_at = at;
			fault = kinds[k];
			CHECK(run_workload(&w, 2), "fault %u, call %ld: not opened", kinds[k], at);
			CHECK(w.acked == w.added && w.added == 11,
			      "fault %u, call %ld: acknowledged %" PRIu64, kinds[k], at, w.acked);
			fault_at = 0;
			check_crash(&w, "after a fault", at);
		}
	printf("failed each of %ld calls in %zu ways\n", n, sizeof(kinds) / sizeof(*kinds));
}

/* A fault, and then a crash at every later call. */
static void fail_then_stop(void)
{
	long n = count_calls(), behind = cases(12, 2);
	struct work w;

	for (long at = 1; at <= n; at++)
		for (long later = at + 1; later <= at + behind; later++) {
			reset_world();
			fault_at = at;
			fault = later % 2 ? FAULT_EIO : FAULT_SHORT;
			stop_at = later;
			run_workload(&w, 1);
			check_crash(&w, "fault, then stopped", later);
		}
	printf("failed each of %ld calls, then stopped at each of the %ld after it\n", n, behind);
}

/* -- damage -- */

static char journal[BYTES_MAX], state[BYTES_MAX];
static size_t journal_len, state_len;

static void make_sample(void)
{
	char path[160];
	struct work w;

	reset_world();
	run_workload(&w, 0);
	snprintf(path, sizeof(path), "%s/journal", dir);
	journal_len = read_file(path, journal);
	snprintf(path, sizeof(path), "%s/state", dir);
	state_len = read_file(path, state);
}

static void put_sample(const char *jdata, size_t jlen, const char *sdata, size_t slen)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/journal", dir);
	write_file(path, jdata, jlen);
	snprintf(path, sizeof(path), "%s/state", dir);
	write_file(path, sdata, slen);
}

static enum auc_code reopen(struct ledger *l, struct auc_spool_report *report, struct auc_err *err)
{
	enum auc_code rc;
	struct auc_spool *s;

	memset(l, 0, sizeof(*l));
	rc = auc_spool_open(dir, learn, l, &s, report, err);
	auc_spool_close(s);
	return rc;
}

static bool unchanged(const char *jdata, size_t jlen, const char *sdata, size_t slen)
{
	static char data[BYTES_MAX];
	char path[160];

	snprintf(path, sizeof(path), "%s/journal", dir);
	if (read_file(path, data) != jlen || memcmp(data, jdata, jlen))
		return false;
	snprintf(path, sizeof(path), "%s/state", dir);
	return read_file(path, data) == slen && !memcmp(data, sdata, slen);
}

/* The sample ends with a snapshot up to 7 and one commit of four events, 8 to 11. */
static void tear_everywhere(void)
{
	size_t header = (size_t)((char *)memchr(journal, '\n', journal_len) - journal) + 1;
	struct auc_spool_report report;
	struct auc_err err = {0};
	struct ledger l;

	for (size_t len = 0; len <= journal_len; len++) {
		put_sample(journal, len, state, state_len);
		enum auc_code rc = reopen(&l, &report, &err);

		if (len < header) {
			CHECK(rc == AUC_ECORRUPT, "journal of %zu bytes: %s", len,
			      auc_err_word(rc));
			continue;
		}
		CHECK(rc == AUC_OK, "journal of %zu bytes: %s", len, err.text);
		CHECK(l.count == (len == journal_len ? 11 : 7) && !l.broken,
		      "journal of %zu bytes: %" PRIu64 " events", len, l.count);
		CHECK(report.torn_bytes == (len == journal_len ? 0 : len - header),
		      "journal of %zu bytes: %" PRIu64 " torn", len, report.torn_bytes);
		CHECK(unchanged(journal, len == journal_len ? len : header, state, state_len),
		      "journal of %zu bytes: the cut", len);
	}
	for (size_t len = 0; len < state_len; len++) {
		put_sample(journal, journal_len, state, len);
		enum auc_code rc = reopen(&l, &report, &err);

		CHECK(rc == AUC_ECORRUPT, "state of %zu bytes: %s", len, auc_err_word(rc));
		CHECK(unchanged(journal, journal_len, state, len), "state of %zu bytes: changed",
		      len);
	}
	printf("torn at each of %zu bytes\n", journal_len + state_len);
}

static void flip_everywhere(void)
{
	static const unsigned char masks[] = {0x01, 0x02, 0x20, 0x80, 0xff};
	unsigned ways = cases(sizeof(masks) + 1, 2), cuts = 0;
	struct auc_spool_report report;
	struct auc_err err = {0};
	struct ledger l;

	for (size_t i = 0; i < journal_len + state_len; i++)
		for (unsigned k = 0; k < ways; k++) {
			bool in_journal = i < journal_len;
			char *byte = in_journal ? &journal[i] : &state[i - journal_len];
			char old = *byte;

			*byte = k < sizeof(masks) ? (char)(old ^ masks[k]) : '\n';
			if (*byte == old)
				continue;
			put_sample(journal, journal_len, state, state_len);
			enum auc_code rc = reopen(&l, &report, &err);

			if (rc == AUC_OK) {
				cuts++;
				CHECK(in_journal && i == journal_len - 1,
				      "byte %zu of the %s: taken for good", i,
				      in_journal ? "journal" : "state");
				CHECK(l.count == 7 && !l.broken && report.torn_bytes,
				      "byte %zu: cut to %" PRIu64 " events", i, l.count);
			} else {
				CHECK(rc == AUC_ECORRUPT, "byte %zu: %s", i, err.text);
				CHECK(unchanged(journal, journal_len, state, state_len),
				      "byte %zu: changed", i);
			}
			*byte = old;
		}
	CHECK(cuts == (ways < sizeof(masks) ? ways : sizeof(masks)), "%u cuts", cuts);
	printf("flipped each of %zu bytes in %u ways\n", journal_len + state_len, ways);
}

int main(void)
{
	strcpy(dir, "crash-XXXXXX");
	if (!mkdtemp(dir))
		die("mkdtemp");
	stop_everywhere();
	fail_everywhere();
	fail_then_stop();
	make_sample();
	checking = true;
	tear_everywhere();
	flip_everywhere();
	clear_dir(dir);
	if (failures)
		fprintf(stderr, "%u checks failed\n", failures);
	return failures ? 1 : 0;
}
