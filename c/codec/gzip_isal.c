/* gzip_isal.c - gzip members by ISA-L, which is loaded only when there is enough to compress. In a short process, loading
 * it and detecting the processor's features would take longer than everything else.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/monotonic.h"
#include "deflate.h"
#include "gzip.h"

/* The front of the state. */
typedef struct compressor {
  struct isal_zstream stream;
  _Alignas(64) uint8_t level_buf[ISAL_DEF_LVL3_EXTRA_LARGE];
} compressor;

const char *dft__gzip_name(void) {
  return "isal";
}

int dft__gzip_default_level(void) {
  return 1;
}

size_t dft__gzip_state_bytes(void) {
  return sizeof(compressor);
}

/* Where nothing can be compressed ISA-L stores blocks of up to 64 KiB with 5 bytes each, but it wants to see some room
 * beyond before it tries. */
size_t dft__gzip_bound(size_t len) {
  return DFT__DEFLATE_BOUND(len) + 2048;
}

/* ---- The library ---------------------------------------------------------------------------------------------------- */

typedef void init_function(struct isal_zstream *);
typedef int deflate_function(struct isal_zstream *);

#ifdef DFT__LINKED_ISAL
static init_function *init_stateless = isal_deflate_stateless_init;
static _Atomic(deflate_function *) deflate_stateless = isal_deflate_stateless;

void dft__gzip_load(void) {
} /* it is linked */

void dft__gzip_load_aside(void) {
}
#else
#define LIBRARY "libisal.so.2"          /* whose interface igzip_lib.h is */
#define LOADING_NS UINT64_C(1000000000) /* that a fork waits for: a busy disk may have to read it first */

static init_function *init_stateless;
static _Atomic(deflate_function *) deflate_stateless; /* stored last */
static _Atomic int load_state;                        /* 0 not tried, 1 loading, 2 tried */

/* A child made while the dynamic linker is at work would find its lists half changed. But the thread that forks may hold the
 * linker's lock itself, in a constructor. */
static void await_loading(void) {
  struct timespec pause = {0, 100000};
  uint64_t deadline = dft__clock_ns() + LOADING_NS;
  while (atomic_load(&load_state) == 1 && dft__clock_ns() < deadline) nanosleep(&pause, NULL);
}

static void forget_loading(void) {
  int at_it = 1; /* in the parent: the wait was too short */
  atomic_compare_exchange_strong(&load_state, &at_it, 2);
}

void dft__gzip_load(void) {
  int none = 0;
  void *library, *init, *deflate;
  if (atomic_load(&load_state) || pthread_atfork(await_loading, NULL, forget_loading) != 0) return;
  if (!atomic_compare_exchange_strong(&load_state, &none, 1)) return;
  library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  init = library ? dlsym(library, "isal_deflate_stateless_init") : NULL;
  deflate = library ? dlsym(library, "isal_deflate_stateless") : NULL;
  if (init && deflate) {
    deflate_function *function;
    memcpy(&init_stateless, &init, sizeof init_stateless);
    memcpy(&function, &deflate, sizeof function);
    atomic_store(&deflate_stateless, function);
  }
  atomic_store(&load_state, 2);
}

static void *load(void *unused) {
  dft__gzip_load();
  return unused;
}

void dft__gzip_load_aside(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (atomic_load(&load_state) || pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_create(&thread, &attributes, load, NULL);
  pthread_attr_destroy(&attributes);
}
#endif

/* ---- Members -------------------------------------------------------------------------------------------------------- */

#define SHORT_TEXT ((size_t)16 << 10)

/* ISA-L has levels 0 to 3 only. */
static uint32_t own_level(int level) {
  return level <= 1 ? 1 : level <= 3 ? 2 : 3;
}

static size_t compress_as(uint16_t format, void *state, size_t state_bytes, int level, const void *text, size_t len,
                          void *out, size_t room) {
  static const uint32_t level_buf_size[] = {0, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};
  deflate_function *deflate = atomic_load(&deflate_stateless);
  compressor *own = state;
  struct isal_zstream *stream = &own->stream;
  if (state_bytes < sizeof *own || len > UINT_MAX) return 0;
  if (level < 1 || level > 9) level = dft__gzip_default_level();
  if (!deflate || (level == 1 && len < SHORT_TEXT))
    return (format == IGZIP_GZIP ? dft__deflate_gzip : dft__deflate_zlib)(text, len, out, room);
  if (room > UINT_MAX) room = UINT_MAX;
  init_stateless(stream);
  stream->level = own_level(level);
  stream->level_buf = own->level_buf;
  stream->level_buf_size = level_buf_size[stream->level];
  stream->gzip_flag = format;
  stream->end_of_stream = 1;
  stream->flush = NO_FLUSH;
  stream->next_in = (uint8_t *)(uintptr_t)text;
  stream->avail_in = (uint32_t)len;
  stream->next_out = out;
  stream->avail_out = (uint32_t)room;
  return deflate(stream) == COMP_OK && stream->avail_in == 0 ? room - stream->avail_out : 0;
}

size_t dft__gzip_member(void *state, size_t state_bytes, int level, const void *text, size_t len, void *out,
                        size_t room) {
  return compress_as(IGZIP_GZIP, state, state_bytes, level, text, len, out, room);
}

size_t dft__gzip_stream(void *state, size_t state_bytes, int level, const void *bytes, size_t len, void *out,
                        size_t room) {
  return compress_as(IGZIP_ZLIB, state, state_bytes, level, bytes, len, out, room);
}
