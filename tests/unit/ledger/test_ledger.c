/*
 * test_ledger.c - random operations on a ledger: the money always adds up, the market is always
 * sound, and what the events say, replayed at any point, is the same ledger; so is a dump. Then the
 * rules of single operations, and moving to another market.
 */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "ledger/ledger.h"
#include "ledger/receipt.h"
#include "unit/support/splitmix.h"
#include "unit/support/sound.h"

#define SLOTS   24
#define SERVERS 4

static struct auc_err err;
static uint64_t seed;

static unsigned below(unsigned n)
{
	return (unsigned)(splitmix(&seed) % n);
}

static struct auc_market *make_market(unsigned nservers, double gpus, auc_slot first, bool reversed)
{
	static const struct auc_named worker[] = {{"cpu", 2}, {"gpu", 0.5}},
				      big[] = {{"cpu", 4}, {"gpu", 1}};
	static const struct auc_named ps[] = {{"cpu", 1}};
	struct auc_named capacity[] = {{"cpu", 12}, {"gpu", gpus}};
	struct auc_price price = {.neta = 2, .eta = {{"cpu", 3}, {"gpu", 20}}};
	struct auc_market *m = auc_market_create(SLOTS, 60, first);
	char name[16];

	assert_non_null(m);
	if (reversed)
		assert_int_equal(auc_market_add_worker_type(m, "big", big, 2, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_worker_type(m, "small", worker, 2, 1000, &err), AUC_OK);
	if (!reversed)
		assert_int_equal(auc_market_add_worker_type(m, "big", big, 2, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "ps", ps, 1, 1000, &err), AUC_OK);
	for (unsigned i = 0; i < nservers; i++) {
		snprintf(name, sizeof(name), "s%u", reversed ? nservers - 1 - i : i);
		assert_int_equal(auc_market_add_server(m, name, "g", false,
						       AUC_ROLE_WORKER | AUC_ROLE_PS, 0, capacity,
						       2, &err),
				 AUC_OK);
	}
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	return m;
}

static void keep_event(void *arg, struct json_object *event)
{
	json_object_array_add(arg, event);
}

/* A plan that may or may not fit: a few workers and PSs here and there. */
static void random_plan(const struct auc_market *m, struct auc_plan *p)
{
	auc_slot from = auc_market_first(m) + below(SLOTS), to = from + below(6);
	unsigned lead = below(SERVERS);

	auc_plan_reset(p);
	if (to > auc_market_last(m))
		to = auc_market_last(m);
	p->worker_type = below(2);
	p->ps_type = 0;
	p->arrival = p->start = from;
	p->completion = to + 1;
	p->value = (double)below(1000000) / 997;
	p->cost = p->value * below(1000) / 999;
	assert_int_equal(auc_plan_add_run(p, from, to, &err), AUC_OK);
	/* One in four is a gang's. */
	if (!below(4)) {
		p->gang = true;
		p->worker_type = 0;
		p->shape = below(AUC_SHAPES_MAX);
		p->within_switch = below(2);
		p->amount[0] = 1 + below(4);
		p->amount[1] = below(5) / 4.0;
	}
	for (unsigned s = 0; s < SERVERS; s++) {
		if (p->gang) {
			if (s == lead || below(2))
				assert_int_equal(auc_plan_add_share(p, s, 1, 0, &err), AUC_OK);
			continue;
		}
		unsigned workers = s == lead ? 1 + below(2) : below(2);

		if (workers || s == lead)
			assert_int_equal(auc_plan_add_share(p, s, workers, s == lead, &err),
					 AUC_OK);
	}
}

static void assert_same_text(struct json_object *x, struct json_object *y)
{
	assert_string_equal(json_object_to_json_string_ext(x, JSON_C_TO_STRING_PLAIN),
			    json_object_to_json_string_ext(y, JSON_C_TO_STRING_PLAIN));
}

static struct json_object *dump(const struct auc_ledger *l)
{
	struct json_object *records = json_object_new_array();

