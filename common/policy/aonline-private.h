/*
 * aonline-private.h - what the parts of policy aonline share: aonline.c (options, jobs that come
 * and go), aonline_dispatch.c (which worker trains which chunk), aonline_step.c (what runs in a
 * slot, PSs).
 */
#ifndef AUC_AONLINE_PRIVATE_H
#define AUC_AONLINE_PRIVATE_H

#include "policy/room.h"
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
	int64_t length;
	uint64_t number;
	auc_slot ready;         /* its data are there */
	int64_t left;           /* slots of all of them */
	int32_t apart, nchunks; /* nchunks: of the whole job */
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

/* Workers of the cloud, as bits: which are in use, and which of them are free from the next slot
 * on. */
struct aon_pool {
	unsigned server, words;
	uint64_t *used, *ended;
};

/* A worker type and all workers of it. */
struct aon_kind {
	struct auc_bundle bundle;
	unsigned n;
	struct aon_worker *workers; /* at the edge, ascending by server */
	unsigned npools;
	struct aon_pool *pools; /* in the cloud, ascending by server */
};

struct aon_job {
	uint64_t id, number; /* number: in the order of arrival */
	auc_slot arrival;
	unsigned worker_type, ps_type;
	struct aon_kind *kind;
	struct auc_bundle ps;
	unsigned *upload; /* by server */
	int64_t apart,
		together;    /* slots of a chunk with a PS elsewhere, and with all in one place */
	int64_t length;      /* chunks x slots of one: the shorter goes first */
	int64_t chunk_units; /* of storage */
	unsigned n, undone;
	struct aon_chunk *chunks;
	unsigned first_cloud;   /* chunks from here on are in the cloud */
	bool colocated;         /* all of them, and the PS */
	struct aon_pool *cloud; /* NULL: none of them */
	unsigned cloud_undone;
	auc_slot end; /* when it would be complete if nobody else came */
	auc_slot ran; /* the latest slot it ran in */
	bool done;
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

/* A worker that the chunks of a new job may go to. D times the quantity Q is the sum of the two. */
struct aon_choice {
	int64_t slots; /* until the first chunk would be trained */
	double pushed; /* what a chunk would push back */
	struct aon_worker *worker;
	unsigned n; /* chunks that went there */
};

/* The same in a heap or in line, with the quantity of its next chunk. */
struct aon_next {
	double q;
	unsigned choice;
};

struct auc_stepper_ctx {
	enum aon_site site;
	bool guard;
	uint64_t arrived, marks;
	unsigned nservers; /* 0: no job has come yet */
	unsigned nkinds;
	struct aon_kind **kinds;
	unsigned n, alloc, ndone;
	struct aon_job **jobs; /* those at hand, in the order in which they go first */
	bool *limited;         /* by server: it has a TRES storage */
	bool any_limited;
	int64_t *held; /* of it, by server, in units */
	struct auc_room room;
	/* a dispatch */
	struct aon_choice *choices;    /* by worker of the kind */
	struct aon_next *heap, *again; /* again: by chunk */
	unsigned choices_alloc, again_alloc;
	struct aon_job **pushed; /* alloc long */
	int64_t *left;           /* of a queue, its entries' work, data and ends */
	auc_slot *ready, *ends;
	unsigned queue_alloc, longest; /* longest: the longest queue there was */
	int64_t *storage;              /* by server: chunks for which there is room */
	/* a step */
	struct auc_layout *layouts; /* alloc long */
	struct auc_share *shares;
	unsigned nshares, shares_alloc;
	unsigned *count;        /* by server */
	struct auc_chunk *seen; /* for chunks() */
	struct auc_span *spans;
};

/* True if J goes before a job of that length and number. */
static inline bool aon_before(const struct aon_job *j, int64_t length, uint64_t number)
{
	return j->length != length ? j->length < length : j->number < number;
}

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
/* Makes *J (zeroed) of JOB, with types W and P, not dispatched. *REASON capacity: it is too long.
 */
enum auc_code aon_make_job(struct auc_stepper_ctx *ctx, const struct auc_market *m, uint64_t id,
			   const struct auc_job *job, unsigned w, unsigned p,
			   enum auc_reason *reason, struct aon_job *j, struct auc_err *err);
void aon_free_job(struct aon_job *j);
/* J goes to its place among ctx->jobs, where there is room. */
void aon_enter(struct auc_stepper_ctx *ctx, struct aon_job *j);
/* The job at hand of that id; NULL. */
struct aon_job *aon_find(const struct auc_stepper_ctx *ctx, uint64_t id);

/* aonline_dispatch.c: CHUNK of J goes to W, behind those of the same job there, if there are any.
 */
enum auc_code aon_put_chunk(struct auc_stepper_ctx *ctx, struct aon_job *j, struct aon_worker *w,
			    unsigned chunk, struct auc_err *err);
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
