/* problem.h - what was wrong with the traces, counted and located. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_PROBLEM_H
#define DFT_READER_PROBLEM_H

#include "readerstate.h"

/* For all of these, the caller holds the lock. */

/* source: DFT_ALL for a path that is not a source. detail may be NULL. */
void dft__problem_add(dft_reader *reader, uint32_t source, const dft__problem_entry *problem, const char *detail,
                      size_t len);
/* Drops the problems reported for places inside a member that turned out to be intact. */
void dft__problem_drop(dft_reader *reader, uint32_t index, uint64_t from, uint64_t to);
/* Says how many lines a unit has, so that a problem's line can be counted from the start of the file. */
void dft__problem_note_lines(dft__source_state *source, uint64_t unit, uint64_t lines);

#endif
