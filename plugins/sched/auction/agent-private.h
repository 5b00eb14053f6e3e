/*
 * agent-private.h - the inside of the agent, for the files that its thread runs: agent.c (the
 * thread and its cycle), agent_nodes.c (Slurm's nodes), look.c (Slurm's records), book.c (what the
 * ledger is told), act.c (what Slurm is asked). One cycle is: look, step each sale's machine
 * (exec.h) and book, commit, act.
 */
#ifndef AUC_AGENT_PRIVATE_H
#define AUC_AGENT_PRIVATE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sched/rpc/retry.h"
#include "auction/auction.h"
#include "sched/rpc/slurm_rpc.h"
#include "sched/rpc/look_pace.h"
#include "sched/output/status.h"
#include "sched/auction/tasks.h"

#define AUC_SOON                                                                                   \
	0.25 /* seconds until something that is about to happen; between two cycles then           \
	      */

struct auc_rpc_threads;
struct auc_fences;
struct auc_blocks;
struct auc_slurm_rules;
struct auc_power;
struct auc_settling;
struct auc_array;
struct auc_orphans;

/* Seconds from the start in which nodes may have jobs to tell of, at most. */
#define AUC_SETTLING 30.0

/* A user who has sales. */
struct auc_owner_jobs {
	uint32_t uid;
	unsigned records; /* jobs that the user had when that was last counted */
	unsigned wanted;  /* of them, the present look is at so many, */
	bool whole;       /* or at all */
};

/* A user whose jobs were not gone from a node when what was sold to another was to begin there. */
struct auc_offender {
	uint32_t uid;
	unsigned times; /* since slurmctld started; 0: none */
};

#define AUC_OFFENDERS_MAX 64

/* How far the jobs of bids that stand have been looked at. */
struct auc_stand_look {
	double next, wait; /* those that were not seen yet, not before; and between two looks */
	uint32_t uid;      /* the last user whose jobs were looked at; they come in order */
	int64_t stamp;     /* of Slurm's jobs when the round began, */
	int64_t done;      /* and the last that was ended */
};

/* The thread's own: no other looks at it. */
struct auc_agent {
	struct auc_auction *auction; /* of the site */
	bool spool_open, ready, commit_ok, changed;
	bool opened;        /* all records were seen once; bids are taken */
	bool unsaved;       /* the last commit failed */
	bool said_evidence; /* of a check that failed (check.h) */
	char dir[PATH_MAX];
	struct auc_tasks tasks;
	struct auc_exec_rules rules;
	job_info_msg_t **loaded;
	unsigned nloaded, loaded_alloc;
	bool all;         /* these are all records that Slurm has, */
	double loaded_at; /* and this is when they were asked for: auc_site_elapsed() */
	struct auc_owner_jobs *owners;
	unsigned nowners, owners_alloc;
	unsigned records; /* all of Slurm's jobs when they were last counted */
	uint64_t edition; /* of the ledger, that the tasks are like; 0: none */
	double listed_at; /* auc_site_elapsed(): what was in the ledger then is in the tasks */
	uint64_t lapsed;  /* liens, as counted by it */
	struct auc_look_pace look_pace;
	struct auc_look_pace_signs signs; /* of this cycle */
	/* No sale can be near a change, or have trouble, before that, as long as the ledger and the
	 * nodes are as in these editions: then nobody goes through all sales in each cycle. */
	double calm_until;
	uint64_t calm_edition;
	unsigned calm_nodes;
	bool calm;    /* it is so in this cycle */
	double since; /* the agent runs: auc_site_elapsed() */
	bool heard; /* all nodes have told slurmctld of their jobs since then, or are not waited for
		     */
	double back;        /* and since when they have: likewise */
	bool backfill_runs; /* Slurm's, which begins jobs; or it does not start */
	double next_nodes, next_records, next_keep, next_try;
	double wait;         /* seconds until next_try, when that was set; 0: nothing has failed */
	bool nodes_fresh;    /* nodes are known as they were after this cycle's look at records */
	double latest_nodes; /* nodes are looked at by then, */
	struct auc_stamp node_stamps[AUC_RPC_NSTAMPS]; /* and if slurmctld says something new */
	double clock; /* Unix time is ahead of auc_site_elapsed() by that; 0: not known yet */
	partition_info_msg_t *partitions; /* as Slurm last listed them; NULL: they are to be */
	char *topology;                   /* as Slurm last said it; NULL: not known */
	double next_seldom;               /* partitions and reservations are loaded again by then */
	struct auc_server_spec *servers;  /* as Slurm lists them */
	unsigned nservers, nodes;         /* nodes: how many different lists there have been */
	const char **up;                  /* names of those that are up, in order */
	unsigned nup;
	uint32_t *protected;
	unsigned nprotected;
	uint64_t named; /* of which names of leads were last published; 0: of none */
	struct auc_rpc_threads *changes, *writes; /* job_change.c's */
	struct auc_fences *fences;                /* fence.c's */
	struct auc_blocks *blocks;                /* block.c's */
	struct auc_slurm_rules *slurm_rules;      /* slurm_rules.c's */
	struct auc_power *power;                  /* power.c's */
	struct auc_settling *settle;              /* settling.c's */
	struct auc_orphans *orphans;              /* orphans.c's */
	struct auc_err unknown;                   /* why nodes or partitions were last not known */
	struct auc_retry_said said;               /* complaints */
	struct auc_stand_look stand;              /* stand.c's */
	struct auc_array *arrays;                 /* array.c's */
	struct auc_offender offenders[AUC_OFFENDERS_MAX];
	char missing[512]; /* partitions that slurm.conf lacks, types that fit nowhere; "": none */
	char unread[512];  /* why auction.conf as it is now is not in force; "": it is */
	struct auc_agent_stats stats;
};

