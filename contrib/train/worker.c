/*
 * worker.c - a worker: in every step it pulls the parameters, computes the gradient on the next
 * mini-batch of its share, and pushes it.
 *
 * The mini-batches of an epoch are dealt out to the workers in turn: with D chunks of M
 * mini-batches and n workers there are ceil(D M / n) steps, which is what a plan counts on; chunks
 * dealt out whole could take twice that. Who has none left in the last step pushes nothing but its
 * presence. Worker 0 also brings the start (from a seed or a checkpoint), prints how it goes and
 * writes the checkpoint.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ckpt.h"
#include "clock.h"
#include "data.h"
#include "model.h"
#include "proto.h"

#define CONNECT_AGAIN 0.1 /* seconds between two attempts */

struct worker {
	const struct place *place;
	const struct train_options *opt;
	struct data data;
	int *fd;    /* by PS */
	uint64_t n; /* parameters */
	double *params, *grad, *scratch;
	struct metrics mine; /* of the mini-batch being pushed */
	struct metrics all;  /* of all workers in the last step */
	uint64_t step, epochs;
};

static enum auc_code worker_init(struct worker *w, struct auc_err *err);
static void worker_clear(struct worker *w);
static enum auc_code worker_connect(struct worker *w, unsigned ps, struct auc_err *err);
static enum auc_code worker_hello(struct worker *w, unsigned ps, struct auc_err *err);
static enum auc_code worker_start(struct worker *w, struct auc_err *err);
static enum auc_code worker_train(struct worker *w, struct auc_err *err);
static enum auc_code worker_epoch(struct worker *w, struct metrics *sum, struct auc_err *err);
static void worker_minibatch(struct worker *w, uint64_t minibatch);
static enum auc_code worker_push(struct worker *w, struct auc_err *err);
static enum auc_code worker_pull(struct worker *w, uint64_t *epochs, struct auc_err *err);
static enum auc_code worker_bye(struct worker *w, struct auc_err *err);
static void worker_held_out(const struct worker *w);
static enum auc_code ps_send(const struct worker *w, unsigned ps, const void *data, size_t len,
			     bool more, struct auc_err *err);
static enum auc_code ps_recv(const struct worker *w, unsigned ps, void *data, size_t len,
			     struct auc_err *err);

enum auc_code worker_run(const struct place *p, const struct train_options *opt,
			 struct auc_err *err)
{
	struct worker w = {.place = p, .opt = opt};
	enum auc_code rc = worker_init(&w, err);

	for (unsigned i = 0; i < p->nps && rc == AUC_OK; i++)
		rc = worker_connect(&w, i, err);
	if (rc == AUC_OK && p->rank == 0)
		rc = worker_start(&w, err);
	if (rc == AUC_OK)
		rc = worker_pull(&w, &w.epochs, err);
	if (rc == AUC_OK)
		rc = worker_train(&w, err);
	if (rc == AUC_OK)
		rc = worker_bye(&w, err);
	if (rc == AUC_OK && p->rank == 0)
		worker_held_out(&w);
	if (rc != AUC_OK)
		complain(err);
	worker_clear(&w);
	return rc;
}

static enum auc_code worker_init(struct worker *w, struct auc_err *err)
{
	w->n = model_size(w->opt->hidden);
	data_init(&w->data, w->opt->seed);
	w->fd = malloc(w->place->nps * sizeof(*w->fd));
	w->params = calloc(w->n, sizeof(double));
	w->grad = calloc(w->n, sizeof(double));
	w->scratch = calloc(2 * w->opt->hidden, sizeof(double));
	for (unsigned i = 0; w->fd && i < w->place->nps; i++)
		w->fd[i] = -1;
	if (!w->fd || !w->params || !w->grad || !w->scratch)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	return AUC_OK;
}

static void worker_clear(struct worker *w)
{
	for (unsigned i = 0; w->fd && i < w->place->nps; i++)
		if (w->fd[i] >= 0)
			close(w->fd[i]);
	free(w->fd);
	free(w->params);
	free(w->grad);
	free(w->scratch);
}

/* PSs start when we do: until they listen, try again. */
static enum auc_code worker_connect(struct worker *w, unsigned ps, struct auc_err *err)
{
	const struct train_host *h = &w->place->ps[ps];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *ai;
	double until = clock_now() + w->opt->connect_wait;
	char service[8];
	int rc, on = 1;

