/* conf_prices.h - the prices that auction.conf gives. */
#ifndef AUC_CONF_PRICES_H
#define AUC_CONF_PRICES_H

#include <stdio.h>

#include "input/conf.h"
#include "market/market.h"
#include "market/price.h"

/* The prices of CONF for a policy that sells by KIND, Eta, or Lower and Upper, of each TRES of M
 * that CONF names, by itself ("gpu:v100") or with all of its types ("gpu"). */
void auc_conf_price(const struct auc_conf *conf, enum auc_price_kind kind,
		    const struct auc_market *m, struct auc_price *p);

/* What LIST gives the TRES called NAME, else what it gives all types of it: "gpu" of "gpu:v100"; or
 * NULL. Case does not count. */
const struct auc_named *auc_conf_price_find(const struct auc_named *list, unsigned n,
					    const char *name);

/* "FROM-TO=FACTOR,..." into factors by hour of the day; AUC_EINVAL. And back: " NAME=...", true. */
enum auc_code auc_conf_hours_set(double hour[24], const char *value);
bool auc_conf_hours_print(const char *name, const double hour[24], FILE *out);

#endif
