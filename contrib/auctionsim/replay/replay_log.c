/*
 * replay_log.c - see replay_log.h. Queues run once over the whole log, in seconds; the auction day
 * by day, in its slots. All get the same jobs, and a job is worth the same to all: its value when
 * the slot in which it ends is over.
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/baseline/queue_jobs.h"
#include "auctionsim/baseline/registry.h"
#include "auctionsim/io/progress.h"
#include "auctionsim/replay/auction_days.h"
#include "auctionsim/replay/forecast.h"
#include "auctionsim/replay/replay_log.h"
#include "base/list.h"
#include "base/num.h"

#define WORTH_SAYING 60 /* s: what takes longer says so beforehand */

struct text {
	char *bytes;
	size_t len;
};

/* What an auction made of a day. */
struct sold {
	struct scenario *s;
	struct result result;
};

struct run {
	struct import_log *log;
	struct replay_rows *r;
	const struct import_log_facts *f;
	char policy[AUC_NAME_MAX + 256];
	unsigned day;               /* at hand, from 0 */
	struct sold sold[ROWS_MAX]; /* of it, by row */
	struct queue_jobs limited, exact;
	struct queue_outcome *queues[ROWS_MAX]; /* by row; NULL: it is an auction */
	struct auction_days auctions[ROWS_MAX];
};

static enum auc_code choose_rows(struct run *x, unsigned history, struct auc_err *err);
static void add_row(struct run *x, enum row_kind kind, const char *label, const char *prices);
static enum auc_code read_day(struct run *x, unsigned day, bool gangs, struct text *t,
			      struct auc_err *err);
static enum auc_code gather(struct run *x, struct auc_err *err);
static enum auc_code say_duration(struct run *x, unsigned history, FILE *report,
				  struct auc_err *err);
static const char *minutes(double seconds, char text[32]);
static enum auc_code run_queues(struct run *x, struct auc_err *err);
static enum auc_code run_day(struct run *x, struct auc_err *err);
static void count_day(struct run *x, const struct scenario *s);
static void count_sold(struct run *x, unsigned index, const struct scenario *logged);
static double owners_cost(const struct scenario *s, const struct scenario_shape *shape,
			  const struct queue_outcome *o);
static enum auc_code sell_day(struct run *x, unsigned index, const struct text *t,
			      struct auc_err *err);
static double gpus_of(const struct scenario_job *job);
static bool show_sold(void *arg, unsigned done, unsigned all);

enum auc_code replay_log(const struct import_options *o, unsigned history, FILE *report,
			 struct replay_rows *rows, struct auc_err *err)
{
	struct run x = {.r = rows};
	enum auc_code rc = import_log_open(o, report, &x.log, err);
	unsigned i;

	if (rc == AUC_OK) {
		x.f = import_log_facts(x.log);
		rows->facts = *x.f;
		rows->history = history;
		snprintf(rows->log, sizeof(rows->log), "%.199s", o->jobs);
		import_log_values(x.log, rows->values, sizeof(rows->values));
		rc = choose_rows(&x, history, err);
	}
	if (rc == AUC_OK)
		rc = rows_make(rows, err);
	if (rc == AUC_OK)
		rc = gather(&x, err);
	if (rc == AUC_OK && report)
		rc = say_duration(&x, history, report, err);
	if (rc == AUC_OK)
		rc = run_queues(&x, err);
	for (x.day = 0; rc == AUC_OK && x.day < x.f->days; x.day++)
		rc = run_day(&x, err);
	progress_at_stop(NULL, NULL);
	if (rc == AUC_OK)
		rc = rows_finish(rows, err);
	for (i = 0; i < ROWS_MAX; i++) {
		queue_clear(x.queues[i], x.queues[i] ? x.limited.q.njobs : 0);
		free(x.queues[i]);
		auction_days_clear(&x.auctions[i]);
	}
	queue_jobs_clear(&x.limited);
	queue_jobs_clear(&x.exact);
	import_log_close(x.log);
	return rc;
}

/* -- the rows -- */

static enum auc_code choose_rows(struct run *x, unsigned history, struct auc_err *err)
{
	/* How run --prices calls them; given: the scenario has them. */
	static const char *const words[] = {[AUC_PRICES_LEARNED] = "learned",
					    [AUC_PRICES_FLAT] = "flat",
					    [AUC_PRICES_PUBLISHED] = "published",
					    [AUC_PRICES_NONE] = "none",
					    [AUC_PRICES_GIVEN] = NULL};
	const struct auc_conf *conf = import_log_conf(x->log);
	const char *own = conf ? words[conf->prices] : "learned";
	const struct auc_policy *policy;
	bool learns = own && !strcmp(own, "learned");
	char label[160];

