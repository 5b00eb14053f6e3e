/* slurm_rules.c - see slurm_rules.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/decide.h"
#include "adapter/groups.h"
#include "adapter/partition_rules.h"
#include "adapter/site.h"
#include "sched/auction/slurm_rules.h"
#include "sched/rpc/rpc_threads.h"

#define GROUPS_EVERY   600.0        /* seconds: as often as Slurm itself, if it does not say */
#define ACCOUNTS_SOON  1.0          /* seconds after a sale, and while bids are not counted */
#define ACCOUNTS_EVERY 5.0          /* seconds between looks at accounts, */
#define SHARE          100          /* or so many times what a look takes, */
#define ACCOUNTS_MAX   60.0         /* but so many at most */
#define GROUP_KEY      (1ULL << 32) /* in a key, with the number of the rule: not a user's */

struct auc_slurm_rules {
	struct auc_rules *rules;         /* as they were last published */
	struct auc_rpc_threads *lookups; /* NULL: no groups matter */
	double next_groups, next_accounts;
};

/* Of groups by name (NAMES), or of the groups of a user. */
struct look_up {
	struct auc_rpc_task errand;
	uint32_t uid, *gids;
	unsigned ngids;
	char names[];
};

/* Whether UID coordinates ACCOUNT: DOES. */
struct coordinated {
	uint32_t uid;
	const char *account;
	bool does;
};

static bool may_change_again(int64_t changed, double now);
static void publish(struct auc_agent *a, int64_t changed);
static void say_states(const struct auc_rules *was, const struct auc_rules *rules);
static bool has_groups(const struct auc_rules *rules);
static void ask_all(struct auc_agent *a, double now);
static void ask_users(const struct auc_rules *rules, const struct auc_accounts *accounts,
		      void *arg);
static void ask_user(struct auc_slurm_rules *p, uint32_t uid);
static void ask_groups(struct auc_slurm_rules *p, unsigned rule);
static enum auc_code look_up(struct auc_rpc_task *e);
static void take_lookups(struct auc_agent *a);
static void load_accounts(struct auc_agent *a, double now);
static bool is_counted(const void *arg, const char *sale, double at);
static void find_coordinator(const struct auc_rules *rules, const struct auc_accounts *accounts,
			     void *arg);
static uint16_t state_of(const struct auc_agent *a, const char *partition);

void auc_slurm_rules_look(struct auc_agent *a, int64_t changed, double now)
{
	if (!a->slurm_rules) {
		a->slurm_rules = calloc(1, sizeof(*a->slurm_rules));
		auc_auction_set_caps(a->auction, auc_decide_caps, NULL);
	}
	if (!a->slurm_rules)
		return;
	publish(a, may_change_again(changed, now) ? AUC_SITE_UNSURE : changed);
	/* Before accounts are known a user would be told that there is none. */
	if (a->slurm_rules->next_accounts == 0)
		load_accounts(a, auc_site_now());
}

/* True if a change after NOW may bear the same second as the last one, CHANGED. slurmctld's seconds
 * may begin a little late. A second that is yet to come is of before the clock was set back. */
static bool may_change_again(int64_t changed, double now)
{
	return changed >= 0 && (double)changed >= floor(now - 0.05) && (double)changed <= now + 1;
}

void auc_slurm_rules_keep(struct auc_agent *a, double now)
{
	struct auc_slurm_rules *p = a->slurm_rules;
	struct auc_err err;
	uint32_t uid;

	if (!p)
		return;
	if (now >= p->next_accounts || now < p->next_accounts - ACCOUNTS_MAX)
		load_accounts(a, now);
	if (!has_groups(p->rules))
		return;
	if (!p->lookups)
		p->lookups = auc_rpc_threads_start(1, "auction_groups", &err);
	if (!p->lookups) {
		auc_agent_complain(a, AUC_ERROR_NODES, &err);
		return;
	}
	take_lookups(a);
	while (auc_site_wanted_user(&uid))
		ask_user(p, uid);
	if (now >= p->next_groups || now < p->next_groups - GROUPS_EVERY)
		ask_all(a, now);
}

void auc_slurm_rules_count(struct auc_agent *a)
{
	double soon = auc_site_now() + ACCOUNTS_SOON;

	if (a->slurm_rules && a->slurm_rules->next_accounts > soon)
		a->slurm_rules->next_accounts = soon;
}

