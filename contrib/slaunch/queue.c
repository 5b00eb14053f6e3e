/* queue.c - see queue.h */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#ifdef BUILT_FOR_SLURM
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#endif

#include "base/clock.h"
#include "slaunch/queue.h"
#include "ledger/receipt.h"
#include "slaunch/say.h"

#define LOOK_AGAIN 0.5 /* seconds between two looks of queue_wait() */

static const struct leg *look_early(const struct legs *c);
static void look_child(int fd, uint32_t job_id);

#ifdef BUILT_FOR_SLURM

/* Exported by libslurm, but in no public header. */
extern void slurm_xfree(void **item);

/* From 25.11 on a job's number is part of its step id. */
#ifdef HAVE_SLURM_JOB_INFO_T_JOB_ID
#define LOOK_JOB_ID(job) ((job)->job_id)
#else
#define LOOK_JOB_ID(job) ((job)->step_id.job_id)
#endif

static enum auc_code look_jobs(const job_info_msg_t *jobs, uint32_t job_id, struct group *g,
			       struct auc_err *err);
static void look_free(job_info_msg_t *jobs);
static const char *look_state(const slurm_job_info_t *job);

/*
 * All looks are at the user's jobs, even for the lead alone: the call that loads one job has
 * another argument from 26.05 on, this one is the same everywhere.
 */
enum auc_code queue_now(uint32_t job_id, struct group *g, struct auc_err *err)
{
	job_info_msg_t *jobs = NULL;
	enum auc_code rc;

	memset(g, 0, sizeof(*g));
	slurm_init(NULL);
	if (slurm_load_job_user(&jobs, getuid(), SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
		return auc_err_set(err, AUC_EIO, "Slurm does not answer: %s",
				   slurm_strerror(errno));
	rc = look_jobs(jobs, job_id, g, err);
	look_free(jobs);
	if (rc != AUC_OK)
		group_clear(g);
	return rc;
}

void queue_node_addr(const char *node, char *buf, size_t size)
{
	node_info_msg_t *nodes = NULL;
	const char *addr = NULL;

	if (slurm_load_node_single(&nodes, (char *)node, SHOW_ALL) == SLURM_SUCCESS &&
	    nodes->record_count == 1)
		addr = nodes->node_array[0].node_addr;
	snprintf(buf, size, "%s", addr && *addr ? addr : node);
	slurm_free_node_info_msg(nodes);
}

/* The lead, and the members that have not ended: those stay listed for a while. */
static enum auc_code look_jobs(const job_info_msg_t *jobs, uint32_t job_id, struct group *g,
			       struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	bool found = false;

	g->lead = job_id;
	for (uint32_t i = 0; i < jobs->record_count && rc == AUC_OK; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];
		const char *comment = job->admin_comment ? job->admin_comment : "";
		const char *on = job->nodes && *job->nodes ? job->nodes : job->req_nodes;
		struct auc_receipt receipt;

		if (LOOK_JOB_ID(job) == job_id) {
			found = true;
			snprintf(g->node, sizeof(g->node), "%s", job->nodes ? job->nodes : "");
			g->receipt = strdup(comment);
			if (!g->receipt)
				rc = auc_err_set(err, AUC_ENOMEM, "out of memory");
			continue;
		}
		if ((job->job_state & JOB_STATE_BASE) > JOB_SUSPENDED || !on ||
		    auc_receipt_parse(comment, &receipt, NULL) != AUC_OK)
			continue;
		if (strcmp(receipt.state, "member") == 0 && receipt.lead == job_id) {
			struct group_member m = {.job_id = LOOK_JOB_ID(job)};

			snprintf(m.node, sizeof(m.node), "%s", on);
			snprintf(m.state, sizeof(m.state), "%s", look_state(job));
			snprintf(m.sale, sizeof(m.sale), "%s", receipt.sale);
			rc = group_add(g, &m, err);
		}
		auc_receipt_clear(&receipt);
	}
	if (rc == AUC_OK && !found)
		rc = auc_err_set(err, AUC_ENOENT, "job %" PRIu32 " is not among your jobs", job_id);
	return rc;
}

/* Slurm 22.05 leaks every AdminComment; where it does not, it finds NULL. */
static void look_free(job_info_msg_t *jobs)
{
	for (uint32_t i = 0; i < jobs->record_count; i++)
		slurm_xfree((void **)&jobs->job_array[i].admin_comment);
	slurm_free_job_info_msg(jobs);
}

/* The word for the states of a job that has not ended. */
static const char *look_state(const slurm_job_info_t *job)
{
	if (job->job_state & JOB_COMPLETING)
		return "COMPLETING";
	if (job->job_state & JOB_CONFIGURING)
		return "CONFIGURING";
	switch (job->job_state & JOB_STATE_BASE) {
	case JOB_PENDING:
		return "PENDING";
	case JOB_SUSPENDED:
		return "SUSPENDED";
	default:
		return "RUNNING";
	}
}

#else /* without Slurm there is --local only */

enum auc_code queue_now(uint32_t job_id, struct group *g, struct auc_err *err)
{
	(void)job_id, (void)g;
	return auc_err_set(err, AUC_ESTATE, "this slaunch was built without Slurm: --local only");
}

void queue_node_addr(const char *node, char *buf, size_t size)
{
	snprintf(buf, size, "%s", node);
}

#endif

enum auc_code queue_wait(uint32_t job_id, double wait, unsigned verbose, struct layout *l,
			 struct legs *c, struct auc_err *err)
{
	double until = auc_clock_now() + wait;
	char waiting[sizeof(err->text)] = "";
	bool told = false;

