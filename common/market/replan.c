/* replan.c - see replan.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "market/timeline.h"
#include "market/replan.h"

#define CHECKS_MAX 100000 /* of a server in a slot: some milliseconds, in which bids wait */

struct search {
	const struct auc_market *m;
	const struct auc_plan *plan;
	unsigned server; /* to do without */
	auc_slot from;
	unsigned later;
	const unsigned *upload;
	bool back;   /* SERVER is only closed: it may be had in other slots */
	bool more;   /* what comes from FROM on is not booked yet */
	long checks; /* that are left */
	int prefer;  /* a server that can take all that SERVER was to give; -1: there is none */
	struct auc_share *shares; /* of the run in hand */
	unsigned nshares;
};

static enum auc_code remake(struct search *s, struct auc_plan *made, struct auc_err *err);
static enum auc_code copy_head(const struct auc_plan *plan, struct auc_plan *made,
			       struct auc_err *err);
static enum auc_code spread_run(struct search *s, const struct auc_run *run, struct auc_plan *made,
				struct auc_err *err);
static bool spread(struct search *s, const struct auc_share *share, const struct auc_run *run,
		   const struct auc_plan *made);
static enum auc_code finish_run(struct search *s, auc_slot from, auc_slot to, struct auc_plan *made,
				struct auc_err *err);
static bool is_used(const struct search *s, unsigned server);
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

	for (unsigned r = 0; r < plan->nruns && later; r++)
		for (auc_slot t = plan->runs[r].from; t <= plan->runs[r].to; t++)
			s.back |= t >= from && auc_plan_share_on(plan, &plan->runs[r], server) &&
				  auc_market_is_closed(m, server, t);
	return remake(&s, made, err);
}

enum auc_code auc_plan_later(const struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			     unsigned later, const unsigned *upload, struct auc_plan *made,
			     struct auc_err *err)
{
	struct search s = {.m = m,
			   .plan = plan,
			   .from = from,
			   .later = later,
			   .upload = upload,
			   .back = true,
			   .checks = CHECKS_MAX};

	/* Whichever: it may be had again, and says what group others have to be of. */
	for (unsigned r = plan->nruns; r-- > 0 && plan->runs[r].to >= from;)
		s.server = plan->shares[plan->runs[r].first_share].server;
	return remake(&s, made, err);
}

enum auc_code auc_plan_go_on(const struct auc_market *m, const struct auc_plan *plan,
			     unsigned slots, unsigned later, const unsigned *upload,
			     struct auc_plan *made, struct auc_err *err)
{
	const struct auc_run *last = &plan->runs[plan->nruns - 1];
	struct auc_plan longer;
	struct search s = {.m = m,
			   .plan = &longer,
			   .server = plan->shares[last->first_share].server,
			   .from = plan->completion,
			   .later = later,
			   .upload = upload,
			   .back = true,
			   .more = true,
			   .checks = CHECKS_MAX};
	enum auc_code rc;

	auc_plan_init(&longer);
	rc = auc_plan_copy(&longer, plan, err);
	if (rc == AUC_OK)
		rc = auc_plan_add_run(&longer, plan->completion, plan->completion + slots - 1, err);
	for (unsigned i = 0; i < last->nshares && rc == AUC_OK; i++) {
		const struct auc_share *h = &plan->shares[last->first_share + i];

		rc = auc_plan_add_share(&longer, h->server, h->workers, h->ps, err);
	}
	if (rc == AUC_OK)
		rc = remake(&s, made, err);
	auc_plan_clear(&longer);
	return rc;
}

enum auc_code auc_plan_cut(const struct auc_plan *plan, auc_slot from, auc_slot until,
			   struct auc_plan *made, struct auc_err *err)
{
	struct search s = {.plan = plan};
	enum auc_code rc = copy_head(plan, made, err);

	for (unsigned i = 0; i < plan->nmoves && rc == AUC_OK; i++)
		if (plan->moves[i].slot >= from && plan->moves[i].slot < until)
			rc = auc_err_set(err, AUC_EFULL, "its data moved in slots that are lost");
	for (unsigned r = 0; r < plan->nruns && rc == AUC_OK; r++) {
		const struct auc_run *run = &plan->runs[r];

		if (run->from < from)
			rc = copy_run(&s, run, run->from, run->to < from ? run->to : from - 1, made,
				      err);
		if (rc == AUC_OK && run->to >= until)
			rc = copy_run(&s, run, run->from > until ? run->from : until, run->to, made,
				      err);
		for (auc_slot t = run->from; t <= run->to; t++)
			made->lost += t >= from && t < until;
	}
	if (rc == AUC_OK && plan->completion <= until)
		rc = auc_err_set(err, AUC_EFULL, "all of its slots are lost");
	if (rc == AUC_OK)
		made->start = made->runs[0].from;
	return rc;
}

