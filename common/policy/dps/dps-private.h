/*
 * dps-private.h - the inside of policy dps, for dps.c, which searches, dps_bounds.c and
 * dps_floor.c, which tell it what a window costs at least, dps_windows.c, which tells it what it
 * costs, dps_best.c, which keeps the best schedule, and dps_rows.c and dps_room.c, which read the
 * market for them.
 */
#ifndef AUC_DPS_PRIVATE_H
#define AUC_DPS_PRIVATE_H

#include "market/timeline.h"
#include "policy/policy.h"

/* Worker counts per lane for which bounds are tabled; fewer if the tables would be too large. */
#define DPS_LEVELS    16
#define DPS_RUNS      24 /* of a row's cheapest workers, and of its single servers: what is kept */
#define DPS_SINGLES   12
#define DPS_ROOM      64   /* slots of the longest windows whose room is kept */
#define DPS_ROOM_MOST 8191 /* workers: more are not told apart */

/* Of servers that hold PSs: all; the large ones, as the cloud is, and the others. */
enum tier { ANY, LARGE, SMALL, TIERS };

/* What servers of a tier offer of a type: the lowest price of one, INFINITY if none fits, and, but
 * for ANY, how many fit on one of them at most. */
struct offer {
	double price;
	int32_t most;
};

/* The cheapest workers of a row, whatever servers they are on, with equal prices taken together.
 * RANK: how far the market's order was read; to its end if the list has all that fit. */
struct runs {
	unsigned n, rank;
	struct run {
		double price;
		int64_t workers;
	} run[DPS_RUNS];
};

/* Single servers of a row, for workers that have to be together: each holds more of them than the
 * one before, and is dearer. */
struct singles {
	unsigned n;
	struct single {
		double price;
		int32_t fit;
	} single[DPS_SINGLES + 1];
};

/* What servers of a tier offer of PSs of any type that the job may have; INFINITY and 0 if none. */
struct ps_offer {
	double one;    /* the lowest price of a PS */
	double mbps;   /* the lowest price of 1 Mbit/s of bandwidth */
	double serves; /* Mbit/s of as many of a type as fit on one of them at most */
};

/* What slots from the quote's first on to before this one offer of something by themselves. */
struct offer_series {
	double sum;    /* of the lowest prices */
	unsigned none; /* after the last slot that offers nothing; 0: each does */
};

struct window_offers {
	unsigned start, end; /* slot indices; end 0: none yet */
	struct offer tier[TIERS];
};

/* One worker type and placement: what bounds are kept for. */
struct lane {
	unsigned worker;
	bool colocated;
	unsigned dmin, dmax; /* durations that any PS type can give */
	unsigned dense;      /* of longer ones those alone that are marked, once they are */
	double slots;        /* workers times duration, the least of all durations */
	double floor; /* what any of its schedules costs at least, if the search's end is there */
	unsigned nlevels;
	int64_t level[DPS_LEVELS]; /* worker counts, ascending */
	unsigned closed;           /* completions from here on need not be looked at */
	unsigned nnarrow;          /* slots of its list in the context's narrow */
	unsigned ncounts, shift;   /* different numbers of workers; so many bits short is a mark */
	/* While windows of one completion are gone through: workers that fit, the next window's
	 * duration (0: none is left) and its number among the lane's counts. */
	int64_t room;
	unsigned next, count;
};

/* Of one worker type: how many fit, by slot and server, and in windows, by their end: dps_room.c.
 */
struct room {
	int16_t *fits, *least; /* LEAST: scratch, by server */
	int32_t *windows;
};

/* A server, and the first and last slot index in which it has room for others than before. */
struct changed {
	uint32_t server;
	unsigned first, last;
};

/* What one type finds over [completion - d, completion - 1]. */
struct window {
	unsigned completion, d; /* slot indices; d 0: empty */
	double limit;           /* servers whose sums are that or more are left out */
	unsigned n;
	uint32_t *list; /* the other servers where one fits all the window, ascending */
	double *sum;    /* by server, of those: price */
	int32_t *fit;   /* by server: how many fit; 0 on those that are not in the list */
};

