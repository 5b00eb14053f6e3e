/* status.c - see status.h. */
#include "config.h"

#include <json-c/json.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auction/summary.h"
#include "base/file.h"
#include "sched/output/receipts.h"
#include "adapter/site.h"
#include "adapter/slurm_compat.h"
#include "sched/output/board.h"
#include "sched/output/status.h"
#include "sched/output/told.h"

#define EVERY 1.0 /* seconds between two files, at least */

/* Of the agent's thread, and of the one that leaves it behind. */
static struct {
	pthread_mutex_t lock;
	double written;
	int64_t slot;
	struct auc_totals totals;
	char shut[sizeof(((struct auc_err *)0)->text)]; /* why no bids were taken; "": they were */
	char path[PATH_MAX], public[PATH_MAX];          /* "": not written */
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int write_files(const struct auc_status_files *files, struct auc_auction *a, double now,
		       bool changed, const struct auc_agent_stats *stats, struct auc_err *err);
static void shut(struct json_object *o, const struct auc_err *why);
static struct json_object *nothing(double now);
static enum auc_code replace_both(struct json_object *o, bool wrong, struct auc_err *err);
static void hide(struct json_object *servers);
static void publish(const struct auc_status_files *files, struct auc_auction *a,
		    struct json_object *o, double now, struct auc_err *err);
static enum auc_code replace(const char *path, mode_t mode, struct json_object *o, bool wrong,
			     struct auc_err *err);
static enum auc_code put(const char *path, mode_t mode, struct json_object *o, struct auc_err *err);
static struct json_object *shorten(struct json_object *o);
static struct json_object *agent_to_json(const struct auc_agent_stats *stats);
static struct json_object *series_to_json(const struct auc_series *s);

void auc_series_add(struct auc_series *s, double seconds)
{
	s->count++;
	s->last = seconds;
	s->sum += seconds;
	if (seconds > s->max)
		s->max = seconds;
}

int auc_status_write(const struct auc_status_files *files, struct auc_auction *a, double now,
		     bool changed, const struct auc_agent_stats *stats, struct auc_err *err)
{
	struct auc_err why;
	int rc;

	changed |= a && auc_board_keep(a);
	pthread_mutex_lock(&last.lock);
	rc = write_files(files, a, now, changed, stats, err);
	if (a && auc_auction_ready(a, &why) == AUC_OK &&
	    auc_told_write(files->dir, a, now, &why) != AUC_OK && !err->code)
		*err = why;
	pthread_mutex_unlock(&last.lock);
	return rc;
}

void auc_status_shut(void)
{
	struct json_object *o;
	struct auc_err why, err;

	if (auc_site_open(&why) == AUC_OK || pthread_mutex_trylock(&last.lock))
		return;
	o = *last.path ? json_object_from_file(last.path) : NULL;
	if (json_object_is_type(o, json_type_object)) {
		shut(o, &why);
		replace_both(o, true, &err);
		if (err.code)
			slurm_error("sched/auction: %s", err.text);
	}
	json_object_put(o);
	pthread_mutex_unlock(&last.lock);
}

static void shut(struct json_object *o, const struct auc_err *why)
{
	json_object_object_add(o, "ready", json_object_new_boolean(false));
	json_object_object_add(o, "reason", json_object_new_string(why->text));
}

static int write_files(const struct auc_status_files *files, struct auc_auction *a, double now,
		       bool changed, const struct auc_agent_stats *stats, struct auc_err *err)
{
	int64_t slot = a ? (int64_t)(now / auc_auction_conf(a)->slot_seconds) : 0;
	struct auc_err why = {0}, past = {0};
	bool gate = auc_site_open(&why) != AUC_OK, turned;
	struct auc_totals totals;
	struct json_object *o;
	enum auc_code code;

	err->code = AUC_OK;
	memset(&totals, 0, sizeof(totals));
	if (a)
		auc_auction_totals(a, &totals);
	if (a && !gate)
		auc_auction_ready(a, &why);
	turned = last.written == 0 || strcmp(why.text, last.shut) != 0;
	changed |= slot != last.slot || memcmp(&totals, &last.totals, sizeof(totals)) != 0;
	/* A clock set back must not stop the file. */
	if (!turned && (!changed || (now >= last.written && now < last.written + EVERY)))
		return 0;
	o = a ? auc_auction_status(a, now) : nothing(now);
	if (!o) {
		auc_err_set(err, AUC_ENOMEM, "out of memory for status.json");
		return -1;
	}
	if (gate)
		shut(o, &why);
	if (!json_object_get_string_len(json_object_object_get(o, "warning")))
		json_object_object_add(o, "warning", json_object_new_string(files->warning));
	json_object_object_add(o, "agent", agent_to_json(stats));
	snprintf(last.path, sizeof(last.path), "%.4000s/status.json", files->dir);
	snprintf(last.public, sizeof(last.public), "%s", files->public ? files->public : "");
	publish(files, a, o, now, &past);
	code = replace_both(o, turned, err);
	if (past.code && !err->code)
		*err = past;
	if (code == AUC_OK) {
		last.written = now;
		last.slot = slot;
		last.totals = totals;
		memcpy(last.shut, why.text, sizeof(last.shut));
	}
	json_object_put(o);
	return code == AUC_OK ? 1 : -1;
}

/* The status where there is no auction. */
static struct json_object *nothing(double now)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "format", json_object_new_string("auction-status/1"));
	json_object_object_add(o, "time", json_object_new_double(now));
	json_object_object_add(o, "warning", json_object_new_string(""));
	return o;
}

