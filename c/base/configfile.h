/* configfile.h - settings from the YAML file that DFTRACER_CONFIGURATION names.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CONFIGFILE_H
#define DFT_CONFIGFILE_H

/* Gives what the file says to dft__config_set; one message for all that is wrong with it. */
void dft__configfile_read(const char *path);

#endif
