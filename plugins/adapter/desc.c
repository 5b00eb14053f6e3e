/* desc.c - see desc.h. */
#include "config.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/desc.h"
#include "adapter/desc_gang.h"
#include "adapter/desc_share.h"
#include "base/num.h"
#include "input/script_traps.h"
#include "ledger/receipt.h"
#include "ledger/why.h"

#define ENV_SCAN_MAX 65536u /* variables looked at in one submission */

enum kind { STRING, U8, U16, U32, U64, TIME };

/* A field that must be as slurm_init_job_desc_msg() leaves it, or have the one harmless value ALSO.
 */
struct field {
	const char *option;
	size_t offset;
	enum kind kind;
	uint64_t also;
};

#define FIELD(name, kind, option)                                                                  \
	{                                                                                          \
		option, offsetof(job_desc_msg_t, name), kind, 0                                    \
	}
#define FIELD_ALSO(name, kind, option, also)                                                       \
	{                                                                                          \
		option, offsetof(job_desc_msg_t, name), kind, also                                 \
	}

static const struct field decided[] = {
	FIELD(begin_time, TIME, "--begin"),
	FIELD(deadline, TIME, "--deadline"),
	FIELD(time_limit, U32, "--time"),
	FIELD(time_min, U32, "--time-min"),
	FIELD_ALSO(min_nodes, U32, "--nodes", 1),
	FIELD_ALSO(max_nodes, U32, "--nodes", 1),
	FIELD_ALSO(num_tasks, U32, "--ntasks", 1),
	FIELD_ALSO(ntasks_per_node, U16, "--ntasks-per-node", 1),
	FIELD(ntasks_per_socket, U16, "--ntasks-per-socket"),
	FIELD(ntasks_per_core, U16, "--ntasks-per-core"),
	FIELD(ntasks_per_board, U16, "--ntasks-per-board"),
	FIELD(ntasks_per_tres, U16, "--ntasks-per-gpu"),
	FIELD(cpus_per_task, U16, "--cpus-per-task"),
	FIELD_ALSO(min_cpus, U32, "--ntasks", 1),
	FIELD(pn_min_cpus, U16, "--mincpus"),
	/* 0 is all that the node has. */
	FIELD_ALSO(pn_min_memory, U64, "--mem", NO_VAL64),
	FIELD(pn_min_tmp_disk, U32, "--tmp"),
	FIELD(sockets_per_node, U16, "--sockets-per-node"),
	FIELD(cores_per_socket, U16, "--cores-per-socket or --hint"),
	FIELD(threads_per_core, U16, "--threads-per-core"),
	FIELD(core_spec, U16, "--core-spec"),
	/* These no command of Slurm sets. */
	FIELD(boards_per_node, U16, "boards_per_node"),
	FIELD(sockets_per_board, U16, "sockets_per_board"),
	FIELD(tres_per_job, STRING, "--gpus"),
	FIELD(tres_per_node, STRING, "--gres"),
	FIELD(tres_per_socket, STRING, "--gpus-per-socket"),
	FIELD(tres_per_task, STRING, "--gpus-per-task"),
	FIELD(cpus_per_tres, STRING, "--cpus-per-gpu"),
	FIELD(mem_per_tres, STRING, "--mem-per-gpu"),
	FIELD(req_nodes, STRING, "--nodelist"),
	FIELD(exc_nodes, STRING, "--exclude"),
	FIELD_ALSO(shared, U16, "--exclusive", 1),
	FIELD_ALSO(overcommit, U8, "--overcommit", 0),
};

/* Of a gang, what could take more of a node than it says, or another node than is sold. */
static const struct field unclear[] = {
	FIELD(ntasks_per_socket, U16, "--ntasks-per-socket"),
	FIELD(ntasks_per_core, U16, "--ntasks-per-core"),
	FIELD(ntasks_per_board, U16, "--ntasks-per-board"),
	FIELD(sockets_per_node, U16, "--sockets-per-node"),
	FIELD(cores_per_socket, U16, "--cores-per-socket or --hint"),
	FIELD(threads_per_core, U16, "--threads-per-core or --hint"),
	FIELD(tres_per_socket, STRING, "--gpus-per-socket"),
	FIELD(boards_per_node, U16, "boards_per_node"),
	FIELD(sockets_per_board, U16, "sockets_per_board"),
	FIELD(max_cpus, U32, "max_cpus"),
};

