/*
 * agent_nodes.c - what nodes and partitions slurmctld has, for the auction: which are for sale,
 * which are up, who may use them. Loaded when slurmctld says that something has changed, and now
 * and then.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "adapter/nodes.h"
#include "adapter/site.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/fence.h"
#include "sched/auction/power.h"
#include "sched/auction/slurm_rules.h"
#include "sched/auction/start/settling.h"

#define NODES_EVERY 2.0  /* seconds between looks at the nodes, */
#define NODES_SHARE 100  /* or so many times what a look takes, */
#define NODES_MAX   10.0 /* but so many at most, and so many where slurmctld says nothing new */

static bool nodes_moved(const struct auc_agent *a);
static bool said_new(const struct auc_agent *a, enum auc_rpc_stamp what);
static bool load_nodes(struct auc_agent *a, double now, bool seldom, node_info_msg_t **nodes);
static void load_topology(struct auc_agent *a);
static bool take_servers(struct auc_agent *a, struct auc_server_spec *servers, unsigned n,
			 double now, bool force);
static void list_up(struct auc_agent *a);
static int by_name(const void *a, const void *b);
static void see_partitions(struct auc_agent *a, const node_info_msg_t *nodes);
static void see_missing(struct auc_agent *a, const struct auc_server_spec *servers, unsigned n);
static void miss_nodes(struct auc_agent *a, const struct auc_err *err);

/* At once if partitions have changed, which say who may have what; now and then whatever slurmctld
 * says; else if it says that something has changed. */
bool auc_agent_nodes_due(const struct auc_agent *a, double now)
{
	if (said_new(a, AUC_STAMP_PARTITIONS))
		return true;
	return now >= a->next_nodes &&
	       (a->next_nodes == 0 || now >= a->latest_nodes || nodes_moved(a));
}

/* True if slurmctld says that it knows more of nodes than we do. */
static bool nodes_moved(const struct auc_agent *a)
{
	for (unsigned i = 0; i < AUC_RPC_NSTAMPS; i++)
		if (i != AUC_STAMP_JOBS && said_new(a, i))
			return true;
	return false;
}

static bool said_new(const struct auc_agent *a, enum auc_rpc_stamp what)
{
	return auc_stamp_moved(&a->node_stamps[what], auc_rpc_changed(what));
}

bool auc_agent_refresh_nodes(struct auc_agent *a, double now, bool force)
{
	bool seldom = force || !a->partitions || now >= a->next_seldom ||
		      said_new(a, AUC_STAMP_PARTITIONS) || said_new(a, AUC_STAMP_RESERVATIONS);
	struct auc_stamp stamps[AUC_RPC_NSTAMPS];
	const partition_info_msg_t *partitions;
	struct auc_server_spec *servers;
	node_info_msg_t *nodes;
	struct auc_err err;
	double began = auc_site_now(), took, every = auc_settling_pace(a, NODES_EVERY);
	enum auc_code code;
	bool known;
	unsigned n;

	a->next_nodes = now + every;
	a->latest_nodes = a->next_nodes; /* if this fails */
	for (unsigned i = 0; i < AUC_RPC_NSTAMPS; i++)
		stamps[i] = auc_stamp_of(auc_rpc_changed(i), now);
	if (!a->auction)
		return false;
	if (!load_nodes(a, now, seldom, &nodes))
		return false;
	partitions = a->partitions;
	took = auc_site_now() - began;
	if (took * NODES_SHARE > every)
		a->next_nodes =
			now + (took * NODES_SHARE < NODES_MAX ? took * NODES_SHARE : NODES_MAX);
	if (seldom) {
		see_partitions(a, nodes);
		auc_slurm_rules_look(a, stamps[AUC_STAMP_PARTITIONS].at, began);
	}
	auc_site_set_node_bounds(
		auc_nodes_bounds(auc_auction_conf(a->auction), nodes, partitions));
	code = auc_nodes_servers(auc_auction_conf(a->auction), nodes, partitions, &servers, &n,
				 &err);
	if (code)
		miss_nodes(a, &err);
	if (code != AUC_ENOMEM && a->topology &&
	    auc_nodes_set_switches(servers, n, a->topology, &err))
		miss_nodes(a, &err);
	see_missing(a, servers, code == AUC_ENOMEM ? 0 : n);
	known = code != AUC_ENOMEM && take_servers(a, servers, n, now, force);
	if (known) {
		a->latest_nodes = every < NODES_EVERY ? a->next_nodes : now + NODES_MAX;
		memcpy(a->node_stamps, stamps, sizeof(stamps));
		auc_settling_look(a, nodes);
		auc_fence_look(a, nodes, seldom);
		auc_power_look(a, nodes);
	}
	slurm_free_node_info_msg(nodes);
	return known;
}

