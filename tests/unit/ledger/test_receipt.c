/* test_receipt.c - receipts: printed, read back, and everything else refused. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "ledger/receipt.h"

static struct auc_err err;

static struct auc_seal *seal, *other_seal;

static int make_seals(void **state)
{
	char dir[] = "receipt-XXXXXX", path[64];
	int rc = 1;

	(void)state;
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/key", dir);
	if (!auc_seal_open_key(path, &seal, &err) && !unlink(path) &&
	    !auc_seal_open_key(path, &other_seal, &err))
		rc = 0;
	unlink(path);
	rmdir(dir);
	return rc;
}

static int free_seals(void **state)
{
	(void)state;
	auc_seal_free(seal);
	auc_seal_free(other_seal);
	return 0;
}

static struct auc_market *make_market(void)
{
	static const struct auc_named worker[] = {{"cpu", 2}, {"gpu:v100", 0.5}},
				      ps[] = {{"cpu", 1}};
	static const struct auc_named capacity[] = {{"cpu", 12}, {"gpu:v100", 2}};
	struct auc_price price = {0};
	struct auc_market *m = auc_market_create(50, 300, 100);

	assert_int_equal(auc_market_add_worker_type(m, "v100", worker, 2, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "ps.m", ps, 1, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_server(m, "e1", "edge", false, 3, 0, capacity, 2, &err),
			 AUC_OK);
	assert_int_equal(auc_market_add_server(m, "e2", "edge", false, 3, 0, capacity, 2, &err),
			 AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	return m;
}

/* Two runs, the PS on e2 and workers on both. */
static void make_sale(struct auc_sale *s, enum auc_sale_state state)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->id, "00ab-7");
	strcpy(s->policy, "dps");
	s->state = state;
	s->payment = 12600001;
	s->value = 141300000;
	s->bid = strdup("bid=\"300\" epochs=3");
	s->plan.arrival = 101;
	s->plan.start = 103;
	s->plan.completion = 110;
	assert_int_equal(auc_plan_add_run(&s->plan, 103, 105, &err), AUC_OK);
	assert_int_equal(auc_plan_add_share(&s->plan, 0, 1, 0, &err), AUC_OK);
	assert_int_equal(auc_plan_add_share(&s->plan, 1, 2, 1, &err), AUC_OK);
	assert_int_equal(auc_plan_add_run(&s->plan, 107, 109, &err), AUC_OK);
	assert_int_equal(auc_plan_add_share(&s->plan, 1, 1, 1, &err), AUC_OK);
}

static void test_round_trip(void **state)
{
	struct auc_market *m = make_market();
	struct auc_receipt r;
	struct auc_sale s, again;
	char *text, *at;

	(void)state;
	make_sale(&s, AUC_SALE_SOLD);
	text = auc_receipt_print(&s, m, seal, 0, NULL);
	assert_true(auc_receipt_is(text));
	assert_null(strchr(text, '\n'));
	at = strstr(text, ",\"sealed\":\"");
	assert_non_null(at);
	assert_int_equal(strlen(at), strlen(",\"sealed\":\"\"}") + 224);
	assert_null(strstr(text, "141.3")); /* what it is worth */
	assert_null(strstr(text, "epochs"));
	strcpy(at, "}");
	assert_string_equal(text, "{\"auction\":1,\"sale\":\"00ab-7\",\"state\":\"sold\","
				  "\"policy\":\"dps\",\"payment\":\"12.600001\","
				  "\"worker_type\":\"v100\",\"ps_type\":"
				  "\"ps.m\",\"colocated\":false,\"arrival\":101,"
				  "\"start\":103,\"completion\":110,\"plan\":[{\"from\":103,\"to\":"
				  "105,\"workers\":{\"e1\":1,\"e2\":2},\"ps\":{"
				  "\"e2\":1}},{\"from\":107,\"to\":109,\"workers\":{\"e2\":1},"
				  "\"ps\":{\"e2\":1}}],\"slot_seconds\":300,"
				  "\"worker_tres\":{\"cpu\":2,\"gpu:v100\":0.5},\"ps_tres\":{"
				  "\"cpu\":1}}");
	free(text);
	text = auc_receipt_print(&s, m, seal, 0, NULL);
	assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
	assert_string_equal(r.sale, "00ab-7");
	assert_int_equal(r.payment, 12600001);
	assert_int_equal(r.nruns, 2);
	assert_int_equal(r.nshares, 3);
	assert_int_equal(r.runs[1].first_share, 2);
	assert_string_equal(r.shares[1].server, "e2");
	assert_int_equal(r.shares[1].workers, 2);
	assert_int_equal(r.shares[1].ps, 1);
	assert_int_equal(r.nworker_tres, 2);
	assert_true(r.worker_tres[1].value == 0.5);
	auc_receipt_clear(&r);
	assert_int_equal(auc_receipt_to_sale(text, m, seal, &again, &err), AUC_OK);
	assert_string_equal(again.bid, s.bid);
	assert_int_equal(again.value, s.value);
	assert_int_equal(again.payment, s.payment);
	assert_int_equal(again.state, AUC_SALE_SOLD);
	char *twice = auc_receipt_print(&again, m, seal, 0, NULL);

	assert_string_equal(text, twice);
	free(twice);
	free(text);
	auc_sale_clear(&again);
	auc_sale_clear(&s);
	auc_market_destroy(m);
}

