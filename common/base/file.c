/*
 * file.c - see file.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static bool write_all(int fd, const char *text, size_t len);
static bool sync_directory_of(const char *path);

enum auc_code auc_file_replace(const char *path, const char *text, size_t len, mode_t mode,
			       bool sync, struct auc_err *err)
{
	char temporary[PATH_MAX];
	bool good;
	int fd, e;

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
		return auc_err_set(err, AUC_EIO, "%.200s...: %s", path, strerror(ENAMETOOLONG));
	/* What a crash left; where others may write, it may be a link of theirs. */
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	good = !fchmod(fd, mode) && write_all(fd, text, len) && (!sync || !fsync(fd));
	e = errno;
	/* Closed once, whatever close() says: the number may be another thread's by then. */
	if (close(fd) && good) {
		good = false;
		e = errno;
	}
	if (good && rename(temporary, path)) {
		good = false;
		e = errno;
	}
	if (!good) {
		unlink(temporary);
		return auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(e));
	}
	if (sync && !sync_directory_of(path))
		return auc_err_set(err, AUC_EIO, "%s: cannot sync its directory: %s", path,
				   strerror(errno));
	return AUC_OK;
}

FILE *auc_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), why;
	FILE *f = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st)) {
		if (S_ISREG(st.st_mode))
			f = fdopen(fd, "re");
		else
			errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	}
	if (!f) {
		why = errno;
		close(fd);
		errno = why;
	}
	return f;
}

enum auc_code auc_file_own(const char *path, mode_t mode, struct auc_err *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	enum auc_code code = AUC_OK;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return AUC_OK;
	if (fd < 0 && errno == ELOOP)
		return auc_err_set(err, AUC_ESTATE, "%s: it is a link; remove it", path);
	if (fd < 0)
		return auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st))
		code = auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		code = auc_err_set(err, AUC_ESTATE, "%s: it is not a regular file", path);
	else if (st.st_uid != geteuid())
		code = auc_err_set(err, AUC_ESTATE,
				   "%s: it belongs to uid %u, expected %u (chown it)", path,
				   (unsigned)st.st_uid, (unsigned)geteuid());
	else if ((st.st_mode & 07777) != mode && fchmod(fd, mode))
		code = auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	close(fd);
	return code;
}

enum auc_code auc_dir_own(const char *path, struct auc_err *err)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? AUC_OK
				       : auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return auc_err_set(err, AUC_ESTATE, "%s: it is not a directory", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return auc_err_set(err, AUC_ESTATE,
				   "%s: it belongs to uid %u, expected %u (chown it)", path,
				   (unsigned)st.st_uid, (unsigned)geteuid());
	if (st.st_mode & 022)
		return auc_err_set(err, AUC_ESTATE, "%s: others can write to it (chmod go-w)",
				   path);
	return AUC_OK;
}

void auc_output_begin(void)
{
	/* What is read or written there fails, as it would. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

enum auc_code auc_output_end(struct auc_err *err)
{
	const char *why = "some of it is lost";

	if (fflush(stdout) == 0 && !ferror(stdout))
		return AUC_OK;
	/* What failed earlier has left no errno: one more line does. */
	if (write(STDOUT_FILENO, "\n", 1) < 0)
		why = strerror(errno);
	return auc_err_set(err, AUC_EIO, "standard output: %s", why);
}

static bool write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

static bool sync_directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd, rc, e;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	rc = fsync(fd);
	e = errno;
	close(fd);
	errno = e;
	return rc == 0;
}
