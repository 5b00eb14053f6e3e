/*
 * names.h - which jobs a user has of a name, for bids that begin when these are over
 * (--dependency=singleton). The agent publishes them, from Slurm's records; job_submit looks them
 * up. One name stands for itself by a number: two names of one user that had the same would only
 * wait for each other.
 */
#ifndef AUC_NAMES_H
#define AUC_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum auc_named_kind {
	AUC_NAMED_SOLD,   /* leads of sales, as of the last look at them; END is not used */
	AUC_NAMED_OTHERS, /* all else that has not ended, as of the last look at all records */
	AUC_NAMED_NKINDS
};

struct auc_job_name {
	uint32_t uid, job_id;
	uint64_t name; /* auc_name_number() */
	double end;    /* when it is over at the latest, Unix time; INFINITY: nobody knows */
};

/* 0 for no name. */
uint64_t auc_name_number(const char *name);
/* From now on those of KIND are the N of LIST, malloc'd, which is taken over; they were looked at
 * AT (auc_site_elapsed()). */
void auc_names_set(enum auc_named_kind kind, struct auc_job_name *list, unsigned n, double at);
/* True if the others were looked at since UID first asked, by now at NOW; he is to ask again
 * otherwise. True counts once. */
bool auc_names_ask(uint32_t uid, double now);
/* True if somebody waits for such a look. */
bool auc_names_asked(void);
/* Calls FN with each of KIND that UID has with NAME, in order of their numbers, until it returns
 * false, which is then the result. FN calls none of these. */
bool auc_names_each(enum auc_named_kind kind, uint32_t uid, uint64_t name,
		    bool (*fn)(void *arg, const struct auc_job_name *job), void *arg);

#endif
