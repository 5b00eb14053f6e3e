/* fuzz_import_json.c - any bytes as the output of sacct --json, over a few nodes. */
#include "config.h"

#include "fuzz/fuzz_import.h"

static const char nodes_text[] =
	"NodeName=edge1 CPUTot=16 RealMemory=32000 Gres=gpu:v100:4(S:0) Partitions=edge\n"
	"NodeName=edge4 CPUTot=16 RealMemory=32000 Gres=gpu:t4:2,gpu:v100:1 Partitions=edge\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char slots[] = "slots=30", seconds[] = "slot_seconds=600";
	static char *const parameters[] = {slots, seconds};
	struct import_options o = {.jobs = "log",
				   .nodes = "nodes",
				   .parameters = parameters,
				   .nparameters = 2,
				   .seed = 1};
	struct import_text nodes, jobs;
	char *text = malloc(size + 1);

	/* Without an object it would be another format. */
	REQUIRE(text);
	memcpy(text + 1, data, size);
	*text = '{';
	part_open(&nodes, nodes_text, strlen(nodes_text), "nodes");
	part_open(&jobs, text, size + 1, "log");
	import_parts(&o, NULL, NULL, &nodes, &jobs);
	import_close(&nodes);
	import_close(&jobs);
	free(text);
	return 0;
}
