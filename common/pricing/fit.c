/* fit.c - see fit.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/bid_resolve.h"
#include "input/conf.h"
#include "base/clock.h"
#include "pricing/fit-private.h"
#include "pricing/fit_levels.h"
#include "pricing/fit_sites.h"
#include "pricing/dual/dual_prices.h"
#include "pricing/past/drift.h"
#include "pricing/past/user_share.h"
#include "pricing/past/winsorize.h"

#define PARTS 4     /* of a period: the last one tells how many bids come now */
#define DAYS  7     /* periods that are replayed at most */
#define WORK  25000 /* and, but for the last two, no more than that: bids times periods */

/* An expected bid. */
struct expected {
	struct auc_job job;
	double weight;
	unsigned user; /* user_share.h */
	double share;  /* of its weight that counts */
	auc_slot age;  /* slots ago */
	auc_slot day;  /* whole periods ago */
	bool recent;   /* in the last part of one */
	bool half;     /* teaches, if there is but one day */
};

struct fit {
	const struct auc_fit_input *in;
	struct expected *list; /* by arrival */
	unsigned n;
	struct auc_job *later;             /* the same a period later; uploads are those of list */
	struct auc_dual_job *dual;         /* scratch, 2 * n long */
	unsigned *users;                   /* scratch, twice that */
	struct auc_user_share_level level; /* bids of the last part of a period, and of the same
					 part of one before, on average */
	double rate;                       /* how many more are expected for that */
	auc_slot since;          /* slots for which such jobs have come as come now; 0: always */
	bool partly;             /* for less than a period */
	unsigned periods;        /* that bids are of; 1 if they are of less than one */
	unsigned days, day_bids; /* that the guard replays */
	struct auc_dual_prices *taught[DAYS]; /* by day: what the other ones teach */
	struct auc_tariff *t;
};

static enum auc_code forecast(struct fit *f, struct auc_err *err);
static enum auc_code find_change(struct fit *f, struct auc_err *err);
static void place(struct fit *f, auc_slot span, unsigned periods);
static void count_days(struct fit *f, unsigned periods);
static void carry_over(struct fit *f);
static bool expect(const struct fit *f, const struct auc_logged_bid *bid_log, auc_slot arrival,
		   struct expected *e);
static enum auc_code limit_users(struct fit *f, struct auc_err *err);
static enum auc_code count_recent(struct fit *f, unsigned periods, struct auc_err *err);
static int by_arrival(const void *a, const void *b);
static bool guard_due(const struct fit *f);
static enum auc_code guard(struct fit *f, struct auc_err *err);
static enum auc_code compare_forms(struct fit *f, struct auc_err *err);
static enum auc_code compare_levels(struct fit *f, struct auc_err *err);
static void keep(struct fit *f, const struct auc_guard_verdict *v);
static enum auc_code certify(struct fit *f, struct auc_err *err);
static enum auc_code certify_day(struct fit *f, unsigned day, double *bound, struct auc_err *err);
static void choose(struct fit *f);
static bool teaches(const struct fit *f, unsigned i, unsigned day, double *weight);
static unsigned take_others(struct fit *f, unsigned day, double rate);
static unsigned take_day(struct fit *f, unsigned day);
static unsigned take_all(struct fit *f, double rate);
static enum auc_code take_by_day(struct fit *f, unsigned ndays, double rate,
				 struct auc_fit_days *days, struct auc_err *err);
static enum auc_code set_prices(struct fit *f, struct auc_err *err);
static enum auc_code set_costs(struct fit *f, struct auc_err *err);
static enum auc_code dual_prices(struct fit *f, const struct auc_market *m, unsigned njobs,
				 struct auc_dual_prices **l, struct auc_err *err);
static enum auc_code go_on_learning(struct fit *f, struct auc_err *err);
static enum auc_code fit_sites(struct fit *f, struct auc_err *err);
static bool same_layout(const struct auc_market *a, const struct auc_market *b);
static bool same_types(const struct auc_market *a, const struct auc_market *b);
static enum auc_code replay(void *arg, const struct auc_guard_choice *choice, unsigned day,
			    double *worth, struct auc_err *err);
static enum auc_code give(const struct fit *f, struct auc_market *m,
			  const struct auc_dual_prices *l, const struct auc_guard_choice *c,
			  struct auc_err *err);