enum auc_code auc_plan_spread(const struct auc_market *m, const struct auc_plan *plan,
			      struct auc_plan *made, struct auc_err *err)
{
	struct search s = {.m = m, .plan = plan, .from = INT64_MAX, .checks = CHECKS_MAX};
	enum auc_code rc = AUC_OK;

	s.shares = malloc(((size_t)AUC_PARTS_MAX + 1) * sizeof(*s.shares));
	if (!s.shares)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for another plan");
	rc = copy_head(plan, made, err);
	for (unsigned r = 0; r < plan->nruns && rc == AUC_OK; r++)
		rc = spread_run(&s, &plan->runs[r], made, err);
	free(s.shares);
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

/* The plan that S describes. */
static enum auc_code remake(struct search *s, struct auc_plan *made, struct auc_err *err)
{
	const struct auc_plan *plan = s->plan;
	enum auc_code rc;

	if (s->later && plan->nmoves)
		return auc_err_set(err, AUC_EFULL, "its data move in the slots that it has");
	s->shares = malloc(((size_t)AUC_PARTS_MAX + 1) * sizeof(*s->shares));
	if (!s->shares)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for another plan");
	s->prefer = find_one_for_all(s);
	rc = copy_head(plan, made, err);
	for (unsigned r = 0; r < plan->nruns && rc == AUC_OK; r++) {
		const struct auc_run *run = &plan->runs[r];
		auc_slot first = run->from > s->from ? run->from : s->from;

		if (run->to < s->from || (!s->later && !auc_plan_share_on(plan, run, s->server))) {
			rc = copy_run(s, run, run->from, run->to, made, err);
			continue;
		}
		if (run->from < first)
			rc = copy_run(s, run, run->from, first - 1, made, err);
		if (rc == AUC_OK)
			rc = add_run(s, run, first + s->later, run->to + s->later, made, err);
	}
	free(s->shares);
	if (rc == AUC_OK) {
		made->start = made->runs[0].from;
		made->completion = made->runs[made->nruns - 1].to + 1;
	}
	return rc;
}

/* MADE becomes PLAN without its runs. */
static enum auc_code copy_head(const struct auc_plan *plan, struct auc_plan *made,
			       struct auc_err *err)
{
	enum auc_code rc = auc_plan_copy(made, plan, err);

	made->nruns = made->nshares = 0;
	return rc;
}

static enum auc_code spread_run(struct search *s, const struct auc_run *run, struct auc_plan *made,
				struct auc_err *err)
{
	const struct auc_share *h = &s->plan->shares[run->first_share], *end = h + run->nshares;

