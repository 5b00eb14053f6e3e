/*
 * model.c - see model.h
 *
 * Layout of the parameters: weights of the hidden layer by unit, its biases, weights of the output
 * layer by class, its biases.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "train/model/model.h"

#define STREAM_START 1001 /* of random numbers, apart from those of data.c */

size_t model_size(unsigned hidden)
{
	return (size_t)hidden * (DATA_INPUTS + 1) + (size_t)DATA_CLASSES * (hidden + 1);
}

void model_init(double *params, unsigned hidden, uint64_t seed)
{
	size_t n1 = (size_t)hidden * DATA_INPUTS, n2 = (size_t)DATA_CLASSES * hidden, i = 0;
	struct rng r;

	rng_init(&r, seed, STREAM_START, 0);
	while (i < n1)
		params[i++] = rng_normal(&r) / sqrt(DATA_INPUTS);
	while (i < n1 + hidden)
		params[i++] = 0;
	while (i < n1 + hidden + n2)
		params[i++] = rng_normal(&r) / sqrt(hidden);
	while (i < model_size(hidden))
		params[i++] = 0;
}

void model_sample(const double *params, unsigned hidden, const double *x, unsigned label,
		  double *grad, double *scratch, struct metrics *m)
{
	size_t o_b1 = (size_t)hidden * DATA_INPUTS, o_w2 = o_b1 + hidden,
	       o_b2 = o_w2 + (size_t)DATA_CLASSES * hidden;
	double *h = scratch, *dh = scratch + hidden, p[DATA_CLASSES], max = -INFINITY, sum = 0;
	unsigned best = 0;

	for (unsigned j = 0; j < hidden; j++) {
		double s = params[o_b1 + j];

		for (unsigned i = 0; i < DATA_INPUTS; i++)
			s += params[(size_t)j * DATA_INPUTS + i] * x[i];
		h[j] = tanh(s);
		dh[j] = 0;
	}
	for (unsigned k = 0; k < DATA_CLASSES; k++) {
		p[k] = params[o_b2 + k];
		for (unsigned j = 0; j < hidden; j++)
			p[k] += params[o_w2 + (size_t)k * hidden + j] * h[j];
		if (p[k] > p[best])
			best = k;
		max = fmax(max, p[k]);
	}
	for (unsigned k = 0; k < DATA_CLASSES; k++)
		sum += exp(p[k] - max);
	m->samples++;
	m->loss += log(sum) - (p[label] - max);
	m->correct += best == label;
	if (!grad)
		return;

	for (unsigned k = 0; k < DATA_CLASSES; k++) {
		double d = exp(p[k] - max) / sum - (k == label);

		grad[o_b2 + k] += d;
		for (unsigned j = 0; j < hidden; j++) {
			grad[o_w2 + (size_t)k * hidden + j] += d * h[j];
			dh[j] += d * params[o_w2 + (size_t)k * hidden + j];
		}
	}
	for (unsigned j = 0; j < hidden; j++) {
		double d = dh[j] * (1 - h[j] * h[j]);

		grad[o_b1 + j] += d;
		for (unsigned i = 0; i < DATA_INPUTS; i++)
			grad[(size_t)j * DATA_INPUTS + i] += d * x[i];
	}
}

bool model_held_out(const double *params, unsigned hidden, const struct data *d, uint64_t n,
		    struct metrics *m, double *teacher)
{
	double *scratch = calloc(2 * (size_t)hidden, sizeof(double)), x[DATA_INPUTS], sum = 0;

	*m = (struct metrics){0};
	for (uint64_t i = 0; scratch && i < n; i++) {
		unsigned label = data_sample(d, DATA_HELD_OUT, i, x);

		model_sample(params, hidden, x, label, NULL, scratch, m);
		sum += teacher ? data_teacher_loss(d, x, label) : 0;
	}
	if (teacher)
		*teacher = sum;
	free(scratch);
	return m->samples > 0;
}
