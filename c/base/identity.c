/* identity.c - which process this is, and whether another one is alive.
 * SPDX-License-Identifier: MIT */
#include "identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
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

/* The command in field 2 may hold spaces and parentheses, so fields are counted from the last one. */
int dft__process_read(const char *path, dft__process *process) {
  char text[1024];
  char *at;
  if (!dft__read_file(path, text, sizeof text)) return 0;
  at = strrchr(text, ')');
  if (!at || at[1] != ' ') return 0;
  process->pid = (uint32_t)strtoul(text, NULL, 10);
  process->state = at[2];
  at += 2; /* field 3 */
  for (int field = 4; field <= 34; field++) {
    at = strchr(at, ' ');
    if (!at) return 0;
    at++;
    if (field == 4) process->parent = (uint32_t)strtoul(at, NULL, 10);
    if (field == 5) process->group = (uint32_t)strtoul(at, NULL, 10);
    if (field == 6) process->session = (uint32_t)strtoul(at, NULL, 10);
    if (field == 7) process->terminal = (int32_t)strtol(at, NULL, 10);
    if (field == 22) process->start_ticks = strtoull(at, NULL, 10);
    if (field == 33) process->taken_signals = strtoull(at, NULL, 10);
    if (field == 34) process->taken_signals |= strtoull(at, NULL, 10);
  }
  return 1;
}

/* Both count from the boot, in this time namespace, and go on while the node sleeps. The kernel rounds the start down to its
 * ticks, of 10 ms mostly. */
uint64_t dft__identity_age_ns(const dft__identity *identity) {
  const uint64_t per_second = getauxval(AT_CLKTCK);
  struct timespec now;
  uint64_t now_ns, start_ns;
  if (!identity->start_ticks || !per_second || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  start_ns = identity->start_ticks * (1000000000u / per_second);
  return now_ns > start_ns ? now_ns - start_ns : 0;
}

static uint64_t inode_of(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 ? facts.st_ino : 0;
}

void dft__identity_renew(dft__identity *identity) {
  dft__process process;
  identity->pid = (uint32_t)getpid();
  identity->ppid = (uint32_t)getppid();
  identity->start_ticks = dft__process_read("/proc/self/stat", &process) ? process.start_ticks : 0;
  identity->pid_namespace = inode_of("/proc/self/ns/pid");
  identity->time_namespace = inode_of("/proc/self/ns/time");
  if (!identity->boot_id[0]) { /* the process may have had no descriptor left before */
    dft__read_file("/proc/sys/kernel/random/boot_id", identity->boot_id, sizeof identity->boot_id);
    identity->boot_id[strcspn(identity->boot_id, "\n")] = '\0';
  }
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
  if (uname(&names) == 0 && names.nodename[0]) {
    snprintf(identity->host, sizeof identity->host, "%s", names.nodename);
  } else {
    snprintf(identity->host, sizeof identity->host, "localhost");
  }
}

/* The threads of a process, but no more than fit; 0 when they cannot be counted. Not by opendir, which allocates memory. */
static int count_threads(uint32_t pid) {
  _Alignas(struct dirent64) char entries[2048], path[64];
  int count = 0, fd;
  long bytes;
  snprintf(path, sizeof path, "/proc/%u/task", pid);
  fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0;
  bytes = syscall(SYS_getdents64, fd, entries, sizeof entries);
  for (long at = 0; at < bytes;) {
    const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
    count += entry->d_name[0] != '.';
    at += entry->d_reclen;
  }
  close(fd);
  return count;
}

/* Whether /proc shows the pids that this process uses. In a new pid namespace it may still be the one of the outside, where
 * the same numbers are other processes. It then lists two pids for this one, its own last. */
static int is_proc_our_own(void) {
  char text[8192], *line, *end;
  if (!dft__read_file("/proc/self/status", text, sizeof text)) return 0;
  line = strstr(text, "\nNSpid:");
  if (!line) { /* a kernel before 4.1 */
    ssize_t len = readlink("/proc/self", text, sizeof text - 1);
    text[len > 0 ? len : 0] = '\0';
    return strtol(text, NULL, 10) == getpid();
  }
  return strtol(line + sizeof "\nNSpid:" - 1, &end, 10) == getpid() && *end == '\n';
}

/* Of a pid of this very namespace that is in use. */
static enum dft__life life_of_user(const dft__identity *identity, const dft__identity *own) {
  char path[64];
  dft__process user;
  snprintf(path, sizeof path, "/proc/%u/stat", identity->pid);
  if (!is_proc_our_own() || !identity->start_ticks || !dft__process_read(path, &user)) return DFT__UNKNOWN;
  if (user.start_ticks != identity->start_ticks)
    return identity->time_namespace == own->time_namespace ? DFT__DEAD : DFT__UNKNOWN;
  if (user.state != 'Z' && user.state != 'X') return DFT__ALIVE;
  switch (count_threads(identity->pid)) {
    case 0: return DFT__UNKNOWN;
    case 1: return DFT__DEAD;
    default: return DFT__ALIVE; /* its main thread has ended, and others run on */
  }
}

enum dft__life dft__identity_life(const dft__identity *identity, const dft__identity *own) {
  if (!own->boot_id[0] || strcmp(identity->boot_id, own->boot_id) != 0) return DFT__UNKNOWN;
  if (!own->pid_namespace || identity->pid_namespace != own->pid_namespace) return DFT__UNKNOWN;
  if (!identity->pid || identity->pid > INT_MAX) return DFT__UNKNOWN;
  /* The kernel's word that there is none. A file of /proc can be missing for many reasons. */
  if (kill((pid_t)identity->pid, 0) != 0 && errno == ESRCH) return DFT__DEAD;
  return life_of_user(identity, own);
}
