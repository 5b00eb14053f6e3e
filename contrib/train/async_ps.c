/*
 * async_ps.c - the parameter server of asynchronous training: takes a step of gradient descent with
 * each gradient that comes, whoever sends it. Workers may come, go and vanish.
 *
 * PS 0 also hands out the chunks (chunks.h), prints how it goes, and writes the checkpoint: from
 * time to time, after each epoch, when a change is announced and when it is asked to end. For that
 * it gathers the parameters of the other PSs, which therefore end after it.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/model/chunks.h"
#include "base/clock.h"
#include "train/link.h"
#include "train/notice.h"
#include "train/report.h"
#include "train/server.h"

#define GATHER_TIMEOUT 60  /* seconds for another PS to send its parameters */
#define CHECK_SECONDS  1.0 /* how often the silent are looked for */

struct async_ps {
	const struct place *place;
	const struct train_options *opt;
	struct server server;
	struct notice notice;
	uint64_t from, n; /* parameters of this PS */
	double *params;   /* all; those of the others are as of the last gathering */
	unsigned nworkers, nbye;
	bool coordinator; /* PS 0 is connected */
	bool over;        /* all epochs are behind */
	/* PS 0 only: */
	struct link *links; /* to the others, by number */
	struct chunks chunks;
	double epoch_begin, save_at;
};

static enum auc_code ps_init(struct async_ps *ps, struct auc_err *err);
static enum auc_code ps_resume(struct async_ps *ps, struct auc_err *err);
static void ps_clear(struct async_ps *ps);
static enum auc_code ps_connect(struct async_ps *ps, struct auc_err *err);
static bool ps_ended(const struct async_ps *ps);
static enum auc_code ps_hello(void *arg, struct client *c, const struct proto_hello *h,
			      struct auc_err *err);
static enum auc_code ps_message(void *arg, struct client *c, const struct proto_header *h,
				const double *v, struct auc_err *err);
static enum auc_code ps_gone(void *arg, struct client *c, bool malformed, struct auc_err *err);
static enum auc_code ps_push(struct async_ps *ps, struct client *c, const double *v,
			     struct auc_err *err);
static bool ps_send_params(struct async_ps *ps, struct client *c);
static enum auc_code ps_next(struct async_ps *ps, struct client *c, const struct proto_header *h,
			     const double *v, struct auc_err *err);
static enum auc_code ps_epoch(struct async_ps *ps, struct auc_err *err);
static void ps_here(struct async_ps *ps, struct client *c, const double *v, uint64_t n);
static void ps_hand_out(struct async_ps *ps);
static void ps_take_back(struct async_ps *ps, struct client *c);
static void ps_drop(struct async_ps *ps, struct client *c, const char *why);
static void ps_drop_silent(struct async_ps *ps);
static enum auc_code ps_gather(struct async_ps *ps, struct auc_err *err);
static enum auc_code ps_save(struct async_ps *ps, bool tell, struct auc_err *err);

enum auc_code async_ps_run(const struct place *p, const struct train_options *opt,
			   struct auc_err *err)
{
	struct async_ps ps = {.place = p, .opt = opt, .server.listen_fd = -1, .notice.fd = -1};
	enum auc_code rc = ps_init(&ps, err);

	while (rc == AUC_OK && !ps_ended(&ps)) {
		rc = server_wait(&ps.server, auc_clock_now() + CHECK_SECONDS, ps.notice.fd, err);
		notice_read(&ps.notice);
		if (rc != AUC_OK || p->rank != 0)
			continue;
		ps_drop_silent(&ps);
		ps_hand_out(&ps);
		if (!ps.over && !ps.notice.stop &&
		    (ps.notice.change || auc_clock_now() >= ps.save_at))
			rc = ps_save(&ps, ps.notice.change, err);
		ps.notice.change = false;
	}
	if (rc == AUC_OK && p->rank == 0 && !ps.over)
		rc = ps_save(&ps, true, err);
	if (rc != AUC_OK)
		complain(err);
	ps_clear(&ps);
	if (rc == AUC_OK && ps.notice.stop && !ps.over)
		notice_die(&ps.notice);
	return rc;
}

static enum auc_code ps_init(struct async_ps *ps, struct auc_err *err)
{
	uint64_t all = model_size(ps->opt->hidden), to, longest;
	enum auc_code rc;

