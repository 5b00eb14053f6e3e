/*
 * agent.c - see agent.h. One thread, one cycle: look (the ledger's sales, Slurm's records of their
 * jobs), decide what has happened (confirmed, started, ended), make that durable, then act on it
 * (receipts, members, starts, ends). Nothing is done for a sale before the spool has it, and a
 * settlement's receipt is on disk before the settlement is.
 *
 * A job record is trusted for what Slurm alone writes: id, user, state, AdminComment. Ledger and
 * records are brought into agreement at the start and once a minute: a record with a receipt that
 * the ledger does not know is sold again as it stood, a sale without a record is settled as lost.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "auction.h"
#include "control.h"
#include "desc.h"
#include "nodes.h"
#include "receipt.h"
#include "receipts.h"
#include "site.h"
#include "status.h"
#include "tasks.h"

#define CYCLE_BUSY    0.25 /* seconds between cycles: something is about to happen */
#define CYCLE_IDLE    0.5  /* nothing is; new liens are found this soon */
#define LOOK_EVERY    1.0  /* seconds between looks at jobs that only run */
#define NODES_EVERY   10.0
#define RECORDS_EVERY 60.0 /* seconds between looks at all jobs */
#define RETRY         1.0  /* seconds before what failed at the start is tried again */
#define AGAIN                                                                                      \
	0.5 /* seconds between nudges of a job that should start, or kills of one that should not  \
	       run */
#define MEMBER_GRACE                                                                               \
	15.0 /* seconds a member may start later than its lead before the sale counts as failed */
#define MEMBER_TRIES 5
#define STOP_WAIT    5  /* seconds an RPC gets at the end */
#define USERS_MAX    32 /* more users than this: load all jobs in one RPC */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool running, stop, reconfigure;
	/* the thread's own */
	struct auc_auction *auction; /* of the site */
	bool spool_open, ready, commit_ok, changed;
	bool opened; /* all records were seen once; bids are taken */
	char dir[PATH_MAX];
	struct auc_task *tasks;
	unsigned cycle;
	job_info_msg_t *loaded[USERS_MAX + 1];
	unsigned nloaded;
	double next_look, next_nodes, next_records, next_try;
	struct auc_server_spec *servers;
	unsigned nservers;
	uint32_t *protected;
	unsigned nprotected;
	struct auc_err said; /* the last complaint, so that it is not repeated each second */
	struct auc_cycle_stats stats;
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *agent_main(void *arg);
static void complain(const struct auc_err *err);
static void check_version(void);
static void reload(double now);
static bool refresh_nodes(double now, bool force);
static void open_up(double now);
static void protect_by_receipts(void);
static double cycle(double now);
static bool sync_tasks(double now);
static bool load_jobs(double now, bool all);
static void free_jobs(void);
static bool busy(double now);
static void see_all(void);
static void see(const slurm_job_info_t *info);
static bool has_lien(uint32_t uid);
static void see_member(const slurm_job_info_t *info, const struct auc_receipt *r);
static void see_lead(const slurm_job_info_t *info, const struct auc_receipt *r);
static void adopt(const slurm_job_info_t *info, const struct auc_receipt *r);
static void void_receipt(const slurm_job_info_t *info, const char *why);
static void decide(struct auc_task *t, double now);
static void decide_lien(struct auc_task *t);
static void know_lead(struct auc_task *t);
static void decide_running(struct auc_task *t, double now);
static void settle(struct auc_task *t, const char *why, double when);
static const char *why_finished(const struct auc_task *t, const slurm_job_info_t *info);
static const char *why_state(const slurm_job_info_t *info);
static const char *group_broken(const struct auc_task *t, double now);
static void commit(void);
static void act(struct auc_task *t, double now);
static void write_receipt(struct auc_task *t);
static void submit_members(struct auc_task *t, double now);
static void nudge(struct auc_task_job *job, double now);
static void kill_job(struct auc_task_job *job, double now);
static void end_task(struct auc_task *t, double now);
static void drop_finished_tasks(void);
static void publish_protected(void);
static double next_wake(double now);
static double margin(void);

enum auc_code auc_agent_start(uint32_t built, struct auc_err *err)
{
	enum auc_code code;

	if (agent.running)
		return AUC_OK;
	code = auc_site_get(built, err);
	if (code)
		return code;
	agent.stop = agent.reconfigure = false;
	auc_site_gate("it is starting; try again in some seconds");
	auc_site_attach(true);
	if (pthread_create(&agent.thread, NULL, agent_main, NULL)) {
		auc_site_attach(false);
		auc_site_put();
		return auc_err_set(err, AUC_EIO, "no thread: %s", strerror(errno));
	}
	agent.running = true;
	return AUC_OK;
}

