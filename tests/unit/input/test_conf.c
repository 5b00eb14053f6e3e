/* test_conf.c - auction.conf: what it may say, defaults, printing, every kind of error with its
 * words (conf.h) */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "input/conf.h"
#include "input/conf_prices.h"
#include "policy/registry.h"

#define TYPES "PartitionName=edge\nWorkerType=v100 TRES=cpu=4,gpu:v100=1\nPSType=ps.m TRES=cpu=2\n"

static struct auc_conf *parsed(const char *text)
{
	struct auc_conf *conf;
	struct auc_err err = {.text = ""};

	if (auc_conf_parse(text, strlen(text), "a.conf", &conf, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return conf;
}

static void refused(const char *text, const char *message)
{
	struct auc_conf *conf = (struct auc_conf *)1;
	struct auc_err err = {.text = ""};

	assert_int_equal(auc_conf_parse(text, strlen(text), "a.conf", &conf, &err), AUC_EINVAL);
	assert_null(conf);
	assert_string_equal(err.text, message);
}

static void test_defaults(void **state)
{
	struct auc_conf *c = parsed(TYPES);

	(void)state;
	assert_string_equal(c->policy, "dps");
	assert_string_equal(c->policy_options, "");
	assert_true(c->slot_seconds == 300);
	assert_int_equal(c->slots, 288);
	assert_true(c->start_margin == 2 && c->end_margin == 1 && c->lien_seconds == 10);
	assert_true(c->late_start == 0 && c->change_notice == 90);
	assert_int_equal(auc_conf_change_signal(c), SIGUSR1);
	assert_int_equal(c->prices, AUC_PRICES_LEARNED);
	assert_int_equal(c->neta, 0);
	assert_int_equal(c->history_bids, 8000);
	assert_null(c->spool_dir);
	assert_null(c->default_bid);
	assert_string_equal(c->default_model, "");
	assert_int_equal(c->refund_unused, AUC_REFUND_SECONDS);
	assert_int_equal(c->margin.how, AUC_MARGIN_NONE);
	assert_false(c->partitions[0].cloud);
	assert_true(c->partitions[0].upload_seconds == 0);
	assert_true(c->worker_types[0].bandwidth_mbps == 1000);
	assert_true(c->ps_types[0].bandwidth_mbps == 10000);
	assert_int_equal(c->nmodels, 0);
	auc_conf_free(c);
	auc_conf_free(NULL);
}

static const char full[] =
	"# a whole one\r\n"
	"policy=dps,variant=exact  SLOTSECONDS=5m\n"
	"Slots=100 Prices=given \\\n"
	"\t Eta=gpu:v100=25,gres/gpu:t4=2.5 # of both\n"
	"Model=resnet50 Epochs=30 Chunks=8 Minibatches=50 GradientMB=97.4 "
	"WorkerTime=v100=1.9s,t4=3400ms PSTime=ps.m=50ms\n"
	"StartMargin=1m EndMargin=0 LienSeconds=30 HistoryBids=5 RefundUnused=YES "
	"Margin=Learned:0.9\n"
	"SpoolDir=\"/var/spool/a # b\" DefaultBid=\"300 epochs=20\" DefaultModel=resnet50\n"
	"\n"
	"PartitionName=edge Upload=2slots roles=Worker\n"
	"PartitionName=cloud Site=cloud Upload=2h\n"
	"  WorkerType=v100 TRES=cpu=4,mem=8192,gres/gpu:v100=0.5 Bandwidth=1024\n"
	"WorkerType=t4 TRES=gpu:t4=1\\\n"
	"\n"
	"PSType=v100 TRES=cpu=1\n"
	"PSType=ps.m TRES=cpu=2,mem=4096 Bandwidth=8e3\\";

static void test_full(void **state)
{
	struct auc_conf *c = parsed(full);

	(void)state;
	assert_string_equal(c->policy, "dps");
	assert_string_equal(c->policy_options, "variant=exact");
	assert_true(c->slot_seconds == 300 && c->slots == 100 && c->prices == AUC_PRICES_GIVEN);
	assert_int_equal(c->neta, 2);
	assert_string_equal(c->eta[1].name, "gpu:t4");
	assert_true(c->eta[0].value == 25 && c->eta[1].value == 2.5);
	assert_true(c->start_margin == 60 && c->end_margin == 0 && c->lien_seconds == 30);
	assert_true(c->history_bids == 5 && c->refund_unused == AUC_REFUND_SLOTS);
	assert_true(c->margin.how == AUC_MARGIN_LEARNED && c->margin.number == 0.9);
	assert_string_equal(c->spool_dir, "/var/spool/a # b");
	assert_string_equal(c->default_bid, "300 epochs=20");
	assert_string_equal(c->default_model, "resnet50");
	assert_int_equal(c->npartitions, 2);
	assert_true(auc_conf_partition(c, "edge")->upload_seconds == 600);
	assert_int_equal(auc_conf_partition(c, "edge")->roles, AUC_PART_WORKER);
	assert_int_equal(auc_conf_partition(c, "cloud")->roles, AUC_PART_BOTH);
	assert_true(auc_conf_partition(c, "cloud")->cloud);
	assert_null(auc_conf_partition(c, "Edge"));
	assert_string_equal(auc_conf_worker_type(c, "v100")->tres[2].name, "gpu:v100");
	assert_true(auc_conf_worker_type(c, "v100")->tres[2].value == 0.5);
	assert_int_equal(auc_conf_worker_type(c, "t4")->line, 12);
	assert_int_equal(auc_conf_ps_type(c, "v100")->ntres, 1);
	assert_true(auc_conf_ps_type(c, "ps.m")->bandwidth_mbps == 8000);
	assert_int_equal(auc_conf_model(c, "resnet50")->epochs, 30);
	assert_true(auc_conf_model(c, "resnet50")->worker_seconds[1].value == 3.4);
	assert_null(auc_conf_model(c, "vgg"));
	auc_conf_free(c);
}

static void test_change(void **state)
{
	static const struct {
		const char *text;
		double notice;
		int signal;
	} cases[] = {
		{TYPES "SlotSeconds=4\n", 2, SIGUSR1},
		{TYPES "SlotSeconds=20\nChangeSignal=sigurg\n", 6, SIGURG},
		{TYPES "SlotSeconds=1h\nChangeSignal=None\n", 90, 0},
		{TYPES "SlotSeconds=1h ChangeNotice=0 ChangeSignal=WINCH\n", 0, SIGWINCH},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_conf *c = parsed(cases[i].text);

		assert_true(c->change_notice == cases[i].notice);
		assert_int_equal(auc_conf_change_signal(c), cases[i].signal);
		auc_conf_free(c);
	}
}

static char *printed(const struct auc_conf *c)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	auc_conf_print(c, out);
	fclose(out);
	return text;
}

static void test_print(void **state)
{
	static const char *const texts[] = {full, TYPES, TYPES "Model=m\nModel=n GradientMB=0\n"};
	struct auc_conf *c, *d;
	char *once, *twice;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		c = parsed(texts[i]);
		once = printed(c);
		d = parsed(once);
		twice = printed(d);
		assert_string_equal(once, twice);
		assert_int_equal(c->nmodels, d->nmodels);
		assert_int_equal(c->nworker_types, d->nworker_types);
		if (i == 2)
			assert_true(d->models[0].gradient_mb < 0 && d->models[1].gradient_mb == 0);
		free(once);
		free(twice);
		auc_conf_free(c);
		auc_conf_free(d);
	}
}

