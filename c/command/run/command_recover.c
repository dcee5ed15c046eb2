/* command_recover.c - dftracer recover: publishes the traces of dead processes.
 * SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/trace/suffix.h"
#include "otherusers.h"

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

static void complain(recover_plan *plan, const char *path, int error) {
  fprintf(stderr, "dftracer recover: %s: %s\n", printable(path), strerror(error));
  plan->status = STATUS_FAILED;
}

/* What was done in one folder. Children of root share it. */
typedef struct recovery {
  recover_plan *plan;
  const char *path;
  dft_recovery sum;
  uint32_t without_spool; /* published ones */
  uint32_t waiting;       /* left alone; --lost would publish them */
  dft_status status;
} recovery;

static int has_found(const dft_recovery *sum) {
  return sum->published || sum->alive || sum->foreign || sum->unknown || sum->failed;
}

static void print(const recovery *done) {
  const dft_recovery *sum = &done->sum;
  char events[FORMAT_BYTES];
  if (!has_found(sum)) {
    printf("nothing to recover in %s\n", printable(done->path));
    return;
  }
  printf("%s: %u trace%s published, %s event%s", printable(done->path), sum->published, plural(sum->published),
         format_count(events, sum->events), plural(sum->events));
  if (done->without_spool) printf(" (%u without a spool: events not yet written are lost)", done->without_spool);
  if (sum->alive) printf("; %u left alone: in use", sum->alive);
  if (sum->foreign) printf("; %u left alone: of another node, container or user", sum->foreign);
  if (sum->unknown) printf("; %u left alone: not a spool of this version", sum->unknown);
  if (done->waiting) printf("; if their processes have ended, run 'dftracer recover --lost %s'", printable(done->path));
  if (sum->failed) printf("; %u failed and left in place: %s", sum->failed, dft_status_text(done->status));
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
  if (pid) printf("%s: process %u of %s is not known to be dead; %s\n", printable(claim), pid, node, fate);
  else printf("%s: its process, of %s, is not known to be dead; %s\n", printable(claim), node, fate);
}

static void recover_own(recovery *done) {
  dft_recovery report = {.struct_size = sizeof report};
  dft_lost_spools saved = {.struct_size = sizeof saved, .tell = name_unjudged, .context = done->plan};
  dft_status status = dft_recover(done->path, &report);
  if (status == DFT_OK) status = dft_recover_lost(done->path, done->plan->is_lost, &saved);
  if (saved.failed && status == DFT_OK) status = DFT_EIO;
  done->sum.published += report.published + saved.published + saved.taken;
  done->sum.events += report.events + saved.events;
  done->sum.failed += report.failed + saved.failed;
  done->sum.alive = report.alive;
  done->sum.foreign = report.foreign - (saved.settled < report.foreign ? saved.settled : report.foreign);
  done->sum.unknown = report.unknown;
  done->without_spool += saved.published;
  done->waiting = saved.waiting;
  if (status != DFT_OK) done->status = status;
}

/* In a child of root. What stays there is counted afterwards, by root, as another user's. */
static void recover_as_another(void *context) {
  recover_own(context);
}

static void recover(recover_plan *plan, const char *path) {
  recovery *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const dft_recovery *sum = &done->sum;
  if (done == MAP_FAILED) {
    complain(plan, path, errno);
    return;
  }
  *done = (recovery){.plan = plan, .path = path};
  otherusers_each(path, recover_as_another, done);
  recover_own(done);
  if (done->status != DFT_OK) plan->status = STATUS_FAILED;
  if (done->status != DFT_OK && !sum->failed) {
    fprintf(stderr, "dftracer recover: %s: %s\n", printable(path), dft_status_text(done->status));
  } else if (has_found(sum) || !plan->is_quiet) {
    print(done);
  }
  munmap(done, sizeof *done);
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
              printable(path));
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
    "there. Root publishes the traces of all users; each stays its user's. With --lost, processes that are not known "
    "to be alive count as dead. Use it only if you know that they "
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
