/*
 * main.c - "sbid": what a user has bid, bought, paid and got back. It works for ordinary users on
 * any host: receipts come from Slurm's accounting (sacct), prices, balances and refusals from
 * slurmctld by way of sbatch, as the answer to a submission that becomes no job. slurmctld knows
 * who asks, so nobody is told of another's. See sbid(1).
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/file.h"
#include "base/json.h"
#include "input/bid.h"
#include "ledger/receipt.h"
#include "ledger/why.h"
#include "sauction/ask.h"
#include "sauction/given.h"
#include "sauction/rows.h"
#include "sbid/block.h"
#include "sbid/profile.h"

#define ARGS_MAX 256
#define COMMANDS (sizeof(commands) / sizeof(*commands))
#define LETTERS  "A:o:nPVh"
/* What sacct puts between fields: the name of a job, which may be anything, is the last. */
#define SEPARATOR "\x1f"
#define USAGE     "Usage: sbid [OPTIONS] [COMMAND]\n"
#define TABLE     "format,noheader,parsable,json"

enum { OPT_JSON = 256, OPT_SINCE, OPT_USAGE };

struct sbid {
	struct rows_options table;
	const char *since, *account;
	uint64_t given; /* options: given.h */
};

/* One row of sacct. */
struct job {
	char *id, *name, *state, *receipt;
	struct auc_receipt r;
};

static int options_parse(struct sbid *s, int argc, char **argv, const char *letters);
static void help(void);
static int command_list(const struct sbid *s, int argc, char **argv);
static int command_show(const struct sbid *s, int argc, char **argv);
static int command_balance(const struct sbid *s, int argc, char **argv);
static int command_why(const struct sbid *s, int argc, char **argv);
static int command_quote(const struct sbid *s, int argc, char **argv);
static int command_cancel(const struct sbid *s, int argc, char **argv);
static int command_profile(const struct sbid *s, int argc, char **argv);
static int command_block(const struct sbid *s, int argc, char **argv);
static bool take_job(char *line, struct job *job);
static void rows_of_jobs(struct rows *r);
static bool add_row(struct rows *r, const struct job *job);
static bool take_task(struct rows *r, char *line, const char *id);
static bool add_held(struct rows *r, const char *user);
static bool take_held(const char *id, struct job *job, char **text);
static void show_receipt(const struct sbid *s, const struct job *job);
static void plan_times(const struct auc_receipt *r, char start[32], char stop[32]);
static bool has_ended(const struct job *job);
static void show_why(const char *why);
static void show_stood(const char *why);
static void show_waiting(const struct job *job);
static void time_of(double when, char *text, size_t size);
static void show_plan(const struct auc_receipt *r);
static bool is_job(const char *text);
static bool is_task(const char *text);
static int show_tasks(const struct sbid *s, struct rows *r, const char *id);
static char *record_of(FILE *in, const char *id);

static const struct {
	const char *name;
	int (*run)(const struct sbid *s, int argc, char **argv);
	bool has_options;  /* of its own, and those of sbatch or salloc */
	const char *takes; /* the names of options before these */
} commands[] = {
	{"list", command_list, false, TABLE ",since"},
	{"show", command_show, false, TABLE},
	{"why", command_why, false, TABLE ",account"},
	{"balance", command_balance, false, TABLE ",account"},
	{"cancel", command_cancel, false, ""},
	{"quote", command_quote, true, "json"},
	{"profile", command_profile, true, "json"},
	{"block", command_block, true, "json"},
};

