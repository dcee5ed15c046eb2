/* value.h - JSON values as cells. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_VALUE_H
#define DFT_READER_VALUE_H

#include <dftracer/reader.h>

#include "base/hash.h"

/* Nanoseconds from 1970, before or after: the distance of any two times fits 64 bits. */
#define DFT__TIME_MOST (INT64_MAX / 2)

/* What parsing one line needs and finds. */
typedef struct dft__values {
  char *plain;        /* where the next unescaped text goes */
  uint32_t nesting;   /* the limit */
  uint32_t times_cut; /* times that were cut to DFT__TIME_MOST */
  int problem;        /* what to report when a function returns NULL: a dft_problem_kind */
} dft__values;

/* Each returns the end of the value, or NULL when there is no valid one. */

/* A text, from after its opening quote. */
const char *dft__value_text(dft__values *values, const char *at, dft_text *text);
/* Any value; does not set the cell's key. */
const char *dft__value(dft__values *values, const char *at, dft_cell *cell);
/* A number of units as nanoseconds, exactly. */
const char *dft__value_time(dft__values *values, const char *at, uint64_t unit_ns, int64_t *ns);

/* The digits of an integer. */
dft_text dft__value_digits(char digits[24], const dft_cell *cell);

static inline uint64_t dft__hash_text(const char *text, size_t len) {
  return dft__hash(text, len, 0);
}

#endif
