/*
 * test_revise.c - policy aonline behind the facade: jobs come by bids without a value, plans follow
 * as the simulator's stepper would have it, whatever is restarted in between, and nothing is paid.
 */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input/bid_resolve.h"
#include "auction/auction-private.h"
#include "policy/stepper.h"
#include "unit/support/cases.h"
#include "unit/support/world.h"

#define POLICY    "Policy=aonline\nChangeNotice=30\nSlots=400\n"
#define JOBS      8
#define SLOTS_RUN 100

static struct auc_err err;
static uint64_t seed;

static unsigned draw(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

/* A job of CHUNKS chunks of SLOTS slots each. */
static void text_of(char *text, size_t size, unsigned chunks, unsigned slots, const char *more)
{
	snprintf(text, size,
		 "epochs=%u chunks=%u minibatches=100 worker-time=v100=3s ps-time=ps.m=0 "
		 "gradient-mb=0 upload=0 %s",
		 slots, chunks, more);
}

static bool bid(struct auc_auction *a, const char *text, uint32_t job, double now,
		struct auc_offer *o)
{
	struct auc_offer own;
	bool accepted;

	if (!o) {
		accepted = bid(a, text, job, now, &own);
		auc_offer_clear(&own);
		return accepted;
	}
	*o = world_offer(a, text, now, true);
	if (!o->accepted)
		return false;
	assert_int_equal(o->payment, 0);
	assert_int_equal(auc_auction_confirm(a, o->sale, job, NULL, &err), AUC_OK);
	return true;
}

static unsigned revise(struct auc_auction *a, double now)
{
	unsigned changed;

	if (auc_auction_revise(a, now, 0, false, &changed, &err) != AUC_OK)
		fail_msg("%s", err.text);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(a->market));
	return changed;
}

static const struct auc_plan *plan_of(struct auc_auction *a, uint32_t job)
{
	const struct auc_sale *s = auc_ledger_find_job(a->ledger, job);

	assert_non_null(s);
	assert_int_equal(s->payment, 0);
	return &s->plan;
}

/* The slots that PLAN gives from FROM on, in worker-slots. */
static unsigned work_of(const struct auc_plan *p)
{
	unsigned n = 0;

	for (unsigned r = 0; r < p->nruns; r++)
		for (unsigned i = 0; i < p->runs[r].nshares; i++)
			n += p->shares[p->runs[r].first_share + i].workers *
			     (unsigned)(p->runs[r].to - p->runs[r].from + 1);
	return n;
}

/* A long job has all eight edge workers; a short one takes some from it for a while, and gives them
 * back. */
static void test_preempts(void **state)
{
	struct auc_auction *a = world_open(POLICY, world_dir, NOW);
	struct auc_offer o;
	struct auc_plan before;
	const struct auc_plan *p;
	char text[512];

	(void)state;
	text_of(text, sizeof(text), 8, 10, "");
	assert_true(bid(a, text, 1, NOW, &o));
	assert_true(o.start == NOW + SLOT);
	assert_non_null(strstr(o.message, "pays nothing"));
	auc_offer_clear(&o);
	revise(a, NOW);
	p = plan_of(a, 1);
	assert_int_equal(p->completion, 1011);
	assert_int_equal(work_of(p), 80);
	assert_true(p->due > 0);
	auc_plan_init(&before);
	assert_int_equal(auc_plan_copy(&before, p, &err), AUC_OK);
	assert_int_equal(revise(a, NOW + 1), 0);

	/* In the sixth slot: what comes in the last 30 s before a slot begins is for the next. */
	text_of(text, sizeof(text), 2, 2, "");
	assert_true(bid(a, text, 2, 1006 * SLOT - 30, &o));
	assert_true(o.start == 1011 * SLOT); /* what is free, for now */
	auc_offer_clear(&o);
	assert_int_equal(revise(a, 1006 * SLOT - 30), 2);
	p = plan_of(a, 2);
	assert_int_equal(p->start, 1006);
	assert_int_equal(p->completion, 1008);
	p = plan_of(a, 1);
	assert_int_equal(p->completion, 1013);
	assert_int_equal(work_of(p), 80);
	/* Its past is what it was, and every chunk is where it was. */
	assert_int_equal(p->runs[0].from, before.runs[0].from);
	assert_int_equal(p->runs[0].to, 1005);
	for (unsigned k = 0; k < p->nchunks; k++)
		assert_int_equal(p->chunks[k].server, before.chunks[k].server);
	auc_plan_clear(&before);

	/* The short one is cancelled before it begins: as if it had not been there. */
	assert_int_equal(auc_auction_settle(a, 2, "cancelled", 1006 * SLOT - 29, NULL, &err),
			 AUC_OK);
	assert_int_equal(revise(a, 1006 * SLOT - 30), 1);
	assert_int_equal(plan_of(a, 1)->completion, 1011);
	/* A chunk stays where it is, even if its node fails. */
	assert_int_equal(auc_auction_move(a, 1, "edge1", 1006 * SLOT, NULL, &err), AUC_EFULL);
	auc_auction_destroy(a);
}

