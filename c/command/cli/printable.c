/* printable.c - text of a trace, a path or a command line, made safe to print.
 * SPDX-License-Identifier: MIT */
#include "printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/escape.h"

#define COPIES 8
#define ESCAPE_MOST 6 /* \u202e, of at least one byte */

static uint32_t code_of(const unsigned char *bytes, size_t len) {
  uint32_t code = bytes[0] & (0x7fu >> len);
  for (size_t i = 1; i < len; i++) code = code << 6 | (bytes[i] & 0x3f);
  return code;
}

/* Control characters of C0 and C1, separators of lines, and all of Unicode's bidirectional controls. */
static int is_obeyed(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

printable_step printable_next(const char *text, size_t len) {
  const unsigned char *bytes = (const unsigned char *)text;
  printable_step step = {.len = 1, .code = bytes[0], .is_valid = bytes[0] < 0x80};
  size_t more = step.is_valid ? 0 : dft__escape_character_len(bytes, len);
  if (more) step = (printable_step){.len = more, .code = code_of(bytes, more), .is_valid = 1};
  step.is_shown = step.is_valid && !is_obeyed(step.code);
  return step;
}

const char *printable_n(const char *text, size_t len) {
  static _Thread_local char *copies[COPIES];
  static _Thread_local unsigned turn;
  char **copy = &copies[turn++ % COPIES], *at = realloc(*copy, len * ESCAPE_MOST + 1);
  if (!at) return "?";
  *copy = at;
  for (size_t i = 0; i < len;) {
    printable_step step = printable_next(text + i, len - i);
    if (step.is_shown) {
      memcpy(at, text + i, step.len);
      at += step.len;
    } else {
      at += sprintf(at, step.is_valid ? "\\u%04x" : "\\x%02x", (unsigned)step.code);
    }
    i += step.len;
  }
  *at = '\0';
  return *copy;
}

const char *printable(const char *text) {
  size_t len = strlen(text), i = 0;
  while (i < len) {
    printable_step step = printable_next(text + i, len - i);
    if (!step.is_shown) return printable_n(text, len);
    i += step.len;
  }
  return text;
}
