/* pool.c - see pool.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "pricing/dual/pool.h"

#define FEW_SIZES 4

/* A server of the pool. */
struct stand_in {
	bool single; /* the one member itself; else all members' workers (and PSs, if these need not
			share) */
	unsigned roles;
	unsigned first; /* of pool.members */
	unsigned nmembers;
};

struct auc_pool {
	unsigned nservers, ntres; /* of the market */
	bool one_server;
	bool *used[2]; /* some worker type (PS type) takes of it, by TRES of the market */
	unsigned nclasses;
	struct auc_class *classes;
	uint32_t *class_of; /* by server and TRES */
	unsigned nstand_ins;
	struct stand_in *stand_ins;
	unsigned *members;
};

static bool used_by(const struct auc_market *m, bool ps, unsigned tres);
static bool same_class(const struct auc_market *m, unsigned a, unsigned b, unsigned tres,
		       bool by_size, bool few);
static enum auc_code make_classes(struct auc_pool *p, const struct auc_market *m,
				  struct auc_err *err);
static void make_kinds(struct auc_pool *p, const struct auc_market *m);
static enum auc_code make_singles(struct auc_pool *p, const struct auc_market *m,
				  struct auc_err *err);
static enum auc_code add_servers(const struct auc_pool *p, const struct auc_market *m,
				 struct auc_market *to, struct auc_err *err);
static enum auc_code add_types(const struct auc_market *m, struct auc_market *to,
			       struct auc_err *err);
static enum auc_code book(const struct auc_pool *p, const struct auc_market *m, auc_slot from,
			  struct auc_market *to, struct auc_err *err);
static double booked(const struct auc_pool *p, const struct auc_market *m, const struct stand_in *s,
		     unsigned tres, unsigned t);

enum auc_code auc_pool_create(const struct auc_market *m, bool one_server, struct auc_pool **out,
			      struct auc_err *err)
{
	size_t n = m->nservers, cells = n * m->ntres + 1;
	struct auc_pool *p = calloc(1, sizeof(*p));
	enum auc_code rc;

	*out = NULL;
	if (!p)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	p->nservers = m->nservers;
	p->ntres = m->ntres;
	p->one_server = one_server;
	p->class_of = calloc(cells, sizeof(*p->class_of));
	p->classes = calloc(cells, sizeof(*p->classes));
	p->stand_ins = calloc(2 * n + 1, sizeof(*p->stand_ins));
	p->members = calloc(2 * n + 1, sizeof(*p->members));
	p->used[0] = calloc(m->ntres + 1, sizeof(**p->used));
	p->used[1] = calloc(m->ntres + 1, sizeof(**p->used));
	if (p->class_of && p->classes && p->stand_ins && p->members && p->used[0] && p->used[1])
		rc = make_classes(p, m, err);
	else
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	if (rc == AUC_OK)
		auc_pool_add_types(p, m);
	if (rc == AUC_OK)
		make_kinds(p, m);
	if (rc == AUC_OK && one_server)
		rc = make_singles(p, m, err);
	if (rc == AUC_OK)
		*out = p;
	else
		auc_pool_destroy(p);
	return rc;
}

void auc_pool_destroy(struct auc_pool *p)
{
	if (!p)
		return;
	free(p->class_of);
	free(p->classes);
	free(p->stand_ins);
	free(p->members);
	free(p->used[0]);
	free(p->used[1]);
	free(p);
}

void auc_pool_add_types(struct auc_pool *p, const struct auc_market *m)
{
	unsigned k, ps;

	for (k = 0; k < p->ntres; k++)
		for (ps = 0; ps < 2; ps++)
			p->used[ps][k] = p->used[ps][k] || used_by(m, ps, k);
}

void auc_pool_add_gangs(struct auc_pool *p)
{
	for (unsigned k = 0; k < p->ntres; k++)
		p->used[0][k] = true;
}