/* agent.c: logs what goes wrong again and again now and then, and counts it under KIND; not while
 * slurmctld is being stopped. */
void auc_agent_complain(struct auc_agent *a, enum auc_agent_error kind, const struct auc_err *err);

/* agent_nodes.c: true if nodes or partitions are to be looked at now. */
bool auc_agent_nodes_due(const struct auc_agent *a, double now);
/* Looks at nodes and tells the auction if they or partitions have changed; FORCE: all, and tells it
 * in any case. True if the auction knows them. */
bool auc_agent_refresh_nodes(struct auc_agent *a, double now, bool force);
/*
 * What is about to be booked for T depends on nodes: takes note of what has become of them since
 * they were looked at, which is once in a cycle at most, and tells T's machine.
 */
void auc_agent_see_nodes(struct auc_agent *a, struct auc_task *t, double now);
/* Without an auction: tells job_submit what partitions there are. */
void auc_agent_see_partitions(struct auc_agent *a, double now);
/* Frees what is known of nodes and partitions. */
void auc_agent_forget_nodes(struct auc_agent *a);

/* marks.c: tells T's machine which of its servers are down, or somebody else's; and of which
 * slurmctld may not know what runs there. */
void auc_agent_mark_down(const struct auc_agent *a, struct auc_task *t, double now);
void auc_agent_mark_unheard(struct auc_agent *a, struct auc_task *t);
/* How many of P's nodes are down. */
unsigned auc_agent_count_down(const struct auc_agent *a, const struct auc_part *p);
/* The first of P's nodes that is down or somebody else's, or P's server, into NAME. */
void auc_agent_bad_node(const struct auc_agent *a, const struct auc_part *p,
			char name[AUC_NAME_MAX]);

/* look.c: at which records the agent is to look now. */
enum auc_look auc_look_due(struct auc_agent *a, double now);
/* True if T is near a change, so that its jobs are to be looked at in this cycle. */
bool auc_look_near(const struct auc_agent *a, const struct auc_task *t, double now);
/* True if what T waits for need not show in what slurmctld changes. */
bool auc_look_trouble(const struct auc_agent *a, const struct auc_task *t, double now);
/* Loads the records that a look of KIND is at, and sees which sales they belong to; records stay
 * until auc_look_free(). False: something is missing. */
