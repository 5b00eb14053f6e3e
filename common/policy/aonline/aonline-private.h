/*
 * aonline-private.h - what the parts of policy aonline share: aonline.c (options, jobs that come
 * and go), aonline_dispatch.c (which worker trains which chunk), aonline_line.c (the workers by
 * what a chunk costs there), aonline_queue.c (what waits at a worker), aonline_step.c (what runs in
 * a slot, PSs).
 */
#ifndef AUC_AONLINE_PRIVATE_H
#define AUC_AONLINE_PRIVATE_H

#include "policy/free_room.h"
#include "policy/stepper.h"

struct aon_job;

/* One chunk; it stays on its worker. */
struct aon_chunk {
	unsigned server, worker; /* worker: on the cloud once it has begun */
	unsigned next;           /* of the job's at the same edge worker; UINT_MAX: none */
	unsigned preemptions;
	int32_t left;        /* slots */
	struct auc_span run; /* its latest */
	unsigned nruns, alloc;
	struct auc_span *before; /* the runs before that */
};

/*
 * The chunks of one job that wait at, or are on, one edge worker. They run one after the other.
 * What a dispatch asks of the job is here as well: it looks at many queues.
 */
struct aon_entry {
	struct aon_job *job;
	auc_slot ready; /* its data are there */
	int32_t length;
	int32_t left;           /* slots of all of them */
	int32_t chunks, weight; /* how many, and the weight of each: see struct aon_brief */
	int32_t apart, nchunks; /* nchunks: of the whole job */
	double part;            /* chunks / nchunks */
	unsigned chunk;         /* the one at hand: the others follow it */
};

/* An edge worker: its queue, in the order in which jobs go first. */
struct aon_worker {
	unsigned server, index; /* which of its kind on the server */
	unsigned n, alloc;
	struct aon_entry *queue;
	struct aon_job *ran; /* of the chunk it trained in the latest slot; NULL: none */
	unsigned ran_chunk;
	unsigned head;           /* in a step: the entry that may run */
	struct aon_worker *next; /* in a step: of the same job's */
};

#define AON_WEIGHT_BITS 20
#define AON_BUCKETS     640

/*
 * What a dispatch reads of every worker to know which queues it need not look at. Weights are
 * parts of their jobs, chunks by all of the job's, in 2^-AON_WEIGHT_BITS, rounded down.
 */
struct aon_brief {
	unsigned server, index, n; /* as the worker's */
	int32_t first_left;        /* slots of the first */
	auc_slot ready;            /* from then on the data of all of them are there */
	int64_t left;              /* slots of all of them */
	int32_t shortest, longest; /* lengths of the first and the last of them; 0: nobody */
	int32_t least, last;       /* the least weight of a chunk; of all chunks of the last */
	int32_t all;               /* of all, of the first one chunk alone */
};

/* Workers of the cloud, as bits: which are in use, and which of them are free from the next slot
 * on. */
struct aon_pool {
	unsigned server, words;
	uint64_t *used, *ended;
};

/* A worker type and all workers of it, or a PS type. */
struct aon_kind {
	struct auc_bundle bundle; /* of a PS: nobody works */
	unsigned n;
	struct aon_worker *workers; /* at the edge, ascending by server */
	struct aon_brief *briefs;   /* of each of them */
	unsigned npools;
	struct aon_pool *pools; /* in the cloud, ascending by server */
};

