/*
 * fuzz_chunkfile.c - any bytes as what one step sends another of a chunk. The input's first line
 * says how many bytes have come before ("-": none), the rest is the stream. What becomes of the
 * file is reckoned here, too. A chunk that is whole is sent and copied from there, and is the same.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "slaunch/chunkfile.h"

#define BEFORE 300 /* most bytes that have come before */
#define HEAD   64  /* bytes of the stream's first line */

struct bytes {
	char data[8192];
	size_t size;
};

static char dir[64], path[80], part[88], other[80], other_part[88];

static void make_directory(void);
static int run(const char *op, char *const *args, const void *in, size_t size, struct bytes *out);
static bool head(const uint8_t **p, const uint8_t *end, uint64_t *total, uint64_t *from);
static bool number(const uint8_t **p, const uint8_t *end, uint8_t last, uint64_t *n);
static void put(const char *name, const void *data, size_t size);
static void is(const char *name, const char *data, size_t size);
static void is_not(const char *name);
static void send_on(const char *whole, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = memchr(data, '\n', size < 8 ? size : 8), *end = data + size, *p;
	struct bytes out, want = {.size = 0};
	uint64_t total, from;
	bool before, whole;
	size_t n;
	int code;

	if (!line || size > 4000)
		return 0;
	make_directory();
	before = data[0] >= '0' && data[0] <= '9';
	want.size = before ? strtoul((const char *)data, NULL, 10) % BEFORE : 0;
	memset(want.data, 'a', want.size);
	unlink(path);
	unlink(part);
	if (before)
		put(part, want.data, want.size);
	p = line + 1;
	code = run("receive", (char *[]){path, NULL}, p, (size_t)(end - p), &out);
	if (!head(&p, end, &total, &from)) {
		REQUIRE(code != EXIT_SUCCESS && !out.size);
		is_not(path);
		if (before)
			is(part, want.data, want.size);
		else
			is_not(part);
		return 0;
	}
	if (want.size > total)
		want.size = 0;
	n = from == want.size ? (size_t)(end - p) : 0;
	n = n < total - want.size ? n : (size_t)(total - want.size);
	memcpy(want.data + want.size, p, n);
	want.size += n;
	whole = want.size == total && from == want.size - n;
	REQUIRE(code == (whole ? EXIT_SUCCESS : EXIT_FAILURE));
	REQUIRE(out.size && strtoul(out.data, NULL, 10) == n);
	is(whole ? path : part, want.data, want.size);
	is_not(whole ? part : path);
	run("size", (char *[]){path, NULL}, "", 0, &out);
	REQUIRE(!strncmp(out.data, whole ? "whole " : "part ", whole ? 6 : 5) &&
		strtoul(strchr(out.data, ' '), NULL, 10) == want.size);
	if (whole)
		send_on(want.data, want.size);
	return 0;
}

static void remove_directory(void)
{
	unlink(path);
	unlink(part);
	unlink(other);
	unlink(other_part);
	rmdir(dir);
}

static void make_directory(void)
{
	if (*dir)
		return;
	snprintf(dir, sizeof(dir), "%s/fuzz-chunk-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/chunk.7", dir);
	snprintf(part, sizeof(part), "%s.part", path);
	snprintf(other, sizeof(other), "%s/chunk.8", dir);
	snprintf(other_part, sizeof(other_part), "%s.part", other);
	atexit(remove_directory);
}

/* OP as a process of its own would carry it out, with stdin and stdout; its sentences are lost. */
static int run(const char *op, char *const *args, const void *in, size_t size, struct bytes *out)
{
	int from = memfd_create("in", MFD_CLOEXEC), to = memfd_create("out", MFD_CLOEXEC), code;
	int old_in = dup(STDIN_FILENO), old_out;
	FILE *said = stderr;
	ssize_t n;

	fflush(stdout);
	old_out = dup(STDOUT_FILENO);
	REQUIRE(from >= 0 && to >= 0 && write(from, in, size) == (ssize_t)size &&
		lseek(from, 0, SEEK_SET) == 0);
	REQUIRE(dup2(from, STDIN_FILENO) == 0 && dup2(to, STDOUT_FILENO) == 1);
	stderr = fopen("/dev/null", "we");
	REQUIRE(stderr);
	code = chunkfile_run(op, args);
	fclose(stderr);
	stderr = said;
	fflush(stdout);
	n = pread(to, out->data, sizeof(out->data) - 1, 0);
	REQUIRE(n >= 0);
	out->size = (size_t)n;
	out->data[n] = '\0';
	close(from);
	close(to);
	if (old_in >= 0)
		dup2(old_in, STDIN_FILENO);
	if (old_out >= 0)
		dup2(old_out, STDOUT_FILENO);
	close(old_in);
	close(old_out);
	return code;
}

/* "SIZE FROM" and the end of the line. */
static bool head(const uint8_t **p, const uint8_t *end, uint64_t *total, uint64_t *from)
{
	const uint8_t *begin = *p;

	return number(p, end, ' ', total) && number(p, end, '\n', from) && *p - begin <= HEAD;
}

static bool number(const uint8_t **p, const uint8_t *end, uint8_t last, uint64_t *n)
{
	const uint8_t *begin = *p;

	for (*n = 0; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		if (*n > (INT64_MAX - (uint64_t)(**p - '0')) / 10)
			return false;
		*n = *n * 10 + (uint64_t)(**p - '0');
	}
	return *p > begin && *p < end && *(*p)++ == last;
}

static void put(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(name, "we");

	REQUIRE(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static void is(const char *name, const char *data, size_t size)
{
	FILE *f = fopen(name, "re");
	char *got = malloc(size + 2);

	REQUIRE(f && got && fread(got, 1, size + 1, f) == size && !memcmp(got, data, size));
	fclose(f);
	free(got);
}

static void is_not(const char *name)
{
	REQUIRE(access(name, F_OK) != 0);
}

/* From the middle on, to where the first half is, and in one piece; never more than was bought. */
static void send_on(const char *whole, size_t size)
{
	char from[24], most[24];
	struct bytes out, came;
	size_t first = size / 2;

	snprintf(from, sizeof(from), "%zu", first);
	snprintf(most, sizeof(most), "%zu", size);
	unlink(other);
	put(other_part, whole, first);
	REQUIRE(run("send", (char *[]){path, from, most, NULL}, "", 0, &out) == EXIT_SUCCESS);
	REQUIRE(run("receive", (char *[]){other, NULL}, out.data, out.size, &came) == EXIT_SUCCESS);
	is(other, whole, size);
	unlink(other);
	REQUIRE(run("copy", (char *[]){path, other, most, NULL}, "", 0, &came) == EXIT_SUCCESS);
	REQUIRE(strtoul(came.data, NULL, 10) == size);
	is(other, whole, size);
	if (!size)
		return;
	unlink(other);
	snprintf(most, sizeof(most), "%zu", size - 1);
	REQUIRE(run("copy", (char *[]){path, other, most, NULL}, "", 0, &came) == EXIT_FAILURE);
	REQUIRE(run("send", (char *[]){path, (char *)"0", most, NULL}, "", 0, &came) ==
		EXIT_FAILURE);
	REQUIRE(!came.size);
	is_not(other);
	is_not(other_part);
}
