/* test_bid.c - a bid's text: what leaves out what, canonical text, what is refused with which words
 * (bid.h) */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input/bid.h"
#include "input/bid_time.h"
#include "input/conf.h"

static const char site[] = "SlotSeconds=300 Slots=100\n"
			   "PartitionName=edge\n"
			   "WorkerType=v100 TRES=cpu=4,gpu:v100=1\n"
			   "WorkerType=t4 TRES=cpu=4,gpu:t4=1\n"
			   "PSType=ps.s TRES=cpu=1\n"
			   "PSType=ps.m TRES=cpu=2\n"
			   "Model=resnet50 Epochs=30 Chunks=8 Minibatches=50 GradientMB=97.4 "
			   "WorkerTime=v100=1.9s,t4=3.4s PSTime=ps.m=50ms\n"
			   "Model=half Chunks=4 WorkerTime=t4=2s\n";
static struct auc_conf *conf, *eris;

static int setup(void **state)
{
	char text[2000];
	struct auc_err err = {.text = ""};

	(void)state;
	snprintf(text, sizeof(text), "Policy=eris\n%s", site);
	if (auc_conf_parse(site, strlen(site), "site", &conf, &err) == AUC_OK &&
	    auc_conf_parse(text, strlen(text), "site", &eris, &err) == AUC_OK)
		return 0;
	print_error("%s\n", err.text);
	return -1;
}

static int teardown(void **state)
{
	(void)state;
	auc_conf_free(conf);
	auc_conf_free(eris);
	return 0;
}

static struct auc_bid parsed(const struct auc_conf *c, const char *text)
{
	struct auc_bid bid;
	struct auc_err err = {.text = ""};

	if (auc_bid_parse(c, text, &bid, &err) != AUC_OK)
		fail_msg("%s: %s", text, err.text);
	return bid;
}

static void refused(const char *text, enum auc_code code, const char *message)
{
	struct auc_bid bid = {.epochs = 77};
	struct auc_err err = {.text = ""};

	assert_int_equal(auc_bid_parse(conf, text, &bid, &err), code);
	assert_string_equal(err.text, message);
	assert_int_equal(err.code, code);
	assert_int_equal(bid.epochs, 77); /* untouched */
}

static void test_whole(void **state)
{
	struct auc_bid b =
		parsed(conf, "bid=sigmoid:300,0.02 epochs=3;chunks=27\nminibatches=5e1 "
			     "gradient-mb=0.5 worker-time=v100=1.9s,t4=3400ms ps-time=ps.m=0 "
			     "upload=edge1=2,cloud=1h,1 quote");

	(void)state;
	assert_int_equal(b.utility.form, AUC_FORM_SIGMOID);
	assert_int_equal(b.epochs, 3);
	assert_int_equal(b.chunks, 27);
	assert_int_equal(b.minibatches, 50);
	assert_true(b.gradient_mb == 0.5);
	assert_int_equal(b.nworkers, 2);
	assert_string_equal(b.worker_seconds[0].name, "v100");
	assert_true(b.worker_seconds[0].value == 1.9);
	assert_true(b.worker_seconds[1].value == 3.4);
	assert_int_equal(b.nps, 1);
	assert_true(b.ps_seconds[0].value == 0);
	assert_int_equal(b.nupload, 2);
	assert_string_equal(b.upload[1].name, "cloud");
	assert_true(b.upload[0].value == 2 && b.upload[1].value == 12);
	assert_true(b.upload_default == 1);
	assert_true(b.quote);
	assert_string_equal(b.model, "");
}

static void test_defaults(void **state)
{
	struct auc_bid b = parsed(conf, "300 worker-time=t4=1");

	(void)state;
	assert_true(b.utility.form == AUC_FORM_CONSTANT && b.utility.scale == 300);
	assert_true(b.epochs == 1 && b.chunks == 1 && b.minibatches == 1 && b.gradient_mb == 0);
	assert_int_equal(b.nps, 2);
	assert_string_equal(b.ps_seconds[1].name, "ps.m");
	assert_true(b.ps_seconds[1].value == 0);
	assert_true(b.nupload == 0 && b.upload_default < 0);
	assert_false(b.quote);
}

