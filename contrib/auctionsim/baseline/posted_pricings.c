/*
 * posted_pricings.c - the pricing of the paper of policy posted (Alg. 1), and what it is compared
 * with:
 *
 * - bandit: for each type an upper confidence bound over a grid of prices P = {delta (1 + delta)^z
 *   <= 1}; the first theta n jobs of a type pay nothing. R(p) = p min(n Q^U(p), what can be sold),
 *   ties: the lower price.
 * - top: our reading of TOP (Zhang et al., INFOCOM 2018), which sells single instances: the same
 *   bandit over worker types alone, without nil prices; PSs come with the workers at no charge.
 * - random: both unit prices uniform in [0, 1].
 * - fixed: given unit prices; what the best fixed prices are found and run with.
 *
 * Estimates count every offer. What can be sold is C T / mean duration. With paper: only offers
 * that were taken count (which goes on offering a price that nobody takes), and the supply side is
 * C (T - tau)^U as printed. n is always a forecast (sim_posted_forecast()), and the grid of a type
 * is made with the forecast at its first price.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/baseline/posted_rivals.h"
#include "base/num.h"

#define DELTA_MIN 0.001
#define DELTA_MAX 0.5
#define THETA_MAX 0.1 /* of theta=auto */

/* The prices of one type. */
struct arms {
	unsigned n;
	double delta;
	double *price, *sold, *used; /* by arm; sold: units */
	/* of Q^U = mean + eta * weight + sqrt(eta) * spread */
	double *mean, *weight, *spread;
	double arrivals;
	double done, slots; /* completed jobs, and the sum of their durations */
};

struct bandit {
	const struct auc_posted_terms *terms;
	bool top; /* without PSs and nil prices */
	struct arms arms[AUC_POSTED_KINDS][AUC_TYPES_MAX];
};

static enum auc_code bandit_create(const struct auc_posted_terms *terms, void **self,
				   struct auc_err *err);
static enum auc_code top_create(const struct auc_posted_terms *terms, void **self,
				struct auc_err *err);
static void bandit_destroy(void *self);
static void bandit_offer(void *self, struct auc_posted_offer *offer);
static void bandit_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted);
static void bandit_completed(void *self, const unsigned type[AUC_POSTED_KINDS], double slots);
static double theta_of(const struct auc_posted_terms *terms, double capacity, double n);
static bool make_arms(const struct auc_posted_terms *terms, struct arms *a, double capacity,
		      double n);
static double best_price(const struct auc_posted_terms *terms, const struct arms *a,
			 double capacity, double n);
static void count_offer(const struct auc_posted_terms *terms, struct arms *a, double price,
			unsigned units, bool accepted);
static enum auc_code random_create(const struct auc_posted_terms *terms, void **self,
				   struct auc_err *err);
static void random_offer(void *self, struct auc_posted_offer *offer);
static void random_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted);
static enum auc_code fixed_create(const struct auc_posted_terms *terms, void **self,
				  struct auc_err *err);
static void fixed_offer(void *self, struct auc_posted_offer *offer);

const struct auc_posted_pricing sim_posted_bandit = {
	.summary = "the paper's upper confidence bounds",
	.create = bandit_create,
	.destroy = bandit_destroy,
	.offer = bandit_offer,
	.answered = bandit_answered,
	.completed = bandit_completed,
};

const struct auc_posted_pricing sim_posted_top = {
	.summary = "the same over worker types alone",
	.create = top_create,
	.destroy = bandit_destroy,
	.offer = bandit_offer,
	.answered = bandit_answered,
	.completed = bandit_completed,
};

const struct auc_posted_pricing sim_posted_random = {
	.summary = "any price",
	.create = random_create,
	.destroy = free,
	.offer = random_offer,
	.answered = random_answered,
};

const struct auc_posted_pricing sim_posted_fixed = {
	.summary = "given prices",
	.create = fixed_create,
	.destroy = free,
	.offer = fixed_offer,
};

double sim_posted_forecast(const struct auc_posted_terms *terms, double arrivals, auc_slot now)
{
	double passed = fmax(1, (double)(now - terms->first + 1));

	return fmax(2, terms->slots * arrivals / passed);
}

