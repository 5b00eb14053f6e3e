/* teacher.c - see teacher.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/past/drift.h"
#include "auctionsim/run/foresight.h"
#include "auctionsim/run/teacher.h"
#include "pricing/past/user_share.h"
#include "auctionsim/scenario/scenario_market.h"

/* Without a past, or one of such jobs as come today: */
#define FIRST_JOBS 10  /* prices are fitted from that many jobs on, */
#define GROWTH     1.1 /* and each time that there are that many times as many; */
#define DOUBT      5   /* those of n jobs are multiplied by n / (n + DOUBT); */
#define PARTS      5   /* of the day so far: the last one is expected to come again */
/* Prices of a day without a past have to earn their keep: */
#define AHEAD_JOBS   2000 /* at most that many of the jobs expected are looked at, */
#define AHEAD_GROWTH 1.25 /* each time that there are that many times as many, */
#define AHEAD_GAIN   0.02 /* and must be worth so much more with prices than with none */

/* Jobs of the past, or of the day. */
struct bids {
	unsigned n, alloc;
	struct auc_job *jobs;
	unsigned *user; /* user_share.h */
	double *share;
	double weight; /* of each, times its share */
};

struct teacher {
	const struct scenario *s;
	const struct auc_policy *policy;
	struct bids past, today;
	struct auc_dual_prices *before; /* the fit that the day begins with */
	struct auc_dual_prices *now;    /* fits of the day */
	struct auc_guard_choice choice;
	struct auc_user_share_level level; /* jobs, at the last look */
	bool watches;                      /* whether such jobs come as in the past, and as many */
	bool alone;         /* there is no past, or one of other jobs, which is left aside */
	bool moved;         /* they did not: prices are fitted again as the day goes on */
	bool pays;          /* alone: the jobs expected are worth more with prices than with none */
	unsigned next_look; /* at that, once there were so many jobs */
	auc_slot next;      /* slot of the next fit */
	unsigned next_jobs; /* or jobs, if the day is alone; that is looked at then, too */
};

static enum auc_code hear_days(struct teacher *t, const struct auc_market *m,
			       struct scenario *const *days, unsigned n, unsigned without,
			       struct auc_err *err);
static enum auc_code add_job(struct bids *c, const struct auc_job *job, unsigned user, double share,
			     unsigned nservers, struct auc_err *err);
static bool grow(struct bids *c);
static void clear(struct bids *c);
static enum auc_code begin_fits(struct teacher *t, const struct auc_market *m, bool alone,
				struct auc_err *err);
static enum auc_code compare(struct teacher *t, struct auc_market *m, auc_slot now,
			     struct auc_err *err);
static enum auc_code count(struct teacher *t, auc_slot now, struct auc_err *err);
static enum auc_code first_fit(struct teacher *t, struct auc_err *err);
static enum auc_code fit(struct teacher *t, struct auc_dual_prices *l, struct auc_market *m,
			 auc_slot now, unsigned iterations, struct auc_err *err);
static enum auc_code look_ahead(struct teacher *t, const struct auc_market *m, auc_slot now,
				const struct auc_given_price *list, size_t n, struct auc_err *err);
static unsigned expect_past(const struct teacher *t, struct auc_dual_job *list);
static unsigned expect_today(const struct teacher *t, const struct auc_market *m, auc_slot now,
			     struct auc_dual_job *list, struct auc_job *jobs);
static unsigned expect_again(const struct bids *c, unsigned i, double weight, auc_slot from,
			     double length, struct auc_dual_job *list, struct auc_job *jobs);

enum auc_code teacher_create(const struct scenario *s, const struct auc_policy *policy,
			     struct scenario *const *days, unsigned n, unsigned without,
			     struct teacher **out, struct auc_err *err)
{
	struct teacher *t = calloc(1, sizeof(*t));
	struct auc_market *m = NULL;
	enum auc_code rc;

	*out = NULL;
	if (!t)
		return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	t->s = s;
	t->policy = policy;
	rc = scenario_market_create(s, NULL, &m, err);
	if (rc == AUC_OK)
		rc = hear_days(t, m, days, n, without, err);
	if (rc == AUC_OK)
		rc = auc_dual_prices_create(m, policy, "", &t->before, err);
	t->alone = !t->past.n;
	if (rc == AUC_OK && t->past.n)
		rc = first_fit(t, err);
	auc_market_destroy(m);
	if (rc == AUC_OK)
		*out = t;
	else
		teacher_destroy(t);
	return rc;
}

void teacher_destroy(struct teacher *t)
{
	if (!t)
		return;
	auc_dual_prices_destroy(t->before);
	auc_dual_prices_destroy(t->now);
	clear(&t->past);
	clear(&t->today);
	free(t);
}

void teacher_choose(struct teacher *t, const struct auc_guard_choice *choice)
{
	t->choice = *choice;
}

