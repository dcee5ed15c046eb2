/* walk.h - a source cut into units, and the lines that lie across the cuts. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_WALK_H
#define DFT_READER_WALK_H

#include "readerstate.h"

void dft__walk_free(dft__walk *walk);

/* For all that follow, the caller holds the reader's lock. */

/* The next unit of the source, with its fd open. 0: there is none. */
int dft__walk_take(dft_reader *reader, dft__walk *walk, uint32_t index, dft__unit *unit);
/* A member of the unit ended at `at`, beyond the unit's limit: returns where the unit has to stop. */
uint64_t dft__walk_end_of(dft_reader *reader, dft__walk *walk, dft__unit *unit, uint64_t member, uint64_t at);
/* A member of the unit is damaged; inflating it ended at `at`, with that much text. Returns where to look for the next one. That
 * is right behind its first byte, as another may begin inside it. But what looks like a member in a damaged or hostile file may be
 * nothing, and inflating it costs time. When that work exceeds the size of the file, what was inflated is passed over. */
uint64_t dft__walk_after_damage(dft_reader *reader, dft__walk *walk, dft__unit *unit, uint64_t member, uint64_t at,
                                uint64_t text_bytes);
/* Removes and returns the seam at this place; NULL: there is none. */
dft__seam *dft__walk_take_seam(dft__walk *walk, uint64_t at);
/* 0: no memory. */
int dft__walk_add_seam(dft__walk *walk, uint32_t kind, uint64_t at, uint64_t to, const char *bytes, size_t len);

/* This one needs no lock: the first place from `from` on where a gzip member seems to begin, or `to`. */
uint64_t dft__walk_find_member(int fd, uint64_t from, uint64_t to);

#endif
