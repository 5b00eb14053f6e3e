/*
 * test_eris_property.c - policy eris against brute force on random tiny markets.
 *
 * The brute force shares nothing with the engine: it computes prices and utilities itself, keeps
 * how many chunks are left at every site, and tries in each slot every set of chunks to train,
 * every site for the PS and every way to spread the chunks over sites. Every schedule of the engine
 * must be one that can be carried out, at the cost that it names, and the best one. How far
 * schedules are from that where the policy must do as if the market were large is printed, and kept
 * below 1 % of all payoff.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auctionsim/baseline/registry.h"
#include "market/timeline.h"
#include "unit/support/property.h"

#define MARKETS 8000
#define SITES   3
#define SLOTS   4
#define TRES    2
#define CHUNKS  6 /* at a site */
#define STATES  343
#define NEVER   1e300

/* Amounts are whole numbers; traffic is in tenths of a MB. */
struct tiny {
	unsigned nsites, nslots;
	int capacity[SITES][TRES], used[SITES][TRES][SLOTS];
	int budget, sent[SLOTS];
	double eta[TRES], transfer_eta;
	int worker[TRES], ps[TRES];
	/* the job */
	int arrival, epochs, rate; /* rate: tenths of a chunk that a worker passes in a slot */
	int chunk, exchange;
	int data[SITES], all;
	struct auc_utility utility;
};

struct distance {
	unsigned jobs, best, missed;
	double sum, lost, worst;
};

enum { PLENTY, PRICED, SCARCE, NO_BUDGET, FAMILIES };
static const char *const families[] = {"plenty", "priced traffic", "scarce", "no budget"};

static void make(struct tiny *t, struct tiny_random *r, unsigned family)
{
	unsigned s, k, i;
	int room;

	memset(t, 0, sizeof(*t));
	t->nsites = (unsigned)tiny_int(r, 2, SITES);
	t->nslots = (unsigned)tiny_int(r, 2, SLOTS);
	for (k = 0; k < TRES; k++) {
		t->eta[k] = pow(10, 3 * tiny_real(r));
		t->worker[k] = tiny_int(r, k == 0, 2);
		t->ps[k] = tiny_int(r, k == 1, 2);
	}
	t->transfer_eta = family == PLENTY ? 2 : pow(10, 1 + (family == PRICED) + tiny_real(r));
	t->chunk = tiny_int(r, 0, 4) * 10;
	t->exchange = tiny_int(r, 0, 5) * 20;
	t->budget = family == NO_BUDGET ? 0
		    : family == SCARCE  ? tiny_int(r, 0, 200)
					: tiny_int(r, 400, 2000);
	for (s = 0; s < t->nsites; s++)
		for (k = 0; k < TRES; k++) {
			t->capacity[s][k] = tiny_int(r, family == PLENTY ? 8 : 1, 12);
			for (i = 0; i < t->nslots; i++)
				t->used[s][k][i] = tiny_int(r, 0, t->capacity[s][k]);
		}
	for (i = 0; i < t->nslots; i++)
		t->sent[i] = tiny_int(r, 0, t->budget);
	t->arrival = tiny_chance(r, 0.8) ? 1 : 2;
	t->epochs = tiny_int(r, 1, 6);
	t->rate = tiny_int(r, 5, 120);
	room = 7;
	for (s = 0; s < t->nsites; s++) {
		t->data[s] = tiny_int(r, s == 0, room < 4 ? room : 4);
		room -= t->data[s];
		t->all += t->data[s];
	}
	t->utility.form = AUC_FORM_SIGMOID;
	t->utility.scale = pow(10, 1 + 2.5 * tiny_real(r));
	t->utility.decay = tiny_real(r);
	if (tiny_chance(r, 0.2)) {
		t->utility.form = AUC_FORM_CONSTANT;
		t->utility.decay = 0;
	}
}

static long long workers_for(const struct tiny *t, int chunks)
{
	return (10LL * t->epochs * chunks + t->rate - 1) / t->rate;
}

static double price(const struct tiny *t, unsigned s, unsigned k, unsigned slot)
{
	return t->used[s][k][slot]
		       ? pow(t->eta[k], (double)t->used[s][k][slot] / t->capacity[s][k]) - 1
		       : 0;
}

/* N workers, and the PS if WITH, on S. False: no room. */
static bool host(const struct tiny *t, unsigned s, unsigned slot, long long n, bool with,
		 double *cost)
{
	unsigned k;
	long long units;

	for (k = 0; k < TRES; k++) {
		units = n * t->worker[k] + (with ? t->ps[k] : 0);
		if (units > t->capacity[s][k] - t->used[s][k][slot])
			return false;
		*cost += (double)units * price(t, s, k, slot);
	}
	return true;
}

