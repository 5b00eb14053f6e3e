/* address.c - see address.h */
#include "config.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slaunch/address.h"
#include "base/hostport.h"
#include "slaunch/say.h"

static bool address_pick(const char *host, struct sockaddr_storage *addr, socklen_t *len);
static void address_other(struct sockaddr_storage *addr, socklen_t *len);

int address_listen(const char *host, char *buf, size_t size)
{
	char number[NI_MAXHOST], service[8];
	struct sockaddr_storage addr;
	socklen_t len;
	int fd;

	if (!address_pick(host, &addr, &len))
		return -1;
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) != 0 || listen(fd, SOMAXCONN) != 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &len) != 0 ||
	    getnameinfo((struct sockaddr *)&addr, len, number, sizeof(number), service,
			sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		say("cannot listen on %s: %s", host, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	auc_hostport_print(number, strtoul(service, NULL, 10), buf, size);
	return fd;
}

/*
 * The address of this node for the others. Where its own name leads to the loopback (127.0.1.1 in
 * Debian's hosts file) an address of one of its interfaces is taken; a host that is given as a
 * loopback address is meant.
 */
static bool address_pick(const char *host, struct sockaddr_storage *addr, socklen_t *len)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
	int rc = getaddrinfo(host, "0", &hints, &list);
	bool loopback;

	if (rc != 0) {
		say("cannot resolve %s: %s", host, gai_strerror(rc));
		return false;
	}
	memcpy(addr, list->ai_addr, list->ai_addrlen);
	*len = list->ai_addrlen;
	freeaddrinfo(list);
	loopback = addr->ss_family == AF_INET &&
		   ntohl(((struct sockaddr_in *)addr)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (loopback && strncmp(host, "127.", 4) != 0 && strcmp(host, "localhost") != 0)
		address_other(addr, len);
	return true;
}

/* The first address of an interface that is up; leaves ADDR as it is if there is none. */
static void address_other(struct sockaddr_storage *addr, socklen_t *len)
{
	struct ifaddrs *list, *i;

	if (getifaddrs(&list) != 0)
		return;
	for (i = list; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) &&
		    !(i->ifa_flags & IFF_LOOPBACK))
			break;
	if (i) {
		*len = sizeof(struct sockaddr_in);
		memcpy(addr, i->ifa_addr, *len);
	}
	freeifaddrs(list);
}
