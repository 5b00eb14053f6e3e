/*
 * check_eris.c - see check-private.h: schedules of policy eris and of its baselines. Chunks are
 * trained where they lie or where they are moved to in that slot, all of them, by workers that hold
 * them, with one PS in every slot that has workers; what is sent keeps to the budget.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/check/check-private.h"

#define SLOT_MAX 1e15

static enum auc_code read_transfer(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_server(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static bool check_layout(struct check *c, const struct sold *j, const struct run *run);
static bool check_moves(struct check *c, const struct sold *j);
static uint64_t workers_on(const struct run *run, unsigned server);
static long double whole_bytes(long double mb);
static long double holds(const struct check *c, const struct sold *j, uint64_t workers);
static bool all_trained(const struct check *c, const struct sold *j, long double *lacking);

static const struct field transfer_fields[] = {
	{"slot", field_count, offsetof(struct transfer, slot), 1, SLOT_MAX, true},
	{"from", read_server, offsetof(struct transfer, from), 0, 0, true},
	{"to", read_server, offsetof(struct transfer, to), 0, 0, true},
	{"chunks", field_count, offsetof(struct transfer, chunks), 1, SLOT_MAX, true},
};

enum auc_code check_read_transfers(struct reader *r, struct json_object *v, const struct field *f,
				   void *target)
{
	struct sold *j = target;

	(void)f;
	j->has_transfers = true;
	return read_array(r, v, sizeof(*j->transfers), (void **)&j->transfers, &j->ntransfers,
			  read_transfer);
}

static enum auc_code read_transfer(struct reader *r, struct json_object *v, void *element)
{
	return FIELDS_READ(r, v, transfer_fields, element);
}

static enum auc_code read_server(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct check *c = r->user;
	unsigned *server = target, s;
	const char *name;
	enum auc_code rc;

	(void)f;
	rc = read_text(r, v, "a server of the scenario", &name);

	if (rc != AUC_OK)
		return rc;
	for (s = 0; s < c->s->nservers && strcmp(c->s->servers[s].name, name) != 0; s++)
		;
	*server = s;
	return s < c->s->nservers
		       ? AUC_OK
		       : reader_fail(r, AUC_EINVAL,
				     "expected a server of the scenario, found '%.80s'", name);
}

bool check_eris(struct check *c, const struct sold *j)
{
	bool home = true, sound = true;
	const struct run *run;
	long double lacking;

	if (!check_times(c, j))
		return false;
	for (run = j->runs; run < j->runs + j->nruns && sound; run++) {
		sound = check_layout(c, j, run);
		if (!sound)
			return false;
		home = home &&
		       workers_on(run, run->ps->server) == check_sum(run->workers, run->nworkers);
		check_uploads(c, j, run);
	}
	if (j->colocated != home)
		check_violation(c, "colocated", j, "expected %s", home ? "true" : "false");
	if (!check_moves(c, j))
		return false;
	if (!all_trained(c, j, &lacking))
		check_violation(
			c, "plan", j,
			"expected workers that train all chunks where they lie or are moved "
			"to, found none for %.0Lf",
			lacking);
	return true;
}

/* A baseline of eris. */
void check_eris_steps(struct check *c, struct sold *j)
{
	const struct run *run;
	uint64_t t;
	long double lacking;
	bool all;

	if (!check_moves(c, j))
		return;
	all = all_trained(c, j, &lacking);
	if (j->completed != all)
		check_violation(c, "plan", j,
				"expected all chunks of a completed job and less of "
				"any other, found %.0Lf missing",
				lacking);
	for (run = j->runs; run < j->runs + j->nruns; run++) {
		if (run > j->runs && run->from > run[-1].to + 1)
			c->preemptions++;
		for (t = run->from; t <= run->to; t++)
			check_send(c, j, run, t);
	}
	if (!j->completed && run[-1].to < c->s->slots)
		c->preemptions++;
}

