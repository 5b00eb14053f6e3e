/*
 * transfer.c - what sauction asks of slurmctld: transfers by hand, pause and resume. Each is a file
 * in the spool's directory, which the agent takes up (plugins/sched/output/admin_files.h).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/file.h"
#include "base/list.h"
#include "ledger/accounts.h"
#include "sauction/sauction.h"

#define POLL_NS 50000000L

static int transfer(const struct sauction *s, enum auc_transfer_code code, int argc, char **argv);
static int account_name(const char *text, char name[AUC_ACCOUNT_LEN]);
static int choose_id(const struct sauction *s, struct auc_transfer *t);
static int put_file(const char *path, const char *text, const char *dir);
static int await(const struct sauction *s, const char *path, const char *refused, const char *id);
static bool say_refused(const char *refused);
static void warn_of_unknown(const char *account);

int command_grant(const struct sauction *s, int argc, char **argv)
{
	return transfer(s, AUC_TRANSFER_GRANT, argc, argv);
}

int command_correct(const struct sauction *s, int argc, char **argv)
{
	return transfer(s, AUC_TRANSFER_CORRECT, argc, argv);
}

static int transfer(const struct sauction *s, enum auc_transfer_code code, int argc, char **argv)
{
	struct auc_transfer t = {.code = code, .when = (int64_t)time(NULL), .period = -1};
	char dir[PATH_MAX], path[PATH_MAX], refused[PATH_MAX];
	struct json_object *o;
	struct auc_err err;
	int rc;

	if (argc != 2)
		return fail("%s: expected an account and an amount, as in %s physics 1000",
			    auc_transfer_word(code), auc_transfer_word(code));
	if (account_name(argv[0], t.account) || choose_id(s, &t))
		return EXIT_FAILURE;
	if (auc_money_parse(argv[1], &t.amount, "the amount", &err) != AUC_OK)
		return fail("%s", err.text);
	if (t.amount < 0 || t.amount > AUC_MONEY_MAX || (code != AUC_TRANSFER_GRANT && !t.amount))
		return fail("the amount: '%s', expected credits, up to 10^9; correct takes them "
			    "back",
			    argv[1]);
	snprintf(dir, sizeof(dir), "%.4000s/transfers", s->dir);
	snprintf(path, sizeof(path), "%.4000s/%s.json", dir, t.id);
	snprintf(refused, sizeof(refused), "%.4000s/%s.refused", dir, t.id);
	o = auc_transfer_event(&t);
	if (!o)
		return fail("out of memory");
	unlink(refused);
	rc = put_file(path, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN), dir);
	json_object_put(o);
	if (!rc)
		rc = await(s, path, refused, t.id);
	if (!rc && !strncmp(t.account, "account:", strlen("account:")))
		warn_of_unknown(t.account + strlen("account:"));
	return rc;
}

/* Money of an account that there is not helps nobody. It may come yet, so that it is no error; and
 * where Slurm's accounting does not answer, nothing is said. */
static void warn_of_unknown(const char *account)
{
	char command[AUC_ACCOUNT_LEN + 128], line[AUC_ACCOUNT_LEN];
	FILE *in;
	bool found;

	/* There is nothing in a name that a shell takes for more than a letter. */
	snprintf(command, sizeof(command),
		 "sacctmgr -n -P show account name=%s format=account 2> /dev/null", account);
	fflush(stdout);
	in = popen(command, "re");
	if (!in)
		return;
	found = fgets(line, sizeof(line), in);
	if (!pclose(in) && !found)
		fail("warning: Slurm's accounting has no account %s; if that was a mistake, "
		     "\"sauction correct\" takes the credits back",
		     account);
}

