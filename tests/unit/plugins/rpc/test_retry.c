/* test_retry.c - what the agent tries and says again (retry.h), and when. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/rpc/retry.h"

/* Soon at first, and never more seldom than once a minute. */
static void test_wait(void **state)
{
	double wait = 0, sum = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		double next = auc_retry_wait(wait);

		assert_true(next >= 1 && next >= wait && next <= 60);
		/* Whoever mends it waits no longer than it was broken. */
		assert_true(next <= sum + 1);
		sum += wait = next;
	}
	assert_true(auc_retry_wait(0) == 1);
	assert_true(wait == 60);
}

/* Two things that go wrong by turns, twice a second: each is said once in ten minutes. */
static void test_alternate(void **state)
{
	static struct auc_retry_said said;
	unsigned n[2] = {0};

	(void)state;
	for (double now = 5; now < 5 + 3 * AUC_RETRY_SAID - 1; now += 0.5) {
		n[0] += auc_retry_say(&said, "receipts: No space left on device", now);
		n[1] += auc_retry_say(&said, "status.json: No space left on device", now);
	}
	assert_int_equal(n[0], 3);
	assert_int_equal(n[1], 3);
}

/* As many jobs as a crash may leave, each seen every two seconds: a fact about each is said once.
 */
static void test_facts(void **state)
{
	static struct auc_retry_said said;
	unsigned n = 0;
	char text[64];

	(void)state;
	for (double now = 5; now < 5 + AUC_RETRY_SAID - 1; now += 2)
		for (unsigned i = 0; i < 500; i++) {
			snprintf(text, sizeof(text), "job %u is in the queue", i);
			n += auc_retry_say(&said, text, now);
		}
	assert_int_equal(n, 500);
	/* What has changed is another fact. */
	assert_true(auc_retry_say(&said, "job 1 is held", 50));
}

/* Of more than are remembered, the oldest is forgotten. */
static void test_many(void **state)
{
	static struct auc_retry_said said;
	char text[32];

	(void)state;
	for (unsigned i = 0; i < AUC_RETRY_TEXTS; i++) {
		snprintf(text, sizeof(text), "job %u", i);
		assert_true(auc_retry_say(&said, text, 100 + i));
	}
	assert_true(auc_retry_say(&said, "one more", 200));
	assert_false(auc_retry_say(&said, "job 1", 201));
	assert_true(auc_retry_say(&said, "job 0", 201));
	assert_false(auc_retry_say(&said, "one more", 202));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_alternate),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
