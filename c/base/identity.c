/* identity.c - which process this is, and whether another one is alive.
 * SPDX-License-Identifier: MIT */
#include "identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "hash.h"

size_t dft__read_file(const char *path, char *text, size_t size) {
  size_t len = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  text[0] = '\0';
  if (fd < 0) return 0;
  while (len < size - 1) {
    ssize_t got = read(fd, text + len, size - 1 - len);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    len += (size_t)got;
  }
  close(fd);
  text[len] = '\0';
  return len;
}

/* State letter and start time of a process; 0 when there is none. The command in field 2 may hold spaces and
 * parentheses, so fields are counted from the last one. */
static int read_stat(const char *path, char *state, uint64_t *start_ticks) {
  char text[1024];
  char *at;
  if (!dft__read_file(path, text, sizeof text)) return 0;
  at = strrchr(text, ')');
  if (!at || at[1] != ' ') return 0;
  *state = at[2];
  at += 2; /* field 3 */
  for (int field = 3; field < 22; field++) {
    at = strchr(at, ' ');
    if (!at) return 0;
    at++;
  }
  *start_ticks = strtoull(at, NULL, 10);
  return 1;
}

void dft__identity_renew(dft__identity *identity) {
  struct stat facts;
  char state;
  identity->pid = (uint32_t)getpid();
  identity->ppid = (uint32_t)getppid();
  if (!read_stat("/proc/self/stat", &state, &identity->start_ticks)) identity->start_ticks = 0;
  identity->pid_namespace = stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

/* The kernel gives every image random bytes, of which others must not learn more. */
static uint64_t own_image(void) {
  const char *random = (const char *)(uintptr_t)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
  return random ? dft__hash(random, 16, 0) : 0;
}

void dft__identity_own(dft__identity *identity) {
  struct utsname names;
  memset(identity, 0, sizeof *identity);
  dft__identity_renew(identity);
  identity->image = own_image();
  dft__read_file("/proc/sys/kernel/random/boot_id", identity->boot_id, sizeof identity->boot_id);
  identity->boot_id[strcspn(identity->boot_id, "\n")] = '\0';
  if (uname(&names) == 0 && names.nodename[0]) {
    snprintf(identity->host, sizeof identity->host, "%s", names.nodename);
  } else {
    snprintf(identity->host, sizeof identity->host, "localhost");
  }
}

/* When its main thread has ended, a process looks like a zombie while others run on. */
static int has_living_threads(uint32_t pid) {
  char path[64];
  int count = 0;
  struct dirent *entry;
  DIR *folder;
  snprintf(path, sizeof path, "/proc/%u/task", pid);
  folder = opendir(path);
  if (!folder) return 0;
  while ((entry = readdir(folder)) != NULL) count += entry->d_name[0] != '.';
  closedir(folder);
  return count > 1;
}

enum dft__life dft__identity_life(const dft__identity *identity, const dft__identity *own) {
  char path[64];
  char state;
  uint64_t start_ticks;
  if (strcmp(identity->boot_id, own->boot_id) != 0) {
    return strcmp(identity->host, own->host) == 0 ? DFT__REBOOTED : DFT__FOREIGN;
  }
  if (identity->pid_namespace != own->pid_namespace || !own->pid_namespace) return DFT__FOREIGN;
  snprintf(path, sizeof path, "/proc/%u/stat", identity->pid);
  if (!read_stat(path, &state, &start_ticks)) return DFT__DEAD;
  if (start_ticks != identity->start_ticks) return DFT__DEAD;
  if ((state == 'Z' || state == 'X') && !has_living_threads(identity->pid)) return DFT__DEAD;
  return DFT__ALIVE;
}
