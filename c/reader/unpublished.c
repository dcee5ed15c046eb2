/* unpublished.c - what a process has not published yet: its live output, and behind that the events in its spool as lines.
 *
 * The core decodes events (dftracer/spool.h) and c/codec makes the lines, so they are those of the published trace.
 * SPDX-License-Identifier: MIT */
#include "unpublished.h"

#include <dftracer/spool.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "codec/line.h"
#include "problem.h"

#define TRIES 10
#define LINE_ROOM (3u << 20) /* the longest line of a trace */

/* What was written before; an errno when it cannot be read, EAGAIN when it has changed since the snapshot. */
static int open_live(const dft_snapshot_facts *facts, dft__unit *unit) {
  if (!facts->live_bytes) return 0;
  if (facts->live_is_lines) {
    unit->fd = open(facts->live_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (unit->fd < 0) return errno;
    unit->limit = facts->live_bytes;
    return 0;
  }
  switch (dft_snapshot_read_live(unit->snapshot)) {
    case DFT_OK: return 0;
    case DFT_ENOSINK: return ENOTSUP;
    case DFT_ENOMEM: return ENOMEM;
    default: return EAGAIN;
  }
}

int dft__spool_take(dft_reader *reader, uint32_t index, dft__unit *unit) {
  dft__source_state *source = &reader->sources[index];
  dft_snapshot_facts facts = {.struct_size = sizeof facts};
  dft__problem_entry problem = {.kind = DFT_PROBLEM_SPOOL, .line_in_unit = UINT64_MAX};
  unit->limit = 0;
  unit->fd = -1;
  for (int tries = 0; tries == 0 || (problem.error == EAGAIN && tries < TRIES); tries++) {
    dft_status status;
    dft_snapshot_close(unit->snapshot);
    status = dft_snapshot_open(source->path, &unit->snapshot);
    if (status != DFT_OK) {
      const char *why = dft_status_text(status);
      int is_gone = access(source->path, F_OK) != 0; /* published in between */
      if (is_gone) problem.kind = DFT_PROBLEM_FILE;
      problem.error = is_gone ? ENOENT : 0;
      dft__problem_add(reader, index, &problem, is_gone ? source->path : why, strlen(is_gone ? source->path : why));
      return 0;
    }
    dft_snapshot_tell(unit->snapshot, &facts);
    problem.error = open_live(&facts, unit);
  }
  if (problem.error) { /* damaged, or published in between: then its trace is read as a file */
    problem.kind = DFT_PROBLEM_FILE;
    if (problem.error == EAGAIN) problem.error = EIO;
    dft__problem_add(reader, index, &problem, facts.live_path, strlen(facts.live_path));
  }
  source->unit_ns = facts.unit_ns;
  return 1;
}

size_t dft__spool_lines(dft__unit *unit, char *out, size_t room, int *is_over, int *is_damaged) {
  dft_snapshot_facts facts = {.struct_size = sizeof facts};
  size_t len = 0;
  dft_event event;
  dft_snapshot_tell(unit->snapshot, &facts);
  *is_over = *is_damaged = 0;
  while (room - len > LINE_ROOM) {
    size_t line;
    int found = dft_snapshot_next(unit->snapshot, &event, sizeof event);
    if (found < 0) {
      *is_damaged = 1;
      continue;
    }
    if (!found) {
      *is_over = 1;
      break;
    }
    line = dft__line_encode(out + len, room - len, &event, facts.host_hash);
    len += line ? line : dft__line_encode_short(out + len, room - len, &event, facts.host_hash);
  }
  return len;
}
