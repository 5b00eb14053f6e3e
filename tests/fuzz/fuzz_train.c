/*
 * fuzz_train.c - any bytes as what reaches a task of the trainer: messages of workers to PS 0 of
 * asynchronous training, from up to three connections in pieces of any size ('p'); what a PS
 * answers a worker ('l'); a checkpoint ('c'); where the chunks lie ('h').
 *
 * A PS must count each chunk once in each epoch, hand out none twice, keep its parameters finite
 * while the gradients are, and be left with no client that it counts wrongly.
 */
#include "config.h"

#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <xxhash.h>

#include "fuzz/fuzz.h"
/* For their functions, which are what a PS does with what comes. */
#include "train/server.c"
#include "train/async_ps.c"

#define TOKEN   "0123456789abcdef0123456789abcdef"
#define CLIENTS 3
#define HIDDEN  1
#define CHUNKS  5

static void try_ps(const uint8_t *data, size_t size);
static void make_ps(struct async_ps *ps, const struct place *place, const struct train_options *opt,
		    int *peers);
static size_t make_message(const struct async_ps *ps, const uint8_t *data, size_t size, char *out);
static size_t make_hello(const struct async_ps *ps, const uint8_t *data, size_t size, char *out);
static void drain(int fd);
static void check_ps(const struct async_ps *ps);
static void check_chunks(const struct async_ps *ps);
static void try_link(const uint8_t *data, size_t size);
static void try_ckpt(const uint8_t *data, size_t size);
static void edit_file(const char *path, const uint8_t *data, size_t size, bool right);
static void try_homes(const uint8_t *data, size_t size);

void complain(const struct auc_err *err)
{
	(void)err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > 6000)
		return 0;
	switch (data[0]) {
	case 'p':
		try_ps(data + 1, size - 1);
		break;
	case 'l':
		try_link(data + 1, size - 1);
		break;
	case 'c':
		try_ckpt(data + 1, size - 1);
		break;
	case 'h':
		try_homes(data + 1, size - 1);
		break;
	}
	return 0;
}

/* -- a PS -- */

/*
 * Commands of one byte: its low bits say from whom, the others what comes: so many of the bytes
 * behind it as they are, or one message of them (make_message()).
 */
