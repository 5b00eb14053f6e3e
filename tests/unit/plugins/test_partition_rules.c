/* test_partition_rules.c - what Slurm says of partitions, accounts and groups, and whom it lets
 * buy.
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "adapter/partition_rules.h"

static const char conf_text[] =
	"Policy=dps\nSlotSeconds=10\nSlots=10\nPrices=given\nEta=cpu=2\n"
	"PartitionName=edge Site=edge\nPartitionName=cloud Site=cloud\n"
	"WorkerType=w TRES=cpu=1,mem=1 Bandwidth=1\nPSType=p TRES=cpu=1,mem=1 "
	"Bandwidth=1\n";

static struct auc_err err;

/* As slurm.conf has one of which it says nothing. */
static partition_info_t plain(const char *name)
{
	return (partition_info_t){.name = (char *)name,
				  .state_up = PARTITION_UP,
				  .max_time = INFINITE,
				  .max_nodes = INFINITE,
				  .min_nodes = 0,
				  .max_share = 1,
				  .max_cpus_per_node = INFINITE};
}

/* The rules of EDGE, a plain cloud and one that is not sold. */
static struct auc_rules *make(partition_info_t edge)
{
	partition_info_t list[] = {plain("main"), plain("cloud"), edge};
	partition_info_msg_t msg = {.record_count = 3, .partition_array = list};
	struct auc_rules *rules;
	struct auc_conf *conf;

	assert_int_equal(auc_conf_parse(conf_text, strlen(conf_text), "test", &conf, &err), AUC_OK);
	assert_int_equal(auc_rules_make(conf, &msg, &rules, &err), AUC_OK);
	auc_conf_free(conf);
	assert_int_equal(rules->n, 2);
	return rules;
}

static const struct auc_asker alice = {.uid = 2001, .submit_uid = 2001};

/* "" if WHO may buy on EDGE, else why not, without the partition's name. */
static const char *why_not(partition_info_t edge, const struct auc_asker *who)
{
	static char why[256];
	struct auc_rules *rules = make(edge);
	const struct auc_rule *r = auc_rules_find(rules, "edge");
	enum auc_verdict v = auc_rule_allows(r, who, why, sizeof(why));

	assert_true(v == AUC_ALLOWED || !strncmp(why, "partition edge: ", 16));
	auc_rules_free(rules);
	return v == AUC_ALLOWED ? "" : why + 16;
}

static void test_states(void **state)
{
	static const struct {
		uint16_t state;
		const char *said;
	} cases[] = {{PARTITION_UP, ""},
		     {PARTITION_DOWN, "State=DOWN"},
		     {PARTITION_DRAIN, "State=DRAIN"},
		     {PARTITION_INACTIVE, "State=INACTIVE"}};
	partition_info_t p = plain("edge");

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct auc_rules *rules;

		p.state_up = cases[i].state;
		assert_string_equal(why_not(p, &alice), cases[i].said);
		rules = make(p);
		assert_int_equal(auc_rules_find(rules, "edge")->limit.paused, i > 0);
		assert_false(auc_rules_find(rules, "cloud")->limit.paused);
		auc_rules_free(rules);
	}
}

static void test_unsold(void **state)
{
	partition_info_t p;

	(void)state;
	p = plain("edge");
	p.flags = PART_FLAG_REQ_RESV;
	assert_non_null(strstr(why_not(p, &alice), "ReqResv=YES"));
	p.flags = PART_FLAG_EXCLUSIVE_USER;
	assert_non_null(strstr(why_not(p, &alice), "ExclusiveUser=YES"));
	p.flags = PART_FLAG_LLN | PART_FLAG_DEFAULT | PART_FLAG_HIDDEN;
	assert_string_equal(why_not(p, &alice), "");
	p.max_share = SHARED_FORCE | 4;
	assert_non_null(strstr(why_not(p, &alice), "OverSubscribe=FORCE"));
	p.max_share = SHARED_FORCE | 1;
	assert_string_equal(why_not(p, &alice), "");
	p.max_share = 4; /* YES:4, which jobs must ask for */
	assert_string_equal(why_not(p, &alice), "");
	p.min_nodes = 1;
	assert_string_equal(why_not(p, &alice), "");
	p.min_nodes = 2;
	assert_non_null(strstr(why_not(p, &alice), "MinNodes"));
	p.min_nodes = 0;
	p.max_nodes = 0;
	assert_string_equal(why_not(p, &alice), "MaxNodes=0");
}

