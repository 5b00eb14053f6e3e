/* profile.c - see profile.h */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/num.h"
#include "sauction/rows.h"
#include "sbid/profile.h"

#define TYPES_MAX    16
#define WORDS_MAX    256
#define SAMPLES_MAX  1000000
#define GRACE        10.0 /* seconds from the signal to end until the one that ends */
#define WAIT_TIMES   10   /* times its seconds, that a first line is waited for */
#define LOOK_MS      200  /* how often it is looked whether it has ended, or is to */
#define SECONDS_MAX  86400.0
#define BATCHES_MAX  1e12
#define HIGHER_WHOLE 1.1 /* of one run as a whole: how far another one may be off */

struct trial {
	double seconds;     /* how long it lasts at most, from its first line on */
	double minibatches; /* of the whole job; 0: not given */
	const char *bid;
	unsigned ntypes;
	char *types[TYPES_MAX];
	int nwords; /* options of salloc */
	char **words, **command;
};

/* What one trial came to. */
struct found {
	struct profile_times times;
	double whole;   /* seconds of all of it, if it ended by itself; else -1 */
	char wrong[64]; /* the first line whose time is none; "": there is none */
};

static int help(void);
static int read_options(struct trial *t, int argc, char **argv);
static int split_types(struct trial *t, char *text);
static void heed_signals(void);
static void stop(int signal);
static int try_type(const struct trial *t, const char *type, struct found *f);
static pid_t start(const struct trial *t, const char *type, int *out);
static void listen_to(const struct trial *t, int out, pid_t pid, struct found *f);
static bool has_ended(pid_t pid);
static void take_line(struct found *f, const char *line, double now, double *last);
static int tell(const struct trial *t, const char *const *names, const struct found *found,
		unsigned n, bool json);
static void add_part(char *text, size_t size, const char *type, double seconds);
static int compare(const void *a, const void *b);

static volatile sig_atomic_t stopped; /* by the user */

int profile_command(bool json, int argc, char **argv)
{
	struct trial t = {.seconds = 60, .bid = "1"};
	static const char *const here[] = {""};
	struct found found[TYPES_MAX] = {0};
	const char *names[TYPES_MAX];
	unsigned n = 0;
	int code;

	if (argc && !strcmp(argv[0], "--help"))
		return help();
	code = read_options(&t, argc, argv);
	heed_signals();
	for (; code == EXIT_SUCCESS && n < (t.ntypes ? t.ntypes : 1); n++) {
		names[n] = t.ntypes ? t.types[n] : here[0];
		code = try_type(&t, t.ntypes ? t.types[n] : NULL, &found[n]);
	}
	if (code == EXIT_SUCCESS)
		code = tell(&t, names, found, n, json);
	for (unsigned i = 0; i < n; i++)
		free(found[i].times.seconds);
	return code;
}

bool profile_line(const char *line, double *seconds)
{
	static const char blanks[] = " \t\r";
	size_t len = strlen(PROFILE_WORD), end;
	char number[AUC_NUMBER_LEN];
	struct auc_err err;

	*seconds = -1;
	if (strncmp(line, PROFILE_WORD, len) != 0 || (line[len] && !strchr(blanks, line[len])))
		return false;
	line += len + strspn(line + len, blanks);
	for (end = strlen(line); end && strchr(blanks, line[end - 1]); end--)
		;
	if (!end)
		return true;
	snprintf(number, sizeof(number), "%.*s", (int)end, line);
	if (end >= sizeof(number) ||
	    auc_parse_number(number, 0, SECONDS_MAX, seconds, PROFILE_WORD, &err) != AUC_OK)
		*seconds = NAN;
	return true;
}