/* "user:alice", "user:1000", "account:physics" and "physics" as the ledger calls them. */
static int account_name(const char *text, char name[AUC_ACCOUNT_LEN])
{
	const struct passwd *pw = NULL;

	if (!strncmp(text, "user:", 5) && !auc_account_is_name(text)) {
		pw = getpwnam(text + 5);
		if (!pw)
			return fail("%s: there is no user of that name here; a number is taken, "
				    "too",
				    text);
	}
	if (pw)
		snprintf(name, AUC_ACCOUNT_LEN, "user:%" PRIu32, (uint32_t)pw->pw_uid);
	else if (strchr(text, ':'))
		snprintf(name, AUC_ACCOUNT_LEN, "%s", text);
	else
		snprintf(name, AUC_ACCOUNT_LEN, "account:%s", text);
	if (!auc_account_is_name(name))
		return fail("'%s': expected a Slurm account, or user:NAME", text);
	/* As Slurm names accounts. */
	if (!pw)
		auc_list_lower(name);
	return 0;
}

static int choose_id(const struct sauction *s, struct auc_transfer *t)
{
	uint64_t random;

	if (!s->id) {
		if (getentropy(&random, sizeof(random)))
			return fail("no random number: %s", strerror(errno));
		snprintf(t->id, sizeof(t->id), "%" PRId64 "-%016" PRIx64, t->when, random);
		return 0;
	}
	if (!*s->id || strlen(s->id) >= sizeof(t->id) ||
	    strspn(s->id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
		    strlen(s->id))
		return fail("--id: '%s', expected 1 to %zu letters, digits, '_' and '-'", s->id,
			    sizeof(t->id) - 1);
	strcpy(t->id, s->id);
	return 0;
}

const char *kept_hint(int error)
{
	return error == EACCES || error == EPERM
		       ? "; this is for administrators, on the controller's host"
	       : error == ENOENT
		       ? "; slurmctld makes it once it takes bids: sprice says whether it does"
		       : "";
}

/* The file is there at once and whole, on the disk, and is DIR's owner's. */
static int put_file(const char *path, const char *text, const char *dir)
{
	char temp[PATH_MAX];
	struct auc_err err;
	struct stat st;

	if (stat(dir, &st))
		return fail("%s: %s%s", dir, strerror(errno), kept_hint(errno));
	snprintf(temp, sizeof(temp), "%.4000s.tmp", path);
	if (auc_file_replace(temp, text, strlen(text), 0600, true, &err) != AUC_OK)
		return fail("%s", err.text);
	if ((geteuid() != st.st_uid && chown(temp, st.st_uid, st.st_gid)) || rename(temp, path)) {
		fail("%s: %s", path, strerror(errno));
		unlink(temp);
		return EXIT_FAILURE;
	}
	return 0;
}

/* Until slurmctld has taken PATH. */
static int await(const struct sauction *s, const char *path, const char *refused, const char *id)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	double waited = 0;

	for (; access(path, F_OK) == 0 && waited < s->wait; waited += POLL_NS / 1e9)
		nanosleep(&pause, NULL);
	if (say_refused(refused))
		return EXIT_FAILURE;
	if (access(path, F_OK) == 0)
		fail("%s: slurmctld has not taken it yet; it is made once slurmctld runs", id);
	else
		printf("%s\n", id);
	return EXIT_SUCCESS;
}

static bool say_refused(const char *refused)
{
	char text[512];
	FILE *f = fopen(refused, "re");
	size_t n;

	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	unlink(refused);
	fail("%s", text);
	return true;
}

int command_pause(const struct sauction *s, int argc, char **argv)
{
	char path[PATH_MAX], text[256];

	if (argc > 1)
		return fail("pause: expected at most one reason; put it in quotes");
	snprintf(text, sizeof(text), "%s\n", argc ? argv[0] : "by an administrator");
	snprintf(path, sizeof(path), "%.4000s/paused", s->dir);
	return put_file(path, text, s->dir);
}

int command_resume(const struct sauction *s, int argc, char **argv)
{
	char path[PATH_MAX];

	(void)argv;
	if (argc)
		return fail("resume: no argument was expected");
	snprintf(path, sizeof(path), "%.4000s/paused", s->dir);
	if (!unlink(path))
		return EXIT_SUCCESS;
	if (errno == ENOENT)
		return fail("the auction is not paused");
	return fail("%s: %s%s", path, strerror(errno), kept_hint(errno));
}
