/* bid_resolve.c - see bid_resolve.h. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "input/bid_gang.h"
#include "input/bid_resolve.h"
#include "market/timeline.h"

#define CHUNK_MB 2 /* of a job that says nothing else */

static enum auc_code unknown(struct auc_err *err, const char *option, const char *what,
			     const char *name);
static enum auc_code resolve_upload(const struct auc_market *m, const struct auc_bid *bid,
				    unsigned *upload, struct auc_err *err);
static enum auc_code resolve_data(const struct auc_market *m, const struct auc_bid *bid,
				  struct auc_job *job, struct auc_err *err);
static int find_site(const struct auc_market *m, const char *name, unsigned *n);
static int by_server(const void *a, const void *b);
static double usual_upload(const struct auc_market *m, const struct auc_bid *bid, unsigned server);
static enum auc_code confine(const struct auc_market *m, const struct auc_bid *bid,
			     unsigned *upload, struct auc_err *err);
static double stood(const struct auc_market *m, const struct auc_bid *bid, auc_slot arrival);
static bool names_partition(const struct auc_bid *bid, const char *name);
static unsigned whole_slots(double slots);

enum auc_code auc_bid_resolve(const struct auc_market *m, const struct auc_bid *bid,
			      auc_slot arrival, struct auc_job *job, struct auc_err *err)
{
	enum auc_code rc;
	unsigned i, *grown;
	int k;

	if (job->upload_alloc < m->nservers) {
		grown = realloc(job->upload, m->nservers * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for a bid");
		job->upload = grown;
		job->upload_alloc = m->nservers;
	}
	job->arrival = arrival;
	job->utility = bid->utility;
	job->utility.since = stood(m, bid, arrival);
	job->epochs = bid->epochs;
	job->chunks = bid->chunks;
	job->minibatches = bid->minibatches;
	job->gradient_mb = bid->gradient_mb;
	job->workers = job->ps = 0;
	job->compute_seconds = 0;
	job->chunk_mb =
		bid->ndata && bid->data_mb > 0 ? bid->data_mb / (double)bid->chunks : CHUNK_MB;
	job->exchange_mb = job->chunks_per_slot = 0;
	job->guaranteed = true;
	job->nshapes = job->ndata = 0;
	job->within_switch = job->whole = job->limited = false;
	for (i = 0; i < AUC_TYPES_MAX; i++)
		job->worker_seconds[i] = job->ps_seconds[i] = -1;
	for (i = 0; i < bid->nworkers; i++) {
		k = auc_market_find_worker_type(m, bid->worker_seconds[i].name);
		if (k < 0 || m->types[k].kept)
			return unknown(err, "worker-time", "worker type",
				       bid->worker_seconds[i].name);
		job->worker_seconds[k] = bid->worker_seconds[i].value;
	}
	for (i = 0; i < bid->nps; i++) {
		k = auc_market_find_ps_type(m, bid->ps_seconds[i].name);
		if (k < 0 || m->ps_types[k].kept)
			return unknown(err, "ps-time", "PS type", bid->ps_seconds[i].name);
		job->ps_seconds[k] = bid->ps_seconds[i].value;
	}
	rc = bid->gang.nshapes ? AUC_OK : resolve_data(m, bid, job, err);
	if (rc == AUC_OK)
		rc = resolve_upload(m, bid, job->upload, err);
	if (rc == AUC_OK)
		auc_bid_gang_confine(m, &bid->gang, job);
	if (rc == AUC_OK)
		rc = confine(m, bid, job->upload, err);
	if (rc == AUC_OK && bid->gang.nshapes)
		rc = auc_bid_gang_resolve(m, &bid->gang, job, err);
	if (rc == AUC_OK && bid->planned > 0)
		auc_job_stretch(job, bid->planned);
	return rc;
}

enum auc_code auc_bid_confine(struct auc_bid *bid, const struct auc_market *m, struct auc_err *err)
{
	unsigned i, s, kept = 0;

	if (!bid->npartitions)
		return AUC_OK;
	/* A server's own word would stand above its group's. */
	for (i = 0; i < bid->nupload; i++) {
		for (s = 0; s < m->nservers && strcmp(m->servers[s].name, bid->upload[i].name); s++)
			;
		if (s == m->nservers ? names_partition(bid, bid->upload[i].name)
				     : names_partition(bid, m->servers[s].group))
			bid->upload[kept++] = bid->upload[i];
	}
	bid->nupload = kept;
	for (s = 0; s < m->nservers; s++) {
		if (!names_partition(bid, m->servers[s].group) ||
		    auc_list_find(bid->upload, bid->nupload, m->servers[s].group))
			continue;
		if (bid->nupload == AUC_BID_UPLOAD_MAX)
			return auc_err_set(err, AUC_EFULL,
					   "--upload: expected fewer sites, with --partition at "
					   "most %d",
					   AUC_BID_UPLOAD_MAX);
		strcpy(bid->upload[bid->nupload].name, m->servers[s].group);
		bid->upload[bid->nupload++].value = fmin(usual_upload(m, bid, s), AUC_WAIT_MAX);
	}
	/* Also in partitions that there will be. */
	bid->upload_default = AUC_WAIT_MAX;
	return AUC_OK;
}

void auc_bid_name_nodes(struct auc_bid *bid, const struct auc_market *m)
{
	unsigned n;
	int s;

	for (unsigned i = 0; i < bid->ndata; i++) {
		s = find_site(m, bid->data[i].name, &n);
		if (s >= 0)
			strcpy(bid->data[i].name, m->servers[s].name);
	}
}

static enum auc_code unknown(struct auc_err *err, const char *option, const char *what,
			     const char *name)
{
	return auc_err_set(err, AUC_ENOENT, "--%s: '%.*s' is no %s of this cluster", option,
			   AUC_NAME_MAX, name, what);
}

/* Where its chunks lie: servers in order, each once. */
static enum auc_code resolve_data(const struct auc_market *m, const struct auc_bid *bid,
				  struct auc_job *job, struct auc_err *err)
{
	struct auc_data *grown;
	unsigned i, n;
	int s;

	job->ndata = 0;
	if (job->data_alloc < bid->ndata) {
		grown = realloc(job->data, bid->ndata * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for a bid");
		job->data = grown;
		job->data_alloc = bid->ndata;
	}
	for (i = 0; i < bid->ndata; i++) {
		s = find_site(m, bid->data[i].name, &n);
		if (s < 0 && n)
			return auc_err_set(err, AUC_ENOENT,
					   "--data: '%.*s' has %u nodes, expected the name of one",
					   AUC_NAME_MAX, bid->data[i].name, n);
		if (s < 0)
			return unknown(err, "data", "node or site", bid->data[i].name);
		job->data[job->ndata++] = (struct auc_data){.server = (unsigned)s,
							    .chunks = (uint64_t)bid->data[i].value};
	}
	if (job->ndata)
		qsort(job->data, job->ndata, sizeof(*job->data), by_server);
	for (i = 1; i < job->ndata; i++)
		if (job->data[i].server == job->data[i - 1].server)
			return auc_err_set(err, AUC_EINVAL, "--data: node '%s' is named twice",
					   m->servers[job->data[i].server].name);
	return AUC_OK;
}

/* The server called NAME, or the only one of the group called so; -1: none, or *N of them. */
static int find_site(const struct auc_market *m, const char *name, unsigned *n)
{
	int found = auc_market_find_server(m, name);

	*n = 0;
	if (found >= 0)
		return found;
	for (unsigned s = 0; s < m->nservers; s++)
		if (!strcmp(m->servers[s].group, name)) {
			found = (int)s;
			(*n)++;
		}
	return *n == 1 ? found : -1;
}

static int by_server(const void *a, const void *b)
{
	const struct auc_data *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}

/* What holds first: server's name, group's name, the bid's default, its data at the server's
 * bandwidth, the server's default. */
static enum auc_code resolve_upload(const struct auc_market *m, const struct auc_bid *bid,
				    unsigned *upload, struct auc_err *err)
{
	const struct auc_named *u;
	bool group, found;
	unsigned i, s;
	int pass;

	for (s = 0; s < m->nservers; s++)
		upload[s] = whole_slots(usual_upload(m, bid, s));
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < bid->nupload; i++) {
			u = &bid->upload[i];
			found = false;
			for (s = 0; s < m->nservers; s++) {
				group = !strcmp(m->servers[s].group, u->name);
				found = found || group || !strcmp(m->servers[s].name, u->name);
				if (pass ? !strcmp(m->servers[s].name, u->name) : group)
					upload[s] = whole_slots(u->value);
			}
			if (!found)
				return auc_err_set(
					err, AUC_ENOENT,
					"--upload: '%.*s' is no server or site of this cluster",
					AUC_NAME_MAX, u->name);
		}
	return AUC_OK;
}

/* Data never arrive on servers outside the partitions that the bid names, if it names any. */
static enum auc_code confine(const struct auc_market *m, const struct auc_bid *bid,
			     unsigned *upload, struct auc_err *err)
{
	bool known[AUC_BID_PARTITIONS_MAX] = {false}, inside;
	unsigned i, s;

	if (!bid->npartitions)
		return AUC_OK;
	for (s = 0; s < m->nservers; s++) {
		inside = false;
		for (i = 0; i < bid->npartitions; i++)
			if (!strcmp(m->servers[s].group, bid->partitions[i]))
				inside = known[i] = true;
		if (!inside)
			upload[s] = UINT32_MAX;
	}
	for (i = 0; i < bid->npartitions; i++)
		if (!known[i] && !bid->filtered)
			return unknown(err, "partition", "partition with nodes for sale",
				       bid->partitions[i]);
	return AUC_OK;
}

/* Slots, of a server that the bid does not name. */
static double usual_upload(const struct auc_market *m, const struct auc_bid *bid, unsigned server)
{
	const struct auc_server *s = &m->servers[server];

	if (bid->upload_default >= 0)
		return bid->upload_default;
	if (bid->data_mb > 0 && !bid->ndata && s->bandwidth > 0)
		return bid->data_mb * 8 / s->bandwidth / m->slot_seconds;
	return s->upload_default;
}

/* Slots for which BID has stood by ARRIVAL. */
static double stood(const struct auc_market *m, const struct auc_bid *bid, auc_slot arrival)
{
	if (!(bid->since > 0))
		return 0;
	return fmax(0, (double)arrival - floor(bid->since / m->slot_seconds + 0.5));
}

static bool names_partition(const struct auc_bid *bid, const char *name)
{
	unsigned i;

	for (i = 0; i < bid->npartitions; i++)
		if (!strcmp(bid->partitions[i], name))
			return true;
	return false;
}

/* The longest wait that a bid may name is for ever. */
static unsigned whole_slots(double slots)
{
	return slots < AUC_WAIT_MAX ? (unsigned)auc_ceil(slots) : UINT32_MAX;
}
