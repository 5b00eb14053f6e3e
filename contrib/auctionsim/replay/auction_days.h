/*
 * auction_days.h - one policy that sells, day after day: what is sold of a day is still there on
 * the next, and what days bid teaches prices.
 */
#ifndef SIM_AUCTION_DAYS_H
#define SIM_AUCTION_DAYS_H

#include "auctionsim/run/learned.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

#define AUCTION_PAST_MAX 32

/* Zeroed, but for what the caller sets. */
struct auction_days {
	const char *policy; /* set by the caller, with the next three */
	const char *prices; /* as of run --prices; NULL: those of the scenario */
	uint64_t day_slots; /* after which the next day begins */
	unsigned history;   /* days that prices are learned from, at most AUCTION_PAST_MAX */
	unsigned nsold;     /* what is sold already of the day that comes */
	struct scenario_entry *sold;
	unsigned day; /* that was sold last, from 1 */
	unsigned npast;
	struct learned_day past[AUCTION_PAST_MAX]; /* the days before, the oldest first */
	char *chosen; /* what was chosen for the last day and why, or NULL */
};

/*
 * Sells the day whose scenario is TEXT, of LEN bytes with a NUL after them, by the prices of the
 * days before. *S is that scenario, *RESULT, which is zeroed by the caller, what became of it; both
 * are the caller's to free, also after an error. AUC_EINVAL: the policy cannot take it; AUC_ENOMEM.
 */
enum auc_code auction_day(struct auction_days *a, const char *text, size_t len,
			  replay_progress progress, void *arg, struct scenario **s,
			  struct result *result, struct auc_err *err);
void auction_days_clear(struct auction_days *a);

#endif
