/*
 * ps.c - the parameter server: holds one part of the parameters, waits in every step for the
 * gradients of all workers, and takes one step of gradient descent along their average.
 *
 * Gradients are added in the order of ranks, so that the result does not depend on who was first.
 * Whoever connects is nobody until its HELLO is right, and no message can be longer than the one
 * that is due.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "hostport.h"
#include "model.h"
#include "proto.h"

#define PS_STRANGERS  16   /* connections beyond those of the workers */
#define STRANGER_TIME 10.0 /* seconds to say HELLO */
#define SEND_TIMEOUT  60   /* seconds for a worker to take its parameters */

struct client {
	int fd;   /* -1: free */
	int rank; /* -1: has not said HELLO */
	double since;
	bool bye;
	char *in; /* room for the longest message that may come now */
	size_t len, alloc;
};

struct ps {
	const struct place *place;
	const struct train_options *opt;
	int listen_fd;
	uint64_t n; /* parameters of this PS */
	double *params;
	double *pushed; /* by worker: metrics, gradient */
	bool *has_pushed;
	unsigned npushed, nhello, nbye;
	bool started;
	uint64_t step, epochs;
	double sums[PROTO_METRICS];
	unsigned nclients;
	struct client *clients;
	struct pollfd *poll;
};

static enum auc_code ps_init(struct ps *ps, struct auc_err *err);
static void ps_clear(struct ps *ps);
static enum auc_code ps_listen(struct ps *ps, struct auc_err *err);
static void ps_accept(struct ps *ps);
static struct client *ps_free_client(struct ps *ps);
static enum auc_code ps_read(struct ps *ps, struct client *c, struct auc_err *err);
static enum auc_code ps_message(struct ps *ps, struct client *c, struct auc_err *err);
static bool ps_hello(struct ps *ps, struct client *c);
static enum auc_code ps_push(struct ps *ps, struct client *c, const double *v, struct auc_err *err);
static void ps_update(struct ps *ps);
static enum auc_code ps_send_params(struct ps *ps, struct auc_err *err);
static size_t client_due(const struct ps *ps, const struct client *c);
static void client_close(struct client *c);

enum auc_code ps_run(const struct place *p, const struct train_options *opt, struct auc_err *err)
{
	struct ps ps = {.place = p, .opt = opt, .listen_fd = -1};
	enum auc_code rc = ps_init(&ps, err);

	while (rc == AUC_OK && ps.nbye < p->nworkers) {
		double now, until = 0;
		unsigned n = ps.nclients;

		for (unsigned i = 0; i < n; i++) {
			ps.poll[i] = (struct pollfd){.fd = ps.clients[i].fd, .events = POLLIN};
			if (ps.clients[i].fd >= 0 && ps.clients[i].rank < 0)
				until = ps.clients[i].since + STRANGER_TIME;
		}
		/* While there is no room, callers wait in the kernel's queue. */
		ps.poll[n] = (struct pollfd){.fd = ps_free_client(&ps) ? ps.listen_fd : -1,
					     .events = POLLIN};
		if (poll(ps.poll, n + 1, until > 0 ? 1000 : -1) < 0)
			continue;
		for (unsigned i = 0; i < n && rc == AUC_OK; i++)
			if (ps.poll[i].revents)
				rc = ps_read(&ps, &ps.clients[i], err);
		if (ps.poll[n].revents)
			ps_accept(&ps);
		now = clock_now();
		for (unsigned i = 0; i < n; i++)
			if (ps.clients[i].fd >= 0 && ps.clients[i].rank < 0 &&
			    now > ps.clients[i].since + STRANGER_TIME)
				client_close(&ps.clients[i]);
	}
	if (rc != AUC_OK)
		complain(err);
	ps_clear(&ps);
	return rc;
}

static enum auc_code ps_init(struct ps *ps, struct auc_err *err)
{
	unsigned nworkers = ps->place->nworkers;
	uint64_t from, to;

