/* place.c - where this task stands in the group: see train.h */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/num.h"
#include "train/train.h"

static enum auc_code place_role(struct place *p, const char *name, const char *value,
				struct auc_err *err);
static enum auc_code place_count(const char *name, uint64_t min, uint64_t max, unsigned *value,
				 struct auc_err *err);
static enum auc_code place_auction(struct place *p, struct auc_err *err);
static enum auc_code place_dmlc(struct place *p, struct auc_err *err);
static enum auc_code place_host(struct train_host *h, const char *name, const char *text,
				struct auc_err *err);

enum auc_code place_read(struct place *p, struct auc_err *err)
{
	const char *token = getenv("AUCTION_TOKEN"), *type, *node;
	enum auc_code rc;

	memset(p, 0, sizeof(*p));
	if (getenv("AUCTION_ROLE"))
		rc = place_auction(p, err);
	else if (getenv("DMLC_ROLE"))
		rc = place_dmlc(p, err);
	else
		rc = auc_err_set(err, AUC_EINVAL,
				 "neither AUCTION_ROLE nor DMLC_ROLE is set: start this program "
				 "with slaunch, "
				 "e.g. slaunch --local 3:2 auction-train");
	if (rc == AUC_OK && token && strlen(token) != TRAIN_TOKEN_LEN)
		rc = auc_err_set(err, AUC_EINVAL, "AUCTION_TOKEN: expected %d characters",
				 TRAIN_TOKEN_LEN);
	if (rc != AUC_OK) {
		place_clear(p);
		return rc;
	}
	if (token)
		memcpy(p->token, token, TRAIN_TOKEN_LEN);
	type = getenv(p->role == TRAIN_PS ? "AUCTION_PS_TYPE" : "AUCTION_WORKER_TYPE");
	snprintf(p->type, sizeof(p->type), "%s", type ? type : "");
	node = getenv("SLURMD_NODENAME");
	snprintf(p->node, sizeof(p->node), "%s", node ? node : "");
	p->elastic = getenv("AUCTION_ELASTIC") != NULL;
	p->id = p->rank;
	if (!getenv("AUCTION_ID"))
		return AUC_OK;
	rc = auc_parse_count(getenv("AUCTION_ID"), 0, TRAIN_ID_MAX, &p->id, "AUCTION_ID", err);
	if (rc != AUC_OK)
		place_clear(p);
	return rc;
}

void place_clear(struct place *p)
{
	free(p->ps);
	memset(p, 0, sizeof(*p));
}

enum auc_code pace_parse(const char *text, const char *type, double *seconds, struct auc_err *err)
{
	char *copy, *save = NULL;
	enum auc_code rc = AUC_OK;

	*seconds = 0;
	if (!strchr(text, '='))
		return auc_parse_span(text, 1, 0, seconds, "--pace", err);
	copy = strdup(text);
	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (char *word = strtok_r(copy, ",", &save); word && rc == AUC_OK;
	     word = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(word, '=');
		double v;

		if (!eq || eq == word) {
			rc = auc_err_set(err, AUC_EINVAL,
					 "--pace=%s: expected TIME or TYPE=TIME,...", text);
			break;
		}
		*eq = '\0';
		rc = auc_parse_span(eq + 1, 1, 0, &v, "--pace", err);
		if (rc == AUC_OK && strcmp(word, type) == 0)
			*seconds = v;
	}
	free(copy);
	return rc;
}

static enum auc_code place_auction(struct place *p, struct auc_err *err)
{
	const char *list = getenv("AUCTION_PS_HOSTS");
	char *copy, *save = NULL, *word;
	enum auc_code rc;
	unsigned n = 0;