/* -- the bandit -- */

static enum auc_code bandit_create(const struct auc_posted_terms *terms, void **self,
				   struct auc_err *err)
{
	struct bandit *b = calloc(1, sizeof(*b));

	*self = b;
	if (!b)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	b->terms = terms;
	return AUC_OK;
}

static enum auc_code top_create(const struct auc_posted_terms *terms, void **self,
				struct auc_err *err)
{
	enum auc_code rc = bandit_create(terms, self, err);

	if (rc == AUC_OK)
		((struct bandit *)*self)->top = true;
	return rc;
}

static void bandit_destroy(void *self)
{
	struct bandit *b = self;
	unsigned kind, i;

	for (kind = 0; b && kind < AUC_POSTED_KINDS; kind++)
		for (i = 0; i < AUC_TYPES_MAX; i++)
			free(b->arms[kind][i].price);
	free(b);
}

static void bandit_offer(void *self, struct auc_posted_offer *offer)
{
	struct bandit *b = self;
	double n[AUC_POSTED_KINDS], capacity;
	unsigned kind, type;
	struct arms *a;

	offer->price[AUC_POSTED_WORKER] = offer->price[AUC_POSTED_PS] = 0;
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		type = offer->ask.type[kind];
		a = &b->arms[kind][type];
		n[kind] = sim_posted_forecast(b->terms, a->arrivals + 1, offer->ask.arrival);
		if (!b->top &&
		    a->arrivals + 1 <=
			    theta_of(b->terms, b->terms->capacity[kind][type], n[kind]) * n[kind])
			return;
	}
	for (kind = 0; kind < (b->top ? 1 : AUC_POSTED_KINDS); kind++) {
		type = offer->ask.type[kind];
		a = &b->arms[kind][type];
		capacity = b->terms->capacity[kind][type];
		if (a->n || make_arms(b->terms, a, capacity, n[kind]))
			offer->price[kind] =
				b->terms->ceiling * best_price(b->terms, a, capacity, n[kind]);
	}
}

static void bandit_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted)
{
	struct bandit *b = self;
	struct arms *a;
	unsigned kind;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		a = &b->arms[kind][offer->ask.type[kind]];
		a->arrivals++;
		if (offered && offer->price[kind] > 0 && a->n)
			count_offer(b->terms, a, offer->price[kind] / b->terms->ceiling,
				    offer->ask.count[kind], accepted);
	}
}

static void bandit_completed(void *self, const unsigned type[AUC_POSTED_KINDS], double slots)
{
	struct bandit *b = self;
	unsigned kind;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		b->arms[kind][type[kind]].done++;
		b->arms[kind][type[kind]].slots += slots;
	}
}

static double theta_of(const struct auc_posted_terms *terms, double capacity, double n)
{
	double theta;

	if (terms->theta >= 0)
		return terms->theta;
	theta = pow(terms->slots * capacity * log(n), 2.0 / 3) / n;
	return terms->theta == AUC_POSTED_THETA_PAPER ? theta : fmin(theta, THETA_MAX);
}

/* False: no memory, and the type is free this time. */
static bool make_arms(const struct auc_posted_terms *terms, struct arms *a, double capacity,
		      double n)
{
	double delta = pow(terms->slots * fmax(1, capacity), -1.0 / 3) * pow(log(n), 2.0 / 3),
	       price;
	unsigned i, count = 0;

	if (terms->delta > 0)
		delta *= terms->delta;
	delta = fmin(fmax(delta, DELTA_MIN), DELTA_MAX);
	for (price = delta; price <= 1; price *= 1 + delta)
		count++;
	a->price = calloc((size_t)count * 6, sizeof(*a->price));
	if (!a->price)
		return false;
	a->sold = a->price + count;
	a->used = a->sold + count;
	a->mean = a->used + count;
	a->weight = a->mean + count;
	a->spread = a->weight + count;
	a->n = count;
	a->delta = delta;
	for (i = 0, price = delta; i < count; i++, price *= 1 + delta) {
		a->price[i] = price;
		a->weight[i] = 1;
	}
	return true;
}

