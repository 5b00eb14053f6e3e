/*
 * group.h - the group of jobs of a sold plan, as one look at Slurm's queue has seen it (queue.h).
 * Pure: no Slurm, no I/O.
 */
#ifndef SLAUNCH_GROUP_H
#define SLAUNCH_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "slaunch/layout/legs.h"
#include "base/err.h"
#include "slaunch/layout/layout.h"

struct json_object;

/* A member that runs, or may still. */
struct group_member {
	char node[AUC_NAME_MAX];
	char state[16]; /* "RUNNING", or the word for what it waits for */
	char sale[AUC_SALE_ID_LEN];
	uint32_t job_id;
};

struct group {
	uint32_t lead;
	char node[AUC_NAME_MAX]; /* on which the lead runs, or "" */
	char *receipt;           /* its AdminComment */
	unsigned nmembers;
	struct group_member *members;
};

/* Jobs that are of no use any more, though they may run for a little while. */
struct group_spent {
	unsigned n;
	uint32_t *jobs;
};

void group_clear(struct group *g);
/* Adds a copy. AUC_ENOMEM. */
enum auc_code group_add(struct group *g, const struct group_member *m, struct auc_err *err);
/* The legs of its plan from Unix time NOW on. AUC_EINVAL: not an auction job, or as legs_make().
 */
enum auc_code group_legs(const struct group *g, double now, struct legs *c, struct auc_err *err);
/* The layout that is current at Unix time NOW: layout_make(). */
enum auc_code group_layout(const struct group *g, double now, struct layout *l,
			   struct auc_err *err);
/*
 * Gives the steps of L the jobs of the members that run, except those in SPENT (may be NULL), and
 * 0 where there is none; WAITING[SIZE] says what is missing.
 */
void group_fill(const struct group *g, const struct group_spent *spent, struct layout *l,
		char *waiting, size_t size);

/* As one JSON object (new reference; NULL: no memory), and back. AUC_EINVAL, AUC_ENOMEM. */
struct json_object *group_json(const struct group *g);
enum auc_code group_parse(struct json_object *o, struct group *g, struct auc_err *err);

#endif
