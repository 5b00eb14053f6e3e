/*
 * posted.c - what posted prices earn, and how fast they are decided (posted.md).
 *
 * posted row BUDGET LOAD SEED: revenue against the best fixed prices: hindsight, others, simplex,
 * and with the pricings shared, bandit, DPS-simple, TOP and Random.
 *
 * posted others BUDGET LOAD SEED: of these, others and the pricing shared alone.
 *
 * posted shift SEED: by tenths of the horizon, demand being another from half of it on, against the
 * fixed prices that are best for each half.
 *
 * posted figure N SEED: what Figure N of the paper compares, N one of 3 (and 4), 5, 6, 7, 8, 9 (and
 * 10), 11 (and 12) and 13.
 *
 * posted times: microseconds a job, of all that a run does with it, at the paper's scale and at ten
 * times that, beside a loop that sorts all servers and works out all prices for each job, as
 * printed; of pricing shared also without what it learns of the answer, and without any pricing.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/baseline/posted_rivals.h"
#include "auctionsim/gen/gen.h"
#include "bench/measure.h"
#include "auctionsim/run/posted_world.h"
#include "auctionsim/scenario/scenario.h"

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

	if (!out || gen_write(gen_find("posted"), (char **)words, n, seed, NULL, out, &err) != AUC_OK)
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

static void row(const char *budget, const char *load, const char *seed)
{
	static const struct posted_rules rules[] = {
		{.pricing = &auc_posted_shared},
		{.pricing = &sim_posted_bandit, .theta = AUC_POSTED_THETA_AUTO},
		{.pricing = &sim_posted_bandit, .theta = 0},
		{.pricing = &sim_posted_top},
		{.pricing = &sim_posted_random},
	};
	struct posted_world w, others;

	make_halves(strtoull(seed, NULL, 10), budget, atof(load), NULL, &w, &others);
	printf("%s %s %s", budget, load, seed);
	printf(" %.1f", best(&w, &w, false));
	printf(" %.1f", best(&others, &w, false));
	printf(" %.1f", best(&w, &w, true));
	for (unsigned r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
		struct posted_rules one = rules[r];

		one.seed = strtoull(seed, NULL, 10);
		printf(" %.1f", revenue(&w, one));
	}
	printf("\n");
	posted_world_close(&w);
	posted_world_close(&others);
}

static void row_others(const char *budget, const char *load, const char *seed)
{
	struct posted_rules shared = {.pricing = &auc_posted_shared,
				      .seed = strtoull(seed, NULL, 10)};
	struct posted_world w, others;

	make_halves(shared.seed, budget, atof(load), NULL, &w, &others);
	printf("%s %s %s", budget, load, seed);
	printf(" %.1f", best(&others, &w, false));
	printf(" %.1f\n", revenue(&w, shared));
	posted_world_close(&w);
	posted_world_close(&others);
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

static void shift(const char *seed)
{
	static const double factors[] = {0.5, 2};
	struct posted_rules rules[] = {
		{.pricing = &auc_posted_shared},
		{.pricing = &sim_posted_bandit, .theta = AUC_POSTED_THETA_AUTO}};
	struct posted_rules fixed = {.placement = AUC_POSTED_PA};
	double prices[2 * AUC_TYPES_MAX], before[10], after[10], earned[10];
	struct auc_err err = {.text = ""};
	struct posted_world w, others;
	uint64_t number = strtoull(seed, NULL, 10);
	char word[64];

	make_halves(number, "normal", 1, NULL, &w, &others);
	posted_world_close(&others);
	if (posted_world_best(&w, &fixed, false, prices, &err) != AUC_OK)
		fail(&err);
	posted_world_close(&w);
	fixed.fixed = prices;
	for (unsigned f = 0; f < 2; f++) {
		snprintf(word, sizeof(word), "shift=%g", factors[f]);
		make_halves(number, "normal", 1, word, &w, &others);
		tenths(&w, fixed, before);
		for (unsigned k = 0; k < 2 * AUC_TYPES_MAX; k++)
			prices[k] *= factors[f];
		tenths(&w, fixed, after);
		for (unsigned k = 0; k < 2 * AUC_TYPES_MAX; k++)
			prices[k] /= factors[f];
		for (unsigned r = 0; r < 2; r++) {
			rules[r].seed = number;
			tenths(&w, rules[r], earned);
			printf("%g %s %s", factors[f], seed, r ? "bandit" : "shared");
			for (unsigned k = 0; k < 10; k++)
				printf(" %.3f", earned[k] / (k < 5 ? before : after)[k]);
			printf("\n");
		}
		posted_world_close(&w);
		posted_world_close(&others);
	}
}

#define BANDIT .pricing = &sim_posted_bandit, .theta = AUC_POSTED_THETA_AUTO
#define PAPER  .pricing = &sim_posted_bandit, .theta = AUC_POSTED_THETA_AUTO, .dynamic = true

/* What a figure of the paper compares: budgets uniform, load 1, the paper's setting but for WORDS.
 */
