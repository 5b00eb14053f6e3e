/* rpc_threads.c - see rpc_threads.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sched/rpc/rpc_threads.h"

struct queue {
	struct auc_rpc_task *first, **end;
};

struct worker {
	struct auc_rpc_threads *q;
	pthread_t thread;
	bool ended;
	struct auc_rpc_task *now; /* it is being run */
};

struct auc_rpc_threads {
	pthread_mutex_t lock; /* for all that follows */
	pthread_cond_t wake;
	bool ending;
	struct queue waiting, done;
	unsigned nworkers;
	struct worker workers[];
};

static void *work(void *arg);
static bool has(struct auc_rpc_threads *q, uint64_t key);
static struct auc_rpc_task **find(struct queue *queue, uint64_t key);
static void add(struct queue *queue, struct auc_rpc_task *e);
static struct auc_rpc_task *take(struct queue *queue, struct auc_rpc_task **at);
static void clear(struct queue *queue);

struct auc_rpc_threads *auc_rpc_threads_start(unsigned threads, const char *name,
					      struct auc_err *err)
{
	struct auc_rpc_threads *q = calloc(1, sizeof(*q) + threads * sizeof(*q->workers));
	int rc = 0;

	if (!q) {
		auc_err_set(err, AUC_ENOMEM, "no memory for threads %s", name);
		return NULL;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->wake, NULL);
	q->waiting.end = &q->waiting.first;
	q->done.end = &q->done.first;
	for (; q->nworkers < threads; q->nworkers++) {
		struct worker *w = &q->workers[q->nworkers];

		w->q = q;
		rc = pthread_create(&w->thread, NULL, work, w);
		if (rc)
			break;
		pthread_setname_np(w->thread, name);
	}
	if (!rc)
		return q;
	auc_err_set(err, AUC_EIO, "no thread %s: %s", name, strerror(rc));
	/* Those that run have nothing to do. */
	auc_rpc_threads_stop(q, &(struct timespec){.tv_sec = time(NULL) + 1});
	return NULL;
}

bool auc_rpc_threads_stop(struct auc_rpc_threads *q, const struct timespec *until)
{
	if (!q)
		return true;
	pthread_mutex_lock(&q->lock);
	q->ending = true;
	pthread_cond_broadcast(&q->wake);
	pthread_mutex_unlock(&q->lock);
	for (unsigned i = 0; i < q->nworkers; i++) {
		struct worker *w = &q->workers[i];

		if (!w->ended && pthread_timedjoin_np(w->thread, NULL, until))
			return false;
		w->ended = true;
	}
	clear(&q->waiting);
	clear(&q->done);
	pthread_cond_destroy(&q->wake);
	pthread_mutex_destroy(&q->lock);
	free(q);
	return true;
}

bool auc_rpc_threads_put(struct auc_rpc_threads *q, struct auc_rpc_task *e)
{
	bool put;

	pthread_mutex_lock(&q->lock);
	put = !has(q, e->key);
	if (put) {
		add(&q->waiting, e);
		pthread_cond_signal(&q->wake);
	}
	pthread_mutex_unlock(&q->lock);
	if (!put)
		free(e);
	return put;
}

bool auc_rpc_threads_has(struct auc_rpc_threads *q, uint64_t key)
{
	bool yes;

	pthread_mutex_lock(&q->lock);
	yes = has(q, key);
	pthread_mutex_unlock(&q->lock);
	return yes;
}

bool auc_rpc_threads_any(struct auc_rpc_threads *q, bool (*is)(const struct auc_rpc_task *e))
{
	const struct auc_rpc_task *e;
	bool yes = false;

	pthread_mutex_lock(&q->lock);
	for (unsigned i = 0; i < q->nworkers && !yes; i++)
		yes = q->workers[i].now && is(q->workers[i].now);
	for (e = q->waiting.first; e && !yes; e = e->next)
		yes = is(e);
	for (e = q->done.first; e && !yes; e = e->next)
		yes = is(e);
	pthread_mutex_unlock(&q->lock);
	return yes;
}

void auc_rpc_threads_overtake(struct auc_rpc_threads *q, uint64_t key)
{
	struct auc_rpc_task **at;

	pthread_mutex_lock(&q->lock);
	at = find(&q->waiting, key);
	if (at)
		free(take(&q->waiting, at));
	for (unsigned i = 0; i < q->nworkers; i++)
		if (q->workers[i].now && q->workers[i].now->key == key)
			q->workers[i].now->overtaken = true;
	pthread_mutex_unlock(&q->lock);
}

struct auc_rpc_task *auc_rpc_threads_take(struct auc_rpc_threads *q)
{
	struct auc_rpc_task *e = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->done.first)
		e = take(&q->done, &q->done.first);
	pthread_mutex_unlock(&q->lock);
	return e;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct auc_rpc_threads *q = w->q;

	pthread_mutex_lock(&q->lock);
	while (!q->ending) {
		struct auc_rpc_task *e;

		if (!q->waiting.first) {
			pthread_cond_wait(&q->wake, &q->lock);
			continue;
		}
		w->now = e = take(&q->waiting, &q->waiting.first);
		pthread_mutex_unlock(&q->lock);
		e->code = e->run(e);
		pthread_mutex_lock(&q->lock);
		if (e->overtaken && e->undo) {
			pthread_mutex_unlock(&q->lock);
			e->undo(e);
			pthread_mutex_lock(&q->lock);
		}
		w->now = NULL;
		add(&q->done, e);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static bool has(struct auc_rpc_threads *q, uint64_t key)
{
	for (unsigned i = 0; i < q->nworkers; i++)
		if (q->workers[i].now && q->workers[i].now->key == key)
			return true;
	return find(&q->waiting, key) || find(&q->done, key);
}

static struct auc_rpc_task **find(struct queue *queue, uint64_t key)
{
	struct auc_rpc_task **at;

	for (at = &queue->first; *at; at = &(*at)->next)
		if ((*at)->key == key)
			return at;
	return NULL;
}

static void add(struct queue *queue, struct auc_rpc_task *e)
{
	e->next = NULL;
	*queue->end = e;
	queue->end = &e->next;
}

/* Unlinks *AT. */
static struct auc_rpc_task *take(struct queue *queue, struct auc_rpc_task **at)
{
	struct auc_rpc_task *e = *at;

	*at = e->next;
	if (!e->next)
		queue->end = at;
	return e;
}

static void clear(struct queue *queue)
{
	while (queue->first)
		free(take(queue, &queue->first));
}
