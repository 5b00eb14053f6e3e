/*
 * async_worker.c - a worker of asynchronous training: asks PS 0 for a chunk, and for each of its
 * mini-batches pushes the gradient and takes the parameters as they then are. It may begin and end
 * at any time; a chunk that it leaves unfinished is another's.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/chunkdata.h"
#include "base/clock.h"
#include "train/model/data.h"
#include "train/link.h"
#include "train/model/model.h"
#include "train/notice.h"

#define HERE_AGAIN 0.2 /* seconds until a worker without chunks looks for some again */

struct async_worker {
	const struct place *place;
	const struct train_options *opt;
	struct data data;
	struct notice notice;
	struct link *links; /* by PS */
	uint64_t n;
	double *params, *grad, *scratch;
	/* with chunks in files: those that are here, the one at hand, and whether it was ever read
	 */
	double *here, *samples;
	bool *seen;
};

static enum auc_code worker_init(struct async_worker *w, struct auc_err *err);
static void worker_clear(struct async_worker *w);
static enum auc_code worker_train(struct async_worker *w, struct auc_err *err);
static enum auc_code worker_here(struct async_worker *w, struct auc_err *err);
static enum auc_code worker_load(struct async_worker *w, uint64_t chunk, struct auc_err *err);
static unsigned label_of(double label);
static enum auc_code worker_next(struct async_worker *w, struct proto_header *h,
				 const struct metrics *m, struct auc_err *err);
static enum auc_code worker_chunk(struct async_worker *w, uint64_t chunk, struct metrics *m,
				  struct auc_err *err);
static enum auc_code worker_send(struct async_worker *w, enum proto_type type,
				 const struct metrics *m, struct auc_err *err);
static enum auc_code worker_pull(struct async_worker *w, struct auc_err *err);

enum auc_code async_worker_run(const struct place *p, const struct train_options *opt,
			       struct auc_err *err)
{
	struct async_worker w = {.place = p, .opt = opt};
	enum auc_code rc = worker_init(&w, err);
	uint64_t from, to;

	for (unsigned i = 0; i < p->nps && rc == AUC_OK; i++) {
		part_of(w.n, i, p->nps, &from, &to);
		w.links[i].notice = &w.notice;
		rc = link_open(&w.links[i], p, i, p->id, PROTO_ASYNC, to - from, opt->connect_wait,
			       err);
	}
	if (rc == AUC_OK)
		rc = worker_train(&w, err);
	if (rc == AUC_OK)
		rc = worker_send(&w, PROTO_BYE, NULL, err);
	worker_clear(&w);
	if (rc != AUC_OK && w.notice.stop)
		notice_die(&w.notice);
	if (rc != AUC_OK)
		complain(err);
	return rc;
}

static enum auc_code worker_init(struct async_worker *w, struct auc_err *err)
{
	w->n = model_size(w->opt->hidden);
	data_init(&w->data, w->opt->seed);
	w->links = calloc(w->place->nps, sizeof(*w->links));
	w->params = calloc(w->n, sizeof(double));
	w->grad = calloc(w->n, sizeof(double));
	w->scratch = calloc(2 * w->opt->hidden, sizeof(double));
	if (w->opt->data) {
		w->here = calloc(w->opt->chunks, sizeof(double));
		w->samples = malloc(chunkdata_size(w->opt));
		w->seen = calloc(w->opt->chunks, sizeof(*w->seen));
	}
	for (unsigned i = 0; w->links && i < w->place->nps; i++)
		w->links[i].fd = -1;
	if (!w->links || !w->params || !w->grad || !w->scratch ||
	    (w->opt->data && (!w->here || !w->samples || !w->seen)))
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	return notice_open(&w->notice, err);
}

static void worker_clear(struct async_worker *w)
{
	for (unsigned i = 0; w->links && i < w->place->nps; i++)
		link_close(&w->links[i]);
	free(w->links);
	free(w->params);
	free(w->grad);
	free(w->scratch);
	free(w->here);
	free(w->samples);
	free(w->seen);
}

static enum auc_code worker_train(struct async_worker *w, struct auc_err *err)
{
	struct proto_header h = {0};
	struct metrics m, *done = NULL;
	enum auc_code rc;

	for (;;) {
		rc = w->opt->data ? worker_here(w, err) : AUC_OK;
		if (rc == AUC_OK)
			rc = worker_next(w, &h, done, err);
		if (rc != AUC_OK || h.type == PROTO_END)
			return rc;
		done = NULL;
		if (h.type == PROTO_WAIT) {
			auc_clock_sleep(HERE_AGAIN);
			notice_read(&w->notice);
			if (w->notice.stop)
				return auc_err_set(err, AUC_ESTATE, "asked to end");
			continue;
		}
		m = (struct metrics){0};
		rc = worker_chunk(w, h.done, &m, err);
		if (rc != AUC_OK)
			return rc;
		done = &m;
	}
}

/* Tells PS 0 that the chunk in H is done, with metrics M (NULL: there was none), and takes the next
 * one, or the end, into H. */
