/* report.c - see report.h */
#include "config.h"

#include <stdio.h>

#include "train/report.h"

void report_epoch(uint64_t epochs, const struct metrics *m, double seconds)
{
	printf("epoch=%llu loss=%.9f accuracy=%.4f seconds=%.3f\n", (unsigned long long)epochs,
	       m->loss / m->samples, m->correct / m->samples, seconds);
}

void report_chunk(uint64_t chunk, uint64_t pass, const char *node, const struct metrics *m)
{
	printf("chunk=%llu pass=%llu node=%s loss=%.9f\n", (unsigned long long)chunk,
	       (unsigned long long)pass, node, m->loss / m->samples);
}

void report_state(const char *what, const struct train_options *opt, const struct ckpt *c,
		  const double *params)
{
	unsigned long long part = c->passes ? 0 : c->minibatches;
	struct metrics m;
	struct data d;

	for (uint64_t i = 0; c->passes && i < opt->chunks; i++)
		part += c->passes[i];
	if (c->passes)
		part %= opt->chunks;
	data_init(&d, opt->seed);
	if (!model_held_out(params, opt->hidden, &d, opt->held_out, &m, NULL))
		return;
	printf("%s file=%s loss=%.9f %s=%llu epochs=%llu\n", what, opt->checkpoint,
	       m.loss / m.samples, c->passes ? "chunks" : "minibatches", part,
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
