/*
 * explain.c - "sauction explain": why a sale is where it is. What the auction was when the bid came
 * is made again from the spool (again.h), and asked: for the plan, for the best one without each of
 * its nodes, for the best that begins later. What the spool does not keep is said.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "sauction/again.h"
#include "sauction/explain.h"

#define NODES_MAX 8 /* of a plan, for which another is looked for */

struct explain {
	const struct sauction *s;
	const char *key; /* as asked for: a sale's id, or a job's number */
	struct again_records now, before;
	const struct again_records *in; /* where the decision is; NULL: it is in neither */
	unsigned pos;
	struct json_object *sold;    /* its record, or what a snapshot kept of it */
	struct json_object *o;       /* what is found */
	struct json_object *unknown; /* sentences */
	struct auc_auction *a;
	double at; /* Unix time that it is asked at */
	double slot;
	const char *partition; /* that the bid is confined to; NULL: none */
};

static bool is_asked(const struct explain *x, struct json_object *record);
static bool find(struct explain *x, struct auc_err *err);
static void since_then(struct explain *x, const struct again_records *r);
static enum auc_code replay(struct explain *x, struct auc_err *err);
static void tell(struct explain *x, struct json_object *o);
static bool is_same(struct explain *x, struct json_object *o);
static void fill(struct json_object *o, const struct auc_offer *offer);
static const char *only_partition(struct explain *x, struct json_object *status);
static struct json_object *answer(struct explain *x, double now);
static void ask_others(struct explain *x, const char names[][AUC_NAME_MAX], unsigned n);
static bool close_until_later(struct explain *x);
static unsigned nodes_of(struct json_object *plan, char names[][AUC_NAME_MAX], unsigned most);
static unsigned add_name(char names[][AUC_NAME_MAX], unsigned n, unsigned most, const char *name);
static void note(struct explain *x, const char *sentence);

int command_explain(const struct sauction *s, int argc, char **argv)
{
	struct explain x = {.s = s, .o = json_object_new_object()};
	struct auc_err err = {0};
	int code = EXIT_SUCCESS;

	if (argc != 1)
		code = fail("explain: expected a sale, or the number of its job; sauction sales "
			    "lists them");
	else
		x.key = argv[0];
	if (!code && !find(&x, &err))
		code = fail("%s", err.text);
	if (!code) {
		x.unknown = json_object_new_array();
		x.slot = json_object_get_double(json_object_object_get(x.sold, "slot_seconds"));
		if (x.in && replay(&x, &err) != AUC_OK) {
			char why[sizeof(err.text) + 64];

			snprintf(why, sizeof(why), "it cannot be decided again: %s", err.text);
			note(&x, why);
		}
		since_then(&x, &x.before);
		since_then(&x, &x.now);
		json_object_object_add(x.o, "sold", json_object_get(x.sold));
		json_object_object_del(json_object_object_get(x.o, "sold"), "event");
		json_object_object_add(x.o, "unknown", json_object_get(x.unknown));
		if (s->table.json)
			puts(json_object_to_json_string_ext(x.o, JSON_C_TO_STRING_PRETTY));
		else
			explain_print(x.o, x.slot);
	}
	auc_auction_destroy(x.a);
	json_object_put(x.unknown);
	json_object_put(x.o);
	again_clear(&x.now);
	again_clear(&x.before);
	return code;
}

static void note(struct explain *x, const char *sentence)
{
	json_object_array_add(x->unknown, json_object_new_string(sentence));
}

/* -- the sale in the spool -- */

static bool is_asked(const struct explain *x, struct json_object *record)
{
	struct json_object *sale, *job;

	return json_object_object_get_ex(record, "sale", &sale) &&
	       json_object_object_get_ex(record, "job", &job) &&
	       (!strcmp(json_object_get_string(sale), x->key) ||
		!strcmp(json_object_get_string(job), x->key));
}

/* The newest one, if a number of a job was used again. False: there is none. */
static bool find(struct explain *x, struct auc_err *err)
{
	const struct again_records *all[] = {&x->now, &x->before};
	char dir[4200];

	if (again_read(x->s->dir, &x->now, err) != AUC_OK)
		return false;
	snprintf(dir, sizeof(dir), "%s/before", x->s->dir);
	(void)again_read(dir, &x->before, NULL); /* there may be none */
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = all[k]->n; i-- > 0;) {
			struct json_object *o = all[k]->list[i];
			const char *word =
				json_object_get_string(json_object_object_get(o, "event"));

			if (!word || !is_asked(x, o) ||
			    (strcmp(word, "sold") && strcmp(word, "sale")))
				continue;
			if (x->sold &&
			    strcmp(json_object_get_string(json_object_object_get(o, "sale")),
				   json_object_get_string(json_object_object_get(x->sold, "sale"))))
				continue; /* an older job of that number */
			x->sold = o;
			if (strcmp(word, "sold"))
				break; /* a snapshot has it; look in the older one */
			x->in = all[k];
			x->pos = i;
			return true;
		}
	if (x->sold)
		return true;
	auc_err_set(err, AUC_ENOENT,
		    "%s: no sale of that id or job number in the spool, which goes back to the "
		    "snapshot before the last; sacct has its receipt",
		    x->key);
	return false;
}

