/*
 * test_posted.c - policy posted: placements against brute force, the bandit's bookkeeping against
 * one that recounts everything and by hand, and that offers depend on answers alone.
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
#include <json-c/json.h>

#include "unit/support/cases.h"
#include "unit/support/corrupt.h"
#include "auctionsim/gen/gen.h"
#include "auctionsim/baseline/posted_rivals.h"
#include "auctionsim/baseline/registry.h"
#include "auctionsim/run/posted_world.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/run/result.h"
#include "unit/support/tiny.h"

#define SERVERS 4
#define IDLE    4

static const char *const placements[] = {"pa", "upa", "rs", "cha"};

/* -- placements -- */

/* What all placements of ASK come to: walks through every split of workers and PSs. */
struct every {
	int32_t idle[2][SERVERS];
	const struct auc_posted_ask *ask;
	const struct auc_posted_speed *speed;
	unsigned count[2][SERVERS];
	unsigned found;
	double least; /* seconds */
};

/* (1) and (22) once more, with (22)'s minima over all pairs. */
static double seconds_of(const struct every *e)
{
	const double *b = e->speed->bandwidth;
	double dk = e->ask->count[0], dm = e->ask->count[1], least = INFINITY,
	       mbit = 2 * 8 * e->ask->gradient_mb;
	bool together = false;

	for (unsigned s = 0; s < SERVERS; s++)
		together = together || (e->count[0][s] == dk && e->count[1][s] == dm);
	if (together)
		return e->ask->epochs * e->ask->seconds;
	if (!e->speed->dynamic)
		return e->ask->epochs * e->ask->seconds +
		       e->ask->epochs * mbit / (b[0] < b[1] / dk ? b[0] : b[1] / dk);
	for (unsigned s = 0; s < SERVERS; s++) {
		if (e->count[0][s] && dm > e->count[1][s] && b[0] / (dm - e->count[1][s]) < least)
			least = b[0] / (dm - e->count[1][s]);
		if (e->count[1][s] && dk > e->count[0][s] && b[1] / (dk - e->count[0][s]) < least)
			least = b[1] / (dk - e->count[0][s]);
	}
	return e->ask->epochs * e->ask->seconds + e->ask->epochs * mbit / (dm * least);
}

static void walk(struct every *e, unsigned kind, unsigned s, unsigned left)
{
	if (s < SERVERS) {
		for (unsigned n = 0; n <= left && (int32_t)n <= e->idle[kind][s]; n++) {
			e->count[kind][s] = n;
			walk(e, kind, s + 1, left - n);
		}
	} else if (!left && !kind) {
		walk(e, 1, 0, e->ask->count[1]);
	} else if (!left) {
		double now = seconds_of(e);

		e->found++;
		e->least = now < e->least ? now : e->least;
	}
}

/* The least sum of squares of N split among the first C of ORDER. */
static unsigned squares(const int32_t *idle, const unsigned *order, unsigned c, unsigned n)
{
	unsigned best = UINT32_MAX;

	if (!c)
		return n ? UINT32_MAX : 0;
	for (unsigned k = 0; k <= n && (int32_t)k <= idle[order[c - 1]]; k++) {
		unsigned rest = squares(idle, order, c - 1, n - k);

		if (rest != UINT32_MAX && rest + k * k < best)
			best = rest + k * k;
	}
	return best;
}

