/* conf_prices.c - from Eta, Lower and Upper to price functions, and costs by the hour: see
 * conf_prices.h. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "input/conf_prices.h"
#include "market/market.h"

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

enum auc_code auc_conf_hours_set(double hour[24], const char *value)
{
	char piece[64], *from, *to, *rest;
	uint64_t first, last;
	double factor;
	size_t len;

	for (unsigned i = 0; i < AUC_DAY_HOURS; i++)
		hour[i] = 1;
	for (;; value += len + 1) {
		len = strcspn(value, ",");
		if (len >= sizeof(piece))
			return AUC_EINVAL;
		snprintf(piece, sizeof(piece), "%.*s", (int)len, value);
		rest = piece;
		from = strsep(&rest, "-");
		to = rest ? strsep(&rest, "=") : NULL;
		if (!to || !rest ||
		    auc_parse_count(from, 0, AUC_DAY_HOURS, &first, "", NULL) != AUC_OK ||
		    auc_parse_count(to, 0, AUC_DAY_HOURS, &last, "", NULL) != AUC_OK ||
		    first % AUC_DAY_HOURS == last % AUC_DAY_HOURS ||
		    auc_parse_number(rest, 0, AUC_HOUR_LIMIT, &factor, "", NULL) != AUC_OK)
			return AUC_EINVAL;
		/* over midnight, too */
		for (first %= AUC_DAY_HOURS; first != last % AUC_DAY_HOURS;
		     first = (first + 1) % AUC_DAY_HOURS)
			hour[first] = factor;
		if (!value[len])
			return AUC_OK;
	}
}

bool auc_conf_hours_print(const char *name, const double hour[24], FILE *out)
{
	char number[AUC_NUMBER_LEN];
	const char *comma = "";

	fprintf(out, "%s=", name);
	for (unsigned i = 0; i < AUC_DAY_HOURS; i++) {
		fprintf(out, "%s%u-%u=%s", comma, i, i + 1, auc_number_str(hour[i], number));
		comma = ",";
	}
	return true;
}
