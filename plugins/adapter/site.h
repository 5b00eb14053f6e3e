/*
 * site.h - the one auction of this slurmctld. job_submit/auction and sched/auction share it,
 * because both are linked to the library that it is in (libslurm_auction.so).
 *
 * Whichever plugin comes first creates it, from auction.conf in the directory of slurm.conf, or
 * from the file named by SchedulerParameters=auction_conf=PATH. If that file is broken there is no
 * auction until a reconfigure finds it correct; bids and jobs for the auction's partitions are
 * refused with the reason, every other job goes on. What the auction's partitions are is then known
 * from the last good configuration. Where that is lost, too, each partition with GPUs is one.
 *
 * Bids are taken while the gate is open. sched/auction (the agent) opens it when nodes, spool and
 * Slurm's jobs agree.
 */
#ifndef AUC_SITE_H
#define AUC_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "adapter/accounts.h"
#include "adapter/granted.h"
#include "adapter/nodes.h"
#include "adapter/partition_rules.h"
#include "auction/auction.h"
#include "base/err.h"
#include "adapter/partitions.h"

/*
 * Counts a user of the site; the first one loads the configuration. BUILT is the user's
 * SLURM_VERSION_NUMBER: AUC_ESTATE if it is not ours. A broken configuration is logged and is not
 * an error. auc_site_put() undoes it and is true if that was the last user, with whom the auction
 * goes.
 */
enum auc_code auc_site_get(uint32_t built, struct auc_err *err);
bool auc_site_put(void);

/*
 * From enter to leave configuration and auction stay as they are (a shared lock). Returns NULL,
 * with the lock not held and the reason in ERR, where there is no auction.
 */
struct auc_auction *auc_site_enter(struct auc_err *err);
void auc_site_leave(void);

/* AUC_OK if the gate is open, else why bids are not taken now: AUC_EAGAIN for some seconds,
 * AUC_ESTATE. */
enum auc_code auc_site_open(struct auc_err *err);
/* Closes the gate with a REASON (PASSING: it should open in some seconds), or opens it (NULL). */
void auc_site_gate(const char *reason, bool passing);
/* As auc_patience_lasts(), for UID now. */
bool auc_site_may_ask_again(uint32_t uid);

/*
 * True if a job needs a bid for PARTITION (one name of LEN bytes): it is one of the auction's, also
 * while the configuration is broken; or nobody knows what is sold, and it has GPUs or is not known.
 */
bool auc_site_is_ours(const char *partition, size_t len);
/* Their names, "edge, cloud", into BUF, for a message. */
void auc_site_partitions(char *buf, size_t size);
/* Slurm's partitions, as the agent sees them; takes them over. */
void auc_site_set_partitions(struct auc_partitions *partitions);
/*
 * What a job that names no partition gets: true if that is one of ours, or not known. Only under
 * slurmctld's lock of its partitions, as in job_submit and job_modify.
 */
bool auc_site_default_is_ours(void);
/* Its name, "" if there is none or it is not known, into NAME of AUC_NAME_MAX bytes. */
void auc_site_default(char *name);

/*
 * Where a job for PARTITION (one name of LEN bytes, none of ours) would get: while a partition
 * takes no jobs (State=DRAIN, INACTIVE) Slurm puts those for it into its Alternate=. Only under
 * slurmctld's lock of its partitions. SOLD, of AUC_NAME_MAX bytes, gets the name of ours.
 */
enum auc_diverts {
	AUC_STAYS,           /* not in one of ours */
	AUC_DIVERTED,        /* in one of ours */
	AUC_MAY_BE_DIVERTED, /* in one of ours if the partition is shut, which is not known now */
};
enum auc_diverts auc_site_diverts(const char *partition, size_t len, char *sold);

/* True if it is known that Slurm has no PARTITION. */
bool auc_site_lacks(const char *partition);

/* Takes note of the parts of slurm.conf we use; only in init and reconfigure, where slurmctld does
 * not change them. */
void auc_site_read_slurm_conf(void);
const char *auc_site_state_dir(void); /* StateSaveLocation */
/* The path of slurm.conf, "" if it is not known, into PATH of PATH_MAX bytes. */
void auc_site_slurm_conf(char *path);

/*
 * Loads auction.conf again; AUC_OK if it is in force, AUC_EFULL if it is but a sale no longer fits,
 * else the reason, the old one staying. Does file I/O: for the agent's thread only.
 */
