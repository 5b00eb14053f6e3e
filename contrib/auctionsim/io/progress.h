/*
 * progress.h - how far a command is: a line on a terminal, and an end when it is asked to stop. A
 * thread of its own does both, so that work which asks nobody (a file that is parsed) shows and
 * stops as well. There is one of it for the process; without progress_begin() the calls do nothing
 * that is seen.
 */
#ifndef SIM_PROGRESS_H
#define SIM_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * From here on SIGINT and SIGTERM, unless they were ignored, end the process with exit code 1 and a
 * sentence that begins with COMMAND (kept by the caller); and if standard error is a terminal, a
 * line there says what goes on, a fraction of a second after the first progress_say(). Elsewhere
 * standard error gets a line a minute, unless standard output goes to the same place.
 */
void progress_begin(const char *command);
/* The command is done: nothing is shown and no signal ends the process any more. */
void progress_end(void);

/* What goes on from now on, as printf() has it; counts are forgotten. */
void progress_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What all of that is part of, said before it from now on, until progress_hide(). */
void progress_head(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Nothing goes on that is worth a line: standard output or error is written next. */
void progress_hide(void);
/* The line goes until the next fraction of a second: one line is printed. */
void progress_clear(void);
/* DONE of ALL (0: of an unknown number). Costs next to nothing. */
void progress_count(uint64_t done, uint64_t all);
/* The same as a replay_progress. ARG is not used. */
bool progress_show(void *arg, unsigned done, unsigned all);

/*
 * What a signal asks before it ends the process: ENDS(ARG), in the other thread, with the hold
 * below; it may write files. False: the process goes on, and ends by itself soon. NULL: nothing is
 * asked.
 */
void progress_at_stop(bool (*ends)(void *arg), void *arg);
/* No signal ends the process between the two, nor is anything asked: a file is half-written. */
void progress_hold(void);
void progress_release(void);
/* The signals that this process began with blocked, for programs that it starts. */
const sigset_t *progress_old_mask(void);

#endif
