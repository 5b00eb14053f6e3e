/* slurm_rpc.c - see slurm_rpc.h. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sched/rpc/slurm_rpc.h"
#include "sched/rpc/answered.h"
#include "sched/rpc/job_names.h"
#include "adapter/desc_gang.h"
#include "ledger/receipt.h"
#include "adapter/site.h"
#include "adapter/spending.h"

/* Holds its node until the agent or its time limit ends it; the lead's launcher runs steps in it.
 */
#define PLACEHOLDER "#!/bin/sh\nexec sleep 1000000\n"

/* Users of a reservation: all but root, whom Slurm always knows. */
#define EVERYBODY "-0"

/* Hidden partitions too; without asking first whether there is a federation. */
#define SHOW (SHOW_ALL | SHOW_LOCAL)

/* CALL, which asks slurmctld and fails with other than 0; at once when that does not answer. */
#define ASK(call)                                                                                  \
	(auc_rpc_answered() ? (call)                                                               \
			    : (errno = SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, SLURM_ERROR))

static enum auc_code create_reservation(const char *name, const char *nodes, const char *users,
					time_t start, time_t end, uint64_t flags,
					struct auc_err *err);
static void take_one(job_desc_msg_t *desc, const struct auc_slice *slice, char *gres);
static enum auc_code name_types(uint32_t job_id, const struct auc_slice *slice,
				job_desc_msg_t *typed, struct auc_err *err);
static void show_spending(job_desc_msg_t *desc, const slurm_job_info_t *info, uint32_t cents,
			  char text[AUC_CENTS_SIZE]);
static enum auc_code forget_gres(uint32_t job_id, const slurm_job_info_t *info,
				 const job_desc_msg_t *desc, struct auc_err *err);
static enum auc_code failed(struct auc_err *err, const char *what, uint32_t job_id);
static enum auc_code failed_with(struct auc_err *err, const char *what, const char *name);
static enum auc_code update_node(const char *node, uint32_t state, const char *what,
				 struct auc_err *err);
static enum auc_code update(job_desc_msg_t *desc, uint32_t job_id, const char *what,
			    struct auc_err *err);
static enum auc_code update_named(job_desc_msg_t *desc, char *name, uint32_t job_id,
				  const char *what, struct auc_err *err);
static enum auc_code kill_with(uint32_t job_id, uint16_t sig, uint16_t flags, const char *what,
			       struct auc_err *err);
static void keep_tasks(uint32_t job_id, job_desc_msg_t *desc);
static enum auc_code name_of(uint32_t job_id, char **name, struct auc_err *err);

enum auc_code auc_rpc_load_nodes(node_info_msg_t **nodes, struct auc_err *err)
{
	*nodes = NULL;
	return ASK(slurm_load_node(0, nodes, SHOW)) ? failed(err, "loading nodes", 0) : AUC_OK;
}

enum auc_code auc_rpc_load_partitions(partition_info_msg_t **partitions, struct auc_err *err)
{
	*partitions = NULL;
	return ASK(slurm_load_partitions(0, partitions, SHOW))
		       ? failed(err, "loading partitions", 0)
		       : AUC_OK;
}

enum auc_code auc_rpc_load_topology(char **text, struct auc_err *err)
{
	topo_info_response_msg_t *msg = NULL;
	size_t size;
	FILE *out;

	*text = NULL;
	errno = 0;
	if (ASK(AUC_LOAD_TOPO(&msg)) || !msg)
		return failed(err, "loading the topology", 0);
	out = open_memstream(text, &size);
	if (out)
		AUC_PRINT_TOPO(out, msg);
	slurm_free_topo_info_msg(msg);
	if (out && fclose(out) == 0)
		return AUC_OK;
	free(*text);
	*text = NULL;
	return auc_err_set(err, AUC_ENOMEM, "out of memory for the topology");
}

