/* width.h - widths of columns, as sacct's --format takes them: NAME%WIDTH. */
#ifndef WIDTH_H
#define WIDTH_H

#include <stdbool.h>

#define WIDTH_MAX 1000

/*
 * Cuts WORD, an item of --format, at its '%', and sets *WIDTH to what is behind it: from 1 to
 * WIDTH_MAX, or, for text that begins at the left, from -1 to -WIDTH_MAX; 0 if there is no '%'.
 * False if it is none, with WORD as it was.
 */
bool width_take(char *word, int *width);
/* TEXT in as many columns as WIDTH says: with blanks before it (behind it if WIDTH is negative), or
 * cut, with a '+' at its end. Of WIDTH 0 a copy. NULL: no memory; else for free(). */
char *width_fit(const char *text, int width);

#endif
