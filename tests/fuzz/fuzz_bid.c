/*
 * fuzz_bid.c - any bytes as a bid's text, with and without a configuration. What is accepted must
 * be within its bounds, must not rise with time, and its canonical text must give the same bid
 * again.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "input/bid.h"
#include "input/conf.h"
#include "fuzz/fuzz.h"

static const char site[] =
	"SlotSeconds=300 Slots=100\nPartitionName=edge\n"
	"WorkerType=v100 TRES=cpu=4,gpu:v100=1\nWorkerType=t4 TRES=cpu=4,gpu:t4=1\n"
	"PSType=ps.s TRES=cpu=1\nPSType=ps.m TRES=cpu=2\n"
	"Model=resnet50 Epochs=30 Chunks=8 Minibatches=50 GradientMB=97.4 "
	"WorkerTime=v100=1.9s,t4=3.4s PSTime=ps.m=50ms\n";

static const char places[] = "Policy=eris\nPartitionName=edge\nWorkerType=v100 TRES=cpu=4\n"
			     "PSType=ps.s TRES=cpu=1\n";

static void try_bid(const struct auc_conf *conf, const char *text);
static void check_gang(const struct auc_bid_gang *g);
static void check_data(const struct auc_bid *bid);
static void check_bid(const struct auc_conf *conf, const struct auc_bid *bid);
static void check_list(const struct auc_named *list, unsigned n, unsigned limit, double min);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *values[32] = {NULL};
	struct auc_conf *conf, *eris;
	char *text = malloc(size + 1), *joined, *again;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	REQUIRE(auc_conf_parse(site, strlen(site), "site", &conf, NULL) == AUC_OK);
	REQUIRE(auc_conf_parse(places, strlen(places), "places", &eris, NULL) == AUC_OK);
	try_bid(conf, text);
	try_bid(eris, text);
	try_bid(NULL, text);
	auc_bid_check_word(conf, "bid", text, NULL);
	auc_bid_check_word(NULL, "upload", text, NULL);
	auc_bid_check_word(eris, "data", text, NULL);
	if (auc_bid_join(text, values, &joined, NULL) == AUC_OK) {
		REQUIRE(auc_bid_join(joined, values, &again, NULL) == AUC_OK);
		REQUIRE(!strcmp(joined, again));
		free(joined);
		free(again);
	}
	auc_conf_free(conf);
	auc_conf_free(eris);
	free(text);
	return 0;
}

static void try_bid(const struct auc_conf *conf, const char *text)
{
	struct auc_bid bid, back;
	struct auc_err err = {.text = ""};
	char *once, *twice;

	if (auc_bid_parse(conf, text, &bid, &err) != AUC_OK) {
		REQUIRE(err.code != AUC_OK && *err.text && strlen(err.text) < sizeof(err.text));
		return;
	}
	check_bid(conf, &bid);
	once = auc_bid_print(&bid);
	REQUIRE(once && strlen(once) < AUC_BID_TEXT_MAX);
	REQUIRE(auc_bid_parse(conf, once, &back, &err) == AUC_OK);
	twice = auc_bid_print(&back);
	REQUIRE(twice && !strcmp(once, twice));
	free(once);
	free(twice);
}

static void check_bid(const struct auc_conf *conf, const struct auc_bid *bid)
{
	double last = INFINITY, now, x;

	REQUIRE(auc_utility_check(&bid->utility, "bid", NULL) == AUC_OK);
	for (x = 0; x < 400; x += 3.7) {
		now = auc_utility_value(&bid->utility, x);
		REQUIRE(now >= 0 && now <= last && now <= AUC_VALUE_MAX);
		last = now;
	}
	REQUIRE(bid->gradient_mb >= 0 && isfinite(bid->gradient_mb));
	check_list(bid->worker_seconds, bid->nworkers, AUC_BID_TYPES_MAX, 1e-9);
	check_list(bid->ps_seconds, bid->nps, AUC_BID_TYPES_MAX, 0);
	check_list(bid->upload, bid->nupload, AUC_BID_UPLOAD_MAX, 0);
	check_list(bid->data, bid->ndata, AUC_BID_DATA_MAX, 1);
	check_data(bid);
	REQUIRE(bid->upload_default == -1 ||
		(bid->upload_default >= 0 && bid->upload_default <= 1e6));
	REQUIRE(bid->epochs <= AUC_WORK_MAX && bid->chunks <= AUC_WORK_MAX &&
		bid->minibatches <= AUC_WORK_MAX);
	check_gang(&bid->gang);
	/* A bid of Slurm's own options alone is a gang. */
	if (conf && !bid->gang.open && !bid->ask)
		REQUIRE(bid->epochs && bid->chunks && bid->minibatches && bid->nworkers &&
			bid->nps);
}

static void check_gang(const struct auc_bid_gang *g)
{
	REQUIRE(g->nshapes <= AUC_SHAPES_MAX && g->ntres <= AUC_BID_TRES_MAX &&
		g->nplaces <= AUC_BID_PLACES_MAX);
	REQUIRE(g->begin >= 0 && isfinite(g->begin) && g->end >= 0 && isfinite(g->end));
	for (unsigned i = 0; i < g->nshapes; i++) {
		REQUIRE(g->shapes[i].nodes >= 1);
		REQUIRE(g->shapes[i].seconds > 0 && isfinite(g->shapes[i].seconds));
		for (unsigned k = 0; k < g->ntres; k++)
			REQUIRE(g->shapes[i].amount[k] >= 0 && isfinite(g->shapes[i].amount[k]));
	}
	check_list(g->speedup, g->nspeedup, AUC_BID_TYPES_MAX, 0);
	check_list(g->gpu_time, g->ngpu_time, AUC_BID_TYPES_MAX, 0);
}

/* All chunks lie somewhere, or it is not said where. */
static void check_data(const struct auc_bid *bid)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < bid->ndata; i++) {
		REQUIRE(bid->data[i].value == (double)(uint64_t)bid->data[i].value);
		sum += (uint64_t)bid->data[i].value;
	}
	REQUIRE(!bid->ndata || sum == bid->chunks);
}

static void check_list(const struct auc_named *list, unsigned n, unsigned limit, double min)
{
	unsigned i, k;

	REQUIRE(n <= limit);
	for (i = 0; i < n; i++) {
		REQUIRE(*list[i].name && strlen(list[i].name) < AUC_NAME_MAX);
		REQUIRE(list[i].value >= min && isfinite(list[i].value));
		for (k = 0; k < i; k++)
			REQUIRE(strcmp(list[i].name, list[k].name) != 0);
	}
}