	snprintf(service, sizeof(service), "%u", h->port);
	rc = getaddrinfo(h->host, service, &hints, &ai);
	if (rc != 0)
		return auc_err_set(err, AUC_EIO, "%s: %s", h->host, gai_strerror(rc));
	for (;;) {
		w->fd[ps] = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (w->fd[ps] >= 0 && connect(w->fd[ps], ai->ai_addr, ai->ai_addrlen) == 0)
			break;
		rc = errno;
		if (w->fd[ps] >= 0)
			close(w->fd[ps]);
		w->fd[ps] = -1;
		if (clock_now() >= until) {
			freeaddrinfo(ai);
			return auc_err_set(err, AUC_EIO, "cannot reach PS %u at %s port %u: %s", ps,
					   h->host, h->port, strerror(rc));
		}
		clock_sleep(CONNECT_AGAIN);
	}
	freeaddrinfo(ai);
	setsockopt(w->fd[ps], SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(w->fd[ps], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return worker_hello(w, ps, err);
}

static enum auc_code worker_hello(struct worker *w, unsigned ps, struct auc_err *err)
{
	struct proto_hello hello = {.header = {.magic = PROTO_MAGIC, .type = PROTO_HELLO},
				    .rank = w->place->rank,
				    .nworkers = w->place->nworkers};
	uint64_t from, to;

	part_of(w->n, ps, w->place->nps, &from, &to);
	hello.params = to - from;
	memcpy(hello.token, w->place->token, sizeof(hello.token));
	return ps_send(w, ps, &hello, sizeof(hello), false, err);
}

/* Worker 0: the parameters everybody starts with. */
static enum auc_code worker_start(struct worker *w, struct auc_err *err)
{
	struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_START};
	enum auc_code rc = AUC_ENOENT;
	uint64_t from, to;

	if (w->opt->checkpoint)
		rc = ckpt_read(w->opt->checkpoint, w->opt, &h.epochs, w->params, w->n, err);
	if (rc == AUC_ENOENT) {
		model_init(w->params, w->opt->hidden, w->opt->seed);
		rc = AUC_OK;
	} else if (rc == AUC_OK) {
		printf("resumed file=%s epochs=%llu\n", w->opt->checkpoint,
		       (unsigned long long)h.epochs);
	}
	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		part_of(w->n, i, w->place->nps, &from, &to);
		h.count = to - from;
		rc = ps_send(w, i, &h, sizeof(h), true, err);
		if (rc == AUC_OK)
			rc = ps_send(w, i, w->params + from, h.count * sizeof(double), false, err);
	}
	return rc;
}

static enum auc_code worker_train(struct worker *w, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	while (w->epochs < w->opt->epochs && rc == AUC_OK) {
		double begin = clock_now();
		struct metrics sum = {0};

		rc = worker_epoch(w, &sum, err);
		if (rc != AUC_OK)
			break;
		w->epochs++;
		if (w->place->rank != 0)
			continue;
		printf("epoch=%llu loss=%.9f accuracy=%.4f seconds=%.3f\n",
		       (unsigned long long)w->epochs, sum.loss / sum.samples,
		       sum.correct / sum.samples, clock_now() - begin);
		if (w->opt->checkpoint)
			rc = ckpt_write(w->opt->checkpoint, w->opt, w->epochs, w->params, w->n,
					err);
	}
	return rc;
}

static enum auc_code worker_epoch(struct worker *w, struct metrics *sum, struct auc_err *err)
{
	uint64_t all = w->opt->chunks * w->opt->minibatches;
	enum auc_code rc = AUC_OK;

	for (uint64_t first = 0; first < all && rc == AUC_OK; first += w->place->nworkers) {
		uint64_t minibatch = first + w->place->rank;
		double begin = clock_now();

		memset(w->grad, 0, w->n * sizeof(double));
		w->mine = (struct metrics){0};
		if (minibatch < all) {
			worker_minibatch(w, minibatch);
			clock_sleep_until(begin + w->opt->pace);
		}
		rc = worker_push(w, err);
		if (rc == AUC_OK)
			rc = worker_pull(w, NULL, err);
		sum->samples += w->all.samples;
		sum->loss += w->all.loss;
		sum->correct += w->all.correct;
	}
	return rc;
}

