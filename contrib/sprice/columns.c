/*
 * columns.c - see columns.h.
 */
#include "config.h"

#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>
#include <libsmartcols.h>

#include "sprice/columns.h"
#include "base/json.h"

#define SLOT_LIMIT 1e15

static bool run_at(const struct row *row, int64_t slot, double *used, double *price);
static void print_at(const struct row *row, FILE *out, int64_t slot, bool price);
static void print_over_runs(const struct row *row, FILE *out,
			    double (*fold)(double sum, double x, double slots), bool price,
			    bool mean);
static double fold_sum(double sum, double x, double slots);
static double fold_max(double sum, double x, double slots);
static double number_of(struct json_object *v);
static void print_time(FILE *out, double when);
static struct json_object *counts_of(const struct row *row, const char *role);
static void print_counts(const struct row *row, FILE *out, const char *role, const char *type);
static void p_server(const struct row *r, FILE *f);
static void p_partition(const struct row *r, FILE *f);
static void p_sells(const struct row *r, FILE *f);
static void p_tres(const struct row *r, FILE *f);
static void p_capacity(const struct row *r, FILE *f);
static void p_used(const struct row *r, FILE *f);
static void p_load(const struct row *r, FILE *f);
static void p_now(const struct row *r, FILE *f);
static void p_next(const struct row *r, FILE *f);
static void p_mean(const struct row *r, FILE *f);
static void p_max(const struct row *r, FILE *f);
static void c_servers(const struct row *r, FILE *f);
static void s_sale(const struct row *r, FILE *f);
static void s_job(const struct row *r, FILE *f);
static void s_user(const struct row *r, FILE *f);
static void s_state(const struct row *r, FILE *f);
static void s_start(const struct row *r, FILE *f);
static void s_end(const struct row *r, FILE *f);
static void s_payment(const struct row *r, FILE *f);
static void s_value(const struct row *r, FILE *f);
static void s_workers(const struct row *r, FILE *f);
static void s_ps(const struct row *r, FILE *f);
static void s_nodes(const struct row *r, FILE *f);
static void m_tres(const struct row *r, FILE *f);
static void m_nodes(const struct row *r, FILE *f);
static void m_units(const struct row *r, FILE *f);
static void m_free(const struct row *r, FILE *f);
static void m_now(const struct row *r, FILE *f);
static void m_next(const struct row *r, FILE *f);
static void m_mean(const struct row *r, FILE *f);
static void m_low(const struct row *r, FILE *f);
static void m_when(const struct row *r, FILE *f);
static void m_high(const struct row *r, FILE *f);
static void o_start(const struct row *r, FILE *f);
static void o_end(const struct row *r, FILE *f);
static void o_free(const struct row *r, FILE *f);
static void o_low(const struct row *r, FILE *f);
static void o_mean(const struct row *r, FILE *f);
static void o_high(const struct row *r, FILE *f);
static void b_shape(const struct row *r, FILE *f);
static void b_nodes(const struct row *r, FILE *f);
static void b_gpus(const struct row *r, FILE *f);
static void b_type(const struct row *r, FILE *f);
static void b_time(const struct row *r, FILE *f);
static void b_price(const struct row *r, FILE *f);
static void b_start(const struct row *r, FILE *f);
static void b_end(const struct row *r, FILE *f);
static void b_low(const struct row *r, FILE *f);
static void b_when(const struct row *r, FILE *f);
static void b_where(const struct row *r, FILE *f);
static void b_why(const struct row *r, FILE *f);
static void t_name(const struct row *r, FILE *f);
static void t_value(const struct row *r, FILE *f);

