/* site.c - see site.h. The only global state of the plugins lives here. */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "adapter/patience.h"
#include "adapter/site.h"
#include "adapter/slurm_compat.h"

#define CONF_KEPT   "auction.conf" /* in StateSaveLocation and in the spool's directory */
#define NAMES_MAX   64
#define WANTED_MAX  64  /* users that may wait at once; others ask again */

/* Of what jobs are too many, and what to do. */
#define SCHEDULE     "the best schedule is"
#define SCHEDULE_END " at once, one for each node"
#define LESS_WORK    "lower --chunks"
#define ARRAY        "the array is"
#define LESS_TASKS   "submit fewer tasks"

static struct {
	pthread_rwlock_t conf; /* held shared while a bid is decided, exclusively while the
				  configuration changes */
	pthread_mutex_t lock;  /* everything below that is not under conf */
	unsigned users;
	bool attached;
	char gate[sizeof(((struct auc_err *)0)->text)]; /* "" is open */
	bool passing;                                   /* it opens in some seconds */
	struct auc_partitions partitions;               /* of Slurm, as far as known */
	/* slurmctld's own name of its default partition; NULL: it has no such variable. */
	char *const *own_default;
	char expected[AUC_SALE_ID_LEN];
	char conf_path[PATH_MAX];
	char state_dir[PATH_MAX], slurm_conf[PATH_MAX];
	bool jobs_known;
	uint32_t *jobs; /* sorted */
	unsigned njobs;
	/* under conf */
	struct auc_auction *auction;
	struct auc_err why; /* why there is no auction */
	char names[NAMES_MAX][AUC_NAME_MAX];
	unsigned nnames;
	bool sold_known; /* what is sold is in one of the names */
	/* one call of auc_site_count_jobs() at a time; taken before rules_lock */
	pthread_mutex_t count_lock;
	/* under rules_lock; taken after conf */
	pthread_rwlock_t rules_lock;
	struct auc_rules *rules; /* NULL: not known yet */
	int64_t rules_changed;
	struct auc_accounts *accounts;
	struct auc_groups groups;
	/* under lock */
	uint32_t wanted[WANTED_MAX]; /* users whose groups are to be looked up */
	unsigned nwanted;
	struct auc_node_bounds bounds;
	struct auc_granted granted;
	struct auc_patience patience; /* locks itself */
} site = {.conf = PTHREAD_RWLOCK_INITIALIZER,
	  .lock = PTHREAD_MUTEX_INITIALIZER,
	  .count_lock = PTHREAD_MUTEX_INITIALIZER,
	  .rules_lock = PTHREAD_RWLOCK_INITIALIZER,
	  .patience = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static bool is_hidden(const char *partition);
static enum auc_code look_at_room(unsigned need, uint64_t room, uint32_t uid, bool shared,
				  unsigned minutes, const char *limit, struct auc_err *err);
static void want_user(uint32_t uid);
static unsigned job_records(void);
static enum auc_code check_limits(const job_desc_msg_t *desc, const char *partition, unsigned need,
				  unsigned minutes, struct auc_err *err);
static bool load_kept(struct auc_conf **conf);
static void kept_path(const char *dir, char *path, size_t size);
static enum auc_code load_conf(const char *path, struct auc_conf **conf, struct auc_err *err);
static enum auc_code check_types(const struct auc_conf_type *types, unsigned n, const char *key,
				 const char *path, struct auc_err *err);
static void read_partitions(void);
static void names_of_conf(const struct auc_conf *conf);
static void names_without_conf(const char *path);
static struct auc_conf *kept_in(const char *dir);
static void add_name(const char *name, size_t len);
static int by_number(const void *a, const void *b);

enum auc_code auc_site_get(uint32_t built, struct auc_err *err)
{
	struct auc_conf *conf;
	bool first;

	if (built != SLURM_VERSION_NUMBER)
		return auc_err_set(err, AUC_ESTATE,
				   "this plugin is built for Slurm %u.%02u.%u, its "
				   "libslurm_auction for %s: install both "
				   "of one build",
				   SLURM_VERSION_MAJOR(built), SLURM_VERSION_MINOR(built),
				   SLURM_VERSION_MICRO(built), BUILT_FOR_SLURM);
	pthread_mutex_lock(&site.lock);
	first = site.users++ == 0;
	pthread_mutex_unlock(&site.lock);
	if (!first)
		return AUC_OK;
	auc_site_read_slurm_conf();
	read_partitions();
	site.own_default = (char *const *)dlsym(RTLD_DEFAULT, "default_part_name");
	auc_site_gate("no scheduler of the auction runs: SchedulerType=sched/auction is needed",
		      false);
	pthread_rwlock_wrlock(&site.conf);
	if (!load_conf(site.conf_path, &conf, &site.why) || load_kept(&conf)) {
		names_of_conf(conf);
		auc_auction_create(conf, &site.auction, &site.why);
	} else {
		names_without_conf(site.conf_path);
	}
	if (!site.sold_known)
		slurm_error("auction: nothing says what is sold: without a bid no job enters a "
			    "partition with GPUs until auction.conf can be read");
	if (!site.auction)
		slurm_error("auction: %s", site.why.text);
	else
		slurm_info("auction: configuration read from %s, built for Slurm %s",
			   site.conf_path, BUILT_FOR_SLURM);
	pthread_rwlock_unlock(&site.conf);
	return AUC_OK;
}

bool auc_site_put(void)
{
	bool last;

	pthread_mutex_lock(&site.lock);
	last = site.users && --site.users == 0;
	pthread_mutex_unlock(&site.lock);
	if (!last)
		return false;
	pthread_rwlock_wrlock(&site.conf);
	auc_auction_destroy(site.auction);
	site.auction = NULL;
	site.nnames = 0;
	site.sold_known = false;
	auc_err_set(&site.why, AUC_ESTATE, "the auction has ended");
	pthread_rwlock_unlock(&site.conf);
	auc_site_set_rules(NULL, -1);
	auc_site_set_accounts(NULL, NULL, NULL);
	pthread_rwlock_wrlock(&site.rules_lock);
	auc_groups_clear(&site.groups);
	pthread_rwlock_unlock(&site.rules_lock);
	pthread_mutex_lock(&site.lock);
	free(site.jobs);
	site.jobs = NULL;
	site.njobs = 0;
	site.nwanted = 0;
	site.jobs_known = false;
	auc_partitions_clear(&site.partitions);
	pthread_mutex_unlock(&site.lock);
	return true;
}

struct auc_auction *auc_site_enter(struct auc_err *err)
{
	pthread_rwlock_rdlock(&site.conf);
	if (site.auction)
		return site.auction;
	auc_err_set(err, AUC_ESTATE, "%s", site.why.text);
	pthread_rwlock_unlock(&site.conf);
	return NULL;
}

void auc_site_leave(void)
{
	pthread_rwlock_unlock(&site.conf);
}

enum auc_code auc_site_open(struct auc_err *err)
{
	enum auc_code code = AUC_OK;

	pthread_mutex_lock(&site.lock);
	if (site.gate[0])
		code = auc_err_set(err, site.passing ? AUC_EAGAIN : AUC_ESTATE, "%s", site.gate);
	pthread_mutex_unlock(&site.lock);
	return code;
}

void auc_site_gate(const char *reason, bool passing)
{
	pthread_mutex_lock(&site.lock);
	snprintf(site.gate, sizeof(site.gate), "%s", reason ? reason : "");
	site.passing = passing;
	pthread_mutex_unlock(&site.lock);
}

bool auc_site_is_ours(const char *partition, size_t len)
{
	bool ours = false, known;

	pthread_rwlock_rdlock(&site.conf);
	for (unsigned i = 0; i < site.nnames && !ours; i++)
		ours = strlen(site.names[i]) == len && !memcmp(site.names[i], partition, len);
	known = site.sold_known;
	pthread_rwlock_unlock(&site.conf);
	if (ours || known)
		return ours;
	pthread_mutex_lock(&site.lock);
	ours = !auc_partitions_ordinary(&site.partitions, partition, len);
	pthread_mutex_unlock(&site.lock);
	return ours;
}

void auc_site_partitions(char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	pthread_rwlock_rdlock(&site.conf);
	for (unsigned i = 0; i < site.nnames && n < size; i++)
		if (!is_hidden(site.names[i]))
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
					      site.names[i]);
	if (!site.sold_known && n < size)
		snprintf(buf + n, size - n,
			 "%sall with GPUs, as long as auction.conf cannot be "
			 "read",
			 n ? ", " : "");
	pthread_rwlock_unlock(&site.conf);
}

