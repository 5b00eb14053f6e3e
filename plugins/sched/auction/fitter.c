/* fitter.c - see fitter.h. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sched/auction/fitter.h"
#include "adapter/site.h"
#include "adapter/slurm_compat.h"
#include "pricing/tariff.h"
#include "base/cancel.h"

#define NICE 10

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool running, asked;
	atomic_bool stop;
	struct auc_auction *auction;
	double guard_time; /* of the choice that was logged last */
	bool moved, others;
	struct auc_err said;
} learner = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *learner_main(void *arg);
static void fit(struct auc_auction *a);
static bool go_on(void *arg);
static void say(const struct auc_tariff *t);
static void say_more(const struct auc_tariff *t);
static void complain(const struct auc_err *err);

enum auc_code auc_fitter_start(struct auc_auction *a, struct auc_err *err)
{
	int rc;

	if (learner.running)
		return AUC_OK;
	atomic_store(&learner.stop, false);
	learner.asked = false;
	learner.auction = a;
	rc = pthread_create(&learner.thread, NULL, learner_main, NULL);
	if (rc)
		return auc_err_set(err, AUC_EIO, "no thread to fit prices: %s", strerror(rc));
	pthread_setname_np(learner.thread, "auction_learner");
	learner.running = true;
	return AUC_OK;
}

bool auc_fitter_stop(const struct timespec *until)
{
	if (!learner.running)
		return true;
	pthread_mutex_lock(&learner.lock);
	atomic_store(&learner.stop, true);
	pthread_cond_signal(&learner.wake);
	pthread_mutex_unlock(&learner.lock);
	if (pthread_timedjoin_np(learner.thread, NULL, until))
		return false;
	learner.running = false;
	return true;
}

void auc_fitter_ask(void)
{
	pthread_mutex_lock(&learner.lock);
	learner.asked = true;
	pthread_cond_signal(&learner.wake);
	pthread_mutex_unlock(&learner.lock);
}

static void *learner_main(void *arg)
{
	(void)arg;
	/* Linux keeps it by thread. Where it is refused, there is no harm. */
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	pthread_mutex_lock(&learner.lock);
	while (!atomic_load(&learner.stop)) {
		if (!learner.asked) {
			pthread_cond_wait(&learner.wake, &learner.lock);
			continue;
		}
		learner.asked = false;
		pthread_mutex_unlock(&learner.lock);
		/* It may have been asked again during the last fit. */
		if (auc_auction_fit_due(learner.auction, auc_site_now()))
			fit(learner.auction);
		pthread_mutex_lock(&learner.lock);
	}
	pthread_mutex_unlock(&learner.lock);
	return NULL;
}

static void fit(struct auc_auction *a)
{
	const struct auc_cancel cancel = {.go_on = go_on};
	struct auc_tariff *t = NULL;
	struct auc_fit_job *job;
	struct auc_err err = {0};
	enum auc_code rc;

	rc = auc_auction_fit_begin(a, auc_site_now(), &job, &err);
	if (rc == AUC_OK) {
		rc = auc_fit_job_run(job, &cancel, &t, &err);
		if (t)
			say(t);
		auc_auction_fit_end(a, job, t);
	}
	/* Too few bids that still mean something; stopped, or not ready. */
	if (rc != AUC_OK && rc != AUC_ENOENT && rc != AUC_ESTATE)
		complain(&err);
}

static bool go_on(void *arg)
{
	(void)arg;
	return !atomic_load(&learner.stop);
}

/* Each choice of the guard once, with its first prices, and each change of what comes; each fit for
 * those who ask for it. */
static void say(const struct auc_tariff *t)
{
	bool others = t->other_since > 0;
	char *why = auc_tariff_why(t);

	if (t->guard.time != learner.guard_time || t->moved != learner.moved ||
	    others != learner.others) {
		slurm_info("sched/auction: prices from the next slot on: %s", why ? why : "");
		say_more(t);
	}
	learner.guard_time = t->guard.time;
	learner.moved = t->moved;
	learner.others = others;
	slurm_debug("sched/auction: prices: %s, fitted to %u bids in %.3f s: %.6g are expected in "
		    "a period, those of two are worth %.6g at most",
		    auc_tariff_word(t->kind), t->bids, t->seconds, t->expected, t->bound);
	free(why);
}

/* The forecast, how far the choice is from the best there could be, and what each class costs. */
static void say_more(const struct auc_tariff *t)
{
	double gap = auc_tariff_gap(t);
	char text[64] = "";

	if (isfinite(gap))
		snprintf(text, sizeof(text), "; the bids replayed fall %.1f%% short of their bound",
			 100 * gap);
	slurm_info("sched/auction: forecast: %.6g bids in a period, made of %u; those of two are "
		   "worth %.6g at most%s",
		   t->expected, t->bids, t->bound, text);
	for (unsigned i = 0; i < t->nclasses; i++) {
		const struct auc_tariff_class *c = &t->classes[i];
		const struct auc_tariff_run *runs = t->runs + c->first_run;
		double least = INFINITY, most = 0;

		for (unsigned k = 0; k < c->nruns; k++) {
			least = fmin(least, runs[k].price);
			most = fmax(most, runs[k].price);
		}
		if (most > 0)
			slurm_info("sched/auction: prices of %s on the %u nodes of %s with %.15g: "
				   "%.6g to %.6g credits per unit and slot",
				   c->tres, c->servers, c->group, c->capacity, least, most);
	}
}

static void complain(const struct auc_err *err)
{
	if (!strcmp(learner.said.text, err->text))
		return;
	learner.said = *err;
	slurm_error("sched/auction: prices are not fitted: %s", err->text);
}
