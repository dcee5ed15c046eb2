/* output.h - the outputs of one trace: encode, append, commit. Used by the living process and by recovery alike.
 *
 * A sink is a const struct of functions (dftracer/sink.h). An output is what one sink writes for one trace: live in .dftracer/
 * until it is published. The outputs of a trace grow together:
 *
 *   encode   any thread, any number at once, into the thread's own workspace
 *   append   one at a time, in the order of the batches' numbers; then the commit makes it count
 * SPDX-License-Identifier: MIT */
#ifndef DFT_OUTPUT_H
#define DFT_OUTPUT_H

#include "batch.h"

/* The memory in which one batch is encoded. */
typedef struct dft__workspace {
  dft_batch batch;
  dft__queue queue; /* for recovery, which drains alone */
  dft_bytes bytes[DFT__SINKS_MAX];
  dft_status status;      /* of encoding */
  _Atomic uint32_t state; /* for drain.c */
  _Atomic uint64_t seq;   /* the same: of the batch, when that is READY */
  size_t map_bytes;
} dft__workspace;

typedef struct dft__output {
  const dft_sink *sink;
  void *state; /* of the sink, while it is open */
  const char *options;
  char path[DFT__PATH_MAX]; /* of the live output */
} dft__output;

typedef struct dft__outputs {
  dft__spool *spool;
  uint32_t count;
  uint32_t is_open;
  uint32_t can_assist; /* every sink encodes */
  uint32_t is_outside; /* one of them is a shared object, whose open and append may allocate memory */
  uint32_t has_failed; /* only closing is left; others may still be encoding */
  uint32_t has_claim;  /* the claim is another file than the spool */
  uint64_t batch_text; /* how large batches should be, in bytes of lines */
  uint64_t takings;    /* of the spool, when they were prepared (spool/ownership.h) */
  dft_status first_error;
  int (*renew_claim)(const dft__spool *spool); /* makes the claim again; zero when that failed. NULL: there is none */
  dft__output list[DFT__SINKS_MAX];
  char claim[DFT__PATH_MAX];
} dft__outputs;

/* Finds the sinks that the header names. DFT_ENOSINK when one is missing. */
dft_status dft__outputs_prepare(dft__outputs *outputs, dft__spool *spool);

/* Opens what is not open or has failed, at the length of the last commit. */
dft_status dft__outputs_open(dft__outputs *outputs);
dft_status dft__outputs_close(dft__outputs *outputs, int is_complete);

/* Of a process whose spool is elsewhere: recoveries may see its claim alone. One that takes the outputs marks the claim first, and
 * removes it at last. */
enum dft__claim_state { DFT__CLAIM_HELD, DFT__CLAIM_MARKED, DFT__CLAIM_GONE };
enum dft__claim_state dft__outputs_claim(const dft__outputs *outputs);

/* A recovery has published what they held: others begin. Nobody encodes. */
void dft__outputs_restart(dft__outputs *outputs);

dft__workspace *dft__workspace_make(const dft__outputs *outputs);
void dft__workspace_free(dft__workspace *workspace);

/* Lets the first sink encode, or as much of the batch as it takes at once. */
void dft__outputs_encode(dft__outputs *outputs, dft__workspace *workspace);

/* Appends the whole batch to every output and commits. After a failure nothing is consumed, and every append fails until
 * dft__outputs_open is called again, when nobody encodes. It starts from the last commit. */
dft_status dft__outputs_append(dft__outputs *outputs, dft__workspace *workspace);

/* Makes the published file of a complete output, for sinks that do so at the end. */
dft_status dft__output_finish(const dft__outputs *outputs, const dft__output *output);

#endif
