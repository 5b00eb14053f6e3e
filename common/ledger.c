/*
 * ledger.c - see ledger.h and doc/ledger.md.
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

#include "jsonio.h"
#include "ledger.h"
#include "receipt.h"

/* -- constants and types -- */

#define BOOKS_MAX (INT64_MAX - AUC_CREDIT) /* what auc_json_sum() reads back */

/* What a record says about its plan: kept as it is where a market cannot resolve it. */
static const char *const plan_keys[] = {"slot_seconds", "plan", "worker_tres", "ps_tres"};

struct entry {
	struct auc_sale sale;
	struct json_object *record; /* as stored, where this market cannot resolve it; else NULL */
	bool *booked; /* by share, where only some are booked; NULL: all (or none, if unresolved) */
	uint64_t order;                   /* in which entries stand in the ledger */
	struct entry *next_id, *next_job; /* in the buckets of the tables */
};

struct auc_ledger {
	struct auc_market *market;
	auc_event_fn emit;
	void *arg;
	uint64_t boot, last_id;
	struct auc_totals totals;
	auc_money live;    /* payments of the live sales */
	double next_lapse; /* no lien lapses before that */
	uint64_t last_order;
	unsigned count, alloc;
	struct entry **entries;         /* by order */
	struct entry **by_id, **by_job; /* hash tables of alloc buckets */
};

/* A sale on its way to another market. */
struct move {
	struct auc_plan plan; /* in terms of the other market */
	bool *booked;         /* by share */
	bool drop;            /* a lien that cannot come along */
};

/* A sale that gets another plan together with others. */
struct revision {
	struct entry *e, *made;
	struct json_object *event;
};

/* -- private prototypes -- */

static struct entry *entry_new(const char *id, const char *policy, const char *bid);
static struct entry *entry_copy(const struct entry *from);
static void entry_free(struct entry *e);
static enum auc_code entry_book(struct entry *e, struct auc_market *m, struct auc_err *err);
static enum auc_code entry_book_shares(struct entry *e, struct auc_market *m, bool *booked,
				       struct auc_err *err);
static void entry_unbook(struct entry *e, struct auc_market *m, auc_slot from);
static void entry_book_again(struct entry *e, struct auc_market *m);
static void entry_take(struct entry *e, struct entry *from);
static struct auc_plan one_share(const struct auc_plan *p, struct auc_run *run, unsigned k);
static struct json_object *entry_record(const struct entry *e, const struct auc_market *m,
					const char *event);
static enum auc_code entry_from_record(struct json_object *o, const struct auc_market *m,
				       struct entry **out, struct auc_err *err);
static enum auc_code resolve(struct json_object *record, const struct auc_market *m,
			     const struct auc_sale *s, struct auc_plan *plan, struct auc_err *err);
static enum auc_code plan_move(const struct entry *e, const struct auc_market *from,
			       const struct auc_market *to, struct move *mv, struct auc_err *err);
static bool carry_out_move(struct entry *e, struct auc_market *to, struct move *mv,
			   struct auc_err *why);

static enum auc_code make_revision(const struct auc_ledger *l, const struct auc_revision *from,
				   struct revision *r, struct auc_err *err);
static struct json_object *amounts(const struct auc_market *m, unsigned type,
				   double (*amount)(const struct auc_market *, unsigned, unsigned));
static enum auc_code reserve_entry(struct auc_ledger *l, struct auc_err *err);
static struct entry *find_id(const struct auc_ledger *l, const char *id);
static struct entry *find_job(const struct auc_ledger *l, uint32_t job_id);
static struct entry **id_bucket(const struct auc_ledger *l, const char *id);
static struct entry **job_bucket(const struct auc_ledger *l, uint32_t job_id);
static void enter_id(struct auc_ledger *l, struct entry *e);
static void enter_job(struct auc_ledger *l, struct entry *e);
static void append(struct auc_ledger *l, struct entry *e);
static unsigned index_of(const struct auc_ledger *l, const struct entry *e);
static void remove_entry(struct auc_ledger *l, struct entry *e);
static void move_to_end(struct auc_ledger *l, struct entry *e);
static void lapse(struct auc_ledger *l, struct entry *e);
static void emit(const struct auc_ledger *l, struct json_object *event);
static struct json_object *new_event(const char *word);
static struct json_object *totals_record(const struct auc_totals *t);
static enum auc_code charge(struct auc_ledger *l, auc_money payment, struct auc_err *err);
static enum auc_code charge_more(struct auc_ledger *l, auc_money more, struct auc_err *err);
static void close_sale(struct auc_ledger *l, struct entry *e, auc_slot free_from, auc_money refund);
static enum auc_code no_memory(struct auc_err *err);

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

