/* command_recover.c - dftracer recover: publishes the traces of dead processes.
 * SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>

#include "command/cli/arguments.h"
#include "command/cli/terminal.h"
#include "command/trace/suffix.h"

static const option options[] = {
  {'l', "lost", NULL, "also publish the traces of processes that are not known to be alive"},
  {'q', "quiet", NULL, "print nothing for folders where there was nothing to do"},
  {'r', "recursive", NULL, "also search all folders below each PATH; symbolic links are not followed"},
  {0, NULL, NULL, NULL},
};

const command command_recover;

typedef struct recover_plan {
  int is_quiet;
  int is_recursive;
  int is_lost; /* the user says that processes elsewhere have ended */
  int status;
} recover_plan;

static void print(const char *folder, const dft_recovery *report, const dft_lost_spools *saved, dft_status status) {
  char events[FORMAT_BYTES];
  printf("%s: %u trace%s published, %s event%s", folder, report->published, plural(report->published),
         format_count(events, report->events), plural(report->events));
  if (saved->published) printf(" (%u without a spool: events not yet written are lost)", saved->published);
  if (report->alive) printf("; %u left alone: in use", report->alive);
  if (report->foreign) printf("; %u left alone: of another node, container or user", report->foreign);
  if (report->unknown) printf("; %u left alone: not a spool of this version", report->unknown);
  if (saved->waiting) printf("; if their processes have ended, run 'dftracer recover --lost %s'", folder);
  if (report->failed) printf("; %u failed and left in place: %s", report->failed, dft_status_text(status));
  printf("\n");
}

/* A damaged spool, or a stranger's, may hold anything. */
static int is_printable(const char *text) {
  while (*text >= ' ' && *text <= '~') text++;
  return !*text;
}

static void name_unjudged(const char *claim, uint32_t pid, const char *host, void *context) {
  const recover_plan *plan = context;
  const char *node = is_printable(host) ? host : "an unknown host";
  const char *fate = plan->is_lost ? "publishing its trace" : "left alone";
  if (pid) printf("%s: process %u of %s is not known to be dead; %s\n", claim, pid, node, fate);
  else printf("%s: its process, of %s, is not known to be dead; %s\n", claim, node, fate);
}

static void recover(recover_plan *plan, const char *folder) {
  dft_recovery report = {.struct_size = sizeof report};
  dft_status status = dft_recover(folder, &report);
  dft_lost_spools saved = {.struct_size = sizeof saved, .tell = name_unjudged, .context = plan};
  if (status == DFT_OK) status = dft_recover_lost(folder, plan->is_lost, &saved);
  report.published += saved.published + saved.taken;
  report.events += saved.events;
  report.failed += saved.failed;
  report.foreign -= saved.settled < report.foreign ? saved.settled : report.foreign;
  if (saved.failed && status == DFT_OK) status = DFT_EIO;
  if (status != DFT_OK) plan->status = STATUS_FAILED;
  if (status != DFT_OK && !report.failed) {
    fprintf(stderr, "dftracer recover: %s: %s\n", folder, dft_status_text(status));
  } else if (report.published || report.alive || report.foreign || report.unknown || report.failed || !plan->is_quiet) {
    print(folder, &report, &saved, status);
  }
}

static void complain(recover_plan *plan, const char *path, int error) {
  fprintf(stderr, "dftracer recover: %s: %s\n", path, strerror(error));
  plan->status = STATUS_FAILED;
}

/* Recovers every folder at or below the path that contains spools. */
static void recover_below(recover_plan *plan, char *path) {
  char *paths[] = {path, NULL};
  char folder[PATH_MAX];
  FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
  FTSENT *entry;
  if (!walk) {
    complain(plan, path, errno);
    return;
  }
  while ((entry = fts_read(walk)) != NULL) {
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR) complain(plan, entry->fts_path, entry->fts_errno);
    if (entry->fts_info != FTS_D || !dft_spool_is_folder(entry->fts_name)) continue;
    fts_set(walk, entry, FTS_SKIP);
    if (entry->fts_parent->fts_number++) continue; /* it contains those of several users */
    snprintf(folder, sizeof folder, "%.*s", (int)entry->fts_parent->fts_pathlen, entry->fts_path);
    recover(plan, folder);
  }
  fts_close(walk);
}

/* A trace, or something in a hidden folder. */
static int is_of_a_trace(const char *path) {
  static const char *const endings[] = {".pfw", ".pfw.gz", ".h5", DFT_SPOOL_SUFFIX};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    if (ends_with(path, endings[i])) return 1;
  }
  return strstr(path, DFT_SPOOL_FOLDER "/") != NULL;
}

static int run_recover(int argc, char **argv) {
  arguments given = {.command = &command_recover, .argc = argc, .argv = argv};
  recover_plan plan = {.status = STATUS_DONE};
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'q') plan.is_quiet = 1;
    if (key == 'r') plan.is_recursive = 1;
    if (key == 'l') plan.is_lost = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "no folder given: PATH is missing");
  for (int i = 0; i < given.count; i++) {
    char *path = argv[given.first + i];
    struct stat facts;
    if (stat(path, &facts) != 0) {
      complain(&plan, path, errno);
    } else if (!S_ISDIR(facts.st_mode) && !is_of_a_trace(path)) {
      fprintf(stderr, "dftracer recover: %s: this is not a trace; name the folder of the traces, or a trace in it\n",
              path);
      plan.status = STATUS_FAILED;
    } else if (plan.is_recursive && S_ISDIR(facts.st_mode)) {
      recover_below(&plan, path);
    } else {
      recover(&plan, path);
    }
  }
  return plan.status;
}

const command command_recover = {
  .name = "recover",
  .arguments = "PATH...",
  .summary = "publish the traces of dead processes",
  .text =
    "Publishes the traces of processes that died before they could do so themselves: all events they had recorded, "
    "their "
    "open regions (marked open:1), and the end of the trace. PATH is the folder of the traces, or a trace in it.\n\n"
    "Traces of living processes are left alone, and so are those of other nodes, containers and users: run the command "
    "there. With --lost, processes that are not known to be alive count as dead. Use it only if you know that they "
    "have ended. If a spool is lost, for example because its node was rebooted, the events that were already written "
    "are "
    "published.\n\n"
    "It is safe to run this command twice, on several nodes at once, or beside a running job, and to kill it: no event "
    "is lost or duplicated. In a batch epilog, run it on every node of the job:\n\n"
    "  dftracer recover --quiet \"$SCRATCH/traces\"\n\n"
    "Exit status: 0 when everything that can be decided on this node is published, 1 when something failed and is "
    "still "
    "there.\n",
  .options = options,
  .run = run_recover,
};
