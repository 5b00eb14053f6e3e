/* desc_gang.c - see desc_gang.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/desc_gang.h"
#include "adapter/desc_share.h"
#include "adapter/gres_types.h"
#include "adapter/nodes.h"
#include "base/list.h"
#include "base/num.h"
#include "input/array_tasks.h"
#include "input/bid_gang.h"
#include "input/bid_time.h"

#define NODES_MAX 100000
/* Slurm's number for --exclusive, which its headers do not name. */
#define SHARED_NONE 0

static unsigned counts_of(const job_desc_msg_t *desc, const struct auc_request *q,
			  const struct auc_bid *bid, uint64_t *counts, struct auc_reasons *why);
static unsigned even_counts(const struct auc_request *q, uint64_t least, uint64_t most,
			    uint64_t *counts, struct auc_reasons *why);
static unsigned spread_of(const struct auc_request *q, uint64_t nodes);
static unsigned keep_sizes(const char *sizes, uint64_t *counts, unsigned n,
			   struct auc_reasons *why);
static unsigned keep_one(const uint64_t *counts, struct auc_reasons *why);
static unsigned add_count(uint64_t *counts, unsigned n, uint64_t nodes);
static unsigned table_counts(const job_desc_msg_t *desc, const struct auc_bid_gang *g,
			     uint64_t *counts, struct auc_reasons *why);
static void take_places(const job_desc_msg_t *desc, struct auc_bid_gang *g,
			struct auc_reasons *why);
static bool add_place(struct auc_bid_gang *g, const char *name, const char *option,
		      struct auc_reasons *why);
static void take_times(const job_desc_msg_t *desc, double now, struct auc_bid *bid,
		       struct auc_reasons *why);
static void take_switches(const job_desc_msg_t *desc, struct auc_bid_gang *g,
			  struct auc_reasons *why);
static void take_kinds(const job_desc_msg_t *desc, struct auc_bid_gang *g, struct auc_reasons *why);
static bool fits_tasks(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t nodes,
		       struct auc_reasons *why);
static void add_shapes(const job_desc_msg_t *desc, struct auc_bid_gang *g, uint64_t nodes,
		       struct auc_node_share *share, struct auc_reasons *why);
static bool add_shape(struct auc_bid_gang *g, uint64_t nodes, double seconds,
		      const struct auc_node_share *share, const char *gpu, struct auc_reasons *why);
static bool takes_as(const struct auc_slice *slice, const struct auc_request *q, bool script);
static void set_text(char **field, const char *value);
static unsigned least_cpus(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t tasks,
			   const struct auc_slice *slice);
static bool as_written(const job_desc_msg_t *desc, const struct auc_slice *slice,
		       const struct auc_request *q);
static bool names_types(const struct auc_request *q);
static bool goes_by_node(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t tasks,
			 bool written);
static bool bound_by_tasks(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t tasks);
static void set_changed(char **field, const char *had, const char *value);
static bool bought(const struct auc_node_share *share, const struct auc_request *q,
		   const char *name, double amount, bool script);
static void spell_types(job_desc_msg_t *desc, const char *gres);
static void set_number(job_desc_msg_t *desc, const char *name, unsigned long value);

/* Slurm takes --mem=0 and --mem-per-cpu=0 for all that the node has. */
static bool all_memory(const job_desc_msg_t *desc)
{
	return desc->pn_min_memory != NO_VAL64 && !(desc->pn_min_memory & ~AUC_PER_CPU) &&
	       !(desc->mem_per_tres && *desc->mem_per_tres);
}

bool auc_desc_has_shape(const job_desc_msg_t *desc)
{
	struct auc_request q = AUC_REQUEST_OF(desc);

	return q.tasks > 1 || q.tasks_per_node || q.cpus_per_task || q.tasks_per_gpu ||
	       q.least_cpus || q.memory || q.memory_per_gpu || q.cpus_per_gpu || q.per_job ||
	       q.per_node || q.per_task || AUC_GIVEN32(desc->min_nodes) ||
	       AUC_GIVEN32(desc->time_limit) || desc->shared == SHARED_NONE || all_memory(desc);
}

bool auc_desc_whole(const job_desc_msg_t *desc)
{
	return desc->shared != SHARED_NONE && all_memory(desc);
}

enum auc_code auc_desc_gang(const job_desc_msg_t *desc, double now,
			    const struct auc_node_size *size, const struct auc_gang_reach *reach,
			    struct auc_bid *bid, struct auc_err *err)
{
	struct auc_request q = AUC_REQUEST_OF(desc);
	struct auc_bid_gang *g = &bid->gang;
	uint64_t counts[AUC_SHAPES_MAX];
	struct auc_reasons why = {.len = 0};
	struct auc_node_share share;
	unsigned n;

