/* signaller.c - signal handlers that record, while threads record and allocate; jumps out of handlers; cancelled threads.
 *
 *   signaller handlers | jumps | facts | cancel
 *
 * Prints what it has recorded: NAME COUNT, one a line. Every call that is counted has returned.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define SIGNALS 1000
#define JUMPS 1000
#define CANCELLED 60

static _Atomic int64_t in_handler;
static _Atomic int64_t plain_events;
static _Atomic int is_done;
static dft_site plain = DFT_SITE("plain", "test");
static dft_site around = DFT_SITE("around", "test");
static dft_site handler_site = DFT_SITE("handler", "test");

static void start_timer(int which, int microseconds) {
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer((__itimer_which_t)which, &timer, NULL);
}

static void record_plain(void) {
  dft_region_begin(&around);
  dft_region_begin(&plain);
  dft_update_string("text", "of a length that needs more than one cell of the record, and so takes a little longer");
  dft_region_end();
  dft_region_end();
  atomic_fetch_add(&plain_events, 1);
}

/* ---- Handlers that record ---- */

static void handle(int number) {
  (void)number;
  dft_region_begin(&handler_site);
  dft_update_int("signal", number);
  dft_region_end();
  dft_region_begin_named("named handler", "test");
  dft_instant("instant", "test");
  dft_region_end();
  atomic_fetch_add(&in_handler, 1);
}

static void *record_and_allocate(void *unused) {
  void *blocks[64] = {NULL};
  (void)unused;
  for (unsigned i = 0; !atomic_load(&is_done); i++) {
    free(blocks[i % 64]);
    blocks[i % 64] = malloc(16 + i % 5000);
    if (i % 1024 == 0) record_plain();
  }
  for (int i = 0; i < 64; i++) free(blocks[i]);
  return NULL;
}

static int run_handlers(void) {
  pthread_t thread[THREADS];
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  start_timer(ITIMER_REAL, 400);
  start_timer(ITIMER_PROF, 1000);
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, record_and_allocate, NULL);
  while (atomic_load(&in_handler) < SIGNALS) {
    record_plain();
    for (volatile int turn = 0; turn < 8000; turn = turn + 1) continue;
  }
  atomic_store(&is_done, 1);
  start_timer(ITIMER_REAL, 0);
  start_timer(ITIMER_PROF, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  printf("plain %lld\nhandler %lld\n", (long long)plain_events, (long long)in_handler);
  return 0;
}

/* ---- Jumps out of handlers ---- */

static sigjmp_buf before;

static void jump(int number) {
  (void)number;
  siglongjmp(before, 1);
}

static void arm(void) {
  struct itimerval timer = {{0, 0}, {0, 1 + rand() % 60}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static int run_jumps(void) {
  static volatile int jumps;
  signal(SIGALRM, jump);
  sigsetjmp(before, 1);
  if (jumps++ < JUMPS) {
    arm();
    for (;;) record_plain();
  }
  start_timer(ITIMER_REAL, 0);
  /* What comes now is whole: regions that were left behind do not disturb it. */
  for (int64_t n = 1; n <= 20000; n++) {
    dft_region_begin_named("later", "test");
    dft_update_int("n", n);
    dft_region_end();
  }
  printf("plain %lld\nlater 20000\n", (long long)plain_events);
  return 0;
}

static void *keep_fact(void *unused) {
  dft_app_metadata_int_n("last", 4, 1);
  return unused;
}

/* Out of the calls that keep a fact of the process. Afterwards another thread can do it, too. */
static int run_facts(void) {
  static volatile int jumps;
  pthread_t thread;
  signal(SIGALRM, jump);
  sigsetjmp(before, 1);
  if (jumps++ < JUMPS) {
    arm();
    for (int64_t n = 0;; n++) {
      char key[] = {'k', (char)('a' + n % 26)};
      dft_app_metadata_int_n(key, sizeof key, n);
    }
  }
  start_timer(ITIMER_REAL, 0);
  record_plain();
  return pthread_create(&thread, NULL, keep_fact, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

/* ---- Cancelled threads ---- */

static void *record_until_cancelled(void *unused) {
  (void)unused;
  for (;;) {
    record_plain();
    pthread_testcancel();
    for (volatile int turn = 0; turn < 8000; turn = turn + 1) continue;
  }
  return NULL;
}

static int run_cancel(void) {
  for (int i = 0; i < CANCELLED; i++) {
    struct timespec pause = {0, 1000 * (rand() % 2000)};
    pthread_t thread[2];
    void *result;
    for (int k = 0; k < 2; k++) pthread_create(&thread[k], NULL, record_until_cancelled, NULL);
    nanosleep(&pause, NULL);
    for (int k = 0; k < 2; k++) pthread_cancel(thread[k]);
    for (int k = 0; k < 2; k++) {
      pthread_join(thread[k], &result);
      if (result != PTHREAD_CANCELED) return 1;
    }
  }
  printf("plain %lld\n", (long long)plain_events);
  return 0;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "handlers";
  if (strcmp(way, "handlers") == 0) return run_handlers();
  if (strcmp(way, "jumps") == 0) return run_jumps();
  if (strcmp(way, "facts") == 0) return run_facts();
  if (strcmp(way, "cancel") == 0) return run_cancel();
  return 2;
}
