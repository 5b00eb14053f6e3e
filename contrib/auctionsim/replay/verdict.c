/*
 * verdict.c - see rows.h: which advice follows from the numbers. Differences between the auction
 * and the queue count if they are larger than what days differ by.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/replay/rows.h"
#include "base/num.h"

#define ENOUGH 0.98 /* of what all jobs could be worth: there is no shortage */
#define MATTER 0.02 /* of the queue's welfare: less is no reason for a change */
#define MANY   0.05 /* of the GPU time, of the users: worth a warning */

/* Two rows, day by day. */
struct contest {
	double gain;        /* in all, as a part of the second */
	double error;       /* of it, from how days differ; INFINITY of fewer than three */
	unsigned won, days; /* of the days that have jobs */
};

static struct contest compare(const struct replay_rows *r, const struct row *a,
			      const struct row *b);
static enum advice choose(const struct replay_rows *r, const struct contest *c,
			  const struct row *auction, const struct row *queue);
static void say(FILE *out, const struct replay_rows *r, enum advice advice, const struct contest *c,
		const struct row *auction, const struct row *queue);
static void say_users(FILE *out, const struct row *auction, const struct row *queue);
static void say_other_prices(FILE *out, const struct replay_rows *r, const struct row *auction,
			     const struct row *queue);
static void say_limits(FILE *out, const struct replay_rows *r, const struct row *queue);

enum auc_code verdict_of(const struct replay_rows *r, enum advice *advice, char **text,
			 struct auc_err *err)
{
	const struct row *auction = rows_find(r, ROW_CONFIGURED), *queue = rows_find(r, ROW_EASY);
	struct contest c = compare(r, auction, queue);
	size_t len;
	FILE *out;

	*text = NULL;
	*advice = choose(r, &c, auction, queue);
	out = open_memstream(text, &len);
	if (!out)
		return auc_err_set(err, AUC_ENOMEM, "no memory for the advice");
	say(out, r, *advice, &c, auction, queue);
	if (*advice != ADVICE_NO_SHORTAGE) {
		say_users(out, auction, queue);
		say_other_prices(out, r, auction, queue);
	}
	say_limits(out, r, queue);
	if (!fclose(out))
		return AUC_OK;
	free(*text);
	*text = NULL;
	return auc_err_set(err, AUC_ENOMEM, "no memory for the advice");
}

const char *verdict_word(enum advice advice)
{
	static const char *const words[] = {
		[ADVICE_NO_SHORTAGE] = "no-shortage", [ADVICE_KEEP_QUEUE] = "keep-queue",
		[ADVICE_NO_MATTER] = "no-matter",     [ADVICE_AUCTION] = "auction",
		[ADVICE_PAID] = "auction-if-paid",
	};

	return words[advice];
}

/* The error is that of the sum of independent days. */
static struct contest compare(const struct replay_rows *r, const struct row *a, const struct row *b)
{
	struct contest c = {.error = INFINITY};
	double sum = 0, squares = 0, d, base = fmax(b->welfare, 1e-9);
	unsigned i;

	for (i = 0; i < r->facts.days; i++) {
		if (!(a->day_welfare[i] > 0) && !(b->day_welfare[i] > 0))
			continue;
		d = a->day_welfare[i] - b->day_welfare[i];
		c.won += d > 0;
		c.days++;
		sum += d;
		squares += d * d;
	}
	c.gain = (a->welfare - b->welfare) / base;
	if (c.days > 2)
		c.error =
			sqrt(fmax(0, squares - sum * sum / c.days) * c.days / (c.days - 1)) / base;
	return c;
}

