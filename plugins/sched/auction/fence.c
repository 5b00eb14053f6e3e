/* fence.c - see fence.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/auction/block/block.h"
#include "adapter/desc_block.h"
#include "sched/auction/job_change.h"
#include "sched/auction/fence.h"
#include "ledger/receipt.h"
#include "sched/auction/start/orphans.h"
#include "sched/auction/start/settling.h"
#include "adapter/site.h"

#define SLACK 180 /* seconds: limits of jobs are whole minutes, and a job may start late */
#define LIMIT_SLACK                                                                                \
	75 /* seconds: Slurm starts no job whose limit, in whole minutes, could reach into a       \
	      reservation */
#define ASK_MAX 100 /* things asked of Slurm in one go; the rest follows */

/* One reservation. Those of one sale differ in their start. */
struct fence {
	struct fence *next;
	char name[AUC_FENCE_NAME_MAX];
	time_t start, end;
	char *nodes; /* as we asked for them; NULL: it was there before us */
	bool made, there, wanted;
	char *new_nodes; /* as they should be */
	time_t new_end;
	uint32_t uid;
	double next_try;
	uint32_t *jobs; /* members that were put inside */
	unsigned njobs;
};

struct auc_fences {
	struct fence *list;
	char (*names)[AUC_NAME_MAX]; /* servers that are fenced, in order */
	unsigned nnames;
	reserve_info_msg_t *reservations; /* as Slurm last listed them; NULL: they are to be */
	struct auc_closing *closed;
	unsigned nclosed, closed_alloc;
};

/* What one node gives to one part. */
struct window {
	char server[AUC_NAME_MAX];
	struct auc_task *task;
	unsigned part;
	double start, end;
};

static bool take_names(struct auc_agent *a, const node_info_msg_t *nodes,
		       const partition_info_msg_t *partitions);
static bool is_shared(const struct auc_conf *conf, const partition_info_msg_t *partitions,
		      int node);
static bool in_pairs(const int32_t *pairs, int node);
static bool look_at_reservations(struct auc_agent *a, const node_info_msg_t *nodes, bool fresh,
				 struct auc_fences *f);
static bool look_at_jobs(struct auc_agent *a, const node_info_msg_t *nodes, struct auc_fences *f);
static void take_fence(struct auc_fences *f, const reserve_info_t *r);
static void close_nodes(struct auc_fences *f, const node_info_msg_t *nodes, const int32_t *pairs,
			double from, double to);
static bool is_fenced(const struct auc_fences *f, const char *server);
static bool is_part_fenced(const struct auc_agent *a, const struct auc_task *t, unsigned part);
static struct window *windows_of(struct auc_agent *a, double now, unsigned *n);
static int by_server_and_start(const void *x, const void *y);
static void want(struct auc_fences *f, const struct window *w, bool make);
static struct fence *find(struct auc_fences *f, const char *name);
static struct fence *add(struct auc_fences *f, const char *name);
static void name_of(char *name, const struct auc_task *t, double start);
static bool bring_about(struct auc_agent *a, struct fence *x, double now);
static void put_inside(struct auc_agent *a, struct auc_task *t, double now, unsigned *asked);
static void put_member(struct auc_agent *a, struct fence *x, uint32_t job);
static void forget(struct fence *x);

void auc_fence_look(struct auc_agent *a, const node_info_msg_t *nodes, bool fresh)
{
	struct auc_closing *old;
	struct auc_fences *f;
	unsigned nold;
	struct auc_err err;

	if (!a->fences)
		a->fences = calloc(1, sizeof(*a->fences));
	f = a->fences;
	if (!f || !take_names(a, nodes, a->partitions))
		return;
	old = f->closed;
	nold = f->nclosed;
	f->closed = NULL;
	f->nclosed = f->closed_alloc = 0;
	if (!look_at_reservations(a, nodes, fresh, f) || !look_at_jobs(a, nodes, f)) {
		/* What was closed is not sold because Slurm did not answer this time. */
		free(f->closed);
		f->closed = old;
		f->nclosed = f->closed_alloc = nold;
		return;
	}
	if (f->nclosed != nold || (nold && memcmp(old, f->closed, nold * sizeof(*old)))) {
		a->nodes++;
		if (auc_auction_close(a->auction, f->closed, f->nclosed, &err))
			auc_agent_complain(a, AUC_ERROR_NODES, &err);
	}
	free(old);
}