static enum auc_code fit_again(struct fit *f, struct auc_market *m, unsigned day, auc_slot now,
			       unsigned seen, const struct auc_guard_choice *c,
			       struct auc_dual_prices **l, struct auc_err *err);
static enum auc_code rate_of(struct fit *f, unsigned day, auc_slot now, unsigned seen, double *rate,
			     struct auc_err *err);

enum auc_code auc_fit(const struct auc_fit_input *in, struct auc_tariff **out, struct auc_err *err)
{
	struct fit f = {.in = in, .t = calloc(1, sizeof(*f.t))};
	double began = auc_clock(CLOCK_THREAD_CPUTIME_ID);
	enum auc_code rc;

	*out = NULL;
	rc = f.t ? forecast(&f, err) : auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	if (rc == AUC_OK)
		carry_over(&f);
	if (rc == AUC_OK && in->policy->sites)
		rc = fit_sites(&f, err);
	else if (rc == AUC_OK && guard_due(&f))
		rc = guard(&f, err);
	if (rc == AUC_OK && !in->policy->sites) {
		choose(&f);
		rc = go_on_learning(&f, err);
	}
	if (rc == AUC_OK && !in->policy->sites && f.t->kind >= AUC_TARIFF_FLAT)
		rc = set_prices(&f, err);
	if (rc == AUC_OK && in->policy->rearranges)
		rc = set_costs(&f, err);
	if (rc == AUC_OK) {
		f.t->time = in->now;
		f.t->slot_seconds = in->conf->slot_seconds;
		if (!in->policy->sites)
			f.t->bound = auc_dual_prices_bound(in->memory->dual_prices);
		f.t->seconds = auc_clock(CLOCK_THREAD_CPUTIME_ID) - began;
		*out = f.t;
		f.t = NULL;
	}
	auc_tariff_free(f.t);
	if (rc == AUC_OK) {
		auc_market_destroy(in->memory->market);
		in->memory->market = in->market;
		in->memory->conf = in->conf;
	} else {
		auc_market_destroy(in->market);
		auc_fit_forget(in->memory);
	}
	for (unsigned i = 0; i < f.n; i++)
		auc_job_clear(&f.list[i].job);
	for (unsigned d = 0; d < DAYS; d++)
		auc_dual_prices_destroy(f.taught[d]);
	free(f.list);
	free(f.later);
	free(f.dual);
	free(f.users);
	return rc;
}

void auc_fit_forget(struct auc_fit_memory *memory)
{
	auc_dual_prices_destroy(memory->dual_prices);
	auc_market_destroy(memory->market);
	auc_tariff_free(memory->costs);
	*memory = (struct auc_fit_memory){0};
}

/* -- the forecast -- */

static enum auc_code forecast(struct fit *f, struct auc_err *err)
{
	const struct auc_fit_input *in = f->in;
	double seconds = in->conf->slot_seconds;
	unsigned count = auc_bid_log_count(in->bid_log), periods, day = 0;
	auc_slot first = auc_market_first(in->market), period = in->conf->slots, oldest, span, at;
	enum auc_code rc;

	f->list = calloc((size_t)count + 1, sizeof(*f->list));
	f->later = calloc((size_t)count + 1, sizeof(*f->later));
	f->dual = calloc(2 * (size_t)count + 1, sizeof(*f->dual));
	f->users = calloc(2 * (size_t)count + 1, sizeof(*f->users));
	if (!f->list || !f->later || !f->dual || !f->users)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a forecast");
	oldest = count ? (auc_slot)floor(auc_bid_log_at(in->bid_log, 0)->time / seconds) : first;
	span = first > oldest ? first - oldest : 0;
	for (unsigned i = 0; i < count; i++) {
		const struct auc_logged_bid *b = auc_bid_log_at(in->bid_log, i);
		struct expected *e = &f->list[f->n];

		at = (auc_slot)floor(b->time / seconds);
		e->age = first > at ? first - at : 0;
		e->user = b->user;
		if (b->slot_seconds == seconds && expect(f, b, at, e))
			f->n++;
	}
	rc = find_change(f, err);
	if (rc != AUC_OK)
		return rc;
	if (f->since)
		f->t->other_since = (double)(first - f->since) * seconds;
	span = f->since ? f->since : span;
	periods = (unsigned)(span / period);
	f->partly = f->since && !periods;
	place(f, span, periods);
	f->periods = periods ? periods : 1;
	f->t->bids = f->n;
	if (f->n < AUC_FIT_BIDS_MIN)
		return auc_err_set(err, AUC_ENOENT,
				   "%u past bids that mean something today, %d are needed", f->n,
				   AUC_FIT_BIDS_MIN);
	rc = limit_users(f, err);
	if (rc == AUC_OK)
		rc = count_recent(f, periods, err);
	if (rc != AUC_OK)
		return rc;
	for (unsigned i = 0; i < f->n; i++)
		f->t->expected += f->list[i].weight * f->list[i].share;
	f->rate = periods > 1 ? auc_dual_prices_rate(f->level.now, f->level.before) : 1;
	f->t->expected *= f->rate;
	qsort(f->list, f->n, sizeof(*f->list), by_arrival);
	for (unsigned i = 0; i < f->n; i++) {
		f->list[i].half = !f->list[i].day && day++ % 2 == 0;
		f->later[i] = f->list[i].job;
		f->later[i].arrival += period;
	}
	count_days(f, periods);
	return AUC_OK;
}

