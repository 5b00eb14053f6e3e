/* bid_gang.c - see bid_gang.h. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "input/bid_gang.h"
#include "market/timeline.h"

#define NODES_MAX   1000000
#define SECONDS_MAX 1e9
#define TIME_MAX    1e11 /* Unix time */
#define AMOUNT_MAX  1e15
#define KNOWN_SIZE  200

/* For each TRES of a gang the ones of a market that it stands for. */
struct choices {
	unsigned n[AUC_BID_TRES_MAX];
	unsigned tres[AUC_BID_TRES_MAX][AUC_TRES_MAX];
};

static enum auc_code parse_shapes(const char *text, struct auc_bid_gang *g, const char *what,
				  struct auc_err *err);
static enum auc_code parse_places(const char *text, bool except, struct auc_bid_gang *g,
				  const char *what, struct auc_err *err);
static enum auc_code parse_shape(char *text, struct auc_bid_gang *g, const char *what,
				 struct auc_err *err);
static enum auc_code find_choices(const struct auc_market *m, const struct auc_bid_gang *g,
				  struct choices *c, struct auc_err *err);
static enum auc_code add_choices(const struct auc_market *m, const struct auc_bid_gang *g,
				 const struct auc_bid_shape *s, const struct choices *c,
				 struct auc_job *job, struct auc_err *err);
static enum auc_code add_wholes(const struct auc_market *m, const struct auc_bid_gang *g,
				const struct auc_bid_shape *s, const struct choices *c,
				struct auc_job *job, struct auc_err *err);
static enum auc_code parse_block(const char *text, struct auc_bid_gang *g, const char *what,
				 struct auc_err *err);
static bool stands_for(const char *name, const char *tres);
static enum auc_code unknown(const struct auc_market *m, const char *name, struct auc_err *err);

static void print_shape(FILE *out, const struct auc_bid_gang *g, const struct auc_bid_shape *s,
			const char *before)
{
	char number[AUC_NUMBER_LEN];
	const char *comma = "";

	fprintf(out, "%s%llu:%s:", before, (unsigned long long)s->nodes,
		auc_number_str(s->seconds, number));
	for (unsigned k = 0; k < g->ntres; k++) {
		if (!(s->amount[k] > 0))
			continue;
		fprintf(out, "%s%s=%s", comma, g->tres[k], auc_number_str(s->amount[k], number));
		comma = ",";
	}
}

void auc_bid_gang_print(FILE *out, const struct auc_bid_gang *g)
{
	char number[AUC_NUMBER_LEN];

	/* What its user says beside Slurm's options is in the shapes, as soon as there are some. */
	if (!g->nshapes && g->nspeedup) {
		fprintf(out, " speedup=");
		auc_list_print(out, g->speedup, g->nspeedup, "s");
	}
	if (!g->nshapes && g->ngpu_time) {
		fprintf(out, " gpu-time=");
		auc_list_print(out, g->gpu_time, g->ngpu_time, "s");
	}
	for (unsigned i = 0; i < g->nshapes; i++)
		print_shape(out, g, &g->shapes[i], i ? "|" : " gang=");
	if (g->within_switch)
		fprintf(out, " within=switch");
	if (g->whole)
		fprintf(out, " whole=yes");
	if (g->block)
		fprintf(out, " block=yes%s%s", *g->block_users ? "," : "", g->block_users);
	if (*g->features)
		fprintf(out, " features=%s", g->features);
	for (unsigned i = 0; i < g->nplaces; i++)
		fprintf(out, "%s%s", i ? "," : g->except ? " except=" : " only=", g->places[i]);
	if (g->begin > 0)
		fprintf(out, " begin=%s", auc_number_str(g->begin, number));
	if (g->end > 0)
		fprintf(out, " end=%s", auc_number_str(g->end, number));
}

enum auc_code auc_bid_gang_word(const char *key, const char *value, struct auc_bid_gang *g,
				struct auc_err *err)
{
	char what[32];

