/* nodes.h - Slurm's nodes as servers of the auction. */
#ifndef AUC_NODES_H
#define AUC_NODES_H

#include <stdbool.h>

#include "auction/auction.h"
#include "input/conf.h"
#include "base/err.h"
#include "adapter/slurm_compat.h"

/*
 * The nodes of CONF's partitions, in Slurm's order, each once (a node of two of them belongs to the
 * first in CONF). Capacity is "cpu" (without specialised ones, at most MaxCPUsPerNode), "mem" in MB
 * (without what the node keeps for itself), and each GRES by its name with its type ("gpu:v100"),
 * but GPUs that are shared (shard, mps), which are sold by the share. Features are the active ones,
 * as far as they fit, else with a sentence as below. Nodes that take no new work are down. *SERVERS
 * is malloc'd; a node that cannot be described is left out with a sentence in ERR, AUC_EINVAL, and
 * the rest is there. AUC_ENOMEM: nothing is.
 */
enum auc_code auc_nodes_servers(const struct auc_conf *conf, const node_info_msg_t *nodes,
				const partition_info_msg_t *partitions,
				struct auc_server_spec **servers, unsigned *nservers,
				struct auc_err *err);

/* True if slurmctld has no node NAME, for sale or not. Only under its lock of its nodes, as in
 * job_submit. */
bool auc_nodes_lack(const char *name);

/* What is the same of all nodes, or the bound of it. */
struct auc_node_bounds {
	unsigned most_threads; /* CPUs of a core, where they are most; 0: there are no nodes */
	uint64_t least_tmp;    /* MB of TmpDisk that each node for sale has */
};

/* Of NODES; those for sale are in CONF's partitions. */
struct auc_node_bounds auc_nodes_bounds(const struct auc_conf *conf, const node_info_msg_t *nodes,
					const partition_info_msg_t *partitions);

/*
 * Writes their leaf switch or block to SERVERS[N], from TOPOLOGY, Slurm's lines of "SwitchName=...
 * Level=0 Nodes=..." or "BlockName=... Nodes=..."; where there is none of these, all are on one, as
 * Slurm sees it then. AUC_ENOMEM.
 */
enum auc_code auc_nodes_set_switches(struct auc_server_spec *servers, unsigned n,
				     const char *topology, struct auc_err *err);

/* Those of CONF's partitions that Slurm does not have, as a sentence; "": it has all. */
void auc_nodes_missing(const struct auc_conf *conf, const partition_info_msg_t *partitions,
		       char *buf, size_t size);
/* Adds to the sentence in BUF the types of CONF that none of SERVERS can hold, and those that take
 * parts of cores where Slurm hands out whole ones; nothing if there are no servers or none is such.
 */
void auc_nodes_unfit(const struct auc_conf *conf, const struct auc_server_spec *servers,
		     unsigned nservers, char *buf, size_t size);

/*
 * Adds the counts in Slurm's text of a node's GRES ("gpu:v100:4(S:0-1),gpu:2,shard:8") to
 * TRES[*NTRES], at most AUC_TRES_MAX. AUC_EINVAL: not such a text; AUC_EFULL: more names than that.
 */
enum auc_code auc_nodes_parse_gres(const char *text, struct auc_named *tres, unsigned *ntres,
				   struct auc_err *err);

#endif
