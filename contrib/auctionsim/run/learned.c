/* learned.c - see learned.h */
#include "config.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/baseline/registry.h"
#include "auctionsim/run/day_bounds.h"
#include "auctionsim/io/document.h"
#include "auctionsim/run/flat_days.h"
#include "pricing/guard.h"
#include "base/json.h"
#include "auctionsim/run/learned.h"
#include "auctionsim/run/margin.h"
#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario_same.h"
#include "auctionsim/run/teacher.h"
#include "base/list.h"
#include "pricing/past/user_share.h"
#include "pricing/past/winsorize.h"
#include "auctionsim/scenario/scenario_market.h"

/* Without a past: there is nothing to compare with. */
static const struct auc_guard_choice cold = {AUC_TARIFF_LEARNED, {AUC_PRICE_FORM_MIXED, 1}, true};

#define CANDIDATES_MAX 64 /* as many as the guard looks at, and more */
#define THREADS_MAX    32 /* as many days as a past may have */

/* A day of the past as it would have been. */
struct look {
	double worth, kept;
	enum auc_code rc;
	struct auc_err err;
};

struct past {
	const struct auc_policy *policy;
	const char *text; /* policy with its options */
	bool flat;        /* only flat prices are wanted */
	unsigned n;
	struct scenario **days;
	struct teacher **teachers; /* by day: what the others teach */
	/* What users would have kept on all days, value less payment, by what was replayed. */
	unsigned nkept;
	struct look *looks; /* by day, at the prices of CHOICE */
	const struct auc_guard_choice *choice;
	atomic_uint next, done; /* days that a thread has taken; of all choices, days looked at */
	struct kept {
		struct auc_guard_choice choice;
		double sum;
	} kept[CANDIDATES_MAX];
};

static enum auc_code load_past(struct past *p, const struct scenario *s,
			       const struct learned_day *past, unsigned n, struct auc_err *err);
static enum auc_code winsorize(struct past *p, struct auc_err *err);
static enum auc_code learn(struct scenario *s, struct past *p, char **chosen, struct auc_err *err);
static enum auc_code guard(struct past *p, struct auc_guard_verdict *v, struct auc_err *err);
static enum auc_code rehearse(void *arg, const struct auc_guard_choice *choice, unsigned day,
			      double *worth, struct auc_err *err);
static void look_at_all(struct past *p, const struct auc_guard_choice *choice);
static void *look_at_some(void *arg);
static void look_at(struct past *p, unsigned day);
static unsigned processors(void);
static double *kept_of(struct past *p, const struct auc_guard_choice *choice);
static enum auc_code take(struct scenario *s, const struct past *p,
			  const struct auc_guard_choice *c, struct auc_err *err);
static char *explain(struct past *p, const struct auc_guard_verdict *v);
static enum auc_code take_values(struct scenario *s, const struct auc_market *m,
				 const struct auc_given_price *list, size_t n, struct auc_err *err);
static void set_none(struct scenario *s);
static struct json_object *prices_json(const struct scenario *s);
static struct json_object *learned_json(void);
static struct json_object *bounds_json(const struct scenario *s);
static bool add_bounds(struct json_object *o, const struct scenario_bounds *b);
static struct json_object *amounts_json(const struct scenario_amounts *a);

enum auc_code learned_prices(struct scenario *s, const char *mode, const char *policy,
			     const struct learned_day *past, unsigned n, char **chosen,
			     struct auc_err *err)
{
	bool flat = !strcmp(mode, "flat");
	struct past p = {.text = policy, .flat = flat};
	enum auc_code rc;
	bool jobs = false;
	unsigned i;

