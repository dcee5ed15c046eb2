/* actor.c - records numbered events, acknowledges every call that has returned, and does what its words say, in order.
 *
 *   actor PAGE WORD [ARGUMENT]... [WORD [ARGUMENT]...]...
 *
 * What the words mean stands in the table at the end. Every event carries the slot of its thread in the page (acknowledge.h)
 * in `slot`, and its number in `n`, from 1 on. The program says on stderr if a recording call has changed errno.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dftracer/dft.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "acknowledge.h"

#define STRANGE_ERRNO 1234
#define THREADS_MOST 2048

extern char **environ;

static acknowledge_page *page;
static char **program; /* argv: the program itself and its page */
static char **word;    /* the next argument */
static _Thread_local acknowledged *own;
static _Thread_local acknowledged *own_in_handler;

static dft_site region = DFT_SITE("region", "test");
static dft_site complete = DFT_SITE("complete", "test");
static dft_key slot_key = DFT_KEY("slot");
static dft_key number_key = DFT_KEY("n");

static void say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) abort();
}

static long number(void) {
  return *word ? strtol(*word++, NULL, 10) : 0;
}

/* ---- Events ---- */

static acknowledged *claim(void) {
  acknowledged *slot = &page->slot[atomic_fetch_add(&page->claimed, 1)];
  atomic_store(&slot->tid, (uint64_t)syscall(SYS_gettid));
  atomic_store(&slot->pid, (uint64_t)getpid());
  return slot;
}

static void record_as(acknowledged *slot, const char *name) {
  uint64_t n = atomic_load(&slot->done) + 1;
  dft_arg args[2] = {{.key = &slot_key, .type = DFT_UINT, .value.u = (uint64_t)(slot - page->slot)},
                     {.key = &number_key, .type = DFT_UINT, .value.u = n}};
  errno = STRANGE_ERRNO;
  if (n % 3 == 0) {
    dft_instant_n(name, strlen(name), "test", 4, args, 2);
  } else if (n % 3 == 1) {
    dft_record(&complete, dft_ticks(), dft_ticks(), args, 2);
  } else {
    dft_region_begin(&region);
    dft_update_int("slot", (int64_t)args[0].value.u);
    dft_update_int("n", (int64_t)n);
    if (n % 2)
      dft_update_string("text", "a text that does not fit into the first cell of a record, nor into the second one");
    dft_region_end();
  }
  if (errno != STRANGE_ERRNO) say("a recording call has changed errno\n");
  atomic_store(&slot->done, n);
}

static void record(long count) {
  if (!own) own = claim();
  for (long i = 0; i < count; i++) record_as(own, "instant");
}

static int do_events(void) {
  record(number());
  return 0;
}

static int do_names(void) {
  char name[32];
  if (!own) own = claim();
  for (long i = number(); i > 0; i--) {
    snprintf(name, sizeof name, "name %ld", i);
    record_as(own, name);
  }
  return 0;
}

/* One message of the library is enough; a limit that makes each call wait would take minutes. */
static int do_slowly(void) {
  for (long i = number(); i > 0; i--) {
    record(1);
    usleep(100);
  }
  return 0;
}

/* ---- Threads ---- */

static pthread_barrier_t barrier;

static void *run_thread(void *count) {
  if (*(long *)count < 0) pthread_barrier_wait(&barrier);
  record(labs(*(long *)count));
  return NULL;
}

