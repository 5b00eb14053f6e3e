/*
 * user_limits.c - see user_limits.h. The users who have made a bid in the last minute, by uid.
 * Whose purse is full again is forgotten when the table would grow.
 */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "auction/memory/user_limits.h"

#define MINUTE 60.0
#define DAY    86400.0

struct user {
	uint32_t uid;
	double missing; /* tokens, when it was looked at last */
	double at;      /* when that was */
	double refused; /* when a refusal was last believed; -INFINITY: may be again */
};

struct auc_user_limits {
	unsigned n, alloc;
	struct user *users; /* ascending uid */
	unsigned per_minute;
	double forgot; /* when that was done last */
};

static unsigned place_of(const struct auc_user_limits *l, uint32_t uid);
static struct user *add(struct auc_user_limits *l, unsigned place, uint32_t uid, double now);
static void forget(struct auc_user_limits *l, double now);
static void refill(const struct auc_user_limits *l, struct user *u, double now);
static void give_back(struct user *u);
static bool was_believed(const struct user *u, double now);

struct auc_user_limits *auc_user_limits_create(void)
{
	return calloc(1, sizeof(struct auc_user_limits));
}

void auc_user_limits_destroy(struct auc_user_limits *l)
{
	if (!l)
		return;
	free(l->users);
	free(l);
}

double auc_user_limits_take(struct auc_user_limits *l, uint32_t uid, double now,
			    unsigned per_minute)
{
	unsigned at = place_of(l, uid);
	struct user *u;

	l->per_minute = per_minute;
	if (!per_minute)
		return 0;
	u = at < l->n && l->users[at].uid == uid ? &l->users[at] : add(l, at, uid, now);
	if (!u)
		return 0;
	refill(l, u, now);
	if (u->missing + 1 > per_minute)
		return (u->missing + 1 - per_minute) * MINUTE / per_minute;
	u->missing++;
	return 0;
}

void auc_user_limits_give_back(struct auc_user_limits *l, uint32_t uid)
{
	unsigned at = place_of(l, uid);

	if (at < l->n && l->users[at].uid == uid)
		give_back(&l->users[at]);
}

static void give_back(struct user *u)
{
	u->missing = fmax(0, u->missing - 1);
	u->refused = -INFINITY;
}

bool auc_user_limits_believe(struct auc_user_limits *l, uint32_t uid, double now)
{
	unsigned at = place_of(l, uid);
	struct user *u =
		at < l->n && l->users[at].uid == uid ? &l->users[at] : add(l, at, uid, now);

	if (!u || was_believed(u, now))
		return false;
	u->refused = now;
	return true;
}

static bool was_believed(const struct user *u, double now)
{
	return now >= u->refused && now < u->refused + DAY;
}

unsigned auc_user_limits_count(const struct auc_user_limits *l)
{
	return l->n;
}

/* Of UID, or where it would be. */
static unsigned place_of(const struct auc_user_limits *l, uint32_t uid)
{
	unsigned low = 0, high = l->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (l->users[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: no memory, or too many users in a minute. */
static struct user *add(struct auc_user_limits *l, unsigned place, uint32_t uid, double now)
{
	struct user *grown;
	unsigned i, alloc;

	if (l->n == l->alloc && (now < l->forgot || now >= l->forgot + 1)) {
		forget(l, now);
		l->forgot = now; /* not with each bid while there are that many */
		place = place_of(l, uid);
	}
	if (l->n == l->alloc) {
		alloc = l->alloc ? 2 * l->alloc : 64;
		if (alloc > AUC_USER_LIMITS_MAX)
			return NULL;
		grown = realloc(l->users, alloc * sizeof(*grown));
		if (!grown)
			return NULL;
		l->users = grown;
		l->alloc = alloc;
	}
	for (i = l->n++; i > place; i--)
		l->users[i] = l->users[i - 1];
	l->users[place] = (struct user){.uid = uid, .at = now, .refused = -INFINITY};
	return &l->users[place];
}

static void forget(struct auc_user_limits *l, double now)
{
	unsigned n = 0, i;

	for (i = 0; i < l->n; i++) {
		refill(l, &l->users[i], now);
		if (l->users[i].missing > 0 || was_believed(&l->users[i], now))
			l->users[n++] = l->users[i];
	}
	l->n = n;
}

static void refill(const struct auc_user_limits *l, struct user *u, double now)
{
	if (now > u->at)
		u->missing = fmax(0, u->missing - (now - u->at) * l->per_minute / MINUTE);
	u->at = now;
}
