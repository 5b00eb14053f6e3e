/* import_report.c - see import-private.h: what became of records and nodes. */
#include "config.h"

#include <string.h>

#include "auctionsim/import/import-private.h"
#include "base/num.h"

/* What a tally is of; lost: GPU time that the cluster gave and nobody asked to leave out. */
static const struct {
	const char *what;
	bool lost;
	const char *one; /* what, of one; NULL: the same */
} whys[IMPORT_WHYS] = {
	[IMPORT_ODD] = {"that cannot be read, skipped", true, NULL},
	[IMPORT_OTHER_QUEUE] = {"of other queues, skipped", false, NULL},
	[IMPORT_NEVER_STARTED] = {"that never started, skipped", false, NULL},
	[IMPORT_NO_GPU] = {"without GPU, skipped", false, NULL},
	[IMPORT_NO_SHARES] = {"with shares of GPUs where the nodes do not say how many a GPU has, "
			      "skipped",
			      true, NULL},
	[IMPORT_MIXED] = {"with GPUs of several types at once, skipped", true, NULL},
	[IMPORT_ZERO] = {"that ended as they began, skipped", false, NULL},
	[IMPORT_OTHER_STATE] = {"in other states than wanted, skipped", false, NULL},
	[IMPORT_EARLIER_RUN] = {"earlier or later runs of jobs that were requeued, or the same "
				"again: the last counts",
				false,
				"earlier or later run of a job that was requeued, or the same "
				"again: the last counts"},
	[IMPORT_OUTSIDE] = {"outside the window, skipped", false, NULL},
	[IMPORT_NOT_DRAWN] = {"not drawn, skipped", false, NULL},
	[IMPORT_NO_TYPE] = {"for types of GPUs that no server has, skipped", true, NULL},
	[IMPORT_TOO_MANY] = {"for more GPUs than the servers have, skipped", true, NULL},
	[IMPORT_TOO_LONG] = {"longer than all slots, skipped", true, NULL},
};

static const char *const marks[IMPORT_MARKS] = {
	[IMPORT_RAN] = "taken that still ran, for as long as they had",
	[IMPORT_NOT_COMPLETED] = "taken that failed, were cancelled or ran out of time",
	[IMPORT_SUSPENDED] = "taken that were suspended, without that time",
	[IMPORT_ARRAY] = "taken of job arrays, each task a job",
	[IMPORT_HET] = "taken of heterogeneous jobs, each component a job",
	[IMPORT_ODD_TIME] = "taken with a time that local clocks show twice or never",
};

static void report_skipped(const struct import *im, double imported, FILE *report);
static void report_nodes(const struct import *im, FILE *report);
static void say_types(const struct import *im, char *text, size_t size);
static size_t add_kinds(const struct import *im, uint64_t kinds, char *text, size_t size);

void import_report(const struct import *im, const struct import_summary *s, FILE *report)
{
	const struct import_counts *c = &im->counts;
	unsigned i;

	fprintf(report, "%s: %lu job%s read, %lu imported\n", im->o->jobs, c->read,
		auc_plural(c->read), c->imported);
	if (c->steps)
		fprintf(report, "  %8lu line%s of job steps, passed over\n", c->steps,
			auc_plural(c->steps));
	if (c->continued)
		fprintf(report, "  %8lu line%s with a text, passed over\n", c->continued,
			c->continued == 1 ? " that goes on" : "s that go on");
	report_skipped(im, s->gpu_seconds, report);
	for (i = 0; i < IMPORT_MARKS; i++)
		if (c->marks[i])
			fprintf(report, "  %8lu %s\n", c->marks[i], marks[i]);
	if (s->early)
		fprintf(report, "  %8lu taken that the slots end before\n", s->early);
	report_nodes(im, report);
	fprintf(report,
		"%s: %u server%s taken, %.15g GPU%s; %.15g slot%s of %.15g s, arrivals until "
		"%.15g; "
		"load %.3f\n",
		im->o->nodes, s->servers, auc_plural(s->servers), s->gpus, auc_plural(s->gpus),
		s->slots, auc_plural(s->slots), s->slot_seconds, s->last,
		s->gpus > 0 ? s->gpu_seconds / (s->gpus * s->slots * s->slot_seconds) : 0);
}

static void report_skipped(const struct import *im, double imported, FILE *report)
{
	const struct import_tally *t = im->counts.skipped;
	double lost = import_lost(im), all = lost + imported + t[IMPORT_NOT_DRAWN].gpu_seconds;
	char types[300];
	unsigned i;

	for (i = 0; i < IMPORT_WHYS; i++) {
		if (!t[i].n)
			continue;
		fprintf(report, "  %8lu %s", t[i].n,
			t[i].n == 1 && whys[i].one ? whys[i].one : whys[i].what);
		if (t[i].gpu_seconds > 0)
			fprintf(report, ": %.1f GPU-hours", t[i].gpu_seconds / 3600);
		if (i == IMPORT_ODD && im->counts.odd_time)
			fprintf(report, "%s %lu of unknown GPU time",
				t[i].gpu_seconds > 0 ? " and" : ":", im->counts.odd_time);
		if (i == IMPORT_NO_SHARES)
			fprintf(report, ": %lu of unknown GPU time", t[i].n);
		fprintf(report, "%s%.63s\n", t[i].n > 1 ? "; the first: " : ": job ", t[i].first);
		if (i == IMPORT_ODD)
			fprintf(report, "           %s\n", im->counts.odd.text);
		if (i != IMPORT_NO_TYPE)
			continue;
		say_types(im, types, sizeof(types));
		fprintf(report, "           %s\n", types);
	}
	fprintf(report, "  %8.1f GPU-hours imported", imported / 3600);
	if (lost > 0)
		fprintf(report, "; %.1f that cannot be, %.0f %% of all", lost / 3600,
			100 * lost / all);
	fputs("\n", report);
}