void auc_fence_keep(struct auc_agent *a, double now)
{
	struct auc_fences *f = a->fences;
	struct window *windows;
	struct fence **at, *x;
	unsigned n, asked = 0;

	if (f)
		auc_block_keep(a, now);
	if (!f || (!f->nnames && !f->list && !a->blocks))
		return;
	windows = windows_of(a, now, &n);
	if (!windows)
		return;
	for (x = f->list; x; x = x->next) {
		x->wanted = false;
		free(x->new_nodes);
		x->new_nodes = NULL;
		x->new_end = 0;
	}
	for (unsigned i = 0, first; i < n; i = first) {
		double next = INFINITY;

		for (first = i; first < n && !strcmp(windows[first].server, windows[i].server);
		     first++)
			if (windows[first].start > now && windows[first].start < next)
				next = windows[first].start;
		for (unsigned k = i; k < first; k++)
			want(f, &windows[k], windows[k].start <= now || windows[k].start <= next);
	}
	free(windows);
	for (at = &f->list; (x = *at) && asked < ASK_MAX;) {
		if (now < x->next_try ||
		    (x->made && x->wanted && x->nodes && x->end == x->new_end &&
		     !strcmp(x->nodes, x->new_nodes))) {
			at = &x->next;
			continue;
		}
		asked++;
		if (bring_about(a, x, now)) {
			at = &x->next;
		} else {
			*at = x->next;
			forget(x);
		}
	}
	for (struct auc_task *t = a->tasks.list; t && asked < ASK_MAX; t = t->next)
		put_inside(a, t, now, &asked);
}

void auc_fence_outside(struct auc_agent *a, uint32_t job)
{
	for (struct fence *x = a->fences ? a->fences->list : NULL; x; x = x->next)
		for (unsigned i = 0; i < x->njobs; i++)
			if (x->jobs[i] == job)
				x->jobs[i] = x->jobs[--x->njobs];
}

const char *auc_fence_of(const struct auc_agent *a, const struct auc_task *t, unsigned part)
{
	char name[AUC_FENCE_NAME_MAX];
	struct fence *x;

	if (!a->fences || !is_part_fenced(a, t, part))
		return NULL;
	name_of(name, t, t->parts[part].start);
	x = find(a->fences, name);
	return x && x->made && x->wanted ? x->name : NULL;
}

bool auc_fence_closes(const struct auc_agent *a, const char *server, double from, double to)
{
	const struct auc_fences *f = a->fences;

	for (unsigned i = 0; f && i < f->nclosed; i++)
		if (!strcmp(f->closed[i].server, server) && f->closed[i].from < to &&
		    f->closed[i].to > from)
			return true;
	return false;
}

void auc_fence_shift(struct auc_agent *a, double step)
{
	auc_block_shift(a, step);
	for (struct fence *x = a->fences ? a->fences->list : NULL; x; x = x->next)
		x->next_try += step;
}

void auc_fence_clear(struct auc_agent *a)
{
	struct fence *x;

	auc_block_clear(a);
	if (!a->fences)
		return;
	while ((x = a->fences->list)) {
		a->fences->list = x->next;
		forget(x);
	}
	free(a->fences->names);
	slurm_free_reservation_info_msg(a->fences->reservations);
	free(a->fences->closed);
	free(a->fences);
	a->fences = NULL;
}

