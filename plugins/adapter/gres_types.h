/* gres_types.h - types in Slurm's texts of GRES, such as "gres:gpu:a100:2,gres/shard=4". */
#ifndef AUC_GRES_TYPES_H
#define AUC_GRES_TYPES_H

#include <stdbool.h>

/* True if no GPUs in TEXT (NULL: none) are without a type. */
bool auc_gpus_typed(const char *text);
/* True if TEXT (NULL: none) says a type of anything. */
bool auc_gres_names_type(const char *text);
/* Takes all types out of TEXT. */
void auc_gres_strip(char *text);
/* TEXT, with the types of GRES ("gres:gpu:a100:8"): written as there and, if ALL, where it has
 * none; malloc'd, NULL: no memory. */
char *auc_gres_typed(const char *text, const char *gres, bool all);

#endif
