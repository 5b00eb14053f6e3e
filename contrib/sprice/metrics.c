/*
 * metrics.c - see metrics.h.
 *
 * Amounts are what they are in the status: credits, bids, seconds. Prices are those of the present
 * slot. A family of metrics is printed whole before the next one begins, as OpenMetrics demands;
 * and nothing is said that the older text format of Prometheus does not know, either.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "sprice/columns.h"
#include "sprice/metrics.h"
#include "pricing/tariff.h"

struct label {
	const char *name, *value;
};

/* A gauge with one sample, the amount at KEY. */
struct gauge {
	const char *name, *key, *help;
};

static const struct gauge status_gauges[] = {
	{"auction_ready", "ready", "1 while bids are taken."},
	{"auction_status_timestamp_seconds", "time", "Unix time of what is shown here."},
	{"auction_slot_seconds", "slot_seconds", "Length of a slot."},
	{0},
};
static const struct gauge totals_gauges[] = {
	{"auction_live_sales", "live", "Sales that are not settled."},
	{"auction_liens", "liens", "Plans that are held for a submission."},
	{0},
};
static const struct gauge fit_gauges[] = {
	{"auction_prices_factor", "factor", "By which the dual prices are multiplied."},
	{"auction_prices_moved", "moved", "1: fitted again whatever was chosen."},
	{"auction_bids_changed_timestamp_seconds", "other_since",
	 "Unix time since which other bids come than before, if so."},
	{"auction_fit_timestamp_seconds", "time", "Unix time of the last fit."},
	{"auction_fit_seconds", "seconds", "What it took of a processor."},
	{"auction_fit_bids", "bids", "Bids that it was made of."},
	{"auction_forecast_bids", "expected", "Bids that are expected in a period."},
	{"auction_forecast_bound_credits", "bound", "What those of two periods are worth at most."},
	{0},
};
static const struct gauge day_gauges[] = {
	{"auction_guard_timestamp_seconds", "guard_time",
	 "Unix time at which prices were last compared."},
	{"auction_guard_bids", "day_bids", "Bids of the past that were replayed."},
	{"auction_guard_bound_credits", "day_bound", "What those are worth at most."},
	{"auction_guard_gap_ratio", "gap", "The part of it that the prices chosen are short of."},
	{0},
};
static const struct gauge guard_gauges[] = {
	{"auction_guard_gain_credits", "gain", "A period, of prices that learn over others."},
	{"auction_guard_gain_error_credits", "error", "Its standard error."},
	{"auction_guard_gain_needed_credits", "needed", "What it must exceed."},
	{0},
};
static const struct gauge kept_gauges[] = {
	{"auction_kept_bids", "kept", "Bids that are kept to learn from."},
	{0},
};
/* The same, counters. */
static const struct gauge decisions_counters[] = {
	{"auction_decisions", "made", "Decisions on bids and quotes."},
	{"auction_decisions_cut", "cut", "Those for which not every schedule was looked at."},
	{"auction_bids_limited", "limited", "Bids and quotes refused as their user made too many."},
	{0},
};
static const struct gauge totals_counters[] = {
	{"auction_settled", "settled", "Sales that are settled."},
	{"auction_charged_credits", "charged", "What was charged."},
	{"auction_refunded_credits", "refunded", "What was paid back."},
	{0},
};

/* Counters and times of the status's "activity". */
static const struct gauge activity_gauges[] = {
	{"auction_start_timestamp_seconds", "since",
	 "Unix time since which bids are counted here."},
	{0},
};
static const struct gauge activity_counters[] = {
	{"auction_value_asked_credits", "value_asked",
	 "What the bids decided would be worth if their jobs ended at once."},
	{"auction_value_sold_credits", "value_sold", "Value of the plans that were accepted."},
	{0},
};
static const struct gauge activity_times[] = {
	{"auction_decision_seconds", "decision", "What the decision on a bid or quote takes."},
	{"auction_lock_wait_seconds", "lock_wait", "What bids and quotes wait for the lock."},
	{"auction_lock_held_seconds", "lock_held", "What they hold it for."},
	{0},
};

