/* batch.h - a batch: events on their way from the spool to the sinks.
 *
 * A batch claims chunks, hands out their records as decoded events, and remembers how far the sink got: that is what a
 * commit says. Several batches may be in use at once, on different threads, with different chunks.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_BATCH_H
#define DFT_BATCH_H

#include <dftracer/sink.h>

#include "spool/spool.h"

#define DFT__BATCH_CHUNKS DFT__COMMIT_CHUNKS
#define DFT__PATHS_MAX 32 /* path arguments of one event that can be told apart */
#define DFT__SEEN_PATHS 256
#define DFT__RELATED_BYTES 4096
#define DFT__VALUES_MAX (DFT__ARG_COUNT_MAX + 8) /* of the user, and our own */

enum dft__batch_flags {
  DFT__BATCH_FIRST = 1,     /* opens the trace */
  DFT__BATCH_FINAL = 2,     /* takes everything that is left, and completes the trace when it could */
  DFT__BATCH_RECOVERED = 4, /* the process is dead */
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
  uint32_t is_ending;     /* an earlier batch has told some of them, and that time counts */
  uint64_t next_id;       /* for lines that have no record */
  uint64_t first_id;
  char host_hash[17];
  uint64_t cwd_hash; /* the opening lines define it; 0: they do not */
  uint64_t handed;   /* events handed out, ours included */
  uint64_t most;     /* no more than this */
  uint64_t piece;    /* handed when the piece that the sink now takes began */
  /* the way through the batch: each step hands out events until it has none */
  uint32_t step;
  uint32_t line;       /* of the opening */
  uint32_t definition; /* reference of the next path to define */
  uint32_t first_definition;
  uint32_t chunk;  /* place in chunks[] */
  uint64_t walked; /* threads' states: where to look on */
  dft__thread *thread;
  uint32_t depth;
  uint64_t frame_id;  /* of the open region that was told last */
  uint32_t from_page; /* where earlier batches left the open regions: thread and depth */
  uint32_t from_depth;
  uint32_t chunk_count;
  uint32_t has_more;    /* chunks that did not fit into chunks[] */
  dft__clock_map clock; /* a copy, because the spool's may grow meanwhile */
  struct dft__claimed {
    uint32_t page, gen, start, cell, end;
  } chunks[DFT__BATCH_CHUNKS];
  /* the event in hand */
  int has_held; /* an event waits behind the definition of its path */
  dft_event held;
  uint32_t held_cells;
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
};

/* Sets up an empty batch. */
void dft__batch_begin(dft_batch *batch, dft__spool *spool, uint64_t seq, uint32_t flags);

/* Claims chunks with about this many cells of records; a FINAL batch also takes those that are not full. Returns the cells. */
uint64_t dft__batch_claim(dft_batch *batch, uint64_t cells);

/* Takes over the list of paths without a definition; returns the bytes of their texts. */
uint64_t dft__batch_take_definitions(dft_batch *batch);
/* Gives back those that were not handed out. */
void dft__batch_return_definitions(dft_batch *batch);

/* Goes back to the start, for the next sink, which gets the same events as the first and no more. */
void dft__batch_rewind(dft_batch *batch);

/* Writes the next commit: what this batch handed out is in the outputs, which have these lengths. Calls must not overlap. */
void dft__batch_commit(const dft_batch *batch, const uint64_t bytes[DFT__SINKS_MAX]);

/* After the commit: marks what is consumed, gives back empty chunks, ends the claims. Without one: ends the claims. */
void dft__batch_apply(dft_batch *batch);
void dft__batch_unclaim(dft_batch *batch);

/* Nonzero when there is any event of the user in the spool that was not committed. */
int dft__batch_has_events(dft__spool *spool);

/* ---- The steps of a batch: each hands out the next event, or returns 0 when it has no more ---- */

int dft__bookkeeping_opening(dft_batch *batch, dft_event *event);
int dft__definition_next(dft_batch *batch, dft_event *event);
int dft__definition_of_text(dft_batch *batch,
                            dft_event *event); /* of paths that came as text with the event that is held */
int dft__open_region_next(dft_batch *batch, dft_event *event);
void dft__bookkeeping_end(dft_batch *batch, dft_event *event); /* always one */

/* Ids, and metadata lines with a name and perhaps a value, for lines that have no record. Texts must last. */
uint64_t dft__bookkeeping_id(dft_batch *batch);
void dft__bookkeeping_metadata(dft_batch *batch, dft_event *event, uint64_t id, const char *kind, dft_text name,
                               dft_text value);

/* Page of the thread whose open regions are handed out. */
uint32_t dft__open_region_page(const dft_batch *batch);
/* The latest time that is known of a dead process. */
uint64_t dft__open_region_last_sign(const dft_batch *batch);
int dft__open_region_any(const dft__spool *spool);

/* ---- decode.c ---- */

/* Decodes the record; zero when it is none, and then the cell is skipped. *cells is set to its length in any case. */
int dft__decode_record(dft_batch *batch, const dft__chunk *chunk, uint32_t cell, uint32_t end, uint32_t gen,
                       dft_event *event, uint32_t *cells);

/* Fills in name and category of a site; nothing for a reference that leads nowhere. */
void dft__decode_site(dft_batch *batch, uint32_t site, dft_event *event);

/* Adds the items between two offsets of memory to the batch's values. Believes nothing. */
void dft__decode_items(dft_batch *batch, const uint8_t *items, uint32_t len, dft_event *event);

/* Values of our own. Texts are not copied. */
void dft__add_text(dft_batch *batch, const char *key, const char *text, size_t len);
void dft__add_number(dft_batch *batch, const char *key, uint32_t type, uint64_t number);

/* The name of a site or text; "" for a reference that leads nowhere. */
dft_text dft__text_at(const dft__spool *spool, uint32_t ref);

/* In the unit of the trace, since the epoch. */
int64_t dft__time_of(const dft_batch *batch, uint64_t ticks);
void dft__hex(char hex[17], uint64_t value);

#endif
