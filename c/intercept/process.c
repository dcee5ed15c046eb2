/* process.c - new processes and new programs. They are recorded whatever the path filter says.
 *
 * exec does not return when it succeeds. So its event is a region, which the next program finds open and publishes as
 * open. A child that has recorded nothing yet does not start a trace only for its exec: the trace of the next program
 * has its command. Nothing is recorded in the child of a vfork.
 * SPDX-License-Identifier: MIT */
#include <alloca.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wrapper.h"

pid_t dft__io_fork(void);
pid_t dft__io_fork(void) {
  DFT__REAL(fork);
  dft__io io;
  pid_t pid;
  if (!dft__io_process(&io)) return real();
  io.start = dft__clock_ticks();
  pid = real();
  if (pid != 0) dft__io_end(DFT__CALL_fork, &io, pid, dft__io_error(pid), NULL);
  return pid;
}

/* The file that a name leads to; NULL when PATH decides, or nothing is there to be read. */
static const char *named_file(const char *name) {
  return dft__path_is_readable(name) && strchr(name, '/') ? name : NULL;
}

/* Calls `real` inside a region that ends only when it fails. */
#define IMAGE(name, params, path, call)                             \
  int dft__io_##name params;                                        \
  int dft__io_##name params {                                       \
    DFT__REAL(name);                                                \
    dft_region region = dft__io_exec_begin(DFT__CALL_##name, path); \
    int ret = call;                                                 \
    dft__io_exec_end(DFT__CALL_##name, path, region);               \
    return ret;                                                     \
  }

IMAGE(execve, (const char *path, char *const list[], char *const environment[]), path, real(path, list, environment))
IMAGE(execv, (const char *path, char *const list[]), path, real(path, list))
IMAGE(execvp, (const char *path, char *const list[]), named_file(path), real(path, list))
IMAGE(execvpe, (const char *path, char *const list[], char *const environment[]), named_file(path),
      real(path, list, environment))
IMAGE(fexecve, (int fd, char *const list[], char *const environment[]), NULL, real(fd, list, environment))

/* execl, execlp and execle: their arguments become a list, on the stack, because nothing may be allocated here. */
static size_t count_list(va_list list) {
  size_t count = 1;
  while (va_arg(list, char *)) count++;
  return count;
}

#define LISTED_IMAGE(name, plain, path_shown, environment_arg, call)                                  \
  int dft__io_##name(const char *path, const char *first, ...);                                       \
  int dft__io_##name(const char *path, const char *first, ...) {                                      \
    char **list;                                                                                      \
    char *const *environment = NULL;                                                                  \
    size_t count = 1;                                                                                 \
    va_list rest;                                                                                     \
    dft_region region;                                                                                \
    int ret;                                                                                          \
    __typeof__(&dft__io_##plain) real = (__typeof__(&dft__io_##plain))dft__real(DFT__SYMBOL_##plain); \
    va_start(rest, first);                                                                            \
    if (first) count += count_list(rest);                                                             \
    va_end(rest);                                                                                     \
    list = alloca(count * sizeof *list);                                                              \
    list[0] = (char *)(uintptr_t)first;                                                               \
    va_start(rest, first);                                                                            \
    for (size_t i = 1; i < count; i++) list[i] = va_arg(rest, char *);                                \
    if (environment_arg) environment = va_arg(rest, char *const *);                                   \
    va_end(rest);                                                                                     \
    region = dft__io_exec_begin(DFT__CALL_##name, path_shown);                                        \
    (void)environment;                                                                                \
    ret = call;                                                                                       \
    dft__io_exec_end(DFT__CALL_##name, path_shown, region);                                           \
    return ret;                                                                                       \
  }

LISTED_IMAGE(execl, execv, path, 0, real(path, list))
LISTED_IMAGE(execlp, execvp, named_file(path), 0, real(path, list))
LISTED_IMAGE(execle, execve, path, 1, real(path, list, environment))

/* ---- posix_spawn -------------------------------------------------------------------------------------------------- */

#define SPAWN(name)                                                                                        \
  int dft__io_##name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,              \
                     const posix_spawnattr_t *attributes, char *const list[], char *const environment[]);  \
  int dft__io_##name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,              \
                     const posix_spawnattr_t *attributes, char *const list[], char *const environment[]) { \
    DFT__REAL(name);                                                                                       \
    dft__io io;                                                                                            \
    pid_t child = 0;                                                                                       \
    int ret;                                                                                               \
    if (!dft__io_process(&io)) return real(pid, path, actions, attributes, list, environment);             \
    io.start = dft__clock_ticks();                                                                         \
    ret = real(&child, path, actions, attributes, list, environment);                                      \
    if (pid && ret == 0) *pid = child;                                                                     \
    dft__io_end(DFT__CALL_##name, &io, ret ? -1 : 0, ret, DFT__VALUES_A1(child));                          \
    return ret;                                                                                            \
  }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
