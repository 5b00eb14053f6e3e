/* accounts.c - see accounts.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapter/accounts-private.h"
#include "base/clock.h"

/* Which limits a QOS has set already: each is that of the first that has it. */
struct seen {
	bool max, group, account;
};

static bool may_have(const struct auc_account_assoc *s, const struct auc_account_qos *q);
static bool is_operator(const struct auc_accounts *a, uint32_t uid);
static bool is_below(const struct auc_accounts *a, const struct auc_account_assoc *s,
		     const char *qos, const char *partition_qos, char *why, size_t size);
static bool copy_operators(struct auc_accounts *a, auc_list_t list);
static bool copy_coordinators(struct auc_accounts *a, auc_list_t list);
static bool copy_coordinated(struct auc_accounts *a, uint32_t uid, auc_list_t list);
static bool copy_ids(struct auc_account_assoc *s, auc_list_t list);
static bool copy_assocs(struct auc_accounts *a, auc_list_t list);
static bool copy_qos(struct auc_accounts *a, auc_list_t list);
static bool copy_uses(struct auc_account_qos *q, auc_list_t users, auc_list_t accounts);
static unsigned count(auc_list_t list);
static bool copy_text(char **to, const char *from);
static int by_uid(const void *a, const void *b);
static const struct auc_account_assoc *some_assoc(const struct auc_accounts *a, uint32_t uid,
						  const char *account);
static bool is_in(const struct auc_account_assoc *s, const char *account);
static unsigned first_of(const struct auc_accounts *a, uint32_t uid);
static const struct auc_account_assoc *account_called(const struct auc_accounts *a,
						      const char *account);
static const struct auc_account_qos *qos_called(const struct auc_accounts *a, const char *name);
static void lower_by_qos(uint32_t *room, char name[AUC_LIMIT_NAME], const struct auc_account_qos *q,
			 uint32_t uid, const char *account, bool shared, struct seen *seen);
static bool is_limit(uint32_t n);
static bool lower(uint32_t *room, uint32_t limit, uint32_t used);
static void name_of_qos(char name[AUC_LIMIT_NAME], const char *limit,
			const struct auc_account_qos *q);
static void name_of_assoc(char name[AUC_LIMIT_NAME], const char *limit,
			  const struct auc_account_assoc *s);

enum auc_code auc_accounts_make(const assoc_mgr_info_msg_t *msg, struct auc_accounts **accounts,
				struct auc_err *err)
{
	struct auc_accounts *a = calloc(1, sizeof(*a));

	*accounts = NULL;
	if (a)
		a->read_at = auc_clock_wall();
	if (!a || !auc_accounts_copy_names(a, msg) || !copy_assocs(a, msg->assoc_list) ||
	    !copy_qos(a, msg->qos_list) || !copy_operators(a, msg->user_list) ||
	    !copy_coordinators(a, msg->user_list)) {
		auc_accounts_free(a);
		return auc_err_set(err, AUC_ENOMEM, "out of memory for accounts");
	}
	a->uids = malloc((a->nassocs + 1) * sizeof(*a->uids));
	if (!a->uids) {
		auc_accounts_free(a);
		return auc_err_set(err, AUC_ENOMEM, "out of memory for users");
	}
	qsort(a->assocs, a->nassocs, sizeof(*a->assocs), by_uid);
	for (unsigned i = 0; i < a->nassocs; i++)
		if (a->assocs[i].uid != NO_VAL &&
		    (!a->nuids || a->uids[a->nuids - 1] != a->assocs[i].uid))
			a->uids[a->nuids++] = a->assocs[i].uid;
	*accounts = a;
	return AUC_OK;
}

void auc_accounts_free(struct auc_accounts *a)
{
	if (!a)
		return;
	auc_accounts_free_tres(a);
	for (unsigned i = 0; i < a->nassocs; i++) {
		free(a->assocs[i].account);
		free(a->assocs[i].partition);
		free(a->assocs[i].qos);
	}
	for (unsigned i = 0; i < a->nqos; i++) {
		for (unsigned k = 0; k < a->qos[i].nuses; k++)
			free(a->qos[i].uses[k].account);
		free(a->qos[i].uses);
		free(a->qos[i].name);
	}
	free(a->assocs);
	free(a->qos);
	free(a->uids);
	free(a->operators);
	for (unsigned i = 0; i < a->ncoordinators; i++)
		free(a->coordinators[i].account);
	free(a->coordinators);
	free(a);
}

