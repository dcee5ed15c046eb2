/* output.c - the outputs of one trace: encode, append, commit.
 * SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "definition.h"
#include "feed.h"
#include "sinkspec.h"
#include "spool/commit.h"
#include "spool/ownership.h"
#include "spool/tracefolder.h"

#define LARGE_BATCH 4 /* times the usual size, for sinks that take whatever they get: fewer appends */

/* In a recovery the spool names its sinks. A shared object is loaded only when nobody but its owner, who is this user, could have
 * written that name, and when it does not depend on the working folder; else when DFTRACER_SINK names the same file. */
static const char *find_trusted(const dft__spool *spool, const char *spec, char *own, size_t size) {
  struct stat facts;
  const char *file = strrchr(spec, '/');
  const char *named = secure_getenv("DFTRACER_SINK");
  const char *at;
  if (spool->fd < 0 || !dft__sinkspec_is_outside(spec)) return spec;
  if (spec[0] == '/' && fstat(spool->fd, &facts) == 0 && !(facts.st_mode & (S_IWGRP | S_IWOTH))) return spec;
  dft__sinkspec_list(named ? named : "", own, size);
  for (at = own; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    size_t len = strcspn(at, ",");
    if (len > strlen(file) && strncmp(at + len - strlen(file), file, strlen(file)) == 0) {
      memmove(own, at, len);
      own[len] = '\0';
      return own;
    }
  }
  return NULL;
}

static int sizes_batch(const dft_sink *sink) {
  return DFT__SINK_REACHES(sink, flags) && sink->flags & DFT_SINK_SIZES_BATCH;
}

/* The claim was not found. It is in its folder, if another folder has been put in the place of that one. */
static int is_claim_gone(const dft__outputs *outputs) {
  const dft__spool *spool = outputs->spool;
  char inner[DFT__PATH_MAX];
  struct stat facts;
  dft__tracefolder at;
  int is_here = dft__tracefolder_return(&at, spool);
  int is_gone = is_here && dft__held_stat(outputs->claim, &facts) != 0 && errno == ENOENT;
  dft__tracefolder_leave(&at);
  if (is_here || !dft__tracefolder_inner(inner, sizeof inner, spool->header->folder, spool->inner)) return is_gone;
  return lstat(inner, &facts) != 0 && errno == ENOENT;
}

enum dft__claim_state dft__outputs_claim(const dft__outputs *outputs) {
  struct stat facts;
  int fd, is_marked;
  if (!outputs->has_claim) return DFT__CLAIM_HELD;
  /* Network file systems look anew when one opens a file. */
  fd = open(outputs->claim, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT && is_claim_gone(outputs) ? DFT__CLAIM_GONE : DFT__CLAIM_HELD;
  is_marked = fstat(fd, &facts) == 0 && facts.st_mode & S_IXUSR;
  close(fd);
  return is_marked ? DFT__CLAIM_MARKED : DFT__CLAIM_HELD;
}

dft_status dft__outputs_prepare(dft__outputs *outputs, dft__spool *spool) {
  const dft__header *header = spool->header;
  char own[4096];
  char why[512];
  memset(outputs, 0, sizeof *outputs);
  outputs->spool = spool;
  outputs->can_assist = 1;
  outputs->takings = atomic_load(&header->takings);
  outputs->has_claim = spool->fd < 0 &&
                       dft__tracefolder_claim(outputs->claim, sizeof outputs->claim, header->folder, spool->inner,
                                              header->base) &&
                       strcmp(outputs->claim, spool->path) != 0;
  for (uint32_t i = 0; i < header->sink_count; i++) {
    dft__output *output = &outputs->list[i];
    const char *spec = find_trusted(spool, header->sink[i], own, sizeof own);
    snprintf(
      why, sizeof why,
      "others could have written its name into the spool, or it is not an absolute path; name it in DFTRACER_SINK "
      "and recover again");
    output->sink = spec ? dft__sinkspec_load(spec, why, sizeof why) : NULL;
    if (!output->sink) {
      dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "the sink %s cannot be used: %s", header->sink[i], why);
      return DFT_ENOSINK;
    }
    output->options = dft__sinkspec_options(header->sink[i]);
    if (!dft__tracefolder_live(output->path, sizeof output->path, header->folder, spool->inner, header->base, i,
                               output->sink->name))
      return DFT_EINVAL;
    if (!output->sink->encode) outputs->can_assist = 0;
    if (dft__sinkspec_is_outside(header->sink[i])) outputs->is_outside = 1;
    outputs->count++;
  }
  outputs->batch_text = DFT__BATCH_TEXT;
  if (!sizes_batch(outputs->list[0].sink)) outputs->batch_text *= LARGE_BATCH;
  return DFT_OK;
}