unsigned auc_pool_nclasses(const struct auc_pool *p)
{
	return p->nclasses;
}

const struct auc_class *auc_pool_class(const struct auc_pool *p, unsigned i)
{
	return &p->classes[i];
}

int auc_pool_class_of(const struct auc_pool *p, unsigned server, unsigned tres)
{
	uint32_t c = p->class_of[(size_t)server * p->ntres + tres];

	return c == AUC_DUAL_NO_GROUP ? -1 : (int)c;
}

/* -- classes -- */

/* True if some type of workers (PSs) takes of TRES; or if there are no such types. */
static bool used_by(const struct auc_market *m, bool ps, unsigned tres)
{
	unsigned first = ps ? m->nworker_types : 0;
	unsigned n = ps ? m->nps_types : m->nworker_types, i;

	for (i = first; i < first + n; i++)
		if (m->types[i].units[tres])
			return true;
	return !n;
}

static enum auc_code make_classes(struct auc_pool *p, const struct auc_market *m,
				  struct auc_err *err)
{
	int64_t *sizes = calloc((size_t)m->nservers + 1, sizeof(*sizes)), units;
	unsigned nsizes, s, k, i, first;
	struct auc_class *c;
	bool by_size;
	double amount;

	if (!sizes)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	for (k = 0; k < m->ntres; k++) {
		by_size = p->one_server && m->nps_types && used_by(m, true, k);
		nsizes = 0;
		for (s = 0; s < m->nservers && by_size; s++) {
			units = m->servers[s].units[k];
			for (i = 0; i < nsizes && sizes[i] != units; i++)
				;
			if (i == nsizes && units)
				sizes[nsizes++] = units;
		}
		first = p->nclasses;
		for (s = 0; s < m->nservers; s++) {
			p->class_of[(size_t)s * m->ntres + k] = AUC_DUAL_NO_GROUP;
			if (!m->servers[s].units[k])
				continue;
			for (i = first; i < p->nclasses; i++)
				if (same_class(m, p->classes[i].server, s, k, by_size,
					       nsizes <= FEW_SIZES))
					break;
			c = &p->classes[i];
			amount = m->servers[s].amount[k];
			if (i == p->nclasses) {
				p->nclasses++;
				*c = (struct auc_class){
					.tres = k, .server = s, .least = amount, .most = amount};
				strcpy(c->name, m->tres[k].name);
			}
			c->nservers++;
			c->least = amount < c->least ? amount : c->least;
			c->most = amount > c->most ? amount : c->most;
			p->class_of[(size_t)s * m->ntres + k] = i;
		}
	}
	free(sizes);
	return AUC_OK;
}

static bool same_class(const struct auc_market *m, unsigned a, unsigned b, unsigned tres,
		       bool by_size, bool few)
{
	const struct auc_server *x = &m->servers[a], *y = &m->servers[b];

	if (x->cloud != y->cloud || x->roles != y->roles || strcmp(x->group, y->group) != 0)
		return false;
	if (!by_size)
		return true;
	if (few)
		return x->units[tres] == y->units[tres];
	return __builtin_clzll((unsigned long long)x->units[tres]) ==
	       __builtin_clzll((unsigned long long)y->units[tres]);
}

/* -- servers that stand for others -- */

/* True if all that A and B have for workers (PSs, too, if these need not share a server) is of the
 * same classes. */
static bool same_kind(const struct auc_pool *p, const struct auc_market *m, unsigned a, unsigned b)
{
	unsigned k;

	for (k = 0; k < p->ntres; k++)
		if ((used_by(m, false, k) || (!p->one_server && used_by(m, true, k))) &&
		    p->class_of[(size_t)a * p->ntres + k] != p->class_of[(size_t)b * p->ntres + k])
			return false;
	return m->servers[a].roles == m->servers[b].roles;
}

