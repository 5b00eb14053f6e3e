/*
 * data.h - the training set: generated from a seed, sample by sample, so that nothing has to be
 * stored or sent.
 *
 * A teacher network with random weights draws the label of each random input from its softmax
 * output:
 *
 *   x ~ N(0, I),  p = softmax(V tanh(U x)),  label ~ p
 *
 * So the labels are noisy, as real ones are, and no model can have a lower expected loss than the
 * teacher's own: data_teacher_loss().
 */
#ifndef TRAIN_DATA_H
#define TRAIN_DATA_H

#include <stdint.h>

#define DATA_INPUTS  16
#define DATA_CLASSES 4
#define DATA_HIDDEN  8 /* of the teacher */

enum data_stream { DATA_TRAIN, DATA_HELD_OUT };

struct data {
	uint64_t seed;
	double u[DATA_HIDDEN][DATA_INPUTS], v[DATA_CLASSES][DATA_HIDDEN];
};

void data_init(struct data *d, uint64_t seed);
/* Sample INDEX of STREAM: its input into X[DATA_INPUTS]; returns its label. The same for every
 * caller. */
unsigned data_sample(const struct data *d, enum data_stream stream, uint64_t index, double *x);
/* Cross-entropy (nats) of LABEL under the teacher. */
double data_teacher_loss(const struct data *d, const double *x, unsigned label);

/* A stream of numbers that depends on its key alone: splitmix64. */
struct rng {
	uint64_t state;
};
void rng_init(struct rng *r, uint64_t seed, uint64_t stream, uint64_t index);
double rng_uniform(struct rng *r); /* (0, 1) */
double rng_normal(struct rng *r);

#endif
