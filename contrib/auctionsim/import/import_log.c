/* import_log.c - see import_log.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/import/import_log.h"
#include "auctionsim/import/import_window.h"
#include "base/num.h"

#define DAY_SECONDS          86400
#define DAYS_MAX             3660
#define DEFAULT_SLOT_SECONDS 300
#define AHEAD_SECONDS        (7 * 86400.0)

struct import_log {
	struct import_options o;
	struct import_files files;
	struct import im;
	struct import_window w;
	struct import_log_facts facts;
	struct import_log_job *jobs;
	unsigned *first; /* by day: place of its first job, and one more */
};

static enum auc_code open_window(struct import_log *l, FILE *report, struct auc_err *err);
static void set_slots(struct import_log *l);
static enum auc_code cut(struct import_log *l, struct auc_err *err);
static bool has_parameter(const struct import_options *o, const char *name);

enum auc_code import_log_open(const struct import_options *o, FILE *report, struct import_log **log,
			      struct auc_err *err)
{
	struct import_log *l = calloc(1, sizeof(*l));
	enum auc_code rc;

	*log = l;
	if (!l)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a log");
	l->o = *o;
	l->w.im = &l->im;
	rc = import_files_open(&l->files, &l->o, err);
	if (rc == AUC_OK)
		rc = import_read(&l->im, &l->o, l->files.conf,
				 o->profiles ? &l->files.profiles : NULL, &l->files.nodes,
				 &l->files.jobs, err);
	if (rc == AUC_OK)
		rc = open_window(l, report, err);
	if (rc == AUC_OK)
		rc = cut(l, err);
	if (rc != AUC_OK) {
		import_log_close(l);
		*log = NULL;
	}
	return rc;
}

void import_log_close(struct import_log *l)
{
	if (!l)
		return;
	import_window_clear(&l->w);
	import_clear(&l->im);
	import_files_close(&l->files);
	free(l->jobs);
	free(l->first);
	free(l);
}

const struct import_log_facts *import_log_facts(const struct import_log *l)
{
	return &l->facts;
}

const struct auc_conf *import_log_conf(const struct import_log *l)
{
	return l->files.conf;
}

void import_log_values(const struct import_log *l, char *text, size_t size)
{
	const struct value *v = l->im.g.values;

	snprintf(text, size,
		 "A log does not say what a job was worth. Taken here: its GPU-hours times %g "
		 "(gpu_hour), times an urgency drawn from %g:%g, %s around %g:%g times its own "
		 "length (utility=%s, slack).",
		 v[IMPORT_GPU_HOUR].low, v[IMPORT_URGENCY].low, v[IMPORT_URGENCY].high,
		 v[IMPORT_UTILITY].low == 3 ? "constant" : "falling", v[IMPORT_SLACK].low,
		 v[IMPORT_SLACK].high,
		 import_setting.parameters[IMPORT_UTILITY].words[(unsigned)v[IMPORT_UTILITY].low]);
}

const struct import_log_job *import_log_day(const struct import_log *l, unsigned day, unsigned *n)
{
	*n = l->first[day + 1] - l->first[day];
	return l->jobs + l->first[day];
}

enum auc_code import_log_write(struct import_log *l, unsigned day, bool gangs, FILE *out,
			       struct auc_err *err)
{
	struct import_window w = l->w;

	l->im.g.out = out;
	l->im.g.random = l->o.seed + (day + 1) * UINT64_C(0x9e3779b97f4a7c15);
	l->im.g.values[IMPORT_AS].low = l->im.g.values[IMPORT_AS].high = gangs;
	w.jobs = l->w.jobs + l->first[day];
	w.njobs = l->first[day + 1] - l->first[day];
	return import_window_write(&w, err);
}

static enum auc_code open_window(struct import_log *l, FILE *report, struct auc_err *err)
{
	struct import_log_facts *f = &l->facts;
	struct import_summary s;
	enum auc_code rc;