bool profile_sum_up(const struct profile_times *t, struct profile_range *r)
{
	size_t skip = (size_t)fmax(1, ceil(PROFILE_SKIP * (double)t->n));
	double square = 0, *sorted, wide;

	*r = (struct profile_range){.n = t->n > skip ? t->n - skip : 0};
	if (r->n < 2)
		return false;
	sorted = malloc(r->n * sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, t->seconds + skip, r->n * sizeof(*sorted));
	for (size_t i = 0; i < r->n; i++)
		r->mean += sorted[i] / (double)r->n;
	for (size_t i = 0; i < r->n; i++)
		square += (sorted[i] - r->mean) * (sorted[i] - r->mean);
	/* two standard errors of the mean; of few, what Student's distribution has for them */
	wide = (1.96 + 2.5 / (double)(r->n - 1)) * sqrt(square / (double)(r->n - 1) / (double)r->n);
	r->low = fmax(0, r->mean - wide);
	r->high = r->mean + wide;
	qsort(sorted, r->n, sizeof(*sorted), compare);
	r->p50 = sorted[(r->n - 1) / 2];
	r->p95 = sorted[(size_t)ceil(0.95 * (double)r->n) - 1];
	free(sorted);
	return true;
}

static int help(void)
{
	fputs("Usage: sbid profile [OPTIONS] -- COMMAND [ARGUMENT...]\n"
	      "Runs the command for a short time and prints options of a bid for it. For each\n"
	      "mini-batch the command prints a line that begins with " PROFILE_WORD ".\n"
	      "\n"
	      "      --seconds=N           for that long at most (60)\n"
	      "      --minibatches=N       of the whole job: says how long that takes\n"
	      "      --types=TYPE,...      once on each of these types of GPUs, with salloc\n"
	      "      --bid=UTILITY         what these trials bid (1)\n"
	      "  other options are salloc's, if there are --types\n",
	      stdout);
	return EXIT_SUCCESS;
}

/* What stands before "--" and is no option of ours is one of salloc. */
static int read_options(struct trial *t, int argc, char **argv)
{
	struct auc_err err;
	int i;

	t->words = argv;
	for (i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		enum auc_code rc = AUC_OK;

		if (!strncmp(argv[i], "--types=", 8)) {
			if (split_types(t, argv[i] + 8) != EXIT_SUCCESS)
				return EXIT_FAILURE;
		} else if (!strncmp(argv[i], "--seconds=", 10)) {
			rc = auc_parse_number(argv[i] + 10, 1, SECONDS_MAX, &t->seconds,
					      "profile: --seconds", &err);
		} else if (!strncmp(argv[i], "--minibatches=", 14)) {
			rc = auc_parse_number(argv[i] + 14, 1, BATCHES_MAX, &t->minibatches,
					      "profile: --minibatches", &err);
		} else if (!strncmp(argv[i], "--bid=", 6)) {
			t->bid = argv[i] + 6;
		} else {
			t->words[t->nwords++] = argv[i];
		}
		if (rc != AUC_OK)
			return fail("%s", err.text);
	}
	if (i + 1 >= argc)
		return fail("profile: expected '-- COMMAND' after the options");
	if (t->nwords && !t->ntypes)
		return fail("profile: '%s': options of salloc need --types", t->words[0]);
	if (t->nwords + 16 > WORDS_MAX)
		return fail("profile: too many options");
	t->command = argv + i + 1;
	return EXIT_SUCCESS;
}

