/* help.c - dftracer --help, and the help of each command, from the table.
 * SPDX-License-Identifier: MIT */
#include "help.h"

#include "extension.h"
#include "terminal.h"

#define MARGIN 2
#define WIDTH_MOST 100
/* The column of the options' texts: behind the longest name, within these limits. */
#define NAME_LEAST 10
#define NAME_MOST 26

static void print_extension(const char *name, void *context) {
  fprintf(context, "  %-12s%s\n", name, "from dftracer-* beside this program");
}

void help_print_all(FILE *out) {
  fprintf(out, "dftracer %s: a tracing SDK for HPC and AI codes\n\nusage: dftracer COMMAND [ARGUMENT...]\n\n",
          dft_version());
  for (const command *const *entry = commands; *entry; entry++) {
    fprintf(out, "  %-12s%s\n", (*entry)->name, (*entry)->summary);
  }
  extension_each(print_extension, out);
  fprintf(out, "\nRun 'dftracer COMMAND --help' for the options of a command, 'dftracer --version' for the version.\n");
}

/* "-o, --out DIR" */
static void write_name(char *line, size_t size, const option *one) {
  int len = one->key < OPTION_LONG ? snprintf(line, size, "-%c, --%s", one->key, one->name)
                                   : snprintf(line, size, "    --%s", one->name);
  if (!one->value) return;
  if (one->value[0] == '[') snprintf(line + len, size - (size_t)len, "[=%s", one->value + 1);
  else snprintf(line + len, size - (size_t)len, " %s", one->value);
}

static void print_option(FILE *out, const option *one, int column, int width) {
  char line[128];
  int len;
  write_name(line, sizeof line, one);
  len = fprintf(out, "%*s%s", MARGIN, "", line);
  if (len + 2 > column) {
    fprintf(out, "\n");
    len = 0;
  }
  fprintf(out, "%*s", column - len, "");
  terminal_wrap(out, one->summary, column, column, width);
}

static void print_options(FILE *out, const option *options, int width) {
  static const option help = {'h', "help", NULL, "print this text"};
  char line[128];
  int column = NAME_LEAST;
  for (const option *one = options; one && one->key; one++) {
    write_name(line, sizeof line, one);
    if ((int)strlen(line) > column) column = (int)strlen(line);
  }
  if (column > NAME_MOST) column = NAME_MOST;
  column += MARGIN + 2;
  fprintf(out, "\n");
  for (const option *one = options; one && one->key; one++) print_option(out, one, column, width);
  print_option(out, &help, column, width);
}

/* Paragraphs are wrapped; lines that start with a space are printed unchanged. */
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

void help_print(FILE *out, const command *shown) {
  int width = terminal_width(out);
  if (width > WIDTH_MOST) width = WIDTH_MOST;
  fprintf(out, "usage: dftracer %s%s%s%s\n\n", shown->name, shown->options ? " [OPTION...]" : "",
          *shown->arguments ? " " : "", shown->arguments);
  print_text(out, shown->text, width);
  print_options(out, shown->options, width);
}