/* A receipt is enough to go on from, chunk by chunk, where the spool is lost. */
static void test_adopted(void **state)
{
	struct auc_auction *a = world_open(POLICY, world_dir, NOW);
	char other[64], *receipt = NULL, text[512];
	struct auc_receipt r;
	struct auc_offer o;
	struct auc_plan before;

	(void)state;
	text_of(text, sizeof(text), 8, 10, "");
	assert_true(bid(a, text, 1, NOW, &o));
	revise(a, NOW);
	text_of(text, sizeof(text), 2, 2, "");
	assert_true(bid(a, text, 2, 1004 * SLOT, NULL));
	revise(a, 1004 * SLOT);
	assert_int_equal(auc_auction_confirm(a, o.sale, 1, &receipt, &err), AUC_OK);
	auc_offer_clear(&o);
	auc_plan_init(&before);
	assert_int_equal(auc_plan_copy(&before, plan_of(a, 1), &err), AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.nchunks, 8);
	for (unsigned i = 0; i < r.nchunks; i++)
		assert_string_equal(r.chunks[i],
				    auc_market_server_name(a->market, before.chunks[i].server));
	auc_receipt_clear(&r);
	auc_auction_destroy(a);

	world_mkdir(other);
	a = world_open(POLICY, other, 1005 * SLOT);
	assert_int_equal(auc_auction_adopt(a, receipt, 1, 1000, AUC_SALE_RUNNING, &err), AUC_OK);
	assert_true(auc_plan_same(plan_of(a, 1), &before));
	/* Nobody knows the short one any more: its slots are the long one's again. */
	assert_int_equal(revise(a, 1005 * SLOT), 1);
	assert_true(plan_of(a, 1)->completion < before.completion);
	assert_int_equal(work_of(plan_of(a, 1)), 80);
	for (unsigned i = 0; i < before.nchunks; i++)
		assert_int_equal(plan_of(a, 1)->chunks[i].server, before.chunks[i].server);
	auc_plan_clear(&before);
	free(receipt);
	auc_auction_destroy(a);
	world_rmdir(other);
}

/* Partitions hold in revisions, too, and a job that is not the stepper's keeps its place. */
static void test_confined(void **state)
{
	struct auc_auction *a = world_open(POLICY, world_dir, NOW);
	struct auc_offer o;
	struct auc_bid b;
	char text[512];

	(void)state;
	text_of(text, sizeof(text), 2, 3, "");
	b = world_bid(a, "epochs=3 chunks=2 minibatches=100 worker-time=v100=3s,t4=1s");
	b.npartitions = 1;
	strcpy(b.partitions[0], "edge");
	assert_int_equal(auc_auction_bid(a, &b, 1000, NOW, true, &o, &err), AUC_OK);
	/* On t4 it would be faster, but those are in the cloud. */
	if (o.accepted) {
		assert_int_equal(auc_auction_confirm(a, o.sale, 1, NULL, &err), AUC_OK);
		auc_offer_clear(&o);
	} else {
		auc_offer_clear(&o);
	}
	b = world_bid(a, text);
	b.npartitions = 1;
	strcpy(b.partitions[0], "edge");
	assert_int_equal(auc_auction_bid(a, &b, 1000, NOW, true, &o, &err), AUC_OK);
	assert_true(o.accepted);
	assert_int_equal(auc_auction_confirm(a, o.sale, 2, NULL, &err), AUC_OK);
	auc_offer_clear(&o);
	revise(a, NOW);
	for (unsigned i = 0; i < plan_of(a, 2)->nshares; i++)
		assert_string_equal(
			auc_market_server_group(a->market, plan_of(a, 2)->shares[i].server),
			"edge");
	assert_non_null(strstr(auc_ledger_find_job(a->ledger, 2)->bid, "upload=edge=0,1000000"));
	assert_true(plan_of(a, 2)->due > 0); /* it is the stepper's */
	auc_auction_destroy(a);
}

