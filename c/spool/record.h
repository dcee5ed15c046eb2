/* record.h - the layout of a spool: what one process recorded and nobody has written out yet.
 *
 * A spool is a file that its process maps with MAP_SHARED, so everything in it outlives the process. All references are
 * offsets. Its reader may be the process itself, a later image of it after exec, or another process that recovers it and
 * checks everything before it uses it.
 *
 *   0                     DFT__HEADER_BYTES                                        top                 file size
 *   +----------------------+-------+-------+---------------+----+----+----+-------+--------------------+
 *   | header: identity,    | chunk | chunk | chunk         | chunks of 4 KiB ...  | allocated, not     |
 *   | names' buckets,      | 64KiB | 64KiB | 128 KiB       | (a 64 KiB block cut) | carved yet: zeros  |
 *   | two commit slots     |       |       |               |                      |                    |
 *   +----------------------+-------+-------+---------------+----+----+----+-------+--------------------+
 *
 * A chunk is 2^n bytes at a multiple of 4 KiB, and never changes its size. Its first cell of 64 bytes is its header; the
 * rest holds records (cells), registered names, or one thread's state. A walk over the chunks goes page by page and skips
 * the size of each that has a header, so a death between carving a chunk and writing its header hides no other.
 *
 *   record:  | head 8 | start 8 | end 8 | id 8 | parent 8 | site 4 | level 4 | arguments 16 |
 *   further: | head 8 | arguments 56                                                        |   0 to 4681 cells
 *   head:    generation 24 | kind 8 | cells 16 | lane 16
 *
 * A record's first head is stored last, with release order: a record is there completely or not at all. A cell whose head
 * does not carry the chunk's generation was never finished (death or a long jump in the middle) and is skipped.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_RECORD_H
#define DFT_RECORD_H

#include <dftracer/dft.h>
#include <stdatomic.h>
#include <stdint.h>

#define DFT__MAGIC "dftspool"
#define DFT__LAYOUT 4u
#define DFT__HEADER_BYTES (20u << 10)
#define DFT__PAGE_LOG 12         /* chunks are referred to by page number: offset / 4096 */
#define DFT__BLOCK_LOG 16        /* small chunks are cut from blocks of 64 KiB */
#define DFT__CHUNK_LOG_MIN 12    /* 4 KiB: a thread's first chunk */
#define DFT__CHUNK_LOG_MIDDLE 14 /* 16 KiB: its second */
#define DFT__CHUNK_LOG_MAX 22    /* 4 MiB: one huge record, or a very deep stack */
#define DFT__CELL 64u
#define DFT__RECORD_ARGS 16u        /* argument bytes in a record's first cell */
#define DFT__CELL_ARGS 56u          /* and in each further one */
#define DFT__ARGS_MAX (256u << 10)  /* argument bytes of one record */
#define DFT__ARG_COUNT_MAX 1000u    /* arguments of one record */
#define DFT__TEXT_MAX 65536u        /* bytes of one string argument */
#define DFT__NAME_MAX 4096u         /* longer names are cut */
#define DFT__NAMES_MAX 65536u       /* names that are registered; further ones travel in their records */
#define DFT__NAMES_BYTES (8u << 20) /* and their memory */
#define DFT__SINKS_MAX 4
#define DFT__BUCKETS 1024u
#define DFT__COMMIT_FEW 16u      /* chunks that a commit names in the header */
#define DFT__COMMIT_CHUNKS 1024u /* and in a chunk for longer lists */
#define DFT__LISTS_LOG 15        /* the size of that */
#define DFT__FACTS_BYTES 2048u
#define DFT__ID_BLOCK 1024u /* ids that a thread takes at once */
#define DFT__KNOTS 200u     /* of the clock */
#define DFT__RUN_BYTES 64
#define DFT__SITES_NAMED 10 /* of regions that did not begin or end */
#define DFT__SITE_NONE 1u   /* in their lists: no region to name */

/* ---- Cells and records ---- */

