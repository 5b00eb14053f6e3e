/*
 * plot_gantt.c - who runs where and when: a band for each node, in it a lane for each part of a job
 * that runs there at the same time as others.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auctionsim/plot/plot.h"

#define LANE_PIXELS 8
#define BAND_LEAST  18 /* pixels: room for the node's name */
#define BAND_MOST   150
#define BANDS_LEAST 260 /* all together */
#define BANDS_MOST  1600
#define FRAME       147 /* what is above and below them */
#define LABEL_WIDTH 7.5 /* pixels of a character */
#define LABELS_MAX  400

/* Workers or PSs of one job on one node. */
struct bar {
	unsigned node, job, lane, count;
	bool ps;
	auc_slot from, to;
};

struct band {
	unsigned node, lanes;
	uint64_t load; /* worker-slots and PS-slots: the busiest are shown */
	double top, height;
};

struct chart {
	const struct scenario *s;
	const struct result *r;
	unsigned nbars, nbands, busy; /* bands shown; nodes that have anything to show */
	struct bar *bars;
	struct band *bands; /* by node; then the busiest, in the order of the scenario */
	unsigned *shown;    /* by node: its band + 1, or 0 */
	double height;
	unsigned slots; /* that are drawn */
};

static enum auc_code chart_make(struct chart *c, unsigned most, struct auc_err *err);
static void chart_clear(struct chart *c);
static void add_bars(struct chart *c);
static bool lay_out(struct chart *c);
static void draw_chart(struct picture *pic, const struct chart *c);
static void draw_names(struct picture *pic, const struct chart *c);
static void draw_bars(struct picture *pic, const struct chart *c);
static void draw_labels(struct picture *pic, const struct chart *c);
static int compare_bars(const void *a, const void *b);
static int compare_load(const void *a, const void *b);
static int compare_node(const void *a, const void *b);

enum auc_code plot_gantt(struct plot *p, struct auc_err *err)
{
	const struct plot_group *g = p->input.groups;
	enum auc_code rc = AUC_OK;
	struct picture pic;
	struct chart c;
	unsigned i;

	for (i = 0; i < g->nresults && rc == AUC_OK; i++) {
		c = (struct chart){.s = g->s, .r = &g->results[i], .slots = plot_slots(g)};
		rc = chart_make(&c, p->nodes, err);
		if (rc == AUC_OK)
			rc = plot_begin(p, &pic, "gantt", i, g->nresults, 1200,
					(unsigned)c.height + FRAME, err);
		if (rc == AUC_OK) {
			draw_chart(&pic, &c);
			rc = plot_end(p, &pic, rc, err);
		}
		chart_clear(&c);
	}
	return rc;
}

static enum auc_code chart_make(struct chart *c, unsigned most, struct auc_err *err)
{
	const struct outcome *o;
	unsigned i;

	for (o = c->r->jobs; o < c->r->jobs + c->r->njobs; o++)
		for (i = 0; i < o->plan.nruns; i++)
			c->nbars += 2 * o->plan.runs[i].nshares;
	c->bars = calloc(c->nbars + 1, sizeof(*c->bars));
	c->bands = calloc(c->s->nservers + 1, sizeof(*c->bands));
	c->shown = calloc(c->s->nservers + 1, sizeof(*c->shown));
	if (!c->bars || !c->bands || !c->shown)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a Gantt chart");
	for (i = 0; i < c->s->nservers; i++)
		c->bands[i].node = i;
	add_bars(c);
	qsort(c->bands, c->s->nservers, sizeof(*c->bands), compare_load);
	while (c->busy < c->s->nservers && c->bands[c->busy].load)
		c->busy++;
	c->nbands = c->busy < most ? c->busy : most;
	qsort(c->bands, c->nbands, sizeof(*c->bands), compare_node);
	for (i = 0; i < c->nbands; i++)
		c->shown[c->bands[i].node] = i + 1;
	return lay_out(c) ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "no memory for a Gantt chart");
}

static void chart_clear(struct chart *c)
{
	free(c->bars);
	free(c->bands);
	free(c->shown);
}