/* MB / 10 sent in SLOT. */
static bool sends(const struct tiny *t, unsigned slot, long long tenths, double *cost)
{
	if (tenths > t->budget - t->sent[slot])
		return false;
	if (t->budget)
		*cost += (double)tenths / 10 *
			 (pow(t->transfer_eta, (double)t->sent[slot] / t->budget) - 1);
	return true;
}

/* The cheapest way to train TAKEN[] chunks of each site in SLOT: N of them are left to place on the
 * sites from S on. */
static double spread(const struct tiny *t, unsigned slot, unsigned ps, const int *taken, unsigned s,
		     int n, long long tenths, double cost)
{
	double least = NEVER, sum;
	long long more;
	int here;

	if (s == t->nsites)
		return n || !sends(t, slot, tenths, &cost) ? NEVER : cost;
	for (here = 0; here <= n; here++) {
		sum = cost;
		if (!host(t, s, slot, workers_for(t, here), s == ps, &sum))
			break;
		more = s == ps ? 0 : workers_for(t, here) * t->exchange;
		if (here > taken[s])
			more += (long long)(here - taken[s]) * t->chunk;
		least = fmin(least,
			     spread(t, slot, ps, taken, s + 1, n - here, tenths + more, sum));
	}
	return least;
}

static unsigned state_of(const struct tiny *t, const int *chunks)
{
	unsigned s, state = 0;

	for (s = t->nsites; s-- > 0;)
		state = state * (unsigned)(t->data[s] + 1) + (unsigned)chunks[s];
	return state;
}

/* The states in order; false after the last one. */
static bool next_state(const struct tiny *t, int *chunks)
{
	unsigned s;

	for (s = 0; s < t->nsites; s++) {
		if (++chunks[s] <= t->data[s])
			return true;
		chunks[s] = 0;
	}
	return false;
}

/* The best payoff; -NEVER: there is no schedule. */
static double brute_force(const struct tiny *t)
{
	static double done[STATES], after[STATES], cost[STATES];
	int from[SITES], taken[SITES] = {0}, to[SITES];
	double best = -NEVER, value;
	unsigned slot, i, s, all = state_of(t, t->data), ps;
	int sum;

	for (i = 0; i <= all; i++)
		done[i] = i ? NEVER : 0;
	for (slot = (unsigned)t->arrival - 1; slot < t->nslots; slot++) {
		memset(taken, 0, sizeof(taken));
		do {
			i = state_of(t, taken);
			sum = taken[0] + taken[1] + taken[2];
			cost[i] = sum ? NEVER : 0;
			for (ps = 0; ps < t->nsites && sum; ps++)
				cost[i] = fmin(cost[i], spread(t, slot, ps, taken, 0, sum, 0, 0));
		} while (next_state(t, taken));
		for (i = 0; i <= all; i++)
			after[i] = NEVER;
		memset(from, 0, sizeof(from));
		do {
			memset(taken, 0, sizeof(taken));
			do {
				for (s = 0; s < SITES; s++)
					to[s] = from[s] + taken[s];
				for (s = 0; s < t->nsites && to[s] <= t->data[s]; s++)
					;
				if (s < t->nsites)
					continue;
				after[state_of(t, to)] =
					fmin(after[state_of(t, to)],
					     done[state_of(t, from)] + cost[state_of(t, taken)]);
			} while (next_state(t, taken));
		} while (next_state(t, from));
		memcpy(done, after, sizeof(done));
		value = (double)tiny_value(&t->utility, (int)slot + 2 - t->arrival);
		if (done[all] < NEVER)
			best = fmax(best, value - done[all]);
	}
	return best;
}

/* A plan is what it says: the chunks can be trained by its workers where they lie or are moved to,
 * within what is left, at the cost that it names. */
