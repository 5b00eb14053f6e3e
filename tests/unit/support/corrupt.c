/* corrupt.c - see corrupt.h */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auctionsim/check/check.h"
#include "unit/support/corrupt.h"
#include "auctionsim/io/document.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/run/result.h"

struct scenario *corrupt_scenario(const char *json)
{
	struct auc_err err = {.text = ""};
	struct scenario *s;

	if (scenario_parse(json, strlen(json), "c", &s, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return s;
}

struct json_object *corrupt_result(const struct scenario *s, const char *policy)
{
	struct auc_err err = {.text = ""};
	struct result result = {0};
	struct json_object *root;
	char *json = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&json, &size);

	assert_non_null(out);
	if (replay_run(s, policy, 1, NULL, NULL, &result, &err) != AUC_OK)
		fail_msg("%s: %s", policy, err.text);
	assert_int_equal(result_print_json(out, s, &result, 1, NULL), AUC_OK);
	fclose(out);
	result_clear(&result);
	assert_int_equal(document_parse(json, size, "r", &root, NULL), AUC_OK);
	free(json);
	return root;
}

unsigned corrupt_check(const struct scenario *s, struct json_object *root, char **said)
{
	unsigned violations;
	size_t size = 0;
	FILE *out = open_memstream(said, &size);

	assert_non_null(out);
	assert_int_equal(check_result(s, root, "r", out, &violations, NULL), AUC_OK);
	fclose(out);
	return violations;
}

void corrupt_put(struct json_object **root, const char *pointer, const char *new)
{
	char parent[100];
	struct json_object *o, *v;
	char *last;

	if (new) {
		v = json_tokener_parse(new);
		assert_int_equal(json_pointer_set(root, pointer, v), 0);
		return;
	}
	snprintf(parent, sizeof(parent), "%s", pointer);
	last = strrchr(parent, '/');
	*last++ = '\0';
	assert_int_equal(json_pointer_get(*root, parent, &o), 0);
	if (json_object_is_type(o, json_type_array))
		json_object_array_del_idx(o, strtoul(last, NULL, 10), 1);
	else
		json_object_object_del(o, last);
}

void corrupt_none(const struct scenario *s, const char *policy)
{
	struct json_object *root = corrupt_result(s, policy);
	char *said = NULL;

	if (corrupt_check(s, root, &said))
		fail_msg("%s: %s", policy, said);
	free(said);
	json_object_put(root);
}

void corrupt_all(const struct scenario *s, const struct corruption *list, unsigned n)
{
	const struct corruption *c;
	struct json_object *root;
	unsigned found;
	char *said;

	for (c = list; c < list + n; c++) {
		root = corrupt_result(s, c->policy);
		corrupt_put(&root, c->pointer, c->new);
		said = NULL;
		found = corrupt_check(s, root, &said);
		if (!found || !strstr(said, c->says))
			fail_msg("%s: %s -> %s: expected '%s', got: %s", c->policy, c->pointer,
				 c->new ? c->new : "nothing", c->says, said);
		free(said);
		json_object_put(root);
	}
}
