/* main.c - the dftracer command: what people type before and after the job.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "commands.h"

static const struct command {
  const char *name;
  const char *arguments;
  const char *summary;
  int (*run)(int argc, char **argv);
} commands[] = {
  {"recover", "DIR...", "publish what dead processes left in trace folders", command_recover},
  {"config", "[--markdown]", "list the settings, their values now and what they do", command_config},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static int help(FILE *out) {
  fprintf(out, "dftracer %s: a tracing SDK for HPC and AI codes\n\nusage: dftracer COMMAND [ARGUMENT...]\n\n",
          dft_version());
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    fprintf(out, "  %-10s %-14s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
  }
  fprintf(out, "\n  --version, --help; dftracer COMMAND --help says more\n");
  return out == stdout ? 0 : 2;
}

int main(int argc, char **argv) {
  if (argc < 2) return help(stderr);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) return help(stdout);
  if (strcmp(argv[1], "--version") == 0) {
    printf("dftracer %s\n", dft_version());
    return 0;
  }
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
  }
  fprintf(stderr, "dftracer: there is no command \"%s\"; dftracer --help lists them\n", argv[1]);
  return 2;
}
