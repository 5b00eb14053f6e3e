/*
 * guard.h - chooses the prices to sell by: the kind that would have been best on past days. The
 * controller (fit.h) and the simulator choose alike; they differ in how a day is replayed.
 *
 * Candidates. No prices; the published ones; and prices that are taught: one of each TRES at seven
 * levels, and each other form of dual_prices.h at four. A day is taught by the other days, a single
 * one by every other of its jobs, counted twice. Fits during the day take longest: they are looked
 * at last, at one level, and only where prices that are taught are better than others at all.
 *
 * Choice. Of many candidates the best-looking one is often lucky, so neighbours (the same form at
 * the next levels) count half each. The best of the taught ones must be better than the best of the
 * others by half a per cent and by half a standard error of the days' gains; by five per cent if
 * there is only one day. Prices that are fitted again are taken if they are that much better than
 * the others, unless other taught ones are that much better than they.
 */
#ifndef AUC_GUARD_H
#define AUC_GUARD_H

#include <stdbool.h>

#include "base/err.h"
#include "pricing/dual/dual_prices.h"

/* Kinds of prices; of the first two, those that are worth the same are taken in this order. */
enum auc_tariff_kind {
	AUC_TARIFF_NONE,      /* everything is free */
	AUC_TARIFF_PUBLISHED, /* those of the policy's paper, which bookings move */
	AUC_TARIFF_FLAT,      /* one for each TRES */
	AUC_TARIFF_LEARNED,   /* by class of servers, or class and slot */
	AUC_TARIFF_KINDS
};

struct auc_guard_choice {
	enum auc_tariff_kind kind;
	struct auc_price_choice prices; /* of kind flat or learned; else form AUC_PRICE_FORM_NONE */
	bool again;                     /* fitted again as the day goes on, to what is booked */
};

#define AUC_GUARD_FITS_A_DAY 30 /* prices that are fitted again are so that often in a replay */

/* Some other prices that are worth looking at before anything was compared. */
extern const struct auc_guard_choice auc_guard_usual, auc_guard_usual_flat;

/* WORTH: what day DAY is worth with the prices of CHOICE. */
typedef enum auc_code auc_guard_replay(void *arg, const struct auc_guard_choice *choice,
				       unsigned day, double *worth, struct auc_err *err);

struct auc_guard_verdict {
	struct auc_guard_choice choice;
	/* Of all days together: with the choice; with the best of each kind, neighbours counted. */
	double worth, worth_of[AUC_TARIFF_KINDS];
	/* A day, of the best that are taught, or the usual, over the best of the others: mean, its
	 * standard error (0: one day), and what the mean must exceed. */
	double gain, error, needed;
};

/*
 * Replays NDAYS >= 1 days with each candidate, of kind flat only if FLAT. What REPLAY (called with
 * ARG) says that is not AUC_OK ends it; AUC_ENOMEM.
 */
enum auc_code auc_guard_choose(unsigned ndays, bool flat, auc_guard_replay *replay, void *arg,
			       struct auc_guard_verdict *verdict, struct auc_err *err);

/*
 * SEEN jobs have come in the time in which there had been EXPECTED: true if these are so many more,
 * or fewer, that prices are to be fitted again from now on, whatever was chosen. Where CHOICE has
 * taught none, only more can matter.
 */
bool auc_guard_moved(const struct auc_guard_choice *choice, double seen, double expected);
/* What is fitted then. */
struct auc_price_choice auc_guard_again(const struct auc_guard_choice *choice);

#endif
