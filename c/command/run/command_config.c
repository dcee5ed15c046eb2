/* command_config.c - dftracer config: prints the settings.
 * SPDX-License-Identifier: MIT */
#include "command/cli/arguments.h"
#include "command/cli/printable.h"

static const option options[] = {
  {'m', "markdown", NULL, "print a Markdown table for the documentation"},
  {0, NULL, NULL, NULL},
};

const command command_config;

static void print_markdown(void) {
  dft_setting setting = {.struct_size = sizeof setting};
  printf("| variable | default | allowed | what it does |\n|---|---|---|---|\n");
  for (uint32_t i = 0; dft_config_describe(i, &setting); i++) {
    printf("| `%s` | `%s` | %s | %s |\n", setting.name, setting.initial[0] ? setting.initial : " ", setting.allowed,
           setting.summary);
  }
}

static void print_values(void) {
  dft_setting setting = {.struct_size = sizeof setting};
  char value[4096];
  for (uint32_t i = 0; dft_config_describe(i, &setting); i++) {
    dft_config_get(setting.name, value, sizeof value);
    printf("%s=%s%s\n    %s\n    allowed: %s; default: %s\n", setting.name, printable(value),
           strcmp(value, setting.initial) == 0 ? "" : "   (set)", setting.summary, setting.allowed,
           setting.initial[0] ? setting.initial : "empty");
  }
}

static int run_config(int argc, char **argv) {
  arguments given = {.command = &command_config, .argc = argc, .argv = argv};
  void (*print)(void) = print_values;
  int key;
  while ((key = arguments_next(&given)) > 0) print = print_markdown;
  if (key < 0) return given.status;
  if (given.count) return arguments_refuse(&given, "unexpected argument \"%s\"", argv[given.first]);
  print();
  return STATUS_DONE;
}

const command command_config = {
  .name = "config",
  .arguments = "",
  .summary = "list all settings and their current values",
  .text = "Lists all settings. Each is an environment variable. Prints its current value, what it does, the allowed "
          "values and "
          "the default.\n",
  .options = options,
  .run = run_config,
};
