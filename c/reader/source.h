/* source.h - what a file is, found out by looking into it. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_SOURCE_H
#define DFT_READER_SOURCE_H

#include "readerstate.h"

/* Frees everything but the walk. */
void dft__source_free(dft__source_state *source);
/* Reports why a file cannot be read, or not to its end. Returns 0. The caller holds the lock. */
int dft__source_fail(dft_reader *reader, uint32_t index, int error);
/* Finds size, kind and unit of time, once. 0: the file cannot be read, which is reported. The caller holds the lock. */
int dft__source_prepare(dft_reader *reader, uint32_t index, int fd);

#endif