static int make_threads(long threads, long count) {
  static pthread_t thread[THREADS_MOST];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  for (long i = 0; i < threads; i++) {
    if (pthread_create(&thread[i], &small, run_thread, &count) != 0) return 3;
  }
  for (long i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  return 0;
}

static int do_threads(void) {
  long threads = number();
  return make_threads(threads, number());
}

static int do_at_once(void) {
  long threads = number();
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  return make_threads(threads, -number());
}

static int do_churn(void) {
  for (long left = number(); left > 0; left -= 100) {
    if (make_threads(100, 1) != 0) return 3;
  }
  return 0;
}

static void *record_for_ever(void *unused) {
  for (;;) record(1);
  return unused;
}

static int do_busy(void) {
  pthread_t thread;
  for (long i = number(); i > 0; i--) {
    if (pthread_create(&thread, NULL, record_for_ever, NULL) != 0) return 3;
  }
  return 0;
}

static void *sleep_for_ever(void *unused) {
  record(1);
  for (;;) pause();
  return unused;
}

static int do_asleep(void) {
  pthread_attr_t small;
  pthread_t thread;
  uint64_t wanted = atomic_load(&page->claimed);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (long i = number(); i > 0; i--, wanted++) {
    if (pthread_create(&thread, &small, sleep_for_ever, NULL) != 0) return 3;
  }
  while (atomic_load(&page->claimed) < wanted || !atomic_load(&page->slot[wanted - 1].done)) usleep(1000);
  return 0;
}

/* The rest of the words, on a thread with so little stack. */
static int run_words(void);

static void *run_rest(void *result) {
  *(int *)result = run_words();
  return NULL;
}

/* A stack that ends where nothing is mapped. */
static void *make_stack(size_t bytes) {
  enum { GUARD = 1 << 20 };
  char *memory = mmap(NULL, GUARD + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + GUARD, bytes, PROT_READ | PROT_WRITE) != 0) abort();
  return memory + GUARD;
}

static int do_stack(void) {
  size_t bytes = (size_t)number() << 10;
  pthread_attr_t small;
  pthread_t thread;
  int result = 3;
  pthread_attr_init(&small);
  if (pthread_attr_setstack(&small, make_stack(bytes), bytes) != 0) return 4;
  if (pthread_create(&thread, &small, run_rest, &result) != 0) return 5;
  pthread_join(thread, NULL);
  return result;
}

/* ---- Signals ---- */

static volatile sig_atomic_t handled;
static long handler_events = 1;

static void handle(int signal_number) {
  int saved = errno;
  (void)signal_number;
  if (!own_in_handler) own_in_handler = claim();
  for (long i = 0; i < handler_events; i++) record_as(own_in_handler, "handler");
  handled++;
  errno = saved;
}

static void install(int signal_number, int flags) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | flags};
  sigaction(signal_number, &action, NULL);
}

static int do_handler(void) {
  install((int)number(), 0);
  return 0;
}

static int do_alternate(void) {
  size_t bytes = (size_t)number() << 10;
  stack_t stack = {.ss_sp = make_stack(bytes), .ss_size = bytes};
  if (sigaltstack(&stack, NULL) != 0) return 4;
  install(SIGUSR1, SA_ONSTACK);
  raise(SIGUSR1);
  return 0;
}

static int do_timer(void) {
  struct itimerval timer = {{0, number()}, {0, 1}};
  install(SIGALRM, 0);
  setitimer(ITIMER_REAL, &timer, NULL);
  return 0;
}

/* A handler that interrupts malloc, and may be the first that records: so many signals, then no more. */
static int do_malloc(void) {
  struct itimerval none = {{0, 0}, {0, 0}};
  long wanted = number();
  void *blocks[64] = {NULL};
  for (unsigned i = 0; handled < wanted; i++) {
    free(blocks[i % 64]);
    blocks[i % 64] = malloc(16 + i % 5000);
  }
  setitimer(ITIMER_REAL, &none, NULL);
  for (int i = 0; i < 64; i++) free(blocks[i]);
  return 0;
}

static int do_keys(void) { /* beyond 32 keys pthread_setspecific allocates */
  pthread_key_t key;
  for (long i = number(); i > 0; i--) pthread_key_create(&key, NULL);
  return 0;
}

/* ---- Children ---- */