static void check_upa(const struct every *e, const struct auc_posted_layout *l)
{
	unsigned order[SERVERS], c, total, sum, k;

	for (unsigned i = 0; i < SERVERS; i++) {
		for (k = i; k && (e->idle[0][i] > e->idle[0][order[k - 1]] ||
				  (e->idle[0][i] == e->idle[0][order[k - 1]] &&
				   e->idle[1][i] > e->idle[1][order[k - 1]]));
		     k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (unsigned kind = 0; kind < 2; kind++) {
		for (c = 0, total = 0; total < e->ask->count[kind]; c++)
			total += (unsigned)e->idle[kind][order[c]];
		sum = 0;
		for (unsigned i = 0; i < l->n; i++) {
			k = kind ? l->shares[i].ps : l->shares[i].workers;
			sum += k * k;
			for (unsigned p = c; p < SERVERS && k; p++)
				assert_int_not_equal(order[p], l->shares[i].server);
		}
		assert_int_equal(sum, squares(e->idle[kind], order, c, e->ask->count[kind]));
	}
}

static void test_placements(void **state)
{
	struct auc_posted_layout l = {.n = 0};
	struct tiny_random r = {4711};
	unsigned placed = 0, refused = 0, optimal = 0, apart = 0;

	(void)state;
	assert_int_equal(auc_posted_layout_open(&l, SERVERS, NULL), AUC_OK);
	for (unsigned round = 0; round < 3000; round++) {
		struct auc_posted_ask ask = {
			.type = {(unsigned)tiny_int(&r, 0, 9), 3},
			.count = {(unsigned)tiny_int(&r, 1, 6), (unsigned)tiny_int(&r, 1, 4)},
			.epochs = 3,
			.seconds = 2,
			.gradient_mb = tiny_int(&r, 1, 50)};
		struct auc_posted_speed speed = {
			.dynamic = tiny_chance(&r, 0.5),
			.bandwidth = {tiny_int(&r, 100, 500), tiny_int(&r, 300, 2000)}};
		struct every e = {.ask = &ask, .speed = &speed, .least = INFINITY};
		struct auc_posted_room room = {.nservers = SERVERS, .idle = {e.idle[0], e.idle[1]}};
		unsigned used[2];

		for (unsigned s = 0; s < SERVERS; s++)
			for (unsigned kind = 0; kind < 2; kind++)
				e.idle[kind][s] = tiny_int(&r, 0, IDLE);
		walk(&e, 0, 0, ask.count[0]);
		for (unsigned how = 0; how < 4; how++) {
			bool fits = sim_posted_place(&l, how, &room,
						     &ask, round);
			double seconds;

			if (fits != (e.found > 0))
				fail_msg("%s: round %u", placements[how], round);
			(fits ? placed++ : refused++);
			if (!fits)
				continue;
			used[0] = used[1] = 0;
			memset(e.count, 0, sizeof(e.count));
			for (unsigned i = 0; i < l.n; i++) {
				struct auc_share *share = &l.shares[i];

				assert_true(share->workers || share->ps);
				assert_true(!i || share[-1].server < share->server);
				assert_true((int32_t)share->workers <= e.idle[0][share->server]);
				assert_true((int32_t)share->ps <= e.idle[1][share->server]);
				used[0] += e.count[0][share->server] = share->workers;
				used[1] += e.count[1][share->server] = share->ps;
			}
			assert_int_equal(used[0], ask.count[0]);
			assert_int_equal(used[1], ask.count[1]);
			seconds = auc_posted_seconds(&ask, &speed, l.shares, l.n);
			assert_true(fabs(seconds - seconds_of(&e)) <= 1e-12 * seconds);
			assert_true(seconds >= e.least * (1 - 1e-12));
			/* static: nothing but one server or several matters, and PA, UPA and CHA
			 * find the one */
			if (!speed.dynamic && how != SIM_POSTED_RS)
				assert_true(seconds <= e.least * (1 + 1e-12));
			if (speed.dynamic && how == AUC_POSTED_UPA && l.n > 1) {
				apart++;
				optimal += seconds <= e.least * (1 + 1e-12);
			}
			if (how == AUC_POSTED_UPA && l.n > 1)
				check_upa(&e, &l);
		}
	}
	auc_posted_layout_clear(&l);
	assert_true(placed > 3000 && refused > 500);
	print_message("UPA apart: %u of %u at the optimum of (22)\n", optimal, apart);
}

/* Many servers: those after the first few are sorted. */
static void test_many_servers(void **state)
{
	int32_t idle[2][60];
	struct auc_posted_layout l = {.n = 0};
	struct auc_posted_room room = {.nservers = 60, .idle = {idle[0], idle[1]}};
	struct auc_posted_ask ask = {.count = {40, 55}};
	unsigned workers = 0;

	(void)state;
	for (int32_t s = 0; s < 60; s++)
		idle[0][s] = idle[1][s] = s < 58 ? 1 : 2;
	assert_int_equal(auc_posted_layout_open(&l, 60, NULL), AUC_OK);
	assert_true(auc_posted_place(&l, AUC_POSTED_PA, &room, &ask, 0));
	assert_int_equal(l.n, 53); /* 58, 59, then 0 to 50 */
	for (unsigned i = 0; i < l.n; i++) {
		assert_int_equal(l.shares[i].server, i < 51 ? i : i + 7);
		assert_int_equal(l.shares[i].ps, i < 51 ? 1 : 2);
		workers += l.shares[i].workers;
	}
	assert_int_equal(workers, 40);
	ask.count[0] = 63;
	assert_false(auc_posted_place(&l, AUC_POSTED_PA, &room, &ask, 0));
	assert_false(auc_posted_place(&l, AUC_POSTED_UPA, &room, &ask, 0));
	ask.count[0] = 40;
	assert_true(auc_posted_place(&l, AUC_POSTED_UPA, &room, &ask,
				     0)); /* nothing is left of the failure */
	auc_posted_layout_clear(&l);
}

/* -- the bandit -- */

/* All that the reference knows: every offer and completion, recounted for each price. */
struct recount {
	struct auc_posted_terms terms;
	unsigned n;
	struct {
		double price;
		unsigned units;
		bool accepted;
	} offers[2][400];
	double done, slots;
};

static double recount_price(const struct recount *c, unsigned kind, double grid_n, double n)
{
	double delta = pow(c->terms.slots * c->terms.capacity[kind][0], -1.0 / 3) *
		       pow(log(grid_n), 2.0 / 3),
	       best = -1, at = 0;
	double eta = log(n), mu = c->done > 0 ? c->terms.slots - c->slots / c->done : 0,
	       capacity = c->terms.capacity[kind][0];
	double supply = c->done > 0 ? capacity * c->terms.slots / (c->slots / c->done) : INFINITY;

	if (c->terms.paper)
		supply = capacity * (mu + eta / (1 + c->done) + sqrt(eta * mu / (1 + c->done)));
	for (double p = delta; p <= 1; p *= 1 + delta) {
		double used = 0, sold = 0, q, bound;

		for (unsigned i = 0; i < c->n; i++)
			if (fabs(c->offers[kind][i].price - p) < 1e-9 &&
			    (c->offers[kind][i].accepted || !c->terms.paper)) {
				used++;
				sold += c->offers[kind][i].accepted ? c->offers[kind][i].units : 0;
			}
		q = used > 0 ? sold / used : 0;
		bound = q + eta / (1 + used) + sqrt(eta * q / (1 + used));
		if (p * fmin(n * bound, supply) > best * (1 + 1e-12)) {
			best = p * fmin(n * bound, supply);
			at = p;
		}
	}
	return at;
}

static void run_bandit(bool paper)
{
	struct recount c = {.terms = {.slots = 100,
				      .first = 1,
				      .ntypes = {1, 1},
				      .capacity = {{10}, {80}},
				      .paper = paper,
				      .theta = 0.1,
				      .ceiling = 1}};
	struct tiny_random r = {paper ? 5 : 6};
	unsigned type[2] = {0, 0}, nil = 0;
	double grid_n[2] = {0, 0};
	void *self;

	assert_int_equal(sim_posted_bandit.create(&c.terms, &self, NULL), AUC_OK);
	for (unsigned i = 0; i < 300; i++) {
		struct auc_posted_offer o = {.ask = {.arrival = 1 + i / 3,
						     .count = {(unsigned)tiny_int(&r, 1, 5),
							       (unsigned)tiny_int(&r, 1, 5)}}};
		double n = fmax(2, 100 * (i + 1.0) / (double)o.ask.arrival), want[2] = {0, 0};
		bool offered = !tiny_chance(&r, 0.1), accepted;

		if (i + 1 <= 0.1 * n)
			nil++;
		else
			for (unsigned kind = 0; kind < 2; kind++) {
				grid_n[kind] = grid_n[kind] > 0 ? grid_n[kind] : n;
				want[kind] = recount_price(&c, kind, grid_n[kind], n);
			}
		sim_posted_bandit.offer(self, &o);
		sim_posted_bandit.offer(self, &o); /* asking twice is nothing */
		for (unsigned kind = 0; kind < 2; kind++)
			if (fabs(o.price[kind] - want[kind]) > 1e-9)
				fail_msg("job %u: kind %u: %.17g, expected %.17g", i, kind,
					 o.price[kind], want[kind]);
		accepted = offered && o.price[0] * o.ask.count[0] + o.price[1] * o.ask.count[1] <=
					      4 * tiny_real(&r);
		sim_posted_bandit.answered(self, &o, offered, accepted);
		for (unsigned kind = 0; kind < 2 && offered && want[0] > 0; kind++) {
			c.offers[kind][c.n].price = want[kind];
			c.offers[kind][c.n].units = o.ask.count[kind];
			c.offers[kind][c.n].accepted = accepted;
		}
		c.n += offered && want[0] > 0;
		if (accepted && tiny_chance(&r, 0.8)) {
			double slots = tiny_int(&r, 1, 60);

			c.done++;
			c.slots += slots;
			sim_posted_bandit.completed(self, type, slots);
		}
	}
	sim_posted_bandit.destroy(self);
	assert_true(nil >= 20 && c.n > 150 && c.done > 20);
}

static void test_bandit(void **state)
{
	(void)state;
	run_bandit(false);
	run_bandit(true);
}

/*
 * By hand: T C = 1000 and n = e in the last slot (as near as whole jobs come: 3 arrivals in 3 of 3
 * slots would be n = 3), so that delta = 0.1 (ln 3)^(2/3) = 0.106470584, and the grid is 0.106469
 * x 1.106469^z, z = 0 to 22: 0.98607 at most.
 */
static void test_bandit_by_hand(void **state)
{
	static const struct auc_posted_terms terms = {.slots = 3,
						      .first = 1,
						      .ntypes = {1, 1},
						      .theta = 0,
						      .ceiling = 1,
						      .capacity = {{1000.0 / 3}, {1000.0 / 3}}};
	struct auc_posted_offer o = {.ask = {.arrival = 3, .count = {1, 2}}};
	unsigned type[2] = {0, 0};
	double top, eta = log(3);
	void *self;

	(void)state;
	assert_int_equal(sim_posted_bandit.create(&terms, &self, NULL), AUC_OK);
	for (unsigned i = 0; i < 2; i++) /* two that find no room: n is 3 from then on */
		sim_posted_bandit.answered(self, &o, false, false);
	sim_posted_bandit.offer(self, &o);
	top = 0.106470584 * pow(1.106470584, 22);
	assert_true(fabs(o.price[0] - top) < 1e-5 &&
		    o.price[0] == o.price[1]); /* nothing is known: the highest */
	sim_posted_bandit.answered(self, &o, true, false);
	/* n is 4: N = 1, Q = 0 there, a bound of ln 4 / 2; elsewhere ln 4: the next lower price */
	sim_posted_bandit.offer(self, &o);
	assert_true(fabs(o.price[0] - top / 1.106470584) < 1e-5);
	sim_posted_bandit.answered(self, &o, true, true);
	/* n is 5. Sold there: 1 worker, 2 PSs: Q^U = 1 + ln 5 / 2 + sqrt(ln 5 / 2) > ln 5, and so
	 * for PSs: once more */
	eta = log(5);
	assert_true(1 + eta / 2 + sqrt(eta / 2) > eta);
	sim_posted_bandit.offer(self, &o);
	assert_true(fabs(o.price[0] - top / 1.106470584) < 1e-5 && o.price[0] == o.price[1]);
	/* A job that took 3 slots, of C = 1000/3: what can be sold is C T / 3 = 1000/3 workers,
	 * below n Q^U nowhere: no change */
	sim_posted_bandit.completed(self, type, 3);
	sim_posted_bandit.offer(self, &o);
	assert_true(fabs(o.price[0] - top / 1.106470584) < 1e-5);
	/* 300 slots each: 10/3 can be sold, below n Q^U of all prices: the highest price again */
	sim_posted_bandit.completed(self, type, 597);
	sim_posted_bandit.offer(self, &o);
	assert_true(fabs(o.price[0] - top) < 1e-5);
	sim_posted_bandit.destroy(self);
}

/* As printed, all are free for ever at the paper's scale; auto stops at a tenth. */
static void test_theta(void **state)
{
	struct auc_posted_terms terms = {.slots = 10000,
					 .first = 1,
					 .ntypes = {1, 1},
					 .capacity = {{750}, {450}},
					 .ceiling = 2};
	struct auc_posted_offer o = {.ask = {.arrival = 5000, .count = {1, 1}}};
	unsigned i;
	void *self;

	(void)state;
	for (int paper = 0; paper < 2; paper++) {
		terms.theta = paper ? AUC_POSTED_THETA_PAPER : AUC_POSTED_THETA_AUTO;
		assert_int_equal(sim_posted_bandit.create(&terms, &self, NULL), AUC_OK);
		for (i = 0; i < 300; i++) {
			sim_posted_bandit.offer(self, &o);
			if (o.price[0] > 0)
				break;
			sim_posted_bandit.answered(self, &o, true, true);
		}
		/* with I arrivals by slot 5000, n is twice that: a tenth of it is never reached but
		 * by the first */
		assert_int_equal(i, paper ? 300 : 0);
		if (!paper)
			assert_true(o.price[0] > 1.9 &&
				    o.price[0] <= 2); /* the ceiling is 2 credits */
		sim_posted_bandit.destroy(self);
	}
}

static void test_queue(void **state)
{
	struct auc_posted_queue q = {.n = 0};
	struct auc_posted_running r = {.completion = 0}, got;
	struct tiny_random luck = {9};
	auc_slot last = 0;
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		r.completion = tiny_int(&luck, 1, 50);
		r.id = i;
		assert_true(auc_posted_queue_push(&q, &r));
	}
	assert_false(auc_posted_queue_pop(&q, 0, &got));
	r.id = 0;
	while (auc_posted_queue_pop(&q, 50, &got)) {
		assert_true(got.completion > last || (got.completion == last && got.id > r.id));
		last = got.completion;
		r.id = got.id;
		n++;
	}
	assert_int_equal(n, 500);
	auc_posted_queue_clear(&q);
}

/* -- offers and answers -- */

static const char *const policies[] = {
	"posted",
	"posted,placement=upa,bandwidth=dynamic",
	"posted,variant=paper,theta=0.05",
	"posted,pricing=bandit",
	"posted,pricing=bandit,theta=0,placement=rs",
	"posted,pricing=top,placement=cha",
	"posted,pricing=random",
};

/* A market of 4 servers and 400 jobs; BUDGETS decides them. */
static struct scenario *make_scenario(uint64_t seed)
{
	static const char head[] =
		"{\"format\":\"auction-scenario/"
		"1\",\"name\":\"p\",\"slots\":200,\"slot_seconds\":10,\"worker_types\":["
		"{\"name\":\"w\",\"tres\":{\"gpu\":1,\"cpu\":2},\"bandwidth_mbps\":300},"
		"{\"name\":\"v\",\"tres\":{\"fpga\":1,\"cpu\":1},\"bandwidth_mbps\":500}],\"ps_"
		"types\":["
		"{\"name\":\"p\",\"tres\":{\"cpu\":1},\"bandwidth_mbps\":2000},"
		"{\"name\":\"q\",\"tres\":{\"mem\":1},\"bandwidth_mbps\":900}],\"servers\":["
		"{\"name\":\"a\",\"capacity\":{\"gpu\":4,\"fpga\":2,\"cpu\":12,\"mem\":4}},"
		"{\"name\":\"b\",\"capacity\":{\"gpu\":2,\"fpga\":6,\"cpu\":16,\"mem\":3}},"
		"{\"name\":\"c\",\"roles\":[\"ps\"],\"capacity\":{\"cpu\":6,\"mem\":5}},"
		"{\"name\":\"d\",\"capacity\":{\"gpu\":5,\"fpga\":5,\"cpu\":20,\"mem\":2}}],"
		"\"state\":[{\"server\":\"a\",\"tres\":\"gpu\",\"from\":50,\"to\":120,\"used\":3},"
		"{\"server\":\"d\",\"tres\":\"cpu\",\"from\":30,\"to\":35,\"used\":14}],\"jobs\":[";
	struct tiny_random r = {seed};
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	struct scenario *s;

	assert_non_null(out);
	fputs(head, out);
	for (unsigned i = 0; i < 400; i++) {
		fprintf(out,
			"%s{\"id\":\"j%u\",\"arrival\":%u,\"epochs\":%d,\"chunks\":3,"
			"\"minibatches\":1,\"gradient_mb\":%d,"
			"\"workers\":%d,\"ps\":%d,",
			i ? "," : "", i, 1 + i / 2, tiny_int(&r, 1, 20), tiny_int(&r, 1, 40),
			tiny_int(&r, 1, 6), tiny_int(&r, 1, 4));
		if (tiny_chance(&r, 0.7))
			fprintf(out, "\"compute_seconds_per_epoch\":%d,", tiny_int(&r, 1, 9));
		if (tiny_chance(&r, 0.1))
			fprintf(out, "\"upload_slots\":{\"%c\":%d},", "abcd"[tiny_int(&r, 0, 3)],
				tiny_int(&r, 1, 3));
		fprintf(out,
			"\"budget\":%.4f,\"worker_seconds\":{\"%s\":2},\"ps_seconds\":{\"%s\":0.5}"
			"}",
			2 * tiny_real(&r), tiny_chance(&r, 0.5) ? "w" : "v",
			tiny_chance(&r, 0.5) ? "p" : "q");
	}
	fputs("]}", out);
	fclose(out);
	s = corrupt_scenario(text);
	free(text);
	return s;
}

static void run(const struct scenario *s, const char *policy, uint64_t seed, struct result *result)
{
	struct auc_err err = {.text = ""};

	memset(result, 0, sizeof(*result));
	if (replay_run(s, policy, seed, NULL, NULL, result, &err) != AUC_OK)
		fail_msg("%s: %s", policy, err.text);
}

static bool same_offers(const struct result *a, const struct result *b)
{
	for (unsigned i = 0; i < a->njobs; i++)
		if (a->jobs[i].accepted != b->jobs[i].accepted ||
		    a->jobs[i].offered != b->jobs[i].offered ||
		    memcmp(a->jobs[i].offer, b->jobs[i].offer, sizeof(a->jobs[i].offer)) != 0 ||
		    a->jobs[i].plan.completion != b->jobs[i].plan.completion)
			return false;
	return true;
}

/* Whatever the budgets, as long as the answers are the same. */
static void test_private(void **state)
{
	struct scenario *s = make_scenario(1);
	struct tiny_random r = {77};
	struct result first, other;

	(void)state;
	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		for (unsigned round = 0; round < 5; round++) {
			unsigned answers[2] = {0, 0};

			run(s, policies[i], 1, &first);
			for (unsigned j = 0; j < s->njobs; j++) {
				const struct outcome *o = &first.jobs[j];
				double asked = s->jobs[j].workers * o->offer[0] +
					       s->jobs[j].ps * o->offer[1];

				if (!o->offered) {
					s->jobs[j].budget = 10 * tiny_real(&r);
				} else if (o->accepted) {
					s->jobs[j].budget = asked * 1.000001 + 10 * tiny_real(&r);
				} else {
					s->jobs[j].budget = asked * 0.999999 * tiny_real(&r);
				}
				answers[o->accepted] += o->offered;
			}
			run(s, policies[i], 1, &other);
			if (!same_offers(&first, &other))
				fail_msg("%s: offers depend on more than answers", policies[i]);
			assert_true(answers[0] > 20 && answers[1] > 20);
			/* and they do depend on those */
			for (unsigned j = 0; j < s->njobs; j += 3)
				s->jobs[j].budget = first.jobs[j].accepted ? 0 : 100;
			result_clear(&other);
			run(s, policies[i], 1, &other);
			assert_false(same_offers(&first, &other));
			result_clear(&first);
			result_clear(&other);
		}
	scenario_free(s);
}

/* Everything is checked by other code; sold ahead, shared TRES, roles and uploads included. */
static void test_checked(void **state)
{
	unsigned apart = 0, refused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct scenario *s = make_scenario(seed);
		struct result result;

		for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
			corrupt_none(s, policies[i]);
		run(s, "posted,bandwidth=dynamic", 1, &result);
		for (unsigned j = 0; j < result.njobs; j++) {
			apart += result.jobs[j].accepted && !result.jobs[j].plan.colocated;
			refused += result.jobs[j].reason == AUC_REASON_CAPACITY;
		}
		result_clear(&result);
		scenario_free(s);
	}
	assert_true(apart > 50 && refused > 50);
}

