/*
 * tariff.h - prices as they are published: by class of servers and slot, with what the fit (fit.h)
 * that they come from found. A class is the servers of one partition with the same amount of a
 * TRES; names and amounts instead of indices, so that a tariff outlives a change of nodes, and a
 * restart.
 */
#ifndef AUC_TARIFF_H
#define AUC_TARIFF_H

#include <stdbool.h>

#include "base/err.h"
#include "pricing/guard.h"
#include "market/market.h"

struct json_object;

#define AUC_TARIFF_RUNS 8192 /* of all classes together: a tariff is one line of the spool */
#define AUC_TARIFF_OPEN                                                                            \
	(INT64_C(1) << 52) /* the last run of a class ends there: it goes on for ever */

struct auc_tariff_run {
	auc_slot from, to;
	double price; /* credits per unit and slot */
};

struct auc_tariff_class {
	char group[AUC_NAME_MAX], tres[AUC_NAME_MAX];
	double capacity; /* of the TRES on each of its servers */
	unsigned servers;
	unsigned first_run, nruns; /* ascending; what they leave out is free */
};

/* What the guard found when it replayed the past. */
struct auc_tariff_guard {
	bool flat; /* it was to choose among flat prices only */
	struct auc_guard_choice choice;
	unsigned days, bids; /* periods and bids replayed; 0: it has not looked yet */
	double worth, bound; /* of all of them, with what it chose, and with anything, certified */
	double worth_of[AUC_TARIFF_KINDS]; /* with the best of each kind */
	double gain, error, needed;        /* of the ones that learn, in a period (guard.h) */
	double time;                       /* Unix time at which it looked */
	double seconds;                    /* of a processor that it took */
};

struct auc_tariff {
	enum auc_tariff_kind kind;
	struct auc_price_choice
		choice; /* of kind flat or learned: which form, and how much of it */
	double slot_seconds;
	double time;   /* Unix time of the fit */
	auc_slot slot; /* in which it was published; 0: it is not yet */
	/* What was forecast, and what it is worth at most. */
	unsigned bids;   /* of the past that it was made of */
	double expected; /* bids in the slots for sale */
	double bound;    /* in a pool (dual_prices.h) */
	/* Unix time since which other bids come than before; 0: they are alike. The prices are made
	 * of those since then alone. */
	double other_since;
	/* Far more bids come than before, or fewer, or others: these prices are not what the guard
	 * chose. */
	bool moved;
	struct auc_tariff_guard guard;
	double seconds; /* of a processor that the whole fit took */
	unsigned nclasses, nruns;
	struct auc_tariff_class *classes;
	struct auc_tariff_run *runs;
};

const char *auc_tariff_word(enum auc_tariff_kind kind); /* "none", "published", "flat", "learned" */

/* Frees T; NULL is allowed. */
void auc_tariff_free(struct auc_tariff *t);
/* NULL: no memory. */
struct auc_tariff *auc_tariff_copy(const struct auc_tariff *t);
/*
 * The prices of LIST[N] (market.h), alike on servers of a class of M, as T's classes, which it has
 * none of before. At most AUC_TARIFF_RUNS runs: more are put
 * together, with their mean. AUC_ENOMEM.
 */
enum auc_code auc_tariff_set(struct auc_tariff *t, const struct auc_market *m,
			     const struct auc_given_price *list, size_t n, struct auc_err *err);
/* Gives M the prices of T, one that is not AUC_TARIFF_PUBLISHED. What no class names has the prices
 * of the nearest amount of that TRES in its partition, else none. AUC_ENOMEM. */
enum auc_code auc_tariff_give(const struct auc_tariff *t, struct auc_market *m,
			      struct auc_err *err);
/* 1 - worth / bound of the day that the guard replayed, with what it chose; NAN: it has not
 * looked. */
double auc_tariff_gap(const struct auc_tariff *t);
/* A sentence that says what was chosen and why, malloc'd. NULL: no memory. */
char *auc_tariff_why(const struct auc_tariff *t);

/* T as an event "prices" (doc/ledger.md); new reference, NULL: no memory. */
struct json_object *auc_tariff_event(const struct auc_tariff *t);
bool auc_tariff_knows(struct json_object *event);
/* *T is to be freed. AUC_ECORRUPT, AUC_ENOMEM. */
enum auc_code auc_tariff_read(struct json_object *event, struct auc_tariff **t,
			      struct auc_err *err);

#endif
