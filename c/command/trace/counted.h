/* counted.h - what counts as an event, in every command and in num_events: a complete event (ph X) but `start` and `end` of
 * the trace. Counter values and metadata are no events.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_EVENT_H
#define DFTRACER_EVENT_H

#include <dftracer/reader.h>

/* The numbers of these words in a reader. */
typedef struct bookkeeping {
  uint32_t cat, start, end;
} bookkeeping;

static inline bookkeeping bookkeeping_of(dft_reader *reader) {
  return (bookkeeping){dft_reader_number(reader, DFT_CATS, "dftracer", 8),
                       dft_reader_number(reader, DFT_NAMES, "start", 5),
                       dft_reader_number(reader, DFT_NAMES, "end", 3)};
}

static inline int is_event(const bookkeeping *ours, const dft_rows *rows, uint32_t i) {
  return rows->phase[i] == DFT_COMPLETE &&
         (rows->cat[i] != ours->cat || (rows->name[i] != ours->start && rows->name[i] != ours->end));
}

#endif