bool auc_look_load(struct auc_agent *a, double now, enum auc_look kind);
void auc_look_see(struct auc_agent *a, double now);
/* All records are to be looked at by AT, if that can be paid for. */
void auc_look_want_all(struct auc_agent *a, double at);
/* Forgets what it knows of former looks. */
void auc_look_reset(struct auc_agent *a);
void auc_look_free(struct auc_agent *a);
/* Logs a fact that may be seen again and again: once, and again when it is another or after a long
 * time. True if it was logged. */
bool auc_agent_say(struct auc_agent *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The jobs of all sales are not their owners' to change. */
void auc_agent_protect(struct auc_agent *a);
/* Forgets settled sales none of whose jobs is left. */
void auc_agent_drop_finished(struct auc_agent *a);
/* While there is no ledger to ask, jobs with a live receipt are still not their owners' to change.
 */
void auc_look_protect(void);

/* book.c: takes over what the ledger says now; false: it could not be asked. */
bool auc_book_sync(struct auc_agent *a);
/* Steps T's machine and does in the ledger what it says. */
void auc_book_step(struct auc_agent *a, struct auc_task *t, double now);
/* Ends T, just sold, if its job is no longer as its bid made it. */
void auc_book_check(struct auc_agent *a, struct auc_task *t);
/* Where a policy decides slot by slot: has the ledger bring its plans up to date, and takes them.
 */
void auc_book_revise(struct auc_agent *a, double now);
/* Final receipts to disk, then the ledger's events, then the receipts may go out. */
void auc_book_commit(struct auc_agent *a);

/* stands/stand.c: INFO, which is of no sale, has the receipt of a bid that stands or stood. */
void auc_stand_see(struct auc_agent *a, const slurm_job_info_t *info, double now);
/* Looks after bids that stand: ends those whose time is over, decides those whose turn it is. */
void auc_stand_keep(struct auc_agent *a, double now);
/* V stands no more, and its job is cancelled, if there is one. */
void auc_stand_end(struct auc_agent *a, const struct auc_held_view *v, const char *why, double now);
/* The decision on BID, which is V's, for the job INFO: as auc_decide(). */
enum auc_code auc_stand_decide(struct auc_agent *a, const slurm_job_info_t *info,
			       const struct auc_held_view *v, struct auc_bid *bid,
			       struct auc_offer *offer, char *barred, size_t size,
			       struct auc_err *err);

/* stands/array.c: decides some tasks of V, an array whose turn it is and whose bid is BID. False:
 * nobody's can be decided now. */
bool auc_array_turn(struct auc_agent *a, const struct auc_held_view *v, struct auc_bid *bid,
		    double now);
/* A new cycle: those that are not done have their turn again. */
void auc_array_next_cycle(struct auc_agent *a, double now);
/* True if one is to have its turn soon. */
bool auc_array_busy(const struct auc_agent *a);
/* True if tasks of JOB_ID wait to be decided. */
bool auc_array_has(const struct auc_agent *a, uint32_t job_id);
/* True if tasks of JOB_ID are being split off: until then it cannot be said what the rest is. */
bool auc_array_is_out(struct auc_agent *a, uint32_t job_id);
/* True if SALE is of a task that is being split off. */
bool auc_array_splits(const struct auc_agent *a, const char *sale);
/* The task of SALE is a job of its own (GOOD), or could not become one. */
void auc_array_split_done(struct auc_agent *a, uint32_t job_id, const char *sale, bool good);
/* The array JOB_ID has nothing to decide any more; or none has, when no change is under way. */
void auc_array_forget(struct auc_agent *a, uint32_t job_id);
void auc_array_clear(struct auc_agent *a);

/* act.c: asks Slurm for what T needs now. */
void auc_act(struct auc_agent *a, struct auc_task *t, double now);
/* Has T's receipt written into its lead's record, if there is a new one. */
void auc_act_receipt(struct auc_agent *a, struct auc_task *t, double now);
/* Ends a job that belongs to no sale, as often as it is seen; RECEIPT: the last that it gets, or
 * NULL. */
void auc_act_kill_stray(struct auc_agent *a, const slurm_job_info_t *info, const char *receipt);

#endif
