/* receipts.c - see receipts.h. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sched/output/accounting.h"
#include "base/file.h"
#include "base/num.h"
#include "ledger/final_receipts.h"
#include "ledger/receipt.h"
#include "sched/output/receipts.h"
#include "sched/rpc/retry.h"
#include "adapter/site.h"
#include "adapter/slurm_compat.h"

#define FIRST_DELAY                                                                                \
	1.0 /* seconds before the database is asked, and between the first questions               \
	     */
#define PATIENCE                                                                                   \
	10.0 /* slurmctld writes new jobs every 5 s: after this, delays are doubled each time */
#define LAST_DELAY 30.0
#define LATE                                                                                       \
	60.0 /* seconds after which slurmctld will not write the end of a job any more, so far as  \
		anybody knows: it may have forgotten the job */
#define RECHECK                                                                                    \
	3.0 /* seconds after which slurmctld has written what it has to say about an old job */
/* Seconds after an outage of the database in which slurmctld writes rows as they were before. */
#define DOUBT   20.0
#define BATCH   64    /* jobs looked up with one question */
#define GIVE_UP 86400 /* seconds after which a receipt that the database never takes is dropped */
/* Bytes of the file: many times what a day without the database leaves. */
#define FILE_MAX (1 << 28)
#define KEEP     600 /* seconds a delivered final receipt is kept, at least */

struct entry {
	struct entry *next;
	uint64_t serial; /* changes with the text */
	uint32_t job_id;
	char sale[AUC_SALE_ID_LEN];
	char *text;
	char *json; /* its line of the file but for what follows "done"; NULL: not made yet */
	bool final, released, done;
	double since, due, delay;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool running, stop, dirty;
	bool held; /* some are not released */
	uint64_t serial;
	double doubt; /* until then, by auc_site_elapsed(), a row may be written again */
	char path[PATH_MAX];
	struct entry *list;
} receipts = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static enum auc_code load_file(struct auc_err *err);
static enum auc_code load_entry(void *arg, const struct auc_final *f, struct auc_err *err);
static char *print_file(size_t *len);
static char *print_entry(const struct entry *e);
static struct entry *put(uint32_t job_id, const char *sale, const char *text, bool final);
static void *deliver_all(void *arg);
static unsigned take_due(double now, struct auc_accounting_row *jobs, uint64_t *serials,
			 double *until);
static void deliver(struct auc_accounting_row *jobs, const uint64_t *serials, unsigned n);
static void breathe(double since);
static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void answered(const struct auc_accounting_row *job, uint64_t serial,
		     const struct auc_err *err);
static void expire(double now);
static void clear(void);
static void entry_free(struct entry *e);

enum auc_code auc_receipts_start(const char *dir, struct auc_err *err)
{
	enum auc_code code;
	int rc;

	if (receipts.running)
		return AUC_OK;
	snprintf(receipts.path, sizeof(receipts.path), "%s/receipts", dir);
	code = load_file(err);
	if (code) {
		clear();
		return code;
	}
	receipts.stop = false;
	rc = pthread_create(&receipts.thread, NULL, deliver_all, NULL);
	if (rc)
		return auc_err_set(err, AUC_EIO, "no thread for the accounting database: %s",
				   strerror(rc));
	pthread_setname_np(receipts.thread, "auction_receipt");
	receipts.running = true;
	return AUC_OK;
}

bool auc_receipts_stop(const struct timespec *until)
{
	if (!receipts.running)
		return true;
	pthread_mutex_lock(&receipts.lock);
	receipts.stop = true;
	pthread_cond_signal(&receipts.wake);
	pthread_mutex_unlock(&receipts.lock);
	if (pthread_timedjoin_np(receipts.thread, NULL, until))
		return false;
	receipts.running = false;
	clear();
	return true;
}

void auc_receipts_put(uint32_t job_id, const char *sale, const char *text)
{
	pthread_mutex_lock(&receipts.lock);
	put(job_id, sale, text, false);
	pthread_cond_signal(&receipts.wake);
	pthread_mutex_unlock(&receipts.lock);
}

enum auc_code auc_receipts_put_final(uint32_t job_id, const char *sale, const char *text,
				     struct auc_err *err)
{
	struct entry *e;

