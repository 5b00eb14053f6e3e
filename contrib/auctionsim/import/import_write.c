/*
 * import_write.c - see import-private.h: the window of the log, and the scenario of it. Rules: a
 * worker is a GPU (or a share of one) with its share of the node; a job has as many chunks as it
 * had workers, and its mini-batches take together what it ran for in the log, in the best placement
 * that the servers allow: alone it runs as long as it did.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/conf.h"
#include "auctionsim/import/import-private.h"
#include "auctionsim/import/import_window.h"
#include "auctionsim/io/progress.h"
#include "base/json.h"
#include "base/num.h"
#include "auctionsim/scenario/scenario.h"

#define DEFAULT_SLOT_SECONDS 300
#define DAY_SECONDS          86400.0
#define STEP_MIN             1e-6 /* seconds: no mini-batch is taken to be shorter */
#define LN_9                 2.1972245773362196

static const char *const states[] = {"all", "ended", "completed", NULL};
static const char *const types[] = {"own", "any", NULL};
static const char *const times[] = {"used", "stated", NULL};
static const char *const utilities[] = {"sigmoid", "linear", "deadline", "constant", NULL};
static const char *const prices[] = {"learned", "offline", NULL};
static const char *const kinds_of_jobs[] = {"ps", "gang", NULL};

