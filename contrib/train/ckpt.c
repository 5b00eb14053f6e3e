/*
 * ckpt.c - see ckpt.h
 *
 * The file: a header of 64-bit numbers (little-endian), three sums as doubles, how often each chunk
 * was done as 64-bit numbers (asynchronous training), the parameters as doubles, the XXH3-64 of all
 * that.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "train/ckpt.h"

#define CKPT_MAGIC 0x33544b4352545541ULL /* "AUTRCKT3" */

struct ckpt_header {
	uint64_t magic, n, hidden, seed, chunks, minibatches, batch, epochs, behind, words;
	double samples, loss, correct;
};

_Static_assert(sizeof(struct ckpt_header) == 13 * 8, "no holes in files");

static struct ckpt_header ckpt_header(const struct train_options *opt, const struct ckpt *c,
				      uint64_t n);
static enum auc_code ckpt_check(const char *file, const struct ckpt_header *is,
				const struct ckpt_header *want, struct auc_err *err);
static void ckpt_sync_directory(const char *file);

enum auc_code ckpt_write(const char *file, const struct train_options *opt, const struct ckpt *c,
			 const double *params, uint64_t n, struct auc_err *err)
{
	struct ckpt_header h = ckpt_header(opt, c, n);
	size_t words = h.words * sizeof(uint64_t), body = sizeof(h) + words + n * sizeof(double);
	char *buf = malloc(body + sizeof(uint64_t)), tmp[PATH_MAX];
	enum auc_code rc = AUC_OK;
	uint64_t sum;
	FILE *f;

	if (!buf || snprintf(tmp, sizeof(tmp), "%s.new", file) >= (int)sizeof(tmp)) {
		free(buf);
		return auc_err_set(err, AUC_EIO, "%s: %s", file,
				   strerror(buf ? ENAMETOOLONG : ENOMEM));
	}
	memcpy(buf, &h, sizeof(h));
	if (words)
		memcpy(buf + sizeof(h), c->passes, words);
	memcpy(buf + sizeof(h) + words, params, n * sizeof(double));
	sum = XXH3_64bits(buf, body);
	memcpy(buf + body, &sum, sizeof(sum));
	f = fopen(tmp, "we");
	if (!f || fwrite(buf, body + sizeof(sum), 1, f) != 1 || fflush(f) != 0 ||
	    fsync(fileno(f)) != 0)
		rc = auc_err_set(err, AUC_EIO, "%s: %s", tmp, strerror(errno));
	if (f && fclose(f) != 0 && rc == AUC_OK)
		rc = auc_err_set(err, AUC_EIO, "%s: %s", tmp, strerror(errno));
	if (rc == AUC_OK && rename(tmp, file) != 0)
		rc = auc_err_set(err, AUC_EIO, "%s: %s", file, strerror(errno));
	if (rc == AUC_OK)
		ckpt_sync_directory(file);
	free(buf);
	return rc;
}

enum auc_code ckpt_read(const char *file, const struct train_options *opt, struct ckpt *c,
			double *params, uint64_t n, struct auc_err *err)
{
	struct ckpt_header want = ckpt_header(opt, &(struct ckpt){0}, n), h = {0};
	size_t most = sizeof(h) + (opt->chunks + n + 1) * sizeof(uint64_t);
	char *buf = malloc(most + 1);
	enum auc_code rc = AUC_OK;
	size_t len, words, body;
	FILE *f = buf ? fopen(file, "re") : NULL;
	uint64_t sum;

	memset(c, 0, sizeof(*c));
	if (!f) {
		free(buf);
		return auc_err_set(err, buf && errno == ENOENT ? AUC_ENOENT : AUC_EIO, "%s: %s",
				   file, strerror(errno));
	}
	/* One byte more than it may have, to see that it has no more. */
	len = fread(buf, 1, most + 1, f);
	fclose(f);
	if (len < sizeof(h)) {
		rc = auc_err_set(err, AUC_ECORRUPT, "%s: not a checkpoint of auction-train", file);
	} else {
		memcpy(&h, buf, sizeof(h));
		rc = ckpt_check(file, &h, &want, err);
	}
	words = rc == AUC_OK ? h.words * sizeof(uint64_t) : 0;
	body = sizeof(h) + words + n * sizeof(double);
	if (rc == AUC_OK && len == body + sizeof(sum))
		memcpy(&sum, buf + body, sizeof(sum));
	if (rc == AUC_OK && (len != body + sizeof(sum) || XXH3_64bits(buf, body) != sum))
		rc = auc_err_set(err, AUC_ECORRUPT, "%s: the checkpoint is damaged", file);
	c->passes = rc == AUC_OK && words ? malloc(words) : NULL;
	if (rc == AUC_OK && words && !c->passes)
		rc = auc_err_set(err, AUC_ENOMEM, "out of memory");
	if (rc == AUC_OK) {
		c->epochs = h.epochs;
		c->minibatches = h.behind;
		c->sum = (struct metrics){h.samples, h.loss, h.correct};
		if (words)
			memcpy(c->passes, buf + sizeof(h), words);
		memcpy(params, buf + sizeof(h) + words, n * sizeof(double));
	}
	free(buf);
	return rc;
}

static struct ckpt_header ckpt_header(const struct train_options *opt, const struct ckpt *c,
				      uint64_t n)
{
	return (struct ckpt_header){.magic = CKPT_MAGIC,
				    .n = n,
				    .hidden = opt->hidden,
				    .seed = opt->seed,
				    .chunks = opt->chunks,
				    .minibatches = opt->minibatches,
				    .batch = opt->batch,
				    .epochs = c->epochs,
				    .behind = c->minibatches,
				    .words = c->passes ? opt->chunks : 0,
				    .samples = c->sum.samples,
				    .loss = c->sum.loss,
				    .correct = c->sum.correct};
}

/* Another data set or model than the options say would go on with nonsense. */
static enum auc_code ckpt_check(const char *file, const struct ckpt_header *is,
				const struct ckpt_header *want, struct auc_err *err)
{
	const struct {
		const char *option;
		uint64_t is, want;
	} fields[] = {
		{"hidden", is->hidden, want->hidden},
		{"seed", is->seed, want->seed},
		{"chunks", is->chunks, want->chunks},
		{"minibatches", is->minibatches, want->minibatches},
		{"batch", is->batch, want->batch},
	};

	if (is->magic != CKPT_MAGIC)
		return auc_err_set(err, AUC_ECORRUPT, "%s: not a checkpoint of auction-train",
				   file);
	for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].is != fields[i].want)
			return auc_err_set(err, AUC_EINVAL, "%s: made with --%s=%llu, not %llu",
					   file, fields[i].option, (unsigned long long)fields[i].is,
					   (unsigned long long)fields[i].want);
	if (is->n != want->n || (is->words && is->words != want->chunks))
		return auc_err_set(err, AUC_ECORRUPT, "%s: the checkpoint is damaged", file);
	return AUC_OK;
}

/* So that the new name outlives a crash; where the file system cannot, it is not for us to mind. */
static void ckpt_sync_directory(const char *file)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(file, '/');
	int fd;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - file + 1) : 1, slash ? file : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}
