/* accounting.c - see accounting.h. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounting.h"
#include "receipt.h"
#include "slurm_compat.h"

/* A condition that is a list of jobs. */
struct condition {
	slurmdb_job_cond_t cond;
	slurm_selected_step_t *steps;
};

static void *connection(void);
static bool condition_init(struct condition *c, unsigned n);
static void condition_add(struct condition *c, unsigned i, uint32_t job_id);
static void condition_clear(struct condition *c);
static void compare(struct auc_account *jobs, unsigned n, const slurmdb_job_rec_t *rec,
		    time_t *newest);
static bool is_of_another(const char *text, const char *sale);
static enum auc_code failed(struct auc_err *err, const char *what);

bool auc_accounting_present(void)
{
	return slurm_conf.accounting_storage_type &&
	       strstr(slurm_conf.accounting_storage_type, "slurmdbd");
}

enum auc_code auc_accounting_set(uint32_t job_id, const char *text, struct auc_err *err)
{
	slurmdb_job_rec_t *rec;
	struct condition c;
	auc_list_t changed;
	int count;

	if (!condition_init(&c, 1))
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	condition_add(&c, 0, job_id);
	rec = slurmdb_create_job_rec();
	rec->admin_comment = slurm_xstrdup(text);
	errno = 0;
	changed = slurmdb_job_modify(connection(), &c.cond, rec);
	condition_clear(&c);
	slurmdb_destroy_job_rec(rec);
	if (!changed && errno != SLURM_NO_CHANGE_IN_DATA)
		return failed(err, "setting an AdminComment");
	count = changed ? slurm_list_count(changed) : 0;
	if (changed)
		slurm_list_destroy(changed);
	if (count == 0)
		return auc_err_set(err, AUC_ENOENT, "job %u is not in the accounting database",
				   job_id);
	return AUC_OK;
}

enum auc_code auc_accounting_look(struct auc_account *jobs, unsigned n, struct auc_err *err)
{
	const slurmdb_job_rec_t *rec;
	struct condition c;
	auc_list_itr_t it;
	auc_list_t rows;
	time_t *newest;

	newest = calloc(n, sizeof(*newest));
	if (!newest || !condition_init(&c, n)) {
		free(newest);
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	}
	for (unsigned i = 0; i < n; i++) {
		condition_add(&c, i, jobs[i].job_id);
		jobs[i].found = jobs[i].ended = jobs[i].same = jobs[i].other = false;
	}
	c.cond.flags |= JOBCOND_FLAG_NO_STEP;
	errno = 0;
	rows = slurmdb_jobs_get(connection(), &c.cond);
	condition_clear(&c);
	if (!rows) {
		free(newest);
		return failed(err, "reading jobs");
	}
	it = slurm_list_iterator_create(rows);
	while ((rec = slurm_list_next(it)))
		compare(jobs, n, rec, newest);
	slurm_list_iterator_destroy(it);
	slurm_list_destroy(rows);
	free(newest);
	return AUC_OK;
}

/* slurmctld's connection; the pointer is read at each call, as slurmctld may replace it. */
static void *connection(void)
{
	void **symbol = dlsym(RTLD_DEFAULT, "acct_db_conn");

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
	slurm_list_append(c->cond.cluster_list, slurm_conf.cluster_name);
	c->cond.step_list = slurm_list_create(NULL);
	return true;
}

static void condition_add(struct condition *c, unsigned i, uint32_t job_id)
{
	slurm_selected_step_t *step = &c->steps[i];

	step->array_task_id = NO_VAL;
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
	free(c->steps);
}

/* Slurm's job numbers begin again one day, so the newest row of a number counts. */
static void compare(struct auc_account *jobs, unsigned n, const slurmdb_job_rec_t *rec,
		    time_t *newest)
{
	for (unsigned i = 0; i < n; i++) {
		if (jobs[i].job_id != rec->jobid || rec->submit < newest[i])
			continue;
		newest[i] = rec->submit;
		jobs[i].found = true;
		jobs[i].ended = rec->end != 0;
		jobs[i].same = rec->admin_comment && !strcmp(rec->admin_comment, jobs[i].text);
		jobs[i].other = is_of_another(rec->admin_comment, jobs[i].sale);
	}
}

/* True if TEXT is a receipt, and not of SALE. */
static bool is_of_another(const char *text, const char *sale)
{
	struct auc_receipt r;
	bool other;

	if (!text || !auc_receipt_is(text) || auc_receipt_parse(text, &r, NULL))
		return false;
	other = strcmp(r.sale, sale) != 0;
	auc_receipt_clear(&r);
	return other;
}

static enum auc_code failed(struct auc_err *err, const char *what)
{
	int e = errno;

	return auc_err_set(err, AUC_EIO, "accounting database, %s: %s (%d)", what,
			   slurm_strerror(e), e);
}
