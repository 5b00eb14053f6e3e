/*
 * train.c - auction-train: a small, real training program for auction jobs, started by slaunch in
 * every role: parameter servers and data-parallel mini-batch SGD, in common
 * steps or asynchronously. This file: options
 * and what each task prints first. See auction-train(1).
 */
#include "config.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "train/chunkdata.h"
#include "train/ckpt.h"
#include "base/file.h"
#include "train/model/model.h"
#include "base/num.h"
#include "train/train.h"

#define WORK_MAX     1000000000ULL
#define BATCH_MAX    1000000
#define CHUNKS       8
#define HELD_OUT_MAX 10000000

enum {
	OPT_PACE = 256,
	OPT_CONNECT_WAIT,
	OPT_ASYNC,
	OPT_CHECKPOINT_EVERY,
	OPT_LOST,
	OPT_DATA,
	OPT_WRITE_DATA
};

static int options_parse(struct train_options *o, const char **pace, int argc, char **argv);
static enum auc_code run(const struct place *p, const struct train_options *opt);
static enum auc_code take_homes(struct train_options *o, struct auc_err *err);
static enum auc_code check_data(const struct train_options *o, struct auc_err *err);
static void seen(const struct place *p);
static const char *env_or(const char *name, const char *other);
static void help(void);
static int written(void);

int main(int argc, char **argv)
{
	struct train_options o = {.epochs = 10,
				  .minibatches = 16,
				  .batch = 32,
				  .seed = 1,
				  .hidden = 32,
				  .held_out = 2000,
				  .rate = 0.3,
				  .connect_wait = 30,
				  .checkpoint_every = 60,
				  .lost = 60};
	enum auc_code rc;
	struct auc_err err = {0};
	const char *pace = NULL;
	struct place place = {0};
	int code;

	auc_output_begin();
	code = options_parse(&o, &pace, argc, argv);
	if (code >= 0)
		return code;
	/* Lines of many tasks meet in one file: each is written whole. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	rc = take_homes(&o, &err);
	if (rc == AUC_OK)
		rc = check_data(&o, &err);
	if (rc == AUC_OK)
		rc = place_read(&place, &err);
	if (rc == AUC_OK && pace)
		rc = pace_parse(pace, place.type, &o.pace, &err);
	if (rc == AUC_OK && place.nps > model_size(o.hidden))
		rc = auc_err_set(&err, AUC_EINVAL, "%u PSs for %zu parameters: raise --hidden",
				 place.nps, model_size(o.hidden));
	if (rc != AUC_OK)
		complain(&err);
	else
		rc = run(&place, &o);
	place_clear(&place);
	homes_clear(&o.homes);
	return rc == AUC_OK ? written() : EXIT_FAILURE;
}

void complain(const struct auc_err *err)
{
	fprintf(stderr, "auction-train: %s\n", err->text);
}

static enum auc_code run(const struct place *p, const struct train_options *opt)
{
	struct auc_err err = {0};

	seen(p);
	/* A task that has nothing to do when the group changes must not die of the signal. */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	switch (p->role) {
	case TRAIN_WORKER:
		return opt->async ? async_worker_run(p, opt, &err) : worker_run(p, opt, &err);
	case TRAIN_PS:
		return opt->async ? async_ps_run(p, opt, &err) : ps_run(p, opt, &err);
	case TRAIN_SCHEDULER:
		break; /* our tasks find each other without one */
	}
	return AUC_OK;
}