static void try_ps(const uint8_t *data, size_t size)
{
	struct train_options opt = {.epochs = 2,
				    .chunks = CHUNKS,
				    .minibatches = 1,
				    .batch = 1,
				    .hidden = HIDDEN,
				    .rate = 0.1,
				    .lost = 1e9,
				    .checkpoint_every = 1e9};
	FILE *said = stderr, *printed = stdout;
	const uint8_t *end = data + size;
	char message[1024];
	struct async_ps ps;
	struct place place = {.role = TRAIN_PS, .nworkers = 1, .nps = 1, .token = TOKEN};
	struct auc_err err;
	int peers[CLIENTS];

	if (!size)
		return;
	if (data[0] & 4)
		place.nps = 2, place.rank = 1;
	opt.data = data[0] & 1 ? "." : NULL;
	if (data[0] & 2)
		REQUIRE(homes_parse(&opt.homes, "a=0,2,4;b=1,3", NULL) == AUC_OK);
	stderr = stdout = fopen("/dev/null", "we");
	REQUIRE(stdout);
	make_ps(&ps, &place, &opt, peers);
	for (data++; data < end;) {
		unsigned who = *data % CLIENTS;
		size_t n = *data / 8, len;
		bool made = *data & 4;

		data++;
		n = n < (size_t)(end - data) ? n : (size_t)(end - data);
		len = made ? make_message(&ps, data, n, message) : n;
		if (!made)
			memcpy(message, data, n);
		data += n;
		if (peers[who] < 0)
			continue;
		if (!len) {
			close(peers[who]);
			peers[who] = -1;
		} else if (send(peers[who], message, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
			continue;
		}
		if (server_read(&ps.server, &ps.server.clients[who], &err) != AUC_OK)
			break;
		ps_hand_out(&ps);
		check_ps(&ps);
		for (unsigned i = 0; i < CLIENTS; i++)
			drain(peers[i]);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		if (peers[i] >= 0)
			close(peers[i]);
	ps_clear(&ps);
	homes_clear(&opt.homes);
	fclose(stdout);
	stdout = printed;
	stderr = said;
}

static void make_ps(struct async_ps *ps, const struct place *place, const struct train_options *opt,
		    int *peers)
{
	uint64_t all = model_size(HIDDEN), to;
	int fds[2];

	*ps = (struct async_ps){.place = place,
				.opt = opt,
				.notice.fd = -1,
				.server = {.token = place->token,
					   .listen_fd = -1,
					   .workers_max = CLIENTS,
					   .hello = ps_hello,
					   .message = ps_message,
					   .gone = ps_gone,
					   .nclients = CLIENTS,
					   .alloc = CLIENTS}};
	part_of(all, place->rank, place->nps, &ps->from, &to);
	ps->n = to - ps->from;
	ps->server.arg = ps;
	ps->server.count_max = PROTO_METRICS + ps->n;
	ps->params = calloc(all, sizeof(double));
	ps->links = calloc(place->nps, sizeof(*ps->links));
	ps->server.clients = calloc(CLIENTS, sizeof(*ps->server.clients));
	REQUIRE(ps->params && ps->links && ps->server.clients);
	for (unsigned i = 0; i < place->nps; i++)
		ps->links[i].fd = -1;
	for (unsigned i = 0; i < CLIENTS; i++) {
		REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
		peers[i] = fds[0];
		ps->server.clients[i] = (struct client){.fd = fds[1], .id = -1};
	}
	if (place->rank)
		return;
	REQUIRE(chunks_init(&ps->chunks, CHUNKS, 0, NULL) == AUC_OK);
	if (opt->homes.n)
		chunks_settle(&ps->chunks, &opt->homes, opt->epochs);
}

/* A message that is one: its type, step, epochs and done, then a byte for each double. */
static size_t make_message(const struct async_ps *ps, const uint8_t *data, size_t size, char *out)
{
	struct proto_header h = {.magic = PROTO_MAGIC};
	double v = 0;

	if (!size)
		return 0;
	h.type = data[0] % 16;
	if (h.type == PROTO_HELLO)
		return make_hello(ps, data + 1, size - 1, out);
	h.step = size > 1 ? data[1] : 0;
	h.epochs = size > 2 ? data[2] : 0;
	h.done = size > 3 ? data[3] : 0;
	h.count = size > 4 ? size - 4 : 0;
	if (h.type == PROTO_PUSH)
		h.count = PROTO_METRICS + ps->n;
	else if (h.type == PROTO_NEXT && h.count)
		h.count = PROTO_METRICS;
	for (uint64_t i = 0; i < h.count; i++) {
		if (4 + i < size)
			v = data[4 + i] == 255 ? NAN : data[4 + i] - 2.0;
		memcpy(out + sizeof(h) + i * sizeof(v), &v, sizeof(v));
	}
	memcpy(out, &h, sizeof(h));
	return sizeof(h) + h.count * sizeof(double);
}

static size_t make_hello(const struct async_ps *ps, const uint8_t *data, size_t size, char *out)
{
	struct proto_hello h = {.header = {.magic = PROTO_MAGIC, .type = PROTO_HELLO},
				.params = ps->n};

	memcpy(h.token, TOKEN, sizeof(h.token));
	h.id = size > 0 ? data[0] : 0;
	if (h.id == 255)
		h.id = PROTO_COORDINATOR;
	h.node[0] = size > 1 ? (char)data[1] : 'a';
	h.node[TRAIN_NODE_MAX - 1] = size > 2 ? (char)data[2] : 0;
	h.params += size > 3 ? data[3] : 0;
	h.nworkers = size > 4 ? data[4] : PROTO_ASYNC;
	memcpy(out, &h, sizeof(h));
	return sizeof(h);
}

static void drain(int fd)
{
	char buf[4096];

	while (fd >= 0 && recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

static void check_ps(const struct async_ps *ps)
{
	unsigned workers = 0, coordinators = 0;

	for (unsigned i = 0; i < CLIENTS; i++) {
		const struct client *c = &ps->server.clients[i];

		if (c->fd < 0) {
			REQUIRE(!c->in && !c->here && !c->has_chunk && c->id == -1);
			continue;
		}
		REQUIRE(c->len <= c->alloc && c->id <= INT64_MAX);
		REQUIRE(c->alloc <= sizeof(struct proto_hello) + sizeof(struct proto_header) +
					    ps->server.count_max * sizeof(double));
		coordinators += c->id == INT64_MAX;
		workers += c->id >= 0 && c->id < INT64_MAX;
		REQUIRE(c->id >= 0 || (!c->has_chunk && !c->waits));
		REQUIRE(c->id != INT64_MAX || (!c->has_chunk && !c->waits && !c->here));
		REQUIRE(!c->has_chunk || (!c->waits && c->chunk < CHUNKS));
	}
	REQUIRE(ps->nworkers == workers && ps->coordinator == (coordinators == 1));
	REQUIRE(coordinators <= (ps->place->rank ? 1 : 0));
	if (!ps->place->rank)
		check_chunks(ps);
}

/* Each chunk is somebody's, or free; what was done is what was counted. */
static void check_chunks(const struct async_ps *ps)
{
	const struct chunks *c = &ps->chunks;
	uint64_t done = 0;
	unsigned out, had = 0, total = 0;

	for (uint64_t i = 0; i < CHUNKS; i++) {
		out = 0;
		for (unsigned k = 0; k < CLIENTS; k++) {
			const struct client *w = &ps->server.clients[k];

			if (w->fd < 0 || !w->has_chunk || w->chunk != i)
				continue;
			out++;
			REQUIRE(w->pass == c->passes[i]);
			REQUIRE(!c->homes || c->homes->home[i] == w->node);
		}
		REQUIRE(out <= 1 && c->out[i] == (out == 1));
		had += out;
		total += c->out[i];
		done += c->passes[i];
		REQUIRE(c->passes[i] <= ps->opt->epochs);
		REQUIRE(c->homes || c->passes[i] - c->epochs <= 1);
	}
	REQUIRE(had == total && done == c->epochs * CHUNKS + c->ndone && c->ndone < CHUNKS);
}

/* -- a worker -- */

/* Parameters are taken if they are as many as are due, and in no other message. */
static void try_link(const uint8_t *data, size_t size)
{
	enum { N = 4 };
	struct link l = {.ps = 0};
	const size_t whole = sizeof(struct proto_header) + (PROTO_METRICS + N) * sizeof(double);
	double params[N], metrics[PROTO_METRICS];
	struct proto_header h, want;
	struct auc_err err;
	enum auc_code rc;
	int fds[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	REQUIRE(send(fds[0], data, size, MSG_NOSIGNAL) == (ssize_t)size || !size);
	close(fds[0]);
	l.fd = fds[1];
	do {
		rc = link_params(&l, &h, metrics, params, N, &err);
		REQUIRE(rc == AUC_OK || rc == AUC_EIO || rc == AUC_EINVAL);
		if (size >= sizeof(want))
			memcpy(&want, data, sizeof(want));
		if (rc != AUC_OK) {
			REQUIRE(size < whole || want.magic != PROTO_MAGIC ||
				want.type != PROTO_PARAMS || want.count != PROTO_METRICS + N);
			break;
		}
		REQUIRE(size >= whole && want.magic == PROTO_MAGIC && want.type == PROTO_PARAMS &&
			want.count == PROTO_METRICS + N);
		REQUIRE(!memcmp(&h, data, sizeof(h)) &&
			!memcmp(metrics, data + sizeof(h), sizeof(metrics)) &&
			!memcmp(params, data + sizeof(h) + sizeof(metrics), sizeof(params)));
		data += whole;
		size -= whole;
	} while (rc == AUC_OK);
	link_close(&l);
}

/* -- files -- */

static char ckpt_path[64];

static void remove_ckpt(void)
{
	char made[80];

	snprintf(made, sizeof(made), "%s.new", ckpt_path);
	unlink(made);
	unlink(ckpt_path);
}

/* One that was written, with bytes changed and some cut off; with the right checksum, or not. */
static void try_ckpt(const uint8_t *data, size_t size)
{
	struct train_options opt = {
		.chunks = CHUNKS, .minibatches = 3, .batch = 2, .hidden = HIDDEN};
	uint64_t passes[CHUNKS] = {2, 3, 2, 2, 3}, n = model_size(HIDDEN);
	double params[64], back[64];
	struct ckpt c = {.epochs = 2, .minibatches = 1, .sum = {1, 2, 3}}, got, again;
	struct auc_err err = {.text = ""};
	enum auc_code rc;

	REQUIRE(n <= 64);
	if (!*ckpt_path) {
		snprintf(ckpt_path, sizeof(ckpt_path), "%s/fuzz-ckpt-%d",
			 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
		atexit(remove_ckpt);
	}
	for (uint64_t i = 0; i < n; i++)
		params[i] = (double)i;
	c.passes = size && data[0] & 1 ? passes : NULL;
	REQUIRE(ckpt_write(ckpt_path, &opt, &c, params, n, &err) == AUC_OK);
	if (size)
		edit_file(ckpt_path, data + 1, size - 1, data[0] & 2);
	rc = ckpt_read(ckpt_path, &opt, &got, back, n, &err);
	if (rc != AUC_OK) {
		REQUIRE((rc == AUC_ECORRUPT || rc == AUC_EINVAL) && !got.passes && *err.text);
		return;
	}
	REQUIRE(ckpt_write(ckpt_path, &opt, &got, back, n, &err) == AUC_OK);
	REQUIRE(ckpt_read(ckpt_path, &opt, &again, params, n, &err) == AUC_OK);
	REQUIRE(got.epochs == again.epochs && got.minibatches == again.minibatches &&
		!got.passes == !again.passes && !memcmp(params, back, n * sizeof(double)));
	REQUIRE(!got.passes || !memcmp(got.passes, again.passes, sizeof(passes)));
	free(got.passes);
	free(again.passes);
}

/* Pairs of a place and a value; 255, N cuts the file to N * 4 bytes. RIGHT: the sum is made anew.
 */
static void edit_file(const char *path, const uint8_t *data, size_t size, bool right)
{
	static uint8_t bytes[4096];
	FILE *f = fopen(path, "r+e");
	size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0, whole = n;
	uint64_t sum;

	REQUIRE(n > sizeof(sum));
	for (size_t i = 0; i + 1 < size; i += 2) {
		if (data[i] != 255)
			bytes[data[i] % whole] = data[i + 1];
		else
			n = data[i + 1] * 4u < whole ? data[i + 1] * 4u : whole;
	}
	if (right && n > sizeof(sum)) {
		sum = XXH3_64bits(bytes, n - sizeof(sum));
		memcpy(bytes + n - sizeof(sum), &sum, sizeof(sum));
	}
	rewind(f);
	REQUIRE(fwrite(bytes, 1, n, f) == n && !ftruncate(fileno(f), (off_t)n) && !fclose(f));
}

/* Each chunk has one home; printed and read again it is the same. */
static void try_homes(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *again;
	struct auc_err err = {.text = ""};
	struct homes h, back;
	size_t len;
	FILE *out;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (homes_parse(&h, text, &err) != AUC_OK) {
		REQUIRE(err.code == AUC_EINVAL && *err.text && !h.home && !h.nodes);
		free(text);
		return;
	}
	out = open_memstream(&again, &len);
	REQUIRE(out && h.n && h.n <= HOMES_CHUNKS_MAX && h.nnodes);
	for (uint64_t i = 0; i < h.n; i++)
		REQUIRE(h.home[i] < h.nnodes);
	for (uint32_t k = 0; k < h.nnodes; k++) {
		bool first = true;

		REQUIRE(homes_find(&h, h.nodes[k]) == k);
		fprintf(out, "%s%s=", k ? ";" : "", h.nodes[k]);
		for (uint64_t i = 0; i < h.n; i++) {
			if (h.home[i] != k)
				continue;
			fprintf(out, "%s%llu", first ? "" : ",", (unsigned long long)i);
			first = false;
		}
	}
	REQUIRE(!fclose(out) && homes_parse(&back, again, &err) == AUC_OK);
	REQUIRE(back.n == h.n && back.nnodes == h.nnodes &&
		!memcmp(back.home, h.home, h.n * sizeof(*h.home)));
	homes_clear(&back);
	homes_clear(&h);
	free(again);
	free(text);
}
