/* chunkfile.c - see chunkfile.h */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slaunch/chunkfile.h"
#include "base/num.h"
#include "slaunch/say.h"

#define BLOCK 65536

/* The chunk that comes: PATH.part, open, with HAVE bytes of TOTAL. */
struct incoming {
	char path[PATH_MAX], part[PATH_MAX + 8];
	int fd;
	uint64_t have, total;
};

static int chunk_size(const char *path);
static int chunk_send(const char *path, const char *from, const char *max);
static int chunk_receive(const char *path);
static int chunk_copy(const char *source, const char *path, const char *max);
static bool open_source(const char *path, const char *max, int *fd, uint64_t *size);
static bool open_part(struct incoming *in, const char *path);
static bool take(struct incoming *in, int fd, uint64_t *came);
static bool finish(struct incoming *in);
static bool read_head(int fd, uint64_t *size, uint64_t *from);
static bool write_all(int fd, const char *data, size_t n);
static bool failed(const char *path);

int chunkfile_run(const char *op, char *const *args)
{
	unsigned n = 0;

	while (args[n])
		n++;
	if (!strcmp(op, "size") && n == 1)
		return chunk_size(args[0]);
	if (!strcmp(op, "send") && n == 3)
		return chunk_send(args[0], args[1], args[2]);
	if (!strcmp(op, "receive") && n == 1)
		return chunk_receive(args[0]);
	if (!strcmp(op, "copy") && n == 3)
		return chunk_copy(args[0], args[1], args[2]);
	say("--chunk=%s: expected size, send, receive or copy, and its arguments", op);
	return EXIT_FAILURE;
}

static int chunk_size(const char *path)
{
	char part[PATH_MAX + 8];
	struct stat st;

	snprintf(part, sizeof(part), "%s.part", path);
	if (stat(path, &st) == 0)
		printf("whole %" PRId64 "\n", (int64_t)st.st_size);
	else if (stat(part, &st) == 0)
		printf("part %" PRId64 "\n", (int64_t)st.st_size);
	else
		printf("none 0\n");
	return EXIT_SUCCESS;
}

static int chunk_send(const char *path, const char *from, const char *max)
{
	uint64_t size, at;
	char block[BLOCK];
	ssize_t n = 0;
	int fd;

	if (auc_parse_count(from, 0, INT64_MAX, &at, "--chunk", NULL) != AUC_OK ||
	    !open_source(path, max, &fd, &size))
		return EXIT_FAILURE;
	n = snprintf(block, sizeof(block), "%" PRIu64 " %" PRIu64 "\n", size, at);
	if (lseek(fd, (off_t)at, SEEK_SET) < 0 || !write_all(STDOUT_FILENO, block, (size_t)n))
		n = -1;
	/* No more than the size that was looked at, should it grow meanwhile. */
	for (; n > 0 && at < size; at += (uint64_t)n) {
		n = read(fd, block, size - at < BLOCK ? size - at : BLOCK);
		if (n > 0 && !write_all(STDOUT_FILENO, block, (size_t)n))
			n = -1;
	}
	if (n < 0)
		failed(path);
	close(fd);
	return n < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int chunk_receive(const char *path)
{
	struct incoming in;
	uint64_t came = 0, from;
	bool good;

	/* An end without a head is the sender's, who has said why. */
	if (!read_head(STDIN_FILENO, &in.total, &from) || !open_part(&in, path))
		return EXIT_FAILURE;
	good = in.have == from;
	if (!good)
		say("%s: %" PRIu64 " bytes have come, the next one is number %" PRIu64, in.part,
		    in.have, from);
	good = good && take(&in, STDIN_FILENO, &came) && finish(&in);
	close(in.fd);
	printf("%" PRIu64 "\n", came);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int chunk_copy(const char *source, const char *path, const char *max)
{
	struct incoming in;
	uint64_t came = 0, size;
	bool good;
	int fd;

	if (!open_source(source, max, &fd, &size))
		return EXIT_FAILURE;
	in.total = size;
	good = open_part(&in, path) && (lseek(fd, (off_t)in.have, SEEK_SET) >= 0 || failed(source));
	good = good && take(&in, fd, &came) && finish(&in);
	close(fd);
	printf("%" PRIu64 "\n", came);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A chunk of at most MAX bytes. */
static bool open_source(const char *path, const char *max, int *fd, uint64_t *size)
{
	struct stat st;
	uint64_t most;

	if (auc_parse_count(max, 0, INT64_MAX, &most, "--chunk", NULL) != AUC_OK)
		return false;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0 || fstat(*fd, &st) != 0)
		return failed(path);
	*size = (uint64_t)st.st_size;
	if (S_ISREG(st.st_mode) && *size <= most)
		return true;
	if (!S_ISREG(st.st_mode))
		say("%s: expected a regular file", path);
	else
		say("%s: %" PRIu64 " bytes, expected %" PRIu64
		    " at most: that much was bought for it (--data-mb)",
		    path, *size, most);
	close(*fd);
	return false;
}

/* For in->total bytes. What is longer than that is no part of it: it is thrown away. */
static bool open_part(struct incoming *in, const char *path)
{
	char dir[PATH_MAX];
	struct stat st;

	snprintf(in->path, sizeof(in->path), "%s", path);
	snprintf(in->part, sizeof(in->part), "%s.part", in->path);
	snprintf(dir, sizeof(dir), "%s", path);
	if (mkdir(dirname(dir), 0700) != 0 && errno != EEXIST)
		return failed(path);
	in->fd = open(in->part, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (in->fd < 0 || fstat(in->fd, &st) != 0)
		return failed(in->part);
	in->have = (uint64_t)st.st_size;
	if (in->have <= in->total)
		return true;
	say("%s: %" PRIu64 " bytes, more than the %" PRIu64 " of the chunk, which starts anew",
	    in->part, in->have, in->total);
	in->have = 0;
	return ftruncate(in->fd, 0) == 0 || failed(in->part);
}

/* Until it is whole, or no more comes. */
static bool take(struct incoming *in, int fd, uint64_t *came)
{
	char block[BLOCK];
	uint64_t left;
	ssize_t n;

	while (in->have < in->total) {
		left = in->total - in->have;
		n = read(fd, block, left < BLOCK ? left : BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (!write_all(in->fd, block, (size_t)n))
			return failed(in->part);
		in->have += (uint64_t)n;
		*came += (uint64_t)n;
	}
	return true;
}

static bool finish(struct incoming *in)
{
	if (in->have != in->total) {
		say("%s: %" PRIu64 " bytes of %" PRIu64 " have come", in->part, in->have,
		    in->total);
		return false;
	}
	return (fsync(in->fd) == 0 && rename(in->part, in->path) == 0) || failed(in->path);
}

/* Byte by byte: what is behind it is the chunk. */
static bool read_head(int fd, uint64_t *size, uint64_t *from)
{
	char line[64], *space;
	size_t n = 0;

	do {
		if (n == sizeof(line) || read(fd, line + n, 1) != 1)
			return false;
	} while (line[n++] != '\n');
	line[n - 1] = '\0';
	space = strchr(line, ' ');
	if (!space || strspn(line, "0123456789 ") != n - 1)
		return false;
	*space = '\0';
	return auc_parse_count(line, 0, INT64_MAX, size, "--chunk", NULL) == AUC_OK &&
	       auc_parse_count(space + 1, 0, INT64_MAX, from, "--chunk", NULL) == AUC_OK;
}

static bool write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		data += done;
		n -= (size_t)done;
	}
	return true;
}

static bool failed(const char *path)
{
	say("%s: %s", path, strerror(errno));
	return false;
}
