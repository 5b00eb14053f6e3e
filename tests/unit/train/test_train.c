/* test_train.c - auction-train's parts: the gradient against finite differences, data, checkpoints,
 * chunks, pace, place. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "train/model/chunks.h"
#include "train/ckpt.h"
#include "base/clock.h"
#include "train/model/data.h"
#include "train/link.h"
#include "train/model/model.h"
#include "train/train.h"

#define HIDDEN 5

static double loss_of(const double *params, const double *x, unsigned label)
{
	double scratch[2 * HIDDEN];
	struct metrics m = {0};

	model_sample(params, HIDDEN, x, label, NULL, scratch, &m);
	return m.loss;
}

static void test_gradient(void **state)
{
	size_t n = model_size(HIDDEN);
	double *params = test_calloc(n, sizeof(double)), *grad = test_calloc(n, sizeof(double));
	double scratch[2 * HIDDEN], x[DATA_INPUTS];
	struct metrics m = {0};
	struct data d;

	(void)state;
	data_init(&d, 3);
	model_init(params, HIDDEN, 7);
	for (unsigned s = 0; s < 5; s++) {
		unsigned label = data_sample(&d, DATA_TRAIN, s, x);

		memset(grad, 0, n * sizeof(double));
		model_sample(params, HIDDEN, x, label, grad, scratch, &m);
		for (size_t i = 0; i < n; i++) {
			double keep = params[i], eps = 1e-5, up, down;

			params[i] = keep + eps;
			up = loss_of(params, x, label);
			params[i] = keep - eps;
			down = loss_of(params, x, label);
			params[i] = keep;
			assert_true(fabs((up - down) / (2 * eps) - grad[i]) < 1e-8);
		}
	}
	assert_true(m.samples == 5);
	test_free(params);
	test_free(grad);
}

static void test_data(void **state)
{
	double x[DATA_INPUTS], y[DATA_INPUTS], sum = 0, squares = 0, teacher = 0;
	unsigned labels[DATA_CLASSES] = {0}, n = 20000, same = 0;
	struct data d, other;

	(void)state;
	data_init(&d, 1);
	data_init(&other, 1);
	for (unsigned s = 0; s < n; s++) {
		unsigned label = data_sample(&d, DATA_TRAIN, s, x);

		assert_int_equal(label, data_sample(&other, DATA_TRAIN, s, y));
		assert_memory_equal(x, y, sizeof(x));
		data_sample(&d, DATA_HELD_OUT, s, y);
		same += x[0] == y[0];
		assert_true(label < DATA_CLASSES);
		labels[label]++;
		teacher += data_teacher_loss(&d, x, label);
		for (unsigned i = 0; i < DATA_INPUTS; i++) {
			sum += x[i];
			squares += x[i] * x[i];
		}
	}
	/* Held-out samples are others; inputs are standard normal; no class is missing; the labels
	 * are noisy, but not only noise. */
	assert_int_equal(same, 0);
	assert_true(fabs(sum / (n * DATA_INPUTS)) < 0.01);
	assert_true(fabs(squares / (n * DATA_INPUTS) - 1) < 0.01);
	for (unsigned k = 0; k < DATA_CLASSES; k++)
		assert_true(labels[k] > n / 100);
	assert_true(teacher / n > 0.1 && teacher / n < 0.7 * log(DATA_CLASSES));
}