enum dft__kind {
  DFT__KIND_NONE = 0,
  DFT__KIND_FURTHER = 1,  /* a record's second, third ... cell */
  DFT__KIND_COMPLETE = 2, /* start and end in ticks */
  DFT__KIND_OPEN = 3,     /* the same of a region that nobody ended */
  DFT__KIND_TIMED = 4,    /* start and duration as the caller gave them, in the trace's unit */
  DFT__KIND_COUNTER = 5,
  DFT__KIND_META = 6,
};

/* Whether `end` of such a record says when it was recorded, about. */
static inline int dft__kind_has_ticks(uint32_t kind) {
  return kind == DFT__KIND_COMPLETE || kind == DFT__KIND_OPEN || kind == DFT__KIND_COUNTER;
}

typedef struct dft__record {
  _Atomic uint64_t head;
  uint64_t start;
  uint64_t end;
  uint64_t id;
  uint64_t parent; /* 0: none */
  uint32_t site;   /* reference of a name; 0: name and category are the arguments DFT__KEY_NAME, DFT__KEY_CAT */
  uint32_t level;  /* 0: none */
  uint8_t args[DFT__RECORD_ARGS];
} dft__record;

typedef struct dft__further {
  _Atomic uint64_t head;
  uint8_t args[DFT__CELL_ARGS];
} dft__further;

static inline uint64_t dft__head(uint32_t gen, uint32_t kind, uint32_t cells, uint32_t lane) {
  return (uint64_t)(gen & 0xffffffu) | (uint64_t)kind << 24 | (uint64_t)cells << 32 | (uint64_t)lane << 48;
}
static inline uint32_t dft__head_gen(uint64_t head) {
  return (uint32_t)head & 0xffffffu;
}
static inline uint32_t dft__head_kind(uint64_t head) {
  return (uint32_t)(head >> 24) & 0xffu;
}
static inline uint32_t dft__head_cells(uint64_t head) {
  return (uint32_t)(head >> 32) & 0xffffu;
}
static inline uint32_t dft__head_lane(uint64_t head) {
  return (uint32_t)(head >> 48);
}

/* Arguments are a sequence of items, each padded to 8 bytes; a zero key ends it early. In an argument area a key is stored
 * last and the one behind it is zero, so that the area of a dead or running thread holds whole items only.
 *   | key 4 | type 4 bits, flags 4 bits, length 24 bits | value: 8 bytes, or `length` bytes of text |
 * With DFT__ITEM_CUT the text is followed by its original length (8); with the key DFT__KEY_INLINE the value is preceded
 * by | key length 8 | key, padded |, not counted in `length`. */
typedef struct dft__item {
  uint32_t key;
  uint32_t info;
} dft__item;

enum { DFT__ITEM_CUT = 1, DFT__ITEM_TEXT = 2 /* a path as text, not as reference */ };

/* Keys below DFT__KEY_FIRST are not references of names. */
enum {
  DFT__KEY_END = 0,
  DFT__KEY_INLINE = 1, /* the key could not be registered and stands before the value */
  DFT__KEY_NAME = 2,   /* the event's name */
  DFT__KEY_CAT = 3,
  DFT__KEY_TID = 4,      /* the event belongs to this thread */
  DFT__KEY_LOST = 5,     /* arguments that did not fit, counted */
  DFT__KEY_RELATION = 8, /* 8 to 11: the event used, generated, invalidated, updated an entity; value: its id */
  DFT__KEY_FIRST = 16,
};

static inline uint32_t dft__item_info(uint32_t type, uint32_t flags, uint32_t len) {
  return type | flags << 4 | len << 8;
}
static inline uint32_t dft__item_type(const dft__item *item) {
  return item->info & 15u;
}
static inline uint32_t dft__item_flags(const dft__item *item) {
  return item->info >> 4 & 15u;
}
static inline uint32_t dft__item_len(const dft__item *item) {
  return item->info >> 8;
}
static inline uint32_t dft__pad8(uint32_t n) {
  return (n + 7u) & ~7u;
}
static inline int dft__item_is_text(const dft__item *item) {
  return dft__item_type(item) == DFT_STRING || dft__item_flags(item) & DFT__ITEM_TEXT;
}
/* The bytes of a whole item; key_len: the length of its key where that is DFT__KEY_INLINE. */
static inline uint32_t dft__item_bytes(const dft__item *item, uint32_t key_len) {
  return (uint32_t)sizeof *item + (item->key == DFT__KEY_INLINE ? 8 + dft__pad8(key_len) : 0) +
         (dft__item_is_text(item) ? dft__pad8(dft__item_len(item)) : 8) +
         (dft__item_flags(item) & DFT__ITEM_CUT ? 8 : 0);
}