void auc_agent_stop(void)
{
	struct timespec until;

	if (!agent.running)
		return;
	auc_site_gate("it is being stopped");
	pthread_mutex_lock(&agent.lock);
	agent.stop = true;
	pthread_cond_signal(&agent.wake);
	pthread_mutex_unlock(&agent.lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_WAIT;
	if (pthread_timedjoin_np(agent.thread, NULL, &until) || !auc_receipts_stop()) {
		/* slurmctld no longer answers RPCs and is ending. Everything committed is safe. */
		slurm_error("sched/auction: the agent does not end in %d s and is left behind",
			    STOP_WAIT);
		return;
	}
	agent.running = false;
	auc_site_attach(false);
	if (auc_site_put())
		agent.spool_open = false;
	agent.auction = NULL;
}

void auc_agent_reconfigure(void)
{
	auc_site_read_slurm_conf();
	pthread_mutex_lock(&agent.lock);
	agent.reconfigure = true;
	pthread_cond_signal(&agent.wake);
	pthread_mutex_unlock(&agent.lock);
}

static void *agent_main(void *arg)
{
	(void)arg;
	check_version();
	pthread_mutex_lock(&agent.lock);
	while (!agent.stop) {
		bool changed = agent.reconfigure;
		double now = auc_site_now(), wake = now + RETRY;
		struct timespec until;

		agent.reconfigure = false;
		pthread_mutex_unlock(&agent.lock);
		if (changed)
			reload(now);
		if (!agent.ready && (changed || now >= agent.next_try))
			open_up(now);
		if (agent.ready)
			wake = cycle(now);
		pthread_mutex_lock(&agent.lock);
		until.tv_sec = (time_t)wake;
		until.tv_nsec = (long)((wake - (double)until.tv_sec) * 1e9);
		if (!agent.stop && !agent.reconfigure)
			pthread_cond_timedwait(&agent.wake, &agent.lock, &until);
	}
	pthread_mutex_unlock(&agent.lock);
	if (agent.ready)
		commit();
	while (agent.tasks) {
		struct auc_task *t = agent.tasks;

		agent.tasks = t->next;
		auc_task_free(t);
	}
	free(agent.servers);
	agent.servers = NULL;
	agent.nservers = 0;
	free(agent.protected);
	agent.protected = NULL;
	agent.nprotected = 0;
	agent.ready = false;
	return NULL;
}

/* Logs what goes wrong again and again once. */
static void complain(const struct auc_err *err)
{
	if (!strcmp(agent.said.text, err->text))
		return;
	agent.said = *err;
	slurm_error("sched/auction: %s", err->text);
}

/* slurmctld loads no plugin of another release; this tells builds of patched packages apart. */
static void check_version(void)
{
	char running[64];
	struct auc_err err;

	if (auc_control_version(running, sizeof(running), &err))
		complain(&err);
	else if (strcmp(running, BUILT_FOR_SLURM))
		slurm_error("sched/auction: built for Slurm %s, running in %s", BUILT_FOR_SLURM,
			    running);
}

static void reload(double now)
{
	struct auc_err err;
	enum auc_code code = auc_site_reload(now, &err);

	if (code && code != AUC_EFULL) {
		slurm_error("sched/auction: configuration not reloaded: %s", err.text);
		return;
	}
	slurm_info("sched/auction: configuration reloaded%s%s", code ? ", but " : "",
		   code ? err.text : "");
	refresh_nodes(now, true);
}

/* Tells the auction when nodes or partitions changed; true if it knows them. */
static bool refresh_nodes(double now, bool force)
{
	partition_info_msg_t *partitions;
	struct auc_server_spec *servers;
	node_info_msg_t *nodes;
	struct auc_err err;
	enum auc_code code;
	unsigned n;

	agent.next_nodes = now + NODES_EVERY;
	if (!agent.auction)
		return false;
	if (auc_control_load_nodes(&nodes, &partitions, &err)) {
		complain(&err);
		return false;
	}
	for (uint32_t i = 0; i < partitions->record_count; i++)
		if (partitions->partition_array[i].flags & PART_FLAG_DEFAULT)
			auc_site_set_default_partition(partitions->partition_array[i].name);
	code = auc_nodes_servers(auc_auction_conf(agent.auction), nodes, partitions, &servers, &n,
				 &err);
	slurm_free_node_info_msg(nodes);
	slurm_free_partition_info_msg(partitions);
	if (code)
		complain(&err);
	if (code == AUC_ENOMEM)
		return false;
	if (!force && agent.servers && n == agent.nservers &&
	    !memcmp(servers, agent.servers, n * sizeof(*servers))) {
		free(servers);
		return true;
	}
	free(agent.servers);
	agent.servers = servers;
	agent.nservers = n;
	agent.changed = true;
	code = auc_auction_set_servers(agent.auction, servers, n, now, &err);
	if (code)
		complain(&err);
	else
		slurm_info("sched/auction: %u nodes are for sale", n);
	return code == AUC_OK || code == AUC_EFULL;
}

/* Nodes, spool, records: everything that must be in agreement before bids are taken. Tried until it
 * works. */
static void open_up(double now)
{
	struct auc_spool_report report = {0};
	struct auc_sale_view *views;
	enum auc_code code;
	struct auc_err err;
	unsigned n;

	agent.next_try = now + RETRY;
	agent.auction = auc_site_enter(&err);
	if (!agent.auction) {
		auc_site_gate(err.text);
		goto closed;
	}
	auc_site_leave();
	if (!refresh_nodes(now, true))
		goto closed;
	if (!agent.spool_open) {
		const struct auc_conf *conf = auc_auction_conf(agent.auction);

		if (conf->spool_dir)
			snprintf(agent.dir, sizeof(agent.dir), "%s", conf->spool_dir);
		else
			snprintf(agent.dir, sizeof(agent.dir), "%.4000s/auction",
				 auc_site_state_dir());
		code = auc_auction_open_spool(agent.auction, agent.dir, now, &report, &err);
		if (code && code != AUC_EFULL) {
			auc_site_gate(err.text);
			complain(&err);
			goto closed;
		}
		/* A sale that no longer fits stays sold; its job shows whether it can run. */
		if (code)
			complain(&err);
		agent.spool_open = true;
		slurm_info("sched/auction: spool %s: %llu + %llu records, %llu bytes of an "
			   "unfinished commit cut off",
			   agent.dir, (unsigned long long)report.snapshot_records,
			   (unsigned long long)report.journal_records,
			   (unsigned long long)report.torn_bytes);
	}
	if (auc_receipts_start(agent.dir, &err) ||
	    auc_auction_sales(agent.auction, &views, &n, &err)) {
		auc_site_gate(err.text);
		complain(&err);
		goto closed;
	}
	for (unsigned i = 0; i < n; i++) {
		/* Still live, so its settlement was not committed: it will be settled again. */
		auc_receipts_forget(views[i].sale);
		auc_sale_view_clear(&views[i]);
	}
	free(views);
	agent.next_records = 0;
	agent.opened = false;
	agent.ready = true;
	return;
closed:
	protect_by_receipts();
}

/* While there is no ledger to ask, jobs with a live receipt are still not their owners' to change.
 */
static void protect_by_receipts(void)
{
	job_info_msg_t *jobs;
	uint32_t *ids;
	unsigned n = 0;

	if (auc_control_load_jobs(&jobs, NULL))
		return;
	ids = malloc((jobs->record_count + 1) * sizeof(*ids));
	for (uint32_t i = 0; ids && i < jobs->record_count; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];

		if (info->admin_comment && auc_receipt_is(info->admin_comment) &&
		    !auc_job_finished(info))
			ids[n++] = AUC_INFO_JOB_ID(info);
	}
	if (ids)
		auc_site_protect(ids, n, NULL);
	free(ids);
	auc_control_free_jobs(jobs);
}

