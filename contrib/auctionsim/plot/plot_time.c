/*
 * plot_time.c - what a market holds and costs over time: a result's bookings are made again in the
 * scenario's market, and each slot is looked at when it has come.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/plot/plot.h"

#define BINS_MAX     300 /* points of a curve; more slots are drawn together */
#define RANGE_COLOUR "#9ec9e8"

enum { EDGE, CLOUD, SITES };
enum { LOW, MEDIAN, HIGH, PRICES };

/* What one result showed. */
struct timeline {
	const struct scenario *s;
	unsigned slots, ntres;
	unsigned shown; /* slots that are drawn */
	struct tres {
		unsigned index; /* in the market */
		bool ps;        /* only PSs take it */
		char name[AUC_NAME_MAX];
	} tres[AUC_TRES_MAX]; /* in the order that they are shown */
	double capacity[SITES][AUC_TRES_MAX];
	double *used;    /* by site, TRES and slot */
	double *price;   /* by LOW, MEDIAN, HIGH, TRES and slot */
	double *servers; /* prices by server, one TRES and slot at a time */
	bool priced;     /* prices are wanted */
	bool known;      /* the names are there */
};

static enum auc_code timeline_read(struct timeline *t, const struct plot_group *g, unsigned result,
				   bool prices, struct auc_err *err);
static void timeline_clear(struct timeline *t);
static void look(void *arg, const struct auc_market *m, auc_slot from, auc_slot to);
static void look_once(struct timeline *t, const struct auc_market *m);
static void look_slot(struct timeline *t, const struct auc_market *m, unsigned tres, auc_slot slot);
static double *cell(const struct timeline *t, double *cells, unsigned row, unsigned tres,
		    unsigned slot);
static unsigned bin_width(const struct timeline *t);
static enum auc_code use_page(struct plot *p, unsigned page, struct auc_err *err);
static void place(struct picture *pic, unsigned column, unsigned columns, unsigned row,
		  unsigned rows);
static void use_panel(struct picture *pic, const struct timeline *t, const char *title,
		      unsigned site, bool left, bool bottom);
static void use_curves(struct picture *pic, const struct timeline *t, int block);
static void use_data(struct picture *pic, const struct timeline *t, unsigned site);
static void price_panels(struct picture *pic, const struct timeline *t, const char *policy);
static void price_data(struct picture *pic, const struct timeline *t, unsigned tres);
static unsigned columns_of(unsigned panels);
static int compare_double(const void *a, const void *b);
static int compare_tres(const void *a, const void *b);

/* Up to three results side by side, edge above cloud. */
enum auc_code plot_utilisation(struct plot *p, struct auc_err *err)
{
	unsigned n = p->input.groups[0].nresults, page;
	enum auc_code rc = AUC_OK;

	for (page = 0; page * PLOT_COLUMNS < n && rc == AUC_OK; page++)
		rc = use_page(p, page, err);
	return rc;
}

/* A page for each result whose policy has prices, a panel for each TRES. */
enum auc_code plot_prices(struct plot *p, struct auc_err *err)
{
	const struct plot_group *g = p->input.groups;
	unsigned pages = 0, page = 0, i, columns;
	enum auc_code rc = AUC_OK;
	struct timeline t;
	struct picture pic;

	for (i = 0; i < g->nresults; i++)
		pages += replay_is_priced(g->results[i].policy);
	for (i = 0; i < g->nresults && rc == AUC_OK; i++) {
		if (!replay_is_priced(g->results[i].policy))
			continue;
		rc = timeline_read(&t, g, i, true, err);
		columns = columns_of(t.ntres);
		if (rc == AUC_OK)
			rc = plot_begin(p, &pic, "prices", page++, pages, 340 + 300 * columns,
					200 + 220 * ((t.ntres + columns - 1) / columns), err);
		if (rc == AUC_OK) {
			price_panels(&pic, &t, g->results[i].policy);
			rc = plot_end(p, &pic, rc, err);
		}
		timeline_clear(&t);
	}
	return rc;
}

