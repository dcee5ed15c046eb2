/* closer.c - closes every descriptor again and again while it records; what it opens must get the numbers 0, 1 and 2.
 *
 *   closer ROUNDS      the status is 0 when that was always so
 *
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS 500

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  static dft_site site = DFT_SITE("step", "test");
  int64_t n = 0;
  for (int round = 0; round < rounds; round++) {
    for (int fd = 0; fd < 64; fd++) close(fd);
    for (int i = 0; i < EVENTS; i++) {
      dft_region_begin(&site);
      dft_update_int("n", ++n);
      dft_update_string("text", "so that the background thread and the writing of the trace begin soon");
      dft_region_end();
    }
    for (int expected = 0; expected < 3; expected++) {
      int fd = open("/dev/null", O_RDWR);
      if (fd != expected) return 10 + fd;
      /* Nobody of ours writes into what the program has opened. */
      if (lseek(fd, 0, SEEK_CUR) != 0) return 50 + fd;
    }
  }
  for (int fd = 0; fd < 64; fd++) close(fd);
  return 0;
}
