/*
 * err.h - how a function of libauction says what went wrong: a code and one sentence.
 *
 * Functions that can fail return an enum auc_code (AUC_OK is 0) and take a struct auc_err * as
 * their last argument. The pointer may be NULL. On success the struct is left untouched.
 * The sentence names the option or key, the value and what was expected; it has no final newline.
 */
#ifndef AUC_ERR_H
#define AUC_ERR_H

#include <stdarg.h>

enum auc_code {
	AUC_OK = 0,
	AUC_EINVAL,   /* input that is malformed or out of range */
	AUC_ENOENT,   /* a name (type, server, model, sale) that does not exist */
	AUC_ENOMEM,   /* out of memory */
	AUC_EIO,      /* a system call on a file failed */
	AUC_ECORRUPT, /* a file of ours is not what we wrote */
	AUC_EFULL,    /* not enough capacity left */
	AUC_ESTATE,   /* not possible in this state (sale already settled, auction not ready) */
	AUC_EEXIST,   /* a name is taken */
	AUC_ELIMIT,   /* a limit that a site has set does not allow it */
	AUC_EAGAIN,   /* not known yet; whoever asks again in a moment is told */
};

struct auc_err {
	enum auc_code code;
	char text[512];
};

/* Fills ERR (may be NULL) with CODE and the formatted sentence (truncated to fit); returns CODE. */
enum auc_code auc_err_set(struct auc_err *err, enum auc_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts the formatted text and ": " in front of the sentence already in ERR (may be NULL). */
void auc_err_prefix(struct auc_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A code as a short word ("invalid", "capacity", ...); never NULL. */
const char *auc_err_word(enum auc_code code);

#endif
