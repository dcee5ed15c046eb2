/* allocator.c - signals come inside malloc, and their handlers record. Whatever allocates then would wait for ever: here it
 * ends the program with a message.
 *
 *   allocator WAY WHAT
 *
 * WAY says how the handler is installed: plain, nodefer, masked (its signal was blocked when the program started), stack (an
 * alternate one). WHAT says what it records: first (the first event of the process), many (until the spool is full), child
 * (the first event of a forked child), keys (the first event of a thread, where the program has many keys), calls (open and
 * others). It prints how many regions it has recorded.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 40000
#define KEYS 100

static dft_site site = DFT_SITE("event", "test");

/* ---- An allocator that signals interrupt ----------------------------------------------------------------------------- */

/* The C library's own, under the names that it has for this purpose. */
void *__libc_malloc(size_t bytes);                /* NOLINT */
void *__libc_calloc(size_t count, size_t bytes);  /* NOLINT */
void *__libc_realloc(void *memory, size_t bytes); /* NOLINT */
void __libc_free(void *memory);                   /* NOLINT */

static __thread volatile int is_inside;    /* this thread is inside malloc */
static __thread volatile int is_signalled; /* its next malloc is interrupted */

static void enter(void) {
  static const char message[] = "allocator: memory was allocated within a handler that interrupted malloc\n";
  if (is_inside) {
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    abort();
  }
  is_inside = 1;
  if (is_signalled) {
    is_signalled = 0;
    raise(SIGUSR1);
  }
}

void *malloc(size_t bytes) {
  void *memory;
  enter();
  memory = __libc_malloc(bytes);
  is_inside = 0;
  return memory;
}

void *calloc(size_t count, size_t bytes) {
  void *memory;
  enter();
  memory = __libc_calloc(count, bytes);
  is_inside = 0;
  return memory;
}

void *realloc(void *before, size_t bytes) {
  void *memory;
  enter();
  memory = __libc_realloc(before, bytes);
  is_inside = 0;
  return memory;
}

void free(void *memory) {
  enter();
  __libc_free(memory);
  is_inside = 0;
}

/* ---- What handlers do ------------------------------------------------------------------------------------------------ */

static int recorded;

static void region(void) {
  dft_region_begin(&site);
  dft_update_int("n", ++recorded);
  dft_region_end();
}

static void first(void) {
  region();
  dft_instant_n("instant", 7, "test", 4, NULL, 0);
  dft_app_metadata_int_n("key", 3, 1);
  dft_thread_name_n("named", 5);
}

static void many(void) {
  for (int i = 0; i < MANY; i++) region();
}

static void calls(void) {
  char byte = 0;
  int fd = open("allocator.data", O_RDWR | O_CREAT, 0600);
  if (write(fd, &byte, 1) != 1 || close(fd) != 0 || access("allocator.data", F_OK) != 0) abort();
  region();
}

static void (*work)(void);

static void handle(int number) {
  (void)number;
  work();
}

static void interrupt_malloc(void) {
  is_signalled = 1;
  free(malloc(100));
}

static void *run(void *unused) {
  interrupt_malloc();
  return unused;
}

/* Before the constructors of libraries, which get the keys that are left. */
static void use_keys(int count, char **given, char **environment) {
  pthread_key_t key;
  (void)environment;
  for (int i = 0; count > 2 && strcmp(given[2], "keys") == 0 && i < KEYS; i++) pthread_key_create(&key, NULL);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **, char **) = use_keys;

/* ---- Ways ------------------------------------------------------------------------------------------------------------ */

static void install(const char *way) {
  static char memory[64 << 10];
  struct sigaction action;
  sigset_t one;
  stack_t stack;
  memset(&action, 0, sizeof action);
  memset(&stack, 0, sizeof stack);
  action.sa_handler = handle;
  if (strcmp(way, "nodefer") == 0) action.sa_flags = SA_NODEFER;
  if (strcmp(way, "stack") == 0) {
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    sigaltstack(&stack, NULL);
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
  }
  sigaction(SIGUSR1, &action, NULL);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  if (strcmp(way, "masked") == 0) pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static int in_child(void) {
  int status = 0;
  pid_t child;
  region();
  child = fork();
  if (child == 0) {
    recorded = 0;
    interrupt_malloc();
    exit(17);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int in_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
  return pthread_join(thread, NULL) == 0 ? 17 : 1;
}

int main(int count, char **given) {
  int status = 17;
  if (count < 3) return 2;
  install(given[1]);
  work = strcmp(given[2], "many") == 0 ? many : strcmp(given[2], "calls") == 0 ? calls : first;
  if (strcmp(given[2], "child") == 0) {
    status = in_child();
  } else if (strcmp(given[2], "keys") == 0) {
    status = in_thread();
  } else {
    interrupt_malloc();
  }
  printf("%d\n", recorded);
  return status;
}
