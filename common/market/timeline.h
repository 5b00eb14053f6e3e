/*
 * timeline.h - the market's inside, for the library itself and its tests only.
 *
 * A cell is one server in one slot: cell = (t - first) * nservers + server. Slots follow each other
 * in memory, so that a window of slots is one walk and advancing is one memmove() per array.
 *
 * For every type (workers first, then PSs) and cell the market keeps how many of the type still fit
 * there and what one costs there, and per slot the servers by ascending price. Booking keeps them
 * up to date, so that a quote only reads.
 */
#ifndef AUC_TIMELINE_H
#define AUC_TIMELINE_H

#include <math.h>

#include "market/market.h"
#include "base/numbers.h"

#define AUC_BLOCK_LEVELS 7         /* blocks of 1, 2, 4, ... 64 slots */
#define AUC_FIT_MAX      (1 << 20) /* no server is taken to hold more workers or PSs of a type */
#define AUC_ROLES_ALL    (AUC_ROLE_WORKER | AUC_ROLE_PS)
#define AUC_UNITS_LIMIT  4503599627370496.0 /* 2^52: the largest capacity in units */

struct auc_tres {
	char name[AUC_NAME_MAX];
	bool spelled;                                    /* as a server has it, not only a type */
	double scale;                                    /* 10^k: units per amount of 1 */
	struct auc_price_curve curve[AUC_ROLES_ALL + 1]; /* by the server's roles */
};

struct auc_server {
	char name[AUC_NAME_MAX], group[AUC_NAME_MAX];
	bool cloud;
	unsigned roles;
	unsigned whole,
		inside;  /* a part: its whole's index + 1, and what it hosts as a part; else 0 */
	unsigned nparts; /* a whole: the servers before it that are its parts; else 0 */
	double upload_default;
	double bandwidth;        /* Mbit/s at which data get there; 0: not known */
	char leaf[AUC_NAME_MAX]; /* its switch; "": none */
	unsigned leaf_number;    /* the same for all of it; 0: none */
	char features[AUC_FEATURES_MAX];
	double amount[AUC_TRES_MAX]; /* capacity as given */
	int64_t units[AUC_TRES_MAX]; /* capacity in units of the TRES's scale */
	double floor[AUC_TRES_MAX];  /* no unit price is below it, times that of the hour */
	bool hourly;                 /* HOUR is not 1 all day */
	double hour[AUC_DAY_HOURS];
};

/* A worker or PS type. */
struct auc_bundle {
	char name[AUC_NAME_MAX];
	unsigned role;
	bool kept; /* for old sales only: auc_market_keep_type() */
	double bandwidth;
	double amount[AUC_TRES_MAX]; /* by TRES; 0: not used */
	int64_t units[AUC_TRES_MAX];
	unsigned nused;
	unsigned used[AUC_TRES_MAX]; /* TRES with an amount, ascending */
};

/*
 * What is cached of one type, by row and column: all servers, or where it fits on half of them at
 * most, whatever they host, only those. Behind the rows of the slots come rows for blocks of 2, 4,
 * ... slots, for bounds of what a window costs: there fit is the least of the block's slots and
 * price their sum. Block i of level h is the slots i * 2^h to (i + 1) * 2^h - 1. What has passed or
 * is beyond the window counts as empty and free.
 */
struct auc_type_cache {
	unsigned n;       /* columns */
	uint32_t *server; /* by column, ascending */
	uint32_t *column; /* by server; n and more: it has none */
	struct auc_numbers fit;
	double *price;            /* credits per worker (PS); INFINITY where none fits */
	struct auc_numbers order; /* by row: columns by ascending (price, index) */
	int32_t *fit0;            /* the same of an empty slot, by server */
	double *price0;           /* by column */
	uint32_t *order0;
	int64_t total0; /* sum of fit0 */
	int32_t max0;   /* maximum of fit0 */
};

/* What servers may send each other in a slot: traffic.c. */
struct auc_traffic {
	bool limited;
	int64_t budget;    /* bytes in a slot */
	int64_t *used;     /* by slot index */
	double *price;     /* credits per MB, by slot index */
	double idle_price; /* the same of slots to come, where prices are given */
	struct auc_price_curve curve;
};

