/*
 * ledger_replay.c - events of the spool, read back into a ledger: the middle step of what ledger.c
 * does, with all the checks that what stands in a file needs.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "ledger/ledger-private.h"

static enum auc_code apply_sale(struct auc_ledger *l, struct json_object *o, bool sold_now,
				struct auc_err *err);
static enum auc_code count_live(struct auc_ledger *l, auc_money payment, struct auc_err *err);
static enum auc_code apply_running(struct auc_ledger *l, struct json_object *o,
				   struct auc_err *err);
static enum auc_code apply_settled(struct auc_ledger *l, struct json_object *o,
				   struct auc_err *err);
static enum auc_code apply_changed(struct auc_ledger *l, struct json_object *o,
				   struct auc_err *err);
static enum auc_code apply_totals(struct auc_ledger *l, struct json_object *o, struct auc_err *err);

enum auc_code auc_ledger_apply(struct auc_ledger *l, struct json_object *event, struct auc_err *err)
{
	struct auc_err why = {0};
	char word[16] = "";
	enum auc_code rc;

	rc = auc_json_text(event, "event", word, sizeof(word), &why);
	if (rc != AUC_OK) {
		/* said in WHY */
	} else if (!strcmp(word, "sold") || !strcmp(word, "sale")) {
		rc = apply_sale(l, event, !strcmp(word, "sold"), &why);
	} else if (!strcmp(word, "running")) {
		rc = apply_running(l, event, &why);
	} else if (!strcmp(word, "changed")) {
		rc = apply_changed(l, event, &why);
	} else if (!strcmp(word, "settled")) {
		rc = apply_settled(l, event, &why);
	} else if (!strcmp(word, "totals")) {
		rc = apply_totals(l, event, &why);
	} else if (!strcmp(word, "refused")) {
		l->totals.bids++;
		l->totals.refused++;
	} else if (!strcmp(word, "lapsed")) {
		l->totals.bids++;
		l->totals.lapsed++;
	} else if (auc_books_know(word)) {
		rc = auc_books_apply(l->books, event, l->totals.settled_revenue, &why);
	} else {
		rc = auc_err_set(&why, AUC_ECORRUPT, "no such event");
	}
	if (rc == AUC_OK)
		return AUC_OK;
	return auc_err_set(err, rc == AUC_ENOMEM ? rc : AUC_ECORRUPT, "event '%s': %s", word,
			   why.text);
}

static enum auc_code apply_sale(struct auc_ledger *l, struct json_object *o, bool sold_now,
				struct auc_err *err)
{
	struct auc_entry *e = NULL;
	enum auc_code rc = auc_ledger_reserve(l, err);

	if (rc == AUC_OK)
		rc = auc_entry_from_record(o, l->market, &e, err);
	if (rc != AUC_OK)
		return rc;
	if (auc_ledger_entry(l, e->sale.id) || auc_ledger_entry_of_job(l, e->sale.job_id))
		rc = auc_err_set(err, AUC_EEXIST, "sale %s, job %" PRIu32 ": is there twice",
				 e->sale.id, e->sale.job_id);
	if (rc == AUC_OK && !e->record && auc_entry_book(e, l->market, NULL) != AUC_OK) {
		e->booked = calloc(auc_entry_pieces(&e->sale.plan), sizeof(*e->booked));
		if (e->booked)
			(void)auc_entry_book_pieces(e, l->market, e->booked, NULL);
		else
			rc = auc_ledger_no_memory(err);
	}
	if (rc == AUC_OK) {
		rc = sold_now ? auc_ledger_charge(l, &e->sale, AUC_CHARGE_FORCED, err)
			      : count_live(l, e->sale.payment, err);
		if (rc != AUC_OK)
			auc_entry_unbook(e, l->market, e->sale.plan.start);
	}
	if (rc != AUC_OK)
		auc_entry_free(e);
	else
		auc_ledger_append(l, e);
	return rc;
}

/* A sale of a snapshot, which the totals have in them. */
static enum auc_code count_live(struct auc_ledger *l, auc_money payment, struct auc_err *err)
{
	const struct auc_totals *t = &l->totals;

	if (payment > t->charged - t->refunded - t->settled_revenue - l->live)
		return auc_err_set(err, AUC_ECORRUPT, "the totals do not have its payment in them");
	l->live += payment;
	return AUC_OK;
}

static enum auc_code apply_running(struct auc_ledger *l, struct json_object *o, struct auc_err *err)
{
	char id[AUC_SALE_ID_LEN];
	enum auc_code rc = auc_json_text(o, "sale", id, sizeof(id), err);
	struct auc_entry *e;