/* -- public functions -- */

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
	return auc_json_add_double(o, "slot_seconds", auc_market_slot_seconds(m)) &&
	       auc_json_add(o, "worker_tres",
			    amounts(m, s->plan.worker_type, auc_market_worker_amount)) &&
	       auc_json_add(o, "ps_tres", amounts(m, s->plan.ps_type, auc_market_ps_amount));
}

struct auc_ledger *auc_ledger_create(struct auc_market *m, auc_event_fn emit_fn, void *arg)
{
	struct auc_ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->market = m;
	l->emit = emit_fn;
	l->arg = arg;
	l->next_lapse = INFINITY;
	if (getentropy(&l->boot, sizeof(l->boot))) {
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
		entry_free(l->entries[i]);
	free(l->entries);
	free(l->by_id);
	free(l->by_job);
	free(l);
}

enum auc_code auc_ledger_hold(struct auc_ledger *l, const struct auc_plan *plan, const char *policy,
			      const char *bid, uint32_t uid, double expires, char *id,
			      struct auc_err *err)
{
	struct entry *e;
	enum auc_code rc;

	snprintf(id, AUC_SALE_ID_LEN, "%016" PRIx64 "-%" PRIu64, l->boot, l->last_id + 1);
	rc = reserve_entry(l, err);
	if (rc != AUC_OK)
		return rc;
	e = entry_new(id, policy, bid);
	if (!e)
		return no_memory(err);
	rc = auc_plan_copy(&e->sale.plan, plan, err);
	if (rc == AUC_OK)
		rc = entry_book(e, l->market, err);
	if (rc != AUC_OK) {
		entry_free(e);
		return rc;
	}
	e->sale.state = AUC_SALE_LIEN;
	e->sale.uid = uid;
	e->sale.expires = expires;
	e->sale.value = auc_plan_value(plan);
	e->sale.payment = auc_plan_payment(plan);
	append(l, e);
	l->last_id++;
	if (expires < l->next_lapse)
		l->next_lapse = expires;
	return AUC_OK;
}

unsigned auc_ledger_lapse(struct auc_ledger *l, double now)
{
	unsigned n = 0;

	/* Every bid comes here, with all the sales there are. */
	if (now < l->next_lapse)
		return 0;
	l->next_lapse = INFINITY;
	for (unsigned i = 0; i < l->count;) {
		struct entry *e = l->entries[i];

		if (e->sale.state == AUC_SALE_LIEN && e->sale.expires <= now) {
			lapse(l, e);
			n++;
			continue;
		}
		if (e->sale.state == AUC_SALE_LIEN && e->sale.expires < l->next_lapse)
			l->next_lapse = e->sale.expires;
		i++;
	}
	return n;
}

enum auc_code auc_ledger_drop(struct auc_ledger *l, const char *id, struct auc_err *err)
{
	struct entry *e = find_id(l, id);

	if (!e)
		return auc_err_set(err, AUC_ENOENT, "sale %.*s: not known", AUC_SALE_ID_LEN, id);
	if (e->sale.state != AUC_SALE_LIEN)
		return auc_err_set(err, AUC_ESTATE, "sale %s: is %s, only a lien can be dropped",
				   id, auc_sale_state_word(e->sale.state));
	lapse(l, e);
	return AUC_OK;
}

enum auc_code auc_ledger_confirm(struct auc_ledger *l, const char *id, uint32_t job_id,
				 struct auc_err *err)
{
	struct entry *e = find_id(l, id), *other;
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
	other = find_job(l, job_id);
	if (other)
		return auc_err_set(err, AUC_EEXIST, "job %" PRIu32 ": already has sale %s", job_id,
				   other->sale.id);
	s->job_id = job_id;
	s->state = AUC_SALE_SOLD;
	event = entry_record(e, l->market, "sold");
	rc = event ? charge(l, s->payment, err) : no_memory(err);
	if (rc != AUC_OK) {
		json_object_put(event);
		s->job_id = 0;
		s->state = AUC_SALE_LIEN;
		return rc;
	}
	enter_job(l, e);
	move_to_end(l, e);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_adopt(struct auc_ledger *l, const struct auc_sale *sale,
			       struct auc_err *err)
{
	struct json_object *event = NULL;
	struct entry *e;
	enum auc_code rc;