struct aon_job {
	uint64_t id;
	auc_slot arrival;
	unsigned worker_type, ps_type;
	struct aon_kind *kind;
	const struct auc_bundle *ps;
	const unsigned *upload; /* by server; behind the chunks, they behind the job */
	int64_t apart,
		together; /* slots of a chunk with a PS elsewhere, and with all in one place */
	int32_t length;   /* chunks x slots of one: the shorter goes first, then who came first */
	int64_t chunk_units; /* of storage */
	unsigned n, undone;
	struct aon_chunk *chunks;
	unsigned first_cloud;   /* chunks from here on are in the cloud */
	bool colocated;         /* all of them, and the PS */
	struct aon_pool *cloud; /* NULL: none of them */
	unsigned cloud_undone;
	auc_slot end; /* when it would be complete if nobody else came */
	auc_slot ran; /* the latest slot it ran in */
	bool stopped; /* some chunk was, and has runs before the latest */
	/* the PS */
	unsigned ps_server;
	bool ps_held;                  /* in a step: taken out of the room already */
	unsigned cloud_held;           /* the same: workers in the cloud */
	struct aon_worker *candidates; /* in a step: edge workers that may train a chunk of it */
	/* in a dispatch */
	auc_slot pushed;
	uint64_t mark;
};

enum aon_site {
	AON_ANY,
	AON_EDGE,
	AON_CLOUD,
};

/* What the chunks of a new job find at a worker. D times the quantity Q is slots + pushed. */
struct aon_choice {
	int64_t slots;          /* until the first chunk would be trained */
	double pushed;          /* what a chunk would push back */
	int64_t ahead;          /* slots of all that goes first */
	unsigned place, behind; /* in the queue, and how many others are behind it there */
	unsigned n;             /* chunks that went there */
	unsigned first;         /* of them */
	bool serial;            /* nobody there waits for data */
};

/* A worker with the quantity of its next chunk. */
struct aon_next {
	double q;
	unsigned worker;
};

/* Workers in the order of the Q of their next chunk: aonline_line.c. */
struct aon_line {
	const struct aon_job *j;
	double limit; /* the least Q of those in the next bucket */
	unsigned bucket, nrun, next, nheap, first, last;
	struct aon_next *run, *heap, *again;
};

struct auc_stepper_ctx {
	enum aon_site site;
	bool guard;
	uint64_t marks;
	unsigned nservers; /* 0: no job has come yet */
	unsigned nkinds;
	struct aon_kind **kinds;
	unsigned n, alloc, ndone;
	struct aon_job **jobs; /* those at hand, in the order in which they go first; alloc long */
	unsigned *done;        /* places of those that are complete, ascending; alloc long */
	bool *limited;         /* by server: it has a TRES storage */
	bool any_limited;
	int64_t *held; /* of it, by server, in units */
	struct auc_free_room room;
	/* a dispatch */
	unsigned workers_alloc, chunks_alloc, queue_alloc;
	unsigned longest;              /* the longest queue there was */
	struct aon_choice *choices;    /* by worker of the kind, as the next three */
	unsigned *behind;              /* who is next in its bucket */
	unsigned buckets[AON_BUCKETS]; /* its first */
	struct aon_next *run, *heap;
	struct aon_next *again; /* by chunk, as the next two */
	unsigned *order;        /* the worker of each chunk */
	unsigned *touched;      /* workers that got one, ntouched of them */
	unsigned ntouched;
	struct aon_job **pushed; /* alloc long */
	int64_t *left;           /* of a queue, its entries' work, data and ends */
	auc_slot *ready, *ends;
	bool *servers;    /* some of them */
	int64_t *storage; /* by server: chunks for which there is room */
	/* a step */
	struct auc_layout *layouts; /* alloc long */
	struct auc_share *shares;
	unsigned nshares, shares_alloc;
	unsigned *count;        /* by server */
	struct auc_chunk *seen; /* for chunks() */
	struct auc_span *spans;
};

/*
 * Dispatches all chunks of J, which is not yet in ctx->jobs. *PLACED false: there is no worker, or
 * no storage, for one of them; nothing is changed then.
 */
enum auc_code aon_dispatch(struct auc_stepper_ctx *ctx, const struct auc_market *m,
			   struct aon_job *j, bool *placed, struct auc_err *err);

/* Forgets jobs that are done. */
void aon_drop_done(struct auc_stepper_ctx *ctx);
/* Chunk C of J no longer needs its worker of the cloud. */
void aon_free_worker(const struct aon_job *j, const struct aon_chunk *c);