/* ---- Chunks ---- */

enum dft__chunk_state { DFT__FREE = 0, DFT__OPEN = 1, DFT__FULL = 2 };
enum dft__chunk_use {
  DFT__USE_NONE = 0,
  DFT__USE_RECORDS = 1,
  DFT__USE_NAMES = 2,
  DFT__USE_THREAD = 3,
  DFT__USE_STACK = 4,
  DFT__USE_LISTS = 5
};
#define DFT__CHUNK_MAGIC 0x63746664u /* "dftc" */

typedef struct dft__chunk {
  _Atomic uint32_t magic;
  _Atomic uint32_t size_log; /* never changes, but threads that race for a chunk all set it */
  _Atomic uint64_t status;   /* generation 24 | state 8 | end 32: of a FULL one, the first cell that was not reserved.
                                 Release on OPEN and FULL; pairs with the drain's acquire */
  _Atomic uint32_t use;
  _Atomic uint32_t tid;
  _Atomic uint32_t consumed; /* first cell that no committed output holds */
  _Atomic uint32_t claim;    /* a batch has claimed it */
  _Atomic uint32_t next;     /* free list, list of old stacks: page number of the next one */
  _Atomic uint32_t thread;   /* page of the state of the thread that writes here */
  _Atomic uint64_t order;    /* of a FULL one: 1, 2, 3 ... as chunks became full; 0 in spools of 5.0 */
  uint32_t cut_gen; /* a recovery took the cells before cut_end, if this is the generation (session/taking.c) */
  uint32_t cut_end;
  uint32_t reserved[2];
} dft__chunk;

static inline uint64_t dft__status(uint32_t gen, uint32_t state, uint32_t end) {
  return (uint64_t)(gen & 0xffffffu) | (uint64_t)state << 24 | (uint64_t)end << 32;
}
static inline uint32_t dft__status_gen(uint64_t status) {
  return (uint32_t)status & 0xffffffu;
}
static inline uint32_t dft__status_state(uint64_t status) {
  return (uint32_t)(status >> 24) & 0xffu;
}
static inline uint32_t dft__status_end(uint64_t status) {
  return (uint32_t)(status >> 32);
}
static inline uint32_t dft__cells_of(uint32_t size_log) {
  return (1u << size_log) / DFT__CELL;
}

/* ---- Registered names ---- */

enum dft__name_use { DFT__NAME_TEXT = 1, DFT__NAME_KEY = 2, DFT__NAME_SITE = 3, DFT__NAME_PATH = 4 };

/* A name is referred to by its offset / 16. It never changes once it is in its bucket. */
typedef struct dft__name {
  uint64_t hash;
  _Atomic uint64_t defined; /* PATH: the batch that holds the hash's definition; 0: none yet */
  _Atomic uint32_t next;    /* in its bucket */
  _Atomic uint32_t pending; /* PATH: next in the list of those without a definition */
  uint32_t index;           /* 1, 2, 3 ... */
  uint32_t use;
  uint32_t cat; /* SITE: reference of the category, a TEXT */
  uint32_t len;
  uint32_t is_muted;        /* SITE: its category is not recorded */
  _Atomic uint32_t is_dead; /* another thread registered the same text first */
  char text[];
} dft__name;

/* ---- Threads ---- */

enum dft__frame_flags {
  DFT__FRAME_MUTED = 1,      /* not recorded: paused, or its category is off */
  DFT__FRAME_LEVEL = 2,      /* dft_enter: no event of its own */
  DFT__FRAME_TAKEN = 4,      /* a LEVEL whose id an explicit event has used */
  DFT__FRAME_CROSSED = 8,    /* an enclosing region ended before it: the event goes onto a lane */
  DFT__FRAME_LOST = 16,      /* arguments did not fit: there is an item DFT__KEY_LOST */
  DFT__FRAME_LOSS_SHIFT = 8, /* above: how many more than the item says */
};