struct auc_market {
	bool ready;
	bool bulk;       /* bookings leave the caches to auc_market_end_bulk() */
	bool given;      /* unit_price[] was given: bookings do not change it */
	bool idle_costs; /* some idle_price is above 0 */
	bool floors;     /* some server has one */
	bool hourly;     /* some server has others by the hour of the day */
	bool gangs_only; /* of the caches below only what empty slots hold is kept */
	unsigned slots, nservers, ntres, nworker_types, nps_types;
	unsigned nleaves; /* different switches */
	double slot_seconds;
	double clock; /* seconds after midnight at which slot 0 begins */
	auc_slot first;
	unsigned nlevels, nrows;                  /* of the caches */
	unsigned level_row[AUC_BLOCK_LEVELS + 1]; /* first row of a level */
	struct auc_tres tres[AUC_TRES_MAX];
	/* Workers; from ready() on PSs follow them without a gap. */
	struct auc_bundle types[2 * AUC_TYPES_MAX];
	struct auc_bundle ps_types[AUC_TYPES_MAX]; /* the PSs alone */
	unsigned servers_alloc;
	struct auc_server *servers;
	int64_t *used;      /* by cell and TRES, in units */
	double *unit_price; /* by slot, TRES and server (auc_units()), credits per amount of 1 and
			       slot */
	/* For searches that have no type (gangs). By row, TRES and server, a row of stride bytes:
	 * the part of the capacity that is used, in 255ths, rounded down. */
	uint8_t *full;
	size_t stride; /* servers, rounded up to 16 */
	/* By row and TRES: no unit price there is below it. */
	double *lowest;
	double *idle_price; /* by server and TRES: the same where nothing is used */
	uint64_t *moved;    /* by row of the caches: the types of which a price moved since they
			       were put in order; one bit each */
	struct auc_share
		*changed; /* scratch of auc_market_set_roles() and auc_market_close(), by server */
	uint32_t *sorted; /* scratch: a row of columns */
	/*
	 * For those who keep what they found in a row: by row of the caches, another number
	 * whenever a fit, a price or the order is another there, and one for what empty slots hold.
	 * No two states of rows have the same, whatever market they are of; 0: none has.
	 */
	uint64_t *stamp, idle_stamp;
	uint64_t stamp_next, stamp_end; /* numbers that are this market's to give */
	uint8_t *closed;                /* by cell: nothing more fits there; NULL: none ever was */
	struct auc_closure *closures;
	size_t nclosures;
	uint64_t frees;  /* how often a server got room */
	uint64_t *freed; /* by server: frees when it last did; 0: never */
	struct auc_traffic traffic;
	struct auc_type_cache cache[2 * AUC_TYPES_MAX];
};

static inline unsigned auc_ps_index(const struct auc_market *m, unsigned ps_type)
{
	return m->nworker_types + ps_type;
}

static inline size_t auc_cell(const struct auc_market *m, unsigned slot_index, unsigned server)
{
	return (size_t)slot_index * m->nservers + server;
}

/* Where in unit_price the price of TRES 0 on SERVER stands; that of TRES k is k * nservers behind
 * it. */
static inline size_t auc_units(const struct auc_market *m, unsigned slot_index, unsigned server)
{
	return (size_t)slot_index * m->ntres * m->nservers + server;
}

/* Where C's ROW begins; its columns follow. */
static inline size_t auc_type_row(const struct auc_type_cache *c, unsigned row)
{
	return (size_t)row * c->n;
}

/* How many of C's type fit on SERVER in ROW, and what one costs there. */
static inline int32_t auc_type_fit(const struct auc_type_cache *c, unsigned row, unsigned server)
{
	unsigned at = c->column[server];

	return at < c->n ? (int32_t)auc_number(&c->fit, auc_type_row(c, row) + at) : 0;
}

static inline double auc_type_price(const struct auc_type_cache *c, unsigned row, unsigned server)
{
	unsigned at = c->column[server];

	return at < c->n ? c->price[auc_type_row(c, row) + at] : INFINITY;
}

/*
 * The server at RANK of ROW, by ascending price, and its fit and price; false: nothing fits there,
 * nor further on.
 */
static inline bool auc_type_ranked(const struct auc_type_cache *c, unsigned row, unsigned rank,
				   uint32_t *server, int32_t *fit, double *price)
{
	size_t at = auc_type_row(c, row);

	if (rank >= c->n)
		return false;
	at += auc_number(&c->order, at + rank);
	*fit = (int32_t)auc_number(&c->fit, at);
	*price = c->price[at];
	*server = c->server[at - auc_type_row(c, row)];
	return *fit > 0;
}

/* The lowest price of ROW; INFINITY: none fits. */
static inline double auc_type_least(const struct auc_type_cache *c, unsigned row)
{
	size_t at = auc_type_row(c, row);

	return c->n ? c->price[at + auc_number(&c->order, at)] : INFINITY;
}

/* Row of block I of LEVEL; it must be one that begins in the window. */
static inline unsigned auc_block_row(const struct auc_market *m, unsigned level, auc_slot i)
{
	return m->level_row[level] + (unsigned)(i - (m->first >> level));
}

/* Cuts [FROM, TO] to the window; false if nothing is left. */
static inline bool auc_market_clip(const struct auc_market *m, auc_slot *from, auc_slot *to)
{
	auc_slot last = m->first + m->slots - 1;

	if (*from < m->first)
		*from = m->first;
	if (*to > last)
		*to = last;
	return *from <= *to;
}