bool teacher_is_fixed(const struct teacher *t)
{
	return !t->choice.again && t->past.n;
}

void teacher_watch(struct teacher *t)
{
	t->watches = true;
}

bool teacher_moved(const struct teacher *t)
{
	return t->moved;
}

enum auc_code teacher_list(const struct teacher *t, const struct auc_market *m,
			   struct auc_given_price **list, size_t *n, struct auc_err *err)
{
	return auc_dual_prices_list(t->before, m, &t->choice.prices, list, n, err);
}

/* -- jobs -- */

static enum auc_code hear_days(struct teacher *t, const struct auc_market *m,
			       struct scenario *const *days, unsigned n, unsigned without,
			       struct auc_err *err)
{
	bool half = n == 1 && without == 0;
	unsigned heard = half ? 1 : n - (without < n), i, k;
	struct auc_job job = {0};
	enum auc_code rc = AUC_OK;

	t->today.weight = 1;
	t->past.weight = heard ? (half ? 2.0 : 1.0) / heard : 0;
	for (i = 0; i < n; i++)
		for (k = 0; (i != without || half) && k < days[i]->njobs && rc == AUC_OK;
		     k += half ? 2 : 1) {
			rc = scenario_market_job(days[i], &days[i]->jobs[k], m, &job, err);
			if (rc == AUC_OK)
				rc = add_job(&t->past, &job, days[i]->jobs[k].user,
					     days[i]->jobs[k].share, t->s->nservers, err);
		}
	auc_job_clear(&job);
	return rc;
}

static enum auc_code add_job(struct bids *c, const struct auc_job *job, unsigned user, double share,
			     unsigned nservers, struct auc_err *err)
{
	struct auc_job copy;

	if (auc_job_copy(&copy, job, nservers, err) != AUC_OK)
		return AUC_ENOMEM;
	if (c->n == c->alloc && !grow(c)) {
		auc_job_clear(&copy);
		return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	}
	c->user[c->n] = user;
	c->share[c->n] = share;
	c->jobs[c->n++] = copy;
	return AUC_OK;
}

static bool grow(struct bids *c)
{
	unsigned alloc = 2 * c->alloc + 64;
	struct auc_job *jobs = realloc(c->jobs, alloc * sizeof(*jobs));
	unsigned *user = realloc(c->user, alloc * sizeof(*user));
	double *share = realloc(c->share, alloc * sizeof(*share));

	c->jobs = jobs ? jobs : c->jobs;
	c->user = user ? user : c->user;
	c->share = share ? share : c->share;
	if (!jobs || !user || !share)
		return false;
	c->alloc = alloc;
	return true;
}

static void clear(struct bids *c)
{
	unsigned i;

	for (i = 0; i < c->n; i++)
		auc_job_clear(&c->jobs[i]);
	free(c->jobs);
	free(c->user);
	free(c->share);
}

/* -- the day -- */

static enum auc_code first_fit(struct teacher *t, struct auc_err *err)
{
	struct auc_market *m = NULL;
	enum auc_code rc = scenario_market_create(t->s, NULL, &m, err);

	if (rc == AUC_OK)
		rc = scenario_market_state(t->s, m, err);
	if (rc == AUC_OK)
		rc = fit(t, t->before, m, auc_market_first(m), AUC_DUAL_PRICES_ITERATIONS, err);
	auc_market_destroy(m);
	return rc;
}

enum auc_code teacher_open(struct teacher *t, struct auc_market *m, struct auc_err *err)
{
	struct auc_given_price *list = NULL;
	enum auc_code rc;
	size_t n = 0;

	clear(&t->today);
	t->today = (struct bids){.weight = 1};
	rc = begin_fits(t, m, !t->past.n, err);
	if (rc != AUC_OK)
		return rc;
	t->next = auc_market_first(m) + (auc_slot)ceil((double)t->s->slots / AUC_GUARD_FITS_A_DAY);
	t->next_jobs = t->next_look = FIRST_JOBS;
	t->pays = false;
	t->moved = false;
	t->level = (struct auc_user_share_level){0};
	if (t->s->prices != SCENARIO_PRICES_TAUGHT)
		return AUC_OK;
	if (t->past.n)
		rc = teacher_list(t, m, &list, &n, err);
	if (rc == AUC_OK)
		rc = auc_market_give_prices(m, list, n, err);
	free(list);
	return rc;
}

/* The fits of the day begin, with the prices that the past has taught or, ALONE, with none. */
static enum auc_code begin_fits(struct teacher *t, const struct auc_market *m, bool alone,
				struct auc_err *err)
{
	enum auc_code rc;

	t->alone = alone;
	auc_dual_prices_destroy(t->now);
	t->now = NULL;
	rc = auc_dual_prices_create(m, t->policy, "", &t->now, err);
	if (rc == AUC_OK && !alone)
		auc_dual_prices_follow(t->now, t->before);
	return rc;
}

