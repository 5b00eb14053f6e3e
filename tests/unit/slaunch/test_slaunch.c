/* test_slaunch.c - the launcher's parts: from a receipt to steps and their srun commands, the
 * course of a plan, messages, the tasks' environment and group file. */
#include "config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "slaunch/layout/legs.h"
#include "slaunch/layout/group.h"
#include "slaunch/layout/groupfile.h"
#include "base/hostport.h"
#include "slaunch/layout/layout.h"
#include "slaunch/layout/moves.h"
#include "slaunch/layout/taskenv.h"
#include "slaunch/wire.h"

#define HOST_64 "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"

static struct auc_receipt_share shares[] = {
	{"edge1", 1, 0},
	{"edge2", 2, 2},
	{"edge3", 3, 0}, /* first run */
	{"edge2", 4, 1}, /* second */
};
static struct auc_receipt_run runs[] = {{100, 104, 0, 3}, {107, 110, 3, 1}};

static struct auc_receipt receipt(void)
{
	return (struct auc_receipt){
		.sale = "ab-1",
		.state = "sold",
		.worker_type = "v100",
		.ps_type = "ps.m",
		.slot_seconds = 10,
		.nworker_tres = 4,
		.worker_tres = {{"cpu", 4}, {"mem", 8192}, {"gres/gpu:v100", 2}, {"gres/nic", 1}},
		.nps_tres = 3,
		.ps_tres = {{"cpu", 1.5}, {"mem", 100.2}, {"license/x", 1}},
		.nruns = 2,
		.runs = runs,
		.nshares = 4,
		.shares = shares,
	};
}

static char *joined(char **argv)
{
	static char text[2000];
	size_t n = 0;

	assert_non_null(argv);
	for (unsigned i = 0; argv[i]; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s", i ? " " : "", argv[i]);
	layout_argv_free(argv);
	return text;
}

/* Where the chunks of the data are is one text, which layouts hand on. */
static void test_layout_chunks(void **state)
{
	static char chunks[][AUC_NAME_MAX] = {"edge2", "edge1", "edge2", "edge3", "edge1"};
	struct auc_receipt r = receipt();
	struct auc_err err = {0};
	struct layout l, copy;

	(void)state;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1029.9, &err), AUC_OK);
	assert_null(l.chunks);
	layout_clear(&l);
	r.nchunks = 5;
	r.chunks = chunks;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1029.9, &err), AUC_OK);
	assert_int_equal(layout_copy(&copy, &l, &err), AUC_OK);
	layout_clear(&l);
	assert_string_equal(copy.chunks, "edge2=0,2;edge1=1,4;edge3=3");
	layout_clear(&copy);
}

/* Which chunks a plan that only counts them moves: the last ones of a node, in the order of the
 * plan. */
static void test_moves(void **state)
{
	static const char text[] =
		"{\"auction\":1,\"sale\":\"ab-1\",\"state\":\"running\",\"policy\":\"eris\","
		"\"payment\":\"1.000000\",\"value\":\"2.000000\",\"worker_type\":\"v100\",\"ps_"
		"type\":"
		"\"ps.m\",\"colocated\":false,\"arrival\":100,\"start\":100,\"completion\":102,"
		"\"plan\":[{"
		"\"from\":100,\"to\":101,\"workers\":{\"edge1\":2,\"edge2\":2},\"ps\":{\"edge1\":1}"
		"}],"
		"\"chunk_mb\":0.5,\"exchange_mb\":0,\"transfers\":[%s],\"slot_seconds\":10,"
		"\"worker_tres\":{\"cpu\":1},\"ps_tres\":{\"cpu\":1},\"bid\":\"300 chunks=6 "
		"data=edge2=2,"
		"edge1=4\"}";
	static const char some[] =
		"{\"slot\":100,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":1},"
		"{\"slot\":101,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":2}";
	static const char many[] =
		"{\"slot\":100,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":5}";
	static const char late[] =
		"{\"slot\":101,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":1},"
		"{\"slot\":100,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":1}";
	static const char none[] =
		"{\"slot\":100,\"from\":\"edge3\",\"to\":\"edge2\",\"chunks\":1}";
	const char *const bad[] = {many, late, none, "7", "{\"slot\":100}"};
	struct auc_receipt r;
	struct move *moves;
	struct auc_err err;
	char buf[2000], *places;
	unsigned n;

	(void)state;
	snprintf(buf, sizeof(buf), text, some);
	if (auc_receipt_parse(buf, &r, &err) != AUC_OK)
		fail_msg("%s", err.text);
	assert_int_equal(r.chunk_bytes, 500000);
	assert_int_equal(moves_make(&r, &moves, &n, &err), AUC_OK);
	assert_int_equal(n, 3);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(moves[i].chunk, 3 + i);
		assert_int_equal(moves[i].slot, i ? 101 : 100);
		assert_string_equal(moves[i].to, "edge2");
	}
	places = moves_places(&r);
	assert_string_equal(places, "edge2=0,1,3,4,5;edge1=2");
	free(places);
	free(moves);
	r.data[0].value = MOVES_CHUNKS_MAX;
	assert_int_equal(moves_make(&r, &moves, &n, &err), AUC_EINVAL);
	assert_null(moves_places(&r));
	auc_receipt_clear(&r);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(buf, sizeof(buf), text, bad[i]);
		assert_int_equal(auc_receipt_parse(buf, &r, &err), AUC_EINVAL);
	}
}

