/*
 * dps_best.c - the best schedule so far, and what another one may cost at most to take its place.
 *
 * Payoffs that differ by less than TIE of value + cost differ by rounding only and are equal.
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "policy/dps/dps-private.h"
#include "policy/gang/gang.h"

#define TIE 1e-11

static double limit_first(const struct auc_policy_ctx *ctx, double value);
static double limit_within(const struct auc_policy_ctx *ctx, double value, bool ties);
static double limit_paid(const struct auc_policy_ctx *ctx, double limit);
static int compare_ties(const struct choice *a, const struct choice *b);

/*
 * A schedule that completes then and costs this or more cannot become the best one. At the best
 * one's own completion ties are still open, so the limit is above them; later, ties are lost.
 */
double auc_dps_limit_of(const struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	if (!ctx->found)
		return limit_first(ctx, value);
	return limit_within(ctx, value, completion <= ctx->best.completion);
}

/* No limit of schedules that are worth VALUE will be above this one, whatever else is found. */
double auc_dps_limit_open(const struct auc_policy_ctx *ctx, double value)
{
	double most = ctx->value[ctx->start0 + 1];

	if (!ctx->found)
		return limit_first(ctx, value);
	return limit_paid(ctx, value - ctx->top_payoff +
				       16 * TIE * (most + ctx->best.value + ctx->best.cost) +
				       DBL_MIN);
}

/* As long as none was found, for those that are worth VALUE. */
static double limit_first(const struct auc_policy_ctx *ctx, double value)
{
	return limit_paid(ctx, ctx->must_pay ? value + 4 * TIE * fabs(value) : INFINITY);
}

static double limit_within(const struct auc_policy_ctx *ctx, double value, bool ties)
{
	double limit = value - ctx->best_payoff;

	if (ties)
		limit += 4 * TIE * (value + ctx->best.value + ctx->best.cost) + DBL_MIN;
	else
		limit -= TIE * (value + ctx->best.value + ctx->best.cost);
	return limit_paid(ctx, limit);
}

/* LIMIT, or less if the budget is. */
static double limit_paid(const struct auc_policy_ctx *ctx, double limit)
{
	double most = ctx->budget + AUC_QUOTE_SLACK * ctx->budget;

	return isfinite(most) && nextafter(most, INFINITY) < limit ? nextafter(most, INFINITY)
								   : limit;
}

/*
 * The same for schedules of which C says what is known; what is not is as if it were the best: on
 * the fewest servers, the lowest PS server, all workers there. If even that would lose a tie with
 * the best one, only a better payoff will do.
 */
double auc_dps_limit_for(const struct auc_policy_ctx *ctx, const struct choice *c)
{
	if (!ctx->found)
		return limit_first(ctx, c->value);
	return limit_within(ctx, c->value, compare_ties(c, &ctx->best) < 0);
}

/*
 * Takes C as the best so far if it is. Measured by the highest payoff seen, too, so that one tie
 * after the other never goes down by more than one margin.
 */
void auc_dps_offer(struct auc_policy_ctx *ctx, const struct choice *c)
{
	double payoff = c->value - c->cost, margin;

	if (!auc_gang_is_paid(c->cost, ctx->budget))
		return;
	if (ctx->found) {
		margin = TIE * (c->value + c->cost + ctx->best.value + ctx->best.cost);
		if (payoff < ctx->top_payoff - margin)
			return;
		if (payoff <= ctx->best_payoff + margin && compare_ties(c, &ctx->best) >= 0) {
			ctx->top_payoff = fmax(ctx->top_payoff, payoff);
			return;
		}
	}
	ctx->top_payoff = ctx->found ? fmax(ctx->top_payoff, payoff) : payoff;
	ctx->found = ctx->moved = true;
	ctx->best = *c;
	ctx->best_payoff = payoff;
}

/* Which of two schedules of equal payoff goes first; see policy.h. */
static int compare_ties(const struct choice *a, const struct choice *b)
{
	if (a->completion != b->completion)
		return a->completion < b->completion ? -1 : 1;
	if (a->nservers != b->nservers)
		return a->nservers < b->nservers ? -1 : 1;
	if (a->worker != b->worker)
		return a->worker < b->worker ? -1 : 1;
	if (a->ps != b->ps)
		return a->ps < b->ps ? -1 : 1;
	if (a->colocated != b->colocated)
		return a->colocated ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->ps_server != b->ps_server)
		return a->ps_server < b->ps_server ? -1 : 1;
	if (a->here != b->here)
		return a->here > b->here ? -1 : 1;
	return 0;
}
