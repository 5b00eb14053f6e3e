/* bid_gang.h - the part of a bid that is a gang's: as text, and against a market. */
#ifndef AUC_BID_GANG_H
#define AUC_BID_GANG_H

#include <stdio.h>

#include "input/bid.h"
#include "market/market.h"

/* Prints " gang=... within=..." and so on of G, which has shapes. */
void auc_bid_gang_print(FILE *out, const struct auc_bid_gang *g);
/* Reads the word KEY=VALUE as auc_bid_gang_print() writes it, such as gang=..., into G. AUC_EINVAL.
 */
enum auc_code auc_bid_gang_word(const char *key, const char *value, struct auc_bid_gang *g,
				struct auc_err *err);
/* "2:6h,4:3.3h": running times by number of nodes, each number once. AUC_EINVAL. */
enum auc_code auc_bid_gang_speedup(const char *text, double slot_seconds, struct auc_bid_gang *g,
				   const char *what, struct auc_err *err);
/* Index of TRES in G, added if it is not there; -1: G has AUC_BID_TRES_MAX of them. */
int auc_bid_gang_tres(struct auc_bid_gang *g, const char *tres);
/*
 * Gives JOB, whose arrival and uploads are known, the shapes of G in M: one for each type of M
 * where G names none; of whole servers, one for each kind of server that is large enough.
 * AUC_ENOENT: no server of M has some TRES of G; AUC_EINVAL: more than AUC_SHAPES_MAX.
 */
enum auc_code auc_bid_gang_resolve(const struct auc_market *m, const struct auc_bid_gang *g,
				   struct auc_job *job, struct auc_err *err);
/* The features that TEXT names, as Slurm's --constraint does, into G. AUC_EINVAL: it says more than
 * that servers have all of some, or one of some. */
enum auc_code auc_bid_gang_features(const char *text, struct auc_bid_gang *g, const char *what,
				    struct auc_err *err);
/* True if G may be on a server with FEATURES ("a,b"). */
bool auc_bid_gang_wants(const struct auc_bid_gang *g, const char *features);
/* What a gang's utility U becomes by its end, for a job that arrives in slot ARRIVAL. */
void auc_bid_gang_end(const struct auc_bid_gang *g, double slot_seconds, int64_t arrival,
		      struct auc_utility *u);
/* Raises JOB's uploads by what G says of nodes and of the earliest start. */
void auc_bid_gang_confine(const struct auc_market *m, const struct auc_bid_gang *g,
			  struct auc_job *job);

#endif
