/* board.c - see board.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "adapter/site.h"
#include "auction/memory/price_log.h"
#include "base/file.h"
#include "base/json.h"
#include "sched/output/board.h"

#define TURNS    0.05      /* seconds of a cycle; the lock is had anew for each shape */
#define FILE_MAX (1 << 26) /* bytes that are read */
#define CLASSES  48        /* that are taken down */

static struct {
	const struct auc_auction *of;
	struct auc_price_log *log;
	unsigned lines; /* of the file; 0: it is to be written anew */
	bool news;
} board;

static bool is_whole(struct json_object *list, int64_t slot);
static void take(struct json_object *summary, double time);
static double price_of(struct json_object *row, const char *which);
static void open_log(const char *dir, const struct auc_auction *a, double now);
static enum auc_code write_file(const char *dir, struct auc_err *err);
static enum auc_code append(const char *path, const char *line, struct auc_err *err);

bool auc_board_keep(struct auc_auction *a)
{
	double until = auc_site_elapsed() + TURNS;

	while (auc_site_elapsed() < until && auc_auction_board_step(a, auc_site_now()))
		board.news = true;
	return board.news;
}

enum auc_code auc_board_record(const char *dir, struct auc_auction *a, struct json_object *summary,
			       double now, struct auc_err *err)
{
	double slot_seconds = auc_auction_conf(a)->slot_seconds;
	int64_t slot = (int64_t)(now / slot_seconds);
	struct json_object *report;

	board.news = false;
	if (board.of != a)
		open_log(dir, a, now);
	if (!board.log || !json_object_object_get_ex(summary, "classes", NULL) ||
	    (int64_t)(auc_price_log_last(board.log) / slot_seconds) == slot ||
	    !is_whole(json_object_object_get(summary, "board"), slot))
		return AUC_OK;
	take(summary, (double)slot * slot_seconds);
	report = auc_price_log_report(board.log, now);
	if (report)
		auc_auction_post_prices(
			a, true, json_object_to_json_string_ext(report, JSON_C_TO_STRING_PLAIN));
	json_object_put(report);
	return write_file(dir, err);
}

/* All of the board is of SLOT. */
static bool is_whole(struct json_object *list, int64_t slot)
{
	size_t n = list ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++)
		if (json_object_get_int64(json_object_object_get(json_object_array_get_idx(list, i),
								 "slot")) != slot)
			return false;
	return true;
}

static void take(struct json_object *summary, double time)
{
	struct json_object *shapes = json_object_object_get(summary, "board");
	struct json_object *classes = json_object_object_get(summary, "classes"), *o, *first;
	const char *tres;
	char name[256];
	double price;

	auc_price_log_moment(board.log, time);
	for (size_t i = 0; shapes && i < json_object_array_length(shapes); i++) {
		o = json_object_array_get_idx(shapes, i);
		auc_price_log_add(board.log, AUC_PRICE_LOG_SHAPE,
				  json_object_get_string(json_object_object_get(o, "shape")),
				  price_of(o, "soonest"), price_of(o, "cheapest"));
	}
	for (size_t i = 0; i < json_object_array_length(classes) && i < CLASSES; i++) {
		o = json_object_array_get_idx(classes, i);
		tres = json_object_get_string(json_object_object_get(o, "tres"));
		first = json_object_array_get_idx(json_object_object_get(o, "times"), 0);
		snprintf(name, sizeof(name), "%s/%s",
			 json_object_get_string(json_object_object_get(o, "partition")),
			 strncmp(tres, "gpu:", 4) ? tres : tres + 4);
		price = json_object_get_double(json_object_array_get_idx(first, 4));
		auc_price_log_add(board.log, AUC_PRICE_LOG_CLASS, name, price, price);
	}
}

static double price_of(struct json_object *row, const char *which)
{
	auc_money m;

	return auc_json_money(json_object_object_get(row, which), "price", &m, NULL) == AUC_OK
		       ? auc_money_to(m)
		       : NAN;
}

/* What is no moment in the file is not kept. */
static void open_log(const char *dir, const struct auc_auction *a, double now)
{
	char path[PATH_MAX], *text = NULL;
	unsigned bad = 1;
	struct stat st;
	FILE *f;

	auc_price_log_destroy(board.log);
	board.log = auc_price_log_create();
	board.of = a;
	board.lines = 0;
	snprintf(path, sizeof(path), "%.4000s/prices", dir);
	f = board.log ? auc_file_open(path) : NULL;
	if (f && !fstat(fileno(f), &st) && st.st_size < FILE_MAX &&
	    (text = malloc((size_t)st.st_size + 1)))
		bad = auc_price_log_read(board.log, text, fread(text, 1, (size_t)st.st_size, f),
					 now);
	free(text);
	if (f)
		fclose(f);
	if (!bad)
		board.lines = auc_price_log_count(board.log);
}

/* A line more, and all anew now and then, so that it does not grow. */
static enum auc_code write_file(const char *dir, struct auc_err *err)
{
	bool all = !board.lines || board.lines > 2 * AUC_PRICE_LOG_MOMENTS;
	char path[PATH_MAX], *text = auc_price_log_print(board.log, all);
	enum auc_code code;

	if (!text)
		return AUC_OK;
	snprintf(path, sizeof(path), "%.4000s/prices", dir);
	code = all ? auc_file_replace(path, text, strlen(text), 0600, false, err)
		   : append(path, text, err);
	/* A line that is there in part is none: the file is written anew. */
	board.lines = code ? 0 : all ? auc_price_log_count(board.log) : board.lines + 1;
	free(text);
	return code;
}

static enum auc_code append(const char *path, const char *line, struct auc_err *err)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len = strlen(line);
	ssize_t n = fd < 0 ? -1 : write(fd, line, len);
	int why = errno;

	if (fd >= 0)
		close(fd);
	if (n == (ssize_t)len)
		return AUC_OK;
	return auc_err_set(err, AUC_EIO, "%s: %s", path, n < 0 ? strerror(why) : "cut short");
}