static int split_types(struct trial *t, char *text)
{
	for (char *word; (word = strsep(&text, ","));) {
		if (!*word || strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789._+-") != strlen(word))
			return fail("profile: --types: '%.60s', expected names of types of GPUs",
				    word);
		if (t->ntypes == TYPES_MAX)
			return fail("profile: --types: more than %d", TYPES_MAX);
		t->types[t->ntypes++] = word;
	}
	return EXIT_SUCCESS;
}

/* The trial is not in the terminal's process group: what ends this program is passed on to it. */
static void heed_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction act = {.sa_handler = stop}, was;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
}

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static int try_type(const struct trial *t, const char *type, struct found *f)
{
	int out, status;
	pid_t pid = start(t, type, &out);

	if (pid < 0)
		return fail("profile: %s: %s", t->command[0], strerror(errno));
	f->whole = -1;
	listen_to(t, out, pid, f);
	close(out);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return fail("profile: %s", strerror(errno));
	if (stopped)
		return fail("profile: stopped, and the trial was ended");
	if (*f->wrong)
		return fail("profile: '%s', expected seconds from 0 to %.0f behind '%s', or "
			    "nothing",
			    f->wrong, SECONDS_MAX, PROFILE_WORD);
	if (f->whole >= 0 && (!WIFEXITED(status) || WEXITSTATUS(status))) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
			return fail("profile: %s was not found",
				    type ? "salloc, or the command," : t->command[0]);
		return fail("profile: the trial%s%s failed, so its times say nothing",
			    type ? " on " : "", type ? type : "");
	}
	return EXIT_SUCCESS;
}

/* The command in a process group of its own; under salloc if it is to run on TYPE. */
static pid_t start(const struct trial *t, const char *type, int *out)
{
	char gpus[128], bid[256];
	const char *argv[WORDS_MAX + 16] = {"salloc", "-Q", bid, gpus, "-N1"};
	int ends[2], n = 5;
	pid_t pid;

	snprintf(gpus, sizeof(gpus), "--gpus-per-node=%s:1", type ? type : "");
	snprintf(bid, sizeof(bid), "--bid=%s", t->bid);
	for (int i = 0; i < t->nwords; i++)
		argv[n++] = t->words[i];
	argv[n++] = "srun";
	argv[n++] = "-Q";
	argv[n++] = "--unbuffered";
	argv[n] = NULL;
	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid) {
		close(ends[1]);
		*out = ends[0];
		if (pid < 0)
			close(ends[0]);
		return pid;
	}
	setpgid(0, 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
	if (type) {
		for (char **word = t->command; *word && n < WORDS_MAX + 15; word++)
			argv[n++] = *word;
		argv[n] = NULL;
		execvp(argv[0], (char *const *)argv);
	} else {
		execvp(t->command[0], t->command);
	}
	_exit(127);
}

/* Until it ends, or has had its time; it is ended then. What it leaves behind may hold its output
 * for ever. */
