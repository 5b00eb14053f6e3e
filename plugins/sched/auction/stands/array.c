/*
 * array.c - job arrays with a bid. Slurm has the tasks that are not decided yet as one held job
 * with the number of the array, and the bid sealed in its receipt. The agent decides one task after
 * another, each at the prices of its moment, some in a cycle. A task that is sold is split off as a
 * job of its own by the very change that places it, with the receipt of its lien: from then on it
 * is a job like any other. When one is refused, so are those after it, which would get the same
 * answer: all of them are cancelled together. Nothing of this is on disk but in Slurm's records.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/decide.h"
#include "adapter/site.h"
#include "adapter/spending.h"
#include "base/num.h"
#include "ledger/why.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/job_change.h"
#include "sched/output/receipts.h"
#include "sched/rpc/job_names.h"

#define OUT_MAX    64  /* tasks of an array that are split off at a time */
#define TURN       0.2 /* seconds of a cycle in which those of one are decided */
#define ROUNDS_MAX 3   /* through its tasks while Slurm does not split some off */

struct auc_array {
	struct auc_array *next;
	struct auc_held_view held;
	job_info_msg_t *jobs; /* its record is the first; NULL: it is to be looked at */
	uint32_t *tasks;      /* that wait, as the record says; those before AT had their turn */
	unsigned n, at;
	char out[OUT_MAX][AUC_SALE_ID_LEN]; /* sales whose tasks are being split off */
	unsigned nout;
	unsigned failed, rounds; /* tasks that were not, in this round; and rounds with some */
	bool waits;              /* until the next cycle, */
	bool soon;               /* which is to come at once */
	bool gone;               /* it is forgotten once nothing of it is out */
	char *refused; /* why those that wait are not sold; NULL: they are to be decided */
	double *ends;  /* of the plans of its tasks; room for all that wait, too */
	unsigned nends;
};

static struct auc_array *array_of(struct auc_agent *a, const struct auc_held_view *v);
static struct auc_array **find(struct auc_agent *a, uint32_t job_id);
static void drop(struct auc_array **at);
static void forget_record(struct auc_array *r);
static bool take_record(struct auc_agent *a, struct auc_array *r, double now);
static bool list_ends(struct auc_agent *a, struct auc_array *r);
static double free_from(struct auc_array *r);
static int later(const void *a, const void *b);
static bool decide_some(struct auc_agent *a, struct auc_array *r, struct auc_bid *bid);
static bool decide(struct auc_agent *a, struct auc_array *r, struct auc_bid *bid);
static void refuse(struct auc_array *r, const char *answer, const char *barred);
static void split(struct auc_agent *a, struct auc_array *r, const struct auc_offer *offer);
static void finish(struct auc_agent *a, struct auc_array *r, double now);
static void end_rest(struct auc_agent *a, const struct auc_held_view *v, unsigned n,
		     const char *why, const char *said, double now);

bool auc_array_turn(struct auc_agent *a, const struct auc_held_view *v, struct auc_bid *bid,
		    double now)
{
	struct auc_array *r = array_of(a, v);
	struct auc_err err;
	bool good = true;

	if (!r) {
		auc_err_set(&err, AUC_ENOMEM, "out of memory for the tasks of job %u", v->job_id);
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return false;
	}
	r->waits = true;
	r->soon = r->nout;
	if (!r->jobs && (r->nout || !take_record(a, r, now)))
		return true;
	if (!r->refused)
		good = decide_some(a, r, bid);
	r->soon = good;
	if (r->nout || (!r->refused && r->at < r->n))
		return good;
	/* All have had their turn, and what was sold is split off: the record says what is left. */
	forget_record(r);
	if (r->failed && ++r->rounds == ROUNDS_MAX)
		refuse(r, "auction: refused: Slurm does not make jobs of these tasks", "");
	r->failed = 0;
	if (r->refused && take_record(a, r, now))
		finish(a, r, now);
	return good;
}

void auc_array_next_cycle(struct auc_agent *a, double now)
{
	for (struct auc_array *r = a->arrays; r; r = r->next) {
		if (r->waits)
			auc_auction_held_again(a->auction, r->held.id, now, true);
		r->waits = false;
	}
}

bool auc_array_busy(const struct auc_agent *a)
{
	bool busy = false;

	for (const struct auc_array *r = a->arrays; r && !busy; r = r->next)
		busy = r->waits && r->soon;
	return busy;
}

bool auc_array_has(const struct auc_agent *a, uint32_t job_id)
{
	for (const struct auc_array *r = a->arrays; r; r = r->next)
		if (r->held.job_id == job_id)
			return true;
	return false;
}

bool auc_array_is_out(struct auc_agent *a, uint32_t job_id)
{
	struct auc_array **at = find(a, job_id);

	return at && (*at)->nout;
}