static void assert_plan(const struct tiny *t, const struct auc_plan *plan)
{
	long long room[SITES] = {0}, out[SITES] = {0}, in, tenths, n;
	const struct auc_move *move = plan->moves, *moves = move + plan->nmoves;
	const struct auc_share *share;
	const struct auc_run *run;
	double cost = 0;
	unsigned i, s, slot, pss;
	auc_slot at;
	int chunks;

	assert_true(plan->nruns >= 1);
	assert_true(plan->start == plan->runs[0].from && plan->start >= t->arrival);
	assert_true(plan->completion == plan->runs[plan->nruns - 1].to + 1);
	assert_true(plan->completion <= (auc_slot)t->nslots + 1);
	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (at = run->from; at <= run->to; at++) {
			slot = (unsigned)at - 1;
			tenths = pss = 0;
			for (i = 0; i < run->nshares; i++) {
				share = &plan->shares[run->first_share + i];
				s = share->server;
				pss += share->ps;
				assert_true(host(t, s, slot, share->workers, share->ps, &cost));
				tenths += share->ps ? 0 : (long long)share->workers * t->exchange;
				for (chunks = 0; workers_for(t, chunks + 1) <= share->workers &&
						 chunks < t->all;
				     chunks++)
					;
				room[s] += chunks;
			}
			assert_int_equal(pss, 1);
			for (; move < moves && move->slot == at; move++) {
				assert_true(move->chunks > 0 && move->from != move->to);
				out[move->from] += move->chunks;
				room[move->to] -= move->chunks;
				tenths += (long long)move->chunks * t->chunk;
			}
			assert_true(sends(t, slot, tenths, &cost));
			/* what is moved to a site is trained there at once */
			for (s = 0; s < t->nsites; s++) {
				in = n = 0;
				for (i = 0; i < plan->nmoves; i++)
					if (plan->moves[i].slot == at && plan->moves[i].to == s)
						in += plan->moves[i].chunks;
				for (i = 0; i < run->nshares; i++)
					if (plan->shares[run->first_share + i].server == s)
						n = plan->shares[run->first_share + i].workers;
				assert_true(workers_for(t, (int)in) <= n);
			}
		}
	assert_true(move == moves);
	for (s = 0; s < t->nsites; s++)
		assert_true(out[s] <= t->data[s] && room[s] >= t->data[s] - out[s]);
	assert_true(fabs(cost - plan->cost) <= 1e-9 * (1 + cost));
	assert_true(fabs((double)tiny_value(&t->utility, (int)plan->completion - t->arrival) -
			 plan->value) <= 1e-9 * (1 + plan->value));
}

static struct auc_market *build(const struct tiny *t)
{
	static const char *const tres[] = {"gpu", "cpu"};
	struct auc_market *m = auc_market_create(t->nslots, 60, 1);
	struct auc_named list[TRES];
	struct auc_price price = {.kind = AUC_PRICE_ETA, .neta = TRES + 1};
	unsigned s, k, i;
	char name[16];