	*chosen = NULL;
	learned_forget(s);
	p.policy = sim_policy_of(policy);
	if (!flat && strcmp(mode, "learned") != 0 && strcmp(mode, "published") != 0 &&
	    strcmp(mode, "none") != 0)
		return auc_err_set(err, AUC_EINVAL,
				   "--prices: '%.80s', expected published, none, flat or learned",
				   mode);
	if (!p.policy || !auc_policy_is_priced(p.policy))
		return AUC_OK;
	if (!strcmp(mode, "none"))
		set_none(s);
	if (!strcmp(mode, "published"))
		s->prices = SCENARIO_PRICES_OFFLINE;
	if (!flat && strcmp(mode, "learned") != 0)
		return AUC_OK;
	if (!n && !flat && p.policy->prices == AUC_PRICE_BOUNDS) {
		s->prices = SCENARIO_PRICES_LEARNED;
		return AUC_OK;
	}
	if ((flat || p.policy->sites) && !n)
		return auc_err_set(err, AUC_EINVAL, "--prices: %s%s needs a past: --history FILE",
				   mode, p.policy->sites ? " of a policy of sites" : "");
	rc = load_past(&p, s, past, n, err);
	progress_say("prices from the days before");
	for (i = 0; i < p.n && rc == AUC_OK; i++) {
		jobs |= p.days[i]->njobs > 0;
		p.days[i]->times = s->times;
		rc = margin_recall(p.days[i], p.days, p.n, i, err);
	}
	if (rc == AUC_OK && flat && !jobs)
		rc = auc_err_set(err, AUC_EINVAL,
				 "--history: expected jobs, from which --prices flat comes, found "
				 "none in %.200s%s",
				 past[0].name, n > 1 ? " and the others" : "");
	if (rc == AUC_OK)
		rc = p.policy->sites ? flat_days_learn(s, policy, p.days, n, flat, chosen, err)
		     : p.policy->prices == AUC_PRICE_BOUNDS
			     ? day_bounds_learn(s, policy, p.days, n, flat, chosen, err)
			     : learn(s, &p, chosen, err);
	for (i = 0; p.days && i < p.n; i++)
		scenario_free(p.days[i]);
	for (i = 0; p.teachers && i < p.n; i++)
		teacher_destroy(p.teachers[i]);
	free(p.days);
	free(p.teachers);
	free(p.looks);
	return rc;
}

void learned_forget(struct scenario *s)
{
	teacher_destroy(s->teacher);
	s->teacher = NULL;
}

static enum auc_code learn(struct scenario *s, struct past *p, char **chosen, struct auc_err *err)
{
	struct auc_guard_verdict v = {.choice = cold};
	enum auc_code rc = p->n ? guard(p, &v, err) : AUC_OK;

	if (rc == AUC_OK)
		rc = take(s, p, &v.choice, err);
	if (rc == AUC_OK && p->n) {
		*chosen = explain(p, &v);
		if (!*chosen)
			rc = auc_err_set(err, AUC_ENOMEM, "--prices: no memory");
	}
	return rc;
}

enum auc_code learned_write(const char *path, const struct scenario *s, bool moved, const char *to,
			    struct auc_err *err)
{
	struct json_object *root = NULL, *prices;
	enum auc_code rc = document_load(path, &root, err);
	bool given, bounds, learned;
	struct output out;
	const char *text;

	if (rc == AUC_OK &&
	    (s->prices == SCENARIO_PRICES_TAUGHT || (s->teacher && teacher_moved(s->teacher))))
		rc = auc_err_set(err, AUC_EINVAL,
				 "--priced: the prices change as the day goes on, which a scenario "
				 "cannot say");
	if (rc == AUC_OK && moved)
		rc = auc_err_set(err, AUC_EINVAL,
				 "--priced: sold jobs have moved as the day went on, which a "
				 "scenario cannot say; expected --no-rearrange");
	if (rc != AUC_OK) {
		json_object_put(root);
		return rc;
	}
	given = s->prices == SCENARIO_PRICES_GIVEN;
	bounds = s->prices == SCENARIO_PRICES_BOUNDS &&
		 (s->both.lower.n || s->worker.lower.n || s->ps_bounds.lower.n);
	learned = s->prices == SCENARIO_PRICES_LEARNED;
	if (given || bounds || learned || s->prices == SCENARIO_PRICES_OFFLINE)
		json_object_object_del(root, "prices");
	prices = given ? prices_json(s) : bounds ? bounds_json(s) : learned ? learned_json() : NULL;
	if ((given || bounds || learned) && !auc_json_add(root, "prices", prices))
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", to);
	text = rc == AUC_OK
		       ? json_object_to_json_string_ext(
				 root, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)
		       : NULL;
	if (rc == AUC_OK && !text)
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", to);
	if (rc == AUC_OK)
		rc = output_open(&out, to, err);
	if (rc == AUC_OK) {
		fprintf(out.stream, "%s\n", text);
		rc = output_close(&out, AUC_OK, err);
	}
	json_object_put(root);
	return rc;
}

