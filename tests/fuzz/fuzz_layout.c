/*
 * fuzz_layout.c - any bytes as a receipt from which the launcher makes its steps: each task of a
 * run once, none beyond what was bought, and each chunk on one node, before and after each move.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_receipt.h"
#include "slaunch/layout/layout.h"
#include "slaunch/layout/moves.h"

#define LEAD 77

static void try_run(const struct auc_receipt *r, unsigned number, const char *lead_node);
static void check_steps(const struct layout *l, const struct auc_receipt *r,
			const struct auc_receipt_run *run);
static double bought(const struct auc_named *tres, unsigned n, const char *name);
static void check_srun(const struct layout *l, const struct layout_step *s);
static void check_copy(const struct layout *l);
static void check_chunks(const char *text, uint64_t n);
static void try_moves(const struct auc_receipt *r);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct auc_err err = {.text = ""};
	struct auc_receipt r;
	struct layout l;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (auc_receipt_parse(text, &r, NULL) == AUC_OK) {
		for (unsigned i = 0; i <= r.nruns && i < 20; i++)
			for (unsigned k = 0; k < r.nshares && k < 20; k++)
				try_run(&r, i, r.shares[k].server);
		try_run(&r, 0, "nowhere");
		/* The run of a time, or the next one. */
		for (unsigned i = 0; i < r.nruns && i < 20; i++) {
			double now = ((double)r.runs[i].to + 0.5) * r.slot_seconds;

			if (layout_make(&l, &r, LEAD, r.shares[r.runs[i].first_share].server, now,
					&err) != AUC_OK)
				continue;
			REQUIRE(now < l.end || l.end == l.begin || r.slot_seconds < 1e-3 ||
				l.end > 1e12);
			layout_clear(&l);
		}
		try_moves(&r);
		auc_receipt_clear(&r);
	}
	free(text);
	return 0;
}

static void try_run(const struct auc_receipt *r, unsigned number, const char *lead_node)
{
	struct auc_err err = {.text = ""};
	struct layout l;

	if (layout_make_run(&l, r, number, LEAD, lead_node, &err) != AUC_OK) {
		REQUIRE((err.code == AUC_EINVAL || err.code == AUC_ESTATE) && *err.text);
		REQUIRE(!l.steps && !l.chunks);
		return;
	}
	REQUIRE(number < r->nruns && l.lead == LEAD && !strcmp(l.sale, r->sale));
	check_steps(&l, r, &r->runs[number]);
	for (unsigned i = 0; i < l.nsteps && i < 50; i++)
		check_srun(&l, &l.steps[i]);
	if (r->ndata)
		check_chunks(l.chunks, UINT64_MAX);
	else if (r->nchunks)
		check_chunks(l.chunks, r->nchunks);
	check_copy(&l);
	layout_clear(&l);
	REQUIRE(!l.steps && !l.chunks);
}

/* As many tasks on each node as the receipt says, ranks without gaps, the lead's node first. */
static void check_steps(const struct layout *l, const struct auc_receipt *r,
			const struct auc_receipt_run *run)
{
	unsigned total[ROLES] = {0};

	REQUIRE(l->nsteps && l->nsteps <= 2 * run->nshares && l->steps[0].job_id == LEAD);
	REQUIRE(l->nworkers >= 1 && l->nworkers <= LAYOUT_TASKS_MAX && l->nps <= LAYOUT_TASKS_MAX);
	for (unsigned i = 0; i < l->nsteps; i++) {
		const struct layout_step *s = &l->steps[i];

		REQUIRE(s->role == ROLE_WORKER || s->role == ROLE_PS);
		REQUIRE(s->ntasks && s->first_rank == total[s->role]);
		REQUIRE((s->job_id == LEAD) == !strcmp(s->node, l->lead_node));
		REQUIRE(!i || s->role <= s[-1].role); /* PSs first */
		total[s->role] += s->ntasks;
	}
	REQUIRE(total[ROLE_WORKER] == l->nworkers && total[ROLE_PS] == l->nps);
	for (unsigned i = 0; i < run->nshares; i++) {
		const struct auc_receipt_share *share = &r->shares[run->first_share + i];

		REQUIRE(layout_count(l, share->server, ROLE_WORKER) == share->workers);
		REQUIRE(layout_count(l, share->server, ROLE_PS) == share->ps);
	}
	for (unsigned role = 0; role < ROLE_SCHEDULER; role++) {
		const struct auc_named *tres = role == ROLE_PS ? r->ps_tres : r->worker_tres;
		unsigned n = role == ROLE_PS ? r->nps_tres : r->nworker_tres;

		REQUIRE(l->share[role].cpus <= 1 || l->share[role].cpus <= bought(tres, n, "cpu"));
		REQUIRE(l->share[role].mem_mb <= bought(tres, n, "mem"));
		REQUIRE(l->share[role].gpus <= bought(tres, n, "gpu"));
	}
}

