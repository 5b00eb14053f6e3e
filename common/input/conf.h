/*
 * conf.h - auction.conf: lines of Key=Value words, '#' comments, '\' continues a line, "Include" is
 * not supported. Keys are not case sensitive; a value with white space or '#' stands in double
 * quotes. Times without a unit are seconds.
 *
 * One table (conf_keys.c) holds every key with its type, default, bounds and manual line; unknown
 * keys, repeated keys, bad values and bad references are errors "FILE:LINE: Key=value: what was
 * expected".
 *
 *   Policy=dps[,option=value...]
 *   SlotSeconds=300  Slots=288  StartMargin=2  LateStart=0  EndMargin=1  LienSeconds=10
 *   OfferTime=60
 *   ChangeNotice=30  ChangeSignal=USR1
 *   Prices=learned|flat|published|given|none  Eta=gpu:v100=25,cpu=2,...  HistoryBids=1000
 *   TransferBudget=MB
 *   Lower=gpu:v100=0.01,...  Upper=gpu:v100=1000,...  PSLower=  PSUpper=
 *   SpoolDir=/path          PublicStatus=/path  DefaultBid=...  DefaultModel=...
 *   RefundUnused=no|yes    CancelFee=SHARE[,TIME=SHARE...]
 *   Budgets=none|user|account
 *   UserLiens=32  UserQuotes=60  UserJobs=500
 *   Fence=auto|yes|no  PowerUpLead=SPAN
 *   PartitionName=edge Site=edge|cloud Roles=both|worker|ps Upload=SPAN Bandwidth=NUMBER
 *     auction partitions: their nodes are sold
 *   WorkerType=v100 TRES=cpu=4,mem=8192,gpu:v100=1 Bandwidth=1024
 *   PSType=ps.m TRES=cpu=2,mem=4096 Bandwidth=8192
 *   Model=resnet50 Epochs= Chunks= Minibatches= GradientMB= WorkerTime= PSTime=
 *
 * TRES names are Slurm's; "gres/gpu:v100" and "gpu:v100" are the same name. Only a PartitionName, a
 * WorkerType and a PSType have to be there. The words of a configuration are complete and
 * consistent when it is returned: a model and Eta name types and TRES that exist, DefaultModel a
 * model, DefaultBid is a bid.
 */
#ifndef AUC_CONF_H
#define AUC_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/named.h"

struct auc_conf_type {
	char name[AUC_NAME_MAX];
	unsigned ntres;
	struct auc_named tres[AUC_TRES_MAX];
	double bandwidth_mbps; /* b_w or b_p, > 0 */
	unsigned line;
};

/* Roles= of a partition, in the order of its words: what its nodes may host. */
enum auc_part_roles { AUC_PART_BOTH, AUC_PART_WORKER, AUC_PART_PS };

struct auc_conf_partition {
	char name[AUC_NAME_MAX];
	bool cloud;            /* Site=cloud */
	unsigned roles;        /* enum auc_part_roles */
	double bandwidth_mbps; /* at which data get to its servers; 0: not known */
	double upload_seconds; /* Delta for its servers unless the bid says otherwise */
	bool one_server; /* OneServer=yes: all its nodes together are one server of the market */
	unsigned ncost;
	struct auc_named cost[AUC_TRES_MAX]; /* of a unit and hour: nothing is sold below */
	bool hourly;
	double cost_hour[24]; /* of the day, UTC: factors of that; only if it is HOURLY */
};

/* L and U of OASiS's price function: each Lower has an Upper that is no less. */
struct auc_conf_bounds {
	unsigned nlower, nupper;
	struct auc_named lower[AUC_TRES_MAX], upper[AUC_TRES_MAX];
};

#define AUC_CANCEL_MAX 8
struct auc_cancel_step {
	double seconds, share; /* before the start; 0 to 1 */
};

struct auc_conf_model {
	char name[AUC_NAME_MAX];
	uint64_t epochs, chunks, minibatches; /* 0: not given */
	double gradient_mb;                   /* < 0: not given */
	unsigned nworkers, nps;
	struct auc_named worker_seconds[AUC_BID_TYPES_MAX];
	struct auc_named ps_seconds[AUC_BID_TYPES_MAX];
};

