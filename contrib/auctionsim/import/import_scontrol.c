/* import_scontrol.c - see import-private.h: the output of "scontrol -o show node". */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/import/import-private.h"
#include "base/list.h"
#include "base/num.h"
#include "input/conf.h"

static enum auc_code read_node(struct import *im, const struct import_text *t, char *line,
			       struct auc_err *err);
static enum auc_code read_values(struct import *im, const struct import_text *t, char *line,
				 struct import_node *n, struct auc_err *err);
static const char *word_of(char *line, const char *key, size_t *len);
static enum auc_code read_amount(const struct import_text *t, char *line, const char *key,
				 double max, double *value, struct auc_err *err);
static enum auc_code read_gres(struct import *im, const struct import_text *t, char *line,
			       struct import_node *n, struct auc_err *err);
static enum auc_code sum_gres(struct import *im, const struct import_text *t, unsigned long column,
			      char *list, struct import_node *n, struct auc_err *err);
static bool is_out(char *line);
static bool sold(const struct import *im, const char *partitions, size_t len,
		 struct import_node *n);

enum auc_code import_read_scontrol(struct import *im, struct import_text *t, struct auc_err *err)
{
	enum auc_code rc;
	char *line;

	for (;;) {
		rc = import_line(t, &line, err);
		if (rc != AUC_OK || !line)
			return rc;
		if (isspace((unsigned char)*line) && strchr(line, '='))
			return import_expected(t, t->at, 1, line, err,
					       "a line for each node: use scontrol -o show node");
		rc = read_node(im, t, line, err);
		if (rc != AUC_OK)
			return rc;
	}
}

static enum auc_code read_node(struct import *im, const struct import_text *t, char *line,
			       struct auc_err *err)
{
	struct import_node n = {.cpus = -1, .mem_mb = -1};
	struct auc_err fault = {0};
	const char *name, *partitions;
	enum auc_code rc;
	size_t len;

	name = word_of(line, "NodeName=", &len);
	if (name == line + strlen("NodeName=") && len < AUC_NAME_MAX)
		memcpy(n.name, name, len);
	rc = auc_name_valid(n.name)
		     ? read_values(im, t, line, &n, &fault)
		     : import_expected(t, t->at, 1, line, &fault,
				       "NodeName=NAME of one node: use scontrol -o show node");
	partitions = word_of(line, "Partitions=", &len);
	if (im->conf && !sold(im, partitions ? partitions : "", len, &n) && rc == AUC_OK)
		return AUC_OK;
	if (rc == AUC_OK)
		rc = import_add_node(im, &n, &fault);
	if (rc == AUC_EEXIST)
		rc = import_expected(t, t->at, 1, n.name, &fault, "each node once");
	if (rc == AUC_EINVAL)
		import_add_odd_node(im, &n, &fault);
	else if (rc != AUC_OK)
		return auc_err_set(err, rc, "%s", fault.text);
	return AUC_OK;
}

static enum auc_code read_values(struct import *im, const struct import_text *t, char *line,
				 struct import_node *n, struct auc_err *err)
{
	enum auc_code rc;

	n->out = is_out(line);
	rc = read_gres(im, t, line, n, err);
	if (rc == AUC_OK)
		rc = read_amount(t, line, "CPUTot=", 1e9, &n->cpus, err);
	if (rc == AUC_OK) /* without what is set aside for the system */
		rc = read_amount(t, line, "CPUEfctv=", 1e9, &n->cpus, err);
	if (rc == AUC_OK)
		rc = read_amount(t, line, "RealMemory=", 1e12, &n->mem_mb, err);
	return rc;
}

/* "IDLE+DRAIN", "DOWN*": a node that no job can be started on before somebody repairs it. One that
 * is powered down is a server. */
static bool is_out(char *line)
{
	static const char *const states[] = {"DOWN",  "DRAIN",       "DRAINED", "DRAINING",
					     "FAIL",  "FAILING",     "FUTURE",  "UNKNOWN",
					     "ERROR", "INVALID_REG", "INVAL",   "BLOCKED"};
	const char *word;
	size_t len, l, i;

	word = word_of(line, "State=", &len);
	for (; word && len; word += l, len -= l) {
		for (l = 0; l < len && (isalpha((unsigned char)word[l]) || word[l] == '_'); l++)
			;
		for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
			if (strlen(states[i]) == l && !strncmp(states[i], word, l))
				return true;
		l += l < len; /* what parts two words, or marks one */
	}
	return false;
}

