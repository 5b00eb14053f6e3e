/*
 * pool.h - a market of a few servers that stands for one of many: what a fit of prices
 * (dual_prices.h) quotes in, many times faster.
 *
 * Of each TRES, servers that are alike in group, cloud and roles make a class, which has one price.
 * Where PSs must share one server, the size of a server matters to them, and classes of TRES that
 * PSs use are told apart by it: by size where there are few sizes, else by the power of two below.
 *
 * In the pool, servers whose workers' TRES are of the same classes are one large server for
 * workers. Where PSs share a server, each class of their TRES has one server of true size beside
 * that, for PSs and co-located jobs. What the classes have for sale in all is told apart from that
 * (dual.h: auc_dual_pool).
 */
#ifndef AUC_POOL_H
#define AUC_POOL_H

#include "pricing/dual/dual.h"
#include "base/err.h"
#include "market/market.h"

struct auc_pool;

/* One class: TRES of servers that share a price. */
struct auc_class {
	unsigned tres;           /* of the market */
	char name[AUC_NAME_MAX]; /* its name */
	unsigned server;         /* the first one */
	unsigned nservers;
	double least, most; /* capacity of a server */
};

/* The pool of M's servers and types. ONE_SERVER: PSs of a job must share one. */
enum auc_code auc_pool_create(const struct auc_market *m, bool one_server, struct auc_pool **p,
			      struct auc_err *err);
void auc_pool_destroy(struct auc_pool *p);
/* From now on the pools that P makes have what the types of M need, too, a market with the servers
 * P was made of and perhaps types of its own. Pools made before do not go with those made after. */
void auc_pool_add_types(struct auc_pool *p, const struct auc_market *m);

/* The same for gangs, whose nodes may take of any TRES. */
void auc_pool_add_gangs(struct auc_pool *p);

unsigned auc_pool_nclasses(const struct auc_pool *p);
const struct auc_class *auc_pool_class(const struct auc_pool *p, unsigned i);
/* The class of TRES on SERVER; -1: it has none. */
int auc_pool_class_of(const struct auc_pool *p, unsigned server, unsigned tres);

/*
 * The pool of M as it is booked now; M has the servers P was made of, and perhaps types of its own.
 * Slots before FROM are taken for empty. GANGS_ONLY: as auc_market_gangs_only().
 */
enum auc_code auc_pool_market(const struct auc_pool *p, const struct auc_market *m, auc_slot from,
			      bool gangs_only, struct auc_market **pooled, struct auc_err *err);
/* What M has left, by class and slot, in *CAPACITY (malloc'd); nothing before FROM, nor where it is
 * closed. */
enum auc_code auc_pool_capacity(const struct auc_pool *p, const struct auc_market *m, auc_slot from,
				double **capacity, struct auc_err *err);
/* The class of each (server, TRES) of POOLED, made from M by auc_pool_market(), in *GROUP
 * (malloc'd). */
enum auc_code auc_pool_groups(const struct auc_pool *p, const struct auc_market *m,
			      const struct auc_market *pooled, uint32_t **group,
			      struct auc_err *err);
/* JOB, of M, a market P was made of, as one of POOL; free with auc_job_clear(). */
enum auc_code auc_pool_job(const struct auc_pool *p, const struct auc_market *m,
			   const struct auc_market *pool, const struct auc_job *job,
			   struct auc_job *pooled, struct auc_err *err);

#endif