/* PRICES are sorted in each slot: only where they are drawn. */
static enum auc_code timeline_read(struct timeline *t, const struct plot_group *g, unsigned result,
				   bool prices, struct auc_err *err)
{
	const struct result *r = &g->results[result];
	const struct scenario *s = g->s;
	size_t cells = (size_t)AUC_TRES_MAX * s->slots;
	enum auc_code rc;

	memset(t, 0, sizeof(*t));
	t->s = s;
	t->slots = (unsigned)s->slots;
	t->shown = plot_slots(g);
	t->priced = prices;
	t->used = calloc(cells * SITES, sizeof(*t->used));
	t->price = calloc(cells * PRICES, sizeof(*t->price));
	t->servers = calloc(s->nservers + 1, sizeof(*t->servers));
	if (!t->used || !t->price || !t->servers)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	rc = replay_repeat(s, r, look, t, err);
	if (rc != AUC_OK)
		auc_err_prefix(err, "policy %.80s", r->policy);
	return rc;
}

static void timeline_clear(struct timeline *t)
{
	free(t->used);
	free(t->price);
	free(t->servers);
}

static void look(void *arg, const struct auc_market *m, auc_slot from, auc_slot to)
{
	struct timeline *t = arg;
	unsigned k;
	auc_slot slot;

	if (!t->known)
		look_once(t, m);
	for (k = 0; k < t->ntres; k++)
		for (slot = from; slot <= to && slot <= (auc_slot)t->shown; slot++)
			look_slot(t, m, k, slot);
}

static void look_once(struct timeline *t, const struct auc_market *m)
{
	struct tres *tres;
	unsigned i, k, type;

	t->known = true;
	t->ntres = auc_market_ntres(m);
	for (k = 0; k < t->ntres; k++) {
		tres = &t->tres[k];
		tres->index = k;
		strcpy(tres->name, auc_market_tres_name(m, k));
		tres->ps = true;
		for (type = 0; type < auc_market_nworker_types(m); type++)
			if (auc_market_worker_amount(m, type, k) > 0)
				tres->ps = false;
	}
	qsort(t->tres, t->ntres, sizeof(*t->tres), compare_tres);
	for (k = 0; k < t->ntres; k++)
		for (i = 0; i < t->s->nservers; i++)
			t->capacity[t->s->servers[i].cloud ? CLOUD : EDGE][k] +=
				auc_market_capacity(m, i, t->tres[k].index);
}

static void look_slot(struct timeline *t, const struct auc_market *m, unsigned tres, auc_slot slot)
{
	unsigned i, n = 0, at = (unsigned)slot - 1, index = t->tres[tres].index;

	for (i = 0; i < t->s->nservers; i++) {
		if (!(auc_market_capacity(m, i, index) > 0))
			continue;
		*cell(t, t->used, t->s->servers[i].cloud ? CLOUD : EDGE, tres, at) +=
			auc_market_used(m, i, index, slot);
		if (t->priced)
			t->servers[n++] = auc_market_price(m, i, index, slot);
	}
	if (!n)
		return;
	qsort(t->servers, n, sizeof(*t->servers), compare_double);
	*cell(t, t->price, LOW, tres, at) = t->servers[0];
	*cell(t, t->price, MEDIAN, tres, at) = (t->servers[(n - 1) / 2] + t->servers[n / 2]) / 2;
	*cell(t, t->price, HIGH, tres, at) = t->servers[n - 1];
}

static double *cell(const struct timeline *t, double *cells, unsigned row, unsigned tres,
		    unsigned slot)
{
	return &cells[((size_t)row * AUC_TRES_MAX + tres) * t->slots + slot];
}

static unsigned bin_width(const struct timeline *t)
{
	return (t->shown + BINS_MAX - 1) / BINS_MAX;
}

static enum auc_code use_page(struct plot *p, unsigned page, struct auc_err *err)
{
	const struct plot_group *g = p->input.groups;
	unsigned first = page * PLOT_COLUMNS, n = g->nresults - first, i, site, rows;
	unsigned pages = (g->nresults + PLOT_COLUMNS - 1) / PLOT_COLUMNS;
	struct timeline t[PLOT_COLUMNS];
	enum auc_code rc = AUC_OK;
	struct picture pic;
	bool cloud = false, edge = false;

