/*
 * server.h - the PS's side of the connections: a peer is unauthenticated until its HELLO is right,
 * and no message can be longer than the one that is due.
 */
#ifndef TRAIN_SERVER_H
#define TRAIN_SERVER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "train/proto.h"
#include "train/train.h"

struct client {
	int fd;       /* -1: free */
	int64_t id;   /* -1: has not said HELLO */
	double since; /* auc_clock_now() of the connection */
	double heard; /* and of its last message */
	bool bye;
	bool has_chunk, waits; /* asynchronous training: what it works on; it wants something */
	uint64_t pass, chunk;
	uint32_t node;  /* homes_find() */
	uint64_t *here; /* bit by chunk: it has it; malloc'd; NULL: it needs none */
	char *in;       /* room for the longest message that may come now */
	size_t len, alloc;
};

struct server {
	const char *token;
	uint64_t count_max;   /* doubles in the longest message */
	unsigned workers_max; /* connections beside those of strangers */
	int listen_fd;
	unsigned nclients, alloc;
	struct client *clients;
	struct pollfd *poll;
	void *arg; /* of the functions below */
	/* The client has said this HELLO, with the right token; gives it an id, or it is closed. */
	enum auc_code (*hello)(void *arg, struct client *c, const struct proto_hello *h,
			       struct auc_err *err);
	/* A complete message of a client with an id. An error ends server_wait(). */
	enum auc_code (*message)(void *arg, struct client *c, const struct proto_header *h,
				 const double *v, struct auc_err *err);
	/* A client with an id is gone, before it is forgotten. */
	enum auc_code (*gone)(void *arg, struct client *c, bool malformed, struct auc_err *err);
};

/* Listens where place P says for this PS. AUC_EIO, AUC_ENOMEM. Free with server_clear(). */
enum auc_code server_init(struct server *s, const struct place *p, unsigned workers_max,
			  uint64_t count_max, struct auc_err *err);
void server_clear(struct server *s);
/* Serves what comes until something has, or until UNTIL of auc_clock_now() (0: no limit), or FD
 * (-1: none) can be read. */
enum auc_code server_wait(struct server *s, double until, int fd, struct auc_err *err);
/* Sends a header, METRICS[PROTO_METRICS] and N doubles. False: it does not take them. */
bool client_send(struct client *c, const struct proto_header *h, const double *metrics,
		 const double *v, uint64_t n);
void client_close(struct client *c);

#endif
