/* recover.c - publishes what dead processes left: the rest of their spool, regions that were open, the end.
 *
 * It does what the process itself would have done, from its last commit on, and commits the same way: it may be killed
 * at any moment and run again. A lock on the spool keeps others out.
 * SPDX-License-Identifier: MIT */
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/signals.h"
#include "drain/batch.h"
#include "place.h"
#include "session.h"
#include "sinks/sinks.h"
#include "spool/clock.h"
#include "spool/intern.h"
#include "spool/leftover.h"

#define UNFINISHED_SECONDS 60 /* a spool without a header this long after its birth was never finished */

#define QUEUED UINT64_MAX /* in name.defined: already in the list; a damaged bucket may lead to a name twice */

/* Calls for every registered path; no damage makes it run without end. */
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

/* Claims of encoders that died, and the list of undefined paths, which may have been in one of their hands. */
void dft__recover_reset(dft__spool *spool) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) DFT__SET(chunk->claim, 0);
  /* Lists that lead through the file are not followed; what is needed comes from its end. */
  for (uint32_t log = 0; log <= DFT__CHUNK_LOG_MAX; log++) DFT__SET(spool->header->free[log], 0);
  for (uint32_t log = 0; log < DFT__BLOCK_LOG; log++) DFT__SET(spool->header->block[log], 0);
  DFT__SET(spool->header->pending_paths, 0);
  each_path(spool, forget_queue);
  each_path(spool, queue);
}

/* Everything that is left, batch by batch. */
static dft_status write_rest(dft__output *output) {
  dft__encoder *encoder;
  dft_status status = dft__output_open(output);
  if (status != DFT_OK) return status;
  encoder = dft__encoder_make(output);
  if (!encoder) {
    dft__output_close(output, 0);
    return DFT_ENOMEM;
  }
  while (status == DFT_OK && !dft__commit_current(output->spool)->complete) {
    uint64_t seq = dft__commit_current(output->spool)->seq + 1;
    dft__batch_begin(&encoder->batch, output->spool, seq,
                     DFT__BATCH_FINAL | DFT__BATCH_RECOVERED | (seq == 1 ? DFT__BATCH_FIRST : 0));
    dft__clock_copy(&encoder->batch.clock, &output->spool->header->clock);
    dft__batch_claim(&encoder->batch, UINT64_MAX);
    dft__batch_take_definitions(&encoder->batch);
    dft__output_encode(output, encoder);
    status = dft__output_append(output, encoder);
  }
  dft__encoder_free(encoder);
  if (status == DFT_OK) return dft__output_close(output, 1);
  dft__output_close(output, 0);
  return status;
}

static dft_status publish(dft__spool *spool, dft_recovery *report) {
  dft__output output;
  char name[DFT__PATH_MAX];
  dft_status status = dft__output_prepare(&output, spool);
  if (status != DFT_OK) return status;
  dft__commit_redo(spool);
  dft__recover_reset(spool);
  if (!dft__commit_current(spool)->seq && !dft__batch_has_events(spool)) {
    dft__place_clean(&output, spool->path);
    return DFT_OK;
  }
  if (!dft__commit_current(spool)->complete) status = write_rest(&output);
  if (status == DFT_OK) status = dft__place_publish(&output, name, sizeof name);
  if (status != DFT_OK) return status;
  report->events += dft__commit_current(spool)->events;
  report->published++;
  dft__place_clean(&output, spool->path);
  return DFT_OK;
}

/* ---- One claim ---------------------------------------------------------------------------------------------------- */

/* A line of /proc/self/maps that is a mapping of this file, and not the one through which it is recovered. The device is not
 * compared: overlay file systems show another one there. */
static int is_mapping_of(const dft__spool *spool, const char *line, const char *name) {
  unsigned long long start, inode;
  if (sscanf(line, "%llx-%*x %*s %*x %*x:%*x %llu", &start, &inode) != 2 || inode != spool->inode) return 0;
  return strstr(line, name) && start - (unsigned long long)(uintptr_t)spool->base >= spool->map_bytes;
}

/* Another copy of the library in this process traces into it. */
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

/* A spool of this very process that nobody in it uses was left by the image before an exec, or by a trace that could not be
 * completed. */
