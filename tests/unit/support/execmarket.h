/* execmarket.h - what the tests of the machine that carries sales out (exec.h) share. */
#ifndef AUC_TEST_EXECMARKET_H
#define AUC_TEST_EXECMARKET_H

#include "exec/exec.h"

/* What an auc_exec_rules has, for an initialiser. */
#define EXEC_RULES                                                                                 \
	.end_margin = 1, .notice = 3, .ahead = 5, .grace = 4, .patience = 1, .late = 2,            \
	.again = 0.5, .tries = 3

/* 50 slots of 10 s from slot 0 on; four servers, s0 to s3, of 20 GPUs each. */
struct auc_market *execmarket_make(void);

#endif
