/* output.c - see output.h */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"

static bool stdout_said; /* an error has told of standard output already */
static bool stdin_taken;

static enum auc_code standard(enum auc_code rc, struct auc_err *err);
static bool is_file(const char *path);
static bool replace(const struct output *o, bool *tried);
static bool overwrite(const struct output *o);
static bool put(const struct output *o, FILE *f);

enum auc_code output_open(struct output *o, const char *path, struct auc_err *err)
{
	*o = (struct output){.path = path, .stream = stdout};
	if (!path) {
		progress_hide();
		return AUC_OK;
	}
	o->stream = open_memstream(&o->text, &o->len);
	return o->stream ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "%s: no memory", path);
}

enum auc_code output_close(struct output *o, enum auc_code rc, struct auc_err *err)
{
	bool failed, tried, held;

	if (!o->path)
		return standard(rc, err);
	failed = ferror(o->stream);
	failed = fclose(o->stream) != 0 || failed;
	if (failed && rc == AUC_OK)
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", o->path);
	held = is_file(o->path);
	if (held)
		progress_hold();
	if (rc == AUC_OK && !replace(o, &tried) && (tried || !overwrite(o)))
		rc = auc_err_set(err, AUC_EIO, "%s: %s", o->path, strerror(errno));
	if (held)
		progress_release();
	free(o->text);
	return rc;
}

int output_end(int code)
{
	struct auc_err err;

	progress_hide();
	if (stdout_said || standard(AUC_OK, &err) == AUC_OK)
		return code;
	fprintf(stderr, "auctionsim: %s\n", err.text);
	return code == EXIT_SUCCESS ? EXIT_FAILURE : code;
}

bool file_is_named(const struct option *options, const char *files, int c)
{
	if (!optarg || *optarg || !strchr(files, c))
		return true;
	while (options->name && options->val != c)
		options++;
	fprintf(stderr, "auctionsim: --%s: '', expected the name of a file\n", options->name);
	return false;
}

enum auc_code input_open(const char *path, FILE **in, struct auc_err *err)
{
	*in = NULL;
	if (!*path)
		return auc_err_set(err, AUC_EINVAL, "'': expected the name of a file, or -");
	if (strcmp(path, "-") != 0) {
		*in = fopen(path, "re");
		return *in ? AUC_OK
			   : auc_err_set(err, AUC_EIO, "%.200s: %s", path, strerror(errno));
	}
	if (stdin_taken)
		return auc_err_set(
			err, AUC_EINVAL,
			"-: expected the name of a file: standard input is read once, for "
			"another file");
	stdin_taken = true;
	*in = stdin;
	return AUC_OK;
}

void input_close(FILE *in)
{
	if (in && in != stdin)
		fclose(in);
}

/* RC, or what is wrong with standard output. */
static enum auc_code standard(enum auc_code rc, struct auc_err *err)
{
	if ((rc != AUC_OK && rc != AUC_EIO) || auc_output_end(err) == AUC_OK)
		return rc;
	stdout_said = true;
	return AUC_EIO;
}

/* A pipe may take its time, so one must be able to stop there. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) || S_ISREG(st.st_mode);
}

/*
 * By a new file that takes its place. TRIED: this is the way, whether it worked or not. It is not
 * for a device, a link, a file with several names or of another user, nor where no file can be made
 * beside it.
 */
static bool replace(const struct output *o, bool *tried)
{
	mode_t mask = umask(0);
	struct stat st = {.st_mode = S_IFREG | (0666 & ~mask), .st_nlink = 1, .st_uid = geteuid()};
	char temporary[PATH_MAX];
	bool good;
	int fd, e;
	FILE *f;

	umask(mask);
	*tried = false;
	if ((lstat(o->path, &st) && errno != ENOENT) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_uid != geteuid() || !(st.st_mode & S_IWUSR) ||
	    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", o->path) >= (int)sizeof(temporary))
		return false;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return false;
	*tried = true;
	f = fchmod(fd, st.st_mode & 07777) ? NULL : fdopen(fd, "w");
	good = f && put(o, f) && !rename(temporary, o->path);
	e = errno;
	if (!f)
		close(fd);
	if (!good)
		unlink(temporary);
	errno = e;
	return good;
}

static bool overwrite(const struct output *o)
{
	FILE *f = fopen(o->path, "we");

	return f && put(o, f);
}

/* Closes F. */
static bool put(const struct output *o, FILE *f)
{
	bool good = fwrite(o->text, 1, o->len, f) == o->len;
	int e = errno;

	if (fclose(f) != 0 && good)
		return false;
	errno = good ? errno : e;
	return good;
}