static enum advice choose(const struct replay_rows *r, const struct contest *c,
			  const struct row *auction, const struct row *queue)
{
	double threshold = fmax(MATTER, c->days > 2 ? 2 * c->error : MATTER);

	if (queue->welfare + queue->cost >= ENOUGH * r->potential && c->gain > -threshold)
		return ADVICE_NO_SHORTAGE;
	if (c->gain <= -threshold)
		return ADVICE_KEEP_QUEUE;
	if (c->gain < threshold)
		return ADVICE_NO_MATTER;
	return row_kept(auction) >= row_kept(queue) ? ADVICE_AUCTION : ADVICE_PAID;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void say(FILE *out, const struct replay_rows *r, enum advice advice, const struct contest *c,
		const struct row *auction, const struct row *queue)
{
	double keep = row_kept(auction);

	switch (advice) {
	case ADVICE_NO_SHORTAGE:
		fprintf(out,
			"No auction is needed: with EASY backfill the jobs are worth %.1f %% of "
			"what "
			"each would be worth alone on the cluster, so there is next to nothing to "
			"share out.\n",
			percent(queue->welfare + queue->cost, r->potential));
		return;
	case ADVICE_KEEP_QUEUE:
		fprintf(out,
			"Keep the queue: the auction is worth %.1f %% less than EASY backfill on "
			"these jobs (more on %u of %u day%s).\n",
			-100 * c->gain, c->won, c->days, auc_plural(c->days));
		break;
	case ADVICE_NO_MATTER:
		if (fabs(c->gain) < 0.0005) {
			fprintf(out,
				"No reason for a change: the auction is worth as much as EASY "
				"backfill on these jobs (more on %u of %u day%s).\n",
				c->won, c->days, auc_plural(c->days));
			break;
		}
		fprintf(out,
			"No reason for a change: the auction is worth %+.1f %% against EASY "
			"backfill "
			"(more on %u of %u day%s), which is within what days differ by or too "
			"little "
			"to matter.\n",
			100 * c->gain, c->won, c->days, auc_plural(c->days));
		break;
	case ADVICE_AUCTION:
		fprintf(out,
			"The auction serves these jobs better: they are worth %.1f %% more than "
			"with "
			"EASY backfill (more on %u of %u day%s), and users keep more even after "
			"paying (%.0f against %.0f).\n",
			100 * c->gain, c->won, c->days, auc_plural(c->days), keep, row_kept(queue));
		break;
	case ADVICE_PAID:
		fprintf(out,
			"The auction serves these jobs better, for a price: they are worth %.1f %% "
			"more than with EASY backfill (more on %u of %u day%s). Users pay %.0f %% "
			"of "
			"that and keep %.0f, against %.0f without paying. That is a gain where "
			"credits are given out and come back, as budgets of a month do, and a loss "
			"to users where they cost money.\n",
			100 * c->gain, c->won, c->days, auc_plural(c->days),
			percent(auction->revenue, auction->welfare + auction->cost), keep,
			row_kept(queue));
		break;
	}
}

/* Who gets nothing, who waits. */
static void say_users(FILE *out, const struct row *auction, const struct row *queue)
{
	unsigned users = auction->users_served + auction->users_without;

	if (users && auction->users_without > queue->users_without + MANY * users)
		fprintf(out,
			"But %u of %u users get nothing at all, against %u in the queue: give each "
			"a budget.\n",
			auction->users_without, users, queue->users_without);
	fprintf(out,
		"The auction runs %u job%s after %.1f h on average, and says at once when; the "
		"queue "
		"runs %u after %.1f h.\n",
		auction->completed, auc_plural(auction->completed), auction->wait_mean,
		queue->completed, queue->wait_mean);
}

static void say_other_prices(FILE *out, const struct replay_rows *r, const struct row *auction,
			     const struct row *queue)
{
	const struct row *none = rows_find(r, ROW_NONE), *learned = rows_find(r, ROW_LEARNED);

	if (learned && learned->welfare > (1 + MATTER) * auction->welfare)
		fprintf(out,
			"Learned prices would be worth %.1f %% more than those of auction.conf: "
			"set "
			"Prices=learned.\n",
			percent(learned->welfare - auction->welfare, auction->welfare));
	if (none && none->welfare > (1 + MATTER) * auction->welfare)
		fprintf(out,
			"Without prices the same bids would be worth %.1f %% more%s: prices hold "
			"back more here than they let in later.\n",
			percent(none->welfare - auction->welfare, auction->welfare),
			none->welfare > (1 + MATTER) * queue->welfare ? ", and more than the queue"
								      : "");
}

/* What the numbers do not say. */
static void say_limits(FILE *out, const struct replay_rows *r, const struct row *queue)
{
	const struct row *exact = rows_find(r, ROW_EXACT);
	const struct import_log_facts *f = &r->whole;
	double lost = f->lost_seconds, all = lost + f->gpu_seconds + f->undrawn_seconds;

	if (lost > MANY * all)
		fprintf(out,
			"%.0f %% of the GPU time of the log is not in these numbers%s: what "
			"follows "
			"from them need not hold for the rest.\n",
			percent(lost, all),
			f->slots_lost_seconds > lost / 2
				? ", most of it in jobs that are longer than the slots for sale"
				: "");
	if (exact && exact->welfare > (1 + MATTER) * queue->welfare)
		fprintf(out,
			"A queue that knew what jobs take, as bids say it, would be worth %.1f %% "
			"more than one that knows limits.\n",
			percent(exact->welfare - queue->welfare, queue->welfare));
	fputs("The values are made up: try other rules (gpu_hour=, urgency=, utility=, slack=) "
	      "before you believe the advice.\n",
	      out);
}
