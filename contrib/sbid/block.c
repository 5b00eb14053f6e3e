/* block.c - see block.h. */
#include "config.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "input/bid.h"
#include "sauction/ask.h"
#include "sauction/rows.h"
#include "sbid/block.h"

#define ARGS_MAX 256
#define WAIT     20 /* seconds for the reservation to be there */

static int help(void);
static bool add_users(char *text, const char *list);
static bool add_accounts(char *text, const char *list);
static bool add_word(char *text, const char *word);
static bool set_bid(const char *users);
static int show_reservation(const char *job);
static bool find_reservation(const char *name, char **line);
static const char *word_of(char *line, const char *key, char *text, size_t size);

int block_command(int argc, char **argv)
{
	const char *sbatch[ARGS_MAX] = {"sbatch"};
	char *line = NULL, *p, job[16] = "";
	size_t size = 0;
	FILE *in;
	pid_t pid;
	int n;

	if (argc && !strcmp(argv[0], "--help"))
		return help();
	n = block_words(argc, argv, sbatch + 1, ARGS_MAX - 2);
	if (n < 0)
		return EXIT_FAILURE;
	in = ask_run(sbatch, STDOUT_FILENO, &pid);
	if (!in)
		return EXIT_FAILURE;
	while (getline(&line, &size, in) > 0) {
		p = strstr(line, "Submitted batch job ");
		if (p)
			snprintf(job, sizeof(job), "%.*s", (int)strspn(p + 20, "0123456789"),
				 p + 20);
		else
			fputs(line, stdout);
	}
	free(line);
	fclose(in);
	if (ask_end(pid) || !*job)
		return EXIT_FAILURE;
	return show_reservation(job);
}

static int help(void)
{
	fputs("Usage: sbid block --nodes=N --time=TIME --bid=UTILITY|--max-price=CREDITS "
	      "[OPTIONS]\n"
	      "Buys whole nodes for a time, in which jobs with --reservation=auction_block_NUMBER\n"
	      "run without bids.\n"
	      "\n"
	      "      --users=USER,...      for these users, too\n"
	      "      --accounts=NAME,...   and for those who have these accounts now\n"
	      "      --quote               only say what it would cost\n"
	      "  other options of sbatch: --gpus-per-node, --begin, --partition, --account,\n"
	      "      --constraint, --nodelist, --exclude, --switches=1, --deadline\n",
	      stdout);
	return EXIT_SUCCESS;
}

int block_words(int argc, char **argv, const char **words, int max)
{
	char users[AUC_BLOCK_USERS_MAX + 4] = "yes";
	int n = 0;

	words[n++] = "--job-name=block";
	for (int i = 0; i < argc; i++) {
		if (n + 4 > max) {
			fail("block: too many options");
			return -1;
		}
		if (!strncmp(argv[i], "--users=", 8)       ? !add_users(users, argv[i] + 8)
		    : !strncmp(argv[i], "--accounts=", 11) ? !add_accounts(users, argv[i] + 11)
							   : (words[n++] = argv[i], false))
			return -1;
	}
	words[n++] = "--exclusive";
	words[n++] = "--output=/dev/null";
	words[n++] = "--wrap=exit 0";
	words[n] = NULL;
	return set_bid(users) ? n : -1;
}

bool block_is_quote(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--quote"))
			return true;
	return false;
}

/* By number: slurmctld asks nobody for a name. */
static bool add_users(char *text, const char *list)
{
	char *copy = strdup(list), *rest = copy, *name, number[16];
	const struct passwd *pw;
	bool good = copy;

	while (good && (name = strsep(&rest, ","))) {
		bool digits = *name && strspn(name, "0123456789") == strlen(name);

		pw = digits ? getpwuid((uid_t)strtoul(name, NULL, 10)) : getpwnam(name);
		if (!pw) {
			fail("--users: there is no user '%s'", name);
			good = false;
			break;
		}
		snprintf(number, sizeof(number), "%u", pw->pw_uid);
		good = add_word(text, number);
	}
	free(copy);
	return good;
}

static bool add_accounts(char *text, const char *list)
{
	char *copy = strdup(list), *rest = copy, *name, account[AUC_NAME_MAX + 1];
	bool good = copy;

	while (good && (name = strsep(&rest, ","))) {
		snprintf(account, sizeof(account), "@%s", name);
		if (!*name || strlen(name) >= AUC_NAME_MAX) {
			fail("--accounts: '%s' is no account", name);
			good = false;
		} else {
			good = add_word(text, account);
		}
	}
	free(copy);
	return good;
}

static bool add_word(char *text, const char *word)
{
	size_t len = strlen(text);

	if (len + strlen(word) + 2 > AUC_BLOCK_USERS_MAX) {
		fail("block: too many users and accounts; name an account that they have");
		return false;
	}
	sprintf(text + len, ",%s", word);
	return true;
}

/* Behind what the user has there as a default. */
static bool set_bid(const char *users)
{
	const char *env = auc_bid_keys[0].env, *old = getenv(env);
	char *text;
	bool good;

	/* What jobs have by default is none of its business, but for what they are worth. */
	for (unsigned key = 1; key < auc_bid_nkeys; key++)
		if (strcmp(auc_bid_keys[key].key, "max-price"))
			unsetenv(auc_bid_keys[key].env);
	if (asprintf(&text, "%s%sblock=%s", old ? old : "", old && *old ? " " : "", users) < 0)
		text = NULL;
	good = text && !setenv(env, text, 1);
	free(text);
	if (!good)
		fail("block: no memory");
	return good;
}

/* The reservation is there a moment after the sale. */
static int show_reservation(const char *job)
{
	const struct timespec pause = {.tv_nsec = 250000000};
	char name[64], nodes[1024], from[32], to[32], *line = NULL;
	time_t until = time(NULL) + WAIT;

	snprintf(name, sizeof(name), "auction_block_%s", job);
	while (!find_reservation(name, &line) && time(NULL) < until)
		nanosleep(&pause, NULL);
	printf("Block %s: ", job);
	if (line)
		printf("%s from %s to %s, for jobs with --reservation=%s\n",
		       word_of(line, " Nodes=", nodes, sizeof(nodes)),
		       word_of(line, " StartTime=", from, sizeof(from)),
		       word_of(line, " EndTime=", to, sizeof(to)), name);
	else
		printf("its reservation, %s, is not there yet\n", name);
	free(line);
	return EXIT_SUCCESS;
}

/* What scontrol says of it, malloc'd. */
static bool find_reservation(const char *name, char **line)
{
	const char *scontrol[] = {
		"sh", "-c", "exec scontrol -o show reservation \"$0\" 2>/dev/null", name, NULL};
	size_t size = 0;
	pid_t pid;
	FILE *in = ask_run(scontrol, STDOUT_FILENO, &pid);
	bool found = in && getline(line, &size, in) > 0 && strstr(*line, "ReservationName=");

	if (in) {
		fclose(in);
		ask_end(pid);
	}
	if (!found) {
		free(*line);
		*line = NULL;
	}
	return found;
}

/* The word behind KEY. */
static const char *word_of(char *line, const char *key, char *text, size_t size)
{
	const char *at = strstr(line, key);

	at = at ? at + strlen(key) : "?";
	snprintf(text, size, "%.*s", (int)strcspn(at, " \n"), at);
	return text;
}
