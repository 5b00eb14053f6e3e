/* desc_share.c - see desc_share.h. */
#include "config.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/desc_share.h"
#include "adapter/nodes.h"
#include "base/num.h"

#define LIST_MAX 4096 /* bytes of a TRES text */

static bool add_per_node(const struct auc_request *q, uint64_t nodes, struct auc_node_share *share,
			 struct auc_reasons *why);
static bool tasks_on_node(const struct auc_request *q, uint64_t nodes,
			  const struct auc_node_share *share, const struct auc_node_share *task,
			  uint64_t *tasks, struct auc_reasons *why);
static void add_per_task(const struct auc_node_share *task, uint64_t tasks,
			 struct auc_node_share *share);
static bool add_task_gpus(const struct auc_request *q, uint64_t tasks, struct auc_node_share *share,
			  struct auc_reasons *why);
static double cpus_of(const struct auc_request *q, const struct auc_node_share *share,
		      uint64_t tasks, double gpus);
static uint64_t stepped(uint64_t n, unsigned step);
static bool add_item(struct auc_node_share *share, char *item, double divided, bool up,
		     struct auc_reasons *why);
static double size_of(const struct auc_node_size *size, const char *tres);
static void set_amount(struct auc_node_share *share, const char *name, double amount);
static double number_of(const char *text);
static double requested(const char *tres, const char *key);

bool auc_share_of(const struct auc_request *q, uint64_t nodes, struct auc_node_share *share,
		  struct auc_reasons *why)
{
	struct auc_node_share task = {.n = 0};
	uint64_t per_cpu = slurm_conf.def_mem_per_cpu, tasks;
	double cpus, gpus, mem = 0;

	share->n = 0;
	if (!auc_share_add(share, q->per_job, (double)nodes, q->whole, why) ||
	    !add_per_node(q, nodes, share, why) ||
	    !auc_share_add(&task, q->per_task, 1, false, why) ||
	    !tasks_on_node(q, nodes, share, &task, &tasks, why))
		return false;
	add_per_task(&task, tasks, share);
	/* Slurm would decide which node has fewer GPUs. */
	if (q->tasks_per_gpu && q->tasks > 1 && q->tasks != tasks * nodes && !q->tasks_per_node) {
		auc_reasons_add(
			why,
			"--ntasks-per-gpu=%u: %u tasks on %llu node%s, expected as many on each "
			"(--nodes or --ntasks-per-node)",
			q->tasks_per_gpu, q->tasks, (unsigned long long)nodes,
			auc_plural((double)nodes));
		return false;
	}
	if (q->tasks_per_gpu && !add_task_gpus(q, tasks, share, why))
		return false;
	gpus = auc_share_amount(share, "gpu", 3);
	if (q->tasks_per_gpu && q->tasks <= 1 && !q->tasks_per_node)
		tasks = (uint64_t)(gpus * q->tasks_per_gpu);
	cpus = cpus_of(q, share, tasks, gpus);
	if (q->all_memory)
		mem = q->size ? size_of(q->size, "mem") : 1;
	/* The record of such a job says what the default would be, too. */
	else if (q->memory_per_gpu)
		mem = gpus * number_of(q->memory_per_gpu);
	else if (q->memory)
		mem = (q->memory & AUC_PER_CPU) ? (double)(q->memory & ~AUC_PER_CPU) * cpus
						: (double)q->memory;
	else if (per_cpu && per_cpu != NO_VAL64)
		mem = (per_cpu & AUC_PER_CPU) ? (double)(per_cpu & ~AUC_PER_CPU) * cpus
					      : (double)per_cpu;
	if (!(mem >= 1) && !q->whole) {
		auc_reasons_add(why, "--mem: not given, expected how much memory of each node");
		return false;
	}
	set_amount(share, "cpu", cpus);
	set_amount(share, "mem", mem);
	return true;
}

/* What is asked for of each node. False, and why: of the job it is another number. */
static bool add_per_node(const struct auc_request *q, uint64_t nodes, struct auc_node_share *share,
			 struct auc_reasons *why)
{
	struct auc_node_share node = {.n = 0};

	if (!auc_share_add(&node, q->per_node, 1, false, why))
		return false;
	for (unsigned i = 0; i < node.n; i++) {
		const struct auc_named *t = &node.tres[i];
		double had = auc_share_amount(share, t->name, 0);

		if (had > 0 && had != t->value) {
			auc_reasons_add(
				why,
				"%s: %.15g on %llu node%s, and %.15g on each, expected as many",
				t->name, had * (double)nodes, (unsigned long long)nodes,
				auc_plural((double)nodes), t->value);
			return false;
		}
		set_amount(share, t->name, t->value);
	}
	return true;
}

