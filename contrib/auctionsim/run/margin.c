/*
 * margin.c - see margin.h. The distribution of the factors is that of Kaplan and Meier, so that a
 * job that was ended counts for all that it may have taken. Its points are the jobs that have
 * ended, those of the same user for more, and, while these are few, a lognormal that stands for
 * what nobody has seen yet.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/run/margin.h"
#include "base/num.h"

#define PRIOR_POINTS 19
#define PRIOR_SIGMA  0.1
#define PRIOR_WEIGHT 8.0  /* of all its points together: jobs */
#define OWN_WEIGHT   4.0  /* of a job of the same user, where another's is 1 */
#define POINTS_MAX   4096 /* of those that ended last */
#define BEYOND       1.25 /* of the highest factor, where even that is not enough */

struct point {
	double factor;
	unsigned user;
	bool cut;
};

struct margin {
	struct scenario_times times;
	unsigned n, alloc, next; /* next: whose place is taken next, once all are */
	struct point *points;    /* as they came */
	unsigned *sorted;        /* their indices by factor, those that were cut last */
	double prior[PRIOR_POINTS];
};

static double normal_quantile(double p);
static bool goes_before(const struct margin *m, unsigned a, unsigned b);
static void take_out(struct margin *m, unsigned point);
static double weight_of(const struct point *p, unsigned user);

struct margin *margin_open(const struct scenario *s)
{
	struct margin *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->times = s->times;
	for (unsigned i = 0; i < PRIOR_POINTS; i++)
		m->prior[i] = exp(PRIOR_SIGMA * normal_quantile((i + 0.5) / PRIOR_POINTS));
	for (unsigned i = 0; i < s->npast_times; i++)
		if (margin_heard(m, s->past_times[i].user, s->past_times[i].factor, false, NULL) !=
		    AUC_OK) {
			margin_close(m);
			return NULL;
		}
	return m;
}

void margin_close(struct margin *m)
{
	if (!m)
		return;
	free(m->points);
	free(m->sorted);
	free(m);
}

enum auc_code margin_heard(struct margin *m, unsigned user, double factor, bool cut,
			   struct auc_err *err)
{
	unsigned at = m->n, i, alloc;

	if (m->n == POINTS_MAX) {
		at = m->next++ % POINTS_MAX;
		take_out(m, at);
	} else if (m->n == m->alloc) {
		alloc = m->alloc ? 2 * m->alloc : 64;
		struct point *points = realloc(m->points, alloc * sizeof(*points));
		m->points = points ? points : m->points;
		unsigned *sorted = realloc(m->sorted, alloc * sizeof(*sorted));
		m->sorted = sorted ? sorted : m->sorted;
		if (!points || !sorted)
			return auc_err_set(err, AUC_ENOMEM, "no memory for what jobs took");
		m->alloc = alloc;
	}
	m->points[at] = (struct point){.factor = factor, .user = user, .cut = cut};
	for (i = m->n; i && goes_before(m, at, m->sorted[i - 1]); i--)
		m->sorted[i] = m->sorted[i - 1];
	m->sorted[i] = at;
	m->n++;
	return AUC_OK;
}

double margin_now(const struct margin *m, unsigned user)
{
	double at_risk = PRIOR_WEIGHT, stay = 1, factor = 1, weight;
	unsigned i, k = 0;
	bool cut;

	if (m->times.margin == SCENARIO_MARGIN_FIXED)
		return m->times.factor;
	for (i = 0; i < m->n; i++)
		at_risk += weight_of(&m->points[i], user);
	for (i = 0; i < m->n || k < PRIOR_POINTS;) {
		const struct point *p = i < m->n ? &m->points[m->sorted[i]] : NULL;

		if (p && (k == PRIOR_POINTS || p->factor < m->prior[k])) {
			factor = p->factor;
			weight = weight_of(p, user);
			cut = p->cut;
			i++;
		} else {
			factor = m->prior[k++];
			weight = PRIOR_WEIGHT / PRIOR_POINTS;
			cut = false;
		}
		if (!cut && at_risk > 0)
			stay *= fmax(0, 1 - weight / at_risk);
		at_risk -= weight;
		if (1 - stay >= m->times.quantile)
			return factor;
	}
	return factor * BEYOND;
}

enum auc_code margin_recall(struct scenario *s, struct scenario *const *days, unsigned n,
			    unsigned without, struct auc_err *err)
{
	struct scenario_past_time *list;
	size_t most = 1;

	for (unsigned i = 0; i < n; i++)
		most += days[i]->njobs;
	list = calloc(most, sizeof(*list));
	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	free(s->past_times);
	s->past_times = list;
	s->npast_times = 0;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; i != without && days[i]->has_true_times && k < days[i]->njobs;
		     k++)
			list[s->npast_times++] =
				(struct scenario_past_time){.user = days[i]->jobs[k].user,
							    .factor = days[i]->jobs[k].true_time};
	return AUC_OK;
}

enum auc_code margin_load(struct scenario *s, char *const *paths, unsigned n, struct auc_err *err)
{
	struct scenario **days = calloc((size_t)n + 1, sizeof(*days));
	enum auc_code rc = days ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	unsigned i;

	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = scenario_load(paths[i], &days[i], err);
	if (rc == AUC_OK)
		rc = margin_recall(s, days, n, n, err);
	for (i = 0; days && i < n; i++)
		scenario_free(days[i]);
	free(days);
	return rc;
}

enum auc_code margin_read(const char *overrun, const char *margin, struct scenario_times *times,
			  struct auc_err *err)
{
	static const char learned[] = "learned";
	size_t len = sizeof(learned) - 1;

	*times = (struct scenario_times){.quantile = SCENARIO_QUANTILE, .factor = 1};
	if (overrun && strcmp(overrun, "extend") != 0 && strcmp(overrun, "kill") != 0)
		return auc_err_set(err, AUC_EINVAL, "--overrun: '%.80s', expected extend or kill",
				   overrun);
	if (overrun && !strcmp(overrun, "kill"))
		times->overrun = SCENARIO_OVERRUN_KILL;
	if (!margin)
		return AUC_OK;
	if (!strncmp(margin, learned, len) && (!margin[len] || margin[len] == ':'))
		return margin[len] ? auc_parse_number(margin + len + 1, 0.01, 0.999,
						      &times->quantile, "--margin=learned", err)
				   : AUC_OK;
	times->margin = SCENARIO_MARGIN_FIXED;
	return auc_parse_number(margin, 0.01, 100, &times->factor, "--margin", err);
}

bool margin_is_usual(const struct scenario_times *times)
{
	return times->overrun == SCENARIO_OVERRUN_EXTEND &&
	       times->margin == SCENARIO_MARGIN_LEARNED && times->quantile == SCENARIO_QUANTILE;
}

static double weight_of(const struct point *p, unsigned user)
{
	return user && p->user == user ? OWN_WEIGHT : 1;
}

static bool goes_before(const struct margin *m, unsigned a, unsigned b)
{
	const struct point *x = &m->points[a], *y = &m->points[b];

	return x->factor < y->factor || (x->factor == y->factor && !x->cut && y->cut);
}

static void take_out(struct margin *m, unsigned point)
{
	unsigned i = 0;

	while (m->sorted[i] != point)
		i++;
	memmove(&m->sorted[i], &m->sorted[i + 1], (m->n - i - 1) * sizeof(*m->sorted));
	m->n--;
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
