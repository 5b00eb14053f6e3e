/*
 * chunkfile.h - one chunk of data on one node, as a file: what a step of the launcher does there.
 * What has come of a chunk stands in PATH.part until all of it is there, synced and renamed to
 * PATH: a move that breaks off goes on where it was, and no byte is sent twice. A PATH.part that is
 * longer than the chunk is thrown away.
 */
#ifndef SLAUNCH_CHUNKFILE_H
#define SLAUNCH_CHUNKFILE_H

/*
 * Carries out OP with ARGS (NULL-terminated), the other end of which is another step:
 *
 *   size PATH             prints "whole BYTES", "part BYTES" or "none 0"
 *   send PATH FROM MAX    writes a line "SIZE FROM", and PATH's bytes from FROM on, to stdout
 *   receive PATH          takes them from stdin, if FROM is how many there are; prints how many
 * have come copy SOURCE PATH MAX  both at once; prints the same
 *
 * A chunk of more than MAX bytes is not moved. Exit code 0, or 1 after a sentence to stderr.
 */
int chunkfile_run(const char *op, char *const *args);

#endif