	if ((sale->state != AUC_SALE_SOLD && sale->state != AUC_SALE_RUNNING) || !sale->job_id ||
	    !sale->id[0] || sale->payment < 0 || sale->payment > sale->value ||
	    sale->value > AUC_MONEY_MAX)
		return auc_err_set(err, AUC_EINVAL, "sale %s: not one that can be adopted",
				   sale->id);
	if (find_id(l, sale->id))
		return auc_err_set(err, AUC_EEXIST, "sale %s: is known", sale->id);
	if (find_job(l, sale->job_id))
		return auc_err_set(err, AUC_EEXIST, "job %" PRIu32 ": already has a sale",
				   sale->job_id);
	rc = reserve_entry(l, err);
	if (rc != AUC_OK)
		return rc;
	e = entry_new(sale->id, sale->policy, sale->bid ? sale->bid : "");
	if (!e)
		return no_memory(err);
	e->sale.state = sale->state;
	e->sale.job_id = sale->job_id;
	e->sale.uid = sale->uid;
	e->sale.value = sale->value;
	e->sale.payment = sale->payment;
	rc = auc_plan_copy(&e->sale.plan, &sale->plan, err);
	if (rc == AUC_OK && !(event = entry_record(e, l->market, "sold")))
		rc = no_memory(err);
	if (rc == AUC_OK)
		rc = entry_book(e, l->market, err);
	if (rc == AUC_OK && (rc = charge(l, sale->payment, err)) != AUC_OK)
		entry_unbook(e, l->market, sale->plan.start);
	if (rc != AUC_OK) {
		json_object_put(event);
		entry_free(e);
		return rc;
	}
	append(l, e);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_start(struct auc_ledger *l, uint32_t job_id, double when,
			       struct auc_err *err)
{
	struct entry *e = find_job(l, job_id);
	struct json_object *event;

