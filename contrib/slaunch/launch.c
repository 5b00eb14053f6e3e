/* launch.c - see launch.h */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "slaunch/address.h"
#include "base/clock.h"
#include "base/num.h"
#include "slaunch/launch-private.h"
#include "slaunch/say.h"

#define GUEST_SECONDS 10.0 /* how long a connection has to say who it is */
#define LOST_SECONDS  3.0  /* between the loss of an agent's connection and giving its task up */
#define JOIN_SECONDS  3.0  /* how long those who join wait for each other */
#define FILES_OTHER   32   /* descriptors that are no connections */
#define POLL_OTHER    3    /* listening, signals, the look at the group */

static bool launch_init(struct launch *L);
static bool launch_files(struct launch *L, unsigned need);
static void launch_clear(struct launch *L);
static bool launch_done(const struct launch *L);
static void launch_poll(struct launch *L);
static double launch_next(const struct launch *L);
static void launch_accept(struct launch *L);
static struct guest *guest_free(struct launch *L);
static void guest_read(struct launch *L, struct guest *g);
static void launch_hello(struct launch *L, struct guest *g, struct json_object *o);
static void task_read(struct launch *L, struct task *t);
static void task_ended(struct launch *L, struct task *t, int status, bool killed);
static void launch_signals(struct launch *L);
static void launch_reap(struct launch *L);
static void proc_ended(struct launch *L, struct proc *p);
static void launch_step(struct launch *L);
static void launch_missing(struct launch *L);
static void launch_stop(struct launch *L);
static void launch_kill(struct launch *L);
static void launch_give_up(struct launch *L, struct proc *p);
static void launch_call_off(struct launch *L);
static void launch_kill_leaving(struct launch *L, struct proc *p);
static unsigned launch_have(const struct launch *L, enum role role, const char *node,
			    uint32_t job_id);
static bool launch_workers_ended(const struct launch *L);
static bool proc_here(const struct launch *L, const struct proc *p);
static double earlier(double a, double b);

int launch_run(const struct layout *l, struct legs *c, const struct start_options *opt)
{
	struct launch L = {.opt = opt, .listen_fd = -1, .sigfd = -1, .look.wire.fd = -1};
	int code = EXIT_FAILURE;

	L.legs = *c;
	memset(c, 0, sizeof(*c));
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		L.guests[i].wire.fd = -1;
	if (layout_copy(&L.layout, l, NULL) == AUC_OK && launch_init(&L)) {
		L.deadline = auc_clock_now() + opt->wait;
		launch_start_missing(&L, 0);
		while (!launch_done(&L)) {
			launch_poll(&L);
			launch_step(&L);
		}
		code = L.code;
	}
	launch_clear(&L);
	return code;
}

bool launch_add(struct launch *L, enum role role, unsigned n, const char *node, uint32_t job_id)
{
	struct task *tasks = realloc(L->tasks, (L->ntasks + n) * sizeof(*tasks));
	struct proc *procs = realloc(L->procs, (L->nprocs + 1) * sizeof(*procs)), *p;
	struct pollfd *poll =
		realloc(L->poll, (L->ntasks + n + GUESTS_MAX + POLL_OTHER) * sizeof(*poll));

	L->tasks = tasks ? tasks : L->tasks;
	L->procs = procs ? procs : L->procs;
	L->poll = poll ? poll : L->poll;
	if (!tasks || !procs || !poll) {
		launch_fail(L, EXIT_FAILURE, "out of memory");
		return false;
	}
	if (!launch_files(L, L->ntasks + n + GUESTS_MAX + FILES_OTHER))
		return false;
	p = &L->procs[L->nprocs++];
	*p = (struct proc){.role = role, .job_id = job_id, .first_task = L->ntasks, .ntasks = n};
	snprintf(p->node, sizeof(p->node), "%s", node);
	for (unsigned i = 0; i < n; i++) {
		struct task *t = &L->tasks[L->ntasks++];

		*t = (struct task){.wire.fd = -1};
		t->peer.role = role;
		t->peer.id = L->next_id[role]++;
		snprintf(t->peer.node, sizeof(t->peer.node), "%s", node);
	}
	return true;
}

