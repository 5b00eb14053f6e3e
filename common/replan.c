/* replan.c - a plan that goes on without a server that it was to have (replan.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auction-private.h"
#include "market-private.h"
#include "replan.h"

#define CHECKS_MAX 100000 /* of a server in a slot: some milliseconds, in which bids wait */

struct search {
	const struct auc_market *m;
	const struct auc_plan *plan;
	unsigned server; /* to do without */
	auc_slot from;
	unsigned later;
	const unsigned *upload;
	bool back;   /* SERVER is only closed: it may be had in other slots */
	long checks; /* that are left */
	int prefer;  /* a server that can take all that SERVER was to give; -1: there is none */
	struct auc_share *shares; /* of the run in hand */
	unsigned nshares;
};

static int find_one_for_all(struct search *s);
static enum auc_code add_run(struct search *s, const struct auc_run *run, auc_slot from,
			     auc_slot to, struct auc_plan *made, struct auc_err *err);
static enum auc_code copy_run(struct search *s, const struct auc_run *run, auc_slot from,
			      auc_slot to, struct auc_plan *made, struct auc_err *err);
static bool place(struct search *s, const struct auc_share *share, auc_slot from, auc_slot to);
static bool split(struct search *s, const struct auc_share *share, auc_slot from, auc_slot to);
static bool candidate(const struct search *s, unsigned other);
static bool has_room(struct search *s, unsigned other, unsigned workers, unsigned ps, auc_slot from,
		     auc_slot to);
static double own_use(const struct search *s, unsigned other, unsigned tres, auc_slot t);
static bool give(struct search *s, unsigned server, unsigned workers, unsigned ps);
static int by_server(const void *a, const void *b);

enum auc_code auc_plan_without(const struct auc_market *m, const struct auc_plan *plan,
			       unsigned server, auc_slot from, unsigned later,
			       const unsigned *upload, struct auc_plan *made, struct auc_err *err)
{
	struct search s = {.m = m,
			   .plan = plan,
			   .server = server,
			   .from = from,
			   .later = later,
			   .upload = upload,
			   .checks = CHECKS_MAX};
	enum auc_code rc = AUC_OK;

	s.shares = malloc(((size_t)AUC_PARTS_MAX + 1) * sizeof(*s.shares));
	if (!s.shares)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for another plan");
	for (unsigned r = 0; r < plan->nruns && later; r++)
		for (auc_slot t = plan->runs[r].from; t <= plan->runs[r].to; t++)
			s.back |= t >= from && auc_plan_share_on(plan, &plan->runs[r], server) &&
				  auc_market_is_closed(m, server, t);
	s.prefer = find_one_for_all(&s);
	auc_plan_reset(made);
	made->worker_type = plan->worker_type;
	made->ps_type = plan->ps_type;
	made->colocated = plan->colocated;
	made->arrival = plan->arrival;
	made->value = plan->value;
	made->cost = plan->cost;
	for (unsigned r = 0; r < plan->nruns && rc == AUC_OK; r++) {
		const struct auc_run *run = &plan->runs[r];
		auc_slot first = run->from > from ? run->from : from;

		if (run->to < from || (!later && !auc_plan_share_on(plan, run, server))) {
			rc = copy_run(&s, run, run->from, run->to, made, err);
			continue;
		}
		if (run->from < first)
			rc = copy_run(&s, run, run->from, first - 1, made, err);
		if (rc == AUC_OK)
			rc = add_run(&s, run, first + later, run->to + later, made, err);
	}
	free(s.shares);
	if (rc == AUC_OK) {
		made->start = made->runs[0].from;
		made->completion = made->runs[made->nruns - 1].to + 1;
	}
	return rc;
}

const struct auc_share *auc_plan_share_on(const struct auc_plan *plan, const struct auc_run *run,
					  unsigned server)
{
	for (unsigned i = 0; i < run->nshares; i++)
		if (plan->shares[run->first_share + i].server == server)
			return &plan->shares[run->first_share + i];
	return NULL;
}

/* One move is better than many. */
static int find_one_for_all(struct search *s)
{
	const struct auc_plan *p = s->plan;

	for (unsigned other = 0; other < auc_market_nservers(s->m); other++) {
		bool good = candidate(s, other) && other != s->server;

		for (unsigned r = 0; r < p->nruns && good; r++) {
			const struct auc_run *run = &p->runs[r];
			const struct auc_share *share = auc_plan_share_on(p, run, s->server);

			if (run->to < s->from)
				continue;
			if (auc_plan_share_on(p, run, other))
				good = false;
			else if (share)
				good = has_room(s, other, share->workers, share->ps,
						(run->from > s->from ? run->from : s->from) +
							s->later,
						run->to + s->later);
		}
		if (good)
			return (int)other;
	}
	return -1;
}