/* Puts O, and what is public of it (O is that then), in the files. ERR is about both, the answer
 * about the first. */
static enum auc_code replace_both(struct json_object *o, bool wrong, struct auc_err *err)
{
	enum auc_code code;
	struct auc_err why;

	err->code = AUC_OK;
	code = replace(last.path, 0600, o, wrong, err);
	/* The public one is written even if the disk of the other is full. */
	if (*last.public) {
		json_object_object_del(o, "sales");
		json_object_object_del(o, "money");
		json_object_object_del(o, "agent");
		hide(json_object_object_get(o, "servers"));
		/* Between two of these may be one bid; room is that of hidden nodes, too. */
		json_object_object_del(o, "activity");
		json_object_object_del(o, "room");
		if (replace(last.public, 0644, o, wrong, &why) != AUC_OK && code == AUC_OK)
			auc_err_set(err, why.code, "PublicStatus: %.400s", why.text);
	}
	return code;
}

/* What all users are told of prices, whether there is a file for them or not. */
static void publish(const struct auc_status_files *files, struct auc_auction *a,
		    struct json_object *o, double now, struct auc_err *err)
{
	struct json_object *summary = a ? auc_summary_of(o) : NULL;
	struct auc_err why;

	if (summary)
		auc_auction_post_prices(
			a, false, json_object_to_json_string_ext(summary, JSON_C_TO_STRING_PLAIN));
	if (summary && auc_auction_ready(a, &why) == AUC_OK &&
	    auc_board_record(files->dir, a, summary, now, &why) != AUC_OK)
		*err = why;
	json_object_put(summary);
}

/* Takes out of SERVERS, an array or NULL, those of partitions that Slurm shows to administrators
 * only. */
static void hide(struct json_object *servers)
{
	size_t n = json_object_is_type(servers, json_type_array) ? json_object_array_length(servers)
								 : 0;

	while (n-- > 0)
		if (json_object_object_get(json_object_array_get_idx(servers, n), "hidden"))
			json_object_array_del_idx(servers, n, 1);
}

/* WRONG: what is there must not stay. Without it there is room for a short one at least. */
static enum auc_code replace(const char *path, mode_t mode, struct json_object *o, bool wrong,
			     struct auc_err *err)
{
	enum auc_code code = put(path, mode, o, err);
	struct json_object *brief;

	if (code && wrong) {
		unlink(path);
		code = put(path, mode, o, err);
	}
	if (code && wrong) {
		brief = shorten(o);
		code = put(path, mode, brief, err);
		json_object_put(brief);
	}
	if (!code)
		err->code = AUC_OK;
	return code;
}

static enum auc_code put(const char *path, mode_t mode, struct json_object *o, struct auc_err *err)
{
	size_t len;
	const char *text = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN, &len);

	if (!text)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for %s", path);
	/* slurmctld's umask does not decide. */
	return auc_file_replace(path, text, len, mode, false, err);
}

/* What is known in a line. */
static struct json_object *shorten(struct json_object *o)
{
	struct json_object *brief = json_object_new_object();

	json_object_object_foreach(o, key, value)
	{
		if (!json_object_is_type(value, json_type_object) &&
		    !json_object_is_type(value, json_type_array))
			json_object_object_add(brief, key, json_object_get(value));
	}
	return brief;
}

static struct json_object *agent_to_json(const struct auc_agent_stats *stats)
{
	static const char *const errors[AUC_ERROR_NKINDS] = {
		"look",  "nodes", "ledger", "commit", "receipt", "submit",
		"start", "move",  "signal", "kill",   "fence"};
	struct json_object *o = json_object_new_object(), *e = json_object_new_object(),
			   *s = json_object_new_object();
	unsigned waiting, final;

	auc_receipts_counts(&waiting, &final);
	json_object_object_add(o, "built_for_slurm", json_object_new_string(BUILT_FOR_SLURM));
	json_object_object_add(o, "cycles", series_to_json(&stats->cycles));
	json_object_object_add(o, "looks", series_to_json(&stats->looks));
	json_object_object_add(o, "starts", series_to_json(&stats->starts));
	json_object_object_add(o, "receipts_waiting", json_object_new_int64(waiting));
	json_object_object_add(o, "final_receipts_waiting", json_object_new_int64(final));
	json_object_object_add(o, "resumed", json_object_new_int64((int64_t)stats->resumed));
	json_object_object_add(o, "postponed", json_object_new_int64(stats->postponed));
	for (unsigned i = 0; i < AUC_EXEC_NSTATES; i++)
		json_object_object_add(s, auc_exec_state_word(i),
				       json_object_new_int64(stats->states[i]));
	json_object_object_add(o, "states", s);
	for (unsigned i = 0; i < AUC_ERROR_NKINDS; i++)
		json_object_object_add(e, errors[i],
				       json_object_new_int64((int64_t)stats->errors[i]));
	json_object_object_add(o, "errors", e);
	return o;
}

static struct json_object *series_to_json(const struct auc_series *s)
{
	struct json_object *o = json_object_new_object();
	double mean = s->count ? s->sum / (double)s->count : 0;

	json_object_object_add(o, "count", json_object_new_int64((int64_t)s->count));
	json_object_object_add(o, "last_us", json_object_new_int64((int64_t)(s->last * 1e6)));
	json_object_object_add(o, "mean_us", json_object_new_int64((int64_t)(mean * 1e6)));
	json_object_object_add(o, "max_us", json_object_new_int64((int64_t)(s->max * 1e6)));
	return o;
}
