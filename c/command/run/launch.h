/* launch.h - runs a program as if it had been started itself: signals go to it, its end comes back.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LAUNCH_H
#define DFTRACER_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Starts argv (as execvp) and waits for its end; `status` is that of waitpid. Signals that reach this process meanwhile,
 * but for those that the terminal sends to both, are passed on; it stops and goes on with the program. Returns 0, or the
 * error of exec. Signals stay blocked afterwards: launchers end all their processes when one fails, and what is to be done
 * after the program's end is short. */
int launch(char **argv, pid_t *pid, int *status);

/* Nonzero when a signal wants this process to end. */
int launch_is_asked_to_end(void);

/* When a process began, in ticks since the node did, as /proc/PID/stat says it; 0: there is no such process. */
uint64_t launch_start_ticks(pid_t pid);

/* The same by the clock of files; now when it cannot be told. */
struct timespec launch_start_of(pid_t pid);

/* Ends this process in the way the program did. */
_Noreturn void launch_end_like(int status);

#endif
