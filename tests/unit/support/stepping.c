/* stepping.c - see stepping.h */
#include "config.h"

#include <stdlib.h>

#include "unit/support/stepping.h"

/* One run. */
struct stepping {
	const struct tiny_market *t;
	const struct tiny_job *list;
	struct auc_market *m;
	struct auc_plan slot;
	bool complete[STEPPING_JOBS];
	FILE *out;
};

static void must(bool good, const char *stepper, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", stepper, what);
	abort();
}

static void book(struct stepping *s, const char *name, const struct auc_layout *layout, auc_slot t)
{
	const struct tiny_job *j = &s->list[layout->id];
	const struct auc_share *share = layout->shares;
	struct auc_err err = {.text = ""};
	unsigned workers = 0, ps = 0;

	must(!s->complete[layout->id], name, "a job runs that is complete");
	auc_plan_reset(&s->slot);
	s->slot.worker_type = layout->worker_type;
	s->slot.ps_type = layout->ps_type;
	must(auc_plan_add_run(&s->slot, t, t, &err) == AUC_OK, name, err.text);
	if (s->out)
		fprintf(s->out, "%lld: %llu %u %u %d %d", (long long)t,
			(unsigned long long)layout->id, layout->worker_type, layout->ps_type,
			layout->colocated, layout->last);
	for (; share < layout->shares + layout->nshares; share++) {
		must(t >= j->arrival + tiny_upload(s->t, j, share->server), name,
		     "data are not there yet");
		must(auc_plan_add_share(&s->slot, share->server, share->workers, share->ps, &err) ==
			     AUC_OK,
		     name, err.text);
		if (s->out)
			fprintf(s->out, " %u:%u+%u", share->server, share->workers, share->ps);
		workers += share->workers;
		ps += share->ps;
	}
	if (s->out)
		fputc('\n', s->out);
	must(workers > 0 && workers <= (unsigned)j->chunks && ps > 0 && ps <= workers, name,
	     "expected workers, at most one a chunk, and PSs, no more than workers");
	must(auc_market_book(s->m, &s->slot, t, t, &err) == AUC_OK, name, err.text);
	s->complete[layout->id] = layout->last;
}

unsigned stepping_run(const struct auc_stepper *stepper, const char *options,
		      const struct tiny_market *t, const struct tiny_job *list, unsigned n,
		      FILE *out)
{
	struct stepping s = {.t = t, .list = list, .m = tiny_build(t), .out = out};
	const struct auc_layout *layouts;
	struct auc_stepper_ctx *ctx;
	struct auc_err err = {.text = ""};
	enum auc_reason reason;
	struct auc_job job = {0};
	unsigned i, count, done = 0;
	auc_slot slot;

	auc_plan_init(&s.slot);
	must(stepper->create(options, &ctx, &err) == AUC_OK, stepper->name, err.text);
	for (slot = t->first; slot < t->first + t->nslots; slot++) {
		for (i = 0; i < n; i++) {
			if (list[i].arrival != slot)
				continue;
			tiny_resolve(s.m, &list[i], &job);
			must(stepper->arrive(ctx, s.m, i, &job, &reason, &err) == AUC_OK,
			     stepper->name, err.text);
			if (out)
				fprintf(out, "job %u: %s\n", i, auc_reason_word(reason));
		}
		must(stepper->step(ctx, s.m, slot, &layouts, &count, &err) == AUC_OK, stepper->name,
		     err.text);
		for (i = 0; i < count; i++)
			book(&s, stepper->name, &layouts[i], slot);
	}
	must(auc_market_sound(s.m), stepper->name, "the market is overbooked");
	for (i = 0; i < n; i++)
		done += s.complete[i];
	stepper->destroy(ctx);
	auc_job_clear(&job);
	auc_plan_clear(&s.slot);
	auc_market_destroy(s.m);
	return done;
}
