/* width.c - see width.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sauction/width.h"

static size_t letters(const char *text);
static bool is_start(char c);

bool width_take(char *word, int *width)
{
	char *percent = strchr(word, '%'), *end;
	const char *digits = percent ? percent + 1 : "";
	long n;

	*width = 0;
	if (!percent)
		return true;
	digits += *digits == '-';
	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	n = strtol(percent + 1, &end, 10);
	if (errno || *end || n == 0 || labs(n) > WIDTH_MAX)
		return false;
	*percent = '\0';
	*width = (int)n;
	return true;
}

char *width_fit(const char *text, int width)
{
	size_t wants = (size_t)abs(width), has = letters(text), bytes = strlen(text), blanks = 0;
	const char *mark = "";
	char *fitted;

	if (wants && has > wants) {
		/* Whole letters, and the mark. */
		mark = "+";
		for (bytes = 0, has = 1; has < wants; has++)
			do
				bytes++;
			while (!is_start(text[bytes]));
	}
	if (wants)
		blanks = wants - has;
	fitted = malloc(bytes + blanks + sizeof("+"));
	if (fitted)
		sprintf(fitted, "%*s%.*s%s%*s", width > 0 ? (int)blanks : 0, "", (int)bytes, text,
			mark, width < 0 ? (int)blanks : 0, "");
	return fitted;
}

/* Of UTF-8. */
static size_t letters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += is_start(*text);
	return n;
}

static bool is_start(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}
