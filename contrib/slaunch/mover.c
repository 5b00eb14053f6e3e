/* mover.c - see mover.h */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "slaunch/queue.h"
#include "slaunch/mover.h"
#include "slaunch/layout/moves.h"
#include "slaunch/say.h"
#include "slaunch/start.h"

#define AGAIN        0.5 /* seconds until what failed is tried again */
#define POLL         0.02
#define OUT_MAX      64
#define LAST_SECONDS 5.0 /* for a last look at what has come */

struct mover {
	const struct mover_options *opt;
	uint32_t lead;
	struct auc_receipt receipt;
	struct move *moves;
	unsigned nmoves;
};

/* A chunk on its way. */
struct carriage {
	const struct move *move;
	uint32_t from_job, to_job;
	char from[PATH_MAX], to[PATH_MAX], max[24];
	double until; /* Unix time: the end of the slot */
};

/* A step on a node: its srun, and what it prints. */
struct step {
	pid_t pid;
	int code;
	int out;
	char text[OUT_MAX];
};

static void mover_run(const struct mover_options *o, uint32_t job_id);
static bool read_plan(struct mover *m);
static void move_slot(struct mover *m, unsigned first, unsigned n);
static bool move_chunk(struct mover *m, const struct move *move, uint64_t *bytes);
static bool name_paths(const struct mover *m, struct carriage *c);
static bool gives(const struct auc_receipt *r, int64_t slot, const char *node);
static bool find_jobs(struct mover *m, struct carriage *c);
static uint32_t job_on(const struct group *g, const char *node);
static bool ask_size(const struct mover *m, const struct carriage *c, bool *whole, uint64_t *bytes);
static bool carry(const struct mover *m, const struct carriage *c, uint64_t have, uint64_t *came);
static bool step_start(const struct mover *m, struct step *s, uint32_t job, char *const *words,
		       int in);
static void steps_wait(struct step *s, unsigned n, double until);

bool mover_dir(const char *dir, const char *node, char *path, size_t size)
{
	size_t used = 0;

	for (; *dir && used < size; dir++) {
		if (dir[0] == '%' && dir[1] == 'n') {
			used += (size_t)snprintf(path + used, size - used, "%s", node);
			dir++;
		} else {
			path[used++] = *dir;
		}
	}
	if (used >= size)
		return false;
	path[used] = '\0';
	return true;
}

pid_t mover_start(const struct mover_options *o, uint32_t job_id)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* What announces a change is the launcher's to hear. */
		signal(SIGUSR1, SIG_IGN);
		signal(SIGUSR2, SIG_IGN);
		if (getppid() == parent)
			mover_run(o, job_id);
		_exit(EXIT_SUCCESS);
	}
	return pid;
}

static void mover_run(const struct mover_options *o, uint32_t job_id)
{
	struct mover m = {.opt = o, .lead = job_id};
	unsigned n;

	setvbuf(stderr, NULL, _IOLBF, 0);
	if (read_plan(&m))
		for (unsigned i = 0; i < m.nmoves; i += n) {
			for (n = 1; i + n < m.nmoves && m.moves[i + n].slot == m.moves[i].slot;)
				n++;
			move_slot(&m, i, n);
		}
	free(m.moves);
	auc_receipt_clear(&m.receipt);
}

static bool read_plan(struct mover *m)
{
	struct auc_err err = {0};
	struct group g;
	enum auc_code rc = queue_now(m->lead, &g, &err);

	if (rc == AUC_OK) {
		rc = auc_receipt_parse(g.receipt, &m->receipt, &err);
		group_clear(&g);
	}
	if (rc == AUC_OK)
		rc = moves_make(&m->receipt, &m->moves, &m->nmoves, &err);
	if (rc != AUC_OK)
		say("chunks cannot be moved: %s", err.text);
	return rc == AUC_OK;
}

/* The N moves of one slot from FIRST on. */
static void move_slot(struct mover *m, unsigned first, unsigned n)
{
	int64_t slot = m->moves[first].slot;
	double begin = (double)slot * m->receipt.slot_seconds, wait = begin - auc_clock_wall();
	uint64_t sum = 0, bytes;
	unsigned done = 0;

	/* What this job, started again, does not find done in a slot of before is too late: it
	 * would be sent out of another slot's budget. */
	if (auc_clock_wall() >= begin + m->receipt.slot_seconds)
		return;
	while ((wait = begin - auc_clock_wall()) > 0)
		auc_clock_sleep(wait < AGAIN ? wait : AGAIN);
	for (unsigned i = first; i < first + n; i++) {
		done += move_chunk(m, &m->moves[i], &bytes);
		sum += bytes;
	}
	say("slot %" PRId64 ": %u of %u chunks are where they are trained, %" PRIu64
	    " bytes moved of %" PRIu64 " bought",
	    slot, done, n, sum, n * m->receipt.chunk_bytes);
}

