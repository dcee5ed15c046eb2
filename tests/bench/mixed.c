/* mixed.c - a trace like that of a training job: regions of a main thread, I/O calls of a loader thread.
 *
 * Usage: mixed STEPS. What happens, and how long each thing takes, comes from a fixed seed; the time is spent spinning.
 * About 30 events a step, three of five of them I/O calls with a path. SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "bench.h"

enum { FILES = 64, STEPS_PER_EPOCH = 200, CHECKPOINT_STEPS = 100, SAMPLES_PER_STEP = 3 };

static int steps;
static uint32_t sample_path[FILES];
static char sample_name[FILES][64];

/* Spins: mostly little more than the least time, seldom up to the most. */
static void spend(uint64_t *seed, double least_us, double most_us) {
  double share = (double)(bench_random(seed) >> 11) / 9007199254740992.0;
  double ns = 1e3 * (least_us + (most_us - least_us) * share * share * share * share);
  uint64_t end = bench_now_ns() + (uint64_t)ns;
  while (bench_now_ns() < end) {
  }
}

/* ---- I/O calls, as an intercepting library records them ---- */

static dft_key fhash = DFT_KEY("fhash"), count_key = DFT_KEY("count"), offset_key = DFT_KEY("offset"),
               ret_key = DFT_KEY("ret"), flags_key = DFT_KEY("flags"), whence_key = DFT_KEY("whence");

static dft_arg integer(dft_key *key, int64_t value) {
  return (dft_arg){.key = key, .type = DFT_INT, .value.i = value};
}

static dft_arg path(uint32_t file) {
  const char *name = sample_name[file];
  return (dft_arg){.key = &fhash, .type = DFT_PATH, .path = sample_path[file], .value.s = {name, strlen(name)}};
}

static void call_open(uint64_t *seed, uint32_t file, int flags) {
  static dft_site site = DFT_SITE("open", "POSIX");
  uint64_t begin = dft_ticks();
  spend(seed, 3, 80);
  dft_record(&site, begin, dft_ticks(), (dft_arg[]){path(file), integer(&flags_key, flags), integer(&ret_key, 7)}, 3);
}

static void call_lseek(uint64_t *seed, uint32_t file, int64_t offset) {
  static dft_site site = DFT_SITE("lseek", "POSIX");
  uint64_t begin = dft_ticks();
  spend(seed, 0.3, 1);
  dft_record(&site, begin, dft_ticks(),
             (dft_arg[]){path(file), integer(&offset_key, offset), integer(&whence_key, 0), integer(&ret_key, offset)},
             4);
}

static void call_read(uint64_t *seed, uint32_t file, int64_t count, int64_t ret) {
  static dft_site site = DFT_SITE("read", "POSIX");
  uint64_t begin = dft_ticks();
  spend(seed, 1, 60);
  dft_record(&site, begin, dft_ticks(), (dft_arg[]){path(file), integer(&count_key, count), integer(&ret_key, ret)}, 3);
}

static void call_pwrite(uint64_t *seed, uint32_t file, int64_t count, int64_t offset) {
  static dft_site site = DFT_SITE("pwrite", "POSIX");
  uint64_t begin = dft_ticks();
  spend(seed, 5, 200);
  dft_record(
    &site, begin, dft_ticks(),
    (dft_arg[]){path(file), integer(&count_key, count), integer(&offset_key, offset), integer(&ret_key, count)}, 4);
}

static void call_close(uint64_t *seed, uint32_t file) {
  static dft_site site = DFT_SITE("close", "POSIX");
  uint64_t begin = dft_ticks();
  spend(seed, 0.5, 3);
  dft_record(&site, begin, dft_ticks(), (dft_arg[]){path(file), integer(&ret_key, 0)}, 2);
}

/* ---- The two threads ---- */

