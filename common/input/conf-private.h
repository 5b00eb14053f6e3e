/*
 * conf-private.h - how auction.conf is read, for conf.c, conf_keys.c and conf_check.c only.
 */
#ifndef AUC_CONF_PRIVATE_H
#define AUC_CONF_PRIVATE_H

#include "input/conf.h"

#define AUC_CONF_KEYS_MAX 96

/* -- conf_keys.c: what the file may say -- */

enum section { GLOBAL, PARTITION, WORKER_TYPE, PS_TYPE, MODEL, REFILL, SHAPE, NSECTIONS };

enum type {
	TYPE_NAME,     /* char[AUC_NAME_MAX] */
	TYPE_NEW_NAME, /* the same, opens a line and must be unique */
	TYPE_PAYER,    /* char[AUC_REFILL_NAME_LEN], opens a line and must be unique */
	TYPE_POLICY,   /* policy and policy_options */
	TYPE_COUNT,    /* unsigned */
	TYPE_COUNT64,  /* uint64_t, 0: not given */
	TYPE_NUMBER,   /* double, < 0: not given */
	TYPE_SPAN,     /* double, seconds */
	TYPE_CHOICE,   /* bool: the second of "no|yes" */
	TYPE_ONE_OF,   /* unsigned: which of "a|b|c" */
	TYPE_TEXT,     /* char *, malloc'd */
	TYPE_PATH,     /* the same, absolute */
	TYPE_AMOUNTS,  /* TRES=number,... */
	TYPE_TIMES,    /* type=span,... */
	TYPE_HOURS,    /* double[24]; COUNT: bool, given */
	TYPE_MARGIN,   /* struct auc_margin */
	TYPE_FEE,      /* share[,span=share...]: struct auc_cancel_step[], count */
};

/* One key. */
struct key {
	enum section section;
	const char *name;
	enum type type;
	size_t offset, count; /* of the value in its struct; of the number of a list's entries */
	unsigned limit;       /* entries of a list at most */
	double min, max;
	const char *choices;
	const char *preset; /* default as it would be written; NULL: none */
	bool required;
	const char *help;
};

/* A list in struct auc_conf that lines of a section add to: offsets, and the size of an item. */
struct list {
	size_t items, count, size;
	unsigned limit;
};

extern const struct key auc_conf_keys[];
extern const unsigned auc_conf_nkeys;
extern const struct list auc_conf_lists[NSECTIONS]; /* all but GLOBAL */

/* NULL: SECTION has no key of that name. */
const struct key *auc_conf_key_find(enum section section, const char *name);
/* The key that opens a line of SECTION: the first of its rows. */
const struct key *auc_conf_key_opening(enum section section);
/* VALUE into the struct at BASE. Its range is not in the error: auc_conf_key_describe() has it. */
enum auc_code auc_conf_key_set(const struct auc_conf *conf, const struct key *key, void *base,
			       const char *value, struct auc_err *err);
/* What a value of KEY looks like, for errors and the manual. */
void auc_conf_key_describe(const struct key *key, char *buf, size_t size);
/* Of a section but GLOBAL; NULL: there is none. */
const void *auc_conf_item_find(const struct auc_conf *conf, enum section section, const char *name);
/* Equal but for case, of ASCII letters in every locale. */
bool auc_conf_same_word(const char *a, const char *b);

/* -- conf.c: reading it -- */

struct word {
	char *key, *value; /* one allocation, KEY's */
	unsigned line;
	bool first; /* of its line */
};

struct parser {
	const char *file;
	const char *p, *end; /* what is not read yet */
	unsigned line;
	bool line_begins;
	struct word *words;
	size_t nwords, alloc;
	const struct word *global[AUC_CONF_KEYS_MAX]; /* where a global key was set */
	struct auc_conf *conf;
	struct auc_err *err;
};

/* "FILE:LINE: Key=value: expected ..." */
enum auc_code auc_conf_word_error(struct parser *p, const struct word *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* -- conf_check.c -- */

/* The types MODEL names, on the N words of its line. */
enum auc_code auc_conf_check_model(struct parser *p, const struct word *word, size_t n,
				   const struct auc_conf_model *model);
/* What no line alone can tell. */
enum auc_code auc_conf_check(struct parser *p);

#endif
