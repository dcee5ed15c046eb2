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

/* What follows "python" in the name of the file; NULL: it is called otherwise. */
static const char *after_python(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  return strncmp(name, "python", 6) == 0 ? name + 6 : NULL;
}

const char *python_of(const program *target) {
  const char *version = after_python(target->path);
  if (after_python(target->image)) return target->image;
  return version && !version[strspn(version, ".0123456789")] ? target->path : NULL;
}

/* `dftracer` is a namespace, so finding a module in it runs no code. */
static const char question[] = "import importlib.util\n"
                               "try:\n"
                               "  spec = importlib.util.find_spec('dftracer.dftracer')\n"
                               "except ImportError:\n"
                               "  spec = None\n"
                               "print(spec.origin if spec else '')\n";

int python_package_find(const char *python, char path[PATH_MAX]) {
  char *argv[] = {(char *)(uintptr_t)python, (char *)(uintptr_t) "-c", (char *)(uintptr_t)question, NULL};
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
  status = posix_spawn(&pid, python, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  answer = fdopen(ends[0], "r");
  if (answer && !fgets(path, PATH_MAX, answer)) path[0] = '\0';
  if (answer) fclose(answer);
  if (status == 0) waitpid(pid, &status, 0);
  path[strcspn(path, "\n")] = '\0';
  return path[0] != '\0';
}
