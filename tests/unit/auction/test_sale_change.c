/* test_sale_change.c - sales whose plan changes while they live: more slots at the end, another
 * server instead of one that fails, a slot that has begun. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/auction-private.h"
#include "unit/support/world.h"

static struct auc_err err;

/* Sells to JOB what TEXT asks for; it starts. Returns the payment. */
static auc_money sell(struct auc_auction *a, const char *text, uint32_t job, double now)
{
	struct auc_offer o = world_offer(a, text, now, true);
	auc_money payment;

	if (!o.accepted)
		fail_msg("%s", o.message);
	assert_int_equal(auc_auction_confirm(a, o.sale, job, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_start(a, job, o.start, NULL, &err), AUC_OK);
	payment = o.payment;
	auc_offer_clear(&o);
	return payment;
}

static struct auc_sale_view view_of(struct auc_auction *a, uint32_t job)
{
	struct auc_sale_view v;

	assert_int_equal(auc_auction_sale_of_job(a, job, &v, &err), AUC_OK);
	return v;
}

/* Until the search ends: where the machine is busy it takes several calls. Returns how many
 * changed. */
static unsigned revise(struct auc_auction *a, double now, double lead)
{
	unsigned changed, sum = 0;

	do {
		assert_int_equal(auc_auction_revise(a, now, lead, false, &changed, &err), AUC_OK);
		sum += changed;
	} while (a->rearrange.search);
	return sum;
}

/* One worker and one PS on one node for two slots; linear: worth SCALE, less 10 with each slot. */
#define TWO_SLOTS "epochs=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0"

static void test_extend(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_sale_view v;
	struct auc_receipt r;
	auc_money paid;
	char *receipt;

	(void)state;
	sell(a, "linear:100,10 overrun=kill " TWO_SLOTS, 1, NOW);
	assert_int_equal(auc_auction_extend(a, 1, NULL, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_extend(a, 9, NULL, &err), AUC_ENOENT);
	/* f(2) = 50: the longer it takes the less there is, and each slot costs something once
	 * others have bought there. */
	paid = sell(a, "linear:70,10 overrun=extend " TWO_SLOTS, 2, NOW);
	v = view_of(a, 2);
	assert_true(v.extend);
	assert_int_equal(v.revision, 0);
	auc_sale_view_clear(&v);
	sell(a, "linear:1000,10 epochs=6 minibatches=100 worker-time=v100=3s ps-time=ps.m=0", 3,
	     NOW);
	for (unsigned i = 1; i <= 8; i++) {
		enum auc_code rc = auc_auction_extend(a, 2, &receipt, &err);

		if (rc != AUC_OK) {
			assert_true(rc == AUC_ESTATE || rc == AUC_EFULL);
			assert_true(i > 1);
			break;
		}
		assert_true(i <= 5); /* f(7) = 0 */
		v = view_of(a, 2);
		assert_int_equal(v.revision, i);
		assert_true(v.end == (1003 + i) * SLOT);
		assert_true(v.payment >= paid && v.payment < v.value);
		assert_int_equal(v.value, (70 - 10 * (2 + (int)i)) * AUC_CREDIT);
		assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
		assert_int_equal(r.payment, v.payment);
		assert_int_equal(r.completion, 1003 + i);
		paid = v.payment;
		auc_receipt_clear(&r);
		auc_sale_view_clear(&v);
		free(receipt);
		assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
		assert_true(auc_market_sound(a->market));
	}
	/* What was bought is on disk as it was booked. */
	assert_int_equal(auc_auction_commit(a, &err), AUC_OK);
	auc_auction_destroy(a);
	a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	v = view_of(a, 2);
	assert_int_equal(v.payment, paid);
	assert_true(v.end > 1003 * SLOT);
	auc_sale_view_clear(&v);
	auc_auction_destroy(a);
}

/* All of a node with v100s for two slots from slot 1001 on. */
#define NODE "linear:1000,10 gang=1:600:gpu:v100=2"

/* A late gang whose node is sold goes on elsewhere: at once, and after others where all are. */
static void test_go_on(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_sale_view v;
	auc_money paid;
	char text[160];

	(void)state;
	paid = sell(a, NODE " requeue=yes", 1, NOW);
	sell(a, NODE " only=edge2", 2, NOW);
	snprintf(text, sizeof(text), "%s only=edge1 begin=%.0f", NODE, 1003 * SLOT);
	world_sell(a, text, 3, NOW);
	assert_int_equal(auc_auction_extend(a, 1, NULL, &err), AUC_EFULL);
	assert_int_equal(auc_auction_go_on(a, 2, NULL, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_go_on(a, 1, NULL, &err), AUC_OK);
	v = view_of(a, 1);
	assert_true(v.extend && v.goes_on);
	assert_int_equal(v.nparts, 2);
	assert_string_equal(v.parts[0].nodes, "edge1");
	assert_true(v.parts[0].end == 1003 * SLOT && v.parts[1].start == 1003 * SLOT);
	assert_string_equal(v.parts[1].nodes, "edge2");
	assert_true(v.parts[1].lead && v.parts[1].nnodes == 1 && v.end == 1004 * SLOT);
	assert_true(v.payment >= paid && v.payment < v.value);
	assert_int_equal(v.value, 970 * AUC_CREDIT);
	auc_sale_view_clear(&v);
	/* Another slot there is no other part; then a pause, and back to where it was. */
	assert_int_equal(auc_auction_extend(a, 1, NULL, &err), AUC_OK);
	for (uint32_t job = 4; job < 7; job++) {
		snprintf(text, sizeof(text), "%s only=edge%u begin=%.0f", NODE, job - 2,
			 1005 * SLOT);
		world_sell(a, text, job, NOW);
	}
	snprintf(text, sizeof(text), "%s only=edge1 begin=%.0f", NODE, 1005 * SLOT);
	world_sell(a, text, 7, NOW);
	assert_int_equal(auc_auction_go_on(a, 1, NULL, &err), AUC_OK);
	v = view_of(a, 1);
	assert_int_equal(v.nparts, 3);
	assert_true(v.parts[1].end == 1005 * SLOT && v.parts[2].start == 1007 * SLOT);
	auc_sale_view_clear(&v);
	assert_true(auc_market_sound(a->market));
	/* On disk as it was booked. */
	assert_int_equal(auc_auction_commit(a, &err), AUC_OK);
	auc_auction_destroy(a);
	a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	v = view_of(a, 1);
	assert_true(v.nparts == 3 && v.end == 1008 * SLOT && v.goes_on);
	auc_sale_view_clear(&v);
	auc_auction_destroy(a);
}

/* It is not worth what a slot elsewhere costs, or is worth nothing by then. */
static void test_go_on_not(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	char text[160];

	(void)state;
	sell(a, "deadline:1000,2 gang=1:600:gpu:v100=2 only=edge1 requeue=yes", 1, NOW);
	sell(a, "constant:1000 gang=1:600:gpu:v100=2 only=edge2 overrun=kill requeue=yes", 2, NOW);
	snprintf(text, sizeof(text), "%s only=edge1 begin=%.0f", NODE, 1003 * SLOT);
	world_sell(a, text, 3, NOW);
	assert_int_equal(auc_auction_go_on(a, 1, NULL, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_go_on(a, 2, NULL, &err), AUC_ESTATE);
	auc_auction_destroy(a);
}

/* Waits for its data for three slots. */
#define WAITS "constant:1000 upload=edge=3 " TWO_SLOTS

/* By the last fit GPUs cost twice as much from the slot on in which job 1 is to begin; KIND is what
 * bids are sold by. */
static void make_dear(struct auc_auction *a, enum auc_tariff_kind kind)
{
	unsigned tres = (unsigned)auc_market_find_tres(a->market, "gpu:v100"), n = 0;
	const struct auc_plan *p = &auc_ledger_find_job(a->ledger, 1)->plan;
	struct auc_given_price prices[2 * 6];

	for (unsigned s = 0; s < world_nservers; s++)
		for (unsigned k = 0; k < 2; k++)
			prices[n++] = (struct auc_given_price){
				.server = s,
				.tres = tres,
				.from = k ? p->start : auc_market_first(a->market),
				.to = k ? auc_market_last(a->market) : p->start - 1,
				.price = 1 + k};
	auc_tariff_free(a->rearrange.costs);
	a->rearrange.costs = calloc(1, sizeof(*a->rearrange.costs));
	assert_non_null(a->rearrange.costs);
	a->rearrange.costs->slot_seconds = a->conf->slot_seconds;
	assert_int_equal(auc_tariff_set(a->rearrange.costs, a->market, prices, n, &err), AUC_OK);
	auc_tariff_free(a->tariff);
	a->tariff = auc_tariff_copy(a->rearrange.costs);
	assert_non_null(a->tariff);
	a->tariff->kind = kind;
	a->rearrange.due = true;
}

/* Sells every GPU that v100 workers can have to jobs from 100 on, and to job 1 when they are
 * through; then one of them is cancelled. */
static void sell_behind(struct auc_auction *a, const char *text)
{
	for (uint32_t job = 100; job < 108; job++)
		world_sell(a, text, job, NOW);
	world_sell(a, text, 1, NOW);
	assert_int_equal(auc_auction_settle(a, 100, "cancelled", NOW, NULL, &err), AUC_OK);
}

/* With learned prices, a job that is sold and waits moves to where it costs less by now. */
static void test_rearrange(void **state)
{
	static const struct {
		const char *globals;
		enum auc_tariff_kind kind;
		double lead;
		bool moves;
	} cases[] = {
		{"", AUC_TARIFF_LEARNED, 0, true},
		{"", AUC_TARIFF_FLAT, 0, true},
		{"", AUC_TARIFF_NONE, 0, false},
		{"", AUC_TARIFF_PUBLISHED, 0, false},
		{"Rearrange=no", AUC_TARIFF_LEARNED, 0, false},
		{"Prices=published", AUC_TARIFF_LEARNED, 0, false},
		{"Policy=oasis", AUC_TARIFF_LEARNED, 0, false},
		{"", AUC_TARIFF_LEARNED, 1e5, false},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_auction *a = world_open(cases[i].globals, world_dir, NOW);
		struct auc_sale_view before, after;
		struct auc_receipt r;
		char *receipt;

		sell_behind(a, WAITS);
		before = view_of(a, 1);
		make_dear(a, cases[i].kind);
		/* Not while nothing can be written. */
		strcpy(a->io_error, "No space left on device");
		assert_int_equal(revise(a, NOW, cases[i].lead), 0);
		a->io_error[0] = '\0';
		assert_int_equal(revise(a, NOW, cases[i].lead), cases[i].moves);
		after = view_of(a, 1);
		assert_int_equal(after.revision, before.revision + cases[i].moves);
		assert_true((after.end < before.end) == cases[i].moves);
		assert_string_equal(after.parts[0].partition, "edge");
		assert_true(after.end <= before.end && after.payment == before.payment &&
			    after.value >= before.value);
		assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
		assert_true(auc_market_sound(a->market));
		/* Once, until something happens again. */
		assert_int_equal(revise(a, NOW, 0), 0);
		/* Its receipt says so, and so does the disk. */
		assert_int_equal(auc_auction_confirm(a, before.sale, 1, &receipt, &err), AUC_OK);
		assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
		assert_string_equal(r.shares[0].server, after.parts[0].server);
		assert_true((double)r.start * SLOT == after.parts[0].start);
		auc_receipt_clear(&r);
		free(receipt);
		auc_sale_view_clear(&before);
		before = after;
		world_commit(a);
		auc_auction_destroy(a);
		a = world_open(cases[i].globals, world_dir, NOW);
		after = view_of(a, 1);
		assert_string_equal(after.parts[0].server, before.parts[0].server);
		assert_true(after.end == before.end && after.payment == before.payment);
		auc_sale_view_clear(&before);
		auc_sale_view_clear(&after);
		assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
		/* What a sale leaves may be cheaper than what others have. */
		a->rearrange.due = false;
		assert_int_equal(auc_auction_settle(a, 1, "cancelled", NOW, NULL, &err), AUC_OK);
		assert_true(a->rearrange.due);
		auc_auction_destroy(a);
		world_teardown(state);
		world_setup(state);
	}
}

/* As many GPUs of an account at once as ARG says. */
static enum auc_code gpus_at_once(void *arg, uint32_t uid, const char *account, const char *qos,
				  struct auc_caps **caps, struct auc_err *e)
{
	(void)e;
	assert_int_equal(uid, 1000);
	assert_string_equal(account, "lab");
	assert_string_equal(qos, "normal");
	*caps = calloc(1, sizeof(**caps));
	assert_non_null(*caps);
	(*caps)->n = 1;
	(*caps)->cap[0] = (struct auc_cap){.kind = AUC_CAP_AT_ONCE,
					   .text = "GrpTRES",
					   .tres = "gpu",
					   .amount = *(double *)arg,
					   .account = "root"};
	return AUC_OK;
}

/* It does not move to where a limit of Slurm would keep it from starting. */
static void test_rearrange_limits(void **state)
{
	struct auc_auction *a = world_open("", world_dir, NOW);
	double most = 7;

	(void)state;
	sell_behind(a, WAITS " qos=normal accounts=lab,root");
	auc_auction_set_caps(a, gpus_at_once, &most);
	make_dear(a, AUC_TARIFF_LEARNED);
	assert_int_equal(revise(a, NOW, 0), 0);
	most = 8;
	a->rearrange.due = true;
	assert_int_equal(revise(a, NOW, 0), 1);
	auc_auction_destroy(a);
}

/* Who is about to begin stays, who has begun, whose node has lost what was sold of it, and what was
 * sold to a submission whose job nobody has seen yet. */
static void test_rearrange_not(void **state)
{
	struct auc_auction *a = world_open("", world_dir, NOW);
	struct auc_server_spec specs[6];
	struct auc_sale_view v;
	struct auc_offer o;

	(void)state;
	sell_behind(a, WAITS);
	v = view_of(a, 1);
	memcpy(specs, world_servers, sizeof(specs));
	for (unsigned i = 0; i < 6; i++)
		if (!strcmp(specs[i].name, v.parts[0].server))
			specs[i].capacity[2].value = 0;
	assert_int_equal(auc_auction_set_servers(a, specs, 6, NOW, &err), AUC_EFULL);
	make_dear(a, AUC_TARIFF_LEARNED);
	assert_int_equal(revise(a, NOW, 0), 0);
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	make_dear(a, AUC_TARIFF_LEARNED);
	assert_int_equal(revise(a, v.start - 59, 0), 0);
	assert_int_equal(auc_auction_start(a, 1, v.start, NULL, &err), AUC_OK);
	auc_sale_view_clear(&v);
	a->rearrange.due = true;
	assert_int_equal(revise(a, NOW, 0), 0);
	assert_int_equal(auc_auction_settle(a, 1, "completed", NOW, NULL, &err), AUC_OK);

	o = world_offer(a, WAITS, NOW, true);
	assert_true(o.accepted);
	auc_offer_clear(&o);
	assert_int_equal(revise(a, NOW, 0), 0);
	auc_auction_destroy(a);
}

static void test_move(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_server_spec specs[8];
	struct auc_sale_view v;
	struct auc_receipt r;
	auc_money paid;
	char *receipt;

	(void)state;
	paid = sell(a, "linear:100,10 " TWO_SLOTS, 1, NOW);
	assert_int_equal(auc_auction_move(a, 1, "edge2", NOW, NULL, &err), AUC_ENOENT);
	assert_int_equal(auc_auction_move(a, 1, "nobody", NOW, NULL, &err), AUC_ENOENT);
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	specs[1].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_OK);
	/* In its second slot: the first stays where it was. edge2 is down. */
	assert_int_equal(auc_auction_move(a, 1, "edge1", 1002 * SLOT + 5, &receipt, &err), AUC_OK);
	v = view_of(a, 1);
	assert_int_equal(v.payment, paid);
	assert_int_equal(v.revision, 1);
	assert_int_equal(v.nparts, 2);
	assert_true(v.parts[0].lead && v.parts[1].lead);
	assert_string_equal(v.parts[0].server, "edge1");
	assert_string_equal(v.parts[1].server, "edge3");
	assert_true(v.parts[0].end == 1002 * SLOT && v.parts[1].start == 1002 * SLOT);
	assert_true(v.end == 1003 * SLOT);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.nruns, 2);
	auc_receipt_clear(&r);
	auc_sale_view_clear(&v);
	free(receipt);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(a->market));
	auc_auction_destroy(a);
}

/* Everything before it starts; there is always the next server, until there is none. */
static void test_move_on(void **state)
{
	static const char *const order[] = {"edge1", "edge2", "edge3", "edge4"};
	struct auc_server_spec specs[8];
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_sale_view v;

	(void)state;
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	sell(a, "linear:100,10 " TWO_SLOTS, 1, NOW);
	for (unsigned i = 0; i < 4; i++) {
		v = view_of(a, 1);
		assert_int_equal(v.nparts, 1);
		assert_string_equal(v.parts[0].server, order[i]);
		auc_sale_view_clear(&v);
		specs[i].down = true;
		assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err),
				 AUC_OK);
		/* The cloud's nodes are another partition. */
		assert_int_equal(auc_auction_move(a, 1, order[i], NOW, NULL, &err),
				 i < 3 ? AUC_OK : AUC_EFULL);
	}
	assert_int_equal(auc_auction_commit(a, &err), AUC_OK);
	auc_auction_destroy(a);
	a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	v = view_of(a, 1);
	assert_string_equal(v.parts[0].server, "edge4");
	auc_sale_view_clear(&v);
	auc_auction_destroy(a);
}

