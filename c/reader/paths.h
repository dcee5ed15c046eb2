/* paths.h - files, folders and globs as sources. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_PATHS_H
#define DFT_READER_PATHS_H

#include "readerstate.h"

/* Turns a path into sources; 0: no memory. */
int dft__paths_add(dft_reader *reader, const char *path);

#endif
