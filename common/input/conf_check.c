/*
 * conf_check.c - what no line of auction.conf can tell alone: references, and what one key says
 * about another.
 */
#include "config.h"

#include <string.h>

#include "input/conf-private.h"
#include "input/bid.h"
#include "policy/policy.h"
#include "policy/registry.h"
#include "base/list.h"
#include "input/conf_prices.h"

#define NOTICE_MIN 5.0 /* seconds of ChangeNotice, where the file does not say it */
#define NOTICE_MAX 90.0

static enum auc_code check_roles(struct parser *p);
static enum auc_code check_tres(struct parser *p);
static bool sells_by_prices(const struct auc_conf *conf);
static enum auc_code check_prices(struct parser *p);
static enum auc_code check_lower(struct parser *p, const char *key,
				 const struct auc_conf_bounds *b);
static enum auc_code check_money(struct parser *p);
static enum auc_code check_shapes(struct parser *p);
static enum auc_code check_defaults(struct parser *p);
static enum auc_code check_change(struct parser *p);
static const struct word *global_word(const struct parser *p, const char *name);

/* Somewhere workers are hosted, and somewhere PSs. */
static enum auc_code check_roles(struct parser *p)
{
	static const char *const words[] = {[AUC_PART_WORKER] = "worker", [AUC_PART_PS] = "ps"};
	unsigned alone = p->conf->partitions[0].roles, i;

	for (i = 1; i < p->conf->npartitions; i++)
		if (p->conf->partitions[i].roles != alone)
			return AUC_OK;
	if (alone == AUC_PART_BOTH)
		return AUC_OK;
	return auc_err_set(p->err, AUC_EINVAL,
			   "%s: Roles=%s on every line PartitionName=, expected one at least with "
			   "Roles=%s or both: nothing could host %s",
			   p->file, words[alone],
			   words[alone == AUC_PART_PS ? AUC_PART_WORKER : AUC_PART_PS],
			   alone == AUC_PART_PS ? "workers" : "PSs");
}

enum auc_code auc_conf_check(struct parser *p)
{
	const struct auc_conf *conf = p->conf;
	enum auc_code rc;

	if (!conf->npartitions)
		return auc_err_set(p->err, AUC_EINVAL,
				   "%s: no line PartitionName=, expected at least one", p->file);
	if (!conf->nworker_types != !conf->nps_types)
		return auc_err_set(
			p->err, AUC_EINVAL,
			"%s: no line %s=, expected both WorkerType and PSType, or, where "
			"jobs are sold as they are, neither",
			p->file, conf->nworker_types ? "PSType" : "WorkerType");
	if (!conf->nworker_types && !auc_policy_find(conf->policy)->gangs)
		return auc_err_set(
			p->err, AUC_EINVAL,
			"%s: no lines WorkerType= and PSType=, expected both with policy "
			"%s, which sells to such jobs only",
			p->file, conf->policy);
	if (conf->end_margin >= conf->slot_seconds)
		return auc_conf_word_error(
			p,
			global_word(p, global_word(p, "EndMargin") ? "EndMargin" : "SlotSeconds"),
			"EndMargin (%.15g s) less than SlotSeconds (%.15g s)", conf->end_margin,
			conf->slot_seconds);
	for (unsigned i = 0; i < conf->npartitions; i++)
		if (conf->partitions[i].one_server &&
		    (!sells_by_prices(conf) || auc_policy_find(conf->policy)->sites))
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s: PartitionName=%s: OneServer=yes: expected no with "
					   "policy %s, which places jobs on nodes",
					   p->file, conf->partitions[i].name, conf->policy);
	if (conf->late_start > 0 && auc_policy_find(conf->policy)->stepper)
		return auc_conf_word_error(p, global_word(p, "LateStart"),
					   "0 with policy %s, which changes no slot that has begun",
					   conf->policy);
	rc = check_roles(p);
	if (rc == AUC_OK)
		rc = check_tres(p);
	if (rc == AUC_OK)
		rc = check_prices(p);
	if (rc == AUC_OK)
		rc = check_money(p);
	if (rc == AUC_OK)
		rc = check_shapes(p);
	if (rc == AUC_OK)
		rc = check_defaults(p);
	return rc;
}

