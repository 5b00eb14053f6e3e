/* test_rebuild.c - the facade's market made anew: nodes, types and configuration that change,
 * prices that are learned. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction/auction-private.h"
#include "base/check.h"
#include "base/list.h"
#include "unit/support/world.h"

static struct auc_err err;

/* Nodes go, come back, shrink; sales stay, what is gone sells nothing new. */
static void test_nodes_change(void **state)
{
	struct auc_server_spec specs[8];
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1", world_dir, NOW);
	struct auc_sale_view v;
	struct auc_offer o;

	(void)state;
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	world_sell(a, "5 epochs=4 chunks=2 minibatches=100 worker-time=v100=3s gradient-mb=0", 1,
		   NOW);
	assert_int_equal(auc_auction_sale_of_job(a, 1, &v, &err), AUC_OK);
	assert_int_equal(v.nparts, 1);
	assert_string_equal(v.parts[0].server, "edge1");
	auc_sale_view_clear(&v);

	/* Down: the sale stays booked, nothing new goes there, nor to an idle one that is down. */
	specs[0].down = specs[1].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_OK);
	o = world_offer(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge3");
	auc_offer_clear(&o);
	specs[1].down = false;

	/* Gone: the sale does not fit, and is reported, but still there. */
	assert_int_equal(auc_auction_set_servers(a, specs + 1, world_nservers - 1, NOW, &err),
			 AUC_EFULL);
	assert_non_null(strstr(err.text, "1 sale no longer fits: sale "));
	assert_int_equal(auc_auction_sale_of_job(a, 1, &v, &err), AUC_OK);
	assert_string_equal(v.parts[0].server, "edge1");
	assert_string_equal(v.parts[0].partition, "");
	auc_sale_view_clear(&v);
	o = world_offer(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge2");
	auc_offer_clear(&o);
	world_commit(a);
	auc_auction_destroy(a);

	/* So it is after a restart without the node. */
	a = world_create("Prices=given\nEta=cpu=1");
	assert_int_equal(auc_auction_set_servers(a, specs + 1, world_nservers - 1, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_EFULL);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	assert_true(auc_auction_owns(a, 1));

	/* Back again: booked again. */
	specs[0].down = false;
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_OK);
	o = world_offer(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge2"); /* edge1's two GPUs are sold */
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_settle(a, 1, "lost", NOW, NULL, &err), AUC_OK);
	o = world_offer(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge1");
	auc_offer_clear(&o);

	strcpy(specs[1].partition, "nowhere");
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_EINVAL);
	assert_string_equal(err.text, "node edge2: partition nowhere is not one of auction.conf");
	assert_int_equal(auc_auction_set_servers(a, specs, 1, NOW, &err), AUC_OK);
	auc_auction_destroy(a);
}

static void test_reconfigure(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=4\nSlots=50", world_dir, NOW);
	const struct auc_conf *old = auc_auction_conf(a);
	struct auc_bid bid = world_bid(a, "5 epochs=4 minibatches=100 worker-time=v100=3s");
	struct auc_conf *conf;
	struct auc_offer o;
	struct auc_sale_view v;

	(void)state;
	world_sell(a, "5 epochs=40 minibatches=100 worker-time=v100=3s", 1, NOW);
	assert_int_equal(auc_auction_reconfigure(
				 a, world_conf("Prices=given\nEta=cpu=1\nSlots=50\nSlotSeconds=60"),
				 NOW, &err),
			 AUC_ESTATE);
	assert_non_null(strstr(err.text, "was sold in slots of 300 s, but SlotSeconds=60 now"));
	assert_ptr_equal(auc_auction_conf(a), old);
	assert_true(auc_auction_owns(a, 1));

	/* A shorter horizon than the sale, and its type is gone from the file. */
	conf = world_conf("Prices=given\nEta=cpu=1\nSlots=5");
	strcpy(conf->worker_types[0].name, "other");
	assert_int_equal(auc_auction_reconfigure(a, conf, NOW, &err), AUC_OK);
	assert_true(old->slots == 50); /* still readable */
	assert_int_equal(auc_auction_sale_of_job(a, 1, &v, &err), AUC_OK);
	assert_int_equal(v.nparts, 1);
	assert_true(v.end - v.start == 40 * SLOT);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_auction_tick(a, NOW + 20 * SLOT), 0);
	/* The GPU stays sold to the end of its window: the other one of edge1 is free, and then
	 * edge2. */
	for (int i = 0; i < 2; i++) {
		o = world_offer(a, "5 epochs=4 minibatches=100 worker-time=other=3s",
				NOW + 20 * SLOT, true);
		assert_true(o.accepted);
		assert_string_equal(o.parts[0].server, i ? "edge2" : "edge1");
		auc_offer_clear(&o);
	}
	/* The old type's name is of no use to new bids, once parsed against the new configuration;
	 * and old bids end well. */
	(void)auc_auction_bid(a, &bid, 1, NOW, false, &o, &err);
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_settle(a, 1, "lost", NOW + 20 * SLOT, NULL, &err), AUC_OK);
	auc_auction_destroy(a);
}

