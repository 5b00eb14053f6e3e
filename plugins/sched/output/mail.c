/* mail.c - see mail.h: the queue, the thread, the processes. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapter/site.h"
#include "ledger/receipt.h"
#include "sched/output/mail.h"
#include "sched/output/mail-private.h"
#include "sched/rpc/job_names.h"
#include "sched/rpc/retry.h"

#define QUEUE_MAX   1000 /* messages that wait, */
#define QUEUE_USER  50   /* and of one user */
#define MINUTE      60.0
#define MINUTE_MAX  120 /* messages in a minute, */
#define MINUTE_USER 10  /* and to one user */
#define CHILDREN    4   /* mail programs at a time */
#define TIMEOUT     60.0
#define REAP        0.1 /* seconds between two looks at those that run */

struct message {
	struct message *next;
	bool released;
	uint32_t uid, job_id;
	char word[16];
	char *name, *user;
	struct auc_mail_text text;
};

struct child {
	pid_t pid; /* 0: none */
	double until;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool running, stop;
	char prog[PATH_MAX], domain[256], cluster[256];
	struct message *list; /* in order */
	unsigned n, dropped;
	/* Of the thread alone. */
	struct child children[CHILDREN];
	struct {
		double at;
		uint32_t uid;
	} sent[MINUTE_MAX]; /* the last ones */
	unsigned next_sent;
	struct auc_retry_said said;
} mail = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *mail_main(void *arg);
static struct message *take_next(double now);
static bool may_send(uint32_t uid, double now);
static struct child *free_child(void);
static bool reap(double now);
static void wait_for(double seconds);
static void deliver(struct message *m, struct child *c, double now);
static bool find_address(const struct message *m, char *to, size_t size, const char *domain);
static int start(const char *prog, const struct message *m, const char *to, const char *cluster,
		 pid_t *pid);
static int start_with(const char *prog, char *const argv[], char *const env[], int body,
		      pid_t *pid);
static void complain(const char *what, const char *why);
static uint32_t task_of(const slurm_job_info_t *info);
static void message_free(struct message *m);

void auc_mail_read_slurm_conf(void)
{
	pthread_mutex_lock(&mail.lock);
	snprintf(mail.prog, sizeof(mail.prog), "%s",
		 slurm_conf.mail_prog ? slurm_conf.mail_prog : "");
	snprintf(mail.domain, sizeof(mail.domain), "%s",
		 slurm_conf.mail_domain ? slurm_conf.mail_domain : "");
	snprintf(mail.cluster, sizeof(mail.cluster), "%s",
		 slurm_conf.cluster_name ? slurm_conf.cluster_name : "");
	pthread_mutex_unlock(&mail.lock);
}

void auc_mail_cluster(char *name, unsigned size)
{
	pthread_mutex_lock(&mail.lock);
	snprintf(name, size, "%s", mail.cluster);
	pthread_mutex_unlock(&mail.lock);
}

enum auc_code auc_mail_start(struct auc_err *err)
{
	int rc;

	if (mail.running)
		return AUC_OK;
	mail.stop = false;
	memset(mail.children, 0, sizeof(mail.children));
	rc = pthread_create(&mail.thread, NULL, mail_main, NULL);
	if (rc)
		return auc_err_set(err, AUC_EIO, "no thread for mail: %s", strerror(rc));
	pthread_setname_np(mail.thread, "auction_mail");
	mail.running = true;
	return AUC_OK;
}

bool auc_mail_stop(const struct timespec *until)
{
	if (!mail.running)
		return true;
	pthread_mutex_lock(&mail.lock);
	mail.stop = true;
	pthread_cond_signal(&mail.wake);
	pthread_mutex_unlock(&mail.lock);
	if (pthread_timedjoin_np(mail.thread, NULL, until))
		return false;
	mail.running = false;
	if (mail.n)
		slurm_info("sched/auction: %u mail%s not sent, as slurmctld ends", mail.n,
			   mail.n == 1 ? " was" : "s were");
	while (mail.list) {
		struct message *m = mail.list;

		mail.list = m->next;
		message_free(m);
	}
	mail.n = 0;
	return true;
}

void auc_mail_take(struct auc_mail_to *to, const slurm_job_info_t *info)
{
	auc_mail_clear(to);
	to->uid = info->user_id;
	to->job_id = AUC_INFO_JOB_ID(info);
	to->task = task_of(info);
	to->array = to->task == NO_VAL ? 0 : info->array_job_id;
	to->types = info->mail_type;
	if (!to->types)
		return;
	to->name = info->name ? strdup(info->name) : NULL;
	to->user = info->mail_user && *info->mail_user ? strdup(info->mail_user) : NULL;
	/* Not to another than it was asked for. */
	if (!to->user && info->mail_user && *info->mail_user)
		to->types = 0;
}

/* The tasks that are not decided yet are one job: NO_VAL. Of an array's last one that is decided
 * and waits newer releases keep the record of them all. */