/* How many tasks a node has: where GRES are given of each TASK and of the node, too (SHARE), these
 * say it. False, and why: other options say otherwise. */
static bool tasks_on_node(const struct auc_request *q, uint64_t nodes,
			  const struct auc_node_share *share, const struct auc_node_share *task,
			  uint64_t *tasks, struct auc_reasons *why)
{
	bool said = q->tasks_per_node || q->tasks > 1;

	*tasks = auc_request_tasks(q, nodes);
	for (unsigned i = 0; i < task->n; i++) {
		const struct auc_named *t = &task->tres[i];
		double all = auc_share_amount(share, t->name, 0), number;

		if (!(all > 0) || !(t->value > 0))
			continue;
		number = (double)(uint64_t)(all / t->value);
		if (number * t->value != all) {
			auc_reasons_add(why,
					"%s: %.15g of a node, expected a multiple of %.15g, as "
					"each task has",
					t->name, all, t->value);
			return false;
		}
		if (said && number != (double)*tasks) {
			auc_reasons_add(why,
					"%s: %llu task%s on a node with %.15g of each, expected "
					"%.15g of each node",
					t->name, (unsigned long long)*tasks,
					auc_plural((double)*tasks), t->value, all);
			return false;
		}
		*tasks = (uint64_t)number;
	}
	return true;
}

/* What each of TASKS tasks takes, where the node's is not known yet. */
static void add_per_task(const struct auc_node_share *task, uint64_t tasks,
			 struct auc_node_share *share)
{
	for (unsigned i = 0; i < task->n; i++)
		if (!(auc_share_amount(share, task->tres[i].name, 0) > 0))
			set_amount(share, task->tres[i].name, task->tres[i].value * (double)tasks);
}

/* As Slurm will give them: whole cores or sockets. */
static double cpus_of(const struct auc_request *q, const struct auc_node_share *share,
		      uint64_t tasks, double gpus)
{
	/* tres_per_task may say it, too, in newer releases. */
	double cpus = auc_share_amount(share, "cpu", 3);

	if (!(cpus > 0)) {
		if (q->overcommit && !q->tasks_per_node && !AUC_OVERCOMMIT_TAKES_CPUS)
			tasks = 1;
		cpus = (double)tasks *
		       (double)stepped(q->cpus_per_task ? q->cpus_per_task : 1, q->task_step);
	}
	if (q->cpus_per_gpu && gpus * number_of(q->cpus_per_gpu) > cpus)
		cpus = gpus * number_of(q->cpus_per_gpu);
	cpus = cpus < q->least_cpus ? q->least_cpus : cpus;
	return (double)stepped((uint64_t)cpus, q->cpu_step);
}

/* N, up to a multiple of STEP. */
static uint64_t stepped(uint64_t n, unsigned step)
{
	return step > 1 ? (n + step - 1) / step * step : n;
}

/* Without GPUs of their own, --ntasks-per-gpu says how many TASKS on a node need. False, and why:
 * it does not divide. */
static bool add_task_gpus(const struct auc_request *q, uint64_t tasks, struct auc_node_share *share,
			  struct auc_reasons *why)
{
	if (q->per_node || q->per_job || q->per_task)
		return true;
	if (tasks % q->tasks_per_gpu) {
		auc_reasons_add(
			why,
			"--ntasks-per-gpu=%u: %llu task%s on a node, expected a multiple of it",
			q->tasks_per_gpu, (unsigned long long)tasks, auc_plural((double)tasks));
		return false;
	}
	set_amount(share, "gpu", (double)(tasks / q->tasks_per_gpu));
	return true;
}

static double size_of(const struct auc_node_size *size, const char *tres)
{
	for (unsigned i = 0; i < size->n; i++)
		if (!strcmp(size->tres[i].name, tres))
			return size->tres[i].value;
	return 0;
}

uint64_t auc_request_tasks(const struct auc_request *q, uint64_t nodes)
{
	if (q->tasks_per_node)
		return q->tasks_per_node;
	return q->tasks > nodes ? (q->tasks + nodes - 1) / nodes : 1;
}

bool auc_share_add(struct auc_node_share *share, const char *text, double divided, bool up,
		   struct auc_reasons *why)
{
	char item[LIST_MAX];

