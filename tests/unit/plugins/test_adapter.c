/* test_adapter.c - between Slurm's structures and the auction: bids in submissions,
 * single-node jobs. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "adapter/desc.h"
#include "adapter/secrets.h"
#include "adapter/spending.h"

/* -- submissions -- */

static void test_bid_found(void **state)
{
	char *spank[] = {(char *)"OTHER=1", (char *)"SLURM_AUCTION_BID=bid=3 epochs=2"};
	char *prefixed[] = {(char *)"SPANK_SLURM_AUCTION_BID=bid=4"};
	char *env[] = {(char *)"SLURM_AUCTION_BIDDER=x", (char *)"SLURM_AUCTION_BID=bid=5"};
	char *none[] = {(char *)"SLURM_AUCTION_BID="};
	job_desc_msg_t d;

	(void)state;
	slurm_init_job_desc_msg(&d);
	assert_null(auc_desc_bid(&d));
	d.environment = none;
	d.env_size = 1;
	assert_null(auc_desc_bid(&d));
	d.environment = env;
	d.env_size = 2;
	assert_string_equal(auc_desc_bid(&d), "bid=5");
	d.spank_job_env = none;
	d.spank_job_env_size = 1;
	assert_string_equal(auc_desc_bid(&d), "bid=5");
	d.spank_job_env = prefixed;
	d.spank_job_env_size = 1;
	assert_string_equal(auc_desc_bid(&d), "bid=4");
	d.spank_job_env = spank;
	d.spank_job_env_size = 2;
	assert_string_equal(auc_desc_bid(&d), "bid=3 epochs=2");
}

static void test_secrets_in_words(void **state)
{
	static const struct {
		const char *before, *after;
	} lines[] = {
		{"sbatch --max-price=12.5 -n 1", "sbatch --max-price=     -n 1"},
		{"sbatch --max-price  7 -n 1", "sbatch --max-price    -n 1"},
		{"sbatch --max-pr=12.5 a.sh", "sbatch --max-pr=     a.sh"},
		{"sbatch --max-p 3456.5 a.sh", "sbatch --max-p        a.sh"},
		{"sbatch --max=9 a.sh", "sbatch --max=  a.sh"},
		{"sbatch --ma=9 a.sh", "sbatch --ma=  a.sh"},
		{"sbatch --bid=sigmoid:300,0.5/h", "sbatch --bid=                 "},
		{"sbatch --bid 300 --epochs=3", "sbatch --bid     --epochs=3"},
		{"sbatch --bi\t300", "sbatch --bi\t   "},
		{"sbatch --bi=300 --bid=2", "sbatch --bi=    --bid= "},
		{"sbatch --bid", "sbatch --bid"},
		{"sbatch --bid=", "sbatch --bid="},
		{"sbatch --bid= 5", "sbatch --bid= 5"},
		{"sbatch --bid #5 --bid 6", "sbatch --bid    --bid  "},
		{"sbatch --export=ALL,SLURM_AUCTION_BID=bid=5 epochs=2 a.sh",
		 "sbatch --export=ALL,SLURM_AUCTION_BID=                   "},
		{"sbatch --export=SLURM_AUCTION_MAX_PRICE=5 a",
		 "sbatch --export=SLURM_AUCTION_MAX_PRICE=   "},
		/* Not ours. */
		{"sbatch --bb=5 --batch=3 --mem=4 --mail-user=x", NULL},
		{"sbatch --bids=5 --max-prices=3 -bid=4 bid=5", NULL},
		{"sbatch --wrap echo it's 5", NULL},
		{"sbatch --b=5", NULL}, /* sbatch takes it for several others */
		{"", NULL},
	};
	job_desc_msg_t d;
	char line[128];

	(void)state;
	slurm_init_job_desc_msg(&d);
	d.submit_line = line;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		strcpy(line, lines[i].before);
		auc_desc_forget_secrets(&d);
		assert_string_equal(line, lines[i].after ? lines[i].after : lines[i].before);
	}
}