	rc = place_role(p, "AUCTION_ROLE", getenv("AUCTION_ROLE"), err);
	if (rc == AUC_OK)
		rc = place_count("AUCTION_NUM_WORKERS", 1, TRAIN_TASKS_MAX, &p->nworkers, err);
	if (rc == AUC_OK)
		rc = place_count("AUCTION_NUM_PS", 1, TRAIN_TASKS_MAX, &p->nps, err);
	if (rc == AUC_OK)
		rc = place_count("AUCTION_RANK", 0, TRAIN_TASKS_MAX, &p->rank, err);
	if (rc != AUC_OK)
		return rc;
	p->ps = calloc(p->nps, sizeof(*p->ps));
	copy = strdup(list ? list : "");
	if (!p->ps || !copy)
		rc = auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (word = rc == AUC_OK ? strtok_r(copy, ",", &save) : NULL;
	     word && n < p->nps && rc == AUC_OK; word = strtok_r(NULL, ",", &save))
		rc = place_host(&p->ps[n++], "AUCTION_PS_HOSTS", word, err);
	if (rc == AUC_OK && (word || n != p->nps))
		rc = auc_err_set(err, AUC_EINVAL,
				 "AUCTION_PS_HOSTS: expected the %u of AUCTION_NUM_PS", p->nps);
	free(copy);
	if (rc == AUC_OK && p->role != TRAIN_SCHEDULER &&
	    p->rank >= (p->role == TRAIN_PS ? p->nps : p->nworkers))
		rc = auc_err_set(err, AUC_EINVAL,
				 "AUCTION_RANK=%u: there are not so many of this role", p->rank);
	return rc;
}

static enum auc_code place_dmlc(struct place *p, struct auc_err *err)
{
	const char *uri = getenv("DMLC_PS_ROOT_URI");
	enum auc_code rc = place_role(p, "DMLC_ROLE", getenv("DMLC_ROLE"), err);

	if (rc == AUC_OK)
		rc = place_count("DMLC_NUM_WORKER", 1, TRAIN_TASKS_MAX, &p->nworkers, err);
	if (rc == AUC_OK)
		rc = place_count("DMLC_NUM_SERVER", 1, 1, &p->nps, err);
	if (rc == AUC_OK && p->role == TRAIN_WORKER)
		rc = place_count("DMLC_WORKER_ID", 0, p->nworkers - 1, &p->rank, err);
	if (rc != AUC_OK)
		return rc;
	p->ps = calloc(1, sizeof(*p->ps));
	if (!p->ps)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	if (!uri || strlen(uri) >= sizeof(p->ps->host))
		return auc_err_set(err, AUC_EINVAL,
				   "DMLC_PS_ROOT_URI: expected the address of the PS");
	strcpy(p->ps->host, uri);
	return place_count("DMLC_PS_ROOT_PORT", 1, 65535, &p->ps->port, err);
}

static enum auc_code place_role(struct place *p, const char *name, const char *value,
				struct auc_err *err)
{
	if (strcmp(value, "worker") == 0)
		p->role = TRAIN_WORKER;
	else if (strcmp(value, "ps") == 0 || strcmp(value, "server") == 0)
		p->role = TRAIN_PS;
	else if (strcmp(value, "scheduler") == 0)
		p->role = TRAIN_SCHEDULER;
	else
		return auc_err_set(err, AUC_EINVAL,
				   "%s=%s: expected worker, ps, server or scheduler", name, value);
	return AUC_OK;
}

static enum auc_code place_count(const char *name, uint64_t min, uint64_t max, unsigned *value,
				 struct auc_err *err)
{
	const char *text = getenv(name);
	enum auc_code rc;
	uint64_t v;

	if (!text)
		return auc_err_set(err, AUC_EINVAL, "%s is not set", name);
	rc = auc_parse_count(text, min, max, &v, name, err);
	if (rc == AUC_OK)
		*value = v;
	return rc;
}

static enum auc_code place_host(struct train_host *h, const char *name, const char *text,
				struct auc_err *err)
{
	if (!auc_hostport_split(text, h->host, sizeof(h->host), &h->port))
		return auc_err_set(err, AUC_EINVAL, "%s: '%s': expected host:port", name, text);
	return AUC_OK;
}
