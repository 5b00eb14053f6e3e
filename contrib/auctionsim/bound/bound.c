/*
 * bound.c - see bound.h. The bound is that of common/pricing/dual/dual.h over the jobs of a
 * scenario: from the prices of a pool (common/pricing/dual/dual_prices.h) on, two thirds of the
 * iterations at prices of classes of servers, the rest at prices of their own. Policies are
 * replayed first.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <libsmartcols.h>
#include <xxhash.h>

#include "auctionsim/baseline/registry.h"
#include "auctionsim/bound/bound.h"
#include "base/clock.h"
#include "auctionsim/io/document.h"
#include "base/num.h"
#include "pricing/dual/dual.h"
#include "base/json.h"
#include "pricing/dual/dual_prices.h"
#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"
#include "auctionsim/bound/proof.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"
#include "base/list.h"
#include "auctionsim/bound/verify.h"
#include "auctionsim/scenario/scenario_market.h"

#define POLICIES_MAX    64
#define SEED_MAX        9007199254740992ULL
#define ITERATIONS      150 /* if not asked for */
#define ITERATIONS_MAX  1000000
#define POOL_ITERATIONS 300  /* that the first prices come from */
#define FIRST_WAY       1.0  /* first step of the first phase, times its iterations */
#define FIRST_STEP_MAX  0.03 /* larger ones do not get back below the pool's bound */
#define SECONDS_MAX     1e9
#define SAVE_EVERY      15.0 /* seconds */
#define STATE_MAGIC     "auction-bound-state/2"

enum { EXIT_USAGE = 2 };

/* What the words said. */
struct options {
	const char *policies[POLICIES_MAX];
	unsigned npolicies;
	const char *schedules; /* the policy whose schedules are bounded */
	const char *output, *prices, *verify, *state;
	uint64_t seed, iterations;
	double seconds, gap; /* stop then; < 0: do not */
	bool json;
};

struct bound {
	const struct options *o;
	struct scenario *s;
	uint64_t hash; /* of what the scenario says */
	struct auc_market *market;
	struct auc_job *jobs;
	struct auc_dual_job *dual_jobs;
	struct auc_dual *dual;
	struct result results[POLICIES_MAX];
	double best;    /* highest welfare of those; < 0: none */
	uint64_t done;  /* iterations */
	unsigned phase; /* that was begun last, from 1; 0: none */
	double start, saved;
	const char *stage; /* of what comes before the first iteration */
	struct auc_cancel cancel;
	bool ends; /* wherever it is, once --seconds have passed */
	bool interrupted;
	atomic_bool stop; /* after this iteration */
};

static int options_parse(struct options *o, int argc, char **argv);
static enum auc_code run(struct bound *b, const char *path, struct auc_err *err);
static enum auc_code load_scenario(struct bound *b, const char *path, struct auc_err *err);
static enum auc_code verify(const struct options *o, const char *path, bool *proven,
			    struct auc_err *err);
static enum auc_code check_policies(const struct options *o, struct auc_err *err);
static enum auc_code replay_all(struct bound *b, struct auc_err *err);
static enum auc_code open_dual(struct bound *b, struct auc_err *err);
static enum auc_code improve(struct bound *b, struct auc_err *err);
static enum auc_code start_in_pool(struct bound *b, struct auc_err *err);
static enum auc_code fit_pool(struct bound *b, struct auc_dual_prices *l, unsigned iterations,
			      struct auc_err *err);
