/* steady.c - records numbered events that hardly compress, while its surroundings get worse; ends with status 42.
 *
 *   steady COUNT [TROUBLE]     first: no descriptor is left before the first event; later: after it
 *                              wait: half-way it waits for a line of input; half: it says so before
 *                              step: the clock of the day jumps all the time
 *
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STATUS 42

static dft_site step = DFT_SITE("step", "test");
static long long jump_seconds;

/* In the place of the library's: an administrator sets the clock. Nobody's real clock is touched. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += jump_seconds;
  return result;
}

static uint64_t next_random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void use_up_descriptors(void) {
  struct rlimit limit = {64, 64};
  setrlimit(RLIMIT_NOFILE, &limit);
  while (open("/dev/null", O_RDONLY) >= 0) continue;
}

static void record(int64_t n) {
  char text[68];
  snprintf(text, sizeof text, "%016llx%016llx%016llx%016llx", (unsigned long long)next_random(),
           (unsigned long long)next_random(), (unsigned long long)next_random(), (unsigned long long)next_random());
  dft_region_begin(&step);
  dft_update_int("n", n);
  dft_update_string("text", text);
  dft_region_end();
}

int main(int argc, char **argv) {
  int64_t count = argc > 1 ? atoll(argv[1]) : 1000;
  const char *trouble = argc > 2 ? argv[2] : "";
  if (strcmp(trouble, "first") == 0) use_up_descriptors();
  for (int64_t n = 1; n <= count; n++) {
    record(n);
    if (n == 1 && strcmp(trouble, "later") == 0) use_up_descriptors();
    if (n == count / 2 && strcmp(trouble, "wait") == 0) getchar();
    if (n == count / 2 && strcmp(trouble, "half") == 0) {
      puts("half");
      fflush(stdout);
      getchar();
    }
    if (strcmp(trouble, "step") == 0) jump_seconds = n % 2 ? -3600 * n : 86400 * n;
  }
  return STATUS;
}
