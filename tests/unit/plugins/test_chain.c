/*
 * test_chain.c - jobs that wait for others: which jobs a user has of a name
 * (adapter/after/names.c), and whether one that still waits in its slots is put off
 * (sched/auction/chain.c). Both against the plain way to say the same.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapter/after/names.h"
#include "ledger/why.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/chain.h"
#include "unit/support/splitmix.h"

/* The rest of what a sale's task is freed with is not here. */
void auc_mail_clear(struct auc_mail_to *to)
{
	(void)to;
}

#define NOW  10000.0
#define JOBS 6

/* -- names -- */

struct found {
	unsigned n, most;
	uint32_t ids[64];
};

static bool collect(void *arg, const struct auc_job_name *job)
{
	struct found *f = arg;

	f->ids[f->n++] = job->job_id;
	return f->n < f->most;
}

static void test_names(void **state)
{
	uint64_t seed = 1;

	(void)state;
	assert_true(auc_name_number("a") && auc_name_number("a") != auc_name_number("b"));
	assert_true(auc_name_number("a") == auc_name_number("a"));
	assert_true(!auc_name_number("") && !auc_name_number(NULL));
	for (unsigned run = 0; run < 2000; run++) {
		unsigned n = (unsigned)(splitmix(&seed) % 40), k = 0;
		struct auc_job_name *list = calloc(n + 1, sizeof(*list)), all[40];
		uint32_t uid = (uint32_t)(splitmix(&seed) % 4);
		uint64_t name = splitmix(&seed) % 4;
		struct found f = {.most = 1 + (unsigned)(splitmix(&seed) % 40)};
		uint32_t last = 0;
		bool more;

		for (unsigned i = 0; i < n; i++)
			all[i] = list[i] = (struct auc_job_name){
				.uid = (uint32_t)(splitmix(&seed) % 4),
				.name = splitmix(&seed) % 4,
				.job_id = 1 + (uint32_t)(splitmix(&seed) % 1000000)};
		auc_names_set(AUC_NAMED_SOLD, list, n, 0);
		more = auc_names_each(AUC_NAMED_SOLD, uid, name, collect, &f);
		assert_true(auc_names_each(AUC_NAMED_OTHERS, uid, name, collect, &f));
		for (unsigned i = 0; i < n; i++)
			k += all[i].uid == uid && all[i].name == name;
		assert_int_equal(f.n, k < f.most ? k : f.most);
		assert_int_equal(more, k < f.most);
		for (unsigned i = 0; i < f.n; i++) {
			bool known = false;

			for (unsigned j = 0; j < n; j++)
				known |= all[j].job_id == f.ids[i] && all[j].uid == uid &&
					 all[j].name == name;
			assert_true(known && f.ids[i] >= last);
			last = f.ids[i];
		}
	}
	auc_names_set(AUC_NAMED_SOLD, NULL, 0, 0);
}

/* Ten thousand jobs of one name are no work for who has another, and little for who has it. */
static void test_many(void **state)
{
	struct auc_job_name *list = calloc(10000, sizeof(*list));
	struct found f = {.most = 1};

	(void)state;
	assert_non_null(list);
	for (uint32_t i = 0; i < 10000; i++)
		list[i] = (struct auc_job_name){
			.uid = 1, .name = 7, .job_id = 10000 - i, .end = INFINITY};
	auc_names_set(AUC_NAMED_OTHERS, list, 10000, 50);
	assert_false(auc_names_each(AUC_NAMED_OTHERS, 1, 7, collect, &f));
	assert_int_equal(f.n, 1);
	assert_int_equal(f.ids[0], 1);
	assert_true(auc_names_each(AUC_NAMED_OTHERS, 2, 7, collect, &f));
	assert_true(auc_names_each(AUC_NAMED_OTHERS, 1, 8, collect, &f));
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 60);
}

