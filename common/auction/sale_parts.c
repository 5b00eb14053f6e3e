/*
 * sale_parts.c - a plan as the jobs that carry it out (auc_plan_parts(), auction-private.h).
 *
 * Where a node gives the same in runs that follow each other without a pause, one part spans them.
 * The lead is on a node with PSs. It stays while its node gives the same; where it has to move, it
 * goes to the node whose share lasts longest, of equal ones to the first: that makes the fewest
 * moves there can be. But once it was on a node with workers, nodes that have some come first: in
 * Slurm a job that had GPUs cannot lose them altogether, and waits for one that is free though it
 * takes none.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auction/sale_parts.h"
#include "auction/auction-private.h"

static bool next_run(const struct auc_plan *plan, unsigned run);
static const struct auc_share *find_share(const struct auc_plan *plan, unsigned run,
					  unsigned server);
static bool same_share(const struct auc_share *a, const struct auc_share *b);
static unsigned choose_lead(const struct auc_plan *plan, unsigned run, bool workers);
static unsigned lasts(const struct auc_plan *plan, unsigned run, const struct auc_share *share);
static enum auc_code gang_parts(const struct auc_market *m, const struct auc_plan *plan,
				struct auc_part **parts, unsigned *nparts, struct auc_err *err);
static bool same_nodes(const struct auc_plan *plan, unsigned run);
static void fill_part(const struct auc_market *m, const struct auc_plan *plan,
		      const struct auc_share *share, struct auc_part *part);

unsigned auc_parts_at_once(const struct auc_part *parts, unsigned nparts)
{
	unsigned most = 0;

	/* The most are there when one begins. */
	for (unsigned i = 0; i < nparts; i++) {
		unsigned n = 0;

		for (unsigned k = 0; k < nparts; k++)
			n += parts[k].start <= parts[i].start && parts[i].start < parts[k].end;
		most = n > most ? n : most;
	}
	return most;
}

enum auc_code auc_plan_parts(const struct auc_market *m, const struct auc_plan *plan,
			     struct auc_part **parts, unsigned *nparts, struct auc_err *err)
{
	double slot = auc_market_slot_seconds(m);
	unsigned *part_of, lead = 0, n = 0;
	bool workers = false; /* the lead had some */

	*parts = NULL;
	*nparts = 0;
	if (!plan->nshares)
		return AUC_OK;
	if (plan->gang)
		return gang_parts(m, plan, parts, nparts, err);
	*parts = calloc(plan->nshares, sizeof(**parts));
	part_of = calloc(plan->nshares, sizeof(*part_of)); /* by share */
	if (!*parts || !part_of) {
		free(*parts);
		free(part_of);
		*parts = NULL;
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the parts of a plan");
	}
	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];
		bool follows = r && next_run(plan, r - 1);
		const struct auc_share *stays = NULL, *first;

		if (follows)
			stays = find_share(plan, r, plan->shares[lead].server);
		if (stays && same_share(stays, &plan->shares[lead]))
			lead = (unsigned)(stays - plan->shares);
		else
			lead = choose_lead(plan, r, workers);
		workers |= plan->shares[lead].workers > 0;
		/* The lead first, then the others as they stand. */
		first = &plan->shares[lead];
		for (unsigned i = 0; i < run->nshares + 1; i++) {
			const struct auc_share *s =
				i ? &plan->shares[run->first_share + i - 1] : first;
			const struct auc_share *before =
				follows ? find_share(plan, r - 1, s->server) : NULL;
			unsigned k = (unsigned)(s - plan->shares);
			struct auc_part *p;

			if (i && s == first)
				continue;
			p = before ? &(*parts)[part_of[before - plan->shares]] : NULL;
			if (p && same_share(before, s) && p->lead == (s == first)) {
				part_of[k] = (unsigned)(p - *parts);
			} else {
				part_of[k] = n;
				p = &(*parts)[n++];
				fill_part(m, plan, s, p);
				p->lead = s == first;
				p->start = (double)run->from * slot;
			}
			p->end = (double)(run->to + 1) * slot;
		}
	}
	free(part_of);
	*nparts = n;
	return AUC_OK;
}

/* All nodes of a gang together; it has another part where it moves. */
static enum auc_code gang_parts(const struct auc_market *m, const struct auc_plan *plan,
				struct auc_part **parts, unsigned *nparts, struct auc_err *err)
{
	size_t heads = plan->nruns * sizeof(**parts);
	double slot = auc_market_slot_seconds(m);
	struct auc_part *p;
	unsigned n = 0;
	char *at;

