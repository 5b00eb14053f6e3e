/* describe.c - see describe.h. */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapter/after/desc_after.h"
#include "adapter/after/names.h"
#include "adapter/desc_block.h"
#include "adapter/desc_gang.h"
#include "adapter/describe.h"
#include "adapter/gres_types.h"
#include "adapter/site.h"
#include "input/bid_time.h"

/* The first account of USERS (bid.h) that there is not. */
struct account_search {
	const char *users;
	char unknown[AUC_NAME_MAX];
};

/* When the jobs of a name are over; WAITS: the first of which nobody knows it. */
struct name_search {
	struct auc_auction *auction;
	double end;
	uint32_t waits;
};

/* What jobs get in PARTITION that do not say it. */
struct default_search {
	const char *partition;
	struct auc_job_defaults found;
};

static enum auc_code take_shapes(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
				 struct auc_bid *bid, struct auc_err *err);
static enum auc_code look_around(struct auc_auction *a, const job_desc_msg_t *desc,
				 uint32_t submit_uid, struct auc_bid *bid,
				 struct auc_gang_reach *reach, struct auc_err *err);
static bool lacks_memory(const job_desc_msg_t *desc);
static bool lacks_time(const job_desc_msg_t *desc, const struct auc_bid *bid);
static void fill(job_desc_msg_t *desc, const struct auc_bid *bid, const struct auc_job_defaults *d);
static void set_per_gpu(char **field, uint64_t amount);
static void find_defaults(const struct auc_rules *rules, const struct auc_accounts *accounts,
			  void *arg);
static enum auc_code check_task_gpus(const job_desc_msg_t *desc, const struct auc_bid *bid,
				     bool mixed, struct auc_err *err);
static bool is_uneven(const job_desc_msg_t *desc, const struct auc_bid_gang *g);
static enum auc_code check_step_gpus(const job_desc_msg_t *desc, const struct auc_bid *bid,
				     bool mixed, struct auc_err *err);
static enum auc_code check_dependency(struct auc_auction *a, const job_desc_msg_t *desc,
				      double *after, struct auc_err *err);
static enum auc_code check_tmp(const job_desc_msg_t *desc, struct auc_err *err);
static enum auc_code check_excluded(const struct auc_bid_gang *g, struct auc_err *err);
static enum auc_code check_block(job_desc_msg_t *desc, const struct auc_bid *bid,
				 struct auc_err *err);
static void find_unknown(const struct auc_rules *rules, const struct auc_accounts *accounts,
			 void *arg);
static bool times(void *arg, uint32_t job_id, double *start, double *end);
static enum auc_code named(void *arg, uint32_t uid, const char *name, double *end,
			   struct auc_err *err);
static enum auc_code type_array_gpus(job_desc_msg_t *desc, const struct auc_bid *bid,
				     const struct auc_gang_reach *reach, struct auc_err *err);
static bool is_over(void *arg, const struct auc_job_name *job);
static bool is_sold_until(void *arg, const struct auc_job_name *job);

enum auc_code auc_describe(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
			   struct auc_bid *bid, struct auc_err *err)
{
	struct auc_bid_gang *g = &bid->gang;
	/* A default model is for jobs that say nothing at all. */
	bool gang = !bid->ask && g->open &&
		    (!*bid->model || g->nspeedup || g->ngpu_time || auc_desc_has_shape(desc));
	enum auc_code code;
	double after;

	if (bid->kept)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: gang, within, whole, features, only, except, begin, end, "
				   "since, array, planned, profile, requeue, notice, qos and "
				   "accounts are no options; "
				   "say it by --nodes, --nodelist, --begin and so on",
				   AUC_ENV_BID);
	bid->dry_run = auc_desc_is_dry_run(desc);
	bid->requeue = desc->script && desc->requeue == 1;
	/* Those of workers and parameter servers live through it in any case. */
	bid->notice =
		gang && auc_desc_wants_notice(desc, auc_conf_change_signal(auc_auction_conf(a)));
	if (gang && auc_site_node_bounds().most_threads == 1)
		auc_desc_one_thread(desc);
	code = auc_desc_check(desc, gang, err);
	if (!code)
		code = check_tmp(desc, err);
	if (!code)
		code = check_block(desc, bid, err);
	if (!code && !gang)
		code = auc_bid_time_max_of(bid, 0, err);
	if (code || !gang)
		return code;
	bid->epochs = bid->chunks = bid->minibatches = 0;
	bid->nworkers = bid->nps = 0;
	*bid->model = '\0';
	code = take_shapes(a, desc, submit_uid, bid, err);
	if (!code)
		code = check_dependency(a, desc, &after, err);
	/* What it waits for has ended by then. */
	if (!code && after > g->begin)
		g->begin = after;
	return code;
}

