/* plot_totals.c - what several results come to: welfare over a sweep, and policies side by side. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/plot/plot.h"

/* One result in a sweep. */
struct sample {
	unsigned policy, other, x; /* other: what the sweep is not over */
	double welfare;
};

/* Mean and range of some results. */
struct spread {
	unsigned n;
	double sum, min, max;
};

static enum auc_code sweep(struct plot *p, const char *kind, bool servers, struct auc_err *err);
static void sweep_data(const struct plot *p, struct picture *pic, const struct sample *samples,
		       unsigned n, bool servers);
static int compare_samples(const void *a, const void *b);
static double total(const struct result *r, unsigned metric);
static void bars(const struct plot *p, struct picture *pic, unsigned metric, double left);
static void spread_add(struct spread *s, double v);
static unsigned longest(const struct plot *p);

static const char *const metrics[] = {
	"welfare (value of what was completed)",
	"revenue (what was paid)",
	"jobs completed",
	"mean slots from arrival to completion",
};
#define NMETRICS (sizeof(metrics) / sizeof(metrics[0]))

enum auc_code plot_welfare_jobs(struct plot *p, struct auc_err *err)
{
	return sweep(p, "welfare-jobs", false, err);
}

enum auc_code plot_welfare_servers(struct plot *p, struct auc_err *err)
{
	return sweep(p, "welfare-servers", true, err);
}

/* Four panels of horizontal bars: names of policies are long. */
enum auc_code plot_policies(struct plot *p, struct auc_err *err)
{
	unsigned height = 190 + 2 * (60 + 26 * p->npolicies), i;
	struct picture pic;
	enum auc_code rc = plot_begin(p, &pic, "policies", 0, 1, 1100, height, err);

	if (rc != AUC_OK)
		return rc;
	picture_heading(&pic, p->input.ngroups > 1
				      ? "Policies: means over scenarios, and their range"
				      : p->input.groups[0].s->name);
	picture_say(&pic, "set border 1\nset grid noytics xtics\nset yrange [%g:-0.5]\n",
		    p->npolicies - 0.5);
	for (i = 0; i < NMETRICS; i++)
		bars(p, &pic, i, fmin(30 + 8.0 * longest(p), 0.4 * pic.width));
	picture_say(&pic, "unset multiplot\n");
	return plot_end(p, &pic, rc, err);
}

static enum auc_code sweep(struct plot *p, const char *kind, bool servers, struct auc_err *err)
{
	const struct plot_group *g;
	struct sample *samples;
	struct picture pic;
	enum auc_code rc;
	unsigned n = 0, i;

	for (g = p->input.groups; g < p->input.groups + p->input.ngroups; g++)
		n += g->nresults;
	samples = calloc(n + 1, sizeof(*samples));
	if (!samples)
		return auc_err_set(err, AUC_ENOMEM, "no memory");
	n = 0;
	for (g = p->input.groups; g < p->input.groups + p->input.ngroups; g++)
		for (i = 0; i < g->nresults; i++)
			samples[n++] = (struct sample){
				.policy = plot_policy(p, &g->results[i]),
				.other = servers ? g->s->njobs : plot_servers(g->s),
				.x = servers ? plot_servers(g->s) : g->s->njobs,
				.welfare = g->results[i].welfare,
			};
	qsort(samples, n, sizeof(*samples), compare_samples);
	rc = plot_begin(p, &pic, kind, 0, 1, 900, 600, err);
	if (rc == AUC_OK) {
		picture_say(&pic,
			    "set title 'Welfare against %s' font ',14'\n"
			    "set xlabel '%s'\nset ylabel 'welfare (value of what was completed)'\n"
			    "set yrange [0:*]\nset offsets graph 0.03, graph 0.03, graph 0.05, 0\n"
			    "set key below horizontal samplen 3\nset format y '%%.5g'\n",
			    servers ? "servers" : "jobs", servers ? "edge servers" : "jobs");
		sweep_data(p, &pic, samples, n, servers);
		rc = plot_end(p, &pic, rc, err);
	}
	free(samples);
	return rc;
}

