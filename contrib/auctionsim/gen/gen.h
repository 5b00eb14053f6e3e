/*
 * gen.h - scenarios made by the published settings of the papers, with a seed and named parameters.
 */
#ifndef SIM_GEN_H
#define SIM_GEN_H

#include <stdint.h>
#include <stdio.h>

#include "auctionsim/gen/noise.h"
#include "base/err.h"

struct gen_setting;

/* The setting called NAME, or NULL; all of them by index, NULL after the last. */
const struct gen_setting *gen_find(const char *name);
const struct gen_setting *gen_at(unsigned i);
const char *gen_name(const struct gen_setting *g);
/* Prints the parameters of G with ranges, defaults and meaning, one a line. */
void gen_print_help(const struct gen_setting *g, FILE *out);
/*
 * Writes a scenario of setting G. PARAMETERS (N of them) are "name=value" or "name=low:high". The
 * same parameters and seed give the same bytes; NOISE (NULL: none) adds true times to them.
 * AUC_EINVAL names the parameter, AUC_ENOMEM, AUC_EIO.
 */
enum auc_code gen_write(const struct gen_setting *g, char *const *parameters, unsigned n,
			uint64_t seed, struct noise *noise, FILE *out, struct auc_err *err);

#endif
