/*
 * offline.c - see offline.h. Written over the checker's books, so that it shares no mistake with
 * the policies.
 *
 * A job has a schedule at most. For each of its type pairs, placements and windows with a value (of
 * a duration only with the fewest workers n: more cost more and are worth the same) the program has
 *
 *   x_q    1: co-located on server q; or
 *   x_qz   1: distributed, z PSs on server q, for each z that some number of workers elsewhere
 * needs y_s    workers on server s, a whole number
 *
 * with the sum of y_s = n * the sum of x_qz; y_q >= (n - what z PSs serve) * x_qz; and y_q + x_qz
 * <= n, as one worker at least is elsewhere. Ceilings are worked out when the program is made, so
 * that all its numbers are whole but for the amounts. What is used of a TRES of a server in a slot
 * is at most what is left there. That is exact, and no placement is ever listed.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "auctionsim/optimum/offline.h"

#define COLUMNS     20000 /* as many as are tried if not asked for */
#define COLUMNS_MAX 10000000
#define SECONDS_MAX 1e6

#ifdef HAVE_GLPK
#include "auctionsim/optimum/offline-private.h"
#include "policy/option.h"

/* A column x. */
static enum auc_code read_options(struct offline *p, const char *options, struct auc_err *err);
static enum auc_code build(struct offline *p, struct auc_err *err);
static void add_job(struct offline *p, unsigned index, int row);
static void add_pair(struct offline *p, struct way *way, const struct scenario_job *job, int row);
static void add_way(struct offline *p, struct way *way, int row);
static void add_colocated(struct offline *p, const struct way *way, unsigned index, int row);
static void add_distributed(struct offline *p, struct way *way, unsigned index, int row);
static void add_ps_server(struct offline *p, const struct way *way, unsigned index, unsigned server,
			  int row);
static enum auc_code solve(struct offline *p, struct auc_err *err);
static enum auc_code write_program(struct offline *p, struct auc_err *err);
static void watch(glp_tree *tree, void *arg);
static enum auc_code keep(struct offline *p, const struct choice *c, struct auc_err *err);
static void *at(const struct list *l, size_t i);

enum auc_code offline_run(const struct scenario *s, bool oasis, const char *options,
			  struct result *result, double *us, struct auc_err *err)
{
	struct offline p = {.s = s,
			    .result = result,
			    .max_columns = COLUMNS,
			    .seconds = -1,
			    .memory = true,
			    .oasis = oasis};
	double start = auc_clock(CLOCK_PROCESS_CPUTIME_ID);
	enum auc_code rc;

	p.ways.size = sizeof(struct way);
	p.choices.size = sizeof(struct choice);
	p.columns.size = p.row.size = p.column.size = sizeof(int);
	p.value.size = sizeof(double);
	rc = read_options(&p, options, err);
	if (rc == AUC_OK) {
		glp_term_out(GLP_OFF);
		p.lp = glp_create_prob();
		rc = build(&p, err);
	}
	if (rc == AUC_OK)
		rc = solve(&p, err);
	us[0] = (auc_clock(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e6;
	result->decisions = s->njobs > 0; /* all jobs by one */
	if (p.lp)
		glp_delete_prob(p.lp);
	books_close(p.books);
	free(p.ways.data);
	free(p.choices.data);
	free(p.columns.data);
	free(p.row.data);
	free(p.column.data);
	free(p.value.data);
	free(p.capacity_row);
	free(p.tres);
	free(p.nodes);
	auc_market_destroy(p.market);
	glp_free_env();
	return rc;
}

enum auc_code offline_check_options(const char *options, struct auc_err *err)
{
	struct offline p = {0};

	return read_options(&p, options, err);
}

static enum auc_code read_options(struct offline *p, const char *options, struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "seconds",
		 .type = AUC_OPTION_NUMBER,
		 .min = 0.001,
		 .max = SECONDS_MAX,
		 .offset = offsetof(struct offline, seconds)},
		{.key = "columns",
		 .type = AUC_OPTION_COUNT,
		 .min = 1,
		 .max = COLUMNS_MAX,
		 .offset = offsetof(struct offline, max_columns)},
		{.key = "keep", .choices = "no|yes", .offset = offsetof(struct offline, keep)},
	};

	return auc_options_read("offline", options, list, 3, p, err);
}

/* -- the program -- */

static enum auc_code build(struct offline *p, struct auc_err *err)
{
	const struct scenario *s = p->s;
	struct auc_job job = {0};
	enum auc_code rc = AUC_OK;
	unsigned i, k, n = 0;
	size_t cells;

