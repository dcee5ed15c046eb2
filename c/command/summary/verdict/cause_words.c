/* cause_words.c - the words for a cause.
 * SPDX-License-Identifier: MIT */
#include "cause_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/symbol/demangle.h"

char *shown_name(dft_text name) {
  char *plain = demangle(name, 0);
  char *shown = strdup(plain ? printable(plain) : printable_n(name.text, name.len));
  free(plain);
  return shown;
}

void cause_say_share(FILE *out, const verdict_cause *cause, const char *of) {
  if (cause->share >= SHARE_ALL && !cause->is_about) fprintf(out, "All of %s", of);
  else fprintf(out, "%s%.0f %% of %s", cause->is_about ? "About " : "", 100 * cause->share, of);
}

/* "open() of 1,200 files below /scratch/train (110 KiB read of each)" */
static void say_files(FILE *out, const verdict_cause *cause) {
  const int is_written = strcmp(cause->what, "write") == 0 || strcmp(cause->what, "sync") == 0;
  char text[FORMAT_BYTES], path[MEASURE_TEXT_BYTES];
  if (cause->call) fprintf(out, " %s()", short_text(path, cause->call));
  else fprintf(out, " %s calls", cause->what);
  if (cause->file) fprintf(out, " of %s", short_text(path, cause->file));
  else if (cause->files) fprintf(out, " of %s file%s", format_count(text, cause->files), plural(cause->files));
  if (cause->folder && !cause->file) {
    short_text(path, cause->folder); /* which ends with a slash */
    fprintf(out, " below %.*s", (int)strlen(path) - 1, path);
  }
  if (!cause->files || cause->file_bytes <= 0) return;
  fprintf(out, " (%s %s%s)", format_bytes(text, cause->file_bytes), is_written ? "written" : "read",
          cause->files == 1 ? ""
          : is_written      ? " to each"
                            : " of each");
}

void cause_say(FILE *out, const verdict_cause *cause) {
  char name[MEASURE_TEXT_BYTES];
  if (strcmp(cause->what, "preparing") == 0)
    fprintf(out, " the preparing of samples, outside of the I/O calls that were recorded");
  else if (strcmp(cause->what, "loading") == 0)
    fprintf(out, " the loading of samples; whether that reads or computes is unknown: trace with --io, for all paths");
  else if (strcmp(cause->what, "outside") == 0) fprintf(out, " in no region and no call");
  else if (strcmp(cause->what, "region") == 0) fprintf(out, " '%s'", short_text(name, cause->call ? cause->call : "?"));
  else if (cause->call || cause->files) say_files(out, cause);
  else fprintf(out, " %s", cause->what);
  if (cause->rank != NO_NUMBER) fprintf(out, " on rank %" PRId64 ", and waiting for it", cause->rank);
}
