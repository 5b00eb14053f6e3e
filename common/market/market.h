/*
 * market.h - what there is to sell and what is sold: servers, TRES, worker and PS types, and a
 * timeline of slots over a rolling horizon.
 *
 * Slots are absolute numbers. The market covers [first, first + slots - 1]; auc_market_advance()
 * moves the window. In the simulator first is 1 and never moves; in the controller slot n is [n,
 * n+1) * slot_seconds of Unix time.
 *
 * Amounts of TRES are integers in the market: each TRES has a decimal scale 10^k, chosen from the
 * capacities so that every capacity times the scale is exact in a double (k = 9 unless the amounts
 * are huge). 3 x 0.1 GPU fill 0.3 GPU.
 *
 * Not thread-safe: auction.h locks around it. Quotes allocate nothing after the first.
 */
#ifndef AUC_MARKET_H
#define AUC_MARKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/named.h"
#include "market/price.h"
#include "market/utility.h"

typedef int64_t auc_slot;

/* Slots as Unix time: the slot that NOW is in, and the first that begins at or after it. */
auc_slot auc_slot_of(double now, double slot_seconds);
auc_slot auc_slot_from(double now, double slot_seconds);

#define AUC_ROLE_WORKER 1u
#define AUC_ROLE_PS     2u

struct auc_market; /* opaque outside market.c, price.c and policy/: see timeline.h */

/* An empty market of SLOTS (1..AUC_SLOTS_MAX) slots from FIRST on. NULL: no memory. */
struct auc_market *auc_market_create(unsigned slots, double slot_seconds, auc_slot first);
void auc_market_destroy(struct auc_market *m);
/* The same market once more, bookings and prices included; FROM must be ready. NULL: no memory. */
struct auc_market *auc_market_clone(const struct auc_market *from);
/* One of the same servers, types and closed times, with nothing booked, of SLOTS slots from FIRST
 * on. */
struct auc_market *auc_market_outline(const struct auc_market *from, auc_slot first,
				      unsigned slots);

/*
 * Filling it, before auc_market_ready(). Names are unique within their kind (AUC_EEXIST), amounts
 * finite and >= 0. A server's GROUP names its site or partition for uploads and printing ("edge");
 * CLOUD marks the cloud; UPLOAD_DEFAULT is Delta in slots for bids that name neither the server nor
 * its group.
 */
enum auc_code auc_market_add_server(struct auc_market *m, const char *name, const char *group,
				    bool cloud, unsigned roles, double upload_default,
				    const struct auc_named *capacity, unsigned ncapacity,
				    struct auc_err *err);
/*
 * A server that is all of the last N (at least 1) that were added together, which host nothing any
 * more but as parts of it: it has the sum of their TRES, their group, site and upload. What is
 * booked on a part is booked on the whole, too, whose prices hold for both. A plan that names the
 * whole becomes one of its parts by auc_plan_spread().
 */
enum auc_code auc_market_add_whole(struct auc_market *m, const char *name, unsigned n,
				   struct auc_err *err);
/* Index of the server that SERVER is a part of, or -1; true if SERVER has parts. */
int auc_market_whole(const struct auc_market *m, unsigned server);
bool auc_market_is_whole(const struct auc_market *m, unsigned server);
/* The bandwidth at which data get to the server that was added last, in Mbit/s; 0: not known. */
void auc_market_set_bandwidth(struct auc_market *m, double mbps);
/*
 * What a unit of each TRES of the server that was added last costs its owner, in credits per hour:
 * the floor of its prices, learned or given. A TRES that the server does not have costs nothing.
 * AUC_EINVAL: a cost is below 0 or too high.
 */
enum auc_code auc_market_set_cost(struct auc_market *m, const struct auc_named *cost,
				  unsigned ncost, struct auc_err *err);
/*
 * What it costs in each hour of the day (UTC), the one in which a slot begins, as factors of that.
 * AUC_EINVAL: below 0 or too high.
 */
#define AUC_DAY_HOURS  24
#define AUC_HOUR_LIMIT 1000.0
enum auc_code auc_market_set_cost_hours(struct auc_market *m, const double hour[AUC_DAY_HOURS],
					struct auc_err *err);
/* The seconds after midnight at which slot 0 begins, where slots do not count from 1970: 0 to less
 * than a day. */
void auc_market_set_clock(struct auc_market *m, double seconds);
/* The leaf switch of the server that was added last, by name; without this call it has none.
 * AUC_EINVAL: no name. */
enum auc_code auc_market_set_switch(struct auc_market *m, const char *name, struct auc_err *err);
/*
 * What the server that was added last says of itself, "gpu,ib,a100"; without this call nothing.
 * AUC_EINVAL: longer than AUC_FEATURES_MAX - 1 bytes.
 */