static void test_secrets_in_script(void **state)
{
	char script[] = "#!/bin/sh\n"
			"#SBATCH --max-price=12.5 -n 1\n"
			"echo --max-price=4\n"
			"#SBATCH --bi 31 # mine\n"
			"#SBATCH \"--bid\"=32 --b\\id=33\n"
			"#SBATCH '--max-p' \"34\" -J x\n"
			"# SBATCH --bid=5\n"
			"#SBATCH --bid 3";
	job_desc_msg_t d;

	(void)state;
	slurm_init_job_desc_msg(&d);
	d.script = script;
	auc_desc_forget_secrets(&d);
	assert_string_equal(script, "#!/bin/sh\n"
				    "#SBATCH --max-price=     -n 1\n"
				    "echo --max-price=4\n"
				    "#SBATCH --bi    # mine\n"
				    "#SBATCH \"--bid\"=   --b\\id=  \n"
				    "#SBATCH '--max-p'      -J x\n"
				    "# SBATCH --bid=5\n"
				    "#SBATCH --bid  ");
}

/* sbatch makes one line of all of them. */
static void test_secrets_across_lines(void **state)
{
	char script[] = "#!/bin/sh\n"
			"#SBATCH--bid=31\n"
			"#SBATCH'--bid'=32 -J x\n"
			"#SBATCH --bid\n"
			"\n"
			"# its value\n"
			"#SBATCH # --no --bid=3 --bid 4\n"
			"#SBATCH \"33\" -J y\n"
			"#SBATCH --bid \\\n"
			"#SBATCH 34\n"
			"#SBATCH --max-p#mine\n"
			"#SBATCH\t35\n"
			"#SBATCH --bid # 5\n"
			"#SBATCH 36 --bid\n"
			"#SBATCH 37\n";
	job_desc_msg_t d;

	(void)state;
	slurm_init_job_desc_msg(&d);
	d.script = script;
	auc_desc_forget_secrets(&d);
	assert_string_equal(script, "#!/bin/sh\n"
				    "#SBATCH--bid=  \n"
				    "#SBATCH'--bid'=   -J x\n"
				    "#SBATCH --bid\n"
				    "\n"
				    "# its value\n"
				    "#SBATCH # --no --bid=  --bid  \n"
				    "#SBATCH      -J y\n"
				    "#SBATCH --bid  \n"
				    "#SBATCH   \n"
				    "#SBATCH --max-p#mine\n"
				    "#SBATCH\t  \n"
				    "#SBATCH --bid # 5\n"
				    "#SBATCH    --bid\n"
				    "#SBATCH   \n");
}

static void test_secrets_in_environment(void **state)
{
	static const char *const pairs[][2] = {
		{"SLURM_AUCTION_BID=epochs=2 max-price=12.5 bid=3", "SLURM_AUCTION_BID="},
		{"SPANK_SLURM_AUCTION_BID=300", "SPANK_SLURM_AUCTION_BID="},
		{"SLURM_SPANK_SLURM_AUCTION_BID=300", "SLURM_SPANK_SLURM_AUCTION_BID="},
		{"SLURM_AUCTION_MAX_PRICE=7", "SLURM_AUCTION_MAX_PRICE="},
		{"_SLURM_SPANK_OPTION_auction_max_price=12.5",
		 "_SLURM_SPANK_OPTION_auction_max_price=0"},
		{"_SLURM_SPANK_OPTION_auction_bid=3", "_SLURM_SPANK_OPTION_auction_bid=0"},
		{"SLURM_SPANK__SLURM_SPANK_OPTION_auction_bid=300",
		 "SLURM_SPANK__SLURM_SPANK_OPTION_auction_bid=0"},
		{"SBATCH_EXPORT=A,SLURM_AUCTION_BID=12", "SBATCH_EXPORT=A,SLURM_AUCTION_BID=  "},
		{"SBATCH_OPTIONS=-n1 --bid=12 -J x", "SBATCH_OPTIONS=-n1 --bid=   -J x"},
		{"SLURM_AUCTION_EPOCHS=7", "SLURM_AUCTION_EPOCHS=7"},
		{"_SLURM_SPANK_OPTION_auction_epochs=3", "_SLURM_SPANK_OPTION_auction_epochs=3"},
		{"MY_BID=7", "MY_BID=7"},
		{"PATH=/max-price=7", "PATH=/max-price=7"},
		{"NOTHING", "NOTHING"},
	};
	enum { N = sizeof(pairs) / sizeof(*pairs) };
	char *spank[N + 1], *env[N + 1];
	job_desc_msg_t d;

	(void)state;
	slurm_init_job_desc_msg(&d);
	auc_desc_forget_secrets(&d);
	spank[N] = env[N] = NULL;
	for (unsigned i = 0; i < N; i++) {
		spank[i] = strdup(pairs[i][0]);
		env[i] = strdup(pairs[i][0]);
	}
	d.spank_job_env = spank;
	d.environment = env;
	d.spank_job_env_size = d.env_size = N + 1;
	auc_desc_forget_secrets(&d);
	for (unsigned i = 0; i < N; i++) {
		assert_string_equal(spank[i], pairs[i][1]);
		assert_string_equal(env[i], pairs[i][1]);
		free(spank[i]);
		free(env[i]);
	}
}

