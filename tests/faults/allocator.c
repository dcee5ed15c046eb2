/* allocator.c - a program with an allocator of its own, which must not be called while an event is recorded.
 *
 *   allocator WAY     first: the first event of the process; keys: with many thread-specific keys; child: the first event of a
 *                     forked child; full: until the spool is full, and the thread helps to write
 *
 * Ends with 99 and a word on stderr when a recording call allocates: a handler that had interrupted malloc would wait for ever.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_BYTES ((size_t)1 << 32)
#define HEAD_BYTES 16

static _Thread_local int is_recording;
static _Atomic size_t used;

static void refuse(const char *function) {
  if (!is_recording) return;
  is_recording = 0;
  if (write(STDERR_FILENO, function, strlen(function)) < 0) _exit(98);
  _exit(99);
}

/* Nothing is given back: the program is short. Before each block stands its size. */
void *malloc(size_t bytes) {
  static _Atomic(char *) memory;
  size_t at, need = (bytes + HEAD_BYTES + 15) / 16 * 16;
  refuse("malloc\n");
  if (!atomic_load(&memory)) {
    char *none = NULL;
    char *mapped = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return NULL;
    if (!atomic_compare_exchange_strong(&memory, &none, mapped)) munmap(mapped, MEMORY_BYTES);
  }
  at = atomic_fetch_add(&used, need);
  if (at + need > MEMORY_BYTES) return NULL;
  memcpy(atomic_load(&memory) + at, &bytes, sizeof bytes);
  return atomic_load(&memory) + at + HEAD_BYTES;
}

void free(void *block) {
  if (block) refuse("free\n");
}

void *calloc(size_t count, size_t bytes) {
  return malloc(count * bytes); /* fresh memory is zero */
}

void *realloc(void *block, size_t bytes) {
  size_t old = 0;
  void *moved = malloc(bytes);
  if (block) memcpy(&old, (char *)block - HEAD_BYTES, sizeof old);
  if (moved && block) memcpy(moved, block, old < bytes ? old : bytes);
  return moved;
}

static void record(int count) {
  static dft_site site = DFT_SITE("step", "test");
  is_recording = 1;
  for (int i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_update_string("text", "a text that does not fit into the first cell of a record");
    dft_region_end();
    dft_instant("instant", "test");
  }
  is_recording = 0;
}

static int run_child(void) {
  int status = -1;
  pid_t child;
  record(100);
  child = fork();
  if (child == 0) {
    record(100);
    _exit(0);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "first";
  pthread_key_t key;
  for (int i = 0; i < 40 && strcmp(way, "keys") == 0; i++) pthread_key_create(&key, NULL);
  if (strcmp(way, "child") == 0) return run_child();
  record(strcmp(way, "full") == 0 ? 40000 : 100);
  return 0;
}
