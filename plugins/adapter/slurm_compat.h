/*
 * slurm_compat.h - Slurm's public headers, plus the few exported things they do not declare, and
 * every difference between the Slurm releases we build for (22.05 to 26.05). Nothing else in
 * plugins/ looks at the version.
 */
#ifndef AUC_SLURM_COMPAT_H
#define AUC_SLURM_COMPAT_H

/* Where slurm_load_job() and its like name the job as a step does, from 26.05 on, a number serves,
 * too. */
#define SLURM_BACKWARD_COMPAT
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <slurm/spank.h> /* declares slurm_info(), slurm_error(), slurm_debug() */

/* Exported by libslurmfull in all versions, declared in none of the public headers. */
extern slurm_conf_t slurm_conf;
extern char *slurm_xstrdup(const char *str);
extern void slurm_xfree(void **item);
extern void *slurm_xrecalloc(void **item, size_t count, size_t size, bool clear, bool may_fail,
			     const char *file, int line, const char *func);
extern void *slurmdb_create_job_rec(void);

#define AUC_XFREE(p) slurm_xfree((void **)&(p))
#define AUC_XRECALLOC(p, n)                                                                        \
	slurm_xrecalloc((void **)&(p), (n), sizeof(*(p)), true, false, __FILE__, __LINE__, __func__)

/* Lists: List (a pointer) up to 23.02, list_t * from 23.11 on. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
typedef list_t *auc_list_t;
typedef list_itr_t *auc_list_itr_t;
#else
typedef List auc_list_t;
typedef ListIterator auc_list_itr_t;
#endif

/* job_modify() got its err_msg in 23.02; before, a refusal reaches the user as its return code
 * only. */
#define AUC_JOB_MODIFY_HAS_MSG (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0))

/* Of slurm_conf.accounting_storage_enforce, whose bits no public header names: what is enforced
 * (the same in all releases so far). */
#define AUC_ENFORCE_ASSOCS 0x1
#define AUC_ENFORCE_LIMITS 0x2
#define AUC_ENFORCE_QOS    0x8

/* The bit of slurm_conf.conf_flags for AllowSpecResourcesUsage: without it Slurm ignores --core-spec
 * and --thread-spec. */
#ifdef CONF_FLAG_ASRU
#define AUC_ALLOWS_CORE_SPEC CONF_FLAG_ASRU
#else
#define AUC_ALLOWS_CORE_SPEC CTL_CONF_ASRU
#endif

/* How a GRES is spelled in job_desc->tres_per_node: what begins otherwise is no GRES to slurmctld. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
#define AUC_GRES_PREFIX "gres/"
#else
#define AUC_GRES_PREFIX "gres:"
#endif

/* The step that srun outside of a job starts asks for the GRES of each node in the job's record,
 * too, from 23.02 on. */
#define AUC_STEP_ASKS_AS_RECORD (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0))

/* Each update of a job that does not say how many tasks it has makes them as many as fit its nodes
 * by --ntasks-per-node, from 23.02 on, until 25.05 left them alone. */
#define AUC_UPDATE_COUNTS_TASKS                                                                    \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0) &&                                    \
	 SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0))

/* A job that says how many tasks each of its nodes has, and not how many CPUs each GPU, can ask for
 * no more CPUs of a node than these tasks have, from 23.02 on: not for the cores that it is given
 * all the same. */
#define AUC_TASKS_BOUND_CPUS (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0))

/* Of a job that has its nodes alone Slurm starts only as many tasks as these have CPUs for, with
 * --overcommit, too, from 24.11 on. */
#define AUC_OVERCOMMIT_TAKES_CPUS (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0))

/* slurmctld never has as many jobs as MaxJobCount, up to 25.05; then it has. */
#define AUC_MOST_JOBS(max_job_count)                                                               \
	((max_job_count) - (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)))

/* A step cannot ask for GPUs without their type where SLURM_TRES_PER_TASK, which is of the job's
 * record, has one; seen on 26.05. */
#define AUC_STEPS_SPELL_AS_TASKS (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0))

/* Where a loaded record has memory of a TRES, a default too, pn_min_memory is that, from 24.11 on,
 * and not what the job asks for. */
#define AUC_RECORD_HIDES_MEMORY (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0))

/* The job a job_desc_msg_t is about: job_id became step_id.job_id in 25.11, where step_id.sluid, if
 * set, counts instead. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define AUC_DESC_JOB_ID(desc) ((desc)->step_id.job_id)
#define AUC_DESC_SLUID(desc)  ((desc)->step_id.sluid)
#define AUC_INFO_JOB_ID(info) ((info)->step_id.job_id)
#else
#define AUC_DESC_JOB_ID(desc) ((desc)->job_id)
#define AUC_DESC_SLUID(desc)  0
#define AUC_INFO_JOB_ID(info) ((info)->job_id)
#endif

/* A row of the accounting database, where its index names it as a step_id.sluid, from 26.05 on; 0
 * before. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define AUC_ROW_NAME(rec)           ((rec)->db_index)
#define AUC_NAME_ROW(step_id, name) ((step_id).sluid = (name))
#else
#define AUC_ROW_NAME(rec)           0
#define AUC_NAME_ROW(step_id, name) ((void)(name))
#endif

/* The numbers of nodes of "--nodes=1,3", from 23.02 on: Slurm starts the job on no other number. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#define AUC_DESC_SIZES(desc)        ((const char *)(desc)->job_size_str)
#define AUC_DESC_FORGET_SIZES(desc) AUC_XFREE((desc)->job_size_str)
#else
#define AUC_DESC_SIZES(desc)        ((void)(desc), (const char *)NULL)
#define AUC_DESC_FORGET_SIZES(desc) ((void)(desc))
#endif

/* True if so many nodes each have to be of one block of the topology (--segment, from 24.05 on, of
 * which topology/block alone takes notice). */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
