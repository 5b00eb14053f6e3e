/*
 * sale.c - one sale of the ledger: its bookings, its record, and how it gets from one
 * market to another. See ledger-private.h.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/check.h"
#include "base/json.h"
#include "ledger/ledger-private.h"

/* What a record says about its plan: kept as it is where a market cannot resolve it. */
static const char *const plan_keys[] = {"slot_seconds", "plan", "worker_tres", "ps_tres"};
#define GANG_KEYS 2 /* a gang's has no types */

static enum auc_code book_piece(const struct auc_plan *p, unsigned k, struct auc_market *m,
				auc_slot from, bool book, struct auc_err *err);
static enum auc_code resolve(struct json_object *record, const struct auc_market *m,
			     const struct auc_sale *s, struct auc_plan *plan, struct auc_err *err);
static unsigned keys_of(struct json_object *record);
static struct json_object *amounts(const struct auc_market *m, unsigned type,
				   double (*amount)(const struct auc_market *, unsigned, unsigned));

const char *auc_sale_state_word(enum auc_sale_state s)
{
	static const char *const words[] = {"lien", "sold", "running", "settled"};

	return (unsigned)s < sizeof(words) / sizeof(*words) ? words[s] : "unknown";
}

void auc_sale_clear(struct auc_sale *sale)
{
	auc_plan_clear(&sale->plan);
	free(sale->bid);
	sale->bid = NULL;
}

bool auc_sale_add_types(struct json_object *o, const struct auc_sale *s, const struct auc_market *m)
{
	if (s->plan.gang)
		return auc_json_add_double(o, "slot_seconds", auc_market_slot_seconds(m));
	return auc_json_add_double(o, "slot_seconds", auc_market_slot_seconds(m)) &&
	       auc_json_add(o, "worker_tres",
			    amounts(m, s->plan.worker_type, auc_market_worker_amount)) &&
	       auc_json_add(o, "ps_tres", amounts(m, s->plan.ps_type, auc_market_ps_amount));
}

struct auc_entry *auc_entry_new(const char *id, const char *policy, const char *bid)
{
	struct auc_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	snprintf(e->sale.id, sizeof(e->sale.id), "%s", id);
	snprintf(e->sale.policy, sizeof(e->sale.policy), "%s", policy);
	auc_plan_init(&e->sale.plan);
	auc_payers_none(&e->sale.payers);
	e->sale.bid = strdup(bid);
	if (!e->sale.bid) {
		auc_entry_free(e);
		return NULL;
	}
	return e;
}

struct auc_entry *auc_entry_copy(const struct auc_entry *from)
{
	struct auc_entry *e = auc_entry_new(from->sale.id, from->sale.policy, from->sale.bid);
	struct auc_sale sale = from->sale;

	if (!e)
		return NULL;
	sale.bid = e->sale.bid;
	auc_plan_init(&sale.plan);
	e->sale = sale;
	/* The counts of references in json-c are no business of two threads. */
	if (auc_plan_copy(&e->sale.plan, &from->sale.plan, NULL) == AUC_OK &&
	    (!from->record || !json_object_deep_copy(from->record, &e->record, NULL)))
		return e;
	auc_entry_free(e);
	return NULL;
}

void auc_entry_free(struct auc_entry *e)
{
	if (!e)
		return;
	auc_sale_clear(&e->sale);
	json_object_put(e->record);
	free(e->booked);
	free(e);
}

enum auc_code auc_entry_book(struct auc_entry *e, struct auc_market *m, struct auc_err *err)
{
	return auc_market_book(m, &e->sale.plan, e->sale.plan.start, e->sale.plan.completion - 1,
			       err);
}

unsigned auc_entry_pieces(const struct auc_plan *p)
{
	return p->nshares + p->nruns;
}

enum auc_code auc_entry_book_pieces(struct auc_entry *e, struct auc_market *m, bool *booked,
				    struct auc_err *err)
{
	const struct auc_plan *p = &e->sale.plan;
	enum auc_code rc, worst = AUC_OK;

	for (unsigned k = 0; k < auc_entry_pieces(p); k++) {
		rc = book_piece(p, k, m, p->start, true, worst == AUC_OK ? err : NULL);
		booked[k] = rc == AUC_OK;
		if (worst == AUC_OK)
			worst = rc;
	}
	return worst;
}