/* The first job of RESULT whose outcome is as asked. */
static unsigned find_job(const struct result *r, bool accepted, bool colocated,
			 enum auc_reason reason)
{
	for (unsigned i = 0; i < r->njobs; i++)
		if (r->jobs[i].accepted == accepted &&
		    (accepted ? r->jobs[i].plan.colocated == colocated
			      : r->jobs[i].reason == reason))
			return i;
	fail_msg("no such job");
	return 0;
}

/* A = one server, B = several, P = refused by the price, C = no room: the letter stands for the
 * job's index. */
static void test_corrupted(void **state)
{
	static const struct {
		char job;
		const char *key, *new, *says;
	} list[] = {
		{'A', "offer", NULL, "expected two unit prices"},
		{'A', "offer", "[1]", "prices of a worker and of a PS"},
		{'A', "offer", "[-1,1]", "offer[0]"},
		{'A', "offer", "[0.011,0.012]", "expected what was offered"},
		{'A', "payment", "0", "expected what was offered"},
		{'A', "value", "1e6", "expected the budget"},
		{'A', "payoff", "1e6", "value less payment"},
		{'A', "colocated", "false", "expected true"},
		{'A', "plan/0/workers", "{\"a\":9}", "workers and"},
		{'A', "plan/0/ps", "{}", "expected workers and PSs"},
		{'A', "plan/0/to", "199", "slots in these places"},
		{'A', "plan/0/from", "199", "slots in order"},
		{'A', "start", "200", "the plan's first slot"},
		{'A', "chunks", "[]", "expected none of this policy"},
		{'A', "worker_type", "\"x\"", "worker_type"},
		{'A', "accepted", "false", "expected price or capacity"},
		{'B', "colocated", "true", "expected false"},
		{'B', "plan/0/to", "199", "slots in these places"},
		{'P', "offer", NULL, "expected with reason price"},
		{'P', "offer", "[0,0]", "which is within the budget"},
		{'P', "value", NULL, "expected the budget"},
		{'P', "value", "1e6", "expected the budget"},
		{'P', "reason", "\"capacity\"", "expected with reason price and only there"},
		{'P', "reason", "\"payoff\"", "expected price or capacity"},
		{'P', "plan", "[]", "expected no schedule"},
		{'C', "reason", "\"price\"", "expected with reason price and only there"},
		{'C', "offer", "[1,1]", "expected with reason price and only there"},
		{'C', "value", "1", "else none"},
	};
	struct scenario *s = make_scenario(1);
	struct corruption c = {.policy = "posted"};
	struct result result;
	char pointer[80];

	(void)state;
	run(s, c.policy, 1, &result);
	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		snprintf(pointer, sizeof(pointer), "/jobs/%u/%s",
			 find_job(&result, list[i].job < 'C', list[i].job == 'A',
				  list[i].job == 'P' ? AUC_REASON_PRICE : AUC_REASON_CAPACITY),
			 list[i].key);
		c.pointer = pointer;
		c.new = list[i].new;
		c.says = list[i].says;
		corrupt_all(s, &c, 1);
	}
	result_clear(&result);
	scenario_free(s);
}

