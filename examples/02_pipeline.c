/* 02_pipeline.c - sorts more numbers than it holds in memory at once, on several threads, and records how.
 *
 *   main      generate: shard files of random numbers
 *   workers   for each shard:  read -> histogram -> sort -> write it back
 *   main      merge the sorted shards into one file, and check the order and the sum
 *
 * Usage: 02_pipeline FOLDER. It shows nested regions, arguments, counters, instants, metadata and thread names. The
 * trace shows where the time went. SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHARDS = 24, SHARD_NUMBERS = 200000, WORKERS = 3, BINS = 256, BLOCK_NUMBERS = 50000 };

static const char *folder;
static uint64_t histogram[BINS];
static pthread_mutex_t histogram_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int next_shard;

static void fail(const char *what, const char *path) {
  fprintf(stderr, "02_pipeline: cannot %s %s\n", what, path);
  exit(1);
}

/* ---- Files: every call that moves data is a region with its size ---- */

static FILE *open_file(const char *name, int index, const char *mode, char *path, size_t path_size) {
  snprintf(path, path_size, "%s/%s-%02d.bin", folder, name, index);
  FILE *file = fopen(path, mode);
  if (!file) fail("open", path);
  return file;
}

static void write_numbers(FILE *file, const char *path, const uint32_t *numbers, size_t count) {
  static dft_site site = DFT_SITE("write_block", "io");
  dft_region_begin(&site);
  dft_update_string("path", path);
  dft_update_uint("bytes", count * sizeof *numbers);
  if (fwrite(numbers, sizeof *numbers, count, file) != count) fail("write", path);
  dft_region_end();
}

static size_t read_numbers(FILE *file, const char *path, uint32_t *numbers, size_t count) {
  static dft_site site = DFT_SITE("read_block", "io");
  dft_region_begin(&site);
  dft_update_string("path", path);
  size_t got = fread(numbers, sizeof *numbers, count, file);
  dft_update_uint("bytes", got * sizeof *numbers);
  dft_region_end();
  return got;
}

/* ---- 1. Generate ---- */

static uint64_t generate(void) {
  static dft_site all = DFT_SITE("generate", "pipeline"), one = DFT_SITE("generate_shard", "pipeline");
  uint32_t *numbers = malloc(SHARD_NUMBERS * sizeof *numbers);
  uint64_t sum = 0;
  uint32_t state = 2463534242u;
  char path[4096];
  if (!numbers) fail("get memory for", "a shard");
  dft_region_begin(&all);
  for (int shard = 0; shard < SHARDS; shard++) {
    dft_region_begin(&one);
    dft_update_int("shard", shard);
    for (int i = 0; i < SHARD_NUMBERS; i++) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5; /* xorshift32: the same numbers every time */
      numbers[i] = state;
      sum += state;
    }
    FILE *file = open_file("shard", shard, "wb", path, sizeof path);
    write_numbers(file, path, numbers, SHARD_NUMBERS);
    fclose(file);
    dft_region_end();
  }
  dft_region_end();
  free(numbers);
  return sum;
}

/* ---- 2. Sort the shards, in parallel ---- */