const struct field columns_of_summary[] = {
	{"partition", "PARTITION", 0, p_partition, "partition of the nodes"},
	{"gpu", "GPU", 0, m_tres, "kind of GPU, or cpu where there are none"},
	{"nodes", "NODES", SCOLS_FL_RIGHT, m_nodes, "how many nodes sell it now"},
	{"units", "UNITS", SCOLS_FL_RIGHT, m_units, "how many of it they have"},
	{"free", "FREE", SCOLS_FL_RIGHT, m_free, "how many are not sold in the present slot"},
	{"now", "NOW", SCOLS_FL_RIGHT, m_now,
	 "mean price in the present slot, credits per unit and slot"},
	{"next", "NEXT", SCOLS_FL_RIGHT, m_next, "mean price in the next slot"},
	{"mean", "MEAN", SCOLS_FL_RIGHT, m_mean, "mean price over all slots for sale"},
	{"low", "LOW", SCOLS_FL_RIGHT, m_low, "lowest mean price of any time,"},
	{"when", "WHEN", 0, m_when, "and when that time begins"},
	{"high", "HIGH", SCOLS_FL_RIGHT, m_high, "highest price on any node"},
	{0},
};

const struct field columns_of_board[] = {
	{"shape", "SHAPE", 0, b_shape, "name of the standard shape"},
	{"nodes", "NODES", SCOLS_FL_RIGHT, b_nodes, "how many nodes it has"},
	{"gpus", "GPUS", SCOLS_FL_RIGHT, b_gpus, "how many GPUs of each node"},
	{"type", "TYPE", 0, b_type, "the type of its GPUs"},
	{"time", "TIME", SCOLS_FL_RIGHT, b_time, "for how long, in hours"},
	{"price", "PRICE", SCOLS_FL_RIGHT, b_price, "what it costs at its first start"},
	{"start", "START", 0, b_start, "when that is"},
	{"end", "END", 0, b_end, "and when it ends then"},
	{"partition", "PARTITION", 0, b_where, "where that is"},
	{"low", "LOW", SCOLS_FL_RIGHT, b_low, "what it costs at the cheapest start"},
	{"when", "WHEN", 0, b_when, "when that is"},
	{"why", "WHY", 0, b_why, "why it cannot be had"},
	{NULL, NULL, 0, NULL, NULL},
};
const struct field columns_of_times[] = {
	{"start", "START", 0, o_start, "when the time begins"},
	{"end", "END", 0, o_end, "when it ends"},
	{"partition", "PARTITION", 0, p_partition, "partition of the nodes"},
	{"gpu", "GPU", 0, m_tres, "kind of GPU, or cpu where there are none"},
	{"free", "FREE", SCOLS_FL_RIGHT, o_free, "how many are not sold, on average"},
	{"low", "LOW", SCOLS_FL_RIGHT, o_low, "lowest price on any node"},
	{"mean", "MEAN", SCOLS_FL_RIGHT, o_mean, "mean price"},
	{"high", "HIGH", SCOLS_FL_RIGHT, o_high, "highest price on any node"},
	{0},
};

const struct field columns_of_prices[] = {
	{"server", "SERVER", 0, p_server, "node"},
	{"partition", "PARTITION", 0, p_partition, "its partition"},
	{"sells", "SELLS", 0, p_sells, "yes, or no while it is down"},
	{"tres", "TRES", 0, p_tres, "trackable resource"},
	{"capacity", "CAPACITY", SCOLS_FL_RIGHT, p_capacity, "how much of it the node has"},
	{"used", "USED", SCOLS_FL_RIGHT, p_used, "how much is sold in the present slot"},
	{"load", "LOAD%", SCOLS_FL_RIGHT, p_load,
	 "share that is sold, mean over all slots for sale"},
	{"now", "NOW", SCOLS_FL_RIGHT, p_now,
	 "price in the present slot, credits per unit and slot"},
	{"next", "NEXT", SCOLS_FL_RIGHT, p_next, "price in the next slot"},
	{"mean", "MEAN", SCOLS_FL_RIGHT, p_mean, "price, mean over all slots for sale"},
	{"max", "MAX", SCOLS_FL_RIGHT, p_max, "highest price in any slot for sale"},
	{0},
};

