/* whole_jobs.c - see whole_jobs.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/pairs.h"
#include "auctionsim/baseline/whole_jobs.h"

#define CHUNK_SLOTS_MAX AUC_SLOTS_MAX /* a chunk that takes more is never trained */

static enum auc_code make_tables(struct whole_jobs *g, const struct auc_market *m,
				 struct auc_err *err);
static enum auc_code make_job(struct whole_jobs *g, const struct auc_market *m, uint64_t id,
			      const struct auc_job *job, enum auc_reason *reason,
			      struct whole_job *j, struct auc_err *err);
static void free_job(struct whole_job *j);
static void drop_done(struct whole_jobs *g);
static bool place(struct whole_jobs *g, struct whole_job *j, auc_slot t, bool *together);
static int64_t wanted(const struct whole_job *j, bool together);
static void look(struct whole_jobs *g, const struct whole_job *j, auc_slot t);
static bool usable(const struct whole_jobs *g, const struct whole_job *j, unsigned server,
		   auc_slot t);
static bool place_together(struct whole_jobs *g, struct whole_job *j, int64_t n);
static bool place_apart(struct whole_jobs *g, struct whole_job *j, auc_slot t, int64_t n);
static bool fits_beside(struct whole_jobs *g, const struct whole_job *j, unsigned server,
			unsigned n);
static void keep_shares(struct whole_jobs *g, struct whole_job *j);
static unsigned workers_before(const struct whole_job *j, unsigned server);

void whole_jobs_clear(struct whole_jobs *g)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		free_job(g->jobs[i]);
	free(g->jobs);
	free(g->layouts);
	free(g->fit);
	free(g->order);
	free(g->take);
	auc_free_room_clear(&g->room);
	memset(g, 0, sizeof(*g));
}

enum auc_code whole_jobs_arrive(struct whole_jobs *g, const struct auc_market *m, uint64_t id,
				const struct auc_job *job, enum auc_reason *reason,
				struct auc_err *err)
{
	struct whole_job *j;
	enum auc_code rc;

	drop_done(g);
	rc = make_tables(g, m, err);
	if (rc != AUC_OK)
		return rc;
	j = calloc(1, sizeof(*j));
	if (!j)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
	rc = make_job(g, m, id, job, reason, j, err);
	if (rc != AUC_OK || *reason != AUC_REASON_NONE) {
		free_job(j);
		return rc;
	}
	g->jobs[g->n++] = j;
	return AUC_OK;
}

enum auc_code whole_jobs_step(struct whole_jobs *g, const struct auc_market *m, auc_slot t,
			      int (*compare)(const void *, const void *),
			      const struct auc_layout **layouts, unsigned *n, struct auc_err *err)
{
	struct whole_job *j;
	enum auc_code rc;
	bool together;
	unsigned i;

	*n = 0;
	*layouts = g->layouts;
	drop_done(g);
	rc = auc_free_room_open(&g->room, m, t, err);
	if (rc != AUC_OK)
		return rc;
	if (g->n)
		qsort(g->jobs, g->n, sizeof(struct whole_job *), compare);
	for (i = 0; i < g->n; i++) {
		j = g->jobs[i];
		j->running = !j->waits && place(g, j, t, &together);
		if (!j->running)
			continue;
		j->served += wanted(j, together);
		j->left -= wanted(j, together) * (together ? j->apart : j->together);
		j->done = j->left <= 0;
		g->layouts[(*n)++] = (struct auc_layout){
			.id = j->id,
			.worker_type = j->worker_type,
			.ps_type = j->ps_type,
			.colocated = together,
			.last = j->done,
			.nshares = j->nshares,
			.shares = j->shares,
		};
	}
	return AUC_OK;
}

enum auc_code whole_jobs_leave(struct whole_jobs *g, uint64_t id, struct auc_err *err)
{
	unsigned i;

	drop_done(g);
	for (i = 0; i < g->n; i++)
		if (g->jobs[i]->id == id) {
			g->jobs[i]->done = true;
			drop_done(g);
			return AUC_OK;
		}
	return auc_err_set(err, AUC_ENOENT, "job %llu: not at hand", (unsigned long long)id);
}

/* Room for one more job, and for a layout among M's servers. */
static enum auc_code make_tables(struct whole_jobs *g, const struct auc_market *m,
				 struct auc_err *err)
{
	unsigned alloc = g->alloc * 2 + 16, servers = m->nservers + 1;
	void *jobs, *layouts, *fit, *order, *take;

