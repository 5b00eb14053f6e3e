/*
 * test_task_agent.c - the agent of a task (contrib/slaunch/task_agent.h) with a launcher that is
 * this test: what Slurm sends to a step before its program has started does it no harm.
 */
#include "config.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "slaunch/task_agent.h"
#include "slaunch/mover.h"
#include "slaunch/say.h"
#include "slaunch/wire.h"

#define PATIENCE 60000 /* milliseconds */

/* What the agent calls of files that need more than it does. */
bool mover_dir(const char *dir, const char *node, char *path, size_t size)
{
	(void)dir, (void)node, (void)path, (void)size;
	return false;
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* An agent of worker 0 that is to run the program; it connects to LISTENER. */
static pid_t agent(int listener, const char *script)
{
	char sh[] = "sh", c[] = "-c", *const program[] = {sh, c, (char *)script, NULL};
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	char where[64];
	pid_t pid;

	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	snprintf(where, sizeof(where), "127.0.0.1:%u", ntohs(addr.sin_port));
	pid = fork();
	if (pid == 0) {
		setenv(AGENT_CONNECT, where, 1);
		setenv(AGENT_TOKEN, "secret", 1);
		setenv(AGENT_GRACE, "1", 1);
		unsetenv("SLURM_PROCID");
		_exit(task_agent_run("worker:0", program));
	}
	assert_true(pid > 0);
	return pid;
}

static int listening(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* The agent's next message. */
static struct json_object *next(struct wire *w)
{
	struct json_object *o;
	bool bad, open = true;

	while (!(o = wire_take(w, &bad))) {
		struct pollfd p = {.fd = w->fd, .events = POLLIN};

		assert_true(open && !bad);
		assert_int_equal(poll(&p, 1, PATIENCE), 1);
		open = wire_read(w);
	}
	return o;
}

static void test_announced_before_the_start(void **state)
{
	int listener = listening(), status;
	pid_t pid = agent(listener, "exit 7");
	bool heard = false;
	struct wire w;
	long port, value;
	struct json_object *o;
	char go[200];

	(void)state;
	wire_init(&w, accept(listener, NULL, NULL), WIRE_HELLO_MAX);
	o = next(&w);
	assert_true(wire_int(o, "port", 1, 65535, &port));
	json_object_put(o);
	kill(pid, SIGUSR1);
	snprintf(go, sizeof(go),
		 "{\"peers\":[[\"worker\",0,\"n\",\"127.0.0.1\",%ld,0]],\"generation\":1}", port);
	assert_true(wire_send(&w, json_tokener_parse(go)));
	for (;;) {
		o = next(&w);
		if (wire_int(o, "exit", 0, 255, &value))
			break;
		heard = heard || wire_int(o, "heard", SIGUSR1, SIGUSR1, &value);
		json_object_put(o);
	}
	json_object_put(o);
	assert_int_equal(value, 7);
	assert_true(heard);
	wire_close(&w);
	close(listener);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* The agent's program runs SCRIPT; what it says at the end. */
static long run(const char *script)
{
	int listener = listening(), status;
	pid_t pid = agent(listener, script);
	struct json_object *o;
	struct wire w;
	long port, value;
	char go[200];

	wire_init(&w, accept(listener, NULL, NULL), WIRE_HELLO_MAX);
	o = next(&w);
	assert_true(wire_int(o, "port", 1, 65535, &port));
	json_object_put(o);
	snprintf(go, sizeof(go),
		 "{\"peers\":[[\"worker\",0,\"n\",\"127.0.0.1\",%ld,0]],\"generation\":1}", port);
	assert_true(wire_send(&w, json_tokener_parse(go)));
	while (!wire_int(o = next(&w), "exit", 0, 255, &value))
		json_object_put(o);
	json_object_put(o);
	wire_close(&w);
	close(listener);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return value;
}

static bool runs(const char *file)
{
	long pid = 0;
	FILE *f = fopen(file, "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld", &pid), 1);
	fclose(f);
	assert_true(pid > 1);
	return kill((pid_t)pid, 0) == 0;
}

/*
 * What a program leaves in sessions of its own, child of a child, is gone when its agent is: else
 * Slurm kept the node until that had ended, and its next buyer lost it.
 */
static void test_nothing_is_left(void **state)
{
	char dir[] = "/tmp/auction-agent-XXXXXX", script[1024], a[64], b[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(a, sizeof(a), "%s/a", dir);
	snprintf(b, sizeof(b), "%s/b", dir);
	snprintf(script, sizeof(script),
		 "setsid sh -c 'trap \"\" TERM HUP; echo $$ > %s.n; mv %s.n %s; (setsid sh -c "
		 "\"echo "
		 "\\$\\$ > %s.n; mv %s.n %s; exec sleep 600\" &) ; exec sleep 600' & "
		 "while [ ! -e %s ] || [ ! -e %s ]; do sleep 0.01; done; exit 3",
		 a, a, a, b, b, b, a, b);
	assert_int_equal(run(script), 3);
	assert_false(runs(a));
	assert_false(runs(b));
	unlink(a);
	unlink(b);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_announced_before_the_start),
		cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
