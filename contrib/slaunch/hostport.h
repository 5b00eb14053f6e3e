/* hostport.h - "host:port" as text; used by slaunch and auction-train. */
#ifndef SLAUNCH_HOSTPORT_H
#define SLAUNCH_HOSTPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes "1.2.3.4:567" or "[::1]:567" into BUF; returns BUF. */
char *hostport_print(const char *host, unsigned port, char *buf, size_t size);
/* The reverse; false if TEXT is not of that form. */
bool hostport_split(const char *text, char *host, size_t size, unsigned *port);

#endif
