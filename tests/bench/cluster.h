/* cluster.h - what the benches of the auction share: a cluster and the bids that come to it. */
#ifndef BENCH_CLUSTER_H
#define BENCH_CLUSTER_H

#include "auction/auction.h"

#define CLUSTER_SLOT 300.0 /* seconds */

/* SLOTS slots, five worker types and five PS types; GLOBALS are further lines. */
struct auc_conf *cluster_conf(unsigned slots, const char *globals);
/* N servers, one in ten in the cloud; to be freed. */
struct auc_server_spec *cluster_servers(unsigned n);
/* A job of some worker-slots that may use any type; VALUE scales what it is worth. */
struct auc_bid cluster_bid(const struct auc_conf *conf, double value);

#endif