	for (i = 0; i < s->njobs; i++)
		n += s->jobs[i].ngang;
	p->nodes = calloc((size_t)n + 1, sizeof(*p->nodes));
	for (i = 0, n = 0; i < s->nservers; i++)
		n += s->servers[i].ncapacity;
	p->books = books_open(s);
	p->tres = calloc(n + 1, sizeof(*p->tres));
	if (!p->books || !p->tres || !p->nodes)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	for (i = 0; i < s->nservers; i++)
		for (n = 0; n < s->servers[i].ncapacity; n++) {
			for (k = 0; k < p->ntres &&
				    strcmp(p->tres[k], s->servers[i].capacity[n].name) != 0;
			     k++)
				;
			p->tres[k] = s->servers[i].capacity[n].name;
			p->ntres += k == p->ntres;
		}
	cells = (size_t)s->nservers * p->ntres * s->slots;
	p->capacity_row = calloc(cells + 1, sizeof(*p->capacity_row));
	if (!p->capacity_row)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	glp_set_obj_dir(p->lp, GLP_MAX);
	rc = scenario_market_create(s, NULL, &p->market, err);
	for (i = 0; i < s->njobs && rc == AUC_OK && p->memory; i++) {
		rc = scenario_market_job(s, &s->jobs[i], p->market, &job,
					 err); /* are all keys there? */
		if (rc == AUC_OK)
			(p->oasis           ? offline_oasis_job
			 : s->jobs[i].ngang ? offline_gang_job
					    : add_job)(p, i, offline_row(p, GLP_UP, 0, 1));
		if (rc == AUC_OK && (uint64_t)glp_get_num_cols(p->lp) > p->max_columns)
			rc = auc_err_set(err, AUC_EINVAL,
					 "%s: the first %u of %u jobs alone give an integer "
					 "program of %d columns, policy offline tries at most %llu "
					 "(columns=N): 'auctionsim bound' bounds the optimum of "
					 "any scenario",
					 s->file, i + 1, s->njobs, glp_get_num_cols(p->lp),
					 (unsigned long long)p->max_columns);
	}
	auc_job_clear(&job);
	return p->memory ? rc
			 : auc_err_set(err, AUC_ENOMEM, "%s: no memory for an integer program",
				       s->file);
}

static void add_job(struct offline *p, unsigned index, int row)
{
	const struct scenario_job *job = &p->s->jobs[index];
	struct way way = {.job = index};
	unsigned placement;

	for (way.worker = 0; way.worker < job->nworker_seconds; way.worker++)
		for (way.ps = 0; way.ps < job->nps_seconds; way.ps++)
			for (placement = 0; placement < 2; placement++) {
				way.colocated = placement;
				add_pair(p, &way, job, row);
				if ((uint64_t)glp_get_num_cols(p->lp) > p->max_columns)
					return;
			}
}

/* All windows of one pair of types and placement. */
static void add_pair(struct offline *p, struct way *way, const struct scenario_job *job, int row)
{
	const struct scenario_pair *worker = &job->worker_seconds[way->worker],
				   *ps = &job->ps_seconds[way->ps];
	long double work, n, d;
	uint64_t from;

	offline_types(p, way);
	work = books_work(p->books, job, way->worker_type, worker->value, ps->value,
			  way->colocated);
	for (d = 1; d <= p->s->slots; d++) {
		n = fmaxl(1, floorl(work / d) - 1);
		while (books_duration(work, n) > d)
			n++;
		if (n > job->chunks)
			continue;
		way->n = (uint64_t)n;
		if (books_duration(work, n) != d) {
			if (n == 1)
				return; /* one worker is faster than this already */
			continue;
		}
		for (from = job->arrival; from + (uint64_t)d <= p->s->slots + 1; from++) {
			way->from = from;
			way->to = from + (uint64_t)d - 1;
			way->value = auc_utility_value(&job->utility,
						       (double)(way->to + 1 - job->arrival));
			if (!(way->value > 0))
				break;
			add_way(p, way, row);
		}
	}
}

void offline_types(struct offline *p, struct way *way)
{
	const struct scenario_job *job = &p->s->jobs[way->job];
	double seconds;

	way->worker_type = books_worker_type(
		p->books, job,
		scenario_worker_type_name(p->s, job, job->worker_seconds[way->worker].index),
		&seconds);
	way->ps_type = books_ps_type(
		p->books, job, scenario_ps_type_name(p->s, job, job->ps_seconds[way->ps].index),
		&seconds);
}

