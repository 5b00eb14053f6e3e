/*
 * agent.c - see agent.h. One thread, one cycle: look (the ledger's sales, Slurm's records of their
 * jobs: look.c), step each sale's machine and book what it says (book.c, exec.h), make that
 * durable, then act on it (act.c). Nothing is done for a sale before the spool has it, and a
 * settlement's receipt is on disk before it: doc/executor.md.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/num.h"
#include "sched/auction/agent.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/canceller.h"
#include "sched/auction/job_change.h"
#include "sched/auction/fence.h"
#include "sched/auction/fitter.h"
#include "sched/output/accounting.h"
#include "sched/output/kept_files.h"
#include "sched/output/mail.h"
#include "sched/auction/power.h"
#include "sched/output/receipts.h"
#include "sched/rpc/answered.h"
#include "sched/auction/start/settling.h"
#include "sched/auction/slurm_rules.h"
#include "adapter/site.h"

#define CYCLE_IDLE  0.5  /* nothing is; new liens are found this soon */
#define TURNS_EVERY 0.02 /* tasks of an array are being decided */
#define PASS_MAX    1.0  /* seconds that a cycle may ask things of Slurm; the rest comes next */
#define KEEP_EVERY  1.0  /* seconds between looks at what fences and power saving need */
#define RETRY       1.0  /* seconds before what failed in a cycle is tried again */
#define AHEAD       30.0 /* seconds before its slot a member is submitted */
#define GRACE       15.0 /* seconds a job may start late before the sale counts as failed, at least */
#define PATIENCE    4.0 /* seconds a node may be down before another takes its place */
#define AGAIN       0.5 /* seconds between nudges of a job, or kills */
#define BEGINS      1.5 /* seconds until Slurm begins what waited for its node to be heard of */
#define SETTLE      3.0 /* seconds until a script that has just begun can be told something */
#define TRIES       5   /* to submit a member */
#define STOP_WAIT   6   /* seconds for all threads to end: an RPC that changes a job may take 5 s */
#define CLOCK_STEP  0.5 /* seconds: less is what keeps a clock right */
#define CLOCK_READ  0.01 /* seconds that reading two clocks may take */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread, late; /* ends what did not end in time */
	bool running, stop, reconfigure;
	bool ended;   /* the thread has */
	bool is_late; /* there is one that ends the others */
	struct auc_agent a;
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static struct timespec stop_until(void);
static bool end_threads(const struct timespec *until);
static void *end_late(void *arg);
static bool is_stopped(void);
static void *agent_main(void *arg);
static double turn(struct auc_agent *a, bool changed, double now);
static void follow_clock(struct auc_agent *a);
static void check_version(struct auc_agent *a);
static void reload(struct auc_agent *a, double now);
static void mark_all(struct auc_agent *a, double now);
static enum auc_code take_key(struct auc_agent *a, struct auc_err *err);
static bool open_spool(struct auc_agent *a, double now);
static void open_up(struct auc_agent *a, double now);
static double cycle(struct auc_agent *a, double now);
static void say_evidence(struct auc_agent *a);
static void write_status(struct auc_agent *a, double now);
static void find_dir(const struct auc_conf *conf, char *dir, size_t size);
static void take_rules(struct auc_agent *a);
static void act_all(struct auc_agent *a, double now);
static void count_states(struct auc_agent *a);
static double next_wake(struct auc_agent *a, double now);

enum auc_code auc_agent_start(uint32_t built, struct auc_err *err)
{
	enum auc_code code;
	int rc;

