/*
 * ledger-private.h - the ledger's inside, for ledger.c, sale.c and ledger_replay.c only.
 */
#ifndef AUC_LEDGER_PRIVATE_H
#define AUC_LEDGER_PRIVATE_H

#include "ledger/ledger.h"

/* A sale as the ledger keeps it. */
struct auc_entry {
	struct auc_sale sale;
	struct json_object *record; /* as stored, where this market cannot resolve it; else NULL */
	bool *booked; /* by piece, where only some are booked; NULL: all (or none, if unresolved) */
	uint64_t order;                       /* in which entries stand in the ledger */
	struct auc_entry *next_id, *next_job; /* in the buckets of the tables */
};

struct auc_ledger {
	struct auc_market *market;
	auc_event_fn emit;
	void *arg;
	uint64_t boot, last_id;
	struct auc_totals totals;
	auc_money live; /* payments of the live sales */
	struct auc_books *books;
	double next_lapse; /* no lien lapses before that, */
	double last_lapse; /* and none after that */
	uint64_t last_order;
	uint64_t edition; /* another with each change */
	unsigned count, alloc;
	struct auc_entry **entries;         /* by order */
	struct auc_entry **by_id, **by_job; /* hash tables of alloc buckets */
};

/* -- sale.c: one sale -- */

/* A sale on its way to another market. */
struct auc_entry_move {
	struct auc_plan plan; /* in terms of the other market */
	bool *booked;         /* by piece */
	bool drop;            /* a lien that cannot come along */
};

/* NULL: no memory. */
struct auc_entry *auc_entry_new(const char *id, const char *policy, const char *bid);
/* Without what is booked. NULL: no memory. */
struct auc_entry *auc_entry_copy(const struct auc_entry *from);
void auc_entry_free(struct auc_entry *e);

/* The whole plan or nothing. */
enum auc_code auc_entry_book(struct auc_entry *e, struct auc_market *m, struct auc_err *err);
/* A plan's pieces: its shares, then for each run what it sends. */
unsigned auc_entry_pieces(const struct auc_plan *p);
/* What fits of the plan, piece by piece, noted in BOOKED[auc_entry_pieces()]. AUC_EFULL with the
 * first that does not. */
enum auc_code auc_entry_book_pieces(struct auc_entry *e, struct auc_market *m, bool *booked,
				    struct auc_err *err);
/* Gives back what was booked in slots from FROM on. */
void auc_entry_unbook(struct auc_entry *e, struct auc_market *m, auc_slot from);
/* What was booked before it was unbooked just now. */
void auc_entry_book_again(struct auc_entry *e, struct auc_market *m);
/* The plan of FROM, what it costs and how it is booked; FROM is freed. */
void auc_entry_take(struct auc_entry *e, struct auc_entry *from);

/* The sale as an event or record. NULL: no memory. */
struct json_object *auc_entry_record(const struct auc_entry *e, const struct auc_market *m,
				     const char *event);
/* The same where the sale is to have what E says: AUC_EFULL if that is more than a record may have,
 * AUC_EINVAL if it could not be read back. */
enum auc_code auc_entry_event(const struct auc_entry *e, const struct auc_market *m,
			      const char *word, struct json_object **event, struct auc_err *err);
/* The reverse, not booked. A plan that M cannot resolve is left empty, with the record kept. */
enum auc_code auc_entry_from_record(struct json_object *o, const struct auc_market *m,
				    struct auc_entry **out, struct auc_err *err);
/* An event with nothing but its name. NULL: no memory. */
struct json_object *auc_event_new(const char *word);

/* What it takes to have E in the market TO instead of FROM; the caller clears MV. */
enum auc_code auc_entry_plan_move(const struct auc_entry *e, const struct auc_market *from,
				  const struct auc_market *to, struct auc_entry_move *mv,
				  struct auc_err *err);
/* Cannot fail. False if the sale fits only in part, with the reason in WHY. */
bool auc_entry_move(struct auc_entry *e, struct auc_market *to, struct auc_entry_move *mv,
		    struct auc_err *why);

/* -- ledger.c: all of them -- */

/* Room for one more entry, so that auc_ledger_append() cannot fail. */
enum auc_code auc_ledger_reserve(struct auc_ledger *l, struct auc_err *err);
void auc_ledger_append(struct auc_ledger *l, struct auc_entry *e);
struct auc_entry *auc_ledger_entry(const struct auc_ledger *l, const char *id);
/* Liens have job 0, and are not found. */
struct auc_entry *auc_ledger_entry_of_job(const struct auc_ledger *l, uint32_t job_id);
/* S is paid for, as far as the totals and the accounts go: from what is HELD for it, or at once,
 * FORCED or not; and what more it pays. */
enum auc_charge { AUC_CHARGE_HELD, AUC_CHARGE_NOW, AUC_CHARGE_FORCED };
enum auc_code auc_ledger_charge(struct auc_ledger *l, const struct auc_sale *s, enum auc_charge how,
				struct auc_err *err);
enum auc_code auc_ledger_charge_more(struct auc_ledger *l, const struct auc_sale *s, auc_money more,
				     bool forced, struct auc_err *err);
void auc_ledger_close_sale(struct auc_ledger *l, struct auc_entry *e, auc_slot free_from,
			   auc_money refund);
enum auc_code auc_ledger_no_memory(struct auc_err *err);

#endif
