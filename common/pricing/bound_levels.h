/*
 * bound_levels.h - what days of the past teach a policy that sells by bounds (oasis): prices that
 * stand all day, of each TRES on the servers of either role its learned L (oasis_bounds.h), U the
 * same; and whether they are better than what is not taught.
 *
 * What a few days say of levels is mostly luck: with 50 jobs no level within a factor of four is
 * better than another by 1 % on the mean of twelve days, and each day has another best one. So L is
 * taken as it is taught unless replays are clearly against it. A higher U was never clearly better.
 *
 * The controller (fit.h) also tries fitted prices by class and takes them if they are clearly
 * better. The simulator does not: a day's fits take minutes there, and on two days in the paper's
 * setting (auctionsim gen oasis, 100 jobs of seed 801, 200 of 802) eight kinds of them were worth 3
 * to 12 per cent less.
 */
#ifndef AUC_BOUND_LEVELS_H
#define AUC_BOUND_LEVELS_H

#include "pricing/past/oasis_bounds.h"
#include "base/err.h"
#include "market/market.h"
#include "market/price.h"

/* Those that are worth the same are taken in this order. */
enum auc_level_kind {
	AUC_LEVEL_NONE,      /* everything is free */
	AUC_LEVEL_PUBLISHED, /* as REPLAY has them */
	AUC_LEVEL_OF_DAY,    /* bounds that the day's own jobs teach as they come */
	AUC_LEVEL_TAUGHT,
	AUC_LEVEL_KINDS
};

/* NDAYS >= 1 days that follow each other. */
struct auc_bound_days {
	unsigned ndays;
	unsigned *first;          /* by day: of CLAIMS; and behind the last */
	auc_slot *slots;          /* by day: how long it is */
	struct auc_claim *claims; /* by day; arrivals since the day began, moved meanwhile */
};

struct auc_bound_levels {
	enum auc_level_kind kind; /* what to sell by */
	double factor;            /* of what is taught: how much of L */
	/* What the past is worth with each kind, the best factor of those that are taught; with one
	 * that is behind, less. */
	double worth[AUC_LEVEL_KINDS];
	/* A day: by how much those that are taught are better than the best of the others, and what
	 * that must exceed. */
	double gain, needed;
};

/* WORTH: what day DAY is worth with prices of KIND, which are PRICE if they are taught. */
typedef enum auc_code auc_bound_levels_replay(void *arg, enum auc_level_kind kind,
					      const struct auc_price *price, unsigned day,
					      double *worth, struct auc_err *err);

/*
 * Compares the first OTHERS kinds, and those that are taught at several levels: each day is
 * replayed with what the others teach, a single one with what every other of its jobs teaches,
 * counted twice. Another level is taken if it is worth two percent more; kinds that are not
 * taught if they are worth that much more, or, of a single day, unless they are worth five percent
 * less. M: the servers. What REPLAY (called with ARG) says that is not AUC_OK ends it;
 * AUC_ENOMEM.
 */
enum auc_code auc_bound_levels_choose(const struct auc_market *m, const struct auc_bound_days *past,
				      unsigned others, auc_bound_levels_replay *replay, void *arg,
				      struct auc_bound_levels *found, struct auc_err *err);
/* True if something else, with which the NDAYS days are worth WORTH, is to be taken instead of
 * FOUND: two percent more, of a single day five. */
bool auc_bound_levels_outdone(const struct auc_bound_levels *found, unsigned ndays, double worth);
/* What all days teach, times FACTOR. AUC_ENOMEM. */
enum auc_code auc_bound_levels_teach(const struct auc_market *m, const struct auc_bound_days *past,
				     double factor, struct auc_price *price, struct auc_err *err);

#endif