/* A partition's own before the cluster's, each by itself. */
static void test_defaults(void **state)
{
	job_defaults_t own = {.type = JOB_DEF_CPU_PER_GPU, .value = 4},
		       all[] = {{.type = JOB_DEF_CPU_PER_GPU, .value = 2},
				{.type = JOB_DEF_MEM_PER_GPU, .value = 300}};
	partition_info_t p = plain("edge");
	struct auc_job_defaults d;
	struct auc_rules *rules;

	(void)state;
	p.def_mem_per_cpu = 70;
	p.default_time = 30;
	p.job_defaults_list = slurm_list_create(NULL);
	slurm_list_append(p.job_defaults_list, &own);
	rules = make(p);
	slurm_conf.def_mem_per_cpu = 50;
	slurm_conf.job_defaults_list = slurm_list_create(NULL);
	slurm_list_append(slurm_conf.job_defaults_list, &all[0]);
	slurm_list_append(slurm_conf.job_defaults_list, &all[1]);
	auc_rules_defaults(rules, "edge", &d);
	assert_true(d.mem == 70 && d.minutes == 30 && d.cpus_per_gpu == 4 && d.mem_per_gpu == 300);
	auc_rules_defaults(rules, "cloud", &d);
	assert_true(d.mem == 50 && d.minutes == 0 && d.cpus_per_gpu == 2 && d.mem_per_gpu == 300);
	auc_rules_defaults(NULL, "", &d);
	assert_true(d.mem == 50);
	auc_rules_free(rules);
	slurm_list_destroy(p.job_defaults_list);
	slurm_list_destroy(slurm_conf.job_defaults_list);
	slurm_conf.job_defaults_list = NULL;
	slurm_conf.def_mem_per_cpu = 0;
}

static void test_root(void **state)
{
	struct auc_asker who = alice, root = {0};
	partition_info_t p = plain("edge");

	(void)state;
	p.flags = PART_FLAG_ROOT_ONLY;
	assert_string_equal(why_not(p, &alice), "RootOnly=YES");
	who.submit_uid = 0;
	assert_string_equal(why_not(p, &who), "");
	assert_string_equal(why_not(p, &root), "");
	p.flags = PART_FLAG_NO_ROOT;
	assert_string_equal(why_not(p, &root), "DisableRootJobs=YES");
	assert_string_equal(why_not(p, &who), "");
}

static void test_hosts(void **state)
{
	struct auc_asker who = alice;
	partition_info_t p = plain("edge");

	(void)state;
	p.allow_alloc_nodes = (char *)"login[1-2],head";
	assert_string_equal(why_not(p, &who), "AllocNodes=login[1-2],head, not (unknown)");
	who.host = "login3";
	assert_string_equal(why_not(p, &who), "AllocNodes=login[1-2],head, not login3");
	who.host = "login2";
	assert_string_equal(why_not(p, &who), "");
	p.allow_alloc_nodes = (char *)"ALL";
	who.host = "login3";
	assert_string_equal(why_not(p, &who), "");
}

/* root > lab > (alice: lab), lab > other > (bob: other, lab); QOS normal and gold. */
static struct auc_accounts *accounts(uint32_t submit)
{
	slurmdb_assoc_usage_t used = {.used_jobs = 1, .used_submit_jobs = 3};
	slurmdb_assoc_rec_t recs[] = {
		{.id = 1, .acct = (char *)"root", .uid = NO_VAL},
		{.id = 2, .acct = (char *)"lab", .parent_id = 1, .uid = NO_VAL},
		{.id = 3, .acct = (char *)"other", .parent_id = 2, .uid = NO_VAL, .usage = &used},
		{.id = 4,
		 .acct = (char *)"lab",
		 .parent_id = 2,
		 .uid = 2001,
		 .user = (char *)"alice",
		 .is_def = 1,
		 .usage = &used},
		{.id = 5,
		 .acct = (char *)"other",
		 .parent_id = 3,
		 .uid = 2002,
		 .user = (char *)"bob",
		 .is_def = 1,
		 .def_qos_id = 2,
		 .usage = &used},
		{.id = 6,
		 .acct = (char *)"lab",
		 .parent_id = 2,
		 .uid = 2002,
		 .user = (char *)"bob"},
		{.id = 7,
		 .acct = (char *)"other",
		 .parent_id = 3,
		 .uid = 2002,
		 .user = (char *)"bob",
		 .partition = (char *)"cloud",
		 .is_def = 1},
	};
	slurmdb_used_limits_t of_bob = {.uid = 2002, .jobs = 1, .submit_jobs = 2};
	slurmdb_qos_usage_t qos_used = {.grp_used_jobs = 2, .grp_used_submit_jobs = 5};
	slurmdb_qos_rec_t qos[] = {
		{.id = 1, .name = (char *)"normal"},
		{.id = 2, .name = (char *)"gold", .usage = &qos_used},
		{.id = 3, .name = (char *)"own", .flags = QOS_FLAG_REQ_RESV},
		{.id = 4, .name = (char *)"over", .flags = QOS_FLAG_OVER_PART_QOS}};
	assoc_mgr_info_msg_t msg = {.assoc_list = slurm_list_create(NULL),
				    .qos_list = slurm_list_create(NULL)};
	struct auc_accounts *a;

