/*
 * ledger.c - see ledger.h and doc/ledger.md. One sale is in sale.c, reading back in
 * ledger_replay.c.
 *
 * A change is made in three steps: everything that can fail (checks, booking, building the event),
 * then the change itself, which cannot fail, then the event is handed out. So an error leaves the
 * ledger as it was, and a replay does the same middle step.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/json.h"
#include "base/num.h"
#include "ledger/ledger-private.h"
#include "ledger/receipt.h"

/* -- constants and types -- */

#define BOOKS_MAX (INT64_MAX - AUC_CREDIT) /* what auc_json_sum() reads back */

/* A sale that gets another plan together with others. */
struct revision {
	struct auc_entry *e, *made;
	struct json_object *event;
};

/* -- private prototypes -- */

static enum auc_code make_revision(const struct auc_ledger *l, const struct auc_revision *from,
				   struct revision *r, struct auc_err *err);
static struct auc_entry **id_bucket(const struct auc_ledger *l, const char *id);
static struct auc_entry **job_bucket(const struct auc_ledger *l, uint32_t job_id);
static void enter_id(struct auc_ledger *l, struct auc_entry *e);
static void enter_job(struct auc_ledger *l, struct auc_entry *e);
static unsigned index_of(const struct auc_ledger *l, const struct auc_entry *e);
static void remove_entry(struct auc_ledger *l, struct auc_entry *e);
static void move_to_end(struct auc_ledger *l, struct auc_entry *e);
static void lapse(struct auc_ledger *l, struct auc_entry *e);
static void emit(struct auc_ledger *l, struct json_object *event);
static struct json_object *totals_record(const struct auc_totals *t);

/* -- public functions -- */

struct auc_ledger *auc_ledger_create(struct auc_market *m, auc_event_fn emit_fn, void *arg)
{
	struct auc_ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->market = m;
	l->emit = emit_fn;
	l->arg = arg;
	l->next_lapse = INFINITY;
	l->last_lapse = -INFINITY;
	if (getentropy(&l->boot, sizeof(l->boot))) {
		free(l);
		return NULL;
	}
	/* No two ledgers have an edition in common. */
	l->edition = l->boot;
	l->books = auc_books_create();
	if (!l->books) {
		free(l);
		return NULL;
	}
	return l;
}

void auc_ledger_destroy(struct auc_ledger *l)
{
	if (!l)
		return;
	for (unsigned i = 0; i < l->count; i++)
		auc_entry_free(l->entries[i]);
	free(l->entries);
	free(l->by_id);
	free(l->by_job);
	auc_books_destroy(l->books);
	free(l);
}

enum auc_code auc_ledger_hold(struct auc_ledger *l, const struct auc_plan *plan, const char *policy,
			      const char *bid, uint32_t uid, const struct auc_payers *payers,
			      double expires, char *id, struct auc_err *err)
{
	struct json_object *event = NULL;
	struct auc_entry *e;
	enum auc_code rc;

	snprintf(id, AUC_SALE_ID_LEN, "%016" PRIx64 "-%" PRIu64, l->boot, l->last_id + 1);
	rc = auc_ledger_reserve(l, err);
	if (rc != AUC_OK)
		return rc;
	e = auc_entry_new(id, policy, bid);
	if (!e)
		return auc_ledger_no_memory(err);
	e->sale.state = AUC_SALE_LIEN;
	e->sale.uid = uid;
	e->sale.expires = expires;
	e->sale.value = auc_plan_value(plan);
	e->sale.payment = auc_plan_payment(plan);
	if (payers)
		e->sale.payers = *payers;
	rc = auc_plan_copy(&e->sale.plan, plan, err);
	e->sale.plan.front = auc_plan_front(plan, l->market);
	/* What could not be written once it is sold must not be sold. */
	if (rc == AUC_OK)
		rc = auc_entry_event(e, l->market, "sold", &event, err);
	json_object_put(event);
	if (rc == AUC_OK)
		rc = auc_entry_book(e, l->market, err);
	if (rc == AUC_OK &&
	    (rc = auc_books_hold(l->books, &e->sale.payers, e->sale.payment, err)) != AUC_OK)
		auc_entry_unbook(e, l->market, plan->start);
	if (rc != AUC_OK) {
		auc_entry_free(e);
		return rc;
	}
	AUC_CHECK(e->sale.payment >= 0 && e->sale.payment <= e->sale.value,
		  "sale %s: a payment of %" PRId64 " for a value of %" PRId64, id, e->sale.payment,
		  e->sale.value);
	auc_ledger_append(l, e);
	l->last_id++;
	l->next_lapse = fmin(l->next_lapse, expires);
	l->last_lapse = fmax(l->last_lapse, expires);
	return AUC_OK;
}