unsigned launch_start_missing(struct launch *L, double gather_by)
{
	unsigned before = L->ntasks, old = L->nprocs;

	for (unsigned i = 0; i < L->layout.nsteps && !L->failed; i++) {
		const struct layout_step *s = &L->layout.steps[i];
		unsigned want = layout_count(&L->layout, s->node, s->role),
			 have = launch_have(L, s->role, s->node, s->job_id), n;

		if (have >= want || (!s->job_id && L->layout.lead))
			continue;
		n = want - have < s->ntasks ? want - have : s->ntasks;
		launch_add(L, s->role, n, s->node, s->job_id);
	}
	if (L->opt->scheduler && !L->failed &&
	    !launch_have(L, ROLE_SCHEDULER, L->layout.lead_node, L->layout.lead))
		launch_add(L, ROLE_SCHEDULER, 1, L->layout.lead_node, L->layout.lead);
	for (unsigned i = old; i < L->nprocs && !L->failed; i++) {
		struct proc *p = &L->procs[i];
		struct layout_step s = {.role = p->role,
					.job_id = p->job_id,
					.ntasks = p->ntasks,
					.first_rank = L->tasks[p->first_task].peer.id};

		snprintf(s.node, sizeof(s.node), "%s", p->node);
		p->gather_by = gather_by;
		p->pid = start_child(&L->layout, L->opt, &s, &L->old);
		if (p->pid < 0) {
			p->pid = 0;
			launch_fail(L, EXIT_FAILURE, "fork: %s", strerror(errno));
		}
	}
	return L->ntasks - before;
}

void launch_forget(struct launch *L)
{
	unsigned ntasks = 0, nprocs = 0;

	for (unsigned i = 0; i < L->nprocs; i++) {
		struct proc p = L->procs[i];
		bool ended = !p.pid;

		for (unsigned k = 0; k < p.ntasks; k++)
			ended = ended && L->tasks[p.first_task + k].state == TASK_ENDED;
		if (ended)
			continue;
		memmove(&L->tasks[ntasks], &L->tasks[p.first_task], p.ntasks * sizeof(*L->tasks));
		p.first_task = ntasks;
		ntasks += p.ntasks;
		L->procs[nprocs++] = p;
	}
	L->ntasks = ntasks;
	L->nprocs = nprocs;
}

void launch_form(struct launch *L)
{
	unsigned rank[ROLES] = {0};

	L->generation++;
	L->form_by = 0;
	for (unsigned i = 0; i < L->nprocs; i++) {
		struct proc *p = &L->procs[i];

		if (!proc_here(L, p))
			continue;
		p->gather_by = 0;
		for (unsigned k = 0; k < p->ntasks; k++)
			L->tasks[p->first_task + k].state = TASK_RUNNING;
	}
	/* Those that were there before have the lower ranks. */
	for (unsigned i = 0; i < L->ntasks; i++) {
		struct task *t = &L->tasks[i];

		if (t->state == TASK_RUNNING && !t->stopped)
			t->peer.rank = rank[t->peer.role]++;
	}
	launch_tell(L);
	if (L->opt->verbose)
		say("%u worker%s and %u PS%s %s", rank[ROLE_WORKER], auc_plural(rank[ROLE_WORKER]),
		    rank[ROLE_PS], auc_plural(rank[ROLE_PS]),
		    L->generation > 1 ? "run" : "started");
}

