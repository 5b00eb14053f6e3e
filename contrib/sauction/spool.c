/*
 * spool.c - "sauction spool": verifies the spool's lines, and the money in them by itself: from the
 * accounts of the snapshot and all events since; and makes a spool of what was exported.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/num.h"
#include "ledger/accounts.h"
#include "ledger/spool.h"
#include "sauction/sauction.h"

struct check {
	struct auc_books *books;
	struct json_object *sales; /* by id: their records */
	auc_money charged, refunded, live;
	uint64_t records;
};

static enum auc_code check_record(struct check *c, struct json_object *o, struct auc_err *err);
static enum auc_code check_sale(struct check *c, struct json_object *o, const char *word,
				struct auc_err *err);
static enum auc_code check_settled(struct check *c, struct json_object *o, struct auc_err *err);
static enum auc_code check_limits(const struct check *c, struct auc_err *err);
static int check(const char *text);
static const char *payload_of(const char *line);
static int import(const char *dir);
static char *read_all(FILE *in, struct auc_err *err);
static enum auc_code write_records(const char *dir, char *text, uint64_t *records,
				   struct auc_err *err);
static enum auc_code nothing_there(void *arg, struct json_object *payload, struct auc_err *err);

int command_spool(const struct sauction *s, int argc, char **argv)
{
	char *text = NULL, *line, *rest;
	struct auc_err err;
	int code = EXIT_SUCCESS;
	size_t len;
	FILE *out;

	if (argc == 1 && !strcmp(argv[0], "import"))
		return import(s->dir);
	if (argc != 1 ||
	    (strcmp(argv[0], "check") && strcmp(argv[0], "dump") && strcmp(argv[0], "export")))
		return fail("spool: expected check, dump, export or import");
	out = open_memstream(&text, &len);
	if (!out)
		return fail("out of memory");
	if (auc_spool_inspect(s->dir, out, &err) != AUC_OK)
		code = fail("%s", err.text);
	fclose(out);
	if (code == EXIT_SUCCESS && !strcmp(argv[0], "dump")) {
		fputs(text, stdout);
	} else if (code == EXIT_SUCCESS && !strcmp(argv[0], "export")) {
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			if (payload_of(line))
				puts(payload_of(line));
	} else if (code == EXIT_SUCCESS) {
		code = check(text);
	}
	free(text);
	return code;
}

/* The JSON of a line of auc_spool_inspect(); NULL: it has none. */
static const char *payload_of(const char *line)
{
	return *line == '#' ? NULL : strchr(line, '{');
}

