/* progress.c - how far long work has come.
 * SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

#define QUIET_NS UINT64_C(2000000000)
#define EVERY_NS UINT64_C(200000000)

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void progress_begin(progress *of, const char *what, uint64_t total, int is_bytes) {
  memset(of, 0, sizeof *of);
  of->what = what;
  of->total = total;
  of->is_bytes = is_bytes;
  of->begin_ns = now_ns();
  of->next_ns = isatty(STDERR_FILENO) ? of->begin_ns + QUIET_NS : UINT64_MAX;
}

static void print_progress(progress *of, uint64_t now) {
  double seconds = (double)(now - of->begin_ns) * 1e-9;
  uint64_t done = of->done;
  char text[4][FORMAT_BYTES];
  const char *(*amount)(char *, double) = format_bytes;
  const char *first = of->is_bytes ? amount(text[0], (double)done) : format_count(text[0], done);
  const char *rate = of->is_bytes ? amount(text[1], (double)done / seconds)
                                  : format_count(text[1], (uint64_t)((double)done / seconds));
  if (of->total && done && done <= of->total) {
    double left = seconds * (double)(of->total - done) / (double)done;
    const char *all = of->is_bytes ? amount(text[2], (double)of->total) : format_count(text[2], of->total);
    fprintf(stderr, "\r\033[K%s: %.0f %%, %s of %s, %s/s, %s left", of->what, 100.0 * (double)done / (double)of->total,
            first, all, rate, format_duration(text[3], left < 1 ? 1 : (double)(uint64_t)left));
  } else {
    fprintf(stderr, "\r\033[K%s: %s, %s/s", of->what, first, rate);
  }
  fflush(stderr);
}

void progress_add(progress *of, uint64_t amount) {
  uint64_t next = of->next_ns;
  uint64_t now;
  of->done += amount;
  if (next == UINT64_MAX) return;
  now = now_ns();
  if (now < next || !atomic_compare_exchange_strong(&of->next_ns, &next, now + EVERY_NS)) return;
  of->is_shown = 1;
  print_progress(of, now);
}

void progress_end(progress *of) {
  if (of->is_shown) fprintf(stderr, "\r\033[K");
  of->is_shown = 0;
}
