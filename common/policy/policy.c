/* policy.c - what policies share: see policy.h. */
#include "config.h"

#include <string.h>

#include "market/timeline.h"
#include "policy/policy.h"

const char *auc_reason_word(enum auc_reason reason)
{
	switch (reason) {
	case AUC_REASON_NONE:
		return "none";
	case AUC_REASON_PAYOFF:
		return "payoff";
	case AUC_REASON_CAPACITY:
		return "capacity";
	case AUC_REASON_PRICE:
		return "price";
	case AUC_REASON_BUDGET:
		return "budget";
	case AUC_REASON_INVALID:
		return "invalid";
	}
	return "invalid";
}

const char *auc_policy_only_simulated(const char *options, char *word, size_t size)
{
	static const struct {
		const char *word; /* to its end; "key=": with any value */
		const char *why;
	} list[] = {
		{"variant=paper", "the algorithm as printed is not truthful"},
		{"pricing=bandit", "it gives the first jobs everything for nothing"},
		{"pricing=top", "it is a baseline"},
		{"pricing=random", "it is a baseline"},
		{"pricing=fixed", "it is a baseline, whose prices learn nothing"},
		{"placement=rs", "it is a baseline"},
		{"placement=cha", "it is a baseline"},
		{"fixed=", "it is of pricing=fixed, a baseline"},
		{"theta=",
		 "it is of pricing=bandit, which gives the first jobs everything for nothing"},
	};

	for (size_t len; *options; options += len + (options[len] == ',')) {
		len = strcspn(options, ",");
		for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
			size_t n = strlen(list[i].word);

			if (strncmp(options, list[i].word, n) ||
			    (n != len && list[i].word[n - 1] != '='))
				continue;
			snprintf(word, size, "%.*s", (int)len, options);
			return list[i].why;
		}
	}
	return NULL;
}

unsigned auc_policy_ready(const struct auc_market *m, const struct auc_job *job, uint32_t *ready)
{
	auc_slot late = auc_market_last(m) + 1, t;
	unsigned s;

	for (s = 0; s < m->nservers; s++) {
		t = job->arrival < late ? job->arrival + (auc_slot)job->upload[s] : late;
		t = t < m->first ? m->first : t;
		ready[s] = t < late ? (uint32_t)(t - m->first) : m->slots;
	}
	t = job->arrival > m->first ? job->arrival : m->first;
	return t < late ? (unsigned)(t - m->first) : m->slots;
}

void auc_decision_init(struct auc_decision *d)
{
	memset(d, 0, sizeof(*d));
	auc_plan_init(&d->plan);
}

void auc_decision_reset(struct auc_decision *d)
{
	d->accepted = false;
	d->reason = AUC_REASON_CAPACITY;
	d->best_payoff = 0;
	d->offered = false;
	memset(d->offer, 0, sizeof(d->offer));
	memset(d->idle, 0, sizeof(d->idle));
	d->steps = 0;
	d->cut = false;
	d->distance = 0;
	auc_plan_reset(&d->plan);
}

void auc_decision_clear(struct auc_decision *d)
{
	auc_plan_clear(&d->plan);
	memset(d, 0, sizeof(*d));
}

void auc_decision_by_payoff(struct auc_decision *d)
{
	d->best_payoff = d->plan.value - d->plan.cost;
	d->accepted = d->best_payoff > 0;
	d->reason = d->accepted ? AUC_REASON_NONE : AUC_REASON_PAYOFF;
}

void auc_decision_cut(struct auc_decision *d, double upper)
{
	double best = d->reason == AUC_REASON_CAPACITY ? 0 : d->best_payoff;

	d->cut = upper > best && (upper > 0 || d->reason == AUC_REASON_CAPACITY);
	d->distance = d->cut ? upper - best : 0;
}

enum auc_code auc_decision_copy(struct auc_decision *to, const struct auc_decision *from,
				struct auc_err *err)
{
	struct auc_plan plan = to->plan;
	enum auc_code rc = auc_plan_copy(&plan, &from->plan, err);

	*to = *from;
	to->plan = plan;
	return rc;
}
