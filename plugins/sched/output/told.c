/* told.c - see told.h. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "sched/output/told.h"

#define EVERY    0.5       /* seconds between two files, at least */
#define FILE_MAX (1 << 24) /* bytes: more than all that are kept */

static struct {
	double written;
	uint64_t edition;
	const struct auc_auction *of;
} last;

static void path_of(const char *dir, char *path)
{
	snprintf(path, PATH_MAX, "%.4000s/refusals", dir);
}

static void read_file(const char *dir, struct auc_auction *a)
{
	char path[PATH_MAX], *text;
	struct stat st;
	FILE *f;
	size_t n;

	path_of(dir, path);
	f = auc_file_open(path);
	if (!f)
		return;
	if (!fstat(fileno(f), &st) && st.st_size < FILE_MAX &&
	    (text = malloc((size_t)st.st_size + 1))) {
		n = fread(text, 1, (size_t)st.st_size, f);
		text[n] = '\0';
		auc_auction_recall_refusals(a, text);
		free(text);
	}
	fclose(f);
}

enum auc_code auc_told_write(const char *dir, struct auc_auction *a, double now,
			     struct auc_err *err)
{
	char path[PATH_MAX], *text;
	enum auc_code code;

	/* A clock set back must not stop the file. */
	if (last.of == a && now >= last.written && now < last.written + EVERY)
		return AUC_OK;
	if (last.of != a) {
		last.edition = 0;
		read_file(dir, a); /* of a process before this one */
	}
	last.of = a;
	text = auc_auction_refusals(a, &last.edition);
	if (!text)
		return AUC_OK;
	path_of(dir, path);
	code = auc_file_replace(path, text, strlen(text), 0600, false, err);
	last.written = now;
	if (code)
		last.edition = 0;
	free(text);
	return code;
}
