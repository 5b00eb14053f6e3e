/*
 * conf.c - see conf.h. The text is cut into words first; then the lines are read by the section
 * that their first word opens, globals first and models last, so that the order of lines does not
 * matter; references are checked at the end (conf_check.c). What keys there are is in conf_keys.c.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/conf-private.h"

#define FILE_MAX (1024 * 1024) /* bytes of an auction.conf */

static enum auc_code read_file(const char *path, char **text, size_t *len, struct auc_err *err);
static enum auc_code check_text(struct parser *p, const char *text, size_t len);
static enum auc_code cut_words(struct parser *p);
static void skip_blank(struct parser *p);
static enum auc_code cut_word(struct parser *p);
static int shown(size_t n);
static size_t value_length(const struct parser *p, const char *value);
static enum auc_code push_word(struct parser *p, const char *key, size_t nkey, const char *value,
			       size_t nvalue);
static enum auc_code read_sections(struct parser *p);
static enum auc_code read_line(struct parser *p, enum section section, const struct word *word,
			       size_t n);
static enum auc_code read_word(struct parser *p, enum section section, void *base,
			       const struct word *word, bool *seen);
static enum auc_code add_item(struct parser *p, enum section section, const struct word *word,
			      void **item);
static enum auc_code fill_presets(struct parser *p, enum section section, void *base,
				  const bool *seen, const struct word *word);
static enum section section_of(const struct word *word);
static void parser_clear(struct parser *p);

enum auc_code auc_conf_load(const char *path, struct auc_conf **conf, struct auc_err *err)
{
	enum auc_code rc;
	char *text = NULL;
	size_t len;

	*conf = NULL;
	rc = read_file(path, &text, &len, err);
	if (rc != AUC_OK)
		return rc;
	rc = auc_conf_parse(text, len, path, conf, err);
	free(text);
	return rc;
}

enum auc_code auc_conf_parse(const char *text, size_t len, const char *name, struct auc_conf **conf,
			     struct auc_err *err)
{
	struct parser p = {.file = name, .line = 1, .line_begins = true, .err = err};
	enum auc_code rc;

	*conf = NULL;
	p.conf = calloc(1, sizeof(*p.conf));
	if (!p.conf)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
	p.conf->transfer_mb = -1;
	rc = check_text(&p, text, len);
	if (rc == AUC_OK)
		rc = cut_words(&p);
	if (rc == AUC_OK)
		rc = read_sections(&p);
	if (rc == AUC_OK)
		rc = auc_conf_check(&p);
	if (rc == AUC_OK) {
		*conf = p.conf;
		p.conf = NULL;
	}
	parser_clear(&p);
	return rc;
}

void auc_conf_path(const char *options, const char *slurm_conf, char *path, size_t size)
{
	static const char name[] = "auction_conf=", usual[] = "/etc/slurm/slurm.conf";
	const char *option = options ? strstr(options, name) : NULL;
	const char *file = slurm_conf ? slurm_conf : usual, *slash = strrchr(file, '/');

	if (option && (option == options || option[-1] == ',')) {
		option += strlen(name);
		snprintf(path, size, "%.*s", (int)strcspn(option, ","), option);
	} else {
		snprintf(path, size, "%.*sauction.conf", slash ? (int)(slash - file) + 1 : 0, file);
	}
}

void auc_conf_free(struct auc_conf *conf)
{
	if (!conf)
		return;
	free(conf->spool_dir);
	free(conf->public_status);
	free(conf->default_bid);
	free(conf->partitions);
	free(conf->worker_types);
	free(conf->ps_types);
	free(conf->models);
	free(conf->refills);
	free(conf->shapes);
	free(conf);
}

double auc_conf_period(const struct auc_conf *conf)
{
	return conf->slots * conf->slot_seconds;
}

bool auc_conf_learns(const struct auc_conf *conf)
{
	return conf->prices == AUC_PRICES_PUBLISHED || auc_conf_fits(conf);
}

bool auc_conf_fits(const struct auc_conf *conf)
{
	return conf->prices == AUC_PRICES_FLAT || conf->prices == AUC_PRICES_LEARNED;
}

