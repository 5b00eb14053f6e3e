/*
 * partition_limits.c - what the cluster allows a plan in each partition (auction.h): whether
 * anything new is sold there, for how long, on how many nodes, how much memory.
 *
 * No policy knows of it. A decision whose best schedule is not allowed in a partition is made once
 * more without that partition, until it is allowed everywhere or no partition is left; so what is
 * sold is the best schedule in the partitions that are left, and the refusal names the limits.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auction/auction-private.h"
#include "base/num.h"
#include "market/timeline.h"

struct use {
	auc_slot first, last;
	unsigned nodes; /* the most at one time */
};

static const struct auc_partition_limit *limit_of(const struct auc_auction *a, unsigned server);
static bool use_of(const struct auc_market *m, const struct auc_plan *p, const char *partition,
		   struct use *u);
static bool too_much_memory(const struct auc_market *m, const struct auc_plan *p,
			    const struct auc_partition_limit *l, double *mem, double *cpus);
static bool breaks(const struct auc_market *m, const struct auc_plan *p,
		   const struct auc_partition_limit *l, char *why, size_t size);
static bool sold_to(const struct auc_bid *bid, const char *partition);

enum auc_code auc_auction_limit(struct auc_auction *a, const struct auc_partition_limit *list,
				unsigned n, struct auc_err *err)
{
	struct auc_partition_limit *copy = malloc((n + 1) * sizeof(*copy));

	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for limits of %u partitions", n);
	if (n)
		memcpy(copy, list, n * sizeof(*copy));
	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	free(a->limits);
	a->limits = copy;
	a->nlimits = n;
	a->stale = true;
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	return AUC_OK;
}

bool auc_auction_is_paused(const struct auc_auction *a, unsigned server)
{
	const struct auc_partition_limit *l = limit_of(a, server);

	return l && l->paused;
}

bool auc_auction_is_hidden(const struct auc_auction *a, unsigned server)
{
	const struct auc_partition_limit *l = limit_of(a, server);

	return l && l->hidden;
}

const struct auc_partition_limit *auc_auction_broken_limit(const struct auc_auction *a,
							   const struct auc_market *m,
							   const struct auc_plan *p, char *why,
							   size_t size)
{
	for (unsigned i = 0; i < a->nlimits; i++)
		if (breaks(m, p, &a->limits[i], why, size))
			return &a->limits[i];
	return NULL;
}

bool auc_auction_leave(const struct auc_auction *a, struct auc_bid *bid, const char *partition)
{
	char(*left)[AUC_NAME_MAX] = calloc(AUC_BID_PARTITIONS_MAX, sizeof(*left));
	unsigned n = 0;

	for (unsigned i = 0; i < a->conf->npartitions && left && n < AUC_BID_PARTITIONS_MAX; i++)
		if (strcmp(a->conf->partitions[i].name, partition) &&
		    sold_to(bid, a->conf->partitions[i].name))
			strcpy(left[n++], a->conf->partitions[i].name);
	if (n) {
		memcpy(bid->partitions, left, n * sizeof(*left));
		bid->npartitions = n;
		bid->filtered = true;
	}
	free(left);
	return n;
}

/* NULL: SERVER's partition has none. */
static const struct auc_partition_limit *limit_of(const struct auc_auction *a, unsigned server)
{
	const char *partition = auc_market_server_group(a->market, server);

	for (unsigned i = 0; i < a->nlimits; i++)
		if (!strcmp(a->limits[i].partition, partition))
			return &a->limits[i];
	return NULL;
}

/* False: it uses nothing of PARTITION. */
static bool use_of(const struct auc_market *m, const struct auc_plan *p, const char *partition,
		   struct use *u)
{
	memset(u, 0, sizeof(*u));
	for (const struct auc_run *r = p->runs; r < p->runs + p->nruns; r++) {
		unsigned nodes = 0;

		for (unsigned i = 0; i < r->nshares; i++)
			nodes += !strcmp(m->servers[p->shares[r->first_share + i].server].group,
					 partition);
		if (!nodes)
			continue;
		if (!u->nodes)
			u->first = r->from;
		u->last = r->to;
		u->nodes = nodes > u->nodes ? nodes : u->nodes;
	}
	return u->nodes;
}

/* True if a share is more than L allows, with the amounts of the first such. */
static bool too_much_memory(const struct auc_market *m, const struct auc_plan *p,
			    const struct auc_partition_limit *l, double *mem, double *cpus)
{
	int mem_tres = auc_market_find_tres(m, "mem"), cpu = auc_market_find_tres(m, "cpu");

	if (mem_tres < 0 || cpu < 0 || (isinf(l->mem_per_cpu) && isinf(l->mem_per_node)))
		return false;
	for (unsigned i = 0; i < p->nshares; i++) {
		const struct auc_share *s = &p->shares[i];

		if (strcmp(m->servers[s->server].group, l->partition))
			continue;
		*mem = auc_plan_amount(p, m, s->workers, s->ps, (unsigned)mem_tres);
		*cpus = auc_plan_amount(p, m, s->workers, s->ps, (unsigned)cpu);
		if (*mem > l->mem_per_node || *mem > l->mem_per_cpu * *cpus)
			return true;
	}
	return false;
}

static bool breaks(const struct auc_market *m, const struct auc_plan *p,
		   const struct auc_partition_limit *l, char *why, size_t size)
{
	double minutes, mem, cpus;
	struct use u;

	if (!use_of(m, p, l->partition, &u))
		return false;
	/* Slurm's limits are whole minutes. */
	minutes = ceil((double)(u.last - u.first + 1) * m->slot_seconds / 60);
	if (l->paused)
		snprintf(why, size, "partition %s: nothing is sold there now", l->partition);
	else if (minutes * 60 > l->seconds)
		snprintf(why, size,
			 "partition %s: MaxTime is %.15g minute%s, and the best schedule there "
			 "takes %.15g",
			 l->partition, l->seconds / 60, auc_plural(l->seconds / 60), minutes);
	else if (u.nodes > l->nodes)
		snprintf(why, size,
			 "partition %s: MaxNodes=%u, and the best schedule there takes %u",
			 l->partition, l->nodes, u.nodes);
	else if (too_much_memory(m, p, l, &mem, &cpus))
		snprintf(why, size, "partition %s: %.15g MB for %.15g CPUs are more than %s allows",
			 l->partition, mem, cpus,
			 mem > l->mem_per_node ? "MaxMemPerNode" : "MaxMemPerCPU");
	else
		return false;
	return true;
}

static bool sold_to(const struct auc_bid *bid, const char *partition)
{
	for (unsigned i = 0; i < bid->npartitions; i++)
		if (!strcmp(bid->partitions[i], partition))
			return true;
	return !bid->npartitions;
}
