/* help.c - dftracer --help, and the help of each command, from the table.
 * SPDX-License-Identifier: MIT */
#include "commands.h"
#include "terminal.h"

#define MARGIN 2

static void print_extension(const char *name, void *context) {
  fprintf(context, "  %-12s%s\n", name, "from dftracer-* beside this program");
}

void help_print_all(FILE *out) {
  fprintf(out, "dftracer %s: a tracing SDK for HPC and AI codes\n\nusage: dftracer COMMAND [ARGUMENT...]\n\n",
          dft_version());
  for (const command *const *at = commands; *at; at++) fprintf(out, "  %-12s%s\n", (*at)->name, (*at)->summary);
  extension_each(print_extension, out);
  fprintf(out, "\ndftracer COMMAND --help says more; dftracer --version tells the version\n");
}

/* "-o, --out DIR" */
static void print_name(char *line, size_t size, const option *of) {
  int len = of->key < OPTION_LONG ? snprintf(line, size, "-%c, --%s", of->key, of->name)
                                  : snprintf(line, size, "    --%s", of->name);
  if (!of->value) return;
  if (of->value[0] == '[') snprintf(line + len, size - (size_t)len, "[=%s", of->value + 1);
  else snprintf(line + len, size - (size_t)len, " %s", of->value);
}

static void print_options(FILE *out, const option *options, int width) {
  static const option last = {'h', "help", NULL, "this text"};
  char line[128];
  int column = 0;
  for (const option *at = options; at && at->key; at++) {
    print_name(line, sizeof line, at);
    if ((int)strlen(line) > column) column = (int)strlen(line);
  }
  column = (column < 10 ? 10 : column > 26 ? 26 : column) + MARGIN + 2;
  fprintf(out, "\n");
  for (const option *at = options ? options : &last;; at++) {
    int len;
    if (!at->key) at = &last;
    print_name(line, sizeof line, at);
    len = fprintf(out, "%*s%s", MARGIN, "", line);
    if (len + 2 > column) fprintf(out, "\n"), len = 0;
    fprintf(out, "%*s", column - len, "");
    terminal_wrap(out, at->summary, column, column, width);
    if (at == &last) break;
  }
}

/* Paragraphs are wrapped; lines that start with a space are kept. */
static void print_text(FILE *out, const char *text, int width) {
  while (*text) {
    char line[1024];
    int len = (int)strcspn(text, "\n");
    snprintf(line, sizeof line, "%.*s", len, text);
    if (line[0] == ' ') fprintf(out, "%s\n", line);
    else terminal_wrap(out, line, 0, 0, width);
    text += len;
    if (*text) text++;
  }
}

void help_print(FILE *out, const command *of) {
  int width = terminal_width(out);
  if (width > 100) width = 100;
  fprintf(out, "usage: dftracer %s%s%s%s\n\n", of->name, of->options ? " [OPTION...]" : "", *of->arguments ? " " : "",
          of->arguments);
  print_text(out, of->text, width);
  print_options(out, of->options, width);
}