const char *auc_prices_word(unsigned prices)
{
	static const char *const words[] = {"none", "given", "published", "flat", "learned"};

	return words[prices];
}

int auc_conf_change_signal(const struct auc_conf *conf)
{
	const char *name = conf->change_signal;

	if (!strcasecmp(name, "none"))
		return 0;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int i = 1; i < SIGRTMIN; i++)
		if (sigabbrev_np(i) && !strcasecmp(name, sigabbrev_np(i)))
			return auc_change_signal_fits(i) ? i : -1;
	return -1;
}

bool auc_change_signal_fits(int sig)
{
	return sig != SIGKILL && sig != SIGSTOP && sig != SIGCHLD && sig != SIGTERM &&
	       sig != SIGINT && sig != SIGHUP;
}

static enum auc_code read_file(const char *path, char **text, size_t *len, struct auc_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = 0;
	char *buf = NULL;

	*len = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		goto failed;
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return auc_err_set(err, AUC_EIO, "%s: not a regular file", path);
	}
	buf = malloc(FILE_MAX + 1);
	if (!buf)
		goto failed;
	while (*len <= FILE_MAX && (n = read(fd, buf + *len, FILE_MAX + 1 - *len)) > 0)
		*len += (size_t)n;
	if (n < 0)
		goto failed;
	close(fd);
	*text = buf;
	return AUC_OK;

failed:
	auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	free(buf);
	if (fd >= 0)
		close(fd);
	return AUC_EIO;
}

/* No control characters and no NUL below, so that all that follows can treat the text as text. */
static enum auc_code check_text(struct parser *p, const char *text, size_t len)
{
	unsigned line = 1;
	size_t i;

	if (len > FILE_MAX)
		return auc_err_set(p->err, AUC_EINVAL, "%s: longer than %d bytes", p->file,
				   FILE_MAX);
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < ' ' && !strchr("\t\r\n", c)) || c == '\0' || c == 0x7f)
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s:%u: control character 0x%02x, expected text",
					   p->file, line, c);
		line += c == '\n';
	}
	p->p = text;
	p->end = text + len;
	return AUC_OK;
}

static enum auc_code cut_words(struct parser *p)
{
	enum auc_code rc = AUC_OK;

	skip_blank(p);
	while (rc == AUC_OK && p->p < p->end) {
		rc = cut_word(p);
		if (rc == AUC_OK)
			skip_blank(p);
	}
	return rc;
}

/* Skips white space, comments, ends of lines and continuations. */
static void skip_blank(struct parser *p)
{
	const char *next;

	for (; p->p < p->end; p->p++) {
		switch (*p->p) {
		case ' ':
		case '\t':
		case '\r':
			break;
		case '\n':
			p->line++;
			p->line_begins = true;
			break;
		case '#':
			while (p->p + 1 < p->end && p->p[1] != '\n')
				p->p++;
			break;
		case '\\':
			next = p->p + 1;
			while (next < p->end && strchr(" \t\r", *next))
				next++;
			if (next < p->end && *next != '\n')
				return;
			p->line++;
			p->p = next < p->end ? next : p->end - 1;
			break;
		default:
			return;
		}
	}
}

static enum auc_code cut_word(struct parser *p)
{
	const char *key = p->p, *value, *close;
	size_t nkey = 0, nvalue;
	bool quoted;

	while (key + nkey < p->end && !strchr("= \t\r\n#\"", key[nkey]))
		nkey++;
	if (nkey == 0 || key + nkey == p->end || key[nkey] != '=')
		return auc_err_set(p->err, AUC_EINVAL, "%s:%u: %.*s: expected Key=value", p->file,
				   p->line, shown(nkey ? nkey : 1), key);
	value = key + nkey + 1;
	quoted = value < p->end && *value == '"';
	value += quoted;
	if (quoted) {
		close = memchr(value, '"', (size_t)(p->end - value));
		if (!close || memchr(value, '\n', (size_t)(close - value)))
			return auc_err_set(
				p->err, AUC_EINVAL,
				"%s:%u: %.*s=\": expected a closing '\"' on the same line", p->file,
				p->line, shown(nkey), key);
		nvalue = (size_t)(close - value);
		p->p = close + 1;
	} else {
		nvalue = value_length(p, value);
		p->p = value + nvalue;
	}
	if (p->p < p->end && !strchr(" \t\r\n#\\", *p->p))
		return auc_err_set(
			p->err, AUC_EINVAL,
			"%s:%u: %.*s=%.*s: expected '\"' around the whole value or nowhere",
			p->file, p->line, shown(nkey), key, shown(nvalue), value);
	return push_word(p, key, nkey, value, nvalue);
}

