/*
 * seal.c - see seal.h.
 *
 * A sealed text is base64 of a nonce and of the box. In the box: the context, a NUL, the text, a
 * NUL, and more NULs to a multiple of PAD bytes. The nonce is a keyed hash of all that: a receipt
 * that is printed again must be the same text, and two texts never have the same nonce.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/file.h"
#include "base/seal.h"

#define PAD        128u
#define SEALED_MAX (1u << 20)
#define FORM       "auction-key 1 "
#define FORM_LEN   (sizeof(FORM) - 1)
#define FILE_LEN   (FORM_LEN + 2 * crypto_kdf_KEYBYTES + 1) /* with the LF */

struct auc_seal {
	unsigned char box_key[crypto_secretbox_KEYBYTES];
	unsigned char nonce_key[crypto_generichash_KEYBYTES];
};

static enum auc_code make_key(const char *path, struct auc_err *err);
static enum auc_code read_key(const char *path, unsigned char *key, struct auc_err *err);

enum auc_code auc_seal_open_key(const char *path, struct auc_seal **seal, struct auc_err *err)
{
	unsigned char key[crypto_kdf_KEYBYTES];
	struct auc_seal *s;
	enum auc_code code;

	*seal = NULL;
	if (sodium_init() < 0)
		return auc_err_set(err, AUC_EIO, "%s: libsodium does not start", path);
	code = auc_file_own(path, 0600, err);
	if (!code && access(path, F_OK) && errno == ENOENT)
		code = make_key(path, err);
	if (!code)
		code = read_key(path, key, err);
	if (code)
		return code;
	s = calloc(1, sizeof(*s));
	if (s) {
		crypto_kdf_derive_from_key(s->box_key, sizeof(s->box_key), 1, "auc-seal", key);
		crypto_kdf_derive_from_key(s->nonce_key, sizeof(s->nonce_key), 2, "auc-seal", key);
	}
	sodium_memzero(key, sizeof(key));
	*seal = s;
	return s ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "%s: out of memory", path);
}

void auc_seal_free(struct auc_seal *seal)
{
	if (seal)
		sodium_memzero(seal, sizeof(*seal));
	free(seal);
}

char *auc_seal_close(const struct auc_seal *seal, const char *context, const char *text)
{
	size_t used = strlen(context) + strlen(text) + 2, len = (used + PAD - 1) / PAD * PAD;
	size_t sealed_len = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + len;
	size_t size = sodium_base64_encoded_len(sealed_len, sodium_base64_VARIANT_ORIGINAL);
	unsigned char *plain = calloc(1, len), *sealed = malloc(sealed_len);
	char *out = malloc(size);

	if (plain && sealed && out) {
		strcpy(stpcpy((char *)plain, context) + 1, text);
		crypto_generichash(sealed, crypto_secretbox_NONCEBYTES, plain, len, seal->nonce_key,
				   sizeof(seal->nonce_key));
		crypto_secretbox_easy(sealed + crypto_secretbox_NONCEBYTES, plain, len, sealed,
				      seal->box_key);
		sodium_bin2base64(out, size, sealed, sealed_len, sodium_base64_VARIANT_ORIGINAL);
	} else {
		free(out);
		out = NULL;
	}
	free(plain);
	free(sealed);
	return out;
}

char *auc_seal_open(const struct auc_seal *seal, const char *context, const char *sealed)
{
	size_t size = strlen(sealed), head = crypto_secretbox_NONCEBYTES, len = 0, at;
	unsigned char *bytes = size <= SEALED_MAX ? malloc(size + 1) : NULL, *plain;
	char *text = NULL;

	if (!bytes)
		return NULL;
	plain = malloc(size + 1);
	if (plain &&
	    !sodium_base642bin(bytes, size, sealed, size, NULL, &len, NULL,
			       sodium_base64_VARIANT_ORIGINAL) &&
	    len > head + crypto_secretbox_MACBYTES &&
	    !crypto_secretbox_open_easy(plain, bytes + head, len - head, bytes, seal->box_key)) {
		len -= head + crypto_secretbox_MACBYTES;
		plain[len] = '\0'; /* nobody else has made it, but a NUL costs nothing */
		at = strlen((char *)plain) + 1;
		if (at < len && !strcmp((char *)plain, context))
			text = strdup((char *)plain + at);
	}
	free(plain);
	free(bytes);
	return text;
}

static enum auc_code make_key(const char *path, struct auc_err *err)
{
	unsigned char key[crypto_kdf_KEYBYTES];
	char text[FILE_LEN + 1] = FORM;
	enum auc_code code;

	crypto_kdf_keygen(key);
	sodium_bin2hex(text + FORM_LEN, sizeof(text) - FORM_LEN, key, sizeof(key));
	text[FILE_LEN - 1] = '\n';
	code = auc_file_replace(path, text, FILE_LEN, 0600, true, err);
	sodium_memzero(key, sizeof(key));
	sodium_memzero(text, sizeof(text));
	return code;
}

static enum auc_code read_key(const char *path, unsigned char *key, struct auc_err *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[FILE_LEN + 1];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	enum auc_code code = AUC_OK;
	size_t len = 0;

	if (n < 0)
		code = auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	else if (n != (ssize_t)FILE_LEN || memcmp(text, FORM, FORM_LEN) ||
		 text[FILE_LEN - 1] != '\n' ||
		 sodium_hex2bin(key, crypto_kdf_KEYBYTES, text + FORM_LEN, FILE_LEN - 1 - FORM_LEN,
				NULL, &len, NULL) ||
		 len != crypto_kdf_KEYBYTES)
		code = auc_err_set(err, AUC_ECORRUPT,
				   "%s: not a key of this program; put the right one there, or "
				   "remove it to have a new one made",
				   path);
	if (fd >= 0)
		close(fd);
	sodium_memzero(text, sizeof(text));
	return code;
}
