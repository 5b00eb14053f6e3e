/* offer_standing.c - see offer_standing.h */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auction/memory/offer_standing.h"

#define ALLOC_MIN 16
#define AGAIN     "ask for another with --quote"

struct auc_offer_standing {
	uint64_t boot, made; /* where ids begin, and how many there were */
	unsigned count, alloc;
	struct auc_standing_offer *list; /* in no order */
};

static struct auc_standing_offer *find(struct auc_offer_standing *s, uint64_t id);
static enum auc_code make_room(struct auc_offer_standing *s, uint32_t uid, double now,
			       struct auc_standing_offer **offer, struct auc_err *err);
static enum auc_code append(struct auc_offer_standing *s, struct auc_standing_offer **offer,
			    struct auc_err *err);
static bool stands(struct auc_standing_offer *o, double now);
static void end(struct auc_standing_offer *o, enum auc_offer_standing_state state);
static enum auc_code say_over(const struct auc_standing_offer *o, struct auc_err *err);
static uint64_t next_id(struct auc_offer_standing *s);

struct auc_offer_standing *auc_offer_standing_create(void)
{
	struct auc_offer_standing *s = calloc(1, sizeof(*s));

	if (!s || !getentropy(&s->boot, sizeof(s->boot)))
		return s;
	free(s);
	return NULL;
}

void auc_offer_standing_destroy(struct auc_offer_standing *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->count; i++)
		auc_decision_clear(&s->list[i].decision);
	free(s->list);
	free(s);
}

enum auc_code auc_offer_standing_add(struct auc_offer_standing *s, uint32_t uid, uint64_t work,
				     const struct auc_decision *decision, double now,
				     double seconds, uint64_t *id, struct auc_err *err)
{
	struct auc_standing_offer *o = NULL;
	enum auc_code rc = make_room(s, uid, now, &o, err);

	if (rc == AUC_OK)
		rc = auc_decision_copy(&o->decision, decision, err);
	if (rc != AUC_OK)
		return rc;
	*id = o->id = next_id(s);
	o->uid = uid;
	o->work = work;
	o->made = now;
	o->seconds = seconds;
	o->sale[0] = '\0';
	o->state = AUC_OFFER_OPEN;
	return AUC_OK;
}

enum auc_code auc_offer_standing_find(struct auc_offer_standing *s, uint64_t id, uint32_t uid,
				      uint64_t work, double now, struct auc_standing_offer **offer,
				      struct auc_err *err)
{
	struct auc_standing_offer *o = find(s, id);

	if (!o)
		return auc_err_set(
			err, AUC_ENOENT,
			"--accept: offer %016" PRIx64
			" is not known: it expired, or %d others followed it, or slurmctld was "
			"started since; " AGAIN,
			id, AUC_OFFER_PER_USER);
	if (o->uid != uid)
		return auc_err_set(
			err, AUC_EINVAL,
			"--accept: offer %016" PRIx64 " was made to another user; " AGAIN, id);
	if (!stands(o, now))
		return say_over(o, err);
	if (o->work != work)
		return auc_err_set(err, AUC_EINVAL,
				   "--accept: offer %016" PRIx64
				   " was made for another job, expected the options that were "
				   "given with --quote; give those, or " AGAIN,
				   id);
	*offer = o;
	return AUC_OK;
}

void auc_offer_standing_take(struct auc_offer_standing *s, uint64_t id, const char *sale)
{
	struct auc_standing_offer *o = find(s, id);

	if (o)
		snprintf(o->sale, sizeof(o->sale), "%s", sale);
}

void auc_offer_standing_sold(struct auc_offer_standing *s, const char *sale)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->list[i].state == AUC_OFFER_OPEN && !strcmp(s->list[i].sale, sale))
			end(&s->list[i], AUC_OFFER_SOLD);
}

void auc_offer_standing_void(struct auc_offer_standing *s)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->list[i].state == AUC_OFFER_OPEN)
			end(&s->list[i], AUC_OFFER_VOID);
}

unsigned auc_offer_standing_count(const struct auc_offer_standing *s)
{
	return s->count;
}

static struct auc_standing_offer *find(struct auc_offer_standing *s, uint64_t id)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->list[i].id == id)
			return &s->list[i];
	return NULL;
}

/*
 * *OFFER is one that is over: the user's oldest, which that ends, if he has as many as he may. Else
 * the oldest of those that are, if that is long ago or the table is full (till then it can be said
 * of what is asked for that it is over), or a new one.
 */
static enum auc_code make_room(struct auc_offer_standing *s, uint32_t uid, double now,
			       struct auc_standing_offer **offer, struct auc_err *err)
{
	struct auc_standing_offer *o, *over = NULL, *mine = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < s->count; i++) {
		o = &s->list[i];
		if (!stands(o, now)) {
			over = !over || o->made < over->made ? o : over;
		} else if (o->uid == uid) {
			mine = !mine || o->made < mine->made ? o : mine;
			n++;
		}
	}
	*offer = n < AUC_OFFER_PER_USER ? over : mine;
	if (*offer == over && s->count < AUC_OFFER_MAX &&
	    !(over && now - over->made > 2 * over->seconds))
		return append(s, offer, err);
	if (!*offer)
		return auc_err_set(err, AUC_EFULL, "%d offers stand, more are not kept",
				   AUC_OFFER_MAX);
	end(*offer, AUC_OFFER_EXPIRED);
	return AUC_OK;
}

static enum auc_code append(struct auc_offer_standing *s, struct auc_standing_offer **offer,
			    struct auc_err *err)
{
	unsigned alloc = s->alloc ? 2 * s->alloc : ALLOC_MIN;
	struct auc_standing_offer *grown;

	if (s->count == s->alloc) {
		grown = realloc(s->list, alloc * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for an offer");
		s->list = grown;
		s->alloc = alloc;
	}
	*offer = &s->list[s->count++];
	memset(*offer, 0, sizeof(**offer));
	return AUC_OK;
}

/* An offer whose time is over has ended. */
static bool stands(struct auc_standing_offer *o, double now)
{
	if (o->state == AUC_OFFER_OPEN && !(fabs(now - o->made) < o->seconds))
		end(o, AUC_OFFER_EXPIRED);
	return o->state == AUC_OFFER_OPEN;
}

static void end(struct auc_standing_offer *o, enum auc_offer_standing_state state)
{
	auc_decision_clear(&o->decision);
	o->state = state;
}

static enum auc_code say_over(const struct auc_standing_offer *o, struct auc_err *err)
{
	switch (o->state) {
	case AUC_OFFER_SOLD:
		return auc_err_set(err, AUC_ESTATE,
				   "--accept: offer %016" PRIx64
				   " has become a job, and is for one only; " AGAIN,
				   o->id);
	case AUC_OFFER_VOID:
		return auc_err_set(err, AUC_ESTATE,
				   "--accept: offer %016" PRIx64
				   " is void: nodes or auction.conf have changed since; " AGAIN,
				   o->id);
	case AUC_OFFER_EXPIRED:
	case AUC_OFFER_OPEN:
		break;
	}
	return auc_err_set(err, AUC_ESTATE,
			   "--accept: offer %016" PRIx64
			   " has expired: it stood for %.15g s; " AGAIN,
			   o->id, o->seconds);
}

/* splitmix64: no two numbers make the same, so that ids are unique. */
static uint64_t next_id(struct auc_offer_standing *s)
{
	uint64_t x;

	do {
		x = s->boot + ++s->made * UINT64_C(0x9e3779b97f4a7c15);
		x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
		x ^= x >> 31;
	} while (!x);
	return x;
}