	snprintf(what, sizeof(what), "--%s", key);
	if (!strcmp(key, "gang"))
		return parse_shapes(value, g, what, err);
	if (!strcmp(key, "only") || !strcmp(key, "except"))
		return parse_places(value, *key == 'e', g, what, err);
	if (!strcmp(key, "begin") || !strcmp(key, "end"))
		return auc_parse_number(value, 0, TIME_MAX, *key == 'b' ? &g->begin : &g->end, what,
					err);
	if (!strcmp(key, "features"))
		return auc_bid_gang_features(value, g, what, err);
	if (!strcmp(key, "block"))
		return parse_block(value, g, what, err);
	if (!strcmp(key, "whole")) {
		g->whole = !strcmp(value, "yes");
		return g->whole ? AUC_OK
				: auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected yes", what,
					      value);
	}
	g->within_switch = !strcmp(value, "switch");
	if (g->within_switch)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected switch", what, value);
}

enum auc_code auc_bid_gang_features(const char *text, struct auc_bid_gang *g, const char *what,
				    struct auc_err *err)
{
	static const char names[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/+-=";
	char between = '\0';

	if (strlen(text) >= sizeof(g->features))
		return auc_err_set(err, AUC_EINVAL, "%s: '%.40s...', expected less than %zu bytes",
				   what, text, sizeof(g->features));
	for (const char *p = text;; p++) {
		size_t n = strspn(p, names);

		p += n;
		if (n && !*p)
			break;
		if (!n || (*p != '&' && *p != '|') || (between && *p != between))
			return auc_err_set(err, AUC_EINVAL,
					   "%s: '%.80s', expected features with & between all of "
					   "them or | between all of them: counts, brackets and "
					   "both together are not sold",
					   what, text);
		between = *p;
	}
	strcpy(g->features, text);
	return AUC_OK;
}

bool auc_bid_gang_wants(const struct auc_bid_gang *g, const char *features)
{
	const char *wanted = g->features, *has = features;
	bool all = !strchr(wanted, '|'), found;
	size_t n, k;

	for (const char *p = wanted; *p; p += n + (p[n] != '\0')) {
		n = strcspn(p, "&|");
		found = false;
		for (const char *q = has; *q && !found; q += k + (q[k] != '\0')) {
			k = strcspn(q, ",");
			found = k == n && !strncmp(p, q, n);
		}
		if (found != all)
			return found;
	}
	return all;
}

static enum auc_code parse_shapes(const char *text, struct auc_bid_gang *g, const char *what,
				  struct auc_err *err)
{
	char *copy = strdup(text), *rest = copy, *shape;
	enum auc_code rc = copy ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "%s: no memory", what);

	while (rc == AUC_OK && (shape = strsep(&rest, "|")))
		rc = parse_shape(shape, g, what, err);
	free(copy);
	return rc;
}

/* NODES:SECONDS:TRES=AMOUNT,... */
static enum auc_code parse_shape(char *text, struct auc_bid_gang *g, const char *what,
				 struct auc_err *err)
{
	const struct auc_list_rule rule = {.syntax = "TRES=AMOUNT",
					   .min = 0,
					   .max = AMOUNT_MAX,
					   .limit = AUC_BID_TRES_MAX,
					   .tres = true};
	char *nodes = strsep(&text, ":"), *seconds = strsep(&text, ":");
	struct auc_named list[AUC_BID_TRES_MAX];
	struct auc_bid_shape *shape;
	enum auc_code rc;
	unsigned n = 0;
	int k;