	if (agent.is_late) {
		struct timespec until = stop_until();

		if (pthread_timedjoin_np(agent.late, NULL, &until))
			return auc_err_set(err, AUC_ESTATE, "the last agent has not ended yet");
		agent.is_late = false;
	}
	if (agent.running)
		return AUC_OK;
	code = auc_site_get(built, err);
	if (code)
		return code;
	auc_accounting_read_slurm_conf();
	auc_accounting_open();
	auc_tasks_read_slurm_conf();
	auc_mail_read_slurm_conf();
	auc_rpc_answered_at(slurm_conf.slurmctld_port, slurm_conf.slurmctld_port_count);
	agent.stop = agent.reconfigure = agent.ended = false;
	auc_site_gate("it is starting; try again in some seconds", true);
	auc_site_attach(true);
	rc = pthread_create(&agent.thread, NULL, agent_main, NULL);
	if (rc) {
		auc_site_attach(false);
		auc_site_put();
		return auc_err_set(err, AUC_EIO, "no thread: %s", strerror(rc));
	}
	pthread_setname_np(agent.thread, "auction_agent");
	agent.running = true;
	return AUC_OK;
}

void auc_agent_stop(void)
{
	struct timespec until = stop_until();

	if (agent.is_late || !agent.running)
		return;
	auc_site_gate("it is being stopped", false);
	pthread_mutex_lock(&agent.lock);
	agent.stop = true;
	pthread_cond_signal(&agent.wake);
	pthread_mutex_unlock(&agent.lock);
	auc_accounting_close(&until);
	do
		auc_rpc_answered_no_more();
	while (!end_threads(&(struct timespec){.tv_sec = time(NULL) + 1}) &&
	       time(NULL) < until.tv_sec);
	if (!agent.running)
		return;
	/* What is committed is safe; a slurmctld that takes over waits for the spool. */
	slurm_error("sched/auction: the agent did not stop within %d s and was abandoned",
		    STOP_WAIT);
	auc_status_shut();
	agent.is_late = !pthread_create(&agent.late, NULL, end_late, NULL);
}

static struct timespec stop_until(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (struct timespec){.tv_sec = now.tv_sec + STOP_WAIT, .tv_nsec = now.tv_nsec};
}

/* True if all threads have ended before UNTIL, and what they had is free. */
static bool end_threads(const struct timespec *until)
{
	if (!agent.ended && pthread_timedjoin_np(agent.thread, NULL, until))
		return false;
	agent.ended = true;
	if (!auc_fitter_stop(until) || !auc_receipts_stop(until) || !auc_mail_stop(until) ||
	    !auc_job_change_stop(&agent.a, until) || !auc_slurm_rules_stop(&agent.a, until))
		return false;
	/* Whose records changes have read. */
	auc_array_clear(&agent.a);
	auc_site_attach(false);
	/* job_submit may keep the auction, as on a backup controller that gives way: the spool is
	 * the other's then. */
	if (agent.a.spool_open)
		auc_auction_close_spool(agent.a.auction);
	agent.a.spool_open = false;
	auc_site_put();
	agent.a.auction = NULL;
	agent.running = false;
	return true;
}

static void *end_late(void *arg)
{
	(void)arg;
	for (struct timespec until = stop_until(); !end_threads(&until); until = stop_until())
		;
	slurm_info("sched/auction: the abandoned agent has ended");
	return NULL;
}

void auc_agent_reconfigure(void)
{
	auc_site_read_slurm_conf();
	auc_accounting_read_slurm_conf();
	auc_tasks_read_slurm_conf();
	auc_mail_read_slurm_conf();
	pthread_mutex_lock(&agent.lock);
	agent.reconfigure = true;
	pthread_cond_signal(&agent.wake);
	pthread_mutex_unlock(&agent.lock);
}

void auc_agent_complain(struct auc_agent *a, enum auc_agent_error kind, const struct auc_err *err)
{
	if (!auc_rpc_answered())
		return;
	a->stats.errors[kind]++;
	if (auc_retry_say(&a->said, err->text, auc_site_elapsed()))
		slurm_error("sched/auction: %s", err->text);
}

bool auc_agent_say(struct auc_agent *a, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!auc_retry_say(&a->said, text, auc_site_elapsed()))
		return false;
	slurm_info("sched/auction: %s", text);
	return true;
}

/* True if slurmctld is being stopped, which it tells its plugins some time after it has ceased to
 * answer. */
static bool is_stopped(void)
{
	pthread_mutex_lock(&agent.lock);
	bool stop = agent.stop;
	pthread_mutex_unlock(&agent.lock);
	return stop || !auc_rpc_answered();
}

