/* configfile.h - settings from the YAML file that DFTRACER_CONFIGURATION names.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CONFIGFILE_H
#define DFT_CONFIGFILE_H

#include "setting.h"

/* Takes a value; zero when it is not allowed. */
typedef int dft__setting_taker(enum dft__setting setting, const char *text);

/* Gives what the file says to `take`. All mistakes in the file are reported in one message. */
void dft__configfile_read(const char *path, dft__setting_taker *take);

#endif
