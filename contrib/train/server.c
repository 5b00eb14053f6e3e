/* server.c - see server.h */
#include "config.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "train/server.h"

#define STRANGERS     16   /* connections beyond those of the workers */
#define STRANGER_TIME 10.0 /* seconds to say HELLO */
#define SEND_TIMEOUT  60   /* seconds for a worker to take its parameters */
#define KEEP_IDLE     20   /* seconds of silence before a host is asked whether it lives, */
#define KEEP_INTERVAL 5    /* how often, */
#define KEEP_COUNT    4    /* and how many times */

static enum auc_code server_listen(struct server *s, const struct train_host *h,
				   struct auc_err *err);
static enum auc_code server_room(struct server *s, struct auc_err *err);
static bool server_full(const struct server *s);
static enum auc_code server_accept(struct server *s, struct auc_err *err);
static enum auc_code server_read(struct server *s, struct client *c, struct auc_err *err);
static enum auc_code server_message(struct server *s, struct client *c, struct auc_err *err);
static bool token_right(const struct server *s, const struct proto_hello *h);
static size_t client_due(const struct server *s, const struct client *c);

enum auc_code server_init(struct server *s, const struct place *p, unsigned workers_max,
			  uint64_t count_max, struct auc_err *err)
{
	s->token = p->token;
	s->workers_max = workers_max;
	s->count_max = count_max;
	s->listen_fd = -1;
	return server_listen(s, &p->ps[p->rank], err);
}

void server_clear(struct server *s)
{
	for (unsigned i = 0; i < s->nclients; i++)
		client_close(&s->clients[i]);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	free(s->clients);
	free(s->poll);
}

enum auc_code server_wait(struct server *s, double until, int fd, struct auc_err *err)
{
	enum auc_code rc = server_room(s, err);
	double now = auc_clock_now(), next = until;
	unsigned n = s->nclients;

	if (rc != AUC_OK)
		return rc;
	for (unsigned i = 0; i < n; i++) {
		struct client *c = &s->clients[i];

		s->poll[i] = (struct pollfd){.fd = c->fd, .events = POLLIN};
		if (c->fd >= 0 && c->id < 0 && (next <= 0 || c->since + STRANGER_TIME < next))
			next = c->since + STRANGER_TIME;
	}
	/* While there is no room, callers wait in the kernel's queue. */
	s->poll[n] = (struct pollfd){.fd = server_full(s) ? -1 : s->listen_fd, .events = POLLIN};
	s->poll[n + 1] = (struct pollfd){.fd = fd, .events = POLLIN};
	if (poll(s->poll, n + 2, auc_clock_poll_timeout(next, now)) < 0)
		return AUC_OK;
	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		if (s->poll[i].revents && s->clients[i].fd >= 0)
			rc = server_read(s, &s->clients[i], err);
	if (rc == AUC_OK && s->poll[n].revents)
		rc = server_accept(s, err);
	now = auc_clock_now();
	for (unsigned i = 0; i < s->nclients; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].id < 0 &&
		    now > s->clients[i].since + STRANGER_TIME)
			client_close(&s->clients[i]);
	return rc;
}

bool client_send(struct client *c, const struct proto_header *h, const double *metrics,
		 const double *v, uint64_t n)
{
	static const double none[PROTO_METRICS];
	size_t len = n * sizeof(double);

	if (send(c->fd, h, sizeof(*h), MSG_NOSIGNAL | (h->count ? MSG_MORE : 0)) !=
	    (ssize_t)sizeof(*h))
		return false;
	return !h->count || (send(c->fd, metrics ? metrics : none, sizeof(none),
				  MSG_NOSIGNAL | MSG_MORE) == (ssize_t)sizeof(none) &&
			     send(c->fd, v, len, MSG_NOSIGNAL) == (ssize_t)len);
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->in);
	free(c->here);
	*c = (struct client){.fd = -1, .id = -1};
}

static enum auc_code server_listen(struct server *s, const struct train_host *h,
				   struct auc_err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *ai;
	char service[8];
	int rc, on = 1;

	snprintf(service, sizeof(service), "%u", h->port);
	rc = getaddrinfo(h->host, service, &hints, &ai);
	if (rc != 0)
		return auc_err_set(err, AUC_EIO, "%s: %s", h->host, gai_strerror(rc));
	s->listen_fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0 ||
	    setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(s->listen_fd, ai->ai_addr, ai->ai_addrlen) != 0 ||
	    listen(s->listen_fd, SOMAXCONN) != 0)
		rc = errno;
	freeaddrinfo(ai);
	if (rc != 0)
		return auc_err_set(err, AUC_EIO, "cannot listen on %s port %u: %s", h->host,
				   h->port, strerror(rc));
	return AUC_OK;
}