/* Since when such bids have come as come now. */
static enum auc_code find_change(struct fit *f, struct auc_err *err)
{
	const struct auc_job **jobs = calloc((size_t)f->n + 1, sizeof(*jobs));
	auc_slot *age = calloc((size_t)f->n + 1, sizeof(*age)), period = f->in->conf->slots;
	struct auc_drift_jobs bids = {jobs, f->users, f->n};
	enum auc_code rc = AUC_OK;

	if (!jobs || !age)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for a forecast");
	for (unsigned i = 0; rc == AUC_OK && i < f->n; i++) {
		jobs[i] = &f->list[i].job;
		f->users[i] = f->list[i].user;
		age[i] = f->list[i].age;
	}
	if (rc == AUC_OK && !f->in->policy->sites && period >= PARTS)
		rc = auc_drift_since(f->in->market, &bids, age, period, period / PARTS, &f->since,
				     err);
	free(jobs);
	free(age);
	return rc;
}

/* Bids of the last SPAN slots, or of its PERIODS, to when they are expected; others are left out.
 */
static void place(struct fit *f, auc_slot span, unsigned periods)
{
	auc_slot first = auc_market_first(f->in->market), period = f->in->conf->slots;
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++) {
		struct expected *e = &f->list[i];

		if (periods ? e->age >= (auc_slot)periods * period : e->age > span) {
			auc_job_clear(&e->job);
			continue;
		}
		e->day = e->age / period;
		/* the slot that has begun is not over */
		e->recent = e->age % period >= 1 && e->age % period <= period / PARTS;
		e->job.arrival = first + (periods ? period - 1 - (e->age + period - 1) % period
						  : (span - e->age) * period / (span + 1));
		e->weight = periods ? 1.0 / periods
			    : f->since || auc_bid_log_truncated(f->in->bid_log)
				    ? (double)period / (double)(span ? span : 1)
				    : 1;
		f->list[n++] = *e;
	}
	f->n = n;
}

/* The last periods, as many as the guard has time for; of policies of sites only one. */
static void count_days(struct fit *f, unsigned periods)
{
	unsigned bids[DAYS + 1] = {0};

	for (unsigned i = 0; i < f->n; i++)
		bids[f->list[i].day < DAYS ? f->list[i].day : DAYS]++;
	f->days = f->in->policy->sites ? 1 : auc_fit_days(bids, periods);
	for (unsigned d = 0; d < f->days; d++)
		f->day_bids += bids[d];
}

unsigned auc_fit_days(const unsigned *bids, unsigned periods)
{
	unsigned days = 1, sum = bids[0];

	while (days < periods && days < DAYS) {
		sum += bids[days];
		if (days > 1 && (uint64_t)(days + 1) * sum > WORK)
			break;
		days++;
	}
	return days;
}

/* What the guard took last, and found; if it has not looked, what is usual. */
static void carry_over(struct fit *f)
{
	bool flat = f->in->kind == AUC_TARIFF_FLAT;

	f->t->guard = (struct auc_tariff_guard){.flat = flat,
						.choice = f->in->policy->prices == AUC_PRICE_BOUNDS
								  ? auc_fit_levels_usual
							  : flat ? auc_guard_usual_flat
								 : auc_guard_usual};
	if (f->in->last && f->in->last->guard.bids && f->in->last->guard.flat == flat)
		f->t->guard = f->in->last->guard;
}

/* False: the bid means nothing today. */
static bool expect(const struct fit *f, const struct auc_logged_bid *bid_log, auc_slot arrival,
		   struct expected *e)
{
	struct auc_bid bid;