/* Fence=, in the order of its words: which nodes are reserved while they are sold. */
enum auc_fence { AUC_FENCE_NO, AUC_FENCE_YES, AUC_FENCE_AUTO };

/* Budgets=, in the order of its words: whose money bids spend. */
enum auc_budgets { AUC_BUDGETS_NONE, AUC_BUDGETS_USER, AUC_BUDGETS_ACCOUNT };

/* Every= and ReturnEvery=, in the order of their words: periods that begin on the hour, at
 * midnight, on a Monday or on the first, UTC. */
enum auc_every { AUC_EVERY_HOUR, AUC_EVERY_DAY, AUC_EVERY_WEEK, AUC_EVERY_MONTH };

/* Return=, in the order of its words: how what the market has earned goes back. */
enum auc_return { AUC_RETURN_NONE, AUC_RETURN_EQUAL, AUC_RETURN_SHARES };

#define AUC_REFILL_NAME_LEN (AUC_NAME_MAX + 16)
struct auc_conf_refill {
	char name[AUC_REFILL_NAME_LEN]; /* "user:1000", "account:NAME"; "user:*": any other */
	double amount;
	unsigned every; /* enum auc_every */
	bool carry;     /* what is left of the period before is kept */
};

/* A standard shape, for the board. */
struct auc_conf_shape {
	char name[AUC_NAME_MAX];
	unsigned nodes, gpus, cpus; /* the last two of each node; 0 GPUs: none */
	double mem;                 /* MB of each node; 0: not said */
	char type[AUC_NAME_MAX];    /* of its GPUs; "": any */
	double seconds;
	char partition[AUC_NAME_MAX]; /* "": any */
};

/* RefundUnused=, in the order of its words: what a job that ended early does not pay for. */
enum auc_refund { AUC_REFUND_NO, AUC_REFUND_SLOTS, AUC_REFUND_SECONDS };

/* Prices=, in the order of its words: where prices come from. */
enum auc_prices {
	AUC_PRICES_NONE,
	AUC_PRICES_GIVEN,     /* Eta, or Lower and Upper */
	AUC_PRICES_PUBLISHED, /* the policy's paper, its parameters from past bids */
	AUC_PRICES_FLAT,      /* from past bids, by class of nodes (fit.h) */
	AUC_PRICES_LEARNED,   /* by class and slot, or what of all of these the past says is best */
};

/* Margin=: for how long jobs are planned. */
enum auc_margin_how { AUC_MARGIN_NONE, AUC_MARGIN_FIXED, AUC_MARGIN_LEARNED };
struct auc_margin {
	unsigned how;
	double number; /* fixed: a factor of what is stated; learned: a quantile */
};
#define AUC_MARGIN_MOST     2.0 /* as a factor, of a learned one */
#define AUC_MARGIN_QUANTILE 0.95

struct auc_conf {
	char policy[AUC_NAME_MAX]; /* "dps" */
	char policy_options[256];  /* "variant=exact" or "" */
	double slot_seconds;
	unsigned slots;
	double start_margin, late_start, end_margin, lien_seconds;
	double offer_seconds; /* how long what a quote offers stands; 0: it does not */
	double change_notice;
	char change_signal[AUC_NAME_MAX];
	unsigned prices; /* enum auc_prices */
	unsigned neta;
	struct auc_named eta[AUC_TRES_MAX];       /* bases of the price function, >= 1 */
	struct auc_conf_bounds bounds, ps_bounds; /* the latter empty: the same */
	double transfer_mb; /* what all nodes may send each other in a slot; < 0: no limit */
	unsigned history_bids;
	char *spool_dir;     /* NULL: the adapter's default */
	char *public_status; /* NULL: none */
	char *default_bid;   /* NULL: a job without a bid is refused in an auction partition */
	char default_model[AUC_NAME_MAX];
	unsigned budgets;      /* enum auc_budgets */
	unsigned give_back;    /* enum auc_return */
	unsigned return_every; /* enum auc_every */
	unsigned fence;        /* enum auc_fence */
	double power_up_lead;  /* seconds; 0: the adapter's default */
	bool mail;             /* users are mailed of their sales, if their jobs want it */
	bool rearrange;        /* what is sold and waits may be placed anew (rearrange_search.h) */
	struct auc_margin margin;
	bool extends; /* jobs that are late buy slots at the end, if their bids do not say */
	unsigned refund_unused; /* enum auc_refund */
	/* By descending SHARE: what is kept of the payment of a job that is cancelled so long or
	 * longer before its start; the first is for 0 s. */
	unsigned ncancel;
	struct auc_cancel_step cancel[AUC_CANCEL_MAX];
	/* Of one user, 0: no limit. */
	unsigned user_liens;  /* accepted bids whose jobs were not seen yet */
	unsigned user_quotes; /* bids and quotes a minute that do not become jobs */
	unsigned user_jobs;   /* sales that are not settled */
	/* Bids that stand: seconds at most, 0: none do; how many of a user, and in all. */
	double stands_max;
	unsigned user_stands, stands;
	unsigned npartitions, nworker_types, nps_types, nmodels, nrefills, nshapes;
	struct auc_conf_partition *partitions;
	struct auc_conf_type *worker_types, *ps_types;
	struct auc_conf_model *models;
	struct auc_conf_refill *refills;
	struct auc_conf_shape *shapes;
};