static void test_words(void **state)
{
	(void)state;
	refused("Slots\n", "a.conf:1: Slots: expected Key=value");
	refused("\n\n=3\n", "a.conf:3: =: expected Key=value");
	refused("# x\nSlots = 3\n", "a.conf:2: Slots: expected Key=value");
	refused("Slots=3 \\ Prices=given\n", "a.conf:1: \\: expected Key=value");
	refused("Slots=\n" TYPES, "a.conf:1: Slots=: expected a whole number from 1 to 10000");
	refused("SpoolDir=\"/a\nb\"\n",
		"a.conf:1: SpoolDir=\": expected a closing '\"' on the same line");
	refused("SpoolDir=\"/a\"b\n",
		"a.conf:1: SpoolDir=/a: expected '\"' around the whole value or nowhere");
	refused("SpoolDir=/a\"b\"\n",
		"a.conf:1: SpoolDir=/a: expected '\"' around the whole value or nowhere");
	refused("Slots=3\001\n", "a.conf:1: control character 0x01, expected text");
	refused("Bids=3\n" TYPES, "a.conf:1: Bids=3: expected a key of auction.conf(5)");
	refused("Slots=3\n# x\n  slots=4\n" TYPES,
		"a.conf:3: slots=4: expected once, Slots is in line 1 already");
	refused("Slots=3 \\\nSlots=4\n" TYPES,
		"a.conf:2: Slots=4: expected once, Slots is in line 1 already");
	refused(TYPES "WorkerType=x TRES=cpu=1 TRES=cpu=2\n",
		"a.conf:4: TRES=cpu=2: expected TRES once in a line");
	refused(TYPES "TRES=cpu=1\n",
		"a.conf:4: TRES=cpu=1: expected on a line that begins with WorkerType=");
	refused(TYPES "WorkerType=x Slots=3 TRES=cpu=1\n",
		"a.conf:4: Slots=3: expected on a line of its own");
	refused(TYPES "Slots=3 Model=m\n", "a.conf:4: Model=m: expected on a line of its own");
	refused("PartitionName=a Roles=gpu\n",
		"a.conf:1: Roles=gpu: expected one of both|worker|ps");
	refused("PartitionName=a Roles=worker\nPartitionName=b Roles=worker\n"
		"WorkerType=w TRES=cpu=1\nPSType=p TRES=cpu=1\n",
		"a.conf: Roles=worker on every line PartitionName=, expected one at least with "
		"Roles=ps or both: nothing could host PSs");
	refused("PartitionName=a Roles=ps\nWorkerType=w TRES=cpu=1\nPSType=p TRES=cpu=1\n",
		"a.conf: Roles=ps on every line PartitionName=, expected one at least with "
		"Roles=worker or both: nothing could host workers");
	refused(TYPES "Model=m Site=cloud\n",
		"a.conf:4: Site=cloud: expected on a line that begins with PartitionName=");
	refused("Partition=gpu\n",
		"a.conf:1: Partition=gpu: expected PartitionName= for what is sold; "
		"this is on a line that begins with Shape=");
}

