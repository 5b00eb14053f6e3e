/*
 * look_pace.c - see look_pace.h. Times between looks are multiples of what one takes, within
 * bounds: where slurmctld is slow to answer, of the time; else of the agent's processor time, which
 * does not depend on what else the machine does. tests/bench/executor.md has what looks cost.
 */
#include "config.h"

#include <math.h>

#include "sched/rpc/look_pace.h"

#define TAKEN_NEAR 4    /* looks near a change take one part in so many of the time at most, */
#define TAKEN      10   /* others one in so many, */
#define TAKEN_MAX  5.0  /* but are put off by so many seconds at most for that */
#define LATEST     30.0 /* seconds between looks at all sales, whatever slurmctld says */
#define WANTED     500  /* a look at all that is asked for: one part in so many of the processor */

/* One job that is asked for alone is as much work as so many records of a list, */
#define RECORDS_ONE 40.0
/* or as passing so many records that are not of the list. */
#define OTHERS_ONE 2500.0

/* Looks take one part in so many of a processor; seconds between two, at least and at most. */
static const struct {
	double parts, least, most;
} bounds[AUC_LOOK_NKINDS] = {
	[AUC_LOOK_RUNNING] = {2000, 1, 5},
	[AUC_LOOK_LIVE] = {10000, 1, LATEST},
	[AUC_LOOK_ALL] = {20000, 60, 600},
};

struct auc_stamp auc_stamp_of(int64_t at, double now)
{
	return (struct auc_stamp){.at = at, .unsure = at < 0 || (double)at > floor(now) - 2};
}

bool auc_stamp_moved(const struct auc_stamp *s, int64_t at)
{
	return at < 0 || s->unsure || at != s->at;
}

enum auc_look auc_look_pace_due(const struct auc_look_pace *p, const struct auc_look_pace_signs *s,
				double now)
{
	if (s->all)
		return AUC_LOOK_ALL;
	if (now >= p->latest ||
	    (now >= p->next[AUC_LOOK_LIVE] && auc_stamp_moved(&p->jobs, s->jobs)))
		return AUC_LOOK_LIVE;
	if (now >= p->next[AUC_LOOK_RUNNING] &&
	    (s->trouble || auc_stamp_moved(&p->nodes, s->nodes)))
		return AUC_LOOK_RUNNING;
	return s->near && now >= p->next[AUC_LOOK_NEAR] ? AUC_LOOK_NEAR : AUC_LOOK_NONE;
}

void auc_look_pace_did(struct auc_look_pace *p, enum auc_look kind,
		       const struct auc_look_pace_signs *s, double now, double took, double own)
{
	double wait = fmax(fmin(TAKEN * took, TAKEN_MAX), bounds[kind].parts * own);

	p->wait[kind] = fmin(fmax(wait, bounds[kind].least), bounds[kind].most);
	p->next[AUC_LOOK_NEAR] = now + TAKEN_NEAR * took;
	if (kind < AUC_LOOK_RUNNING)
		return;
	p->nodes = auc_stamp_of(s->nodes, now);
	p->next[AUC_LOOK_RUNNING] =
		now + fmax(p->wait[AUC_LOOK_RUNNING], bounds[AUC_LOOK_RUNNING].least);
	if (kind < AUC_LOOK_LIVE)
		return;
	p->jobs = auc_stamp_of(s->jobs, now);
	p->next[AUC_LOOK_LIVE] = now + fmax(p->wait[AUC_LOOK_LIVE], bounds[AUC_LOOK_LIVE].least);
	p->latest = now + LATEST;
	if (kind == AUC_LOOK_ALL)
		p->next[AUC_LOOK_ALL] = now + fmin(WANTED * own, bounds[kind].least);
}

double auc_look_pace_all(const struct auc_look_pace *p, double at)
{
	return fmax(at, p->next[AUC_LOOK_ALL]);
}

double auc_look_pace_cost_single(unsigned n)
{
	return n;
}

double auc_look_pace_cost_list(unsigned records, unsigned total)
{
	return 1 + records / RECORDS_ONE + (total > records ? total - records : 0) / OTHERS_ONE;
}