/* The servers usable in a window by ascending (sum, -fit, index), as far as they were needed. */
struct filler {
	unsigned worker, completion, d;
	const double *sum;
	const int32_t *fit;
	unsigned nheap, ntaken;
	uint32_t *heap, *taken;
	int64_t *workers; /* by rank: workers that the servers up to this one hold */
	double *cost;     /* by rank: what those cost */
	uint32_t *rank;   /* by server: 1 + rank, 0 not taken */
};

/* The servers where workers of one type fit all the time from a slot back to another: dps_reach.c.
 */
struct reach {
	unsigned completion, d; /* slot indices; d 0: none yet */
	unsigned n;
	uint32_t *list; /* them, by ascending sum */
	double *sum;    /* by server, of those: price in these slots */
	int32_t *fit;   /* by server, of those: how many fit */
};

/* One schedule. */
struct choice {
	double value, cost;
	unsigned completion, start; /* slot indices */
	unsigned nservers, worker, ps;
	bool colocated;
	unsigned ps_server;
	int64_t n, here, z; /* workers, those on the PS server, PSs */
};

struct auc_policy_ctx {
	bool bounds;
	bool must_pay;         /* schedules that cost what they are worth are left out */
	struct auc_gang *gang; /* for jobs that are gangs */
	double budget;         /* what a schedule may cost; INFINITY: whatever it does */
	/* dimensions the memory is made for */
	unsigned nservers, slots, nrows, nworkers, nps, levels;
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	uint64_t steps, limit; /* steps so far; beyond LIMIT nothing else is tried */
	unsigned start0;       /* first slot index the job may use */
	uint32_t *ready;       /* by server: first slot index at which it is usable */
	bool found;
	struct choice best;
	double best_payoff;
	double top_payoff; /* the highest seen: the best one is as good but for rounding */
	unsigned nlanes;
	struct lane *lanes;
	/* by lane and d: the fewest workers of that duration, the largest level below, count /
	 * level */
	int64_t *fewest;
	unsigned *until; /* by the same: the longest duration of as many workers */
	unsigned *first; /* by lane and number of a count: its shortest duration, ascending */
	uint8_t *level_of;
	uint8_t *lasts; /* by the same: marked as a duration that some PS type gives */
	bool marked;    /* lasts and the lanes' dense are there */
	double *ratio;
	double *bound;       /* by lane, slot index and level: dps_sums() */
	double *block;       /* by lane, row of the market and level: cost in that block alone */
	int64_t *block_room; /* by lane and row: no more workers than that fit */
	uint8_t *block_done; /* by lane and row: both are there */
	unsigned *narrow;    /* by lane: slots with less room than any later one, ascending */
	/* dps_rows.c: by type and row of the market, and the stamps of the rows that they are of.
	 */
	struct runs *runs;
	struct singles *singles;
	struct offer (*offers)[TIERS];
	uint64_t *runs_stamp, *singles_stamp, *offers_stamp, *hosts_stamp;
	uint64_t tiers_stamp;                    /* of the empty slots that the tiers are of */
	unsigned all_ready;                      /* slot index from which on all servers are */
	uint8_t *offers_done;                    /* by the same: asked for by this quote */
	struct ps_offer *ps_offers;              /* by tier and row of the market */
	uint8_t *ps_offers_done;                 /* by row: those are there */
	struct ps_offer window_ps[TIERS];        /* of the last window */
	unsigned window_ps_start, window_ps_end; /* its slot indices; end 0: none yet */
	struct window_offers *window_offers;     /* by type: of the last window */
	struct offer_series *series;             /* dps_floor.c */
	unsigned *followed;                      /* by what it is of: slots before that are in it */
	unsigned asked, ruled_out; /* windows whose floors were looked at, and were too high */
	unsigned bounded;          /* those that came after that */
	double serves[TIERS];      /* Mbit/s that PSs on one server exchange at most */
	uint8_t *large; /* by server: it holds more than half of the most workers of a type */
	unsigned nlarge;
	uint32_t *large_list;
	int64_t (*most)[TIERS]; /* by type and tier: how many fit on an empty server at most */
	double *ps_bound;       /* by slot index: cheapest PS of any type (prefix sums) */
	double keep;            /* factor that takes off bounds what rounding may have added */
	double *value;          /* by completion: utility */
	unsigned valued;        /* completions up to that one have theirs */
	unsigned end;           /* completions from here on need not be looked at; 0: not known */
	bool moved;             /* the best one is another since END was found */
	double *least;          /* by completion: lowest bound of a window */
	size_t *tried;          /* by completion: lane and d of the window that was tried first */
	uint64_t *marks; /* by lane and completion: counts whose windows may be the best one */
	/* dps_room.c: by worker type; the stamps of the slots that it is of, and the first slot. */
	struct room *room;
	uint64_t *room_stamp;
	auc_slot room_first;
	size_t room_stride;      /* servers, rounded up */
	int32_t *fit;            /* scratch: by server */
	int16_t *was, *is;       /* scratch: the least that fit, by slot index; see there */
	struct changed *changed; /* scratch: servers; by server, its number there, from 1 */
	uint32_t *changed_at;
	unsigned nchanged;
	unsigned nopen, *open;  /* lanes at hand */
	double *work;           /* by worker type, PS type, placement */
	struct window *windows; /* by type */
	struct filler filler;
	struct reach *reach; /* by worker type */
	unsigned words;      /* of a set of servers */
	uint64_t *hosts;     /* by type and row: the servers where one fits */
	uint8_t *hosts_done; /* by type and row: asked for by this quote */
	uint64_t *common;    /* scratch: a set of servers; rows of a window */
	unsigned *rows;
	uint32_t *ps_servers; /* of the window at hand: that may hold the PSs */
	double *ps_cost;      /* what they cost there at least */
	unsigned *take;       /* by server: workers of the final layout */
	void *memory[64];
	unsigned nmemory;
};

