/* say.c - see say.h */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>

#include "slaunch/say.h"

void say(const char *fmt, ...)
{
	char text[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "slaunch: %s\n", text);
}
