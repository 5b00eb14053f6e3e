/* picture.c - see picture.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "base/file.h"
#include "sprice/columns.h"
#include "sprice/filter.h"
#include "sprice/picture.h"

#define SHADES "_.:-=+*#%@" /* from free of charge to the dearest there is */
#define FULL   'X'          /* nothing is left to sell */

/* Members of a time. */
enum { FROM, TO, FREE, LOW, MEAN, HIGH };

/* Of the picture, in its own units. */
enum { WIDTH = 800, HEIGHT = 400, LEFT = 70, RIGHT = 180, TOP = 30, BOTTOM = 50 };

static struct json_object *class_at(const struct show *s, struct json_object *summary, size_t i,
				    struct json_object **times);
static size_t nclasses(struct json_object *summary);
static double dearest(const struct show *s, struct json_object *summary);
static const char *label_of(struct json_object *class, char *text, size_t size);
static void print_escaped(FILE *out, const char *text);
static void draw_class(FILE *out, struct json_object *times, unsigned n, const char *label,
		       double first, double slots, double most);
static void draw_axes(FILE *out, struct json_object *summary, double first, double slots,
		      double most);

static size_t nclasses(struct json_object *summary)
{
	struct json_object *list = status_within(summary, "classes");

	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/* The class number I and its times; NULL: S does not show it. */
static struct json_object *class_at(const struct show *s, struct json_object *summary, size_t i,
				    struct json_object **times)
{
	struct json_object *c = json_object_array_get_idx(status_within(summary, "classes"), i);

	*times = status_within(c, "times");
	return json_object_is_type(*times, json_type_array) &&
			       show_has(s, status_text(c, "partition"), status_text(c, "tres"))
		       ? c
		       : NULL;
}

static double dearest(const struct show *s, struct json_object *summary)
{
	struct json_object *times;
	double most = 0;

	for (size_t i = 0; i < nclasses(summary); i++)
		for (size_t k = 0;
		     class_at(s, summary, i, &times) && k < json_object_array_length(times); k++)
			most = fmax(most, status_item(json_object_array_get_idx(times, k), MEAN));
	return most;
}

static const char *label_of(struct json_object *class, char *text, size_t size)
{
	const char *tres = status_text(class, "tres");

	snprintf(text, size, "%s/%s", status_text(class, "partition"),
		 strncmp(tres, "gpu:", 4) ? tres : tres + 4);
	return text;
}

const char *picture_time(double when, char *text, size_t size)
{
	time_t t = when >= 0 && when < 1e12 ? (time_t)when : 0;
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&t, &tm))
		strftime(text, size, "%Y-%m-%dT%H:%M", &tm);
	return text;
}

/* -- in a terminal -- */

char picture_shade(double price, double most, bool full)
{
	if (full)
		return FULL;
	return most > 0 && price > 0 ? SHADES[1 + (int)fmin(8, floor(9 * price / most))]
				     : SHADES[0];
}

void picture_legend(int width, const char *words)
{
	printf("%*s %c costs nothing, %s up to %s\n", width, "", SHADES[0], &SHADES[1], words);
}

int picture_heat(const struct show *s, struct json_object *summary)
{
	double most = dearest(s, summary), slot = status_number(summary, "slot_seconds");
	struct json_object *class, *times, *t;
	char label[160], from[32], to[32];
	int width = 0;

	for (size_t i = 0; i < nclasses(summary); i++)
		if ((class = class_at(s, summary, i, &times)))
			width = (int)fmax(width, strlen(label_of(class, label, sizeof(label))));
	for (size_t i = 0; i < nclasses(summary); i++) {
		if (!(class = class_at(s, summary, i, &times)))
			continue;
		printf("%-*s ", width, label_of(class, label, sizeof(label)));
		for (size_t k = 0; k < json_object_array_length(times); k++) {
			double price;

			t = json_object_array_get_idx(times, k);
			price = status_item(t, MEAN);
			putchar(picture_shade(price, most, status_item(t, FREE) < 0.5));
		}
		putchar('\n');
	}
	if (s->noheader)
		return EXIT_SUCCESS;
	printf("%*s %s to %s; the first two columns are one slot each\n", width, "",
	       picture_time(status_number(summary, "first") * slot, from, sizeof(from)),
	       picture_time((status_number(summary, "last") + 1) * slot, to, sizeof(to)));
	snprintf(label, sizeof(label), "%.6f, %c nothing is left", most, FULL);
	picture_legend(width, label);
	return EXIT_SUCCESS;
}