/* What stands after KEY, at the beginning of a word of LINE; NULL: it is not there. */
static const char *word_of(char *line, const char *key, size_t *len)
{
	const char *p = line;

	*len = 0;
	while ((p = strstr(p, key)) && p != line && p[-1] != ' ')
		p++;
	if (!p)
		return NULL;
	p += strlen(key);
	*len = strcspn(p, " ");
	return p;
}

static enum auc_code read_amount(const struct import_text *t, char *line, const char *key,
				 double max, double *value, struct auc_err *err)
{
	const char *p;
	char word[40];
	size_t len;

	p = word_of(line, key, &len);
	if (!p)
		return AUC_OK;
	snprintf(word, sizeof(word), "%.*s", (int)(len < 39 ? len : 39), p);
	if (auc_parse_number(word, 1, max, value, "", NULL) == AUC_OK)
		return AUC_OK;
	return import_expected(t, t->at, (unsigned long)(p - line) + 1, word, err,
			       "a number from 1 to %.15g after %s", max, key);
}

/* "gpu:v100:4(S:0-1),shard:8"; a type and a count may be missing. */
static enum auc_code read_gres(struct import *im, const struct import_text *t, char *line,
			       struct import_node *n, struct auc_err *err)
{
	enum auc_code rc;
	const char *p;
	size_t len;
	char *copy;

	p = word_of(line, "Gres=", &len);
	if (!p)
		return AUC_OK;
	copy = strndup(p, len);
	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "%.200s: no memory", t->name);
	rc = sum_gres(im, t, (unsigned long)(p - line) + 1, copy, n, err);
	free(copy);
	return rc;
}

static enum auc_code sum_gres(struct import *im, const struct import_text *t, unsigned long column,
			      char *list, struct import_node *n, struct auc_err *err)
{
	char *word, *save = NULL, *paren, *count;
	enum auc_code rc = AUC_OK;
	unsigned kind, share;
	double gpus;

	while ((paren = strchr(list, '(')))
		memset(paren, ',', strcspn(paren, ")") + (strchr(paren, ')') != NULL));
	for (word = strtok_r(list, ",", &save); word && rc == AUC_OK;
	     word = strtok_r(NULL, ",", &save)) {
		share = import_share(word);
		if (share == IMPORT_SHARES && strcmp(word, "gpu") != 0 &&
		    strncmp(word, "gpu:", 4) != 0)
			continue;
		gpus = 1;
		word += strcspn(word, ":");
		word += *word == ':';
		count = strrchr(word, ':');
		if (count && isdigit((unsigned char)count[1]))
			*count++ = '\0';
		else if (isdigit((unsigned char)*word) &&
			 strspn(word, "0123456789") == strlen(word))
			count = word;
		else
			count = NULL;
		if (count &&
		    (auc_parse_number(count, 0, IMPORT_GPUS_MAX, &gpus, "", NULL) != AUC_OK ||
		     gpus != floor(gpus)))
			return import_expected(t, t->at, column, count, err,
					       "a whole number of %s after Gres=",
					       share == IMPORT_SHARES ? "GPUs" : "shares of GPUs");
		if (share < IMPORT_SHARES) {
			n->shares[share] += gpus;
			continue;
		}
		rc = import_kind(im, count == word ? "" : word, &kind, err);
		if (rc == AUC_EINVAL)
			return import_expected(
				t, t->at, column, word, err,
				"one of at most %d types of GPUs after Gres=", IMPORT_KINDS_MAX);
		if (rc == AUC_OK)
			import_node_gpus(n, kind, gpus);
	}
	return rc;
}

/* Whether one of its partitions is sold, and which. */
static bool sold(const struct import *im, const char *partitions, size_t len, struct import_node *n)
{
	const char *end = partitions + len;
	char name[AUC_NAME_MAX];
	size_t l;

	for (; partitions < end; partitions += l + 1) {
		for (l = 0; partitions + l < end && partitions[l] != ','; l++)
			;
		if (!l || l >= AUC_NAME_MAX)
			continue;
		memcpy(name, partitions, l);
		name[l] = '\0';
		n->partition = auc_conf_partition(im->conf, name);
		if (n->partition)
			return true;
	}
	return false;
}
