/* kept_files.c - see kept_files.h. */
#include "config.h"

#include <limits.h>
#include <stdio.h>

#include "base/file.h"
#include "sched/output/kept_files.h"

enum auc_code auc_kept_files_check(const char *dir, const char *state_dir, struct auc_err *err)
{
	static const char *const in_dir[] = {"journal",     "state",        "lock",     "receipts",
					     "status.json", "auction.conf", "refusals", "prices"};
	static const char *const in_state_dir[] = {"auction.conf", "auction.key"};
	enum auc_code code = auc_dir_own(dir, err);
	char path[PATH_MAX];

	for (size_t i = 0; !code && i < sizeof(in_dir) / sizeof(*in_dir); i++) {
		snprintf(path, sizeof(path), "%.4000s/%s", dir, in_dir[i]);
		code = auc_file_own(path, 0600, err);
	}
	for (size_t i = 0; !code && i < sizeof(in_state_dir) / sizeof(*in_state_dir); i++) {
		snprintf(path, sizeof(path), "%.4000s/%s", state_dir, in_state_dir[i]);
		code = auc_file_own(path, 0600, err);
	}
	return code;
}
