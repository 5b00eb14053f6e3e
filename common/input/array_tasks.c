/* array_tasks.c - see array_tasks.h. */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/array_tasks.h"

static bool read_number(const char **p, uint32_t most, uint32_t *n);
static bool read_range(const char **p, uint32_t most, bool *in);
static enum auc_code wrong(const char *text, uint32_t most, struct auc_err *err);

enum auc_code auc_array_read(const char *text, uint32_t most, struct auc_array_tasks *t,
			     struct auc_err *err)
{
	const char *p = text + (*text == '[');
	bool *in = calloc((size_t)most + 1, sizeof(*in)), good = true;
	uint32_t at_once = 0;

	memset(t, 0, sizeof(*t));
	if (!in)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for a job array");
	for (bool more = true; more && good; p += more) {
		good = read_range(&p, most, in);
		more = good && *p == ',';
	}
	if (good && *p == '%') {
		p++;
		good = read_number(&p, UINT32_MAX, &at_once);
	}
	p += good && *text == '[' && *p == ']';
	good = good && !*p;
	for (uint32_t i = 0; i < most && good; i++)
		t->n += in[i];
	if (good)
		t->ids = malloc((t->n + 1) * sizeof(*t->ids));
	t->n = 0;
	for (uint32_t i = 0; i < most && t->ids; i++)
		if (in[i])
			t->ids[t->n++] = i;
	t->at_once = at_once;
	free(in);
	if (!good)
		return wrong(text, most, err);
	return t->ids ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "out of memory for a job array");
}

static enum auc_code wrong(const char *text, uint32_t most, struct auc_err *err)
{
	return auc_err_set(err, AUC_EINVAL,
			   "--array=%.64s: expected numbers of tasks below %" PRIu32
			   " (MaxArraySize), as in 0-9, 1,3,7 or 0-99%%10",
			   text, most);
}

/* Digits, below MOST. */
static bool read_number(const char **p, uint32_t most, uint32_t *n)
{
	uint64_t sum = 0;
	const char *begin = *p;

	for (; **p >= '0' && **p <= '9' && sum <= UINT32_MAX; (*p)++)
		sum = sum * 10 + (uint64_t)(**p - '0');
	*n = (uint32_t)sum;
	return *p > begin && sum < most;
}

/* "3", "5-9" or "5-9:2", whose tasks are marked in IN[MOST]. */
static bool read_range(const char **p, uint32_t most, bool *in)
{
	uint32_t from, to, step = 1;

	if (!read_number(p, most, &from))
		return false;
	to = from;
	if (**p == '-') {
		(*p)++;
		if (!read_number(p, most, &to) || to < from)
			return false;
		if (**p == ':') {
			(*p)++;
			if (!read_number(p, UINT32_MAX, &step) || !step)
				return false;
		}
	}
	for (uint64_t i = from; i <= to; i += step)
		in[i] = true;
	return true;
}

char *auc_array_print(const uint32_t *ids, unsigned n)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (unsigned i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && ids[k] == ids[k - 1] + 1; k++)
			;
		fprintf(out, "%s%" PRIu32, i ? "," : "", ids[i]);
		if (k > i + 1)
			fprintf(out, "%s%" PRIu32, k > i + 2 ? "-" : ",", ids[k - 1]);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