void launch_tell(struct launch *L)
{
	struct peer *peers = calloc(L->ntasks, sizeof(*peers));
	unsigned n = 0;

	for (unsigned i = 0; peers && i < L->ntasks; i++)
		if (L->tasks[i].state == TASK_RUNNING && !L->tasks[i].stopped)
			peers[n++] = L->tasks[i].peer;
	for (unsigned i = 0; peers && i < L->ntasks; i++) {
		struct task *t = &L->tasks[i];
		struct json_object *o;

		if (t->state != TASK_RUNNING || t->stopped)
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "peers", taskenv_peers_json(peers, n));
		json_object_object_add(o, "generation", json_object_new_int64(L->generation));
		json_object_object_add(o, "begin", json_object_new_double(L->layout.begin));
		json_object_object_add(o, "end", json_object_new_double(L->layout.end));
		json_object_object_add(o, "next", follow_json(L, t));
		if (t->told)
			json_object_object_add(o, "change",
					       json_object_new_int(L->opt->change_signal));
		t->told = true;
		/* A broken connection shows when it is read. */
		wire_send(&t->wire, o);
	}
	if (!peers)
		launch_fail(L, EXIT_FAILURE, "out of memory");
	free(peers);
}

void launch_leave(struct launch *L)
{
	for (unsigned i = 0; i < L->nprocs; i++) {
		struct proc *p = &L->procs[i];
		bool absent = false;

		for (unsigned k = 0; k < p->ntasks; k++) {
			struct task *t = &L->tasks[p->first_task + k];
			struct json_object *o;

			if (!t->leaving || t->stopped)
				continue;
			t->stopped = true;
			if (t->state == TASK_RUNNING) {
				o = json_object_new_object();
				json_object_object_add(o, "stop", json_object_new_int(SIGTERM));
				wire_send(&t->wire, o);
				p->kill_at = auc_clock_now() + L->opt->grace;
			} else if (t->state != TASK_ENDED) {
				absent = true;
			}
		}
		if (absent)
			launch_give_up(L, p);
	}
}

void launch_send(struct launch *L, const char *what, int sig, bool workers)
{
	for (unsigned i = 0; i < L->ntasks; i++) {
		struct task *t = &L->tasks[i];
		struct json_object *o;

		if (t->state != TASK_RUNNING || (t->peer.role == ROLE_WORKER && !workers))
			continue;
		o = json_object_new_object();
		json_object_object_add(o, what, json_object_new_int(sig));
		wire_send(&t->wire, o);
	}
}

unsigned launch_children(const struct launch *L)
{
	unsigned n = 0;

	for (unsigned i = 0; i < L->nprocs; i++)
		n += L->procs[i].pid != 0;
	return n;
}

unsigned launch_count(const struct launch *L, enum role role, enum task_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < L->ntasks; i++)
		n += L->tasks[i].state == state && (role == ROLES || L->tasks[i].peer.role == role);
	return n;
}

void launch_fail(struct launch *L, int code, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (L->failed)
		return;
	L->failed = true;
	L->code = code;
	say("%s", text);
	/* Agents that wait go when their connection does, an srun that still waits must be told. */
	for (unsigned i = 0; i < L->nprocs; i++)
		if (L->phase == PHASE_GATHER || L->procs[i].gather_by > 0)
			launch_give_up(L, &L->procs[i]);
	if (L->phase != PHASE_GATHER)
		launch_send(L, "signal", SIGTERM, true);
	L->phase = PHASE_STOP;
	L->deadline = auc_clock_now() + L->opt->grace;
}

static bool launch_init(struct launch *L)
{
	sigset_t mask;

	getrlimit(RLIMIT_NOFILE, &L->old.files);
	sigemptyset(&mask);
	for (const int *s = (const int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2,
					  L->opt->change_signal, 0};
	     *s; s++)
		sigaddset(&mask, *s);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	L->old.mask = L->opt->mask;
	L->sigfd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (L->sigfd < 0 || !wire_token(L->token)) {
		say("%s", strerror(errno));
		return false;
	}
	L->listen_fd = address_listen(L->opt->host, L->address, sizeof(L->address));
	if (L->listen_fd < 0)
		return false;
	start_export(&L->layout, L->opt, L->address, L->token);
	start_export_secret();
	start_export_restarts(0);
	return true;
}

