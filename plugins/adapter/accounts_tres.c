/* accounts_tres.c - limits on TRES and on jobs that run, of associations and QOS (accounts.h). */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/accounts-private.h"

/* Slurm's names of limits on TRES, and on jobs themselves. */
static const struct {
	const char *tres, *job;
	enum auc_cap_kind cap;
} kinds[AUC_TRES_KINDS] = {
	[AUC_TRES_JOB] = {"MaxTRESPerJob", NULL, AUC_CAP_JOB},
	[AUC_TRES_NODE] = {"MaxTRESPerNode", NULL, AUC_CAP_NODE},
	[AUC_TRES_MINUTES] = {"MaxTRESMinsPerJob", NULL, AUC_CAP_MINUTES},
	[AUC_TRES_USER] = {"MaxTRESPerUser", "MaxJobsPerUser", AUC_CAP_AT_ONCE},
	[AUC_TRES_GROUP] = {"GrpTRES", "GrpJobs", AUC_CAP_AT_ONCE},
	[AUC_TRES_GROUP_AHEAD] = {"GrpTRESRunMins", NULL, AUC_CAP_AHEAD},
	[AUC_TRES_GROUP_TOTAL] = {"GrpTRESMins", "GrpWall", AUC_CAP_TOTAL},
	[AUC_TRES_LEAST] = {"MinTRESPerJob", NULL, AUC_CAP_LEAST},
	[AUC_TRES_ACCOUNT] = {"MaxTRESPerAccount", "MaxJobsPerAccount", AUC_CAP_AT_ONCE},
};

/* What Slurm has of one association or QOS; NULL: nothing. */
struct from {
	const uint64_t *amounts[AUC_TRES_KINDS];
	uint32_t jobs[AUC_TRES_KINDS]; /* NO_VAL: none */
	const long double *used;       /* seconds, by TRES */
	uint32_t nused;
	double wall; /* seconds */
};

/* Whose limits are being added, and to what. */
struct adding {
	const struct auc_accounts *accounts;
	struct auc_caps *caps;
	const char *account;   /* of the job */
	const char *partition; /* that the caps are to hold in; "": all */
	/* Limits that a QOS has set: a later one, and the association, say nothing of them then. */
	bool *seen[AUC_TRES_KINDS]; /* by TRES */
};

static bool copy(struct auc_accounts *a, struct auc_tres_limits *to, const struct from *from);
static bool limit_of(const struct auc_accounts *a, const struct from *from, unsigned kind,
		     unsigned tres, struct auc_tres_limit *limit);
static double lag(void);
static void add_partition(struct adding *add, const struct auc_account_qos *const q[2],
			  const struct auc_account_assoc *s);
static void add_limits(struct adding *add, const struct auc_tres_limits *limits,
		       const struct auc_account_qos *qos, const struct auc_account_assoc *assoc,
		       bool leaf);
static bool add_cap(struct adding *add, const struct auc_tres_limit *l, const char *what,
		    const char *name, struct auc_cap **cap);
static bool name_of(const char *slurm, char name[AUC_NAME_MAX]);
static bool is_plain(const char *name);

bool auc_accounts_copy_names(struct auc_accounts *a, const assoc_mgr_info_msg_t *msg)
{
	a->tres = calloc(msg->tres_cnt + 1, sizeof(*a->tres));
	for (; a->tres && a->ntres <= msg->tres_cnt; a->ntres++) {
		const char *name = a->ntres == msg->tres_cnt ? "job"
				   : msg->tres_names         ? msg->tres_names[a->ntres]
							     : NULL;

		a->tres[a->ntres] = strdup(name ? name : "");
		if (!a->tres[a->ntres])
			return false;
	}
	return a->tres;
}

void auc_accounts_free_tres(struct auc_accounts *a)
{
	for (unsigned i = 0; a->tres && i < a->ntres; i++)
		free(a->tres[i]);
	free(a->tres);
	for (unsigned i = 0; i < a->nassocs; i++)
		free(a->assocs[i].tres.list);
	for (unsigned i = 0; i < a->nqos; i++)
		free(a->qos[i].tres.list);
}

