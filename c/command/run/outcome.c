/* outcome.c - after dftracer run: finds the traces of the job and prints the summary line.
 * SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command/cli/printable.h"
#include "command/cli/processstart.h"
#include "command/cli/terminal.h"
#include "launch.h"
#include "pythonpackage.h"

#define RUNNING_MS 3000         /* how long rank 0 waits for ranks that still run */
#define ABSENT_MS 500           /* how long it waits for ranks that have not left a trace yet */
#define POLL_MS 50              /* pause between two looks */
#define NOTES_BYTES (64u << 10) /* the library writes no more */

/* ---- Folders that programs choose themselves -------------------------------------------------------------------------- */

/* The file needs a name: the program could close the descriptor of an unnamed one. */
static void make_notes(outcome *job) {
  const char *folder = getenv("TMPDIR");
  int len = snprintf(job->notes_path, sizeof job->notes_path, "%s/dftracer-run-XXXXXX",
                     folder && folder[0] == '/' ? folder : "/tmp");
  job->notes = len < (int)sizeof job->notes_path ? mkostemp(job->notes_path, O_CLOEXEC) : -1;
  if (job->notes >= 0) setenv("DFTRACER_RUN", job->notes_path, 1);
}

void outcome_begin(outcome *job) {
  if (job->size > 1) job->since = process_start_time(getppid());
  else clock_gettime(CLOCK_REALTIME_COARSE, &job->since); /* the clock of file times */
  census_take(&job->before, job->folder);
  if (job->size > 1) census_forget_newer(&job->before, job->since); /* traces of faster ranks */
  make_notes(job);
}

/* The noted folders, one per line. The caller frees the text. */
static char *read_notes(const outcome *job) {
  char *text = calloc(1, NOTES_BYTES);
  if (text && job->notes >= 0 && pread(job->notes, text, NOTES_BYTES - 1, 0) < 0) text[0] = '\0';
  return text;
}

void outcome_end(outcome *job) {
  if (job->notes >= 0) {
    close(job->notes);
    unlink(job->notes_path);
  }
  census_free(&job->before);
}

/* ---- One folder ------------------------------------------------------------------------------------------------------ */

/* Recovers in a child with its own session: a launcher whose job failed kills the rest of the job within milliseconds. */
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

typedef struct folder_result {
  const char *folder;
  const char *note; /* printed after the folder's name; "": nothing */
  dft_recovery recovery;
  census_result census;
} folder_result;

static uint32_t count_running(const folder_result *result) {
  return result->recovery.alive + result->recovery.foreign;
}

/* Rank 0 may end before other ranks have published their traces, or even started. It waits a little, so that its summary
 * line counts all ranks. Nonzero when there is something to report. */
static int look(folder_result *result, const outcome *job, const census *before) {
  const struct timespec pause = {0, POLL_MS * 1000000};
  for (int waited_ms = 0;; waited_ms += POLL_MS) {
    int is_absent;
    outcome_recover(result->folder, &result->recovery);
    census_compare(before, result->folder, &result->census);
    is_absent = result->census.traces < (uint32_t)job->size && waited_ms < ABSENT_MS;
    if (job->size <= 1 || waited_ms >= RUNNING_MS || launch_is_asked_to_end() ||
        !(count_running(result) || is_absent)) {
      return result->census.traces || count_running(result);
    }
    nanosleep(&pause, NULL);
  }
}

/* The summary line: "dftracer: recorded 1,234 events of 4 processes in traces; completed the trace of 1 process" */
static void print_result(const folder_result *result) {
  const census_result *found = &result->census;
  uint32_t running = count_running(result);
  char number[FORMAT_BYTES];
  fprintf(stderr, "dftracer: recorded ");
  if (found->traces && found->traces == found->uncounted) fprintf(stderr, "events");
  else fprintf(stderr, "%s event%s", format_count(number, found->events), plural(found->events));
  fprintf(stderr, " of %u %s in %s%s", found->traces, process_word(found->traces), printable(result->folder),
          result->note);
  if (found->uncounted && found->uncounted < found->traces)
    fprintf(stderr, "; the events of %u %s are not counted", found->uncounted, process_word(found->uncounted));
  if (found->recovered)
    fprintf(stderr, "; completed the trace of %u %s", found->recovered, process_word(found->recovered));
  if (found->dropped)
    fprintf(stderr, "; dropped %s event%s for lack of space", format_count(number, found->dropped),
            plural(found->dropped));
  if (running) fprintf(stderr, "; %u %s still running", running, process_word(running));
  if (result->recovery.failed)
    fprintf(stderr, "; could not recover %u %s: run 'dftracer recover %s' to try again", result->recovery.failed,
            process_word(result->recovery.failed), printable(result->folder));
  fprintf(stderr, "\n");
}

