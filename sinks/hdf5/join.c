/* join.c - runs h5join.
 * SPDX-License-Identifier: MIT */
#include "join.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sinks.h"

#define ARGUMENTS_MOST 64
#define STACK_BYTES ((size_t)64 << 10)

extern char **environ;

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

typedef struct launch {
  char *arguments[ARGUMENTS_MOST + 1];
  char **environment;
  int output; /* its message */
  int error;  /* of exec */
} launch;

/* Shares all memory with the program until exec, whose thread waits meanwhile: system calls only. Signals are blocked; h5join
 * unblocks them. */
static int in_child(void *argument) {
  launch *own = argument;
  int null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
  syscall(SYS_dup3, own->output, 1, 0);
  if (null >= 0) syscall(SYS_dup3, null, 0, 0);
  if (null >= 0) syscall(SYS_dup3, null, 2, 0);
#ifdef SYS_close_range
  syscall(SYS_close_range, 3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
#endif
  syscall(SYS_execve, program, own->arguments, own->environment);
  own->error = errno;
  syscall(SYS_exit, 127);
  return 127;
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

/* No exit signal: the program gets no SIGCHLD, and wait() without __WCLONE does not see it. */
static pid_t start(launch *own) {
  void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  pid_t pid = -1;
  if (stack == MAP_FAILED) return -1;
  pid = clone(in_child, (char *)stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, own);
  munmap(stack, STACK_BYTES);
  return pid;
}

static dft_status result_of(pid_t pid, const launch *own, int input, char *why, size_t size) {
  int status = 0;
  size_t len = 0;
  ssize_t got;
  while (len + 1 < size && ((got = read(input, why + len, size - 1 - len)) > 0 || (got < 0 && errno == EINTR)))
    if (got > 0) len += (size_t)got;
  why[len] = '\0';
  while (waitpid(pid, &status, __WCLONE) < 0 && errno == EINTR) {
  }
  if (own->error) snprintf(why, size, "%s: %s", program, strerror(own->error));
  else if (WIFSIGNALED(status)) snprintf(why, size, "%s was ended by signal %d", program, WTERMSIG(status));
  else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return DFT_OK;
  else if (!len) snprintf(why, size, "%s could not be run (exit status %d)", program, WEXITSTATUS(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? DFT_ENOSPC : DFT_EIO;
}

dft_status dft__h5_join_run(const char *const *arguments, char *why, size_t size) {
  launch own = {.arguments = {program}};
  const char *missing = dft__h5_join_check();
  dft_status status = DFT_EIO;
  int ends[2];
  pid_t pid;
  snprintf(why, size, "%s", missing ? missing : "");
  if (missing) return DFT_ENOSINK;
  for (int i = 0; arguments[i] && i + 1 < ARGUMENTS_MOST; i++) own.arguments[i + 1] = (char *)(uintptr_t)arguments[i];
  own.environment = clean_environment();
  if (!own.environment) return DFT_ENOMEM;
  if (pipe2(ends, O_CLOEXEC) == 0) {
    own.output = ends[1];
    pid = start(&own);
    close(ends[1]);
    if (pid > 0) status = result_of(pid, &own, ends[0], why, size);
    else snprintf(why, size, "no process can be made: %s", strerror(errno));
    close(ends[0]);
  } else {
    snprintf(why, size, "no pipe can be made: %s", strerror(errno));
  }
  free(own.environment);
  return status;
}

/* ---- Joining ------------------------------------------------------------------------------------------------------ */

static int is_hdf5(const char *path) {
  char start[8] = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  ssize_t got = fd < 0 ? -1 : read(fd, start, sizeof start);
  if (fd >= 0) close(fd);
  return got == sizeof start && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0;
}

dft_status dft__h5_join(const char *path, uint64_t length, char *why, size_t size) {
  char part[PATH_MAX + 8];
  char digits[24];
  const char *arguments[] = {"join", path, digits, part, NULL};
  dft_status status;
  why[0] = '\0';
  if (is_hdf5(path)) return DFT_OK;
  if (snprintf(part, sizeof part, "%s-part", path) >= (int)sizeof part) return DFT_EINVAL;
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)length);
  unlink(part);
  status = dft__h5_join_run(arguments, why, size);
  if (status == DFT_OK && rename(part, path) != 0) {
    snprintf(why, size, "%s: %s", path, strerror(errno));
    status = DFT_EIO;
  }
  if (status != DFT_OK) unlink(part);
  return status;
}
