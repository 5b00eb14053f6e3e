/* margin.c - see margin.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auctionsim/run/margin.h"
#include "base/num.h"
#include "pricing/past/job_times.h"

struct margin {
	struct scenario_times times;
	struct auc_job_times *past;
};

struct margin *margin_open(const struct scenario *s)
{
	struct margin *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->times = s->times;
	m->past = auc_job_times_create(false);
	for (unsigned i = 0; i < s->npast_times; i++)
		if (!m->past || margin_heard(m, s->past_times[i].user, s->past_times[i].factor,
					     false, NULL) != AUC_OK) {
			margin_close(m);
			return NULL;
		}
	if (m->past)
		return m;
	margin_close(m);
	return NULL;
}

void margin_close(struct margin *m)
{
	if (!m)
		return;
	auc_job_times_destroy(m->past);
	free(m);
}

enum auc_code margin_heard(struct margin *m, unsigned user, double factor, bool cut,
			   struct auc_err *err)
{
	const struct auc_job_time job = {.kind = {.user = user}, .factor = factor, .cut = cut};

	return auc_job_times_add(m->past, &job, err);
}

double margin_now(const struct margin *m, unsigned user)
{
	const struct auc_job_kind kind = {.user = user};

	if (m->times.margin == SCENARIO_MARGIN_FIXED)
		return m->times.factor;
	return auc_job_times_quantile(m->past, m->times.quantile, &kind);
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
	if (overrun && !scenario_overrun_find(overrun, &times->overrun))
		return auc_err_set(err, AUC_EINVAL,
				   "--overrun: '%.80s', expected extend, kill or move", overrun);
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
