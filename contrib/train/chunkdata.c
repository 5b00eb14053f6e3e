/* chunkdata.c - see chunkdata.h */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train/chunkdata.h"

static enum auc_code write_chunk(const char *dir, uint64_t n, const struct train_options *opt,
				 const struct data *data, struct auc_err *err);
static void name_of(const char *dir, uint64_t n, char *path);

enum auc_code chunkdata_write(const char *dir, const struct train_options *opt, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct data data;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return auc_err_set(err, AUC_EIO, "%s: %s", dir, strerror(errno));
	data_init(&data, opt->seed);
	for (uint64_t n = 0; n < opt->chunks && rc == AUC_OK; n++)
		rc = write_chunk(dir, n, opt, &data, err);
	return rc;
}

uint64_t chunkdata_size(const struct train_options *opt)
{
	return opt->minibatches * opt->batch * CHUNK_SAMPLE * sizeof(double);
}

enum auc_code chunkdata_read(const char *dir, uint64_t n, const struct train_options *opt,
			     double *samples, struct auc_err *err)
{
	uint64_t size = chunkdata_size(opt);
	char path[PATH_MAX];
	size_t got;
	FILE *in;

	name_of(dir, n, path);
	in = fopen(path, "re");
	if (!in)
		return auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	got = fread(samples, 1, size, in);
	if (got == size && fgetc(in) != EOF)
		got++;
	fclose(in);
	if (got == size)
		return AUC_OK;
	return auc_err_set(err, AUC_EIO, "%s: expected %" PRIu64 " bytes: chunks of these options",
			   path, size);
}

uint64_t chunkdata_here(const char *dir, uint64_t n, double *list)
{
	char path[PATH_MAX];
	uint64_t count = 0;

	for (uint64_t i = 0; i < n; i++) {
		name_of(dir, i, path);
		if (access(path, R_OK) == 0)
			list[count++] = (double)i;
	}
	return count;
}

static enum auc_code write_chunk(const char *dir, uint64_t n, const struct train_options *opt,
				 const struct data *data, struct auc_err *err)
{
	uint64_t first = n * opt->minibatches * opt->batch;
	double sample[CHUNK_SAMPLE];
	char path[PATH_MAX];
	bool bad = false;
	FILE *out;

	name_of(dir, n, path);
	out = fopen(path, "we");
	for (uint64_t i = 0; out && i < opt->minibatches * opt->batch && !bad; i++) {
		sample[DATA_INPUTS] = data_sample(data, DATA_TRAIN, first + i, sample);
		bad = fwrite(sample, sizeof(sample), 1, out) != 1;
	}
	if (out && fclose(out) == 0 && !bad)
		return AUC_OK;
	return auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
}

static void name_of(const char *dir, uint64_t n, char *path)
{
	snprintf(path, PATH_MAX, "%s/chunk.%" PRIu64, dir, n);
}
