/* recover.c - publishes what dead processes left: the rest of their spool, regions that were open, the end.
 *
 * It does what the process itself would have done after its last commit, and commits the same way. So it may be killed at any
 * moment and run again. A lock on the spool keeps other recoveries out.
 * SPDX-License-Identifier: MIT */
#include "recover.h"

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
#include "drain/definition.h"
#include "drain/feed.h"
#include "drain/openregion.h"
#include "drain/output.h"
#include "pointer.h"
#include "publish.h"
#include "spool/clock.h"
#include "spool/commit.h"
#include "spool/gate.h"
#include "spool/intern.h"
#include "spool/leftover.h"
#include "spool/ownership.h"
#include "spool/tracefolder.h"
#include "taking.h"

#define UNFINISHED_SECONDS 60 /* a spool that has no header after this time never gets one */

#define QUEUED UINT64_MAX /* in name.defined: already in the list. A damaged bucket may lead to a name twice */

/* Calls for every registered path. It ends even if the list is damaged and runs in a circle. */
static void each_path(dft__spool *spool, void (*call)(dft__spool *spool, dft__name *name, uint32_t ref, uint64_t seq)) {
  uint64_t seq = dft__commit_current(spool)->seq;
  for (uint32_t bucket = 0; bucket < DFT__BUCKETS; bucket++) {
    uint32_t ref = DFT__GET(spool->header->bucket[bucket]);
    const dft__name *name;
    for (uint32_t steps = 0; steps < DFT__NAMES_MAX && (name = dft__name_at(spool, ref)) != NULL; steps++) {
      if (name->use == DFT__NAME_PATH) call(spool, (dft__name *)(uintptr_t)name, ref, seq);
      ref = DFT__GET(name->next);
    }
  }
}

static void forget_queue(dft__spool *spool, dft__name *name, uint32_t ref, uint64_t seq) {
  (void)spool;
  (void)ref;
  if (DFT__GET(name->defined) > seq) DFT__SET(name->defined, 0);
}

static void queue(dft__spool *spool, dft__name *name, uint32_t ref, uint64_t seq) {
  (void)seq;
  if (DFT__GET(name->defined)) return;
  DFT__SET(name->defined, QUEUED);
  DFT__SET(name->pending, DFT__GET(spool->header->pending_paths));
  DFT__SET(spool->header->pending_paths, ref);
}

void dft__recover_reset(dft__spool *spool) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) DFT__SET(chunk->claim, 0);
  /* Lists of free chunks may be damaged, so they are not followed. New chunks come from the end of the file. */
  for (uint32_t log = 0; log <= DFT__CHUNK_LOG_MAX; log++) DFT__SET(spool->header->free[log], 0);
  for (uint32_t log = 0; log < DFT__BLOCK_LOG; log++) DFT__SET(spool->header->block[log], 0);
  DFT__SET(spool->header->pending_paths, 0);
  each_path(spool, forget_queue);
  each_path(spool, queue);
}

static int is_over(const dft__unjudged *unjudged) {
  return unjudged && unjudged->is_over && unjudged->is_over();
}

/* Everything that is left, batch by batch. DFT_EBUSY: it was stopped in between. */
static dft_status write_rest(dft__outputs *outputs, const dft__unjudged *unjudged) {
  dft__workspace *workspace;
  dft_status status = dft__outputs_open(outputs);
  if (status != DFT_OK) return status;
  workspace = dft__workspace_make(outputs);
  if (!workspace) {
    dft__outputs_close(outputs, 0);
    return DFT_ENOMEM;
  }
  while (status == DFT_OK && !dft__commit_current(outputs->spool)->complete) {
    if (is_over(unjudged)) {
      status = DFT_EBUSY;
      break;
    }
    uint64_t seq = dft__commit_current(outputs->spool)->seq + 1;
    dft__batch_begin(&workspace->batch, outputs->spool, seq,
                     DFT__BATCH_FINAL | DFT__BATCH_RECOVERED | (seq == 1 ? DFT__BATCH_FIRST : 0));
    dft__clock_copy(&workspace->batch.clock, &outputs->spool->header->clock);
    dft__batch_claim(&workspace->batch, &workspace->queue, outputs->batch_text);
    dft__definition_take(&workspace->batch);
    dft__outputs_encode(outputs, workspace);
    status = dft__outputs_append(outputs, workspace);
  }
  dft__workspace_free(workspace);
  if (status == DFT_OK) return dft__outputs_close(outputs, 1);
  dft__outputs_close(outputs, 0);
  return status;
}

