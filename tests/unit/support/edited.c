/* edited.c - see edited.h */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/edited.h"

char *edited(const char *text, const char *old, const char *new)
{
	const char *at = strstr(text, old);
	char *result = malloc(strlen(text) + strlen(new) + 1);

	assert_non_null(at);
	assert_non_null(result);
	sprintf(result, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
	return result;
}