	pthread_mutex_lock(&receipts.lock);
	e = put(job_id, sale, text, true);
	pthread_mutex_unlock(&receipts.lock);
	return e ? AUC_OK
		 : auc_err_set(err, AUC_ENOMEM, "out of memory for the receipt of job %u", job_id);
}

enum auc_code auc_receipts_save(struct auc_err *err)
{
	enum auc_code code;
	char *text = NULL;
	bool dirty;
	size_t len;

	pthread_mutex_lock(&receipts.lock);
	dirty = receipts.dirty;
	if (dirty)
		text = print_file(&len);
	receipts.dirty = false;
	pthread_mutex_unlock(&receipts.lock);
	if (!dirty)
		return AUC_OK;
	code = text ? auc_file_replace(receipts.path, text, len, 0600, true, err)
		    : auc_err_set(err, AUC_ENOMEM, "out of memory for %s", receipts.path);
	free(text);
	if (code) {
		pthread_mutex_lock(&receipts.lock);
		receipts.dirty = true;
		pthread_mutex_unlock(&receipts.lock);
	}
	return code;
}

void auc_receipts_release(void)
{
	pthread_mutex_lock(&receipts.lock);
	if (receipts.held) {
		for (struct entry *e = receipts.list; e; e = e->next)
			e->released = true;
		receipts.held = false;
		pthread_cond_signal(&receipts.wake);
	}
	pthread_mutex_unlock(&receipts.lock);
}

void auc_receipts_forget(const char *sale)
{
	struct entry **at, *e;

	pthread_mutex_lock(&receipts.lock);
	for (at = &receipts.list; (e = *at);) {
		if (e->final && !strcmp(e->sale, sale)) {
			*at = e->next;
			entry_free(e);
			receipts.dirty = true;
		} else {
			at = &e->next;
		}
	}
	pthread_mutex_unlock(&receipts.lock);
}

void auc_receipts_recheck(const char *sale)
{
	pthread_mutex_lock(&receipts.lock);
	for (struct entry *e = receipts.list; e; e = e->next) {
		if (!e->final || strcmp(e->sale, sale))
			continue;
		e->done = false;
		e->due = auc_site_now() + RECHECK;
		e->delay = FIRST_DELAY;
	}
	pthread_mutex_unlock(&receipts.lock);
}

char *auc_receipts_settled(const char *sale)
{
	char *text = NULL;

	pthread_mutex_lock(&receipts.lock);
	for (struct entry *e = receipts.list; e && !text; e = e->next)
		if (e->final && !strcmp(e->sale, sale))
			text = strdup(e->text);
	pthread_mutex_unlock(&receipts.lock);
	return text;
}

void auc_receipts_counts(unsigned *waiting, unsigned *final)
{
	*waiting = *final = 0;
	pthread_mutex_lock(&receipts.lock);
	for (struct entry *e = receipts.list; e; e = e->next) {
		*waiting += !e->done;
		*final += !e->done && e->final;
	}
	pthread_mutex_unlock(&receipts.lock);
}

static enum auc_code load_file(struct auc_err *err)
{
	enum auc_code code;
	struct stat st;
	char *text = NULL;
	FILE *f = auc_file_open(receipts.path);

	if (!f && errno == ENOENT)
		return AUC_OK;
	if (f && !fstat(fileno(f), &st) && st.st_size > FILE_MAX) {
		fclose(f);
		return auc_err_set(err, AUC_ECORRUPT,
				   "%s: more than %d bytes: this program did not write it",
				   receipts.path, FILE_MAX);
	}
	if (!f || fstat(fileno(f), &st) || !(text = malloc((size_t)st.st_size + 1)) ||
	    fread(text, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		code = auc_err_set(err, AUC_EIO, "%s: %s", receipts.path, strerror(errno));
	} else {
		text[st.st_size] = '\0';
		code = auc_finals_read(text, (size_t)st.st_size, load_entry, NULL, err);
		if (code)
			auc_err_prefix(err, "%s", receipts.path);
	}
	free(text);
	if (f)
		fclose(f);
	return code;
}

static enum auc_code load_entry(void *arg, const struct auc_final *f, struct auc_err *err)
{
	struct entry *e = put(f->job_id, f->sale, f->text, true);

	(void)arg;
	if (!e)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	e->since = f->since;
	/* What the database had may be overwritten by what slurmctld remembers. */
	e->due = auc_site_now() + RECHECK;
	return AUC_OK;
}

/* NULL: no memory. Locked by the caller. */
static char *print_file(size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);
	bool good = f, first = true;