	if (auc_bid_parse(f->in->conf, bid_log->text, &bid, NULL) != AUC_OK)
		return false;
	bid.npartitions = bid_log->npartitions;
	memcpy(bid.partitions, bid_log->partitions ? (const void *)bid_log->partitions : "",
	       bid_log->npartitions * sizeof(*bid_log->partitions));
	if (auc_bid_resolve(f->in->market, &bid, arrival, &e->job, NULL) == AUC_OK)
		return true;
	auc_job_clear(&e->job);
	return false;
}

/* Takes from values what is above what others bid (winsorize.h), and from the weight of a user what
 * is above that of the others (user_share.h). */
static enum auc_code limit_users(struct fit *f, struct auc_err *err)
{
	const struct auc_job **jobs = calloc((size_t)f->n + 1, sizeof(struct auc_job *));
	double *factor = calloc((size_t)f->n + 1, sizeof(*factor)), share;
	unsigned *user = f->users, who;
	enum auc_code rc = AUC_OK;

	if (!jobs || !factor)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for a forecast");
	for (unsigned i = 0; rc == AUC_OK && i < f->n; i++) {
		jobs[i] = &f->list[i].job;
		user[i] = f->list[i].user;
	}
	if (rc == AUC_OK)
		rc = auc_winsorize(f->in->market, jobs, user, f->n, factor, err);
	for (unsigned i = 0; rc == AUC_OK && i < f->n; i++) {
		auc_utility_multiply(&f->list[i].job.utility, factor[i]);
		factor[i] = f->list[i].weight * auc_winsorize_work(f->in->market, jobs[i]);
	}
	if (rc == AUC_OK) {
		share = auc_user_share_factor(user, factor, f->n, auc_winsorize_room(f->in->empty),
					      &who);
		for (unsigned i = 0; i < f->n; i++)
			f->list[i].share = who != AUC_USER_NONE && user[i] == who ? share : 1;
	}
	free(jobs);
	free(factor);
	return rc;
}

/* Bids in the last part of the last period, and of those before. */
static enum auc_code count_recent(struct fit *f, unsigned periods, struct auc_err *err)
{
	unsigned n = 0, m = 0;

	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].recent && !f->list[i].day)
			f->users[n++] = f->list[i].user;
	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].recent && f->list[i].day)
			f->users[n + m++] = f->list[i].user;
	return auc_user_share_level(f->users, n, f->users + n, m,
				    periods > 1 ? 1.0 / (periods - 1) : 1, &f->level, err);
}

static int by_arrival(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	return x->job.arrival < y->job.arrival ? -1 : x->job.arrival > y->job.arrival;
}

/* -- the guard -- */

static bool guard_due(const struct fit *f)
{
	const struct auc_tariff_guard *g = &f->t->guard;
	double period = auc_conf_period(f->in->conf), now = f->in->now;
	bool changed = f->level.before > 0 &&
		       auc_dual_prices_level_changed(f->level.now, f->level.before) &&
		       now >= g->time + period / PARTS;

	return !g->bids || ((now >= g->time + period || changed || f->day_bids >= 2 * g->bids) &&
			    now >= g->time + AUC_FIT_COST * g->seconds);
}

static enum auc_code guard(struct fit *f, struct auc_err *err)
{
	double began = auc_clock(CLOCK_THREAD_CPUTIME_ID);
	enum auc_code rc;

	if (f->day_bids < AUC_FIT_BIDS_MIN || f->partly)
		return AUC_OK; /* days without bids say nothing, nor does a part of one */
	rc = compare_forms(f, err);
	if (rc == AUC_OK && f->in->policy->prices == AUC_PRICE_BOUNDS)
		rc = compare_levels(f, err);
	if (rc == AUC_OK)
		rc = certify(f, err);
	f->t->guard.seconds = auc_clock(CLOCK_THREAD_CPUTIME_ID) - began;
	return rc;
}

static enum auc_code compare_forms(struct fit *f, struct auc_err *err)
{
	struct auc_guard_verdict v;
	enum auc_code rc = AUC_OK;

	for (unsigned d = 0; d < f->days && rc == AUC_OK; d++)
		rc = dual_prices(f, f->in->empty, take_others(f, d, 1), &f->taught[d], err);
	if (rc == AUC_OK)
		rc = auc_guard_choose(f->days, f->in->kind == AUC_TARIFF_FLAT, replay, f, &v, err);
	if (rc == AUC_OK)
		keep(f, &v);
	return rc;
}