	assert_non_null(m);
	for (k = 0; k < TRES; k++) {
		strcpy(list[k].name, tres[k]);
		strcpy(price.eta[k].name, tres[k]);
		price.eta[k].value = t->eta[k];
	}
	strcpy(price.eta[TRES].name, AUC_TRANSFER);
	price.eta[TRES].value = t->transfer_eta;
	for (s = 0; s < t->nsites; s++) {
		snprintf(name, sizeof(name), "s%u", s);
		for (k = 0; k < TRES; k++)
			list[k].value = t->capacity[s][k];
		assert_int_equal(auc_market_add_server(m, name, "edge", false,
						       AUC_ROLE_WORKER | AUC_ROLE_PS, 0, list, TRES,
						       NULL),
				 AUC_OK);
	}
	for (k = 0; k < TRES; k++)
		list[k].value = t->worker[k];
	assert_int_equal(auc_market_add_worker_type(m, "w", list, TRES, 1, NULL), AUC_OK);
	for (k = 0; k < TRES; k++)
		list[k].value = t->ps[k];
	assert_int_equal(auc_market_add_ps_type(m, "p", list, TRES, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_set_traffic(m, t->budget / 10.0, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	for (i = 0; i < t->nslots; i++) {
		for (s = 0; s < t->nsites; s++)
			for (k = 0; k < TRES; k++)
				assert_int_equal(auc_market_reserve(m, s, k, i + 1, i + 1,
								    t->used[s][k][i], NULL),
						 AUC_OK);
		assert_int_equal(
			auc_market_reserve_traffic(m, i + 1, i + 1, t->sent[i] / 10.0, NULL),
			AUC_OK);
	}
	return m;
}

static void resolve(const struct tiny *t, struct auc_job *job, unsigned *upload,
		    struct auc_data *data)
{
	unsigned s;

	memset(job, 0, sizeof(*job));
	job->arrival = t->arrival;
	job->utility = t->utility;
	job->epochs = (uint64_t)t->epochs;
	job->chunks = (uint64_t)t->all;
	job->chunk_mb = t->chunk / 10.0;
	job->exchange_mb = t->exchange / 10.0;
	job->chunks_per_slot = t->rate / 10.0;
	for (s = 0; s < AUC_TYPES_MAX; s++)
		job->worker_seconds[s] = job->ps_seconds[s] = s ? -1 : 0;
	job->upload = upload;
	job->data = data;
	for (s = 0; s < t->nsites; s++) {
		upload[s] = 0;
		if (t->data[s])
			data[job->ndata++] = (struct auc_data){s, (uint64_t)t->data[s]};
	}
}

/* What the engine finds, 0 if that does not pay. */
static double engine(const struct tiny *t, struct auc_policy_ctx *ctx, struct auc_market *m,
		     const struct auc_job *job, struct auc_decision *d, double best)
{
	assert_int_equal(auc_policy_eris.quote(ctx, m, job, d, NULL), AUC_OK);
	assert_int_equal(d->accepted, d->reason == AUC_REASON_NONE);
	if (d->reason == AUC_REASON_CAPACITY)
		return 0;
	assert_true(d->best_payoff == d->plan.value - d->plan.cost);
	assert_int_equal(d->accepted, d->best_payoff > 0);
	assert_true(d->plan.cost == auc_plan_cost(&d->plan, m));
	assert_plan(t, &d->plan);
	assert_true(d->best_payoff <= best + 1e-9 * (1 + d->plan.value + d->plan.cost));
	assert_int_equal(auc_market_book(m, &d->plan, 1, t->nslots, NULL), AUC_OK);
	assert_true(auc_market_sound(m));
	assert_int_equal(auc_market_unbook(m, &d->plan, 1, t->nslots, NULL), AUC_OK);
	return fmax(0, d->best_payoff);
}

static void note(struct distance *d, double best, double found, double size)
{
	double lost = best - found;

	if (!(best > 0))
		return;
	d->jobs++;
	d->sum += best;
	d->best += lost <= 1e-9 * size;
	d->missed += !(found > 0);
	d->lost += lost;
	d->worst = fmax(d->worst, lost / best);
}

static void print_distance(const char *policy, const char *family, const struct distance *d)
{
	print_message("%-6s %-15s %6u jobs with a payoff: the best one found in %6.2f %%, refused "
		      "%5.2f %%, lost %.4f %% of all payoff\n",
		      policy, family, d->jobs, 100.0 * d->best / d->jobs,
		      100.0 * d->missed / d->jobs, 100 * d->lost / d->sum);
}

static void test_property(void **state)
{
	struct distance ours[FAMILIES + 1] = {0}, paper[FAMILIES + 1] = {0};
	struct auc_policy_ctx *ctx, *exact, *printed;
	unsigned upload[SITES], i, f, feasible = 0, unseen = 0;
	struct auc_data data[SITES];
	struct auc_decision d, p;
	struct tiny_random r;
	struct auc_market *m;
	struct auc_job job;
	double best, found, value;
	struct tiny t;

	(void)state;
	assert_int_equal(auc_policy_eris.create("", &exact, NULL), AUC_OK);
	assert_int_equal(auc_policy_eris.create("exact=off", &ctx, NULL), AUC_OK);
	assert_int_equal(sim_policy_eris_paper.create("variant=paper", &printed, NULL), AUC_OK);
	auc_decision_init(&d);
	auc_decision_init(&p);
	for (i = 0; i < property.markets; i++) {
		r.state = property.seed = property.first_seed + i;
		f = i % FAMILIES;
		make(&t, &r, f);
		m = build(&t);
		resolve(&t, &job, upload, data);
		best = brute_force(&t);
		value = (double)tiny_value(&t.utility, 0);
		found = engine(&t, ctx, m, &job, &d, best);
		/* with the program over all states nothing is lost */
		assert_true(fabs(engine(&t, exact, m, &job, &p, best) - fmax(0, best)) <=
			    1e-9 * (1 + value));
		assert_int_equal(p.reason == AUC_REASON_CAPACITY, best <= -NEVER);
		feasible += best > -NEVER;
		unseen += best > -NEVER && d.reason == AUC_REASON_CAPACITY;
		note(&ours[f], best, found, value);
		note(&ours[FAMILIES], best, found, value);
		found = engine(&t, printed, m, &job, &p, best);
		note(&paper[f], best, found, value);
		note(&paper[FAMILIES], best, found, value);
		auc_market_destroy(m);
	}
	print_message("%u markets, %u with a schedule, %u of these not seen\n", property.markets,
		      feasible, unseen);
	for (f = 0; f <= FAMILIES; f++)
		print_distance("eris", f < FAMILIES ? families[f] : "all", &ours[f]);
	for (f = 0; f <= FAMILIES; f++)
		print_distance("paper", f < FAMILIES ? families[f] : "all", &paper[f]);
	if (property.markets >= 1000)
		assert_true(ours[FAMILIES].jobs > property.markets / 5);
	/* a mean: of fewer markets, some are too many */
	if (property.markets >= MARKETS)
		assert_true(ours[FAMILIES].lost < 0.01 * ours[FAMILIES].sum);
	auc_policy_eris.destroy(ctx);
	auc_policy_eris.destroy(exact);
	auc_policy_eris.destroy(printed);
	auc_decision_clear(&d);
	auc_decision_clear(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_property),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(cmocka_run_group_tests_name("eris_property", tests, NULL, NULL));
}
