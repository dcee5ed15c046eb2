/* shallow.c - how much of the caller's stack a call takes, and whether calls work where there is little.
 *
 *   shallow depth      paints the stack of a thread, and prints for each call how many bytes of it were touched
 *   shallow call       the same for a call to open as the first event of the process
 *   shallow rare       the same for exec and other processes, long paths, and files that were renamed while open
 *   shallow bind       the same for dft_bind_io and what it leads to, and for dft_recover
 *   shallow assisting  the same for a thread that drains a full spool, and for dft_stop
 *   shallow thread     the first event of the process comes from a thread with the smallest stack
 *   shallow exit       ... which calls exit, while a dead process has left a trace
 *   shallow handler    ... from a signal handler on an alternate stack of 8 KiB
 *   shallow assist     such a handler, and such a thread, find the spool full, and drain it
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)256 << 10)
#define ALTERNATE_BYTES ((size_t)8 << 10)
#define PAINT 0xa5
#define NEAR_BYTES 256 /* of the functions here, below the frame that is measured from */
#define FULL_EVENTS 40000

static dft_site site = DFT_SITE("event", "test");

/* ---- Depth ---------------------------------------------------------------------------------------------------------- */

static unsigned char *bottom; /* of the painted stack */

__attribute__((noinline)) static void paint(const unsigned char *here) {
  for (unsigned char *at = bottom; at < here - NEAR_BYTES; at++) *(volatile unsigned char *)at = PAINT;
}

/* From this frame down; less than NEAR_BYTES cannot be told. */
__attribute__((noinline)) static size_t depth_of(void (*call)(void)) {
  const unsigned char *here = __builtin_frame_address(0);
  const unsigned char *at = bottom;
  paint(here);
  call();
  while (*(const volatile unsigned char *)at == PAINT) at++;
  return (size_t)(here - at);
}

static void nothing(void) {
}

static void region(void) {
  dft_region_begin(&site);
  dft_region_end();
}

static void named(void) {
  dft_region_begin_named("named", "test");
  dft_region_end();
}

static void arguments(void) {
  dft_region_begin(&site);
  dft_update_int("number", 1);
  dft_update_string("text", "some text that is a little longer than others");
  dft_region_end();
}

static void record(void) {
  dft_record(&site, dft_ticks(), dft_ticks(), NULL, 0);
}

static void log_event(void) {
  dft_log_event("logged", "test", dft_time(), 1);
}

static void instant(void) {
  dft_instant_n("instant", 7, "test", 4, NULL, 0);
}

static void metadata(void) {
  dft_app_metadata_int_n("key", 3, 1);
}

static void entities(void) {
  uint64_t entity = dft_entity_declare_n("type", 4, "key", 3, 2, "uri", 3);
  dft_entity_type_n("type", 4, 1, "description", 11);
  dft_entity_relate(16, entity, entity);
}

/* As a compiler calls it. */
void __cyg_profile_func_enter(void *function, void *caller); /* NOLINT */
void __cyg_profile_func_exit(void *function, void *caller);  /* NOLINT */

static void instrumented(void) {
  union {
    void (*code)(void);
    void *address;
  } own = {.code = instrumented};
  __cyg_profile_func_enter(own.address, NULL);
  __cyg_profile_func_exit(own.address, NULL);
}

static void span(void) {
  dft_span own;
  dft_span_begin(&site, &own);
  dft_span_end(&own, 1);
  dft_span_record(&own, NULL, 0);
}

static void counter(void) {
  dft_counter_n("counter", 7, "test", 4, 1.5);
}

static void texts(void) {
  dft_metadata_n("key", 3, "value", 5);
  dft_app_metadata_string_n("text", 4, "value", 5);
  dft_thread_name_n("name", 4);
}

static void many(void) {
  for (int i = 0; i < FULL_EVENTS; i++) region();
}

static void calls(void) {
  char byte = 0;
  int fd = open("shallow.data", O_RDWR | O_CREAT, 0600);
  ssize_t done = write(fd, &byte, 1) + pread(fd, &byte, 1, 0);
  if (done != 2 || close(fd) != 0) abort();
}

static void streams(void) {
  int got;
  FILE *file = fopen("shallow.data", "re");
  setvbuf(file, NULL, _IONBF, 0);
  got = fgetc(file);
  if (got != 0 || fclose(file) != 0) abort();
}

static void stop(void) {
  dft_stop();
}

static void print_depth(const char *name, void (*call)(void)) {
  printf("%s %zu\n", name, depth_of(call));
  fflush(stdout);
}

static void *measure(void *unused) {
  print_depth("nothing", nothing);
  print_depth("first", region);
  print_depth("region", region);
  print_depth("new name", named);
  print_depth("name", named);
  print_depth("new arguments", arguments);
  print_depth("arguments", arguments);
  print_depth("record", record);
  print_depth("log_event", log_event);
  print_depth("instant", instant);
  print_depth("metadata", metadata);
  print_depth("entities", entities);
  print_depth("new function", instrumented);
  print_depth("function", instrumented);
  print_depth("new lane", span);
  print_depth("span", span);
  print_depth("counter", counter);
  print_depth("texts", texts);
  print_depth("new calls", calls);
  print_depth("calls", calls);
  print_depth("new streams", streams);
  print_depth("streams", streams);
  return unused;
}

static void *measure_first_call(void *unused) {
  print_depth("first call", calls);
  return unused;
}

/* ---- Rare calls ----------------------------------------------------------------------------------------------------- */