/*
 * Where auction.conf is, to PATH: as OPTIONS, SchedulerParameters of slurm.conf, say after
 * auction_conf=, else beside SLURM_CONF, the path of slurm.conf. Either may be NULL.
 */
void auc_conf_path(const char *options, const char *slurm_conf, char *path, size_t size);

/* Reads PATH. *CONF is malloc'd; free with auc_conf_free(). AUC_EIO, AUC_EINVAL; *CONF is NULL
 * then. */
enum auc_code auc_conf_load(const char *path, struct auc_conf **conf, struct auc_err *err);
/* The same from LEN bytes of TEXT; NAME stands for the file in errors. */
enum auc_code auc_conf_parse(const char *text, size_t len, const char *name, struct auc_conf **conf,
			     struct auc_err *err);
void auc_conf_free(struct auc_conf *conf);

/* Look-ups by name; NULL where there is none. */
const struct auc_conf_partition *auc_conf_partition(const struct auc_conf *conf, const char *name);
const struct auc_conf_type *auc_conf_worker_type(const struct auc_conf *conf, const char *name);
const struct auc_conf_type *auc_conf_ps_type(const struct auc_conf *conf, const char *name);
const struct auc_conf_model *auc_conf_model(const struct auc_conf *conf, const char *name);
/* Of the account NAME, "user:UID" or "account:NAME", by that or as any other of its kind. */
const struct auc_conf_refill *auc_conf_refill(const struct auc_conf *conf, const char *name);
/*
 * Refill= lines of users by name become lines of their numbers, which FIND says; how many it does
 * not know, or says are root, whom nobody gives anything: *UNKNOWN is the first, of CONF's memory.
 */
unsigned auc_conf_name_users(struct auc_conf *conf, bool (*find)(const char *name, uint32_t *uid),
			     const char **unknown);

/* How long what is for sale is, in seconds. */
double auc_conf_period(const struct auc_conf *conf);
/* True if past bids make prices. */
bool auc_conf_learns(const struct auc_conf *conf);
/* True if they do so by fits. */
bool auc_conf_fits(const struct auc_conf *conf);
/* The word of PRICES. */
const char *auc_prices_word(unsigned prices);

/* The number of ChangeSignal; 0: none; -1: not one that can be. */
int auc_conf_change_signal(const struct auc_conf *conf);
/* True if SIG can announce a change: it does not end or stop a job whatever that does about it, and
 * slaunch does not need it for something else. */
bool auc_change_signal_fits(int sig);

/* Prints every value in force as a file that auc_conf_parse() reads back to an equal configuration.
 */
void auc_conf_print(const struct auc_conf *conf, FILE *out);
/*
 * Prints the table of keys, one per line, tab separated: the key its line begins with ("" where a
 * line may begin with any), key, type and range, default ("" where there is none), meaning. The
 * manual is made of it.
 */
void auc_conf_print_keys(FILE *out);

#endif
