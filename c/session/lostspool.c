/* lostspool.c - traces whose spool is gone, with the memory of its node: what had been written already becomes a trace.
 *
 * A claim outlives its spool when that was in /dev/shm and the node was restarted, or its memory was cleaned up. The live
 * outputs beside the claim are still there. The sink that wrote one knows how much of it is whole (dft_sink.salvage).
 * SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/log.h"
#include "codec/gzip.h"
#include "drain/sinkspec.h"
#include "pointer.h"
#include "publish.h"
#include "recover.h"
#include "spool/tracefolder.h"

/* DEAD: the spool is gone. UNKNOWN: it cannot be found here, and its process may be alive elsewhere. */
static enum dft__life judge(const char *claim, dft__pointer *pointer, const dft__identity *own) {
  struct stat facts;
  if (!dft__pointer_read(claim, pointer) || dft__held_stat(pointer->spool, &facts) == 0) return DFT__ALIVE;
  return errno == ENOENT ? dft__pointer_life(pointer, own) : DFT__UNKNOWN;
}

/* ---- One output ------------------------------------------------------------------------------------------------------- */

typedef struct lost_output {
  const char *claim;
  const char *folder;
  const char *base;
  const dft_sink *sink;
  char path[DFT__PATH_MAX];
  char spec[256]; /* of the sink */
} lost_output;

/* The sink that wrote BASE.INDEX-NAME. NAME may have the ending of a further file: then the sink's own file is missing. */
static int find_sink(lost_output *output, uint32_t index, char *name, const dft__pointer *pointer) {
  const char *setting = secure_getenv("DFTRACER_SINK");
  char *dash = strchr(name, '-');
  for (;;) {
    output->sink = dft__sinkspec_named(pointer->sinks, name, output->spec, sizeof output->spec);
    if (!output->sink && setting) output->sink = dft__sinkspec_named(setting, name, output->spec, sizeof output->spec);
    if (output->sink || !dash) break;
    *dash = '\0';
    dash = NULL;
  }
  return output->sink &&
         dft__tracefolder_live_beside(output->path, sizeof output->path, output->claim, output->base, index, name);
}

static int is_own_file(const char *path) {
  struct stat facts;
  if (dft__held_stat(path, &facts) != 0) return errno == ENOENT; /* the sink may have further files */
  return S_ISREG(facts.st_mode) && facts.st_uid == geteuid() && facts.st_nlink == 1;
}

/* For sinks without `salvage`. */
static dft_status take_as_it_is(const lost_output *output, dft_salvaged *salvaged, char *why, size_t size) {
  struct stat facts;
  if (DFT__SINK_HAS(output->sink, finish)) {
    snprintf(why, size, "its sink, %s, cannot complete a trace without its spool", output->spec);
    return DFT_ENOSINK;
  }
  if (dft__held_stat(output->path, &facts) != 0) return DFT_EIO;
  salvaged->is_empty = facts.st_size == 0;
  return DFT_OK;
}

static dft_status salvage(const lost_output *output, dft_salvaged *salvaged, char *why, size_t size) {
  dft_sink_target target = {
    .struct_size = sizeof target, .path = output->path, .level = 1, .options = dft__sinkspec_options(output->spec)};
  if (!is_own_file(output->path)) {
    snprintf(why, size, "another user owns it");
    return DFT_EIO;
  }
  if (!DFT__SINK_HAS(output->sink, salvage)) return take_as_it_is(output, salvaged, why, size);
  return output->sink->salvage(&target, salvaged, why, size);
}

/* The process id that a name ends with, when the output does not say it. */
static uint64_t last_number(const char *base) {
  const char *dash = strrchr(base, '-');
  return dash ? strtoull(dash + 1, NULL, 10) : 0;
}

