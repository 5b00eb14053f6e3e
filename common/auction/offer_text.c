/*
 * offer_text.c - what the user reads: the decision, why, and for a refusal the least change that
 * would be accepted.
 *
 * Every change that is offered has been tried: the same policy was asked again, at the same prices,
 * with the bid changed in that way. That is at most QUOTES_MAX more decisions of HINT_STEPS steps
 * together, as this happens under the lock.
 */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auction/auction-private.h"
#include "market/timeline.h"
#include "policy/pairs.h"
#include "base/list.h"
#include "base/num.h"
#include "ledger/budget.h"

#define QUOTES_MAX   8
#define HINT_STEPS   (AUC_MOST_STEPS / 2)
#define EPOCH_QUOTES 6
#define SERVERS_MAX  4   /* named in a line */
#define WARN_FIRST   0.8 /* of a budget */
#define WARN_LAST    0.95
#define FAR_OFF      100 /* times its value is what a schedule costs that is of no help */

/* What may still be tried. */
struct budget {
	unsigned quotes;
	uint64_t steps;
	uint64_t last; /* steps that the last one took */
};

static void print_posted(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			 const struct auc_offer *offer, bool hold);
static void print_refusal(struct auc_auction *a, struct auc_question *q, FILE *out,
			  const struct auc_offer *offer);
static void print_capped(const struct auc_auction *a, FILE *out, const struct auc_offer *offer);
static void print_unpaid(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			 const struct auc_offer *offer);
static void print_times(const struct auc_auction *a, const struct auc_question *q, FILE *out);
static void print_warning(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			  const struct auc_offer *offer);
static void print_worthless(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			    const struct auc_plan *plan);
static void print_plan(FILE *out, const struct auc_market *m, const struct auc_plan *plan);
static void print_gang(FILE *out, const struct auc_market *m, const struct auc_plan *plan);
static void print_amounts(FILE *out, const struct auc_market *m, const double *amount);
static void print_changes(FILE *out, const struct auc_plan *plan);
static void print_where(FILE *out, const struct auc_market *m, const struct auc_plan *plan,
			bool ps);
static void print_when(FILE *out, const struct auc_plan *plan, const struct auc_offer *offer);
static void print_too_long(const struct auc_market *m, const char *takes, int64_t slots,
			   const char *from, int64_t left, FILE *out);
static void print_length(FILE *out, double seconds);
static void print_time(FILE *out, double when);
static const char *lower(const struct auc_question *q);
static const char *credits(double x, char text[AUC_MONEY_LEN]);
static void print_crowded(const struct auc_auction *a, const struct auc_question *q, FILE *out);
static void print_limit(const struct auc_auction *a, const struct auc_question *q, FILE *out);
static void print_gang_limit(const struct auc_auction *a, const struct auc_question *q, FILE *out);
static unsigned holders_of(const struct auc_auction *a, const struct auc_job *job,
			   const struct auc_shape *shape);
static bool print_unfit(const struct auc_auction *a, const struct auc_question *q, FILE *out);
static int64_t most_at_all(const struct auc_auction *a, const struct auc_question *q,
			   unsigned type);
static void print_types(FILE *out, const struct auc_market *m, const struct auc_job *job, bool ps);
static void hint_value(struct auc_auction *a, struct auc_question *q, FILE *out,
		       const struct auc_offer *offer, struct budget *b);
static bool raise_utility(struct auc_auction *a, struct auc_question *q,
			  const struct auc_offer *offer, struct auc_utility *u, bool *same,
			  struct budget *b);
static bool look_higher(struct auc_auction *a, struct auc_question *q, const struct auc_plan *plan,
			struct auc_job *job, struct budget *b);
static void hint_deadline(struct auc_auction *a, struct auc_question *q, FILE *out,
			  const struct auc_plan *plan, struct budget *b);
static void hint_epochs(struct auc_auction *a, struct auc_question *q, FILE *out, struct budget *b);
static bool ask(struct auc_auction *a, struct auc_question *q, const struct auc_job *job,
		struct budget *b);
static bool can_ask(const struct budget *b);
static double up(double credits);

