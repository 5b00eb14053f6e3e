/* status.c - see status.h. Written by the agent's thread alone. */
#include "config.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "receipts.h"
#include "slurm_compat.h"
#include "status.h"

#define EVERY 1.0 /* seconds between two files, at least */

static struct {
	double written;
	int64_t slot;
	struct auc_totals totals;
} last;

static enum auc_code replace(const char *path, struct json_object *o, struct auc_err *err);
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

int auc_status_write(const char *dir, struct auc_auction *a, double now, bool changed,
		     const struct auc_agent_stats *stats, struct auc_err *err)
{
	int64_t slot = (int64_t)(now / auc_auction_conf(a)->slot_seconds);
	const char *public = auc_auction_conf(a)->public_status;
	struct auc_totals totals;
	char path[PATH_MAX];
	struct json_object *o;
	struct auc_err why;
	enum auc_code code;

	err->code = AUC_OK;
	memset(&totals, 0, sizeof(totals));
	auc_auction_totals(a, &totals);
	changed |= slot != last.slot || memcmp(&totals, &last.totals, sizeof(totals)) != 0;
	/* A clock set back must not stop the file. */
	if (!changed || (now >= last.written && now < last.written + EVERY))
		return 0;
	o = auc_auction_status(a, now);
	if (!o) {
		auc_err_set(err, AUC_ENOMEM, "out of memory for status.json");
		return -1;
	}
	json_object_object_add(o, "agent", agent_to_json(stats));
	snprintf(path, sizeof(path), "%.4000s/status.json", dir);
	code = replace(path, o, err);
	if (code == AUC_OK) {
		last.written = now;
		last.slot = slot;
		last.totals = totals;
	}
	if (code == AUC_OK && public) {
		json_object_object_del(o, "sales");
		json_object_object_del(o, "agent");
		if (replace(public, o, &why) != AUC_OK) /* the next one tries again */
			auc_err_set(err, why.code, "PublicStatus: %.400s", why.text);
	}
	json_object_put(o);
	return code == AUC_OK ? 1 : -1;
}

static enum auc_code replace(const char *path, struct json_object *o, struct auc_err *err)
{
	size_t len;
	const char *text = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN, &len);

	if (!text)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for %s", path);
	/* Readers are users; slurmctld's umask does not decide. */
	return auc_file_replace(path, text, len, 0644, false, err);
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
