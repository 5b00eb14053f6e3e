/* test_chunkfile.c - a chunk of data on its way: what has come is not sent twice, what cannot be a
 * part of it is thrown away, and the file is there when all of it is. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "slaunch/chunkfile.h"

#define SIZE 200000 /* of the chunk: more than a pipe holds */
#define MAX  "200000"

static char dir[] = "/tmp/test-chunkfile-XXXXXX";
static char source[64], target[64], part[70];

static void fill(const char *path, size_t n, char seed)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		putc(seed ? seed : (char)(i * 7 + i / 256), f);
	assert_int_equal(fclose(f), 0);
}

static bool there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static bool same(const char *a, const char *b)
{
	FILE *x = fopen(a, "r"), *y = fopen(b, "r");
	int c, d;

	assert_non_null(x);
	assert_non_null(y);
	do {
		c = getc(x);
		d = getc(y);
	} while (c == d && c != EOF);
	fclose(x);
	fclose(y);
	return c == d;
}

/* A process that carries out OP with ARGS, stdin IN and stdout OUT; its complaints are not shown.
 */
static pid_t start(const char *op, char *const *args, int in, int out)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int code;

		if (!freopen("/dev/null", "w", stderr) || dup2(in, STDIN_FILENO) < 0 ||
		    dup2(out, STDOUT_FILENO) < 0)
			_exit(99);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		code = chunkfile_run(op, args);
		fflush(stdout);
		_exit(code);
	}
	return pid;
}

static int end(pid_t pid)
{
	int status;

	assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* OP alone, with what it prints in TEXT; returns its exit code. */
static int run(const char *op, char *const *args, char text[64])
{
	ssize_t n;
	int out[2];
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = start(op, args, STDIN_FILENO, out[1]);
	close(out[1]);
	n = read(out[0], text, 63);
	text[n > 0 ? n : 0] = '\0';
	close(out[0]);
	return end(pid);
}

static int copy(char text[64])
{
	return run("copy", (char *[]){source, target, (char *)MAX, NULL}, text);
}

static void size(char text[64])
{
	assert_int_equal(run("size", (char *[]){target, NULL}, text), 0);
}

/* A stream from FROM on; TEXT: what the receiver prints. Returns its exit code. */
static int stream(const char *from, char text[64])
{
	int data[2], out[2];
	pid_t sender, receiver;
	ssize_t n;

	assert_int_equal(pipe(data), 0);
	assert_int_equal(pipe(out), 0);
	sender = start("send", (char *[]){source, (char *)from, (char *)MAX, NULL}, STDIN_FILENO,
		       data[1]);
	receiver = start("receive", (char *[]){target, NULL}, data[0], out[1]);
	close(data[0]);
	close(data[1]);
	close(out[1]);
	n = read(out[0], text, 63);
	text[n > 0 ? n : 0] = '\0';
	close(out[0]);
	(void)waitpid(sender, NULL, 0);
	return end(receiver);
}

static int set_up(void **state)
{
	(void)state;
	fill(source, SIZE, 0);
	unlink(target);
	unlink(part);
	return 0;
}

static void test_whole(void **state)
{
	char text[64];

	(void)state;
	size(text);
	assert_string_equal(text, "none 0\n");
	assert_int_equal(stream("0", text), 0);
	assert_string_equal(text, "200000\n");
	assert_true(same(source, target) && !there(part));
	size(text);
	assert_string_equal(text, "whole 200000\n");
	unlink(target);
	assert_int_equal(copy(text), 0);
	assert_string_equal(text, "200000\n");
	assert_true(same(source, target) && !there(part));
}

/* What is there already is not sent. */
static void test_goes_on(void **state)
{
	char text[64];

	(void)state;
	fill(part, 70000, 0);
	size(text);
	assert_string_equal(text, "part 70000\n");
	assert_int_equal(stream("70000", text), 0);
	assert_string_equal(text, "130000\n");
	assert_true(same(source, target));
	unlink(target);
	fill(part, 199999, 0);
	assert_int_equal(copy(text), 0);
	assert_string_equal(text, "1\n");
	assert_true(same(source, target));
	/* all of it, but for its name */
	unlink(target);
	fill(part, SIZE, 0);
	assert_int_equal(stream("200000", text), 0);
	assert_string_equal(text, "0\n");
	assert_true(same(source, target));
}

/* Another one's bytes: the receiver has not what the sender goes on from. */
static void test_gap(void **state)
{
	char text[64];

	(void)state;
	fill(part, 70000, 0);
	assert_int_equal(stream("70001", text), 1);
	assert_string_equal(text, "0\n");
	assert_false(there(target));
	size(text);
	assert_string_equal(text, "part 70000\n");
}

/* More than the chunk has is no part of it: it starts anew. */
static void test_too_long(void **state)
{
	char text[64];

	(void)state;
	fill(part, SIZE + 1, 'x');
	assert_int_equal(stream("200001", text), 1);
	assert_string_equal(text, "0\n");
	size(text);
	assert_string_equal(text, "part 0\n");
	assert_int_equal(stream("0", text), 0);
	assert_true(same(source, target));
	unlink(target);
	fill(part, 2 * SIZE, 'x');
	assert_int_equal(copy(text), 0);
	assert_string_equal(text, "200000\n");
	assert_true(same(source, target) && !there(part));
}

/* A chunk of more than was bought. */
static void test_refused(void **state)
{
	char text[64];

	(void)state;
	fill(source, SIZE + 1, 0);
	assert_int_equal(copy(text), 1);
	assert_int_equal(stream("0", text), 1);
	assert_false(there(target) || there(part));
	assert_int_equal(run("copy", (char *[]){dir, target, (char *)MAX, NULL}, text), 1);
	assert_int_equal(run("copy", (char *[]){source, target, (char *)"x", NULL}, text), 1);
	assert_int_equal(run("move", (char *[]){source, target, NULL}, text), 1);
	assert_int_equal(run("size", (char *[]){NULL}, text), 1);
}

/* A first line that is no two sizes is none. */
static void test_head(void **state)
{
	static const char *const heads[] = {
		"-5 0\nabc", "5\nabc",    "5 0 0\nabc", " 5 0\nabc", "18446744073709551615 0\nabc",
		"3 0abc",    "1e1 0\nabc"};
	char text[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		int data[2], out[2];
		ssize_t n;
		pid_t pid;

		assert_int_equal(pipe(data), 0);
		assert_int_equal(pipe(out), 0);
		assert_int_equal(write(data[1], heads[i], strlen(heads[i])), strlen(heads[i]));
		close(data[1]);
		pid = start("receive", (char *[]){target, NULL}, data[0], out[1]);
		close(data[0]);
		close(out[1]);
		n = read(out[0], text, sizeof(text));
		close(out[0]);
		assert_int_equal(n, 0);
		assert_int_equal(end(pid), 1);
		assert_false(there(target) || there(part));
	}
}

static int group_set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(source, sizeof(source), "%s/from", dir);
	snprintf(target, sizeof(target), "%s/chunk.0", dir);
	snprintf(part, sizeof(part), "%s.part", target);
	return 0;
}

static int group_tear_down(void **state)
{
	(void)state;
	unlink(source);
	unlink(target);
	unlink(part);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole, set_up),
		cmocka_unit_test_setup(test_goes_on, set_up),
		cmocka_unit_test_setup(test_gap, set_up),
		cmocka_unit_test_setup(test_too_long, set_up),
		cmocka_unit_test_setup(test_refused, set_up),
		cmocka_unit_test_setup(test_head, set_up),
	};

	return cmocka_run_group_tests_name("chunkfile", tests, group_set_up, group_tear_down);
}