/* dps_memory.c: scratch memory for markets of M's size, made once and kept; frees it. */
enum auc_code auc_dps_make_room(struct auc_policy_ctx *ctx, const struct auc_market *m,
				struct auc_err *err);
void auc_dps_release(struct auc_policy_ctx *ctx);
/*
 * dps_best.c: a schedule that completes at COMPLETION, is worth VALUE and costs the first or more
 * cannot become the best one; one that costs the second or more, and is worth VALUE, never will,
 * whatever else is found. The third is the same of a schedule of which C says what is known, and
 * what is not is as if it were the best: on the fewest servers, the lowest PS server, all workers
 * there.
 */
double auc_dps_limit_of(const struct auc_policy_ctx *ctx, unsigned completion, double value);
double auc_dps_limit_open(const struct auc_policy_ctx *ctx, double value);
double auc_dps_limit_for(const struct auc_policy_ctx *ctx, const struct choice *c);
/* Takes C as the best schedule so far if it is. */
void auc_dps_offer(struct auc_policy_ctx *ctx, const struct choice *c);
/* Adds the lane of one worker type and placement if the job may use it. */
void auc_dps_add_lane(struct auc_policy_ctx *ctx, unsigned worker, bool colocated);
/*
 * dps_lanes.c. Begins with the windows of another completion. A lane that is closed stays closed:
 * bounds of later slots are not needed.
 */
void auc_dps_open_lanes(struct auc_policy_ctx *ctx, unsigned completion);
/* Marks windows for as many workers as count NUMBER of the lane, which end at COMPLETION. */
void auc_dps_mark(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned number);
/* Goes to the first of the marked windows of the open lanes; they are in no order but that of their
 * durations, the shorter first. */
void auc_dps_first_windows(struct auc_policy_ctx *ctx, unsigned completion);
/* The lane of the window that is next, l->next its duration; NULL: none is left. */
struct lane *auc_dps_next_window(struct auc_policy_ctx *ctx);
/* Goes on with the lane's next window: with another number of workers, if those are OUT. */
void auc_dps_pass_window(struct auc_policy_ctx *ctx, struct lane *l, unsigned completion, bool out);
/* Adds the bounds of slot index SLOT, the next one, for the lanes that are open. */
void auc_dps_add_bounds(struct auc_policy_ctx *ctx, unsigned slot);
/* Finds the lanes' floors: what schedules cost at least, at the lowest prices of the slots before
 * END. */