/* A gang's, and one of so many nodes that it is packed. */
static void test_gang(void **state)
{
	struct auc_market *m = auc_market_create(50, 300, 100);
	struct auc_named capacity[] = {{"cpu", 12}, {"gpu:v100", 2}};
	struct auc_receipt r;
	struct auc_sale s, again;
	char name[AUC_NAME_MAX], *text, *twice;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "a-node-with-a-long-name-%u", i);
		assert_int_equal(
			auc_market_add_server(m, name, "edge", false, 3, 0, capacity, 2, &err),
			AUC_OK);
	}
	assert_int_equal(auc_market_ready(m, &(struct auc_price){0}, &err), AUC_OK);
	for (unsigned nodes = 2; nodes <= 3000; nodes += 2998) {
		make_sale(&s, AUC_SALE_SOLD);
		s.plan.nruns = s.plan.nshares = 0;
		s.plan.gang = true;
		s.plan.shape = 1;
		s.plan.amount[0] = 0.5;
		s.plan.amount[1] = 2;
		assert_int_equal(auc_plan_add_run(&s.plan, 103, 109, &err), AUC_OK);
		for (unsigned i = 0; i < nodes; i++)
			assert_int_equal(auc_plan_add_share(&s.plan, i, 1, 0, &err), AUC_OK);
		text = auc_receipt_print(&s, m, seal, 0, NULL);
		assert_true(!strstr(text, "\"packed\"") == (nodes == 2));
		assert_null(strstr(text, "worker_t"));
		assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
		assert_true(r.gang && !r.within_switch);
		assert_int_equal(r.shape, 1);
		assert_int_equal(r.nshares, nodes);
		assert_string_equal(r.shares[1].server, "a-node-with-a-long-name-1");
		assert_int_equal(r.nper_node, 2);
		assert_true(r.per_node[0].value == 0.5);
		auc_receipt_clear(&r);
		assert_int_equal(auc_receipt_to_sale(text, m, seal, &again, &err), AUC_OK);
		again.plan.value = s.plan.value;
		again.plan.cost = s.plan.cost;
		assert_true(auc_plan_same(&again.plan, &s.plan));
		twice = auc_receipt_print(&again, m, seal, 0, NULL);
		assert_string_equal(text, twice);
		free(twice);
		free(text);
		auc_sale_clear(&again);
		auc_sale_clear(&s);
	}
	auc_market_destroy(m);
}

/* Without the key that it was sealed with a sale is sold again as it stood, and worth what it pays.
 */