/* Chooses each TRES's scale from the capacities and turns all amounts into units. AUC_EINVAL. */
enum auc_code auc_market_fix_units(struct auc_market *m, struct auc_err *err);
/* How many fit on each server in ROW; all servers by ascending (price, index) there. */
void auc_type_fits(const struct auc_market *m, unsigned type, unsigned row, int32_t *to);
void auc_type_order(const struct auc_market *m, unsigned type, unsigned row, uint32_t *to);
/* How many of TYPE (workers, then PSs) fit in CELL; as the caches say, where they are kept. */
int32_t auc_market_fits(const struct auc_market *m, unsigned type, size_t cell);
/* Brings every cache up to date with the cells of SHARES' servers in the slots [FROM, TO] of the
 * window. */
void auc_market_refresh(struct auc_market *m, auc_slot from, auc_slot to,
			const struct auc_share *shares, unsigned nshares);
/* The window has moved by SHIFT slots: closures.c's part of it. */
void auc_market_shift_closures(struct auc_market *m, unsigned shift);

/* traffic.c's part of what market.c does; slots are indices. */
int64_t auc_traffic_bytes(double mb);
/* True if all that JOB could send is a number that sums of bytes hold: else it must be refused. */
bool auc_traffic_counts(const struct auc_job *job, double chunks_per_slot, double exchange_mb);
/* What is left of the budget; INT64_MAX: it has no limit. */
int64_t auc_traffic_left(const struct auc_market *m, unsigned slot);
bool auc_traffic_lay_out(struct auc_market *m); /* false: no memory */
void auc_traffic_free(struct auc_market *m);
void auc_traffic_shift(struct auc_market *m, unsigned shift);
void auc_traffic_reprice(struct auc_market *m);
void auc_traffic_copy(struct auc_market *m, const struct auc_market *from);
bool auc_traffic_sound(const struct auc_market *m);
struct auc_plan;
struct auc_run;
struct json_object;
bool auc_plan_sends(const struct auc_plan *p);
/* Bytes that P sends in slot T of RUN. */
int64_t auc_plan_bytes(const struct auc_plan *p, const struct auc_run *run, auc_slot t);
double auc_plan_traffic_cost(const struct auc_plan *p, const struct auc_market *m);
/* As check_change() and apply_change() of booking.c, slots of the window. */
enum auc_code auc_traffic_check(const struct auc_market *m, const struct auc_plan *plan,
				auc_slot from, auc_slot to, bool book, struct auc_err *err);
void auc_traffic_apply(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
		       auc_slot to, bool book);
/*
 * What a plan sends in its JSON: "chunk_mb", "exchange_mb" and "transfers":[{"slot","from","to",
 * "chunks"}], of a plan of chunks that lie somewhere; no other has these keys. False: no memory.
 */
bool auc_plan_add_traffic(struct json_object *o, const struct auc_plan *p,
			  const struct auc_market *m);
/* The reverse, once P has its runs: each move is in a slot of P, to a server with workers then. */
enum auc_code auc_plan_read_traffic(struct json_object *o, const struct auc_market *m,
				    struct auc_plan *p, struct auc_err *err);

/* True if every cached price, fit and order is what it would be if made anew: for tests. */
bool auc_market_cache_sound(const struct auc_market *m);

/*
 * The model of a job's speed (DPS equations (3), (12), (14), as policies.md reads them).
 * Worker-slots of all the work: E * D * M * k / slot_seconds, k the seconds of one mini-batch with
 * these types.
 */
double auc_job_work(const struct auc_market *m, const struct auc_job *job, unsigned worker_type,
		    unsigned ps_type, bool colocated);
/* The work of OASiS, whole worker-slots, at least 1: ceil(E * D * M * seconds / slot_seconds),
 * where the seconds of a mini-batch include the exchange and no update. INT64_MAX: beyond counting.
 */
int64_t auc_job_worker_slots(const struct auc_market *m, const struct auc_job *job,
			     unsigned worker_type);
/*
 * Eris's P and lambda of a job with these types: as the job says, or where it does not, those of
 * dps's mini-batch: P = slot_seconds / (M * k) with k the seconds of one whose gradients cross the
 * network, lambda = what the mini-batches of a slot exchange, gradients and parameters.
 */
double auc_job_chunks_per_slot(const struct auc_market *m, const struct auc_job *job,
			       unsigned worker_type, unsigned ps_type);
double auc_job_exchange_mb(const struct auc_market *m, const struct auc_job *job,
			   unsigned worker_type, unsigned ps_type);
/* Slots that N >= 1 workers take for WORK: max(1, ceil(work / n)); INT64_MAX: beyond counting. */
int64_t auc_job_duration(double work, int64_t n);
/* The fewest workers, 1..CHUNKS, that need at most D slots; 0 if there is no such number. */
int64_t auc_job_workers(double work, int64_t d, uint64_t chunks);
/* PSs for ELSEWHERE workers on other servers: max(1, ceil(b_w * elsewhere / b_p)). */
int64_t auc_job_ps(const struct auc_market *m, unsigned worker_type, unsigned ps_type,
		   int64_t elsewhere);
/* The most workers elsewhere that Z PSs serve. */
int64_t auc_job_served(const struct auc_market *m, unsigned worker_type, unsigned ps_type,
		       int64_t z);

#endif
