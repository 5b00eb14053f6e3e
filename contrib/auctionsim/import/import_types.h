/*
 * import_types.h - servers and types of a scenario that is imported: which nodes are taken, what a
 * worker and a PS take of one, and which types a job of the log may use.
 */
#ifndef SIM_IMPORT_TYPES_H
#define SIM_IMPORT_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "input/conf.h"
#include "base/err.h"

struct import;
struct json_object;
struct import_job;

#define IMPORT_ANY_KIND UINT32_MAX

struct import_type {
	char name[AUC_NAME_MAX];
	unsigned kind; /* of GPUs, or IMPORT_ANY_KIND */
	double gpus;   /* of one worker */
	unsigned part; /* of a GPU, if it is a share: that many of "parts"; 0: whole ones */
	unsigned ntres;
	struct auc_named tres[AUC_TRES_MAX];
	double bandwidth;
	double beside_ps; /* workers that one server holds together with a PS */
	double most;      /* workers that all servers hold */
	bool used;
};

struct import_types {
	struct import *im;
	unsigned nservers, *servers; /* nodes that are taken */
	unsigned n, nps;
	struct import_type *list, *ps;
	bool untyped; /* a type wants "gpu", whatever its type */
	bool crowded; /* servers have more types of GPUs than a scenario may: only those that jobs
			 use are in it */
	char (*labels)[AUC_NAME_MAX]; /* of the kinds of GPUs, see import_kind_label() */
};

/* Chooses servers, makes the types of them or takes those of auction.conf. Free with
 * import_types_clear(), also after an error. */
enum auc_code import_types_make(struct import_types *t, struct import *im, struct auc_err *err);
void import_types_clear(struct import_types *t);
/*
 * The types that job J may use, into LIST of AUC_TYPES_MAX; the first is what the log was measured
 * on. Returns their number. The servers hold as many workers of each as the job had; SMALL says
 * that of some type they do not.
 */
unsigned import_types_of(const struct import_types *t, const struct import_job *j, unsigned *list,
			 bool *small);
/* Workers of TYPE that make GPUS. */
unsigned import_types_workers(const struct import_types *t, unsigned type, double gpus);
/* The name of a type's GPUs, "" if they have none. */
const char *import_type_kind(const struct import_types *t, unsigned type);
/* TRES that a scenario with the types that are used has; at most AUC_TRES_MAX are possible. */
unsigned import_types_tres(const struct import_types *t);
/* Whether a server has GPUs of KIND, and the scenario names them. */
bool import_types_served(const struct import_types *t, unsigned kind);
/* GPUs of all servers. */
double import_types_gpus(const struct import_types *t);
/* Whether what a server costs depends on the hour of the day. */
bool import_types_hourly(const struct import_types *t);
/* The prices of the scenario; NULL: it says nothing about them, so that they come from all its
 * jobs, or no memory. */
struct json_object *import_prices_object(const struct import *im, const struct import_types *t);
/* Prints the types (workers': those that are used) and the servers. False: no memory. */
bool import_types_write(const struct import_types *t);

#endif
