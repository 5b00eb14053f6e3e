/*
 * report.c - "sauction report": what jobs paid and got back, from the receipts that Slurm's
 * accounting keeps. sacct reads them, so that it shows to each user what Slurm lets that user see.
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json.h"
#include "ledger/accounts.h"
#include "ledger/receipt.h"
#include "sauction/ask.h"
#include "sauction/sauction.h"

enum { USER, ACCOUNT, PARTITION, MONTH, GPU, NKEYS };
static const char *const keys[NKEYS] = {"user", "account", "partition", "month", "gpu"};

struct group {
	char *key[NKEYS];
	uint64_t jobs, live;
	auc_money paid, refunded; /* paid: what was kept, or is agreed */
	double gpu_hours;         /* by the plans */
};

struct report {
	bool by[NKEYS];
	struct group *groups;
	unsigned n, alloc;
	bool focus;
	struct rows jobs; /* with focus */
};

static int parse_by(struct report *r, const char *by);
static FILE *run_sacct(const struct sauction *s, pid_t *pid);
static int read_jobs(struct report *r, FILE *in);
static bool take_payer(const char *receipt, char *name, size_t size);
static int add_job(struct report *r, char **field, const struct auc_receipt *receipt);
static const char *gpu_of(const struct auc_receipt *receipt, double *hours);
static struct group *group_of(struct report *r, char **field, const char *gpu);
static int by_key(const void *a, const void *b);
static int print(struct report *r, const struct sauction *s);

int command_report(const struct sauction *s, int argc, char **argv)
{
	struct report r = {.focus = s->focus};
	int code, status;
	pid_t pid;
	FILE *in;

	(void)argv;
	if (argc)
		return fail("report: no argument was expected; --by says by what");
	if (!strcmp(s->by, "reason"))
		return report_refusals(s);
	if (parse_by(&r, s->by))
		return EXIT_FAILURE;
	if (r.focus)
		focus_begin(&r.jobs);
	in = run_sacct(s, &pid);
	if (!in)
		return EXIT_FAILURE;
	code = read_jobs(&r, in);
	fclose(in);
	status = ask_end(pid);
	if (!code && status)
		code = fail("sacct failed; it must be in PATH and reach slurmdbd");
	if (!code)
		code = r.focus ? rows_print(&r.jobs, &s->table) : print(&r, s);
	for (unsigned i = 0; i < r.n; i++)
		for (unsigned k = 0; k < NKEYS; k++)
			free(r.groups[i].key[k]);
	free(r.groups);
	return code;
}

static int parse_by(struct report *r, const char *by)
{
	const char *p = by;

	while (*p) {
		size_t len = strcspn(p, ",");
		unsigned k = 0;

		while (k < NKEYS && (strlen(keys[k]) != len || strncmp(p, keys[k], len)))
			k++;
		if (k == NKEYS)
			return fail("--by: '%.*s', expected user, account, partition, month, gpu; "
				    "or reason "
				    "alone",
				    (int)len, p);
		r->by[k] = true;
		p += len + (p[len] == ',');
	}
	return 0;
}

/* What it prints; NULL, and said why. */
static FILE *run_sacct(const struct sauction *s, pid_t *pid)
{
	const char *argv[] = {"sacct", "-a",
			      "-X",    "-D",
			      "-n",    "-P",
			      "-S",    s->since ? s->since : "1970-01-02",
			      "-E",    s->until ? s->until : "now+3650days",
			      "-o",    "JobID,User,Account,Partition,Submit,AdminComment",
			      NULL};

	return ask_run(argv, STDOUT_FILENO, pid);
}

static int read_jobs(struct report *r, FILE *in)
{
	struct auc_receipt receipt;
	char *line = NULL, *field[6], *p;
	size_t size = 0;
	ssize_t n;
	int code = 0;

	while (!code && (n = getline(&line, &size, in)) > 0) {
		unsigned k = 0;

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		/* The receipt comes last: it may have a '|' in it. */
		for (p = line; k < 6 && p; k++) {
			field[k] = p;
			p = k < 5 ? strchr(p, '|') : NULL;
			if (p)
				*p++ = '\0';
		}
		if (k < 6 || !auc_receipt_is(field[5]) ||
		    auc_receipt_parse(field[5], &receipt, NULL) != AUC_OK)
			continue;
		/* A bid that stands, or stood for nothing, has bought nothing. */
		if (strcmp(receipt.state, "member") && strcmp(receipt.state, "lien") &&
		    !auc_receipt_is_waiting(&receipt))
			code = add_job(r, field, &receipt);
		auc_receipt_clear(&receipt);
	}
	free(line);
	return code;
}

/* The Slurm account that RECEIPT says has paid: root may have moved the job to another one since.
 * False: it says none. */