static void add_bars(struct chart *c)
{
	const struct auc_share *share;
	const struct auc_plan *plan;
	const struct auc_run *run;
	unsigned i, k, n, role, count;

	c->nbars = 0;
	for (i = 0; i < c->r->njobs; i++) {
		plan = &c->r->jobs[i].plan;
		for (n = 0; n < plan->nruns; n++) {
			run = &plan->runs[n];
			for (k = 0; k < 2 * run->nshares; k++) {
				share = &plan->shares[run->first_share + k / 2];
				role = k % 2;
				count = role ? share->ps : share->workers;
				if (!count)
					continue;
				c->bars[c->nbars++] = (struct bar){
					.node = share->server,
					.job = i,
					.count = count,
					.ps = role,
					.from = run->from,
					.to = run->to,
				};
				c->bands[share->server].load +=
					count * (uint64_t)(run->to - run->from + 1);
			}
		}
	}
}

/* By begin: each bar takes the first lane of its node that is free again. False: no memory. */
static bool lay_out(struct chart *c)
{
	auc_slot *free_at = calloc(c->nbars + 1, sizeof(*free_at)); /* by lane, of one node */
	struct band *band = NULL;
	struct bar *b;
	double top = 0, all = 0, lane, scale;
	unsigned i;

	if (!free_at)
		return false;
	qsort(c->bars, c->nbars, sizeof(*c->bars), compare_bars);
	for (b = c->bars; b < c->bars + c->nbars; b++) {
		if (!c->shown[b->node])
			continue;
		if (band != &c->bands[c->shown[b->node] - 1])
			band = &c->bands[c->shown[b->node] - 1];
		while (b->lane < band->lanes && free_at[b->lane] > b->from)
			b->lane++;
		if (b->lane == band->lanes)
			band->lanes++;
		free_at[b->lane] = b->to + 1;
	}
	free(free_at);
	for (i = 0; i < c->nbands; i++) {
		lane = LANE_PIXELS * c->bands[i].lanes + 4;
		lane = lane < BAND_LEAST ? BAND_LEAST : lane;
		c->bands[i].height = lane < BAND_MOST ? lane : BAND_MOST;
		all += c->bands[i].height;
	}
	scale = all > BANDS_MOST ? BANDS_MOST / all : 1;
	if (all > 0 && all < BANDS_LEAST)
		scale = BANDS_LEAST / all;
	for (i = 0; i < c->nbands; i++) {
		c->bands[i].height *= scale;
		c->bands[i].top = top;
		top += c->bands[i].height;
	}
	c->height = top > 60 ? top : 60;
	return true;
}

static void draw_chart(struct picture *pic, const struct chart *c)
{
	char name[40], nodes[80] = "";

	picture_slot_name(name, sizeof(name), c->s->slot_seconds);
	if (c->nbands < c->busy)
		snprintf(nodes, sizeof(nodes), "; the %u busiest of %u nodes in use", c->nbands,
			 c->busy);
	picture_say(pic, "set title ");
	picture_text(pic, c->s->name, PLOT_TITLE_MAX);
	picture_say(pic, ".': '.");
	picture_text(pic, c->r->policy, PLOT_LABEL_MAX);
	picture_say(pic, ".'%s' font ',14'\n", nodes);
	picture_say(pic, "set xlabel '%s'\nset xrange [1:%u]\nset yrange [%.6g:0]\n", name,
		    c->slots + 1, c->height);
	picture_say(
		pic,
		"set border 1\nset grid noytics xtics front\n"
		"set key at screen 0.5, screen %.4f center bottom horizontal maxrows 1 samplen 2\n"
		"set bmargin at screen %.4f\nset tmargin at screen %.4f\n",
		6.0 / pic->height, 92.0 / pic->height, 1 - 55.0 / pic->height);
	draw_names(pic, c);
	draw_bars(pic, c);
	draw_labels(pic, c);
	picture_say(pic,
		    "plot NaN with boxes fillstyle solid linecolor rgb '%s' title 'workers "
		    "(colours tell jobs apart)', NaN with boxes fillstyle pattern 4 "
		    "linecolor rgb '%s' title 'PSs'",
		    picture_colour(0), picture_colour(0));
	picture_say(pic,
		    ", \\\n     data index 0 using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid "
		    "1.0 border rgb '#ffffff' linewidth 0.5 linecolor rgb variable notitle");
	picture_say(pic, ", \\\n     data index 1 using 1:2:3:4:5:6:7 with boxxyerror fillstyle "
			 "pattern 4 border linewidth 0.8 linecolor rgb variable notitle\n");
}