bool auc_site_lacks(const char *partition)
{
	bool lacks;

	pthread_mutex_lock(&site.lock);
	lacks = auc_partitions_lack(&site.partitions, partition);
	pthread_mutex_unlock(&site.lock);
	return lacks;
}

void auc_site_set_partitions(struct auc_partitions *partitions)
{
	struct auc_partitions old;

	pthread_mutex_lock(&site.lock);
	old = site.partitions;
	site.partitions = *partitions;
	pthread_mutex_unlock(&site.lock);
	memset(partitions, 0, sizeof(*partitions));
	auc_partitions_clear(&old);
}

/*
 * slurmctld's own variable is right at every moment. The caller holds slurmctld's lock of its
 * partitions, under which alone it changes.
 */
void auc_site_default(char *name)
{
	const char *own = site.own_default ? *site.own_default : site.partitions.default_name;

	pthread_mutex_lock(&site.lock);
	snprintf(name, AUC_NAME_MAX, "%s", own ? own : "");
	pthread_mutex_unlock(&site.lock);
}

bool auc_site_default_is_ours(void)
{
	char name[AUC_NAME_MAX];

	auc_site_default(name);
	return name[0] ? auc_site_is_ours(name, strlen(name)) : !site.own_default;
}

enum auc_diverts auc_site_diverts(const char *partition, size_t len, char *sold)
{
	const struct auc_partition *found;
	struct auc_partition p = {.alternate = ""};
	bool sure;

