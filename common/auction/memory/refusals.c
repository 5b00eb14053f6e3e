/* refusals.c - see refusals.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auction/memory/refusals.h"

#define USERS 4096

struct auc_refusals {
	struct {
		uint32_t uid;
		double when;
		char *text; /* NULL: none */
	} of[USERS];
};

struct auc_refusals *auc_refusals_create(void)
{
	return calloc(1, sizeof(struct auc_refusals));
}

void auc_refusals_destroy(struct auc_refusals *r)
{
	for (unsigned i = 0; r && i < USERS; i++)
		free(r->of[i].text);
	free(r);
}

void auc_refusals_keep(struct auc_refusals *r, uint32_t uid, double when, const char *text)
{
	unsigned i = uid % USERS;

	free(r->of[i].text);
	r->of[i].text = strdup(text);
	r->of[i].uid = uid;
	r->of[i].when = when;
}

const char *auc_refusals_find(const struct auc_refusals *r, uint32_t uid, double *when)
{
	unsigned i = uid % USERS;

	if (!r->of[i].text || r->of[i].uid != uid)
		return NULL;
	*when = r->of[i].when;
	return r->of[i].text;
}