	if (!e)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale", job_id);
	if (e->sale.state == AUC_SALE_RUNNING)
		return AUC_OK;
	event = new_event("running");
	if (!event || !auc_json_add_text(event, "sale", e->sale.id) ||
	    !auc_json_add_double(event, "when", when)) {
		json_object_put(event);
		return no_memory(err);
	}
	e->sale.state = AUC_SALE_RUNNING;
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_settle(struct auc_ledger *l, uint32_t job_id, auc_slot free_from,
				auc_money refund, const char *why, struct auc_err *err)
{
	struct entry *e = find_job(l, job_id);
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
	event = new_event("settled");
	if (!event || !auc_json_add_text(event, "sale", s->id) ||
	    !auc_json_add_int(event, "job", job_id) ||
	    !auc_json_add_int(event, "free_from", free_from) ||
	    !auc_json_add_money(event, "refund", refund) ||
	    !auc_json_add_money(event, "kept", s->payment - refund) ||
	    !auc_json_add_text(event, "why", why)) {
		json_object_put(event);
		return no_memory(err);
	}
	close_sale(l, e, free_from, refund);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_change(struct auc_ledger *l, uint32_t job_id, const struct auc_plan *plan,
				auc_money value, auc_money payment, struct auc_err *err)
{
	struct entry *e = find_job(l, job_id), *made;
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
	made = entry_copy(e);
	if (!made)
		return no_memory(err);
	made->sale.value = value;
	made->sale.payment = payment;
	rc = auc_plan_copy(&made->sale.plan, plan, err);
	if (rc == AUC_OK && !(event = entry_record(made, l->market, "changed")))
		rc = no_memory(err);
	if (rc == AUC_OK) {
		entry_unbook(e, l->market, e->sale.plan.start);
		rc = entry_book(made, l->market, err);
		if (rc == AUC_OK && (rc = charge_more(l, payment - e->sale.payment, err)) != AUC_OK)
			entry_unbook(made, l->market, plan->start);
		if (rc != AUC_OK)
			entry_book_again(e, l->market);
	}
	if (rc != AUC_OK) {
		json_object_put(event);
		entry_free(made);
		return rc;
	}
	entry_take(e, made);
	emit(l, event);
	return AUC_OK;
}

enum auc_code auc_ledger_revise(struct auc_ledger *l, const struct auc_revision *list, unsigned n,
				struct auc_err *err)
{
	struct revision *r = calloc(n + 1, sizeof(*r));
	enum auc_code rc = r ? AUC_OK : no_memory(err);
	unsigned i, booked = 0;

	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = make_revision(l, &list[i], &r[i], err);
	for (i = 0; i < n && rc == AUC_OK; i++)
		entry_unbook(r[i].e, l->market, r[i].e->sale.plan.start);
	if (rc == AUC_OK) {
		for (; booked < n && rc == AUC_OK; booked += rc == AUC_OK)
			rc = entry_book(r[booked].made, l->market, err);
		while (rc != AUC_OK && booked-- > 0)
			entry_unbook(r[booked].made, l->market, r[booked].made->sale.plan.start);
		for (i = 0; i < n && rc != AUC_OK; i++)
			entry_book_again(r[i].e, l->market);
	}
	for (i = 0; r && i < n; i++) {
		if (rc == AUC_OK) {
			entry_take(r[i].e, r[i].made);
			emit(l, r[i].event);
		} else {
			entry_free(r[i].made);
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

	r->e = find_job(l, from->job_id);
	if (!r->e || r->e->record)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale that can change",
				   from->job_id);
	r->made = entry_copy(r->e);
	if (!r->made)
		return no_memory(err);
	rc = auc_plan_copy(&r->made->sale.plan, from->plan, err);
	if (rc == AUC_OK && !(r->event = entry_record(r->made, l->market, "changed")))
		rc = no_memory(err);
	return rc;
}

void auc_ledger_refuse(struct auc_ledger *l, const char *reason)
{
	struct json_object *event = new_event("refused");

	l->totals.bids++;
	l->totals.refused++;
	if (event && auc_json_add_text(event, "reason", reason))
		emit(l, event);
	else
		json_object_put(event); /* a count is lost, nothing more */
}

const struct auc_sale *auc_ledger_find(const struct auc_ledger *l, const char *id)
{
	const struct entry *e = find_id(l, id);

	return e ? &e->sale : NULL;
}

const struct auc_sale *auc_ledger_find_job(const struct auc_ledger *l, uint32_t job_id)
{
	const struct entry *e = find_job(l, job_id);

	return e ? &e->sale : NULL;
}

unsigned auc_ledger_count(const struct auc_ledger *l)
{
	return l->count;
}

const struct auc_sale *auc_ledger_at(const struct auc_ledger *l, unsigned i)
{
	return i < l->count ? &l->entries[i]->sale : NULL;
}

const struct auc_totals *auc_ledger_totals(const struct auc_ledger *l)
{
	return &l->totals;
}

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
	} else {
		rc = auc_err_set(&why, AUC_ECORRUPT, "no such event");
	}
	if (rc == AUC_OK)
		return AUC_OK;
	return auc_err_set(err, rc == AUC_ENOMEM ? rc : AUC_ECORRUPT, "event '%s': %s", word,
			   why.text);
}

struct auc_ledger *auc_ledger_copy(const struct auc_ledger *l)
{
	struct auc_ledger *copy = auc_ledger_create(l->market, NULL, NULL);

	if (!copy)
		return NULL;
	copy->totals = l->totals;
	copy->live = l->live;
	for (unsigned i = 0; i < l->count; i++) {
		struct entry *e = entry_copy(l->entries[i]);

		if (!e || reserve_entry(copy, NULL) != AUC_OK) {
			entry_free(e);
			auc_ledger_destroy(copy);
			return NULL;
		}
		append(copy, e);
	}
	return copy;
}

enum auc_code auc_ledger_dump(const struct auc_ledger *l, auc_event_fn fn, void *arg,
			      struct auc_err *err)
{
	struct json_object *o = totals_record(&l->totals);

	if (!o)
		return no_memory(err);
	fn(arg, o);
	for (unsigned i = 0; i < l->count; i++) {
		if (l->entries[i]->sale.state == AUC_SALE_LIEN)
			continue;
		o = entry_record(l->entries[i], l->market, "sale");
		if (!o)
			return no_memory(err);
		fn(arg, o);
	}
	return AUC_OK;
}

enum auc_code auc_ledger_rebase(struct auc_ledger *l, struct auc_market *to, struct auc_err *err)
{
	unsigned n = l->count, misfits = 0;
	struct move *moves = calloc(n ? n : 1, sizeof(*moves));
	enum auc_code rc = moves ? AUC_OK : no_memory(err);
	struct auc_err first = {0};

	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		rc = plan_move(l->entries[i], l->market, to, &moves[i], err);
	if (rc == AUC_OK) {
		auc_market_begin_bulk(to);
		for (unsigned i = 0; i < n; i++)
			misfits += !carry_out_move(l->entries[i], to, &moves[i],
						   misfits ? NULL : &first);
		l->market = to;
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
		rc = auc_err_set(err, AUC_EFULL, "%u sales no longer fit: %s", misfits, first.text);
	return rc;
}

enum auc_code auc_ledger_check(const struct auc_ledger *l, struct auc_err *err)
{
	const struct auc_totals *t = &l->totals;

