/* conf_prices.c - from Eta, Lower and Upper to price functions: see conf_prices.h. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/list.h"
#include "input/conf_prices.h"

void auc_conf_price(const struct auc_conf *conf, enum auc_price_kind kind, struct auc_price *p)
{
	const struct auc_conf_bounds *roles[] = {&conf->bounds, &conf->ps_bounds}, *b;
	const struct auc_named *lower, *upper;
	struct auc_price_bounds *to;
	unsigned r, i;

	memset(p, 0, sizeof(*p));
	p->kind = kind;
	if (kind == AUC_PRICE_ETA) {
		p->neta = conf->neta;
		memcpy(p->eta, conf->eta, sizeof(p->eta));
		return;
	}
	for (i = 0; i < conf->bounds.nupper + conf->ps_bounds.nupper; i++) {
		upper = i < conf->bounds.nupper ? &conf->bounds.upper[i]
						: &conf->ps_bounds.upper[i - conf->bounds.nupper];
		if (auc_price_bounds_of(p, upper->name) || p->nbounds == AUC_TRES_MAX)
			continue;
		to = &p->bounds[p->nbounds++];
		strcpy(to->name, upper->name);
		for (r = 0; r < AUC_PRICE_ROLES; r++) {
			b = roles[r]->nupper ? roles[r] : roles[AUC_PRICE_WORKER];
			upper = auc_list_find_tres(b->upper, b->nupper, to->name);
			lower = auc_list_find_tres(b->lower, b->nlower, to->name);
			to->upper[r] = upper ? log(upper->value) : -INFINITY;
			to->lower[r] = upper && lower ? log(lower->value) : -INFINITY;
		}
	}
}
