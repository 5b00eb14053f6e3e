/*
 * bid.h - one bid: what a job is worth, how much work it is, and where it may run. Names only; a
 * market resolves them (bid_resolve.h).
 *
 * Text form, used between the SPANK plugin, the environment (SLURM_AUCTION_BID) and job_submit:
 * words key=value separated by white space or ';', the keys being those of auc_bid_keys[] below,
 * e.g. bid=sigmoid:300,0.02 epochs=30 chunks=27 minibatches=58 gradient-mb=97.4
 *   worker-time=v100=1.9s,t4=3.4s ps-time=ps.m=50ms upload=edge1=2,cloud=12h
 * data-mb=5000 data=edge1=10,edge2=17
 * A time in upload= without a name is for every server not named ("upload=cloud=12h,1"). "quote" is
 * a flag: quote, quote=yes or quote=no. A text that has no "bid=" word but whose first word is a
 * utility is that utility ("300 epochs=20").
 */
#ifndef AUC_BID_H
#define AUC_BID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/named.h"
#include "market/utility.h"

/* One way in which a gang may run: NODES nodes each give AMOUNT for SECONDS. */
struct auc_bid_shape {
	uint64_t nodes;
	double seconds;
	double amount[AUC_BID_TRES_MAX]; /* by the gang's TRES */
};

/*
 * What a bid says of a job that is described by Slurm's own options and not by workers and PSs
 * (policies.md calls it a gang). A TRES without a type ("gpu") stands for every type there is.
 */
struct auc_bid_gang {
	bool open;        /* no work is named: it is a gang if its job has a shape of its own */
	unsigned nshapes; /* 0: it is none, or not known yet */
	struct auc_bid_shape shapes[AUC_SHAPES_MAX];
	unsigned ntres;
	char tres[AUC_BID_TRES_MAX][AUC_NAME_MAX];
	bool within_switch; /* all of its nodes are on one switch */
	bool whole;         /* what its nodes have is all its own: the shapes are the least of it */
	/* What its nodes are to have: "a&b", all of them, or "a|b", one of them; "": anything. */
	char features[AUC_FEATURES_MAX];
	/* Nodes that it is confined to or, with EXCEPT, kept from; 0: it may use any. */
	unsigned nplaces;
	char places[AUC_BID_PLACES_MAX][AUC_NAME_MAX];
	bool except;
	/* It runs nothing itself: whole nodes for a time, in which its owner and those that
	 * BLOCK_USERS names ("2002,@ml": uids, and accounts behind an @) run what they like. */
	bool block;
	char block_users[AUC_BLOCK_USERS_MAX];
	double begin; /* Unix time before which it does not start; 0: at once */
	double end;   /* Unix time after which its result is worth nothing; 0: no such */
	double now;   /* the same for this decision only, in no text: somebody waits for it; 0 */
	/* What its user says beside Slurm's options: running times in seconds by number of nodes
	 * (as text), and by type of GPU. */
	unsigned nspeedup, ngpu_time;
	struct auc_named speedup[AUC_BID_TYPES_MAX], gpu_time[AUC_BID_TYPES_MAX];
};

struct auc_caps; /* auction/caps.h */

struct auc_bid {
	struct auc_utility utility;
	uint64_t epochs, chunks, minibatches; /* E, D, M: 1..AUC_WORK_MAX */
	double gradient_mb;                   /* m_j, >= 0 */
	unsigned nworkers; /* worker types it may use: seconds per mini-batch, > 0 */
	struct auc_named worker_seconds[AUC_BID_TYPES_MAX];
	unsigned nps; /* PS types it may use: seconds per parameter update, >= 0 */
	struct auc_named ps_seconds[AUC_BID_TYPES_MAX];
	/* Delta_js by server or site name, slots: may be fractional, used rounded up. */
	unsigned nupload;
	struct auc_named upload[AUC_BID_UPLOAD_MAX];
	/* Slots, for servers not named; < 0: not given, what the server's partition says. */
	double upload_default;
	/* Size of the data: what is above is not given follows from it where the site's bandwidth
	 * is known. 0: not given. */
	double data_mb;
	/* Where its chunks lie, by server or by the name of a group of one server, in the order
	 * in which they are numbered: whole numbers >= 1 that sum to chunks; 0: it does not say. */
	unsigned ndata;
	struct auc_named data[AUC_BID_DATA_MAX];
	/* Groups of servers it is confined to; 0: may use any. Not part of the text: sbatch's own
	 * --partition says it. */
	unsigned npartitions;
	char partitions[AUC_BID_PARTITIONS_MAX][AUC_NAME_MAX];
	bool filtered; /* they are what rules leave it, not its user's words */
	/* The Slurm account that pays, then those above it, upwards; 0: not known. */
	unsigned naccounts;
	char accounts[AUC_BID_ACCOUNTS_MAX][AUC_NAME_MAX];
	/* The one that its user named, as far as it fits, if it is not known as one of his; else
	 * "". In no text. */
	char stranger[AUC_NAME_MAX];
	/* Where the site has limits on TRES its QOS, else "": in texts that are kept only, and
	 * ACCOUNTS with it. And the limits, borrowed and in no text; NULL: none. */
	char qos[AUC_NAME_MAX];
	const struct auc_caps *caps;
	/* What its user pays at most, in credits; < 0: not given. Posted prices: compared with an
	 * offer, and in no text that is kept: auc_bid_print() leaves it out. Else CAPPED: its value
	 * is that, whenever it is done, and of what costs no more the soonest is bought. */
	double max_price;
	bool capped;     /* of no text either */
	uint64_t accept; /* the offer that its user takes (offer_standing.h), in no text that is
			    kept either; 0: none */
	unsigned ask;    /* enum auc_ask: no bid, but a question; nothing else of it counts then */
	bool quote;      /* only say what it would cost; likewise in no text */
	bool kept;       /* its text has words that only texts have that are kept, but block= */
	bool dry_run;    /* of no text: its submission is known not to become a job */
	/* At the end of its plan it buys more, slot by slot, or ends; neither: as auction.conf
	 * says. */
	bool extend, kill;
	/* It may be started again, elsewhere: it moves where it is late and its own slots are sold.
	 * In texts that are kept only: sbatch's own --requeue says it. */
	bool requeue;
	/* Its script handles the signal of a notice before the end. In texts that are kept only. */
	bool notice;
	/* How long it takes at most, where what is stated is as a rule: in seconds, or, as soon as
	 * it is known how long that is, as a factor of it. 0: not given. */
	double time_max, most;
	/* For how many times what is stated its plan is made; 0: as stated. In texts that are kept
	 * only. */
	double planned;
	char profile[AUC_NAME_MAX]; /* the model that it was filled from, of texts that are kept, or
				       "" */
	double stands; /* seconds for which it stays if it is refused; 0: it does not */
	/* Unix time from which on its value counts, before its arrival: of a bid that has stood;
	 * 0: its arrival. In texts that are kept only. */
	double since;
	/* It is that of a task of the array ARRAY (its job's number): likewise. 0: of none. */
	uint32_t array;
	char model[AUC_NAME_MAX]; /* profile it was filled from, or "" */
	struct auc_bid_gang gang;
};

