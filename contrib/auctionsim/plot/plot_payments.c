/*
 * plot_payments.c - what jobs pay and what they are worth, a point each. Those that did not run
 * have no such values: they stand below, at what they would have been worth at once.
 */
#include "config.h"

#include <math.h>

#include "auctionsim/plot/plot.h"

#define LEFT     130         /* pixels beside the first panel, */
#define LEGEND   100         /* below the last, */
#define ROW_HIGH 26          /* for a row of it */
#define RAN      "#300072b2" /* one colour over another is darker */
#define EQUAL    "#606060"

#define WIDE 20 /* times the mean, and the largest value is far above */

/* Rows of the lower part. */
enum { NOT_COMPLETED, NO_PAYOFF, NO_CAPACITY, OTHER, ROWS };

/* What the axes reach to. */
struct axes {
	double value, payment;
	bool wide; /* of log(1 + x), for a few values are far above the others */
};

static enum auc_code page_draw(struct plot *p, unsigned page, struct auc_err *err);
static void panels(struct plot *p, struct picture *pic, const struct result *r, double left,
		   double width, const struct axes *a, bool first);
static void axes_find(struct axes *a, const struct plot_group *g);
static double axes_at(const struct axes *a, double x);
static void axes_tics(struct picture *pic, const struct axes *a, char axis, bool labels);
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
	unsigned first = page * PLOT_COLUMNS, n = g->nresults - first, i;
	unsigned pages = (g->nresults + PLOT_COLUMNS - 1) / PLOT_COLUMNS;
	struct picture pic;
	enum auc_code rc;
	struct axes a;
	double width;

	n = n < PLOT_COLUMNS ? n : PLOT_COLUMNS;
	axes_find(&a, g);
	rc = plot_begin(p, &pic, "payments", page, pages, n == 1 ? 900 : 220 + 440 * n, 620, err);
	if (rc != AUC_OK)
		return rc;
	picture_heading(&pic, g->s->name);
	picture_say(&pic, "f(x) = %s\n", a.wide ? "log10(1 + x)" : "x");
	width = (pic.width - LEFT) / n;
	for (i = 0; i < n; i++)
		panels(p, &pic, &g->results[first + i], LEFT + i * width, width - 30, &a, i == 0);
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
		   double width, const struct axes *a, bool first)
{
	unsigned i, split = pic->height - LEGEND - ROW_HIGH * ROWS;

	panel_data(p, pic, r);
	picture_panel(pic, left, left + width, 72, split - 10);
	picture_say(pic, "set title ");
	picture_text(pic, r->policy, PLOT_LABEL_MAX);
	picture_say(pic,
		    "\nset xrange [0:%.6g]\nset yrange [0:%.6g]\nset ylabel '%s'\n"
		    "set xlabel ''\nset border 3\n",
		    1.05 * axes_at(a, a->value), 1.08 * axes_at(a, a->payment),
		    first ? "payment (credits)" : "");
	axes_tics(pic, a, 'x', false);
	axes_tics(pic, a, 'y', true);
	picture_say(
		pic,
		"plot data index %u using (f($1)):(f($2)) with points pointtype 7 pointsize 0.9 "
		"linecolor rgb '" RAN
		"', \\\n     x with lines linewidth 1.5 dashtype (6,4) linecolor "
		"rgb '" EQUAL "'\nunset title\n",
		pic->blocks - 2);
	picture_panel(pic, left, left + width, split, pic->height - LEGEND);
	axes_tics(pic, a, 'x', true);
	picture_say(pic,
		    "set xlabel 'value (credits)'\nset ylabel ''\n"
		    "set border 1\nset yrange [%g:-0.6]\nset ytics scale 0 (",
		    ROWS - 0.4);
	for (i = 0; i < ROWS; i++)
		picture_say(pic, "%s'%s' %u", i ? ", " : "", first ? rows[i] : "", i);
	picture_say(pic,
		    ")\nplot data index %u using (f($1)):2 with points pointtype 2 pointsize 0.8 "
		    "linewidth 1.2 linecolor rgb '%s'\n",
		    pic->blocks - 1, picture_colour(1));
}

static void axes_find(struct axes *a, const struct plot_group *g)
{
	const struct outcome *o;
	double worth, sum = 0;
	unsigned i, k, n = 0;

	*a = (struct axes){.wide = false};
	for (i = 0; i < g->nresults; i++)
		for (k = 0; k < g->results[i].njobs; k++) {
			o = &g->results[i].jobs[k];
			worth = row_of(o) < 0 ? o->value : value_at_once(&g->s->jobs[k]);
			a->value = fmax(a->value, worth);
			a->payment = fmax(a->payment, row_of(o) < 0 ? o->payment : 0);
			sum += worth;
			n++;
		}
	a->wide = n && a->value > WIDE * sum / n;
	if (!(a->value > 0))
		a->value = 1;
	if (!(a->payment > 0))
		a->payment = a->value;
}

static double axes_at(const struct axes *a, double x)
{
	return a->wide ? log10(1 + x) : x;
}

static void axes_tics(struct picture *pic, const struct axes *a, char axis, bool labels)
{
	double tic;

	if (!a->wide) {
		picture_say(pic, "set %ctics autofreq\nset format %c '%s'\n", axis, axis,
			    labels ? "%g" : "");
		return;
	}
	picture_say(pic, "set %ctics ('%s' 0", axis, labels ? "0" : "");
	for (tic = 1; tic <= fmax(a->value, a->payment); tic *= 10)
		if (labels)
			picture_say(pic, ", '%.6g' %.6g", tic, log10(1 + tic));
		else
			picture_say(pic, ", '' %.6g", log10(1 + tic));
	picture_say(pic, ")\n");
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