static enum auc_code worker_next(struct async_worker *w, struct proto_header *h,
				 const struct metrics *m, struct auc_err *err)
{
	double sums[PROTO_METRICS];
	enum auc_code rc;

	h->magic = PROTO_MAGIC;
	h->type = PROTO_NEXT;
	h->count = m ? PROTO_METRICS : 0;
	rc = link_send(&w->links[0], h, sizeof(*h), m != NULL, err);
	if (rc == AUC_OK && m) {
		memcpy(sums, (double[]){m->samples, m->loss, m->correct}, sizeof(sums));
		rc = link_send(&w->links[0], sums, sizeof(sums), false, err);
	}
	if (rc == AUC_OK)
		rc = link_recv(&w->links[0], h, sizeof(*h), err);
	if (rc == AUC_OK && (h->magic != PROTO_MAGIC || h->count != 0 ||
			     (h->type != PROTO_CHUNK && h->type != PROTO_END &&
			      (h->type != PROTO_WAIT || !w->opt->data)) ||
			     (h->type == PROTO_CHUNK && h->done >= w->opt->chunks)))
		rc = auc_err_set(err, AUC_EINVAL, "PS 0 sent a message that is not due");
	return rc;
}

/* Tells PS 0 which chunks are here. */
static enum auc_code worker_here(struct async_worker *w, struct auc_err *err)
{
	struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_HERE};
	enum auc_code rc;

	h.count = chunkdata_here(w->opt->data, w->opt->chunks, w->here);
	rc = link_send(&w->links[0], &h, sizeof(h), true, err);
	return rc == AUC_OK && h.count
		       ? link_send(&w->links[0], w->here, h.count * sizeof(double), true, err)
		       : rc;
}

static enum auc_code worker_load(struct async_worker *w, uint64_t chunk, struct auc_err *err)
{
	enum auc_code rc = chunkdata_read(w->opt->data, chunk, w->opt, w->samples, err);

	if (rc == AUC_OK && !w->seen[chunk])
		printf("reads chunk=%llu node=%s worker=%llu\n", (unsigned long long)chunk,
		       w->place->node, (unsigned long long)w->place->id);
	w->seen[chunk] = true;
	return rc;
}

/* What a file says may be anything. */
static unsigned label_of(double label)
{
	return label >= 0 && label < DATA_CLASSES ? (unsigned)label : 0;
}

static enum auc_code worker_chunk(struct async_worker *w, uint64_t chunk, struct metrics *m,
				  struct auc_err *err)
{
	uint64_t first = chunk * w->opt->minibatches * w->opt->batch;
	enum auc_code rc = worker_send(w, PROTO_PULL, NULL, err);
	const double *sample = w->samples;
	double x[DATA_INPUTS];

	if (rc == AUC_OK)
		rc = worker_pull(w, err);
	if (rc == AUC_OK && w->opt->data)
		rc = worker_load(w, chunk, err);
	for (uint64_t i = 0; i < w->opt->minibatches && rc == AUC_OK; i++) {
		double begin = auc_clock_now();
		struct metrics mine = {0};

		memset(w->grad, 0, w->n * sizeof(double));
		for (uint64_t k = 0; k < w->opt->batch; k++) {
			unsigned label;

			if (sample) {
				memcpy(x, sample, sizeof(x));
				label = label_of(sample[DATA_INPUTS]);
				sample += CHUNK_SAMPLE;
			} else {
				label = data_sample(&w->data, DATA_TRAIN, first++, x);
			}
			model_sample(w->params, w->opt->hidden, x, label, w->grad, w->scratch,
				     &mine);
		}
		auc_clock_sleep_until(begin + w->opt->pace);
		rc = worker_send(w, PROTO_PUSH, &mine, err);
		if (rc == AUC_OK)
			rc = worker_pull(w, err);
		m->samples += mine.samples;
		m->loss += mine.loss;
		m->correct += mine.correct;
		notice_read(&w->notice);
		if (rc == AUC_OK && w->notice.stop)
			rc = auc_err_set(err, AUC_ESTATE, "asked to end");
	}
	return rc;
}

/* To all PSs: a message without contents or, with metrics, the gradient. */
static enum auc_code worker_send(struct async_worker *w, enum proto_type type,
				 const struct metrics *m, struct auc_err *err)
{
	double sums[PROTO_METRICS] = {0};
	enum auc_code rc = AUC_OK;
	uint64_t from, to;

	if (m)
		memcpy(sums, (double[]){m->samples, m->loss, m->correct}, sizeof(sums));
	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		struct proto_header h = {.magic = PROTO_MAGIC, .type = type};

		part_of(w->n, i, w->place->nps, &from, &to);
		h.count = m ? PROTO_METRICS + to - from : 0;
		rc = link_send(&w->links[i], &h, sizeof(h), m != NULL, err);
		if (rc == AUC_OK && m)
			rc = link_send(&w->links[i], sums, sizeof(sums), true, err);
		if (rc == AUC_OK && m)
			rc = link_send(&w->links[i], w->grad + from, (to - from) * sizeof(double),
				       false, err);
	}
	return rc;
}

static enum auc_code worker_pull(struct async_worker *w, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct proto_header h;
	uint64_t from, to;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		part_of(w->n, i, w->place->nps, &from, &to);
		rc = link_params(&w->links[i], &h, NULL, w->params + from, to - from, err);
	}
	return rc;
}