	part_of(all, ps->place->rank, ps->place->nps, &ps->from, &to);
	ps->n = to - ps->from;
	longest = PROTO_METRICS + ps->n;
	if (ps->opt->data && longest < ps->opt->chunks)
		longest = ps->opt->chunks;
	ps->params = calloc(all, sizeof(double));
	ps->links = calloc(ps->place->nps, sizeof(*ps->links));
	if (!ps->params || !ps->links)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (unsigned i = 0; i < ps->place->nps; i++)
		ps->links[i].fd = -1;
	rc = notice_open(&ps->notice, err);
	if (rc == AUC_OK)
		rc = ps_resume(ps, err);
	ps->server.arg = ps;
	ps->server.hello = ps_hello;
	ps->server.message = ps_message;
	ps->server.gone = ps_gone;
	if (rc == AUC_OK)
		rc = server_init(&ps->server, ps->place, TRAIN_TASKS_MAX, longest, err);
	return rc == AUC_OK && ps->place->rank == 0 ? ps_connect(ps, err) : rc;
}

/* All PSs read the same file, which only PS 0 writes. */
static enum auc_code ps_resume(struct async_ps *ps, struct auc_err *err)
{
	uint64_t all = model_size(ps->opt->hidden);
	enum auc_code rc = AUC_ENOENT;
	struct ckpt c = {0};

	if (ps->opt->checkpoint)
		rc = ckpt_read(ps->opt->checkpoint, ps->opt, &c, ps->params, all, err);
	if (rc == AUC_ENOENT)
		model_init(ps->params, ps->opt->hidden, ps->opt->seed);
	else if (rc != AUC_OK)
		return rc;
	ps->over = c.epochs >= ps->opt->epochs;
	if (ps->place->rank != 0) {
		free(c.passes);
		return AUC_OK;
	}
	if (rc == AUC_OK)
		report_state("resumed", ps->opt, &c, ps->params);
	rc = chunks_init(&ps->chunks, ps->opt->chunks, c.epochs, err);
	if (rc == AUC_OK && c.passes)
		chunks_resume(&ps->chunks, c.passes, &c.sum);
	if (rc == AUC_OK && ps->opt->homes.n)
		chunks_settle(&ps->chunks, &ps->opt->homes, ps->opt->epochs);
	free(c.passes);
	ps->epoch_begin = auc_clock_now();
	ps->save_at = auc_clock_now() + ps->opt->checkpoint_every;
	if (rc == AUC_OK && ps->over)
		report_final(ps->opt, ps->chunks.epochs, ps->params);
	return rc;
}

static void ps_clear(struct async_ps *ps)
{
	server_clear(&ps->server);
	for (unsigned i = 0; ps->links && i < ps->place->nps; i++)
		link_close(&ps->links[i]);
	free(ps->links);
	free(ps->params);
	chunks_clear(&ps->chunks);
}

/* PS 0 is a client of the others. */
static enum auc_code ps_connect(struct async_ps *ps, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	uint64_t from, to;

	for (unsigned i = 1; i < ps->place->nps && rc == AUC_OK; i++) {
		part_of(model_size(ps->opt->hidden), i, ps->place->nps, &from, &to);
		ps->links[i].notice = &ps->notice;
		rc = link_open(&ps->links[i], ps->place, i, PROTO_COORDINATOR, PROTO_ASYNC,
			       to - from, ps->opt->connect_wait, err);
		/* From now on it waits for their answers, even if it is to end. */
		ps->links[i].notice = NULL;
		ps->links[i].timeout = GATHER_TIMEOUT;
	}
	/* Asked to end before it began. */
	return rc == AUC_ESTATE ? AUC_OK : rc;
}

/* PS 0 ends when it is asked to, or when nobody is left after the last epoch, unless more may come;
 * the others after PS 0. */
static bool ps_ended(const struct async_ps *ps)
{
	bool all_gone = ps->over && ps->nbye > 0 && ps->nworkers == 0 && !ps->place->elastic;

	return (all_gone || ps->notice.stop) && !ps->coordinator;
}

static enum auc_code ps_hello(void *arg, struct client *c, const struct proto_hello *h,
			      struct auc_err *err)
{
	struct async_ps *ps = arg;

	(void)err;
	if (h->nworkers != PROTO_ASYNC || h->params != ps->n)
		return AUC_OK;
	if (h->id == PROTO_COORDINATOR) {
		/* That is PS 0, and there is one. */
		if (ps->place->rank == 0 || ps->coordinator)
			return AUC_OK;
		ps->coordinator = true;
		c->id = INT64_MAX;
		return AUC_OK;
	}
	if (h->id > TRAIN_ID_MAX)
		return AUC_OK;
	c->id = h->id;
	c->node =
		h->node[TRAIN_NODE_MAX - 1] ? HOMES_NOWHERE : homes_find(&ps->opt->homes, h->node);
	ps->nworkers++;
	if (ps->place->rank == 0 && ps->opt->homes.n && c->node == HOMES_NOWHERE)
		fprintf(stderr,
			"auction-train: worker %lld is on a node where no chunk lies, and has "
			"nothing to do\n",
			(long long)c->id);
	if (ps->place->rank == 0)
		printf("joined worker=%lld workers=%u\n", (long long)c->id, ps->nworkers);
	return AUC_OK;
}

