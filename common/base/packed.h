/*
 * packed.h - long texts made short: base64 of gzip, which "base64 -d | zcat" undoes anywhere. For
 * libauction itself, over zlib.
 */
#ifndef AUC_PACKED_H
#define AUC_PACKED_H

#include <stddef.h>

/* TEXT packed, malloc'd, the same for the same TEXT. NULL: no memory. */
char *auc_pack(const char *text);
/* What auc_pack() made PACKED of, malloc'd. NULL: it is none of these, its text has more than MAX
 * bytes, or no memory. */
char *auc_unpack(const char *packed, size_t max);

#endif
