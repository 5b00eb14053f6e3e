/*
 * test_carry.c - how the agent carries a sale out (plugins/sched/auction/book.c and act.c): what it
 * books goes by the nodes as they are then, not as they were when it last looked at them, and what
 * it submits is nobody's to change from then on. The ledger is real; Slurm, and the agent's look at
 * its nodes, are this test.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two parts of the agent, without its thread: the test is the rest of it. */
#include "sched/auction/canceller.h"
#include "sched/output/accounting.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/job_change.h"
#include "sched/auction/slurm_rules.h"
#include "sched/auction/fence.h"
#include "sched/auction/block/block.h"
#include "sched/auction/power.h"
#include "sched/output/admin_files.h"
#include "sched/output/receipts.h"
#include "adapter/site.h"
#include "unit/support/world.h"

static struct auc_err err;

/* What a look at the nodes finds, and how often there was one. */
static const char *found_down, *found_closed;
static unsigned looks;

/* All edges are up but DOWN, and all are open but CLOSED; either may be "". */
static void set_nodes(struct auc_auction *a, const char *down, const char *closed, double now)
{
	struct auc_closing shut = {.from = 0, .to = 1e12};
	struct auc_server_spec specs[8];

	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	for (unsigned i = 0; i < world_nservers; i++)
		specs[i].down = strstr(down, specs[i].name) != NULL;
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, now, &err), AUC_OK);
	strcpy(shut.server, closed);
	assert_int_equal(auc_auction_close(a, &shut, *closed ? 1 : 0, &err), AUC_OK);
}

/* -- what they call -- */

bool auc_admin_look(const char *dir, struct auc_auction *a, double now)
{
	(void)dir;
	(void)a;
	(void)now;
	return false;
}

void auc_admin_committed(const char *dir)
{
	(void)dir;
}

void auc_agent_bad_node(const struct auc_agent *a, const struct auc_part *p,
			char name[AUC_NAME_MAX])
{
	(void)a;
	strcpy(name, p->server);
}

void auc_agent_see_nodes(struct auc_agent *a, struct auc_task *t, double now)
{
	looks++;
	set_nodes(a->auction, found_down, found_closed, now);
	for (unsigned i = 0; i < t->exec.nparts; i++)
		t->exec.closed[i] = !strcmp(t->parts[i].server, found_closed);
}

/* Why final receipts cannot be saved; NULL: they can. */
static const char *unsaved;

void auc_agent_complain(struct auc_agent *a, enum auc_agent_error kind, const struct auc_err *e)
{
	(void)a;
	if (!unsaved || kind != AUC_ERROR_COMMIT)
		fail_msg("error %d: %s", (int)kind, e->text);
}

bool auc_agent_say(struct auc_agent *a, const char *format, ...)
{
	(void)a, (void)format;
	return false;
}

void auc_look_want_all(struct auc_agent *a, double at)
{
	(void)a, (void)at;
}

enum auc_code auc_rpc_load_job(uint32_t job_id, job_info_msg_t **jobs, struct auc_err *e)
{
	(void)job_id, (void)jobs;
	return auc_err_set(e, AUC_EIO, "no Slurm");
}

enum auc_code auc_rpc_load_jobs(job_info_msg_t **jobs, struct auc_err *e)
{
	(void)jobs;
	return auc_err_set(e, AUC_EIO, "no Slurm");
}

void auc_rpc_free_jobs(job_info_msg_t *jobs)
{
	(void)jobs;
}

static char final_receipt[4096];

enum auc_code auc_receipts_put_final(uint32_t job_id, const char *sale, const char *text,
				     struct auc_err *e)
{
	(void)job_id, (void)sale, (void)e;
	snprintf(final_receipt, sizeof(final_receipt), "%s", text);
	return AUC_OK;
}

enum auc_code auc_receipts_save(struct auc_err *e)
{
	return unsaved ? auc_err_set(e, AUC_EIO, "%s", unsaved) : AUC_OK;
}

/* The user who may change what his account allows; 0: nobody. */
static uint32_t coordinator;

bool auc_slurm_rules_coordinates(uint32_t uid, const char *account)
{
	return coordinator && uid == coordinator && account && !strcmp(account, "lab");
}