	pthread_rwlock_rdlock(&site.rules_lock);
	sure = site.rules && site.rules_changed == auc_partitions_changed();
	pthread_rwlock_unlock(&site.rules_lock);
	for (unsigned i = 0; i < NAMES_MAX; i++) {
		pthread_mutex_lock(&site.lock);
		found = auc_partitions_find(&site.partitions, partition, len);
		if (found)
			p = *found;
		pthread_mutex_unlock(&site.lock);
		memcpy(sold, p.name, AUC_NAME_MAX);
		if (found && i && (p.submits || !sure) && auc_site_is_ours(p.name, len))
			return sure ? AUC_DIVERTED : AUC_MAY_BE_DIVERTED;
		if (!found || (sure && p.submits))
			break;
		partition = p.alternate;
		len = strlen(partition);
	}
	return AUC_STAYS;
}

void auc_site_read_slurm_conf(void)
{
	const char *file = slurm_conf.slurm_conf ? slurm_conf.slurm_conf : getenv("SLURM_CONF");

	pthread_mutex_lock(&site.lock);
	auc_conf_path(slurm_conf.sched_params, file, site.conf_path, sizeof(site.conf_path));
	snprintf(site.state_dir, sizeof(site.state_dir), "%s",
		 slurm_conf.state_save_location ? slurm_conf.state_save_location
						: "/var/spool/slurm");
	snprintf(site.slurm_conf, sizeof(site.slurm_conf), "%s", file ? file : "");
	pthread_mutex_unlock(&site.lock);
}

void auc_site_slurm_conf(char *path)
{
	pthread_mutex_lock(&site.lock);
	memcpy(path, site.slurm_conf, sizeof(site.slurm_conf));
	pthread_mutex_unlock(&site.lock);
}

const char *auc_site_state_dir(void)
{
	return site.state_dir;
}

enum auc_code auc_site_reload(double now, struct auc_err *err)
{
	char path[PATH_MAX];
	struct auc_conf *conf;
	enum auc_code code;

