/* output.c - the sinks of one spool: encode, append, commit.
 * SPDX-License-Identifier: MIT */
#include "output.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/log.h"
#include "sinks/sinks.h"

/* ---- Sinks -------------------------------------------------------------------------------------------------------- */

#define HAS(sink, member) \
  ((sink)->struct_size >= offsetof(dft_sink, member) + sizeof(sink)->member && (sink)->member != NULL)

/* Behind the name or path and a colon; "" when there are none. */
static const char *options_of(const char *name) {
  const char *slash = strrchr(name, '/');
  const char *colon = strchr(slash ? slash : name, ':');
  return colon ? colon + 1 : "";
}

/* The shared object is never closed: recovery and threads may still use it. */
static const dft_sink *load_object(const char *path, char *why, size_t size) {
  void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const dft_sink *sink = object ? (const dft_sink *)dlsym(object, DFT_SINK_SYMBOL) : NULL;
  if (!object) {
    const char *error = dlerror();
    snprintf(why, size, "%s", error ? error : "it cannot be loaded");
  } else if (!sink) {
    snprintf(why, size, "it exports no " DFT_SINK_SYMBOL " (see dftracer/sink.h)");
  } else if (sink->struct_size < offsetof(dft_sink, check) || !sink->name || !sink->open || !sink->append ||
             !sink->close) {
    snprintf(why, size, "its " DFT_SINK_SYMBOL " is incomplete: struct_size, name, open, append and close are needed");
    sink = NULL;
  }
  return sink;
}

const dft_sink *dft__sink_load(const char *name, char *why, size_t size) {
  char path[DFT__PATH_MAX];
  const char *options = options_of(name);
  int len = (int)(*options ? options - 1 - name : (ptrdiff_t)strcspn(name, ":"));
  const dft_sink *sink;
  const char *reason = NULL;
  if (strchr(name, '/') && !*options) len = (int)strlen(name);
  snprintf(why, size, "there is none of that name; built in are jsonl, hdf5, null, memory, others are named by a path");
  if (snprintf(path, sizeof path, "%.*s", len, name) >= (int)sizeof path) return NULL;
  sink = strchr(path, '/') ? load_object(path, why, size) : dft__sink_find(path, strlen(path));
  if (sink && HAS(sink, check)) reason = sink->check(options);
  if (reason) snprintf(why, size, "%s", reason);
  return reason ? NULL : sink;
}

dft_status dft__output_prepare(dft__output *output, dft__spool *spool) {
  const dft__header *header = spool->header;
  char why[512];
  memset(output, 0, sizeof *output);
  output->spool = spool;
  output->can_assist = 1;
  for (uint32_t i = 0; i < header->sink_count; i++) {
    struct dft__outlet *outlet = &output->outlets[i];
    outlet->sink = dft__sink_load(header->sink[i], why, sizeof why);
    if (!outlet->sink) {
      dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "the sink %s cannot be used: %s", header->sink[i], why);
      return DFT_ENOSINK;
    }
    outlet->options = options_of(header->sink[i]);
    snprintf(outlet->path, sizeof outlet->path, "%s/.dftracer/%s.%u-%s", header->folder, header->base, i,
             outlet->sink->name);
    if (!outlet->sink->encode) output->can_assist = 0;
    output->count++;
  }
  return DFT_OK;
}

static void note_error(dft__output *output, dft_status status) {
  if (output->first_error == DFT_OK) output->first_error = status;
}

static dft_sink_target target_of(const dft__output *output, const struct dft__outlet *outlet) {
  const dft__header *header = output->spool->header;
  return (dft_sink_target){.struct_size = sizeof(dft_sink_target),
                           .path = outlet->path,
                           .resume_bytes = dft__commit_current(output->spool)->bytes[outlet - output->outlets],
                           .compress = header->compress,
                           .level = header->level,
                           .options = outlet->options};
}

dft_status dft__output_finish(const dft__output *output, const struct dft__outlet *outlet) {
  dft_sink_target target = target_of(output, outlet);
  char why[512] = "";
  dft_status status = DFT_OK;
  if (HAS(outlet->sink, finish)) status = outlet->sink->finish(&target, why, sizeof why);
  if (status != DFT_OK) {
    dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "cannot make the %s file of the trace in %s: %s", outlet->sink->name,
             output->spool->header->folder, *why ? why : dft_status_text(status));
  }
  return status;
}