bool auc_accounts_copy_assoc_tres(struct auc_accounts *a, struct auc_account_assoc *to,
				  const slurmdb_assoc_rec_t *from)
{
	struct from f = {.amounts = {[AUC_TRES_JOB] = from->max_tres_ctld,
				     [AUC_TRES_NODE] = from->max_tres_pn_ctld,
				     [AUC_TRES_MINUTES] = from->max_tres_mins_ctld,
				     [AUC_TRES_GROUP] = from->grp_tres_ctld,
				     [AUC_TRES_GROUP_AHEAD] = from->grp_tres_run_mins_ctld,
				     [AUC_TRES_GROUP_TOTAL] = from->grp_tres_mins_ctld}};

	for (unsigned k = 0; k < AUC_TRES_KINDS; k++)
		f.jobs[k] = NO_VAL;
	f.jobs[AUC_TRES_USER] = from->max_jobs;
	f.jobs[AUC_TRES_GROUP] = from->grp_jobs;
	f.jobs[AUC_TRES_GROUP_TOTAL] = from->grp_wall;
	if (from->usage) {
		f.used = from->usage->usage_tres_raw;
		f.nused = from->usage->tres_cnt;
		f.wall = from->usage->grp_used_wall;
	}
	return copy(a, &to->tres, &f);
}

bool auc_accounts_copy_qos_tres(struct auc_accounts *a, struct auc_account_qos *to,
				const slurmdb_qos_rec_t *from)
{
	struct from f = {.amounts = {[AUC_TRES_JOB] = from->max_tres_pj_ctld,
				     [AUC_TRES_NODE] = from->max_tres_pn_ctld,
				     [AUC_TRES_MINUTES] = from->max_tres_mins_pj_ctld,
				     [AUC_TRES_USER] = from->max_tres_pu_ctld,
				     [AUC_TRES_GROUP] = from->grp_tres_ctld,
				     [AUC_TRES_GROUP_AHEAD] = from->grp_tres_run_mins_ctld,
				     [AUC_TRES_GROUP_TOTAL] = from->grp_tres_mins_ctld,
				     [AUC_TRES_LEAST] = from->min_tres_pj_ctld,
				     [AUC_TRES_ACCOUNT] = from->max_tres_pa_ctld}};

	for (unsigned k = 0; k < AUC_TRES_KINDS; k++)
		f.jobs[k] = NO_VAL;
	f.jobs[AUC_TRES_USER] = from->max_jobs_pu;
	f.jobs[AUC_TRES_GROUP] = from->grp_jobs;
	f.jobs[AUC_TRES_GROUP_TOTAL] = from->grp_wall;
	f.jobs[AUC_TRES_ACCOUNT] = from->max_jobs_pa;
	if (from->usage) {
		f.used = from->usage->usage_tres_raw;
		f.nused = from->usage->tres_cnt;
		f.wall = from->usage->grp_used_wall;
	}
	return copy(a, &to->tres, &f);
}

