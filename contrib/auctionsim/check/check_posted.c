/*
 * check_posted.c - see check-private.h: results of posted prices. A job was offered its counts at
 * two unit prices, and ran from its arrival on, with these counts, for as long as its placement
 * makes it; or it was refused, by its user or for lack of room.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "auctionsim/check/check-private.h"

static long double duration(const struct check *c, const struct sold *j, const struct run *run,
			    bool together);
static long double exchange_seconds(const struct check *c, const struct sold *j,
				    const struct run *run);
static void check_sums(struct check *c, const struct sold *j, const struct run *run);
static void check_together(struct check *c, const struct sold *j, const struct run *run);
static bool one_server(struct check *c, const struct sold *j, uint64_t from, unsigned *server);
static bool has_uploads(const struct scenario_job *job);
static long double asked(const struct sold *j);
static void check_no_room(struct check *c, struct sold *j);

bool check_posted(struct check *c, const struct sold *j)
{
	const struct run *run = j->runs;
	bool together;
	long double d;

	if (!check_window(c, j))
		return false;
	if (!run->nworkers || !run->nps) {
		check_violation(c, "plan", j, "expected workers and PSs, found none");
		return false;
	}
	check_uploads(c, j, run);
	check_sums(c, j, run);
	if (!has_uploads(j->job) && run->from != j->job->arrival)
		check_violation(c, "start", j, "expected the arrival %" PRIu64 ", found %" PRIu64,
				j->job->arrival, run->from);
	together = run->nworkers == 1 && run->nps == 1 && run->workers->server == run->ps->server;
	if (j->colocated != together)
		check_violation(c, "colocated", j, "expected %s", together ? "true" : "false");
	d = duration(c, j, run, together);
	if (d != (long double)(run->to - run->from + 1))
		check_violation(c, "plan", j,
				"expected %.0Lf slots in these places, found %" PRIu64, d,
				run->to - run->from + 1);
	if (!together && !check_option(c, "placement=rs"))
		check_together(c, j, run);
	return true;
}

void check_posted_money(struct check *c, const struct sold *j)
{
	long double worth = j->job->budget;

	/* a gang that names no budget pays what it is worth */
	if (worth < 0)
		worth = books_value(&j->job->utility, (long double)j->completion - j->job->arrival);
	if (!j->has_offer)
		check_violation(c, "offer", j, "expected two unit prices");
	else if (!check_close(j->payment, asked(j)))
		check_violation(c, "payment", j, "expected what was offered, %.17Lg, found %.17g",
				asked(j), j->payment);
	if (!check_close(j->value, worth))
		check_violation(c, "value", j, "expected the budget %.17Lg, found %.17g", worth,
				j->value);
	if (j->payment > worth)
		check_violation(c, "payment", j, "expected at most the budget %.17Lg, found %.17g",
				worth, j->payment);
	if (!check_close(j->payoff, (long double)j->value - j->payment))
		check_violation(c, "payoff", j, "expected value less payment, %.17g, found %.17g",
				j->value - j->payment, j->payoff);
	if (!j->job->ngang)
		check_book(c, j, j->runs);
}

void check_posted_refused(struct check *c, struct sold *j)
{
	bool price = j->reason && !strcmp(j->reason, "price");

	bool budget = j->reason && !strcmp(j->reason, "budget") && j->job->purse;

	price = price || budget;
	if (!price && (!j->reason || strcmp(j->reason, "capacity") != 0))
		check_violation(c, "reason", j, "expected price or capacity, found %.40s",
				j->reason ? j->reason : "none");
	if (price != j->has_offer)
		check_violation(c, "offer", j, "expected with reason price and only there");
	if (price != !isnan(j->value) ||
	    (price && j->value != j->job->budget && j->job->budget >= 0))
		check_violation(
			c, "value", j,
			"expected the budget of a job that was offered a price, and else none");
	if (j->has_offer && !budget && asked(j) <= (long double)j->value)
		check_violation(c, "reason", j,
				"expected no refusal of %.17Lg, which is within the budget",
				asked(j));
	if (!isnan(j->best_payoff) || !isnan(j->payment) || !isnan(j->payoff) || j->start ||
	    j->completion || j->worker_type || j->ps_type || j->has_colocated || j->has_plan ||
	    j->has_transfers || j->has_chunks)
		check_violation(c, NULL, j, "expected no schedule or payment of a refused job");
	if (!price && j->job->arrival <= c->s->slots)
		check_no_room(c, j);
}

bool check_option(const struct check *c, const char *word)
{
	const char *at = strstr(c->policy, word);

	return at && at[-1] == ',' && (!at[strlen(word)] || at[strlen(word)] == ',');
}

static long double duration(const struct check *c, const struct sold *j, const struct run *run,
			    bool together)
{
	long double beta = j->job->compute_seconds_per_epoch, alpha = j->job->epochs, slots;

	if (!(beta > 0)) {
		beta = (long double)j->worker_seconds + j->ps_seconds;
		alpha *= (long double)j->job->chunks * j->job->minibatches / j->job->workers;
	}
	if (!together)
		beta += exchange_seconds(c, j, run);
	slots = books_ceil(c->stretch * alpha * beta / (long double)c->s->slot_seconds);
	return slots > 1 ? slots : 1;
}