	snprintf(x->policy, sizeof(x->policy), "%s%s%s", conf ? conf->policy : "dps",
		 conf && *conf->policy_options ? "," : "", conf ? conf->policy_options : "");
	policy = sim_policy_of(x->policy);
	if (!policy || policy->posts || policy->sites)
		return auc_err_set(err, AUC_EINVAL,
				   "auction.conf: Policy=%.60s: expected dps or oasis: a log does "
				   "not say what other policies need",
				   x->policy);
	if (!policy->gangs)
		x->r->facts.gangs = false;
	snprintf(label, sizeof(label), "auction as %s: %.40s, %s prices",
		 conf ? "configured" : "by default", x->policy, own ? own : "given");
	add_row(x, ROW_CONFIGURED, label, own);
	if (!learns)
		add_row(x, ROW_LEARNED, "auction with learned prices", "learned");
	if (!own || strcmp(own, "none") != 0)
		add_row(x, ROW_NONE, "auction without prices", "none");
	add_row(x, ROW_FIFO, "queue: FIFO", NULL);
	add_row(x, ROW_EASY,
		x->f->nlimits ? "queue: EASY backfill" : "queue: EASY backfill, times known", NULL);
	if (x->f->nlimits)
		add_row(x, ROW_EXACT, "queue: EASY backfill, if it knew all times", NULL);
	for (unsigned i = 0; i < x->r->n; i++) {
		x->auctions[i].policy = x->policy;
		x->auctions[i].day_slots = x->f->day_slots;
		x->auctions[i].history = history;
	}
	return AUC_OK;
}

static void add_row(struct run *x, enum row_kind kind, const char *label, const char *prices)
{
	static const char *const names[] = {"auction", "learned", "unpriced",
					    "fifo",    "easy",    "easy-exact"};
	struct row *row = &x->r->rows[x->r->n];

	x->auctions[x->r->n++].prices = prices;
	row->kind = kind;
	row->name = names[kind];
	snprintf(row->label, sizeof(row->label), "%.95s", label);
}

/* -- the log -- */

/* The scenario of DAY, in memory. */
static enum auc_code read_day(struct run *x, unsigned day, bool gangs, struct text *t,
			      struct auc_err *err)
{
	FILE *out = open_memstream(&t->bytes, &t->len);
	enum auc_code rc;

	if (!out)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a day");
	rc = import_log_write(x->log, day, gangs, out, err);
	if (fclose(out) && rc == AUC_OK)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for a day");
	return rc;
}

/* All jobs as the queue has them, and their users. */
static enum auc_code gather(struct run *x, struct auc_err *err)
{
	const struct import_log_job *jobs;
	enum auc_code rc = AUC_OK;
	struct scenario *s;
	unsigned at = 0, n, i, shorter = 0;

	progress_say("cutting the log into days");
	for (unsigned day = 0; day < x->f->days && rc == AUC_OK; day++) {
		struct text t = {0};

		s = NULL;
		rc = read_day(x, day, true, &t, err);
		if (rc == AUC_OK)
			rc = scenario_parse(t.bytes, t.len, "the day", &s, err);
		if (rc == AUC_OK && !day)
			rc = queue_jobs_open(&x->limited, s, err);
		if (rc == AUC_OK && !day && x->f->nlimits)
			rc = queue_jobs_open(&x->exact, s, err);
		jobs = import_log_day(x->log, day, &n);
		for (i = 0; i < n && rc == AUC_OK; i++, at++) {
			x->r->user[at] = s->jobs[i].user;
			shorter += s->jobs[i].gang[0].seconds < s->slot_seconds;
			rc = queue_jobs_add(&x->limited, &s->jobs[i], jobs[i].submit, 0,
					    jobs[i].limit, err);
			if (rc == AUC_OK && x->f->nlimits)
				rc = queue_jobs_add(&x->exact, &s->jobs[i], jobs[i].submit, 0, 0,
						    err);
		}
		scenario_free(s);
		free(t.bytes);
	}
	x->r->short_part = at ? (double)shorter / at : 0;
	return rc;
}

/* Says how long it takes, measured on a day with about as many jobs as the mean. */
static enum auc_code say_duration(struct run *x, unsigned history, FILE *report,
				  struct auc_err *err)
{
	unsigned day = 0, best = UINT_MAX, n, mean = x->f->njobs / x->f->days;
	bool learned = false;
	struct text t = {0};
	struct forecast f;
	enum auc_code rc;
	double all;

