/*
 * layout.h - which tasks run where: one step for each node and role, made from a receipt; and the
 * srun command of a step. Pure: no Slurm, no I/O.
 */
#ifndef SLAUNCH_LAYOUT_H
#define SLAUNCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ledger/receipt.h"

#define LAYOUT_TASKS_MAX                                                                           \
	4096 /* workers and PSs of one group: keeps every list in one environment variable */

enum role { ROLE_WORKER, ROLE_PS, ROLE_SCHEDULER };
#define ROLES 3

/* "worker", "ps", "scheduler"; and back (false: none of them). */
const char *role_name(enum role role);
bool role_parse(const char *name, enum role *role);

/* What one task of a role gets, in Slurm's terms. */
struct layout_share {
	unsigned cpus;  /* 0: not said */
	double mem_mb;  /* 0: not said */
	unsigned gpus;  /* of whatever type: the allocation has no others */
	unsigned ngres; /* other generic resources: "nic:1" is {"nic", 1} */
	struct auc_named gres[AUC_TRES_MAX];
};

/* The tasks of one role on one node. */
struct layout_step {
	char node[AUC_NAME_MAX];
	uint32_t job_id; /* the lead, or the member on that node; 0: not known yet */
	enum role role;
	unsigned ntasks, first_rank;
};

struct layout {
	uint32_t lead;
	char lead_node[AUC_NAME_MAX];
	char sale[AUC_SALE_ID_LEN];
	char worker_type[AUC_NAME_MAX], ps_type[AUC_NAME_MAX];
	double slot_seconds;
	double begin, end; /* Unix time of the slots with this layout; end 0: open */
	unsigned nworkers, nps;
	struct layout_share share[ROLES];
	unsigned nsteps;
	char *chunks; /* "edge1=0,2;edge2=1": where each chunk is trained; NULL: the plan does not
		       * say
		       */
	unsigned nmoves;           /* of chunks, in the whole plan */
	struct layout_step *steps; /* the PSs first; the lead's node first within a role */
};

/*
 * Makes the layout of the run of slots that is current at Unix time NOW (the next one if none is: a
 * clock may be a little late), for the lead job LEAD on LEAD_NODE. AUC_EINVAL: the receipt is no
 * plan, or asks for what no step can have; AUC_ESTATE: all its slots are over, or the lead's node
 * is not in the run. Free with layout_clear().
 */
enum auc_code layout_make(struct layout *l, const struct auc_receipt *r, uint32_t lead,
			  const char *lead_node, double now, struct auc_err *err);
/* The same for run number RUN of the receipt. */
enum auc_code layout_make_run(struct layout *l, const struct auc_receipt *r, unsigned run,
			      uint32_t lead, const char *lead_node, struct auc_err *err);
/* W workers and P PSs on this machine, all on node NODE. */
enum auc_code layout_local(struct layout *l, unsigned workers, unsigned ps, const char *node,
			   struct auc_err *err);
void layout_clear(struct layout *l);
enum auc_code layout_copy(struct layout *to, const struct layout *from, struct auc_err *err);
/* Tasks of ROLE on NODE. */
unsigned layout_count(const struct layout *l, const char *node, enum role role);
/* True if both have as many tasks of ROLE (ROLES: of each) on every node; whose jobs they are does
 * not matter. */
bool layout_same(const struct layout *a, const struct layout *b, enum role role);
/* True if every step has its job; else *NODE is the first that has none. */
bool layout_complete(const struct layout *l, const char **node);
/* Gives the job to all steps on NODE. */
void layout_set_job(struct layout *l, const char *node, uint32_t job_id);

/*
 * The command line of a step: srun with its options, then AGENT[] (NULL-terminated) as they are.
 * NULL-terminated array, one free() per string and one for the array: layout_argv_free(). NULL: no
 * memory.
 */
char **layout_srun(const struct layout *l, const struct layout_step *s, char *const agent[]);
void layout_argv_free(char **argv);

#endif
