/* plugin.c - a library that is loaded late, and unloaded. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

int plugin_write(const char *path);
int plugin_write(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int is_fine = fd >= 0 && write(fd, "plugin", 6) == 6;
  return close(fd) == 0 && is_fine;
}
