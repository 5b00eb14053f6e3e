/* accounting.c - see accounting.h. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sched/output/accounting.h"
#include "ledger/receipt.h"
#include "adapter/slurm_compat.h"

#define NAME_CHARS                                                                                 \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"                           \
	"+,-./:=@_"

/* A condition that is a list of jobs. */
struct condition {
	slurmdb_job_cond_t cond;
	slurm_selected_step_t *steps;
	char cluster[256];
};

static auc_list_t get_jobs(slurmdb_job_cond_t *cond);
static auc_list_t modify_jobs(slurmdb_job_cond_t *cond, slurmdb_job_rec_t *rec);
static bool enter(void);
static void leave(void);
static int find_plugin(struct dl_phdr_info *info, size_t size, void *path);
static void *connection(void);
static bool condition_init(struct condition *c, unsigned n);
static void condition_add(struct condition *c, unsigned i, uint32_t job_id, uint32_t task);
static void condition_clear(struct condition *c);
static void find(struct auc_accounting_row *job, auc_list_t rows);
static void tell_apart(struct auc_accounting_row *job, const slurmdb_job_rec_t *own,
		       auc_list_t rows);
static void find_task(struct auc_accounting_row *job, auc_list_t rows);
static bool same_name(const slurmdb_job_rec_t *a, const slurmdb_job_rec_t *b);
static bool is_half(const slurmdb_job_rec_t *rec);
static int is_of(const char *text, const char *sale);
static enum auc_code failed(struct auc_err *err, const char *what);

/* slurmctld frees its own when it reads slurm.conf again. */
static struct {
	pthread_mutex_t lock;
	bool present;
	char cluster[256];
} conf = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t all_back;
	bool closed;
	unsigned out; /* questions */
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .all_back = PTHREAD_COND_INITIALIZER};

void auc_accounting_read_slurm_conf(void)
{
	const char *type = slurm_conf.accounting_storage_type, *cluster = slurm_conf.cluster_name;

	pthread_mutex_lock(&conf.lock);
	conf.present = type && strstr(type, "slurmdbd");
	snprintf(conf.cluster, sizeof(conf.cluster), "%s", cluster ? cluster : "");
	pthread_mutex_unlock(&conf.lock);
}

bool auc_accounting_present(void)
{
	bool present;

	pthread_mutex_lock(&conf.lock);
	present = conf.present;
	pthread_mutex_unlock(&conf.lock);
	return present;
}

void auc_accounting_open(void)
{
	pthread_mutex_lock(&gate.lock);
	gate.closed = false;
	pthread_mutex_unlock(&gate.lock);
}