	part_of(model_size(ps->opt->hidden), ps->place->rank, ps->place->nps, &from, &to);
	ps->n = to - from;
	ps->nclients = nworkers + PS_STRANGERS;
	ps->params = calloc(ps->n, sizeof(double));
	ps->pushed = calloc((size_t)nworkers * (PROTO_METRICS + ps->n), sizeof(double));
	ps->has_pushed = calloc(nworkers, sizeof(bool));
	ps->clients = calloc(ps->nclients, sizeof(*ps->clients));
	ps->poll = calloc(ps->nclients + 1, sizeof(*ps->poll));
	for (unsigned i = 0; ps->clients && i < ps->nclients; i++)
		ps->clients[i].fd = -1;
	if (!ps->params || !ps->pushed || !ps->has_pushed || !ps->clients || !ps->poll)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	return ps_listen(ps, err);
}

static void ps_clear(struct ps *ps)
{
	for (unsigned i = 0; ps->clients && i < ps->nclients; i++)
		client_close(&ps->clients[i]);
	if (ps->listen_fd >= 0)
		close(ps->listen_fd);
	free(ps->params);
	free(ps->pushed);
	free(ps->has_pushed);
	free(ps->clients);
	free(ps->poll);
}

static enum auc_code ps_listen(struct ps *ps, struct auc_err *err)
{
	const struct train_host *h = &ps->place->ps[ps->place->rank];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *ai;
	char service[8];
	int rc, on = 1;

	snprintf(service, sizeof(service), "%u", h->port);
	rc = getaddrinfo(h->host, service, &hints, &ai);
	if (rc != 0)
		return auc_err_set(err, AUC_EIO, "%s: %s", h->host, gai_strerror(rc));
	ps->listen_fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ps->listen_fd < 0 ||
	    setsockopt(ps->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(ps->listen_fd, ai->ai_addr, ai->ai_addrlen) != 0 ||
	    listen(ps->listen_fd, SOMAXCONN) != 0)
		rc = errno;
	freeaddrinfo(ai);
	if (rc != 0)
		return auc_err_set(err, AUC_EIO, "cannot listen on %s port %u: %s", h->host,
				   h->port, strerror(rc));
	return AUC_OK;
}

