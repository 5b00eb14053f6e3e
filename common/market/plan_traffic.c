/*
 * plan_traffic.c - what a plan sends, in JSON: see timeline.h. A reader takes nothing that
 * the books of a slot's budget could not count.
 */
#include "config.h"

#include <json-c/json.h>

#include "base/json.h"
#include "market/timeline.h"
#include "market/plan.h"

#define MB_MAX     1e12 /* of all that a plan sends in a slot */
#define SLOT_LIMIT (INT64_C(1) << 52)

static struct json_object *move_to_json(const struct auc_move *move, const struct auc_market *m);
static enum auc_code read_move(struct json_object *o, const struct auc_market *m,
			       struct auc_plan *p, struct auc_err *err);
static enum auc_code read_server(struct json_object *o, const char *key, const struct auc_market *m,
				 unsigned *server, struct auc_err *err);
static bool has_workers(const struct auc_plan *p, auc_slot slot, unsigned server);
static bool counts(const struct auc_plan *p);

bool auc_plan_add_traffic(struct json_object *o, const struct auc_plan *p,
			  const struct auc_market *m)
{
	struct json_object *list, *move;

	if (!(p->chunk_mb > 0) && !auc_plan_sends(p))
		return true;
	list = json_object_new_array();
	if (!auc_json_add_double(o, "chunk_mb", p->chunk_mb) ||
	    !auc_json_add_double(o, "exchange_mb", p->exchange_mb) || !list ||
	    !auc_json_add(o, "transfers", list))
		return false;
	for (unsigned i = 0; i < p->nmoves; i++) {
		move = move_to_json(&p->moves[i], m);
		if (!auc_json_push(list, move))
			return false;
	}
	return true;
}

enum auc_code auc_plan_read_traffic(struct json_object *o, const struct auc_market *m,
				    struct auc_plan *p, struct auc_err *err)
{
	struct json_object *list;
	enum auc_code rc;

	if (!json_object_object_get_ex(o, "transfers", &list))
		return AUC_OK;
	rc = auc_json_double(o, "chunk_mb", 0, MB_MAX, &p->chunk_mb, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "exchange_mb", 0, MB_MAX, &p->exchange_mb, err);
	if (rc == AUC_OK && !json_object_is_type(list, json_type_array))
		rc = auc_err_set(err, AUC_EINVAL, "transfers: expected an array");
	for (size_t i = 0; rc == AUC_OK && i < json_object_array_length(list); i++)
		rc = read_move(json_object_array_get_idx(list, i), m, p, err);
	if (rc == AUC_OK && !counts(p))
		rc = auc_err_set(err, AUC_EINVAL, "transfers: expected %g MB at most in one slot",
				 MB_MAX);
	return rc;
}

static struct json_object *move_to_json(const struct auc_move *move, const struct auc_market *m)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_int(o, "slot", move->slot) &&
	    auc_json_add_text(o, "from", auc_market_server_name(m, move->from)) &&
	    auc_json_add_text(o, "to", auc_market_server_name(m, move->to)) &&
	    auc_json_add_int(o, "chunks", move->chunks))
		return o;
	json_object_put(o);
	return NULL;
}

static enum auc_code read_move(struct json_object *o, const struct auc_market *m,
			       struct auc_plan *p, struct auc_err *err)
{
	unsigned from, to;
	int64_t chunks;
	auc_slot slot;
	enum auc_code rc = auc_json_int(o, "slot", -SLOT_LIMIT, SLOT_LIMIT, &slot, err);

	if (rc == AUC_OK)
		rc = read_server(o, "from", m, &from, err);
	if (rc == AUC_OK)
		rc = read_server(o, "to", m, &to, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "chunks", 1, AUC_WORK_MAX, &chunks, err);
	if (rc != AUC_OK) {
		auc_err_prefix(err, "transfers");
		return rc;
	}
	if (!has_workers(p, slot, to))
		return auc_err_set(err, AUC_EINVAL,
				   "transfers: slot %lld: expected moves to servers that have "
				   "workers then, '%s' has none",
				   (long long)slot, auc_market_server_name(m, to));
	return auc_plan_add_move(p, slot, from, to, (unsigned)chunks, err);
}

static enum auc_code read_server(struct json_object *o, const char *key, const struct auc_market *m,
				 unsigned *server, struct auc_err *err)
{
	char name[AUC_NAME_MAX];
	enum auc_code rc = auc_json_text(o, key, name, sizeof(name), err);
	int found = rc == AUC_OK ? auc_market_find_server(m, name) : -1;

	if (rc == AUC_OK && found < 0)
		rc = auc_err_set(err, AUC_ENOENT, "%s: server '%s' is not in this cluster", key,
				 name);
	*server = (unsigned)found;
	return rc;
}

static bool has_workers(const struct auc_plan *p, auc_slot slot, unsigned server)
{
	for (const struct auc_run *run = p->runs; run < p->runs + p->nruns; run++)
		for (unsigned i = 0; i < run->nshares && run->from <= slot && slot <= run->to; i++)
			if (p->shares[run->first_share + i].server == server)
				return p->shares[run->first_share + i].workers > 0;
	return false;
}

/* True if no slot's bytes are beyond counting. */
static bool counts(const struct auc_plan *p)
{
	double away, chunks = 0;

	for (unsigned i = 0; i < p->nmoves; i++)
		chunks += p->moves[i].chunks;
	for (const struct auc_run *run = p->runs; run < p->runs + p->nruns; run++) {
		away = 0;
		for (unsigned i = 0; i < run->nshares; i++)
			away += p->shares[run->first_share + i].workers;
		if (away * p->exchange_mb + chunks * p->chunk_mb > MB_MAX)
			return false;
	}
	return true;
}
