/*
 * aonline_paper.c - stepper aonline, also with its algorithms as they are printed, corrected where
 * they would not run: no job is looked at as a whole before it is dispatched chunk by chunk.
 *
 * Options: those of aonline (aonline.c), and
 *   variant=paper   guard=none
 */
#include "config.h"

#include <stddef.h>
#include <stdio.h>

#include "auctionsim/baseline/registry.h"
#include "policy/option.h"

struct options {
	unsigned guard, variant, site;
};

enum auc_code sim_aonline_create(const char *options, struct auc_stepper_ctx **ctx,
				 struct auc_err *err)
{
	static const char *const sites[] = {"any", "edge", "cloud"};
	static const struct auc_option list[] = {
		{.key = "guard", .choices = "job|none", .offset = offsetof(struct options, guard)},
		{.key = "variant", .choices = "paper", .offset = offsetof(struct options, variant)},
		{.key = "site",
		 .choices = "any|edge|cloud",
		 .offset = offsetof(struct options, site)},
	};
	struct options o = {.variant = AUC_OPTION_NOT_GIVEN};
	enum auc_code rc = auc_options_read("aonline", options, list, 3, &o, err);
	bool none = o.guard == 1 || o.variant != AUC_OPTION_NOT_GIVEN;
	char own[64];

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	snprintf(own, sizeof(own), "guard=%s,site=%s", none ? "none" : "job", sites[o.site]);
	return auc_stepper_aonline.create(own, ctx, err);
}
