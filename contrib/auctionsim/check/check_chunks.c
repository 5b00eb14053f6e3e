/*
 * check_chunks.c - see check-private.h: jobs that are trained chunk by chunk, each chunk on one
 * worker.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/check/check-private.h"

/* At SLOT of SERVER the number of something changes by BY. */
struct change {
	unsigned server;
	uint64_t slot;
	long double by;
	const struct sold *job; /* of a rise */
};

/* A chunk held a worker. */
struct hold {
	unsigned server;
	uint64_t worker, from, to;
	const struct sold *job;
};

static enum auc_code read_chunk(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_server(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_spans(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code read_span(struct reader *r, struct json_object *v, void *element);
static bool check_chunk(struct check *c, const struct sold *j, const struct chunk *chunk);
static void check_worker(struct check *c, const struct sold *j, const struct chunk *chunk);
static bool check_plan(struct check *c, const struct sold *j);
static bool check_holds(struct check *c);
static bool same_type(const struct scenario_type *a, const struct scenario_type *b);
static bool check_storage(struct check *c);
static bool storage_of(const struct check *c, unsigned server, uint64_t slot, long double *room);
static int compare_changes(const void *a, const void *b);
static int compare_holds(const void *a, const void *b);

static const struct field chunk_fields[] = {
	{"server", read_server, 0, 0, 0, true},
	{"worker", field_count, offsetof(struct chunk, worker), 0, 1e9, true},
	{"runs", read_spans, 0, 0, 0, true},
};

enum auc_code check_read_chunks(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	struct sold *j = target;

	(void)f;
	j->has_chunks = true;
	return read_array(r, v, sizeof(*j->chunks), (void **)&j->chunks, &j->nchunks, read_chunk);
}

void check_clear_chunks(struct sold *j)
{
	unsigned i;

	for (i = 0; i < j->nchunks; i++)
		free(j->chunks[i].runs);
	free(j->chunks);
}

void check_chunks(struct check *c, struct sold *j)
{
	const struct chunk *chunk;
	uint64_t end = 0, done = 0;
	bool cloud = j->nchunks > 0, good = true;
	const struct run *run;
	long double work;

	if (j->nchunks != j->job->chunks) {
		check_violation(c, "chunks", j, "expected %" PRIu64 ", found %u", j->job->chunks,
				j->nchunks);
		return;
	}
	for (chunk = j->chunks; chunk < j->chunks + j->nchunks; chunk++) {
		good = check_chunk(c, j, chunk) && good;
		cloud = cloud && c->s->servers[chunk->server].cloud &&
			chunk->server == j->chunks->server;
		if (chunk->nruns && chunk->runs[chunk->nruns - 1].to + 1 > end)
			end = chunk->runs[chunk->nruns - 1].to + 1;
	}
	if (j->nruns && j->colocated != cloud)
		check_violation(c, "colocated", j, "expected %s", cloud ? "true" : "false");
	if (!good || !j->worker)
		return;
	for (run = j->runs; cloud && run < j->runs + j->nruns; run++)
		if (run->ps->server != j->chunks->server)
			check_violation(c, "plan", j,
					"expected the PS in the cloud with all the workers");
	work = books_work(c->books, j->job, j->worker, j->worker_seconds, j->ps_seconds, cloud);
	j->chunk_slots = books_duration(work / j->job->chunks, 1);
	for (chunk = j->chunks; chunk < j->chunks + j->nchunks; chunk++) {
		check_worker(c, j, chunk);
		done += chunk->slots >= j->chunk_slots;
		if (chunk->slots > j->chunk_slots ||
		    (j->completed && chunk->slots < j->chunk_slots))
			check_violation(
				c, "chunks", j,
				"chunk %u: expected %.0Lf slots of training, found %" PRIu64,
				(unsigned)(chunk - j->chunks), j->chunk_slots, chunk->slots);
		if (!chunk->nruns)
			continue;
		c->preemptions += chunk->nruns - 1;
		c->preemptions += chunk->slots < j->chunk_slots &&
				  chunk->runs[chunk->nruns - 1].to < c->s->slots;
	}
	if (!j->completed && done == j->nchunks)
		check_violation(c, "completion", j, "expected %" PRIu64 ", for all is trained",
				end);
	if (j->completed && j->completion != end)
		check_violation(c, "completion", j,
				"expected %" PRIu64
				", the slot after the last chunk's last, found "
				"%" PRIu64,
				end, j->completion);
	if (!check_plan(c, j))
		c->no_memory = true;
}

void check_chunks_end(struct check *c)
{
	if (!check_holds(c) || !check_storage(c) || (!c->violations && !check_turns(c)))
		c->no_memory = true;
}

static enum auc_code read_chunk(struct reader *r, struct json_object *v, void *element)
{
	struct chunk *chunk = element;
	enum auc_code rc = FIELDS_READ(r, v, chunk_fields, chunk);
	unsigned i;

	for (i = 0; i < chunk->nruns; i++)
		chunk->slots += chunk->runs[i].to - chunk->runs[i].from + 1;
	return rc;
}

static enum auc_code read_server(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct check *c = r->user;
	struct chunk *chunk = target;
	const char *name;
	enum auc_code rc = read_text(r, v, "a server", &name);

	(void)f;
	if (rc != AUC_OK)
		return rc;
	while (chunk->server < c->s->nservers &&
	       strcmp(c->s->servers[chunk->server].name, name) != 0)
		chunk->server++;
	return chunk->server < c->s->nservers ? AUC_OK
					      : reader_expected(r, v, "a server of the scenario");
}

static enum auc_code read_spans(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	struct chunk *chunk = target;

	(void)f;
	return read_array(r, v, sizeof(*chunk->runs), (void **)&chunk->runs, &chunk->nruns,
			  read_span);
}

static enum auc_code read_span(struct reader *r, struct json_object *v, void *element)
{
	struct check *c = r->user;
	struct span *span = element;
	enum auc_code rc;

	if (!json_object_is_type(v, json_type_array) || json_object_array_length(v) != 2)
		return reader_expected(r, v, "[from, to]");
	rc = read_count(r, json_object_array_get_idx(v, 0), 1, c->s->slots, &span->from);
	if (rc == AUC_OK)
		rc = read_count(r, json_object_array_get_idx(v, 1), span->from, c->s->slots,
				&span->to);
	return rc;
}

/* Slots in order, when the data are there. */
static bool check_chunk(struct check *c, const struct sold *j, const struct chunk *chunk)
{
	unsigned i, number = (unsigned)(chunk - j->chunks);
	const struct scenario_server *server = &c->s->servers[chunk->server];
	long double ready = j->job->arrival + books_ceil(scenario_upload(j->job, chunk->server));
	bool good = true;

	if (chunk->nruns && chunk->runs->from < ready)
		check_violation(c, "chunks", j,
				"chunk %u: expected no training on %s before slot %.0Lf, when its "
				"data are there, found slot %" PRIu64,
				number, server->name, ready, chunk->runs->from);
	if (!(server->roles & AUC_ROLE_WORKER))
		check_violation(c, "chunks", j, "chunk %u: expected no worker on %s", number,
				server->name);
	for (i = 1; i < chunk->nruns; i++)
		if (chunk->runs[i].from <= chunk->runs[i - 1].to + 1) {
			check_violation(c, "chunks", j,
					"chunk %u: expected maximal runs of slots in order",
					number);
			good = false;
		}
	return good;
}

/* There is a worker of that number on an empty server; in the cloud, where each chunk has its own,
 * one may keep its number while it waits. */
static void check_worker(struct check *c, const struct sold *j, const struct chunk *chunk)
{
	const struct scenario_server *server = &c->s->servers[chunk->server];
	long double fit = books_fit(c->books, j->worker, AUC_ROLE_WORKER, chunk->server);
	long double chunks = 0;
	unsigned i;

	for (i = 0; server->cloud && i < c->s->njobs; i++)
		chunks += c->s->jobs[i].chunks;
	fit = fmaxl(fit, chunks);
	if (chunk->worker >= fit)
		check_violation(c, "chunks", j,
				"chunk %u: expected a worker of %s, 0 to %.0Lf, found %" PRIu64,
				(unsigned)(chunk - j->chunks), server->name, fit - 1,
				chunk->worker);
}

/* In every slot the plan has as many workers on a server as chunks are trained there. */
static bool check_plan(struct check *c, const struct sold *j)
{
	const struct chunk *chunk;
	const struct run *run;
	struct change *list;
	long double sum = 0;
	size_t n = 0, i;
	unsigned k;

	for (chunk = j->chunks; chunk < j->chunks + j->nchunks; chunk++)
		n += 2 * (size_t)chunk->nruns;
	for (run = j->runs; run < j->runs + j->nruns; run++)
		n += 2 * (size_t)run->nworkers;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return false;
	n = 0;
	for (chunk = j->chunks; chunk < j->chunks + j->nchunks; chunk++)
		for (k = 0; k < chunk->nruns; k++) {
			list[n++] = (struct change){chunk->server, chunk->runs[k].from, 1, NULL};
			list[n++] = (struct change){chunk->server, chunk->runs[k].to + 1, -1, NULL};
		}
	for (run = j->runs; run < j->runs + j->nruns; run++)
		for (k = 0; k < run->nworkers; k++) {
			list[n++] = (struct change){run->workers[k].server, run->from,
						    -(long double)run->workers[k].count, NULL};
			list[n++] = (struct change){run->workers[k].server, run->to + 1,
						    (long double)run->workers[k].count, NULL};
		}
	qsort(list, n, sizeof(*list), compare_changes);
	for (i = 0; i < n; i++) {
		sum += list[i].by;
		if (sum == 0 || (i + 1 < n && list[i].server == list[i + 1].server &&
				 list[i].slot == list[i + 1].slot))
			continue;
		check_violation(c, "plan", j,
				"expected a worker for each chunk that is trained on %s in slot "
				"%" PRIu64 ", found %.0Lf %s",
				c->s->servers[list[i].server].name, list[i].slot,
				sum > 0 ? sum : -sum, sum > 0 ? "too few" : "too many");
		break;
	}
	free(list);
	return true;
}

/* No two chunks on a worker in a slot. */
static bool check_holds(struct check *c)
{
	const struct chunk *chunk;
	const struct sold *j;
	struct hold *list;
	size_t n = 0, i;
	unsigned k;

	for (j = c->sold; j < c->sold + c->s->njobs; j++)
		for (i = 0; j->sound && j->worker && i < j->nchunks; i++)
			n += j->chunks[i].nruns;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return false;
	n = 0;
	for (j = c->sold; j < c->sold + c->s->njobs; j++)
		for (i = 0; j->sound && j->worker && i < j->nchunks; i++) {
			chunk = &j->chunks[i];
			for (k = 0; k < chunk->nruns; k++)
				list[n++] =
					(struct hold){chunk->server, chunk->worker,
						      chunk->runs[k].from, chunk->runs[k].to, j};
		}
	qsort(list, n, sizeof(*list), compare_holds);
	for (i = 1; i < n; i++)
		if (list[i].server == list[i - 1].server && list[i].worker == list[i - 1].worker &&
		    same_type(list[i].job->worker, list[i - 1].job->worker) &&
		    list[i].from <= list[i - 1].to)
			check_violation(c, "chunks", list[i].job,
					"expected worker %" PRIu64
					" of %s for one chunk at a time, "
					"found one of job %.80s there, too, in slot %" PRIu64,
					list[i].worker, c->s->servers[list[i].server].name,
					list[i - 1].job->id, list[i].from);
	free(list);
	return true;
}

/* Jobs may bring the same type along. */
static bool same_type(const struct scenario_type *a, const struct scenario_type *b)
{
	unsigned i;

	if (a == b)
		return true;
	if (strcmp(a->name, b->name) != 0 || a->ntres != b->ntres)
		return false;
	for (i = 0; i < a->ntres; i++)
		if (strcmp(a->tres[i].name, b->tres[i].name) != 0 ||
		    a->tres[i].value != b->tres[i].value)
			return false;
	return true;
}

/* When a job arrives there is room for its chunks; they stay until it is complete. */
static bool check_storage(struct check *c)
{
	const struct chunk *chunk;
	const struct sold *j;
	struct change *list;
	long double sum = 0, room;
	size_t n = 0, i;

	for (j = c->sold; j < c->sold + c->s->njobs; j++)
		n += j->sound ? 2 * (size_t)j->nchunks : 0;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return false;
	n = 0;
	for (j = c->sold; j < c->sold + c->s->njobs; j++)
		for (i = 0; j->sound && i < j->nchunks; i++) {
			chunk = &j->chunks[i];
			list[n++] = (struct change){chunk->server, j->job->arrival,
						    j->job->chunk_mb, j};
			if (j->completed)
				list[n++] = (struct change){chunk->server, j->completion,
							    -(long double)j->job->chunk_mb, NULL};
		}
	qsort(list, n, sizeof(*list), compare_changes);
	for (i = 0; i < n; i++) {
		if (!i || list[i].server != list[i - 1].server)
			sum = 0;
		sum += list[i].by;
		if (list[i].by <= 0 || !storage_of(c, list[i].server, list[i].slot, &room) ||
		    sum <= room * (1 + 1e-9L) + 1e-9L)
			continue;
		check_violation(c, "chunks", list[i].job,
				"expected at most %.17Lg MB stored on %s in slot %" PRIu64
				", found %.17Lg",
				room, c->s->servers[list[i].server].name, list[i].slot, sum);
		break;
	}
	free(list);
	return true;
}

/* MB of storage that are not taken otherwise; false: not limited. */
static bool storage_of(const struct check *c, unsigned server, uint64_t slot, long double *room)
{
	const struct scenario_server *s = &c->s->servers[server];
	const struct scenario_entry *e;
	unsigned i;

	for (i = 0, *room = 0; i < s->ncapacity; i++)
		if (!strcmp(s->capacity[i].name, "storage"))
			*room = s->capacity[i].value;
	if (*room == 0)
		return false;
	for (i = 0; i < c->s->nstate; i++) {
		e = &c->s->state[i];
		if (e->server == server && !strcmp(e->tres, "storage") && e->from <= slot &&
		    slot <= e->to)
			*room -= e->amount;
	}
	return true;
}

/* By server and slot, what goes before what comes. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

/* By worker, then by slot. */
static int compare_holds(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;
	int names = strcmp(x->job->worker->name, y->job->worker->name);

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	if (names)
		return names;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}