const struct field columns_of_sales[] = {
	{"job", "JOBID", SCOLS_FL_RIGHT, s_job, "lead job; 0 for a lien"},
	{"state", "STATE", 0, s_state, "lien, sold or running"},
	{"user", "USER", 0, s_user, "who bought it"},
	{"start", "START", 0, s_start, "when its first slot begins"},
	{"end", "END", 0, s_end, "when its last slot ends"},
	{"workers", "WORKERS", 0, s_workers, "how many workers of which type"},
	{"ps", "PS", 0, s_ps, "how many PSs of which type"},
	{"nodes", "NODES", 0, s_nodes, "the plan's nodes, that of the PSs first"},
	{"payment", "PAYMENT", SCOLS_FL_RIGHT, s_payment, "what it pays, credits"},
	{"value", "VALUE", SCOLS_FL_RIGHT, s_value, "what it is worth to the buyer, credits"},
	{"sale", "SALE", 0, s_sale, "id of the sale"},
	{0},
};

const struct field columns_of_classes[] = {
	{"partition", "PARTITION", 0, p_partition, "partition of the nodes"},
	{"tres", "TRES", 0, p_tres, "trackable resource"},
	{"capacity", "CAPACITY", SCOLS_FL_RIGHT, p_capacity, "how much of it each node has"},
	{"nodes", "NODES", SCOLS_FL_RIGHT, c_servers, "how many such nodes there are"},
	{"now", "NOW", SCOLS_FL_RIGHT, p_now,
	 "price in the present slot, credits per unit and slot"},
	{"next", "NEXT", SCOLS_FL_RIGHT, p_next, "price in the next slot"},
	{"mean", "MEAN", SCOLS_FL_RIGHT, p_mean, "price, mean over all slots for sale"},
	{"max", "MAX", SCOLS_FL_RIGHT, p_max, "highest price in any slot for sale"},
	{0},
};

const struct field columns_of_totals[] = {
	{"name", "TOTAL", 0, t_name, "what is counted"},
	{"value", "VALUE", SCOLS_FL_RIGHT, t_value, "how many, or credits"},
	{0},
};

const struct field columns_of_learning[] = {
	{"name", "LEARNING", 0, t_name, "what is said"},
	{"value", "VALUE", SCOLS_FL_WRAP, t_value, "a word, a sentence, a time or a number"},
	{0},
};

struct json_object *status_within(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v); /* of what is no object: nothing */
	return v;
}

const char *status_text(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string)
		       ? json_object_get_string(v)
		       : "";
}

double status_number(struct json_object *o, const char *key)
{
	double value;

	return auc_json_double(o, key, -1e18, 1e18, &value, NULL) == AUC_OK ? value : NAN;
}

double status_item(struct json_object *list, size_t i)
{
	return json_object_is_type(list, json_type_array)
		       ? number_of(json_object_array_get_idx(list, i))
		       : NAN;
}

static double number_of(struct json_object *v)
{
	return json_object_is_type(v, json_type_double) || json_object_is_type(v, json_type_int)
		       ? json_object_get_double(v)
		       : NAN;
}

const char *shape_partition(struct json_object *shape)
{
	const char *name = status_text(status_within(shape, "soonest"), "partition");

	return *name ? name : status_text(shape, "partition");
}

const char *shape_type(struct json_object *shape)
{
	const char *type = status_text(shape, "type");

	if (*type)
		return type;
	return status_number(shape, "gpus") > 0 ? "gpu" : "cpu";
}

bool status_slot(struct json_object *status, int64_t *slot)
{
	double time = status_number(status, "time");
	double seconds = status_number(status, "slot_seconds");

	if (!(seconds > 0) || !(time >= 0) || !(time / seconds < SLOT_LIMIT))
		return false;
	*slot = (int64_t)floor(time / seconds);
	return true;
}

/* What the run of SLOT says. */
static bool run_at(const struct row *row, int64_t slot, double *used, double *price)
{
	struct json_object *runs, *run;

	if (!json_object_object_get_ex(row->tres, "runs", &runs) ||
	    !json_object_is_type(runs, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!json_object_is_type(run, json_type_array) ||
		    json_object_array_length(run) != 4 ||
		    !(status_item(run, 0) <= (double)slot && status_item(run, 1) >= (double)slot))
			continue;
		*used = status_item(run, 2);
		*price = status_item(run, 3);
		return true;
	}
	return false;
}

static void print_at(const struct row *row, FILE *out, int64_t slot, bool price)
{
	double used, unit;

	if (!run_at(row, slot, &used, &unit))
		fputs("-", out);
	else if (price)
		print_fixed(out, 6, unit);
	else
		print_digits(out, 10, used);
}

