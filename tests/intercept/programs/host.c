/* host.c - a plain program that tracing must not change: host WAY FOLDER
 *
 * Prints what it did: NAME COUNT, one a line; the same traced and untraced. Every call that is counted has returned.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define STRANGE_ERRNO 1234

static const char *folder;

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "host: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int file_at(const char *name, int flags) {
  char path[4096];
  int fd;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  fd = open(path, flags | O_CREAT, 0600);
  require(fd >= 0, path);
  return fd;
}

/* ---- kill: each thread counts what has returned, in a file that outlives the process ---- */

static _Atomic int64_t *counts;

static void *write_for_ever(void *argument) {
  int number = (int)(intptr_t)argument;
  char name[16];
  int fd;
  snprintf(name, sizeof name, "thread%d", number);
  fd = file_at(name, O_RDWR);
  for (int64_t n = 1;; n++) {
    require(pwrite(fd, &n, sizeof n, 0) == sizeof n, "pwrite");
    atomic_store(&counts[number * 16], n);
  }
}

static void kill_way(void) {
  pthread_t thread;
  int fd = file_at("../counts", O_RDWR);
  require(ftruncate(fd, 4096) == 0, "ftruncate");
  counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  for (intptr_t i = 1; i < THREADS; i++) pthread_create(&thread, NULL, write_for_ever, (void *)i);
  write_for_ever((void *)0);
}

/* ---- signals: a handler that writes, while the program reads and writes and looks at errno ---- */

static int handler_fd, back[2];
static volatile sig_atomic_t handled;
static sigjmp_buf out;

static void write_in_handler(int number) {
  (void)number;
  if (write(handler_fd, "h", 1) == 1) handled++;
}

static void start_timer(int microseconds) {
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void signals_way(void) {
  struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_RESTART};
  int fd = file_at("main", O_RDWR);
  int written = 0, wrong = 0;
  char byte = 'm';
  handler_fd = file_at("handler", O_WRONLY | O_APPEND);
  sigaction(SIGALRM, &action, NULL);
  start_timer(200);
  while (handled < 300) {
    char name[32];
    int other;
    errno = STRANGE_ERRNO;
    written += pwrite(fd, &byte, 1, 0) == 1;
    snprintf(name, sizeof name, "other%d", written % 50);
    other = file_at(name, O_RDWR);
    wrong += errno != STRANGE_ERRNO;
    wrong += read(-1, &byte, 1) != -1 || errno != EBADF;
    close(other);
  }
  start_timer(0);
  fprintf(stderr, "handler %d\nmain %d\n", (int)handled, written);
  printf("wrong errno %d\n", wrong);
}

/* ---- jumps: out of a handler, in the middle of calls ---- */

static void jump_out(int number) {
  (void)number;
  siglongjmp(out, 1);
}

static void jumps_way(void) {
  struct sigaction action = {.sa_handler = jump_out};
  int fd = file_at("main", O_RDWR);
  volatile int jumped = 0, written = 0;
  char byte = 0;
  require(pipe(back) == 0, "pipe");
  sigaction(SIGALRM, &action, NULL);
  start_timer(300);
  while (jumped < 300) {
    if (sigsetjmp(out, 1) != 0) jumped++;
    else if (jumped % 2) read(back[0], &byte, 1);
    else
      for (;;) {
        if (pwrite(fd, &byte, 1, 0) == 1) written++;
        close(file_at("other", O_RDWR));
      }
  }
  start_timer(0);
  fprintf(stderr, "main %d\n", written);
  printf("jumped\n");
}

/* ---- cancel: threads that end inside a read, or in between; stacks as small as they may be ---- */

static _Atomic int small_writes;

static void *read_until_cancelled(void *unused) {
  char byte;
  int fd = file_at("small", O_RDWR);
  (void)unused;
  if (pwrite(fd, "x", 1, 0) == 1) small_writes++;
  close(fd);
  for (;;) read(back[0], &byte, 1);
}

static void cancel_way(void) {
  pthread_attr_t attributes;
  int cancelled = 0;
  require(pipe(back) == 0, "pipe");
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 4 * PTHREAD_STACK_MIN);
  for (int i = 0; i < 100; i++) {
    pthread_t thread;
    void *result;
    require(pthread_create(&thread, &attributes, read_until_cancelled, NULL) == 0, "pthread_create");
    if (i % 2) usleep(200);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  fprintf(stderr, "small %d\n", small_writes);
  printf("cancelled %d\n", cancelled);
}

/* ---- numbers: the descriptors that calls return ---- */

static void numbers_way(void) {
  int first = file_at("a", O_RDWR), second, ends[2];
  close(first);
  second = file_at("b", O_RDWR);
  require(pipe(ends) == 0, "pipe");
  printf("%d %d %d %d %d\n", first, second, ends[0], ends[1], dup(second));
  for (int fd = 3; fd < 1024; fd++) close(fd);
  for (int i = 0; i < 5; i++) printf("%d ", file_at("c", O_RDWR));
  printf("umask %o\n", (unsigned)umask(027));
}

/* ---- images: exec in a child, and in the process itself ---- */

static void images_way(char **argv) {
  char *again[] = {argv[0], "leaf", argv[2], NULL};
  char *missing[] = {"/no/such/program", NULL};
  int status, fd = file_at("before", O_RDWR);
  require(write(fd, "12345", 5) == 5, "write");
  for (int i = 0; i < 3; i++) {
    pid_t child = i == 2 ? vfork() : fork();
    if (child == 0) {
      execv(missing[0], missing);
      execv(again[0], again);
      _exit(1);
    }
    require(waitpid(child, &status, 0) == child && WIFEXITED(status), "waitpid");
    printf("child %d\n", WEXITSTATUS(status));
  }
  fflush(stdout);
  execv(again[0], again);
}

static int leaf_way(void) {
  int fd = file_at("leaf", O_WRONLY | O_APPEND);
  require(write(fd, "leaf", 4) == 4, "write");
  return 42;
}

int main(int argc, char **argv) {
  require(argc == 3, "usage: host WAY FOLDER");
  folder = argv[2];
  if (strcmp(argv[1], "kill") == 0) kill_way();
  if (strcmp(argv[1], "signals") == 0) signals_way();
  if (strcmp(argv[1], "jumps") == 0) jumps_way();
  if (strcmp(argv[1], "cancel") == 0) cancel_way();
  if (strcmp(argv[1], "numbers") == 0) numbers_way();
  if (strcmp(argv[1], "images") == 0) images_way(argv);
  if (strcmp(argv[1], "leaf") == 0) return leaf_way();
  if (strcmp(argv[1], "abort") == 0) {
    leaf_way();
    abort();
  }
  if (strcmp(argv[1], "_exit") == 0) {
    leaf_way();
    _exit(9);
  }
  return 0;
}