/* Every task has a connection here: allows for NEED descriptors, in this process only. */
static bool launch_files(struct launch *L, unsigned need)
{
	struct rlimit want;

	getrlimit(RLIMIT_NOFILE, &want);
	if (want.rlim_cur >= need)
		return true;
	want.rlim_cur = need;
	if (setrlimit(RLIMIT_NOFILE, &want) == 0)
		return true;
	launch_fail(L, EXIT_FAILURE, "%u open files are needed, but the limit (ulimit -Hn) is %llu",
		    need, (unsigned long long)want.rlim_max);
	return false;
}

static void launch_clear(struct launch *L)
{
	for (unsigned i = 0; i < L->ntasks; i++)
		wire_close(&L->tasks[i].wire);
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		wire_close(&L->guests[i].wire);
	if (L->listen_fd >= 0)
		close(L->listen_fd);
	if (L->sigfd >= 0)
		close(L->sigfd);
	queue_end(&L->look);
	legs_clear(&L->legs);
	layout_clear(&L->layout);
	free(L->spent.jobs);
	free(L->tasks);
	free(L->procs);
	free(L->poll);
}

static bool launch_done(const struct launch *L)
{
	switch (L->phase) {
	case PHASE_TURN:
	case PHASE_PAUSE:
		return false;
	case PHASE_GIVE_UP:
		return true;
	case PHASE_RUN:
		/* All may have left before others have joined. */
		return L->finished && !launch_children(L);
	default:
		return !launch_children(L);
	}
}

static void launch_poll(struct launch *L)
{
	unsigned n = POLL_OTHER;

	/* While nobody more can be received, callers wait in the kernel's queue. */
	L->poll[0] = (struct pollfd){.fd = guest_free(L) ? L->listen_fd : -1, .events = POLLIN};
	L->poll[1] = (struct pollfd){.fd = L->sigfd, .events = POLLIN};
	L->poll[2] = (struct pollfd){.fd = L->look.wire.fd, .events = POLLIN};
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		L->poll[n++] = (struct pollfd){.fd = L->guests[i].wire.fd, .events = POLLIN};
	for (unsigned i = 0; i < L->ntasks; i++) {
		short out = wire_pending(&L->tasks[i].wire) ? POLLOUT : 0;

		L->poll[n++] = (struct pollfd){.fd = L->tasks[i].wire.fd, .events = POLLIN | out};
	}
	if (poll(L->poll, n, auc_clock_poll_timeout(launch_next(L), auc_clock_now())) < 0)
		return;
	for (unsigned i = 0; i < L->ntasks; i++)
		if (L->poll[POLL_OTHER + GUESTS_MAX + i].revents)
			task_read(L, &L->tasks[i]);
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		if (L->poll[POLL_OTHER + i].revents)
			guest_read(L, &L->guests[i]);
	if (L->poll[1].revents)
		launch_signals(L);
	if (L->poll[0].revents)
		launch_accept(L);
	/* Last: it may change the tables. */
	if (L->poll[2].revents)
		follow_look(L);
}

/* When something is due; 0: never. */
static double launch_next(const struct launch *L)
{
	double next = earlier(L->deadline, L->form_by);

	for (unsigned i = 0; i < GUESTS_MAX; i++)
		if (L->guests[i].wire.fd >= 0)
			next = earlier(next, L->guests[i].deadline);
	for (unsigned i = 0; i < L->ntasks; i++)
		if (L->tasks[i].state == TASK_LOST)
			next = earlier(next, L->tasks[i].lost_at + LOST_SECONDS);
	for (unsigned i = 0; i < L->nprocs; i++)
		if (L->procs[i].pid)
			next = earlier(earlier(next, L->procs[i].gather_by), L->procs[i].kill_at);
	return follow_next(L, next);
}

