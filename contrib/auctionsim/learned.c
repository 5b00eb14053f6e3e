/* learned.c - see learned.h */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "document.h"
#include "jsonio.h"
#include "learn.h"
#include "learned.h"
#include "replay.h"
#include "text.h"
#include "world.h"

/* Prices that the guard chooses among. */
enum candidate { NONE, PUBLISHED, LEARNED, CANDIDATES };

struct past {
	const struct auc_policy *policy;
	const char *text; /* policy with its options */
	unsigned n;
	struct scenario **days;
};

static enum auc_code load_past(struct past *p, const struct scenario *s, char *const *paths,
			       unsigned n, struct auc_err *err);
static bool same_market(const struct scenario *a, const struct scenario *b);
static bool same_types(const struct scenario_type *a, unsigned na, const struct scenario_type *b,
		       unsigned nb);
static bool same_amounts(const struct auc_named *a, unsigned na, const struct auc_named *b,
			 unsigned nb);
static enum auc_code guard(const struct past *p, double *welfare, struct auc_err *err);
static enum auc_code replay(const struct past *p, struct scenario *day, double *welfare,
			    struct auc_err *err);
static enum auc_code teach(const struct past *p, struct scenario *s, unsigned without,
			   struct auc_err *err);
static enum auc_code take_values(struct scenario *s, const struct auc_market *m,
				 const struct auc_given_price *list, size_t n, struct auc_err *err);
static void set_none(struct scenario *s);
static struct json_object *prices_json(const struct scenario *s);

enum auc_code learned_prices(struct scenario *s, const char *mode, const char *policy,
			     char *const *past, unsigned n, char **chosen, struct auc_err *err)
{
	static const char *const names[CANDIDATES] = {"no prices", "the published prices",
						      "learned prices"};
	double welfare[CANDIDATES] = {0};
	struct past p = {.text = policy};
	enum candidate best = LEARNED, c;
	size_t len = strcspn(policy, ",");
	enum auc_code rc;
	unsigned i;

	*chosen = NULL;
	for (i = 0; auc_policies[i]; i++)
		if (strlen(auc_policies[i]->name) == len &&
		    !strncmp(auc_policies[i]->name, policy, len))
			p.policy = auc_policies[i];
	if (strcmp(mode, "learned") != 0 && strcmp(mode, "published") != 0 &&
	    strcmp(mode, "none") != 0)
		return auc_err_set(err, AUC_EINVAL,
				   "--prices: '%.80s', expected published, none or learned", mode);
	if (!p.policy || !auc_policy_is_priced(p.policy))
		return AUC_OK;
	if (p.policy->sites && !strcmp(mode, "learned"))
		return auc_err_set(
			err, AUC_EINVAL,
			"--prices: learned is not for policy %s, whose scenario may have "
			"prices of its own",
			p.policy->name);
	if (!strcmp(mode, "none"))
		set_none(s);
	if (!strcmp(mode, "published"))
		s->prices = SCENARIO_PRICES_OFFLINE;
	if (strcmp(mode, "learned") != 0)
		return AUC_OK;
	if (!n)
		return auc_err_set(err, AUC_EINVAL,
				   "--prices: learned needs a past: --history FILE");
	rc = load_past(&p, s, past, n, err);
	if (rc == AUC_OK)
		rc = guard(&p, welfare, err);
	for (c = NONE; c < CANDIDATES; c++)
		if (welfare[c] > welfare[best])
			best = c;
	if (rc == AUC_OK && best == LEARNED)
		rc = teach(&p, s, n, err);
	if (best == NONE)
		set_none(s);
	if (best == PUBLISHED)
		s->prices = SCENARIO_PRICES_OFFLINE;
	if (rc == AUC_OK && asprintf(chosen,
				     "%.40s: %s: the past would have been worth %.2f without "
				     "prices, %.2f with the published, %.2f with learned ones",
				     p.text, names[best], welfare[NONE], welfare[PUBLISHED],
				     welfare[LEARNED]) < 0) {
		*chosen = NULL;
		rc = auc_err_set(err, AUC_ENOMEM, "--prices: no memory");
	}
	for (i = 0; p.days && i < p.n; i++)
		scenario_free(p.days[i]);
	free(p.days);
	return rc;
}

enum auc_code learned_write(const char *path, const struct scenario *s, const char *to,
			    struct auc_err *err)
{
	struct json_object *root = NULL, *prices;
	enum auc_code rc = document_load(path, &root, err);
	const char *text;
	bool failed;
	FILE *f;