	assert_int_equal(auc_ledger_dump(l, keep_event, records, &err), AUC_OK);
	return records;
}

static void apply_all(struct auc_ledger *l, struct json_object *events)
{
	for (size_t i = 0; i < json_object_array_length(events); i++)
		if (auc_ledger_apply(l, json_object_array_get_idx(events, i), &err) != AUC_OK)
			fail_msg("%s", err.text);
}

/* Both markets say the same of every cell in the window, of sales; LIENS of the first are taken off
 * before. */
static void assert_same_use(const struct auc_market *x, const struct auc_market *y)
{
	for (unsigned s = 0; s < auc_market_nservers(x); s++)
		for (unsigned k = 0; k < auc_market_ntres(x); k++)
			for (auc_slot t = auc_market_first(x); t <= auc_market_last(x); t++)
				assert_true(auc_market_used(x, s, k, t) ==
					    auc_market_used(y, s, k, t));
}

/* EVENTS, applied to an empty ledger, give what L has, to the last byte of its dump; and so do the
 * dump's own records. */
static void assert_replays(struct auc_ledger *l, struct auc_market *m, struct json_object *events,
			   bool no_liens)
{
	struct json_object *expected = dump(l), *got;

	for (int from_dump = 0; from_dump < 2; from_dump++) {
		struct auc_market *m2 = make_market(SERVERS, 2, auc_market_first(m), false);
		struct auc_ledger *l2 = auc_ledger_create(m2, NULL, NULL);

		apply_all(l2, from_dump ? expected : events);
		assert_int_equal(auc_ledger_check(l2, &err), AUC_OK);
		got = dump(l2);
		assert_same_text(expected, got);
		json_object_put(got);
		/* Booked anew in order, every sale fits: the market is what it was. */
		struct auc_market *m3 = make_market(SERVERS, 2, auc_market_first(m), true);

		/* A settled sale's slots before its end stay booked until they pass; a dump has
		 * forgotten it. */
		if (no_liens && !from_dump)
			assert_same_use(m, m2);
		assert_int_equal(auc_ledger_rebase(l2, m3, &err), AUC_OK);
		assert_true(auc_market_sound(m3));
		auc_ledger_destroy(l2);
		auc_market_destroy(m2);
		auc_market_destroy(m3);
	}
	json_object_put(expected);
}

/* Of all that the agent is told of the sales. */
static uint64_t sum_of_sales(const struct auc_ledger *l)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	char text[AUC_SALE_ID_LEN + 64];

	for (unsigned i = 0; i < auc_ledger_count(l); i++) {
		const struct auc_sale *s = auc_ledger_at(l, i);

		snprintf(text, sizeof(text), "%s %d %u %u;", s->id, (int)s->state, s->job_id,
			 s->revision);
		for (const char *c = text; *c; c++)
			sum = (sum ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	}
	return sum;
}

static void assert_limits(const struct auc_books *b)
{
	for (unsigned i = 0; i < auc_books_count(b); i++) {
		const struct auc_account *a = auc_books_at(b, i);

		assert_true(!a->limited || a->debits + a->pending <= a->credits);
	}
}

/* NULL, a user, or an account and its parent. */
static const struct auc_payers *random_payers(struct auc_payers *p)
{
	char name[AUC_ACCOUNT_LEN];

	memset(p, 0, sizeof(*p));
	switch (below(3)) {
	case 0:
		snprintf(name, sizeof(name), "user:%u", 1000 + below(3));
		return auc_payers_add(p, name) ? p : NULL;
	case 1:
		snprintf(name, sizeof(name), "account:child%u", below(3));
		return auc_payers_add(p, name) && auc_payers_add(p, "account:parent") ? p : NULL;
	default:
		return NULL;
	}
}

static void random_transfer(struct auc_ledger *l, unsigned step)
{
	static const char *const accounts[] = {"user:1000", "user:1001", "account:child0",
					       "account:child1", "account:parent"};
	struct auc_transfer t = {.code = below(AUC_TRANSFER_NCODES),
				 .amount = below(2000) * AUC_CREDIT,
				 .when = 1 + step,
				 .period = below(10)};
	enum auc_code rc;

	snprintf(t.id, sizeof(t.id), "t%u", step);
	snprintf(t.account, sizeof(t.account), "%s", accounts[below(5)]);
	rc = auc_ledger_transfer(l, &t, &err);
	assert_true(rc == AUC_OK || rc == AUC_ELIMIT || rc == AUC_ENOENT || rc == AUC_EEXIST);
}

/* Another plan, for more money, or one slot more of the same. */
static void change_one(struct auc_ledger *l, const struct auc_market *m, const struct auc_sale *s,
		       struct auc_plan *plan)
{
	enum auc_code rc;

