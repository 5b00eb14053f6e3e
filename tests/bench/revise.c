/*
 * revise.c - policy aonline on the controller's side: what a bid takes while slurmctld waits, and
 * what a revision of all plans takes, in the agent's thread, with more and more jobs at hand. CPU
 * time of the thread.
 *
 *   revise [SERVERS JOBS]...   default: 100 100 300 300 1000 300
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auction/auction.h"
#include "bench/measure.h"

#define NOW (1000 * 300.0)

static const char conf_text[] =
	"Policy=aonline\nSlots=288 UserLiens=0 UserQuotes=0 UserJobs=0\nPartitionName=edge\n"
	"WorkerType=v100 TRES=cpu=4,gpu:v100=1 Bandwidth=1024\n"
	"PSType=ps TRES=cpu=2 Bandwidth=8192\n";

static void must(enum auc_code rc, const struct auc_err *err)
{
	measure_must("revise", rc, err);
}

static struct auc_auction *make_auction(unsigned servers, const char *dir)
{
	struct auc_server_spec *specs = calloc(servers, sizeof(*specs));
	struct auc_auction *a;
	struct auc_conf *conf;
	struct auc_err err;

	if (!specs)
		exit(1);
	for (unsigned i = 0; i < servers; i++) {
		snprintf(specs[i].name, sizeof(specs[i].name), "node%u", i);
		strcpy(specs[i].partition, "edge");
		specs[i].ncapacity = 2;
		specs[i].capacity[0] = (struct auc_named){"cpu", 24};
		specs[i].capacity[1] = (struct auc_named){"gpu:v100", 4};
	}
	must(auc_conf_parse(conf_text, strlen(conf_text), "auction.conf", &conf, &err), &err);
	must(auc_auction_create(conf, &a, &err), &err);
	must(auc_auction_set_servers(a, specs, servers, NOW, &err), &err);
	must(auc_auction_open_spool(a, dir, NOW, NULL, &err), &err);
	free(specs);
	return a;
}

/* A job of 1 to 30 chunks of 1 to 20 slots; true if it is taken. */
static bool bid(struct auc_auction *a, uint32_t job, double *seconds)
{
	struct auc_offer offer;
	struct auc_bid *b = malloc(sizeof(*b));
	struct auc_err err;
	char text[200];
	bool taken;

	if (!b)
		exit(1);
	snprintf(text, sizeof(text),
		 "chunks=%u epochs=%u minibatches=100 worker-time=v100=3s ps-time=ps=0s",
		 measure_pick(1, 30), measure_pick(1, 20));
	must(auc_bid_parse(auc_auction_conf(a), text, b, &err), &err);
	*seconds = -measure_cpu();
	must(auc_auction_bid(a, b, 1, NOW, true, &offer, &err), &err);
	*seconds += measure_cpu();
	taken = offer.accepted;
	if (taken)
		must(auc_auction_confirm(a, offer.sale, job, NULL, &err), &err);
	auc_offer_clear(&offer);
	free(b);
	return taken;
}

static void run(unsigned servers, unsigned jobs)
{
	double *bids = calloc(jobs + 1, sizeof(*bids)),
	       *revisions = calloc(jobs + 1, sizeof(*revisions));
	char dir[] = "revise-XXXXXX";
	struct auc_auction *a;
	struct auc_err err;
	unsigned n = 0, p99;
	double last = 0;

	if (!bids || !revisions || !mkdtemp(dir))
		exit(1);
	measure_random = 1;
	a = make_auction(servers, dir);
	for (uint32_t i = 0; i < jobs; i++) {
		if (!bid(a, i + 1, &bids[i]))
			continue;
		last = -measure_cpu();
		must(auc_auction_revise(a, NOW, 0, false, NULL, &err), &err);
		last += measure_cpu();
		revisions[n++] = last;
	}
	if (n) {
		p99 = measure_sort(bids, jobs);
		printf("%7u %5u %5u %9.0f %9.0f", servers, jobs, n, bids[jobs / 2] * 1e6,
		       bids[p99] * 1e6);
		p99 = measure_sort(revisions, n);
		printf(" %9.1f %9.1f %9.1f\n", revisions[n / 2] * 1e3, revisions[p99] * 1e3,
		       last * 1e3);
	}
	auc_auction_destroy(a);
	measure_remove_spool(dir);
	free(bids);
	free(revisions);
}

int main(int argc, char **argv)
{
	printf("servers  jobs taken    bid_us       p99 revise_ms       p99  with_all\n");
	if (argc < 3) {
		run(100, 100);
		run(300, 300);
		run(1000, 300);
	}
	for (int i = 1; i + 1 < argc; i += 2)
		run((unsigned)atoi(argv[i]), (unsigned)atoi(argv[i + 1]));
	return 0;
}
