/* sink.h - how a sink receives events. For authors of sinks; programs that record events need dft.h only.
 *
 * A sink is one const struct of functions. The core hands it batches of decoded events; a sink never sees the layout of
 * records. `encode` turns a batch into bytes and knows no files. `append` writes bytes and knows no events. Copy sinks/null,
 * the commented template; sinks/sinks.h is the table of the built-in sinks, and examples/own_sink is a sink from outside.
 *
 * Output    What one sink writes for one trace. While the trace is recorded, its output is live: FOLDER/.dftracer/NAME.I-SINK,
 *           where I counts the sinks of the trace from 0. The core renames it when the trace is published. It is in a folder
 *           of this user; but if somebody else owns FOLDER, a link may be put in the place of .dftracer after the core looked.
 *           The built-in sinks open their files below a descriptor that was checked.
 * Threads   encode may run on any thread, on several at once, and inside a signal handler. All other calls come one at a
 *           time. The first batch is encoded and appended before any other.
 * Errors    After a failure only close follows. Later the core may open again with `resume_bytes`, to go on.
 * Commit    The length that append reports is where the next append continues, in this process or in one that recovers it.
 *           Bytes of the output beyond the last committed length belong to nobody: open cuts them off.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_H
#define DFTRACER_SINK_H

#include <dftracer/dft.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dft_text {
  const char *text; /* not terminated; may hold any bytes */
  size_t len;
} dft_text;

/* A decoded argument. */
typedef struct dft_value {
  dft_text key;
  uint32_t key_index; /* small number of a registered key, stable in this session; 0: none */
  uint32_t type;      /* dft_type; a DFT_PATH comes as the DFT_STRING of its hash */
  uint64_t cut_from;  /* nonzero: the text was cut, this was its length in bytes */
  union {
    int64_t i;
    uint64_t u;
    double d;
    dft_text s;
  } value;
} dft_value;

typedef enum dft_phase { DFT_COMPLETE = 'X', DFT_METADATA = 'M', DFT_COUNTER = 'C' } dft_phase;

typedef struct dft_event {
  uint64_t id;
  int64_t parent; /* id of the enclosing event, -1 without one */
  int64_t start;  /* in the trace's unit since the epoch; not set for metadata */
  int64_t duration;
  uint32_t level; /* 1 is the outermost; 0: the event has neither level nor parent */
  uint32_t phase; /* dft_phase */
  uint32_t pid;
  uint32_t tid;
  dft_text name;
  dft_text cat;
  uint32_t site_index; /* small number of a registered name and category, stable in this session; 0: none */
  uint32_t value_count;
  const dft_value *values; /* valid until the next call of dft_batch_next */
} dft_event;

typedef struct dft_batch dft_batch;

/* Takes the next event; 0 at the end. Bookkeeping (start, end, definitions of hashes) comes as events like all others.
 * event_size is sizeof(dft_event). */
DFT_API int dft_batch_next(dft_batch *batch, dft_event *event, size_t event_size);
/* Nonzero for the batch that opens the trace, and for the one that completes it. When a sink takes a batch in several pieces, only
 * the first piece opens. */
DFT_API int dft_batch_is_first(const dft_batch *batch);
DFT_API int dft_batch_is_last(const dft_batch *batch);
/* The hash of this host's name: 16 hex digits, terminated. */
DFT_API const char *dft_batch_host_hash(const dft_batch *batch);

/* Where and how to write. */
typedef struct dft_sink_target {
  size_t struct_size;
  const char *path;      /* of the live output; absolute */
  uint64_t resume_bytes; /* the committed length; 0: a new output */
  int32_t compress;      /* DFTRACER_TRACE_COMPRESSION */
  int32_t level;         /* DFTRACER_COMPRESSION_LEVEL, 1 to 9 */
  const char *options;   /* the text after NAME: in DFTRACER_SINK, such as "layout=table"; "": none. A comma ends it */
} dft_sink_target;

/* Bytes on their way from encode to append. */
typedef struct dft_bytes {
  void *scratch;    /* scratch_bytes of memory, aligned to 64, zero when first used; kept from batch to batch */
  const void *data; /* set by encode: what append is to write; inside scratch */
  size_t len;
} dft_bytes;

/* What `salvage` found in an output whose spool is gone. The core sets struct_size and zeroes the rest. */
typedef struct dft_salvaged {
  size_t struct_size;    /* sizeof(dft_salvaged) */
  uint64_t events;       /* complete events of the program */
  uint32_t pid;          /* of the process; 0: unknown */
  uint32_t is_annotated; /* some of the events are not intercepted I/O calls */
  uint32_t is_plain;     /* publish with plain_suffix */
  uint32_t is_empty;     /* it has no event of the program: the core removes the output */
} dft_salvaged;