static void test_layout(void **state)
{
	char *agent[] = {(char *)"/bin/agent", (char *)"--", (char *)"a b", NULL};
	struct auc_receipt r = receipt();
	struct auc_err err = {0};
	const char *node = NULL;
	struct layout l;

	(void)state;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1029.9, &err), AUC_OK);
	assert_true(l.begin == 1000 && l.end == 1050);
	assert_int_equal(l.nworkers, 6);
	assert_int_equal(l.nps, 2);
	assert_int_equal(l.nsteps, 4);
	/* The PSs first, then the lead's workers, then the others in the plan's order; ranks go on.
	 */
	assert_int_equal(l.steps[0].role, ROLE_PS);
	assert_string_equal(l.steps[0].node, "edge2");
	assert_int_equal(l.steps[0].job_id, 7);
	assert_string_equal(l.steps[1].node, "edge2");
	assert_int_equal(l.steps[1].first_rank, 0);
	assert_string_equal(l.steps[2].node, "edge1");
	assert_int_equal(l.steps[2].first_rank, 2);
	assert_string_equal(l.steps[3].node, "edge3");
	assert_int_equal(l.steps[3].first_rank, 3);
	assert_false(layout_complete(&l, &node));
	assert_string_equal(node, "edge1");
	layout_set_job(&l, "edge1", 8);
	layout_set_job(&l, "edge3", 9);
	assert_true(layout_complete(&l, &node));

	assert_string_equal(
		joined(layout_srun(&l, &l.steps[0], agent)),
		"srun --jobid=7 --job-name=ps --ntasks=2 --exact --cpus-per-task=1 --mem=200 "
		"--gres=none "
		"--mpi=none --input=none --kill-on-bad-exit=0 --wait=0 /bin/agent -- a b");
	assert_string_equal(
		joined(layout_srun(&l, &l.steps[3], agent)),
		"srun --jobid=9 --job-name=worker --ntasks=3 --exact --cpus-per-task=4 --mem=24576 "
		"--gpus-per-task=2 --gres=nic:3 --mpi=none --input=none --kill-on-bad-exit=0 "
		"--wait=0 "
		"/bin/agent -- a b");
	layout_clear(&l);
}

static void test_layout_time(void **state)
{
	struct auc_receipt r = receipt();
	struct auc_err err = {0};
	struct layout l;

	(void)state;
	/* Too early (a clock that is late), the pause, the second run, the end. */
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 999, &err), AUC_OK);
	assert_true(l.begin == 1000 && l.end == 1050);
	layout_clear(&l);
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1050, &err), AUC_OK);
	assert_true(l.begin == 1070 && l.end == 1110);
	layout_clear(&l);
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1109.9, &err), AUC_OK);
	assert_true(l.begin == 1070 && l.end == 1110);
	assert_int_equal(l.nworkers, 4);
	assert_true(layout_complete(&l, NULL));
	layout_clear(&l);
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1110, &err), AUC_ESTATE);
	assert_string_equal(err.text, "the time that job 7 bought is over");
}

