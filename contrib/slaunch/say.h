/* say.h - messages for the user. */
#ifndef SLAUNCH_SAY_H
#define SLAUNCH_SAY_H

/* Prints "slaunch: " and the formatted text as one line to stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