	/* What sbatch says itself: one on each node, however many. */
	if (q.tasks == AUC_GIVEN32(desc->min_nodes))
		q.tasks = 0;
	q.all_memory = all_memory(desc);
	q.overcommit = auc_desc_overcommits(desc);
	q.size = size;
	q.cpu_step = reach ? reach->cpu_step : 0;
	q.task_step = reach ? reach->task_step : 0;
	g->nshapes = g->ntres = 0;
	take_places(desc, g, &why);
	take_times(desc, now, bid, &why);
	take_switches(desc, g, &why);
	take_kinds(desc, g, &why);
	q.whole = g->whole;
	n = counts_of(desc, &q, bid, counts, &why);
	if (AUC_DESC_SIZES(desc) && n)
		n = keep_sizes(AUC_DESC_SIZES(desc), counts, n, &why);
	if (AUC_GIVEN16(desc->contiguous) && n)
		n = keep_one(counts, &why);
	for (unsigned i = 0; i < n && !why.len; i++)
		if (fits_tasks(desc, &q, counts[i], &why) &&
		    auc_share_of(&q, counts[i], &share, &why))
			add_shapes(desc, g, counts[i], &share, &why);
	if (why.len)
		return auc_err_set(err, AUC_EINVAL, "%s", why.text);
	return AUC_OK;
}

void auc_desc_apply_gang(job_desc_msg_t *desc, const struct auc_slice *slice, const char *receipt)
{
	struct auc_request q = AUC_REQUEST_OF(desc);
	uint64_t tasks = auc_request_tasks(&q, slice->nnodes), least = AUC_GIVEN32(desc->min_nodes);
	char *text, gres[sizeof(slice->gres)];
	bool written;

	/* What sbatch has counted for the least number of nodes. */
	if (q.tasks && least && least != slice->nnodes &&
	    q.tasks <= least * (q.tasks_per_node ? q.tasks_per_node : 1)) {
		set_number(desc, "SLURM_NTASKS", tasks * slice->nnodes);
		set_number(desc, "SLURM_NPROCS", tasks * slice->nnodes);
		desc->num_tasks = (uint32_t)(tasks * slice->nnodes);
	}
	/* Of tasks that do not divide Slurm's variables would count as many on each; of those that
	 * share CPUs each would need one of its own. */
	if (tasks > 1 && (q.tasks_per_node || q.tasks % slice->nnodes == 0) &&
	    !auc_desc_overcommits(desc))
		desc->ntasks_per_node = (uint16_t)tasks;
	desc->min_nodes = desc->max_nodes = slice->nnodes;
	if (desc->shared) {
		desc->pn_min_cpus = (uint16_t)least_cpus(desc, &q, tasks, slice);
		desc->min_cpus = desc->pn_min_cpus * slice->nnodes;
	}
	if (desc->shared && !q.memory && !q.memory_per_gpu)
		desc->pn_min_memory = slice->mem_mb;
	strcpy(gres, slice->gres);
	written = as_written(desc, slice, &q);
	if (written && !names_types(&q))
		auc_gres_strip(gres);
	/* What is asked for all nodes together Slurm would spread as it likes. */
	if (!desc->shared) {
		/* Slurm gives it all of its nodes. */
	} else if (q.per_job || (q.tasks_per_gpu && !q.per_node && !q.per_task)) {
		set_text(&desc->tres_per_node, gres);
		set_text(&desc->tres_per_job, NULL);
	} else if (q.per_node && (text = auc_gres_typed(q.per_node, gres, true))) {
		set_text(&desc->tres_per_node, text);
		free(text);
	}
	/* All of a node needs no type, and Slurm refuses types in one option beside none in
	 * another.
	 */
	if (q.per_task && (text = auc_gres_typed(q.per_task, gres, desc->shared))) {
		set_text(&desc->tres_per_task, text);
		free(text);
	}
	if (q.per_task && desc->shared && goes_by_node(desc, &q, tasks * slice->nnodes, written)) {
		set_text(&desc->tres_per_node, gres);
		set_text(&desc->tres_per_task, NULL);
	}
	spell_types(desc, gres);
	desc->time_limit = slice->minutes;
	auc_desc_warn_time(desc, slice);
	/* It has bought all of its time. */
	desc->time_min = NO_VAL;
	desc->begin_time = slice->begin;
	desc->deadline = 0;
	/* The owner's "scontrol requeue" does not reach job_modify; this refuses it. */
	desc->requeue = 0;
	desc->bitflags &= ~(uint64_t)AUC_EXPEDITED;
	AUC_DESC_FORGET_SIZES(desc);
	set_text(&desc->req_nodes, slice->node);
	set_text(&desc->exc_nodes, NULL);
	set_text(&desc->partition, slice->partition);
	set_text(&desc->admin_comment, receipt);
}

