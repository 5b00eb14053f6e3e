/*
 * learned.h - other prices for a scenario than its own: none, the published ones, or those that its
 * past days teach (common/pricing/dual/dual_prices.h).
 */
#ifndef SIM_LEARNED_H
#define SIM_LEARNED_H

#include <stdio.h>

#include "base/err.h"
#include "policy/policy.h"
#include "auctionsim/scenario/scenario.h"

/* A scenario of the past: the file NAME or, if there is TEXT, that, of LEN bytes and a NUL. */
struct learned_day {
	const char *name, *text;
	size_t len;
};

/*
 * Puts the prices called MODE in the place of those of S, for POLICY ("NAME[,option=value...]"),
 * one that sells; for others nothing changes. "published": those of the policy's paper, from all
 * jobs of S. "none": all 0. "learned": from the jobs of the scenarios PAST[N], days before with the
 * same servers, types and slots; the guard has the last word: each past day is replayed without
 * prices, with the published ones, and with those that the other days teach, of each form and at
 * several levels, and what was worth most in all is taken for the day. "flat": of these, those with
 * one price of each TRES. *CHOSEN then says what and why, malloc'd. Without a past "learned" are
 * prices that the day's own jobs teach as they come; there is no guard. Policies of sites learn as
 * flat_days.h says, and only from a past; those that sell by bounds as day_bounds.h says, without a
 * past as the day's own jobs come. AUC_EINVAL: no such mode, a past of another market; AUC_ENOMEM.
 * What S then learns by is freed by the next call, or by learned_forget().
 */
enum auc_code learned_prices(struct scenario *s, const char *mode, const char *policy,
			     const struct learned_day *past, unsigned n, char **chosen,
			     struct auc_err *err);
/* Frees what learned_prices() made for S, which cannot be run by learned prices any more. */
void learned_forget(struct scenario *s);
/* Writes scenario PATH with the prices that S has now, for "check" and "plot". AUC_EINVAL: they
 * changed as the day went on, or sold jobs MOVED; AUC_EIO, AUC_ENOMEM. */
enum auc_code learned_write(const char *path, const struct scenario *s, bool moved, const char *to,
			    struct auc_err *err);

#endif
