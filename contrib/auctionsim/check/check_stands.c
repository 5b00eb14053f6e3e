/*
 * check_stands.c - the rules of bids that stand, see check-private.h. In each slot those that stand
 * are decided before what arrives: the first of each user, then the second of each, and so on, in
 * the order of arrival.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "auctionsim/check/check-private.h"

static uint64_t rank_of(const struct check *c, unsigned at);
static int compare(const void *a, const void *b);

/* c->order is that of arrival until now. */
bool check_stands_order(struct check *c)
{
	for (unsigned i = 0; i < c->norder; i++) {
		c->arrived[i] = c->order[i];
		c->order[i]->when =
			c->order[i]->decided ? c->order[i]->decided : c->order[i]->job->arrival;
	}
	for (unsigned i = 0; i < c->norder; i++)
		c->arrived[i]->rank = c->arrived[i]->decided ? rank_of(c, i) : 0;
	/* stable: their places in the order of arrival decide last */
	for (unsigned i = 1; i < c->norder; i++) {
		struct sold *j = c->order[i];
		unsigned k;

		for (k = i; k && compare(&j, &c->order[k - 1]) < 0; k--)
			c->order[k] = c->order[k - 1];
		c->order[k] = j;
	}
	return true;
}

/* How many bids of the same user stood before that of place AT when it was accepted. */
static uint64_t rank_of(const struct check *c, unsigned at)
{
	const struct sold *j = c->arrived[at];
	uint64_t n = 0;

	for (unsigned i = 0; i < at && j->job->user; i++) {
		const struct sold *o = c->arrived[i];

		n += o->job->user == j->job->user && o->job->arrival < j->when &&
		     o->job->arrival + o->job->stands >= j->when &&
		     !(o->accepted && o->when < j->when);
	}
	return n;
}

static int compare(const void *a, const void *b)
{
	const struct sold *x = *(struct sold *const *)a, *y = *(struct sold *const *)b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	if (!x->decided != !y->decided)
		return x->decided ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void check_stands(struct check *c, const struct sold *j)
{
	if (j->decided <= j->job->arrival || j->decided > j->job->arrival + j->job->stands)
		check_violation(c, "decided", j,
				"expected a slot after its arrival, %" PRIu64
				", in which it still stands, found %" PRIu64,
				j->job->arrival, j->decided);
}