	qos_used.user_limit_list = slurm_list_create(NULL);
	slurm_list_append(qos_used.user_limit_list, &of_bob);
	for (unsigned i = 0; i < sizeof(recs) / sizeof(*recs); i++) {
		recs[i].max_jobs = recs[i].max_submit_jobs = INFINITE;
		recs[i].grp_jobs = recs[i].grp_submit_jobs = recs[i].max_wall_pj = INFINITE;
		recs[i].grp_wall = INFINITE;
		slurm_list_append(msg.assoc_list, &recs[i]);
	}
	recs[3].max_submit_jobs = submit;
	recs[3].max_jobs = 1;
	recs[2].grp_submit_jobs = 10;
	recs[4].max_jobs = 4;
	recs[3].max_wall_pj = 90;
	for (unsigned i = 0; i < sizeof(qos) / sizeof(*qos); i++) {
		qos[i].max_jobs_pu = qos[i].max_submit_jobs_pu = INFINITE;
		qos[i].max_jobs_pa = qos[i].max_submit_jobs_pa = INFINITE;
		qos[i].grp_jobs = qos[i].grp_submit_jobs = qos[i].max_wall_pj = INFINITE;
		qos[i].grp_wall = INFINITE;
		slurm_list_append(msg.qos_list, &qos[i]);
	}
	qos[1].max_submit_jobs_pu = 6;
	qos[1].grp_jobs = 2;
	qos[2].max_submit_jobs_pu = 1;
	qos[2].max_wall_pj = 30;
	qos[3].max_submit_jobs_pu = 9;
	qos[3].max_wall_pj = 50;
	assert_int_equal(auc_accounts_make(&msg, &a, &err), AUC_OK);
	slurm_list_destroy(qos_used.user_limit_list);
	slurm_list_destroy(msg.assoc_list);
	slurm_list_destroy(msg.qos_list);
	return a;
}

/* Whom a block is for that is for an account. */
static void test_account_members(void **state)
{
	static const struct {
		const char *account, *printed;
	} cases[] = {{"lab", ",2001,2002"}, {"other", ",2002"}, {"root", ""}, {"none", ""}};
	struct auc_accounts *a = accounts(INFINITE);

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		auc_accounts_print_members(a, cases[i].account, out);
		fclose(out);
		assert_string_equal(text, cases[i].printed);
		free(text);
	}
	assert_true(auc_accounts_has(a, "root") && auc_accounts_has(a, "other"));
	assert_false(auc_accounts_has(a, "none"));
	/* Where nobody knows them. */
	assert_true(auc_accounts_has(NULL, "none"));
	auc_accounts_free(a);
}

static struct auc_accounts *with_jobs(void);

static void test_account_lists(void **state)
{
	struct auc_accounts *a = accounts(INFINITE);
	struct auc_asker who = alice, bob = {.uid = 2002, .submit_uid = 2002, .accounts = a};
	partition_info_t p = plain("edge");

	(void)state;
	p.allow_accounts = (char *)"other";
	assert_string_equal(why_not(p, &who), "AllowAccounts=other, not (unknown)");
	who.accounts = a;
	assert_string_equal(why_not(p, &who), "AllowAccounts=other, not lab");
	assert_string_equal(why_not(p, &bob), "");
	bob.account = "lab";
	assert_string_equal(why_not(p, &bob), "AllowAccounts=other, not lab");
	p.allow_accounts = (char *)"none,lab";
	assert_string_equal(why_not(p, &who), "");
	/* Accounts below count where Slurm counts them. */
	bob.account = "other";
	assert_int_equal(!*why_not(p, &bob), AUC_ACCOUNTS_INHERIT);
	p.allow_accounts = NULL;
	p.deny_accounts = (char *)"other";
	assert_string_equal(why_not(p, &bob), "DenyAccounts=other");
	assert_string_equal(why_not(p, &who), "");
	bob.account = "otherwise";
	assert_string_equal(why_not(p, &bob), "");
	/* Where Slurm wants an association. */
	slurm_conf.accounting_storage_enforce = AUC_ENFORCE_ASSOCS;
	assert_string_equal(why_not(p, &bob), "no association in account otherwise is for it");
	bob.account = "lab";
	assert_string_equal(why_not(p, &bob), "");
	assert_string_equal(why_not(p, &who), "");
	/* Nothing is known of who may be new. */
	who.uid = 2009;
	assert_string_equal(why_not(p, &who), "");
	slurm_conf.accounting_storage_enforce = 0;
	auc_accounts_free(a);
	/* Bob has one for edge only. */
	a = with_jobs();
	slurm_conf.accounting_storage_enforce = AUC_ENFORCE_ASSOCS;
	bob.accounts = a;
	p = plain("edge");
	assert_string_equal(why_not(p, &bob), "");
	assert_true(auc_accounts_lacks(a, 2002, NULL, "cloud"));
	assert_false(auc_accounts_lacks(a, 2001, NULL, "cloud"));
	slurm_conf.accounting_storage_enforce = 0;
	auc_accounts_free(a);
}