static void test_model(void **state)
{
	struct auc_bid b =
		parsed(conf, "table:1=300,4h=3 model=resnet50 epochs=2 worker-time=t4=4");

	(void)state;
	assert_int_equal(b.utility.npoints, 2);
	assert_true(b.utility.points[1].x == 48);
	assert_true(b.epochs == 2 && b.chunks == 8 && b.minibatches == 50);
	assert_true(b.gradient_mb == 97.4);
	assert_int_equal(b.nworkers, 1); /* the whole list is the bid's */
	assert_true(b.worker_seconds[0].value == 4);
	assert_true(b.nps == 1 && b.ps_seconds[0].value == 0.05);
	assert_string_equal(b.model, "resnet50");

	b = parsed(conf, "model=half bid=3");
	assert_true(b.epochs == 1 && b.chunks == 4 && b.minibatches == 1 && b.gradient_mb == 0);
	assert_true(b.nworkers == 1 && b.nps == 2);
}

static void test_default_model(void **state)
{
	struct auc_bid b;

	(void)state;
	strcpy(conf->default_model, "half");
	b = parsed(conf, "3 epochs=5");
	assert_string_equal(b.model, "half");
	assert_true(b.epochs == 5 && b.chunks == 4);
	b = parsed(conf, "3 model=resnet50");
	assert_string_equal(b.model, "resnet50");
	assert_int_equal(b.chunks, 8);
	*conf->default_model = '\0';
}

static void assert_list(const struct auc_named *a, const struct auc_named *b, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		assert_string_equal(a[i].name, b[i].name);
		assert_true(a[i].value == b[i].value);
	}
}

/* As Slurm says times, and as bids do; a factor of what is stated. */
static void test_time_max(void **state)
{
	static const struct {
		const char *text;
		double seconds, factor;
	} cases[] = {
		{"8h", 28800, 0},       {"480", 28800, 0},         {"90s", 90, 0},
		{"8:00:00", 28800, 0},  {"10:30", 630, 0},         {"1-12", 129600, 0},
		{"1-12:30", 131400, 0}, {"2-00:00:30", 172830, 0}, {"1.3x", 0, 1.3},
		{"1x", 0, 1},
	};
	struct auc_err err;
	struct auc_bid b;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "3 worker-time=v100=0.1 time-max=%s", cases[i].text);
		b = parsed(conf, text);
		assert_true(b.time_max == cases[i].seconds && b.most == cases[i].factor);
	}
	b = parsed(conf, "3 worker-time=v100=0.1 time-max=8h");
	assert_int_equal(auc_bid_time_max_of(&b, 0, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "expected a factor such as 1.3x"));
	assert_int_equal(auc_bid_time_max_of(&b, 30000, &err), AUC_EINVAL);
	assert_int_equal(auc_bid_time_max_of(&b, 100, &err), AUC_EINVAL);
	assert_int_equal(auc_bid_time_max_of(&b, 21600, &err), AUC_OK);
	assert_true(b.most == 28800.0 / 21600 && !(b.time_max > 0));
	/* once */
	assert_int_equal(auc_bid_time_max_of(&b, 28800, &err), AUC_OK);
	assert_true(b.most == 28800.0 / 21600);
}