static void add_way(struct offline *p, struct way *way, int row)
{
	unsigned index = (unsigned)p->ways.n;

	way->first_y = way->row = 0;
	if (!offline_push(p, &p->ways, way))
		return;
	if (way->colocated)
		add_colocated(p, way, index, row);
	else
		add_distributed(p, way, index, row);
	*(struct way *)at(&p->ways, index) = *way;
}

static void add_colocated(struct offline *p, const struct way *way, unsigned index, int row)
{
	struct choice c = {.way = index, .z = 1};
	unsigned s;
	int column;

	for (s = 0; s < p->s->nservers; s++) {
		if (offline_ready(&p->s->jobs[way->job], s) > way->from ||
		    books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s, way->from, way->to,
			       way->ps_type, 1) < way->n ||
		    books_room(p->books, way->ps_type, AUC_ROLE_PS, s, way->from, way->to, NULL,
			       0) < 1)
			continue;
		c.server = s;
		column = offline_column(p, 1, way->value);
		if (!offline_push(p, &p->choices, &c) || !offline_push(p, &p->columns, &column))
			return;
		offline_entry(p, row, column, 1);
		offline_use(p, column, way, s, way->n, 1);
	}
}

static void add_distributed(struct offline *p, struct way *way, unsigned index, int row)
{
	const struct scenario_job *job = &p->s->jobs[way->job];
	unsigned s;
	long double room = 0, ps_room = 0, fit;
	int column;

	for (s = 0; s < p->s->nservers; s++) {
		if (offline_ready(job, s) > way->from)
			continue;
		room += books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s, way->from,
				   way->to, NULL, 0);
		ps_room = fmaxl(ps_room, books_room(p->books, way->ps_type, AUC_ROLE_PS, s,
						    way->from, way->to, NULL, 0));
	}
	if (room < way->n || ps_room < 1)
		return;
	way->row = offline_row(p, GLP_FX, 0, 0);
	for (s = 0; s < p->s->nservers; s++) {
		fit = offline_ready(job, s) > way->from
			      ? 0
			      : books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s,
					   way->from, way->to, NULL, 0);
		column = offline_column(p, (double)fminl(fit, way->n), 0);
		if (!s)
			way->first_y = column;
		offline_entry(p, way->row, column, 1);
		offline_use(p, column, way, s, 1, 0);
	}
	for (s = 0; s < p->s->nservers; s++)
		if (offline_ready(job, s) <= way->from)
			add_ps_server(p, way, index, s, row);
}

/* Each number of PSs that may be needed on SERVER: with less of them more workers are next to them.
 */
static void add_ps_server(struct offline *p, const struct way *way, unsigned index, unsigned server,
			  int row)
{
	long double room = books_room(p->books, way->ps_type, AUC_ROLE_PS, server, way->from,
				      way->to, NULL, 0),
		    z;
	int here = 0, elsewhere = 0, column;
	struct choice c = {.way = index, .server = server};
	uint64_t e, served;

	for (e = 1; e <= way->n; e = served + 1) {
		z = books_ps(way->worker_type, way->ps_type, e);
		for (served = e;
		     served < way->n && books_ps(way->worker_type, way->ps_type, served + 1) <= z;
		     served++)
			;
		if (z > room)
			return;
		c.z = (uint64_t)z;
		column = offline_column(p, 1, way->value);
		if (!offline_push(p, &p->choices, &c) || !offline_push(p, &p->columns, &column))
			return;
		offline_entry(p, row, column, 1);
		offline_entry(p, way->row, column, -(double)way->n);
		offline_use(p, column, way, server, 0, c.z);
		if (!here) {
			here = offline_row(p, GLP_LO, 0, 0);
			elsewhere = offline_row(p, GLP_UP, 0, (double)way->n);
			offline_entry(p, here, way->first_y + (int)server, 1);
			offline_entry(p, elsewhere, way->first_y + (int)server, 1);
		}
		offline_entry(p, here, column, -(double)(way->n - served));
		offline_entry(p, elsewhere, column, 1);
	}
}

/* A whole number from 0 to MOST that is worth VALUE each. */
int offline_column(struct offline *p, double most, double value)
{
	int column = glp_add_cols(p->lp, 1);

	if (most > 0)
		glp_set_col_bnds(p->lp, column, GLP_DB, 0, most);
	else
		glp_set_col_bnds(p->lp, column, GLP_FX, 0, 0);
	glp_set_col_kind(p->lp, column, GLP_IV);
	glp_set_obj_coef(p->lp, column, value);
	return column;
}

