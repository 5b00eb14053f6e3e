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

#include "address.h"
#include "clock.h"
#include "launch.h"
#include "say.h"
#include "taskenv.h"
#include "wire.h"

#define GUESTS_MAX    64   /* connections that have not said who they are */
#define GUEST_SECONDS 10.0 /* how long they have for it */
#define LOST_SECONDS  3.0  /* between the loss of an agent's connection and giving its task up */
#define FILES_OTHER   32   /* descriptors that are no connections */
#define LAST_SECONDS  5.0  /* between the last SIGKILLs */

enum phase { PHASE_GATHER, PHASE_RUN, PHASE_DRAIN, PHASE_STOP, PHASE_KILL, PHASE_GIVE_UP };

enum task_state {
	TASK_ABSENT,
	TASK_HERE,    /* has reported */
	TASK_RUNNING, /* has the list and was told to go */
	TASK_LOST,    /* its connection broke; how it ended is not known */
	TASK_ENDED,
};

struct task {
	struct peer peer;
	enum task_state state;
	struct wire wire; /* open in HERE and RUNNING */
	double lost_at;
};

/* A child of ours: the srun of a step, or one agent. */
struct proc {
	pid_t pid; /* 0: has ended */
	int code;  /* as a shell gives it */
	unsigned first_task, ntasks;
};

struct guest {
	struct wire wire; /* fd -1: free */
	double deadline;
};

struct launch {
	const struct layout *layout;
	const struct start_options *opt;
	enum phase phase;
	double deadline; /* of the phase; 0: none */
	bool failed;
	int code; /* the first failure's */
	bool interrupted;
	int listen_fd, sigfd;
	char token[WIRE_TOKEN_LEN];
	struct start_inherit old;
	unsigned ntasks, nprocs;
	struct task *tasks;
	struct proc *procs;
	struct guest guests[GUESTS_MAX];
	struct pollfd *poll;
};

static bool launch_init(struct launch *L);
static bool launch_files(struct launch *L, unsigned need);
static void launch_clear(struct launch *L);
static void launch_add(struct launch *L, enum role role, unsigned first, unsigned n,
		       const char *node);