unsigned auc_ledger_lapse(struct auc_ledger *l, double now, double longest)
{
	unsigned n = 0;

	/* Every bid comes here, with all the sales there are. */
	if (now < l->next_lapse && l->last_lapse - now <= longest)
		return 0;
	l->next_lapse = INFINITY;
	l->last_lapse = -INFINITY;
	for (unsigned i = 0; i < l->count;) {
		struct auc_entry *e = l->entries[i];

		if (e->sale.state != AUC_SALE_LIEN) {
			i++;
		} else if (e->sale.expires <= now || e->sale.expires - now > longest) {
			lapse(l, e);
			n++;
		} else {
			l->next_lapse = fmin(l->next_lapse, e->sale.expires);
			l->last_lapse = fmax(l->last_lapse, e->sale.expires);
			i++;
		}
	}
	return n;
}

enum auc_code auc_ledger_drop(struct auc_ledger *l, const char *id, struct auc_err *err)
{
	struct auc_entry *e = auc_ledger_entry(l, id);

	if (!e)
		return auc_err_set(err, AUC_ENOENT, "sale %.*s: not known", AUC_SALE_ID_LEN, id);
	if (e->sale.state != AUC_SALE_LIEN)
		return auc_err_set(err, AUC_ESTATE, "sale %s: is %s, only a lien can be dropped",
				   id, auc_sale_state_word(e->sale.state));
	lapse(l, e);
	return AUC_OK;
}

void auc_ledger_unclaim(struct auc_ledger *l, const char *id)
{
	struct auc_entry *e = auc_ledger_entry(l, id);

	if (e && e->sale.state == AUC_SALE_LIEN)
		e->sale.unclaimed = true;
}

enum auc_code auc_ledger_confirm(struct auc_ledger *l, const char *id, uint32_t job_id,
				 struct auc_err *err)
{
	struct auc_entry *e = auc_ledger_entry(l, id), *other;
	struct json_object *event;
	struct auc_sale *s;
	enum auc_code rc;

	if (!e)
		return auc_err_set(err, AUC_ENOENT, "sale %.*s: not known, or its lien has lapsed",
				   AUC_SALE_ID_LEN, id);
	if (!job_id)
		return auc_err_set(err, AUC_EINVAL, "sale %s: job 0", id);
	s = &e->sale;
	if (s->state != AUC_SALE_LIEN && s->job_id == job_id)
		return AUC_OK;
	if (s->state != AUC_SALE_LIEN)
		return auc_err_set(err, AUC_ESTATE,
				   "sale %s: is of job %" PRIu32 ", not of job %" PRIu32, id,
				   s->job_id, job_id);
	other = auc_ledger_entry_of_job(l, job_id);
	if (other)
		return auc_err_set(err, AUC_EEXIST, "job %" PRIu32 ": already has sale %s", job_id,
				   other->sale.id);
	s->job_id = job_id;
	s->state = AUC_SALE_SOLD;
	event = auc_entry_record(e, l->market, "sold");
	rc = event ? auc_ledger_charge(l, s, AUC_CHARGE_HELD, err) : auc_ledger_no_memory(err);
	if (rc != AUC_OK) {
		json_object_put(event);
		s->job_id = 0;
		s->state = AUC_SALE_LIEN;
		return rc;
	}
	enter_job(l, e);
	move_to_end(l, e);
	AUC_CHECK(auc_ledger_entry_of_job(l, job_id) == e, "job %" PRIu32 ": not sale %s", job_id,
		  id);
	AUC_CHECK(s->payment <= s->value,
		  "sale %s: a payment of %" PRId64 " for a value of %" PRId64, id, s->payment,
		  s->value);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_adopt(struct auc_ledger *l, const struct auc_sale *sale,
			       struct auc_err *err)
{
	struct json_object *event = NULL;
	struct auc_entry *e;
	enum auc_code rc;

