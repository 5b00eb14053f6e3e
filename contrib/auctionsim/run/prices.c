/* prices.c - see prices.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/past/oasis_bounds.h"
#include "market/price.h"
#include "auctionsim/run/prices.h"
#include "auctionsim/run/teacher.h"
#include "base/list.h"
#include "auctionsim/scenario/scenario_market.h"

struct prices {
	const struct scenario *s;
	bool sites; /* the policy is one of sites */
	struct auc_price price;
	/* kind bounds: what the jobs so far said */
	unsigned nclaims, nlearned; /* nlearned: that the prices know */
	struct auc_claim *claims;
	const struct auc_claim **list;
};

static enum auc_code wrong_kind(const struct prices *p, const char *policy, struct auc_err *err);
static enum auc_code learn_all(struct prices *p, struct auc_market *m, struct auc_err *err);
static void hear(struct prices *p, const struct auc_market *where, const struct auc_job *job,
		 const struct auc_market *m);
static void raise_eta(struct prices *p, const struct auc_market *m, const char *tres, double eta);
static void take_bounds(struct prices *p, const struct auc_market *m,
			const struct scenario_bounds *b, unsigned first, unsigned last);

enum auc_code prices_open(const struct scenario *s, const struct auc_policy *policy,
			  struct auc_market *m, struct prices **out, struct auc_err *err)
{
	struct prices *p = calloc(1, sizeof(*p));
	enum auc_price_kind kind = policy->sites && s->prices == SCENARIO_PRICES_BOUNDS
					   ? AUC_PRICE_BOUNDS
					   : policy->prices;
	enum auc_code rc = AUC_OK;
	unsigned i;

	*out = p;
	if (p) {
		p->s = s;
		p->sites = policy->sites;
		p->price.kind = kind;
		p->claims = calloc(s->njobs + 1, sizeof(*p->claims));
		p->list = calloc(s->njobs + 1, sizeof(*p->list));
	}
	if (!p || !p->claims || !p->list)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	if (s->teacher)
		rc = teacher_open(s->teacher, m, err);
	if (rc != AUC_OK)
		return rc;
	switch (s->prices) {
	case SCENARIO_PRICES_GIVEN:
		return scenario_market_give_prices(s, m, err);
	case SCENARIO_PRICES_TAUGHT:
		return AUC_OK;
	case SCENARIO_PRICES_BOUNDS:
		if (kind != AUC_PRICE_BOUNDS)
			return wrong_kind(p, policy->name, err);
		take_bounds(p, m, &s->both, AUC_PRICE_WORKER, AUC_PRICE_PS);
		take_bounds(p, m, &s->worker, AUC_PRICE_WORKER, AUC_PRICE_WORKER);
		take_bounds(p, m, &s->ps_bounds, AUC_PRICE_PS, AUC_PRICE_PS);
		break;
	case SCENARIO_PRICES_ETA:
		if (kind != AUC_PRICE_ETA)
			return wrong_kind(p, policy->name, err);
		for (i = 0; i < s->eta.n; i++)
			raise_eta(p, m, s->eta.list[i].name, s->eta.list[i].value);
		break;
	case SCENARIO_PRICES_OFFLINE:
		rc = learn_all(p, m, err);
		if (rc == AUC_OK && kind == AUC_PRICE_BOUNDS)
			auc_oasis_bounds_print(m, p->list, p->nclaims, &p->price);
		break;
	case SCENARIO_PRICES_LEARNED:
		break;
	}
	return rc == AUC_OK ? auc_market_set_price(m, &p->price, err) : rc;
}

void prices_close(struct prices *p)
{
	if (!p)
		return;
	free(p->claims);
	free(p->list);
	free(p);
}

enum auc_code prices_before(struct prices *p, struct auc_market *m, auc_slot now, bool *changed,
			    struct auc_err *err)
{
	*changed = false;
	return p->s->teacher ? teacher_before(p->s->teacher, m, now, changed, err) : AUC_OK;
}

enum auc_code prices_learn(struct prices *p, const struct auc_market *where,
			   const struct auc_job *job, unsigned user, struct auc_market *m,
			   struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	if (p->s->teacher)
		return teacher_heard(p->s->teacher, job, user, err);
	if (p->s->prices != SCENARIO_PRICES_LEARNED)
		return AUC_OK;
	hear(p, where, job, m);
	if (p->price.kind == AUC_PRICE_BOUNDS) {
		if (!auc_oasis_bounds_due(p->nclaims - p->nlearned, p->nclaims))
			return AUC_OK;
		p->nlearned = p->nclaims;
		rc = auc_oasis_bounds_learn(m, p->list, p->nclaims, &p->price, err);
	}
	return rc == AUC_OK ? auc_market_set_price(m, &p->price, err) : rc;
}