/* -- as a file -- */

int picture_plot(const struct show *s, struct json_object *summary, const char *path)
{
	double first = status_number(summary, "first"), most = dearest(s, summary);
	double slots = status_number(summary, "last") - first + 1;
	struct json_object *class, *times;
	char label[160], *text = NULL;
	unsigned n = 0;
	struct auc_err err;
	size_t len;
	FILE *out;

	if (!(slots > 0))
		return fail("--plot: there are no prices yet");
	out = open_memstream(&text, &len);
	if (!out)
		return fail("out of memory");
	most = most > 0 ? most : 1;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	draw_axes(out, summary, first, slots, most);
	for (size_t i = 0; i < nclasses(summary); i++)
		if ((class = class_at(s, summary, i, &times)))
			draw_class(out, times, n++, label_of(class, label, sizeof(label)), first,
				   slots, most);
	fputs("</svg>\n", out);
	if (fclose(out)) {
		free(text);
		return fail("out of memory");
	}
	if (auc_file_replace(path, text, len, 0644, false, &err) != AUC_OK)
		fail("--plot: %s", err.text);
	else
		err.code = AUC_OK;
	free(text);
	return err.code ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A step for each time. */
static void draw_class(FILE *out, struct json_object *times, unsigned n, const char *label,
		       double first, double slots, double most)
{
	static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
					      "#e69f00", "#56b4e9", "#000000", "#999999"};
	const char *colour = colours[n % (sizeof(colours) / sizeof(*colours))];
	double wide = WIDTH - LEFT - RIGHT, high = HEIGHT - TOP - BOTTOM;

	fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
	for (size_t k = 0; k < json_object_array_length(times); k++) {
		struct json_object *t = json_object_array_get_idx(times, k);
		double y = TOP + high * (1 - status_item(t, MEAN) / most);

		fprintf(out, "%.1f,%.1f %.1f,%.1f ",
			LEFT + wide * (status_item(t, FROM) - first) / slots, y,
			LEFT + wide * (status_item(t, TO) + 1 - first) / slots, y);
	}
	fprintf(out, "\"/>\n<text x=\"%d\" y=\"%u\" fill=\"%s\">", WIDTH - RIGHT + 10,
		TOP + 12 + 18 * n, colour);
	print_escaped(out, label);
	fputs("</text>\n", out);
}

static void draw_axes(FILE *out, struct json_object *summary, double first, double slots,
		      double most)
{
	double slot = status_number(summary, "slot_seconds");
	int bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
	char from[32], to[32];

	fprintf(out,
		"<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"black\"/>\n"
		"<text x=\"%d\" y=\"15\">%s</text>\n"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.4g</text>\n"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n"
		"<text x=\"%d\" y=\"%d\">%s</text>\n"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
		LEFT, TOP, bottom, right, LEFT - 60,
		*status_text(summary, "unit") ? status_text(summary, "unit")
					      : "credits per unit and slot",
		LEFT - 5, TOP + 5, most, LEFT - 5, bottom, LEFT, bottom + 20,
		picture_time(first * slot, from, sizeof(from)), right, bottom + 20,
		picture_time((first + slots) * slot, to, sizeof(to)));
}

static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '<' || *text == '>' || *text == '&')
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
}