/* An answer comes from a look that began after the question, also if others ask meanwhile. */
static void test_ask(void **state)
{
	(void)state;
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 90);
	assert_false(auc_names_asked());
	assert_false(auc_names_ask(1, 100));
	assert_true(auc_names_asked());
	assert_false(auc_names_ask(1, 101));
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 99.9);
	assert_false(auc_names_ask(1, 102));
	auc_names_set(AUC_NAMED_SOLD, NULL, 0, 105);
	assert_false(auc_names_ask(1, 102));
	assert_false(auc_names_ask(2, 103));
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 102.5);
	assert_true(auc_names_ask(1, 104));
	assert_false(auc_names_ask(2, 104));
	assert_true(auc_names_asked());
	/* That was for one question. */
	assert_false(auc_names_ask(1, 104));
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 110);
	assert_true(auc_names_ask(2, 111) && auc_names_ask(1, 111));
	/* Nobody came back for it: it is not for the next one. */
	assert_false(auc_names_ask(1, 120));
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 121);
	assert_false(auc_names_ask(1, 500));
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 501);
	assert_true(auc_names_ask(1, 502));
	/* Many at a time: who came first may have to ask once more, others not. */
	for (uint32_t uid = 10; uid < 30; uid++)
		assert_false(auc_names_ask(uid, 600 + uid));
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 700);
	for (uint32_t uid = 14; uid < 30; uid++)
		assert_true(auc_names_ask(uid, 701));
	assert_false(auc_names_asked());
}

/* -- those that wait -- */

struct world {
	struct auc_tasks tasks;
	struct auc_task list[JOBS];
	struct auc_exec_job jobs[JOBS];
	slurm_job_info_t lead;
};

/* Sales of the jobs 1 to 6 of user 1; 4, of the name 7 as all are, waits for what TEXT says. */
static void set_up(struct world *w, const char *text)
{
	memset(w, 0, sizeof(*w));
	w->tasks.list = w->list;
	for (unsigned i = 0; i < JOBS; i++) {
		w->list[i] = (struct auc_task){
			.uid = 1, .name = 7, .next = i + 1 < JOBS ? &w->list[i + 1] : NULL};
		w->list[i].exec.jobs = &w->jobs[i];
		w->list[i].exec.booked = AUC_SALE_SOLD;
		w->list[i].exec.start = NOW + 50 * i;
		w->list[i].exec.end = NOW + 100 * (i + 1);
		w->jobs[i].id = i + 1;
		w->jobs[i].seen = AUC_SEEN_PENDING;
	}
	w->lead.job_state = JOB_PENDING;
	w->lead.state_reason = WAIT_DEPENDENCY;
	w->lead.dependency = (char *)text;
	AUC_INFO_JOB_ID(&w->lead) = 4;
	w->list[3].lead = &w->lead;
	w->jobs[3].why = AUC_WHY_OWN_JOB;
}

/* When what job 4 waits for is over, 0: it waits for what is its owner's. */
static double after(struct world *w)
{
	w->jobs[3].why = AUC_WHY_OWN_JOB;
	auc_chain_mark(&w->tasks, &w->list[3], NOW);
	assert_true((w->list[3].exec.after > 0) == !w->jobs[3].why);
	return w->list[3].exec.after;
}