	f->gangs = !has_parameter(&l->o, "as") || l->im.g.values[IMPORT_AS].low == 1;
	set_slots(l);
	rc = import_window_open(&l->w, report, err);
	if (rc != AUC_OK)
		return rc;
	import_window_summarise(&l->w, &s);
	f->slots = l->w.slots;
	f->slot_seconds = l->w.slot_seconds;
	f->begin = l->w.from;
	f->unix_time = l->im.unix_time;
	f->njobs = l->w.njobs;
	f->servers = s.servers;
	f->gpus = s.gpus;
	f->gpu_seconds = s.gpu_seconds;
	f->lost_seconds = import_lost(&l->im);
	f->slots_lost_seconds = l->im.counts.skipped[IMPORT_TOO_LONG].gpu_seconds;
	f->undrawn_seconds = l->im.counts.skipped[IMPORT_NOT_DRAWN].gpu_seconds;
	return AUC_OK;
}

/* Where neither parameters nor auction.conf say it: the longest job can end, if a week is enough.
 */
static void set_slots(struct import_log *l)
{
	const struct value *v = l->im.g.values;
	double longest = v[IMPORT_TAIL].low * 3600, length = v[IMPORT_SLOT_SECONDS].low;
	uint64_t ahead;

	if (!(length > 0))
		length = l->files.conf ? l->files.conf->slot_seconds : DEFAULT_SLOT_SECONDS;
	for (unsigned i = 0; i < l->im.njobs; i++)
		longest = fmax(longest, l->im.jobs[i].duration);
	if (v[IMPORT_SLOTS].low > 0)
		ahead = (uint64_t)v[IMPORT_SLOTS].low;
	else if (l->files.conf)
		ahead = l->files.conf->slots;
	else
		ahead = 1 + (uint64_t)auc_ceil(fmin(longest, AHEAD_SECONDS) / length);
	l->facts.day_slots = (uint64_t)fmax(1, (double)auc_ceil(DAY_SECONDS / length));
	l->w.slot_seconds = length;
	l->w.day_seconds = (double)l->facts.day_slots * length;
	l->w.slots = l->facts.day_slots + ahead;
	if (l->w.slots > AUC_SLOTS_MAX)
		l->w.slots = AUC_SLOTS_MAX;
}

/* Which jobs are of which day. */
static enum auc_code cut(struct import_log *l, struct auc_err *err)
{
	double speedup = l->im.g.values[IMPORT_SPEEDUP].low, last;
	const struct import_job *j;
	unsigned i, day, at = 0;
	bool *seen;

	j = &l->im.jobs[l->w.jobs[l->w.njobs - 1]];
	last = floor((j->submit - l->w.from) / speedup / l->w.day_seconds);
	if (last >= DAYS_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "%.160s: %.0f days, expected at most %d: choose with --from and "
				   "--to",
				   l->o.jobs, last + 1, DAYS_MAX);
	l->facts.days = 1 + (unsigned)last;
	l->first = calloc(l->facts.days + 1, sizeof(*l->first));
	l->jobs = calloc(l->w.njobs, sizeof(*l->jobs));
	seen = calloc(l->im.users.n + 1, sizeof(*seen));
	if (!l->first || !l->jobs || !seen) {
		free(seen);
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u jobs", l->w.njobs);
	}
	for (i = 0; i < l->w.njobs; i++) {
		j = &l->im.jobs[l->w.jobs[i]];
		l->jobs[i] = (struct import_log_job){(j->submit - l->w.from) / speedup,
						     (double)j->limit};
		day = (unsigned)(l->jobs[i].submit / l->w.day_seconds);
		while (at < day)
			l->first[++at] = i;
		l->facts.nlimits += j->limit > 0;
		if (j->user != IMPORT_NO_USER && !seen[j->user]) {
			seen[j->user] = true;
			l->facts.nusers++;
		}
	}
	while (at < l->facts.days)
		l->first[++at] = l->w.njobs;
	free(seen);
	return AUC_OK;
}

static bool has_parameter(const struct import_options *o, const char *name)
{
	size_t len = strlen(name);

	for (unsigned i = 0; i < o->nparameters; i++)
		if (!strncmp(o->parameters[i], name, len) && o->parameters[i][len] == '=')
			return true;
	return false;
}