/* A later recovery may find the spool as this one leaves it. So another stem than the header's is not kept there. */
static dft_status publish(dft__spool *spool, const char *other_stem, dft_recovery *report,
                          const dft__unjudged *unjudged) {
  dft__outputs outputs;
  char name[DFT__PATH_MAX];
  dft_status status = dft__outputs_prepare(&outputs, spool);
  if (status != DFT_OK) return status;
  if (DFT__GET(spool->header->is_taken)) dft__ownership_untake(spool);
  dft__commit_redo(spool);
  dft__recover_reset(spool);
  if (!dft__commit_current(spool)->seq && !dft__feed_has_events(spool)) {
    dft__publish_clean(&outputs, spool->path);
    return DFT_OK;
  }
  if (!dft__commit_current(spool)->complete) status = write_rest(&outputs, unjudged);
  if (status == DFT_OK) status = dft__publish(&outputs, other_stem, name, sizeof name);
  if (status != DFT_OK) return status;
  report->events += dft__commit_current(spool)->events;
  report->published++;
  dft__publish_clean(&outputs, spool->path);
  return DFT_OK;
}

/* What the process has recorded so far, in the outputs of its spool. Zero when that is nothing. */
static int write_taken(dft__spool *spool, dft_status *status) {
  dft__outputs outputs;
  dft__spool copy;
  int is_empty;
  *status = dft__taking_begin(spool, &copy);
  if (*status != DFT_OK) return 1;
  dft__commit_redo(&copy);
  dft__recover_reset(&copy);
  is_empty = !dft__commit_current(&copy)->seq && !dft__feed_has_events(&copy);
  if (!is_empty) *status = dft__outputs_prepare(&outputs, &copy);
  if (!is_empty && *status == DFT_OK && !dft__commit_current(&copy)->complete) *status = write_rest(&outputs, NULL);
  if (!is_empty && *status == DFT_OK) dft__taking_complete(spool, &copy);
  dft__taking_drop(&copy);
  return !is_empty;
}

/* Of a process that may be alive. The spool stays, for the regions that are open and what else the process may record. If there is
 * nothing more a minute later, the process counts as dead. */
static dft_status publish_taken(dft__spool *spool, dft_recovery *report) {
  dft__outputs outputs;
  char name[DFT__PATH_MAX];
  dft_status status = dft__outputs_prepare(&outputs, spool);
  if (status != DFT_OK) return status;
  if (!dft__taking_is_complete(spool) && !write_taken(spool, &status)) {
    if (dft__taking_is_long_ago(spool)) return publish(spool, NULL, report, NULL);
    dft__taking_end(spool, 0);
    return DFT_OK;
  }
  if (status == DFT_OK) status = dft__publish(&outputs, NULL, name, sizeof name);
  if (status != DFT_OK) return status;
  report->events += dft__commit_current(spool)->events;
  report->published++;
  dft__taking_end(spool, 1);
  return DFT_OK;
}

/* ---- One claim ---------------------------------------------------------------------------------------------------- */

/* Whether a line of /proc/self/maps is another mapping of this file than the one through which it is recovered. The device is
 * not compared: overlay file systems show another one there. */
static int is_mapping_of(const dft__spool *spool, const char *line, const char *name) {
  unsigned long long start, inode;
  if (sscanf(line, "%llx-%*x %*s %*x %*x:%*x %llu", &start, &inode) != 2 || inode != spool->inode) return 0;
  return strstr(line, name) && start - (unsigned long long)(uintptr_t)spool->base >= spool->map_bytes;
}

