/*
 * cells.h - what the market keeps by cell, for market.c and booking.c: use, prices, how
 * many of each type fit, what one costs, and the servers' order by that; timeline.h has the
 * layout. To change what is used call auc_cells_set_used(), then refresh the cells, then the blocks
 * that they are in.
 */
#ifndef AUC_CELLS_H
#define AUC_CELLS_H

#include "market/timeline.h"

/* Allocates and fills the timeline. On failure auc_market_destroy() frees what there is. */
enum auc_code auc_cells_lay_out(struct auc_market *m, struct auc_err *err);
/* What slots that come into the window are: empty, at the prices of nothing used, or those that
 * were given. */
void auc_cells_lay_out_idle(struct auc_market *m);

/* USED is in units; the price follows it unless prices were given. */
void auc_cells_set_used(struct auc_market *m, size_t cell, unsigned server, unsigned tres,
			int64_t used);
/* Fits, prices and the order of the cell's row. */
void auc_cells_refresh_cell(struct auc_market *m, size_t cell, unsigned server);
/* The order of one row, of each type of which prices moved there without it. */
void auc_cells_refresh_order(struct auc_market *m, unsigned row);
/* The blocks that overlap [FROM, TO], for the servers of SHARES (NULL: all). */
void auc_cells_refresh_blocks(struct auc_market *m, auc_slot from, auc_slot to,
			      const struct auc_share *shares, unsigned nshares);
void auc_cells_refresh_all(struct auc_market *m);
/* market->full and market->lowest, all of them: where used or unit_price were written by others
 * than auc_cells_set_used(). */
void auc_cells_refresh_full(struct auc_market *m);
void auc_cells_refresh_lowest(struct auc_market *m);
/* What a unit of TRES of SERVER costs its owner in slot T; at least, in any slot. */
double auc_cells_floor(const struct auc_market *m, unsigned server, unsigned tres, auc_slot t);
double auc_cells_least_floor(const struct auc_market *m, unsigned server, unsigned tres);
/* No unit price is below its floor from now on; caches must follow. */
void auc_cells_raise(struct auc_market *m);
/*
 * aggregate.c: what the large server WHOLE has in the slots [FROM, TO] of the window is again
 * what its parts have, with all that follows; the same for all of them. Of how much of TRES the
 * parts take nothing more in CELL (0: SERVER has none).
 */
void auc_cells_refresh_whole(struct auc_market *m, unsigned whole, auc_slot from, auc_slot to);
void auc_cells_refresh_wholes(struct auc_market *m, auc_slot from, auc_slot to);
int64_t auc_cells_lost(const struct auc_market *m, size_t cell, unsigned server, unsigned tres);
/* New prices of the TRES whose function MOVED, everywhere, and all that follows from them. */
void auc_cells_reprice(struct auc_market *m, const bool *moved);

/* columns.c: room for the caches of TYPE, nothing in them yet; false: no memory. Frees them. */
bool auc_columns_make(struct auc_market *m, unsigned type);
void auc_columns_free(struct auc_type_cache *c);
/* SERVER may have UNITS from now on: there is room for what fits on it then. AUC_ENOMEM: else all
 * is as before. */
enum auc_code auc_columns_admit(struct auc_market *m, unsigned server, const int64_t *units,
				struct auc_err *err);
/* Types whose caches are kept: workers, then PSs; of a market of gangs none. */
unsigned auc_cells_types(const struct auc_market *m);
/* What an empty slot holds of one type. */
void auc_cells_lay_out_empty(struct auc_market *m, unsigned type);
/* How many of TYPE fit into UNITS of which USED are used, by TRES. */
int32_t auc_cells_fit(const struct auc_bundle *type, const int64_t *units, const int64_t *used);

#endif
