/* settling.c - see settling.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/auction/start/orphans.h"
#include "sched/auction/start/settling.h"
#include "adapter/site.h"

#define EVERY  0.5  /* seconds between two looks at nodes */
#define AFTER  1.0  /* seconds that slurmctld may take to end what a node told it of */
#define LONGER 60.0 /* seconds for which a node stays closed that has something left */

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
};

static bool is_expected(const node_info_t *node);
static bool list_servers(struct auc_agent *a, const node_info_msg_t *nodes);
static void drop_settled(struct auc_settling *s, const node_info_msg_t *nodes, double before,
			 double elapsed);
static bool bring_about(struct auc_agent *a, struct auc_settling *s);
static char *names_of(const struct auc_agent *a, const struct auc_settling *s);
static bool is_in(const char *names, const char *name);

void auc_settling_look(struct auc_agent *a, const node_info_msg_t *nodes)
{
	double elapsed = auc_site_elapsed();
	bool over = elapsed > a->since + AUC_SETTLING;
	struct auc_settling *s;
	bool done;

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
	done = bring_about(a, s) && a->opened && !s->n && !auc_orphans_any(a);
	if (!a->heard && (done || over)) {
		auc_orphans_give_up(a);
		a->heard = true;
		a->back = elapsed;
	}
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
	return !a->heard || auc_orphans_any(a) ? EVERY : otherwise;
}

void auc_settling_clear(struct auc_agent *a)
{
	a->heard = false;
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

/* The reservation is of what is listed, and of what is not gone. False: Slurm did not do it; it is
 * tried again. */
static bool bring_about(struct auc_agent *a, struct auc_settling *s)
{
	time_t end = (time_t)(a->since + a->clock + AUC_SETTLING) + 1;
	time_t longer = (time_t)(auc_site_now() + LONGER);
	char *names = names_of(a, s);
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

/* With commas; NULL: no memory. */
static char *names_of(const struct auc_agent *a, const struct auc_settling *s)
{
	char *names, *end, name[AUC_NAME_MAX];
	size_t size = 1 + s->n * (AUC_NAME_MAX + 1);
	const char *at;

	for (unsigned i = 0; (at = auc_orphans_nodes(a, i)); i++)
		size += strlen(at) + 1;
	names = end = calloc(1, size);
	for (unsigned i = 0; names && i < s->n; i++)
		end += sprintf(end, "%s%s", i ? "," : "", s->list[i].name);
	for (unsigned i = 0; names && (at = auc_orphans_nodes(a, i)); i++)
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