static const struct parameter parameters[] = {
	[IMPORT_SLOT_SECONDS] = {"slot_seconds",
				 {0, 0},
				 0,
				 86400,
				 false,
				 false,
				 NULL,
				 "of a slot; 0: SlotSeconds of auction.conf, or 300"},
	[IMPORT_SLOTS] = {"slots",
			  {0, 0},
			  0,
			  AUC_SLOTS_MAX,
			  false,
			  true,
			  NULL,
			  "T; 0: until tail hours after the last arrival, and every job can end"},
	[IMPORT_TAIL] = {"tail", {24, 24}, 0, 1e6, false, false, NULL, "hours, see slots"},
	[IMPORT_SPEEDUP] = {"speedup",
			    {1, 1},
			    1e-3,
			    1e6,
			    false,
			    false,
			    NULL,
			    "how many times faster than in the log jobs arrive"},
	[IMPORT_JOBS] = {"jobs",
			 {0, 0},
			 0,
			 1e9,
			 false,
			 true,
			 NULL,
			 "at most that many, drawn evenly from the window; 0: all"},
	[IMPORT_SERVERS] = {"servers",
			    {0, 0},
			    0,
			    1e9,
			    false,
			    true,
			    NULL,
			    "at most that many, of each kind its share; 0: all"},
	[IMPORT_STATES] = {"states",
			   {0, 0},
			   0,
			   0,
			   false,
			   false,
			   states,
			   "all: also what still ran; ended: in any way; completed"},
	[IMPORT_TYPES] = {"types",
			  {0, 0},
			  0,
			  0,
			  false,
			  false,
			  types,
			  "of GPUs a job may use: own, those of the log; any"},
	[IMPORT_PARTS] = {"parts",
			  {4, 4},
			  1,
			  16,
			  false,
			  true,
			  NULL,
			  "a share of a GPU is rounded up to this part of one"},
	[IMPORT_NODE_CPUS] = {"node_cpus",
			      {8, 8},
			      1,
			      1e6,
			      false,
			      true,
			      NULL,
			      "CPUs per GPU of nodes that do not say (without GPU: in all)"},
	[IMPORT_NODE_MEM] =
		{"node_mem", {64000, 64000}, 1, 1e9, false, true, NULL, "the same for memory, MB"},
	[IMPORT_PS_ROOM] = {"ps_room",
			    {0.25, 0.25},
			    0.01,
			    0.9,
			    false,
			    false,
			    NULL,
			    "part of a node's CPUs and memory that its workers leave for PSs"},
	[IMPORT_PS_CPUS] = {"ps_cpus", {1, 1}, 0.01, 1e6, false, false, NULL, "CPUs of a PS"},
	[IMPORT_PS_MEM] = {"ps_mem", {4000, 4000}, 1, 1e9, false, true, NULL, "memory of a PS, MB"},
	[IMPORT_BANDWIDTH] =
		{"bandwidth", {10000, 10000}, 1, 1e9, false, true, NULL, "b_w, Mbit/s"},
	[IMPORT_PS_BANDWIDTH] =
		{"ps_bandwidth", {100000, 100000}, 1, 1e9, false, true, NULL, "b_p, Mbit/s"},
	[IMPORT_STEP] = {"step",
			 {0.2, 2},
			 1e-3,
			 1e4,
			 true,
			 false,
			 NULL,
			 "seconds of a mini-batch, for models without a profile"},
	[IMPORT_EPOCHS] =
		{"epochs", {10, 10}, 1, 1e6, true, true, NULL, "E_j, as far as there is work"},
	[IMPORT_GRADIENT] = {"gradient_mb",
			     {30, 575},
			     0,
			     1e6,
			     true,
			     false,
			     NULL,
			     "m_j, MB, for models without a profile"},
	[IMPORT_EXCHANGE] =
		{"exchange",
		 {0.3, 0.3},
		 0,
		 0.45,
		 false,
		 false,
		 NULL,
		 "part of a mini-batch that the exchange takes at most; m_j is cut to it"},
	[IMPORT_PS_TIME] = {"ps_time",
			    {0.05, 0.05},
			    0,
			    0.45,
			    false,
			    false,
			    NULL,
			    "part of a mini-batch that the PS takes"},
	[IMPORT_UPLOAD] =
		{"upload", {0, 0}, 0, 1e6, true, true, NULL, "slots until a job's data are there"},
	[IMPORT_GPU_HOUR] = {"gpu_hour",
			     {1, 1},
			     1e-6,
			     1e6,
			     false,
			     false,
			     NULL,
			     "value of a GPU-hour of the log ..."},
	[IMPORT_URGENCY] = {"urgency", {0.5, 5}, 1e-6, 1e6, true, false, NULL, "... times this"},
	[IMPORT_UTILITY] = {"utility",
			    {0, 0},
			    0,
			    0,
			    false,
			    false,
			    utilities,
			    "form of the value: sigmoid, linear, deadline or constant"},
	[IMPORT_SLACK] = {"slack",
			  {2, 6},
			  1,
			  1e6,
			  true,
			  false,
			  NULL,
			  "target or deadline, in the job's own lengths"},
	[IMPORT_FALL] = {"fall",
			 {0.5, 0.5},
			 1e-6,
			 1e6,
			 true,
			 false,
			 NULL,
			 "part of the target in which a sigmoid falls from 90 % to 10 %"},
	[IMPORT_PRICES] = {"prices",
			   {0, 0},
			   0,
			   0,
			   false,
			   false,
			   prices,
			   "learned from the jobs before (Eta of auction.conf if it says so), "
			   "offline from all"},
	[IMPORT_AS] = {"as",
		       {0, 0},
		       0,
		       0,
		       false,
		       false,
		       kinds_of_jobs,
		       "what jobs become: ps, workers and PSs; gang, nodes with GPUs as they were"},
	[IMPORT_TIMES] = {"times",
			  {0, 0},
			  0,
			  0,
			  false,
			  false,
			  times,
			  "what jobs say: used, what they ran for; stated, their limit, if the log "
			  "has one, and then a true_time"},
};

const struct gen_setting import_setting = {"import", parameters, IMPORT_PARAMETERS, NULL};

/* One job's work: on each type it may use, as it will be written. */
struct work {
	unsigned ntypes;
	unsigned types[AUC_TYPES_MAX];
	double step[AUC_TYPES_MAX]; /* seconds of a mini-batch in all */
	double worker_seconds[AUC_TYPES_MAX];
	unsigned chunks;
	double epochs, minibatches, ps_seconds, gradient_mb;
};

static enum auc_code choose_window(struct import_window *w, struct auc_err *err);
static enum auc_code read_bound(const struct import *im, const char *text, const char *what,
				double *bound, struct auc_err *err);