/* No offer to a job that there was room for; of uploads and shared TRES the check knows too little.
 */
static void test_no_offer(void **state)
{
	struct scenario *s = make_scenario(1);
	struct result result;
	struct json_object *root;
	char pointer[80], job[80], *said;
	unsigned found = 0, refused = 0;

	(void)state;
	run(s, "posted", 1, &result);
	for (unsigned i = 0; i < result.njobs && refused < cases(300, 40); i++) {
		if (result.jobs[i].accepted || result.jobs[i].reason != AUC_REASON_PRICE)
			continue;
		root = corrupt_result(s, "posted");
		snprintf(pointer, sizeof(pointer), "/jobs/%u", i);
		snprintf(job, sizeof(job),
			 "{\"id\":\"j%u\",\"accepted\":false,\"reason\":\"capacity\"}", i);
		corrupt_put(&root, pointer, job);
		said = NULL;
		if (corrupt_check(s, root, &said))
			found += strstr(said, "expected an offer") != NULL;
		refused++;
		free(said);
		json_object_put(root);
	}
	print_message("no offer where there was room: %u of %u found\n", found, refused);
	assert_true(found > 0 && 2 * found >= refused);
	result_clear(&result);
	scenario_free(s);
}

static void test_seeds(void **state)
{
	struct scenario *s = make_scenario(3);
	struct result a, b;

	(void)state;
	run(s, "posted", 1, &a);
	run(s, "posted", 1, &b);
	assert_true(same_offers(&a, &b));
	result_clear(&b);
	run(s, "posted", 2, &b);
	assert_false(same_offers(&a, &b));
	result_clear(&b);
	run(s, "posted,seed=1", 2, &b);
	assert_true(same_offers(&a, &b));
	result_clear(&a);
	result_clear(&b);
	scenario_free(s);
}