/* What never gets to some servers, in the bid of a job that is kept, is read back as that; also as
 * older spools have it. */
static void test_never(void **state)
{
	static const char *const never[] = {"1000000", "1e6", "4294967295"};
	struct auc_auction *a = world_open(POLICY, world_dir, NOW);
	struct auc_job job = {0};
	struct auc_bid b;
	char text[512], more[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(never) / sizeof(*never); i++) {
		snprintf(more, sizeof(more), "upload=edge=2,cloud=%s", never[i]);
		snprintf(text, sizeof(text), "epochs=3 worker-time=v100=3s,t4=1s %s", more);
		if (auc_bid_parse(auc_auction_conf(a), text, &b, &err) != AUC_OK)
			fail_msg("%s", err.text);
		assert_int_equal(auc_bid_resolve(a->market, &b, 1001, &job, &err), AUC_OK);
		for (unsigned s = 0; s < auc_market_nservers(a->market); s++)
			assert_int_equal(job.upload[s],
					 !strcmp(auc_market_server_group(a->market, s), "cloud")
						 ? UINT32_MAX
						 : 2);
	}
	assert_int_equal(auc_bid_parse(auc_auction_conf(a), "upload=cloud=1000001", &b, &err),
			 AUC_EINVAL);
	assert_int_equal(auc_bid_parse(auc_auction_conf(a), "upload=cloud=4294967294", &b, &err),
			 AUC_EINVAL);
	auc_job_clear(&job);
	auc_auction_destroy(a);
}

/* Nobody is told of bids where jobs need none. */
static void test_words(void **state)
{
	struct auc_auction *a = world_open(POLICY, world_dir, NOW);
	struct auc_conf *priced = world_conf("Prices=given\nEta=gpu:v100=90,gpu:t4=90,cpu=40"),
			*posted = world_conf("Policy=posted");
	struct auc_offer o;
	char text[512];

	(void)state;
	text_of(text, sizeof(text), 2, 100000, "");
	o = world_offer(a, text, NOW, false);
	assert_false(o.accepted);
	assert_ptr_equal(strstr(o.message, "auction: refused: no schedule is possible: "),
			 o.message);
	assert_null(strstr(o.message, "bid"));
	auc_offer_clear(&o);
	assert_null(strstr(auc_bid_needed(auc_auction_conf(a)), "bid"));
	assert_non_null(strstr(auc_bid_needed(auc_auction_conf(a)), "--epochs=N"));
	assert_non_null(strstr(auc_bid_needed(priced), "--bid=VALUE"));
	assert_non_null(strstr(auc_bid_needed(posted), "--max-price=PRICE"));
	auc_conf_free(priced);
	auc_conf_free(posted);
	auc_auction_destroy(a);
}

