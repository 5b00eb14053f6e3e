/* test_job_times.c - how long jobs took: the quantiles, whose jobs count for more, what is kept. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "pricing/past/job_times.h"

static struct auc_err err;
static const struct auc_job_kind nobody;

static void add(struct auc_job_times *t, uint32_t user, const char *model, const char *partition,
		double factor, bool cut)
{
	struct auc_job_time job = {.kind = {.user = user}, .factor = factor, .cut = cut};

	strcpy(job.kind.model, model);
	strcpy(job.kind.partition, partition);
	assert_int_equal(auc_job_times_add(t, &job, &err), AUC_OK);
}

/* Of nothing a little more than is stated, as nobody is exact; then what jobs took. */
static void test_quantile(void **state)
{
	struct auc_job_times *t = auc_job_times_create(true);
	double before, half;

	(void)state;
	before = auc_job_times_quantile(t, 0.95, &nobody);
	assert_true(before > 1.1 && before < 1.3);
	assert_true(fabs(auc_job_times_quantile(t, 0.5, &nobody) - 1) < 1e-9);
	for (unsigned i = 0; i < 200; i++)
		add(t, i + 1, "", "", 1.5, false);
	assert_true(auc_job_times_quantile(t, 0.95, &nobody) == 1.5);
	for (unsigned i = 0; i < 1800; i++)
		add(t, i + 1, "", "", 0.5, false);
	assert_true(auc_job_times_quantile(t, 0.5, &nobody) == 0.5);
	/* One in ten took 1.5. */
	assert_true(auc_job_times_quantile(t, 0.95, &nobody) == 1.5);
	assert_true(auc_job_times_quantile(t, 0.85, &nobody) < 1.5);
	/* Those that were ended may have taken any longer. */
	half = auc_job_times_quantile(t, 0.85, &nobody);
	for (unsigned i = 0; i < 600; i++)
		add(t, i + 1, "", "", 0.4, true);
	assert_true(auc_job_times_quantile(t, 0.85, &nobody) >= half);
	for (unsigned i = 0; i < 600; i++)
		add(t, i + 1, "", "", 0.6, true);
	assert_true(auc_job_times_quantile(t, 0.85, &nobody) > half);
	auc_job_times_destroy(t);
}

static void test_kinds(void **state)
{
	struct auc_job_kind like = {.user = 7};
	struct auc_job_times *t = auc_job_times_create(true);
	double any, user, model, partition;

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		add(t, 100 + i, "small", "cpu", 1, false);
	for (unsigned i = 0; i < 12; i++)
		add(t, 7, "big", "gpu", 2 + i / 10., false);
	any = auc_job_times_quantile(t, 0.9, &nobody);
	user = auc_job_times_quantile(t, 0.9, &like);
	assert_true(user > any);
	like = (struct auc_job_kind){.model = "big"};
	model = auc_job_times_quantile(t, 0.9, &like);
	assert_true(model > any);
	like = (struct auc_job_kind){.partition = "gpu"};
	partition = auc_job_times_quantile(t, 0.9, &like);
	assert_true(partition > any && partition <= model);
	like = (struct auc_job_kind){.user = 100, .model = "other", .partition = "none"};
	assert_true(auc_job_times_quantile(t, 0.9, &like) <= any);
	auc_job_times_destroy(t);
}

/* A user who has more jobs than all the others together counts for no more than these. */
static void test_fair(void **state)
{
	struct auc_job_times *t = auc_job_times_create(true);
	unsigned own = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add(t, 100 + i, "", "", 1, false);
	for (unsigned i = 0; i < 3 * AUC_JOB_TIMES_MAX; i++)
		add(t, 7, "", "", 3, false);
	for (unsigned i = 0; i < auc_job_times_count(t); i++)
		own += auc_job_times_at(t, i)->kind.user == 7;
	assert_true(own >= 100 && own <= 102);
	/* and of these the last ones */
	for (unsigned i = 0; i < 102; i++)
		add(t, 7, "", "", 4, false);
	for (unsigned i = 0; i < auc_job_times_count(t); i++)
		assert_true(auc_job_times_at(t, i)->factor != 3);
	assert_int_equal(auc_job_times_count(t), 100 + own);
	/* All that there is room for; the oldest go. */
	for (unsigned i = 0; i < 2 * AUC_JOB_TIMES_MAX; i++)
		add(t, 1000 + i, "", "", 0.7, false);
	assert_int_equal(auc_job_times_count(t), AUC_JOB_TIMES_MAX);
	for (unsigned i = 0; i < AUC_JOB_TIMES_MAX; i++)
		assert_true(auc_job_times_at(t, i)->factor == 0.7);
	auc_job_times_destroy(t);
}

static void test_events(void **state)
{
	struct auc_job_times *t = auc_job_times_create(true), *back = auc_job_times_create(true),
			     *copy;
	struct auc_job_kind like = {.user = 7};
	struct json_object *o;

	(void)state;
	for (unsigned i = 0; i < 90; i++)
		add(t, i % 9, i % 2 ? "resnet50" : "", "edge", 0.8 + i / 100., i % 7 == 3);
	for (unsigned i = 0; i < 90; i++) {
		o = auc_job_times_event(auc_job_times_at(t, i));
		assert_true(auc_job_times_knows(o));
		assert_int_equal(auc_job_times_apply(back, o, &err), AUC_OK);
		json_object_put(o);
	}
	copy = auc_job_times_copy(back);
	assert_int_equal(auc_job_times_count(copy), 90);
	for (double q = 0.05; q < 1; q += 0.05)
		assert_true(auc_job_times_quantile(t, q, &like) ==
			    auc_job_times_quantile(copy, q, &like));
	o = json_tokener_parse("{\"event\":\"took\",\"user\":1,\"model\":\"\",\"partition\":\"\","
			       "\"factor\":0,\"cut\":false}");
	assert_int_equal(auc_job_times_apply(back, o, &err), AUC_ECORRUPT);
	json_object_put(o);
	o = json_tokener_parse("{\"event\":\"bid\"}");
	assert_false(auc_job_times_knows(o));
	json_object_put(o);
	auc_job_times_destroy(t);
	auc_job_times_destroy(back);
	auc_job_times_destroy(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests_name("job_times", tests, NULL, NULL);
}