enum auc_code auc_accounts_caps(const struct auc_accounts *a, uint32_t uid, const char *account,
				const struct auc_partition_qos *partitions, unsigned n,
				const char *qos, struct auc_caps **caps, struct auc_err *err)
{
	struct adding add = {.accounts = a};
	const struct auc_account_assoc *s;
	const struct auc_account_qos *q[2];
	bool differ = false, *seen;

	*caps = NULL;
	if (!a || !a->limits_tres)
		return AUC_OK;
	seen = calloc((size_t)AUC_TRES_KINDS * a->ntres + 1, sizeof(*seen));
	add.caps = calloc(1, sizeof(*add.caps));
	if (!seen || !add.caps) {
		free(seen);
		free(add.caps);
		return auc_err_set(err, AUC_ENOMEM, "out of memory for limits on TRES");
	}
	add.account = account = auc_accounts_account(a, uid, account);
	for (unsigned k = 0; k < AUC_TRES_KINDS; k++)
		add.seen[k] = seen + (size_t)k * a->ntres;
	for (unsigned i = 0; i < n; i++) {
		s = auc_accounts_assoc_of(a, uid, account, partitions[i].partition);
		differ |= partitions[i].qos || (s && s->partition);
	}
	for (unsigned i = 0; i < n && add.caps->nown < AUC_BID_PARTITIONS_MAX; i++)
		if (partitions[i].qos && is_plain(partitions[i].qos)) {
			strcpy(add.caps->own[add.caps->nown].partition, partitions[i].partition);
			strcpy(add.caps->own[add.caps->nown++].qos, partitions[i].qos);
		}
	/* The same everywhere, or by partition. */
	for (unsigned i = 0; i < (differ ? n : 1); i++) {
		add.partition = differ ? partitions[i].partition : "";
		memset(seen, 0, (size_t)AUC_TRES_KINDS * a->ntres * sizeof(*seen));
		auc_accounts_in_order(a, qos, differ ? partitions[i].qos : NULL, q);
		s = auc_accounts_assoc_of(a, uid, account, differ ? add.partition : NULL);
		add_partition(&add, q, s);
	}
	free(seen);
	*caps = add.caps;
	return AUC_OK;
}

static bool copy(struct auc_accounts *a, struct auc_tres_limits *to, const struct from *from)
{
	struct auc_tres_limit limit;
	unsigned n = 0;

	for (unsigned k = 0; k < AUC_TRES_KINDS; k++)
		for (unsigned i = 0; i < a->ntres; i++)
			n += limit_of(a, from, k, i, &limit);
	if (!n)
		return true;
	to->list = calloc(n, sizeof(*to->list));
	for (unsigned k = 0; to->list && k < AUC_TRES_KINDS; k++)
		for (unsigned i = 0; i < a->ntres; i++)
			if (limit_of(a, from, k, i, &limit))
				to->list[to->n++] = limit;
	a->limits_tres = true;
	return to->list;
}

/* False: FROM has none of KIND on TRES. */
static bool limit_of(const struct auc_accounts *a, const struct from *from, unsigned kind,
		     unsigned tres, struct auc_tres_limit *limit)
{
	*limit = (struct auc_tres_limit){.kind = (enum auc_tres_kind)kind, .tres = tres};
	if (tres + 1 == a->ntres) {
		limit->amount = from->jobs[kind];
		limit->used = from->wall / 60;
		return limit->amount != NO_VAL && limit->amount != INFINITE;
	}
	if (!from->amounts[kind])
		return false;
	limit->amount = from->amounts[kind][tres];
	if (from->used && tres < from->nused)
		limit->used = (double)from->used[tres] / 60;
	return limit->amount != NO_VAL64 && limit->amount != INFINITE64;
}

/* How many minutes late Slurm takes what has passed of running jobs off what is ahead of them;
 * priority/basic does it only when they end. */
static double lag(void)
{
	const char *type = slurm_conf.priority_type;

	return type && strstr(type, "multifactor") ? slurm_conf.priority_calc_period / 60.0
						   : INFINITY;
}

static void add_partition(struct adding *add, const struct auc_account_qos *const q[2],
			  const struct auc_account_assoc *s)
{
	for (unsigned i = 0; i < 2 && q[i]; i++) {
		add_limits(add, &q[i]->tres, q[i], NULL, false);
		for (unsigned k = 0; k < q[i]->tres.n; k++)
			add->seen[q[i]->tres.list[k].kind][q[i]->tres.list[k].tres] = true;
	}
	for (unsigned depth = 0; s && depth < AUC_ACCOUNTS_DEPTH; depth++) {
		add_limits(add, &s->tres, NULL, s, !depth);
		s = auc_accounts_assoc_by_id(add->accounts, s->parent);
	}
}