static void thin(struct import_window *w);
static void skip(struct import_window *w, unsigned index, enum import_why why);
static enum auc_code set_slots(struct import_window *w, struct auc_err *err);
static double says(const struct import_window *w, const struct import_job *j);
static void drop_impossible(struct import_window *w);
static enum auc_code use_types(struct import_window *w, struct auc_err *err);
static bool write_jobs(struct import_window *w);
static struct json_object *job_object(struct import_window *w, unsigned index);
static struct json_object *shapes_array(struct import_window *w, const struct import_job *j,
					const struct work *work);
static void make_work(struct import_window *w, const struct import_job *j, struct work *work);
static const struct import_profile *find_profile(const struct import *im,
						 const struct import_job *j, const char *kind);
static double gradient_of(const struct import *im, const struct import_job *j);
static struct json_object *utility_object(struct import_window *w, const struct import_job *j);
static struct json_object *upload_object(struct import_window *w);
static double slots_of(const struct import_window *w, double seconds);
static uint64_t arrival_of(const struct import_window *w, const struct import_job *j);
static double round_down(double value, int digits);
static double rounded(double value, int digits);

enum auc_code import_scenario(struct import *im, FILE *report, struct auc_err *err)
{
	struct import_window w = {.im = im};
	enum auc_code rc = import_window_open(&w, report, err);

	if (im->g.out != stdout)
		progress_say("writing jobs");
	if (rc == AUC_OK)
		rc = import_window_write(&w, err);
	import_window_clear(&w);
	return rc;
}

enum auc_code import_window_open(struct import_window *w, FILE *report, struct auc_err *err)
{
	struct import *im = w->im;
	struct import_summary summary;
	enum auc_code rc;

	progress_say("placing jobs");
	w->slots = w->slots ? w->slots : (uint64_t)im->g.values[IMPORT_SLOTS].low;
	if (!(w->slot_seconds > 0))
		w->slot_seconds = im->g.values[IMPORT_SLOT_SECONDS].low;
	if (!(w->slot_seconds > 0))
		w->slot_seconds = im->conf ? im->conf->slot_seconds : DEFAULT_SLOT_SECONDS;
	rc = choose_window(w, err);
	if (rc == AUC_OK)
		rc = import_types_make(&w->types, im, err);
	if (rc == AUC_OK) {
		drop_impossible(w);
		thin(w);
	}
	if (rc == AUC_OK && !w->slots) {
		rc = set_slots(w, err);
		if (rc == AUC_OK)
			drop_impossible(w);
	}
	if (rc == AUC_OK)
		rc = use_types(w, err);
	if (rc == AUC_OK && report) {
		progress_hide();
		import_window_summarise(w, &summary);
		import_report(im, &summary, report);
	}
	return rc == AUC_OK && !w->njobs ? import_none(im, err) : rc;
}

void import_window_clear(struct import_window *w)
{
	import_types_clear(&w->types);
	free(w->jobs);
}

/* -- which jobs -- */

static int compare_submit(const void *a, const void *b, void *arg)
{
	unsigned i = *(const unsigned *)a, k = *(const unsigned *)b;
	const struct import_job *jobs = arg;

	if (jobs[i].submit != jobs[k].submit)
		return jobs[i].submit < jobs[k].submit ? -1 : 1;
	return (i > k) - (i < k);
}

static enum auc_code choose_window(struct import_window *w, struct auc_err *err)
{
	struct import *im = w->im;
	enum auc_code rc;
	double to = INFINITY;
	unsigned i;