static void test_options(void **state)
{
	static const struct {
		const char *options, *says;
	} wrong[] = {
		{"pricing=dear", "'pricing=dear' is no option"},
		{"placement=", "'placement=' is no option"},
		{"colour=red", "'colour=red' is no option"},
		{"theta=2", "theta"},
		{"theta=", "theta"},
		{"ceiling=0", "ceiling"},
		{"seed=-1", "seed"},
		{"seed=1,,seed=2", "'' is no option"},
	};
	const struct auc_policy *p = &sim_policy_posted;
	struct auc_policy_ctx *ctx;
	struct result result = {0};
	struct scenario *s = make_scenario(1);
	struct auc_err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(p->create(wrong[i].options, &ctx, &err), AUC_EINVAL);
		assert_null(ctx);
		if (!strstr(err.text, wrong[i].says))
			fail_msg("%s: %s", wrong[i].options, err.text);
	}
	assert_int_equal(replay_run(s, "posted,fixed=0.1/0.2/0.3", 1, NULL, NULL, &result, &err),
			 AUC_EINVAL);
	assert_non_null(strstr(err.text, "'fixed=0.1/0.2/0.3' has 3 prices, expected 4, of 2 "
					 "worker types and 2 PS types"));
	result_clear(&result);
	assert_int_equal(
		replay_run(s, "posted,fixed=0.1/0.2/0.3/0.4/1", 1, NULL, NULL, &result, &err),
		AUC_EINVAL);
	assert_non_null(strstr(err.text, "has 5 prices, expected 4"));
	result_clear(&result);
	assert_int_equal(replay_run(s, "posted,pricing=fixed", 1, NULL, NULL, &result, &err),
			 AUC_EINVAL);
	assert_non_null(strstr(err.text, "has 0 prices, expected 4"));
	result_clear(&result);
	assert_int_equal(replay_run(s, "posted,fixed=0.1/x/0.3/0.4", 1, NULL, NULL, &result, &err),
			 AUC_EINVAL);
	assert_non_null(strstr(err.text, "fixed: 'x' is not a decimal number"));
	result_clear(&result);
	run(s, "posted,fixed=0.1/0.2/0.3/0.4", 1, &result);
	for (unsigned i = 0; i < s->njobs; i++)
		if (result.jobs[i].offered)
			assert_true(result.jobs[i].offer[0] ==
					    (s->jobs[i].worker_seconds->index ? 0.2 : 0.1) &&
				    result.jobs[i].offer[1] ==
					    (s->jobs[i].ps_seconds->index ? 0.4 : 0.3));
	result_clear(&result);
	s->jobs[7].budget = -1;
	assert_int_equal(replay_run(s, "posted", 1, NULL, NULL, &result, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "$.jobs[7]: expected the key budget"));
	result_clear(&result);
	scenario_free(s);
}