enum auc_code auc_market_set_features(struct auc_market *m, const char *features,
				      struct auc_err *err);
const char *auc_market_features(const struct auc_market *m, unsigned server);
/* Servers of one number are on one switch; 0: on none. */
unsigned auc_market_switch(const struct auc_market *m, unsigned server);
enum auc_code auc_market_add_worker_type(struct auc_market *m, const char *name,
					 const struct auc_named *tres, unsigned ntres,
					 double bandwidth_mbps, struct auc_err *err);
enum auc_code auc_market_add_ps_type(struct auc_market *m, const char *name,
				     const struct auc_named *tres, unsigned ntres,
				     double bandwidth_mbps, struct auc_err *err);
/*
 * A worker type (PS: a PS type) as it was once sold, for sales that outlive it: booked and printed
 * like any other, but no bid can name it. There may be another type of that name. Nothing happens
 * if this one is there, with the same amounts.
 */
enum auc_code auc_market_keep_type(struct auc_market *m, bool ps, const char *name,
				   const struct auc_named *tres, unsigned ntres,
				   struct auc_err *err);
/* Index of the type of that name and those amounts, or -1. */
int auc_market_match_type(const struct auc_market *m, bool ps, const char *name,
			  const struct auc_named *tres, unsigned ntres);
/*
 * What all servers together may send each other in a slot, in MB (10^6 bytes); without it there is
 * no limit and no price. A plan with chunks to move, or with an exchange between PS and workers,
 * sends; nothing else does.
 */
#define AUC_TRANSFER   "transfer" /* its name among prices */
#define AUC_ANY_SERVER UINT32_MAX
enum auc_code auc_market_set_traffic(struct auc_market *m, double mb, struct auc_err *err);
double auc_market_traffic_budget(const struct auc_market *m); /* MB in a slot; INFINITY: no limit */
double auc_market_traffic_used(const struct auc_market *m, auc_slot t);
double auc_market_traffic_price(const struct auc_market *m, auc_slot t); /* credits per MB */
/* As auc_market_reserve(). */
enum auc_code auc_market_reserve_traffic(struct auc_market *m, auc_slot from, auc_slot to,
					 double mb, struct auc_err *err);
/* No job but gangs will be asked for: what searches for other jobs look up is not kept, which makes
 * bookings and new prices several times faster. */
void auc_market_gangs_only(struct auc_market *m);
/* Freezes the lists, fixes scales, lays out the timeline. A type may use TRES that no server has
 * (it never fits). */
enum auc_code auc_market_ready(struct auc_market *m, const struct auc_price *price,
			       struct auc_err *err);

/* Size and names. Indices are in the order of adding. */
unsigned auc_market_nservers(const struct auc_market *m);
unsigned auc_market_nworker_types(const struct auc_market *m);
unsigned auc_market_nps_types(const struct auc_market *m);
unsigned auc_market_ntres(const struct auc_market *m);
const char *auc_market_server_name(const struct auc_market *m, unsigned server);
const char *auc_market_server_group(const struct auc_market *m, unsigned server);
const char *auc_market_worker_type_name(const struct auc_market *m, unsigned type);
const char *auc_market_ps_type_name(const struct auc_market *m, unsigned type);
const char *auc_market_tres_name(const struct auc_market *m, unsigned tres);
/* Index of a name, or -1; of types of one name the one that bids mean, else the first. */
int auc_market_find_server(const struct auc_market *m, const char *name);
int auc_market_find_worker_type(const struct auc_market *m, const char *name);
int auc_market_find_ps_type(const struct auc_market *m, const char *name);
int auc_market_find_tres(const struct auc_market *m, const char *name);
auc_slot auc_market_first(const struct auc_market *m);
auc_slot auc_market_last(const struct auc_market *m);
double auc_market_slot_seconds(const struct auc_market *m);

/* Amounts as doubles (exact multiples of the TRES's scale). Outside the window: used 0. */
double auc_market_capacity(const struct auc_market *m, unsigned server, unsigned tres);
double auc_market_used(const struct auc_market *m, unsigned server, unsigned tres, auc_slot t);
/* Unit price of a TRES there and then, in credits per unit and slot. */
double auc_market_price(const struct auc_market *m, unsigned server, unsigned tres, auc_slot t);
/* Amount of a TRES in one worker (PS) of a type. */
double auc_market_worker_amount(const struct auc_market *m, unsigned type, unsigned tres);
double auc_market_ps_amount(const struct auc_market *m, unsigned type, unsigned tres);

struct auc_plan;