	if (im->unix_time && im->njobs)
		w->from = INFINITY;
	for (i = 0; i < im->njobs; i++)
		w->from = fmin(w->from, im->jobs[i].submit);
	im->origin = w->from;
	rc = read_bound(im, im->o->from, "--from", &w->from, err);
	if (rc == AUC_OK)
		rc = read_bound(im, im->o->to, "--to", &to, err);
	if (rc == AUC_OK && !(w->from < to))
		rc = auc_err_set(err, AUC_EINVAL, "--to: '%.80s', expected a time after --from",
				 im->o->to);
	if (rc != AUC_OK)
		return rc;
	w->jobs = calloc(im->njobs + 1, sizeof(*w->jobs));
	if (!w->jobs)
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u jobs", im->njobs);
	for (i = 0; i < im->njobs; i++)
		if (im->jobs[i].submit >= w->from && im->jobs[i].submit < to)
			w->jobs[w->njobs++] = i;
		else
			skip(w, i, IMPORT_OUTSIDE);
	qsort_r(w->jobs, w->njobs, sizeof(*w->jobs), compare_submit, im->jobs);
	if (w->day_seconds > 0 && im->unix_time && !im->o->from && isfinite(w->from))
		w->from = import_midnight(w->from);
	return AUC_OK;
}

/* A span is counted from the first submission; in a trace, from its own time 0. */
static enum auc_code read_bound(const struct import *im, const char *text, const char *what,
				double *bound, struct auc_err *err)
{
	double seconds;
	bool odd = false;

	if (!text)
		return AUC_OK;
	if (im->unix_time && strchr(text, '-') && import_slurm_time(text, bound, &odd))
		return AUC_OK;
	if (auc_parse_span(text, 1, 0, &seconds, what, NULL) != AUC_OK)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s', expected a time span such as 7d%s", what, text,
				   im->unix_time ? " or a date such as 2026-10-01" : "");
	*bound = im->origin + seconds;
	return AUC_OK;
}

/* Each as likely as any other. */
static void thin(struct import_window *w)
{
	unsigned want = (unsigned)fmin(w->im->g.values[IMPORT_JOBS].low, UINT32_MAX), kept = 0, i;

	if (!want || want >= w->njobs)
		return;
	for (i = 0; i < w->njobs; i++)
		if (gen_uniform(&w->im->g) * (w->njobs - i) < want - kept)
			w->jobs[kept++] = w->jobs[i];
		else
			skip(w, w->jobs[i], IMPORT_NOT_DRAWN);
	w->njobs = kept;
}

static void skip(struct import_window *w, unsigned index, enum import_why why)
{
	const struct import_job *j = &w->im->jobs[index];

	if (why == IMPORT_NO_TYPE && !w->im->counts.skipped[why].n)
		w->im->counts.wanted = j->kinds;
	import_count(&w->im->counts.skipped[why], w->im->ids.list[index], j->gpus * j->duration);
}

/* As many that each job could end, if it began as it came; some may be longer than any scenario. */
static enum auc_code set_slots(struct import_window *w, struct auc_err *err)
{
	const struct value *v = w->im->g.values;
	const struct import_job *j = NULL;
	uint64_t last = 1, end;
	unsigned i;

	for (i = 0; i < w->njobs; i++) {
		j = &w->im->jobs[w->jobs[i]];
		last = arrival_of(w, j);
		end = last + (uint64_t)(slots_of(w, says(w, j)) + v[IMPORT_UPLOAD].high);
		if (end > w->slots && end <= AUC_SLOTS_MAX)
			w->slots = end;
	}
	last += (uint64_t)slots_of(w, v[IMPORT_TAIL].low * 3600);
	if (last > w->slots)
		w->slots = last;
	if (w->slots <= AUC_SLOTS_MAX)
		return AUC_OK;
	return auc_err_set(
		err, AUC_EINVAL,
		"slots: the log, from job %.60s to %.60s, takes %llu slots of %.15g s, "
		"expected at most %d: set slots, slot_seconds, speedup or tail, or choose "
		"with --from and --to",
		w->im->ids.list[w->jobs[0]], w->im->ids.list[w->jobs[w->njobs - 1]],
		(unsigned long long)w->slots, w->slot_seconds, AUC_SLOTS_MAX);
}

/* How long J says it takes, in seconds. */
static double says(const struct import_window *w, const struct import_job *j)
{
	return w->im->g.values[IMPORT_TIMES].low == 1 && j->limit > 0 ? j->limit : j->duration;
}

/* What no server can run, and what is longer than the slots if they are set: no policy could do it.
 */