static void family(const char *name, const char *type, const char *help);
static void sample(const char *name, const char *suffix, const struct label *labels, unsigned n,
		   double value);
static void print_gauges(const struct gauge *list, struct json_object *o);
static void print_counters(const struct gauge *list, struct json_object *o);
static void print_totals(struct json_object *totals);
static void print_activity(struct json_object *activity);
static void print_reasons(struct json_object *counts, const char *name, const char *label,
			  const char *help);
static void print_times(struct json_object *times, const char *name, const char *help);
static void print_room(struct json_object *room);
static void print_money(struct json_object *money);
static bool spends(const char *account);
static void print_servers(struct json_object *servers, int64_t slot);
static void print_classes(struct json_object *classes, int64_t slot);
static void print_learning(struct json_object *learning);
static bool run_of(struct json_object *tres, int64_t slot, struct json_object **run);
static double amount(struct json_object *o, const char *key);
static struct json_object *item(struct json_object *list, size_t i);
static size_t length(struct json_object *list);

void metrics_print(struct json_object *status)
{
	struct label policy = {"policy", status_text(status, "policy")};
	struct label prices = {"prices", status_text(status, "prices")};
	struct json_object *learning = status_within(status, "learning");
	int64_t slot;

	if (*policy.value) {
		family("auction_info", "gauge", "Policy and Prices of auction.conf.");
		sample("auction_info", "", (struct label[]){policy, prices}, 2, 1);
	}
	print_gauges(status_gauges, status);
	print_counters(decisions_counters, status_within(status, "decisions"));
	print_totals(status_within(status, "totals"));
	print_activity(status_within(status, "activity"));
	print_room(status_within(status, "room"));
	print_money(status_within(status, "money"));
	if (status_slot(status, &slot)) {
		print_servers(status_within(status, "servers"), slot);
		print_classes(status_within(learning, "classes"), slot);
	}
	print_learning(learning);
	puts("# EOF");
}

/* -- what is printed -- */

static void print_totals(struct json_object *totals)
{
	static const char *const ends[] = {"refused", "lapsed", "sold"};

	if (!totals)
		return;
	family("auction_bids", "counter", "Bids, by what became of them.");
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sample("auction_bids", "_total", &(struct label){"end", ends[i]}, 1,
		       amount(totals, ends[i]));
	print_counters(totals_counters, totals);
	print_gauges(totals_gauges, totals);
}

static void print_counters(const struct gauge *list, struct json_object *o)
{
	for (; o && list->name; list++) {
		family(list->name, "counter", list->help);
		sample(list->name, "_total", NULL, 0, amount(o, list->key));
	}
}

/* Not in the public status. */
static void print_activity(struct json_object *activity)
{
	if (!activity)
		return;
	print_gauges(activity_gauges, activity);
	print_reasons(status_within(activity, "refused"), "auction_refusals", "reason",
		      "Bids that were refused, by the reason.");
	print_reasons(status_within(activity, "failed"), "auction_undecided", "error",
		      "Bids that there was no decision on, by the error.");
	for (const struct gauge *c = activity_counters; c->name; c++) {
		if (!isfinite(amount(activity, c->key)))
			continue;
		family(c->name, "counter", c->help);
		sample(c->name, "_total", NULL, 0, amount(activity, c->key));
	}
	for (const struct gauge *t = activity_times; t->name; t++)
		print_times(status_within(activity, t->key), t->name, t->help);
}

static void print_reasons(struct json_object *counts, const char *name, const char *label,
			  const char *help)
{
	if (!json_object_is_type(counts, json_type_object))
		return;
	family(name, "counter", help);
	json_object_object_foreach(counts, word, number)
	{
		(void)number;
		sample(name, "_total", &(struct label){label, word}, 1, amount(counts, word));
	}
}

/* A histogram: the counts of all times up to a bound. */
static void print_times(struct json_object *times, const char *name, const char *help)
{
	struct json_object *bounds = status_within(times, "bounds"),
			   *counts = status_within(times, "counts");
	double n = 0;
	char le[32];

	if (length(counts) != length(bounds) + 1)
		return;
	family(name, "histogram", help);
	for (size_t i = 0; i < length(counts); i++) {
		n += status_item(counts, i);
		snprintf(le, sizeof(le), i < length(bounds) ? "%.15g" : "+Inf",
			 i < length(bounds) ? status_item(bounds, i) : 0);
		sample(name, "_bucket", &(struct label){"le", le}, 1, n);
	}
	sample(name, "_sum", NULL, 0, amount(times, "sum"));
	sample(name, "_count", NULL, 0, n);
}

