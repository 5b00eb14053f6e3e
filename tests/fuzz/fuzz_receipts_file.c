/*
 * fuzz_receipts_file.c - any bytes as the file of final receipts. Entries that are accepted are
 * within their bounds; written and read again they are the same ones, in order.
 */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "ledger/final_receipts.h"
#include "ledger/receipt.h"

struct list {
	struct auc_final *entries;
	unsigned n;
	unsigned stop; /* the reading ends with this entry; 0: it does not */
};

static enum auc_code add(void *arg, const struct auc_final *f, struct auc_err *err);
static char *print(const struct list *l, size_t *len);
static void same(const struct list *a, const struct list *b);
static void clear(struct list *l);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *once, *twice;
	struct list list = {.n = 0}, again = {.n = 0}, part = {.stop = 2};
	struct auc_err err = {.text = ""};
	enum auc_code rc;
	size_t len;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	rc = auc_finals_read(text, size, add, &list, &err);
	if (rc == AUC_OK) {
		once = print(&list, &len);
		REQUIRE(auc_finals_read(once, len, add, &again, &err) == AUC_OK);
		same(&list, &again);
		twice = print(&again, &len);
		REQUIRE(!strcmp(once, twice) && !strchr(once, '\n'));
		rc = auc_finals_read(text, size, add, &part, &err);
		REQUIRE(rc == (list.n < 2 ? AUC_OK : AUC_ENOMEM) && part.n == (list.n ? 1 : 0));
		/* What a crash leaves of a file is refused. */
		once[len - 1] = '\0';
		REQUIRE(auc_finals_read(once, len - 1, add, &again, NULL) == AUC_ECORRUPT);
		free(once);
		free(twice);
	} else {
		REQUIRE(rc == AUC_ECORRUPT && err.code == rc && *err.text);
	}
	clear(&list);
	clear(&again);
	clear(&part);
	free(text);
	return 0;
}

static enum auc_code add(void *arg, const struct auc_final *f, struct auc_err *err)
{
	struct list *l = arg;
	struct auc_final *to;

	REQUIRE(f->job_id && f->since >= 0 && f->since <= AUC_FINAL_TIME_MAX);
	REQUIRE(*f->sale && strlen(f->sale) < AUC_SALE_ID_LEN && auc_receipt_is(f->text));
	if (l->stop && l->n + 1 == l->stop)
		return auc_err_set(err, AUC_ENOMEM, "enough");
	l->entries = realloc(l->entries, (l->n + 1) * sizeof(*l->entries));
	REQUIRE(l->entries);
	to = &l->entries[l->n++];
	*to = *f;
	to->sale = strdup(f->sale);
	to->text = strdup(f->text);
	REQUIRE(to->sale && to->text);
	return AUC_OK;
}

static char *print(const struct list *l, size_t *len)
{
	char *text, *line;
	FILE *out = open_memstream(&text, len);

	REQUIRE(out);
	auc_finals_begin(out);
	for (unsigned i = 0; i < l->n; i++) {
		line = auc_final_line(&l->entries[i]);
		REQUIRE(line);
		auc_finals_add(out, !i, line, l->entries[i].done);
		free(line);
	}
	auc_finals_end(out);
	REQUIRE(!fclose(out));
	return text;
}

static void same(const struct list *a, const struct list *b)
{
	REQUIRE(a->n == b->n);
	for (unsigned i = 0; i < a->n; i++) {
		const struct auc_final *x = &a->entries[i], *y = &b->entries[i];

		REQUIRE(x->job_id == y->job_id && x->since == y->since && x->done == y->done);
		REQUIRE(!strcmp(x->sale, y->sale) && !strcmp(x->text, y->text));
	}
}

static void clear(struct list *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		free((char *)l->entries[i].sale);
		free((char *)l->entries[i].text);
	}
	free(l->entries);
}