static pid_t clone_raw(void) {
  return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t (*make_child)(void) = fork;
static int is_new_image; /* children are this program anew: by vfork or posix_spawn */
static int by_spawn;

static int do_make(void) {
  const char *how = *word++;
  make_child = strcmp(how, "_Fork") == 0 ? _Fork : strcmp(how, "clone") == 0 ? clone_raw : fork;
  is_new_image = strcmp(how, "vfork") == 0 || strcmp(how, "spawn") == 0;
  by_spawn = strcmp(how, "spawn") == 0;
  return 0;
}

static int end_process(const char *manner, int status);

static pid_t new_image(long count, const char *manner) {
  char text[24];
  char *words[] = {program[0], program[1], "events", text, (char *)manner, "0", NULL};
  pid_t child = -1;
  snprintf(text, sizeof text, "%ld", count);
  if (by_spawn) return posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0 ? child : -1;
  child = vfork();
  if (child == 0) {
    execve("/proc/self/exe", words, environ);
    _exit(127);
  }
  return child;
}

static pid_t start_child(long count, const char *manner) {
  pid_t child;
  if (is_new_image) return new_image(count, manner);
  child = make_child();
  if (child != 0) return child;
  own = NULL;
  record(count);
  _exit(end_process(manner, 0));
}

static int await(pid_t child, const char *manner) {
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return 6;
  return strcmp(manner, "kill") == 0 ? status != SIGKILL : status != 0;
}

static int make_children(long children, long count, const char *manner) {
  for (long i = 0; i < children; i++) {
    record(1);
    if (await(start_child(count, manner), manner) != 0) return 6;
  }
  return 0;
}

static int do_children(void) {
  long children = number();
  long count = number();
  return make_children(children, count, *word++);
}

static int go_deep(long depth, long count, const char *manner) {
  pid_t child;
  record(count);
  if (depth == 0) return 0;
  child = make_child();
  if (child == 0) {
    own = NULL;
    if (go_deep(depth - 1, count, manner) != 0) _exit(6);
    _exit(end_process(manner, 0));
  }
  return await(child, manner);
}

static int do_deep(void) {
  long depth = number();
  long count = number();
  return go_deep(depth, count, *word++);
}

typedef struct family {
  long children, count;
  const char *manner;
  _Atomic int failed;
} family;

static void *run_parent(void *argument) {
  family *plan = argument;
  if (make_children(plan->children, plan->count, plan->manner) != 0) plan->failed = 1;
  return NULL;
}

static int do_from_threads(void) {
  static pthread_t thread[THREADS_MOST];
  long threads = number();
  family plan = {.children = number()};
  plan.count = number();
  plan.manner = *word++;
  for (long i = 0; i < threads; i++) {
    if (pthread_create(&thread[i], NULL, run_parent, &plan) != 0) return 3;
  }
  for (long i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  return plan.failed ? 6 : 0;
}

static int do_exec(void) {
  char *words[64] = {program[0], program[1]};
  for (int i = 2; i < 63 && *word; i++) words[i] = *word++;
  execve("/proc/self/exe", words, environ);
  return 126;
}

static int do_failed_exec(void) {
  char *words[] = {"/nowhere/program", NULL};
  for (long i = number(); i > 0; i--) {
    if (execve(words[0], words, environ) != -1 || errno != ENOENT) return 7;
    record(1);
  }
  return 0;
}

/* ---- Surroundings ---- */

static int do_mark(void) { /* injector counts calls from here on */
  (void)getpriority(PRIO_PROCESS, 0);
  return 0;
}

/* The calls that docs/promises.md lists for threads that record, and those of this program itself. */
static int do_seccomp(void) {
  static const int allowed[] = {SYS_rt_sigprocmask, SYS_futex, SYS_clock_gettime,
                                SYS_madvise,        SYS_write, SYS_exit_group};
  enum { COUNT = sizeof allowed / sizeof *allowed };
  struct sock_filter code[COUNT + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  struct sock_fprog filter = {COUNT + 3, code};
  for (unsigned i = 0; i < COUNT; i++)
    code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], COUNT - i, 0);
  code[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  code[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 11;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 ? 0 : 11;
}

static int do_folder(void) {
  return chdir(*word++) == 0 ? 0 : 8;
}

static int do_half(void) {
  char byte;
  if (write(STDOUT_FILENO, "half\n", 5) != 5) return 9;
  return read(STDIN_FILENO, &byte, 1) < 0 ? 9 : 0;
}

static int do_stop(void) {
  for (long i = number(); i > 0; i--) {
    record(50);
    dft_stop();
    dft_start(NULL);
  }
  return 0;
}

/* ---- Ends ---- */

static void *exit_from_thread(void *status) {
  record(10);
  exit(*(int *)status);
}

static int end_process(const char *manner, int status) {
  pthread_t thread;
  if (strcmp(manner, "exit") == 0) exit(status);
  if (strcmp(manner, "_exit") == 0) _exit(status);
  if (strcmp(manner, "quick_exit") == 0) quick_exit(status);
  if (strcmp(manner, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(manner, "abort") == 0) abort();
  if (strcmp(manner, "raise") == 0) raise(status);
  if (strcmp(manner, "thread") == 0) {
    pthread_create(&thread, NULL, exit_from_thread, &status);
    for (;;) pause();
  }
  return status;
}

static int do_daemon(void) {
  if (daemon(1, 1) != 0) return 10;
  own = NULL;
  return 0;
}

static const struct {
  const char *name;
  int (*run)(void);
} table[] = {
  {"events", do_events},             /* COUNT: records so many */
  {"names", do_names},               /* COUNT: the same, with names of their own */
  {"slowly", do_slowly},             /* COUNT: one each 100 us */
  {"threads", do_threads},           /* THREADS COUNT: each records so many, and ends */
  {"at-once", do_at_once},           /* THREADS COUNT: the same, all at the same moment */
  {"churn", do_churn},               /* THREADS: of one event, in hundreds */
  {"busy", do_busy},                 /* THREADS: they record till the end of the process */
  {"asleep", do_asleep},             /* THREADS: they record once, and live till the end of the process */
  {"stack", do_stack},               /* KIB: what follows runs on a thread with so much stack */
  {"handler", do_handler},           /* SIGNAL: a handler that records */
  {"alternate", do_alternate},       /* KIB: one handler that records on an alternate stack of that size */
  {"timer", do_timer},               /* MICROSECONDS: a handler that records, again and again */
  {"malloc", do_malloc},             /* SIGNALS: allocates until there were so many, and ends the timer */
  {"keys", do_keys},                 /* COUNT: makes thread-specific keys */
  {"make", do_make},                 /* fork, _Fork, clone, vfork, spawn: how the following words make children */
  {"children", do_children},         /* CHILDREN COUNT MANNER: one after the other; each records and ends so */
  {"deep", do_deep},                 /* DEPTH COUNT MANNER: a child's child's child */
  {"from-threads", do_from_threads}, /* THREADS CHILDREN COUNT MANNER */
  {"exec", do_exec},                 /* the rest is for a new image of this process */
  {"failed-exec", do_failed_exec},   /* TIMES */
  {"mark", do_mark},                 /* for injector */
  {"seccomp", do_seccomp},           /* most system calls of this thread kill the process */
  {"folder", do_folder},             /* FOLDER: changes to it */
  {"half", do_half},                 /* says so on stdout, and waits for a byte of input or its end */
  {"stop", do_stop},                 /* TIMES: ends the trace and begins the next */
  {"daemon", do_daemon},             /* becomes one */
};

static int run_words(void) {
  while (*word) {
    const char *name = *word++;
    size_t i = 0;
    int result;
    while (i < sizeof table / sizeof *table && strcmp(table[i].name, name) != 0) i++;
    if (i == sizeof table / sizeof *table) return end_process(name, (int)number()); /* return, or another end */
    result = table[i].run();
    if (result != 0) return result;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  program = argv;
  word = argv + 2;
  page = acknowledge_open(argv[1]);
  if (write(STDOUT_FILENO, "out\n", 4) != 4 || write(STDERR_FILENO, "err\n", 4) != 4) return 2;
  return run_words();
}