/* Whoever may send anything may name two jobs: the text is what slurmctld goes by. */
static void test_changed_job(void **state)
{
	static const struct {
		uint32_t id;
		const char *text;
		uint32_t changed;
	} cases[] = {
		{7, NULL, 7},         {NO_VAL, "12", 12},    {0, "12", 12},   {7, "12", 12},
		{NO_VAL, "12_3", 12}, {7, "12_[1-3,5]", 12}, {7, "12+1", 12}, {7, "4294967308", 12},
		{7, " +12", 12},      {7, "s1A2B3C", 0},     {7, "", 0},      {NO_VAL, NULL, 0},
	};
	job_desc_msg_t d;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		slurm_init_job_desc_msg(&d);
		AUC_DESC_JOB_ID(&d) = cases[i].id;
		d.job_id_str = (char *)cases[i].text;
		assert_int_equal(auc_desc_job_id(&d), cases[i].changed);
	}
}

static void refused(job_desc_msg_t *d, const char *option)
{
	struct auc_err err;

	assert_int_equal(auc_desc_check(d, false, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, option));
	slurm_init_job_desc_msg(d);
	d->het_job_offset = NO_VAL;
}

static void test_contradictions(void **state)
{
	job_desc_msg_t d;

	(void)state;
	slurm_init_job_desc_msg(&d);
	d.het_job_offset = NO_VAL;
	/* What a plain sbatch sends. */
	d.min_cpus = 1;
	assert_int_equal(auc_desc_check(&d, false, NULL), AUC_OK);
	d.min_nodes = d.max_nodes = d.num_tasks = 1;
	assert_int_equal(auc_desc_check(&d, false, NULL), AUC_OK);
	/* What changes nothing in what a job is given. */
	d.bitflags = SPREAD_JOB | GRES_DISABLE_BIND;
	d.task_dist = SLURM_DIST_BLOCK;
	assert_int_equal(auc_desc_check(&d, false, NULL), AUC_OK);
	d.min_nodes = 2;
	refused(&d, "--nodes cannot");
	d.num_tasks = 4;
	refused(&d, "--ntasks");
	d.cpus_per_task = 2;
	refused(&d, "--cpus-per-task");
	/* Newer releases say it twice. */
	d.cpus_per_task = 2;
	d.tres_per_task = (char *)"cpu=2";
	refused(&d, "--cpus-per-task cannot");
	d.cpus_per_task = 2;
	d.tres_per_task = (char *)"cpu=2,gres/gpu=1";
	refused(&d, "--cpus-per-task, --gpus-per-task cannot");
	d.pn_min_memory = 100;
	refused(&d, "--mem");
	d.pn_min_memory = 0;
	refused(&d, "--mem");
	d.time_limit = 5;
	refused(&d, "--time");
	d.begin_time = 1;
	refused(&d, "--begin");
	d.req_nodes = (char *)"edge1";
	refused(&d, "--nodelist");
	d.tres_per_node = (char *)"gres:gpu:1";
	refused(&d, "--gres");
	d.tres_per_job = (char *)"gres:gpu:1";
	refused(&d, "--gpus");
	d.shared = 0;
	refused(&d, "--exclusive");
	d.bitflags = GRES_ENFORCE_BIND;
	refused(&d, "--gres-flags=enforce-binding");
	d.task_dist = SLURM_DIST_ARBITRARY;
	refused(&d, "--distribution=arbitrary");
	d.dependency = (char *)"after:1";
	refused(&d, "--dependency");
	d.reservation = (char *)"r";
	refused(&d, "--reservation");
	d.features = (char *)"f";
	refused(&d, "--constraint");
	d.priority = 0;
	refused(&d, "--hold");
	d.array_inx = (char *)"1-3";
	refused(&d, "--array=1-3");
	d.het_job_offset = 0;
	refused(&d, "heterogeneous");
	d.het_job_offset = 1;
	refused(&d, "heterogeneous");
	/* What no command of Slurm sends, but a client of one's own. */
	d.bitflags = HET_JOB_FLAG;
	refused(&d, "heterogeneous");
	d.boards_per_node = 1;
	refused(&d, "boards_per_node");
	d.sockets_per_board = 2;
	refused(&d, "sockets_per_board");
	d.begin_time = 1;
	d.bitflags = CRON_JOB;
	refused(&d, "scrontab");
}