static enum auc_code begin_phase(struct bound *b, struct auc_err *err);
static bool good_enough(const struct bound *b);
static enum auc_code load_state(struct bound *b, struct auc_err *err);
static enum auc_code save_state(struct bound *b, struct auc_err *err);
static enum auc_code write_prices(const struct bound *b, struct auc_err *err);
static enum auc_code print(const struct bound *b, struct auc_err *err);
static bool print_table(const struct bound *b, FILE *out);
static bool print_json(const struct bound *b, FILE *out);
static double gap_of(const struct bound *b, double welfare);
static FILE *open_file(const char *path, struct auc_err *err);
static enum auc_code close_file(const char *path, FILE *f, enum auc_code rc, struct auc_err *err);
static void clear(struct bound *b);
static bool stop_later(void *arg);
static bool is_late(const struct bound *b);
static enum auc_code say_late(const struct bound *b, struct auc_err *err);
static bool go_on(void *arg);
static bool replayed(void *arg, unsigned done, unsigned all);
static void begin_stage(struct bound *b, const char *stage);
static void show(const struct bound *b);
static int complain(const struct auc_err *err);
static int usage(FILE *out);

int bound_command(int argc, char **argv)
{
	struct options o = {
		.schedules = "dps", .seed = 1, .iterations = ITERATIONS, .seconds = -1, .gap = -1};
	struct bound b = {.o = &o, .best = -1};
	struct auc_err err = {0};
	int code = options_parse(&o, argc, argv);
	bool proven = true;
	enum auc_code rc;

	if (code >= 0)
		return code;
	if (optind != argc - 1) {
		fprintf(stderr, "auctionsim: bound: expected one SCENARIO\n");
		return usage(stderr);
	}
	rc = o.verify ? verify(&o, argv[optind], &proven, &err) : run(&b, argv[optind], &err);
	clear(&b);
	if (rc != AUC_OK)
		return complain(&err);
	return proven && !b.interrupted ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Returns an exit code, or -1 to go on. */
static int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{"policy", required_argument, NULL, 'p'},
		{"json", no_argument, NULL, 'j'},
		{"seed", required_argument, NULL, 's'},
		{"output", required_argument, NULL, 'o'},
		{"schedules", required_argument, NULL, 'S'},
		{"iterations", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 't'},
		{"gap", required_argument, NULL, 'g'},
		{"prices", required_argument, NULL, 'P'},
		{"verify", required_argument, NULL, 'v'},
		{"state", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct auc_err err = {0};
	enum auc_code rc = AUC_OK;
	int c;

	while (rc == AUC_OK && (c = getopt_long(argc, argv, "p:js:o:n:h", options, NULL)) != -1)
		switch (file_is_named(options, "oPvr", c) ? c : '?') {
		case 'p':
			if (o->npolicies == POLICIES_MAX)
				rc = auc_err_set(&err, AUC_EINVAL, "--policy: more than %d",
						 POLICIES_MAX);
			else
				o->policies[o->npolicies++] = optarg;
			break;
		case 'j':
			o->json = true;
			break;
		case 's':
			rc = auc_parse_count(optarg, 0, SEED_MAX, &o->seed, "--seed", &err);
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'S':
			o->schedules = optarg;
			break;
		case 'n':
			rc = auc_parse_count(optarg, 1, ITERATIONS_MAX, &o->iterations,
					     "--iterations", &err);
			break;
		case 't':
			rc = auc_parse_number(optarg, 0, SECONDS_MAX, &o->seconds, "--seconds",
					      &err);
			break;
		case 'g':
			rc = auc_parse_number(optarg, 0, 100, &o->gap, "--gap", &err);
			break;
		case 'P':
			o->prices = optarg;
			break;
		case 'v':
			o->verify = optarg;
			break;
		case 'r':
			o->state = optarg;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	if (rc == AUC_OK && o->gap >= 0 && !o->npolicies)
		rc = auc_err_set(
			&err, AUC_EINVAL,
			"--gap: expected a --policy, too: the gap is that of the best one");
	if (rc == AUC_OK)
		rc = check_policies(o, &err);
	if (rc == AUC_OK)
		return -1;
	complain(&err);
	return EXIT_USAGE;
}

/* Only policies whose schedules are among those that are bounded have a gap. */
static enum auc_code check_policies(const struct options *o, struct auc_err *err)
{
	static const char *const of_dps[] = {"dps", "unpriced", "fifo", "drf", "offline"};
	unsigned i, k, n = sizeof(of_dps) / sizeof(of_dps[0]);
	size_t len;
	bool dps = !strcmp(o->schedules, "dps");

	for (i = 0; i < o->npolicies; i++) {
		len = strcspn(o->policies[i], ",");
		for (k = 0; dps && k < n; k++)
			if (strlen(of_dps[k]) == len && !strncmp(of_dps[k], o->policies[i], len))
				break;
		if (dps ? k == n
			: strlen(o->schedules) != len ||
				    strncmp(o->schedules, o->policies[i], len) != 0)
			return auc_err_set(err, AUC_EINVAL,
					   "--policy: '%.80s' makes schedules that %.40s does not "
					   "make: the bound does not hold for it",
					   o->policies[i], o->schedules);
	}
	return AUC_OK;
}

static enum auc_code run(struct bound *b, const char *path, struct auc_err *err)
{
	enum auc_code rc;

	b->cancel = (struct auc_cancel){go_on, b};
	b->ends = b->o->seconds >= 0 && !b->o->state;
	b->stage = path;
	b->start = b->saved = auc_clock_now();
	rc = load_scenario(b, path, err);
	if (rc == AUC_OK)
		rc = open_dual(b, err);
	if (rc == AUC_OK)
		auc_dual_set_cancel(b->dual, &b->cancel);
	if (rc == AUC_OK && b->o->state)
		rc = load_state(b, err);
	if (rc == AUC_OK)
		rc = replay_all(b, err);
	if (rc == AUC_OK)
		rc = improve(b, err);
	progress_hide();
	if (rc == AUC_OK && b->o->state)
		rc = save_state(b, err);
	progress_at_stop(NULL, NULL);
	if (rc != AUC_OK)
		return rc;
	if (b->interrupted) {
		fprintf(stderr,
			"auctionsim: interrupted after %llu of %llu iterations; the same command "
			"goes on from %s\n",
			(unsigned long long)b->done, (unsigned long long)b->o->iterations,
			b->o->state);
		return AUC_OK;
	}
	if (b->o->prices)
		rc = write_prices(b, err);
	return rc == AUC_OK ? print(b, err) : rc;
}

static enum auc_code load_scenario(struct bound *b, const char *path, struct auc_err *err)
{
	struct json_object *root = NULL;
	const char *text;
	enum auc_code rc = document_load(path, &root, err);

	if (rc == AUC_OK)
		rc = scenario_read(root, path, &b->s, err);
	if (rc == AUC_OK && b->o->state) {
		text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
		if (text)
			b->hash = XXH3_64bits(text, strlen(text));
		else
			rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", path);
	}
	json_object_put(root);
	return rc;
}

static enum auc_code verify(const struct options *o, const char *path, bool *proven,
			    struct auc_err *err)
{
	char text[AUC_NUMBER_LEN], claimed[AUC_NUMBER_LEN];
	struct proof *p = NULL;
	struct scenario *s;
	long double bound;
	unsigned wrong;
	enum auc_code rc = scenario_load(path, &s, err);

	if (rc == AUC_OK)
		rc = proof_load(o->verify, s, &p, err);
	if (rc == AUC_OK)
		rc = verify_bound(s, p, &bound, &wrong, err);
	progress_hide();
	if (rc == AUC_OK) {
		*proven = bound <= (long double)p->bound * (1 + 1e-9L);
		printf("verified bound %s\n", auc_number_str((double)bound, text));
		if (wrong)
			printf("jobs whose payoff is higher than the file says: %u\n", wrong);
		if (!*proven)
			printf("the file claims %s, which its prices do not prove\n",
			       auc_number_str(p->bound, claimed));
	}
	proof_free(p);
	scenario_free(s);
	return rc;
}

static enum auc_code replay_all(struct bound *b, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = 0; i < b->o->npolicies && rc == AUC_OK; i++) {
		begin_stage(b, b->o->policies[i]);
		rc = replay_run(b->s, b->o->policies[i], b->o->seed, replayed, b, &b->results[i],
				err);
		if (rc == AUC_ESTATE && b->ends && is_late(b))
			return say_late(b, err);
		b->best = fmax(b->best, b->results[i].welfare);
		progress_hide();
		if (b->results[i].remark)
			fprintf(stderr, "auctionsim: bound: %s\n", b->results[i].remark);
	}
	return rc;
}

/* The dual of the scenario's market, its state booked, and of all its jobs. */
static enum auc_code open_dual(struct bound *b, struct auc_err *err)
{
	const struct auc_policy *policy = sim_policy_of(b->o->schedules);
	struct scenario *s = b->s;
	enum auc_code rc;
	unsigned i;

	if (!policy || !auc_policy_is_priced(policy) || policy->sites)
		return auc_err_set(
			err, AUC_EINVAL,
			"--schedules: '%.80s', expected a policy that sells, such as dps",
			b->o->schedules);
	b->jobs = calloc(s->njobs + 1, sizeof(*b->jobs));
	b->dual_jobs = calloc(s->njobs + 1, sizeof(*b->dual_jobs));
	if (!b->jobs || !b->dual_jobs)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	rc = scenario_market_create(s, NULL, &b->market, err);
	if (rc == AUC_OK)
		rc = scenario_market_state(s, b->market, err);
	for (i = 0; i < s->njobs && rc == AUC_OK; i++) {
		rc = scenario_market_job(s, &s->jobs[i], b->market, &b->jobs[i], err);
		b->dual_jobs[i] = (struct auc_dual_job){.job = &b->jobs[i], .weight = 1};
		if (rc == AUC_OK && scenario_market_is_own(&s->jobs[i]))
			rc = scenario_market_create(s, &s->jobs[i], &b->dual_jobs[i].own, err);
	}
	return rc == AUC_OK ? auc_dual_create(b->market, policy, "", b->dual_jobs, s->njobs,
					      &b->dual, err)
			    : rc;
}

static enum auc_code improve(struct bound *b, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	if (b->o->state)
		progress_at_stop(stop_later, b);
	while (rc == AUC_OK && b->done < b->o->iterations && !good_enough(b)) {
		if (b->stop) {
			b->interrupted = true;
			break;
		}
		if (!b->phase || !auc_dual_left(b->dual))
			rc = begin_phase(b, err);
		if (rc == AUC_OK)
			rc = auc_dual_step(b->dual, err);
		if (rc == AUC_ESTATE && b->ends && is_late(b)) {
			rc = b->done ? AUC_OK : say_late(b, err);
			break;
		}
		b->done++;
		show(b);
		if (rc == AUC_OK && b->o->state && auc_clock_now() - b->saved > SAVE_EVERY)
			rc = save_state(b, err);
	}
	return rc;
}

/* The first prices are those of the dual of a pool, which is many times faster. */
static enum auc_code start_in_pool(struct bound *b, struct auc_err *err)
{
	static const struct auc_price_choice exact = {AUC_PRICE_FORM_DUAL, 1};
	double scale[AUC_TRES_MAX];
	struct auc_given_price *list = NULL;
	struct auc_dual_prices *l = NULL;
	enum auc_code rc;
	size_t n;

	begin_stage(b, "first prices");
	rc = auc_dual_prices_create(b->market, sim_policy_of(b->o->schedules), "", &l, err);
	if (rc == AUC_OK) {
		auc_dual_prices_set_cancel(l, &b->cancel);
		rc = fit_pool(b, l, POOL_ITERATIONS, err);
	}
	if (rc == AUC_OK && auc_dual_prices_ready(l))
		rc = auc_dual_prices_list(l, b->market, &exact, &list, &n, err);
	for (unsigned k = 0; rc == AUC_OK && k < auc_market_ntres(b->market); k++)
		scale[k] = auc_dual_prices_scale(l, k);
	if (rc == AUC_OK && list)
		auc_dual_start(b->dual, list, n, scale);
	if (rc == AUC_OK)
		begin_stage(b, "first iteration");
	free(list);
	auc_dual_prices_destroy(l);
	return rc;
}

/*
 * In ITERATIONS, or in as many as half of the time that is left allows, by what the first one took.
 * Without prices in the end if even that is too much.
 */
static enum auc_code fit_pool(struct bound *b, struct auc_dual_prices *l, unsigned iterations,
			      struct auc_err *err)
{
	double began = auc_clock_now(), half = (b->start + b->o->seconds - began) / 2, each;
	bool timed = !b->ends;
	enum auc_code rc = auc_dual_prices_begin(l, b->market, b->dual_jobs, b->s->njobs,
						 auc_market_first(b->market), iterations, err);

	while (rc == AUC_OK && auc_dual_prices_left(l)) {
		rc = auc_dual_prices_step(l, err);
		progress_count(iterations - auc_dual_prices_left(l), iterations);
		if (rc != AUC_OK || timed)
			continue;
		timed = true;
		each = auc_clock_now() - began;
		if (each * iterations <= half)
			continue;
		iterations = (unsigned)fmax(0, half / each - 1);
		if (iterations < 2)
			return AUC_OK;
		rc = auc_dual_prices_begin(l, b->market, b->dual_jobs, b->s->njobs,
					   auc_market_first(b->market), iterations, err);
	}
	return rc;
}

/*
 * Steps are much smaller where the prices are close already. The fewer there are of the first
 * phase, the larger they are at first: prices have the same way to go.
 */
static enum auc_code begin_phase(struct bound *b, struct auc_err *err)
{
	unsigned all = (unsigned)b->o->iterations, servers = all / 3;
	static const struct auc_dual_phase phases[] = {{AUC_DUAL_CLASSES, 0, 0.01, 0.001},
						       {AUC_DUAL_SERVERS, 0, 0.005, 0.0002}};
	struct auc_dual_phase phase = phases[b->phase];
	enum auc_code rc;

	phase.iterations = b->phase ? servers : all - servers;
	if (!b->phase)
		phase.first_step =
			fmin(fmax(phase.first_step, FIRST_WAY / phase.iterations), FIRST_STEP_MAX);
	rc = auc_dual_begin(b->dual, &phase, err);
	if (rc == AUC_OK && !b->phase)
		rc = start_in_pool(b, err);
	b->phase++;
	return rc;
}

static bool good_enough(const struct bound *b)
{
	if (!b->done)
		return false;
	if (is_late(b))
		return true;
	return b->o->gap >= 0 && gap_of(b, b->best) <= b->o->gap / 100;
}

/* -- files -- */

/* Goes on where the file says, if there is one. */
static enum auc_code load_state(struct bound *b, struct auc_err *err)
{
	FILE *f = fopen(b->o->state, "re");
	char magic[40] = "", schedules[40] = "";
	unsigned long long done, iterations;
	enum auc_code rc = AUC_OK;
	unsigned phase;
	uint64_t hash;

	if (!f)
		return errno == ENOENT
			       ? AUC_OK
			       : auc_err_set(err, AUC_EIO, "%s: %s", b->o->state, strerror(errno));
	if (fscanf(f, "%39s", magic) != 1 || strcmp(magic, STATE_MAGIC) != 0)
		rc = auc_err_set(err, AUC_ECORRUPT,
				 "expected the state of a bound, " STATE_MAGIC ", found '%s'",
				 magic);
	else if (fscanf(f, "%39s %llu %llu %u %16" SCNx64, schedules, &iterations, &done, &phase,
			&hash) != 5 ||
		 fgetc(f) != '\n')
		rc = auc_err_set(err, AUC_ECORRUPT, "the state of a bound is damaged");
	else if (hash != b->hash)
		rc = auc_err_set(err, AUC_ECORRUPT, "the state of another scenario than %s",
				 b->s->file);
	else if (strcmp(schedules, b->o->schedules) != 0)
		rc = auc_err_set(err, AUC_ECORRUPT,
				 "the state of schedules %s, expected --schedules %s", schedules,
				 b->o->schedules);
	else if (iterations != b->o->iterations)
		rc = auc_err_set(err, AUC_ECORRUPT,
				 "the state of %llu iterations, expected --iterations %llu",
				 iterations, (unsigned long long)b->o->iterations);
	else if (done < 1 || done > iterations || phase < 1 || phase > 2)
		rc = auc_err_set(err, AUC_ECORRUPT, "the state of a bound is damaged");
	if (rc == AUC_OK) {
		b->done = done;
		b->phase = phase;
		rc = auc_dual_load(b->dual, f, err);
	}
	fclose(f);
	if (rc != AUC_OK)
		auc_err_prefix(err, "%s", b->o->state);
	return rc;
}

/* Into a new file first: what is there is a whole state at any time. */
static enum auc_code save_state(struct bound *b, struct auc_err *err)
{
	size_t len = strlen(b->o->state) + 5;
	char *temporary = malloc(len);
	enum auc_code rc;
	FILE *f;

	b->saved = auc_clock_now();
	if (!temporary)
		return auc_err_set(err, AUC_ENOMEM, "--state: no memory");
	snprintf(temporary, len, "%s.new", b->o->state);
	f = open_file(temporary, err);
	rc = f ? AUC_OK : AUC_EIO;
	if (f) {
		fprintf(f, STATE_MAGIC " %s %llu %llu %u %016" PRIx64 "\n", b->o->schedules,
			(unsigned long long)b->o->iterations, (unsigned long long)b->done, b->phase,
			b->hash);
		rc = close_file(temporary, f, auc_dual_save(b->dual, f, err), err);
	}
	if (rc == AUC_OK && rename(temporary, b->o->state) != 0)
		rc = auc_err_set(err, AUC_EIO, "%s: %s", b->o->state, strerror(errno));
	free(temporary);
	return rc;
}

/* Rows of servers and TRES that are ever priced. */
static enum auc_code write_prices(const struct bound *b, struct auc_err *err)
{
	const struct auc_market *m = b->market;
	unsigned s, k, t, n = 0, max = auc_market_nservers(m) * auc_market_ntres(m);
	struct proof *p = proof_create(b->s, max);
	enum auc_code rc;
	struct proof_row *row;
	bool priced;
	struct output out;

	if (p)
		p->policy = strdup(b->o->schedules);
	if (!p || !p->policy) {
		proof_free(p);
		return auc_err_set(err, AUC_ENOMEM, "no memory for the prices");
	}
	p->bound = auc_dual_bound(b->dual);
	for (s = 0; s < b->s->njobs; s++)
		p->payoff[s] = auc_dual_payoff(b->dual, s);
	for (s = 0; s < auc_market_nservers(m); s++)
		for (k = 0; k < auc_market_ntres(m); k++) {
			row = &p->rows[n];
			row->server = s;
			snprintf(row->tres, sizeof(row->tres), "%s", auc_market_tres_name(m, k));
			priced = false;
			for (t = 0; t < b->s->slots; t++) {
				row->price[t] =
					auc_dual_price(b->dual, s, k, auc_market_first(m) + t);
				priced = priced || row->price[t] > 0;
			}
			n += priced;
		}
	for (s = n; s < max; s++)
		free(p->rows[s].price);
	p->nrows = n;
	rc = output_open(&out, b->o->prices, err);
	if (rc == AUC_OK)
		rc = output_close(&out, proof_write(out.stream, b->s, p, err), err);
	proof_free(p);
	return rc;
}

static enum auc_code print(const struct bound *b, struct auc_err *err)
{
	struct output out;
	enum auc_code rc = output_open(&out, b->o->output, err);

	if (rc != AUC_OK)
		return rc;
	if (!(b->o->json ? print_json(b, out.stream) : print_table(b, out.stream)))
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for the result");
	return output_close(&out, rc, err);
}

static bool print_table(const struct bound *b, FILE *out)
{
	static const char *const heads[] = {"POLICY", "WELFARE", "OF_BOUND", "GAP"};
	struct libscols_table *table = scols_new_table();
	struct libscols_line *line;
	bool ok = table != NULL;
	char cells[3][64];
	unsigned i, k;

	fprintf(out, "%s: %u server%s, %u job%s, %llu slot%s of %g s\n", b->s->name, b->s->nservers,
		auc_plural(b->s->nservers), b->s->njobs, auc_plural(b->s->njobs),
		(unsigned long long)b->s->slots, auc_plural(b->s->slots), b->s->slot_seconds);
	fprintf(out,
		"bound %.2f after %llu iterations: no schedules of %s are worth more together\n",
		auc_dual_bound(b->dual), (unsigned long long)b->done, b->o->schedules);
	for (i = 0; i < 4 && ok; i++)
		ok = scols_table_new_column(table, heads[i], 0, i ? SCOLS_FL_RIGHT : 0) != NULL;
	for (i = 0; i < b->o->npolicies && ok; i++) {
		snprintf(cells[0], sizeof(cells[0]), "%.2f", b->results[i].welfare);
		snprintf(cells[1], sizeof(cells[1]), "%.2f%%",
			 100 * (1 - gap_of(b, b->results[i].welfare)));
		snprintf(cells[2], sizeof(cells[2]), "%.2f%%",
			 100 * gap_of(b, b->results[i].welfare));
		line = scols_table_new_line(table, NULL);
		ok = line && !scols_line_set_data(line, 0, b->results[i].policy);
		for (k = 0; k < 3 && ok; k++)
			ok = !scols_line_set_data(line, k + 1, cells[k]);
	}
	if (ok && b->o->npolicies) {
		scols_table_set_stream(table, out);
		ok = !scols_print_table(table);
	}
	scols_unref_table(table);
	return ok;
}

static bool print_json(const struct bound *b, FILE *out)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array(), *one;
	const char *text = NULL;
	bool ok = o && list;
	unsigned i;

	for (i = 0; i < b->o->npolicies && ok; i++) {
		one = json_object_new_object();
		ok = one && auc_json_add_text(one, "policy", b->results[i].policy) &&
		     auc_json_add_number(one, "welfare", b->results[i].welfare) &&
		     auc_json_add_number(one, "share", 1 - gap_of(b, b->results[i].welfare)) &&
		     auc_json_add_number(one, "gap", gap_of(b, b->results[i].welfare)) &&
		     !json_object_array_add(list, one);
		if (!ok)
			json_object_put(one);
	}
	ok = ok && auc_json_add_text(o, "format", BOUND_FORMAT) &&
	     auc_json_add_text(o, "scenario", b->s->name) &&
	     auc_json_add_text(o, "schedules", b->o->schedules) &&
	     auc_json_add_number(o, "bound", auc_dual_bound(b->dual)) &&
	     auc_json_add_int(o, "iterations", (int64_t)b->done) &&
	     auc_json_add_int(o, "seed", (int64_t)b->o->seed) &&
	     auc_json_add(o, "policies", json_object_get(list));
	if (ok)
		text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_SPACED |
								 JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(list);
	json_object_put(o);
	return text != NULL;
}

