/* show.c - what sauction shows of the status (doc/status.md): state, accounts, sales. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/num.h"
#include "sauction/sauction.h"

static struct json_object *load(const struct sauction *s, int argc);
static const char *text_of(struct json_object *o, const char *key);
static void time_of(double when, char *text, size_t size);
static const char *user_of(int64_t uid, char *text, size_t size);

int command_state(const struct sauction *s, int argc, char **argv)
{
	static const char *const totals[] = {"bids",     "refused", "lapsed",         "sold",
					     "settled",  "live",    "liens",          "charged",
					     "refunded", "revenue", "settled_revenue"};
	struct rows r = {.ncolumns = 2, .columns = {"what", "value"}};
	struct json_object *o = load(s, argc), *t = NULL;
	char when[32];
	bool good = o;

	(void)argv;
	if (!o)
		return EXIT_FAILURE;
	time_of(json_object_get_double(json_object_object_get(o, "time")), when, sizeof(when));
	good = rows_add(&r, "written", when) &&
	       rows_add(&r, "ready",
			json_object_get_boolean(json_object_object_get(o, "ready")) ? "yes"
										    : "no") &&
	       rows_add(&r, "reason", text_of(o, "reason")) &&
	       rows_add(&r, "warning", text_of(o, "warning")) &&
	       rows_add(&r, "policy", text_of(o, "policy")) &&
	       rows_add(&r, "prices", text_of(o, "prices"));
	json_object_object_get_ex(o, "totals", &t);
	for (size_t i = 0; t && good && i < sizeof(totals) / sizeof(*totals); i++)
		good = rows_add(&r, totals[i], text_of(t, totals[i]));
	json_object_put(o);
	return good ? rows_print(&r, &s->table) : EXIT_FAILURE;
}

int command_money(const struct sauction *s, int argc, char **argv)
{
	struct rows r = {.ncolumns = 6,
			 .columns = {"account", "name", "in", "out", "held", "left"}};
	struct json_object *o = load(s, argc), *list = NULL;
	size_t n = 0;
	bool good = true;

	(void)argv;
	if (!o)
		return EXIT_FAILURE;
	if (json_object_object_get_ex(o, "money", &list) &&
	    json_object_is_type(list, json_type_array))
		n = json_object_array_length(list);
	for (size_t i = 0; good && i < n; i++) {
		struct json_object *a = json_object_array_get_idx(list, i);
		auc_money in = 0, out = 0, held = 0;
		char left[AUC_MONEY_LEN], user[64] = "";
		const char *name = text_of(a, "account");

		(void)auc_money_parse(text_of(a, "credits"), &in, "", NULL);
		(void)auc_money_parse(text_of(a, "debits"), &out, "", NULL);
		(void)auc_money_parse(text_of(a, "pending"), &held, "", NULL);
		auc_money_str(in - out - held, left);
		if (!strncmp(name, "user:", 5))
			user_of(strtoll(name + 5, NULL, 10), user, sizeof(user));
		good = rows_add(&r, name, user, text_of(a, "credits"), text_of(a, "debits"),
				text_of(a, "pending"),
				json_object_get_boolean(json_object_object_get(a, "limited")) ||
						i < 3
					? left
					: "-");
	}
	json_object_put(o);
	return good ? rows_print(&r, &s->table) : EXIT_FAILURE;
}

int command_sales(const struct sauction *s, int argc, char **argv)
{
	struct rows r = {.ncolumns = 7,
			 .columns = {"sale", "job", "user", "state", "start", "end", "payment"},
			 .nothing = "nothing is sold or offered now"};
	struct json_object *o = load(s, argc), *list = NULL;
	size_t n = 0;
	double slot;
	bool good = true;

	(void)argv;
	if (!o)
		return EXIT_FAILURE;
	slot = json_object_get_double(json_object_object_get(o, "slot_seconds"));
	if (json_object_object_get_ex(o, "sales", &list) &&
	    json_object_is_type(list, json_type_array))
		n = json_object_array_length(list);
	for (size_t i = 0; good && i < n; i++) {
		struct json_object *a = json_object_array_get_idx(list, i);
		char start[32], end[32], user[64];

		time_of(slot * (double)json_object_get_int64(json_object_object_get(a, "start")),
			start, sizeof(start));
		time_of(slot * (double)json_object_get_int64(
				       json_object_object_get(a, "completion")),
			end, sizeof(end));
		user_of(json_object_get_int64(json_object_object_get(a, "uid")), user,
			sizeof(user));
		good = rows_add(&r, text_of(a, "sale"), text_of(a, "job"), user,
				text_of(a, "state"), start, end, text_of(a, "payment"));
	}
	json_object_put(o);
	return good ? rows_print(&r, &s->table) : EXIT_FAILURE;
}

int report_refusals(const struct sauction *s)
{
	struct rows r = {.ncolumns = 3, .columns = {"reason", "refused", "since"}};
	struct json_object *o = load(s, 0), *activity = NULL, *refused = NULL;
	char since[32];
	bool good = o;

	if (!o)
		return EXIT_FAILURE;
	json_object_object_get_ex(o, "activity", &activity);
	time_of(json_object_get_double(json_object_object_get(activity, "since")), since,
		sizeof(since));
	if (json_object_object_get_ex(activity, "refused", &refused) &&
	    json_object_is_type(refused, json_type_object)) {
		json_object_object_foreach(refused, reason, count)
		{
			good = good && rows_add(&r, reason, json_object_get_string(count), since);
		}
	}
	json_object_put(o);
	return good ? rows_print(&r, &s->table) : EXIT_FAILURE;
}

/* NULL, and said why. */
static struct json_object *load(const struct sauction *s, int argc)
{
	char path[PATH_MAX];
	struct json_object *o;

	if (argc) {
		fail("no argument was expected");
		return NULL;
	}
	snprintf(path, sizeof(path), "%.4000s/status.json", s->dir);
	if (access(path, R_OK)) {
		fail("%s: %s%s", path, strerror(errno), kept_hint(errno));
		return NULL;
	}
	o = json_object_from_file(path);
	if (json_object_is_type(o, json_type_object) &&
	    !strcmp(text_of(o, "format"), "auction-status/1"))
		return o;
	json_object_put(o);
	fail("%s: is no status; slurmctld writes it anew within seconds", path);
	return NULL;
}

/* A text, or a number as text; "" if there is none. */
static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
}

static void time_of(double when, char *text, size_t size)
{
	time_t t = (time_t)when;
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&t, &tm))
		strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm);
}

static const char *user_of(int64_t uid, char *text, size_t size)
{
	const struct passwd *pw = getpwuid((uid_t)uid);

	if (pw)
		snprintf(text, size, "%s", pw->pw_name);
	else
		snprintf(text, size, "%lld", (long long)uid);
	return text;
}