/* Of all types of NAME, whatever the spelling. */
static double bought(const struct auc_named *tres, unsigned n, const char *name)
{
	size_t len = strlen(name);
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		const char *p = tres[i].name;

		p += strncmp(p, "gres/", 5) ? 0 : 5;
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ':'))
			sum += tres[i].value;
	}
	return sum;
}

static void check_srun(const struct layout *l, const struct layout_step *s)
{
	char *const agent[] = {(char *)"slaunch", (char *)"--task", NULL};
	char **argv = layout_srun(l, s, agent);
	bool jobid = false, ntasks = false;
	unsigned n = 0;
	char want[40];

	REQUIRE(argv && !strcmp(argv[0], "srun"));
	snprintf(want, sizeof(want), "--ntasks=%u", s->ntasks);
	for (; argv[n]; n++) {
		jobid |= !strncmp(argv[n], "--jobid=", 8);
		ntasks |= !strcmp(argv[n], want);
		REQUIRE(!n || !strncmp(argv[n], "--", 2) || !strcmp(argv[n], "slaunch"));
	}
	REQUIRE(jobid && ntasks && n > 3 && !strcmp(argv[n - 1], "--task"));
	layout_argv_free(argv);
}

static void check_copy(const struct layout *l)
{
	struct layout copy;
	const char *node;

	REQUIRE(layout_copy(&copy, l, NULL) == AUC_OK && layout_same(&copy, l, ROLES));
	for (unsigned i = 0; !layout_complete(&copy, &node); i++) {
		REQUIRE(i < copy.nsteps);
		layout_set_job(&copy, node, LEAD + 1 + i);
	}
	copy.steps[0].ntasks++;
	REQUIRE(!layout_same(&copy, l, ROLES) && !layout_same(&copy, l, copy.steps[0].role));
	layout_clear(&copy);
}

/* "edge1=0,2;edge2=1": each of N chunks once (UINT64_MAX: of however many), each node once. */
static void check_chunks(const char *text, uint64_t n)
{
	static bool seen[2 * MOVES_CHUNKS_MAX];
	uint64_t count = 0, highest = 0;
	const char *p = text;

	if (!text) {
		REQUIRE(n == UINT64_MAX);
		return;
	}
	memset(seen, 0, sizeof(seen));
	/* A node's name may have '=' and ';' in it: numbers are what is after the last '=' and up
	 * to the end or a ';'. Names that do are left to other tests. */
	if (strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=,;") !=
	    strlen(p))
		return;
	while (*p) {
		p += strcspn(p, "=");
		REQUIRE(*p == '=' && p > text);
		do {
			char *end;
			uint64_t chunk = strtoull(++p, &end, 10);

			if (end == p || chunk >= 2 * MOVES_CHUNKS_MAX)
				return; /* of a name */
			REQUIRE(!seen[chunk]);
			seen[chunk] = true;
			count++;
			highest = chunk > highest ? chunk : highest;
			p = end;
		} while (*p == ',');
		if (*p && *p != ';')
			return;
		p += *p == ';';
	}
	REQUIRE(count == highest + 1 && (n == UINT64_MAX || n == count));
}

/* A chunk leaves the node where it lies, and in the order of slots. */
static void try_moves(const struct auc_receipt *r)
{
	struct auc_err err = {.text = ""};
	struct move *list;
	uint64_t total = 0, moved = 0, all = 0;
	unsigned n;
	char *places;
	static bool seen[MOVES_CHUNKS_MAX];

	for (unsigned i = 0; i < r->ndata; i++)
		total += (uint64_t)r->data[i].value;
	for (unsigned i = 0; i < r->nmoves; i++)
		all += r->moves[i].chunks;
	places = moves_places(r);
	if (moves_make(r, &list, &n, &err) != AUC_OK) {
		REQUIRE(total > MOVES_CHUNKS_MAX && !list && !places && *err.text);
		return;
	}
	REQUIRE(!total == !places && n == all && n <= total);
	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < n; i++) {
		uint64_t first = 0, end = 0;

		for (unsigned k = 0; k < r->ndata; k++) {
			end += (uint64_t)r->data[k].value;
			if (!strcmp(r->data[k].name, list[i].from))
				break;
			first = end;
		}
		REQUIRE(list[i].chunk >= first && list[i].chunk < end && end <= total);
		REQUIRE(!seen[list[i].chunk] && (!i || list[i].slot >= list[i - 1].slot));
		seen[list[i].chunk] = true;
		moved++;
	}
	REQUIRE(moved == all);
	if (places)
		check_chunks(places, total);
	free(places);
	free(list);
}