	if (rc != AUC_OK)
		return rc;
	json_object_object_del(root, "prices");
	prices = s->prices == SCENARIO_PRICES_GIVEN ? prices_json(s) : NULL;
	if (s->prices == SCENARIO_PRICES_GIVEN && !auc_json_add(root, "prices", prices))
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", to);
	text = rc == AUC_OK
		       ? json_object_to_json_string_ext(
				 root, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)
		       : NULL;
	if (rc == AUC_OK && !text)
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", to);
	f = rc == AUC_OK ? fopen(to, "we") : NULL;
	if (f) {
		fprintf(f, "%s\n", text);
		failed = ferror(f);
		failed = fclose(f) != 0 || failed;
		if (failed)
			rc = auc_err_set(err, AUC_EIO, "%s: %s", to, strerror(errno));
	} else if (rc == AUC_OK) {
		rc = auc_err_set(err, AUC_EIO, "%s: %s", to, strerror(errno));
	}
	json_object_put(root);
	return rc;
}

static enum auc_code load_past(struct past *p, const struct scenario *s, char *const *paths,
			       unsigned n, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	p->days = calloc(n, sizeof(struct scenario *));
	if (!p->days)
		return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	for (; p->n < n && rc == AUC_OK; p->n++) {
		rc = scenario_load(paths[p->n], &p->days[p->n], err);
		if (rc == AUC_OK && !same_market(s, p->days[p->n]))
			rc = auc_err_set(
				err, AUC_EINVAL,
				"--history: %s: its servers, types or slots are not those of %s",
				paths[p->n], s->file);
		for (i = 0; rc == AUC_OK && i < p->days[p->n]->njobs; i++)
			if (world_is_own(&p->days[p->n]->jobs[i]))
				rc = auc_err_set(err, AUC_EINVAL,
						 "--history: %s: $.jobs[%u]: has types of its own, "
						 "from which nothing can be learned",
						 paths[p->n], i);
	}
	return rc;
}

static bool same_market(const struct scenario *a, const struct scenario *b)
{
	const struct scenario_server *x, *y;
	unsigned i;

	if (a->slots != b->slots || a->slot_seconds != b->slot_seconds ||
	    a->nservers != b->nservers ||
	    !same_types(a->worker_types, a->nworker_types, b->worker_types, b->nworker_types) ||
	    !same_types(a->ps_types, a->nps_types, b->ps_types, b->nps_types))
		return false;
	for (i = 0; i < a->nservers; i++) {
		x = &a->servers[i];
		y = &b->servers[i];
		if (strcmp(x->name, y->name) != 0 || x->cloud != y->cloud || x->roles != y->roles ||
		    !same_amounts(x->capacity, x->ncapacity, y->capacity, y->ncapacity))
			return false;
	}
	return true;
}

static bool same_types(const struct scenario_type *a, unsigned na, const struct scenario_type *b,
		       unsigned nb)
{
	unsigned i;

	if (na != nb)
		return false;
	for (i = 0; i < na; i++)
		if (strcmp(a[i].name, b[i].name) != 0 ||
		    a[i].bandwidth_mbps != b[i].bandwidth_mbps ||
		    !same_amounts(a[i].tres, a[i].ntres, b[i].tres, b[i].ntres))
			return false;
	return true;
}

static bool same_amounts(const struct auc_named *a, unsigned na, const struct auc_named *b,
			 unsigned nb)
{
	unsigned i;

	if (na != nb)
		return false;
	for (i = 0; i < na; i++)
		if (strcmp(a[i].name, b[i].name) != 0 || a[i].value != b[i].value)
			return false;
	return true;
}

/* What all past days are worth with each candidate's prices. */
static enum auc_code guard(const struct past *p, double *welfare, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct scenario *day;
	unsigned i;

	for (i = 0; i < p->n && rc == AUC_OK; i++) {
		day = p->days[i];
		set_none(day);
		rc = replay(p, day, &welfare[NONE], err);
		if (rc == AUC_OK) {
			day->prices = SCENARIO_PRICES_OFFLINE;
			rc = replay(p, day, &welfare[PUBLISHED], err);
		}
		if (rc == AUC_OK)
			rc = teach(p, day, i, err);
		if (rc == AUC_OK)
			rc = replay(p, day, &welfare[LEARNED], err);
	}
	return rc;
}

