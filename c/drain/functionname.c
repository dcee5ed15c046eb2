/* functionname.c - the name of the function at an address in a file.
 *
 * Runs where events are encoded: on the drain's thread, on a producer that assists, in a recovery. So memory comes from mmap.
 * Files are read, not mapped, because a file that shrinks would raise SIGBUS. The addresses of functions are kept for a few
 * files, and the names that were asked for.
 * SPDX-License-Identifier: MIT */
#include "functionname.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/elffile.h"
#include "base/hash.h"
#include "spool/record.h"

#define NAMES_LOG 17 /* of functions in one process: twice what function.c has room for */
#define BLOCK_BYTES (256u << 10)

typedef struct known {
  _Atomic uint64_t hash; /* of the site's name; stored last, with release */
  dft_text name;
} known;

static known *names;             /* 1 << NAMES_LOG, made when first needed */
static _Atomic uint64_t at_work; /* pid of the process whose thread changes what is here; another's is void: a fork */
static char *block;              /* where the next text goes */
static size_t block_left;
static DFT__LARGE dft__elffile files[8];
static uint32_t oldest;

static void lock(void) {
  uint64_t own = (uint64_t)getpid();
  uint64_t holder = 0;
  while (!atomic_compare_exchange_weak(&at_work, &holder, own)) {
    if (holder && holder != own && atomic_compare_exchange_strong(&at_work, &holder, own)) return;
    if (holder == own) sched_yield();
    holder = 0;
  }
}

static void *take_pages(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* A copy that lasts. */
static dft_text keep(const char *text) {
  size_t len = strlen(text);
  dft_text kept = {"(no memory)", 11};
  if (len > block_left) {
    char *fresh = take_pages(BLOCK_BYTES);
    if (!fresh) return kept;
    block = fresh;
    block_left = BLOCK_BYTES;
  }
  memcpy(block, text, len);
  kept = (dft_text){block, len};
  block += len;
  block_left -= len;
  return kept;
}

static const dft__elffile *table_of(const char *path) {
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    if (strcmp(files[i].path, path) == 0) return &files[i];
  }
  oldest = (oldest + 1) % (sizeof files / sizeof files[0]);
  dft__elffile_read(&files[oldest], path);
  return &files[oldest];
}

/* With the lock. */
static dft_text resolve(const char *text, int64_t opened_ns) {
  char found[DFT__NAME_MAX];
  char *path;
  uint64_t address = strtoull(text, &path, 16);
  const dft__elffile *table;
  const char *file;
  if (*path != '@') return keep(text);
  path++;
  table = table_of(path);
  if (table->changed_ns <= opened_ns && dft__elffile_find(table, address, found, sizeof found)) return keep(found);
  file = strrchr(path, '/');
  snprintf(found, sizeof found, "%s+0x%lx", file ? file + 1 : path, (unsigned long)address);
  return keep(found);
}

static int is_address(dft_text name) {
  return name.len > 4 && name.len < DFT__NAME_MAX && memcmp(name.text, "0x", 2) == 0 &&
         memchr(name.text, '@', name.len);
}

/* The entry of a name, or a free one for it; NULL when there is neither. */
static known *search(uint64_t hash) {
  for (uint32_t i = 0; i < 64; i++) {
    known *one = &names[(hash + i) % (1u << NAMES_LOG)];
    uint64_t found = DFT__ACQUIRE(one->hash);
    if (found == hash || !found) return one;
  }
  return NULL;
}

dft_text dft__function_name(dft_text name, int64_t opened_ns) {
  char text[DFT__NAME_MAX];
  uint64_t hash;
  known *one;
  if (!is_address(name)) return name;
  hash = dft__hash(name.text, name.len, (uint64_t)opened_ns) | 1;
  if (names && (one = search(hash)) && DFT__ACQUIRE(one->hash) == hash) return one->name;
  memcpy(text, name.text, name.len);
  text[name.len] = '\0';
  lock();
  if (!names) names = take_pages(sizeof *names << NAMES_LOG);
  one = names ? search(hash) : NULL;
  if (one && DFT__ACQUIRE(one->hash) != hash) {
    one->name = resolve(text, opened_ns);
    DFT__RELEASE(one->hash, hash);
  }
  atomic_store(&at_work, 0);
  return one ? one->name : name;
}