/* What could keep a sold job from starting in its slot. */
static const struct field delaying[] = {
	FIELD(cluster_features, STRING, "--cluster-constraint"),
	FIELD(batch_features, STRING, "--batch"),
	FIELD(reservation, STRING, "--reservation"),
	FIELD(licenses, STRING, "--licenses"),
	FIELD(burst_buffer, STRING, "--bb"),
	FIELD_ALSO(immediate, U16, "--immediate", 0),
	FIELD_ALSO(reboot, U16, "--reboot", 0),
	/* The last ones are a gang's to name. */
	FIELD(features, STRING, "--constraint"),
	FIELD(req_switch, U32, "--switches"),
	FIELD(dependency, STRING, "--dependency"),
	FIELD_ALSO(contiguous, U16, "--contiguous", 0),
};
#define OF_GANGS 4

/* Options in words: "--mem (SBATCH_MEM_PER_NODE is set), --time". */
struct options {
	char text[240];
	size_t len;
	unsigned n;
};

/* The variables that sbatch takes an option from. They are named beside the option, which the user
 * may not have written. */
static const struct variable {
	const char *option, *name;
} variables[] = {
	{"--time", "SBATCH_TIMELIMIT"},
	{"--time", "SBATCH_TIME"},
	{"--mem", "SBATCH_MEM_PER_NODE"},
	{"--mem", "SBATCH_MEM_PER_CPU"},
	{"--mem-per-gpu", "SBATCH_MEM_PER_GPU"},
	{"--cpus-per-gpu", "SBATCH_CPUS_PER_GPU"},
	{"--cpus-per-task", "SBATCH_CPUS_PER_TASK"},
	{"--gpus", "SBATCH_GPUS"},
	{"--gres", "SBATCH_GRES"},
	{"--gres", "SBATCH_GPUS_PER_NODE"},
	{"--gpus-per-socket", "SBATCH_GPUS_PER_SOCKET"},
	{"--gpus-per-task", "SBATCH_GPUS_PER_TASK"},
	{"--gpus-per-task", "SBATCH_TRES_PER_TASK"},
	{"--exclusive", "SBATCH_EXCLUSIVE"},
	{"--overcommit", "SBATCH_OVERCOMMIT"},
	{"--overcommit without --exclusive", "SBATCH_OVERCOMMIT"},
	{"--core-spec", "SBATCH_CORE_SPEC"},
	{"--threads-per-core", "SBATCH_HINT"},
	{"--threads-per-core", "SBATCH_THREADS_PER_CORE"},
	{"--threads-per-core or --hint", "SBATCH_HINT"},
	{"--threads-per-core or --hint", "SBATCH_THREADS_PER_CORE"},
	{"--exclusive=user or mcs", "SBATCH_EXCLUSIVE"},
	{"--ntasks-per-gpu", "SBATCH_NTASKS_PER_GPU"},
	{"--nodelist", "SBATCH_NODELIST"},
	{"--exclude", "SBATCH_EXCLUDE"},
	{"--begin", "SBATCH_BEGIN"},
	{"--deadline", "SBATCH_DEADLINE"},
	{"--gres-flags=enforce-binding", "SBATCH_GRES_FLAGS"},
	{"--distribution=arbitrary", "SBATCH_DISTRIBUTION"},
	{"--constraint", "SBATCH_CONSTRAINT"},
	{"--cluster-constraint", "SBATCH_CLUSTER_CONSTRAINT"},
	{"--reservation", "SBATCH_RESERVATION"},
	{"--licenses", "SBATCH_LICENSES"},
	{"--dependency", "SBATCH_DEPENDENCY"},
	{"--bb", "SBATCH_BURST_BUFFER"},
	{"--switches", "SBATCH_REQ_SWITCH"},
	{"--array", "SBATCH_ARRAY_INX"},
};

static const char *find_variable(char *const *env, uint32_t n, const char *name);
static void add_waits(struct options *late, const job_desc_msg_t *desc);
static bool asks_for_buffer(const char *script);
static void add_set(struct options *o, const struct field *fields, size_t n,
		    const job_desc_msg_t *desc, const job_desc_msg_t *plain);
static bool is_implied(size_t offset, const job_desc_msg_t *desc);
static void add_option(struct options *o, const char *option, const job_desc_msg_t *desc);
static bool is_set(const struct field *f, const job_desc_msg_t *desc, const job_desc_msg_t *plain);
static enum auc_code say_options(const struct options *plan, const struct options *late, bool gang,
				 struct auc_err *err);
