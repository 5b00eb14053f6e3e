/*
 * admin_files.c - see admin_files.h. A file of a transfer goes only once the transfer is on disk:
 * after a crash in between it is found again, and its id is known.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "adapter/slurm_compat.h"
#include "base/file.h"
#include "base/json.h"
#include "sched/output/admin_files.h"

#define FILE_SIZE_MAX 4096
#define PASS_MAX      256     /* transfers taken up in one pass; the others come next */
#define AHEAD_MAX     86400.0 /* seconds that a transfer's time may be ahead of the clock */

/* Of the agent's thread: names of files whose transfers wait for a commit. */
static struct {
	unsigned n;
	char name[PASS_MAX][NAME_MAX + 1];
	char paused[256];
} taken;

static bool look_at_pause(const char *dir, struct auc_auction *a);
static bool take(const char *dir, const char *name, struct auc_auction *a, double now);
static enum auc_code read_transfer(const char *path, double now, struct auc_transfer *t,
				   struct auc_err *err);
static int read_small(const char *path, char *text, size_t size, struct auc_err *err);
static void refuse(const char *dir, const char *name, const struct auc_err *why);

bool auc_admin_look(const char *dir, struct auc_auction *a, double now)
{
	bool changed = look_at_pause(dir, a);
	char path[PATH_MAX];
	struct dirent *e;
	struct auc_err err;
	DIR *d;

	snprintf(path, sizeof(path), "%.4000s/" AUC_TRANSFERS_DIR, dir);
	if (mkdir(path, 0700) && errno != EEXIST)
		return changed;
	if (auc_dir_own(path, &err) != AUC_OK) {
		slurm_debug("sched/auction: %s", err.text);
		return changed;
	}
	d = opendir(path);
	taken.n = 0;
	while (d && taken.n < PASS_MAX && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (e->d_name[0] != '.' && len > 5 && !strcmp(e->d_name + len - 5, ".json"))
			changed = take(path, e->d_name, a, now) || changed;
	}
	if (d)
		closedir(d);
	return changed;
}

void auc_admin_committed(const char *dir)
{
	char path[PATH_MAX];

	for (unsigned i = 0; i < taken.n; i++) {
		snprintf(path, sizeof(path), "%.3800s/" AUC_TRANSFERS_DIR "/%s", dir,
			 taken.name[i]);
		unlink(path);
	}
	taken.n = 0;
}

/* True if it was paused just now, for another reason than before, or goes on. */
static bool look_at_pause(const char *dir, struct auc_auction *a)
{
	char path[PATH_MAX], text[sizeof(taken.paused)] = "";
	struct auc_err err;
	int n;

	snprintf(path, sizeof(path), "%.4000s/" AUC_PAUSED_FILE, dir);
	n = read_small(path, text, sizeof(text), &err);
	text[strcspn(text, "\n")] = '\0';
	if (n >= 0 && !text[0])
		strcpy(text, "by an administrator");
	/* One that is there and cannot be read was meant all the same. */
	if (n < 0 && err.code != AUC_ENOENT)
		snprintf(text, sizeof(text), "%.200s", err.text);
	auc_auction_pause(a, text[0] ? text : NULL);
	if (!strcmp(text, taken.paused))
		return false;
	strcpy(taken.paused, text);
	slurm_info("sched/auction: %s%s", text[0] ? "paused: " : "no longer paused", text);
	return true;
}

/* True if there is something to commit. */
static bool take(const char *dir, const char *name, struct auc_auction *a, double now)
{
	struct auc_transfer t;
	struct auc_err err = {0};
	char path[PATH_MAX], amount[AUC_MONEY_LEN];
	enum auc_code code;

	snprintf(path, sizeof(path), "%.3800s/%s", dir, name);
	code = read_transfer(path, now, &t, &err);
	if (code == AUC_OK)
		code = auc_auction_transfer(a, &t, &err);
	if (code == AUC_ENOMEM) /* later */
		return false;
	if (code != AUC_OK && code != AUC_EEXIST) {
		refuse(dir, name, &err);
		return false;
	}
	strcpy(taken.name[taken.n++], name);
	slurm_info("sched/auction: transfer %s: %s of %s for %s%s", t.id, auc_transfer_word(t.code),
		   auc_money_str(t.amount, amount), t.account, code ? ": was made already" : "");
	return code == AUC_OK;
}

static enum auc_code read_transfer(const char *path, double now, struct auc_transfer *t,
				   struct auc_err *err)
{
	char text[FILE_SIZE_MAX];
	int n = read_small(path, text, sizeof(text), err);
	struct json_object *o;
	enum auc_code rc;

	memset(t, 0, sizeof(*t));
	if (n < 0)
		return AUC_EINVAL;
	o = auc_json_parse(text, (size_t)n);
	rc = o ? auc_transfer_read(o, t, err)
	       : auc_err_set(err, AUC_EINVAL, "%s: not one JSON object", path);
	json_object_put(o);
	if (rc == AUC_OK && t->code != AUC_TRANSFER_GRANT && t->code != AUC_TRANSFER_CORRECT)
		rc = auc_err_set(err, AUC_EINVAL, "code: %s, expected grant or correct",
				 auc_transfer_word(t->code));
	if (rc == AUC_OK && (double)t->when > now + AHEAD_MAX)
		rc = auc_err_set(err, AUC_EINVAL, "when: %lld is in the future: look at the clocks",
				 (long long)t->when);
	return rc;
}

/* Of a regular file of root's or of this process's user, that nobody else can write. The length, or
 * -1: AUC_ENOENT, AUC_EINVAL. */
static int read_small(const char *path, char *text, size_t size, struct auc_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	text[0] = '\0';
	if (fd < 0) {
		auc_err_set(err, errno == ENOENT ? AUC_ENOENT : AUC_EINVAL, "%s: %s", path,
			    strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 022) ||
	    (st.st_uid && st.st_uid != geteuid()) || st.st_size >= (off_t)size)
		auc_err_set(err, AUC_EINVAL,
			    "%s: expected a small file of root or of slurmctld's user that nobody "
			    "else can write",
			    path);
	else if ((n = read(fd, text, size - 1)) < 0)
		auc_err_set(err, AUC_EINVAL, "%s: %s", path, strerror(errno));
	close(fd);
	if (n >= 0)
		text[n] = '\0';
	return (int)n;
}

/* ID.refused in place of ID.json. */
static void refuse(const char *dir, const char *name, const struct auc_err *why)
{
	char path[PATH_MAX], from[PATH_MAX];
	struct auc_err err;

	slurm_error("sched/auction: %s/%s: %s", dir, name, why->text);
	snprintf(from, sizeof(from), "%.3800s/%s", dir, name);
	snprintf(path, sizeof(path), "%.3800s/%.*s.refused", dir, (int)strlen(name) - 5, name);
	if (auc_file_replace(path, why->text, strlen(why->text), 0600, false, &err) == AUC_OK)
		unlink(from);
}
