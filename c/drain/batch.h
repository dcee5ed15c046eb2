/* batch.h - a batch: events on their way from the spool to the sinks.
 *
 * A batch claims chunks and hands out their records as decoded events (feed.h). Sinks take all of them, or none count: that is
 * what a commit records. Several batches may be in use at once, on different threads, with different chunks.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_BATCH_H
#define DFT_BATCH_H

#include <dftracer/sink.h>

#include "queue.h"

#define DFT__BATCH_CHUNKS DFT__COMMIT_CHUNKS
#define DFT__BATCH_CELLS 6144u                /* worth a member: six chunks of 64 KiB */
#define DFT__BATCH_TEXT ((uint64_t)560 << 10) /* bytes of lines, at the least: worth a member (sinks/jsonl) */
#define DFT__BATCH_RECORDS (1u << (DFT__CHUNK_LOG_MAX - 6)) /* of one chunk */
#define DFT__PATHS_MAX 32 /* path arguments of one event; further ones share the last hash */
#define DFT__SEEN_PATHS 256
#define DFT__RELATED_BYTES 4096
#define DFT__VALUES_MAX (DFT__ARG_COUNT_MAX + 8) /* of the user, and our own */

enum dft__batch_flags {
  DFT__BATCH_FIRST = 1,     /* opens the trace */
  DFT__BATCH_FINAL = 2,     /* takes everything that is left, and completes the trace when it could */
  DFT__BATCH_RECOVERED = 4, /* the process is dead */
  DFT__BATCH_PRESSED = 8, /* room is short: no chunk waits for an older one of its thread that is still being written */
  DFT__BATCH_EXPECTED = 16, /* the process is dead, and its parent ended it on purpose */
};

/* The way through a batch: each step hands out events until it has none. */
enum dft__batch_step {
  DFT__STEP_OPENING,      /* the lines that open the trace; first batch only */
  DFT__STEP_DEFINITIONS,  /* of paths */
  DFT__STEP_RECORDS,      /* of the claimed chunks */
  DFT__STEP_OPEN_REGIONS, /* final batch only, as is the end */
  DFT__STEP_END,
  DFT__STEP_DONE,
};

struct dft_batch {
  dft__spool *spool;
  uint64_t seq; /* of the commit that will follow */
  uint32_t flags;
  uint32_t is_done;       /* the `end` was handed out */
  uint64_t events;        /* complete ones of the user, handed out */
  uint64_t last_ticks;    /* the latest end of these */
  uint64_t events_before; /* in earlier commits */
  uint64_t final_ticks;   /* when open regions end */
  uint64_t alive_ticks;   /* the process was alive then; 0: not known */
  uint32_t is_ending;     /* an earlier batch handed out some of them, so their end is fixed already */
  uint64_t finish_ns;     /* from the end of the program to the `end`, which every sink gets alike; 0: not there yet */
  uint64_t next_id;       /* for lines that have no record */
  uint64_t first_id;
  char host_hash[17];
  uint64_t cwd_hash;   /* the opening lines define it; 0: they do not */
  uint64_t handed;     /* events handed out, ours included */
  uint64_t most;       /* no more than this */
  uint64_t piece;      /* handed when the piece that the sink now takes began */
  uint32_t step;       /* dft__batch_step */
  uint32_t line;       /* of the opening */
  uint32_t definition; /* reference of the next path to define */
  uint32_t first_definition;
  uint32_t chunk;        /* place in chunks[] */
  uint32_t cell;         /* the next one there, or its place in records[], from 1; 0: the chunk has not begun */
  uint32_t record_count; /* of the chunk, when they are sorted; 0: they are in order as they are */
  uint32_t depth;        /* in the open regions of `thread` */
  dft__thread *thread;
  uint64_t walked;    /* threads' states: where to look on */
  uint64_t frame_id;  /* of the open region that was handed out last */
  uint32_t from_page; /* where earlier batches left the open regions: thread and depth */
  uint32_t from_depth;
  uint32_t chunk_count;
  uint32_t is_large;    /* it has claimed as much as one batch should */
  uint32_t has_more;    /* and chunks may be left for another one */
  dft__clock_map clock; /* a copy, because the spool's may grow meanwhile */
  struct dft__claimed {
    uint32_t page, gen, start, end;
    uint32_t is_sorted; /* its records end one after the other */
  } chunks[DFT__BATCH_CHUNKS];
  /* the event in hand */
  dft_event held;
  int has_held; /* an event waits behind the definition of its path */
  uint32_t value_count;
  dft_value values[DFT__VALUES_MAX];
  uint64_t lost;           /* values that had no room */
  dft_value own_values[2]; /* of a definition */
  char path_hash[DFT__PATHS_MAX][17];
  uint32_t path_count;
  dft_text undefined[DFT__PATHS_MAX]; /* paths that came as text and need a definition first */
  uint32_t undefined_count;
  uint64_t seen_paths[DFT__SEEN_PATHS]; /* hashes that this batch has defined so */
  char related[4][DFT__RELATED_BYTES];
  char text[512];
  _Alignas(8) uint8_t args[DFT__ARGS_MAX + DFT__TEXT_MAX];
  dft__ordered records[DFT__BATCH_RECORDS]; /* of the chunk in hand, by their ends; rarely touched */
};

/* Sets up an empty batch. */
void dft__batch_begin(dft_batch *batch, dft__spool *spool, uint64_t seq, uint32_t flags);

/* Claims the oldest chunks, for lines of about this many bytes; a FINAL batch also takes those that are not full. Returns the
 * cells. */
uint64_t dft__batch_claim(dft_batch *batch, dft__queue *queue, uint64_t text);

/* Goes back to the start for the next sink. It gets the same events as the first one, and no more. */
void dft__batch_rewind(dft_batch *batch);

/* Writes the next commit: this batch is in the outputs, which have these lengths. Calls must not overlap. */
void dft__batch_commit(const dft_batch *batch, const uint64_t bytes[DFT__SINKS_MAX]);

/* After the commit: marks what is consumed, gives back empty chunks, ends the claims. */
void dft__batch_apply(dft_batch *batch);
/* Without a commit: only ends the claims. */
void dft__batch_unclaim(dft_batch *batch);

/* In the unit of the trace, since the epoch. */
static inline int64_t dft__batch_time(const dft_batch *batch, uint64_t ticks) {
  uint64_t ns = dft__epoch_ns(&batch->clock, ticks);
  uint64_t unit_ns = batch->spool->header->unit_ns;
  if (DFT__LIKELY(unit_ns == 1000)) return (int64_t)(ns / 1000);
  return (int64_t)(ns / unit_ns);
}

/* Page of the thread whose open regions are handed out. */
static inline uint32_t dft__batch_thread_page(const dft_batch *batch) {
  return dft__chunk_page(batch->spool, (const dft__chunk *)((const char *)batch->thread - DFT__CELL));
}

#endif
