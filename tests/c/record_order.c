/* record_order.c - records regions on several threads, for test_order.py: record_order THREADS COUNT [kill | handler | huge]
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "check.h"

#define THREADS_MOST 64
#define HUGE_BYTES 60000 /* a text that takes a chunk of its own */

static int count;
static int is_huge;
static dft_site outer = DFT_SITE("outer", "test");
static dft_site inner = DFT_SITE("inner", "test");
static dft_site in_handler = DFT_SITE("handler", "test");
static char text[HUGE_BYTES];

static void *record(void *unused) {
  for (int i = 0; i < count; i += 2) {
    dft_region_begin(&outer);
    dft_region_begin(&inner);
    dft_region_end();
    if (is_huge && i % 100 == 0) dft_update_string_n(0, "text", 4, text, sizeof text);
    dft_region_end();
  }
  return unused;
}

static void handle(int signal) {
  (void)signal;
  dft_region_begin(&in_handler);
  dft_region_end();
}

static void interrupt_often(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  struct itimerval often = {{0, 50}, {0, 50}};
  CHECK_INT(sigaction(SIGALRM, &action, NULL), 0);
  CHECK_INT(setitimer(ITIMER_REAL, &often, NULL), 0);
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS_MOST];
  const char *how = argc > 3 ? argv[3] : "";
  int others;
  CHECK(argc >= 3);
  others = atoi(argv[1]) - 1;
  count = atoi(argv[2]);
  CHECK(others >= 0 && others <= THREADS_MOST);
  is_huge = strcmp(how, "huge") == 0;
  memset(text, 'x', sizeof text);
  if (strcmp(how, "handler") == 0) interrupt_often();
  for (int i = 0; i < others; i++) CHECK_INT(pthread_create(&threads[i], NULL, record, NULL), 0);
  record(NULL);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  for (int i = 0; i < others; i++) pthread_join(threads[i], NULL);
  return 0;
}