bool auc_array_splits(const struct auc_agent *a, const char *sale)
{
	for (const struct auc_array *r = a->arrays; r; r = r->next)
		for (unsigned i = 0; i < r->nout; i++)
			if (!strcmp(r->out[i], sale))
				return true;
	return false;
}

void auc_array_split_done(struct auc_agent *a, uint32_t job_id, const char *sale, bool good)
{
	struct auc_array **at = find(a, job_id), *r = at ? *at : NULL;
	struct auc_task *t = auc_tasks_find(&a->tasks, sale);

	/* Nobody will see its job. If there is one all the same, it is sold again as it stood. */
	if (!good)
		auc_auction_drop(a->auction, sale, NULL);
	else if (t)
		t->array = job_id;
	if (!r)
		return;
	r->failed += !good;
	for (unsigned i = 0; i < r->nout; i++)
		if (!strcmp(r->out[i], sale)) {
			r->nout--;
			memmove(r->out[i], r->out[r->nout], sizeof(r->out[i]));
			break;
		}
	if (r->gone && !r->nout)
		drop(at);
}

void auc_array_forget(struct auc_agent *a, uint32_t job_id)
{
	struct auc_array **at = find(a, job_id);

	if (!at)
		return;
	(*at)->gone = true;
	(*at)->waits = false;
	if (!(*at)->nout)
		drop(at);
}

void auc_array_clear(struct auc_agent *a)
{
	while (a->arrays)
		drop(&a->arrays);
}

static struct auc_array *array_of(struct auc_agent *a, const struct auc_held_view *v)
{
	struct auc_array **at = find(a, v->job_id), *r = at ? *at : NULL;

	if (!r) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return NULL;
		r->next = a->arrays;
		a->arrays = r;
	}
	r->held = *v;
	r->gone = false;
	return r;
}

static struct auc_array **find(struct auc_agent *a, uint32_t job_id)
{
	for (struct auc_array **at = &a->arrays; *at; at = &(*at)->next)
		if ((*at)->held.job_id == job_id)
			return at;
	return NULL;
}

static void drop(struct auc_array **at)
{
	struct auc_array *r = *at;

	*at = r->next;
	forget_record(r);
	free(r->refused);
	free(r);
}

static void forget_record(struct auc_array *r)
{
	if (r->jobs)
		auc_rpc_free_jobs(r->jobs);
	free(r->tasks);
	free(r->ends);
	r->jobs = NULL;
	r->tasks = NULL;
	r->ends = NULL;
	r->n = r->at = r->nends = 0;
}

/* Looks at R's record, when nothing of it is out. False: nothing of it can be decided now, and R
 * may be gone. */
static bool take_record(struct auc_agent *a, struct auc_array *r, double now)
{
	const struct auc_held_view v = r->held;
	job_info_msg_t *jobs;
	enum auc_code code;
	struct auc_err err;
	char *text;

	code = auc_rpc_load_job(v.job_id, &jobs, &err);
	if (!code && jobs->record_count && auc_job_is_held(jobs->job_array)) {
		r->jobs = jobs;
		text = auc_job_names_tasks(jobs->job_array, &r->tasks, &r->n);
		free(text);
		if (text && r->n && list_ends(a, r))
			return true;
		forget_record(r);
		return false;
	}
	if (code && code != AUC_ENOENT) {
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		return false;
	}
	if (code || !jobs->record_count) {
		auc_stand_end(a, &v, AUC_WHY_LOST, now);
	} else if (auc_receipt_says(jobs->job_array->admin_comment, "waiting")) {
		/* Its owner has cancelled them, or it is not held any more. */
		auc_stand_see(a, jobs->job_array, now);
	} else {
		/* The last task was sold. */
		slurm_info("sched/auction: array %u: all tasks that were left are sold", v.job_id);
		free(auc_auction_held_end(a->auction, v.id, NULL, now));
	}
	if (!code)
		auc_rpc_free_jobs(jobs);
	auc_array_forget(a, v.job_id);
	return false;
}

/* When the plans of R's tasks end that are sold and not over. False: no memory. */
static bool list_ends(struct auc_agent *a, struct auc_array *r)
{
	unsigned n = r->n;

	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		n += t->array == r->held.job_id;
	free(r->ends);
	r->nends = 0;
	r->ends = malloc((n + 1) * sizeof(*r->ends));
	for (const struct auc_task *t = a->tasks.list; t && r->ends; t = t->next)
		if (t->array == r->held.job_id && t->exec.booked != AUC_SALE_SETTLED)
			r->ends[r->nends++] = t->parts[t->exec.nparts - 1].end;
	return r->ends;
}

