/*
 * wire.h - how the launcher and its task agents talk: JSON objects, one a line, over TCP.
 *
 *   agent -> launcher   {"hello":1,"token":"..","role":"worker","id":3,"port":41233}
 *                       {"exit":7} or {"killed":9}    the program ended
 *                       {"heard":10}                  Slurm has sent this signal to the step; tasks
 * on other nodes than the lead's get it, too launcher -> agent
 * {"peers":[["worker",0,"edge1","10.0.0.1",41233,3], ...],"generation":1,
 * ...} start the program in this group
 *                       {"peers":[..],..,"change":10} the group is this now, or something is to
 *                                                     change: tell the program by this signal
 *                       {"notify":10}                 pass this on, if the program has a handler
 *                       {"signal":10}                 pass this on to the program
 *                       {"stop":15}                   the same, and ending by it is no failure
 *
 * Both ends treat all input as hostile: a line is at most as long as its reader allows, and an
 * agent is unauthenticated until it presents the right token.
 */
#ifndef SLAUNCH_WIRE_H
#define SLAUNCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

#define WIRE_HELLO_MAX 1024      /* longest line an agent may send */
#define WIRE_PEERS_MAX (1 << 20) /* longest line the launcher may send */
#define WIRE_TOKEN_LEN 33        /* 128 random bits in hex, with the NUL */

/* One connection; the descriptor is non-blocking and owned. */
struct wire {
	int fd;
	size_t line_max;
	char *in;
	size_t in_len, in_alloc;
	char *out;
	size_t out_len, out_alloc;
};

/* Takes over FD; lines longer than LINE_MAX break the connection. */
void wire_init(struct wire *w, int fd, size_t line_max);
void wire_close(struct wire *w);
/* Reads what is there. False: the peer is gone, or sent a line that is too long; complete lines can
 * still be taken. */
bool wire_read(struct wire *w);
/* The next complete line as an object (new reference); NULL: none yet. A line that is not a JSON
 * object, or is too long, sets *BAD. */
struct json_object *wire_take(struct wire *w, bool *bad);
/* Queues O (its reference is taken; NULL: no memory) and sends what the socket takes. False: the
 * connection is broken. */
bool wire_send(struct wire *w, struct json_object *o);
/* Sends on. True also if something is left: see wire_pending(). */
bool wire_flush(struct wire *w);
bool wire_pending(const struct wire *w);

/* Fields of an object, checked: an integer in [MIN, MAX]; a string of 1..SIZE-1 printable
 * characters without blanks. */
bool wire_int(struct json_object *o, const char *key, long min, long max, long *value);
bool wire_str(struct json_object *o, const char *key, char *buf, size_t size);

/* A fresh random token into BUF[WIRE_TOKEN_LEN]; false: the system has no randomness. */
bool wire_token(char *buf);
/* Compares in a time that does not depend on where they differ. */
bool wire_token_equal(const char *a, const char *b);

#endif