/* One round; returns when the next is due. */
static double cycle(double now)
{
	bool all = now >= agent.next_records, looked;
	struct auc_err err;

	if (!sync_tasks(now))
		return now + RETRY;
	agent.cycle++;
	looked = (all || now >= agent.next_look || busy(now)) && load_jobs(now, all);
	/* A record can be newer than the list of sales that said which users to look at: its lien
	 * is in the next list. */
	if (looked && !sync_tasks(now)) {
		free_jobs();
		return now + RETRY;
	}
	if (looked) {
		see_all();
		for (struct auc_task *t = agent.tasks; t; t = t->next)
			decide(t, now);
	}
	if (auc_auction_tick(agent.auction, now))
		agent.changed = true;
	commit();
	if (looked) {
		for (struct auc_task *t = agent.tasks; t; t = t->next)
			act(t, now);
		drop_finished_tasks();
		publish_protected();
		free_jobs();
		if (all && !agent.opened) {
			agent.opened = true;
			auc_site_gate(NULL);
		}
	}
	if (now >= agent.next_nodes)
		refresh_nodes(now, false);
	auc_cycle_stats_add(&agent.stats, auc_site_now() - now);
	if (auc_status_write(agent.dir, agent.auction, now, agent.changed, &agent.stats, &err) > 0)
		agent.changed = false;
	else if (err.code)
		complain(&err);
	return next_wake(now);
}

