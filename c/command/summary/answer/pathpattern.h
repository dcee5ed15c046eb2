/* pathpattern.h - paths that differ only in numbers: "run_3/img_0007.npy" and "run_4/img_0012.npy" have the same pattern.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PATHPATTERN_H
#define DFTRACER_PATHPATTERN_H

#include <dftracer/reader.h>
#include <stdint.h>

#define PATTERN_NUMBER '\1' /* stands for a number in a pattern */

/* Writes the pattern, which is not longer than the path, and returns its length. A short extension that begins with a letter
 * keeps its digits: h5, mp4. 0: the path contains PATTERN_NUMBER itself, and has no pattern. */
size_t path_pattern(char *out, dft_text path);
/* The extension of a pattern, without the dot; empty: there is none, or it contains a number. */
dft_text path_pattern_extension(dft_text pattern);
/* How many numbers are in the first `len` bytes. */
uint32_t path_pattern_numbers(dft_text pattern, size_t len);

/* The smallest and the largest of the numbers that occur in one place of a pattern, as they are written. */
typedef struct number_range {
  dft_text least, most;
} number_range;

/* Widens the ranges of the first `count` numbers by those of a path. */
void number_ranges_widen(number_range *ranges, uint32_t count, dft_text pattern, dft_text path);
/* Writes the first `len` bytes of the pattern with its ranges: "run_{3..4}/img_{0007..0012}.npy". Returns the length. */
size_t number_ranges_put(char *out, const number_range *ranges, dft_text pattern, size_t len);
/* The room that it needs at most. */
size_t number_ranges_room(const number_range *ranges, uint32_t count, size_t len);

#endif
