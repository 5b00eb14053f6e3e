/*
 * submit-client.c - submits batch jobs to the cluster of $SLURM_CONF as fast as it answers.
 *
 *   submit-client [-q] [-n JOBS] [-t THREADS] [-p PARTITION] [-b BID] [-s SECONDS]
 *
 * Without BID the jobs are held, so that only the submission is measured; with -q they queue. A bid
 * stands in the job's environment, and refusals count as answers. A job ends after SECONDS, or when
 * it is ended. Prints "JOBS/S ACCEPTED REFUSED".
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "base/clock.h"

#define THREADS_MAX 64

static struct {
	unsigned jobs, threads, seconds;
	char *partition, *bid;
	bool queue;
} options = {.jobs = 500, .threads = 8, .seconds = 100000};

static atomic_uint next_job, accepted, refused;

static void *submitter(void *arg);
static void submit(void);

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	double begin;
	int c;

	while ((c = getopt(argc, argv, "qn:t:p:b:s:")) != -1) {
		switch (c) {
		case 'q':
			options.queue = true;
			break;
		case 'n':
			options.jobs = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 't':
			options.threads = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'p':
			options.partition = optarg;
			break;
		case 'b':
			options.bid = optarg;
			break;
		case 's':
			options.seconds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		default:
			return 2;
		}
	}
	if (options.jobs < 1 || options.threads < 1 || options.threads > THREADS_MAX) {
		fprintf(stderr, "submit-client: -n from 1, -t from 1 to %d\n", THREADS_MAX);
		return 2;
	}
	slurm_init(NULL);
	begin = auc_clock_now();
	for (unsigned i = 0; i < options.threads; i++) {
		if (pthread_create(&threads[i], NULL, submitter, NULL)) {
			fprintf(stderr, "submit-client: no thread\n");
			return 1;
		}
	}
	for (unsigned i = 0; i < options.threads; i++)
		pthread_join(threads[i], NULL);
	printf("%.1f %u %u\n", options.jobs / (auc_clock_now() - begin), atomic_load(&accepted),
	       atomic_load(&refused));
	return 0;
}

static void *submitter(void *arg)
{
	(void)arg;
	while (atomic_fetch_add(&next_job, 1) < options.jobs)
		submit();
	return NULL;
}

static void submit(void)
{
	char bid[1024], path[] = "PATH=/usr/bin:/bin", script[64];
	char name[] = "bench", dir[] = "/", null[] = "/dev/null";
	char *environment[] = {path, bid, NULL};
	submit_response_msg_t *response = NULL;
	job_desc_msg_t job;

	snprintf(script, sizeof(script), "#!/bin/sh\nexec sleep %u\n", options.seconds);
	snprintf(bid, sizeof(bid), "SLURM_AUCTION_BID=%s", options.bid ? options.bid : "");
	slurm_init_job_desc_msg(&job);
	job.name = name;
	job.partition = options.partition;
	job.user_id = getuid();
	job.group_id = getgid();
	job.script = script;
	job.work_dir = dir;
	job.std_out = job.std_err = job.std_in = null;
	job.environment = environment;
	job.env_size = options.bid ? 2 : 1;
	job.min_nodes = 1;
	if (!options.bid && !options.queue)
		job.priority = 0;
	if (slurm_submit_batch_job(&job, &response) == SLURM_SUCCESS) {
		atomic_fetch_add(&accepted, 1);
		slurm_free_submit_response_response_msg(response);
	} else {
		if (!options.bid)
			fprintf(stderr, "submit-client: %s\n", slurm_strerror(errno));
		atomic_fetch_add(&refused, 1);
	}
}