static void test_canonical(void **state)
{
	static const char *const texts[] = {
		"300 model=resnet50",
		"sigmoid:300,0.5/h,2h worker-time=v100=1234.567ms",
		"300 worker-time=v100=0.1,t4=0.3333333333333333 upload=0.1,edge=0.7",
		"300 worker-time=v100=0.1 upload=3 quote=yes gradient-mb=1e-300 data-mb=5000.5",
		("deadline:5,1m worker-time=v100=7m ps-time=ps.s=1ms,ps.m=3 upload=edge=20m "
		 "quote=no"),
		"300 worker-time=v100=0.1 overrun=extend",
		"300 worker-time=v100=0.1 overrun=kill",
		"300 worker-time=v100=0.1 overrun=extend requeue=yes",
		"300 worker-time=v100=0.1 overrun=extend requeue=yes notice=yes",
		"300 worker-time=v100=0.1 time-max=1.3x overrun=kill",
		"300 worker-time=v100=0.1 time-max=8:00:00",
		"300 worker-time=v100=0.1 time-max=1.3x planned=1.125",
		"300 worker-time=v100=0.1 qos=normal accounts=lab,physics,root",
		"300 worker-time=v100=0.1 qos=normal",
	};
	struct auc_bid a, b;
	char *once, *twice;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		a = parsed(conf, texts[i]);
		once = auc_bid_print(&a);
		assert_non_null(once);
		b = parsed(conf, once);
		twice = auc_bid_print(&b);
		assert_string_equal(once, twice);
		assert_true(a.epochs == b.epochs && a.chunks == b.chunks &&
			    a.minibatches == b.minibatches && a.gradient_mb == b.gradient_mb);
		assert_true(a.nworkers == b.nworkers && a.nps == b.nps && a.nupload == b.nupload);
		assert_true(a.upload_default == b.upload_default && a.extend == b.extend &&
			    a.kill == b.kill && a.requeue == b.requeue && a.notice == b.notice);
		assert_true(a.time_max == b.time_max && a.most == b.most && a.planned == b.planned);
		assert_false(b.quote); /* no text says it */
		assert_list(a.worker_seconds, b.worker_seconds, a.nworkers);
		assert_list(a.ps_seconds, b.ps_seconds, a.nps);
		assert_list(a.upload, b.upload, a.nupload);
		free(once);
		free(twice);
	}
	a = parsed(conf, "300 model=resnet50 upload=edge=1h,2 quote");
	once = auc_bid_print(&a);
	assert_string_equal(once,
			    "bid=300 epochs=30 chunks=8 minibatches=50 gradient-mb=97.4 "
			    "worker-time=v100=1.9s,t4=3.4s ps-time=ps.m=0.05s upload=edge=12,2");
	free(once);
}

/* The largest bid there can be still has a canonical text that can be read. */
static void test_largest(void **state)
{
	struct auc_bid a = {.epochs = AUC_WORK_MAX, .upload_default = 1 / 3.0}, b;
	char name[AUC_NAME_MAX], *once, *twice;
	unsigned i;

	(void)state;
	a.chunks = a.minibatches = a.epochs;
	a.gradient_mb = 1 / 3e8;
	a.utility.form = AUC_FORM_TABLE;
	a.utility.npoints = AUC_TABLE_MAX;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < AUC_TABLE_MAX; i++) {
		a.utility.points[i].x = 1e5 / 3 + i;
		a.utility.points[i].value = 1e8 / 3 - i;
	}
	for (i = 0; i < AUC_BID_UPLOAD_MAX; i++) {
		name[0] = (char)('A' + i % 26);
		name[1] = (char)('A' + i / 26);
		strcpy(a.upload[i].name, name);
		a.upload[i].value = 1e5 / 3 + i;
		if (i >= AUC_BID_TYPES_MAX)
			continue;
		strcpy(a.worker_seconds[i].name, name);
		strcpy(a.ps_seconds[i].name, name);
		a.worker_seconds[i].value = a.ps_seconds[i].value = 1e-5 / 3;
	}
	for (i = 0; i < AUC_BID_DATA_MAX; i++) {
		a.data[i] = a.upload[i];
		a.data[i].value = 1e7 - 1;
	}
	a.ndata = AUC_BID_DATA_MAX;
	a.chunks = (uint64_t)a.data[0].value * AUC_BID_DATA_MAX;
	a.nupload = AUC_BID_UPLOAD_MAX;
	a.nworkers = a.nps = AUC_BID_TYPES_MAX;
	a.extend = true;
	a.most = a.planned = 4 / 3.0;
	a.since = 1e10 / 3;
	strcpy(a.profile, name);
	strcpy(a.qos, name);
	for (i = 0; i < AUC_BID_ACCOUNTS_MAX; i++)
		strcpy(a.accounts[a.naccounts++], name);
	once = auc_bid_print(&a);
	b = parsed(NULL, once);
	twice = auc_bid_print(&b);
	assert_string_equal(once, twice);
	free(once);
	free(twice);
}