/* How much of a piece of N bytes an error repeats. */
static int shown(size_t n)
{
	return n < 60 ? (int)n : 60;
}

/* Length of an unquoted value: up to white space, a comment, a quote or a '\' that ends the line.
 */
static size_t value_length(const struct parser *p, const char *value)
{
	const char *c;

	for (c = value; c < p->end && !strchr(" \t\r\n#\"", *c); c++)
		if (*c == '\\' && (c + 1 == p->end || strchr(" \t\r\n", c[1])))
			break;
	return (size_t)(c - value);
}

static enum auc_code push_word(struct parser *p, const char *key, size_t nkey, const char *value,
			       size_t nvalue)
{
	struct word *words = p->words;
	char *copy;

	if (p->nwords == p->alloc) {
		p->alloc = p->alloc ? 2 * p->alloc : 64;
		words = realloc(p->words, p->alloc * sizeof(*words));
		if (words)
			p->words = words;
	}
	copy = words ? malloc(nkey + nvalue + 2) : NULL;
	if (!copy)
		return auc_err_set(p->err, AUC_ENOMEM, "%s: no memory", p->file);
	memcpy(copy, key, nkey);
	copy[nkey] = '\0';
	memcpy(copy + nkey + 1, value, nvalue);
	copy[nkey + 1 + nvalue] = '\0';
	p->words[p->nwords++] = (struct word){copy, copy + nkey + 1, p->line, p->line_begins};
	p->line_begins = false;
	return AUC_OK;
}

static enum auc_code read_sections(struct parser *p)
{
	bool seen[AUC_CONF_KEYS_MAX] = {false};
	enum section section;
	enum auc_code rc = AUC_OK;
	size_t i, n;

	for (section = GLOBAL; rc == AUC_OK && section < NSECTIONS; section++) {
		for (i = 0; rc == AUC_OK && i < p->nwords; i += n) {
			for (n = 1; i + n < p->nwords && !p->words[i + n].first; n++)
				;
			if (section_of(&p->words[i]) == section)
				rc = read_line(p, section, &p->words[i], n);
		}
		if (rc != AUC_OK || section != GLOBAL)
			continue;
		for (i = 0; i < auc_conf_nkeys; i++)
			seen[i] = p->global[i] != NULL;
		rc = fill_presets(p, GLOBAL, p->conf, seen, NULL);
	}
	return rc;
}

/* One logical line: N words from WORD on. */
static enum auc_code read_line(struct parser *p, enum section section, const struct word *word,
			       size_t n)
{
	bool seen[AUC_CONF_KEYS_MAX] = {false};
	void *base = p->conf;
	enum auc_code rc = AUC_OK;
	size_t i;

	if (section != GLOBAL)
		rc = add_item(p, section, word, &base);
	for (i = 0; rc == AUC_OK && i < n; i++)
		rc = read_word(p, section, base, &word[i], seen);
	if (rc != AUC_OK || section == GLOBAL)
		return rc;
	rc = fill_presets(p, section, base, seen, word);
	if (rc == AUC_OK && section == MODEL)
		rc = auc_conf_check_model(p, word, n, base);
	return rc;
}