/* Nothing of the plan of JOB is on SERVER from slot FROM on, in which it is not closed. */
static void assert_off(struct auc_auction *a, uint32_t job, const char *server, auc_slot from)
{
	struct auc_sale_view v = view_of(a, job);

	for (unsigned i = 0; i < v.nparts; i++)
		assert_false(!strcmp(v.parts[i].server, server) &&
			     v.parts[i].end > (double)from * SLOT);
	auc_sale_view_clear(&v);
}

static void close_all(struct auc_auction *a, double from, double to)
{
	struct auc_closing closed[4];

	for (unsigned i = 0; i < 4; i++) {
		strcpy(closed[i].server, world_servers[i].name);
		closed[i].from = from;
		closed[i].to = to;
	}
	assert_int_equal(auc_auction_close(a, closed, 4, &err), AUC_OK);
}

/* No other server is to be had in time: the same one later, as long as that is worth the payment.
 */
static void test_later(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_sale_view v;
	auc_money paid[2];

	(void)state;
	/* Worth 80 when it is done in time, and 10 less with each slot. The last finds all nodes
	 * half full, and pays. */
	paid[0] = sell(a, "linear:100,10 " TWO_SLOTS, 1, NOW);
	for (unsigned i = 0; i < 3; i++)
		sell(a, "linear:100,10 " TWO_SLOTS, 10 + i, NOW);
	paid[1] = sell(a, "linear:100,10 " TWO_SLOTS, 2, NOW);
	/* Slots 1002 to 1004 of all nodes. */
	close_all(a, 1002 * SLOT, 1005 * SLOT);
	assert_int_equal(auc_auction_move(a, 1, "edge1", 1002 * SLOT, NULL, &err), AUC_OK);
	v = view_of(a, 1);
	assert_int_equal(v.payment, paid[0]);
	assert_int_equal(v.value, 50 * AUC_CREDIT); /* 100 - 10 * (1006 - 1001) */
	assert_true(v.start == 1001 * SLOT && v.end == 1006 * SLOT);
	assert_int_equal(v.nparts, 2);
	assert_string_equal(v.parts[1].server, "edge1");
	assert_true(v.parts[0].end == 1002 * SLOT && v.parts[1].start == 1005 * SLOT);
	auc_sale_view_clear(&v);
	/* Not begun: all of it. Worth nothing so late: it stays as it is. */
	close_all(a, 1001 * SLOT, 1012 * SLOT);
	v = view_of(a, 2);
	assert_true(paid[1] > 0);
	assert_int_equal(auc_auction_move(a, 2, v.parts[0].server, NOW, NULL, &err), AUC_EFULL);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(a->market));
	auc_auction_destroy(a);
}