/* By what a node has to have Slurm gives all that was bought of it. */
static unsigned least_cpus(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t tasks,
			   const struct auc_slice *slice)
{
	uint64_t said = tasks * (q->cpus_per_task ? q->cpus_per_task : 1);

	if (said < slice->cpus && said >= q->least_cpus && bound_by_tasks(desc, q, tasks))
		return (unsigned)said;
	return slice->cpus;
}

/* True if the job's record has types of GRES where its options have some: srun's step asks for what
 * is in the record as well as for what its options say, and Slurm refuses GPUs of a type beside
 * GPUs of none. So do the steps in a salloc. */
static bool as_written(const job_desc_msg_t *desc, const struct auc_slice *slice,
		       const struct auc_request *q)
{
	if (desc->script || !desc->shared)
		return false;
	return names_types(q) ? auc_gpus_typed(q->per_job) && auc_gpus_typed(q->per_node) &&
					auc_gpus_typed(q->per_task)
			      : slice->one_gpu_type;
}

static bool names_types(const struct auc_request *q)
{
	return auc_gres_names_type(q->per_job) || auc_gres_names_type(q->per_node) ||
	       auc_gres_names_type(q->per_task);
}

/* True if what the most tasks of a node have is asked for of each node, where there is room for
 * TASKS: of GRES of tasks Slurm would give them as they come, and no more CPUs than all tasks have.
 * The steps of a script see what its owner wrote of tasks then; with the type that was bought
 * beside GPUs without one, or in SLURM_TRES_PER_TASK, they would not begin. */
static bool goes_by_node(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t tasks,
			 bool written)
{
	if (!AUC_TASKS_BOUND_CPUS)
		return false;
	if (q->tasks > 1 && q->tasks != tasks)
		return true;
	if (written)
		return false;
	return q->per_node || q->per_job ||
	       (AUC_STEPS_SPELL_AS_TASKS && (desc->script || auc_desc_is_from(desc, "salloc")));
}

bool auc_desc_is_from(const job_desc_msg_t *desc, const char *name)
{
	const char *line = desc->submit_line && !desc->script ? desc->submit_line : "";
	size_t n = strcspn(line, " "), len = strlen(name);

	return n >= len && !strncmp(line + n - len, name, len) &&
	       (n == len || line[n - len - 1] == '/');
}

/* True if Slurm gives the TASKS of DESC on a node no more CPUs than these have. */
static bool bound_by_tasks(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t tasks)
{
	/* What sbatch says itself is no bound. */
	return AUC_TASKS_BOUND_CPUS && !q->cpus_per_gpu &&
	       (tasks > 1 || q->tasks_per_node || (desc->bitflags & JOB_NTASKS_SET));
}

/* The field becomes VALUE where the record has something else. */
static void set_changed(char **field, const char *had, const char *value)
{
	if (value && strcmp(had ? had : "", value))
		set_text(field, value);
}