char *auc_offer_message(struct auc_auction *a, struct auc_question *q,
			const struct auc_offer *offer, bool hold)
{
	char payment[AUC_MONEY_LEN], value[AUC_MONEY_LEN], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (offer->cut && offer->reason == AUC_REASON_CAPACITY) {
		fprintf(out,
			"auction: refused: no schedule was found in the time that a decision may "
			"take; %s",
			lower(q));
	} else if (a->policy->posts) {
		print_posted(a, q, out, offer, hold);
	} else if (offer->accepted) {
		fprintf(out, "auction: %s: ", hold ? "offered" : "would be accepted");
		print_plan(out, a->market, &offer->plan);
		print_when(out, &offer->plan, offer);
		if (a->policy->stepper)
			fprintf(out, " as things are now; pays nothing");
		else if (q->bid.capped)
			fprintf(out, ", pays %s", auc_money_str(offer->payment, payment));
		else
			fprintf(out, ", pays %s of value %s",
				auc_money_str(offer->payment, payment),
				credits(auc_money_to(offer->value), value));
	} else {
		print_refusal(a, q, out, offer);
	}
	if (offer->cut && offer->reason != AUC_REASON_CAPACITY && q->bid.capped)
		fprintf(out,
			"\nauction: not every schedule was looked at, as that takes too long; to "
			"have "
			"all looked at, %s",
			lower(q));
	else if (offer->cut && offer->reason != AUC_REASON_CAPACITY)
		fprintf(out,
			"\nauction: not every schedule was looked at, as that takes too long; no "
			"other has a payoff higher by more than %s; to have all looked at, %s",
			credits(offer->distance, value), lower(q));
	if (offer->accepted)
		print_times(a, q, out);
	if (offer->accepted)
		print_warning(a, q, out, offer);
	if (!offer->accepted && q->ruled_out[0])
		fprintf(out, "\nauction: not possible: %s", q->ruled_out);
	else if (q->later)
		fprintf(out, "\nauction: not sooner: %s", q->ruled_out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* What makes a decision shorter. */
static const char *lower(const struct auc_question *q)
{
	if (q->job.nshapes)
		return "name fewer numbers of nodes, a type of GPU, or one partition";
	return "lower --chunks, or name fewer types with --worker-time and --ps-time, or one "
	       "partition";
}

/* Of a posted price; the user's limit is in none of these lines, which may get into logs. */
static void print_posted(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			 const struct auc_offer *offer, bool hold)
{
	char payment[AUC_MONEY_LEN];

	if (offer->reason == AUC_REASON_CAPACITY) {
		fprintf(out, "auction: refused: ");
		print_crowded(a, q, out);
		return;
	}
	if (offer->reason == AUC_REASON_BUDGET) {
		print_unpaid(a, q, out, offer);
		return;
	}
	auc_money_str(offer->payment, payment);
	fprintf(out, "auction: %s: ",
		offer->accepted ? "offered" : "refused: the price is above --max-price");
	print_plan(out, a->market, &offer->plan);
	print_when(out, &offer->plan, offer);
	fprintf(out, hold && offer->accepted ? ", pays %s" : ", price %s", payment);
	if (offer->id)
		fprintf(out,
			"\nauction: --accept=%016" PRIx64
			" buys it at this price within %.15g s, if its place is free then",
			offer->id, offer->seconds);
	if (!hold)
		fprintf(out,
			"\nauction: take it with --max-price=%s; prices change as others buy or "
			"leave",
			payment);
}

static void print_refusal(struct auc_auction *a, struct auc_question *q, FILE *out,
			  const struct auc_offer *offer)
{
	struct budget b = {.quotes = QUOTES_MAX, .steps = HINT_STEPS};
	char cost[AUC_MONEY_LEN], value[AUC_MONEY_LEN], payoff[AUC_MONEY_LEN];

	if (offer->reason == AUC_REASON_BUDGET) {
		print_unpaid(a, q, out, offer);
	} else if (offer->reason == AUC_REASON_PAYOFF && q->bid.capped) {
		print_capped(a, out, offer);
	} else if (offer->reason == AUC_REASON_PAYOFF) {
		fprintf(out,
			"auction: refused: the best schedule would cost %s and be worth %s "
			"(payoff %s): ",
			credits(offer->plan.cost, cost), credits(offer->plan.value, value),
			credits(offer->best_payoff, payoff));
		print_plan(out, a->market, &offer->plan);
		print_when(out, &offer->plan, offer);
		print_worthless(a, q, out, &offer->plan);
		hint_value(a, q, out, offer, &b);
		hint_deadline(a, q, out, &offer->plan, &b);
	} else {
		fprintf(out, "auction: refused: no schedule is possible%s: ",
			a->policy->stepper ? "" : " at any price");
		print_limit(a, q, out);
	}
	hint_epochs(a, q, out, &b);
}

/* The user's limit is in none of these lines, which may get into logs. */
static void print_capped(const struct auc_auction *a, FILE *out, const struct auc_offer *offer)
{
	char cost[AUC_MONEY_LEN];

	if (!(offer->plan.value > 0)) {
		fprintf(out, "auction: refused: the best schedule comes after the deadline: ");
		print_plan(out, a->market, &offer->plan);
		print_when(out, &offer->plan, offer);
		return;
	}
	fprintf(out, "auction: refused: the cheapest schedule is above --max-price: ");
	print_plan(out, a->market, &offer->plan);
	print_when(out, &offer->plan, offer);
	fprintf(out, ", price %s", auc_money_str(auc_money_from(up(offer->plan.cost)), cost));
}

/* There is a schedule that is worth its price, and it is too dear. */
static void print_unpaid(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			 const struct auc_offer *offer)
{
	char payment[AUC_MONEY_LEN];

	fprintf(out, "auction: refused: budget: ");
	if (offer->payment > q->left)
		fprintf(out, "the best schedule costs %s, and ",
			auc_money_str(offer->payment, payment));
	else
		fprintf(out, "no schedule that can be paid is worth its price: ");
	auc_budget_print(out, auc_ledger_books(a->ledger), &q->payers);
	if (!a->policy->budgets)
		fprintf(out, "; Policy=%s looks for no cheaper one", a->policy->name);
}

/* A plan that is longer than the job states; what becomes of a job that is late. */
static void print_times(const struct auc_auction *a, const struct auc_question *q, FILE *out)
{
	if (q->bid.planned > 1)
		fprintf(out, "\nauction: planned for %.4g times the time that it states (%s)%s",
			q->bid.planned,
			q->bid.most > 0 ? "--time-max"
			: a->conf->margin.how == AUC_MARGIN_LEARNED
				? "as jobs before took longer, too"
				: "Margin of this cluster",
			a->conf->refund_unused == AUC_REFUND_NO
				? ""
				: "; what it does not use is paid back");
	if (q->bid.requeue && auc_bid_extends(a, &q->bid))
		fprintf(out, "\nauction: if it is late and its nodes are sold, it is requeued to "
			     "others (--requeue)");
}

/* A budget that comes to its end. */
static void print_warning(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			  const struct auc_offer *offer)
{
	const char *account;
	double share =
		auc_budget_share(auc_ledger_books(a->ledger), &q->payers, offer->payment, &account);

	if (account && offer->payment && share >= WARN_FIRST)
		fprintf(out,
			"\nauction: %s: with this %.0f %% of the budget of %s is spent or held",
			share >= WARN_LAST ? "budget almost spent" : "budget", floor(100 * share),
			account);
}

/* Why PLAN is worth nothing, if it is: when the bid's value has fallen to 0. */
static void print_worthless(const struct auc_auction *a, const struct auc_question *q, FILE *out,
			    const struct auc_plan *plan)
{
	const struct auc_job *job = &q->job;
	auc_slot worth = -1, none = plan->completion - job->arrival, middle;

	if (plan->value > 0)
		return;
	if (job->utility.form == AUC_FORM_DEADLINE && job->utility.scale > 0) {
		fprintf(out, "\nauction: the best schedule comes after the deadline");
		return;
	}
	while (none - worth > 1) {
		middle = worth + (none - worth) / 2;
		if (auc_utility_value(&job->utility, (double)middle) > 0)
			worth = middle;
		else
			none = middle;
	}
	if (worth < 0) {
		fprintf(out, "\nauction: the bid is worth nothing at any time");
		return;
	}
	fprintf(out, "\nauction: the bid is worth nothing from ");
	print_time(out, (double)(job->arrival + none) * auc_market_slot_seconds(a->market));
	fprintf(out, " on, before the schedule ends");
}

/* -- the plan in words -- */

/* "2 x v100 on edge1 + 1 x ps.m on edge1", of several runs the first one and how they go on */
static void print_plan(FILE *out, const struct auc_market *m, const struct auc_plan *plan)
{
	unsigned workers = 0, ps = 0;

	if (plan->gang) {
		print_gang(out, m, plan);
		return;
	}
	for (unsigned i = 0; i < plan->runs[0].nshares; i++) {
		workers += plan->shares[plan->runs[0].first_share + i].workers;
		ps += plan->shares[plan->runs[0].first_share + i].ps;
	}
	fprintf(out, "%u x %s on ", workers, auc_market_worker_type_name(m, plan->worker_type));
	print_where(out, m, plan, false);
	fprintf(out, " + %u x %s on ", ps, auc_market_ps_type_name(m, plan->ps_type));
	print_where(out, m, plan, true);
	if (plan->nruns > 1)
		print_changes(out, plan);
}

/* "2 whole nodes, edge1, edge2, with cpu=48 mem=400000 gpu:a100=8 each" */
static void print_gang(FILE *out, const struct auc_market *m, const struct auc_plan *plan)
{
	unsigned n = plan->runs[0].nshares;

	fprintf(out, "%s%u %snode%s, ", plan->block ? "a block of " : "", n,
		plan->whole ? "whole " : "", n > 1 ? "s" : "");
	for (unsigned i = 0; i < n && i < SERVERS_MAX; i++)
		fprintf(out, "%s%s", i ? ", " : "",
			auc_market_server_name(m, plan->shares[i].server));
	if (n > SERVERS_MAX)
		fprintf(out, " and %u more", n - SERVERS_MAX);
	fprintf(out, plan->block ? ", all of it:" : ", with");
	print_amounts(out, m, plan->amount);
	fprintf(out, n > 1 ? " each" : "");
}

/* " cpu=48 gpu:a100=8" */
static void print_amounts(FILE *out, const struct auc_market *m, const double *amount)
{
	char number[AUC_NUMBER_LEN];

	for (unsigned k = 0; k < auc_market_ntres(m); k++)
		if (amount[k] > 0)
			fprintf(out, " %s=%s", auc_market_tres_name(m, k),
				auc_number_str(amount[k], number));
}

/* " at first, 3 layouts of 2 to 5 workers, a pause of 4 slots" */
static void print_changes(FILE *out, const struct auc_plan *plan)
{
	auc_slot pause = plan->completion - plan->start;
	unsigned least = UINT_MAX, most = 0, workers;
	const struct auc_run *run;

	for (run = plan->runs; run < plan->runs + plan->nruns; run++) {
		workers = 0;
		for (unsigned i = 0; i < run->nshares; i++)
			workers += plan->shares[run->first_share + i].workers;
		least = workers < least ? workers : least;
		most = workers > most ? workers : most;
		pause -= run->to - run->from + 1;
	}
	fprintf(out, " at first, %u layouts of ", plan->nruns);
	if (least < most)
		fprintf(out, "%u to ", least);
	fprintf(out, "%u worker%s", most, most > 1 ? "s" : "");
	if (pause)
		fprintf(out, ", a pause of %" PRId64 " slot%s", pause, pause > 1 ? "s" : "");
}

static void print_where(FILE *out, const struct auc_market *m, const struct auc_plan *plan, bool ps)
{
	const struct auc_run *run = &plan->runs[0];
	unsigned servers = 0, n = 0;

	for (unsigned i = 0; i < run->nshares; i++) {
		const struct auc_share *s = &plan->shares[run->first_share + i];

		servers += (ps ? s->ps : s->workers) > 0;
	}
	for (unsigned i = 0; i < run->nshares; i++) {
		const struct auc_share *s = &plan->shares[run->first_share + i];
		unsigned count = ps ? s->ps : s->workers;

		if (!count || n++ >= SERVERS_MAX)
			continue;
		fprintf(out, "%s%s", n > 1 ? ", " : "", auc_market_server_name(m, s->server));
		if (servers > 1)
			fprintf(out, " (%u)", count);
	}
	if (servers > SERVERS_MAX)
		fprintf(out, " and %u more", servers - SERVERS_MAX);
}

static void print_when(FILE *out, const struct auc_plan *plan, const struct auc_offer *offer)
{
	fprintf(out, ", ");
	print_time(out, offer->start);
	fprintf(out, " to ");
	print_time(out, offer->end);
	fprintf(out, " (slots %" PRId64 " to %" PRId64 ")", plan->start, plan->completion - 1);
}

/* Two decimals, six if it is less than a credit. What is paid is printed exactly instead. */
static const char *credits(double x, char text[AUC_MONEY_LEN])
{
	const char *format = "%.2f";

	if (fabs(x) >= 1e12)
		format = "%.6g";
	else if (x != 0 && fabs(x) < 1)
		format = "%.6f";
	snprintf(text, AUC_MONEY_LEN, format, x);
	return text;
}

/* The time of day, with the date if that is not within twelve hours. */
static void print_time(FILE *out, double when)
{
	time_t t = (time_t)when;
	char text[32] = "?";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text),
			 fabs(when - (double)time(NULL)) < 12 * 3600 ? "%H:%M:%S"
								     : "%Y-%m-%dT%H:%M:%S",
			 &tm);
	fputs(text, out);
}

