/* accounts-private.h - the inside of struct auc_accounts (accounts.c), for accounts_tres.c. */
#ifndef AUC_ACCOUNTS_PRIVATE_H
#define AUC_ACCOUNTS_PRIVATE_H

#include "adapter/accounts.h"

#define AUC_ACCOUNTS_DEPTH 64 /* accounts above each other: a circle ends */

/* A limit on the TRES of index TRES, the last of which is a job itself, of those that an
 * association or a QOS has. */
enum auc_tres_kind {
	AUC_TRES_JOB,
	AUC_TRES_NODE,
	AUC_TRES_MINUTES,
	AUC_TRES_USER,
	AUC_TRES_GROUP, /* those of groups, which hold for all that is below an account */
	AUC_TRES_GROUP_AHEAD,
	AUC_TRES_GROUP_TOTAL,
	AUC_TRES_LEAST, /* from here on of QOS only */
	AUC_TRES_ACCOUNT,
	AUC_TRES_KINDS
};
struct auc_tres_limit {
	enum auc_tres_kind kind;
	uint32_t tres;
	uint64_t amount;
	double used; /* GROUP_TOTAL: minutes */
};
struct auc_tres_limits {
	struct auc_tres_limit *list;
	unsigned n;
};

/* On the jobs that there are; NO_VAL and INFINITE: none. */
struct auc_account_limits {
	uint32_t max, group;
};

/* An association of a user, or of an account (UID is NO_VAL). */
struct auc_account_assoc {
	uint32_t id, parent, uid, default_qos;
	bool is_default;
	char *account, *partition;
	struct auc_account_limits limits;
	uint32_t used, minutes;
	uint32_t *qos; /* that it may have, by number; none: not known */
	unsigned nqos;
	double fairshare;
	struct auc_tres_limits tres;
};

/* What one user or one account has of a QOS. */
struct auc_account_use {
	uint32_t uid;
	char *account;
	uint32_t used;
};

struct auc_account_qos {
	uint32_t id;
	char *name;
	struct auc_account_limits limits; /* MAX: of a user */
	uint32_t max_account;
	uint32_t used, minutes;
	bool over_partition; /* it goes before a partition's own */
	bool needs_reservation;
	double threshold; /* the fairshare without which Slurm holds its jobs; < 0: none */
	struct auc_account_use *uses; /* of users, then of accounts */
	unsigned nusers, nuses;
	struct auc_tres_limits tres;
};

/* UID may change what ACCOUNT allows. */
struct auc_account_coordinator {
	uint32_t uid;
	char *account;
};

struct auc_accounts {
	struct auc_account_assoc *assocs; /* in order of uid */
	unsigned nassocs;
	struct auc_account_qos *qos;
	unsigned nqos;
	uint32_t *uids;
	unsigned nuids;
	uint32_t *operators; /* users that Slurm gives any QOS */
	unsigned noperators;
	struct auc_account_coordinator *coordinators;
	unsigned ncoordinators;
	char **tres; /* the names of all, as Slurm has them, and "job" */
	unsigned ntres;
	bool limits_tres; /* some association or QOS does */
	double read_at;   /* Unix time */
};

/* accounts_tres.c: copies of what is limited of TRES; false: no memory. */
bool auc_accounts_copy_names(struct auc_accounts *a, const assoc_mgr_info_msg_t *msg);
bool auc_accounts_copy_assoc_tres(struct auc_accounts *a, struct auc_account_assoc *to,
				  const slurmdb_assoc_rec_t *from);
bool auc_accounts_copy_qos_tres(struct auc_accounts *a, struct auc_account_qos *to,
				const slurmdb_qos_rec_t *from);
void auc_accounts_free_tres(struct auc_accounts *a);

/* accounts.c: of UID in ACCOUNT (NULL: its default), that for PARTITION before that for all; one by
 * its number, and all its parents by theirs; the QOS of a job and that of its partition, as their
 * limits go before each other. NULL: there is none. */
const struct auc_account_assoc *auc_accounts_assoc_of(const struct auc_accounts *a, uint32_t uid,
						      const char *account, const char *partition);
const struct auc_account_assoc *auc_accounts_assoc_by_id(const struct auc_accounts *a, uint32_t id);
void auc_accounts_in_order(const struct auc_accounts *a, const char *qos, const char *partition_qos,
			   const struct auc_account_qos *found[2]);

#endif
