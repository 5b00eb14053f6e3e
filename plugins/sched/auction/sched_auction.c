/*
 * sched_auction.c - slurmctld's scheduler plugin: the stock backfill for every job, and the agent's
 * thread that carries out what the auction sold (agent.h). slurmctld calls only what is in this
 * file.
 *
 * It is built twice. Slurm takes heterogeneous jobs only where SchedulerType is "sched/backfill" to
 * the letter, so the same plugin is there under that name too, in a directory of its own that goes
 * in front of Slurm's in PluginDir.
 */
#include "config.h"

#include <stdint.h>

#include "sched/auction/agent.h"
#include "sched/auction/backfill.h"
#include "adapter/slurm_compat.h"

extern const char plugin_name[];
extern const char plugin_type[];
extern const uint32_t plugin_version;
const char plugin_name[] = "Slurm auction scheduler plugin";
const char plugin_type[] = PLUGIN_TYPE;
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init(void);
int fini(void);
int sched_p_reconfig(void);

int init(void)
{
	struct auc_err err;

	/* Whatever fails here, slurmctld and ordinary jobs go on; the gate stays closed and says
	 * why. */
	if (auc_backfill_load(slurm_conf.plugindir, plugin_name, &err))
		slurm_error("sched/auction: %s: only the main scheduler runs", err.text);
	/* The agent starts it, once what may still run somewhere is safe from it. */
	if (!auc_agent_start(plugin_version, &err))
		return SLURM_SUCCESS;
	slurm_error("sched/auction: %s: no auction", err.text);
	if (auc_backfill_start(&err))
		slurm_error("sched/auction: %s: only the main scheduler runs", err.text);
	return SLURM_SUCCESS;
}

int fini(void)
{
	auc_agent_stop();
	auc_backfill_stop();
	return SLURM_SUCCESS;
}

int sched_p_reconfig(void)
{
	auc_backfill_reconfig();
	auc_agent_reconfigure();
	return SLURM_SUCCESS;
}
