/* cancel.h - how long work in the background is told to stop. */
#ifndef AUC_CANCEL_H
#define AUC_CANCEL_H

#include <stdbool.h>

/* GO_ON is asked often, in the thread that works; false: the work ends with AUC_ESTATE. */
struct auc_cancel {
	bool (*go_on)(void *arg);
	void *arg;
};

static inline bool auc_cancel_goes_on(const struct auc_cancel *w)
{
	return !w || w->go_on(w->arg);
}

#endif