	n = n < PLOT_COLUMNS ? n : PLOT_COLUMNS;
	memset(t, 0, sizeof(t));
	for (i = 0; i < g->s->nservers; i++)
		if (g->s->servers[i].cloud)
			cloud = true;
		else
			edge = true;
	rows = edge && cloud ? 2 : 1;
	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = timeline_read(&t[i], g, first + i, false, err);
	if (rc == AUC_OK)
		rc = plot_begin(p, &pic, "utilisation", page, pages, n == 1 ? 1000 : 200 + 470 * n,
				180 + 290 * rows, err);
	if (rc == AUC_OK) {
		picture_heading(&pic, g->s->name);
		picture_say(&pic, "set yrange [0:100]\nset xrange [1:%u]\n", t[0].shown + 1);
		for (site = EDGE; site < SITES; site++)
			for (i = 0; i < n; i++)
				if (site == EDGE ? edge : cloud) {
					place(&pic, i, n, rows == 2 && site == CLOUD, rows);
					use_panel(&pic, &t[i], g->results[first + i].policy, site,
						  i == 0, site == (cloud ? CLOUD : EDGE));
				}
		picture_legend(&pic);
		use_curves(&pic, &t[0], -1);
		picture_say(&pic, "unset multiplot\n");
		rc = plot_end(p, &pic, rc, err);
	}
	for (i = 0; i < n; i++)
		timeline_clear(&t[i]);
	return rc;
}

/* Puts the next panel into a grid of them, between the heading and the legend. */
static void place(struct picture *pic, unsigned column, unsigned columns, unsigned row,
		  unsigned rows)
{
	double width = (pic->width - 40.0) / columns, high = (pic->height - 116.0) / rows;

	picture_panel(pic, 80 + column * width, 80 + (column + 1) * width - 62, 72 + row * high,
		      72 + (row + 1) * high - 66);
}

/* LEFT and BOTTOM panels have the labels of the axes. */
static void use_panel(struct picture *pic, const struct timeline *t, const char *title,
		      unsigned site, bool left, bool bottom)
{
	char name[40];

	use_data(pic, t, site);
	picture_slot_name(name, sizeof(name), t->s->slot_seconds);
	picture_say(pic, "set title ");
	picture_text(pic, title, PLOT_LABEL_MAX);
	picture_say(pic, ".', %s'\nset xlabel '%s%s'\nset ylabel '%s'\n",
		    site == CLOUD ? "cloud" : "edge", bottom ? name : "",
		    bottom && bin_width(t) > 1 ? ", means of several" : "",
		    left ? "% of capacity" : "");
	use_curves(pic, t, (int)pic->blocks - 1);
}

/* Worker TRES in full lines, those of PSs dashed. BLOCK of the data; -1: only what they are called.
 */
static void use_curves(struct picture *pic, const struct timeline *t, int block)
{
	static const char *const dashes[2][2] = {{"1", "(20,5)"}, {"(6,4)", "(2,4)"}};
	unsigned k, colour[2] = {0, 0}, c;

	picture_say(pic, "plot ");
	for (k = 0; k < t->ntres; k++) {
		c = colour[t->tres[k].ps]++;
		picture_say(pic, k ? ", \\\n     " : "");
		if (block >= 0)
			picture_say(pic, "data index %d using 1:%u with steps", block, k + 2);
		else
			picture_say(pic, "NaN with lines");
		picture_say(pic, " linewidth 1.8 linecolor rgb '%s' dashtype %s title ",
			    picture_colour(c), dashes[t->tres[k].ps][c / PICTURE_COLOURS % 2]);
		picture_text(pic, t->tres[k].name, PLOT_LABEL_MAX);
	}
	picture_say(pic, "\n");
}

/* A row for each bin: its first slot, and what is sold of each TRES in per cent. */
static void use_data(struct picture *pic, const struct timeline *t, unsigned site)
{
	unsigned width = bin_width(t), from, slot, k, n;
	double sum;

	for (from = 0; from < t->shown + width; from += width) {
		fprintf(pic->data, "%u", (from < t->shown ? from : t->shown) + 1);
		for (k = 0; k < t->ntres; k++) {
			sum = 0;
			n = 0;
			/* the last row ends the last step */
			for (slot = from < t->shown ? from : t->shown - 1;
			     slot < t->shown && n < width; slot++, n++)
				sum += *cell(t, t->used, site, k, slot);
			if (t->capacity[site][k] > 0)
				fprintf(pic->data, " %.6g", 100 * sum / n / t->capacity[site][k]);
			else
				fprintf(pic->data, " NaN");
		}
		fputc('\n', pic->data);
	}
	picture_block(pic);
}