/* Takes over what the ledger says now. */
static bool sync_tasks(double now)
{
	struct auc_sale_view *views;
	struct auc_err err;
	unsigned n;

	if (auc_auction_sales(agent.auction, &views, &n, &err)) {
		complain(&err);
		return false;
	}
	/* A lien can lapse while its job's record is on the way: look at all records soon, but not
	 * in a storm of dry runs. */
	if (auc_tasks_sync(&agent.tasks, views, n) && agent.next_records > now + 5)
		agent.next_records = now + 5;
	for (unsigned i = 0; i < n; i++)
		auc_sale_view_clear(&views[i]);
	free(views);
	return true;
}

/* Loads the records of the users that have sales, or all; true if there is nothing missing. */
static bool load_jobs(double now, bool all)
{
	uint32_t users[USERS_MAX];
	unsigned nusers = 0;
	struct auc_err err;

	for (struct auc_task *t = agent.tasks; t && !all; t = t->next) {
		unsigned i;

		for (i = 0; i < nusers && users[i] != t->uid; i++)
			;
		if (i == USERS_MAX)
			all = true;
		else if (i == nusers)
			users[nusers++] = t->uid;
	}
	agent.nloaded = 0;
	if (all) {
		if (auc_control_load_jobs(&agent.loaded[0], &err)) {
			complain(&err);
			return false;
		}
		agent.nloaded = 1;
		agent.next_records = now + RECORDS_EVERY;
	}
	for (unsigned i = 0; i < nusers && !all; i++) {
		if (auc_control_load_user_jobs(users[i], &agent.loaded[agent.nloaded], &err)) {
			complain(&err);
			free_jobs();
			return false;
		}
		agent.nloaded++;
	}
	agent.next_look = now + LOOK_EVERY;
	for (struct auc_task *t = agent.tasks; t; t = t->next) {
		t->looked = true;
		for (unsigned i = 0; i < t->njobs; i++)
			t->jobs[i].info = NULL;
	}
	return true;
}

static void free_jobs(void)
{
	for (unsigned i = 0; i < agent.nloaded; i++)
		auc_control_free_jobs(agent.loaded[i]);
	agent.nloaded = 0;
	for (struct auc_task *t = agent.tasks; t; t = t->next)
		for (unsigned i = 0; i < t->njobs; i++)
			t->jobs[i].info = NULL;
}

/* True if some sale is near a change, so that the jobs are to be looked at in this cycle. */
static bool busy(double now)
{
	for (struct auc_task *t = agent.tasks; t; t = t->next) {
		if (t->state == AUC_SALE_LIEN || t->state == AUC_SALE_SETTLED || t->receipt ||
		    t->why)
			return true;
		if (t->state == AUC_SALE_SOLD && now >= t->start - CYCLE_BUSY)
			return true;
		if (now >= t->end - margin() - CYCLE_BUSY)
			return true;
		for (unsigned i = 1; i < t->njobs; i++)
			if (!t->jobs[i].id)
				return true;
		if (t->njobs > 1 && now >= t->start && now < t->start + MEMBER_GRACE + 1)
			return true;
	}
	return false;
}

static void see_all(void)
{
	for (unsigned i = 0; i < agent.nloaded; i++)
		for (uint32_t k = 0; k < agent.loaded[i]->record_count; k++)
			see(&agent.loaded[i]->job_array[k]);
}

