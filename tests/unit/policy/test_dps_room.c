/*
 * test_dps_room.c - what policy dps keeps of the room of windows is what the market has, whatever
 * has become of the market since: bookings and those taken back, closed servers, other capacities,
 * time, and another market in between.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/dps/dps-private.h"
#include "unit/support/property.h"
#include "unit/support/sound.h"

#define MARKETS 60
#define TYPES   2
#define SERVERS 40
#define BOOKED  12
#define LARGEST 10000 /* workers on one server, more than are counted */

static const unsigned some_servers[] = {1, 3, 16, 17, SERVERS}, some_slots[] = {3, 20, 64, 65, 100};

/* A market and what is booked in it. */
struct shop {
	struct auc_market *m;
	struct auc_plan booked[BOOKED];
};

static unsigned pick(struct tiny_random *r, unsigned low, unsigned high)
{
	return (unsigned)tiny_int(r, (int)low, (int)high);
}

static struct auc_named amount(const char *name, double value)
{
	struct auc_named n = {.value = value};

	strcpy(n.name, name);
	return n;
}

static void open_shop(struct shop *shop, struct tiny_random *r, unsigned servers, unsigned slots)
{
	struct auc_price price = {.neta = 2};
	struct auc_named list[2];
	char name[AUC_NAME_MAX];
	unsigned i;

	shop->m = auc_market_create(slots, 60, 5);
	assert_non_null(shop->m);
	for (i = 0; i < servers; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		list[0] = amount("cpu", tiny_chance(r, 0.05) ? LARGEST : 1.0 * pick(r, 1, 16));
		list[1] = amount("gpu:a", pick(r, 1, 8));
		assert_int_equal(auc_market_add_server(shop->m, name, "edge", false, AUC_ROLES_ALL,
						       0, list, 2, NULL),
				 AUC_OK);
	}
	list[0] = amount("cpu", 1);
	assert_int_equal(auc_market_add_worker_type(shop->m, "w0", list, 1, 1000, NULL), AUC_OK);
	assert_int_equal(auc_market_add_worker_type(shop->m, "w1", list, 2, 1000, NULL), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(shop->m, "p", list, 1, 1000, NULL), AUC_OK);
	price.eta[0] = amount("cpu", 2);
	price.eta[1] = amount("gpu:a", 3);
	assert_int_equal(auc_market_ready(shop->m, &price, NULL), AUC_OK);
	for (i = 0; i < BOOKED; i++)
		auc_plan_init(&shop->booked[i]);
}

static void close_shop(struct shop *shop)
{
	for (unsigned i = 0; i < BOOKED; i++)
		auc_plan_clear(&shop->booked[i]);
	auc_market_destroy(shop->m);
}

static auc_slot some_slot(struct tiny_random *r, const struct auc_market *m)
{
	return m->first + pick(r, 0, m->slots - 1);
}

/* Takes back what a plan holds, or books another. */
static void book_or_unbook(struct shop *shop, struct tiny_random *r)
{
	struct auc_plan *p = &shop->booked[pick(r, 0, BOOKED - 1)];
	struct auc_market *m = shop->m;
	unsigned s = pick(r, 0, m->nservers - 1);
	auc_slot last;

	if (p->nruns) {
		assert_int_equal(auc_market_unbook(m, p, p->start, p->completion, NULL), AUC_OK);
		auc_plan_reset(p);
		return;
	}
	p->worker_type = pick(r, 0, TYPES - 1);
	p->start = some_slot(r, m);
	last = auc_market_last(m);
	p->completion = p->start + pick(r, 1, 9);
	p->completion = p->completion <= last ? p->completion : last + 1;
	assert_int_equal(auc_plan_add_run(p, p->start, p->completion - 1, NULL), AUC_OK);
	for (; s < m->nservers; s += pick(r, 1, m->nservers))
		assert_int_equal(auc_plan_add_share(p, s, pick(r, 1, 4), 0, NULL), AUC_OK);
	if (auc_market_book(m, p, p->start, p->completion, NULL) != AUC_OK)
		auc_plan_reset(p);
}