bool auc_slurm_rules_coordinates(uint32_t uid, const char *account)
{
	struct coordinated c = {.uid = uid, .account = account};

	auc_site_with_rules(find_coordinator, &c);
	return c.does;
}

static void find_coordinator(const struct auc_rules *rules, const struct auc_accounts *accounts,
			     void *arg)
{
	struct coordinated *c = arg;

	(void)rules;
	c->does = auc_accounts_coordinates(accounts, c->uid, c->account);
}

bool auc_slurm_rules_stopped(const struct auc_agent *a, const char *partition)
{
	return !(state_of(a, partition) & PARTITION_SCHED);
}

bool auc_slurm_rules_shut(const struct auc_agent *a, const char *partition)
{
	return !(state_of(a, partition) & PARTITION_SUBMIT);
}

bool auc_slurm_rules_stop(struct auc_agent *a, const struct timespec *until)
{
	struct auc_rpc_task *e;

	if (!a->slurm_rules)
		return true;
	while (a->slurm_rules->lookups && (e = auc_rpc_threads_take(a->slurm_rules->lookups))) {
		free(((struct look_up *)e)->gids);
		free(e);
	}
	if (a->slurm_rules->lookups && !auc_rpc_threads_stop(a->slurm_rules->lookups, until))
		return false;
	auc_rules_free(a->slurm_rules->rules);
	free(a->slurm_rules);
	a->slurm_rules = NULL;
	return true;
}

/* To everybody, if they are others; that they were read, to job_submit in any case. */
static void publish(struct auc_agent *a, int64_t changed)
{
	const struct auc_conf *conf = auc_auction_conf(a->auction);
	struct auc_slurm_rules *p = a->slurm_rules;
	struct auc_rules *rules, *copy = NULL;
	struct auc_partition_limit *limits;
	struct auc_err err;
	enum auc_code code = auc_rules_make(conf, a->partitions, &rules, &err);

	if (!code)
		code = auc_rules_make(conf, a->partitions, &copy, &err);
	limits = code ? NULL : calloc(rules->n + 1, sizeof(*limits));
	if (code || !limits) {
		auc_rules_free(rules);
		auc_rules_free(copy);
		if (!code)
			auc_err_set(&err, AUC_ENOMEM, "out of memory for limits of partitions");
		auc_agent_complain(a, AUC_ERROR_NODES, &err);
		return;
	}
	for (unsigned i = 0; i < rules->n; i++)
		limits[i] = rules->list[i].limit;
	if (!auc_rules_same(p->rules, rules)) {
		say_states(p->rules, rules);
		if (auc_auction_limit(a->auction, limits, rules->n, &err))
			auc_agent_complain(a, AUC_ERROR_NODES, &err);
		a->nodes++;
		a->changed = true;
		a->calm_until = 0;
		p->next_groups = 0;
	}
	free(limits);
	auc_rules_free(p->rules);
	p->rules = copy;
	auc_site_set_rules(rules, changed);
}

/* In the log, what has changed in a way that an administrator wants to see confirmed. */
static void say_states(const struct auc_rules *was, const struct auc_rules *rules)
{
	for (unsigned i = 0; i < rules->n; i++) {
		const struct auc_rule *r = &rules->list[i], *old = auc_rules_find(was, r->name);

		if (!old ? r->limit.paused : old->submits != r->submits || old->starts != r->starts)
			slurm_info("sched/auction: partition %s: State=%s: %s", r->name,
				   auc_rule_state(r),
				   r->limit.paused
					   ? r->starts ? "nothing new is sold there, what is sold "
							 "runs"
						       : "nothing new is sold there, what is sold "
							 "waits"
					   : "it is sold");
		if (r->unsold && (!old || old->unsold != r->unsold))
			slurm_error("sched/auction: partition %s is not sold: %s", r->name,
				    r->unsold);
	}
}

static bool has_groups(const struct auc_rules *rules)
{
	for (unsigned i = 0; rules && i < rules->n; i++)
		if (rules->list[i].groups)
			return true;
	return false;
}

/* All groups that matter, and the users that are known, who may ask next. */
static void ask_all(struct auc_agent *a, double now)
{
	struct auc_slurm_rules *p = a->slurm_rules;

	p->next_groups = now + (slurm_conf.group_time ? slurm_conf.group_time : GROUPS_EVERY);
	for (unsigned i = 0; i < p->rules->n; i++)
		if (p->rules->list[i].groups)
			ask_groups(p, i);
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		ask_user(p, t->uid);
	auc_site_with_rules(ask_users, p);
}