/* Returns an exit code, or -1 to go on. */
static int options_parse(struct train_options *o, const char **pace, int argc, char **argv)
{
	/* Whole numbers, by their letters. */
	const struct {
		int letter;
		const char *name;
		uint64_t *value, min, max;
	} counts[] = {
		{'e', "--epochs", &o->epochs, 1, WORK_MAX},
		{'d', "--chunks", &o->chunks, 1, WORK_MAX},
		{'m', "--minibatches", &o->minibatches, 1, WORK_MAX},
		{'b', "--batch", &o->batch, 1, BATCH_MAX},
		{'s', "--seed", &o->seed, 0, UINT32_MAX},
		{'H', "--hidden", &o->hidden, 1, MODEL_HIDDEN_MAX},
		{'t', "--held-out", &o->held_out, 1, HELD_OUT_MAX},
	};
	static const struct option options[] = {
		{"epochs", required_argument, NULL, 'e'},
		{"chunks", required_argument, NULL, 'd'},
		{"minibatches", required_argument, NULL, 'm'},
		{"batch", required_argument, NULL, 'b'},
		{"seed", required_argument, NULL, 's'},
		{"hidden", required_argument, NULL, 'H'},
		{"held-out", required_argument, NULL, 't'},
		{"rate", required_argument, NULL, 'r'},
		{"checkpoint", required_argument, NULL, 'c'},
		{"pace", required_argument, NULL, OPT_PACE},
		{"async", no_argument, NULL, OPT_ASYNC},
		{"checkpoint-every", required_argument, NULL, OPT_CHECKPOINT_EVERY},
		{"lost", required_argument, NULL, OPT_LOST},
		{"connect-wait", required_argument, NULL, OPT_CONNECT_WAIT},
		{"data", optional_argument, NULL, OPT_DATA},
		{"write-data", required_argument, NULL, OPT_WRITE_DATA},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct auc_err err = {0};
	const char *write = NULL;
	enum auc_code rc = AUC_OK;
	int c;

	while (rc == AUC_OK &&
	       (c = getopt_long(argc, argv, "e:d:m:b:s:H:t:r:c:Vh", options, NULL)) != -1) {
		for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			if (c == counts[i].letter)
				rc = auc_parse_count(optarg, counts[i].min, counts[i].max,
						     counts[i].value, counts[i].name, &err);
		switch (c) {
		case 'r':
			rc = auc_parse_number(optarg, 0, 1e6, &o->rate, "--rate", &err);
			break;
		case 'c':
			o->checkpoint = optarg;
			break;
		case OPT_PACE:
			*pace = optarg;
			break;
		case OPT_ASYNC:
			o->async = true;
			break;
		case OPT_CHECKPOINT_EVERY:
			rc = auc_parse_span(optarg, 1, 0, &o->checkpoint_every,
					    "--checkpoint-every", &err);
			break;
		case OPT_LOST:
			rc = auc_parse_span(optarg, 1, 0, &o->lost, "--lost", &err);
			break;
		case OPT_CONNECT_WAIT:
			rc = auc_parse_span(optarg, 1, 0, &o->connect_wait, "--connect-wait", &err);
			break;
		case OPT_DATA:
			o->data = optarg ? optarg : env_or("AUCTION_DATA_DIR", "");
			break;
		case OPT_WRITE_DATA:
			write = optarg;
			break;
		case 'V':
			printf("slurm-auction %s\n", PACKAGE_VERSION);
			return written();
		case 'h':
			help();
			return written();
		case '?':
			fprintf(stderr, "Try \"auction-train --help\" for more information\n");
			return AUC_EXIT_USAGE;
		}
	}
	if (rc == AUC_OK && optind < argc)
		rc = auc_err_set(&err, AUC_EINVAL, "'%s': no arguments expected", argv[optind]);
	if (rc == AUC_OK && o->checkpoint && !*o->checkpoint)
		rc = auc_err_set(&err, AUC_EINVAL, "--checkpoint=: expected the name of a file");
	if (rc == AUC_OK && write && !*write)
		rc = auc_err_set(&err, AUC_EINVAL,
				 "--write-data=: expected the name of a directory");
	if (rc == AUC_OK && write) {
		o->chunks = o->chunks ? o->chunks : CHUNKS;
		rc = chunkdata_write(write, o, &err);
	}
	if (rc != AUC_OK)
		complain(&err);
	if (rc != AUC_OK || write)
		return rc == AUC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
	return -1;
}

static enum auc_code check_data(const struct train_options *o, struct auc_err *err)
{
	if (!o->data)
		return AUC_OK;
	if (!*o->data)
		return auc_err_set(err, AUC_EINVAL,
				   "--data: AUCTION_DATA_DIR is not set, expected --data=DIR");
	if (!o->async)
		return auc_err_set(err, AUC_EINVAL,
				   "--data: expected --async, too: in common steps every worker "
				   "needs all chunks");
	if (o->chunks > CHUNKDATA_MAX)
		return auc_err_set(err, AUC_EINVAL, "--data: %llu chunks, expected %d at most",
				   (unsigned long long)o->chunks, CHUNKDATA_MAX);
	return AUC_OK;
}

/* Where the plan says on which node each chunk lies, it is trained there, and they are so many. */
static enum auc_code take_homes(struct train_options *o, struct auc_err *err)
{
	enum auc_code rc = homes_parse(&o->homes, getenv("AUCTION_CHUNKS"), err);

	if (rc == AUC_OK && o->homes.n && o->chunks && o->chunks != o->homes.n)
		rc = auc_err_set(err, AUC_EINVAL,
				 "--chunks=%llu: the job's plan has %llu (AUCTION_CHUNKS)",
				 (unsigned long long)o->chunks, (unsigned long long)o->homes.n);
	if (rc != AUC_OK)
		return rc;
	if (o->homes.n) {
		o->chunks = o->homes.n;
		o->async = true;
	} else if (!o->chunks) {
		o->chunks = CHUNKS;
	}
	return AUC_OK;
}

/* Where this task runs, as it sees it itself: what is compared with the receipt. */
static void seen(const struct place *p)
{
	static const char *const roles[] = {"worker", "ps", "scheduler"};
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	printf("seen node=%s role=%s rank=%u type=%s gpus=%s job=%s time=%lld.%03ld\n",
	       env_or("SLURMD_NODENAME", "localhost"), roles[p->role], p->rank,
	       *p->type ? p->type : "none", env_or("CUDA_VISIBLE_DEVICES", "none"),
	       env_or("AUCTION_NODE_JOB_ID", env_or("SLURM_JOB_ID", "0")), (long long)ts.tv_sec, ts.tv_nsec / 1000000);
}

static const char *env_or(const char *name, const char *other)
{
	const char *value = getenv(name);

	return value && *value ? value : other;
}

static void help(void)
{
	fputs("Usage: slaunch [...] auction-train [OPTIONS]\n"
	      "Trains a small network on generated data with the workers and PSs that slaunch "
	      "starts.\n"
	      "\n"
	      "  -e, --epochs=E        passes over the data (default: 10)\n"
	      "  -d, --chunks=D        parts of the data, dealt out to the workers (as many as "
	      "the\n"
	      "                        plan has, or 8)\n"
	      "  -m, --minibatches=M   mini-batches in a chunk (16)\n"
	      "  -b, --batch=N         samples in a mini-batch (32)\n"
	      "  -r, --rate=RATE       learning rate (0.3)\n"
	      "  -s, --seed=SEED       of data and start weights (1)\n"
	      "  -H, --hidden=N        hidden units (32)\n"
	      "  -t, --held-out=N      samples for the loss at the end (2000)\n"
	      "  -c, --checkpoint=FILE written after each epoch; training goes on from it\n"
	      "                        when the group changes, and at the end\n"
	      "      --async           no steps in common: workers may join and leave\n"
	      "      --checkpoint-every=TIME  with --async, besides (60s)\n"
	      "      --lost=TIME       with --async: silence after which a worker's chunk goes to\n"
	      "                        another (60s)\n"
	      "      --data[=DIR]      with --async: chunks are files chunk.0, chunk.1, ... of "
	      "DIR\n"
	      "                        (AUCTION_DATA_DIR) on the nodes where they lie\n"
	      "      --write-data=DIR  write all chunks as such files, and end\n"
	      "      --pace=TIME       least time of a mini-batch (PS: of an update); or by type:\n"
	      "                        v100=1.9s,t4=3.4s,ps.m=50ms. Emulates slower hardware\n"
	      "      --connect-wait=TIME  how long to try to reach the PSs (30s)\n"
	      "  -V, --version         print the version and stop\n"
	      "  -h, --help            print this and stop\n",
	      stdout);
}

/* An exit code: whether all output arrived. */
static int written(void)
{
	struct auc_err err;

	if (auc_output_end(&err) == AUC_OK)
		return EXIT_SUCCESS;
	complain(&err);
	return EXIT_FAILURE;
}
