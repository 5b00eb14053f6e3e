/*
 * registry.h - what auctionsim can run beside the policies of a cluster: baselines, and policies as
 * they are printed (variant=paper).
 */
#ifndef SIM_REGISTRY_H
#define SIM_REGISTRY_H

#include "policy/policy.h"
#include "policy/stepper.h"

extern const struct auc_policy sim_policy_unpriced, sim_policy_fifo, sim_policy_drf;
/* Those of the same name, with option variant=paper; posted with all that there is. */
extern const struct auc_policy sim_policy_posted;
extern const struct auc_policy sim_policy_dps_paper, sim_policy_oasis_paper, sim_policy_eris_paper;
extern const struct auc_stepper sim_stepper_srtf, sim_stepper_tiresias_l, sim_stepper_batchsche;
extern const struct auc_stepper sim_stepper_oasis_fifo, sim_stepper_oasis_drf, sim_stepper_rrh,
	sim_stepper_dorm;
extern const struct auc_stepper sim_stepper_tiresias, sim_stepper_antman, sim_stepper_liquid;

/* All that price or place job by job, and all that decide slot by slot; NULL-terminated. */
extern const struct auc_policy *const sim_policies[];
extern const struct auc_stepper *const sim_steppers[];

/* The policy of "NAME[,option=value...]"; NULL: there is none. */
const struct auc_policy *sim_policy_of(const char *text);
/* NULL: there is none. */
const struct auc_stepper *sim_stepper_find(const char *name);
/* S->create(), also with variant=paper. */
enum auc_code sim_stepper_create(const struct auc_stepper *s, const char *options,
				 struct auc_stepper_ctx **ctx, struct auc_err *err);
/* aonline_paper.c: aonline, also with variant=paper. */
enum auc_code sim_aonline_create(const char *options, struct auc_stepper_ctx **ctx,
				 struct auc_err *err);

#endif
