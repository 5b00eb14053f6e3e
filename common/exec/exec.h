/*
 * exec.h - how a sale is carried out: a state machine that knows neither Slurm nor the ledger
 * (doc/executor.md). Its input is Slurm's records of the sale's jobs, what the ledger says, and the
 * clock. Its output is what the ledger is to book and, once that is on disk, what to ask of Slurm.
 * What it remembers itself only keeps it from asking twice, so it may be forgotten at any time.
 */
#ifndef AUC_EXEC_H
#define AUC_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "auction/auction.h"

enum auc_exec_state {
	AUC_EXEC_LIEN,     /* held; no job has claimed it */
	AUC_EXEC_SOLD,     /* a job has claimed it; not on disk yet, so nothing is done for it */
	AUC_EXEC_WAITING,  /* on disk; its first slot, or the next after a pause, is ahead */
	AUC_EXEC_STARTING, /* its slot has begun and not all of its jobs run */
	AUC_EXEC_RUNNING,  /* all run that are to run now */
	AUC_EXEC_CHANGING, /* another layout begins soon, or has begun and does not stand yet */
	AUC_EXEC_ENDING,   /* at its end, or broken: its jobs are being ended */
	AUC_EXEC_SETTLED,  /* gone from the ledger; what is left of its jobs is cleared away */
	AUC_EXEC_NSTATES
};
const char *auc_exec_state_word(enum auc_exec_state s); /* "lien", "sold", "waiting", ... */

/* What Slurm's records say of one job. */
enum auc_seen {
	AUC_SEEN_NOT,      /* nobody looked, or the list of jobs is older than the job */
	AUC_SEEN_GONE,     /* there is no such job */
	AUC_SEEN_PENDING,  /* it has no nodes */
	AUC_SEEN_STARTING, /* it has, but its script does not run yet */
	AUC_SEEN_RUNNING,
	AUC_SEEN_ENDED,
};

/* The job of one part. That of part 0 is the lead, and serves all parts that are the lead's. */
struct auc_exec_job {
	uint32_t id; /* 0: not submitted */
	/* what was seen */
	enum auc_seen seen;
	const char *why;     /* a settlement's word for why it has ended, was refused or, if not
				NULL, waits */
	double began;        /* it runs: since when */
	double ended, begin; /* when; it is pending: not to start before that */
	bool ran;            /* it has ended, and had run before */
	bool quit;    /* it waits because it ended by itself, and Slurm requeued it for that */
	bool leaving; /* it waits, and what ran of it has not left its nodes yet */
	bool unsure;  /* it has ended, and WHY is not known yet; it is soon */
	double limit; /* when its time limit ends it, as far as that is known; 0: unknown */
	int part;     /* lead: the part that its record stands for; -1: none of them */
	/* what was done */
	unsigned tries;   /* submissions that failed */
	bool warned;      /* it was told to end, */
	bool script_told; /* and its script, too */
	bool killed;
	double next; /* nothing is repeated before; the first kill waits for nothing */
	double late; /* since when it should run and does not; 0: it does */
};

struct auc_exec {
	enum auc_exec_state state;
	enum auc_sale_state booked; /* what the ledger says */
	bool committed;             /* and that is on disk */
	bool replanned;             /* its plan is not the first that it had */
	bool extend;                /* more slots may be bought at the end, */
	bool goes_on;               /* and elsewhere if it cannot stay: it may be requeued */
	bool notice;                /* of a gang: it is told before its time on its nodes is over */
	double slot;                /* seconds of one */
	double start, end;
	unsigned nparts;
	const struct auc_part *parts; /* borrowed; at least one */
	struct auc_exec_job *jobs;    /* by part */
	double *down;  /* by part: since when its server is not to be used; 0: it is */
	bool *closed;  /* by part: its server is somebody else's in a part of its time */
	bool *stopped; /* by part: Slurm starts no job in its partition now; the caller's to set, */
	bool *shut;    /* and whether it takes no new one there */
	bool *unheard; /* by part: a slurmctld that was started does not know yet what runs on its
			  server; the caller's to set */
	bool waits;    /* a job of it that Slurm does not start could not move: it waits */
	/* How often it moved or was put off since Slurm does not begin it, for no reason that it
	 * gives; 0 again once all its jobs run. There is an end to that. */
	unsigned put_off;
	/* Its lead waits for sales that are over only then (Unix time), not by their owners' doing;
	 * the caller's to set; 0: it does not. */
	double after;
	const char *why; /* it is being ended, for this reason */
	double told;     /* the change that the lead was told of */
	bool tell;       /* it is to be told at once */
	bool stood;      /* all its jobs did run once */
	double astray;   /* since when the lead runs where its plan is not; 0: it does not */
	bool stuck;      /* and Slurm refused to move it: the caller's to set */
	bool lingers;    /* what ran of the lead had not left when its next part was to begin */
	double moved;    /* since when the lead is to be requeued to move; 0: it has begun again */
	double replan;   /* not tried again before */
	/* Nothing was asked for it from UNSAVED to SAVED, as what was decided could not be written.
	 * Unix time; SAVED 0: that never was, or is still so; UNSAVED 0: it is not. */
	double unsaved, saved;
};

