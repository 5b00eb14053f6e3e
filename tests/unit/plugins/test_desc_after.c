/* test_desc_after.c - what a job waits for, and when that is over by the plans of others. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "adapter/after/desc_after.h"

/* Job 7 is from 1000 to 2000, job 8 from 1500 to 3000. */
static bool times(void *arg, uint32_t job_id, double *start, double *end)
{
	(void)arg;
	*start = job_id == 7 ? 1000 : 1500;
	*end = job_id == 7 ? 2000 : 3000;
	return job_id == 7 || job_id == 8;
}

/* Those of the name "two" end at 2500, one of the name "open" nobody knows when. */
static enum auc_code named(void *arg, uint32_t uid, const char *name, double *end,
			   struct auc_err *e)
{
	(void)arg;
	assert_int_equal(uid, 1000);
	*end = strcmp(name, "two") ? 0 : 2500;
	return strcmp(name, "open") ? AUC_OK : auc_err_set(e, AUC_EINVAL, "job 5 has that name");
}

static void test_dependency(void **state)
{
	static const char expected[] = "expected afterok, afterany, afternotok, aftercorr, after "
				       "or singleton: nobody knows";
	static const struct {
		const char *text, *said;
		double end;
		enum auc_code code;
		const char *name;
	} cases[] = {
		{NULL, NULL, 0, AUC_OK, NULL},
		{"", NULL, 0, AUC_OK, NULL},
		{"afterok:7", NULL, 2000, AUC_OK, NULL},
		{"AfterOK:7", NULL, 2000, AUC_OK, NULL},
		{"afterok:7:8", NULL, 3000, AUC_OK, NULL},
		{"afterany:8,afternotok:7", NULL, 3000, AUC_OK, NULL},
		{"afterok:8?afterok:7", NULL, 3000, AUC_OK, NULL},
		{"aftercorr:8", NULL, 3000, AUC_OK, NULL},
		{"afterok:9", "9 was not sold by this auction", 0, AUC_ENOENT, NULL},
		{"afterok:7:9", "9 was not sold by this auction", 0, AUC_ENOENT, NULL},
		{"afterok:7_1:8_*", NULL, 3000, AUC_OK, NULL},
		{"afterok:9_1", "9_1 was not sold", 0, AUC_ENOENT, NULL},
		{"afterok:7_", "7_ was not sold", 0, AUC_EINVAL, NULL},
		{"afterok:7_x", "7_x was not sold", 0, AUC_EINVAL, NULL},
		{"afterok:7+5", "7+5 was not sold", 0, AUC_EINVAL, NULL},
		{"afterok:", " was not sold", 0, AUC_EINVAL, NULL},
		{"afterok:-7", "-7 was not sold", 0, AUC_EINVAL, NULL},
		{"afterok: 7", " 7 was not sold", 0, AUC_EINVAL, NULL},
		{"afterok:7:", " was not sold", 0, AUC_EINVAL, NULL},
		{"afterok:99999999999999999999", "99 was not sold", 0, AUC_EINVAL, NULL},
		{"7", NULL, 2000, AUC_OK, NULL},
		{"7,8", NULL, 3000, AUC_OK, NULL},
		{"7_1", NULL, 2000, AUC_OK, NULL},
		{"9", "9 was not sold", 0, AUC_ENOENT, NULL},
		{"7,afterok:9", "9 was not sold", 0, AUC_ENOENT, NULL},
		{"after:7", NULL, 1000, AUC_OK, NULL},
		{"after:7+5", NULL, 1300, AUC_OK, NULL},
		{"after:7+5:8", NULL, 1500, AUC_OK, NULL},
		{"after:7+10:8", NULL, 1600, AUC_OK, NULL},
		{"after:7:8+10,after:7_2", NULL, 2100, AUC_OK, NULL},
		{"after:7+", "7+ was not sold", 0, AUC_EINVAL, NULL},
		{"after:7+x", "7+x was not sold", 0, AUC_EINVAL, NULL},
		{"after:7+-1", "7+-1 was not sold", 0, AUC_EINVAL, NULL},
		{"after", expected, 0, AUC_EINVAL, NULL},
		{"afterburstbuffer:7", expected, 0, AUC_EINVAL, NULL},
		{"expand:7", expected, 0, AUC_EINVAL, NULL},
		{",afterok:7", expected, 0, AUC_EINVAL, NULL},
		{"singleton", NULL, 0, AUC_OK, "one"},
		{"singleton", NULL, 2500, AUC_OK, "two"},
		{"Singleton", NULL, 2500, AUC_OK, "two"},
		{"singleton,afterok:7", NULL, 2500, AUC_OK, "two"},
		{"afterok:8,singleton", NULL, 3000, AUC_OK, "two"},
		{"singleton", "job 5 has that name", 0, AUC_EINVAL, "open"},
		{"singleton,afterok:9", "9 was not sold", 0, AUC_ENOENT, "two"},
		{"singleton", "the job has no name", 0, AUC_EINVAL, ""},
		{"singleton", "the job has no name", 0, AUC_EINVAL, NULL},
		{"singletons", expected, 0, AUC_EINVAL, "two"},
		{"singleton:7", expected, 0, AUC_EINVAL, "two"},
	};
	const struct auc_desc_others others = {.times = times, .named = named};
	struct auc_err err;
	job_desc_msg_t desc;
	double end;

	(void)state;
	slurm_init_job_desc_msg(&desc);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		desc.user_id = 1000;
		desc.dependency = (char *)cases[i].text;
		desc.name = (char *)cases[i].name;
		err.text[0] = '\0';
		if (auc_desc_after(&desc, &others, &end, &err) != cases[i].code)
			fail_msg("%s: %s", cases[i].text, err.text);
		if (cases[i].code == AUC_OK && end != cases[i].end)
			fail_msg("%s: %f", cases[i].text, end);
		if (cases[i].said && !strstr(err.text, cases[i].said))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
	desc.array_inx = (char *)"0-3";
	desc.dependency = (char *)"singleton";
	assert_int_equal(auc_desc_after(&desc, &others, &end, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "the tasks of an array have one name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_dependency)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
