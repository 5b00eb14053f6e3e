/* accounting.c - see accounting.h. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "accounting.h"
#include "slurm_compat.h"

/* A condition that is one job, with the lists and list members it points to. */
struct condition {
	slurmdb_job_cond_t cond;
	slurm_selected_step_t step;
};

static void *connection(void);
static void condition_init(struct condition *c, uint32_t job_id);
static void condition_clear(struct condition *c);
static enum auc_code failed(struct auc_err *err, const char *what, uint32_t job_id);

bool auc_accounting_present(void)
{
	return slurm_conf.accounting_storage_type &&
	       strstr(slurm_conf.accounting_storage_type, "slurmdbd");
}

enum auc_code auc_accounting_set(uint32_t job_id, const char *text, struct auc_err *err)
{
	slurmdb_job_rec_t *rec = slurmdb_create_job_rec();
	struct condition c;
	auc_list_t changed;
	int count;

	condition_init(&c, job_id);
	rec->admin_comment = slurm_xstrdup(text);
	errno = 0;
	changed = slurmdb_job_modify(connection(), &c.cond, rec);
	condition_clear(&c);
	slurmdb_destroy_job_rec(rec);
	if (!changed && errno != SLURM_NO_CHANGE_IN_DATA)
		return failed(err, "setting AdminComment", job_id);
	count = changed ? slurm_list_count(changed) : 0;
	if (changed)
		slurm_list_destroy(changed);
	if (count == 0)
		return auc_err_set(err, AUC_ENOENT, "job %u is not in the accounting database yet",
				   job_id);
	return AUC_OK;
}

enum auc_code auc_accounting_check(uint32_t job_id, const char *text, bool *ended, bool *same,
				   struct auc_err *err)
{
	const slurmdb_job_rec_t *rec, *newest = NULL;
	auc_list_itr_t it;
	struct condition c;
	auc_list_t jobs;

	condition_init(&c, job_id);
	c.cond.flags |= JOBCOND_FLAG_NO_STEP;
	errno = 0;
	jobs = slurmdb_jobs_get(connection(), &c.cond);
	condition_clear(&c);
	if (!jobs)
		return failed(err, "reading the row", job_id);
	it = slurm_list_iterator_create(jobs);
	while ((rec = slurm_list_next(it)))
		if (rec->jobid == job_id && (!newest || rec->submit >= newest->submit))
			newest = rec;
	slurm_list_iterator_destroy(it);
	if (newest) {
		*ended = newest->end != 0;
		*same = newest->admin_comment && !strcmp(newest->admin_comment, text);
	}
	slurm_list_destroy(jobs);
	if (!newest)
		return auc_err_set(err, AUC_ENOENT, "job %u is not in the accounting database",
				   job_id);
	return AUC_OK;
}

/* slurmctld's connection; the pointer is read at each call, as slurmctld may replace it. */
static void *connection(void)
{
	void **symbol = dlsym(RTLD_DEFAULT, "acct_db_conn");

	return symbol ? *symbol : NULL;
}

static void condition_init(struct condition *c, uint32_t job_id)
{
	memset(c, 0, sizeof(*c));
	c->step.array_task_id = NO_VAL;
	c->step.het_job_offset = NO_VAL;
	c->step.step_id.job_id = job_id;
	c->step.step_id.step_id = NO_VAL;
	c->step.step_id.step_het_comp = NO_VAL;
	c->cond.db_flags = SLURMDB_JOB_FLAG_NOTSET;
	c->cond.flags = JOBCOND_FLAG_NO_DEFAULT_USAGE;
	/* The lists borrow their members: no function to free them. */
	c->cond.cluster_list = slurm_list_create(NULL);
	slurm_list_append(c->cond.cluster_list, slurm_conf.cluster_name);
	c->cond.step_list = slurm_list_create(NULL);
	slurm_list_append(c->cond.step_list, &c->step);
}

static void condition_clear(struct condition *c)
{
	slurm_list_destroy(c->cond.cluster_list);
	slurm_list_destroy(c->cond.step_list);
}

static enum auc_code failed(struct auc_err *err, const char *what, uint32_t job_id)
{
	int e = errno;

	return auc_err_set(err, AUC_EIO, "accounting database, job %u, %s: %s (%d)", job_id, what,
			   slurm_strerror(e), e);
}
