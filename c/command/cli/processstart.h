/* processstart.h - when a process started. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSSTART_H
#define DFTRACER_PROCESSSTART_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* As a time that can be compared with those of files; the current time when the start is unknown. */
struct timespec process_start_time(pid_t pid);

#endif