/* One type of either kind and two users at a time: what is best is found among all pairs of a fine
 * grid. */
static void test_best(void **state)
{
	struct tiny_random r = {31};
	double worst = INFINITY;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct posted_user users[12] = {{.budget = 0}};
		int32_t capacity[2][2] = {{6, 3}, {4, 4}};
		struct posted_world w = {.nservers = 2,
					 .ntypes = {1, 1},
					 .njobs = 12,
					 .slots = 40,
					 .slot_seconds = 1,
					 .bandwidth = {{100}, {100}},
					 .total = {{9}, {8}},
					 .capacity = {capacity[0], capacity[1]},
					 .users = users};
		struct posted_rules rules = {.placement = AUC_POSTED_PA};
		double prices[2], grid[2], most = 0;
		struct posted_run run = {.revenue = 0};

		for (unsigned i = 0; i < w.njobs; i++) {
			users[i].ask = (struct auc_posted_ask){
				.arrival = 1 + 2 * i, .epochs = tiny_int(&r, 1, 8), .seconds = 1};
			users[i].ask.count[0] = (unsigned)tiny_int(&r, 1, 4);
			users[i].ask.count[1] = (unsigned)tiny_int(&r, 1, 3);
			users[i].budget =
				(0.3 * users[i].ask.count[0] + 0.2 * users[i].ask.count[1]) *
				(0.5 + tiny_real(&r));
		}
		assert_int_equal(posted_world_best(&w, &rules, false, prices, NULL), AUC_OK);
		rules.fixed = grid;
		for (grid[0] = 0; grid[0] < 1; grid[0] += 0.02)
			for (grid[1] = 0; grid[1] < 1; grid[1] += 0.02) {
				assert_int_equal(posted_world_run(&w, &rules, &run, NULL), AUC_OK);
				most = fmax(most, run.revenue);
			}
		rules.fixed = prices;
		assert_int_equal(posted_world_run(&w, &rules, &run, NULL), AUC_OK);
		if (run.revenue < 0.85 * most)
			fail_msg("round %u: %g of %g", round, run.revenue, most);
		worst = fmin(worst, run.revenue / most);
	}
	print_message("fixed prices found: at least %.3f of the grid's best\n", worst);
}