	if ((sale->state != AUC_SALE_SOLD && sale->state != AUC_SALE_RUNNING) || !sale->job_id ||
	    !sale->id[0] || sale->payment < 0 || sale->payment > sale->value ||
	    sale->value > AUC_MONEY_MAX)
		return auc_err_set(err, AUC_EINVAL, "sale %s: not one that can be adopted",
				   sale->id);
	if (auc_ledger_entry(l, sale->id))
		return auc_err_set(err, AUC_EEXIST, "sale %s: is known", sale->id);
	if (auc_ledger_entry_of_job(l, sale->job_id))
		return auc_err_set(err, AUC_EEXIST, "job %" PRIu32 ": already has a sale",
				   sale->job_id);
	rc = auc_ledger_reserve(l, err);
	if (rc != AUC_OK)
		return rc;
	e = auc_entry_new(sale->id, sale->policy, sale->bid ? sale->bid : "");
	if (!e)
		return auc_ledger_no_memory(err);
	e->sale.state = sale->state;
	e->sale.job_id = sale->job_id;
	e->sale.uid = sale->uid;
	e->sale.value = sale->value;
	e->sale.payment = sale->payment;
	if (sale->payers.n)
		e->sale.payers = sale->payers;
	rc = auc_plan_copy(&e->sale.plan, &sale->plan, err);
	if (rc == AUC_OK)
		rc = auc_entry_event(e, l->market, "sold", &event, err);
	if (rc == AUC_OK)
		rc = auc_entry_book(e, l->market, err);
	if (rc == AUC_OK &&
	    (rc = auc_ledger_charge(l, &e->sale, sale->paid ? AUC_CHARGE_FORCED : AUC_CHARGE_NOW,
				    err)) != AUC_OK)
		auc_entry_unbook(e, l->market, sale->plan.start);
	if (rc != AUC_OK) {
		json_object_put(event);
		auc_entry_free(e);
		return rc;
	}
	auc_ledger_append(l, e);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_start(struct auc_ledger *l, uint32_t job_id, double when,
			       struct auc_err *err)
{
	struct auc_entry *e = auc_ledger_entry_of_job(l, job_id);
	struct json_object *event;

