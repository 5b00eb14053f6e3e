/*
 * scenario.h - a market and the jobs that arrive in it, as an auction-scenario/1 file says
 * (doc/formats.md). The reader knows every key of the format, also those that a policy does not
 * look at, and refuses whatever is not one.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "market/market.h"
#include "market/utility.h"

struct json_object;
struct teacher;

#define SCENARIO_FORMAT     "auction-scenario/1"
#define SCENARIO_ANY_SERVER UINT32_MAX /* server "*": the transfer budget */

/* A bundle of TRES; names are unique among the scenario's types and the job's own. */
struct scenario_type {
	char name[AUC_NAME_MAX];
	unsigned ntres;
	struct auc_named *tres;
	double bandwidth_mbps; /* 0: not given */
};

struct scenario_server {
	char name[AUC_NAME_MAX];
	bool cloud;
	unsigned roles;
	char leaf[AUC_NAME_MAX]; /* its switch; "": none */
	unsigned ncapacity, ncost;
	struct auc_named *capacity;
	struct auc_named *cost; /* of a unit and hour: nothing is sold below, */
	bool hourly;            /* times the factor of the hour of the day */
	double cost_hours[AUC_DAY_HOURS];
};

/* An amount at a server, or a time with a type: index and value. */
struct scenario_pair {
	unsigned index;
	double value;
};

/* One way in which a gang may run. */
struct scenario_shape {
	unsigned nper_node;
	struct auc_named *per_node; /* TRES that each node gives */
	uint64_t nodes;
	double seconds;
};

struct scenario_job {
	char *id;
	unsigned user; /* user_share.h: the same for the same user of all scenarios */
	uint64_t arrival;
	bool has_utility;
	struct auc_utility utility;
	uint64_t epochs, chunks, minibatches; /* 0: not given */
	double gradient_mb;                   /* < 0: not given */
	/* The types it may use; index: the scenario's types, then the job's own. */
	unsigned nworker_seconds, nps_seconds;
	struct scenario_pair *worker_seconds, *ps_seconds;
	bool has_worker_seconds, has_ps_seconds;
	unsigned nupload; /* slots, by server */
	struct scenario_pair *upload;
	double upload_default;
	unsigned nworker_types, nps_types; /* its own */
	struct scenario_type *worker_types, *ps_types;
	unsigned ndata; /* chunks, by server */
	struct scenario_pair *data;
	double chunk_mb;
	double exchange_mb_per_slot, chunks_per_slot; /* < 0: not given */
	uint64_t workers, ps;                         /* 0: not given */
	double compute_seconds_per_epoch, budget;     /* < 0: not given */
	bool guaranteed;
	unsigned ngang; /* shapes of a gang; 0: it is none, else it has no work, times or types */
	struct scenario_shape *gang;
	bool within_switch;
	unsigned purse;   /* 1 + index of its user's budget; 0: no limit */
	double true_time; /* what it really takes, as a factor of what it says */
	double time_max;  /* what it takes at most, likewise; 0: its user does not say */
	uint64_t stands;  /* slots for which it stands if it is refused */
	double share;     /* not of the file: of its weight in a past */
};

/* What is sold already, or what it costs: from slot FROM to slot TO. */
struct scenario_entry {
	unsigned server; /* or SCENARIO_ANY_SERVER */
	char tres[AUC_NAME_MAX];
	uint64_t from, to;
	double amount; /* used, or price */
};

enum scenario_prices {
	SCENARIO_PRICES_OFFLINE, /* no "prices": estimated from all jobs of the scenario */
	SCENARIO_PRICES_GIVEN,
	SCENARIO_PRICES_ETA,
	SCENARIO_PRICES_BOUNDS,
	SCENARIO_PRICES_LEARNED,
	SCENARIO_PRICES_TAUGHT, /* not of the file: those of scenario.teacher */
};

/* Amounts by TRES. */
struct scenario_amounts {
	unsigned n;
	struct auc_named *list;
};

/* What happens to a job that is not done at the end of its plan. */
enum scenario_overrun {
	SCENARIO_OVERRUN_EXTEND, /* it goes on where it is while nobody else has bought that */
	SCENARIO_OVERRUN_KILL,
	SCENARIO_OVERRUN_MOVE, /* as EXTEND, and where somebody has it goes on elsewhere */
};
#define SCENARIO_OVERRUN_AHEAD 12 /* slots in which it looks for that */
/* "extend", "kill" or "move"; and the reverse, false: none of them. */
const char *scenario_overrun_word(enum scenario_overrun overrun);
bool scenario_overrun_find(const char *word, enum scenario_overrun *overrun);