/* -- why nothing is possible -- */

/* Where prices are posted there is no room for a worker of each chunk. */
static void print_crowded(const struct auc_auction *a, const struct auc_question *q, FILE *out)
{
	const struct auc_market *m = a->market;
	int64_t chunks = (int64_t)q->job.chunks, most;
	unsigned w, p;

	if (q->job.nshapes) {
		print_gang_limit(a, q, out);
		return;
	}
	if (print_unfit(a, q, out) || !auc_pairs_fastest(m, &q->job, &w, &p))
		return;
	most = most_at_all(a, q, w);
	fprintf(out, chunks > most ? "the nodes it may use cannot hold it: "
				   : "what is free now cannot hold it for as long as it takes: ");
	fprintf(out, "%" PRId64 " x %s", chunks, auc_market_worker_type_name(m, w));
	if (chunks <= most)
		fprintf(out, " and %" PRId64 " x %s", auc_job_ps(m, w, p, chunks),
			auc_market_ps_type_name(m, p));
	fprintf(out, ", a worker for each of --chunks=%" PRId64, chunks);
	if (chunks > most)
		fprintf(out, ", expected at most %" PRId64, most);
}

static void print_limit(const struct auc_auction *a, const struct auc_question *q, FILE *out)
{
	const struct auc_market *m = a->market;
	const struct auc_job *job = &q->job;
	int64_t least = INT64_MAX, left, n, d;
	unsigned upload = UINT32_MAX;

	if (job->nshapes) {
		print_gang_limit(a, q, out);
		return;
	}
	if (print_unfit(a, q, out))
		return;
	/* A bound from below: every node there is. */
	for (unsigned w = 0; w < m->nworker_types; w++)
		for (unsigned p = 0; p < m->nps_types; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0)
				continue;
			n = most_at_all(a, q, w);
			if (!n || !most_at_all(a, q, auc_ps_index(m, p)))
				continue;
			if ((uint64_t)n > job->chunks)
				n = (int64_t)job->chunks;
			d = a->policy->least_slots(m, job, w, p, n);
			least = d < least ? d : least;
		}
	if (least == INT64_MAX) {
		fprintf(out, "no PS that it may use has the bandwidth of a worker");
		return;
	}
	for (unsigned s = 0; s < m->nservers; s++)
		if (auc_auction_sells(a, s) && job->upload[s] < upload)
			upload = job->upload[s];
	left = auc_market_last(m) - job->arrival - (int64_t)upload + 1;
	if (least > left)
		print_too_long(m, "it needs at least", least, "its data's arrival", left, out);
	else if (job->ndata && job->chunk_mb > auc_market_traffic_budget(m))
		fprintf(out,
			"a chunk of %g MB is more than nodes may send in a slot (%g MB), so none "
			"can be moved, and they cannot all be trained where they lie",
			job->chunk_mb, auc_market_traffic_budget(m));
	else {
		fprintf(out, "what is free until ");
		print_time(out, (double)(auc_market_last(m) + 1) * auc_market_slot_seconds(m));
		fprintf(out, " cannot hold it for as long as it takes");
	}
}

