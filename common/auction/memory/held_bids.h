/*
 * held_bids.h - bids that stand (--stands): refused, while their jobs are held, and decided again.
 * Who they are, until when, and whose turn it is. Slurm's records of the jobs have the bids
 * themselves, so this is in memory only. Bounded, in all and by user. Not thread-safe: auction.h
 * locks around it.
 *
 * Turns: each bid has at most one in a slot. All users' oldest bids come first, then their second
 * ones, and so on, each time in the order in which they were submitted.
 */
#ifndef AUC_HELD_BIDS_H
#define AUC_HELD_BIDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ledger/receipt.h"

#define AUC_HELD_MAX 2048

struct auc_held_bid {
	char id[AUC_SALE_ID_LEN];
	uint32_t uid;
	uint32_t job_id; /* 0: its job was not seen yet */
	double since;    /* Unix time from which on its value counts */
	double until;    /* and until which it stands */
	double lapses;   /* without a job it is forgotten then */
	char *text;      /* its bid */
	double max_price;
	unsigned tasks, at_once; /* of an array: as struct auc_waiting says */
	bool stays;              /* likewise */
	/* When it was last decided. */
	auc_slot slot;
	uint64_t seen; /* auc_market_frees() then */
	struct auc_payers payers;
	auc_money left; /* what they had then */
	bool changed;   /* something has changed since that is not counted by SEEN */
	char *answer;   /* the last that was said of it; NULL: nothing */
};

struct auc_held_bids;

/* NULL: no memory. */
struct auc_held_bids *auc_held_bids_create(void);
void auc_held_bids_destroy(struct auc_held_bids *h);

/* Adds a copy of BID, whose order of submission is that of SINCE, then of the calls. AUC_EFULL:
 * AUC_HELD_MAX; AUC_EEXIST: its id is known; AUC_ENOMEM. */
enum auc_code auc_held_bids_add(struct auc_held_bids *h, const struct auc_held_bid *bid,
				struct auc_err *err);
void auc_held_bids_remove(struct auc_held_bids *h, const char *id);
/* NULL: not known. Until the next addition or removal. */
struct auc_held_bid *auc_held_bids_find(struct auc_held_bids *h, const char *id);
struct auc_held_bid *auc_held_bids_find_job(struct auc_held_bids *h, uint32_t job_id);
/* By the order of submission; NULL: there are no more. */
struct auc_held_bid *auc_held_bids_at(struct auc_held_bids *h, unsigned i);
unsigned auc_held_bids_count(const struct auc_held_bids *h);
unsigned auc_held_bids_of(const struct auc_held_bids *h, uint32_t uid);
/* Forgets those without a job that lapse before NOW. */
void auc_held_bids_lapse(struct auc_held_bids *h, double now);
/* Something has changed for all of them. */
void auc_held_bids_change(struct auc_held_bids *h);
/* The next whose turn in SLOT has not been: the caller sets its slot. NULL: all had theirs. */
struct auc_held_bid *auc_held_bids_next(struct auc_held_bids *h, auc_slot slot);

#endif
