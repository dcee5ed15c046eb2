/* forker.c - a recording program that forks, in the way its argument says.
 *
 *   forker WAY [LEAVE]     LEAVE: what a child made in a signal handler does: _exit in the handler, or return
 *
 * The parent's events are named main, or thread, a child's inside (where it was made) and after; each carries its number
 * in `n`, from 1 on. At the end the parent prints its own pid, the number of its events, and the pids of its children.
 * The status is 1 when a child crashed.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 40
#define INSIDE 20
#define AFTER 500
#define THREADS 3

static pid_t children[CHILDREN];
static _Atomic int child_count;
static volatile sig_atomic_t is_child;
static int does_return;
static pid_t (*make_child)(void) = fork;

static dft_site site = DFT_SITE("site", "test");

/* Neither atfork handlers nor the library's locks. */
static pid_t clone_raw(void) {
  return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void record(const char *name, int64_t n) {
  dft_arg arg = {.name = "n", .name_len = 1, .type = DFT_INT, .value.i = n};
  if (n % 3 == 0) {
    dft_instant_n(name, strlen(name), "test", 4, &arg, 1);
  } else {
    dft_region_begin(&site);
    dft_region_begin_named(name, "test");
    dft_update_int("n", n);
    dft_region_end();
    dft_region_end();
  }
}

static void record_many(const char *name, int count) {
  for (int n = 1; n <= count; n++) record(name, n);
}

static int await_children(void) {
  int failed = 0;
  for (int i = 0; i < child_count; i++) {
    int status;
    if (waitpid(children[i], &status, 0) != children[i]) failed = 1;
    if (status) fprintf(stderr, "child %d ended with %#x\n", (int)children[i], (unsigned)status);
    failed |= status != 0;
  }
  return failed;
}

static int report(int64_t events) {
  int failed = await_children();
  printf("%d %lld", (int)getpid(), (long long)events);
  for (int i = 0; i < child_count; i++) printf(" %d", (int)children[i]);
  printf("\n");
  return failed;
}

/* ---- From ordinary code ---- */

static int run_plain(void) {
  pid_t child;
  record_many("main", 1000);
  dft_region_begin_named("around", "test");
  child = make_child();
  if (child == 0) {
    dft_region_end(); /* of the parent's region: ignored */
    record_many("inside", INSIDE);
    record_many("after", AFTER);
    if (make_child == clone_raw) _exit(0);
    exit(0);
  }
  children[child_count++] = child;
  for (int n = 1001; n <= 2000; n++) record("main", n);
  dft_region_end();
  return report(2000);
}

/* Nothing is recorded before the fork; each process starts by itself, or by call. */
static int run_before(int starts_by_call) {
  for (int i = 0; i < 2; i++) {
    pid_t child = fork();
    if (child == 0) {
      if (starts_by_call && dft_start(NULL) != DFT_OK) exit(1);
      record_many("inside", INSIDE);
      record_many("after", AFTER);
      exit(0);
    }
    children[child_count++] = child;
  }
  record_many("main", 1000);
  return report(1000);
}

/* A call of dft_start and of dft_stop in a child concerns the child alone. */
static int run_restart(void) {
  pid_t child;
  record_many("main", 1000);
  child = fork();
  if (child == 0) {
    if (dft_stop() != DFT_EINACTIVE || dft_start(NULL) != DFT_OK) exit(1);
    record_many("inside", INSIDE);
    record_many("after", AFTER);
    exit(dft_stop() == DFT_OK ? 0 : 1);
  }
  children[child_count++] = child;
  return report(1000);
}

static void *run_thread(void *argument) {
  int64_t first = (int64_t)(intptr_t)argument;
  for (int64_t n = 1; n <= 20000; n++) {
    record("thread", first + n);
    if (n % 4000 == 0) {
      pid_t child = make_child();
      if (child == 0) {
        record_many("inside", INSIDE);
        record_many("after", AFTER);
        if (n % 8000 == 0 || make_child == clone_raw) _exit(0);
        exit(0);
      }
      children[child_count++] = child;
    }
  }
  return NULL;
}

static int run_threads(void) {
  pthread_t thread[THREADS];
  record_many("main", 1000);
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, run_thread, (void *)(intptr_t)(i * 20000));
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  return report(1000);
}

/* ---- From a signal handler ---- */

static void handle(int signal_number) {
  pid_t child;
  (void)signal_number;
  if (is_child || child_count == CHILDREN) return;
  child = make_child();
  if (child) {
    children[child_count++] = child;
    return;
  }
  is_child = 1;
  record_many("inside", INSIDE);
  if (!does_return) _exit(0);
}

static int run_handler(void) {
  struct itimerval timer = {{0, 997}, {0, 997}};
  int64_t n = 0;
  signal(SIGALRM, handle);
  setitimer(ITIMER_REAL, &timer, NULL);
  while (child_count < CHILDREN && !is_child) record("main", ++n);
  if (is_child) {
    record_many("after", AFTER);
    _exit(0);
  }
  return report(n);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "plain";
  does_return = argc > 2 && strcmp(argv[2], "return") == 0;
  if (strstr(way, "raw")) make_child = clone_raw;
  if (strncmp(way, "plain", 5) == 0) return run_plain();
  if (strcmp(way, "before") == 0) return run_before(0);
  if (strcmp(way, "before-start") == 0) return run_before(1);
  if (strcmp(way, "restart") == 0) return run_restart();
  if (strncmp(way, "threads", 7) == 0) return run_threads();
  if (strncmp(way, "handler", 7) == 0) return run_handler();
  return 2;
}