enum auc_code teacher_before(struct teacher *t, struct auc_market *m, auc_slot now, bool *changed,
			     struct auc_err *err)
{
	bool grown = t->today.n >= t->next_jobs, due;
	struct auc_price_choice choice;
	struct auc_given_price *list = NULL;
	enum auc_code rc = AUC_OK;
	size_t n = 0;

	if (now > auc_market_last(m))
		return AUC_OK;
	if (grown && t->watches && t->past.n)
		rc = compare(t, m, now, err);
	due = t->alone ? grown : now >= t->next;
	if (grown)
		t->next_jobs = (unsigned)ceil(GROWTH * t->today.n);
	if (rc != AUC_OK || !due)
		return rc;
	t->next = now + (auc_slot)ceil((double)t->s->slots / AUC_GUARD_FITS_A_DAY);
	rc = count(t, now, err);
	t->moved = t->moved || t->alone ||
		   (t->watches && !t->choice.again &&
		    auc_guard_moved(&t->choice, t->level.now, t->level.before));
	if (rc != AUC_OK || (!t->choice.again && !t->moved))
		return rc;
	choice = auc_guard_again(&t->choice);
	if (t->alone)
		choice = (struct auc_price_choice){AUC_PRICE_FORM_MIXED,
						   (double)t->today.n / (t->today.n + DOUBT)};
	rc = fit(t, t->now, m, now,
		 auc_dual_prices_ready(t->now) || !(t->alone || t->moved)
			 ? AUC_DUAL_PRICES_AGAIN
			 : AUC_DUAL_PRICES_ITERATIONS,
		 err);
	if (rc == AUC_OK)
		rc = auc_dual_prices_list(t->now, m, &choice, &list, &n, err);
	if (rc == AUC_OK && t->alone && t->today.n >= t->next_look)
		rc = look_ahead(t, m, now, list, n, err);
	if (rc == AUC_OK)
		rc = auc_market_give_prices(m, list, t->alone && !t->pays ? 0 : n, err);
	*changed = rc == AUC_OK;
	free(list);
	return rc;
}

/*
 * The day is alone, and may become one in which there is room for all: then prices only turn jobs
 * away. Sells what is expected from slot NOW on once at the prices LIST[N] and once at none.
 */
static enum auc_code look_ahead(struct teacher *t, const struct auc_market *m, auc_slot now,
				const struct auc_given_price *list, size_t n, struct auc_err *err)
{
	double passed = fmax((double)(now - auc_market_first(m)), 1);
	double left = (double)(auc_market_last(m) - now) + 1, with, without;
	unsigned most = (unsigned)fmin(ceil(t->today.n * left / passed), AHEAD_JOBS), i;
	struct auc_job *jobs = calloc(most, sizeof(*jobs));
	enum auc_code rc = AUC_OK;

	if (!jobs)
		return auc_err_set(err, AUC_ENOMEM, "no memory to look ahead");
	for (i = 0; i < most; i++) {
		jobs[i] = t->today.jobs[i % t->today.n];
		jobs[i].arrival = now + (auc_slot)((i + 0.5) * passed / t->today.n);
		if (jobs[i].arrival > auc_market_last(m))
			break;
	}
	rc = foresight_worth(m, t->policy, list, n, jobs, i, &with, err);
	if (rc == AUC_OK)
		rc = foresight_worth(m, t->policy, NULL, 0, jobs, i, &without, err);
	if (rc == AUC_OK)
		t->pays = with > without * (1 + AHEAD_GAIN);
	t->next_look = (unsigned)ceil(AHEAD_GROWTH * t->today.n);
	free(jobs);
	return rc;
}

enum auc_code teacher_costs(const struct teacher *t, const struct auc_market *m,
			    struct auc_given_price **list, size_t *n, struct auc_err *err)
{
	const struct auc_dual_prices *l = auc_dual_prices_ready(t->now) ? t->now : t->before;

	*list = NULL;
	*n = 0;
	if (!t->watches || (t->choice.kind < AUC_TARIFF_FLAT && !t->moved))
		return AUC_OK;
	return auc_dual_prices_ready(l) && (l == t->now || !t->alone)
		       ? auc_dual_prices_list(l, m, &auc_guard_usual.prices, list, n, err)
		       : AUC_OK;
}

/* Today is alone as long as its jobs are others than the past had by slot NOW. */
static enum auc_code compare(struct teacher *t, struct auc_market *m, auc_slot now,
			     struct auc_err *err)
{
	struct auc_drift_jobs today = {.user = t->today.user}, past = {0};
	const struct auc_job **jobs = calloc((size_t)t->today.n + t->past.n, sizeof(*jobs));
	unsigned *user = calloc(t->past.n, sizeof(*user));
	enum auc_code rc = AUC_OK;
	double evidence = 0;

