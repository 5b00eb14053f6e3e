/* bid_log.c - see bid_log.h. A ring, like price_history.c's. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <xxhash.h>

#include "base/json.h"
#include "pricing/past/bid_log.h"
#include "base/list.h"

#define TIME_MAX    1e11 /* Unix time of an event: year 5138 */
#define SECONDS_MAX 1e9
#define USER_MAX    INT64_C(4000000000)

struct waiting {
	char sale[AUC_SALE_ID_LEN];
	struct auc_logged_bid bid;
};

struct auc_bid_log {
	unsigned limit, count, oldest;
	size_t bytes; /* of all texts */
	unsigned long long added;
	bool forgot;                 /* something */
	unsigned users;              /* the highest number given to one */
	double period;               /* seconds; 0: no bid is made again */
	unsigned latest;             /* in bids: what was added last */
	struct auc_logged_bid *bids; /* limit long */
	uint64_t waited, gone;   /* how many ever did, and how many of those, the first, are gone */
	size_t waiting_bytes;    /* of the texts of the others */
	struct waiting *waiting; /* a ring of AUC_BID_LOG_WAITING; "": taken */
};

static void end_wait(struct auc_bid_log *p, uint64_t i);
static enum auc_code make_bid(const struct auc_bid *bid, const char *text, double time,
			      double slot_seconds, bool accepted, struct auc_logged_bid *made,
			      struct auc_err *err);
static enum auc_code remember(struct auc_bid_log *p, const struct auc_logged_bid *from,
			      struct auc_err *err);
static enum auc_code copy_bid(const struct auc_logged_bid *from, struct auc_logged_bid *b,
			      struct auc_err *err);
static void free_bid(struct auc_logged_bid *b);
static void insert(struct auc_bid_log *p, const struct auc_logged_bid *b);
static struct auc_logged_bid *made_before(struct auc_bid_log *p, const struct auc_logged_bid *b);
static uint64_t work_of(const char *text);
static struct json_object *event_of(const struct auc_logged_bid *b);
static unsigned user_of(const struct auc_bid_log *p, uint32_t uid);
static void make_room(struct auc_bid_log *p);
static unsigned large_user(const struct auc_bid_log *p);
static struct auc_logged_bid *bid_at(const struct auc_bid_log *p, unsigned i);
static void forget_oldest(struct auc_bid_log *p);
static bool add_partitions(struct json_object *o, const struct auc_logged_bid *b);
static enum auc_code read_partitions(struct json_object *event, struct auc_logged_bid *b,
				     struct auc_err *err);
static bool plain(const char *text);
static enum auc_code corrupt(struct auc_err *err, const char *why);

struct auc_bid_log *auc_bid_log_create(unsigned limit)
{
	struct auc_bid_log *p = calloc(1, sizeof(*p));

	if (!p || !limit || !(p->bids = calloc(limit, sizeof(*p->bids)))) {
		free(p);
		return NULL;
	}
	p->limit = limit;
	return p;
}

void auc_bid_log_destroy(struct auc_bid_log *p)
{
	if (!p)
		return;
	while (p->count)
		forget_oldest(p);
	while (p->gone < p->waited)
		end_wait(p, p->gone++);
	free(p->waiting);
	free(p->bids);
	free(p);
}

enum auc_code auc_bid_log_set_limit(struct auc_bid_log *p, unsigned limit, struct auc_err *err)
{
	struct auc_logged_bid *bids;

	if (limit == p->limit)
		return AUC_OK;
	bids = limit ? calloc(limit, sizeof(*bids)) : NULL;
	if (!bids)
		return auc_err_set(err, AUC_ENOMEM, "history of bids: out of memory");
	while (p->count > limit)
		forget_oldest(p);
	for (unsigned i = 0; i < p->count; i++)
		bids[i] = *auc_bid_log_at(p, i);
	free(p->bids);
	p->bids = bids;
	p->limit = limit;
	p->oldest = 0;
	return AUC_OK;
}

void auc_bid_log_set_period(struct auc_bid_log *p, double seconds)
{
	p->period = seconds;
}

unsigned auc_bid_log_count(const struct auc_bid_log *p)
{
	return p->count;
}

unsigned long long auc_bid_log_added(const struct auc_bid_log *p)
{
	return p->added;
}

bool auc_bid_log_truncated(const struct auc_bid_log *p)
{
	return p->forgot || p->count == p->limit;
}

const struct auc_logged_bid *auc_bid_log_at(const struct auc_bid_log *p, unsigned i)
{
	return bid_at(p, i);
}