static enum auc_code wrong_kind(const struct prices *p, const char *policy, struct auc_err *err)
{
	static const char *const words[] = {
		[AUC_PRICE_ETA] = "eta",
		[AUC_PRICE_BOUNDS] = "bounds",
	};
	enum auc_price_kind kind = p->price.kind;

	return auc_err_set(
		err, AUC_EINVAL,
		"%s: $.prices.mode: expected \"given\", \"%s\" or \"learned\" for policy "
		"%s, found \"%s\"",
		p->s->file, words[kind], policy, words[!kind]);
}

/* Hears all jobs of the scenario: offline knowledge. */
static enum auc_code learn_all(struct prices *p, struct auc_market *m, struct auc_err *err)
{
	const struct scenario_job *j = p->s->jobs;
	struct auc_job job = {0};
	struct auc_market *own;
	enum auc_code rc = AUC_OK;

	for (; j < p->s->jobs + p->s->njobs && rc == AUC_OK; j++) {
		own = NULL;
		if (scenario_market_is_own(j))
			rc = scenario_market_create(p->s, j, &own, err);
		if (rc == AUC_OK)
			rc = p->sites ? scenario_market_site_job(p->s, j, &job, err)
				      : scenario_market_job(p->s, j, own ? own : m, &job, err);
		if (rc == AUC_OK)
			hear(p, own ? own : m, &job, m);
		auc_market_destroy(own);
	}
	auc_job_clear(&job);
	return rc;
}

/* What JOB says about the prices of M. */
static void hear(struct prices *p, const struct auc_market *where, const struct auc_job *job,
		 const struct auc_market *m)
{
	double ratio[AUC_TRES_MAX];
	unsigned k;

	if (p->price.kind == AUC_PRICE_BOUNDS) {
		if (auc_claim_make(where, job, &p->claims[p->nclaims])) {
			p->list[p->nclaims] = &p->claims[p->nclaims];
			p->nclaims++;
		}
		return;
	}
	if (p->sites) {
		raise_eta(p, m, AUC_TRANSFER, auc_price_site_ratios(where, job, ratio) + 1);
	} else {
		auc_price_ratios(where, job, ratio);
	}
	for (k = 0; k < auc_market_ntres(where); k++)
		raise_eta(p, m, auc_market_tres_name(where, k), ratio[k] + 1);
}

/* What the market does not know (TRES that only one job's own types use) no server has. */
static void raise_eta(struct prices *p, const struct auc_market *m, const char *tres, double eta)
{
	struct auc_named *e = p->price.eta;

	if (auc_market_find_tres(m, tres) < 0 && strcmp(tres, AUC_TRANSFER) != 0)
		return;
	while (e < p->price.eta + p->price.neta && strcmp(e->name, tres) != 0)
		e++;
	if (e == p->price.eta + p->price.neta) {
		strcpy(e->name, tres);
		e->value = 1;
		p->price.neta++;
	}
	if (eta > e->value)
		e->value = eta;
}

/* What the scenario says for the roles FIRST to LAST; a lower bound alone is the upper one, too. */
static void take_bounds(struct prices *p, const struct auc_market *m,
			const struct scenario_bounds *b, unsigned first, unsigned last)
{
	const struct auc_named *lower, *upper;
	struct auc_price_bounds *to;
	unsigned k, r;

	for (k = 0; k < auc_market_ntres(m) + p->sites; k++) {
		to = &p->price.bounds[k];
		if (k == p->price.nbounds) {
			strcpy(to->name,
			       k < auc_market_ntres(m) ? auc_market_tres_name(m, k) : AUC_TRANSFER);
			for (r = 0; r < AUC_PRICE_ROLES; r++)
				to->lower[r] = to->upper[r] = -INFINITY;
			p->price.nbounds++;
		}
		lower = auc_list_find(b->lower.list, b->lower.n, to->name);
		upper = auc_list_find(b->upper.list, b->upper.n, to->name);
		for (r = first; r <= last && (lower || upper); r++) {
			to->upper[r] = log(upper ? upper->value : lower->value);
			to->lower[r] = lower ? log(lower->value) : -INFINITY;
		}
	}
}
