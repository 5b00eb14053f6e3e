/* held_bids.c - see held_bids.h: an array in the order of submission. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auction/memory/held_bids.h"

struct auc_held_bids {
	unsigned n;
	struct auc_held_bid of[AUC_HELD_MAX];
	/* How many older ones the user of each had when SLOT began. */
	auc_slot slot;
	unsigned rank[AUC_HELD_MAX];
};

static void rank_all(struct auc_held_bids *h);
static void drop(struct auc_held_bids *h, unsigned i);

struct auc_held_bids *auc_held_bids_create(void)
{
	return calloc(1, sizeof(struct auc_held_bids));
}

void auc_held_bids_destroy(struct auc_held_bids *h)
{
	while (h && h->n)
		drop(h, h->n - 1);
	free(h);
}

enum auc_code auc_held_bids_add(struct auc_held_bids *h, const struct auc_held_bid *bid,
				struct auc_err *err)
{
	unsigned i = h->n, rank = auc_held_bids_of(h, bid->uid);
	char *text;

	if (h->n == AUC_HELD_MAX)
		return auc_err_set(err, AUC_EFULL, "%d bids stand already, at most so many can",
				   AUC_HELD_MAX);
	if (auc_held_bids_find(h, bid->id))
		return auc_err_set(err, AUC_EEXIST, "bid %s stands already", bid->id);
	text = strdup(bid->text);
	if (!text)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for a bid that stands");
	for (; i > 0 && h->of[i - 1].since > bid->since; i--) {
		h->of[i] = h->of[i - 1];
		h->rank[i] = h->rank[i - 1];
	}
	h->rank[i] = rank;
	h->of[i] = *bid;
	h->of[i].text = text;
	h->of[i].answer = NULL;
	h->n++;
	return AUC_OK;
}

void auc_held_bids_remove(struct auc_held_bids *h, const char *id)
{
	struct auc_held_bid *bid = auc_held_bids_find(h, id);

	if (bid)
		drop(h, (unsigned)(bid - h->of));
}

static void drop(struct auc_held_bids *h, unsigned i)
{
	free(h->of[i].text);
	free(h->of[i].answer);
	memmove(&h->of[i], &h->of[i + 1], (h->n - i - 1) * sizeof(*h->of));
	memmove(&h->rank[i], &h->rank[i + 1], (h->n - i - 1) * sizeof(*h->rank));
	h->n--;
}

struct auc_held_bid *auc_held_bids_find(struct auc_held_bids *h, const char *id)
{
	for (unsigned i = 0; i < h->n; i++)
		if (!strcmp(h->of[i].id, id))
			return &h->of[i];
	return NULL;
}

struct auc_held_bid *auc_held_bids_find_job(struct auc_held_bids *h, uint32_t job_id)
{
	for (unsigned i = 0; i < h->n && job_id; i++)
		if (h->of[i].job_id == job_id)
			return &h->of[i];
	return NULL;
}

struct auc_held_bid *auc_held_bids_at(struct auc_held_bids *h, unsigned i)
{
	return i < h->n ? &h->of[i] : NULL;
}

unsigned auc_held_bids_count(const struct auc_held_bids *h)
{
	return h->n;
}

unsigned auc_held_bids_of(const struct auc_held_bids *h, uint32_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->n; i++)
		n += h->of[i].uid == uid;
	return n;
}

void auc_held_bids_lapse(struct auc_held_bids *h, double now)
{
	for (unsigned i = h->n; i-- > 0;)
		if (!h->of[i].job_id && h->of[i].lapses < now)
			drop(h, i);
}

void auc_held_bids_change(struct auc_held_bids *h)
{
	for (unsigned i = 0; i < h->n; i++)
		h->of[i].changed = true;
}

struct auc_held_bid *auc_held_bids_next(struct auc_held_bids *h, auc_slot slot)
{
	struct auc_held_bid *next = NULL;
	unsigned best = 0;

	/* Who was sold something in this slot still counts for whose turn it is. */
	if (h->slot != slot)
		rank_all(h);
	h->slot = slot;
	for (unsigned i = 0; i < h->n; i++) {
		/* One of a later slot was decided before the clock was set back. */
		if (!h->of[i].job_id || h->of[i].slot == slot || (next && h->rank[i] >= best))
			continue;
		next = &h->of[i];
		best = h->rank[i];
	}
	return next;
}

/* The last bid of each user before is looked for backwards: its rank is one less. */
static void rank_all(struct auc_held_bids *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		unsigned k = i;

		while (k > 0 && h->of[k - 1].uid != h->of[i].uid)
			k--;
		h->rank[i] = k > 0 ? h->rank[k - 1] + 1 : 0;
	}
}
