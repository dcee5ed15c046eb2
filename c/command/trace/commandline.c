/* commandline.c - the command line of a process.
 * SPDX-License-Identifier: MIT */
#include "commandline.h"

#include <ctype.h>
#include <string.h>

/* Cuts the next argument off. */
static dft_text next_argument(dft_text *rest) {
  const char *end = memchr(rest->text, ';', rest->len);
  dft_text argument = {rest->text, end ? (size_t)(end - rest->text) : rest->len};
  size_t used = argument.len + (end != NULL);
  *rest = (dft_text){rest->text + used, rest->len - used};
  return argument;
}

static dft_text without_folder(dft_text path) {
  for (size_t i = path.len; i-- > 0;) {
    if (path.text[i] == '/' && i + 1 < path.len) return (dft_text){path.text + i + 1, path.len - i - 1};
  }
  return path;
}

static int is_word(dft_text text, const char *word) {
  return text.len == strlen(word) && memcmp(text.text, word, text.len) == 0;
}

/* Whether the program runs a script: python3.11 is python. */
static int is_interpreter(dft_text program) {
  static const char *const names[] = {"python", "pypy", "perl", "ruby", "Rscript", "julia",
                                      "bash",   "sh",   "dash", "zsh",  "node",    "lua"};
  while (program.len && (isdigit((unsigned char)program.text[program.len - 1]) || program.text[program.len - 1] == '.'))
    program.len--;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (is_word(program, names[i])) return 1;
  }
  return 0;
}

static void append(char out[COMMAND_SHORT_MOST], dft_text text) {
  size_t used = strlen(out), len = text.len;
  if (used && used + 1 < COMMAND_SHORT_MOST) out[used++] = ' ';
  if (len > COMMAND_SHORT_MOST - 1 - used) len = COMMAND_SHORT_MOST - 1 - used;
  memcpy(out + used, text.text, len);
  out[used + len] = '\0';
}

void commandline_short(char out[COMMAND_SHORT_MOST], dft_text command) {
  dft_text program = without_folder(next_argument(&command));
  out[0] = '\0';
  append(out, program);
  if (!is_interpreter(program)) return;
  while (command.len) {
    dft_text argument = next_argument(&command);
    if (is_word(argument, "-W") || is_word(argument, "-X")) { /* of python; a value follows */
      next_argument(&command);
    } else if (is_word(argument, "-m")) {
      append(out, argument);
      append(out, next_argument(&command));
      return;
    } else if (is_word(argument, "-c") || is_word(argument, "-e")) {
      append(out, argument);
      return;
    } else if (argument.len && argument.text[0] != '-') {
      append(out, without_folder(argument));
      return;
    }
  }
}
