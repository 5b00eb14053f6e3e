/* accounts_tres.c - the limits on TRES of associations and QOS (accounts.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "adapter/accounts-private.h"

static const char *const kind_names[AUC_TRES_KINDS] = {
	[AUC_TRES_JOB] = "MaxTRESPerJob",         [AUC_TRES_NODE] = "MaxTRESPerNode",
	[AUC_TRES_MINUTES] = "MaxTRESMinsPerJob", [AUC_TRES_GROUP] = "GrpTRES",
	[AUC_TRES_LEAST] = "MinTRESPerJob",       [AUC_TRES_USER] = "MaxTRESPerUser",
	[AUC_TRES_ACCOUNT] = "MaxTRESPerAccount",
};
static const enum auc_cap_kind cap_kinds[AUC_TRES_KINDS] = {
	[AUC_TRES_JOB] = AUC_CAP_JOB,         [AUC_TRES_NODE] = AUC_CAP_NODE,
	[AUC_TRES_MINUTES] = AUC_CAP_MINUTES, [AUC_TRES_GROUP] = AUC_CAP_AT_ONCE,
	[AUC_TRES_LEAST] = AUC_CAP_LEAST,     [AUC_TRES_USER] = AUC_CAP_AT_ONCE,
	[AUC_TRES_ACCOUNT] = AUC_CAP_AT_ONCE,
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

static bool copy(struct auc_accounts *a, struct auc_tres_limits *to,
		 const uint64_t *const amounts[AUC_TRES_KINDS]);
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
	for (; a->tres && a->ntres < msg->tres_cnt; a->ntres++) {
		const char *name = msg->tres_names ? msg->tres_names[a->ntres] : NULL;

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
	const uint64_t *const amounts[AUC_TRES_KINDS] = {
		[AUC_TRES_JOB] = from->max_tres_ctld,
		[AUC_TRES_NODE] = from->max_tres_pn_ctld,
		[AUC_TRES_MINUTES] = from->max_tres_mins_ctld,
		[AUC_TRES_GROUP] = from->grp_tres_ctld,
	};

	return copy(a, &to->tres, amounts);
}

bool auc_accounts_copy_qos_tres(struct auc_accounts *a, struct auc_account_qos *to,
				const slurmdb_qos_rec_t *from)
{
	const uint64_t *const amounts[AUC_TRES_KINDS] = {
		[AUC_TRES_JOB] = from->max_tres_pj_ctld,
		[AUC_TRES_NODE] = from->max_tres_pn_ctld,
		[AUC_TRES_MINUTES] = from->max_tres_mins_pj_ctld,
		[AUC_TRES_GROUP] = from->grp_tres_ctld,
		[AUC_TRES_LEAST] = from->min_tres_pj_ctld,
		[AUC_TRES_USER] = from->max_tres_pu_ctld,
		[AUC_TRES_ACCOUNT] = from->max_tres_pa_ctld,
	};

	return copy(a, &to->tres, amounts);
}

enum auc_code auc_accounts_caps(const struct auc_accounts *a, uint32_t uid, const char *account,
				const struct auc_partition_qos *partitions, unsigned n,
				const char *qos, struct auc_caps **caps, struct auc_err *err)
{
	const struct auc_account_assoc *s = auc_accounts_assoc_of(a, uid, account, NULL);
	struct adding add = {.accounts = a};
	const struct auc_account_qos *q[2];
	bool own = false, *seen;

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
	add.account = s ? s->account : account;
	for (unsigned k = 0; k < AUC_TRES_KINDS; k++)
		add.seen[k] = seen + (size_t)k * a->ntres;
	for (unsigned i = 0; i < n; i++)
		own |= partitions[i].qos != NULL;
	for (unsigned i = 0; i < n && own && add.caps->nown < AUC_BID_PARTITIONS_MAX; i++)
		if (partitions[i].qos && is_plain(partitions[i].qos)) {
			strcpy(add.caps->own[add.caps->nown].partition, partitions[i].partition);
			strcpy(add.caps->own[add.caps->nown++].qos, partitions[i].qos);
		}
	/* The same everywhere, or by partition. */
	for (unsigned i = 0; i < (own ? n : 1); i++) {
		add.partition = own ? partitions[i].partition : "";
		memset(seen, 0, (size_t)AUC_TRES_KINDS * a->ntres * sizeof(*seen));
		auc_accounts_in_order(a, qos, own ? partitions[i].qos : NULL, q);
		add_partition(&add, q, s);
	}
	free(seen);
	*caps = add.caps;
	return AUC_OK;
}

static bool copy(struct auc_accounts *a, struct auc_tres_limits *to,
		 const uint64_t *const amounts[AUC_TRES_KINDS])
{
	unsigned n = 0;

	for (unsigned k = 0; k < AUC_TRES_KINDS; k++)
		for (unsigned i = 0; amounts[k] && i < a->ntres; i++)
			n += amounts[k][i] != NO_VAL64 && amounts[k][i] != INFINITE64;
	if (!n)
		return true;
	to->list = calloc(n, sizeof(*to->list));
	for (unsigned k = 0; to->list && k < AUC_TRES_KINDS; k++)
		for (unsigned i = 0; amounts[k] && i < a->ntres; i++)
			if (amounts[k][i] != NO_VAL64 && amounts[k][i] != INFINITE64)
				to->list[to->n++] =
					(struct auc_tres_limit){.kind = (enum auc_tres_kind)k,
								.tres = i,
								.amount = amounts[k][i]};
	a->limits_tres = true;
	return to->list;
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
		if (add->seen[l->kind][l->tres] || (assoc && !leaf && l->kind != AUC_TRES_GROUP))
			continue;
		if (!add_cap(add, l,
			     qos    ? "QOS"
			     : user ? "your association in"
				    : "account",
			     qos ? qos->name : assoc->account, &cap))
			continue;
		if (cap->kind != AUC_CAP_AT_ONCE)
			continue;
		cap->own = l->kind == AUC_TRES_USER || user;
		if (qos)
			strcpy(cap->qos, qos->name);
		if (assoc)
			strcpy(cap->account, assoc->account);
		else if (l->kind == AUC_TRES_ACCOUNT && add->account && is_plain(add->account))
			strcpy(cap->account, add->account);
		cap->exactly = user || l->kind == AUC_TRES_ACCOUNT;
	}
}

/* False: it says nothing of what is sold, or there is no room; Slurm keeps to it all the same. */
static bool add_cap(struct adding *add, const struct auc_tres_limit *l, const char *what,
		    const char *name, struct auc_cap **cap)
{
	const char *tres = add->accounts->tres[l->tres];
	struct auc_cap *c = &add->caps->cap[add->caps->n];

	if (add->caps->n == AUC_CAPS_MAX || !name || !is_plain(name) || !name_of(tres, c->tres))
		return false;
	add->caps->n++;
	c->kind = cap_kinds[l->kind];
	c->amount = (double)l->amount;
	snprintf(c->text, sizeof(c->text), "%s of %s %s is %s=%llu", kind_names[l->kind], what,
		 name, tres, (unsigned long long)l->amount);
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
	else if (strcmp(slurm, "cpu") && strcmp(slurm, "mem") && strcmp(slurm, "node"))
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