static void print_room(struct json_object *room)
{
	static const struct gauge families[] = {
		{"auction_room", "fit",
		 "How many more of a type fit on the nodes in the present slot."},
		{"auction_room_pooled", "pooled",
		 "How many more would fit if all that is free were on one node."},
		{0},
	};

	for (const struct gauge *f = families; length(room) && f->name; f++) {
		family(f->name, "gauge", f->help);
		for (size_t i = 0; i < length(room); i++) {
			struct json_object *type = item(room, i);
			const struct label labels[] = {
				{"type", status_text(type, "type")},
				{"role", status_text(type, "role")},
			};

			sample(f->name, "", labels, 2, amount(type, f->key));
		}
	}
}

/* Of the accounts that pay for bids. Not in the public status. */
static void print_money(struct json_object *money)
{
	static const struct {
		const char *name, *type, *suffix, *key, *help;
		bool limited; /* of accounts that have money of their own only */
	} families[] = {
		{"auction_account_received_credits", "counter", "_total", "credits",
		 "What an account was given and paid back.", false},
		{"auction_account_spent_credits", "counter", "_total", "debits",
		 "What it has paid, before refunds, and what expired of it.", false},
		{"auction_account_held_credits", "gauge", "", "pending",
		 "What is held of it for submissions.", false},
		{"auction_account_left_credits", "gauge", "", NULL,
		 "What is left of it to bid with.", true},
		{0},
	};

	for (unsigned f = 0; length(money) && families[f].name; f++) {
		family(families[f].name, families[f].type, families[f].help);
		for (size_t i = 0; i < length(money); i++) {
			struct json_object *o = item(money, i);
			const char *account = status_text(o, "account");
			double value = families[f].key
					       ? amount(o, families[f].key)
					       : amount(o, "credits") - amount(o, "debits") -
							 amount(o, "pending");

			if (spends(account) && (!families[f].limited || amount(o, "limited") > 0))
				sample(families[f].name, families[f].suffix,
				       &(struct label){"account", account}, 1, value);
		}
	}
}

/* Whether ACCOUNT is a user's or one of Slurm's, not the other side of the books. */
static bool spends(const char *account)
{
	return !strncmp(account, "user:", 5) || !strncmp(account, "account:", 8);
}

static void print_servers(struct json_object *servers, int64_t slot)
{
	static const struct {
		const char *name, *help;
		int column; /* of a run; -1: the capacity */
	} families[] = {
		{"auction_node_capacity", "How much of a TRES a node has.", -1},
		{"auction_node_sold", "How much of it is sold in the present slot.", 2},
		{"auction_node_price_credits", "Its price in the present slot, a unit and slot.",
		 3},
	};
	struct json_object *server, *list, *tres, *run;

	for (unsigned f = 0; length(servers) && f < sizeof(families) / sizeof(*families); f++) {
		family(families[f].name, "gauge", families[f].help);
		for (size_t i = 0; i < length(servers); i++) {
			server = item(servers, i);
			list = status_within(server, "tres");
			for (size_t k = 0; k < length(list); k++) {
				tres = item(list, k);
				const struct label labels[] = {
					{"node", status_text(server, "name")},
					{"partition", status_text(server, "partition")},
					{"tres", status_text(tres, "name")},
				};

				if (families[f].column < 0)
					sample(families[f].name, "", labels, 3,
					       status_number(tres, "capacity"));
				else if (run_of(tres, slot, &run))
					sample(families[f].name, "", labels, 3,
					       status_item(run, (size_t)families[f].column));
			}
		}
	}
}