/* As the process would have done: PREFIX-HOST-PID says what the trace holds, an explicit name is used as it is. */
static dft_status publish(const lost_output *output, const dft_salvaged *salvaged) {
  const dft_sink *sink = output->sink;
  const char *suffix = salvaged->is_plain && sink->plain_suffix ? sink->plain_suffix : sink->suffix;
  uint64_t pid = salvaged->pid ? salvaged->pid : last_number(output->base);
  size_t len = strlen(output->base), end_len;
  char stem[512], end[24], published[DFT__PATH_MAX];
  const char *kind = "";
  end_len = (size_t)snprintf(end, sizeof end, "-%llu", (unsigned long long)pid);
  if (len > end_len && strcmp(output->base + len - end_len, end) == 0)
    kind = salvaged->is_annotated || !salvaged->pid ? "-app" : "-preload";
  if (!suffix) return DFT_EINVAL;
  snprintf(stem, sizeof stem, "%s%s", output->base, kind);
  return dft__publish_new(output->path, output->folder, stem, suffix, published, sizeof published);
}

static dft_status settle(const lost_output *output, uint64_t *events, int *is_published) {
  dft_salvaged salvaged = {.struct_size = sizeof salvaged};
  char why[512] = "";
  dft_status status = salvage(output, &salvaged, why, sizeof why);
  if (status == DFT_OK && salvaged.is_empty) {
    return dft__held_unlink(output->path) == 0 || errno == ENOENT ? DFT_OK : DFT_EIO;
  }
  if (status == DFT_OK) status = publish(output, &salvaged);
  if (status != DFT_OK) {
    dft__log(DFT__LOG_RECOVER, DFT__LOG_ERROR, "cannot publish %s: %s; it is kept", output->path,
             *why ? why : dft_status_text(status));
    return status;
  }
  if (salvaged.events > *events) *events = salvaged.events;
  *is_published = 1;
  return DFT_OK;
}

/* ---- One claim ---------------------------------------------------------------------------------------------------------- */

/* Zero when something is left. */
static int settle_claim(const dft__tracefolder *at, const char *folder, const char *base, const char *claim,
                        const dft__pointer *pointer, dft_lost_spools *report) {
  lost_output output = {.claim = claim, .folder = folder, .base = base};
  char name[256];
  uint64_t events = 0;
  int is_published = 0;
  for (uint32_t i = 0; i < DFT__SINKS_MAX; i++) {
    if (!dft__tracefolder_find_live(at, claim, i, name)) continue;
    if (!find_sink(&output, i, name, pointer)) {
      dft__log(DFT__LOG_RECOVER, DFT__LOG_ERROR,
               "cannot publish the output %u-%s of %s: its sink is unknown; it is kept "
               "(run dftracer recover with DFTRACER_SINK=/path/x.so, the sink that wrote it)",
               i, name, claim);
    } else if (settle(&output, &events, &is_published) == DFT_OK && !dft__tracefolder_find_live(at, claim, i, name)) {
      continue;
    }
    report->failed++;
    return 0;
  }
  report->published += (uint32_t)is_published;
  report->events += events;
  return dft__held_unlink(claim) == 0;
}

/* The process may be alive elsewhere. From now on it does not append (drain/output.h), once what it is writing is written. */
static void mark(const dft__tracefolder *at, const char *claim) {
  char sink[256];
  struct timespec pause = {1, 0};
  int fd = dft__held_open(claim, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0) return;
  if (fchmod(fd, 0700) == 0 && dft__tracefolder_find_live(at, claim, 0, sink))
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  close(fd);
}

