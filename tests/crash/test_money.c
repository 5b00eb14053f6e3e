/*
 * test_money.c - the money of an auction over random events from several threads, killed again and
 * again at its writes. A child process opens the spool and lets threads bid, drop, confirm, start
 * and settle, and administrators grant and take back, while it commits; at some call that writes it
 * is killed, in the middle of it, or after it with what was not synced lost in part, a rename, too.
 * Then the parent has the spool read by a program without a line of ours (tests/cmd/audit): nothing
 * is made or lost, no account that is limited has spent more than it got, no sale and no transfer
 * is there twice. The next child asks for the last transfer that was committed once more, which
 * does nothing, and goes on.
 *
 * AUC_TEST_EVENTS: how many events in all (5000); AUC_TEST_SEED.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "auction/auction.h"
#include "unit/support/splitmix.h"
#include "unit/support/world.h"

#define THREADS 3
#define USERS   5   /* the last was granted nothing */
#define AHEAD   300 /* events that are not committed */
#define JOBS    64  /* of a thread */
#define CONF                                                                                       \
	"Policy=dps\nPrices=given\nEta=cpu=2,gpu:v100=3,gpu:t4=2\nSlots=60\nBudgets=user\n"        \
	"UserLiens=0 UserQuotes=0 UserJobs=0"

/* Of parent and children. */
struct shared {
	atomic_ullong events; /* decided so far, whether they survive or not */
	atomic_ullong wanted;
	atomic_uint next_job;
	atomic_ullong next_id; /* of transfers */
	atomic_uint failed;
	atomic_uint bought, refused, transfers, lost; /* LOST: renames */
	struct auc_transfer
		safe[THREADS]; /* by thread: one that is known to be on disk; or no id */
};

static struct shared *shared;
static struct auc_auction *a;
static double now;
static atomic_bool over;
static atomic_ullong at_commit; /* events by the last commit; few come before the next */
static pthread_mutex_t made_lock = PTHREAD_MUTEX_INITIALIZER;
static struct auc_transfer made[THREADS]; /* the last of each thread */

/* -- the disk: calls are counted, and at one of them all ends -- */

static struct {
	bool armed;
	long left; /* calls until the end */
	uint64_t seed;
	int fd; /* of the last pwrite that was not synced since */
	off_t from, to;
	bool renamed; /* and the directory was not synced since */
	char now[256], was[256];
} disk;

/* What a renamed file was before, beside the spool, for a crash before the directory is synced. */
static void undo_path(char path[96])
{
	snprintf(path, 96, "%s.undo", world_dir);
}

/* The new name is lost: the file has its old one, and the one before its own. */
static void lose_rename(void)
{
	char undo[96], now_path[400], was_path[400];

	if (!disk.renamed || splitmix(&disk.seed) % 2)
		return;
	undo_path(undo);
	snprintf(now_path, sizeof(now_path), "%s/%s", world_dir, disk.now);
	snprintf(was_path, sizeof(was_path), "%s/%s", world_dir, disk.was);
	if (rename(now_path, was_path) || (!access(undo, F_OK) && rename(undo, now_path)))
		shared->failed |= 64;
	shared->lost++;
}

static void end_here(void)
{
	lose_rename();
	raise(SIGKILL);
	for (;;)
		pause();
}

