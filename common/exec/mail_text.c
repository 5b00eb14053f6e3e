/* mail_text.c - see mail_text.h. */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "exec/mail_text.h"

#define NAME_LEN 65 /* of what is shown of a job's name */
#define TIME_LEN 48
#define ID_LEN   24

static void subject(struct auc_mail_text *t, const struct auc_mail_job *job, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void add(struct auc_mail_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static const char *id_of(const struct auc_mail_job *job, char text[ID_LEN]);
static void head(struct auc_mail_text *t, const struct auc_mail_job *job, const char *what);
static void add_commands(struct auc_mail_text *t, const struct auc_mail_job *job);
static const char *credits(auc_money m, char text[AUC_MONEY_LEN]);
static const char *when(double time, char text[TIME_LEN]);
static const char *words(const char *why, char text[NAME_LEN]);

void auc_mail_text_sold(struct auc_mail_text *t, const struct auc_mail_job *job, auc_money payment,
			double start, double end, unsigned nodes, bool stood)
{
	char price[AUC_MONEY_LEN], from[TIME_LEN], to[TIME_LEN];

	credits(payment, price);
	when(start, from);
	subject(t, job, "Sold%s, Price %s, Begins %s", stood ? " after standing" : "", price, from);
	head(t, job,
	     stood ? "has bought its time; its bid stood until now." : "has bought its time.");
	add(t, "Price:  %s credits\n", price);
	add(t, "Begins: %s\n", from);
	add(t, "Ends:   %s at the latest\n", when(end, to));
	add(t, "Nodes:  %u\n\n", nodes);
	add_commands(t, job);
	add(t, "A part of the price may be kept if you cancel; sbid show says how much.\n");
}

void auc_mail_text_moved(struct auc_mail_text *t, const struct auc_mail_job *job, const char *why,
			 auc_money payment, double start, double end)
{
	char price[AUC_MONEY_LEN], from[TIME_LEN], to[TIME_LEN], w[NAME_LEN];

	credits(payment, price);
	when(start, from);
	words(why, w);
	subject(t, job, "Moved, %s, Next %s", w, from);
	head(t, job, "has another plan.");
	add(t, "Why:    %s\n", w);
	add(t, "Next:   %s\n", from);
	add(t, "Ends:   %s at the latest\n", when(end, to));
	add(t, "Price:  %s credits in all\n\n", price);
	add_commands(t, job);
}

void auc_mail_text_array(struct auc_mail_text *t, const struct auc_mail_job *job,
			 const struct auc_mail_array *array, double now)
{
	char p[AUC_MONEY_LEN], b[AUC_MONEY_LEN], time[TIME_LEN];
	unsigned n = array->completed + array->others + array->unsold;

	credits(array->paid, p);
	credits(array->back, b);
	subject(t, job, "Array ended, %u of %u task%s completed, Paid %s, %s back",
		array->completed, n, auc_plural(n), p, b);
	head(t, job, "is an array, and none of its tasks is left.");
	add(t, "Completed:       %u\n", array->completed);
	add(t, "Ended otherwise: %u\n", array->others);
	add(t, "Not sold:        %u\n", array->unsold);
	add(t, "Paid:            %s credits\n", p);
	add(t, "Paid back:       %s credits\n", b);
	add(t, "Time:            %s\n\n", when(now, time));
	add(t, "There is nothing left to cancel. sbid shows each task, sbid why the refusal.\n");
}

void auc_mail_text_settled(struct auc_mail_text *t, const struct auc_mail_job *job, const char *why,
			   auc_money paid, auc_money back, double now)
{
	char id[ID_LEN];
	char price[AUC_MONEY_LEN], p[AUC_MONEY_LEN], b[AUC_MONEY_LEN], time[TIME_LEN], w[NAME_LEN];

	credits(paid + back, price);
	credits(paid, p);
	credits(back, b);
	words(why, w);
	subject(t, job, "Paid %s of %s, %s back, %s", p, price, b, w);
	head(t, job, "has ended for the auction.");
	add(t, "Why:       %s\n", w);
	add(t, "Price:     %s credits\n", price);
	add(t, "Paid:      %s credits\n", p);
	add(t, "Paid back: %s credits\n", b);
	add(t, "Time:      %s\n\n", when(now, time));
	add(t, "There is nothing left to cancel. sbid show %s has the receipt.\n", id_of(job, id));
}

void auc_mail_text_unsold(struct auc_mail_text *t, const struct auc_mail_job *job, const char *why,
			  double now)
{
	char time[TIME_LEN], w[NAME_LEN];

	words(why, w);
	subject(t, job, "Not sold, %s", w);
	head(t, job, "has not been sold. Its bid stood until now.");
	add(t, "Why:   %s\n", w);
	add(t, "Price: nothing was paid\n");
	add(t, "Time:  %s\n\n", when(now, time));
	add(t, "The job is cancelled. To see prices: sprice. To bid again: sbatch.\n");
}

void auc_mail_text_budget(struct auc_mail_text *t, const struct auc_mail_job *job,
			  const char *account, double share, auc_money left, auc_money granted)
{
	char id[ID_LEN];
	char l[AUC_MONEY_LEN], g[AUC_MONEY_LEN], name[NAME_LEN];
	int percent = (int)(100 * share + 1e-9);

	auc_mail_clean(account, name, sizeof(name));
	credits(left > 0 ? left : 0, l);
	credits(granted, g);
	subject(t, job, "Budget %d %% used, %s", percent, name);
	head(t, job, "has bought its time.");
	add(t, "With it %d %% of the budget of %s is spent or held for bids.\n", percent, name);
	add(t, "Left:    %s credits\n", l);
	add(t, "Granted: %s credits\n\n", g);
	add(t, "To see what is left: sbid balance\n");
	add(t, "To cancel this job:  scancel %s\n", id_of(job, id));
}

bool auc_mail_is_address(const char *to)
{
	bool begins = true, at = false;

	for (const char *p = to; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == ',') {
			if (begins)
				return false;
			begins = true;
			at = false;
			continue;
		}
		if (c > 126 || !(isalnum(c) || strchr("._%+=-@", c)))
			return false;
		if (begins && !isalnum(c) && c != '_')
			return false;
		if (c == '@' && at)
			return false;
		at |= c == '@';
		begins = false;
	}
	return !begins;
}

void auc_mail_clean(const char *text, char *line, unsigned size)
{
	unsigned n = 0;

	for (; text && text[n] && n + 1 < size; n++)
		line[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	line[n] = '\0';
}

unsigned auc_mail_budget_level(double share)
{
	return share >= 0.95 ? 2 : share >= 0.8 ? 1 : 0;
}

static void subject(struct auc_mail_text *t, const struct auc_mail_job *job, const char *fmt, ...)
{
	char id[ID_LEN];
	char name[NAME_LEN];
	va_list ap;
	int n;

	auc_mail_clean(job->name, name, sizeof(name));
	n = snprintf(t->subject, sizeof(t->subject), "Slurm Job_id=%s Name=%s ", id_of(job, id),
		     name);
	va_start(ap, fmt);
	vsnprintf(t->subject + n, sizeof(t->subject) - (size_t)n, fmt, ap);
	va_end(ap);
	t->body[0] = '\0';
}

static void head(struct auc_mail_text *t, const struct auc_mail_job *job, const char *what)
{
	char id[ID_LEN];
	char name[NAME_LEN], cluster[NAME_LEN];

	auc_mail_clean(job->name, name, sizeof(name));
	auc_mail_clean(job->cluster, cluster, sizeof(cluster));
	add(t, "Job %s (%s) on cluster %s %s\n\n", id_of(job, id), name, cluster, what);
}

/* What its owner may do about it. */
static void add_commands(struct auc_mail_text *t, const struct auc_mail_job *job)
{
	char id[ID_LEN];

	add(t, "To cancel it:    scancel %s\n", id_of(job, id));
	add(t, "To look at it:   sbid show %s\n", id_of(job, id));
}

/* What does not fit is left out. */
static void add(struct auc_mail_text *t, const char *fmt, ...)
{
	size_t n = strlen(t->body);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->body + n, sizeof(t->body) - n, fmt, ap);
	va_end(ap);
}

/* Two decimals, or all of them where that would not be exact. */
static const char *credits(auc_money m, char text[AUC_MONEY_LEN])
{
	size_t n;

	auc_money_str(m, text);
	n = strlen(text);
	if (m % (AUC_CREDIT / 100) == 0)
		text[n - 4] = '\0';
	return text;
}

static const char *id_of(const struct auc_mail_job *job, char text[ID_LEN])
{
	if (job->array)
		snprintf(text, ID_LEN, "%" PRIu32 "_%" PRIu32, job->array, job->task);
	else
		snprintf(text, ID_LEN, "%" PRIu32, job->id);
	return text;
}

static const char *when(double time, char text[TIME_LEN])
{
	time_t t = (time_t)time;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(text, TIME_LEN, "%Y-%m-%dT%H:%M:%S%z", &tm))
		snprintf(text, TIME_LEN, "%.0f", time);
	return text;
}

static const char *words(const char *why, char text[NAME_LEN])
{
	auc_mail_clean(why, text, NAME_LEN);
	for (char *p = text; *p; p++)
		*p = *p == '_' ? ' ' : *p;
	return text;
}
