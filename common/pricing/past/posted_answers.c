/* posted_answers.c - see posted_answers.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "pricing/past/posted_answers.h"
#include "base/json.h"
#include "base/list.h"

#define COUNT_MAX (1 << 20)
#define PRICE_MAX 1e15

struct waiting {
	char sale[AUC_SALE_ID_LEN];
	struct auc_answer answer;
};

struct auc_posted_answers {
	unsigned count, alloc, oldest; /* a ring once COUNT is AUC_POSTED_ANSWERS_MAX */
	struct auc_answer *list;
	uint64_t waited;         /* how many ever did */
	struct waiting *waiting; /* a ring of the last AUC_POSTED_ANSWERS_MAX; "": taken */
};

/* What an event has, by kind of type. */
static const struct {
	const char *type, *count, *price, *idle;
} keys[] = {{"worker_type", "workers", "worker_price", "idle_workers"},
	    {"ps_type", "ps", "ps_price", "idle_ps"}};

static enum auc_code read_answer(struct json_object *event, struct auc_answer *a,
				 struct auc_err *err);

struct auc_posted_answers *auc_posted_answers_create(void)
{
	return calloc(1, sizeof(struct auc_posted_answers));
}

void auc_posted_answers_destroy(struct auc_posted_answers *l)
{
	if (!l)
		return;
	free(l->list);
	free(l->waiting);
	free(l);
}

struct auc_posted_answers *auc_posted_answers_copy(const struct auc_posted_answers *l)
{
	struct auc_posted_answers *copy = auc_posted_answers_create();

	for (unsigned i = 0; copy && i < l->count; i++)
		if (auc_posted_answers_add(copy, auc_posted_answers_at(l, i), NULL) != AUC_OK) {
			auc_posted_answers_destroy(copy);
			return NULL;
		}
	return copy;
}

unsigned auc_posted_answers_count(const struct auc_posted_answers *l)
{
	return l->count;
}

const struct auc_answer *auc_posted_answers_at(const struct auc_posted_answers *l, unsigned i)
{
	return &l->list[(l->oldest + i) % AUC_POSTED_ANSWERS_MAX];
}

enum auc_code auc_posted_answers_add(struct auc_posted_answers *l, const struct auc_answer *a,
				     struct auc_err *err)
{
	unsigned alloc = l->alloc ? 2 * l->alloc : 64;
	struct auc_answer *grown;

	if (l->count == AUC_POSTED_ANSWERS_MAX) {
		l->list[l->oldest] = *a;
		l->oldest = (l->oldest + 1) % AUC_POSTED_ANSWERS_MAX;
		return AUC_OK;
	}
	if (l->count == l->alloc) {
		grown = realloc(l->list, alloc * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "answers: out of memory");
		l->list = grown;
		l->alloc = alloc;
	}
	l->list[l->count++] = *a;
	return AUC_OK;
}

enum auc_code auc_posted_answers_wait(struct auc_posted_answers *l, const char *sale,
				      const struct auc_answer *a, struct auc_err *err)
{
	struct waiting *w;

	if (!l->waiting)
		l->waiting = calloc(AUC_POSTED_ANSWERS_MAX, sizeof(*l->waiting));
	if (!l->waiting)
		return auc_err_set(err, AUC_ENOMEM, "answers: out of memory");
	w = &l->waiting[l->waited++ % AUC_POSTED_ANSWERS_MAX];
	snprintf(w->sale, sizeof(w->sale), "%s", sale);
	w->answer = *a;
	return AUC_OK;
}

/* The latest are asked for first. */
bool auc_posted_answers_take(struct auc_posted_answers *l, const char *sale, struct auc_answer *a)
{
	uint64_t kept = l->waited < AUC_POSTED_ANSWERS_MAX ? l->waited : AUC_POSTED_ANSWERS_MAX;
	struct waiting *w;

	for (uint64_t i = 1; i <= kept && *sale; i++) {
		w = &l->waiting[(l->waited - i) % AUC_POSTED_ANSWERS_MAX];
		if (strcmp(w->sale, sale) != 0)
			continue;
		*a = w->answer;
		*w->sale = '\0';
		return true;
	}
	return false;
}

struct json_object *auc_posted_answers_event(const struct auc_posted_answers *l, unsigned i)
{
	const struct auc_answer *a = auc_posted_answers_at(l, i);
	struct json_object *o = json_object_new_object();
	bool ok = o && auc_json_add_text(o, "event", "answer") &&
		  auc_json_add_int(o, "arrival", a->arrival) &&
		  auc_json_add_double(o, "slots", a->slots) &&
		  auc_json_add_bool(o, "offered", a->offered) &&
		  auc_json_add_bool(o, "accepted", a->accepted);

	for (unsigned kind = 0; kind < 2 && ok; kind++)
		ok = auc_json_add_text(o, keys[kind].type, a->type[kind]) &&
		     auc_json_add_int(o, keys[kind].count, a->count[kind]) &&
		     auc_json_add_double(o, keys[kind].price, a->price[kind]) &&
		     auc_json_add_double(o, keys[kind].idle, a->idle[kind]);
	return auc_json_if(ok, o);
}

bool auc_posted_answers_knows(struct json_object *event)
{
	struct json_object *word;

	return json_object_object_get_ex(event, "event", &word) &&
	       json_object_is_type(word, json_type_string) &&
	       !strcmp(json_object_get_string(word), "answer");
}

enum auc_code auc_posted_answers_apply(struct auc_posted_answers *l, struct json_object *event,
				       struct auc_err *err)
{
	struct auc_answer a = {.offered = false};
	struct auc_err why = {.text = ""};

	if (read_answer(event, &a, &why) != AUC_OK)
		return auc_err_set(err, AUC_ECORRUPT, "event 'answer': %s", why.text);
	return auc_posted_answers_add(l, &a, err);
}

static enum auc_code read_answer(struct json_object *event, struct auc_answer *a,
				 struct auc_err *err)
{
	enum auc_code rc = auc_json_int(event, "arrival", 0, INT64_MAX / 2, &a->arrival, err);
	int64_t count;

	if (rc == AUC_OK)
		rc = auc_json_double(event, "slots", 1, AUC_ANSWER_SLOTS_MAX, &a->slots, err);
	if (rc == AUC_OK)
		rc = auc_json_bool(event, "offered", &a->offered, err);
	if (rc == AUC_OK)
		rc = auc_json_bool(event, "accepted", &a->accepted, err);
	if (rc == AUC_OK && a->accepted && !a->offered)
		rc = auc_err_set(err, AUC_EINVAL,
				 "accepted: expected false where nothing was offered");
	for (unsigned kind = 0; kind < 2 && rc == AUC_OK; kind++) {
		rc = auc_json_text(event, keys[kind].type, a->type[kind], AUC_NAME_MAX, err);
		if (rc == AUC_OK && !auc_name_valid(a->type[kind]))
			rc = auc_err_set(err, AUC_EINVAL, "%s: expected a name", keys[kind].type);
		if (rc == AUC_OK)
			rc = auc_json_int(event, keys[kind].count, 1, COUNT_MAX, &count, err);
		if (rc == AUC_OK)
			a->count[kind] = (unsigned)count;
		if (rc == AUC_OK)
			rc = auc_json_double(event, keys[kind].price, 0, PRICE_MAX, &a->price[kind],
					     err);
		if (rc == AUC_OK)
			rc = auc_json_double(event, keys[kind].idle, 0, PRICE_MAX, &a->idle[kind],
					     err);
	}
	return rc;
}
