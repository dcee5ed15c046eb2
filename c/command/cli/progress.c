/* progress.c - the progress of long work.
 * SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

#define QUIET_NS UINT64_C(2000000000) /* short work prints nothing */
#define EVERY_NS UINT64_C(200000000)

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void progress_begin(progress *work, const char *what, uint64_t total, int is_bytes) {
  memset(work, 0, sizeof *work);
  work->what = what;
  work->total = total;
  work->is_bytes = is_bytes;
  work->begin_ns = now_ns();
  work->next_ns = isatty(STDERR_FILENO) ? work->begin_ns + QUIET_NS : UINT64_MAX;
}

static const char *format_amount(const progress *work, char out[FORMAT_BYTES], double amount) {
  return work->is_bytes ? format_bytes(out, amount) : format_count(out, (uint64_t)amount);
}

static void print_progress(const progress *work, uint64_t now) {
  double seconds = (double)(now - work->begin_ns) * 1e-9;
  uint64_t done = work->done;
  char amount[FORMAT_BYTES], rate[FORMAT_BYTES], total[FORMAT_BYTES], left[FORMAT_BYTES];
  format_amount(work, amount, (double)done);
  format_amount(work, rate, (double)done / seconds);
  if (work->total && done && done <= work->total) {
    double seconds_left = seconds * (double)(work->total - done) / (double)done;
    fprintf(stderr, "\r\033[K%s: %.0f %%, %s of %s, %s/s, %s left", work->what,
            100.0 * (double)done / (double)work->total, amount, format_amount(work, total, (double)work->total), rate,
            format_duration(left, seconds_left < 1 ? 1 : (double)(uint64_t)seconds_left));
  } else {
    fprintf(stderr, "\r\033[K%s: %s, %s/s", work->what, amount, rate);
  }
  fflush(stderr);
}

void progress_add(progress *work, uint64_t amount) {
  uint64_t next = work->next_ns;
  uint64_t now;
  work->done += amount;
  if (next == UINT64_MAX) return;
  now = now_ns();
  if (now < next || !atomic_compare_exchange_strong(&work->next_ns, &next, now + EVERY_NS)) return;
  work->is_shown = 1;
  print_progress(work, now);
}

void progress_end(progress *work) {
  if (work->is_shown) fprintf(stderr, "\r\033[K");
  work->is_shown = 0;
}