static void write_file(const char *name, const char *data, size_t len)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void test_checkpoint(void **state)
{
	struct train_options opt = {.hidden = HIDDEN,
				    .seed = 1,
				    .chunks = 2,
				    .minibatches = 3,
				    .batch = 4},
			     other;
	double params[3] = {1, -2, 3e-300}, back[3];
	char dir[] = "/tmp/test_train.XXXXXX", file[64], data[256];
	struct auc_err err;
	uint64_t passes[2] = {11, 10};
	struct ckpt c = {.epochs = 9, .minibatches = 4}, in;
	size_t len;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/ckpt", dir);
	assert_int_equal(ckpt_read(file, &opt, &in, back, 3, &err), AUC_ENOENT);
	assert_int_equal(ckpt_write(file, &opt, &c, params, 3, &err), AUC_OK);
	assert_int_equal(ckpt_read(file, &opt, &in, back, 3, &err), AUC_OK);
	assert_int_equal(in.minibatches, 4);
	assert_null(in.passes);
	c = (struct ckpt){.epochs = 10, .passes = passes, .sum = {7, 8.5, 6}};
	assert_int_equal(ckpt_write(file, &opt, &c, params, 3, &err), AUC_OK);
	assert_int_equal(ckpt_read(file, &opt, &in, back, 3, &err), AUC_OK);
	assert_int_equal(in.epochs, 10);
	assert_memory_equal(in.passes, passes, sizeof(passes));
	assert_true(in.sum.samples == 7 && in.sum.loss == 8.5 && in.sum.correct == 6);
	free(in.passes);
	assert_memory_equal(params, back, sizeof(params));

	other = opt;
	other.seed = 2;
	assert_int_equal(ckpt_read(file, &other, &in, back, 3, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "made with --seed=1, not 2"));

	f = fopen(file, "r");
	assert_non_null(f);
	len = fread(data, 1, sizeof(data), f);
	fclose(f);
	for (size_t cut = 0; cut < len; cut++) {
		write_file(file, data, cut);
		assert_int_equal(ckpt_read(file, &opt, &in, back, 3, &err), AUC_ECORRUPT);
	}
	for (size_t i = 0; i < len; i++) {
		data[i] ^= 0x10;
		write_file(file, data, len);
		assert_int_not_equal(ckpt_read(file, &opt, &in, back, 3, &err), AUC_OK);
		data[i] ^= 0x10;
	}
	memset(data + len, 0, 8);
	write_file(file, data, len + 8);
	assert_int_equal(ckpt_read(file, &opt, &in, back, 3, &err), AUC_ECORRUPT);
	assert_int_equal(ckpt_write("/nonexistent/ckpt", &opt, &c, params, 3, &err), AUC_EIO);
	unlink(file);
	rmdir(dir);
}

static void test_pace(void **state)
{
	struct auc_err err;
	double s;

	(void)state;
	assert_int_equal(pace_parse("1.5s", "v100", &s, &err), AUC_OK);
	assert_true(s == 1.5);
	assert_int_equal(pace_parse("v100=1.5s,t4=20ms", "t4", &s, &err), AUC_OK);
	assert_true(fabs(s - 0.02) < 1e-12);
	assert_int_equal(pace_parse("v100=1.5s,t4=20ms", "ps.m", &s, &err), AUC_OK);
	assert_true(s == 0);
	assert_int_equal(pace_parse("v100=1.5s,20ms", "t4", &s, &err), AUC_EINVAL);
	assert_int_equal(pace_parse("v100=x", "t4", &s, &err), AUC_EINVAL);
	assert_int_equal(pace_parse("-1", "t4", &s, &err), AUC_EINVAL);
}

static void env(const char *role, const char *rank, const char *nps, const char *hosts)
{
	setenv("AUCTION_ROLE", role, 1);
	setenv("AUCTION_RANK", rank, 1);
	setenv("AUCTION_NUM_WORKERS", "2", 1);
	setenv("AUCTION_NUM_PS", nps, 1);
	setenv("AUCTION_PS_HOSTS", hosts, 1);
}

static void test_place(void **state)
{
	struct auc_err err;
	struct place p;

	(void)state;
	unsetenv("AUCTION_ROLE");
	unsetenv("DMLC_ROLE");
	unsetenv("AUCTION_TOKEN");
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "start this program with slaunch"));

	env("ps", "1", "2", "10.0.0.1:500,[::1]:501");
	setenv("AUCTION_PS_TYPE", "ps.m", 1);
	assert_int_equal(place_read(&p, &err), AUC_OK);
	assert_int_equal(p.role, TRAIN_PS);
	assert_int_equal(p.rank, 1);
	assert_string_equal(p.ps[1].host, "::1");
	assert_int_equal(p.ps[1].port, 501);
	assert_string_equal(p.type, "ps.m");
	place_clear(&p);

	env("ps", "2", "2", "10.0.0.1:500,[::1]:501");
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	env("worker", "0", "2", "10.0.0.1:500");
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	env("worker", "0", "1", "10.0.0.1:500,10.0.0.1:501");
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	env("worker", "0", "1", "10.0.0.1:70000");
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	env("worker", "0", "0", "");
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	env("boss", "0", "1", "10.0.0.1:500");
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	env("worker", "0", "1", "10.0.0.1:500");
	setenv("AUCTION_TOKEN", "short", 1);
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
	unsetenv("AUCTION_TOKEN");

	unsetenv("AUCTION_ROLE");
	setenv("DMLC_ROLE", "worker", 1);
	setenv("DMLC_NUM_WORKER", "3", 1);
	setenv("DMLC_NUM_SERVER", "1", 1);
	setenv("DMLC_PS_ROOT_URI", "10.0.0.1", 1);
	setenv("DMLC_PS_ROOT_PORT", "9000", 1);
	setenv("DMLC_WORKER_ID", "2", 1);
	assert_int_equal(place_read(&p, &err), AUC_OK);
	assert_int_equal(p.role, TRAIN_WORKER);
	assert_int_equal(p.rank, 2);
	assert_int_equal(p.ps[0].port, 9000);
	place_clear(&p);
	setenv("DMLC_WORKER_ID", "3", 1);
	assert_int_equal(place_read(&p, &err), AUC_EINVAL);
}