	if (!e)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale", job_id);
	if (e->sale.state == AUC_SALE_RUNNING)
		return AUC_OK;
	event = auc_event_new("running");
	if (!event || !auc_json_add_text(event, "sale", e->sale.id) ||
	    !auc_json_add_double(event, "when", when)) {
		json_object_put(event);
		return auc_ledger_no_memory(err);
	}
	e->sale.state = AUC_SALE_RUNNING;
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_settle(struct auc_ledger *l, uint32_t job_id, auc_slot free_from,
				auc_money refund, const char *why, struct auc_err *err)
{
	struct auc_entry *e = auc_ledger_entry_of_job(l, job_id);
	const struct auc_sale *s;
	struct json_object *event;

	if (!e)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale", job_id);
	s = &e->sale;
	if (refund < 0 || refund > s->payment)
		return auc_err_set(err, AUC_EINVAL,
				   "job %" PRIu32 ": refund of %" PRId64
				   " micro-credits, expected 0 to %" PRId64,
				   job_id, refund, s->payment);
	event = auc_event_new("settled");
	if (!event || !auc_json_add_text(event, "sale", s->id) ||
	    !auc_json_add_int(event, "job", job_id) ||
	    !auc_json_add_int(event, "free_from", free_from) ||
	    !auc_json_add_money(event, "refund", refund) ||
	    !auc_json_add_money(event, "kept", s->payment - refund) ||
	    !auc_json_add_text(event, "why", why)) {
		json_object_put(event);
		return auc_ledger_no_memory(err);
	}
	auc_ledger_close_sale(l, e, free_from, refund);
	AUC_CHECK(!auc_ledger_entry_of_job(l, job_id), "job %" PRIu32 ": settled, and has a sale",
		  job_id);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_change(struct auc_ledger *l, uint32_t job_id, const struct auc_plan *plan,
				auc_money value, auc_money payment, struct auc_err *err)
{
	struct auc_entry *e = auc_ledger_entry_of_job(l, job_id), *made;
	struct json_object *event = NULL;
	enum auc_code rc;

	if (!e || e->record)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale that can change",
				   job_id);
	if (payment < e->sale.payment || payment > value || value > AUC_MONEY_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "job %" PRIu32 ": payment of %" PRId64
				   " micro-credits, expected %" PRId64 " to %" PRId64,
				   job_id, payment, e->sale.payment, value);
	made = auc_entry_copy(e);
	if (!made)
		return auc_ledger_no_memory(err);
	made->sale.value = value;
	made->sale.payment = payment;
	rc = auc_plan_copy(&made->sale.plan, plan, err);
	made->sale.plan.front = e->sale.plan.front;
	if (rc == AUC_OK)
		rc = auc_entry_event(made, l->market, "changed", &event, err);
	if (rc == AUC_OK) {
		auc_entry_unbook(e, l->market, e->sale.plan.start);
		rc = auc_entry_book(made, l->market, err);
		if (rc == AUC_OK &&
		    (rc = auc_ledger_charge_more(l, &e->sale, payment - e->sale.payment, false,
						 err)) != AUC_OK)
			auc_entry_unbook(made, l->market, plan->start);
		if (rc != AUC_OK)
			auc_entry_book_again(e, l->market);
	}
	if (rc != AUC_OK) {
		json_object_put(event);
		auc_entry_free(made);
		return rc;
	}
	auc_entry_take(e, made);
	AUC_CHECK(e->sale.payment == payment && e->sale.payment <= e->sale.value,
		  "job %" PRIu32 ": a payment of %" PRId64 " for a value of %" PRId64, job_id,
		  e->sale.payment, e->sale.value);
	AUC_CHECK(e->sale.job_id == job_id, "job %" PRIu32 ": has become %" PRIu32, job_id,
		  e->sale.job_id);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_revise(struct auc_ledger *l, const struct auc_revision *list, unsigned n,
				struct auc_err *err)
{
	struct revision *r = calloc(n + 1, sizeof(*r));
	enum auc_code rc = r ? AUC_OK : auc_ledger_no_memory(err);
	unsigned i, booked = 0;

	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = make_revision(l, &list[i], &r[i], err);
	for (i = 0; i < n && rc == AUC_OK; i++)
		auc_entry_unbook(r[i].e, l->market, r[i].e->sale.plan.start);
	if (rc == AUC_OK) {
		for (; booked < n && rc == AUC_OK; booked += rc == AUC_OK)
			rc = auc_entry_book(r[booked].made, l->market, err);
		while (rc != AUC_OK && booked-- > 0)
			auc_entry_unbook(r[booked].made, l->market,
					 r[booked].made->sale.plan.start);
		for (i = 0; i < n && rc != AUC_OK; i++)
			auc_entry_book_again(r[i].e, l->market);
	}
	for (i = 0; r && i < n; i++) {
		if (rc == AUC_OK) {
			AUC_CHECK(r[i].made->sale.payment == r[i].e->sale.payment,
				  "job %" PRIu32 ": a revision changes its payment",
				  r[i].e->sale.job_id);
			AUC_CHECK(r[i].made->sale.job_id == r[i].e->sale.job_id,
				  "job %" PRIu32 ": a revision is of another job",
				  r[i].e->sale.job_id);
			auc_entry_take(r[i].e, r[i].made);
			emit(l, r[i].event);
		} else {
			auc_entry_free(r[i].made);
			json_object_put(r[i].event);
		}
	}
	free(r);
	return rc;
}

/* The entry as it is to be, and the event that says so. */
static enum auc_code make_revision(const struct auc_ledger *l, const struct auc_revision *from,
				   struct revision *r, struct auc_err *err)
{
	enum auc_code rc;

	r->e = auc_ledger_entry_of_job(l, from->job_id);
	if (!r->e || r->e->record)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale that can change",
				   from->job_id);
	r->made = auc_entry_copy(r->e);
	if (!r->made)
		return auc_ledger_no_memory(err);
	rc = auc_plan_copy(&r->made->sale.plan, from->plan, err);
	r->made->sale.plan.front = r->e->sale.plan.front;
	if (r->made->sale.value < from->value)
		r->made->sale.value = from->value;
	if (rc == AUC_OK)
		rc = auc_entry_event(r->made, l->market, "changed", &r->event, err);
	return rc;
}

void auc_ledger_refuse(struct auc_ledger *l, const char *reason)
{
	struct json_object *event = auc_event_new("refused");

	l->totals.bids++;
	l->totals.refused++;
	if (event && auc_json_add_text(event, "reason", reason))
		emit(l, event);
	else
		json_object_put(event); /* a count is lost, nothing more */
}

enum auc_code auc_ledger_transfer(struct auc_ledger *l, const struct auc_transfer *t,
				  struct auc_err *err)
{
	struct auc_transfer made = *t;
	struct json_object *event;
	enum auc_code rc;