enum {
  DFT_SINK_SIZES_BATCH =
    1,                /* batches should be small, about 1 MiB of JSON lines; the sink comes before those without this */
  DFT_SINK_LINES = 2, /* the output is a trace of JSON lines, plain or in gzip members (sinks/FORMAT.md) */
};

/* The duties of a sink:
 *
 *  1. Keep no descriptor open between calls. The application may close descriptors that it does not know.
 *  2. open: make the output when resume_bytes is 0, else cut it to that length. Memory may be allocated here.
 *  3. encode: work in bytes->scratch only. Allocate nothing, take no lock, do not change the state.
 *  4. encode: keep every event that was pulled. Make sure there is room before pulling the next one. What was not pulled is the
 *     next piece: encode and append are called again, before any other batch is appended.
 *  5. append: write the bytes after the committed length, and report the new length. When it returns DFT_OK, the bytes are in
 *     the file. When it fails, the next open cuts off what was written.
 *  6. close: free the state.
 *  7. finish, salvage: the process may be killed in the middle. A second call must then give the same result.
 *  8. salvage, read_open: check everything in the output before using it. It may be torn or forged.
 */
typedef struct dft_sink {
  size_t struct_size;       /* sizeof(dft_sink): later versions add members at the end only */
  const char *name;         /* part of a file name: letters, digits and '_' */
  const char *summary;      /* one line for people */
  const char *suffix;       /* of the published file when compressed, such as ".pfw.gz"; NULL: no file */
  const char *plain_suffix; /* the same when not compressed; NULL: as suffix */
  size_t scratch_bytes;     /* address space for one encode; only what is touched costs memory */

  dft_status (*open)(const dft_sink_target *target, void **state);
  /* Pulls events until the batch ends or enough bytes are gathered. NULL: append gets the batch itself, on one thread
   * only. */
  dft_status (*encode)(void *state, dft_batch *batch, dft_bytes *bytes);
  /* batch is NULL when the sink has an encode; bytes is NULL when it has none. What counts is committed with the whole batch. */
  dft_status (*append)(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes);
  /* complete: nonzero when the trace is complete; otherwise a later open may continue it. */
  dft_status (*close)(void *state, int complete);

  /* The rest is optional: NULL or 0, or missing from a sink whose struct_size ends before it. */

  /* NULL when the sink can be used with these options, else the reason, for people. Then the default sink is used. */
  const char *(*check)(const char *options);
  /* For formats that are not written from front to back: turns the committed output at target->path into the file that is
   * published, at the same path. Called after close(complete), by the process or by a recovery. On failure `why` gets a
   * message. */
  dft_status (*finish)(const dft_sink_target *target, char *why, size_t size);

  uint32_t flags; /* DFT_SINK_..., combined with | */

  /* Called when the process is dead and its spool is gone, and with it the committed length. Turns the intact part of the
   * output at target->path into the file that is published, at the same path, with an `end` event that reports the loss.
   * Only path and options of the target are set. Without this member, the output of a sink that has no `finish` is
   * published as it is, and the output of a sink that has one is kept where it is. */
  dft_status (*salvage)(const dft_sink_target *target, dft_salvaged *salvaged, char *why, size_t size);

  /* Reads the events in a live output, for readers of traces that are not published yet. resume_bytes is the committed
   * length. The process may still be writing: return DFT_EFORMAT, and the reader tries again with a newer length. Not used
   * with DFT_SINK_LINES. */
  dft_status (*read_open)(const dft_sink_target *target, void **reading);
  /* Returns 1 and the next event, which is valid until the next call; 0 at the end; -1 where the output is damaged. */
  int (*read_next)(void *reading, dft_event *event, size_t event_size);
  void (*read_close)(void *reading);
} dft_sink;

/* The built-in sink with this index, from 0; the default is the first. NULL after the last. */
DFT_API const dft_sink *dft_sink_built_in(size_t index);

/* An external sink is a shared object that exports one dft_sink under this name. DFTRACER_SINK names it by its path, which
 * must contain a slash.
 *
 * ABI       Members of the structs here never move. New ones come at the end, and struct_size says whether they
 *           are there. So a sink that was built with an older header runs with any newer library of the same major version.
 *           A newer sink runs with an older library if it looks at struct_size. When a sink is missing or does not fit, one
 *           message says so, and the default sink is used.
 * Recovery  A recovery loads the object that the spool names or, when the spool is gone, the claim in .dftracer/: only when this
 *           user owns that file and nobody else may write to it. Otherwise name the object in DFTRACER_SINK and recover again:
 *           an output NAME.I-SINK belongs to the sink of that name. */
#define DFT_SINK_SYMBOL "dft_sink_plugin"

#ifdef __cplusplus
}
#endif
#endif
