/* command_man.c - dftracer man: the manual page, from the table of commands.
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

const command command_man;

/* Text inside a line; escapes what troff would interpret. */
static void print_text(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (i == 0 && (text[i] == '.' || text[i] == '\'')) fputs("\\&", stdout);
    if (text[i] == '\\') fputs("\\e", stdout);
    else if (text[i] == '-') fputs("\\-", stdout);
    else putchar(text[i]);
  }
}

static void print_paragraphs(const char *text) {
  int is_kept = 0;
  while (*text) {
    size_t len = strcspn(text, "\n");
    int keep = *text == ' ';
    if (keep && !is_kept) printf(".PP\n.RS 2\n.nf\n");
    if (!keep && is_kept) printf(".fi\n.RE\n");
    if (!len && text[1] != ' ') printf(".PP\n");
    is_kept = keep;
    if (len) print_text(text, len), putchar('\n');
    text += len;
    if (*text) text++;
  }
  if (is_kept) printf(".fi\n.RE\n");
}

static void print_option(const option *one) {
  printf(".TP\n");
  if (one->key < OPTION_LONG) printf("\\fB\\-%c\\fR, ", one->key);
  printf("\\fB\\-\\-");
  print_text(one->name, strlen(one->name));
  printf("\\fR");
  if (one->value && one->value[0] == '[') printf("[=\\fI%s\\fR", one->value + 1);
  else if (one->value) printf(" \\fI%s\\fR", one->value);
  printf("\n");
  print_text(one->summary, strlen(one->summary));
  printf("\n");
}

static void print_command(const command *shown) {
  printf(".SS \"dftracer %s%s%s%s\"\n", shown->name, shown->options ? " [OPTION...]" : "", *shown->arguments ? " " : "",
         shown->arguments);
  print_paragraphs(shown->text);
  for (const option *one = shown->options; one && one->key; one++) print_option(one);
}

static int run_man(int argc, char **argv) {
  arguments given = {.command = &command_man, .argc = argc, .argv = argv};
  int key = arguments_next(&given);
  if (key < 0) return given.status;
  if (given.count) return arguments_refuse(&given, "unexpected argument \"%s\"", argv[given.first]);
  printf(
    ".TH DFTRACER 1 \"\" \"dftracer %s\" \"User Commands\"\n.SH NAME\n"
    "dftracer \\- trace HPC and AI programs, and read the traces\n"
    ".SH SYNOPSIS\n.B dftracer\n.I COMMAND\n[\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n"
    "Runs programs with tracing on, and reads their traces: where the time went, what a process is doing now, one\n"
    "timeline of many ranks. A command X that is not built in runs the program \\fBdftracer\\-X\\fR, found beside "
    "this\n"
    "one or on PATH.\n.SH COMMANDS\n",
    dft_version());
  for (const command *const *entry = commands; *entry; entry++) print_command(*entry);
  printf(".SH ENVIRONMENT\n");
  dft_setting setting = {.struct_size = sizeof setting};
  for (uint32_t i = 0; dft_config_describe(i, &setting); i++) {
    printf(".TP\n.B %s\n", setting.name);
    print_text(setting.summary, strlen(setting.summary));
    printf(" (default: %s)\n", *setting.initial ? setting.initial : "none");
  }
  printf(".TP\n.B NO_COLOR\nif set, print no colours\n"
         ".SH EXIT STATUS\n0: success. 1: something failed. 2: the command line was wrong. "
         "3: the input is damaged; the output is what could be read of it. "
         "\\fBdftracer run\\fR returns the exit status of the program it runs.\n");
  return STATUS_DONE;
}

const command command_man = {
  .name = "man",
  .arguments = "",
  .summary = "print the manual page",
  .text = "Prints the manual page. An installation contains it. In a build tree, view it with:\n\n"
          "  dftracer man | man -l -\n",
  .run = run_man,
};