static enum auc_code read_word(struct parser *p, enum section section, void *base,
			       const struct word *word, bool *seen)
{
	const struct key *key = auc_conf_key_find(section, word->key);
	enum section other;
	struct auc_err detail = {.text = ""};
	char range[128];
	enum auc_code rc;

	for (other = GLOBAL; !key && other < NSECTIONS; other++) {
		if (!auc_conf_key_find(other, word->key))
			continue;
		if (other == GLOBAL ||
		    auc_conf_key_find(other, word->key) == auc_conf_key_opening(other))
			return auc_conf_word_error(p, word, "on a line of its own");
		return auc_conf_word_error(p, word, "%son a line that begins with %s=",
					   strcasecmp(word->key, "Partition")
						   ? ""
						   : "PartitionName= for what is sold; this is ",
					   auc_conf_key_opening(other)->name);
	}
	if (!key)
		return auc_conf_word_error(p, word, "a key of auction.conf(5)");
	if (section == GLOBAL && p->global[key - auc_conf_keys])
		return auc_conf_word_error(p, word, "once, %s is in line %u already", key->name,
					   p->global[key - auc_conf_keys]->line);
	if (seen[key - auc_conf_keys])
		return auc_conf_word_error(p, word, "%s once in a line", key->name);
	seen[key - auc_conf_keys] = true;
	if (section == GLOBAL)
		p->global[key - auc_conf_keys] = word;
	rc = auc_conf_key_set(p->conf, key, base, word->value, &detail);
	if (rc == AUC_OK)
		return AUC_OK;
	auc_conf_key_describe(key, range, sizeof(range));
	if (*detail.text)
		return auc_conf_word_error(p, word, "%s (%.200s)", range, detail.text);
	return auc_conf_word_error(p, word, "%s", range);
}

/* A new zeroed item for the line that WORD opens, whose name must be new; the name is set by
 * read_word(). */
static enum auc_code add_item(struct parser *p, enum section section, const struct word *word,
			      void **item)
{
	const struct list *list = &auc_conf_lists[section];
	char **items = (char **)((char *)p->conf + list->items);
	unsigned *n = (unsigned *)((char *)p->conf + list->count);
	char *grown;

	if (auc_conf_item_find(p->conf, section, word->value))
		return auc_conf_word_error(p, word, "a name that no other %s has",
					   auc_conf_key_opening(section)->name);
	if (*n == list->limit)
		return auc_conf_word_error(p, word, "at most %u lines %s=", list->limit,
					   auc_conf_key_opening(section)->name);
	grown = realloc(*items, (*n + 1) * list->size);
	if (!grown)
		return auc_err_set(p->err, AUC_ENOMEM, "%s: no memory", p->file);
	*items = grown;
	*item = grown + *n * list->size;
	memset(*item, 0, list->size);
	if (section == MODEL)
		((struct auc_conf_model *)*item)->gradient_mb = -1;
	if (section == WORKER_TYPE || section == PS_TYPE)
		((struct auc_conf_type *)*item)->line = word->line;
	(*n)++;
	return AUC_OK;
}

/* Defaults for what a line (WORD opens it) or, for GLOBAL, the file did not say. */
static enum auc_code fill_presets(struct parser *p, enum section section, void *base,
				  const bool *seen, const struct word *word)
{
	enum auc_code rc = AUC_OK;
	size_t i;

	for (i = 0; rc == AUC_OK && i < auc_conf_nkeys; i++) {
		if (auc_conf_keys[i].section != section || seen[i])
			continue;
		if (auc_conf_keys[i].required)
			return auc_conf_word_error(p, word, "%s= on this line",
						   auc_conf_keys[i].name);
		if (auc_conf_keys[i].preset)
			rc = auc_conf_key_set(p->conf, &auc_conf_keys[i], base,
					      auc_conf_keys[i].preset, p->err);
	}
	return rc;
}

static enum section section_of(const struct word *word)
{
	enum section section;

	for (section = PARTITION; section < NSECTIONS; section++)
		if (auc_conf_same_word(auc_conf_key_opening(section)->name, word->key))
			return section;
	return GLOBAL;
}

enum auc_code auc_conf_word_error(struct parser *p, const struct word *word, const char *fmt, ...)
{
	char text[sizeof(p->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return auc_err_set(p->err, AUC_EINVAL, "%s:%u: %.40s=%.80s: expected %s", p->file,
			   word->line, word->key, word->value, text);
}

static void parser_clear(struct parser *p)
{
	size_t i;

	for (i = 0; i < p->nwords; i++)
		free(p->words[i].key);
	free(p->words);
	auc_conf_free(p->conf);
}