static void make_kinds(struct auc_pool *p, const struct auc_market *m)
{
	unsigned roles = p->one_server ? AUC_ROLE_WORKER : AUC_ROLE_WORKER | AUC_ROLE_PS;
	unsigned at = 0, s, i, own, k;
	struct stand_in *to;

	for (s = 0; s < m->nservers; s++) {
		own = m->servers[s].roles;
		for (i = 0; i < p->nstand_ins; i++)
			if (same_kind(p, m, p->members[p->stand_ins[i].first], s))
				break;
		if (i < p->nstand_ins || !(own & roles))
			continue;
		to = &p->stand_ins[p->nstand_ins++];
		*to = (struct stand_in){.roles = own & roles, .first = at};
		for (k = s; k < m->nservers; k++)
			if (same_kind(p, m, s, k))
				p->members[at + to->nmembers++] = k;
		at += to->nmembers;
	}
}

/* Servers of true size until each class of PSs' TRES has one. */
static enum auc_code make_singles(struct auc_pool *p, const struct auc_market *m,
				  struct auc_err *err)
{
	unsigned at = p->nstand_ins ? p->stand_ins[p->nstand_ins - 1].first +
					      p->stand_ins[p->nstand_ins - 1].nmembers
				    : 0;
	unsigned s, k, own;
	bool covers, *covered = calloc((size_t)p->nclasses + 1, sizeof(*covered));
	uint32_t c;

	if (!covered)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	for (s = 0; s < m->nservers; s++) {
		own = m->servers[s].roles;
		for (covers = false, k = 0; (own & AUC_ROLE_PS) && k < p->ntres; k++) {
			c = p->class_of[(size_t)s * p->ntres + k];
			if (c == AUC_DUAL_NO_GROUP || !used_by(m, true, k))
				continue;
			covers = covers || !covered[c];
			covered[c] = true;
		}
		if (!covers)
			continue;
		p->members[at] = s;
		p->stand_ins[p->nstand_ins++] = (struct stand_in){
			.single = true, .roles = own, .first = at++, .nmembers = 1};
	}
	free(covered);
	return AUC_OK;
}

/* -- its market -- */

enum auc_code auc_pool_market(const struct auc_pool *p, const struct auc_market *m, auc_slot from,
			      bool gangs_only, struct auc_market **pooled, struct auc_err *err)
{
	static const struct auc_price none;
	struct auc_market *to = auc_market_create(m->slots, m->slot_seconds, m->first);
	enum auc_code rc;

	*pooled = NULL;
	if (!to)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	rc = add_servers(p, m, to, err);
	if (rc == AUC_OK)
		rc = add_types(m, to, err);
	if (gangs_only)
		auc_market_gangs_only(to);
	if (rc == AUC_OK)
		rc = auc_market_ready(to, &none, err);
	if (rc == AUC_OK)
		rc = book(p, m, from, to, err);
	if (rc == AUC_OK)
		*pooled = to;
	else
		auc_market_destroy(to);
	return rc;
}

static enum auc_code add_servers(const struct auc_pool *p, const struct auc_market *m,
				 struct auc_market *to, struct auc_err *err)
{
	struct auc_named capacity[AUC_TRES_MAX];
	const struct auc_server *first;
	const struct stand_in *s;
	enum auc_code rc = AUC_OK;
	char name[AUC_NAME_MAX];
	unsigned i, k, n;
	int64_t units;

	for (s = p->stand_ins; s < p->stand_ins + p->nstand_ins && rc == AUC_OK; s++) {
		first = &m->servers[p->members[s->first]];
		for (n = 0, k = 0; k < m->ntres; k++) {
			if (!s->single && k < p->ntres && !p->used[0][k] &&
			    (p->one_server || !p->used[1][k]))
				continue;
			for (units = 0, i = 0; i < s->nmembers; i++)
				units += m->servers[p->members[s->first + i]].units[k];
			if (!units)
				continue;
			strcpy(capacity[n].name, m->tres[k].name);
			capacity[n++].value = (double)units / (double)m->tres[k].scale;
		}
		snprintf(name, sizeof(name), "pool%u", (unsigned)(s - p->stand_ins));
		rc = auc_market_add_server(to, name, first->group, first->cloud, s->roles, 0,
					   capacity, n, err);
	}
	return rc;
}