/* Nelder and Mead's prices are not below 0, also where jobs are longer than all slots. */
static void test_simplex_short(void **state)
{
	(void)state;
	for (unsigned slots = 1; slots <= 4; slots++) {
		int32_t capacity[2][1] = {{9}, {8}};
		struct posted_user users[3];
		struct posted_world w = {.nservers = 1,
					 .ntypes = {1, 1},
					 .njobs = 3,
					 .slots = slots,
					 .slot_seconds = 1,
					 .bandwidth = {{100}, {100}},
					 .total = {{9}, {8}},
					 .capacity = {capacity[0], capacity[1]},
					 .users = users};
		struct posted_rules rules = {.placement = AUC_POSTED_PA};
		double prices[2];

		for (unsigned i = 0; i < w.njobs; i++)
			users[i] = (struct posted_user){.ask = {.arrival = 1,
								.epochs = 2 + i,
								.seconds = 1,
								.count = {1, 1}},
							.budget = 1 + i};
		assert_int_equal(posted_world_best(&w, &rules, true, prices, NULL), AUC_OK);
		for (unsigned k = 0; k < 2; k++)
			if (!(prices[k] >= 0 && prices[k] <= 3))
				fail_msg("%u slots: price %u is %g", slots, k, prices[k]);
	}
}

