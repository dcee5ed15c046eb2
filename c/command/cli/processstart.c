/* processstart.c - when a process started, from /proc.
 * SPDX-License-Identifier: MIT */
#include "processstart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_FIELD 22 /* of /proc/PID/stat */

/* In clock ticks since boot; 0: there is no such process. */
static uint64_t start_ticks(pid_t pid) {
  char path[64], text[1024];
  const char *field;
  FILE *file;
  size_t len = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  file = fopen(path, "re");
  if (file) len = fread(text, 1, sizeof text - 1, file);
  if (file) fclose(file);
  text[len] = '\0';
  field = strrchr(text, ')'); /* field 2 is the program's name, which may contain anything */
  for (int number = 2; field && number < START_FIELD; number++) field = strchr(field + 1, ' ');
  return field ? strtoull(field + 1, NULL, 10) : 0;
}

struct timespec process_start_time(pid_t pid) {
  long ticks_per_second = sysconf(_SC_CLK_TCK);
  uint64_t start = start_ticks(pid);
  struct timespec now, since_boot;
  int64_t start_ns;
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  if (!start || ticks_per_second <= 0) return now;
  start_ns = (int64_t)(start * (uint64_t)(1000000000 / ticks_per_second)) +
             (now.tv_sec - since_boot.tv_sec) * 1000000000 + (now.tv_nsec - since_boot.tv_nsec);
  return (struct timespec){start_ns / 1000000000, start_ns % 1000000000};
}