/* All that is wrong in one answer, and which variable of sbatch it may be from. */
static void test_contradictions_at_once(void **state)
{
	char mem[] = "SBATCH_MEM_PER_NODE=100", t[] = "SBATCH_TIMELIMIT=5", *env[] = {t, mem};
	struct auc_err err;
	job_desc_msg_t d;

	(void)state;
	slurm_init_job_desc_msg(&d);
	d.het_job_offset = NO_VAL;
	d.min_nodes = d.max_nodes = 2;
	d.pn_min_memory = 100;
	d.time_limit = 5;
	d.environment = env;
	d.env_size = 2;
	assert_int_equal(auc_desc_check(&d, false, &err), AUC_EINVAL);
	assert_string_equal(err.text,
			    "--time (SBATCH_TIMELIMIT is set), --nodes, --mem (SBATCH_MEM_PER_NODE "
			    "is set) cannot be combined with a bid: the auction decides nodes, "
			    "tasks, CPUs, memory, GPUs, start and time; leave them out");
	/* Where the site has burst buffers, and nodes that --extra is of. */
	d.script = (char *)"#!/bin/sh\n#BB_LUA pool=x\n";
	d.extra = (char *)"x>1";
	assert_int_equal(auc_desc_check(&d, true, &err), AUC_OK);
	slurm_conf.bb_type = (char *)"burst_buffer/lua";
	slurm_conf.sched_params = (char *)"a,extra_constraints";
	assert_int_equal(auc_desc_check(&d, true, &err), AUC_EINVAL);
	assert_string_equal(err.text,
			    SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
				    ? "--extra, #BB or #DW in the script cannot be combined with a "
				      "bid: they could keep the job from starting in the slots it "
				      "pays for; leave them out"
				    : "#BB or #DW in the script cannot be combined with a bid: it "
				      "could keep the job from starting in the slots it pays for; "
				      "leave it out");
	d.script = (char *)"#!/bin/sh\necho '#BB'\n";
	d.extra = NULL;
	assert_int_equal(auc_desc_check(&d, true, &err), AUC_OK);
	d.script = NULL;
	slurm_conf.bb_type = slurm_conf.sched_params = NULL;
	d.priority = 0;
	d.dependency = (char *)"after:1";
	assert_int_equal(auc_desc_check(&d, false, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "is set), --dependency, --hold cannot be combined"));
	d.min_nodes = d.max_nodes = NO_VAL;
	d.pn_min_memory = NO_VAL64;
	d.time_limit = NO_VAL;
	assert_int_equal(auc_desc_check(&d, false, &err), AUC_EINVAL);
	assert_string_equal(err.text, "--dependency, --hold cannot be combined with a bid: they "
				      "could keep the job from starting in the slots it pays for; "
				      "leave them out");
	/* A message of so many that they do not fit ends properly. */
	memset(&d.begin_time, 1, sizeof(d.begin_time));
	d.deadline = 1;
	d.time_limit = d.time_min = d.min_nodes = d.num_tasks = d.min_cpus = 5;
	d.ntasks_per_node = d.ntasks_per_socket = d.ntasks_per_core = d.ntasks_per_tres = 2;
	d.cpus_per_task = d.pn_min_cpus = d.sockets_per_node = d.cores_per_socket = 2;
	d.threads_per_core = d.core_spec = 2;
	d.pn_min_memory = 7;
	d.req_nodes = d.exc_nodes = d.tres_per_job = d.tres_per_node = (char *)"x";
	assert_int_equal(auc_desc_check(&d, false, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, ", ..., --dependency"));
	assert_non_null(strstr(err.text, "leave them out"));
}