/* The servers that are fenced. False: no memory. */
static bool take_names(struct auc_agent *a, const node_info_msg_t *nodes,
		       const partition_info_msg_t *partitions)
{
	const struct auc_conf *conf = auc_auction_conf(a->auction);
	char(*names)[AUC_NAME_MAX] = calloc(nodes->record_count + 1, sizeof(*names));
	unsigned n = 0;

	if (!names)
		return false;
	for (uint32_t i = 0; i < nodes->record_count && conf->fence != AUC_FENCE_NO; i++) {
		const char *name = nodes->node_array[i].name;
		bool ours = false;

		for (unsigned k = 0; name && k < a->nservers && !ours; k++)
			ours = !strcmp(a->servers[k].name, name);
		if (ours && (conf->fence == AUC_FENCE_YES || is_shared(conf, partitions, (int)i)))
			strcpy(names[n++], name);
	}
	qsort(names, n, sizeof(*names), (int (*)(const void *, const void *))strcmp);
	free(a->fences->names);
	a->fences->names = names;
	a->fences->nnames = n;
	return true;
}

/* True if NODE is in a partition that is not the auction's. */
static bool is_shared(const struct auc_conf *conf, const partition_info_msg_t *partitions, int node)
{
	for (uint32_t i = 0; i < partitions->record_count; i++) {
		const partition_info_t *p = &partitions->partition_array[i];

		if (p->name && in_pairs(p->node_inx, node) && !auc_conf_partition(conf, p->name))
			return true;
	}
	return false;
}

/* PAIRS: first and last of ranges, as Slurm gives them, -1 after the last; may be NULL. */
static bool in_pairs(const int32_t *pairs, int node)
{
	for (; pairs && pairs[0] >= 0; pairs += 2)
		if (pairs[0] <= node && node <= pairs[1])
			return true;
	return false;
}

/* False: Slurm did not say. */
static bool look_at_reservations(struct auc_agent *a, const node_info_msg_t *nodes, bool fresh,
				 struct auc_fences *f)
{
	const reserve_info_msg_t *msg;
	struct auc_err err;
	struct fence **at, *x;

	if (fresh || !f->reservations) {
		slurm_free_reservation_info_msg(f->reservations);
		f->reservations = NULL;
		if (auc_rpc_load_reservations(&f->reservations, &err)) {
			auc_agent_complain(a, AUC_ERROR_FENCE, &err);
			return false;
		}
	}
	msg = f->reservations;
	for (x = f->list; x; x = x->next)
		x->there = false;
	auc_block_look(a);
	for (uint32_t i = 0; i < msg->record_count; i++) {
		const reserve_info_t *r = &msg->reservation_array[i];

		if (r->name && auc_fence_is_ours(r->name))
			take_fence(f, r);
		else if (r->name && auc_block_take(a, r))
			continue;
		/* What is not gone by then keeps its nodes from everybody. */
		else if (!r->name || strcmp(r->name, AUC_SETTLING_NAME) ||
			 (a->heard && auc_orphans_any(a)))
			close_nodes(f, nodes, r->node_inx, (double)r->start_time - LIMIT_SLACK,
				    (double)r->end_time);
	}
	auc_block_looked(a);
	/* Somebody else has taken it away. */
	for (at = &f->list; (x = *at);) {
		if (x->there || !x->made) {
			at = &x->next;
			continue;
		}
		*at = x->next;
		forget(x);
	}
	return true;
}

/* Others' jobs on servers that have others' jobs at all. False: Slurm did not say. */
static bool look_at_jobs(struct auc_agent *a, const node_info_msg_t *nodes, struct auc_fences *f)
{
	job_info_msg_t *jobs;
	struct auc_err err;
	bool any = false;

	for (uint32_t i = 0; i < nodes->record_count && !any; i++) {
		const node_info_t *n = &nodes->node_array[i];
		uint32_t base = n->node_state & NODE_STATE_BASE;

		any = n->name && (base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED) &&
		      is_fenced(f, n->name);
	}
	if (!any)
		return true;
	if (auc_rpc_load_jobs(&jobs, &err)) {
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		return false;
	}
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		if (!auc_job_pending(job) && !auc_job_finished(job) && !auc_block_entered(job) &&
		    !(job->admin_comment && auc_receipt_is(job->admin_comment)))
			close_nodes(f, nodes, job->node_inx, (double)job->start_time,
				    job->end_time ? (double)job->end_time : INFINITY);
	}
	auc_rpc_free_jobs(jobs);
	return true;
}