/* What is missing to the bound, as a part of it. */
static double gap_of(const struct bound *b, double welfare)
{
	double bound = auc_dual_bound(b->dual);

	return bound > 0 ? (bound - welfare) / bound : 0;
}

static FILE *open_file(const char *path, struct auc_err *err)
{
	FILE *f = fopen(path, "we");

	if (!f)
		auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	return f;
}

/* Returns RC, or what closing adds to it. */
static enum auc_code close_file(const char *path, FILE *f, enum auc_code rc, struct auc_err *err)
{
	bool failed = ferror(f);

	failed = fclose(f) != 0 || failed;
	return failed && rc == AUC_OK ? auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno))
				      : rc;
}

static void clear(struct bound *b)
{
	unsigned i;

	auc_dual_destroy(b->dual);
	for (i = 0; b->s && b->dual_jobs && i < b->s->njobs; i++) {
		auc_job_clear(&b->jobs[i]);
		auc_market_destroy(b->dual_jobs[i].own);
	}
	for (i = 0; i < b->o->npolicies; i++)
		result_clear(&b->results[i]);
	free(b->jobs);
	free(b->dual_jobs);
	auc_market_destroy(b->market);
	scenario_free(b->s);
}

/* There is a state that is worth to be kept: not now. */
static bool stop_later(void *arg)
{
	struct bound *b = arg;

	b->stop = true;
	return false;
}