static void test_other_key(void **state)
{
	struct auc_market *m = make_market();
	struct auc_sale s, again;
	char *text, *twice;

	(void)state;
	make_sale(&s, AUC_SALE_SOLD);
	for (unsigned k = 0; k < 3; k++) {
		text = auc_receipt_print(&s, m, k ? seal : NULL, 0, NULL);
		assert_int_equal(!strstr(text, "sealed"), k == 0);
		if (k == 2) /* what belongs to another sale opens nothing */
			memcpy(strstr(text, "00ab-7"), "00ab-8", 6);
		assert_int_equal(
			auc_receipt_to_sale(text, m, k == 1 ? other_seal : seal, &again, &err),
			AUC_OK);
		assert_string_equal(again.bid, "");
		assert_int_equal(again.payment, s.payment);
		assert_int_equal(again.value, s.payment);
		assert_true(again.plan.start == s.plan.start && again.plan.nruns == s.plan.nruns);
		twice = auc_receipt_print(&again, m, seal, 0, NULL);
		assert_null(strstr(twice, "sealed"));
		free(twice);
		free(text);
		auc_sale_clear(&again);
	}
	auc_sale_clear(&s);
	auc_market_destroy(m);
}

/* One of a release that had value and bid in the clear. */
static void test_old(void **state)
{
	static const char text[] =
		"{\"auction\":1,\"sale\":\"00ab-7\",\"state\":\"sold\",\"policy\":\"dps\","
		"\"payment\":\"12.600001\",\"value\":\"141.300000\",\"worker_type\":\"v100\","
		"\"ps_type\":\"ps.m\",\"colocated\":false,\"arrival\":101,\"start\":103,"
		"\"completion\":106,\"plan\":[{\"from\":103,\"to\":105,\"workers\":{\"e1\":1},"
		"\"ps\":{\"e2\":1}}],\"slot_seconds\":300,\"worker_tres\":{\"cpu\":2,"
		"\"gpu:v100\":0.5},\"ps_tres\":{\"cpu\":1},\"bid\":\"bid=300 epochs=3\"}";
	struct auc_market *m = make_market();
	struct auc_sale sale;
	char *again;

	(void)state;
	assert_int_equal(auc_receipt_to_sale(text, m, seal, &sale, &err), AUC_OK);
	assert_string_equal(sale.bid, "bid=300 epochs=3");
	assert_int_equal(sale.value, 141300000);
	assert_int_equal(sale.payment, 12600001);
	again = auc_receipt_print(&sale, m, seal, 0, NULL);
	assert_null(strstr(again, "bid"));
	assert_non_null(strstr(again, "sealed"));
	free(again);
	auc_sale_clear(&sale);
	auc_market_destroy(m);
}

static void test_settled(void **state)
{
	struct auc_market *m = make_market();
	struct auc_receipt r;
	struct auc_sale s, sale;
	char *text;

	(void)state;
	make_sale(&s, AUC_SALE_SETTLED);
	text = auc_receipt_print(&s, m, seal, 2600000, "cancelled");
	assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
	assert_null(strstr(text, "sealed"));
	assert_int_equal(r.payment, 10000001);
	assert_int_equal(r.refund, 2600000);
	assert_string_equal(r.why, "cancelled");
	auc_receipt_clear(&r);
	assert_int_equal(auc_receipt_to_sale(text, m, seal, &sale, &err), AUC_ESTATE);
	free(text);
	auc_sale_clear(&s);
	auc_market_destroy(m);
}

static void test_member(void **state)
{
	char *text = auc_receipt_print_member("00ab-7", 123);
	struct auc_receipt r;

	(void)state;
	assert_string_equal(
		text, "{\"auction\":1,\"sale\":\"00ab-7\",\"state\":\"member\",\"lead\":123}");
	assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
	assert_int_equal(r.lead, 123);
	auc_receipt_clear(&r);
	free(text);
}

static void test_is(void **state)
{
	(void)state;
	assert_true(auc_receipt_is("{\"auction\":1}"));
	assert_true(auc_receipt_is(" {\n \"auction\" : 2"));
	assert_false(auc_receipt_is("{\"auctions\":1}"));
	assert_false(auc_receipt_is("auction"));
	assert_false(auc_receipt_is(""));
	assert_false(auc_receipt_is(NULL));
}

