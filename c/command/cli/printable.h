/* printable.h - text of a trace, a path or a command line, made safe to print.
 *
 * Such a text can hold anything, also what moves the cursor of a terminal or reverses the direction of writing. Every
 * command prints it through one of these functions. In output for people, a character that a terminal obeys rather than
 * shows becomes \u202e, and a byte that is not UTF-8 becomes \xff. Backslashes of the text stay as they are. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PRINTABLE_H
#define DFTRACER_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

/* What comes next in a text. */
typedef struct printable_step {
  size_t len;    /* in bytes, at least 1 */
  uint32_t code; /* the character; for a byte that is not UTF-8, the byte */
  int is_valid;  /* UTF-8 */
  int is_shown;  /* can be printed as it is: valid, and neither a control character nor a bidirectional control */
} printable_step;
printable_step printable_next(const char *text, size_t len);

/* The text itself, or an escaped copy, which the same thread's next seven calls leave alone. */
const char *printable(const char *text);
/* The same for a text that may contain zeros and need not end with one. The result is always a copy. */
const char *printable_n(const char *text, size_t len);

#endif