enum auc_code auc_rpc_load_accounts(assoc_mgr_info_msg_t **msg, struct auc_err *err)
{
	assoc_mgr_info_request_msg_t ask = {.flags = ASSOC_MGR_INFO_FLAG_ASSOC |
						     ASSOC_MGR_INFO_FLAG_QOS |
						     ASSOC_MGR_INFO_FLAG_USERS};

	*msg = NULL;
	errno = 0;
	return ASK(slurm_load_assoc_mgr_info(&ask, msg)) || !*msg
		       ? failed(err, "loading accounts", 0)
		       : AUC_OK;
}

enum auc_code auc_rpc_load_jobs(job_info_msg_t **jobs, struct auc_err *err)
{
	*jobs = NULL;
	if (ASK(slurm_load_jobs(0, jobs, SHOW)))
		return failed(err, "loading jobs", 0);
	auc_job_names_see(*jobs, true);
	return AUC_OK;
}

enum auc_code auc_rpc_load_user_jobs(uint32_t uid, job_info_msg_t **jobs, struct auc_err *err)
{
	*jobs = NULL;
	if (ASK(slurm_load_job_user(jobs, uid, SHOW)))
		return failed(err, "loading a user's jobs", 0);
	auc_job_names_see(*jobs, false);
	return AUC_OK;
}

enum auc_code auc_rpc_load_job(uint32_t job_id, job_info_msg_t **jobs, struct auc_err *err)
{
	*jobs = NULL;
	errno = 0;
	if (!ASK(slurm_load_job(jobs, job_id, SHOW))) {
		auc_job_names_see(*jobs, false);
		if (!(*jobs)->record_count || auc_job_names_first(*jobs, job_id))
			return AUC_OK;
		auc_rpc_free_jobs(*jobs);
		*jobs = NULL;
		errno = ESLURM_INVALID_JOB_ID;
	}
	if (errno == ESLURM_INVALID_JOB_ID)
		return auc_err_set(err, AUC_ENOENT, "there is no job %u", job_id);
	return failed(err, "loading job", job_id);
}

int64_t auc_rpc_changed(enum auc_rpc_stamp what)
{
	static const char *const names[AUC_RPC_NSTAMPS] = {
		[AUC_STAMP_JOBS] = "last_job_update",
		[AUC_STAMP_NODES] = "last_node_update",
		[AUC_STAMP_PARTITIONS] = "last_part_update",
		[AUC_STAMP_RESERVATIONS] = "last_resv_update",
	};
	/* slurmctld's own, which stay where they are. */
	static const volatile time_t *at[AUC_RPC_NSTAMPS];

	if (!at[what])
		at[what] = dlsym(RTLD_DEFAULT, names[what]);
	return at[what] ? (int64_t)*at[what] : -1;
}

/* Slurm 22.05 leaks every AdminComment, which is each receipt; where it does not, it finds NULL. */
void auc_rpc_free_jobs(job_info_msg_t *jobs)
{
	for (uint32_t i = 0; i < jobs->record_count; i++)
		AUC_XFREE(jobs->job_array[i].admin_comment);
	slurm_free_job_info_msg(jobs);
}

enum auc_code auc_rpc_version(char *buf, size_t size, struct auc_err *err)
{
	slurm_conf_t *conf = NULL;

	if (ASK(slurm_load_ctl_conf(0, &conf)))
		return failed(err, "loading the configuration", 0);
	snprintf(buf, size, "%s", conf->version ? conf->version : "");
	slurm_free_ctl_conf(conf);
	return AUC_OK;
}

enum auc_code auc_rpc_submit_member(const struct auc_owner *owner, const struct auc_slice *slice,
				    const char *sale, uint32_t lead, uint32_t *job_id,
				    struct auc_err *err)
{
	char name[64 + AUC_NAME_MAX], path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char conf[PATH_MAX + 16], job_name[sizeof(name) + sizeof("SLURM_JOB_NAME=")];
	char *environment[] = {path, job_name, conf}, *argv[] = {name};
	char *receipt = auc_receipt_print_member(sale, lead);
	submit_response_msg_t *response = NULL;
	char script[] = PLACEHOLDER, root[] = "/", null[] = "/dev/null", gres[sizeof(slice->gres)];
	enum auc_code code = AUC_OK;
	job_desc_msg_t desc;