static enum dft__life life_of(const dft__spool *spool, const dft__identity *own) {
  dft__identity identity;
  enum dft__life life;
  dft__spool_owner(spool, &identity);
  life = dft__identity_life(&identity, own);
  if (life == DFT__ALIVE && identity.pid == own->pid) {
    if (identity.image != own->image) return DFT__DEAD;
    int is_in_use = dft__session.is_open && dft__session.spool->inode == spool->inode &&
                    dft__session.spool->device == spool->device;
    if (!is_in_use && !is_used_by_another_copy(spool)) return DFT__DEAD;
  }
  return life;
}

/* A pointer may lead to anything; only what has the name of a spool is tidied up. */
static int is_spool_name(const char *path) {
  const char *name = strrchr(path, '/') + 1;
  size_t len = strlen(name);
  size_t folder = sizeof "/.dftracer" - 1;
  if (len < 6 || strcmp(name + len - 6, ".spool") != 0) return 0;
  if (strncmp(name, "dftracer-", 9) == 0) return 1;
  return (size_t)(name - 1 - path) >= folder && strncmp(name - 1 - folder, "/.dftracer", folder) == 0;
}

static int is_never_finished(const char *path) {
  struct stat facts;
  return lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
         facts.st_mtime + UNFINISHED_SECONDS < time(NULL);
}

/* The magic is written last: a spool without one is being made, or never was. */
static int has_magic(const char *path) {
  char magic[sizeof DFT__MAGIC] = "";
  dft__read_file(path, magic, sizeof magic);
  return magic[0] != '\0';
}

/* Output that nobody published stands beside the claim. */
static int has_live_file(const char *claim) {
  static const char *const endings[] = {"0-jsonl", "0-hdf5", "1-hdf5"};
  char path[DFT__PATH_MAX];
  struct stat facts;
  size_t len = strlen(claim) - strlen("spool");
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    if (snprintf(path, sizeof path, "%.*s%s", (int)len, claim, endings[i]) < (int)sizeof path &&
        lstat(path, &facts) == 0)
      return 1;
  }
  return 0;
}

/* The folder of the claim counts, not the one in the header: a trace's folder may have been moved. */
static int adopt_folder(dft__spool *spool, const char *claim) {
  const char *end = strstr(claim, "/.dftracer/");
  const char *name = strrchr(claim, '/') + 1;
  size_t base_len = strlen(name) - strlen(".spool");
  if (!end || end == claim || (size_t)(end - claim) >= sizeof spool->header->folder) return 0;
  if (strlen(spool->header->base) != base_len || memcmp(spool->header->base, name, base_len) != 0) return 0;
  memcpy(spool->header->folder, claim, (size_t)(end - claim));
  spool->header->folder[end - claim] = '\0';
  return 1;
}

static dft_status recover_open(dft__spool *spool, const char *claim, const dft__identity *own, dft_recovery *report,
                               int is_explicit, int give_new_name) {
  enum dft__life life = life_of(spool, own);
  dft_status status;
  if (life == DFT__ALIVE) {
    report->alive++;
    return DFT_EBUSY;
  }
  if (life == DFT__FOREIGN || (life == DFT__REBOOTED && !is_explicit)) {
    report->foreign++;
    return DFT_EBUSY;
  }
  if (!adopt_folder(spool, claim)) {
    report->failed++;
    return DFT_EFORMAT;
  }
  if (give_new_name && spool->header->is_explicit) {
    char stem[256];
    snprintf(stem, sizeof stem, "%.220s-%u", spool->header->stem, spool->header->pid);
    memcpy(spool->header->stem, stem, sizeof stem);
  }
  status = publish(spool, report);
  if (status != DFT_OK) report->failed++;
  return status;
}