static void drop_impossible(struct import_window *w)
{
	/* Of days: what is for sale at the end of one. */
	double most =
		(double)w->slots - (w->day_seconds > 0 ? w->day_seconds / w->slot_seconds : 0);
	unsigned list[AUC_TYPES_MAX], i, kept = 0;
	const struct import_job *j;
	bool small;

	for (i = 0; i < w->njobs; i++) {
		j = &w->im->jobs[w->jobs[i]];
		if (!import_types_of(&w->types, j, list, &small))
			skip(w, w->jobs[i], small ? IMPORT_TOO_MANY : IMPORT_NO_TYPE);
		else if (w->slots && arrival_of(w, j) > w->slots)
			skip(w, w->jobs[i], IMPORT_OUTSIDE);
		else if (w->slots && slots_of(w, says(w, j)) > most)
			skip(w, w->jobs[i], IMPORT_TOO_LONG);
		else
			w->jobs[kept++] = w->jobs[i];
	}
	w->njobs = kept;
}

static enum auc_code use_types(struct import_window *w, struct auc_err *err)
{
	unsigned list[AUC_TYPES_MAX], n, i, used = 0;
	const struct import_job *j;
	bool small;

	for (i = 0; i < w->njobs; i++) {
		j = &w->im->jobs[w->jobs[i]];
		for (n = import_types_of(&w->types, j, list, &small); n > 0; n--) {
			used += !w->types.list[list[n - 1]].used;
			w->types.list[list[n - 1]].used = true;
		}
		w->gpu_seconds += j->gpus * j->duration;
		for (n = 0; n < IMPORT_MARKS; n++)
			w->im->counts.marks[n] += j->marks >> n & 1;
	}
	w->im->counts.imported = w->njobs;
	if (import_types_tres(&w->types) > AUC_TRES_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "the jobs use %u TRES, with each type of GPUs one, expected at "
				   "most %d: choose jobs with --queue, or types with --conf",
				   import_types_tres(&w->types), AUC_TRES_MAX);
	if (used <= AUC_TYPES_MAX)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL,
			   "parts: the jobs need %u types of workers, expected at most %d: a "
			   "smaller number makes fewer",
			   used, AUC_TYPES_MAX);
}

/* -- the file -- */

enum auc_code import_window_write(struct import_window *w, struct auc_err *err)
{
	struct import *im = w->im;
	FILE *out = im->g.out;
	struct json_object *name, *price;
	const char *text = strrchr(im->o->jobs, '/');
	bool ok;

	text = text && text[1] ? text + 1 : im->o->jobs;
	name = json_object_new_string(import_id_valid(text) && strcmp(text, "-") ? text : "import");
	fputs("{\"format\": \"" SCENARIO_FORMAT "\", \"name\": ", out);
	ok = gen_put(&im->g, "", name);
	fprintf(out, ", \"slots\": %llu, \"slot_seconds\": %.15g,\n", (unsigned long long)w->slots,
		w->slot_seconds);
	/* of a trace, whose clock nobody knows, from midnight on; of all days, as the first */
	if (import_types_hourly(&w->types) && im->unix_time)
		fprintf(out, "\"hour\": %.15g,\n", fmod(w->from, DAY_SECONDS) / 3600);
	price = import_prices_object(im, &w->types);
	if (price)
		ok = ok && gen_put(&im->g, "\"prices\": ", price);
	fputs(price ? ",\n" : "", out);
	ok = ok && import_types_write(&w->types) && write_jobs(w);
	if (!ok)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a scenario");
	return ferror(out) ? auc_err_set(err, AUC_EIO, "the scenario could not be written")
			   : AUC_OK;
}

static bool write_jobs(struct import_window *w)
{
	bool ok = true;
	unsigned i;

	fputs("\"jobs\": [\n", w->im->g.out);
	for (i = 0; i < w->njobs && ok; i++)
		ok = gen_put(&w->im->g, i ? ",\n" : "", job_object(w, w->jobs[i]));
	fputs("]}\n", w->im->g.out);
	return ok;
}

