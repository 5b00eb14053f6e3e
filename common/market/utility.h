/*
 * utility.h - what a job is worth as a function of when it finishes: f_j(x), x = completion -
 * arrival in slots.
 *
 * Every form is clamped to >= 0 and non-increasing in x (checked when it is made). Forms and
 * sources: formats.md 2.
 *
 *   sigmoid   scale / (1 + exp(decay * (x - target)))
 *   linear    intercept - slope * x
 *   inverse   scale * (horizon - x) / x          (x >= 1; x < 1 counts as 1)
 *   constant  scale
 *   deadline  scale if x <= target, else 0
 *   table     linear between points, flat before the first and after the last
 */
#ifndef AUC_UTILITY_H
#define AUC_UTILITY_H

#include "base/err.h"

enum auc_form {
	AUC_FORM_CONSTANT,
	AUC_FORM_SIGMOID,
	AUC_FORM_LINEAR,
	AUC_FORM_INVERSE,
	AUC_FORM_DEADLINE,
	AUC_FORM_TABLE,
};

#define AUC_TABLE_MAX 64  /* points of a table */
#define AUC_VALUE_MAX 1e9 /* credits: no bid is worth more */

struct auc_utility {
	enum auc_form form;
	double scale;  /* credits; linear: intercept */
	double decay;  /* per slot; linear: slope in credits per slot */
	double target; /* slots; deadline: the deadline; inverse: the horizon T */
	double since; /* slots before the arrival from which on X counts: of a bid that has stood */
	unsigned npoints;
	struct {
		double x; /* slots, strictly ascending */
		double value;
	} points[AUC_TABLE_MAX];
};

/* f(x) in credits, >= 0. Pure; X in slots, may be fractional. */
double auc_utility_value(const struct auc_utility *u, double x);

/* By which, within a budget of LIMIT, the soonest completion of SLOTS slots is best, and of equal
 * ones the cheapest. */
struct auc_utility auc_utility_soonest(double limit, double slots);

/* U with all its values multiplied by FACTOR >= 0. */
void auc_utility_multiply(struct auc_utility *u, double factor);

/* ln f(X), -INFINITY where f is 0; of a sigmoid also where f is too small for a double. */
double auc_utility_log(const struct auc_utility *u, double x);

/* Checks ranges and monotony; WHAT names the option in the error. */
enum auc_code auc_utility_check(const struct auc_utility *u, const char *what, struct auc_err *err);

/*
 * Parses the text of --bid:
 *   300                        constant (also constant:300)
 *   sigmoid:SCALE,DECAY[,TARGET]     decay per slot, or "0.5/h"; target in slots or with a unit
 *   linear:INTERCEPT,SLOPE           slope per slot, or "10/h"
 *   inverse:SCALE[,HORIZON]          zero at HORIZON, by default the market's
 *   deadline:SCALE,DEADLINE          slots, or with a unit ("4h")
 *   table:X=V,X=V,...                X in slots or with a unit
 *
 * Bare times are slots. SLOT_SECONDS > 0 and HORIZON_SLOTS > 0 convert units
 * and give inverse its T.
 */
enum auc_code auc_utility_parse(const char *text, double slot_seconds, double horizon_slots,
				struct auc_utility *u, const char *what, struct auc_err *err);

/* Canonical text of U (times in slots, round-trips through auc_utility_parse exactly), malloc'd;
 * NULL: no memory. */
char *auc_utility_print(const struct auc_utility *u);

/* The word of a form ("sigmoid"). */
const char *auc_form_name(enum auc_form form);

#endif
