/* partition_rules.c - see partition_rules.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/partition_rules.h"

/* Slurm's own bit in max_mem_per_cpu: it is of a CPU, not of a node. */
#define PER_CPU 0x8000000000000000ULL

static bool allows_shape(const struct auc_rule *r, const struct auc_bid *bid, char *why,
			 size_t size);
static bool take(struct auc_rule *r, const partition_info_t *p);
static const char *unsold(const partition_info_t *p);
static bool is_linear(void);
static void take_gpu_defaults(auc_list_t list, struct auc_job_defaults *d);
static bool copy_text(char **to, const char *from);
static bool same_text(const char *a, const char *b);
static bool same_rule(const struct auc_rule *a, const struct auc_rule *b);
static bool listed(const char *list, const char *name);
static bool account_listed(const struct auc_accounts *accounts, const char *list,
			   const char *account);
static bool host_listed(const char *list, const char *host);
static enum auc_verdict allows_groups(const struct auc_rule *r, const struct auc_asker *who);
static bool allows_account(const struct auc_rule *r, const struct auc_asker *who, char *why,
			   size_t size);
static bool allows_qos(const struct auc_rule *r, const struct auc_asker *who, char *why,
		       size_t size);
static bool names(const struct auc_bid *bid, const char *partition);

enum auc_code auc_rules_make(const struct auc_conf *conf, const partition_info_msg_t *partitions,
			     struct auc_rules **rules, struct auc_err *err)
{
	struct auc_rules *made =
		calloc(1, sizeof(*made) + conf->npartitions * sizeof(made->list[0]));

	*rules = NULL;
	if (!made)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the rules of partitions");
	for (uint32_t i = 0; i < partitions->record_count && made->n < conf->npartitions; i++) {
		const partition_info_t *p = &partitions->partition_array[i];

		if (!p->name || strlen(p->name) >= AUC_NAME_MAX ||
		    !auc_conf_partition(conf, p->name))
			continue;
		if (!take(&made->list[made->n++], p)) {
			auc_rules_free(made);
			return auc_err_set(err, AUC_ENOMEM,
					   "out of memory for the rules of partition %s", p->name);
		}
	}
	*rules = made;
	return AUC_OK;
}

void auc_rules_free(struct auc_rules *rules)
{
	for (unsigned i = 0; rules && i < rules->n; i++) {
		struct auc_rule *r = &rules->list[i];

		free(r->accounts);
		free(r->no_accounts);
		free(r->qos);
		free(r->no_qos);
		free(r->own_qos);
		free(r->groups);
		free(r->hosts);
		free(r->gids);
	}
	free(rules);
}

const struct auc_rule *auc_rules_find(const struct auc_rules *rules, const char *name)
{
	for (unsigned i = 0; rules && i < rules->n; i++)
		if (!strcmp(rules->list[i].name, name))
			return &rules->list[i];
	return NULL;
}

void auc_rules_defaults(const struct auc_rules *rules, const char *partition,
			struct auc_job_defaults *d)
{
	const struct auc_rule *r = auc_rules_find(rules, partition);
	uint64_t mem = slurm_conf.def_mem_per_cpu;

	memset(d, 0, sizeof(*d));
	if (r)
		*d = r->defaults;
	take_gpu_defaults(slurm_conf.job_defaults_list, d);
	if (!d->mem && mem != NO_VAL64)
		d->mem = mem;
}

const char *auc_rule_state(const struct auc_rule *r)
{
	if (r->submits)
		return r->starts ? "UP" : "DOWN";
	return r->starts ? "DRAIN" : "INACTIVE";
}

bool auc_rules_same(const struct auc_rules *a, const struct auc_rules *b)
{
	if (!a || !b || a->n != b->n)
		return a == b;
	for (unsigned i = 0; i < a->n; i++)
		if (!same_rule(&a->list[i], &b->list[i]))
			return false;
	return true;
}

