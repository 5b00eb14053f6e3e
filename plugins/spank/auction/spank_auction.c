/*
 * spank_auction.c - the bid's options of sbatch, salloc and srun. Options, and of sbatch #SBATCH
 * lines and environment defaults, become one variable, SLURM_AUCTION_BID with the words of a bid's
 * text, in the job's SPANK environment, where job_submit/auction reads it. A bid that cannot be
 * right is refused here, at the user's terminal, before anything is submitted.
 *
 * srun outside of a job bids as salloc does, and knows an option only if it is on its command line:
 * in a job, where it starts steps, it says that bids are not for it. What it finds in the
 * environment it leaves alone, for srun in a sold job inherits it. salloc leaves that alone, too.
 * On compute nodes nothing is done.
 *
 * plugstack.conf: optional spank_auction.so [conf=/path/auction.conf]
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>

#include "input/bid.h"
#include "input/conf.h"
#include "spank/auction/srun_gpus.h"
#include "spank/auction/srun_line.h"

SPANK_PLUGIN(auction, 1)

#define PREFIX           "auction: "
#define DEFAULT_CONF     "/etc/slurm/auction.conf"
#define CONF_NAME        "auction.conf"
#define INHERITED_PREFIX "SLURM_SPANK__SLURM_SPANK_OPTION_auction_"
#define INHERITED_SIZE   128
#define PATH_SIZE        4096
#define COMMAND_SIZE     65536 /* of a command line that is looked at */
#define KEYS_MAX         32

/* One client process, one thread: what Slurm's callbacks, which carry no pointer of ours, have to
 * share. */
static struct {
	char conf_path[PATH_SIZE];
	struct auc_conf *conf; /* NULL: not read, or not readable here */
	bool conf_tried;
	char *given[KEYS_MAX]; /* option values by key */
	bool any_given;
	unsigned parts; /* of a heterogeneous job, seen up to now; 1: of any other */
	bool any_bids;  /* some part of it bids */
} client;

static bool is_sbatch(void);
static bool bids(void);
static size_t read_command(char *text, size_t size);
static bool is_written(const char *command, size_t len, const char *name);
static int read_args(int ac, char **av);
static const struct auc_conf *site_conf(void);
static int take_option(int val, const char *arg, int remote);
static bool inherited(const char *name, const char *value);
static void inherited_name(const char *name, char variable[static INHERITED_SIZE]);
static void forget_inherited(void);
static int make_bid(spank_t sp);
static bool slurmctld_decides(void);
static const char *environment(unsigned key);
static bool environment_ok(void);
static void client_clear(void);

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	spank_context_t context = spank_context();
	static char command[COMMAND_SIZE];
	size_t len = 0;
	unsigned key;
	bool all;

	if (context != S_CTX_ALLOCATOR && context != S_CTX_LOCAL && context != S_CTX_REMOTE)
		return ESPANK_SUCCESS;
	if (context != S_CTX_REMOTE && read_args(ac, av) != 0)
		return -1;
	if (context == S_CTX_ALLOCATOR)
		forget_inherited();
	/* slurmstepd complains of options that it gets with a job and that nobody registered. */
	all = context == S_CTX_REMOTE || context == S_CTX_ALLOCATOR;
	if (!all)
		len = read_command(command, sizeof(command));
	for (key = 0; key < auc_bid_nkeys && key < KEYS_MAX; key++) {
		if (!all && !is_written(command, len, auc_bid_keys[key].key))
			continue;
		struct spank_option option = {
			.name = (char *)auc_bid_keys[key].key,
			.arginfo = (char *)auc_bid_keys[key].arg,
			.usage = (char *)auc_bid_keys[key].help,
			.has_arg = auc_bid_keys[key].arg != NULL,
			.val = (int)key,
			.cb = take_option,
		};

		if (spank_option_register(sp, &option) != ESPANK_SUCCESS) {
			slurm_error(PREFIX "--%s: another SPANK plugin has this option",
				    auc_bid_keys[key].key);
			return -1;
		}
	}
	return ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	static char command[COMMAND_SIZE];
	int rc;

	(void)ac;
	(void)av;
	if (!bids())
		return ESPANK_SUCCESS;
	/* Where SchedulerType is not sched/backfill, slurmctld refuses it before it asks us. */
	client.any_bids |= client.any_given || environment(0);
	if (++client.parts > 1 && client.any_bids) {
		slurm_error(PREFIX "a heterogeneous job cannot bid; submit each part of it as a "
				   "job of its own, with its own bid");
		exit(EXIT_FAILURE);
	}
	rc = make_bid(sp);
	if (rc == ESPANK_SUCCESS && client.any_given && spank_context() == S_CTX_LOCAL)
		auc_srun_forget_line(command, read_command(command, sizeof(command)));
	client_clear();
	/*
	 * Slurm goes on after an error of a plugin that plugstack.conf calls optional, and would
	 * submit a job without the bid that its user wrote.
	 */
	if (rc != ESPANK_SUCCESS)
		exit(EXIT_FAILURE);
	return rc;
}

