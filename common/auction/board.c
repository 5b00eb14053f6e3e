/*
 * board.c - the standard shapes of the site (Shape= of auction.conf): when each can be had soonest
 * and cheapest, for how much, or why not. One shape is one look under the lock, by the decision
 * that a bid gets, and there is one in a slot for each.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "auction/auction-private.h"
#include "base/json.h"
#include "base/num.h"
#include "policy/registry.h"

/* What a shape is said to be worth, in credits: more than any costs, and little enough that a
 * double still tells micro-credits in sums of it. */
#define WORTH 1e7

static bool take_shapes(struct auc_auction *a);
static unsigned next_due(const struct auc_auction *a, auc_slot slot);
static enum auc_code make_bid(const struct auc_conf *conf, const struct auc_conf_shape *s,
			      struct auc_bid **bid, struct auc_err *err);
static void look(struct auc_auction *a, struct auc_bid *bid, unsigned row, double now);
static enum auc_code look_for(struct auc_auction *a, const struct auc_bid *bid, double now,
			      struct auc_board_price *p, struct auc_err *err);
static void say_why(const struct auc_auction *a, const struct auc_bid *bid,
		    const struct auc_conf_shape *s, struct auc_board_row *row);
static struct json_object *row_to_json(const struct auc_conf_shape *s,
				       const struct auc_board_row *row);
static struct json_object *price_to_json(const struct auc_board_price *p);

bool auc_auction_board_step(struct auc_auction *a, double now)
{
	const struct auc_conf *conf;
	struct auc_bid *bid = NULL;
	struct auc_err err;
	enum auc_code rc;
	unsigned row = 0, n = 0;
	auc_slot slot = 0;

	pthread_mutex_lock(&a->lock);
	conf = a->conf;
	if (conf->nshapes && auc_auction_check_open(a, NULL) == AUC_OK && take_shapes(a)) {
		n = conf->nshapes;
		slot = auc_slot_of(now, conf->slot_seconds);
		row = next_due(a, slot);
	}
	pthread_mutex_unlock(&a->lock);
	if (row >= n)
		return false;
	/* Configurations stay until the end. */
	rc = make_bid(conf, &conf->shapes[row], &bid, &err);
	pthread_mutex_lock(&a->lock);
	if (a->board.conf == conf) {
		struct auc_board_row *r = &a->board.rows[row];

		memset(r, 0, sizeof(*r));
		r->known = true;
		r->slot = slot;
		if (rc == AUC_OK)
			look(a, bid, row, now);
		else
			snprintf(r->why, sizeof(r->why), "%.250s", err.text);
	}
	pthread_mutex_unlock(&a->lock);
	free(bid);
	return true;
}

struct json_object *auc_auction_board(const struct auc_auction *a)
{
	struct json_object *list = json_object_new_array(), *o;
	bool ok = list;

	for (unsigned i = 0; ok && a->board.conf == a->conf && i < a->conf->nshapes; i++) {
		if (!a->board.rows[i].known)
			continue;
		o = row_to_json(&a->conf->shapes[i], &a->board.rows[i]);
		ok = o && auc_json_push(list, o);
	}
	return auc_json_if(ok, list);
}

/* Rows for the shapes of the configuration in force. False: no memory. */
static bool take_shapes(struct auc_auction *a)
{
	struct auc_board_row *rows;

	if (a->board.conf == a->conf)
		return true;
	rows = calloc(a->conf->nshapes, sizeof(*rows));
	if (!rows)
		return false;
	free(a->board.rows);
	a->board.rows = rows;
	a->board.conf = a->conf;
	return true;
}

static unsigned next_due(const struct auc_auction *a, auc_slot slot)
{
	unsigned i;

	for (i = 0; i < a->conf->nshapes; i++)
		if (!a->board.rows[i].known || a->board.rows[i].slot != slot)
			break;
	return i;
}

/* The bid that a job of shape S would make, by way of its text, as any other. */
static enum auc_code make_bid(const struct auc_conf *conf, const struct auc_conf_shape *s,
			      struct auc_bid **bid, struct auc_err *err)
{
	bool posts = auc_policy_find(conf->policy)->posts;
	char text[4 * AUC_NAME_MAX + 256], gpus[AUC_NAME_MAX + 64] = "", mem[64] = "";
	enum auc_code rc;