static void test_bad(void **state)
{
	char *huge = malloc(AUC_BID_TEXT_MAX + 1);

	(void)state;
	refused("sigmod:300 epochs=3", AUC_EINVAL,
		"--bid: 'sigmod:300' is not a utility: expected a value in credits, such as 300, "
		"or "
		"sigmoid:, linear:, inverse:, deadline: or table:");
	refused("", AUC_EINVAL,
		"--bid: not given, expected what the job is worth, such as 300 or "
		"deadline:300,4h");
	refused("epochs=3", AUC_EINVAL,
		"--bid: not given, expected what the job is worth, such as 300 or "
		"deadline:300,4h");
	refused("3 epochs=2", AUC_EINVAL,
		"--worker-time: not given, expected the time of one mini-batch on at least one of "
		"v100, t4, or a --model that has it");
	refused("3 epochs=0", AUC_EINVAL,
		"--epochs: '0' is out of range, expected 1 to 1000000000");
	refused("3 epochs=-1", AUC_EINVAL,
		"--epochs: '-1' is out of range, expected 1 to 1000000000");
	refused("3 epochs=1.5", AUC_EINVAL, "--epochs: '1.5' is not a whole number");
	refused("3 epochs=", AUC_EINVAL, "--epochs: '' is not a whole number");
	refused("3 epochs", AUC_EINVAL, "--epochs: no value, expected epochs=N");
	refused("3 chunks=1e10", AUC_EINVAL,
		"--chunks: '1e10' is out of range, expected 1 to 1000000000");
	refused("3 minibatches=99999999999999999999999", AUC_EINVAL,
		"--minibatches: '99999999999999999999999' is out of range, expected 1 to "
		"1000000000");
	refused("3 gradient-mb=-1", AUC_EINVAL,
		"--gradient-mb: '-1' is out of range, expected 0 to 1000000000");
	refused("3 gradient-mb=nan", AUC_EINVAL, "--gradient-mb: 'nan' is not a decimal number");
	refused("3 worker-time=h100=3", AUC_ENOENT,
		"--worker-time: 'h100' is not a worker type of this cluster, expected v100, t4");
	refused("3 worker-time=v100=3 ps-time=ps=3", AUC_ENOENT,
		"--ps-time: 'ps' is not a PS type of this cluster, expected ps.s, ps.m");
	refused("3 worker-time=v100", AUC_EINVAL,
		"--worker-time: 'v100' is not TYPE=TIME, such as v100=1.9s");
	refused("3 worker-time=v100=3,", AUC_EINVAL,
		"--worker-time: '' is not TYPE=TIME, such as v100=1.9s");
	refused("3 worker-time==3", AUC_EINVAL,
		"--worker-time: '' is not a name, expected letters, digits and ._:/+-");
	refused("3 worker-time=v100=1.9x", AUC_EINVAL,
		"--worker-time: v100: '1.9x' is not a time, expected a number and ms, s, m, h, d "
		"or slots");
	refused("3 worker-time=v100=0", AUC_EINVAL,
		"--worker-time: v100: '0' is out of range, expected 1e-09 to 1000000000 s");
	refused("3 worker-time=v100=-3s", AUC_EINVAL,
		"--worker-time: v100: '-3s' is out of range, expected 0 to 10000000000 s");
	refused("3 worker-time=v100=3,v100=4", AUC_EINVAL, "--worker-time: 'v100' is named twice");
	refused("3 upload=edge=-1", AUC_EINVAL,
		"--upload: edge: '-1' is out of range, expected 0 to 1000000 slots");
	refused("3 upload=1,2", AUC_EINVAL, "--upload: '2' is not SITE=TIME");
	refused("3 model=vgg", AUC_ENOENT,
		"--model: 'vgg' is not a model of this cluster, expected one of resnet50, half");
	refused("3 model=", AUC_EINVAL,
		"--model: '' is not a name, expected letters, digits and ._:/+-");
	refused("3 quote=maybe", AUC_EINVAL, "--quote: 'maybe' is not yes or no");
	refused("3 overrun=pay", AUC_EINVAL, "--overrun: 'pay', expected kill or extend");
	refused("3 time-max=0.9x", AUC_EINVAL,
		"--time-max: '0.9' is out of range, expected 1 to 10");
	refused("3 time-max=11x", AUC_EINVAL, "--time-max: '11' is out of range, expected 1 to 10");
	refused("3 time-max=0", AUC_EINVAL, "--time-max: '0', expected more than 0");
	refused("3 time-max=1:2:3:4", AUC_EINVAL,
		"--time-max: '1:2:3:4', expected a time such as 8h, 480 (minutes), 8:00:00 or "
		"1-12, at most 115 days, or a factor of --time such as 1.3x");
	refused("3 time-max=1-", AUC_EINVAL,
		"--time-max: '1-', expected a time such as 8h, 480 (minutes), 8:00:00 or "
		"1-12, at most 115 days, or a factor of --time such as 1.3x");
	refused("3 time-max=-1:00", AUC_EINVAL,
		"--time-max: '-1:00', expected a time such as 8h, 480 (minutes), 8:00:00 or "
		"1-12, at most 115 days, or a factor of --time such as 1.3x");
	refused("3 time-max", AUC_EINVAL, "--time-max: no value, expected time-max=TIME|FACTORx");
	refused("3 overrun", AUC_EINVAL, "--overrun: no value, expected overrun=kill|extend");
	refused("3 epochs=2 epochs=3", AUC_EINVAL, "--epochs: '3' comes after '2', expected once");
	refused("3 bid=4", AUC_EINVAL, "--bid: '4' comes after '3', expected once");
	refused("3 gpus=2", AUC_EINVAL,
		"bid: 'gpus' is not a key, expected bid, epochs, chunks, minibatches, gradient-mb, "
		"worker-time, ps-time, upload, data-mb, model, quote, overrun, max-price, data, "
		"accept, speedup, gpu-time, stands or time-max");
	refused("3 fast", AUC_EINVAL,
		"bid: 'fast' is not a key, expected bid, epochs, chunks, minibatches, gradient-mb, "
		"worker-time, ps-time, upload, data-mb, model, quote, overrun, max-price, data, "
		"accept, speedup, gpu-time, stands or time-max");
	memset(huge, '1', AUC_BID_TEXT_MAX);
	huge[AUC_BID_TEXT_MAX] = '\0';
	refused(huge, AUC_EINVAL,
		"bid: '1111111111111111111111111111111111111111...' is too long, expected less "
		"than "
		"27136 bytes");
	free(huge);
}