enum auc_verdict auc_rule_allows(const struct auc_rule *r, const struct auc_asker *who, char *why,
				 size_t size)
{
	enum auc_verdict groups = allows_groups(r, who);
	int n = snprintf(why, size, "partition %s: ", r->name);
	char *at = why + ((size_t)n < size ? (size_t)n : size - 1);

	size -= (size_t)(at - why);
	if (!r->submits || !r->starts) {
		snprintf(at, size, "State=%s", auc_rule_state(r));
	} else if (r->unsold) {
		snprintf(at, size, "%s", r->unsold);
	} else if (r->root_only && who->submit_uid != 0 &&
		   who->submit_uid != slurm_conf.slurm_user_id) {
		snprintf(at, size, "RootOnly=YES");
	} else if (r->no_root && who->uid == 0) {
		snprintf(at, size, "DisableRootJobs=YES");
	} else if (r->hosts && !(who->host && host_listed(r->hosts, who->host))) {
		snprintf(at, size, "AllocNodes=%.128s, not %.64s", r->hosts,
			 who->host ? who->host : "(unknown)");
	} else if (groups == AUC_UNDECIDED) {
		snprintf(at, size,
			 "AllowGroups=%.128s, and which groups uid %u is in is being looked up",
			 r->groups, who->uid);
		return AUC_UNDECIDED;
	} else if (groups == AUC_BARRED) {
		snprintf(at, size, "AllowGroups=%.128s", r->groups);
	} else if (allows_account(r, who, at, size) && allows_qos(r, who, at, size)) {
		return AUC_ALLOWED;
	}
	return AUC_BARRED;
}

enum auc_code auc_rules_confine(const struct auc_rules *rules, const struct auc_asker *who,
				struct auc_bid *bid, char *reasons, size_t size,
				struct auc_err *err)
{
	char(*kept)[AUC_NAME_MAX] = calloc(AUC_BID_PARTITIONS_MAX, sizeof(*kept));
	unsigned n = 0, asked = 0;
	char why[512];
	size_t len = 0;

	reasons[0] = '\0';
	if (!kept)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the bid's partitions");
	for (unsigned i = 0; rules && i < rules->n; i++) {
		const struct auc_rule *r = &rules->list[i];
		enum auc_verdict verdict;

		if (bid->npartitions && !names(bid, r->name))
			continue;
		asked++;
		verdict = allows_shape(r, bid, why, sizeof(why))
				  ? auc_rule_allows(r, who, why, sizeof(why))
				  : AUC_BARRED;
		if (verdict == AUC_UNDECIDED) {
			free(kept);
			return auc_err_set(err, AUC_EAGAIN, "%s; try again in a moment", why);
		}
		if (verdict == AUC_ALLOWED && n < AUC_BID_PARTITIONS_MAX)
			strcpy(kept[n++], r->name);
		else if (len < size && !(r->hidden && !bid->npartitions))
			len += (size_t)snprintf(reasons + len, size - len, "%s%s", len ? "; " : "",
						verdict == AUC_ALLOWED ? "too many partitions"
								       : why);
	}
	if (n && n < asked) {
		memcpy(bid->partitions, kept, n * sizeof(*kept));
		bid->npartitions = n;
		bid->filtered = true;
	}
	free(kept);
	return n || !asked ? AUC_OK
			   : auc_err_set(err, AUC_EFULL, "%s",
					 reasons[0] ? reasons : "no partition is open to the job");
}

/* Shares of nodes are not sold where Slurm gives whole ones. */
static bool allows_shape(const struct auc_rule *r, const struct auc_bid *bid, char *why,
			 size_t size)
{
	if (!r->whole_nodes || bid->gang.whole || bid->ask)
		return true;
	snprintf(why, size,
		 "partition %s: OverSubscribe=EXCLUSIVE: whole nodes are sold there (--exclusive), "
		 "and none to jobs of workers and PSs",
		 r->name);
	return false;
}