static void test_layout_errors(void **state)
{
	struct auc_receipt r = receipt();
	struct auc_err err = {0};
	struct layout l;

	(void)state;
	assert_int_equal(layout_make(&l, &r, 7, "edge1", 1000, &err), AUC_ESTATE);
	assert_string_equal(err.text,
			    "job 7 runs on edge1, but the plan has its first ps on edge2");
	strcpy(r.state, "member");
	r.lead = 3;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1000, &err), AUC_EINVAL);
	assert_string_equal(err.text, "job 7 is a member of the group of job 3, not its lead");
	r = receipt();
	r.worker_tres[2].value = 0.5;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1000, &err), AUC_EINVAL);
	assert_string_equal(err.text, "type v100: gpu:v100=0.5: a step takes whole ones only");
	r = receipt();
	r.nruns = 0;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1000, &err), AUC_EINVAL);
	r = receipt();
	shares[2].workers = UINT32_MAX - 2;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1000, &err), AUC_EINVAL);
	shares[2].workers = 3;
}

static void test_hostport(void **state)
{
	char host[20], buf[64];
	unsigned port;

	(void)state;
	assert_true(auc_hostport_split("10.0.0.1:80", host, sizeof(host), &port));
	assert_string_equal(host, "10.0.0.1");
	assert_int_equal(port, 80);
	assert_true(auc_hostport_split("[fe80::1]:65535", host, sizeof(host), &port));
	assert_string_equal(host, "fe80::1");
	assert_string_equal(auc_hostport_print(host, port, buf, sizeof(buf)), "[fe80::1]:65535");
	assert_false(auc_hostport_split("10.0.0.1", host, sizeof(host), &port));
	assert_false(auc_hostport_split("10.0.0.1:0", host, sizeof(host), &port));
	assert_false(auc_hostport_split("10.0.0.1:65536", host, sizeof(host), &port));
	assert_false(auc_hostport_split("10.0.0.1:-1", host, sizeof(host), &port));
	assert_false(auc_hostport_split("10.0.0.1:1x", host, sizeof(host), &port));
	assert_false(auc_hostport_split(":1", host, sizeof(host), &port));
	assert_false(auc_hostport_split("[]:1", host, sizeof(host), &port));
	assert_false(auc_hostport_split("[::1:1", host, sizeof(host), &port));
	assert_false(
		auc_hostport_split("a-name-that-is-far-too-long:1", host, sizeof(host), &port));
}

/* Two ends of a connection. */
static void wires(struct wire *a, struct wire *b, size_t line_max)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	wire_init(a, fd[0], line_max);
	wire_init(b, fd[1], line_max);
}

static void put(struct wire *w, const char *text, size_t len)
{
	assert_int_equal(write(w->fd, text, len), len);
}

