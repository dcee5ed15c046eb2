/* eventrule.h - the rule for what counts as an event, in every command and in num_events: a complete event (ph X), except
 * `start` and `end` of the trace itself. Counters and metadata are not counted.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_EVENTRULE_H
#define DFTRACER_EVENTRULE_H

#include <dftracer/reader.h>

/* The reader's numbers of the category and names of dftracer's own events. */
typedef struct event_rule {
  uint32_t cat, start, end;
} event_rule;

static inline event_rule event_rule_for(dft_reader *reader) {
  return (event_rule){dft_reader_number(reader, DFT_CATS, "dftracer", 8),
                      dft_reader_number(reader, DFT_NAMES, "start", 5), dft_reader_number(reader, DFT_NAMES, "end", 3)};
}

static inline int is_event(const event_rule *rule, const dft_rows *rows, uint32_t row) {
  return rows->phase[row] == DFT_COMPLETE &&
         (rows->cat[row] != rule->cat || (rows->name[row] != rule->start && rows->name[row] != rule->end));
}

#endif
