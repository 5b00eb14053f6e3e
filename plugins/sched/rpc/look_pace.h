/*
 * look_pace.h - when the agent looks at Slurm's records again, and at which ones. A look costs
 * processor time of the agent and of slurmctld, which grows with the number of jobs. So looks are
 * rare while nothing is about to happen and slurmctld reports no change. Knows neither Slurm nor
 * the clock.
 */
#ifndef AUC_LOOK_PACE_H
#define AUC_LOOK_PACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When something was last changed, as slurmctld said at a look: Unix time in whole seconds, -1 if
 * it does not say. UNSURE: a change after the look could bear the same second.
 */
struct auc_stamp {
	int64_t at;
	bool unsure;
};
/* AT was read at NOW. */
struct auc_stamp auc_stamp_of(int64_t at, double now);
/* True if there may have been a change since the look that saw S; AT is what slurmctld says now. */
bool auc_stamp_moved(const struct auc_stamp *s, int64_t at);

/* At which jobs; each includes those before it. */
enum auc_look {
	AUC_LOOK_NONE,
	AUC_LOOK_NEAR,    /* of sales that are near a change, or in one */
	AUC_LOOK_RUNNING, /* of sales that run, or have some trouble */
	AUC_LOOK_LIVE,    /* of all sales */
	AUC_LOOK_ALL,     /* every record that Slurm has */
	AUC_LOOK_NKINDS
};

/* What a look goes by. */
struct auc_look_pace_signs {
	/* As in struct auc_stamp: of jobs, and of nodes, where each start and end of a job is a
	 * change. */
	int64_t jobs, nodes;
	bool near;    /* some sale is near a change */
	bool trouble; /* some sale has trouble, and is to be looked at whatever slurmctld says */
	bool all;     /* all records are due */
};

struct auc_look_pace {
	double next[AUC_LOOK_NKINDS]; /* not before; Unix time */
	double wait[AUC_LOOK_NKINDS]; /* between two, by what the last of the kind cost */
	double latest;                /* all live sales are looked at by then */
	struct auc_stamp jobs, nodes;
};

/* What to look at, at NOW. */
enum auc_look auc_look_pace_due(const struct auc_look_pace *p, const struct auc_look_pace_signs *s,
				double now);
/*
 * A look of KIND was begun at NOW, with the signs S read before it; it TOOK seconds, OWN of them of
 * the agent's processor. After AUC_LOOK_ALL, wait[] says when the next is due.
 */
void auc_look_pace_did(struct auc_look_pace *p, enum auc_look kind,
		       const struct auc_look_pace_signs *s, double now, double took, double own);
/* When the next look at all may be, if one is wanted at AT: not at once after a dear one. */
double auc_look_pace_all(const struct auc_look_pace *p, double at);

/*
 * What it costs to ask for N jobs one by one, or for a list of RECORDS of the TOTAL of Slurm's
 * jobs; in the same unit.
 */
double auc_look_pace_cost_single(unsigned n);
double auc_look_pace_cost_list(unsigned records, unsigned total);

#endif