enum auc_code auc_bid_log_add(struct auc_bid_log *p, const struct auc_bid *bid, const char *text,
			      uint32_t uid, double time, double slot_seconds, bool accepted,
			      struct auc_err *err)
{
	struct auc_logged_bid one;
	enum auc_code rc = make_bid(bid, text, time, slot_seconds, accepted, &one, err);

	if (rc != AUC_OK)
		return rc;
	one.uid = uid;
	one.user = user_of(p, uid);
	rc = remember(p, &one, err);
	free_bid(&one);
	return rc;
}

enum auc_code auc_bid_log_wait(struct auc_bid_log *p, const char *sale, const struct auc_bid *bid,
			       const char *text, uint32_t uid, double time, double slot_seconds,
			       struct auc_err *err)
{
	struct auc_logged_bid one;
	struct waiting *w;
	enum auc_code rc;
	size_t size;

	if (!p->waiting)
		p->waiting = calloc(AUC_BID_LOG_WAITING, sizeof(*p->waiting));
	if (!p->waiting)
		return auc_err_set(err, AUC_ENOMEM, "history of bids: out of memory");
	rc = make_bid(bid, text, time, slot_seconds, true, &one, err);
	if (rc != AUC_OK)
		return rc;
	one.uid = uid;
	size = strlen(one.text);
	while (p->gone < p->waited && (p->waited - p->gone == AUC_BID_LOG_WAITING ||
				       p->waiting_bytes + size > AUC_BID_LOG_BYTES))
		end_wait(p, p->gone++);
	w = &p->waiting[p->waited++ % AUC_BID_LOG_WAITING];
	w->bid = one;
	p->waiting_bytes += size;
	snprintf(w->sale, sizeof(w->sale), "%s", sale);
	return AUC_OK;
}

/* The latest are asked for first. */
bool auc_bid_log_take(struct auc_bid_log *p, const char *sale)
{
	struct waiting *w;
	bool kept;

	for (uint64_t i = p->waited; i-- > p->gone && *sale;) {
		w = &p->waiting[i % AUC_BID_LOG_WAITING];
		if (strcmp(w->sale, sale) != 0)
			continue;
		w->bid.user = user_of(p, w->bid.uid);
		kept = remember(p, &w->bid, NULL) == AUC_OK;
		end_wait(p, i);
		return kept;
	}
	return false;
}

/* Of the one that began to wait as number I; if it was taken before, nothing is left to do. */
static void end_wait(struct auc_bid_log *p, uint64_t i)
{
	struct waiting *w = &p->waiting[i % AUC_BID_LOG_WAITING];

	if (!*w->sale)
		return;
	p->waiting_bytes -= strlen(w->bid.text);
	free_bid(&w->bid);
	*w->sale = '\0';
}

/* The caller owns MADE and must free it. */
static enum auc_code make_bid(const struct auc_bid *bid, const char *text, double time,
			      double slot_seconds, bool accepted, struct auc_logged_bid *made,
			      struct auc_err *err)
{
	struct auc_logged_bid one = {
		.time = time,
		.last = time,
		.slot_seconds = slot_seconds,
		.accepted = accepted,
		.known = true,
		.text = (char *)text,
		.npartitions = bid->npartitions,
		.partitions = (char(*)[AUC_NAME_MAX])bid->partitions,
	};

	return copy_bid(&one, made, err);
}

bool auc_bid_log_was_again(const struct auc_bid_log *p)
{
	return p->added && p->bids[p->latest].last > p->bids[p->latest].time;
}

struct json_object *auc_bid_log_added_event(const struct auc_bid_log *p)
{
	struct auc_logged_bid b = p->bids[p->latest];

	b.time = b.last;
	return event_of(&b);
}

struct auc_bid_log *auc_bid_log_copy(const struct auc_bid_log *p)
{
	struct auc_bid_log *copy = auc_bid_log_create(p->limit);
	struct auc_logged_bid b;

	for (unsigned i = 0; copy && i < p->count; i++) {
		if (copy_bid(auc_bid_log_at(p, i), &b, NULL) != AUC_OK) {
			auc_bid_log_destroy(copy);
			return NULL;
		}
		insert(copy, &b);
	}
	if (copy) {
		copy->added = p->added;
		copy->forgot = p->forgot;
		copy->users = p->users;
		copy->period = p->period;
	}
	return copy;
}

struct json_object *auc_bid_log_event(const struct auc_bid_log *p, unsigned i)
{
	return event_of(auc_bid_log_at(p, i));
}

