/*
 * books_traffic.c - the checker's own reckoning of what servers send each other (policy eris), see
 * books-private.h: the budget of a slot, its price, and bases estimated as common/market/price.h
 * says.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/books/books-private.h"

#define NAME "transfer"

static void enter(const struct books *b, long double *slots, const struct scenario_entry *e,
		  bool add);

bool books_open_traffic(struct books *b)
{
	unsigned i;

	b->sent = calloc(b->s->slots + 1, sizeof(*b->sent));
	b->send_price = calloc(b->s->slots + 1, sizeof(*b->send_price));
	b->send_eta = 1;
	for (i = 0; i < b->s->nstate && b->sent; i++)
		enter(b, b->sent, &b->s->state[i], true);
	return b->sent && b->send_price;
}

void books_set_traffic(struct books *b)
{
	const struct scenario *s = b->s;
	unsigned i;

	for (i = 0; i < s->nvalues; i++)
		enter(b, b->send_price, &s->values[i], false);
	for (i = 0; i < s->eta.n; i++)
		if (!strcmp(s->eta.list[i].name, NAME))
			b->send_eta = s->eta.list[i].value;
	for (i = 0; i < 2; i++)
		books_named_bounds(s, NAME, i, &b->send_lower[i], &b->send_upper[i]);
	for (i = 0; i < s->njobs && b->sites && s->prices == SCENARIO_PRICES_OFFLINE; i++)
		books_raise_sites(b, &s->jobs[i]);
}

long double books_traffic_cost(const struct books *b, uint64_t slot, long double mb)
{
	long double budget = b->s->transfer_mb_per_slot, x;

	if (budget < 0)
		return b->given ? b->send_price[slot - 1] * mb : 0;
	if (b->given)
		return b->send_price[slot - 1] * mb;
	if (budget == 0)
		return 0;
	x = b->sent[slot - 1] / budget;
	if (b->bounded)
		return mb *
		       books_curve(b->send_lower, b->send_upper, AUC_ROLE_WORKER | AUC_ROLE_PS, x);
	return x > 0 ? (powl(b->send_eta, x) - 1) * mb : 0;
}

bool books_traffic(struct books *b, uint64_t slot, long double mb)
{
	b->sent[slot - 1] += mb;
	/* bytes are whole: less than half of one is rounding */
	return b->s->transfer_mb_per_slot < 0 ||
	       b->sent[slot - 1] <= b->s->transfer_mb_per_slot + 4e-7L;
}

void books_raise_sites(struct books *b, const struct scenario_job *job)
{
	long double value = books_value(&job->utility, 1), units, mb, n;
	unsigned w, p, k, nw = b->s->nworker_types + job->nworker_types;
	unsigned np = b->s->nps_types + job->nps_types;
	const struct scenario_type *worker, *ps;
	double seconds;

	n = books_ceil((long double)job->epochs * job->chunks / job->chunks_per_slot);
	for (w = 0; w < nw; w++) {
		worker = books_type(b->s->worker_types, b->s->nworker_types, job->worker_types, w);
		if (!books_worker_type(b, job, worker->name, &seconds))
			continue;
		for (p = 0; p < np; p++) {
			ps = books_type(b->s->ps_types, b->s->nps_types, job->ps_types, p);
			if (!books_ps_type(b, job, ps->name, &seconds))
				continue;
			for (k = 0; k < b->ntres; k++) {
				units = n * books_amount(b, worker, k) + books_amount(b, ps, k);
				if (units > 0)
					b->eta[k] = fmaxl(b->eta[k], value / units + 1);
			}
		}
	}
	mb = n * job->exchange_mb_per_slot;
	if (!(mb > 0))
		mb = (long double)job->chunks * job->chunk_mb;
	if (mb > 0)
		b->send_eta = fmaxl(b->send_eta, value / mb + 1);
}

static void enter(const struct books *b, long double *slots, const struct scenario_entry *e,
		  bool add)
{
	uint64_t t;

	if (e->server != SCENARIO_ANY_SERVER)
		return;
	for (t = e->from; t <= e->to && t <= b->s->slots; t++)
		slots[t - 1] = add ? slots[t - 1] + e->amount : e->amount;
}
