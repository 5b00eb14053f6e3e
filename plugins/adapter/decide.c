/* decide.c - see decide.h. */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/accounts.h"
#include "adapter/decide.h"
#include "adapter/site.h"

/* Makes the limits on TRES of a bid, which has its QOS then. */
struct caps {
	const job_desc_msg_t *desc;
	struct auc_bid *bid;
	struct auc_caps *made;
	enum auc_code code;
	struct auc_err *err;
};

/* And those of a sale. */
struct sold {
	uint32_t uid;
	const char *account, *qos;
	struct auc_caps *made;
	enum auc_code code;
	struct auc_err *err;
};

static void make_caps(const struct auc_rules *rules, const struct auc_accounts *accounts,
		      void *arg);
static unsigned find_partitions(const struct auc_rules *rules, const struct auc_bid *bid,
				struct auc_partition_qos list[AUC_BID_PARTITIONS_MAX]);
static void make_sold(const struct auc_rules *rules, const struct auc_accounts *accounts,
		      void *arg);
static enum auc_code check_jobs(struct auc_auction *a, const job_desc_msg_t *desc, bool held,
				const struct auc_offer *offer, struct auc_err *err);

enum auc_code auc_decide(struct auc_auction *a, const job_desc_msg_t *desc, uint32_t submit_uid,
			 struct auc_bid *bid, const char *held, bool task, struct auc_offer *offer,
			 char *barred, size_t size, struct auc_err *err)
{
	struct caps caps = {.desc = desc, .bid = bid, .err = err};
	double now = auc_site_now();
	enum auc_code code = auc_desc_confine(desc, bid, err);

	if (!code)
		code = auc_site_confine(desc, submit_uid, bid, barred, size, err);
	if (code == AUC_EAGAIN && !held && !auc_site_may_ask_again(desc->user_id))
		code = err->code = AUC_ESTATE;
	if (!code && slurm_conf.accounting_storage_enforce & AUC_ENFORCE_LIMITS) {
		auc_site_with_rules(make_caps, &caps);
		code = caps.code;
	}
	if (code)
		return code;
	bid->caps = caps.made;
	if (!held)
		code = auc_auction_bid(a, bid, desc->user_id, now, !bid->quote, offer, err);
	else if (task)
		code = auc_auction_bid_task(a, held, bid, now, offer, err);
	else
		code = auc_auction_bid_again(a, held, bid, now, offer, err);
	bid->caps = NULL;
	free(caps.made);
	if (!code && offer->accepted)
		code = check_jobs(a, desc, held, offer, err);
	return code;
}

static void make_caps(const struct auc_rules *rules, const struct auc_accounts *accounts, void *arg)
{
	struct auc_partition_qos partitions[AUC_BID_PARTITIONS_MAX];
	struct caps *c = arg;
	const char *account = auc_accounts_account(accounts, c->desc->user_id, c->desc->account);
	const char *qos;
	unsigned n = find_partitions(rules, c->bid, partitions);

	qos = auc_accounts_qos(accounts, c->desc->user_id, account,
			       n ? partitions[0].partition : NULL, c->desc->qos);
	c->code = auc_accounts_caps(accounts, c->desc->user_id, account, partitions, n, qos,
				    &c->made, c->err);
	/* It counts, too, against limits that come later. */
	if (qos && strlen(qos) < sizeof(c->bid->qos) && !strpbrk(qos, " \t\r\n;,"))
		strcpy(c->bid->qos, qos);
}

/* Those of BID (NULL: of none), or all; how many. */
static unsigned find_partitions(const struct auc_rules *rules, const struct auc_bid *bid,
				struct auc_partition_qos list[AUC_BID_PARTITIONS_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; bid && i < bid->npartitions; i++) {
		const struct auc_rule *r = auc_rules_find(rules, bid->partitions[i]);

		if (r)
			list[n++] = (struct auc_partition_qos){r->name, r->own_qos};
	}
	for (unsigned i = 0;
	     !(bid && bid->npartitions) && rules && i < rules->n && n < AUC_BID_PARTITIONS_MAX; i++)
		list[n++] = (struct auc_partition_qos){rules->list[i].name, rules->list[i].own_qos};
	return n;
}

enum auc_code auc_decide_caps(void *arg, uint32_t uid, const char *account, const char *qos,
			      struct auc_caps **caps, struct auc_err *err)
{
	struct sold sold = {.uid = uid, .account = account, .qos = qos, .err = err};

	(void)arg;
	if (slurm_conf.accounting_storage_enforce & AUC_ENFORCE_LIMITS)
		auc_site_with_rules(make_sold, &sold);
	*caps = sold.made;
	return sold.code;
}

static void make_sold(const struct auc_rules *rules, const struct auc_accounts *accounts, void *arg)
{
	struct auc_partition_qos partitions[AUC_BID_PARTITIONS_MAX];
	struct sold *s = arg;

	s->code = auc_accounts_caps(accounts, s->uid, s->account, partitions,
				    find_partitions(rules, NULL, partitions), s->qos, &s->made,
				    s->err);
}

/* AUC_EFULL if OFFER (a lien of it is dropped then) is more jobs than Slurm lets the user have;
 * AUC_EAGAIN: that is not known yet. */
static enum auc_code check_jobs(struct auc_auction *a, const job_desc_msg_t *desc, bool held,
				const struct auc_offer *offer, struct auc_err *err)
{
	unsigned need = auc_parts_at_once(offer->parts, offer->nparts);
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
	code = auc_site_count_jobs(desc, offer->parts[0].partition, need, minutes, offer->sale,
				   err);
	if (code == AUC_EAGAIN && !held && !auc_site_may_ask_again(desc->user_id))
		code = err->code = AUC_ESTATE;
	if (code && offer->sale[0]) {
		auc_auction_drop(a, offer->sale, NULL);
		if (code != AUC_EAGAIN)
			auc_auction_keep_refusal(a, desc->user_id, auc_site_now(), err->text);
	}
	return code;
}