/* FOLD over all slots of use or price; MEAN: divided by the slots. Use is shown in percent of the
 * capacity. */
static void print_over_runs(const struct row *row, FILE *out,
			    double (*fold)(double sum, double x, double slots), bool price,
			    bool mean)
{
	struct json_object *runs, *run;
	double sum = 0, slots = 0, n;

	if (!json_object_object_get_ex(row->tres, "runs", &runs) ||
	    !json_object_is_type(runs, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!json_object_is_type(run, json_type_array) ||
		    json_object_array_length(run) != 4)
			continue;
		n = status_item(run, 1) - status_item(run, 0) + 1;
		sum = fold(sum, status_item(run, price ? 3 : 2), n);
		slots += n;
	}
	if (mean && slots != 0)
		sum /= slots;
	if (price)
		print_fixed(out, 6, sum);
	else
		print_fixed(out, 1, 100 * sum / status_number(row->tres, "capacity"));
}

static double fold_sum(double sum, double x, double slots)
{
	return sum + x * slots;
}

static double fold_max(double sum, double x, double slots)
{
	(void)slots;
	return isnan(x) || x > sum ? x : sum;
}

/* Nothing, if V is not known. */
void print_fixed(FILE *out, int decimals, double v)
{
	if (isfinite(v))
		fprintf(out, "%.*f", decimals, v);
}

void print_digits(FILE *out, int digits, double v)
{
	if (isfinite(v))
		fprintf(out, "%.*g", digits, v);
}

