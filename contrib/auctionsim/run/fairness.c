/* fairness.c - see fairness.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "auctionsim/run/fairness.h"

struct person {
	unsigned user;
	bool served;
	double got, asked;
};

static int by_user(const void *a, const void *b);
static int by_share(const void *a, const void *b);
static unsigned gather(struct person *list, unsigned n);
static double gini_of(struct person *list, unsigned n);
static double share_of(const struct person *p);

enum auc_code fairness_of(const struct scenario *s, const struct result *r, struct fairness *f,
			  struct auc_err *err)
{
	struct person *list = calloc((size_t)s->njobs + 1, sizeof(*list));
	unsigned n = 0;

	*f = (struct fairness){0};
	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	for (unsigned i = 0; i < s->njobs; i++) {
		const struct scenario_job *job = &s->jobs[i];
		const struct outcome *o = &r->jobs[i];
		double seconds = fairness_seconds(job), value = 0;

		if (o->accepted && s->has_true_times) {
			value = o->realised.value;
			f->kept += value - o->realised.payment;
		} else if (o->accepted && o->completed) {
			value = o->value;
		}
		if (o->accepted && !s->has_true_times)
			f->kept += value - o->payment;
		if (seconds > 0 && seconds < FAIRNESS_SHORT) {
			f->short_jobs++;
			f->short_accepted += o->accepted;
		}
		if (job->user)
			list[n++] = (struct person){job->user, o->accepted, value,
						    job->has_utility
							    ? auc_utility_value(&job->utility, 1)
							    : fmax(0, job->budget)};
	}
	f->users = n = gather(list, n);
	for (unsigned i = 0; i < n; i++)
		f->nothing += !list[i].served;
	f->gini = gini_of(list, n);
	free(list);
	return AUC_OK;
}

bool fairness_has_users(const struct scenario *s)
{
	for (unsigned i = 0; i < s->njobs; i++)
		if (s->jobs[i].user)
			return true;
	return false;
}

double fairness_seconds(const struct scenario_job *job)
{
	double least = INFINITY;

	for (unsigned i = 0; i < job->ngang; i++)
		least = fmin(least, job->gang[i].seconds);
	for (unsigned i = 0; i < job->nworker_seconds && !job->ngang; i++)
		least = fmin(least, (double)job->epochs * (double)job->minibatches *
					    job->worker_seconds[i].value);
	return isinf(least) ? 0 : least;
}

/* One entry for each user; returns how many. */
static unsigned gather(struct person *list, unsigned n)
{
	unsigned k = 0;

	qsort(list, n, sizeof(*list), by_user);
	for (unsigned i = 1; i < n; i++) {
		if (list[i].user != list[k].user) {
			list[++k] = list[i];
			continue;
		}
		list[k].served |= list[i].served;
		list[k].got += list[i].got;
		list[k].asked += list[i].asked;
	}
	return n ? k + 1 : 0;
}

/* The mean difference of two users' shares over twice their mean. */
static double gini_of(struct person *list, unsigned n)
{
	double sum = 0, ranked = 0;

	qsort(list, n, sizeof(*list), by_share);
	for (unsigned i = 0; i < n; i++) {
		sum += share_of(&list[i]);
		ranked += (2.0 * i + 1 - n) * share_of(&list[i]);
	}
	return sum > 0 ? ranked / (n * sum) : 0;
}

static double share_of(const struct person *p)
{
	return p->asked > 0 ? p->got / p->asked : 0;
}

static int by_user(const void *a, const void *b)
{
	const struct person *x = a, *y = b;

	return (x->user > y->user) - (x->user < y->user);
}

static int by_share(const void *a, const void *b)
{
	double x = share_of(a), y = share_of(b);

	return (x > y) - (x < y);
}
