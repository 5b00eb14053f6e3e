/*
 * dorm_program.c - see dorm_program.h. Columns, all of whole numbers but the last:
 *
 *   y_is, z_is  workers and PSs of job i on server s
 *   a_i         1: job i, which runs, may change
 *   d_i         |share * the sum of y_i - fair|, at least
 *
 * The most use is the largest sum of what they take of each TRES as a part of what the cluster has,
 * where each server has what is taken from it; the sum of y_i is at most what the job can use; PSs
 * are as many as the workers' bandwidth asks for, no more, as idle ones would count as use; y and z
 * of a job that runs are what they were unless a_i is 1; the sums of a and of d have limits.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "auctionsim/optimum/dorm_program.h"
#include "base/num.h"

unsigned dorm_pss(const struct dorm_job *j, unsigned n)
{
	return (unsigned)auc_ceil(j->bandwidth * n / j->ps_bandwidth);
}

static unsigned sum_of(const unsigned *list, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++)
		sum += list[i];
	return sum;
}

/* What one worker or PS is as a part of the cluster, over all TRES. */
static double use_of(const struct dorm_program *p, const int64_t *units)
{
	double sum = 0;
	unsigned k;

	for (k = 0; k < p->ntres; k++)
		sum += units[k] ? (double)units[k] / p->total[k] : 0;
	return sum;
}

double dorm_use(const struct dorm_program *p)
{
	const struct dorm_job *j;
	double sum = 0;

	for (j = p->jobs; j < p->jobs + p->njobs; j++)
		sum += sum_of(j->workers, p->nservers) * use_of(p, j->worker) +
		       sum_of(j->pss, p->nservers) * use_of(p, j->ps);
	return sum;
}

#ifdef HAVE_GLPK
#include <glpk.h>

/* ceil(x) < x + 1 by at least that, unless b / B is in smaller parts than Mbit/s are; and GLPK has
 * to tell it from rounding, as it does without its presolver. */
#define LESS     1e-5
#define ROUNDING 1e-7

/* A row under construction, by column from 1 on. */
struct row {
	int n, *column;
	double *value;
};

struct program {
	const struct dorm_program *p;
	glp_prob *lp;
	struct row row;
	double stop;
};

/* Columns of job I: y of server 0, z of it, y of server 1 and so on, then a and d. */
static int column_of(const struct dorm_program *p, unsigned job, unsigned server, bool ps)
{
	return 1 + (int)(job * (2 * p->nservers + 2) + 2 * server + ps);
}

static int column_changes(const struct dorm_program *p, unsigned job)
{
	return column_of(p, job, p->nservers, false);
}

static int column_unfair(const struct dorm_program *p, unsigned job)
{
	return column_of(p, job, p->nservers, true);
}

static void put(struct program *g, int column, double value)
{
	if (value == 0)
		return;
	g->row.n++;
	g->row.column[g->row.n] = column;
	g->row.value[g->row.n] = value;
}

/* Workers of job I, PSs if PS. */
static void put_all(struct program *g, unsigned job, bool ps, double value)
{
	unsigned s;

	for (s = 0; s < g->p->nservers; s++)
		put(g, column_of(g->p, job, s, ps), value);
}

static void end_row(struct program *g, int kind, double low, double high)
{
	int row = glp_add_rows(g->lp, 1);

	glp_set_mat_row(g->lp, row, g->row.n, g->row.column, g->row.value);
	glp_set_row_bnds(g->lp, row, kind, low, high);
	g->row.n = 0;
}

/* How many of what takes UNITS fit on server S. */
static int64_t fit(const struct dorm_program *p, const int64_t *units, unsigned s)
{
	const int64_t *left = p->left + (size_t)s * p->ntres;
	int64_t least = INT32_MAX;
	unsigned k;

	for (k = 0; k < p->ntres; k++)
		if (units[k] && left[k] / units[k] < least)
			least = left[k] / units[k];
	return least > 0 ? least : 0;
}

