/* gres_types.c - see gres_types.h. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "adapter/gres_types.h"

/* One GRES in a text as Slurm has them: name, type ("" if it says none), and what follows. */
struct gres {
	size_t prefix, name, type; /* bytes of "gres:", of the name, of the type */
	const char *at, *of, *rest;
};

/* The one that TEXT begins with. */
static struct gres gres_of(const char *text)
{
	struct gres g = {.at = text};

	if (!strncmp(text, "gres:", 5) || !strncmp(text, "gres/", 5))
		g.prefix = 5;
	g.name = strcspn(text + g.prefix, ":=,;");
	g.rest = text + g.prefix + g.name;
	g.of = g.rest + 1;
	if (*g.rest == ':' &&
	    !(isdigit((unsigned char)*g.of) && strspn(g.of, "0123456789") == strcspn(g.of, ",;"))) {
		g.type = strcspn(g.of, ":=,;");
		g.rest = g.of + g.type;
	}
	return g;
}

bool auc_gpus_typed(const char *text)
{
	struct gres g;

	for (const char *p = text ? text : ""; *p; p = g.rest + strcspn(g.rest, ",;")) {
		p += *p == ',' || *p == ';';
		g = gres_of(p);
		if (!g.type && g.name == 3 && !strncasecmp(g.at + g.prefix, "gpu", 3))
			return false;
	}
	return true;
}

bool auc_gres_names_type(const char *text)
{
	struct gres g;

	for (const char *p = text ? text : ""; *p; p = g.rest + strcspn(g.rest, ",;")) {
		p += *p == ',' || *p == ';';
		g = gres_of(p);
		if (g.type)
			return true;
	}
	return false;
}

void auc_gres_strip(char *text)
{
	struct gres g;
	size_t n;

	for (char *p = text; *p; p += n) {
		p += *p == ',' || *p == ';';
		g = gres_of(p);
		n = g.prefix + g.name;
		memmove(p + n, g.rest, strlen(g.rest) + 1);
		n += strcspn(p + n, ",;");
	}
}

char *auc_gres_typed(const char *text, const char *gres, bool all)
{
	struct gres g, sold = {.type = 0};
	char *made = NULL;
	const char *next;
	size_t size, n;
	FILE *out;

	out = open_memstream(&made, &size);
	if (!out)
		return NULL;
	for (const char *p = text; *p; p = g.rest + n) {
		bool found = false;

		g = gres_of(p);
		for (next = gres; *next && !found; next += *next != '\0') {
			sold = gres_of(next);
			found = sold.type && sold.name == g.name &&
				!strncasecmp(sold.at + sold.prefix, p + g.prefix, g.name) &&
				((!g.type && all) ||
				 (sold.type == g.type && !strncasecmp(sold.of, g.of, g.type)));
			next = sold.rest + strcspn(sold.rest, ",;");
		}
		fprintf(out, "%.*s", (int)(g.prefix + g.name), p);
		if (found)
			fprintf(out, ":%.*s", (int)sold.type, sold.of);
		else if (g.type)
			fprintf(out, ":%.*s", (int)g.type, g.of);
		n = strcspn(g.rest, ",;");
		n += g.rest[n] != '\0';
		fprintf(out, "%.*s", (int)n, g.rest);
	}
	return fclose(out) ? NULL : made;
}