const char *auc_accounts_account(const struct auc_accounts *a, uint32_t uid, const char *account)
{
	const struct auc_account_assoc *found;

	if (account && !*account)
		account = NULL;
	found = some_assoc(a, uid, account);
	return found ? found->account : account;
}

const char *auc_accounts_qos(const struct auc_accounts *a, uint32_t uid, const char *account,
			     const char *partition, const char *qos)
{
	const struct auc_account_assoc *s;

	if (qos && *qos)
		return qos;
	s = auc_accounts_assoc_of(a, uid, account, partition);
	for (unsigned i = 0; s && is_limit(s->default_qos) && i < a->nqos; i++)
		if (a->qos[i].id == s->default_qos)
			return a->qos[i].name;
	/* What Slurm gives a job without any. */
	return qos_called(a, "normal") ? "normal" : NULL;
}

bool auc_accounts_lacks(const struct auc_accounts *a, uint32_t uid, const char *account,
			const char *partition)
{
	unsigned first = first_of(a, uid);

	account = auc_accounts_account(a, uid, account);
	return account && a && first < a->nassocs && a->assocs[first].uid == uid &&
	       !auc_accounts_assoc_of(a, uid, account, partition);
}

bool auc_accounts_bars_qos(const struct auc_accounts *a, uint32_t uid, uint32_t submit_uid,
			   const char *account, const char *partition, const char *qos,
			   const char *partition_qos, char *why, size_t size)
{
	const struct auc_account_assoc *s = auc_accounts_assoc_of(a, uid, account, partition);
	const char *name = auc_accounts_qos(a, uid, account, partition, qos);
	const struct auc_account_qos *q = qos_called(a, name);
	bool enforced = slurm_conf.accounting_storage_enforce & AUC_ENFORCE_QOS;

	if (enforced && a && a->nqos && name && !q)
		snprintf(why, size, "there is no QOS %.64s", name);
	else if (enforced && q && s && !may_have(s, q) && !is_operator(a, submit_uid))
		snprintf(why, size, "your association in %.64s may not have QOS %.64s",
			 s->account ? s->account : "(unknown)", name);
	else if (enforced && q && q->needs_reservation)
		snprintf(why, size, "QOS %.64s is for jobs in a reservation only", name);
	else
		return s && is_below(a, s, name, partition_qos, why, size);
	return true;
}

static bool may_have(const struct auc_account_assoc *s, const struct auc_account_qos *q)
{
	for (unsigned i = 0; i < s->nqos; i++)
		if (s->qos[i] == q->id)
			return true;
	return !s->nqos;
}

static bool is_operator(const struct auc_accounts *a, uint32_t uid)
{
	for (unsigned i = 0; i < a->noperators; i++)
		if (a->operators[i] == uid)
			return true;
	return uid == 0 || uid == slurm_conf.slurm_user_id;
}

/* The fairshare that Slurm compares is that of the tree; priority/basic knows none. */
static bool is_below(const struct auc_accounts *a, const struct auc_account_assoc *s,
		     const char *qos, const char *partition_qos, char *why, size_t size)
{
	const char *type = slurm_conf.priority_type;
	bool factors = type && strstr(type, "multifactor");
	const struct auc_account_qos *q[2];
	double fairshare = factors ? s->fairshare : 0;

	auc_accounts_in_order(a, qos, partition_qos, q);
	if (q[0] && q[0]->threshold < 0)
		q[0] = q[1];
	if (!(slurm_conf.accounting_storage_enforce & AUC_ENFORCE_LIMITS) || !q[0] ||
	    fairshare >= q[0]->threshold ||
	    (factors && !(slurm_conf.priority_flags & PRIORITY_FLAGS_FAIR_TREE)))
		return false;
	snprintf(why, size,
		 "UsageThreshold of QOS %.64s is %.15g, and the fairshare of your association in "
		 "%.64s is %.3g",
		 q[0]->name, q[0]->threshold, s->account ? s->account : "(unknown)", fairshare);
	return true;
}