static struct json_object *job_object(struct import_window *w, unsigned index)
{
	const struct import_job *j = &w->im->jobs[index];
	struct json_object *o = json_object_new_object(), *worker = json_object_new_object(),
			   *ps = json_object_new_object(), *upload;
	struct work work;
	double wait;
	unsigned i;
	bool ok = o && worker && ps, gang = w->im->g.values[IMPORT_AS].low == 1;

	make_work(w, j, &work); /* in any case: what is drawn is the same */
	for (i = 0; i < work.ntypes && ok && !gang; i++)
		ok = gen_add_number(worker, w->types.list[work.types[i]].name,
				    work.worker_seconds[i]);
	for (i = 0; i < w->types.nps && ok && !gang; i++)
		ok = gen_add_number(ps, w->types.ps[i].name, work.ps_seconds);
	ok = ok && auc_json_add_text(o, "id", w->im->ids.list[index]) &&
	     gen_add_number(o, "arrival", (double)arrival_of(w, j)) &&
	     auc_json_add(o, "utility", utility_object(w, j));
	if (j->user != IMPORT_NO_USER)
		ok = ok && auc_json_add_text(o, "user", w->im->users.list[j->user]);
	if (gang)
		ok = ok && auc_json_add(o, "gang", shapes_array(w, j, &work));
	else
		ok = ok && gen_add_number(o, "epochs", work.epochs) &&
		     gen_add_number(o, "chunks", work.chunks) &&
		     gen_add_number(o, "minibatches", work.minibatches) &&
		     gen_add_number(o, "gradient_mb", work.gradient_mb) &&
		     auc_json_add(o, "worker_seconds", json_object_get(worker)) &&
		     auc_json_add(o, "ps_seconds", json_object_get(ps));
	if (ok && says(w, j) != j->duration)
		ok = gen_add_number(o, "true_time",
				    fmax(1e-6, rounded(j->duration / says(w, j), 6)));
	json_object_put(worker);
	json_object_put(ps);
	wait = gen_draw(&w->im->g, IMPORT_UPLOAD, 0);
	if (ok && wait > 0)
		ok = gen_add_number(o, "upload_default", wait);
	upload = ok ? upload_object(w) : NULL;
	if (upload)
		ok = auc_json_add(o, "upload_slots", upload);
	return auc_json_if(ok, o);
}

/* As it was in the log, on each type that it may use: on the nodes that the log says, or the fewest
 * that hold its GPUs. NULL: no memory. */
static struct json_object *shapes_array(struct import_window *w, const struct import_job *j,
					const struct work *work)
{
	struct json_object *list = json_object_new_array(), *o, *per_node;
	bool ok = list;

	for (unsigned i = 0; i < work->ntypes && ok; i++) {
		const struct import_type *t = &w->types.list[work->types[i]];
		double workers = import_types_workers(&w->types, work->types[i], j->gpus);
		double most = fmax(1, t->beside_ps), nodes = ceil(workers / most);
		double seconds = says(w, j);

		if (j->nodes >= nodes && j->nodes <= workers)
			nodes = j->nodes;
		if (work->step[0] > 0) /* as fast as a profile says */
			seconds *= work->step[i] / work->step[0];
		o = json_object_new_object();
		per_node = json_object_new_object();
		ok = o && per_node;
		for (unsigned k = 0; k < t->ntres && ok; k++)
			ok = gen_add_number(per_node, t->tres[k].name,
					    t->tres[k].value * ceil(workers / nodes));
		ok = ok && auc_json_add(o, "per_node", json_object_get(per_node)) &&
		     gen_add_number(o, "nodes", nodes) &&
		     gen_add_number(o, "seconds", rounded(fmax(seconds, STEP_MIN), 12)) &&
		     !json_object_array_add(list, json_object_get(o));
		json_object_put(per_node);
		json_object_put(o);
	}
	return auc_json_if(ok, list);
}

