/*
 * aonline_line.c - see aonline-private.h: the workers of a kind by the Q of a job's next chunk,
 * without a look at the queues of those that do not get one.
 *
 * What is known of a queue in brief - its slots, the first and the last of it - bounds Q from
 * below: in Delta slots no more than Delta of them pass, and of those that are left some are ahead
 * of the job, or it pushes their chunks back. By its bound a worker is in a bucket. When nobody in
 * line is sure to be before a bucket it is opened: the Q of its workers are found, and they get in
 * line.
 *
 * Nearly all come from a bucket in order and stand in a run, the others are in a heap. Who has got
 * a chunk comes back into a line of its own: with a chunk every Q grows by the same, so that it is
 * the last there.
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "policy/aonline/aonline-private.h"

#define NOBODY   UINT_MAX
#define WAIT_MAX (INT64_C(1) << 30) /* slots: nobody is said to wait longer */

/* Buckets, 2^BUCKET_BITS between a power of two and the next, from a 16th of a slot on. */
#define BUCKET_BITS  5
#define BUCKET_FIRST ((INT64_C(1023) + AON_WEIGHT_BITS - 4) << BUCKET_BITS)

static inline int64_t least_wait(const struct aon_brief *b, int64_t delay, int64_t length,
				 auc_slot now);
static inline unsigned bucket_of(int64_t wait);
static inline double least_of(const struct aon_line *line, unsigned bucket);
static void next_bucket(const struct auc_stepper_ctx *ctx, struct aon_line *line);
static void open_bucket(struct auc_stepper_ctx *ctx, struct aon_line *line);
static inline void ask(struct auc_stepper_ctx *ctx, const struct aon_job *j, unsigned w);
static inline struct aon_next next_of(const struct auc_stepper_ctx *ctx, const struct aon_job *j,
				      unsigned w);
static inline bool before(const struct aon_next *a, const struct aon_next *b);
static void push(struct aon_line *line, struct aon_next next);
static void sift(struct aon_next *heap, unsigned n);

void aon_line_open(struct aon_line *line, struct auc_stepper_ctx *ctx, const struct aon_job *j,
		   const int32_t *fit, const bool *servers)
{
	const struct aon_brief *b = j->kind->briefs;
	unsigned w, bucket, *behind = ctx->behind;
	const unsigned *upload = j->upload;
	auc_slot now = j->arrival;
	int64_t length = j->length;

	*line = (struct aon_line){
		.j = j,
		.run = ctx->run,
		.heap = ctx->heap,
		.again = ctx->again,
	};
	memset(ctx->buckets, 0xff, sizeof(ctx->buckets));
	for (w = j->kind->n; w-- > 0;) {
		if (upload[b[w].server] == UINT_MAX || (int32_t)b[w].index >= fit[b[w].server] ||
		    (servers && !servers[b[w].server]))
			continue;
		bucket = bucket_of(least_wait(&b[w], upload[b[w].server], length, now));
		behind[w] = ctx->buckets[bucket];
		ctx->buckets[bucket] = w;
	}
	next_bucket(ctx, line);
}

/* The power of two in WAIT, and the bits after it, as a double has them. */
static inline unsigned bucket_of(int64_t wait)
{
	double exact = (double)wait;
	int64_t bits;

	memcpy(&bits, &exact, sizeof(bits));
	bits = (bits >> (52 - BUCKET_BITS)) - BUCKET_FIRST;
	bits = bits > 0 ? bits : 0;
	return bits < AON_BUCKETS - 1 ? (unsigned)bits : AON_BUCKETS - 1;
}

void aon_line_none(struct aon_line *line)
{
	*line = (struct aon_line){.bucket = AON_BUCKETS, .limit = INFINITY};
}

/*
 * At most what Q is beyond the time of a chunk, in weights. All others may go first, none, or some;
 * if the first of them is not done when the data are there, the others have not even begun.
 */
static inline int64_t least_wait(const struct aon_brief *b, int64_t delay, int64_t length,
				 auc_slot now)
{
	int64_t rest = b->left - delay, firm = b->first_left - delay, some, none;
	int64_t sure = -(int64_t)((firm > 0) & (b->ready <= now)); /* all bits, or none */

	rest = rest < WAIT_MAX ? rest : WAIT_MAX;
	rest = (rest > 0 ? rest : 0) << AON_WEIGHT_BITS;
	some = length * b->least;
	some = some < rest ? some : rest;
	none = (sure & (length * b->all)) | (~sure & some);
	some = (sure & (firm * (1 << AON_WEIGHT_BITS) + length * b->last)) | (~sure & some);
	some = length < b->shortest ? none : some;
	return (delay << AON_WEIGHT_BITS) + (length < b->longest ? some : rest);
}

