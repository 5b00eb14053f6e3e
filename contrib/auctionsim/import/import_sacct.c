/*
 * import_sacct.c - see import-private.h: the output of "sacct -P" and of "scontrol -o show node",
 * and how Slurm writes times, states, TRES and hosts.
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "input/conf.h"
#include "auctionsim/import/import-private.h"
#include "base/num.h"
#include "base/list.h"

enum {
	JOB_ID,
	SUBMIT,
	START,
	END,
	ELAPSED,
	ELAPSED_RAW,
	SUSPENDED,
	STATE,
	ALLOC_TRES,
	REQ_TRES,
	NODE_LIST,
	PARTITION,
	JOB_NAME,
	COLUMNS
};

static const struct import_column columns[] = {
	[JOB_ID] = {"JobID", true},          [SUBMIT] = {"Submit", true},
	[START] = {"Start", false},          [END] = {"End", false},
	[ELAPSED] = {"Elapsed", false},      [ELAPSED_RAW] = {"ElapsedRaw", false},
	[SUSPENDED] = {"Suspended", false},  [STATE] = {"State", true},
	[ALLOC_TRES] = {"AllocTRES", false}, [REQ_TRES] = {"ReqTRES", false},
	[NODE_LIST] = {"NodeList", false},   [PARTITION] = {"Partition", false},
	[JOB_NAME] = {"JobName", false},
};

static enum auc_code check_columns(const struct import_table *tb, struct auc_err *err);
static enum auc_code read_line(struct import *im, const struct import_table *tb,
			       struct auc_err *err);
static enum auc_code read_time(const struct import_table *tb, unsigned column, double *time,
			       bool *odd, struct auc_err *err);
static enum auc_code read_elapsed(const struct import_table *tb, unsigned column, double *seconds,
				  struct auc_err *err);
static enum auc_code read_duration(const struct import_table *tb, struct import_record *r,
				   double end, struct auc_err *err);
static enum auc_code read_tres(struct import *im, const struct import_table *tb,
			       struct import_record *r, struct auc_err *err);
static bool parse_elapsed(const char *text, double *seconds);
static bool parse_zone(const char *text, bool *given, long *seconds);
static unsigned digits(const char **p, unsigned n);
static bool same_clock(const struct tm *a, const struct tm *b);
static enum auc_code read_node(struct import *im, struct import_text *t, char *line,
			       struct auc_err *err);
static const char *word_of(char *line, const char *key, size_t *len);
static enum auc_code read_amount(const struct import_text *t, char *line, const char *key,
				 double max, double *value, struct auc_err *err);
static enum auc_code read_gres(struct import *im, struct import_text *t, char *line,
			       struct import_node *n, struct auc_err *err);
static bool sold(const struct import *im, const char *partitions, size_t len,
		 struct import_node *n);

/* -- sacct -P -- */

enum auc_code import_read_sacct(struct import *im, struct import_text *t, struct auc_err *err)
{
	struct import_table tb;
	enum auc_code rc;
	bool more = true;

	im->unix_time = true;
	rc = import_table_open(&tb, t, '|', columns, COLUMNS, err);
	if (rc == AUC_OK)
		rc = check_columns(&tb, err);
	while (rc == AUC_OK) {
		rc = import_table_next(&tb, &more, err);
		if (rc != AUC_OK || !more)
			break;
		rc = read_line(im, &tb, err);
	}
	return rc;
}

static enum auc_code check_columns(const struct import_table *tb, struct auc_err *err)
{
	if (!tb->at[ELAPSED] && !tb->at[ELAPSED_RAW] && (!tb->at[START] || !tb->at[END]))
		return import_expected(tb->text, tb->text->at, 1, NULL, err,
				       "a column Elapsed or ElapsedRaw, or both Start and End, in "
				       "the header");
	if (!tb->at[ALLOC_TRES] && !tb->at[REQ_TRES])
		return import_expected(tb->text, tb->text->at, 1, NULL, err,
				       "a column AllocTRES or ReqTRES in the header");
	return AUC_OK;
}