static dft_status recover_one(const char *claim, const dft__identity *own, dft_recovery *report, int is_explicit,
                              int give_new_name) {
  char path[DFT__PATH_MAX];
  dft__spool spool;
  dft_status status;
  switch (dft__place_follow(claim, own, path, sizeof path)) {
    case DFT__CLAIM_NONE:
      if (is_never_finished(claim)) unlink(claim);
      return DFT_OK;
    case DFT__CLAIM_STALE:
      if (has_live_file(claim))
        return DFT_EBUSY; /* its spool was taken away: the command makes a trace of what was written */
      unlink(claim);
      return DFT_OK;
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
    if (lstat(path, &facts) != 0) return DFT_OK; /* gone in between */
    if (facts.st_uid == geteuid() && status == DFT_EFORMAT && (!S_ISREG(facts.st_mode) || has_magic(path))) {
      report->unknown++;
      return DFT_EBUSY;
    }
    if (status == DFT_EFORMAT && is_never_finished(path)) {
      if (is_spool_name(path)) unlink(path);
      if (strcmp(path, claim) != 0) unlink(claim);
      return DFT_OK;
    }
    if (facts.st_uid != geteuid()) report->foreign++;
    else if (status == DFT_EFORMAT) report->alive++; /* being made at this moment */
    else report->failed++;
    return facts.st_uid != geteuid() || status == DFT_EFORMAT ? DFT_EBUSY : status;
  }
  status = recover_open(&spool, claim, own, report, is_explicit, give_new_name);
  dft__spool_close(&spool);
  return status;
}

dft_status dft__recover_claim(const char *claim, const dft__identity *own, int give_new_name) {
  dft_recovery report = {.struct_size = sizeof report};
  return recover_one(claim, own, &report, 0, give_new_name);
}

/* ---- A folder ----------------------------------------------------------------------------------------------------- */

static int ends_with(const char *text, const char *end) {
  size_t len = strlen(text);
  return len > strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

dft_status dft__recover_folder(const char *folder, dft_recovery *report, int is_explicit) {
  char inner[DFT__PATH_MAX];
  char claim[DFT__PATH_MAX + 256];
  dft_recovery own_report = {.struct_size = sizeof own_report};
  dft_status first = DFT_OK;
  dft__identity own;
  struct dirent *entry;
  DIR *entries;
  if (!report) report = &own_report;
  if (snprintf(inner, sizeof inner, "%s/.dftracer", folder) >= (int)sizeof inner) return DFT_EINVAL;
  entries = opendir(inner);
  if (!entries) return errno == ENOENT ? DFT_OK : DFT_EIO;
  dft__identity_own(&own);
  while ((entry = readdir(entries)) != NULL) {
    dft_status status;
    if (!ends_with(entry->d_name, ".spool")) continue;
    snprintf(claim, sizeof claim, "%s/%s", inner, entry->d_name);
    status = recover_one(claim, &own, report, is_explicit, 0);
    if (status != DFT_OK && status != DFT_EBUSY && first == DFT_OK) first = status;
  }
  closedir(entries);
  rmdir(inner); /* when nothing is left in it */
  if (report->failed) {
    dft__log(DFT__LOG_RECOVER, DFT__LOG_ERROR,
             "%u trace(s) of dead processes in %s could not be published: %s; they are kept "
             "(try again with: dftracer recover %s)",
             report->failed, inner, dft_status_text(first), folder);
  }
  return first;
}

/* The folder itself, .dftracer in it, or a trace in it. */
dft_status dft_recover(const char *folder, dft_recovery *report) {
  char path[DFT__PATH_MAX];
  struct stat facts;
  size_t len;
  dft_recovery all = {.struct_size = sizeof all};
  dft_status status;
  int saved = errno;
  if (!folder || !*folder || (len = strlen(folder)) >= sizeof path) return DFT_EINVAL;
  memcpy(path, folder, len + 1);
  dft__hush++;
  if (stat(path, &facts) != 0) {
    dft__hush--;
    errno = saved;
    return DFT_EIO;
  }
  while (len > 1 && path[len - 1] == '/') path[--len] = '\0';
  if (!S_ISDIR(facts.st_mode) || ends_with(path, "/.dftracer")) {
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = '\0';
    else memcpy(path, ".", 2);
  }
  dft__sinks_prepare();
  status = dft__recover_folder(path, &all, 1);
  dft__hush--;
  errno = saved;
  if (report) {
    all.struct_size = report->struct_size;
    memcpy(report, &all, report->struct_size < sizeof all ? report->struct_size : sizeof all);
  }
  return status;
}