static void change(struct shop *shop, struct tiny_random *r)
{
	struct auc_market *m = shop->m;
	struct auc_closure closure = {pick(r, 0, m->nservers - 1), some_slot(r, m),
				      some_slot(r, m)};
	unsigned roles[SERVERS], s, n = pick(r, 1, 4);

	switch (pick(r, 0, 9)) {
	case 0:
		auc_market_advance(m, m->first + pick(r, 0, tiny_chance(r, 0.1) ? 120 : 2));
		break;
	case 1:
		(void)auc_market_close(m, &closure, closure.from <= closure.to, NULL);
		break;
	case 2:
		for (s = 0; s < m->nservers; s++)
			roles[s] = tiny_chance(r, 0.5) ? AUC_ROLES_ALL : AUC_ROLE_PS;
		auc_market_set_roles(m, roles);
		break;
	case 3:
		(void)auc_market_reserve(m, closure.server, 0, closure.from, closure.to, 1, NULL);
		break;
	default:
		while (n--)
			book_or_unbook(shop, r);
	}
}

/* Every window of a type, looked at slot by slot. */
static void check_rooms(const struct auc_policy_ctx *ctx, const struct auc_market *m, unsigned w)
{
	int64_t least[SERVERS], sum, known;
	unsigned end, d, s;
	int32_t fit;
	bool many;

	for (end = 1; end <= m->slots; end++) {
		for (s = 0; s < m->nservers; s++)
			least[s] = INT64_MAX;
		for (d = 1; d <= end; d++) {
			known = dps_room_of(dps_rooms(&ctx->room[w], end), d);
			for (many = false, sum = 0, s = 0; s < m->nservers; s++) {
				fit = auc_type_fit(&m->cache[w], end - d, s);
				least[s] = fit < least[s] ? fit : least[s];
				sum += least[s];
				many = many || least[s] > 8000;
			}
			if (d > DPS_ROOM || many)
				assert_true(known >= sum);
			else
				assert_int_equal(known, sum);
		}
	}
}

static void quote(struct auc_policy_ctx *ctx, const struct auc_market *m)
{
	unsigned upload[SERVERS] = {0};
	struct auc_job job = {.arrival = m->first,
			      .upload = upload,
			      .epochs = 1,
			      .chunks = 4,
			      .minibatches = 1,
			      .worker_seconds = {60, 60},
			      .utility = {.scale = 10}};
	struct auc_decision d;

	auc_decision_init(&d);
	job.utility.form = AUC_FORM_CONSTANT;
	assert_int_equal(auc_policy_dps.quote(ctx, m, &job, &d, NULL), AUC_OK);
	auc_decision_clear(&d);
	for (unsigned w = 0; w < TYPES; w++)
		check_rooms(ctx, m, w);
}

static void test_room(void **state)
{
	struct tiny_random r;
	struct auc_policy_ctx *ctx;
	struct shop shops[2];
	unsigned servers, slots;

	(void)state;
	assert_int_equal(auc_policy_dps.create("", &ctx, NULL), AUC_OK);
	for (unsigned i = 0; i < property.markets; i++) {
		r.state = property.seed = property.first_seed + i;
		servers = some_servers[pick(&r, 0, 4)];
		slots = some_slots[pick(&r, 0, 4)];
		for (unsigned k = 0; k < 2; k++)
			open_shop(&shops[k], &r, servers, slots);
		for (unsigned turn = 0; turn < 40; turn++) {
			struct shop *shop = &shops[tiny_chance(&r, 0.1)];

			change(shop, &r);
			quote(ctx, shop->m);
		}
		for (unsigned k = 0; k < 2; k++)
			close_shop(&shops[k]);
	}
	auc_policy_dps.destroy(ctx);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(
		cmocka_run_group_tests_name("dps_room", tests, NULL, sound_teardown));
}