/* Slurm picks nodes by their TmpDisk, and reserves none of it. */
static enum auc_code check_tmp(const job_desc_msg_t *desc, struct auc_err *err)
{
	uint64_t least = auc_site_node_bounds().least_tmp;

	if (desc->pn_min_tmp_disk >= NO_VAL || desc->pn_min_tmp_disk <= least)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL,
			   "--tmp=%u: expected at most %llu MB, which each node for sale has by its "
			   "TmpDisk in slurm.conf; for more, leave it out and name nodes "
			   "(--nodelist, --constraint)",
			   desc->pn_min_tmp_disk, (unsigned long long)least);
}

/* slurmctld does not get to see what a sold job is not to have, and would refuse an unknown name.
 */
static enum auc_code check_excluded(const struct auc_bid_gang *g, struct auc_err *err)
{
	for (unsigned i = 0; i < g->nplaces && g->except; i++)
		if (auc_nodes_lack(g->places[i]))
			return auc_err_set(err, AUC_EINVAL,
					   "--exclude: '%s' is not the name of a node of this "
					   "cluster, expected names that \"sinfo -N\" lists",
					   g->places[i]);
	return AUC_OK;
}

/* What each node gives depends on which nodes it may use, and that on what it says itself. */
static enum auc_code take_shapes(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
				 struct auc_bid *bid, struct auc_err *err)
{
	struct default_search s = {.partition = ""};
	bool whole = auc_desc_whole(desc);
	struct auc_gang_reach reach;
	struct auc_node_size size;
	enum auc_code code;

	code = look_around(a, desc, submit_uid, bid, &reach, err);
	/* Where each job has its nodes alone, it asks for that. */
	if (!code && !reach.enough && !bid->gang.whole) {
		job_desc_msg_t alone = *desc;
		struct auc_gang_reach there;

		alone.shared = 0;
		code = look_around(a, &alone, submit_uid, bid, &there, err);
		if (there.enough || (!*reach.partition && *there.partition)) {
			desc->shared = 0;
			whole = false;
			reach = there;
		} else if (!code) {
			code = look_around(a, desc, submit_uid, bid, &reach, err);
		}
	}
	if (!code && whole)
		code = auc_auction_node_size(a, bid, &size, err);
	if (code)
		return code;
	s.partition = reach.partition;
	auc_site_with_rules(find_defaults, &s);
	fill(desc, bid, &s.found);
	code = type_array_gpus(desc, bid, &reach, err);
	if (code)
		return code;
	code = auc_desc_gang(desc, auc_site_now(), whole ? &size : NULL, &reach, bid, err);
	code = code ? code : check_excluded(&bid->gang, err);
	code = code ? code : check_task_gpus(desc, bid, reach.mixed, err);
	return code ? code : check_step_gpus(desc, bid, reach.mixed, err);
}

/* The nodes that DESC's gang may use, whatever its partition's defaults are. BID has shapes then
 * that say what it takes at least. */
static enum auc_code look_around(struct auc_auction *a, const job_desc_msg_t *desc,
				 uint32_t submit_uid, struct auc_bid *bid,
				 struct auc_gang_reach *reach, struct auc_err *err)
{
	job_desc_msg_t least = *desc;
	struct auc_err barred;
	char reasons[512];
	enum auc_code code;

	*reach = (struct auc_gang_reach){.cpu_step = 1, .task_step = 1};
	if (lacks_memory(desc))
		least.pn_min_memory = 1;
	if (lacks_time(desc, bid))
		least.time_limit = 1;
	code = auc_desc_gang(&least, auc_site_now(), NULL, NULL, bid, err);
	code = code ? code : auc_desc_confine(desc, bid, err);
	code = code ? code : auc_auction_gang_names(a, bid, err);
	if (code)
		return code;
	/* If it may enter none, it is told so later. */
	if (!auc_site_confine(desc, submit_uid, bid, reasons, sizeof(reasons), &barred))
		auc_auction_gang_reach(a, bid, reach);
	return AUC_OK;
}

static bool lacks_memory(const job_desc_msg_t *desc)
{
	return desc->pn_min_memory == NO_VAL64 && !(desc->mem_per_tres && *desc->mem_per_tres);
}

static bool lacks_time(const job_desc_msg_t *desc, const struct auc_bid *bid)
{
	return desc->time_limit == NO_VAL && !bid->gang.nspeedup && !bid->gang.ngpu_time;
}

