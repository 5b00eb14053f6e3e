/* auction_days.c - see auction_days.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auctionsim/replay/auction_days.h"
#include "auctionsim/scenario/scenario_market.h"

#define JOBS "\"jobs\": ["

static enum auc_code set_prices(struct auction_days *a, struct scenario *s, struct auc_err *err);
static enum auc_code lay_sold(const struct auction_days *a, struct scenario *s,
			      struct auc_err *err);
static enum auc_code keep_sold(struct auction_days *a, const struct scenario *s,
			       const struct result *result, struct auc_err *err);
static enum auc_code keep_server(struct auction_days *a, const struct auc_market *m,
				 unsigned server, auc_slot last, unsigned *alloc,
				 struct auc_err *err);
static enum auc_code remember(struct auction_days *a, const struct scenario *s, const char *text,
			      struct auc_err *err);
static void write_state(const struct scenario *s, FILE *out);
static void drop_day(struct learned_day *day);

enum auc_code auction_day(struct auction_days *a, const char *text, size_t len,
			  replay_progress progress, void *arg, struct scenario **s,
			  struct result *result, struct auc_err *err)
{
	enum auc_code rc = scenario_parse(text, len, "the day", s, err);

	a->day++;
	if (rc == AUC_OK)
		rc = lay_sold(a, *s, err);
	if (rc == AUC_OK)
		rc = set_prices(a, *s, err);
	if (rc == AUC_OK)
		rc = replay_run(*s, a->policy, 1, progress, arg, result, err);
	if (*s)
		learned_forget(*s);
	if (rc == AUC_OK && a->prices &&
	    (!strcmp(a->prices, "learned") || !strcmp(a->prices, "flat")))
		rc = remember(a, *s, text, err);
	if (rc == AUC_OK)
		rc = keep_sold(a, *s, result, err);
	return rc;
}

void auction_days_clear(struct auction_days *a)
{
	while (a->npast)
		drop_day(&a->past[--a->npast]);
	free(a->sold);
	free(a->chosen);
	a->sold = NULL;
	a->chosen = NULL;
}

/* -- prices -- */

static enum auc_code set_prices(struct auction_days *a, struct scenario *s, struct auc_err *err)
{
	const char *prices = a->prices;

	if (!prices)
		return AUC_OK;
	if (!strcmp(prices, "flat") && !a->npast) /* as long as there is nothing to learn from */
		prices = "published";
	free(a->chosen);
	return learned_prices(s, prices, a->policy, a->past, a->npast, &a->chosen, err);
}

/* S, without what its prices are, as one of the days before. */
static enum auc_code remember(struct auction_days *a, const struct scenario *s, const char *text,
			      struct auc_err *err)
{
	const char *jobs = strstr(text, JOBS);
	char *bytes = NULL, *name = NULL;
	FILE *out = NULL;
	size_t len;

	if (!a->history || !s->njobs)
		return AUC_OK;
	if (jobs && asprintf(&name, "day %u", a->day) > 0)
		out = open_memstream(&bytes, &len);
	if (out) {
		fwrite(text, 1, (size_t)(jobs - text), out);
		write_state(s, out);
		fputs(jobs, out);
	}
	if (!out || fclose(out)) {
		free(bytes);
		free(name);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a day of the past");
	}
	if (a->npast == a->history) {
		drop_day(&a->past[0]);
		memmove(a->past, a->past + 1, --a->npast * sizeof(*a->past));
	}
	a->past[a->npast++] = (struct learned_day){name, bytes, len};
	return AUC_OK;
}

static void drop_day(struct learned_day *day)
{
	free((char *)day->name);
	free((char *)day->text);
}

static void write_state(const struct scenario *s, FILE *out)
{
	fputs("\"state\": [", out);
	for (unsigned i = 0; i < s->nstate; i++)
		fprintf(out,
			"%s{\"server\": \"%s\", \"tres\": \"%s\", \"from\": %llu, \"to\": %llu, "
			"\"used\": %.17g}",
			i ? ",\n" : "", s->servers[s->state[i].server].name, s->state[i].tres,
			(unsigned long long)s->state[i].from, (unsigned long long)s->state[i].to,
			s->state[i].amount);
	fputs("],\n", out);
}

/* -- what is sold already -- */

static enum auc_code lay_sold(const struct auction_days *a, struct scenario *s, struct auc_err *err)
{
	if (!a->nsold)
		return AUC_OK;
	s->state = calloc(a->nsold, sizeof(*s->state));
	if (!s->state)
		return auc_err_set(err, AUC_ENOMEM, "no memory for what is sold");
	memcpy(s->state, a->sold, a->nsold * sizeof(*s->state));
	s->nstate = a->nsold;
	return AUC_OK;
}

/* What RESULT, and what was sold before, hold of the days after this one. */
static enum auc_code keep_sold(struct auction_days *a, const struct scenario *s,
			       const struct result *result, struct auc_err *err)
{
	struct auc_market *m = NULL;
	enum auc_code rc = scenario_market_create(s, NULL, &m, err);
	unsigned alloc = 0, i;

	if (rc == AUC_OK)
		rc = scenario_market_state(s, m, err);
	for (i = 0; i < result->njobs && rc == AUC_OK; i++)
		if (result->jobs[i].plan.nruns)
			rc = auc_market_book(m, &result->jobs[i].plan, 1, (auc_slot)s->slots, err);
	free(a->sold);
	a->sold = NULL;
	a->nsold = 0;
	for (i = 0; i < s->nservers && rc == AUC_OK; i++)
		rc = keep_server(a, m, i, (auc_slot)s->slots, &alloc, err);
	auc_market_destroy(m);
	return rc;
}

static enum auc_code keep_server(struct auction_days *a, const struct auc_market *m,
				 unsigned server, auc_slot last, unsigned *alloc,
				 struct auc_err *err)
{
	auc_slot first = (auc_slot)a->day_slots + 1, t;
	struct scenario_entry *list;
	double used, before;
	unsigned k;

	for (k = 0; k < auc_market_ntres(m); k++)
		for (before = 0, t = first; t <= last; t++, before = used) {
			used = auc_market_used(m, server, k, t);
			if (!(used > 0))
				continue;
			if (a->nsold && t > first && !(used < before) && !(used > before)) {
				a->sold[a->nsold - 1].to++;
				continue;
			}
			if (a->nsold == *alloc) {
				*alloc = *alloc + *alloc / 2 + 256;
				list = reallocarray(a->sold, *alloc, sizeof(*list));
				if (!list)
					return auc_err_set(err, AUC_ENOMEM,
							   "no memory for what is sold");
				a->sold = list;
			}
			a->sold[a->nsold] = (struct scenario_entry){
				.server = server,
				.from = (uint64_t)(t - first) + 1,
				.to = (uint64_t)(t - first) + 1,
				.amount = used,
			};
			strcpy(a->sold[a->nsold++].tres, auc_market_tres_name(m, k));
		}
	return AUC_OK;
}
