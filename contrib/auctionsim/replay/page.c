/*
 * page.c - see rows.h: one file of HTML with its pictures in it (SVG), nothing from elsewhere. What
 * is a number in a picture is also in the table.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/replay/chart.h"
#include "auctionsim/replay/rows.h"
#include "base/num.h"

#define WAIT_LEAST (1 / 60.0) /* hours: what waits less is drawn there */
#define WAIT_STEPS 160

static const char style[] =
	"body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:60em;"
	"margin:2em auto;padding:0 1em}"
	"h1{font-size:1.5em;margin:0 0 .2em}h2{font-size:1.15em;margin:2em 0 .3em}"
	".lead{color:#555;margin:0 0 1.2em}"
	".advice{border-left:5px solid #0072b2;background:#f2f7fb;padding:.6em 1em}"
	".advice p{margin:.4em 0}.advice p:first-child{font-weight:600}"
	"table{border-collapse:collapse;width:100%;font-size:.9em;font-variant-numeric:tabular-"
	"nums}"
	"th,td{padding:.35em .6em;text-align:right;border-bottom:1px solid #ddd;vertical-align:"
	"bottom}th:first-child,td:first-child{text-align:left}th{font-weight:600;color:#555}"
	"td i{display:inline-block;width:.8em;height:.8em;margin-right:.5em;border-radius:2px}"
	"svg{width:100%;height:auto;display:block}svg text{font:13px system-ui,sans-serif;"
	"fill:#444}.note{color:#555;font-size:.9em}";

static void put_table(FILE *out, const struct replay_rows *r);
static void put_worth(FILE *out, const struct replay_rows *r);
static void put_use(FILE *out, const struct replay_rows *r);
static enum auc_code put_days(FILE *out, const struct replay_rows *r, struct auc_err *err);
static enum auc_code put_waits(FILE *out, const struct replay_rows *r, struct auc_err *err);
static void put_notes(FILE *out, const struct replay_rows *r);
static void put_paragraphs(FILE *out, const char *text);

enum auc_code rows_print_page(FILE *out, const struct replay_rows *r, struct auc_err *err)
{
	const struct import_log_facts *f = &r->facts;
	double all = f->gpus * f->days * (double)f->day_slots * f->slot_seconds;
	enum advice advice;
	char *text, missing[100];
	enum auc_code rc = verdict_of(r, &advice, &text, err);

	if (rc != AUC_OK)
		return rc;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>Replay of ",
	      out);
	chart_escape(out, r->log);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>Replay of ", style);
	chart_escape(out, r->log);
	fprintf(out,
		"</h1>\n<p class=\"lead\">%u job%s of %u day%s on %u server%s with %g GPU%s. The "
		"jobs "
		"are "
		"%.0f %% of what the GPUs can do in that time.</p>\n<div class=\"advice\">\n",
		f->njobs, auc_plural(f->njobs), f->days, auc_plural(f->days), f->servers,
		auc_plural(f->servers), f->gpus, auc_plural(f->gpus),
		all > 0 ? 100 * f->gpu_seconds / all : 0);
	rows_missing(r, missing, sizeof(missing));
	put_paragraphs(out, missing);
	put_paragraphs(out, text);
	fputs("</div>\n", out);
	free(text);
	put_table(out, r);
	put_worth(out, r);
	put_use(out, r);
	rc = put_days(out, r, err);
	if (rc == AUC_OK)
		rc = put_waits(out, r, err);
	put_notes(out, r);
	fputs("</body>\n</html>\n", out);
	return rc;
}

static void put_table(FILE *out, const struct replay_rows *r)
{
	const struct row *row;
	unsigned users;

	fputs("<h2>In numbers</h2>\n<table>\n<thead><tr><th></th><th>jobs served</th><th>welfare, "
	      "% "
	      "of most</th><th>users keep</th><th>users pay</th><th>wait, mean h</th>"
	      "<th>wait, 90 % h</th><th>GPUs used</th><th>users without any job</th></tr></thead>\n"
	      "<tbody>\n",
	      out);
	for (row = r->rows; row < r->rows + r->n; row++) {
		users = row->users_served + row->users_without;
		fprintf(out, "<tr><td><i style=\"background:%s\"></i>",
			chart_colour((unsigned)(row - r->rows)));
		chart_escape(out, row->label);
		fprintf(out,
			"</td><td>%u</td><td>%.1f</td><td>%.0f</td><td>%.0f</td><td>%.2f</td>"
			"<td>%.2f</td><td>%.1f %%</td>",
			row->completed, r->potential > 0 ? 100 * row->welfare / r->potential : 0,
			row_kept(row), row->revenue, row->wait_mean, row->wait_p90,
			100 * row->used);
		if (users)
			fprintf(out, "<td>%.1f %%</td></tr>\n", 100.0 * row->users_without / users);
		else
			fputs("<td>not known</td></tr>\n", out);
	}
	fputs("</tbody>\n</table>\n", out);
	if (r->costs)
		fputs("<p>Welfare is less what nodes cost, by Cost of auction.conf.</p>\n", out);
}