static const struct point {
	const char *figure, *label, *words[3];
	struct posted_rules rules;
} points[] = {
	{"3", "DPS", {NULL}, {BANDIT}},
	{"3", "DPS-simple", {NULL}, {.pricing = &sim_posted_bandit}},
	{"3", "TOP", {NULL}, {.pricing = &sim_posted_top}},
	{"3", "Random", {NULL}, {.pricing = &sim_posted_random}},
	{"3", "shared", {NULL}, {.pricing = &auc_posted_shared}},
	{"5", "0.1N", {"jobs=1000", "load=0.1"}, {BANDIT}},
	{"5", "N", {NULL}, {BANDIT}},
	{"5", "5N", {"jobs=50000", "load=5"}, {BANDIT}},
	{"5", "10N", {"jobs=100000", "load=10"}, {BANDIT}},
	{"6", "0.5C", {"workers=0:15", "ps=0:9", "load=2"}, {BANDIT}},
	{"6", "C", {NULL}, {BANDIT}},
	{"6", "5C", {"workers=0:150", "ps=0:90", "load=0.2"}, {BANDIT}},
	{"6", "10C", {"workers=0:300", "ps=0:180", "load=0.1"}, {BANDIT}},
	{"7", "delta/4", {NULL}, {BANDIT, .delta = 0.25}},
	{"7", "delta/2", {NULL}, {BANDIT, .delta = 0.5}},
	{"7", "delta", {NULL}, {BANDIT}},
	{"7", "2delta", {NULL}, {BANDIT, .delta = 2}},
	{"7", "4delta", {NULL}, {BANDIT, .delta = 4}},
	{"8", "theta=0", {NULL}, {.pricing = &sim_posted_bandit}},
	{"8", "theta=0.01", {NULL}, {.pricing = &sim_posted_bandit, .theta = 0.01}},
	{"8", "theta=0.05", {NULL}, {.pricing = &sim_posted_bandit, .theta = 0.05}},
	{"8", "theta=0.1", {NULL}, {.pricing = &sim_posted_bandit, .theta = 0.1}},
	{"8", "theta=0.3", {NULL}, {.pricing = &sim_posted_bandit, .theta = 0.3}},
	{"9", "PA", {NULL}, {PAPER}},
	{"9", "RS", {NULL}, {PAPER, .placement = SIM_POSTED_RS}},
	{"11", "5,PA", {"workers=0:5", "ps=0:3", "load=6"}, {PAPER}},
	{"11", "5,UPA", {"workers=0:5", "ps=0:3", "load=6"}, {PAPER, .placement = AUC_POSTED_UPA}},
	{"11", "5,CHA", {"workers=0:5", "ps=0:3", "load=6"}, {PAPER, .placement = SIM_POSTED_CHA}},
	{"11", "15,PA", {"workers=0:15", "ps=0:9", "load=2"}, {PAPER}},
	{"11",
	 "15,UPA",
	 {"workers=0:15", "ps=0:9", "load=2"},
	 {PAPER, .placement = AUC_POSTED_UPA}},
	{"11",
	 "15,CHA",
	 {"workers=0:15", "ps=0:9", "load=2"},
	 {PAPER, .placement = SIM_POSTED_CHA}},
	{"11", "20,PA", {"workers=0:20", "ps=0:12", "load=1.5"}, {PAPER}},
	{"11",
	 "20,UPA",
	 {"workers=0:20", "ps=0:12", "load=1.5"},
	 {PAPER, .placement = AUC_POSTED_UPA}},
	{"11",
	 "20,CHA",
	 {"workers=0:20", "ps=0:12", "load=1.5"},
	 {PAPER, .placement = SIM_POSTED_CHA}},
	{"11", "30,PA", {NULL}, {PAPER}},
	{"11", "30,UPA", {NULL}, {PAPER, .placement = AUC_POSTED_UPA}},
	{"11", "30,CHA", {NULL}, {PAPER, .placement = SIM_POSTED_CHA}},
	{"13", "PA", {NULL}, {PAPER}},
	{"13", "UPA", {NULL}, {PAPER, .placement = AUC_POSTED_UPA}},
	{"13", "CHA", {NULL}, {PAPER, .placement = SIM_POSTED_CHA}},
	{"13", "RS", {NULL}, {PAPER, .placement = SIM_POSTED_RS}},
};

/* One line for each of its points: revenue against BFP by simplex, mean runtime of a job in slots,
 * GB between servers for each job, and after each tenth what was earned so far against BFP then. */