static int compare(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

static void count_numbers(const uint32_t *numbers, size_t count) {
  static dft_site site = DFT_SITE("histogram", "compute"), waiting = DFT_SITE("wait_for_lock", "sync");
  uint64_t mine[BINS] = {0};
  dft_region_begin(&site);
  for (size_t i = 0; i < count; i++) mine[numbers[i] >> 24]++;
  dft_region_begin(&waiting);
  pthread_mutex_lock(&histogram_lock);
  dft_region_end();
  for (int bin = 0; bin < BINS; bin++) histogram[bin] += mine[bin];
  pthread_mutex_unlock(&histogram_lock);
  dft_region_end();
}

static void sort_shard(int shard, uint32_t *numbers) {
  static dft_site site = DFT_SITE("sort_shard", "pipeline"), sorting = DFT_SITE("sort", "compute");
  char path[4096];
  size_t count = 0, got;
  dft_region_begin(&site);
  dft_update_int("shard", shard);
  FILE *file = open_file("shard", shard, "rb", path, sizeof path);
  while ((got = read_numbers(file, path, numbers + count, BLOCK_NUMBERS)) > 0) count += got;
  fclose(file);
  count_numbers(numbers, count);
  dft_region_begin(&sorting);
  dft_update_uint("numbers", count);
  qsort(numbers, count, sizeof *numbers, compare);
  dft_region_end();
  file = open_file("sorted", shard, "wb", path, sizeof path);
  write_numbers(file, path, numbers, count);
  fclose(file);
  dft_region_end();
}

static void *work(void *argument) {
  char name[32];
  uint32_t *numbers = malloc((SHARD_NUMBERS + BLOCK_NUMBERS) * sizeof *numbers);
  int shard;
  if (!numbers) fail("get memory for", "a worker");
  snprintf(name, sizeof name, "worker %d", *(int *)argument);
  dft_thread_name(name);
  while ((shard = atomic_fetch_add(&next_shard, 1)) < SHARDS) {
    dft_counter("shards_left", "pipeline", SHARDS - shard - 1);
    sort_shard(shard, numbers);
  }
  dft_instant("nothing_left", "pipeline");
  free(numbers);
  return NULL;
}

static void sort_shards(void) {
  static dft_site site = DFT_SITE("sort_shards", "pipeline");
  pthread_t thread[WORKERS];
  int index[WORKERS];
  dft_region_begin(&site);
  dft_update_int("workers", WORKERS);
  for (int i = 0; i < WORKERS; i++) {
    index[i] = i;
    if (pthread_create(&thread[i], NULL, work, &index[i]) != 0) fail("start", "a worker");
  }
  for (int i = 0; i < WORKERS; i++) pthread_join(thread[i], NULL);
  dft_region_end();
}

/* ---- 3. Merge ---- */

typedef struct run {
  FILE *file;
  char path[4096];
  size_t at, end;
  uint32_t numbers[BLOCK_NUMBERS / 10];
} run;

/* Whether the run has a number left; reads the next block when it must, and closes the file after the last. */
static int has_more(run *from) {
  if (from->at < from->end) return 1;
  if (!from->file) return 0;
  from->at = 0;
  from->end = read_numbers(from->file, from->path, from->numbers, sizeof from->numbers / sizeof *from->numbers);
  if (from->end > 0) return 1;
  fclose(from->file);
  from->file = NULL;
  return 0;
}

static uint64_t merge(void) {
  static dft_site site = DFT_SITE("merge", "compute");
  run *runs = calloc(SHARDS, sizeof *runs);
  uint32_t *merged = malloc(BLOCK_NUMBERS * sizeof *merged);
  size_t count = 0, total = 0;
  uint64_t sum = 0;
  uint32_t last = 0;
  int is_ordered = 1;
  char path[4096];
  if (!runs || !merged) fail("get memory for", "the merge");
  dft_region_begin(&site);
  FILE *file = open_file("merged", 0, "wb", path, sizeof path);
  for (int i = 0; i < SHARDS; i++) runs[i].file = open_file("sorted", i, "rb", runs[i].path, sizeof runs[i].path);
  for (;;) {
    run *least = NULL;
    for (int i = 0; i < SHARDS; i++) {
      if (!has_more(&runs[i])) continue;
      if (!least || runs[i].numbers[runs[i].at] < least->numbers[least->at]) least = &runs[i];
    }
    if (!least) break;
    uint32_t number = least->numbers[least->at++];
    is_ordered &= number >= last;
    sum += last = number;
    merged[count++] = number;
    total++;
    if (count == BLOCK_NUMBERS) {
      write_numbers(file, path, merged, count);
      dft_counter("numbers_merged", "pipeline", (double)total);
      count = 0;
    }
  }
  if (count) write_numbers(file, path, merged, count);
  fclose(file);
  dft_update_uint("numbers", total);
  dft_update_bool("ordered", is_ordered);
  dft_region_end();
  free(merged);
  free(runs);
  return is_ordered ? sum : 0;
}

int main(int argc, char **argv) {
  static dft_site site = DFT_SITE("main", "pipeline");
  if (argc != 2) {
    fprintf(stderr, "usage: 02_pipeline FOLDER\n");
    return 2;
  }
  folder = argv[1];
  dft_metadata("input", "xorshift32, seed 2463534242");
  dft_app_metadata_int("shards", SHARDS);
  dft_region_begin(&site);
  uint64_t wanted = generate();
  sort_shards();
  uint64_t got = merge();
  dft_instant(got == wanted ? "checked" : "wrong", "pipeline");
  dft_region_end();
  printf("sorted %d numbers in %d files: %s\n", SHARDS * SHARD_NUMBERS, SHARDS, got == wanted ? "correct" : "WRONG");
  return got == wanted ? 0 : 1;
}