/*
 * Books (takes) what PLAN uses in the slots of [FROM, TO] that are in the window; AUC_EFULL and
 * nothing booked if any (server, TRES, slot) would exceed its capacity. Unbooking gives back
 * exactly what was booked; AUC_ESTATE and nothing changed if less than that is in use. Slots of the
 * past are ignored by both.
 */
enum auc_code auc_market_book(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			      auc_slot to, struct auc_err *err);
enum auc_code auc_market_unbook(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
				auc_slot to, struct auc_err *err);
/* Books (or unbooks) what PLAN sends in slots of its runs in [FROM, TO], and nothing else of it.
 * AUC_EFULL, AUC_ESTATE as above. */
enum auc_code auc_market_book_traffic(struct auc_market *m, const struct auc_plan *plan,
				      auc_slot from, auc_slot to, bool book, struct auc_err *err);
/* AUC_OK if all of PLAN could be booked as something new: in the window, on servers that host such
 * and are not closed then. AUC_EFULL. */
enum auc_code auc_market_has_room(const struct auc_market *m, const struct auc_plan *plan,
				  struct auc_err *err);
/* Sets aside AMOUNT of one TRES on one server in [FROM, TO] (a scenario's "state", a drained node).
 */
enum auc_code auc_market_reserve(struct auc_market *m, unsigned server, unsigned tres,
				 auc_slot from, auc_slot to, double amount, struct auc_err *err);
/*
 * From begin to end bookings count, but prices and what fits are those of before: many at once take
 * a fraction of the time. Nothing is quoted in between.
 */
void auc_market_begin_bulk(struct auc_market *m);
void auc_market_end_bulk(struct auc_market *m);
/*
 * SERVER has CAPACITY from now on; bookings stay, and prices follow. AUC_ESTATE: the market has to
 * be made anew for that, because a TRES is new in it or would be counted in other units, SERVER is
 * a part or a whole, or M is in bulk; AUC_EFULL: more than that is booked; AUC_ENOMEM. Nothing has
 * changed then.
 */
enum auc_code auc_market_set_capacity(struct auc_market *m, unsigned server,
				      const struct auc_named *capacity, unsigned ncapacity,
				      struct auc_err *err);
/* What a server may host, and ROLES, by server, from now on; what is booked stays booked. */
unsigned auc_market_roles(const struct auc_market *m, unsigned server);
/* The same, or what it may host as a part of a whole. */
unsigned auc_market_hosts(const struct auc_market *m, unsigned server);
/* Those of a part are of it as a part; a whole hosts what any of its parts does. */
void auc_market_set_roles(struct auc_market *m, const unsigned *roles);
/* Slots in which a server takes nothing more; what is booked there stays booked, at the prices that
 * it has. */
struct auc_closure {
	unsigned server;
	auc_slot from, to;
};
/* From now on LIST is closed, also in slots that come into the window, and nothing else.
 * AUC_ENOENT, AUC_ENOMEM. */
enum auc_code auc_market_close(struct auc_market *m, const struct auc_closure *list, size_t n,
			       struct auc_err *err);
/* Booking does not ask: what was sold before may stay. */
bool auc_market_is_closed(const struct auc_market *m, unsigned server, auc_slot t);
/* Counts how often a server got more room than it had: by an unbooking, capacity, a role, or the
 * end of a closure. */
uint64_t auc_market_frees(const struct auc_market *m);
/* Moves the window to start at FIRST (never backwards; a no-op then). New slots are empty. */
void auc_market_advance(struct auc_market *m, auc_slot first);
/* Takes new price parameters; prices of all slots follow. */
enum auc_code auc_market_set_price(struct auc_market *m, const struct auc_price *price,
				   struct auc_err *err);
/* A unit price that is given, not computed: of TRES on SERVER in [FROM, TO]. */
struct auc_given_price {
	unsigned server, tres; /* server AUC_ANY_SERVER: of a MB of transfer */
	auc_slot from, to;
	double price; /* credits per unit and slot, 0 to 1e15 */
};
/*
 * From now on unit prices are those of LIST[N], 0 where it has none; where two overlap the later
 * one holds. Bookings do not change them. All slots that come into the window have the prices that
 * LIST has for the first slot after it. auc_market_set_price() goes back to computed prices.
 */
enum auc_code auc_market_give_prices(struct auc_market *m, const struct auc_given_price *list,
				     size_t n, struct auc_err *err);
/*
 * Makes M's bookings and prices those of FROM, a market with the same servers and window; types may
 * differ. AUC_ESTATE if it is not.
 */
enum auc_code auc_market_copy_state(struct auc_market *m, const struct auc_market *from,
				    struct auc_err *err);
/* True if no (server, TRES, slot) is used beyond its capacity and none is negative: what tests ask
 * after every step. */
