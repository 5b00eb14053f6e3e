/* homes.c - see homes.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "train/model/homes.h"
#include "base/num.h"

#define NAME "AUCTION_CHUNKS"

static enum auc_code homes_node(struct homes *h, char *name, char *list, struct auc_err *err);
static enum auc_code homes_put(struct homes *h, uint64_t chunk, uint32_t node, struct auc_err *err);
static enum auc_code no_memory(struct auc_err *err);

enum auc_code homes_parse(struct homes *h, const char *text, struct auc_err *err)
{
	char *copy, *save = NULL;
	enum auc_code rc = AUC_OK;

	memset(h, 0, sizeof(*h));
	if (!text)
		return AUC_OK;
	copy = strdup(text);
	if (!copy)
		return no_memory(err);
	for (char *word = strtok_r(copy, ";", &save); word && rc == AUC_OK;
	     word = strtok_r(NULL, ";", &save)) {
		char *eq = strchr(word, '=');

		if (!eq || eq == word) {
			rc = auc_err_set(err, AUC_EINVAL, NAME ": '%s': expected NODE=CHUNK,...",
					 word);
			break;
		}
		*eq = '\0';
		rc = homes_node(h, word, eq + 1, err);
	}
	free(copy);
	for (uint64_t i = 0; i < h->n && rc == AUC_OK; i++)
		if (h->home[i] == HOMES_NOWHERE)
			rc = auc_err_set(err, AUC_EINVAL, NAME ": chunk %llu lies nowhere",
					 (unsigned long long)i);
	if (rc == AUC_OK && !h->n)
		rc = auc_err_set(err, AUC_EINVAL, NAME "=%s: expected NODE=CHUNK,...;...", text);
	if (rc != AUC_OK)
		homes_clear(h);
	return rc;
}

void homes_clear(struct homes *h)
{
	for (uint32_t i = 0; i < h->nnodes; i++)
		free(h->nodes[i]);
	free(h->nodes);
	free(h->home);
	memset(h, 0, sizeof(*h));
}

uint32_t homes_find(const struct homes *h, const char *node)
{
	for (uint32_t i = 0; i < h->nnodes; i++)
		if (strcmp(h->nodes[i], node) == 0)
			return i;
	return HOMES_NOWHERE;
}

/* LIST is changed. */
static enum auc_code homes_node(struct homes *h, char *name, char *list, struct auc_err *err)
{
	uint32_t node = homes_find(h, name);
	enum auc_code rc = AUC_OK;
	char *save = NULL;

	if (node == HOMES_NOWHERE) {
		char **nodes = realloc(h->nodes, (h->nnodes + 1) * sizeof(*nodes));

		if (!nodes)
			return no_memory(err);
		h->nodes = nodes;
		nodes[h->nnodes] = strdup(name);
		if (!nodes[h->nnodes])
			return no_memory(err);
		node = h->nnodes++;
	}
	for (char *word = strtok_r(list, ",", &save); word && rc == AUC_OK;
	     word = strtok_r(NULL, ",", &save)) {
		uint64_t chunk;

		rc = auc_parse_count(word, 0, HOMES_CHUNKS_MAX - 1, &chunk, NAME, err);
		if (rc == AUC_OK)
			rc = homes_put(h, chunk, node, err);
	}
	return rc;
}

static enum auc_code homes_put(struct homes *h, uint64_t chunk, uint32_t node, struct auc_err *err)
{
	if (chunk >= h->n) {
		uint32_t *home = realloc(h->home, (chunk + 1) * sizeof(*home));

		if (!home)
			return no_memory(err);
		h->home = home;
		for (; h->n <= chunk; h->n++)
			home[h->n] = HOMES_NOWHERE;
	}
	if (h->home[chunk] != HOMES_NOWHERE)
		return auc_err_set(err, AUC_EINVAL, NAME ": chunk %llu is there twice",
				   (unsigned long long)chunk);
	h->home[chunk] = node;
	return AUC_OK;
}

static enum auc_code no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "out of memory");
}
