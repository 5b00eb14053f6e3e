/*
 * task_agent.c - see task_agent.h
 *
 * The program gets a process group of its own and dies with the agent (PR_SET_PDEATHSIG). What it
 * leaves in other groups and sessions becomes the agent's (PR_SET_CHILD_SUBREAPER), which kills it.
 * The agent itself ignores what Slurm sends to all processes of a step: the program has got it too,
 * and the agent is to report how it ended.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "slaunch/task_agent.h"
#include "base/clock.h"
#include "slaunch/layout/groupfile.h"
#include "base/hostport.h"
#include "slaunch/mover.h"
#include "base/num.h"
#include "slaunch/say.h"
#include "slaunch/layout/taskenv.h"
#include "slaunch/wire.h"

#define AGENT_LAST_WORDS 5.0 /* seconds for the report of the end to leave */
#define AGENT_DRAIN      1.0 /* seconds to read on what an ended program has written */
#define AGENT_LEFTOVERS  5.0 /* seconds for what it has left behind to end when it is killed */
#define EXIT_NOT_FOUND   127
#define EXIT_NOT_RUN     126

/* Copies one stream line by line, each with a label. */
struct labeller {
	int from, to;
	char buf[4096];
	size_t len;
	bool lost; /* a line could not be written, which was said */
};

struct agent {
	enum role role;
	unsigned id;
	char label[48];
	double grace;
	bool labelled;
	uint64_t ignore;  /* signal; 0: none */
	struct wire wire; /* fd -1: the launcher is gone */
	int reserved;     /* holds the task's port until the program starts */
	unsigned port;
	int sigfd;
	pid_t pid; /* 0: not started, or ended and reaped */
	bool stopping;
	bool fine; /* the launcher ended it, which is no failure */
	struct groupfile group;
	double kill_at; /* 0: not set */
	int status;
	struct labeller out, err;
};