/* --core-spec and --thread-spec, which Slurm itself ignores unless the site allows them. */
static void test_core_spec(void **state)
{
	job_desc_msg_t d;
	struct auc_err err;

	(void)state;
	slurm_init_job_desc_msg(&d);
	d.het_job_offset = NO_VAL;
	d.core_spec = 1;
	assert_int_equal(auc_desc_check(&d, true, &err), AUC_OK);
	slurm_conf.conf_flags |= AUC_ALLOWS_CORE_SPEC;
	assert_int_equal(auc_desc_check(&d, true, &err), AUC_EINVAL);
	assert_string_equal(err.text,
			    "--core-spec cannot be combined with a bid: the bid buys what the job "
			    "says by --nodes, --ntasks-per-node, --cpus-per-task, --gpus-per-node, "
			    "--mem and --time; leave it out");
	d.core_spec |= CORE_SPEC_THREAD;
	assert_int_equal(auc_desc_check(&d, true, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "--thread-spec cannot be combined with a bid: "));
	slurm_conf.conf_flags &= ~AUC_ALLOWS_CORE_SPEC;
}

static struct auc_part part(void)
{
	struct auc_part p = {.server = "edge1", .partition = "edge", .lead = true, .ntres = 4};

	p.tres[0] = (struct auc_named){.name = "gpu:v100", .value = 2};
	p.tres[1] = (struct auc_named){.name = "cpu", .value = 5};
	p.tres[2] = (struct auc_named){.name = "mem", .value = 1200};
	p.tres[3] = (struct auc_named){.name = "shard", .value = 3};
	return p;
}

static void test_slice(void **state)
{
	struct auc_part p = part();
	struct auc_slice s;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_slice_of(&p, 100.5, 221, &s, &err), AUC_OK);
	assert_int_equal(s.spare, 59);
	assert_string_equal(s.node, "edge1");
	assert_int_equal(s.cpus, 5);
	assert_int_equal(s.mem_mb, 1200);
	assert_string_equal(s.gres, AUC_GRES_PREFIX "gpu:v100:2," AUC_GRES_PREFIX "shard:3");
	/* Never before the slot, and never shorter than the plan. */
	assert_int_equal(s.begin, 101);
	assert_int_equal(s.minutes, 3);
	p.tres[1].value = 0;
	assert_int_equal(auc_slice_of(&p, 100, 220, &s, &err), AUC_EINVAL);
	p = part();
	p.tres[2].value = 1e18;
	assert_int_equal(auc_slice_of(&p, 100, 220, &s, &err), AUC_EINVAL);
}

