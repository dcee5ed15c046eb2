/* number.h - numbers as text, fast and independent of the locale.
 *
 * Each function writes at `at`, without a terminator, and returns the end. None allocates.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_NUMBER_H
#define DFTRACER_SINK_NUMBER_H

#include <stdint.h>

/* No number is longer than this. */
#define DFT__NUMBER_ROOM 40

char *dft__number_uint(char *at, uint64_t value);
char *dft__number_int(char *at, int64_t value);

/* A JSON number that reads back as exactly this double and always shows that it is one: 224.0, 0.25, 1e+300. The value
 * must be finite. */
char *dft__number_double(char *at, double value);

#endif