	if (!nodes || !seconds || !text)
		return auc_err_set(err, AUC_EINVAL, "%s: expected NODES:SECONDS:TRES=AMOUNT,...",
				   what);
	if (g->nshapes == AUC_SHAPES_MAX)
		return auc_err_set(err, AUC_EINVAL, "%s: expected at most %d shapes", what,
				   AUC_SHAPES_MAX);
	shape = &g->shapes[g->nshapes];
	memset(shape, 0, sizeof(*shape));
	rc = auc_parse_count(nodes, 1, NODES_MAX, &shape->nodes, what, err);
	if (rc == AUC_OK)
		rc = auc_parse_number(seconds, 0, SECONDS_MAX, &shape->seconds, what, err);
	if (rc == AUC_OK && !(shape->seconds > 0))
		rc = auc_err_set(err, AUC_EINVAL, "%s: '%s' seconds, expected more than 0", what,
				 seconds);
	if (rc == AUC_OK)
		rc = auc_list_parse(text, &rule, list, &n, NULL, what, err);
	for (unsigned i = 0; rc == AUC_OK && i < n; i++) {
		k = auc_bid_gang_tres(g, list[i].name);
		if (k < 0)
			return auc_err_set(err, AUC_EINVAL, "%s: expected at most %d TRES", what,
					   AUC_BID_TRES_MAX);
		shape->amount[k] = list[i].value;
	}
	if (rc == AUC_OK)
		g->nshapes++;
	return rc;
}

enum auc_code auc_bid_gang_speedup(const char *text, double slot_seconds, struct auc_bid_gang *g,
				   const char *what, struct auc_err *err)
{
	const struct auc_list_rule rule = {
		.syntax = "NODES:TIME, such as 4:3.3h",
		.unit = AUC_UNIT_SECONDS,
		.min = 1,
		.max = SECONDS_MAX,
		.slot_seconds = slot_seconds,
		.limit = AUC_BID_TYPES_MAX,
	};
	char *copy = strdup(text);
	enum auc_code rc;
	uint64_t nodes;

	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", what);
	for (char *p = copy; *p; p++)
		*p = *p == ':' ? '=' : *p;
	rc = auc_list_parse(copy, &rule, g->speedup, &g->nspeedup, NULL, what, err);
	free(copy);
	for (unsigned i = 0; rc == AUC_OK && i < g->nspeedup; i++)
		rc = auc_parse_count(g->speedup[i].name, 1, NODES_MAX, &nodes, what, err);
	return rc;
}

static enum auc_code parse_places(const char *text, bool except, struct auc_bid_gang *g,
				  const char *what, struct auc_err *err)
{
	if (g->nplaces)
		return auc_err_set(err, AUC_EINVAL, "%s: given with only or except", what);
	g->except = except;
	for (size_t n; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (n >= AUC_NAME_MAX || g->nplaces == AUC_BID_PLACES_MAX)
			return auc_err_set(err, AUC_EINVAL,
					   "%s: expected at most %d names of at most %d bytes",
					   what, AUC_BID_PLACES_MAX, AUC_NAME_MAX - 1);
		snprintf(g->places[g->nplaces], AUC_NAME_MAX, "%.*s", (int)n, text);
		if (!auc_name_valid(g->places[g->nplaces++]))
			return auc_err_set(err, AUC_EINVAL, "%s: '%.80s' is no name", what,
					   g->places[g->nplaces - 1]);
	}
	return AUC_OK;
}

/* yes,UID,...,@ACCOUNT,... */
static enum auc_code parse_block(const char *text, struct auc_bid_gang *g, const char *what,
				 struct auc_err *err)
{
	static const char digits[] = "0123456789",
			  letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-+";
	const char *users = text + strcspn(text, ",");

	if (strncmp(text, "yes", 3) || users != text + 3 || (*users && !users[1]))
		return auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected yes", what, text);
	users += *users == ',';
	if (strlen(users) >= sizeof(g->block_users))
		return auc_err_set(err, AUC_EINVAL, "%s: expected less than %zu bytes of users",
				   what, sizeof(g->block_users));
	for (const char *p = users; *p;) {
		size_t n = *p == '@' ? strspn(p + 1, letters) : strspn(p, digits);
		size_t most = *p == '@' ? AUC_NAME_MAX - 1 : 9;

		p += *p == '@';
		if (!n || n > most || (p[n] && (p[n] != ',' || !p[n + 1])))
			return auc_err_set(err, AUC_EINVAL,
					   "%s: '%.80s', expected numbers of users, and accounts "
					   "as @NAME",
					   what, users);
		p += n + (p[n] == ',');
	}
	g->block = true;
	strcpy(g->block_users, users);
	return AUC_OK;
}

