/* model.h - the model that is trained: a perceptron with one hidden layer of tanh units and a
 * softmax output. */
#ifndef TRAIN_MODEL_H
#define TRAIN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "train/model/data.h"

#define MODEL_HIDDEN_MAX 4096

/* Sums over samples; what the PSs add up. */
struct metrics {
	double samples, loss, correct;
};

/* Number of parameters with HIDDEN units. */
size_t model_size(unsigned hidden);
/* Random start weights of a seed. */
void model_init(double *params, unsigned hidden, uint64_t seed);
/*
 * One sample: adds its loss (cross-entropy, nats) to M and, unless GRAD is NULL, its gradient to
 * GRAD[model_size()]. SCRATCH holds 2 * HIDDEN values.
 */
void model_sample(const double *params, unsigned hidden, const double *x, unsigned label,
		  double *grad, double *scratch, struct metrics *m);

/*
 * How good PARAMS are on the first N samples that nobody is trained on, into *M, beside the loss
 * of the teacher, the best that can be expected (may be NULL: not asked). False: no memory.
 */
bool model_held_out(const double *params, unsigned hidden, const struct data *d, uint64_t n,
		    struct metrics *m, double *teacher);

#endif