static void test_apply(void **state)
{
	/* As from within a job that was sold. */
	static const char *const before[] = {"PATH=/bin",
					     "SLURM_AUCTION_BID=300",
					     "SLURM_AUCTION_EPOCHS=3",
					     "SLURM_AUCTION_SALE=ab-0",
					     "SLURM_AUCTION_START=0.000",
					     "SLURM_AUCTION_END=100.000",
					     "HOME=/"};
	slurm_job_info_t info = {0};
	struct auc_part p = part();
	struct auc_slice s;
	job_desc_msg_t d;

	(void)state;
	slurm_init_job_desc_msg(&d);
	AUC_XRECALLOC(d.environment, 7);
	for (d.env_size = 0; d.env_size < 7; d.env_size++)
		d.environment[d.env_size] = slurm_xstrdup(before[d.env_size]);
	d.partition = slurm_xstrdup("cloud");
	d.bitflags |= AUC_EXPEDITED | KILL_INV_DEP;
	assert_int_equal(auc_slice_of(&p, 100, 220, &s, NULL), AUC_OK);
	auc_desc_apply(&d, &s, "{\"auction\":1}");
	auc_desc_environment(&d, "ab-1", 100, 220);
	assert_int_equal(d.bitflags & AUC_EXPEDITED, 0);
	assert_true(d.bitflags & KILL_INV_DEP);
	assert_int_equal(d.min_nodes, 1);
	assert_int_equal(d.max_nodes, 1);
	assert_int_equal(d.num_tasks, 1);
	assert_int_equal(d.cpus_per_task, 5);
	assert_int_equal(d.pn_min_cpus, 5);
	assert_int_equal(d.max_cpus, 5);
	assert_int_equal(d.requeue, 0);
	assert_int_equal(d.open_mode, OPEN_MODE_APPEND);
	assert_int_equal(d.time_limit, 2);
	assert_int_equal(d.begin_time, 100);
	assert_string_equal(d.partition, "edge");
	assert_string_equal(d.req_nodes, "edge1");
	assert_string_equal(d.tres_per_node, s.gres);
	assert_string_equal(d.admin_comment, "{\"auction\":1}");
	/* A submission from inside the job must not bid again by accident. */
	assert_int_equal(d.env_size, 5);
	assert_string_equal(d.environment[0], "PATH=/bin");
	assert_string_equal(d.environment[1], "HOME=/");
	assert_string_equal(d.environment[2], "SLURM_AUCTION_SALE=ab-1");
	assert_string_equal(d.environment[3], "SLURM_AUCTION_START=100.000");
	assert_string_equal(d.environment[4], "SLURM_AUCTION_END=220.000");

	info.req_nodes = d.req_nodes;
	info.partition = d.partition;
	info.cpus_per_task = 5;
	info.pn_min_memory = 1200;
	info.time_limit = 2;
	assert_false(auc_slice_matches(&s, &info));
	info.tres_per_node = (char *)"gres:gpu:v100=2,gres/shard:3";
	assert_true(auc_slice_matches(&s, &info));
	info.tres_per_node = (char *)"gres:gpu:v100=2";
	assert_false(auc_slice_matches(&s, &info));
	info.tres_per_node = (char *)"gres";
	assert_false(auc_slice_matches(&s, &info));
	info.tres_per_node = d.tres_per_node;
	assert_true(auc_slice_matches(&s, &info));
	info.time_limit = 3;
	assert_false(auc_slice_matches(&s, &info));
	assert_true(auc_slice_fits(&s, &info));
	info.pn_min_memory = 1201;
	assert_false(auc_slice_fits(&s, &info));
	/* As one from within that is none of the auction's. */
	assert_int_equal(d.warn_time, 0);
	auc_desc_make_ordinary(&d);
	assert_int_equal(d.warn_time, 0);
	d.warn_flags = KILL_JOB_RESV;
	auc_desc_make_ordinary(&d);
	assert_int_equal(d.warn_time, 1);
	assert_int_equal(d.env_size, 2);
	assert_string_equal(d.environment[1], "HOME=/");
	for (uint32_t i = 0; i < d.env_size; i++)
		AUC_XFREE(d.environment[i]);
	AUC_XFREE(d.environment);
	AUC_XFREE(d.partition);
	AUC_XFREE(d.req_nodes);
	AUC_XFREE(d.tres_per_node);
	AUC_XFREE(d.admin_comment);
}