static void test_wire(void **state)
{
	struct wire a, b;
	struct json_object *o;
	char s[8];
	bool bad;
	long n;

	(void)state;
	wires(&a, &b, 100);
	o = json_object_new_object();
	json_object_object_add(o, "exit", json_object_new_int(7));
	json_object_object_add(o, "role", json_object_new_string("worker"));
	assert_true(wire_send(&a, o));
	put(&a, "{\"x\"", 4);
	assert_true(wire_read(&b));
	o = wire_take(&b, &bad);
	assert_non_null(o);
	assert_true(wire_int(o, "exit", 0, 255, &n));
	assert_int_equal(n, 7);
	assert_false(wire_int(o, "exit", 8, 255, &n));
	assert_false(wire_int(o, "role", 0, 255, &n));
	assert_false(wire_int(o, "none", 0, 255, &n));
	assert_true(wire_str(o, "role", s, sizeof(s)));
	assert_false(wire_str(o, "role", s, 6));
	assert_false(wire_str(o, "exit", s, sizeof(s)));
	json_object_put(o);
	assert_null(wire_take(&b, &bad));
	assert_false(bad);
	put(&a, ":1}\n", 4);
	assert_true(wire_read(&b));
	o = wire_take(&b, &bad);
	assert_true(wire_int(o, "x", 1, 1, &n));
	json_object_put(o);

	/* Not JSON, not an object, too deep, followed by rubbish. */
	static const char *const wrong[] = {
		"\n",           "nonsense\n", "[1]\n", "3\n", "{\"a\":{\"b\":{\"c\":{\"d\":1}}}}\n",
		"{\"a\":1}{\n", "{\"a\":1\n"};
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		put(&a, wrong[i], strlen(wrong[i]));
		assert_true(wire_read(&b));
		assert_null(wire_take(&b, &bad));
		assert_true(bad);
	}
	/* An object in front of a NUL, and one on a line that is too long but has come whole. */
	put(&a, "{\"a\":1}\0{}\n", 11);
	assert_true(wire_read(&b));
	assert_null(wire_take(&b, &bad));
	assert_true(bad);
	put(&a, "{\"a\":\"", 6);
	for (unsigned i = 0; i < 10; i++)
		put(&a, "xxxxxxxxxx", 10);
	put(&a, "\"}\n", 3);
	assert_true(wire_read(&b));
	assert_null(wire_take(&b, &bad));
	assert_true(bad);
	/* A line that never ends. */
	for (unsigned i = 0; i < 20; i++)
		put(&a, "xxxxxxxxxx", 10);
	assert_false(wire_read(&b) && wire_read(&b));
	assert_true(b.in_alloc <= 4096);
	wire_close(&a);
	wire_close(&b);

	wires(&a, &b, 100);
	put(&a, "{\"last\":1}\n", 11);
	wire_close(&a);
	assert_false(wire_read(&b));
	o = wire_take(&b, &bad);
	assert_non_null(o);
	json_object_put(o);
	wire_close(&b);
}

static void test_token(void **state)
{
	char a[WIRE_TOKEN_LEN], b[WIRE_TOKEN_LEN];

	(void)state;
	assert_true(wire_token(a) && wire_token(b));
	assert_int_equal(strlen(a), WIRE_TOKEN_LEN - 1);
	assert_string_not_equal(a, b);
	assert_true(wire_token_equal(a, a));
	assert_false(wire_token_equal(a, b));
	assert_false(wire_token_equal(a, ""));
	strcpy(b, a);
	b[WIRE_TOKEN_LEN - 2] ^= 1;
	assert_false(wire_token_equal(a, b));
}