static void *agent_main(void *arg)
{
	struct auc_agent *a = &agent.a;

	(void)arg;
	auc_rpc_answered_await();
	a->since = auc_site_elapsed();
	memset(&a->said, 0, sizeof(a->said));
	a->unsaved = false;
	a->next_try = a->wait = 0;
	a->missing[0] = a->unread[0] = '\0';
	auc_settling_clear(a);
	check_version(a);
	pthread_mutex_lock(&agent.lock);
	while (!agent.stop) {
		bool changed = agent.reconfigure;
		struct timespec until;
		double wake;

		agent.reconfigure = false;
		pthread_mutex_unlock(&agent.lock);
		wake = turn(a, changed, auc_site_now());
		pthread_mutex_lock(&agent.lock);
		/* A clock that is set back makes nothing wait longer. */
		wake += auc_site_elapsed() - auc_site_now();
		until.tv_sec = (time_t)wake;
		until.tv_nsec = (long)((wake - (double)until.tv_sec) * 1e9);
		if (!agent.stop && !agent.reconfigure)
			pthread_cond_clockwait(&agent.wake, &agent.lock, CLOCK_MONOTONIC, &until);
	}
	pthread_mutex_unlock(&agent.lock);
	if (a->ready) {
		auc_book_commit(a);
		write_status(a, auc_site_now());
	}
	auc_tasks_clear(&a->tasks);
	auc_fence_clear(a);
	auc_power_clear(a);
	auc_settling_clear(a);
	auc_agent_forget_nodes(a);
	free(a->loaded);
	free(a->owners);
	a->loaded = NULL;
	a->owners = NULL;
	a->loaded_alloc = a->nowners = a->owners_alloc = 0;
	free(a->protected);
	a->protected = NULL;
	a->nprotected = 0;
	a->ready = false;
	return NULL;
}

/* Returns when the next is due. */
static double turn(struct auc_agent *a, bool changed, double now)
{
	if (!auc_rpc_answered())
		return now + RETRY;
	follow_clock(a);
	if (changed)
		reload(a, now);
	if (!a->ready && (changed || now >= a->next_try))
		open_up(a, now);
	auc_settling_start_backfill(a);
	return a->ready ? cycle(a, now) : now + RETRY;
}

/*
 * How far the clock is ahead of the one that nobody sets, both read in one moment: a thread that
 * was put aside between the two readings would see a clock that was set.
 */
static double clock_ahead(void)
{
	double before, now, after;

	do {
		before = auc_site_elapsed();
		now = auc_site_now();
		after = auc_site_elapsed();
	} while (after - before > CLOCK_READ);
	return now - before;
}

/* When the clock was set, what is to be done some time from now is still to be done then. */
static void follow_clock(struct auc_agent *a)
{
	double ahead = clock_ahead(), step = ahead - a->clock;

	if (fabs(step) < CLOCK_STEP)
		return;
	if (a->clock != 0) {
		slurm_info("sched/auction: the clock was set by %.1f s", step);
		a->next_nodes = a->next_seldom = a->next_keep = a->next_try = 0;
		auc_look_reset(a);
		for (struct auc_task *t = a->tasks.list; t; t = t->next) {
			auc_exec_shift(&t->exec, step);
			t->receipt_next += step;
		}
		auc_fence_shift(a, step);
	}
	a->clock = ahead;
}

/* slurmctld loads no plugin of another release; this tells builds of patched packages apart. */
static void check_version(struct auc_agent *a)
{
	char running[64];
	struct auc_err err;

	if (auc_rpc_version(running, sizeof(running), &err))
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
	else if (strcmp(running, BUILT_FOR_SLURM))
		slurm_error("sched/auction: built for Slurm %s, running in %s", BUILT_FOR_SLURM,
			    running);
}

