/*
 * decisions.c - prints some thousand decisions of policy dps on random markets, to the last bit
 * (%a): builds by different compilers and optimisation levels must print the same. Arguments:
 * number of markets, first seed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "policy/policy.h"
#include "tiny.h"

#define JOBS 4

static void print_decision(const struct auc_decision *d)
{
	const struct auc_plan *p = &d->plan;
	unsigned i;

	printf("%s", auc_reason_word(d->reason));
	if (d->reason != AUC_REASON_CAPACITY)
		printf(" %a = %a - %a w%u p%u %s %lld..%lld", d->best_payoff, p->value, p->cost,
		       p->worker_type, p->ps_type, p->colocated ? "colocated" : "distributed",
		       (long long)p->start, (long long)p->completion);
	for (i = 0; i < p->nshares; i++)
		printf(" s%u:%u+%u", p->shares[i].server, p->shares[i].workers, p->shares[i].ps);
	printf("\n");
}

int main(int argc, char **argv)
{
	unsigned long markets = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, i;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct auc_job job = {0};
	struct auc_policy_ctx *ctx;
	struct auc_decision d;
	struct tiny_market t;
	struct tiny_random r;
	struct tiny_job j;
	struct auc_market *m;
	unsigned n;

	if (auc_policy_dps.create("", &ctx, NULL) != AUC_OK)
		return 1;
	auc_decision_init(&d);
	for (i = 0; i < markets; i++) {
		r.state = seed + i;
		if (i % 3)
			tiny_market_make(&t, &r, 2, 4, 4, 8);
		else
			tiny_market_make(&t, &r, 8, TINY_SERVERS, 20, TINY_SLOTS);
		m = tiny_build(&t);
		for (n = 0; n < JOBS; n++) {
			tiny_job_make(&j, &r, &t);
			tiny_resolve(m, &j, &job);
			if (auc_policy_dps.quote(ctx, m, &job, &d, NULL) != AUC_OK)
				return 1;
			printf("%lu.%u ", i, n);
			print_decision(&d);
			if (d.accepted)
				tiny_book(&t, m, &d.plan);
		}
		auc_market_destroy(m);
	}
	auc_policy_dps.destroy(ctx);
	auc_decision_clear(&d);
	auc_job_clear(&job);
	return 0;
}