	for (unsigned i = 0; i < x->f->days; i++) {
		import_log_day(x->log, i, &n);
		if (n && (n > mean ? n - mean : mean - n) < best) {
			best = n > mean ? n - mean : mean - n;
			day = i;
		}
	}
	for (unsigned i = 0; i < x->r->n; i++)
		learned |= x->auctions[i].prices && (!strcmp(x->auctions[i].prices, "learned") ||
						     !strcmp(x->auctions[i].prices, "flat"));
	rc = best < UINT_MAX ? read_day(x, day, x->r->facts.gangs, &t, err) : AUC_OK;
	progress_say("how long it takes");
	if (rc == AUC_OK && t.bytes)
		rc = forecast_measure(t.bytes, t.len, x->policy, &f, err);
	all = rc == AUC_OK && t.bytes ? forecast_seconds(&f, x->f->days, learned, history) : 0;
	progress_clear();
	if (all > WORTH_SAYING && learned && history) {
		char text[3][32];

		fprintf(report,
			"auctionsim: this takes %s as busy as this machine is now; %s with "
			"--history 1, %s with --history 0\n",
			minutes(all, text[0]),
			minutes(forecast_seconds(&f, x->f->days, true, 1), text[1]),
			minutes(forecast_seconds(&f, x->f->days, true, 0), text[2]));
	} else if (all > WORTH_SAYING) {
		char text[32];

		fprintf(report,
			"auctionsim: this takes %s as busy as this machine is now; jobs= and "
			"servers= take a part of the log\n",
			minutes(all, text));
	}
	free(t.bytes);
	return rc;
}

static const char *minutes(double seconds, char text[32])
{
	if (seconds < 90)
		snprintf(text, 32, "about %.0f s", ceil(seconds));
	else if (seconds < 5400)
		snprintf(text, 32, "about %.0f min", seconds / 60);
	else
		snprintf(text, 32, "about %.1f hours", seconds / 3600);
	return text;
}

static enum auc_code run_queues(struct run *x, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < x->r->n && rc == AUC_OK; i++) {
		const struct row *row = &x->r->rows[i];
		const struct queue_jobs *l = row->kind == ROW_EXACT ? &x->exact : &x->limited;

		if (row->kind < ROW_FIFO)
			continue;
		x->queues[i] = calloc((size_t)l->q.njobs + 1, sizeof(**x->queues));
		if (!x->queues[i])
			return auc_err_set(err, AUC_ENOMEM, "no memory for %u jobs", l->q.njobs);
		progress_say("all days, %s: jobs", row->name);
		rc = queue_run(&l->q, row->kind != ROW_FIFO, x->queues[i], progress_show, NULL,
			       err);
	}
	return rc;
}

/* -- a day -- */

/* Counts it once all rows have it. */
static enum auc_code run_day(struct run *x, struct auc_err *err)
{
	bool gangs = x->r->facts.gangs;
	struct text logged = {0}, other = {0};
	struct scenario *s = NULL;
	enum auc_code rc = read_day(x, x->day, true, &logged, err);

	if (rc == AUC_OK)
		rc = scenario_parse(logged.bytes, logged.len, "the day", &s, err);
	if (rc == AUC_OK && !gangs)
		rc = read_day(x, x->day, false, &other, err);
	for (unsigned i = 0; i < x->r->n && rc == AUC_OK; i++)
		if (!x->queues[i])
			rc = sell_day(x, i, gangs ? &logged : &other, err);
	if (rc == AUC_OK) {
		progress_hold();
		count_day(x, s);
		progress_release();
	}
	for (unsigned i = 0; i < x->r->n; i++) {
		result_clear(&x->sold[i].result);
		scenario_free(x->sold[i].s);
		x->sold[i] = (struct sold){0};
	}
	scenario_free(s);
	free(logged.bytes);
	free(other.bytes);
	return rc;
}