/* For how long jobs are planned, as a factor of what they say. */
enum scenario_margin {
	SCENARIO_MARGIN_LEARNED, /* a quantile of what jobs before turned out to take */
	SCENARIO_MARGIN_FIXED,
};

/* Times that are wrong: what is planned for them. It is only looked at where a job has a true
 * time. */
struct scenario_times {
	enum scenario_overrun overrun;
	enum scenario_margin margin;
	double factor;   /* of a fixed margin */
	double quantile; /* of a learned one */
};
#define SCENARIO_QUANTILE 0.95

/* What a job of the past turned out to take, as a factor of what it said. */
struct scenario_past_time {
	unsigned user;
	double factor;
};

/* L and U of one role. */
struct scenario_bounds {
	struct scenario_amounts lower, upper;
};

struct scenario {
	char *name;
	uint64_t slots;
	double slot_seconds;
	double transfer_mb_per_slot; /* < 0: unlimited */
	unsigned nworker_types, nps_types, nservers, njobs;
	struct scenario_type *worker_types, *ps_types;
	struct scenario_server *servers;
	struct scenario_job *jobs;
	double hour;       /* of the day, at which slot 1 begins */
	unsigned nbudgets; /* credits, by user */
	struct auc_named *budgets;
	unsigned nstate;
	struct scenario_entry *state;
	enum scenario_prices prices;
	unsigned nvalues; /* mode given */
	struct scenario_entry *values;
	struct scenario_amounts eta;                    /* mode eta */
	struct scenario_bounds both, worker, ps_bounds; /* mode bounds */
	char *file;                                     /* for errors */
	struct teacher *teacher;                        /* of who runs it (learned.h); NULL: none */
	bool has_true_times;                            /* some job has one */
	bool has_stands;                                /* some job stands */
	bool has_costs;                                 /* some server has one */
	struct scenario_times times;                    /* not of the file */
	unsigned npast_times; /* not of the file: of the jobs of days before */
	struct scenario_past_time *past_times;
	bool stays; /* not of the file: jobs that wait are not placed anew (rearrange_search.h) */
};

/*
 * Reads PATH ("-": standard input). Errors name the file, the JSON path, what was expected and what
 * was found. AUC_EINVAL, AUC_EIO, AUC_ENOMEM; *S is NULL then. Free with scenario_free().
 */
enum auc_code scenario_load(const char *path, struct scenario **s, struct auc_err *err);
/* The same from LEN bytes of TEXT with a NUL after them; NAME stands for the file. */
enum auc_code scenario_parse(const char *text, size_t len, const char *name, struct scenario **s,
			     struct auc_err *err);
/* The same from ROOT, a document of NAME. */
enum auc_code scenario_read(struct json_object *root, const char *name, struct scenario **s,
			    struct auc_err *err);
void scenario_free(struct scenario *s);

/* The name of a type a job may use, by its index. */
const char *scenario_worker_type_name(const struct scenario *s, const struct scenario_job *j,
				      unsigned index);
const char *scenario_ps_type_name(const struct scenario *s, const struct scenario_job *j,
				  unsigned index);
/* Has it jobs, and all of them are gangs? */
bool scenario_gangs_only(const struct scenario *s);
/*
 * For a policy that does not take them: AUC_EINVAL names POLICY and the first job that is a gang,
 * or the budgets if there are any.
 */
enum auc_code scenario_without_gangs(const struct scenario *s, const char *policy,
				     struct auc_err *err);
enum auc_code scenario_without_budgets(const struct scenario *s, const char *policy,
				       struct auc_err *err);
/* The same, of true times and of bids that stand. */
enum auc_code scenario_without_true_times(const struct scenario *s, const char *policy,
					  struct auc_err *err);
enum auc_code scenario_without_stands(const struct scenario *s, const char *policy,
				      struct auc_err *err);
/* Slots until the job's data are at SERVER, as written. */
double scenario_upload(const struct scenario_job *j, unsigned server);

#endif