/* What became of it, as far as R says. */
static void since_then(struct explain *x, const struct again_records *r)
{
	const char *id = json_object_get_string(json_object_object_get(x->sold, "sale"));
	struct json_object *list, *sale;

	if (!json_object_object_get_ex(x->o, "since", &list)) {
		list = json_object_new_array();
		json_object_object_add(x->o, "since", list);
	}
	for (unsigned i = r->snapshot; i < r->n; i++) {
		const char *word =
			json_object_get_string(json_object_object_get(r->list[i], "event"));

		if (json_object_object_get_ex(r->list[i], "sale", &sale) && word &&
		    !strcmp(json_object_get_string(sale), id) && strcmp(word, "sold"))
			json_object_array_add(list, json_object_get(r->list[i]));
	}
}

/* -- the decision again -- */

static enum auc_code replay(struct explain *x, struct auc_err *err)
{
	struct json_object *status = NULL, *o = NULL;
	struct auc_conf *conf = NULL;
	char path[4200];
	enum auc_code rc;

	/* What slurmctld took last; it keeps it here. */
	snprintf(path, sizeof(path), "%s/auction.conf", x->s->dir);
	rc = auc_conf_load(path, &conf, err);
	if (rc != AUC_OK)
		return rc;
	conf->user_quotes = conf->user_liens = conf->user_jobs = 0;
	snprintf(path, sizeof(path), "%s/status.json", x->s->dir);
	status = json_object_from_file(path);
	if (json_object_is_type(status, json_type_object)) {
		rc = again_make(x->in, x->pos, conf, status, &x->a, &x->at, err);
	} else {
		auc_conf_free(conf);
		rc = auc_err_set(err, AUC_EIO, "%s: cannot be read, and says which nodes there are",
				 path);
	}
	if (rc == AUC_OK)
		o = answer(x, x->at);
	if (rc == AUC_OK && !is_same(x, o) && (x->partition = only_partition(x, status))) {
		/* What --partition said is not in the bid. */
		json_object_put(o);
		o = answer(x, x->at);
		json_object_object_add(x->o, "partition", json_object_new_string(x->partition));
	}
	if (rc == AUC_OK)
		tell(x, o);
	json_object_put(status);
	return rc;
}

/* All that follows from O, the replay's answer, which is taken over. */
static void tell(struct explain *x, struct json_object *o)
{
	char names[NODES_MAX][AUC_NAME_MAX];
	bool same = is_same(x, o);

	json_object_object_add(x->o, "same", json_object_new_boolean(same));
	json_object_object_add(x->o, "time", json_object_new_double(x->at));
	json_object_object_add(x->o, "replayed", o);
	explain_prices(x->o, x->a, x->sold, x->at);
	ask_others(x, names, nodes_of(json_object_object_get(x->sold, "plan"), names, NODES_MAX));
	if (!same)
		note(x, "the replay differs from what was sold, and what is said of other plans is "
			"by the replay: nodes, closed times or auction.conf were others then, "
			"prices that learn knew less, or liens took room");
	note(x, "nodes and auction.conf are taken as they are now; of liens that lapsed and of "
		"times that were closed then the spool keeps nothing");
}

/* The plan that was sold, at the payment that was agreed. */
static bool is_same(struct explain *x, struct json_object *o)
{
	struct json_object *plan = NULL, *sold = NULL;

	json_object_object_get_ex(o, "plan", &plan);
	json_object_object_get_ex(json_object_object_get(x->sold, "plan"), "plan", &sold);
	return plan && sold && json_object_equal(plan, sold) &&
	       json_object_equal(json_object_object_get(o, "payment"),
				 json_object_object_get(x->sold, "payment"));
}

/* The one that all nodes of the plan are of; NULL: there is none. */
static const char *only_partition(struct explain *x, struct json_object *status)
{
	struct json_object *list = json_object_object_get(status, "servers");
	char names[NODES_MAX][AUC_NAME_MAX];
	unsigned n = nodes_of(json_object_object_get(x->sold, "plan"), names, NODES_MAX);
	const char *found = NULL;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		const char *name = json_object_get_string(json_object_object_get(o, "name"));
		const char *p = json_object_get_string(json_object_object_get(o, "partition"));

		for (unsigned k = 0; name && p && k < n; k++) {
			if (strcmp(name, names[k]))
				continue;
			if (found && strcmp(found, p))
				return NULL;
			found = p;
		}
	}
	return found;
}

/*
 * What the bid would have got at NOW: accepted, and then payment, value, payoff, start, end, nodes,
 * plan. It is asked as a submission does, for the receipt; its lien is dropped.
 */
static struct json_object *answer(struct explain *x, double now)
{
	uint32_t uid = (uint32_t)json_object_get_int64(json_object_object_get(x->sold, "uid"));
	struct json_object *o = json_object_new_object();
	struct auc_bid *bid = calloc(1, sizeof(*bid));
	struct auc_offer offer = {0};
	struct auc_err err = {0};
	enum auc_code rc = bid ? again_bid(auc_auction_conf(x->a), x->sold, x->partition, bid, &err)
			       : AUC_ENOMEM;