static void note_error(dft__outputs *outputs, dft_status status) {
  if (outputs->first_error == DFT_OK) outputs->first_error = status;
}

static dft_sink_target target_of(const dft__outputs *outputs, const dft__output *output) {
  const dft__header *header = outputs->spool->header;
  return (dft_sink_target){.struct_size = sizeof(dft_sink_target),
                           .path = output->path,
                           .resume_bytes = dft__commit_current(outputs->spool)->bytes[output - outputs->list],
                           .compress = header->compress,
                           .level = header->level,
                           .options = output->options};
}

/* The living process has the hidden folder in hand for one call of its sinks, a recovery all the time. A sink from outside opens
 * its path itself: it is not called when that leads elsewhere. */
static int enter(const dft__outputs *outputs, dft__tracefolder *at) {
  int is_fine = 1;
  if (outputs->spool->fd >= 0 || dft__tracefolder_return(at, outputs->spool)) return 1;
  for (uint32_t i = 0; i < outputs->count; i++) is_fine &= !outputs->list[i].sink->suffix;
  return is_fine;
}

static void leave(const dft__outputs *outputs, dft__tracefolder *at) {
  if (outputs->spool->fd < 0) dft__tracefolder_leave(at);
}

dft_status dft__output_finish(const dft__outputs *outputs, const dft__output *output) {
  dft_sink_target target = target_of(outputs, output);
  char why[512] = "";
  dft_status status = DFT_OK;
  if (DFT__SINK_HAS(output->sink, finish)) status = output->sink->finish(&target, why, sizeof why);
  if (status != DFT_OK) {
    dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "cannot create the %s file of the trace in %s: %s", output->sink->name,
             outputs->spool->header->folder, *why ? why : dft_status_text(status));
  }
  return status;
}

static dft_status open_all(dft__outputs *outputs) {
  for (uint32_t i = 0; i < outputs->count; i++) {
    dft__output *output = &outputs->list[i];
    dft_sink_target target = target_of(outputs, output);
    dft_status status = output->sink->open(&target, &output->state);
    if (status == DFT_OK) continue;
    while (i--) outputs->list[i].sink->close(outputs->list[i].state, 0);
    return status;
  }
  return DFT_OK;
}

dft_status dft__outputs_open(dft__outputs *outputs) {
  dft__tracefolder at;
  dft_status status;
  if (outputs->is_open && !outputs->has_failed) return DFT_OK;
  dft__outputs_close(outputs, 0);
  outputs->has_failed = 0;
  status = enter(outputs, &at) ? open_all(outputs) : DFT_EIO;
  leave(outputs, &at);
  if (status == DFT_OK) outputs->is_open = 1;
  else note_error(outputs, status);
  return status;
}

dft_status dft__outputs_close(dft__outputs *outputs, int is_complete) {
  dft_status first = DFT_OK;
  dft__tracefolder at;
  if (!outputs->is_open) return DFT_OK;
  enter(outputs, &at);
  for (uint32_t i = 0; i < outputs->count; i++) {
    dft_status status = outputs->list[i].sink->close(outputs->list[i].state, is_complete);
    if (first == DFT_OK) first = status;
  }
  leave(outputs, &at);
  outputs->is_open = 0;
  return first;
}

void dft__outputs_restart(dft__outputs *outputs) {
  dft__spool *spool = outputs->spool;
  dft__tracefolder at;
  dft__outputs_close(outputs, 0);
  outputs->takings = atomic_load(&spool->header->takings);
  dft__definition_repeat(spool);
  if (dft__tracefolder_make(&at, spool->inner, spool->header->folder)) dft__tracefolder_remember(&at, spool);
  if (outputs->renew_claim) outputs->has_claim = (uint32_t)outputs->renew_claim(spool);
  dft__tracefolder_leave(&at);
}

/* ---- Workspaces --------------------------------------------------------------------------------------------------- */

static size_t aligned(size_t bytes) {
  return (bytes + 4095) & ~(size_t)4095;
}

