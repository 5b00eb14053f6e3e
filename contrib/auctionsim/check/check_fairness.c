/* check_fairness.c - "fairness" of a result, reckoned anew: shares by the pairs of users. */
#include "config.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "auctionsim/check/check-private.h"

#define SHORT 300.0L /* seconds */

struct person {
	unsigned user;
	bool served;
	long double got, asked;
};

static bool is_short(const struct scenario_job *job);
static struct person *person_of(struct person *list, unsigned *n, unsigned user);
static long double gini_of(const struct person *list, unsigned n);

static const struct field fairness_fields[] = {
	{"users", field_number, offsetof(struct fair, users), 0, 1e9, true},
	{"users_with_nothing", field_number, offsetof(struct fair, nothing), 0, 1e9, true},
	{"gini", field_number, offsetof(struct fair, gini), -1, 1, true},
	{"kept", field_number, offsetof(struct fair, kept), -DBL_MAX, DBL_MAX, true},
	{"short_jobs", field_number, offsetof(struct fair, short_jobs), 0, 1e9, true},
	{"short_accepted", field_number, offsetof(struct fair, short_accepted), 0, 1e9, true},
};

enum auc_code check_read_fairness(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	struct check *c = target;

	(void)f;
	c->fair.there = true;
	return FIELDS_READ(r, v, fairness_fields, &c->fair);
}

bool check_fairness(struct check *c)
{
	struct person *list = calloc((size_t)c->norder + 1, sizeof(*list)), *p;
	const struct fair *f = &c->fair;
	unsigned n = 0, nothing = 0, brief = 0, taken = 0;
	long double kept = 0, value;

	if (!list || !f->there) {
		free(list);
		return list != NULL;
	}
	for (unsigned i = 0; i < c->norder; i++) {
		const struct sold *j = c->arrived[i];

		value = !j->accepted      ? 0
			: j->has_realised ? j->real_value
			: isnan(j->value) ? 0
					  : j->value;
		if (j->accepted)
			kept += value - (j->has_realised     ? j->real_payment
					 : isnan(j->payment) ? 0
							     : j->payment);
		brief += is_short(j->job);
		taken += is_short(j->job) && j->accepted;
		if (!j->job->user)
			continue;
		p = person_of(list, &n, j->job->user);
		p->served |= j->accepted;
		p->got += value;
		p->asked += j->job->has_utility ? auc_utility_value(&j->job->utility, 1)
						: fmax(0, j->job->budget);
	}
	for (unsigned i = 0; i < n; i++)
		nothing += !list[i].served;
	if (!n)
		check_violation(c, "fairness", NULL, "expected none, as no job has a user");
	else if (f->users != n || f->nothing != nothing || f->short_jobs != brief ||
		 f->short_accepted != taken)
		check_violation(c, "fairness", NULL,
				"expected %u users, %u with nothing, %u of %u short jobs, found "
				"%g, %g, %g of %g",
				n, nothing, taken, brief, f->users, f->nothing, f->short_accepted,
				f->short_jobs);
	else if (!check_close(f->kept, kept) || fabsl(f->gini - gini_of(list, n)) > 1e-9L)
		check_violation(c, "fairness", NULL,
				"expected kept %.17Lg and gini %.17Lg, found %.17g and %.17g", kept,
				gini_of(list, n), f->kept, f->gini);
	free(list);
	return true;
}

static bool is_short(const struct scenario_job *job)
{
	long double seconds = INFINITY;

	for (unsigned i = 0; i < job->ngang; i++)
		seconds = fminl(seconds, job->gang[i].seconds);
	for (unsigned i = 0; i < job->nworker_seconds && !job->ngang; i++)
		seconds = fminl(seconds,
				(long double)((double)job->epochs * (double)job->minibatches *
					      job->worker_seconds[i].value));
	return seconds > 0 && seconds < SHORT;
}

static struct person *person_of(struct person *list, unsigned *n, unsigned user)
{
	for (unsigned i = 0; i < *n; i++)
		if (list[i].user == user)
			return &list[i];
	list[*n] = (struct person){.user = user};
	return &list[(*n)++];
}

static long double gini_of(const struct person *list, unsigned n)
{
	long double sum = 0, apart = 0, a, b;

	for (unsigned i = 0; i < n; i++) {
		a = list[i].asked > 0 ? list[i].got / list[i].asked : 0;
		sum += a;
		for (unsigned k = 0; k < n; k++) {
			b = list[k].asked > 0 ? list[k].got / list[k].asked : 0;
			apart += fabsl(a - b);
		}
	}
	return sum > 0 ? apart / (2 * n * sum) : 0;
}