static dft_status settle_claims(const dft__tracefolder *at, const char *folder, const char *hidden,
                                dft__unjudged *unjudged, dft_lost_spools *report) {
  char claim[DFT__PATH_MAX], base[256];
  dft__identity own;
  dft__pointer pointer;
  const struct dirent *entry;
  DIR *entries = dft__tracefolder_list(at);
  if (!entries) return DFT_EIO;
  dft__identity_own(&own);
  while ((entry = readdir(entries)) != NULL) {
    size_t len = dft__tracefolder_base_len(entry->d_name);
    enum dft__life life;
    if (!len || len >= sizeof base) continue;
    memcpy(base, entry->d_name, len);
    base[len] = '\0';
    if (!dft__tracefolder_claim(claim, sizeof claim, folder, hidden, base)) continue;
    life = judge(claim, &pointer, &own);
    if (life == DFT__ALIVE) continue;
    if (life == DFT__UNKNOWN && unjudged->tell)
      unjudged->tell(claim, pointer.owner.pid, pointer.owner.host, unjudged->context);
    if (life == DFT__UNKNOWN && unjudged->is_taken) mark(at, claim);
    if (life == DFT__UNKNOWN && !unjudged->is_taken) unjudged->count++;
    else if (settle_claim(at, folder, base, claim, &pointer, report)) report->settled += life == DFT__UNKNOWN;
  }
  closedir(entries);
  return DFT_OK;
}

/* One hidden folder. Those of other users, and symbolic links, are left alone. */
static dft_status settle_inner(const char *folder, const char *hidden, dft__unjudged *unjudged,
                               dft_lost_spools *report) {
  char inner[DFT__PATH_MAX];
  dft__tracefolder at;
  dft_status status = DFT_OK;
  if (!dft__tracefolder_inner(inner, sizeof inner, folder, hidden)) return DFT_EINVAL;
  if (dft__tracefolder_enter(&at, folder, hidden)) {
    status = settle_claims(&at, folder, hidden, unjudged, report);
    dft__held_rmdir(inner); /* if it is empty */
  } else if (errno != ENOENT && errno != EPERM) {
    status = DFT_EIO;
  }
  dft__tracefolder_leave(&at);
  return status;
}

static dft_status settle_folder(const char *folder, dft__unjudged *unjudged, dft_lost_spools *report) {
  char hidden[DFT__INNER_BYTES];
  dft_status first = DFT_OK;
  for (int number = 0; dft__tracefolder_name(hidden, number); number++) {
    dft_status status = settle_inner(folder, hidden, unjudged, report);
    if (first == DFT_OK) first = status;
  }
  return first;
}

/* Spools that are there, and whose processes may be alive. */
static dft_status take_folder(const char *folder, dft__unjudged *unjudged, dft_lost_spools *report) {
  dft_recovery taken = {.struct_size = sizeof taken};
  dft_status status = dft__recover_folder(folder, &taken, unjudged);
  report->taken = taken.published;
  report->settled += taken.published;
  report->failed += taken.failed;
  report->events += taken.events;
  return status;
}

typedef struct losing {
  const char *path;
  dft__unjudged unjudged;
  dft_lost_spools all;
  dft_status status;
} losing;

static void recover_aside(void *work) {
  losing *own = work;
  char folder[DFT__PATH_MAX];
  dft__gzip_load();
  if (!dft__recover_find_folder(own->path, folder)) return;
  own->status = settle_folder(folder, &own->unjudged, &own->all);
  if (own->status == DFT_OK) own->status = take_folder(folder, &own->unjudged, &own->all);
  own->all.waiting = own->unjudged.count;
}

dft_status dft_recover_lost(const char *path, int is_lost, dft_lost_spools *report) {
  losing own = {.path = path, .unjudged.is_taken = is_lost, .status = DFT_EIO};
  int saved = errno;
  if (!path || !*path) return DFT_EINVAL;
  own.all.struct_size = report ? report->struct_size : 0;
  if (report && report->struct_size >= sizeof own.all) {
    own.unjudged.tell = own.all.tell = report->tell;
    own.unjudged.context = own.all.context = report->context;
  }
  dft__aside_run_long(recover_aside, &own);
  errno = saved;
  if (report) memcpy(report, &own.all, report->struct_size < sizeof own.all ? report->struct_size : sizeof own.all);
  return own.status;
}