	if (t->charged - t->refunded - t->settled_revenue == l->live &&
	    t->bids == t->refused + t->lapsed + t->sold)
		return AUC_OK;
	return auc_err_set(err, AUC_ECORRUPT,
			   "ledger: charged %" PRId64 " - refunded %" PRId64
			   " is not settled %" PRId64 " + live %" PRId64
			   " (micro-credits), or %" PRIu64 " bids are not all accounted for",
			   t->charged, t->refunded, t->settled_revenue, l->live, t->bids);
}

/* -- entries -- */

static struct entry *entry_new(const char *id, const char *policy, const char *bid)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	snprintf(e->sale.id, sizeof(e->sale.id), "%s", id);
	snprintf(e->sale.policy, sizeof(e->sale.policy), "%s", policy);
	auc_plan_init(&e->sale.plan);
	e->sale.bid = strdup(bid);
	if (!e->sale.bid) {
		entry_free(e);
		return NULL;
	}
	return e;
}

/* Without what is booked. NULL: no memory. */
static struct entry *entry_copy(const struct entry *from)
{
	struct entry *e = entry_new(from->sale.id, from->sale.policy, from->sale.bid);
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
	entry_free(e);
	return NULL;
}

static void entry_free(struct entry *e)
{
	if (!e)
		return;
	auc_sale_clear(&e->sale);
	json_object_put(e->record);
	free(e->booked);
	free(e);
}

/* The whole plan or nothing. */
static enum auc_code entry_book(struct entry *e, struct auc_market *m, struct auc_err *err)
{
	return auc_market_book(m, &e->sale.plan, e->sale.plan.start, e->sale.plan.completion - 1,
			       err);
}

/* What fits of the plan, share by share, noted in BOOKED. AUC_EFULL with the first that does not.
 */
static enum auc_code entry_book_shares(struct entry *e, struct auc_market *m, bool *booked,
				       struct auc_err *err)
{
	const struct auc_plan *p = &e->sale.plan;
	enum auc_code rc, worst = AUC_OK;

	for (unsigned r = 0; r < p->nruns; r++)
		for (unsigned i = 0; i < p->runs[r].nshares; i++) {
			unsigned k = p->runs[r].first_share + i;
			struct auc_run run = p->runs[r];
			struct auc_plan piece = one_share(p, &run, k);

			rc = auc_market_book(m, &piece, run.from, run.to,
					     worst == AUC_OK ? err : NULL);
			booked[k] = rc == AUC_OK;
			if (worst == AUC_OK)
				worst = rc;
		}
	return worst;
}

/* Gives back what was booked in slots from FROM on. */
static void entry_unbook(struct entry *e, struct auc_market *m, auc_slot from)
{
	const struct auc_plan *p = &e->sale.plan;

	if (e->record)
		return;
	if (!e->booked) {
		(void)auc_market_unbook(m, p, from > p->start ? from : p->start, p->completion - 1,
					NULL);
		return;
	}
	for (unsigned r = 0; r < p->nruns; r++)
		for (unsigned i = 0; i < p->runs[r].nshares; i++) {
			unsigned k = p->runs[r].first_share + i;
			struct auc_run run = p->runs[r];
			struct auc_plan piece = one_share(p, &run, k);

			if (e->booked[k])
				(void)auc_market_unbook(
					m, &piece, from > run.from ? from : run.from, run.to, NULL);
		}
}

/* What was booked before it was unbooked just now. */
static void entry_book_again(struct entry *e, struct auc_market *m)
{
	const struct auc_plan *p = &e->sale.plan;

	if (!e->booked) {
		(void)entry_book(e, m, NULL);
		return;
	}
	for (unsigned r = 0; r < p->nruns; r++)
		for (unsigned i = 0; i < p->runs[r].nshares; i++) {
			unsigned k = p->runs[r].first_share + i;
			struct auc_run run = p->runs[r];
			struct auc_plan piece = one_share(p, &run, k);

			if (e->booked[k])
				(void)auc_market_book(m, &piece, run.from, run.to, NULL);
		}
}

/* The plan of FROM, what it costs and how it is booked; FROM is freed. */
static void entry_take(struct entry *e, struct entry *from)
{
	struct auc_plan old = e->sale.plan;
	bool *booked = e->booked;

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
	entry_free(from);
}

/* P with nothing but its share K in RUN; borrows from both. */
static struct auc_plan one_share(const struct auc_plan *p, struct auc_run *run, unsigned k)
{
	struct auc_plan piece = *p;