/* What a record shows of a job that waits as it was sold, and of one that its owner has changed. */
static void test_changed_record(void **state)
{
	struct auc_part p = part();
	slurm_job_info_t sold, info;
	struct auc_slice s;

	(void)state;
	assert_int_equal(auc_slice_of(&p, 100, 220, &s, NULL), AUC_OK);
	/* As 22.05 has them. */
	sold = (slurm_job_info_t){
		.job_state = JOB_PENDING,
		.req_nodes = (char *)"edge1",
		.partition = (char *)"edge",
		.tres_per_node = (char *)"gres:gpu:v100:2,gres:shard:3",
		.pn_min_memory = 1200,
		.time_limit = 2,
		.cpus_per_task = 5,
		.pn_min_cpus = 5,
		.num_cpus = 5,
		.max_cpus = 5,
		.num_tasks = 1,
		.num_nodes = 1,
		.max_nodes = 1,
		.sockets_per_node = NO_VAL16,
		.cores_per_socket = NO_VAL16,
		.threads_per_core = NO_VAL16,
	};
	assert_true(auc_slice_matches(&s, &sold));
	/* Slurm estimates it. */
	info = sold;
	info.num_nodes = 2;
	assert_true(auc_slice_matches(&s, &info));
	/* Nor is what a release does not say a change, or how Slurm rounds what runs. */
	info = sold;
	info.pn_min_cpus = 0;
	info.max_cpus = info.num_tasks = info.num_nodes = info.max_nodes = 0;
	info.ntasks_per_node = NO_VAL16;
	info.sockets_per_node = info.cores_per_socket = info.threads_per_core = 0;
	info.tres_per_task = (char *)"cpu=5";
	info.tres_per_job = info.tres_per_socket = info.cpus_per_tres = (char *)"";
	assert_true(auc_slice_matches(&s, &info));
	info = sold;
	info.job_state = JOB_RUNNING;
	info.num_cpus = 6;
	info.max_cpus = info.max_nodes = 0;
	assert_true(auc_slice_matches(&s, &info));
#define CHANGED(field, value)                                                                      \
	do {                                                                                       \
		info = sold;                                                                       \
		info.field = (value);                                                              \
		assert_false(auc_slice_matches(&s, &info));                                        \
	} while (0)
	CHANGED(num_tasks, 4);
	CHANGED(num_cpus, 12);
	CHANGED(max_cpus, 12);
	CHANGED(pn_min_cpus, 6);
	CHANGED(max_nodes, 2);
	CHANGED(ntasks_per_node, 2);
	CHANGED(sockets_per_node, 2);
	CHANGED(cores_per_socket, 4);
	CHANGED(threads_per_core, 1);
	CHANGED(requeue, 1);
	CHANGED(tres_per_job, (char *)"gpu:3");
	CHANGED(tres_per_socket, (char *)"gpu:1");
	CHANGED(tres_per_task, (char *)"gpu:2");
	CHANGED(tres_per_task, (char *)"cpu=5,gres/gpu=2");
	CHANGED(cpus_per_tres, (char *)"gpu:6");
	CHANGED(time_limit, 3);
#undef CHANGED
}

