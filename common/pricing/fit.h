/*
 * fit.h - makes the next published prices (tariff.h) from past bids and the booked market:
 * forecast, fit (dual_prices.h), guard (guard.h). It works on copies, so it can run in another
 * thread.
 *
 * The forecast. The market is for sale for P slots. Bids of the last K whole periods of P slots are
 * expected again, each with weight 1 / K, whole periods later. A history shorter than a period is
 * stretched to it: if nothing came before, the bids so far are all that is expected; if older ones
 * were forgotten, they are counted as often as they fit into the period. All of that is expected
 * once more in the period after, because slots that come on sale need prices, too.
 *
 * If different jobs come than before (drift.h, for the last quarter of a period against the same
 * quarter of the periods before), the history begins where they changed. For a period after that it
 * is stretched as if older bids were forgotten, the guard does not look, and prices are fitted
 * again whatever it chose.
 *
 * If the last quarter of a period had more (or fewer) bids than the same quarter of the periods
 * before, and not by chance, that many more are expected (auc_dual_prices_rate()). No bid counts
 * for much more than others of its size (winsorize.h), neither here nor in what follows.
 *
 * The guard (guard.h) replays the bids of up to seven of the last periods in an empty market; of
 * more than two only as long as bids times periods are at most 25000 (five periods of 1000 bids),
 * because its cost grows with that. Less than two periods count as one. It looks once in a period,
 * after a quarter of one if far more or fewer bids come, and while there are few bids each time
 * that they have doubled; never sooner than AUC_FIT_COST times the processor time of its last look.
 *
 * Of a policy that sells by bounds it also looks at those of bound_levels.h (fit_levels.h), which
 * each fit learns anew from all bids.
 *
 * Its choice holds as it was replayed. Prices that are fitted again are fitted to the booked market
 * and to as many bids as come now; others to an empty market and to as many as came. If far more
 * bids come now than before, or far fewer, prices are fitted again whatever was chosen.
 */
#ifndef AUC_FIT_H
#define AUC_FIT_H

#include <stdint.h>

#include "pricing/past/bid_log.h"
#include "policy/policy.h"
#include "pricing/tariff.h"
#include "base/cancel.h"

#define AUC_FIT_BIDS_MIN 10 /* fewer teach nothing */
/* So many times what a fit, or a look of the guard, took of a processor pass until the next: half a
 * per cent each. */
#define AUC_FIT_COST 200

/* What a fit leaves to the next one, so that it goes on from there. All NULL at first. */
struct auc_fit_memory {
	const struct auc_conf *conf;
	struct auc_market *market; /* of the last fit, whose servers and types it was made for */
	bool booked;               /* it was fitted as it is booked */
	bool changed;              /* and to bids since a change alone */
	struct auc_dual_prices *dual_prices;
	/* What slots cost by it, whatever is sold by: for jobs that wait (rearrange_search.h), of a
	 * policy that rearranges; else NULL. Its reader takes it out. */
	struct auc_tariff *costs;
};
void auc_fit_forget(struct auc_fit_memory *memory);

struct auc_fit_input {
	struct auc_market *market; /* two periods from now on, as it is booked; taken over */
	const struct auc_market *unbooked; /* the same, nothing booked */
	const struct auc_market *empty;    /* of that the first period, no prices */
	const struct auc_policy *policy;
	const char *options; /* of the policy */
	const struct auc_conf *conf;
	const struct auc_price *published; /* of the policy's paper, as learned from the past */
	const struct auc_bid_log *bid_log;
	double now; /* Unix time */
	/* AUC_TARIFF_FLAT: the guard looks at these only. AUC_TARIFF_LEARNED: at all kinds. */
	enum auc_tariff_kind kind;
	const struct auc_tariff *last;   /* what such a fit found last; NULL: nothing */
	const struct auc_cancel *cancel; /* NULL: nobody stops it */
	struct auc_fit_memory *memory;   /* is brought up to date */
};

/*
 * *T is to be freed; its slot is 0. AUC_ENOENT: the past has too few bids that mean something
 * today; AUC_ESTATE: WATCH stopped it; AUC_EINVAL: the policy does not sell by prices; AUC_ENOMEM.
 */
enum auc_code auc_fit(const struct auc_fit_input *in, struct auc_tariff **t, struct auc_err *err);

/* How many of the last PERIODS the guard replays, 1 at least, if there were BIDS[0] bids in the
 * last one, BIDS[1] in the one before, and so on. */
unsigned auc_fit_days(const unsigned *bids, unsigned periods);

#endif
