/* chunks.c - see chunks.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "train/model/chunks.h"

static bool is_free(const struct chunks *c, uint64_t chunk);

enum auc_code chunks_init(struct chunks *c, uint64_t n, uint64_t epochs, struct auc_err *err)
{
	memset(c, 0, sizeof(*c));
	c->n = n;
	c->epochs = epochs;
	c->passes = calloc(n, sizeof(*c->passes));
	c->out = calloc(n, sizeof(*c->out));
	if (!c->passes || !c->out) {
		chunks_clear(c);
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	}
	for (uint64_t i = 0; i < n && epochs; i++)
		c->passes[i] = epochs;
	return AUC_OK;
}

void chunks_clear(struct chunks *c)
{
	free(c->passes);
	free(c->out);
	memset(c, 0, sizeof(*c));
}

void chunks_settle(struct chunks *c, const struct homes *homes, uint64_t epochs)
{
	c->homes = homes;
	c->last_epoch = epochs;
}

void chunks_resume(struct chunks *c, const uint64_t *passes, const struct metrics *sum)
{
	uint64_t done = 0;

	memcpy(c->passes, passes, c->n * sizeof(*passes));
	c->sum = *sum;
	c->next = 0;
	for (uint64_t i = 0; i < c->n; i++)
		done += passes[i];
	c->epochs = done / c->n;
	c->ndone = done % c->n;
}

bool chunks_take(struct chunks *c, uint32_t node, const uint64_t *here, uint64_t *chunk)
{
	uint64_t best = c->n;

	if (!c->homes && !here) {
		while (c->next < c->n && !is_free(c, c->next))
			c->next++;
		best = c->next;
	}
	/* Of its own the one that is behind most. */
	for (uint64_t i = 0; (c->homes || here) && i < c->n; i++)
		if ((!c->homes || c->homes->home[i] == node) && is_free(c, i) &&
		    (!here || here[i / 64] >> (i % 64) & 1) &&
		    (best == c->n || c->passes[i] < c->passes[best]))
			best = i;
	if (best >= c->n)
		return false;
	c->out[best] = true;
	*chunk = best;
	return true;
}

bool chunks_done(struct chunks *c, uint64_t pass, uint64_t chunk, const struct metrics *m,
		 bool *whole)
{
	*whole = false;
	if (chunk >= c->n || !c->out[chunk] || pass != c->passes[chunk])
		return false;
	c->out[chunk] = false;
	c->passes[chunk]++;
	if (is_free(c, chunk) && chunk < c->next)
		c->next = chunk;
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
	return true;
}

void chunks_return(struct chunks *c, uint64_t pass, uint64_t chunk)
{
	if (chunk >= c->n || !c->out[chunk] || pass != c->passes[chunk])
		return;
	c->out[chunk] = false;
	if (chunk < c->next)
		c->next = chunk;
}

/* What a checkpoint with homes has left behind is caught up with before the next epoch. */
static bool is_free(const struct chunks *c, uint64_t chunk)
{
	return !c->out[chunk] && c->passes[chunk] < (c->homes ? c->last_epoch : c->epochs + 1);
}