static void agent_data_dir(void);
static bool agent_init(struct agent *a, const char *task);
static bool agent_connect(struct agent *a, const char *where);
static bool agent_reserve(struct agent *a);
static bool agent_hello(struct agent *a, const char *token);
static bool agent_wait_go(struct agent *a);
static bool agent_go(struct agent *a, struct json_object *o);
static void agent_hears(sigset_t *set);
static bool agent_start(struct agent *a, char *const program[]);
static void agent_exec(struct agent *a, char *const program[], const int out[2], const int err[2]);
static void agent_watch(struct agent *a);
static void agent_listen(struct agent *a);
static void agent_obey(struct agent *a);
static void agent_signal(struct agent *a, int sig);
static void agent_change(struct agent *a, struct json_object *o, int sig);
static void agent_reap(struct agent *a);
static void agent_reap_orphans(const struct agent *a);
static void agent_kill_leftovers(const struct agent *a, pid_t group);
static void agent_report(struct agent *a);
static void labeller_read(struct labeller *l, const char *label);
static void labeller_put(struct labeller *l, const char *label, const char *line, size_t len);
static void complain(const struct agent *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

int task_agent_run(const char *task, char *const program[])
{
	struct agent a = {.reserved = -1,
			  .sigfd = -1,
			  .wire.fd = -1,
			  .out.from = -1,
			  .err.from = -1,
			  .group.fd = -1};
	const char *token = getenv(AGENT_TOKEN), *where = getenv(AGENT_CONNECT);
	sigset_t announced;

	/* What the program leaves behind becomes the agent's. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* A change may be announced while the group forms: agent_start() reads it. */
	sigemptyset(&announced);
	agent_hears(&announced);
	sigprocmask(SIG_BLOCK, &announced, NULL);
	if (!token || !where) {
		say("--task is for slaunch itself: %s is not set",
		    token ? AGENT_CONNECT : AGENT_TOKEN);
		return EXIT_FAILURE;
	}
	agent_data_dir();
	if (!agent_init(&a, task) || !agent_connect(&a, where) || !agent_reserve(&a) ||
	    !agent_hello(&a, token) || !agent_wait_go(&a) || !agent_start(&a, program)) {
		wire_close(&a.wire);
		return EXIT_FAILURE;
	}
	agent_watch(&a);
	agent_report(&a);
	wire_close(&a.wire);
	groupfile_clear(&a.group);
	close(a.sigfd);
	if (a.fine)
		return EXIT_SUCCESS;
	return WIFEXITED(a.status) ? WEXITSTATUS(a.status) : 128 + WTERMSIG(a.status);
}

/* Where the chunks of this node lie: programs need not know of "%n". */
static void agent_data_dir(void)
{
	const char *dir = getenv(DATA_DIR), *node = getenv("SLURMD_NODENAME");
	char path[PATH_MAX];

	if (dir && mover_dir(dir, node ? node : "localhost", path, sizeof(path)))
		setenv(DATA_DIR, path, 1);
}

static bool agent_init(struct agent *a, const char *task)
{
	const char *colon = strchr(task, ':'), *procid = getenv("SLURM_PROCID"),
		   *grace = getenv(AGENT_GRACE);
	uint64_t first, offset = 0;
	char role[16];

	if (!colon || (size_t)(colon - task) >= sizeof(role)) {
		say("--task=%s: expected ROLE:RANK", task);
		return false;
	}
	memcpy(role, task, colon - task);
	role[colon - task] = '\0';
	if (!role_parse(role, &a->role) ||
	    auc_parse_count(colon + 1, 0, TASKENV_ID_MAX, &first, "--task", NULL) ||
	    (procid &&
	     auc_parse_count(procid, 0, LAYOUT_TASKS_MAX, &offset, "SLURM_PROCID", NULL)) ||
	    !grace || auc_parse_number(grace, 0, 1e10, &a->grace, AGENT_GRACE, NULL)) {
		say("--task=%s: expected ROLE:RANK and a sound environment", task);
		return false;
	}
	a->id = first + offset;
	a->labelled = getenv(AGENT_LABEL) != NULL;
	if (getenv(AGENT_IGNORE))
		auc_parse_count(getenv(AGENT_IGNORE), 1, NSIG - 1, &a->ignore, AGENT_IGNORE, NULL);
	snprintf(a->label, sizeof(a->label),
		 a->role == ROLE_SCHEDULER ? "%s: " : "%s %u: ", role_name(a->role), a->id);
	return true;
}

static bool agent_connect(struct agent *a, const char *where)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV},
			*list = NULL;
	char host[TASKENV_HOST_MAX], service[8];
	unsigned port;
	int fd = -1, on = 1, rc = EAI_NONAME;

	if (auc_hostport_split(where, host, sizeof(host), &port)) {
		snprintf(service, sizeof(service), "%u", port);
		rc = getaddrinfo(host, service, &hints, &list);
	}
	if (rc != 0) {
		complain(a, "%s=%s: %s", AGENT_CONNECT, where, gai_strerror(rc));
		return false;
	}
	for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, ai->ai_addr, ai->ai_addrlen) != 0) {
			int saved = errno;

			close(fd);
			errno = saved;
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0) {
		complain(a, "cannot reach the launcher at %s: %s", where, strerror(errno));
		return false;
	}
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	wire_init(&a->wire, fd, WIRE_PEERS_MAX);
	return true;
}

