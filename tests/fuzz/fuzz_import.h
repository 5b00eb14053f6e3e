/*
 * fuzz_import.h - what the targets of the import share: files that are parts of the input, and what
 * must be true of the scenario that comes out.
 */
#ifndef AUC_FUZZ_IMPORT_H
#define AUC_FUZZ_IMPORT_H

#include <string.h>

#include "input/conf.h"
#include "fuzz/fuzz.h"
#include "auctionsim/import/import-private.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

#define SMALL 4 /* servers and jobs of what is replayed */

/* SIZE bytes as a file called NAME. */
static inline void part_open(struct import_text *t, const void *data, size_t size, const char *name)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "re");

	REQUIRE(in);
	import_open_stream(t, in, name);
}

/* What is accepted must be a scenario that the reader takes, and a small one one that can be run.
 */
static inline void check_written(const char *text, size_t size)
{
	struct result result = {0};
	struct auc_err err = {.text = ""};
	struct scenario *s;
	unsigned i;

	if (scenario_parse(text, size, "scenario", &s, &err) != AUC_OK) {
		fprintf(stderr, "%s\n%.2000s\n", err.text, text);
		REQUIRE(false);
	}
	for (i = 0; i < s->njobs; i++)
		REQUIRE(s->jobs[i].arrival <= s->slots && s->jobs[i].nworker_seconds);
	if (s->nservers <= SMALL && s->njobs <= SMALL) {
		REQUIRE(replay_run(s, "fifo", 1, NULL, NULL, &result, &err) == AUC_OK);
		result_clear(&result);
	}
	scenario_free(s);
}

static inline void import_parts(const struct import_options *o, const struct auc_conf *conf,
				struct import_text *profiles, struct import_text *nodes,
				struct import_text *jobs)
{
	struct auc_err err = {.text = ""};
	char *text, *said;
	size_t size, said_size;
	FILE *out = open_memstream(&text, &size), *report = open_memstream(&said, &said_size);
	enum auc_code rc;

	REQUIRE(out && report);
	rc = import_make(o, conf, profiles, nodes, jobs, out, report, &err);
	REQUIRE(!fclose(out) && !fclose(report));
	if (rc == AUC_OK)
		check_written(text, size);
	else
		REQUIRE(err.code == rc && *err.text);
	free(text);
	free(said);
}

#endif
