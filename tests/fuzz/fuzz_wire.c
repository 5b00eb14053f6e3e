/*
 * fuzz_wire.c - any bytes as what the launcher or an agent receives, in pieces of any size. What is
 * taken from the stream are its lines, in order, each an object or bad, none longer than allowed.
 * What a line says of tasks is checked, set in the environment and written to the group's file; all
 * objects are sent back, through a socket that is full now and then, and arrive.
 *
 * The first byte decides on the sizes of the pieces and on who listens.
 */
#include "config.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json.h"
#include "fuzz/fuzz.h"
#include "slaunch/layout/groupfile.h"
#include "slaunch/layout/taskenv.h"
#include "slaunch/wire.h"

#define LINES 64
#define DEPTH 4 /* of objects and lists */

/* What was taken. */
struct taken {
	struct json_object *objects[LINES]; /* NULL: a bad line */
	unsigned n;
};

static void receive(const uint8_t *data, size_t size, unsigned pieces, size_t line_max,
		    struct taken *t);
static void take(struct wire *w, struct taken *t);
static void compare(const uint8_t *data, size_t size, size_t line_max, const struct taken *t);
static struct json_object *line_parse(const uint8_t *line, size_t len);
static void send_back(const struct taken *t, unsigned pieces);
static void hello(struct json_object *o);
static void peers(struct json_object *o);
static void group(struct json_object *o, const struct peer *self, unsigned n);
static void environment(const struct peer *self, const struct peer *list, unsigned n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct taken t = {.n = 0};
	size_t line_max;

	if (size < 2 || size > 20000)
		return 0;
	line_max = data[0] & 1 ? WIRE_HELLO_MAX : WIRE_PEERS_MAX;
	receive(data + 1, size - 1, data[0] >> 1, line_max, &t);
	compare(data + 1, size - 1, line_max, &t);
	for (unsigned i = 0; i < t.n; i++) {
		if (!t.objects[i])
			continue;
		hello(t.objects[i]);
		peers(t.objects[i]);
	}
	send_back(&t, data[0] >> 1);
	for (unsigned i = 0; i < t.n; i++)
		json_object_put(t.objects[i]);
	return 0;
}

/* Pieces are of 1 to 8 bytes, or large, as the bits of PIECES say in turn. */
static size_t piece_of(unsigned pieces, unsigned i)
{
	return pieces >> (i % 7) & 1 ? 700 : 1 + (pieces + i) % 8;
}

static void receive(const uint8_t *data, size_t size, unsigned pieces, size_t line_max,
		    struct taken *t)
{
	struct wire w;
	bool open = true;
	int fds[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	wire_init(&w, fds[0], line_max);
	for (unsigned i = 0; size && open; i++) {
		size_t n = piece_of(pieces, i) < size ? piece_of(pieces, i) : size;

		REQUIRE(send(fds[1], data, n, MSG_NOSIGNAL) == (ssize_t)n);
		data += n;
		size -= n;
		open = wire_read(&w);
		take(&w, t);
	}
	close(fds[1]);
	/* But where lines are left, which nobody has room for. */
	if (open && t->n < LINES)
		REQUIRE(!wire_read(&w));
	take(&w, t);
	wire_close(&w);
	REQUIRE(w.fd == -1 && !w.in && !w.out);
}

static void take(struct wire *w, struct taken *t)
{
	struct json_object *o;
	bool bad;

	while (((o = wire_take(w, &bad)) || bad) && t->n < LINES) {
		REQUIRE(!o || (!bad && json_object_is_type(o, json_type_object)));
		t->objects[t->n++] = o;
	}
	if (t->n == LINES)
		json_object_put(o);
}

/* Up to a line that is too long all lines have come, and each is what it is by itself. */
static void compare(const uint8_t *data, size_t size, size_t line_max, const struct taken *t)
{
	const uint8_t *end = data + size, *lf;
	unsigned n = 0;

	for (; (lf = memchr(data, '\n', (size_t)(end - data))) && n < LINES; data = lf + 1, n++) {
		struct json_object *o;

		if ((size_t)(lf - data) >= line_max) {
			REQUIRE(n >= t->n || !t->objects[n]);
			return;
		}
		REQUIRE(n < t->n);
		o = line_parse(data, (size_t)(lf - data));
		REQUIRE(!o == !t->objects[n] && (!o || json_object_equal(o, t->objects[n])));
		json_object_put(o);
	}
	REQUIRE(n == t->n);
}

/* All of the line, to its last byte, as one object. */
static struct json_object *line_parse(const uint8_t *line, size_t len)
{
	char *copy = malloc(len + 1);
	struct json_object *o = NULL;
	const char *why;
	size_t end;