static void test_late(void **state)
{
	static const struct {
		const char *text;
		double after;
	} cases[] = {
		{NULL, 0},
		{"", 0},
		{"afterok:1(unfulfilled)", NOW + 100},
		{"afterok:1(unfulfilled),afterany:2(unfulfilled)", NOW + 200},
		{"afterok:2_*(unfulfilled)", NOW + 200},
		{"aftercorr:2_3(unfulfilled)?afterok:1(unfulfilled)", NOW + 200},
		{"afterok:99(unfulfilled)", 0},
		{"afterok:1(unfulfilled),afterok:99(unfulfilled)", 0},
		{"after:3(unfulfilled)", NOW + 100},
		{"after:3+2(unfulfilled)", NOW + 220},
		{"after:1(unfulfilled)", 0}, /* it should run */
		{"singleton(unfulfilled)", NOW + 300},
		{"singleton(unfulfilled),afterok:6(unfulfilled)", NOW + 600},
		{"afterok:1(failed)", NOW + 100},
		{"afterburstbuffer:(unfulfilled)", 0},
		{":,?:", 0},
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		set_up(&w, cases[i].text);
		if (after(&w) != cases[i].after)
			fail_msg("%s: %f", cases[i].text, w.list[3].exec.after);
	}
	/* It waits for something else, or not any more. */
	set_up(&w, "afterok:1(unfulfilled)");
	w.lead.state_reason = WAIT_RESOURCES;
	w.jobs[3].why = AUC_WHY_NODE_BUSY;
	w.list[3].exec.after = 5;
	auc_chain_mark(&w.tasks, &w.list[3], NOW);
	assert_true(w.list[3].exec.after == 0);
	assert_string_equal(w.jobs[3].why, AUC_WHY_NODE_BUSY);
	/* Tasks of an array: when all are over. */
	set_up(&w, "afterok:77_*(unfulfilled)");
	w.list[0].array = w.list[4].array = 77;
	assert_true(after(&w) == NOW + 500);
	w.list[4].extended = true;
	assert_true(after(&w) == 0);
}

/* Whatever of the name is before it: one that its owner has made longer, or put there, is enough.
 */
static void test_singleton(void **state)
{
	uint64_t seed = 2;
	unsigned put_off = 0;

	(void)state;
	for (unsigned run = 0; run < 20000; run++) {
		struct auc_job_name *others = calloc(2, sizeof(*others));
		bool own = false, any = false;
		double last = 0;
		struct world w;

		set_up(&w, "singleton(unfulfilled)");
		for (unsigned i = 0; i < JOBS; i++) {
			struct auc_task *t = &w.list[i];
			bool before, late;

			if (i == 3)
				continue;
			t->uid = splitmix(&seed) % 4 ? 1 : 2;
			t->name = splitmix(&seed) % 4 ? 7 : 8;
			t->extended = splitmix(&seed) % 10 == 0;
			t->own = splitmix(&seed) % 10 == 0 ? AUC_WHY_LIMIT : NULL;
			t->exec.end = NOW + (double)(splitmix(&seed) % 500) - 50;
			t->exec.booked = splitmix(&seed) % 4 ? AUC_SALE_RUNNING : AUC_SALE_SETTLED;
			w.jobs[i].seen = splitmix(&seed) % 2 ? AUC_SEEN_RUNNING : AUC_SEEN_PENDING;
			before = t->uid == 1 && t->name == 7 &&
				 t->exec.booked == AUC_SALE_RUNNING &&
				 (i < 3 || w.jobs[i].seen == AUC_SEEN_RUNNING);
			late = i < 3 && !t->extended && !t->own && t->exec.end > NOW;
			any |= before;
			own |= before && !late;
			if (before && t->exec.end > last)
				last = t->exec.end;
		}
		for (unsigned i = 0; i < 2; i++) {
			others[i] = (struct auc_job_name){.uid = splitmix(&seed) % 4 ? 2 : 1,
							  .name = splitmix(&seed) % 4 ? 8 : 7,
							  .job_id = splitmix(&seed) % 2 ? 9 : 2,
							  .end = splitmix(&seed) % 2 ? NOW + 50
										     : INFINITY};
			own |= others[i].uid == 1 && others[i].name == 7 &&
			       (others[i].job_id < 4 || others[i].end < INFINITY);
		}
		auc_names_set(AUC_NAMED_OTHERS, others, 2, 0);
		assert_true(after(&w) == (any && !own ? last : 0));
		put_off += any && !own;
	}
	assert_true(put_off >= 1000);
	assert_true(put_off <= 19000);
	auc_names_set(AUC_NAMED_OTHERS, NULL, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),     cmocka_unit_test(test_many),
		cmocka_unit_test(test_ask),       cmocka_unit_test(test_late),
		cmocka_unit_test(test_singleton),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
