/* man.c - dftracer man: the manual page, from the table of commands.
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

const command command_man;

/* Text inside a line: what troff would take for itself is escaped. */
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

static void print_option(const option *at) {
  printf(".TP\n");
  if (at->key < OPTION_LONG) printf("\\fB\\-%c\\fR, ", at->key);
  printf("\\fB\\-\\-");
  print_text(at->name, strlen(at->name));
  printf("\\fR");
  if (at->value && at->value[0] == '[') printf("[=\\fI%s\\fR", at->value + 1);
  else if (at->value) printf(" \\fI%s\\fR", at->value);
  printf("\n");
  print_text(at->summary, strlen(at->summary));
  printf("\n");
}

static void print_command(const command *of) {
  printf(".SS \"dftracer %s%s%s%s\"\n", of->name, of->options ? " [OPTION...]" : "", *of->arguments ? " " : "",
         of->arguments);
  print_paragraphs(of->text);
  for (const option *at = of->options; at && at->key; at++) print_option(at);
}

static int run_man(int argc, char **argv) {
  arguments given = {.command = &command_man, .argc = argc, .argv = argv};
  int key = arguments_next(&given);
  if (key < 0) return given.status;
  if (given.count) return arguments_refuse(&given, "\"%s\" is too much", argv[given.first]);
  printf(
    ".TH DFTRACER 1 \"\" \"dftracer %s\" \"User Commands\"\n.SH NAME\n"
    "dftracer \\- trace HPC and AI programs, and read the traces\n"
    ".SH SYNOPSIS\n.B dftracer\n.I COMMAND\n[\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n"
    "What people type before and after the job: run a program so that it is traced, and find out from the trace\n"
    "where the time went. A command X that is not built in is the program \\fBdftracer\\-X\\fR, beside this one or\n"
    "on PATH.\n.SH COMMANDS\n",
    dft_version());
  for (const command *const *at = commands; *at; at++) print_command(*at);
  printf(".SH ENVIRONMENT\n");
  dft_setting setting = {.struct_size = sizeof setting};
  for (uint32_t i = 0; dft_config_describe(i, &setting); i++) {
    printf(".TP\n.B %s\n", setting.name);
    print_text(setting.summary, strlen(setting.summary));
    printf(" (default: %s)\n", *setting.initial ? setting.initial : "none");
  }
  printf(".TP\n.B NO_COLOR\nset: no colours\n"
         ".SH EXIT STATUS\n0 when all is well, 1 when something failed, 2 when the command line was wrong. "
         "\\fBdftracer run\\fR has the exit status of the program it runs.\n");
  return STATUS_DONE;
}

const command command_man = {
  .name = "man",
  .arguments = "",
  .summary = "print the manual page, for man -l",
  .text = "Prints the manual page. An installed dftracer has it in its place already; elsewhere:\n\n"
          "  dftracer man | man -l -\n",
  .run = run_man,
};