static const struct option options[] = {
	{"account", required_argument, NULL, 'A'}, {"format", required_argument, NULL, 'o'},
	{"noheader", no_argument, NULL, 'n'},      {"parsable", no_argument, NULL, 'P'},
	{"json", no_argument, NULL, OPT_JSON},     {"since", required_argument, NULL, OPT_SINCE},
	{"version", no_argument, NULL, 'V'},       {"usage", no_argument, NULL, OPT_USAGE},
	{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	struct sbid s = {.since = "now-30days"};
	const char *name = "list";
	struct auc_err err;
	size_t i = 0;
	int code;

	auc_output_begin();
	code = options_parse(&s, argc, argv, "+" LETTERS);
	if (code >= 0)
		return code;
	if (optind < argc)
		name = argv[optind];
	while (i < COMMANDS && strcmp(name, commands[i].name))
		i++;
	if (i == COMMANDS)
		return fail("'%s': no such command; sbid --help lists them", name);
	if (!commands[i].has_options) {
		optind = 0; /* from the beginning */
		code = options_parse(&s, argc, argv, LETTERS);
		if (code >= 0)
			return code;
	}
	if (given_refuse(options, s.given, commands[i].takes, name) ||
	    given_one_of(options, s.given, "json,parsable"))
		return EXIT_FAILURE;
	argc -= optind;
	argv += optind;
	code = commands[i].run(&s, argc ? argc - 1 : 0, argv + 1);
	if (auc_output_end(&err) != AUC_OK)
		return fail("%s", err.text);
	return code;
}

/* Returns an exit code, or -1 to go on. With a '+' in LETTERS what follows the first word is left
 * alone. */
static int options_parse(struct sbid *s, int argc, char **argv, const char *letters)
{
	struct auc_err err;
	int c;

	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		s->given |= given_bit(options, c);
		switch (c) {
		case 'A':
			s->account = optarg;
			break;
		case 'o':
			s->table.format = optarg;
			break;
		case 'n':
			s->table.noheader = true;
			break;
		case 'P':
			s->table.parsable = true;
			break;
		case OPT_JSON:
			s->table.json = true;
			break;
		case OPT_SINCE:
			s->since = optarg;
			break;
		case 'V':
			printf("slurm-auction %s\n", PACKAGE_VERSION);
			return auc_output_end(&err) == AUC_OK ? EXIT_SUCCESS : fail("%s", err.text);
		case OPT_USAGE:
		case 'h':
			fputs(USAGE, stdout);
			if (c == 'h')
				help();
			return auc_output_end(&err) == AUC_OK ? EXIT_SUCCESS : fail("%s", err.text);
		default:
			fprintf(stderr, "Try \"sbid --help\" for more information\n");
			return AUC_EXIT_USAGE;
		}
	}
	return -1;
}

static void help(void)
{
	fputs("What you have bid, bought, paid and got back.\n"
	      "\n"
	      "  list                    your jobs of the auction (the default)\n"
	      "  show JOB                one of them: plan, payment, what happened\n"
	      "  why [last|JOB]          why your last bid was refused; what became of a job\n"
	      "  balance                 what is left of the money that you bid with\n"
	      "  quote [SBATCH-OPTIONS] SCRIPT  what a bid would cost; submits nothing\n"
	      "  block [OPTIONS]         buys nodes for a time, in which jobs run without bids;\n"
	      "                          'sbid block --help' says more\n"
	      "  cancel JOB              gives a job or a block up\n"
	      "  profile [OPTIONS] -- COMMAND  times its mini-batches in a short trial\n"
	      "                          'sbid profile --help' says more\n"
	      "\n"
	      "  -A, --account=NAME   balance: of a job for that account\n"
	      "  -o, --format=LIST    columns, by name, separated by commas;\n"
	      "                       NAME%WIDTH: that wide, as sacct takes it\n"
	      "  -n, --noheader       no line of headings\n"
	      "  -P, --parsable       columns separated by '|'\n"
	      "      --json           the same as JSON\n"
	      "      --since=TIME     list: of jobs from then on, as sacct takes it\n"
	      "                       (now-30days)\n"
	      "  -V, --version\n"
	      "      --usage          one line of this\n"
	      "  -h, --help\n",
	      stdout);
}