static uint32_t task_of(const slurm_job_info_t *info)
{
	uint32_t task = info->array_task_id, *ids = NULL;
	unsigned n;

	if (task != NO_VAL || !info->array_bitmap || !info->admin_comment ||
	    !auc_receipt_is(info->admin_comment) ||
	    auc_receipt_says(info->admin_comment, "waiting"))
		return task;
	free(auc_job_names_tasks(info, &ids, &n));
	if (ids && n == 1)
		task = ids[0];
	free(ids);
	return task;
}

void auc_mail_clear(struct auc_mail_to *to)
{
	free(to->name);
	free(to->user);
	memset(to, 0, sizeof(*to));
}

void auc_mail_put(const struct auc_mail_to *to, const char *word, const struct auc_mail_text *text)
{
	struct message *m = calloc(1, sizeof(*m)), **at;
	unsigned of_user = 0;

	if (!m)
		return;
	m->uid = to->uid;
	m->job_id = to->job_id;
	snprintf(m->word, sizeof(m->word), "%s", word);
	m->name = strdup(to->name ? to->name : "");
	m->user = to->user ? strdup(to->user) : NULL;
	m->text = *text;
	pthread_mutex_lock(&mail.lock);
	for (at = &mail.list; *at; at = &(*at)->next)
		of_user += (*at)->uid == m->uid;
	if (!m->name || (to->user && !m->user) || mail.n >= QUEUE_MAX || of_user >= QUEUE_USER) {
		mail.dropped++;
		pthread_mutex_unlock(&mail.lock);
		message_free(m);
		return;
	}
	*at = m;
	mail.n++;
	pthread_mutex_unlock(&mail.lock);
}

void auc_mail_release(void)
{
	pthread_mutex_lock(&mail.lock);
	for (struct message *m = mail.list; m; m = m->next) {
		if (!m->released)
			pthread_cond_signal(&mail.wake);
		m->released = true;
	}
	pthread_mutex_unlock(&mail.lock);
}

static void *mail_main(void *arg)
{
	struct message *m;
	struct child *c;
	double now;
	bool busy;

	(void)arg;
	pthread_mutex_lock(&mail.lock);
	while (!mail.stop) {
		now = auc_site_elapsed();
		busy = reap(now);
		c = free_child();
		m = c ? take_next(now) : NULL;
		if (m) {
			pthread_mutex_unlock(&mail.lock);
			deliver(m, c, now);
			message_free(m);
			pthread_mutex_lock(&mail.lock);
			continue;
		}
		if (mail.dropped) {
			unsigned n = mail.dropped;

			mail.dropped = 0;
			pthread_mutex_unlock(&mail.lock);
			slurm_error("sched/auction: %u mail%s dropped: too many wait", n,
				    n == 1 ? " was" : "s were");
			pthread_mutex_lock(&mail.lock);
			continue;
		}
		if (!busy && !mail.list)
			pthread_cond_wait(&mail.wake, &mail.lock);
		else
			wait_for(busy ? REAP : 1);
	}
	pthread_mutex_unlock(&mail.lock);
	/* Mail programs that still run end by themselves. */
	reap(auc_site_elapsed());
	return NULL;
}

/* The first that is on disk and whose user has not had too many. The lock is held. */
static struct message *take_next(double now)
{
	struct message **at, *m;

	for (at = &mail.list; (m = *at); at = &m->next) {
		if (!m->released || !may_send(m->uid, now))
			continue;
		*at = m->next;
		mail.n--;
		return m;
	}
	return NULL;
}

static bool may_send(uint32_t uid, double now)
{
	unsigned all = 0, own = 0;

	for (unsigned i = 0; i < MINUTE_MAX; i++) {
		if (!mail.sent[i].at || now >= mail.sent[i].at + MINUTE)
			continue;
		all++;
		own += mail.sent[i].uid == uid;
	}
	return all < MINUTE_MAX && own < MINUTE_USER;
}

static struct child *free_child(void)
{
	for (unsigned i = 0; i < CHILDREN; i++)
		if (!mail.children[i].pid)
			return &mail.children[i];
	return NULL;
}

/* Takes note of mail programs that have ended, and ends those that take too long. True if one
 * runs. */
static bool reap(double now)
{
	bool busy = false;
	char text[64];
	int status;

	for (struct child *c = mail.children; c < mail.children + CHILDREN; c++) {
		pid_t pid;

		if (!c->pid)
			continue;
		pid = waitpid(c->pid, &status, WNOHANG);
		if (!pid && now >= c->until) {
			kill(-c->pid, SIGKILL);
			kill(c->pid, SIGKILL);
			c->until = now + TIMEOUT;
			complain("MailProg was killed", "it did not end within a minute");
		}
		if (!pid) {
			busy = true;
			continue;
		}
		c->pid = 0;
		if (pid < 0 || (WIFEXITED(status) && !WEXITSTATUS(status)) || WIFSIGNALED(status))
			continue;
		snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(status));
		complain("MailProg failed", text);
	}
	return busy;
}