static struct json_object *event_of(const struct auc_logged_bid *b)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "event", "bid") && auc_json_add_double(o, "time", b->time) &&
	    (b->last <= b->time || auc_json_add_double(o, "last", b->last)) &&
	    auc_json_add_double(o, "slot_seconds", b->slot_seconds) &&
	    auc_json_add_bool(o, "accepted", b->accepted) &&
	    (b->user == AUC_USER_NONE || auc_json_add_int(o, "user", b->user)) &&
	    auc_json_add_text(o, "bid", b->text) && (!b->npartitions || add_partitions(o, b)))
		return o;
	json_object_put(o);
	return NULL;
}

bool auc_bid_log_knows(struct json_object *event)
{
	struct json_object *word;

	return json_object_object_get_ex(event, "event", &word) &&
	       json_object_is_type(word, json_type_string) &&
	       !strcmp(json_object_get_string(word), "bid");
}

enum auc_code auc_bid_log_apply(struct auc_bid_log *p, struct json_object *event,
				struct auc_err *err)
{
	char names[AUC_BID_PARTITIONS_MAX][AUC_NAME_MAX];
	struct auc_logged_bid b = {.partitions = names};
	struct json_object *number;
	struct auc_err why = {0};
	enum auc_code rc;
	int64_t user = 0;

	b.text = malloc(AUC_BID_TEXT_MAX);
	rc = b.text ? auc_json_double(event, "time", 0, TIME_MAX, &b.time, &why)
		    : auc_err_set(&why, AUC_ENOMEM, "out of memory");
	b.last = b.time;
	if (rc == AUC_OK && json_object_object_get_ex(event, "last", &number))
		rc = auc_json_double(event, "last", b.time, TIME_MAX, &b.last, &why);
	if (rc == AUC_OK)
		rc = auc_json_double(event, "slot_seconds", 1e-3, SECONDS_MAX, &b.slot_seconds,
				     &why);
	if (rc == AUC_OK)
		rc = auc_json_bool(event, "accepted", &b.accepted, &why);
	if (rc == AUC_OK && json_object_object_get_ex(event, "user", &number)) {
		rc = auc_json_int(event, "user", 1, USER_MAX, &user, &why);
		b.user = (unsigned)user;
	}
	if (rc == AUC_OK)
		rc = auc_json_text(event, "bid", b.text, AUC_BID_TEXT_MAX, &why);
	if (rc == AUC_OK && !plain(b.text))
		rc = auc_err_set(&why, AUC_EINVAL, "bid: expected the text of a bid");
	if (rc == AUC_OK)
		rc = read_partitions(event, &b, &why);
	if (rc == AUC_OK)
		rc = remember(p, &b, err);
	else if (rc == AUC_ENOMEM)
		rc = auc_err_set(err, rc, "history of bids: out of memory");
	else
		rc = corrupt(err, why.text);
	free(b.text);
	return rc;
}

/* Takes a copy of FROM: in place of the one that is made again by it, else as another one. */
static enum auc_code remember(struct auc_bid_log *p, const struct auc_logged_bid *from,
			      struct auc_err *err)
{
	struct auc_logged_bid b, *before;
	enum auc_code rc = copy_bid(from, &b, err);

	if (rc != AUC_OK)
		return rc;
	b.work = work_of(b.text);
	before = made_before(p, &b);
	if (before) {
		b.time = before->time;
		p->bytes += strlen(b.text) - strlen(before->text);
		free_bid(before);
		*before = b;
		p->latest = (unsigned)(before - p->bids);
	} else {
		while (p->count &&
		       (p->count == p->limit || p->bytes + strlen(b.text) > AUC_BID_LOG_BYTES))
			make_room(p);
		insert(p, &b);
	}
	p->added++;
	p->users = b.user > p->users ? b.user : p->users;
	return AUC_OK;
}

static enum auc_code copy_bid(const struct auc_logged_bid *from, struct auc_logged_bid *b,
			      struct auc_err *err)
{
	size_t names = from->npartitions * sizeof(*from->partitions);

	*b = *from;
	b->text = strdup(from->text);
	b->partitions = names ? malloc(names) : NULL;
	if (!b->text || (names && !b->partitions)) {
		free_bid(b);
		return auc_err_set(err, AUC_ENOMEM, "history of bids: out of memory");
	}
	if (names)
		memcpy(b->partitions, from->partitions, names);
	return AUC_OK;
}

static void free_bid(struct auc_logged_bid *b)
{
	free(b->text);
	free(b->partitions);
}

/* Behind those of the same time and before. There is room; what B points to is P's from now on. */
static void insert(struct auc_bid_log *p, const struct auc_logged_bid *b)
{
	unsigned i;

	for (i = p->count++; i && bid_at(p, i - 1)->time > b->time; i--)
		*bid_at(p, i) = *bid_at(p, i - 1);
	*bid_at(p, i) = *b;
	p->latest = (p->oldest + i) % p->limit;
	p->bytes += strlen(b->text);
}

