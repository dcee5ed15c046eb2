/* output.c - the sinks of one spool: encode, append, commit.
 * SPDX-License-Identifier: MIT */
#include "output.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

#include "../../sinks/sinks.h"
#include "log.h"

/* ---- Sinks -------------------------------------------------------------------------------------------------------- */

static int is_valid(const dft_sink *sink) {
  return sink && sink->struct_size >= sizeof(dft_sink) && sink->name && sink->open && sink->append && sink->close;
}

const dft_sink *dft__sink_load(const char *name) {
  const dft_sink *sink;
  void *object;
  if (!strchr(name, '/')) return dft__sink_find(name, strlen(name));
  object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  sink = object ? (const dft_sink *)dlsym(object, DFT_SINK_SYMBOL) : NULL;
  return is_valid(sink) ? sink : NULL;
}

dft_status dft__output_prepare(dft__output *output, dft__spool *spool) {
  const dft__header *header = spool->header;
  memset(output, 0, sizeof *output);
  output->spool = spool;
  output->can_assist = 1;
  for (uint32_t i = 0; i < header->sink_count; i++) {
    struct dft__outlet *outlet = &output->outlets[i];
    outlet->sink = dft__sink_load(header->sink[i]);
    if (!outlet->sink) return DFT_ENOSINK;
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

dft_status dft__output_open(dft__output *output) {
  const dft__header *header = output->spool->header;
  const dft__commit *commit = dft__commit_current(output->spool);
  if (output->is_open && !output->has_failed) return DFT_OK;
  dft__output_close(output, 0);
  output->has_failed = 0;
  for (uint32_t i = 0; i < output->count; i++) {
    struct dft__outlet *outlet = &output->outlets[i];
    dft_sink_target target = {.struct_size = sizeof target,
                              .path = outlet->path,
                              .resume_bytes = commit->bytes[i],
                              .compress = header->compress,
                              .level = header->level};
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
    dft__commit_write(output->spool, &encoder->batch, bytes);
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
