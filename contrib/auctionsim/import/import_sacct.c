/*
 * import_sacct.c - see import-private.h: the output of "sacct -P", and how Slurm writes times,
 * states, TRES and hosts.
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	LIMIT,
	LIMIT_RAW,
	SUSPENDED,
	STATE,
	ALLOC_TRES,
	REQ_TRES,
	NODE_LIST,
	PARTITION,
	JOB_NAME,
	CLUSTER,
	USER,
	COLUMNS
};

static const struct import_column columns[] = {
	[JOB_ID] = {"JobID", true},
	[SUBMIT] = {"Submit", true},
	[START] = {"Start", false},
	[END] = {"End", false},
	[ELAPSED] = {"Elapsed", false},
	[ELAPSED_RAW] = {"ElapsedRaw", false},
	[LIMIT] = {"Timelimit", false},
	[LIMIT_RAW] = {"TimelimitRaw", false},
	[SUSPENDED] = {"Suspended", false},
	[STATE] = {"State", true},
	[ALLOC_TRES] = {"AllocTRES", false},
	[REQ_TRES] = {"ReqTRES", false},
	[NODE_LIST] = {"NodeList", false},
	[PARTITION] = {"Partition", false},
	[JOB_NAME] = {"JobName", false},
	[CLUSTER] = {"Cluster", false},
	[USER] = {"User", false},
};

/* What users write: sacct -P prints bars and ends of lines in them as they are. */
static const char *const loose[] = {"JobName", "Comment",    "AdminComment", "SystemComment",
				    "WorkDir", "SubmitLine", "Constraints",  "Reason",
				    "Extra",   "Container",  "StdIn",        "StdOut",
				    "StdErr",  NULL};

static enum auc_code check_columns(const struct import_table *tb, struct auc_err *err);
static enum auc_code read_record(struct import *im, const struct import_table *tb,
				 struct auc_err *err);
static enum auc_code read_time(const struct import_table *tb, unsigned column, double *time,
			       struct import_record *r);
static enum auc_code read_elapsed(const struct import_table *tb, unsigned column, double *seconds,
				  struct import_record *r);
static void read_limit(const struct import_table *tb, struct import_record *r);
static enum auc_code read_duration(const struct import_table *tb, struct import_record *r);
static enum auc_code read_tres(struct import *im, const struct import_table *tb,
			       struct import_record *r);
static enum auc_code sum_tres(struct import *im, const struct import_table *tb, unsigned column,
			      char *list, struct import_record *r);
static bool state_is(const char *name, const char *state, size_t len);
static bool parse_elapsed(const char *text, double *seconds);
static bool parse_zone(const char *text, bool *given, long *seconds);
static unsigned digits(const char **p, unsigned n);
static bool same_clock(const struct tm *a, const struct tm *b);
/* -- sacct -P -- */

enum auc_code import_read_sacct(struct import *im, struct import_text *t, struct auc_err *err)
{
	struct import_table tb = {.text = t,
				  .separator = '|',
				  .columns = columns,
				  .ncolumns = COLUMNS,
				  .loose = loose,
				  .hint = ": name it in sacct --format (-o)"};
	struct auc_err fault;
	enum auc_code rc;
	bool more = true;

	im->unix_time = true;
	rc = import_table_open(&tb, err);
	while (rc == AUC_OK) {
		rc = check_columns(&tb, err); /* of a later header, too */
		fault.code = AUC_OK;
		if (rc == AUC_OK)
			rc = import_table_next(&tb, &more, &fault, err);
		if (rc != AUC_OK || !more)
			break;
		if (fault.code)
			import_add_odd(im, "?", 0, &fault);
		else
			rc = read_record(im, &tb, err);
	}
	im->counts.continued = tb.continued;
	return rc;
}

static enum auc_code check_columns(const struct import_table *tb, struct auc_err *err)
{
	if (!tb->at[ELAPSED] && !tb->at[ELAPSED_RAW] && (!tb->at[START] || !tb->at[END]))
		return import_expected(tb->text, tb->text->at, 1, NULL, err,
				       "a column Elapsed or ElapsedRaw, or both Start and End, in "
				       "the header%s",
				       tb->hint);
	if (!tb->at[ALLOC_TRES] && !tb->at[REQ_TRES])
		return import_expected(tb->text, tb->text->at, 1, NULL, err,
				       "a column AllocTRES or ReqTRES in the header%s", tb->hint);
	return AUC_OK;
}

/* All of it is read even if something is wrong: the GPU time of what is skipped is told. */
static enum auc_code read_record(struct import *im, const struct import_table *tb,
				 struct auc_err *err)
{
	struct import_record r = {.id = import_field(tb, JOB_ID),
				  .cluster = import_field(tb, CLUSTER),
				  .submit = -1,
				  .start = -1,
				  .end = -1,
				  .duration = -1,
				  .deadline = -1,
				  .model = import_field(tb, JOB_NAME),
				  .queue = import_field(tb, PARTITION),
				  .user = import_field(tb, USER)};
	char host[AUC_NAME_MAX];
	enum auc_code rc;

