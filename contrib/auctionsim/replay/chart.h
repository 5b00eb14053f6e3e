/*
 * chart.h - lines over an axis, as SVG in a page of HTML.
 */
#ifndef SIM_CHART_H
#define SIM_CHART_H

#include <stdbool.h>
#include <stdio.h>

#define CHART_LINES_MAX 8

struct chart {
	const char *title, *x_label, *y_label;
	double x_low, x_high, y_high; /* the y axis begins at 0 */
	bool log;                     /* x values are logarithms to the base of 10, of hours */
	unsigned nlines;
	unsigned colours[CHART_LINES_MAX];
	const char *labels[CHART_LINES_MAX];
};

/* Colours that people who see few colours tell apart. */
const char *chart_colour(unsigned i);
/* TEXT with what HTML means otherwise, and control characters, made harmless. */
void chart_escape(FILE *out, const char *text);
/* An empty picture, for anything, with a TITLE for those who hear it. */
void chart_open(FILE *out, double width, double height, const char *title);
void chart_close(FILE *out);
/* The axes; then lines, point by point, each begun and ended; then the legend. */
void chart_begin(FILE *out, const struct chart *c);
void chart_line(FILE *out, struct chart *c, unsigned colour, const char *label);
void chart_point(FILE *out, const struct chart *c, double x, double y);
void chart_line_end(FILE *out);
void chart_end(FILE *out, const struct chart *c);

#endif
