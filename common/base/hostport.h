/* hostport.h - "host:port" as text; used by slaunch and auction-train. */
#ifndef AUC_HOSTPORT_H
#define AUC_HOSTPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes "1.2.3.4:567" or "[::1]:567" into BUF; returns BUF. */
char *auc_hostport_print(const char *host, unsigned port, char *buf, size_t size);
/* The reverse; false if TEXT is not of that form. */
bool auc_hostport_split(const char *text, char *host, size_t size, unsigned *port);

#endif