/* Whether another copy of the library in this process traces into it. */
static int is_used_by_another_copy(const dft__spool *spool) {
  char text[2 * DFT__PATH_MAX];
  const char *name = strrchr(spool->path, '/');
  size_t len = 0;
  int is_used = 0, fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  ssize_t got;
  while (fd >= 0 && !is_used && (got = read(fd, text + len, sizeof text - 1 - len)) > 0) {
    char *line = text, *end;
    text[len + (size_t)got] = '\0';
    for (; !is_used && (end = strchr(line, '\n')) != NULL; line = end + 1) {
      *end = '\0';
      is_used = is_mapping_of(spool, line, name);
    }
    len = strlen(line);
    memmove(text, line, len);
    if (len == sizeof text - 1) len = 0;
  }
  if (fd >= 0) close(fd);
  return is_used;
}

/* A spool of this very process that is not in use was left by the image before an exec, or by a trace that could not be
 * completed: it counts as dead. So does one whose lock is free, wherever its process ran: nobody can write there any more. But
 * a process that is known to live called exec, and its new image may continue the spool. */
static enum dft__life life_of(const dft__spool *spool, const dft__identity *own) {
  dft__identity identity;
  enum dft__life life;
  dft__spool_owner(spool, &identity);
  life = dft__identity_life(&identity, own);
  if (life == DFT__UNKNOWN && dft__spool_is_let_go(spool)) return DFT__DEAD;
  if (life == DFT__ALIVE && identity.pid == own->pid) {
    if (identity.image != own->image) return DFT__DEAD;
    int is_in_use = dft__session.is_open && dft__session.spool->inode == spool->inode &&
                    dft__session.spool->device == spool->device;
    if (!is_in_use && !is_used_by_another_copy(spool)) return DFT__DEAD;
  }
  return life;
}

static int is_never_finished(const char *path) {
  struct stat facts;
  return dft__held_stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
         facts.st_mtime + UNFINISHED_SECONDS < time(NULL);
}

/* The magic is written last. A spool without one is being made, or was never finished. */
static int has_magic(const char *path) {
  char magic = '\0';
  int fd = dft__held_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  int is_read = fd >= 0 && read(fd, &magic, 1) == 1;
  if (fd >= 0) close(fd);
  return is_read && magic;
}

/* Folder, hidden folder and base of a claim. Zero when it does not lie in a trace folder. */
static int split(const char *claim, char folder[4096], char inner[DFT__INNER_BYTES], char base[256]) {
  const char *name = strrchr(claim, '/') + 1;
  size_t folder_len = dft__tracefolder_folder_len(claim, inner);
  size_t base_len = dft__tracefolder_base_len(name);
  if (!folder_len || folder_len >= 4096 || base_len >= 256) return 0;
  memcpy(folder, claim, folder_len);
  memcpy(base, name, base_len);
  folder[folder_len] = base[base_len] = '\0';
  return 1;
}

/* Whether a live output lies beside the claim. */
static int has_live_output(const dft__tracefolder *at, const char *claim) {
  char sink[256];
  int is_found = 0;
  for (uint32_t i = 0; i < DFT__SINKS_MAX && !is_found; i++) is_found = dft__tracefolder_find_live(at, claim, i, sink);
  return is_found;
}

/* The folder of the claim counts, not the one in the header: a trace's folder may have been moved. It is absolute, as all that
 * a header holds. */
static int adopt_folder(dft__spool *spool, const char *claim) {
  char folder[4096], base[256];
  if (claim[0] != '/' || !split(claim, folder, spool->inner, base) || strcmp(spool->header->base, base) != 0) return 0;
  memcpy(spool->header->folder, folder, strlen(folder) + 1);
  return 1;
}

/* Nonzero when the spool is left alone. */
static int leaves(dft__unjudged *unjudged, const char *claim, const dft__spool *spool) {
  if (!unjudged) return 1;
  if (unjudged->tell) unjudged->tell(claim, spool->header->pid, spool->header->host, unjudged->context);
  unjudged->count += !unjudged->is_taken;
  return !unjudged->is_taken;
}

