/*
 * option.h - the options of a policy, "KEY=VALUE,...": a table says which there are, and words the
 * errors.
 */
#ifndef AUC_OPTION_H
#define AUC_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define AUC_OPTION_NOT_GIVEN (~0u) /* for a choice whose absence means something */

enum auc_option_type {
	AUC_OPTION_CHOICE, /* unsigned: which of the choices */
	AUC_OPTION_COUNT,  /* uint64_t in [min, max] */
	AUC_OPTION_NUMBER, /* double in [min, max] */
	AUC_OPTION_TEXT,   /* char *, malloc'd; also where another word is refused */
};

/* Rows of the same key stand for values of different types; they are tried in their order. */
struct auc_option {
	const char *key;
	enum auc_option_type type;
	size_t offset;       /* of the value in the struct that is filled */
	const char *choices; /* "a|b|c"; of a text what an error calls it */
	double min, max;
};

/*
 * Reads OPTIONS ("" for none) into the struct at VALUES, which has the defaults, as the N rows of
 * LIST say. AUC_EINVAL: a word that none of them takes, or a key that is there twice; AUC_ENOMEM.
 */
enum auc_code auc_options_read(const char *policy, const char *options,
			       const struct auc_option *list, unsigned n, void *values,
			       struct auc_err *err);
/* Whether a word of OPTIONS begins with KEY and '='. */
bool auc_options_have(const char *options, const char *key);

#endif
