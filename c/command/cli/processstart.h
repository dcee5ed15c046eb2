/* processstart.h - when a process started. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSSTART_H
#define DFTRACER_PROCESSSTART_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* In clock ticks since boot, field 22 of /proc/PID/stat; 0: there is no such process. */
uint64_t process_start_ticks(pid_t pid);

/* As a time that can be compared with those of files; the current time when the start is unknown. */
struct timespec process_start_time(pid_t pid);

#endif