static void reload(struct auc_agent *a, double now)
{
	struct auc_err err;
	enum auc_code code = auc_site_reload(now, &err);

	/* Who has changed something wants to hear soon what is still wrong. */
	memset(&a->said, 0, sizeof(a->said));
	a->wait = 0;
	a->changed = true;
	a->unread[0] = '\0';
	if (code && code != AUC_EFULL) {
		snprintf(a->unread, sizeof(a->unread), "configuration not reloaded: %.400s",
			 err.text);
		slurm_error("sched/auction: %s", a->unread);
		return;
	}
	a->calm_until = 0; /* the rules are others */
	slurm_info("sched/auction: configuration reloaded%s%s", code ? ", but " : "",
		   code ? err.text : "");
	if (auc_site_keep(a->dir, &err))
		auc_agent_complain(a, AUC_ERROR_COMMIT, &err);
	if (a->spool_open) {
		char dir[sizeof(a->dir)];

		find_dir(auc_auction_conf(a->auction), dir, sizeof(dir));
		if (strcmp(dir, a->dir))
			slurm_error("sched/auction: SpoolDir=%s: in force after a restart of "
				    "slurmctld; until then it is %s as before",
				    dir, a->dir);
	}
	auc_agent_refresh_nodes(a, now, true);
}

static void mark_all(struct auc_agent *a, double now)
{
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		auc_agent_mark_down(a, t, now);
	a->calm_nodes = a->nodes;
}

/* What is bid is sealed in receipts. Without the spool and with another key nobody can read it. */
static enum auc_code take_key(struct auc_agent *a, struct auc_err *err)
{
	char path[PATH_MAX];
	struct auc_seal *seal;
	enum auc_code code;
	bool fresh;

	snprintf(path, sizeof(path), "%.4000s/auction.key", auc_site_state_dir());
	fresh = access(path, F_OK) && errno == ENOENT;
	code = auc_seal_open_key(path, &seal, err);
	if (code)
		return code;
	auc_auction_set_seal(a->auction, seal);
	if (fresh)
		slurm_info("sched/auction: %s: a new key for the bids in receipts was made", path);
	return AUC_OK;
}

/* False: it cannot be, and bids are refused for that reason. */
static bool open_spool(struct auc_agent *a, double now)
{
	struct auc_spool_report report = {0};
	enum auc_code code;
	struct auc_err err;

	find_dir(auc_auction_conf(a->auction), a->dir, sizeof(a->dir));
	code = auc_kept_files_check(a->dir, auc_site_state_dir(), &err);
	if (!code)
		code = take_key(a, &err);
	if (!code)
		code = auc_auction_open_spool(a->auction, a->dir, now, &report, &err);
	if (code && code != AUC_EFULL)
		auc_site_gate(err.text, false);
	/* A sale that no longer fits stays sold; its job shows whether it can run. */
	if (code)
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
	if (code && code != AUC_EFULL)
		return false;
	a->spool_open = true;
	slurm_info("sched/auction: spool %s: %llu + %llu records, %llu bytes of an unfinished "
		   "commit cut off",
		   a->dir, (unsigned long long)report.snapshot_records,
		   (unsigned long long)report.journal_records,
		   (unsigned long long)report.torn_bytes);
	if (report.skipped)
		slurm_error("sched/auction: %llu record%s that prices learn from %s of no use and "
			    "left out, the first: %s",
			    (unsigned long long)report.skipped, auc_plural((double)report.skipped),
			    report.skipped == 1 ? "is" : "are", report.why);
	if (auc_site_keep(a->dir, &err))
		auc_agent_complain(a, AUC_ERROR_COMMIT, &err);
	return true;
}

/* Nodes, spool, records: everything that must be in agreement before bids are taken. Tried until it
 * works, more and more seldom (retry.h), as each time slurmctld is asked for all that it knows. */
