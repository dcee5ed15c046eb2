/* gzip_libdeflate.c - gzip members by libdeflate.
 *
 * libdeflate allocates each compressor, and up to version 1.18 its only way to use other memory is one allocator for
 * the whole process, without an argument. So the allocator finds the caller's state through a thread-local pointer, and
 * is plain malloc while that is NULL. Compressors in a state are never freed, so `free` stays right for all others: an
 * application that uses libdeflate too notices nothing, unless it has set an allocator of its own.
 * SPDX-License-Identifier: MIT */
#include <libdeflate.h>
#include <stdlib.h>

#include "gzip.h"

/* Levels up to 9 need 0.2 to 0.8 MiB. */
#define STATE_BYTES ((size_t)1 << 20)

typedef struct libdeflate_arena {
  char *next;
  char *end;
} libdeflate_arena;

static __thread __attribute__((tls_model("initial-exec"))) libdeflate_arena *current;

static void *take(size_t bytes) {
  char *piece;
  if (!current) return malloc(bytes);
  piece = current->next;
  bytes = (bytes + 63) & ~(size_t)63;
  if ((size_t)(current->end - piece) < bytes) return NULL;
  current->next += bytes;
  return piece;
}

/* Before any thread can be in the library. */
__attribute__((constructor)) static void set_allocator(void) {
  libdeflate_set_memory_allocator(take, free);
}

/* A signal handler may do the same in between, hence the saved value. */
static struct libdeflate_compressor *make_compressor(void *state, size_t state_bytes, int level) {
  libdeflate_arena own = {state, (char *)state + state_bytes};
  libdeflate_arena *outer = current;
  struct libdeflate_compressor *compressor;
  current = &own;
  compressor = libdeflate_alloc_compressor(level);
  current = outer;
  return compressor;
}

void dft__gzip_load(void) {
} /* it is linked */

void dft__gzip_load_aside(void) {
}

const char *dft__gzip_name(void) {
  return "libdeflate";
}

int dft__gzip_default_level(void) {
  return 1;
}

size_t dft__gzip_state_bytes(void) {
  return STATE_BYTES;
}

/* libdeflate's own bound, without asking for a compressor: 5 bytes for each stored block of at least 5000. */
size_t dft__gzip_bound(size_t len) {
  return libdeflate_gzip_compress_bound(NULL, len);
}

static struct libdeflate_compressor *compressor_of(void *state, size_t state_bytes, int level) {
  if (level < 1 || level > 9) level = dft__gzip_default_level();
  return state_bytes < STATE_BYTES ? NULL : make_compressor(state, state_bytes, level);
}

size_t dft__gzip_member(void *state, size_t state_bytes, int level, const void *text, size_t len, void *out,
                        size_t room) {
  struct libdeflate_compressor *compressor = compressor_of(state, state_bytes, level);
  return compressor ? libdeflate_gzip_compress(compressor, text, len, out, room) : 0;
}

size_t dft__gzip_stream(void *state, size_t state_bytes, int level, const void *bytes, size_t len, void *out,
                        size_t room) {
  struct libdeflate_compressor *compressor = compressor_of(state, state_bytes, level);
  return compressor ? libdeflate_zlib_compress(compressor, bytes, len, out, room) : 0;
}