static void test_qos_lists(void **state)
{
	struct auc_accounts *a = accounts(INFINITE);
	struct auc_asker who = alice, bob = {.uid = 2002, .submit_uid = 2002, .accounts = a};
	partition_info_t p = plain("edge");

	(void)state;
	who.accounts = a;
	p.allow_qos = (char *)"gold,silver";
	assert_string_equal(why_not(p, &who), "AllowQos=gold,silver, not normal");
	who.qos = "gold";
	assert_string_equal(why_not(p, &who), "");
	assert_string_equal(why_not(p, &bob), "");
	p.allow_qos = NULL;
	p.deny_qos = (char *)"gold";
	assert_string_equal(why_not(p, &who), "DenyQos=gold");
	assert_string_equal(why_not(p, &bob), "DenyQos=gold");
	bob.qos = "normal";
	assert_string_equal(why_not(p, &bob), "");
	bob.qos = "own";
	assert_string_equal(why_not(p, &bob), "");
	slurm_conf.accounting_storage_enforce = AUC_ENFORCE_QOS;
	assert_string_equal(why_not(p, &bob), "QOS own is for jobs in a reservation only");
	bob.qos = "normal";
	assert_string_equal(why_not(p, &bob), "");
	slurm_conf.accounting_storage_enforce = 0;
	auc_accounts_free(a);
}

static uint32_t room(const struct auc_accounts *a, uint32_t uid, const char *account,
		     const char *qos, const char *limit)
{
	char name[AUC_LIMIT_NAME];
	bool shared = limit && !strncmp(limit, "Grp", 3);
	uint32_t n = auc_accounts_room(a, uid, account, "edge", qos, NULL, shared, name);

	assert_string_equal(name, limit ? limit : "");
	return n;
}

static void test_room(void **state)
{
	struct auc_accounts *a = accounts(5);

	(void)state;
	assert_int_equal(room(a, 2001, NULL, "normal", "MaxSubmitJobs of your association in lab"),
			 2);
	/* The account above has 3 of 10. */
	assert_int_equal(room(a, 2002, "other", "normal", "GrpSubmitJobs of account other"), 7);
	/* What a QOS limits, the association does not. */
	assert_int_equal(room(a, 2002, "other", "gold", "MaxSubmitJobsPerUser of QOS gold"), 4);
	assert_int_equal(room(a, 2001, NULL, "gold", "MaxSubmitJobsPerUser of QOS gold"), 6);
	/* Nothing is known of them. */
	assert_true(room(a, 2003, NULL, "normal", NULL) == UINT32_MAX);
	assert_true(room(NULL, 2001, NULL, NULL, NULL) == UINT32_MAX);
	auc_accounts_free(a);
}

static void test_limits_of_a_partitions_qos(void **state)
{
	static const struct {
		const char *qos, *own, *limit;
		uint32_t jobs, minutes;
		const char *wall;
	} cases[] = {
		/* The association's, then the partition's before the job's, unless that goes over
		   it. */
		{"normal", NULL, "MaxSubmitJobs of your association in lab", 2, 90,
		 "MaxWall of your association in lab"},
		{"normal", "own", "MaxSubmitJobsPerUser of QOS own", 1, 30,
		 "MaxWallDurationPerJob of QOS own"},
		{"gold", "own", "MaxSubmitJobsPerUser of QOS own", 1, 30,
		 "MaxWallDurationPerJob of QOS own"},
		{"gold", NULL, "MaxSubmitJobsPerUser of QOS gold", 6, 90,
		 "MaxWall of your association in lab"},
		{"over", "own", "MaxSubmitJobsPerUser of QOS over", 9, 50,
		 "MaxWallDurationPerJob of QOS over"},
		{"own", "own", "MaxSubmitJobsPerUser of QOS own", 1, 30,
		 "MaxWallDurationPerJob of QOS own"},
		{NULL, "nobody knows it", "MaxSubmitJobs of your association in lab", 2, 90,
		 "MaxWall of your association in lab"},
	};
	struct auc_accounts *a = accounts(5);
	char name[AUC_LIMIT_NAME];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(auc_accounts_room(a, 2001, NULL, "edge", cases[i].qos,
						   cases[i].own, false, name),
				 cases[i].jobs);
		assert_string_equal(name, cases[i].limit);
		assert_int_equal(auc_accounts_minutes(a, 2001, NULL, "edge", cases[i].qos,
						      cases[i].own, name),
				 cases[i].minutes);
		assert_string_equal(name, cases[i].wall);
	}
	assert_true(auc_accounts_minutes(a, 2002, NULL, "edge", "gold", NULL, name) == UINT32_MAX);
	assert_string_equal(name, "");
	auc_accounts_free(a);
}