/* Makes DESC say what Slurm would take from D, as if its user had. */
static void fill(job_desc_msg_t *desc, const struct auc_bid *bid, const struct auc_job_defaults *d)
{
	bool gpus = false, memory = lacks_memory(desc);

	for (unsigned i = 0; i < bid->gang.ntres && !gpus; i++)
		gpus = !strncasecmp(bid->gang.tres[i], "gpu", 3) &&
		       strchr(":", bid->gang.tres[i][3]);
	if (lacks_time(desc, bid) && d->minutes)
		desc->time_limit = d->minutes;
	if (gpus && d->cpus_per_gpu && desc->cpus_per_task >= NO_VAL16 &&
	    !(desc->cpus_per_tres && *desc->cpus_per_tres))
		set_per_gpu(&desc->cpus_per_tres, d->cpus_per_gpu);
	if (gpus && d->mem_per_gpu && memory)
		set_per_gpu(&desc->mem_per_tres, d->mem_per_gpu);
	else if (d->mem && memory)
		desc->pn_min_memory = d->mem;
}

static void set_per_gpu(char **field, uint64_t amount)
{
	char text[64];

	snprintf(text, sizeof(text), AUC_GRES_PREFIX "gpu:%llu", (unsigned long long)amount);
	AUC_XFREE(*field);
	*field = slurm_xstrdup(text);
}

static void find_defaults(const struct auc_rules *rules, const struct auc_accounts *accounts,
			  void *arg)
{
	struct default_search *s = arg;

	(void)accounts;
	auc_rules_defaults(rules, s->partition, &s->found);
}

/* Slurm 22.05 takes no type for GPUs of no type that are in the record of an array, as they are
 * where its tasks are per GPU: they get the type that all nodes have. */
static enum auc_code type_array_gpus(job_desc_msg_t *desc, const struct auc_bid *bid,
				     const struct auc_gang_reach *reach, struct auc_err *err)
{
	char gres[2 * AUC_NAME_MAX], *typed;

	if (!desc->array_inx || desc->shared == 0 || !auc_desc_is_per_gpu(desc) ||
	    auc_gpus_typed(desc->tres_per_node) || !reach->gpu_kinds)
		return AUC_OK;
	if (reach->gpu_kinds > 1 || bid->gang.ngpu_time)
		return auc_err_set(err, AUC_EINVAL,
				   "GPUs of no type: given with --array and with what each GPU "
				   "brings (--cpus-per-gpu, --mem-per-gpu, --ntasks-per-gpu or the "
				   "partition's defaults), expected one type, as in "
				   "--gpus-per-node=a100:1");
	snprintf(gres, sizeof(gres), AUC_GRES_PREFIX "%s:1", reach->gpu);
	typed = auc_gres_typed(desc->tres_per_node, gres, true);
	if (!typed)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	AUC_XFREE(desc->tres_per_node);
	desc->tres_per_node = slurm_xstrdup(typed);
	free(typed);
	return AUC_OK;
}

/* Slurm 22.05 gives the GPUs of a pending job's tasks no type any more. They have that of the nodes
 * that were bought, unless these have several (MIXED), or GPUs of nodes are asked for beside them.
 */
static enum auc_code check_task_gpus(const job_desc_msg_t *desc, const struct auc_bid *bid,
				     bool mixed, struct auc_err *err)
{
	const struct auc_bid_gang *g = &bid->gang;

	bool waits = bid->stands > 0 || desc->array_inx;

	mixed |= (desc->tres_per_node && *desc->tres_per_node) ||
		 (desc->tres_per_job && *desc->tres_per_job);
	mixed |= is_uneven(desc, g);
	for (unsigned i = 0; waits && mixed && auc_task_gres(desc->tres_per_task) && i < g->ntres;
	     i++)
		if (!strcmp(g->tres[i], "gpu"))
			return auc_err_set(err, AUC_EINVAL,
					   "--gpus-per-task: of no type, expected one with %s, as "
					   "in --gpus-per-task=a100:1",
					   desc->array_inx ? "--array" : "--stands");
	return AUC_OK;
}

/* True if GPUs of tasks are asked for of nodes, since the tasks do not divide. */
static bool is_uneven(const job_desc_msg_t *desc, const struct auc_bid_gang *g)
{
	bool uneven = false;

	for (unsigned i = 0; AUC_TASKS_BOUND_CPUS && i < g->nshapes; i++)
		uneven |= desc->num_tasks < NO_VAL && desc->num_tasks % g->shapes[i].nodes > 0;
	return uneven;
}

/* Where nodes have GPUs of several types (MIXED), the record of srun's job says which were bought;
 * its step asks for those of srun's options, too, and would not begin. What --gpus-per-node alone
 * says, srun's plugin has made a part of --gres, which the step asks for as the record has it. */
