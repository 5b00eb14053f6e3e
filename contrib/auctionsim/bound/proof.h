/*
 * proof.h - prices that prove a bound, in a file: auction-prices/1 (doc/formats.md).
 */
#ifndef SIM_PROOF_H
#define SIM_PROOF_H

#include <stdio.h>

#include "input/bid.h"
#include "base/err.h"
#include "auctionsim/scenario/scenario.h"

struct json_object;

#define PRICES_FORMAT "auction-prices/1"

/* One TRES of one server; what is in no row costs nothing. */
struct proof_row {
	unsigned server;
	char tres[AUC_NAME_MAX];
	double *price; /* by slot, from slot 1 on */
};

struct proof {
	char *policy; /* whose schedules are bounded */
	double bound;
	unsigned nrows;
	struct proof_row *rows;
	double *payoff; /* by job of the scenario: its best at these prices, or more */
};

/* Reads PATH, prices for S. Errors as of scenario_load(). Free with proof_free(). */
enum auc_code proof_load(const char *path, const struct scenario *s, struct proof **p,
			 struct auc_err *err);
/* The same from the JSON value ROOT; NAME stands for the file in errors. */
enum auc_code proof_read(struct json_object *root, const char *name, const struct scenario *s,
			 struct proof **p, struct auc_err *err);
/* Room for the jobs of S and NROWS rows. NULL: no memory. */
struct proof *proof_create(const struct scenario *s, unsigned nrows);
void proof_free(struct proof *p);
/* AUC_ENOMEM, AUC_EIO. */
enum auc_code proof_write(FILE *out, const struct scenario *s, const struct proof *p,
			  struct auc_err *err);

#endif