static void ps_accept(struct ps *ps)
{
	struct timeval timeout = {.tv_sec = SEND_TIMEOUT};
	struct client *c;
	int fd, on = 1;

	while ((c = ps_free_client(ps)) &&
	       (fd = accept4(ps->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		/* Workers read what they are sent; one that does not must not hold up the others
		 * for ever. */
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		*c = (struct client){.fd = fd, .rank = -1, .since = clock_now()};
	}
}

static struct client *ps_free_client(struct ps *ps)
{
	for (unsigned i = 0; i < ps->nclients; i++)
		if (ps->clients[i].fd < 0)
			return &ps->clients[i];
	return NULL;
}

/* Bytes of the message that C is sending, as far as they are known: its header first. */
static size_t client_due(const struct ps *ps, const struct client *c)
{
	const struct proto_header *h = (const struct proto_header *)c->in;
	uint64_t most = PROTO_METRICS + ps->n;

	if (c->rank < 0)
		return sizeof(struct proto_hello);
	if (c->len < sizeof(*h))
		return sizeof(*h);
	return h->magic == PROTO_MAGIC && h->count <= most ? sizeof(*h) + h->count * sizeof(double)
							   : 0;
}

static enum auc_code ps_read(struct ps *ps, struct client *c, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	while (rc == AUC_OK && c->fd >= 0) {
		size_t due = client_due(ps, c);
		ssize_t n;

		if (due > c->alloc) {
			char *in = realloc(c->in, due);

			if (!in)
				return auc_err_set(err, AUC_ENOMEM, "out of memory");
			c->in = in;
			c->alloc = due;
		}
		n = due ? recv(c->fd, c->in + c->len, due - c->len, MSG_DONTWAIT) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return AUC_OK;
		if (n <= 0) {
			if (c->rank >= 0 && !c->bye)
				rc = auc_err_set(err, AUC_EIO, "worker %d %s", c->rank,
						 due ? "went away" : "sent a malformed message");
			client_close(c);
			return rc;
		}
		c->len += n;
		if (c->len < due || due != client_due(ps, c))
			continue;
		rc = ps_message(ps, c, err);
		c->len = 0;
	}
	return rc;
}

/* A complete message. */
static enum auc_code ps_message(struct ps *ps, struct client *c, struct auc_err *err)
{
	const struct proto_header *h = (const struct proto_header *)c->in;
	const double *v = (const double *)(c->in + sizeof(*h));

	if (c->rank < 0) {
		if (!ps_hello(ps, c)) {
			client_close(c);
			return AUC_OK;
		}
	} else if (h->type == PROTO_START && c->rank == 0 && !ps->started && h->count == ps->n) {
		memcpy(ps->params, v, ps->n * sizeof(double));
		ps->epochs = h->epochs;
		ps->started = true;
	} else if (h->type == PROTO_PUSH && ps->started && h->step == ps->step &&
		   !ps->has_pushed[c->rank] && h->count == PROTO_METRICS + ps->n) {
		return ps_push(ps, c, v, err);
	} else if (h->type == PROTO_BYE && !c->bye && h->count == 0) {
		c->bye = true;
		ps->nbye++;
		return AUC_OK;
	} else {
		return auc_err_set(err, AUC_EINVAL, "worker %d sent a message that is not due",
				   c->rank);
	}
	/* A HELLO or the START: once both are complete, everybody gets the parameters. */
	return ps->started && ps->nhello == ps->place->nworkers ? ps_send_params(ps, err) : AUC_OK;
}

/* True if C is a worker that is missing. */
static bool ps_hello(struct ps *ps, struct client *c)
{
	const struct proto_hello *h = (const struct proto_hello *)c->in;
	unsigned diff = 0;

	for (unsigned i = 0; i < TRAIN_TOKEN_LEN; i++)
		diff |= (unsigned char)(h->token[i] ^ ps->place->token[i]);
	if (diff || h->header.magic != PROTO_MAGIC || h->header.type != PROTO_HELLO ||
	    h->header.count != 0 || h->nworkers != ps->place->nworkers || h->rank >= h->nworkers ||
	    h->params != ps->n)
		return false;
	for (unsigned i = 0; i < ps->nclients; i++)
		if (ps->clients[i].fd >= 0 && ps->clients[i].rank == (int)h->rank)
			return false;
	c->rank = h->rank;
	ps->nhello++;
	return true;
}

static enum auc_code ps_push(struct ps *ps, struct client *c, const double *v, struct auc_err *err)
{
	double *to = ps->pushed + (size_t)c->rank * (PROTO_METRICS + ps->n), begin;

	for (uint64_t i = 0; i < PROTO_METRICS + ps->n; i++)
		if (!isfinite(v[i]))
			return auc_err_set(
				err, AUC_EINVAL,
				"worker %d: the gradient of step %llu is not finite: lower --rate",
				c->rank, (unsigned long long)ps->step);
	memcpy(to, v, (PROTO_METRICS + ps->n) * sizeof(double));
	ps->has_pushed[c->rank] = true;
	if (++ps->npushed < ps->place->nworkers)
		return AUC_OK;
	begin = clock_now();
	ps_update(ps);
	clock_sleep_until(begin + ps->opt->pace);
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
				 .count = PROTO_METRICS + ps->n};

	for (unsigned i = 0; i < ps->nclients; i++) {
		struct client *c = &ps->clients[i];

		if (c->fd < 0 || c->rank < 0 || c->bye)
			continue;
		if (send(c->fd, &h, sizeof(h), MSG_NOSIGNAL | MSG_MORE) != (ssize_t)sizeof(h) ||
		    send(c->fd, ps->sums, sizeof(ps->sums), MSG_NOSIGNAL | MSG_MORE) !=
			    (ssize_t)sizeof(ps->sums) ||
		    send(c->fd, ps->params, ps->n * sizeof(double), MSG_NOSIGNAL) !=
			    (ssize_t)(ps->n * sizeof(double)))
			return auc_err_set(err, AUC_EIO,
					   "worker %d does not take its parameters: %s", c->rank,
					   strerror(errno));
	}
	return AUC_OK;
}

static void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->in);
	*c = (struct client){.fd = -1, .rank = -1};
}
