/*
 * plot.h - "auctionsim plot": pictures of scenarios and results. See auctionsim(1).
 */
#ifndef SIM_PLOT_H
#define SIM_PLOT_H

#include "auctionsim/plot/plot_picture.h"
#include "auctionsim/plot/plot_read.h"

#define PLOT_TITLE_MAX 60 /* characters of a name in a title, */
#define PLOT_LABEL_MAX 28 /* and beside an axis */
#define PLOT_COLUMNS   3  /* results side by side in one picture */

/* What is drawn of. */
struct plot {
	struct plot_input input;
	struct picture_options options;
	unsigned nodes; /* that a Gantt chart shows at most */
	unsigned npolicies;
	const char **policies; /* of all results, each once; the index is its colour */
	bool no_gnuplot;       /* found to be so */
};

/* The command. */
int plot_command(int argc, char **argv);

/* Index of R's policy in the plot. */
unsigned plot_policy(const struct plot *p, const struct result *r);
/*
 * Begins picture KIND, or KIND-PAGE if there are several PAGES (from 0). Ends it, and says where
 * it is.
 */
enum auc_code plot_begin(const struct plot *p, struct picture *pic, const char *kind, unsigned page,
			 unsigned pages, unsigned width, unsigned height, struct auc_err *err);
enum auc_code plot_end(struct plot *p, struct picture *pic, enum auc_code rc, struct auc_err *err);

/* The kinds. Those of one group take the only one. */
enum auc_code plot_policies(struct plot *p, struct auc_err *err);
enum auc_code plot_welfare_jobs(struct plot *p, struct auc_err *err);
enum auc_code plot_welfare_servers(struct plot *p, struct auc_err *err);
enum auc_code plot_utilisation(struct plot *p, struct auc_err *err);
enum auc_code plot_prices(struct plot *p, struct auc_err *err);
enum auc_code plot_gantt(struct plot *p, struct auc_err *err);
enum auc_code plot_payments(struct plot *p, struct auc_err *err);

/* The slots of G that are worth a look: to the last one that a result uses or a job arrives in. */
unsigned plot_slots(const struct plot_group *g);
/* Servers of S that are not the cloud; all, if there is nothing else. */
unsigned plot_servers(const struct scenario *s);

#endif
