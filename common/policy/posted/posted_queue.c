/* posted_queue.c - the jobs that run under posted prices, by completion; and numbers that are
 * random in a seed. See posted-private.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "policy/posted/posted-private.h"

uint64_t auc_posted_hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

double auc_posted_luck(uint64_t seed, uint64_t n)
{
	return (double)(auc_posted_hash(auc_posted_hash(seed) ^ n) >> 11) * 0x1p-53;
}

static bool sooner(const struct auc_posted_running *a, const struct auc_posted_running *b)
{
	return a->completion != b->completion ? a->completion < b->completion : a->id < b->id;
}

bool auc_posted_queue_push(struct auc_posted_queue *q, const struct auc_posted_running *r)
{
	unsigned i, alloc = q->alloc ? q->alloc * 2 : 64;
	struct auc_posted_running *grown;

	if (q->n == q->alloc) {
		grown = realloc(q->heap, alloc * sizeof(*grown));
		if (!grown)
			return false;
		q->heap = grown;
		q->alloc = alloc;
	}
	for (i = q->n++; i && sooner(r, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = *r;
	return true;
}

bool auc_posted_queue_pop(struct auc_posted_queue *q, auc_slot now, struct auc_posted_running *r)
{
	struct auc_posted_running last;
	unsigned i = 0, child;

	if (!q->n || q->heap[0].completion > now)
		return false;
	*r = q->heap[0];
	last = q->heap[--q->n];
	while ((child = 2 * i + 1) < q->n) {
		if (child + 1 < q->n && sooner(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!sooner(&q->heap[child], &last))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	return true;
}

void auc_posted_queue_clear(struct auc_posted_queue *q)
{
	free(q->heap);
	memset(q, 0, sizeof(*q));
}