static void open_up(struct auc_agent *a, double now)
{
	struct auc_sale_view *views;
	struct auc_err err;
	unsigned n;

	a->wait = auc_retry_wait(a->wait);
	a->next_try = now + a->wait;
	a->auction = auc_site_enter(&err);
	if (!a->auction) {
		auc_site_gate(err.text, false);
		goto closed;
	}
	auc_site_leave();
	/* To recover the state may take a while. */
	write_status(a, now);
	if (auc_site_keep(a->dir, &err))
		auc_agent_complain(a, AUC_ERROR_COMMIT, &err);
	if (!auc_agent_refresh_nodes(a, now, true)) {
		auc_site_gate(a->unknown.text, false);
		goto closed;
	}
	if (!a->spool_open && !open_spool(a, now))
		goto closed;
	if (auc_receipts_start(a->dir, &err) || auc_job_change_start(a, &err) ||
	    auc_auction_sales(a->auction, &views, &n, &err)) {
		auc_site_gate(err.text, false);
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		goto closed;
	}
	for (unsigned i = 0; i < n; i++) {
		/* Still live, so its settlement was not committed: it will be settled again. */
		auc_receipts_forget(views[i].sale);
		auc_sale_view_clear(&views[i]);
	}
	free(views);
	if (auc_fitter_start(a->auction, &err) || auc_mail_start(&err))
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
	auc_look_reset(a);
	a->edition = 0;
	a->opened = false;
	a->ready = true;
	a->wait = 0;
	return;
closed:
	/* What a job without a bid may enter depends on them. */
	if (!a->auction)
		auc_agent_see_partitions(a, now);
	auc_look_protect();
	write_status(a, now);
}

/* One round; returns when the next is due. */
static double cycle(struct auc_agent *a, double now)
{
	enum auc_look kind;
	bool looked;

	say_evidence(a);
	take_rules(a);
	auc_job_change_done(a, now);
	if (!auc_book_sync(a))
		return now + RETRY;
	a->calm = now < a->calm_until && a->edition == a->calm_edition && a->nodes == a->calm_nodes;
	if (!a->calm)
		mark_all(a, now);
	kind = auc_look_due(a, now);
	looked = kind != AUC_LOOK_NONE && auc_look_load(a, now, kind);
	a->nodes_fresh = false;
	/* A record can be newer than the list of sales: its lien is in the next one. */
	if (looked && !auc_book_sync(a)) {
		auc_look_free(a);
		return now + RETRY;
	}
	if (looked) {
		auc_look_see(a, now);
		for (struct auc_task *t = a->tasks.list; t; t = t->next) {
			auc_agent_mark_down(a, t, now);
			auc_agent_mark_unheard(a, t);
			auc_canceller_keep(a, t);
			auc_book_step(a, t, now);
		}
	}
	if (auc_auction_tick(a->auction, now))
		a->changed = true;
	if (auc_auction_fit_due(a->auction, now))
		auc_fitter_ask();
	auc_book_revise(a, now);
	if (a->opened)
		auc_stand_keep(a, now);
	auc_book_commit(a);
	/* Jobs may be another slurmctld's now. */
	if (is_stopped()) {
		auc_look_free(a);
		return now;
	}
	if (looked || now >= a->next_keep) {
		a->next_keep = now + KEEP_EVERY;
		auc_fence_keep(a, now);
		auc_power_keep(a, now);
	}
	auc_slurm_rules_keep(a, now);
	if (looked) {
		act_all(a, now);
		auc_agent_drop_finished(a);
		auc_agent_protect(a);
		auc_look_free(a);
		if (kind == AUC_LOOK_ALL && !a->opened) {
			a->opened = true;
			auc_site_gate(NULL, false);
		}
	}
	auc_settling_lift(a);
	if (auc_agent_nodes_due(a, now))
		auc_agent_refresh_nodes(a, now, false);
	if (!a->calm)
		count_states(a);
	auc_series_add(&a->stats.cycles, auc_site_now() - now);
	write_status(a, now);
	return next_wake(a, now);
}

/* A check of the books has failed, in whatever thread: said once. */
static void say_evidence(struct auc_agent *a)
{
	const char *evidence = auc_check_evidence();

	if (!evidence || a->said_evidence)
		return;
	a->said_evidence = true;
	a->changed = true;
	slurm_error("sched/auction: no bids until slurmctld is restarted: %s", evidence);
}

