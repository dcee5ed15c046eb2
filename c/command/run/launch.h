/* launch.h - runs a program as if it had been started directly: forwards signals, and returns how it ended.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LAUNCH_H
#define DFTRACER_LAUNCH_H

#include <sys/types.h>

/* Starts argv like execvp and waits for its end; `status` is that of waitpid. Forwards the signals that reach this process,
 * except those that the terminal sends to both. When the program is stopped, this process stops too. Returns 0, or the errno
 * of exec. Signals stay blocked afterwards: a job launcher kills all processes when one fails, and the work that is left after
 * the program's end is short. */
int launch(char **argv, pid_t *pid, int *status);

/* Nonzero when SIGTERM, SIGINT or SIGHUP is pending. */
int launch_is_asked_to_end(void);

/* Ends this process like the program: with its exit status, or by the same signal. */
_Noreturn void launch_end_like(int status);

#endif