static enum auc_code add_types(const struct auc_market *m, struct auc_market *to,
			       struct auc_err *err)
{
	struct auc_named tres[AUC_TRES_MAX];
	const struct auc_bundle *b;
	enum auc_code rc = AUC_OK;
	unsigned n, i, k;
	bool ps;

	for (i = 0; i < m->nworker_types + m->nps_types && rc == AUC_OK; i++) {
		b = &m->types[i];
		ps = i >= m->nworker_types;
		for (n = 0, k = 0; k < b->nused; k++) {
			strcpy(tres[n].name, m->tres[b->used[k]].name);
			tres[n++].value = b->amount[b->used[k]];
		}
		if (b->kept)
			rc = auc_market_keep_type(to, ps, b->name, tres, n, err);
		else if (ps)
			rc = auc_market_add_ps_type(to, b->name, tres, n, b->bandwidth, err);
		else
			rc = auc_market_add_worker_type(to, b->name, tres, n, b->bandwidth, err);
	}
	return rc;
}

/* Sets aside in TO what is sold in M from slot FROM on. */
static enum auc_code book(const struct auc_pool *p, const struct auc_market *m, auc_slot from,
			  struct auc_market *to, struct auc_err *err)
{
	unsigned begin = from > m->first ? (unsigned)(from - m->first) : 0, s, k, t;
	enum auc_code rc = AUC_OK;
	double amount, capacity;
	int at;

	auc_market_begin_bulk(to);
	for (s = 0; s < p->nstand_ins; s++)
		for (k = 0; k < p->ntres; k++) {
			at = auc_market_find_tres(to, m->tres[k].name);
			capacity = at < 0 ? 0 : auc_market_capacity(to, s, (unsigned)at);
			for (t = begin; capacity > 0 && t < m->slots && rc == AUC_OK; t++) {
				amount = booked(p, m, &p->stand_ins[s], k, t);
				amount = amount < capacity ? amount : capacity;
				if (amount > 0)
					rc = auc_market_reserve(to, s, (unsigned)at, m->first + t,
								m->first + t, amount, err);
			}
		}
	auc_market_end_bulk(to);
	return rc;
}

/* All that members sold; of a server of true size, the least that one of its class sold. */
static double booked(const struct auc_pool *p, const struct auc_market *m, const struct stand_in *s,
		     unsigned tres, unsigned t)
{
	unsigned member = p->members[s->first], i;
	uint32_t c = p->class_of[(size_t)member * p->ntres + tres];
	int64_t sum = 0, least, used;

	if (!s->single) {
		for (i = 0; i < s->nmembers; i++)
			sum += m->used[auc_cell(m, t, p->members[s->first + i]) * m->ntres + tres];
		return (double)sum / (double)m->tres[tres].scale;
	}
	least = m->used[auc_cell(m, t, member) * m->ntres + tres];
	for (i = p->classes[c].server; i < m->nservers && least > 0; i++) {
		used = m->used[auc_cell(m, t, i) * m->ntres + tres];
		if (p->class_of[(size_t)i * p->ntres + tres] == c && used < least)
			least = used;
	}
	return (double)least / (double)m->tres[tres].scale;
}

/* True if nothing more is sold there. */
static bool gone(const struct auc_market *m, unsigned server, size_t cell)
{
	return !m->servers[server].roles || (m->closed && m->closed[cell]);
}