	if (!f)
		return NULL;
	auc_finals_begin(f);
	for (struct entry *e = receipts.list; e && good; e = e->next) {
		if (!e->final)
			continue;
		if (!e->json)
			e->json = print_entry(e);
		good = e->json;
		if (good)
			auc_finals_add(f, first, e->json, e->done);
		first = false;
	}
	auc_finals_end(f);
	if (!fclose(f) && good)
		return text;
	free(text);
	return NULL;
}

/* An entry stays as it is while others come, and there may be many. */
static char *print_entry(const struct entry *e)
{
	return auc_final_line(&(struct auc_final){
		.job_id = e->job_id, .sale = e->sale, .text = e->text, .since = e->since});
}

/* The newest text of a job's sale; a final one is not replaced by another. Locked by the caller (or
 * single). */
static struct entry *put(uint32_t job_id, const char *sale, const char *text, bool final)
{
	struct entry *e;
	char *copy;

	for (e = receipts.list; e && (e->job_id != job_id || strcmp(e->sale, sale)); e = e->next)
		;
	if (e && e->final && !final)
		return e;
	copy = strdup(text);
	if (!copy)
		return NULL;
	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e) {
			free(copy);
			return NULL;
		}
		e->next = receipts.list;
		receipts.list = e;
	}
	free(e->text);
	free(e->json);
	e->text = copy;
	e->json = NULL;
	e->serial = ++receipts.serial;
	e->job_id = job_id;
	snprintf(e->sale, sizeof(e->sale), "%s", sale);
	e->final = final;
	e->released = !final;
	receipts.held |= final;
	e->done = false;
	e->since = auc_site_now();
	e->due = e->since + FIRST_DELAY;
	e->delay = FIRST_DELAY;
	receipts.dirty |= final;
	return e;
}

static void *deliver_all(void *arg)
{
	struct auc_accounting_row jobs[BATCH];
	uint64_t serials[BATCH];

	(void)arg;
	pthread_mutex_lock(&receipts.lock);
	while (!receipts.stop) {
		double now = auc_site_now(), until = now + LAST_DELAY;
		struct timespec ts;
		unsigned n;

		expire(now);
		n = take_due(now, jobs, serials, &until);
		if (n == 0) {
			until += auc_site_elapsed() - auc_site_now();
			ts.tv_sec = (time_t)until;
			ts.tv_nsec = (long)((until - (double)ts.tv_sec) * 1e9);
			pthread_cond_clockwait(&receipts.wake, &receipts.lock, CLOCK_MONOTONIC,
					       &ts);
			continue;
		}
		pthread_mutex_unlock(&receipts.lock);
		deliver(jobs, serials, n);
		for (unsigned i = 0; i < n; i++)
			free((char *)jobs[i].text);
		pthread_mutex_lock(&receipts.lock);
	}
	pthread_mutex_unlock(&receipts.lock);
	return NULL;
}

/* Copies up to BATCH entries that are due; with none, *UNTIL is when one will be. Locked by the
 * caller. */
static unsigned take_due(double now, struct auc_accounting_row *jobs, uint64_t *serials,
			 double *until)
{
	unsigned n = 0;

	for (struct entry *e = receipts.list; e && n < BATCH; e = e->next) {
		if (e->done || !e->released)
			continue;
		/* The clock was set back. */
		if (e->due > now + LAST_DELAY)
			e->due = now;
		if (e->due > now) {
			if (e->due < *until)
				*until = e->due;
			continue;
		}
		jobs[n].job_id = e->job_id;
		jobs[n].text = strdup(e->text);
		memcpy(jobs[n].sale, e->sale, sizeof(jobs[n].sale));
		jobs[n].settled = e->final ? e->since : 0;
		serials[n] = e->serial;
		if (jobs[n].text)
			n++;
	}
	return n;
}

/*
 * One question for all, then one change for each row that is there and says something else. Each
 * holds the lock of slurmctld's connection, for which slurmctld's own messages about jobs wait, so
 * they get as much time in between.
 */