	memset(l, 0, sizeof(*l));
	memset(c, 0, sizeof(*c));
	for (;;) {
		const struct leg *early;
		struct auc_err why = {0};
		struct group g;
		enum auc_code rc = queue_now(job_id, &g, &why);
		bool complete = false;

		if (rc == AUC_OK) {
			layout_clear(l);
			legs_clear(c);
			rc = group_legs(&g, auc_clock_wall(), c, &why);
			early = wait >= 0 && rc == AUC_OK ? look_early(c) : NULL;
			if (early) {
				snprintf(waiting, sizeof(waiting),
					 "the plan comes to %s in %.0f s only", g.node,
					 ceil(early->begin - auc_clock_wall()));
			} else if (rc == AUC_OK) {
				rc = group_layout(&g, auc_clock_wall(), l, &why);
			}
			if (rc == AUC_OK && !early) {
				group_fill(&g, NULL, l, waiting, sizeof(waiting));
				complete = wait < 0 || layout_complete(l, NULL);
			}
			group_clear(&g);
		} else if (rc == AUC_EIO && wait >= 0 && auc_clock_now() < until) {
			/* A controller that restarts comes back. */
			snprintf(waiting, sizeof(waiting), "%s", why.text);
			rc = AUC_OK;
		}
		if (rc == AUC_OK && complete)
			return AUC_OK;
		if (rc == AUC_OK && auc_clock_now() >= until)
			rc = auc_err_set(&why, AUC_ESTATE,
					 "after %g s (--wait) the group is not complete: %s", wait,
					 waiting);
		if (rc != AUC_OK) {
			layout_clear(l);
			legs_clear(c);
			return auc_err_set(err, rc, "%s", why.text);
		}
		if (verbose && !told)
			say("waiting for the group: %s", waiting);
		told = true;
		auc_clock_sleep(LOOK_AGAIN);
	}
}

bool queue_start(struct look *k, uint32_t job_id)
{
	pid_t parent = getpid();
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0)
		return false;
	fflush(NULL);
	k->pid = fork();
	if (k->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The tasks' connections are the launcher's alone. */
		close_range(STDERR_FILENO + 1, fd[1] - 1, 0);
		close_range(fd[1] + 1, ~0U, 0);
		if (getppid() == parent)
			look_child(fd[1], job_id);
		_exit(EXIT_SUCCESS);
	}
	close(fd[1]);
	if (k->pid < 0) {
		close(fd[0]);
		return false;
	}
	wire_init(&k->wire, fd[0], WIRE_PEERS_MAX);
	return true;
}

bool queue_take(struct look *k, struct group *g, enum auc_code *rc, struct auc_err *err)
{
	bool open = wire_read(&k->wire), bad;
	struct json_object *o = wire_take(&k->wire, &bad), *why;

	if (!o && !bad && open)
		return false;
	if (!o)
		*rc = auc_err_set(err, AUC_EIO, "the look at the group broke off");
	else if (json_object_object_get_ex(o, "error", &why))
		*rc = auc_err_set(err, AUC_EIO, "%s", json_object_get_string(why));
	else
		*rc = group_parse(o, g, err);
	json_object_put(o);
	queue_end(k);
	return true;
}

void queue_end(struct look *k)
{
	if (k->wire.fd < 0)
		return;
	wire_close(&k->wire);
	kill(k->pid, SIGKILL);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}

/* The leg that the lead has been moved for, a little too early; NULL: it is where it belongs. */
static const struct leg *look_early(const struct legs *c)
{
	const struct leg *leg = legs_at(c, auc_clock_wall());

	if (!leg || !leg->elsewhere)
		return NULL;
	leg = legs_after(c, auc_clock_wall());
	return leg && !leg->elsewhere ? leg : NULL;
}

/* The other end takes it whole: it reads until there is a line. */
static void look_child(int fd, uint32_t job_id)
{
	struct auc_err err = {0};
	struct json_object *o;
	const char *text;
	struct group g;

	if (queue_now(job_id, &g, &err) == AUC_OK) {
		o = group_json(&g);
	} else {
		o = json_object_new_object();
		json_object_object_add(o, "error", json_object_new_string(err.text));
	}
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	dprintf(fd, "%s\n", text ? text : "{}");
}