/* True if nobody more can be received. */
static bool server_full(const struct server *s)
{
	for (unsigned i = 0; i < s->nclients; i++)
		if (s->clients[i].fd < 0)
			return false;
	return s->nclients >= s->workers_max + STRANGERS;
}

/* Makes room for one connection more, if there may be one. */
static enum auc_code server_room(struct server *s, struct auc_err *err)
{
	unsigned alloc = s->alloc ? 2 * s->alloc : 64;
	struct client *clients;
	struct pollfd *poll;

	for (unsigned i = 0; i < s->nclients; i++)
		if (s->clients[i].fd < 0)
			return AUC_OK;
	if (s->nclients == s->alloc) {
		clients = realloc(s->clients, alloc * sizeof(*clients));
		s->clients = clients ? clients : s->clients;
		poll = realloc(s->poll, (alloc + 2) * sizeof(*poll));
		s->poll = poll ? poll : s->poll;
		if (!clients || !poll)
			return auc_err_set(err, AUC_ENOMEM, "out of memory");
		s->alloc = alloc;
	}
	if (s->nclients < s->workers_max + STRANGERS)
		s->clients[s->nclients++] = (struct client){.fd = -1, .id = -1};
	return AUC_OK;
}

static enum auc_code server_accept(struct server *s, struct auc_err *err)
{
	struct timeval timeout = {.tv_sec = SEND_TIMEOUT};
	int fd, on = 1, idle = KEEP_IDLE, interval = KEEP_INTERVAL, count = KEEP_COUNT;
	enum auc_code rc = AUC_OK;

	while (rc == AUC_OK && !server_full(s) &&
	       (fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		/* Workers read what they are sent; one that does not must not hold up the others
		 * for ever, nor one whose host is gone. */
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
		setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
		setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		for (unsigned i = 0; i < s->nclients && fd >= 0; i++) {
			if (s->clients[i].fd >= 0)
				continue;
			s->clients[i] =
				(struct client){.fd = fd, .id = -1, .since = auc_clock_now()};
			fd = -1;
		}
		rc = server_room(s, err);
	}
	return rc;
}

static enum auc_code server_read(struct server *s, struct client *c, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	while (rc == AUC_OK && c->fd >= 0) {
		size_t due = client_due(s, c);
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
			if (c->id >= 0)
				rc = s->gone(s->arg, c, !due, err);
			client_close(c);
			return rc;
		}
		c->len += n;
		if (c->len < due || due != client_due(s, c))
			continue;
		rc = server_message(s, c, err);
		c->len = 0;
	}
	return rc;
}

/* A complete message. */
static enum auc_code server_message(struct server *s, struct client *c, struct auc_err *err)
{
	const struct proto_header *h = (const struct proto_header *)c->in;
	enum auc_code rc = AUC_OK;

	c->heard = auc_clock_now();
	if (c->id >= 0)
		return s->message(s->arg, c, h, (const double *)(c->in + sizeof(*h)), err);
	if (token_right(s, (const struct proto_hello *)c->in))
		rc = s->hello(s->arg, c, (const struct proto_hello *)c->in, err);
	if (c->id < 0)
		client_close(c);
	return rc;
}

static bool token_right(const struct server *s, const struct proto_hello *h)
{
	unsigned diff = 0;

	for (unsigned i = 0; i < TRAIN_TOKEN_LEN; i++)
		diff |= (unsigned char)(h->token[i] ^ s->token[i]);
	return !diff && h->header.magic == PROTO_MAGIC && h->header.type == PROTO_HELLO &&
	       h->header.count == 0;
}

/* Bytes of the message that C is sending, as far as they are known: its header first. */
static size_t client_due(const struct server *s, const struct client *c)
{
	const struct proto_header *h = (const struct proto_header *)c->in;

	if (c->id < 0)
		return sizeof(struct proto_hello);
	if (c->len < sizeof(*h))
		return sizeof(*h);
	return h->magic == PROTO_MAGIC && h->count <= s->count_max
		       ? sizeof(*h) + h->count * sizeof(double)
		       : 0;
}