/* Each can be meant. */
static enum auc_code check_shapes(struct parser *p)
{
	for (unsigned i = 0; i < p->conf->nshapes; i++) {
		const struct auc_conf_shape *s = &p->conf->shapes[i];

		if (*s->partition && !auc_conf_partition(p->conf, s->partition))
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s: Shape=%s: Partition=%s: expected one that has a "
					   "line PartitionName",
					   p->file, s->name, s->partition);
		if (*s->type && !s->gpus)
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s: Shape=%s: Type=%s: expected GpusPerNode above 0",
					   p->file, s->name, s->type);
	}
	return AUC_OK;
}

/* Money comes and goes back by itself to those alone who pay. */
static enum auc_code check_money(struct parser *p)
{
	static const char *const payers[] = {"", "user:", "account:"};
	const struct auc_conf *conf = p->conf;

	if (conf->budgets == AUC_BUDGETS_NONE && (conf->nrefills || conf->give_back))
		return auc_err_set(p->err, AUC_EINVAL,
				   "%s: %s=: expected none with Budgets=none, where nobody pays",
				   p->file, conf->nrefills ? "Refill" : "Return");
	for (unsigned i = 0; i < conf->nrefills; i++) {
		const char *name = conf->refills[i].name, *kind = payers[conf->budgets];

		if (strncmp(name, kind, strlen(kind)))
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s: Refill=%s: expected %.*s=..., as Budgets says",
					   p->file, name, (int)strlen(kind) - 1, kind);
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(name, conf->refills[k].name))
				return auc_err_set(p->err, AUC_EINVAL,
						   "%s: Refill=%s: expected once", p->file, name);
	}
	return AUC_OK;
}

static enum auc_code check_tres(struct parser *p)
{
	const struct auc_conf *conf = p->conf;
	const struct auc_conf_type *type;
	struct auc_named all[AUC_TRES_MAX];
	unsigned i, k, n = 0;

	for (i = 0; i < conf->nworker_types + conf->nps_types; i++) {
		type = i < conf->nworker_types ? &conf->worker_types[i]
					       : &conf->ps_types[i - conf->nworker_types];
		for (k = 0; k < type->ntres; k++) {
			if (auc_list_find_tres(all, n, type->tres[k].name))
				continue;
			if (conf->transfer_mb >= 0 && !strcmp(type->tres[k].name, AUC_TRANSFER))
				return auc_err_set(p->err, AUC_EINVAL,
						   "%s:%u: TRES=%s: expected another name: with "
						   "TransferBudget= this is what nodes send",
						   p->file, type->line, AUC_TRANSFER);
			if (n == AUC_TRES_MAX)
				return auc_err_set(
					p->err, AUC_EINVAL,
					"%s:%u: TRES=%s: expected at most %d different TRES in "
					"all types",
					p->file, type->line, type->tres[k].name, AUC_TRES_MAX);
			all[n++] = type->tres[k];
		}
	}
	return AUC_OK;
}

/* Prices of TRES, in any place: not what a stepper or a policy that posts its own goes by. */
static bool sells_by_prices(const struct auc_conf *conf)
{
	const struct auc_policy *policy = auc_policy_find(conf->policy);

	return !policy->stepper && !policy->posts;
}

static enum auc_code check_prices(struct parser *p)
{
	struct auc_conf *conf = p->conf;
	const struct auc_policy *policy = auc_policy_find(conf->policy);
	bool bounds = policy->prices == AUC_PRICE_BOUNDS;
	enum auc_code rc;

