/* layout.c - see layout.h */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "slaunch/layout/layout.h"
#include "slaunch/layout/moves.h"

#define TRES_LIMIT 1e9

static const char *const role_names[ROLES] = {"worker", "ps", "scheduler"};

struct argv {
	char **v;
	size_t n, alloc;
	bool failed;
};

static bool layout_covers(const struct layout *a, const struct layout *b, enum role role);
static enum auc_code layout_share_make(struct layout_share *s, const struct auc_named *tres,
				       unsigned ntres, const char *what, struct auc_err *err);
static void layout_add_steps(struct layout *l, const struct auc_receipt *r,
			     const struct auc_receipt_run *run, enum role role, bool lead);
static bool layout_add_chunks(struct layout *l, const struct auc_receipt *r);
static bool layout_is_gres(const char **name);
static void argv_add_gres(struct argv *a, const struct layout_share *share, unsigned ntasks);
static void argv_add(struct argv *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *role_name(enum role role)
{
	return role_names[role];
}

bool role_parse(const char *name, enum role *role)
{
	for (unsigned i = 0; i < ROLES; i++) {
		if (strcmp(name, role_names[i]) == 0) {
			*role = i;
			return true;
		}
	}
	return false;
}

enum auc_code layout_make(struct layout *l, const struct auc_receipt *r, uint32_t lead,
			  const char *lead_node, double now, struct auc_err *err)
{
	/* The run that holds the slot, else the first that begins later. */
	for (unsigned i = 0; i < r->nruns && r->slot_seconds > 0; i++)
		if ((auc_slot)floor(now / r->slot_seconds) <= r->runs[i].to)
			return layout_make_run(l, r, i, lead, lead_node, err);
	memset(l, 0, sizeof(*l));
	if (r->nruns && r->slot_seconds > 0 && strcmp(r->state, "member") != 0)
		return auc_err_set(err, AUC_ESTATE, "the time that job %" PRIu32 " bought is over",
				   lead);
	return layout_make_run(l, r, 0, lead, lead_node, err);
}

enum auc_code layout_make_run(struct layout *l, const struct auc_receipt *r, unsigned number,
			      uint32_t lead, const char *lead_node, struct auc_err *err)
{
	const struct auc_receipt_run *run;
	enum auc_code rc;

	memset(l, 0, sizeof(*l));
	if (strcmp(r->state, "member") == 0)
		return auc_err_set(err, AUC_EINVAL,
				   "job %" PRIu32 " is a member of the group of job %" PRIu32
				   ", not its lead",
				   lead, r->lead);
	if (r->slot_seconds <= 0 || number >= r->nruns)
		return auc_err_set(err, AUC_EINVAL, "the receipt of job %" PRIu32 " holds no plan",
				   lead);
	run = &r->runs[number];

	l->lead = lead;
	snprintf(l->lead_node, sizeof(l->lead_node), "%s", lead_node);
	snprintf(l->sale, sizeof(l->sale), "%s", r->sale);
	snprintf(l->worker_type, sizeof(l->worker_type), "%s", r->worker_type);
	snprintf(l->ps_type, sizeof(l->ps_type), "%s", r->ps_type);
	l->slot_seconds = r->slot_seconds;
	l->begin = run->from * r->slot_seconds;
	l->end = (run->to + 1) * r->slot_seconds;
	rc = layout_share_make(&l->share[ROLE_WORKER], r->worker_tres, r->nworker_tres,
			       r->worker_type, err);
	if (rc == AUC_OK)
		rc = layout_share_make(&l->share[ROLE_PS], r->ps_tres, r->nps_tres, r->ps_type,
				       err);
	if (rc != AUC_OK)
		return rc;

	l->steps = calloc(2 * (size_t)run->nshares, sizeof(*l->steps));
	if (!l->steps || !layout_add_chunks(l, r)) {
		layout_clear(l);
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	}
	layout_add_steps(l, r, run, ROLE_PS, true);
	layout_add_steps(l, r, run, ROLE_PS, false);
	layout_add_steps(l, r, run, ROLE_WORKER, true);
	layout_add_steps(l, r, run, ROLE_WORKER, false);
	rc = AUC_OK;
	if (!l->nworkers || l->nworkers > LAYOUT_TASKS_MAX || l->nps > LAYOUT_TASKS_MAX)
		rc = auc_err_set(
			err, AUC_EINVAL,
			"the plan has %u worker%s and %u PS%s: expected 1 to %u workers, at "
			"most %u PSs",
			l->nworkers, auc_plural(l->nworkers), l->nps, auc_plural(l->nps),
			LAYOUT_TASKS_MAX, LAYOUT_TASKS_MAX);
	else if (l->steps[0].job_id != lead)
		rc = auc_err_set(err, AUC_ESTATE,
				 "job %" PRIu32 " runs on %s, but the plan has its first %s on %s",
				 lead, lead_node, role_name(l->steps[0].role), l->steps[0].node);
	if (rc != AUC_OK)
		layout_clear(l);
	return rc;
}

enum auc_code layout_local(struct layout *l, unsigned workers, unsigned ps, const char *node,
			   struct auc_err *err)
{
	memset(l, 0, sizeof(*l));
	l->steps = calloc((size_t)workers + ps, sizeof(*l->steps));
	if (!l->steps)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	snprintf(l->lead_node, sizeof(l->lead_node), "%s", node);
	l->nworkers = workers;
	l->nps = ps;
	/* Without Slurm every task is a process of its own. */
	for (unsigned i = 0; i < workers + ps; i++) {
		struct layout_step *s = &l->steps[l->nsteps++];

		snprintf(s->node, sizeof(s->node), "%s", node);
		s->role = i < ps ? ROLE_PS : ROLE_WORKER;
		s->ntasks = 1;
		s->first_rank = i < ps ? i : i - ps;
	}
	return AUC_OK;
}

/* False: no memory. */
static bool layout_add_chunks(struct layout *l, const struct auc_receipt *r)
{
	const char *before = "";
	size_t size;
	FILE *out;

	l->nmoves = r->nmoves;
	if (r->ndata)
		l->chunks = moves_places(r);
	if (!r->nchunks)
		return true;
	out = open_memstream(&l->chunks, &size);
	if (!out)
		return false;
	for (unsigned i = 0; i < r->nchunks; i++) {
		bool first = true;

		for (unsigned k = 0; k < i && first; k++)
			first = strcmp(r->chunks[k], r->chunks[i]) != 0;
		for (unsigned k = i; k < r->nchunks && first; k++) {
			if (strcmp(r->chunks[k], r->chunks[i]) != 0)
				continue;
			if (k == i)
				fprintf(out, "%s%s=%u", before, r->chunks[i], k);
			else
				fprintf(out, ",%u", k);
		}
		before = ";";
	}
	return !fclose(out);
}

void layout_clear(struct layout *l)
{
	free(l->chunks);
	free(l->steps);
	memset(l, 0, sizeof(*l));
}

enum auc_code layout_copy(struct layout *to, const struct layout *from, struct auc_err *err)
{
	*to = *from;
	to->steps = calloc(from->nsteps ? from->nsteps : 1, sizeof(*to->steps));
	to->chunks = from->chunks ? strdup(from->chunks) : NULL;
	if (!to->steps || (from->chunks && !to->chunks)) {
		free(to->steps);
		free(to->chunks);
		memset(to, 0, sizeof(*to));
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	}
	if (from->nsteps)
		memcpy(to->steps, from->steps, from->nsteps * sizeof(*to->steps));
	return AUC_OK;
}

unsigned layout_count(const struct layout *l, const char *node, enum role role)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->nsteps; i++)
		if (l->steps[i].role == role && strcmp(l->steps[i].node, node) == 0)
			n += l->steps[i].ntasks;
	return n;
}