bool auc_accounts_within(const struct auc_accounts *a, const char *account, const char *other)
{
	const struct auc_account_assoc *s;

	if (!strcmp(account, other))
		return true;
	if (!AUC_ACCOUNTS_INHERIT)
		return false;
	s = account_called(a, account);
	for (unsigned depth = 0; s && depth < AUC_ACCOUNTS_DEPTH; depth++) {
		if (s->account && !strcmp(s->account, other))
			return true;
		s = auc_accounts_assoc_by_id(a, s->parent);
	}
	return false;
}

void auc_accounts_of_bid(const struct auc_accounts *a, uint32_t uid, const char *account,
			 struct auc_bid *bid)
{
	const char *name = auc_accounts_account(a, uid, account);
	const struct auc_account_assoc *s;

	bid->naccounts = 0;
	bid->stranger[0] = '\0';
	/* Slurm looks at that later, and only if it is told to. */
	if (!name || !some_assoc(a, uid, name)) {
		snprintf(bid->stranger, sizeof(bid->stranger), "%s", a && account ? account : "");
		return;
	}
	for (s = account_called(a, name); s && s->account && bid->naccounts < AUC_BID_ACCOUNTS_MAX;
	     s = auc_accounts_assoc_by_id(a, s->parent)) {
		if (strlen(s->account) >= AUC_NAME_MAX) {
			bid->naccounts = 0;
			return;
		}
		strcpy(bid->accounts[bid->naccounts++], s->account);
	}
}

void auc_accounts_print_members(const struct auc_accounts *a, const char *account, FILE *out)
{
	uint32_t last = NO_VAL;

	/* They are in order of uid, with one for each partition that a user has it in. */
	for (unsigned i = 0; a && i < a->nassocs; i++) {
		const struct auc_account_assoc *s = &a->assocs[i];

		if (s->uid == NO_VAL || s->uid == last || !s->account ||
		    strcmp(s->account, account))
			continue;
		fprintf(out, ",%u", s->uid);
		last = s->uid;
	}
}

bool auc_accounts_has(const struct auc_accounts *a, const char *account)
{
	return !a || !a->nassocs || account_called(a, account);
}

const uint32_t *auc_accounts_users(const struct auc_accounts *a, unsigned *n)
{
	*n = a ? a->nuids : 0;
	return a ? a->uids : NULL;
}

uint32_t auc_accounts_room(const struct auc_accounts *a, uint32_t uid, const char *account,
			   const char *partition, const char *qos, const char *partition_qos,
			   bool shared, char name[AUC_LIMIT_NAME])
{
	const struct auc_account_assoc *s = auc_accounts_assoc_of(a, uid, account, partition);
	const struct auc_account_qos *q[2];
	uint32_t room = UINT32_MAX;
	struct seen seen = {0};

	*name = '\0';
	auc_accounts_in_order(a, qos, partition_qos, q);
	for (unsigned i = 0; i < 2 && q[i]; i++)
		lower_by_qos(&room, name, q[i], uid, s ? s->account : NULL, shared, &seen);
	if (s && !seen.max && !shared && lower(&room, s->limits.max, s->used))
		name_of_assoc(name, "MaxSubmitJobs", s);
	for (unsigned depth = 0; s && shared && depth < AUC_ACCOUNTS_DEPTH; depth++) {
		if (!seen.group && lower(&room, s->limits.group, s->used))
			name_of_assoc(name, "GrpSubmitJobs", s);
		s = auc_accounts_assoc_by_id(a, s->parent);
	}
	return room;
}

uint32_t auc_accounts_minutes(const struct auc_accounts *a, uint32_t uid, const char *account,
			      const char *partition, const char *qos, const char *partition_qos,
			      char name[AUC_LIMIT_NAME])
{
	const struct auc_account_assoc *s = auc_accounts_assoc_of(a, uid, account, partition);
	const struct auc_account_qos *q[2];

	*name = '\0';
	auc_accounts_in_order(a, qos, partition_qos, q);
	for (unsigned i = 0; i < 2 && q[i]; i++) {
		if (!is_limit(q[i]->minutes))
			continue;
		name_of_qos(name, "MaxWallDurationPerJob", q[i]);
		return q[i]->minutes;
	}
	if (!s || !is_limit(s->minutes))
		return UINT32_MAX;
	name_of_assoc(name, "MaxWall", s);
	return s->minutes;
}