	pthread_mutex_lock(&site.lock);
	memcpy(path, site.conf_path, sizeof(path));
	pthread_mutex_unlock(&site.lock);
	code = load_conf(path, &conf, err);
	if (code) {
		pthread_rwlock_wrlock(&site.conf);
		if (!site.auction && err)
			site.why = *err;
		pthread_rwlock_unlock(&site.conf);
		return code;
	}
	pthread_rwlock_wrlock(&site.conf);
	names_of_conf(conf);
	if (site.auction)
		code = auc_auction_reconfigure(site.auction, conf, now, err);
	else
		code = auc_auction_create(conf, &site.auction, err);
	if (site.auction)
		names_of_conf(auc_auction_conf(site.auction));
	pthread_rwlock_unlock(&site.conf);
	return code;
}

/* Printed under the lock, written without it. */
enum auc_code auc_site_keep(const char *spool_dir, struct auc_err *err)
{
	char path[PATH_MAX], *text = NULL;
	const struct auc_auction *a = auc_site_enter(err);
	enum auc_code code;
	size_t len = 0;
	bool good;
	FILE *f;

	if (!a)
		return AUC_ESTATE;
	f = open_memstream(&text, &len);
	if (f)
		auc_conf_print(auc_auction_conf(a), f);
	auc_site_leave();
	good = f && !ferror(f);
	if (f && fclose(f))
		good = false;
	kept_path(site.state_dir, path, sizeof(path));
	code = good ? auc_file_replace(path, text, len, 0600, true, err)
		    : auc_err_set(err, AUC_ENOMEM, "out of memory for %s", path);
	kept_path(spool_dir, path, sizeof(path));
	if (!code && *spool_dir)
		code = auc_file_replace(path, text, len, 0600, true, err);
	free(text);
	return code;
}

struct auc_conf *auc_site_kept(void)
{
	return kept_in(site.state_dir);
}

void auc_site_attach(bool attached)
{
	pthread_mutex_lock(&site.lock);
	site.attached = attached;
	site.jobs_known = false;
	pthread_mutex_unlock(&site.lock);
}

void auc_site_set_node_bounds(struct auc_node_bounds bounds)
{
	pthread_mutex_lock(&site.lock);
	site.bounds = bounds;
	pthread_mutex_unlock(&site.lock);
}

struct auc_node_bounds auc_site_node_bounds(void)
{
	struct auc_node_bounds bounds;

	pthread_mutex_lock(&site.lock);
	bounds = site.bounds;
	pthread_mutex_unlock(&site.lock);
	return bounds;
}

bool auc_site_attached(void)
{
	bool attached;

	pthread_mutex_lock(&site.lock);
	attached = site.attached;
	pthread_mutex_unlock(&site.lock);
	return attached;
}

enum auc_code auc_site_protect(const uint32_t *jobs, unsigned njobs, struct auc_err *err)
{
	uint32_t *copy = malloc((njobs + 1) * sizeof(*copy));

	if (!copy)
		return auc_err_set(err, AUC_ENOMEM,
				   "out of memory for the list of %u protected jobs", njobs);
	memcpy(copy, jobs, njobs * sizeof(*copy));
	qsort(copy, njobs, sizeof(*copy), by_number);
	pthread_mutex_lock(&site.lock);
	free(site.jobs);
	site.jobs = copy;
	site.njobs = njobs;
	site.jobs_known = true;
	pthread_mutex_unlock(&site.lock);
	return AUC_OK;
}

enum auc_protect auc_site_protects(uint32_t job_id)
{
	enum auc_protect answer = AUC_PROTECT_NO;

	pthread_mutex_lock(&site.lock);
	if (site.attached && !site.jobs_known)
		answer = AUC_PROTECT_UNKNOWN;
	else if (site.njobs && bsearch(&job_id, site.jobs, site.njobs, sizeof(job_id), by_number))
		answer = AUC_PROTECT_YES;
	pthread_mutex_unlock(&site.lock);
	return answer;
}