	for (const char *p = text ? text : ""; *p; p += *p != '\0') {
		size_t len;

		if (!strncmp(p, "gres:", 5) || !strncmp(p, "gres/", 5))
			p += 5;
		len = strcspn(p, ",;");
		if (len >= sizeof(item)) {
			auc_reasons_add(why, "GRES: '%.40s...' is too long", p);
			return false;
		}
		memcpy(item, p, len);
		item[len] = '\0';
		if (!add_item(share, item, divided, up, why))
			return false;
		p += len;
	}
	return true;
}

/* ITEM: "gpu:a100:2" or "gpu:a100=2", in place of what was said of it before. */
static bool add_item(struct auc_node_share *share, char *item, double divided, bool up,
		     struct auc_reasons *why)
{
	struct auc_named list[AUC_TRES_MAX];
	struct auc_err err;
	unsigned n = 0;
	double amount;

	for (char *p = item; *p; p++)
		*p = *p == '=' ? ':' : *p;
	if (auc_nodes_parse_gres(item, list, &n, &err)) {
		auc_reasons_add(why, "%.200s", err.text);
		return false;
	}
	if (!n || !strcmp(list[0].name, "none"))
		return true;
	amount = list[0].value / divided;
	if (up)
		amount = (double)auc_ceil(amount);
	if (amount != (double)(int64_t)amount) {
		auc_reasons_add(why,
				"%s: %.15g on %.15g node%s, expected as many of each node, "
				"as in --gpus-per-node=%lld",
				list[0].name, list[0].value, divided, auc_plural(divided),
				(long long)auc_ceil(amount));
		return false;
	}
	set_amount(share, list[0].name, amount);
	return true;
}

double auc_share_amount(const struct auc_node_share *share, const char *name, size_t len)
{
	double sum = 0;

	for (unsigned i = 0; i < share->n; i++) {
		const char *t = share->tres[i].name;

		if (!strcasecmp(t, name) || (len && !strncasecmp(t, name, len) && t[len] == ':'))
			sum += share->tres[i].value;
	}
	return sum;
}

static void set_amount(struct auc_node_share *share, const char *name, double amount)
{
	unsigned i = 0;

	while (i < share->n && strcasecmp(share->tres[i].name, name) != 0)
		i++;
	if (i == AUC_TRES_MAX)
		return;
	if (i == share->n)
		snprintf(share->tres[share->n++].name, AUC_NAME_MAX, "%s", name);
	share->tres[i].value = amount;
}

/* The number at the end of "gres:gpu:6" or "gres/gpu=6". */
static double number_of(const char *text)
{
	const char *p = text + strlen(text);

	while (p > text && isdigit((unsigned char)p[-1]))
		p--;
	return *p ? strtod(p, NULL) : 0;
}

bool auc_memory_is_hidden(const slurm_job_info_t *info)
{
	return AUC_RECORD_HIDES_MEMORY && info->mem_per_tres && *info->mem_per_tres;
}

uint64_t auc_requested_memory(const slurm_job_info_t *info, uint64_t *per_cpu)
{
	double mem = requested(info->tres_req_str, "mem=");
	double nodes = requested(info->tres_req_str, "node=");
	double cpus = requested(info->tres_req_str, "cpu=");

	*per_cpu = cpus >= 1 ? (uint64_t)(mem / cpus) : 0;
	return nodes >= 1 ? (uint64_t)(mem / nodes) : 0;
}

/* The number behind KEY in TRES, "cpu=6,mem=200M,node=2"; memory in MB. */
static double requested(const char *tres, const char *key)
{
	static const char units[] = "MGTP";
	const char *p = tres;
	const char *unit;
	double n;
	char *end;

	while (p && strncmp(p, key, strlen(key)) != 0)
		p = (p = strchr(p, ',')) ? p + 1 : NULL;
	if (!p)
		return 0;
	n = strtod(p + strlen(key), &end);
	for (unit = *end ? strchr(units, *end) : NULL; unit && unit > units; unit--)
		n *= 1024;
	return n;
}

void auc_reasons_add(struct auc_reasons *r, const char *fmt, ...)
{
	size_t size = sizeof(r->text);
	va_list ap;

	if (r->len && r->len + 2 < size)
		r->len += (size_t)snprintf(r->text + r->len, size - r->len, "; ");
	if (r->len >= size)
		return;
	va_start(ap, fmt);
	r->len += (size_t)vsnprintf(r->text + r->len, size - r->len, fmt, ap);
	va_end(ap);
}
