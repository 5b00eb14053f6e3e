/* chunks.c - see chunks.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "chunks.h"

static bool bit(const uint64_t *bits, uint64_t i);
static void bit_put(uint64_t *bits, uint64_t i, bool value);

enum auc_code chunks_init(struct chunks *c, uint64_t n, uint64_t epochs, struct auc_err *err)
{
	memset(c, 0, sizeof(*c));
	c->n = n;
	c->epochs = epochs;
	c->done = calloc(chunks_words(n), sizeof(*c->done));
	c->out = calloc(chunks_words(n), sizeof(*c->out));
	if (c->done && c->out)
		return AUC_OK;
	chunks_clear(c);
	return auc_err_set(err, AUC_ENOMEM, "out of memory");
}

void chunks_clear(struct chunks *c)
{
	free(c->done);
	free(c->out);
	memset(c, 0, sizeof(*c));
}

uint64_t chunks_words(uint64_t n)
{
	return (n + 63) / 64;
}

void chunks_resume(struct chunks *c, const uint64_t *done, const struct metrics *sum)
{
	memcpy(c->done, done, chunks_words(c->n) * sizeof(*done));
	c->sum = *sum;
	c->ndone = 0;
	for (uint64_t i = 0; i < c->n; i++)
		c->ndone += bit(done, i);
}

bool chunks_take(struct chunks *c, uint64_t *chunk)
{
	while (c->next < c->n && (bit(c->done, c->next) || bit(c->out, c->next)))
		c->next++;
	if (c->next >= c->n)
		return false;
	*chunk = c->next++;
	bit_put(c->out, *chunk, true);
	return true;
}

bool chunks_done(struct chunks *c, uint64_t epoch, uint64_t chunk, const struct metrics *m,
		 bool *whole)
{
	*whole = false;
	if (epoch != c->epochs || chunk >= c->n || !bit(c->out, chunk) || bit(c->done, chunk))
		return false;
	bit_put(c->out, chunk, false);
	bit_put(c->done, chunk, true);
	c->sum.samples += m->samples;
	c->sum.loss += m->loss;
	c->sum.correct += m->correct;
	if (++c->ndone < c->n)
		return true;
	*whole = true;
	c->last = c->sum;
	c->sum = (struct metrics){0};
	c->epochs++;
	c->ndone = c->next = 0;
	memset(c->done, 0, chunks_words(c->n) * sizeof(*c->done));
	return true;
}

void chunks_return(struct chunks *c, uint64_t epoch, uint64_t chunk)
{
	if (epoch != c->epochs || chunk >= c->n || !bit(c->out, chunk))
		return;
	bit_put(c->out, chunk, false);
	if (chunk < c->next)
		c->next = chunk;
}

static bool bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void bit_put(uint64_t *bits, uint64_t i, bool value)
{
	uint64_t mask = (uint64_t)1 << (i % 64);

	bits[i / 64] = value ? bits[i / 64] | mask : bits[i / 64] & ~mask;
}