	if (!sells_by_prices(conf) && conf->prices != AUC_PRICES_NONE) {
		if (global_word(p, "Prices"))
			return auc_conf_word_error(
				p, global_word(p, "Prices"),
				"none with policy %s, which does not sell by them", conf->policy);
		conf->prices = AUC_PRICES_NONE;
	}
	if (global_word(p, "TransferBudget") && !policy->sites)
		return auc_conf_word_error(p, global_word(p, "TransferBudget"),
					   "none with policy %s, which moves no data",
					   conf->policy);
	if (conf->prices == AUC_PRICES_GIVEN && !(bounds ? conf->bounds.nupper : conf->neta))
		return auc_conf_word_error(p, global_word(p, "Prices"), "a line %s with the %s",
					   bounds ? "Upper=" : "Eta=", bounds ? "bounds" : "bases");
	rc = check_lower(p, "Lower", &conf->bounds);
	return rc == AUC_OK ? check_lower(p, "PSLower", &conf->ps_bounds) : rc;
}

static enum auc_code check_lower(struct parser *p, const char *key, const struct auc_conf_bounds *b)
{
	const struct auc_named *upper;
	unsigned i;

	for (i = 0; i < b->nlower; i++) {
		upper = auc_conf_price_find(b->upper, b->nupper, b->lower[i].name);
		if (!upper || upper->value < b->lower[i].value)
			return auc_conf_word_error(
				p, global_word(p, key), "for '%s' no more than %s has for it",
				b->lower[i].name, b == &p->conf->bounds ? "Upper" : "PSUpper");
	}
	return AUC_OK;
}

enum auc_code auc_conf_check_model(struct parser *p, const struct word *word, size_t n,
				   const struct auc_conf_model *model)
{
	const char *name = NULL;
	bool ps = false;
	unsigned i;
	size_t w;

	for (i = 0; !name && i < model->nworkers; i++)
		if (!auc_conf_worker_type(p->conf, model->worker_seconds[i].name))
			name = model->worker_seconds[i].name;
	for (i = 0; !name && i < model->nps; i++)
		if (!auc_conf_ps_type(p->conf, model->ps_seconds[i].name)) {
			name = model->ps_seconds[i].name;
			ps = true;
		}
	if (!name)
		return AUC_OK;
	for (w = 0; w + 1 < n && !auc_conf_same_word(word[w].key, ps ? "PSTime" : "WorkerTime");
	     w++)
		;
	return auc_conf_word_error(p, &word[w], "types that a line %s= defines, '%s' is in none",
				   ps ? "PSType" : "WorkerType", name);
}

static enum auc_code check_defaults(struct parser *p)
{
	struct auc_err detail;
	struct auc_bid bid;

	if (*p->conf->default_model && !auc_conf_model(p->conf, p->conf->default_model))
		return auc_conf_word_error(p, global_word(p, "DefaultModel"),
					   "the name of a Model");
	if (p->conf->default_bid &&
	    auc_bid_parse(p->conf, p->conf->default_bid, &bid, &detail) != AUC_OK)
		return auc_conf_word_error(p, global_word(p, "DefaultBid"), "a bid (%.300s)",
					   detail.text);
	return check_change(p);
}

static enum auc_code check_change(struct parser *p)
{
	struct auc_conf *conf = p->conf;
	double half = conf->slot_seconds / 2, notice = conf->slot_seconds * 0.3;

	if (conf->late_start >= conf->slot_seconds)
		return auc_conf_word_error(p, global_word(p, "LateStart"),
					   "less than SlotSeconds (%.15g s)", conf->slot_seconds);
	if (global_word(p, "ChangeNotice") && conf->change_notice > half)
		return auc_conf_word_error(p, global_word(p, "ChangeNotice"),
					   "at most half of SlotSeconds (%.15g s)", half);
	if (!global_word(p, "ChangeNotice")) {
		notice = notice < NOTICE_MIN   ? NOTICE_MIN
			 : notice > NOTICE_MAX ? NOTICE_MAX
					       : notice;
		conf->change_notice = notice < half ? notice : half;
	}
	if (auc_conf_change_signal(conf) < 0)
		return auc_conf_word_error(p, global_word(p, "ChangeSignal"),
					   "the name of a signal that ends no job, such as "
					   "USR1, USR2 or URG, or none");
	return AUC_OK;
}

/* Where the file set a global key; NULL: nowhere. */
static const struct word *global_word(const struct parser *p, const char *name)
{
	return p->global[auc_conf_key_find(GLOBAL, name) - auc_conf_keys];
}