	p = calloc(1, heads + (size_t)plan->nshares * AUC_NAME_MAX);
	if (!p)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the parts of a plan");
	*parts = p;
	at = (char *)p + heads;
	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];
		const struct auc_share *shares = &plan->shares[run->first_share];

		if (!r || !next_run(plan, r - 1) || !same_nodes(plan, r)) {
			p = &(*parts)[n++];
			fill_part(m, plan, shares, p);
			p->lead = true;
			p->start = (double)run->from * slot;
			p->nnodes = run->nshares;
			p->whole = plan->whole;
			p->block = plan->block;
			p->nodes = at;
			for (unsigned i = 0; i < run->nshares; i++)
				at += sprintf(at, "%s%s", i ? "," : "",
					      auc_market_server_name(m, shares[i].server));
			at++;
		}
		p->end = (double)(run->to + 1) * slot;
	}
	*nparts = n;
	return AUC_OK;
}

/* True if RUN of a gang's plan has the nodes of the run before. */
static bool same_nodes(const struct auc_plan *plan, unsigned run)
{
	const struct auc_run *a = &plan->runs[run - 1], *b = &plan->runs[run];

	for (unsigned i = 0; i < b->nshares && a->nshares == b->nshares; i++)
		if (plan->shares[a->first_share + i].server !=
		    plan->shares[b->first_share + i].server)
			return false;
	return a->nshares == b->nshares;
}

unsigned auc_plan_share_lasts(const struct auc_plan *plan, unsigned run,
			      const struct auc_share *share)
{
	const struct auc_share *before;

	if (run && next_run(plan, run - 1)) {
		before = find_share(plan, run - 1, share->server);
		if (before && same_share(before, share))
			return 0;
	}
	return lasts(plan, run, share);
}

bool auc_part_next_node(const struct auc_part *part, const char **at, char name[AUC_NAME_MAX])
{
	const char *from = part->nnodes ? part->nodes : part->server, *end;

	if (*at && !**at)
		return false;
	if (*at)
		from = *at;
	end = from + strcspn(from, ",");
	snprintf(name, AUC_NAME_MAX, "%.*s", (int)(end - from), from);
	*at = *end ? end + 1 : end;
	return true;
}

const struct auc_share *auc_plan_lead(const struct auc_plan *p)
{
	return &p->shares[choose_lead(p, 0, false)];
}

/* True if the run after RUN follows it without a pause. */
static bool next_run(const struct auc_plan *plan, unsigned run)
{
	return run + 1 < plan->nruns && plan->runs[run].to + 1 == plan->runs[run + 1].from;
}

static const struct auc_share *find_share(const struct auc_plan *plan, unsigned run,
					  unsigned server)
{
	const struct auc_run *r = &plan->runs[run];
	unsigned low = r->first_share, high = r->first_share + r->nshares;

	while (low < high) {
		unsigned mid = low + (high - low) / 2;

		if (plan->shares[mid].server < server)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < r->first_share + r->nshares && plan->shares[low].server == server)
		return &plan->shares[low];
	return NULL;
}

static bool same_share(const struct auc_share *a, const struct auc_share *b)
{
	return a->server == b->server && a->workers == b->workers && a->ps == b->ps;
}

/* Index of the share in RUN that the lead is to be on; WORKERS: rather one with workers. */
static unsigned choose_lead(const struct auc_plan *plan, unsigned run, bool workers)
{
	const struct auc_run *r = &plan->runs[run];
	unsigned best = r->first_share, best_rank = 0, best_lasts = 0;

	for (unsigned i = 0; i < r->nshares; i++) {
		const struct auc_share *s = &plan->shares[r->first_share + i];
		unsigned rank = s->ps ? 1 + (workers && s->workers) : 0, n = lasts(plan, run, s);

		if (rank > best_rank || (rank == best_rank && n > best_lasts)) {
			best = r->first_share + i;
			best_rank = rank;
			best_lasts = n;
		}
	}
	return best;
}

/* For how many runs SHARE stays the same. */
static unsigned lasts(const struct auc_plan *plan, unsigned run, const struct auc_share *share)
{
	unsigned n = 1;

	for (; next_run(plan, run); run++, n++) {
		const struct auc_share *s = find_share(plan, run + 1, share->server);

		if (!s || !same_share(s, share))
			break;
	}
	return n;
}

static void fill_part(const struct auc_market *m, const struct auc_plan *plan,
		      const struct auc_share *share, struct auc_part *part)
{
	double amount;

	strcpy(part->server, auc_market_server_name(m, share->server));
	strcpy(part->partition, auc_market_server_group(m, share->server));
	part->workers = share->workers;
	part->ps = share->ps;
	for (unsigned k = 0; k < auc_market_ntres(m); k++) {
		amount = auc_plan_amount(plan, m, share->workers, share->ps, k);
		if (!(amount > 0))
			continue;
		strcpy(part->tres[part->ntres].name, auc_market_tres_name(m, k));
		part->tres[part->ntres++].value = amount;
	}
}
