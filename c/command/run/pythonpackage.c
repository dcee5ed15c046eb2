/* pythonpackage.c - whether a Python interpreter has the package dftracer.
 * SPDX-License-Identifier: MIT */
#include "pythonpackage.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int is_python(const program *target) {
  const char *slash = strrchr(target->image, '/');
  return strncmp(slash ? slash + 1 : target->image, "python", 6) == 0;
}

/* `dftracer` is a namespace, so finding a module in it runs no code. */
static const char question[] = "import importlib.util\n"
                               "try:\n"
                               "  spec = importlib.util.find_spec('dftracer.dftracer')\n"
                               "except ImportError:\n"
                               "  spec = None\n"
                               "print(spec.origin if spec else '')\n";

int python_package_find(const program *target, char path[PATH_MAX]) {
  char *argv[] = {(char *)(uintptr_t)target->image, (char *)(uintptr_t) "-c", (char *)(uintptr_t)question, NULL};
  posix_spawn_file_actions_t actions;
  int ends[2], status;
  FILE *answer;
  pid_t pid;
  path[0] = '\0';
  if (pipe2(ends, O_CLOEXEC) != 0) return 0;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  status = posix_spawn(&pid, target->image, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  answer = fdopen(ends[0], "r");
  if (answer && !fgets(path, PATH_MAX, answer)) path[0] = '\0';
  if (answer) fclose(answer);
  if (status == 0) waitpid(pid, &status, 0);
  path[strcspn(path, "\n")] = '\0';
  return path[0] != '\0';
}
