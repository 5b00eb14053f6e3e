/*
 * posted.c - what posted prices earn, and how fast they are decided: tests/bench/posted-report runs
 * it.
 *
 * posted table SEED...: revenue against the best fixed prices, 7 distributions of budgets at 3
 * loads.
 *
 * posted shift SEED...: by tenths of the horizon, demand being another from half of it on, against
 * the fixed prices that are best for each half.
 *
 * posted times: microseconds a job, of all that a run does with it, at the paper's scale and at ten
 * times that, beside a loop that sorts all servers and works out all prices for each job, as
 * printed.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "measure.h"
#include "posted_world.h"
#include "scenario.h"

static const char *const budgets[] = {"uniform", "normal", "lognormal", "bimodal",
				      "narrow",  "heavy",  "correlated"};
static const char *const loads[] = {"0.3", "1", "3"};

static void fail(const struct auc_err *err)
{
	fprintf(stderr, "posted: %s\n", err->text);
	exit(1);
}

/* A scenario of the paper's setting. */
static struct scenario *make(uint64_t seed, const char *const *words, unsigned n)
{
	struct auc_err err = {.text = ""};
	struct scenario *s;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out || gen_write(gen_find("posted"), (char **)words, n, seed, out, &err) != AUC_OK)
		fail(&err);
	fclose(out);
	if (scenario_parse(text, size, "made", &s, &err) != AUC_OK)
		fail(&err);
	free(text);
	return s;
}

/* Twice the jobs at twice the load: each half of them is the market, and one knows nothing of the
 * other's. */
static void make_halves(uint64_t seed, const char *budget, double load, const char *more,
			struct posted_world *these, struct posted_world *others)
{
	char words[3][64];
	const char *list[] = {words[0], words[1], words[2], more};
	struct auc_err err = {.text = ""};
	struct scenario *s;

	snprintf(words[0], sizeof(words[0]), "jobs=20000");
	snprintf(words[1], sizeof(words[1]), "load=%g", 2 * load);
	snprintf(words[2], sizeof(words[2]), "budget=%s", budget);
	s = make(seed, list, more ? 4 : 3);
	if (posted_world_open(s, 0, 2, these, &err) != AUC_OK ||
	    posted_world_open(s, 1, 2, others, &err) != AUC_OK)
		fail(&err);
	scenario_free(s);
}

static double revenue(const struct posted_world *w, struct posted_rules rules)
{
	struct auc_err err = {.text = ""};
	struct posted_run run = {.revenue = 0};

	if (posted_world_run(w, &rules, &run, &err) != AUC_OK)
		fail(&err);
	return run.revenue;
}

static double best(const struct posted_world *fit, const struct posted_world *w, bool simplex)
{
	struct posted_rules rules = {.placement = AUC_POSTED_PA};
	double prices[2 * AUC_TYPES_MAX];
	struct auc_err err = {.text = ""};

	if (posted_world_best(fit, &rules, simplex, prices, &err) != AUC_OK)
		fail(&err);
	rules.fixed = prices;
	return revenue(w, rules);
}

static void table(int n, char **seeds)
{
	static const struct posted_rules rules[] = {
		{.pricing = &auc_posted_shared},
		{.pricing = &auc_posted_bandit, .theta = AUC_POSTED_THETA_AUTO},
		{.pricing = &auc_posted_bandit, .theta = 0},
		{.pricing = &auc_posted_top},
		{.pricing = &auc_posted_random},
	};
	struct posted_world w, others;

	printf("budget load seed hindsight others simplex shared bandit simple top random\n");
	for (unsigned b = 0; b < 7; b++)
		for (unsigned l = 0; l < 3; l++)
			for (int i = 0; i < n; i++) {
				uint64_t seed = strtoull(seeds[i], NULL, 10);

				make_halves(seed, budgets[b], atof(loads[l]), NULL, &w, &others);
				printf("%s %s %s", budgets[b], loads[l], seeds[i]);
				printf(" %.1f", best(&w, &w, false));
				printf(" %.1f", best(&others, &w, false));
				printf(" %.1f", best(&w, &w, true));
				for (unsigned r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
					struct posted_rules one = rules[r];

					one.seed = seed;
					printf(" %.1f", revenue(&w, one));
				}
				printf("\n");
				fflush(stdout);
				posted_world_close(&w);
				posted_world_close(&others);
			}
}

/* Earned in each tenth of the horizon. */
static void tenths(const struct posted_world *w, struct posted_rules rules, double *earned)
{
	struct posted_run run = {.earned = calloc((size_t)w->slots + 1, sizeof(double))};
	struct auc_err err = {.text = ""};
	unsigned all = (unsigned)w->slots, i;

	if (!run.earned || posted_world_run(w, &rules, &run, &err) != AUC_OK)
		fail(&err);
	for (i = 0; i < 10; i++)
		earned[i] =
			run.earned[all * (i + 1) / 10 - 1] - (i ? run.earned[all * i / 10 - 1] : 0);
	free(run.earned);
}

