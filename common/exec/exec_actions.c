/* exec_actions.c - what Slurm is to be asked for a sale (auc_exec_actions()), and when: see exec.h.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "exec/exec-private.h"
#include "ledger/why.h"

static void ending_actions(const struct auc_exec *x, const struct auc_exec_rules *rules, double now,
			   struct auc_exec_action *actions, unsigned max, unsigned *n);
static bool tells_script(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned i,
			 double now);
static void running_lead_actions(const struct auc_exec *x, const struct auc_exec_rules *rules,
				 double now, struct auc_exec_action *actions, unsigned max,
				 unsigned *n);
static void pending_lead_actions(const struct auc_exec *x, const struct auc_exec_rules *rules,
				 double now, struct auc_exec_action *actions, unsigned max,
				 unsigned *n);
static void member_actions(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned i,
			   double now, struct auc_exec_action *actions, unsigned max, unsigned *n);
static void ask(struct auc_exec_action *actions, unsigned max, unsigned *n, enum auc_exec_ask ask,
		unsigned part);

unsigned auc_exec_actions(const struct auc_exec *x, const struct auc_exec_rules *rules, double now,
			  struct auc_exec_action *actions, unsigned max)
{
	unsigned n = 0;

	if (!x->committed || x->booked == AUC_SALE_LIEN)
		return 0;
	if (x->booked == AUC_SALE_SETTLED || x->why) {
		ending_actions(x, rules, now, actions, max, &n);
		return n;
	}
	for (unsigned i = 1; i < x->nparts; i++)
		if (!x->parts[i].lead)
			member_actions(x, rules, i, now, actions, max, &n);
	if (auc_exec_is_elsewhere(x, now))
		return n;
	if (x->jobs[0].seen == AUC_SEEN_RUNNING)
		running_lead_actions(x, rules, now, actions, max, &n);
	else if (x->jobs[0].seen == AUC_SEEN_PENDING && now >= x->jobs[0].next)
		pending_lead_actions(x, rules, now, actions, max, &n);
	return n;
}

double auc_exec_next(const struct auc_exec *x, const struct auc_exec_rules *rules, double now)
{
	double next = auc_exec_told_from(x, rules) > now ? auc_exec_told_from(x, rules) : INFINITY;

	for (unsigned i = 0; i < x->nparts; i++) {
		const struct auc_part *p = &x->parts[i];
		double at[] = {p->start - rules->ahead,
			       p->start - rules->notice,
			       p->start,
			       p->end - rules->notice,
			       p->end - rules->end_margin,
			       p->nnodes ? p->end - rules->end_margin * AUC_EXEC_SCRIPT : INFINITY,
			       p->end - rules->end_margin / 2};

		for (unsigned k = 0; k < sizeof(at) / sizeof(*at); k++)
			if (at[k] > now && at[k] < next)
				next = at[k];
	}
	return next;
}

bool auc_exec_due(const struct auc_exec *x, const struct auc_exec_rules *rules, double since,
		  double until)
{
	if (auc_exec_told_from(x, rules) > since && auc_exec_told_from(x, rules) <= until)
		return true;
	for (unsigned i = 0; i < x->nparts; i++) {
		const struct auc_part *p = &x->parts[i];
		double at[] = {p->start,
			       p->end - rules->end_margin,
			       p->nnodes ? p->end - rules->end_margin * AUC_EXEC_SCRIPT : INFINITY,
			       p->end - rules->end_margin / 2,
			       p->start > x->start ? p->start - rules->notice : INFINITY,
			       p->end < x->end || x->notice ? p->end - rules->notice : INFINITY};

		for (unsigned k = 0; k < sizeof(at) / sizeof(*at); k++)
			if (at[k] > since && at[k] <= until)
				return true;
	}
	return false;
}

/* All jobs are ended; at the end of a plan there is time to warn them. */
static void ending_actions(const struct auc_exec *x, const struct auc_exec_rules *rules, double now,
			   struct auc_exec_action *actions, unsigned max, unsigned *n)
{
	bool warn = x->booked != AUC_SALE_SETTLED && x->why && !strcmp(x->why, AUC_WHY_TIMEOUT) &&
		    now < x->end - rules->end_margin / 2;