/* SELDOM: the partitions, too, and the reservations are to be next. Each start and end of a job is
 * a change of nodes, hardly any is one of these. */
static bool load_nodes(struct auc_agent *a, double now, bool seldom, node_info_msg_t **nodes)
{
	enum auc_code code = AUC_OK;
	struct auc_err err;

	if (seldom) {
		slurm_free_partition_info_msg(a->partitions);
		a->partitions = NULL;
		code = auc_rpc_load_partitions(&a->partitions, &err);
		load_topology(a);
		a->next_seldom = now + NODES_MAX;
	}
	if (!code)
		code = auc_rpc_load_nodes(nodes, &err);
	if (!code)
		return true;
	a->next_seldom = 0;
	miss_nodes(a, &err);
	return false;
}

/* What is not known now stays as it was. */
static void load_topology(struct auc_agent *a)
{
	struct auc_err err;
	char *text;

	if (auc_rpc_load_topology(&text, &err)) {
		auc_agent_complain(a, AUC_ERROR_NODES, &err);
		return;
	}
	free(a->topology);
	a->topology = text;
}

/* Owns SERVERS. True if the auction has them. */
static bool take_servers(struct auc_agent *a, struct auc_server_spec *servers, unsigned n,
			 double now, bool force)
{
	bool same = a->servers && n == a->nservers &&
		    !memcmp(servers, a->servers, n * sizeof(*servers));
	enum auc_code code;
	struct auc_err err;

	if (!force && same) {
		free(servers);
		return true;
	}
	free(a->servers);
	a->servers = servers;
	a->nservers = n;
	list_up(a);
	a->changed = true;
	code = auc_auction_set_servers(a->auction, servers, n, now, &err);
	if (code)
		miss_nodes(a, &err);
	else if (!same)
		slurm_info("sched/auction: %u node%s for sale", n, n == 1 ? " is" : "s are");
	return code == AUC_OK || code == AUC_EFULL;
}

static void list_up(struct auc_agent *a)
{
	free(a->up);
	a->up = calloc(a->nservers + 1, sizeof(*a->up));
	a->nup = 0;
	a->nodes++;
	for (unsigned i = 0; i < a->nservers && a->up; i++)
		if (!a->servers[i].down)
			a->up[a->nup++] = a->servers[i].name;
	if (a->up)
		qsort(a->up, a->nup, sizeof(*a->up), by_name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Tells job_submit what partitions there are. */
static void see_partitions(struct auc_agent *a, const node_info_msg_t *nodes)
{
	struct auc_partitions partitions;
	struct auc_err err;

	if (auc_partitions_see(nodes, a->partitions, &partitions, &err))
		auc_agent_complain(a, AUC_ERROR_NODES, &err);
	else
		auc_site_set_partitions(&partitions);
}

/* Nothing of a partition that Slurm does not have is for sale, and nobody can buy a type that fits
 * on none of SERVERS: maybe one with a typing error. */
static void see_missing(struct auc_agent *a, const struct auc_server_spec *servers, unsigned n)
{
	const struct auc_conf *conf = auc_auction_conf(a->auction);
	char missing[sizeof(a->missing)];

	auc_nodes_missing(conf, a->partitions, missing, sizeof(missing));
	auc_nodes_unfit(conf, servers, n, missing, sizeof(missing));
	if (!strcmp(missing, a->missing))
		return;
	memcpy(a->missing, missing, sizeof(missing));
	a->changed = true;
	if (*missing)
		slurm_error("sched/auction: auction.conf: %s", missing);
}

static void miss_nodes(struct auc_agent *a, const struct auc_err *err)
{
	a->unknown = *err;
	auc_agent_complain(a, AUC_ERROR_NODES, err);
}

void auc_agent_see_nodes(struct auc_agent *a, struct auc_task *t, double now)
{
	if (!a->nodes_fresh && nodes_moved(a))
		auc_agent_refresh_nodes(a, now, false);
	a->nodes_fresh = true;
	auc_agent_mark_down(a, t, now);
}

void auc_agent_see_partitions(struct auc_agent *a, double now)
{
	node_info_msg_t *nodes;

	if (!load_nodes(a, now, true, &nodes))
		return;
	see_partitions(a, nodes);
	slurm_free_node_info_msg(nodes);
}

void auc_agent_forget_nodes(struct auc_agent *a)
{
	slurm_free_partition_info_msg(a->partitions);
	free(a->topology);
	free(a->servers);
	free(a->up);
	a->partitions = NULL;
	a->topology = NULL;
	a->servers = NULL;
	a->up = NULL;
	a->nservers = a->nup = 0;
}
