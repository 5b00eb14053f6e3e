/* settling.c - see settling.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/auction/backfill.h"
#include "sched/auction/job_change.h"
#include "sched/auction/start/orphans.h"
#include "sched/auction/start/settling.h"
#include "adapter/site.h"

#define EVERY  0.5  /* seconds between two looks at nodes */
#define AFTER  1.0  /* seconds that slurmctld may take to end what a node told it of */
#define LONGER 60.0 /* seconds for which a node stays closed that has something left */
#define LIFT   15.0 /* or for changes of jobs, at most: the database may keep one waiting for 5 s */
#define SOON   1.0  /* seconds until a job may begin that is looked at first */

/* A server that has not told when it was first looked at. */
struct settling {
	char name[AUC_NAME_MAX];
	double told; /* since when it has: auc_site_elapsed(); 0: it has not */
};

struct auc_settling {
	struct settling *list;
	unsigned n;
	char *reserved; /* the names that the reservation is of; NULL: there is none */
	time_t end;     /* and until when it lasts */
	double waits;   /* since when it is of more than is waited for; 0: it is not */
	bool kept;      /* all that was to be in it was, once */
};

static bool is_expected(const node_info_t *node);
static bool list_servers(struct auc_agent *a, const node_info_msg_t *nodes);
static void drop_settled(struct auc_settling *s, const node_info_msg_t *nodes, double before,
			 double elapsed);
static bool bring_about(struct auc_agent *a, struct auc_settling *s, bool lift);
static void see_waits(const struct auc_agent *a, struct auc_settling *s, double elapsed);
static bool all_is_changed(const struct auc_agent *a);
static bool may_begin(const struct auc_task *t, double now);
static char *names_of(const struct auc_agent *a, const struct auc_settling *s, bool lift);
static bool is_in(const char *names, const char *name);

void auc_settling_look(struct auc_agent *a, const node_info_msg_t *nodes)
{
	double elapsed = auc_site_elapsed();
	bool over = elapsed > a->since + AUC_SETTLING;
	struct auc_settling *s;

	if ((a->heard && !(a->settle && a->settle->reserved)) ||
	    (!a->settle && !list_servers(a, nodes)))
		return;
	s = a->settle;
	/* Not before it is known which jobs slurmctld may have forgotten. */
	drop_settled(s, nodes, a->opened ? elapsed - AFTER : -1, elapsed);
	if (over) {
		s->n = 0;
		auc_orphans_give_up(a);
	}
	auc_orphans_keep(a);
	s->kept |= bring_about(a, s, false);
	see_waits(a, s, elapsed);
	if (!a->heard && (over || (a->opened && !s->n && !auc_orphans_any(a)))) {
		auc_orphans_give_up(a);
		a->heard = true;
		a->back = elapsed;
	}
}

void auc_settling_lift(struct auc_agent *a)
{
	struct auc_settling *s = a->settle;

	/* Nodes that were read during this cycle may call for decisions in the next. */
	if (s && s->waits > 0 &&
	    ((!a->nodes_fresh && all_is_changed(a)) || auc_site_elapsed() > s->waits + LIFT) &&
	    bring_about(a, s, true))
		s->waits = 0;
}

void auc_settling_start_backfill(struct auc_agent *a)
{
	struct auc_err err;

	/* If auction.conf cannot be read, no nodes will be closed: waiting helps nobody. A slurmctld
	 * that has to recover much answers its own agent late. */
	if (a->backfill_runs || !((a->settle && a->settle->kept) || (a->wait > 0 && !a->auction) ||
				  auc_site_elapsed() > a->since + AUC_SETTLING))
		return;
	a->backfill_runs = true;
	if (auc_backfill_start(&err))
		slurm_error("sched/auction: %s: only the main scheduler runs", err.text);
}

bool auc_settling_waits(const struct auc_agent *a, const char *server)
{
	return auc_settling_expects(a, server) || auc_orphans_on(a, server);
}

bool auc_settling_expects(const struct auc_agent *a, const char *server)
{
	for (unsigned i = 0; !a->heard && a->settle && i < a->settle->n; i++)
		if (!strcmp(a->settle->list[i].name, server))
			return true;
	return false;
}

double auc_settling_pace(const struct auc_agent *a, double otherwise)
{
	return auc_settling_lasts(a) || auc_orphans_any(a) ? EVERY : otherwise;
}

bool auc_settling_lasts(const struct auc_agent *a)
{
	return !a->heard || (a->settle && a->settle->reserved);
}

bool auc_settling_opens(const struct auc_agent *a)
{
	return a->settle && a->settle->waits > 0;
}

void auc_settling_clear(struct auc_agent *a)
{
	a->heard = a->backfill_runs = false;
	auc_orphans_clear(a);
	if (!a->settle)
		return;
	free(a->settle->list);
	free(a->settle->reserved);
	free(a->settle);
	a->settle = NULL;
}

/* True if slurmctld takes NODE for good and has not heard of it since it was started. */
static bool is_expected(const node_info_t *node)
{
	uint32_t base = node->node_state & NODE_STATE_BASE;

	return !node->slurmd_start_time && base != NODE_STATE_DOWN && base != NODE_STATE_ERROR &&
	       base != NODE_STATE_FUTURE &&
	       !(node->node_state &
		 (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWERING_UP));
}