/* What is limited of TRES, as cpu, gpu, gpu:v100 and billing: of QOS gold, and of associations. */
static struct auc_accounts *with_tres(bool group, bool gold)
{
	enum { CPU, GPU, V100, BILLING, N };
	static uint64_t none[N] = {INFINITE64, NO_VAL64, INFINITE64, INFINITE64}, of_lab[N],
			of_alice[N], per_job[N], per_user[N], least[N];
	static char *names[] = {(char *)"cpu", (char *)"gres/gpu", (char *)"gres/gpu:v100",
				(char *)"billing"};
	slurmdb_assoc_rec_t recs[] = {
		{.id = 2, .acct = (char *)"lab", .uid = NO_VAL},
		{.id = 4,
		 .acct = (char *)"lab",
		 .parent_id = 2,
		 .uid = 2001,
		 .user = (char *)"alice",
		 .is_def = 1},
	};
	slurmdb_qos_rec_t qos[] = {{.id = 1, .name = (char *)"normal"},
				   {.id = 2, .name = (char *)"gold"}};
	assoc_mgr_info_msg_t msg = {.assoc_list = slurm_list_create(NULL),
				    .qos_list = slurm_list_create(NULL),
				    .tres_cnt = N,
				    .tres_names = names};
	struct auc_accounts *a;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t *own = i ? of_alice : of_lab;

		memcpy(own, none, sizeof(none));
		recs[i].grp_tres_ctld = group ? own : NULL;
		recs[i].max_tres_ctld = none;
		recs[i].max_jobs = recs[i].grp_jobs = recs[i].grp_wall = INFINITE;
		qos[i].max_jobs_pu = qos[i].max_jobs_pa = INFINITE;
		qos[i].grp_jobs = qos[i].grp_wall = NO_VAL;
		slurm_list_append(msg.assoc_list, &recs[i]);
		slurm_list_append(msg.qos_list, &qos[i]);
	}
	of_lab[CPU] = 100;
	of_lab[GPU] = 8;
	of_alice[GPU] = 4;
	of_alice[BILLING] = 9;
	memcpy(per_job, none, sizeof(none));
	memcpy(per_user, none, sizeof(none));
	memcpy(least, none, sizeof(none));
	per_job[V100] = 2;
	per_user[GPU] = 3;
	least[CPU] = 1;
	if (gold) {
		qos[1].max_tres_pj_ctld = per_job;
		qos[1].max_tres_pu_ctld = per_user;
		qos[1].min_tres_pj_ctld = least;
		qos[1].grp_tres_ctld = per_user;
	}
	assert_int_equal(auc_accounts_make(&msg, &a, &err), AUC_OK);
	slurm_list_destroy(msg.assoc_list);
	slurm_list_destroy(msg.qos_list);
	return a;
}

static const struct auc_cap *cap_of(const struct auc_caps *caps, const char *text)
{
	for (unsigned i = 0; i < caps->n; i++)
		if (!strcmp(caps->cap[i].text, text))
			return &caps->cap[i];
	fail_msg("no '%s'", text);
	return NULL;
}

static void test_caps(void **state)
{
	static const struct auc_partition_qos plain_ones[] = {{"edge", NULL}, {"cloud", NULL}},
					      own[] = {{"edge", "gold"}, {"cloud", NULL}};
	struct auc_accounts *a = with_tres(false, false);
	const struct auc_cap *c;
	struct auc_caps *caps;

	(void)state;
	assert_int_equal(auc_accounts_caps(a, 2001, NULL, plain_ones, 2, "gold", &caps, &err),
			 AUC_OK);
	assert_null(caps);
	auc_accounts_free(a);

	a = with_tres(true, true);
	assert_int_equal(auc_accounts_caps(a, 2001, NULL, plain_ones, 2, "normal", &caps, &err),
			 AUC_OK);
	assert_int_equal(caps->n, 3);
	c = cap_of(caps, "GrpTRES of your association in lab is gres/gpu=4");
	assert_true(c->kind == AUC_CAP_AT_ONCE && c->own && c->exactly && !*c->partition);
	assert_string_equal(c->tres, "gpu");
	assert_string_equal(c->account, "lab");
	c = cap_of(caps, "GrpTRES of account lab is gres/gpu=8");
	assert_true(!c->own && !c->exactly && c->amount == 8);
	cap_of(caps, "GrpTRES of account lab is cpu=100");
	free(caps);

	/* What a QOS limits of a TRES, the associations do not. */
	assert_int_equal(auc_accounts_caps(a, 2001, NULL, plain_ones, 2, "gold", &caps, &err),
			 AUC_OK);
	assert_int_equal(caps->n, 5);
	c = cap_of(caps, "MaxTRESPerJob of QOS gold is gres/gpu:v100=2");
	assert_true(c->kind == AUC_CAP_JOB);
	c = cap_of(caps, "MaxTRESPerUser of QOS gold is gres/gpu=3");
	assert_true(c->kind == AUC_CAP_AT_ONCE && c->own && !*c->account);
	assert_string_equal(c->qos, "gold");
	c = cap_of(caps, "GrpTRES of QOS gold is gres/gpu=3");
	assert_true(!c->own);
	assert_true(cap_of(caps, "MinTRESPerJob of QOS gold is cpu=1")->kind == AUC_CAP_LEAST);
	cap_of(caps, "GrpTRES of account lab is cpu=100");
	free(caps);

	/* Where a partition has a QOS of its own, each has its limits. */
	assert_int_equal(auc_accounts_caps(a, 2001, NULL, own, 2, "normal", &caps, &err), AUC_OK);
	assert_int_equal(caps->n, 8);
	assert_int_equal(caps->nown, 1);
	assert_string_equal(cap_of(caps, "GrpTRES of QOS gold is gres/gpu=3")->partition, "edge");
	assert_string_equal(cap_of(caps, "GrpTRES of account lab is gres/gpu=8")->partition,
			    "cloud");
	free(caps);
	auc_accounts_free(a);
}

