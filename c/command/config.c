/* config.c - dftracer config: the table of settings.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "commands.h"

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
    printf("%s=%s%s\n    %s\n    allowed: %s; default: %s\n", setting.name, value,
           strcmp(value, setting.initial) == 0 ? "" : "   (set)", setting.summary, setting.allowed,
           setting.initial[0] ? setting.initial : "empty");
  }
}

int command_config(int argc, char **argv) {
  if (argc == 1) {
    print_values();
    return 0;
  }
  if (argc == 2 && strcmp(argv[1], "--markdown") == 0) {
    print_markdown();
    return 0;
  }
  fprintf(
    argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr,
    "usage: dftracer config [--markdown]\n\nLists the settings with their values in this environment; --markdown: as a "
    "table for documentation.\n");
  return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
}