static bool is_late(const struct bound *b)
{
	return b->o->seconds >= 0 && auc_clock_now() - b->start >= b->o->seconds;
}

static enum auc_code say_late(const struct bound *b, struct auc_err *err)
{
	return auc_err_set(err, AUC_ESTATE,
			   "--seconds: there is no bound after %g s (%.80s), expected more time",
			   b->o->seconds, b->stage);
}

/* Asked before each quote. */
static bool go_on(void *arg)
{
	struct bound *b = arg;

	return !b->ends || !is_late(b);
}

static bool replayed(void *arg, unsigned done, unsigned all)
{
	struct bound *b = arg;

	progress_count(done, all);
	return go_on(b);
}

/* STAGE is kept. */
static void begin_stage(struct bound *b, const char *stage)
{
	b->stage = stage;
	progress_say("%.80s", stage);
}

/* After an iteration. */
static void show(const struct bound *b)
{
	double passed = auc_clock_now() - b->start, left;
	char gap[40] = "";

	left = passed / (double)b->done * (double)(b->o->iterations - b->done);
	if (b->o->seconds >= 0)
		left = fmin(left, fmax(0, b->o->seconds - passed));
	if (b->best >= 0)
		snprintf(gap, sizeof(gap), ", gap %.2f%%", 100 * gap_of(b, b->best));
	progress_say("iteration %llu of %llu, bound %.2f%s, %.0f s left",
		     (unsigned long long)b->done, (unsigned long long)b->o->iterations,
		     auc_dual_bound(b->dual), gap, left);
}

