/*
 * job_times.h - what the last jobs that ended turned out to take, as a factor of what they stated,
 * and what a job takes of which that is not known yet: a quantile of these factors, after Kaplan
 * and Meier, so that a job that was ended before it was done counts for all that it may have taken.
 *
 * Jobs of the same user, of the same model and in the same partition count for more. While there
 * are few, a lognormal stands for what nobody has seen yet. What a bid is worth is not known here.
 */
#ifndef AUC_JOB_TIMES_H
#define AUC_JOB_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/named.h"

struct json_object;
struct auc_job_times;

#define AUC_JOB_TIMES_MAX 4096 /* of those that ended last */

/* Whose a job is, the profile that its work was taken from and where it ran; 0 and "": not known.
 */
struct auc_job_kind {
	uint32_t user;
	char model[AUC_NAME_MAX], partition[AUC_NAME_MAX];
};
struct auc_job_time {
	struct auc_job_kind kind;
	double factor; /* above 0 */
	bool cut;      /* that is what it had when it was ended, and it was not done */
};

/* FAIR: no user has more of them than all the others together, or than a few. NULL: no memory. */
struct auc_job_times *auc_job_times_create(bool fair);
void auc_job_times_destroy(struct auc_job_times *t);
struct auc_job_times *auc_job_times_copy(const struct auc_job_times *t);
unsigned auc_job_times_count(const struct auc_job_times *t);
/* The Ith of them, in no order that means anything. */
const struct auc_job_time *auc_job_times_at(const struct auc_job_times *t, unsigned i);
/* AUC_ENOMEM. */
enum auc_code auc_job_times_add(struct auc_job_times *t, const struct auc_job_time *job,
				struct auc_err *err);
/* The factor that a part Q of jobs like KIND do not exceed; above 0. */
double auc_job_times_quantile(const struct auc_job_times *t, double q,
			      const struct auc_job_kind *kind);

/* JOB as an event "took" (doc/ledger.md); new reference, NULL: no memory. */
struct json_object *auc_job_times_event(const struct auc_job_time *job);
/* True if EVENT is one of these. */
bool auc_job_times_knows(struct json_object *event);
/* Remembers what such an event says. AUC_ECORRUPT. */
enum auc_code auc_job_times_apply(struct auc_job_times *t, struct json_object *event,
				  struct auc_err *err);

#endif