static void ask_users(const struct auc_rules *rules, const struct auc_accounts *accounts, void *arg)
{
	const uint32_t *uids;
	unsigned n;

	(void)rules;
	uids = auc_accounts_users(accounts, &n);
	for (unsigned i = 0; i < n; i++)
		ask_user(arg, uids[i]);
}

static void ask_user(struct auc_slurm_rules *p, uint32_t uid)
{
	struct look_up *l = calloc(1, sizeof(*l) + 1);

	if (!l)
		return;
	l->errand.key = uid;
	l->errand.run = look_up;
	l->uid = uid;
	auc_rpc_threads_put(p->lookups, &l->errand);
}

static void ask_groups(struct auc_slurm_rules *p, unsigned rule)
{
	const char *names = p->rules->list[rule].groups;
	struct look_up *l = calloc(1, sizeof(*l) + strlen(names) + 1);

	if (!l)
		return;
	l->errand.key = GROUP_KEY | rule;
	l->errand.run = look_up;
	strcpy(l->names, names);
	auc_rpc_threads_put(p->lookups, &l->errand);
}

static enum auc_code look_up(struct auc_rpc_task *e)
{
	struct look_up *l = (struct look_up *)e;

	return l->names[0] ? auc_groups_by_name(l->names, &l->gids, &l->ngids, &e->err)
			   : auc_groups_of_user(l->uid, &l->gids, &l->ngids, &e->err);
}

static void take_lookups(struct auc_agent *a)
{
	struct auc_rpc_task *e;
	enum auc_code code;

	while ((e = auc_rpc_threads_take(a->slurm_rules->lookups))) {
		struct look_up *l = (struct look_up *)e;

		/* A user that there is not is in no group. */
		code = e->code == AUC_ENOENT ? AUC_OK : e->code;
		if (!code && l->names[0])
			code = auc_site_set_group_ids(l->names, l->gids, l->ngids, &e->err);
		else if (!code)
			code = auc_site_set_user_groups(l->uid, l->gids, l->ngids, &e->err);
		if (code)
			auc_agent_complain(a, AUC_ERROR_NODES, &e->err);
		free(l->gids);
		free(l);
	}
}

static void load_accounts(struct auc_agent *a, double now)
{
	double began = auc_site_elapsed(), least = ACCOUNTS_EVERY, wait;
	struct auc_accounts *accounts;
	assoc_mgr_info_msg_t *msg;
	enum auc_code code;
	struct auc_err err;

	code = auc_rpc_load_accounts(&msg, &err);
	if (!code) {
		code = auc_accounts_make(msg, &accounts, &err);
		slurm_free_assoc_mgr_info_msg(msg);
	}
	if (code)
		auc_agent_complain(a, AUC_ERROR_NODES, &err);
	else if (auc_site_set_accounts(accounts, is_counted, a))
		least = ACCOUNTS_SOON;
	wait = (auc_site_elapsed() - began) * SHARE;
	wait = wait < least ? least : wait;
	a->slurm_rules->next_accounts = now + (wait < ACCOUNTS_MAX ? wait : ACCOUNTS_MAX);
}

/* Accounts were read after the agent had last looked: what it knew to be there is counted, and of a
 * lien that is gone nothing comes. */
static bool is_counted(const void *arg, const char *sale, double at)
{
	const struct auc_agent *a = arg;
	const struct auc_task *t = auc_tasks_find(&a->tasks, sale);

	if (!t)
		return at < a->listed_at;
	for (unsigned i = 0; t->exec.booked != AUC_SALE_SETTLED && i < t->exec.nparts; i++)
		if (!t->exec.jobs[i].id && (!i || !t->parts[i].lead) &&
		    t->parts[i].start <= t->exec.start)
			return false;
	return true;
}

/* One that is not known is as if it were up: what becomes of its nodes says the rest. */
static uint16_t state_of(const struct auc_agent *a, const char *partition)
{
	for (uint32_t i = 0; a->partitions && i < a->partitions->record_count; i++) {
		const partition_info_t *p = &a->partitions->partition_array[i];

		if (p->name && !strcmp(p->name, partition))
			return p->state_up;
	}
	return PARTITION_UP;
}