void auc_site_expect_member(const char *sale)
{
	pthread_mutex_lock(&site.lock);
	snprintf(site.expected, sizeof(site.expected), "%s", sale);
	pthread_mutex_unlock(&site.lock);
}

bool auc_site_expects_member(const char *sale)
{
	bool expected;

	pthread_mutex_lock(&site.lock);
	expected = site.expected[0] && !strcmp(site.expected, sale);
	pthread_mutex_unlock(&site.lock);
	return expected;
}

void auc_site_set_rules(struct auc_rules *rules, int64_t changed)
{
	struct auc_rules *old;

	pthread_rwlock_wrlock(&site.rules_lock);
	old = site.rules;
	/* Groups that were looked up are what they were. */
	for (unsigned i = 0; rules && i < rules->n; i++) {
		struct auc_rule *r = &rules->list[i];

		for (unsigned k = 0; old && r->groups && k < old->n && !r->gids_known; k++) {
			struct auc_rule *was = &old->list[k];

			if (!was->gids_known || !was->groups || strcmp(was->groups, r->groups))
				continue;
			r->gids = was->gids;
			r->ngids = was->ngids;
			r->gids_known = true;
			was->gids = NULL;
			was->gids_known = false;
		}
	}
	site.rules = rules;
	site.rules_changed = changed;
	pthread_rwlock_unlock(&site.rules_lock);
	auc_rules_free(old);
}

bool auc_site_set_accounts(struct auc_accounts *accounts, auc_granted_is_counted *is_counted,
			   const void *arg)
{
	struct auc_accounts *old;
	bool left = false;

	pthread_rwlock_wrlock(&site.rules_lock);
	old = site.accounts;
	site.accounts = accounts;
	pthread_mutex_lock(&site.lock);
	if (is_counted)
		left = auc_granted_sweep(&site.granted, is_counted, arg, auc_site_elapsed());
	pthread_mutex_unlock(&site.lock);
	pthread_rwlock_unlock(&site.rules_lock);
	auc_accounts_free(old);
	return left;
}

enum auc_code auc_site_set_group_ids(const char *groups, const uint32_t *gids, unsigned ngids,
				     struct auc_err *err)
{
	enum auc_code code = AUC_OK;

	pthread_rwlock_wrlock(&site.rules_lock);
	for (unsigned i = 0; site.rules && i < site.rules->n; i++) {
		struct auc_rule *r = &site.rules->list[i];
		uint32_t *copy;

		if (!r->groups || strcmp(r->groups, groups))
			continue;
		copy = malloc((ngids + 1) * sizeof(*copy));
		if (!copy) {
			code = auc_err_set(err, AUC_ENOMEM, "out of memory for AllowGroups=%.128s",
					   groups);
			break;
		}
		if (ngids)
			memcpy(copy, gids, ngids * sizeof(*copy));
		free(r->gids);
		r->gids = copy;
		r->ngids = ngids;
		r->gids_known = true;
	}
	pthread_rwlock_unlock(&site.rules_lock);
	return code;
}

enum auc_code auc_site_set_user_groups(uint32_t uid, const uint32_t *gids, unsigned ngids,
				       struct auc_err *err)
{
	enum auc_code code;

	pthread_rwlock_wrlock(&site.rules_lock);
	code = auc_groups_put(&site.groups, uid, gids, ngids, err);
	pthread_rwlock_unlock(&site.rules_lock);
	return code;
}