static uint64_t number_at(const job_desc_msg_t *desc, const struct field *f);
static const char *string_at(const job_desc_msg_t *desc, const struct field *f);
static void set_string(char **field, const char *value);
static bool same_gres(const char *a, const char *b);
static uint64_t memory_of(const slurm_job_info_t *info);
static bool alone(const struct auc_slice *slice, const slurm_job_info_t *info);
static bool unset(uint16_t n);
static bool empty(const char *s);
static void remove_variables(job_desc_msg_t *desc, bool (*is)(const char *variable));
static bool is_sale_variable(const char *variable);
static bool is_bid_variable(const char *variable);
static bool is_variable(const char *variable, const char *name);
static void append_variable(job_desc_msg_t *desc, const char *name, const char *value);

const char *auc_desc_bid(const job_desc_msg_t *desc)
{
	const char *bid = find_variable(desc->spank_job_env, desc->spank_job_env_size, AUC_ENV_BID);

	/* Where slurmctld has put the prefix on already that prolog and epilog see. */
	if (!bid)
		bid = find_variable(desc->spank_job_env, desc->spank_job_env_size,
				    "SPANK_" AUC_ENV_BID);
	if (!bid)
		bid = find_variable(desc->environment, desc->env_size, AUC_ENV_BID);
	return bid;
}

/* Any beginning of the option that no other option of sbatch has; after the script's name it may be
 * the script's own, which does no harm. */
bool auc_desc_is_dry_run(const job_desc_msg_t *desc)
{
	static const char option[] = "--test-only";
	const char *p = desc->submit_line;
	size_t n;

	for (; p && *p; p += n) {
		p += strspn(p, " \t");
		n = strcspn(p, " \t");
		if (n >= strlen("--te") && n < sizeof(option) && !strncmp(p, option, n))
			return true;
	}
	return false;
}

uint32_t auc_desc_job_id(const job_desc_msg_t *desc)
{
	uint32_t id = AUC_DESC_JOB_ID(desc);

	if (AUC_DESC_SLUID(desc))
		return 0;
	/* As slurmctld does it: the number in front of "12_3" and "12+1", cut to 32 bits. */
	if (desc->job_id_str)
		return (uint32_t)strtol(desc->job_id_str, NULL, 10);
	return id == NO_VAL ? 0 : id;
}

enum auc_code auc_desc_confine(const job_desc_msg_t *desc, struct auc_bid *bid, struct auc_err *err)
{
	const char *p = desc->partition ? desc->partition : "";
	size_t n;

	for (bid->npartitions = 0; *(p += strspn(p, ",")); p += n) {
		n = strcspn(p, ",");
		if (n >= AUC_NAME_MAX || bid->npartitions == AUC_BID_PARTITIONS_MAX)
			return auc_err_set(err, AUC_EINVAL,
					   "--partition=%.128s: expected at most %d names of at "
					   "most %d characters",
					   desc->partition, AUC_BID_PARTITIONS_MAX,
					   AUC_NAME_MAX - 1);
		snprintf(bid->partitions[bid->npartitions++], AUC_NAME_MAX, "%.*s", (int)n, p);
	}
	return AUC_OK;
}

enum auc_code auc_slice_of(const struct auc_part *part, double start, double end,
			   struct auc_slice *slice, struct auc_err *err)
{
	int64_t cpus = 0, mem = 0;
	size_t n = 0;

	memset(slice, 0, sizeof(*slice));
	slice->node = part->nnodes ? part->nodes : part->server;
	slice->nnodes = part->nnodes;
	slice->whole = part->whole;
	slice->partition = part->partition;
	for (unsigned i = 0; i < part->ntres; i++) {
		int64_t amount = auc_ceil(part->tres[i].value);

		if (!strcmp(part->tres[i].name, "cpu")) {
			cpus = amount;
		} else if (!strcmp(part->tres[i].name, "mem")) {
			mem = amount;
		} else if (amount > 0) {
			if (n < sizeof(slice->gres))
				n += (size_t)snprintf(slice->gres + n, sizeof(slice->gres) - n,
						      "%s" AUC_GRES_PREFIX "%s:%lld", n ? "," : "",
						      part->tres[i].name, (long long)amount);
		}
	}
	if (cpus < 1 || cpus >= NO_VAL16 || mem < 1 || mem >= INT32_MAX || n >= sizeof(slice->gres))
		return auc_err_set(
			err, AUC_EINVAL,
			"a share of %lld CPUs and %lld MB on %s is none that a Slurm job can have",
			(long long)cpus, (long long)mem, part->server);
	slice->cpus = (uint32_t)cpus;
	slice->mem_mb = (uint64_t)mem;
	/* Never before the slot, so that the sale before it has left; whole seconds is what Slurm
	 * has. */
	slice->begin = (time_t)auc_ceil(start);
	/* Slurm checks limits every 30 s only and counts from the real start; the agent ends the
	 * job to the second. */
	slice->minutes = (uint32_t)auc_ceil((end - start) / 60.0);
	if (slice->minutes == 0)
		slice->minutes = 1;
	slice->spare = (uint32_t)(slice->minutes * 60.0 - (end - start));
	return AUC_OK;
}