static enum auc_code compare_levels(struct fit *f, struct auc_err *err)
{
	struct auc_fit_days days;
	enum auc_code rc = take_by_day(f, f->days, 1, &days, err);

	if (rc == AUC_OK)
		rc = auc_fit_levels_guard(f->in, &days, f->t, err);
	free((void *)days.first);
	return rc;
}

static void keep(struct fit *f, const struct auc_guard_verdict *v)
{
	f->t->guard = (struct auc_tariff_guard){
		.flat = f->in->kind == AUC_TARIFF_FLAT,
		.choice = v->choice,
		.days = f->days,
		.bids = f->day_bids,
		.worth = v->worth,
		.gain = v->gain,
		.error = v->error,
		.needed = v->needed,
		.time = f->in->now,
	};
	memcpy(f->t->guard.worth_of, v->worth_of, sizeof(v->worth_of));
}

static enum auc_code certify(struct fit *f, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	for (unsigned d = 0; d < f->days && rc == AUC_OK; d++) {
		double bound = INFINITY;

		rc = certify_day(f, d, &bound, err);
		f->t->guard.bound += bound;
	}
	return rc;
}

/*
 * The bound of a day: for any prices one holds (dual.h), so for those of the fit that
 * knows the whole of it, in the market itself and not in a pool.
 */
static enum auc_code certify_day(struct fit *f, unsigned day, double *least, struct auc_err *err)
{
	static const struct auc_price_choice choices[] = {{AUC_PRICE_FORM_DUAL, 1},
							  {AUC_PRICE_FORM_TIMED, 1},
							  {AUC_PRICE_FORM_MIXED, 1},
							  {AUC_PRICE_FORM_LEVEL, 1}};
	struct auc_given_price *list = NULL;
	struct auc_dual_prices *l = NULL;
	struct auc_dual *d = NULL;
	enum auc_code rc;
	double bound;
	size_t n;

	rc = dual_prices(f, f->in->empty, take_day(f, day), &l, err);
	if (rc == AUC_OK)
		rc = auc_dual_create(f->in->empty, f->in->policy, f->in->options, f->dual,
				     take_day(f, day), &d, err);
	if (rc == AUC_OK)
		auc_dual_set_cancel(d, f->in->cancel);
	for (unsigned i = 0; i < sizeof(choices) / sizeof(choices[0]) && rc == AUC_OK; i++) {
		rc = auc_dual_prices_list(l, f->in->empty, &choices[i], &list, &n, err);
		if (rc == AUC_OK)
			rc = auc_dual_bound_at(d, list, n, &bound, err);
		if (rc == AUC_OK)
			*least = fmin(*least, bound);
		free(list);
		list = NULL;
	}
	auc_dual_destroy(d);
	auc_dual_prices_destroy(l);
	return rc;
}

/* What holds now: what the guard took, unless the day is not like those that it knows. */
static void choose(struct fit *f)
{
	const struct auc_guard_choice *c = &f->t->guard.choice;

	f->t->moved = f->in->kind == AUC_TARIFF_LEARNED && !c->again &&
		      (f->partly ||
		       (f->level.before > 0 && auc_guard_moved(c, f->level.now, f->level.before)));
	f->t->kind = f->t->moved ? AUC_TARIFF_LEARNED : c->kind;
	f->t->choice = f->t->moved ? auc_guard_again(c) : c->prices;
	if (f->t->moved && f->in->policy->prices == AUC_PRICE_BOUNDS &&
	    (c->kind < AUC_TARIFF_FLAT || c->prices.form == AUC_PRICE_FORM_BOUNDS)) {
		f->t->kind = auc_fit_levels_usual.kind;
		f->t->choice = auc_fit_levels_usual.prices;
	}
}

/* -- which of the expected bids, and how often each -- */

/* Bid I teaches what DAY is replayed with, WEIGHT times. */
static bool teaches(const struct fit *f, unsigned i, unsigned day, double *weight)
{
	bool single = f->days == 1;

	*weight = single ? 2 : 1.0 / (f->days - 1);
	return single ? f->list[i].half : f->list[i].day < f->days && f->list[i].day != day;
}