#define AUC_DESC_SEGMENTED(desc)                                                                   \
	((desc)->segment_size && (desc)->segment_size < NO_VAL16 && slurm_conf.topology_plugin &&  \
	 strstr(slurm_conf.topology_plugin, "block"))
#else
#define AUC_DESC_SEGMENTED(desc) ((void)(desc), false)
#endif

/* True if --extra says which nodes will do, from 23.11 on. */
#define AUC_EXTRA_CONSTRAINS                                                                       \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0) && slurm_conf.sched_params &&        \
	 strstr(slurm_conf.sched_params, "extra_constraints"))

/* True if the job waits until ports of MPI are free, from 24.05 on. */
#ifdef STEPMGR_ENABLED
#define AUC_DESC_WAITS_FOR_PORTS(desc)                                                             \
	(((desc)->bitflags & STEPMGR_ENABLED) && slurm_conf.mpi_params &&                          \
	 strstr(slurm_conf.mpi_params, "ports="))
#else
#define AUC_DESC_WAITS_FOR_PORTS(desc) ((void)(desc), false)
#endif

/* slurm_get_job_steps() names the job as a step does, from 25.11 on. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define AUC_LOAD_STEPS(steps, id, flags)                                                           \
	({                                                                                         \
		slurm_step_id_t step_ = SLURM_STEP_ID_INITIALIZER;                                 \
                                                                                                   \
		step_.job_id = (id);                                                               \
		slurm_get_job_steps(&step_, (steps), (flags));                                     \
	})
#else
#define AUC_LOAD_STEPS(steps, id, flags) slurm_get_job_steps(0, (id), NO_VAL, (steps), (flags))
#endif

/* A step, as slurmd is asked for it. */
#ifdef SLURM_STEP_ID_INITIALIZER
#define AUC_STEP_ID_NONE SLURM_STEP_ID_INITIALIZER
#else
#define AUC_STEP_ID_NONE                                                                           \
	{                                                                                          \
		.job_id = NO_VAL, .step_id = NO_VAL, .step_het_comp = NO_VAL                       \
	}
#endif

/* slurmctld's own locks and abort_job_on_node(), which are the same from 22.05 to 25.05. */
#define AUC_HAS_ABORT (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0))

/* AllowAccounts and DenyAccounts are meant with all accounts below, from 23.02 on. */
#define AUC_ACCOUNTS_INHERIT (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0))

/* Lists of hosts: hostlist_t (a pointer) up to 23.02, hostlist_t * from 23.11 on. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
typedef hostlist_t *auc_hostlist_t;
#else
typedef hostlist_t auc_hostlist_t;
#endif

/* The topology: records of switches, later a plugin's own data, which can be printed only. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
#define AUC_LOAD_TOPO(msg)       slurm_load_topo((msg), NULL)
#define AUC_PRINT_TOPO(out, msg) slurm_print_topo_info_msg((out), (msg), NULL, NULL, 1)
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
#define AUC_LOAD_TOPO(msg)       slurm_load_topo(msg)
#define AUC_PRINT_TOPO(out, msg) slurm_print_topo_info_msg((out), (msg), NULL, 1)
#else
#define AUC_LOAD_TOPO(msg) slurm_load_topo(msg)
#define AUC_PRINT_TOPO(out, msg)                                                                   \
	({                                                                                         \
		for (uint32_t i_ = 0; i_ < (msg)->record_count; i_++)                              \
			fprintf((out), "SwitchName=%s Level=%u Nodes=%s\n",                        \
				(msg)->topo_array[i_].name, (msg)->topo_array[i_].level,           \
				(msg)->topo_array[i_].nodes ? (msg)->topo_array[i_].nodes : "");   \
	})
#endif

/* --requeue=expedite, from 25.11 on: a job that failed keeps its nodes to itself and comes back
 * first.
 */
#ifdef EXPEDITED_REQUEUE
#define AUC_EXPEDITED EXPEDITED_REQUEUE
#else
#define AUC_EXPEDITED 0
#endif

/* SelectTypeParameters: macros, later values of an enum with names of their own. */
#ifdef CR_SOCKET
#define AUC_SELECT_SOCKET            CR_SOCKET
#define AUC_SELECT_ONE_TASK_PER_CORE CR_ONE_TASK_PER_CORE
#else
#define AUC_SELECT_SOCKET            SELECT_SOCKET
#define AUC_SELECT_ONE_TASK_PER_CORE SELECT_ONE_TASK_PER_CORE
#endif

/* Nodes of one block of the topology for one job at a time, from 24.11 on. */
#ifndef PART_FLAG_EXCLUSIVE_TOPO
#define PART_FLAG_EXCLUSIVE_TOPO 0
#endif

/* What slurm_create_reservation() returns: malloc()ed up to 25.11, Slurm's own memory from 26.05 on.
 */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define AUC_FREE_RESV_NAME(p) AUC_XFREE(p)
#else
#define AUC_FREE_RESV_NAME(p) free(p)
#endif

#endif