enum auc_code auc_desc_check(const job_desc_msg_t *desc, bool gang, struct auc_err *err)
{
	struct options plan = {.n = 0}, late = {.n = 0};
	job_desc_msg_t plain;

	slurm_init_job_desc_msg(&plain);
	if (desc->array_inx && !gang)
		return auc_err_set(err, AUC_EINVAL,
				   "--array=%.64s: a job of workers and PSs cannot be an array; "
				   "submit one job for each bid",
				   desc->array_inx);
	if (desc->bitflags & CRON_JOB)
		return auc_err_set(err, AUC_EINVAL,
				   "a job of scrontab cannot bid; have it submit one with sbatch, "
				   "from a partition that is not the auction's");
	if (desc->het_job_offset != NO_VAL || desc->bitflags & HET_JOB_FLAG)
		return auc_err_set(err, AUC_EINVAL,
				   "a heterogeneous job cannot bid: the auction itself decides "
				   "what each node gives");
	if (gang)
		add_set(&plan, unclear, sizeof(unclear) / sizeof(unclear[0]), desc, &plain);
	if (gang && desc->core_spec != plain.core_spec &&
	    slurm_conf.conf_flags & AUC_ALLOWS_CORE_SPEC)
		add_option(&plan,
			   desc->core_spec & CORE_SPEC_THREAD ? "--thread-spec" : "--core-spec",
			   desc);
	/* All of a node can be bought; keeping others off the rest of it cannot. */
	if (gang && desc->shared != plain.shared && desc->shared > 1)
		add_option(&plan, "--exclusive=user or mcs", desc);
	/* Slurm would give it the CPUs of one task of each node. */
	if (gang && auc_desc_overcommits(desc) && desc->shared != 0)
		add_option(&plan, "--overcommit without --exclusive", desc);
	if (!gang)
		add_set(&plan, decided, sizeof(decided) / sizeof(decided[0]), desc, &plain);
	/* All CPUs of the sockets of its GPUs. */
	if (desc->bitflags & GRES_ENFORCE_BIND)
		add_option(&plan, "--gres-flags=enforce-binding", desc);
	/* Slurm would refuse to move it. */
	if ((desc->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY)
		add_option(&plan, "--distribution=arbitrary", desc);
	add_set(&late, delaying, sizeof(delaying) / sizeof(delaying[0]) - (gang ? OF_GANGS : 0),
		desc, &plain);
	add_waits(&late, desc);
	return plan.n || late.n ? say_options(&plan, &late, gang, err) : AUC_OK;
}

/* What delays a job, where Slurm's release and configuration make it. */
static void add_waits(struct options *late, const job_desc_msg_t *desc)
{
	if (desc->priority == 0)
		add_option(late, "--hold", desc);
	if (AUC_DESC_SEGMENTED(desc))
		add_option(late, "--segment", desc);
	if (AUC_EXTRA_CONSTRAINS && desc->extra && *desc->extra)
		add_option(late, "--extra", desc);
	if (AUC_DESC_WAITS_FOR_PORTS(desc))
		add_option(late, "--stepmgr", desc);
	if (slurm_conf.bb_type && *slurm_conf.bb_type && asks_for_buffer(desc->script))
		add_option(late, "#BB or #DW in the script", desc);
}

/* Lines of a burst buffer, whose stage-in the job would wait for. */
static bool asks_for_buffer(const char *script)
{
	for (const char *p = script; p; p = (p = strchr(p, '\n')) ? p + 1 : NULL)
		if (!strncmp(p, "#BB", 3) || !strncmp(p, "#DW", 3))
			return true;
	return false;
}

bool auc_desc_is_per_gpu(const job_desc_msg_t *desc)
{
	return desc->cpus_per_tres || desc->mem_per_tres ||
	       (desc->ntasks_per_tres && desc->ntasks_per_tres < NO_VAL16);
}

bool auc_desc_overcommits(const job_desc_msg_t *desc)
{
	return desc->overcommit && desc->overcommit != NO_VAL8;
}

bool auc_desc_wants_notice(const job_desc_msg_t *desc, int sig)
{
	return !desc->warn_signal && auc_script_traps(desc->script, sig);
}

void auc_desc_warn_time(job_desc_msg_t *desc, const struct auc_slice *slice)
{
	uint32_t seconds = desc->warn_time;

	if (!desc->warn_signal || seconds >= NO_VAL16)
		return;
	seconds += slice->spare;
	desc->warn_time = (uint16_t)(seconds < NO_VAL16 ? seconds : NO_VAL16 - 1);
}

void auc_desc_one_thread(job_desc_msg_t *desc)
{
	if (desc->threads_per_core == 1)
		desc->threads_per_core = NO_VAL16;
	/* --hint=multithread: any number. */
	if (desc->ntasks_per_core == 1 || desc->ntasks_per_core == INFINITE16)
		desc->ntasks_per_core = NO_VAL16;
}

void auc_desc_apply(job_desc_msg_t *desc, const struct auc_slice *slice, const char *receipt)
{
	desc->min_nodes = desc->max_nodes = 1;
	desc->num_tasks = 1;
	desc->cpus_per_task = (uint16_t)slice->cpus;
	desc->min_cpus = desc->max_cpus = slice->cpus;
	desc->pn_min_cpus = (uint16_t)slice->cpus;
	desc->pn_min_memory = slice->mem_mb;
	desc->time_limit = slice->minutes;
	auc_desc_warn_time(desc, slice);
	desc->begin_time = slice->begin;
	/* The owner's "scontrol requeue" does not reach job_modify; this refuses it. */
	desc->requeue = 0;
	/* Where its layout changes it is requeued: what it has written stays. */
	if (!desc->open_mode)
		desc->open_mode = OPEN_MODE_APPEND;
	desc->bitflags &= ~(uint64_t)AUC_EXPEDITED;
	AUC_DESC_FORGET_SIZES(desc);
	set_string(&desc->req_nodes, slice->node);
	set_string(&desc->partition, slice->partition);
	set_string(&desc->tres_per_node, slice->gres[0] ? slice->gres : NULL);
	set_string(&desc->admin_comment, receipt);
}

void auc_desc_hold(job_desc_msg_t *desc, const struct auc_bid *bid, const struct auc_conf *conf,
		   double until, const char *receipt)
{
	char names[AUC_BID_PARTITIONS_MAX * AUC_NAME_MAX] = "";
	size_t len = 0;

	for (unsigned i = 0; i < (bid->npartitions ? bid->npartitions : conf->npartitions); i++)
		len += (size_t)snprintf(names + len, len < sizeof(names) ? sizeof(names) - len : 0,
					"%s%s", len ? "," : "",
					bid->npartitions ? bid->partitions[i]
							 : conf->partitions[i].name);
	if (!bid->gang.nshapes) {
		desc->min_nodes = desc->max_nodes = 1;
		desc->num_tasks = 1;
		desc->cpus_per_task = desc->pn_min_cpus = 1;
		desc->min_cpus = desc->max_cpus = 1;
		desc->pn_min_memory = 1;
		desc->time_limit = 1;
		set_string(&desc->tres_per_node, NULL);
		if (!desc->open_mode)
			desc->open_mode = OPEN_MODE_APPEND;
	}
	/* What its tasks have is written into each, and types of GPUs are known only then. */
	if (desc->array_inx && !auc_desc_is_per_gpu(desc)) {
		set_string(&desc->tres_per_node, NULL);
		set_string(&desc->tres_per_job, NULL);
	}
	desc->priority = 0;
	desc->time_min = NO_VAL;
	desc->deadline = 0;
	desc->begin_time = (time_t)auc_ceil(until);
	desc->requeue = 0;
	desc->bitflags &= ~(uint64_t)AUC_EXPEDITED;
	AUC_DESC_FORGET_SIZES(desc);
	set_string(&desc->partition, names);
	set_string(&desc->admin_comment, receipt);
	remove_variables(desc, is_bid_variable);
}

bool auc_job_is_held(const slurm_job_info_t *info)
{
	return info->priority == 0 && (info->job_state & JOB_STATE_BASE) == JOB_PENDING &&
	       info->admin_comment && auc_receipt_says(info->admin_comment, "waiting");
}

void auc_desc_environment(job_desc_msg_t *desc, const char *sale, double start, double end)
{
	char text[32];

	remove_variables(desc, is_bid_variable);
	append_variable(desc, AUC_ENV_SALE, sale);
	snprintf(text, sizeof(text), "%.3f", start);
	append_variable(desc, AUC_ENV_START, text);
	snprintf(text, sizeof(text), "%.3f", end);
	append_variable(desc, AUC_ENV_END, text);
}

void auc_desc_make_ordinary(job_desc_msg_t *desc)
{
	remove_variables(desc, is_sale_variable);
	/* Up to 24.05 a job that is to be told 0 s before a reservation (--signal=R:USR1@0) starts in
	 * any whose MaxStartDelay is 0, as if it was not there. */
	if ((desc->warn_flags & KILL_JOB_RESV) && !desc->warn_time)
		desc->warn_time = 1;
}

void auc_desc_trap(job_desc_msg_t *desc, int sig)
{
	const char *end = desc->script ? strchr(desc->script, '\n') : NULL;
	char *text;

	if (!sig || !end || !auc_script_is_shell(desc->script))
		return;
	if (asprintf(&text, "%.*s\ntrap : %d%s", (int)(end - desc->script), desc->script, sig,
		     end) < 0)
		return;
	set_string(&desc->script, text);
	free(text);
}

bool auc_fence_is_ours(const char *name)
{
	static const char hex[] = "0123456789abcdef", digits[] = "0123456789";

	for (const char *p = name, *next; p; p = next ? next + 1 : NULL) {
		next = strchr(p, ',');
		if (strncmp(p, AUC_FENCE_PREFIX, strlen(AUC_FENCE_PREFIX)))
			continue;
		p += strlen(AUC_FENCE_PREFIX);
		if (strspn(p, hex) != 16 || p[16] != '-')
			continue;
		p += 17;
		p += strspn(p, digits);
		if (*p++ == '-' && isdigit((unsigned char)*p) && strchr(",", p[strspn(p, digits)]))
			return true;
	}
	return false;
}

bool auc_slice_matches(const struct auc_slice *slice, const slurm_job_info_t *info)
{
	if (slice->nnodes)
		return auc_slice_fits(slice, info) && info->time_limit == slice->minutes &&
		       !info->requeue && !(info->bitflags & AUC_EXPEDITED) &&
		       ((info->job_state & JOB_STATE_BASE) != JOB_PENDING ||
			auc_gang_takes(slice, info));
	return auc_slice_fits(slice, info) && info->time_limit == slice->minutes &&
	       !info->requeue && !(info->bitflags & AUC_EXPEDITED) && alone(slice, info) &&
	       unset(info->sockets_per_node) && unset(info->cores_per_socket) &&
	       unset(info->threads_per_core) && empty(info->tres_per_job) &&
	       empty(info->tres_per_socket) && empty(info->cpus_per_tres) &&
	       !auc_task_gres(info->tres_per_task);
}

bool auc_slice_fits(const struct auc_slice *slice, const slurm_job_info_t *info)
{
	/* What it takes of each node was its owner's to say, and does not change. */
	if (slice->nnodes)
		return info->req_nodes && auc_same_nodes(info->req_nodes, slice->node) &&
		       info->partition && !strcmp(info->partition, slice->partition);
	return info->req_nodes && !strcmp(info->req_nodes, slice->node) && info->partition &&
	       !strcmp(info->partition, slice->partition) && info->cpus_per_task == slice->cpus &&
	       memory_of(info) == slice->mem_mb &&
	       same_gres(info->tres_per_node ? info->tres_per_node : "", slice->gres);
}

static uint64_t memory_of(const slurm_job_info_t *info)
{
	uint64_t per_cpu;

	return auc_memory_is_hidden(info) ? auc_requested_memory(info, &per_cpu)
					  : info->pn_min_memory;
}

char *auc_receipt_ending(const char *receipt, const char *why)
{
	struct json_object *o = json_tokener_parse(receipt);
	char *text = NULL;

	if (json_object_is_type(o, json_type_object)) {
		json_object_object_add(o, "ending", json_object_new_string(why));
		text = strdup(json_object_to_json_string_ext(
			o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	json_object_put(o);
	return text;
}

const char *auc_receipt_ends(const char *receipt)
{
	struct json_object *o = json_tokener_parse(receipt), *ending;
	const char *word = NULL;

	if (json_object_object_get_ex(o, "ending", &ending) &&
	    json_object_is_type(ending, json_type_string))
		for (unsigned i = 0; i < auc_nwhys; i++)
			if (!strcmp(auc_whys[i].word, json_object_get_string(ending)))
				word = auc_whys[i].word;
	json_object_put(o);
	return word;
}

char *auc_receipt_void(const char *receipt, const char *why)
{
	struct json_object *o = json_tokener_parse(receipt), *payment;
	char *text = NULL;

	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return NULL;
	}
	payment = json_object_object_get(o, "payment");
	/* It is settled, and nobody sells it again. */
	json_object_object_del(o, "sealed");
	json_object_object_del(o, "bid");
	json_object_object_del(o, "value");
	json_object_object_add(
		o, "refund",
		json_object_new_string(payment ? json_object_get_string(payment) : "0.000000"));
	json_object_object_add(o, "payment", json_object_new_string("0.000000"));
	json_object_object_add(o, "state", json_object_new_string("settled"));
	json_object_object_add(o, "why", json_object_new_string(why));
	text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
								JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return text;
}

/* One task on one node, with the CPUs of SLICE; 0 is what a release does not say. */
static bool alone(const struct auc_slice *slice, const slurm_job_info_t *info)
{
	if (info->num_tasks > 1 || (!unset(info->ntasks_per_node) && info->ntasks_per_node > 1) ||
	    (info->pn_min_cpus && info->pn_min_cpus != slice->cpus))
		return false;
	/* Of one that has begun it is what it was given, whole cores. num_nodes is an estimate of
	 * Slurm's, which can be 2 for this job. */
	return (info->job_state & JOB_STATE_BASE) != JOB_PENDING ||
	       ((!info->num_cpus || info->num_cpus == slice->cpus) &&
		(!info->max_cpus || info->max_cpus == slice->cpus) && info->max_nodes <= 1);
}

static bool unset(uint16_t n)
{
	return !n || n >= NO_VAL16;
}

static bool empty(const char *s)
{
	return !s || !*s;
}

/* Value of variable NAME; NULL: there is none, or it is empty. */
static const char *find_variable(char *const *env, uint32_t n, const char *name)
{
	size_t len = strlen(name);

	if (!env)
		return NULL;
	for (uint32_t i = 0; i < n && i < ENV_SCAN_MAX; i++)
		if (env[i] && !strncmp(env[i], name, len) && env[i][len] == '=' && env[i][len + 1])
			return env[i] + len + 1;
	return NULL;
}

/* All of them in one answer, so that a user with five need not try six times. */
static enum auc_code say_options(const struct options *plan, const struct options *late, bool gang,
				 struct auc_err *err)
{
	const char *leave = plan->n + late->n == 1 ? "leave it out" : "leave them out";
	const char *because =
		gang ? "the bid buys what the job says by --nodes, --ntasks-per-node, "
		       "--cpus-per-task, --gpus-per-node, --mem and --time"
		     : "the auction decides nodes, tasks, CPUs, memory, GPUs, start and time";

	if (!late->n)
		return auc_err_set(err, AUC_EINVAL, "%s cannot be combined with a bid: %s; %s",
				   plan->text, because, leave);
	if (!plan->n)
		return auc_err_set(err, AUC_EINVAL,
				   "%s cannot be combined with a bid: %s could keep the job from "
				   "starting in the slots it pays for; %s",
				   late->text, late->n == 1 ? "it" : "they", leave);
	return auc_err_set(err, AUC_EINVAL, "%s, %s cannot be combined with a bid: %s; %s",
			   plan->text, late->text, because, leave);
}

static void add_set(struct options *o, const struct field *fields, size_t n,
		    const job_desc_msg_t *desc, const job_desc_msg_t *plain)
{
	for (size_t i = 0; i < n; i++)
		if (is_set(&fields[i], desc, plain) &&
		    !(o->n && is_implied(fields[i].offset, desc)))
			add_option(o, fields[i].option, desc);
}

/* True if sbatch itself has set the field at OFFSET, from an option that is named already. */
static bool is_implied(size_t offset, const job_desc_msg_t *desc)
{
	if (offset == offsetof(job_desc_msg_t, num_tasks))
		return desc->num_tasks == desc->min_nodes;
	if (offset == offsetof(job_desc_msg_t, pn_min_cpus))
		return desc->pn_min_cpus == desc->cpus_per_task;
	if (offset == offsetof(job_desc_msg_t, tres_per_task))
		return !auc_task_gres(desc->tres_per_task);
	return offset == offsetof(job_desc_msg_t, min_cpus);
}

/* Once, with the variable of the job's environment that it may be from. */
static void add_option(struct options *o, const char *option, const job_desc_msg_t *desc)
{
	size_t len = strlen(option);
	const char *from = NULL;
	int n;

	for (const char *p = o->text; (p = strstr(p, option)); p += len)
		if (!p[len] || strchr(", ", p[len]))
			return;
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && !from; i++)
		if (!strcmp(variables[i].option, option) &&
		    find_variable(desc->environment, desc->env_size, variables[i].name))
			from = variables[i].name;
	n = snprintf(o->text + o->len, sizeof(o->text) - o->len, "%s%s%s%s%s", o->n ? ", " : "",
		     option, from ? " (" : "", from ? from : "", from ? " is set)" : "");
	if (n >= (int)(sizeof(o->text) - o->len))
		strcpy(o->text + (o->len < sizeof(o->text) - 8 ? o->len : sizeof(o->text) - 8),
		       ", ...");
	o->len = strlen(o->text);
	o->n++;
}

static bool is_set(const struct field *f, const job_desc_msg_t *desc, const job_desc_msg_t *plain)
{
	const char *s;

	if (f->kind != STRING)
		return number_at(desc, f) != number_at(plain, f) && number_at(desc, f) != f->also;
	s = string_at(desc, f);
	return s && s[0];
}

static uint64_t number_at(const job_desc_msg_t *desc, const struct field *f)
{
	const char *p = (const char *)desc + f->offset;

	switch (f->kind) {
	case U8:
		return *(const uint8_t *)p;
	case U16:
		return *(const uint16_t *)p;
	case U32:
		return *(const uint32_t *)p;
	case TIME:
		return (uint64_t) * (const time_t *)p;
	case U64:
	case STRING:
		break;
	}
	return *(const uint64_t *)p;
}

static const char *string_at(const job_desc_msg_t *desc, const struct field *f)
{
	return *(char *const *)((const char *)desc + f->offset);
}

/* VALUE NULL: the field becomes NULL. */
static void set_string(char **field, const char *value)
{
	AUC_XFREE(*field);
	if (value)
		*field = slurm_xstrdup(value);
}

/* Slurm spells "gres:gpu:v100:2" in different ways. */
static bool same_gres(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strncmp(a, "gres:", 5) && strncmp(a, "gres/", 5) ? 0 : 5;
		b += strncmp(b, "gres:", 5) && strncmp(b, "gres/", 5) ? 0 : 5;
		if (tolower((unsigned char)(*a == '=' ? ':' : *a)) !=
		    tolower((unsigned char)(*b == '=' ? ':' : *b)))
			return false;
		if (!*a)
			return true;
	}
}

static void remove_variables(job_desc_msg_t *desc, bool (*is)(const char *variable))
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < desc->env_size; i++) {
		if (is(desc->environment[i]))
			AUC_XFREE(desc->environment[i]);
		else
			desc->environment[kept++] = desc->environment[i];
	}
	for (uint32_t i = kept; i < desc->env_size; i++)
		desc->environment[i] = NULL;
	desc->env_size = kept;
}

static bool is_sale_variable(const char *variable)
{
	return variable &&
	       (is_variable(variable, AUC_ENV_SALE) || is_variable(variable, AUC_ENV_START) ||
		is_variable(variable, AUC_ENV_END));
}

/* A bid's, or what a sold job has of its sale. */
static bool is_bid_variable(const char *variable)
{
	if (is_sale_variable(variable) || (variable && is_variable(variable, AUC_ENV_BID)))
		return true;
	for (unsigned i = 0; variable && i < auc_bid_nkeys; i++)
		if (auc_bid_keys[i].env && is_variable(variable, auc_bid_keys[i].env))
			return true;
	return false;
}

static bool is_variable(const char *variable, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(variable, name, len) && variable[len] == '=';
}

static void append_variable(job_desc_msg_t *desc, const char *name, const char *value)
{
	char text[AUC_NAME_MAX + 64];

	/* Without an environment there is no script either, and nobody to read it. */
	if (!desc->environment)
		return;
	snprintf(text, sizeof(text), "%s=%s", name, value);
	AUC_XRECALLOC(desc->environment, desc->env_size + 2);
	desc->environment[desc->env_size++] = slurm_xstrdup(text);
}