enum auc_code auc_site_confine(const job_desc_msg_t *desc, uint32_t submit_uid, struct auc_bid *bid,
			       char *reasons, size_t size, struct auc_err *err)
{
	struct auc_asker who = {.uid = desc->user_id,
				.submit_uid = submit_uid,
				.account = desc->account,
				.qos = desc->qos,
				.host = desc->alloc_node,
				.groups = &site.groups};
	const struct auc_group_user *known;
	enum auc_code code;

	reasons[0] = '\0';
	pthread_rwlock_rdlock(&site.rules_lock);
	who.accounts = site.accounts;
	/* slurmctld's lock keeps partitions as they are meanwhile. */
	if (!site.rules || site.rules_changed != auc_partitions_changed())
		code = auc_err_set(err, AUC_EAGAIN,
				   "Slurm's partitions have just changed, and are being looked at; "
				   "try again in a moment");
	else
		code = auc_rules_confine(site.rules, &who, bid, reasons, size, err);
	auc_accounts_of_bid(site.accounts, who.uid, desc->account, bid);
	known = auc_groups_find(&site.groups, who.uid);
	pthread_rwlock_unlock(&site.rules_lock);
	if (code == AUC_EAGAIN && !known)
		want_user(who.uid);
	return code;
}

/* Records of jobs that slurmctld has; 0: it does not say. It holds them locked. */
static unsigned job_records(void)
{
	static auc_list_t *list;

	if (!list)
		list = dlsym(RTLD_DEFAULT, "job_list");
	return list && *list ? (unsigned)slurm_list_count(*list) : 0;
}

static enum auc_code check_limits(const job_desc_msg_t *desc, const char *partition, unsigned need,
				  unsigned minutes, struct auc_err *err)
{
	const struct auc_accounts *a = site.accounts;
	uint32_t uid = desc->user_id, room;
	const char *account = auc_accounts_account(a, uid, desc->account);
	const char *qos = auc_accounts_qos(a, uid, account, partition, desc->qos);
	const struct auc_rule *rule = auc_rules_find(site.rules, partition);
	const char *own = rule ? rule->own_qos : NULL;
	char name[AUC_LIMIT_NAME];

	room = auc_accounts_minutes(a, uid, account, partition, qos, own, name);
	if (minutes > room)
		return auc_err_set(err, AUC_EFULL,
				   "refused: in the best schedule a job takes %u minute%s, and %s "
				   "is %u; bid for less work, or for more workers",
				   minutes, auc_plural(minutes), name, room);
	for (int shared = 0; shared < 2; shared++) {
		enum auc_code code;

		room = auc_accounts_room(a, uid, account, partition, qos, own, shared, name);
		code = *name ? look_at_room(need, room, uid, shared, minutes, name, err) : AUC_OK;
		if (code)
			return code;
	}
	return AUC_OK;
}

/*
 * NEED jobs of UID, MINUTES long, where LIMIT has ROOM for more than Slurm counts. Bids of the last
 * seconds may be counted or not: where that matters it is not decided before it is known.
 */
static enum auc_code look_at_room(unsigned need, uint64_t room, uint32_t uid, bool shared,
				  unsigned minutes, const char *limit, struct auc_err *err)
{
	unsigned others;

	pthread_mutex_lock(&site.lock);
	others = auc_granted_jobs(&site.granted, uid, shared, auc_site_elapsed());
	pthread_mutex_unlock(&site.lock);
	if (need > room)
		return auc_err_set(err, AUC_EFULL,
				   "refused: %s %u job%s%s; %s allows %llu more; %s, or wait until "
				   "jobs have ended",
				   minutes ? SCHEDULE : ARRAY, need, auc_plural(need),
				   minutes ? SCHEDULE_END : "", limit, (unsigned long long)room,
				   minutes ? LESS_WORK : LESS_TASKS);
	if (need && need + (uint64_t)others > room)
		return auc_err_set(
			err, AUC_EAGAIN,
			"%s %u job%s%s; %s allows %llu more, and bids of the last seconds "
			"may take %u of them, which are being counted; try again in a "
			"moment",
			minutes ? SCHEDULE : ARRAY, need, auc_plural(need),
			minutes ? SCHEDULE_END : "", limit, (unsigned long long)room, others);
	return AUC_OK;
}

