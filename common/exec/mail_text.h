/*
 * mail_text.h - what users are mailed of their sales (Mail= of auction.conf): the subject, which is
 * one line that begins as Slurm's own do, and the body. Names of jobs and accounts are of users:
 * whatever is not printable ASCII is '?' in them, and a long one is cut.
 */
#ifndef AUC_MAIL_TEXT_H
#define AUC_MAIL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"

struct auc_mail_text {
	char subject[256];
	char body[2048]; /* lines; never more than a pipe takes at once */
};

struct auc_mail_job {
	uint32_t id;
	uint32_t array, task; /* it is called ARRAY_TASK, if ARRAY is not 0 */
	const char *name;     /* NULL: none */
	const char *cluster;
};

/* It has bought a plan from START to END (Unix time) on NODES nodes; STOOD: as a bid that stood. */
void auc_mail_text_sold(struct auc_mail_text *t, const struct auc_mail_job *job, auc_money payment,
			double start, double end, unsigned nodes, bool stood);
/* It has another plan, for WHY: one word, whose next part begins at START. PAYMENT is for all. */
void auc_mail_text_moved(struct auc_mail_text *t, const struct auc_mail_job *job, const char *why,
			 auc_money payment, double start, double end);
/* Its sale has ended for WHY (why.h), what it PAID in the end, and what came BACK. */
void auc_mail_text_settled(struct auc_mail_text *t, const struct auc_mail_job *job, const char *why,
			   auc_money paid, auc_money back, double now);
/* How the tasks of an array ended that were sold, and how many were not. */
struct auc_mail_array {
	unsigned completed, others, unsold;
	auc_money paid, back;
};
/* All of them have; JOB is the array. */
void auc_mail_text_array(struct auc_mail_text *t, const struct auc_mail_job *job,
			 const struct auc_mail_array *array, double now);
/* Its bid stood and was not sold, for WHY. */
void auc_mail_text_unsold(struct auc_mail_text *t, const struct auc_mail_job *job, const char *why,
			  double now);
/* With it so much (SHARE, 1: all) of what ACCOUNT was granted is spent or held. */
void auc_mail_text_budget(struct auc_mail_text *t, const struct auc_mail_job *job,
			  const char *account, double share, auc_money left, auc_money granted);

/*
 * True if TO may be handed to a mail program: addresses with commas between them, of letters,
 * digits and ._%+=-, each with a letter, a digit or _ at its begin and at most one @. So it is no
 * option, no file and no command, which some mail programs take.
 */
bool auc_mail_is_address(const char *to);
/* What of TEXT goes in a line for others, as above, into LINE. */
void auc_mail_clean(const char *text, char *line, unsigned size);

/* The highest of the levels of a budget that users are told of which SHARE has reached: 2 (95 %), 1
 * (80 %), 0. */
unsigned auc_mail_budget_level(double share);

#endif