long double check_sent(const struct sold *j, const struct run *run, uint64_t slot)
{
	uint64_t away = check_sum(run->workers, run->nworkers) - workers_on(run, run->ps->server);
	long double mb = away * whole_bytes(j->job->exchange_mb_per_slot);
	unsigned i;

	for (i = 0; i < j->ntransfers; i++)
		if (j->transfers[i].slot == slot)
			mb += j->transfers[i].chunks * whole_bytes(j->job->chunk_mb);
	return mb;
}

/* What is sent is counted in bytes (common/market/traffic.c). */
static long double whole_bytes(long double mb)
{
	return roundl(mb * 1e6L) / 1e6L;
}

void check_send(struct check *c, const struct sold *j, const struct run *run, uint64_t slot)
{
	if (!books_traffic(c->books, slot, check_sent(j, run, slot)))
		check_violation(c, "plan", j,
				"expected no more sent than the budget of slot %" PRIu64, slot);
}

/* Workers, and one PS. */
static bool check_layout(struct check *c, const struct sold *j, const struct run *run)
{
	if (!check_groups(c, j, run))
		return false;
	if (run->ps->count != 1)
		check_violation(c, "plan", j, "expected 1 PS, found %" PRIu64, run->ps->count);
	return true;
}

/* In slots that have workers, between different servers, from where chunks lie. */
static bool check_moves(struct check *c, const struct sold *j)
{
	const struct transfer *t;
	const struct run *run;
	bool sound = true;

	for (unsigned i = 0; i < j->ntransfers; i++) {
		t = &j->transfers[i];
		for (run = j->runs; run < j->runs + j->nruns; run++)
			if (t->slot >= run->from && t->slot <= run->to)
				break;
		if (run < j->runs + j->nruns && workers_on(run, t->to) && t->from != t->to)
			continue;
		check_violation(c, "transfers", j,
				"expected moves to other servers where the job has workers in that "
				"slot, found one in slot %" PRIu64,
				t->slot);
		sound = false;
	}
	return sound;
}

static uint64_t workers_on(const struct run *run, unsigned server)
{
	unsigned i;

	for (i = 0; i < run->nworkers; i++)
		if (run->workers[i].server == server)
			return run->workers[i].count;
	return 0;
}

/* Whole chunks that workers train in a slot, in all epochs. */
static long double holds(const struct check *c, const struct sold *j, uint64_t workers)
{
	long double per_slot = j->job->chunks_per_slot / c->stretch;
	long double k = floorl((long double)workers * per_slot / j->job->epochs) + 2;

	while (k > 0 && books_ceil(k * j->job->epochs / per_slot) > workers)
		k--;
	return k;
}

/*
 * Moved chunks are trained at once where they come to; what lies at a site and stays there in any
 * slot in which workers are left. *LACKING: chunks that find none.
 */
static bool all_trained(const struct check *c, const struct sold *j, long double *lacking)
{
	long double lie, out, room, in, left;
	const struct run *run;
	unsigned s, i;
	uint64_t t;

	*lacking = 0;
	for (s = 0; s < c->s->nservers; s++) {
		lie = out = room = 0;
		for (i = 0; i < j->job->ndata; i++)
			if (j->job->data[i].index == s)
				lie = j->job->data[i].value;
		for (i = 0; i < j->ntransfers; i++)
			out += j->transfers[i].from == s ? j->transfers[i].chunks : 0;
		for (run = j->runs; run < j->runs + j->nruns; run++)
			for (t = run->from; t <= run->to; t++) {
				for (in = 0, i = 0; i < j->ntransfers; i++)
					if (j->transfers[i].slot == t && j->transfers[i].to == s)
						in += j->transfers[i].chunks;
				left = holds(c, j, workers_on(run, s)) - in;
				if (left < 0)
					*lacking -= left;
				else
					room += left;
			}
		if (out > lie)
			*lacking += out - lie;
		else if (lie - out > room)
			*lacking += lie - out - room;
	}
	return *lacking == 0;
}