/* Limits on jobs that run, and on time: of account lab, of alice in it and in partition edge, where
 * she has an association of its own, and of QOS gold. */
static struct auc_accounts *with_jobs(void)
{
	static uint64_t ahead[] = {900}, total[] = {1000};
	static long double raw[] = {18030};
	static char *names[] = {(char *)"cpu"};
	slurmdb_assoc_usage_t used = {.usage_tres_raw = raw, .tres_cnt = 1, .grp_used_wall = 7200};
	slurmdb_assoc_rec_t recs[] = {
		{.id = 2,
		 .acct = (char *)"lab",
		 .uid = NO_VAL,
		 .grp_jobs = 5,
		 .grp_wall = 600,
		 .max_jobs = 1,
		 .usage = &used,
		 .grp_tres_mins_ctld = total},
		{.id = 4,
		 .acct = (char *)"lab",
		 .parent_id = 2,
		 .uid = 2001,
		 .user = (char *)"alice",
		 .is_def = 1,
		 .max_jobs = 2,
		 .grp_jobs = NO_VAL,
		 .grp_wall = NO_VAL,
		 .grp_tres_run_mins_ctld = ahead},
		{.id = 5,
		 .acct = (char *)"lab",
		 .parent_id = 2,
		 .uid = 2001,
		 .user = (char *)"alice",
		 .is_def = 1,
		 .partition = (char *)"edge",
		 .max_jobs = 3,
		 .grp_jobs = NO_VAL,
		 .grp_wall = NO_VAL},
		{.id = 6,
		 .acct = (char *)"lab",
		 .parent_id = 2,
		 .uid = 2002,
		 .user = (char *)"bob",
		 .is_def = 1,
		 .partition = (char *)"edge",
		 .max_jobs = 4,
		 .grp_jobs = NO_VAL,
		 .grp_wall = NO_VAL},
	};
	slurmdb_qos_rec_t qos = {.id = 2,
				 .name = (char *)"gold",
				 .grp_jobs = 7,
				 .max_jobs_pu = 6,
				 .max_jobs_pa = 8,
				 .grp_wall = INFINITE};
	assoc_mgr_info_msg_t msg = {.assoc_list = slurm_list_create(NULL),
				    .qos_list = slurm_list_create(NULL),
				    .tres_cnt = 1,
				    .tres_names = names};
	struct auc_accounts *a;

	for (unsigned i = 0; i < sizeof(recs) / sizeof(*recs); i++)
		slurm_list_append(msg.assoc_list, &recs[i]);
	slurm_list_append(msg.qos_list, &qos);
	assert_int_equal(auc_accounts_make(&msg, &a, &err), AUC_OK);
	slurm_list_destroy(msg.assoc_list);
	slurm_list_destroy(msg.qos_list);
	return a;
}