	REQUIRE(copy);
	memcpy(copy, line, len);
	copy[len] = '\0';
	if (strlen(copy) == len)
		auc_json_parse_any(copy, len, DEPTH, &o, &end, &why);
	free(copy);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return NULL;
}

/* Into a socket with little room, which is emptied when it is full. */
static void send_back(const struct taken *t, unsigned pieces)
{
	char *want, got[16384];
	size_t size, have = 0, took = 0;
	FILE *text = open_memstream(&want, &size);
	struct wire w;
	int fds[2], room = 2048;
	ssize_t n;

	REQUIRE(text &&
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	REQUIRE(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0);
	wire_init(&w, fds[0], WIRE_PEERS_MAX);
	for (unsigned i = 0; i < t->n; i++) {
		if (!t->objects[i])
			continue;
		REQUIRE(wire_send(&w, json_object_get(t->objects[i])));
		fprintf(text, "%s\n",
			json_object_to_json_string_ext(t->objects[i],
						       JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	REQUIRE(!fclose(text));
	while (have < size) {
		n = recv(fds[1], got, piece_of(pieces, (unsigned)took++) * 20, 0);
		if (n > 0) {
			REQUIRE(have + (size_t)n <= size && !memcmp(want + have, got, (size_t)n));
			have += (size_t)n;
		} else {
			REQUIRE(wire_pending(&w) && wire_flush(&w));
		}
	}
	REQUIRE(!wire_pending(&w) && recv(fds[1], got, 1, 0) < 0);
	free(want);
	close(fds[1]);
	wire_close(&w);
}

/* What the launcher reads of it. */
static void hello(struct json_object *o)
{
	char text[WIRE_TOKEN_LEN];
	long value = 7;

	if (wire_str(o, "token", text, sizeof(text))) {
		REQUIRE(*text && strlen(text) < sizeof(text));
		for (const char *p = text; *p; p++)
			REQUIRE(*p > ' ' && *p <= '~');
		REQUIRE(wire_token_equal(text, text));
		text[0] ^= 1;
		REQUIRE(!wire_token_equal(
			text, json_object_get_string(json_object_object_get(o, "token"))));
	}
	if (wire_int(o, "port", 1, 65535, &value))
		REQUIRE(value >= 1 && value <= 65535);
	else
		REQUIRE(value == 7);
}

static void peers(struct json_object *o)
{
	struct json_object *list = json_object_object_get(o, "peers"), *again;
	struct peer *p, *q;
	struct auc_err err = {.text = ""};
	unsigned n, m;

	if (taskenv_peers_parse(list, &p, &n, &err) != AUC_OK) {
		struct groupfile f = {.fd = -1};

		REQUIRE(!p && !n && err.code == AUC_EINVAL && *err.text);
		REQUIRE(groupfile_write(&f, o, ROLE_PS, 0, NULL) == AUC_EINVAL && f.fd == -1);
		return;
	}
	REQUIRE(n && n == json_object_array_length(list));
	again = taskenv_peers_json(p, n);
	REQUIRE(taskenv_peers_parse(again, &q, &m, &err) == AUC_OK && m == n);
	for (unsigned i = 0; i < n; i++) {
		REQUIRE(p[i].role < ROLES && p[i].rank < LAYOUT_TASKS_MAX && p[i].port &&
			p[i].port < 65536 && p[i].id <= TASKENV_ID_MAX);
		REQUIRE(p[i].role == q[i].role && p[i].rank == q[i].rank && p[i].id == q[i].id &&
			p[i].port == q[i].port && !strcmp(p[i].node, q[i].node) &&
			!strcmp(p[i].host, q[i].host));
	}
	for (unsigned i = 0; i < n && i < 3; i++) {
		environment(&p[i], p, n);
		group(o, &p[i], n);
	}
	json_object_put(again);
	free(p);
	free(q);
}

/* One object on one line, with all tasks but schedulers. */
static void group(struct json_object *o, const struct peer *self, unsigned n)
{
	struct groupfile f = {.fd = -1};
	struct json_object *file;
	struct stat st;
	char *text;

	for (unsigned i = 0; i < 2; i++)
		REQUIRE(groupfile_write(&f, o, self->role, self->id, NULL) == AUC_OK && f.fd >= 0);
	REQUIRE(fstat(f.fd, &st) == 0 && (text = malloc((size_t)st.st_size + 1)));
	REQUIRE(pread(f.fd, text, (size_t)st.st_size, 0) == st.st_size && st.st_size > 0);
	text[st.st_size] = '\0';
	REQUIRE(strchr(text, '\n') == text + st.st_size - 1);
	file = json_tokener_parse(text);
	REQUIRE(file);
	REQUIRE(!strcmp(json_object_get_string(json_object_object_get(file, "role")),
			role_name(self->role)));
	REQUIRE(json_object_get_int64(json_object_object_get(file, "id")) == (int64_t)self->id);
	REQUIRE(json_object_array_length(json_object_object_get(file, "workers")) +
			json_object_array_length(json_object_object_get(file, "ps")) <=
		n);
	json_object_put(file);
	free(text);
	groupfile_clear(&f);
}

static void environment(const struct peer *self, const struct peer *list, unsigned n)
{
	struct json_object *config;
	unsigned workers = 0;

	REQUIRE(taskenv_set(self, list, n, NULL) == AUC_OK);
	for (unsigned i = 0; i < n; i++)
		workers += list[i].role == ROLE_WORKER;
	REQUIRE(!strcmp(getenv("AUCTION_ROLE"), role_name(self->role)));
	REQUIRE(strtoul(getenv("AUCTION_NUM_WORKERS"), NULL, 10) == workers);
	REQUIRE(strtoul(getenv("AUCTION_ID"), NULL, 10) == self->id);
	REQUIRE(!getenv("WORLD_SIZE") == (self->role != ROLE_WORKER));
	if (self->role == ROLE_SCHEDULER) {
		REQUIRE(!getenv("TF_CONFIG"));
		return;
	}
	config = json_tokener_parse(getenv("TF_CONFIG"));
	REQUIRE(json_object_is_type(config, json_type_object));
	json_object_put(config);
}