bool auc_market_sound(const struct auc_market *m);

/* Chunks that lie at a server. */
struct auc_data {
	unsigned server;
	uint64_t chunks;
};

/*
 * One way in which a gang may run: NODES different servers each give AMOUNT in the same slots, for
 * SECONDS.
 */
struct auc_shape {
	double amount[AUC_TRES_MAX]; /* by TRES; exact multiples of what the market counts */
	int64_t units[AUC_TRES_MAX]; /* the same as the market counts it */
	bool never;                  /* it asks for a TRES that no server has */
	unsigned nodes;              /* at least 1 */
	double seconds;              /* above 0 */
};

/* A bid resolved against a market: dense arrays by index, ready for a policy. */
struct auc_job {
	auc_slot arrival; /* r_j: first slot it may use */
	struct auc_utility utility;
	uint64_t epochs, chunks, minibatches;
	double gradient_mb;
	uint64_t workers,
		ps; /* counts that the owner fixed, for policies that do not choose them; 0: none */
	double compute_seconds; /* computing of one epoch with these counts; 0: as the seconds of a
				   mini-batch say */
	double worker_seconds[AUC_TYPES_MAX]; /* by worker type index; < 0: not allowed */
	double ps_seconds[AUC_TYPES_MAX];     /* by PS type index; < 0: not allowed */
	double chunk_mb; /* what a chunk takes of the TRES "storage" where it lies */
	/* What policy eris asks of a job; ndata 0: it says nothing of it. */
	double exchange_mb; /* lambda: what a worker away from the PS sends and gets in a slot */
	double chunks_per_slot; /* P: chunks a worker passes through in a slot, for one epoch; 0:
				   both follow from the seconds of a mini-batch and gradient_mb */
	unsigned ndata;         /* where its chunks lie */
	struct auc_data *data;  /* ascending server; malloc'd */
	unsigned data_alloc;
	bool guaranteed;  /* false: it runs on what nobody else needs */
	unsigned *upload; /* Delta_js by server, whole slots, UINT32_MAX never;
			     malloc'd, nservers long */
	unsigned upload_alloc;
	/*
	 * A gang has shapes, and nothing of what is above but arrival, utility and upload; nshapes
	 * 0: the job is none.
	 */
	unsigned nshapes, shapes_alloc;
	struct auc_shape *shapes; /* malloc'd */
	bool within_switch;       /* all its servers are on one switch */
	bool whole;               /* its shapes are all that a server has, of servers like that */
	bool limited;             /* no schedule may cost more than BUDGET, in credits */
	double budget;
};

/* True if since auc_market_frees() was SEEN a server got room that is not too small for a worker, a
 * PS or a node of JOB when it is empty. */
bool auc_job_may_gain(const struct auc_market *m, const struct auc_job *job, uint64_t seen);
/* Frees what JOB holds and zeroes it. */
void auc_job_clear(struct auc_job *job);
/* JOB as if all that it does took FACTOR times as long. */
void auc_job_stretch(struct auc_job *job, double factor);
/* *TO, not used before, becomes FROM, of a market of NSERVERS, without its data. AUC_ENOMEM. */
enum auc_code auc_job_copy(struct auc_job *to, const struct auc_job *from, unsigned nservers,
			   struct auc_err *err);
/*
 * Adds a shape of PER_NODE[N] to JOB, as its last one. AUC_EINVAL: more than AUC_SHAPES_MAX of
 * them, nodes or seconds out of range, no amount above 0, one named twice or not countable in M.
 */
enum auc_code auc_job_add_shape(const struct auc_market *m, struct auc_job *job,
				const struct auc_named *per_node, unsigned n, uint64_t nodes,
				double seconds, struct auc_err *err);
/* True if SERVER, with nothing sold, could be a node of SHAPE, one of JOB's: where JOB is of whole
 * servers, if it has just that. */
bool auc_shape_holds(const struct auc_market *m, unsigned server, const struct auc_job *job,
		     const struct auc_shape *shape);
/* True if some shape of JOB fits an empty market, whenever that is. */
bool auc_job_fits_empty(const struct auc_market *m, const struct auc_job *job);
/* Slots that SHAPE takes in M: at least 1; INT64_MAX: beyond counting. */
int64_t auc_shape_slots(const struct auc_market *m, const struct auc_shape *shape);
/*
 * AMOUNT[] by TRES and the same as M counts it, from PER_NODE[N]. *NEVER: M has none of some TRES
 * that is asked for; amounts of that are left out. AUC_EINVAL as above.
 */
enum auc_code auc_market_amounts(const struct auc_market *m, const struct auc_named *per_node,
				 unsigned n, double *amount, int64_t *units, bool *never,
				 struct auc_err *err);

#endif
