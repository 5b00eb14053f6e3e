/* link.h - a worker's connections to the PSs. */
#ifndef TRAIN_LINK_H
#define TRAIN_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "train/notice.h"
#include "train/proto.h"
#include "train/train.h"

struct link {
	unsigned ps;
	int fd;
	struct notice *notice; /* a wait ends when it says stop; may be NULL */
	double timeout;        /* seconds link_recv() waits for all it wants; 0: for ever */
};

/*
 * Connects to PS number PS of place P, trying for CONNECT_WAIT seconds, and says HELLO. AUC_EIO,
 * AUC_EINVAL; AUC_ESTATE: stopped.
 */
enum auc_code link_open(struct link *l, const struct place *p, unsigned ps, uint64_t id,
			uint64_t nworkers, uint64_t params, double connect_wait,
			struct auc_err *err);
void link_close(struct link *l);
/* All or nothing, but for AUC_EIO; MORE follows. */
enum auc_code link_send(struct link *l, const void *data, size_t len, bool more,
			struct auc_err *err);
enum auc_code link_recv(struct link *l, void *data, size_t len, struct auc_err *err);
/* Receives PARAMS: H, METRICS[PROTO_METRICS] (may be NULL) and N parameters. */
enum auc_code link_params(struct link *l, struct proto_header *h, double *metrics, double *params,
			  uint64_t n, struct auc_err *err);

#endif
