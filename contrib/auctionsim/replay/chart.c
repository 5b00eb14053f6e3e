/* chart.c - see chart.h */
#include "config.h"

#include <math.h>

#include "auctionsim/replay/chart.h"

#define WIDTH       960.0
#define HEIGHT      300.0
#define LEFT        64.0
#define RIGHT       16.0
#define TOP         12.0
#define BOTTOM      48.0
#define LEGEND      22.0 /* a line of it */
#define WIDTH_FIRST 8.0  /* of lines */
#define WIDTH_STEP  1.5
#define WIDTH_LEAST 1.5

static double x_of(const struct chart *c, double x);
static double y_of(const struct chart *c, double y);
static double step_of(double span, double most);
static void tick_x(FILE *out, const struct chart *c, double at, const char *text);

const char *chart_colour(unsigned i)
{
	/* M. Okabe and K. Ito's palette */
	static const char *const colours[] = {"#0072b2", "#009e73", "#56b4e9", "#999999",
					      "#d55e00", "#e69f00", "#cc79a7", "#000000"};

	return colours[i % (sizeof(colours) / sizeof(colours[0]))];
}

void chart_escape(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e ? '?'
											 : *text,
			      out);
		}
}

void chart_open(FILE *out, double width, double height, const char *title)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\">"
		"<title>",
		width, height);
	chart_escape(out, title);
	fputs("</title>\n", out);
}

void chart_close(FILE *out)
{
	fputs("</svg>\n", out);
}

void chart_begin(FILE *out, const struct chart *c)
{
	static const struct {
		double hours;
		const char *text;
	} times[] = {{1 / 60.0, "1 min"}, {1 / 6.0, "10 min"}, {1, "1 h"},      {6, "6 h"},
		     {24, "1 day"},       {168, "1 week"},     {672, "4 weeks"}};
	double step = step_of(c->y_high, 6), at;
	char text[32];
	unsigned i;

	chart_open(out, WIDTH, HEIGHT + LEGEND * 3, c->title);
	for (at = 0; at <= c->y_high * (1 + 1e-9); at += step)
		fprintf(out,
			"<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\" stroke=\"#ddd\"/>"
			"<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			LEFT, y_of(c, at), WIDTH - RIGHT, y_of(c, at), LEFT - 8, y_of(c, at) + 4,
			at);
	if (c->log) {
		for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
			if (log10(times[i].hours) <= c->x_high + 1e-9)
				tick_x(out, c, log10(times[i].hours), times[i].text);
	} else {
		step = fmax(1, step_of(c->x_high - c->x_low, 14));
		for (at = c->x_low; at <= c->x_high * (1 + 1e-9); at += step) {
			snprintf(text, sizeof(text), "%g", at);
			tick_x(out, c, at, text);
		}
	}
	fprintf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
		HEIGHT - 8);
	chart_escape(out, c->x_label);
	fprintf(out,
		"</text><text x=\"14\" y=\"%g\" text-anchor=\"middle\" transform=\"rotate(-90 14 "
		"%g)\">",
		(TOP + HEIGHT - BOTTOM) / 2, (TOP + HEIGHT - BOTTOM) / 2);
	chart_escape(out, c->y_label);
	fputs("</text>\n", out);
}

void chart_line(FILE *out, struct chart *c, unsigned colour, const char *label)
{
	if (c->nlines < CHART_LINES_MAX) {
		c->colours[c->nlines] = colour;
		c->labels[c->nlines++] = label;
	}
	/* each thinner than the one below it, so that lines that are the same are all seen */
	fprintf(out,
		"<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" "
		"stroke-linejoin=\"round\" "
		"points=\"",
		chart_colour(colour), fmax(WIDTH_LEAST, WIDTH_FIRST - WIDTH_STEP * c->nlines));
}

void chart_point(FILE *out, const struct chart *c, double x, double y)
{
	fprintf(out, "%.1f,%.1f ", x_of(c, x), y_of(c, y));
}

void chart_line_end(FILE *out)
{
	fputs("\"/>\n", out);
}

/* Two in a line. */
void chart_end(FILE *out, const struct chart *c)
{
	double width = (WIDTH - LEFT) / 2;

	for (unsigned i = 0; i < c->nlines; i++) {
		double x = LEFT + width * (i % 2), y = HEIGHT + LEGEND * (i / 2) + 12;

		fprintf(out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
			"stroke-width=\"4\"/><text x=\"%.1f\" y=\"%.1f\">",
			x, y - 4, x + 24, y - 4, chart_colour(c->colours[i]), x + 32, y);
		chart_escape(out, c->labels[i]);
		fputs("</text>\n", out);
	}
	chart_close(out);
}

static double x_of(const struct chart *c, double x)
{
	return LEFT + (WIDTH - RIGHT - LEFT) * (x - c->x_low) / (c->x_high - c->x_low);
}

static double y_of(const struct chart *c, double y)
{
	return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * y / c->y_high;
}

/* 1, 2 or 5 times a power of ten, so that SPAN has at most MOST steps. */
static double step_of(double span, double most)
{
	double step = pow(10, floor(log10(span / most)));

	if (span / step <= most)
		return step;
	if (span / (2 * step) <= most)
		return 2 * step;
	return span / (5 * step) <= most ? 5 * step : 10 * step;
}

static void tick_x(FILE *out, const struct chart *c, double at, const char *text)
{
	fprintf(out,
		"<line x1=\"%.1f\" y1=\"%g\" x2=\"%.1f\" y2=\"%g\" stroke=\"#999\"/><text "
		"x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n",
		x_of(c, at), HEIGHT - BOTTOM, x_of(c, at), HEIGHT - BOTTOM + 5, x_of(c, at),
		HEIGHT - BOTTOM + 18, text);
}