	if (rc == AUC_OK)
		rc = auc_auction_bid(x->a, bid, uid, now, true, &offer, &err);
	free(bid);
	json_object_object_add(o, "accepted", json_object_new_boolean(offer.accepted));
	json_object_object_add(o, "message",
			       json_object_new_string(rc == AUC_OK ? offer.message : err.text));
	if (offer.accepted)
		fill(o, &offer);
	if (*offer.sale)
		auc_auction_drop(x->a, offer.sale, NULL);
	auc_offer_clear(&offer);
	return o;
}

static void fill(struct json_object *o, const struct auc_offer *offer)
{
	struct json_object *nodes = json_object_new_array(), *plan;
	struct json_object *receipt = auc_json_parse(offer->receipt, strlen(offer->receipt));
	char names[NODES_MAX][AUC_NAME_MAX];
	unsigned n = nodes_of(receipt, names, NODES_MAX);

	auc_json_add_money(o, "payment", offer->payment);
	auc_json_add_money(o, "value", offer->value);
	auc_json_add_money(o, "payoff", offer->value - offer->payment);
	json_object_object_add(o, "start", json_object_new_double(offer->start));
	json_object_object_add(o, "end", json_object_new_double(offer->end));
	for (unsigned i = 0; i < n; i++)
		json_object_array_add(nodes, json_object_new_string(names[i]));
	json_object_object_add(o, "nodes", nodes);
	if (json_object_object_get_ex(receipt, "plan", &plan))
		json_object_object_add(o, "plan", json_object_get(plan));
	json_object_put(receipt);
}

/* Without each of its nodes, and with nothing to begin before a slot later. */
static void ask_others(struct explain *x, const char names[][AUC_NAME_MAX], unsigned n)
{
	struct json_object *list = json_object_new_array(), *o;
	struct auc_closing closing = {.from = 0, .to = INFINITY};

	json_object_object_add(x->o, "others", list);
	for (unsigned i = 0; i < n; i++) {
		snprintf(closing.server, sizeof(closing.server), "%.*s", AUC_NAME_MAX - 1,
			 names[i]);
		if (auc_auction_close(x->a, &closing, 1, NULL) != AUC_OK)
			continue;
		o = answer(x, x->at);
		json_object_object_add(o, "without", json_object_new_string(names[i]));
		json_object_array_add(list, o);
	}
	if (close_until_later(x))
		json_object_object_add(x->o, "later", answer(x, x->at));
	(void)auc_auction_close(x->a, NULL, 0, NULL);
}

/* All nodes, until a slot after the plan's first has begun. */
static bool close_until_later(struct explain *x)
{
	struct json_object *plan = json_object_object_get(x->sold, "plan"), *status, *servers;
	double start = json_object_get_double(json_object_object_get(plan, "start"));
	struct auc_closing *closings;
	bool good;
	size_t n;

	status = auc_auction_status(x->a, x->at);
	servers = json_object_object_get(status, "servers");
	n = json_object_is_type(servers, json_type_array) ? json_object_array_length(servers) : 0;
	closings = calloc(n + 1, sizeof(*closings));
	for (size_t i = 0; closings && i < n; i++) {
		struct json_object *name =
			json_object_object_get(json_object_array_get_idx(servers, i), "name");

		snprintf(closings[i].server, AUC_NAME_MAX, "%.*s", AUC_NAME_MAX - 1,
			 json_object_get_string(name));
		closings[i].to = (start + 1) * x->slot;
	}
	good = closings && auc_auction_close(x->a, closings, (unsigned)n, NULL) == AUC_OK;
	free(closings);
	json_object_put(status);
	return good;
}

/* The names of PLAN's nodes, each once. */
static unsigned nodes_of(struct json_object *plan, char names[][AUC_NAME_MAX], unsigned most)
{
	static const char *const keys[] = {"ps", "workers"};
	struct json_object *runs = json_object_object_get(plan, "plan"), *list;
	unsigned n = 0;

	for (size_t i = 0;
	     json_object_is_type(runs, json_type_array) && i < json_object_array_length(runs);
	     i++) {
		struct json_object *run = json_object_array_get_idx(runs, i);

		for (unsigned k = 0; k < 2; k++) {
			if (!json_object_object_get_ex(run, keys[k], &list) ||
			    !json_object_is_type(list, json_type_object))
				continue;
			json_object_object_foreach(list, name, count)
			{
				(void)count;
				n = add_name(names, n, most, name);
			}
		}
		if (json_object_object_get_ex(run, "nodes", &list) &&
		    json_object_is_type(list, json_type_array))
			for (size_t k = 0; k < json_object_array_length(list); k++)
				n = add_name(
					names, n, most,
					json_object_get_string(json_object_array_get_idx(list, k)));
	}
	return n;
}

static unsigned add_name(char names[][AUC_NAME_MAX], unsigned n, unsigned most, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return n;
	if (n < most)
		snprintf(names[n++], AUC_NAME_MAX, "%.*s", AUC_NAME_MAX - 1, name);
	return n;
}