/* What is only offered keeps all of its slots in a market made anew by somebody who has waited for
 * the lock and has an older time, and in one with a shorter horizon. */
static void test_offers_stay(void **state)
{
	static const char bid[] = "5 epochs=40 minibatches=100 worker-time=v100=3s "
				  "upload=edge=99,edge1=0";
	static const char small[] = "5 epochs=4 minibatches=100 worker-time=v100=3s "
				    "upload=edge=99,edge1=0";
	struct auc_auction *a = world_open("Prices=none\nSlots=41", world_dir, NOW);
	struct auc_offer lapsing = world_offer(a, bid, NOW, true), sold, next;

	(void)state;
	assert_true(lapsing.accepted);
	assert_int_equal(lapsing.plan.completion, 1041); /* all of the horizon */
	assert_int_equal(
		auc_auction_set_servers(a, world_servers, world_nservers - 1, NOW - SLOT, &err),
		AUC_OK);
	auc_auction_tick(a, NOW);
	auc_auction_tick(a, NOW + SLOT);
	assert_null(auc_check_evidence());

	sold = world_offer(a, bid, NOW + SLOT, true);
	assert_true(sold.accepted);
	assert_int_equal(
		auc_auction_reconfigure(a, world_conf("Prices=none\nSlots=5"), NOW + SLOT, &err),
		AUC_OK);
	assert_int_equal(auc_auction_confirm(a, sold.sale, 1, NULL, &err), AUC_OK);
	auc_auction_tick(a, NOW + 20 * SLOT);
	/* One of edge1's two GPUs is free, the other one is not. */
	for (int i = 0; i < 2; i++) {
		next = world_offer(a, small, NOW + 20 * SLOT, true);
		assert_true(next.accepted);
		assert_int_equal(next.plan.start, i ? 1025 : 1021);
		auc_offer_clear(&next);
	}
	assert_null(auc_check_evidence());
	auc_offer_clear(&sold);
	auc_offer_clear(&lapsing);
	auc_auction_destroy(a);
}

/* The amount of TRES in the first part of JOB's sale. */
static double sold_amount(struct auc_auction *a, uint32_t job, const char *tres)
{
	const struct auc_named *found;
	struct auc_sale_view v;
	double value;

	assert_int_equal(auc_auction_sale_of_job(a, job, &v, &err), AUC_OK);
	found = auc_list_find(v.parts[0].tres, v.parts[0].ntres, tres);
	value = found ? found->value : 0;
	auc_sale_view_clear(&v);
	return value;
}