int auc_bid_gang_tres(struct auc_bid_gang *g, const char *tres)
{
	unsigned k = 0;

	while (k < g->ntres && strcasecmp(g->tres[k], tres) != 0)
		k++;
	if (k == AUC_BID_TRES_MAX || strlen(tres) >= AUC_NAME_MAX)
		return -1;
	if (k == g->ntres)
		strcpy(g->tres[g->ntres++], tres);
	return (int)k;
}

enum auc_code auc_bid_gang_resolve(const struct auc_market *m, const struct auc_bid_gang *g,
				   struct auc_job *job, struct auc_err *err)
{
	enum auc_code rc;
	struct choices c;

	rc = find_choices(m, g, &c, err);
	for (unsigned i = 0; i < g->nshapes && rc == AUC_OK && g->whole; i++)
		rc = add_wholes(m, g, &g->shapes[i], &c, job, err);
	/* If no node is large enough, the refusal names what was asked for, not a whole node. */
	for (unsigned i = 0; i < g->nshapes && rc == AUC_OK && (!g->whole || !job->nshapes); i++)
		rc = add_choices(m, g, &g->shapes[i], &c, job, err);
	job->within_switch = g->within_switch;
	job->whole = g->whole;
	auc_bid_gang_end(g, auc_market_slot_seconds(m), job->arrival, &job->utility);
	return rc;
}

/* S in all ways to choose a type for each TRES, the last one first. */
static enum auc_code add_choices(const struct auc_market *m, const struct auc_bid_gang *g,
				 const struct auc_bid_shape *s, const struct choices *c,
				 struct auc_job *job, struct auc_err *err)
{
	struct auc_named per_node[AUC_BID_TRES_MAX];
	unsigned at[AUC_BID_TRES_MAX] = {0}, k;
	enum auc_code rc;

	do {
		unsigned n = 0;

		for (k = 0; k < g->ntres; k++) {
			if (!(s->amount[k] > 0))
				continue;
			strcpy(per_node[n].name, auc_market_tres_name(m, c->tres[k][at[k]]));
			per_node[n++].value = s->amount[k];
		}
		rc = auc_job_add_shape(m, job, per_node, n, s->nodes, s->seconds, err);
		for (k = g->ntres; k-- > 0;) {
			if (!(s->amount[k] > 0))
				continue;
			if (++at[k] < c->n[k])
				break;
			at[k] = 0;
		}
	} while (rc == AUC_OK && k < g->ntres);
	return rc;
}

/* True if SERVER, which JOB may use, has what S asks for of some type of each TRES. */
static bool has_enough(const struct auc_market *m, const struct auc_bid_gang *g,
		       const struct auc_bid_shape *s, const struct choices *c,
		       const struct auc_job *job, unsigned server)
{
	if (job->upload[server] == UINT32_MAX || auc_market_is_whole(m, server) ||
	    !(auc_market_hosts(m, server) & AUC_ROLE_WORKER))
		return false;
	for (unsigned k = 0; k < g->ntres; k++) {
		bool enough = !(s->amount[k] > 0);

		for (unsigned i = 0; i < c->n[k] && !enough; i++)
			enough = auc_market_capacity(m, server, c->tres[k][i]) >= s->amount[k];
		if (!enough)
			return false;
	}
	return true;
}

/* For each kind of server that has at least what S says, a shape of all that it has. */
static enum auc_code add_wholes(const struct auc_market *m, const struct auc_bid_gang *g,
				const struct auc_bid_shape *s, const struct choices *c,
				struct auc_job *job, struct auc_err *err)
{
	unsigned first = job->nshapes, like = first;
	struct auc_named all[AUC_TRES_MAX];
	enum auc_code rc = AUC_OK;