void auc_dps_find_floors(struct auc_policy_ctx *ctx, unsigned end);
/* No schedule that completes at COMPLETION or later has a higher payoff. Completions before BOUNDED
 * have bounds of their own, and up to there value[] is known. */
double auc_dps_upper_from(struct auc_policy_ctx *ctx, unsigned completion, unsigned bounded);
/* What servers offer of PSs of any type, but for ANY, in the block of the market's ROW, which
 * begins at slot index SLOT. */
const struct ps_offer *auc_dps_ps_offers(struct auc_policy_ctx *ctx, unsigned row, unsigned slot);
/*
 * What C costs at least with any PS type, its PSs on a server that offers no more than PS and up to
 * MOST workers beside them at the price of BESIDE, the others at ANY each. BESIDE NULL: the PSs
 * alone.
 */
double auc_dps_exchange_bound(const struct auc_policy_ctx *ctx, const struct choice *c,
			      int64_t most, const struct offer *beside, const struct ps_offer *ps,
			      double any);
/* dps_floor.c: begins with the offers of another quote. How many series there are. */
void auc_dps_start_series(struct auc_policy_ctx *ctx);
size_t auc_dps_nseries(const struct auc_policy_ctx *ctx);
/* What schedules of the window cost at least, as its workers cost WORKERS at least; LIMIT and more
 * need not be told apart. */
double auc_dps_window_floor(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			    unsigned d, double workers, double limit);
/* The block that a walk over slot indices up to END takes next at AT: the largest that begins
 * there. Returns its row of the market, moves AT after it. */
unsigned auc_dps_next_block(const struct auc_market *m, unsigned *at, unsigned end);
/* A better bound than dps_bound_of(): workers change servers at the borders of blocks only. *ROOM:
 * no more workers than that fit. */
double auc_dps_block_bound(struct auc_policy_ctx *ctx, unsigned lane, unsigned start, unsigned end,
			   int64_t *room);
/* What C costs at least, as its workers cost WORKERS at least. */
double auc_dps_type_bound(struct auc_policy_ctx *ctx, const struct choice *c, double workers);
/* True if schedules like C with any PS type and at least as many workers cost LIMIT or more. */
bool auc_dps_all_too_dear(struct auc_policy_ctx *ctx, const struct choice *c, double workers,
			  double limit);
/* dps_windows.c: what TYPE finds in the window of D slots; holds until TYPE's next window. */
const struct window *auc_dps_window(struct auc_policy_ctx *ctx, unsigned type, unsigned completion,
				    unsigned d);
/* The same without the servers that cost LIMIT or more, most of which are not looked at. */
const struct window *auc_dps_window_below(struct auc_policy_ctx *ctx, unsigned type,
					  unsigned completion, unsigned d, double limit);
/* Begins with the servers of a window, none taken yet. */
void auc_dps_start_filler(struct auc_policy_ctx *ctx, unsigned worker, unsigned completion,
			  unsigned d);
/* Takes servers until they hold N workers; false if all together do not. */
bool auc_dps_fill(struct filler *f, int64_t n);
/*
 * What N workers cost at least with none on server WITHOUT (UINT32_MAX: any), INFINITY if they do
 * not fit; *NSERVERS (may be NULL) is on how many servers they are. If WITHOUT is among the servers
 * used, its place is taken by the next ones.
 */
double auc_dps_fill_cost(struct filler *f, int64_t n, unsigned without, unsigned *nservers);
/* Workers on servers cheaper than SUM, as far as servers are taken: the others cost no less. */
int64_t auc_dps_cheaper_than(const struct filler *f, double sum);
/* dps_room.c: brings what is kept up to date with the market. */
void auc_dps_start_room(struct auc_policy_ctx *ctx);
/*
 * dps_reach.c: what the fewest workers of LANE cost in the window, but for rounding, where they
 * stay on their servers all of it; INFINITY: they do not fit. *ROOM: then so many do, and no more
 * do in longer windows with this completion. Quick for windows that end at one completion, the
 * shorter first.
 */
