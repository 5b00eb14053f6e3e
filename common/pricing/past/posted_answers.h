/*
 * posted_answers.h - the last answers to posted prices: what was asked for, what was offered, and
 * whether it was taken. They name no user and no job, and do not have the user's limit, which is
 * compared and forgotten. A pricing that gets them again knows what it knew (policy.h: recall()).
 */
#ifndef AUC_POSTED_ANSWERS_H
#define AUC_POSTED_ANSWERS_H

#include "base/err.h"
#include "ledger/ledger.h"
#include "policy/policy.h"

struct json_object;

#define AUC_POSTED_ANSWERS_MAX 4096 /* the oldest go first */

struct auc_posted_answers;

/* NULL: no memory. */
struct auc_posted_answers *auc_posted_answers_create(void);
void auc_posted_answers_destroy(struct auc_posted_answers *l);
struct auc_posted_answers *auc_posted_answers_copy(const struct auc_posted_answers *l);
unsigned auc_posted_answers_count(const struct auc_posted_answers *l);
/* Answer I, 0 the oldest; stays valid until the next is added. */
const struct auc_answer *auc_posted_answers_at(const struct auc_posted_answers *l, unsigned i);
/* Remembers A. AUC_ENOMEM. */
enum auc_code auc_posted_answers_add(struct auc_posted_answers *l, const struct auc_answer *a,
				     struct auc_err *err);

/*
 * A yes that is only said so far: SALE, a lien, has no job yet, and may be a dry run. It is kept in
 * memory alone, until it is taken or AUC_POSTED_ANSWERS_MAX others came. AUC_ENOMEM.
 */
enum auc_code auc_posted_answers_wait(struct auc_posted_answers *l, const char *sale,
				      const struct auc_answer *a, struct auc_err *err);
/* Takes that of SALE out into *A; false: there is none. */
bool auc_posted_answers_take(struct auc_posted_answers *l, const char *sale, struct auc_answer *a);

/* Answer I as an event "answer" (doc/ledger.md); new reference, NULL: no memory. */
struct json_object *auc_posted_answers_event(const struct auc_posted_answers *l, unsigned i);
/* True if EVENT is one of these. */
bool auc_posted_answers_knows(struct json_object *event);
/* Remembers what such an event says. AUC_ECORRUPT. */
enum auc_code auc_posted_answers_apply(struct auc_posted_answers *l, struct json_object *event,
				       struct auc_err *err);

#endif