static int look_elsewhere(const outcome *job, const char *folder) {
  folder_result result = {.folder = folder, .note = " (chosen by the program, which overrides --out)"};
  census before;
  int is_any;
  census_take(&before, folder);
  census_forget_newer(&before, job->since);
  is_any = look(&result, job, &before);
  if (is_any && !job->is_quiet) print_result(&result);
  census_free(&before);
  return is_any;
}

/* ---- All folders ----------------------------------------------------------------------------------------------------- */

static void explain_nothing(const outcome *job, const program *target) {
  const char *categories = getenv("DFTRACER_CATEGORIES");
  const char *sinks = getenv("DFTRACER_SINK");
  const char *python = python_of(target);
  char library[PATH_MAX], module[PATH_MAX];
  if (sinks && strchr(sinks, '/')) {
    fprintf(stderr, "dftracer: the output of %s is in %s, if there is any; only events of built-in sinks are counted\n",
            printable(sinks), printable(job->folder));
    return;
  }
  fprintf(stderr, "dftracer: recorded no events: ");
  if (target->kind != PROGRAM_FINE) {
    fprintf(stderr, "%s %s\n", printable(target->image), program_text(target->kind));
  } else if (categories && *categories) {
    fprintf(stderr, "perhaps no event has a category of DFTRACER_CATEGORIES=%s\n", printable(categories));
  } else if (job->io) {
    fprintf(stderr, "the program made no %sI/O call on the chosen files%s%s\n",
            job->with_nvtx ? "NVTX range or mark, and no " : "", *job->io ? ": " : "", printable(job->io));
  } else if (job->with_nvtx) {
    fprintf(stderr, "the program made no NVTX range or mark, and called nothing of dftracer\n");
  } else if (program_library(target, "libdftracer_core.so", library)) {
    if (library[0]) fprintf(stderr, "%s links libdftracer_core, but did not call it\n", printable(target->image));
    else
      fprintf(stderr, "the loader cannot find libdftracer_core, which %s links: set LD_LIBRARY_PATH=PREFIX/lib\n",
              printable(target->image));
  } else if (python && !python_package_find(python, module)) {
    fprintf(stderr,
            "%s has no package dftracer, so neither trainings nor annotations of Python are recorded: install it with "
            "pip, or use --io to record the I/O calls\n",
            printable(python));
  } else if (program_is_interpreter(target)) {
    fprintf(stderr, "what %s ran opened no trace%s; use --io to record its I/O calls\n",
            printable(python ? python : target->image),
            python ? " (it trained nothing with PyTorch; other programs call dftracer.initialize_log)" : "");
  } else {
    fprintf(stderr, "%s does not link libdftracer_core; use --io to record its I/O calls\n", printable(target->image));
  }
}

/* The preload library brings the core of this command. */
static void warn_of_another_core(const program *target) {
  char library[PATH_MAX];
  if (!program_library(target, "libdftracer_core.so", library) || !library[0] || program_is_core(library)) return;
  fprintf(stderr,
          "dftracer: %s links another libdftracer_core, %s: both recorded, and their numbers do not fit together; use "
          "the dftracer of that installation\n",
          printable(target->image), printable(library));
}

/* Whether the folder is neither the job's own nor noted before in the list. */
static int is_other_folder(const char *folder, const char *notes, const char *own) {
  if (!*folder || strcmp(folder, own) == 0) return 0;
  for (const char *earlier = notes; earlier < folder; earlier += strlen(earlier) + 1) {
    if (strcmp(earlier, folder) == 0) return 0;
  }
  return 1;
}

void outcome_report(outcome *job, const program *target) {
  folder_result main = {.folder = job->folder, .note = ""};
  char *notes = read_notes(job);
  char *rest = notes, *folder;
  char own[PATH_MAX] = "";
  int is_any = look(&main, job, &job->before);
  if (is_any && !job->is_quiet) print_result(&main);
  if (!realpath(job->folder, own)) own[0] = '\0';
  while (rest && (folder = strsep(&rest, "\n")) != NULL) {
    int is_complete = rest != NULL; /* a line without its newline is still being written */
    if (is_complete && is_other_folder(folder, notes, own)) is_any |= look_elsewhere(job, folder);
  }
  if (!is_any && !job->is_quiet) explain_nothing(job, target);
  if (is_any && job->io) warn_of_another_core(target);
  free(notes);
}