/* True if this is the call. */
static bool counts(void)
{
	return disk.armed && !--disk.left;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t off)
{
	ssize_t (*next)(int, const void *, size_t, off_t) =
		(ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
	bool end = counts();
	size_t part = end ? splitmix(&disk.seed) % (len + 1) : len;
	ssize_t n = next(fd, data, part, off);

	if (end)
		end_here();
	disk.fd = fd;
	disk.from = off;
	disk.to = off + (off_t)len;
	return n;
}

/* Before the sync some of what was written may be lost. The real syncs are left out: the machine
 * goes on. */
int fdatasync(int fd)
{
	if (counts()) {
		if (fd == disk.fd && disk.to > disk.from)
			(void)!ftruncate(fd, disk.from + (off_t)(splitmix(&disk.seed) %
								 (uint64_t)(disk.to - disk.from)));
		end_here();
	}
	disk.to = disk.from;
	return 0;
}

static void forget_rename(void)
{
	char undo[96];

	if (!disk.armed || !disk.renamed)
		return;
	disk.renamed = false;
	undo_path(undo);
	unlink(undo);
}

int fsync(int fd)
{
	struct stat st;

	if (counts())
		end_here();
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
		forget_rename();
	return 0;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	int (*next)(int, const char *, int, const char *) =
		(int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
	bool end = counts(), before = end && splitmix(&disk.seed) % 2;
	char undo[96];

	if (before)
		end_here();
	if (disk.armed) {
		/* One that is still not synced is taken to be on the disk: one is lost at most. */
		undo_path(undo);
		unlink(undo);
		if (linkat(to_fd, to, AT_FDCWD, undo, 0) && errno != ENOENT)
			shared->failed |= 64;
		disk.renamed = true;
		snprintf(disk.was, sizeof(disk.was), "%s", from);
		snprintf(disk.now, sizeof(disk.now), "%s", to);
	}
	if (next(from_fd, from, to_fd, to))
		return -1;
	if (end)
		end_here();
	return 0;
}

/* -- what happens -- */

struct worker {
	unsigned number;
	uint64_t seed;
	unsigned n;
	uint32_t jobs[JOBS];
};

static uint32_t user_of(uint64_t random)
{
	return 1000 + (uint32_t)(random % USERS);
}

static void bid(struct worker *w)
{
	uint64_t r = splitmix(&w->seed);
	char text[160];
	struct auc_offer offer;
	struct auc_bid b;
	uint32_t job;

	snprintf(text, sizeof(text),
		 "%u.%u epochs=%u minibatches=100 worker-time=%s=3s ps-time=ps.m=0",
		 1 + (unsigned)(r >> 8) % 400, (unsigned)(r >> 20) % 100,
		 1 + (unsigned)(r >> 30) % 9, (r >> 40) % 2 ? "v100" : "t4");
	if (auc_bid_parse(auc_auction_conf(a), text, &b, NULL) != AUC_OK ||
	    auc_auction_bid(a, &b, user_of(r), now, true, &offer, NULL) != AUC_OK)
		return;
	if (!offer.accepted) {
		shared->refused++;
		shared->events++;
	} else if (w->n == JOBS || r >> 60 == 0) {
		auc_auction_drop(a, offer.sale, NULL);
		shared->events++;
	} else {
		job = shared->next_job++;
		if (auc_auction_confirm(a, offer.sale, job, NULL, NULL) == AUC_OK) {
			w->jobs[w->n++] = job;
			shared->bought++;
			shared->events++;
		}
	}
	auc_offer_clear(&offer);
}

static void end_job(struct worker *w)
{
	static const char *const why[] = {"completed", "cancelled", "node_fail", "failed",
					  "timeout"};
	uint64_t r = splitmix(&w->seed);
	unsigned k;

	if (!w->n)
		return;
	k = (unsigned)(r >> 8) % w->n;
	if (r % 4 == 0) {
		shared->events += auc_auction_start(a, w->jobs[k], now, NULL, NULL) == AUC_OK;
		return;
	}
	if (auc_auction_settle(a, w->jobs[k], why[(r >> 40) % 5], now + (double)((r >> 20) % 3000),
			       NULL, NULL) == AUC_OK)
		shared->events++;
	w->jobs[k] = w->jobs[--w->n];
}

static void make_transfer(struct worker *w)
{
	uint64_t r = splitmix(&w->seed), id = shared->next_id++;
	struct auc_transfer t = {.when = (int64_t)id + 1, .period = -1};
	enum auc_code rc;

	snprintf(t.id, sizeof(t.id), "t-%llu", (unsigned long long)id);
	snprintf(t.account, sizeof(t.account), "user:%u", 1000 + (unsigned)(r % (USERS - 1)));
	t.code = (r >> 20) % 4 ? AUC_TRANSFER_GRANT : AUC_TRANSFER_CORRECT;
	t.amount = (auc_money)((r >> 24) % (40 * AUC_CREDIT));
	rc = auc_auction_transfer(a, &t, NULL);
	if (rc == AUC_OK) {
		shared->transfers++;
		shared->events++;
		/* A repeat does nothing. */
		if (auc_auction_transfer(a, &t, NULL) == AUC_OK)
			shared->failed |= 1;
		pthread_mutex_lock(&made_lock);
		made[w->number] = t;
		pthread_mutex_unlock(&made_lock);
	} else if (rc != AUC_ELIMIT && rc != AUC_ESTATE) {
		shared->failed |= 2;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!over && shared->events < shared->wanted) {
		unsigned what = (unsigned)(splitmix(&w->seed) % 16);

		if (shared->events > at_commit + AHEAD) {
			sched_yield();
			continue;
		}
		if (what < 8)
			bid(w);
		else if (what < 15)
			end_job(w);
		else
			make_transfer(w);
	}
	return NULL;
}

/* The jobs that the spool knows go on, each with one thread. */
static void take_up(struct worker *workers)
{
	struct auc_sale_view *views;
	struct worker *w;
	unsigned n;

	if (auc_auction_sales(a, &views, &n, NULL) != AUC_OK) {
		shared->failed |= 4;
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		w = &workers[i % THREADS];
		if (w->n < JOBS)
			w->jobs[w->n++] = views[i].job_id;
		else
			auc_auction_settle(a, views[i].job_id, "lost", now, NULL, NULL);
		auc_sale_view_clear(&views[i]);
	}
	free(views);
}

/* Until it is killed, or all is done. */
static void child(uint64_t seed)
{
	struct worker workers[THREADS] = {0};
	pthread_t threads[THREADS];
	struct auc_transfer before[THREADS];
	struct auc_err err;

	now = NOW + 300.0 * (double)(seed % 20);
	disk.seed = seed;
	disk.left = 2 + (long)(splitmix(&disk.seed) % 12);
	disk.armed = true;
	a = world_open(CONF, world_dir, now);
	take_up(workers);
	/* What was on disk is still there: a repeat does nothing. */
	for (unsigned i = 0; i < THREADS; i++)
		if (*shared->safe[i].id &&
		    auc_auction_transfer(a, &shared->safe[i], NULL) == AUC_OK)
			shared->failed |= 32;
	at_commit = shared->events;
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].seed = seed + 1000 * (i + 1);
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			_exit(3);
	}
	while (shared->events < shared->wanted && !shared->failed) {
		at_commit = shared->events;
		pthread_mutex_lock(&made_lock);
		memcpy(before, made, sizeof(before));
		pthread_mutex_unlock(&made_lock);
		if (auc_auction_commit(a, &err) != AUC_OK)
			shared->failed |= 8;
		for (unsigned i = 0; i < THREADS; i++)
			if (*before[i].id)
				shared->safe[i] = before[i];
		auc_auction_tick(a, now);
		if (auc_auction_ready(a, &err) != AUC_OK)
			shared->failed |= 16;
	}
	over = true;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (auc_auction_commit(a, &err) != AUC_OK)
		shared->failed |= 8;
	auc_auction_destroy(a);
	_exit(0);
}