static enum auc_code load_past(struct past *p, const struct scenario *s,
			       const struct learned_day *past, unsigned n, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	p->days = calloc(n + 1, sizeof(struct scenario *));
	if (!p->days)
		return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	for (; p->n < n && rc == AUC_OK; p->n++) {
		rc = past[p->n].text ? scenario_parse(past[p->n].text, past[p->n].len,
						      past[p->n].name, &p->days[p->n], err)
				     : scenario_load(past[p->n].name, &p->days[p->n], err);
		if (rc == AUC_OK)
			rc = scenario_same_market(s, p->days[p->n], err);
		if (rc != AUC_OK && p->days[p->n])
			auc_err_prefix(err,
				       "--history: %.100s: its servers, types, slots or budget "
				       "are not those of %.100s",
				       past[p->n].name, s->file);
		for (i = 0; rc == AUC_OK && p->policy->prices == AUC_PRICE_ETA &&
			    !p->policy->sites && i < p->days[p->n]->njobs;
		     i++)
			if (scenario_market_is_own(&p->days[p->n]->jobs[i]))
				rc = auc_err_set(err, AUC_EINVAL,
						 "--history: %s: $.jobs[%u]: has types of its own, "
						 "from which nothing can be learned",
						 past[p->n].name, i);
	}
	return rc == AUC_OK && !p->policy->sites ? winsorize(p, err) : rc;
}

/* Takes from the values of all days what is above what others bid
 * (common/pricing/past/winsorize.h), and from the weight of a user what is above that of the others
 * (common/pricing/past/user_share.h). */
static enum auc_code winsorize(struct past *p, struct auc_err *err)
{
	struct auc_market *m = NULL;
	struct auc_job *jobs;
	const struct auc_job **list;
	enum auc_code rc = AUC_OK;
	unsigned n = 0, i, k, at, *user, who = AUC_USER_NONE;
	double *factor, *work, share = 1;

	for (i = 0; i < p->n; i++)
		n += p->days[i]->njobs;
	jobs = calloc((size_t)n + 1, sizeof(*jobs));
	list = calloc((size_t)n + 1, sizeof(struct auc_job *));
	factor = calloc((size_t)n + 1, sizeof(*factor));
	work = calloc((size_t)n + 1, sizeof(*work));
	user = calloc((size_t)n + 1, sizeof(*user));
	if (!jobs || !list || !factor || !work || !user)
		rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	if (rc == AUC_OK && n)
		rc = scenario_market_create(p->days[0], NULL, &m, err);
	for (at = 0, i = 0; i < p->n; i++)
		for (k = 0; rc == AUC_OK && k < p->days[i]->njobs; k++, at++) {
			list[at] = &jobs[at];
			user[at] = p->days[i]->jobs[k].user;
			rc = scenario_market_job(p->days[i], &p->days[i]->jobs[k], m, &jobs[at],
						 err);
			if (rc == AUC_OK)
				work[at] = auc_winsorize_work(m, &jobs[at]);
		}
	if (rc == AUC_OK && n)
		rc = auc_winsorize(m, list, user, n, factor, err);
	if (rc == AUC_OK)
		share = auc_user_share_factor(user, work, n, m ? p->n * auc_winsorize_room(m) : 0,
					      &who);
	for (at = 0, i = 0; i < p->n; i++)
		for (k = 0; rc == AUC_OK && k < p->days[i]->njobs; k++, at++) {
			auc_utility_multiply(&p->days[i]->jobs[k].utility, factor[at]);
			if (who != AUC_USER_NONE && user[at] == who)
				p->days[i]->jobs[k].share = share;
		}
	for (at = 0; jobs && at < n; at++)
		auc_job_clear(&jobs[at]);
	auc_market_destroy(m);
	free(jobs);
	free(list);
	free(factor);
	free(work);
	free(user);
	return rc;
}

/* -- the guard -- */

static enum auc_code guard(struct past *p, struct auc_guard_verdict *v, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	p->teachers = calloc(p->n + 1, sizeof(struct teacher *));
	p->looks = calloc(p->n + 1, sizeof(*p->looks));
	if (!p->teachers || !p->looks)
		return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	look_at_all(p, NULL);
	for (unsigned i = 0; i < p->n && rc == AUC_OK; i++)
		if (p->looks[i].rc != AUC_OK)
			rc = auc_err_set(err, p->looks[i].rc, "%s", p->looks[i].err.text);
	return rc == AUC_OK ? auc_guard_choose(p->n, p->flat, rehearse, p, v, err) : rc;
}