	made.opening = auc_books_opening(l->books, t);
	event = auc_transfer_event(&made);
	if (!event)
		return auc_ledger_no_memory(err);
	rc = auc_books_transfer(l->books, &made, l->totals.settled_revenue, err);
	if (rc == AUC_OK)
		emit(l, event);
	else
		json_object_put(event);
	return rc;
}

const struct auc_books *auc_ledger_books(const struct auc_ledger *l)
{
	return l->books;
}

const struct auc_sale *auc_ledger_find(const struct auc_ledger *l, const char *id)
{
	const struct auc_entry *e = auc_ledger_entry(l, id);

	return e ? &e->sale : NULL;
}

const struct auc_sale *auc_ledger_find_job(const struct auc_ledger *l, uint32_t job_id)
{
	const struct auc_entry *e = auc_ledger_entry_of_job(l, job_id);

	return e ? &e->sale : NULL;
}

bool auc_ledger_is_booked(const struct auc_ledger *l, uint32_t job_id)
{
	const struct auc_entry *e = auc_ledger_entry_of_job(l, job_id);

	return e && !e->record && !e->booked;
}

unsigned auc_ledger_count(const struct auc_ledger *l)
{
	return l->count;
}

const struct auc_sale *auc_ledger_at(const struct auc_ledger *l, unsigned i)
{
	return i < l->count ? &l->entries[i]->sale : NULL;
}

uint64_t auc_ledger_edition(const struct auc_ledger *l)
{
	return l->edition ? l->edition : 1;
}

const struct auc_totals *auc_ledger_totals(const struct auc_ledger *l)
{
	return &l->totals;
}

struct auc_ledger *auc_ledger_copy(const struct auc_ledger *l)
{
	struct auc_ledger *copy = auc_ledger_create(l->market, NULL, NULL);

	if (!copy)
		return NULL;
	copy->totals = l->totals;
	copy->live = l->live;
	auc_books_destroy(copy->books);
	copy->books = auc_books_copy(l->books);
	if (!copy->books) {
		auc_ledger_destroy(copy);
		return NULL;
	}
	for (unsigned i = 0; i < l->count; i++) {
		struct auc_entry *e = auc_entry_copy(l->entries[i]);

		if (!e || auc_ledger_reserve(copy, NULL) != AUC_OK) {
			auc_entry_free(e);
			auc_ledger_destroy(copy);
			return NULL;
		}
		auc_ledger_append(copy, e);
	}
	return copy;
}

enum auc_code auc_ledger_dump(const struct auc_ledger *l, auc_event_fn fn, void *arg,
			      struct auc_err *err)
{
	struct json_object *o = totals_record(&l->totals);

