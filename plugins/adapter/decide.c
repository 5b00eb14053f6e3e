/* decide.c - see decide.h. */
#include "config.h"

#include <stdbool.h>

#include "adapter/decide.h"
#include "adapter/site.h"

static enum auc_code check_jobs(struct auc_auction *a, const job_desc_msg_t *desc, bool held,
				const struct auc_offer *offer, struct auc_err *err);

enum auc_code auc_decide(struct auc_auction *a, const job_desc_msg_t *desc, uint32_t submit_uid,
			 struct auc_bid *bid, const char *held, bool task, struct auc_offer *offer,
			 char *barred, size_t size, struct auc_err *err)
{
	double now = auc_site_now();
	enum auc_code code = auc_desc_confine(desc, bid, err);

	if (!code)
		code = auc_site_confine(desc, submit_uid, bid, barred, size, err);
	if (code)
		return code;
	if (!held)
		code = auc_auction_bid(a, bid, desc->user_id, now, !bid->quote, offer, err);
	else if (task)
		code = auc_auction_bid_task(a, held, bid, now, offer, err);
	else
		code = auc_auction_bid_again(a, held, bid, now, offer, err);
	if (!code && offer->accepted)
		code = check_jobs(a, desc, held, offer, err);
	return code;
}

/* AUC_EFULL if OFFER (a lien of it is dropped then) is more jobs than Slurm lets the user have. */
static enum auc_code check_jobs(struct auc_auction *a, const job_desc_msg_t *desc, bool held,
				const struct auc_offer *offer, struct auc_err *err)
{
	unsigned need = auc_parts_at_once(offer->parts, offer->nparts);
	/* What is held is among them. */
	unsigned total = auc_auction_nodes_of(a, desc->user_id, offer->start, offer->end) +
			 (offer->sale[0] ? 0 : need);
	struct auc_slice slice;
	unsigned minutes = 0;
	enum auc_code code;

	if (!offer->nparts)
		return AUC_OK;
	for (unsigned i = 0; i < offer->nparts; i++) {
		const struct auc_part *p = &offer->parts[i];

		if (!auc_slice_of(p, p->start, p->end, &slice, NULL) && slice.minutes > minutes)
			minutes = slice.minutes;
	}
	/* Its lead is a job already. */
	need -= held && need;
	code = auc_site_count_jobs(desc, offer->parts[0].partition, need, total, minutes,
				   offer->sale[0], err);
	if (code && offer->sale[0])
		auc_auction_drop(a, offer->sale, NULL);
	return code;
}