/* A series for each policy, and for each value of what else differs; a point for each x. */
static void sweep_data(const struct plot *p, struct picture *pic, const struct sample *samples,
		       unsigned n, bool servers)
{
	const struct sample *s, *end = samples + n, *next;
	bool varied = false, range = false;
	struct spread point;
	char title[200];
	unsigned i;

	for (i = 1; i < n; i++) {
		varied |= samples[i].other != samples[0].other;
		range |= !compare_samples(&samples[i - 1], &samples[i]);
	}
	if (range)
		picture_say(pic,
			    "set title 'Welfare against %s: means and range over scenarios' "
			    "font ',14'\n",
			    servers ? "servers" : "jobs");
	picture_say(pic, "plot ");
	for (s = samples; s < end; s = next) {
		point = (struct spread){0};
		for (next = s; next < end && !compare_samples(next, s); next++)
			spread_add(&point, next->welfare);
		fprintf(pic->data, "%u %.17g %.17g %.17g\n", s->x, point.sum / point.n, point.min,
			point.max);
		if (next < end && next->policy == s->policy && next->other == s->other)
			continue;
		i = picture_block(pic);
		snprintf(title, sizeof(title), "%.100s", p->policies[s->policy]);
		if (varied)
			snprintf(title, sizeof(title), "%.100s, %u %s", p->policies[s->policy],
				 s->other, servers ? "jobs" : "servers");
		picture_say(pic,
			    "%sdata index %u using 1:2:3:4 with yerrorlines linewidth 2 linecolor "
			    "rgb '%s' dashtype %u pointtype %u pointsize 1.3 title ",
			    i ? ", \\\n     " : "", i, picture_colour(varied ? i : s->policy),
			    1 + (varied ? i : s->policy) / PICTURE_COLOURS % 4, picture_point(i));
		picture_text(pic, title, PLOT_TITLE_MAX);
	}
	picture_say(pic, "\n");
}

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->policy != y->policy)
		return x->policy < y->policy ? -1 : 1;
	if (x->other != y->other)
		return x->other < y->other ? -1 : 1;
	return (x->x > y->x) - (x->x < y->x);
}

static double total(const struct result *r, unsigned metric)
{
	switch (metric) {
	case 0:
		return r->welfare;
	case 1:
		return r->revenue;
	case 2:
		return r->completed;
	default:
		return r->mean_jct_slots;
	}
}

/* The panel of METRIC; LEFT pixels are for the names. */
static void bars(const struct plot *p, struct picture *pic, unsigned metric, double left)
{
	double width = (pic->width - left) / 2, high = (pic->height - 50.0) / 2, most = 0;
	const struct plot_group *g;
	struct spread s;
	unsigned i, k, block;
	bool second = metric % 2, below = metric >= 2;

	for (i = 0; i < p->npolicies; i++) {
		s = (struct spread){0};
		for (g = p->input.groups; g < p->input.groups + p->input.ngroups; g++)
			for (k = 0; k < g->nresults; k++)
				if (plot_policy(p, &g->results[k]) == i)
					spread_add(&s, total(&g->results[k], metric));
		most = fmax(most, s.max);
		fprintf(pic->data, "%u %.17g %.17g %.17g 0x%s\n", i, s.sum / s.n, s.min, s.max,
			picture_colour(i) + 1);
	}
	block = picture_block(pic);
	picture_panel(pic, left + second * width, left + (second + 1) * width - 25,
		      50 + below * high, 50 + (below + 1) * high - 58);
	picture_say(pic, "set xlabel '%s' offset 0,0.3\nset xrange [0:%.17g]\n", metrics[metric],
		    most > 0 ? most * 1.22 : 1);
	picture_say(pic, "set ytics scale 0 (");
	for (i = 0; i < p->npolicies; i++) {
		picture_say(pic, i ? ", " : "");
		picture_tic(pic, second ? "" : p->policies[i], PLOT_LABEL_MAX);
		picture_say(pic, " %u", i);
	}
	picture_say(pic,
		    ")\nplot data index %u using ($2/2):1:(0):2:($1-0.36):($1+0.36):5 with "
		    "boxxyerror linecolor rgb variable",
		    block);
	if (p->input.ngroups > 1)
		picture_say(pic,
			    ", \\\n     data index %u using 2:1:3:4 with xerrorbars linecolor "
			    "rgb '#404040' linewidth 1.5 pointtype 0",
			    block);
	picture_say(pic,
		    ", \\\n     data index %u using 4:1:(sprintf($2 < 1000 ? '%%.4g' : '%%.0f', "
		    "$2)) with labels left "
		    "offset 0.7,0\n",
		    block);
}

static void spread_add(struct spread *s, double v)
{
	s->min = s->n ? fmin(s->min, v) : v;
	s->max = s->n ? fmax(s->max, v) : v;
	s->sum += v;
	s->n++;
}

/* Characters of the longest name that is shown. */
static unsigned longest(const struct plot *p)
{
	unsigned most = 0, i;
	size_t len;

	for (i = 0; i < p->npolicies; i++) {
		len = strlen(p->policies[i]);
		len = len < PLOT_LABEL_MAX ? len : PLOT_LABEL_MAX;
		most = len > most ? (unsigned)len : most;
	}
	return most;
}