static enum auc_code check_step_gpus(const job_desc_msg_t *desc, const struct auc_bid *bid,
				     bool mixed, struct auc_err *err)
{
	const struct auc_bid_gang *g = &bid->gang;
	bool asks = desc->tres_per_job && *desc->tres_per_job;

	if (!AUC_STEP_ASKS_AS_RECORD || !mixed || !auc_desc_is_from(desc, "srun"))
		return AUC_OK;
	if (auc_task_gres(desc->tres_per_task))
		asks |= (desc->tres_per_node && *desc->tres_per_node) || is_uneven(desc, g);
	for (unsigned i = 0; asks && i < g->ntres; i++)
		if (!strcmp(g->tres[i], "gpu"))
			return auc_err_set(
				err, AUC_EINVAL,
				"GPUs of no type: srun outside of a job needs their type "
				"where nodes have several, as in --gpus=a100:1");
	return AUC_OK;
}

/* As auc_desc_after(). */
static enum auc_code check_dependency(struct auc_auction *a, const job_desc_msg_t *desc,
				      double *after, struct auc_err *err)
{
	const struct auc_desc_others others = {.times = times, .named = named, .arg = a};
	enum auc_code code = auc_desc_after(desc, &others, after, err);

	/* It may be that of a lien, whose job has not been seen yet. */
	if (code == AUC_ENOENT && auc_auction_awaits(a, desc->user_id))
		return auc_err_set(err, AUC_EAGAIN,
				   "--dependency=%.64s: your last job has not been seen yet",
				   desc->dependency);
	if (code == AUC_ENOENT && auc_auction_decides(a, desc->user_id))
		return auc_err_set(
			err, AUC_EAGAIN,
			"--dependency=%.64s: tasks of an array of yours are being decided",
			desc->dependency);
	return code;
}

/* Whom it is for, too. What users there are, only files and networks say, and sbid has asked. */
static enum auc_code check_block(job_desc_msg_t *desc, const struct auc_bid *bid,
				 struct auc_err *err)
{
	struct account_search s = {.users = bid->gang.block_users};
	enum auc_code code;

	if (!bid->gang.block)
		return AUC_OK;
	code = auc_block_check(desc, bid, err);
	if (code)
		return code;
	auc_site_with_rules(find_unknown, &s);
	return *s.unknown ? auc_err_set(err, AUC_ENOENT, "--accounts: there is no account '%s'",
					s.unknown)
			  : AUC_OK;
}

static void find_unknown(const struct auc_rules *rules, const struct auc_accounts *accounts,
			 void *arg)
{
	struct account_search *s = arg;

	(void)rules;
	for (const char *p = s->users; (p = strchr(p, '@'));) {
		size_t n = strcspn(++p, ",");

		snprintf(s->unknown, sizeof(s->unknown), "%.*s", (int)n, p);
		if (!auc_accounts_has(accounts, s->unknown))
			return;
		*s->unknown = '\0';
	}
}

/* For auc_desc_after(). */
static bool times(void *arg, uint32_t job_id, double *start, double *end)
{
	return auc_auction_times(arg, job_id, start, end);
}

/* Likewise. AUC_EAGAIN: the agent is to look at jobs first. */
static enum auc_code named(void *arg, uint32_t uid, const char *name, double *end,
			   struct auc_err *err)
{
	struct name_search s = {.auction = arg};
	uint64_t number = auc_name_number(name);

	*end = 0;
	if (auc_auction_awaits(arg, uid) || auc_auction_decides(arg, uid) ||
	    !auc_names_ask(uid, auc_site_elapsed()))
		return auc_err_set(err, AUC_EAGAIN,
				   "--dependency=singleton: your jobs are being looked at");
	auc_names_each(AUC_NAMED_OTHERS, uid, number, is_over, &s);
	if (s.waits)
		return auc_err_set(err, AUC_EINVAL,
				   "--dependency=singleton: job %u has that name (%.64s) and has "
				   "not bought its time: nobody knows when it ends; expected "
				   "another --job-name, or jobs that have bought theirs",
				   s.waits, name);
	auc_names_each(AUC_NAMED_SOLD, uid, number, is_sold_until, &s);
	*end = s.end;
	return AUC_OK;
}

/* False for the first job that nobody knows the end of. */
static bool is_over(void *arg, const struct auc_job_name *job)
{
	struct name_search *s = arg;
	double end;

	/* It may have been sold since. */
	if (auc_auction_job_ends(s->auction, job->job_id, &end))
		return true;
	if (job->end < INFINITY)
		s->end = fmax(s->end, job->end);
	else
		s->waits = job->job_id;
	return !s->waits;
}

static bool is_sold_until(void *arg, const struct auc_job_name *job)
{
	struct name_search *s = arg;
	double end;

	if (auc_auction_job_ends(s->auction, job->job_id, &end))
		s->end = fmax(s->end, end);
	return true;
}