	*bid = malloc(sizeof(**bid));
	if (!*bid)
		return auc_auction_no_memory(err);
	if (s->gpus)
		snprintf(gpus, sizeof(gpus), ",gpu%s%s=%u", *s->type ? ":" : "", s->type, s->gpus);
	if (s->mem > 0)
		snprintf(mem, sizeof(mem), ",mem=%.15g", s->mem);
	snprintf(text, sizeof(text), "%s=%.0f gang=%u:%.15g:cpu=%u%s%s",
		 posts ? "max-price" : "bid", WORTH, s->nodes, s->seconds, s->cpus, mem, gpus);
	rc = auc_bid_parse(conf, text, *bid, err);
	if (rc == AUC_OK && *s->partition) {
		(*bid)->npartitions = 1;
		strcpy((*bid)->partitions[0], s->partition);
	}
	return rc;
}

/* The lock is held. */
static void look(struct auc_auction *a, struct auc_bid *bid, unsigned row, double now)
{
	struct auc_board_row *r = &a->board.rows[row];
	uint64_t decisions = a->made.decisions, cut = a->made.cut, most = a->made.most_steps;
	struct auc_err err;
	enum auc_code rc;

	rc = look_for(a, bid, now, &r->cheapest, &err);
	if (rc == AUC_OK && r->cheapest.found) {
		bid->utility = auc_utility_soonest(WORTH, a->conf->slots);
		rc = look_for(a, bid, now, &r->soonest, &err);
		/* What is dearer than a shape is said to be worth. */
		if (rc == AUC_OK && !r->soonest.found)
			r->soonest = r->cheapest;
	}
	a->made.decisions = decisions;
	a->made.cut = cut;
	a->made.most_steps = most;
	if (rc != AUC_OK)
		snprintf(r->why, sizeof(r->why), "%.250s", err.text);
	else if (!r->cheapest.found)
		say_why(a, bid, &a->conf->shapes[row], r);
}

static enum auc_code look_for(struct auc_auction *a, const struct auc_bid *bid, double now,
			      struct auc_board_price *p, struct auc_err *err)
{
	const struct auc_decision *d = &a->question.decision;
	enum auc_code rc = auc_auction_look_up(a, bid, now, err);

	memset(p, 0, sizeof(*p));
	if (rc != AUC_OK || !d->plan.nshares ||
	    !(d->accepted || d->offered || d->reason == AUC_REASON_PAYOFF))
		return rc;
	p->found = true;
	p->price = auc_plan_payment(&d->plan);
	p->start = (double)d->plan.start * a->conf->slot_seconds;
	p->end = (double)d->plan.completion * a->conf->slot_seconds;
	snprintf(p->partition, sizeof(p->partition), "%s",
		 auc_market_server_group(a->market, d->plan.shares[0].server));
	return AUC_OK;
}

static void say_why(const struct auc_auction *a, const struct auc_bid *bid,
		    const struct auc_conf_shape *s, struct auc_board_row *row)
{
	time_t end = (time_t)((double)(auc_market_last(a->market) + 1) * a->conf->slot_seconds);
	unsigned n = auc_gang_count(a, bid);
	char until[32] = "";
	struct tm tm;

	if (localtime_r(&end, &tm))
		strftime(until, sizeof(until), "%Y-%m-%dT%H:%M:%S", &tm);
	if (n < s->nodes)
		snprintf(row->why, sizeof(row->why),
			 "%u node%s of those that are up %s large enough", n, auc_plural(n),
			 n == 1 ? "is" : "are");
	else if (*a->question.ruled_out)
		snprintf(row->why, sizeof(row->why), "%.250s", a->question.ruled_out);
	else
		snprintf(row->why, sizeof(row->why),
			 "all that is large enough is sold or closed until %s", until);
}

static struct json_object *row_to_json(const struct auc_conf_shape *s,
				       const struct auc_board_row *row)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "shape", s->name) && auc_json_add_int(o, "nodes", s->nodes) &&
	    auc_json_add_int(o, "gpus", s->gpus) && auc_json_add_text(o, "type", s->type) &&
	    auc_json_add_double(o, "seconds", s->seconds) &&
	    auc_json_add_text(o, "partition", s->partition) &&
	    auc_json_add_int(o, "slot", row->slot) &&
	    (!row->soonest.found || auc_json_add(o, "soonest", price_to_json(&row->soonest))) &&
	    (!row->cheapest.found || auc_json_add(o, "cheapest", price_to_json(&row->cheapest))) &&
	    auc_json_add_text(o, "why", row->why))
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *price_to_json(const struct auc_board_price *p)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_money(o, "price", p->price) &&
	    auc_json_add_double(o, "start", p->start) && auc_json_add_double(o, "end", p->end) &&
	    auc_json_add_text(o, "partition", p->partition))
		return o;
	json_object_put(o);
	return NULL;
}