enum auc_code auc_pool_capacity(const struct auc_pool *p, const struct auc_market *m, auc_slot from,
				double **capacity, struct auc_err *err)
{
	unsigned begin = from > m->first ? (unsigned)(from - m->first) : 0, s, k, t;
	double *all = calloc((size_t)p->nclasses * m->slots + 1, sizeof(*all));
	size_t cell;
	uint32_t c;

	*capacity = all;
	if (!all)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	for (t = begin; t < m->slots; t++)
		for (s = 0; s < m->nservers; s++) {
			cell = auc_cell(m, t, s);
			for (k = 0; k < p->ntres && !gone(m, s, cell); k++) {
				c = p->class_of[(size_t)s * p->ntres + k];
				if (c != AUC_DUAL_NO_GROUP)
					all[(size_t)c * m->slots + t] +=
						(double)(m->servers[s].units[k] -
							 m->used[cell * m->ntres + k]) /
						(double)m->tres[k].scale;
			}
		}
	return AUC_OK;
}

enum auc_code auc_pool_groups(const struct auc_pool *p, const struct auc_market *m,
			      const struct auc_market *pooled, uint32_t **group,
			      struct auc_err *err)
{
	size_t cells = (size_t)p->nstand_ins * pooled->ntres;
	unsigned s, k;
	int at;

	*group = malloc((cells + 1) * sizeof(**group));
	if (!*group)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	for (s = 0; s < p->nstand_ins; s++)
		for (k = 0; k < pooled->ntres; k++) {
			at = auc_market_find_tres(m, pooled->tres[k].name);
			(*group)[(size_t)s * pooled->ntres + k] =
				at < 0 || !pooled->servers[s].units[k]
					? AUC_DUAL_NO_GROUP
					: p->class_of[(size_t)p->members[p->stand_ins[s].first] *
							      p->ntres +
						      (unsigned)at];
		}
	return AUC_OK;
}

/* The shapes of JOB, of M, in TRES of POOL. */
static enum auc_code take_shapes(const struct auc_market *m, const struct auc_market *pool,
				 const struct auc_job *job, struct auc_job *pooled,
				 struct auc_err *err)
{
	struct auc_named amounts[AUC_TRES_MAX];
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < job->nshapes && rc == AUC_OK; i++) {
		const struct auc_shape *shape = &job->shapes[i];
		unsigned n = 0, added = pooled->nshapes;

		for (unsigned k = 0; k < m->ntres; k++)
			if (shape->amount[k] > 0) {
				strcpy(amounts[n].name, m->tres[k].name);
				amounts[n++].value = shape->amount[k];
			}
		if (!n) /* it asks for nothing that there is */
			continue;
		rc = auc_job_add_shape(pool, pooled, amounts, n, shape->nodes, shape->seconds, err);
		/* what is too small to count among so many is as good as none */
		if (rc == AUC_EINVAL)
			rc = AUC_OK;
		else if (rc == AUC_OK)
			pooled->shapes[added].never |= shape->never;
	}
	return rc;
}

enum auc_code auc_pool_job(const struct auc_pool *p, const struct auc_market *m,
			   const struct auc_market *pool, const struct auc_job *job,
			   struct auc_job *pooled, struct auc_err *err)
{
	unsigned *upload = malloc((p->nstand_ins + 1) * sizeof(*upload)), s, i, n, one;
	double sum;

	if (!upload)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	for (s = 0; s < p->nstand_ins; s++) {
		for (sum = 0, n = 0, i = 0; i < p->stand_ins[s].nmembers; i++) {
			one = job->upload[p->members[p->stand_ins[s].first + i]];
			if (one != UINT32_MAX) {
				sum += one;
				n++;
			}
		}
		upload[s] =
			2 * n < p->stand_ins[s].nmembers ? UINT32_MAX : (unsigned)(sum / n + 0.5);
	}
	*pooled = *job;
	pooled->ndata = pooled->data_alloc = 0;
	pooled->data = NULL;
	pooled->upload = upload;
	pooled->upload_alloc = p->nstand_ins;
	pooled->shapes = NULL;
	pooled->nshapes = pooled->shapes_alloc = 0;
	return take_shapes(m, pool, job, pooled, err);
}