void auc_entry_unbook(struct auc_entry *e, struct auc_market *m, auc_slot from)
{
	const struct auc_plan *p = &e->sale.plan;
	struct auc_err why = {0};

	if (e->record)
		return;
	if (!e->booked) {
		AUC_CHECK(auc_market_unbook(m, p, from > p->start ? from : p->start,
					    p->completion - 1, &why) == AUC_OK,
			  "sale %s: %s", e->sale.id, why.text);
		return;
	}
	for (unsigned k = 0; k < auc_entry_pieces(p); k++)
		if (e->booked[k])
			AUC_CHECK(book_piece(p, k, m, from, false, &why) == AUC_OK, "sale %s: %s",
				  e->sale.id, why.text);
}

void auc_entry_book_again(struct auc_entry *e, struct auc_market *m)
{
	const struct auc_plan *p = &e->sale.plan;
	struct auc_err why = {0};

	if (!e->booked) {
		AUC_CHECK(auc_entry_book(e, m, &why) == AUC_OK, "sale %s: %s", e->sale.id,
			  why.text);
		return;
	}
	for (unsigned k = 0; k < auc_entry_pieces(p); k++)
		if (e->booked[k])
			AUC_CHECK(book_piece(p, k, m, p->start, true, &why) == AUC_OK,
				  "sale %s: %s", e->sale.id, why.text);
}

void auc_entry_take(struct auc_entry *e, struct auc_entry *from)
{
	struct auc_plan old = e->sale.plan;
	bool *booked = e->booked;

	AUC_CHECK(!strcmp(e->sale.id, from->sale.id), "sale %s: takes the plan of sale %s",
		  e->sale.id, from->sale.id);
	AUC_CHECK(from->sale.payment <= from->sale.value, "sale %s: a payment above its value",
		  e->sale.id);
	e->sale.plan = from->sale.plan;
	e->sale.value = from->sale.value;
	e->sale.payment = from->sale.payment;
	e->sale.revision++;
	e->booked = from->booked;
	json_object_put(e->record);
	e->record = from->record;
	from->sale.plan = old;
	from->booked = booked;
	from->record = NULL;
	auc_entry_free(from);
}

/* Books (or unbooks) piece K of P in slots from FROM on: a share, or, after them all, what is sent
 * in a run. */
static enum auc_code book_piece(const struct auc_plan *p, unsigned k, struct auc_market *m,
				auc_slot from, bool book, struct auc_err *err)
{
	bool sends = k >= p->nshares;
	unsigned r = sends ? k - p->nshares : 0;
	struct auc_plan piece = *p;
	struct auc_run run;

	while (!sends && k >= p->runs[r].first_share + p->runs[r].nshares)
		r++;
	run = p->runs[r];
	piece.nruns = 1;
	piece.runs = &run;
	from = from > run.from ? from : run.from;
	if (sends)
		return auc_market_book_traffic(m, &piece, from, run.to, book, err);
	run.first_share = 0;
	run.nshares = piece.nshares = 1;
	piece.shares = p->shares + k;
	piece.start = run.from;
	piece.completion = run.to + 1;
	piece.nmoves = 0;
	piece.exchange_mb = 0;
	return (book ? auc_market_book : auc_market_unbook)(m, &piece, from, run.to, err);
}

struct json_object *auc_entry_record(const struct auc_entry *e, const struct auc_market *m,
				     const char *event)
{
	const struct auc_sale *s = &e->sale;
	struct json_object *o = auc_event_new(event), *kept;
	bool ok = o && auc_json_add_text(o, "sale", s->id) &&
		  auc_json_add_int(o, "job", s->job_id) && auc_json_add_int(o, "uid", s->uid) &&
		  auc_json_add_text(o, "state", auc_sale_state_word(s->state)) &&
		  auc_json_add_money(o, "value", s->value) &&
		  auc_json_add_money(o, "payment", s->payment) && auc_payers_write(o, &s->payers) &&
		  auc_json_add_text(o, "policy", s->policy) && auc_json_add_text(o, "bid", s->bid);

	for (unsigned i = 0; ok && e->record && i < keys_of(e->record); i++)
		ok = json_object_object_get_ex(e->record, plan_keys[i], &kept) &&
		     auc_json_add(o, plan_keys[i], json_object_get(kept));
	if (ok && !e->record)
		ok = auc_sale_add_types(o, s, m) &&
		     auc_json_add(o, "plan", auc_plan_to_json(&s->plan, m));
	return auc_json_if(ok, o);
}