static void test_caps_on_jobs(void **state)
{
	static const struct auc_partition_qos cloud[] = {{"cloud", NULL}},
					      both[] = {{"edge", NULL}, {"cloud", NULL}};
	struct auc_accounts *a = with_jobs();
	static struct auc_bid bid;
	const struct auc_cap *c;
	struct auc_caps *caps;

	(void)state;
	slurm_conf.priority_type = (char *)"priority/multifactor";
	slurm_conf.priority_calc_period = 300;
	assert_int_equal(auc_accounts_caps(a, 2001, NULL, cloud, 1, "normal", &caps, &err), AUC_OK);
	assert_int_equal(caps->n, 5);
	c = cap_of(caps, "MaxJobs of your association in lab is 2");
	assert_true(c->kind == AUC_CAP_AT_ONCE && c->own && c->exactly && !c->there);
	assert_string_equal(c->tres, "job");
	c = cap_of(caps, "GrpJobs of account lab is 5");
	assert_true(c->kind == AUC_CAP_AT_ONCE && !c->own && !c->exactly && c->amount == 5);
	c = cap_of(caps, "GrpWall of account lab is 600");
	assert_true(c->kind == AUC_CAP_TOTAL && c->used == 120);
	assert_true(c->since < auc_clock_wall() - 290 && c->since > auc_clock_wall() - 400);
	c = cap_of(caps, "GrpTRESMins of account lab is cpu=1000");
	assert_true(c->kind == AUC_CAP_TOTAL && c->used == 300.5);
	c = cap_of(caps, "GrpTRESRunMins of your association in lab is cpu=900");
	assert_true(c->kind == AUC_CAP_AHEAD && c->own && c->lag == 5);
	free(caps);

	/* What runs in edge has limits of its own, and counts for them there only. */
	assert_int_equal(auc_accounts_caps(a, 2001, NULL, both, 2, "normal", &caps, &err), AUC_OK);
	assert_int_equal(caps->n, 9);
	c = cap_of(caps, "MaxJobs of your association in lab is 3");
	assert_true(c->there);
	assert_string_equal(c->partition, "edge");
	c = cap_of(caps, "MaxJobs of your association in lab is 2");
	assert_string_equal(c->partition, "cloud");
	free(caps);
	assert_string_equal(auc_accounts_account(a, 2002, NULL), "lab");
	assert_string_equal(auc_accounts_account(a, 2002, "Lab"), "lab");
	assert_string_equal(auc_accounts_account(a, 2002, "none"), "none");
	auc_accounts_of_bid(a, 2002, NULL, &bid);
	assert_int_equal(bid.naccounts, 1);
	assert_string_equal(bid.stranger, "");
	auc_accounts_of_bid(a, 2002, "none", &bid);
	assert_int_equal(bid.naccounts, 0);
	assert_string_equal(bid.stranger, "none");
	assert_int_equal(auc_accounts_caps(a, 2002, NULL, both, 2, "normal", &caps, &err), AUC_OK);
	cap_of(caps, "MaxJobs of your association in lab is 4");
	free(caps);

	/* Those of a QOS come first. */
	slurm_conf.priority_type = (char *)"priority/basic";
	assert_int_equal(auc_accounts_caps(a, 2001, NULL, cloud, 1, "gold", &caps, &err), AUC_OK);
	assert_int_equal(caps->n, 6);
	c = cap_of(caps, "MaxJobsPerUser of QOS gold is 6");
	assert_true(c->own && !*c->account);
	assert_false(cap_of(caps, "GrpJobs of QOS gold is 7")->own);
	c = cap_of(caps, "MaxJobsPerAccount of QOS gold is 8");
	assert_string_equal(c->account, "lab");
	assert_true(cap_of(caps, "GrpTRESRunMins of your association in lab is cpu=900")->lag ==
		    INFINITY);
	free(caps);
	slurm_conf.priority_type = NULL;
	auc_accounts_free(a);
}

static void test_groups(void **state)
{
	struct auc_groups g = {0};
	struct auc_asker who = alice, root = {0};
	struct auc_rules *rules;
	struct auc_rule *r;
	partition_info_t p = plain("edge");
	char why[256];

	(void)state;
	p.allow_groups = (char *)"lab,staff";
	assert_string_equal(
		why_not(p, &who),
		"AllowGroups=lab,staff, and which groups uid 2001 is in is being looked up");
	assert_string_equal(why_not(p, &root), "");
	who.groups = &g;
	rules = make(p);
	r = (struct auc_rule *)auc_rules_find(rules, "edge");
	assert_int_equal(auc_groups_put(&g, 2001, (uint32_t[]){7, 5}, 2, &err), AUC_OK);
	assert_int_equal(auc_groups_put(&g, 1999, (uint32_t[]){9}, 1, &err), AUC_OK);
	assert_int_equal(auc_groups_put(&g, 2001, (uint32_t[]){8, 5}, 2, &err), AUC_OK);
	assert_int_equal(g.nusers, 2);
	/* The groups' numbers are not known yet. */
	assert_int_equal(auc_rule_allows(r, &who, why, sizeof(why)), AUC_UNDECIDED);
	r->gids = malloc(2 * sizeof(*r->gids));
	r->gids[0] = 5;
	r->gids[1] = 6;
	r->ngids = 2;
	r->gids_known = true;
	assert_int_equal(auc_rule_allows(r, &who, why, sizeof(why)), AUC_ALLOWED);
	r->gids[0] = 4;
	assert_int_equal(auc_rule_allows(r, &who, why, sizeof(why)), AUC_BARRED);
	assert_string_equal(why, "partition edge: AllowGroups=lab,staff");
	/* None of its groups exists: nobody is in one. */
	r->ngids = 0;
	assert_int_equal(auc_rule_allows(r, &who, why, sizeof(why)), AUC_BARRED);
	auc_rules_free(rules);
	auc_groups_clear(&g);
}

static void test_group_lookups(void **state)
{
	uint32_t *gids, *named;
	unsigned n, m;
	bool primary = false;

	(void)state;
	assert_int_equal(auc_groups_of_user(0, &gids, &n, &err), AUC_OK);
	for (unsigned i = 0; i < n; i++)
		primary |= gids[i] == getpwuid(0)->pw_gid;
	assert_true(primary);
	assert_int_equal(auc_groups_by_name("no-such-group-here,root", &named, &m, &err), AUC_OK);
	assert_int_equal(m, 1);
	assert_int_equal(named[0], 0);
	free(gids);
	free(named);
	assert_int_equal(auc_groups_of_user(4000000123u, &gids, &n, &err), AUC_ENOENT);
}

