/* job_times.c - see job_times.h. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "pricing/past/job_times.h"

#define PRIOR_POINTS     19
#define PRIOR_SIGMA      0.1
#define PRIOR_WEIGHT     8.0 /* of all its points together: jobs */
#define SAME_USER        4.0 /* a job of the same user, where another's is 1 */
#define SAME_MODEL       4.0
#define SAME_PARTITION   2.0
#define FEW              16   /* a user may have so many, whatever others have */
#define BEYOND           1.25 /* of the highest factor, where even that is not enough */
#define EVENT_FACTOR_MIN 1e-6
#define EVENT_FACTOR_MAX 1e6

struct past {
	struct auc_job_time job;
	uint64_t came; /* the lower the older */
};

struct auc_job_times {
	bool fair;
	uint64_t came; /* how many ever did */
	unsigned n, alloc;
	struct past *jobs;
	unsigned *sorted; /* their indices by factor, those that were cut last */
	double prior[PRIOR_POINTS];
};

static double normal_quantile(double p);
static enum auc_code find_place(struct auc_job_times *t, uint32_t user, unsigned *place,
				struct auc_err *err);
static bool goes_before(const struct auc_job_times *t, unsigned a, unsigned b);
static void take_out(struct auc_job_times *t, unsigned job);
static double weight_of(const struct auc_job_time *job, const struct auc_job_kind *kind);

struct auc_job_times *auc_job_times_create(bool fair)
{
	struct auc_job_times *t = calloc(1, sizeof(*t));

	for (unsigned i = 0; t && i < PRIOR_POINTS; i++)
		t->prior[i] = exp(PRIOR_SIGMA * normal_quantile((i + 0.5) / PRIOR_POINTS));
	if (t)
		t->fair = fair;
	return t;
}

void auc_job_times_destroy(struct auc_job_times *t)
{
	if (!t)
		return;
	free(t->jobs);
	free(t->sorted);
	free(t);
}

struct auc_job_times *auc_job_times_copy(const struct auc_job_times *t)
{
	struct auc_job_times *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *t;
	copy->alloc = t->n + 1;
	copy->jobs = calloc(copy->alloc, sizeof(*copy->jobs));
	copy->sorted = calloc(copy->alloc, sizeof(*copy->sorted));
	if (!copy->jobs || !copy->sorted) {
		auc_job_times_destroy(copy);
		return NULL;
	}
	if (t->n) {
		memcpy(copy->jobs, t->jobs, t->n * sizeof(*t->jobs));
		memcpy(copy->sorted, t->sorted, t->n * sizeof(*t->sorted));
	}
	return copy;
}

unsigned auc_job_times_count(const struct auc_job_times *t)
{
	return t->n;
}

const struct auc_job_time *auc_job_times_at(const struct auc_job_times *t, unsigned i)
{
	return &t->jobs[i].job;
}

enum auc_code auc_job_times_add(struct auc_job_times *t, const struct auc_job_time *job,
				struct auc_err *err)
{
	unsigned place, i;
	enum auc_code rc = find_place(t, job->kind.user, &place, err);

	if (rc != AUC_OK)
		return rc;
	t->jobs[place] = (struct past){.job = *job, .came = t->came++};
	for (i = t->n; i && goes_before(t, place, t->sorted[i - 1]); i--)
		t->sorted[i] = t->sorted[i - 1];
	t->sorted[i] = place;
	t->n++;
	return AUC_OK;
}

/* For a job of USER: a new place, or that of one that is forgotten. */
static enum auc_code find_place(struct auc_job_times *t, uint32_t user, unsigned *place,
				struct auc_err *err)
{
	unsigned own = 0, oldest = 0, oldest_own = 0, alloc = t->alloc ? 2 * t->alloc : 64;
	struct past *jobs;
	unsigned *sorted;

	for (unsigned i = 0; i < t->n; i++) {
		if (t->jobs[i].came < t->jobs[oldest].came)
			oldest = i;
		if (t->jobs[i].job.kind.user != user)
			continue;
		if (!own++ || t->jobs[i].came < t->jobs[oldest_own].came)
			oldest_own = i;
	}
	*place = t->n;
	if (t->fair && own > FEW && own > t->n / 2)
		*place = oldest_own;
	else if (t->n == AUC_JOB_TIMES_MAX)
		*place = oldest;
	if (*place < t->n) {
		take_out(t, *place);
		return AUC_OK;
	}
	if (t->n < t->alloc)
		return AUC_OK;
	jobs = realloc(t->jobs, alloc * sizeof(*jobs));
	t->jobs = jobs ? jobs : t->jobs;
	sorted = realloc(t->sorted, alloc * sizeof(*sorted));
	t->sorted = sorted ? sorted : t->sorted;
	if (!jobs || !sorted)
		return auc_err_set(err, AUC_ENOMEM, "no memory for what jobs took");
	t->alloc = alloc;
	return AUC_OK;
}

