/* picture.h - prices over time as pictures: in a terminal, and as a file. */
#ifndef SPRICE_PICTURE_H
#define SPRICE_PICTURE_H

#include "sprice/show.h"

/* Prints a line for each class of SUMMARY (auction/summary.h) that S shows: a column is a time, and
 * the darker its letter, the dearer the mean price. An exit code. */
int picture_heat(const struct show *s, struct json_object *summary);
/* Writes mean prices over time to PATH as SVG, a line for each class. An exit code. */
int picture_plot(const struct show *s, struct json_object *summary, const char *path);

#endif