	for (unsigned server = 0; server < auc_market_nservers(m) && rc == AUC_OK; server++) {
		const int64_t *units = m->servers[server].units;
		size_t size = auc_market_ntres(m) * sizeof(*units);
		unsigned n = 0;

		if (!has_enough(m, g, s, c, job, server))
			continue;
		/* Mostly it is like the one before. */
		if (like < job->nshapes && !memcmp(job->shapes[like].units, units, size))
			continue;
		for (like = first; like < job->nshapes; like++)
			if (!memcmp(job->shapes[like].units, units, size))
				break;
		if (like < job->nshapes)
			continue;
		for (unsigned k = 0; k < auc_market_ntres(m); k++) {
			strcpy(all[n].name, auc_market_tres_name(m, k));
			all[n].value = auc_market_capacity(m, server, k);
			n += all[n].value > 0;
		}
		rc = auc_job_add_shape(m, job, all, n, s->nodes, s->seconds, err);
	}
	return rc;
}

void auc_bid_gang_end(const struct auc_bid_gang *g, double slot_seconds, int64_t arrival,
		      struct auc_utility *u)
{
	double slots, end = g->now > 0 && g->end > 0 ? fmin(g->now, g->end) : fmax(g->now, g->end);

	if (!(end > 0) || (u->form != AUC_FORM_CONSTANT && u->form != AUC_FORM_DEADLINE))
		return;
	slots = fmax(floor(end / slot_seconds) - (double)arrival, 0) + u->since;
	u->target = u->form == AUC_FORM_DEADLINE ? fmin(u->target, slots) : slots;
	u->form = AUC_FORM_DEADLINE;
}

void auc_bid_gang_confine(const struct auc_market *m, const struct auc_bid_gang *g,
			  struct auc_job *job)
{
	int64_t begin = auc_ceil(g->begin / auc_market_slot_seconds(m)) - job->arrival;
	const char *last = NULL; /* features that were looked at last: mostly there are few */
	bool has = true;
	int named;

	for (unsigned s = 0; s < auc_market_nservers(m); s++) {
		const char *features = auc_market_features(m, s);

		if (*g->features && (!last || strcmp(last, features) != 0)) {
			has = auc_bid_gang_wants(g, features);
			last = features;
		}
		named = 0;
		for (unsigned i = 0; i < g->nplaces && !named; i++)
			named = !strcmp(g->places[i], auc_market_server_name(m, s));
		if (!has || (g->nplaces && named == g->except))
			job->upload[s] = UINT32_MAX;
		else if (begin > (int64_t)job->upload[s])
			job->upload[s] = begin < UINT32_MAX ? (unsigned)begin : UINT32_MAX;
	}
}

static enum auc_code find_choices(const struct auc_market *m, const struct auc_bid_gang *g,
				  struct choices *c, struct auc_err *err)
{
	memset(c, 0, sizeof(*c));
	for (unsigned k = 0; k < g->ntres; k++) {
		for (unsigned i = 0; i < auc_market_ntres(m); i++)
			if (stands_for(g->tres[k], auc_market_tres_name(m, i)))
				c->tres[k][c->n[k]++] = i;
		if (!c->n[k])
			return unknown(m, g->tres[k], err);
	}
	return AUC_OK;
}

/* "gpu" for "gpu" and "gpu:a100", which stands for itself. */
static bool stands_for(const char *name, const char *tres)
{
	size_t len = strlen(name);

	return !strncasecmp(name, tres, len) &&
	       (!tres[len] || (tres[len] == ':' && !strchr(name, ':')));
}

static enum auc_code unknown(const struct auc_market *m, const char *name, struct auc_err *err)
{
	char known[KNOWN_SIZE] = "";
	size_t base = strcspn(name, ":"), n = 0;

	for (unsigned i = 0; i < auc_market_ntres(m) && n < sizeof(known); i++) {
		const char *tres = auc_market_tres_name(m, i);

		if (!strncasecmp(tres, name, base) && (!tres[base] || tres[base] == ':'))
			n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "",
					      tres);
	}
	return auc_err_set(err, AUC_ENOENT, "no node for sale has a '%.*s'%s%s", AUC_NAME_MAX, name,
			   n ? ", expected one of " : "", known);
}