static void figure(const char *name, const char *seed)
{
	struct posted_rules fixed = {.placement = AUC_POSTED_PA}, rules;
	double prices[2 * AUC_TYPES_MAX], bfp[10], earned[10], all, sum;
	struct auc_err err = {.text = ""};
	struct posted_run run;
	struct posted_world w;
	struct scenario *s;
	unsigned n;

	for (const struct point *p = points; p < points + sizeof(points) / sizeof(points[0]); p++) {
		if (strcmp(p->figure, name) != 0)
			continue;
		for (n = 0; n < 3 && p->words[n]; n++)
			;
		s = make(strtoull(seed, NULL, 10), p->words, n);
		if (posted_world_open(s, 0, 1, &w, &err) != AUC_OK)
			fail(&err);
		scenario_free(s);
		fixed.dynamic = p->rules.dynamic;
		if (posted_world_best(&w, &fixed, true, prices, &err) != AUC_OK)
			fail(&err);
		fixed.fixed = prices;
		tenths(&w, fixed, bfp);
		rules = p->rules;
		rules.seed = strtoull(seed, NULL, 10);
		tenths(&w, rules, earned);
		run = (struct posted_run){.revenue = 0};
		if (posted_world_run(&w, &rules, &run, &err) != AUC_OK)
			fail(&err);
		for (n = 0, all = 0; n < 10; n++)
			all += bfp[n];
		printf("%s %s %s %.3f %.2f %.2f", name, p->label, seed, run.revenue / all,
		       run.runtime / fmax(1, run.accepted),
		       run.exchanged_gb / fmax(1, run.accepted));
		for (n = 0, all = sum = 0; n < 10; n++) {
			all += bfp[n];
			sum += earned[n];
			printf(" %.3f", sum / all);
		}
		printf("\n");
		fixed.fixed = NULL;
		posted_world_close(&w);
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

/* Pricing shared, whose offers are put down, or made again as they were: with or without what is
 * learned of the answers. */
static struct {
	double (*price)[AUC_POSTED_KINDS];
	unsigned n;
	bool again, learns;
	void *self;
} tape;

static enum auc_code tape_create(const struct auc_posted_terms *terms, void **self,
				 struct auc_err *err)
{
	enum auc_code rc = auc_posted_shared.create(terms, &tape.self, err);

	tape.n = 0;
	*self = tape.self;
	return rc;
}

static void tape_offer(void *self, struct auc_posted_offer *offer)
{
	if (tape.again)
		memcpy(offer->price, tape.price[tape.n], sizeof(offer->price));
	else
		auc_posted_shared.offer(self, offer);
	memcpy(tape.price[tape.n++], offer->price, sizeof(offer->price));
}

static void tape_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			  bool accepted)
{
	if (tape.learns)
		auc_posted_shared.answered(self, offer, offered, accepted);
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

/* Prints what pricing shared takes in all, but for learning, and but for all pricing. */
static void time_shared(const struct posted_world *w)
{
	struct auc_posted_pricing pricing = {.create = tape_create,
					     .destroy = auc_posted_shared.destroy,
					     .offer = tape_offer,
					     .answered = tape_answered};
	struct posted_rules rules = {.pricing = &pricing, .seed = 1};
	double all, learning, placing;

	tape.price = calloc(w->njobs + 1, sizeof(*tape.price));
	if (!tape.price)
		exit(1);
	tape.again = false;
	tape.learns = true;
	all = median_us(w, rules);
	tape.again = true;
	learning = median_us(w, rules);
	tape.learns = false;
	placing = median_us(w, rules);
	printf(" %.2f %.2f %.2f", all, all - (learning - placing), placing);
	free(tape.price);
}

static void times(void)
{
	static const char *const scales[][2] = {{"servers=50", "jobs=10000"},
						{"servers=500", "jobs=100000"}};
	static const double none[2 * AUC_TYPES_MAX];
	struct auc_err err = {.text = ""};
	struct posted_world w;
	struct scenario *s;

	printf("servers jobs reference placing placing-upa bandit shared unlearned unpriced\n");
	for (unsigned i = 0; i < 2; i++) {
		s = make(1, scales[i], 2);
		if (posted_world_open(s, 0, 1, &w, &err) != AUC_OK)
			fail(&err);
		scenario_free(s);
		printf("%u %u %.2f %.2f %.2f %.2f", w.nservers, w.njobs, reference(&w),
		       median_us(&w, (struct posted_rules){.fixed = none}),
		       median_us(&w,
				 (struct posted_rules){.fixed = none, .placement = AUC_POSTED_UPA}),
		       median_us(&w, (struct posted_rules){.pricing = &sim_posted_bandit,
							   .theta = AUC_POSTED_THETA_AUTO}));
		time_shared(&w);
		printf("\n");
		posted_world_close(&w);
	}
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "row")) {
		row(argv[2], argv[3], argv[4]);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "others")) {
		row_others(argv[2], argv[3], argv[4]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "shift")) {
		shift(argv[2]);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "figure")) {
		figure(argv[2], argv[3]);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "times")) {
		times();
		return 0;
	}
	fprintf(stderr,
		"usage: posted row|others BUDGET LOAD SEED | shift SEED | figure N SEED | times\n");
	return 2;
}
