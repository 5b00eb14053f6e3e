/* moves.c - see moves.h */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slaunch/layout/moves.h"

static uint64_t count_chunks(const struct auc_receipt *r);
static uint64_t leaving(const struct auc_receipt *r, unsigned site);

enum auc_code moves_make(const struct auc_receipt *r, struct move **list, unsigned *n,
			 struct auc_err *err)
{
	uint64_t gone[AUC_BID_DATA_MAX] = {0}, end[AUC_BID_DATA_MAX], all = 0;

	*n = 0;
	*list = NULL;
	if (count_chunks(r) > MOVES_CHUNKS_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "%" PRIu64 " chunks: expected %d at most to be moved",
				   count_chunks(r), MOVES_CHUNKS_MAX);
	*list = calloc((size_t)count_chunks(r) + 1, sizeof(**list));
	if (!*list)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (unsigned i = 0; i < r->ndata; i++)
		end[i] = all += (uint64_t)r->data[i].value;
	/* The receipt's reader has seen to it that no more leave a node than lie there. */
	for (unsigned m = 0; m < r->nmoves; m++)
		for (unsigned i = 0; i < r->ndata; i++) {
			if (strcmp(r->data[i].name, r->moves[m].from) != 0)
				continue;
			for (uint64_t k = 0; k < r->moves[m].chunks; k++, gone[i]++)
				(*list)[(*n)++] = (struct move){
					.slot = r->moves[m].slot,
					.chunk = end[i] - leaving(r, i) + gone[i],
					.from = r->moves[m].from,
					.to = r->moves[m].to,
				};
		}
	return AUC_OK;
}

char *moves_places(const struct auc_receipt *r)
{
	uint64_t n = count_chunks(r), chunk = 0;
	const char **at, *before = "";
	struct move *moves;
	char *text = NULL;
	unsigned nmoves;
	size_t size;
	FILE *out;

	if (!n || moves_make(r, &moves, &nmoves, NULL) != AUC_OK)
		return NULL;
	at = calloc((size_t)n, sizeof(*at));
	out = at ? open_memstream(&text, &size) : NULL;
	for (unsigned i = 0; at && i < r->ndata; i++)
		for (uint64_t k = 0; k < (uint64_t)r->data[i].value; k++)
			at[chunk++] = r->data[i].name;
	for (unsigned m = 0; at && m < nmoves; m++)
		at[moves[m].chunk] = moves[m].to;
	for (uint64_t i = 0; out && i < n; i++) {
		const char *node = at[i];

		if (!node)
			continue;
		fprintf(out, "%s%s=", before, node);
		for (uint64_t k = i; k < n; k++)
			if (at[k] && !strcmp(at[k], node)) {
				fprintf(out, k == i ? "%" PRIu64 : ",%" PRIu64, k);
				at[k] = k == i ? node : NULL;
			}
		before = ";";
	}
	if (out && fclose(out) != 0) {
		free(text);
		text = NULL;
	}
	free(at);
	free(moves);
	return text;
}

static uint64_t count_chunks(const struct auc_receipt *r)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < r->ndata; i++)
		n += (uint64_t)r->data[i].value;
	return n;
}

/* How many chunks leave that node in all. */
static uint64_t leaving(const struct auc_receipt *r, unsigned site)
{
	uint64_t n = 0;

	for (unsigned m = 0; m < r->nmoves; m++)
		if (!strcmp(r->moves[m].from, r->data[site].name))
			n += r->moves[m].chunks;
	return n;
}
