/* block.h - "sbid block": buys whole nodes for a time, by way of sbatch. See sbid(1). */
#ifndef SBID_BLOCK_H
#define SBID_BLOCK_H

#include <stdbool.h>

/* ARGV: what follows "block" on the command line, of which --users and --accounts are taken and all
 * else is sbatch's. An exit code. */
int block_command(int argc, char **argv);
/* Puts the words of a block into the environment that sbatch is to have, and what makes ARGV,
 * options, a submission into WORDS (MAX of them): how many, or -1, and it was said why not. */
int block_words(int argc, char **argv, const char **words, int max);
/* True if ARGV only asks for the price. */
bool block_is_quote(int argc, char **argv);

#endif