/*
 * The synchronous steps of the log: so many mini-batches for each worker, one chunk each. With as
 * many workers as in the log all of them take what the job ran for: co-located if a server holds
 * that many and a PS, else with the exchange.
 */
static void make_work(struct import_window *w, const struct import_job *j, struct work *work)
{
	struct gen *g = &w->im->g;
	const struct import_type *t = w->types.list;
	double step = gen_draw(g, IMPORT_STEP, 3), gradient = gen_draw(g, IMPORT_GRADIENT, 1);
	double epochs = gen_draw(g, IMPORT_EPOCHS, 0), steps, least = INFINITY, exchange;
	const struct import_profile *own, *other;
	double bandwidth = INFINITY, part;
	unsigned i;
	bool small;

	work->ntypes = import_types_of(&w->types, j, work->types, &small);
	own = find_profile(w->im, j, import_type_kind(&w->types, work->types[0]));
	if (own)
		step = 1 / own->steps_per_s;
	if (gradient_of(w->im, j) >= 0)
		gradient = gradient_of(w->im, j);
	steps = fmin(fmax(1, round(says(w, j) / fmax(step, STEP_MIN))), (double)AUC_WORK_MAX);
	work->epochs = fmin(epochs, steps);
	work->minibatches = fmax(1, round(steps / work->epochs));
	work->chunks = import_types_workers(&w->types, work->types[0], j->gpus);
	step = says(w, j) / (work->epochs * work->minibatches);
	for (i = 0; i < work->ntypes; i++) {
		work->step[i] = step;
		other = own ? find_profile(w->im, j, import_type_kind(&w->types, work->types[i]))
			    : NULL;
		if (other)
			work->step[i] *= own->steps_per_s / other->steps_per_s;
		least = fmin(least, work->step[i]);
		bandwidth = fmin(bandwidth, t[work->types[i]].bandwidth);
	}
	/* An exchange so long that fewer workers on one server would be faster was not in the log.
	 */
	part = g->values[IMPORT_EXCHANGE].low;
	for (i = 0; i < work->ntypes; i++)
		if (work->chunks > t[work->types[i]].beside_ps)
			part = fmin(part, 1 - t[work->types[i]].beside_ps / work->chunks);
	work->ps_seconds = rounded(least * g->values[IMPORT_PS_TIME].low, 3);
	work->gradient_mb = fmin(gradient, round_down(least * part * bandwidth / 16, 3));
	for (i = 0; i < work->ntypes; i++) {
		exchange = work->chunks <= t[work->types[i]].beside_ps
				   ? 0
				   : 16 * work->gradient_mb / t[work->types[i]].bandwidth;
		work->worker_seconds[i] = rounded(work->step[i] - work->ps_seconds - exchange, 12);
	}
}

/* The measurement of the job's model on that type of GPU that is nearest in workers and batch,
 * which may be that of all workers or of one; NULL: none. */
static const struct import_profile *find_profile(const struct import *im,
						 const struct import_job *j, const char *kind)
{
	const struct import_profile *p, *best = NULL;
	double distance, least = INFINITY, batch;
	unsigned k;

	if (j->model == IMPORT_NO_MODEL)
		return NULL;
	for (k = 0; k < im->profile_kinds.n && strcasecmp(im->profile_kinds.list[k], kind); k++)
		;
	for (p = im->profiles; p < im->profiles + im->nprofiles; p++) {
		if (p->model != j->model || p->kind != k || !(p->steps_per_s > 0))
			continue;
		batch = (double)j->batch;
		distance = 2 * fabs(log(p->workers / fmax(1, j->gpus)));
		if (batch > 0 && p->batch > 0)
			distance += fmin(fabs(log(p->batch / batch)),
					 fabs(log(p->batch / (batch * fmax(1, j->gpus)))));
		if (distance < least) {
			least = distance;
			best = p;
		}
	}
	return best;
}

static double gradient_of(const struct import *im, const struct import_job *j)
{
	const struct import_profile *p;

	for (p = im->profiles; j->model != IMPORT_NO_MODEL && p < im->profiles + im->nprofiles; p++)
		if (p->model == j->model && p->gradient_mb >= 0)
			return p->gradient_mb;
	return -1;
}