static void take_fence(struct auc_fences *f, const reserve_info_t *r)
{
	struct fence *x = find(f, r->name);

	if (!x)
		x = add(f, r->name);
	if (!x)
		return;
	x->made = x->there = true;
	x->start = r->start_time;
	x->end = r->end_time;
}

static void close_nodes(struct auc_fences *f, const node_info_msg_t *nodes, const int32_t *pairs,
			double from, double to)
{
	for (; pairs && pairs[0] >= 0; pairs += 2)
		for (int32_t i = pairs[0]; i <= pairs[1] && (uint32_t)i < nodes->record_count;
		     i++) {
			const char *name = nodes->node_array[i].name;

			if (!name || strlen(name) >= AUC_NAME_MAX)
				continue;
			if (f->nclosed == f->closed_alloc) {
				unsigned alloc = f->closed_alloc ? 2 * f->closed_alloc : 64;
				struct auc_closing *grown =
					realloc(f->closed, alloc * sizeof(*grown));

				if (!grown)
					return;
				f->closed = grown;
				f->closed_alloc = alloc;
			}
			memset(&f->closed[f->nclosed], 0, sizeof(*f->closed));
			strcpy(f->closed[f->nclosed].server, name);
			f->closed[f->nclosed].from = from;
			f->closed[f->nclosed++].to = to;
		}
}

static bool is_fenced(const struct auc_fences *f, const char *server)
{
	return f->nnames && bsearch(server, f->names, f->nnames, sizeof(*f->names),
				    (int (*)(const void *, const void *))strcmp);
}

/* A job in a reservation has all of its nodes there: those of a gang are fenced together. */
static bool is_part_fenced(const struct auc_agent *a, const struct auc_task *t, unsigned part)
{
	char name[AUC_NAME_MAX];
	const char *at = NULL;

	/* Blocks have reservations of their own, which keep out what would reach into them. */
	while (!t->block && auc_part_next_node(&t->parts[part], &at, name))
		if (is_fenced(a->fences, name) || auc_block_on(a, name))
			return true;
	return false;
}

/* All that is sold on servers that are fenced, by server and start. */
static struct window *windows_of(struct auc_agent *a, double now, unsigned *n)
{
	struct window *list;
	unsigned max = 0;

	*n = 0;
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		for (unsigned i = 0; i < t->exec.nparts; i++)
			max += t->parts[i].nnodes ? t->parts[i].nnodes : 1;
	list = malloc((max + 1) * sizeof(*list));
	if (!list)
		return NULL;
	for (struct auc_task *t = a->tasks.list; t; t = t->next) {
		/* Whether that is on disk or not: others are to stay out, and a fence too many is
		 * removed. */
		if (t->exec.booked != AUC_SALE_SOLD && t->exec.booked != AUC_SALE_RUNNING)
			continue;
		for (unsigned i = 0; i < t->exec.nparts; i++) {
			const struct auc_part *p = &t->parts[i];
			const char *at = NULL;

			if (p->end <= now || !is_part_fenced(a, t, i))
				continue;
			while (auc_part_next_node(p, &at, list[*n].server)) {
				list[*n].task = t;
				list[*n].part = i;
				list[*n].start = p->start;
				list[(*n)++].end = p->end;
			}
		}
	}
	qsort(list, *n, sizeof(*list), by_server_and_start);
	return list;
}

static int by_server_and_start(const void *x, const void *y)
{
	const struct window *a = x, *b = y;
	int order = strcmp(a->server, b->server);

	return order ? order : (a->start > b->start) - (a->start < b->start);
}

/* One that is there already stays, and the windows that come before it are fenced beside it. */
static void want(struct auc_fences *f, const struct window *w, bool make)
{
	char name[AUC_FENCE_NAME_MAX];
	struct fence *x;
	char *nodes;

	name_of(name, w->task, w->start);
	x = find(f, name);
	if (!x && make)
		x = add(f, name);
	if (!x)
		return;
	if (asprintf(&nodes, "%s%s%s", x->new_nodes ? x->new_nodes : "", x->new_nodes ? "," : "",
		     w->server) < 0)
		return;
	free(x->new_nodes);
	x->new_nodes = nodes;
	x->wanted = true;
	x->start = (time_t)w->start;
	x->uid = w->task->uid;
	if ((time_t)w->end + SLACK > x->new_end)
		x->new_end = (time_t)w->end + SLACK;
}