	if (!receipt)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for a member's receipt");
	snprintf(name, sizeof(name), "auction-%u-%s", lead, slice->node);
	snprintf(job_name, sizeof(job_name), "SLURM_JOB_NAME=%s", name);
	strcpy(conf, "SLURM_CONF=");
	auc_site_slurm_conf(conf + strlen(conf));
	strcpy(gres, slice->gres);
	slurm_init_job_desc_msg(&desc);
	desc.user_id = owner->uid;
	desc.group_id = owner->gid;
	desc.account = (char *)owner->account;
	desc.qos = (char *)owner->qos;
	desc.reservation = (char *)owner->reservation;
	/* AllocNodes of its partition is about where the lead comes from. */
	desc.alloc_node = (char *)owner->host;
	desc.name = name;
	desc.script = script;
	desc.argc = 1;
	desc.argv = argv;
	desc.environment = environment;
	desc.env_size = sizeof(environment) / sizeof(environment[0]);
	desc.work_dir = root;
	desc.std_in = desc.std_out = desc.std_err = null;
	desc.min_nodes = desc.max_nodes = 1;
	desc.num_tasks = 1;
	desc.cpus_per_task = (uint16_t)slice->cpus;
	desc.min_cpus = desc.max_cpus = slice->cpus;
	desc.pn_min_cpus = (uint16_t)slice->cpus;
	desc.pn_min_memory = slice->mem_mb;
	desc.time_limit = slice->minutes;
	desc.begin_time = slice->begin;
	desc.requeue = 0;
	desc.req_nodes = (char *)slice->node;
	desc.partition = (char *)slice->partition;
	desc.tres_per_node = gres[0] ? gres : NULL;
	desc.admin_comment = receipt;

	auc_site_expect_member(sale);
	errno = 0;
	if (ASK(slurm_submit_batch_job(&desc, &response)) || !response) {
		/* Slurm's refusals are numbered from 2000 on; anything else is the way there and
		 * may pass. */
		bool refused = errno >= ESLURM_INVALID_PARTITION_NAME && errno < 3000;

		code = errno == ESLURM_ACCOUNTING_POLICY ? AUC_ELIMIT
		       : refused                         ? AUC_EFULL
							 : AUC_EIO;
		failed(err, "submitting a member of job", lead);
	} else {
		/* A code in the response with a job is a remark ("node not available yet"), not a
		 * failure. */
		*job_id = AUC_INFO_JOB_ID(response);
	}
	auc_site_expect_member("");
	slurm_free_submit_response_response_msg(response);
	free(receipt);
	return code;
}

enum auc_code auc_rpc_load_reservations(reserve_info_msg_t **msg, struct auc_err *err)
{
	*msg = NULL;
	return ASK(slurm_load_reservations(0, msg)) ? failed(err, "loading reservations", 0)
						    : AUC_OK;
}

enum auc_code auc_rpc_create_reservation(const char *name, const char *nodes, uint32_t uid,
					 time_t start, time_t end, struct auc_err *err)
{
	char user[16];
	enum auc_code code = AUC_EINVAL;

	if (uid)
		code = create_reservation(name, nodes, EVERYBODY, start, end, RESERVE_FLAG_OVERLAP,
					  err);
	if (!code || code == AUC_EEXIST)
		return code;
	snprintf(user, sizeof(user), "%u", uid);
	return create_reservation(name, nodes, user, start, end, RESERVE_FLAG_OVERLAP, err);
}

enum auc_code auc_rpc_close_nodes(const char *name, const char *nodes, time_t end,
				  struct auc_err *err)
{
	/* Of all reservations only maintenance holds for jobs that are in one. */
	return create_reservation(name, nodes, "0", 0, end, RESERVE_FLAG_MAINT, err);
}

