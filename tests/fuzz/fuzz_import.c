/*
 * fuzz_import.c - any bytes as the tables and lines that the import reads. Lines "%%" part the
 * input: the log, the nodes, the profiles; the last two may be missing. A first line "conf" takes
 * an auction.conf, "any" lets jobs use all types.
 */
#include "config.h"

#include "fuzz/fuzz_import.h"

static const char conf_text[] =
	"PartitionName=edge\nPartitionName=cloud Site=cloud Upload=2h\nPrices=given Eta=cpu=2\n"
	"WorkerType=v TRES=gpu:v100=2,cpu=2 Bandwidth=1000\nWorkerType=any TRES=gpu=1,mem=100\n"
	"PSType=ps TRES=cpu=1,mem=200\n"
	"Model=resnet Epochs=2 GradientMB=30 WorkerTime=v=100ms PSTime=ps=5ms\n";
static const char nodes_text[] =
	"node,gpus,gpu_type,cpus,mem_mb\na,8,v100,64,1000\nb,4,t4,,\nc,0,,8,\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char slots[] = "slots=30", seconds[] = "slot_seconds=3600", any[] = "types=any";
	static char *const parameters[] = {slots, seconds, any};
	struct import_options o = {.jobs = "log",
				   .nodes = "nodes",
				   .parameters = parameters,
				   .nparameters = 2,
				   .seed = 1};
	struct import_text part[3] = {{0}};
	const uint8_t *end = data + size, *next;
	struct auc_conf *conf = NULL;
	bool profiles = false;
	unsigned i;

	if (size >= 5 && !memcmp(data, "conf\n", 5)) {
		REQUIRE(auc_conf_parse(conf_text, strlen(conf_text), "conf", &conf, NULL) ==
			AUC_OK);
		o.conf = "conf";
		data += 5;
	} else if (size >= 4 && !memcmp(data, "any\n", 4)) {
		o.nparameters = 3;
		data += 4;
	}
	for (i = 0; i < 3; i++) {
		profiles = data < end; /* in the end: of the last part */
		next = memmem(data, (size_t)(end - data), "\n%%\n", 4);
		if (i == 1 && data == end)
			part_open(&part[i], nodes_text, strlen(nodes_text), "nodes");
		else
			part_open(&part[i], data, (size_t)((next ? next + 1 : end) - data),
				  i ? i == 1 ? "nodes" : "profiles" : "log");
		data = next ? next + 4 : end;
	}
	/* What is there must be a table. */
	import_parts(&o, conf, profiles ? &part[2] : NULL, &part[1], &part[0]);
	for (i = 0; i < 3; i++)
		import_close(&part[i]);
	auc_conf_free(conf);
	return 0;
}