static unsigned take_others(struct fit *f, unsigned day, double rate)
{
	unsigned n = 0;
	double weight;

	for (unsigned i = 0; i < f->n; i++)
		if (teaches(f, i, day, &weight))
			f->dual[n++] = (struct auc_dual_job){.job = &f->list[i].job,
							     .weight = weight * rate *
								       AUC_DUAL_PRICES_WEIGHT *
								       f->list[i].share};
	return n;
}

static unsigned take_day(struct fit *f, unsigned day)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].day == day)
			f->dual[n++] = (struct auc_dual_job){.job = &f->list[i].job, .weight = 1};
	return n;
}

static unsigned take_all(struct fit *f, double rate)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++) {
		double weight =
			f->list[i].weight * f->list[i].share * rate * AUC_DUAL_PRICES_WEIGHT;

		f->dual[n++] = (struct auc_dual_job){.job = &f->list[i].job, .weight = weight};
		f->dual[n++] = (struct auc_dual_job){.job = &f->later[i], .weight = weight};
	}
	return n;
}

/* Bids of the first NDAYS periods, each as often as one of its user counts, times RATE. DAYS' list
 * of firsts is to be freed. */
static enum auc_code take_by_day(struct fit *f, unsigned ndays, double rate,
				 struct auc_fit_days *days, struct auc_err *err)
{
	unsigned *first = calloc((size_t)ndays + 2, sizeof(*first));

	*days = (struct auc_fit_days){ndays, first, f->dual};
	if (!first)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	/* FIRST[D + 1] runs from where D begins to where it ends */
	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].day + 2 <= ndays)
			first[f->list[i].day + 2]++;
	for (unsigned d = 2; d <= ndays; d++)
		first[d] += first[d - 1];
	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].day < ndays)
			f->dual[first[f->list[i].day + 1]++] = (struct auc_dual_job){
				.job = &f->list[i].job,
				.weight = f->list[i].weight * f->periods * f->list[i].share * rate};
	return AUC_OK;
}

/* -- fits -- */

/* T's prices, as it has chosen them. */
static enum auc_code set_prices(struct fit *f, struct auc_err *err)
{
	const struct auc_fit_input *in = f->in;
	struct auc_given_price *list = NULL;
	struct auc_fit_days days;
	enum auc_code rc;
	size_t n;

	if (f->t->choice.form == AUC_PRICE_FORM_BOUNDS) {
		rc = take_by_day(f, f->periods, f->t->moved ? f->rate : 1, &days, err);
		if (rc == AUC_OK)
			rc = auc_fit_levels_set(in, &days, f->t, err);
		free((void *)days.first);
		return rc;
	}
	rc = auc_dual_prices_list(in->memory->dual_prices, in->market, &f->t->choice, &list, &n,
				  err);
	if (rc == AUC_OK)
		rc = auc_tariff_set(f->t, in->market, list, n, err);
	free(list);
	return rc;
}

static enum auc_code set_costs(struct fit *f, struct auc_err *err)
{
	struct auc_fit_memory *memory = f->in->memory;
	struct auc_given_price *list = NULL;
	enum auc_code rc;
	size_t n;

	auc_tariff_free(memory->costs);
	memory->costs = calloc(1, sizeof(*memory->costs));
	if (!memory->costs)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	memory->costs->slot_seconds = f->in->conf->slot_seconds;
	rc = auc_dual_prices_list(memory->dual_prices, f->in->market, &auc_guard_usual.prices,
				  &list, &n, err);
	if (rc == AUC_OK)
		rc = auc_tariff_set(memory->costs, f->in->market, list, n, err);
	free(list);
	return rc;
}

/* From the first NJOBS of F's scratch; *L is to be destroyed. */
static enum auc_code dual_prices(struct fit *f, const struct auc_market *m, unsigned njobs,
				 struct auc_dual_prices **l, struct auc_err *err)
{
	enum auc_code rc = auc_dual_prices_create(m, f->in->policy, f->in->options, l, err);

	if (rc != AUC_OK)
		return rc;
	auc_dual_prices_set_cancel(*l, f->in->cancel);
	return auc_dual_prices_fit(*l, m, f->dual, njobs, auc_market_first(m),
				   AUC_DUAL_PRICES_ITERATIONS, err);
}

/*
 * From all bids, from the last fit's prices on where there is one: prices that are fitted again for
 * the market as it is booked and for as many bids as come now, others for one like those that they
 * were chosen in.
 */
