/* explain_show.c - see explain.h: prices by node at the moment of a decision; all of it in words.
 */
#include "config.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/num.h"
#include "sauction/explain.h"

/* Prices of nodes that were chosen, that had room, and that had none. */
enum { CHOSEN, ROOM, FULL, NGROUPS };
struct group {
	unsigned n;
	double least, most;
};

static struct json_object *get(struct json_object *o, const char *key);
static const char *text(struct json_object *o, const char *key);
static double number(struct json_object *o, const char *key);
static const char *main_tres(struct json_object *sold, double *amount);
static struct json_object *price_of(struct json_object *server, const char *tres, int64_t from,
				    int64_t to);
static const char *time_of(double when, char *out, size_t size);
static void print_head(struct json_object *o, double slot);
static void print_plan(struct json_object *plan, double slot);
static void print_names(struct json_object *run);
static void print_prices(struct json_object *o);
static void print_group(const char *what, const struct group *g, const char *tres);
static void print_other(struct json_object *o, struct json_object *replayed, const char *what);
static void print_since(struct json_object *o, double slot);

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

static const char *text(struct json_object *o, const char *key)
{
	const char *t = json_object_get_string(get(o, key));

	return t ? t : "";
}

static double number(struct json_object *o, const char *key)
{
	return json_object_get_double(get(o, key));
}

/* -- prices -- */

void explain_prices(struct json_object *o, struct auc_auction *a, struct json_object *sold,
		    double now)
{
	struct json_object *status = auc_auction_status(a, now), *servers = get(status, "servers");
	struct json_object *list = json_object_new_array(), *plan = get(sold, "plan");
	int64_t from = json_object_get_int64(get(plan, "start"));
	int64_t to = json_object_get_int64(get(plan, "completion")) - 1;
	const char *names = json_object_to_json_string(plan);
	double amount;
	const char *tres = main_tres(sold, &amount);

	for (size_t i = 0;
	     json_object_is_type(servers, json_type_array) && i < json_object_array_length(servers);
	     i++) {
		struct json_object *server = json_object_array_get_idx(servers, i), *p;
		char quoted[AUC_NAME_MAX + 4];

		p = price_of(server, tres, from, to);
		if (!p)
			continue;
		snprintf(quoted, sizeof(quoted), "\"%s\"", text(server, "name"));
		json_object_object_add(p, "chosen",
				       json_object_new_boolean(strstr(names, quoted) != NULL));
		json_object_object_add(
			p, "room",
			json_object_new_boolean(json_object_get_boolean(get(server, "for_sale")) &&
						number(p, "free") >= amount));
		json_object_array_add(list, p);
	}
	json_object_put(status);
	json_object_object_add(o, "tres", json_object_new_string(tres));
	json_object_object_add(o, "prices", list);
}

/* The GPU that a worker, or a node of a gang, takes, else the first of what it takes. */
static const char *main_tres(struct json_object *sold, double *amount)
{
	struct json_object *of = get(sold, "worker_tres");
	const char *found = "";

	*amount = 0;
	if (!of)
		of = get(get(sold, "plan"), "per_node");
	if (!json_object_is_type(of, json_type_object))
		return found;
	json_object_object_foreach(of, name, value)
	{
		if (*found && strncmp(name, "gpu", 3))
			continue;
		if (!strncmp(found, "gpu", 3))
			continue;
		found = name;
		*amount = json_object_get_double(value);
	}
	return found;
}

/* NULL: SERVER has no TRES. */
static struct json_object *price_of(struct json_object *server, const char *tres, int64_t from,
				    int64_t to)
{
	struct json_object *list = get(server, "tres"), *o, *runs = NULL, *t = NULL;
	double sum = 0, slots = 0, used = 0;

	for (size_t k = 0; !runs && k < json_object_array_length(list); k++) {
		t = json_object_array_get_idx(list, k);
		if (!strcmp(text(t, "name"), tres))
			runs = get(t, "runs");
	}
	if (!runs)
		return NULL;
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *r = json_object_array_get_idx(runs, i);
		int64_t first = json_object_get_int64(json_object_array_get_idx(r, 0));
		int64_t last = json_object_get_int64(json_object_array_get_idx(r, 1));
		double n;

		first = first < from ? from : first;
		last = last > to ? to : last;
		if (first > last)
			continue;
		n = (double)(last - first + 1);
		used = fmax(used, json_object_get_double(json_object_array_get_idx(r, 2)));
		sum += n * json_object_get_double(json_object_array_get_idx(r, 3));
		slots += n;
	}
	o = json_object_new_object();
	json_object_object_add(o, "server", json_object_get(get(server, "name")));
	json_object_object_add(o, "partition", json_object_get(get(server, "partition")));
	json_object_object_add(o, "price", json_object_new_double(slots > 0 ? sum / slots : 0));
	json_object_object_add(o, "free", json_object_new_double(number(t, "capacity") - used));
	return o;
}

/* -- words -- */

void explain_print(struct json_object *o, double slot)
{
	struct json_object *list = get(o, "others"), *replayed = get(o, "replayed");
	char what[AUC_NAME_MAX + 32];

	print_head(o, slot);
	if (replayed && json_object_get_boolean(get(o, "same")))
		puts("replayed: the same plan at the same price");
	else if (replayed)
		print_other(replayed, NULL, "replayed, and not the same");
	print_prices(o);
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *other = json_object_array_get_idx(list, i);

		snprintf(what, sizeof(what), "without %s", text(other, "without"));
		print_other(other, replayed, what);
	}
	if (get(o, "later"))
		print_other(get(o, "later"), replayed, "later");
	print_since(get(o, "since"), slot);
	list = get(o, "unknown");
	for (size_t i = 0; i < json_object_array_length(list); i++)
		printf("note: %s\n", json_object_get_string(json_object_array_get_idx(list, i)));
}