double auc_job_times_quantile(const struct auc_job_times *t, double q,
			      const struct auc_job_kind *kind)
{
	double at_risk = PRIOR_WEIGHT, stay = 1, factor = 1, weight;
	unsigned i, k = 0;
	bool cut;

	for (i = 0; i < t->n; i++)
		at_risk += weight_of(&t->jobs[i].job, kind);
	for (i = 0; i < t->n || k < PRIOR_POINTS;) {
		const struct auc_job_time *job = i < t->n ? &t->jobs[t->sorted[i]].job : NULL;

		if (job && (k == PRIOR_POINTS || job->factor < t->prior[k])) {
			factor = job->factor;
			weight = weight_of(job, kind);
			cut = job->cut;
			i++;
		} else {
			factor = t->prior[k++];
			weight = PRIOR_WEIGHT / PRIOR_POINTS;
			cut = false;
		}
		if (!cut && at_risk > 0)
			stay *= fmax(0, 1 - weight / at_risk);
		at_risk -= weight;
		if (1 - stay >= q)
			return factor;
	}
	return factor * BEYOND;
}

struct json_object *auc_job_times_event(const struct auc_job_time *job)
{
	struct json_object *o = json_object_new_object();
	bool ok = o && auc_json_add_text(o, "event", "took") &&
		  auc_json_add_int(o, "user", job->kind.user) &&
		  auc_json_add_text(o, "model", job->kind.model) &&
		  auc_json_add_text(o, "partition", job->kind.partition) &&
		  auc_json_add_number(o, "factor", job->factor) &&
		  auc_json_add_bool(o, "cut", job->cut);

	return auc_json_if(ok, o);
}

bool auc_job_times_knows(struct json_object *event)
{
	struct json_object *word;

	return json_object_object_get_ex(event, "event", &word) &&
	       json_object_is_type(word, json_type_string) &&
	       !strcmp(json_object_get_string(word), "took");
}

enum auc_code auc_job_times_apply(struct auc_job_times *t, struct json_object *event,
				  struct auc_err *err)
{
	struct auc_job_time job = {.cut = false};
	struct auc_err detail;
	enum auc_code rc;
	int64_t user = 0;

	rc = auc_json_int(event, "user", 0, UINT32_MAX, &user, &detail);
	job.kind.user = (uint32_t)user;
	if (rc == AUC_OK)
		rc = auc_json_text(event, "model", job.kind.model, sizeof(job.kind.model), &detail);
	if (rc == AUC_OK)
		rc = auc_json_text(event, "partition", job.kind.partition,
				   sizeof(job.kind.partition), &detail);
	if (rc == AUC_OK)
		rc = auc_json_double(event, "factor", EVENT_FACTOR_MIN, EVENT_FACTOR_MAX,
				     &job.factor, &detail);
	if (rc == AUC_OK)
		rc = auc_json_bool(event, "cut", &job.cut, &detail);
	if (rc != AUC_OK)
		return auc_err_set(err, AUC_ECORRUPT, "took: %s", detail.text);
	return auc_job_times_add(t, &job, err);
}

static double weight_of(const struct auc_job_time *job, const struct auc_job_kind *kind)
{
	double weight = kind->user && job->kind.user == kind->user ? SAME_USER : 1;

	if (*kind->model && !strcmp(job->kind.model, kind->model))
		weight *= SAME_MODEL;
	if (*kind->partition && !strcmp(job->kind.partition, kind->partition))
		weight *= SAME_PARTITION;
	return weight;
}

static bool goes_before(const struct auc_job_times *t, unsigned a, unsigned b)
{
	const struct auc_job_time *x = &t->jobs[a].job, *y = &t->jobs[b].job;

	return x->factor < y->factor || (x->factor == y->factor && !x->cut && y->cut);
}

static void take_out(struct auc_job_times *t, unsigned job)
{
	unsigned i = 0;

	while (t->sorted[i] != job)
		i++;
	memmove(&t->sorted[i], &t->sorted[i + 1], (t->n - i - 1) * sizeof(*t->sorted));
	t->n--;
}

/* By bisection of the error function: it is asked some twenty times. */
static double normal_quantile(double p)
{
	double low = -8, high = 8, middle;

	for (unsigned i = 0; i < 60; i++) {
		middle = (low + high) / 2;
		if (erfc(-middle / sqrt(2)) / 2 < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