void auc_slurm_rules_count(struct auc_agent *a)
{
	(void)a;
}

/* Mail is told of what happened; test_mail_text and the cluster have the rest. */
void auc_mail_take(struct auc_mail_to *to, const slurm_job_info_t *info)
{
	to->job_id = AUC_INFO_JOB_ID(info);
}

void auc_mail_clear(struct auc_mail_to *to)
{
	memset(to, 0, sizeof(*to));
}

void auc_mail_sold(const struct auc_mail_to *to, struct auc_auction *auction, const char *sale,
		   bool stood)
{
	(void)auction;
	(void)sale;
	(void)stood;
	assert_int_not_equal(to->job_id, 0);
}

void auc_mail_settled(const struct auc_mail_to *to, struct auc_auction *auction,
		      const char *receipt, double when)
{
	(void)to;
	(void)auction;
	(void)receipt;
	(void)when;
}

void auc_mail_moved(const struct auc_mail_to *to, struct auc_auction *auction, const char *sale,
		    const char *why, double when)
{
	(void)to;
	(void)auction;
	(void)sale;
	(void)when;
	assert_non_null(why);
}

void auc_mail_arrays(bool (*lives)(void *arg, uint32_t array), void *arg, double when)
{
	(void)when;
	assert_false(lives(arg, 1));
}

bool auc_array_has(const struct auc_agent *a, uint32_t job_id)
{
	(void)a;
	(void)job_id;
	return false;
}

void auc_mail_release(void)
{
}

void auc_receipts_release(void)
{
}

void auc_series_add(struct auc_series *s, double seconds)
{
	(void)s, (void)seconds;
}

double auc_power_lead(const struct auc_agent *a)
{
	(void)a;
	return 0;
}

double auc_site_now(void)
{
	return NOW;
}

static double elapsed = NOW;

double auc_site_elapsed(void)
{
	return elapsed;
}

static bool has_accounting;
static unsigned asked;

bool auc_accounting_present(void)
{
	return has_accounting;
}

enum auc_code auc_job_change_ask(struct auc_agent *a, uint32_t job, const char *sale, time_t start,
				 struct auc_err *e)
{
	(void)a, (void)job, (void)sale, (void)start, (void)e;
	asked++;
	return AUC_OK;
}

/* Members that were submitted, and those of them whose jobs the agent has made nobody's. */
static unsigned submitted, protected;

enum auc_code auc_rpc_submit_member(const struct auc_owner *owner, const struct auc_slice *slice,
				    const char *sale, uint32_t lead, uint32_t *job_id,
				    struct auc_err *e)
{
	(void)owner, (void)slice, (void)sale, (void)e;
	assert_int_equal(lead, 1);
	assert_int_equal(protected, submitted);
	*job_id = 2 + submitted++;
	return AUC_OK;
}

void auc_agent_protect(struct auc_agent *a)
{
	const struct auc_exec *x = &a->tasks.list->exec;

	protected = 0;
	for (unsigned i = 1; i < x->nparts; i++)
	protected += x->jobs[i].id != 0;
}

enum auc_code auc_rpc_kill(uint32_t job_id, struct auc_err *e)
{
	(void)job_id, (void)e;
	return AUC_OK;
}

void auc_rpc_resume(uint32_t job_id)
{
	(void)job_id;
}

bool auc_rpc_schedule(void)
{
	return true;
}

enum auc_code auc_rpc_signal(uint32_t job_id, int sig, struct auc_err *e)
{
	(void)job_id, (void)sig, (void)e;
	return AUC_OK;
}

bool auc_rpc_stepless(uint32_t job_id)
{
	(void)job_id;
	return false;
}

enum auc_code auc_rpc_warn(uint32_t job_id, bool batch, struct auc_err *e)
{
	(void)job_id, (void)batch, (void)e;
	return AUC_OK;
}

void auc_rpc_say(uint32_t job_id, const char *text)
{
	(void)job_id, (void)text;
}

bool auc_job_change_out(const struct auc_agent *a, uint32_t job)
{
	(void)a, (void)job;
	return false;
}

void auc_job_change_overtake(struct auc_agent *a, uint32_t job)
{
	(void)a, (void)job;
}

