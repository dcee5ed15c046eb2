/* typedcommand.h - the command line of a process as it was typed. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TYPEDCOMMAND_H
#define DFTRACER_TYPEDCOMMAND_H

#include <dftracer/sink.h>

/* In a trace the arguments are joined by ";". Returns them separated by blanks, quoted for a shell where needed: "sh;-c;a > b"
 * becomes sh -c 'a > b'. The trace does not say whether a ";" was part of an argument. One before a blank is taken to be, as in
 * a script "a; b", because arguments hardly ever begin with a blank. The caller frees it. NULL: no memory. */
char *typed_command(dft_text command);

#endif