bool layout_same(const struct layout *a, const struct layout *b, enum role role)
{
	return layout_covers(a, b, role) && layout_covers(b, a, role);
}

bool layout_complete(const struct layout *l, const char **node)
{
	for (unsigned i = 0; i < l->nsteps; i++) {
		if (!l->steps[i].job_id) {
			if (node)
				*node = l->steps[i].node;
			return false;
		}
	}
	return true;
}

void layout_set_job(struct layout *l, const char *node, uint32_t job_id)
{
	for (unsigned i = 0; i < l->nsteps; i++)
		if (strcmp(l->steps[i].node, node) == 0)
			l->steps[i].job_id = job_id;
}

char **layout_srun(const struct layout *l, const struct layout_step *s, char *const agent[])
{
	const struct layout_share *share = &l->share[s->role];
	struct argv a = {0};

	argv_add(&a, "srun");
	argv_add(&a, "--jobid=%" PRIu32, s->job_id);
	argv_add(&a, "--job-name=%s", role_name(s->role));
	argv_add(&a, "--ntasks=%u", s->ntasks);
	/* Exactly its share, so that the steps of one allocation run side by side. */
	argv_add(&a, "--exact");
	if (share->cpus)
		argv_add(&a, "--cpus-per-task=%u", share->cpus);
	if (share->mem_mb > 0)
		argv_add(&a, "--mem=%" PRId64, auc_floor(fmax(1, share->mem_mb * s->ntasks)));
	/* By number alone: with a type, Slurm 22.05 binds no task to its own GPUs. */
	if (share->gpus)
		argv_add(&a, "--gpus-per-task=%u", share->gpus);
	/* Without "none" a step takes all GPUs of the allocation. */
	if (share->ngres)
		argv_add_gres(&a, share, s->ntasks);
	else if (!share->gpus)
		argv_add(&a, "--gres=none");
	argv_add(&a, "--mpi=none");
	argv_add(&a, "--input=none");
	/* The site's KillOnBadExit and WaitTime would end a step behind our back. */
	argv_add(&a, "--kill-on-bad-exit=0");
	argv_add(&a, "--wait=0");
	for (; *agent; agent++)
		argv_add(&a, "%s", *agent);
	if (a.failed) {
		layout_argv_free(a.v);
		return NULL;
	}
	return a.v;
}