static struct json_object *utility_object(struct import_window *w, const struct import_job *j)
{
	struct json_object *o = json_object_new_object();
	struct gen *g = &w->im->g;
	unsigned form = (unsigned)g->values[IMPORT_UTILITY].low;
	double urgency = gen_draw(g, IMPORT_URGENCY, 3), slack = gen_draw(g, IMPORT_SLACK, 3);
	double fall = gen_draw(g, IMPORT_FALL, 6), target, value;
	bool ok = o && auc_json_add_text(o, "form", utilities[form]);

	value = fmin(AUC_VALUE_MAX, round(g->values[IMPORT_GPU_HOUR].low * j->gpus * j->duration /
					  3600 * urgency * 1e6) /
					    1e6);
	target = ceil(slack * slots_of(w, says(w, j)));
	if (j->deadline >= 0)
		target = fmax(1, (double)auc_floor(j->deadline / w->slot_seconds));
	switch (form) {
	case 0:
		ok = ok && gen_add_number(o, "scale", value) &&
		     gen_add_number(o, "decay", rounded(2 * LN_9 / (fall * target), 6)) &&
		     gen_add_number(o, "target", target);
		break;
	case 1:
		ok = ok && gen_add_number(o, "intercept", value) &&
		     gen_add_number(o, "slope", rounded(value / (2 * target), 6));
		break;
	case 2:
		ok = ok && gen_add_number(o, "scale", value) &&
		     gen_add_number(o, "deadline", target);
		break;
	default:
		ok = ok && gen_add_number(o, "scale", value);
	}
	return auc_json_if(ok, o);
}

/* Servers of partitions that data have to be brought to; NULL: none, or no memory. */
static struct json_object *upload_object(struct import_window *w)
{
	struct json_object *o = NULL;
	const struct import_node *n;
	unsigned i;

	for (i = 0; i < w->types.nservers; i++) {
		n = &w->im->nodes[w->types.servers[i]];
		if (!n->partition || !(n->partition->upload_seconds > 0))
			continue;
		if (!o)
			o = json_object_new_object();
		if (!o || !gen_add_number(o, n->name, slots_of(w, n->partition->upload_seconds)))
			break;
	}
	return o;
}

/* -- numbers -- */

/* At least one. */
static double slots_of(const struct import_window *w, double seconds)
{
	return fmax(1, (double)auc_ceil(seconds / w->slot_seconds));
}

/* A job that comes within a slot is seen at the start of the next. */
static uint64_t arrival_of(const struct import_window *w, const struct import_job *j)
{
	double passed = (j->submit - w->from) / w->im->g.values[IMPORT_SPEEDUP].low;

	if (w->day_seconds > 0)
		passed = fmod(fmax(0, passed), w->day_seconds);
	return 1 + (uint64_t)auc_ceil(fmax(0, passed) / w->slot_seconds);
}

/* To that many significant digits, not up. */
static double round_down(double value, int digits)
{
	double scale;

	if (!(value > 0))
		return 0;
	scale = pow(10, digits - 1 - floor(log10(value)));
	return rounded(floor(value * scale) / scale, digits);
}

/* To that many significant digits. */
static double rounded(double value, int digits)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*g", digits, value);
	return strtod(text, NULL);
}

/* -- what became of it -- */

void import_window_summarise(const struct import_window *w, struct import_summary *s)
{
	const struct import_job *j;
	unsigned i;

	*s = (struct import_summary){.servers = w->types.nservers,
				     .gpus = import_types_gpus(&w->types),
				     .gpu_seconds = w->gpu_seconds,
				     .slots = (double)w->slots,
				     .slot_seconds = w->slot_seconds,
				     .last = 1};
	for (i = 0; i < w->njobs; i++) {
		j = &w->im->jobs[w->jobs[i]];
		s->last = fmax(s->last, (double)arrival_of(w, j));
		s->early += (double)arrival_of(w, j) - 1 + slots_of(w, j->duration) > s->slots;
	}
}