void auc_gang_update(const slurm_job_info_t *info, const struct auc_slice *slice,
		     job_desc_msg_t *update)
{
	/* The record says what its user wrote: it is made a description of, and that a gang. */
	struct auc_slice as = *slice;
	job_desc_msg_t desc;

	slurm_init_job_desc_msg(&desc);
	/* Of --nodes=2-8 it is the least. */
	desc.min_nodes = info->num_nodes;
	desc.shared = info->shared;
	desc.num_tasks = info->num_tasks;
	desc.bitflags = info->bitflags & JOB_NTASKS_SET;
	desc.ntasks_per_node = info->ntasks_per_node;
	desc.cpus_per_task = info->cpus_per_task;
	desc.ntasks_per_tres = info->ntasks_per_tres;
	/* Memory that the record hides stays as it is. */
	if (info->pn_min_memory && !auc_memory_is_hidden(info))
		desc.pn_min_memory = info->pn_min_memory;
	set_text(&desc.tres_per_job, info->tres_per_job);
	set_text(&desc.tres_per_node, info->tres_per_node);
	set_text(&desc.tres_per_task, info->tres_per_task);
	set_text(&desc.cpus_per_tres, info->cpus_per_tres);
	set_text(&desc.mem_per_tres, info->mem_per_tres);
	/* The description has no script; that of a batch job has its types always. */
	as.one_gpu_type &= !info->batch_flag;
	auc_desc_apply_gang(&desc, &as, "");
	update->min_nodes = update->max_nodes = desc.min_nodes;
	if (info->num_tasks > 1 && info->num_tasks < NO_VAL)
		update->num_tasks = desc.num_tasks;
	update->pn_min_cpus = desc.pn_min_cpus;
	update->min_cpus = desc.min_cpus;
	update->pn_min_memory = desc.pn_min_memory;
	update->time_limit = desc.time_limit;
	update->requeue = 0;
	/* Those of srun and salloc have no type where their owner gave none and one will do. */
	if (info->batch_flag || auc_gpus_typed(info->tres_per_node) || !slice->one_gpu_type)
		set_changed(&update->tres_per_node, info->tres_per_node, desc.tres_per_node);
	/* It was taken away, and the release did not come to its end. */
	if (!desc.tres_per_node && !auc_task_gres(desc.tres_per_task) && desc.shared)
		set_text(&update->tres_per_node, slice->gres);
	/* "" takes away what it had. */
	if (info->tres_per_job && *info->tres_per_job) {
		AUC_XFREE(update->tres_per_job);
		update->tres_per_job = slurm_xstrdup("");
	}
	/* A script that names none has nodes of one type, which is that of its tasks. */
	if (auc_gpus_typed(info->tres_per_task) || (!info->batch_flag && !slice->one_gpu_type))
		set_changed(&update->tres_per_task, info->tres_per_task, desc.tres_per_task);
	set_text(&update->req_nodes, slice->node);
	set_text(&update->partition, slice->partition);
	AUC_XFREE(desc.tres_per_job);
	AUC_XFREE(desc.tres_per_node);
	AUC_XFREE(desc.tres_per_task);
	AUC_XFREE(desc.cpus_per_tres);
	AUC_XFREE(desc.mem_per_tres);
	AUC_XFREE(desc.req_nodes);
	AUC_XFREE(desc.partition);
	AUC_XFREE(desc.admin_comment);
}

void auc_gang_update_clear(job_desc_msg_t *update)
{
	AUC_XFREE(update->tres_per_node);
	AUC_XFREE(update->tres_per_job);
	AUC_XFREE(update->tres_per_task);
	AUC_XFREE(update->req_nodes);
	AUC_XFREE(update->partition);
}

bool auc_gang_takes(const struct auc_slice *slice, const slurm_job_info_t *info)
{
	struct auc_request q = AUC_REQUEST_OF(info);
	uint64_t per_cpu;

	if (slice->whole)
		return info->shared == SHARED_NONE;
	/* Slurm rounds it up to what was bought (least_cpus()). */
	if (AUC_TASKS_BOUND_CPUS && q.least_cpus < slice->cpus)
		q.least_cpus = slice->cpus;
	if (takes_as(slice, &q, info->batch_flag))
		return true;
	/* DefMemPerGPU is in the record of a job that says --mem, too, which is what counts. */
	if (!q.memory || !q.memory_per_gpu)
		return false;
	q.memory_per_gpu = NULL;
	if (!auc_memory_is_hidden(info))
		return takes_as(slice, &q, info->batch_flag);
	q.memory = auc_requested_memory(info, &per_cpu);
	if (takes_as(slice, &q, info->batch_flag))
		return true;
	q.memory = per_cpu | AUC_PER_CPU;
	return takes_as(slice, &q, info->batch_flag);
}

static bool takes_as(const struct auc_slice *slice, const struct auc_request *q, bool script)
{
	struct auc_node_share share, sold = {.n = 0};
	struct auc_reasons why = {.len = 0};
	struct auc_request as = *q;
	unsigned n = 0;

	/* As in auc_desc_gang(). */
	if (as.tasks == slice->nnodes)
		as.tasks = 0;
	if (!auc_share_of(&as, slice->nnodes, &share, &why) ||
	    !auc_share_add(&sold, slice->gres, 1, false, &why) ||
	    auc_share_amount(&share, "cpu", 3) != (double)slice->cpus ||
	    auc_share_amount(&share, "mem", 3) != (double)slice->mem_mb)
		return false;
	/* --gpus-per-node=0 is none. */
	for (unsigned i = 0; i < share.n; i++)
		n += share.tres[i].value > 0;
	if (n != sold.n + 2)
		return false;
	for (unsigned i = 0; i < sold.n; i++)
		if (!bought(&share, q, sold.tres[i].name, sold.tres[i].value, script))
			return false;
	return true;
}

