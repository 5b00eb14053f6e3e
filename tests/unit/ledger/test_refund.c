/*
 * test_refund.c - the refund rule as doc/ledger.md has it: by cause, by the time before the start,
 * by slots not begun, and for slots that were lost; bounds and rounding at random.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/refund.h"
#include "ledger/why.h"
#include "unit/support/splitmix.h"

#define SLOT       300.0
#define END_MARGIN 1
#define START      1000 /* slot */
#define DEAR       INT64_C(400000000)

/* auction.conf as it is by default. */
static struct auc_conf conf = {
	.slot_seconds = SLOT,
	.end_margin = END_MARGIN,
	.ncancel = 4,
	.cancel = {{0, 0.5}, {600, 0.25}, {3600, 0.1}, {86400, 0.05}},
};
static struct auc_err err;

/* A sale of slots START to START + 1 and START + 4 to START + 5, with LOST slots; to be cleared. */
static struct auc_sale sale_of(bool started, auc_money payment, auc_slot lost)
{
	struct auc_sale s = {.state = started ? AUC_SALE_RUNNING : AUC_SALE_SOLD,
			     .value = payment,
			     .payment = payment};

	auc_plan_init(&s.plan);
	s.plan.start = START;
	s.plan.completion = START + 6;
	s.plan.lost = lost;
	for (auc_slot from = START; from <= START + 4; from += 4) {
		assert_int_equal(auc_plan_add_run(&s.plan, from, from + 1, &err), AUC_OK);
		assert_int_equal(auc_plan_add_share(&s.plan, 0, 1, 1, &err), AUC_OK);
	}
	return s;
}

static auc_money due(unsigned unused, bool started, auc_slot lost, auc_money payment,
		     const char *why, double after)
{
	struct auc_sale s = sale_of(started, payment, lost);
	auc_money refund;

	conf.refund_unused = unused;
	refund = auc_refund_due(&conf, &s, why, START * SLOT + after);
	auc_sale_clear(&s);
	return refund;
}

