/* sink.h - how a sink receives events. For authors of sinks; programs that record events need dft.h only.
 *
 * A sink is one const struct of functions. The core hands it batches of decoded events; it never sees the record layout.
 * `encode` turns a batch into bytes and knows no files; `append` writes bytes and knows no events. sinks/null is the
 * commented template; sinks/sinks.c is the table of those built in.
 *
 * Threads   encode is re-entrant: it may run on any thread, several at once, also inside a signal handler, so it
 *           allocates nothing and takes no locks; its memory is the scratch it asked for. Calls of open, append and close
 *           never overlap. The first batch is encoded and appended before any other.
 * Errors    After a failure only close follows; later the core may open again with `resume_bytes` to go on.
 * Commit    What append reports as `committed_bytes` is where the next append of this or a recovering process continues:
 *           bytes of the output beyond the last committed length belong to nobody and are cut off by open.
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
/* Nonzero for the batch that opens the trace, and for the one that completes it. A sink beside others may get a batch in
 * several pieces; then the first of them opens. */
DFT_API int dft_batch_is_first(const dft_batch *batch);
DFT_API int dft_batch_is_last(const dft_batch *batch);
/* The hash of this host's name: 16 hex digits, terminated. */
DFT_API const char *dft_batch_host_hash(const dft_batch *batch);

/* Where and how to write. */
typedef struct dft_sink_target {
  size_t struct_size;
  const char *path;      /* the file to write; absolute. It is renamed to its published name after close */
  uint64_t resume_bytes; /* length to cut an existing file to, and to continue from; 0: a new file */
  int32_t compress;      /* DFTRACER_TRACE_COMPRESSION */
  int32_t level;         /* DFTRACER_COMPRESSION_LEVEL, 1 to 9 */
  const char *options;   /* what stands behind the name and a colon in DFTRACER_SINK, such as "layout=table"; or "" */
} dft_sink_target;

/* Bytes on their way from encode to append. */
typedef struct dft_bytes {
  void *scratch;    /* scratch_bytes of memory, aligned to 64, zero when first used; kept from batch to batch */
  const void *data; /* set by encode: what append shall write; inside scratch */
  size_t len;
} dft_bytes;

typedef struct dft_sink {
  size_t struct_size; /* sizeof(dft_sink): later versions add members at the end only */
  const char *name;
  const char *summary;      /* one line for people */
  const char *suffix;       /* of the published file when compressed, such as ".pfw.gz"; NULL: no file */
  const char *plain_suffix; /* the same when not compressed; NULL: as suffix */
  size_t scratch_bytes;     /* address space for one encode; only what is touched costs memory */

  dft_status (*open)(const dft_sink_target *target, void **state);
  /* Pulls events until the batch ends or enough bytes are gathered; what it did not pull comes with a later batch.
   * NULL: append gets the batch itself, on one thread only. */
  dft_status (*encode)(void *state, dft_batch *batch, dft_bytes *bytes);
  /* Writes. batch is NULL when the sink has an encode; bytes is NULL when it has none. */
  dft_status (*append)(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes);
  /* complete: the trace is whole. Else it is given up for now, and continued by a later open, or not at all. */
  dft_status (*close)(void *state, int complete);

  /* These are optional: NULL, or left out by a sink whose struct_size ends before them. */

  /* NULL when the sink can be used with these options, else why not, for people. Then jsonl is used in its place. */
  const char *(*check)(const char *options);
  /* Makes of the committed output, resume_bytes of it at target->path, the file that is published, at the same path: for
   * formats that are not written from the front to the back. Called after close(complete), by the process or by a
   * recovery; called again when it failed, and also when it had succeeded just before a death. `why` gets a message. */
  dft_status (*finish)(const dft_sink_target *target, char *why, size_t size);
} dft_sink;

/* A sink from outside: a shared object that exports one dft_sink under this name and is named in DFTRACER_SINK by its path
 * (one with a slash in it), as examples/own_sink does.
 *
 * The rule of the ABI: members of the structs here keep their places for ever, and new ones come at the end, where
 * struct_size tells whether they are there. So a sink that was built with an older header runs with any newer library of the
 * same major version, and the other way round as far as it looks at struct_size. What is missing or does not fit is told
 * in one message, and jsonl is used in its place. */
#define DFT_SINK_SYMBOL "dft_sink_plugin"

#ifdef __cplusplus
}
#endif
#endif