static dft_status recover_open(dft__spool *spool, const char *claim, const dft__identity *own, dft_recovery *report,
                               dft__unjudged *unjudged, int give_new_name) {
  enum dft__life life = life_of(spool, own);
  char stem[sizeof spool->header->stem];
  dft_status status;
  if (life == DFT__ALIVE) {
    report->alive++;
    return DFT_EBUSY;
  }
  if (life == DFT__UNKNOWN && leaves(unjudged, claim, spool)) {
    report->foreign++;
    return DFT_EBUSY;
  }
  if (!adopt_folder(spool, claim)) {
    report->failed++;
    return DFT_EFORMAT;
  }
  snprintf(stem, sizeof stem, "%.220s-%u", spool->header->stem, spool->header->pid);
  status = DFT_OK;
  if (life == DFT__UNKNOWN || dft__taking_is_complete(spool)) status = publish_taken(spool, report);
  if (life == DFT__DEAD && status == DFT_OK) status = publish(spool, give_new_name ? stem : NULL, report, unjudged);
  if (status != DFT_OK && status != DFT_EBUSY) report->failed++;
  return status;
}

/* The hidden folder of the claim is held. */
static dft_status recover_one(const dft__tracefolder *at, const char *claim, const dft__identity *own,
                              dft_recovery *report, dft__unjudged *unjudged, int give_new_name) {
  char path[DFT__PATH_MAX];
  dft__spool spool;
  dft_status status;
  switch (dft__pointer_follow(claim, own, path, sizeof path)) {
    case DFT__CLAIM_NONE:
      if (is_never_finished(claim)) dft__held_unlink(claim);
      return DFT_OK;
    case DFT__CLAIM_STALE:
      if (has_live_output(at, claim)) return DFT_EBUSY; /* dft_recover_lost makes a trace of what was written */
      dft__held_unlink(claim);
      return DFT_OK;
    case DFT__CLAIM_ALIVE: report->alive++; return DFT_EBUSY;
    case DFT__CLAIM_FOREIGN: report->foreign++; return DFT_EBUSY;
    case DFT__CLAIM_SPOOL:
    case DFT__CLAIM_POINTER: break;
  }
  status = dft__spool_open(&spool, path);
  if (status == DFT_EBUSY) {
    report->alive++; /* another recovery is at work */
    return status;
  }
  if (status != DFT_OK) {
    struct stat facts;
    if (dft__held_stat(path, &facts) != 0) {
      if (errno == ENOENT) return DFT_OK; /* removed in between */
      report->failed++;
      return DFT_EIO;
    }
    if (facts.st_uid == geteuid() && status == DFT_EFORMAT && (!S_ISREG(facts.st_mode) || has_magic(path))) {
      report->unknown++;
      return DFT_EBUSY;
    }
    if (status == DFT_EFORMAT && is_never_finished(path)) {
      if (dft__pointer_is_spool_path(path)) dft__held_unlink(path);
      if (strcmp(path, claim) != 0) dft__held_unlink(claim);
      return DFT_OK;
    }
    if (facts.st_uid != geteuid()) report->foreign++;
    else if (status == DFT_EFORMAT) report->alive++; /* being made at this moment */
    else report->failed++;
    return facts.st_uid != geteuid() || status == DFT_EFORMAT ? DFT_EBUSY : status;
  }
  status = recover_open(&spool, claim, own, report, unjudged, give_new_name);
  dft__spool_close(&spool);
  return status;
}

dft_status dft__recover_claim(const dft__tracefolder *at, const char *claim, const dft__identity *own,
                              int give_new_name) {
  dft_recovery report = {.struct_size = sizeof report};
  return recover_one(at, claim, own, &report, NULL, give_new_name);
}

/* ---- A folder ----------------------------------------------------------------------------------------------------- */