static void test_refusals(void **state)
{
	struct auc_auction *a = world_open(POLICY, world_dir, NOW);
	struct auc_bid b;
	struct auc_offer o;
	struct auc_conf *conf;
	char text[512];

	(void)state;
	assert_int_equal(auc_bid_parse(auc_auction_conf(a),
				       "epochs=1 worker-time=v100=3s overrun=extend", &b, &err),
			 AUC_EINVAL);
	b = world_bid(a, "epochs=1 chunks=2000 worker-time=v100=3s");
	assert_int_equal(auc_auction_bid(a, &b, 1000, NOW, true, &o, &err), AUC_EINVAL);
	text_of(text, sizeof(text), 8, 1000, "");
	b = world_bid(a, text);
	assert_int_equal(auc_auction_bid(a, &b, 1000, NOW, true, &o, &err), AUC_OK);
	assert_false(o.accepted);
	assert_non_null(strstr(o.message, "end of the horizon"));
	auc_offer_clear(&o);
	/* Others still have to say what it is worth. */
	snprintf(text, sizeof(text), "Policy=aonline\nLateStart=30\n%s", world_types);
	assert_int_equal(auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err),
			 AUC_EINVAL);
	snprintf(text, sizeof(text), "Policy=aonline\nPrices=learned\n%s", world_types);
	assert_int_equal(auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err),
			 AUC_EINVAL);
	snprintf(text, sizeof(text), "Policy=aonline\nPartitionName=c OneServer=yes\n%s",
		 world_types);
	assert_int_equal(auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err),
			 AUC_EINVAL);
	assert_non_null(strstr(err.text, "OneServer=yes"));
	snprintf(text, sizeof(text), "Policy=aonline,guard=maybe\n%s", world_types);
	assert_int_equal(auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err),
			 AUC_EINVAL);
	conf = world_conf("Policy=dps\n");
	assert_int_equal(auc_bid_parse(conf, "epochs=1 worker-time=v100=3s", &b, &err), AUC_EINVAL);
	auc_conf_free(conf);
	auc_auction_destroy(a);
}

/* The stepper as the simulator runs it, beside the auction. */
struct beside {
	const struct auc_stepper *stepper;
	struct auc_stepper_ctx *ctx;
	struct auc_job jobs[JOBS + 1];
	struct auc_plan plans[JOBS + 1];
	bool done[JOBS + 1];
};

static void beside_step(struct beside *b, struct auc_market *m, auc_slot t)
{
	const struct auc_layout *l;
	unsigned n;

	assert_int_equal(b->stepper->step(b->ctx, m, t, &l, &n, &err), AUC_OK);
	for (unsigned i = 0; i < n; i++) {
		struct auc_plan *p = &b->plans[l[i].id];

		if (!p->nruns)
			p->start = t;
		p->completion = t + 1;
		b->done[l[i].id] = l[i].last;
	}
	for (unsigned i = 0; i < n; i++)
		if (l[i].last)
			assert_int_equal(
				b->stepper->keep(b->ctx, l[i].id, &b->plans[l[i].id], &err),
				AUC_OK);
}

/* Jobs of random sizes in random slots, with restarts: chunks are trained where and when the
 * simulator's stepper has them. */