static void report_nodes(const struct import *im, FILE *report)
{
	const struct import_counts *c = &im->counts;

	if (c->odd_nodes.n)
		fprintf(report,
			"  %8lu node%s that cannot be read, skipped: %.15g GPU%s\n           %s\n",
			c->odd_nodes.n, auc_plural(c->odd_nodes.n), c->odd_nodes.gpu_seconds,
			auc_plural(c->odd_nodes.gpu_seconds), c->odd_node.text);
	if (c->out_nodes.n)
		fprintf(report,
			"  %8lu node%s down, drained or the like, skipped: %.15g GPU%s; "
			"the first: %.63s\n",
			c->out_nodes.n, c->out_nodes.n == 1 ? " that is" : "s that are",
			c->out_nodes.gpu_seconds, auc_plural(c->out_nodes.gpu_seconds),
			c->out_nodes.first);
}

double import_lost(const struct import *im)
{
	double lost = 0;

	for (unsigned i = 0; i < IMPORT_WHYS; i++)
		lost += whys[i].lost ? im->counts.skipped[i].gpu_seconds : 0;
	return lost;
}

enum auc_code import_none(const struct import *im, struct auc_err *err)
{
	const struct import_counts *c = &im->counts;
	char types[300];
	unsigned i, most = 0;

	if (im->unix_time && c->no_gres && !c->gres)
		return auc_err_set(
			err, AUC_EINVAL,
			"%.160s: %lu job%s read, none imported: none has gres/gpu: Slurm "
			"accounts for GPUs only if AccountingStorageTRES of slurm.conf names "
			"gres/gpu",
			im->o->jobs, c->read, auc_plural(c->read));
	for (i = 1; i < IMPORT_WHYS; i++)
		if (c->skipped[i].n > c->skipped[most].n)
			most = i;
	if (!c->skipped[most].n)
		return auc_err_set(err, AUC_EINVAL, "%.160s: no job in it%s", im->o->jobs,
				   im->unix_time ? ": sacct lists all users' jobs only with -a, "
						   "and those before today only with -S"
						 : "");
	if (most == IMPORT_ODD)
		return auc_err_set(err, AUC_EINVAL, "%.160s: %lu job%s read, none imported: %.300s",
				   im->o->jobs, c->read, auc_plural(c->read), c->odd.text);
	if (most == IMPORT_NO_TYPE) {
		say_types(im, types, sizeof(types));
		return auc_err_set(err, AUC_EINVAL,
				   "%.160s: %lu job%s read, none imported: %lu %s; the first: "
				   "%.63s: %s",
				   im->o->jobs, c->read, auc_plural(c->read), c->skipped[most].n,
				   whys[most].what, c->skipped[most].first, types);
	}
	return auc_err_set(err, AUC_EINVAL,
			   "%.160s: %lu job%s read, none imported: %lu %s; the first: %.63s",
			   im->o->jobs, c->read, auc_plural(c->read), c->skipped[most].n,
			   whys[most].what, c->skipped[most].first);
}

/* Of the first job whose types of GPUs no server has: which they are, and what there is instead. */
static void say_types(const struct import *im, char *text, size_t size)
{
	uint64_t there = 0;
	unsigned i, k;
	size_t len;

	for (i = 0; i < im->nnodes; i++)
		for (k = 0; !im->nodes[i].out && k < im->nodes[i].ngpus; k++)
			there |= UINT64_C(1) << im->nodes[i].gpus[k].kind;
	if (!there) {
		snprintf(text, size, "no server has GPUs: is Gres= in the list of nodes?");
		return;
	}
	len = add_kinds(im, im->counts.wanted, text, size);
	len += (size_t)snprintf(text + len, size - len, ", where servers have ");
	len += add_kinds(im, there, text + len, size - len);
	snprintf(text + len, size - len, "; types=any takes any type");
}

/* Names of KINDS into TEXT, the first few; their length. */
static size_t add_kinds(const struct import *im, uint64_t kinds, char *text, size_t size)
{
	unsigned k, n = 0;
	size_t len = 0;

	for (k = 0; k < im->kinds.n && n < 3; k++) {
		const char *name = im->kinds.list[k];

		if (!(kinds >> k & 1))
			continue;
		len += (size_t)snprintf(text + len, size - len, "%s%.24s", n ? ", " : "",
					*name ? name : "no type");
		n++;
	}
	return len;
}