static void launch_start(struct launch *L, unsigned i);
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
static void launch_go(struct launch *L);
static void launch_missing(struct launch *L);
static void launch_stop(struct launch *L);
static void launch_kill(struct launch *L);
static void launch_send(struct launch *L, const char *what, int sig, bool workers);
static unsigned launch_count(const struct launch *L, enum role role, enum task_state state);
static bool launch_workers_ended(const struct launch *L);
static void launch_fail(struct launch *L, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

int launch_run(const struct layout *l, const struct start_options *opt)
{
	struct launch L = {.layout = l, .opt = opt, .listen_fd = -1, .sigfd = -1};
	int code = EXIT_FAILURE;

	for (unsigned i = 0; i < GUESTS_MAX; i++)
		L.guests[i].wire.fd = -1;
	if (launch_init(&L)) {
		L.deadline = clock_now() + opt->wait;
		for (unsigned i = 0; i < L.nprocs && !L.failed; i++)
			launch_start(&L, i);
		while (!launch_done(&L)) {
			launch_poll(&L);
			launch_step(&L);
		}
		code = L.code;
	}
	launch_clear(&L);
	return code;
}

static bool launch_init(struct launch *L)
{
	const struct layout *l = L->layout;
	unsigned tasks = l->nworkers + l->nps + 1, procs = l->nsteps + 1;
	char address[TASKENV_HOST_MAX + 16];
	sigset_t mask;

	L->tasks = calloc(tasks, sizeof(*L->tasks));
	L->procs = calloc(procs, sizeof(*L->procs));
	L->poll = calloc((size_t)tasks + GUESTS_MAX + 2, sizeof(*L->poll));
	if (!L->tasks || !L->procs || !L->poll) {
		say("out of memory");
		return false;
	}
	for (unsigned i = 0; i < l->nsteps; i++)
		launch_add(L, l->steps[i].role, l->steps[i].first_rank, l->steps[i].ntasks,
			   l->steps[i].node);
	if (L->opt->scheduler)
		launch_add(L, ROLE_SCHEDULER, 0, 1, l->lead_node);

	if (!launch_files(L, tasks + GUESTS_MAX + FILES_OTHER))
		return false;
	sigemptyset(&mask);
	for (const int *s = (const int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, 0};
	     *s; s++)
		sigaddset(&mask, *s);
	sigprocmask(SIG_BLOCK, &mask, &L->old.mask);
	L->sigfd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (L->sigfd < 0 || !wire_token(L->token)) {
		say("%s", strerror(errno));
		return false;
	}
	L->listen_fd = address_listen(L->opt->host, address, sizeof(address));
	if (L->listen_fd < 0)
		return false;
	start_export(l, L->opt, address, L->token);
	return true;
}

/* Every task has a connection here: allows for NEED descriptors, in this process only. */
static bool launch_files(struct launch *L, unsigned need)
{
	struct rlimit want;

	getrlimit(RLIMIT_NOFILE, &L->old.files);
	want = L->old.files;
	if (want.rlim_cur >= need)
		return true;
	want.rlim_cur = need;
	if (setrlimit(RLIMIT_NOFILE, &want) == 0)
		return true;
	say("%u open files are needed, but the limit (ulimit -Hn) is %llu", need,
	    (unsigned long long)want.rlim_max);
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
	if (L->sigfd >= 0) {
		close(L->sigfd);
		sigprocmask(SIG_SETMASK, &L->old.mask, NULL);
	}
	free(L->tasks);
	free(L->procs);
	free(L->poll);
}

static void launch_add(struct launch *L, enum role role, unsigned first, unsigned n,
		       const char *node)
{
	struct proc *p = &L->procs[L->nprocs];

	p->first_task = L->ntasks;
	p->ntasks = n;
	for (unsigned i = 0; i < n; i++) {
		struct task *t = &L->tasks[L->ntasks++];

		t->wire.fd = -1;
		t->peer.role = role;
		t->peer.rank = first + i;
		snprintf(t->peer.node, sizeof(t->peer.node), "%s", node);
	}
	L->nprocs++;
}

static void launch_start(struct launch *L, unsigned i)
{
	pid_t pid = start_child(L->layout, L->opt, i, &L->old);

	if (pid < 0)
		launch_fail(L, EXIT_FAILURE, "fork: %s", strerror(errno));
	else
		L->procs[i].pid = pid;
}

static bool launch_done(const struct launch *L)
{
	if (L->phase == PHASE_GIVE_UP)
		return true;
	for (unsigned i = 0; i < L->nprocs; i++)
		if (L->procs[i].pid)
			return false;
	return true;
}

static void launch_poll(struct launch *L)
{
	unsigned n = 2;

	/* While nobody more can be received, callers wait in the kernel's queue. */
	L->poll[0] = (struct pollfd){.fd = guest_free(L) ? L->listen_fd : -1, .events = POLLIN};
	L->poll[1] = (struct pollfd){.fd = L->sigfd, .events = POLLIN};
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		L->poll[n++] = (struct pollfd){.fd = L->guests[i].wire.fd, .events = POLLIN};
	for (unsigned i = 0; i < L->ntasks; i++) {
		short out = wire_pending(&L->tasks[i].wire) ? POLLOUT : 0;

		L->poll[n++] = (struct pollfd){.fd = L->tasks[i].wire.fd, .events = POLLIN | out};
	}
	if (poll(L->poll, n, clock_poll_timeout(launch_next(L), clock_now())) < 0)
		return;
	for (unsigned i = 0; i < L->ntasks; i++)
		if (L->poll[2 + GUESTS_MAX + i].revents)
			task_read(L, &L->tasks[i]);
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		if (L->poll[2 + i].revents)
			guest_read(L, &L->guests[i]);
	if (L->poll[1].revents)
		launch_signals(L);
	if (L->poll[0].revents)
		launch_accept(L);
}

/* When something is due; 0: never. */
static double launch_next(const struct launch *L)
{
	double next = L->deadline;

	for (unsigned i = 0; i < GUESTS_MAX; i++)
		if (L->guests[i].wire.fd >= 0)
			next = next > 0 ? fmin(next, L->guests[i].deadline) : L->guests[i].deadline;
	for (unsigned i = 0; i < L->ntasks; i++)
		if (L->tasks[i].state == TASK_LOST)
			next = next > 0 ? fmin(next, L->tasks[i].lost_at + LOST_SECONDS)
					: L->tasks[i].lost_at + LOST_SECONDS;
	return next;
}

static void launch_accept(struct launch *L)
{
	struct guest *g;
	int fd, on = 1;

	while ((g = guest_free(L)) &&
	       (fd = accept4(L->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (L->phase != PHASE_GATHER) {
			close(fd);
			continue;
		}
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		wire_init(&g->wire, fd, WIRE_HELLO_MAX);
		g->deadline = clock_now() + GUEST_SECONDS;
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
			say("a connection that is none of our tasks was closed");
		wire_close(&g->wire);
	}
}

/* Takes the guest's connection over if it is the task it says; otherwise leaves it to be closed. */
static void launch_hello(struct launch *L, struct guest *g, struct json_object *o)
{
	char token[WIRE_TOKEN_LEN], name[16];
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	long rank, port;
	enum role role;

	if (!wire_str(o, "token", token, sizeof(token)) || !wire_token_equal(token, L->token) ||
	    !wire_str(o, "role", name, sizeof(name)) || !role_parse(name, &role) ||
	    !wire_int(o, "rank", 0, LAYOUT_TASKS_MAX, &rank) ||
	    !wire_int(o, "port", 1, 65535, &port))
		return;
	for (unsigned i = 0; i < L->ntasks; i++) {
		struct task *t = &L->tasks[i];

		if (t->peer.role != role || t->peer.rank != (unsigned long)rank ||
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
			say("%s %u is there: %s %s:%u", name, t->peer.rank, t->peer.node,
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
		t->lost_at = clock_now();
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
	if (L->opt->verbose > 1 && code == 0)
		say("%s %u on %s %s", role_name(t->peer.role), t->peer.rank, t->peer.node, how);
	if (code == 0)
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
		    t->peer.rank, t->peer.node, how);
	else
		launch_fail(L, code, "%s %u on %s %s", role_name(t->peer.role), t->peer.rank,
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
			L->deadline = clock_now() + L->opt->grace;
		} else {
			/* Asked for twice: no more patience. */
			L->deadline = clock_now();
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
		launch_fail(L, p->code ? p->code : EXIT_FAILURE,
			    "%s %u on %s did not start (%s ended with code %d)",
			    role_name(t->peer.role), t->peer.rank, t->peer.node,
			    L->opt->direct || t->peer.role == ROLE_SCHEDULER ? "its agent" : "srun",
			    p->code);
	}
}

/* What follows from the state and the time. */
static void launch_step(struct launch *L)
{
	double now = clock_now();
	bool due = L->deadline > 0 && now >= L->deadline;

	for (unsigned i = 0; i < GUESTS_MAX; i++)
		if (L->guests[i].wire.fd >= 0 && now >= L->guests[i].deadline)
			wire_close(&L->guests[i].wire);
	for (unsigned i = 0; i < L->ntasks; i++) {
		struct task *t = &L->tasks[i];

		if (t->state != TASK_LOST || now < t->lost_at + LOST_SECONDS)
			continue;
		t->state = TASK_ENDED;
		if (L->phase < PHASE_STOP)
			launch_fail(L, EXIT_FAILURE, "lost contact with %s %u on %s",
				    role_name(t->peer.role), t->peer.rank, t->peer.node);
	}

	switch (L->phase) {
	case PHASE_GATHER:
		if (launch_count(L, ROLES, TASK_HERE) == L->ntasks)
			launch_go(L);
		else if (due)
			launch_missing(L);
		break;
	case PHASE_RUN:
		if (!launch_workers_ended(L))
			break;
		L->phase = PHASE_DRAIN;
		L->deadline = now + L->opt->grace;
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

static void launch_go(struct launch *L)
{
	struct peer *peers = calloc(L->ntasks, sizeof(*peers));

	L->phase = PHASE_RUN;
	L->deadline = 0;
	for (unsigned i = 0; peers && i < L->ntasks; i++)
		peers[i] = L->tasks[i].peer;
	for (unsigned i = 0; peers && i < L->ntasks; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "peers", taskenv_peers_json(peers, L->ntasks));
		L->tasks[i].state = TASK_RUNNING;
		/* A broken connection shows when it is read. */
		wire_send(&L->tasks[i].wire, o);
	}
	if (!peers)
		launch_fail(L, EXIT_FAILURE, "out of memory");
	free(peers);
	if (L->opt->verbose)
		say("%u workers and %u PSs started", L->layout->nworkers, L->layout->nps);
}

static void launch_missing(struct launch *L)
{
	char list[400] = "";
	size_t n = 0;

	for (unsigned i = 0; i < L->ntasks && n < sizeof(list); i++) {
		const struct peer *p = &L->tasks[i].peer;

		if (L->tasks[i].state == TASK_ABSENT)
			n += snprintf(list + n, sizeof(list) - n, "%s%s %u on %s", n ? ", " : "",
				      role_name(p->role), p->rank, p->node);
	}
	launch_fail(L, EXIT_FAILURE, "after %g s (--wait) these tasks have not reported: %s%s",
		    L->opt->wait, list, n >= sizeof(list) ? "..." : "");
}

/* Ends what has no more to do: that is no failure. */
static void launch_stop(struct launch *L)
{
	launch_send(L, "stop", SIGTERM, false);
	L->phase = PHASE_STOP;
	L->deadline = clock_now() + L->opt->grace;
}

static void launch_kill(struct launch *L)
{
	launch_send(L, L->failed || L->interrupted ? "signal" : "stop", SIGKILL, true);
	for (unsigned i = 0; i < L->nprocs; i++)
		if (L->procs[i].pid && !L->opt->direct)
			kill(L->procs[i].pid, SIGTERM);
	L->phase = PHASE_KILL;
	L->deadline = clock_now() + LAST_SECONDS;
}

/* Sends {WHAT: SIG} to the running tasks, workers among them only if WORKERS. */
static void launch_send(struct launch *L, const char *what, int sig, bool workers)
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

/* Tasks of ROLE (ROLES: of any) in STATE. */
static unsigned launch_count(const struct launch *L, enum role role, enum task_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < L->ntasks; i++)
		n += L->tasks[i].state == state && (role == ROLES || L->tasks[i].peer.role == role);
	return n;
}

static bool launch_workers_ended(const struct launch *L)
{
	return launch_count(L, ROLE_WORKER, TASK_ENDED) == L->layout->nworkers;
}

/* The first failure decides the exit code and ends everything. */
static void launch_fail(struct launch *L, int code, const char *fmt, ...)
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
	if (L->phase == PHASE_GATHER) {
		/* Nothing runs yet: agents go when their connection does, an srun that still waits
		 * must be told. */
		for (unsigned i = 0; i < L->ntasks; i++)
			wire_close(&L->tasks[i].wire);
		for (unsigned i = 0; i < L->nprocs; i++)
			if (L->procs[i].pid)
				kill(L->procs[i].pid, SIGTERM);
	} else {
		launch_send(L, "signal", SIGTERM, true);
	}
	L->phase = PHASE_STOP;
	L->deadline = clock_now() + L->opt->grace;
}