static void test_nul(void **state)
{
	struct auc_conf *conf;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_conf_parse("Slots=3\n\0Slots", 14, "a.conf", &conf, &err), AUC_EINVAL);
	assert_string_equal(err.text, "a.conf:2: control character 0x00, expected text");
}

#define FEE "SHARE[,TIME=SHARE...], shares from 1 to 0 that descend, times that ascend"

/* The steps of what is kept of a job that is cancelled before its start, as test_refund.c uses
 * them. */
static void test_fee(void **state)
{
	static const struct {
		const char *line;
		unsigned n;
		struct auc_cancel_step steps[4];
	} cases[] = {
		{"", 4, {{0, 0.5}, {600, 0.25}, {3600, 0.1}, {86400, 0.05}}},
		{"CancelFee=0", 1, {{0, 0}}},
		{"CancelFee=0.2,30s=0", 2, {{0, 0.2}, {30, 0}}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[512];
		struct auc_conf *conf;
		struct auc_err err;

		snprintf(text, sizeof(text), "%s\n%s", cases[i].line, TYPES);
		if (auc_conf_parse(text, strlen(text), "a.conf", &conf, &err) != AUC_OK)
			fail_msg("%s", err.text);
		assert_int_equal(conf->ncancel, cases[i].n);
		for (unsigned k = 0; k < conf->ncancel; k++) {
			assert_true(conf->cancel[k].seconds == cases[i].steps[k].seconds);
			assert_true(conf->cancel[k].share == cases[i].steps[k].share);
		}
		auc_conf_free(conf);
	}
}

static void test_hours(void **state)
{
	struct auc_conf *c;

	(void)state;
	c = parsed("PartitionName=p Cost=gpu=2 CostHours=8-20=1.5,22-6=0.5,23-24=3\n" TYPES);
	for (unsigned h = 0; h < 24; h++)
		assert_true(c->partitions[0].cost_hour[h] == (h == 23            ? 3
							      : h >= 22 || h < 6 ? 0.5
							      : h >= 8 && h < 20 ? 1.5
										 : 1));
	auc_conf_free(c);
	refused("PartitionName=p CostHours=8-8=2\n" TYPES,
		"a.conf:1: CostHours=8-8=2: expected FROM-TO=FACTOR,... with hours from 0 to 24 "
		"and factors up to 1000");
	refused("PartitionName=p CostHours=8-25=2\n" TYPES,
		"a.conf:1: CostHours=8-25=2: expected FROM-TO=FACTOR,... with hours from 0 to 24 "
		"and factors up to 1000");
}

static void test_values(void **state)
{
	(void)state;
	refused("Slots=0\n" TYPES, "a.conf:1: Slots=0: expected a whole number from 1 to 10000");
	refused("Slots=10001\n" TYPES,
		"a.conf:1: Slots=10001: expected a whole number from 1 to 10000");
	refused("Slots=ten\n" TYPES,
		"a.conf:1: Slots=ten: expected a whole number from 1 to 10000");
	refused("SlotSeconds=0.5\n" TYPES,
		"a.conf:1: SlotSeconds=0.5: expected a time from 1 s to 604800 s");
	refused("SlotSeconds=2slots\n" TYPES,
		"a.conf:1: SlotSeconds=2slots: expected a time from 1 s to 604800 s");
	refused("SlotSeconds=nan\n" TYPES,
		"a.conf:1: SlotSeconds=nan: expected a time from 1 s to 604800 s");
	refused("Prices=free\n" TYPES,
		"a.conf:1: Prices=free: expected one of none|given|published|flat|learned");
	refused("Margin=0.5\n" TYPES,
		"a.conf:1: Margin=0.5: expected none, learned, learned:QUANTILE or a number from "
		"1 to 10");
	refused("Margin=learned:1\n" TYPES,
		"a.conf:1: Margin=learned:1: expected none, learned, learned:QUANTILE or a number "
		"from 1 to 10");
	refused("RefundUnused=1\n" TYPES,
		"a.conf:1: RefundUnused=1: expected one of no|yes|seconds");
	refused("CancelFee=1.5\n" TYPES, "a.conf:1: CancelFee=1.5: expected " FEE);
	refused("CancelFee=0.1,1h=0.2\n" TYPES, "a.conf:1: CancelFee=0.1,1h=0.2: expected " FEE);
	refused("CancelFee=0.5,1h=0.2,1h=0.1\n" TYPES,
		"a.conf:1: CancelFee=0.5,1h=0.2,1h=0.1: expected " FEE);
	refused("CancelFee=1h=0.2\n" TYPES, "a.conf:1: CancelFee=1h=0.2: expected " FEE);
	refused("CancelFee=0.5,\n" TYPES, "a.conf:1: CancelFee=0.5,: expected " FEE);
	refused("CancelFee=0.5,x=0.1\n" TYPES, "a.conf:1: CancelFee=0.5,x=0.1: expected " FEE);
	refused("UserLiens=-1\n" TYPES,
		"a.conf:1: UserLiens=-1: expected a whole number from 0 to 1000000");
	refused("SpoolDir=spool\n" TYPES, "a.conf:1: SpoolDir=spool: expected an absolute path");
	refused("PublicStatus=status.json\n" TYPES,
		"a.conf:1: PublicStatus=status.json: expected an absolute path");
	refused("Policy=,x\n" TYPES,
		"a.conf:1: Policy=,x: expected a policy's "
		"name[,option=value...] (there is no policy "
		"'' to sell by: expected dps, oasis, eris, posted or aonline)");
	refused("Policy=vickrey\n" TYPES,
		"a.conf:1: Policy=vickrey: expected a policy's name[,option=value...] (there is no "
		"policy 'vickrey' to sell by: expected dps, oasis, eris, posted or aonline)");
	refused("Policy=fifo\n" TYPES,
		"a.conf:1: Policy=fifo: expected a policy's name[,option=value...] (there is no "
		"policy 'fifo' to sell by: expected dps, oasis, eris, posted or aonline)");
	for (unsigned i = 0; auc_policies[i]; i++) {
		char line[256], error[256], name[32];

		snprintf(name, sizeof(name), "%s,variant=paper", auc_policies[i]->name);
		snprintf(line, sizeof(line), "Policy=%s\n" TYPES, name);
		snprintf(error, sizeof(error),
			 "a.conf:1: Policy=%s: expected a policy's name[,option=value...] "
			 "('variant=paper' is only available in auctionsim: the algorithm as "
			 "printed is not truthful)",
			 name);
		refused(line, error);
	}
	refused("Policy=posted,ceiling=3,pricing=top\n" TYPES,
		"a.conf:1: Policy=posted,ceiling=3,pricing=top: expected a policy's "
		"name[,option=value...] ('pricing=top' is only available in auctionsim: it is a "
		"baseline)");
	refused("Policy=posted,theta=0.1\n" TYPES,
		"a.conf:1: Policy=posted,theta=0.1: expected a policy's name[,option=value...] "
		"('theta=0.1' is only available in auctionsim: it is of pricing=bandit, which "
		"gives the first jobs everything for nothing)");
	refused("Policy=posted,placement=rsa\n" TYPES,
		"a.conf:1: Policy=posted,placement=rsa: expected a policy's "
		"name[,option=value...] (Policy=posted: 'placement=rsa' is no option, expected "
		"pricing=shared, placement=pa|upa, bandwidth=static|dynamic, ceiling=1e-06 to "
		"1000000 or seed=0 to 9.00719925474099e+15)");
	refused("DefaultModel=a=b\n" TYPES, "a.conf:1: DefaultModel=a=b: expected a name of up to "
					    "79 letters, digits and ._:/+-");
	refused("Eta=cpu=0.5\n" TYPES,
		"a.conf:1: Eta=cpu=0.5: expected TRES=NUMBER,... with numbers from 1 to "
		"1000000000000 "
		"(Eta: cpu: '0.5' is out of range, expected 1 to 1000000000000)");
	refused("Eta=cpu\n" TYPES,
		"a.conf:1: Eta=cpu: expected TRES=NUMBER,... with numbers from 1 to 1000000000000 "
		"(Eta: 'cpu' is not TRES=NUMBER)");
	refused("PSType=ps.m TRES=cpu=0\n",
		"a.conf:1: TRES=cpu=0: expected TRES=NUMBER,... with numbers from 1e-09 to "
		"1000000000000 (TRES: cpu: '0' is out of range, expected 1e-09 to 1000000000000)");
	refused("PSType=ps.m TRES=gpu=1,gres/gpu=2\n",
		"a.conf:1: TRES=gpu=1,gres/gpu=2: expected TRES=NUMBER,... with numbers from 1e-09 "
		"to "
		"1000000000000 (TRES: 'gpu' is named twice)");
	refused("PSType=ps.m\n", "a.conf:1: PSType=ps.m: expected TRES= on this line");
	refused("PSType=p TRES=cpu=1 Bandwidth=0\n",
		"a.conf:1: Bandwidth=0: expected a number from 0.001 to 1000000000");
	refused("PartitionName=a,b\n", "a.conf:1: PartitionName=a,b: expected a name of up to 79 "
				       "letters, digits and ._:/+-");
	refused("PartitionName=e Upload=-1\n",
		"a.conf:1: Upload=-1: expected a time from 0 s to 1000000000 s");
	refused("Model=m Epochs=0\n",
		"a.conf:1: Epochs=0: expected a whole number from 1 to 1000000000");
}

/* TRES are named as in slurm.conf or as accounting has them. */
static void test_case(void **state)
{
	struct auc_conf *c =
		parsed("Policy=dps\nPrices=given\nEta=GPU:V100=3,cpu=2\nPartitionName=p\n"
		       "WorkerType=w TRES=cpu=1,gres/gpu:v100=1\nPSType=p TRES=CPU=1\n");

	(void)state;
	assert_string_equal(c->worker_types[0].tres[1].name, "gpu:v100");
	auc_conf_free(c);
	refused("PSType=ps.m TRES=gpu:V100=1,gres/gpu:v100=2\n",
		"a.conf:1: TRES=gpu:V100=1,gres/gpu:v100=2: expected TRES=NUMBER,... with numbers "
		"from "
		"1e-09 to 1000000000000 (TRES: 'gpu:v100' is named twice)");
}

/* What policy eris sells besides nodes. */
static void test_transfer(void **state)
{
	struct auc_conf *c = parsed("Policy=eris\nTransferBudget=1.5e3\nPrices=given\n"
				    "Eta=cpu=3,transfer=20\n" TYPES);

	(void)state;
	assert_true(c->transfer_mb == 1500);
	assert_string_equal(c->eta[1].name, "transfer");
	auc_conf_free(c);
	c = parsed("Policy=eris\n" TYPES);
	assert_true(c->transfer_mb < 0);
	assert_int_equal(c->prices, AUC_PRICES_LEARNED);
	auc_conf_free(c);
	refused("Policy=eris\nTransferBudget=0\n" TYPES,
		"a.conf:2: TransferBudget=0: expected a number from 0.001 to 4000000000");
	refused("Policy=eris\nTransferBudget=1GB\n" TYPES,
		"a.conf:2: TransferBudget=1GB: expected a number from 0.001 to 4000000000");
	refused("TransferBudget=5\n" TYPES,
		"a.conf:1: TransferBudget=5: expected none with policy dps, which moves no data");
	refused("Policy=eris\nTransferBudget=5\nPSType=ps.x TRES=transfer=2\n" TYPES,
		"a.conf:3: TRES=transfer: expected another name: with TransferBudget= this is what "
		"nodes send");
	refused("Policy=eris\nPartitionName=cloud OneServer=yes\n" TYPES,
		"a.conf: PartitionName=cloud: OneServer=yes: expected no with policy eris, which "
		"places jobs on nodes");
}

static void test_references(void **state)
{
	static const char *const unfit[] = {"KILL", "STOP", "sigterm", "INT", "HUP", "CHLD"};

	(void)state;
	refused(TYPES "WorkerType=v100 TRES=cpu=1\n",
		"a.conf:4: WorkerType=v100: expected a name that no other WorkerType has");
	refused(TYPES "PSType=ps.m TRES=cpu=1\n",
		"a.conf:4: PSType=ps.m: expected a name that no other PSType has");
	refused(TYPES "PartitionName=edge\n",
		"a.conf:4: PartitionName=edge: expected a name that no other PartitionName has");
	refused(TYPES "Model=m\nModel=m\n",
		"a.conf:5: Model=m: expected a name that no other Model has");
	refused(TYPES "Model=m WorkerTime=v100=1,h100=1\n",
		"a.conf:4: WorkerTime=v100=1,h100=1: expected types that a line WorkerType= "
		"defines, "
		"'h100' is in none");
	refused(TYPES "Model=m WorkerTime=v100=1 PSTime=v100=1\n",
		"a.conf:4: PSTime=v100=1: expected types that a line PSType= defines, 'v100' is in "
		"none");
	refused(TYPES "DefaultModel=m\n", "a.conf:4: DefaultModel=m: expected the name of a Model");
	refused(TYPES "DefaultBid=3;epochs=0\n",
		"a.conf:4: DefaultBid=3;epochs=0: expected a bid (--epochs: '0' is out of range, "
		"expected 1 to 1000000000)");
	refused(TYPES "Prices=given\n",
		"a.conf:4: Prices=given: expected a line Eta= with the bases");
	refused(TYPES "SlotSeconds=5 EndMargin=5\n",
		"a.conf:4: EndMargin=5: expected EndMargin (5 s) less than SlotSeconds (5 s)");
	refused(TYPES "SlotSeconds=1\n",
		"a.conf:4: SlotSeconds=1: expected EndMargin (1 s) less than SlotSeconds (1 s)");
	refused(TYPES "LateStart=5m\n",
		"a.conf:4: LateStart=5m: expected less than SlotSeconds (300 s)");
	refused(TYPES "ChangeNotice=151\n",
		"a.conf:4: ChangeNotice=151: expected at most half of SlotSeconds (150 s)");
	/* What slaunch does not take. */
	for (unsigned i = 0; i < sizeof(unfit) / sizeof(*unfit); i++) {
		char text[1024], message[256];

		snprintf(text, sizeof(text), TYPES "ChangeSignal=%s\n", unfit[i]);
		snprintf(message, sizeof(message),
			 "a.conf:4: ChangeSignal=%s: expected the name of a signal that ends no "
			 "job, such as USR1, USR2 or URG, or none",
			 unfit[i]);
		refused(text, message);
	}
	refused(TYPES "ChangeSignal=USR3\n",
		"a.conf:4: ChangeSignal=USR3: expected the name of a signal that ends no job, such "
		"as USR1, USR2 or URG, or none");
	refused("", "a.conf: no line PartitionName=, expected at least one");
	refused("PartitionName=e\nWorkerType=v TRES=cpu=1\n",
		"a.conf: no line PSType=, expected both WorkerType and PSType, or, where jobs are "
		"sold as they are, neither");
	refused("PartitionName=e\nPSType=p TRES=cpu=1\n",
		"a.conf: no line WorkerType=, expected both WorkerType and PSType, or, where jobs "
		"are sold as they are, neither");
	auc_conf_free(parsed("PartitionName=e\n"));
	refused("Policy=oasis\nPartitionName=e\n",
		"a.conf: no lines WorkerType= and PSType=, expected both with policy oasis, which "
		"sells to such jobs only");
	refused("PartitionName=e\nUpper=cpu=1,gpu=3\nLower=gpu:v100=4\n",
		"a.conf:3: Lower=gpu:v100=4: expected for 'gpu:v100' no more than Upper has for "
		"it");
}

/* Prices of "gpu" are those of all types that have none of their own, in any letters. */
static void test_prices_of_kinds(void **state)
{
	const struct auc_named all[] = {{"cpu", 8}, {"gpu:V100", 2}, {"gpu:t4", 4}, {"disk", 9}};
	struct auc_conf *c =
		parsed("PartitionName=e\nEta=GPU=20,gpu:T4=3,gpu:x1=7\nLower=gpu:v100=2,cpu=1\n"
		       "Upper=gpu=30,cpu=5\n");
	struct auc_market *m = auc_market_create(10, 60, 0);
	struct auc_price p;

	(void)state;
	assert_int_equal(auc_market_add_server(m, "n", "e", false, 3, 0, all, 4, NULL), AUC_OK);
	auc_conf_price(c, AUC_PRICE_ETA, m, &p);
	assert_int_equal(p.neta, 2);
	assert_string_equal(p.eta[0].name, "gpu:V100");
	assert_true(p.eta[0].value == 20);
	assert_string_equal(p.eta[1].name, "gpu:t4");
	assert_true(p.eta[1].value == 3);
	auc_conf_price(c, AUC_PRICE_BOUNDS, m, &p);
	assert_int_equal(p.nbounds, 3);
	assert_string_equal(p.bounds[1].name, "gpu:V100");
	assert_true(p.bounds[1].upper[0] == log(30) && p.bounds[1].lower[0] == log(2));
	assert_true(p.bounds[2].upper[1] == log(30) && isinf(p.bounds[2].lower[0]));
	auc_market_destroy(m);
	auc_conf_free(c);
}

static void test_limits(void **state)
{
	char text[16384] = "";
	struct auc_conf *conf;
	struct auc_err err;
	unsigned i;
	char *large;

	(void)state;
	for (i = 0; i <= AUC_TYPES_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "PSType=t%u TRES=cpu=1\n", i);
	refused(text, "a.conf:33: PSType=t32: expected at most 32 lines PSType=");
	strcpy(text, TYPES "PSType=t TRES=");
	for (i = 0; i < AUC_TRES_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sgres/x:%u=1",
			 i ? "," : "", i);
	strcat(text, "\n");
	refused(text, "a.conf:4: TRES=x:30: expected at most 32 different TRES in all types");
	large = malloc(1024 * 1024 + 1);
	memset(large, '#', 1024 * 1024 + 1);
	assert_int_equal(auc_conf_parse(large, 1024 * 1024 + 1, "a.conf", &conf, &err), AUC_EINVAL);
	assert_string_equal(err.text, "a.conf: longer than 1048576 bytes");
	free(large);
}

static void test_path(void **state)
{
	char path[64];

	(void)state;
	auc_conf_path("sched_interval=1,auction_conf=/a/b.conf,x=1", "/etc/s/slurm.conf", path,
		      sizeof(path));
	assert_string_equal(path, "/a/b.conf");
	auc_conf_path("auction_conf=/a/c.conf", NULL, path, sizeof(path));
	assert_string_equal(path, "/a/c.conf");
	auc_conf_path("no_auction_conf=/a/b.conf", "/etc/s/slurm.conf", path, sizeof(path));
	assert_string_equal(path, "/etc/s/auction.conf");
	auc_conf_path(NULL, "slurm.conf", path, sizeof(path));
	assert_string_equal(path, "auction.conf");
	auc_conf_path(NULL, NULL, path, sizeof(path));
	assert_string_equal(path, "/etc/slurm/auction.conf");
}

static void test_load(void **state)
{
	char path[] = "/tmp/test_conf.XXXXXX", message[256];
	int fd = mkstemp(path);
	struct auc_conf *conf;
	struct auc_err err;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, TYPES, strlen(TYPES)), strlen(TYPES));
	close(fd);
	assert_int_equal(auc_conf_load(path, &conf, &err), AUC_OK);
	auc_conf_free(conf);
	unlink(path);
	assert_int_equal(auc_conf_load(path, &conf, &err), AUC_EIO);
	assert_null(conf);
	snprintf(message, sizeof(message), "%s: No such file or directory", path);
	assert_string_equal(err.text, message);
	assert_int_equal(auc_conf_load("/", &conf, &err), AUC_EIO);
	assert_string_equal(err.text, "/: not a regular file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(auc_conf_load(path, &conf, &err), AUC_EIO); /* and does not wait */
	unlink(path);
}

