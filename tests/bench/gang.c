/*
 * gang.c - the time of a quote of a gang in a fragmented market, in CPU time of the thread, the
 * least of some tries, and that it allocates nothing. With a bound in microseconds it fails if the
 * p99 is above it; with a ratio, too, only if the p99 is also more than so many times what one
 * plain look at each cell of the market costs on this machine at this time (the reference).
 *
 *     bench/gang [SERVERS [SLOTS [JOBS [BOUND_US [RATIO]]]]]
 *
 * The market: nodes of 8 GPUs, 40 on a switch, on which random gangs are sold until about three
 * quarters of the GPU time are. Bids are those of a log: most for a part of a node, some for many
 * nodes; for up to a third of the window; half of them with a deadline, before which all
 * completions are worth the same. Prices are those of the published function, then given ones that
 * differ from node to node and from slot to slot.
 */
#include "config.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "market/timeline.h"
#include "policy/policy.h"

#define NODES_OF_SWITCH 40
#define TRIES           3

static struct auc_err err;

static void must(enum auc_code rc)
{
	measure_must("gang", rc, &err);
}

static struct auc_market *make_market(unsigned servers, unsigned slots)
{
	static const struct auc_named capacity[] = {
		{"gres/gpu:a100", 8}, {"cpu", 96}, {"mem", 1024000}};
	struct auc_price price = {.neta = 3,
				  .eta = {{"gres/gpu:a100", 6}, {"cpu", 1.2}, {"mem", 1.0001}}};
	struct auc_market *m = auc_market_create(slots, 300, 1000);
	char name[AUC_NAME_MAX];

	for (unsigned i = 0; i < servers; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		must(auc_market_add_server(m, name, "gpu", false, 3, 0, capacity, 3, &err));
		snprintf(name, sizeof(name), "leaf%u", i / NODES_OF_SWITCH);
		must(auc_market_set_switch(m, name, &err));
	}
	must(auc_market_ready(m, &price, &err));
	return m;
}

/* 1 to MOST, small ones more often. */
static unsigned few(unsigned most)
{
	return (unsigned)exp(log(most + 0.999) * measure_uniform());
}

static void make_gang(const struct auc_market *m, struct auc_job *job)
{
	double value = exp(5 * measure_uniform()), kind = measure_uniform();
	unsigned slots = (unsigned)(auc_market_last(m) - auc_market_first(m)) + 1, gpus = 8;
	unsigned nodes = 1, d = few(slots / 3), shapes = measure_uniform() < 0.2 ? 4 : 1;

	if (kind < 0.7)
		gpus = few(7);
	else if (kind > 0.85)
		nodes = few(64);
	struct auc_named per_node[] = {{"gres/gpu:a100", gpus},
				       {"cpu", gpus * 11.5},
				       {"mem", gpus * (16000 + 8000 * (double)few(8))}};

	job->arrival = auc_market_first(m);
	job->nshapes = 0;
	job->within_switch = nodes > 1 && nodes <= 16 && measure_uniform() < 0.3;
	memset(&job->utility, 0, sizeof(job->utility));
	job->utility.scale = value * d * gpus * nodes * 0.1;
	job->utility.form = AUC_FORM_DEADLINE;
	job->utility.target = d + measure_uniform() * slots;
	if (measure_uniform() < 0.5) {
		job->utility.form = AUC_FORM_SIGMOID;
		job->utility.decay = 10.0 / slots * measure_uniform();
		job->utility.target = slots / 2.0 * measure_uniform();
	}
	/* a table of running times */
	for (unsigned i = 0; i < shapes; i++)
		must(auc_job_add_shape(m, job, per_node, 3, nodes << i, d * 300.0 / pow(1.8, i),
				       &err));
}

/* Sells gangs at random times until about three quarters of the GPUs are. */
static void fragment(struct auc_market *m, struct auc_job *job)
{
	unsigned servers = auc_market_nservers(m);
	auc_slot first = auc_market_first(m), last = auc_market_last(m);
	double left = 0.75 * 8 * servers * (double)(last - first + 1);
	struct auc_plan plan;

	auc_plan_init(&plan);
	auc_market_begin_bulk(m);
	for (unsigned tries = 0; left > 0 && tries < 400 * servers; tries++) {
		const struct auc_shape *shape;
		unsigned at = measure_pick(0, servers - 1);
		auc_slot d;

		make_gang(m, job);
		shape = &job->shapes[0];
		d = auc_shape_slots(m, shape);
		auc_plan_reset(&plan);
		plan.gang = true;
		memcpy(plan.amount, shape->amount, sizeof(plan.amount));
		plan.start = first - d + 1 + measure_pick(0, (unsigned)(last - first + d - 1));
		plan.completion = plan.start + d;
		must(auc_plan_add_run(&plan, plan.start, plan.completion - 1, &err));
		for (unsigned i = 0; i < shape->nodes && at + i < servers; i++)
			must(auc_plan_add_share(&plan, at + i, 1, 0, &err));
		if (auc_market_book(m, &plan, first, last, NULL) == AUC_OK)
			left -= shape->amount[0] * plan.nshares * (double)d;
	}
	auc_market_end_bulk(m);
	auc_plan_clear(&plan);
}