static enum auc_code go_on_learning(struct fit *f, struct auc_err *err)
{
	bool booked = f->t->moved || f->t->guard.choice.again;
	const struct auc_market *m = booked ? f->in->market : f->in->unbooked;
	struct auc_fit_memory *memory = f->in->memory;
	unsigned n = take_all(f, booked ? f->rate : 1);

	if (memory->dual_prices && memory->conf == f->in->conf && memory->booked == booked &&
	    memory->changed == !!f->since && same_layout(m, memory->market)) {
		auc_dual_prices_set_cancel(memory->dual_prices, f->in->cancel);
		return auc_dual_prices_fit(memory->dual_prices, m, f->dual, n, auc_market_first(m),
					   AUC_DUAL_PRICES_AGAIN, err);
	}
	auc_fit_forget(memory);
	memory->booked = booked;
	memory->changed = f->since;
	return dual_prices(f, m, n, &memory->dual_prices, err);
}

/* Of a policy of sites: what the guard found, as long as it does not look again. */
static enum auc_code fit_sites(struct fit *f, struct auc_err *err)
{
	double began = auc_clock(CLOCK_THREAD_CPUTIME_ID);
	enum auc_code rc;

	auc_fit_forget(f->in->memory);
	if (guard_due(f) && f->day_bids >= AUC_FIT_BIDS_MIN) {
		rc = auc_fit_sites_guard(f->in, f->dual, take_day(f, 0), f->t, err);
		f->t->guard.seconds = auc_clock(CLOCK_THREAD_CPUTIME_ID) - began;
	} else {
		rc = auc_fit_sites_keep(f->in, f->t, err);
	}
	if (rc == AUC_OK)
		f->t->bound =
			auc_fit_sites_bound(f->in->market, f->dual, take_all(f, f->rate), f->t);
	return rc;
}

/* Do they have the same servers and types? */
static bool same_layout(const struct auc_market *a, const struct auc_market *b)
{
	if (auc_market_nservers(a) != auc_market_nservers(b) ||
	    auc_market_ntres(a) != auc_market_ntres(b) || !same_types(a, b) ||
	    auc_market_last(a) - auc_market_first(a) != auc_market_last(b) - auc_market_first(b))
		return false;
	for (unsigned k = 0; k < auc_market_ntres(a); k++)
		if (strcmp(auc_market_tres_name(a, k), auc_market_tres_name(b, k)) != 0)
			return false;
	for (unsigned s = 0; s < auc_market_nservers(a); s++) {
		if (strcmp(auc_market_server_name(a, s), auc_market_server_name(b, s)) != 0 ||
		    auc_market_roles(a, s) != auc_market_roles(b, s))
			return false;
		for (unsigned k = 0; k < auc_market_ntres(a); k++)
			if (auc_market_capacity(a, s, k) != auc_market_capacity(b, s, k))
				return false;
	}
	return true;
}

/* Those of the same configuration differ by what old sales add only. */
static bool same_types(const struct auc_market *a, const struct auc_market *b)
{
	return auc_market_nworker_types(a) == auc_market_nworker_types(b) &&
	       auc_market_nps_types(a) == auc_market_nps_types(b);
}

/* -- a day again -- */

/* What DAY is worth with the prices of C. */
static enum auc_code replay(void *arg, const struct auc_guard_choice *c, unsigned day,
			    double *worth, struct auc_err *err)
{
	struct fit *f = arg;
	auc_slot every = (f->in->conf->slots + AUC_GUARD_FITS_A_DAY - 1) / AUC_GUARD_FITS_A_DAY;
	auc_slot next = auc_market_first(f->in->empty) + every;
	struct auc_market *m = auc_market_clone(f->in->empty);
	struct auc_policy_ctx *ctx = NULL;
	struct auc_dual_prices *again = NULL;
	struct auc_decision d;
	unsigned seen = 0;
	enum auc_code rc;

	auc_decision_init(&d);
	*worth = 0;
	rc = m ? f->in->policy->create(f->in->options, &ctx, err)
	       : auc_err_set(err, AUC_ENOMEM, "no memory for a replay");
	if (rc == AUC_OK)
		rc = give(f, m, f->taught[day], c, err);
	for (unsigned i = 0; i < f->n && rc == AUC_OK; i++) {
		const struct auc_job *job = &f->list[i].job;

		if (f->list[i].day != day)
			continue;
		if (!auc_cancel_goes_on(f->in->cancel))
			rc = auc_err_set(err, AUC_ESTATE, "the fit was stopped");
		if (rc == AUC_OK && c->again && job->arrival >= next) {
			rc = fit_again(f, m, day, job->arrival, seen, c, &again, err);
			next = job->arrival + every;
		}
		seen++;
		if (rc == AUC_OK)
			rc = f->in->policy->quote(ctx, m, job, &d, err);
		if (rc != AUC_OK || !d.accepted)
			continue;
		rc = auc_market_book(m, &d.plan, d.plan.start, d.plan.completion - 1, err);
		*worth += d.plan.value - auc_plan_floor(&d.plan, m);
	}
	auc_dual_prices_destroy(again);
	auc_decision_clear(&d);
	if (ctx)
		f->in->policy->destroy(ctx);
	auc_market_destroy(m);
	return rc;
}

