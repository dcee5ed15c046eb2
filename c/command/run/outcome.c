/* outcome.c - after dftracer run: what was recorded, and where it is.
 * SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command/cli/terminal.h"
#include "launch.h"

#define OTHERS_MS 3000          /* how long the first rank waits for the traces of others that run */
#define ABSENT_MS 500           /* and for those of which there is nothing yet */
#define NOTES_BYTES (64u << 10) /* the library writes no more */

/* ---- Folders that programs name themselves ---------------------------------------------------------------------------- */

/* A file without a name would have to be reached through a descriptor, and a program has the right to close those. */
static void make_notes(outcome *of) {
  const char *folder = getenv("TMPDIR");
  int len = snprintf(of->notes_path, sizeof of->notes_path, "%s/dftracer-run-XXXXXX",
                     folder && folder[0] == '/' ? folder : "/tmp");
  of->notes = len < (int)sizeof of->notes_path ? mkostemp(of->notes_path, O_CLOEXEC) : -1;
  if (of->notes >= 0) setenv("DFTRACER_RUN", of->notes_path, 1);
}

void outcome_begin(outcome *of) {
  if (of->size > 1) of->since = launch_start_of(getppid());
  else clock_gettime(CLOCK_REALTIME_COARSE, &of->since); /* the clock of files */
  census_take(&of->before, of->folder);
  if (of->size > 1) census_forget_newer(&of->before, of->since); /* of ranks that were faster */
  make_notes(of);
}

/* The noted folders, a line each; to be freed. */
static char *take_notes(const outcome *of) {
  char *text = calloc(1, NOTES_BYTES);
  if (text && of->notes >= 0 && pread(of->notes, text, NOTES_BYTES - 1, 0) < 0) text[0] = '\0';
  return text;
}

void outcome_end(outcome *of) {
  if (of->notes >= 0) {
    close(of->notes);
    unlink(of->notes_path);
  }
  census_free(&of->before);
}

/* ---- One folder ------------------------------------------------------------------------------------------------------ */

/* In a process of its own session: a launcher whose job failed kills everything else of it within milliseconds. */
void outcome_recover(const char *folder, dft_recovery *report) {
  int ends[2];
  pid_t pid = -1;
  *report = (dft_recovery){.struct_size = sizeof *report};
  if (pipe2(ends, O_CLOEXEC) == 0) {
    pid = fork();
    if (pid == 0) {
      setsid();
      dft_recover(folder, report);
      _exit(write(ends[1], report, sizeof *report) == (ssize_t)sizeof *report ? 0 : 1);
    }
    close(ends[1]);
    if (pid > 0 && read(ends[0], report, sizeof *report) != (ssize_t)sizeof *report) report->failed = 1;
    close(ends[0]);
  }
  if (pid > 0) waitpid(pid, NULL, 0);
  else dft_recover(folder, report);
}

typedef struct found {
  const char *folder;
  const char *why; /* it is there; "" */
  dft_recovery left;
  census_result traces;
} found;

/* The first rank may end before others have published, or begun: it waits a little, so that its line counts all of them. */
static int look(found *in, const outcome *of, const census *before) {
  const struct timespec pause = {0, 50000000};
  for (int waited = 0;; waited += 50) {
    int is_absent, is_running;
    outcome_recover(in->folder, &in->left);
    census_compare(before, in->folder, &in->traces);
    is_absent = in->traces.traces < (uint32_t)of->size && waited < ABSENT_MS;
    is_running = in->left.alive + in->left.foreign != 0;
    if (of->size <= 1 || waited >= OTHERS_MS || launch_is_asked_to_end() || !(is_running || is_absent))
      return in->traces.traces || is_running;
    nanosleep(&pause, NULL);
  }
}

/* "dftracer: 1,234 events of 4 processes are in traces" */
static void tell(const found *in) {
  const census_result *traces = &in->traces;
  uint32_t running = in->left.alive + in->left.foreign;
  char events[FORMAT_BYTES], dropped[FORMAT_BYTES];
  if (traces->traces && traces->traces == traces->uncounted) fprintf(stderr, "dftracer: the events");
  else fprintf(stderr, "dftracer: %s event%s", format_count(events, traces->events), plural(traces->events));
  fprintf(stderr, " of %u process%s %s in %s%s", traces->traces, traces->traces == 1 ? "" : "es",
          traces->events == 1 ? "is" : "are", in->folder, in->why);
  if (traces->uncounted && traces->uncounted < traces->traces) fprintf(stderr, "; %u not counted", traces->uncounted);
  if (traces->recovered) fprintf(stderr, "; %u of them recovered", traces->recovered);
  if (traces->dropped) fprintf(stderr, "; %s dropped for lack of space", format_count(dropped, traces->dropped));
  if (running) fprintf(stderr, "; %u still running", running);
  if (in->left.failed) fprintf(stderr, "; %u could not be recovered and wait there", in->left.failed);
  fprintf(stderr, "\n");
}

static int look_elsewhere(const outcome *of, const char *folder) {
  found in = {.folder = folder, .why = ", which the program itself names; that counts before --out"};
  census before;
  int is_any;
  census_take(&before, folder);
  census_forget_newer(&before, of->since);
  is_any = look(&in, of, &before);
  if (is_any && !of->is_quiet) tell(&in);
  census_free(&before);
  return is_any;
}

/* ---- All ------------------------------------------------------------------------------------------------------------- */

static void explain_nothing(const outcome *of, const program *what) {
  const char *categories = getenv("DFTRACER_CATEGORIES");
  char library[PATH_MAX];
  fprintf(stderr, "dftracer: no events were recorded: ");
  if (what->kind != PROGRAM_FINE) {
    fprintf(stderr, "%s %s\n", what->image, program_text(what->kind));
  } else if (categories && *categories) {
    fprintf(stderr, "perhaps none is of the categories in DFTRACER_CATEGORIES=%s\n", categories);
  } else if (of->io) {
    fprintf(stderr, "no call of the program was on the chosen files%s%s\n", *of->io ? ": " : "", of->io);
  } else if (program_library(what, "libdftracer_core.so", library)) {
    fprintf(stderr, "%s uses libdftracer_core, but called nothing of it\n", what->image);
  } else if (program_is_interpreter(what)) {
    fprintf(stderr,
            "what %s ran opened no trace (dftracer.initialize_log in Python); --io records its file "
            "operations\n",
            what->image);
  } else {
    fprintf(stderr, "%s does not use libdftracer_core; --io records its file operations\n", what->image);
  }
}

void outcome_report(outcome *of, const program *what) {
  found main = {.folder = of->folder, .why = ""};
  char *notes = take_notes(of);
  char *rest = notes, *folder;
  char own[PATH_MAX] = "";
  int is_any = look(&main, of, &of->before);
  if (is_any && !of->is_quiet) tell(&main);
  if (!realpath(of->folder, own)) own[0] = '\0';
  while (rest && (folder = strsep(&rest, "\n")) != NULL) {
    int is_new = *folder && strcmp(folder, own) != 0;
    for (const char *seen = notes; is_new && seen < folder; seen += strlen(seen) + 1)
      is_new = strcmp(seen, folder) != 0;
    if (is_new && rest) is_any |= look_elsewhere(of, folder); /* without an end of line it is not all there */
  }
  if (!is_any && !of->is_quiet) explain_nothing(of, what);
  free(notes);
}