/* RUN in slots FROM to TO, with others in the place of servers that it cannot have there. */
static enum auc_code add_run(struct search *s, const struct auc_run *run, auc_slot from,
			     auc_slot to, struct auc_plan *made, struct auc_err *err)
{
	const struct auc_share *shares = &s->plan->shares[run->first_share], *end;
	enum auc_code rc;

	end = shares + run->nshares;
	s->nshares = 0;
	/* What stays first, so that nothing else is put there. */
	for (int moves = 0; moves < 2; moves++)
		for (const struct auc_share *h = shares; h < end; h++) {
			bool stays = s->later ? (h->server != s->server || s->back) &&
							has_room(s, h->server, h->workers, h->ps,
								 from, to)
					      : h->server != s->server;
			bool done = true;

			if (stays && !moves)
				done = give(s, h->server, h->workers, h->ps);
			else if (!stays && moves)
				done = place(s, h, from, to);
			if (!done)
				return auc_err_set(err, AUC_EFULL,
						   "no other node of partition %s has room for "
						   "what %s was to give",
						   auc_market_server_group(s->m, h->server),
						   auc_market_server_name(s->m, h->server));
		}
	qsort(s->shares, s->nshares, sizeof(*s->shares), by_server);
	rc = auc_plan_add_run(made, from, to, err);
	for (unsigned i = 0; i < s->nshares && rc == AUC_OK; i++)
		rc = auc_plan_add_share(made, s->shares[i].server, s->shares[i].workers,
					s->shares[i].ps, err);
	return rc;
}

static enum auc_code copy_run(struct search *s, const struct auc_run *run, auc_slot from,
			      auc_slot to, struct auc_plan *made, struct auc_err *err)
{
	enum auc_code rc = auc_plan_add_run(made, from, to, err);

	for (unsigned i = 0; i < run->nshares && rc == AUC_OK; i++) {
		const struct auc_share *h = &s->plan->shares[run->first_share + i];

		rc = auc_plan_add_share(made, h->server, h->workers, h->ps, err);
	}
	return rc;
}

/* SHARE on another server, or on several. */
static bool place(struct search *s, const struct auc_share *share, auc_slot from, auc_slot to)
{
	if (share->server == s->server && s->prefer >= 0 && candidate(s, (unsigned)s->prefer))
		return give(s, (unsigned)s->prefer, share->workers, share->ps);
	for (unsigned other = 0; other < auc_market_nservers(s->m); other++)
		if (candidate(s, other) && has_room(s, other, share->workers, share->ps, from, to))
			return give(s, other, share->workers, share->ps);
	return split(s, share, from, to);
}

/* The PSs stay together, with as many workers as fit beside them; the others fill one server after
 * the other. */
static bool split(struct search *s, const struct auc_share *share, auc_slot from, auc_slot to)
{
	unsigned workers = share->workers, ps = share->ps;

	for (unsigned other = 0; other < auc_market_nservers(s->m) && (workers || ps); other++) {
		unsigned most = 0;

		if (!candidate(s, other) || !has_room(s, other, ps ? 0 : 1, ps, from, to))
			continue;
		while (most < workers && has_room(s, other, most + 1, ps, from, to))
			most++;
		if (!give(s, other, most, ps))
			return false;
		workers -= most;
		ps = 0;
	}
	return !workers && !ps;
}

/* True if OTHER may give what SERVER was to, and gives nothing yet to the run in hand. */
static bool candidate(const struct search *s, unsigned other)
{
	const char *group = auc_market_server_group(s->m, s->server);

	if (other == s->server && !s->back)
		return false;
	if (*group ? strcmp(auc_market_server_group(s->m, other), group) != 0
		   : !s->upload || s->upload[other] > s->from + s->later - s->plan->arrival)
		return false;
	for (unsigned i = 0; i < s->nshares; i++)
		if (s->shares[i].server == other)
			return false;
	return true;
}

/* True if OTHER is up and open and has room beside what others bought. */
static bool has_room(struct search *s, unsigned other, unsigned workers, unsigned ps, auc_slot from,
		     auc_slot to)
{
	const struct auc_market *m = s->m;
	unsigned roles = auc_market_roles(m, other);

	if ((workers && !(roles & AUC_ROLE_WORKER)) || (ps && !(roles & AUC_ROLE_PS)))
		return false;
	for (auc_slot t = from; t <= to; t++) {
		if (--s->checks < 0 || auc_market_is_closed(m, other, t))
			return false;
		for (unsigned k = 0; k < auc_market_ntres(m); k++)
			if (auc_market_used(m, other, k, t) - own_use(s, other, k, t) +
				    workers * auc_market_worker_amount(m, s->plan->worker_type, k) +
				    ps * auc_market_ps_amount(m, s->plan->ps_type, k) >
			    auc_market_capacity(m, other, k))
				return false;
	}
	return true;
}

/* What the plan itself has there, and gives back when it changes. */
static double own_use(const struct search *s, unsigned other, unsigned tres, auc_slot t)
{
	const struct auc_plan *p = s->plan;

	for (unsigned r = 0; r < p->nruns && t >= s->from; r++) {
		const struct auc_share *h;

		if (t < p->runs[r].from || t > p->runs[r].to)
			continue;
		h = auc_plan_share_on(p, &p->runs[r], other);
		return h ? h->workers * auc_market_worker_amount(s->m, p->worker_type, tres) +
				       h->ps * auc_market_ps_amount(s->m, p->ps_type, tres)
			 : 0;
	}
	return 0;
}

static bool give(struct search *s, unsigned server, unsigned workers, unsigned ps)
{
	if (s->nshares >= AUC_PARTS_MAX)
		return false;
	s->shares[s->nshares++] =
		(struct auc_share){.server = server, .workers = workers, .ps = ps};
	return true;
}

static int by_server(const void *a, const void *b)
{
	const struct auc_share *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}