	if (!s || !s->job_id)
		return;
	if (below(2)) {
		random_plan(m, plan);
	} else {
		assert_int_equal(auc_plan_copy(plan, &s->plan, &err), AUC_OK);
		if (plan->completion > auc_market_last(m))
			return; /* not for sale yet */
		plan->runs[plan->nruns - 1].to = plan->completion++;
	}
	rc = auc_ledger_change(l, s->job_id, plan, s->value,
			       s->payment + (s->value - s->payment) / 3, &err);
	assert_true(rc == AUC_OK || rc == AUC_EFULL || rc == AUC_ELIMIT);
}

static void random_life(unsigned steps)
{
	struct json_object *events = json_object_new_array();
	struct auc_market *m = make_market(SERVERS, 2, 100, false);
	struct auc_ledger *l = auc_ledger_create(m, keep_event, events);
	char id[AUC_SALE_ID_LEN];
	struct auc_plan plan;
	uint64_t edition = auc_ledger_edition(l), sum = sum_of_sales(l);
	uint32_t next_job = 1;
	double now = 0;

	auc_plan_init(&plan);
	for (unsigned step = 0; step < steps; step++) {
		unsigned n = auc_ledger_count(l);
		const struct auc_sale *s = n ? auc_ledger_at(l, below(n)) : NULL;
		bool liens = false;

		switch (below(13)) {
		case 0:
		case 1:
		case 2: {
			struct auc_payers payers;

			random_plan(m, &plan);
			enum auc_code rc =
				auc_ledger_hold(l, &plan, "dps", "bid=1", 1000 + below(3),
						random_payers(&payers), now + below(20), id, &err);

			assert_true(rc == AUC_OK || rc == AUC_EFULL || rc == AUC_ELIMIT);
			break;
		}
		case 3:
		case 4:
			if (s && s->state == AUC_SALE_LIEN)
				assert_int_equal(auc_ledger_confirm(l, s->id, next_job++, &err),
						 AUC_OK);
			break;
		case 5:
			if (s && s->job_id)
				assert_int_equal(auc_ledger_start(l, s->job_id, now, &err), AUC_OK);
			break;
		case 6:
			if (s && s->job_id)
				assert_int_equal(
					auc_ledger_settle(l, s->job_id, s->plan.start + below(8),
							  (auc_money)(splitmix(&seed) %
								      (uint64_t)(s->payment + 1)),
							  "completed", &err),
					AUC_OK);
			break;
		case 7:
			if (s && s->state == AUC_SALE_LIEN)
				assert_int_equal(auc_ledger_drop(l, s->id, &err), AUC_OK);
			break;
		case 8:
			auc_ledger_refuse(l, "payoff");
			break;
		case 9:
			now += below(10);
			auc_ledger_lapse(l, now, 1e9);
			auc_market_advance(m, auc_market_first(m) + below(2));
			break;
		case 10:
			change_one(l, m, s, &plan);
			break;
		case 11:
		case 12:
			random_transfer(l, step);
			break;
		}
		assert_true(auc_market_sound(m));
		assert_int_equal(auc_ledger_check(l, &err), AUC_OK);
		assert_int_equal(auc_books_check(auc_ledger_books(l), &err), AUC_OK);
		assert_limits(auc_ledger_books(l));
		assert_true(sum_of_sales(l) == sum || auc_ledger_edition(l) != edition);
		edition = auc_ledger_edition(l);
		sum = sum_of_sales(l);
		assert_true(auc_ledger_edition(l) == edition);
		for (unsigned i = 0; i < auc_ledger_count(l); i++)
			liens |= auc_ledger_at(l, i)->state == AUC_SALE_LIEN;
		if (step % 16 == 15)
			assert_replays(l, m, events, !liens);
	}
	auc_plan_clear(&plan);
	auc_ledger_destroy(l);
	auc_market_destroy(m);
	json_object_put(events);
}

static void test_random_lives(void **state)
{
	(void)state;
	for (seed = 0; seed < 150; seed++) {
		uint64_t kept = seed;

		random_life(200);
		seed = kept;
	}
}

/* A lien of 2 small workers and a PS on server 0, slots 101 to 104, worth 10, for 4. */
static void simple_plan(struct auc_plan *p)
{
	auc_plan_init(p);
	p->arrival = p->start = 101;
	p->completion = 105;
	p->value = 10;
	p->cost = 4;
	assert_int_equal(auc_plan_add_run(p, 101, 104, &err), AUC_OK);
	assert_int_equal(auc_plan_add_share(p, 0, 2, 1, &err), AUC_OK);
}

static void test_rules(void **state)
{
	struct auc_market *m = make_market(SERVERS, 2, 100, false);
	struct auc_ledger *l = auc_ledger_create(m, NULL, NULL);
	char id[AUC_SALE_ID_LEN], other[AUC_SALE_ID_LEN];
	const struct auc_totals *t;
	struct auc_plan plan;

	(void)state;
	simple_plan(&plan);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 50, id, &err), AUC_OK);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 60, other, &err),
			 AUC_OK);
	assert_string_not_equal(id, other);
	assert_int_equal(auc_ledger_find(l, id)->payment, 4 * AUC_CREDIT);
	/* Two more small workers of the same server fit (GPU 2), a fifth PS pair does not (four are
	 * booked). */
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 60, other, &err),
			 AUC_EFULL);
	assert_int_equal(auc_ledger_lapse(l, 49.9, 1e9), 0);
	assert_int_equal(auc_ledger_lapse(l, 50, 1e9), 1);
	assert_int_equal(auc_ledger_confirm(l, id, 1, &err), AUC_ENOENT);
	snprintf(id, sizeof(id), "%s", auc_ledger_at(l, 0)->id);
	assert_int_equal(auc_ledger_confirm(l, id, 0, &err), AUC_EINVAL);
	assert_int_equal(auc_ledger_settle(l, 0, 0, 0, "lost", &err), AUC_ENOENT);
	assert_int_equal(auc_ledger_confirm(l, id, 1, &err), AUC_OK);
	assert_int_equal(auc_ledger_confirm(l, id, 1, &err), AUC_OK);
	assert_int_equal(auc_ledger_confirm(l, id, 2, &err), AUC_ESTATE);
	assert_int_equal(auc_ledger_drop(l, id, &err), AUC_ESTATE);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 60, other, &err),
			 AUC_OK);
	assert_int_equal(auc_ledger_confirm(l, other, 1, &err), AUC_EEXIST);
	assert_int_equal(auc_ledger_drop(l, other, &err), AUC_OK);
	assert_int_equal(auc_ledger_drop(l, other, &err), AUC_ENOENT);
	assert_int_equal(auc_ledger_settle(l, 1, 103, 5 * AUC_CREDIT, "completed", &err),
			 AUC_EINVAL);
	assert_int_equal(auc_ledger_settle(l, 1, 103, -1, "completed", &err), AUC_EINVAL);
	assert_int_equal(auc_ledger_settle(l, 1, 103, AUC_CREDIT, "completed", &err), AUC_OK);
	assert_true(auc_market_used(m, 0, 0, 102) == 5);
	assert_true(auc_market_used(m, 0, 0, 103) == 0);
	t = auc_ledger_totals(l);
	assert_int_equal(t->charged, 4 * AUC_CREDIT);
	assert_int_equal(t->refunded, AUC_CREDIT);
	assert_int_equal(t->settled_revenue, 3 * AUC_CREDIT);
	assert_int_equal(t->lapsed, 2);
	assert_int_equal(t->bids, 3);
	auc_plan_clear(&plan);
	auc_ledger_destroy(l);
	auc_market_destroy(m);
}

