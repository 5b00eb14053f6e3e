/* patience.c - see patience.h. */
#include "config.h"

#include "adapter/patience.h"

#define LONGEST 10.0 /* seconds */
#define PAUSE   8.0  /* longer than clients wait before they ask again within LONGEST (1 to 4) */

bool auc_patience_lasts(struct auc_patience *p, uint32_t uid, double now)
{
	struct auc_patience_user *u = &p->users[0];
	bool lasts;

	pthread_mutex_lock(&p->lock);
	for (unsigned i = 0; i < AUC_PATIENCE_USERS; i++) {
		struct auc_patience_user *other = &p->users[i];

		if (other->uid == uid && other->last > 0) {
			u = other;
			break;
		}
		if (other->last < u->last)
			u = other;
	}
	if (u->uid != uid || !(u->last > 0) || now - u->last > PAUSE) {
		u->uid = uid;
		u->since = now;
	}
	u->last = now;
	lasts = now - u->since <= LONGEST;
	pthread_mutex_unlock(&p->lock);
	return lasts;
}
