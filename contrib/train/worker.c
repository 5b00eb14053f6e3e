/*
 * worker.c - a worker of synchronous training: in every step it pulls the parameters, computes the
 * gradient on the next mini-batch of its share, and pushes it.
 *
 * The mini-batches of an epoch are dealt out to the workers in turn: with D chunks of M
 * mini-batches and n workers there are ceil(D M / n) steps, which is what a plan counts on; chunks
 * dealt out whole could take twice that. Who has none left in the last step pushes nothing but its
 * presence. Worker 0 also brings the start (from a seed or a checkpoint), prints how it goes and
 * writes the checkpoint: after each epoch, when a change is announced, and when it has to end,
 * whatever the reason.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "train/model/data.h"
#include "train/link.h"
#include "train/notice.h"
#include "train/report.h"

struct worker {
	const struct place *place;
	const struct train_options *opt;
	struct data data;
	struct notice notice; /* worker 0 */
	struct link *links;   /* by PS */
	uint64_t n;           /* parameters */
	double *params, *next, *grad, *scratch;
	struct metrics mine; /* of the mini-batch being pushed */
	struct metrics all;  /* of all workers in the last step */
	uint64_t step;
	struct ckpt at; /* how far it is */
	bool started;
};

static enum auc_code worker_init(struct worker *w, struct auc_err *err);
static void worker_clear(struct worker *w);
static enum auc_code worker_connect(struct worker *w, struct auc_err *err);
static enum auc_code worker_start(struct worker *w, struct auc_err *err);
static enum auc_code worker_train(struct worker *w, struct auc_err *err);
static enum auc_code worker_epoch(struct worker *w, struct auc_err *err);
static void worker_minibatch(struct worker *w, uint64_t minibatch);
static enum auc_code worker_push(struct worker *w, struct auc_err *err);
static enum auc_code worker_pull(struct worker *w, bool first, struct auc_err *err);
static enum auc_code worker_save(struct worker *w, bool tell, struct auc_err *err);
static enum auc_code worker_bye(struct worker *w, struct auc_err *err);

enum auc_code worker_run(const struct place *p, const struct train_options *opt,
			 struct auc_err *err)
{
	struct worker w = {.place = p, .opt = opt, .notice.fd = -1};
	enum auc_code rc = worker_init(&w, err);

	if (rc == AUC_OK)
		rc = worker_connect(&w, err);
	if (rc == AUC_OK && p->rank == 0)
		rc = worker_start(&w, err);
	if (rc == AUC_OK)
		rc = worker_pull(&w, true, err);
	w.started = rc == AUC_OK;
	if (rc == AUC_OK)
		rc = worker_train(&w, err);
	if (rc == AUC_OK)
		rc = worker_bye(&w, err);
	if (rc == AUC_OK && p->rank == 0)
		report_final(opt, w.at.epochs, w.params);
	if (rc != AUC_OK && w.started)
		worker_save(&w, true, NULL);
	if (rc != AUC_OK && w.notice.stop)
		notice_die(&w.notice);
	if (rc != AUC_OK)
		complain(err);
	worker_clear(&w);
	return rc;
}

static enum auc_code worker_init(struct worker *w, struct auc_err *err)
{
	w->n = model_size(w->opt->hidden);
	data_init(&w->data, w->opt->seed);
	w->links = calloc(w->place->nps, sizeof(*w->links));
	w->params = calloc(w->n, sizeof(double));
	w->next = calloc(w->n, sizeof(double));
	w->grad = calloc(w->n, sizeof(double));
	w->scratch = calloc(2 * w->opt->hidden, sizeof(double));
	for (unsigned i = 0; w->links && i < w->place->nps; i++)
		w->links[i].fd = -1;
	if (!w->links || !w->params || !w->next || !w->grad || !w->scratch)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	return w->place->rank == 0 && w->opt->checkpoint ? notice_open(&w->notice, err) : AUC_OK;
}

static void worker_clear(struct worker *w)
{
	for (unsigned i = 0; w->links && i < w->place->nps; i++)
		link_close(&w->links[i]);
	free(w->links);
	free(w->params);
	free(w->next);
	free(w->grad);
	free(w->scratch);
}

static enum auc_code worker_connect(struct worker *w, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	uint64_t from, to;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		part_of(w->n, i, w->place->nps, &from, &to);
		w->links[i].notice = w->notice.fd >= 0 ? &w->notice : NULL;
		rc = link_open(&w->links[i], w->place, i, w->place->rank, w->place->nworkers,
			       to - from, w->opt->connect_wait, err);
	}
	return rc;
}

/* Worker 0: the parameters everybody starts with. */
static enum auc_code worker_start(struct worker *w, struct auc_err *err)
{
	struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_START};
	enum auc_code rc = AUC_ENOENT;
	uint64_t from, to;

	if (w->opt->checkpoint)
		rc = ckpt_read(w->opt->checkpoint, w->opt, &w->at, w->params, w->n, err);
	if (rc == AUC_ENOENT) {
		model_init(w->params, w->opt->hidden, w->opt->seed);
		rc = AUC_OK;
	} else if (rc == AUC_OK) {
		/* Of chunks that were done here and there it knows nothing. */
		if (w->at.passes)
			w->at.sum = (struct metrics){0};
		free(w->at.passes);
		w->at.passes = NULL;
		report_state("resumed", w->opt, &w->at, w->params);
	}
	h.epochs = w->at.epochs;
	h.done = w->at.minibatches;
	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		part_of(w->n, i, w->place->nps, &from, &to);
		h.count = to - from;
		rc = link_send(&w->links[i], &h, sizeof(h), true, err);
		if (rc == AUC_OK)
			rc = link_send(&w->links[i], w->params + from, h.count * sizeof(double),
				       false, err);
	}
	return rc;
}

