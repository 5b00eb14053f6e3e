/* history.h - past prices of shapes and of classes of nodes (auction/memory/price_log.h): their
 * columns, and their picture. */
#ifndef SPRICE_HISTORY_H
#define SPRICE_HISTORY_H

#include "sprice/show.h"

/* Draws HISTORY to the file that S names. An exit code, and said what is wrong. */
int history_plot(const struct show *s, struct json_object *history);

/* Prints HISTORY as a map of letters: a line for each series, a letter for each AUC_PRICE_LOG_BIN.
 * Likewise. */
int history_heat(const struct show *s, struct json_object *history);

#endif
