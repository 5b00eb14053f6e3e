/*
 * ps.c - the parameter server of synchronous training: holds one part of the parameters, waits in
 * every step for the gradients of all workers, and takes one step of gradient descent along their
 * average.
 *
 * Gradients are added in the order of ranks, so that the result does not depend on who was first.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "train/model/model.h"
#include "train/notice.h"
#include "train/server.h"

#define LAST_SECONDS 2.0 /* for the workers to go, when all are to end */

struct ps {
	const struct place *place;
	const struct train_options *opt;
	struct server server;
	struct notice notice;
	uint64_t n; /* parameters of this PS */
	double *params;
	double *pushed; /* by worker: metrics, gradient */
	bool *has_pushed;
	unsigned npushed, nhello, nbye, ngone;
	bool started;
	uint64_t step, epochs, done;
	double sums[PROTO_METRICS];
};

static enum auc_code ps_init(struct ps *ps, struct auc_err *err);
static void ps_clear(struct ps *ps);
static enum auc_code ps_hello(void *arg, struct client *c, const struct proto_hello *h,
			      struct auc_err *err);
static enum auc_code ps_message(void *arg, struct client *c, const struct proto_header *h,
				const double *v, struct auc_err *err);
static enum auc_code ps_gone(void *arg, struct client *c, bool malformed, struct auc_err *err);
static enum auc_code ps_push(struct ps *ps, struct client *c, const double *v, struct auc_err *err);
static void ps_update(struct ps *ps);
static enum auc_code ps_send_params(struct ps *ps, struct auc_err *err);

enum auc_code ps_run(const struct place *p, const struct train_options *opt, struct auc_err *err)
{
	struct ps ps = {.place = p, .opt = opt, .server.listen_fd = -1, .notice.fd = -1};
	enum auc_code rc = ps_init(&ps, err);
	double stop_at = 0;

	while (rc == AUC_OK && ps.nbye < p->nworkers &&
	       (stop_at <= 0 || auc_clock_now() < stop_at)) {
		rc = server_wait(&ps.server, stop_at, ps.notice.fd, err);
		notice_read(&ps.notice);
		/* The workers are to end, too: a moment later nobody has to miss us. */
		if (ps.notice.stop && stop_at <= 0)
			stop_at = auc_clock_now() + LAST_SECONDS;
		if (ps.notice.stop && ps.ngone == ps.nhello)
			break;
	}
	if (rc != AUC_OK)
		complain(err);
	ps_clear(&ps);
	if (rc == AUC_OK && ps.notice.stop)
		notice_die(&ps.notice);
	return rc;
}

static enum auc_code ps_init(struct ps *ps, struct auc_err *err)
{
	unsigned nworkers = ps->place->nworkers;
	uint64_t from, to;

	part_of(model_size(ps->opt->hidden), ps->place->rank, ps->place->nps, &from, &to);
	ps->n = to - from;
	ps->params = calloc(ps->n, sizeof(double));
	ps->pushed = calloc((size_t)nworkers * (PROTO_METRICS + ps->n), sizeof(double));
	ps->has_pushed = calloc(nworkers, sizeof(bool));
	if (!ps->params || !ps->pushed || !ps->has_pushed)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	ps->server.arg = ps;
	ps->server.hello = ps_hello;
	ps->server.message = ps_message;
	ps->server.gone = ps_gone;
	if (notice_open(&ps->notice, err) != AUC_OK)
		return AUC_EIO;
	return server_init(&ps->server, ps->place, nworkers, PROTO_METRICS + ps->n, err);
}

static void ps_clear(struct ps *ps)
{
	server_clear(&ps->server);
	free(ps->params);
	free(ps->pushed);
	free(ps->has_pushed);
}

/* Takes a worker that is missing. */
static enum auc_code ps_hello(void *arg, struct client *c, const struct proto_hello *h,
			      struct auc_err *err)
{
	struct ps *ps = arg;

	if (h->nworkers != ps->place->nworkers || h->id >= h->nworkers || h->params != ps->n)
		return AUC_OK;
	for (unsigned i = 0; i < ps->server.nclients; i++)
		if (ps->server.clients[i].fd >= 0 && ps->server.clients[i].id == (int64_t)h->id)
			return AUC_OK;
	c->id = h->id;
	ps->nhello++;
	/* Once all are there and the start is, everybody gets the parameters. */
	return ps->started && ps->nhello == ps->place->nworkers ? ps_send_params(ps, err) : AUC_OK;
}