static enum auc_code rehearse(void *arg, const struct auc_guard_choice *choice, unsigned i,
			      double *worth, struct auc_err *err)
{
	struct past *p = arg;
	const struct look *l = &p->looks[i];

	if (!i) /* days come in their order */
		look_at_all(p, choice);
	if (l->rc != AUC_OK)
		return auc_err_set(err, l->rc, "%s", l->err.text);
	*worth = l->worth;
	*kept_of(p, choice) += l->kept;
	return AUC_OK;
}

/* All days, sold by CHOICE, or taught (NULL): they do not depend on each other, so on as many
 * processors as there are, with the same results. */
static void look_at_all(struct past *p, const struct auc_guard_choice *choice)
{
	unsigned most = processors(), n = 0;
	pthread_t threads[THREADS_MAX];

	progress_say("prices from the days before%s", choice ? ", looks at them" : "");
	progress_count(atomic_load(&p->done), 0);
	p->choice = choice;
	atomic_store(&p->next, 0);
	while (n + 1 < most && n + 1 < p->n && n < THREADS_MAX &&
	       !pthread_create(&threads[n], NULL, look_at_some, p))
		n++;
	look_at_some(p);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

static void *look_at_some(void *arg)
{
	struct past *p = arg;
	unsigned i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->n) {
		look_at(p, i);
		if (p->choice)
			progress_count(atomic_fetch_add(&p->done, 1) + 1, 0);
	}
	return NULL;
}

static void look_at(struct past *p, unsigned i)
{
	const struct auc_guard_choice *choice = p->choice;
	struct scenario *day = p->days[i];
	struct look *l = &p->looks[i];
	struct result result = {0};

	*l = (struct look){0};
	if (!choice) {
		l->rc = teacher_create(day, p->policy, p->days, p->n, i, &p->teachers[i], &l->err);
		return;
	}
	day->teacher = p->teachers[i];
	day->stays = true; /* as where slurmctld looks at its past (fit.c) */
	if (choice->kind == AUC_TARIFF_NONE)
		set_none(day);
	else
		day->prices = choice->kind == AUC_TARIFF_PUBLISHED ? SCENARIO_PRICES_OFFLINE
								   : SCENARIO_PRICES_TAUGHT;
	teacher_choose(p->teachers[i], choice);
	l->rc = replay_run(day, p->text, 1, NULL, NULL, &result, &l->err);
	l->worth = (day->has_true_times ? result.realised_welfare : result.welfare) - result.cost;
	l->kept = day->has_true_times ? result.realised_welfare - result.realised_revenue
				      : result.welfare - result.revenue;
	result_clear(&result);
}

/* That this process may run on. */
static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* What users would have kept with the prices of CHOICE, so far. */
static double *kept_of(struct past *p, const struct auc_guard_choice *choice)
{
	unsigned i;

	for (i = 0; i < p->nkept; i++) {
		const struct auc_guard_choice *c = &p->kept[i].choice;

		if (c->kind == choice->kind && c->again == choice->again &&
		    c->prices.form == choice->prices.form &&
		    c->prices.factor == choice->prices.factor)
			return &p->kept[i].sum;
	}
	i = i < CANDIDATES_MAX ? p->nkept++ : CANDIDATES_MAX - 1;
	p->kept[i] = (struct kept){.choice = *choice};
	return &p->kept[i].sum;
}

/* Gives S the prices of C. */
static enum auc_code take(struct scenario *s, const struct past *p,
			  const struct auc_guard_choice *c, struct auc_err *err)
{
	struct auc_given_price *list = NULL;
	struct auc_market *m = NULL;
	enum auc_code rc;
	size_t n;

	if (c->kind == AUC_TARIFF_NONE)
		set_none(s);
	if (c->kind == AUC_TARIFF_PUBLISHED)
		s->prices = SCENARIO_PRICES_OFFLINE;
	rc = teacher_create(s, p->policy, p->days, p->n, p->n, &s->teacher, err);
	if (rc != AUC_OK)
		return rc;
	teacher_choose(s->teacher, c);
	if (!p->flat)
		teacher_watch(s->teacher);
	if (c->kind < AUC_TARIFF_FLAT)
		return AUC_OK;
	s->prices = SCENARIO_PRICES_TAUGHT;
	if (!teacher_is_fixed(s->teacher))
		return AUC_OK;
	rc = scenario_market_create(s, NULL, &m, err);
	if (rc == AUC_OK)
		rc = teacher_list(s->teacher, m, &list, &n, err);
	if (rc == AUC_OK)
		rc = take_values(s, m, list, n, err);
	free(list);
	auc_market_destroy(m);
	return rc;
}