void auc_accounting_close(const struct timespec *until)
{
	char path[PATH_MAX] = "";
	int rc = 0;

	pthread_mutex_lock(&gate.lock);
	gate.closed = true;
	while (gate.out && !rc)
		rc = pthread_cond_timedwait(&gate.all_back, &gate.lock, until);
	pthread_mutex_unlock(&gate.lock);
	if (!rc)
		return;
	dl_iterate_phdr(find_plugin, path);
	if (*path)
		dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

enum auc_code auc_accounting_set(const struct auc_accounting_row *job, struct auc_err *err)
{
	slurmdb_job_rec_t *rec;
	struct condition c;
	auc_list_t changed;
	int count;

	if (!job->row && job->rows && job->task == NO_VAL)
		return auc_err_set(err, AUC_ESTATE,
				   "tasks of array %u that never became jobs: their row cannot be "
				   "changed alone",
				   job->job_id);
	if (!condition_init(&c, 1))
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	condition_add(&c, 0, job->job_id, job->row ? NO_VAL : job->task);
	AUC_NAME_ROW(c.steps[0].step_id, job->row);
	if (job->behind && !job->row) {
		/* Of all rows that this leaves the newest is changed. */
		c.cond.usage_end = job->before;
		c.cond.jobname_list = slurm_list_create(NULL);
		slurm_list_append(c.cond.jobname_list, (char *)job->name);
	}
	rec = slurmdb_create_job_rec();
	rec->admin_comment = slurm_xstrdup(job->text);
	changed = modify_jobs(&c.cond, rec);
	condition_clear(&c);
	slurmdb_destroy_job_rec(rec);
	if (!changed && errno != SLURM_NO_CHANGE_IN_DATA)
		return failed(err, "setting an AdminComment");
	count = changed ? slurm_list_count(changed) : 0;
	if (changed)
		slurm_list_destroy(changed);
	if (count == 0)
		return auc_err_set(err, AUC_ENOENT, "job %u is not in the accounting database",
				   job->job_id);
	return AUC_OK;
}

enum auc_code auc_accounting_look(struct auc_accounting_row *jobs, unsigned n, struct auc_err *err)
{
	struct condition c;
	auc_list_t rows;

	if (!condition_init(&c, n))
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (unsigned i = 0; i < n; i++)
		condition_add(&c, i, jobs[i].job_id, NO_VAL);
	c.cond.flags |= JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_DUP;
	rows = get_jobs(&c.cond);
	condition_clear(&c);
	if (!rows)
		return failed(err, "reading jobs");
	for (unsigned i = 0; i < n; i++) {
		find(&jobs[i], rows);
		find_task(&jobs[i], rows);
	}
	slurm_list_destroy(rows);
	return AUC_OK;
}

enum auc_code auc_accounting_canceller(uint32_t job_id, time_t start, uint32_t *uid,
				       struct auc_err *err)
{
	const slurmdb_job_rec_t *rec;
	struct condition c;
	auc_list_itr_t it;
	auc_list_t rows;
	bool found = false;

	if (!condition_init(&c, 1))
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	condition_add(&c, 0, job_id, NO_VAL);
	c.cond.flags |= JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_DUP;
	rows = get_jobs(&c.cond);
	condition_clear(&c);
	if (!rows)
		return failed(err, "reading jobs");
	it = slurm_list_iterator_create(rows);
	while ((rec = slurm_list_next(it)))
		if (rec->jobid == job_id && rec->start == start && rec->end &&
		    (rec->state & JOB_STATE_BASE) == JOB_CANCELLED) {
			*uid = rec->requid;
			found = true;
		}
	slurm_list_iterator_destroy(it);
	slurm_list_destroy(rows);
	return found ? AUC_OK
		     : auc_err_set(err, AUC_ENOENT, "job %u is not cancelled there yet", job_id);
}

static auc_list_t get_jobs(slurmdb_job_cond_t *cond)
{
	auc_list_t rows;

	if (!enter())
		return NULL;
	errno = 0;
	rows = slurmdb_jobs_get(connection(), cond);
	leave();
	return rows;
}

static auc_list_t modify_jobs(slurmdb_job_cond_t *cond, slurmdb_job_rec_t *rec)
{
	auc_list_t changed;

	if (!enter())
		return NULL;
	errno = 0;
	changed = slurmdb_job_modify(connection(), cond, rec);
	leave();
	return changed;
}

/* False, and errno, if nothing may be asked any more. */
static bool enter(void)
{
	bool may;

	pthread_mutex_lock(&gate.lock);
	may = !gate.closed;
	gate.out += may;
	pthread_mutex_unlock(&gate.lock);
	if (!may)
		errno = ECANCELED;
	return may;
}

/* errno stays. */
static void leave(void)
{
	int e = errno;

	pthread_mutex_lock(&gate.lock);
	gate.out--;
	pthread_cond_signal(&gate.all_back);
	pthread_mutex_unlock(&gate.lock);
	errno = e;
}

/* Where slurmdbd's plugin was loaded from, into the PATH_MAX bytes at PATH. */
static int find_plugin(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strstr(info->dlpi_name, "/accounting_storage_slurmdbd.so"))
		snprintf(path, PATH_MAX, "%s", info->dlpi_name);
	return 0;
}

/* slurmctld's connection; the pointer is read at each call, as slurmctld may replace it. */
static void *connection(void)
{
	static void **symbol;

	if (!symbol)
		symbol = dlsym(RTLD_DEFAULT, "acct_db_conn");
	return symbol ? *symbol : NULL;
}

static bool condition_init(struct condition *c, unsigned n)
{
	memset(c, 0, sizeof(*c));
	c->steps = calloc(n, sizeof(*c->steps));
	if (!c->steps)
		return false;
	c->cond.db_flags = SLURMDB_JOB_FLAG_NOTSET;
	c->cond.flags = JOBCOND_FLAG_NO_DEFAULT_USAGE;
	/* The lists borrow their members: no function to free them. */
	c->cond.cluster_list = slurm_list_create(NULL);
	pthread_mutex_lock(&conf.lock);
	memcpy(c->cluster, conf.cluster, sizeof(c->cluster));
	pthread_mutex_unlock(&conf.lock);
	slurm_list_append(c->cond.cluster_list, c->cluster);
	c->cond.step_list = slurm_list_create(NULL);
	return true;
}

/* TASK: of the array JOB_ID; NO_VAL: all of that number. */
static void condition_add(struct condition *c, unsigned i, uint32_t job_id, uint32_t task)
{
	slurm_selected_step_t *step = &c->steps[i];

	step->array_task_id = task;
	step->het_job_offset = NO_VAL;
	step->step_id.job_id = job_id;
	step->step_id.step_id = NO_VAL;
	step->step_id.step_het_comp = NO_VAL;
	slurm_list_append(c->cond.step_list, step);
}