/* What is the same for all sales. Seconds. */
struct auc_exec_rules {
	double end_margin; /* jobs are told to end that long before their slots are over */
	double notice;     /* and the lead, that another layout comes */
	double ahead;      /* members are submitted that long before their slot */
	double grace;      /* a job may start that late */
	double patience;   /* a node may be down that long, as all are after a restart */
	double late;       /* a plan may begin that late without being put off */
	double begins;     /* after its node is heard of Slurm begins what waited there */
	double since;      /* what was to begin before, nobody looked after: Unix time */
	double from;       /* and when slurmctld was started; likewise */
	double settle;     /* a lead is told nothing for that long after its begin */
	double again;      /* between two attempts at the same */
	unsigned tries;    /* to submit a member */
};

/* What the ledger is to do. */
enum auc_exec_book {
	AUC_BOOK_NOTHING,
	AUC_BOOK_CONFIRM, /* the lien is sold to the lead */
	AUC_BOOK_START,   /* it runs */
	AUC_BOOK_EXTEND,  /* one more slot is bought; refused: auc_exec_refused() */
	AUC_BOOK_GO_ON,   /* slots elsewhere are bought at the end; refused: likewise */
	AUC_BOOK_MOVE,    /* what PART's server was to give is moved to others; refused: likewise */
	AUC_BOOK_PUT_OFF, /* what begins with PART begins at WHEN or after it; refused: likewise */
	AUC_BOOK_SETTLE,  /* it is over, for WHY, since WHEN */
};
struct auc_exec_booking {
	enum auc_exec_book book;
	unsigned part;
	const char *why;
	double when;
	bool held; /* Slurm does not start PART's job, for no reason that it gives */
};

/* What Slurm is to be asked. */
enum auc_exec_ask {
	AUC_ASK_SUBMIT, /* the member PART */
	AUC_ASK_NUDGE,  /* PART's job starts now: its slot has begun */
	AUC_ASK_PLACE,  /* the lead, which pends, becomes what PART says */
	AUC_ASK_MOVE,   /* the lead, which runs, is requeued to become what PART says */
	AUC_ASK_LIMIT,  /* PART's job may run until PART's end */
	AUC_ASK_NOTICE, /* the lead is told that the layout changes, or a gang, that PART ends */
	/* PART's job is told to end; a gang that has steps twice: its steps, and later its script,
	 * too, as srun ends its tasks at once when it is told. */
	AUC_ASK_WARN,
	AUC_ASK_KILL, /* PART's job is ended */
};
struct auc_exec_action {
	enum auc_exec_ask ask;
	unsigned part;
	/* AUC_ASK_WARN: the script is told, too. Set as well by what carries it out, which alone
	 * can see that a gang has no steps. */
	bool script;
};

/*
 * A sale of NPARTS parts (borrowed), with no job known; x->slot is the caller's to set.
 * auc_exec_take() gives it another plan: jobs of parts that are in both stay, and members that run
 * and are to go on within a slot, of the others only the lead does. AUC_ENOMEM.
 */
enum auc_code auc_exec_init(struct auc_exec *x, const struct auc_part *parts, unsigned nparts,
			    struct auc_err *err);
enum auc_code auc_exec_take(struct auc_exec *x, const struct auc_part *parts, unsigned nparts,
			    struct auc_err *err);
void auc_exec_clear(struct auc_exec *x);

/*
 * One step of the machine at NOW: takes the state that follows from what was seen and says what the
 * ledger is to do. The caller does it and sets booked. With the lead not looked for nothing
 * happens.
 */
struct auc_exec_booking auc_exec_step(struct auc_exec *x, const struct auc_exec_rules *rules,
				      double now);
/* The ledger could not do BOOKING. */
void auc_exec_refused(struct auc_exec *x, const struct auc_exec_booking *booking,
		      const struct auc_exec_rules *rules, double now);
/*
 * What is to be asked of Slurm at NOW, at most MAX of it; nothing while the ledger's state is not
 * committed.
 */
unsigned auc_exec_actions(const struct auc_exec *x, const struct auc_exec_rules *rules, double now,
			  struct auc_exec_action *actions, unsigned max);
/*
 * ACTION was carried out with RESULT: AUC_OK, AUC_EFULL (Slurm refuses it and will again),
 * AUC_ELIMIT (its owner has as many jobs as may be) or any other (it may work later). ID: of a job
 * submitted.
 */
void auc_exec_did(struct auc_exec *x, const struct auc_exec_action *action, enum auc_code result,
		  uint32_t id, const struct auc_exec_rules *rules, double now);

/* The part that the lead is on, or is to be on next, at NOW. */
unsigned auc_exec_lead_part(const struct auc_exec *x, const struct auc_exec_rules *rules,
			    double now);
/* When the clock alone next asks for something, after NOW; INFINITY: never. */
double auc_exec_next(const struct auc_exec *x, const struct auc_exec_rules *rules, double now);
/* True if its jobs are to be looked at often: something has just been or is about to be done. */
bool auc_exec_busy(const struct auc_exec *x, const struct auc_exec_rules *rules, double now,
		   double soon);
/* True if between SINCE and UNTIL something is to be asked of jobs that run or wait as they should.
 */
bool auc_exec_due(const struct auc_exec *x, const struct auc_exec_rules *rules, double since,
		  double until);
/* At NOW what was decided of it could not be written, or could (GOOD). */
void auc_exec_wrote(struct auc_exec *x, bool good, double now);
/* The clock was set by STEP seconds: what was measured by it is measured by the new one. */
void auc_exec_shift(struct auc_exec *x, double step);
/* True if PART's job is to run at NOW. */
bool auc_exec_part_due(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part,
		       double now);

#endif