/* Takes a free port of the address by which the launcher sees this node. */
static bool agent_reserve(struct agent *a)
{
	struct sockaddr_storage addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;
	in_port_t *port = NULL;
	socklen_t len = sizeof(addr);

	if (getsockname(a->wire.fd, (struct sockaddr *)&addr, &len) == 0) {
		port = addr.ss_family == AF_INET6 ? &in6->sin6_port : &in->sin_port;
		*port = 0;
		a->reserved = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	if (!port || a->reserved < 0 || bind(a->reserved, (struct sockaddr *)&addr, len) != 0 ||
	    getsockname(a->reserved, (struct sockaddr *)&addr, &len) != 0) {
		complain(a, "no free port: %s", strerror(errno));
		return false;
	}
	a->port = ntohs(*port);
	return true;
}

static bool agent_hello(struct agent *a, const char *token)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "hello", json_object_new_int(1));
	json_object_object_add(o, "token", json_object_new_string(token));
	json_object_object_add(o, "role", json_object_new_string(role_name(a->role)));
	json_object_object_add(o, "id", json_object_new_int64(a->id));
	json_object_object_add(o, "port", json_object_new_int64(a->port));
	/* The program has no business with these. */
	unsetenv(AGENT_TOKEN);
	unsetenv(AGENT_CONNECT);
	unsetenv(AGENT_GRACE);
	unsetenv(AGENT_LABEL);
	unsetenv(AGENT_IGNORE);
	return wire_send(&a->wire, o);
}

/* The launcher sets the time limit: it closes the connection when it gives up. */
static bool agent_wait_go(struct agent *a)
{
	struct json_object *o;
	bool open = true, bad;

	for (;;) {
		struct pollfd p = {.fd = a->wire.fd,
				   .events = POLLIN | (wire_pending(&a->wire) ? POLLOUT : 0)};

		o = wire_take(&a->wire, &bad);
		if (o) {
			open = agent_go(a, o);
			json_object_put(o);
			return open;
		}
		if (bad)
			complain(a, "the launcher sent something malformed");
		/* A launcher that gives up says why itself. */
		if (bad || !open)
			return false;
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return false;
		open = wire_flush(&a->wire) && wire_read(&a->wire);
	}
}

static bool agent_go(struct agent *a, struct json_object *o)
{
	struct json_object *list = NULL;
	struct auc_err err = {0};
	struct peer *peers;
	enum auc_code rc;
	unsigned n;

	json_object_object_get_ex(o, "peers", &list);
	rc = taskenv_peers_parse(list, &peers, &n, &err);
	if (rc == AUC_OK) {
		rc = auc_err_set(&err, AUC_EINVAL, "this task is not in the list of tasks");
		for (unsigned i = 0; i < n; i++)
			if (peers[i].role == a->role && peers[i].id == a->id)
				rc = taskenv_set(&peers[i], peers, n, &err);
		free(peers);
	}
	if (rc == AUC_OK)
		rc = groupfile_write(&a->group, o, a->role, a->id, &err);
	if (rc == AUC_OK)
		rc = groupfile_set(&a->group, &err);
	if (rc != AUC_OK)
		complain(a, "%s", err.text);
	return rc == AUC_OK;
}

/* Adds what users send to jobs, but for what ends them, of which each node gets its own. */
static void agent_hears(sigset_t *set)
{
	static const int sigs[] = {SIGUSR1, SIGUSR2, SIGURG, SIGALRM, SIGWINCH};

	for (unsigned i = 0; i < sizeof(sigs) / sizeof(*sigs); i++)
		sigaddset(set, sigs[i]);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		sigaddset(set, sig);
}

