/*
 * plot_payments.c - what jobs pay and what they are worth, a point each. Those that did not run
 * have no such values: they stand below, at what they would have been worth at once.
 */
#include "config.h"

#include <math.h>

#include "plot.h"

#define LEFT     130         /* pixels beside the first panel, */
#define LEGEND   100         /* below the last, */
#define ROW_HIGH 26          /* for a row of it */
#define RAN      "#300072b2" /* one colour over another is darker */
#define EQUAL    "#606060"

/* Rows of the lower part. */
enum { NOT_COMPLETED, NO_PAYOFF, NO_CAPACITY, OTHER, ROWS };

static enum auc_code page_draw(struct plot *p, unsigned page, struct auc_err *err);
static void panels(struct plot *p, struct picture *pic, const struct result *r, double left,
		   double width, const double most[2], bool first);
static void panel_data(struct plot *p, struct picture *pic, const struct result *r);
static int row_of(const struct outcome *o);
static double value_at_once(const struct scenario_job *job);

static const char *const rows[] = {"not completed", "no payoff", "no capacity", "other reason"};

enum auc_code plot_payments(struct plot *p, struct auc_err *err)
{
	unsigned n = p->input.groups[0].nresults, page;
	enum auc_code rc = AUC_OK;

	for (page = 0; page * PLOT_COLUMNS < n && rc == AUC_OK; page++)
		rc = page_draw(p, page, err);
	return rc;
}

static enum auc_code page_draw(struct plot *p, unsigned page, struct auc_err *err)
{
	const struct plot_group *g = p->input.groups;
	unsigned first = page * PLOT_COLUMNS, n = g->nresults - first, i, k;
	unsigned pages = (g->nresults + PLOT_COLUMNS - 1) / PLOT_COLUMNS;
	double most[2] = {0, 0}, width;
	const struct outcome *o;
	enum auc_code rc;
	struct picture pic;

	n = n < PLOT_COLUMNS ? n : PLOT_COLUMNS;
	for (i = 0; i < g->nresults; i++)
		for (k = 0; k < g->results[i].njobs; k++) {
			o = &g->results[i].jobs[k];
			most[0] = fmax(
				most[0],
				fmax(o->value, row_of(o) < 0 ? 0 : value_at_once(&g->s->jobs[k])));
			most[1] = fmax(most[1], row_of(o) < 0 ? o->payment : 0);
		}
	rc = plot_begin(p, &pic, "payments", page, pages, n == 1 ? 900 : 220 + 440 * n, 620, err);
	if (rc != AUC_OK)
		return rc;
	picture_heading(&pic, g->s->name);
	width = (pic.width - LEFT) / n;
	for (i = 0; i < n; i++)
		panels(p, &pic, &g->results[first + i], LEFT + i * width, width - 30, most, i == 0);
	picture_legend(&pic);
	picture_say(&pic,
		    "plot NaN with points pointtype 7 pointsize 0.9 linecolor rgb '" RAN "' title "
		    "'a job that ran', \\\n"
		    "     NaN with lines linewidth 1.5 dashtype (6,4) linecolor rgb '" EQUAL
		    "' title 'payment = value', \\\n"
		    "     NaN with points pointtype 2 linecolor rgb '%s' title 'a job that did "
		    "not, at its value at once'\nunset multiplot\n",
		    picture_colour(1));
	return plot_end(p, &pic, rc, err);
}

/* The payments, and below them the jobs that did not run. FIRST: with the labels of the axes. */
static void panels(struct plot *p, struct picture *pic, const struct result *r, double left,
		   double width, const double most[2], bool first)
{
	double most_paid = most[1] > 0 ? most[1] : most[0];
	unsigned i, split = pic->height - LEGEND - ROW_HIGH * ROWS;

	panel_data(p, pic, r);
	picture_panel(pic, left, left + width, 72, split - 10);
	picture_say(pic, "set title ");
	picture_text(pic, r->policy, PLOT_LABEL_MAX);
	picture_say(pic,
		    "\nset xrange [0:%.6g]\nset yrange [0:%.6g]\nset ylabel '%s'\n"
		    "set xlabel ''\nset format x ''\nset ytics autofreq\nset border 3\n",
		    most[0] > 0 ? 1.05 * most[0] : 1, most_paid > 0 ? 1.08 * most_paid : 1,
		    first ? "payment (credits)" : "");
	picture_say(pic,
		    "plot data index %u using 1:2 with points pointtype 7 pointsize 0.9 linecolor "
		    "rgb '" RAN "', \\\n     x with lines linewidth 1.5 dashtype (6,4) linecolor "
		    "rgb '" EQUAL "'\nunset title\n",
		    pic->blocks - 2);
	picture_panel(pic, left, left + width, split, pic->height - LEGEND);
	picture_say(pic,
		    "set xlabel 'value (credits)'\nset format x '%%g'\nset ylabel ''\n"
		    "set border 1\nset yrange [%g:-0.6]\nset ytics scale 0 (",
		    ROWS - 0.4);
	for (i = 0; i < ROWS; i++)
		picture_say(pic, "%s'%s' %u", i ? ", " : "", first ? rows[i] : "", i);
	picture_say(pic,
		    ")\nplot data index %u using 1:2 with points pointtype 2 pointsize 0.8 "
		    "linewidth 1.2 linecolor rgb '%s'\n",
		    pic->blocks - 1, picture_colour(1));
}

/* A block of value and payment, and one of value at once and row. */
static void panel_data(struct plot *p, struct picture *pic, const struct result *r)
{
	const struct scenario *s = p->input.groups[0].s;
	unsigned i;

	fputs("NaN NaN\n", pic->data);
	for (i = 0; i < r->njobs; i++)
		if (row_of(&r->jobs[i]) < 0)
			fprintf(pic->data, "%.17g %.17g\n", r->jobs[i].value, r->jobs[i].payment);
	picture_block(pic);
	fputs("NaN NaN\n", pic->data);
	for (i = 0; i < r->njobs; i++)
		if (row_of(&r->jobs[i]) >= 0)
			fprintf(pic->data, "%.17g %d\n", value_at_once(&s->jobs[i]),
				row_of(&r->jobs[i]));
	picture_block(pic);
}

/* -1: it ran. */
static int row_of(const struct outcome *o)
{
	if (o->accepted)
		return o->completed ? -1 : NOT_COMPLETED;
	if (o->reason == AUC_REASON_PAYOFF)
		return NO_PAYOFF;
	return o->reason == AUC_REASON_CAPACITY ? NO_CAPACITY : OTHER;
}

static double value_at_once(const struct scenario_job *job)
{
	if (job->has_utility)
		return auc_utility_value(&job->utility, 1);
	return job->budget > 0 ? job->budget : 0;
}
