/* injector.c - runs a program, and lets its N-th system call fail, or kills it there.
 *
 *   injector REPORT FROM CALLS FIRST LAST ACTION PROGRAM [ARGUMENT]...
 *
 *   REPORT   a file that gets one line: how many calls were counted, how many were hit, the name of the first one
 *   FROM     start, or mark: counts from the program's first getpriority on
 *   CALLS    names with commas in between, or all
 *   FIRST    the first call that is hit, from 1 on, counted over all threads and children; LAST: the last one
 *   ACTION   the errno that these calls return, in place of doing anything; or kill: SIGKILL for the process, before the
 *            call; or kill:STEPS: SIGKILL when the thread has done so many machine instructions more
 *
 * Ends as the program does. Written for this, because strace counts the calls of each thread for itself.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS 4096
/* Those that tests ask for by name. */
#define CALL(name) \
  { #name, SYS_##name }
static const struct {
  const char *name;
  long nr;
} calls[] = {
  CALL(openat),    CALL(close),      CALL(read),         CALL(write),      CALL(pread64),     CALL(pwrite64),
  CALL(writev),    CALL(ftruncate),  CALL(fallocate),    CALL(fsync),      CALL(fdatasync),   CALL(renameat),
  CALL(renameat2), CALL(linkat),     CALL(unlinkat),     CALL(mkdirat),    CALL(fchmod),      CALL(fchown),
  CALL(fstat),     CALL(newfstatat), CALL(statx),        CALL(getdents64), CALL(flock),       CALL(fcntl),
  CALL(mmap),      CALL(munmap),     CALL(mremap),       CALL(mprotect),   CALL(madvise),     CALL(msync),
  CALL(futex),     CALL(clone),      CALL(clone3),       CALL(unshare),    CALL(close_range), CALL(copy_file_range),
  CALL(dup),       CALL(pipe2),      CALL(memfd_create), CALL(membarrier), CALL(exit_group),
#ifdef SYS_open
  CALL(open),      CALL(rename),     CALL(link),         CALL(unlink),     CALL(mkdir),
#endif
};

enum { CALLS = sizeof calls / sizeof *calls };

typedef struct task {
  pid_t tid;
  int is_failing;  /* in a call that does not happen */
  long steps_left; /* instructions until it is killed */
} task;

static task tasks[TASKS];
static int task_count;
static const char *wanted;
static unsigned long first, last, counted, hit;
static long error_number, steps;
static int is_kill, is_counting;
static char hit_name[64];

static const char *name_of(long nr) {
  static char text[32];
  for (int i = 0; i < CALLS; i++) {
    if (calls[i].nr == nr) return calls[i].name;
  }
  snprintf(text, sizeof text, "call %ld", nr);
  return text;
}

static int is_listed(const char *list, long nr) {
  const char *name = name_of(nr);
  size_t len = strlen(name);
  if (strcmp(list, "all") == 0) return 1;
  for (const char *at = list; (at = strstr(at, name)) != NULL; at += len) {
    if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == '\0')) return 1;
  }
  return 0;
}

static task *task_of(pid_t tid, int *is_new) {
  int free_row = -1;
  *is_new = 0;
  for (int i = 0; i < task_count; i++) {
    if (tasks[i].tid == tid) return &tasks[i];
    if (tasks[i].tid == 0) free_row = i;
  }
  if (free_row < 0 && task_count < TASKS) free_row = task_count++;
  if (free_row < 0) exit(120);
  *is_new = 1;
  tasks[free_row] = (task){.tid = tid};
  return &tasks[free_row];
}

static void forget(pid_t tid) {
  for (int i = 0; i < task_count; i++) {
    if (tasks[i].tid == tid) tasks[i].tid = 0;
  }
}

/* ---- What the kernel does for a stopped thread ---- */

static void skip_call(pid_t tid) {
#if defined(__x86_64__)
  ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, orig_rax), -1L);
#else
  int none = -1;
  struct iovec data = {&none, sizeof none};
  ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &data);
#endif
}

