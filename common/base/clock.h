/* clock.h - seconds of a clock that nobody sets, poll() timeouts counted on it, the time of day,
 * and processor time. */
#ifndef AUC_CLOCK_H
#define AUC_CLOCK_H

#include <errno.h>
#include <math.h>
#include <time.h>

/* Seconds of a clock of clock_gettime(2), as of processor time. */
static inline double auc_clock(clockid_t which)
{
	struct timespec ts;

	clock_gettime(which, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static inline double auc_clock_now(void)
{
	return auc_clock(CLOCK_MONOTONIC);
}

/* Unix time, which may jump. */
static inline double auc_clock_wall(void)
{
	return auc_clock(CLOCK_REALTIME);
}

/* Milliseconds from NOW to UNTIL for poll(), rounded up; -1 (for ever) if UNTIL is 0. */
static inline int auc_clock_poll_timeout(double until, double now)
{
	double ms = ceil((until - now) * 1000);

	if (until <= 0)
		return -1;
	return ms <= 0 ? 0 : ms > 3600e3 ? 3600000 : (int)ms;
}

/* Sleeps until auc_clock_now() is UNTIL. */
static inline void auc_clock_sleep_until(double until)
{
	struct timespec ts = {.tv_sec = (time_t)until, .tv_nsec = (long)(fmod(until, 1) * 1e9)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static inline void auc_clock_sleep(double seconds)
{
	auc_clock_sleep_until(auc_clock_now() + seconds);
}

#endif
