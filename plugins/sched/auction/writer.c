/* writer.c - see writer.h. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control.h"
#include "writer.h"

#define STOP_WAIT 5 /* seconds an RPC gets at the end */

struct queue {
	struct auc_written *first, **end;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool running, stop;
	struct queue waiting, done;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .wake = PTHREAD_COND_INITIALIZER,
	    .waiting.end = &writer.waiting.first,
	    .done.end = &writer.done.first};

static void *write_all(void *arg);
static void add(struct queue *q, struct auc_written *w);
static struct auc_written *take(struct queue *q);
static void clear(struct queue *q);

enum auc_code auc_writer_start(struct auc_err *err)
{
	int rc;

	if (writer.running)
		return AUC_OK;
	writer.stop = false;
	rc = pthread_create(&writer.thread, NULL, write_all, NULL);
	if (rc)
		return auc_err_set(err, AUC_EIO, "no thread for receipts: %s", strerror(rc));
	pthread_setname_np(writer.thread, "auction_writer");
	writer.running = true;
	return AUC_OK;
}

bool auc_writer_stop(void)
{
	struct timespec until;

	if (!writer.running)
		return true;
	pthread_mutex_lock(&writer.lock);
	writer.stop = true;
	pthread_cond_signal(&writer.wake);
	pthread_mutex_unlock(&writer.lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_WAIT;
	if (pthread_timedjoin_np(writer.thread, NULL, &until))
		return false;
	writer.running = false;
	clear(&writer.waiting);
	clear(&writer.done);
	return true;
}

bool auc_writer_put(uint32_t job_id, const char *sale, const char *text)
{
	struct auc_written *w = calloc(1, sizeof(*w));

	if (!w)
		return false;
	w->text = strdup(text);
	if (!w->text) {
		auc_written_free(w);
		return false;
	}
	w->job_id = job_id;
	snprintf(w->sale, sizeof(w->sale), "%s", sale);
	pthread_mutex_lock(&writer.lock);
	add(&writer.waiting, w);
	pthread_cond_signal(&writer.wake);
	pthread_mutex_unlock(&writer.lock);
	return true;
}

struct auc_written *auc_writer_take(void)
{
	struct auc_written *w;

	pthread_mutex_lock(&writer.lock);
	w = take(&writer.done);
	pthread_mutex_unlock(&writer.lock);
	return w;
}

void auc_written_free(struct auc_written *w)
{
	free(w->text);
	free(w);
}

static void *write_all(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&writer.lock);
	while (!writer.stop) {
		struct auc_written *w = take(&writer.waiting);

		if (!w) {
			pthread_cond_wait(&writer.wake, &writer.lock);
			continue;
		}
		pthread_mutex_unlock(&writer.lock);
		w->code = auc_control_set_receipt(w->job_id, w->text, &w->err);
		pthread_mutex_lock(&writer.lock);
		add(&writer.done, w);
	}
	pthread_mutex_unlock(&writer.lock);
	return NULL;
}

static void add(struct queue *q, struct auc_written *w)
{
	w->next = NULL;
	*q->end = w;
	q->end = &w->next;
}

static struct auc_written *take(struct queue *q)
{
	struct auc_written *w = q->first;

	if (!w)
		return NULL;
	q->first = w->next;
	if (!q->first)
		q->end = &q->first;
	return w;
}

static void clear(struct queue *q)
{
	struct auc_written *w;

	while ((w = take(q)))
		auc_written_free(w);
}
