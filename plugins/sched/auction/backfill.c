/*
 * backfill.c - see backfill.h. The stock plugin is opened by its full path and its three entry
 * points are called as slurmctld would call them. Ours may be there under the same name, in front
 * of it. It stays loaded after a stop: its thread may be about to return into its code.
 */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sched/auction/backfill.h"
#include "adapter/slurm_compat.h"

static struct {
	void *handle;
	int (*init)(void);
	int (*fini)(void);
	int (*reconfig)(void);
	int running;
} backfill;

static enum auc_code load(const char *plugindir, const char *self, struct auc_err *err);

enum auc_code auc_backfill_start(const char *plugindir, const char *self, struct auc_err *err)
{
	enum auc_code code;

	if (!backfill.handle) {
		code = load(plugindir, self, err);
		if (code)
			return code;
	}
	if (backfill.init && backfill.init())
		return auc_err_set(err, AUC_EIO, "sched/backfill does not start");
	backfill.running = 1;
	return AUC_OK;
}

void auc_backfill_reconfig(void)
{
	if (backfill.running && backfill.reconfig)
		backfill.reconfig();
}

void auc_backfill_stop(void)
{
	if (backfill.running && backfill.fini)
		backfill.fini();
	backfill.running = 0;
}

static enum auc_code load(const char *plugindir, const char *self, struct auc_err *err)
{
	char path[PATH_MAX];
	const char *name;
	void *handle;

	for (const char *p = plugindir; p && *p; p += strspn(p, ":")) {
		int n = (int)strcspn(p, ":");

		snprintf(path, sizeof(path), "%.*s/sched_backfill.so", n, p);
		p += n;
		if (access(path, R_OK))
			continue;
		handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
		if (!handle)
			return auc_err_set(err, AUC_EIO, "%s: %s", path, dlerror());
		name = dlsym(handle, "plugin_name");
		if (name && !strcmp(name, self)) {
			dlclose(handle);
			continue;
		}
		backfill.handle = handle;
		backfill.init = (int (*)(void))dlsym(backfill.handle, "init");
		backfill.fini = (int (*)(void))dlsym(backfill.handle, "fini");
		backfill.reconfig = (int (*)(void))dlsym(backfill.handle, "sched_p_reconfig");
		slurm_info("sched/auction: other jobs are scheduled by %s", path);
		return AUC_OK;
	}
	return auc_err_set(err, AUC_ENOENT, "no sched_backfill.so in PluginDir=%s",
			   plugindir ? plugindir : "");
}