/* The other program, which is started once: most of what it takes is its start. */
static struct {
	FILE *in, *out;
	pid_t pid;
} reader;

static void start_reader(void)
{
	static char program[] = TESTS_DIR "/cmd/audit", option[] = "--serve";
	char *argv[] = {program, option, NULL};
	int ask[2], answer[2];

	assert_int_equal(pipe2(ask, O_CLOEXEC), 0);
	assert_int_equal(pipe2(answer, O_CLOEXEC), 0);
	reader.pid = fork();
	assert_true(reader.pid >= 0);
	if (!reader.pid) {
		dup2(ask[0], STDIN_FILENO);
		dup2(answer[1], STDOUT_FILENO);
		execv(program, argv);
		_exit(127);
	}
	close(ask[0]);
	close(answer[1]);
	reader.in = fdopen(ask[1], "w");
	reader.out = fdopen(answer[0], "r");
	assert_true(reader.in && reader.out);
}

static void end_reader(void)
{
	int status;

	fclose(reader.in);
	fclose(reader.out);
	assert_int_equal(waitpid(reader.pid, &status, 0), reader.pid);
	assert_int_equal(status, 0);
}

/* An incomplete end is cut off, as at a start; then the other program reads. */
static void audit(uint64_t seed)
{
	char line[512] = "nothing";

	auc_auction_destroy(world_open(CONF, world_dir, NOW));
	fprintf(reader.in, "%s\n", world_dir);
	assert_int_equal(fflush(reader.in), 0);
	if (!fgets(line, sizeof(line), reader.out) || strncmp(line, "right: ", 7))
		fail_msg("seed %llu: the money does not add up: %s", (unsigned long long)seed,
			 line);
}

static void test_money(void **state)
{
	const char *events = getenv("AUC_TEST_EVENTS"), *from = getenv("AUC_TEST_SEED");
	uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
	unsigned kills = 0;
	char undo[96];

	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(shared != MAP_FAILED);
	shared->wanted = events ? strtoull(events, NULL, 10) : 5000;
	shared->next_job = 1;
	start_reader();
	audit(0); /* and there is a key for all of them */
	for (bool done = false; !done; seed++) {
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			child(seed);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (shared->failed)
			fail_msg("seed %llu: failed %x", (unsigned long long)seed, shared->failed);
		done = WIFEXITED(status) && !WEXITSTATUS(status);
		if (!done && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
			fail_msg("seed %llu: status %x", (unsigned long long)seed, status);
		kills += !done;
		audit(seed);
	}
	print_message("%llu events, %u kills, %u renames lost: %u bought, %u refused, %u "
		      "transfers\n",
		      (unsigned long long)shared->events, kills, shared->lost, shared->bought,
		      shared->refused, shared->transfers);
	/* It was about something. */
	assert_true(kills >= 3);
	assert_true(shared->lost > 0 || shared->wanted < 100000);
	assert_true(shared->bought >= shared->wanted / 20 &&
		    shared->refused >= shared->wanted / 100 &&
		    shared->transfers >= shared->wanted / 100);
	undo_path(undo);
	unlink(undo);
	end_reader();
	munmap(shared, sizeof(*shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_money, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