static void test_parts(void **state)
{
	uint64_t from, to, next = 0;

	(void)state;
	for (unsigned i = 0; i < 7; i++) {
		part_of(100, i, 7, &from, &to);
		assert_int_equal(from, next);
		assert_true(to - from >= 14 && to - from <= 15);
		next = to;
	}
	assert_int_equal(next, 100);
}

static void test_chunks(void **state)
{
	struct metrics one = {1, 2, 0.5};
	struct auc_err err;
	uint64_t chunk, had[3], passes[70];
	struct chunks c;
	bool whole;

	(void)state;
	assert_int_equal(chunks_init(&c, 70, 4, &err), AUC_OK);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(chunks_take(&c, 0, NULL, &had[i]));
		assert_int_equal(had[i], i);
	}
	/* One counts once, and only if it was out in this epoch. */
	assert_true(chunks_done(&c, 4, 1, &one, &whole));
	assert_false(whole);
	assert_false(chunks_done(&c, 4, 1, &one, &whole));
	assert_false(chunks_done(&c, 3, 0, &one, &whole));
	assert_false(chunks_done(&c, 4, 50, &one, &whole));
	assert_false(chunks_done(&c, 4, 70, &one, &whole));
	/* A worker left with the first: somebody else gets it, and nobody that which is done. */
	chunks_return(&c, 4, 0);
	chunks_return(&c, 4, 1);
	chunks_return(&c, 4, 99);
	assert_false(chunks_done(&c, 4, 0, &one, &whole));
	assert_true(chunks_take(&c, 0, NULL, &chunk));
	assert_int_equal(chunk, 0);
	for (unsigned i = 3; i < 70; i++) {
		assert_true(chunks_take(&c, 0, NULL, &chunk));
		assert_int_equal(chunk, i);
	}
	assert_false(chunks_take(&c, 0, NULL, &chunk));
	/* All but the last two; the state goes through a checkpoint. */
	for (unsigned i = 0; i < 69; i++)
		assert_int_equal(chunks_done(&c, 4, i, &one, &whole), i != 1);
	assert_int_equal(c.ndone, 69);
	memcpy(passes, c.passes, sizeof(passes));
	one = c.sum;
	chunks_clear(&c);
	assert_int_equal(chunks_init(&c, 70, 4, &err), AUC_OK);
	chunks_resume(&c, passes, &one);
	assert_true(chunks_take(&c, 0, NULL, &chunk));
	assert_int_equal(chunk, 69);
	assert_false(chunks_take(&c, 0, NULL, &had[0]));
	one = (struct metrics){1, 2, 0.5};
	assert_true(chunks_done(&c, 4, 69, &one, &whole));
	assert_true(whole);
	assert_int_equal(c.epochs, 5);
	assert_true(c.last.samples == 70 && c.last.loss == 140 && c.last.correct == 35);
	/* The next epoch has them all again; who comes late with the last one is not heard. */
	assert_false(chunks_done(&c, 4, 69, &one, &whole));
	chunks_return(&c, 4, 69);
	assert_true(chunks_take(&c, 0, NULL, &chunk));
	assert_int_equal(chunk, 0);
	assert_true(c.sum.samples == 0);
	chunks_clear(&c);
}

/* Where chunks lie, as slaunch says it. */
static void test_homes(void **state)
{
	const struct {
		const char *text, *why;
	} wrong[] = {
		{"", "expected NODE=CHUNK"},     {"a", "'a': expected NODE=CHUNK"},
		{"=1", "'=1': expected"},        {"a=0,2", "chunk 1 lies nowhere"},
		{"a=0;b=0", "chunk 0 is there"}, {"a=x", "x"},
		{"a=1000000", "out of range"},   {"a=", "expected NODE=CHUNK"},
	};
	struct auc_err err;
	struct homes h;

	(void)state;
	assert_int_equal(homes_parse(&h, NULL, &err), AUC_OK);
	assert_int_equal(h.n, 0);
	assert_int_equal(homes_parse(&h, "edge1=0,3;edge2=1,2", &err), AUC_OK);
	assert_int_equal(h.n, 4);
	assert_int_equal(homes_find(&h, "edge2"), 1);
	assert_true(homes_find(&h, "edge3") == HOMES_NOWHERE);
	assert_memory_equal(h.home, ((uint32_t[]){0, 1, 1, 0}), 4 * sizeof(*h.home));
	homes_clear(&h);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(homes_parse(&h, wrong[i].text, &err), AUC_EINVAL);
		assert_non_null(strstr(err.text, "AUCTION_CHUNKS"));
		assert_non_null(strstr(err.text, wrong[i].why));
	}
}