enum auc_code auc_job_change_put(struct auc_agent *a, enum auc_job_change what, uint32_t job,
				 const char *sale, const struct auc_slice *slice, const char *text,
				 struct auc_err *e)
{
	(void)a, (void)what, (void)job, (void)sale, (void)slice, (void)text, (void)e;
	return AUC_OK;
}

enum auc_code auc_block_act(struct auc_agent *a, struct auc_task *t, enum auc_exec_ask ask,
			    struct auc_err *why)
{
	(void)a;
	(void)t;
	(void)ask;
	(void)why;
	return AUC_OK;
}

void auc_block_settle(struct auc_agent *a, struct auc_task *t, double until)
{
	(void)a, (void)t, (void)until;
}

const char *auc_fence_of(const struct auc_agent *a, const struct auc_task *t, unsigned part)
{
	(void)a, (void)t, (void)part;
	return NULL;
}

void auc_receipts_put(uint32_t job_id, const char *sale, const char *text)
{
	(void)job_id, (void)sale, (void)text;
}

/* -- a sale that runs on edge1, and with four workers on edge2, with six on edge3 -- */

struct sale {
	char dir[64];
	struct auc_agent agent;
	struct auc_task *t;
	double end;
};

static double end_of(struct auc_agent *a)
{
	struct auc_sale_view v;
	double end;

	assert_int_equal(auc_auction_sale_of_job(a->auction, 1, &v, &err), AUC_OK);
	end = v.end;
	auc_sale_view_clear(&v);
	return end;
}