	for (unsigned i = 0; i < x->nparts; i++) {
		const struct auc_exec_job *j = &x->jobs[i];
		bool script = tells_script(x, rules, i, now);

		if (!auc_exec_is_alive(j) || (i ? x->parts[i].lead : auc_exec_is_elsewhere(x, now)))
			continue;
		if (warn && (!j->warned || (script && !j->script_told)) && *n < max)
			actions[(*n)++] = (struct auc_exec_action){AUC_ASK_WARN, i, script};
		else if (!warn && (now >= j->next || !j->killed))
			ask(actions, max, n, AUC_ASK_KILL, i);
	}
}

/* True if the script of the job I is to be told that its time is over, and not its steps alone:
 * that of a lead; a gang's is told after its steps. */
static bool tells_script(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned i,
			 double now)
{
	return !i && (!x->parts[0].nnodes ||
		      (x->jobs[0].warned && now >= x->end - rules->end_margin * AUC_EXEC_SCRIPT));
}

static void running_lead_actions(const struct auc_exec *x, const struct auc_exec_rules *rules,
				 double now, struct auc_exec_action *actions, unsigned max,
				 unsigned *n)
{
	const struct auc_exec_job *lead = &x->jobs[0];
	unsigned on = auc_exec_lead_part(x, rules, now);
	bool gang = x->parts[on].nnodes;
	double change = gang ? x->parts[on].end : auc_exec_next_change(x, now);
	bool due = now >= change - rules->notice && x->told < change;
	bool may_tell = now >= auc_exec_told_from(x, rules);

	if (auc_exec_is_astray(x, rules, now)) {
		if (now >= lead->next)
			ask(actions, max, n, AUC_ASK_MOVE, on);
	} else if (!gang && may_tell && (x->tell || due)) {
		ask(actions, max, n, AUC_ASK_NOTICE, on);
	} else if (lead->limit > 0 && lead->limit < x->parts[on].end - AUC_EXEC_CLOSE &&
		   now >= lead->next) {
		ask(actions, max, n, AUC_ASK_LIMIT, on);
	} else if (gang && x->notice && may_tell && due) {
		ask(actions, max, n, AUC_ASK_NOTICE, on);
	}
}

/* Slurm begins a requeued job by a rule of its own; and its plan may begin earlier by now. */
static void pending_lead_actions(const struct auc_exec *x, const struct auc_exec_rules *rules,
				 double now, struct auc_exec_action *actions, unsigned max,
				 unsigned *n)
{
	const struct auc_exec_job *lead = &x->jobs[0];
	unsigned on = auc_exec_lead_part(x, rules, now);
	const struct auc_part *p = &x->parts[on];

	if (lead->part != (int)on || lead->begin < p->start ||
	    (now < p->start && lead->begin > p->start + AUC_EXEC_CLOSE))
		ask(actions, max, n, AUC_ASK_PLACE, on);
	else if (now >= p->start && !x->stopped[on])
		ask(actions, max, n, AUC_ASK_NUDGE, on);
}

/* What a member of a sale that goes on needs. */
static void member_actions(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned i,
			   double now, struct auc_exec_action *actions, unsigned max, unsigned *n)
{
	const struct auc_part *p = &x->parts[i];
	const struct auc_exec_job *j = &x->jobs[i];
	bool alive = auc_exec_is_alive(j), repeat = now >= j->next;

	if (!j->id) {
		/* The first layout is submitted at once, so that Slurm shows it. */
		if (!x->shut[i] && (p->start <= x->start || now >= p->start - rules->ahead) &&
		    now < auc_exec_leaves(x, rules, i) && repeat && j->tries < rules->tries)
			ask(actions, max, n, AUC_ASK_SUBMIT, i);
	} else if (alive && now >= auc_exec_leaves(x, rules, i)) {
		if (repeat || !j->killed)
			ask(actions, max, n, AUC_ASK_KILL, i);
	} else if (alive && now >= p->end - rules->end_margin && !j->warned) {
		ask(actions, max, n, AUC_ASK_WARN, i);
	} else if (j->seen == AUC_SEEN_PENDING && now >= p->start && repeat && !x->stopped[i]) {
		ask(actions, max, n, AUC_ASK_NUDGE, i);
	} else if (alive && j->limit > 0 && j->limit < p->end - AUC_EXEC_CLOSE && repeat) {
		ask(actions, max, n, AUC_ASK_LIMIT, i);
	}
}

static void ask(struct auc_exec_action *actions, unsigned max, unsigned *n, enum auc_exec_ask ask,
		unsigned part)
{
	if (*n < max)
		actions[(*n)++] = (struct auc_exec_action){.ask = ask, .part = part};
}