	run->first_share = 0;
	run->nshares = 1;
	piece.start = run->from;
	piece.completion = run->to + 1;
	piece.nruns = piece.nshares = 1;
	piece.runs = run;
	piece.shares = p->shares + k;
	return piece;
}

/* The sale as an event or record. NULL: no memory. */
static struct json_object *entry_record(const struct entry *e, const struct auc_market *m,
					const char *event)
{
	const struct auc_sale *s = &e->sale;
	struct json_object *o = new_event(event), *kept;
	bool ok = o && auc_json_add_text(o, "sale", s->id) &&
		  auc_json_add_int(o, "job", s->job_id) && auc_json_add_int(o, "uid", s->uid) &&
		  auc_json_add_text(o, "state", auc_sale_state_word(s->state)) &&
		  auc_json_add_money(o, "value", s->value) &&
		  auc_json_add_money(o, "payment", s->payment) &&
		  auc_json_add_text(o, "policy", s->policy) && auc_json_add_text(o, "bid", s->bid);

	for (unsigned i = 0; ok && e->record && i < sizeof(plan_keys) / sizeof(*plan_keys); i++)
		ok = json_object_object_get_ex(e->record, plan_keys[i], &kept) &&
		     auc_json_add(o, plan_keys[i], json_object_get(kept));
	if (ok && !e->record)
		ok = auc_sale_add_types(o, s, m) &&
		     auc_json_add(o, "plan", auc_plan_to_json(&s->plan, m));
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

/* The reverse, not booked. A plan that M cannot resolve is left empty, with the record kept. */
static enum auc_code entry_from_record(struct json_object *o, const struct auc_market *m,
				       struct entry **out, struct auc_err *err)
{
	char id[AUC_SALE_ID_LEN], policy[AUC_NAME_MAX], state[16];
	int64_t job, uid;
	auc_money value, payment;
	struct json_object *bid;
	struct entry *e;
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
	if (rc != AUC_OK)
		return rc;
	if (!id[0] || payment > value || (strcmp(state, "sold") && strcmp(state, "running")) ||
	    !json_object_object_get_ex(o, "bid", &bid) ||
	    !json_object_is_type(bid, json_type_string))
		return auc_err_set(err, AUC_EINVAL,
				   "sale '%s': expected an id, payment <= value, state sold or "
				   "running, and a bid",
				   id);
	e = entry_new(id, policy, json_object_get_string(bid));
	if (!e)
		return no_memory(err);
	e->sale.job_id = (uint32_t)job;
	e->sale.uid = (uint32_t)uid;
	e->sale.state = strcmp(state, "sold") ? AUC_SALE_RUNNING : AUC_SALE_SOLD;
	e->sale.value = value;
	e->sale.payment = payment;
	rc = resolve(o, m, &e->sale, &e->sale.plan, err);
	if (rc == AUC_ENOENT || rc == AUC_ESTATE) {
		auc_plan_reset(&e->sale.plan);
		e->record = json_object_get(o);
		rc = AUC_OK;
	}
	if (rc != AUC_OK) {
		entry_free(e);
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

	for (unsigned i = 0; i < sizeof(plan_keys) / sizeof(*plan_keys); i++)
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

/* -- moving to another market -- */

static enum auc_code plan_move(const struct entry *e, const struct auc_market *from,
			       const struct auc_market *to, struct move *mv, struct auc_err *err)
{
	struct json_object *record;
	enum auc_code rc;

	auc_plan_init(&mv->plan);
	record = e->record ? json_object_get(e->record) : entry_record(e, from, "sale");
	if (!record)
		return no_memory(err);
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
	mv->booked = calloc(mv->plan.nshares, sizeof(*mv->booked));
	return mv->booked ? AUC_OK : no_memory(err);
}

/* Cannot fail. False if the sale fits only in part, with the reason in WHY. */
static bool carry_out_move(struct entry *e, struct auc_market *to, struct move *mv,
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
	if (mv->drop || entry_book(e, to, NULL) == AUC_OK)
		return true;
	if (e->sale.state == AUC_SALE_LIEN) {
		memset(mv->booked, 0, e->sale.plan.nshares * sizeof(*mv->booked));
		mv->drop = true;
	} else {
		fits = entry_book_shares(e, to, mv->booked, why) == AUC_OK;
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

/* -- the ledger -- */

/* Room for one more entry, so that append() cannot fail. */
static enum auc_code reserve_entry(struct auc_ledger *l, struct auc_err *err)
{
	unsigned alloc = l->alloc ? 2 * l->alloc : 64;
	struct entry **entries, **by_id, **by_job;

	if (l->count < l->alloc)
		return AUC_OK;
	entries = realloc(l->entries, alloc * sizeof(struct entry *));
	if (!entries)
		return no_memory(err);
	l->entries = entries;
	by_id = calloc(alloc, sizeof(struct entry *));
	by_job = calloc(alloc, sizeof(struct entry *));
	if (!by_id || !by_job) {
		free(by_id);
		free(by_job);
		return no_memory(err);
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

static struct entry *find_id(const struct auc_ledger *l, const char *id)
{
	struct entry *e = l->alloc ? *id_bucket(l, id) : NULL;

	while (e && strcmp(e->sale.id, id))
		e = e->next_id;
	return e;
}

/* Liens have job 0, and are not found. */
static struct entry *find_job(const struct auc_ledger *l, uint32_t job_id)
{
	struct entry *e = l->alloc && job_id ? *job_bucket(l, job_id) : NULL;

	while (e && e->sale.job_id != job_id)
		e = e->next_job;
	return e;
}

static struct entry **id_bucket(const struct auc_ledger *l, const char *id)
{
	return &l->by_id[XXH3_64bits(id, strlen(id)) % l->alloc];
}

/* Slurm counts its jobs. */
static struct entry **job_bucket(const struct auc_ledger *l, uint32_t job_id)
{
	return &l->by_job[job_id % l->alloc];
}

static void enter_id(struct auc_ledger *l, struct entry *e)
{
	struct entry **bucket = id_bucket(l, e->sale.id);

	e->next_id = *bucket;
	*bucket = e;
}

static void enter_job(struct auc_ledger *l, struct entry *e)
{
	struct entry **bucket = job_bucket(l, e->sale.job_id);

	if (!e->sale.job_id)
		return;
	e->next_job = *bucket;
	*bucket = e;
}

static void append(struct auc_ledger *l, struct entry *e)
{
	e->order = ++l->last_order;
	l->entries[l->count++] = e;
	enter_id(l, e);
	enter_job(l, e);
}

static unsigned index_of(const struct auc_ledger *l, const struct entry *e)
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
static void remove_entry(struct auc_ledger *l, struct entry *e)
{
	unsigned i = index_of(l, e);
	struct entry **at;

	for (at = id_bucket(l, e->sale.id); *at != e; at = &(*at)->next_id)
		;
	*at = e->next_id;
	for (at = job_bucket(l, e->sale.job_id); *at && *at != e; at = &(*at)->next_job)
		;
	if (*at)
		*at = e->next_job;
	l->count--;
	memmove(l->entries + i, l->entries + i + 1, (l->count - i) * sizeof(struct entry *));
	entry_free(e);
}

/* Entries are in order of sale, as a replay would have them; a lien is in order of holding until it
 * is sold. */
static void move_to_end(struct auc_ledger *l, struct entry *e)
{
	unsigned i = index_of(l, e);

	memmove(l->entries + i, l->entries + i + 1, (l->count - i - 1) * sizeof(struct entry *));
	l->entries[l->count - 1] = e;
	e->order = ++l->last_order;
}

static void lapse(struct auc_ledger *l, struct entry *e)
{
	if (e->sale.plan.nruns)
		entry_unbook(e, l->market, e->sale.plan.start);
	remove_entry(l, e);
	l->totals.bids++;
	l->totals.lapsed++;
	emit(l, new_event("lapsed"));
}

/* Takes EVENT over. */
static void emit(const struct auc_ledger *l, struct json_object *event)
{
	if (!event)
		return;
	if (l->emit)
		l->emit(l->arg, event);
	else
		json_object_put(event);
}

static struct json_object *new_event(const char *word)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "event", word))
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *totals_record(const struct auc_totals *t)
{
	struct json_object *o = new_event("totals");

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

/* A lien becomes a sale, as far as the totals go. */
static enum auc_code charge(struct auc_ledger *l, auc_money payment, struct auc_err *err)
{
	if (l->totals.charged > BOOKS_MAX - payment)
		return auc_err_set(err, AUC_EFULL, "the ledger's books are full");
	l->totals.charged += payment;
	l->live += payment;
	l->totals.sold++;
	l->totals.bids++;
	return AUC_OK;
}

static enum auc_code charge_more(struct auc_ledger *l, auc_money more, struct auc_err *err)
{
	if (l->totals.charged > BOOKS_MAX - more)
		return auc_err_set(err, AUC_EFULL, "the ledger's books are full");
	l->totals.charged += more;
	l->live += more;
	return AUC_OK;
}

static void close_sale(struct auc_ledger *l, struct entry *e, auc_slot free_from, auc_money refund)
{
	auc_money payment = e->sale.payment;

	entry_unbook(e, l->market, free_from);
	remove_entry(l, e);
	l->live -= payment;
	l->totals.settled++;
	l->totals.refunded += refund;
	l->totals.settled_revenue += payment - refund;
}

static enum auc_code no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "ledger: out of memory");
}

/* -- events, read back -- */

static enum auc_code apply_sale(struct auc_ledger *l, struct json_object *o, bool sold_now,
				struct auc_err *err)
{
	struct entry *e = NULL;
	enum auc_code rc = reserve_entry(l, err);

	if (rc == AUC_OK)
		rc = entry_from_record(o, l->market, &e, err);
	if (rc != AUC_OK)
		return rc;
	if (find_id(l, e->sale.id) || find_job(l, e->sale.job_id))
		rc = auc_err_set(err, AUC_EEXIST, "sale %s, job %" PRIu32 ": is there twice",
				 e->sale.id, e->sale.job_id);
	if (rc == AUC_OK && !e->record && entry_book(e, l->market, NULL) != AUC_OK) {
		e->booked = calloc(e->sale.plan.nshares, sizeof(*e->booked));
		if (e->booked)
			(void)entry_book_shares(e, l->market, e->booked, NULL);
		else
			rc = no_memory(err);
	}
	if (rc == AUC_OK) {
		rc = sold_now ? charge(l, e->sale.payment, err)
			      : count_live(l, e->sale.payment, err);
		if (rc != AUC_OK)
			entry_unbook(e, l->market, e->sale.plan.start);
	}
	if (rc != AUC_OK)
		entry_free(e);
	else
		append(l, e);
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
	struct entry *e;

	if (rc != AUC_OK)
		return rc;
	e = find_id(l, id);
	if (!e || e->sale.state != AUC_SALE_SOLD)
		return auc_err_set(err, AUC_ECORRUPT, "sale %s: is not one that could start", id);
	e->sale.state = AUC_SALE_RUNNING;
	return AUC_OK;
}

static enum auc_code apply_changed(struct auc_ledger *l, struct json_object *o, struct auc_err *err)
{
	struct entry *e, *made = NULL;
	enum auc_code rc = entry_from_record(o, l->market, &made, err);

	if (rc != AUC_OK)
		return rc;
	e = find_id(l, made->sale.id);
	if (!e || e->sale.state == AUC_SALE_LIEN || made->sale.payment < e->sale.payment)
		rc = auc_err_set(err, AUC_ECORRUPT, "sale %s: is not one that could change so",
				 made->sale.id);
	if (rc == AUC_OK)
		rc = charge_more(l, made->sale.payment - e->sale.payment, err);
	if (rc != AUC_OK) {
		entry_free(made);
		return rc;
	}
	if (e->sale.plan.nruns)
		entry_unbook(e, l->market, e->sale.plan.start);
	if (!made->record && entry_book(made, l->market, NULL) != AUC_OK) {
		made->booked = calloc(made->sale.plan.nshares, sizeof(*made->booked));
		if (!made->booked) {
			/* What is left cannot be used: whoever replays gives up. */
			entry_free(made);
			return no_memory(err);
		}
		(void)entry_book_shares(made, l->market, made->booked, NULL);
	}
	entry_take(e, made);
	return AUC_OK;
}

static enum auc_code apply_settled(struct auc_ledger *l, struct json_object *o, struct auc_err *err)
{
	char id[AUC_SALE_ID_LEN];
	auc_money refund, kept;
	int64_t free_from;
	struct entry *e;
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
	e = find_id(l, id);
	if (!e || e->sale.state == AUC_SALE_LIEN)
		return auc_err_set(err, AUC_ECORRUPT, "sale %s: is not one that could be settled",
				   id);
	if (refund + kept != e->sale.payment)
		return auc_err_set(err, AUC_ECORRUPT,
				   "sale %s: refund and what is kept are not the payment", id);
	close_sale(l, e, free_from, refund);
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
	return AUC_OK;
}