static void shift(int n, char **seeds)
{
	static const double factors[] = {0.5, 2};
	struct posted_rules rules[] = {
		{.pricing = &auc_posted_shared},
		{.pricing = &auc_posted_bandit, .theta = AUC_POSTED_THETA_AUTO}};
	struct posted_rules fixed = {.placement = AUC_POSTED_PA};
	double prices[2 * AUC_TYPES_MAX], before[10], after[10], earned[10];
	struct auc_err err = {.text = ""};
	struct posted_world w, others;
	char word[64];

	printf("factor seed pricing tenths 1 to 10\n");
	for (unsigned f = 0; f < 2; f++)
		for (int i = 0; i < n; i++) {
			uint64_t seed = strtoull(seeds[i], NULL, 10);

			make_halves(seed, "normal", 1, NULL, &w, &others);
			posted_world_close(&others);
			if (posted_world_best(&w, &fixed, false, prices, &err) != AUC_OK)
				fail(&err);
			posted_world_close(&w);
			snprintf(word, sizeof(word), "shift=%g", factors[f]);
			make_halves(seed, "normal", 1, word, &w, &others);
			fixed.fixed = prices;
			tenths(&w, fixed, before);
			for (unsigned k = 0; k < 2 * AUC_TYPES_MAX; k++)
				prices[k] *= factors[f];
			tenths(&w, fixed, after);
			for (unsigned r = 0; r < 2; r++) {
				rules[r].seed = seed;
				tenths(&w, rules[r], earned);
				printf("%g %s %s", factors[f], seeds[i], rules[r].pricing->word);
				for (unsigned k = 0; k < 10; k++)
					printf(" %.3f", earned[k] / (k < 5 ? before : after)[k]);
				printf("\n");
			}
			posted_world_close(&w);
			posted_world_close(&others);
		}
}

static int compare_idle(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x < y) - (x > y);
}

/* What the print asks for with every job: all servers sorted, and a bound with its root for each
 * price of both types. */
static double reference(const struct posted_world *w)
{
	int32_t *idle = malloc((w->nservers + 1) * sizeof(*idle));
	volatile double sink = 0;
	double best, start = measure_cpu();
	unsigned i, k;

	for (i = 0; i < w->njobs && idle; i++) {
		memcpy(idle, w->capacity[0] + w->users[i].ask.type[0] * w->nservers,
		       w->nservers * sizeof(*idle));
		qsort(idle, w->nservers, sizeof(*idle), compare_idle);
		for (k = 1, best = 0; k <= 450; k++)
			best = fmax(best, k * (9.0 / (1 + i % k) + sqrt(9.0 * k / (1 + i % k))));
		sink = sink + best + idle[0];
	}
	free(idle);
	return (measure_cpu() - start) / fmax(1, w->njobs) * 1e6;
}

static double median_us(const struct posted_world *w, struct posted_rules rules)
{
	double us[5], swap;

	for (unsigned i = 0; i < 5; i++) {
		double start = measure_cpu();

		(void)revenue(w, rules);
		us[i] = (measure_cpu() - start) / w->njobs * 1e6;
		for (unsigned k = i; k && us[k] < us[k - 1]; k--) {
			swap = us[k];
			us[k] = us[k - 1];
			us[k - 1] = swap;
		}
	}
	return us[2];
}

static void times(void)
{
	static const char *const scales[][2] = {{"servers=50", "jobs=10000"},
						{"servers=500", "jobs=100000"}};
	static const double none[2 * AUC_TYPES_MAX];
	struct auc_err err = {.text = ""};
	struct posted_world w;
	struct scenario *s;

	printf("servers jobs reference placing bandit shared placing-upa\n");
	for (unsigned i = 0; i < 2; i++) {
		s = make(1, scales[i], 2);
		if (posted_world_open(s, 0, 1, &w, &err) != AUC_OK)
			fail(&err);
		scenario_free(s);
		printf("%u %u %.2f %.2f %.2f %.2f %.2f\n", w.nservers, w.njobs, reference(&w),
		       median_us(&w, (struct posted_rules){.fixed = none}),
		       median_us(&w, (struct posted_rules){.pricing = &auc_posted_bandit,
							   .theta = AUC_POSTED_THETA_AUTO}),
		       median_us(&w,
				 (struct posted_rules){.pricing = &auc_posted_shared, .seed = 1}),
		       median_us(&w, (struct posted_rules){.fixed = none,
							   .placement = AUC_POSTED_UPA}));
		posted_world_close(&w);
	}
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "table")) {
		table(argc - 2, argv + 2);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "shift")) {
		shift(argc - 2, argv + 2);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "times")) {
		times();
		return 0;
	}
	fprintf(stderr, "usage: posted table SEED... | shift SEED... | times\n");
	return 2;
}
