/*
 * plan_gang.c - what a gang's plan says of its shape, in JSON: see plan.h. The amounts stand in the
 * plan itself, so that it means the same in every later market.
 */
#include "config.h"

#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "market/timeline.h"
#include "market/plan.h"

bool auc_plan_json_is_gang(struct json_object *o)
{
	return json_object_object_get_ex(o, "per_node", NULL);
}

bool auc_plan_add_gang(struct json_object *o, const struct auc_plan *p, const struct auc_market *m)
{
	struct json_object *amounts = json_object_new_object();
	bool ok = amounts && auc_json_add_int(o, "shape", p->shape) &&
		  (!p->within_switch || auc_json_add_text(o, "gang_within", "switch")) &&
		  (!p->whole || auc_json_add_bool(o, "gang_whole", true)) &&
		  (!p->block || auc_json_add_bool(o, "gang_block", true)) &&
		  (!(p->missing > 0) || auc_json_add_double(o, "gang_missing", p->missing));

	for (unsigned k = 0; ok && k < m->ntres; k++)
		if (p->amount[k] > 0)
			ok = auc_json_add_double(amounts, m->tres[k].name, p->amount[k]);
	ok = auc_json_add_if(ok, o, "per_node", amounts);
	return ok;
}

/* A member that may be missing: false then. */
static enum auc_code read_flag(struct json_object *o, const char *key, bool *flag,
			       struct auc_err *err)
{
	struct json_object *value;

	*flag = false;
	if (!json_object_object_get_ex(o, key, &value))
		return AUC_OK;
	if (!json_object_is_type(value, json_type_boolean))
		return auc_err_set(err, AUC_EINVAL, "%s: expected true or false", key);
	*flag = json_object_get_boolean(value);
	return AUC_OK;
}

enum auc_code auc_plan_read_gang(struct json_object *o, const struct auc_market *m,
				 struct auc_plan *p, struct auc_err *err)
{
	struct auc_named per_node[AUC_TRES_MAX];
	int64_t units[AUC_TRES_MAX], shape = 0;
	enum auc_code rc;
	unsigned n = 0;
	struct json_object *within;
	bool never;

	rc = auc_json_int(o, "shape", 0, AUC_SHAPES_MAX - 1, &shape, err);
	if (rc == AUC_OK)
		rc = auc_json_amounts(o, "per_node", AUC_TRES_MAX, per_node, &n, err);
	if (rc != AUC_OK)
		return rc;
	p->shape = (unsigned)shape;
	p->within_switch = json_object_object_get_ex(o, "gang_within", &within);
	if (p->within_switch && (!json_object_is_type(within, json_type_string) ||
				 strcmp(json_object_get_string(within), "switch")))
		return auc_err_set(err, AUC_EINVAL, "gang_within: expected \"switch\"");
	rc = read_flag(o, "gang_whole", &p->whole, err);
	if (rc == AUC_OK)
		rc = read_flag(o, "gang_block", &p->block, err);
	p->missing = 0;
	if (rc == AUC_OK && json_object_object_get_ex(o, "gang_missing", NULL))
		rc = auc_json_double(o, "gang_missing", 0, 1e12, &p->missing, err);
	if (rc != AUC_OK)
		return rc;
	rc = auc_market_amounts(m, per_node, n, p->amount, units, &never, err);
	if (rc != AUC_OK) {
		auc_err_prefix(err, "per_node");
		return rc;
	}
	if (never)
		return auc_err_set(err, AUC_ENOENT,
				   "per_node: this cluster does not have all that was sold");
	return AUC_OK;
}
