/* bound.h - "auctionsim bound": how far policies are from the best that could be. See
 * auctionsim(1). */
#ifndef SIM_BOUND_H
#define SIM_BOUND_H

#define BOUND_FORMAT "auction-bound/1"

int bound_command(int argc, char **argv);

#endif