#define ONE_SLOT "epochs=1 minibatches=100 worker-time=v100=3s ps-time=ps.m=0"

/* All nodes are half full, so that the next one pays. */
static void sell_four(struct auc_auction *a)
{
	for (unsigned i = 0; i < 4; i++)
		sell(a, "linear:100,10 " TWO_SLOTS, 10 + i, NOW);
}

/* What was missed comes later, on the same server, while that is worth the payment. */
static void test_put_off(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	char server[AUC_NAME_MAX], *receipt;
	struct auc_sale_view v;
	auc_money paid;

	(void)state;
	sell_four(a);
	paid = sell(a, "linear:100,10 " TWO_SLOTS, 1, NOW);
	assert_true(paid > 0);
	v = view_of(a, 1);
	strcpy(server, v.parts[0].server);
	assert_true(v.start == 1001 * SLOT);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_auction_put_off(a, 9, 1001 * SLOT, 1002 * SLOT, NULL, &err),
			 AUC_ENOENT);
	assert_int_equal(auc_auction_put_off(a, 1, 1001 * SLOT, 1001 * SLOT, NULL, &err),
			 AUC_EINVAL);
	/* Its last slot is over: there is nothing to come later. */
	for (unsigned late = 1003; late < 1006; late++) {
		assert_int_equal(
			auc_auction_put_off(a, 1, late * SLOT, (late + 1) * SLOT, NULL, &err),
			AUC_EINVAL);
		assert_non_null(strstr(err.text, "job 1: "));
		v = view_of(a, 1);
		assert_true(v.start == 1001 * SLOT && v.end == 1003 * SLOT);
		auc_sale_view_clear(&v);
	}
	assert_int_equal(auc_auction_put_off(a, 1, 1001 * SLOT, 1001 * SLOT + 200, &receipt, &err),
			 AUC_OK);
	assert_null(strstr(receipt, "\"lost\""));
	free(receipt);
	v = view_of(a, 1);
	assert_true(v.start == 1002 * SLOT && v.end == 1004 * SLOT);
	assert_string_equal(v.parts[0].server, server);
	assert_int_equal(v.payment, paid);
	assert_int_equal(v.value, 70 * AUC_CREDIT);
	auc_sale_view_clear(&v);
	/* It has all that it paid for. */
	assert_int_equal(auc_auction_settle(a, 1, "timeout", 1004 * SLOT, &receipt, &err), AUC_OK);
	assert_non_null(strstr(receipt, "\"refund\":\"0.000000\""));
	free(receipt);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(a->market));
	auc_auction_destroy(a);
}

