/* address.h - where the launcher listens. */
#ifndef SLAUNCH_ADDRESS_H
#define SLAUNCH_ADDRESS_H

#include <stddef.h>

/*
 * Listens on a free port of HOST, a name or address of this node that the others can reach; returns
 * the (non-blocking) socket and writes "address:port" into BUF. -1: it could not, and has said why.
 */
int address_listen(const char *host, char *buf, size_t size);

#endif
