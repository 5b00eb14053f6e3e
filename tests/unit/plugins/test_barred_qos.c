/* test_barred_qos.c - a QOS that there is not, that its user may not have, and one that asks for
 * more fairshare than the user has left. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "adapter/accounts.h"

static struct auc_err err;

/* Why alice, whose job SUBMITTER submits, may not have QOS in a partition that has OWN. */
static const char *why_not(const struct auc_accounts *a, uint32_t submitter, const char *qos,
			   const char *own)
{
	static char why[256];

	if (!auc_accounts_bars_qos(a, 2001, submitter, NULL, "edge", qos, own, why, sizeof(why)))
		*why = '\0';
	return why;
}

static void test_barred_qos(void **state)
{
	slurmdb_qos_usage_t used = {0};
	slurmdb_assoc_usage_t share = {.fs_factor = 0.25};
	slurmdb_user_rec_t users[] = {{.uid = 2001, .admin_level = SLURMDB_ADMIN_NONE},
				      {.uid = 2003, .admin_level = SLURMDB_ADMIN_OPERATOR}};
	slurmdb_coord_rec_t coordinated = {.name = (char *)"lab", .direct = 1};
	slurmdb_assoc_rec_t rec = {.id = 4,
				   .acct = (char *)"lab",
				   .uid = 2001,
				   .user = (char *)"alice",
				   .is_def = 1,
				   .usage = &share};
	slurmdb_qos_rec_t qos[] = {{.id = 1, .name = (char *)"normal", .usage_thres = NO_VAL},
				   {.id = 2, .name = (char *)"gold", .usage = &used},
				   {.id = 3,
				    .name = (char *)"fair",
				    .flags = QOS_FLAG_ENFORCE_USAGE_THRES,
				    .usage_thres = 0.5}};
	assoc_mgr_info_msg_t msg = {.assoc_list = slurm_list_create(NULL),
				    .qos_list = slurm_list_create(NULL),
				    .user_list = slurm_list_create(NULL)};
	struct auc_accounts *a;

	(void)state;
	qos[1].usage_thres = NO_VAL;
	rec.qos_list = slurm_list_create(NULL);
	slurm_list_append(rec.qos_list, (char *)"1");
	slurm_list_append(rec.qos_list, (char *)"3");
	slurm_list_append(msg.assoc_list, &rec);
	for (unsigned i = 0; i < 3; i++)
		slurm_list_append(msg.qos_list, &qos[i]);
	for (unsigned i = 0; i < 2; i++)
		slurm_list_append(msg.user_list, &users[i]);
	users[0].coord_accts = slurm_list_create(NULL);
	slurm_list_append(users[0].coord_accts, &coordinated);
	assert_int_equal(auc_accounts_make(&msg, &a, &err), AUC_OK);
	assert_true(auc_accounts_coordinates(a, 2001, "lab"));
	assert_true(auc_accounts_coordinates(a, 2001, "LAB"));
	assert_false(auc_accounts_coordinates(a, 2001, "lab2"));
	assert_false(auc_accounts_coordinates(a, 2001, NULL));
	assert_false(auc_accounts_coordinates(a, 2003, "lab"));
	assert_false(auc_accounts_coordinates(NULL, 2001, "lab"));
	assert_string_equal(why_not(a, 2001, NULL, NULL), "");
	assert_string_equal(why_not(NULL, 2001, "nosuch", NULL), "");
	/* Slurm takes it where it enforces none. */
	assert_string_equal(why_not(a, 2001, "nosuch", NULL), "");
	assert_string_equal(why_not(a, 2001, "gold", NULL), "");
	slurm_conf.accounting_storage_enforce = AUC_ENFORCE_QOS;
	assert_string_equal(why_not(a, 2001, "nosuch", NULL), "there is no QOS nosuch");
	assert_string_equal(why_not(a, 2001, "gold", NULL),
			    "your association in lab may not have QOS gold");
	assert_string_equal(why_not(a, 2003, "gold", NULL), "");
	/* As the QOS of the job, or of the partition. */
	assert_string_equal(why_not(a, 2001, "fair", NULL), "");
	slurm_conf.accounting_storage_enforce = AUC_ENFORCE_LIMITS;
	slurm_conf.priority_type = (char *)"priority/multifactor";
	slurm_conf.priority_flags = PRIORITY_FLAGS_FAIR_TREE;
	assert_string_equal(why_not(a, 2001, "fair", NULL),
			    "UsageThreshold of QOS fair is 0.5, and the fairshare of your "
			    "association in lab is 0.25");
	assert_string_equal(why_not(a, 2001, "normal", NULL), "");
	assert_non_null(
		strstr(why_not(a, 2001, "normal", "fair"), "UsageThreshold of QOS fair is 0.5"));
	auc_accounts_free(a);
	share.fs_factor = 0.5;
	assert_int_equal(auc_accounts_make(&msg, &a, &err), AUC_OK);
	assert_string_equal(why_not(a, 2001, "normal", "fair"), "");
	/* Nothing says what it is. */
	slurm_conf.priority_type = (char *)"priority/basic";
	assert_non_null(strstr(why_not(a, 2001, "normal", "fair"), "your association in lab is 0"));
	slurm_conf.priority_type = NULL;
	slurm_conf.priority_flags = 0;
	slurm_conf.accounting_storage_enforce = 0;
	auc_accounts_free(a);
	slurm_list_destroy(rec.qos_list);
	slurm_list_destroy(users[0].coord_accts);
	slurm_list_destroy(msg.assoc_list);
	slurm_list_destroy(msg.qos_list);
	slurm_list_destroy(msg.user_list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_barred_qos)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
