/*
 * margin.h - for how long a job is planned, as a factor of what it says: a quantile of what jobs
 * that have ended turned out to take. What a job says of itself is not looked at, and a job that
 * runs is not known.
 */
#ifndef SIM_MARGIN_H
#define SIM_MARGIN_H

#include "base/err.h"
#include "auctionsim/scenario/scenario.h"

struct margin;

/* What S asks for, with what the jobs of its past took. NULL: no memory. */
struct margin *margin_open(const struct scenario *s);
void margin_close(struct margin *m);
/*
 * A job of USER (user_share.h) has ended, after FACTOR times what it said; CUT: that is what it had
 * when it was ended, and it was not done. AUC_ENOMEM.
 */
enum auc_code margin_heard(struct margin *m, unsigned user, double factor, bool cut,
			   struct auc_err *err);
/* For a job of USER that is decided now; above 0. */
double margin_now(const struct margin *m, unsigned user);

/*
 * S knows from now on what the jobs of DAYS[N] but that of index WITHOUT (N: of all) took, where
 * these have true times, and nothing else of the past. AUC_ENOMEM.
 */
enum auc_code margin_recall(struct scenario *s, struct scenario *const *days, unsigned n,
			    unsigned without, struct auc_err *err);
/* The same from files. AUC_EINVAL, AUC_EIO: they cannot be read. */
enum auc_code margin_load(struct scenario *s, char *const *paths, unsigned n, struct auc_err *err);
/* Reads the words of --overrun and --margin (NULL: not given) into *TIMES. AUC_EINVAL. */
enum auc_code margin_read(const char *overrun, const char *margin, struct scenario_times *times,
			  struct auc_err *err);
/* True if they are those without these words. */
bool margin_is_usual(const struct scenario_times *times);

#endif
