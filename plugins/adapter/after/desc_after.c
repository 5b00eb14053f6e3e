/* desc_after.c - see desc_after.h. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapter/after/desc_after.h"

static enum auc_code after_jobs(const job_desc_msg_t *desc, const struct auc_desc_others *others,
				const char **at, bool begun, double *end, struct auc_err *err);
static enum auc_code after_named(const job_desc_msg_t *desc, const struct auc_desc_others *others,
				 double *end, struct auc_err *err);
static enum auc_code not_sold(const job_desc_msg_t *desc, const char *job, enum auc_code code,
			      struct auc_err *err);

enum auc_code auc_desc_after(const job_desc_msg_t *desc, const struct auc_desc_others *others,
			     double *end, struct auc_err *err)
{
	/* "after" is the last, as it is the beginning of all. A number alone is afterany. */
	static const char *const kinds[] = {
		"afterok:", "afterany:", "afternotok:", "aftercorr:", "after:", "singleton"};
	const char *p = desc->dependency ? desc->dependency : "", *kind;
	enum auc_code code = AUC_OK;

	for (*end = 0; *p && !code; p += *p == ',' || *p == '?') {
		kind = NULL;
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !kind; i++)
			if (!strncasecmp(p, kinds[i], strlen(kinds[i])))
				kind = kinds[i];
		if (kind && *kind == 's' && strchr(",?", p[strlen(kind)])) {
			p += strlen(kind);
			code = after_named(desc, others, end, err);
		} else if ((kind && *kind != 's') || isdigit((unsigned char)*p)) {
			p += kind ? strlen(kind) : 0;
			code = after_jobs(desc, others, &p, kind && !strcmp(kind, "after:"), end,
					  err);
		} else {
			code = auc_err_set(err, AUC_EINVAL,
					   "--dependency=%.64s: expected afterok, afterany, "
					   "afternotok, aftercorr, after or singleton: nobody "
					   "knows when else the job could begin",
					   desc->dependency);
		}
	}
	return code;
}

/* "7:8_2" at *AT, which is then behind it; or, when jobs have BEGUN, "7+5:8". */
static enum auc_code after_jobs(const job_desc_msg_t *desc, const struct auc_desc_others *others,
				const char **at, bool begun, double *end, struct auc_err *err)
{
	double from, to, minutes;
	unsigned long id;
	const char *job;
	char *rest;

	for (bool more = true; more; *at += more) {
		job = *at;
		id = isdigit((unsigned char)*job) ? strtoul(job, &rest, 10) : NO_VAL;
		if (id >= NO_VAL)
			return not_sold(desc, job, AUC_EINVAL, err);
		/* One task of an array is over when all are, at the latest. */
		if (*rest == '_' && strspn(rest + 1, "0123456789*"))
			rest += 1 + strspn(rest + 1, "0123456789*");
		minutes = 0;
		if (begun && *rest == '+' && isdigit((unsigned char)rest[1]))
			minutes = (double)strtoul(rest + 1, &rest, 10);
		if (*rest && !strchr(":,?", *rest))
			return not_sold(desc, job, AUC_EINVAL, err);
		if (!others->times(others->arg, (uint32_t)id, &from, &to))
			return not_sold(desc, job, AUC_ENOENT, err);
		to = begun ? from + 60 * minutes : to;
		*end = to > *end ? to : *end;
		*at = rest;
		more = *rest == ':';
	}
	return AUC_OK;
}

static enum auc_code after_named(const job_desc_msg_t *desc, const struct auc_desc_others *others,
				 double *end, struct auc_err *err)
{
	enum auc_code code;
	double last;

	if (desc->array_inx)
		return auc_err_set(err, AUC_EINVAL,
				   "--dependency=singleton: the tasks of an array have one name, "
				   "so that Slurm would run one after another, whatever they have "
				   "bought; leave it out, or have them decided so that they do "
				   "with --array=...%%1; after a job that is sold: "
				   "--dependency=afterany:JOB");
	if (!desc->name || !*desc->name)
		return auc_err_set(err, AUC_EINVAL,
				   "--dependency=singleton: the job has no name; expected one "
				   "(--job-name)");
	code = others->named(others->arg, desc->user_id, desc->name, &last, err);
	if (!code)
		*end = last > *end ? last : *end;
	return code;
}

static enum auc_code not_sold(const job_desc_msg_t *desc, const char *job, enum auc_code code,
			      struct auc_err *err)
{
	return auc_err_set(err, code,
			   "--dependency=%.64s: %.*s was not sold by this auction, or has ended: "
			   "nobody knows when it ends; expected jobs that have bought their time",
			   desc->dependency, (int)strcspn(job, ":,?"), job);
}
