/*
 * desc_share.h - what each node gives a gang: Slurm's options of a job, or its record, as amounts
 * of TRES. For desc_gang.c.
 */
#ifndef AUC_DESC_SHARE_H
#define AUC_DESC_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "adapter/desc_gang.h"
#include "adapter/slurm_compat.h"
#include "auction/auction.h"

#define AUC_PER_CPU     UINT64_C(0x8000000000000000) /* Slurm's bit in pn_min_memory */
#define AUC_REASONS_MAX 400

/* What descriptions and records of jobs have in common. 0, or NULL: not given. */
struct auc_request {
	uint32_t tasks;
	unsigned tasks_per_node, cpus_per_task, tasks_per_gpu, least_cpus;
	uint64_t memory; /* MB of a node, or with AUC_PER_CPU of a CPU */
	bool whole;      /* all that its nodes have: what it says is the least of it */
	const char *per_job, *per_node, *per_task, *cpus_per_gpu, *memory_per_gpu;
	/* Of a description only: all memory of each node (--mem=0); --overcommit, with which some
	 * releases need CPUs for one task of each node, or for --ntasks-per-node, however many
	 * there are. */
	bool all_memory, overcommit;
	const struct auc_node_size *size; /* NULL: not known yet */
	/* CPUs that a node, and each task, has a multiple of. 0: any number. */
	unsigned cpu_step, task_step;
};

/* What one node gives. */
struct auc_node_share {
	unsigned n;
	struct auc_named tres[AUC_TRES_MAX];
};

/* Sentences, joined by semicolons; LEN 0: none yet. */
struct auc_reasons {
	char text[AUC_REASONS_MAX];
	size_t len;
};

#define AUC_GIVEN16(x) ((x) >= NO_VAL16 ? 0 : (x))
#define AUC_GIVEN32(x) ((x) >= NO_VAL ? 0 : (x))
/* Initializer of a struct auc_request, of a job_desc_msg_t or a slurm_job_info_t. */
#define AUC_REQUEST_OF(from)                                                                       \
	{                                                                                          \
		.tasks = AUC_GIVEN32((from)->num_tasks),                                           \
		.tasks_per_node = AUC_GIVEN16((from)->ntasks_per_node),                            \
		.cpus_per_task = AUC_GIVEN16((from)->cpus_per_task),                               \
		.tasks_per_gpu = AUC_GIVEN16((from)->ntasks_per_tres),                             \
		.least_cpus = AUC_GIVEN16((from)->pn_min_cpus),                                    \
		.memory = (from)->pn_min_memory == NO_VAL64 ? 0 : (from)->pn_min_memory,           \
		.per_job = (from)->tres_per_job, .per_node = (from)->tres_per_node,                \
		.per_task = auc_task_gres((from)->tres_per_task),                                  \
		.cpus_per_gpu = (from)->cpus_per_tres, .memory_per_gpu = (from)->mem_per_tres,     \
	}

/* What each of NODES nodes gives, into SHARE. False, with why in WHY: Slurm's options do not say it
 * of each alike. */
bool auc_share_of(const struct auc_request *q, uint64_t nodes, struct auc_node_share *share,
		  struct auc_reasons *why);
/* The GRES in TEXT ("gres:gpu:a100:2,gres/shard=4"; NULL: none), DIVIDED, into SHARE; of those that
 * are named more than once the last counts, as in Slurm. UP: to the next whole number. False, with
 * why: no such text, or, not UP, no whole number. */
bool auc_share_add(struct auc_node_share *share, const char *text, double divided, bool up,
		   struct auc_reasons *why);
/* Of NAME; of a name of LEN bytes with all of its types. LEN 0: as it is. */
double auc_share_amount(const struct auc_node_share *share, const char *name, size_t len);
/* Tasks on each of NODES nodes; the most on any, if they do not divide. */
uint64_t auc_request_tasks(const struct auc_request *q, uint64_t nodes);
/* True if pn_min_memory of INFO, a loaded record, need not be what its job asks for. */
bool auc_memory_is_hidden(const slurm_job_info_t *info);
/* What the job of INFO, a loaded record, asks for by Slurm's own account of it, in MB: of each
 * node, and in *PER_CPU of each CPU. 0: it says nothing. */
uint64_t auc_requested_memory(const slurm_job_info_t *info, uint64_t *per_cpu);
void auc_reasons_add(struct auc_reasons *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