static void launch_accept(struct launch *L)
{
	struct guest *g;
	int fd, on = 1;

	while ((g = guest_free(L)) &&
	       (fd = accept4(L->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (!launch_count(L, ROLES, TASK_ABSENT)) {
			close(fd);
			continue;
		}
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		wire_init(&g->wire, fd, WIRE_HELLO_MAX);
		g->deadline = auc_clock_now() + GUEST_SECONDS;
	}
}

static struct guest *guest_free(struct launch *L)
{
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		if (L->guests[i].wire.fd < 0)
			return &L->guests[i];
	return NULL;
}

static void guest_read(struct launch *L, struct guest *g)
{
	bool open = wire_read(&g->wire), bad;
	struct json_object *o = wire_take(&g->wire, &bad);

	if (o)
		launch_hello(L, g, o);
	json_object_put(o);
	if (g->wire.fd >= 0 && (o || bad || !open)) {
		if (L->opt->verbose)
			say("a connection without the right token was closed");
		wire_close(&g->wire);
	}
}

/* Takes the guest's connection over if it is the task it says; otherwise leaves it to be closed. */
static void launch_hello(struct launch *L, struct guest *g, struct json_object *o)
{
	char token[WIRE_TOKEN_LEN], name[16];
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	long id, port;
	enum role role;

	if (!wire_str(o, "token", token, sizeof(token)) || !wire_token_equal(token, L->token) ||
	    !wire_str(o, "role", name, sizeof(name)) || !role_parse(name, &role) ||
	    !wire_int(o, "id", 0, TASKENV_ID_MAX, &id) || !wire_int(o, "port", 1, 65535, &port))
		return;
	for (unsigned i = 0; i < L->ntasks; i++) {
		struct task *t = &L->tasks[i];

		if (t->peer.role != role || t->peer.id != (unsigned long)id ||
		    t->state != TASK_ABSENT)
			continue;
		if (getpeername(g->wire.fd, (struct sockaddr *)&addr, &len) != 0 ||
		    getnameinfo((struct sockaddr *)&addr, len, t->peer.host, sizeof(t->peer.host),
				NULL, 0, NI_NUMERICHOST) != 0)
			return;
		t->peer.port = port;
		t->wire = g->wire;
		t->state = TASK_HERE;
		memset(&g->wire, 0, sizeof(g->wire));
		g->wire.fd = -1;
		if (L->opt->verbose > 1)
			say("%s %u is there: %s %s:%u", name, t->peer.id, t->peer.node,
			    t->peer.host, t->peer.port);
		return;
	}
}

static void task_read(struct launch *L, struct task *t)
{
	bool open, bad;
	struct json_object *o;
	long value;

	if (t->wire.fd < 0)
		return;
	open = wire_flush(&t->wire) && wire_read(&t->wire);
	while ((o = wire_take(&t->wire, &bad)) || bad) {
		if (t->state == TASK_RUNNING && wire_int(o, "exit", 0, 255, &value))
			task_ended(L, t, value, false);
		else if (t->state == TASK_RUNNING && wire_int(o, "killed", 1, 127, &value))
			task_ended(L, t, value, true);
		else if (t->state == TASK_RUNNING && wire_int(o, "heard", 1, NSIG - 1, &value))
			follow_step_heard(L, t, (int)value);
		else
			open = false;
		json_object_put(o);
		if (!open)
			break;
	}
	if (open)
		return;
	wire_close(&t->wire);
	if (t->state == TASK_HERE || t->state == TASK_RUNNING) {
		t->state = TASK_LOST;
		t->lost_at = auc_clock_now();
	}
}

/* STATUS is an exit code or, if KILLED, a signal. */
static void task_ended(struct launch *L, struct task *t, int status, bool killed)
{
	bool worker = t->peer.role == ROLE_WORKER;
	int code = killed ? 128 + status : status;
	char how[64];

	t->state = TASK_ENDED;
	if (killed)
		snprintf(how, sizeof(how), "was ended by signal %d (%s)", status,
			 strsignal(status));
	else
		snprintf(how, sizeof(how), "exited with code %d", status);
	if (L->opt->verbose > 1 && (code == 0 || t->leaving))
		say("%s %u on %s %s", role_name(t->peer.role), t->peer.id, t->peer.node, how);
	if (t->leaving) {
		follow_broken(L);
		return;
	}
	if (code == 0) {
		if (worker && !L->finished)
			launch_call_off(L);
		return;
	}
	if (follow_broken(L))
		return;
	/* What ends after we told it to has not failed; but a worker's code is the result if we
	 * were told to stop. */
	if (L->phase >= PHASE_STOP) {
		if (worker && L->interrupted && !L->failed) {
			L->failed = true;
			L->code = code;
		}
		return;
	}
	if (L->phase == PHASE_DRAIN)
		say("%s %u on %s %s after the last worker had ended", role_name(t->peer.role),
		    t->peer.id, t->peer.node, how);
	else
		launch_fail(L, code, "%s %u on %s %s", role_name(t->peer.role), t->peer.id,
			    t->peer.node, how);
}

static void launch_signals(struct launch *L)
{
	struct signalfd_siginfo info;

	while (read(L->sigfd, &info, sizeof(info)) == sizeof(info)) {
		int sig = info.ssi_signo;
		bool end = sig == SIGTERM || sig == SIGINT || sig == SIGHUP;

		if (sig == SIGCHLD) {
			launch_reap(L);
			continue;
		}
		if (sig == L->opt->change_signal && L->opt->follow) {
			follow_heard(L, sig);
			continue;
		}
		if (L->phase == PHASE_TURN || L->phase == PHASE_PAUSE) {
			if (end)
				launch_fail(L, 128 + sig,
					    "ended by signal %d (%s) between two layouts", sig,
					    strsignal(sig));
			continue;
		}
		if (L->phase == PHASE_GATHER) {
			if (end)
				launch_fail(L, 128 + sig,
					    "ended by signal %d (%s) before the tasks had started",
					    sig, strsignal(sig));
			continue;
		}
		if (L->opt->verbose)
			say("passing signal %d (%s) on to all tasks", sig, strsignal(sig));
		launch_send(L, "signal", sig, true);
		if (!end)
			continue;
		if (L->phase < PHASE_STOP) {
			L->interrupted = true;
			L->phase = PHASE_STOP;
			L->deadline = auc_clock_now() + L->opt->grace;
		} else {
			/* Asked for twice: no more patience. */
			L->deadline = auc_clock_now();
		}
	}
}

static void launch_reap(struct launch *L)
{
	int status;

	for (unsigned i = 0; i < L->nprocs; i++) {
		struct proc *p = &L->procs[i];

		if (!p->pid || waitpid(p->pid, &status, WNOHANG) != p->pid)
			continue;
		p->pid = 0;
		p->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		proc_ended(L, p);
	}
}

/* A child has ended: so have its tasks, whether they said so or not. */
static void proc_ended(struct launch *L, struct proc *p)
{
	for (unsigned i = p->first_task; i < p->first_task + p->ntasks; i++) {
		struct task *t = &L->tasks[i];

		task_read(L, t);
		if (t->state == TASK_ENDED)
			continue;
		wire_close(&t->wire);
		if (t->state == TASK_RUNNING || t->state == TASK_LOST) {
			task_ended(L, t, p->code ? p->code : EXIT_FAILURE, false);
			continue;
		}
		t->state = TASK_ENDED;
		if (t->leaving)
			continue;
		if (p->gather_by > 0) {
			/* The others go on without it; it is started again if it is still wanted.
			 */
			if (i == p->first_task)
				say("%s %u on %s did not start (srun ended with code %d)",
				    role_name(t->peer.role), t->peer.id, t->peer.node, p->code);
			t->leaving = true;
			continue;
		}
		launch_fail(L, p->code ? p->code : EXIT_FAILURE,
			    "%s %u on %s did not start (%s ended with code %d)",
			    role_name(t->peer.role), t->peer.id, t->peer.node,
			    L->opt->direct || t->peer.role == ROLE_SCHEDULER ? "its agent" : "srun",
			    p->code);
	}
}

/* What follows from the state and the time. */
static void launch_step(struct launch *L)
{
	double now = auc_clock_now();
	bool due = L->deadline > 0 && now >= L->deadline;
	unsigned here = 0, joining = 0;

	for (unsigned i = 0; i < GUESTS_MAX; i++)
		if (L->guests[i].wire.fd >= 0 && now >= L->guests[i].deadline)
			wire_close(&L->guests[i].wire);
	for (unsigned i = 0; i < L->ntasks; i++) {
		struct task *t = &L->tasks[i];

		if (t->state != TASK_LOST || now < t->lost_at + LOST_SECONDS)
			continue;
		t->state = TASK_ENDED;
		if (L->phase < PHASE_STOP && !t->leaving && !follow_broken(L))
			launch_fail(L, EXIT_FAILURE, "lost contact with %s %u on %s",
				    role_name(t->peer.role), t->peer.id, t->peer.node);
	}

	for (unsigned i = 0; i < L->nprocs; i++) {
		struct proc *p = &L->procs[i];

		if (!p->pid)
			continue;
		if (p->gather_by > 0 && proc_here(L, p)) {
			here++;
		} else if (p->gather_by > 0 && now >= p->gather_by) {
			say("%s %u on %s has not reported after %g s (--wait)", role_name(p->role),
			    L->tasks[p->first_task].peer.id, p->node, L->opt->wait);
			launch_give_up(L, p);
		} else if (p->kill_at > 0 && now >= p->kill_at) {
			launch_kill_leaving(L, p);
		}
		joining += p->gather_by > 0;
	}
	if (!here)
		L->form_by = 0;
	else if (here == joining || (L->form_by > 0 && now >= L->form_by))
		launch_form(L);
	else if (L->form_by <= 0)
		L->form_by = now + JOIN_SECONDS;
	follow_step(L);

	switch (L->phase) {
	case PHASE_GATHER:
		if (launch_count(L, ROLES, TASK_HERE) == L->ntasks) {
			L->phase = PHASE_RUN;
			L->deadline = 0;
			launch_form(L);
		} else if (due)
			launch_missing(L);
		break;
	case PHASE_RUN:
		if (!launch_workers_ended(L))
			break;
		/* The PSs of an elastic program cannot know that nobody comes any more. */
		L->phase = PHASE_DRAIN;
		L->deadline = now + (L->opt->elastic ? 0 : L->opt->grace);
		break;
	case PHASE_TURN:
	case PHASE_PAUSE:
		break;
	case PHASE_DRAIN:
		if (due)
			launch_stop(L);
		break;
	case PHASE_STOP:
		if (due)
			launch_kill(L);
		break;
	case PHASE_KILL:
		if (!due)
			break;
		/* Nobody listens any more: only their processes are left. */
		for (unsigned i = 0; i < L->nprocs; i++)
			if (L->procs[i].pid)
				kill(-L->procs[i].pid, SIGKILL);
		L->phase = PHASE_GIVE_UP;
		break;
	case PHASE_GIVE_UP:
		break;
	}
}

static void launch_missing(struct launch *L)
{
	char list[400] = "";
	size_t n = 0;

	for (unsigned i = 0; i < L->ntasks && n < sizeof(list); i++) {
		const struct peer *p = &L->tasks[i].peer;

		if (L->tasks[i].state == TASK_ABSENT)
			n += snprintf(list + n, sizeof(list) - n, "%s%s %u on %s", n ? ", " : "",
				      role_name(p->role), p->id, p->node);
	}
	launch_fail(L, EXIT_FAILURE, "after %g s (--wait) these tasks have not reported: %s%s",
		    L->opt->wait, list, n >= sizeof(list) ? "..." : "");
}

/* Ends what has no more to do: that is no failure. */
static void launch_stop(struct launch *L)
{
	launch_send(L, "stop", SIGTERM, false);
	L->phase = PHASE_STOP;
	L->deadline = auc_clock_now() + L->opt->grace;
}

static void launch_kill(struct launch *L)
{
	launch_send(L, L->failed || L->interrupted ? "signal" : "stop", SIGKILL, true);
	for (unsigned i = 0; i < L->nprocs; i++)
		if (L->procs[i].pid && !L->opt->direct)
			kill(L->procs[i].pid, SIGTERM);
	L->phase = PHASE_KILL;
	L->deadline = auc_clock_now() + LAST_SECONDS;
}

/* The step is not to be, or what is left of it is to end. */
static void launch_give_up(struct launch *L, struct proc *p)
{
	p->gather_by = 0;
	for (unsigned i = p->first_task; i < p->first_task + p->ntasks; i++) {
		struct task *t = &L->tasks[i];

		if (t->state != TASK_ABSENT && t->state != TASK_HERE)
			continue;
		wire_close(&t->wire);
		if (L->phase != PHASE_GATHER)
			t->leaving = t->stopped = true;
	}
	if (p->pid)
		kill(p->pid, SIGTERM);
	p->kill_at = auc_clock_now() + L->opt->grace;
}

/* The grace time of tasks that leave is over. */
static void launch_kill_leaving(struct launch *L, struct proc *p)
{
	bool all = true;

	for (unsigned i = p->first_task; i < p->first_task + p->ntasks; i++) {
		struct task *t = &L->tasks[i];
		struct json_object *o;

		all = all && (t->stopped || t->state == TASK_ENDED);
		if (!t->stopped || t->state != TASK_RUNNING)
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "stop", json_object_new_int(SIGKILL));
		wire_send(&t->wire, o);
	}
	if (all && p->killed)
		kill(-p->pid, SIGKILL);
	else if (all && !L->opt->direct)
		kill(p->pid, SIGTERM);
	p->kill_at = p->killed ? 0 : auc_clock_now() + LAST_SECONDS;
	p->killed = true;
}

/* The program has finished: tasks that are about to join need not. */
static void launch_call_off(struct launch *L)
{
	L->finished = true;
	for (unsigned i = 0; i < L->nprocs; i++)
		if (L->procs[i].gather_by > 0)
			launch_give_up(L, &L->procs[i]);
}

/* Tasks of ROLE on NODE in JOB that are there to stay, or are being started. */
static unsigned launch_have(const struct launch *L, enum role role, const char *node,
			    uint32_t job_id)
{
	unsigned n = 0;

	for (unsigned i = 0; i < L->nprocs; i++) {
		const struct proc *p = &L->procs[i];

		if (p->role != role || p->job_id != job_id || strcmp(p->node, node) != 0)
			continue;
		for (unsigned k = 0; k < p->ntasks; k++) {
			const struct task *t = &L->tasks[p->first_task + k];

			n += !t->leaving && t->state != TASK_ENDED;
		}
	}
	return n;
}

/* A worker has ended well, and all others that were to stay have. */
static bool launch_workers_ended(const struct launch *L)
{
	for (unsigned i = 0; i < L->ntasks; i++)
		if (L->tasks[i].peer.role == ROLE_WORKER && !L->tasks[i].leaving &&
		    L->tasks[i].state != TASK_ENDED)
			return false;
	return L->finished;
}

/* All tasks of a step that is being started have reported. */
static bool proc_here(const struct launch *L, const struct proc *p)
{
	for (unsigned k = 0; k < p->ntasks; k++)
		if (L->tasks[p->first_task + k].state != TASK_HERE)
			return false;
	return true;
}

/* Of two times, 0 being never. */
static double earlier(double a, double b)
{
	return a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
}