/* The first one, from line->bucket on, where somebody is. */
static void next_bucket(const struct auc_stepper_ctx *ctx, struct aon_line *line)
{
	while (line->bucket < AON_BUCKETS && ctx->buckets[line->bucket] == NOBODY)
		line->bucket++;
	line->limit = least_of(line, line->bucket);
}

/* The least Q of those in BUCKET, exactly; beyond all of them there is nobody. */
static inline double least_of(const struct aon_line *line, unsigned bucket)
{
	int64_t bits = (bucket + BUCKET_FIRST) << (52 - BUCKET_BITS);
	double wait = 0;

	if (bucket == AON_BUCKETS)
		return INFINITY;
	if (bucket)
		memcpy(&wait, &bits, sizeof(wait));
	return (double)line->j->apart + wait / (1 << AON_WEIGHT_BITS);
}

const struct aon_next *aon_line_first(struct auc_stepper_ctx *ctx, struct aon_line *line)
{
	const struct aon_next *first;

	for (;; open_bucket(ctx, line)) {
		first = line->next < line->nrun ? &line->run[line->next] : NULL;
		if (line->nheap && (!first || before(line->heap, first)))
			first = line->heap;
		if (line->first < line->last &&
		    (!first || before(&line->again[line->first], first)))
			first = &line->again[line->first];
		if (first ? first->q < line->limit : line->bucket == AON_BUCKETS)
			return first;
	}
}

/* The workers of the next bucket get in line. */
static void open_bucket(struct auc_stepper_ctx *ctx, struct aon_line *line)
{
	double end = least_of(line, line->bucket + 1);
	struct aon_next next;
	unsigned w;

	for (w = ctx->buckets[line->bucket]; w != NOBODY; w = ctx->behind[w]) {
		ask(ctx, line->j, w);
		next = next_of(ctx, line->j, w);
		if (next.q < end &&
		    (line->nrun == line->next || before(&line->run[line->nrun - 1], &next)))
			line->run[line->nrun++] = next;
		else
			push(line, next);
	}
	line->bucket++;
	next_bucket(ctx, line);
}

/* Where all go first and nobody waits for data the queue need not be looked at. */
static inline void ask(struct auc_stepper_ctx *ctx, const struct aon_job *j, unsigned w)
{
	const struct aon_brief *b = &j->kind->briefs[w];
	struct aon_choice *choice = &ctx->choices[w];
	int64_t delay = j->upload[b->server];

	choice->n = 0;
	choice->serial = b->ready <= j->arrival;
	if (choice->serial && j->length >= b->longest) {
		choice->pushed = 0;
		choice->ahead = b->left;
		choice->slots = (b->left > delay ? b->left : delay) + j->apart;
		choice->place = b->n;
		choice->behind = 0;
	} else {
		aon_queue_ask(ctx, j, w, choice);
	}
}

void aon_line_take(struct aon_line *line, const struct aon_next *first)
{
	if (first == &line->again[line->first] && line->first < line->last) {
		line->first++;
	} else if (first == &line->run[line->next] && line->next < line->nrun) {
		line->next++;
	} else {
		line->heap[0] = line->heap[--line->nheap];
		sift(line->heap, line->nheap);
	}
}

/* Rounding may make it a little less than, or equal to, who is before it. */
void aon_line_again(struct auc_stepper_ctx *ctx, struct aon_line *line, unsigned worker)
{
	struct aon_next next = next_of(ctx, line->j, worker);
	unsigned i;

	for (i = line->last++; i > line->first && before(&next, &line->again[i - 1]); i--)
		line->again[i] = line->again[i - 1];
	line->again[i] = next;
}

static inline struct aon_next next_of(const struct auc_stepper_ctx *ctx, const struct aon_job *j,
				      unsigned w)
{
	const struct aon_choice *c = &ctx->choices[w];

	return (struct aon_next){(double)(c->slots + c->n * j->apart) + c->pushed, w};
}

/* Equal ones are in the order of the workers. */
static inline bool before(const struct aon_next *a, const struct aon_next *b)
{
	return a->q != b->q ? a->q < b->q : a->worker < b->worker;
}

static void push(struct aon_line *line, struct aon_next next)
{
	struct aon_next *heap = line->heap;
	unsigned i = line->nheap++;

	for (; i && before(&next, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = next;
}

/* Lets the first of the heap sink to its place. */
static void sift(struct aon_next *heap, unsigned n)
{
	struct aon_next moved;
	unsigned least, i;

	if (!n)
		return;
	moved = heap[0];
	for (i = 0; 2 * i + 1 < n; i = least) {
		least = 2 * i + 1;
		least += least + 1 < n && before(&heap[least + 1], &heap[least]);
		if (before(&moved, &heap[least]))
			break;
		heap[i] = heap[least];
	}
	heap[i] = moved;
}