/* False: no memory. */
static bool take(struct auc_rule *r, const partition_info_t *p)
{
	uint64_t mem = p->max_mem_per_cpu;

	strcpy(r->name, p->name);
	r->submits = p->state_up & PARTITION_SUBMIT;
	r->starts = p->state_up & PARTITION_SCHED;
	r->hidden = p->flags & PART_FLAG_HIDDEN;
	r->root_only = p->flags & PART_FLAG_ROOT_ONLY;
	r->no_root = p->flags & PART_FLAG_NO_ROOT;
	r->unsold = unsold(p);
	r->whole_nodes = p->max_share == 0 || is_linear();
	strcpy(r->limit.partition, p->name);
	r->limit.hidden = r->hidden;
	r->limit.paused = !r->submits || !r->starts || r->unsold;
	r->limit.seconds =
		p->max_time == INFINITE || p->max_time == NO_VAL ? INFINITY : 60.0 * p->max_time;
	r->limit.nodes = p->max_nodes; /* INFINITE is more than there are */
	r->limit.mem_per_cpu = mem && (mem & PER_CPU) ? (double)(mem & ~PER_CPU) : INFINITY;
	r->limit.mem_per_node = mem && !(mem & PER_CPU) && mem != INFINITE && mem != INFINITE64 &&
						mem != NO_VAL && mem != NO_VAL64
					? (double)mem
					: INFINITY;
	r->cpus_per_node = p->max_cpus_per_node;
	r->defaults.mem = p->def_mem_per_cpu == NO_VAL64 ? 0 : p->def_mem_per_cpu;
	r->defaults.minutes = p->default_time >= NO_VAL ? 0 : p->default_time;
	take_gpu_defaults(p->job_defaults_list, &r->defaults);
	return copy_text(&r->accounts, p->allow_accounts) &&
	       copy_text(&r->no_accounts, r->accounts ? NULL : p->deny_accounts) &&
	       copy_text(&r->qos, p->allow_qos) &&
	       copy_text(&r->no_qos, r->qos ? NULL : p->deny_qos) &&
	       copy_text(&r->own_qos, p->qos_char) && copy_text(&r->groups, p->allow_groups) &&
	       copy_text(&r->hosts, p->allow_alloc_nodes);
}

/* Of all partitions. */
static bool is_linear(void)
{
	return slurm_conf.select_type && !strcmp(slurm_conf.select_type, "select/linear");
}

/* Those of LIST, of job_defaults_t, that D does not have. */
static void take_gpu_defaults(auc_list_t list, struct auc_job_defaults *d)
{
	auc_list_itr_t it = list ? slurm_list_iterator_create(list) : NULL;
	const job_defaults_t *one;

	while (it && (one = slurm_list_next(it))) {
		if (one->type == JOB_DEF_CPU_PER_GPU && !d->cpus_per_gpu)
			d->cpus_per_gpu = one->value;
		else if (one->type == JOB_DEF_MEM_PER_GPU && !d->mem_per_gpu)
			d->mem_per_gpu = one->value;
	}
	if (it)
		slurm_list_iterator_destroy(it);
}

/* What is sold is a share of a node, as a job of one node, without a reservation at first. */
static const char *unsold(const partition_info_t *p)
{
	if (p->flags & PART_FLAG_REQ_RESV)
		return "ReqResv=YES, and what is sold begins without a reservation";
	if (p->flags & PART_FLAG_EXCLUSIVE_USER)
		return "ExclusiveUser=YES, and what is sold are shares of nodes";
	if (p->flags & PART_FLAG_EXCLUSIVE_TOPO)
		return "ExclusiveTopo=YES, and what is sold are shares of nodes";
	if ((p->max_share & SHARED_FORCE) && (p->max_share & ~SHARED_FORCE) > 1)
		return "OverSubscribe=FORCE, and what is sold is nobody else's";
	if (p->min_nodes > 1 && p->min_nodes != NO_VAL)
		return "MinNodes is more than 1, and what is sold are jobs of one node";
	if (p->max_nodes == 0)
		return "MaxNodes=0";
	return NULL;
}