/* Before there is a spool, where it is to be; without an auction, where the last one was. */
static void write_status(struct auc_agent *a, double now)
{
	struct auc_conf *kept = a->auction ? NULL : auc_site_kept();
	const struct auc_conf *conf = a->auction ? auc_auction_conf(a->auction) : kept;
	struct auc_status_files files = {a->dir, conf ? conf->public_status : NULL,
					 *a->unread ? a->unread : a->missing};
	struct auc_err err;

	if (!a->spool_open) {
		find_dir(conf, a->dir, sizeof(a->dir));
		mkdir(a->dir, 0700);
	}
	if (auc_status_write(&files, a->auction, now, a->changed, &a->stats, &err) > 0)
		a->changed = false;
	if (err.code)
		auc_agent_complain(a, AUC_ERROR_COMMIT, &err);
	auc_conf_free(kept);
}

/* Where the spool is to be; CONF may be NULL. */
static void find_dir(const struct auc_conf *conf, char *dir, size_t size)
{
	if (conf && conf->spool_dir)
		snprintf(dir, size, "%s", conf->spool_dir);
	else
		snprintf(dir, size, "%.4000s/auction", auc_site_state_dir());
}

static void take_rules(struct auc_agent *a)
{
	const struct auc_conf *conf = auc_auction_conf(a->auction);
	double tenth = conf->slot_seconds / 10, back = a->heard ? a->back : auc_site_elapsed();

	a->rules = (struct auc_exec_rules){
		.end_margin = conf->end_margin,
		.notice = conf->change_notice,
		.ahead = AHEAD,
		.grace = conf->slot_seconds / 4 > GRACE ? conf->slot_seconds / 4 : GRACE,
		.patience = PATIENCE,
		.late = conf->late_start +
			(conf->start_margin > tenth ? conf->start_margin : tenth),
		.begins = BEGINS,
		.since = back + a->clock,
		.from = a->since + a->clock,
		.settle = SETTLE,
		.again = AGAIN,
		.tries = TRIES,
	};
}

/* Sales that there is no time for come first in the next cycle. */
static void act_all(struct auc_agent *a, double now)
{
	double until = auc_site_now() + PASS_MAX;
	struct auc_task *first = a->tasks.list, **at, *t;

	a->stats.postponed = 0;
	for (at = &a->tasks.list; (t = *at) && auc_site_now() < until; at = &t->next)
		auc_act(a, t, now);
	for (struct auc_task *r = first; r && auc_site_now() < until; r = r->next)
		auc_act_receipt(a, r, now);
	if (!t || t == first)
		return;
	*at = NULL;
	a->tasks.list = t;
	for (at = &a->tasks.list; *at; at = &(*at)->next)
		a->stats.postponed++;
	*at = first;
}

static void count_states(struct auc_agent *a)
{
	memset(a->stats.states, 0, sizeof(a->stats.states));
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		a->stats.states[t->exec.state]++;
}

/* The next regular cycle, or sooner if a sale's clock asks for something. */
static double next_wake(struct auc_agent *a, double now)
{
	double later = auc_site_now(), next = INFINITY;
	/* As long as nodes come back after a start, it is open what was missed. */
	bool busy = auc_settling_opens(a), calm = a->edition != 0 && !auc_settling_lasts(a);

	if (auc_array_busy(a))
		return later + TURNS_EVERY;
	if (a->calm)
		return fmin(later + CYCLE_IDLE, a->calm_until);
	for (const struct auc_task *t = a->tasks.list; t; t = t->next) {
		bool near = t->exec.state == AUC_EXEC_LIEN || auc_look_near(a, t, later);

		busy |= near;
		calm = calm && !near && !t->receipt && !auc_look_trouble(a, t, later);
		next = fmin(next, auc_exec_next(&t->exec, &a->rules, now));
	}
	a->calm_until = calm ? next - AUC_SOON : 0;
	a->calm_edition = a->edition;
	return fmin(later + (busy ? AUC_SOON : CYCLE_IDLE), next + 0.01);
}