	if (g->n == g->alloc) {
		jobs = realloc(g->jobs, alloc * sizeof(*g->jobs));
		if (jobs)
			g->jobs = jobs;
		layouts = realloc(g->layouts, alloc * sizeof(*g->layouts));
		if (layouts)
			g->layouts = layouts;
		if (!jobs || !layouts)
			return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
		g->alloc = alloc;
	}
	if (g->servers_alloc >= servers)
		return AUC_OK;
	fit = realloc(g->fit, servers * sizeof(*g->fit));
	if (fit)
		g->fit = fit;
	order = realloc(g->order, servers * sizeof(*g->order));
	if (order)
		g->order = order;
	take = realloc(g->take, servers * sizeof(*g->take));
	if (take)
		g->take = take;
	if (!fit || !order || !take)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a layout among %u servers",
				   m->nservers);
	g->servers_alloc = servers;
	return AUC_OK;
}

static enum auc_code make_job(struct whole_jobs *g, const struct auc_market *m, uint64_t id,
			      const struct auc_job *job, enum auc_reason *reason,
			      struct whole_job *j, struct auc_err *err)
{
	enum auc_code rc = auc_free_room_open_empty(&g->room, m, err);
	double chunks = (double)job->chunks;
	bool together;
	int64_t total = 0, fit;
	unsigned s;

	*reason = AUC_REASON_CAPACITY;
	if (rc != AUC_OK || !auc_pairs_fastest(m, job, &j->worker_type, &j->ps_type))
		return rc;
	j->id = id;
	j->number = g->arrived++;
	j->arrival = job->arrival;
	j->site = (enum whole_job_site)g->site;
	j->worker = m->types[j->worker_type];
	j->ps = m->types[auc_ps_index(m, j->ps_type)];
	j->apart = auc_job_duration(
		auc_job_work(m, job, j->worker_type, j->ps_type, false) / chunks, 1);
	j->together = auc_job_duration(
		auc_job_work(m, job, j->worker_type, j->ps_type, true) / chunks, 1);
	if (j->apart > CHUNK_SLOTS_MAX)
		return AUC_OK;
	j->chunks = job->chunks;
	j->left = (int64_t)job->chunks * j->apart * j->together;
	j->upload = calloc(m->nservers + 1, sizeof(*j->upload));
	j->shares = calloc(m->nservers + 1, sizeof(*j->shares));
	if (!j->upload || !j->shares)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
	/* As if its data were everywhere: does it fit, and how much of it? */
	for (s = 0; s < m->nservers; s++) {
		fit = auc_free_room_fit(&g->room, s, &j->worker);
		if (!m->servers[s].cloud)
			j->edge_fit += fit;
		else if (fit > j->cloud_fit)
			j->cloud_fit = fit;
		if (usable(g, j, s, job->arrival))
			total += fit;
	}
	j->n = (int64_t)(job->workers && job->workers < job->chunks ? job->workers : job->chunks);
	if (j->n > total)
		j->n = total;
	while (j->n > 0 && !place(g, j, job->arrival, &together))
		j->n--;
	if (!j->n)
		return AUC_OK;
	j->nshares = 0;
	memcpy(j->upload, job->upload, m->nservers * sizeof(*j->upload));
	*reason = AUC_REASON_NONE;
	return AUC_OK;
}

static void free_job(struct whole_job *j)
{
	free(j->upload);
	free(j->shares);
	free(j);
}

static void drop_done(struct whole_jobs *g)
{
	unsigned i, kept = 0;

	for (i = 0; i < g->n; i++)
		if (g->jobs[i]->done)
			free_job(g->jobs[i]);
		else
			g->jobs[kept++] = g->jobs[i];
	g->n = kept;
}

/* On one server if one holds it all, else on as few as possible; *TOGETHER says which. */
static bool place(struct whole_jobs *g, struct whole_job *j, auc_slot t, bool *together)
{
	unsigned s;

	look(g, j, t);
	*together = place_together(g, j, wanted(j, true));
	if (!*together && !place_apart(g, j, t, wanted(j, false)))
		return false;
	keep_shares(g, j);
	for (s = 0; s < j->nshares; s++) {
		auc_free_room_take(&g->room, j->shares[s].server, &j->worker, j->shares[s].workers);
		auc_free_room_take(&g->room, j->shares[s].server, &j->ps, j->shares[s].ps);
	}
	return true;
}

