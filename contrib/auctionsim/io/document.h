/*
 * document.h - a JSON file as a tree, and reading the members of its objects by tables, so that
 * every error says "FILE: $.jobs[3].utility.decay: expected ..., found ...".
 */
#ifndef SIM_DOCUMENT_H
#define SIM_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct json_object;

/*
 * Reads PATH ("-": standard input), one JSON value to the last byte. What is not JSON or not UTF-8,
 * has a key twice in one object or a NUL in a text is refused. AUC_EIO, AUC_EINVAL, AUC_ENOMEM.
 * Free *ROOT with json_object_put().
 */
enum auc_code document_load(const char *path, struct json_object **root, struct auc_err *err);
/* The same from LEN bytes of TEXT, a NUL after them; NAME stands for the file in errors. */
enum auc_code document_parse(const char *text, size_t len, const char *name,
			     struct json_object **root, struct auc_err *err);

/* Where a reader is, for its errors. */
struct reader {
	const char *file;
	struct auc_err *err;
	void *user; /* the reader's own */
	char path[1024];
	size_t len; /* of path; may exceed what it holds */
};

void reader_init(struct reader *r, const char *file, void *user, struct auc_err *err);
/* Steps into a member or an element; returns what reader_leave() needs to step out again. */
size_t reader_enter_key(struct reader *r, const char *key);
size_t reader_enter_index(struct reader *r, size_t index);
void reader_leave(struct reader *r, size_t mark);
/* AUC_EINVAL "FILE: PATH: expected WHAT, found FOUND"; FOUND NULL: nothing was there. */
enum auc_code reader_expected(struct reader *r, struct json_object *found, const char *what, ...)
	__attribute__((format(printf, 3, 4)));
/* Any other sentence after "FILE: PATH: ". */
enum auc_code reader_fail(struct reader *r, enum auc_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* One member of an object. */
struct field {
	const char *key;
	/* Reads V into TARGET + offset; the reader's path is that of V. */
	enum auc_code (*read)(struct reader *r, struct json_object *v, const struct field *f,
			      void *target);
	size_t offset;
	double min, max; /* of numbers and counts */
	bool required;
};

/*
 * Reads the members of O in the order of FIELDS (NFIELDS). A member that is not in the table, a
 * required one that is missing and an O that is no object are errors. BASE is the structure that
 * offsets count from.
 */
enum auc_code fields_read(struct reader *r, struct json_object *o, const struct field *fields,
			  unsigned nfields, void *base);
#define FIELDS_READ(r, o, fields, base)                                                            \
	fields_read(r, o, fields, sizeof(fields) / sizeof((fields)[0]), base)

/* For tables: a number (double) in [min, max], one above 0, a whole number (uint64_t), true or
 * false (bool), a name (char[AUC_NAME_MAX]), a text of any length >= 1 (char *, malloc'd). */
enum auc_code field_number(struct reader *r, struct json_object *v, const struct field *f,
			   void *target);
enum auc_code field_positive(struct reader *r, struct json_object *v, const struct field *f,
			     void *target);
enum auc_code field_count(struct reader *r, struct json_object *v, const struct field *f,
			  void *target);
enum auc_code field_bool(struct reader *r, struct json_object *v, const struct field *f,
			 void *target);
enum auc_code field_name(struct reader *r, struct json_object *v, const struct field *f,
			 void *target);
enum auc_code field_text(struct reader *r, struct json_object *v, const struct field *f,
			 void *target);

/* The same without a table. */
enum auc_code read_number(struct reader *r, struct json_object *v, double min, double max,
			  double *value);
enum auc_code read_count(struct reader *r, struct json_object *v, uint64_t min, uint64_t max,
			 uint64_t *value);
/* A text; it belongs to V. */
enum auc_code read_text(struct reader *r, struct json_object *v, const char *what,
			const char **text);

/*
 * Reads the elements of array V into a new array of SIZE bytes each, zeroed. *N counts those begun,
 * so that what a failed one holds can be freed.
 */
enum auc_code
read_array(struct reader *r, struct json_object *v, size_t size, void **list, unsigned *n,
	   enum auc_code (*read)(struct reader *r, struct json_object *v, void *element));

#endif