/* More slots than are left. */
static void print_too_long(const struct auc_market *m, const char *takes, int64_t slots,
			   const char *from, int64_t left, FILE *out)
{
	left = left > 0 ? left : 0;
	fprintf(out, "%s ", takes);
	print_length(out, (double)slots * auc_market_slot_seconds(m));
	fprintf(out, " (%" PRId64 " slot%s), and from %s to the end of the horizon there are ",
		slots, auc_plural((double)slots), from);
	print_length(out, (double)left * auc_market_slot_seconds(m));
	fprintf(out, " (%" PRId64 ")", left);
}

/* As Slurm writes times. */
static void print_length(FILE *out, double seconds)
{
	unsigned rest = (unsigned)fmod(ceil(seconds), 86400);
	double days = (ceil(seconds) - rest) / 86400;

	if (days > 0)
		fprintf(out, "%.0f-", days);
	fprintf(out, "%02u:%02u:%02u", rest / 3600, rest / 60 % 60, rest % 60);
}

/* A gang: too few nodes that are large enough, too few slots until the end of the horizon, or what
 * there is is sold. */
static void print_gang_limit(const struct auc_auction *a, const struct auc_question *q, FILE *out)
{
	const struct auc_job *job = &q->job;
	const struct auc_market *m = a->market;
	const struct auc_shape *least = NULL;
	int64_t left, latest, d = INT64_MAX;
	unsigned n = 0, upload = UINT32_MAX;

	for (unsigned s = 0; s < m->nservers; s++)
		if (auc_auction_sells(a, s) && job->upload[s] < upload)
			upload = job->upload[s];
	for (unsigned i = 0; i < job->nshapes; i++) {
		const struct auc_shape *shape = &job->shapes[i];
		unsigned holders = holders_of(a, job, shape);

		/* One that some nodes could hold says more than one that none could. */
		if (!least || (holders && !n) || (shape->nodes < least->nodes && !holders == !n)) {
			least = shape;
			n = holders;
		}
		if (holders >= shape->nodes && auc_shape_slots(m, shape) < d)
			d = auc_shape_slots(m, shape);
	}
	left = auc_market_last(m) - job->arrival - (int64_t)upload + 1;
	latest = auc_market_last(m) + 1 - d;
	if (d == INT64_MAX) {
		fprintf(out, "it needs %u node%s with", least->nodes, least->nodes > 1 ? "s" : "");
		print_amounts(out, m, least->amount);
		fprintf(out, "%s%s, and of the nodes that it may use %u %s as large",
			least->nodes > 1 ? " each" : "",
			job->within_switch ? " on one switch" : " in one partition", n,
			n == 1 ? "is" : "are");
	} else if (d > left) {
		double minutes = floor((double)left * auc_market_slot_seconds(m) / 60);

		print_too_long(m, "it takes", d, "its earliest start", left, out);
		if (minutes >= 1)
			fprintf(out, ": expected a shorter --time, at most %.0f minute%s", minutes,
				auc_plural(minutes));
		else if (q->bid.gang.begin > 0 && !q->later && latest > auc_market_first(m)) {
			fprintf(out, ": expected an earlier start (--begin, --dependency), by ");
			print_time(out, (double)latest * auc_market_slot_seconds(m));
		}
	} else {
		fprintf(out, "what is free until ");
		print_time(out, (double)(auc_market_last(m) + 1) * auc_market_slot_seconds(m));
		fprintf(out, " cannot hold it for as long as it takes");
	}
}