/* Fitted prices; what is free in the present slot may have no run. */
static void print_classes(struct json_object *classes, int64_t slot)
{
	struct json_object *class, *run;
	char capacity[32];
	double much;

	if (!length(classes))
		return;
	family("auction_class_price_credits", "gauge",
	       "Fitted price of a TRES in the present slot, a unit and slot, on nodes of a "
	       "partition that have so much of it.");
	for (size_t i = 0; i < length(classes); i++) {
		class = item(classes, i);
		much = status_number(class, "capacity");
		if (!isfinite(much))
			continue; /* it is part of the name */
		snprintf(capacity, sizeof(capacity), "%.15g", much);
		const struct label labels[] = {
			{"partition", status_text(class, "partition")},
			{"tres", status_text(class, "tres")},
			{"capacity", capacity},
		};

		sample("auction_class_price_credits", "", labels, 3,
		       run_of(class, slot, &run) ? status_item(run, 2) : 0);
	}
}

static void print_learning(struct json_object *learning)
{
	struct json_object *guard = status_within(learning, "guard"),
			   *worth = status_within(learning, "worth");
	struct label choice[] = {
		{"kind", learning ? status_text(learning, "kind") : ""},
		{"form", learning ? status_text(learning, "form") : ""},
	};

	if (!learning)
		return;
	print_gauges(kept_gauges, learning);
	if (!*choice[0].value)
		return; /* nothing was fitted yet */
	family("auction_prices_info", "gauge", "Which prices hold.");
	sample("auction_prices_info", "", choice, 2, 1);
	print_gauges(fit_gauges, learning);
	if (!(status_number(learning, "day_bids") > 0))
		return; /* the guard has not looked yet */
	print_gauges(day_gauges, learning);
	family("auction_guard_worth_credits", "gauge",
	       "What the bids replayed are worth with the best prices of a kind.");
	for (unsigned i = 0; i < AUC_TARIFF_KINDS; i++) {
		const char *kind = auc_tariff_word(i);

		sample("auction_guard_worth_credits", "", &(struct label){"kind", kind}, 1,
		       amount(worth, kind));
	}
	print_gauges(guard_gauges, guard);
}

/* -- OpenMetrics -- */

static void family(const char *name, const char *type, const char *help)
{
	printf("# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

/* Nothing, if VALUE is not known. */
static void sample(const char *name, const char *suffix, const struct label *labels, unsigned n,
		   double value)
{
	if (!isfinite(value))
		return;
	printf("%s%s", name, suffix);
	for (unsigned i = 0; i < n; i++) {
		printf("%s%s=\"", i ? "," : "{", labels[i].name);
		for (const char *c = labels[i].value; *c; c++) {
			if (*c == '\\' || *c == '"')
				putchar('\\');
			fputs(*c == '\n' ? "\\n" : (char[]){*c, '\0'}, stdout);
		}
		putchar('"');
	}
	printf("%s %.15g\n", n ? "}" : "", value);
}

static void print_gauges(const struct gauge *list, struct json_object *o)
{
	double value;

	for (; list->name; list++) {
		value = amount(o, list->key);
		if (!isfinite(value))
			continue;
		family(list->name, "gauge", list->help);
		sample(list->name, "", NULL, 0, value);
	}
}

/* -- the status -- */

/* The run of TRES, [from, to, ...], in which SLOT is. */
static bool run_of(struct json_object *tres, int64_t slot, struct json_object **run)
{
	struct json_object *runs = status_within(tres, "runs");

	for (size_t i = 0; i < length(runs); i++) {
		*run = item(runs, i);
		if (length(*run) >= 3 && status_item(*run, 0) <= (double)slot &&
		    status_item(*run, 1) >= (double)slot)
			return true;
	}
	return false;
}

/* A number, credits as text, or 1 for true; NAN: none of these. */
static double amount(struct json_object *o, const char *key)
{
	struct json_object *v = status_within(o, key);

	if (json_object_is_type(v, json_type_boolean))
		return json_object_get_boolean(v);
	if (json_object_is_type(v, json_type_string))
		return strtod(json_object_get_string(v), NULL);
	return v ? status_number(o, key) : NAN;
}

static struct json_object *item(struct json_object *list, size_t i)
{
	return json_object_array_get_idx(list, i);
}

/* 0: it is no list. */
static size_t length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}