int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("sbid: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

static int command_profile(const struct sbid *s, int argc, char **argv)
{
	return profile_command(s->table.json, argc, argv);
}

static int command_block(const struct sbid *s, int argc, char **argv)
{
	bool is_help = argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"));
	const char *words[ARGS_MAX];
	int n;

	if (!block_is_quote(argc, argv) || is_help)
		return s->table.json && !is_help ? fail("--json: block takes it with --quote only")
						 : block_command(argc, argv);
	n = block_words(argc, argv, words, ARGS_MAX - 1);
	return n < 0 ? EXIT_FAILURE : command_quote(s, n, (char **)words);
}

/* -- receipts -- */

static int command_list(const struct sbid *s, int argc, char **argv)
{
	const struct passwd *pw = getpwuid(getuid());
	const char *sacct[] = {"sacct", "-X",
			       "-D",    "-n",
			       "-P",    "--delimiter=" SEPARATOR,
			       "-u",    pw ? pw->pw_name : "?",
			       "-S",    s->since,
			       "-E",    "now+3650days",
			       "-o",    "JobID,State,AdminComment,JobName",
			       NULL};
	struct rows r;
	char *line = NULL;
	size_t size = 0;
	struct job job;
	bool good = true, held;
	FILE *in;
	pid_t pid;

	(void)argv;
	if (argc)
		return fail("list: no argument was expected");
	rows_of_jobs(&r);
	in = ask_run(sacct, STDOUT_FILENO, &pid);
	if (!in)
		return EXIT_FAILURE;
	while (good && getline(&line, &size, in) > 0) {
		if (!take_job(line, &job))
			continue;
		/* What waits for its bid, and blocks, slurmctld is asked for. */
		if ((strcmp(job.r.state, "waiting") && !job.r.block) ||
		    strcmp(job.state, "PENDING"))
			good = add_row(&r, &job);
		auc_receipt_clear(&job.r);
	}
	free(line);
	fclose(in);
	if (ask_end(pid))
		return fail("sacct failed");
	/* What the accounting knows is shown even if slurmctld does not answer. */
	held = good && add_held(&r, pw ? pw->pw_name : "?");
	if (!good || rows_print(&r, &s->table))
		return EXIT_FAILURE;
	fflush(stdout);
	return held ? EXIT_SUCCESS
		    : fail("bids that stand and blocks are missing here, as slurmctld does not "
			   "say which there are");
}

static void rows_of_jobs(struct rows *r)
{
	*r = (struct rows){
		.ncolumns = 8,
		.columns = {"job", "name", "state", "sale", "start", "end", "paid", "back"},
		.nothing = "Slurm's accounting has no job of yours with a bid, of the last 30 days "
			   "or since --since"};
}

static bool add_row(struct rows *r, const struct job *job)
{
	char start[32], stop[32], paid[AUC_MONEY_LEN], back[AUC_MONEY_LEN];
	const char *sale = *job->r.why ? job->r.why : job->r.state;

	plan_times(&job->r, start, stop);
	/* The database keeps what a task that never became a job said when it was withdrawn, and for
	 * some seconds what a bid said that has been sold since. */
	if (!strcmp(sale, "waiting") && strcmp(job->state, "PENDING")) {
		sale = strncmp(job->state, "CANCELLED", 9) ? "sold" : "cancelled";
		*stop = '\0';
	}
	return rows_add(r, job->id, job->name, job->state, sale, start, stop,
			auc_money_str(job->r.payment, paid), auc_money_str(job->r.refund, back));
}

/* The jobs of USER that are held as their bids stand, or are of blocks: the accounting does not
 * list them yet. */
static bool add_held(struct rows *r, const char *user)
{
	const char *squeue[] = {"squeue", "-h", "-u", user, "-t", "PD", "-o", "%A|%r", NULL};
	char *line = NULL, *text;
	size_t size = 0;
	struct job job;
	bool good = true;
	FILE *in;
	pid_t pid;

	in = ask_run(squeue, STDOUT_FILENO, &pid);
	if (!in)
		return false;
	while (good && getline(&line, &size, in) > 0) {
		if (!strstr(line, "|JobHeld"))
			continue;
		*strchr(line, '|') = '\0';
		if (!is_job(line) || !take_held(line, &job, &text))
			continue;
		good = add_row(r, &job);
		auc_receipt_clear(&job.r);
		free(text);
	}
	free(line);
	fclose(in);
	return !ask_end(pid) && good;
}

/* What slurmctld says of job ID, if its bid stands or it is a block's. JOB is in *TEXT, malloc'd;
 * false: it does not.
 */
static bool take_held(const char *id, struct job *job, char **text)
{
	const char *scontrol[] = {"sh", "-c", "exec scontrol -o show job \"$0\" 2>&1", id, NULL};
	char *record, *receipt, *name, *stop, *tasks, *row = NULL;
	bool good = false;
	FILE *in;
	pid_t pid;

	*text = NULL;
	in = ask_run(scontrol, STDOUT_FILENO, &pid);
	record = in ? record_of(in, id) : NULL;
	/* Receipts have no blanks. */
	receipt = record ? strstr(record, " AdminComment={") : NULL;
	name = record ? strstr(record, " JobName=") : NULL;
	stop = name ? strstr(name, " UserId=") : NULL;
	tasks = record ? strstr(record, " ArrayTaskId=") : NULL;
	if (stop)
		*stop = '\0';
	if (receipt && stop &&
	    asprintf(&row, "%s%s%.*s%s" SEPARATOR "PENDING" SEPARATOR "%.*s" SEPARATOR "%.*s", id,
		     tasks ? "_[" : "", tasks ? (int)strcspn(tasks + 13, " %") : 0,
		     tasks ? tasks + 13 : "", tasks ? "]" : "", (int)strcspn(receipt + 14, " \n"),
		     receipt + 14, (int)strcspn(name + 9, "\n"), name + 9) >= 0)
		good = take_job(row, job);
	if (good && strcmp(job->r.state, "waiting") && !job->r.block) {
		auc_receipt_clear(&job->r);
		good = false;
	}
	free(record);
	if (in) {
		fclose(in);
		ask_end(pid);
	}
	if (good)
		*text = row;
	else
		free(row);
	return good;
}

/* The record of the number ID, malloc'd; NULL: IN, which is scontrol's, has none. Of an array it
 * prints its tasks, too; names may have lines' ends in them. What it complains of is passed on, but
 * that there is no such job. */
static char *record_of(FILE *in, const char *id)
{
	char *line = NULL, *record = NULL, *more;
	size_t size = 0, n = strlen(id);
	bool any = false;

	while (getline(&line, &size, in) > 0) {
		if (!strncmp(line, "JobId=", 6)) {
			if (record)
				break;
			any = true;
			if (!strncmp(line + 6, id, n) && !isdigit((unsigned char)line[6 + n]))
				record = strdup(line);
		} else if (record && asprintf(&more, "%s%s", record, line) >= 0) {
			free(record);
			record = more;
		} else if (!any && !strstr(line, "Invalid job id")) {
			fputs(line, stderr);
		}
	}
	free(line);
	return record;
}

/* Of a bid that stands nobody knows a start, and its end is that of its standing. */
static void plan_times(const struct auc_receipt *r, char start[32], char stop[32])
{
	if (auc_receipt_is_waiting(r)) {
		start[0] = stop[0] = '\0';
		/* Of an array it is when it would be given up. */
		if (!r->tasks)
			time_of(r->until, stop, 32);
		return;
	}
	time_of(r->slot_seconds * (double)r->start, start, 32);
	time_of(r->slot_seconds * (double)r->completion, stop, 32);
}

static int command_show(const struct sbid *s, int argc, char **argv)
{
	struct rows r;
	unsigned tasks = 0;
	const char *sacct[] = {"sacct", "-X",
			       "-D",    "-n",
			       "-P",    "--delimiter=" SEPARATOR,
			       "-j",    argc ? argv[0] : "",
			       "-S",    "1970-01-02",
			       "-E",    "now+3650days",
			       "-o",    "JobID,State,AdminComment,JobName",
			       NULL};
	char *line = NULL, *text = NULL, *held = NULL;
	size_t size = 0;
	struct job job;
	int code = EXIT_FAILURE;
	FILE *in;
	pid_t pid;

	if (argc != 1 || !is_job(argv[0]))
		return fail("show: expected the number of a job");
	rows_of_jobs(&r);
	in = ask_run(sacct, STDOUT_FILENO, &pid);
	if (!in)
		return EXIT_FAILURE;
	/* The last row is the newest. */
	while (getline(&line, &size, in) > 0) {
		/* The rest of a name with a line's end in it. */
		if (!strstr(line, SEPARATOR))
			continue;
		free(text);
		text = strdup(line);
		tasks += take_task(&r, line, argv[0]);
	}
	fclose(in);
	free(line);
	if (ask_end(pid)) {
		fail("sacct failed");
	} else if (tasks) {
		code = show_tasks(s, &r, argv[0]);
	} else if ((text && take_job(text, &job)) || take_held(argv[0], &job, &held)) {
		show_receipt(s, &job);
		auc_receipt_clear(&job.r);
		code = EXIT_SUCCESS;
	} else {
		fail("job %s: Slurm's accounting shows you no receipt of it", argv[0]);
	}
	rows_free(&r);
	free(text);
	free(held);
	return code;
}

/* LINE of sacct, which is taken apart, becomes a row if it is of ID; true if that is an array. */
static bool take_task(struct rows *r, char *line, const char *id)
{
	struct job job;
	size_t n = strlen(id);
	bool is = line[n] == '_';

	if (strcspn(line, "_" SEPARATOR) != n || strncmp(line, id, n) || !take_job(line, &job))
		return false;
	if (strcmp(job.r.state, "waiting") || strcmp(job.state, "PENDING"))
		is = add_row(r, &job) && is;
	auc_receipt_clear(&job.r);
	return is;
}

/* R, those of the array ID that have become jobs or nothing, and those that wait. */
static int show_tasks(const struct sbid *s, struct rows *r, const char *id)
{
	struct job job;
	char *held;

	if (take_held(id, &job, &held)) {
		add_row(r, &job);
		auc_receipt_clear(&job.r);
		free(held);
	}
	return rows_print(r, &s->table);
}

static void show_receipt(const struct sbid *s, const struct job *job)
{
	char paid[AUC_MONEY_LEN], back[AUC_MONEY_LEN];
	const struct auc_receipt *r = &job->r;

	if (s->table.json) {
		puts(job->receipt);
		return;
	}
	if (auc_receipt_is_waiting(r)) {
		show_waiting(job);
		return;
	}
	printf("job %s (%s): %s\n", job->id, job->name, job->state);
	printf("sale %s: %s%s%s\n", r->sale, r->state, *r->why ? ", " : "", r->why);
	show_why(r->why);
	printf("pays %s%s%s\n", auc_money_str(r->payment, paid), r->refund ? ", got back " : "",
	       r->refund ? auc_money_str(r->refund, back) : "");
	if (r->planned > 0)
		printf("planned for %.4g times the time that it states\n", r->planned);
	show_plan(r);
	if (!strcmp(r->state, "settled"))
		return;
	if (has_ended(job)) {
		puts("it has ended; what it gets back is about to be settled");
		return;
	}
	if (r->block)
		printf("a block: jobs with --reservation=auction_block_%s run in it\n", job->id);
	printf("sbid cancel %s gives it up\n", job->id);
}

/* By what sacct says of it. */
static bool has_ended(const struct job *job)
{
	static const char *const live[] = {"PENDING",  "RUNNING",    "SUSPENDED",  "REQUEUED",
					   "RESIZING", "COMPLETING", "CONFIGURING"};

	for (size_t i = 0; i < sizeof(live) / sizeof(*live); i++)
		if (!strcmp(job->state, live[i]))
			return false;
	return true;
}

/* In words, where one word is not enough. */
static void show_why(const char *why)
{
	const char *says = auc_why_says(why);

	if (*says)
		printf("%s\n", says);
}

static void show_stood(const char *why)
{
	printf("the bid stood and was not sold: %s; paid nothing\n", why);
	show_why(why);
}

static void show_waiting(const struct job *job)
{
	char until[32];

	time_of(job->r.until, until, sizeof(until));
	printf("job %s (%s): %s\n", job->id, job->name, job->state);
	if (*job->r.why && job->r.tasks)
		printf("%u task%s not sold: %s; paid nothing; \"sbid why\" may say more\n",
		       job->r.tasks, job->r.tasks == 1 ? " was" : "s were", job->r.why);
	else if (job->r.tasks)
		printf("these tasks are decided one after another and have bought nothing yet\n"
		       "sbid cancel %.*s withdraws them\n",
		       (int)strcspn(job->id, "_"), job->id);
	else if (*job->r.why)
		show_stood(job->r.why);
	else
		printf("the bid stands until %s and has bought nothing yet\n"
		       "sbid cancel %s withdraws it\n",
		       until, job->id);
}

/* By time and node, in words. */
static void show_plan(const struct auc_receipt *r)
{
	for (unsigned i = 0; i < r->nruns; i++) {
		const struct auc_receipt_run *run = &r->runs[i];
		char from[32], to[32];

		time_of(r->slot_seconds * (double)run->from, from, sizeof(from));
		time_of(r->slot_seconds * (double)(run->to + 1), to, sizeof(to));
		printf("%s to %s:", from, to);
		for (unsigned k = 0; k < run->nshares; k++) {
			const struct auc_receipt_share *share = &r->shares[run->first_share + k];

			printf("%s %s", k ? "," : "", share->server);
			if (!r->gang && share->workers)
				printf(" %u x %s", share->workers, r->worker_type);
			if (!r->gang && share->ps)
				printf(" %u x %s", share->ps, r->ps_type);
		}
		putchar('\n');
	}
}

/* LINE of sacct is taken apart in place; false: it is no sale's. */
static bool take_job(char *line, struct job *job)
{
	char **field[] = {&job->id, &job->state, &job->receipt, &job->name};

	line[strcspn(line, "\n")] = '\0';
	for (unsigned k = 0; k < 4; k++) {
		if (!line)
			return false;
		*field[k] = line;
		line = k < 3 ? strchr(line, *SEPARATOR) : NULL;
		if (line)
			*line++ = '\0';
	}
	if (!auc_receipt_is(job->receipt) ||
	    auc_receipt_parse(job->receipt, &job->r, NULL) != AUC_OK)
		return false;
	if (strcmp(job->r.state, "member"))
		return true;
	auc_receipt_clear(&job->r);
	return false;
}

/* -- what slurmctld is asked -- */

static int command_balance(const struct sbid *s, int argc, char **argv)
{
	struct rows r = {.ncolumns = 4, .columns = {"account", "in", "out", "held"}};
	struct json_object *o, *list = NULL, *left = NULL, *problem = NULL;
	size_t n = 0;
	bool good = true;
	int code;

	(void)argv;
	if (argc)
		return fail("balance: no argument was expected");
	o = ask_slurmctld("balance", s->account);
	if (!o)
		return EXIT_FAILURE;
	json_object_object_get_ex(o, "left", &left);
	if (json_object_object_get_ex(o, "accounts", &list) &&
	    json_object_is_type(list, json_type_array))
		n = json_object_array_length(list);
	for (size_t i = 0; good && i < n; i++) {
		struct json_object *a = json_object_array_get_idx(list, i);

		good = rows_add(&r, json_object_get_string(json_object_object_get(a, "account")),
				json_object_get_string(json_object_object_get(a, "in")),
				json_object_get_string(json_object_object_get(a, "out")),
				json_object_get_string(json_object_object_get(a, "held")));
	}
	if (json_object_object_get_ex(o, "problem", &problem) && *json_object_get_string(problem))
		code = fail("%s", json_object_get_string(problem));
	else if (s->table.json)
		code = puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY)) < 0;
	else if (!left)
		code = puts("You are held to no budget.") < 0;
	else
		code = printf("%s is left\n", json_object_get_string(left)) < 0 ||
		       rows_print(&r, &s->table);
	rows_free(&r);
	json_object_put(o);
	return code;
}