static enum auc_code read_line(struct import *im, const struct import_table *tb,
			       struct auc_err *err)
{
	struct import_record r = {.id = import_field(tb, JOB_ID),
				  .submit = -1,
				  .start = -1,
				  .duration = -1,
				  .deadline = -1,
				  .model = import_field(tb, JOB_NAME),
				  .queue = import_field(tb, PARTITION),
				  .state = import_slurm_state(import_field(tb, STATE))};
	char host[AUC_NAME_MAX];
	enum auc_code rc;
	double end = -1;

	if (strchr(r.id, '.')) {
		im->counts.steps++;
		return AUC_OK;
	}
	if (!import_id_valid(r.id))
		return import_field_expected(tb, JOB_ID, err, "a job's id");
	import_first_host(import_field(tb, NODE_LIST), host);
	r.node = host;
	r.array = strchr(r.id, '_');
	r.het = strchr(r.id, '+');
	rc = read_time(tb, SUBMIT, &r.submit, &r.odd_time, err);
	if (rc == AUC_OK && r.submit < 0)
		rc = import_field_expected(tb, SUBMIT, err, "a date and time");
	if (rc == AUC_OK)
		rc = read_time(tb, START, &r.start, &r.odd_time, err);
	if (rc == AUC_OK)
		rc = read_time(tb, END, &end, &r.odd_time, err);
	if (rc == AUC_OK)
		rc = read_elapsed(tb, SUSPENDED, &r.suspended, err);
	if (rc == AUC_OK)
		rc = read_duration(tb, &r, end, err);
	if (rc == AUC_OK)
		rc = read_tres(im, tb, &r, err);
	return rc == AUC_OK ? import_add(im, &r, err) : rc;
}

/* Unknown leaves *TIME as it is. */
static enum auc_code read_time(const struct import_table *tb, unsigned column, double *time,
			       bool *odd, struct auc_err *err)
{
	const char *text = import_field(tb, column);

	if (!*text || !strcmp(text, "Unknown") || !strcmp(text, "None") ||
	    import_slurm_time(text, time, odd))
		return AUC_OK;
	return import_field_expected(
		tb, column, err, "a time as 2026-11-21T16:34:41, seconds since 1970 or Unknown");
}

static enum auc_code read_elapsed(const struct import_table *tb, unsigned column, double *seconds,
				  struct auc_err *err)
{
	const char *text = import_field(tb, column);

	if (!*text || !strcmp(text, "INVALID") || parse_elapsed(text, seconds))
		return AUC_OK;
	return import_field_expected(tb, column, err, "a time span as [days-]hours:min:s");
}

/* Elapsed is without the time a job was suspended, and knows no time zone. */
static enum auc_code read_duration(const struct import_table *tb, struct import_record *r,
				   double end, struct auc_err *err)
{
	enum auc_code rc;

	if (r->state == IMPORT_PENDING)
		return AUC_OK;
	rc = import_field_number(tb, ELAPSED_RAW, 0, IMPORT_TIME_MAX, &r->duration, err);
	if (rc == AUC_OK && r->duration < 0)
		rc = read_elapsed(tb, ELAPSED, &r->duration, err);
	if (rc == AUC_OK && r->duration < 0 && r->start >= 0 && end >= 0)
		r->duration = fmax(0, end - r->start - r->suspended);
	return rc;
}

/* "billing=8,cpu=8,gres/gpu:v100=2,gres/gpu=2,mem=16G,node=1" */
static enum auc_code read_tres(struct import *im, const struct import_table *tb,
			       struct import_record *r, struct auc_err *err)
{
	unsigned column = *import_field(tb, ALLOC_TRES) ? ALLOC_TRES : REQ_TRES;
	char copy[2048], *save = NULL, *word, *value;
	struct import_tres sum = {0};
	enum auc_code rc = AUC_OK;
	double count;