#define ERIS_JOB "9 worker-time=v100=1s data-mb=54 "

static void data_refused(const char *text, const char *message)
{
	struct auc_bid bid = {.epochs = 77};
	struct auc_err err = {.text = ""};

	assert_int_equal(auc_bid_parse(eris, text, &bid, &err), AUC_EINVAL);
	assert_string_equal(err.text, message);
	assert_int_equal(bid.epochs, 77);
}

/* Where chunks lie: in the order of the text, which numbers them. */
static void test_data(void **state)
{
	struct auc_bid b = parsed(eris, ERIS_JOB "chunks=27 data=edge2=17,edge1=1e1"), c;
	char *text = auc_bid_print(&b);

	(void)state;
	assert_int_equal(b.ndata, 2);
	assert_string_equal(b.data[0].name, "edge2");
	assert_true(b.data[0].value == 17 && b.data[1].value == 10);
	assert_non_null(strstr(text, " data-mb=54 data=edge2=17,edge1=10"));
	c = parsed(NULL, text);
	assert_int_equal(c.ndata, 2);
	assert_memory_equal(b.data, c.data, sizeof(b.data));
	free(text);
	assert_int_equal(parsed(eris, ERIS_JOB "data=edge1=3,edge2=4").chunks, 7);

	data_refused(ERIS_JOB "chunks=27 data=edge1=10,edge2=18",
		     "--data: 28 chunks in all, expected 27, as many as --chunks");
	data_refused(ERIS_JOB "chunks=3 data=edge1=1000000000,edge2=1000000000",
		     "--data: 2000000000 chunks in all, expected 3, as many as --chunks");
	data_refused(ERIS_JOB "chunks=3 data=edge1=3,edge2=0",
		     "--data: edge2: '0' is out of range, expected 1 to 1000000000");
	data_refused(ERIS_JOB "data=edge1=-1",
		     "--data: edge1: '-1' is out of range, expected 1 to 1000000000");
	data_refused(ERIS_JOB "data=edge1=18446744073709551617",
		     "--data: edge1: '18446744073709551617' is out of range, expected 1 to "
		     "1000000000");
	data_refused(ERIS_JOB "data=edge1=2.5", "--data: edge1: 2.5 is no whole number of chunks");
	data_refused(ERIS_JOB "data=edge1=nan", "--data: edge1: 'nan' is not a decimal number");
	data_refused(ERIS_JOB "data=edge1=1,edge1=2", "--data: 'edge1' is named twice");
	data_refused(ERIS_JOB "data=7", "--data: '7' is not NODE=CHUNKS, such as edge1=10");
	data_refused(ERIS_JOB "data=", "--data: '' is not NODE=CHUNKS, such as edge1=10");
	data_refused(ERIS_JOB "data==3",
		     "--data: '' is not a name, expected letters, digits and ._:/+-");
	data_refused(ERIS_JOB "chunks=3",
		     "--data: not given, expected how many chunks lie at each node, such as "
		     "edge1=10,edge2=17: policy eris goes by that");
	data_refused("9 worker-time=v100=1s data=edge1=3",
		     "--data-mb: not given, expected the size of all chunks together, more than "
		     "0: policy eris sells what it takes to move them");
	data_refused(ERIS_JOB "data=edge1=3 overrun=extend",
		     "--overrun: 'extend', expected kill: with policy eris every chunk has its "
		     "slot");
	refused("3 worker-time=v100=1s data=edge1=1", AUC_EINVAL,
		"--data: given, expected none: policy dps does not go by where chunks lie");
}

