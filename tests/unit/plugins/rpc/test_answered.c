/* test_answered.c - whether this process still listens at its ports (answered.h). */
#include "config.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "sched/rpc/answered.h"

/* A socket of FAMILY at *PORT, 0 for one that is free, of this host alone. */
static int bound(int family, unsigned *port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6,
				   .sin6_port = htons((uint16_t)*port),
				   .sin6_addr = in6addr_loopback};
	struct sockaddr_in four = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)*port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *at = family == AF_INET ? (void *)&four : (void *)&six;
	socklen_t size = family == AF_INET ? sizeof(four) : sizeof(six);
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, at, size) || getsockname(fd, at, &size)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
	return fd;
}

static void answers(int family)
{
	unsigned port = 0;
	int fd = bound(family, &port), other;

	if (fd < 0)
		skip();
	/* It has not begun to. */
	auc_rpc_answered_at(port, 1);
	assert_true(auc_rpc_answered());
	assert_int_equal(listen(fd, 1), 0);
	assert_true(auc_rpc_answered());
	/* The same socket under another number. */
	other = dup(fd);
	close(fd);
	assert_true(auc_rpc_answered());
	close(other);
	assert_false(auc_rpc_answered());
	assert_false(auc_rpc_answered());
}

static void test_stops(void **state)
{
	(void)state;
	answers(AF_INET);
}

static void test_stops_v6(void **state)
{
	(void)state;
	answers(AF_INET6);
}

/* Another port of this process, and a file, under the number that its own had, are not it. */
static void test_others(void **state)
{
	unsigned port = 0, another = 0;
	int fd = bound(AF_INET, &port), other = bound(AF_INET, &another), reused;

	(void)state;
	assert_true(fd >= 0 && other >= 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(listen(other, 1), 0);
	auc_rpc_answered_at(port, 1);
	assert_true(auc_rpc_answered());
	assert_int_equal(dup2(other, fd), fd);
	assert_false(auc_rpc_answered());
	close(fd);
	reused = dup2(STDERR_FILENO, fd);
	assert_false(auc_rpc_answered());
	close(reused);
	/* One of several is enough. */
	auc_rpc_answered_at(another < port ? another : port,
			    (another < port ? port - another : another - port) + 1);
	assert_true(auc_rpc_answered());
	close(other);
	assert_false(auc_rpc_answered());
}

/* As a backup that gives way, and is called for again. */
static void test_again(void **state)
{
	unsigned port = 0;
	int fd = bound(AF_INET, &port);

	(void)state;
	assert_true(fd >= 0);
	auc_rpc_answered_at(port, 1);
	assert_int_equal(listen(fd, 1), 0);
	assert_true(auc_rpc_answered());
	close(fd);
	assert_false(auc_rpc_answered());
	fd = bound(AF_INET, &port);
	assert_true(fd >= 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_true(auc_rpc_answered());
	close(fd);
}

static void *listen_there(void *arg)
{
	assert_int_equal(listen(*(int *)arg, 1), 0);
	return NULL;
}

/* Who is to ask waits until somebody listens, and no longer when nobody will. */
static void test_await(void **state)
{
	unsigned port = 0;
	int fd = bound(AF_INET, &port);
	pthread_t thread;

	(void)state;
	assert_true(fd >= 0);
	auc_rpc_answered_at(port, 1);
	assert_int_equal(pthread_create(&thread, NULL, listen_there, &fd), 0);
	auc_rpc_answered_await();
	auc_rpc_answered_at(port, 1);
	pthread_join(thread, NULL);
	close(fd);
	/* It was seen to listen, as it was waited for. */
	assert_false(auc_rpc_answered());
	auc_rpc_answered_at(port, 1);
	auc_rpc_answered_no_more();
	auc_rpc_answered_await();
}

static int asker(int listener)
{
	struct sockaddr_in at;
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, size), 0);
	return fd;
}

/* As slurmctld from 24.05 on: its ports stay open, and nobody looks who asks there. */
static void test_no_more(void **state)
{
	unsigned port = 0, another = 0;
	int fd = bound(AF_INET, &port), elsewhere = bound(AF_INET, &another);
	int waits, other, answerer, client;
	char byte;

	(void)state;
	assert_true(fd >= 0 && elsewhere >= 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(listen(elsewhere, 4), 0);
	auc_rpc_answered_at(port, 1);
	client = asker(fd);
	answerer = accept(fd, NULL, NULL);
	waits = asker(fd);
	other = asker(elsewhere);
	assert_int_equal(recv(waits, &byte, 1, MSG_DONTWAIT), -1);

	auc_rpc_answered_no_more();
	assert_false(auc_rpc_answered());
	assert_int_equal(recv(waits, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), -1);
	/* What answers is not cut, but who asked. */
	assert_int_equal(recv(client, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(send(answerer, "x", 1, MSG_NOSIGNAL), 1);
	/* An RPC that begins after the first call fails at the second. */
	close(waits);
	waits = asker(fd);
	assert_int_equal(recv(waits, &byte, 1, MSG_DONTWAIT), -1);
	auc_rpc_answered_no_more();
	assert_int_equal(recv(waits, &byte, 1, MSG_DONTWAIT), 0);

	auc_rpc_answered_at(port, 1);
	assert_true(auc_rpc_answered());
	close(waits);
	close(client);
	close(answerer);
	close(other);
	close(fd);
	close(elsewhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stops),  cmocka_unit_test(test_stops_v6),
		cmocka_unit_test(test_others), cmocka_unit_test(test_again),
		cmocka_unit_test(test_await),  cmocka_unit_test(test_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
