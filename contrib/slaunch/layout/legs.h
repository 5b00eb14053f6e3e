/*
 * legs.h - the layouts that a group goes through, one leg after the other, and where it stands at
 * a time. A group without changes has one leg. Pure: no Slurm, no I/O but legs_read().
 */
#ifndef SLAUNCH_LEGS_H
#define SLAUNCH_LEGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "slaunch/layout/layout.h"

#define LEGS_LOCAL_MAX 256 /* processes of --local, workers and PSs each */

/* A time with one layout. Between two legs there may be a pause. */
struct leg {
	double begin, end; /* Unix time; end 0: open */
	bool elsewhere;    /* the lead has to move to another node for it: no layout */
	struct layout layout;
};

struct legs {
	unsigned nlegs;
	struct leg *legs; /* by time; neighbours that touch differ */
};

/*
 * Makes the course of a receipt from Unix time NOW on, for the lead job LEAD on LEAD_NODE. Runs
 * with the same layout that follow each other are one leg. AUC_EINVAL: as layout_make(). A course
 * without legs: all slots are over.
 */
enum auc_code legs_make(struct legs *c, const struct auc_receipt *r, uint32_t lead,
			const char *lead_node, double now, struct auc_err *err);
/*
 * Adds a leg "W[:P]" that begins at Unix time BEGIN and ends the one before it; "0" makes a pause.
 * For tasks on this machine. AUC_EINVAL: TEXT is not of that form (WHAT is what messages say before
 * it, "--local="), or BEGIN is not after the leg before.
 */
enum auc_code legs_add_local(struct legs *c, double begin, const char *text, const char *what,
			     struct auc_err *err);
/*
 * The lines of FILE, "TIME W[:P]" each, the times counted from Unix time START; empty lines and
 * those that begin with # are skipped. AUC_EIO, AUC_EINVAL.
 */
enum auc_code legs_read(struct legs *c, const char *file, double start, struct auc_err *err);
void legs_clear(struct legs *c);

/* The leg that holds time T, else the next one; NULL: all are over. */
const struct leg *legs_at(const struct legs *c, double t);
/* The leg after the one that holds time T or comes next; NULL: there is none. */
const struct leg *legs_after(const struct legs *c, double t);

#endif
