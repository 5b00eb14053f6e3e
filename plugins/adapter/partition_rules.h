/*
 * partition_rules.h - what Slurm says of the partitions that are sold: State, who may use them, how
 * long and how wide a job may be. The agent reads it (slurm_load_partitions()) and publishes it
 * through site.h; job_submit looks at it in memory.
 *
 * A rule of Slurm holds for a sale as it holds for any job: what Slurm would refuse, or never
 * start, is not sold.
 */
#ifndef AUC_PARTITION_RULES_H
#define AUC_PARTITION_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "adapter/accounts.h"
#include "adapter/groups.h"
#include "adapter/slurm_compat.h"
#include "auction/auction.h"
#include "base/err.h"
#include "input/conf.h"

/* What Slurm gives a job that does not say it itself. 0: nothing. */
struct auc_job_defaults {
	uint64_t mem; /* MB of a node, or with Slurm's bit of pn_min_memory of a CPU */
	uint64_t cpus_per_gpu, mem_per_gpu;
	uint32_t minutes;
};

/* One partition. Lists are names with commas, as Slurm gives them; NULL: everybody. */
struct auc_rule {
	char name[AUC_NAME_MAX];
	bool submits; /* State=UP or DOWN: Slurm takes new jobs */
	bool starts;  /* State=UP or DRAIN: Slurm starts jobs */
	bool hidden, root_only, no_root;
	char *accounts, *no_accounts, *qos, *no_qos, *groups, *hosts;
	char *own_qos;      /* whose limits its jobs have; NULL: none */
	const char *unsold; /* why no job of the auction could ever run there; NULL: one could */
	bool whole_nodes;   /* Slurm gives each job all of its nodes: only such gangs are sold */
	struct auc_partition_limit limit; /* what a plan may have there */
	struct auc_job_defaults defaults; /* its own, of those that it has */
	uint32_t cpus_per_node;           /* UINT32_MAX: all */
	uint32_t *gids;                   /* of GROUPS, in order */
	unsigned ngids;
	bool gids_known;
};

struct auc_rules {
	unsigned n;
	struct auc_rule list[];
};

/* The rules of those of CONF's partitions that Slurm has. *RULES is malloc'd; AUC_ENOMEM. */
enum auc_code auc_rules_make(const struct auc_conf *conf, const partition_info_msg_t *partitions,
			     struct auc_rules **rules, struct auc_err *err);
void auc_rules_free(struct auc_rules *rules);
/* NULL: there is none of that name. RULES may be NULL. */
const struct auc_rule *auc_rules_find(const struct auc_rules *rules, const char *name);
/* The defaults of jobs in PARTITION: its own, else the cluster's. Under slurmctld's lock of its
 * configuration. RULES may be NULL. */
void auc_rules_defaults(const struct auc_rules *rules, const char *partition,
			struct auc_job_defaults *d);
/* "UP", "DOWN", "DRAIN", "INACTIVE". */
const char *auc_rule_state(const struct auc_rule *r);
/* True if A and B say the same of the same partitions, whatever is known of groups. */
bool auc_rules_same(const struct auc_rules *a, const struct auc_rules *b);

/* Who asks. Strings are borrowed and may be NULL. */
struct auc_asker {
	uint32_t uid;                        /* whose job it is to be */
	uint32_t submit_uid;                 /* who submits it */
	const char *account;                 /* as the submission says; NULL: the user's default */
	const char *qos;                     /* likewise */
	const char *host;                    /* where it was submitted */
	const struct auc_accounts *accounts; /* what is known of accounts; NULL: nothing */
	const struct auc_groups *groups;     /* of users' groups; NULL: nothing */
};

enum auc_verdict {
	AUC_ALLOWED,
	AUC_BARRED,
	AUC_UNDECIDED, /* the user's groups are not known yet */
};

/* Whether WHO may buy in R's partition now. If not, WHY says which rule is against it, and begins
 * with the partition's name. */
enum auc_verdict auc_rule_allows(const struct auc_rule *r, const struct auc_asker *who, char *why,
				 size_t size);

/*
 * Confines BID to those of its partitions (of RULES', if it names none) that WHO may use. REASONS
 * (SIZE bytes) gets why not the others, "; " between them, "" if there are no others.
 * AUC_EFULL: none is left, and ERR says why; AUC_EAGAIN: it cannot be told yet, and ERR says so.
 */
enum auc_code auc_rules_confine(const struct auc_rules *rules, const struct auc_asker *who,
				struct auc_bid *bid, char *reasons, size_t size,
				struct auc_err *err);

#endif
