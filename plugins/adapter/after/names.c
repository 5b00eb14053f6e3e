/* names.c - see names.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "adapter/after/names.h"

/* Users who wait for a look at a time; one more takes the place of who came first. */
#define ASK_MAX 16
/* Seconds after which one is not waited for any more. */
#define ASK_AGE 150.0

static int by_user(const void *a, const void *b);

static struct {
	pthread_mutex_t lock;
	struct auc_job_name *list[AUC_NAMED_NKINDS];
	unsigned n[AUC_NAMED_NKINDS];
	double looked; /* the others */
	struct {
		uint32_t uid;
		double at; /* 0: nobody */
	} asks[ASK_MAX];
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t auc_name_number(const char *name)
{
	uint64_t number;

	if (!name || !*name)
		return 0;
	number = XXH3_64bits(name, strlen(name));
	return number ? number : 1;
}

void auc_names_set(enum auc_named_kind kind, struct auc_job_name *list, unsigned n, double at)
{
	struct auc_job_name *old;

	if (n)
		qsort(list, n, sizeof(*list), by_user);
	pthread_mutex_lock(&names.lock);
	old = names.list[kind];
	names.list[kind] = list;
	names.n[kind] = n;
	if (kind == AUC_NAMED_OTHERS)
		names.looked = at;
	pthread_mutex_unlock(&names.lock);
	free(old);
}

bool auc_names_ask(uint32_t uid, double now)
{
	unsigned mine = 0;
	bool fresh;

	pthread_mutex_lock(&names.lock);
	for (unsigned i = 0; i < ASK_MAX; i++)
		if (names.asks[i].at > 0 && names.asks[i].uid == uid)
			mine = i;
	if (names.asks[mine].uid != uid || !(names.asks[mine].at > 0))
		for (unsigned i = 0; i < ASK_MAX; i++)
			if (names.asks[i].at < names.asks[mine].at)
				mine = i;
	if (names.asks[mine].uid != uid || !(names.asks[mine].at > 0) ||
	    names.asks[mine].at < now - ASK_AGE) {
		names.asks[mine].uid = uid;
		names.asks[mine].at = now;
	}
	fresh = names.looked > names.asks[mine].at;
	if (fresh)
		names.asks[mine].at = 0;
	pthread_mutex_unlock(&names.lock);
	return fresh;
}

bool auc_names_asked(void)
{
	bool asked = false;

	pthread_mutex_lock(&names.lock);
	for (unsigned i = 0; i < ASK_MAX; i++)
		asked |= names.asks[i].at > names.looked;
	pthread_mutex_unlock(&names.lock);
	return asked;
}

bool auc_names_each(enum auc_named_kind kind, uint32_t uid, uint64_t name,
		    bool (*fn)(void *arg, const struct auc_job_name *job), void *arg)
{
	const struct auc_job_name key = {.uid = uid, .name = name}, *list;
	unsigned from = 0, to;
	bool more = true;

	pthread_mutex_lock(&names.lock);
	list = names.list[kind];
	to = names.n[kind];
	while (from < to) {
		unsigned mid = from + (to - from) / 2;

		if (by_user(&list[mid], &key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	for (; more && from < names.n[kind] && list[from].uid == uid && list[from].name == name;
	     from++)
		more = fn(arg, &list[from]);
	pthread_mutex_unlock(&names.lock);
	return more;
}

static int by_user(const void *a, const void *b)
{
	const struct auc_job_name *x = a, *y = b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}
