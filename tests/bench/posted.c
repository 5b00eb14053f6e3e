/*
 * posted.c - what posted prices earn, and how fast they are decided: tests/bench/posted-report runs
 * it. posted table SEED...      revenue of the pricings against the best fixed prices: 7
 * distributions of budgets x 3 loads posted shift SEED...      before and after demand shifts,
 * against fixed prices that know each half
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
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
	bool quick = getenv("POSTED_QUICK") != NULL;
	struct posted_world w, others;

	printf("budget load seed hindsight others simplex shared bandit simple top random\n");
	for (unsigned b = 0; b < 7; b++)
		for (unsigned l = 0; l < 3; l++)
			for (int i = 0; i < n; i++) {
				uint64_t seed = strtoull(seeds[i], NULL, 10);

				make_halves(seed, budgets[b], atof(loads[l]), NULL, &w, &others);
				printf("%s %s %s", budgets[b], loads[l], seeds[i]);
				printf(" %.1f", best(&w, &w, false));
				printf(" %.1f", quick ? 0 : best(&others, &w, false));
				printf(" %.1f", quick ? 0 : best(&w, &w, true));
				for (unsigned r = 0;
				     r < (quick ? 1 : sizeof(rules) / sizeof(rules[0])); r++) {
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

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "table")) {
		table(argc - 2, argv + 2);
		return 0;
	}
	fprintf(stderr, "usage: posted table SEED...\n");
	return 2;
}