static void test_peers(void **state)
{
	static const struct peer peers[] = {
		{ROLE_PS, 0, "edge1", "10.0.0.1", 5000, 4},
		{ROLE_WORKER, 1, "edge2", "10.0.0.2", 5001, 12},
		{ROLE_WORKER, 0, "edge1", "10.0.0.1", 5002, 11},
		{ROLE_WORKER, 2, "edge2", "10.0.0.2", 5003, 13},
	};
	struct json_object *list = taskenv_peers_json(peers, 4);
	struct peer *back;
	struct auc_err err;
	unsigned n;

	(void)state;
	assert_int_equal(taskenv_peers_parse(list, &back, &n, &err), AUC_OK);
	json_object_put(list);
	assert_int_equal(n, 4);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(back[i].role, peers[i].role);
		assert_int_equal(back[i].rank, peers[i].rank);
		assert_string_equal(back[i].node, peers[i].node);
		assert_string_equal(back[i].host, peers[i].host);
		assert_int_equal(back[i].port, peers[i].port);
		assert_int_equal(back[i].id, peers[i].id);
	}
	unsetenv("SLURM_PROCID");
	setenv("SLURM_JOB_ID", "79", 1);
	setenv("AUCTION_JOB_ID", "77", 1);
	setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
	assert_int_equal(taskenv_set(&back[3], back, n, &err), AUC_OK);
	assert_string_equal(getenv("CUDA_VISIBLE_DEVICES"), "0,1");
	assert_string_equal(getenv("AUCTION_WORKER_HOSTS"),
			    "10.0.0.1:5002,10.0.0.2:5001,10.0.0.2:5003");
	assert_string_equal(getenv("AUCTION_PS_HOSTS"), "10.0.0.1:5000");
	assert_string_equal(getenv("AUCTION_ID"), "13");
	assert_string_equal(getenv("RANK"), "2");
	assert_string_equal(getenv("WORLD_SIZE"), "3");
	assert_string_equal(getenv("LOCAL_RANK"), "1");
	assert_string_equal(getenv("LOCAL_WORLD_SIZE"), "2");
	assert_string_equal(getenv("GROUP_RANK"), "1");
	assert_string_equal(getenv("NODE_RANK"), "1");
	assert_string_equal(getenv("GROUP_WORLD_SIZE"), "2");
	assert_string_equal(getenv("SLURM_PROCID"), "2");
	assert_string_equal(getenv("SLURM_LOCALID"), "1");
	assert_string_equal(getenv("SLURM_NTASKS"), "3");
	assert_string_equal(getenv("SLURM_JOB_ID"), "77");
	assert_string_equal(getenv("AUCTION_NODE_JOB_ID"), "79");
	assert_string_equal(getenv("SLURM_NNODES"), "2");
	assert_non_null(strchr(getenv("SLURM_JOB_NODELIST"), ','));
	/* Not as many on each. */
	assert_null(getenv("SLURM_NTASKS_PER_NODE"));
	assert_string_equal(getenv("MASTER_ADDR"), "10.0.0.1");
	assert_string_equal(getenv("MASTER_PORT"), "5002");
	assert_string_equal(getenv("DMLC_ROLE"), "worker");
	assert_string_equal(getenv("DMLC_WORKER_ID"), "2");
	assert_string_equal(getenv("DMLC_PS_ROOT_PORT"), "5000");
	assert_string_equal(
		getenv("TF_CONFIG"),
		"{\"cluster\":{\"worker\":[\"10.0.0.1:5002\",\"10.0.0.2:5001\",\"10.0.0.2:5003\"],"
		"\"ps\":[\"10.0.0.1:5000\"]},\"task\":{\"type\":\"worker\",\"index\":2}}");
	/* What a worker had, a PS must not have. */
	unsetenv("SLURM_PROCID");
	assert_int_equal(taskenv_set(&back[0], back, n, &err), AUC_OK);
	assert_string_equal(getenv("AUCTION_ROLE"), "ps");
	assert_string_equal(getenv("DMLC_ROLE"), "server");
	assert_null(getenv("RANK"));
	assert_null(getenv("SLURM_PROCID"));
	assert_null(getenv("SLURM_NTASKS"));
	assert_string_equal(getenv("CUDA_VISIBLE_DEVICES"), "");
	assert_string_equal(getenv("NVIDIA_VISIBLE_DEVICES"), "void");
	assert_null(getenv("DMLC_WORKER_ID"));
	/* A task of srun sees its own GPUs alone, counted from 0. */
	setenv("SLURM_PROCID", "1", 1);
	setenv("CUDA_VISIBLE_DEVICES", "3", 1);
	assert_int_equal(taskenv_set(&back[3], back, n, &err), AUC_OK);
	assert_string_equal(getenv("LOCAL_RANK"), "0");
	assert_string_equal(getenv("LOCAL_WORLD_SIZE"), "1");
	assert_string_equal(getenv("GROUP_RANK"), "2");
	assert_string_equal(getenv("SLURM_NNODES"), "3");
	assert_string_equal(getenv("SLURM_NTASKS_PER_NODE"), "1");
	assert_string_equal(getenv("SLURM_TASKS_PER_NODE"), "1(x3)");
	unsetenv("SLURM_PROCID");
	unsetenv("CUDA_VISIBLE_DEVICES");
	/* Without PSs (all-reduce) there is no root. */
	assert_int_equal(taskenv_set(&back[1], back + 1, n - 1, &err), AUC_OK);
	assert_string_equal(getenv("AUCTION_PS_HOSTS"), "");
	assert_null(getenv("DMLC_PS_ROOT_URI"));
	free(back);
}

