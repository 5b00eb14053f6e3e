/* desc_block.c - see desc_block.h. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/desc_block.h"
#include "adapter/desc_gang.h"
#include "base/num.h"
#include "ledger/receipt.h"

#define MARK "in " AUC_BLOCK_PREFIX /* behind it the block's job, at the end of AdminComment */
#define TOLD "told ahead, "         /* before it: the job's script handles the notice of the end */
/* Slurm's number for --exclusive, which its headers do not name. */
#define SHARED_NONE 0

static uint32_t number_of(const char *digits);

/* In order; never fewer. */
static struct {
	pthread_mutex_t lock;
	uint32_t *uids;
	unsigned n, alloc;
} users = {.lock = PTHREAD_MUTEX_INITIALIZER};

void auc_block_name(char name[AUC_BLOCK_NAME_MAX], uint32_t job)
{
	snprintf(name, AUC_BLOCK_NAME_MAX, AUC_BLOCK_PREFIX "%u", job);
}

uint32_t auc_block_of(const char *name)
{
	size_t len = strlen(AUC_BLOCK_PREFIX);

	return name && !strncmp(name, AUC_BLOCK_PREFIX, len) ? number_of(name + len) : 0;
}

bool auc_block_among(const char *names)
{
	char name[AUC_BLOCK_NAME_MAX + 1];

	for (const char *p = names; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");

		snprintf(name, sizeof(name), "%.*s", (int)n, p);
		if (auc_block_of(name))
			return true;
		p += n;
	}
	return false;
}

enum auc_code auc_block_check(job_desc_msg_t *desc, const struct auc_bid *bid, struct auc_err *err)
{
	const char *option = bid->stands > 0                         ? "--stands"
			     : bid->extend                           ? "--overrun=extend"
			     : bid->gang.nspeedup                    ? "--speedup"
			     : bid->gang.ngpu_time                   ? "--gpu-time"
			     : desc->array_inx && *desc->array_inx   ? "--array"
			     : desc->dependency && *desc->dependency ? "--dependency"
								     : NULL;

	if (!desc->script)
		return auc_err_set(err, AUC_EINVAL,
				   "a block is bought by sbid block; what runs in it names its "
				   "reservation");
	if (option)
		return auc_err_set(err, AUC_EINVAL, "%s: given, expected none with a block",
				   option);
	desc->shared = SHARED_NONE;
	return AUC_OK;
}

void auc_block_apply(job_desc_msg_t *desc, const struct auc_slice *slice, double end,
		     const char *receipt)
{
	auc_desc_apply_gang(desc, slice, receipt);
	desc->priority = 0;
	/* An administrator who releases the job does not start it by that, and sacct lists jobs by
	 * their begin time. */
	desc->begin_time = (time_t)auc_ceil(end);
}

void auc_block_enter(job_desc_msg_t *desc, uint32_t job, const char *partition, int sig)
{
	const char *old = desc->admin_comment;
	char *text;

	/* A plugin of the site may have said something, too. */
	if (asprintf(&text, "%s%s%s" MARK "%u", old ? old : "", old && *old ? "; " : "",
		     auc_desc_wants_notice(desc, sig) ? TOLD : "", job) >= 0) {
		AUC_XFREE(desc->admin_comment);
		desc->admin_comment = slurm_xstrdup(text);
		free(text);
	}
	if (!desc->partition || !*desc->partition) {
		AUC_XFREE(desc->partition);
		desc->partition = slurm_xstrdup(partition);
	}
	auc_desc_make_ordinary(desc);
}

uint32_t auc_block_entered(const slurm_job_info_t *info)
{
	uint32_t job = auc_block_of(info->resv_name);
	const char *at = info->admin_comment, *last = NULL;

	/* A receipt may be long, and is none of ours. */
	if (job || !at || auc_receipt_is(at))
		return job;

	while ((at = strstr(at, MARK)))
		last = at += strlen(MARK);
	return last ? number_of(last) : 0;
}

bool auc_block_told(const slurm_job_info_t *info)
{
	return info->admin_comment && strstr(info->admin_comment, TOLD MARK);
}

void auc_block_user_add(uint32_t uid)
{
	uint32_t *grown;
	unsigned at = 0;

	pthread_mutex_lock(&users.lock);
	while (at < users.n && users.uids[at] < uid)
		at++;
	if (at == users.n || users.uids[at] != uid) {
		grown = users.n < users.alloc
				? users.uids
				: realloc(users.uids, (users.alloc + 64) * sizeof(*grown));
		if (grown) {
			users.alloc += users.n < users.alloc ? 0 : 64;
			users.uids = grown;
			memmove(grown + at + 1, grown + at, (users.n - at) * sizeof(*grown));
			grown[at] = uid;
			users.n++;
		}
	}
	pthread_mutex_unlock(&users.lock);
}

bool auc_block_user(uint32_t uid)
{
	bool found = false;

	pthread_mutex_lock(&users.lock);
	for (unsigned i = 0; i < users.n && !found; i++)
		found = users.uids[i] == uid;
	pthread_mutex_unlock(&users.lock);
	return found;
}

/* The number of a job, all of DIGITS; 0: it is none. */
static uint32_t number_of(const char *digits)
{
	size_t n = strspn(digits, "0123456789");
	unsigned long job = n && n < 11 && !digits[n] ? strtoul(digits, NULL, 10) : 0;

	return job < NO_VAL ? (uint32_t)job : 0;
}
