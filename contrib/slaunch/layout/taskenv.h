/*
 * taskenv.h - the environment in which a task finds its role: our own variables, and those that
 * MXNet and BytePS (DMLC_*), TensorFlow (TF_CONFIG), PyTorch (MASTER_ADDR, RANK, ...), and JAX and
 * Lightning (SLURM_*) read; and none of the GPUs that it was not given. Listed in slaunch(1).
 */
#ifndef SLAUNCH_TASKENV_H
#define SLAUNCH_TASKENV_H

#include <stdbool.h>

#include "base/err.h"
#include "slaunch/layout/layout.h"

struct json_object;

#define TASKENV_HOST_MAX 64         /* a numeric address */
#define TASKENV_ID_MAX   1000000000 /* tasks of one role in the life of a launcher */

/* One task as all others see it. */
struct peer {
	enum role role;
	unsigned rank; /* 0 to n - 1 among the tasks of its role; may change when others come and go
			*/
	char node[AUC_NAME_MAX];
	char host[TASKENV_HOST_MAX];
	unsigned port;
	unsigned id; /* its name for as long as it lives; never given twice */
};

/*
 * Sets the variables for SELF, one of PEERS[0..N-1], in this process's environment, and unsets
 * those that only other roles have. What does not depend on the task (AUCTION_WORKER_TYPE, ...) the
 * launcher has set before. AUC_ENOMEM.
 */
enum auc_code taskenv_set(const struct peer *self, const struct peer *peers, unsigned n,
			  struct auc_err *err);

/* The list of peers as it goes over the wire, [[role, rank, node, host, port, id], ...] (new
 * reference; NULL: no memory), and back. */
struct json_object *taskenv_peers_json(const struct peer *peers, unsigned n);
/* *PEERS is malloc'd. AUC_EINVAL, AUC_ENOMEM. */
enum auc_code taskenv_peers_parse(struct json_object *list, struct peer **peers, unsigned *n,
				  struct auc_err *err);

#endif
