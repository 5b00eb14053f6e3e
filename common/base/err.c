/* err.c - see err.h */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

enum auc_code auc_err_set(struct auc_err *err, enum auc_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

void auc_err_prefix(struct auc_err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	if (!err)
		return;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
}

const char *auc_err_word(enum auc_code code)
{
	switch (code) {
	case AUC_OK:
		return "ok";
	case AUC_EINVAL:
		return "invalid";
	case AUC_ENOENT:
		return "unknown";
	case AUC_ENOMEM:
		return "memory";
	case AUC_EIO:
		return "io";
	case AUC_ECORRUPT:
		return "corrupt";
	case AUC_EFULL:
		return "full";
	case AUC_ESTATE:
		return "state";
	case AUC_EEXIST:
		return "exists";
	case AUC_ELIMIT:
		return "limit";
	case AUC_EAGAIN:
		return "again";
	}
	return "unknown";
}