/* The refused one that B makes again: of several, the one that was made first. */
static struct auc_logged_bid *made_before(struct auc_bid_log *p, const struct auc_logged_bid *b)
{
	struct auc_logged_bid *e, *found = NULL;
	double since;

	for (unsigned i = p->count; i-- && b->user != AUC_USER_NONE;) {
		e = bid_at(p, i);
		since = b->time - e->last;
		if (b->time - e->time >= p->period)
			break;
		if (e->user == b->user && e->work == b->work && !e->accepted &&
		    e->slot_seconds == b->slot_seconds && since >= b->slot_seconds &&
		    since <= AUC_BID_LOG_AGAIN * p->period &&
		    p->bytes - strlen(e->text) + strlen(b->text) <= AUC_BID_LOG_BYTES)
			found = e;
	}
	return found;
}

/* The utility is what a text begins with. */
static uint64_t work_of(const char *text)
{
	text += strcspn(text, " ");
	return XXH3_64bits(text, strlen(text));
}

/* The number of a user: the one that an earlier bid has, or a new one. */
static unsigned user_of(const struct auc_bid_log *p, uint32_t uid)
{
	for (unsigned i = p->count; i--;)
		if (auc_bid_log_at(p, i)->known && auc_bid_log_at(p, i)->uid == uid)
			return auc_bid_log_at(p, i)->user;
	return p->users < USER_MAX ? p->users + 1 : AUC_USER_NONE;
}

/* Forgets one bid: of a user who has nine tenths of them, else of anybody, the oldest. */
static void make_room(struct auc_bid_log *p)
{
	unsigned user = large_user(p), i = 0;
	struct auc_logged_bid gone;

	while (user != AUC_USER_NONE && bid_at(p, i)->user != user)
		i++;
	gone = *bid_at(p, i);
	for (; i; i--)
		*bid_at(p, i) = *bid_at(p, i - 1);
	*bid_at(p, 0) = gone;
	forget_oldest(p);
}

/* AUC_USER_NONE: there is none. */
static unsigned large_user(const struct auc_bid_log *p)
{
	unsigned who = AUC_USER_NONE, lead = 0, own = 0, i;

	for (i = 0; i < p->count; i++) {
		if (!lead)
			who = bid_at(p, i)->user;
		lead += bid_at(p, i)->user == who ? 1 : -1;
	}
	for (i = 0; i < p->count; i++)
		own += bid_at(p, i)->user == who;
	return 10 * own >= 9 * p->count ? who : AUC_USER_NONE;
}

static struct auc_logged_bid *bid_at(const struct auc_bid_log *p, unsigned i)
{
	return &p->bids[(p->oldest + i) % p->limit];
}

static void forget_oldest(struct auc_bid_log *p)
{
	struct auc_logged_bid *b = &p->bids[p->oldest];

	p->forgot = true;
	p->bytes -= strlen(b->text);
	free_bid(b);
	*b = (struct auc_logged_bid){0};
	p->oldest = (p->oldest + 1) % p->limit;
	p->count--;
}

static bool add_partitions(struct json_object *o, const struct auc_logged_bid *b)
{
	struct json_object *list = json_object_new_array(), *name;

	for (unsigned i = 0; list && i < b->npartitions; i++) {
		name = json_object_new_string(b->partitions[i]);
		if (!auc_json_push(list, name)) {
			json_object_put(list);
			return false;
		}
	}
	return auc_json_add(o, "partitions", list);
}

static enum auc_code read_partitions(struct json_object *event, struct auc_logged_bid *b,
				     struct auc_err *err)
{
	struct json_object *list, *name;
	size_t n;

	if (!json_object_object_get_ex(event, "partitions", &list))
		return AUC_OK;
	n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	if (n < 1 || n > AUC_BID_PARTITIONS_MAX)
		return auc_err_set(err, AUC_EINVAL, "partitions: expected 1 to %d names",
				   AUC_BID_PARTITIONS_MAX);
	for (; b->npartitions < n; b->npartitions++) {
		name = json_object_array_get_idx(list, b->npartitions);
		if (!json_object_is_type(name, json_type_string) ||
		    !auc_name_valid(json_object_get_string(name)))
			return auc_err_set(err, AUC_EINVAL, "partitions: entry %u: expected a name",
					   b->npartitions);
		strcpy(b->partitions[b->npartitions], json_object_get_string(name));
	}
	return AUC_OK;
}

/* Whether the words of TEXT are a bid is seen when it is used: types come and go. */
static bool plain(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			return false;
	return *text;
}

static enum auc_code corrupt(struct auc_err *err, const char *why)
{
	return auc_err_set(err, AUC_ECORRUPT, "event 'bid': %s", why);
}
