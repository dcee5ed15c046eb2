/* output.h - the sinks of one spool: encode, append, commit. Used by the living process and by recovery alike.
 *
 *   encode   any thread, any number at once, into the encoder's own memory
 *   append   one at a time, in the order of the batches' numbers; then the commit makes it count
 * SPDX-License-Identifier: MIT */
#ifndef DFT_OUTPUT_H
#define DFT_OUTPUT_H

#include "batch.h"
#include "spool/commit.h"

/* Memory for one batch on its way. */
typedef struct dft__encoder {
  dft_batch batch;
  dft_bytes bytes[DFT__SINKS_MAX];
  dft_status status;      /* of encoding */
  _Atomic uint32_t state; /* for drain.c */
  size_t map_bytes;
} dft__encoder;

typedef struct dft__output {
  dft__spool *spool;
  uint32_t count;
  uint32_t is_open;
  uint32_t can_assist; /* every sink encodes */
  uint32_t has_failed; /* only closing is left; others may still be encoding */
  dft_status first_error;
  struct dft__outlet {
    const dft_sink *sink;
    void *state;
    const char *options;
    char path[DFT__PATH_MAX]; /* of the live file */
  } outlets[DFT__SINKS_MAX];
} dft__output;

/* Finds the sinks that the header names. DFT_ENOSINK when one is missing. */
dft_status dft__output_prepare(dft__output *output, dft__spool *spool);

/* Opens what is not open or has failed, at the length of the last commit. */
dft_status dft__output_open(dft__output *output);
dft_status dft__output_close(dft__output *output, int is_complete);

dft__encoder *dft__encoder_make(const dft__output *output);
void dft__encoder_free(dft__encoder *encoder);

/* The first sink says how much of the batch one member holds. */
void dft__output_encode(dft__output *output, dft__encoder *encoder);

/* Appends to every sink and commits. After a failure nothing is consumed, and every append fails until dft__output_open is
 * called again, when nobody encodes: it starts from the last commit. */
dft_status dft__output_append(dft__output *output, dft__encoder *encoder);

/* Makes the published file of an output that is complete, for sinks that do so at the end. */
dft_status dft__output_finish(const dft__output *output, const struct dft__outlet *outlet);

/* The sink of this name or path, perhaps with options behind a colon; NULL when there is none, and then `why` tells the
 * reason. */
const dft_sink *dft__sink_load(const char *name, char *why, size_t size);

#endif