/* Bars: what users keep, and what they pay. */
static void put_worth(FILE *out, const struct replay_rows *r)
{
	double top = fmax(r->potential, 1e-9), keep, all;
	const struct row *row;
	const double left = 300, width = 500, high = 34;
	double y = 8;

	for (row = r->rows; row < r->rows + r->n; row++)
		top = fmax(top, row->welfare + row->cost);
	fputs("<h2>What the jobs are worth, and who has it</h2>\n<p class=\"note\">Full colour: "
	      "what "
	      "users keep. Light: what they pay. Of the most that the jobs could be worth, each "
	      "alone on the cluster.</p>\n",
	      out);
	chart_open(out, 960, high * r->n + 20, "Welfare of each way to serve the jobs");
	for (row = r->rows; row < r->rows + r->n; row++, y += high) {
		const char *colour = chart_colour((unsigned)(row - r->rows));

		keep = fmax(0, row_kept(row)) / top * width;
		all = (row->welfare + row->cost) / top * width;
		fprintf(out, "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">", left - 10,
			y + high / 2 + 2);
		chart_escape(out, row->label);
		fprintf(out,
			"</text><rect x=\"%g\" y=\"%.1f\" width=\"%.2f\" height=\"%g\" "
			"fill=\"%s\"/><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%g\" "
			"fill=\"%s\" fill-opacity=\"0.35\"/>",
			left, y, keep, high - 10, colour, left + keep, y, fmax(0, all - keep),
			high - 10, colour);
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%.1f %%", left + all + 8,
			y + high / 2 + 2, r->potential > 0 ? 100 * row->welfare / r->potential : 0);
		if (row->revenue > 0)
			fprintf(out, ", kept %.1f %%", 100 * row_kept(row) / r->potential);
		fputs("</text>\n", out);
	}
	fprintf(out, "<line x1=\"%g\" y1=\"4\" x2=\"%g\" y2=\"%g\" stroke=\"#999\"/>", left, left,
		high * r->n + 4);
	chart_close(out);
}

static void put_use(FILE *out, const struct replay_rows *r)
{
	const struct import_log_facts *f = &r->facts;
	struct chart c = {.title = "GPUs that work",
			  .x_label = "day",
			  .y_label = "% of all GPUs",
			  .x_high = f->days,
			  .y_high = 100};
	double per_day = (double)f->day_slots * f->slot_seconds / r->bin_seconds;

	fprintf(out, "<h2>GPUs that work</h2>\n<p class=\"note\">Mean of %g h.</p>\n",
		r->bin_seconds / 3600);
	chart_begin(out, &c);
	for (unsigned i = 0; i < r->n; i++) {
		chart_line(out, &c, i, r->rows[i].label);
		for (unsigned b = 0; b < r->nbins; b++)
			chart_point(out, &c, (b + 0.5) / per_day,
				    f->gpus > 0 ? 100 * r->rows[i].use[b] / f->gpus : 0);
		chart_line_end(out);
	}
	chart_end(out, &c);
}

/* Against EASY, the queue that people know. */
static enum auc_code put_days(FILE *out, const struct replay_rows *r, struct auc_err *err)
{
	const struct row *easy = rows_find(r, ROW_EASY), *row;
	struct chart c = {.title = "Welfare against EASY backfill, by day",
			  .x_label = "day of submission",
			  .y_label = "welfare in % of EASY's",
			  .x_high = r->facts.days,
			  .y_high = 120};
	unsigned i, d;

