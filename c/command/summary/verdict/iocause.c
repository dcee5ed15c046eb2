/* iocause.c - which calls, in which folder, make a cost.
 * SPDX-License-Identifier: MIT */
#include "iocause.h"

#include <stdlib.h>
#include <string.h>

#include "command/cli/printable.h"
#include "costcount.h"

/* Of all time of a kind, a call or a folder has this share, and a phase has this part. Whether at least 80 % of that part
 * are the call's, even if all the rest of the time is. */
static int explains(double share, double part) {
  return share - (1 - part) >= SHARE_CAUSE * part;
}

static int name_call(verdict_cause *cause, enum io_cost kind, double part, const summary_answer *answer) {
  double share;
  const dft_text call = costs_call(answer, kind, &share);
  if (!explains(share, part)) return 1; /* several calls of this kind */
  cause->call = call.len ? strdup(printable_n(call.text, call.len)) : NULL;
  return !call.len || cause->call;
}

static int is_writing(enum io_cost kind) {
  return kind == IO_COST_WRITE || kind == IO_COST_SYNC;
}

static int name_files(verdict_cause *cause, enum io_cost kind, double part, const summary_answer *answer) {
  const io_folder *folder = &answer->folders[kind];
  if (!folder->files || !folder->all_ns) return 1;
  if (part < 1 && !explains((double)folder->cost_ns / (double)folder->all_ns, part)) return 1;
  if (part >= SHARE_ALL) { /* else some of them are only used later */
    cause->files = folder->files;
    cause->file_bytes = (double)(is_writing(kind) ? folder->write_bytes : folder->read_bytes) / (double)folder->files;
  }
  if (folder->file) {
    const dft_text name = answer_file(answer->state, folder->file);
    cause->file = strdup(printable_n(name.text, name.len));
    if (!cause->file) return 0;
  }
  if (!folder->path.len) return 1;
  cause->folder = strdup(printable_n(folder->path.text, folder->path.len));
  return cause->folder != NULL;
}

int io_cause_name(verdict_cause *cause, enum io_cost kind, double part, const summary_answer *answer) {
  static const char *const whats[IO_COSTS] = {
    [IO_COST_READ] = "read", [IO_COST_WRITE] = "write", [IO_COST_SYNC] = "sync", [IO_COST_METADATA] = "metadata"};
  cause->what = whats[kind];
  return name_call(cause, kind, part, answer) && name_files(cause, kind, part, answer);
}
