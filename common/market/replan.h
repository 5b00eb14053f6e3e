/* replan.h - other plans for what was sold: without a server that it was to have, later, without
 * the slots that were lost, or on the parts of a large server. */
#ifndef AUC_REPLAN_H
#define AUC_REPLAN_H

#include "market/market.h"
#include "market/plan.h"

/*
 * MADE (initialised) becomes PLAN with what SERVER was to give in slots from FROM on given by
 * others that are up, open and have room: the first that can take all of it, else for each run the
 * first that can, else several, the PSs on one. They are of SERVER's group; if that is not known
 * any more, of any. None of them before UPLOAD slots after the arrival (by server; NULL: whenever,
 * and none of another group).
 *
 * All that comes from FROM on is LATER slots later; with LATER, other servers that have no room
 * then are replaced likewise, and SERVER is kept where it is only closed (auc_market_close()) in
 * the slots that it had. Value and cost stay. AUC_EFULL: there is no such plan, or it takes too
 * long to find; AUC_ENOMEM.
 */
enum auc_code auc_plan_without(const struct auc_market *m, const struct auc_plan *plan,
			       unsigned server, auc_slot from, unsigned later,
			       const unsigned *upload, struct auc_plan *made, struct auc_err *err);
/*
 * MADE (initialised) becomes PLAN with all that comes from FROM on LATER (> 0) slots later, on the
 * same servers where they have room then, else on others of their group. Value and cost stay. As
 * auc_plan_without().
 */
enum auc_code auc_plan_later(const struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			     unsigned later, const unsigned *upload, struct auc_plan *made,
			     struct auc_err *err);
/*
 * MADE (initialised) becomes PLAN and, LATER slots behind its end, SLOTS more with the layout of
 * its last run: on the same servers where they have room then, else on others of their group. Value
 * and cost stay. As auc_plan_without().
 */
enum auc_code auc_plan_go_on(const struct auc_market *m, const struct auc_plan *plan,
			     unsigned slots, unsigned later, const unsigned *upload,
			     struct auc_plan *made, struct auc_err *err);
/*
 * MADE (initialised) becomes PLAN without its slots FROM to UNTIL - 1, which are counted in
 * made->lost. Value, cost and completion stay. AUC_EFULL: there is none left from UNTIL on, or its
 * data move in those.
 */
enum auc_code auc_plan_cut(const struct auc_plan *plan, auc_slot from, auc_slot until,
			   struct auc_plan *made, struct auc_err *err);
/*
 * MADE (initialised) becomes PLAN with what it has on wholes (auc_market_add_whole()) on parts of
 * them that are up, open and have room: those that gave to the run before come first, PSs stay
 * together where they can. AUC_EFULL: what is free of a whole is on too many of its parts.
 */
enum auc_code auc_plan_spread(const struct auc_market *m, const struct auc_plan *plan,
			      struct auc_plan *made, struct auc_err *err);
/* What SERVER gives in RUN of PLAN; NULL: nothing. */
const struct auc_share *auc_plan_share_on(const struct auc_plan *plan, const struct auc_run *run,
					  unsigned server);

#endif
