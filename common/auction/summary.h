/*
 * summary.h - prices in short, which are for all eyes: by partition and kind of GPU, over time. It
 * is made of a status (doc/status.md), so that a command with the whole status and a user who only
 * gets this see the same. It says nothing that asking for quotes would not tell, and nothing of
 * sales, users, money or hidden partitions.
 */
#ifndef AUC_SUMMARY_H
#define AUC_SUMMARY_H

struct json_object;

#define AUC_SUMMARY_FORMAT  "auction-prices/1"
#define AUC_SUMMARY_TIMES   32 /* spans of time at most */
#define AUC_SUMMARY_CLASSES 64 /* of nodes at most; what is more is left out */

/*
 * The summary of STATUS: format, time, ready, reason, warning, policy, prices, slot_seconds, first,
 * last, and classes[]: partition, tres, nodes (those for sale), units (of TRES on them), times[]:
 * [from, to, free, low, mean, high], slots from first to last; FREE is the mean of the units that
 * are not sold, the others prices in credits per unit and slot. The first two slots stand alone.
 * New reference; NULL: no memory.
 */
struct json_object *auc_summary_of(struct json_object *status);

#endif
