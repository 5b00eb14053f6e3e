/* proof.c - see proof.h */
#include "config.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/io/document.h"
#include "auctionsim/bound/proof.h"
#include "base/list.h"

#define PRICE_MAX 1e15

/* While a file is read. */
struct known {
	const struct scenario *s;
	struct proof *p;
};

static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code check_scenario(struct reader *r, struct json_object *v, const struct field *f,
				    void *target);
static enum auc_code read_payoffs(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code read_rows(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_row(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_server(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_slots(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code read_list(struct reader *r, struct json_object *v, double max, double *list,
			       size_t n);
static void print_list(FILE *out, const double *list, size_t n);
static bool print_text(FILE *out, const char *before, const char *text, const char *after);

static const struct field top_fields[] = {
	{"format", check_format, 0, 0, 0, true},
	{"scenario", check_scenario, 0, 0, 0, true},
	{"policy", field_text, offsetof(struct proof, policy), 0, 0, true},
	{"bound", field_number, offsetof(struct proof, bound), 0, DBL_MAX, true},
	{"payoffs", read_payoffs, 0, 0, DBL_MAX, true},
	{"prices", read_rows, 0, 0, 0, true},
};

static const struct field row_fields[] = {
	{"server", read_server, 0, 0, 0, true},
	{"tres", field_name, offsetof(struct proof_row, tres), 0, 0, true},
	{"slots", read_slots, 0, 0, PRICE_MAX, true},
};

enum auc_code proof_load(const char *path, const struct scenario *s, struct proof **p,
			 struct auc_err *err)
{
	struct json_object *root = NULL;
	enum auc_code rc = document_load(path, &root, err);

	*p = NULL;
	if (rc == AUC_OK)
		rc = proof_read(root, path, s, p, err);
	json_object_put(root);
	return rc;
}

enum auc_code proof_read(struct json_object *root, const char *name, const struct scenario *s,
			 struct proof **out, struct auc_err *err)
{
	struct known known = {s, proof_create(s, 0)};
	struct reader r;
	enum auc_code rc;

	*out = NULL;
	if (!known.p)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
	reader_init(&r, name, &known, err);
	rc = FIELDS_READ(&r, root, top_fields, known.p);
	if (rc == AUC_OK)
		*out = known.p;
	else
		proof_free(known.p);
	return rc;
}

struct proof *proof_create(const struct scenario *s, unsigned nrows)
{
	struct proof *p = calloc(1, sizeof(*p));
	unsigned i;

	if (!p)
		return NULL;
	p->payoff = calloc((size_t)s->njobs + 1, sizeof(*p->payoff));
	p->rows = calloc((size_t)nrows + 1, sizeof(*p->rows));
	p->nrows = p->rows ? nrows : 0;
	for (i = 0; i < p->nrows; i++) {
		p->rows[i].price = calloc(s->slots, sizeof(double));
		if (!p->rows[i].price)
			break;
	}
	if (p->payoff && p->rows && i == nrows)
		return p;
	proof_free(p);
	return NULL;
}

void proof_free(struct proof *p)
{
	unsigned i;

	if (!p)
		return;
	for (i = 0; i < p->nrows; i++)
		free(p->rows[i].price);
	free(p->rows);
	free(p->payoff);
	free(p->policy);
	free(p);
}

enum auc_code proof_write(FILE *out, const struct scenario *s, const struct proof *p,
			  struct auc_err *err)
{
	char text[AUC_NUMBER_LEN];
	bool ok = print_text(out, "{\"format\": \"" PRICES_FORMAT "\", \"scenario\": ", s->name,
			     ",\n") &&
		  print_text(out, "\"policy\": ", p->policy, ",\n");
	const struct proof_row *row;

	if (!ok)
		return auc_err_set(err, AUC_ENOMEM, "no memory for the prices");
	fprintf(out, "\"bound\": %s,\n\"payoffs\": ", auc_number_str(p->bound, text));
	print_list(out, p->payoff, s->njobs);
	fputs(",\n\"prices\": [", out);
	for (row = p->rows; row < p->rows + p->nrows; row++) {
		/* names need no escapes */
		fprintf(out, "%s\n{\"server\": \"%s\", \"tres\": \"%s\", \"slots\": ",
			row == p->rows ? "" : ",", s->servers[row->server].name, row->tres);
		print_list(out, row->price, s->slots);
		fputc('}', out);
	}
	fputs("]}\n", out);
	return ferror(out) ? auc_err_set(err, AUC_EIO, "the prices could not be written") : AUC_OK;
}

static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	(void)f;
	(void)target;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), PRICES_FORMAT) != 0)
		return reader_expected(r, v, "\"" PRICES_FORMAT "\"");
	return AUC_OK;
}

static enum auc_code check_scenario(struct reader *r, struct json_object *v, const struct field *f,
				    void *target)
{
	const struct known *known = r->user;

	(void)f;
	(void)target;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), known->s->name) != 0)
		return reader_expected(r, v, "\"%s\", the name of the scenario", known->s->name);
	return AUC_OK;
}

static enum auc_code read_payoffs(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	const struct known *known = r->user;

	return read_list(r, v, f->max, ((struct proof *)target)->payoff, known->s->njobs);
}

static enum auc_code read_rows(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct proof *p = target;

	(void)f;
	free(p->rows);
	p->rows = NULL;
	return read_array(r, v, sizeof(*p->rows), (void **)&p->rows, &p->nrows, read_row);
}

static enum auc_code read_row(struct reader *r, struct json_object *v, void *element)
{
	return FIELDS_READ(r, v, row_fields, element);
}

static enum auc_code read_server(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	const struct known *known = r->user;
	struct proof_row *row = target;
	const char *name;
	enum auc_code rc = read_text(r, v, "the name of a server", &name);

	(void)f;
	if (rc != AUC_OK)
		return rc;
	for (row->server = 0; row->server < known->s->nservers; row->server++)
		if (!strcmp(known->s->servers[row->server].name, name))
			return AUC_OK;
	return reader_expected(r, v, "the name of a server");
}

static enum auc_code read_slots(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	const struct known *known = r->user;
	struct proof_row *row = target;

	row->price = calloc(known->s->slots, sizeof(double));
	if (!row->price)
		return reader_fail(r, AUC_ENOMEM, "no memory");
	return read_list(r, v, f->max, row->price, known->s->slots);
}

/* Exactly N numbers from 0 to MAX. */
static enum auc_code read_list(struct reader *r, struct json_object *v, double max, double *list,
			       size_t n)
{
	enum auc_code rc = AUC_OK;
	size_t i, mark;

	if (!json_object_is_type(v, json_type_array) || json_object_array_length(v) != n)
		return reader_expected(r, v, "an array of %zu numbers", n);
	for (i = 0; i < n && rc == AUC_OK; i++) {
		mark = reader_enter_index(r, i);
		rc = read_number(r, json_object_array_get_idx(v, i), 0, max, &list[i]);
		if (rc == AUC_OK)
			reader_leave(r, mark);
	}
	return rc;
}

static void print_list(FILE *out, const double *list, size_t n)
{
	char text[AUC_NUMBER_LEN];
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "[", auc_number_str(list[i], text));
	fputs(n ? "]" : "[]", out);
}

/* TEXT as JSON. False: no memory. */
static bool print_text(FILE *out, const char *before, const char *text, const char *after)
{
	struct json_object *o = json_object_new_string(text);
	const char *json =
		o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE) : NULL;

	if (json)
		fprintf(out, "%s%s%s", before, json, after);
	json_object_put(o);
	return json != NULL;
}