	(void)err;
	for (row = r->rows; row < r->rows + r->n; row++)
		for (d = 0; d < r->facts.days; d++)
			if (easy->day_welfare[d] > 0)
				c.y_high = fmax(c.y_high, fmin(300, 100 * row->day_welfare[d] /
									    easy->day_welfare[d]));
	fputs("<h2>Day by day</h2>\n<p class=\"note\">What the jobs of a day are worth, in per "
	      "cent of "
	      "what EASY backfill makes of them (cut at 300 %).</p>\n",
	      out);
	chart_begin(out, &c);
	for (i = 0; i < r->n; i++) {
		chart_line(out, &c, i, r->rows[i].label);
		for (d = 0; d < r->facts.days; d++)
			if (easy->day_welfare[d] > 0)
				chart_point(out, &c, d + 0.5,
					    fmin(300, 100 * r->rows[i].day_welfare[d] /
							      easy->day_welfare[d]));
		chart_line_end(out);
	}
	chart_end(out, &c);
	return AUC_OK;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The part of all jobs that have started within so many hours, on a logarithmic scale. */
static enum auc_code put_waits(FILE *out, const struct replay_rows *r, struct auc_err *err)
{
	unsigned n = r->facts.njobs, i, j, k, step;
	double *sorted = calloc((size_t)n + 1, sizeof(*sorted)), hours, most = 1;
	struct chart c = {.title = "Waiting time",
			  .x_label = "from submission to start",
			  .y_label = "% of all jobs",
			  .y_high = 100,
			  .log = true};

	if (!sorted)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a picture");
	for (i = 0; i < r->n; i++)
		for (j = 0; j < n; j++)
			most = fmax(most, r->rows[i].wait[j]);
	c.x_low = log10(WAIT_LEAST);
	c.x_high = log10(most);
	fputs("<h2>Waiting time</h2>\n<p class=\"note\">How many of all jobs have started after so "
	      "long; a line that stays below 100 % leaves jobs unserved.</p>\n",
	      out);
	chart_begin(out, &c);
	for (i = 0; i < r->n; i++) {
		for (k = 0, j = 0; j < n; j++)
			if (r->rows[i].wait[j] >= 0)
				sorted[k++] = r->rows[i].wait[j];
		qsort(sorted, k, sizeof(*sorted), compare_double);
		chart_line(out, &c, i, r->rows[i].label);
		for (step = 0, j = 0; step <= WAIT_STEPS; step++) {
			hours = pow(10, c.x_low + (c.x_high - c.x_low) * step / WAIT_STEPS);
			while (j < k && sorted[j] <= hours * (1 + 1e-9))
				j++;
			chart_point(out, &c, log10(hours), n ? 100.0 * j / n : 0);
		}
		chart_line_end(out);
	}
	chart_end(out, &c);
	free(sorted);
	return AUC_OK;
}

static void put_notes(FILE *out, const struct replay_rows *r)
{
	const struct import_log_facts *f = &r->facts, *whole = &r->whole;
	char past[64] = "the day before";

	if (r->history < 1)
		strcpy(past, "each day itself");
	else if (r->history > 1)
		snprintf(past, sizeof(past), "the last %g days", r->history);
	fputs("<h2>How this was made</h2>\n", out);
	put_paragraphs(out, r->values);
	fprintf(out,
		"<p>The auction sells slots of %g s, %llu ahead of each day; what a day has bought "
		"is "
		"still there on the next, and prices are learned from %s. A job that "
		"is "
		"refused is not asked again. %.0f %% of the jobs are shorter than a slot, and the "
		"auction sells whole slots. The queues run to the second, in the order of "
		"submission.%s A job counts when the slot in which it ends is over.</p>\n",
		f->slot_seconds, (unsigned long long)(f->slots - f->day_slots), past,
		100 * r->short_part,
		f->nlimits
			? " Their reservations go by the time limits of the log."
			: " The log has no time limits: the queue knows what jobs take, which no "
			  "queue does.");
	if (whole->lost_seconds > 0)
		fprintf(out,
			"<p>%.1f GPU-hours of the log, %.1f %% of all, could not be taken.</p>\n",
			whole->lost_seconds / 3600,
			100 * whole->lost_seconds /
				(whole->lost_seconds + whole->gpu_seconds +
				 whole->undrawn_seconds));
	if (whole->undrawn_seconds > 0)
		fprintf(out,
			"<p>Of the jobs that could be, %u were drawn (jobs=): %.1f of %.1f "
			"GPU-hours.</p>\n",
			whole->njobs, whole->gpu_seconds / 3600,
			(whole->gpu_seconds + whole->undrawn_seconds) / 3600);
	for (unsigned i = 0; i < r->n; i++)
		if (*r->rows[i].prices) {
			fputs("<p class=\"note\">Prices of the last day, ", out);
			chart_escape(out, r->rows[i].name);
			fputs(": ", out);
			chart_escape(out, r->rows[i].prices);
			fputs(".</p>\n", out);
		}
}

static void put_paragraphs(FILE *out, const char *text)
{
	char *copy = strdup(text), *save = NULL, *line;

	for (line = copy ? strtok_r(copy, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		fputs("<p>", out);
		chart_escape(out, line);
		fputs("</p>\n", out);
	}
	free(copy);
}
