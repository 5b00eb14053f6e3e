/* test_why.c - the causes of settlements: each has one word, which doc/receipt.md explains. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ledger/receipt.h"
#include "ledger/why.h"

/* The row of WORD in the table of causes: what is paid back, "" if there is none. */
static void row_of(const char *word, char *paid_back, size_t size)
{
	static const char table[] = "| `why` | what happened | paid back |";
	char line[1024], start[64];
	FILE *f = fopen(TOP_SRCDIR "/doc/receipt.md", "re");
	char *last;

	assert_non_null(f);
	snprintf(start, sizeof(start), "| `%s` | ", word);
	paid_back[0] = '\0';
	while (fgets(line, sizeof(line), f) && strncmp(line, table, strlen(table)))
		;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, start, strlen(start)))
			continue;
		assert_string_equal(paid_back, ""); /* one row */
		line[strlen(line) - strlen(" |\n")] = '\0';
		last = strrchr(line, '|');
		assert_non_null(last);
		snprintf(paid_back, size, "%s", last + 2);
	}
	fclose(f);
}

static void test_document(void **state)
{
	char paid_back[64];

	(void)state;
	assert_true(auc_nwhys > 10);
	for (unsigned i = 0; i < auc_nwhys; i++) {
		row_of(auc_whys[i].word, paid_back, sizeof(paid_back));
		assert_string_equal(paid_back, auc_whys[i].refunds ? "all" : "by the rule");
		assert_true(strlen(auc_whys[i].word) < sizeof(((struct auc_receipt *)0)->why));
		assert_true(strlen(auc_whys[i].says) < 100);
		assert_ptr_equal(auc_why_says(auc_whys[i].word), auc_whys[i].says);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(auc_whys[i].word, auc_whys[k].word);
	}
}

static void test_refunds(void **state)
{
	(void)state;
	assert_true(auc_why_refunds("node_fail") && auc_why_refunds("partition_down"));
	assert_false(auc_why_refunds("cancelled") || auc_why_refunds("limit"));
	assert_false(auc_why_refunds("no_such_word"));
	assert_string_equal(auc_why_says("no_such_word"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_refunds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
