/* rows.c - see rows.h: the numbers of each row. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/replay/rows.h"

#define BINS_MOST   400 /* of the picture of use */
#define BIN_SECONDS 3600

static int compare_double(const void *a, const void *b);
static void count_users(const struct replay_rows *r, struct row *row, unsigned *order);

enum auc_code rows_make(struct replay_rows *r, struct auc_err *err)
{
	const struct import_log_facts *f = &r->facts;
	double day = (double)f->day_slots * f->slot_seconds;
	struct row *row;

	r->whole = r->done = *f;
	r->done.days = r->done.njobs = r->done.nlimits = 0;
	r->done.gpu_seconds = 0;
	r->bin_seconds = BIN_SECONDS;
	while (f->days * day / r->bin_seconds > BINS_MOST)
		r->bin_seconds *= 2;
	r->nbins = (unsigned)ceil(f->days * day / r->bin_seconds);
	r->user = calloc((size_t)f->njobs + 1, sizeof(*r->user));
	for (row = r->rows; row < r->rows + r->n; row++) {
		row->day_welfare = calloc((size_t)f->days + 1, sizeof(*row->day_welfare));
		row->wait = calloc((size_t)f->njobs + 1, sizeof(*row->wait));
		row->use = calloc((size_t)r->nbins + 1, sizeof(*row->use));
		if (!r->user || !row->day_welfare || !row->wait || !row->use)
			return auc_err_set(err, AUC_ENOMEM, "no memory for %u jobs", f->njobs);
		for (unsigned i = 0; i < f->njobs; i++)
			row->wait[i] = -1;
	}
	return AUC_OK;
}

void rows_clear(struct replay_rows *r)
{
	for (struct row *row = r->rows; row < r->rows + ROWS_MAX; row++) {
		free(row->day_welfare);
		free(row->wait);
		free(row->use);
	}
	free(r->user);
	memset(r, 0, sizeof(*r));
}

void rows_ran(struct replay_rows *r, struct row *row, unsigned job, unsigned day, double submit,
	      double start, double seconds, double gpus, double value, double payment, double cost)
{
	double end = start + seconds, from, to;

	row->completed++;
	row->welfare += value - cost;
	row->revenue += payment;
	row->cost += cost;
	row->day_welfare[day] += value - cost;
	row->wait[job] = fmax(0, start - submit) / 3600;
	for (unsigned b = (unsigned)fmax(0, start / r->bin_seconds); b < r->nbins; b++) {
		from = fmax(start, b * r->bin_seconds);
		to = fmin(end, (b + 1) * r->bin_seconds);
		if (to <= from)
			break;
		row->use[b] += gpus * (to - from) / r->bin_seconds;
	}
}

double row_kept(const struct row *row)
{
	return row->welfare + row->cost - row->revenue;
}

enum auc_code rows_finish(struct replay_rows *r, struct auc_err *err)
{
	unsigned *order = calloc((size_t)r->facts.njobs + 1, sizeof(*order)), n, i;
	double *list = calloc((size_t)r->facts.njobs + 1, sizeof(*list)), sum;
	struct row *row;

	if (!order || !list) {
		free(order);
		free(list);
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u jobs", r->facts.njobs);
	}
	for (i = 0; i < r->facts.njobs; i++)
		order[i] = i;
	for (row = r->rows; row < r->rows + r->n; row++) {
		for (n = 0, sum = 0, i = 0; i < r->facts.njobs; i++) {
			if (row->wait[i] < 0)
				continue;
			sum += row->wait[i];
			list[n++] = row->wait[i];
		}
		qsort(list, n, sizeof(*list), compare_double);
		row->wait_mean = n ? sum / n : 0;
		row->wait_median = n ? list[(n - 1) / 2] : 0;
		row->wait_p90 = n ? list[(unsigned)ceil(0.9 * n) - 1] : 0;
		for (sum = 0, i = 0; i < r->nbins; i++)
			sum += row->use[i];
		row->used = r->nbins && r->facts.gpus > 0
				    ? sum * r->bin_seconds /
					      (r->facts.gpus * r->facts.days *
					       (double)r->facts.day_slots * r->facts.slot_seconds)
				    : 0;
		count_users(r, row, order);
	}
	free(order);
	free(list);
	return AUC_OK;
}

enum auc_code rows_finish_early(struct replay_rows *r, struct auc_err *err)
{
	const struct import_log_facts *f = &r->facts;
	enum auc_code rc;

	r->facts = r->done;
	r->nbins =
		(unsigned)ceil(f->days * (double)f->day_slots * f->slot_seconds / r->bin_seconds);
	rc = rows_finish(r, err);
	r->facts.nusers = r->rows->users_served + r->rows->users_without;
	return rc;
}

void rows_missing(const struct replay_rows *r, char *text, size_t size)
{
	*text = '\0';
	if (r->facts.days < r->whole.days)
		snprintf(text, size,
			 "Stopped: this is about the first %u of the %u days of the log.",
			 r->facts.days, r->whole.days);
}

const struct row *rows_find(const struct replay_rows *r, enum row_kind kind)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->rows[i].kind == kind)
			return &r->rows[i];
	return NULL;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int compare_users(const void *a, const void *b, void *arg)
{
	const unsigned *user = arg, i = *(const unsigned *)a, k = *(const unsigned *)b;

	if (user[i] != user[k])
		return user[i] < user[k] ? -1 : 1;
	return (i > k) - (i < k);
}

/* Those who submitted, and none of whose jobs ran. */
static void count_users(const struct replay_rows *r, struct row *row, unsigned *order)
{
	unsigned n = r->facts.njobs, i = 0, user;
	bool served;

	qsort_r(order, n, sizeof(*order), compare_users, r->user);
	while (i < n) {
		user = r->user[order[i]];
		for (served = false; i < n && r->user[order[i]] == user; i++)
			served |= row->wait[order[i]] >= 0;
		if (!user)
			continue;
		if (served)
			row->users_served++;
		else
			row->users_without++;
	}
}