void layout_argv_free(char **argv)
{
	if (!argv)
		return;
	for (char **p = argv; *p; p++)
		free(*p);
	free(argv);
}

/* Every node of A has as many tasks in B. */
static bool layout_covers(const struct layout *a, const struct layout *b, enum role role)
{
	for (unsigned i = 0; i < a->nsteps; i++) {
		const struct layout_step *s = &a->steps[i];

		if ((role == ROLES || s->role == role) &&
		    layout_count(a, s->node, s->role) != layout_count(b, s->node, s->role))
			return false;
	}
	return true;
}

/* Adds the steps of one role on the lead's node (LEAD) or on the others, in the order of the plan.
 */
static void layout_add_steps(struct layout *l, const struct auc_receipt *r,
			     const struct auc_receipt_run *run, enum role role, bool lead)
{
	unsigned *total = role == ROLE_PS ? &l->nps : &l->nworkers;

	for (unsigned i = 0; i < run->nshares; i++) {
		const struct auc_receipt_share *share = &r->shares[run->first_share + i];
		unsigned n = role == ROLE_PS ? share->ps : share->workers;
		struct layout_step *s;

		if (!n || (strcmp(share->server, l->lead_node) == 0) != lead)
			continue;
		s = &l->steps[l->nsteps++];
		snprintf(s->node, sizeof(s->node), "%s", share->server);
		s->job_id = lead ? l->lead : 0;
		s->role = role;
		s->ntasks = n;
		s->first_rank = *total;
		/* Many large counts must not wrap round to a small one. */
		*total = n > LAYOUT_TASKS_MAX || *total > LAYOUT_TASKS_MAX ? LAYOUT_TASKS_MAX + 1
									   : *total + n;
	}
}

/*
 * Translates the TRES of one task, fractions downwards: all tasks together must fit into what was
 * bought. Licenses and the like belong to a job, not to a step.
 */
static enum auc_code layout_share_make(struct layout_share *s, const struct auc_named *tres,
				       unsigned ntres, const char *what, struct auc_err *err)
{
	double gpus = 0;

	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < ntres; i++) {
		const char *name = tres[i].name;
		double v = tres[i].value;

		if (!(v > 0))
			continue;
		if (!(v < TRES_LIMIT))
			return auc_err_set(err, AUC_EINVAL,
					   "type %s: %s=%g: expected less than 1e9", what, name, v);
		if (strcmp(name, "cpu") == 0) {
			s->cpus = v < 1 ? 1 : auc_floor(v);
			continue;
		}
		if (strcmp(name, "mem") == 0) {
			s->mem_mb = v;
			continue;
		}
		if (!layout_is_gres(&name))
			continue;
		if (v != floor(v))
			return auc_err_set(err, AUC_EINVAL,
					   "type %s: %s=%g: a step takes whole ones only", what,
					   name, v);
		if (strcmp(name, "gpu") == 0 || strncmp(name, "gpu:", 4) == 0)
			gpus += v;
		else if (s->ngres < AUC_TRES_MAX) {
			snprintf(s->gres[s->ngres].name, sizeof(s->gres[0].name), "%s", name);
			s->gres[s->ngres++].value = v;
		}
	}
	if (!(gpus < TRES_LIMIT))
		return auc_err_set(err, AUC_EINVAL, "type %s: %g GPUs: expected less than 1e9",
				   what, gpus);
	s->gpus = (unsigned)gpus;
	return AUC_OK;
}

/* Both spellings of a generic resource, "gres/gpu:v100" and "gpu:v100"; takes the prefix off *NAME.
 */
static bool layout_is_gres(const char **name)
{
	if (strncmp(*name, "gres/", 5) == 0) {
		*name += 5;
		return true;
	}
	return strcmp(*name, "gpu") == 0 || (strchr(*name, ':') && !strchr(*name, '/'));
}

/* --gres counts by node, our shares by task. */
static void argv_add_gres(struct argv *a, const struct layout_share *share, unsigned ntasks)
{
	char list[AUC_TRES_MAX * (AUC_NAME_MAX + 16)];
	size_t n = 0;

	for (unsigned i = 0; i < share->ngres; i++)
		n += snprintf(list + n, sizeof(list) - n, "%s%s:%.0f", i ? "," : "",
			      share->gres[i].name, share->gres[i].value * ntasks);
	argv_add(a, "--gres=%s", list);
}

static void argv_add(struct argv *a, const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;
	int n;

	if (a->n + 2 > a->alloc) {
		size_t alloc = a->alloc ? 2 * a->alloc : 32;
		char **v = realloc(a->v, alloc * sizeof(*v));

		if (!v) {
			a->failed = true;
			return;
		}
		a->v = v;
		a->alloc = alloc;
	}
	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	a->v[a->n] = n < 0 ? NULL : s;
	if (n < 0) {
		a->failed = true;
		return;
	}
	a->v[++a->n] = NULL;
}