	if (snprintf(copy, sizeof(copy), "%s", import_field(tb, column)) >= (int)sizeof(copy))
		return import_field_expected(tb, column, err, "at most %zu bytes", sizeof(copy));
	for (word = strtok_r(copy, ",", &save); word && rc == AUC_OK;
	     word = strtok_r(NULL, ",", &save)) {
		value = strchr(word, '=');
		if (!value)
			return import_field_expected(tb, column, err, "TRES=COUNT,...");
		*value++ = '\0';
		if (strcmp(word, "gres/gpu") != 0 && strncmp(word, "gres/gpu:", 9) != 0)
			continue;
		if (auc_parse_number(value, 0, IMPORT_GPUS_MAX, &count, "", NULL) != AUC_OK)
			return import_field_expected(tb, column, err, "%.60s=COUNT of at most %.0f",
						     word, IMPORT_GPUS_MAX);
		rc = import_tres_add(im, &sum, word, count, err);
	}
	r->gpus = fmax(sum.all, sum.typed);
	r->kinds = sum.kinds;
	if (rc == AUC_OK || rc == AUC_ENOMEM)
		return rc;
	return import_field_expected(tb, column, err, "at most %d types of GPUs, named by %s",
				     IMPORT_KINDS_MAX, "letters, digits and ._:/+-");
}

/* -- how Slurm writes it -- */

enum auc_code import_tres_add(struct import *im, struct import_tres *t, const char *name,
			      double count, struct auc_err *err)
{
	enum auc_code rc;
	unsigned kind;

	if (strncmp(name, "gres/gpu:", 9) != 0) {
		t->all += count;
		return AUC_OK;
	}
	rc = import_kind(im, name + 9, &kind, err);
	if (rc != AUC_OK)
		return rc;
	t->typed += count;
	if (count > t->most) {
		t->most = count;
		t->kinds = UINT32_C(1) << kind;
	}
	return AUC_OK;
}

enum import_state import_slurm_state(const char *state)
{
	static const struct {
		const char *name;
		enum import_state state;
	} states[] = {
		{"COMPLETED", IMPORT_COMPLETED},  {"RUNNING", IMPORT_RUNNING},
		{"SUSPENDED", IMPORT_RUNNING},    {"COMPLETING", IMPORT_RUNNING},
		{"STAGE_OUT", IMPORT_RUNNING},    {"SIGNALING", IMPORT_RUNNING},
		{"STOPPED", IMPORT_RUNNING},      {"PENDING", IMPORT_PENDING},
		{"CONFIGURING", IMPORT_PENDING},  {"REQUEUE_HOLD", IMPORT_PENDING},
		{"REQUEUE_FED", IMPORT_PENDING},  {"RESV_DEL_HOLD", IMPORT_PENDING},
		{"SPECIAL_EXIT", IMPORT_PENDING}, {"POWER_UP_NODE", IMPORT_PENDING},
	};
	size_t len = strcspn(state, " +"), i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strlen(states[i].name) == len && !strncmp(states[i].name, state, len))
			return states[i].state;
	return IMPORT_ENDED;
}

void import_first_host(const char *hosts, char *name)
{
	const char *bracket, *rest;
	size_t len = strcspn(hosts, ",["), number;

	*name = '\0';
	if (len >= AUC_NAME_MAX || !strncmp(hosts, "None assigned", 13))
		return;
	memcpy(name, hosts, len);
	name[len] = '\0';
	if (hosts[len] != '[')
		return;
	bracket = hosts + len + 1;
	number = strspn(bracket, "0123456789");
	rest = strchr(bracket, ']');
	if (!rest || len + number + strcspn(rest + 1, ",[") >= AUC_NAME_MAX) {
		*name = '\0';
		return;
	}
	memcpy(name + len, bracket, number);
	rest++;
	memcpy(name + len + number, rest, strcspn(rest, ",["));
	name[len + number + strcspn(rest, ",[")] = '\0';
}