/* Finds out which sale, if any, a record belongs to. */
static void see(const slurm_job_info_t *info)
{
	struct auc_task_job *job;
	struct auc_receipt r;
	struct auc_task *t;
	struct auc_err err;

	if (!info->admin_comment || !auc_receipt_is(info->admin_comment))
		return;
	t = auc_tasks_find_job(agent.tasks, AUC_INFO_JOB_ID(info), &job);
	/* After a restart a job id alone is no proof: Slurm's state may have been wiped and its
	 * numbers begun again. */
	if (t && (t->known || job != t->jobs)) {
		job->info = info;
		return;
	}
	/* Slurm keeps the records of settled sales for a while. Only at the start can one be news.
	 */
	if (!t && auc_job_finished(info) && agent.opened && !has_lien(info->user_id))
		return;
	if (auc_receipt_parse(info->admin_comment, &r, &err)) {
		auc_err_prefix(&err, "job %u: receipt not understood", AUC_INFO_JOB_ID(info));
		complain(&err);
		return;
	}
	if (!strcmp(r.state, "member"))
		see_member(info, &r);
	else if (t && !strcmp(t->sale, r.sale))
		job->info = info;
	else if (strcmp(r.state, "settled"))
		see_lead(info, &r);
	auc_receipt_clear(&r);
}

static bool has_lien(uint32_t uid)
{
	for (struct auc_task *t = agent.tasks; t; t = t->next)
		if (t->state == AUC_SALE_LIEN && t->uid == uid)
			return true;
	return false;
}

static void see_member(const slurm_job_info_t *info, const struct auc_receipt *r)
{
	struct auc_task *t = auc_tasks_find(agent.tasks, r->sale);
	struct auc_task_job stray = {.id = AUC_INFO_JOB_ID(info), .info = info};

	if (auc_job_finished(info))
		return;
	if (t && t->state != AUC_SALE_SETTLED && t->jobs[0].id == r->lead &&
	    t->uid == info->user_id) {
		for (unsigned i = 1; i < t->njobs; i++) {
			if (t->jobs[i].id || !info->req_nodes ||
			    strcmp(t->parts[i].server, info->req_nodes))
				continue;
			t->jobs[i].id = AUC_INFO_JOB_ID(info);
			t->jobs[i].info = info;
			return;
		}
	}
	slurm_info(
		"sched/auction: job %u is a member of sale %s, which does not need it; cancelled",
		stray.id, r->sale);
	kill_job(&stray, auc_site_now());
}

/* A job with the receipt of a sale that is not tied to it yet. */
static void see_lead(const slurm_job_info_t *info, const struct auc_receipt *r)
{
	struct auc_task *t = auc_tasks_find(agent.tasks, r->sale);
	struct auc_task_job stray = {.id = AUC_INFO_JOB_ID(info), .info = info};
	char *settled;

	if (t && t->state == AUC_SALE_LIEN && t->uid == info->user_id) {
		t->jobs[0].id = stray.id;
		t->jobs[0].info = info;
		return;
	}
	if (t && t->state != AUC_SALE_SETTLED) {
		if (!auc_job_finished(info)) {
			slurm_error("sched/auction: job %u shows the receipt of sale %s, which is "
				    "job %u; cancelled",
				    stray.id, r->sale, t->jobs[0].id);
			kill_job(&stray, auc_site_now());
		}
		return;
	}
	settled = auc_receipts_settled(r->sale);
	if (settled && !auc_job_finished(info)) {
		slurm_info("sched/auction: job %u came back from before its settlement; cancelled",
			   stray.id);
		auc_control_set_receipt(stray.id, settled, NULL);
		auc_receipts_recheck(r->sale);
		kill_job(&stray, auc_site_now());
	} else if (!settled) {
		adopt(info, r);
	}
	free(settled);
}

/* Sells again, as it stood, what only a record knows. */
static void adopt(const slurm_job_info_t *info, const struct auc_receipt *r)
{
	enum auc_sale_state state = auc_job_pending(info) ? AUC_SALE_SOLD : AUC_SALE_RUNNING;
	uint32_t id = AUC_INFO_JOB_ID(info);
	struct auc_sale_view view;
	enum auc_code code;
	struct auc_err err;
	struct auc_task *t;

	/* A job that was cancelled before it got a node never ran. */
	if (auc_job_finished(info) && (!info->nodes || !info->nodes[0]))
		state = AUC_SALE_SOLD;
	code = auc_auction_adopt(agent.auction, info->admin_comment, id, info->user_id, state,
				 &err);
	if (code == AUC_EEXIST)
		return; /* it is in the ledger after all: the next cycle knows it */
	if (code) {
		slurm_error("sched/auction: job %u: sale %s is not in the spool and cannot be sold "
			    "again as it stood: %s",
			    id, r->sale, err.text);
		void_receipt(info, "lost");
		return;
	}
	slurm_info(
		"sched/auction: job %u: sale %s was not in the spool and is sold again as it stood",
		id, r->sale);
	agent.changed = true;
	if (auc_auction_sale_of_job(agent.auction, id, &view, &err)) {
		complain(&err);
		return;
	}
	t = auc_tasks_add(&agent.tasks, &view);
	auc_sale_view_clear(&view);
	if (!t)
		return;
	t->looked = true;
	t->jobs[0].info = info;
}