static int complain(const struct auc_err *err)
{
	progress_hide();
	fprintf(stderr, "auctionsim: bound: %s\n", err->text);
	return EXIT_FAILURE;
}

static int usage(FILE *out)
{
	fputs("Usage: auctionsim bound [OPTION...] SCENARIO\n"
	      "       auctionsim bound --verify FILE SCENARIO\n"
	      "\n"
	      "What all jobs of a scenario are worth together at most, proven by prices, and how "
	      "far policies are from it.\n"
	      "  -p, --policy NAME[,OPTION=VALUE...]  replay it and print its gap; more than once: "
	      "each\n"
	      "      --schedules POLICY  bound the schedules of this policy (dps)\n"
	      "  -n, --iterations N   of the method (150)\n"
	      "      --seconds N      stop after that time\n"
	      "      --gap PERCENT    stop when the best policy is that close\n"
	      "      --prices FILE    write the prices that prove the bound\n"
	      "      --verify FILE    work out the bound from such a file again, with other code; "
	      "exit 1: not proven\n"
	      "      --state FILE     keep the state there; the same command goes on where it was "
	      "interrupted\n"
	      "  -j, --json           print auction-bound/1, not a table\n"
	      "  -o, --output FILE    write there\n"
	      "  -s, --seed N         of what is random in a policy (1)\n",
	      out);
	return out == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}