static void test_change(void **state)
{
	struct auc_market *m = make_market(SERVERS, 2, 100, false);
	struct auc_ledger *l = auc_ledger_create(m, NULL, NULL);
	char id[AUC_SALE_ID_LEN], other[AUC_SALE_ID_LEN];
	struct auc_plan plan;

	(void)state;
	simple_plan(&plan);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 50, id, &err), AUC_OK);
	assert_int_equal(auc_ledger_change(l, 1, &plan, 9 * AUC_CREDIT, 5 * AUC_CREDIT, &err),
			 AUC_ENOENT);
	assert_int_equal(auc_ledger_confirm(l, id, 1, &err), AUC_OK);
	assert_int_equal(auc_ledger_change(l, 1, &plan, 9 * AUC_CREDIT, 3 * AUC_CREDIT, &err),
			 AUC_EINVAL);
	assert_int_equal(auc_ledger_change(l, 1, &plan, 9 * AUC_CREDIT, 10 * AUC_CREDIT, &err),
			 AUC_EINVAL);
	/* A plan that nobody could read back. */
	plan.completion++;
	assert_int_equal(auc_ledger_change(l, 1, &plan, 9 * AUC_CREDIT, 5 * AUC_CREDIT, &err),
			 AUC_EINVAL);
	assert_non_null(strstr(err.text, "do not agree with the runs"));
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=1", 5, NULL, 50, other, &err),
			 AUC_EINVAL);
	plan.completion--;
	assert_int_equal(auc_ledger_find(l, id)->payment, 4 * AUC_CREDIT);
	assert_int_equal(auc_ledger_find(l, id)->revision, 0);
	assert_int_equal(auc_ledger_count(l), 1);
	/* Somebody has server 0 in slot 105, so that a fifth slot does not fit; all is as it was.
	 */
	plan.runs[0].from = plan.start = plan.arrival = 105;
	plan.runs[0].to = 105;
	plan.completion = 106;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			auc_ledger_hold(l, &plan, "dps", "bid=1", 5, NULL, 50, other, &err),
			AUC_OK);
	}
	plan.runs[0].from = plan.start = plan.arrival = 101;
	assert_int_equal(auc_ledger_change(l, 1, &plan, 9 * AUC_CREDIT, 5 * AUC_CREDIT, &err),
			 AUC_EFULL);
	assert_int_equal(auc_ledger_find(l, id)->payment, 4 * AUC_CREDIT);
	assert_int_equal(auc_ledger_find(l, id)->revision, 0);
	assert_true(auc_market_used(m, 0, 0, 104) == 5 && auc_market_used(m, 0, 0, 105) == 10);
	/* On the next server it fits, the whole of it. */
	plan.shares[0].server = 1;
	assert_int_equal(auc_ledger_change(l, 1, &plan, 9 * AUC_CREDIT, 5 * AUC_CREDIT, &err),
			 AUC_OK);
	assert_int_equal(auc_ledger_find(l, id)->revision, 1);
	assert_true(auc_market_used(m, 0, 0, 104) == 0 && auc_market_used(m, 1, 0, 105) == 5);
	assert_int_equal(auc_ledger_totals(l)->charged, 5 * AUC_CREDIT);
	assert_int_equal(auc_ledger_check(l, &err), AUC_OK);
	auc_plan_clear(&plan);
	auc_ledger_destroy(l);
	auc_market_destroy(m);
}

