/*
 * offline-private.h - the integer program of policies offline and offline-oasis: offline.c, which
 * makes and solves it for schedules as of dps, and offline_oasis.c, which has what is otherwise for
 * those of oasis.
 */
#ifndef SIM_OFFLINE_PRIVATE_H
#define SIM_OFFLINE_PRIVATE_H

#include <glpk.h>

#include "auctionsim/books/books.h"
#include "auctionsim/optimum/offline.h"
#include "auctionsim/scenario/scenario_market.h"

/* A way to run a job: types, placement, window. */
struct way {
	unsigned job, worker, ps; /* indices of the job's worker_seconds[] and ps_seconds[] */
	const struct scenario_type *worker_type, *ps_type;
	bool colocated;
	unsigned shape;   /* of a gang; worker_type is then a node, WORKER its index */
	const char *leaf; /* of one that is to be on one switch; else NULL */
	uint64_t from, to, n;
	double value;
	int first_y, row; /* distributed: column of y on server 0, row of the sum of y */
};

/* A list that grows. */
struct list {
	size_t n, alloc, size;
	char *data;
};

struct offline {
	const struct scenario *s;
	struct books *books;
	struct result *result;
	glp_prob *lp;
	struct list ways, choices;      /* choice i is column column_of[i] */
	struct list columns;            /* int by choice */
	struct list row, column, value; /* entries of the matrix */
	int *capacity_row;              /* by server, TRES and slot */
	unsigned ntres;
	const char **tres;
	struct auc_market *market;   /* of the scenario, empty */
	struct scenario_type *nodes; /* of all shapes of all gangs */
	unsigned nnodes;
	uint64_t max_columns;
	unsigned keep;  /* the program is written, too */
	double seconds; /* of the processor; < 0: no limit */
	double stop;    /* when they are over */
	double bound;   /* of the optimum, if they were */
	bool memory;    /* there was enough */
	bool oasis;     /* schedules as of oasis, not of dps */
};

/* A whole number from 0 to MOST that is worth VALUE each; its column. */
int offline_column(struct offline *p, double most, double value);
int offline_row(struct offline *p, int kind, double low, double high);
void offline_entry(struct offline *p, int row, int column, double value);
/* COLUMN uses that many of WAY's workers and PSs on SERVER in all its slots. */
void offline_use(struct offline *p, int column, const struct way *way, unsigned server,
		 uint64_t workers, uint64_t z);
/* The first slot in which the job can use SERVER. */
uint64_t offline_ready(const struct scenario_job *job, unsigned server);
/* Sets the types of WAY, which has a job and two indices. */
void offline_types(struct offline *p, struct way *way);
bool offline_push(struct offline *p, struct list *l, const void *element);

struct choice {
	unsigned way, server;
	uint64_t z;
};

/* offline_gang.c: all schedules of a gang, of which ROW allows one; what became of C. */
void offline_gang_job(struct offline *p, unsigned index, int row);
enum auc_code offline_gang_keep(struct offline *p, const struct way *way, struct auc_err *err);
/* offline_oasis.c: all schedules of a job, of which ROW allows one; what became of it. */
void offline_oasis_job(struct offline *p, unsigned index, int row);
enum auc_code offline_oasis_keep(struct offline *p, const struct way *way, struct auc_err *err);

#endif