/* From when on fewer than AT_ONCE of the plans so far are not over: Slurm starts no more. */
static double free_from(struct auc_array *r)
{
	if (!r->held.at_once || r->nends < r->held.at_once)
		return 0;
	qsort(r->ends, r->nends, sizeof(*r->ends), later);
	return r->ends[r->held.at_once - 1];
}

static int later(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* False: it cannot be decided now, nor can others. */
static bool decide_some(struct auc_agent *a, struct auc_array *r, struct auc_bid *bid)
{
	double until = auc_site_now() + TURN, begin = bid->gang.begin, from;
	bool good = true;

	while (good && !r->refused && r->at < r->n && r->nout < OUT_MAX && auc_site_now() < until) {
		from = free_from(r);
		bid->gang.begin = from > begin ? from : begin;
		good = decide(a, r, bid);
	}
	bid->gang.begin = begin;
	return good;
}

static bool decide(struct auc_agent *a, struct auc_array *r, struct auc_bid *bid)
{
	struct auc_offer offer = {0};
	enum auc_code code;
	struct auc_err err;
	char barred[512];
	char text[sizeof(err.text) + 16];

	code = auc_stand_decide(a, r->jobs->job_array, &r->held, bid, &offer, barred,
				sizeof(barred), &err);
	if (code == AUC_EAGAIN || code == AUC_ESTATE || code == AUC_ENOMEM)
		return false;
	if (code) {
		snprintf(text, sizeof(text), "auction: %s", err.text);
		refuse(r, text, "");
	} else if (offer.accepted) {
		split(a, r, &offer);
	} else {
		refuse(r, offer.message, barred);
	}
	auc_offer_clear(&offer);
	return true;
}

static void refuse(struct auc_array *r, const char *answer, const char *barred)
{
	free(r->refused);
	if (asprintf(&r->refused, "%s%s%s", answer ? answer : "auction: refused",
		     *barred ? "\nauction: not open to this job: " : "", barred) < 0)
		r->refused = strdup("auction: refused");
}

/* The next task of R has bought OFFER. */
static void split(struct auc_agent *a, struct auc_array *r, const struct auc_offer *offer)
{
	uint32_t task = r->tasks[r->at++];
	struct auc_slice slice;
	struct auc_err err;
	enum auc_code code;

	code = auc_slice_of(offer->parts, offer->parts->start, offer->parts->end, &slice, &err);
	if (!code) {
		slice.cents = auc_spending_of(offer->payment, offer->parts, offer->nparts);
		code = auc_job_change_split(a, r->jobs->job_array, task, offer->sale, &slice,
					    offer->receipt, &err);
	}
	if (code) {
		r->failed++;
		auc_auction_drop(a->auction, offer->sale, NULL);
		auc_agent_complain(a, AUC_ERROR_MOVE, &err);
		return;
	}
	memcpy(r->out[r->nout++], offer->sale, sizeof(r->out[0]));
	r->ends[r->nends++] = offer->end;
}

/* Those that are left are refused; R may be gone. */
static void finish(struct auc_agent *a, struct auc_array *r, double now)
{
	const struct auc_held_view v = r->held;
	struct auc_mail_to to = {0};
	char *said = NULL;

	if (!v.stays) {
		char *tasks = auc_job_names_tasks(r->jobs->job_array, NULL, &r->n);

		if (asprintf(&said, "auction: job %u: %u of %u task%s %s not sold: %u_[%s]\n%s",
			     v.job_id, r->n, v.tasks, auc_plural(v.tasks), r->n == 1 ? "is" : "are",
			     v.job_id, tasks ? tasks : "", r->refused) < 0)
			said = NULL;
		free(tasks);
		auc_mail_take(&to, r->jobs->job_array);
		auc_mail_array_unsold(&to, a->auction, r->n);
		auc_mail_clear(&to);
		end_rest(a, &v, r->n, AUC_WHY_REFUSED, said, now);
		free(said);
	}
	auc_array_forget(a, v.job_id);
}

static void end_rest(struct auc_agent *a, const struct auc_held_view *v, unsigned n,
		     const char *why, const char *said, double now)
{
	char *receipt = auc_auction_array_end(a->auction, v->id, n, why, said, now);
	struct auc_err err;

	if (!receipt)
		return;
	slurm_info("sched/auction: array %u: %u task%s not sold: %s", v->job_id, n,
		   n == 1 ? " is" : "s are", why);
	if (auc_receipts_put_final(v->job_id, v->id, receipt, &err))
		auc_agent_complain(a, AUC_ERROR_RECEIPT, &err);
	if (auc_job_change_put(a, AUC_JOB_CHANGE_END, v->job_id, NULL, NULL, receipt, &err) &&
	    err.code != AUC_ESTATE)
		auc_agent_complain(a, AUC_ERROR_KILL, &err);
	free(receipt);
	a->changed = true;
}