/* Prices go from 0 to the base of an exponential: the axis is that of log(1 + price). */
static void price_panels(struct picture *pic, const struct timeline *t, const char *policy)
{
	unsigned columns = columns_of(t->ntres), k, rows = (t->ntres + columns - 1) / columns;
	double most = 0, tic;
	char name[40], heading[200];
	size_t i;

	for (i = 0; i < (size_t)t->ntres * t->slots; i++)
		most = fmax(most, *cell(t, t->price, HIGH, 0, (unsigned)i));
	picture_slot_name(name, sizeof(name), t->s->slot_seconds);
	snprintf(heading, sizeof(heading), "%.80s: %.80s", t->s->name, policy);
	picture_heading(pic, heading);
	picture_say(pic, "f(y) = log10(1 + y)\nset xrange [1:%u]\nset yrange [0:%.6g]\n",
		    t->shown + 1, most > 0 ? 1.05 * log10(1 + most) : 1);
	picture_say(pic, "set ytics ('0' 0");
	for (tic = most > 3 ? 1 : pow(10, floor(log10(fmax(most, 1e-9) / 3))); tic <= most;
	     tic *= most > 3 ? 10 : 2)
		picture_say(pic, ", '%.6g' %.6g", tic, log10(1 + tic));
	picture_say(pic, ")\n");
	for (k = 0; k < t->ntres; k++) {
		price_data(pic, t, k);
		picture_say(pic, "set title ");
		picture_text(pic, t->tres[k].name, PLOT_LABEL_MAX);
		picture_say(pic, "\nset xlabel '%s'\nset ylabel '%s'\n",
			    k + columns >= t->ntres ? name : "",
			    k % columns ? "" : "credits per unit and slot");
		place(pic, k % columns, columns, k / columns, rows);
		picture_say(
			pic,
			"plot data index %u using 1:(f($2)):(f($4)) with filledcurves fillcolor "
			"rgb '" RANGE_COLOUR "', \\\n"
			"     '' index %u using 1:(f($3)) with lines linewidth 2 linecolor rgb "
			"'%s'\n",
			pic->blocks - 1, pic->blocks - 1, picture_colour(0));
	}
	picture_legend(pic);
	picture_say(pic,
		    "plot NaN with boxes fillcolor rgb '" RANGE_COLOUR "' title 'from the cheapest "
		    "to the dearest server', \\\n"
		    "     NaN with lines linewidth 2 linecolor rgb '%s' title 'the median server'\n"
		    "unset multiplot\n",
		    picture_colour(0));
}

/* Two rows for each bin, its begin and its end, so that lines are steps. */
static void price_data(struct picture *pic, const struct timeline *t, unsigned tres)
{
	unsigned width = bin_width(t), from, to, slot;
	double low, high, middle;

	for (from = 0; from < t->shown; from += width) {
		to = from + width < t->shown ? from + width : t->shown;
		low = *cell(t, t->price, LOW, tres, from);
		high = middle = 0;
		for (slot = from; slot < to; slot++) {
			low = fmin(low, *cell(t, t->price, LOW, tres, slot));
			high = fmax(high, *cell(t, t->price, HIGH, tres, slot));
			middle += *cell(t, t->price, MEDIAN, tres, slot);
		}
		middle /= to - from;
		fprintf(pic->data, "%u %.6g %.6g %.6g\n%u %.6g %.6g %.6g\n", from + 1, low, middle,
			high, to + 1, low, middle, high);
	}
	picture_block(pic);
}

static unsigned columns_of(unsigned panels)
{
	return panels <= 2 ? 1 : panels <= 4 ? 2 : panels <= 9 ? 3 : 4;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Those of workers first; w10 after w9. */
static int compare_tres(const void *a, const void *b)
{
	const struct tres *x = a, *y = b;

	return x->ps != y->ps ? x->ps - y->ps : strverscmp(x->name, y->name);
}