enum auc_code auc_site_reload(double now, struct auc_err *err);

/*
 * Keeps the configuration in force in StateSaveLocation and in SPOOL_DIR ("": no spool is open
 * yet): what is sold is known from there while auction.conf cannot be read, and a slurmctld that
 * reconfigures by starting anew goes on with it. File I/O. AUC_EIO, AUC_ESTATE.
 */
enum auc_code auc_site_keep(const char *spool_dir, struct auc_err *err);
/* The one that was kept last, to be freed; NULL: none. File I/O. */
struct auc_conf *auc_site_kept(void);

/*
 * Jobs that carry out live sales (leads and members), which their owners may not change. The agent
 * publishes them; attached says that an agent runs. AUC_PROTECT_UNKNOWN: it runs and has not seen
 * the jobs yet.
 */
enum auc_protect { AUC_PROTECT_NO, AUC_PROTECT_YES, AUC_PROTECT_UNKNOWN };
void auc_site_attach(bool attached);
bool auc_site_attached(void);
enum auc_code auc_site_protect(const uint32_t *jobs, unsigned njobs, struct auc_err *err);
enum auc_protect auc_site_protects(uint32_t job_id);
/* The sale whose members Slurm now gets from the agent: only these may be submitted as members. ""
 * ends it. */
void auc_site_expect_member(const char *sale);
bool auc_site_expects_member(const char *sale);

/*
 * Slurm's rules of the partitions (partition_rules.h), users' groups (groups.h) and accounts, as
 * the agent last read them. CHANGED is what auc_partitions_changed() said before they were
 * read, or AUC_SITE_UNSURE: no bid goes by them yet. Both take RULES, ACCOUNTS over. IS_COUNTED (ARG)
 * says which bids' jobs ACCOUNTS have; true if there are others (granted.h).
 */
#define AUC_SITE_UNSURE INT64_MIN
void auc_site_set_rules(struct auc_rules *rules, int64_t changed);
bool auc_site_set_accounts(struct auc_accounts *accounts, auc_granted_is_counted *is_counted,
			   const void *arg);
/* The groups of the rule that says GROUPS; those of a user. GIDS is copied. AUC_ENOMEM. */
enum auc_code auc_site_set_group_ids(const char *groups, const uint32_t *gids, unsigned ngids,
				     struct auc_err *err);
enum auc_code auc_site_set_user_groups(uint32_t uid, const uint32_t *gids, unsigned ngids,
				       struct auc_err *err);
/*
 * Confines BID, of the submission DESC by SUBMIT_UID, to the partitions that the rules let it use;
 * REASONS as in auc_rules_confine(); and says in it which accounts pay. AUC_EAGAIN: it cannot be
 * told yet; AUC_EFULL: to none.
 */
enum auc_code auc_site_confine(const job_desc_msg_t *desc, uint32_t submit_uid, struct auc_bid *bid,
			       char *reasons, size_t size, struct auc_err *err);
/*
 * AUC_EFULL, with the limit named, if NEED jobs more than there are would be more than MaxJobCount
 * or than the limits of DESC's user allow; or if the longest of them, of MINUTES, is too long for
 * these limits. PARTITION: of its lead. MINUTES 0: they are tasks of an array, each of which is
 * looked at later. Those of SALE ("": of none) are counted from now on. AUC_EAGAIN: it depends on
 * bids of the last seconds, which Slurm may have counted or not.
 */
enum auc_code auc_site_count_jobs(const job_desc_msg_t *desc, const char *partition, unsigned need,
				  unsigned minutes, const char *sale, struct auc_err *err);
/* As the agent last saw the nodes; all 0: not known. */
void auc_site_set_node_bounds(struct auc_node_bounds bounds);
struct auc_node_bounds auc_site_node_bounds(void);
/* A user whose groups somebody waits for; false: nobody does. */
bool auc_site_wanted_user(uint32_t *uid);
/* Calls FN with the rules and accounts there are (each may be NULL), which stay as they are
 * meanwhile. */
void auc_site_with_rules(void (*fn)(const struct auc_rules *rules,
				    const struct auc_accounts *accounts, void *arg),
			 void *arg);

/* Seconds since the Epoch. */
double auc_site_now(void);
/* Seconds of a clock that nobody sets, from some moment on. */
double auc_site_elapsed(void);

#endif
