/* script_traps.c - see script_traps.h. */
#include "config.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/script_traps.h"

#define WORD_MAX 64

/* What is read of a shell's script. */
struct reading {
	const char *at;
	char end[WORD_MAX]; /* the line that ends the here-document of this line; "": it has none */
	bool tabs;          /* it may be indented by tabs */
	int sig;
	bool handled;
};

static bool shell_traps(const char *script, int sig);
static void read_line(struct reading *r);
static bool read_word(struct reading *r, char *word, size_t size);
static void read_trap(struct reading *r);
static void skip_here(struct reading *r);
static bool python_handles(const char *script, int sig);
static bool is_signal(const char *name, int sig);

/* The program that runs SCRIPT, without its folder, into NAME; false: none is named. */
static bool interpreter(const char *script, char *name, size_t size)
{
	size_t len = strcspn(script, "\r\n");
	char copy[256], *save, *word, *base;

	if (len < 2 || len >= sizeof(copy) || strncmp(script, "#!", 2) != 0)
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)len - 2, script + 2);
	word = strtok_r(copy, " \t", &save);
	if (word && (base = strrchr(word, '/')) && !strcmp(base, "/env"))
		do
			word = strtok_r(NULL, " \t", &save);
		while (word && *word == '-');
	if (!word)
		return false;
	base = strrchr(word, '/');
	snprintf(name, size, "%s", base ? base + 1 : word);
	return true;
}

bool auc_script_is_shell(const char *script)
{
	static const char *const shells[] = {"sh", "bash", "dash", "ksh", "zsh"};
	char name[256];

	if (!interpreter(script, name, sizeof(name)))
		return false;
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (!strcmp(name, shells[i]))
			return true;
	return false;
}

bool auc_script_traps(const char *script, int sig)
{
	char name[256];

	if (sig <= 0 || !script || !interpreter(script, name, sizeof(name)))
		return false;
	if (!strncmp(name, "python", 6))
		return python_handles(script, sig);
	return auc_script_is_shell(script) && shell_traps(script, sig);
}

/* -- shells -- */

static bool shell_traps(const char *script, int sig)
{
	struct reading r = {.at = script, .sig = sig};

	while (*r.at) {
		/* Functions, branches and loops may be left out; their lines are indented. */
		if (!strncmp(r.at, "trap", 4) && (r.at[4] == ' ' || r.at[4] == '\t')) {
			r.at += 4;
			read_trap(&r);
		}
		read_line(&r);
		if (!r.at)
			return false;
		if (*r.end)
			skip_here(&r);
	}
	return r.handled;
}

/* True if the word that follows PREVIOUS, the last one, is a command. */
static bool is_before_command(const char *previous)
{
	static const char *const words[] = {"then", "do", "else", "{", "!"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(previous, words[i]))
			return true;
	return false;
}

/* The rest of the line, and more of them where a quoted text or a backslash goes on. AT becomes
 * NULL where another program takes the place of the shell. */
static void read_line(struct reading *r)
{
	bool command = true, exec = false;
	char word[WORD_MAX];

	while (*r->at && *r->at != '\n') {
		if (!read_word(r, word, sizeof(word))) {
			command |= strchr(";&|()", r->at[-1]) != NULL;
			continue;
		}
		/* "exec > log" and "exec 3< file" only redirect. */
		if (exec && !strchr("<>{", *word) && !isdigit((unsigned char)*word)) {
			r->at = NULL;
			return;
		}
		exec = command && !strcmp(word, "exec");
		command = is_before_command(word);
	}
	r->at += *r->at == '\n';
}

/*
 * The next word of the line without its quotes, as far as it fits; false: there was a comment, a
 * separator or nothing. What a word holds may go over lines. "<<" is a word as R->END, so that this
 * calls itself once at most.
 */
static bool read_word(struct reading *r, char *word, size_t size)
{
	const char *p = r->at;
	size_t n = 0;
	char quote = 0;

	while ((*p && strchr(" \t\r", *p)) || (*p == '\\' && p[1] == '\n'))
		p += 1 + (*p == '\\');
	if (*p == '#')
		p += strcspn(p, "\n");
	else if (*p && strchr(";&|()", *p))
		p++;
	else if (word != r->end && !strncmp(p, "<<", 2) && p[2] != '<') {
		p += 2;
		r->tabs = *p == '-';
		r->at = p + r->tabs;
		if (!read_word(r, r->end, sizeof(r->end)))
			*r->end = '\0';
		return false;
	} else {
		/* A here-string is none. */
		if (!strncmp(p, "<<<", 3)) {
			snprintf(word, size, "<<<");
			r->at = p + 3;
			return true;
		}
		for (; *p && (quote || !strchr(" \t\r\n;&|()", *p)); p++) {
			if (*p == '\\' && quote != '\'' && p[1]) {
				p++;
				if (*p == '\n')
					continue;
			} else if (quote ? *p == quote : (*p == '\'' || *p == '"')) {
				quote = quote ? 0 : *p;
				continue;
			} else if (!quote && n && !strncmp(p, "<<", 2) && p[2] != '<') {
				break;
			}
			if (n + 1 < size)
				word[n++] = *p;
		}
		word[n] = '\0';
		r->at = p;
		return n > 0;
	}
	r->at = p;
	return false;
}

/* What follows "trap": the action, and names of signals. */
static void read_trap(struct reading *r)
{
	char action[WORD_MAX], name[WORD_MAX];

	if (!read_word(r, action, sizeof(action)) || !strcmp(action, "--"))
		if (!read_word(r, action, sizeof(action)))
			return;
	/* "trap -p USR1" only says what is set. */
	if (*action == '-' && action[1])
		return;
	while (!strchr("\n;&|#", r->at[strspn(r->at, " \t\r")]) && read_word(r, name, sizeof(name)))
		if (is_signal(name, r->sig))
			r->handled = strcmp(action, "-") != 0;
}

static void skip_here(struct reading *r)
{
	size_t len = strlen(r->end);

	while (*r->at) {
		const char *p = r->at + (r->tabs ? strspn(r->at, "\t") : 0);
		bool over = !strncmp(p, r->end, len) && (!p[len] || strchr("\r\n", p[len]));

		r->at += strcspn(r->at, "\n");
		r->at += *r->at == '\n';
		if (over)
			break;
	}
	*r->end = '\0';
}

/* -- Python -- */

static bool python_handles(const char *script, int sig)
{
	char name[WORD_MAX];
	bool handled = false;

	for (const char *p = script; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		const char *at = p + strspn(p, " \t"), *to;

		if (strncmp(at, "signal.signal(", 14) != 0)
			continue;
		at += 14;
		at += strspn(at, " \t");
		to = at + strcspn(at, ", \t\r\n)");
		if (strncmp(at, "signal.", 7) != 0 || to[strspn(to, " \t")] != ',')
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(to - at < WORD_MAX ? to - at : 0), at);
		if (!is_signal(name + (*name ? 7 : 0), sig))
			continue;
		to += strspn(to, " \t,");
		handled = strncmp(to, "signal.SIG_", 11) != 0;
	}
	return handled;
}

/* "USR1", "SIGUSR1" and "10". */
static bool is_signal(const char *name, int sig)
{
	const char *abbrev = sigabbrev_np(sig);

	if (isdigit((unsigned char)*name))
		return strtol(name, NULL, 10) == sig && !name[strspn(name, "0123456789")];
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	return abbrev && !strcasecmp(name, abbrev);
}
