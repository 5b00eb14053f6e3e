/* splitmix.h - a random stream that is the same everywhere: splitmix64. */
#ifndef AUC_TEST_SPLITMIX_H
#define AUC_TEST_SPLITMIX_H

#include <stdint.h>

/* The next of the stream of STATE, which any seed begins. */
static inline uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A number in [0, 1) of the same stream. */
static inline double splitmix_real(uint64_t *state)
{
	return (double)(splitmix(state) >> 11) / 9007199254740992.0;
}

#endif