/* An open region. id is stored last and cleared first, so that a frame with an id is complete. */
typedef struct dft__frame {
  _Atomic uint64_t id; /* 0: not complete, or ended */
  _Atomic uint64_t start;
  _Atomic uint64_t parent;
  _Atomic uint32_t site;
  _Atomic uint32_t level;
  _Atomic uint32_t args; /* where its arguments begin in the argument area */
  _Atomic uint32_t flags;
} dft__frame;

#define DFT__LANES 16
#define DFT__THREAD_FRAMES 38u
#define DFT__THREAD_ARGS 1984u
#define DFT__LANE_TID (1u << 22) /* thread ids of lanes lie above it; the kernel's own never do */

typedef struct dft__lane {
  uint64_t end;    /* ticks of its last event */
  uint64_t number; /* 1, 2, 3 ... in the process; 0: not in use */
} dft__lane;

/* One thread's state, in a chunk of its own. An area is: offset in the file 40 bits | room (frames, bytes, lanes) 24 bits. */
typedef struct dft__thread {
  _Atomic uint64_t cursor; /* where the next record goes: page 34 | log2 of the chunk's size 6 | cell 24 */
  _Atomic uint32_t busy;   /* nonzero: inside a recording call */
  _Atomic uint32_t depth;  /* frames in use */
  _Atomic uint64_t frames; /* area */
  _Atomic uint64_t args;   /* area */
  _Atomic uint32_t args_used;
  _Atomic uint32_t overflow; /* regions begun when the stack had no room: their ends are ignored */
  _Atomic uint64_t next_id;  /* a multiple of DFT__ID_BLOCK: the block is used up */
  uint32_t tid;
  uint32_t chunks;             /* taken so far; the first ones are smaller */
  uint32_t lane_count;         /* of the lanes in use */
  _Atomic uint32_t nested;     /* recording calls inside others, by signal handlers */
  _Atomic uint32_t old_stacks; /* pages of outgrown areas, kept while somebody may hold a pointer */
  _Atomic uint64_t lanes;      /* area */
  dft__lane lane[DFT__LANES];  /* the first area of lanes */
} dft__thread;

static inline uint64_t dft__area(uint64_t offset, uint32_t room) {
  return offset << 24 | room;
}
static inline uint64_t dft__area_offset(uint64_t area) {
  return area >> 24;
}
static inline uint32_t dft__area_room(uint64_t area) {
  return (uint32_t)area & 0xffffffu;
}

/* ---- Commits ---- */

/* Which cells the output holds, and how long it then was. Two slots, written in turn; header.commit_seq names the valid
 * one, so a commit is there completely or not at all. */
typedef struct dft__consumed {
  uint32_t page, gen, cell;
} dft__consumed;

typedef struct dft__commit {
  uint64_t seq;
  uint64_t events;                /* complete ones of the user, so far */
  uint64_t last_ticks;            /* the latest end of these */
  uint64_t bytes[DFT__SINKS_MAX]; /* length of each sink's output */
  uint64_t final_ticks;           /* when open regions end; 0: none of them was handed out yet */
  uint32_t open_page;             /* page of the thread whose open regions are being handed out */
  uint32_t open_depth;            /* and how many of its frames are done */
  uint32_t complete;              /* the output holds its `end`: only publishing is left */
  uint32_t count;
  uint64_t check;                     /* hash of this struct, for spools that lived through a crash of the node */
  dft__consumed few[DFT__COMMIT_FEW]; /* more than these stand in the slot's half of header.lists */
} dft__commit;

/* ---- Clock ---- */

enum dft__clock_source { DFT__CLOCK_MONOTONIC = 0 /* nanoseconds */, DFT__CLOCK_TSC = 1 /* time stamp counter */ };

