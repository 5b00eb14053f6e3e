/* script_traps.h - whether a batch script handles a signal, which would else end it. */
#ifndef AUC_SCRIPT_TRAPS_H
#define AUC_SCRIPT_TRAPS_H

#include <stdbool.h>

/*
 * True if SCRIPT surely handles SIG: a shell's, where a line that begins with "trap" names it (the
 * last such line counts), outside of texts and here-documents, and no "exec" of another program
 * forgets it; Python's, where a line begins with "signal.signal(signal.SIG...," and a handler.
 * When in doubt false: a signal that is not handled ends the job.
 */
bool auc_script_traps(const char *script, int sig);
/* True if the first line of SCRIPT names a shell: "#!/bin/bash -l", "#!/usr/bin/env sh". */
bool auc_script_is_shell(const char *script);

#endif