/* The market of N WORDS in *W, and its scenario. */
static struct scenario *make_market(const char *const *words, unsigned n, struct posted_world *w)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	struct auc_err err = {.text = ""};
	struct scenario *s;

	assert_non_null(out);
	assert_int_equal(gen_write(gen_find("posted"), (char *const *)words, n, 4, NULL, out, &err),
			 AUC_OK);
	fclose(out);
	s = corrupt_scenario(text);
	free(text);
	assert_int_equal(posted_world_open(s, 0, 1, w, &err), AUC_OK);
	return s;
}

/* The fast world and the market's replay come to the same. */
static void test_worlds_agree(void **state)
{
	static const char *const words[] = {"servers=6",      "slots=300",  "jobs=500",
					    "worker_types=3", "ps_types=2", "load=2"};
	static const struct {
		const char *policy;
		struct posted_rules rules;
	} runs[] = {
		{"posted,seed=3", {.pricing = &auc_posted_shared, .seed = 3}},
		{"posted,pricing=bandit,placement=upa,bandwidth=dynamic",
		 {.pricing = &sim_posted_bandit,
		  .placement = AUC_POSTED_UPA,
		  .dynamic = true,
		  .theta = AUC_POSTED_THETA_AUTO}},
		{"posted,variant=paper,theta=0.05,placement=cha",
		 {.pricing = &sim_posted_bandit,
		  .placement = SIM_POSTED_CHA,
		  .paper = true,
		  .theta = 0.05}},
		{"posted,pricing=top", {.pricing = &sim_posted_top}},
	};
	struct auc_err err = {.text = ""};
	struct posted_world w;
	struct scenario *s = make_market(words, 6, &w);

	(void)state;
	for (unsigned i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct posted_run fast = {.price = calloc(w.njobs, sizeof(double))};
		struct result slow;

		run(s, runs[i].policy, 1, &slow);
		assert_int_equal(posted_world_run(&w, &runs[i].rules, &fast, &err), AUC_OK);
		assert_int_equal(slow.accepted, fast.accepted);
		assert_true(fabs(slow.revenue - fast.revenue) <= 1e-9 * slow.revenue);
		for (unsigned k = 0; k < w.njobs; k++)
			assert_int_equal(!isnan(fast.price[k]),
					 slow.jobs[w.users[k].index].offered);
		free(fast.price);
		result_clear(&slow);
	}
	posted_world_close(&w);
	corrupt_none(s, "bfp");
	corrupt_none(s, "bfp,fit=simplex,placement=upa,bandwidth=dynamic");
	scenario_free(s);
}

/* What W's last jobs, a quarter of the horizon, paid. */
static double late_revenue(const struct posted_world *w, struct posted_rules rules)
{
	struct posted_run run = {.earned = calloc((size_t)w->slots, sizeof(double))};
	unsigned slots = (unsigned)w->slots;
	double late;

	assert_non_null(run.earned);
	assert_int_equal(posted_world_run(w, &rules, &run, NULL), AUC_OK);
	late = run.earned[slots - 1] - run.earned[slots - slots / 4 - 1];
	free(run.earned);
	return late;
}

/* Budgets become half or twice what they were, in the middle: a quarter of the horizon later prices
 * have followed. Against them: the fixed prices that are best without a shift, times that. Offers
 * that do not follow earn nothing, or half. */
static void test_shifts(void **state)
{
	static const double factors[] = {1, 0.5, 2};
	struct posted_rules fixed = {.placement = AUC_POSTED_PA},
			    shared = {.pricing = &auc_posted_shared, .seed = 5};
	double prices[2 * AUC_TYPES_MAX], part;
	struct posted_world w;
	char shift[32];
	const char *words[] = {"servers=10", "slots=4000", "jobs=4000",     "worker_types=3",
			       "ps_types=2", "load=0.5",   "budget=normal", shift};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		snprintf(shift, sizeof(shift), "shift=%g", factors[i]);
		scenario_free(make_market(words, 8, &w));
		if (!i)
			assert_int_equal(posted_world_best(&w, &fixed, false, prices, NULL),
					 AUC_OK);
		for (unsigned k = 0; k < w.ntypes[0] + w.ntypes[1]; k++)
			prices[k] *= factors[i] / (i ? factors[i - 1] : 1);
		fixed.fixed = prices;
		part = late_revenue(&w, shared) / late_revenue(&w, fixed);
		print_message("%s: %.3f of fixed prices\n", shift, part);
		assert_true(part > 0.85);
		fixed.fixed = NULL;
		posted_world_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_placements),   cmocka_unit_test(test_many_servers),
		cmocka_unit_test(test_bandit),       cmocka_unit_test(test_bandit_by_hand),
		cmocka_unit_test(test_theta),        cmocka_unit_test(test_queue),
		cmocka_unit_test(test_private),      cmocka_unit_test(test_checked),
		cmocka_unit_test(test_corrupted),    cmocka_unit_test(test_no_offer),
		cmocka_unit_test(test_seeds),        cmocka_unit_test(test_options),
		cmocka_unit_test(test_best),         cmocka_unit_test(test_simplex_short),
		cmocka_unit_test(test_worlds_agree), cmocka_unit_test(test_shifts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