	if (rc != AUC_OK)
		return rc;
	e = auc_ledger_entry(l, id);
	if (!e || e->sale.state != AUC_SALE_SOLD)
		return auc_err_set(err, AUC_ECORRUPT, "sale %s: is not one that could start", id);
	e->sale.state = AUC_SALE_RUNNING;
	return AUC_OK;
}

static enum auc_code apply_changed(struct auc_ledger *l, struct json_object *o, struct auc_err *err)
{
	struct auc_entry *e, *made = NULL;
	enum auc_code rc = auc_entry_from_record(o, l->market, &made, err);

	if (rc != AUC_OK)
		return rc;
	e = auc_ledger_entry(l, made->sale.id);
	if (!e || e->sale.state == AUC_SALE_LIEN || made->sale.payment < e->sale.payment ||
	    !auc_payers_same(&e->sale.payers, &made->sale.payers))
		rc = auc_err_set(err, AUC_ECORRUPT, "sale %s: is not one that could change so",
				 made->sale.id);
	if (rc == AUC_OK)
		rc = auc_ledger_charge_more(l, &e->sale, made->sale.payment - e->sale.payment, true,
					    err);
	if (rc != AUC_OK) {
		auc_entry_free(made);
		return rc;
	}
	if (e->sale.plan.nruns)
		auc_entry_unbook(e, l->market, e->sale.plan.start);
	if (!made->record && auc_entry_book(made, l->market, NULL) != AUC_OK) {
		made->booked = calloc(auc_entry_pieces(&made->sale.plan), sizeof(*made->booked));
		if (!made->booked) {
			/* The ledger cannot be used any more: the replay ends here. */
			auc_entry_free(made);
			return auc_ledger_no_memory(err);
		}
		(void)auc_entry_book_pieces(made, l->market, made->booked, NULL);
	}
	auc_entry_take(e, made);
	return AUC_OK;
}

static enum auc_code apply_settled(struct auc_ledger *l, struct json_object *o, struct auc_err *err)
{
	char id[AUC_SALE_ID_LEN];
	auc_money refund, kept;
	int64_t free_from;
	struct auc_entry *e;
	enum auc_code rc;

	rc = auc_json_text(o, "sale", id, sizeof(id), err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "free_from", INT64_MIN, INT64_MAX, &free_from, err);
	if (rc == AUC_OK)
		rc = auc_json_money(o, "refund", &refund, err);
	if (rc == AUC_OK)
		rc = auc_json_money(o, "kept", &kept, err);
	if (rc != AUC_OK)
		return rc;
	e = auc_ledger_entry(l, id);
	if (!e || e->sale.state == AUC_SALE_LIEN)
		return auc_err_set(err, AUC_ECORRUPT, "sale %s: is not one that could be settled",
				   id);
	if (refund + kept != e->sale.payment)
		return auc_err_set(err, AUC_ECORRUPT,
				   "sale %s: refund and what is kept are not the payment", id);
	auc_ledger_close_sale(l, e, free_from, refund);
	return AUC_OK;
}

static enum auc_code apply_totals(struct auc_ledger *l, struct json_object *o, struct auc_err *err)
{
	static const char *const keys[] = {"bids", "refused", "lapsed", "sold", "settled"};
	int64_t counts[sizeof(keys) / sizeof(*keys)];
	struct auc_totals t = {0};
	enum auc_code rc = AUC_OK;

	if (l->count || l->totals.bids)
		return auc_err_set(err, AUC_ECORRUPT, "is not the first");
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys) && rc == AUC_OK; i++)
		rc = auc_json_int(o, keys[i], 0, INT64_MAX, &counts[i], err);
	if (rc == AUC_OK)
		rc = auc_json_sum(o, "charged", &t.charged, err);
	if (rc == AUC_OK)
		rc = auc_json_sum(o, "refunded", &t.refunded, err);
	if (rc == AUC_OK)
		rc = auc_json_sum(o, "settled_revenue", &t.settled_revenue, err);
	if (rc == AUC_OK && (t.refunded > t.charged || t.settled_revenue > t.charged - t.refunded))
		rc = auc_err_set(err, AUC_EINVAL, "more was paid back and kept than was charged");
	if (rc != AUC_OK)
		return rc;
	t.bids = (uint64_t)counts[0];
	t.refused = (uint64_t)counts[1];
	t.lapsed = (uint64_t)counts[2];
	t.sold = (uint64_t)counts[3];
	t.settled = (uint64_t)counts[4];
	l->totals = t;
	auc_books_begin(l->books, t.charged, t.refunded);
	return AUC_OK;
}