/* The QOS of a job and that of its partition, as their limits go before each other. */
void auc_accounts_in_order(const struct auc_accounts *a, const char *qos, const char *partition_qos,
			   const struct auc_account_qos *found[2])
{
	const struct auc_account_qos *job = qos_called(a, qos),
				     *partition = qos_called(a, partition_qos);
	bool job_first = job && (!partition || job->over_partition);

	found[0] = job_first ? job : partition;
	found[1] = job_first ? partition : job;
	if (found[1] == found[0])
		found[1] = NULL;
}

static void lower_by_qos(uint32_t *room, char name[AUC_LIMIT_NAME], const struct auc_account_qos *q,
			 uint32_t uid, const char *account, bool shared, struct seen *seen)
{
	uint32_t user = 0, in_account = 0;

	for (unsigned i = 0; i < q->nuses; i++) {
		const struct auc_account_use *u = &q->uses[i];

		if (i < q->nusers && u->uid == uid)
			user = u->used;
		if (i >= q->nusers && account && u->account && !strcmp(u->account, account))
			in_account = u->used;
	}
	if (!seen->max && !shared && lower(room, q->limits.max, user))
		name_of_qos(name, "MaxSubmitJobsPerUser", q);
	if (!seen->group && shared && lower(room, q->limits.group, q->used))
		name_of_qos(name, "GrpSubmitJobs", q);
	if (!seen->account && shared && lower(room, q->max_account, in_account))
		name_of_qos(name, "MaxSubmitJobsPerAccount", q);
	seen->max |= is_limit(q->limits.max);
	seen->group |= is_limit(q->limits.group);
	seen->account |= is_limit(q->max_account);
}

static bool copy_coordinators(struct auc_accounts *a, auc_list_t list)
{
	auc_list_itr_t it = list ? slurm_list_iterator_create(list) : NULL;
	slurmdb_user_rec_t *r;
	bool good = true;

	while (it && good && (r = slurm_list_next(it)))
		good = copy_coordinated(a, r->uid, r->coord_accts);
	if (it)
		slurm_list_iterator_destroy(it);
	return good;
}

/* The accounts of LIST are UID's to change. */
static bool copy_coordinated(struct auc_accounts *a, uint32_t uid, auc_list_t list)
{
	struct auc_account_coordinator *grown;
	slurmdb_coord_rec_t *r;
	auc_list_itr_t it;

	if (!count(list))
		return true;
	grown = realloc(a->coordinators, (a->ncoordinators + (size_t)count(list)) * sizeof(*grown));
	if (!grown)
		return false;
	a->coordinators = grown;
	it = slurm_list_iterator_create(list);
	while ((r = slurm_list_next(it))) {
		char *account = r->name ? strdup(r->name) : NULL;

		if (account)
			a->coordinators[a->ncoordinators++] =
				(struct auc_account_coordinator){uid, account};
	}
	slurm_list_iterator_destroy(it);
	return true;
}

bool auc_accounts_coordinates(const struct auc_accounts *a, uint32_t uid, const char *account)
{
	for (unsigned i = 0; a && account && i < a->ncoordinators; i++)
		if (a->coordinators[i].uid == uid &&
		    !strcasecmp(a->coordinators[i].account, account))
			return true;
	return false;
}

static bool copy_operators(struct auc_accounts *a, auc_list_t list)
{
	slurmdb_user_rec_t *r;
	auc_list_itr_t it;

	a->operators = calloc(count(list) + 1, sizeof(*a->operators));
	if (!a->operators || !list)
		return a->operators;
	it = slurm_list_iterator_create(list);
	while ((r = slurm_list_next(it)))
		if (r->admin_level >= SLURMDB_ADMIN_OPERATOR)
			a->operators[a->noperators++] = r->uid;
	slurm_list_iterator_destroy(it);
	return true;
}

