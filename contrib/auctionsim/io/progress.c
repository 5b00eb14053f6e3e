/* progress.c - see progress.h */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auctionsim/io/progress.h"
#include "base/clock.h"

#define SHOW_EVERY 250000000 /* ns */
#define LINE_EVERY 60        /* s: without a terminal */
#define LEFT_AFTER 1.0       /* seconds until it says how long it takes */
#define TEXT_MAX   200
#define LINE_ROOM  (2 * TEXT_MAX + 120)

static struct {
	const char *command;
	pthread_t thread;
	bool begun, shows; /* SHOWS: standard error is a terminal */
	bool lines;        /* it is not, and apart from standard output */
	sigset_t signals, old_mask;
	pthread_mutex_t lock; /* of what follows, and held while a file is half-written; what is
				 asked at a stop may write one */
	bool ended, shown;
	char head[TEXT_MAX]; /* "", or ends in ": " */
	char text[TEXT_MAX]; /* "": nothing to show */
	double since;
	bool (*ends)(void *arg);
	void *arg;
	_Atomic uint64_t done, all;
} p = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static void *watch(void *arg);
static bool is_apart(void);
static void show(void);
static void wipe(void);
static void stop(int signal);
static void put(const char *line, int len);

void progress_begin(const char *command)
{
	static const int signals[] = {SIGINT, SIGTERM};
	struct sigaction was;

	p.command = command;
	p.shows = isatty(STDERR_FILENO);
	p.lines = !p.shows && is_apart();
	sigemptyset(&p.signals);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaddset(&p.signals, signals[i]);
	pthread_sigmask(SIG_BLOCK, &p.signals, &p.old_mask);
	p.begun = !pthread_create(&p.thread, NULL, watch, NULL);
	if (!p.begun)
		pthread_sigmask(SIG_SETMASK, &p.old_mask, NULL);
}

void progress_end(void)
{
	if (!p.begun)
		return;
	pthread_mutex_lock(&p.lock);
	wipe();
	p.ended = true;
	pthread_mutex_unlock(&p.lock);
	pthread_cancel(p.thread);
	pthread_join(p.thread, NULL);
	p.begun = false;
}

void progress_say(const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&p.lock);
	va_start(ap, fmt);
	vsnprintf(p.text, sizeof(p.text), fmt, ap);
	va_end(ap);
	p.since = auc_clock_now();
	progress_count(0, 0);
	pthread_mutex_unlock(&p.lock);
}

void progress_head(const char *fmt, ...)
{
	size_t len;
	va_list ap;

	pthread_mutex_lock(&p.lock);
	va_start(ap, fmt);
	vsnprintf(p.head, sizeof(p.head) - 2, fmt, ap);
	va_end(ap);
	len = strlen(p.head);
	if (len)
		strcpy(p.head + len, ": ");
	pthread_mutex_unlock(&p.lock);
}

void progress_hide(void)
{
	pthread_mutex_lock(&p.lock);
	*p.text = *p.head = '\0';
	wipe();
	pthread_mutex_unlock(&p.lock);
}

void progress_clear(void)
{
	pthread_mutex_lock(&p.lock);
	wipe();
	pthread_mutex_unlock(&p.lock);
}

void progress_count(uint64_t done, uint64_t all)
{
	atomic_store_explicit(&p.done, done, memory_order_relaxed);
	atomic_store_explicit(&p.all, all, memory_order_relaxed);
}

bool progress_show(void *arg, unsigned done, unsigned all)
{
	(void)arg;
	progress_count(done, all);
	return true;
}

void progress_at_stop(bool (*ends)(void *arg), void *arg)
{
	pthread_mutex_lock(&p.lock);
	p.ends = ends;
	p.arg = arg;
	pthread_mutex_unlock(&p.lock);
}

void progress_hold(void)
{
	pthread_mutex_lock(&p.lock);
}

void progress_release(void)
{
	pthread_mutex_unlock(&p.lock);
}

const sigset_t *progress_old_mask(void)
{
	if (!p.begun)
		pthread_sigmask(SIG_SETMASK, NULL, &p.old_mask);
	return &p.old_mask;
}

static void *watch(void *arg)
{
	const struct timespec each = {.tv_sec = p.shows ? 0 : LINE_EVERY,
				      .tv_nsec = p.shows ? SHOW_EVERY : 0};
	int signal;

	(void)arg;
	for (;;) {
		signal = p.shows || p.lines ? sigtimedwait(&p.signals, NULL, &each)
					    : sigwaitinfo(&p.signals, NULL);
		pthread_mutex_lock(&p.lock);
		if (signal > 0 && !p.ended)
			stop(signal);
		else if (signal < 0 && errno == EAGAIN && !p.ended && *p.text)
			show();
		pthread_mutex_unlock(&p.lock);
	}
	return NULL;
}

/* Whether standard error goes elsewhere than standard output: what is read by programs stays as it
 * is. */
static bool is_apart(void)
{
	struct stat out, error;

	return !fstat(STDOUT_FILENO, &out) && !fstat(STDERR_FILENO, &error) &&
	       (out.st_dev != error.st_dev || out.st_ino != error.st_ino);
}

static void show(void)
{
	uint64_t done = atomic_load_explicit(&p.done, memory_order_relaxed);
	uint64_t all = atomic_load_explicit(&p.all, memory_order_relaxed);
	double passed = auc_clock_now() - p.since;
	char line[LINE_ROOM];
	int n = p.shows ? snprintf(line, sizeof(line), "\r%s%s", p.head, p.text)
			: snprintf(line, sizeof(line), "auctionsim: %.40s: %s%s", p.command, p.head,
				   p.text);

	if (done && all)
		n += snprintf(line + n, sizeof(line) - (size_t)n, ": %llu of %llu",
			      (unsigned long long)done, (unsigned long long)all);
	else if (done)
		n += snprintf(line + n, sizeof(line) - (size_t)n, ": %llu",
			      (unsigned long long)done);
	if (passed > LEFT_AFTER && done && done <= all)
		n += snprintf(line + n, sizeof(line) - (size_t)n, ", %.0f s left",
			      passed / (double)done * (double)(all - done));
	n += snprintf(line + n, sizeof(line) - (size_t)n, p.shows ? "\033[K" : "\n");
	put(line, n);
	p.shown = p.shows;
}

static void wipe(void)
{
	static const char nothing[] = "\r\033[K";

	if (p.shown)
		put(nothing, sizeof(nothing) - 1);
	p.shown = false;
}

static void stop(int signal)
{
	char line[LINE_ROOM];
	int n;

	if (p.ends && !p.ends(p.arg))
		return;
	wipe();
	n = snprintf(line, sizeof(line), "auctionsim: %.40s: stopped by %s%s%s%s%s\n", p.command,
		     signal == SIGINT ? "SIGINT" : "SIGTERM", *p.text ? " (" : "",
		     *p.text ? p.head : "", p.text, *p.text ? ")" : "");
	put(line, n);
	_exit(EXIT_FAILURE);
}

/* Past stdio: the other thread may be in it. */
static void put(const char *line, int len)
{
	while (len > 0) {
		ssize_t n = write(STDERR_FILENO, line, (size_t)len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			line += n;
			len -= (int)n;
		}
	}
}