/* -- receipts that the accounting would cut -- */

#define NODES 60

static struct auc_market *make_wide_market(void)
{
	static const struct auc_named worker[] = {{"cpu", 2}, {"gpu:v100", 1}}, ps[] = {{"cpu", 1}};
	static const struct auc_named capacity[] = {{"cpu", 90}, {"gpu:v100", 40}};
	struct auc_price price = {0};
	struct auc_market *m = auc_market_create(50, 300, 100);
	char name[32];

	assert_int_equal(auc_market_add_worker_type(m, "v100", worker, 2, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "ps.m", ps, 1, 1000, &err), AUC_OK);
	for (unsigned i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "a-node-with-a-long-name%02u", i);
		assert_int_equal(
			auc_market_add_server(m, name, "edge", false, 3, 0, capacity, 2, &err),
			AUC_OK);
	}
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	return m;
}

/* Another layout in each of RUNS slots; MORE counts have one more digit than they need. */
static void make_long_sale(struct auc_sale *s, enum auc_sale_state state, unsigned runs,
			   size_t more)
{
	make_sale(s, state);
	auc_plan_clear(&s->plan);
	auc_plan_init(&s->plan);
	s->plan.arrival = s->plan.start = 103;
	s->plan.completion = 103 + runs;
	for (unsigned i = 0; i < runs; i++) {
		assert_int_equal(auc_plan_add_run(&s->plan, 103 + i, 103 + i, &err), AUC_OK);
		for (unsigned n = 0; n < NODES; n++)
			assert_int_equal(
				auc_plan_add_share(&s->plan, n, 1 + (n * i) % 7, n == i % 4, &err),
				AUC_OK);
	}
	assert_true(more <= 2 * s->plan.nshares);
	for (size_t i = 0; i < more; i++)
		s->plan.shares[i % s->plan.nshares].workers += i < s->plan.nshares ? 10 : 100;
}

static bool says(const char *text, const char *key)
{
	return strstr(text, key) != NULL;
}

static size_t length_of(struct auc_market *m, unsigned runs)
{
	struct auc_sale s;
	size_t len;
	char *text;

	make_long_sale(&s, AUC_SALE_SOLD, runs, 0);
	text = auc_receipt_print(&s, m, seal, 0, NULL);
	assert_true(says(text, "\"plan\":[") || says(text, "\"packed\":\""));
	len = says(text, "\"packed\":\"") ? AUC_RECEIPT_MAX + 1 : strlen(text);
	free(text);
	auc_sale_clear(&s);
	return len;
}

/* To the byte: the longest that stays as it is, and the first that is packed. */
static void test_limit(void **state)
{
	struct auc_market *m = make_wide_market();
	unsigned runs = 20;
	struct auc_sale s;
	size_t left;
	char *text;

	(void)state;
	while (length_of(m, runs + 1) <= AUC_RECEIPT_MAX)
		runs++;
	left = AUC_RECEIPT_MAX - length_of(m, runs);
	for (unsigned more = 0; more < 2; more++) {
		struct auc_receipt r;

		make_long_sale(&s, AUC_SALE_SOLD, runs, left + more);
		text = auc_receipt_print(&s, m, seal, 0, NULL);
		assert_true(more ? strlen(text) < AUC_RECEIPT_MAX / 2
				 : strlen(text) == AUC_RECEIPT_MAX);
		assert_true(says(text, "\"plan\":[") == !more);
		assert_true(says(text, "\"packed\":\"") == more);
		assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
		assert_int_equal(r.nruns, runs);
		assert_int_equal(r.nshares, runs * NODES);
		auc_receipt_clear(&r);
		free(text);
		auc_sale_clear(&s);
	}
	auc_market_destroy(m);
}

