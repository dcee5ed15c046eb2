/* unpublished.c - what a process has not published yet: its live file, and behind that the events in its spool as lines.
 *
 * The core decodes them (dftracer/spool.h) and the jsonl sink's own encoder makes the lines, so they are those that the
 * published trace will have. SPDX-License-Identifier: MIT */
#include "unpublished.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "codec/line.h"
#include "problem.h"

#define POINTER "dftracer spool at "
#define TRIES 10
#define LINE_ROOM (3u << 20) /* the longest line that the sink writes */

int dft__spool_is(const uint8_t *bytes, size_t len) {
  return (len >= 8 && memcmp(bytes, "dftspool", 8) == 0) ||
         (len >= sizeof POINTER - 1 && memcmp(bytes, POINTER, sizeof POINTER - 1) == 0);
}

static int ends_with(const char *text, const char *end) {
  size_t len = strlen(text);
  return len > strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* What was written before; an errno when it cannot be read, EAGAIN when it has changed since the snapshot. */
static int open_live(const dft_snapshot_facts *facts, dft__unit *unit) {
  if (!facts->live_bytes) return 0;
  if (ends_with(facts->live_path, ".0-jsonl")) {
    unit->fd = open(facts->live_path, O_RDONLY | O_CLOEXEC);
    if (unit->fd < 0) return errno;
    unit->limit = facts->live_bytes;
    return 0;
  }
  if (!ends_with(facts->live_path, ".0-hdf5")) return ENOTSUP; /* only its sink knows what is in it */
  if (!unit->segments && dft_h5_segments_open(facts->live_path, &unit->segments) != DFT_OK) return ENOMEM;
  return dft_h5_segments_read(unit->segments, facts->live_bytes) == DFT_OK ? 0 : EAGAIN;
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
      dft_h5_segments_close(unit->segments);
      problem.error = 0;
      dft__problem_add(reader, index, &problem, dft_status_text(status), strlen(dft_status_text(status)));
      return 0;
    }
    dft_snapshot_tell(unit->snapshot, &facts);
    problem.error = open_live(&facts, unit);
  }
  if (problem.error) { /* damaged, or published in between: then its trace is read as a file */
    dft_h5_segments_close(unit->segments);
    unit->segments = NULL;
    problem.kind = DFT_PROBLEM_FILE;
    if (problem.error == EAGAIN) problem.error = EIO;
    dft__problem_add(reader, index, &problem, facts.live_path, strlen(facts.live_path));
  }
  source->unit_ns = facts.unit_ns;
  return 1;
}

/* What was written before comes first. */
static int next_event(dft__unit *unit, dft_event *event, int *is_damaged) {
  int found = unit->segments ? dft_h5_segments_next(unit->segments, event, sizeof *event) : 0;
  if (found > 0) return 1;
  dft_h5_segments_close(unit->segments);
  unit->segments = NULL;
  if (found < 0) *is_damaged = 1;
  return dft_snapshot_next(unit->snapshot, event, sizeof *event);
}

size_t dft__spool_lines(dft__unit *unit, char *out, size_t room, int *is_over, int *is_damaged) {
  dft_snapshot_facts facts = {.struct_size = sizeof facts};
  size_t len = 0;
  dft_event event;
  dft_snapshot_tell(unit->snapshot, &facts);
  *is_over = *is_damaged = 0;
  while (room - len > LINE_ROOM) {
    size_t line;
    if (!next_event(unit, &event, is_damaged)) {
      *is_over = 1;
      break;
    }
    line = dft__line_encode(out + len, room - len, &event, facts.host_hash);
    len += line ? line : dft__line_encode_short(out + len, room - len, &event, facts.host_hash);
  }
  return len;
}