dft_status dft__output_open(dft__output *output) {
  if (output->is_open && !output->has_failed) return DFT_OK;
  dft__output_close(output, 0);
  output->has_failed = 0;
  for (uint32_t i = 0; i < output->count; i++) {
    struct dft__outlet *outlet = &output->outlets[i];
    dft_sink_target target = target_of(output, outlet);
    dft_status status = outlet->sink->open(&target, &outlet->state);
    if (status != DFT_OK) {
      while (i--) output->outlets[i].sink->close(output->outlets[i].state, 0);
      note_error(output, status);
      return status;
    }
  }
  output->is_open = 1;
  return DFT_OK;
}

dft_status dft__output_close(dft__output *output, int is_complete) {
  dft_status first = DFT_OK;
  if (!output->is_open) return DFT_OK;
  for (uint32_t i = 0; i < output->count; i++) {
    dft_status status = output->outlets[i].sink->close(output->outlets[i].state, is_complete);
    if (first == DFT_OK) first = status;
  }
  output->is_open = 0;
  return first;
}

/* ---- Encoders ----------------------------------------------------------------------------------------------------- */

static size_t aligned(size_t bytes) {
  return (bytes + 4095) & ~(size_t)4095;
}

dft__encoder *dft__encoder_make(const dft__output *output) {
  size_t bytes = aligned(sizeof(dft__encoder));
  dft__encoder *encoder;
  char *scratch;
  for (uint32_t i = 0; i < output->count; i++) bytes += aligned(output->outlets[i].sink->scratch_bytes);
  encoder = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (encoder == MAP_FAILED) return NULL;
  encoder->map_bytes = bytes;
  scratch = (char *)encoder + aligned(sizeof *encoder);
  for (uint32_t i = 0; i < output->count; i++) {
    encoder->bytes[i].scratch = scratch;
    scratch += aligned(output->outlets[i].sink->scratch_bytes);
  }
  return encoder;
}

void dft__encoder_free(dft__encoder *encoder) {
  if (encoder) munmap(encoder, encoder->map_bytes);
}

void dft__output_encode(dft__output *output, dft__encoder *encoder) {
  const struct dft__outlet *outlet = &output->outlets[0];
  encoder->status = DFT_OK;
  if (outlet->sink->encode) encoder->status = outlet->sink->encode(outlet->state, &encoder->batch, &encoder->bytes[0]);
}

/* ---- Append and commit ---------------------------------------------------------------------------------------------- */

/* The same events for another sink, in as many pieces as it wants. */
static dft_status append_again(const struct dft__outlet *outlet, dft__encoder *encoder, dft_bytes *bytes,
                               uint64_t *length) {
  dft_batch *batch = &encoder->batch;
  dft__batch_rewind(batch);
  do {
    uint64_t before = batch->piece = batch->handed;
    dft_status status = DFT_OK;
    if (outlet->sink->encode) status = outlet->sink->encode(outlet->state, batch, bytes);
    if (status == DFT_OK) {
      status = outlet->sink->append(outlet->state, outlet->sink->encode ? NULL : batch,
                                    outlet->sink->encode ? bytes : NULL, length);
    }
    if (status != DFT_OK) return status;
    if (batch->handed == before) return batch->handed == batch->most ? DFT_OK : DFT_EIO;
  } while (batch->handed < batch->most);
  return DFT_OK;
}

static dft_status append_all(dft__output *output, dft__encoder *encoder, uint64_t bytes[DFT__SINKS_MAX]) {
  const struct dft__outlet *first = &output->outlets[0];
  dft_status status = encoder->status;
  memcpy(bytes, dft__commit_current(output->spool)->bytes, sizeof(uint64_t) * DFT__SINKS_MAX);
  if (status != DFT_OK) return status;
  status = first->sink->append(first->state, first->sink->encode ? NULL : &encoder->batch,
                               first->sink->encode ? &encoder->bytes[0] : NULL, &bytes[0]);
  for (uint32_t i = 1; i < output->count && status == DFT_OK; i++) {
    status = append_again(&output->outlets[i], encoder, &encoder->bytes[i], &bytes[i]);
  }
  return status;
}

dft_status dft__output_append(dft__output *output, dft__encoder *encoder) {
  uint64_t bytes[DFT__SINKS_MAX];
  dft_status status = output->has_failed ? DFT_EIO : append_all(output, encoder, bytes);
  if (status == DFT_OK) {
    dft__batch_commit(&encoder->batch, bytes);
    dft__batch_return_definitions(&encoder->batch);
    dft__batch_apply(&encoder->batch);
    return DFT_OK;
  }
  note_error(output, status);
  output->has_failed = 1;
  encoder->batch.definition = encoder->batch.first_definition;
  dft__batch_return_definitions(&encoder->batch);
  dft__batch_unclaim(&encoder->batch);
  return status;
}
