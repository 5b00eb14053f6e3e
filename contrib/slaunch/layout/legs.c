/* legs.c - see legs.h */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slaunch/layout/legs.h"
#include "base/num.h"

#define TOUCH                                                                                      \
	1e-6 /* seconds between the end of a leg and the begin of the next that is no pause        \
	      */

static struct leg *course_add(struct legs *c, struct auc_err *err);
static enum auc_code local_parse(const char *text, uint64_t *workers, uint64_t *ps);

enum auc_code legs_make(struct legs *c, const struct auc_receipt *r, uint32_t lead,
			const char *lead_node, double now, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	memset(c, 0, sizeof(*c));
	for (unsigned i = 0; i < r->nruns && rc == AUC_OK; i++) {
		double begin = r->runs[i].from * r->slot_seconds,
		       end = (r->runs[i].to + 1) * r->slot_seconds;
		struct leg *last, *leg;
		struct auc_err why = {0};

		if (end <= now)
			continue;
		leg = course_add(c, err);
		if (!leg) {
			rc = AUC_ENOMEM;
			break;
		}
		leg->begin = begin;
		leg->end = end;
		rc = layout_make_run(&leg->layout, r, i, lead, lead_node, &why);
		if (rc == AUC_ESTATE) {
			leg->elsewhere = true;
			rc = AUC_OK;
		} else if (rc != AUC_OK) {
			rc = auc_err_set(err, rc, "%s", why.text);
			break;
		}
		last = c->nlegs > 1 ? leg - 1 : NULL;
		if (!last || last->end + TOUCH < begin || last->elsewhere != leg->elsewhere ||
		    !layout_same(&last->layout, &leg->layout, ROLES))
			continue;
		last->end = last->layout.end = end;
		layout_clear(&leg->layout);
		c->nlegs--;
	}
	if (rc != AUC_OK)
		legs_clear(c);
	return rc;
}

enum auc_code legs_add_local(struct legs *c, double begin, const char *text, const char *what,
			     struct auc_err *err)
{
	struct leg *leg, *last = c->nlegs ? &c->legs[c->nlegs - 1] : NULL;
	uint64_t workers, ps;
	enum auc_code rc;

	if (local_parse(text, &workers, &ps) != AUC_OK || (!workers && (ps || !last)))
		return auc_err_set(
			err, AUC_EINVAL,
			"%s%s: expected WORKERS[:PS], 1 to %d workers and at most %d PSs%s", what,
			text, LEGS_LOCAL_MAX, LEGS_LOCAL_MAX, last ? ", or 0 for a pause" : "");
	if (last && begin <= last->begin)
		return auc_err_set(
			err, AUC_EINVAL,
			"%s%s: expected a later time than that of the line or option before", what,
			text);
	if (last && (last->end <= 0 || last->end > begin))
		last->end = last->layout.end = begin;
	if (!workers)
		return AUC_OK;
	leg = course_add(c, err);
	if (!leg)
		return AUC_ENOMEM;
	rc = layout_local(&leg->layout, workers, ps, "localhost", err);
	if (rc != AUC_OK) {
		c->nlegs--;
		return rc;
	}
	leg->begin = leg->layout.begin = begin;
	if (c->nlegs < 2)
		return AUC_OK;
	last = leg - 1;
	if (last->end == begin && layout_same(&last->layout, &leg->layout, ROLES)) {
		last->end = last->layout.end = 0;
		layout_clear(&leg->layout);
		c->nlegs--;
	}
	return AUC_OK;
}

enum auc_code legs_read(struct legs *c, const char *file, double start, struct auc_err *err)
{
	FILE *f = fopen(file, "re");
	enum auc_code rc = AUC_OK;
	char line[200], option[PATH_MAX + 16];

	memset(c, 0, sizeof(*c));
	snprintf(option, sizeof(option), "--plan=%s", file);
	if (!f)
		return auc_err_set(err, AUC_EIO, "%s: %s", option,
				   *file ? strerror(errno) : "expected the name of a file");
	while (rc == AUC_OK && fgets(line, sizeof(line), f)) {
		char when[40], what[40], rest[2], before[sizeof(option) + sizeof(when) + 3];
		int n = sscanf(line, " %39s %39s %1s", when, what, rest);
		double t;

		if (n < 1 || *when == '#')
			continue;
		if (n != 2)
			rc = auc_err_set(err, AUC_EINVAL, "%s: expected lines TIME WORKERS[:PS]",
					 option);
		if (rc == AUC_OK)
			rc = auc_parse_span(when, 1, 0, &t, option, err);
		snprintf(before, sizeof(before), "%s: %s ", option, when);
		if (rc == AUC_OK)
			rc = legs_add_local(c, start + t, what, before, err);
	}
	if (rc == AUC_OK && ferror(f))
		rc = auc_err_set(err, AUC_EIO, "%s: %s", option, strerror(errno));
	fclose(f);
	if (rc == AUC_OK && !c->nlegs)
		rc = auc_err_set(err, AUC_EINVAL, "%s: expected lines TIME WORKERS[:PS]", option);
	if (rc != AUC_OK)
		legs_clear(c);
	return rc;
}

void legs_clear(struct legs *c)
{
	for (unsigned i = 0; i < c->nlegs; i++)
		layout_clear(&c->legs[i].layout);
	free(c->legs);
	memset(c, 0, sizeof(*c));
}

const struct leg *legs_at(const struct legs *c, double t)
{
	for (unsigned i = 0; i < c->nlegs; i++)
		if (c->legs[i].end <= 0 || t < c->legs[i].end)
			return &c->legs[i];
	return NULL;
}

const struct leg *legs_after(const struct legs *c, double t)
{
	const struct leg *leg = legs_at(c, t);

	return leg && leg + 1 < c->legs + c->nlegs ? leg + 1 : NULL;
}

/* A new, empty leg at the end; NULL: no memory. */
static struct leg *course_add(struct legs *c, struct auc_err *err)
{
	struct leg *legs = realloc(c->legs, (c->nlegs + 1) * sizeof(*legs));

	if (!legs) {
		auc_err_set(err, AUC_ENOMEM, "out of memory");
		return NULL;
	}
	c->legs = legs;
	memset(&legs[c->nlegs], 0, sizeof(*legs));
	return &legs[c->nlegs++];
}

/* WORKERS[:PS] */
static enum auc_code local_parse(const char *text, uint64_t *workers, uint64_t *ps)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	char count[16];

	*ps = 0;
	if (n >= sizeof(count))
		return AUC_EINVAL;
	memcpy(count, text, n);
	count[n] = '\0';
	if (auc_parse_count(count, 0, LEGS_LOCAL_MAX, workers, "workers", NULL) != AUC_OK)
		return AUC_EINVAL;
	return colon ? auc_parse_count(colon + 1, 0, LEGS_LOCAL_MAX, ps, "PSs", NULL) : AUC_OK;
}