/* How many of plan_keys RECORD has. */
static unsigned keys_of(struct json_object *record)
{
	struct json_object *plan;

	return json_object_object_get_ex(record, "plan", &plan) && auc_plan_json_is_gang(plan)
		       ? GANG_KEYS
		       : sizeof(plan_keys) / sizeof(*plan_keys);
}

enum auc_code auc_entry_event(const struct auc_entry *e, const struct auc_market *m,
			      const char *word, struct json_object **event, struct auc_err *err)
{
	size_t len = 0;

	*event = NULL;
	if (!e->record && auc_plan_check(&e->sale.plan, err) != AUC_OK)
		return AUC_EINVAL;
	*event = auc_entry_record(e, m, word);
	if (!*event || !json_object_to_json_string_length(*event, JSON_C_TO_STRING_PLAIN, &len)) {
		json_object_put(*event);
		*event = NULL;
		return auc_ledger_no_memory(err);
	}
	if (len <= AUC_RECORD_MAX)
		return AUC_OK;
	json_object_put(*event);
	*event = NULL;
	return auc_err_set(err, AUC_EFULL,
			   "the schedule changes %u times: its record would have %zu bytes, at "
			   "most %u can be kept",
			   e->sale.plan.nruns, len, AUC_RECORD_MAX);
}

enum auc_code auc_entry_from_record(struct json_object *o, const struct auc_market *m,
				    struct auc_entry **out, struct auc_err *err)
{
	char id[AUC_SALE_ID_LEN], policy[AUC_NAME_MAX], state[16];
	int64_t job, uid;
	auc_money value, payment;
	struct auc_payers payers;
	struct json_object *bid;
	struct auc_entry *e;
	enum auc_code rc;

	rc = auc_json_text(o, "sale", id, sizeof(id), err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "job", 1, UINT32_MAX, &job, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "uid", 0, UINT32_MAX, &uid, err);
	if (rc == AUC_OK)
		rc = auc_json_text(o, "state", state, sizeof(state), err);
	if (rc == AUC_OK)
		rc = auc_json_money(o, "value", &value, err);
	if (rc == AUC_OK)
		rc = auc_json_money(o, "payment", &payment, err);
	if (rc == AUC_OK)
		rc = auc_json_text(o, "policy", policy, sizeof(policy), err);
	if (rc == AUC_OK)
		rc = auc_payers_read(o, &payers, err);
	if (rc != AUC_OK)
		return rc;
	if (!id[0] || payment > value || (strcmp(state, "sold") && strcmp(state, "running")) ||
	    !json_object_object_get_ex(o, "bid", &bid) ||
	    !json_object_is_type(bid, json_type_string))
		return auc_err_set(err, AUC_EINVAL,
				   "sale '%s': expected an id, payment <= value, state sold or "
				   "running, and a bid",
				   id);
	e = auc_entry_new(id, policy, json_object_get_string(bid));
	if (!e)
		return auc_ledger_no_memory(err);
	e->sale.job_id = (uint32_t)job;
	e->sale.uid = (uint32_t)uid;
	e->sale.state = strcmp(state, "sold") ? AUC_SALE_RUNNING : AUC_SALE_SOLD;
	e->sale.value = value;
	e->sale.payment = payment;
	e->sale.payers = payers;
	rc = resolve(o, m, &e->sale, &e->sale.plan, err);
	if (rc == AUC_ENOENT || rc == AUC_ESTATE) {
		auc_plan_reset(&e->sale.plan);
		e->record = json_object_get(o);
		rc = AUC_OK;
	}
	if (rc != AUC_OK) {
		auc_entry_free(e);
		return rc;
	}
	*out = e;
	return AUC_OK;
}