double auc_dps_reach(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned d,
		     int64_t *room);
/*
 * dps_rows.c: begins with another quote, whose job and ready servers are known.
 */
void auc_dps_start_rows(struct auc_policy_ctx *ctx);
/* What the market's ROW, the block that begins at slot index SLOT, has of workers of a type; what
 * its servers offer of TYPE, by tier; and one bit for each of them that can host it. */
const struct runs *auc_dps_runs(struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
				unsigned slot);
const struct singles *auc_dps_singles(struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
				      unsigned slot);
const struct offer *auc_dps_offers(struct auc_policy_ctx *ctx, unsigned type, unsigned row,
				   unsigned slot);
const uint64_t *auc_dps_hosts(struct auc_policy_ctx *ctx, unsigned type, unsigned row);

/* True if large servers are so few that each is looked at by itself. */
static inline bool dps_lists_large(const struct auc_policy_ctx *ctx)
{
	return ctx->nlarge < ctx->nservers / 8;
}

static inline bool dps_is_spent(const struct auc_policy_ctx *ctx)
{
	return ctx->steps > ctx->limit;
}

static inline double *dps_work_of(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps,
				  bool colocated)
{
	return &ctx->work[(worker * ctx->nps + ps) * 2 + colocated];
}

/* False: no PS type gives the lane that duration. */
static inline bool dps_may_last(const struct auc_policy_ctx *ctx, unsigned lane, unsigned d)
{
	return !ctx->marked || d <= ctx->lanes[lane].dense ||
	       ctx->lasts[(size_t)lane * (ctx->slots + 1) + d];
}

/* The shortest duration from D on for as many workers that some PS type gives; 0: none. */
static inline unsigned dps_lasting(const struct auc_policy_ctx *ctx, unsigned lane, unsigned d)
{
	unsigned until = ctx->until[(size_t)lane * (ctx->slots + 1) + d];

	while (d <= until && !dps_may_last(ctx, lane, d))
		d++;
	return d <= until ? d : 0;
}

/* What a lane's levels cost at least in the slots before SLOT: prefix sums. */
static inline double *dps_sums(const struct auc_policy_ctx *ctx, unsigned lane, unsigned slot)
{
	return ctx->bound + ((size_t)lane * (ctx->slots + 1) + slot) * ctx->levels;
}

/* What the fewest workers of a lane cost at least in the window; of as many workers a longer one
 * costs no less. */
static inline double dps_bound_of(const struct auc_policy_ctx *ctx, unsigned lane,
				  unsigned completion, unsigned d)
{
	size_t at = (size_t)lane * (ctx->slots + 1) + d;
	const double *sums = dps_sums(ctx, lane, completion) + ctx->level_of[at];

	return (*sums * ctx->keep - sums[-(ptrdiff_t)(d * ctx->levels)]) * ctx->ratio[at];
}

/* What one PS of any type costs at least in the window. */
static inline double dps_least_ps(const struct auc_policy_ctx *ctx, unsigned completion, unsigned d)
{
	double ps = ctx->ps_bound[completion] * ctx->keep - ctx->ps_bound[completion - d];

	return ps > 0 ? ps : 0;
}

/* The windows that end at COMPLETION, by their first slot, of which the last is completion - 1. */
static inline int32_t *dps_rooms(const struct room *room, unsigned completion)
{
	return room->windows + (size_t)(completion - 1) * DPS_ROOM;
}

/* No more workers fit in the window of D slots of those ROOMS; INT64_MAX: it is not known. */
static inline int64_t dps_room_of(const int32_t *rooms, unsigned d)
{
	int32_t room = rooms[DPS_ROOM - (d < DPS_ROOM ? d : DPS_ROOM)];

	return room < DPS_ROOM_MOST ? room : INT64_MAX;
}

#endif
