/* board.c - see board.h. */
#include "config.h"

#include "adapter/site.h"
#include "sched/output/board.h"

#define TURNS 0.05 /* seconds of a cycle; the lock is had anew for each shape */

bool auc_board_keep(struct auc_auction *a)
{
	double until = auc_site_elapsed() + TURNS;
	bool changed = false;

	while (auc_site_elapsed() < until && auc_auction_board_step(a, auc_site_now()))
		changed = true;
	return changed;
}