	s->nshares = 0;
	for (; h < end; h++)
		if (!(auc_market_is_whole(s->m, h->server) ? spread(s, h, run, made)
							   : give(s, h->server, h->workers, h->ps)))
			return auc_err_set(err, AUC_EFULL,
					   "what is free of %s is on too many nodes for %u "
					   "worker%s and %u PS%s",
					   auc_market_server_name(s->m, h->server), h->workers,
					   auc_plural(h->workers), h->ps, auc_plural(h->ps));
	return finish_run(s, run->from, run->to, made, err);
}

/* SHARE, on a whole, over its parts. */
static bool spread(struct search *s, const struct auc_share *share, const struct auc_run *run,
		   const struct auc_plan *made)
{
	const struct auc_run *before = made->nruns ? &made->runs[made->nruns - 1] : NULL;
	unsigned n = s->m->servers[share->server].nparts, first = share->server - n;
	unsigned workers = share->workers, ps = share->ps;

	/* As in the run before; then where all PSs fit; then wherever something fits. */
	for (unsigned pass = 0; pass < 3 && (workers || ps); pass++)
		for (unsigned part = first; part < first + n && (workers || ps); part++) {
			const struct auc_share *had =
				before ? auc_plan_share_on(made, before, part) : NULL;
			unsigned w = 0, p = pass == 1 ? ps : 0;

			if (is_used(s, part) || (pass == 0 && !had))
				continue;
			if (pass == 0)
				p = had->ps < ps ? had->ps : ps;
			if (p && !has_room(s, part, 0, p, run->from, run->to))
				continue;
			while (pass == 2 && p < ps &&
			       has_room(s, part, 0, p + 1, run->from, run->to))
				p++;
			while (w < workers && (pass != 0 || w < had->workers) &&
			       has_room(s, part, w + 1, p, run->from, run->to))
				w++;
			if (!w && !p)
				continue;
			/* While PSs are to come together, what has no room for them waits. */
			if (pass == 1 && ps && !p)
				continue;
			if (!give(s, part, w, p))
				return false;
			workers -= w;
			ps -= p;
		}
	return !workers && !ps;
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

	end = shares + run->nshares;
	s->nshares = 0;
	/* What stays first, so that nothing else is put there. */
	for (int moves = 0; moves < 2; moves++)
		for (const struct auc_share *h = shares; h < end; h++) {
			bool stays = s->later || s->more
					     ? (h->server != s->server || s->back) &&
						       has_room(s, h->server, h->workers, h->ps,
								from, to)
					     : h->server != s->server;
			const char *group = auc_market_server_group(s->m, h->server);
			bool done = true;

			if (stays && !moves)
				done = give(s, h->server, h->workers, h->ps);
			else if (!stays && moves)
				done = place(s, h, from, to);
			/* One that has left the auction is of no partition. */
			if (!done)
				return auc_err_set(err, AUC_EFULL,
						   "no other node%s%s has room for what %s was to "
						   "give",
						   *group ? " of partition " : "", group,
						   auc_market_server_name(s->m, h->server));
		}
	return finish_run(s, from, to, made, err);
}

/* The shares in hand become a run of MADE. */
static enum auc_code finish_run(struct search *s, auc_slot from, auc_slot to, struct auc_plan *made,
				struct auc_err *err)
{
	enum auc_code rc = auc_plan_add_run(made, from, to, err);

	qsort(s->shares, s->nshares, sizeof(*s->shares), by_server);
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

	if ((other == s->server && !s->back) || auc_market_is_whole(s->m, other))
		return false;
	if (*group ? strcmp(auc_market_server_group(s->m, other), group) != 0 : !s->upload)
		return false;
	if (s->upload && s->upload[other] > s->from + s->later - s->plan->arrival)
		return false;
	if (s->plan->within_switch &&
	    auc_market_switch(s->m, other) != auc_market_switch(s->m, s->server))
		return false;
	/* What else it has would be somebody else's. */
	for (unsigned k = 0; s->plan->whole && k < auc_market_ntres(s->m); k++)
		if (auc_market_capacity(s->m, other, k) != s->plan->amount[k])
			return false;
	return !is_used(s, other);
}

/* True if SERVER gives something to the run in hand. */
static bool is_used(const struct search *s, unsigned server)
{
	for (unsigned i = 0; i < s->nshares; i++)
		if (s->shares[i].server == server)
			return true;
	return false;
}

/* True if OTHER is up and open and has room beside what others bought. */
static bool has_room(struct search *s, unsigned other, unsigned workers, unsigned ps, auc_slot from,
		     auc_slot to)
{
	const struct auc_market *m = s->m;
	unsigned roles = auc_market_hosts(m, other);

	if ((workers && !(roles & AUC_ROLE_WORKER)) || (ps && !(roles & AUC_ROLE_PS)))
		return false;
	for (auc_slot t = from; t <= to; t++) {
		if (--s->checks < 0 || auc_market_is_closed(m, other, t))
			return false;
		for (unsigned k = 0; k < auc_market_ntres(m); k++)
			if (auc_market_used(m, other, k, t) - own_use(s, other, k, t) +
				    auc_plan_amount(s->plan, m, workers, ps, k) >
			    auc_market_capacity(m, other, k))
				return false;
	}
	return true;
}

/* What the plan itself has there, and gives back when it changes. */
static double own_use(const struct search *s, unsigned other, unsigned tres, auc_slot t)
{
	const struct auc_plan *p = s->plan;

	for (unsigned r = 0; r < p->nruns && t >= s->from && !s->more; r++) {
		const struct auc_share *h;

		if (t < p->runs[r].from || t > p->runs[r].to)
			continue;
		h = auc_plan_share_on(p, &p->runs[r], other);
		return h ? auc_plan_amount(p, s->m, h->workers, h->ps, tres) : 0;
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