	if (!o)
		return auc_ledger_no_memory(err);
	fn(arg, o);
	if (auc_books_dump(l->books, fn, arg, err) != AUC_OK)
		return AUC_ENOMEM;
	for (unsigned i = 0; i < l->count; i++) {
		if (l->entries[i]->sale.state == AUC_SALE_LIEN)
			continue;
		o = auc_entry_record(l->entries[i], l->market, "sale");
		if (!o)
			return auc_ledger_no_memory(err);
		fn(arg, o);
	}
	return AUC_OK;
}

enum auc_code auc_ledger_rebase(struct auc_ledger *l, struct auc_market *to, struct auc_err *err)
{
	unsigned n = l->count, misfits = 0;
	struct auc_entry_move *moves = calloc(n ? n : 1, sizeof(*moves));
	enum auc_code rc = moves ? AUC_OK : auc_ledger_no_memory(err);
	struct auc_err first = {0};

	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		rc = auc_entry_plan_move(l->entries[i], l->market, to, &moves[i], err);
	if (rc == AUC_OK) {
		auc_market_begin_bulk(to);
		for (unsigned i = 0; i < n; i++)
			misfits += !auc_entry_move(l->entries[i], to, &moves[i],
						   misfits ? NULL : &first);
		l->market = to;
		l->edition++;
		for (unsigned i = n; i-- > 0;)
			if (moves[i].drop)
				lapse(l, l->entries[i]);
		auc_market_end_bulk(to);
	}
	for (unsigned i = 0; moves && i < n; i++) {
		auc_plan_clear(&moves[i].plan);
		free(moves[i].booked);
	}
	free(moves);
	if (misfits)
		rc = auc_err_set(err, AUC_EFULL, "%u sale%s no longer %s: %s", misfits,
				 auc_plural(misfits), misfits == 1 ? "fits" : "fit", first.text);
	return rc;
}

enum auc_code auc_ledger_check(const struct auc_ledger *l, struct auc_err *err)
{
	const struct auc_totals *t = &l->totals;

	if (!auc_books_balance(l->books, t->charged - t->refunded))
		return auc_err_set(err, AUC_ECORRUPT,
				   "accounts: their sum is not 0, or the market has not got what "
				   "was charged less what was paid back");
	if (t->charged - t->refunded - t->settled_revenue == l->live &&
	    t->bids == t->refused + t->lapsed + t->sold)
		return AUC_OK;
	return auc_err_set(err, AUC_ECORRUPT,
			   "ledger: charged %" PRId64 " - refunded %" PRId64
			   " is not settled %" PRId64 " + live %" PRId64
			   " (micro-credits), or %" PRIu64 " bids are not all accounted for",
			   t->charged, t->refunded, t->settled_revenue, l->live, t->bids);
}

enum auc_code auc_ledger_audit(const struct auc_ledger *l, struct auc_err *err)
{
	enum auc_code rc = auc_ledger_check(l, err);

	return rc == AUC_OK ? auc_books_check(l->books, err) : rc;
}

/* -- the ledger -- */

enum auc_code auc_ledger_reserve(struct auc_ledger *l, struct auc_err *err)
{
	unsigned alloc = l->alloc ? 2 * l->alloc : 64;
	struct auc_entry **entries, **by_id, **by_job;

	if (l->count < l->alloc)
		return AUC_OK;
	entries = realloc(l->entries, alloc * sizeof(struct auc_entry *));
	if (!entries)
		return auc_ledger_no_memory(err);
	l->entries = entries;
	by_id = calloc(alloc, sizeof(struct auc_entry *));
	by_job = calloc(alloc, sizeof(struct auc_entry *));
	if (!by_id || !by_job) {
		free(by_id);
		free(by_job);
		return auc_ledger_no_memory(err);
	}
	free(l->by_id);
	free(l->by_job);
	l->by_id = by_id;
	l->by_job = by_job;
	l->alloc = alloc;
	for (unsigned i = 0; i < l->count; i++) {
		enter_id(l, l->entries[i]);
		enter_job(l, l->entries[i]);
	}
	return AUC_OK;
}

struct auc_entry *auc_ledger_entry(const struct auc_ledger *l, const char *id)
{
	struct auc_entry *e = l->alloc ? *id_bucket(l, id) : NULL;

