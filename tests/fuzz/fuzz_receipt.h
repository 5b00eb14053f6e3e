/*
 * fuzz_receipt.h - what the targets share that read receipts: small markets that receipts of the
 * corpus fit in, a key that is always the same, and what holds for every receipt that is accepted.
 */
#ifndef AUC_FUZZ_RECEIPT_H
#define AUC_FUZZ_RECEIPT_H

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/seal.h"
#include "ledger/receipt.h"
#include "fuzz/fuzz.h"

#define FUZZ_MARKETS 2

/* Market 0 sells workers, PSs and nodes of gangs; market 1 counts traffic, too. */
static inline struct auc_market *fuzz_market(unsigned which)
{
	static const struct auc_named worker[] = {{"cpu", 2}, {"gpu:v100", 0.5}},
				      ps[] = {{"cpu", 1}};
	static const struct auc_named capacity[] = {{"cpu", 12}, {"gpu:v100", 2}, {"storage", 100}};
	static struct auc_market *markets[FUZZ_MARKETS];
	struct auc_market *m = markets[which];

	if (m)
		return m;
	m = markets[which] = auc_market_create(50, 300, 100);
	REQUIRE(m && auc_market_add_worker_type(m, "v100", worker, 2, 1000, NULL) == AUC_OK);
	REQUIRE(auc_market_add_ps_type(m, "ps.m", ps, 1, 1000, NULL) == AUC_OK);
	for (unsigned i = 0; i < 3; i++) {
		char name[] = {'e', (char)('1' + i), 0};

		REQUIRE(auc_market_add_server(m, name, "edge", false, 3, 0, capacity, 3, NULL) ==
			AUC_OK);
	}
	if (which)
		REQUIRE(auc_market_set_traffic(m, 1000, NULL) == AUC_OK);
	REQUIRE(auc_market_ready(m, &(struct auc_price){0}, NULL) == AUC_OK);
	return m;
}

static inline const struct auc_seal *fuzz_seal(void)
{
	static struct auc_seal *seal;
	char path[] = "/tmp/fuzz-key-XXXXXX";
	int fd;

	if (seal)
		return seal;
	fd = mkstemp(path);
	REQUIRE(fd >= 0);
	REQUIRE(dprintf(fd, "auction-key 1 %064d\n", 7) > 0);
	close(fd);
	REQUIRE(auc_seal_open_key(path, &seal, NULL) == AUC_OK);
	unlink(path);
	return seal;
}

static inline void receipt_check_amounts(const struct auc_named *list, unsigned n)
{
	REQUIRE(n <= AUC_TRES_MAX);
	for (unsigned i = 0; i < n; i++)
		REQUIRE(*list[i].name && list[i].value >= 0 && isfinite(list[i].value));
}

/* Runs in order, each with its own servers; no more chunks leave a node than lie there. */
static inline void receipt_check_plan(const struct auc_receipt *r)
{
	unsigned shares = 0;

	REQUIRE(r->nruns && r->arrival <= r->start && r->start == r->runs[0].from &&
		r->completion == r->runs[r->nruns - 1].to + 1);
	for (unsigned i = 0; i < r->nruns; i++) {
		const struct auc_receipt_run *run = &r->runs[i];

		REQUIRE(run->from <= run->to && (!i || run->from > run[-1].to));
		REQUIRE(run->first_share == shares && run->nshares);
		for (unsigned k = shares; k < shares + run->nshares; k++) {
			REQUIRE(*r->shares[k].server && (r->shares[k].workers || r->shares[k].ps));
			for (unsigned l = shares; l < k; l++)
				REQUIRE(strcmp(r->shares[k].server, r->shares[l].server) != 0);
		}
		shares += run->nshares;
	}
	REQUIRE(shares == r->nshares);
	for (unsigned i = 0; i < r->ndata; i++) {
		double out = 0;

		for (unsigned k = 0; k < r->nmoves; k++)
			if (!strcmp(r->moves[k].from, r->data[i].name))
				out += (double)r->moves[k].chunks;
		REQUIRE(r->data[i].value >= 1 && out <= r->data[i].value);
	}
}

static inline void receipt_check(const struct auc_receipt *r)
{
	REQUIRE(*r->sale && strlen(r->sale) < sizeof(r->sale) &&
		strlen(r->state) < sizeof(r->state));
	if (!strcmp(r->state, "member")) {
		REQUIRE(r->lead && !r->nruns && !r->nshares);
		return;
	}
	REQUIRE(r->payment >= 0 && r->payment <= AUC_MONEY_MAX && r->refund >= 0 &&
		r->refund <= AUC_MONEY_MAX);
	REQUIRE(r->slot_seconds > 0 && isfinite(r->slot_seconds));
	receipt_check_amounts(r->worker_tres, r->nworker_tres);
	receipt_check_amounts(r->ps_tres, r->nps_tres);
	receipt_check_amounts(r->per_node, r->nper_node);
	receipt_check_plan(r);
	for (unsigned i = 0; i < r->nmoves; i++)
		REQUIRE(r->moves[i].chunks && (!i || r->moves[i].slot >= r->moves[i - 1].slot));
}

#endif