	if (strchr(r.id, '.')) {
		im->counts.steps++;
		return AUC_OK;
	}
	if (!import_id_valid(r.id))
		import_field_expected(tb, JOB_ID, import_fault(&r), "a job's id");
	if (!import_slurm_state(import_field(tb, STATE), &r))
		import_field_expected(tb, STATE, import_fault(&r), "a state of jobs");
	import_first_host(import_field(tb, NODE_LIST), host);
	r.node = host;
	r.array = strchr(r.id, '_');
	r.het = strchr(r.id, '+');
	read_time(tb, SUBMIT, &r.submit, &r);
	if (r.submit < 0)
		import_field_expected(tb, SUBMIT, import_fault(&r), "a date and time");
	read_time(tb, START, &r.start, &r);
	read_time(tb, END, &r.end, &r);
	read_elapsed(tb, SUSPENDED, &r.suspended, &r);
	r.unstarted = tb->at[START] && r.start < 0;
	read_duration(tb, &r);
	read_limit(tb, &r);
	rc = read_tres(im, tb, &r);
	if (rc == AUC_ENOMEM)
		return auc_err_set(err, rc, "%.200s: no memory", tb->text->name);
	return import_add(im, &r, err);
}

/* Unknown leaves *TIME as it is. */
static enum auc_code read_time(const struct import_table *tb, unsigned column, double *time,
			       struct import_record *r)
{
	const char *text = import_field(tb, column);
	double value;

	if (!*text || !strcmp(text, "Unknown") || !strcmp(text, "None"))
		return AUC_OK;
	if (!import_slurm_time(text, &value, &r->odd_time))
		return import_field_expected(
			tb, column, import_fault(r),
			"a time as 2026-11-21T16:34:41 (sacct with SLURM_TIME_FORMAT=standard), "
			"seconds since 1970 or Unknown");
	if (import_time_known(value))
		*time = value;
	return AUC_OK;
}

static enum auc_code read_elapsed(const struct import_table *tb, unsigned column, double *seconds,
				  struct import_record *r)
{
	const char *text = import_field(tb, column);

	if (!*text || parse_elapsed(text, seconds))
		return AUC_OK;
	return import_field_expected(tb, column, import_fault(r),
				     "a time span as [days-]hours:min:s");
}

/* In minutes, or a time span; a word instead, such as UNLIMITED, is none. */
static void read_limit(const struct import_table *tb, struct import_record *r)
{
	const char *raw = import_field(tb, LIMIT_RAW);
	double minutes;

	if (*raw && auc_parse_number(raw, 0, IMPORT_RUN_MAX / 60, &minutes, "", NULL) == AUC_OK)
		r->limit = 60 * minutes;
	else if (!parse_elapsed(import_field(tb, LIMIT), &r->limit))
		r->limit = 0;
}

/* Elapsed is without the time a job was suspended, and knows no time zone. */
static enum auc_code read_duration(const struct import_table *tb, struct import_record *r)
{
	enum auc_code rc;

	if (r->state == IMPORT_PENDING)
		return AUC_OK;
	rc = import_field_number(tb, ELAPSED_RAW, 0, IMPORT_RUN_MAX, &r->duration, import_fault(r));
	if (rc == AUC_OK && r->duration < 0)
		rc = read_elapsed(tb, ELAPSED, &r->duration, r);
	if (rc == AUC_OK && r->duration < 0 && r->end >= 0 && r->end < r->start)
		return import_field_expected(tb, END, import_fault(r),
					     "a time that is not before Start");
	if (rc == AUC_OK && r->duration < 0 && r->start >= 0 && r->end >= 0)
		r->duration = fmax(0, r->end - r->start - r->suspended);
	if (rc == AUC_OK && r->duration < 0 && r->state == IMPORT_RUNNING)
		return import_field_expected(tb, END, import_fault(r),
					     "a date and time, or a column Elapsed,");
	if (rc != AUC_OK || r->duration <= IMPORT_RUN_MAX)
		return rc;
	r->duration = -1;
	return import_field_expected(tb, ELAPSED, import_fault(r), "at most %.0f days",
				     IMPORT_RUN_MAX / 86400);
}

/* "billing=8,cpu=8,gres/gpu:v100=2,gres/gpu=2,mem=16G,node=1" */
static enum auc_code read_tres(struct import *im, const struct import_table *tb,
			       struct import_record *r)
{
	unsigned column = *import_field(tb, ALLOC_TRES) ? ALLOC_TRES : REQ_TRES;
	char *copy = strdup(import_field(tb, column));
	enum auc_code rc = copy ? sum_tres(im, tb, column, copy, r) : AUC_ENOMEM;

