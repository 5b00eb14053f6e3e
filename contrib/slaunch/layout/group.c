/* group.c - see group.h */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "slaunch/layout/group.h"
#include "ledger/receipt.h"

#define GROUP_MEMBERS_MAX 65536

static enum auc_code group_receipt(const struct group *g, struct auc_receipt *r,
				   struct auc_err *err);
static const struct group_member *group_member_on(const struct group *g,
						  const struct group_spent *spent, const char *sale,
						  const char *node);
static bool member_parse(struct json_object *o, struct group_member *m);
static bool member_runs(const struct group_member *m);

void group_clear(struct group *g)
{
	free(g->receipt);
	free(g->members);
	memset(g, 0, sizeof(*g));
}

enum auc_code group_add(struct group *g, const struct group_member *m, struct auc_err *err)
{
	struct group_member *members = realloc(g->members, (g->nmembers + 1) * sizeof(*m));

	if (!members)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	g->members = members;
	members[g->nmembers++] = *m;
	return AUC_OK;
}

enum auc_code group_legs(const struct group *g, double now, struct legs *c, struct auc_err *err)
{
	struct auc_receipt r;
	enum auc_code rc;

	memset(c, 0, sizeof(*c));
	rc = group_receipt(g, &r, err);
	if (rc != AUC_OK)
		return rc;
	rc = legs_make(c, &r, g->lead, g->node, now, err);
	auc_receipt_clear(&r);
	return rc;
}

enum auc_code group_layout(const struct group *g, double now, struct layout *l, struct auc_err *err)
{
	struct auc_receipt r;
	enum auc_code rc;

	memset(l, 0, sizeof(*l));
	rc = group_receipt(g, &r, err);
	if (rc != AUC_OK)
		return rc;
	rc = layout_make(l, &r, g->lead, g->node, now, err);
	auc_receipt_clear(&r);
	return rc;
}

void group_fill(const struct group *g, const struct group_spent *spent, struct layout *l,
		char *waiting, size_t size)
{
	size_t n = 0;

	*waiting = '\0';
	for (unsigned i = 0; i < l->nsteps; i++) {
		const struct layout_step *s = &l->steps[i];
		const struct group_member *m;

		if (s->job_id == l->lead || (i && strcmp(s->node, s[-1].node) == 0))
			continue;
		m = group_member_on(g, spent, l->sale, s->node);
		layout_set_job(l, s->node, m && member_runs(m) ? m->job_id : 0);
		if ((m && member_runs(m)) || n >= size)
			continue;
		if (m)
			n += snprintf(waiting + n, size - n, "%s%s (job %" PRIu32 " is %s)",
				      n ? ", " : "", s->node, m->job_id, m->state);
		else
			n += snprintf(waiting + n, size - n, "%s%s (no member job)", n ? ", " : "",
				      s->node);
	}
}

struct json_object *group_json(const struct group *g)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_object_object_add(o, "lead", json_object_new_int64(g->lead));
	json_object_object_add(o, "node", json_object_new_string(g->node));
	json_object_object_add(o, "receipt", json_object_new_string(g->receipt ? g->receipt : ""));
	for (unsigned i = 0; i < g->nmembers; i++) {
		struct json_object *m = json_object_new_array();

		json_object_array_add(m, json_object_new_string(g->members[i].node));
		json_object_array_add(m, json_object_new_int64(g->members[i].job_id));
		json_object_array_add(m, json_object_new_string(g->members[i].state));
		json_object_array_add(m, json_object_new_string(g->members[i].sale));
		json_object_array_add(list, m);
	}
	json_object_object_add(o, "members", list);
	return o;
}

enum auc_code group_parse(struct json_object *o, struct group *g, struct auc_err *err)
{
	struct json_object *lead, *node, *text, *list;
	enum auc_code rc = AUC_OK;

	memset(g, 0, sizeof(*g));
	if (!json_object_object_get_ex(o, "lead", &lead) ||
	    !json_object_object_get_ex(o, "node", &node) ||
	    !json_object_object_get_ex(o, "receipt", &text) ||
	    !json_object_object_get_ex(o, "members", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > GROUP_MEMBERS_MAX)
		return auc_err_set(err, AUC_EINVAL, "the description of a group is malformed");
	g->lead = json_object_get_int64(lead);
	snprintf(g->node, sizeof(g->node), "%s", json_object_get_string(node));
	g->receipt = strdup(json_object_get_string(text));
	if (!g->receipt)
		rc = auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (size_t i = 0; i < json_object_array_length(list) && rc == AUC_OK; i++) {
		struct group_member m;

		if (member_parse(json_object_array_get_idx(list, i), &m))
			rc = group_add(g, &m, err);
		else
			rc = auc_err_set(err, AUC_EINVAL, "member %zu of a group is malformed", i);
	}
	if (rc != AUC_OK)
		group_clear(g);
	return rc;
}

static enum auc_code group_receipt(const struct group *g, struct auc_receipt *r,
				   struct auc_err *err)
{
	if (!g->receipt || !auc_receipt_is(g->receipt))
		return auc_err_set(err, AUC_EINVAL,
				   "job %" PRIu32
				   " was not sold by the auction: submit it with sbatch --bid, "
				   "or try your program out with slaunch --local",
				   g->lead);
	return auc_receipt_parse(g->receipt, r, err);
}

/* The member on NODE that is running, or else is waiting to. */
static const struct group_member *group_member_on(const struct group *g,
						  const struct group_spent *spent, const char *sale,
						  const char *node)
{
	const struct group_member *found = NULL;

	for (unsigned i = 0; i < g->nmembers; i++) {
		const struct group_member *m = &g->members[i];
		bool of_use = strcmp(m->node, node) == 0 && strcmp(m->sale, sale) == 0;

		for (unsigned k = 0; spent && k < spent->n; k++)
			of_use = of_use && spent->jobs[k] != m->job_id;
		if (of_use && (!found || member_runs(m)))
			found = m;
	}
	return found;
}

static bool member_runs(const struct group_member *m)
{
	return strcmp(m->state, "RUNNING") == 0;
}

static bool member_parse(struct json_object *o, struct group_member *m)
{
	struct json_object *f[4];

	if (!json_object_is_type(o, json_type_array) || json_object_array_length(o) != 4)
		return false;
	for (unsigned i = 0; i < 4; i++) {
		f[i] = json_object_array_get_idx(o, i);
		if (!json_object_is_type(f[i], i == 1 ? json_type_int : json_type_string))
			return false;
	}
	snprintf(m->node, sizeof(m->node), "%s", json_object_get_string(f[0]));
	m->job_id = json_object_get_int64(f[1]);
	snprintf(m->state, sizeof(m->state), "%s", json_object_get_string(f[2]));
	snprintf(m->sale, sizeof(m->sale), "%s", json_object_get_string(f[3]));
	return true;
}
