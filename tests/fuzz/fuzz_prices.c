/*
 * fuzz_prices.c - any bytes as the prices that prove a bound of a small scenario. Whatever prices
 * are accepted: what they prove is no less than the welfare of a schedule that there is.
 */
#include "config.h"

#include <string.h>

#include <json-c/json.h>

#include "auctionsim/io/document.h"
#include "fuzz/fuzz.h"
#include "auctionsim/bound/proof.h"
#include "auctionsim/bound/verify.h"

#define WELFARE 18 /* both jobs at once, each on a worker and a PS of e1 or e2 */

static const char scenario_text[] =
	"{\"format\": \"auction-scenario/1\", \"name\": \"f\", \"slots\": 6, \"slot_seconds\": 100,"
	"\"worker_types\": [{\"name\": \"w\", \"tres\": {\"gpu\": 1, \"cpu\": 2}, "
	"\"bandwidth_mbps\": 1000}],"
	"\"ps_types\": [{\"name\": \"p\", \"tres\": {\"cpu\": 1}, \"bandwidth_mbps\": 2000}],"
	"\"servers\": [{\"name\": \"e1\", \"capacity\": {\"gpu\": 5, \"cpu\": 15}},"
	"{\"name\": \"e2\", \"site\": \"cloud\", \"capacity\": {\"gpu\": 1, \"cpu\": 8}}],"
	"\"jobs\": [{\"id\": \"a\", \"arrival\": 2, \"utility\": {\"form\": \"constant\", "
	"\"scale\": 9}, "
	"\"epochs\": 1, \"chunks\": 4, \"minibatches\": 1, \"gradient_mb\": 1, "
	"\"worker_seconds\": {\"w\": 2}, \"ps_seconds\": {\"p\": 0.1}},"
	"{\"id\": \"b\", \"arrival\": 1, \"utility\": {\"form\": \"constant\", \"scale\": 9}, "
	"\"epochs\": 1, \"chunks\": 4, \"minibatches\": 1, \"gradient_mb\": 1, "
	"\"worker_seconds\": {\"w\": 2}, \"ps_seconds\": {\"p\": 0.1}}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *root = NULL;
	struct auc_err err = {.text = ""};
	char *text = malloc(size + 1);
	struct proof *p = NULL;
	struct scenario *s;
	long double bound;
	unsigned wrong;

	REQUIRE(text &&
		scenario_parse(scenario_text, sizeof(scenario_text) - 1, "s", &s, NULL) == AUC_OK);
	memcpy(text, data, size);
	text[size] = '\0';
	if (document_parse(text, size, "f", &root, &err) != AUC_OK ||
	    proof_read(root, "f", s, &p, &err) != AUC_OK)
		REQUIRE(!p && err.code != AUC_OK && !strncmp(err.text, "f: ", 3));
	else if (verify_bound(s, p, &bound, &wrong, &err) == AUC_OK)
		REQUIRE(bound >= WELFARE && wrong <= s->njobs);
	else
		REQUIRE(err.code == AUC_EINVAL);
	proof_free(p);
	json_object_put(root);
	scenario_free(s);
	free(text);
	return 0;
}
