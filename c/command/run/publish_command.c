/* publish_command.c - dftracer recover: publishes what dead processes left.
 * SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>

#include "command/cli/arguments.h"
#include "command/cli/terminal.h"

static const option options[] = {
  {'l', "lost", NULL, "make traces of what was written by processes of other nodes, whose spools are gone with them"},
  {'q', "quiet", NULL, "say nothing of folders where there was nothing to do"},
  {'r', "recursive", NULL, "look into all folders below each PATH, too; links are not followed"},
  {0, NULL, NULL, NULL},
};

const command command_recover;

static void print(const char *folder, const dft_recovery *report, const dft_lost_spools *saved, dft_status status) {
  char events[FORMAT_BYTES];
  printf("%s: %u trace%s published, %s event%s", folder, report->published, plural(report->published),
         format_count(events, report->events), plural(report->events));
  if (saved->published) printf(" (%u without a spool: what was not written is lost)", saved->published);
  if (report->alive) printf("; %u left alone: in use", report->alive);
  if (report->foreign) printf("; %u left alone: of another node, container or user", report->foreign);
  if (report->unknown) printf("; %u left alone: no spool of this version", report->unknown);
  if (saved->waiting) printf("; if their nodes are gone: dftracer recover --lost");
  if (report->failed) printf("; %u failed and still there: %s", report->failed, dft_status_text(status));
  printf("\n");
}

typedef struct run {
  int is_quiet;
  int is_recursive;
  int is_lost;
  int status;
} run;

static void recover(run *of, const char *folder) {
  dft_recovery report = {.struct_size = sizeof report};
  dft_status status = dft_recover(folder, &report);
  dft_lost_spools saved = {.struct_size = sizeof saved};
  if (status == DFT_OK) status = dft_recover_lost(folder, of->is_lost, &saved);
  report.published += saved.published;
  report.events += saved.events;
  report.failed += saved.failed;
  report.foreign -= saved.settled < report.foreign ? saved.settled : report.foreign;
  if (saved.failed) status = DFT_EIO;
  if (status != DFT_OK) of->status = STATUS_FAILED;
  if (status != DFT_OK && !report.failed) {
    fprintf(stderr, "dftracer recover: %s: %s\n", folder, dft_status_text(status));
  } else if (report.published || report.alive || report.foreign || report.unknown || report.failed || !of->is_quiet) {
    print(folder, &report, &saved, status);
  }
}

static void complain(run *of, const char *path, int error) {
  fprintf(stderr, "dftracer recover: %s: %s\n", path, strerror(error));
  of->status = STATUS_FAILED;
}

/* Every folder at or below the path that has a .dftracer in it. */
static void recover_below(run *of, char *path) {
  char *paths[] = {path, NULL};
  FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
  FTSENT *entry;
  if (!walk) {
    complain(of, path, errno);
    return;
  }
  while ((entry = fts_read(walk)) != NULL) {
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR) complain(of, entry->fts_path, entry->fts_errno);
    if (entry->fts_info != FTS_D || strcmp(entry->fts_name, DFT_SPOOL_FOLDER) != 0) continue;
    fts_set(walk, entry, FTS_SKIP);
    recover(of, entry->fts_parent->fts_path);
  }
  fts_close(walk);
}

static int run_recover(int argc, char **argv) {
  arguments given = {.command = &command_recover, .argc = argc, .argv = argv};
  run of = {0, 0, 0, STATUS_DONE};
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'q') of.is_quiet = 1;
    if (key == 'r') of.is_recursive = 1;
    if (key == 'l') of.is_lost = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "which folder? PATH is missing");
  for (int i = 0; i < given.count; i++) {
    char *path = argv[given.first + i];
    struct stat facts;
    if (stat(path, &facts) != 0) complain(&of, path, errno);
    else if (of.is_recursive && S_ISDIR(facts.st_mode)) recover_below(&of, path);
    else recover(&of, path);
  }
  return of.status;
}

const command command_recover = {
  .name = "recover",
  .arguments = "PATH...",
  .summary = "publish what dead processes left in trace folders",
  .text = "Publishes the traces of processes that died before they could: what they had recorded, regions that were "
          "open (with "
          "open:1), and the end. PATH is the folder of the traces, or a trace in it.\n\n"
          "Traces of living processes are left alone, and so are those of other nodes, containers and users: recover "
          "them there. "
          "Where a spool is gone, with the memory of its node, what had been written is published; of another node "
          "only with --lost, since it "
          "may still run there. It may be run twice, on several nodes at once, beside a running job, and be killed "
          "itself: nothing is lost "
          "or doubled. "
          "In a batch epilog, on every node of the job:\n\n"
          "  dftracer recover --quiet \"$SCRATCH/traces\"\n\n"
          "Exit status: 0 when everything that could be judged here is published, 1 when something failed and is still "
          "there.\n",
  .options = options,
  .run = run_recover,
};
