/* activity.c - see activity.h */
#include "config.h"

#include <math.h>

#include <json-c/json.h>

#include "auction/memory/activity.h"
#include "base/json.h"

const double auc_times_bounds[AUC_TIMES_BOUNDS] = {1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3,
						   5e-3, 1e-2, 2e-2, 5e-2, 0.1,  0.2,  0.5,  1};

static struct json_object *times(const struct auc_times *t);
static struct json_object *refusals(const struct auc_activity *y);
static struct json_object *failures(const struct auc_activity *y);

void auc_times_add(struct auc_times *t, double seconds)
{
	unsigned i;

	for (i = 0; i < AUC_TIMES_BOUNDS && !(seconds <= auc_times_bounds[i]); i++)
		;
	t->n[i]++;
	t->sum += fmax(0, seconds);
}

void auc_activity_bid(struct auc_activity *y, enum auc_code rc, enum auc_reason reason,
		      double asked, double sold)
{
	if (rc != AUC_OK) {
		y->failed[(unsigned)rc <= AUC_ELIMIT ? rc : AUC_EINVAL]++;
		return;
	}
	y->asked += asked;
	if (reason == AUC_REASON_NONE) {
		y->accepted++;
		y->sold += sold;
	} else {
		y->refused[(unsigned)reason <= AUC_REASON_INVALID ? reason : AUC_REASON_INVALID]++;
	}
}

struct json_object *auc_activity_to_json(const struct auc_activity *y)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_double(o, "since", y->since) &&
	    auc_json_add_int(o, "accepted", (int64_t)y->accepted) &&
	    auc_json_add(o, "refused", refusals(y)) && auc_json_add(o, "failed", failures(y)) &&
	    auc_json_add_double(o, "value_asked", y->asked) &&
	    auc_json_add_double(o, "value_sold", y->sold) &&
	    auc_json_add(o, "lock_wait", times(&y->wait)) &&
	    auc_json_add(o, "decision", times(&y->decision)) &&
	    auc_json_add(o, "lock_held", times(&y->held)))
		return o;
	json_object_put(o);
	return NULL;
}

/* {"sum": seconds, "bounds": [...], "counts": [..., more]} */
static struct json_object *times(const struct auc_times *t)
{
	struct json_object *o = json_object_new_object(), *bounds = json_object_new_array(),
			   *counts = json_object_new_array();
	bool ok = o && bounds && counts && auc_json_add_double(o, "sum", t->sum);

	for (unsigned i = 0; i <= AUC_TIMES_BOUNDS && ok; i++) {
		ok = !json_object_array_add(counts, json_object_new_int64((int64_t)t->n[i]));
		if (ok && i < AUC_TIMES_BOUNDS)
			ok = !json_object_array_add(bounds,
						    json_object_new_double(auc_times_bounds[i]));
	}
	ok = ok && auc_json_add(o, "bounds", json_object_get(bounds)) &&
	     auc_json_add(o, "counts", json_object_get(counts));
	json_object_put(bounds);
	json_object_put(counts);
	return auc_json_if(ok, o);
}

static struct json_object *refusals(const struct auc_activity *y)
{
	struct json_object *o = json_object_new_object();
	bool ok = o;

	for (unsigned i = AUC_REASON_NONE + 1; i <= AUC_REASON_INVALID && ok; i++)
		ok = auc_json_add_int(o, auc_reason_word(i), (int64_t)y->refused[i]);
	return auc_json_if(ok, o);
}

static struct json_object *failures(const struct auc_activity *y)
{
	struct json_object *o = json_object_new_object();
	bool ok = o;

	for (unsigned i = AUC_OK + 1; i <= AUC_ELIMIT && ok; i++)
		ok = auc_json_add_int(o, auc_err_word(i), (int64_t)y->failed[i]);
	return auc_json_if(ok, o);
}
