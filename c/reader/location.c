/* location.c - where in the file a piece of text is, and what is wrong there.
 * SPDX-License-Identifier: MIT */
#include "location.h"

#include "problem.h"

uint64_t dft__location_in_file(const dft_cursor *cursor, uint64_t stream) {
  uint64_t member = cursor->unit.start;
  uint32_t known = cursor->members_known < DFT__MEMBERS_KNOWN ? cursor->members_known : DFT__MEMBERS_KNOWN;
  if (cursor->reader->sources[cursor->unit.source].kind == DFT_SOURCE_PLAIN) return cursor->unit.start + stream;
  for (uint32_t i = 0; i < known; i++) {
    if (cursor->members[i].stream <= stream && cursor->members[i].member > member) member = cursor->members[i].member;
  }
  return member;
}

/* Whether the place lies inside a member that proved to be intact. The caller holds the lock. */
static int is_verified(const dft__walk *walk, uint64_t byte) {
  for (uint32_t i = 0; i < walk->verified_count; i++) {
    if (byte > walk->verified[i][0] && byte < walk->verified[i][1]) return 1;
  }
  return 0;
}

void dft__location_complain(dft_cursor *cursor, uint32_t kind, uint64_t byte, uint64_t line_in_unit, const char *detail,
                            size_t len) {
  dft_reader *reader = cursor->reader;
  dft__problem_entry problem = {.kind = kind, .byte = byte, .unit = cursor->unit.number, .line_in_unit = line_in_unit};
  if (cursor->is_again) return;
  pthread_mutex_lock(&reader->lock);
  if (line_in_unit != UINT64_MAX || !is_verified(cursor->walk, byte)) {
    dft__problem_add(reader, cursor->unit.source, &problem, detail, len);
  }
  pthread_mutex_unlock(&reader->lock);
}
