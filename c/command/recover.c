/* recover.c - dftracer recover: publishes what dead processes left.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "commands.h"

static int usage(FILE *out) {
  fprintf(
    out,
    "usage: dftracer recover DIR...\n\n"
    "Publishes the traces of processes that died before they could: what they had recorded, regions that were open\n"
    "(with open:1), and the end. DIR is the folder of the traces. Traces of living processes are left alone, and so\n"
    "are those of other nodes, containers and users: recover them there. Running it twice does no harm.\n");
  return out == stdout ? 0 : 2;
}

static int recover(const char *folder) {
  dft_recovery report = {.struct_size = sizeof report};
  dft_status status;
  struct stat facts;
  if (stat(folder, &facts) != 0) {
    fprintf(stderr, "dftracer recover: %s: %s\n", folder, strerror(errno));
    return 1;
  }
  status = dft_recover(folder, &report);
  printf("%s: %u trace%s published, %llu event%s", folder, report.published, report.published == 1 ? "" : "s",
         (unsigned long long)report.events, report.events == 1 ? "" : "s");
  if (report.alive) printf("; %u left alone: in use", report.alive);
  if (report.foreign) printf("; %u left alone: of another node, container or user", report.foreign);
  if (report.failed) printf("; %u failed and still there: %s", report.failed, dft_status_text(status));
  printf("\n");
  return status == DFT_OK ? 0 : 1;
}

int command_recover(int argc, char **argv) {
  int result = 0;
  if (argc < 2) return usage(stderr);
  if (strcmp(argv[1], "--help") == 0) return usage(stdout);
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') {
      fprintf(stderr, "dftracer recover: there is no option %s; dftracer recover --help says more\n", argv[i]);
      return 2;
    }
  }
  for (int i = 1; i < argc; i++) {
    int one = recover(argv[i]);
    if (one) result = one;
  }
  return result;
}