/* True if AMOUNT of NAME is in SHARE. GPUs of tasks of a job that has stood may have no type, nor
 * may any of a job that is no SCRIPT. */
static bool bought(const struct auc_node_share *share, const struct auc_request *q,
		   const char *name, double amount, bool script)
{
	bool typeless = !auc_gpus_typed(q->per_task) || (!script && !auc_gpus_typed(q->per_node));

	return auc_share_amount(share, name, strlen(name)) == amount ||
	       (typeless && !strncmp(name, "gpu:", 4) &&
		auc_share_amount(share, "gpu", 3) == amount);
}

const char *auc_task_gres(const char *tres_per_task)
{
	if (!tres_per_task || !*tres_per_task ||
	    (!strncmp(tres_per_task, "cpu", 3) && !strchr(tres_per_task, ',')))
		return NULL;
	return tres_per_task;
}

bool auc_same_nodes(const char *a, const char *b)
{
	auc_hostlist_t x, y;
	bool same;
	char *name;

	if (!strcmp(a, b))
		return true;
	x = slurm_hostlist_create(a);
	y = slurm_hostlist_create(b);
	same = x && y && slurm_hostlist_count(x) == slurm_hostlist_count(y);
	while (same && (name = slurm_hostlist_shift(x))) {
		same = slurm_hostlist_find(y, name) >= 0;
		free(name);
	}
	if (x)
		slurm_hostlist_destroy(x);
	if (y)
		slurm_hostlist_destroy(y);
	return same;
}

/* -- how many nodes, and for how long -- */

/* How many nodes it may have, ascending. */
static unsigned counts_of(const job_desc_msg_t *desc, const struct auc_request *q,
			  const struct auc_bid *bid, uint64_t *counts, struct auc_reasons *why)
{
	uint64_t least = AUC_GIVEN32(desc->min_nodes), most = AUC_GIVEN32(desc->max_nodes), nodes;
	const struct auc_bid_gang *g = &bid->gang;

	if (g->nspeedup)
		return table_counts(desc, g, counts, why);
	if (least && (!most || most == least))
		return counts[0] = least, 1;
	if (!least && g->nplaces && !g->except)
		return counts[0] = g->nplaces, 1;
	/* More of them would cost more, and nobody says that it would be done sooner. */
	if (least && q->tasks <= least && !q->per_job)
		return counts[0] = least, 1;
	most = most ? most : NODES_MAX;
	if (q->tasks <= 1 || !q->tasks_per_node)
		return even_counts(q, least ? least : 1, most, counts, why);
	nodes = (q->tasks + q->tasks_per_node - 1) / q->tasks_per_node;
	if (nodes <= most)
		return counts[0] = nodes > least ? nodes : least, 1;
	auc_reasons_add(why,
			"--ntasks=%u with --ntasks-per-node=%u: that is %llu node%s, expected as "
			"many as --nodes allows",
			q->tasks, q->tasks_per_node, (unsigned long long)nodes,
			auc_plural((double)nodes));
	return 0;
}

/* Those from LEAST to MOST on which GPUs of the job are as many on each, and tasks, too, or at
 * least no fewer nodes have room for them; else LEAST, if only tasks do not divide. */
static unsigned even_counts(const struct auc_request *q, uint64_t least, uint64_t most,
			    uint64_t *counts, struct auc_reasons *why)
{
	struct auc_reasons skipped = {.len = 0}, alone = {.len = 0};
	struct auc_node_share share;
	unsigned n = 0;

	if (q->tasks > 1 && q->tasks < most)
		most = q->tasks;
	else if (q->tasks <= 1 && !q->per_job)
		most = least;
	if (q->per_job && most > NODES_MAX / 100)
		most = NODES_MAX / 100;
	/* Where they divide, first: there may be too many of the others. */
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint64_t i = least; i <= most && n < AUC_SHAPES_MAX; i++) {
			if (spread_of(q, i) != pass)
				continue;
			skipped.len = 0;
			if (auc_share_of(q, i, &share, &skipped))
				n = add_count(counts, n, i);
			else if (i == least)
				alone = skipped;
		}
	if (!n && !alone.len)
		counts[n++] = least;
	/* Why it does not fit on the fewest, if it fits nowhere. */
	if (!n && alone.len)
		auc_reasons_add(why, "%s", alone.text);
	return n;
}

/* How the tasks lie on NODES nodes: 0, as many on each; 1, not so, but they need them all; 2, fewer
 * nodes of the same size have room for them. */
static unsigned spread_of(const struct auc_request *q, uint64_t nodes)
{
	uint64_t most = auc_request_tasks(q, nodes);

	if (q->tasks <= 1 || q->tasks_per_node || q->tasks % nodes == 0)
		return 0;
	return (q->tasks + most - 1) / most == nodes ? 1 : 2;
}

