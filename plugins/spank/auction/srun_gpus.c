/* srun_gpus.c - see srun_gpus.h. */
#include "config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/slurm_compat.h"
#include "spank/auction/srun_gpus.h"

#define GRES_SIZE 4096

/* The options of this srun: exported, as what reads and sets them is, declared in no public header,
 * and called in the same way in all versions. */
struct options {
	void *all;
	char *(*get)(void *all, const char *name); /* Slurm's memory, or NULL */
	bool (*is_set)(void *all, const char *name);
	int (*set)(void *all, const char *name, const char *value, bool early);
	bool (*reset)(void *all, const char *name);
};

static bool find_options(struct options *o);
static unsigned long number(const struct options *o, const char *name);
static bool add_gpus(const char *gres, unsigned long gpus, char text[static GRES_SIZE]);
static void remember(const struct options *o, const char *name, const char *variable);

void auc_srun_gpus(void)
{
	unsigned long each, all, nodes;
	char text[GRES_SIZE], *gres;
	struct options o;
	bool known;

	if (!AUC_STEP_ASKS_AS_RECORD || !find_options(&o) || o.is_set(o.all, "exclusive"))
		return;
	each = number(&o, "gpus-per-node");
	all = number(&o, "gpus");
	nodes = number(&o, "nodes");
	if (!each && !all)
		return;
	if (all && (!nodes || all % nodes || (each && each * nodes != all)))
		return;
	gres = o.get(o.all, "gres");
	known = add_gpus(gres, each ? each : all / nodes, text);
	AUC_XFREE(gres);
	if (!known || o.set(o.all, "gres", text, false))
		return;
	remember(&o, "gpus-per-node", "SLURM_GPUS_PER_NODE");
	remember(&o, "gpus", "SLURM_GPUS");
}

static bool find_options(struct options *o)
{
	o->all = dlsym(RTLD_DEFAULT, "opt");
	*(void **)&o->get = dlsym(RTLD_DEFAULT, "slurm_option_get");
	*(void **)&o->is_set = dlsym(RTLD_DEFAULT, "slurm_option_isset");
	*(void **)&o->set = dlsym(RTLD_DEFAULT, "slurm_option_set");
	*(void **)&o->reset = dlsym(RTLD_DEFAULT, "slurm_option_reset");
	return o->all && o->get && o->is_set && o->set && o->reset;
}

/* What option NAME says; 0: it is not given, or is not one number (a type, a range). */
static unsigned long number(const struct options *o, const char *name)
{
	char *value = o->is_set(o->all, name) ? o->get(o->all, name) : NULL;
	unsigned long n = 0;

	if (value && *value && !value[strspn(value, "0123456789")])
		n = strtoul(value, NULL, 10);
	AUC_XFREE(value);
	return n;
}

/* GRES (NULL: none) and GPUS, as --gres has them. False: it has GPUs itself, or is none of these.
 */
static bool add_gpus(const char *gres, unsigned long gpus, char text[static GRES_SIZE])
{
	size_t len = 0, word;

	for (const char *p = gres ? gres : ""; *p; p += word + (p[word] == ',')) {
		if (!strncmp(p, "gres/", 5) || !strncmp(p, "gres:", 5))
			p += 5;
		word = strcspn(p, ",");
		if (strcspn(p, ":=,") == 3 && !strncasecmp(p, "gpu", 3))
			return false;
		if (!strncasecmp(p, "none", 4) || len + word + 32 > GRES_SIZE)
			return false;
		len += (size_t)sprintf(text + len, "%.*s,", (int)word, p);
	}
	sprintf(text + len, "gpu:%lu", gpus);
	return true;
}

/* The program finds what option NAME said where srun would have put it. */
static void remember(const struct options *o, const char *name, const char *variable)
{
	char *value = o->is_set(o->all, name) ? o->get(o->all, name) : NULL;

	if (value)
		setenv(variable, value, 1);
	AUC_XFREE(value);
	o->reset(o->all, name);
}
