/*
 * partitions.h - which partitions Slurm has, which of them have GPUs, and which is the default.
 * While it is unknown what is sold, this decides what a job without a bid may enter.
 *
 * The agent asks slurmctld. Before it can, and where no agent runs, slurm.conf is read; a partition
 * whose line is not understood counts as having GPUs.
 */
#ifndef AUC_PARTITIONS_H
#define AUC_PARTITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "input/bid.h"
#include "adapter/slurm_compat.h"

struct auc_partition {
	char name[AUC_NAME_MAX];
	bool gpus;    /* it has GPUs, or may have */
	bool submits; /* State=UP or DOWN: Slurm takes new jobs. In slurm.conf, not known: true */
	char alternate[AUC_NAME_MAX]; /* where jobs go meanwhile; "": nowhere */
};

struct auc_partitions {
	struct auc_partition *list;
	unsigned n;
	char default_name[AUC_NAME_MAX]; /* "": there is none, or it is not known */
};

/*
 * Those in slurm.conf at PATH and the files that it includes, into *P, which is overwritten. File
 * I/O, no RPC. AUC_EIO, AUC_EINVAL (a file of no use), AUC_ENOMEM: *P is empty. Free with
 * auc_partitions_clear().
 */
enum auc_code auc_partitions_read(const char *path, struct auc_partitions *p, struct auc_err *err);
/* When slurmctld last changed one: Unix time, -1 if it does not say. No RPC. */
int64_t auc_partitions_changed(void);
/* Those that slurmctld says it has. AUC_ENOMEM: *P is empty. */
enum auc_code auc_partitions_see(const node_info_msg_t *nodes,
				 const partition_info_msg_t *partitions, struct auc_partitions *p,
				 struct auc_err *err);
void auc_partitions_clear(struct auc_partitions *p);

/* That of P whose name is NAME of LEN bytes; NULL: there is none. */
const struct auc_partition *auc_partitions_find(const struct auc_partitions *p, const char *name,
						size_t len);
/* True if P knows partitions, and none is called NAME. */
bool auc_partitions_lack(const struct auc_partitions *p, const char *name);
/* True if a partition NAME of LEN bytes is in P and has no GPUs. */
bool auc_partitions_ordinary(const struct auc_partitions *p, const char *name, size_t len);

/*
 * Gives FOUND each name of a partition in an auction.conf at PATH that does not parse, as well as
 * they can be told, and SPOOL_DIR (SIZE bytes) its SpoolDir, "" if it has none. File I/O.
 */
void auc_partitions_of_broken_conf(const char *path, void (*found)(const char *name, size_t len),
				   char *spool_dir, size_t size);

#endif
