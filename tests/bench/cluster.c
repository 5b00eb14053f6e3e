/* cluster.c - see cluster.h */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cluster.h"
#include "bench/measure.h"

#define TYPES 5

static const char *const gpus[TYPES] = {"gpu:a100", "gpu:v100", "gpu:p100", "gpu:t4", "gpu:k80"};

static struct auc_err err;

static void must(enum auc_code rc)
{
	measure_must("cluster", rc, &err);
}

struct auc_conf *cluster_conf(unsigned slots, const char *globals)
{
	struct auc_conf *conf;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		exit(1);
	fprintf(out,
		"SlotSeconds=%g\nSlots=%u\nRefundUnused=yes\n%s\n"
		"PartitionName=edge\nPartitionName=cloud Site=cloud Upload=40m\n",
		CLUSTER_SLOT, slots, globals);
	for (unsigned i = 0; i < TYPES; i++)
		fprintf(out,
			"WorkerType=w%u TRES=cpu=%u,mem=%u,%s=%g Bandwidth=1024\n"
			"PSType=p%u TRES=cpu=%u,mem=%u Bandwidth=%u\n",
			i, 2 + i % 3, 8192 + 4096 * (i % 2), gpus[i], i == 4 ? 0.5 : 1, i, 1 + i,
			4096 * (1 + i), 1024 * (2 + 2 * i));
	fclose(out);
	must(auc_conf_parse(text, len, "auction.conf", &conf, &err));
	free(text);
	return conf;
}

static void add_amount(struct auc_server_spec *s, const char *name, double value)
{
	strcpy(s->capacity[s->ncapacity].name, name);
	s->capacity[s->ncapacity++].value = value;
}

struct auc_server_spec *cluster_servers(unsigned n)
{
	struct auc_server_spec *servers = calloc(n, sizeof(*servers)), *s;

	if (!servers)
		exit(1);
	for (unsigned i = 0; i < n; i++) {
		bool cloud = i % 10 == 9;

		s = &servers[i];
		snprintf(s->name, sizeof(s->name), "%s%u", cloud ? "cloud" : "edge", i);
		strcpy(s->partition, cloud ? "cloud" : "edge");
		add_amount(s, "cpu", cloud ? 256 : 16 * measure_pick(2, 6));
		add_amount(s, "mem", cloud ? 1048576 : 65536 * measure_pick(2, 8));
		add_amount(s, gpus[i % TYPES], cloud ? 32 : 2 * measure_pick(1, 4));
		add_amount(s, gpus[(i + 1) % TYPES], cloud ? 16 : 2 * measure_pick(1, 2));
	}
	return servers;
}

struct auc_bid cluster_bid(const struct auc_conf *conf, double value)
{
	double work = exp(log(60) * measure_uniform()), scale = value * work * 12;
	char text[512], utility[64];
	struct auc_bid bid;
	unsigned target = measure_pick(5, 60);

	scale *= 0.3 + measure_uniform();
	switch (measure_pick(0, 2)) {
	case 0:
		snprintf(utility, sizeof(utility), "sigmoid:%g,0.1,%u", scale, target);
		break;
	case 1:
		snprintf(utility, sizeof(utility), "deadline:%g,%u", scale, target);
		break;
	default:
		snprintf(utility, sizeof(utility), "linear:%g,%g", scale, scale / (2 * target));
	}
	snprintf(text, sizeof(text),
		 "bid=%s chunks=%u gradient-mb=%g worker-time=w0=%gs,w1=%gs,w2=%gs,w3=%gs,w4=%gs",
		 utility, measure_pick(4, 40), 10 + 200 * measure_uniform(),
		 work * CLUSTER_SLOT / 16, work * CLUSTER_SLOT / 14, work * CLUSTER_SLOT / 12,
		 work * CLUSTER_SLOT / 10, work * CLUSTER_SLOT / 8);
	must(auc_bid_parse(conf, text, &bid, &err));
	return bid;
}