/* Adds what DAY is worth. */
static enum auc_code replay(const struct past *p, struct scenario *day, double *welfare,
			    struct auc_err *err)
{
	struct result result = {0};
	enum auc_code rc = replay_run(day, p->text, 1, NULL, NULL, &result, err);

	*welfare += result.welfare;
	result_clear(&result);
	return rc;
}

/*
 * Gives S the prices that all past days but the one with index WITHOUT teach. If that is the only
 * one, half of its jobs, every other one, stand for all.
 */
static enum auc_code teach(const struct past *p, struct scenario *s, unsigned without,
			   struct auc_err *err)
{
	bool half = p->n == 1 && without == 0;
	unsigned days = half ? 1 : p->n - (without < p->n), i, k, n = 0, all = 0;
	struct auc_given_price *list = NULL;
	struct auc_dual_job *dual_jobs;
	struct auc_market *m = NULL;
	enum auc_code rc = AUC_OK;
	struct auc_job *jobs;
	size_t nlist = 0;
	double bound;

	for (i = 0; i < p->n; i++)
		all += p->days[i]->njobs;
	jobs = calloc((size_t)all + 1, sizeof(*jobs));
	dual_jobs = calloc((size_t)all + 1, sizeof(*dual_jobs));
	if (!jobs || !dual_jobs)
		rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	for (i = 0; i < p->n && rc == AUC_OK; i++)
		for (k = 0; (i != without || half) && k < p->days[i]->njobs && rc == AUC_OK;
		     k += half ? 2 : 1) {
			rc = world_job(p->days[i], &p->days[i]->jobs[k], &jobs[n], err);
			dual_jobs[n] = (struct auc_dual_job){.job = &jobs[n],
							     .weight = AUC_LEARN_WEIGHT *
								       (half ? 2 : 1) / days};
			n++;
		}
	if (rc == AUC_OK)
		rc = world_market(s, NULL, &m, err);
	if (rc == AUC_OK)
		rc = world_state(s, m, err);
	if (rc == AUC_OK)
		rc = auc_learn_prices(m, p->policy, dual_jobs, n, AUC_LEARN_ITERATIONS, NULL, &list,
				      &nlist, &bound, err);
	if (rc == AUC_OK)
		rc = take_values(s, m, list, nlist, err);
	for (i = 0; jobs && i < n; i++)
		auc_job_clear(&jobs[i]);
	free(jobs);
	free(dual_jobs);
	free(list);
	auc_market_destroy(m);
	return rc;
}

static enum auc_code take_values(struct scenario *s, const struct auc_market *m,
				 const struct auc_given_price *list, size_t n, struct auc_err *err)
{
	struct scenario_entry *values = calloc(n + 1, sizeof(*values));
	size_t i;

	if (!values)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	for (i = 0; i < n; i++) {
		values[i] = (struct scenario_entry){
			.server = list[i].server,
			.from = (uint64_t)list[i].from,
			.to = (uint64_t)list[i].to,
			.amount = list[i].price,
		};
		strcpy(values[i].tres, auc_market_tres_name(m, list[i].tres));
	}
	free(s->values);
	s->values = values;
	s->nvalues = (unsigned)n;
	s->prices = SCENARIO_PRICES_GIVEN;
	return AUC_OK;
}

static void set_none(struct scenario *s)
{
	s->nvalues = 0;
	s->prices = SCENARIO_PRICES_GIVEN;
}

static struct json_object *prices_json(const struct scenario *s)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array(), *one;
	bool ok = o && list && auc_json_add_text(o, "mode", "given");
	const struct scenario_entry *e;
	char text[AUC_NUMBER_LEN];

	for (e = s->values; ok && e < s->values + s->nvalues; e++) {
		one = json_object_new_object();
		ok = one && auc_json_add_text(one, "server", s->servers[e->server].name) &&
		     auc_json_add_text(one, "tres", e->tres) &&
		     auc_json_add_int(one, "from", (int64_t)e->from) &&
		     auc_json_add_int(one, "to", (int64_t)e->to) &&
		     auc_json_add(one, "price",
				  json_object_new_double_s(e->amount,
							   auc_number_str(e->amount, text))) &&
		     !json_object_array_add(list, one);
		if (!ok)
			json_object_put(one);
	}
	ok = ok && auc_json_add(o, "values", json_object_get(list));
	json_object_put(list);
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}