static enum auc_code ps_message(void *arg, struct client *c, const struct proto_header *h,
				const double *v, struct auc_err *err)
{
	struct ps *ps = arg;

	if (h->type == PROTO_START && c->id == 0 && !ps->started && h->count == ps->n) {
		memcpy(ps->params, v, ps->n * sizeof(double));
		ps->epochs = h->epochs;
		ps->done = h->done;
		ps->started = true;
		return ps->nhello == ps->place->nworkers ? ps_send_params(ps, err) : AUC_OK;
	}
	if (h->type == PROTO_PUSH && ps->started && h->step == ps->step && !ps->has_pushed[c->id] &&
	    h->count == PROTO_METRICS + ps->n)
		return ps_push(ps, c, v, err);
	if (h->type != PROTO_BYE || c->bye || h->count != 0)
		return auc_err_set(err, AUC_EINVAL, "worker %d sent a message that is not due",
				   (int)c->id);
	c->bye = true;
	ps->nbye++;
	return AUC_OK;
}

static enum auc_code ps_gone(void *arg, struct client *c, bool malformed, struct auc_err *err)
{
	struct ps *ps = arg;

	notice_read(&ps->notice);
	ps->ngone++;
	if (c->bye || ps->notice.stop)
		return AUC_OK;
	return auc_err_set(err, AUC_EIO, "worker %d %s", (int)c->id,
			   malformed ? "sent a malformed message" : "went away");
}

static enum auc_code ps_push(struct ps *ps, struct client *c, const double *v, struct auc_err *err)
{
	double *to = ps->pushed + (size_t)c->id * (PROTO_METRICS + ps->n), begin;

	for (uint64_t i = 0; i < PROTO_METRICS + ps->n; i++)
		if (!isfinite(v[i]))
			return auc_err_set(
				err, AUC_EINVAL,
				"worker %d: the gradient of step %llu is not finite: lower --rate",
				(int)c->id, (unsigned long long)ps->step);
	memcpy(to, v, (PROTO_METRICS + ps->n) * sizeof(double));
	ps->has_pushed[c->id] = true;
	if (++ps->npushed < ps->place->nworkers)
		return AUC_OK;
	begin = auc_clock_now();
	ps_update(ps);
	auc_clock_sleep_until(begin + ps->opt->pace);
	return ps_send_params(ps, err);
}

/* One step along the average gradient of all samples of all workers. */
static void ps_update(struct ps *ps)
{
	unsigned nworkers = ps->place->nworkers;
	size_t stride = PROTO_METRICS + ps->n;

	memset(ps->sums, 0, sizeof(ps->sums));
	for (unsigned w = 0; w < nworkers; w++)
		for (unsigned k = 0; k < PROTO_METRICS; k++)
			ps->sums[k] += ps->pushed[w * stride + k];
	for (uint64_t i = 0; i < ps->n && ps->sums[0] > 0; i++) {
		double sum = 0;

		for (unsigned w = 0; w < nworkers; w++)
			sum += ps->pushed[w * stride + PROTO_METRICS + i];
		ps->params[i] -= ps->opt->rate * sum / ps->sums[0];
	}
	memset(ps->has_pushed, 0, nworkers * sizeof(bool));
	ps->npushed = 0;
	ps->step++;
}

static enum auc_code ps_send_params(struct ps *ps, struct auc_err *err)
{
	struct proto_header h = {.magic = PROTO_MAGIC,
				 .type = PROTO_PARAMS,
				 .step = ps->step,
				 .epochs = ps->epochs,
				 .done = ps->done,
				 .count = PROTO_METRICS + ps->n};

	for (unsigned i = 0; i < ps->server.nclients; i++) {
		struct client *c = &ps->server.clients[i];

		if (c->fd >= 0 && c->id >= 0 && !c->bye &&
		    !client_send(c, &h, ps->sums, ps->params, ps->n))
			return auc_err_set(err, AUC_EIO,
					   "worker %d does not take its parameters: %s", (int)c->id,
					   strerror(errno));
	}
	return AUC_OK;
}