/* Two submissions at once must not both take the last room. */
enum auc_code auc_site_count_jobs(const job_desc_msg_t *desc, const char *partition, unsigned need,
				  unsigned minutes, const char *sale, struct auc_err *err)
{
	uint32_t max = slurm_conf.max_job_cnt, most = AUC_MOST_JOBS(max), there;
	enum auc_code code = AUC_OK;
	char name[32];

	pthread_mutex_lock(&site.count_lock);
	there = job_records();
	snprintf(name, sizeof(name), "MaxJobCount=%u", max);
	if (there && max)
		code = look_at_room(need, most > there ? most - there : 0, 0, true, minutes, name,
				    err);
	if (!code && slurm_conf.accounting_storage_enforce & AUC_ENFORCE_LIMITS) {
		pthread_rwlock_rdlock(&site.rules_lock);
		code = check_limits(desc, partition, need, minutes, err);
		pthread_rwlock_unlock(&site.rules_lock);
	}
	pthread_mutex_lock(&site.lock);
	if (!code && *sale)
		auc_granted_add(&site.granted, sale, desc->user_id, need, auc_site_elapsed());
	pthread_mutex_unlock(&site.lock);
	pthread_mutex_unlock(&site.count_lock);
	return code;
}

bool auc_site_may_ask_again(uint32_t uid)
{
	return auc_patience_lasts(&site.patience, uid, auc_site_elapsed());
}

/* Somebody is to look up UID's groups. */
static void want_user(uint32_t uid)
{
	unsigned i;

	pthread_mutex_lock(&site.lock);
	for (i = 0; i < site.nwanted && site.wanted[i] != uid; i++)
		;
	if (i == site.nwanted && i < WANTED_MAX)
		site.wanted[site.nwanted++] = uid;
	pthread_mutex_unlock(&site.lock);
}

bool auc_site_wanted_user(uint32_t *uid)
{
	bool any;

	pthread_mutex_lock(&site.lock);
	any = site.nwanted > 0;
	if (any)
		*uid = site.wanted[--site.nwanted];
	pthread_mutex_unlock(&site.lock);
	return any;
}

void auc_site_with_rules(void (*fn)(const struct auc_rules *rules,
				    const struct auc_accounts *accounts, void *arg),
			 void *arg)
{
	pthread_rwlock_rdlock(&site.rules_lock);
	fn(site.rules, site.accounts, arg);
	pthread_rwlock_unlock(&site.rules_lock);
}

/* Slurm shows PARTITION to administrators only. */
static bool is_hidden(const char *partition)
{
	const struct auc_rule *r;
	bool hidden;

	pthread_rwlock_rdlock(&site.rules_lock);
	r = auc_rules_find(site.rules, partition);
	hidden = r && r->hidden;
	pthread_rwlock_unlock(&site.rules_lock);
	return hidden;
}

double auc_site_now(void)
{
	return auc_clock_wall();
}

double auc_site_elapsed(void)
{
	return auc_clock_now();
}

/*
 * From 23.11 on slurmctld reconfigures by starting anew, and says so in its environment. The
 * configuration in force before is then in the file of auc_site_keep().
 */
static bool load_kept(struct auc_conf **conf)
{
	if (!getenv("SLURMCTLD_RECONF"))
		return false;
	*conf = auc_site_kept();
	if (!*conf)
		return false;
	slurm_error("auction: %s; the configuration before it stays in force", site.why.text);
	return true;
}

static void kept_path(const char *dir, char *path, size_t size)
{
	snprintf(path, size, "%.4000s/" CONF_KEPT, dir);
}

static struct auc_conf *kept_in(const char *dir)
{
	struct auc_conf *conf = NULL;
	char path[PATH_MAX];

	kept_path(dir, path, sizeof(path));
	return load_conf(path, &conf, NULL) ? NULL : conf;
}

/* Loads a configuration and checks what only matters on Slurm. */
static enum auc_code load_conf(const char *path, struct auc_conf **conf, struct auc_err *err)
{
	enum auc_code code = auc_conf_load(path, conf, err);
	const char *unknown;

