/* join.c - runs h5join.
 * SPDX-License-Identifier: MIT */
#include "join.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sinks.h"
#include "codec/heldfolder.h"
#include "segment.h"

#define STACK_BYTES ((size_t)64 << 10)
#define EXIT_NO_SPACE 3 /* of h5join */
#define EXIT_SIGNALLED 126

static char program[PATH_MAX + 32];

const char *dft__h5_join_check(void) {
#ifdef DFTRACER_HDF5
  Dl_info info;
  char library[PATH_MAX];
  char *slash;
  if (!program[0] && dladdr(&dft__sink_hdf5, &info) && realpath(info.dli_fname, library)) {
    slash = strrchr(library, '/');
    snprintf(program, sizeof program, "%.*s/dftracer/h5join", (int)(slash - library), library);
  }
  return access(program, X_OK) == 0 ? NULL : "its program dftracer/h5join is not beside the library";
#else
  return "this dftracer was built without HDF5 (cmake says why)";
#endif
}

/* ---- The process -------------------------------------------------------------------------------------------------- */

/* The program would get a SIGCHLD from a child that calls exec, and its wait() would see it. So there is a process between:
 *
 *   traced program --clone, no exit signal--> keeper, never calls exec --vfork--> h5join
 *
 * The keeper shares the program's memory, on a stack of its own, and none of its descriptors: a copy would keep its locks and
 * pipes alive. It waits for h5join and ends with its status. It makes system calls only. Each of the two is killed when the
 * one before it dies. */
typedef struct launch {
  char **arguments; /* of h5join, its name first */
  char **environment;
  int folder; /* a descriptor: h5join works there; AT_FDCWD: where the program does */
  char *why;  /* for its message */
  size_t size;
  pid_t program; /* who has asked */
  pid_t keeper;
  int error; /* of exec */
} launch;

static void die_with(pid_t parent) {
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (syscall(SYS_getppid) != parent) syscall(SYS_exit_group, 127); /* it was too late */
}

/* Signals are blocked; h5join unblocks them. */
static int run_program(void *argument) {
  launch *own = argument;
  die_with(own->keeper);
  syscall(SYS_execve, program, own->arguments, own->environment);
  own->error = errno;
  syscall(SYS_exit_group, 127);
  return 127;
}

/* A table of its own: 0 and 2 lead nowhere, 1 into memory. */
static void make_descriptors(void) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 0, UINT_MAX, CLOSE_RANGE_UNSHARE) != 0)
#endif
  {
    syscall(SYS_unshare, CLONE_FILES);
    for (int fd = 0; fd < 65536; fd++) syscall(SYS_close, fd);
  }
  syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
  if (syscall(SYS_memfd_create, "h5join", 0) < 0) syscall(SYS_dup3, 0, 1, 0);
  syscall(SYS_dup3, 0, 2, 0);
}

static int keep(void *argument) {
  launch *own = argument;
  struct { /* as the kernel has it: a program that ignores SIGCHLD would get no status */
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
  } usual = {0};
  char stack[STACK_BYTES / 2];
  int status = 127 << 8;
  long got;
  pid_t pid;
  die_with(own->program);
  own->keeper = (pid_t)syscall(SYS_getpid);
  if (own->folder != AT_FDCWD && syscall(SYS_fchdir, own->folder) != 0) {
    own->error = errno;
    syscall(SYS_exit_group, 127);
  }
  make_descriptors();
  syscall(SYS_rt_sigaction, SIGCHLD, &usual, NULL, sizeof usual.mask);
  pid = clone(run_program, stack + ((sizeof stack - 64) & ~(size_t)15), CLONE_VM | CLONE_VFORK | SIGCHLD, own);
  if (pid < 0) own->error = errno;
  while (pid > 0 && syscall(SYS_wait4, pid, &status, 0, NULL) < 0 && errno == EINTR) {
  }
  got = syscall(SYS_pread64, 1, own->why, own->size - 1, 0);
  own->why[got > 0 ? got : 0] = '\0';
  syscall(SYS_exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNALLED);
  return 0;
}

