/* test_mail_text.c - mails: what they say, that no name of a user gets out of its place, which
 * addresses a mail program is given. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "exec/mail_text.h"

#define JOB(n) (&(struct auc_mail_job){.id = 42, .name = (n), .cluster = "c1"})

static struct auc_mail_text text;

static void has(const char *where, const char *what)
{
	if (!strstr(where, what))
		fail_msg("'%s' is not in: %s", what, where);
}

static void test_a_sale_names_job_price_time_and_cancel(void **state)
{
	(void)state;
	auc_mail_text_sold(&text, JOB("train"), 12600000, 1800000000, 1800014400, 4, false);
	assert_string_equal(text.subject, "Slurm Job_id=42 Name=train Sold, Price 12.60, Begins "
					  "2027-01-15T08:00:00+0000");
	has(text.body, "Job 42 (train) on cluster c1 has bought its time.");
	has(text.body, "Price:  12.60 credits\n");
	has(text.body, "Begins: 2027-01-15T08:00:00+0000\n");
	has(text.body, "Ends:   2027-01-15T12:00:00+0000 at the latest\n");
	has(text.body, "Nodes:  4\n");
	has(text.body, "scancel 42\n");
	auc_mail_text_sold(&text, JOB("train"), 12600001, 1800000000, 1800014400, 4, true);
	has(text.subject, "Sold after standing, Price 12.600001, ");
	/* A task of an array, one of which has the array's own number. */
	auc_mail_text_sold(&text,
			   &(struct auc_mail_job){.id = 42, .array = 42, .task = 7, .name = "a"}, 1,
			   0, 1, 1, false);
	has(text.subject, "Slurm Job_id=42_7 Name=a Sold");
	has(text.body, "scancel 42_7\n");
}

static void test_an_end_names_what_was_paid_and_came_back(void **state)
{
	(void)state;
	auc_mail_text_settled(&text, JOB("train"), "node_fail", 10000000, 2600000, 1800000000);
	has(text.subject, "Paid 10.00 of 12.60, 2.60 back, node fail");
	has(text.body, "Why:       node fail\n");
	has(text.body, "Price:     12.60 credits\n");
	has(text.body, "Paid back: 2.60 credits\n");
	auc_mail_text_unsold(&text, JOB("train"), "expired", 1800000000);
	has(text.subject, "Not sold, expired");
	has(text.body, "2027-01-15T08:00:00+0000");
	auc_mail_text_budget(&text, JOB("train"), "account:physics", 0.83, 1700000, 10000000);
	has(text.subject, "Budget 83 % used, account:physics");
	has(text.body, "Left:    1.70 credits\n");
	has(text.body, "scancel 42\n");
}

static void test_another_plan_and_the_end_of_an_array(void **state)
{
	const struct auc_mail_array array = {
		.completed = 3, .others = 1, .unsold = 2, .paid = 1500000, .back = 250000};

	(void)state;
	auc_mail_text_moved(&text, JOB("train"), "partition_down", 12600000, 1800000000,
			    1800014400);
	assert_string_equal(text.subject, "Slurm Job_id=42 Name=train Moved, partition down, Next "
					  "2027-01-15T08:00:00+0000");
	has(text.body, "Job 42 (train) on cluster c1 has another plan.");
	has(text.body, "Ends:   2027-01-15T12:00:00+0000 at the latest\n");
	has(text.body, "Price:  12.60 credits in all\n");
	has(text.body, "scancel 42\n");
	auc_mail_text_array(&text, JOB("sweep"), &array, 1800000000);
	assert_string_equal(text.subject, "Slurm Job_id=42 Name=sweep Array ended, 3 of 6 tasks "
					  "completed, Paid 1.50, 0.25 back");
	has(text.body, "Not sold:        2\n");
}

/* A job may have any name, and a header ends with a line. */
static void test_names_stay_in_their_place(void **state)
{
	char name[5000];

	(void)state;
	auc_mail_text_sold(&text, JOB("a\r\nBcc: root\n\n~!id\x01\x7f\xc3\xa4"), 1, 0, 1, 1, false);
	assert_null(strpbrk(text.subject, "\r\n"));
	has(text.subject, "Name=a??Bcc: root??~!id???? Sold");
	has(text.body, "(a??Bcc: root??~!id???");
	assert_null(strstr(text.body, "\n~"));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	auc_mail_text_sold(&text, JOB(name), 12600000, 1800000000, 1800014400, 4, false);
	has(text.subject, "xxx Sold, Price 12.60, Begins 2027");
	has(text.body, "scancel 42\n");
	auc_mail_text_sold(&text, JOB(NULL), 1, 0, 1, 1, false);
	has(text.subject, "Name= Sold");
}

static void test_no_address_is_an_option_a_file_or_a_command(void **state)
{
	static const char *const good[] = {"alice", "alice@example.org", "a.b+c_d=e%f@x-y.org",
					   "alice,bob@example.org", "_x"};
	static const char *const bad[] = {
		"",           "-A/etc/shadow", "alice,-v", "|id", "/tmp/x", "a b",   "a\nBcc: bob",
		"a@b@c",      "a,,b",          "a,",       ",a",  "a;b",    "a`id`", "$(id)",
		"\xc3\xa4@x", "<a@b>",         "@x",       ".a",  "a/b",    "a\"b"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!auc_mail_is_address(good[i]))
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (auc_mail_is_address(bad[i]))
			fail_msg("taken: %s", bad[i]);
}

static void test_levels(void **state)
{
	(void)state;
	assert_int_equal(auc_mail_budget_level(0.79), 0);
	assert_int_equal(auc_mail_budget_level(0.8), 1);
	assert_int_equal(auc_mail_budget_level(0.949), 1);
	assert_int_equal(auc_mail_budget_level(0.95), 2);
	assert_int_equal(auc_mail_budget_level(1.2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sale_names_job_price_time_and_cancel),
		cmocka_unit_test(test_another_plan_and_the_end_of_an_array),
		cmocka_unit_test(test_an_end_names_what_was_paid_and_came_back),
		cmocka_unit_test(test_names_stay_in_their_place),
		cmocka_unit_test(test_no_address_is_an_option_a_file_or_a_command),
		cmocka_unit_test(test_levels),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