/* How many servers that belong together could hold a node of SHAPE if nothing was sold. */
static unsigned holders_of(const struct auc_auction *a, const struct auc_job *job,
			   const struct auc_shape *shape)
{
	const struct auc_market *m = a->market;
	unsigned most = 0;

	for (unsigned s = 0; s < m->nservers; s++) {
		unsigned n = 0;

		/* Mostly those that belong together stand together. */
		if (s && auc_market_switch(m, s) == auc_market_switch(m, s - 1) &&
		    !strcmp(auc_market_server_group(m, s), auc_market_server_group(m, s - 1)))
			continue;
		for (unsigned o = s; o < m->nservers; o++) {
			bool fits = !shape->never && job->upload[o] != UINT32_MAX &&
				    auc_auction_sells(a, o) && !auc_market_is_whole(m, o) &&
				    !strcmp(auc_market_server_group(m, o),
					    auc_market_server_group(m, s)) &&
				    (!job->within_switch ||
				     (auc_market_switch(m, o) &&
				      auc_market_switch(m, o) == auc_market_switch(m, s)));

			n += fits && auc_shape_holds(m, o, job, shape);
		}
		most = n > most ? n : most;
		if (most >= shape->nodes)
			break;
	}
	return most;
}

/* True, and said: not even one worker and one PS can be anywhere. */
static bool print_unfit(const struct auc_auction *a, const struct auc_question *q, FILE *out)
{
	const struct auc_market *m = a->market;
	const struct auc_job *job = &q->job;
	bool any_worker = false, any_ps = false;

	for (unsigned w = 0; w < m->nworker_types; w++)
		any_worker |= job->worker_seconds[w] >= 0 && most_at_all(a, q, w) > 0;
	for (unsigned p = 0; p < m->nps_types; p++)
		any_ps |= job->ps_seconds[p] >= 0 && most_at_all(a, q, auc_ps_index(m, p)) > 0;
	if (any_worker && any_ps)
		return false;
	fprintf(out, "no node it may use can hold one %s (", any_worker ? "PS" : "worker");
	print_types(out, m, job, any_worker);
	fprintf(out, ")");
	return true;
}