static enum auc_code ps_message(void *arg, struct client *c, const struct proto_header *h,
				const double *v, struct auc_err *err)
{
	struct async_ps *ps = arg;

	if (h->type == PROTO_PUSH && h->count == PROTO_METRICS + ps->n)
		return ps_push(ps, c, v, err);
	if (h->type == PROTO_NEXT && ps->place->rank == 0 && !c->waits &&
	    (h->count == 0 || h->count == PROTO_METRICS))
		return ps_next(ps, c, h, h->count ? v : NULL, err);
	if (h->type == PROTO_HERE && ps->place->rank == 0 && ps->opt->data && !c->waits) {
		ps_here(ps, c, v, h->count);
	} else if (h->type == PROTO_PULL && h->count == 0) {
		if (!ps_send_params(ps, c))
			ps_drop(ps, c, "does not take its parameters");
	} else if (h->type == PROTO_BYE && h->count == 0) {
		/* Workers say it when there is nothing more to do. */
		ps->over = true;
		ps->nbye++;
		c->bye = true;
	} else {
		ps_drop(ps, c, "sent a message that is not due");
	}
	return AUC_OK;
}

/* A worker that is gone is no failure: what it had is another's. */
static enum auc_code ps_gone(void *arg, struct client *c, bool malformed, struct auc_err *err)
{
	struct async_ps *ps = arg;

	(void)err;
	if (malformed)
		fprintf(stderr, "auction-train: worker %lld sent a malformed message\n",
			(long long)c->id);
	ps_take_back(ps, c);
	return AUC_OK;
}

static enum auc_code ps_push(struct async_ps *ps, struct client *c, const double *v,
			     struct auc_err *err)
{
	double begin = auc_clock_now(), samples = v[0];

	for (uint64_t i = 0; i < PROTO_METRICS + ps->n; i++)
		if (!isfinite(v[i]))
			return auc_err_set(err, AUC_EINVAL,
					   "worker %lld: its gradient is not finite: lower --rate",
					   (long long)c->id);
	for (uint64_t i = 0; i < ps->n && samples > 0; i++)
		ps->params[ps->from + i] -= ps->opt->rate * v[PROTO_METRICS + i] / samples;
	auc_clock_sleep_until(begin + ps->opt->pace);
	if (!ps_send_params(ps, c))
		ps_drop(ps, c, "does not take its parameters");
	return AUC_OK;
}

static bool ps_send_params(struct async_ps *ps, struct client *c)
{
	struct proto_header h = {
		.magic = PROTO_MAGIC, .type = PROTO_PARAMS, .count = PROTO_METRICS + ps->n};

	return client_send(c, &h, NULL, ps->params + ps->from, ps->n);
}

/* C has done its chunk, if V are sums, and wants another. */
static enum auc_code ps_next(struct async_ps *ps, struct client *c, const struct proto_header *h,
			     const double *v, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	bool whole = false;

	if (v && (!c->has_chunk || h->epochs != c->pass || h->done != c->chunk)) {
		ps_drop(ps, c, "has done a chunk that is not its own");
		return AUC_OK;
	}
	if (!v && c->has_chunk) {
		ps_drop(ps, c, "wants a chunk and has not done the one it has");
		return AUC_OK;
	}
	if (v) {
		struct metrics m = {v[0], v[1], v[2]};

		c->has_chunk = false;
		if (chunks_done(&ps->chunks, c->pass, c->chunk, &m, &whole) && ps->chunks.homes)
			report_chunk(c->chunk, c->pass + 1, ps->opt->homes.nodes[c->node], &m);
	}
	c->waits = true;
	if (whole)
		rc = ps_epoch(ps, err);
	if (rc == AUC_OK)
		ps_hand_out(ps);
	return rc;
}

static enum auc_code ps_epoch(struct async_ps *ps, struct auc_err *err)
{
	enum auc_code rc;

