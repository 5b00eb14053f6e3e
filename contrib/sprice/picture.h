/* picture.h - prices over time as pictures: in a terminal, and as a file. */
#ifndef SPRICE_PICTURE_H
#define SPRICE_PICTURE_H

#include "sprice/show.h"

/* The letter of a price, of which MOST is the dearest; FULL: it cannot be had. */
char picture_shade(double price, double most, bool full);
/* When WHEN (Unix time) is, in TEXT, SIZE bytes. */
const char *picture_time(double when, char *text, size_t size);
/* The last line under a map: what its letters mean; up to WORDS. After WIDTH characters and one. */
void picture_legend(int width, const char *words);
/* Prints a line for each class of SUMMARY (auction/summary.h) that S shows: a column is a time, and
 * the darker its letter, the dearer the mean price. An exit code. */
int picture_heat(const struct show *s, struct json_object *summary);
/* Writes mean prices over time to PATH as SVG, a line for each class. An exit code. */
int picture_plot(const struct show *s, struct json_object *summary, const char *path);

#endif
