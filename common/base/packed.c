/* packed.c - see packed.h. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/packed.h"

#define GZIP (16 + MAX_WBITS) /* zlib: with the header and the trailer of a .gz */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *to_base64(const uint8_t *bytes, size_t n);
static uint8_t *from_base64(const char *text, size_t *n);

char *auc_pack(const char *text)
{
	z_stream z = {.next_in = (uint8_t *)text, .avail_in = (uInt)strlen(text)};
	uint8_t *bytes;
	char *packed = NULL;
	size_t room;

	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = deflateBound(&z, z.avail_in);
	bytes = malloc(room);
	if (bytes) {
		z.next_out = bytes;
		z.avail_out = (uInt)room;
		if (deflate(&z, Z_FINISH) == Z_STREAM_END)
			packed = to_base64(bytes, z.total_out);
	}
	deflateEnd(&z);
	free(bytes);
	return packed;
}

char *auc_unpack(const char *packed, size_t max)
{
	z_stream z = {0};
	size_t n;
	uint8_t *bytes = from_base64(packed, &n);
	char *text = bytes ? malloc(max + 1) : NULL;
	int rc = Z_MEM_ERROR;

	if (text && inflateInit2(&z, GZIP) == Z_OK) {
		z.next_in = bytes;
		z.avail_in = (uInt)n;
		z.next_out = (uint8_t *)text;
		z.avail_out = (uInt)max;
		rc = inflate(&z, Z_FINISH);
		text[z.total_out] = 0;
		inflateEnd(&z);
	}
	free(bytes);
	if (rc == Z_STREAM_END && z.avail_in == 0)
		return text;
	free(text);
	return NULL;
}

static char *to_base64(const uint8_t *bytes, size_t n)
{
	char *text = malloc((n + 2) / 3 * 4 + 1), *at = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i += 3) {
		unsigned have = n - i < 3 ? (unsigned)(n - i) : 3;
		uint32_t bits = (uint32_t)bytes[i] << 16;

		bits |= have > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
		bits |= have > 2 ? bytes[i + 2] : 0;
		for (unsigned k = 0; k < 4; k++)
			*at++ = k <= have ? digits[bits >> (18 - 6 * k) & 63] : '=';
	}
	*at = 0;
	return text;
}

static uint8_t *from_base64(const char *text, size_t *n)
{
	size_t len = strlen(text);
	uint8_t *bytes = malloc(len / 4 * 3 + 1);
	uint32_t bits = 0;
	unsigned pads = 0;

	*n = 0;
	for (size_t i = 0; bytes && i < len; i++) {
		const char *digit = text[i] == '=' ? digits : strchr(digits, text[i]);

		pads += text[i] == '=';
		if (!digit || (pads && text[i] != '=') || pads > 2 || len % 4) {
			free(bytes);
			return NULL;
		}
		bits = bits << 6 | (uint32_t)(digit - digits);
		if (i % 4 != 3)
			continue;
		for (unsigned k = 0; k < 3 - pads; k++)
			bytes[(*n)++] = (uint8_t)(bits >> (16 - 8 * k));
		bits = 0;
	}
	return bytes;
}
