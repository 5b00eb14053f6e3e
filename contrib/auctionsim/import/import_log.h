/*
 * import_log.h - a log that is read once and becomes a scenario for each of its days. All have the
 * same servers, types and slots: a day, and then as many as the last job of the day may wait and
 * run.
 */
#ifndef SIM_IMPORT_LOG_H
#define SIM_IMPORT_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "auctionsim/import/import.h"
#include "input/conf.h"

struct import_log;

/* The whole of it. */
struct import_log_facts {
	unsigned days;      /* up to the last one that has a job */
	uint64_t day_slots; /* slots of a day */
	uint64_t slots;     /* of each scenario */
	double slot_seconds;
	double begin; /* of the first day; seconds since 1970 if UNIX_TIME, else of the log */
	bool unix_time;
	bool gangs; /* jobs are as in the log, not workers and parameter servers */
	unsigned njobs, nusers, nlimits; /* nlimits: jobs whose limit the log says */
	unsigned servers;
	double gpus;
	double gpu_seconds;        /* of the jobs that are taken */
	double lost_seconds;       /* of those that cannot be */
	double slots_lost_seconds; /* of these, those longer than the slots */
	double undrawn_seconds;    /* of those that could be, where jobs= takes a part */
};

/* What a scenario does not say of a job. */
struct import_log_job {
	double submit; /* seconds after the first day began */
	double limit;  /* seconds that it was allowed to take; 0: the log does not say */
};

/*
 * Reads what O names, as import_write() does. Slots ahead of a day are those of slots= or of
 * auction.conf; else of 300 s, as many as the longest job needs, at most a week. Without as= jobs
 * are gangs. REPORT (NULL: nowhere) is told what became of the records.
 */
enum auc_code import_log_open(const struct import_options *o, FILE *report, struct import_log **log,
			      struct auc_err *err);
void import_log_close(struct import_log *log);
const struct import_log_facts *import_log_facts(const struct import_log *log);
/* NULL: none was named. */
const struct auc_conf *import_log_conf(const struct import_log *log);
/* Where the values of jobs come from, as a sentence. */
void import_log_values(const struct import_log *log, char *text, size_t size);
/* The jobs of DAY (from 0), N of them, in the order of the scenario; valid as long as LOG. */
const struct import_log_job *import_log_day(const struct import_log *log, unsigned day,
					    unsigned *n);
/* Prints the scenario of DAY, as GANGS or as workers and parameter servers; one without jobs has an
 * empty list of them. The same values every time. */
enum auc_code import_log_write(struct import_log *log, unsigned day, bool gangs, FILE *out,
			       struct auc_err *err);

#endif