/* How many of a type fit on all nodes together that the job may use, nothing being sold. */
static int64_t most_at_all(const struct auc_auction *a, const struct auc_question *q, unsigned type)
{
	int64_t n = 0;

	for (unsigned s = 0; s < auc_market_nservers(a->market); s++)
		if (q->job.upload[s] != UINT32_MAX && auc_auction_sells(a, s))
			n += a->market->cache[type].fit0[s];
	return n;
}

/* "v100: cpu=4 mem=8192 gpu:v100=1; t4: ..." of the types the bid may use. */
static void print_types(FILE *out, const struct auc_market *m, const struct auc_job *job, bool ps)
{
	unsigned n = ps ? m->nps_types : m->nworker_types, shown = 0;
	char number[AUC_NUMBER_LEN];
	double amount;

	for (unsigned i = 0; i < n; i++) {
		if ((ps ? job->ps_seconds[i] : job->worker_seconds[i]) < 0 ||
		    shown++ >= SERVERS_MAX)
			continue;
		fprintf(out, "%s%s:", shown > 1 ? "; " : "",
			ps ? auc_market_ps_type_name(m, i) : auc_market_worker_type_name(m, i));
		for (unsigned k = 0; k < auc_market_ntres(m); k++) {
			amount = ps ? auc_market_ps_amount(m, i, k)
				    : auc_market_worker_amount(m, i, k);
			if (amount > 0)
				fprintf(out, " %s=%s", auc_market_tres_name(m, k),
					auc_number_str(amount, number));
		}
	}
}