static void load_sample(uint64_t *seed, int step) {
  static dft_site fetch = DFT_SITE("fetch.iter", "dataloader"), decode = DFT_SITE("preprocess", "data");
  uint32_t file = (uint32_t)(bench_random(seed) % FILES);
  int64_t left = (int64_t)(bench_random(seed) % (512 << 10));
  dft_region_begin(&fetch);
  dft_update_int("step", step);
  call_open(seed, file, 524288);
  call_lseek(seed, file, (int64_t)(bench_random(seed) % 4096) * 4096);
  while (left > 0) {
    int64_t got = left < 131072 ? left : 131072;
    call_read(seed, file, 131072, got);
    left -= got;
  }
  call_close(seed, file);
  dft_region_begin(&decode);
  dft_update_int("image_idx", (int64_t)(bench_random(seed) % 100000));
  spend(seed, 5, 120);
  dft_region_end();
  dft_region_end();
}

static void *load(void *argument) {
  uint64_t seed = 88172645463325252u;
  (void)argument;
  dft_thread_name("DataLoader worker 0");
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < SAMPLES_PER_STEP; i++) load_sample(&seed, step);
  }
  return NULL;
}

static void compute(uint64_t *seed, dft_site *site, int epoch, int step, double most_us) {
  dft_region_begin(site);
  dft_update_int("epoch", epoch);
  dft_update_int("step", step);
  spend(seed, 20, most_us);
  dft_region_end();
}

static void checkpoint(uint64_t *seed, int epoch, int step) {
  static dft_site site = DFT_SITE("capture", "checkpoint");
  uint32_t file = (uint32_t)(bench_random(seed) % FILES);
  dft_region_begin(&site);
  dft_update_int("epoch", epoch);
  dft_update_int("step", step);
  call_open(seed, file, 577);
  for (int64_t offset = 0; offset < 32 << 20; offset += 1 << 20) call_pwrite(seed, file, 1 << 20, offset);
  call_close(seed, file);
  dft_region_end();
}

static void train(void) {
  static dft_site epoch_site = DFT_SITE("epoch.block", "pipeline"), step_site = DFT_SITE("step", "pipeline"),
                  forward = DFT_SITE("forward", "compute"), backward = DFT_SITE("backward", "compute"),
                  reduce = DFT_SITE("all_reduce", "comm");
  uint64_t seed = 2463534242u;
  for (int step = 0; step < steps; step++) {
    int epoch = step / STEPS_PER_EPOCH;
    if (step % STEPS_PER_EPOCH == 0) dft_region_begin(&epoch_site);
    dft_region_begin(&step_site);
    dft_update_int("epoch", epoch);
    dft_update_int("step", step);
    compute(&seed, &forward, epoch, step, 300);
    compute(&seed, &backward, epoch, step, 500);
    compute(&seed, &reduce, epoch, step, 100);
    if (step % CHECKPOINT_STEPS == CHECKPOINT_STEPS - 1) checkpoint(&seed, epoch, step);
    dft_region_end();
    if (step % 10 == 0) dft_counter("loss", "train", 1.0 / (1 + step));
    if (step % STEPS_PER_EPOCH == STEPS_PER_EPOCH - 1 || step == steps - 1) dft_region_end();
  }
}

int main(int argc, char **argv) {
  pthread_t loader;
  steps = argc > 1 ? atoi(argv[1]) : 5000;
  dft_instant("begin", "bench"); /* opens the trace; there are no paths before */
  for (uint32_t i = 0; i < FILES; i++) {
    snprintf(sample_name[i], sizeof sample_name[i], "/data/imagenet/train/part-%05u-of-%05d.tfrecord", i, FILES);
    sample_path[i] = dft_path(sample_name[i], strlen(sample_name[i]));
  }
  bench_require(pthread_create(&loader, NULL, load, NULL) == 0, "no thread");
  train();
  pthread_join(loader, NULL);
  bench_require(dft_active, "tracing is off");
  bench_print("dropped", (double)dft_dropped());
  return dft_stop() == DFT_OK ? 0 : 1;
}