/* Without what would trace h5join, or put other libraries before its own. */
static char **clean_environment(void) {
  size_t count = 0;
  size_t kept = 0;
  char **list;
  while (environ && environ[count]) count++;
  list = calloc(count + 1, sizeof list[0]);
  for (size_t i = 0; list && i < count; i++) {
    if (strncmp(environ[i], "LD_PRELOAD=", 11) == 0 || strncmp(environ[i], "LD_AUDIT=", 9) == 0) continue;
    if (strncmp(environ[i], "DFTRACER_", 9) != 0) list[kept++] = environ[i];
  }
  return list;
}

/* Nothing of it outlives the call: the keeper has ended before its stack is given back. */
static dft_status launch_and_wait(launch *own) {
  void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  int status = -1;
  pid_t pid;
  if (stack == MAP_FAILED) return DFT_ENOMEM;
  pid = clone(keep, (char *)stack + STACK_BYTES, CLONE_VM | CLONE_FILES, own);
  if (pid < 0) own->error = errno;
  while (pid > 0 && waitpid(pid, &status, __WCLONE) < 0 && errno == EINTR) {
  }
  munmap(stack, STACK_BYTES);
  if (status == 0) return DFT_OK;
  if (own->error) snprintf(own->why, own->size, "%s: %s", program, strerror(own->error));
  else if (!own->why[0]) snprintf(own->why, own->size, "%s failed (wait status 0x%x)", program, (unsigned)status);
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_SPACE ? DFT_ENOSPC : DFT_EIO;
}

dft_status dft__h5_join_run(const char *const *arguments, int folder, char *why, size_t size) {
  launch own = {.folder = folder, .program = getpid(), .why = why, .size = size};
  const char *missing = dft__h5_join_check();
  uint64_t all = ~UINT64_C(0);
  uint64_t before = 0;
  size_t count = 0;
  dft_status status;
  snprintf(why, size, "%s", missing ? missing : "");
  if (missing) return DFT_ENOSINK;
  while (arguments[count]) count++;
  own.arguments = calloc(count + 2, sizeof own.arguments[0]);
  own.environment = clean_environment();
  if (!own.arguments || !own.environment) {
    free(own.arguments);
    free(own.environment);
    return DFT_ENOMEM;
  }
  own.arguments[0] = program;
  for (size_t i = 0; i < count; i++) own.arguments[i + 1] = (char *)(uintptr_t)arguments[i];
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all); /* no handler runs in the keeper */
  status = launch_and_wait(&own);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
  free(own.arguments);
  free(own.environment);
  return status;
}

/* ---- Joining ------------------------------------------------------------------------------------------------------ */

int dft__h5_is_joined(const char *path) {
  char start[8] = {0};
  int fd = dft__held_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  ssize_t got = fd < 0 ? -1 : read(fd, start, sizeof start);
  if (fd >= 0) close(fd);
  return got == sizeof start && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0;
}

dft_status dft__h5_join(const char *path, uint64_t length, char *why, size_t size) {
  char part[PATH_MAX + 8];
  char digits[24];
  const char *name, *part_name;
  int folder = dft__held_place(path, &name);
  dft_status status;
  why[0] = '\0';
  if (dft__h5_is_joined(path)) {
    dft__h5_segment_remove(path);
    return DFT_OK;
  }
  if (snprintf(part, sizeof part, "%s-part", path) >= (int)sizeof part) return DFT_EINVAL;
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)length);
  dft__held_place(part, &part_name);
  status = dft__h5_join_run((const char *[]){"join", name, digits, part_name, NULL}, folder, why, size);
  if (status == DFT_OK && dft__held_rename(part, path) != 0) {
    snprintf(why, size, "%s: %s", path, strerror(errno));
    status = DFT_EIO;
  }
  if (status != DFT_OK) dft__held_unlink(part);
  else dft__h5_segment_remove(path);
  return status;
}