static struct fence *find(struct auc_fences *f, const char *name)
{
	struct fence *x;

	for (x = f->list; x && strcmp(x->name, name); x = x->next)
		;
	return x;
}

static struct fence *add(struct auc_fences *f, const char *name)
{
	struct fence *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	snprintf(x->name, sizeof(x->name), "%s", name);
	x->next = f->list;
	f->list = x;
	return x;
}

static void name_of(char *name, const struct auc_task *t, double start)
{
	snprintf(name, AUC_FENCE_NAME_MAX, AUC_FENCE_PREFIX "%s-%lld", t->sale, (long long)start);
}

/* Makes X what is wanted of it; false: it is gone. */
static bool bring_about(struct auc_agent *a, struct fence *x, double now)
{
	enum auc_code code;
	struct auc_err err;

	x->next_try = now + 1;
	if (!x->wanted) {
		/* While a job is in it Slurm keeps it; the job is being ended. */
		code = x->made ? auc_rpc_delete_reservation(x->name, &err) : AUC_OK;
		if (code == AUC_EIO)
			auc_agent_complain(a, AUC_ERROR_FENCE, &err);
		return code == AUC_EIO || code == AUC_ESTATE;
	}
	code = x->made ? auc_rpc_update_reservation(x->name, x->new_nodes, x->new_end, &err)
		       : auc_rpc_create_reservation(x->name, x->new_nodes, x->uid, x->start,
						    x->new_end, &err);
	if (code) {
		auc_agent_complain(a, AUC_ERROR_FENCE, &err);
		return true;
	}
	x->made = true;
	x->end = x->new_end;
	free(x->nodes);
	x->nodes = x->new_nodes;
	x->new_nodes = NULL;
	x->next_try = 0;
	return true;
}

/* Jobs that wait for a part that is fenced, or no longer is. */
static void put_inside(struct auc_agent *a, struct auc_task *t, double now, unsigned *asked)
{
	unsigned on = auc_exec_lead_part(&t->exec, &a->rules, now);
	const char *name, *has;
	struct auc_err err;

	if (!t->looked || t->block || t->exec.booked == AUC_SALE_LIEN ||
	    t->exec.booked == AUC_SALE_SETTLED)
		return;
	if (t->lead && t->exec.jobs[0].seen == AUC_SEEN_PENDING && on < t->exec.nparts) {
		has = t->lead->resv_name ? t->lead->resv_name : "";
		name = auc_fence_of(a, t, on);
		if ((name ? strcmp(has, name) != 0 : auc_fence_is_ours(has)) && ++*asked &&
		    auc_job_change_put(a, AUC_JOB_CHANGE_RESERVE, t->exec.jobs[0].id, t->sale, NULL,
				       name ? name : "", &err) == AUC_ENOMEM)
			auc_agent_complain(a, AUC_ERROR_FENCE, &err);
	}
	for (unsigned i = 1; i < t->exec.nparts; i++) {
		if (t->parts[i].lead || !t->exec.jobs[i].id ||
		    t->exec.jobs[i].seen != AUC_SEEN_PENDING)
			continue;
		name = auc_fence_of(a, t, i);
		if (name)
			put_member(a, find(a->fences, name), t->exec.jobs[i].id);
	}
}

static void put_member(struct auc_agent *a, struct fence *x, uint32_t job)
{
	uint32_t *grown;

	for (unsigned i = 0; i < x->njobs; i++)
		if (x->jobs[i] == job)
			return;
	if (auc_job_change_put(a, AUC_JOB_CHANGE_RESERVE, job, NULL, NULL, x->name, NULL))
		return;
	grown = realloc(x->jobs, (x->njobs + 1) * sizeof(*grown));
	if (!grown)
		return;
	x->jobs = grown;
	x->jobs[x->njobs++] = job;
}

static void forget(struct fence *x)
{
	free(x->nodes);
	free(x->new_nodes);
	free(x->jobs);
	free(x);
}
