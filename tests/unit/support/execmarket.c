/* execmarket.c - see execmarket.h */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/support/execmarket.h"

struct auc_market *execmarket_make(void)
{
	static const struct auc_named worker[] = {{"cpu", 2}, {"gpu", 1}}, ps[] = {{"cpu", 1}};
	struct auc_named capacity[] = {{"cpu", 100}, {"gpu", 20}};
	struct auc_price price = {.neta = 2, .eta = {{"cpu", 3}, {"gpu", 20}}};
	struct auc_market *m = auc_market_create(50, 10, 0);
	struct auc_err err;
	char name[16];

	assert_int_equal(auc_market_add_worker_type(m, "w", worker, 2, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", ps, 1, 1000, &err), AUC_OK);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		assert_int_equal(auc_market_add_server(m, name, "g", false,
						       AUC_ROLE_WORKER | AUC_ROLE_PS, 0, capacity,
						       2, &err),
				 AUC_OK);
	}
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	return m;
}
