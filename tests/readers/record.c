/* record.c - records what readers of others are to find again: COUNT rounds of five events in each of PROCESSES processes.
 *
 *   record COUNT PROCESSES [kill]       kill: every process ends by SIGKILL with a region open
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* As a call that the interception records. */
static void read_file(const char *name, size_t len) {
  static dft_site site = DFT_SITE("read", "POSIX");
  static dft_key fhash = DFT_KEY("fhash"), count = DFT_KEY("count"), result = DFT_KEY("ret");
  uint64_t begin = dft_ticks();
  dft_arg args[] = {
    {.key = &fhash, .type = DFT_PATH, .value.s = {name, len}},
    {.key = &count, .type = DFT_INT, .value.i = 4096},
    {.key = &result, .type = DFT_INT, .value.i = 4096},
  };
  dft_record(&site, begin, dft_ticks(), args, 3);
}

static void rounds(long count) {
  char name[64];
  for (long i = 0; i < count; i++) {
    int len = snprintf(name, sizeof name, "/data/part-%ld.npz", i % 4);
    dft_region_begin_named("step", "train");
    dft_update_int("step", i);
    dft_region_begin_named("fetch", "dataloader");
    read_file(name, (size_t)len);
    dft_region_end();
    dft_region_begin_named("gr\xc3\xb6\xc3\x9f"
                           "er \"quoted\"",
                           "compute");
    dft_update_string("note", "back\\slash and [bracket]");
    dft_region_end();
    dft_region_end();
    dft_counter("loss", "train", 1.0 / (double)(i + 1));
  }
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 1;
  int processes = argc > 2 ? atoi(argv[2]) : 1;
  int failed = 0, status;
  for (int i = 0; i < processes; i++) {
    if (fork() != 0) continue;
    dft_set_rank(i, processes);
    rounds(count);
    if (argc > 3) dft_region_begin_named("open", "test");
    if (argc > 3) kill(getpid(), SIGKILL);
    exit(0);
  }
  while (wait(&status) > 0) failed |= argc > 3 ? !WIFSIGNALED(status) : status;
  return failed ? 1 : 0;
}