/* "" and "ALL" are NULL, too. False: no memory. */
static bool copy_text(char **to, const char *from)
{
	bool any = !from || !*from || !strcasecmp(from, "ALL");

	*to = any ? NULL : strdup(from);
	return any || *to;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_rule(const struct auc_rule *a, const struct auc_rule *b)
{
	return !strcmp(a->name, b->name) && a->submits == b->submits && a->starts == b->starts &&
	       a->hidden == b->hidden && a->root_only == b->root_only && a->no_root == b->no_root &&
	       same_text(a->accounts, b->accounts) && same_text(a->no_accounts, b->no_accounts) &&
	       same_text(a->qos, b->qos) && same_text(a->no_qos, b->no_qos) &&
	       a->whole_nodes == b->whole_nodes && same_text(a->own_qos, b->own_qos) &&
	       same_text(a->groups, b->groups) && same_text(a->hosts, b->hosts) &&
	       a->unsold == b->unsold && a->limit.seconds == b->limit.seconds &&
	       a->limit.nodes == b->limit.nodes && a->limit.mem_per_cpu == b->limit.mem_per_cpu &&
	       a->limit.mem_per_node == b->limit.mem_per_node &&
	       a->cpus_per_node == b->cpus_per_node && a->defaults.mem == b->defaults.mem &&
	       a->defaults.cpus_per_gpu == b->defaults.cpus_per_gpu &&
	       a->defaults.mem_per_gpu == b->defaults.mem_per_gpu &&
	       a->defaults.minutes == b->defaults.minutes;
}

/* NAME is one of LIST's. */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name), n;

	for (const char *p = list; *(p += strspn(p, ", ")); p += n) {
		n = strcspn(p, ", ");
		if (n == len && !memcmp(p, name, n))
			return true;
	}
	return false;
}

static bool account_listed(const struct auc_accounts *accounts, const char *list,
			   const char *account)
{
	char name[256];
	size_t n;

	for (const char *p = list; *(p += strspn(p, ", ")); p += n) {
		n = strcspn(p, ", ");
		snprintf(name, sizeof(name), "%.*s", (int)n, p);
		if (n < sizeof(name) && auc_accounts_within(accounts, account, name))
			return true;
	}
	return false;
}

static bool host_listed(const char *list, const char *host)
{
	auc_hostlist_t hosts = slurm_hostlist_create(list);
	bool found = hosts && slurm_hostlist_find(hosts, host) >= 0;

	if (hosts)
		slurm_hostlist_destroy(hosts);
	return found;
}

static enum auc_verdict allows_groups(const struct auc_rule *r, const struct auc_asker *who)
{
	const struct auc_group_user *user;

	/* As in Slurm, these may run everywhere. */
	if (!r->groups || who->uid == 0 || who->uid == slurm_conf.slurm_user_id)
		return AUC_ALLOWED;
	user = who->groups ? auc_groups_find(who->groups, who->uid) : NULL;
	if (!user || !r->gids_known)
		return AUC_UNDECIDED;
	return auc_groups_any(user, r->gids, r->ngids) ? AUC_ALLOWED : AUC_BARRED;
}

static bool allows_account(const struct auc_rule *r, const struct auc_asker *who, char *why,
			   size_t size)
{
	const char *account = auc_accounts_account(who->accounts, who->uid, who->account);

	if (r->accounts && !(account && account_listed(who->accounts, r->accounts, account)))
		snprintf(why, size, "AllowAccounts=%.128s, not %.64s", r->accounts,
			 account ? account : "(unknown)");
	else if (r->no_accounts && account &&
		 account_listed(who->accounts, r->no_accounts, account))
		snprintf(why, size, "DenyAccounts=%.128s", r->no_accounts);
	else if (slurm_conf.accounting_storage_enforce & AUC_ENFORCE_ASSOCS &&
		 auc_accounts_lacks(who->accounts, who->uid, who->account, r->name))
		snprintf(why, size, "no association in account %.64s is for it", account);
	else
		return true;
	return false;
}

static bool allows_qos(const struct auc_rule *r, const struct auc_asker *who, char *why,
		       size_t size)
{
	const char *account = auc_accounts_account(who->accounts, who->uid, who->account);
	const char *qos = auc_accounts_qos(who->accounts, who->uid, account, r->name, who->qos);

	if (r->qos && !(qos && listed(r->qos, qos)))
		snprintf(why, size, "AllowQos=%.128s, not %.64s", r->qos, qos ? qos : "(unknown)");
	else if (r->no_qos && qos && listed(r->no_qos, qos))
		snprintf(why, size, "DenyQos=%.128s", r->no_qos);
	else
		return !auc_accounts_bars_qos(who->accounts, who->uid, who->submit_uid, account,
					      r->name, who->qos, r->own_qos, why, size);
	return false;
}

static bool names(const struct auc_bid *bid, const char *partition)
{
	for (unsigned i = 0; i < bid->npartitions; i++)
		if (!strcmp(bid->partitions[i], partition))
			return true;
	return false;
}