static void test_adopt(void **state)
{
	struct auc_market *m = make_market(SERVERS, 2, 100, false),
			  *m2 = make_market(SERVERS, 2, 100, true);
	struct auc_ledger *l = auc_ledger_create(m, NULL, NULL),
			  *l2 = auc_ledger_create(m2, NULL, NULL);
	char id[AUC_SALE_ID_LEN], *text, *again;
	struct auc_plan plan;
	struct auc_sale sale;

	(void)state;
	simple_plan(&plan);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 50, id, &err), AUC_OK);
	text = auc_receipt_print(auc_ledger_find(l, id), m, NULL, 0, NULL);
	assert_int_equal(auc_receipt_to_sale(text, m2, NULL, &sale, &err), AUC_OK);
	assert_int_equal(auc_ledger_adopt(l2, &sale, &err), AUC_EINVAL); /* a lien, and of no job */
	sale.job_id = 9;
	sale.state = AUC_SALE_SOLD;
	assert_int_equal(auc_ledger_adopt(l2, &sale, &err), AUC_OK);
	assert_int_equal(auc_ledger_adopt(l2, &sale, &err), AUC_EEXIST);
	assert_int_equal(auc_ledger_totals(l2)->charged, 4 * AUC_CREDIT);
	assert_true(auc_market_used(m2, SERVERS - 1, 0, 104) ==
		    5); /* server s0 is the last of this one */
	strcpy(sale.id, "other-1");
	assert_int_equal(auc_ledger_adopt(l2, &sale, &err), AUC_EEXIST); /* the job */
	sale.job_id = 10;
	assert_int_equal(auc_ledger_adopt(l2, &sale, &err), AUC_OK);
	strcpy(sale.id, "other-2");
	sale.job_id = 11;
	assert_int_equal(auc_ledger_adopt(l2, &sale, &err), AUC_EFULL);
	assert_int_equal(auc_ledger_count(l2), 2);
	assert_int_equal(auc_ledger_check(l2, &err), AUC_OK);
	assert_int_equal(auc_ledger_confirm(l, id, 9, &err), AUC_OK);
	again = auc_receipt_print(auc_ledger_find_job(l, 9), m, NULL, 0, NULL);
	free(text);
	text = auc_receipt_print(auc_ledger_find_job(l2, 9), m2, NULL, 0, NULL);
	assert_string_equal(text, again);
	free(text);
	free(again);
	auc_sale_clear(&sale);
	auc_plan_clear(&plan);
	auc_ledger_destroy(l);
	auc_ledger_destroy(l2);
	auc_market_destroy(m);
	auc_market_destroy(m2);
}

