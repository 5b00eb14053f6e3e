/* named.h - an amount by name: what lists "NAME=VALUE,..." hold. */
#ifndef AUC_NAMED_H
#define AUC_NAMED_H

/* Longest name of a type, server, model, TRES, with the NUL: a GRES of Slurm's with a type of 63
 * bytes has one. */
#define AUC_NAME_MAX 80

struct auc_named {
	char name[AUC_NAME_MAX];
	double value;
};

#endif