static void worker_minibatch(struct worker *w, uint64_t minibatch)
{
	uint64_t first = minibatch * w->opt->batch;
	double x[DATA_INPUTS];

	for (uint64_t i = 0; i < w->opt->batch; i++) {
		unsigned label = data_sample(&w->data, DATA_TRAIN, first + i, x);

		model_sample(w->params, w->opt->hidden, x, label, w->grad, w->scratch, &w->mine);
	}
}

static enum auc_code worker_push(struct worker *w, struct auc_err *err)
{
	double metrics[PROTO_METRICS] = {w->mine.samples, w->mine.loss, w->mine.correct};
	enum auc_code rc = AUC_OK;
	uint64_t from, to;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_PUSH, .step = w->step};

		part_of(w->n, i, w->place->nps, &from, &to);
		h.count = PROTO_METRICS + to - from;
		rc = ps_send(w, i, &h, sizeof(h), true, err);
		if (rc == AUC_OK)
			rc = ps_send(w, i, metrics, sizeof(metrics), true, err);
		if (rc == AUC_OK)
			rc = ps_send(w, i, w->grad + from, (to - from) * sizeof(double), false,
				     err);
	}
	w->step++;
	return rc;
}

/* Takes the parameters of the present step from all PSs. */
static enum auc_code worker_pull(struct worker *w, uint64_t *epochs, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	uint64_t from, to;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		double metrics[PROTO_METRICS];
		struct proto_header h;

		part_of(w->n, i, w->place->nps, &from, &to);
		rc = ps_recv(w, i, &h, sizeof(h), err);
		if (rc != AUC_OK)
			break;
		if (h.magic != PROTO_MAGIC || h.type != PROTO_PARAMS || h.step != w->step ||
		    h.count != PROTO_METRICS + to - from)
			return auc_err_set(err, AUC_EINVAL, "PS %u sent a message that is not due",
					   i);
		rc = ps_recv(w, i, metrics, sizeof(metrics), err);
		if (rc == AUC_OK)
			rc = ps_recv(w, i, w->params + from, (to - from) * sizeof(double), err);
		w->all = (struct metrics){metrics[0], metrics[1], metrics[2]};
		if (epochs)
			*epochs = h.epochs;
	}
	return rc;
}

static enum auc_code worker_bye(struct worker *w, struct auc_err *err)
{
	struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_BYE};
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++)
		rc = ps_send(w, i, &h, sizeof(h), false, err);
	return rc;
}

/* How good the model is on samples that it was not trained on, beside the best that is possible. */
static void worker_held_out(const struct worker *w)
{
	double x[DATA_INPUTS], teacher = 0;
	struct metrics m = {0};

	for (uint64_t i = 0; i < w->opt->held_out; i++) {
		unsigned label = data_sample(&w->data, DATA_HELD_OUT, i, x);

		model_sample(w->params, w->opt->hidden, x, label, NULL, w->scratch, &m);
		teacher += data_teacher_loss(&w->data, x, label);
	}
	printf("final epochs=%llu loss=%.9f accuracy=%.4f teacher=%.4f samples=%.0f\n",
	       (unsigned long long)w->epochs, m.loss / m.samples, m.correct / m.samples,
	       teacher / m.samples, m.samples);
}

static enum auc_code ps_send(const struct worker *w, unsigned ps, const void *data, size_t len,
			     bool more, struct auc_err *err)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(w->fd[ps], p, len, MSG_NOSIGNAL | (more ? MSG_MORE : 0));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return auc_err_set(err, AUC_EIO, "PS %u: %s", ps, strerror(errno));
		p += n;
		len -= n;
	}
	return AUC_OK;
}

static enum auc_code ps_recv(const struct worker *w, unsigned ps, void *data, size_t len,
			     struct auc_err *err)
{
	char *p = data;

	while (len) {
		ssize_t n = recv(w->fd[ps], p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return auc_err_set(err, AUC_EIO, "PS %u went away%s%s", ps, n ? ": " : "",
					   n ? strerror(errno) : "");
		p += n;
		len -= n;
	}
	return AUC_OK;
}
