/* numbers.h - many numbers of 32 bits, in half the memory where none of them is above 65535. */
#ifndef AUC_NUMBERS_H
#define AUC_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of the two is there: which one, auc_numbers_make() chooses. */
struct auc_numbers {
	uint16_t *narrow;
	uint32_t *wide;
};

/* Room for N of them, all 0 and none ever above LARGEST. False: no memory. */
bool auc_numbers_make(struct auc_numbers *a, size_t n, uint32_t largest);
void auc_numbers_free(struct auc_numbers *a);
/* True if a number may be as large as LARGEST. */
bool auc_numbers_hold(const struct auc_numbers *a, uint32_t largest);
/* As memmove(), of N from index FROM to index TO. */
void auc_numbers_move(struct auc_numbers *a, size_t to, size_t from, size_t n);
/* The N from index AT on, to and from an array of 32 bits. */
void auc_numbers_read(const struct auc_numbers *a, size_t at, size_t n, uint32_t *to);
void auc_numbers_write(struct auc_numbers *a, size_t at, size_t n, const uint32_t *from);
/* Each of N numbers LEAST is no higher than those from index AT on from now on. */
void auc_numbers_lower(const struct auc_numbers *a, size_t at, size_t n, uint32_t *least);
/* True if the N from index X on are those from index Y on. */
bool auc_numbers_equal(const struct auc_numbers *a, size_t x, size_t y, size_t n);

static inline uint32_t auc_number(const struct auc_numbers *a, size_t i)
{
	return a->narrow ? a->narrow[i] : a->wide[i];
}

static inline void auc_number_set(struct auc_numbers *a, size_t i, uint32_t value)
{
	if (a->narrow)
		a->narrow[i] = (uint16_t)value;
	else
		a->wide[i] = value;
}

#endif
