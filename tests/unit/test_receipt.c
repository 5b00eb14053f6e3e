/* test_receipt.c - receipts: printed, read back, and everything else refused. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "receipt.h"

static struct auc_err err;

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
	char *text;

	(void)state;
	make_sale(&s, AUC_SALE_SOLD);
	text = auc_receipt_print(&s, m, 0, NULL);
	assert_true(auc_receipt_is(text));
	assert_null(strchr(text, '\n'));
	assert_string_equal(text, "{\"auction\":1,\"sale\":\"00ab-7\",\"state\":\"sold\","
				  "\"policy\":\"dps\",\"payment\":\"12.600001\","
				  "\"value\":\"141.300000\",\"worker_type\":\"v100\",\"ps_type\":"
				  "\"ps.m\",\"colocated\":false,\"arrival\":101,"
				  "\"start\":103,\"completion\":110,\"plan\":[{\"from\":103,\"to\":"
				  "105,\"workers\":{\"e1\":1,\"e2\":2},\"ps\":{"
				  "\"e2\":1}},{\"from\":107,\"to\":109,\"workers\":{\"e2\":1},"
				  "\"ps\":{\"e2\":1}}],\"slot_seconds\":300,"
				  "\"worker_tres\":{\"cpu\":2,\"gpu:v100\":0.5},\"ps_tres\":{"
				  "\"cpu\":1},\"bid\":\"bid=\\\"300\\\" epochs=3\"}");
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
	assert_int_equal(auc_receipt_to_sale(text, m, &again, &err), AUC_OK);
	assert_string_equal(again.bid, s.bid);
	assert_int_equal(again.payment, s.payment);
	assert_int_equal(again.state, AUC_SALE_SOLD);
	char *twice = auc_receipt_print(&again, m, 0, NULL);

	assert_string_equal(text, twice);
	free(twice);
	free(text);
	auc_sale_clear(&again);
	auc_sale_clear(&s);
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
	text = auc_receipt_print(&s, m, 2600000, "cancelled");
	assert_int_equal(auc_receipt_parse(text, &r, &err), AUC_OK);
	assert_int_equal(r.payment, 10000001);
	assert_int_equal(r.refund, 2600000);
	assert_string_equal(r.why, "cancelled");
	auc_receipt_clear(&r);
	assert_int_equal(auc_receipt_to_sale(text, m, &sale, &err), AUC_ESTATE);
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
		{"{\"auction\":1}", "receipt: sale: expected a text of at most 39 characters"},
		{"{\"auction\":1,\"sale\":\"\"}",
		 "receipt: sale: expected a text of at least one character"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"free\"}",
		 "receipt: state: 'free', expected lien, sold, running, settled or member"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"member\",\"lead\":0}",
		 "receipt: lead: expected a whole number from 1 to 4294967295"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"sold\",\"policy\":\"dps\",\"payment\":"
		 "\"2\"}",
		 "receipt: payment: '2', expected an amount with six decimals"},
		{"{\"auction\":1,\"sale\":\"x\",\"state\":\"sold\",\"policy\":\"dps\",\"payment\":"
		 "\"2.000000\",\"value\":\"1.000000\"}",
		 "receipt: payment: more than the value"},
	};
	struct auc_receipt r;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(auc_receipt_parse(cases[i].text, &r, &err), AUC_EINVAL);
		assert_string_equal(err.text, cases[i].says);
		assert_null(r.runs);
	}
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
	text = auc_receipt_print(&s, m, 0, NULL);
	len = strlen(text);
	for (size_t i = 0; i < len; i++)
		for (unsigned k = 0; k < 7; k++) {
			char old = text[i];

			text[i] = "\0\x01}9\"-\xff"[k];
			if (auc_receipt_parse(text, &r, &err) == AUC_OK) {
				assert_true(r.payment >= 0 && r.payment <= r.value);
				assert_true(r.nruns > 0 && r.start == r.runs[0].from &&
					    r.start >= r.arrival);
			}
			auc_receipt_clear(&r);
			if (auc_receipt_to_sale(text, m, &sale, &err) == AUC_OK)
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
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_settled),
		cmocka_unit_test(test_member),     cmocka_unit_test(test_is),
		cmocka_unit_test(test_bad),        cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests_name("receipt", tests, NULL, NULL);
}