bool import_slurm_time(const char *text, double *seconds, bool *odd)
{
	struct tm want = {.tm_isdst = -1}, got, later;
	const char *p = text;
	bool utc = false;
	time_t t, other;
	long zone = 0;

	if (text[0] && strspn(text, "0123456789") == strlen(text))
		return auc_parse_number(text, 0, IMPORT_TIME_MAX, seconds, "", NULL) == AUC_OK;
	want.tm_year = (int)digits(&p, 4) - 1900;
	want.tm_mon = *p == '-' ? (p++, (int)digits(&p, 2) - 1) : -1;
	want.tm_mday = *p == '-' ? (p++, (int)digits(&p, 2)) : 0;
	if (*p == 'T' || *p == ' ') {
		p++;
		want.tm_hour = (int)digits(&p, 2);
		want.tm_min = *p == ':' ? (p++, (int)digits(&p, 2)) : 60;
		want.tm_sec = *p == ':' ? (p++, (int)digits(&p, 2)) : 0;
		if (!parse_zone(p, &utc, &zone))
			return false;
	} else if (*p) {
		return false;
	}
	if (want.tm_year < 70 || want.tm_year > 400 || want.tm_mon < 0 || want.tm_mon > 11 ||
	    want.tm_mday < 1 || want.tm_mday > 31 || want.tm_hour > 23 || want.tm_min > 59 ||
	    want.tm_sec > 60)
		return false;
	got = want;
	t = utc ? timegm(&got) : mktime(&got);
	if (t == (time_t)-1 || got.tm_mday != want.tm_mday)
		return false;
	/* The clock shows an hour twice when it is set back, and one never when it is set forward.
	 */
	if (!utc) {
		other = t + 3600;
		*odd |= want.tm_sec < 60 && !same_clock(&got, &want);
		*odd |= localtime_r(&other, &later) && same_clock(&later, &want);
		other = t - 3600;
		*odd |= localtime_r(&other, &later) && same_clock(&later, &want);
	}
	*seconds = (double)t - (double)zone;
	return *seconds >= 0;
}

static bool same_clock(const struct tm *a, const struct tm *b)
{
	return a->tm_mday == b->tm_mday && a->tm_hour == b->tm_hour && a->tm_min == b->tm_min &&
	       a->tm_sec == b->tm_sec;
}

/* "", "Z" or "+01:00", also without the colon. */
static bool parse_zone(const char *text, bool *given, long *seconds)
{
	const char *p = text + 1;
	unsigned hours, minutes;

	if (!*text)
		return true;
	*given = true;
	if (!strcmp(text, "Z"))
		return true;
	if (*text != '+' && *text != '-')
		return false;
	hours = digits(&p, 2);
	p += *p == ':';
	minutes = digits(&p, 2);
	*seconds = ((long)hours * 60 + (long)minutes) * (*text == '-' ? -60 : 60);
	return !*p && hours < 24 && minutes < 60;
}

/* N digits at *P as a number, and steps after them; what no field of a date can be, if they are
 * not there. */
static unsigned digits(const char **p, unsigned n)
{
	unsigned value = 0, i;

	for (i = 0; i < n; i++) {
		if (!isdigit((unsigned char)(*p)[i]))
			return 9999;
		value = 10 * value + (unsigned)((*p)[i] - '0');
	}
	*p += n;
	return value;
}

/* [days-]hours:minutes:seconds or minutes:seconds, the seconds with a fraction. */
static bool parse_elapsed(const char *text, double *seconds)
{
	double part[4] = {0}, value = 0;
	const char *p = text;
	unsigned n = 0, i;
	char word[24];
	size_t len;

	for (;;) {
		len = strspn(p, "0123456789.");
		if (!len || len >= sizeof(word) || n == 4)
			return false;
		memcpy(word, p, len);
		word[len] = '\0';
		if (auc_parse_number(word, 0, 1e9, &part[n++], "", NULL) != AUC_OK)
			return false;
		p += len;
		if (!*p)
			break;
		if (*p != ':' && (*p != '-' || n != 1))
			return false;
		if (*p++ == '-') {
			value = part[0] * 86400;
			n = 0;
			if (value < 0 || strchr(p, '-'))
				return false;
		}
	}
	if (n < 2 || n > 3)
		return false;
	for (i = 0; i < n; i++)
		value += part[i] * (n - i == 3 ? 3600 : n - i == 2 ? 60 : 1);
	*seconds = value;
	return true;
}

/* -- scontrol -o show node -- */

enum auc_code import_read_scontrol(struct import *im, struct import_text *t, struct auc_err *err)
{
	enum auc_code rc;
	char *line;

	do {
		rc = import_line(t, &line, err);
		if (rc == AUC_OK && line)
			rc = read_node(im, t, line, err);
	} while (rc == AUC_OK && line);
	return rc;
}

