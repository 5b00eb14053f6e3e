/* clock.h - seconds of a clock that nobody sets, poll() timeouts counted on it, and the time of
 * day. */
#ifndef SLAUNCH_CLOCK_H
#define SLAUNCH_CLOCK_H

#include <errno.h>
#include <math.h>
#include <time.h>

static inline double clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* Unix time, which may jump. */
static inline double clock_wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* Milliseconds from NOW to UNTIL for poll(), rounded up; -1 (for ever) if UNTIL is 0. */
static inline int clock_poll_timeout(double until, double now)
{
	double ms = ceil((until - now) * 1000);

	if (until <= 0)
		return -1;
	return ms <= 0 ? 0 : ms > 3600e3 ? 3600000 : (int)ms;
}

/* Sleeps until clock_now() is UNTIL. */
static inline void clock_sleep_until(double until)
{
	struct timespec ts = {.tv_sec = (time_t)until, .tv_nsec = (long)(fmod(until, 1) * 1e9)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static inline void clock_sleep(double seconds)
{
	clock_sleep_until(clock_now() + seconds);
}

#endif