enum auc_code auc_rpc_create_block(const char *name, const char *nodes, const char *users,
				   time_t start, time_t end, struct auc_err *err)
{
	enum auc_code code =
		create_reservation(name, nodes, users, start, end, RESERVE_FLAG_OVERLAP, err);

	if (code == AUC_EIO && (errno == ESLURM_USER_ID_MISSING || errno == ESLURM_INVALID_ACCOUNT))
		err->code = code = AUC_EINVAL;
	return code;
}

enum auc_code auc_rpc_let_into_block(const char *name, const char *user, struct auc_err *err)
{
	resv_desc_msg_t desc;
	char more[16];

	snprintf(more, sizeof(more), "+%s", user);
	slurm_init_resv_desc_msg(&desc);
	desc.name = (char *)name;
	desc.users = more;
	errno = 0;
	return ASK(slurm_update_reservation(&desc)) ? failed_with(err, "changing reservation", name)
						    : AUC_OK;
}

enum auc_code auc_rpc_update_reservation(const char *name, const char *nodes, time_t end,
					 struct auc_err *err)
{
	return auc_rpc_update_block(name, nodes, 0, end, err);
}

enum auc_code auc_rpc_update_block(const char *name, const char *nodes, time_t start, time_t end,
				   struct auc_err *err)
{
	resv_desc_msg_t desc;

	slurm_init_resv_desc_msg(&desc);
	desc.name = (char *)name;
	desc.node_list = (char *)nodes;
	if (start)
		desc.start_time = start;
	desc.end_time = end;
	errno = 0;
	return ASK(slurm_update_reservation(&desc)) ? failed_with(err, "changing reservation", name)
						    : AUC_OK;
}

enum auc_code auc_rpc_delete_reservation(const char *name, struct auc_err *err)
{
	reservation_name_msg_t msg = {.name = (char *)name};

	errno = 0;
	if (!ASK(slurm_delete_reservation(&msg)))
		return AUC_OK;
	if (errno == ESLURM_RESERVATION_INVALID)
		return auc_err_set(err, AUC_ENOENT, "there is no reservation %s", name);
	if (errno == ESLURM_RESERVATION_BUSY)
		return auc_err_set(err, AUC_ESTATE, "a job is in reservation %s", name);
	return failed_with(err, "removing reservation", name);
}

enum auc_code auc_rpc_reserve(uint32_t job_id, const char *reservation, struct auc_err *err)
{
	job_desc_msg_t desc;

	slurm_init_job_desc_msg(&desc);
	desc.reservation = (char *)reservation;
	return update(&desc, job_id, "putting into its reservation job", err);
}

enum auc_code auc_rpc_power_up(const char *node, struct auc_err *err)
{
	return update_node(node, NODE_STATE_POWER_UP, "powering up node", err);
}

enum auc_code auc_rpc_keep_awake(const char *node, struct auc_err *err)
{
	return update_node(node, NODE_STATE_IDLE, "keeping awake node", err);
}

enum auc_code auc_rpc_set_receipt(uint32_t job_id, const char *receipt, struct auc_err *err)
{
	job_desc_msg_t desc;

	slurm_init_job_desc_msg(&desc);
	desc.admin_comment = (char *)receipt;
	return update(&desc, job_id, "writing the receipt of job", err);
}

enum auc_code auc_rpc_hold(uint32_t job_id, const char *receipt, struct auc_err *err)
{
	job_desc_msg_t desc;

	slurm_init_job_desc_msg(&desc);
	desc.priority = 0;
	if (receipt && *receipt)
		desc.admin_comment = (char *)receipt;
	return update(&desc, job_id, "holding job", err);
}

bool auc_rpc_schedule(void)
{
	static void (*queue)(void);

	if (!queue)
		queue = (void (*)(void))dlsym(RTLD_DEFAULT, "queue_job_scheduler");
	if (queue)
		queue();
	return queue;
}

enum auc_code auc_rpc_start_now(uint32_t job_id, struct auc_err *err)
{
	job_desc_msg_t desc;

	slurm_init_job_desc_msg(&desc);
	desc.begin_time = time(NULL);
	/* A requeue that was cut short may have left it open to its owner. */
	desc.requeue = 0;
	return update(&desc, job_id, "starting job", err);
}

