/* commandline.h - the command line of a process, as traces have it: its arguments joined by ";". SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMANDLINE_H
#define DFTRACER_COMMANDLINE_H

#include <dftracer/reader.h>

#define COMMAND_SHORT_MOST 96 /* bytes, with the final zero */

/* What people call the process: the program's name without its folder; for an interpreter also the script or the module, as in
 * "python train.py", "python -m http.server", "bash -c". */
void commandline_short(char out[COMMAND_SHORT_MOST], dft_text command);

#endif
