/* commands.h - the subcommands. Each gets its own arguments, argv[0] being its name, and returns the exit status: 0 done,
 * 1 it failed, 2 it was called in a wrong way.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMANDS_H
#define DFTRACER_COMMANDS_H

#include <dftracer/dft.h>

int command_recover(int argc, char **argv);
int command_config(int argc, char **argv);

#endif