/* Until it is there, or the slot is over. *BYTES have been sent. */
static bool move_chunk(struct mover *m, const struct move *move, uint64_t *bytes)
{
	struct carriage c = {.move = move,
			     .until = (double)(move->slot + 1) * m->receipt.slot_seconds};
	uint64_t first = 0, have = 0, came = 0;
	bool whole = false, done = false;
	unsigned looks = 0;

	*bytes = 0;
	if (!m->opt->shared && !gives(&m->receipt, move->slot, move->from)) {
		say("slot %" PRId64 ": chunk %" PRIu64 " cannot be moved: the job has nothing on "
		    "%s then, expected --data-shared and a directory that %s sees",
		    move->slot, move->chunk, move->from, move->to);
		return false;
	}
	if (!name_paths(m, &c))
		return false;
	while (!done && auc_clock_wall() < c.until) {
		if (find_jobs(m, &c) && ask_size(m, &c, &whole, &have)) {
			/* Fewer: what was there was no part of it. */
			first = looks++ && first < have ? first : have;
			done = whole || carry(m, &c, have, &came);
		}
		if (!done)
			auc_clock_sleep(AGAIN);
	}
	c.until = auc_clock_wall() + LAST_SECONDS;
	if (!done && looks && !ask_size(m, &c, &whole, &have))
		have = first;
	*bytes = have > first ? have + came - first : came;
	say("slot %" PRId64 ": chunk %" PRIu64 " %s from %s to %s: %" PRIu64 " bytes", move->slot,
	    move->chunk, done ? "moved" : "not moved", move->from, move->to, *bytes);
	return done;
}

static bool name_paths(const struct mover *m, struct carriage *c)
{
	char dir[PATH_MAX - 32];

	snprintf(c->max, sizeof(c->max), "%" PRIu64, m->receipt.chunk_bytes);
	if (!mover_dir(m->opt->dir, c->move->from, dir, sizeof(dir)))
		return false;
	snprintf(c->from, sizeof(c->from), "%s/chunk.%" PRIu64, dir, c->move->chunk);
	if (!mover_dir(m->opt->dir, c->move->to, dir, sizeof(dir)))
		return false;
	snprintf(c->to, sizeof(c->to), "%s/chunk.%" PRIu64, dir, c->move->chunk);
	return true;
}

/* True if the job has something on NODE in SLOT. */
static bool gives(const struct auc_receipt *r, int64_t slot, const char *node)
{
	for (unsigned i = 0; i < r->nruns; i++)
		for (unsigned k = 0; k < r->runs[i].nshares; k++)
			if (r->runs[i].from <= slot && slot <= r->runs[i].to &&
			    !strcmp(r->shares[r->runs[i].first_share + k].server, node))
				return true;
	return false;
}

/* The jobs on both nodes, once they run. */
static bool find_jobs(struct mover *m, struct carriage *c)
{
	struct group g;

	if (queue_now(m->lead, &g, NULL) != AUC_OK)
		return false;
	c->from_job = job_on(&g, c->move->from);
	c->to_job = job_on(&g, c->move->to);
	group_clear(&g);
	return c->to_job && (c->from_job || m->opt->shared);
}

static uint32_t job_on(const struct group *g, const char *node)
{
	if (!strcmp(g->node, node))
		return g->lead;
	for (unsigned i = 0; i < g->nmembers; i++)
		if (!strcmp(g->members[i].node, node) && !strcmp(g->members[i].state, "RUNNING"))
			return g->members[i].job_id;
	return 0;
}

/* How much of the chunk is there already. */
static bool ask_size(const struct mover *m, const struct carriage *c, bool *whole, uint64_t *bytes)
{
	char *words[] = {(char *)"--chunk=size", (char *)c->to, NULL}, what[16];
	struct step s;

	if (!step_start(m, &s, c->to_job, words, -1))
		return false;
	steps_wait(&s, 1, c->until);
	if (s.code != 0 || sscanf(s.text, "%15s %" SCNu64, what, bytes) != 2)
		return false;
	*whole = !strcmp(what, "whole");
	return true;
}