static const char *const forms[] = {
	[AUC_PRICE_FORM_NONE] = "nothing",
	[AUC_PRICE_FORM_FLAT] = "one price of each TRES",
	[AUC_PRICE_FORM_LEVEL] = "one price of each class",
	[AUC_PRICE_FORM_TIMED] = "prices by class and slot",
	[AUC_PRICE_FORM_MIXED] = "prices by class, half of them by slot",
};

/* What was chosen, and what the best of each kind that was replayed would have been worth. */
static char *explain(struct past *p, const struct auc_guard_verdict *v)
{
	const struct auc_guard_choice *c = &v->choice;
	static const struct auc_guard_choice none = {.kind = AUC_TARIFF_NONE,
						     .prices = {AUC_PRICE_FORM_NONE, 0}};
	char what[128], others[700] = "", kept[700] = "", *text = NULL;

	if (c->kind >= AUC_TARIFF_FLAT)
		snprintf(what, sizeof(what), "learned prices: %s, times %g%s",
			 forms[c->prices.form], c->prices.factor, c->again ? ", fitted again" : "");
	else
		snprintf(what, sizeof(what), "%s prices",
			 c->kind == AUC_TARIFF_NONE ? "no" : "the published");
	if (!p->flat)
		snprintf(others, sizeof(others), "%.2f without prices, %.2f with the published, ",
			 v->worth_of[AUC_TARIFF_NONE], v->worth_of[AUC_TARIFF_PUBLISHED]);
	if (!p->flat)
		snprintf(kept, sizeof(kept),
			 "; users would have kept %.2f, and %.2f without prices", *kept_of(p, c),
			 *kept_of(p, &none));
	if (asprintf(&text, "%.40s: %s: the past would have been worth %s%.2f with learned ones%s",
		     p->text, what, others,
		     fmax(v->worth_of[AUC_TARIFF_FLAT], v->worth_of[AUC_TARIFF_LEARNED]), kept) < 0)
		return NULL;
	return text;
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

	for (unsigned i = 0; ok && i < s->nvalues; i++) {
		e = &s->values[i];
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
	ok = auc_json_add_if(ok, o, "values", list);
	return auc_json_if(ok, o);
}

static struct json_object *learned_json(void)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "mode", "learned"))
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *bounds_json(const struct scenario *s)
{
	struct json_object *o = json_object_new_object();
	bool ok = o && auc_json_add_text(o, "mode", "bounds") && add_bounds(o, &s->both);

	for (unsigned r = 0; ok && r < 2; r++) {
		const struct scenario_bounds *role = r ? &s->ps_bounds : &s->worker;
		struct json_object *one = json_object_new_object();

		ok = one && add_bounds(one, role) &&
		     (!role->lower.n || auc_json_add(o, r ? "ps" : "worker", json_object_get(one)));
		json_object_put(one);
	}
	return auc_json_if(ok, o);
}

/* What there is of lower and upper bounds. */
static bool add_bounds(struct json_object *o, const struct scenario_bounds *b)
{
	return (!b->lower.n || auc_json_add(o, "lower", amounts_json(&b->lower))) &&
	       (!b->upper.n || auc_json_add(o, "upper", amounts_json(&b->upper)));
}

static struct json_object *amounts_json(const struct scenario_amounts *a)
{
	struct json_object *o = json_object_new_object();
	char text[AUC_NUMBER_LEN];
	bool ok = o;

	for (unsigned k = 0; ok && k < a->n; k++)
		ok = auc_json_add(o, a->list[k].name,
				  json_object_new_double_s(a->list[k].value,
							   auc_number_str(a->list[k].value, text)));
	return auc_json_if(ok, o);
}
