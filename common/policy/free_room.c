/* free_room.c - see free_room.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "policy/free_room.h"

static enum auc_code make_room(struct auc_free_room *r, const struct auc_market *m,
			       struct auc_err *err);

enum auc_code auc_free_room_open(struct auc_free_room *r, const struct auc_market *m, auc_slot t,
				 struct auc_err *err)
{
	enum auc_code rc = auc_free_room_open_empty(r, m, err);
	const int64_t *used;
	const uint8_t *closed;
	size_t i;
	unsigned s;

	if (rc != AUC_OK)
		return rc;
	if (t < m->first || t > auc_market_last(m)) {
		memset(r->left, 0, (size_t)m->nservers * m->ntres * sizeof(*r->left));
		return AUC_OK;
	}
	used = m->used + auc_cell(m, (unsigned)(t - m->first), 0) * m->ntres;
	for (i = 0; i < (size_t)m->nservers * m->ntres; i++)
		r->left[i] -= used[i];
	closed = m->closed ? m->closed + auc_cell(m, (unsigned)(t - m->first), 0) : NULL;
	for (s = 0; closed && s < m->nservers; s++)
		if (closed[s])
			memset(r->left + (size_t)s * m->ntres, 0, m->ntres * sizeof(*r->left));
	return AUC_OK;
}

enum auc_code auc_free_room_open_empty(struct auc_free_room *r, const struct auc_market *m,
				       struct auc_err *err)
{
	enum auc_code rc = make_room(r, m, err);
	unsigned s, k;

	for (s = 0; s < m->nservers && rc == AUC_OK; s++)
		for (k = 0; k < m->ntres; k++)
			r->left[(size_t)s * m->ntres + k] = m->servers[s].units[k];
	return rc;
}

void auc_free_room_clear(struct auc_free_room *r)
{
	free(r->left);
	memset(r, 0, sizeof(*r));
}

unsigned auc_free_room_fit(const struct auc_free_room *r, unsigned server,
			   const struct auc_bundle *type)
{
	const int64_t *left = r->left + (size_t)server * r->m->ntres;
	int64_t fit = AUC_FIT_MAX, n;
	unsigned i, k;

	if (!(r->m->servers[server].roles & type->role))
		return 0;
	for (i = 0; i < type->nused; i++) {
		k = type->used[i];
		if (k >= r->m->ntres)
			return 0;
		n = left[k] / type->units[k];
		if (n < fit)
			fit = n;
	}
	return fit > 0 ? (unsigned)fit : 0;
}

void auc_free_room_take(struct auc_free_room *r, unsigned server, const struct auc_bundle *type,
			unsigned n)
{
	int64_t *left = r->left + (size_t)server * r->m->ntres;
	unsigned i;

	for (i = 0; i < type->nused; i++)
		left[type->used[i]] -= n * type->units[type->used[i]];
}

void auc_free_room_give(struct auc_free_room *r, unsigned server, const struct auc_bundle *type,
			unsigned n)
{
	int64_t *left = r->left + (size_t)server * r->m->ntres;
	unsigned i;

	for (i = 0; i < type->nused; i++)
		left[type->used[i]] += n * type->units[type->used[i]];
}

static enum auc_code make_room(struct auc_free_room *r, const struct auc_market *m,
			       struct auc_err *err)
{
	size_t n = (size_t)m->nservers * m->ntres + 1;
	int64_t *grown;

	r->m = m;
	if (r->alloc >= n)
		return AUC_OK;
	grown = realloc(r->left, n * sizeof(*grown));
	if (!grown)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a slot of %u servers",
				   m->nservers);
	r->left = grown;
	r->alloc = (unsigned)n;
	return AUC_OK;
}