static void set_column(struct program *g, int column, int kind, double most, double value)
{
	glp_set_col_kind(g->lp, column, kind);
	glp_set_col_bnds(g->lp, column, most > 0 ? GLP_DB : GLP_FX, 0, most);
	glp_set_obj_coef(g->lp, column, value);
}

static void add_job(struct program *g, unsigned i)
{
	const struct dorm_program *p = g->p;
	const struct dorm_job *j = &p->jobs[i];
	unsigned s, have = j->runs ? sum_of(j->workers, p->nservers) : 0,
		    most = have > j->most ? have : j->most;
	double need = j->bandwidth / j->ps_bandwidth,
	       use[] = {use_of(p, j->worker), use_of(p, j->ps)};
	double room, now;
	int column;
	bool ps;

	set_column(g, column_changes(p, i), GLP_IV, j->runs, 0);
	set_column(g, column_unfair(p, i), GLP_CV, INT32_MAX, 0);
	for (s = 0; s < p->nservers; s++)
		for (ps = false;; ps = true) {
			column = column_of(p, i, s, ps);
			room = (ps ? j->ps_on : j->worker_on)[s]
				       ? fmin(most, (double)fit(p, ps ? j->ps : j->worker, s))
				       : 0;
			set_column(g, column, GLP_IV, room, use[ps]);
			if (j->runs) {
				now = (ps ? j->pss : j->workers)[s];
				put(g, column, 1);
				put(g, column_changes(p, i), -room);
				end_row(g, GLP_UP, 0, now);
				put(g, column, 1);
				put(g, column_changes(p, i), now);
				end_row(g, GLP_LO, now, 0);
			}
			if (ps)
				break;
		}
	put_all(g, i, false, 1);
	put(g, column_changes(p, i), (double)most - j->most);
	end_row(g, GLP_UP, 0, most);
	put_all(g, i, true, 1);
	put_all(g, i, false, -need);
	end_row(g, GLP_DB, 0, 1 - LESS);
	put(g, column_unfair(p, i), 1);
	put_all(g, i, false, -j->share);
	end_row(g, GLP_LO, -j->fair, 0);
	put(g, column_unfair(p, i), 1);
	put_all(g, i, false, j->share);
	end_row(g, GLP_LO, j->fair, 0);
}

static void add_limits(struct program *g)
{
	const struct dorm_program *p = g->p;
	unsigned i, s, k;
	double left;

	/* in parts of what is left; where nothing is, nothing fits, and the columns say so */
	for (s = 0; s < p->nservers; s++)
		for (k = 0; k < p->ntres; k++) {
			left = (double)p->left[(size_t)s * p->ntres + k];
			for (i = 0; i < p->njobs && left > 0; i++) {
				put(g, column_of(p, i, s, false),
				    (double)p->jobs[i].worker[k] / left);
				put(g, column_of(p, i, s, true), (double)p->jobs[i].ps[k] / left);
			}
			if (g->row.n)
				end_row(g, GLP_UP, 0, 1);
		}
	for (i = 0; i < p->njobs; i++)
		put(g, column_changes(p, i), 1);
	end_row(g, GLP_UP, 0, p->changes);
	for (i = 0; i < p->njobs; i++)
		put(g, column_unfair(p, i), 1);
	end_row(g, GLP_UP, 0, p->unfair);
}

static void watch(glp_tree *tree, void *arg)
{
	if (auc_clock(CLOCK_PROCESS_CPUTIME_ID) >= ((struct program *)arg)->stop)
		glp_ios_terminate(tree);
}

