/* probe.c - prints everything about its own process that tracing could change, before, while and after it records.
 *
 * Run traced and untraced, its output must be the same to the byte. It takes slow paths on purpose: many events, a deep
 * stack, long texts, new names, threads, a second trace.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGE_ERRNO 1234

static dft_site site = DFT_SITE("site", "test");

/* ---- What is looked at ---- */

static void print_signals(void) {
  sigset_t mask;
  struct sigaction action;
  stack_t stack;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  for (int number = 1; number < NSIG; number++) {
    if (sigaction(number, NULL, &action) != 0) continue;
    printf("signal %d: %s %#x %s\n", number,
           action.sa_handler == SIG_DFL   ? "default"
           : action.sa_handler == SIG_IGN ? "ignored"
                                          : "own",
           (unsigned)action.sa_flags, sigismember(&mask, number) ? "blocked" : "free");
  }
  sigaltstack(NULL, &stack);
  printf("alternate stack: %d\n", stack.ss_flags);
}

static void print_descriptors(void) {
  char path[64];
  char target[512];
  for (int fd = 0; fd < 256; fd++) {
    ssize_t len;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    len = readlink(path, target, sizeof target);
    if (len > 0)
      printf("descriptor %d %s flags %#x\n", fd, strncmp(target, "pipe:", 5) == 0 ? "pipe" : "other",
             (unsigned)fcntl(fd, F_GETFD));
  }
}

static void print_process(const char *when) {
  char folder[4096];
  char name[17] = "";
  struct itimerval timer;
  int cancel_state, cancel_type;
  mode_t mask = umask(0);
  umask(mask);
  prctl(PR_GET_NAME, name);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel_state);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &cancel_type);
  printf("-- %s\numask %o\nfolder %s\nname %s\ncancel %d %d\n", when, (unsigned)mask, getcwd(folder, sizeof folder),
         name, cancel_state, cancel_type);
  for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
    getitimer((__itimer_which_t)which, &timer);
    printf("timer %d %ld\n", which, (long)timer.it_value.tv_usec);
  }
  errno = 0;
  printf("children %d %d\n", (int)waitpid(-1, NULL, WNOHANG), errno);
  print_signals();
  print_descriptors();
}

static int changed_errno;

static void note_errno(int line) {
  if (errno != STRANGE_ERRNO && changed_errno++ < 10) printf("line %d: errno became %d\n", line, errno);
}

/* Every call leaves errno alone, also where it opens files, grows the spool or makes a thread. */
#define CALL(call) (errno = STRANGE_ERRNO, call, note_errno(__LINE__))

/* ---- What is done ---- */

static void call_everything(int round) {
  static char text[70000];
  char name[64];
  dft_arg arg = {.name = "key", .name_len = 3, .type = DFT_STRING, .value.s = {text, sizeof text}};
  memset(text, 'x', sizeof text);
  snprintf(name, sizeof name, "name %d", round);
  CALL(dft_region_begin(&site));
  CALL(dft_region_begin_named(name, "test"));
  CALL(dft_update_int("int", round));
  CALL(dft_update_uint(name, 1));
  CALL(dft_update_double("double", 0.5));
  CALL(dft_update_bool("bool", 1));
  CALL(dft_update_string("text", "short"));
  CALL(dft_update_string_n(0, "long", 4, text, sizeof text));
  CALL(dft_region_end());
  CALL(dft_region_end());
  CALL(dft_region_end()); /* of nothing */
  CALL(dft_instant_n("instant", 7, "test", 4, &arg, 1));
  CALL(dft_counter("counter", "test", round));
  CALL(dft_metadata(name, "value"));
  CALL(dft_log_event("event", "test", dft_time(), 1));
  CALL(dft_record(&site, dft_ticks(), dft_ticks(), NULL, 0));
  CALL((void)dft_path(name, strlen(name)));
  CALL(dft_enter());
  CALL(dft_exit());
  CALL(dft_app_metadata_string("key", "value"));
  CALL(dft_mark_used("layer"));
  CALL(dft_pause());
  CALL(dft_resume());
  CALL((void)dft_is_enabled());
  CALL((void)dft_dropped());
}

static void go_deep(void) {
  for (int i = 0; i < 3000; i++) CALL(dft_region_begin(&site));
  for (int i = 0; i < 3000; i++) CALL(dft_region_end());
}

static void *run(void *unused) {
  sigset_t before, after; /* the kernel fills in a part of each */
  (void)unused;
  memset(&before, 0, sizeof before);
  memset(&after, 0, sizeof after);
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  for (int i = 0; i < 30000; i++) {
    CALL(dft_region_begin(&site));
    CALL(dft_update_string("text", "enough of them to fill the spool, and to make this thread help with the writing"));
    CALL(dft_region_end());
  }
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  if (memcmp(&before, &after, sizeof before) != 0) printf("the mask of a thread has changed\n");
  return NULL;
}

static void run_threads(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, run, NULL);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
}

/* The background thread keeps no copy of a pipe's end: who reads it sees the end of the file. */
static void check_pipe(const int ends[2]) {
  struct pollfd poll_end = {.fd = ends[0], .events = POLLIN};
  char byte;
  close(ends[1]);
  printf("pipe: poll %d, read %d\n", poll(&poll_end, 1, 2000), (int)read(ends[0], &byte, 1));
  close(ends[0]);
}

static void own_handler(int number) {
  (void)number;
}

/* A thread with blocked signals may be in a handler, for all the library knows; it then takes other ways. */
static void prepare(int is_masked) {
  struct sigaction action = {.sa_handler = own_handler, .sa_flags = SA_RESTART};
  sigset_t mask;
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  sigaddset(&mask, SIGRTMIN + 3);
  if (is_masked) sigprocmask(SIG_BLOCK, &mask, NULL);
  umask(027);
  prctl(PR_SET_NAME, "probe-name");
}

int main(int argc, char **argv) {
  int ends[2];
  prepare(argc > 1 && strcmp(argv[1], "masked") == 0);
  if (pipe(ends) != 0) return 1;
  print_process("before");
  for (int round = 0; round < 50; round++) call_everything(round);
  print_process("recording");
  run_threads();
  go_deep();
  check_pipe(ends);
  print_process("with a background thread");
  CALL((void)dft_stop());
  CALL((void)dft_stop());
  CALL((void)dft_start(NULL));
  CALL((void)dft_start(NULL));
  call_everything(0);
  CALL((void)dft_recover(".", NULL));
  print_process("second trace");
  CALL((void)dft_stop());
  print_process("stopped");
  printf("next descriptor %d\n", open("/dev/null", O_RDONLY));
  return 17;
}
