/* help.h - prints the help texts, from the table of commands. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_HELP_H
#define DFTRACER_HELP_H

#include <stdio.h>

#include "commands.h"

/* The list of commands. */
void help_print_all(FILE *out);

/* The help of one command. */
void help_print(FILE *out, const command *shown);

#endif