static enum auc_code worker_train(struct worker *w, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	while (w->at.epochs < w->opt->epochs && rc == AUC_OK) {
		double begin = auc_clock_now();
		struct metrics whole;

		rc = worker_epoch(w, err);
		if (rc != AUC_OK)
			break;
		whole = w->at.sum;
		w->at = (struct ckpt){.epochs = w->at.epochs + 1};
		if (w->place->rank != 0)
			continue;
		report_epoch(w->at.epochs, &whole, auc_clock_now() - begin);
		rc = worker_save(w, false, err);
	}
	return rc;
}

/* What is left of the epoch. */
static enum auc_code worker_epoch(struct worker *w, struct auc_err *err)
{
	uint64_t all = w->opt->chunks * w->opt->minibatches;
	enum auc_code rc = AUC_OK;

	while (w->at.minibatches < all && rc == AUC_OK) {
		uint64_t first = w->at.minibatches, minibatch = first + w->place->rank;
		double begin = auc_clock_now();

		memset(w->grad, 0, w->n * sizeof(double));
		w->mine = (struct metrics){0};
		if (minibatch < all) {
			worker_minibatch(w, minibatch);
			auc_clock_sleep_until(begin + w->opt->pace);
		}
		rc = worker_push(w, err);
		if (rc == AUC_OK)
			rc = worker_pull(w, false, err);
		if (rc != AUC_OK)
			break;
		w->at.minibatches = first + w->place->nworkers;
		w->at.sum.samples += w->all.samples;
		w->at.sum.loss += w->all.loss;
		w->at.sum.correct += w->all.correct;
		if (w->notice.fd >= 0)
			notice_read(&w->notice);
		if (w->notice.stop)
			rc = auc_err_set(err, AUC_ESTATE, "asked to end");
		else if (w->notice.change)
			rc = worker_save(w, true, err);
		w->notice.change = false;
	}
	return rc;
}

static void worker_minibatch(struct worker *w, uint64_t minibatch)
{
	uint64_t first = minibatch * w->opt->batch;
	double x[DATA_INPUTS];

	for (uint64_t i = 0; i < w->opt->batch; i++) {
		unsigned label = data_sample(&w->data, DATA_TRAIN, first + i, x);

		model_sample(w->params, w->opt->hidden, x, label, w->grad, w->scratch, &w->mine);
	}
}

static enum auc_code worker_push(struct worker *w, struct auc_err *err)
{
	double metrics[PROTO_METRICS] = {w->mine.samples, w->mine.loss, w->mine.correct};
	enum auc_code rc = AUC_OK;
	uint64_t from, to;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_PUSH, .step = w->step};

		part_of(w->n, i, w->place->nps, &from, &to);
		h.count = PROTO_METRICS + to - from;
		rc = link_send(&w->links[i], &h, sizeof(h), true, err);
		if (rc == AUC_OK)
			rc = link_send(&w->links[i], metrics, sizeof(metrics), true, err);
		if (rc == AUC_OK)
			rc = link_send(&w->links[i], w->grad + from, (to - from) * sizeof(double),
				       false, err);
	}
	w->step++;
	return rc;
}

/* Takes the parameters of the present step from all PSs; those of the last stay until all are here.
 * With the FIRST comes where to begin. */
static enum auc_code worker_pull(struct worker *w, bool first, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	double metrics[PROTO_METRICS], *params;
	struct proto_header h;
	uint64_t from, to;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++) {
		part_of(w->n, i, w->place->nps, &from, &to);
		rc = link_params(&w->links[i], &h, metrics, w->next + from, to - from, err);
		if (rc == AUC_OK && h.step != w->step)
			rc = auc_err_set(err, AUC_EINVAL, "PS %u sent a message that is not due",
					 i);
	}
	if (rc != AUC_OK)
		return rc;
	params = w->params;
	w->params = w->next;
	w->next = params;
	w->all = (struct metrics){metrics[0], metrics[1], metrics[2]};
	if (first) {
		w->at.epochs = h.epochs;
		w->at.minibatches = h.done;
	}
	return AUC_OK;
}

/* Worker 0: writes the checkpoint, and if TELL says so. */
static enum auc_code worker_save(struct worker *w, bool tell, struct auc_err *err)
{
	enum auc_code rc;

	if (w->place->rank != 0 || !w->opt->checkpoint)
		return AUC_OK;
	rc = ckpt_write(w->opt->checkpoint, w->opt, &w->at, w->params, w->n, err);
	if (rc == AUC_OK && tell)
		report_state("checkpoint", w->opt, &w->at, w->params);
	return rc;
}

static enum auc_code worker_bye(struct worker *w, struct auc_err *err)
{
	struct proto_header h = {.magic = PROTO_MAGIC, .type = PROTO_BYE};
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < w->place->nps && rc == AUC_OK; i++)
		rc = link_send(&w->links[i], &h, sizeof(h), false, err);
	return rc;
}
