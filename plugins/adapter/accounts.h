/*
 * accounts.h - what slurmctld knows of users' accounts and QOS (slurm_load_assoc_mgr_info()), as
 * the agent last read it: the account and QOS of a job that names none, which account is part of
 * which, and how many jobs more a user may have.
 */
#ifndef AUC_ACCOUNTS_H
#define AUC_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "adapter/slurm_compat.h"
#include "auction/caps.h"
#include "base/err.h"
#include "base/named.h"
#include "input/bid.h"

struct auc_accounts;

/* A copy of MSG in a form to search. *ACCOUNTS is malloc'd; AUC_ENOMEM. */
enum auc_code auc_accounts_make(const assoc_mgr_info_msg_t *msg, struct auc_accounts **accounts,
				struct auc_err *err);
void auc_accounts_free(struct auc_accounts *accounts);

/* The account of a job of UID that names ACCOUNT (NULL, "": none, so it has the default); NULL: not
 * known. ACCOUNTS may be NULL here and below. */
const char *auc_accounts_account(const struct auc_accounts *accounts, uint32_t uid,
				 const char *account);
/* The QOS of a job of UID in ACCOUNT (NULL: in none) and PARTITION that names QOS (NULL, "": none,
 * so it has the default); NULL: not known. */
const char *auc_accounts_qos(const struct auc_accounts *accounts, uint32_t uid, const char *account,
			     const char *partition, const char *qos);
/* True if UID has associations, and none in ACCOUNT (NULL: the default) for PARTITION. */
bool auc_accounts_lacks(const struct auc_accounts *accounts, uint32_t uid, const char *account,
			const char *partition);
/*
 * True if Slurm would refuse the job of UID in ACCOUNT (NULL: in none) and PARTITION, which has
 * PARTITION_QOS of its own (NULL: none), that names QOS (NULL, "": none, so it has the default), or
 * never start it, for its QOS; WHY (SIZE bytes) says why. SUBMIT_UID submits it.
 */
bool auc_accounts_bars_qos(const struct auc_accounts *accounts, uint32_t uid, uint32_t submit_uid,
			   const char *account, const char *partition, const char *qos,
			   const char *partition_qos, char *why, size_t size);
/* True if ACCOUNT is OTHER or, where Slurm counts those too (from 23.02 on), below it. */
bool auc_accounts_within(const struct auc_accounts *accounts, const char *account,
			 const char *other);
/*
 * Who pays for BID, of UID, that names ACCOUNT (NULL, "": none): that account, then those above it,
 * upwards. No account at all: it is not known, is not UID's (then, if ACCOUNTS is known, it is the
 * bid's stranger), or a name is too long.
 */
void auc_accounts_of_bid(const struct auc_accounts *accounts, uint32_t uid, const char *account,
			 struct auc_bid *bid);
/* True if UID is a coordinator of ACCOUNT, and may change its limits and who has it. */
bool auc_accounts_coordinates(const struct auc_accounts *accounts, uint32_t uid,
			      const char *account);
/* Prints ",UID" for each user of ACCOUNT itself. */
void auc_accounts_print_members(const struct auc_accounts *accounts, const char *account,
				FILE *out);
/* True if there is ACCOUNT, or nobody knows which there are. */
bool auc_accounts_has(const struct auc_accounts *accounts, const char *account);
/* The users that have an account, in order, each once; *N of them. */
const uint32_t *auc_accounts_users(const struct auc_accounts *accounts, unsigned *n);

/*
 * How many jobs more a user may have, running and waiting, by limits that only the user's jobs
 * count against or, if SHARED, by those that others' jobs count against, too. By the limits of
 * PARTITION_QOS (NULL: it has none), of the job's QOS and of the association (Max and Grp), the
 * first that is set in this order, as in Slurm. UINT32_MAX: no limit. NAME: which limit and whose,
 * "GrpSubmitJobs of account lab"; "": none.
 */
#define AUC_LIMIT_NAME (64 + AUC_NAME_MAX)
uint32_t auc_accounts_room(const struct auc_accounts *accounts, uint32_t uid, const char *account,
			   const char *partition, const char *qos, const char *partition_qos,
			   bool shared, char name[AUC_LIMIT_NAME]);
/* The longest that a job may take, likewise. */
uint32_t auc_accounts_minutes(const struct auc_accounts *accounts, uint32_t uid,
			      const char *account, const char *partition, const char *qos,
			      const char *partition_qos, char name[AUC_LIMIT_NAME]);

/* A partition that is sold, and the QOS that it has of its own; NULL: none. */
struct auc_partition_qos {
	const char *partition, *qos;
};
/*
 * The limits on TRES, on jobs that run and on their time in all, of a job of UID in ACCOUNT (NULL:
 * the user's default) and QOS (NULL: none), in each of the N PARTITIONS: which come before which is
 * as in Slurm, by TRES. *CAPS is malloc'd; NULL: nobody has any. AUC_ENOMEM.
 */
enum auc_code auc_accounts_caps(const struct auc_accounts *accounts, uint32_t uid,
				const char *account, const struct auc_partition_qos *partitions,
				unsigned n, const char *qos, struct auc_caps **caps,
				struct auc_err *err);

#endif