/* -- what would be accepted -- */

static void hint_value(struct auc_auction *a, struct auc_question *q, FILE *out,
		       const struct auc_offer *offer, struct budget *b)
{
	/* A deadline that the best schedule misses says nothing about a value before it. */
	bool missed = q->job.utility.form == AUC_FORM_DEADLINE && !(offer->plan.value > 0), same;
	struct auc_utility raised;
	char *text;

	if (-offer->best_payoff > AUC_VALUE_MAX)
		return; /* nobody may bid that much */
	if (!raise_utility(a, q, offer, &raised, &same, b) || !(text = auc_utility_print(&raised)))
		return;
	fprintf(out, "\nauction: would be accepted: ");
	if (same)
		fprintf(out, "a value higher by %.6f at every time", up(-offer->best_payoff));
	else
		fprintf(out, "a higher value%s", missed ? " before it" : "");
	fprintf(out, ", as --bid=%s", text);
	free(text);
}

/* The bid's utility, raised in its own form until a schedule pays: SAME, the best one. False: there
 * is no such, or it was not accepted. */
static bool raise_utility(struct auc_auction *a, struct auc_question *q,
			  const struct auc_offer *offer, struct auc_utility *u, bool *same,
			  struct budget *b)
{
	const struct auc_plan *plan = &offer->plan;
	struct auc_job job = q->job;

	*u = job.utility;
	*same = true;
	switch (u->form) {
	case AUC_FORM_DEADLINE:
	case AUC_FORM_SIGMOID:
	case AUC_FORM_INVERSE:
	case AUC_FORM_LINEAR:
		/* The best schedule may be one that is worth next to nothing: for a much higher
		 * value another one is. */
		if (plan->value <= (u->form == AUC_FORM_LINEAR ? 0 : plan->cost / FAR_OFF)) {
			if (!look_higher(a, q, plan, &job, b))
				return false;
			plan = &q->extra.plan;
			*same = u->form != AUC_FORM_LINEAR && offer->plan.value > 0 &&
				plan->cost == offer->plan.cost &&
				plan->completion == offer->plan.completion;
		}
		if (!(plan->value > 0))
			return false;
		if (u->form == AUC_FORM_LINEAR)
			u->scale = up(job.utility.scale - (plan->value - plan->cost));
		else
			u->scale = up(job.utility.scale * (1 + 1e-9) * (plan->cost / plan->value));
		break;
	case AUC_FORM_CONSTANT:
		u->scale = up(u->scale - offer->best_payoff);
		break;
	case AUC_FORM_TABLE:
		for (unsigned i = 0; i < u->npoints; i++)
			u->points[i].value = up(u->points[i].value - offer->best_payoff);
		break;
	}
	job.utility = *u;
	return auc_utility_check(u, "", NULL) == AUC_OK && ask(a, q, &job, b);
}