/* Of QOS, or of ASSOC: LEAF if that is the job's, and not above it. */
static void add_limits(struct adding *add, const struct auc_tres_limits *limits,
		       const struct auc_account_qos *qos, const struct auc_account_assoc *assoc,
		       bool leaf)
{
	bool user = leaf && assoc->uid != NO_VAL;
	struct auc_cap *cap;

	for (unsigned i = 0; i < limits->n; i++) {
		const struct auc_tres_limit *l = &limits->list[i];

		/* What an account has as Max is only what its users' associations begin with. */
		if (add->seen[l->kind][l->tres] ||
		    (assoc && !leaf &&
		     (l->kind < AUC_TRES_GROUP || l->kind > AUC_TRES_GROUP_TOTAL)))
			continue;
		if (!add_cap(add, l,
			     qos    ? "QOS"
			     : user ? "your association in"
				    : "account",
			     qos ? qos->name : assoc->account, &cap))
			continue;
		if (cap->kind < AUC_CAP_AT_ONCE)
			continue;
		if (cap->kind == AUC_CAP_AHEAD)
			cap->lag = lag();
		if (cap->kind == AUC_CAP_TOTAL) {
			cap->used = l->used;
			cap->since = add->accounts->read_at - slurm_conf.priority_calc_period;
		}
		cap->own = l->kind == AUC_TRES_USER || user;
		if (qos)
			strcpy(cap->qos, qos->name);
		if (assoc)
			strcpy(cap->account, assoc->account);
		else if (l->kind == AUC_TRES_ACCOUNT && add->account && is_plain(add->account))
			strcpy(cap->account, add->account);
		cap->exactly = user || l->kind == AUC_TRES_ACCOUNT;
		cap->there = user && assoc->partition;
	}
}

/* False: it says nothing of what is sold, or there is no room; Slurm keeps to it all the same. */
static bool add_cap(struct adding *add, const struct auc_tres_limit *l, const char *what,
		    const char *name, struct auc_cap **cap)
{
	bool job = l->tres + 1 == add->accounts->ntres;
	const char *tres = add->accounts->tres[l->tres], *limit;
	struct auc_cap *c = &add->caps->cap[add->caps->n];

	if (add->caps->n == AUC_CAPS_MAX || !name || !is_plain(name) || !name_of(tres, c->tres))
		return false;
	add->caps->n++;
	c->kind = kinds[l->kind].cap;
	c->amount = (double)l->amount;
	limit = job ? kinds[l->kind].job : kinds[l->kind].tres;
	if (job && l->kind == AUC_TRES_USER && strcmp(what, "QOS"))
		limit = "MaxJobs";
	snprintf(c->text, sizeof(c->text), "%s of %s %s is %s%s%llu", limit, what, name,
		 job ? "" : tres, job ? "" : "=", (unsigned long long)l->amount);
	snprintf(c->partition, sizeof(c->partition), "%s", add->partition);
	*cap = c;
	return true;
}

/* The auction's name of Slurm's TRES; false: it is none that a node gives. */
static bool name_of(const char *slurm, char name[AUC_NAME_MAX])
{
	static const char gres[] = "gres/";
	bool is_gres = !strncmp(slurm, gres, sizeof(gres) - 1);

	if (is_gres)
		slurm += sizeof(gres) - 1;
	else if (strcmp(slurm, "cpu") && strcmp(slurm, "mem") && strcmp(slurm, "node") &&
		 strcmp(slurm, "job"))
		return false;
	if (!*slurm || strlen(slurm) >= AUC_NAME_MAX)
		return false;
	strcpy(name, slurm);
	return true;
}

/* True if NAME can stand in a bid's text (bid_limits.h). */
static bool is_plain(const char *name)
{
	return *name && strlen(name) < AUC_NAME_MAX && !strpbrk(name, " \t\r\n;,");
}