static void draw_names(struct picture *pic, const struct chart *c)
{
	unsigned i;

	picture_say(pic, "set ytics scale 0 (");
	for (i = 0; i < c->nbands; i++) {
		picture_say(pic, i ? ", " : "");
		picture_tic(pic, c->s->servers[c->bands[i].node].name, PLOT_LABEL_MAX);
		picture_say(pic, " %.6g", c->bands[i].top + c->bands[i].height / 2);
	}
	picture_say(pic, ")\n");
	for (i = 0; i < c->nbands; i += 2)
		picture_say(pic,
			    "set object rectangle from graph 0, first %.6g to graph 1, first "
			    "%.6g behind fillcolor rgb '#f4f4f4' fillstyle solid noborder\n",
			    c->bands[i].top, c->bands[i].top + c->bands[i].height);
}

/* Workers, then PSs: x, y, and where they begin and end, and the colour. */
static void draw_bars(struct picture *pic, const struct chart *c)
{
	const struct band *band;
	const struct bar *b;
	double lane, top;
	unsigned ps;

	for (ps = 0; ps < 2; ps++) {
		/* a block has a point at least, else the next has its number */
		fputs("NaN NaN NaN NaN NaN NaN 0\n", pic->data);
		for (b = c->bars; b < c->bars + c->nbars; b++) {
			if (!c->shown[b->node] || b->ps != ps)
				continue;
			band = &c->bands[c->shown[b->node] - 1];
			lane = (band->height - 2) / band->lanes;
			top = band->top + 1 + b->lane * lane;
			fprintf(pic->data, "%.6g %.6g %lld %lld %.6g %.6g 0x%s\n",
				(double)(b->from + b->to + 1) / 2, top + lane / 2,
				(long long)b->from, (long long)b->to + 1, top + lane * 0.05,
				top + lane * 0.95, picture_colour(b->job) + 1);
		}
		picture_block(pic);
	}
}

/* Names of jobs where they fit into the bar. */
static void draw_labels(struct picture *pic, const struct chart *c)
{
	double slot = (pic->width - 120.0) / c->slots, lane;
	double high = (double)(pic->height - FRAME) / c->height;
	const struct band *band;
	const struct bar *b;
	unsigned labels = 0;
	size_t len;

	for (b = c->bars; b < c->bars + c->nbars && labels < LABELS_MAX; b++) {
		if (!c->shown[b->node] || b->ps)
			continue;
		band = &c->bands[c->shown[b->node] - 1];
		lane = (band->height - 2) / band->lanes;
		len = strlen(c->s->jobs[b->job].id);
		if (lane * high < 11 || (double)(b->to - b->from + 1) * slot < LABEL_WIDTH * len)
			continue;
		picture_say(pic, "set label ");
		picture_text(pic, c->s->jobs[b->job].id, PLOT_LABEL_MAX);
		picture_say(pic, " at %.6g, %.6g center front font ',9' textcolor rgb '%s'\n",
			    (double)(b->from + b->to + 1) / 2,
			    band->top + 1 + (b->lane + 0.5) * lane, picture_contrast(b->job));
		labels++;
	}
}

static int compare_bars(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->ps - y->ps;
}

static int compare_load(const void *a, const void *b)
{
	const struct band *x = a, *y = b;

	if (x->load != y->load)
		return x->load > y->load ? -1 : 1;
	return compare_node(a, b);
}

static int compare_node(const void *a, const void *b)
{
	const struct band *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}
