/* spool.c - what a process has not published yet: its live file, and behind that the events in its spool as lines.
 *
 * The core decodes them (dftracer/spool.h) and the jsonl sink's own encoder makes the lines, so they are those that the
 * published trace will have. SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "jsonl/line.h"
#include "reader_internal.h"

#define POINTER "dftracer spool at "
#define LINE_ROOM (3u << 20) /* the longest line that the sink writes */

int dft__spool_is(const uint8_t *bytes, size_t len) {
  return (len >= 8 && memcmp(bytes, "dftspool", 8) == 0) ||
         (len >= sizeof POINTER - 1 && memcmp(bytes, POINTER, sizeof POINTER - 1) == 0);
}

static int is_text(const char *live_path) {
  size_t len = strlen(live_path);
  return len > 8 && strcmp(live_path + len - 8, ".0-jsonl") == 0;
}

int dft__spool_take(dft_reader *reader, uint32_t index, dft__unit *unit) {
  dft__source_state *source = &reader->sources[index];
  dft_snapshot_facts facts = {.struct_size = sizeof facts};
  dft__problem_entry problem = {.kind = DFT_PROBLEM_SPOOL, .line_in_unit = UINT64_MAX};
  dft_status status = dft_snapshot_open(source->path, &unit->snapshot);
  if (status != DFT_OK) {
    dft__problem_add(reader, index, &problem, dft_status_text(status), strlen(dft_status_text(status)));
    return 0;
  }
  dft_snapshot_tell(unit->snapshot, &facts);
  source->unit_ns = facts.unit_ns;
  unit->limit = 0;
  unit->fd = -1;
  if (facts.live_bytes && is_text(facts.live_path)) {
    unit->fd = open(facts.live_path, O_RDONLY | O_CLOEXEC);
    if (unit->fd >= 0) {
      unit->limit = facts.live_bytes;
    } else { /* published in between: then its trace is read as a file */
      problem.kind = DFT_PROBLEM_FILE;
      problem.error = errno;
      dft__problem_add(reader, index, &problem, facts.live_path, strlen(facts.live_path));
    }
  }
  return 1;
}

size_t dft__spool_lines(dft_snapshot *snapshot, char *out, size_t room, int *is_over) {
  dft_snapshot_facts facts = {.struct_size = sizeof facts};
  size_t len = 0;
  dft_event event;
  dft_snapshot_tell(snapshot, &facts);
  *is_over = 0;
  while (room - len > LINE_ROOM) {
    size_t line;
    if (!dft_snapshot_next(snapshot, &event, sizeof event)) {
      *is_over = 1;
      break;
    }
    line = dft__line_encode(out + len, room - len, &event, facts.host_hash);
    len += line ? line : dft__line_encode_short(out + len, room - len, &event, facts.host_hash);
  }
  return len;
}
