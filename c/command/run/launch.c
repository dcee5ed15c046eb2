/* launch.c - fork, exec, signals, end.
 *
 * This process takes signals by sigwaitinfo: no handler, so nothing is interrupted. A signal from the terminal (SI_KERNEL)
 * has reached the program too, as it is in the same process group; one that a process sent (kill) has not, unless it was
 * sent to the group.
 * SPDX-License-Identifier: MIT */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Those that are for a program to hear of; faults of this process itself are its own. */
static const int passed[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,  SIGUSR1, SIGUSR2, SIGALRM,   SIGPIPE, SIGCONT,
                             SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGXCPU, SIGURG,  SIGVTALRM, SIGPROF, SIGIO};

static void make_set(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) sigaddset(set, passed[i]);
  for (int i = SIGRTMIN; i <= SIGRTMAX; i++) sigaddset(set, i);
  sigaddset(set, SIGCHLD);
}

/* The child: exec, or the reason why not. */
_Noreturn static void become(char **argv, const sigset_t *mask, const struct sigaction *child_action, int report) {
  int error;
  ssize_t written;
  sigaction(SIGCHLD, child_action, NULL);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(argv[0], argv);
  error = errno;
  written = write(report, &error, sizeof error);
  _exit(written > 0 ? 127 : 126);
}

/* Nonzero when the program has ended. When it is stopped, this process stops as well: the shell that waits for it sees
 * that, and its `fg` lets both go on. */
static int collect(pid_t pid, int *status) {
  for (;;) {
    pid_t got = waitpid(pid, status, WNOHANG | WUNTRACED);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0;
    if (!WIFSTOPPED(*status)) return 1;
    kill(getpid(), SIGSTOP);
    kill(pid, SIGCONT);
  }
}

int launch(char **argv, pid_t *pid, int *status) {
  struct sigaction plain = {.sa_handler = SIG_DFL};
  struct sigaction before;
  sigset_t mask, set;
  siginfo_t info;
  int ends[2];
  int error = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  make_set(&set);
  sigprocmask(SIG_BLOCK, &set, &mask);
  sigaction(SIGCHLD, &plain, &before); /* ignored by some callers: then nobody would learn of the end */
  *pid = fork();
  if (*pid == 0) become(argv, &mask, &before, ends[1]);
  error = *pid < 0 ? errno : 0;
  close(ends[1]);
  if (*pid > 0 && read(ends[0], &error, sizeof error) == (ssize_t)sizeof error) waitpid(*pid, status, 0);
  close(ends[0]);
  while (!error && !collect(*pid, status)) {
    int signal = sigwaitinfo(&set, &info);
    if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) kill(*pid, signal);
  }
  return error;
}

int launch_is_asked_to_end(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 &&
         (sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT) || sigismember(&pending, SIGHUP));
}

void launch_end_like(int status) {
  if (WIFSIGNALED(status)) {
    struct rlimit none = {0, 0};
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none); /* the program has left its own */
    sigemptyset(&set);
    sigaddset(&set, WTERMSIG(status));
    sigaction(WTERMSIG(status), &plain, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), WTERMSIG(status));
    exit(128 + WTERMSIG(status));
  }
  exit(WEXITSTATUS(status));
}

uint64_t launch_start_ticks(pid_t pid) {
  char path[64], text[1024];
  const char *at;
  FILE *file;
  size_t len = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  file = fopen(path, "re");
  if (file) len = fread(text, 1, sizeof text - 1, file); /* the name in it may hold anything */
  if (file) fclose(file);
  text[len] = '\0';
  at = strrchr(text, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
}

struct timespec launch_start_of(pid_t pid) {
  long ticks = sysconf(_SC_CLK_TCK);
  uint64_t start = launch_start_ticks(pid);
  struct timespec now, since_boot;
  int64_t start_ns;
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  if (!start || ticks <= 0) return now;
  start_ns = (int64_t)(start * (uint64_t)(1000000000 / ticks)) + (now.tv_sec - since_boot.tv_sec) * 1000000000 +
             (now.tv_nsec - since_boot.tv_nsec);
  return (struct timespec){start_ns / 1000000000, start_ns % 1000000000};
}