/* False: no memory. */
static bool list_servers(struct auc_agent *a, const node_info_msg_t *nodes)
{
	struct auc_settling *s = calloc(1, sizeof(*s));

	if (s)
		s->list = calloc(a->nservers + 1, sizeof(*s->list));
	if (!s || !s->list) {
		free(s);
		return false;
	}
	/* Servers are in the order of the nodes. */
	for (uint32_t i = 0, k = 0; i < nodes->record_count && k < a->nservers; i++) {
		const node_info_t *node = &nodes->node_array[i];

		if (!node->name || strcmp(node->name, a->servers[k].name))
			continue;
		if (is_expected(node))
			strcpy(s->list[s->n++].name, node->name);
		k++;
	}
	a->settle = s;
	return true;
}

/* Those that told by BEFORE. */
static void drop_settled(struct auc_settling *s, const node_info_msg_t *nodes, double before,
			 double elapsed)
{
	uint32_t next = 0;
	unsigned left = 0;

	/* What is listed is in the order of the nodes, too. */
	for (unsigned k = 0; k < s->n; k++) {
		struct settling *x = &s->list[k];
		uint32_t i = next;

		while (i < nodes->record_count &&
		       (!nodes->node_array[i].name || strcmp(nodes->node_array[i].name, x->name)))
			i++;
		if (i == nodes->record_count)
			continue; /* no node any more */
		next = i + 1;
		if (!(x->told > 0) && !is_expected(&nodes->node_array[i]))
			x->told = elapsed;
		if (!(x->told > 0) || before < x->told)
			s->list[left++] = *x;
	}
	s->n = left;
}

/* The reservation is of what is listed, and of what is not gone; and, but to LIFT it, of what it
 * was of. False: Slurm did not do it; it is tried again. */
static bool bring_about(struct auc_agent *a, struct auc_settling *s, bool lift)
{
	time_t end = (time_t)(a->since + a->clock + AUC_SETTLING + LIFT) + 1;
	time_t longer = (time_t)(auc_site_now() + LONGER);
	char *names = names_of(a, s, lift);
	enum auc_code code = AUC_OK;
	struct auc_err err;

	if (!names)
		return false;
	/* It is not asked for again each second. */
	if (auc_orphans_any(a) && s->end < longer - (time_t)LONGER / 2)
		s->end = longer;
	else if (s->end < end)
		s->end = end;
	else
		longer = 0;
	end = s->end;
	if (!*names && s->reserved)
		code = auc_rpc_delete_reservation(AUC_SETTLING_NAME, &err);
	else if (*names && !s->reserved)
		code = auc_rpc_close_nodes(AUC_SETTLING_NAME, names, end, &err);
	else if (*names && (longer || strcmp(names, s->reserved)))
		code = auc_rpc_update_reservation(AUC_SETTLING_NAME, names, end, &err);
	/* There may be one from before slurmctld was started; and it removes what is over. */
	if (code == AUC_EEXIST)
		code = auc_rpc_update_reservation(AUC_SETTLING_NAME, names, end, &err);
	if (code && code != AUC_ENOENT) {
		auc_agent_complain(a, AUC_ERROR_FENCE, &err);
		free(names);
		return false;
	}
	free(s->reserved);
	s->reserved = *names ? names : NULL;
	if (!*names)
		free(names);
	return true;
}

/* Takes note of whether the reservation is of more than has not told. */
static void see_waits(const struct auc_agent *a, struct auc_settling *s, double elapsed)
{
	char *names = names_of(a, s, true);

	if (!names || strlen(names) == (s->reserved ? strlen(s->reserved) : 0))
		s->waits = 0;
	else if (!(s->waits > 0))
		s->waits = elapsed;
	free(names);
}

/* True if no job may begin for which Slurm has still to be asked for something else, as far as the
 * agent knows after this cycle. What has failed is asked for again, and is not waited for. */
static bool all_is_changed(const struct auc_agent *a)
{
	double now = auc_site_now();

	if (!a->opened || !a->commit_ok || a->stats.postponed || auc_job_change_keeps_any(a))
		return false;
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->exec.booked != AUC_SALE_LIEN &&
		    (!t->exec.committed || (!t->looked && may_begin(t, now))))
			return false;
	return true;
}

/* True if T's lead waits, and its slots begin or began, or did by a plan that it had. */
static bool may_begin(const struct auc_task *t, double now)
{
	const struct auc_exec_job *lead = &t->exec.jobs[0];

	return t->whole || ((lead->seen == AUC_SEEN_PENDING || lead->seen == AUC_SEEN_NOT) &&
			    (t->exec.start <= now + SOON || lead->begin <= now + SOON));
}

/* With commas; but to LIFT it, with what the reservation is of. NULL: no memory. */
static char *names_of(const struct auc_agent *a, const struct auc_settling *s, bool lift)
{
	const char *kept = s->reserved && !lift ? s->reserved : "";
	char *names, *end, name[AUC_NAME_MAX];
	size_t size = strlen(kept) + 2 + s->n * (AUC_NAME_MAX + 1);
	const char *at;

	for (unsigned i = 0; (at = auc_orphans_nodes(a, i)); i++)
		size += strlen(at) + 1;
	names = end = calloc(1, size);
	if (!names)
		return NULL;
	end += sprintf(end, "%s", kept);
	for (unsigned i = 0; i < s->n; i++)
		if (!is_in(kept, s->list[i].name))
			end += sprintf(end, "%s%s", *names ? "," : "", s->list[i].name);
	for (unsigned i = 0; (at = auc_orphans_nodes(a, i)); i++)
		while (auc_orphans_next_name(&at, name))
			if (!is_in(names, name))
				end += sprintf(end, "%s%s", *names ? "," : "", name);
	return names;
}

static bool is_in(const char *names, const char *name)
{
	for (char next[AUC_NAME_MAX]; auc_orphans_next_name(&names, next);)
		if (!strcmp(next, name))
			return true;
	return false;
}
