/* report.c - see report.h */
#include "config.h"

#include <stdio.h>

#include "chunks.h"
#include "report.h"

void report_epoch(uint64_t epochs, const struct metrics *m, double seconds)
{
	printf("epoch=%llu loss=%.9f accuracy=%.4f seconds=%.3f\n", (unsigned long long)epochs,
	       m->loss / m->samples, m->correct / m->samples, seconds);
}

void report_state(const char *what, const struct train_options *opt, const struct ckpt *c,
		  const double *params)
{
	unsigned long long part = c->minibatches;
	struct metrics m;
	struct data d;

	for (uint64_t i = 0; c->done && i < chunks_words(opt->chunks); i++)
		part += __builtin_popcountll(c->done[i]);
	data_init(&d, opt->seed);
	if (!model_held_out(params, opt->hidden, &d, opt->held_out, &m, NULL))
		return;
	printf("%s file=%s loss=%.9f %s=%llu epochs=%llu\n", what, opt->checkpoint,
	       m.loss / m.samples, c->done ? "chunks" : "minibatches", part,
	       (unsigned long long)c->epochs);
}

void report_final(const struct train_options *opt, uint64_t epochs, const double *params)
{
	struct metrics m;
	double teacher;
	struct data d;

	data_init(&d, opt->seed);
	if (model_held_out(params, opt->hidden, &d, opt->held_out, &m, &teacher))
		printf("final epochs=%llu loss=%.9f accuracy=%.4f teacher=%.4f samples=%.0f\n",
		       (unsigned long long)epochs, m.loss / m.samples, m.correct / m.samples,
		       teacher / m.samples, m.samples);
}