	while (e && strcmp(e->sale.id, id))
		e = e->next_id;
	return e;
}

struct auc_entry *auc_ledger_entry_of_job(const struct auc_ledger *l, uint32_t job_id)
{
	struct auc_entry *e = l->alloc && job_id ? *job_bucket(l, job_id) : NULL;

	while (e && e->sale.job_id != job_id)
		e = e->next_job;
	return e;
}

static struct auc_entry **id_bucket(const struct auc_ledger *l, const char *id)
{
	return &l->by_id[XXH3_64bits(id, strlen(id)) % l->alloc];
}

/* Slurm counts its jobs. */
static struct auc_entry **job_bucket(const struct auc_ledger *l, uint32_t job_id)
{
	return &l->by_job[job_id % l->alloc];
}

static void enter_id(struct auc_ledger *l, struct auc_entry *e)
{
	struct auc_entry **bucket = id_bucket(l, e->sale.id);

	e->next_id = *bucket;
	*bucket = e;
}

static void enter_job(struct auc_ledger *l, struct auc_entry *e)
{
	struct auc_entry **bucket = job_bucket(l, e->sale.job_id);

	if (!e->sale.job_id)
		return;
	e->next_job = *bucket;
	*bucket = e;
}

void auc_ledger_append(struct auc_ledger *l, struct auc_entry *e)
{
	AUC_CHECK(l->count < l->alloc, "%u sales, room for %u", l->count, l->alloc);
	AUC_CHECK(!auc_ledger_entry(l, e->sale.id), "sale %s: there is one", e->sale.id);
	l->edition++;
	e->order = ++l->last_order;
	l->entries[l->count++] = e;
	enter_id(l, e);
	enter_job(l, e);
}

static unsigned index_of(const struct auc_ledger *l, const struct auc_entry *e)
{
	unsigned low = 0, high = l->count - 1, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (l->entries[mid]->order < e->order)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* And frees it. */
static void remove_entry(struct auc_ledger *l, struct auc_entry *e)
{
	unsigned i = index_of(l, e);
	struct auc_entry **at;

	/* Rather one sale too many than another's. */
	if (!AUC_CHECK(l->count && l->entries[i] == e, "sale %s: not where it belongs",
		       e->sale.id) ||
	    !AUC_CHECK(auc_ledger_entry(l, e->sale.id) == e, "sale %s: not found", e->sale.id))
		return;
	for (at = id_bucket(l, e->sale.id); *at != e; at = &(*at)->next_id)
		;
	*at = e->next_id;
	for (at = job_bucket(l, e->sale.job_id); *at && *at != e; at = &(*at)->next_job)
		;
	if (*at)
		*at = e->next_job;
	l->count--;
	memmove(l->entries + i, l->entries + i + 1, (l->count - i) * sizeof(struct auc_entry *));
	auc_entry_free(e);
}

/* Entries are in order of sale, as a replay would have them; a lien is in order of holding until it
 * is sold. */
static void move_to_end(struct auc_ledger *l, struct auc_entry *e)
{
	unsigned i = index_of(l, e);

	if (!AUC_CHECK(l->count && l->entries[i] == e, "sale %s: not where it belongs", e->sale.id))
		return;
	memmove(l->entries + i, l->entries + i + 1,
		(l->count - i - 1) * sizeof(struct auc_entry *));
	l->entries[l->count - 1] = e;
	e->order = ++l->last_order;
}

static void lapse(struct auc_ledger *l, struct auc_entry *e)
{
	AUC_CHECK(e->sale.state == AUC_SALE_LIEN, "sale %s: is %s, and lapses", e->sale.id,
		  auc_sale_state_word(e->sale.state));
	if (e->sale.plan.nruns)
		auc_entry_unbook(e, l->market, e->sale.plan.start);
	auc_books_void(l->books, &e->sale.payers, e->sale.payment);
	remove_entry(l, e);
	l->totals.bids++;
	l->totals.lapsed++;
	emit(l, auc_event_new("lapsed"));
}

/* Takes EVENT over. Whenever an event goes out the books balance. */
static void emit(struct auc_ledger *l, struct json_object *event)
{
	struct auc_err why = {0};

	AUC_CHECK(auc_ledger_check(l, &why) == AUC_OK, "%s", why.text);
	AUC_CHECK(l->live >= 0 && l->totals.charged >= l->totals.refunded,
		  "%" PRId64 " micro-credits of live sales", l->live);
	l->edition++;
	if (!event)
		return;
	if (l->emit)
		l->emit(l->arg, event);
	else
		json_object_put(event);
}

static struct json_object *totals_record(const struct auc_totals *t)
{
	struct json_object *o = auc_event_new("totals");

	if (o && auc_json_add_int(o, "bids", (int64_t)t->bids) &&
	    auc_json_add_int(o, "refused", (int64_t)t->refused) &&
	    auc_json_add_int(o, "lapsed", (int64_t)t->lapsed) &&
	    auc_json_add_int(o, "sold", (int64_t)t->sold) &&
	    auc_json_add_int(o, "settled", (int64_t)t->settled) &&
	    auc_json_add_money(o, "charged", t->charged) &&
	    auc_json_add_money(o, "refunded", t->refunded) &&
	    auc_json_add_money(o, "settled_revenue", t->settled_revenue))
		return o;
	json_object_put(o);
	return NULL;
}

enum auc_code auc_ledger_charge(struct auc_ledger *l, const struct auc_sale *s, enum auc_charge how,
				struct auc_err *err)
{
	auc_money payment = s->payment;
	enum auc_code rc;

	if (l->totals.charged > BOOKS_MAX - payment)
		return auc_err_set(err, AUC_EFULL, "the ledger's books are full");
	if (how == AUC_CHARGE_HELD) {
		auc_books_post(l->books, &s->payers, payment);
	} else {
		rc = auc_books_pay(l->books, &s->payers, payment, how == AUC_CHARGE_FORCED, err);
		if (rc != AUC_OK)
			return rc;
	}
	AUC_CHECK(payment >= 0, "a payment of %" PRId64, payment);
	l->totals.charged += payment;
	l->live += payment;
	AUC_CHECK(l->live >= payment, "live sales of %" PRId64 " after a payment of %" PRId64,
		  l->live, payment);
	l->totals.sold++;
	l->totals.bids++;
	return AUC_OK;
}

enum auc_code auc_ledger_charge_more(struct auc_ledger *l, const struct auc_sale *s, auc_money more,
				     bool forced, struct auc_err *err)
{
	enum auc_code rc;

	if (l->totals.charged > BOOKS_MAX - more)
		return auc_err_set(err, AUC_EFULL, "the ledger's books are full");
	rc = auc_books_pay(l->books, &s->payers, more, forced, err);
	if (rc != AUC_OK)
		return rc;
	AUC_CHECK(more >= 0, "a payment of %" PRId64 " more", more);
	l->totals.charged += more;
	l->live += more;
	AUC_CHECK(l->live >= more, "live sales of %" PRId64 " after %" PRId64 " more", l->live,
		  more);
	return AUC_OK;
}

void auc_ledger_close_sale(struct auc_ledger *l, struct auc_entry *e, auc_slot free_from,
			   auc_money refund)
{
	auc_money payment = e->sale.payment;

	AUC_CHECK(refund >= 0 && refund <= payment, "sale %s: a refund of %" PRId64 " of %" PRId64,
		  e->sale.id, refund, payment);
	AUC_CHECK(l->live >= payment, "sale %s: paid %" PRId64 ", all live sales %" PRId64,
		  e->sale.id, payment, l->live);
	auc_entry_unbook(e, l->market, free_from);
	auc_books_refund(l->books, &e->sale.payers, refund);
	remove_entry(l, e);
	l->live -= payment;
	l->totals.settled++;
	l->totals.refunded += refund;
	l->totals.settled_revenue += payment - refund;
}

enum auc_code auc_ledger_no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "ledger: out of memory");
}
