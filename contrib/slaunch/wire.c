/* wire.c - see wire.h */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json.h"
#include "slaunch/wire.h"

#define WIRE_DEPTH 4 /* our deepest message has three levels */

static bool wire_room(char **buf, size_t *alloc, size_t need);

void wire_init(struct wire *w, int fd, size_t line_max)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->line_max = line_max;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void wire_close(struct wire *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->in);
	free(w->out);
	memset(w, 0, sizeof(*w));
	w->fd = -1;
}

bool wire_read(struct wire *w)
{
	ssize_t n;

	for (;;) {
		if (w->in_len >= w->line_max)
			return memchr(w->in, '\n', w->in_len) != NULL;
		if (!wire_room(&w->in, &w->in_alloc, w->in_len + 512))
			return false;
		n = recv(w->fd, w->in + w->in_len, w->in_alloc - w->in_len, 0);
		if (n == 0)
			return false;
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return errno == EAGAIN || errno == EWOULDBLOCK;
		}
		w->in_len += n;
	}
}

struct json_object *wire_take(struct wire *w, bool *bad)
{
	struct json_object *o = NULL;
	char *end = w->in_len ? memchr(w->in, '\n', w->in_len) : NULL;
	const char *why;
	size_t len, parsed;

	*bad = false;
	if (!end)
		return NULL;
	len = end - w->in;
	/* Of a line with a NUL in it the tokener would see the beginning only. */
	if (len < w->line_max && !memchr(w->in, '\0', len)) {
		*end = '\0';
		auc_json_parse_any(w->in, len, WIRE_DEPTH, &o, &parsed, &why);
	}
	memmove(w->in, end + 1, w->in_len - len - 1);
	w->in_len -= len + 1;
	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		*bad = true;
		return NULL;
	}
	return o;
}

bool wire_send(struct wire *w, struct json_object *o)
{
	const char *text;
	size_t len;

	if (!o)
		return false;
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
	len = text ? strlen(text) : 0;
	if (!text || !wire_room(&w->out, &w->out_alloc, w->out_len + len + 1)) {
		json_object_put(o);
		return false;
	}
	memcpy(w->out + w->out_len, text, len);
	w->out[w->out_len + len] = '\n';
	w->out_len += len + 1;
	json_object_put(o);
	return wire_flush(w);
}

bool wire_flush(struct wire *w)
{
	size_t sent = 0;
	bool ok = true;

	while (sent < w->out_len) {
		ssize_t n = send(w->fd, w->out + sent, w->out_len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ok = errno == EAGAIN || errno == EWOULDBLOCK;
			break;
		}
		sent += n;
	}
	if (sent)
		memmove(w->out, w->out + sent, w->out_len - sent);
	w->out_len -= sent;
	return ok;
}

bool wire_pending(const struct wire *w)
{
	return w->out_len > 0;
}

bool wire_int(struct json_object *o, const char *key, long min, long max, long *value)
{
	struct json_object *f;
	int64_t v;

	if (!json_object_object_get_ex(o, key, &f) || !json_object_is_type(f, json_type_int))
		return false;
	v = json_object_get_int64(f);
	if (v < min || v > max)
		return false;
	*value = v;
	return true;
}

bool wire_str(struct json_object *o, const char *key, char *buf, size_t size)
{
	struct json_object *f;
	const char *s;
	size_t n;

	if (!json_object_object_get_ex(o, key, &f) || !json_object_is_type(f, json_type_string))
		return false;
	s = json_object_get_string(f);
	n = json_object_get_string_len(f);
	if (n == 0 || n >= size)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	memcpy(buf, s, n + 1);
	return true;
}

bool wire_token(char *buf)
{
	unsigned char raw[(WIRE_TOKEN_LEN - 1) / 2];

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		return false;
	for (size_t i = 0; i < sizeof(raw); i++)
		sprintf(buf + 2 * i, "%02x", raw[i]);
	return true;
}

bool wire_token_equal(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned diff = n != strlen(b);

	if (diff)
		return false;
	for (size_t i = 0; i < n; i++)
		diff |= (unsigned char)a[i] ^ (unsigned char)b[i];
	return diff == 0;
}

/* Makes *BUF at least NEED bytes long. */
static bool wire_room(char **buf, size_t *alloc, size_t need)
{
	size_t n = *alloc ? *alloc : 1024;
	char *p;

	if (need <= *alloc)
		return true;
	while (n < need)
		n *= 2;
	p = realloc(*buf, n);
	if (!p)
		return false;
	*buf = p;
	*alloc = n;
	return true;
}