static void test_peers_wrong(void **state)
{
	static const char *const wrong[] = {
		"[]",
		"{}",
		"[1]",
		"[[]]",
		"[[\"boss\",0,\"n\",\"h\",1,0]]",
		"[[\"ps\",-1,\"n\",\"h\",1,0]]",
		"[[\"ps\",0,\"n\",\"h\",0,0]]",
		"[[\"ps\",0,\"n\",\"h\",65536,0]]",
		"[[\"ps\",0,\"n\",\"h\",\"1\",0]]",
		"[[\"ps\",0,null,\"h\",1,0]]",
		"[[\"ps\",0,\"n\",\"h\",1]]",
		"[[\"ps\",0,\"n\",\"h\",1,-1]]",
		"[[\"ps\",0,\"n\",\"h\",1,1000000001]]",
		"[[\"ps\",0,\"n\",\"h\",1,2,3]]",
		/* the address longer than any */
		"[[\"ps\",0,\"n\",\"" HOST_64 "\",1,0]]",
	};
	struct json_object *list;
	struct peer *back;
	struct auc_err err;
	unsigned n;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		list = json_tokener_parse(wrong[i]);
		assert_int_equal(taskenv_peers_parse(list, &back, &n, &err), AUC_EINVAL);
		assert_null(back);
		json_object_put(list);
	}
}

/* One leg, begin and end. */
static void leg_is(const struct leg *leg, double begin, double end, bool elsewhere)
{
	assert_non_null(leg);
	assert_true(leg->begin == begin && leg->end == end);
	assert_int_equal(leg->elsewhere, elsewhere);
}

static void test_course(void **state)
{
	/* As it is; the same once more, in another order; a worker more; a pause; the PS moves; the
	 * lead is back. */
	struct auc_receipt_share s[] = {
		{"edge1", 1, 1}, {"edge2", 2, 0}, /* 100 to 104 */
		{"edge2", 2, 0}, {"edge1", 1, 1}, /* 105 to 109 */
		{"edge1", 1, 1}, {"edge2", 3, 0}, /* 110 to 119 */
		{"edge3", 0, 1}, {"edge1", 1, 0}, /* 130 to 139 */
		{"edge1", 1, 1},                  /* 140 to 149 */
	};
	struct auc_receipt_run r5[] = {{100, 104, 0, 2},
				       {105, 109, 2, 2},
				       {110, 119, 4, 2},
				       {130, 139, 6, 2},
				       {140, 149, 8, 1}};
	struct auc_receipt r = receipt();
	struct auc_err err = {0};
	struct legs c;

	(void)state;
	r.nruns = 5;
	r.runs = r5;
	r.nshares = 9;
	r.shares = s;
	assert_int_equal(legs_make(&c, &r, 7, "edge1", 1000, &err), AUC_OK);
	assert_int_equal(c.nlegs, 4);
	leg_is(legs_at(&c, 900), 1000, 1100, false);
	leg_is(legs_at(&c, 1099.9), 1000, 1100, false);
	leg_is(legs_after(&c, 1099.9), 1100, 1200, false);
	leg_is(legs_at(&c, 1100), 1100, 1200, false);
	leg_is(legs_at(&c, 1250), 1300, 1400, true);
	leg_is(legs_after(&c, 1250), 1400, 1500, false);
	assert_null(legs_after(&c, 1450));
	assert_null(legs_at(&c, 1500));
	assert_int_equal(layout_count(&c.legs[1].layout, "edge2", ROLE_WORKER), 3);
	assert_true(layout_same(&c.legs[0].layout, &c.legs[1].layout, ROLE_PS));
	assert_false(layout_same(&c.legs[0].layout, &c.legs[1].layout, ROLES));
	legs_clear(&c);
	/* What is over is no leg. */
	assert_int_equal(legs_make(&c, &r, 7, "edge1", 1200, &err), AUC_OK);
	assert_int_equal(c.nlegs, 2);
	legs_clear(&c);
	assert_int_equal(legs_make(&c, &r, 7, "edge1", 1500, &err), AUC_OK);
	assert_int_equal(c.nlegs, 0);
	legs_clear(&c);
	s[5].workers = UINT32_MAX;
	assert_int_equal(legs_make(&c, &r, 7, "edge1", 1000, &err), AUC_EINVAL);
	assert_int_equal(c.nlegs, 0);
}

