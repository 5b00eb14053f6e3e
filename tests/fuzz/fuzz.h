/*
 * fuzz.h - a fuzz target is one function, libFuzzer's. Built by clang with -fsanitize=fuzzer it is
 * a fuzzer; linked with support/replay.c, by any compiler, it runs the files of its corpus once, as "make
 * check" does.
 */
#ifndef AUC_FUZZ_H
#define AUC_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what does not hold and stops, so that the fuzzer keeps the input. */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			/* not to the stream, which a target may have put aside */                 \
			dprintf(STDERR_FILENO, "%s:%d: %s does not hold\n", __FILE__, __LINE__,    \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