static void test_too_many(void **state)
{
	char text[4096] = "3 upload=e0=1", value[8192] = "table:";
	struct auc_err err;
	unsigned i;

	(void)state;
	for (i = 1; i <= AUC_BID_UPLOAD_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",e%u=1", i);
	refused(text, AUC_EINVAL, "--upload: 'e64' is one too many, expected at most 64");
	memset(value + 6, '0', 7000);
	assert_int_equal(auc_bid_check_word(conf, "bid", value, &err), AUC_EINVAL);
	assert_string_equal(err.text, "--bid: 'table:00000000000000...' is too long, expected less "
				      "than 6144 bytes");
}

static void test_no_models(void **state)
{
	static const char bare[] =
		"PartitionName=p\nWorkerType=w TRES=cpu=1\nPSType=p TRES=cpu=1\n";
	struct auc_conf *c;
	struct auc_bid bid;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_conf_parse(bare, strlen(bare), "c", &c, &err), AUC_OK);
	assert_int_equal(auc_bid_parse(c, "3 model=x", &bid, &err), AUC_ENOENT);
	assert_string_equal(err.text,
			    "--model: 'x': this cluster has no models (auction.conf has no line "
			    "Model=); without it the job is bought as its options say, such as "
			    "--gpus and --time");
	auc_conf_free(c);
}

static void test_check_word(void **state)
{
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_bid_check_word(conf, "epochs", "30", &err), AUC_OK);
	assert_int_equal(auc_bid_check_word(conf, "worker-time", "h100=1s", &err), AUC_ENOENT);
	assert_int_equal(auc_bid_check_word(NULL, "worker-time", "h100=1s", &err), AUC_OK);
	assert_int_equal(auc_bid_check_word(NULL, "model", "any", &err), AUC_OK);
	assert_int_equal(auc_bid_check_word(NULL, "bid", "deadline:3,4h", &err), AUC_OK);
	assert_int_equal(auc_bid_check_word(NULL, "epochs", "1 quote", &err), AUC_EINVAL);
	assert_string_equal(err.text, "--epochs: '1 quote' has white space or ';', expected none");
	assert_int_equal(auc_bid_check_word(NULL, "model", "a;bid=1", &err), AUC_EINVAL);
	assert_int_equal(auc_bid_check_word(NULL, "nice", "1", &err), AUC_EINVAL);
	assert_string_equal(err.text, "'nice' is not a key of a bid");
}

