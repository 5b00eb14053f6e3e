/*
 * scenario_market.h - a scenario in libauction's terms: the market, and each job as a policy sees
 * it.
 */
#ifndef SIM_SCENARIO_MARKET_H
#define SIM_SCENARIO_MARKET_H

#include "base/err.h"
#include "market/market.h"
#include "auctionsim/scenario/scenario.h"

/*
 * A market of S with its slots 1 to T, free of prices and empty; JOB's own types (NULL: none)
 * follow the scenario's, so that types have the scenario's indices; so do TRES that only they use.
 */
enum auc_code scenario_market_create(const struct scenario *s, const struct scenario_job *job,
				     struct auc_market **m, struct auc_err *err);
/* The same with slot T alone, and with what is sold already. */
enum auc_code scenario_market_slot(const struct scenario *s, const struct scenario_job *job,
				   auc_slot t, struct auc_market **m, struct auc_err *err);
/* Books what the scenario says is sold already; server "*" is no matter of the market.
 * Slots outside M are left out. */
enum auc_code scenario_market_state(const struct scenario *s, struct auc_market *m,
				    struct auc_err *err);
/* Gives M the prices of mode "given". */
enum auc_code scenario_market_give_prices(const struct scenario *s, struct auc_market *m,
					  struct auc_err *err);
/*
 * Fills *OUT (zeroed or used before; auc_job_clear() frees it) from JOB for M, a market of S (with
 * JOB's own types if it has any). AUC_EINVAL names a key that a schedule needs and the job does not
 * have. It is not limited by a budget: that is what is left of it by then.
 */
enum auc_code scenario_market_job(const struct scenario *s, const struct scenario_job *job,
				  const struct auc_market *m, struct auc_job *out,
				  struct auc_err *err);
/* The same of a job that need not bid: its utility is what it is in JOB, zeroes if it has none. */
enum auc_code scenario_market_task(const struct scenario *s, const struct scenario_job *job,
				   const struct auc_market *m, struct auc_job *out,
				   struct auc_err *err);
/* The same, for policies and steppers of sites, of a job that is no gang: where its chunks lie
 * instead of how long its mini-batches take. */
enum auc_code scenario_market_site_job(const struct scenario *s, const struct scenario_job *job,
				       struct auc_job *out, struct auc_err *err);
/* True if JOB has types of its own. */
bool scenario_market_is_own(const struct scenario_job *job);

#endif
