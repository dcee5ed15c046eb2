/* commands.c - the table of commands.
 * SPDX-License-Identifier: MIT */
#include "commands.h"

/* In the order of the help: before and during the job, after it, about the tool itself. */
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
  for (const command *const *entry = commands; *entry; entry++) {
    if (strcmp((*entry)->name, name) == 0) return *entry;
  }
  return NULL;
}