/* There is no room: slots that are left are had, the others paid back; also after a crash. */
static void test_lost(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_sale_view v;
	struct auc_receipt r;
	auc_money paid;
	char *receipt;

	(void)state;
	sell_four(a);
	paid = sell(a, "linear:100,10 " TWO_SLOTS, 1, NOW);
	assert_true(paid > 1);
	close_all(a, 1003 * SLOT, 1020 * SLOT);
	assert_int_equal(auc_auction_put_off(a, 1, 1001 * SLOT, 1001 * SLOT + 200, &receipt, &err),
			 AUC_OK);
	assert_non_null(strstr(receipt, "\"lost\":1,"));
	free(receipt);
	v = view_of(a, 1);
	assert_true(v.start == 1002 * SLOT && v.end == 1003 * SLOT);
	assert_int_equal(v.payment, paid);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_auction_commit(a, &err), AUC_OK);
	auc_auction_destroy(a);
	a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	assert_int_equal(auc_auction_settle(a, 1, "timeout", 1003 * SLOT, &receipt, &err), AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.refund, paid / 2);
	assert_int_equal(r.payment, paid - paid / 2);
	auc_receipt_clear(&r);
	free(receipt);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(a->market));
	auc_auction_destroy(a);
}

/* All of it is missed and the next slots are taken: it comes when there is room, or not at all. */
static void test_all_missed(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_sale_view v;

	(void)state;
	sell_four(a);
	assert_true(sell(a, "linear:100,10 " ONE_SLOT, 1, NOW) > 0);
	assert_true(sell(a, "linear:40,10 " ONE_SLOT, 2, NOW) > 0);
	close_all(a, 1002 * SLOT, 1006 * SLOT);
	assert_int_equal(auc_auction_put_off(a, 1, 1001 * SLOT, 1001 * SLOT + 200, NULL, &err),
			 AUC_OK);
	v = view_of(a, 1);
	assert_true(v.start == 1006 * SLOT && v.end == 1007 * SLOT);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_auction_put_off(a, 2, 1001 * SLOT, 1001 * SLOT + 200, NULL, &err),
			 AUC_EFULL);
	v = view_of(a, 2);
	assert_true(v.start == 1001 * SLOT && v.end == 1002 * SLOT);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(a->market));
	auc_auction_destroy(a);
}