enum auc_code auc_rpc_place(uint32_t job_id, const struct auc_slice *slice, struct auc_err *err)
{
	char gres[sizeof(slice->gres)];
	time_t now = time(NULL);
	job_desc_msg_t desc, typed;
	enum auc_code code = AUC_OK;

	strcpy(gres, slice->gres);
	slurm_init_job_desc_msg(&desc);
	slurm_init_job_desc_msg(&typed);
	if (!slice->nnodes)
		take_one(&desc, slice, gres);
	else if (!slice->one_gpu_type && gres[0])
		code = name_types(job_id, slice, &typed, err);
	if (code)
		return code;
	desc.tres_per_node = typed.tres_per_node ? typed.tres_per_node : desc.tres_per_node;
	desc.tres_per_task = typed.tres_per_task;
	desc.time_limit = slice->minutes;
	desc.begin_time = slice->begin > now ? slice->begin : now;
	desc.requeue = 0;
	desc.req_nodes = (char *)slice->node;
	desc.partition = (char *)slice->partition;
	code = update(&desc, job_id, "placing job", err);
	/* One that is drained takes no job, not even its own: as a rule that is where it is. */
	if (code && errno == ESLURM_PARTITION_NOT_AVAIL) {
		desc.partition = NULL;
		code = update(&desc, job_id, "placing job", err);
	}
	auc_gang_update_clear(&typed);
	return code;
}

/* Makes TYPED say which GPUs the gang JOB_ID has on SLICE's nodes, which have several types: the
 * record of srun's and salloc's has none where its owner named none. Free with
 * auc_gang_update_clear(), unless this fails. */
static enum auc_code name_types(uint32_t job_id, const struct auc_slice *slice,
				job_desc_msg_t *typed, struct auc_err *err)
{
	enum auc_code code;
	job_info_msg_t *jobs;

	code = auc_rpc_load_job(job_id, &jobs, err);
	if (code)
		return code;
	if (jobs->record_count && !jobs->job_array->batch_flag) {
		auc_gang_update(jobs->job_array, slice, typed);
		code = forget_gres(job_id, jobs->job_array, typed, err);
	}
	auc_rpc_free_jobs(jobs);
	if (code)
		auc_gang_update_clear(typed);
	return code;
}

/* Of a job that was held, INFO, which has spending.h's licence from its submission where the site
 * has it; TEXT is for what it has now, of 0 nothing. */
static void show_spending(job_desc_msg_t *desc, const slurm_job_info_t *info, uint32_t cents,
			  char text[AUC_CENTS_SIZE])
{
	if (!auc_spending_named(info->licenses))
		return;
	auc_spending_print(cents, text);
	desc->licenses = text;
}

/* A job on one node, GRES being SLICE's. */
static void take_one(job_desc_msg_t *desc, const struct auc_slice *slice, char *gres)
{
	desc->min_nodes = desc->max_nodes = 1;
	desc->num_tasks = 1;
	desc->cpus_per_task = (uint16_t)slice->cpus;
	desc->min_cpus = desc->max_cpus = slice->cpus;
	/* Slurm keeps the old one where it is not told otherwise. */
	desc->pn_min_cpus = (uint16_t)slice->cpus;
	desc->pn_min_memory = slice->mem_mb;
	desc->tres_per_node = gres; /* "" takes away what it had */
}

/* Slurm 22.05 takes no type for GRES that had none: what the job INFO has is taken away first,
 * where DESC says something else. */