/* The job loses what it was sold: it is cancelled and its receipt says that nothing is paid. */
static void void_receipt(const slurm_job_info_t *info, const char *why)
{
	struct auc_task_job stray = {.id = AUC_INFO_JOB_ID(info), .info = info};
	char *text = auc_receipt_void(info->admin_comment, why);
	struct auc_receipt r;
	struct auc_err err;

	if (text && !auc_receipt_parse(text, &r, &err)) {
		if (auc_receipts_put_final(stray.id, r.sale, text, &err))
			complain(&err);
		auc_receipt_clear(&r);
	}
	if (!auc_job_finished(info)) {
		if (text)
			auc_control_set_receipt(stray.id, text, NULL);
		kill_job(&stray, auc_site_now());
	}
	free(text);
}

/* What has happened to a sale, according to its jobs' records. Changes the ledger, asks Slurm for
 * nothing. */
static void decide(struct auc_task *t, double now)
{
	const slurm_job_info_t *lead = t->jobs[0].info;

	if (!t->looked || t->state == AUC_SALE_SETTLED)
		return;
	if (t->state == AUC_SALE_LIEN) {
		if (lead)
			decide_lien(t);
		return;
	}
	if (!lead) {
		slurm_error("sched/auction: sale %s: job %u is gone from Slurm", t->sale,
			    t->jobs[0].id);
		settle(t, "lost", now);
		return;
	}
	if (!t->known)
		know_lead(t);
	if (auc_job_finished(lead)) {
		double ended = (double)lead->end_time;

		settle(t, why_finished(t, lead), ended > 0 && ended < now ? ended : now);
		return;
	}
	if (t->why)
		return;
	t->why = group_broken(t, now);
	if (t->why) {
		slurm_error("sched/auction: job %u: a member is missing (%s); the group is ended",
			    t->jobs[0].id, t->why);
	} else if (auc_job_running(lead)) {
		decide_running(t, now);
	} else if (now >= t->end - margin()) {
		slurm_error("sched/auction: job %u did not start in its slots; cancelled",
			    t->jobs[0].id);
		t->why = "cancelled";
	}
}

/* The lien's job exists: it is sold. */
static void decide_lien(struct auc_task *t)
{
	const slurm_job_info_t *lead = t->jobs[0].info;
	struct auc_slice slice;
	struct auc_err err;
	enum auc_code code;

	code = auc_auction_confirm(agent.auction, t->sale, t->jobs[0].id, &t->receipt, &err);
	if (code) {
		/* Lapsed just now: the record is adopted when all records are looked at. */
		complain(&err);
		agent.next_records = 0;
		return;
	}
	agent.changed = true;
	t->state = AUC_SALE_SOLD;
	know_lead(t);
	slurm_info("sched/auction: job %u: sale %s confirmed, %u node%s", t->jobs[0].id, t->sale,
		   t->njobs, t->njobs == 1 ? "" : "s");
	/* Between submission and now its owner could still change it. */
	if (!auc_job_finished(lead) &&
	    (auc_slice_of(&t->parts[0], t->start, t->end, &slice, &err) ||
	     !auc_slice_matches(&slice, lead))) {
		slurm_info("sched/auction: job %u was changed after its bid; cancelled",
			   t->jobs[0].id);
		t->why = "cancelled";
	}
}

/* First look at a sale's job: for whom members are submitted, and whether the receipt it shows is
 * the right one. */
static void know_lead(struct auc_task *t)
{
	const slurm_job_info_t *lead = t->jobs[0].info;

	t->known = true;
	t->gid = lead->group_id;
	free(t->account);
	free(t->qos);
	t->account = lead->account ? strdup(lead->account) : NULL;
	t->qos = lead->qos ? strdup(lead->qos) : NULL;
	if (t->receipt)
		return;
	/* After a restart: what the ledger says goes to record and database again, whatever they
	 * got before. */
	if (auc_auction_confirm(agent.auction, t->sale, t->jobs[0].id, &t->receipt, NULL)) {
		free(t->receipt);
		t->receipt = NULL;
	}
}