/* COUNTS[N], ascending, with NODES: its new number. */
static unsigned add_count(uint64_t *counts, unsigned n, uint64_t nodes)
{
	unsigned i = n;

	for (; i > 0 && counts[i - 1] > nodes; i--)
		counts[i] = counts[i - 1];
	counts[i] = nodes;
	return n + 1;
}

/* Of the N COUNTS those that are among SIZES, such as "1,3,5-9:2". */
static unsigned keep_sizes(const char *sizes, uint64_t *counts, unsigned n, struct auc_reasons *why)
{
	struct auc_array_tasks list;
	struct auc_err err;
	unsigned kept = 0;

	if (auc_array_read(sizes, NODES_MAX, &list, &err)) {
		auc_reasons_add(why, "--nodes=%.64s: expected numbers of nodes, such as 1,3",
				sizes);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < list.n; k++)
			if (list.ids[k] == counts[i])
				counts[kept++] = counts[i];
	free(list.ids);
	if (!kept)
		auc_reasons_add(why,
				"--nodes=%.64s: the job's tasks and GPUs are of %llu node%s, "
				"expected one of these numbers",
				sizes, (unsigned long long)counts[0],
				auc_plural((double)counts[0]));
	return kept;
}

/* Of COUNTS, ascending, one node alone, which is contiguous. */
static unsigned keep_one(const uint64_t *counts, struct auc_reasons *why)
{
	if (counts[0] == 1)
		return 1;
	auc_reasons_add(why,
			"--contiguous: %llu nodes, expected 1, or no --contiguous: the nodes that "
			"are bought need not be neighbours",
			(unsigned long long)counts[0]);
	return 0;
}

/* As the user's table says, within --nodes. */
static unsigned table_counts(const job_desc_msg_t *desc, const struct auc_bid_gang *g,
			     uint64_t *counts, struct auc_reasons *why)
{
	uint64_t least = AUC_GIVEN32(desc->min_nodes), most = AUC_GIVEN32(desc->max_nodes), nodes;
	unsigned n = 0;

	for (unsigned i = 0; i < g->nspeedup; i++) {
		if (auc_parse_count(g->speedup[i].name, 1, NODES_MAX, &nodes, "--speedup", NULL))
			continue;
		if ((!least || nodes >= least) && (!most || nodes <= most))
			counts[n++] = nodes;
		else
			auc_reasons_add(
				why,
				"--speedup: '%llu' nodes, expected %llu to %llu, as --nodes allows",
				(unsigned long long)nodes, (unsigned long long)(least ? least : 1),
				(unsigned long long)(most ? most : NODES_MAX));
	}
	return n;
}

/* False, and why: its tasks have no room on NODES nodes, or Slurm would not give those on one as
 * many CPUs as --mincpus asks for. */
static bool fits_tasks(const job_desc_msg_t *desc, const struct auc_request *q, uint64_t nodes,
		       struct auc_reasons *why)
{
	uint64_t tasks = auc_request_tasks(q, nodes), cpus, least = AUC_GIVEN32(desc->min_nodes);

	/* What sbatch has counted for the least number of nodes follows these. */
	if (q->tasks_per_node && q->tasks > nodes * q->tasks_per_node &&
	    q->tasks > least * q->tasks_per_node) {
		auc_reasons_add(why,
				"--ntasks=%u with --ntasks-per-node=%u on %llu node%s: expected at "
				"most %llu task%s, or --nodes=%llu",
				q->tasks, q->tasks_per_node, (unsigned long long)nodes,
				auc_plural((double)nodes),
				(unsigned long long)(nodes * q->tasks_per_node),
				auc_plural((double)nodes * q->tasks_per_node),
				(unsigned long long)((q->tasks + q->tasks_per_node - 1) /
						     q->tasks_per_node));
		return false;
	}
	cpus = tasks * (q->cpus_per_task ? q->cpus_per_task : 1);
	if (q->whole || q->per_task || q->least_cpus <= cpus || !bound_by_tasks(desc, q, tasks))
		return true;
	auc_reasons_add(why,
			"--mincpus=%u: Slurm gives the tasks on a node no more CPUs than these "
			"have, which is %llu; expected --cpus-per-task=%llu",
			q->least_cpus, (unsigned long long)cpus,
			(unsigned long long)((q->least_cpus + tasks - 1) / tasks));
	return false;
}

