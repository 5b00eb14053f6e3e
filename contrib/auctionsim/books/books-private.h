/*
 * books-private.h - the inside of the checker's books, for books.c and books_bounds.c, which works
 * out the prices of policy oasis.
 */
#ifndef SIM_BOOKS_PRIVATE_H
#define SIM_BOOKS_PRIVATE_H

#include "auctionsim/books/books.h"

#define TRES_MAX 64 /* different TRES in one scenario */

struct books_packing;

struct books {
	const struct scenario *s;
	unsigned ntres;
	const char *tres[TRES_MAX];
	double steps[TRES_MAX]; /* in which each is counted, in an amount of 1 */
	long double *capacity;  /* by server and TRES */
	long double *used;      /* by server, TRES and slot */
	long double *given;     /* the same: prices of mode given; NULL: those of a function */
	bool bounded;           /* it is policy oasis's, else dps's */
	long double eta[TRES_MAX];
	/* ln L and ln U by role: workers, PSs; -INFINITY: 0 */
	long double lower[2][TRES_MAX], upper[2][TRES_MAX];
	/* transfer, by slot: MB, prices of mode given; and its function */
	long double *sent, *send_price, send_eta, send_lower[2], send_upper[2];
	bool sites;                    /* prices are those of policy eris */
	struct books_packing *packing; /* what the jobs so far said about them */
};

/* What is sent: memory (false: none), prices; and what JOB says about eris's bases. */
bool books_open_traffic(struct books *b);
void books_set_traffic(struct books *b);
void books_raise_sites(struct books *b, const struct scenario_job *job);
/* Policy oasis: the bounds that the scenario asks for; a job has been decided; the price of a TRES,
 * X of which is used. */
bool books_set_bounds(struct books *b);
void books_learn_bounds(struct books *b, const struct scenario_job *job);
long double books_bounded_price(const struct books *b, unsigned server, unsigned tres,
				long double x);
/* ln L and ln U that mode bounds gives a TRES for a role, 0: workers, 1: PSs. They are a pair: of a
 * TRES that stands under the role neither is taken from above both roles. */
void books_named_bounds(const struct scenario *s, const char *name, unsigned role,
			long double *lower, long double *upper);
/* By ln L and ln U by role: the price of what there is on servers of ROLES, X of which is used. */
long double books_curve(const long double lower[2], const long double upper[2], unsigned roles,
			long double x);
void books_free_packing(struct books_packing *p);

#endif