/* What is missing beyond HAVE bytes; *CAME bytes if all of it has come. */
static bool carry(const struct mover *m, const struct carriage *c, uint64_t have, uint64_t *came)
{
	char from[24], *copy[] = {(char *)"--chunk=copy", (char *)c->from, (char *)c->to,
				  (char *)c->max, NULL};
	char *send[] = {(char *)"--chunk=send", (char *)c->from, from, (char *)c->max, NULL};
	char *receive[] = {(char *)"--chunk=receive", (char *)c->to, NULL};
	struct step steps[2] = {{.out = -1, .code = -1}, {.out = -1, .code = -1}};
	unsigned n = m->opt->shared ? 1 : 2;
	bool done;

	snprintf(from, sizeof(from), "%" PRIu64, have);
	if (m->opt->shared) {
		step_start(m, &steps[0], c->to_job, copy, -1);
	} else if (step_start(m, &steps[1], c->from_job, send, -1)) {
		step_start(m, &steps[0], c->to_job, receive, steps[1].out);
		/* The receiver's alone: else the sender would not see that it has gone. */
		close(steps[1].out);
		steps[1].out = -1;
	}
	steps_wait(steps, n, c->until);
	done = steps[0].code == 0 && steps[n - 1].code == 0 &&
	       sscanf(steps[0].text, "%" SCNu64, came) == 1;
	if (!done)
		*came = 0;
	return done;
}

/*
 * Runs this program with WORDS on the node of JOB, beside what runs there; its stdin is IN (-1:
 * none), and what it prints can be read from S->out.
 */
static bool step_start(const struct mover *m, struct step *s, uint32_t job, char *const *words,
		       int in)
{
	char jobid[32], *argv[32] = {(char *)"srun",
				     jobid,
				     (char *)"--job-name=chunks",
				     (char *)"--ntasks=1",
				     (char *)"--overlap",
				     (char *)"--mem=0",
				     (char *)"--gres=none",
				     (char *)"--mpi=none",
				     (char *)"--kill-on-bad-exit=0",
				     (char *)"--wait=0"};
	unsigned n = 10;
	int out[2];

	*s = (struct step){.out = -1, .code = -1};
	snprintf(jobid, sizeof(jobid), "--jobid=%" PRIu32, job);
	if (in < 0)
		argv[n++] = (char *)"--input=none";
	argv[n++] = (char *)m->opt->agent;
	argv[n++] = words[0];
	argv[n++] = (char *)"--";
	for (unsigned i = 1; words[i]; i++)
		argv[n++] = words[i];
	if (pipe2(out, O_CLOEXEC) != 0)
		return false;
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		start_clear_slurm_env();
		if (in < 0)
			in = open("/dev/null", O_RDONLY | O_CLOEXEC);
		dup2(in, STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execvp(argv[0], argv);
		say("srun: %s", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	close(out[1]);
	s->out = out[0];
	if (s->pid > 0)
		return true;
	close(s->out);
	s->out = -1;
	return false;
}

/* Until they have ended, or Unix time UNTIL, which ends them; then reads what they have printed. */
static void steps_wait(struct step *s, unsigned n, double until)
{
	bool told = false;
	unsigned left;
	int status;

	do {
		left = 0;
		for (unsigned i = 0; i < n; i++) {
			if (s[i].pid <= 0)
				continue;
			if (waitpid(s[i].pid, &status, WNOHANG) == 0) {
				left++;
				continue;
			}
			s[i].pid = 0;
			s[i].code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
		}
		for (unsigned i = 0; i < n && left && !told && auc_clock_wall() >= until; i++)
			if (s[i].pid > 0)
				kill(s[i].pid, SIGTERM);
		told = told || auc_clock_wall() >= until;
		if (left)
			auc_clock_sleep(POLL);
	} while (left);
	for (unsigned i = 0; i < n; i++) {
		ssize_t got = s[i].out >= 0 ? read(s[i].out, s[i].text, OUT_MAX - 1) : -1;

		s[i].text[got > 0 ? got : 0] = '\0';
		if (s[i].out >= 0)
			close(s[i].out);
	}
}
