/* power.c - see power.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sched/auction/power.h"

#define LOOK                                                                                       \
	15.0 /* seconds: the next look at nodes comes sooner, and what it shows is acted on        \
	      */
#define OFF (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN)

/* A node that power saving has to do with. */
struct power_node {
	char name[AUC_NAME_MAX];
	bool off, idle;
	double last_busy;
	bool asked; /* since the last look */
};

struct auc_power {
	struct power_node *nodes; /* in order of their names */
	unsigned nnodes;
};

static void keep_node(struct auc_agent *a, const struct auc_task *t, const struct auc_part *p,
		      const char *name, double now);
static int by_name(const void *x, const void *y);
static bool falls_asleep(const struct power_node *n, double now);

void auc_power_look(struct auc_agent *a, const node_info_msg_t *nodes)
{
	struct power_node *list;
	unsigned n = 0;

	if (!a->power)
		a->power = calloc(1, sizeof(*a->power));
	list = calloc(nodes->record_count + 1, sizeof(*list));
	if (!a->power || !list) {
		free(list);
		return;
	}
	for (uint32_t i = 0; i < nodes->record_count; i++) {
		const node_info_t *node = &nodes->node_array[i];
		uint32_t state = node->node_state;

		if (!node->name || strlen(node->name) >= AUC_NAME_MAX ||
		    !(state & (NODE_STATE_CLOUD | OFF | NODE_STATE_POWERING_UP)))
			continue;
		strcpy(list[n].name, node->name);
		list[n].off =
			(state & OFF) && !(state & (NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP));
		list[n].idle = (state & NODE_STATE_BASE) == NODE_STATE_IDLE &&
			       !(state & (OFF | NODE_STATE_POWERING_UP));
		list[n++].last_busy = (double)node->last_busy;
	}
	qsort(list, n, sizeof(*list), by_name);
	free(a->power->nodes);
	a->power->nodes = list;
	a->power->nnodes = n;
}

void auc_power_keep(struct auc_agent *a, double now)
{
	double until = now + auc_power_lead(a);

	if (!a->power || !a->power->nnodes)
		return;
	for (struct auc_task *t = a->tasks.list; t; t = t->next) {
		if (!t->exec.committed || t->exec.why ||
		    (t->exec.booked != AUC_SALE_SOLD && t->exec.booked != AUC_SALE_RUNNING))
			continue;
		for (unsigned i = 0; i < t->exec.nparts; i++) {
			const struct auc_part *p = &t->parts[i];
			char name[AUC_NAME_MAX];
			const char *at = NULL;

			if (p->start > until || p->end <= now)
				continue;
			while (auc_part_next_node(p, &at, name))
				keep_node(a, t, p, name, now);
		}
	}
}

/* Node NAME, of part P of T, is there when P begins. */
static void keep_node(struct auc_agent *a, const struct auc_task *t, const struct auc_part *p,
		      const char *name, double now)
{
	struct power_node *n =
		bsearch(name, a->power->nodes, a->power->nnodes, sizeof(*n), by_name);
	enum auc_code code = AUC_OK;
	struct auc_err err;

	if (!n || n->asked)
		return;
	if (n->off)
		code = auc_rpc_power_up(n->name, &err);
	else if (p->start > now && falls_asleep(n, now))
		code = auc_rpc_keep_awake(n->name, &err);
	else
		return;
	n->asked = true;
	if (code)
		auc_agent_complain(a, AUC_ERROR_NODES, &err);
	else if (n->off)
		slurm_info("sched/auction: node %s is powered up for job %u, %.0f s ahead of its "
			   "slot",
			   n->name, t->exec.jobs[0].id, p->start - now);
}

void auc_power_clear(struct auc_agent *a)
{
	if (a->power)
		free(a->power->nodes);
	free(a->power);
	a->power = NULL;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(x, y); /* a name comes first in the struct */
}

double auc_power_lead(const struct auc_agent *a)
{
	double seconds = auc_auction_conf(a->auction)->power_up_lead;

	if (!a->power || !a->power->nnodes)
		return 0;
	return (seconds > 0 ? seconds : (double)slurm_conf.resume_timeout) + LOOK;
}

/* Power saving would stop it before the next look. */
static bool falls_asleep(const struct power_node *n, double now)
{
	return n->idle && slurm_conf.suspend_time != INFINITE &&
	       slurm_conf.suspend_time != NO_VAL &&
	       n->last_busy + (double)slurm_conf.suspend_time <= now + LOOK;
}