/* A file of the source tree as a string. */
static char *source(const char *name)
{
	char path[4096];
	char *text;
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", TOP_SRCDIR, name);
	in = fopen(path, "r");
	if (!in)
		fail_msg("%s cannot be read", path);
	text = calloc(1, 1 << 20);
	n = fread(text, 1, (1 << 20) - 1, in);
	assert_true(n > 0);
	fclose(in);
	return text;
}

/* auction.conf(5) has every key with its range and default as the table has them, and the keys of
 * the table only. */
static void test_manual(void **state)
{
	char *manual = source("doc/man/auction.conf.5"), *keys, *line, *rest, *field[5];
	char entry[1024];
	unsigned n, found = 0, entries = 0;
	size_t size;
	FILE *out = open_memstream(&keys, &size);
	char *p;

	(void)state;
	auc_conf_print_keys(out);
	fclose(out);
	for (rest = keys; (line = strsep(&rest, "\n")) && *line; found++) {
		for (n = 0; n < 5; n++)
			assert_non_null(field[n] = strsep(&line, "\t"));
		assert_null(line);
		n = (unsigned)snprintf(entry, sizeof(entry), ".TP\n.BR %s= \" %s\"", field[1],
				       field[2]);
		if (*field[3])
			n += (unsigned)snprintf(entry + n, sizeof(entry) - n, "\nDefault: %s.",
						field[3]);
		assert_true(n < sizeof(entry));
		if (!strstr(manual, entry))
			fail_msg("auction.conf(5) lacks:\n%s", entry);
	}
	for (p = manual; (p = strstr(p, ".TP\n.BR ")); p++)
		entries++;
	assert_int_equal(entries, found);
	free(keys);
	free(manual);
}

/* What we ship as an example is right. */
static void test_example(void **state)
{
	char *text = source("etc/auction.conf.example");
	struct auc_conf *conf = parsed(text);

	(void)state;
	assert_true(conf->nmodels > 0);
	auc_conf_free(conf);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_fee),
		cmocka_unit_test(test_hours),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_prices_of_kinds),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_case),
		cmocka_unit_test(test_transfer),
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