/* What the jobs of the day were worth in each row, and could have been worth. */
static void count_day(struct run *x, const struct scenario *s)
{
	double slot = x->f->slot_seconds, submit, value;
	struct import_log_facts *done = &x->r->done;
	const struct queue_outcome *o;
	unsigned first = done->njobs, i, k;

	x->r->costs |= s->has_costs;
	for (i = 0; i < x->r->n; i++)
		if (!x->queues[i])
			count_sold(x, i, s);
	for (k = 0; k < s->njobs; k++) {
		const struct scenario_job *job = &s->jobs[k];

		submit = x->limited.jobs[first + k].submit;
		x->r->potential += auc_utility_value(
			&job->utility, fmax(1, (double)auc_ceil(job->gang[0].seconds / slot)));
		for (i = 0; i < x->r->n; i++) {
			o = x->queues[i] ? &x->queues[i][first + k] : NULL;
			if (!o || o->start < 0)
				continue;
			value = auc_utility_value(
				&job->utility, fmax(1, (double)auc_ceil((o->end - submit) / slot)));
			rows_ran(x->r, &x->r->rows[i], first + k, x->day, submit, o->start,
				 o->end - o->start, gpus_of(job), value, 0,
				 owners_cost(s, &job->gang[o->shape], o));
		}
		done->nlimits += import_log_day(x->log, x->day, &i)[k].limit > 0;
		done->gpu_seconds += gpus_of(job) * job->gang[0].seconds;
	}
	done->njobs += s->njobs;
	done->days++;
}

/* What the nodes cost their owner on which O ran in that shape; S is a day of the log. */
static double owners_cost(const struct scenario *s, const struct scenario_shape *shape,
			  const struct queue_outcome *o)
{
	const struct scenario_server *server;
	const struct auc_named *cost_of;
	double cost = 0, hour, at, end;

	for (unsigned n = 0; s->has_costs && n < shape->nodes; n++) {
		server = &s->servers[o->nodes[n]];
		hour = 0;
		for (unsigned k = 0; k < shape->nper_node; k++) {
			cost_of =
				auc_list_find(server->cost, server->ncost, shape->per_node[k].name);
			hour += cost_of ? shape->per_node[k].value * cost_of->value : 0;
		}
		for (at = o->start; at < o->end && hour > 0; at = end) {
			double clock = s->hour * 3600 + at;
			unsigned h = (unsigned)fmod(floor(clock / 3600), AUC_DAY_HOURS);

			end = fmin(o->end, at + 3600 * (floor(clock / 3600) + 1) - clock);
			cost += (end - at) / 3600 * hour *
				(server->hourly ? server->cost_hours[h] : 1);
		}
	}
	return cost;
}

static enum auc_code sell_day(struct run *x, unsigned index, const struct text *t,
			      struct auc_err *err)
{
	progress_head("day %u of %u, %s", x->day + 1, x->f->days, x->r->rows[index].name);
	return auction_day(&x->auctions[index], t->bytes, t->len, show_sold, NULL,
			   &x->sold[index].s, &x->sold[index].result, err);
}

/* LOGGED: the day as the log has it. */
static void count_sold(struct run *x, unsigned index, const struct scenario *logged)
{
	const struct scenario *s = x->sold[index].s;
	const struct result *result = &x->sold[index].result;
	const char *chosen = x->auctions[index].chosen; /* "POLICY: what: why" */
	struct row *row = &x->r->rows[index];
	double slot = x->f->slot_seconds, start, seconds, part;
	unsigned first = x->r->done.njobs;

	for (unsigned k = 0; k < result->njobs; k++) {
		const struct outcome *o = &result->jobs[k];

		if (!o->completed)
			continue;
		start = ((double)x->day * (double)x->f->day_slots + (double)o->plan.start - 1) *
			slot;
		seconds = o->plan.gang ? s->jobs[k].gang[o->plan.shape].seconds
				       : (double)(o->plan.completion - o->plan.start) * slot;
		/* In a queue nodes cost by the second, too. */
		part = seconds / ((double)(o->plan.completion - o->plan.start) * slot);
		rows_ran(x->r, row, first + k, x->day, x->limited.jobs[first + k].submit, start,
			 seconds, gpus_of(&logged->jobs[k]), o->value, o->payment, o->cost * part);
	}
	if (chosen)
		snprintf(row->prices, sizeof(row->prices), "%.199s", chosen);
}

/* Of all nodes of its first shape. */
static double gpus_of(const struct scenario_job *job)
{
	const struct scenario_shape *shape = &job->gang[0];
	double gpus = 0;

	for (unsigned k = 0; k < shape->nper_node; k++)
		if (!strncmp(shape->per_node[k].name, "gpu", 3))
			gpus += shape->per_node[k].value;
	return gpus * (double)shape->nodes;
}

static bool show_sold(void *arg, unsigned done, unsigned all)
{
	(void)arg;
	if (done <= 1)
		progress_say("jobs");
	return progress_show(NULL, done, all);
}
