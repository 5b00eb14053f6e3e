/* groups.c - see groups.h. */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/groups.h"

#define GROUPS_MAX 65536 /* of one user, more than the kernel has */
#define BUFFER     4096  /* bytes of an entry, at first, */
#define BUFFER_MAX (16 * 1024 * 1024)

static int by_number(const void *a, const void *b);
static unsigned place_of(const struct auc_groups *g, uint32_t uid);
static int gid_of(const char *name, gid_t *gid);
static int user_of(uint32_t uid, char **name, gid_t *gid);

enum auc_code auc_groups_put(struct auc_groups *g, uint32_t uid, const uint32_t *gids,
			     unsigned ngids, struct auc_err *err)
{
	unsigned at = place_of(g, uid);
	uint32_t *copy = malloc((ngids + 1) * sizeof(*copy));

	if (copy && g->nusers == g->alloc) {
		unsigned n = g->alloc ? 2 * g->alloc : 64;
		struct auc_group_user *grown = realloc(g->users, n * sizeof(*grown));

		if (grown) {
			g->users = grown;
			g->alloc = n;
		}
	}
	if (!copy || g->nusers == g->alloc) {
		free(copy);
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the groups of uid %u", uid);
	}
	if (ngids)
		memcpy(copy, gids, ngids * sizeof(*copy));
	qsort(copy, ngids, sizeof(*copy), by_number);
	if (at < g->nusers && g->users[at].uid == uid) {
		free(g->users[at].gids);
	} else {
		memmove(g->users + at + 1, g->users + at, (g->nusers - at) * sizeof(*g->users));
		g->nusers++;
	}
	g->users[at] = (struct auc_group_user){.uid = uid, .ngids = ngids, .gids = copy};
	return AUC_OK;
}

const struct auc_group_user *auc_groups_find(const struct auc_groups *g, uint32_t uid)
{
	unsigned at = place_of(g, uid);

	return at < g->nusers && g->users[at].uid == uid ? &g->users[at] : NULL;
}

bool auc_groups_any(const struct auc_group_user *user, const uint32_t *gids, unsigned ngids)
{
	for (unsigned i = 0; i < user->ngids; i++)
		if (ngids && bsearch(&user->gids[i], gids, ngids, sizeof(*gids), by_number))
			return true;
	return false;
}

void auc_groups_clear(struct auc_groups *g)
{
	for (unsigned i = 0; i < g->nusers; i++)
		free(g->users[i].gids);
	free(g->users);
	memset(g, 0, sizeof(*g));
}

enum auc_code auc_groups_of_user(uint32_t uid, uint32_t **gids, unsigned *ngids,
				 struct auc_err *err)
{
	int n = 64, had = 0, rc;
	gid_t primary, *list = NULL, *grown;
	char *name;

	rc = user_of(uid, &name, &primary);
	if (rc)
		return auc_err_set(err, rc == ENOMEM ? AUC_ENOMEM : AUC_ENOENT, "uid %u: %s", uid,
				   rc == ENOENT ? "there is no such user" : strerror(rc));
	do {
		n = n > had ? n : 2 * had;
		grown = n <= GROUPS_MAX ? realloc(list, (size_t)n * sizeof(*list)) : NULL;
		if (!grown) {
			free(list);
			free(name);
			return auc_err_set(err, AUC_ENOMEM, "uid %u: out of memory for %d groups",
					   uid, n);
		}
		list = grown;
		had = n;
	} while (getgrouplist(name, primary, list, &n) < 0);
	free(name);
	_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups are numbers of 32 bits");
	qsort(list, (size_t)n, sizeof(*list), by_number);
	*gids = list;
	*ngids = (unsigned)n;
	return AUC_OK;
}

enum auc_code auc_groups_by_name(const char *names, uint32_t **gids, unsigned *ngids,
				 struct auc_err *err)
{
	char *copy = strdup(names), *save = NULL;
	unsigned alloc = 1;
	gid_t gid;

	for (const char *p = names; *p; p++)
		alloc += *p == ',';
	*ngids = 0;
	*gids = malloc(alloc * sizeof(**gids));
	if (!copy || !*gids) {
		free(copy);
		free(*gids);
		*gids = NULL;
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the groups %.128s", names);
	}
	for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save))
		if (!gid_of(name, &gid))
			(*gids)[(*ngids)++] = gid;
	qsort(*gids, *ngids, sizeof(**gids), by_number);
	free(copy);
	return AUC_OK;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Where UID is, or is to be put. */
static unsigned place_of(const struct auc_groups *g, uint32_t uid)
{
	unsigned low = 0, high = g->nusers;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (g->users[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* 0, or an errno. */
static int gid_of(const char *name, gid_t *gid)
{
	struct group entry, *found = NULL;
	size_t size = BUFFER;
	char *buf = NULL, *grown;
	int rc;

	do {
		grown = size <= BUFFER_MAX ? realloc(buf, size) : NULL;
		if (!grown) {
			free(buf);
			return ENOMEM;
		}
		buf = grown;
		rc = getgrnam_r(name, &entry, buf, size, &found);
		size *= 2;
	} while (rc == ERANGE);
	if (found)
		*gid = found->gr_gid;
	free(buf);
	return found ? 0 : rc ? rc : ENOENT;
}

/* 0, or an errno. *NAME is malloc'd. */
static int user_of(uint32_t uid, char **name, gid_t *gid)
{
	struct passwd entry, *found = NULL;
	size_t size = BUFFER;
	char *buf = NULL, *grown;
	int rc;

	do {
		grown = size <= BUFFER_MAX ? realloc(buf, size) : NULL;
		if (!grown) {
			free(buf);
			return ENOMEM;
		}
		buf = grown;
		rc = getpwuid_r(uid, &entry, buf, size, &found);
		size *= 2;
	} while (rc == ERANGE);
	if (found) {
		*gid = found->pw_gid;
		*name = strdup(found->pw_name);
		if (!*name)
			rc = ENOMEM;
	}
	free(buf);
	return found ? rc : rc ? rc : ENOENT;
}

bool auc_user_number(const char *name, uint32_t *uid)
{
	char text[4096];
	struct passwd pw, *found = NULL;

	if (getpwnam_r(name, &pw, text, sizeof(text), &found) || !found)
		return false;
	*uid = found->pw_uid;
	return true;
}