static void decide_running(struct auc_task *t, double now)
{
	struct auc_err err;
	char *receipt = NULL;

	if (t->state == AUC_SALE_SOLD) {
		if (auc_auction_start(agent.auction, t->jobs[0].id, now, &receipt, &err)) {
			complain(&err);
			return;
		}
		agent.changed = true;
		t->state = AUC_SALE_RUNNING;
		free(t->receipt);
		t->receipt = receipt;
		slurm_info("sched/auction: job %u runs, %.2f s after its slot began", t->jobs[0].id,
			   now - t->start);
	}
	if (now >= t->end - margin()) {
		slurm_info("sched/auction: job %u has reached the end of its plan", t->jobs[0].id);
		t->why = "timeout";
	}
}

/* Ends a sale in the ledger; its final receipt goes out once that is committed. */
static void settle(struct auc_task *t, const char *why, double when)
{
	char *receipt = NULL;
	struct auc_err err;

	if (auc_auction_settle(agent.auction, t->jobs[0].id, why, when, &receipt, &err)) {
		complain(&err);
		return;
	}
	slurm_info("sched/auction: job %u: sale %s settled: %s", t->jobs[0].id, t->sale, why);
	if (receipt && auc_receipts_put_final(t->jobs[0].id, t->sale, receipt, &err))
		complain(&err);
	free(receipt);
	free(t->receipt);
	t->receipt = NULL;
	t->state = AUC_SALE_SETTLED;
	agent.changed = true;
}

static const char *why_finished(const struct auc_task *t, const slurm_job_info_t *info)
{
	/* A job that heeds the warning before its end and exits well has completed. */
	if (t->why &&
	    (strcmp(t->why, "timeout") || (info->job_state & JOB_STATE_BASE) != JOB_COMPLETE))
		return t->why;
	return why_state(info);
}

static const char *why_state(const slurm_job_info_t *info)
{
	switch (info->job_state & JOB_STATE_BASE) {
	case JOB_COMPLETE:
		return "completed";
	case JOB_CANCELLED:
		return "cancelled";
	case JOB_TIMEOUT:
	case JOB_DEADLINE:
		return "timeout";
	case JOB_NODE_FAIL:
	case JOB_BOOT_FAIL:
	case JOB_PREEMPTED:
		return "node_fail";
	default:
		return "failed";
	}
}

/*
 * Why the group cannot go on, or NULL: a member was refused, is gone, or does not run long after
 * its lead. Paid back is only what its owner cannot bring about, who may cancel a member or kill
 * what runs in it.
 */
static const char *group_broken(const struct auc_task *t, double now)
{
	bool late = auc_job_running(t->jobs[0].info) && now > t->start + MEMBER_GRACE;

	for (unsigned i = 1; i < t->njobs; i++) {
		const struct auc_task_job *m = &t->jobs[i];

		if (m->tries >= MEMBER_TRIES)
			return "node_fail";
		if (!m->id || m->cycle == agent.cycle)
			continue;
		if (!m->info)
			return "node_fail";
		if (auc_job_finished(m->info))
			return why_state(m->info);
		if (late && !auc_job_running(m->info))
			return "node_fail";
	}
	return NULL;
}

/* Final receipts to disk, then the ledger's events, then the receipts may go out. */
static void commit(void)
{
	struct auc_err err;
	enum auc_code code = auc_receipts_save(&err);

	if (!code)
		code = auc_auction_commit(agent.auction, &err);
	agent.commit_ok = !code;
	if (code)
		complain(&err);
	else
		auc_receipts_release();
}

/* What Slurm is asked to do for a sale now. */
static void act(struct auc_task *t, double now)
{
	if (!t->looked || !agent.commit_ok || t->state == AUC_SALE_LIEN)
		return;
	if (t->receipt)
		write_receipt(t);
	if (t->state == AUC_SALE_SETTLED || t->why) {
		end_task(t, now);
		return;
	}
	submit_members(t, now);
	for (unsigned i = 0; i < t->njobs; i++)
		if (t->jobs[i].info && auc_job_pending(t->jobs[i].info) && now >= t->start)
			nudge(&t->jobs[i], now);
}

static void write_receipt(struct auc_task *t)
{
	enum auc_code code;
	struct auc_err err;

	auc_receipts_put(t->jobs[0].id, t->sale, t->receipt);
	code = auc_control_set_receipt(t->jobs[0].id, t->receipt, &err);
	if (code && code != AUC_ESTATE) {
		complain(&err);
		return; /* again in the next cycle */
	}
	/* A job that has ended gets its final receipt in the database. */
	free(t->receipt);
	t->receipt = NULL;
}