/* All of its workers, or as many as there is work for. */
static int64_t wanted(const struct whole_job *j, bool together)
{
	int64_t rate = together ? j->apart : j->together, need = (j->left + rate - 1) / rate;

	return need < j->n ? need : j->n;
}

/* How many workers fit where. */
static void look(struct whole_jobs *g, const struct whole_job *j, auc_slot t)
{
	unsigned s;

	for (s = 0; s < g->room.m->nservers; s++) {
		g->fit[s] = usable(g, j, s, t) ? auc_free_room_fit(&g->room, s, &j->worker) : 0;
		g->order[s] = s;
		g->take[s] = 0;
	}
}

static bool usable(const struct whole_jobs *g, const struct whole_job *j, unsigned server,
		   auc_slot t)
{
	bool cloud = g->room.m->servers[server].cloud;

	return j->site != (cloud ? WHOLE_JOB_EDGE : WHOLE_JOB_CLOUD) &&
	       t - j->arrival >= (auc_slot)j->upload[server];
}

/* The server it is on first, then by index. */
static bool place_together(struct whole_jobs *g, struct whole_job *j, int64_t n)
{
	unsigned s, i, first = j->nshares ? j->ps_server : 0, nservers = g->room.m->nservers;

	for (i = 0; i < nservers; i++) {
		s = (first + i) % nservers;
		if (g->fit[s] < n || !fits_beside(g, j, s, (unsigned)n))
			continue;
		g->take[s] = (unsigned)n;
		j->ps_server = s;
		return true;
	}
	return false;
}

/* What compare_servers() looks at. */
struct preference {
	const struct whole_jobs *g;
	const struct whole_job *j;
};

/* Where its workers are already, then by room, then by index. */
static int compare_servers(const void *a, const void *b, void *arg)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	const struct preference *p = arg;
	unsigned bx = workers_before(p->j, x), by = workers_before(p->j, y);

	if (bx != by)
		return bx > by ? -1 : 1;
	if (p->g->fit[x] != p->g->fit[y])
		return p->g->fit[x] > p->g->fit[y] ? -1 : 1;
	return (x > y) - (x < y);
}

/* The PS where it is already, else on the first server that has room for it beside the workers. */
static bool place_apart(struct whole_jobs *g, struct whole_job *j, auc_slot t, int64_t n)
{
	struct preference preference = {g, j};
	unsigned i, s, nservers = g->room.m->nservers, first = j->nshares ? j->ps_server : 0;
	int64_t total = 0;

	for (s = 0; s < nservers; s++)
		total += g->fit[s];
	if (total < n)
		return false;
	qsort_r(g->order, nservers, sizeof(*g->order), compare_servers, &preference);
	for (i = 0; i < nservers && n; i++) {
		s = g->order[i];
		g->take[s] = g->fit[s] < n ? g->fit[s] : (unsigned)n;
		n -= g->take[s];
	}
	for (i = 0; i < nservers; i++) {
		s = (first + i) % nservers;
		if (!usable(g, j, s, t) || !fits_beside(g, j, s, g->take[s]))
			continue;
		j->ps_server = s;
		return true;
	}
	return false;
}

/* Is there room for a PS beside N workers? */
static bool fits_beside(struct whole_jobs *g, const struct whole_job *j, unsigned server,
			unsigned n)
{
	bool fits;

	auc_free_room_take(&g->room, server, &j->worker, n);
	fits = auc_free_room_fit(&g->room, server, &j->ps) > 0;
	auc_free_room_give(&g->room, server, &j->worker, n);
	return fits;
}

static void keep_shares(struct whole_jobs *g, struct whole_job *j)
{
	unsigned s;

	j->nshares = 0;
	for (s = 0; s < g->room.m->nservers; s++)
		if (g->take[s] || s == j->ps_server)
			j->shares[j->nshares++] = (struct auc_share){
				.server = s, .workers = g->take[s], .ps = s == j->ps_server};
}

static unsigned workers_before(const struct whole_job *j, unsigned server)
{
	unsigned i;

	for (i = 0; i < j->nshares; i++)
		if (j->shares[i].server == server)
			return j->shares[i].workers;
	return 0;
}
