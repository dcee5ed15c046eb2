/* main.c - the dftracer command: what people type before and after the job.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/alike.h"
#include "commands.h"
#include "extension.h"
#include "help.h"
#include "printable.h"

/* True for "dftracer summary out | head", when head has exited. errno may be that of a later call. */
static int is_reader_gone(void) {
  struct pollfd out = {.fd = STDOUT_FILENO};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* What was printed may still fail to arrive, on a full disk for example. */
static int finish(int status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  if (!is_reader_gone()) fprintf(stderr, "dftracer: cannot write the output: %s\n", strerror(errno));
  return status ? status : STATUS_FAILED;
}

static int is_any(const char *word, const char *first, const char *second, const char *third) {
  return strcmp(word, first) == 0 || strcmp(word, second) == 0 || strcmp(word, third) == 0;
}

static int refuse_unknown(const char *name) {
  const char *see = "; see", *shown = printable(name);
  fprintf(stderr, "dftracer: unknown command \"%s\": there is no program dftracer-%s beside this one or on PATH", shown,
          shown);
  for (const command *const *entry = commands; *entry; entry++) {
    if (!dft__is_alike(name, strlen(name), (*entry)->name, strlen((*entry)->name))) continue;
    fprintf(stderr, "; did you mean \"%s\"?", (*entry)->name);
    see = " See";
  }
  fprintf(stderr, "%s 'dftracer --help'\n", see);
  return STATUS_MISUSED;
}

int main(int argc, char **argv) {
  const command *found;
  if (argc < 2) {
    help_print_all(stderr);
    return STATUS_MISUSED;
  }
  if (is_any(argv[1], "--help", "-h", "help")) {
    if (argc == 3 && (found = command_find(argv[2])) != NULL) help_print(stdout, found);
    else help_print_all(stdout);
    return finish(STATUS_DONE);
  }
  if (is_any(argv[1], "--version", "-V", "version")) {
    printf("dftracer %s\n", dft_version());
    return finish(STATUS_DONE);
  }
  found = command_find(argv[1]);
  if (found) return finish(found->run(argc - 1, argv + 1));
  extension_run(argv + 1);
  return refuse_unknown(argv[1]);
}
