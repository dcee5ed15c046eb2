/* limiter.c - a program whose files may not grow: SIGXFSZ is for its own writes, not for ours.
 *
 *   limiter WAY WHEN [FOLDER]
 *
 * WAY is what it does with SIGXFSZ: default, ignore, handle, or hold (blocked, and one of its own is pending). WHEN the limit of
 * 0 bytes is set: before or after the first event; or in the end, when a child has died whose trace is to be recovered in FOLDER.
 * It ends with 17 if it got no signal but those of its own.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS 10

static dft_site site = DFT_SITE("event", "test");
static volatile sig_atomic_t handled;

static void count(int number) {
  (void)number;
  handled++;
}

static void choose(const char *way) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGXFSZ);
  if (strcmp(way, "ignore") == 0) signal(SIGXFSZ, SIG_IGN);
  if (strcmp(way, "handle") == 0 || strcmp(way, "hold") == 0) signal(SIGXFSZ, count);
  if (strcmp(way, "hold") == 0) {
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(SIGXFSZ);
  }
}

static void limit_files(void) {
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_FSIZE, &none) != 0) exit(2);
}

static void record(int events) {
  for (int i = 0; i < events; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
}

/* A trace of this process, and then what a child leaves that is killed. */
static void leave_spool(void) {
  pid_t child;
  record(1);
  dft_stop();
  child = fork();
  if (child == 0) {
    dft_start(NULL);
    record(EVENTS);
    raise(SIGKILL);
  }
  waitpid(child, NULL, 0);
}

static int is_pending(void) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGXFSZ);
}

/* A write of the program's own, and what comes of it. */
static int is_own_signal_delivered(FILE *file) {
  ssize_t written = write(fileno(file), "x", 1);
  return written == -1 && errno == EFBIG && handled == 1;
}

int main(int number, char **given) {
  FILE *file = tmpfile();
  int is_late = number > 2 && strcmp(given[2], "after") == 0;
  if (number < 3 || !file) return 2;
  choose(given[1]);
  if (is_late) record(1);
  if (number > 3) leave_spool();
  limit_files();
  if (number > 3) dft_recover(given[3], NULL);
  else record(EVENTS);
  if (handled) return 3;
  if (is_pending() != (strcmp(given[1], "hold") == 0)) return 4;
  if (strcmp(given[1], "handle") == 0 && !is_own_signal_delivered(file)) return 5;
  dft_stop();
  return handled > 1 ? 6 : 17;
}