/* As learned ones are: of each slot, the same on all nodes. ALONE: of each node and part of the
 * day.
 */
static void give_prices(struct auc_market *m, bool alone)
{
	unsigned servers = auc_market_nservers(m), parts = alone ? 12 : 288;
	auc_slot first = auc_market_first(m), length = (auc_market_last(m) - first) / parts + 1;
	struct auc_given_price *list = calloc((size_t)servers * parts * 2, sizeof(*list));
	double price = 0;
	size_t n = 0;

	for (unsigned p = 0; p < parts; p++)
		for (unsigned k = 0; k < 2; k++)
			for (unsigned s = 0; s < servers; s++) {
				if (!s || alone)
					price = (k ? 0.01 : 0.5) * (1 + measure_uniform());
				list[n++] =
					(struct auc_given_price){.server = s,
								 .tres = k,
								 .from = first + p * length,
								 .to = first + (p + 1) * length - 1,
								 .price = price};
			}
	must(auc_market_give_prices(m, list, n, &err));
	free(list);
}

/* Microseconds in which each server is looked at once in each slot: is there room for a node, and
 * what does it cost? The least of some tries. */
static double reference(const struct auc_market *m)
{
	static volatile double kept;
	size_t cells = (size_t)m->nservers * m->slots;
	double least = INFINITY;

	for (unsigned try = 0; try < 20; try++) {
		double start = measure_cpu(), sum = 0;

		for (size_t c = 0; c < cells; c++) {
			const int64_t *used = m->used + c * m->ntres;
			const double *unit =
				m->unit_price + auc_units(m, (unsigned)(c / m->nservers),
							  (unsigned)(c % m->nservers));
			bool fits = true;
			double price = 0;

			for (unsigned k = 0; k < m->ntres; k++) {
				fits = fits && used[k] <= m->servers[0].units[k] / 2;
				price += unit[(size_t)k * m->nservers];
			}
			sum += fits ? price : 0;
		}
		kept = sum;
		least = fmin(least, measure_cpu() - start);
	}
	(void)kept;
	return least * 1e6;
}

static double measure_quotes(const char *what, struct auc_market *m, struct auc_job *job,
			     unsigned n)
{
	struct measure_series times = {.what = what};
	unsigned accepted = 0, capacity = 0;
	struct auc_policy_ctx *ctx;
	struct auc_decision d;
	size_t before = 0;
	double p99;

	must(auc_policy_dps.create("", &ctx, &err));
	auc_decision_init(&d);
	for (unsigned i = 0; i < n + 20; i++) {
		double least = INFINITY;

		make_gang(m, job);
		if (i == 20) /* memory is made for a gang of all shapes by now */
			before = mallinfo2().uordblks;
		for (unsigned try = 0; try < TRIES; try++) {
			double start = measure_cpu();

			must(auc_policy_dps.quote(ctx, m, job, &d, &err));
			least = fmin(least, measure_cpu() - start);
		}
		if (i < 20)
			continue;
		measure_add(&times, least);
		accepted += d.accepted;
		capacity += d.reason == AUC_REASON_CAPACITY;
	}
	if (mallinfo2().uordblks > before + n * sizeof(double) * 4 + 65536)
		must(auc_err_set(&err, AUC_ESTATE, "quotes allocate memory"));
	measure_print(&times);
	p99 = times.seconds[measure_sort(times.seconds, times.n)] * 1e6;
	printf("  %u of %u accepted, %u found no room\n", accepted, n, capacity);
	free(times.seconds);
	auc_decision_clear(&d);
	auc_policy_dps.destroy(ctx);
	return p99;
}

int main(int argc, char **argv)
{
	unsigned servers = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	unsigned slots = argc > 2 ? (unsigned)atoi(argv[2]) : 288;
	unsigned jobs = argc > 3 ? (unsigned)atoi(argv[3]) : 1000;
	double bound = argc > 4 ? atof(argv[4]) : INFINITY, worst, look;
	double ratio = argc > 5 ? atof(argv[5]) : 0;
	struct auc_market *m;
	struct auc_job job = {0};

	measure_random = 1;
	m = make_market(servers, slots);
	job.upload = calloc(servers, sizeof(*job.upload));
	job.upload_alloc = servers;
	fragment(m, &job);
	printf("%u servers, %u slots\n", servers, slots);
	worst = measure_quotes("published prices", m, &job, jobs);
	give_prices(m, false);
	worst = fmax(worst, measure_quotes("prices by slot", m, &job, jobs));
	look = reference(m);
	printf("  reference: %.1f us, the worst p99 of these is %.2f times that\n", look,
	       worst / look);
	give_prices(m, true);
	measure_quotes("prices by node", m, &job, jobs); /* nobody sells so: without a bound */
	auc_job_clear(&job);
	auc_market_destroy(m);
	if (worst <= bound || worst <= ratio * look)
		return 0;
	fprintf(stderr,
		"gang: p99 of %.0f us, expected at most %.0f us, or %.2f times the reference of "
		"%.0f "
		"us\n",
		worst, bound, ratio, look);
	return 1;
}
