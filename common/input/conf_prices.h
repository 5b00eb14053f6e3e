/* conf_prices.h - the prices that auction.conf gives. */
#ifndef AUC_CONF_PRICES_H
#define AUC_CONF_PRICES_H

#include "input/conf.h"
#include "market/price.h"

/* The prices of CONF for a policy that sells by KIND: Eta, or Lower and Upper. */
void auc_conf_price(const struct auc_conf *conf, enum auc_price_kind kind, struct auc_price *p);

#endif