/* One shape for NODES nodes, or one for each type of GPU that the user names. */
static void add_shapes(const job_desc_msg_t *desc, struct auc_bid_gang *g, uint64_t nodes,
		       struct auc_node_share *share, struct auc_reasons *why)
{
	double seconds = AUC_GIVEN32(desc->time_limit) * 60.0;
	char gpu[2 * AUC_NAME_MAX];

	for (unsigned i = 0; i < g->nspeedup; i++)
		if ((uint64_t)strtoull(g->speedup[i].name, NULL, 10) == nodes)
			seconds = g->speedup[i].value;
	if (!g->ngpu_time) {
		add_shape(g, nodes, seconds, share, NULL, why);
		return;
	}
	if (!(auc_share_amount(share, "gpu", 3) > 0)) {
		auc_reasons_add(why,
				"--gpu-time: given, expected GPUs of no named type in the job's "
				"options, as in --gpus-per-node=8");
		return;
	}
	for (unsigned i = 0; i < g->ngpu_time; i++) {
		snprintf(gpu, sizeof(gpu), "gpu:%s", g->gpu_time[i].name);
		if (!add_shape(g, nodes, g->gpu_time[i].value, share, gpu, why))
			return;
	}
}

/* GPU: the type that those of no type are to be; NULL: any. */
static bool add_shape(struct auc_bid_gang *g, uint64_t nodes, double seconds,
		      const struct auc_node_share *share, const char *gpu, struct auc_reasons *why)
{
	struct auc_bid_shape *s = &g->shapes[g->nshapes];
	const char *name;
	int k;

	if (g->nshapes == AUC_SHAPES_MAX) {
		auc_reasons_add(why,
				"more than %d shapes, expected fewer numbers of nodes or types",
				AUC_SHAPES_MAX);
		return false;
	}
	memset(s, 0, sizeof(*s));
	s->nodes = nodes;
	s->seconds = seconds;
	for (unsigned i = 0; i < share->n; i++) {
		name = gpu && !strcmp(share->tres[i].name, "gpu") ? gpu : share->tres[i].name;
		k = auc_bid_gang_tres(g, name);
		if (k < 0) {
			auc_reasons_add(why, "more than %d kinds of GRES and GPU",
					AUC_BID_TRES_MAX - 2);
			return false;
		}
		s->amount[k] = share->tres[i].value;
	}
	g->nshapes++;
	return true;
}

static void take_times(const job_desc_msg_t *desc, double now, struct auc_bid *bid,
		       struct auc_reasons *why)
{
	const struct auc_bid_gang *g = &bid->gang;
	double limit = AUC_GIVEN32(desc->time_limit) * 60.0, longest = 0;
	struct auc_err err;

	for (unsigned i = 0; i < g->nspeedup; i++)
		longest = g->speedup[i].value > longest ? g->speedup[i].value : longest;
	for (unsigned i = 0; i < g->ngpu_time; i++)
		longest = g->gpu_time[i].value > longest ? g->gpu_time[i].value : longest;
	if (g->nspeedup && g->ngpu_time)
		auc_reasons_add(why, "--speedup: given with --gpu-time, expected one of them");
	if (desc->time_limit == INFINITE)
		auc_reasons_add(why, "--time: no limit (0 or UNLIMITED), expected how long the job "
				     "runs at most");
	else if (!(limit > 0) && !(longest > 0))
		auc_reasons_add(why, "--time: not given, expected how long the job runs");
	else if (limit > 0 && longest > limit)
		auc_reasons_add(why,
				"--time: %.15g s, expected none, or as long as the longest time of "
				"--speedup or --gpu-time (%.15g s)",
				limit, longest);
	else if (auc_bid_time_max_of(bid, longest > 0 ? longest : limit, &err) != AUC_OK)
		auc_reasons_add(why, "%.300s", err.text);
	bid->gang.begin = (double)desc->begin_time > now ? (double)desc->begin_time : 0;
	if (!desc->deadline)
		return;
	bid->gang.end = (double)desc->deadline;
	if (bid->max_price < 0 && bid->utility.form != AUC_FORM_CONSTANT &&
	    bid->utility.form != AUC_FORM_DEADLINE)
		auc_reasons_add(
			why, "--deadline: given, expected none, as --bid says how the value falls");
}

static bool no_switches(void)
{
	static const char *const flat[] = {"none", "default", "flat"};
	const char *name = slurm_conf.topology_plugin, *slash = name ? strrchr(name, '/') : NULL;

	name = slash ? slash + 1 : name;
	for (size_t i = 0; name && i < sizeof(flat) / sizeof(*flat); i++)
		if (!strcmp(name, flat[i]))
			return true;
	return false;
}