/* LIST has numbers as texts. */
static bool copy_ids(struct auc_account_assoc *s, auc_list_t list)
{
	auc_list_itr_t it;
	const char *text;

	if (s->uid == NO_VAL || !count(list))
		return true;
	s->qos = calloc(count(list), sizeof(*s->qos));
	if (!s->qos)
		return false;
	it = slurm_list_iterator_create(list);
	while ((text = slurm_list_next(it)))
		if (*text)
			s->qos[s->nqos++] = (uint32_t)strtoul(text, NULL, 10);
	slurm_list_iterator_destroy(it);
	return true;
}

static bool copy_assocs(struct auc_accounts *a, auc_list_t list)
{
	slurmdb_assoc_rec_t *r;
	auc_list_itr_t it;
	bool good = true;

	a->assocs = calloc(count(list) + 1, sizeof(*a->assocs));
	if (!a->assocs || !list)
		return a->assocs;
	it = slurm_list_iterator_create(list);
	while (good && (r = slurm_list_next(it))) {
		struct auc_account_assoc *s = &a->assocs[a->nassocs++];

		*s = (struct auc_account_assoc){
			.id = r->id,
			.parent = r->parent_id,
			.uid = r->user && r->user[0] ? r->uid : NO_VAL,
			.default_qos = r->def_qos_id,
			.is_default = r->is_def == 1,
			.limits = {.max = r->max_submit_jobs, .group = r->grp_submit_jobs},
			.minutes = r->max_wall_pj,
		};
		if (r->usage) {
			s->used = r->usage->used_submit_jobs;
			s->fairshare = r->usage->fs_factor;
		}
		good = copy_ids(s, r->qos_list) && copy_text(&s->account, r->acct) &&
		       copy_text(&s->partition, r->partition) &&
		       auc_accounts_copy_assoc_tres(a, s, r);
	}
	slurm_list_iterator_destroy(it);
	return good;
}

static bool copy_qos(struct auc_accounts *a, auc_list_t list)
{
	slurmdb_qos_rec_t *r;
	auc_list_itr_t it;
	bool good = true;

	a->qos = calloc(count(list) + 1, sizeof(*a->qos));
	if (!a->qos || !list)
		return a->qos;
	it = slurm_list_iterator_create(list);
	while (good && (r = slurm_list_next(it))) {
		struct auc_account_qos *q = &a->qos[a->nqos++];

		*q = (struct auc_account_qos){
			.id = r->id,
			.limits = {.max = r->max_submit_jobs_pu, .group = r->grp_submit_jobs},
			.max_account = r->max_submit_jobs_pa,
			.minutes = r->max_wall_pj,
			.over_partition = r->flags & QOS_FLAG_OVER_PART_QOS,
			.needs_reservation = r->flags & QOS_FLAG_REQ_RESV,
			.threshold = -1,
		};
		if (r->flags & QOS_FLAG_ENFORCE_USAGE_THRES && r->usage_thres < NO_VAL)
			q->threshold = r->usage_thres;
		good = copy_text(&q->name, r->name) && auc_accounts_copy_qos_tres(a, q, r);
		if (!r->usage)
			continue;
		q->used = r->usage->grp_used_submit_jobs;
		good = good && copy_uses(q, r->usage->user_limit_list, r->usage->acct_limit_list);
	}
	slurm_list_iterator_destroy(it);
	return good;
}

static bool copy_uses(struct auc_account_qos *q, auc_list_t users, auc_list_t accounts)
{
	auc_list_t lists[] = {users, accounts};
	slurmdb_used_limits_t *r;
	auc_list_itr_t it;
	bool good = true;

	q->uses = calloc(count(users) + count(accounts) + 1, sizeof(*q->uses));
	for (unsigned l = 0; l < 2 && q->uses && good; l++) {
		it = lists[l] ? slurm_list_iterator_create(lists[l]) : NULL;
		while (it && good && (r = slurm_list_next(it))) {
			struct auc_account_use *u = &q->uses[q->nuses++];

			u->uid = r->uid;
			u->used = r->submit_jobs;
			good = copy_text(&u->account, r->acct);
		}
		if (it)
			slurm_list_iterator_destroy(it);
		if (!l)
			q->nusers = q->nuses;
	}
	return q->uses && good;
}

