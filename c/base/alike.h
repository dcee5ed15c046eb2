/* alike.h - whether one word may be a misspelling of another.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ALIKE_H
#define DFT_ALIKE_H

#include <ctype.h>
#include <string.h>

#define DFT__ALIKE_MOST 48 /* longer words are never alike */

static inline size_t dft__without_number(const char *word, size_t len) {
  while (len && isdigit((unsigned char)word[len - 1])) len--;
  return len;
}

/* One letter more, less or another, or two the other way round, in words up to four letters, two of these in longer ones;
 * upper and lower case are the same. Words that differ in a number at their end are meant so. */
static inline int dft__is_alike(const char *one, size_t one_len, const char *two, size_t two_len) {
  size_t rows[3][DFT__ALIKE_MOST + 1]; /* [i % 3][k]: steps from the first i letters of one to the first k of two */
  size_t stem = dft__without_number(one, one_len);
  if (one_len > DFT__ALIKE_MOST || two_len > DFT__ALIKE_MOST) return 0;
  if (stem && stem == dft__without_number(two, two_len) && memcmp(one, two, stem) == 0) return 0;
  for (size_t k = 0; k <= two_len; k++) rows[0][k] = k;
  for (size_t i = 1; i <= one_len; i++) {
    size_t *row = rows[i % 3];
    const size_t *above = rows[(i + 2) % 3];
    row[0] = i;
    for (size_t k = 1; k <= two_len; k++) {
      size_t steps = above[k - 1] + (toupper((unsigned char)one[i - 1]) != toupper((unsigned char)two[k - 1]));
      if (above[k] + 1 < steps) steps = above[k] + 1;
      if (row[k - 1] + 1 < steps) steps = row[k - 1] + 1;
      if (i > 1 && k > 1 && one[i - 1] == two[k - 2] && one[i - 2] == two[k - 1] &&
          rows[(i + 1) % 3][k - 2] + 1 < steps)
        steps = rows[(i + 1) % 3][k - 2] + 1;
      row[k] = steps;
    }
  }
  return rows[one_len % 3][two_len] <= (one_len > 4 && two_len > 4 ? 2u : 1u);
}

#endif