/* What would be best for JOB at a higher value, into q->extra: that of a line is nowhere 0 that
 * pays for PLAN, and where it is not 0 its height decides nothing. */
static bool look_higher(struct auc_auction *a, struct auc_question *q, const struct auc_plan *plan,
			struct auc_job *job, struct budget *b)
{
	struct auc_utility *u = &job->utility;

	if (u->form == AUC_FORM_LINEAR)
		u->scale =
			fmin(AUC_VALUE_MAX,
			     up(plan->cost + u->decay * (double)(plan->completion - job->arrival)));
	else
		u->scale = AUC_VALUE_MAX;
	return ask(a, q, job, b);
}

/* The value that it has at once, until the end of the schedule that was refused, PLAN. If that is
 * not enough to pay for it, for as long as it takes: its completion is a deadline that would do. */
static void hint_deadline(struct auc_auction *a, struct auc_question *q, FILE *out,
			  const struct auc_plan *plan, struct budget *b)
{
	struct auc_utility u = {.form = AUC_FORM_DEADLINE,
				.scale = auc_utility_value(&q->job.utility, 0),
				.target = (double)(plan->completion - q->job.arrival)};
	struct auc_job job = q->job;
	char value[AUC_MONEY_LEN], *text;

	if (job.utility.form == AUC_FORM_CONSTANT || !(u.scale > 0))
		return;
	job.utility = u;
	if (!ask(a, q, &job, b)) {
		job.utility = (struct auc_utility){.form = AUC_FORM_CONSTANT, .scale = u.scale};
		if (!ask(a, q, &job, b))
			return;
		u.target = (double)(q->extra.plan.completion - job.arrival);
		job.utility = u;
		if (!ask(a, q, &job, b))
			return;
	}
	text = auc_utility_print(&u);
	if (!text)
		return;
	fprintf(out, "\nauction: would be accepted: the value that it has at once (%s) until ",
		credits(u.scale, value));
	print_time(out,
		   (double)(job.arrival + (auc_slot)u.target) * auc_market_slot_seconds(a->market));
	fprintf(out, ", as --bid=%s", text);
	free(text);
}

/* Fewer epochs never make a schedule longer or dearer, so halving finds the bound. */
static void hint_epochs(struct auc_auction *a, struct auc_question *q, FILE *out, struct budget *b)
{
	uint64_t low = 0, high = q->job.epochs; /* accepted, refused */
	struct auc_job job = q->job;

	if (job.nshapes)
		return; /* it has no epochs */
	for (unsigned i = 0; i < EPOCH_QUOTES && high - low > 1 && can_ask(b); i++) {
		if (!low)
			job.epochs = 1;
		else if (high / low >= 4)
			job.epochs = (uint64_t)sqrt((double)low * (double)high);
		else
			job.epochs = low + (high - low) / 2;
		if (ask(a, q, &job, b))
			low = job.epochs;
		else
			high = job.epochs;
	}
	if (low)
		fprintf(out,
			"\nauction: would be accepted: at most %" PRIu64
			" epoch%s, as --epochs=%" PRIu64,
			low, low > 1 ? "s" : "", low);
}

/* Would JOB be accepted? Into q->extra. Also false if the steps are spent, or are too few to know:
 * the bid itself may have more. */
static bool ask(struct auc_auction *a, struct auc_question *q, const struct auc_job *job,
		struct budget *b)
{
	struct auc_job asked = *job; /* uploads are put back */
	enum auc_code rc;
	char why[256];
	bool yes;

	if (!can_ask(b))
		return false;
	b->quotes--;
	q->extra.most_steps = b->steps;
	rc = job->nshapes ? auc_quote_gang(a->policy, a->ctx, a->market, &asked, &q->extra, NULL)
			  : a->policy->quote(a->ctx, a->market, job, &q->extra, NULL);
	yes = rc == AUC_OK && q->extra.accepted && !q->extra.cut &&
	      !auc_auction_broken_limit(a, a->market, &q->extra.plan, why, sizeof(why));
	b->last = q->extra.steps;
	b->steps -= b->last < b->steps ? b->last : b->steps;
	return yes;
}

static bool can_ask(const struct budget *b)
{
	return b->quotes && b->steps && b->last <= b->steps;
}

/* Two micro-credits above at most: what is printed with six decimals is still enough. */
static double up(double credits)
{
	return (floor(credits * 1e6) + 2) / 1e6;
}