static void listen_to(const struct trial *t, int out, pid_t pid, struct found *f)
{
	double began = auc_clock(CLOCK_MONOTONIC), first = -1, last = -1, now;
	double until = began + WAIT_TIMES * t->seconds;
	char line[512], bytes[4096];
	struct pollfd fd = {.fd = out, .events = POLLIN};
	size_t len = 0;
	bool ended = false;
	ssize_t got;

	for (;;) {
		now = auc_clock(CLOCK_MONOTONIC);
		if (now >= until || (stopped && !ended)) {
			kill(-pid, ended ? SIGKILL : SIGTERM);
			until = now + GRACE;
			ended = true;
		}
		if (ended && has_ended(pid))
			break;
		fd.revents = 0;
		if (poll(&fd, 1, (int)(fmin(LOOK_MS, 1000 * (until - now))) + 1) < 0 &&
		    errno != EINTR)
			break;
		if (!(fd.revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		got = read(out, bytes, sizeof(bytes));
		if (got <= 0)
			break;
		now = auc_clock(CLOCK_MONOTONIC);
		if (first < 0 && !ended) {
			first = now;
			until = now + t->seconds;
		}
		for (ssize_t i = 0; i < got; i++) {
			if (bytes[i] != '\n') {
				if (len < sizeof(line) - 1)
					line[len++] = bytes[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			if (!ended)
				take_line(f, line, now, &last);
		}
	}
	if (!ended)
		f->whole = auc_clock(CLOCK_MONOTONIC) - began;
}

/* It is still to be waited for. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

/* LINE came at NOW; *LAST: the time of the line of the protocol before, -1: none. */
static void take_line(struct found *f, const char *line, double now, double *last)
{
	struct profile_times *t = &f->times;
	double seconds, *grown;
	size_t alloc;

	if (!profile_line(line, &seconds)) {
		fprintf(stderr, "%s\n", line);
		return;
	}
	if (isnan(seconds)) {
		if (!*f->wrong)
			snprintf(f->wrong, sizeof(f->wrong), "%.63s", line);
		return;
	}
	if (seconds < 0 && *last >= 0)
		seconds = now - *last;
	*last = now;
	if (seconds < 0 || t->n == SAMPLES_MAX)
		return;
	if (t->n == t->alloc) {
		alloc = 2 * t->alloc + 64;
		grown = realloc(t->seconds, alloc * sizeof(*grown));
		if (!grown)
			return;
		t->seconds = grown;
		t->alloc = alloc;
	}
	t->seconds[t->n++] = seconds;
}

/* One line for each type, then the options. */
static int tell(const struct trial *t, const char *const *names, const struct found *found,
		unsigned n, bool json)
{
	char worker[600] = "", times[600] = "";
	struct profile_range r;

	if (json)
		putchar('[');
	for (unsigned i = 0; i < n; i++) {
		const char *name = *names[i] ? names[i] : "here";

		if (profile_sum_up(&found[i].times, &r)) {
			if (!(r.mean > 0))
				return fail("profile: %s: its mini-batches took 0 s; expected a "
					    "line '%s' as soon as each is done: is its output "
					    "buffered?",
					    name, PROFILE_WORD);
			if (json)
				printf("%s{\"type\":\"%s\",\"minibatches\":%zu,\"seconds\":%.6g,"
				       "\"low\":%.6g,\"high\":%.6g,\"p50\":%.6g,\"p95\":%.6g}",
				       i ? "," : "", name, r.n, r.mean, r.low, r.high, r.p50,
				       r.p95);
			else
				printf("%s: a mini-batch takes %.4g s (%.4g to %.4g; half of them "
				       "%.4g or less, 95 of 100 %.4g), by %zu of them\n",
				       name, r.mean, r.low, r.high, r.p50, r.p95, r.n);
			if (*names[i])
				add_part(worker, sizeof(worker), names[i], r.mean);
			add_part(times, sizeof(times), names[i], r.high * t->minibatches);
		} else if (found[i].whole >= 0) {
			if (json)
				printf("%s{\"type\":\"%s\",\"whole\":%.6g}", i ? "," : "", name,
				       found[i].whole);
			else
				printf("%s: all of it took %.4g s; it printed fewer than four "
				       "lines '%s' (three if they say a time), so that is all that "
				       "is known\n",
				       name, found[i].whole, PROFILE_WORD);
			add_part(times, sizeof(times), names[i], found[i].whole * HIGHER_WHOLE);
		} else {
			return fail("profile: %s: in %g s it neither ended nor printed four lines "
				    "'%s'; expected one for each mini-batch, or a longer trial "
				    "(--seconds)",
				    name, t->seconds, PROFILE_WORD);
		}
	}
	if (json) {
		puts("]");
		return EXIT_SUCCESS;
	}
	if (*worker)
		printf("--worker-time=%s\n", worker);
	if (*times && (t->minibatches > 0 || !*worker))
		printf("%s%s\n", t->ntypes ? "--gpu-time=" : "--time=", times);
	return EXIT_SUCCESS;
}

/* TYPE=SECONDS, as --worker-time and --gpu-time take it; without TYPE minutes, as --time does. */
static void add_part(char *text, size_t size, const char *type, double seconds)
{
	size_t len = strlen(text);

	if (!(seconds > 0))
		return;
	if (*type)
		snprintf(text + len, size - len, "%s%s=%.4gs", len ? "," : "", type, seconds);
	else
		snprintf(text, size, "%.0f", ceil(seconds / 60));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
