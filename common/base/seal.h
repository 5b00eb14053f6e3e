/*
 * seal.h - short texts that only the holder of a key can read or make: libsodium's
 * crypto_secretbox. For what a user bids, where others can read what it is written to.
 */
#ifndef AUC_SEAL_H
#define AUC_SEAL_H

#include <stddef.h>

#include "base/err.h"

struct auc_seal;

/*
 * The key in the file PATH, which is made if it is not there: mode 0600, random, on the disk when
 * this returns. AUC_EIO; AUC_ECORRUPT: it is not such a file; AUC_ESTATE: it is another user's or a
 * link; AUC_ENOMEM. Free with auc_seal_free(), which takes NULL.
 */
enum auc_code auc_seal_open_key(const char *path, struct auc_seal **seal, struct auc_err *err);
void auc_seal_free(struct auc_seal *seal);

/*
 * TEXT sealed for CONTEXT (whose text it is: it cannot be opened for another), in base64, malloc'd;
 * the same for the same of all three. Its length tells that of TEXT only within 128 bytes. NULL: no
 * memory.
 */
char *auc_seal_close(const struct auc_seal *seal, const char *context, const char *text);
/* The text, malloc'd. NULL: it is damaged, of another key or context, or no memory. */
char *auc_seal_open(const struct auc_seal *seal, const char *context, const char *sealed);

#endif