#define AUC_CAP_SLACK                                                                              \
	4e-7 /* credits by which the value of a bid that is capped is above its limit */

/* What --quote=WORD asks instead of the price of a bid: how much money is left, why the last bid
 * was refused, or what the public may know of prices, and of past ones. */
enum auc_ask { AUC_ASK_NOTHING, AUC_ASK_BALANCE, AUC_ASK_WHY, AUC_ASK_PRICES, AUC_ASK_HISTORY };

struct auc_conf;

/* One key of the text form, which is also one sbatch option (--key), one environment variable and
 * one manual line. */
struct auc_bid_key {
	const char *key;  /* "worker-time" */
	const char *env;  /* "SLURM_AUCTION_WORKER_TIME" */
	const char *arg;  /* "TYPE=TIME,..."; NULL: a flag */
	const char *help; /* one line for sbatch --help */
};
extern const struct auc_bid_key auc_bid_keys[];
extern const unsigned auc_bid_nkeys;
/*
 * Texts that are kept may have more keys, which are no options: gang=SHAPE|SHAPE|..., a SHAPE being
 * NODES:SECONDS:TRES=AMOUNT,...; within=switch; whole=yes;
 * features=NAME&NAME or NAME|NAME; only=NODE,... or except=NODE,...; begin=TIME,
 * end=TIME. What they say is made of the job's own options (adapter/desc_gang.h). And since=TIME,
 * array=JOB, planned=FACTOR, profile=NAME, qos=NAME and accounts=NAME,....
 * Bids of users have none. block=yes,UID,...,@ACCOUNT,... is no option either, but of users, too:
 * sbid block says it.
 */
/* True if the value of key KEY (its index) is for its user and the administrators only. */
bool auc_bid_key_is_secret(unsigned key);

/*
 * Checks the value of one key by itself (what a SPANK option callback can do at once). The error
 * reads
 * "--KEY: 'VALUE' ..." or "--KEY: PART: 'PIECE' ...". CONF gives slot length, horizon, types and
 * models; NULL skips what needs it. White space and ';' are refused in every value, so that values
 * can be joined to a bid's text.
 */
enum auc_code auc_bid_check_word(const struct auc_conf *conf, const char *key, const char *value,
				 struct auc_err *err);

/*
 * Parses a whole bid. What the words leave out comes from --model's profile, then from CONF's
 * default model, then from plain defaults (epochs, chunks, minibatches: 1; gradient 0; every PS
 * type at no time; upload: the partition's). A bid without value is an error but where CONF's
 * policy prices nothing or posts its prices (then it is worth 0), and so is one for which no worker
 * type has a time, unless it names no work at all and the policy takes gangs: then it is one, if
 * the caller finds a shape for it. Unknown and repeated keys are errors. A bid that has types named
 * nowhere in CONF is an error that lists those there are. A policy that goes by where data lie asks
 * for data= and data-mb=, no other takes data=. AUC_EINVAL, AUC_ENOENT (a type or model),
 * AUC_ENOMEM; *BID is untouched then. CONF may be NULL: only what stands in the text itself is
 * checked, slots count as 300 s, and *BID must not be resolved or sold.
 */
enum auc_code auc_bid_parse(const struct auc_conf *conf, const char *text, struct auc_bid *bid,
			    struct auc_err *err);

/* What a job that says nothing is to say where CONF (NULL: not known) holds: "a job needs a bid, as
 * in sbatch --bid=VALUE ...". Static. */
const char *auc_bid_needed(const struct auc_conf *conf);

/*
 * Joins TEXT (a bid's text; NULL or "": none) and VALUES (auc_bid_nkeys of them, in the order of
 * auc_bid_keys[]; NULL: not given), where VALUES win, to one text "key=value ...". *JOINED is
 * malloc'd, "" where nothing is given. The words of TEXT are only taken apart, not checked.
 * AUC_EINVAL (TEXT is no list of words), AUC_ENOMEM.
 */
enum auc_code auc_bid_join(const char *text, const char *const *values, char **joined,
			   struct auc_err *err);

/*
 * Canonical text of BID on one line, complete (the model's name is left out: it needs no profile),
 * malloc'd; parsing it gives an equal bid, which is no quote. Times are in slots and in seconds.
 * NULL: no memory.
 */
char *auc_bid_print(const struct auc_bid *bid);

#endif