/* A block of two nodes, of four slots, some of whose time on nodes could not be used. */
static void test_missing(void **state)
{
	static const struct {
		unsigned unused;
		double missing; /* slots of a node */
		const char *why;
		double after;
		auc_money refund;
	} cases[] = {
		/* To its end: one of eight; all of it; more than there is. */
		{true, 0, "timeout", 4 * SLOT, 0},
		{true, 1, "timeout", 4 * SLOT, DEAR / 8},
		{false, 1, "timeout", 4 * SLOT, DEAR / 8},
		{true, 8, "timeout", 4 * SLOT, DEAR},
		{true, 9, "timeout", 4 * SLOT, DEAR},
		/* Cancelled half-way: of the four that were used one. */
		{true, 1, "cancelled", 2 * SLOT, DEAR / 2 + DEAR / 8},
		{true, 0.5, "cancelled", 2 * SLOT, DEAR / 2 + DEAR / 16},
		{false, 1, "cancelled", 2 * SLOT, DEAR / 8},
		/* The cluster's doing. */
		{true, 1, "node_fail", 2 * SLOT, DEAR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct auc_sale s = {.state = AUC_SALE_RUNNING, .value = DEAR, .payment = DEAR};

		auc_plan_init(&s.plan);
		s.plan.gang = s.plan.block = true;
		s.plan.start = START;
		s.plan.completion = START + 4;
		s.plan.missing = cases[i].missing;
		assert_int_equal(auc_plan_add_run(&s.plan, START, START + 3, &err), AUC_OK);
		assert_int_equal(auc_plan_add_share(&s.plan, 0, 1, 0, &err), AUC_OK);
		assert_int_equal(auc_plan_add_share(&s.plan, 1, 1, 0, &err), AUC_OK);
		conf.refund_unused = cases[i].unused;
		assert_int_equal(
			auc_refund_due(&conf, &s, cases[i].why, START * SLOT + cases[i].after),
			cases[i].refund);
		auc_sale_clear(&s);
	}
}

static void test_rule(void **state)
{
	static const struct {
		unsigned unused;
		bool started;
		auc_slot lost;
		const char *why;
		double after; /* seconds after the start of the plan */
		auc_money refund;
	} cases[] = {
		/* Cancelled before its start: less the share that CancelFee keeps. */
		{false, false, 0, "cancelled", -1, DEAR / 2},
		{false, false, 0, "cancelled", -599, DEAR / 2},
		{false, false, 0, "cancelled", -600, DEAR * 3 / 4},
		{false, false, 0, "cancelled", -3599, DEAR * 3 / 4},
		{false, false, 0, "cancelled", -3600, DEAR * 9 / 10},
		{true, false, 0, "cancelled", -86400, DEAR * 95 / 100},
		{true, false, 0, "changed", -86399, DEAR * 9 / 10},
		/* Late: nothing is kept from 30 s after the start on. */
		{false, false, 0, "cancelled", 0, DEAR / 2},
		{false, false, 0, "cancelled", 30, DEAR / 2},
		{false, false, 0, "cancelled", 30.5, DEAR},
		/* Put off by slurmctld. */
		{false, false, 1, "cancelled", -1, DEAR},
		/* Its owner's other jobs used up the limit that it needed. */
		{false, false, 0, "limit", -1, DEAR / 2},
		{false, false, 0, "limit", -3600, DEAR * 9 / 10},
		/* Nor did it begin late for any other reason than that. */
		{false, false, 0, "limit", 30.5, DEAR / 2},
		{false, false, 0, "own_job", 30.5, DEAR / 2},
		{true, true, 0, "own_job", 1, DEAR * 3 / 4},
		/* It never started, whatever the cause. */
		{false, false, 0, "timeout", -1, DEAR},
		{false, false, 0, "failed", 900, DEAR},
		/* The cluster's doing, started or not. */
		{false, false, 0, "node_fail", -1, DEAR},
		{false, true, 0, "node_fail", 3.5 * SLOT, DEAR},
		{false, true, 0, "lost", 6 * SLOT, DEAR},
		/* It ran: nothing, or the slots that had not begun. The pause is no slot. */
		{false, true, 0, "completed", 1, 0},
		{true, true, 0, "completed", 1, DEAR * 3 / 4},
		{true, true, 0, "cancelled", 1, DEAR * 3 / 4},
		{true, true, 0, "completed", SLOT, DEAR * 3 / 4},
		{true, true, 0, "completed", SLOT + 1, DEAR / 2},
		{true, true, 0, "failed", 3.5 * SLOT, DEAR / 2},
		{true, true, 0, "timeout", 4 * SLOT + 1, DEAR / 4},
		{true, true, 0, "timeout", 6 * SLOT, 0},
		/* Of 4 + 4 slots, those that were lost come back in any case. */
		{false, true, 4, "completed", 6 * SLOT, DEAR / 2},
		{true, true, 4, "completed", 4 * SLOT + 1, DEAR * 5 / 8},
		/* By seconds. The pause costs nothing; from EndMargin before its end on, it had
		   all. */
		{AUC_REFUND_SECONDS, true, 0, "completed", SLOT / 2., DEAR * 7 / 8},
		{AUC_REFUND_SECONDS, true, 0, "failed", SLOT * 1.25, DEAR * 11 / 16},
		{AUC_REFUND_SECONDS, true, 0, "cancelled", SLOT * 3, DEAR / 2},
		{AUC_REFUND_SECONDS, true, 0, "timeout", 6 * SLOT - END_MARGIN, 0},
		{AUC_REFUND_SECONDS, true, 0, "completed", 5 * SLOT, DEAR / 4},
		{AUC_REFUND_SECONDS, true, 4, "completed", SLOT / 2., DEAR * 15 / 16},
		{AUC_REFUND_SECONDS, false, 0, "cancelled", -1, DEAR / 2},
		{AUC_REFUND_SECONDS, true, 0, "node_fail", SLOT, DEAR},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		auc_money refund = due(cases[i].unused, cases[i].started, cases[i].lost, DEAR,
				       cases[i].why, cases[i].after);

		if (refund != cases[i].refund)
			fail_msg("case %u: %" PRId64 " instead of %" PRId64, i, refund,
				 cases[i].refund);
	}
}

/* What is kept at most and at least, and that less is kept the earlier a job is cancelled. */
static void test_share(void **state)
{
	static const struct auc_cancel_step all[] = {{0, 1}}, none[] = {{0, 0}},
					    steps[] = {{0, 0.2}, {30, 0}};
	static const struct {
		const struct auc_cancel_step *steps;
		unsigned n;
		double before, share;
	} cases[] = {
		{all, 1, 1e9, 1}, {none, 1, 5, 0},      {steps, 2, 29, 0.2},  {steps, 2, 30, 0},
		{NULL, 0, 10, 0}, {steps, 2, -30, 0.2}, {steps, 2, -30.5, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_conf c = {.slot_seconds = SLOT, .ncancel = cases[i].n};
		struct auc_sale s = sale_of(false, DEAR, 0);

		if (cases[i].n)
			memcpy(c.cancel, cases[i].steps, cases[i].n * sizeof(*c.cancel));
		assert_true(auc_refund_cancel_share(&c, &s, START * SLOT - cases[i].before) ==
			    cases[i].share);
		auc_sale_clear(&s);
	}
}

/* Whatever happens: from 0 to the payment, never more the later it is once the job runs. */
static void test_bounds(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (unsigned n = 0; n < 20000; n++) {
		const char *why = auc_whys[splitmix(&seed) % auc_nwhys].word;
		auc_money payment = (auc_money)(splitmix(&seed) % 1000) *
				    (splitmix(&seed) % 4 ? 1 : INT64_C(1000000000000));
		double after = (double)(splitmix(&seed) % 4000) - 1500;
		unsigned unused = splitmix(&seed) % 3;
		bool started = after >= 0 && splitmix(&seed) % 2;
		auc_slot lost = (auc_slot)(splitmix(&seed) % 3);
		auc_money refund = due(unused, started, lost, payment, why, after);

		assert_true(refund >= 0 && refund <= payment);
		if (auc_why_refunds(why))
			assert_int_equal(refund, payment);
		if (started)
			assert_true(due(unused, started, lost, payment, why, after + 300) <=
				    refund);
		if (!payment)
			assert_int_equal(refund, 0);
	}
	/* Rounded down to a micro-credit once it has run. */
	assert_int_equal(due(true, true, 0, 7, "completed", 1), 5);
	/* 0.25 of 7 micro-credits is kept, rounded down. */
	assert_int_equal(due(true, false, 0, 7, "cancelled", -700), 6);
}

/* Who states too much buys slots that he does not use: that never costs less than to state what is
 * needed, at whatever prices, and each second that is used costs something more or the same. */
static void test_more_than_needed(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (unsigned n = 0; n < 20000; n++) {
		double price[8], sum = 0, most = 0, front[8], after = -1;
		auc_money paid[8];
		unsigned word = 1 + splitmix(&seed) % 2, d;

		for (d = 0; d < 8; d++) {
			price[d] = splitmix(&seed) % 3 ? (double)(splitmix(&seed) % 1000) / 7 : 0;
			sum += price[d];
			most = fmax(most, sum / (d + 1));
			front[d] = most > (1 + 1e-9) * sum / (d + 1) ? most : 0;
			paid[d] = auc_money_from(sum);
		}
		after = (double)(splitmix(&seed) % (8 * 3000)) / 10;
		for (d = 1; d < 8; d++) {
			auc_money kept[2];

			if (after >= d * SLOT - END_MARGIN)
				continue;
			for (unsigned more = 0; more < 2; more++) {
				struct auc_sale s = {.state = AUC_SALE_RUNNING,
						     .payment = paid[d - 1 + more]};

				auc_plan_init(&s.plan);
				s.plan.start = START;
				s.plan.completion = START + d + more;
				s.plan.front = front[d - 1 + more];
				assert_int_equal(auc_plan_add_run(&s.plan, START,
								  START + d + more - 1, &err),
						 AUC_OK);
				conf.refund_unused = word;
				kept[more] = s.payment - auc_refund_due(&conf, &s, "completed",
									START * SLOT + after);
				auc_sale_clear(&s);
			}
			/* a micro-credit is rounding */
			assert_true(kept[1] >= kept[0] - 2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_more_than_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