static void test_course_local(void **state)
{
	struct auc_err err = {0};
	struct legs c = {0};

	(void)state;
	assert_int_equal(legs_add_local(&c, 100, "0", "--local", &err), AUC_EINVAL);
	assert_int_equal(legs_add_local(&c, 100, "2:1", "--local", &err), AUC_OK);
	assert_int_equal(legs_add_local(&c, 110, "2:1", "--then", &err), AUC_OK);
	assert_int_equal(c.nlegs, 1);
	leg_is(legs_at(&c, 1e9), 100, 0, false);
	assert_int_equal(legs_add_local(&c, 120, "0", "--then", &err), AUC_OK);
	assert_int_equal(legs_add_local(&c, 130, "2:1", "--then", &err), AUC_OK);
	assert_int_equal(c.nlegs, 2);
	leg_is(legs_at(&c, 119), 100, 120, false);
	leg_is(legs_at(&c, 121), 130, 0, false);
	assert_int_equal(legs_add_local(&c, 140, "3", "--then", &err), AUC_OK);
	leg_is(legs_at(&c, 131), 130, 140, false);
	static const char *const wrong[] = {"",      ":",   "x",  "1:x",  "257",
					    "1:257", "0:1", "-1", "1:1:1"};
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(legs_add_local(&c, 150, wrong[i], "--then", &err), AUC_EINVAL);
	assert_int_equal(legs_add_local(&c, 140, "1", "--then=0s:", &err), AUC_EINVAL);
	assert_string_equal(err.text, "--then=0s:1: expected a later time than that of the line or "
				      "option before");
	legs_clear(&c);
}

static void member(struct group *g, const char *node, uint32_t job_id, const char *state)
{
	struct group_member m = {.sale = "ab-1", .job_id = job_id};

	strcpy(m.node, node);
	strcpy(m.state, state);
	assert_int_equal(group_add(g, &m, NULL), AUC_OK);
}

static void test_group(void **state)
{
	uint32_t spent_jobs[] = {8};
	struct group_spent spent = {1, spent_jobs};
	struct group g = {.lead = 7, .node = "edge2", .receipt = strdup("{\"auction\":1}")}, back;
	struct auc_receipt r = receipt();
	struct auc_err err = {0};
	struct json_object *o;
	struct layout l;
	struct legs c;
	char waiting[200];

	(void)state;
	assert_int_equal(layout_make(&l, &r, 7, "edge2", 1000, &err), AUC_OK);
	member(&g, "edge1", 8, "RUNNING");
	member(&g, "edge3", 10, "PENDING");
	group_fill(&g, NULL, &l, waiting, sizeof(waiting));
	assert_string_equal(waiting, "edge3 (job 10 is PENDING)");
	assert_int_equal(l.steps[2].job_id, 8);
	assert_int_equal(l.steps[0].job_id, 7);
	/* One that is replaced counts no more, though it runs; the new one does once it runs. */
	group_fill(&g, &spent, &l, waiting, sizeof(waiting));
	assert_string_equal(waiting, "edge1 (no member job), edge3 (job 10 is PENDING)");
	member(&g, "edge1", 9, "RUNNING");
	member(&g, "edge3", 11, "RUNNING");
	group_fill(&g, &spent, &l, waiting, sizeof(waiting));
	assert_string_equal(waiting, "");
	assert_int_equal(l.steps[2].job_id, 9);
	assert_int_equal(l.steps[3].job_id, 11);
	/* Of another sale of the same job. */
	strcpy(g.members[3].sale, "ab-2");
	group_fill(&g, &spent, &l, waiting, sizeof(waiting));
	assert_string_equal(waiting, "edge3 (job 10 is PENDING)");
	layout_clear(&l);

	o = group_json(&g);
	assert_int_equal(group_parse(o, &back, &err), AUC_OK);
	assert_int_equal(back.lead, 7);
	assert_string_equal(back.node, "edge2");
	assert_string_equal(back.receipt, g.receipt);
	assert_int_equal(back.nmembers, 4);
	assert_memory_equal(&back.members[3].job_id, &g.members[3].job_id, sizeof(uint32_t));
	assert_string_equal(back.members[3].sale, "ab-2");
	json_object_put(o);
	assert_int_equal(group_legs(&back, 0, &c, &err), AUC_EINVAL);
	group_clear(&back);
	group_clear(&g);
	assert_int_equal(group_legs(&g, 0, &c, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "was not sold by the auction"));
	static const char *const wrong[] = {
		"{\"receipt\":\"\",\"lead\":1,\"node\":\"a\"}",
		"{\"receipt\":\"\",\"lead\":1,\"node\":\"a\",\"members\":7}",
		"{\"receipt\":\"\",\"lead\":1,\"node\":\"a\",\"members\":[1]}",
		"{\"receipt\":\"\",\"lead\":1,\"node\":\"a\",\"members\":[[\"a\",\"b\"]]}",
	};
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		o = json_tokener_parse(wrong[i]);
		assert_int_equal(group_parse(o, &back, &err), AUC_EINVAL);
		json_object_put(o);
	}
}