static char *const no_words[] = {NULL};
static int open_fd;

static void exec_missing(void) {
  if (execve("./not/there", no_words, no_words) != -1) abort();
}

static void fork_and_wait(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (waitpid(child, &status, 0) != child || status) abort();
}

static void spawn_missing(void) {
  pid_t child;
  if (posix_spawn(&child, "./not/there", NULL, NULL, no_words, no_words) == 0) abort();
}

static void long_path(void) {
  static char path[3 * NAME_MAX];
  for (size_t i = 0; i < sizeof path - 1; i++) path[i] = i % 200 ? 'l' : '/';
  if (open(path, O_RDONLY | O_CLOEXEC) >= 0) abort();
}

static void path_back(void) {
  if (open("in/../in/../not-there", O_RDONLY | O_CLOEXEC) >= 0) abort();
}

static void move_out(void) {
  if (rename("in/data", "out-data") != 0) abort();
}

static void close_renamed(void) {
  if (close(open_fd) != 0) abort();
}

/* DFTRACER_DATA_DIR is in. */
static void *measure_rare(void *unused) {
  calls();
  print_depth("new exec", exec_missing);
  print_depth("exec", exec_missing);
  print_depth("fork", fork_and_wait);
  print_depth("spawn", spawn_missing);
  print_depth("long path", long_path);
  print_depth("path back", path_back);
  open_fd = open("in/data", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  print_depth("rename", move_out);
  print_depth("close renamed", close_renamed);
  return unused;
}

static void bind(void) {
  if (dft_bind_io() != DFT_OK) abort();
}

static void load_library(void) {
  if (!dlopen("libresolv.so.2", RTLD_NOW)) abort();
}

/* What a child leaves that dies after its event. */
static void leave_spool(void) {
  pid_t child = fork();
  if (child == 0) {
    region();
    raise(SIGKILL);
  }
  if (waitpid(child, NULL, 0) != child) abort();
}

static void recover(void) {
  dft_recovery report = {.struct_size = sizeof report};
  if (dft_recover(".", &report) != DFT_OK || report.published != 1) abort();
}

static void *measure_binding(void *unused) {
  region();
  print_depth("bind", bind);
  print_depth("calls", calls);
  load_library();
  print_depth("calls after a library was loaded", calls);
  print_depth("unbind", dft_unbind_io);
  leave_spool();
  print_depth("recover", recover);
  return unused;
}

static void *measure_joining(void *unused) {
  print_depth("joining", region);
  return unused;
}

/* The thread may be a handler, for all that the library knows: no thread drains, and producers do. */
static void *measure_assisting(void *unused) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  region();
  print_depth("assisting", many);
  print_depth("stop", stop);
  return unused;
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

static void run_with(void *(*function)(void *), unsigned char *stack, size_t bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, bytes) != 0 ||
      pthread_create(&thread, &attributes, function, NULL) != 0 || pthread_join(thread, NULL) != 0) {
    fprintf(stderr, "shallow: no thread\n");
    exit(2);
  }
}

static void run_painted(void *(*function)(void *)) {
  bottom = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  run_with(function, bottom, STACK_BYTES);
}

/* Below it nothing is mapped: too deep is a crash. */
static unsigned char *map_small(size_t bytes) {
  unsigned char *memory = mmap(NULL, bytes + (1 << 20), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + (1 << 20), bytes, PROT_READ | PROT_WRITE);
  return memory + (1 << 20);
}

static void *record_one(void *unused) {
  region();
  return unused;
}

static void *record_and_exit(void *unused) {
  (void)unused;
  region();
  leave_spool();
  exit(17);
}

static void *record_many(void *unused) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  many();
  return unused;
}

static size_t smallest(void) {
  return (size_t)PTHREAD_STACK_MIN;
}

/* ---- Handlers ------------------------------------------------------------------------------------------------------- */

static void handle_one(int number) {
  (void)number;
  region();
}

static void handle_many(int number) {
  (void)number;
  many();
}

static void raise_on_small_stack(void (*handler)(int)) {
  struct sigaction action;
  stack_t stack;
  memset(&action, 0, sizeof action);
  memset(&stack, 0, sizeof stack);
  stack.ss_size = ALTERNATE_BYTES;
  stack.ss_sp = map_small(ALTERNATE_BYTES);
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) exit(2);
  raise(SIGUSR1);
}

int main(int count, char **arguments_given) {
  const char *way = count > 1 ? arguments_given[1] : "";
  if (strcmp(way, "depth") == 0) {
    run_painted(measure);
    run_painted(measure_joining);
  } else if (strcmp(way, "call") == 0) {
    run_painted(measure_first_call);
  } else if (strcmp(way, "rare") == 0) {
    run_painted(measure_rare);
  } else if (strcmp(way, "bind") == 0) {
    run_painted(measure_binding);
  } else if (strcmp(way, "assisting") == 0) {
    run_painted(measure_assisting);
  } else if (strcmp(way, "thread") == 0) {
    run_with(record_one, map_small(smallest()), smallest());
  } else if (strcmp(way, "exit") == 0) {
    run_with(record_and_exit, map_small(smallest()), smallest());
  } else if (strcmp(way, "handler") == 0) {
    raise_on_small_stack(handle_one);
  } else if (strcmp(way, "assist") == 0) {
    run_with(record_many, map_small(smallest()), smallest());
    raise_on_small_stack(handle_many);
  } else {
    return 2;
  }
  return 17;
}