static void condition_clear(struct condition *c)
{
	slurm_list_destroy(c->cond.cluster_list);
	slurm_list_destroy(c->cond.step_list);
	if (c->cond.jobname_list)
		slurm_list_destroy(c->cond.jobname_list);
	free(c->steps);
}

/* A row without a receipt may be a run of the job that has just begun. */
static void find(struct auc_accounting_row *job, auc_list_t rows)
{
	const slurmdb_job_rec_t *newest = NULL, *own = NULL, *rec;
	auc_list_itr_t it = slurm_list_iterator_create(rows);

	while ((rec = slurm_list_next(it))) {
		if (rec->jobid != job->job_id)
			continue;
		if (!newest || rec->submit > newest->submit)
			newest = rec;
		if (is_of(rec->admin_comment, job->sale) > 0 && (!own || rec->submit > own->submit))
			own = rec;
	}
	if (own && is_half(newest))
		newest = own;
	job->found = newest;
	job->behind = false;
	job->other = newest && newest != own &&
		     ((job->settled > 0 && (double)newest->submit > job->settled) ||
		      is_of(newest->admin_comment, job->sale) == 0 ||
		      (own && (newest->uid != own->uid || !same_name(newest, own))));
	slurm_list_iterator_destroy(it);
	if (job->other && own) {
		tell_apart(job, own, rows);
		newest = own;
	}
	job->row = newest ? AUC_ROW_NAME(newest) : 0;
	job->ended = newest && (newest->end || job->behind);
	job->same = newest && newest->admin_comment && !strcmp(newest->admin_comment, job->text);
}

/* How the row OWN is told from newer ones of its number. */
static void tell_apart(struct auc_accounting_row *job, const slurmdb_job_rec_t *own,
		       auc_list_t rows)
{
	auc_list_itr_t it = slurm_list_iterator_create(rows);
	const slurmdb_job_rec_t *rec;

	snprintf(job->name, sizeof(job->name), "%s", own->jobname ? own->jobname : "");
	job->before = own->eligible + 1;
	/* It becomes part of a question in SQL. */
	job->behind = job->name[0] && !job->name[strspn(job->name, NAME_CHARS)] &&
		      !strcmp(job->name, own->jobname);
	while ((rec = slurm_list_next(it)))
		if (rec->jobid == job->job_id && rec->submit > own->submit &&
		    rec->eligible < job->before && same_name(rec, own))
			job->behind = false;
	slurm_list_iterator_destroy(it);
	if (AUC_ROW_NAME(own))
		job->behind = true;
}

/* Which task of an array has its number. */
static void find_task(struct auc_accounting_row *job, auc_list_t rows)
{
	auc_list_itr_t it = slurm_list_iterator_create(rows);
	const slurmdb_job_rec_t *rec;

	job->rows = false;
	job->task = NO_VAL;
	while ((rec = slurm_list_next(it))) {
		if (rec->array_job_id != job->job_id)
			continue;
		if (rec->jobid != job->job_id)
			job->rows = true;
		else if (rec->array_task_id != NO_VAL)
			job->task = rec->array_task_id;
	}
	slurm_list_iterator_destroy(it);
	/* slurmctld has told the database what it says, or nobody will. */
	job->same |= !job->row && job->rows && job->task == NO_VAL && job->ended;
}

static bool same_name(const slurmdb_job_rec_t *a, const slurmdb_job_rec_t *b)
{
	return !strcmp(a->jobname ? a->jobname : "", b->jobname ? b->jobname : "");
}

/*
 * True if REC is of a run of which slurmctld was killed before it told the database anything but
 * that its script has begun: it has no name and no partition, nobody will end it, and slurmdbd
 * changes none that was never eligible. "sacctmgr show runawayjobs" is for these.
 */
static bool is_half(const slurmdb_job_rec_t *rec)
{
	return !rec->uid && !rec->end && !rec->eligible && !(rec->partition && rec->partition[0]);
}

/* 1: TEXT is a receipt of SALE; 0: of another; -1: none. */
static int is_of(const char *text, const char *sale)
{
	struct auc_receipt r;
	int is;

	if (!text || !auc_receipt_is(text) || auc_receipt_parse(text, &r, NULL))
		return -1;
	is = !strcmp(r.sale, sale);
	auc_receipt_clear(&r);
	return is;
}

static enum auc_code failed(struct auc_err *err, const char *what)
{
	int e = errno;

	return auc_err_set(err, AUC_EIO, "accounting database, %s: %s (%d)", what,
			   slurm_strerror(e), e);
}
