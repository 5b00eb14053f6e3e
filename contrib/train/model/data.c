/* data.c - see data.h */
#include "config.h"

#include <math.h>

#include "train/model/data.h"

#define STREAM_TEACHER 1000 /* apart from the streams of samples */
/* Steep enough that labels are mostly determined, flat enough that they are not quite. */
#define TEACHER_GAIN_U 1.5
#define TEACHER_GAIN_V 1.8

static uint64_t rng_next(struct rng *r);
static void data_teach(const struct data *d, const double *x, double *p);

void data_init(struct data *d, uint64_t seed)
{
	struct rng r;

	d->seed = seed;
	rng_init(&r, seed, STREAM_TEACHER, 0);
	for (unsigned h = 0; h < DATA_HIDDEN; h++)
		for (unsigned i = 0; i < DATA_INPUTS; i++)
			d->u[h][i] = rng_normal(&r) * TEACHER_GAIN_U / sqrt(DATA_INPUTS);
	for (unsigned k = 0; k < DATA_CLASSES; k++)
		for (unsigned h = 0; h < DATA_HIDDEN; h++)
			d->v[k][h] = rng_normal(&r) * TEACHER_GAIN_V;
}

unsigned data_sample(const struct data *d, enum data_stream stream, uint64_t index, double *x)
{
	double p[DATA_CLASSES], u;
	struct rng r;
	unsigned k;

	rng_init(&r, d->seed, stream, index);
	for (unsigned i = 0; i < DATA_INPUTS; i++)
		x[i] = rng_normal(&r);
	data_teach(d, x, p);
	u = rng_uniform(&r);
	for (k = 0; k < DATA_CLASSES - 1 && u >= p[k]; k++)
		u -= p[k];
	return k;
}

double data_teacher_loss(const struct data *d, const double *x, unsigned label)
{
	double p[DATA_CLASSES];

	data_teach(d, x, p);
	return -log(p[label]);
}

void rng_init(struct rng *r, uint64_t seed, uint64_t stream, uint64_t index)
{
	/* Each part of the key is mixed in before the next, so that neighbours do not overlap. */
	r->state = seed;
	r->state = rng_next(r) ^ stream;
	r->state = rng_next(r) ^ index;
	r->state = rng_next(r);
}

double rng_uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

double rng_normal(struct rng *r)
{
	double u = rng_uniform(r), v = rng_uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* The teacher's probabilities. */
static void data_teach(const struct data *d, const double *x, double *p)
{
	double h[DATA_HIDDEN], max = -INFINITY, sum = 0;

	for (unsigned j = 0; j < DATA_HIDDEN; j++) {
		double s = 0;

		for (unsigned i = 0; i < DATA_INPUTS; i++)
			s += d->u[j][i] * x[i];
		h[j] = tanh(s);
	}
	for (unsigned k = 0; k < DATA_CLASSES; k++) {
		p[k] = 0;
		for (unsigned j = 0; j < DATA_HIDDEN; j++)
			p[k] += d->v[k][j] * h[j];
		max = fmax(max, p[k]);
	}
	for (unsigned k = 0; k < DATA_CLASSES; k++)
		sum += p[k] = exp(p[k] - max);
	for (unsigned k = 0; k < DATA_CLASSES; k++)
		p[k] /= sum;
}
