/*
 * test_bid_log.c - the last bids: bounded by count and bytes and by user, a refused bid made again
 * is one job, an accepted one waits for its job; and what is kept in the spool remembers the same.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "base/json.h"
#include "pricing/past/bid_log.h"
#include "unit/support/splitmix.h"

static void log_bid(struct auc_bid_log *p, const struct auc_bid *bid, uint32_t uid, double time,
		    double slot_seconds, bool accepted)
{
	char *text = auc_bid_print(bid);

	assert_int_equal(auc_bid_log_add(p, bid, text, uid, time, slot_seconds, accepted, NULL),
			 AUC_OK);
	free(text);
}

static void await_job(struct auc_bid_log *p, const char *sale, const struct auc_bid *bid,
		      uint32_t uid, double time, double slot_seconds)
{
	char *text = auc_bid_print(bid);

	assert_int_equal(auc_bid_log_wait(p, sale, bid, text, uid, time, slot_seconds, NULL),
			 AUC_OK);
	free(text);
}

/* Bounded by count and bytes. */
static void test_past(void **state)
{
	struct auc_bid_log *p = auc_bid_log_create(3), *copy;
	struct auc_bid bid = {.npartitions = 1, .partitions = {"edge"}};
	struct json_object *o;

	(void)state;
	assert_int_equal(auc_bid_parse(NULL, "7 worker-time=x=1s", &bid, NULL), AUC_OK);
	bid.npartitions = 1;
	strcpy(bid.partitions[0], "edge");
	for (unsigned i = 0; i < 5; i++)
		log_bid(p, &bid, 1000 + i % 2, i, 300, i % 2);
	assert_true(auc_bid_log_count(p) == 3 && auc_bid_log_truncated(p) &&
		    auc_bid_log_added(p) == 5);
	assert_true(auc_bid_log_at(p, 0)->time == 2 &&
		    !strcmp(auc_bid_log_at(p, 2)->partitions[0], "edge"));
	assert_null(strstr(auc_bid_log_at(p, 0)->text, "user"));
	assert_true(auc_bid_log_at(p, 0)->user == 1 && auc_bid_log_at(p, 1)->user == 2 &&
		    auc_bid_log_at(p, 2)->user == 1);
	copy = auc_bid_log_copy(p);
	o = auc_bid_log_event(copy, 1);
	assert_true(auc_bid_log_knows(o));
	assert_null(strstr(json_object_to_json_string(o), "1001"));
	assert_int_equal(auc_bid_log_apply(copy, o, NULL), AUC_OK);
	assert_true(auc_bid_log_at(copy, 0)->user == 2 && auc_bid_log_at(copy, 1)->user == 2);
	/* Whose those were is not known any more: who comes next is another. */
	{
		struct auc_bid_log *later = auc_bid_log_create(9);

		assert_int_equal(auc_bid_log_apply(later, o, NULL), AUC_OK);
		log_bid(later, &bid, 1001, 9, 300, true);
		assert_int_equal(auc_bid_log_at(later, 1)->user, 3);
		auc_bid_log_destroy(later);
	}
	json_object_put(o);
	/* in its place by time */
	assert_true(auc_bid_log_count(copy) == 3 && auc_bid_log_at(copy, 1)->time == 3 &&
		    auc_bid_log_at(copy, 2)->time == 4 && auc_bid_log_at(copy, 1)->accepted &&
		    !strcmp(auc_bid_log_at(copy, 1)->partitions[0], "edge"));
	assert_int_equal(auc_bid_log_set_limit(copy, 2, NULL), AUC_OK);
	assert_true(auc_bid_log_count(copy) == 2 && auc_bid_log_at(copy, 0)->time == 3 &&
		    auc_bid_log_at(copy, 1)->time == 4);
	auc_bid_log_destroy(copy);
	auc_bid_log_destroy(p);

	/* The longest texts do not add up beyond the bound. */
	p = auc_bid_log_create(10000);
	o = json_object_new_object();
	auc_json_add_text(o, "event", "bid");
	auc_json_add_double(o, "time", 5);
	auc_json_add_double(o, "slot_seconds", 300);
	auc_json_add_bool(o, "accepted", false);
	{
		char text[AUC_BID_TEXT_MAX];

		memset(text, 'x', sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		auc_json_add_text(o, "bid", text);
	}
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(auc_bid_log_apply(p, o, NULL), AUC_OK);
	assert_true(auc_bid_log_count(p) == AUC_BID_LOG_BYTES / (AUC_BID_TEXT_MAX - 1));
	json_object_put(o);
	auc_bid_log_destroy(p);
}

/* Who bids and bids drives out what he bid himself. */
static void test_driven_out(void **state)
{
	struct auc_bid_log *p = auc_bid_log_create(100);
	struct auc_bid bid = {0};
	unsigned others = 0;

	(void)state;
	assert_int_equal(auc_bid_parse(NULL, "7 worker-time=x=1s", &bid, NULL), AUC_OK);
	for (unsigned i = 0; i < 90; i++)
		log_bid(p, &bid, 1000 + i % 3, i, 300, false);
	for (unsigned i = 0; i < 1000; i++)
		log_bid(p, &bid, 77, 100 + i, 300, false);
	assert_int_equal(auc_bid_log_count(p), 100);
	for (unsigned i = 0; i < 100; i++) {
		others += auc_bid_log_at(p, i)->uid != 77;
		assert_true(!i || auc_bid_log_at(p, i)->time > auc_bid_log_at(p, i - 1)->time);
	}
	assert_int_equal(others, 10);
	assert_true(auc_bid_log_at(p, 99)->time == 1099 && auc_bid_log_truncated(p));
	auc_bid_log_destroy(p);
}

static struct auc_bid bid_of(const char *text)
{
	struct auc_bid bid = {0};
	struct auc_err err;

	if (auc_bid_parse(NULL, text, &bid, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return bid;
}

#define PERIOD  12000.0 /* 40 slots of SECONDS */
#define SECONDS 300.0

/* Adds a bid of TEXT by UID in the middle of SLOT; true if it was one made again. */
static bool add_again(struct auc_bid_log *p, const char *text, uint32_t uid, unsigned slot,
		      bool accepted)
{
	struct auc_bid bid = bid_of(text);

	log_bid(p, &bid, uid, (slot + 0.5) * SECONDS, SECONDS, accepted);
	return auc_bid_log_was_again(p);
}

/* A refused bid made again is one job, from when it was made first, as it was made last. */
static void test_made_again(void **state)
{
	static const char job[] = "7 worker-time=x=1s", more[] = "sigmoid:9,0.1 worker-time=x=1s",
			  other[] = "7 worker-time=x=2s";
	struct auc_bid_log *p = auc_bid_log_create(100);
	struct auc_bid bid = bid_of(job);

	(void)state;
	/* as long as nobody says how long a period is, it is another one */
	assert_false(add_again(p, job, 1, 0, false) || add_again(p, job, 1, 1, false));
	auc_bid_log_destroy(p);
	p = auc_bid_log_create(100);
	auc_bid_log_set_period(p, PERIOD);
	/* two within a slot are two, and so they are when they are made again */
	assert_false(add_again(p, job, 1, 0, false) || add_again(p, job, 1, 0, false));
	assert_true(add_again(p, job, 1, 1, false) && add_again(p, more, 1, 1, false));
	assert_int_equal(auc_bid_log_count(p), 2);
	assert_int_equal(auc_bid_log_added(p), 4);
	assert_true(auc_bid_log_at(p, 1)->time == 0.5 * SECONDS &&
		    auc_bid_log_at(p, 1)->last == 1.5 * SECONDS);
	assert_non_null(strstr(auc_bid_log_at(p, 1)->text, "sigmoid"));
	assert_null(strstr(auc_bid_log_at(p, 0)->text, "sigmoid"));
	/* another user's, another job, slots of another length */
	assert_false(add_again(p, job, 2, 2, false) || add_again(p, other, 1, 2, false));
	log_bid(p, &bid, 1, 2.5 * SECONDS, SECONDS / 2, false);
	assert_false(auc_bid_log_was_again(p));
	/* one that was accepted is done */
	assert_true(add_again(p, job, 1, 3, true) && add_again(p, job, 1, 4, true));
	assert_true(auc_bid_log_at(p, 0)->accepted && auc_bid_log_at(p, 1)->accepted);
	assert_false(add_again(p, job, 1, 5, false));
	assert_int_equal(auc_bid_log_count(p), 6);
	/* a quarter of a period later it is, more than that it is not */
	assert_true(add_again(p, job, 1, 15, false));
	assert_false(add_again(p, job, 1, 26, false));
	/* and not for more than a period */
	for (unsigned slot = 27; slot < 66; slot++)
		assert_true(add_again(p, job, 1, slot, false));
	assert_false(add_again(p, job, 1, 66, false));
	assert_int_equal(auc_bid_log_count(p), 8);
	auc_bid_log_destroy(p);
}

static void assert_same_past(const struct auc_bid_log *a, const struct auc_bid_log *b)
{
	assert_int_equal(auc_bid_log_count(a), auc_bid_log_count(b));
	for (unsigned i = 0; i < auc_bid_log_count(a); i++) {
		struct json_object *x = auc_bid_log_event(a, i), *y = auc_bid_log_event(b, i);

		assert_string_equal(json_object_to_json_string(x), json_object_to_json_string(y));
		json_object_put(x);
		json_object_put(y);
	}
}

/* A bid that is accepted counts when it has a job, from when it was made; one that never has, not.
 */
static void test_waits(void **state)
{
	static const char job[] = "7 worker-time=x=1s";
	struct auc_bid_log *p = auc_bid_log_create(AUC_BID_LOG_WAITING + 100);
	struct auc_bid bid = bid_of(job);
	char sale[AUC_SALE_ID_LEN];
	struct json_object *o;

	(void)state;
	auc_bid_log_set_period(p, PERIOD);
	assert_false(auc_bid_log_take(p, "a") || auc_bid_log_take(p, ""));
	assert_false(add_again(p, job, 1, 0, false));
	await_job(p, "a", &bid, 1, 1.5 * SECONDS, SECONDS);
	await_job(p, "b", &bid, 2, 1.6 * SECONDS, SECONDS);
	await_job(p, "c", &bid, 3, 1.7 * SECONDS, SECONDS);
	assert_false(add_again(p, job, 4, 2, false));
	assert_true(auc_bid_log_count(p) == 2 && auc_bid_log_added(p) == 2);
	assert_true(auc_bid_log_take(p, "b") && !auc_bid_log_was_again(p) &&
		    !auc_bid_log_take(p, "b"));
	assert_true(auc_bid_log_count(p) == 3 && auc_bid_log_at(p, 1)->uid == 2 &&
		    auc_bid_log_at(p, 1)->accepted && auc_bid_log_at(p, 1)->user == 3);
	o = auc_bid_log_added_event(p);
	assert_non_null(strstr(json_object_to_json_string(o), "480"));
	json_object_put(o);
	/* this one had been refused before */
	assert_true(auc_bid_log_take(p, "a") && auc_bid_log_was_again(p));
	assert_true(auc_bid_log_count(p) == 3 && auc_bid_log_at(p, 0)->accepted &&
		    auc_bid_log_at(p, 0)->time == 0.5 * SECONDS);
	/* of too many the oldest are gone */
	for (unsigned i = 0; i < AUC_BID_LOG_WAITING + 5; i++) {
		snprintf(sale, sizeof(sale), "%u", i);
		await_job(p, sale, &bid, 9, 900, SECONDS);
	}
	assert_false(auc_bid_log_take(p, "c") || auc_bid_log_take(p, "4"));
	assert_true(auc_bid_log_take(p, "5") && auc_bid_log_take(p, sale));
	assert_int_equal(auc_bid_log_count(p), 5);
	/* and of long ones sooner */
	bid.nupload = AUC_BID_UPLOAD_MAX;
	for (unsigned i = 0; i < bid.nupload; i++)
		memset(bid.upload[i].name, 'x', sizeof(bid.upload[i].name) - 1);
	for (unsigned i = 0; i < AUC_BID_LOG_WAITING; i++) {
		snprintf(sale, sizeof(sale), "L%u", i);
		await_job(p, sale, &bid, 9, 900, SECONDS);
	}
	assert_false(auc_bid_log_take(p, "6") || auc_bid_log_take(p, "L0"));
	assert_true(auc_bid_log_take(p, sale));
	auc_bid_log_destroy(p);
}

/* Of TEXT, accepted by SALE: it is remembered later, or never. */
static void wait_for(struct auc_bid_log *p, const char *text, uint32_t uid, unsigned slot,
		     const char *sale)
{
	struct auc_bid bid = bid_of(text);

	await_job(p, sale, &bid, uid, (slot + 0.5) * SECONDS, SECONDS);
}

/* What is kept in the spool, whole or bid by bid, remembers the same, whatever is made again and
 * however late a job comes; so does a copy; and there are as many bids as could not be the same. */
static void test_again_at_random(void **state)
{
	static const char *const jobs[] = {"7 worker-time=x=1s", "8 worker-time=x=1s",
					   "7 worker-time=y=1s"};
	uint64_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		unsigned limit = 5 + (unsigned)(splitmix(&seed) % 40), again = 0, made = 0;
		struct auc_bid_log *p = auc_bid_log_create(limit),
				   *journal = auc_bid_log_create(limit);
		struct auc_bid_log *snapshot = auc_bid_log_create(limit), *copy;
		struct json_object *o;

		auc_bid_log_set_period(p, PERIOD);
		auc_bid_log_set_period(journal, PERIOD);
		auc_bid_log_set_period(snapshot, PERIOD);
		for (unsigned i = 0, slot = 0; i < 80; i++) {
			const char *text = jobs[splitmix(&seed) % 3];
			uint32_t uid = (uint32_t)(splitmix(&seed) % 2);
			unsigned what = (unsigned)(splitmix(&seed) % 8);
			char sale[2] = {(char)('a' + splitmix(&seed) % 4)};

			slot += (unsigned)(splitmix(&seed) % 4);
			if (what == 0)
				wait_for(p, text, uid, slot, sale);
			if (what == 1 && !auc_bid_log_take(p, sale))
				continue;
			if (what > 1)
				(void)add_again(p, text, uid, slot, false);
			if (what == 0)
				continue;
			made++;
			again += auc_bid_log_was_again(p);
			o = auc_bid_log_added_event(p);
			assert_int_equal(auc_bid_log_apply(journal, o, NULL), AUC_OK);
			json_object_put(o);
		}
		assert_same_past(p, journal);
		assert_true(again > 0 && auc_bid_log_added(p) == made);
		assert_true(auc_bid_log_count(p) == made - again || made - again > limit);
		for (unsigned i = 0; i < auc_bid_log_count(p); i++) {
			o = auc_bid_log_event(p, i);
			assert_int_equal(auc_bid_log_apply(snapshot, o, NULL), AUC_OK);
			json_object_put(o);
			assert_true(!i ||
				    auc_bid_log_at(p, i)->time >= auc_bid_log_at(p, i - 1)->time);
		}
		assert_same_past(p, snapshot);
		copy = auc_bid_log_copy(p);
		assert_same_past(p, copy);
		/* and they go on alike */
		assert_int_equal(add_again(p, jobs[0], 0, 300, false),
				 add_again(copy, jobs[0], 0, 300, false));
		assert_same_past(p, copy);
		auc_bid_log_destroy(p);
		auc_bid_log_destroy(copy);
		auc_bid_log_destroy(journal);
		auc_bid_log_destroy(snapshot);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_driven_out),
		cmocka_unit_test(test_made_again),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_again_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
