/* secrets.c - see secrets.h. */
#include "config.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "adapter/secrets.h"
#include "input/bid.h"

#define WHITE     " \t\r\n\v\f"
#define SHORTEST  2 /* letters of an abbreviation: of fewer, sbatch itself has other options */
#define NAME_SIZE 64

static void blank(char *text, size_t len);
static void blank_options(char *text, bool script, bool *next);
static char *value_of_option(char *word, bool *next);
static bool is_secret_option(const char *name, size_t len);
static void blank_assignments(char *text);
static void blank_script(char *script);
static void blank_variable(char *variable);
static bool is_secret_name(const char *name, size_t len, bool option);

void auc_desc_forget_secrets(job_desc_msg_t *desc)
{
	char **lists[] = {desc->spank_job_env, desc->environment};
	uint32_t sizes[] = {desc->spank_job_env_size, desc->env_size};
	bool next = false;

	for (unsigned l = 0; l < 2; l++)
		for (uint32_t i = 0; lists[l] && i < sizes[l]; i++)
			if (lists[l][i])
				blank_variable(lists[l][i]);
	if (desc->submit_line) {
		blank_options(desc->submit_line, false, &next);
		blank_assignments(desc->submit_line);
	}
	if (desc->script)
		blank_script(desc->script);
}

static void blank(char *text, size_t len)
{
	memset(text, ' ', len);
}

/* The values of secret options among the words of TEXT, a line of a SCRIPT or not. NEXT: the first
 * word is such a value; then, whether the word that would follow is. */
static void blank_options(char *text, bool script, bool *next)
{
	bool later = false;

	for (char *p = text; *(p += strspn(p, WHITE)); p += strcspn(p, WHITE)) {
		size_t len = strcspn(p, WHITE);
		char *value;

		/* What is left of the line is a comment: the value follows in another. */
		if (*next && script && *p == '#') {
			later = true;
			*next = false;
		}
		if (*next) {
			/* A backslash at the end of a line is no word. */
			*next = strspn(p, "\\") == len;
			blank(p, len);
			continue;
		}
		value = value_of_option(p, next);
		if (value)
			blank(value, strcspn(value, WHITE));
	}
	*next |= later;
}

/*
 * Where the value of the option in WORD is; NULL: WORD has none, and with NEXT it is the next word.
 * In a script there may be quotes and backslashes anywhere, which do not count, and a comment may
 * follow at once.
 */
static char *value_of_option(char *word, bool *next)
{
	char name[NAME_SIZE];
	size_t n = 0;
	char *p;

	for (p = word; *p && *p != '=' && *p != '#' && !strchr(WHITE, *p); p++)
		if (!strchr("\"'\\", *p) && n < sizeof(name))
			name[n++] = *p;
	if (n == sizeof(name) || n < 2 || memcmp(name, "--", 2) ||
	    !is_secret_option(name + 2, n - 2))
		return NULL;
	*next = *p != '=';
	return *next ? NULL : p + 1;
}

static bool is_secret_option(const char *name, size_t len)
{
	for (unsigned i = 0; len >= SHORTEST && i < auc_bid_nkeys; i++)
		if (auc_bid_key_is_secret(i) && len <= strlen(auc_bid_keys[i].key) &&
		    !memcmp(name, auc_bid_keys[i].key, len))
			return true;
	return false;
}

/* A variable in the value of something else, as in --export=SLURM_AUCTION_BID=300. A bid's text has
 * white space, so there is no telling where it ends. */
static void blank_assignments(char *text)
{
	for (unsigned i = 0; i < auc_bid_nkeys; i++) {
		size_t len = strlen(auc_bid_keys[i].env);
		char *p = text;

		while (auc_bid_key_is_secret(i) && (p = strstr(p, auc_bid_keys[i].env))) {
			p += len;
			if (*p == '=')
				blank(p + 1, strlen(p + 1));
		}
	}
}

/* In the lines that sbatch reads: it makes one line of them, in which no white space need follow
 * the mark, and an option's value may stand in the line after. */
static void blank_script(char *script)
{
	static const char mark[] = "#SBATCH";
	char *line, *end;
	bool next = false;

	for (line = script; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (strncmp(line, mark, strlen(mark)))
			continue;
		if (end)
			*end = '\0';
		line += strlen(mark);
		blank_options(line, true, &next);
		blank_assignments(line);
		if (end)
			*end = '\n';
	}
}

/* Of a user's own variables nothing is known, and nobody else sees them. */
static void blank_variable(char *variable)
{
	static const char *const slurms[] = {"SLURM_", "_SLURM_", "SBATCH_", "SPANK_", "SALLOC_"};
	char *value = strchr(variable, '=');
	size_t len = value ? (size_t)(value - variable) : 0;
	bool is_slurms = false, next = false;

	for (size_t i = 0; i < sizeof(slurms) / sizeof(*slurms); i++)
		is_slurms |= !strncmp(variable, slurms[i], strlen(slurms[i]));
	if (!value || !is_slurms)
		return;
	value++;
	if (is_secret_name(variable, len, false)) {
		blank(value, strlen(value));
		*value = '\0';
	} else if (is_secret_name(variable, len, true) && *value) {
		/* How sbatch hands the option itself on: its value must still be one. */
		blank(value, strlen(value));
		memcpy(value, "0", 2);
	} else {
		blank_options(value, false, &next);
		blank_assignments(value);
	}
}

/* True if NAME ends like the variable of a secret key, or like that of its OPTION. */
static bool is_secret_name(const char *name, size_t len, bool option)
{
	static const char prefix[] = "_SLURM_SPANK_OPTION_auction_";

	for (unsigned i = 0; i < auc_bid_nkeys; i++) {
		const struct auc_bid_key *k = &auc_bid_keys[i];
		char end[sizeof(prefix) + NAME_SIZE];
		size_t n;

		if (!auc_bid_key_is_secret(i))
			continue;
		n = (size_t)(stpcpy(stpcpy(end, option ? prefix : ""), option ? k->key : k->env) -
			     end);
		for (size_t c = option ? sizeof(prefix) - 1 : n; c < n; c++)
			if (end[c] == '-')
				end[c] = '_';
		if (len >= n && !memcmp(name + len - n, end, n))
			return true;
	}
	return false;
}
