/*
 * again.c - see again.h. The records up to the decision go into a spool of their own, in a
 * directory that is gone afterwards, and an auction opens it as slurmctld would. Of sales whose
 * number is higher than that of the sale in question the decision came later, so they are left out;
 * of those with a lower number that became jobs later there were liens by then, so they are put in.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json.h"
#include "sauction/again.h"

/* Which sale is in question, and which records go in. */
struct cut {
	const struct again_records *r;
	unsigned pos;
	const char *boot; /* of its id, the part before the number */
	size_t nboot;
	uint64_t number;
};

static enum auc_code add_record(struct again_records *r, struct json_object *o);
static enum auc_code write_cut(const struct cut *c, const char *dir, struct auc_err *err);
static enum auc_code add_all(const struct cut *c, struct auc_spool *spool, struct auc_err *err);
static enum auc_code nothing(void *arg, struct json_object *payload, struct auc_err *err);
static bool number_of(const struct cut *c, struct json_object *o, uint64_t *number);
static enum auc_code take_servers(struct json_object *status, struct json_object *sold,
				  const struct auc_conf *conf, struct auc_server_spec **specs,
				  unsigned *n, struct auc_err *err);
static bool take_server(struct json_object *o, struct json_object *sold,
			const struct auc_conf *conf, struct auc_server_spec *spec);
static void remove_dir(const char *dir);

enum auc_code again_read(const char *dir, struct again_records *r, struct auc_err *err)
{
	char *text = NULL, *line, *rest = NULL, *payload;
	enum auc_code rc;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	memset(r, 0, sizeof(*r));
	if (!out)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	rc = auc_spool_inspect(dir, out, err);
	fclose(out);
	for (line = rc == AUC_OK ? strtok_r(text, "\n", &rest) : NULL; line && rc == AUC_OK;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (*line == '#') {
			if (strstr(line, " records up to event "))
				r->snapshot = r->n;
			continue;
		}
		payload = strchr(line, '{');
		rc = add_record(r, payload ? auc_json_parse(payload, strlen(payload)) : NULL);
		if (rc != AUC_OK)
			auc_err_set(err, rc, "record %u: not one JSON object", r->n + 1);
	}
	free(text);
	if (rc != AUC_OK)
		again_clear(r);
	return rc;
}

/* Takes O over. */
static enum auc_code add_record(struct again_records *r, struct json_object *o)
{
	if (!o)
		return AUC_ECORRUPT;
	if (r->n == r->alloc) {
		unsigned alloc = r->alloc ? 2 * r->alloc : 1024;
		struct json_object **list = realloc(r->list, alloc * sizeof(*list));

		if (!list) {
			json_object_put(o);
			return AUC_ENOMEM;
		}
		r->list = list;
		r->alloc = alloc;
	}
	r->list[r->n++] = o;
	return AUC_OK;
}

void again_clear(struct again_records *r)
{
	for (unsigned i = 0; i < r->n; i++)
		json_object_put(r->list[i]);
	free(r->list);
	memset(r, 0, sizeof(*r));
}

enum auc_code again_make(const struct again_records *r, unsigned pos, struct auc_conf *conf,
			 struct json_object *status, struct auc_auction **a, double *now,
			 struct auc_err *err)
{
	struct json_object *sold = r->list[pos], *plan = json_object_object_get(sold, "plan");
	const char *id = json_object_get_string(json_object_object_get(sold, "sale"));
	const char *tmp = getenv("TMPDIR");
	struct cut c = {.r = r, .pos = pos, .boot = id, .nboot = strcspn(id, "-")};
	struct auc_server_spec *specs = NULL;
	double arrival = json_object_get_double(json_object_object_get(plan, "arrival"));
	double slot = json_object_get_double(json_object_object_get(sold, "slot_seconds"));
	char dir[4096];
	unsigned n = 0;
	enum auc_code rc = AUC_OK;

	*a = NULL;
	number_of(&c, sold, &c.number);
	if (slot != conf->slot_seconds)
		rc = auc_err_set(err, AUC_ESTATE,
				 "it was sold in slots of %g s, SlotSeconds=%g now", slot,
				 conf->slot_seconds);
	/* The last moment for which its first slot was the first. */
	*now = arrival * slot + (conf->late_start > 0 ? conf->late_start : -conf->start_margin);
	conf->user_quotes = 0;
	snprintf(dir, sizeof(dir), "%.4000s/sauction-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (rc == AUC_OK)
		rc = take_servers(status, sold, conf, &specs, &n, err);
	if (rc == AUC_OK && !mkdtemp(dir))
		rc = auc_err_set(err, AUC_EIO, "%s: %s", dir, strerror(errno));
	if (rc != AUC_OK) {
		free(specs);
		auc_conf_free(conf);
		return rc;
	}
	rc = auc_auction_create(conf, a, err);
	if (rc == AUC_OK)
		rc = write_cut(&c, dir, err);
	if (rc == AUC_OK)
		rc = auc_auction_set_servers(*a, specs, n, *now, err);
	if (rc == AUC_OK)
		rc = auc_auction_open_spool(*a, dir, *now, NULL, err);
	if (rc == AUC_EFULL) /* a node that changed since; what it has is booked */
		rc = AUC_OK;
	if (rc == AUC_OK)
		auc_auction_tick(*a, *now);
	remove_dir(dir);
	free(specs);
	if (rc != AUC_OK) {
		auc_auction_destroy(*a);
		*a = NULL;
	}
	return rc;
}

static enum auc_code write_cut(const struct cut *c, const char *dir, struct auc_err *err)
{
	struct auc_spool *spool;
	enum auc_code rc = auc_spool_open(dir, nothing, NULL, &spool, NULL, err);

