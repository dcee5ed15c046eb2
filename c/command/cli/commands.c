/* commands.c - which commands there are.
 * SPDX-License-Identifier: MIT */
#include "commands.h"

/* In the order of the help: before the job, after it, about the command itself. */
#define COMMAND_LIST(X) \
  X(run)                \
  X(top)                \
  X(summary)            \
  X(info)               \
  X(cat)                \
  X(validate)           \
  X(recover)            \
  X(merge)              \
  X(convert)            \
  X(generate)           \
  X(doctor)             \
  X(config)             \
  X(completion)         \
  X(man)

#define COMMAND_DECLARE(name) extern const command command_##name;
COMMAND_LIST(COMMAND_DECLARE)

const command *const commands[] = {
#define COMMAND_ENTRY(name) &command_##name,
  COMMAND_LIST(COMMAND_ENTRY) NULL,
};

const command *command_find(const char *name) {
  for (const command *const *at = commands; *at; at++) {
    if (strcmp((*at)->name, name) == 0) return *at;
  }
  return NULL;
}
