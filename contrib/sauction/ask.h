/* ask.h - asking slurmctld as a user: by sbatch, as the answer to a submission that becomes no job.
 */
#ifndef ASK_H
#define ASK_H

#include <stdio.h>
#include <sys/types.h>

struct json_object;

/* What ARGV, a program with its arguments, prints to STREAM; NULL, and said why. Variables of the
 * environment that change what squeue and sacct print are removed. */
FILE *ask_run(const char *const *argv, int stream, pid_t *pid);
/* Waits for it: its exit status. */
int ask_end(pid_t pid);
/*
 * What slurmctld answers to WHAT (enum auc_ask), of a job for ACCOUNT (NULL: the user's own): a new
 * reference. NULL, and said why. Changes the environment: nothing but the question is in it.
 */
struct json_object *ask_slurmctld(const char *what, const char *account);

#endif