static enum auc_code forget_gres(uint32_t job_id, const slurm_job_info_t *info,
				 const job_desc_msg_t *desc, struct auc_err *err)
{
	job_desc_msg_t none;
	char empty[] = "";
	bool any = false;
	const struct {
		const char *had, *has;
		char **field;
	} texts[] = {
		{info->tres_per_job, desc->tres_per_job, &none.tres_per_job},
		{info->tres_per_node, desc->tres_per_node, &none.tres_per_node},
		{info->tres_per_task, desc->tres_per_task, &none.tres_per_task},
	};

	slurm_init_job_desc_msg(&none);
	/* Without them it is not to start. */
	none.begin_time = time(NULL) + 60;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].had && *texts[i].had && texts[i].has &&
		    strcmp(texts[i].had, texts[i].has)) {
			*texts[i].field = empty;
			any = true;
		}
	/* Of those of tasks 22.05 has made some of the job's. */
	if (none.tres_per_task)
		none.tres_per_job = empty;
	return any ? update(&none, job_id, "releasing job", err) : AUC_OK;
}

enum auc_code auc_rpc_split(const slurm_job_info_t *array, uint32_t task,
			    const struct auc_slice *slice, const char *receipt, struct auc_err *err)
{
	uint32_t job_id = AUC_INFO_JOB_ID(array);
	char name[32], licenses[AUC_CENTS_SIZE];
	time_t now = time(NULL);
	job_desc_msg_t desc;
	enum auc_code code;

	slurm_init_job_desc_msg(&desc);
	auc_gang_update(array, slice, &desc);
	show_spending(&desc, array, slice->cents, licenses);
	desc.begin_time = slice->begin > now ? slice->begin : now;
	desc.requeue = 0;
	desc.admin_comment = (char *)receipt;
	desc.priority = INFINITE;
	snprintf(name, sizeof(name), "%u_%u", job_id, task);
	code = update_named(&desc, name, job_id, "splitting a task off job", err);
	auc_gang_update_clear(&desc);
	return code;
}

enum auc_code auc_rpc_release(uint32_t job_id, const struct auc_slice *slice, struct auc_err *err)
{
	char gres[sizeof(slice->gres)], licenses[AUC_CENTS_SIZE];
	time_t now = time(NULL);
	job_desc_msg_t desc;
	job_info_msg_t *jobs;
	enum auc_code code;

	code = auc_rpc_load_job(job_id, &jobs, err);
	if (code)
		return code;
	if (!jobs->record_count || !auc_job_is_held(jobs->job_array)) {
		auc_rpc_free_jobs(jobs);
		return auc_err_set(err, AUC_ESTATE, "job %u does not stand any more", job_id);
	}
	strcpy(gres, slice->gres);
	slurm_init_job_desc_msg(&desc);
	if (slice->nnodes)
		auc_gang_update(jobs->job_array, slice, &desc);
	else
		take_one(&desc, slice, gres);
	show_spending(&desc, jobs->job_array, slice->cents, licenses);
	code = slice->nnodes ? forget_gres(job_id, jobs->job_array, &desc, err) : AUC_OK;
	auc_rpc_free_jobs(jobs);
	if (code) {
		auc_gang_update_clear(&desc);
		return code;
	}
	desc.time_limit = slice->minutes;
	desc.begin_time = slice->begin > now ? slice->begin : now;
	desc.requeue = 0;
	if (!slice->nnodes) {
		desc.req_nodes = (char *)slice->node;
		desc.partition = (char *)slice->partition;
	}
	/* All of it in one: a job that is half of that could start. */
	desc.priority = INFINITE;
	code = update(&desc, job_id, "releasing job", err);
	if (slice->nnodes)
		auc_gang_update_clear(&desc);
	return code;
}

enum auc_code auc_rpc_move(uint32_t job_id, const struct auc_slice *slice, struct auc_err *err)
{
	job_array_resp_msg_t *response = NULL;
	job_desc_msg_t desc;
	enum auc_code code;
	char *id;

	/* The owner must not requeue it, so nobody can; for this moment we may. */
	slurm_init_job_desc_msg(&desc);
	desc.requeue = 1;
	code = update(&desc, job_id, "requeueing job", err);
	if (!code)
		code = name_of(job_id, &id, err);
	if (code)
		return code;
	errno = 0;
	if (ASK(slurm_requeue2(id, 0, &response)))
		code = errno == ESLURM_JOB_PENDING ? AUC_OK : failed(err, "requeueing job", job_id);
	slurm_free_job_array_resp(response);
	free(id);
	return code ? code : auc_rpc_place(job_id, slice, err);
}