int slurm_spank_exit(spank_t sp, int ac, char **av)
{
	(void)sp;
	(void)ac;
	(void)av;
	client_clear();
	return ESPANK_SUCCESS;
}

/* Slurm has one context for sbatch and salloc. */
static bool is_sbatch(void)
{
	return spank_context() == S_CTX_ALLOCATOR &&
	       strcmp(program_invocation_short_name, "salloc") != 0;
}

/* It makes a job: sbatch, salloc, and srun that is not in one. */
static bool bids(void)
{
	static char command[COMMAND_SIZE];
	const char *job = getenv("SLURM_JOB_ID"), *old = getenv("SLURM_JOBID");

	if (spank_context() == S_CTX_ALLOCATOR)
		return true;
	if (spank_context() != S_CTX_LOCAL || (job && *job) || (old && *old))
		return false;
	return !is_written(command, read_command(command, sizeof(command)), "jobid");
}

/* The words of this program's command line, each with a NUL, into TEXT; 0: they are not known. */
static size_t read_command(char *text, size_t size)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && len + 1 < size) {
		n = read(fd, text + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	text[len] = '\0';
	return len;
}

/* True for a word --NAME or --NAME=... */
static bool is_written(const char *command, size_t len, const char *name)
{
	const char *word, *end;
	size_t size = strlen(name);

	for (word = command; word < command + len; word += strlen(word) + 1) {
		end = word + 2 + size;
		if (!strncmp(word, "--", 2) && !strncmp(word + 2, name, size) &&
		    (!*end || *end == '='))
			return true;
	}
	return false;
}

/* Plugstack arguments; the default is auction.conf beside slurm.conf. */
static int read_args(int ac, char **av)
{
	const char *slurm_conf = getenv("SLURM_CONF");
	const char *slash = slurm_conf ? strrchr(slurm_conf, '/') : NULL;
	int i, n;

	if (slash)
		n = snprintf(client.conf_path, PATH_SIZE, "%.*s/" CONF_NAME,
			     (int)(slash - slurm_conf), slurm_conf);
	else
		n = snprintf(client.conf_path, PATH_SIZE, "%s", DEFAULT_CONF);
	for (i = 0; i < ac; i++) {
		if (strncmp(av[i], "conf=/", 6) != 0) {
			slurm_error(PREFIX
				    "plugstack.conf: '%s' is not an argument, expected conf=/PATH",
				    av[i]);
			return -1;
		}
		n = snprintf(client.conf_path, PATH_SIZE, "%s", av[i] + 5);
	}
	if (n < PATH_SIZE)
		return 0;
	slurm_error(PREFIX "the path of " CONF_NAME " is longer than %d bytes", PATH_SIZE - 1);
	return -1;
}

/* The site's configuration; NULL where the submit host has none, then less can be checked. */
static const struct auc_conf *site_conf(void)
{
	struct auc_err err;

	if (!client.conf_tried && auc_conf_load(client.conf_path, &client.conf, &err) != AUC_OK)
		slurm_verbose(PREFIX "%s", err.text);
	client.conf_tried = true;
	return client.conf;
}

/* Callback of every option; VAL is its key. Called again where a #SBATCH line and the command line
 * have it: the last counts. */
static int take_option(int val, const char *arg, int remote)
{
	const struct auc_bid_key *key = &auc_bid_keys[val];
	const char *value = key->arg ? arg : "yes";
	struct auc_err err;

	if (remote)
		return 0;
	if (!bids()) {
		if (inherited(key->key, arg))
			return 0;
		slurm_error(PREFIX
			    "--%s: bids are for sbatch, salloc and srun outside of a job; in "
			    "a job %s runs in what it has bought",
			    key->key, program_invocation_short_name);
		return -1;
	}
	if (auc_bid_check_word(site_conf(), key->key, value, &err) != AUC_OK) {
		slurm_error(PREFIX "%s", err.text);
		return -1;
	}
	free(client.given[val]);
	client.given[val] = strdup(value);
	client.any_given = true;
	return client.given[val] ? 0 : -1;
}

/*
 * True if option NAME is not from the command line: sbatch leaves the options of SPANK plugins in
 * the job's environment, and srun in the job takes them up again.
 */
static bool inherited(const char *name, const char *value)
{
	char variable[INHERITED_SIZE];
	const char *left;

	inherited_name(name, variable);
	left = getenv(variable);
	return left && (!value || !strcmp(left, value));
}

static void inherited_name(const char *name, char variable[static INHERITED_SIZE])
{
	snprintf(variable, INHERITED_SIZE, INHERITED_PREFIX "%s", name);
	for (char *c = variable; *c; c++)
		if (*c == '-')
			*c = '_';
}

/* sbatch or salloc in a job would take the options that this job was submitted with for its own:
 * before it does, they go. */
static void forget_inherited(void)
{
	char variable[INHERITED_SIZE];

	for (unsigned key = 0; key < auc_bid_nkeys; key++) {
		inherited_name(auc_bid_keys[key].key, variable);
		unsetenv(variable);
	}
	snprintf(variable, INHERITED_SIZE, "SLURM_SPANK_%s", auc_bid_keys[0].env);
	unsetenv(variable);
}

/* Puts options and environment together, checks the whole and hands it on. */
static int make_bid(spank_t sp)
{
	const char *values[KEYS_MAX];
	struct auc_bid bid;
	struct auc_err err;
	char *text;
	unsigned key;
	int rc = ESPANK_SUCCESS;

	if (!client.any_given && !environment(0))
		return ESPANK_SUCCESS;
	if (!environment_ok())
		return -1;
	values[0] = client.given[0];
	for (key = 1; key < auc_bid_nkeys; key++)
		values[key] = client.given[key] ? client.given[key] : environment(key);
	if (auc_bid_join(environment(0), values, &text, &err) != AUC_OK) {
		slurm_error(PREFIX "%s: %s", auc_bid_keys[0].env, err.text);
		return -1;
	}
	if (auc_bid_parse(site_conf(), text, &bid, &err) != AUC_OK) {
		if (!client.any_given)
			auc_err_prefix(&err, "%s", auc_bid_keys[0].env);
		slurm_error(PREFIX "%s", err.text);
		rc = -1;
	} else if (bid.quote && !slurmctld_decides()) {
		rc = -1;
	} else if (spank_job_control_setenv(sp, auc_bid_keys[0].env, text, 1) != ESPANK_SUCCESS) {
		slurm_error(PREFIX "Slurm did not take the bid");
		rc = -1;
	} else if (spank_context() == S_CTX_LOCAL) {
		auc_srun_gpus();
	}
	free(text);
	return rc;
}

/* True if slurmctld runs the auction; else that is said. Another would take a quote for a job. */
static bool slurmctld_decides(void)
{
	slurm_conf_t *conf = NULL;
	const char *p;
	bool found = false;

	if (slurm_load_ctl_conf((time_t)0, &conf)) {
		slurm_error(PREFIX "--quote: slurmctld does not say whether it runs the auction: "
				   "%s",
			    slurm_strerror(errno));
		return false;
	}
	for (p = conf->job_submit_plugins; p && *p && !found; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ", ");

		found = (n == strlen("auction") && !strncmp(p, "auction", n)) ||
			(n == strlen("job_submit/auction") && !strncmp(p, "job_submit/auction", n));
		p += n;
	}
	slurm_free_ctl_conf(conf);
	if (!found)
		slurm_error(PREFIX "--quote: slurmctld does not run the auction "
				   "(JobSubmitPlugins of slurm.conf)");
	return found;
}

/* sbatch's default of KEY in the environment; NULL if there is none or it is empty. */
static const char *environment(unsigned key)
{
	const char *value = is_sbatch() ? getenv(auc_bid_keys[key].env) : NULL;

	return value && *value ? value : NULL;
}

/* Checks the defaults that count, so that an error names the variable. */
static bool environment_ok(void)
{
	struct auc_err err;
	unsigned key;

	for (key = 1; key < auc_bid_nkeys; key++) {
		if (client.given[key] || !environment(key))
			continue;
		if (auc_bid_check_word(site_conf(), auc_bid_keys[key].key, environment(key),
				       &err) == AUC_OK)
			continue;
		slurm_error(PREFIX "%s: %s", auc_bid_keys[key].env, err.text);
		return false;
	}
	return true;
}

static void client_clear(void)
{
	unsigned key;

	for (key = 0; key < KEYS_MAX; key++) {
		free(client.given[key]);
		client.given[key] = NULL;
	}
	client.any_given = false;
	auc_conf_free(client.conf);
	client.conf = NULL;
	client.conf_tried = false;
}