	free(copy);
	return rc;
}

static enum auc_code sum_tres(struct import *im, const struct import_table *tb, unsigned column,
			      char *list, struct import_record *r)
{
	struct import_tres sum = {0};
	char *save = NULL, *word, *value;
	enum auc_code rc = AUC_OK;
	double count;

	for (word = strtok_r(list, ",", &save); word && rc == AUC_OK;
	     word = strtok_r(NULL, ",", &save)) {
		value = strchr(word, '=');
		if (!value)
			return import_field_expected(tb, column, import_fault(r), "TRES=COUNT,...");
		*value++ = '\0';
		if (!import_tres_wanted(word))
			continue;
		if (auc_parse_number(value, 0, IMPORT_GPUS_MAX, &count, "", NULL) != AUC_OK)
			return import_field_expected(tb, column, import_fault(r),
						     "%.60s=COUNT of at most %.0f", word,
						     IMPORT_GPUS_MAX);
		rc = import_tres_add(im, &sum, word, count, NULL);
	}
	import_tres_done(&sum, r);
	if (rc != AUC_EINVAL)
		return rc;
	return import_field_expected(tb, column, import_fault(r),
				     "at most %d types of GPUs, named by %s", IMPORT_KINDS_MAX,
				     "letters, digits and ._:/+-");
}

/* -- how Slurm writes it -- */

bool import_tres_wanted(const char *name)
{
	return !strcmp(name, "node") || !strcmp(name, "gres/gpu") ||
	       !strncmp(name, "gres/gpu:", 9) ||
	       (!strncmp(name, "gres/", 5) && import_share(name + 5) < IMPORT_SHARES);
}

unsigned import_share(const char *gres)
{
	static const char *const names[] = {[IMPORT_SHARD] = "shard", [IMPORT_MPS] = "mps"};
	size_t len = strcspn(gres, ":");
	unsigned i;

	for (i = 0; i < IMPORT_SHARES && (strlen(names[i]) != len || strncmp(names[i], gres, len));
	     i++)
		;
	return i;
}

enum auc_code import_tres_add(struct import *im, struct import_tres *t, const char *name,
			      double count, struct auc_err *err)
{
	enum auc_code rc;
	unsigned kind, share;

	if (!strcmp(name, "node")) {
		t->nodes = count;
		return AUC_OK;
	}
	share = import_share(name + 5);
	if (share < IMPORT_SHARES) {
		*(strchr(name, ':') ? &t->typed_shares[share] : &t->shares[share]) += count;
		return AUC_OK;
	}
	if (strncmp(name, "gres/gpu:", 9) != 0) {
		t->all += count;
		return AUC_OK;
	}
	rc = import_kind(im, name + 9, &kind, err);
	if (rc != AUC_OK || !(count > 0))
		return rc;
	t->typed += count;
	t->kinds |= UINT64_C(1) << kind;
	return AUC_OK;
}

/* If some have a type that is accounted and others have none, the others are of another type. */
void import_tres_done(const struct import_tres *t, struct import_record *r)
{
	for (unsigned i = 0; i < IMPORT_SHARES; i++)
		r->shares[i] = fmax(t->shares[i], t->typed_shares[i]);
	r->gpus = fmax(t->all, t->typed);
	r->nodes = t->nodes;
	r->kinds = t->kinds;
	r->mixed = (t->kinds & (t->kinds - 1)) != 0 || (t->typed > 0 && t->all > t->typed);
}

bool import_slurm_state(const char *text, struct import_record *r)
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
	static const char *const run_again[] = {"REQUEUED", "NODE_FAIL", "PREEMPTED",
						"RESIZING", "BOOT_FAIL", "REVOKED"};
	size_t len = strcspn(text, " +"), i;

	/* Others than these have ended: Slurm learns new ones. */
	if (!len || strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != len)
		return false;
	r->state = IMPORT_ENDED;
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (state_is(states[i].name, text, len))
			r->state = states[i].state;
	for (i = 0; i < sizeof(run_again) / sizeof(run_again[0]); i++)
		r->again |= state_is(run_again[i], text, len);
	return true;
}

static bool state_is(const char *name, const char *state, size_t len)
{
	return strlen(name) == len && !strncmp(name, state, len);
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

double import_midnight(double time)
{
	time_t t = (time_t)time;
	struct tm tm;

	if (!localtime_r(&t, &tm))
		return time;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	t = mktime(&tm);
	return t == (time_t)-1 || (double)t > time ? time : (double)t;
}

bool import_time_known(double time)
{
	return time >= 366 * 86400.0 && time < 4102444800.0; /* 1971 to 2100 */
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