/* Of one epoch. RUN NULL: static, in any places. */
static long double exchange_seconds(const struct check *c, const struct sold *j,
				    const struct run *run)
{
	long double h = j->worker->bandwidth_mbps, H = j->ps->bandwidth_mbps,
		    mbit = 16 * (long double)j->job->gradient_mb;
	uint64_t dk = j->job->workers, dm = j->job->ps, here;
	long double b = INFINITY;
	unsigned i, k;

	if (!run || !check_option(c, "bandwidth=dynamic"))
		return mbit / fminl(h, H / dk);
	for (i = 0; i < run->nworkers; i++) {
		for (k = 0, here = 0; k < run->nps; k++)
			here += run->ps[k].server == run->workers[i].server ? run->ps[k].count : 0;
		if (here < dm)
			b = fminl(b, h / (dm - here));
	}
	for (i = 0; i < run->nps; i++) {
		for (k = 0, here = 0; k < run->nworkers; k++)
			here += run->workers[k].server == run->ps[i].server ? run->workers[k].count
									    : 0;
		if (here < dk)
			b = fminl(b, H / (dk - here));
	}
	return mbit / (dm * b);
}

static void check_sums(struct check *c, const struct sold *j, const struct run *run)
{
	uint64_t workers = check_sum(run->workers, run->nworkers),
		 ps = check_sum(run->ps, run->nps);

	if (workers != j->job->workers || ps != j->job->ps)
		check_violation(c, "plan", j,
				"expected %" PRIu64 " workers and %" PRIu64 " PSs, found %" PRIu64
				" and %" PRIu64,
				j->job->workers, j->job->ps, workers, ps);
}

/* No placement but a random one splits a job that one server holds. */
static void check_together(struct check *c, const struct sold *j, const struct run *run)
{
	unsigned server;

	if (one_server(c, j, run->from, &server))
		check_violation(c, "plan", j, "expected all of it on one server, such as %s",
				c->s->servers[server].name);
}

static bool one_server(struct check *c, const struct sold *j, uint64_t from, unsigned *server)
{
	long double lasts = duration(c, j, NULL, true);
	uint64_t to;
	unsigned s;

	/* It may be infinite. */
	if (!(from + lasts - 1 <= c->s->slots))
		return false;
	to = from + (uint64_t)lasts - 1;
	for (s = 0; s < c->s->nservers; s++)
		if (j->job->arrival + books_ceil(scenario_upload(j->job, s)) <= from &&
		    books_room(c->books, j->worker, AUC_ROLE_WORKER, s, from, to, NULL, 0) >=
			    j->job->workers &&
		    books_room(c->books, j->ps, AUC_ROLE_PS, s, from, to, j->worker,
			       j->job->workers) >= j->job->ps) {
			*server = s;
			return true;
		}
	return false;
}

static bool has_uploads(const struct scenario_job *job)
{
	return job->nupload || job->upload_default > 0;
}

/* What was asked for all of the job. */
static long double asked(const struct sold *j)
{
	if (j->job->ngang) /* of all of it */
		return j->offer[0];
	return (long double)j->offer[0] * j->job->workers + (long double)j->offer[1] * j->job->ps;
}

/* A job of one type of either kind, refused for lack of room: does no server hold it, and is there
 * too little in all? */
static void check_no_room(struct check *c, struct sold *j)
{
	const struct scenario_job *job = j->job;
	long double workers = 0, ps = 0, d;
	bool shared = false;
	unsigned s, i, k;

	if (job->ngang || job->nworker_seconds != 1 || job->nps_seconds != 1 || has_uploads(job) ||
	    check_option(c, "placement=rs"))
		return;
	j->worker = books_worker_type(
		c->books, job, scenario_worker_type_name(c->s, job, job->worker_seconds->index),
		&j->worker_seconds);
	j->ps = books_ps_type(c->books, job,
			      scenario_ps_type_name(c->s, job, job->ps_seconds->index),
			      &j->ps_seconds);
	if (!j->worker || !j->ps)
		return;
	if (one_server(c, j, job->arrival, &s)) {
		check_violation(c, "reason", j, "expected an offer, for %s has room",
				c->s->servers[s].name);
		return;
	}
	for (i = 0; i < j->worker->ntres; i++)
		for (k = 0; k < j->ps->ntres; k++)
			shared = shared || !strcmp(j->worker->tres[i].name, j->ps->tres[k].name);
	d = duration(c, j, NULL, false);
	if (shared || check_option(c, "bandwidth=dynamic") || job->arrival + d - 1 > c->s->slots)
		return;
	for (s = 0; s < c->s->nservers; s++) {
		workers += books_room(c->books, j->worker, AUC_ROLE_WORKER, s, job->arrival,
				      job->arrival + (uint64_t)d - 1, NULL, 0);
		ps += books_room(c->books, j->ps, AUC_ROLE_PS, s, job->arrival,
				 job->arrival + (uint64_t)d - 1, NULL, 0);
	}
	if (workers >= job->workers && ps >= job->ps)
		check_violation(
			c, "reason", j,
			"expected an offer, for there is room for %.0Lf workers and %.0Lf PSs",
			workers, ps);
}