	report_epoch(ps->chunks.epochs, &ps->chunks.last, auc_clock_now() - ps->epoch_begin);
	ps->epoch_begin = auc_clock_now();
	rc = ps_save(ps, false, err);
	if (rc != AUC_OK || ps->chunks.epochs < ps->opt->epochs)
		return rc;
	ps->over = true;
	rc = ps_gather(ps, err);
	if (rc == AUC_OK)
		report_final(ps->opt, ps->chunks.epochs, ps->params);
	return rc;
}

/* The chunks that C has: V[N]. */
static void ps_here(struct async_ps *ps, struct client *c, const double *v, uint64_t n)
{
	free(c->here);
	c->here = calloc(ps->opt->chunks / 64 + 1, sizeof(*c->here));
	for (uint64_t i = 0; i < n && c->here; i++)
		if (v[i] >= 0 && v[i] < (double)ps->opt->chunks)
			c->here[(uint64_t)v[i] / 64] |= (uint64_t)1 << ((uint64_t)v[i] % 64);
	if (!c->here)
		ps_drop(ps, c, "has chunks for which there is no memory");
}

/* Answers the workers that wait, as far as there are chunks. */
static void ps_hand_out(struct async_ps *ps)
{
	for (unsigned i = 0; i < ps->server.nclients; i++) {
		struct client *c = &ps->server.clients[i];
		struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_END};

		if (c->fd < 0 || !c->waits)
			continue;
		if (!ps->over) {
			c->has_chunk = chunks_take(&ps->chunks, c->node, c->here, &c->chunk);
			if (!c->has_chunk && !c->here)
				continue;
			/* One may come to a worker that has none now. */
			h.type = c->has_chunk ? PROTO_CHUNK : PROTO_WAIT;
		}
		if (c->has_chunk) {
			c->pass = ps->chunks.passes[c->chunk];
			h.epochs = c->pass;
			h.done = c->chunk;
		}
		c->waits = false;
		if (!client_send(c, &h, NULL, NULL, 0))
			ps_drop(ps, c, "does not take its chunk");
	}
}

/* C is not served any more. */
static void ps_take_back(struct async_ps *ps, struct client *c)
{
	if (c->id == INT64_MAX) {
		ps->coordinator = false;
		return;
	}
	ps->nworkers--;
	if (ps->place->rank != 0)
		return;
	printf("left worker=%lld workers=%u\n", (long long)c->id, ps->nworkers);
	if (c->has_chunk)
		chunks_return(&ps->chunks, c->pass, c->chunk);
	c->has_chunk = c->waits = false;
}

/* Its connection ends; ps_gone() is for those that end it themselves. */
static void ps_drop(struct async_ps *ps, struct client *c, const char *why)
{
	fprintf(stderr, "auction-train: worker %lld %s\n", (long long)c->id, why);
	ps_take_back(ps, c);
	client_close(c);
}

/* A worker that has a chunk and says nothing: its node may hang. */
static void ps_drop_silent(struct async_ps *ps)
{
	double now = auc_clock_now();

	for (unsigned i = 0; i < ps->server.nclients; i++) {
		struct client *c = &ps->server.clients[i];

		if (c->fd >= 0 && c->has_chunk && now > c->heard + ps->opt->lost)
			ps_drop(ps, c, "has been silent for too long (--lost)");
	}
}

/* Takes the parameters of the other PSs. */
static enum auc_code ps_gather(struct async_ps *ps, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	uint64_t from, to;

	for (unsigned i = 1; i < ps->place->nps && rc == AUC_OK; i++) {
		struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_PULL};

		part_of(model_size(ps->opt->hidden), i, ps->place->nps, &from, &to);
		rc = link_send(&ps->links[i], &h, sizeof(h), false, err);
		if (rc == AUC_OK)
			rc = link_params(&ps->links[i], &h, NULL, ps->params + from, to - from,
					 err);
	}
	return rc;
}

/* PS 0: writes the checkpoint, and if TELL says so. */
static enum auc_code ps_save(struct async_ps *ps, bool tell, struct auc_err *err)
{
	struct ckpt c = {
		.epochs = ps->chunks.epochs, .passes = ps->chunks.passes, .sum = ps->chunks.sum};
	enum auc_code rc;

	ps->save_at = auc_clock_now() + ps->opt->checkpoint_every;
	if (!ps->opt->checkpoint)
		return AUC_OK;
	rc = ps_gather(ps, err);
	if (rc == AUC_OK)
		rc = ckpt_write(ps->opt->checkpoint, ps->opt, &c, ps->params,
				model_size(ps->opt->hidden), err);
	if (rc == AUC_OK && tell)
		report_state("checkpoint", ps->opt, &c, ps->params);
	return rc;
}