enum auc_code auc_rpc_limit(uint32_t job_id, uint32_t minutes, struct auc_err *err)
{
	job_desc_msg_t desc;

	slurm_init_job_desc_msg(&desc);
	desc.time_limit = minutes;
	return update(&desc, job_id, "changing the time limit of job", err);
}

enum auc_code auc_rpc_signal(uint32_t job_id, int sig, struct auc_err *err)
{
	return kill_with(job_id, (uint16_t)sig, KILL_JOB_BATCH, "signalling job", err);
}

void auc_rpc_resume(uint32_t job_id)
{
	job_array_resp_msg_t *response = NULL;
	char *id;

	if (name_of(job_id, &id, NULL))
		return;
	if (auc_rpc_answered())
		slurm_resume2(id, &response);
	slurm_free_job_array_resp(response);
	free(id);
}

bool auc_rpc_stepless(uint32_t job_id)
{
	job_step_info_response_msg_t *steps = NULL;
	uint32_t n = 0;

	if (ASK(AUC_LOAD_STEPS(&steps, job_id, SHOW)))
		return false;
	for (uint32_t i = 0; i < steps->job_step_count; i++)
		n += steps->job_steps[i].step_id.step_id <= SLURM_MAX_NORMAL_STEP_ID;
	slurm_free_job_step_info_response_msg(steps);
	return !n;
}

enum auc_code auc_rpc_warn(uint32_t job_id, bool script, struct auc_err *err)
{
	return kill_with(job_id, SIGTERM, script ? KILL_FULL_JOB : 0, "signalling job", err);
}

void auc_rpc_say(uint32_t job_id, const char *text)
{
	if (auc_rpc_answered())
		slurm_notify_job(job_id, (char *)text);
}

enum auc_code auc_rpc_kill(uint32_t job_id, struct auc_err *err)
{
	/* The first two fail for a job that is not running, which does not matter. */
	kill_with(job_id, SIGKILL, KILL_STEPS_ONLY, "killing the steps of job", NULL);
	kill_with(job_id, SIGKILL, KILL_JOB_BATCH, "killing the script of job", NULL);
	return kill_with(job_id, SIGKILL, 0, "cancelling job", err);
}

static enum auc_code create_reservation(const char *name, const char *nodes, const char *users,
					time_t start, time_t end, uint64_t flags,
					struct auc_err *err)
{
	time_t now = time(NULL);
	resv_desc_msg_t desc;
	char *made;

	slurm_init_resv_desc_msg(&desc);
	desc.name = (char *)name;
	desc.node_list = (char *)nodes;
	desc.users = (char *)users;
	desc.start_time = start < now ? now : start;
	desc.end_time = end;
	desc.flags = flags | RESERVE_FLAG_IGN_JOBS;
	errno = 0;
	made = ASK(0) ? NULL : slurm_create_reservation(&desc);
	if (!made && errno == ESLURM_RESERVATION_NAME_DUP)
		return auc_err_set(err, AUC_EEXIST, "there is a reservation %s", name);
	if (!made)
		return failed_with(err, "making reservation", name);
	AUC_FREE_RESV_NAME(made);
	return AUC_OK;
}

static enum auc_code failed(struct auc_err *err, const char *what, uint32_t job_id)
{
	int e = errno;

	if (job_id)
		return auc_err_set(err, AUC_EIO, "%s %u: %s (%d)", what, job_id, slurm_strerror(e),
				   e);
	return auc_err_set(err, AUC_EIO, "%s: %s (%d)", what, slurm_strerror(e), e);
}

static enum auc_code failed_with(struct auc_err *err, const char *what, const char *name)
{
	int e = errno;

	return auc_err_set(err, AUC_EIO, "%s %s: %s (%d)", what, name, slurm_strerror(e), e);
}

static enum auc_code update_node(const char *node, uint32_t state, const char *what,
				 struct auc_err *err)
{
	update_node_msg_t msg;