static void confine(const struct auc_rules *rules, struct auc_bid *bid, enum auc_code code,
		    const char *reasons)
{
	char text[256];

	assert_int_equal(auc_rules_confine(rules, &alice, bid, text, sizeof(text), &err), code);
	assert_string_equal(text, reasons);
}

/* Where Slurm gives each job all of its nodes, whole ones are sold. */
static void test_whole_nodes(void **state)
{
	partition_info_t p = plain("edge");
	struct auc_bid bid = {0};
	struct auc_rules *rules;

	(void)state;
	p.max_share = 0;
	rules = make(p);
	assert_string_equal(why_not(p, &alice), "");
	assert_false(auc_rules_find(rules, "edge")->limit.paused);
	confine(rules, &bid, AUC_OK,
		"partition edge: OverSubscribe=EXCLUSIVE: whole nodes are sold there "
		"(--exclusive), and none to jobs of workers and PSs");
	assert_int_equal(bid.npartitions, 1);
	assert_string_equal(bid.partitions[0], "cloud");
	memset(&bid, 0, sizeof(bid));
	bid.gang.whole = true;
	confine(rules, &bid, AUC_OK, "");
	assert_int_equal(bid.npartitions, 0);
	auc_rules_free(rules);
	/* So it is everywhere with this plugin. */
	slurm_conf.select_type = (char *)"select/linear";
	rules = make(plain("edge"));
	assert_true(auc_rules_find(rules, "cloud")->whole_nodes);
	slurm_conf.select_type = NULL;
	auc_rules_free(rules);
}

static void test_confine(void **state)
{
	partition_info_t p = plain("edge");
	struct auc_rules *rules = make(p);
	struct auc_bid bid = {0};

	(void)state;
	confine(rules, &bid, AUC_OK, "");
	assert_int_equal(bid.npartitions, 0);
	auc_rules_free(rules);
	p.state_up = PARTITION_DRAIN;
	rules = make(p);
	confine(rules, &bid, AUC_OK, "partition edge: State=DRAIN");
	assert_int_equal(bid.npartitions, 1);
	assert_string_equal(bid.partitions[0], "cloud");
	assert_true(bid.filtered);
	/* What its user names is all there is. */
	bid = (struct auc_bid){.npartitions = 1, .partitions = {"edge"}};
	confine(rules, &bid, AUC_EFULL, "partition edge: State=DRAIN");
	assert_string_equal(err.text, "partition edge: State=DRAIN");
	bid = (struct auc_bid){.npartitions = 1, .partitions = {"cloud"}};
	confine(rules, &bid, AUC_OK, "");
	assert_false(bid.filtered);
	auc_rules_free(rules);
	/* A hidden one is named to who names it. */
	p.flags = PART_FLAG_HIDDEN;
	rules = make(p);
	bid.npartitions = 0;
	confine(rules, &bid, AUC_OK, "");
	assert_int_equal(bid.npartitions, 1);
	bid = (struct auc_bid){.npartitions = 1, .partitions = {"edge"}};
	confine(rules, &bid, AUC_EFULL, "partition edge: State=DRAIN");
	auc_rules_free(rules);
	/* Nobody knows yet. */
	p = plain("edge");
	p.allow_groups = (char *)"lab";
	rules = make(p);
	bid = (struct auc_bid){0};
	confine(rules, &bid, AUC_EAGAIN, "");
	auc_rules_free(rules);
}

static void test_limits(void **state)
{
	partition_info_t p = plain("edge");
	struct auc_rules *rules = make(p), *other;
	const struct auc_rule *r = auc_rules_find(rules, "edge");

	(void)state;
	assert_true(isinf(r->limit.seconds) && isinf(r->limit.mem_per_cpu) &&
		    isinf(r->limit.mem_per_node));
	assert_true(r->limit.nodes > 1000000);
	p.max_time = 90;
	p.max_nodes = 3;
	p.max_mem_per_cpu = 0x8000000000000000ULL | 2000;
	other = make(p);
	assert_false(auc_rules_same(rules, other));
	auc_rules_free(rules);
	rules = make(p);
	assert_true(auc_rules_same(rules, other));
	auc_rules_free(other);
	r = auc_rules_find(rules, "edge");
	assert_true(r->limit.seconds == 5400 && r->limit.nodes == 3);
	assert_true(r->limit.mem_per_cpu == 2000 && isinf(r->limit.mem_per_node));
	auc_rules_free(rules);
	p.max_mem_per_cpu = 3000;
	rules = make(p);
	r = auc_rules_find(rules, "edge");
	assert_true(isinf(r->limit.mem_per_cpu) && r->limit.mem_per_node == 3000);
	auc_rules_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_unsold),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_account_members),
		cmocka_unit_test(test_account_lists),
		cmocka_unit_test(test_qos_lists),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_limits_of_a_partitions_qos),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_caps_on_jobs),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_group_lookups),
		cmocka_unit_test(test_confine),
		cmocka_unit_test(test_whole_nodes),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
