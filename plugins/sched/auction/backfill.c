/*
 * backfill.c - see backfill.h. The stock plugin is opened by its full path and its three entry
 * points are called as slurmctld would call them. Ours may be there under the same name, in front
 * of it. It stays loaded after a stop: its thread may be about to return into its code.
 */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sched/auction/backfill.h"
#include "adapter/slurm_compat.h"

static struct {
	pthread_mutex_t lock; /* for what follows: it is started by the agent's thread */
	void *handle;
	int (*init)(void);
	int (*fini)(void);
	int (*reconfig)(void);
	bool wanted, running;
} backfill = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum auc_code load(const char *plugindir, const char *self, struct auc_err *err);

enum auc_code auc_backfill_load(const char *plugindir, const char *self, struct auc_err *err)
{
	enum auc_code code = AUC_OK;

	pthread_mutex_lock(&backfill.lock);
	if (!backfill.handle)
		code = load(plugindir, self, err);
	backfill.wanted = !code;
	pthread_mutex_unlock(&backfill.lock);
	return code;
}

enum auc_code auc_backfill_start(struct auc_err *err)
{
	enum auc_code code = AUC_OK;

	pthread_mutex_lock(&backfill.lock);
	if (backfill.wanted && backfill.init && backfill.init())
		code = auc_err_set(err, AUC_EIO, "sched/backfill does not start");
	backfill.running |= backfill.wanted && !code;
	backfill.wanted = false;
	pthread_mutex_unlock(&backfill.lock);
	return code;
}

void auc_backfill_reconfig(void)
{
	pthread_mutex_lock(&backfill.lock);
	if (backfill.running && backfill.reconfig)
		backfill.reconfig();
	pthread_mutex_unlock(&backfill.lock);
}

void auc_backfill_stop(void)
{
	bool running;

	pthread_mutex_lock(&backfill.lock);
	running = backfill.running;
	backfill.wanted = backfill.running = false;
	pthread_mutex_unlock(&backfill.lock);
	/* This waits for its thread. */
	if (running && backfill.fini)
		backfill.fini();
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