dft__workspace *dft__workspace_make(const dft__outputs *outputs) {
  size_t bytes = aligned(sizeof(dft__workspace));
  dft__workspace *workspace;
  char *scratch;
  for (uint32_t i = 0; i < outputs->count; i++) bytes += aligned(outputs->list[i].sink->scratch_bytes);
  workspace = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (workspace == MAP_FAILED) return NULL;
  workspace->map_bytes = bytes;
  scratch = (char *)workspace + aligned(sizeof *workspace);
  for (uint32_t i = 0; i < outputs->count; i++) {
    workspace->bytes[i].scratch = scratch;
    scratch += aligned(outputs->list[i].sink->scratch_bytes);
  }
  return workspace;
}

void dft__workspace_free(dft__workspace *workspace) {
  if (workspace) munmap(workspace, workspace->map_bytes);
}

void dft__outputs_encode(dft__outputs *outputs, dft__workspace *workspace) {
  const dft__output *output = &outputs->list[0];
  workspace->status = DFT_OK;
  if (output->sink->encode)
    workspace->status = output->sink->encode(output->state, &workspace->batch, &workspace->bytes[0]);
}

/* ---- Append and commit ---------------------------------------------------------------------------------------------- */

/* Hands the batch to one sink, in as many pieces as it wants; the first may be encoded already. */
static dft_status append_pieces(const dft__output *output, dft_batch *batch, dft_bytes *bytes, int is_encoded,
                                uint64_t *length) {
  const dft_sink *sink = output->sink;
  dft_status status = DFT_OK;
  do {
    if (!is_encoded) batch->piece = batch->handed;
    if (!is_encoded && sink->encode) status = sink->encode(output->state, batch, bytes);
    if (status == DFT_OK)
      status = sink->append(output->state, sink->encode ? NULL : batch, sink->encode ? bytes : NULL, length);
    if (status != DFT_OK || dft__feed_is_over(batch)) return status;
    is_encoded = 0;
  } while (batch->handed > batch->piece);
  return DFT_EIO; /* it takes nothing */
}

static dft_status append_to_all(dft__outputs *outputs, dft__workspace *workspace, uint64_t bytes[DFT__SINKS_MAX]) {
  dft_batch *batch = &workspace->batch;
  dft_status status = DFT_OK;
  for (uint32_t i = 0; i < outputs->count && status == DFT_OK; i++) {
    const dft__output *output = &outputs->list[i];
    if (i) dft__batch_rewind(batch);
    status = append_pieces(output, batch, &workspace->bytes[i], i == 0 && output->sink->encode, &bytes[i]);
  }
  return status;
}

static dft_status append_all(dft__outputs *outputs, dft__workspace *workspace, uint64_t bytes[DFT__SINKS_MAX]) {
  dft__tracefolder at;
  dft_status status = workspace->status;
  memcpy(bytes, dft__commit_current(outputs->spool)->bytes, sizeof(uint64_t) * DFT__SINKS_MAX);
  if (status != DFT_OK) return status;
  status = enter(outputs, &at) ? append_to_all(outputs, workspace, bytes) : DFT_EIO;
  leave(outputs, &at);
  return status;
}

static dft_status append_and_commit(dft__outputs *outputs, dft__workspace *workspace) {
  uint64_t bytes[DFT__SINKS_MAX];
  dft_status status = outputs->has_failed ? DFT_EIO : append_all(outputs, workspace, bytes);
  if (status != DFT_OK) {
    note_error(outputs, status);
    return status;
  }
  if (outputs->spool->fd < 0 && !dft__ownership_keep(outputs->spool)) return DFT_EBUSY;
  dft__batch_commit(&workspace->batch, bytes);
  dft__batch_apply(&workspace->batch);
  return DFT_OK;
}

/* The process itself appends only as long as no other one recovers its trace. */
static dft_status append_if_owner(dft__outputs *outputs, dft__workspace *workspace) {
  dft_status status;
  if (dft__outputs_claim(outputs) != DFT__CLAIM_HELD) return DFT_EBUSY;
  if (!dft__ownership_enter(outputs->spool, outputs->takings)) return DFT_EBUSY;
  status = append_and_commit(outputs, workspace);
  dft__ownership_leave(outputs->spool);
  return status;
}

dft_status dft__outputs_append(dft__outputs *outputs, dft__workspace *workspace) {
  int is_recovery = outputs->spool->fd >= 0;
  dft_status status = is_recovery ? append_and_commit(outputs, workspace) : append_if_owner(outputs, workspace);
  if (status == DFT_OK) return DFT_OK;
  outputs->has_failed = 1;
  dft__definition_return(&workspace->batch);
  dft__batch_unclaim(&workspace->batch);
  return status;
}