/* What is packed is sold again as it stood, and settled. */
static void test_packed(void **state)
{
	struct auc_market *m = make_wide_market();
	struct auc_sale s, again;
	struct auc_receipt r;
	char *text, *twice, *at;

	(void)state;
	make_long_sale(&s, AUC_SALE_RUNNING, 150, 0);
	text = auc_receipt_print(&s, m, seal, 0, NULL);
	assert_true(says(text, "\"packed\":\"") && strlen(text) <= AUC_RECEIPT_MAX);
	assert_true(auc_receipt_is(text));
	assert_int_equal(auc_receipt_to_sale(text, m, seal, &again, &err), AUC_OK);
	assert_int_equal(again.plan.nruns, 150);
	assert_int_equal(again.plan.nshares, 150 * NODES);
	assert_memory_equal(again.plan.shares, s.plan.shares,
			    s.plan.nshares * sizeof(*s.plan.shares));
	twice = auc_receipt_print(&again, m, seal, 0, NULL);
	assert_string_equal(text, twice);
	auc_sale_clear(&again);
	free(twice);

	/* Another letter at any place of what is packed, but for those of gzip's own notes of time
	 * and system. */
	at = strstr(text, "packed\":\"") + strlen("packed\":\"");
	for (size_t i = 16; i + 4 < strcspn(at, "\""); i += 397) {
		char old = at[i];

		at[i] = old == 'A' ? 'B' : 'A';
		assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_EINVAL);
		assert_string_equal(err.text,
				    "receipt: packed: expected base64 of gzip of an object");
		assert_null(r.runs);
		at[i] = old;
	}
	free(text);
	auc_sale_clear(&s);

	make_long_sale(&s, AUC_SALE_SETTLED, 150, 0);
	text = auc_receipt_print(&s, m, seal, 2600000, "cancelled");
	assert_true(strlen(text) <= AUC_RECEIPT_MAX);
	assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
	assert_int_equal(r.refund, 2600000);
	assert_int_equal(r.nruns, 150);
	auc_receipt_clear(&r);
	free(text);
	auc_sale_clear(&s);
	auc_market_destroy(m);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{NULL, "receipt: not one JSON object"},
		{"", "receipt: not one JSON object"},
		{"[]", "receipt: not one JSON object"},
		{"{\"auction\":1", "receipt: not one JSON object"},
		{"{\"auction\":1} x", "receipt: not one JSON object"},
		{"{\"auction\":2}", "receipt: auction: expected a whole number from 1 to 1"},
		{"{\"auction\":1,\"packed\":1}",
		 "receipt: packed: expected base64 of gzip of an object"},
		{"{\"auction\":1,\"packed\":\"H4sI\"}",
		 "receipt: packed: expected base64 of gzip of an object"},
		{"{\"auction\":1}", "receipt: sale: expected a text of at most 39 characters"},
		{"{\"auction\":1,\"sale\":\"\"}",
		 "receipt: sale: expected a text of at least one character"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"free\"}",
		 "receipt: state: 'free', expected lien, sold, running, settled, member, waiting "
		 "or unsold"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"member\",\"lead\":0}",
		 "receipt: lead: expected a whole number from 1 to 4294967295"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"sold\",\"policy\":\"dps\",\"payment\":"
		 "\"2\"}",
		 "receipt: payment: '2', expected an amount with six decimals"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"sold\",\"policy\":\"dps\",\"payment\":"
		 "\"2.000000\",\"value\":\"1.000000\",\"bid\":\"\"}",
		 "receipt: payment: more than the value"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"sold\",\"policy\":\"dps\",\"payment\":"
		 "\"2.000000\",\"value\":\"3.000000\",\"bid\":3}",
		 "receipt: bid: expected a text"},
	};
	struct auc_receipt r;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(auc_receipt_parse(cases[i].text, &r, &err), AUC_EINVAL);
		assert_string_equal(err.text, cases[i].says);
		assert_null(r.runs);
	}
}