static const char *time_of(double when, char *out, size_t size)
{
	time_t t = (time_t)when;
	struct tm tm;

	out[0] = '\0';
	if (localtime_r(&t, &tm))
		strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm);
	return out;
}

static void print_head(struct json_object *o, double slot)
{
	struct json_object *sold = get(o, "sold"), *plan = get(sold, "plan");
	const struct passwd *pw = getpwuid((uid_t)json_object_get_int64(get(sold, "uid")));
	auc_money value = 0, payment = 0;
	char payoff[AUC_MONEY_LEN], when[32];

	(void)auc_json_money(sold, "value", &value, NULL);
	(void)auc_json_money(sold, "payment", &payment, NULL);
	printf("sale %s: job %s of %s, Policy=%s\n", text(sold, "sale"), text(sold, "job"),
	       pw ? pw->pw_name : text(sold, "uid"), text(sold, "policy"));
	printf("pays %s, worth %s: payoff %s\n", text(sold, "payment"), text(sold, "value"),
	       auc_money_str(value - payment, payoff));
	printf("first slot it could have: %s\n",
	       time_of(slot * number(plan, "arrival"), when, sizeof(when)));
	print_plan(plan, slot);
}

static void print_plan(struct json_object *plan, double slot)
{
	struct json_object *runs = get(plan, "plan"), *run;
	char from[32], to[32];

	for (size_t i = 0;
	     json_object_is_type(runs, json_type_array) && i < json_object_array_length(runs);
	     i++) {
		run = json_object_array_get_idx(runs, i);
		printf("%s to %s:", time_of(slot * number(run, "from"), from, sizeof(from)),
		       time_of(slot * (number(run, "to") + 1), to, sizeof(to)));
		print_names(run);
		putchar('\n');
	}
}

static void print_names(struct json_object *run)
{
	static const char *const keys[] = {"ps", "workers"};
	struct json_object *list = get(run, "nodes");
	const char *comma = "";

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		printf("%s %s", comma, json_object_get_string(json_object_array_get_idx(list, i)));
		comma = ",";
	}
	for (unsigned k = 0; k < 2; k++) {
		list = get(run, keys[k]);
		if (!json_object_is_type(list, json_type_object))
			continue;
		json_object_object_foreach(list, name, count)
		{
			printf("%s %s %s x %s", comma, name, json_object_get_string(count),
			       k ? "worker" : "ps");
			comma = ",";
		}
	}
}

static void print_prices(struct json_object *o)
{
	struct json_object *list = get(o, "prices"), *p;
	struct group groups[NGROUPS] = {0}, *g;
	double price;

	if (!list)
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		p = json_object_array_get_idx(list, i);
		price = number(p, "price");
		g = &groups[json_object_get_boolean(get(p, "chosen")) ? CHOSEN
			    : json_object_get_boolean(get(p, "room")) ? ROOM
								      : FULL];
		g->least = g->n ? fmin(g->least, price) : price;
		g->most = g->n ? fmax(g->most, price) : price;
		g->n++;
	}
	puts("prices in its slots, credits per unit and slot, when it was decided:");
	print_group("chosen", &groups[CHOSEN], text(o, "tres"));
	print_group("others with room all that time", &groups[ROOM], text(o, "tres"));
	if (groups[FULL].n)
		printf("  no room for one more worker or node of it: %u node%s\n", groups[FULL].n,
		       auc_plural(groups[FULL].n));
}

static void print_group(const char *what, const struct group *g, const char *tres)
{
	if (!g->n)
		return;
	printf("  %s: %s %.6f", what, tres, g->least);
	if (g->most > g->least)
		printf(" to %.6f", g->most);
	printf(" on %u node%s\n", g->n, auc_plural(g->n));
}

/* One line: what the bid would have got. */
static void print_other(struct json_object *o, struct json_object *replayed, const char *what)
{
	struct json_object *nodes = get(o, "nodes");
	char from[32], to[32], less[AUC_MONEY_LEN];
	auc_money payoff = 0, best = 0;

	printf("%s: ", what);
	if (!json_object_get_boolean(get(o, "accepted"))) {
		const char *message = text(o, "message");

		printf("%.*s\n", (int)strcspn(message, "\n"), message);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(nodes); i++)
		printf("%s%s", i ? "," : "",
		       json_object_get_string(json_object_array_get_idx(nodes, i)));
	printf(" from %s to %s, pays %s, payoff %s",
	       time_of(number(o, "start"), from, sizeof(from)),
	       time_of(number(o, "end"), to, sizeof(to)), text(o, "payment"), text(o, "payoff"));
	(void)auc_money_parse(text(o, "payoff"), &payoff, "", NULL);
	if (replayed && auc_money_parse(text(replayed, "payoff"), &best, "", NULL) == AUC_OK)
		printf(payoff == best ? ": as good, and of equals the first found is taken"
				      : ": %s less",
		       auc_money_str(best - payoff, less));
	putchar('\n');
}

static void print_since(struct json_object *list, double slot)
{
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *e = json_object_array_get_idx(list, i);
		const char *word = text(e, "event");
		char when[32];

		if (!strcmp(word, "running")) {
			printf("since then: running since %s\n",
			       time_of(number(e, "when"), when, sizeof(when)));
		} else if (!strcmp(word, "settled")) {
			printf("since then: settled, %s: kept %s, paid back %s\n", text(e, "why"),
			       text(e, "kept"), text(e, "refund"));
		} else if (!strcmp(word, "changed")) {
			printf("since then: another plan, pays %s, worth %s\n", text(e, "payment"),
			       text(e, "value"));
			print_plan(get(e, "plan"), slot);
		}
	}
}