static void set_result(pid_t tid, long value) {
#if defined(__x86_64__)
  ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rax), value);
#else
  struct user_regs_struct registers;
  struct iovec data = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &data);
  registers.regs[0] = (unsigned long)value;
  ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &data);
#endif
}

static pid_t process_of(pid_t tid) {
  char path[64], line[256];
  int pid = tid;
  FILE *file;
  snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
  file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "Tgid: %d", &pid) == 1) break;
  }
  if (file) fclose(file);
  return pid;
}

/* Messages come through in any case, because the tests look for them. */
static int is_message(long nr, const uint64_t *args) {
  static const char *const names = "write,writev,fstat,newfstatat,fcntl,statx";
  return !is_kill && args[0] <= STDERR_FILENO && is_listed(names, nr);
}

static void enter_call(task *of, long nr, const uint64_t *args) {
  if (nr == SYS_getpriority) is_counting = 1;
  if (!is_counting || !is_listed(wanted, nr) || is_message(nr, args)) return;
  counted++;
  if (counted < first || counted > last) return;
  if (hit++ == 0) snprintf(hit_name, sizeof hit_name, "%s", name_of(nr));
  if (is_kill) {
    of->steps_left = steps; /* the others go on meanwhile: this one may wait for them */
    if (steps == 0) kill(process_of(of->tid), SIGKILL);
    return;
  }
  skip_call(of->tid);
  of->is_failing = 1;
}

static void handle_call(task *of) {
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, of->tid, sizeof info, &info) <= 0) return;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) enter_call(of, (long)info.entry.nr, (const uint64_t *)info.entry.args);
  if (info.op == PTRACE_SYSCALL_INFO_EXIT && of->is_failing) {
    set_result(of->tid, -error_number);
    of->is_failing = 0;
  }
}

/* Returns the signal that the thread is to get. */
static int handle_stop(task *of, int is_new, int status) {
  int number = WSTOPSIG(status);
  if (number == (SIGTRAP | 0x80)) {
    handle_call(of);
    return 0;
  }
  if (status >> 16 || number == SIGTRAP) return 0; /* a child, a new image, or a step */
  return is_new && number == SIGSTOP ? 0 : number;
}

static int run_traced(pid_t root) {
  int status = 0, root_status = 0;
  pid_t tid;
  while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
    if (tid < 0) continue;
    if (WIFSTOPPED(status)) {
      int is_new;
      task *of = task_of(tid, &is_new);
      int is_step = of->steps_left > 0 && WSTOPSIG(status) == SIGTRAP;
      int number = handle_stop(of, is_new, status);
      if (is_step && --of->steps_left == 0) kill(process_of(tid), SIGKILL);
      ptrace(of->steps_left > 0 ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, tid, 0, (long)number);
      continue;
    }
    forget(tid);
    if (tid == root) root_status = status;
  }
  return root_status;
}

static void start(char **argv) {
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGSTOP);
  execvp(argv[0], argv);
  _exit(127);
}

static void report(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) exit(121);
  fprintf(file, "%lu %lu %s\n", counted, hit, hit_name);
  fclose(file);
}

static void end_like(int status) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  exit(WEXITSTATUS(status));
}

int main(int argc, char **argv) {
  pid_t root;
  int status;
  if (argc < 8) return 122;
  is_counting = strcmp(argv[2], "start") == 0;
  wanted = argv[3];
  first = strtoul(argv[4], NULL, 10);
  last = strtoul(argv[5], NULL, 10);
  is_kill = strncmp(argv[6], "kill", 4) == 0;
  if (is_kill && argv[6][4]) steps = strtol(argv[6] + 5, NULL, 10);
  error_number = strtol(argv[6], NULL, 10);
  root = fork();
  if (root == 0) start(argv + 7);
  waitpid(root, &status, 0);
  tasks[task_count++].tid = root;
  ptrace(PTRACE_SETOPTIONS, root, 0,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
           PTRACE_O_EXITKILL);
  ptrace(PTRACE_SYSCALL, root, 0, 0);
  status = run_traced(root);
  report(argv[1]);
  end_like(status);
}