static void test_join(void **state)
{
	const char *values[32] = {NULL};
	struct auc_err err;
	char *text;

	(void)state;
	assert_int_equal(auc_bid_join(NULL, values, &text, &err), AUC_OK);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(auc_bid_join("300;epochs=20 quote", values, &text, &err), AUC_OK);
	assert_string_equal(text, "bid=300 epochs=20 quote=yes");
	free(text);
	values[0] = "linear:5,1";
	values[1] = "7";
	assert_int_equal(auc_bid_join("300 epochs=20 chunks=2", values, &text, &err), AUC_OK);
	assert_string_equal(text, "bid=linear:5,1 epochs=7 chunks=2");
	free(text);
	assert_int_equal(auc_bid_join("300 nice=2", values, &text, &err), AUC_EINVAL);
	assert_null(text);
}

/* A bid that stands: for how long is its user's to say, since when is not. */
static void test_stands(void **state)
{
	struct auc_bid bid;
	struct auc_err err;
	char *printed;

	(void)state;
	assert_int_equal(auc_bid_parse(conf, "300 model=resnet50 stands=2h", &bid, &err), AUC_OK);
	assert_true(bid.stands == 7200 && bid.since == 0);
	bid.since = 1795741920;
	printed = auc_bid_print(&bid);
	assert_non_null(strstr(printed, " since=1795741920"));
	assert_null(strstr(printed, "stands"));
	assert_int_equal(auc_bid_parse(conf, printed, &bid, &err), AUC_OK);
	assert_true(bid.since == 1795741920);
	free(printed);
	refused("3 model=resnet50 stands=25h", AUC_EINVAL,
		"--stands: '25h', expected at most 86400 s (StandsMax)");
	refused("3 model=resnet50 stands=2h quote", AUC_EINVAL,
		"--stands: given with --quote, expected one of them");
}

/* The table is what users see: every key has its variable and its line of help. */
static void test_keys(void **state)
{
	char env[64];
	unsigned i;
	char *c;

	(void)state;
	assert_int_equal(auc_bid_nkeys, 19);
	for (i = 0; i < auc_bid_nkeys; i++) {
		snprintf(env, sizeof(env), "SLURM_AUCTION_%s", auc_bid_keys[i].key);
		for (c = env; *c; c++)
			*c = *c == '-' ? '_' : (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
		assert_string_equal(auc_bid_keys[i].env, env);
		assert_true(strlen(auc_bid_keys[i].help) > 10);
	}
}

/* A gang's bid as text: what its job's options say, in keys that are none of users. */
static void test_gang_text(void **state)
{
	static const char text[] =
		"bid=300 gang=2:7200:cpu=48,mem=400000,gpu=8|4:3900.5:cpu=24,mem=1 "
		"within=switch whole=yes features=gpu&ib only=edge1,edge2 begin=1000 end=2000 "
		"overrun=extend qos=normal accounts=lab,root";
	struct auc_bid bid;
	struct auc_err err;
	char *printed;

	(void)state;
	assert_int_equal(auc_bid_parse(NULL, text, &bid, &err), AUC_OK);
	assert_int_equal(bid.gang.nshapes, 2);
	assert_int_equal(bid.gang.shapes[1].nodes, 4);
	assert_true(bid.gang.shapes[1].seconds == 3900.5);
	assert_int_equal(bid.gang.ntres, 3);
	assert_string_equal(bid.gang.tres[2], "gpu");
	assert_true(bid.gang.shapes[0].amount[2] == 8);
	assert_true(bid.gang.shapes[1].amount[2] == 0);
	assert_true(bid.gang.within_switch);
	assert_true(bid.gang.whole);
	assert_string_equal(bid.gang.features, "gpu&ib");
	assert_int_equal(bid.gang.nplaces, 2);
	assert_false(bid.gang.except);
	assert_int_equal(bid.nworkers, 0);
	printed = auc_bid_print(&bid);
	assert_string_equal(printed, text);
	free(printed);
	assert_int_equal(auc_bid_parse(NULL, "300 gang=1:60:cpu=1 except=a", &bid, &err), AUC_OK);
	assert_true(bid.gang.except);
}

/* What a user may say is told from what only the controller writes. */
static void test_kept(void **state)
{
	static const struct {
		const char *text;
		bool kept;
	} cases[] = {
		{"300 time-max=1.3x overrun=kill", false},
		{"300 block=yes", false},
		{"300 gang=1:60:cpu=1", true},
		{"300 begin=1000", true},
		{"300 since=1", true},
		{"300 array=7", true},
		{"300 planned=1.2", true},
		{"300 profile=p", true},
		{"300 requeue=yes", true},
		{"300 qos=normal", true},
		{"300 accounts=lab", true},
	};
	struct auc_bid bid;
	struct auc_err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(auc_bid_parse(NULL, cases[i].text, &bid, &err), AUC_OK);
		assert_int_equal(bid.kept, cases[i].kept);
	}
}

