/* groupfile.c - see groupfile.h */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <json-c/json.h>

#include "slaunch/layout/groupfile.h"
#include "slaunch/layout/taskenv.h"

static struct json_object *group_list(const struct peer *peers, unsigned n, enum role role);
static bool process_catches(long pid, pid_t group, int sig);
static bool is_child(long pid, pid_t parent);

enum auc_code groupfile_write(struct groupfile *f, struct json_object *o, enum role role,
			      unsigned id, struct auc_err *err)
{
	static const char *const copied[] = {"generation", "begin", "end", "next"};
	struct json_object *out, *v = NULL;
	enum auc_code rc = AUC_OK;
	struct peer *peers;
	const char *text;
	unsigned n;
	int fd;

	json_object_object_get_ex(o, "peers", &v);
	rc = taskenv_peers_parse(v, &peers, &n, err);
	if (rc != AUC_OK)
		return rc;
	out = json_object_new_object();
	json_object_object_add(out, "role", json_object_new_string(role_name(role)));
	json_object_object_add(out, "id", json_object_new_int64(id));
	for (unsigned i = 0; i < n; i++)
		if (peers[i].role == role && peers[i].id == id)
			json_object_object_add(out, "rank", json_object_new_int64(peers[i].rank));
	for (unsigned i = 0; i < sizeof(copied) / sizeof(*copied); i++) {
		v = NULL;
		json_object_object_get_ex(o, copied[i], &v);
		json_object_object_add(out, copied[i], json_object_get(v));
	}
	json_object_object_add(out, "workers", group_list(peers, n, ROLE_WORKER));
	json_object_object_add(out, "ps", group_list(peers, n, ROLE_PS));
	free(peers);

	text = json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN |
							   JSON_C_TO_STRING_NOSLASHESCAPE);
	fd = memfd_create("auction-group", MFD_CLOEXEC);
	if (!text || fd < 0 || dprintf(fd, "%s\n", text) < 0 ||
	    (f->fd >= 0 && dup3(fd, f->fd, O_CLOEXEC) < 0))
		rc = auc_err_set(err, AUC_EIO, "the group file: %s", strerror(errno));
	if (f->fd < 0 && rc == AUC_OK)
		f->fd = fd;
	else if (fd >= 0)
		close(fd);
	json_object_put(out);
	return rc;
}

enum auc_code groupfile_set(const struct groupfile *f, struct auc_err *err)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%ld/fd/%d", (long)getpid(), f->fd);
	if (setenv("AUCTION_GROUP_FILE", name, 1) != 0)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	return AUC_OK;
}

void groupfile_clear(struct groupfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void catch_kill(pid_t group, int sig)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (pid > 0 && !*end && process_catches(pid, group, sig))
			kill(pid, sig);
	}
	if (dir)
		closedir(dir);
}

unsigned kill_children(pid_t parent, pid_t but)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (dir && (e = readdir(dir))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (pid > 0 && !*end && is_child(pid, parent) && getpgid((pid_t)pid) != but &&
		    kill((pid_t)pid, SIGKILL) == 0)
			n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static struct json_object *group_list(const struct peer *peers, unsigned n, enum role role)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < n; i++) {
		struct json_object *p;

		if (peers[i].role != role)
			continue;
		p = json_object_new_object();
		json_object_object_add(p, "id", json_object_new_int64(peers[i].id));
		json_object_object_add(p, "rank", json_object_new_int64(peers[i].rank));
		json_object_object_add(p, "node", json_object_new_string(peers[i].node));
		json_object_object_add(p, "host", json_object_new_string(peers[i].host));
		json_object_object_add(p, "port", json_object_new_int64(peers[i].port));
		json_object_array_add(list, p);
	}
	return list;
}

/* True if PID is of the group and has a handler for SIG. */
static bool process_catches(long pid, pid_t group, int sig)
{
	char name[64], line[256];
	uint64_t mask = 0;
	FILE *f;

	if (getpgid(pid) != group)
		return false;
	snprintf(name, sizeof(name), "/proc/%ld/status", pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "SigCgt: %" SCNx64, &mask) != 1)
		;
	if (f)
		fclose(f);
	return mask >> (sig - 1) & 1;
}

/* True if PARENT has the child PID, and it runs. */
static bool is_child(long pid, pid_t parent)
{
	char name[64], text[512], *end, state;
	long ppid = 0;
	bool is = false;
	size_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%ld/stat", pid);
	f = fopen(name, "re");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[n] = '\0';
	/* a name may hold anything, brackets too */
	end = strrchr(text, ')');
	if (end && sscanf(end + 1, " %c %ld", &state, &ppid) == 2)
		is = ppid == parent && state != 'Z' && state != 'X';
	if (f)
		fclose(f);
	return is;
}
