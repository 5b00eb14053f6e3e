/* clock.h - seconds of a clock that nobody sets, and poll() timeouts counted on it. */
#ifndef SLAUNCH_CLOCK_H
#define SLAUNCH_CLOCK_H

#include <math.h>
#include <time.h>

static inline double clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
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

static inline void clock_sleep(double seconds)
{
	struct timespec ts = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};

	nanosleep(&ts, NULL);
}

#endif