static enum auc_code give(const struct fit *f, struct auc_market *m,
			  const struct auc_dual_prices *l, const struct auc_guard_choice *c,
			  struct auc_err *err)
{
	struct auc_given_price *list = NULL;
	enum auc_code rc = AUC_OK;
	size_t n = 0;

	if (c->kind == AUC_TARIFF_PUBLISHED)
		return auc_market_set_price(m, f->in->published, err);
	if (c->kind != AUC_TARIFF_NONE)
		rc = auc_dual_prices_list(l, m, &c->prices, &list, &n, err);
	if (rc == AUC_OK)
		rc = auc_market_give_prices(m, list, n, err);
	free(list);
	return rc;
}

/* In slot NOW of DAY, which has had SEEN bids: prices for M as it is booked. *L: the fits of the
 * day, NULL before the first. */
static enum auc_code fit_again(struct fit *f, struct auc_market *m, unsigned day, auc_slot now,
			       unsigned seen, const struct auc_guard_choice *c,
			       struct auc_dual_prices **l, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	double rate;

	if (!*l) {
		rc = auc_dual_prices_create(m, f->in->policy, f->in->options, l, err);
		if (rc != AUC_OK)
			return rc;
		auc_dual_prices_follow(*l, f->taught[day]);
		auc_dual_prices_set_cancel(*l, f->in->cancel);
	}
	rc = rate_of(f, day, now, seen, &rate, err);
	if (rc == AUC_OK)
		rc = auc_dual_prices_fit(*l, m, f->dual, take_others(f, day, rate), now,
					 AUC_DUAL_PRICES_AGAIN, err);
	return rc == AUC_OK ? give(f, m, *l, c, err) : rc;
}

/* How many times as many bids DAY has had before slot NOW, SEEN, as the past that teaches it. */
static enum auc_code rate_of(struct fit *f, unsigned day, auc_slot now, unsigned seen, double *rate,
			     struct auc_err *err)
{
	struct auc_user_share_level level;
	double weight, each = 1;
	unsigned n = 0, m = 0;
	enum auc_code rc;

	for (unsigned i = 0; n < seen; i++)
		if (f->list[i].day == day)
			f->users[n++] = f->list[i].user;
	for (unsigned i = 0; i < f->n && f->list[i].job.arrival < now; i++)
		if (teaches(f, i, day, &weight)) {
			f->users[n + m++] = f->list[i].user;
			each = weight;
		}
	rc = auc_user_share_level(f->users, n, f->users + n, m, each, &level, err);
	*rate = auc_dual_prices_rate(level.now, level.before);
	return rc;
}

enum auc_code auc_fit_sell(const struct auc_fit_input *in, struct auc_market *m,
			   const struct auc_dual_job *jobs, unsigned n, double *worth,
			   struct auc_err *err)
{
	const struct auc_policy *policy = in->policy;
	struct auc_policy_ctx *ctx = NULL;
	struct auc_decision decision;
	enum auc_code rc;

	auc_decision_init(&decision);
	*worth = 0;
	rc = policy->create(in->options, &ctx, err);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		if (!auc_cancel_goes_on(in->cancel))
			rc = auc_err_set(err, AUC_ESTATE, "the fit was stopped");
		if (rc == AUC_OK)
			rc = policy->quote(ctx, m, jobs[i].job, &decision, err);
		if (rc != AUC_OK || !decision.accepted)
			continue;
		rc = auc_market_book(m, &decision.plan, decision.plan.start,
				     decision.plan.completion - 1, err);
		*worth += decision.plan.value - auc_plan_floor(&decision.plan, m);
	}
	auc_decision_clear(&decision);
	if (ctx)
		policy->destroy(ctx);
	return rc;
}
