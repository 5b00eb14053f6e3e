/* given.c - see given.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sauction/given.h"
#include "sauction/rows.h"

static bool given_has(const struct option *options, uint64_t given, const char *name);

bool given_lists(const char *list, const char *name)
{
	size_t n;

	for (const char *p = list; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		if (n == strlen(name) && !strncmp(p, name, n))
			return true;
	}
	return false;
}

uint64_t given_bit(const struct option *options, int c)
{
	for (unsigned i = 0; options[i].name; i++)
		if (options[i].val == c)
			return UINT64_C(1) << i;
	return 0;
}

int given_refuse(const struct option *options, uint64_t given, const char *takes, const char *what)
{
	bool json = given_has(options, given, "json") && given_lists(takes, "json");

	for (unsigned i = 0; options[i].name; i++) {
		if (!(given & UINT64_C(1) << i) || given_lists(takes, options[i].name))
			continue;
		/* JSON has no headings, and those of Slurm take both. */
		if (!json || strcmp(options[i].name, "noheader") != 0)
			return fail("--%s: %s does not take it", options[i].name, what);
	}
	return EXIT_SUCCESS;
}

int given_one_of(const struct option *options, uint64_t given, const char *names)
{
	const char *first = NULL;

	for (unsigned i = 0; options[i].name; i++) {
		if (!(given & UINT64_C(1) << i) || !given_lists(names, options[i].name))
			continue;
		if (first)
			return fail("--%s and --%s: expected only one of them", first,
				    options[i].name);
		first = options[i].name;
	}
	return EXIT_SUCCESS;
}

static bool given_has(const struct option *options, uint64_t given, const char *name)
{
	for (unsigned i = 0; options[i].name; i++)
		if (given & UINT64_C(1) << i && !strcmp(options[i].name, name))
			return true;
	return false;
}
