/* restarter.c - ends its trace and begins the next, many times, while threads record whatever there is.
 *
 *   restarter FOLDER TIMES
 *
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3, NAMES = 5000 };

static _Atomic int is_over;

/* New names take the longer ways, which are the ones that a session can end in the middle of. */
static void *record(void *unused) {
  for (unsigned i = 0; !is_over; i++) {
    char name[32];
    snprintf(name, sizeof name, "n%u", i % NAMES);
    dft_region_begin_named(name, "test");
    dft_update_int("i", i);
    dft_update_string(name, "text");
    dft_region_end();
    dft_time();
    if (i % 64) continue;
    dft_thread_name(name);
    dft_metadata("key", name);
    dft_app_metadata_int(name, i);
    dft_entity_declare_n("type", 4, name, strlen(name), 0, "", 0);
  }
  return unused;
}

static void *record_once(void *unused) {
  dft_instant("once", "test");
  return unused;
}

static int run_once(const char *folder, int number) {
  char log[4096];
  dft_options options = {sizeof options, log, NULL};
  pthread_t shortly;
  dft_status status;
  snprintf(log, sizeof log, "%s/again%d.pfw", folder, number);
  status = dft_start(&options);
  if (status != DFT_OK && !(number == 0 && status == DFT_EACTIVE)) return 1; /* at first an event may have begun it */
  if (pthread_create(&shortly, NULL, record_once, NULL) != 0) return 2;
  usleep((unsigned)rand() % 2000);
  status = dft_stop();
  pthread_join(shortly, NULL);
  return status == DFT_OK || status == DFT_EDROPPED ? 0 : 3;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  int result = 0;
  if (argc < 3) return 4;
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, record, NULL) != 0) return 2;
  }
  for (int i = 0; i < atoi(argv[2]) && !result; i++) result = run_once(argv[1], i);
  is_over = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return result;
}