static void test_rebase_misfit(void **state)
{
	struct auc_market *m = make_market(SERVERS, 2, 100, false);
	struct auc_market *less = make_market(SERVERS, 1, 100, true),
			  *fewer = make_market(2, 2, 100, false);
	struct auc_ledger *l = auc_ledger_create(m, NULL, NULL);
	char id[AUC_SALE_ID_LEN], lien[AUC_SALE_ID_LEN];
	struct json_object *before, *after;
	struct auc_plan plan;

	(void)state;
	simple_plan(&plan);
	assert_int_equal(auc_plan_add_share(&plan, 3, 2, 0, &err), AUC_OK);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 50, id, &err), AUC_OK);
	assert_int_equal(auc_ledger_confirm(l, id, 1, &err), AUC_OK);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=10", 5, NULL, 50, lien, &err),
			 AUC_OK);
	before = dump(l);
	/* A server is gone: nothing changes. */
	assert_int_equal(auc_ledger_rebase(l, fewer, &err), AUC_ENOENT);
	assert_non_null(strstr(err.text, id));
	after = dump(l);
	assert_same_text(before, after);
	json_object_put(after);
	/* One GPU a server: the sale's two workers on s0 and on s3 fit (0.5 each), the lien beside
	 * it does not and goes. */
	assert_int_equal(auc_ledger_rebase(l, less, &err), AUC_OK);
	assert_null(auc_ledger_find(l, lien));
	after = dump(l);
	assert_int_equal(auc_ledger_totals(l)->lapsed, 1);
	json_object_put(after);
	assert_true(auc_market_used(less, 0, 1, 104) == 1);
	auc_market_destroy(m);
	/* Half a GPU: neither share fits; the sale stays, unbooked, and can be settled. */
	m = make_market(SERVERS, 0.5, 100, false);
	assert_int_equal(auc_ledger_rebase(l, m, &err), AUC_EFULL);
	assert_non_null(strstr(err.text, "1 sale no longer fits"));
	assert_true(auc_market_used(m, 0, 0, 104) == 0);
	assert_true(auc_market_sound(m));
	auc_market_destroy(less);
	/* And back: booked again whole. */
	less = make_market(SERVERS, 2, 100, false);
	assert_int_equal(auc_ledger_rebase(l, less, &err), AUC_OK);
	assert_true(auc_market_used(less, 0, 0, 104) == 5 && auc_market_used(less, 3, 0, 104) == 4);
	assert_int_equal(auc_ledger_settle(l, 1, 100, 0, "completed", &err), AUC_OK);
	assert_true(auc_market_used(less, 0, 0, 104) == 0 && auc_market_used(less, 3, 0, 104) == 0);
	json_object_put(before);
	auc_plan_clear(&plan);
	auc_ledger_destroy(l);
	auc_market_destroy(m);
	auc_market_destroy(less);
	auc_market_destroy(fewer);
}

#define MANY 700

/* All of many sales are found by name and by job, in order of sale, while others go. */
static void test_many(void **state)
{
	struct auc_market *m = make_market(SERVERS, 1000, 100, false);
	struct auc_ledger *l = auc_ledger_create(m, NULL, NULL);
	static char id[MANY][AUC_SALE_ID_LEN];
	static bool there[MANY];
	struct auc_plan plan;
	uint32_t last;

	(void)state;
	seed = 7;
	auc_plan_init(&plan);
	plan.arrival = plan.start = 100;
	plan.completion = 101;
	plan.value = 2;
	plan.cost = 1;
	/* Nothing is left to be booked, so any number fits. */
	assert_int_equal(auc_plan_add_run(&plan, 100, 100, &err), AUC_OK);
	assert_int_equal(auc_plan_add_share(&plan, 0, 1, 1, &err), AUC_OK);
	auc_market_advance(m, 101);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(
			auc_ledger_hold(l, &plan, "dps", "bid=2", 5, NULL, 50 + i, id[i], &err),
			AUC_OK);
	/* Sold from the last to the first, with jobs that are far apart and have equal buckets. */
	for (uint32_t i = MANY; i-- > 0;)
		assert_int_equal(auc_ledger_confirm(l, id[i], 1 + 4096 * i, &err), AUC_OK);
	assert_int_equal(auc_ledger_lapse(l, 1e9, 1e9), 0);
	for (unsigned i = 0; i < MANY; i++)
		there[i] = true;
	for (unsigned round = 0; round < MANY; round++) {
		unsigned gone = below(MANY);

		assert_int_equal(auc_ledger_settle(l, 1 + 4096 * gone, 0, 0, "lost", &err),
				 there[gone] ? AUC_OK : AUC_ENOENT);
		there[gone] = false;
		for (unsigned i = 0; i < MANY; i += 1 + below(40)) {
			assert_true(!auc_ledger_find(l, id[i]) == !there[i]);
			assert_true(!auc_ledger_find_job(l, 1 + 4096 * i) == !there[i]);
			if (there[i])
				assert_ptr_equal(auc_ledger_find(l, id[i]),
						 auc_ledger_find_job(l, 1 + 4096 * i));
		}
	}
	last = UINT32_MAX;
	for (unsigned i = 0; i < auc_ledger_count(l); i++) {
		assert_true(auc_ledger_at(l, i)->job_id < last);
		last = auc_ledger_at(l, i)->job_id;
	}
	assert_int_equal(auc_ledger_check(l, &err), AUC_OK);
	assert_int_equal(auc_ledger_totals(l)->settled + auc_ledger_count(l), MANY);

	/* Liens lapse in order of their times, not of their making. */
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=2", 5, NULL, 90, id[0], &err),
			 AUC_OK);
	assert_int_equal(auc_ledger_hold(l, &plan, "dps", "bid=2", 5, NULL, 70, id[1], &err),
			 AUC_OK);
	assert_int_equal(auc_ledger_lapse(l, 69, 1e9), 0);
	assert_int_equal(auc_ledger_lapse(l, 70, 1e9), 1);
	assert_non_null(auc_ledger_find(l, id[0]));
	assert_int_equal(auc_ledger_lapse(l, 89, 1e9), 0);
	assert_int_equal(auc_ledger_lapse(l, 90, 1e9), 1);
	assert_null(auc_ledger_find(l, id[0]));
	auc_ledger_destroy(l);
	auc_market_destroy(m);
	auc_plan_clear(&plan);
}

