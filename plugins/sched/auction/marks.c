/* marks.c - what the machines of sales are told of their nodes (agent-private.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sched/auction/agent-private.h"
#include "sched/auction/fence.h"
#include "sched/auction/start/orphans.h"
#include "sched/auction/start/settling.h"
#include "sched/auction/slurm_rules.h"

static bool is_up(const struct auc_agent *a, const char *name);
static int by_name(const void *a, const void *b);

void auc_agent_mark_down(const struct auc_agent *a, struct auc_task *t, double now)
{
	if (t->marked == a->nodes || !a->up)
		return;
	t->marked = a->nodes;
	for (unsigned i = 0; i < t->exec.nparts; i++) {
		const struct auc_part *p = &t->parts[i];
		char name[AUC_NAME_MAX];
		const char *at = NULL;
		bool up = true;

		t->exec.closed[i] = false;
		while (auc_part_next_node(p, &at, name)) {
			up = up && is_up(a, name);
			t->exec.closed[i] |= auc_fence_closes(a, name, p->start, p->end);
		}
		if (up)
			t->exec.down[i] = 0;
		else if (!(t->exec.down[i] > 0))
			t->exec.down[i] = now;
		t->exec.stopped[i] = auc_slurm_rules_stopped(a, t->parts[i].partition);
		t->exec.shut[i] = auc_slurm_rules_shut(a, t->parts[i].partition);
	}
}

void auc_agent_mark_unheard(struct auc_agent *a, struct auc_task *t)
{
	auc_orphans_see(a, t);
	for (unsigned i = 0; i < t->exec.nparts; i++) {
		char name[AUC_NAME_MAX];
		const char *at = NULL;

		t->exec.unheard[i] = false;
		while (auc_part_next_node(&t->parts[i], &at, name))
			t->exec.unheard[i] |= auc_settling_waits(a, name);
	}
}

unsigned auc_agent_count_down(const struct auc_agent *a, const struct auc_part *p)
{
	char name[AUC_NAME_MAX];
	const char *at = NULL;
	unsigned n = 0;

	while (a->up && auc_part_next_node(p, &at, name))
		n += !is_up(a, name);
	return n;
}

void auc_agent_bad_node(const struct auc_agent *a, const struct auc_part *p,
			char name[AUC_NAME_MAX])
{
	const char *at = NULL;

	while (auc_part_next_node(p, &at, name))
		if (!is_up(a, name) || auc_fence_closes(a, name, p->start, p->end))
			return;
	strcpy(name, p->server);
}

static bool is_up(const struct auc_agent *a, const char *name)
{
	return bsearch(&name, a->up, a->nup, sizeof(*a->up), by_name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