static void as_simulated(const char *options, unsigned restarts)
{
	char policy[200], text[512];
	struct auc_auction *a;
	struct auc_market *m;
	struct beside b = {.stepper = &auc_stepper_aonline};
	uint32_t job = 0;
	struct auc_offer o;

	snprintf(policy, sizeof(policy), "Policy=aonline%s%s\nChangeNotice=30\nSlots=400\n",
		 *options ? "," : "", options);
	a = world_open(policy, world_dir, NOW);
	m = auc_market_outline(a->market, 1001, 1);
	assert_int_equal(b.stepper->create(options, &b.ctx, &err), AUC_OK);
	for (auc_slot t = 1001; t < 1001 + SLOTS_RUN; t++) {
		double now = (double)t * SLOT - 40;
		bool came = false;

		auc_market_advance(m, t);
		auc_auction_tick(a, now);
		while (job < JOBS && t < 1001 + SLOTS_RUN / 2 && draw(5) == 0) {
			enum auc_reason reason;
			struct auc_bid parsed;

			came = true;
			text_of(text, sizeof(text), 1 + draw(6), 1 + draw(6),
				draw(2) ? "data-mb=10" : "bid=5");
			assert_true(bid(a, text, ++job, now, &o));
			auc_offer_clear(&o);
			parsed = world_bid(a, text);
			assert_int_equal(auc_bid_resolve(m, &parsed, t, &b.jobs[job], &err),
					 AUC_OK);
			b.plans[job].arrival = t;
			assert_int_equal(
				b.stepper->arrive(b.ctx, m, job, &b.jobs[job], &reason, &err),
				AUC_OK);
			assert_int_equal(reason, AUC_REASON_NONE);
		}
		if (came)
			revise(a, now);
		else if (draw(3) == 0) {
			a->stale = true;
			assert_int_equal(revise(a, now), 0);
		}
		if (restarts && draw(restarts) == 0) {
			assert_int_equal(auc_auction_commit(a, &err), AUC_OK);
			auc_auction_destroy(a);
			a = world_open(policy, world_dir, now);
			assert_int_equal(revise(a, now), 0);
		}
		beside_step(&b, m, t);
	}
	for (uint32_t i = 1; i <= job; i++) {
		const struct auc_plan *p = plan_of(a, i), *q = &b.plans[i];

		assert_true(b.done[i]);
		assert_int_equal(p->completion, q->completion);
		assert_int_equal(p->nchunks, q->nchunks);
		assert_int_equal(p->nspans, q->nspans);
		assert_memory_equal(p->chunks, q->chunks, p->nchunks * sizeof(*p->chunks));
		assert_memory_equal(p->spans, q->spans, p->nspans * sizeof(*p->spans));
		assert_int_equal(auc_auction_settle(a, i, "completed", (double)p->completion * SLOT,
						    NULL, &err),
				 AUC_OK);
		auc_plan_clear(&b.plans[i]);
		auc_job_clear(&b.jobs[i]);
	}
	assert_int_equal(auc_auction_commit(a, &err), AUC_OK);
	b.stepper->destroy(b.ctx);
	auc_market_destroy(m);
	auc_auction_destroy(a);
}

static void test_as_simulated(void **state)
{
	static const char *const options[] = {"", "guard=none", "site=edge"};

	(void)state;
	for (unsigned i = 0; i < cases(9, 3); i++) {
		seed = 77 + i;
		as_simulated(options[i % 3], 1 + i % 4 * 5);
	}
}

/* What is booked by a bid while the plans are made, or does not end in time, leaves them as they
 * are. */
static void test_full(void **state)
{
	struct auc_auction *a = world_open(POLICY, world_dir, NOW);
	struct auc_revision list[2];
	struct auc_plan plan;
	struct auc_offer o;
	char text[512];

	(void)state;
	text_of(text, sizeof(text), 8, 10, "");
	assert_true(bid(a, text, 1, NOW, &o));
	auc_offer_clear(&o);
	revise(a, NOW);
	assert_true(bid(a, text, 2, NOW, &o));
	auc_offer_clear(&o);
	/* Both at once: all or nothing. */
	auc_plan_init(&plan);
	assert_int_equal(auc_plan_copy(&plan, plan_of(a, 1), &err), AUC_OK);
	list[0] = (struct auc_revision){1, &plan, 0};
	list[1] = (struct auc_revision){2, &plan, 0};
	assert_int_equal(auc_ledger_revise(a->ledger, list, 2, &err), AUC_EFULL);
	assert_true(auc_market_sound(a->market));
	assert_int_equal(auc_plan_same(&plan, plan_of(a, 1)), true);
	list[1].job_id = 9;
	assert_int_equal(auc_ledger_revise(a->ledger, list, 2, &err), AUC_ENOENT);
	auc_plan_clear(&plan);
	revise(a, NOW);
	assert_int_equal(plan_of(a, 2)->completion, 1021);
	/* What a site reserves is left alone: the chunks that lie there wait. */
	{
		struct auc_closing closed = {
			.server = "edge1", .from = 1003 * SLOT, .to = 1005 * SLOT};

		assert_int_equal(auc_auction_close(a, &closed, 1, &err), AUC_OK);
		assert_int_equal(revise(a, NOW), 2);
		assert_int_equal(plan_of(a, 1)->completion, 1013);
		assert_int_equal(work_of(plan_of(a, 1)), 80);
		assert_int_equal(auc_auction_close(a, &closed, 1, &err), AUC_OK);
		assert_false(a->stale);
		assert_int_equal(auc_auction_close(a, NULL, 0, &err), AUC_OK);
		assert_int_equal(revise(a, NOW), 2);
		assert_int_equal(plan_of(a, 1)->completion, 1011);
	}
	/* A node that goes down takes no part: the job that has chunks there keeps its plan. */
	{
		struct auc_server_spec specs[8];

		memcpy(specs, world_servers, world_nservers * sizeof(*specs));
		specs[1].down = true;
		assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW + 1, &err),
				 AUC_OK);
		assert_int_equal(revise(a, NOW + 1), 0);
		text_of(text, sizeof(text), 3, 2, "");
		assert_true(bid(a, text, 3, NOW + 2, &o));
		auc_offer_clear(&o);
		revise(a, NOW + 2);
		for (unsigned i = 0; i < plan_of(a, 3)->nshares; i++)
			assert_string_not_equal(
				auc_market_server_name(a->market, plan_of(a, 3)->shares[i].server),
				"edge2");
	}
	auc_auction_destroy(a);
}