/* The plan of a record. AUC_ENOENT: a name M does not have; AUC_ESTATE: slots of another length. */
static enum auc_code resolve(struct json_object *record, const struct auc_market *m,
			     const struct auc_sale *s, struct auc_plan *plan, struct auc_err *err)
{
	struct json_object *o;
	double slot_seconds;
	enum auc_code rc;

	for (unsigned i = 0; i < keys_of(record); i++)
		if (!json_object_object_get_ex(record, plan_keys[i], &o))
			return auc_err_set(err, AUC_EINVAL, "%s: is missing", plan_keys[i]);
	rc = auc_json_double(record, "slot_seconds", 1e-6, 1e9, &slot_seconds, err);
	if (rc != AUC_OK)
		return rc;
	if (slot_seconds != auc_market_slot_seconds(m))
		return auc_err_set(err, AUC_ESTATE,
				   "was sold in slots of %g s, but SlotSeconds=%g now",
				   slot_seconds, auc_market_slot_seconds(m));
	json_object_object_get_ex(record, "plan", &o);
	rc = auc_plan_from_json(o, m, plan, err);
	if (rc == AUC_OK)
		rc = auc_plan_match_types(plan, m, record, err);
	plan->value = auc_money_to(s->value);
	plan->cost = auc_money_to(s->payment);
	return rc;
}

enum auc_code auc_entry_plan_move(const struct auc_entry *e, const struct auc_market *from,
				  const struct auc_market *to, struct auc_entry_move *mv,
				  struct auc_err *err)
{
	struct json_object *record;
	enum auc_code rc;

	auc_plan_init(&mv->plan);
	record = e->record ? json_object_get(e->record) : auc_entry_record(e, from, "sale");
	if (!record)
		return auc_ledger_no_memory(err);
	rc = resolve(record, to, &e->sale, &mv->plan, err);
	json_object_put(record);
	mv->drop = rc == AUC_ENOENT && e->sale.state == AUC_SALE_LIEN;
	if (mv->drop) {
		auc_plan_reset(&mv->plan);
		return AUC_OK;
	}
	if (rc != AUC_OK) {
		auc_err_prefix(err, "sale %s of job %" PRIu32, e->sale.id, e->sale.job_id);
		return rc;
	}
	mv->plan.value = e->record ? mv->plan.value : e->sale.plan.value;
	mv->plan.cost = e->record ? mv->plan.cost : e->sale.plan.cost;
	mv->plan.front = e->record ? mv->plan.front : e->sale.plan.front;
	mv->booked = calloc(auc_entry_pieces(&mv->plan), sizeof(*mv->booked));
	return mv->booked ? AUC_OK : auc_ledger_no_memory(err);
}

bool auc_entry_move(struct auc_entry *e, struct auc_market *to, struct auc_entry_move *mv,
		    struct auc_err *why)
{
	struct auc_plan old = e->sale.plan;
	bool fits = true;

	e->sale.plan = mv->plan;
	mv->plan = old; /* cleared by the caller */
	json_object_put(e->record);
	e->record = NULL;
	free(e->booked);
	e->booked = NULL;
	if (mv->drop || auc_entry_book(e, to, NULL) == AUC_OK)
		return true;
	if (e->sale.state == AUC_SALE_LIEN) {
		memset(mv->booked, 0, auc_entry_pieces(&e->sale.plan) * sizeof(*mv->booked));
		mv->drop = true;
	} else {
		fits = auc_entry_book_pieces(e, to, mv->booked, why) == AUC_OK;
		if (!fits)
			auc_err_prefix(why, "sale %s of job %" PRIu32, e->sale.id, e->sale.job_id);
	}
	e->booked = mv->booked;
	mv->booked = NULL;
	return fits;
}

/* What one worker or PS takes, by TRES. NULL: no memory. */
static struct json_object *amounts(const struct auc_market *m, unsigned type,
				   double (*amount)(const struct auc_market *, unsigned, unsigned))
{
	struct json_object *o = json_object_new_object();
	double a;

	for (unsigned k = 0; o && k < auc_market_ntres(m); k++) {
		a = amount(m, type, k);
		if (a > 0 && !auc_json_add_double(o, auc_market_tres_name(m, k), a)) {
			json_object_put(o);
			return NULL;
		}
	}
	return o;
}

struct json_object *auc_event_new(const char *word)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "event", word))
		return o;
	json_object_put(o);
	return NULL;
}