static bool agent_start(struct agent *a, char *const program[])
{
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	sigset_t mask;

	sigfillset(&mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	/* What Slurm sends to a step is for the whole group, and may announce a change. */
	agent_hears(&mask);
	a->sigfd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (a->sigfd < 0 ||
	    (a->labelled && (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0))) {
		complain(a, "%s", strerror(errno));
		return false;
	}
	close(a->reserved);
	a->reserved = -1;
	a->pid = fork();
	if (a->pid == 0)
		agent_exec(a, program, out, err);
	if (a->pid < 0) {
		complain(a, "fork: %s", strerror(errno));
		return false;
	}
	setpgid(a->pid, a->pid);
	if (a->labelled) {
		close(out[1]);
		close(err[1]);
		a->out.from = out[0];
		a->out.to = STDOUT_FILENO;
		a->err.from = err[0];
		a->err.to = STDERR_FILENO;
	}
	return true;
}

/* The child: becomes the program or ends as a shell would. */
static void agent_exec(struct agent *a, char *const program[], const int out[2], const int err[2])
{
	pid_t parent = getppid();
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	if (a->labelled && (dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0))
		_exit(EXIT_NOT_RUN);
	if (a->ignore)
		signal((int)a->ignore, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(program[0], program);
	say("%s: %s", program[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

/* Until the program has ended and its output is copied. */
static void agent_watch(struct agent *a)
{
	double drain_until = 0;

	/* What came together with the word to start. */
	agent_obey(a);
	for (;;) {
		double now = auc_clock_now(), until = a->pid ? a->kill_at : drain_until;
		struct pollfd p[4] = {
			{.fd = a->wire.fd,
			 .events = POLLIN | (wire_pending(&a->wire) ? POLLOUT : 0)},
			{.fd = a->sigfd, .events = POLLIN},
			{.fd = a->out.from, .events = POLLIN},
			{.fd = a->err.from, .events = POLLIN},
		};

		if (!a->pid && ((a->out.from < 0 && a->err.from < 0) || now >= drain_until))
			return;
		if (poll(p, 4, auc_clock_poll_timeout(until, now)) < 0 && errno != EINTR)
			return;
		if (p[0].revents)
			agent_listen(a);
		if (p[1].revents)
			agent_reap(a);
		if (p[2].revents)
			labeller_read(&a->out, a->label);
		if (p[3].revents)
			labeller_read(&a->err, a->label);
		if (!a->pid && drain_until <= 0)
			drain_until = auc_clock_now() + AGENT_DRAIN;
		if (a->pid && a->kill_at > 0 && auc_clock_now() >= a->kill_at) {
			agent_signal(a, SIGKILL);
			a->kill_at = 0;
		}
	}
}

static void agent_listen(struct agent *a)
{
	bool open = wire_flush(&a->wire) && wire_read(&a->wire);

	agent_obey(a);
	if (open)
		return;
	wire_close(&a->wire);
	if (!a->pid)
		return;
	complain(a, "the launcher is gone: ending the program");
	agent_signal(a, SIGTERM);
	a->kill_at = auc_clock_now() + a->grace;
}

/* Does what the messages that are here say. */
static void agent_obey(struct agent *a)
{
	struct json_object *o;
	bool bad;
	long sig;

	while ((o = wire_take(&a->wire, &bad)) || bad) {
		if (wire_int(o, "stop", 1, NSIG - 1, &sig)) {
			a->fine = true;
			agent_signal(a, sig);
		} else if (wire_int(o, "signal", 1, NSIG - 1, &sig)) {
			agent_signal(a, sig);
		} else if (wire_int(o, "notify", 1, NSIG - 1, &sig)) {
			if (a->pid)
				catch_kill(a->pid, sig);
		} else if (wire_int(o, "change", 1, NSIG - 1, &sig)) {
			agent_change(a, o, sig);
		}
		json_object_put(o);
	}
}

static void agent_signal(struct agent *a, int sig)
{
	if (a->pid)
		kill(-a->pid, sig);
}

/* The group has changed or will: the program finds it in the file, if it wants to know. */
static void agent_change(struct agent *a, struct json_object *o, int sig)
{
	struct auc_err err = {0};

	if (groupfile_write(&a->group, o, a->role, a->id, &err) != AUC_OK)
		complain(a, "%s", err.text);
	if (a->pid)
		catch_kill(a->pid, sig);
}

static void agent_reap(struct agent *a)
{
	struct signalfd_siginfo info;
	siginfo_t si = {0};
	pid_t group;

	while (read(a->sigfd, &info, sizeof(info)) == sizeof(info)) {
		struct json_object *o;

		if (info.ssi_signo == SIGCHLD || a->wire.fd < 0)
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "heard", json_object_new_int(info.ssi_signo));
		wire_send(&a->wire, o);
	}
	agent_reap_orphans(a);
	if (!a->pid || waitid(P_PID, a->pid, &si, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    si.si_pid == 0)
		return;
	/* What it left in its group must not outlive it; its number is not free before it is
	 * reaped. */
	agent_signal(a, SIGKILL);
	group = a->pid;
	if (waitpid(group, &a->status, 0) != group)
		return;
	a->pid = 0;
	agent_kill_leftovers(a, group);
}

/* Descendants of the program that have ended, and whose parents ended before them. */
static void agent_reap_orphans(const struct agent *a)
{
	siginfo_t si = {0};

	while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid != 0 &&
	       si.si_pid != a->pid) {
		waitpid(si.si_pid, NULL, 0);
		si.si_pid = 0;
	}
}

/*
 * Kills what the program has left behind in whatever session or group but its own, GROUP, which is
 * dying: all of it is this agent's children by now, or becomes that as its parents end. Else Slurm
 * would wait for it, and the node would not be free when its next buyer comes.
 */
static void agent_kill_leftovers(const struct agent *a, pid_t group)
{
	double until = auc_clock_now() + AGENT_LEFTOVERS;
	unsigned killed = 0;

	while (auc_clock_now() < until) {
		unsigned n = kill_children(getpid(), group);

		killed += n;
		agent_reap_orphans(a);
		if (!n && waitpid(-1, NULL, WNOHANG) < 0)
			break;
		poll(NULL, 0, 1);
	}
	if (killed)
		complain(a, "killed what the program left running");
}

static void agent_report(struct agent *a)
{
	struct json_object *o = json_object_new_object();
	double until = auc_clock_now() + AGENT_LAST_WORDS;
	bool open = a->wire.fd >= 0;

	if (WIFEXITED(a->status))
		json_object_object_add(o, "exit", json_object_new_int(WEXITSTATUS(a->status)));
	else
		json_object_object_add(o, "killed", json_object_new_int(WTERMSIG(a->status)));
	if (!open) {
		json_object_put(o);
		return;
	}
	open = wire_send(&a->wire, o);
	while (open && wire_pending(&a->wire) && auc_clock_now() < until) {
		struct pollfd p = {.fd = a->wire.fd, .events = POLLOUT};

		poll(&p, 1, auc_clock_poll_timeout(until, auc_clock_now()));
		open = wire_flush(&a->wire);
	}
}

static void labeller_read(struct labeller *l, const char *label)
{
	ssize_t n = read(l->from, l->buf + l->len, sizeof(l->buf) - l->len);
	char *line = l->buf, *end;

	if (n < 0 && errno == EINTR)
		return;
	l->len += n > 0 ? n : 0;
	while ((end = memchr(line, '\n', l->buf + l->len - line))) {
		labeller_put(l, label, line, end - line);
		line = end + 1;
	}
	l->len -= line - l->buf;
	memmove(l->buf, line, l->len);
	/* The rest of a line: at the end of the stream, or if it is too long for us. */
	if (l->len && (n <= 0 || l->len == sizeof(l->buf))) {
		labeller_put(l, label, l->buf, l->len);
		l->len = 0;
	}
	if (n <= 0) {
		close(l->from);
		l->from = -1;
	}
}

static void labeller_put(struct labeller *l, const char *label, const char *line, size_t len)
{
	char text[64 + sizeof(l->buf) + 1];
	size_t n = snprintf(text, 64, "%s", label), done = 0;

	memcpy(text + n, line, len);
	n += len;
	text[n++] = '\n';
	while (done < n) {
		ssize_t k = write(l->to, text + done, n - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			if (!l->lost)
				say("%soutput is lost: %s", label, strerror(errno));
			l->lost = true;
			return;
		}
		done += k;
	}
}

static void complain(const struct agent *a, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say("%s%s", a->label, text);
}
