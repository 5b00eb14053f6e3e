/* link.c - see link.h */
#include "config.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "train/link.h"

#define CONNECT_AGAIN 0.1 /* seconds between two attempts */

static enum auc_code link_connect(struct link *l, const struct train_host *h, double connect_wait,
				  struct auc_err *err);
static bool link_stopped(struct link *l);

enum auc_code link_open(struct link *l, const struct place *p, unsigned ps, uint64_t id,
			uint64_t nworkers, uint64_t params, double connect_wait,
			struct auc_err *err)
{
	struct proto_hello hello = {.header = {.magic = PROTO_MAGIC, .type = PROTO_HELLO},
				    .id = id,
				    .nworkers = nworkers,
				    .params = params};
	enum auc_code rc;

	l->ps = ps;
	rc = link_connect(l, &p->ps[ps], connect_wait, err);
	memcpy(hello.token, p->token, sizeof(hello.token));
	memcpy(hello.node, p->node, sizeof(hello.node));
	return rc == AUC_OK ? link_send(l, &hello, sizeof(hello), false, err) : rc;
}

void link_close(struct link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

enum auc_code link_send(struct link *l, const void *data, size_t len, bool more,
			struct auc_err *err)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(l->fd, p, len, MSG_NOSIGNAL | (more ? MSG_MORE : 0));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return auc_err_set(err, AUC_EIO, "PS %u: %s", l->ps, strerror(errno));
		p += n;
		len -= n;
	}
	return AUC_OK;
}

enum auc_code link_recv(struct link *l, void *data, size_t len, struct auc_err *err)
{
	double until = l->timeout > 0 ? auc_clock_now() + l->timeout : 0;
	char *p = data;

	while (len) {
		struct pollfd fds[2] = {
			{.fd = l->fd, .events = POLLIN},
			{.fd = l->notice ? l->notice->fd : -1, .events = POLLIN},
		};
		double now = auc_clock_now();
		ssize_t n;

		if (until > 0 && now >= until)
			return auc_err_set(err, AUC_EIO, "PS %u did not answer within %g s", l->ps,
					   l->timeout);
		if (poll(fds, 2, auc_clock_poll_timeout(until, now)) < 0)
			continue;
		if (fds[1].revents && link_stopped(l))
			return auc_err_set(err, AUC_ESTATE, "asked to end");
		if (!fds[0].revents)
			continue;
		n = recv(l->fd, p, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return auc_err_set(err, AUC_EIO, "PS %u went away%s%s", l->ps,
					   n ? ": " : "", n ? strerror(errno) : "");
		p += n;
		len -= n;
	}
	return AUC_OK;
}

enum auc_code link_params(struct link *l, struct proto_header *h, double *metrics, double *params,
			  uint64_t n, struct auc_err *err)
{
	double sums[PROTO_METRICS];
	enum auc_code rc = link_recv(l, h, sizeof(*h), err);

	if (rc != AUC_OK)
		return rc;
	if (h->magic != PROTO_MAGIC || h->type != PROTO_PARAMS || h->count != PROTO_METRICS + n)
		return auc_err_set(err, AUC_EINVAL, "PS %u sent a message that is not due", l->ps);
	rc = link_recv(l, sums, sizeof(sums), err);
	if (metrics)
		memcpy(metrics, sums, sizeof(sums));
	return rc == AUC_OK ? link_recv(l, params, n * sizeof(double), err) : rc;
}

/* PSs start when we do: until they listen, try again. */
static enum auc_code link_connect(struct link *l, const struct train_host *h, double connect_wait,
				  struct auc_err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *ai;
	double until = auc_clock_now() + connect_wait;
	char service[8];
	int rc, on = 1;

	snprintf(service, sizeof(service), "%u", h->port);
	rc = getaddrinfo(h->host, service, &hints, &ai);
	if (rc != 0)
		return auc_err_set(err, AUC_EIO, "%s: %s", h->host, gai_strerror(rc));
	for (;;) {
		l->fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (l->fd >= 0 && connect(l->fd, ai->ai_addr, ai->ai_addrlen) == 0)
			break;
		rc = errno;
		if (l->fd >= 0)
			close(l->fd);
		l->fd = -1;
		if (auc_clock_now() >= until) {
			freeaddrinfo(ai);
			return auc_err_set(err, AUC_EIO, "cannot reach PS %u at %s port %u: %s",
					   l->ps, h->host, h->port, strerror(rc));
		}
		if (link_stopped(l)) {
			freeaddrinfo(ai);
			return auc_err_set(err, AUC_ESTATE, "asked to end");
		}
		auc_clock_sleep(CONNECT_AGAIN);
	}
	freeaddrinfo(ai);
	setsockopt(l->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return AUC_OK;
}

/* Looks whether it is to end. */
static bool link_stopped(struct link *l)
{
	if (l->notice)
		notice_read(l->notice);
	return l->notice && l->notice->stop;
}
