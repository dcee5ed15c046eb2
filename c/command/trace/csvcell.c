/* csvcell.c - a text as a cell of a CSV file.
 * SPDX-License-Identifier: MIT */
#include "csvcell.h"

#include <stdio.h>
#include <string.h>

#include "command/cli/printable.h"

/* Spreadsheets evaluate what begins like this, and a formula can run programs. */
static int is_formula(dft_text text) {
  return text.len && text.text[0] && strchr("=+-@\t\r", text.text[0]) != NULL;
}

static int is_special(char c) {
  return c < ' ' || c > '~' || c == ',' || c == '"';
}

size_t csv_cell(char *out, dft_text text) {
  char *at = out;
  size_t i = 0;
  if (is_formula(text)) *at++ = '\'';
  while (i < text.len && !is_special(text.text[i])) i++;
  memcpy(at, text.text, i);
  at += i;
  if (i == text.len) return (size_t)(at - out);
  memmove(out + 1, out, (size_t)(at - out));
  *out = '"';
  at++;
  while (i < text.len) {
    printable_step step = printable_next(text.text + i, text.len - i);
    if (step.code == '"') *at++ = '"';
    if (step.is_shown || step.code == '\n' || step.code == '\r' || step.code == '\t') {
      memcpy(at, text.text + i, step.len);
      at += step.len;
    } else {
      at += sprintf(at, step.is_valid ? "\\u%04x" : "\\x%02x", (unsigned)step.code);
    }
    i += step.len;
  }
  *at++ = '"';
  return (size_t)(at - out);
}
