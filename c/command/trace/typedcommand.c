/* typedcommand.c - the command line of a process as it was typed.
 * SPDX-License-Identifier: MIT */
#include "typedcommand.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What no shell changes. Bytes of other alphabets are letters to it. */
static int is_plain(char c) {
  return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("-_=+.,:/@%^", c));
}

static char *put_argument(char *at, const char *text, size_t len) {
  size_t plain = 0;
  while (plain < len && is_plain(text[plain])) plain++;
  if (len && plain == len) {
    memcpy(at, text, len);
    return at + len;
  }
  *at++ = '\'';
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\'') {
      memcpy(at, "'\\''", 4); /* ends the quotes, quotes one, begins them again */
      at += 4;
    } else {
      *at++ = text[i];
    }
  }
  *at++ = '\'';
  return at;
}

char *typed_command(dft_text command) {
  const char *from = command.text, *end = from + command.len;
  char *typed = malloc(4 * command.len + 4), *at = typed;
  if (!typed) return NULL;
  for (const char *stop = from; command.len; stop++) {
    if (stop < end && (*stop != ';' || (stop + 1 < end && stop[1] == ' '))) continue;
    at = put_argument(at, from, (size_t)(stop - from));
    if (stop == end) break;
    *at++ = ' ';
    from = stop + 1;
  }
  *at = '\0';
  return typed;
}