static int command_why(const struct sbid *s, int argc, char **argv)
{
	struct json_object *o, *when = NULL;
	const char *text;
	char at[32];

	if (argc == 1 && is_job(argv[0]))
		return command_show(s, argc, argv);
	if (argc > 1 || (argc && strcmp(argv[0], "last")))
		return fail("why: expected last, or nothing, or the number of a job");
	o = ask_slurmctld("why", s->account);
	if (!o)
		return EXIT_FAILURE;
	text = json_object_get_string(json_object_object_get(o, "text"));
	if (s->table.json) {
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	} else if (!text || !*text) {
		puts("No refused bid of yours is known.");
	} else {
		json_object_object_get_ex(o, "when", &when);
		time_of(json_object_get_double(when), at, sizeof(at));
		printf("%s\n%s\n", at, text);
	}
	json_object_put(o);
	return EXIT_SUCCESS;
}

static int command_quote(const struct sbid *s, int argc, char **argv)
{
	const char *sbatch[ARGS_MAX + 3] = {"sbatch", "--quote"};
	struct json_object *list = json_object_new_array();
	char *line = NULL, *last = NULL, *p;
	size_t size = 0;
	unsigned told = 0;
	bool answered = false;
	FILE *in;
	pid_t pid;

	if (!argc || argc > ARGS_MAX)
		return fail("quote: expected a script, after the options of sbatch");
	for (int i = 0; i < argc; i++)
		sbatch[i + 2] = argv[i];
	in = ask_run(sbatch, STDERR_FILENO, &pid);
	if (!in) {
		json_object_put(list);
		return EXIT_FAILURE;
	}
	while (getline(&line, &size, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		p = strstr(line, "auction: ");
		/* What else sbatch says is that this was no submission, or what was wrong. */
		if (p &&
		    (!strncmp(p, "auction: would", 14) || !strncmp(p, "auction: offered", 16) ||
		     !strncmp(p, "auction: refused", 16)))
			told++;
		if (p && s->table.json)
			json_object_array_add(list,
					      json_object_new_string(p + strlen("auction: ")));
		else if (p)
			puts(p + strlen("auction: "));
		else if (!told && strstr(line, "submission failed") && !last)
			last = strdup(line);
		else if (!told)
			fprintf(stderr, "%s\n", line);
		answered |= p != NULL;
	}
	/* Slurm's word for what the auction has said; or the reason why it was not asked. */
	if (last && !answered)
		fprintf(stderr, "%s\n", last);
	free(last);
	free(line);
	fclose(in);
	ask_end(pid);
	if (s->table.json)
		puts(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY));
	json_object_put(list);
	return told ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int command_cancel(const struct sbid *s, int argc, char **argv)
{
	const char *squeue[] = {"squeue", "-h", "-o", "%i", "-j", argc ? argv[0] : "", NULL};
	bool queued = false;
	pid_t pid;
	FILE *in;
	int c;

	(void)s;
	if (argc != 1 || !is_job(argv[0]))
		return fail("cancel: expected the number of a job");
	/* scancel says nothing of a job that there is not. */
	in = ask_run(squeue, STDOUT_FILENO, &pid);
	if (!in)
		return EXIT_FAILURE;
	while ((c = getc(in)) != EOF)
		queued = true;
	fclose(in);
	if (ask_end(pid))
		return fail("cancel: squeue finds no job %s of yours", argv[0]);
	if (!queued)
		return fail("cancel: job %s has ended", argv[0]);
	execlp("scancel", "scancel", argv[0], (char *)NULL);
	return fail("scancel: %s", strerror(errno));
}

static void time_of(double when, char *text, size_t size)
{
	time_t t = (time_t)when;
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&t, &tm))
		strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm);
}

/* "12", or a task of an array, "12_3". */
static bool is_job(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n && (!text[n] || is_task(text));
}

static bool is_task(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return text[n] == '_' && text[n + 1] &&
	       strspn(text + n + 1, "0123456789") == strlen(text + n + 1);
}