static void submit_members(struct auc_task *t, double now)
{
	struct auc_owner owner = {
		.uid = t->uid, .gid = t->gid, .account = t->account, .qos = t->qos};

	if (!t->known)
		return;
	for (unsigned i = 1; i < t->njobs; i++) {
		struct auc_task_job *m = &t->jobs[i];
		struct auc_slice slice;
		struct auc_err err;
		enum auc_code code;

		if (m->id || now < m->next || m->tries >= MEMBER_TRIES)
			continue;
		code = auc_slice_of(&t->parts[i], t->start, t->end, &slice, &err);
		if (!code)
			code = auc_control_submit_member(&owner, &slice, t->sale, t->jobs[0].id,
							 &m->id, &err);
		if (code) {
			slurm_error("sched/auction: %s", err.text);
			m->id = 0;
			m->tries = code == AUC_EIO ? m->tries + 1 : MEMBER_TRIES;
			m->next = now + AGAIN;
		} else {
			m->cycle = agent.cycle;
		}
	}
}

/* Slurm tries pending jobs now and then; a job whose slot has begun is not to wait for that. */
static void nudge(struct auc_task_job *job, double now)
{
	struct auc_err err;

	if (now < job->next)
		return;
	job->next = now + AGAIN;
	if (auc_control_start_now(job->id, &err) == AUC_EIO)
		complain(&err);
}

static void kill_job(struct auc_task_job *job, double now)
{
	struct auc_err err;

	if (now < job->next)
		return;
	job->next = now + AGAIN;
	if (auc_control_kill(job->id, &err))
		complain(&err);
}

/* Ends the jobs of a sale: at the end of its plan with a warning first. */
static void end_task(struct auc_task *t, double now)
{
	bool warn = t->state != AUC_SALE_SETTLED && !strcmp(t->why, "timeout") &&
		    now < t->end - margin() / 2;

	for (unsigned i = 0; i < t->njobs; i++) {
		const slurm_job_info_t *info = t->jobs[i].info;

		if (!info || auc_job_finished(info))
			continue;
		if (!warn)
			kill_job(&t->jobs[i], now);
		else if (!t->warned)
			auc_control_warn(t->jobs[i].id, i == 0, NULL);
	}
	t->warned |= warn;
}

/* Forgets settled sales none of whose jobs is left. */
static void drop_finished_tasks(void)
{
	struct auc_task **at = &agent.tasks, *t;

	while ((t = *at)) {
		bool left = t->state != AUC_SALE_SETTLED || !t->looked;

		for (unsigned i = 0; i < t->njobs && !left; i++)
			left = t->jobs[i].id &&
			       (t->jobs[i].cycle == agent.cycle ||
				(t->jobs[i].info && !auc_job_finished(t->jobs[i].info)));
		if (left) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		auc_task_free(t);
	}
}

static void publish_protected(void)
{
	uint32_t *ids;
	unsigned n = 0, max = 0;

	for (struct auc_task *t = agent.tasks; t; t = t->next)
		max += t->njobs;
	ids = calloc(max + 1, sizeof(*ids));
	if (!ids)
		return;
	for (struct auc_task *t = agent.tasks; t; t = t->next)
		for (unsigned i = 0; i < t->njobs; i++)
			if (t->jobs[i].id)
				ids[n++] = t->jobs[i].id;
	if (agent.protected && n == agent.nprotected &&
	    !memcmp(ids, agent.protected, n * sizeof(*ids))) {
		free(ids);
		return;
	}
	auc_site_protect(ids, n, NULL);
	free(agent.protected);
	agent.protected = ids;
	agent.nprotected = n;
}

/* The next regular cycle, or sooner if a slot begins or ends. */
static double next_wake(double now)
{
	double later = auc_site_now(), wake = later + (busy(later) ? CYCLE_BUSY : CYCLE_IDLE);

	for (struct auc_task *t = agent.tasks; t; t = t->next) {
		double at[] = {t->start, t->end - margin(), t->end - margin() / 2};

		for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			if (at[i] > now && at[i] + 0.01 < wake)
				wake = at[i] + 0.01;
	}
	return wake;
}

/* How long before a plan's end its job is told to end. */
static double margin(void)
{
	return auc_auction_conf(agent.auction)->end_margin;
}