	if (!code)
		code = check_types((*conf)->worker_types, (*conf)->nworker_types, "WorkerType",
				   path, err);
	if (!code)
		code = check_types((*conf)->ps_types, (*conf)->nps_types, "PSType", path, err);
	if (!code && (*conf)->npartitions == 0)
		code = auc_err_set(err, AUC_EINVAL,
				   "%s: no PartitionName= line: an auction needs one", path);
	if (!code && (*conf)->npartitions > NAMES_MAX)
		code = auc_err_set(err, AUC_EINVAL, "%s: more than %d PartitionName= lines", path,
				   NAMES_MAX);
	if (code && *conf) {
		auc_conf_free(*conf);
		*conf = NULL;
	}
	if (!code && auc_conf_name_users(*conf, auc_user_number, &unknown))
		slurm_error("auction: %s: Refill=user=%s: there is no such user, who gets nothing "
			    "until the configuration is read again",
			    path, unknown);
	return code;
}

/* Slurm gives every job at least one CPU, counts memory in MB and hands out whole CPUs and GPUs: so
 * must the types. */
static enum auc_code check_types(const struct auc_conf_type *types, unsigned n, const char *key,
				 const char *path, struct auc_err *err)
{
	for (unsigned i = 0; i < n; i++) {
		bool cpu = false, mem = false;

		for (unsigned k = 0; k < types[i].ntres; k++) {
			const struct auc_named *t = &types[i].tres[k];

			if ((double)auc_floor(t->value) != t->value)
				return auc_err_set(err, AUC_EINVAL,
						   "%s:%u: %s=%s: TRES %s=%g: Slurm hands out "
						   "whole units, give a "
						   "whole number",
						   path, types[i].line, key, types[i].name, t->name,
						   t->value);
			cpu |= !strcmp(t->name, "cpu") && t->value >= 1;
			mem |= !strcmp(t->name, "mem") && t->value >= 1;
		}
		if (!cpu || !mem)
			return auc_err_set(err, AUC_EINVAL,
					   "%s:%u: %s=%s: TRES must have cpu and mem of at least 1 "
					   "each, as every Slurm "
					   "job takes some of both",
					   path, types[i].line, key, types[i].name);
	}
	return AUC_OK;
}

/* What slurm.conf says of partitions, until the agent has asked slurmctld. */
static void read_partitions(void)
{
	const char *file = *site.slurm_conf ? site.slurm_conf : "/etc/slurm/slurm.conf";
	struct auc_partitions partitions = {0};
	struct auc_err err;

	if (auc_partitions_read(file, &partitions, &err))
		slurm_error("auction: partitions are not known yet: %s", err.text);
	auc_site_set_partitions(&partitions);
}

static void names_of_conf(const struct auc_conf *conf)
{
	site.nnames = 0;
	for (unsigned i = 0; i < conf->npartitions; i++)
		add_name(conf->partitions[i].name, strlen(conf->partitions[i].name));
	site.sold_known = true;
}

/*
 * There is no configuration: the last good one says what is sold, which is kept in two places. The
 * broken file at PATH may name more: jobs must not slip into windows that are sold while an
 * administrator corrects a typing error.
 */
static void names_without_conf(const char *path)
{
	char spool_dir[PATH_MAX], usual[PATH_MAX];
	struct auc_conf *kept = auc_site_kept();

	snprintf(usual, sizeof(usual), "%.4000s/auction", site.state_dir);
	site.nnames = 0;
	auc_partitions_of_broken_conf(path, add_name, spool_dir, sizeof(spool_dir));
	if (!kept && spool_dir[0])
		kept = kept_in(spool_dir);
	if (!kept)
		kept = kept_in(usual);
	site.sold_known = kept;
	for (unsigned i = 0; kept && i < kept->npartitions; i++)
		add_name(kept->partitions[i].name, strlen(kept->partitions[i].name));
	auc_conf_free(kept);
}

/* Once is enough. */
static void add_name(const char *name, size_t len)
{
	for (unsigned i = 0; i < site.nnames; i++)
		if (strlen(site.names[i]) == len && !memcmp(site.names[i], name, len))
			return;
	if (len && len < AUC_NAME_MAX && site.nnames < NAMES_MAX)
		snprintf(site.names[site.nnames++], AUC_NAME_MAX, "%.*s", (int)len, name);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}
