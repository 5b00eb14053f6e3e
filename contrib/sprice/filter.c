/* filter.c - see filter.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/summary.h"
#include "sauction/given.h"
#include "sprice/columns.h"
#include "sprice/filter.h"

/* What a document has: names as keys. */
struct found {
	const struct show *show;
	struct json_object *partitions, *gpus;
	bool any;  /* a line that is shown */
	bool full; /* there may be more names */
};

static void look(struct found *f, struct json_object *doc);
static void look_at_board(struct found *f, struct json_object *doc);
static size_t length(struct json_object *list);
static void add_tres(struct found *f, struct json_object *server);
static void add(struct found *f, const char *partition, const char *tres);
static int check_names(const char *option, const char *list, struct json_object *names);
static const char *gpu_of(const char *tres);

bool show_has(const struct show *s, const char *partition, const char *tres)
{
	return (!s->partitions || given_lists(s->partitions, partition)) &&
	       (!s->gpus || given_lists(s->gpus, gpu_of(tres)) || given_lists(s->gpus, tres));
}

bool show_has_class(const struct show *s, const char *name)
{
	char partition[256];
	size_t n = strcspn(name, "/");

	snprintf(partition, sizeof(partition), "%.*s", (int)n, name);
	return show_has(s, partition, name[n] ? name + n + 1 : "");
}

/* "v100" of "gpu:v100". */
static const char *gpu_of(const char *tres)
{
	return strncmp(tres, "gpu:", 4) ? tres : tres + 4;
}

int filter_check(const struct show *s, struct json_object *doc)
{
	struct found f = {.show = s};
	int code = EXIT_SUCCESS;

	if (!s->partitions && !s->gpus)
		return EXIT_SUCCESS;
	f.partitions = json_object_new_object();
	f.gpus = json_object_new_object();
	look(&f, doc);
	if (json_object_object_length(f.partitions) && !f.full) {
		code = check_names("partition", s->partitions, f.partitions);
		if (!code)
			code = check_names("gpu", s->gpus, f.gpus);
		if (!code && !f.any)
			code = fail("--gpu=%s: --partition=%s has nothing of that", s->gpus,
				    s->partitions);
	}
	json_object_put(f.partitions);
	json_object_put(f.gpus);
	return code;
}

static void look(struct found *f, struct json_object *doc)
{
	struct json_object *classes = status_within(doc, "classes"), *o;
	struct json_object *servers = status_within(doc, "servers");

	for (size_t i = 0; i < length(classes); i++) {
		const char *name;
		char partition[256];

		o = json_object_array_get_idx(classes, i);
		name = status_text(o, "name");
		if (f->show->view != VIEW_HISTORY) {
			add(f, status_text(o, "partition"), status_text(o, "tres"));
		} else if (strchr(name, '/')) {
			snprintf(partition, sizeof(partition), "%.*s", (int)strcspn(name, "/"),
				 name);
			add(f, partition, strchr(name, '/') + 1);
		}
	}
	for (size_t i = 0; i < length(servers); i++)
		add_tres(f, json_object_array_get_idx(servers, i));
	if (f->show->view == VIEW_BOARD)
		look_at_board(f, doc);
	f->full = length(classes) >= AUC_SUMMARY_CLASSES;
}

static size_t length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

static void add_tres(struct found *f, struct json_object *server)
{
	struct json_object *tres = status_within(server, "tres");

	for (size_t i = 0; i < length(tres); i++)
		add(f, status_text(server, "partition"),
		    status_text(json_object_array_get_idx(tres, i), "name"));
}

static void look_at_board(struct found *f, struct json_object *doc)
{
	struct json_object *board = status_within(doc, "board");

	for (size_t i = 0; i < length(board); i++) {
		struct json_object *shape = json_object_array_get_idx(board, i);

		add(f, shape_partition(shape), shape_type(shape));
	}
}

static void add(struct found *f, const char *partition, const char *tres)
{
	if (*partition)
		json_object_object_add(f->partitions, partition, NULL);
	json_object_object_add(f->gpus, gpu_of(tres), NULL);
	f->any = f->any || show_has(f->show, partition, tres);
}

/* LIST (NULL: none) names what is in NAMES only. */
static int check_names(const char *option, const char *list, struct json_object *names)
{
	char name[256], there[1024] = "";
	size_t n;

	for (const char *p = list; p && *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		snprintf(name, sizeof(name), "%.*s", (int)n, p);
		if (json_object_object_get_ex(names, gpu_of(name), NULL))
			continue;
		json_object_object_foreach(names, key, value)
		{
			(void)value;
			snprintf(there + strlen(there), sizeof(there) - strlen(there), " %s", key);
		}
		return fail("--%s: '%s' is not for sale here, expected some of:%s", option, name,
			    there);
	}
	return EXIT_SUCCESS;
}