/* From here to the ticks of the next knot, or without end: epoch_ns = ns + (t - ticks) * rate / 2^48. */
typedef struct dft__knot {
  uint64_t ticks;
  uint64_t ns;
  uint64_t rate;
} dft__knot;

/* What leads from ticks to the epoch: lines between knots, one after the other and none falling. New knots come at the end;
 * what the map says of ticks up to `settled` stays as it is, because a trace may hold it already. */
typedef struct dft__clock_map {
  uint32_t source;
  _Atomic uint32_t count; /* of knots, 1 at least; stored behind a new knot */
  uint64_t settled;       /* ticks */
  uint64_t sampled;       /* ticks when the clocks were last compared */
  dft__knot fit;          /* ticks and ns of the comparison that the last rate reaches from, or to */
  dft__knot knots[DFT__KNOTS];
} dft__clock_map;

__extension__ typedef unsigned __int128 dft__wide;
#define DFT__RATE_LOG 48

/* Nanoseconds since the epoch; safe with whatever a damaged map holds. Looks from the end: recent ticks are the usual case,
 * and a death while knots were being moved up leaves some of them twice, which does no harm this way. */
static inline uint64_t dft__epoch_ns(const dft__clock_map *map, uint64_t ticks) {
  uint32_t at = atomic_load_explicit(&map->count, memory_order_relaxed);
  const dft__knot *knot;
  dft__wide ns;
  at = at > DFT__KNOTS ? DFT__KNOTS : at;
  while (at > 1 && map->knots[at - 1].ticks > ticks) at--;
  knot = &map->knots[at ? at - 1 : 0];
  ns = (dft__wide)(ticks > knot->ticks ? ticks - knot->ticks : knot->ticks - ticks) * knot->rate >> DFT__RATE_LOG;
  if (ticks >= knot->ticks) ns += knot->ns;
  else ns = ns < knot->ns ? knot->ns - ns : 0;
  return ns <= INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

/* ---- The header ---- */

/* Of is_explicit: a pid follows the name that the program asked for, and no other trace is replaced. To 5.0 it is the same as 1. */
#define DFT__NAME_EXTENDED 2u

typedef struct dft__header {
  char magic[8]; /* written last */
  uint32_t layout;
  uint32_t header_bytes;
  /* identity of the process */
  uint64_t start_ticks;   /* field 22 of /proc/PID/stat */
  uint64_t pid_namespace; /* inode of /proc/self/ns/pid */
  uint64_t image;         /* identity.h */
  uint32_t pid;
  uint32_t ppid;
  char boot_id[40];
  char host[72];
  /* where the trace goes */
  char folder[4096];    /* absolute */
  char stem[256];       /* of the published name, without suffix */
  char base[256];       /* of the spool and the live files in .dftracer/ */
  uint32_t is_explicit; /* 1: the stem is the very name the program asked for; DFT__NAME_EXTENDED; 0: neither */
  uint32_t sink_count;
  char sink[DFT__SINKS_MAX][256];
  /* settings that a recovery must share */
  int32_t compress;
  int32_t level;
  int32_t metadata;
  int32_t hide_tids;
  char unit[8]; /* US, NS, MS, SEC */
  uint64_t unit_ns;
  int64_t epoch_offset_ns; /* of CLOCK_MONOTONIC */
  dft__clock_map clock;
  /* facts */
  uint64_t settings; /* hash of them all: only with the same ones an image goes on after exec */
  uint64_t opened_ticks;
  uint64_t host_hash;
  uint32_t cwd, command, executable; /* references of names */
  _Atomic uint32_t main_name;        /* of the main thread */
  _Atomic int32_t rank, size;        /* -1: unknown */
  uint32_t affinity;                 /* reference: cores, comma between them */
  _Atomic uint32_t annotated;        /* something other than I/O calls was recorded */
  /* counters */
  uint64_t first_id;        /* ids from here on are the opening lines' */
  _Atomic uint64_t next_id; /* a multiple of DFT__ID_BLOCK */
  _Atomic uint64_t next_lane;
  _Atomic uint64_t dropped;
  _Atomic uint64_t dropped_first, dropped_last; /* ticks */
  _Atomic uint64_t unmatched;                   /* ends without a begin */
  /* chunks */
  _Atomic uint64_t file_bytes;                   /* allocated */
  uint64_t limit_bytes;                          /* of chunks for records */
  uint64_t map_bytes;                            /* of everything */
  _Atomic uint64_t top;                          /* carved so far */
  _Atomic uint64_t free[DFT__CHUNK_LOG_MAX + 1]; /* per size: tag 32 | page 32 */
  _Atomic uint64_t block[DFT__BLOCK_LOG];        /* per small size: offset 48 of what is left of a block | bytes 16 */
  /* names */
  _Atomic uint64_t name_cursor; /* area: where the next name goes, and the bytes left there */
  _Atomic uint32_t name_count;
  _Atomic uint32_t name_chunks;   /* of 64 KiB */
  _Atomic uint32_t pending_paths; /* references: paths whose hash no output defines yet */
  _Atomic uint32_t facts_lock;    /* thread id of the holder */
  /* app metadata and layers: items as in a record, key by reference. One half is in use, the other for tidying up */
  _Atomic uint32_t facts_used; /* bytes in use; with DFT__FACTS_BYTES added: in the second half */
  _Alignas(8) uint8_t facts[2][DFT__FACTS_BYTES];
  _Atomic uint32_t lists;         /* page of the chunk for long lists of two commits; 0: none yet */
  _Atomic uint32_t main_is_named; /* by the program */
  _Atomic uint64_t commit_seq;
  _Atomic uint32_t bucket[DFT__BUCKETS];
  dft__commit commit[2];
  /* 0 in spools of 5.0 */
  uint64_t time_namespace; /* identity.h */
  uint64_t lock_device;    /* of this file, if its process holds a lock on it as long as it can write to it (spool.c) */
  uint64_t lock_inode;     /* 0: it holds none */
  _Atomic uint64_t last_order; /* that a chunk got */
  /* who may write the outputs (ownership.h) */
  _Atomic uint32_t is_appending; /* the process itself is at it (ownership.c) */
  _Atomic uint32_t is_taken;     /* a recovery is at it, though the process may be alive */
  _Atomic uint64_t takings;      /* recoveries that have taken the trace so far; then the process begins another one */
  uint64_t taken_seconds;        /* since 1970, when something was last taken; 0: never */
  /* facts of the opening and the end */
  char run[DFT__RUN_BYTES];                           /* base/run.h; terminated */
  _Atomic uint64_t ended_ticks;                       /* when the program ended, or stopped the trace; 0: not yet */
  _Atomic uint64_t drain_cpu_ns;                      /* of the drain's thread */
  _Atomic uint64_t assist_ns;                         /* that threads of the program spent on making room */
  _Atomic uint64_t open_in_ended;                     /* regions that were open when their thread ended */
  _Atomic uint32_t unmatched_sites[DFT__SITES_NAMED]; /* references of names; DFT__SITE_NONE; 0: no more */
  _Atomic uint32_t open_sites[DFT__SITES_NAMED];      /* of open_in_ended */
  uint64_t age_ns;                                    /* of the process, at opened_ticks; 0: unknown */
} dft__header;

_Static_assert(sizeof(dft__record) == DFT__CELL, "a record starts with one cell");
_Static_assert(sizeof(dft__further) == DFT__CELL, "a further cell is one cell");
_Static_assert(sizeof(dft__chunk) == DFT__CELL, "a chunk's header is one cell");
_Static_assert(sizeof(dft__frame) == 40, "a frame has no holes");
_Static_assert(DFT__CELL + sizeof(dft__thread) + DFT__THREAD_FRAMES * sizeof(dft__frame) + DFT__THREAD_ARGS <= 4096,
               "a thread's state fits the smallest chunk");
_Static_assert(sizeof(dft__header) <= DFT__HEADER_BYTES, "the header has its place");
_Static_assert(DFT__CELL + 2 * DFT__COMMIT_CHUNKS * sizeof(dft__consumed) <= 1u << DFT__LISTS_LOG,
               "both lists have theirs");

#endif