static dft_status recover_claims(const dft__tracefolder *at, const char *inner, dft_recovery *report,
                                 dft__unjudged *unjudged) {
  char claim[DFT__PATH_MAX + 256];
  dft_status first = DFT_OK;
  dft__identity own;
  struct dirent *entry;
  DIR *entries = dft__tracefolder_list(at);
  if (!entries) return DFT_EIO;
  dft__identity_own(&own);
  while (!is_over(unjudged) && (entry = readdir(entries)) != NULL) {
    dft_status status;
    if (!dft__tracefolder_base_len(entry->d_name)) continue;
    snprintf(claim, sizeof claim, "%s/%s", inner, entry->d_name);
    status = recover_one(at, claim, &own, report, unjudged, 0);
    if (status != DFT_OK && status != DFT_EBUSY && first == DFT_OK) first = status;
  }
  closedir(entries);
  return first;
}

/* One hidden folder. Those of other users, and symbolic links, are left alone. */
static dft_status recover_inner(const char *folder, const char *hidden, dft_recovery *report, dft__unjudged *unjudged) {
  char inner[DFT__PATH_MAX];
  dft__tracefolder at;
  dft_status first = DFT_OK;
  if (!dft__tracefolder_inner(inner, sizeof inner, folder, hidden)) return DFT_EINVAL;
  if (dft__tracefolder_enter(&at, folder, hidden)) {
    first = recover_claims(&at, inner, report, unjudged);
    dft__held_rmdir(inner); /* when nothing is left in it */
  } else if (errno != ENOENT && errno != EPERM) {
    first = DFT_EIO;
  }
  dft__tracefolder_leave(&at);
  if (report->failed) {
    dft__log(DFT__LOG_RECOVER, DFT__LOG_ERROR,
             "%u trace(s) of dead processes in %s could not be published: %s; they are kept "
             "(try again with: dftracer recover %s)",
             report->failed, inner, dft_status_text(first), folder);
  }
  return first;
}

dft_status dft__recover_folder(const char *folder, dft_recovery *report, dft__unjudged *unjudged) {
  char hidden[DFT__INNER_BYTES];
  dft_recovery own_report = {.struct_size = sizeof own_report};
  dft_status first = DFT_OK;
  for (int number = 0; dft__tracefolder_name(hidden, number); number++) {
    dft_status status = recover_inner(folder, hidden, report ? report : &own_report, unjudged);
    if (first == DFT_OK) first = status;
  }
  return first;
}

int dft__recover_find_folder(const char *path, char folder[DFT__PATH_MAX]) {
  char named[DFT__PATH_MAX];
  struct stat facts;
  size_t len = strlen(path);
  if (len >= DFT__PATH_MAX || stat(path, &facts) != 0) return 0;
  memcpy(named, path, len + 1);
  while (len > 1 && named[len - 1] == '/') named[--len] = '\0';
  if (!S_ISDIR(facts.st_mode) || dft__tracefolder_is_inner(named)) {
    char *slash = strrchr(named, '/');
    if (slash) slash[slash == named] = '\0';
    else memcpy(named, ".", 2);
  }
  return realpath(named, folder) != NULL;
}

typedef struct recovering {
  const char *path;
  dft_recovery all;
  dft_status status;
} recovering;

static void recover_aside(void *work) {
  recovering *own = work;
  char folder[DFT__PATH_MAX];
  if (!dft__recover_find_folder(own->path, folder)) return;
  dft__gzip_load();
  own->status = dft__recover_folder(folder, &own->all, NULL);
  own->all.foreign += dft__tracefolder_count_others(folder);
}

dft_status dft_recover(const char *path, dft_recovery *report) {
  recovering own = {.path = path, .all.struct_size = sizeof own.all, .status = DFT_EIO};
  int saved = errno;
  if (!path || !*path || strlen(path) >= DFT__PATH_MAX) return DFT_EINVAL;
  dft__aside_run_long(recover_aside, &own);
  errno = saved;
  if (report) {
    own.all.struct_size = report->struct_size;
    memcpy(report, &own.all, report->struct_size < sizeof own.all ? report->struct_size : sizeof own.all);
  }
  return own.status;
}
