/*
 * caps.h - Slurm's limits on jobs and TRES, as far as they concern one bid: what each of its jobs
 * may take, and what may be had with what was sold before.
 */
#ifndef AUC_CAPS_H
#define AUC_CAPS_H

#include <stdbool.h>

#include "base/limits.h"
#include "base/named.h"

#define AUC_CAPS_MAX 128

enum auc_cap_kind {
	AUC_CAP_JOB,     /* what a job takes, of all its nodes together */
	AUC_CAP_NODE,    /* what a job takes of one node */
	AUC_CAP_LEAST,   /* what a job takes at least */
	AUC_CAP_MINUTES, /* what a job takes, times its minutes */
	/* Of this sale and those that are named below, together: */
	AUC_CAP_AT_ONCE, /* what they have at one time */
	AUC_CAP_AHEAD, /* what they have at one time, times the minutes of its jobs to their ends */
	AUC_CAP_TOTAL, /* what they have, times the minutes of its jobs, and what is used up */
};

struct auc_cap {
	enum auc_cap_kind kind;
	char text[AUC_NAME_MAX * 3]; /* "MaxTRESPerUser of QOS normal is gres/gpu=2" */
	/* "cpu", "mem" (MB), "node", "gpu:v100"; without a type ("gpu") all types together; and
	 * "job", of which there is one for all nodes of a gang, else one for each node */
	char tres[AUC_NAME_MAX];
	double amount;
	char partition[AUC_NAME_MAX]; /* in which it holds; "": in all */
	double lag; /* AHEAD: for so many minutes Slurm takes what has passed as still ahead */
	/* TOTAL: so much is used up; what sales have from then on (Unix time) is not in it. */
	double used, since;
	/* Which sales count: of the sales of its user, of an account or one below it, of a QOS; all
	 * that is named has to be so. */
	bool own;
	char account[AUC_NAME_MAX], qos[AUC_NAME_MAX]; /* "": of any */
	bool exactly; /* of that account, and not of one below it */
	bool there;   /* in PARTITION only */
};

struct auc_caps {
	unsigned n;
	struct auc_cap cap[AUC_CAPS_MAX];
	/* QOS that partitions have of their own: what is sold there counts as theirs, too. */
	unsigned nown;
	struct {
		char partition[AUC_NAME_MAX], qos[AUC_NAME_MAX];
	} own[AUC_BID_PARTITIONS_MAX];
};

#endif
