/* hostport.c - see hostport.h */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"

char *auc_hostport_print(const char *host, unsigned port, char *buf, size_t size)
{
	snprintf(buf, size, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
	return buf;
}

bool auc_hostport_split(const char *text, char *host, size_t size, unsigned *port)
{
	const char *colon = strrchr(text, ':'), *from = text, *to = colon;
	char *end;
	unsigned long p;

	if (!colon)
		return false;
	if (*text == '[') {
		if (colon == text || colon[-1] != ']')
			return false;
		from++;
		to--;
	}
	if (to <= from || (size_t)(to - from) >= size || colon[1] < '0' || colon[1] > '9')
		return false;
	p = strtoul(colon + 1, &end, 10);
	if (*end || p < 1 || p > 65535)
		return false;
	memcpy(host, from, to - from);
	host[to - from] = '\0';
	*port = p;
	return true;
}