static void test_gang_bad(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"300 gang=2:60", "expected NODES:SECONDS:TRES=AMOUNT"},
		{"300 gang=0:60:cpu=1", "out of range"},
		{"300 gang=1:0:cpu=1", "expected more than 0"},
		{"300 gang=1:60:cpu=x", "--gang"},
		{"300 within=rack", "expected switch"},
		{"300 only=a except=b", "only or except"},
		{"300 whole=no", "expected yes"},
		{"300 features=[a|b]", "expected features with &"},
		{"300 features=a&", "expected features with &"},
		{"300 features=a|b&c", "both together"},
		{"300 epochs=2 speedup=2:6h", "given with --speedup"},
		{"300 gpu-time=h100=3h model=small", "given with --gpu-time"},
		{"300 speedup=2:0s", "--speedup"},
		{"300 speedup=x:5h", "--speedup"},
		{"300 speedup=2:5h,2:6h", "--speedup"},
	};
	struct auc_bid bid;
	struct auc_err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (auc_bid_parse(NULL, cases[i].text, &bid, &err) == AUC_OK)
			fail_msg("%s: accepted", cases[i].text);
		if (!strstr(err.text, cases[i].said))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
}

/* What a user says beside Slurm's options. */
static void test_gang_options(void **state)
{
	struct auc_bid bid;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_bid_parse(NULL, "300 speedup=2:6h,4=3.3h", &bid, &err), AUC_OK);
	assert_true(bid.gang.open);
	assert_int_equal(bid.gang.nspeedup, 2);
	assert_string_equal(bid.gang.speedup[1].name, "4");
	assert_true(bid.gang.speedup[1].value == 3.3 * 3600);
	assert_int_equal(auc_bid_parse(NULL, "300 gpu-time=h100=3h,a100=6h", &bid, &err), AUC_OK);
	assert_int_equal(bid.gang.ngpu_time, 2);
	assert_int_equal(auc_bid_parse(NULL, "300 epochs=2", &bid, &err), AUC_OK);
	assert_false(bid.gang.open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),        cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_model),        cmocka_unit_test(test_default_model),
		cmocka_unit_test(test_time_max),     cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_kept),         cmocka_unit_test(test_largest),
		cmocka_unit_test(test_bad),          cmocka_unit_test(test_no_models),
		cmocka_unit_test(test_too_many),     cmocka_unit_test(test_check_word),
		cmocka_unit_test(test_join),         cmocka_unit_test(test_stands),
		cmocka_unit_test(test_keys),         cmocka_unit_test(test_data),
		cmocka_unit_test(test_gang_text),    cmocka_unit_test(test_gang_bad),
		cmocka_unit_test(test_gang_options),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