/* Like squeue. */
static void print_time(FILE *out, double when)
{
	time_t t = when >= 0 && when < 1e12 ? (time_t)when : -1;
	char text[32];
	struct tm tm;

	if (t >= 0 && localtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		fputs(text, out);
}

/* The counts by node of a role in the first run; NULL: none. */
static struct json_object *counts_of(const struct row *row, const char *role)
{
	struct json_object *plan, *counts;

	if (json_object_object_get_ex(row->sale, "plan", &plan) &&
	    json_object_is_type(plan, json_type_array) &&
	    json_object_object_get_ex(json_object_array_get_idx(plan, 0), role, &counts) &&
	    json_object_is_type(counts, json_type_object))
		return counts;
	return NULL;
}

/* The names of a gang's nodes; NULL: it is none. */
static struct json_object *gang_of(const struct row *row)
{
	struct json_object *plan, *nodes;

	if (json_object_object_get_ex(row->sale, "plan", &plan) &&
	    json_object_is_type(plan, json_type_array) &&
	    json_object_object_get_ex(json_object_array_get_idx(plan, 0), "nodes", &nodes) &&
	    json_object_is_type(nodes, json_type_array))
		return nodes;
	return NULL;
}

/* "3 x v100" */
static void print_counts(const struct row *row, FILE *out, const char *role, const char *type)
{
	struct json_object *counts = counts_of(row, role);
	double sum = 0;

	if (!counts)
		return;
	json_object_object_foreach(counts, server, count)
	{
		(void)server;
		sum += number_of(count);
	}
	if (isfinite(sum))
		fprintf(out, "%.0f x %s", sum, status_text(row->sale, type));
}

static void p_server(const struct row *r, FILE *f)
{
	fputs(r->server, f);
}

static void p_partition(const struct row *r, FILE *f)
{
	fputs(r->partition, f);
}

static void p_sells(const struct row *r, FILE *f)
{
	fputs(r->for_sale ? "yes" : "no", f);
}

static void p_tres(const struct row *r, FILE *f)
{
	fputs(status_text(r->tres, "name"), f);
}

static void p_capacity(const struct row *r, FILE *f)
{
	print_digits(f, 10, status_number(r->tres, "capacity"));
}

static void p_used(const struct row *r, FILE *f)
{
	print_at(r, f, r->slot, false);
}

static void p_load(const struct row *r, FILE *f)
{
	print_over_runs(r, f, fold_sum, false, true);
}

static void p_now(const struct row *r, FILE *f)
{
	print_at(r, f, r->slot, true);
}

static void p_next(const struct row *r, FILE *f)
{
	print_at(r, f, r->slot + 1, true);
}

static void p_mean(const struct row *r, FILE *f)
{
	print_over_runs(r, f, fold_sum, true, true);
}

static void p_max(const struct row *r, FILE *f)
{
	print_over_runs(r, f, fold_max, true, false);
}

/* -- a summary: times are [from, to, free, low, mean, high] -- */

static struct json_object *time_at(const struct row *r, size_t i)
{
	struct json_object *list = status_within(r->tres, "times");

	return json_object_is_type(list, json_type_array) ? json_object_array_get_idx(list, i)
							  : NULL;
}

static double part(struct json_object *time, size_t i)
{
	return json_object_is_type(time, json_type_array) ? status_item(time, i) : NAN;
}

static void m_tres(const struct row *r, FILE *f)
{
	const char *name = status_text(r->tres, "tres");

	fputs(strncmp(name, "gpu:", 4) ? name : name + 4, f);
}

static void m_nodes(const struct row *r, FILE *f)
{
	print_fixed(f, 0, status_number(r->tres, "nodes"));
}

static void m_units(const struct row *r, FILE *f)
{
	print_digits(f, 10, status_number(r->tres, "units"));
}

static void m_free(const struct row *r, FILE *f)
{
	print_digits(f, 6, part(time_at(r, 0), 2));
}

static void m_now(const struct row *r, FILE *f)
{
	print_fixed(f, 6, part(time_at(r, 0), 4));
}

static void m_next(const struct row *r, FILE *f)
{
	print_fixed(f, 6, part(time_at(r, 1), 4));
}

static void m_mean(const struct row *r, FILE *f)
{
	double sum = 0, slots = 0, n;
	struct json_object *t;

	for (size_t i = 0; (t = time_at(r, i)); i++) {
		n = part(t, 1) - part(t, 0) + 1;
		sum += n * part(t, 4);
		slots += n;
	}
	print_fixed(f, 6, sum / slots);
}

/* The time with the lowest mean price; the first of equals. NULL: none. */
static struct json_object *lowest(const struct row *r)
{
	struct json_object *best = NULL, *t;

	for (size_t i = 0; (t = time_at(r, i)); i++)
		if (!best || part(t, 4) < part(best, 4))
			best = t;
	return best;
}

static void m_low(const struct row *r, FILE *f)
{
	print_fixed(f, 6, part(lowest(r), 4));
}

static void m_when(const struct row *r, FILE *f)
{
	print_time(f, part(lowest(r), 0) * r->slot_seconds);
}

static void m_high(const struct row *r, FILE *f)
{
	double high = NAN;
	struct json_object *t;

	for (size_t i = 0; (t = time_at(r, i)); i++)
		high = fmax(high, part(t, 5));
	print_fixed(f, 6, high);
}

static void o_start(const struct row *r, FILE *f)
{
	print_time(f, part(r->value, 0) * r->slot_seconds);
}

static void o_end(const struct row *r, FILE *f)
{
	print_time(f, (part(r->value, 1) + 1) * r->slot_seconds);
}

static void o_free(const struct row *r, FILE *f)
{
	print_digits(f, 6, part(r->value, 2));
}

static void o_low(const struct row *r, FILE *f)
{
	print_fixed(f, 6, part(r->value, 3));
}

static void o_mean(const struct row *r, FILE *f)
{
	print_fixed(f, 6, part(r->value, 4));
}

static void o_high(const struct row *r, FILE *f)
{
	print_fixed(f, 6, part(r->value, 5));
}

static void c_servers(const struct row *r, FILE *f)
{
	print_fixed(f, 0, status_number(r->tres, "servers"));
}

static void s_sale(const struct row *r, FILE *f)
{
	fputs(status_text(r->sale, "sale"), f);
}

static void s_job(const struct row *r, FILE *f)
{
	print_fixed(f, 0, status_number(r->sale, "job"));
}

static void s_user(const struct row *r, FILE *f)
{
	double uid = status_number(r->sale, "uid");
	struct passwd *pw = uid >= 0 && uid <= UINT32_MAX ? getpwuid((uid_t)uid) : NULL;

	if (pw)
		fputs(pw->pw_name, f);
	else
		print_fixed(f, 0, uid);
}

static void s_state(const struct row *r, FILE *f)
{
	fputs(status_text(r->sale, "state"), f);
}

static void s_start(const struct row *r, FILE *f)
{
	print_time(f, status_number(r->sale, "start") * r->slot_seconds);
}

static void s_end(const struct row *r, FILE *f)
{
	print_time(f, status_number(r->sale, "completion") * r->slot_seconds);
}

static void s_payment(const struct row *r, FILE *f)
{
	fputs(status_text(r->sale, "payment"), f);
}

static void s_value(const struct row *r, FILE *f)
{
	fputs(status_text(r->sale, "value"), f);
}

static void s_workers(const struct row *r, FILE *f)
{
	struct json_object *nodes = gang_of(r);

	if (nodes)
		fprintf(f, "%zu x node", json_object_array_length(nodes));
	print_counts(r, f, "workers", "worker_type");
}

static void s_ps(const struct row *r, FILE *f)
{
	print_counts(r, f, "ps", "ps_type");
}

static void s_nodes(const struct row *r, FILE *f)
{
	static const char *const roles[] = {"ps", "workers"};
	struct json_object *ps = counts_of(r, roles[0]), *counts, *nodes = gang_of(r);
	const char *comma = "";

	for (size_t i = 0; nodes && i < json_object_array_length(nodes); i++) {
		fprintf(f, "%s%s", comma,
			json_object_get_string(json_object_array_get_idx(nodes, i)));
		comma = ",";
	}
	for (unsigned i = 0; i < 2; i++) {
		if (!(counts = counts_of(r, roles[i])))
			continue;
		json_object_object_foreach(counts, server, count)
		{
			(void)count;
			if (i && ps && json_object_object_get_ex(ps, server, NULL))
				continue;
			fprintf(f, "%s%s", comma, server);
			comma = ",";
		}
	}
}

static void t_name(const struct row *r, FILE *f)
{
	fputs(r->key, f);
}

static void t_value(const struct row *r, FILE *f)
{
	if (r->is_time)
		print_time(f, number_of(r->value));
	else if (json_object_is_type(r->value, json_type_double))
		print_digits(f, 6, json_object_get_double(r->value));
	else
		fputs(json_object_get_string(r->value), f);
}

/* -- the board -- */

static void print_price(FILE *f, const struct row *r, const char *which)
{
	const char *price = status_text(status_within(r->shape, which), "price");

	fputs(*price ? price : "-", f);
}

static void print_when(FILE *f, const struct row *r, const char *which, const char *key)
{
	struct json_object *o = status_within(r->shape, which);

	if (o)
		print_time(f, status_number(o, key));
	else
		fputc('-', f);
}

static void b_shape(const struct row *r, FILE *f)
{
	fputs(status_text(r->shape, "shape"), f);
}

static void b_nodes(const struct row *r, FILE *f)
{
	print_digits(f, 6, status_number(r->shape, "nodes"));
}

static void b_gpus(const struct row *r, FILE *f)
{
	print_digits(f, 6, status_number(r->shape, "gpus"));
}

static void b_type(const struct row *r, FILE *f)
{
	const char *type = status_text(r->shape, "type");

	fputs(*type ? type : "-", f);
}

static void b_time(const struct row *r, FILE *f)
{
	print_digits(f, 4, status_number(r->shape, "seconds") / 3600);
}

static void b_price(const struct row *r, FILE *f)
{
	print_price(f, r, "soonest");
}

static void b_start(const struct row *r, FILE *f)
{
	print_when(f, r, "soonest", "start");
}

static void b_end(const struct row *r, FILE *f)
{
	print_when(f, r, "soonest", "end");
}

static void b_low(const struct row *r, FILE *f)
{
	print_price(f, r, "cheapest");
}

static void b_when(const struct row *r, FILE *f)
{
	print_when(f, r, "cheapest", "start");
}

static void b_where(const struct row *r, FILE *f)
{
	fputs(*r->partition ? r->partition : "-", f);
}

static void b_why(const struct row *r, FILE *f)
{
	const char *why = status_text(r->shape, "why");

	fputs(*why ? why : "-", f);
}