/* Each chunk is done on its node, as often as there are epochs, whoever waits. */
static void test_chunks_at_home(void **state)
{
	struct metrics one = {1, 2, 0.5};
	uint64_t chunk, other, passes[3];
	struct chunks c;
	struct homes h;
	struct auc_err err;
	bool whole;

	(void)state;
	assert_int_equal(homes_parse(&h, "a=0,2;b=1", &err), AUC_OK);
	assert_int_equal(chunks_init(&c, 3, 0, &err), AUC_OK);
	chunks_settle(&c, &h, 2);
	assert_false(chunks_take(&c, HOMES_NOWHERE, NULL, &chunk));
	assert_true(chunks_take(&c, 0, NULL, &chunk));
	assert_true(chunks_take(&c, 0, NULL, &other));
	assert_true(chunk == 0 && other == 2);
	assert_false(chunks_take(&c, 0, NULL, &other));
	/* b has no worker yet, and a goes on. */
	assert_true(chunks_done(&c, 0, 0, &one, &whole));
	assert_true(chunks_take(&c, 0, NULL, &chunk));
	assert_int_equal(chunk, 0);
	chunks_return(&c, 1, 0);
	assert_true(chunks_done(&c, 0, 2, &one, &whole));
	assert_false(whole);
	assert_true(chunks_take(&c, 0, NULL, &chunk));
	assert_int_equal(chunk, 0);
	assert_true(chunks_done(&c, 1, 0, &one, &whole));
	assert_true(whole);
	assert_int_equal(c.epochs, 1);
	assert_true(chunks_take(&c, 0, NULL, &chunk));
	assert_int_equal(chunk, 2);
	assert_true(chunks_done(&c, 1, 2, &one, &whole));
	assert_false(chunks_take(&c, 0, NULL, &chunk));
	/* Through a checkpoint. */
	memcpy(passes, c.passes, sizeof(passes));
	chunks_clear(&c);
	assert_int_equal(chunks_init(&c, 3, 1, &err), AUC_OK);
	chunks_resume(&c, passes, &one);
	chunks_settle(&c, &h, 2);
	assert_true(c.epochs == 1 && c.ndone == 1);
	assert_false(chunks_take(&c, 0, NULL, &chunk));
	for (unsigned i = 0; i < 2; i++) {
		assert_true(chunks_take(&c, 1, NULL, &chunk));
		assert_int_equal(chunk, 1);
		assert_true(chunks_done(&c, i, 1, &one, &whole));
	}
	assert_true(whole);
	assert_int_equal(c.epochs, 2);
	assert_false(chunks_take(&c, 1, NULL, &chunk));
	chunks_clear(&c);
	/* The same checkpoint where chunks may be anywhere: what is left is caught up with. */
	assert_int_equal(chunks_init(&c, 3, 1, &err), AUC_OK);
	chunks_resume(&c, passes, &one);
	while (c.epochs < 4) {
		assert_true(chunks_take(&c, 0, NULL, &chunk));
		assert_true(chunks_done(&c, c.passes[chunk], chunk, &one, &whole));
	}
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(c.passes[i], 4);
	chunks_clear(&c);
	homes_clear(&h);
}

/* A PS that does not answer must not hold up the one that gathers: also if it begins to. */
static void test_link_timeout(void **state)
{
	struct link l = {.ps = 3, .timeout = 0.2};
	struct auc_err err;
	char buf[4] = "";
	double begin;
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	l.fd = fd[0];
	assert_int_equal(write(fd[1], "abcdef", 6), 6);
	assert_int_equal(link_recv(&l, buf, 4, &err), AUC_OK);
	assert_memory_equal(buf, "abcd", 4);
	begin = auc_clock_now();
	assert_int_equal(link_recv(&l, buf, 4, &err), AUC_EIO);
	assert_string_equal(err.text, "PS 3 did not answer within 0.2 s");
	assert_true(auc_clock_now() - begin >= 0.2);
	close(fd[1]);
	assert_int_equal(link_recv(&l, buf, 1, &err), AUC_EIO);
	assert_string_equal(err.text, "PS 3 went away");
	link_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradient),       cmocka_unit_test(test_data),
		cmocka_unit_test(test_checkpoint),     cmocka_unit_test(test_pace),
		cmocka_unit_test(test_place),          cmocka_unit_test(test_parts),
		cmocka_unit_test(test_chunks),         cmocka_unit_test(test_homes),
		cmocka_unit_test(test_chunks_at_home), cmocka_unit_test(test_link_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
