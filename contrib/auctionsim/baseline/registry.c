/* registry.c - the tables of what auctionsim runs: see registry.h. */
#include "config.h"

#include <string.h>

#include "auctionsim/baseline/registry.h"
#include "policy/option.h"

const struct auc_policy *const sim_policies[] = {
	&auc_policy_dps,      &auc_policy_oasis, &auc_policy_eris, &sim_policy_posted,
	&sim_policy_unpriced, &sim_policy_fifo,  &sim_policy_drf,  NULL};

static const struct auc_policy *const printed[] = {&sim_policy_dps_paper, &sim_policy_oasis_paper,
						   &sim_policy_eris_paper, NULL};
/* The variant of those names that is not the printed one. */
static const char *const others[] = {"variant=exact", "variant=best"};

const struct auc_stepper *const sim_steppers[] = {
	&auc_stepper_aonline,   &sim_stepper_srtf,       &sim_stepper_tiresias_l,
	&sim_stepper_batchsche, &sim_stepper_oasis_fifo, &sim_stepper_oasis_drf,
	&sim_stepper_rrh,       &sim_stepper_dorm,       &sim_stepper_tiresias,
	&sim_stepper_antman,    &sim_stepper_liquid,     NULL};

static const struct auc_policy *find(const struct auc_policy *const *list, const char *text);

const struct auc_policy *sim_policy_of(const char *text)
{
	const char *options = text + strcspn(text, ",");
	const struct auc_policy *as_printed = NULL;

	/* Also with a variant that there is not: its errors say which there are. */
	if (auc_options_have(options, "variant") && !strstr(options, others[0]) &&
	    !strstr(options, others[1]))
		as_printed = find(printed, text);
	return as_printed ? as_printed : find(sim_policies, text);
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

static const struct auc_policy *find(const struct auc_policy *const *list, const char *text)
{
	size_t len = strcspn(text, ",");

	for (; *list; list++)
		if (strlen((*list)->name) == len && !strncmp((*list)->name, text, len))
			return *list;
	return NULL;
}