static bool take_payer(const char *receipt, char *name, size_t size)
{
	static const char prefix[] = "account:";
	struct json_object *o, *payers;
	const char *first = "";
	bool is;

	if (!strstr(receipt, "\"payers\""))
		return false;
	o = json_tokener_parse(receipt);
	if (json_object_object_get_ex(o, "payers", &payers) &&
	    json_object_is_type(payers, json_type_array) && json_object_array_length(payers))
		first = json_object_get_string(json_object_array_get_idx(payers, 0));
	is = first && !strncmp(first, prefix, strlen(prefix));
	if (is)
		snprintf(name, size, "%s", first + strlen(prefix));
	json_object_put(o);
	return is;
}

static int add_job(struct report *r, char **field, const struct auc_receipt *receipt)
{
	char payer[AUC_ACCOUNT_LEN];
	double hours;
	const char *gpu = gpu_of(receipt, &hours);
	struct group *g;

	if (take_payer(field[5], payer, sizeof(payer)))
		field[2] = payer;
	if (r->focus)
		return focus_add(&r->jobs, field, receipt, gpu, hours) ? 0 : EXIT_FAILURE;
	g = group_of(r, field, gpu);
	if (!g)
		return fail("out of memory");
	g->gpu_hours += hours;
	g->jobs++;
	g->live += strcmp(receipt->state, "settled") != 0;
	g->paid += receipt->payment;
	g->refunded += receipt->refund;
	return 0;
}

/* The kind of GPU of the plan, "" if it has none, and for how many hours it has how many of them:
 * as bought, however long the job ran. */
static const char *gpu_of(const struct auc_receipt *r, double *hours)
{
	const struct auc_named *tres = r->gang ? r->per_node : r->worker_tres;
	unsigned n = r->gang ? r->nper_node : r->nworker_tres, k = 0;
	double units = 0;

	*hours = 0;
	while (k < n && strncmp(tres[k].name, "gpu", 3))
		k++;
	if (k == n)
		return "";
	for (unsigned i = 0; i < r->nruns; i++)
		for (unsigned j = 0; j < r->runs[i].nshares; j++)
			units += tres[k].value * r->shares[r->runs[i].first_share + j].workers *
				 (double)(r->runs[i].to - r->runs[i].from + 1);
	*hours = units * r->slot_seconds / 3600;
	return tres[k].name;
}

/* FIELD as sacct prints it. NULL: no memory. */
static struct group *group_of(struct report *r, char **field, const char *gpu)
{
	const char *key[NKEYS] = {field[1], field[2], field[3], field[4], gpu};
	struct group *g;

	if (strlen(field[4]) > 7)
		field[4][7] = '\0'; /* 2026-11 */
	for (unsigned k = 0; k < NKEYS; k++)
		if (!r->by[k])
			key[k] = "";
	for (unsigned i = 0; i < r->n; i++) {
		unsigned k = 0;

		while (k < NKEYS && !strcmp(r->groups[i].key[k], key[k]))
			k++;
		if (k == NKEYS)
			return &r->groups[i];
	}
	if (r->n == r->alloc) {
		unsigned alloc = r->alloc ? 2 * r->alloc : 64;
		struct group *groups = realloc(r->groups, alloc * sizeof(*groups));

		if (!groups)
			return NULL;
		r->groups = groups;
		r->alloc = alloc;
	}
	g = &r->groups[r->n];
	memset(g, 0, sizeof(*g));
	for (unsigned k = 0; k < NKEYS; k++)
		if (!(g->key[k] = strdup(key[k])))
			return NULL;
	r->n++;
	return g;
}

static int by_key(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int d = 0;

	for (unsigned k = 0; k < NKEYS && !d; k++)
		d = strcmp(x->key[k], y->key[k]);
	return d;
}

static int print(struct report *r, const struct sauction *s)
{
	struct rows rows = {.ncolumns = 10,
			    .columns = {"user", "account", "partition", "month", "gpu", "jobs",
					"live", "paid", "refunded", "gpu_hours"},
			    .nothing =
				    "Slurm's accounting shows you no job with a bid in that time"};
	char format[128] = "";
	struct rows_options options = s->table;

	if (r->n)
		qsort(r->groups, r->n, sizeof(*r->groups), by_key);
	for (unsigned i = 0; i < r->n; i++) {
		const struct group *g = &r->groups[i];
		char jobs[24], live[24], paid[AUC_MONEY_LEN], refunded[AUC_MONEY_LEN], hours[40];

		snprintf(jobs, sizeof(jobs), "%" PRIu64, g->jobs);
		snprintf(live, sizeof(live), "%" PRIu64, g->live);
		snprintf(hours, sizeof(hours), "%.3f", g->gpu_hours);
		if (!rows_add(&rows, g->key[USER], g->key[ACCOUNT], g->key[PARTITION],
			      g->key[MONTH], g->key[GPU], jobs, live, auc_money_str(g->paid, paid),
			      auc_money_str(g->refunded, refunded), hours))
			return EXIT_FAILURE;
	}
	for (unsigned k = 0; k < NKEYS; k++)
		if (r->by[k])
			snprintf(format + strlen(format), sizeof(format) - strlen(format), "%s,",
				 keys[k]);
	strcat(format, "jobs,live,paid,refunded,gpu_hours");
	if (!options.format)
		options.format = format;
	return rows_print(&rows, &options);
}