/* What no other server can take alone, several can; the PSs stay together. */
static void test_split(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=2", world_dir, NOW);
	struct auc_server_spec specs[8];
	struct auc_sale_view v;
	unsigned workers = 0, ps = 0;

	(void)state;
	/* Two workers on one node, one on each of the three others. */
	sell(a, "100 epochs=1 chunks=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0", 1, NOW);
	for (unsigned i = 0; i < 3; i++)
		sell(a, "linear:100,10 epochs=1 minibatches=100 worker-time=v100=3s ps-time=ps.m=0",
		     2 + i, NOW);
	v = view_of(a, 1);
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	for (unsigned i = 0; i < 4; i++)
		specs[i].down = !strcmp(specs[i].name, v.parts[0].server);
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_move(a, 1, v.parts[0].server, NOW, NULL, &err), AUC_OK);
	assert_off(a, 1, v.parts[0].server, 1001);
	auc_sale_view_clear(&v);
	v = view_of(a, 1);
	assert_int_equal(v.nparts, 2);
	for (unsigned i = 0; i < v.nparts; i++) {
		workers += v.parts[i].workers;
		ps += v.parts[i].ps;
	}
	assert_int_equal(workers, 2);
	assert_int_equal(ps, 1);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(a->market));
	auc_auction_destroy(a);
}

