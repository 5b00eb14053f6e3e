/* refusals.c - see refusals.h. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/memory/refusals.h"
#include "base/json.h"

#define USERS 4096

struct auc_refusals {
	uint64_t edition;
	struct {
		uint32_t uid;
		double when;
		char *text; /* NULL: none */
	} of[USERS];
};

struct auc_refusals *auc_refusals_create(void)
{
	struct auc_refusals *r = calloc(1, sizeof(*r));

	if (r)
		r->edition = 1;
	return r;
}

void auc_refusals_destroy(struct auc_refusals *r)
{
	for (unsigned i = 0; r && i < USERS; i++)
		free(r->of[i].text);
	free(r);
}

void auc_refusals_keep(struct auc_refusals *r, uint32_t uid, double when, const char *text)
{
	unsigned i = uid % USERS;

	r->edition++;
	free(r->of[i].text);
	r->of[i].text = strdup(text);
	r->of[i].uid = uid;
	r->of[i].when = when;
}

const char *auc_refusals_find(const struct auc_refusals *r, uint32_t uid, double *when)
{
	unsigned i = uid % USERS;

	if (!r->of[i].text || r->of[i].uid != uid)
		return NULL;
	*when = r->of[i].when;
	return r->of[i].text;
}

uint64_t auc_refusals_edition(const struct auc_refusals *r)
{
	return r->edition;
}

struct auc_refusals *auc_refusals_copy(const struct auc_refusals *r)
{
	struct auc_refusals *copy = auc_refusals_create();

	for (unsigned i = 0; copy && i < USERS; i++) {
		copy->of[i].uid = r->of[i].uid;
		copy->of[i].when = r->of[i].when;
		if (!r->of[i].text || (copy->of[i].text = strdup(r->of[i].text)))
			continue;
		auc_refusals_destroy(copy);
		copy = NULL;
	}
	return copy;
}

char *auc_refusals_print(const struct auc_refusals *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned i = 0; out && i < USERS; i++) {
		const char *said = r->of[i].text;
		struct json_object *o;

		if (!said)
			continue;
		o = json_object_new_object();
		if (o && auc_json_add_int(o, "uid", r->of[i].uid) &&
		    auc_json_add_double(o, "when", r->of[i].when) &&
		    auc_json_add(
			    o, "text",
			    json_object_new_string_len(said, (int)strnlen(said, AUC_REFUSAL_MAX))))
			fprintf(out, "%s\n",
				json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
		json_object_put(o);
	}
	if (out && fclose(out)) {
		free(text);
		text = NULL;
	}
	return text;
}

void auc_refusals_read(struct auc_refusals *r, const char *text)
{
	char *copy = strdup(text), *rest = NULL, *line;

	for (line = copy ? strtok_r(copy, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct json_object *o = auc_json_parse(line, strlen(line)), *said;
		double when, last;
		int64_t uid;

		if (o && auc_json_int(o, "uid", 0, UINT32_MAX, &uid, NULL) == AUC_OK &&
		    auc_json_double(o, "when", 0, 1e12, &when, NULL) == AUC_OK &&
		    json_object_object_get_ex(o, "text", &said) &&
		    json_object_is_type(said, json_type_string) &&
		    (!auc_refusals_find(r, (uint32_t)uid, &last) || last < when))
			auc_refusals_keep(r, (uint32_t)uid, when, json_object_get_string(said));
		json_object_put(o);
	}
	free(copy);
}