int offline_row(struct offline *p, int kind, double low, double high)
{
	int row = glp_add_rows(p->lp, 1);

	glp_set_row_bnds(p->lp, row, kind, low, high);
	return row;
}

void offline_entry(struct offline *p, int row, int column, double value)
{
	if (value != 0 && offline_push(p, &p->row, &row) && offline_push(p, &p->column, &column))
		offline_push(p, &p->value, &value);
}

/* COLUMN uses that many workers and PSs on SERVER all the window; a row counts in parts of what is
 * left. */
void offline_use(struct offline *p, int column, const struct way *way, unsigned server,
		 uint64_t workers, uint64_t z)
{
	double amount, left;
	unsigned k, i;
	uint64_t t;
	int *row;

	for (k = 0; k < p->ntres; k++) {
		amount = 0;
		for (i = 0; i < way->worker_type->ntres; i++)
			if (!strcmp(way->worker_type->tres[i].name, p->tres[k]))
				amount += (double)workers * way->worker_type->tres[i].value;
		for (i = 0; i < way->ps_type->ntres; i++)
			if (!strcmp(way->ps_type->tres[i].name, p->tres[k]))
				amount += (double)z * way->ps_type->tres[i].value;
		for (t = way->from; amount > 0 && t <= way->to; t++) {
			left = (double)books_left(p->books, server, p->tres[k], t);
			if (!(left > 0))
				continue; /* then nothing fits, and the column's bound says so */
			row = &p->capacity_row[((size_t)server * p->ntres + k) * p->s->slots + t -
					       1];
			if (!*row)
				*row = offline_row(p, GLP_UP, 0, 1);
			offline_entry(p, *row, column, amount / left);
		}
	}
}

/* -- its solution -- */

static enum auc_code solve(struct offline *p, struct auc_err *err)
{
	int *row = (int *)(void *)p->row.data, *column = (int *)(void *)p->column.data;
	double *value = (double *)(void *)p->value.data, best = 0;
	const struct scenario *s = p->s;
	enum auc_code rc = AUC_OK;
	struct choice *c;
	glp_iocp how;
	size_t i;
	int code, status;

	for (i = 0; i < s->njobs; i++)
		p->result->jobs[i].reason = AUC_REASON_CAPACITY;
	if (!p->ways.n)
		return AUC_OK;
	/* GLPK counts from 1 */
	if (p->row.n)
		glp_load_matrix(p->lp, (int)p->row.n, row - 1, column - 1, value - 1);
	if (p->keep)
		rc = write_program(p, err);
	if (rc != AUC_OK)
		return rc;
	glp_init_iocp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.presolve = GLP_ON;
	how.mir_cuts = GLP_ON;
	how.br_tech = GLP_BR_PCH;
	how.cb_func = watch;
	how.cb_info = p;
	p->stop = auc_clock(CLOCK_PROCESS_CPUTIME_ID) + p->seconds;
	p->bound = INFINITY;
	code = glp_intopt(p->lp, &how);
	status = glp_mip_status(p->lp);
	if (code != 0 && code != GLP_ESTOP)
		return auc_err_set(err, AUC_ESTATE, "%s: GLPK gave up with code %d", s->file, code);
	if (status != GLP_OPT && (code != GLP_ESTOP || status == GLP_NOFEAS))
		return auc_err_set(err, AUC_ESTATE, "%s: GLPK found no optimum (status %d)",
				   s->file, status);
	if (status != GLP_UNDEF)
		best = glp_mip_obj_val(p->lp);
	for (i = 0; i < p->choices.n && rc == AUC_OK && status != GLP_UNDEF; i++) {
		c = at(&p->choices, i);
		if (glp_mip_col_val(p->lp, *(int *)at(&p->columns, i)) > 0.5)
			rc = keep(p, c, err);
	}
	for (i = 0; i < p->ways.n && p->oasis && rc == AUC_OK && status != GLP_UNDEF; i++)
		rc = offline_oasis_keep(p, at(&p->ways, i), err);
	if (rc == AUC_OK && code == GLP_ESTOP &&
	    asprintf(
		    &p->result->remark,
		    "offline: not exact: stopped after %g s with %g, the best so far; at most %.9g",
		    p->seconds, best, p->bound) < 0) {
		p->result->remark = NULL;
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	}
	return rc;
}