/* Every event with a key missing, of another type or out of range is refused, and nothing changes.
 */
static void test_bad_events(void **state)
{
	static const char *const bad[] = {
		"{}",
		"{\"event\":1}",
		"{\"event\":\"bought\"}",
		"{\"event\":\"sold\"}",
		"{\"event\":\"running\",\"sale\":\"x-1\"}",
		"{\"event\":\"settled\",\"sale\":\"x-1\",\"free_from\":1,\"refund\":\"0.000000\","
		"\"kept\":\"1.000000\"}",
		"{\"event\":\"totals\",\"bids\":-1}",
		"{\"event\":\"totals\",\"bids\":1,\"refused\":1,\"lapsed\":0,\"sold\":0,"
		"\"settled\":0,\"charged\":\"1\"}",
		"{\"event\":\"totals\",\"bids\":1,\"refused\":1,\"lapsed\":0,\"sold\":0,"
		"\"settled\":0,\"charged\":\"-1.000000\"}",
		"{\"event\":\"totals\",\"bids\":0,\"refused\":0,\"lapsed\":0,\"sold\":0,"
		"\"settled\":0,\"charged\":\"1.000000\",\"refunded\":\"9223372036853.000000\","
		"\"settled_revenue\":\"0.000000\"}",
		"{\"event\":\"totals\",\"bids\":0,\"refused\":0,\"lapsed\":0,\"sold\":0,"
		"\"settled\":0,\"charged\":\"1.000000\",\"refunded\":\"0.500000\","
		"\"settled_revenue\":\"0.500001\"}",
	};
	struct auc_market *m = make_market(SERVERS, 2, 100, false);
	struct auc_ledger *l = auc_ledger_create(m, NULL, NULL);
	struct json_object *events = json_object_new_array(), *sold, *kept;
	char id[AUC_SALE_ID_LEN];
	struct auc_plan plan;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct json_object *o = json_tokener_parse(bad[i]);

		assert_int_equal(auc_ledger_apply(l, o, &err), AUC_ECORRUPT);
		json_object_put(o);
	}
	simple_plan(&plan);
	struct auc_ledger *seller = auc_ledger_create(m, keep_event, events);

	assert_int_equal(auc_ledger_hold(seller, &plan, "dps", "bid=10", 5, NULL, 50, id, &err),
			 AUC_OK);
	assert_int_equal(auc_ledger_confirm(seller, id, 1, &err), AUC_OK);
	assert_int_equal(auc_ledger_settle(seller, 1, 0, 0, "lost", &err), AUC_OK);
	sold = json_object_array_get_idx(events, 0);
	json_object_object_foreach(sold, key, value)
	{
		struct json_object *copy = NULL;

		if (!strcmp(key, "event"))
			continue;
		kept = json_object_get(value);
		json_object_deep_copy(sold, &copy, NULL);
		json_object_object_del(copy, key);
		assert_int_equal(auc_ledger_apply(l, copy, &err), AUC_ECORRUPT);
		json_object_object_add(copy, key, json_object_new_array());
		assert_int_equal(auc_ledger_apply(l, copy, &err), AUC_ECORRUPT);
		json_object_put(copy);
		json_object_put(kept);
	}
	assert_int_equal(auc_ledger_count(l), 0);
	/* A record of a snapshot whose totals do not have it. */
	struct json_object *record = NULL;

	json_object_deep_copy(sold, &record, NULL);
	json_object_object_add(record, "event", json_object_new_string("sale"));
	assert_int_equal(auc_ledger_apply(l, record, &err), AUC_ECORRUPT);
	assert_non_null(strstr(err.text, "the totals do not have its payment in them"));
	json_object_put(record);
	assert_int_equal(auc_ledger_apply(l, sold, &err), AUC_OK);
	assert_int_equal(auc_ledger_apply(l, sold, &err), AUC_ECORRUPT); /* twice */
	assert_int_equal(auc_ledger_check(l, &err), AUC_OK);
	auc_ledger_destroy(seller);
	auc_ledger_destroy(l);
	auc_market_destroy(m);
	auc_plan_clear(&plan);
	json_object_put(events);
}

