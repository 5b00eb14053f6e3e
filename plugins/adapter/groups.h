/*
 * groups.h - the groups that users are in, as far as they have been looked up: nobody may wait for
 * the system's databases with slurmctld's locks held, so a thread of the agent's looks them up
 * (sched/auction/user_groups.h) and job_submit looks here.
 */
#ifndef AUC_GROUPS_H
#define AUC_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct auc_group_user {
	uint32_t uid;
	unsigned ngids;
	uint32_t *gids; /* in order; of the groups' own */
};

struct auc_groups {
	struct auc_group_user *users; /* in order of uid */
	unsigned nusers, alloc;
};

/* UID is in GIDS (of which a copy is kept), and in no other group. AUC_ENOMEM. */
enum auc_code auc_groups_put(struct auc_groups *g, uint32_t uid, const uint32_t *gids,
			     unsigned ngids, struct auc_err *err);
/* NULL: it is not known. */
const struct auc_group_user *auc_groups_find(const struct auc_groups *g, uint32_t uid);
/* True if USER is in one of GIDS (in order). */
bool auc_groups_any(const struct auc_group_user *user, const uint32_t *gids, unsigned ngids);
void auc_groups_clear(struct auc_groups *g);

/*
 * Look-ups in the system's databases, which may take as long as they like: never with a lock held.
 * *GIDS is malloc'd, in order. AUC_ENOENT: there is no such user; AUC_ENOMEM. Groups of NAMES
 * (with commas) that there are not are left out.
 */
enum auc_code auc_groups_of_user(uint32_t uid, uint32_t **gids, unsigned *ngids,
				 struct auc_err *err);
enum auc_code auc_groups_by_name(const char *names, uint32_t **gids, unsigned *ngids,
				 struct auc_err *err);

/* The number of user NAME, as the system knows it; false: it does not. */
bool auc_user_number(const char *name, uint32_t *uid);

#endif