struct bidder {
	struct auc_auction *a;
	bool failed;
	atomic_bool done;
};

/* What goes on beside the agent: it holds, and half the time thinks better of it, perhaps too late.
 */
static void *hold_and_drop(void *arg)
{
	struct bidder *b = arg;
	struct auc_offer o;
	struct auc_bid bid;
	char text[512];

	for (unsigned i = 0; i < 60 && !b->failed; i++) {
		text_of(text, sizeof(text), 1 + i % 4, 1 + i % 3, "");
		b->failed =
			auc_bid_parse(auc_auction_conf(b->a), text, &bid, NULL) != AUC_OK ||
			auc_auction_bid(b->a, &bid, 1000, NOW + i * 20, true, &o, NULL) != AUC_OK;
		if (b->failed)
			break;
		if (o.accepted && i % 2)
			(void)auc_auction_drop(b->a, o.sale, NULL);
		auc_offer_clear(&o);
	}
	atomic_store(&b->done, true);
	return NULL;
}

/* Revisions beside bids, as in slurmctld: nothing is booked twice, no job loses work. Built with
 * --enable-sanitizers=thread it must be silent. */
static void test_beside_bids(void **state)
{
	struct auc_auction *a = world_open(
		"Policy=aonline\nChangeNotice=30\nSlots=400\nLienSeconds=3600\n", world_dir, NOW);
	struct bidder b = {.a = a};
	struct auc_sale_view *views;
	unsigned n, known = 0, changed, all = 0;
	pthread_t thread;
	bool last;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, hold_and_drop, &b), 0);
	do {
		double now = NOW + known * 40;

		last = atomic_load(&b.done);
		assert_int_equal(auc_auction_sales(a, &views, &n, &err), AUC_OK);
		for (unsigned i = 0; i < n; i++) {
			/* A lien may be dropped just now. */
			if (views[i].state == AUC_SALE_LIEN && draw(2) &&
			    auc_auction_confirm(a, views[i].sale, known + 1, NULL, NULL) == AUC_OK)
				known++;
			auc_sale_view_clear(&views[i]);
		}
		free(views);
		auc_auction_tick(a, now);
		pthread_mutex_lock(&a->lock);
		a->revise_next = 0;
		pthread_mutex_unlock(&a->lock);
		if (auc_auction_revise(a, now, 0, false, &changed, &err) != AUC_OK)
			assert_int_equal(err.code, AUC_EFULL);
		all += changed;
	} while (!last);
	pthread_join(thread, NULL);
	assert_false(b.failed);
	assert_true(known > 5 && all > 5);
	assert_true(auc_market_sound(a->market));
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	for (uint32_t job = 1; job <= known; job++) {
		struct auc_bid bid = world_bid(a, auc_ledger_find_job(a->ledger, job)->bid);

		assert_int_equal(work_of(plan_of(a, job)), bid.chunks * bid.epochs);
	}
	auc_auction_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_preempts, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_adopted, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_confined, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_never, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_refusals, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_words, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_as_simulated, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_full, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_beside_bids, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