static void test_late_start(void **state)
{
	static const struct {
		const char *globals;
		double now;
		auc_slot start;
	} cases[] = {
		{"Eta=cpu=2 LateStart=0", 1000 * SLOT + 20, 1001},
		{"Eta=cpu=2 LateStart=30", 1000 * SLOT, 1000},
		{"Eta=cpu=2 LateStart=30", 1000 * SLOT + 30, 1000},
		{"Eta=cpu=2 LateStart=30", 1000 * SLOT + 31, 1001},
		{"Eta=cpu=2 LateStart=30", 1001 * SLOT - 1, 1001},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_auction *a;
		struct auc_offer o;
		struct auc_bid bid;

		world_rmdir(world_dir);
		world_mkdir(world_dir);
		a = world_open(cases[i].globals, world_dir, cases[i].now);
		bid = world_bid(a, "100 " TWO_SLOTS);
		assert_int_equal(auc_auction_bid(a, &bid, 1, cases[i].now, true, &o, &err), AUC_OK);
		assert_true(o.accepted);
		assert_int_equal(o.plan.start, cases[i].start);
		auc_offer_clear(&o);
		auc_auction_destroy(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_extend, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_go_on, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_go_on_not, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_move, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_rearrange, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_rearrange_limits, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_rearrange_not, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_move_on, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_later, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_put_off, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_lost, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_all_missed, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_split, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_late_start, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