/* As the agent last saw them, nodes DOWN are down and CLOSED is somebody else's. */
static void sale_set_up(struct sale *s, unsigned workers, const char *down, const char *closed)
{
	struct auc_agent *a = &s->agent;
	struct auc_sale_view v;
	char bid[128];

	memset(s, 0, sizeof(*s));
	world_mkdir(s->dir);
	a->auction = world_open("Prices=given\nEta=gpu:v100=20", s->dir, NOW);
	a->rules = (struct auc_exec_rules){.end_margin = 4,
					   .notice = 10,
					   .ahead = 30,
					   .grace = 75,
					   .patience = 4,
					   .late = 30,
					   .settle = 3,
					   .again = 0.5,
					   .tries = 5};
	snprintf(bid, sizeof(bid),
		 "linear:100000,1 chunks=%u epochs=4 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0",
		 workers);
	world_sell(a->auction, bid, 1, NOW);
	assert_int_equal(auc_auction_start(a->auction, 1, NOW + SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_sale_of_job(a->auction, 1, &v, &err), AUC_OK);
	s->end = v.end;
	s->t = auc_tasks_add(&a->tasks, &v);
	auc_sale_view_clear(&v);
	assert_non_null(s->t);
	assert_int_equal(s->t->exec.nparts, workers / 2);
	assert_string_equal(s->t->parts[0].server, "edge1");
	assert_string_equal(s->t->parts[1].server, "edge2");
	s->t->looked = s->t->known = true;
	for (unsigned i = 0; i < s->t->exec.nparts; i++) {
		s->t->exec.jobs[i] = (struct auc_exec_job){
			.id = 1 + i, .seen = AUC_SEEN_RUNNING, .began = s->t->exec.start};
		s->t->exec.closed[i] = !strcmp(s->t->parts[i].server, closed);
	}
	set_nodes(a->auction, down, closed, NOW);
	looks = 0;
}

static void sale_tear_down(struct sale *s)
{
	auc_tasks_clear(&s->agent.tasks);
	auc_auction_destroy(s->agent.auction);
	world_rmdir(s->dir);
}

/* True if a part of the sale is on SERVER after NOW. */
static bool is_on(const struct sale *s, const char *server, double now)
{
	for (unsigned i = 0; i < s->t->exec.nparts; i++)
		if (!strcmp(s->t->parts[i].server, server) && s->t->parts[i].end > now)
			return true;
	return false;
}

/* A member ends because its node failed. */
static void test_move(void **state)
{
	static const struct {
		const char *down, *closed;             /* as they were */
		const char *found_down, *found_closed; /* as they are */
		const char *goes_to;
	} cases[] = {
		/* The others were down, or somebody else's, and are not any more. */
		{"edge3 edge4", "", "edge2", "", "edge3"},
		{"edge4", "edge3", "edge2 edge4", "", "edge3"},
		/* The other way round. */
		{"", "", "edge2 edge3", "", "edge4"},
		{"", "", "edge2", "edge3", "edge4"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double now = NOW + SLOT + 50;
		struct sale s;

		sale_set_up(&s, 4, cases[i].down, cases[i].closed);
		found_down = cases[i].found_down;
		found_closed = cases[i].found_closed;
		s.t->exec.jobs[1].seen = AUC_SEEN_ENDED;
		s.t->exec.jobs[1].why = "node_fail";
		auc_book_step(&s.agent, s.t, now);
		assert_null(s.t->exec.why);
		assert_int_equal(looks, 1);
		assert_false(is_on(&s, "edge2", now));
		assert_true(is_on(&s, cases[i].goes_to, now));
		assert_true(end_of(&s.agent) == s.end);
		sale_tear_down(&s);
	}
}

/* A node that was somebody else's when it was last looked at is not moved away from. */
static void test_open_again(void **state)
{
	double now = NOW + 50;
	struct sale s;

	(void)state;
	sale_set_up(&s, 4, "", "edge2");
	found_down = found_closed = "";
	s.t->exec.jobs[1].seen = AUC_SEEN_PENDING;
	auc_book_step(&s.agent, s.t, now);
	assert_int_equal(looks, 1);
	assert_true(is_on(&s, "edge2", now));
	assert_int_equal(s.t->exec.nparts, 2);
	sale_tear_down(&s);
}

/* Who needs no other node looks at none. */
static void test_quiet(void **state)
{
	struct sale s;

	(void)state;
	sale_set_up(&s, 4, "", "");
	found_down = found_closed = "";
	auc_book_step(&s.agent, s.t, NOW + SLOT + 50);
	assert_int_equal(looks, 0);
	sale_tear_down(&s);
}

/* Submitting takes a while where there are many. */
static void test_protect(void **state)
{
	struct sale s;

	(void)state;
	sale_set_up(&s, 6, "", "");
	s.agent.commit_ok = true;
	for (unsigned i = 1; i < s.t->exec.nparts; i++)
		s.t->exec.jobs[i] = (struct auc_exec_job){.seen = AUC_SEEN_NOT};
	submitted = protected = 0;
	auc_act(&s.agent, s.t, NOW + 50);
	assert_int_equal(submitted, 2);
	assert_int_equal(protected, 2);
	sale_tear_down(&s);

	/* Of a plan that is new, and whose members of before are being looked for, nothing yet. */
	sale_set_up(&s, 6, "", "");
	s.agent.commit_ok = true;
	for (unsigned i = 1; i < s.t->exec.nparts; i++)
		s.t->exec.jobs[i] = (struct auc_exec_job){.seen = AUC_SEEN_NOT};
	submitted = protected = 0;
	s.t->whole = true;
	auc_act(&s.agent, s.t, NOW + 50);
	assert_int_equal(submitted, 0);
	s.t->whole = false;
	auc_act(&s.agent, s.t, NOW + 50);
	assert_int_equal(submitted, 2);
	sale_tear_down(&s);
}

/* While final receipts cannot be saved, nothing else is written either: no bids are taken. */
static void test_unsaved(void **state)
{
	struct sale s;

	(void)state;
	sale_set_up(&s, 4, "", "");
	auc_book_commit(&s.agent);
	assert_true(s.agent.commit_ok);
	assert_int_equal(auc_auction_ready(s.agent.auction, &err), AUC_OK);
	unsaved = "receipts: No space left on device";
	for (unsigned i = 0; i < 2; i++) {
		auc_book_commit(&s.agent);
		assert_false(s.agent.commit_ok);
		assert_int_equal(auc_auction_ready(s.agent.auction, &err), AUC_ESTATE);
		assert_non_null(strstr(err.text, unsaved));
	}
	unsaved = NULL;
	auc_book_commit(&s.agent);
	assert_true(s.agent.commit_ok);
	assert_int_equal(auc_auction_ready(s.agent.auction, &err), AUC_OK);
	sale_tear_down(&s);
}

/* Slurm began a job just as its plan was put off, and it ended before that: it pays for its time.
 */
static void test_ran_before(void **state)
{
	static char node[] = "edge1";
	slurm_job_info_t info = {.job_state = JOB_COMPLETE, .nodes = node};
	struct sale s = {0};
	struct auc_sale_view v;

	(void)state;
	world_mkdir(s.dir);
	s.agent.auction = world_open("Prices=given\nEta=gpu:v100=20", s.dir, NOW);
	world_load(s.agent.auction);
	world_sell(s.agent.auction,
		   "linear:100000,1 chunks=1 epochs=4 minibatches=100 worker-time=v100=3s "
		   "ps-time=ps.m=0",
		   900, NOW);
	assert_int_equal(auc_auction_start(s.agent.auction, 900, NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_sale_of_job(s.agent.auction, 900, &v, &err), AUC_OK);
	info.start_time = (time_t)(v.start - 4 * SLOT);
	info.end_time = info.start_time + (time_t)SLOT / 2;
	s.t = auc_tasks_add(&s.agent.tasks, &v);
	auc_sale_view_clear(&v);
	assert_non_null(s.t);
	auc_task_look(s.t);
	s.t->known = true;
	auc_task_see(s.t, 0, &info, (double)info.end_time + 1);
	auc_book_step(&s.agent, s.t, (double)info.end_time + 1);
	assert_non_null(strstr(final_receipt, "\"why\":\"completed\""));
	assert_null(strstr(final_receipt, "\"payment\":\"0.000000\""));
	assert_null(strstr(final_receipt, "\"refund\":\"0.000000\""));
	sale_tear_down(&s);
}

/* The job of a block waits all the time; what counts is whether its nodes are there. */
static void test_block(void **state)
{
	static const struct {
		bool reserved;
		enum auc_sale_state booked;
		double from, now; /* since the start of the block */
		enum auc_seen seen;
		double began;
	} cases[] = {
		{true, AUC_SALE_SOLD, -900, -1, AUC_SEEN_PENDING, 0},
		{true, AUC_SALE_SOLD, -900, 0, AUC_SEEN_RUNNING, 0},
		{false, AUC_SALE_SOLD, -900, 10, AUC_SEEN_PENDING, 0},
		/* slurmctld was away at its start. */
		{true, AUC_SALE_SOLD, 40, 50, AUC_SEEN_RUNNING, 40},
		/* It has begun, and somebody has removed the reservation; it was put off. */
		{false, AUC_SALE_RUNNING, 40, 50, AUC_SEEN_RUNNING, 0},
		{true, AUC_SALE_RUNNING, -900, -5, AUC_SEEN_PENDING, 0},
	};
	struct auc_part part = {.lead = true, .block = true, .start = NOW, .end = NOW + 900};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_task t = {.block = true, .parts = &part};
		const struct auc_exec_job *j;
		slurm_job_info_t info = {.job_state = JOB_PENDING, .state_reason = WAIT_HELD_USER};

		assert_int_equal(auc_exec_init(&t.exec, &part, 1, &err), AUC_OK);
		t.reserved = cases[i].reserved;
		t.exec.booked = cases[i].booked;
		t.from = NOW + cases[i].from;
		auc_task_see(&t, 0, &info, NOW + cases[i].now);
		j = t.exec.jobs;
		assert_int_equal(j->seen, cases[i].seen);
		assert_int_equal(j->part, 0);
		assert_null(j->why);
		assert_true(j->seen != AUC_SEEN_RUNNING || j->began == NOW + cases[i].began);
		/* As it was seen first. */
		t.from = NOW + 500;
		auc_task_see(&t, 0, &info, NOW + 600);
		assert_true(j->seen != AUC_SEEN_RUNNING || cases[i].now < 0 ||
			    j->began == NOW + cases[i].began);
		/* Cancelled while it ran, whatever Slurm says. */
		info.job_state = JOB_CANCELLED;
		info.end_time = (time_t)NOW + 700;
		auc_task_see(&t, 0, &info, NOW + 700);
		assert_int_equal(j->seen, AUC_SEEN_ENDED);
		assert_int_equal(j->ran, cases[i].reserved);
		assert_string_equal(j->why, "cancelled");
		auc_exec_clear(&t.exec);
	}
}

/* -- one word for each cause -- */

/* The word for a record in STATE with REASON, of a job that is to run. */
static const char *cause(uint32_t state, uint32_t reason)
{
	static struct sale s;
	slurm_job_info_t info = {.job_state = state, .state_reason = reason};
	const char *why;

	sale_set_up(&s, 4, "", "");
	auc_task_look(s.t);
	auc_task_see(s.t, 0, &info, NOW);
	why = s.t->exec.jobs[0].why;
	sale_tear_down(&s);
	return why ? why : "";
}

/*
 * A job is cancelled ELAPSED seconds after it got NODES, with EXIT_CODE, and the accounting says
 * after three questions that it was UID; -1: it never does. The word, and that nothing is decided
 * before.
 */
static const char *cancelled_by(const char *nodes, time_t took, uint32_t exit_code, int64_t uid)
{
	static struct sale s;
	slurm_job_info_t info = {.job_state = JOB_CANCELLED,
				 .nodes = (char *)nodes,
				 .start_time = NOW,
				 .end_time = NOW + took,
				 .exit_code = exit_code};
	struct auc_exec_job *j;
	const char *why;

	AUC_INFO_JOB_ID(&info) = 1;
	sale_set_up(&s, 4, "", "");
	j = &s.t->exec.jobs[0];
	asked = 0;
	elapsed = NOW;
	do {
		auc_task_look(s.t);
		auc_task_see(s.t, 0, &info, elapsed);
		auc_canceller_keep(&s.agent, s.t);
		auc_canceller_keep(&s.agent, s.t); /* once a second */
		if (asked == 3 && uid >= 0 && j->unsure) {
			auc_canceller_answered(s.t, 2, 0, AUC_OK); /* of another job */
			auc_canceller_answered(s.t, 1, 0, AUC_ENOENT);
			assert_true(j->unsure);
			auc_canceller_answered(s.t, 1, (uint32_t)uid, AUC_OK);
		}
		elapsed += 1;
	} while (j->unsure && elapsed < NOW + 1000);
	assert_false(j->unsure);
	why = j->why;
	sale_tear_down(&s);
	elapsed = NOW;
	return why;
}

/* Who is cancelled by slurmd before anything ran pays nothing; the owner cannot be taken for it. */
static void test_canceller(void **state)
{
	(void)state;
	has_accounting = true;
	assert_string_equal(cancelled_by("edge1", 0, 0, 0), "not_launched");
	assert_int_equal(asked, 3);
	assert_string_equal(cancelled_by("edge1", 50, 0, 0), "not_launched");
	assert_string_equal(cancelled_by("edge1", 0, 0, 1000), "cancelled");
	assert_string_equal(cancelled_by("edge1", 0, 0, NO_VAL), "cancelled");
	/* The agent's own. */
	slurm_conf.slurm_user_id = 64030;
	assert_string_equal(cancelled_by("edge1", 0, 0, 64030), "cancelled");
	slurm_conf.slurmd_user_id = 64031;
	assert_string_equal(cancelled_by("edge1", 0, 0, 64031), "not_launched");
	slurm_conf.slurmd_user_id = 0;
	/* Nobody says: a minute. */
	assert_string_equal(cancelled_by("edge1", 0, 0, -1), "cancelled");
	assert_true(asked >= 50 && asked <= 62);
	/* Its script ran; it ran for long; it had no nodes: nobody is asked. */
	assert_string_equal(cancelled_by("edge1", 0, 15, 0), "cancelled");
	assert_string_equal(cancelled_by("edge1", 100, 0, 0), "cancelled");
	assert_string_equal(cancelled_by(NULL, 0, 0, 0), "cancelled");
	assert_int_equal(asked, 0);
	has_accounting = false;
	assert_string_equal(cancelled_by("edge1", 0, 0, 0), "cancelled");
	assert_int_equal(asked, 0);
}

/* Slurm requeues jobs that end with certain codes if the site says so, whatever the job says. */
static void test_quit(void **state)
{
	static struct sale s;
	slurm_job_info_t info = {
		.job_state = JOB_PENDING, .state_reason = WAIT_HELD_USER, .restart_cnt = 1};
	static const struct {
		const char *requeue, *hold;
		uint32_t restarts, exit_code;
		bool quit;
	} cases[] = {
		{NULL, "18", 1, 18 << 8, true},
		{"17", NULL, 1, 17 << 8, true},
		{"3,5-9", "12,18", 1, 18 << 8, true},
		{"3,5-9,", "12,18", 1, 9 << 8, true},
		{"3,5-9", "12,18", 1, 10 << 8, false},
		{"3,5-9", "12,18", 1, 1 << 8, false}, /* as it was moved */
		{"x,-", "18x", 1, 1 << 8, false},
		{NULL, NULL, 1, 18 << 8, false},
		{"", "", 1, 18 << 8, false},
		{NULL, "18", 0, 18 << 8, false},
		{NULL, "18,0", 1, 0, false},
		{NULL, "18,0", 1, 15, false}, /* a signal: it was requeued */
	};

	(void)state;
	sale_set_up(&s, 4, "", "");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		slurm_conf.requeue_exit = (char *)cases[i].requeue;
		slurm_conf.requeue_exit_hold = (char *)cases[i].hold;
		auc_tasks_read_slurm_conf();
		info.restart_cnt = cases[i].restarts;
		info.exit_code = cases[i].exit_code;
		auc_task_look(s.t);
		auc_task_see(s.t, 0, &info, NOW);
		assert_int_equal(s.t->exec.jobs[0].quit, cases[i].quit);
	}
	slurm_conf.requeue_exit = slurm_conf.requeue_exit_hold = NULL;
	auc_tasks_read_slurm_conf();
	sale_tear_down(&s);
}

/* How the sale of a job in STATE for REASON ends, whose owner may change what his account allows
 * (HIS), or might at its sale (WAS). */
static void expect_end(bool his, bool was, bool running, uint32_t state, uint32_t reason,
		       const char *why)
{
	slurm_job_info_t info = {.job_state = state,
				 .state_reason = reason,
				 .nodes = (char *)(running ? "edge1" : NULL),
				 .start_time = (time_t)(running ? NOW + SLOT : 0),
				 .end_time = (time_t)NOW + SLOT + 1};
	char text[64];
	struct sale s;

	sale_set_up(&s, 4, "", "");
	s.t->account = strdup("lab");
	s.t->coordinates = was;
	s.t->exec.booked = running ? AUC_SALE_RUNNING : AUC_SALE_SOLD;
	s.t->exec.committed = true;
	coordinator = his ? 1000 : 0;
	auc_task_look(s.t);
	auc_task_see(s.t, 0, &info, NOW + SLOT + 1);
	*final_receipt = '\0';
	auc_book_step(&s.agent, s.t, NOW + SLOT + 1);
	coordinator = 0;
	snprintf(text, sizeof(text), "\"why\":\"%s\"", why);
	if (!strstr(final_receipt, text))
		fail_msg("%s: %s", text, final_receipt);
	s.t->lead = NULL;
	sale_tear_down(&s);
}

/* Who takes himself out of his account, or lowers its limits, has not been kept from anything. */
static void test_coordinator(void **state)
{
	static const uint32_t reasons[] = {FAIL_ACCOUNT, FAIL_QOS};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned running = 0; running < 2; running++) {
			expect_end(false, false, running, JOB_FAILED, reasons[i], "barred");
			expect_end(true, false, running, JOB_FAILED, reasons[i], "limit");
			expect_end(false, true, running, JOB_FAILED, reasons[i], "limit");
		}
	/* That is not his. */
	expect_end(true, true, false, JOB_FAILED, FAIL_DOWN_PARTITION, "partition_down");
	expect_end(true, true, true, JOB_FAILED, FAIL_EXIT_CODE, "failed");
}

