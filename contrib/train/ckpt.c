/*
 * ckpt.c - see ckpt.h
 *
 * The file: a header of 64-bit numbers (little-endian), the parameters as doubles, the XXH3-64 of
 * both.
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

#include "ckpt.h"

#define CKPT_MAGIC 0x31544b4352545541ULL /* "AUTRCKT1" */

struct ckpt_header {
	uint64_t magic, n, hidden, seed, chunks, minibatches, batch, epochs;
};

static struct ckpt_header ckpt_header(const struct train_options *opt, uint64_t epochs, uint64_t n);
static enum auc_code ckpt_check(const char *file, const struct ckpt_header *is,
				const struct ckpt_header *want, struct auc_err *err);

enum auc_code ckpt_write(const char *file, const struct train_options *opt, uint64_t epochs,
			 const double *params, uint64_t n, struct auc_err *err)
{
	struct ckpt_header h = ckpt_header(opt, epochs, n);
	size_t body = sizeof(h) + n * sizeof(double);
	char *buf = malloc(body + sizeof(uint64_t)), tmp[PATH_MAX];
	enum auc_code rc = AUC_OK;
	uint64_t sum;
	FILE *f;

	if (!buf || snprintf(tmp, sizeof(tmp), "%s.new", file) >= (int)sizeof(tmp)) {
		free(buf);
		return auc_err_set(err, AUC_EIO, "%s: the name is too long", file);
	}
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), params, n * sizeof(double));
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
	free(buf);
	return rc;
}

enum auc_code ckpt_read(const char *file, const struct train_options *opt, uint64_t *epochs,
			double *params, uint64_t n, struct auc_err *err)
{
	struct ckpt_header want = ckpt_header(opt, 0, n), h = {0};
	size_t body = sizeof(h) + n * sizeof(double);
	char *buf = malloc(body + sizeof(uint64_t) + 1);
	enum auc_code rc = AUC_OK;
	uint64_t sum;
	FILE *f = buf ? fopen(file, "re") : NULL;
	size_t len;

	if (!f) {
		free(buf);
		return auc_err_set(err, buf && errno == ENOENT ? AUC_ENOENT : AUC_EIO, "%s: %s",
				   file, strerror(errno));
	}
	/* One byte more than it may have, to see that it has no more. */
	len = fread(buf, 1, body + sizeof(sum) + 1, f);
	fclose(f);
	if (len < sizeof(h)) {
		rc = auc_err_set(err, AUC_ECORRUPT, "%s: not a checkpoint of auction-train", file);
	} else {
		memcpy(&h, buf, sizeof(h));
		rc = ckpt_check(file, &h, &want, err);
	}
	if (rc == AUC_OK) {
		memcpy(&sum, buf + body, sizeof(sum));
		if (len != body + sizeof(sum) || XXH3_64bits(buf, body) != sum)
			rc = auc_err_set(err, AUC_ECORRUPT, "%s: the checkpoint is damaged", file);
	}
	if (rc == AUC_OK) {
		*epochs = h.epochs;
		memcpy(params, buf + sizeof(h), n * sizeof(double));
	}
	free(buf);
	return rc;
}

static struct ckpt_header ckpt_header(const struct train_options *opt, uint64_t epochs, uint64_t n)
{
	return (struct ckpt_header){.magic = CKPT_MAGIC,
				    .n = n,
				    .hidden = opt->hidden,
				    .seed = opt->seed,
				    .chunks = opt->chunks,
				    .minibatches = opt->minibatches,
				    .batch = opt->batch,
				    .epochs = epochs};
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
	if (is->n != want->n)
		return auc_err_set(err, AUC_ECORRUPT, "%s: the checkpoint is damaged", file);
	return AUC_OK;
}