/* The lock is held. */
static void wait_for(double seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)((seconds - (double)(long)seconds) * 1e9);
	until.tv_sec += (long)seconds + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_clockwait(&mail.wake, &mail.lock, CLOCK_MONOTONIC, &until);
}

static void deliver(struct message *m, struct child *c, double now)
{
	char prog[PATH_MAX], domain[256], cluster[256], to[512];
	int rc;

	pthread_mutex_lock(&mail.lock);
	memcpy(prog, mail.prog, sizeof(prog));
	memcpy(domain, mail.domain, sizeof(domain));
	memcpy(cluster, mail.cluster, sizeof(cluster));
	pthread_mutex_unlock(&mail.lock);
	if (*prog != '/' || access(prog, X_OK)) {
		complain(*prog ? prog : "no MailProg", "no mail is sent");
		return;
	}
	if (!find_address(m, to, sizeof(to), domain)) {
		slurm_debug("sched/auction: job %" PRIu32 ": no mail: its address is not one that "
			    "mail programs may be given",
			    m->job_id);
		return;
	}
	mail.sent[mail.next_sent].at = now;
	mail.sent[mail.next_sent].uid = m->uid;
	mail.next_sent = (mail.next_sent + 1) % MINUTE_MAX;
	rc = start(prog, m, to, cluster, &c->pid);
	if (rc) {
		c->pid = 0;
		complain("MailProg cannot be started", strerror(rc));
		return;
	}
	c->until = now + TIMEOUT;
	slurm_debug("sched/auction: job %" PRIu32 ": mail of its %s to %s", m->job_id, m->word, to);
}

/* As slurmctld has it; else the owner's name. */
static bool find_address(const struct message *m, char *to, size_t size, const char *domain)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (m->user)
		snprintf(to, size, "%s", m->user);
	else if (getpwuid_r(m->uid, &pw, buf, sizeof(buf), &found) || !found)
		return false;
	else
		snprintf(to, size, "%s%s%s", pw.pw_name, *domain ? "@" : "", domain);
	return (!m->user || strlen(m->user) < size) && auc_mail_is_address(to);
}

/* An errno. */
static int start(const char *prog, const struct message *m, const char *to, const char *cluster,
		 pid_t *pid)
{
	char name[100], of[256], env_name[128], env_id[64], env_of[300], env_word[64];
	char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *argv[] = {(char *)prog, (char *)"-s", (char *)m->text.subject, (char *)to, NULL};
	char *env[] = {path, env_id, env_of, env_name, env_word, NULL};
	ssize_t len = (ssize_t)strlen(m->text.body);
	int fds[2], rc;

	auc_mail_clean(m->name, name, sizeof(name));
	auc_mail_clean(cluster, of, sizeof(of));
	snprintf(env_name, sizeof(env_name), "SLURM_JOB_NAME=%s", name);
	snprintf(env_id, sizeof(env_id), "SLURM_JOB_ID=%" PRIu32, m->job_id);
	snprintf(env_of, sizeof(env_of), "SLURM_CLUSTER_NAME=%s", of);
	snprintf(env_word, sizeof(env_word), "AUCTION_MAIL=%s", m->word);
	if (pipe2(fds, O_CLOEXEC))
		return errno;
	/* It is less than what a pipe takes (4096 at least), so this waits for nobody. */
	rc = write(fds[1], m->text.body, (size_t)len) == len ? 0 : EIO;
	close(fds[1]);
	rc = rc ? rc : start_with(prog, argv, env, fds[0], pid);
	close(fds[0]);
	return rc;
}

/* With BODY as standard input, nothing else open, and slurmctld's signals back to what they are for
 * others. */
static int start_with(const char *prog, char *const argv[], char *const env[], int body, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	rc = posix_spawn_file_actions_init(&files);
	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (rc) {
		posix_spawn_file_actions_destroy(&files);
		return rc;
	}
	if (!(rc = posix_spawn_file_actions_adddup2(&files, body, 0)) &&
	    !(rc = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)) &&
	    !(rc = posix_spawn_file_actions_adddup2(&files, 1, 2)) &&
	    !(rc = posix_spawn_file_actions_addclosefrom_np(&files, 3)) &&
	    !(rc = posix_spawnattr_setpgroup(&attr, 0)) &&
	    !(rc = posix_spawnattr_setsigmask(&attr, &none)) &&
	    !(rc = posix_spawnattr_setsigdefault(&attr, &all)) &&
	    !(rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
							   POSIX_SPAWN_SETSIGDEF)))
		rc = posix_spawn(pid, prog, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* Not more often than anybody reads. */
static void complain(const char *what, const char *why)
{
	char text[sizeof(((struct auc_err *)0)->text)];

	snprintf(text, sizeof(text), "%.300s: %s", what, why);
	if (auc_retry_say(&mail.said, text, auc_site_elapsed() + 1))
		slurm_error("sched/auction: mail: %s", text);
}

static void message_free(struct message *m)
{
	free(m->name);
	free(m->user);
	free(m);
}