/* What is in the file now. */
static struct json_object *read_group(void)
{
	struct json_object *o = json_object_from_file(getenv("AUCTION_GROUP_FILE"));

	assert_non_null(o);
	return o;
}

static int number(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return json_object_get_int(v);
}

static void test_groupfile(void **state)
{
	struct groupfile f = {.fd = -1};
	struct auc_err err = {0};
	struct json_object *o = json_tokener_parse(
		"{\"generation\":3,\"begin\":1.5,\"end\":2.5,\"next\":{\"at\":2.5,\"leaves\":true},"
		"\"peers\":[[\"ps\",0,\"n1\",\"h1\",5,0],[\"worker\",0,\"n1\",\"h1\",6,4],"
		"[\"worker\",1,\"n2\",\"h2\",7,9]]}");
	struct json_object *in, *v;
	int fd;

	(void)state;
	assert_int_equal(groupfile_write(&f, o, ROLE_WORKER, 9, &err), AUC_OK);
	assert_int_equal(groupfile_set(&f, &err), AUC_OK);
	in = read_group();
	assert_int_equal(number(in, "id"), 9);
	assert_int_equal(number(in, "rank"), 1);
	assert_int_equal(number(in, "generation"), 3);
	assert_true(json_object_object_get_ex(in, "next", &v));
	assert_int_equal(number(v, "leaves"), 1);
	assert_true(json_object_object_get_ex(in, "workers", &v));
	assert_int_equal(json_object_array_length(v), 2);
	assert_int_equal(number(json_object_array_get_idx(v, 1), "port"), 7);
	json_object_put(in);
	/* Who has opened it keeps what it has; the name is the same. */
	fd = open(getenv("AUCTION_GROUP_FILE"), O_RDONLY);
	json_object_object_add(o, "generation", json_object_new_int(4));
	assert_int_equal(groupfile_write(&f, o, ROLE_WORKER, 9, &err), AUC_OK);
	in = read_group();
	assert_int_equal(number(in, "generation"), 4);
	json_object_put(in);
	in = json_object_from_fd(fd);
	assert_int_equal(number(in, "generation"), 3);
	json_object_put(in);
	close(fd);
	json_object_object_del(o, "peers");
	assert_int_equal(groupfile_write(&f, o, ROLE_WORKER, 9, &err), AUC_EINVAL);
	json_object_put(o);
	groupfile_clear(&f);
}

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	caught = sig;
}

static void test_catch_kill(void **state)
{
	(void)state;
	setpgid(0, 0);
	caught = 0;
	/* Without a handler it would end this process. */
	catch_kill(getpid(), SIGUSR2);
	assert_int_equal(caught, 0);
	signal(SIGUSR2, on_signal);
	catch_kill(getpid() + 1, SIGUSR2);
	assert_int_equal(caught, 0);
	catch_kill(getpid(), SIGUSR2);
	assert_int_equal(caught, SIGUSR2);
	signal(SIGUSR2, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),        cmocka_unit_test(test_layout_chunks),
		cmocka_unit_test(test_moves),         cmocka_unit_test(test_layout_time),
		cmocka_unit_test(test_layout_errors), cmocka_unit_test(test_hostport),
		cmocka_unit_test(test_wire),          cmocka_unit_test(test_token),
		cmocka_unit_test(test_peers),         cmocka_unit_test(test_peers_wrong),
		cmocka_unit_test(test_course),        cmocka_unit_test(test_course_local),
		cmocka_unit_test(test_group),         cmocka_unit_test(test_groupfile),
		cmocka_unit_test(test_catch_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
