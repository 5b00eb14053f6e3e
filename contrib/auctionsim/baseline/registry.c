/* registry.c - the tables of what auctionsim runs: see registry.h. */
#include "config.h"

#include <string.h>

#include "auctionsim/baseline/registry.h"
#include "policy/option.h"

const struct auc_policy *const sim_policies[] = {
	&auc_policy_dps,      &auc_policy_oasis, &auc_policy_eris, &sim_policy_posted,
	&sim_policy_unpriced, &sim_policy_fifo,  &sim_policy_drf,  NULL};

/* The algorithms as printed, and the option that asks for ours of that name. */
static const struct {
	const struct auc_policy *policy;
	const char *ours;
} printed[] = {{&sim_policy_dps_paper, "variant=exact"},
	       {&sim_policy_oasis_paper, "variant=exact"},
	       {&sim_policy_eris_paper, "variant=best"}};

const struct auc_stepper *const sim_steppers[] = {
	&auc_stepper_aonline,   &sim_stepper_srtf,       &sim_stepper_tiresias_l,
	&sim_stepper_batchsche, &sim_stepper_oasis_fifo, &sim_stepper_oasis_drf,
	&sim_stepper_rrh,       &sim_stepper_dorm,       &sim_stepper_tiresias,
	&sim_stepper_antman,    &sim_stepper_liquid,     NULL};

static bool is_named(const struct auc_policy *policy, const char *text);

const struct auc_policy *sim_policy_of(const char *text)
{
	const char *options = text + strcspn(text, ",");

	/* Also with a variant that there is not: its errors say which there are. */
	if (auc_options_have(options, "variant"))
		for (unsigned i = 0; i < sizeof(printed) / sizeof(printed[0]); i++)
			if (is_named(printed[i].policy, text) && !strstr(options, printed[i].ours))
				return printed[i].policy;
	for (const struct auc_policy *const *list = sim_policies; *list; list++)
		if (is_named(*list, text))
			return *list;
	return NULL;
}

const struct auc_stepper *sim_stepper_find(const char *name)
{
	for (unsigned i = 0; sim_steppers[i]; i++)
		if (!strcmp(sim_steppers[i]->name, name))
			return sim_steppers[i];
	return NULL;
}

enum auc_code sim_stepper_create(const struct auc_stepper *s, const char *options,
				 struct auc_stepper_ctx **ctx, struct auc_err *err)
{
	if (s == &auc_stepper_aonline)
		return sim_aonline_create(options, ctx, err);
	return s->create(options, ctx, err);
}

static bool is_named(const struct auc_policy *policy, const char *text)
{
	size_t len = strcspn(text, ",");

	return strlen(policy->name) == len && !strncmp(policy->name, text, len);
}