static unsigned count(auc_list_t list)
{
	return list ? (unsigned)slurm_list_count(list) : 0;
}

/* False: no memory. NULL and "" become NULL. */
static bool copy_text(char **to, const char *from)
{
	*to = from && *from ? strdup(from) : NULL;
	return *to || !from || !*from;
}

static int by_uid(const void *a, const void *b)
{
	const struct auc_account_assoc *x = a, *y = b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Of UID in ACCOUNT (NULL: its default), that for PARTITION before that for all. */
const struct auc_account_assoc *auc_accounts_assoc_of(const struct auc_accounts *a, uint32_t uid,
						      const char *account, const char *partition)
{
	const struct auc_account_assoc *best = NULL;

	for (unsigned i = first_of(a, uid); a && i < a->nassocs && a->assocs[i].uid == uid; i++) {
		const struct auc_account_assoc *s = &a->assocs[i];

		if (!is_in(s, account) ||
		    (s->partition && (!partition || strcmp(s->partition, partition))))
			continue;
		if (!best || s->partition)
			best = s;
	}
	return best;
}

/* Of UID in ACCOUNT (NULL: its default), for all partitions or for one. */
static const struct auc_account_assoc *some_assoc(const struct auc_accounts *a, uint32_t uid,
						  const char *account)
{
	for (unsigned i = first_of(a, uid); a && i < a->nassocs && a->assocs[i].uid == uid; i++)
		if (is_in(&a->assocs[i], account))
			return &a->assocs[i];
	return NULL;
}

static bool is_in(const struct auc_account_assoc *s, const char *account)
{
	/* Slurm takes capitals for small letters here. */
	return account ? s->account && !strcasecmp(s->account, account) : s->is_default;
}

/* The first association of UID, if it has one. */
static unsigned first_of(const struct auc_accounts *a, uint32_t uid)
{
	unsigned low = 0, high = a ? a->nassocs : 0;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (a->assocs[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct auc_account_assoc *auc_accounts_assoc_by_id(const struct auc_accounts *a, uint32_t id)
{
	for (unsigned i = 0; a && id && i < a->nassocs; i++)
		if (a->assocs[i].id == id)
			return &a->assocs[i];
	return NULL;
}

/* The account's own association, not that of one of its users. */
static const struct auc_account_assoc *account_called(const struct auc_accounts *a,
						      const char *account)
{
	for (unsigned i = a ? a->nassocs : 0; i-- > 0 && a->assocs[i].uid == NO_VAL;)
		if (a->assocs[i].account && !strcmp(a->assocs[i].account, account))
			return &a->assocs[i];
	return NULL;
}

static const struct auc_account_qos *qos_called(const struct auc_accounts *a, const char *name)
{
	for (unsigned i = 0; a && name && i < a->nqos; i++)
		if (a->qos[i].name && !strcmp(a->qos[i].name, name))
			return &a->qos[i];
	return NULL;
}

static bool is_limit(uint32_t n)
{
	return n != NO_VAL && n != INFINITE;
}

/* True if *ROOM has become less by it. */
static bool lower(uint32_t *room, uint32_t limit, uint32_t used)
{
	uint32_t left = used < limit ? limit - used : 0;

	if (!is_limit(limit) || left >= *room)
		return false;
	*room = left;
	return true;
}

static void name_of_qos(char name[AUC_LIMIT_NAME], const char *limit,
			const struct auc_account_qos *q)
{
	snprintf(name, AUC_LIMIT_NAME, "%s of QOS %s", limit, q->name ? q->name : "(unknown)");
}

static void name_of_assoc(char name[AUC_LIMIT_NAME], const char *limit,
			  const struct auc_account_assoc *s)
{
	snprintf(name, AUC_LIMIT_NAME, "%s of %s %s", limit,
		 s->uid == NO_VAL ? "account" : "your association in",
		 s->account ? s->account : "(unknown)");
}
