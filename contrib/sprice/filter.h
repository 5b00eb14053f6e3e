/* filter.h - sprice's --partition and --gpu: what they choose, and names that nothing has. */
#ifndef SPRICE_FILTER_H
#define SPRICE_FILTER_H

#include <stdbool.h>

#include "sprice/show.h"

struct json_object;

/* True if S shows the line of PARTITION and TRES. */
bool show_has(const struct show *s, const char *partition, const char *tres);
/* The same of a class by its name, "PARTITION/GPU", as past prices have it. */
bool show_has_class(const struct show *s, const char *name);
/*
 * Looks whether DOC, a status, a summary or a history, has each name that S chooses by, and
 * anything that S shows. EXIT_FAILURE, and said, if not. A document without any names passes.
 */
int filter_check(const struct show *s, struct json_object *doc);

#endif