static void take_switches(const job_desc_msg_t *desc, struct auc_bid_gang *g,
			  struct auc_reasons *why)
{
	uint32_t n = AUC_GIVEN32(desc->req_switch);

	/* Slurm itself knows no switches then, and takes the option for fulfilled. */
	g->within_switch = n == 1 && !no_switches();
	if (n > 1)
		auc_reasons_add(why, "--switches=%u: expected 1, or none", n);
}

/* What its nodes are to be, and whether they are to be its own. */
static void take_kinds(const job_desc_msg_t *desc, struct auc_bid_gang *g, struct auc_reasons *why)
{
	struct auc_err err;

	*g->features = '\0';
	if (desc->features && *desc->features &&
	    auc_bid_gang_features(desc->features, g, "--constraint", &err))
		auc_reasons_add(why, "%.200s", err.text);
	g->whole = desc->shared == SHARED_NONE;
}

/* Nodes that it must have, or must not. */
static void take_places(const job_desc_msg_t *desc, struct auc_bid_gang *g, struct auc_reasons *why)
{
	bool only = desc->req_nodes && *desc->req_nodes, good = true;
	const char *text = only ? desc->req_nodes : desc->exc_nodes;
	auc_hostlist_t list;
	char *name;

	g->nplaces = 0;
	g->except = !only;
	if (!text || !*text)
		return;
	list = slurm_hostlist_create(text);
	while (list && (name = slurm_hostlist_shift(list))) {
		good = good && add_place(g, name, only ? "--nodelist" : "--exclude", why);
		free(name);
	}
	if (list)
		slurm_hostlist_destroy(list);
	if (good && only && AUC_GIVEN32(desc->min_nodes) > g->nplaces)
		auc_reasons_add(why,
				"--nodelist: %u node%s, expected as many as --nodes=%u, or more to "
				"choose from",
				g->nplaces, auc_plural(g->nplaces), desc->min_nodes);
}

/* False, and why: NAME is none of a node, or one too many. */
static bool add_place(struct auc_bid_gang *g, const char *name, const char *option,
		      struct auc_reasons *why)
{
	if (strlen(name) >= AUC_NAME_MAX || !auc_name_valid(name)) {
		auc_reasons_add(why,
				"%s: '%.80s' is not the name of a node, expected names such as "
				"node1 or node[1-4]",
				option, name);
		return false;
	}
	if (g->nplaces == AUC_BID_PLACES_MAX) {
		auc_reasons_add(why, "%s: '%s' is one node too many, expected at most %d", option,
				name, AUC_BID_PLACES_MAX);
		return false;
	}
	strcpy(g->places[g->nplaces++], name);
	return true;
}

/* -- the job -- */

/* The job's variables that say types of GPUs, which its steps ask for, have them as GRES has. */
static void spell_types(job_desc_msg_t *desc, const char *gres)
{
	static const char *const names[] = {
		"SLURM_GPUS=", "SLURM_GPUS_PER_NODE=", "SLURM_GPUS_PER_TASK="};
	char asked[2 * AUC_NAME_MAX], variable[3 * AUC_NAME_MAX], *made;

	for (uint32_t i = 0; i < desc->env_size; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			size_t len = strlen(names[k]);
			const char *value = desc->environment[i] + len;

			if (!desc->environment[i] || strncmp(desc->environment[i], names[k], len) ||
			    !strchr(value, ':') || strchr(value, ',') ||
			    strlen(value) >= AUC_NAME_MAX)
				continue;
			snprintf(asked, sizeof(asked), "gres:gpu:%s", value);
			made = auc_gres_typed(asked, gres, true);
			if (!made)
				return;
			snprintf(variable, sizeof(variable), "%s%.*s", names[k], 2 * AUC_NAME_MAX,
				 made + strlen("gres:gpu:"));
			set_text(&desc->environment[i], variable);
			free(made);
		}
}

/* VALUE NULL or "": the field becomes NULL. */
static void set_text(char **field, const char *value)
{
	AUC_XFREE(*field);
	if (value && *value)
		*field = slurm_xstrdup(value);
}

/* Variable NAME of the job, if it has it. */
static void set_number(job_desc_msg_t *desc, const char *name, unsigned long value)
{
	size_t len = strlen(name);
	char text[64];

	for (uint32_t i = 0; i < desc->env_size; i++) {
		if (!desc->environment[i] || strncmp(desc->environment[i], name, len) ||
		    desc->environment[i][len] != '=')
			continue;
		snprintf(text, sizeof(text), "%s=%lu", name, value);
		set_text(&desc->environment[i], text);
	}
}
