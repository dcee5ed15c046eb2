/* jsontext.c - a text as a JSON string.
 * SPDX-License-Identifier: MIT */
#include "jsontext.h"

void json_text(FILE *out, const char *text, size_t len) {
  fputc('"', out);
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
    else if (c < 0x20) fprintf(out, "\\u%04x", c);
    else fputc(c, out);
  }
  fputc('"', out);
}
