/* jsontext.c - a text as a JSON string.
 * SPDX-License-Identifier: MIT */
#include "jsontext.h"

#include "command/cli/printable.h"

void json_text(FILE *out, const char *text, size_t len) {
  fputc('"', out);
  while (len) {
    printable_step step = printable_next(text, len);
    if (!step.is_valid) fputs("\\ufffd", out);
    else if (!step.is_shown) fprintf(out, "\\u%04x", (unsigned)step.code);
    else if (*text == '"' || *text == '\\') fprintf(out, "\\%c", *text);
    else fwrite(text, 1, step.len, out);
    text += step.len;
    len -= step.len;
  }
  fputc('"', out);
}

void json_line(FILE *out, const char *line, size_t len) {
  while (len) {
    printable_step step = printable_next(line, len);
    if (step.is_shown || step.code == '\t') fwrite(line, 1, step.len, out); /* a tab is between values, not in a text */
    else fprintf(out, "\\u%04x", step.is_valid ? (unsigned)step.code : 0xfffdu);
    line += step.len;
    len -= step.len;
  }
}