static double best_price(const struct auc_posted_terms *terms, const struct arms *a,
			 double capacity, double n)
{
	double eta = log(n), root = sqrt(eta), supply = INFINITY, mu, best = -1, reward;
	unsigned i, at = 0;

	if (terms->paper) {
		mu = a->done > 0 ? terms->slots - a->slots / a->done : 0;
		supply = capacity *
			 (mu + eta / (1 + a->done) + sqrt(eta * fmax(mu, 0) / (1 + a->done)));
	} else if (a->done > 0) {
		supply = capacity * terms->slots * a->done / a->slots;
	}
	for (i = 0; i < a->n; i++) {
		reward = a->price[i] *
			 fmin(n * (a->mean[i] + eta * a->weight[i] + root * a->spread[i]), supply);
		if (reward > best) {
			best = reward;
			at = i;
		}
	}
	return a->price[at];
}

static void count_offer(const struct auc_posted_terms *terms, struct arms *a, double price,
			unsigned units, bool accepted)
{
	double z = round(log(price / a->delta) / log1p(a->delta));
	unsigned i = z <= 0 ? 0 : z >= a->n ? a->n - 1 : (unsigned)z;

	if (terms->paper && !accepted)
		return;
	a->used[i]++;
	a->sold[i] += accepted ? units : 0;
	a->mean[i] = a->sold[i] / a->used[i];
	a->weight[i] = 1 / (1 + a->used[i]);
	a->spread[i] = sqrt(a->mean[i] * a->weight[i]);
}

/* -- any price -- */

struct any {
	uint64_t seed, jobs;
	double ceiling;
};

static enum auc_code random_create(const struct auc_posted_terms *terms, void **self,
				   struct auc_err *err)
{
	struct any *any = calloc(1, sizeof(*any));

	*self = any;
	if (!any)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	any->seed = terms->seed;
	any->ceiling = terms->ceiling;
	return AUC_OK;
}

static void random_offer(void *self, struct auc_posted_offer *offer)
{
	const struct any *any = self;
	unsigned kind;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		offer->price[kind] =
			any->ceiling *
			auc_posted_luck(any->seed, any->jobs * AUC_POSTED_KINDS + kind);
}

static void random_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted)
{
	(void)offer;
	(void)offered;
	(void)accepted;
	((struct any *)self)->jobs++;
}

/* -- given prices -- */

struct given {
	double price[AUC_POSTED_KINDS][AUC_TYPES_MAX];
};

static enum auc_code fixed_create(const struct auc_posted_terms *terms, void **self,
				  struct auc_err *err)
{
	struct given *given = calloc(1, sizeof(*given));
	const char *text = terms->fixed ? terms->fixed : "";
	unsigned kind, i, wanted = terms->ntypes[0] + terms->ntypes[1], found = *text != '\0';
	enum auc_code rc = AUC_OK;
	char word[64];
	size_t len;

	*self = given;
	if (!given)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	for (const char *c = text; *c; c++)
		found += *c == '/';
	if (found != wanted)
		rc = auc_err_set(err, AUC_EINVAL,
				 "Policy=posted: 'fixed=%.100s' has %u prices, expected %u, of %u "
				 "worker types and %u PS types",
				 text, found, wanted, terms->ntypes[AUC_POSTED_WORKER],
				 terms->ntypes[AUC_POSTED_PS]);
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		for (i = 0; i < terms->ntypes[kind] && rc == AUC_OK; i++) {
			len = strcspn(text, "/");
			snprintf(word, sizeof(word), "%.*s",
				 (int)(len < sizeof(word) ? len : sizeof(word) - 1), text);
			rc = auc_parse_number(word, 0, 1e9, &given->price[kind][i],
					      "Policy=posted: fixed", err);
			text += len + (text[len] == '/');
		}
	if (rc != AUC_OK) {
		free(given);
		*self = NULL;
	}
	return rc;
}

static void fixed_offer(void *self, struct auc_posted_offer *offer)
{
	const struct given *given = self;
	unsigned kind;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		offer->price[kind] = given->price[kind][offer->ask.type[kind]];
}