	slurm_init_update_node_msg(&msg);
	msg.node_names = (char *)node;
	msg.node_state = state;
	errno = 0;
	return ASK(slurm_update_node(&msg)) ? failed_with(err, what, node) : AUC_OK;
}

static enum auc_code update(job_desc_msg_t *desc, uint32_t job_id, const char *what,
			    struct auc_err *err)
{
	enum auc_code code;
	char *id;

	code = name_of(job_id, &id, err);
	if (code)
		return code;
	code = update_named(desc, id, job_id, what, err);
	free(id);
	return code;
}

/* NAME is that of JOB_ID. */
static enum auc_code update_named(job_desc_msg_t *desc, char *name, uint32_t job_id,
				  const char *what, struct auc_err *err)
{
	job_array_resp_msg_t *response = NULL;
	int rc;

	if (AUC_UPDATE_COUNTS_TASKS && desc->num_tasks == NO_VAL)
		keep_tasks(job_id, desc);
	desc->job_id_str = name;
	errno = 0;
	rc = ASK(slurm_update_job2(desc, &response));
	if (rc == SLURM_SUCCESS && response && response->job_array_count &&
	    response->error_code[0]) {
		errno = (int)response->error_code[0];
		rc = SLURM_ERROR;
	}
	slurm_free_job_array_resp(response);
	if (rc == SLURM_SUCCESS)
		return AUC_OK;
	if (errno == ESLURM_JOB_FINISHED || errno == ESLURM_ALREADY_DONE ||
	    errno == ESLURM_JOB_NOT_PENDING)
		return auc_err_set(err, AUC_ESTATE, "%s %u: too late", what, job_id);
	return failed(err, what, job_id);
}

static enum auc_code kill_with(uint32_t job_id, uint16_t sig, uint16_t flags, const char *what,
			       struct auc_err *err)
{
	enum auc_code code;
	char *id;

	code = name_of(job_id, &id, err);
	if (code)
		return code;
	errno = 0;
	if (ASK(slurm_kill_job2(id, sig, flags, NULL)) && errno != ESLURM_ALREADY_DONE)
		code = failed(err, what, job_id);
	free(id);
	return code;
}

static bool given(uint16_t number)
{
	return number && number < NO_VAL16;
}

/* The update DESC says how many tasks the job has, where Slurm would count them. */
static void keep_tasks(uint32_t job_id, job_desc_msg_t *desc)
{
	const slurm_job_info_t *job;
	job_info_msg_t *jobs;
	struct auc_err err;

	/* If it is gone the update says so. */
	if (auc_rpc_load_job(job_id, &jobs, &err) != AUC_OK)
		return;
	job = jobs->job_array;
	if (jobs->record_count && job->num_tasks < NO_VAL &&
	    (given(job->ntasks_per_node) || given(job->ntasks_per_tres)))
		desc->num_tasks = job->num_tasks;
	auc_rpc_free_jobs(jobs);
}

/* *NAME, malloc'd, is by what slurmctld takes JOB_ID alone: of an array what that is now. */
static enum auc_code name_of(uint32_t job_id, char **name, struct auc_err *err)
{
	char *tasks = NULL;
	job_info_msg_t *jobs;
	uint32_t array = 0;
	enum auc_code code;
	unsigned n;
	int len;

	*name = NULL;
	if (auc_job_names_of_array(job_id)) {
		code = auc_rpc_load_job(job_id, &jobs, err);
		if (code)
			return code;
		if (jobs->record_count) {
			array = jobs->job_array[0].array_job_id;
			tasks = auc_job_names_tasks(jobs->job_array, NULL, &n);
		}
		auc_rpc_free_jobs(jobs);
		len = tasks ? asprintf(name, "%u_%s", array, tasks) : -1;
		free(tasks);
	} else {
		len = asprintf(name, "%u", job_id);
	}
	return len < 0 ? auc_err_set(err, AUC_ENOMEM, "out of memory for the name of job %u",
				     job_id)
		       : AUC_OK;
}
