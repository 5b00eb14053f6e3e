/* conf_prices.c - from Eta, Lower and Upper to price functions, and costs by the hour: see
 * conf_prices.h. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "input/conf_prices.h"
#include "market/market.h"

static void add_eta(const struct auc_conf *conf, const char *tres, struct auc_price *p);
static void add_bounds(const struct auc_conf *conf, const char *tres, struct auc_price *p);

void auc_conf_price(const struct auc_conf *conf, enum auc_price_kind kind,
		    const struct auc_market *m, struct auc_price *p)
{
	memset(p, 0, sizeof(*p));
	p->kind = kind;
	for (unsigned k = 0; k <= auc_market_ntres(m); k++) {
		const char *tres =
			k < auc_market_ntres(m) ? auc_market_tres_name(m, k) : AUC_TRANSFER;

		if (kind == AUC_PRICE_ETA)
			add_eta(conf, tres, p);
		else
			add_bounds(conf, tres, p);
	}
}

static void add_eta(const struct auc_conf *conf, const char *tres, struct auc_price *p)
{
	const struct auc_named *eta = auc_conf_price_find(conf->eta, conf->neta, tres);

	if (!eta || p->neta == AUC_TRES_MAX)
		return;
	strcpy(p->eta[p->neta].name, tres);
	p->eta[p->neta++].value = eta->value;
}

static void add_bounds(const struct auc_conf *conf, const char *tres, struct auc_price *p)
{
	const struct auc_conf_bounds *roles[] = {&conf->bounds, &conf->ps_bounds}, *b;
	struct auc_price_bounds *to = &p->bounds[p->nbounds];
	const struct auc_named *lower, *upper;

	if (p->nbounds == AUC_TRES_MAX ||
	    (!auc_conf_price_find(conf->bounds.upper, conf->bounds.nupper, tres) &&
	     !auc_conf_price_find(conf->ps_bounds.upper, conf->ps_bounds.nupper, tres)))
		return;
	strcpy(to->name, tres);
	for (unsigned r = 0; r < AUC_PRICE_ROLES; r++) {
		b = roles[r]->nupper ? roles[r] : roles[AUC_PRICE_WORKER];
		upper = auc_conf_price_find(b->upper, b->nupper, tres);
		lower = auc_conf_price_find(b->lower, b->nlower, tres);
		to->upper[r] = upper ? log(upper->value) : -INFINITY;
		/* That of all types may be above the upper one of this. */
		to->lower[r] = upper && lower ? fmin(log(lower->value), to->upper[r]) : -INFINITY;
	}
	p->nbounds++;
}

const struct auc_named *auc_conf_price_find(const struct auc_named *list, unsigned n,
					    const char *name)
{
	const struct auc_named *found = auc_list_find_tres(list, n, name);
	char kind[AUC_NAME_MAX];

	if (found || !strchr(name, ':'))
		return found;
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(name, ":"), name);
	return auc_list_find_tres(list, n, kind);
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