static void test_trap(void **state)
{
	static const char *const cases[][2] = {
		{"#!/bin/sh\n#SBATCH -J x\nslaunch a\n",
		 "#!/bin/sh\ntrap : 10\n#SBATCH -J x\nslaunch a\n"},
		{"#!/usr/bin/env bash\n", "#!/usr/bin/env bash\ntrap : 10\n"},
		{"#! /bin/bash -l\nx", "#! /bin/bash -l\ntrap : 10\nx"},
		{"#!/usr/bin/python3\nx\n", "#!/usr/bin/python3\nx\n"},
		{"#!/bin/shell\nx\n", "#!/bin/shell\nx\n"},
		{"#!\n", "#!\n"},
		{"#!/bin/sh", "#!/bin/sh"},
		{"no script\n", "no script\n"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		job_desc_msg_t d;

		slurm_init_job_desc_msg(&d);
		d.script = slurm_xstrdup(cases[i][0]);
		auc_desc_trap(&d, 0);
		assert_string_equal(d.script, cases[i][0]);
		auc_desc_trap(&d, 10);
		assert_string_equal(d.script, cases[i][1]);
		AUC_XFREE(d.script);
	}
}

static void test_void(void **state)
{
	char *text = auc_receipt_void(
		"{\"auction\":1,\"sale\":\"a-1\",\"state\":\"lien\",\"payment\":\"12.600000\"}",
		"void");
	struct json_object *o, *v;

	(void)state;
	assert_non_null(text);
	o = json_tokener_parse(text);
	assert_true(json_object_object_get_ex(o, "payment", &v));
	assert_string_equal(json_object_get_string(v), "0.000000");
	assert_true(json_object_object_get_ex(o, "refund", &v));
	assert_string_equal(json_object_get_string(v), "12.600000");
	assert_true(json_object_object_get_ex(o, "state", &v));
	assert_string_equal(json_object_get_string(v), "settled");
	json_object_put(o);
	free(text);
	assert_null(auc_receipt_void("[1]", "void"));
	assert_null(auc_receipt_void("{", "void"));
}

static void test_ending(void **state)
{
	const char *receipt = "{\"auction\":1,\"sale\":\"a-1\",\"state\":\"sold\"}";
	char *text = auc_receipt_ending(receipt, "outage"), *next;

	(void)state;
	assert_non_null(text);
	assert_true(auc_receipt_is(text) && auc_receipt_says(text, "sold"));
	assert_string_equal(auc_receipt_ends(text), "outage");
	/* It decides anew; of what somebody else wrote nothing is taken. */
	next = auc_receipt_ending(text, "timeout");
	assert_string_equal(auc_receipt_ends(next), "timeout");
	free(next);
	free(text);
	assert_null(auc_receipt_ends(receipt));
	assert_null(auc_receipt_ends("{\"auction\":1,\"ending\":\"nothing\"}"));
	assert_null(auc_receipt_ends("{\"auction\":1,\"ending\":1}"));
	assert_null(auc_receipt_ends("of the site"));
	assert_null(auc_receipt_ending("of the site", "outage"));
}

/* An hour of the licence is a hundredth of a credit. */
static void test_spending(void **state)
{
	/* Two servers of the lead's at a time, a pause, and a member. */
	const struct auc_part parts[] = {
		{.lead = true, .start = 1000, .end = 2800},
		{.start = 1000, .end = 9000},
		{.lead = true, .start = 1900, .end = 2800},
		{.lead = true, .start = 3000, .end = 4800},
	};
	char text[AUC_CENTS_SIZE];

	(void)state;
	assert_int_equal(auc_spending_of(12345678, parts, 4), 1235);
	assert_int_equal(auc_spending_of(12345678, parts, 1), 2469);
	assert_int_equal(auc_spending_of(12345678, parts + 1, 1), 0);
	assert_int_equal(auc_spending_of(0, parts, 4), 0);
	assert_int_equal(auc_spending_of(INT64_MAX, parts, 4), AUC_CENTS_MOST);
	auc_spending_print(1235, text);
	assert_string_equal(text, "auction_cents:1235");
	auc_spending_print(0, text);
	assert_string_equal(text, "");

	assert_true(auc_spending_shows("auction_cents:2000000000"));
	assert_true(auc_spending_shows("matlab:5,auction_cents=1000000000,ansys"));
	assert_false(auc_spending_shows("my_auction_cents:2000000000,auction_cents:5"));
	assert_false(auc_spending_shows("my_auction_cents:2000000000"));
	assert_false(auc_spending_shows("auction_cents"));
	assert_false(auc_spending_shows("auction_cents_more:2000000000"));
	assert_false(auc_spending_shows(""));
	assert_false(auc_spending_shows(NULL));
	assert_true(auc_spending_named("matlab,auction_cents:1"));
	assert_true(auc_spending_named("auction_cents@site|matlab"));
	assert_false(auc_spending_named("matlab:2"));
	assert_false(auc_spending_named(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secrets_in_words),
		cmocka_unit_test(test_secrets_in_script),
		cmocka_unit_test(test_secrets_across_lines),
		cmocka_unit_test(test_secrets_in_environment),
		cmocka_unit_test(test_bid_found),
		cmocka_unit_test(test_changed_job),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_contradictions_at_once),
		cmocka_unit_test(test_core_spec),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_changed_record),
		cmocka_unit_test(test_trap),
		cmocka_unit_test(test_void),
		cmocka_unit_test(test_ending),
		cmocka_unit_test(test_spending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