/* For other solvers: in CPLEX's LP format, beside the scenario. */
static enum auc_code write_program(struct offline *p, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	char *path;

	if (asprintf(&path, "%s.lp", p->s->file) < 0)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", p->s->file);
	if (glp_write_lp(p->lp, NULL, path) != 0)
		rc = auc_err_set(err, AUC_EIO, "%s: cannot be written", path);
	free(path);
	return rc;
}

/* Ends the search when its time is over: processor time, so that other programs do not matter. */
static void watch(glp_tree *tree, void *arg)
{
	struct offline *p = arg;
	int node = glp_ios_best_node(tree);

	if (p->seconds < 0 || auc_clock(CLOCK_PROCESS_CPUTIME_ID) < p->stop)
		return;
	if (node)
		p->bound = glp_ios_node_bound(tree, node);
	glp_ios_terminate(tree);
}

/* The plan of one job. PSs are as many as the workers elsewhere need, which may be less than z. */
static enum auc_code keep(struct offline *p, const struct choice *c, struct auc_err *err)
{
	const struct way *way = at(&p->ways, c->way);
	const struct scenario_job *job = &p->s->jobs[way->job];
	struct outcome *o = &p->result->jobs[way->job];
	uint64_t here = way->n, z = 1, y, slot;
	const char *over = NULL;
	enum auc_code rc;
	unsigned s;

	if (job->ngang)
		return offline_gang_keep(p, way, err);
	if (!way->colocated) {
		here = (uint64_t)llround(glp_mip_col_val(p->lp, way->first_y + (int)c->server));
		z = (uint64_t)books_ps(way->worker_type, way->ps_type, way->n - here);
	}
	o->accepted = o->completed = true;
	o->reason = AUC_REASON_NONE;
	o->value = way->value;
	auc_plan_reset(&o->plan);
	o->plan.worker_type = job->worker_seconds[way->worker].index;
	o->plan.ps_type = job->ps_seconds[way->ps].index;
	o->plan.colocated = way->colocated;
	o->plan.arrival = (auc_slot)job->arrival;
	o->plan.start = (auc_slot)way->from;
	o->plan.completion = (auc_slot)way->to + 1;
	o->plan.value = way->value;
	rc = auc_plan_add_run(&o->plan, (auc_slot)way->from, (auc_slot)way->to, err);
	for (s = 0; s < p->s->nservers && rc == AUC_OK; s++) {
		y = s == c->server ? here
		    : way->colocated
			    ? 0
			    : (uint64_t)llround(glp_mip_col_val(p->lp, way->first_y + (int)s));
		if (!y && s != c->server)
			continue;
		rc = auc_plan_add_share(&o->plan, s, (unsigned)y, s == c->server ? (unsigned)z : 0,
					err);
		if (y)
			over = books_add(p->books, way->worker_type, s, way->from, way->to, y,
					 &slot);
		if (!over && s == c->server)
			over = books_add(p->books, way->ps_type, s, way->from, way->to, z, &slot);
		if (rc == AUC_OK && over)
			rc = auc_err_set(err, AUC_ESTATE,
					 "%s: job %.80s: what GLPK found takes more %s than server "
					 "%s has in slot %llu",
					 p->s->file, job->id, over, p->s->servers[s].name,
					 (unsigned long long)slot);
	}
	return rc;
}

/* The first slot in which the job can use SERVER. */
uint64_t offline_ready(const struct scenario_job *job, unsigned server)
{
	return job->arrival + (uint64_t)books_ceil(scenario_upload(job, server));
}

bool offline_push(struct offline *p, struct list *l, const void *element)
{
	size_t alloc = l->alloc ? 2 * l->alloc : 1024;
	char *grown;

	if (l->n == l->alloc) {
		grown = realloc(l->data, alloc * l->size);
		if (!grown) {
			p->memory = false;
			return false;
		}
		l->data = grown;
		l->alloc = alloc;
	}
	memcpy(l->data + l->n++ * l->size, element, l->size);
	return true;
}

static void *at(const struct list *l, size_t i)
{
	return l->data + i * l->size;
}

#else

enum auc_code offline_run(const struct scenario *s, bool oasis, const char *options,
			  struct result *result, double *us, struct auc_err *err)
{
	(void)s;
	(void)oasis;
	(void)options;
	(void)result;
	(void)us;
	return auc_err_set(err, AUC_ESTATE,
			   "policy offline needs GLPK, which this program was built without (on "
			   "Debian: libglpk-dev)");
}

enum auc_code offline_check_options(const char *options, struct auc_err *err)
{
	(void)options;
	(void)err;
	return AUC_OK;
}

#endif