/* A type that takes something else from now on changes nothing of what was sold of it. */
static void test_types_change(void **state)
{
	static const char globals[] = "Prices=given\nEta=cpu=4";
	static const char bid[] = "5 epochs=4 minibatches=100 worker-time=v100=3s";
	struct auc_auction *a = world_open(globals, world_dir, NOW);
	struct auc_conf *conf;
	struct auc_offer o;
	struct auc_receipt r;
	char *receipt;

	(void)state;
	world_sell(a, bid, 1, NOW);
	assert_true(sold_amount(a, 1, "cpu") == 4 + 2);
	conf = world_conf(globals);
	conf->worker_types[0].tres[0].value = 9;
	conf->ps_types[0].tres[0].value = 1;
	assert_int_equal(auc_auction_reconfigure(a, conf, NOW, &err), AUC_OK);
	assert_true(sold_amount(a, 1, "cpu") == 4 + 2);
	assert_true(auc_market_used(a->market, 0, (unsigned)auc_market_find_tres(a->market, "cpu"),
				    1001) == 4 + 2);
	/* New sales are of the new type, those of the old one start as they were sold. */
	world_sell(a, bid, 2, NOW);
	assert_true(sold_amount(a, 2, "cpu") == 9 + 1);
	assert_int_equal(auc_auction_start(a, 1, NOW + SLOT, &receipt, &err), AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_string_equal(r.worker_type, "v100");
	assert_true(auc_list_find(r.worker_tres, r.nworker_tres, "cpu")->value == 4);
	auc_receipt_clear(&r);
	world_commit(a);
	auc_auction_destroy(a);

	/* The same after a restart; a receipt of the old type is still good while it is known. */
	a = world_create(globals);
	conf = world_conf(globals);
	conf->worker_types[0].tres[0].value = 9;
	conf->ps_types[0].tres[0].value = 1;
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_reconfigure(a, conf, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_OK);
	assert_true(sold_amount(a, 1, "cpu") == 4 + 2);
	assert_true(sold_amount(a, 2, "cpu") == 9 + 1);
	assert_int_equal(auc_auction_settle(a, 1, "lost", NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_adopt(a, receipt, 3, 1000, AUC_SALE_RUNNING, &err), AUC_OK);
	assert_true(sold_amount(a, 3, "cpu") == 4 + 2);

	/* Without a sale it is forgotten, and what is not known cannot be sold again. */
	assert_int_equal(auc_auction_settle(a, 3, "lost", NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers - 1, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_adopt(a, receipt, 3, 1000, AUC_SALE_RUNNING, &err),
			 AUC_ENOENT);
	assert_string_equal(err.text, "receipt: worker_type: 'v100' was another one when it was "
				      "sold");
	o = world_offer(a, bid, NOW, false);
	assert_true(o.accepted);
	auc_offer_clear(&o);
	free(receipt);
	auc_auction_destroy(a);
}

/* A clock that was ahead and is set right: what is sold stays sold, and the present is for sale
 * again. */
static void test_clock_set_back(void **state)
{
	static const char bid[] =
		"5 epochs=4 minibatches=100 worker-time=v100=3s upload=edge=99,edge1=0";
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1\nSlots=20", world_dir, NOW);
	struct auc_offer o;

	(void)state;
	world_sell(a, bid, 1, NOW);
	world_sell(a, bid, 2, NOW); /* edge1's second GPU */
	auc_auction_tick(a, NOW + 1e6 * SLOT);
	auc_auction_tick(a, NOW);
	o = world_offer(a, bid, NOW, false);
	assert_true(o.accepted);
	/* Slots 1001 to 1004 are sold. */
	assert_int_equal(o.plan.start, 1005);
	auc_offer_clear(&o);
	assert_true(auc_auction_owns(a, 1) && auc_auction_owns(a, 2));
	/* A second or so is nothing: slots that have begun do not come back. */
	auc_auction_tick(a, NOW + SLOT);
	auc_auction_tick(a, NOW);
	assert_int_equal(auc_market_first(a->market), 1001);
	auc_auction_destroy(a);
}

static double gpu_eta(struct auc_auction *a)
{
	struct json_object *s = auc_auction_status(a, NOW), *eta, *v;
	double value;

	assert_true(json_object_object_get_ex(s, "eta", &eta));
	assert_true(json_object_object_get_ex(eta, "gpu:v100", &v));
	value = json_object_get_double(v);
	json_object_put(s);
	return value;
}

static void test_learned_prices(void **state)
{
	struct auc_auction *a =
		world_open("Prices=learned\nHistoryBids=3\nEta=gpu:v100=5", world_dir, NOW);
	struct auc_offer o, again;

	(void)state;
	/* The first bids pay nothing, however high: the price does not know them. */
	world_sell(a, "1000 epochs=4 minibatches=100 worker-time=v100=3s", 1, NOW);
	assert_true(gpu_eta(a) == 5); /* and it changes at the next tick only */
	auc_auction_tick(a, NOW);
	/* 1000 for one GPU over 4 slots: 250 a unit and slot, plus 1 */
	assert_true(gpu_eta(a) == 251);
	/* The next one on the same node does, and the value it names does not change that. */
	o = world_offer(a,
			"deadline:1000,4 epochs=4 minibatches=100 worker-time=v100=3s "
			"upload=edge=50,edge1=0",
			NOW, false);
	again = world_offer(a,
			    "deadline:9000,4 epochs=4 minibatches=100 worker-time=v100=3s "
			    "upload=edge=50,edge1=0",
			    NOW, false);
	assert_true(o.accepted && again.accepted);
	if (!(o.payment > 0 && o.payment == again.payment))
		fail_msg("%s\n%s", o.message, again.message);
	auc_offer_clear(&o);
	auc_offer_clear(&again);
	/* One that is not worth the price is told it, though a free schedule after its deadline is
	 * the best. */
	o = world_offer(a,
			"deadline:0.01,4 epochs=4 minibatches=100 worker-time=v100=3s "
			"upload=edge=50,edge1=0",
			NOW, false);
	assert_false(o.accepted);
	assert_true(o.plan.value == 0 && o.plan.cost == 0);
	assert_non_null(strstr(o.message, "a higher value before it, as --bid=deadline:"));
	auc_offer_clear(&o);
	/* Three smaller bids later the first is forgotten. */
	for (int i = 0; i < 3; i++) {
		o = world_offer(a, "40 epochs=4 minibatches=100 worker-time=v100=3s", NOW, true);
		auc_offer_clear(&o);
	}
	auc_auction_tick(a, NOW);
	assert_true(gpu_eta(a) == 11);
	auc_auction_destroy(a);
}

/* Roles=: PSs on edge servers and workers in the cloud only, also after nodes went and came back.
 */
static void test_roles(void **state)
{
	static const char text[] = "Policy=oasis\nPrices=none\n"
				   "PartitionName=edge Roles=ps\nPartitionName=cloud Roles=worker\n"
				   "WorkerType=v100 TRES=cpu=4,gpu:v100=1\n"
				   "WorkerType=t4 TRES=cpu=4,gpu:t4=1\nPSType=ps.m TRES=cpu=2\n";
	static const char bid[] = "300 epochs=2 chunks=1 minibatches=100 worker-time=t4=3s";
	struct auc_server_spec specs[6];
	struct auc_auction *a;
	struct auc_conf *conf;
	struct auc_offer o;

	(void)state;
	assert_int_equal(auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err), AUC_OK);
	assert_int_equal(auc_auction_create(conf, &a, &err), AUC_OK);
	assert_int_equal(world_nservers, 6);
	memcpy(specs, world_servers, sizeof(specs));
	specs[4].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, 6, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	o = world_offer(a, bid, NOW, false);
	assert_non_null(strstr(o.message, "1 x t4 on big2 + 1 x ps.m on edge1"));
	auc_offer_clear(&o);
	specs[4].down = false;
	specs[0].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, 6, NOW, &err), AUC_OK);
	o = world_offer(a, bid, NOW, false);
	assert_non_null(strstr(o.message, "1 x t4 on big1 + 1 x ps.m on edge2"));
	auc_offer_clear(&o);
	o = world_offer(a, "300 epochs=2 chunks=1 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_false(o.accepted);
	assert_non_null(strstr(o.message, "no node it may use can hold one worker (v100:"));
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* Policy oasis with its own kind of prices: what is sold around a job makes it change and pause,
 * and everything that a sale goes through knows of all its runs. */
static void test_oasis(void **state)
{
	static const char globals[] = "Policy=oasis\nPrices=given\nRefundUnused=yes\n"
				      "Lower=gpu:v100=1,gpu:t4=1\nUpper=gpu:v100=100,gpu:t4=100";
	static const char bid[] =
		"linear:1000,1 epochs=9 chunks=2 minibatches=100 worker-time=v100=3s "
		"upload=edge=50,edge1=0";
	struct auc_auction *a = world_open(globals, world_dir, NOW);
	struct auc_sale_view before, after;
	struct json_object *status, *o;
	struct auc_receipt r;
	struct auc_offer of;
	char *receipt = NULL;
	auc_money payment;

	(void)state;
	/* Slots 1003 and 1004 of edge1 are sold out. */
	world_sell(a,
		   "9000 epochs=4 minibatches=100 chunks=2 worker-time=v100=1.5s "
		   "upload=edge=50,edge1=2",
		   1, NOW);
	of = world_offer(a, bid, NOW, true);
	if (!of.accepted)
		fail_msg("%s", of.message);
	/* 18 worker-slots on the two GPUs of edge1: 1001, 1002, 1005 to 1011 */
	assert_int_equal(of.plan.nruns, 2);
	assert_true(of.plan.start == 1001 && of.plan.runs[0].to == 1002);
	assert_true(of.plan.runs[1].from == 1005 && of.plan.completion == 1012);
	assert_non_null(
		strstr(of.message, "at first, 2 layouts of 2 workers, a pause of 2 slots, "));
	assert_non_null(strstr(of.message, " (slots 1001 to 1011), pays 18"));
	assert_int_equal(of.payment, auc_money_from(18)); /* idle GPUs: L is 1 */
	payment = of.payment;
	assert_int_equal(auc_receipt_parse(of.receipt, &r, &err), AUC_OK);
	assert_string_equal(r.policy, "oasis");
	auc_receipt_clear(&r);
	assert_int_equal(auc_auction_confirm(a, of.sale, 2, &receipt, &err), AUC_OK);
	auc_offer_clear(&of);
	world_commit(a);
	assert_int_equal(auc_auction_sale_of_job(a, 2, &before, &err), AUC_OK);
	/* what the pause leaves free is free, what the runs take is not */
	of = world_offer(a, "1 minibatches=100 worker-time=v100=3s upload=edge=50,edge1=0", NOW,
			 false);
	assert_false(of.accepted);
	assert_non_null(strstr(of.message, "would cost"));
	auc_offer_clear(&of);
	status = auc_auction_status(a, NOW);
	assert_true(json_object_object_get_ex(status, "bounds", &o) &&
		    json_object_object_get_ex(o, "gpu:v100", &o) &&
		    json_object_object_get_ex(o, "worker", &o));
	assert_true(fabs(json_object_get_double(json_object_array_get_idx(o, 1)) - 100) < 1e-9);
	json_object_put(status);
	auc_auction_destroy(a);

	/* it survives a restart, and a spool that knows nothing of it */
	a = world_open(globals, world_dir, NOW + SLOT);
	assert_int_equal(auc_auction_sale_of_job(a, 2, &after, &err), AUC_OK);
	assert_int_equal(before.nparts, after.nparts);
	assert_memory_equal(before.parts, after.parts, after.nparts * sizeof(*after.parts));
	auc_sale_view_clear(&after);
	auc_auction_destroy(a);
	world_rmdir(world_dir);
	world_mkdir(world_dir);
	a = world_open(globals, world_dir, NOW + SLOT);
	assert_int_equal(auc_auction_adopt(a, receipt, 2, 7, AUC_SALE_SOLD, &err), AUC_OK);
	free(receipt);
	assert_int_equal(auc_auction_sale_of_job(a, 2, &after, &err), AUC_OK);
	assert_int_equal(before.nparts, after.nparts);
	assert_memory_equal(before.parts, after.parts, after.nparts * sizeof(*after.parts));
	auc_sale_view_clear(&before);
	auc_sale_view_clear(&after);
	/* it ends in the pause: 2 of its 9 slots are used */
	assert_int_equal(auc_auction_start(a, 2, 1001 * SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_settle(a, 2, "completed", 1003.5 * SLOT, &receipt, &err),
			 AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.refund, payment * 7 / 9);
	auc_receipt_clear(&r);
	free(receipt);
	auc_auction_destroy(a);
}

/* Bounds are learned from the bids before, and a bid never moves its own price. */
static void test_learned_bounds(void **state)
{
	static const char globals[] = "Policy=oasis\nHistoryBids=3";
	static const char bid[] = "1000 epochs=4 minibatches=100 worker-time=v100=3s";
	struct auc_auction *a = world_open(globals, world_dir, NOW);
	struct auc_offer o;
	auc_money payment;

	(void)state;
	o = world_offer(a, bid, NOW, true);
	assert_true(o.accepted && o.payment == 0);
	auc_offer_clear(&o);
	auc_auction_tick(a, NOW);
	o = world_offer(a, bid, NOW, false);
	assert_true(o.accepted && o.payment > 0);
	payment = o.payment;
	auc_offer_clear(&o);
	o = world_offer(a, "900 epochs=4 minibatches=100 worker-time=v100=3s", NOW, true);
	assert_true(o.accepted && o.payment == payment);
	auc_offer_clear(&o);
	world_commit(a);
	auc_auction_destroy(a);
	/* what was learned is in the spool; the liens are not */
	a = world_open(globals, world_dir, NOW);
	o = world_offer(a, "900 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_true(o.accepted && o.payment > 0);
	auc_offer_clear(&o);
	/* types that no schedule suits are said to be so */
	o = world_offer(a, "5 worker-time=v100=99999999s", NOW, false);
	assert_non_null(strstr(o.message, "it needs at least"));
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nodes_change, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_reconfigure, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_offers_stay, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_types_change, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_clock_set_back, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_learned_prices, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_roles, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_oasis, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_learned_bounds, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