/* aonline.c: room for one more job, and CTX knows M. */
enum auc_code aon_make_place(struct auc_stepper_ctx *ctx, const struct auc_market *m,
			     struct auc_err *err);
/* Makes *J of JOB, with types W and P, not dispatched. NULL: an error, or AUC_OK and it is too
 * long.
 */
enum auc_code aon_make_job(struct auc_stepper_ctx *ctx, const struct auc_market *m, uint64_t id,
			   const struct auc_job *job, unsigned w, unsigned p, struct aon_job **j,
			   struct auc_err *err);
void aon_free_job(struct aon_job *j);
/* J goes to its place among ctx->jobs, where there is room. */
void aon_enter(struct auc_stepper_ctx *ctx, struct aon_job *j);
/* The job at hand of that id; NULL. */
struct aon_job *aon_find(const struct auc_stepper_ctx *ctx, uint64_t id);

/*
 * aonline_queue.c. Worker W of J's kind gets chunks of J, FIRST and those that follow it, LEFT
 * slots in all, at PLACE of its queue, which aon_queue_place() says.
 */
enum auc_code aon_queue_insert(struct auc_stepper_ctx *ctx, struct aon_job *j, unsigned w,
			       unsigned place, unsigned first, unsigned chunks, int64_t left,
			       struct auc_err *err);
/* Where a job of LENGTH that comes now is in W's queue. */
unsigned aon_queue_place(const struct aon_worker *w, int32_t length);
/* The head of W's queue was trained in a slot, and its chunk is not done. */
void aon_queue_trained(struct aon_kind *kind, const struct aon_worker *w);
/* W's queue has other chunks than before: the brief of it. */
void aon_queue_changed(struct aon_kind *kind, const struct aon_worker *w);
/* E is of so many CHUNKS now. */
void aon_queue_count(struct aon_entry *e, int32_t chunks);
/* Entry E goes out of W's queue. */
void aon_queue_remove(struct aon_kind *kind, struct aon_worker *w, unsigned e);
/* What a chunk of J would find at worker W; CHOICE->serial is known. */
void aon_queue_ask(struct auc_stepper_ctx *ctx, const struct aon_job *j, unsigned w,
		   struct aon_choice *choice);
/*
 * When the chunks of J that go to worker W by CHOICE would be done; and in ctx->ends, from CHOICE's
 * place + 1 on, when the entries from that place on would be.
 */
auc_slot aon_queue_ends(struct auc_stepper_ctx *ctx, const struct aon_job *j, unsigned w,
			const struct aon_choice *choice);

/*
 * aonline_line.c. All workers of J's kind that FIT, by server, has, that get its data and whose
 * SERVERS (NULL: all) are true stand in line.
 */
void aon_line_open(struct aon_line *line, struct auc_stepper_ctx *ctx, const struct aon_job *j,
		   const int32_t *fit, const bool *servers);
/* Nobody does. */
void aon_line_none(struct aon_line *line);
/* The next one, NULL: nobody. */
const struct aon_next *aon_line_first(struct auc_stepper_ctx *ctx, struct aon_line *line);
/* Takes out who is the FIRST, for good or until it comes back with the Q of its next chunk. */
void aon_line_take(struct aon_line *line, const struct aon_next *first);
void aon_line_again(struct auc_stepper_ctx *ctx, struct aon_line *line, unsigned worker);

/* aonline_step.c: POOL has bits for worker N. */
enum auc_code aon_grow_pool(struct aon_pool *pool, unsigned n, struct auc_err *err);

/* aonline_resume.c: the stepper's keep() and resume(). */
enum auc_code aon_keep(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_plan *plan,
		       struct auc_err *err);
enum auc_code aon_resume(struct auc_stepper_ctx *ctx, const struct auc_market *m, uint64_t id,
			 const struct auc_job *job, const struct auc_plan *plan, auc_slot t,
			 struct auc_err *err);

/* The stepper's step. */
enum auc_code aon_step(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
		       const struct auc_layout **layouts, unsigned *n, struct auc_err *err);

#endif
