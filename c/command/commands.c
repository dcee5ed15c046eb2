/* commands.c - which commands there are.
 * SPDX-License-Identifier: MIT */
#include "commands.h"

extern const command command_summary, command_run, command_recover, command_generate, command_doctor, command_config,
  command_completion, command_man;

const command *const commands[] = {
  &command_summary,    &command_run,    &command_recover,
  &command_generate,   &command_doctor, &command_config,
  &command_completion, &command_man,    NULL,
};

const command *command_find(const char *name) {
  for (const command *const *at = commands; *at; at++) {
    if (strcmp((*at)->name, name) == 0) return *at;
  }
  return NULL;
}