static void test_causes(void **state)
{
	(void)state;
	assert_string_equal(cause(JOB_COMPLETE, WAIT_NO_REASON), "completed");
	assert_string_equal(cause(JOB_COMPLETE | JOB_COMPLETING, WAIT_NO_REASON), "completed");
	assert_string_equal(cause(JOB_FAILED, FAIL_EXIT_CODE), "failed");
	assert_string_equal(cause(JOB_OOM, WAIT_NO_REASON), "failed");
	assert_string_equal(cause(JOB_TIMEOUT, FAIL_TIMEOUT), "timeout");
	assert_string_equal(cause(JOB_CANCELLED, WAIT_NO_REASON), "cancelled");
	assert_string_equal(cause(JOB_NODE_FAIL, FAIL_DOWN_NODE), "node_fail");
	/* Its owner can bring that about. */
	assert_string_equal(cause(JOB_BOOT_FAIL, FAIL_LAUNCH), "cancelled");
	assert_string_equal(cause(JOB_PREEMPTED, WAIT_NO_REASON), "preempted");
	/* Taken out of slurm.conf, or of the accounting, under it. */
	assert_string_equal(cause(JOB_FAILED, FAIL_DOWN_PARTITION), "partition_down");
	assert_string_equal(cause(JOB_FAILED, FAIL_ACCOUNT), "barred");
	assert_string_equal(cause(JOB_FAILED, FAIL_QOS), "barred");
	/* Why it waits. */
	assert_string_equal(cause(JOB_PENDING, WAIT_TIME), "");
	assert_string_equal(cause(JOB_PENDING, WAIT_PRIORITY), "");
	assert_string_equal(cause(JOB_PENDING, WAIT_RESOURCES), "node_busy");
	assert_string_equal(cause(JOB_PENDING, WAIT_NODE_NOT_AVAIL), "node_fail");
	/* test_chain.c has when it is not its owner's doing. */
	assert_string_equal(cause(JOB_PENDING, WAIT_DEPENDENCY), "own_job");
	assert_string_equal(cause(JOB_PENDING, WAIT_DEP_INVALID), "cancelled");
	assert_string_equal(cause(JOB_PENDING, WAIT_HELD), "held");
	assert_string_equal(cause(JOB_PENDING, WAIT_PART_DOWN), "partition_down");
	assert_string_equal(cause(JOB_PENDING, WAIT_PART_INACTIVE), "partition_down");
	assert_string_equal(cause(JOB_PENDING, WAIT_PART_TIME_LIMIT), "barred");
	assert_string_equal(cause(JOB_PENDING, WAIT_PART_NODE_LIMIT), "barred");
	assert_string_equal(cause(JOB_PENDING, WAIT_ACCOUNT), "barred");
	/* Deleted while it waited. */
	assert_string_equal(cause(JOB_PENDING, FAIL_QOS), "barred");
	assert_string_equal(cause(JOB_PENDING, FAIL_ACCOUNT), "barred");
	/* MaxWall was looked at before the sale, and has been changed. */
	assert_string_equal(cause(JOB_PENDING, WAIT_ASSOC_MAX_WALL_PER_JOB), "barred");
	assert_string_equal(cause(JOB_PENDING, WAIT_QOS_MAX_WALL_PER_JOB), "barred");
	/* Its owner's other jobs, or its own size, may be what is too much. */
	assert_string_equal(cause(JOB_PENDING, WAIT_ASSOC_GRP_GRES), "limit");
	assert_string_equal(cause(JOB_PENDING, WAIT_QOS_MAX_GRES_PER_USER), "limit");
	assert_string_equal(cause(JOB_PENDING, WAIT_ASSOC_MAX_CPU_PER_JOB), "limit");
	assert_string_equal(cause(JOB_PENDING, WAIT_ASSOC_MAX_JOBS), "limit");
	assert_string_equal(cause(JOB_PENDING, WAIT_QOS_MAX_JOB_PER_USER), "limit");
	assert_string_equal(cause(JOB_RUNNING, WAIT_NO_REASON), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_move),       cmocka_unit_test(test_open_again),
		cmocka_unit_test(test_block),      cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_protect),    cmocka_unit_test(test_unsaved),
		cmocka_unit_test(test_causes),     cmocka_unit_test(test_coordinator),
		cmocka_unit_test(test_canceller),  cmocka_unit_test(test_quit),
		cmocka_unit_test(test_ran_before),
	};

	return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
