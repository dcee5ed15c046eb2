/* launch.c - fork, exec, signals, end.
 *
 * This process receives signals with sigwaitinfo: there is no handler, so nothing is interrupted. A signal from the terminal
 * (SI_KERNEL) also reached the program, which is in the same process group. A signal that a process sent with kill did not,
 * unless it was sent to the group.
 * SPDX-License-Identifier: MIT */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals meant for the program. Faults such as SIGSEGV are this process's own. */
static const int forwarded[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,  SIGUSR1, SIGUSR2, SIGALRM,   SIGPIPE, SIGCONT,
                                SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGXCPU, SIGURG,  SIGVTALRM, SIGPROF, SIGIO};

static void make_set(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++) sigaddset(set, forwarded[i]);
  for (int i = SIGRTMIN; i <= SIGRTMAX; i++) sigaddset(set, i);
  sigaddset(set, SIGCHLD);
}

/* In the child: exec, or report the errno. */
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

/* Nonzero when the program has ended. When it is stopped, this process stops as well, so that the shell notices; its `fg`
 * continues both. */
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
  sigaction(SIGCHLD, &plain, &before); /* some callers ignore it: then waitpid would not report the end */
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
    setrlimit(RLIMIT_CORE, &none); /* the program has dumped its own core */
    sigemptyset(&set);
    sigaddset(&set, WTERMSIG(status));
    sigaction(WTERMSIG(status), &plain, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), WTERMSIG(status));
    exit(128 + WTERMSIG(status));
  }
  exit(WEXITSTATUS(status));
}