static enum auc_code read_node(struct import *im, struct import_text *t, char *line,
			       struct auc_err *err)
{
	struct import_node n = {.cpus = -1, .mem_mb = -1};
	const char *name, *partitions;
	enum auc_code rc;
	size_t len;

	name = word_of(line, "NodeName=", &len);
	if (name == line + strlen("NodeName=") && len < AUC_NAME_MAX)
		memcpy(n.name, name, len);
	if (!auc_name_valid(n.name))
		return import_expected(t, t->at, 1, line, err, "NodeName=NAME");
	rc = read_amount(t, line, "CPUTot=", 1e9, &n.cpus, err);
	if (rc == AUC_OK) /* without what is set aside for the system */
		rc = read_amount(t, line, "CPUEfctv=", 1e9, &n.cpus, err);
	if (rc == AUC_OK)
		rc = read_amount(t, line, "RealMemory=", 1e12, &n.mem_mb, err);
	if (rc == AUC_OK)
		rc = read_gres(im, t, line, &n, err);
	if (rc != AUC_OK)
		return rc;
	partitions = word_of(line, "Partitions=", &len);
	if (im->conf && !sold(im, partitions ? partitions : "", len, &n))
		return AUC_OK;
	rc = import_add_node(im, &n, err);
	return rc == AUC_EEXIST ? import_expected(t, t->at, 1, n.name, err, "each node once") : rc;
}

/* What stands behind KEY, at the beginning of a word of LINE; NULL: it is not there. */
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
			       "a number from 1 to %.15g behind %s", max, key);
}

/* "gpu:v100:4(S:0-1),shard:8"; a type and a count may be missing. */
static enum auc_code read_gres(struct import *im, struct import_text *t, char *line,
			       struct import_node *n, struct auc_err *err)
{
	char copy[1024], *word, *save = NULL, *paren, *count;
	enum auc_code rc = AUC_OK;
	struct import_gpus *g;
	const char *p;
	size_t len;

	p = word_of(line, "Gres=", &len);
	if (!p || snprintf(copy, sizeof(copy), "%.*s", (int)(len < 1023 ? len : 1023), p) <= 0)
		return AUC_OK;
	while ((paren = strchr(copy, '(')))
		memset(paren, ',', strcspn(paren, ")") + (strchr(paren, ')') != NULL));
	for (word = strtok_r(copy, ",", &save); word && rc == AUC_OK;
	     word = strtok_r(NULL, ",", &save)) {
		if (strcmp(word, "gpu") != 0 && strncmp(word, "gpu:", 4) != 0)
			continue;
		if (n->ngpus == sizeof(n->gpus) / sizeof(n->gpus[0]))
			return import_expected(t, t->at, (unsigned long)(p - line) + 1, p, err,
					       "at most %u types of GPUs on a node", n->ngpus);
		g = &n->gpus[n->ngpus++];
		g->count = 1;
		word += word[3] == ':' ? 4 : 3;
		count = strrchr(word, ':');
		if (count && isdigit((unsigned char)count[1]))
			*count++ = '\0';
		else if (isdigit((unsigned char)*word) &&
			 strspn(word, "0123456789") == strlen(word))
			count = word;
		else
			count = NULL;
		if (count &&
		    (auc_parse_number(count, 0, IMPORT_GPUS_MAX, &g->count, "", NULL) != AUC_OK ||
		     g->count != floor(g->count)))
			return import_expected(t, t->at, (unsigned long)(p - line) + 1, count, err,
					       "a whole number of GPUs behind Gres=");
		rc = import_kind(im, count == word ? "" : word, &g->kind, err);
		if (rc == AUC_EINVAL)
			return import_expected(
				t, t->at, (unsigned long)(p - line) + 1, word, err,
				"one of at most %d types of GPUs behind Gres=", IMPORT_KINDS_MAX);
	}
	return rc;
}

/* Whether one of its partitions is sold; what that says of the node. */
static bool sold(const struct import *im, const char *partitions, size_t len, struct import_node *n)
{
	const struct auc_conf_partition *partition;
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
		partition = auc_conf_partition(im->conf, name);
		if (!partition)
			continue;
		n->cloud = partition->cloud;
		n->upload_seconds = partition->upload_seconds;
		return true;
	}
	return false;
}