static int check(const char *text)
{
	struct check c = {.books = auc_books_create(), .sales = json_object_new_object()};
	char charged[AUC_MONEY_LEN], refunded[AUC_MONEY_LEN];
	enum auc_code rc = c.books && c.sales ? AUC_OK : AUC_ENOMEM;
	char *copy = strdup(text), *line, *rest = NULL;
	struct auc_err err = {.text = "out of memory"};
	struct json_object *o;

	for (line = copy ? strtok_r(copy, "\n", &rest) : NULL; line && rc == AUC_OK;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *payload = payload_of(line);

		if (!payload)
			continue;
		o = auc_json_parse(payload, strlen(payload));
		rc = o ? check_record(&c, o, &err)
		       : auc_err_set(&err, AUC_ECORRUPT, "not one JSON object");
		json_object_put(o);
		c.records++;
		if (rc != AUC_OK)
			auc_err_prefix(&err, "record %" PRIu64, c.records);
	}
	if (rc == AUC_OK)
		rc = check_limits(&c, &err);
	if (rc == AUC_OK)
		printf("%" PRIu64
		       " record%s: charged %s, refunded %s, the sum over %u account%s is "
		       "0\n",
		       c.records, auc_plural((double)c.records), auc_money_str(c.charged, charged),
		       auc_money_str(c.refunded, refunded), auc_books_count(c.books),
		       auc_plural(auc_books_count(c.books)));
	else
		fail("%s", err.text);
	free(copy);
	auc_books_destroy(c.books);
	json_object_put(c.sales);
	return rc == AUC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static enum auc_code check_record(struct check *c, struct json_object *o, struct auc_err *err)
{
	char word[16];
	enum auc_code rc;

	if (auc_json_text(o, "event", word, sizeof(word), NULL) != AUC_OK)
		return AUC_OK; /* too long for one of money */
	if (!strcmp(word, "totals")) {
		rc = auc_json_sum(o, "charged", &c->charged, err);
		if (rc == AUC_OK)
			rc = auc_json_sum(o, "refunded", &c->refunded, err);
		if (rc == AUC_OK)
			auc_books_begin(c->books, c->charged, c->refunded);
		return rc;
	}
	if (auc_books_know(word))
		return auc_books_apply(c->books, o, INT64_MAX, err);
	if (!strcmp(word, "sale") || !strcmp(word, "sold") || !strcmp(word, "changed"))
		return check_sale(c, o, word, err);
	return strcmp(word, "settled") ? AUC_OK : check_settled(c, o, err);
}

/* One of a snapshot was charged already. */
static enum auc_code check_sale(struct check *c, struct json_object *o, const char *word,
				struct auc_err *err)
{
	char id[64];
	struct json_object *known = NULL;
	auc_money payment, before = 0;
	struct auc_payers payers;
	enum auc_code rc = auc_json_text(o, "sale", id, sizeof(id), err);

	if (rc == AUC_OK)
		rc = auc_json_money(o, "payment", &payment, err);
	if (rc == AUC_OK)
		rc = auc_payers_read(o, &payers, err);
	if (rc != AUC_OK)
		return rc;
	json_object_object_get_ex(c->sales, id, &known);
	if (!known != !!strcmp(word, "changed"))
		return auc_err_set(err, AUC_ECORRUPT, "sale %s: %s, and is %s", id, word,
				   known ? "known" : "not known");
	if (known)
		rc = auc_json_money(known, "payment", &before, err);
	if (rc == AUC_OK && payment < before)
		rc = auc_err_set(err, AUC_ECORRUPT, "sale %s: pays less than before", id);
	if (rc == AUC_OK && strcmp(word, "sale")) {
		rc = auc_books_pay(c->books, &payers, payment - before, true, err);
		c->charged += payment - before;
	}
	if (rc == AUC_OK) {
		c->live += payment - before;
		json_object_object_add(c->sales, id, json_object_get(o));
	}
	return rc;
}

static enum auc_code check_settled(struct check *c, struct json_object *o, struct auc_err *err)
{
	char id[64];
	struct json_object *known;
	auc_money refund, payment;
	struct auc_payers payers;
	enum auc_code rc = auc_json_text(o, "sale", id, sizeof(id), err);

	if (rc == AUC_OK)
		rc = auc_json_money(o, "refund", &refund, err);
	if (rc != AUC_OK)
		return rc;
	if (!json_object_object_get_ex(c->sales, id, &known))
		return auc_err_set(err, AUC_ECORRUPT, "sale %s: settled, and not known", id);
	rc = auc_json_money(known, "payment", &payment, err);
	if (rc == AUC_OK)
		rc = auc_payers_read(known, &payers, err);
	if (rc == AUC_OK && refund > payment)
		rc = auc_err_set(err, AUC_ECORRUPT, "sale %s: more is paid back than was paid", id);
	if (rc != AUC_OK)
		return rc;
	auc_books_refund(c->books, &payers, refund);
	c->refunded += refund;
	c->live -= payment;
	json_object_object_del(c->sales, id);
	return AUC_OK;
}

static enum auc_code check_limits(const struct check *c, struct auc_err *err)
{
	if (auc_books_check(c->books, err) != AUC_OK)
		return AUC_ECORRUPT;
	if (!auc_books_balance(c->books, c->charged - c->refunded))
		return auc_err_set(err, AUC_ECORRUPT,
				   "the market has not got what was charged less what was paid "
				   "back");
	for (unsigned i = 0; i < auc_books_count(c->books); i++) {
		const struct auc_account *a = auc_books_at(c->books, i);

		/* After the loss of a spool; nothing is left then. */
		if (a->limited && a->debits > a->credits)
			fprintf(stderr, "sauction: warning: %s has spent more than it got\n",
				a->name);
	}
	return AUC_OK;
}

/* Standard input, whose money is checked first, as the snapshot of a new spool. */
static int import(const char *dir)
{
	struct auc_err err = {0};
	char *text = read_all(stdin, &err);
	uint64_t records = 0;
	int code;

	code = text ? check(text) : fail("%s", err.text);
	if (code == EXIT_SUCCESS && write_records(dir, text, &records, &err) != AUC_OK)
		code = fail("%s", err.text);
	free(text);
	return code;
}

/* NULL: it cannot be read, or no memory. */
static char *read_all(FILE *in, struct auc_err *err)
{
	char *text = NULL;
	size_t alloc = 0;
	ssize_t n = getdelim(&text, &alloc, '\0', in);

	if (n >= 0 && !ferror(in) && strlen(text) == (size_t)n)
		return text;
	auc_err_set(err, AUC_EINVAL,
		    "spool import: expected on standard input the lines of spool export");
	free(text);
	return NULL;
}

/* Nothing is written unless all of it can be; in a directory that has no spool yet. */
static enum auc_code write_records(const char *dir, char *text, uint64_t *records,
				   struct auc_err *err)
{
	struct auc_spool *spool = NULL;
	struct json_object *o;
	char *line, *rest, path[4200];
	enum auc_code rc;

	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, i ? "journal" : "state");
		if (!access(path, F_OK))
			return auc_err_set(err, AUC_EEXIST,
					   "%.200s: expected a directory without a spool", dir);
	}
	rc = auc_spool_open(dir, nothing_there, NULL, &spool, NULL, err);
	if (rc == AUC_OK)
		rc = auc_spool_snapshot_begin(spool, err);
	for (line = strtok_r(text, "\n", &rest); line && rc == AUC_OK;
	     line = strtok_r(NULL, "\n", &rest)) {
		o = payload_of(line) == line ? auc_json_parse(line, strlen(line)) : NULL;
		++*records;
		rc = o ? auc_spool_snapshot_add(spool, o, err)
		       : auc_err_set(err, AUC_EINVAL, "record %" PRIu64 ": not one JSON object",
				     *records);
		json_object_put(o);
	}
	if (rc == AUC_OK && !*records)
		rc = auc_err_set(err, AUC_EINVAL,
				 "spool import: no record on standard input, expected the lines of "
				 "spool export");
	if (rc == AUC_OK)
		rc = auc_spool_snapshot_end(spool, err);
	auc_spool_close(spool);
	return rc;
}

static enum auc_code nothing_there(void *arg, struct json_object *payload, struct auc_err *err)
{
	(void)arg;
	(void)payload;
	return auc_err_set(err, AUC_EEXIST, "there is a record already");
}