/* Errors of lists within a receipt are errors also for those who ask for no sentence. */
static void test_nothing_said(void **state)
{
	static const char *const lists[] = {
		"\"chunks\":[{\"server\":3}]",
		"\"transfers\":[{\"slot\":103}],\"chunk_mb\":1",
		"\"transfers\":[],\"chunk_mb\":1,\"data\":[{\"server\":\"e1\",\"chunks\":0}]",
		("\"transfers\":[],\"chunk_mb\":1,\"data\":[{\"server\":\"e1\",\"chunks\":5},"
		 "{\"server\":\"e1\",\"chunks\":1}]"),
	};
	struct auc_market *m = make_market();
	struct auc_receipt r;
	struct auc_sale s;
	char *text, with[2048];

	(void)state;
	make_sale(&s, AUC_SALE_SOLD);
	text = auc_receipt_print(&s, m, NULL, 0, NULL);
	for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		snprintf(with, sizeof(with), "{%s,%s", lists[i], text + 1);
		assert_int_equal(auc_receipt_parse(with, &r, &err), AUC_EINVAL);
		assert_int_equal(auc_receipt_parse(with, &r, NULL), AUC_EINVAL);
	}
	free(text);
	auc_sale_clear(&s);
	auc_market_destroy(m);
}

/* Without the key nobody knows the bid; where the data lie is known all the same, and is in the
 * receipt when it is printed again. */
static void test_data_without_bid(void **state)
{
	static const char data[] = "\"data\":[{\"server\":\"e1\",\"chunks\":5},"
				   "{\"server\":\"e3\",\"chunks\":1}]";
	struct auc_market *m = make_market();
	struct auc_sale s, again;
	struct auc_receipt r;
	char *text;

	(void)state;
	make_sale(&s, AUC_SALE_SOLD);
	free(s.bid);
	s.bid = strdup("bid=300 chunks=6 data=e1=5,e3=1");
	s.plan.chunk_mb = 2.5;
	assert_int_equal(auc_plan_add_move(&s.plan, 103, 0, 1, 2, &err), AUC_OK);
	text = auc_receipt_print(&s, m, seal, 0, NULL);
	assert_non_null(strstr(text, data));
	for (unsigned i = 0; i < 2; i++) { /* and again */
		assert_int_equal(auc_receipt_to_sale(text, m, other_seal, &again, &err), AUC_OK);
		assert_int_equal(again.value, again.payment);
		free(text);
		text = auc_receipt_print(&again, m, NULL, 0, NULL);
		assert_non_null(text);
		assert_non_null(strstr(text, data));
		assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
		assert_int_equal(r.ndata, 2);
		auc_receipt_clear(&r);
		auc_sale_clear(&again);
	}
	free(text);
	auc_sale_clear(&s);
	auc_market_destroy(m);
}

/* A good receipt with any byte changed, and cut at any byte, is read without harm; what it says
 * then is still in its ranges. */
static void test_damaged(void **state)
{
	struct auc_market *m = make_market();
	struct auc_sale s, sale;
	struct auc_receipt r;
	char *text;
	size_t len;

	(void)state;
	make_sale(&s, AUC_SALE_RUNNING);
	text = auc_receipt_print(&s, m, seal, 0, NULL);
	len = strlen(text);
	for (size_t i = 0; i < len; i++)
		for (unsigned k = 0; k < 7; k++) {
			char old = text[i];

			text[i] = "\0\x01}9\"-\xff"[k];
			if (auc_receipt_parse(text, &r, &err) == AUC_OK) {
				assert_true(r.payment >= 0);
				assert_true(r.nruns > 0 && r.start == r.runs[0].from &&
					    r.start >= r.arrival);
			}
			auc_receipt_clear(&r);
			if (auc_receipt_to_sale(text, m, seal, &sale, &err) == AUC_OK)
				auc_sale_clear(&sale);
			text[i] = old;
		}
	free(text);
	auc_sale_clear(&s);
	auc_market_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_settled),
		cmocka_unit_test(test_member),
		cmocka_unit_test(test_is),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_gang),
		cmocka_unit_test(test_other_key),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_nothing_said),
		cmocka_unit_test(test_data_without_bid),
	};

	return cmocka_run_group_tests_name("receipt", tests, make_seals, free_seals);
}