/* A schedule whose record no line of the spool holds is not sold, and none is changed to it. */
static void test_long_records(void **state)
{
	enum { SLOTS_MAX = 9000, NODES = 4 };
	static const struct auc_named one[] = {{"cpu", 1}};
	struct auc_named capacity[] = {{"cpu", 8}};
	struct auc_price price = {.neta = 0};
	struct auc_market *m = auc_market_create(SLOTS_MAX, 60, 0);
	struct auc_ledger *l = auc_ledger_create(m, NULL, NULL);
	struct auc_plan plan, simple;
	struct auc_revision revision = {.job_id = 1, .plan = &plan};
	char id[AUC_SALE_ID_LEN], name[AUC_NAME_MAX];

	(void)state;
	assert_int_equal(auc_market_add_worker_type(m, "w", one, 1, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", one, 1, 1000, &err), AUC_OK);
	for (unsigned i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "%040u", i);
		assert_int_equal(auc_market_add_server(m, name, "g", false,
						       AUC_ROLE_WORKER | AUC_ROLE_PS, 0, capacity,
						       1, &err),
				 AUC_OK);
	}
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	auc_plan_init(&plan);
	for (unsigned t = 0; t < SLOTS_MAX; t++) {
		assert_int_equal(auc_plan_add_run(&plan, t, t, &err), AUC_OK);
		for (unsigned i = 0; i < NODES; i++)
			assert_int_equal(auc_plan_add_share(&plan, i, 1 + t % 2, !i, &err), AUC_OK);
	}
	plan.completion = SLOTS_MAX;
	plan.value = 100;
	plan.cost = 10;
	assert_int_equal(auc_ledger_hold(l, &plan, "oasis", "bid=100", 5, NULL, 50, id, &err),
			 AUC_EFULL);
	assert_non_null(strstr(err.text, "changes 9000 times: its record would have "));
	assert_int_equal(auc_ledger_count(l), 0);
	assert_true(auc_market_used(m, 0, 0, 0) == 0);

	auc_plan_init(&simple);
	assert_int_equal(auc_plan_copy(&simple, &plan, &err), AUC_OK);
	simple.nruns = 1000;
	simple.nshares = 1000 * NODES;
	simple.completion = 1000;
	assert_int_equal(auc_ledger_hold(l, &simple, "oasis", "bid=100", 5, NULL, 50, id, &err),
			 AUC_OK);
	assert_int_equal(auc_ledger_confirm(l, id, 1, &err), AUC_OK);
	assert_int_equal(auc_ledger_change(l, 1, &plan, AUC_CREDIT * 100, AUC_CREDIT * 10, &err),
			 AUC_EFULL);
	assert_int_equal(auc_ledger_revise(l, &revision, 1, &err), AUC_EFULL);
	assert_true(auc_market_used(m, 0, 0, 999) > 0 && auc_market_used(m, 0, 0, 1000) == 0);
	assert_int_equal(auc_ledger_check(l, &err), AUC_OK);
	assert_true(auc_market_sound(m));
	auc_plan_clear(&plan);
	auc_plan_clear(&simple);
	auc_ledger_destroy(l);
	auc_market_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_lives),  cmocka_unit_test(test_rules),
		cmocka_unit_test(test_change),        cmocka_unit_test(test_adopt),
		cmocka_unit_test(test_rebase_misfit), cmocka_unit_test(test_many),
		cmocka_unit_test(test_bad_events),    cmocka_unit_test(test_long_records),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, sound_teardown);
}