/* GLPK's numbers are whole to its tolerance only: what came of them fits, to the unit. */
static bool fits(const struct dorm_program *p, const unsigned *found)
{
	const struct dorm_job *j;
	int64_t used;
	unsigned s, k, i;

	for (s = 0; s < p->nservers; s++)
		for (k = 0; k < p->ntres; k++) {
			for (used = 0, i = 0; i < p->njobs; i++) {
				j = &p->jobs[i];
				used += found[(i * p->nservers + s) * 2] * j->worker[k] +
					found[(i * p->nservers + s) * 2 + 1] * j->ps[k];
			}
			if (used > 0 && used > p->left[(size_t)s * p->ntres + k])
				return false;
		}
	return true;
}

static bool keep(struct program *g, unsigned *found)
{
	const struct dorm_program *p = g->p;
	unsigned i, s, n, z;
	bool whole = true;

	for (i = 0; i < p->njobs; i++) {
		for (n = z = s = 0; s < p->nservers; s++) {
			n += found[(i * p->nservers + s) * 2] = (unsigned)llround(
				glp_mip_col_val(g->lp, column_of(p, i, s, false)));
			z += found[(i * p->nservers + s) * 2 + 1] =
				(unsigned)llround(glp_mip_col_val(g->lp, column_of(p, i, s, true)));
		}
		whole = whole && z == dorm_pss(&p->jobs[i], n);
	}
	if (!whole || !fits(p, found))
		return false;
	for (i = 0; i < p->njobs; i++)
		for (s = 0; s < p->nservers; s++) {
			p->jobs[i].workers[s] = found[(i * p->nservers + s) * 2];
			p->jobs[i].pss[s] = found[(i * p->nservers + s) * 2 + 1];
		}
	return true;
}

static enum dorm_found solve(struct program *g, unsigned *found)
{
	int code, status;
	glp_smcp relaxed;
	glp_iocp how;

	glp_init_iocp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.mir_cuts = GLP_ON;
	how.tol_int = ROUNDING;
	how.cb_func = watch;
	how.cb_info = g;
	g->stop = auc_clock(CLOCK_PROCESS_CPUTIME_ID) + g->p->seconds;
	glp_init_smcp(&relaxed);
	relaxed.msg_lev = GLP_MSG_OFF;
	relaxed.tm_lim = (int)fmin(INT32_MAX, 1000 * g->p->seconds);
	if (glp_simplex(g->lp, &relaxed) != 0 || glp_get_status(g->lp) != GLP_OPT)
		return DORM_NONE;
	code = glp_intopt(g->lp, &how);
	status = glp_mip_status(g->lp);
	if ((code != 0 && code != GLP_ESTOP) || (status != GLP_OPT && status != GLP_FEAS))
		return DORM_NONE;
	if (!keep(g, found))
		return DORM_NONE;
	return status == GLP_OPT && code == 0 ? DORM_BEST : DORM_SOME;
}

enum dorm_found dorm_solve(const struct dorm_program *p)
{
	int columns = column_of(p, p->njobs, 0, false) - 1;
	struct program g = {.p = p};
	enum dorm_found rc = DORM_NONE;
	unsigned *found, i;

	if (!p->njobs)
		return DORM_BEST;
	found = calloc((size_t)columns + 1, sizeof(*found));
	g.row.column = calloc((size_t)columns + 2, sizeof(*g.row.column));
	g.row.value = calloc((size_t)columns + 2, sizeof(*g.row.value));
	if (found && g.row.column && g.row.value) {
		glp_term_out(GLP_OFF);
		g.lp = glp_create_prob();
		glp_set_obj_dir(g.lp, GLP_MAX);
		glp_add_cols(g.lp, columns);
		for (i = 0; i < p->njobs; i++)
			add_job(&g, i);
		add_limits(&g);
		rc = solve(&g, found);
		glp_delete_prob(g.lp);
		glp_free_env();
	}
	free(found);
	free(g.row.column);
	free(g.row.value);
	return rc;
}

#else

enum dorm_found dorm_solve(const struct dorm_program *p)
{
	(void)p;
	return DORM_NONE;
}

#endif
