/*
 * fuzz_conf.c - any bytes as auction.conf. What is accepted must be complete and consistent, and
 * must print as a file that reads back to the same.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "input/bid.h"
#include "input/conf.h"
#include "fuzz/fuzz.h"

static void check_conf(const struct auc_conf *conf);
static char *printed(const struct auc_conf *conf);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct auc_conf *conf, *back;
	struct auc_err err = {.text = ""};
	char *once, *twice;

	if (auc_conf_parse((const char *)data, size, "f", &conf, &err) != AUC_OK) {
		REQUIRE(!conf && err.code != AUC_OK && !strncmp(err.text, "f:", 2));
		return 0;
	}
	check_conf(conf);
	once = printed(conf);
	REQUIRE(auc_conf_parse(once, strlen(once), "f", &back, &err) == AUC_OK);
	twice = printed(back);
	REQUIRE(!strcmp(once, twice));
	free(once);
	free(twice);
	auc_conf_free(conf);
	auc_conf_free(back);
	return 0;
}

static void check_conf(const struct auc_conf *conf)
{
	struct auc_bid bid;
	unsigned i;

	REQUIRE(conf->npartitions && !conf->nworker_types == !conf->nps_types);
	REQUIRE(conf->nworker_types <= AUC_TYPES_MAX && conf->nps_types <= AUC_TYPES_MAX);
	REQUIRE(conf->slots >= 1 && conf->slots <= AUC_SLOTS_MAX && conf->slot_seconds >= 1);
	REQUIRE(conf->end_margin >= 0 && conf->end_margin < conf->slot_seconds);
	REQUIRE(*conf->policy);
	for (i = 0; i < conf->neta; i++)
		REQUIRE(conf->eta[i].value >= 1 && isfinite(conf->eta[i].value));
	for (i = 0; i < conf->nworker_types; i++)
		REQUIRE(conf->worker_types[i].ntres && conf->worker_types[i].bandwidth_mbps > 0 &&
			auc_conf_worker_type(conf, conf->worker_types[i].name) ==
				&conf->worker_types[i]);
	for (i = 0; i < conf->nps_types; i++)
		REQUIRE(conf->ps_types[i].ntres && conf->ps_types[i].bandwidth_mbps > 0);
	if (*conf->default_model)
		REQUIRE(auc_conf_model(conf, conf->default_model));
	if (conf->default_bid)
		REQUIRE(auc_bid_parse(conf, conf->default_bid, &bid, NULL) == AUC_OK);
}

static char *printed(const struct auc_conf *conf)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	REQUIRE(out);
	auc_conf_print(conf, out);
	REQUIRE(fclose(out) == 0);
	return text;
}
