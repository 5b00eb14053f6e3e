/* named.h - an amount by name: what lists "NAME=VALUE,..." hold. */
#ifndef AUC_NAMED_H
#define AUC_NAMED_H

#define AUC_NAME_MAX 64 /* longest name of a type, server, model, TRES, with the NUL */

struct auc_named {
	char name[AUC_NAME_MAX];
	double value;
};

#endif