	if (!jobs || !user)
		rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	for (; rc == AUC_OK && today.n < t->today.n; today.n++)
		jobs[today.n] = &t->today.jobs[today.n];
	for (unsigned i = 0; rc == AUC_OK && i < t->past.n; i++)
		if (t->past.jobs[i].arrival < now) {
			jobs[today.n + past.n] = &t->past.jobs[i];
			user[past.n++] = t->past.user[i];
		}
	if (rc == AUC_OK) {
		today.jobs = jobs;
		past.jobs = jobs + today.n;
		past.user = user;
		rc = auc_drift_compare(m, &today, &past, &evidence, err);
	}
	if (rc == AUC_OK && (evidence > 1) != t->alone)
		rc = begin_fits(t, m, evidence > 1, err);
	free(jobs);
	free(user);
	return rc;
}

/* How many jobs the day has had, and the past by slot NOW, whoever may have changed that. */
static enum auc_code count(struct teacher *t, auc_slot now, struct auc_err *err)
{
	unsigned *user = calloc((size_t)t->past.n + 1, sizeof(*user)), n = 0;
	enum auc_code rc;

	if (!user)
		return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	for (unsigned i = 0; i < t->past.n; i++)
		if (t->past.jobs[i].arrival < now)
			user[n++] = t->past.user[i];
	rc = auc_user_share_level(t->today.user, t->today.n, user, n, t->past.weight, &t->level,
				  err);
	free(user);
	return rc;
}

enum auc_code teacher_heard(struct teacher *t, const struct auc_job *job, unsigned user,
			    struct auc_err *err)
{
	return add_job(&t->today, job, user, 1, t->s->nservers, err);
}

/*
 * What is expected from slot NOW on: the jobs of the past, as many more or fewer as today has had
 * more or fewer than they until now; if today is alone, jobs like its own.
 */
static enum auc_code fit(struct teacher *t, struct auc_dual_prices *l, struct auc_market *m,
			 auc_slot now, unsigned iterations, struct auc_err *err)
{
	size_t most = 2 * (size_t)t->today.n + t->past.n + 1;
	struct auc_dual_job *list = calloc(most, sizeof(*list));
	struct auc_job *jobs = calloc(most, sizeof(*jobs));
	enum auc_code rc = AUC_OK;
	unsigned n = 0;

	if (!list || !jobs)
		rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	if (rc == AUC_OK)
		n = t->alone ? expect_today(t, m, now, list, jobs) : expect_past(t, list);
	if (rc == AUC_OK)
		rc = auc_dual_prices_fit(l, m, list, n, now, iterations, err);
	free(list);
	free(jobs);
	return rc;
}

static unsigned expect_past(const struct teacher *t, struct auc_dual_job *list)
{
	double weight = t->past.weight * AUC_DUAL_PRICES_WEIGHT *
			auc_dual_prices_rate(t->level.now, t->level.before);
	unsigned i;

	for (i = 0; i < t->past.n; i++)
		list[i] = (struct auc_dual_job){.job = &t->past.jobs[i],
						.weight = weight * t->past.share[i]};
	return i;
}

/*
 * The jobs of the last fifth of the day so far are expected once more in as long a time, and then
 * all of them, at the rate at which they came: a burst is expected to go on for as long as it has
 * lasted, but not to come again.
 */
static unsigned expect_today(const struct teacher *t, const struct auc_market *m, auc_slot now,
			     struct auc_dual_job *list, struct auc_job *jobs)
{
	double passed = fmax((double)(now - auc_market_first(m)), 1);
	double left = (double)(auc_market_last(m) - now) + 1;
	double near = fmin(fmax(passed / PARTS, 1), left);
	unsigned i = 0, n;

	while (i < t->today.n && (double)t->today.jobs[i].arrival < (double)now - near)
		i++;
	n = expect_again(&t->today, i, 1, now, near, list, jobs);
	return n + expect_again(&t->today, 0, (left - near) / passed, now + (auc_slot)near,
				left - near, list + n, jobs + n);
}

/* The jobs of C from index I on, WEIGHT times, evenly over LENGTH slots from slot FROM on; returns
 * how many they are. */
static unsigned expect_again(const struct bids *c, unsigned i, double weight, auc_slot from,
			     double length, struct auc_dual_job *list, struct auc_job *jobs)
{
	unsigned n, of = weight > 0 ? c->n - i : 0;

	for (n = 0; n < of; n++) {
		jobs[n] = c->jobs[i + n];
		jobs[n].arrival = from + (auc_slot)(length * (n + 0.5) / of);
		list[n] = (struct auc_dual_job){.job = &jobs[n],
						.weight = weight * AUC_DUAL_PRICES_WEIGHT *
							  c->share[i + n]};
	}
	return n;
}
