/*
 * books.h - the checker's own books: what is used, what it costs by policies dps and oasis, how
 * fast a job runs. Written from the formats and the paper, over the scenario alone, so that it
 * shares no mistake with libauction's market.
 */
#ifndef SIM_BOOKS_H
#define SIM_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "auctionsim/scenario/scenario.h"

struct books;

/* Books of S with its state booked; NULL: no memory. Free with books_close(). */
struct books *books_open(const struct scenario *s);
void books_close(struct books *b);

/* Whose prices are asked for. */
enum books_policy { BOOKS_DPS, BOOKS_OASIS, BOOKS_ERIS };
/* Prices are those the scenario asks for, for a policy that sells by them; without this call all
 * are 0. False: no memory. */
bool books_set_prices(struct books *b, enum books_policy policy);
/* Remembers what JOB, which has been decided, says about prices, where they are learned. */
void books_learn(struct books *b, const struct scenario_job *job);

/* A type that JOB may use, own or of the scenario, by name; NULL. *SECONDS is its time. */
const struct scenario_type *books_worker_type(const struct books *b, const struct scenario_job *job,
					      const char *name, double *seconds);
const struct scenario_type *books_ps_type(const struct books *b, const struct scenario_job *job,
					  const char *name, double *seconds);
/* A type that a job may use, by its index: common ones, then its own. */
const struct scenario_type *books_type(const struct scenario_type *common, unsigned ncommon,
				       const struct scenario_type *own, unsigned index);

/* A node of a gang, as if it were a type; its TRES are SHAPE's. */
struct scenario_type books_node(const struct scenario_shape *shape);

/* The TRES of the servers: their number, the index of one or -1, and how much a server has. */
unsigned books_ntres(const struct books *b);
int books_tres(const struct books *b, const char *name);
long double books_capacity(const struct books *b, unsigned server, unsigned tres);
/* What TYPE takes of a TRES; an amount as it is counted, in whole steps. */
long double books_amount(const struct books *b, const struct scenario_type *type, unsigned tres);
long double books_counted(const struct books *b, unsigned tres, double amount);
/* How many of TYPE an empty SERVER holds. */
long double books_fit(const struct books *b, const struct scenario_type *type, unsigned role,
		      unsigned server);

/* What COUNT of TYPE on SERVER cost in slots FROM to TO, all within the horizon. */
long double books_cost(const struct books *b, const struct scenario_type *type, unsigned server,
		       uint64_t from, uint64_t to, uint64_t count);
/*
 * Books them. Returns the first TRES that is then over its server's capacity, in slot *SLOT, or
 * NULL.
 */
const char *books_add(struct books *b, const struct scenario_type *type, unsigned server,
		      uint64_t from, uint64_t to, uint64_t count, uint64_t *slot);

/* Takes them out again. */
void books_remove(struct books *b, const struct scenario_type *type, unsigned server, uint64_t from,
		  uint64_t to, uint64_t count);

/* What MB cost in a slot, where all servers together may send some; sends them. False: that is over
 * the budget. */
long double books_traffic_cost(const struct books *b, uint64_t slot, long double mb);
bool books_traffic(struct books *b, uint64_t slot, long double mb);

/* From now on prices are given; a unit of TRES costs PRICE there. */
void books_give_price(struct books *b, unsigned server, const char *tres, uint64_t slot,
		      double price);
/* How much of TRES is left there. */
long double books_left(const struct books *b, unsigned server, const char *tres, uint64_t slot);
/*
 * How many of TYPE, in ROLE, fit on SERVER all the time from slot FROM to TO, beside COUNT of
 * BESIDE (NULL: none).
 */
long double books_room(const struct books *b, const struct scenario_type *type, unsigned role,
		       unsigned server, uint64_t from, uint64_t to,
		       const struct scenario_type *beside, uint64_t count);

/* Ceiling and floor of x >= 0: within 1e-9 (relative) of an integer counts as it. */
long double books_ceil(long double x);
long double books_floor(long double x);
/* Worker-slots of all of JOB's work. */
long double books_work(const struct books *b, const struct scenario_job *job,
		       const struct scenario_type *worker, double worker_seconds, double ps_seconds,
		       bool colocated);
/* Slots that N workers need. */
long double books_duration(long double work, long double n);
/* PSs for ELSEWHERE workers on other servers. */
long double books_ps(const struct scenario_type *worker, const struct scenario_type *ps,
		     long double elsewhere);
/* f(x) as formats.md prints it. */
long double books_value(const struct auc_utility *u, long double x);

#endif