static void deliver(struct auc_accounting_row *jobs, const uint64_t *serials, unsigned n)
{
	struct auc_err err = {.code = AUC_OK};
	double since = auc_site_elapsed();

	if (!auc_accounting_present()) {
		for (unsigned i = 0; i < n; i++)
			jobs[i].found = jobs[i].ended = jobs[i].same = true;
	} else if (auc_accounting_look(jobs, n, &err)) {
		for (unsigned i = 0; i < n; i++)
			jobs[i].found = jobs[i].ended = jobs[i].same = jobs[i].other =
				jobs[i].behind = false;
		receipts.doubt = auc_site_elapsed() + DOUBT; /* this thread's alone */
	}
	breathe(since);
	for (unsigned i = 0; i < n; i++)
		answered(&jobs[i], serials[i], &err);
}

/* Waits for as long as it is since SINCE, a time of auc_site_elapsed(), but for a second at most.
 */
static void breathe(double since)
{
	double wait = auc_site_elapsed() - since;
	struct timespec ts;

	if (wait < 0 || wait > 1)
		wait = 1;
	ts.tv_sec = (time_t)wait;
	ts.tv_nsec = (long)((wait - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

/* Takes note of what the database said of one job, and changes its row where that is needed. */
static void answered(const struct auc_accounting_row *job, uint64_t serial,
		     const struct auc_err *why)
{
	struct auc_err err = *why;
	bool set = false, sure = auc_site_elapsed() >= receipts.doubt, over, stop;
	struct entry *e;
	double now, since;

	pthread_mutex_lock(&receipts.lock);
	stop = receipts.stop;
	for (e = receipts.list; e && e->serial != serial; e = e->next)
		;
	/* Before slurmctld's own row for the end is there, a final receipt would be overwritten by
	 * it. */
	if (e && !stop) {
		now = auc_site_now();
		over = job->ended || !e->final || now - e->since > LATE;
		set = job->found && !job->same && over;
		/* Should slurmctld write the end all the same, it is to be found out. */
		e->done = job->same && over &&
			  ((job->ended && sure) || !e->final || now - e->since > KEEP);
		/* slurmctld forgot the job and gave its number again: there is no row for it. */
		if (set && job->other && !job->behind) {
			e->done = e->final;
			set = false;
		}
		e->due = now + (job->same ? RECHECK : e->delay);
		if (now - e->since > PATIENCE)
			e->delay = e->delay * 2 < LAST_DELAY ? e->delay * 2 : LAST_DELAY;
		if (!e->done && !set && e->delay >= LAST_DELAY)
			complain("receipt of job %u not delivered: %s", e->job_id,
				 err.code     ? err.text
				 : job->found ? "its end is not in the accounting database yet"
					      : "it is not in the accounting database");
		receipts.dirty |= e->done && e->final;
	}
	pthread_mutex_unlock(&receipts.lock);
	if (!set)
		return;
	since = auc_site_elapsed();
	if (auc_accounting_set(job, &err))
		complain("%s", err.text);
	breathe(since);
}

/* Once, and now and then while it goes on. */
static void complain(const char *format, ...)
{
	static struct auc_retry_said said; /* of this thread alone */
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (auc_retry_say(&said, text, auc_site_elapsed() + 1))
		slurm_error("sched/auction: %s", text);
}

/* Drops what is delivered or hopeless and old enough. */
static void expire(double now)
{
	static double keep = KEEP; /* under the lock, as the list */
	uint32_t age = slurm_conf.min_job_age;
	struct entry **at, *e;

	/* While slurmctld still has the job's record, the record may come back from before the
	 * settlement. The longest that was seen: while slurmctld reads slurm.conf again, it may be
	 * 0 or unset. */
	if (age < NO_VAL && 2.0 * age + 60 > keep)
		keep = 2.0 * age + 60;
	for (at = &receipts.list; (e = *at);) {
		if ((e->done && (!e->final || now - e->since > keep)) ||
		    now - e->since > keep + GIVE_UP) {
			receipts.dirty |= e->final;
			if (!e->done)
				slurm_error("sched/auction: job %u: the accounting database never "
					    "took its receipt: %s",
					    e->job_id, e->text);
			*at = e->next;
			entry_free(e);
		} else {
			at = &e->next;
		}
	}
}

static void clear(void)
{
	while (receipts.list) {
		struct entry *e = receipts.list;

		receipts.list = e->next;
		entry_free(e);
	}
	receipts.dirty = false;
}

static void entry_free(struct entry *e)
{
	free(e->text);
	free(e->json);
	free(e);
}