	if (rc == AUC_OK)
		rc = add_all(c, spool, err);
	auc_spool_close(spool);
	return rc;
}

static enum auc_code add_all(const struct cut *c, struct auc_spool *spool, struct auc_err *err)
{
	const struct again_records *r = c->r;
	enum auc_code rc = auc_spool_snapshot_begin(spool, err);
	const char *word;
	uint64_t number;

	for (unsigned i = 0; i < r->snapshot && rc == AUC_OK; i++)
		rc = auc_spool_snapshot_add(spool, r->list[i], err);
	if (rc == AUC_OK)
		rc = auc_spool_snapshot_end(spool, err);
	for (unsigned i = r->snapshot; i < r->n && rc == AUC_OK; i++) {
		bool has = number_of(c, r->list[i], &number);

		word = json_object_get_string(json_object_object_get(r->list[i], "event"));
		/* Before: all but what was decided later. After: what was decided before. */
		if (i < c->pos ? has && number > c->number
			       : i == c->pos || !has || number >= c->number || strcmp(word, "sold"))
			continue;
		rc = auc_spool_add(spool, r->list[i], err);
	}
	return rc == AUC_OK ? auc_spool_commit(spool, err) : rc;
}

static enum auc_code nothing(void *arg, struct json_object *payload, struct auc_err *err)
{
	(void)arg;
	(void)payload;
	(void)err;
	return AUC_OK;
}

/* Of a sale's record the number in its id, if it is of the same life of the controller. */
static bool number_of(const struct cut *c, struct json_object *o, uint64_t *number)
{
	const char *id = json_object_get_string(json_object_object_get(o, "sale"));
	char *end;

	if (!id || strncmp(id, c->boot, c->nboot) || id[c->nboot] != '-')
		return false;
	*number = strtoull(id + c->nboot + 1, &end, 10);
	return !*end;
}

/* -- nodes -- */

/* Of STATUS those that auction.conf sells. Malloc'd. */
static enum auc_code take_servers(struct json_object *status, struct json_object *sold,
				  const struct auc_conf *conf, struct auc_server_spec **specs,
				  unsigned *n, struct auc_err *err)
{
	struct json_object *list = json_object_object_get(status, "servers");
	size_t count =
		json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	*n = 0;
	*specs = calloc(count + 1, sizeof(**specs));
	if (!*specs)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		if (take_server(json_object_array_get_idx(list, i), sold, conf, *specs + *n))
			(*n)++;
	return *n ? AUC_OK : auc_err_set(err, AUC_ESTATE, "the status says of no nodes");
}

/* False: it is no node (but several together, or the network), or not sold by CONF. */
static bool take_server(struct json_object *o, struct json_object *sold,
			const struct auc_conf *conf, struct auc_server_spec *spec)
{
	struct json_object *tres = json_object_object_get(o, "tres"), *t;
	char plan[AUC_NAME_MAX + 8];

	memset(spec, 0, sizeof(*spec));
	if (auc_json_text(o, "name", spec->name, sizeof(spec->name), NULL) != AUC_OK ||
	    auc_json_text(o, "partition", spec->partition, sizeof(spec->partition), NULL) !=
		    AUC_OK ||
	    !auc_conf_partition(conf, spec->partition) ||
	    !json_object_is_type(tres, json_type_array) ||
	    (auc_conf_partition(conf, spec->partition)->one_server &&
	     !strcmp(spec->name, spec->partition)))
		return false;
	for (size_t i = 0; i < json_object_array_length(tres) && i < AUC_TRES_MAX; i++) {
		struct auc_named *c = &spec->capacity[spec->ncapacity];

		t = json_object_array_get_idx(tres, i);
		if (auc_json_text(t, "name", c->name, sizeof(c->name), NULL) != AUC_OK ||
		    auc_json_double(t, "capacity", 0, 1e15, &c->value, NULL) != AUC_OK)
			return false;
		spec->ncapacity++;
	}
	/* What is down now was up then, if the sale has it. */
	snprintf(plan, sizeof(plan), "\"%s\"", spec->name);
	spec->down = !json_object_get_boolean(json_object_object_get(o, "for_sale")) &&
		     !strstr(json_object_to_json_string_ext(json_object_object_get(sold, "plan"),
							    JSON_C_TO_STRING_PLAIN),
			     plan);
	return true;
}

/* -- the bid -- */

enum auc_code again_bid(const struct auc_conf *conf, struct json_object *sold,
			const char *partition, struct auc_bid *bid, struct auc_err *err)
{
	const char *text = json_object_get_string(json_object_object_get(sold, "bid"));
	struct auc_payers payers;
	enum auc_code rc = auc_payers_read(sold, &payers, err);

	if (rc == AUC_OK)
		rc = auc_bid_parse(conf, text, bid, err);
	if (rc != AUC_OK)
		return rc;
	for (unsigned i = 0; i < payers.n && bid->naccounts < AUC_BID_ACCOUNTS_MAX; i++)
		if (!strncmp(payers.name[i], "account:", 8))
			snprintf(bid->accounts[bid->naccounts++], AUC_NAME_MAX, "%.*s",
				 AUC_NAME_MAX - 1, payers.name[i] + 8);
	if (partition) {
		bid->npartitions = 1;
		snprintf(bid->partitions[0], AUC_NAME_MAX, "%.*s", AUC_NAME_MAX - 1, partition);
	}
	return AUC_OK;
}

static void remove_dir(const char *dir)
{
	static const char *const names[] = {"state",        "journal",        "lock",
					    "before/state", "before/journal", "state.new",
					    "journal.new",  "before"};
	char path[4200];

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	remove(dir);
}
