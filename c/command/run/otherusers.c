/* otherusers.c - what root does for other users, it does as these users.
 * SPDX-License-Identifier: MIT */
#include "otherusers.h"

#include <dftracer/spool.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define USERS_MOST 1024
#define FIRST_OTHER_FD 3

static size_t add(uid_t *users, size_t count, const struct stat *facts) {
  for (size_t i = 0; i < count; i++) {
    if (users[i] == facts->st_uid) return count;
  }
  if (!S_ISDIR(facts->st_mode) || facts->st_uid == geteuid() || count == USERS_MOST) return count;
  users[count] = facts->st_uid;
  return count + 1;
}

/* The folder of the traces. */
static DIR *open_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  DIR *entries = slash && dft_spool_is_folder(slash + 1) ? NULL : opendir(path);
  char folder[PATH_MAX];
  if (entries) return entries;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
  return opendir(slash ? folder : ".");
}

static size_t find_users(const char *path, uid_t *users) {
  DIR *entries = open_folder(path);
  const struct dirent *entry;
  struct stat facts;
  size_t count = 0;
  while (entries && (entry = readdir(entries)) != NULL) {
    if (dft_spool_is_folder(entry->d_name) && fstatat(dirfd(entries), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
      count = add(users, count, &facts);
  }
  if (entries) closedir(entries);
  return count;
}

/* Zero when something of root would be left. The group of the folder may be one that the user is not in: so a user whom this
 * machine does not know is left alone. */
static int become(uid_t user) {
  const struct passwd *known = getpwuid(user);
  return known && initgroups(known->pw_name, known->pw_gid) == 0 &&
         setresgid(known->pw_gid, known->pw_gid, known->pw_gid) == 0 && setresuid(user, user, user) == 0 &&
         setuid(0) != 0;
}

/* A session of its own: a sink of this user must not type into root's terminal. */
static void run_child(uid_t user, void (*work)(void *context), void *context) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || setsid() < 0) _exit(1);
  if (syscall(SYS_close_range, FIRST_OTHER_FD, ~0u, 0) != 0) {
    for (int fd = FIRST_OTHER_FD; fd < sysconf(_SC_OPEN_MAX); fd++) close(fd);
  }
  if (!become(user)) _exit(1);
  work(context);
  fflush(stdout);
  _exit(0);
}

void otherusers_each(const char *path, void (*work)(void *context), void *context) {
  uid_t *users = geteuid() == 0 ? calloc(USERS_MOST, sizeof *users) : NULL;
  size_t count = users ? find_users(path, users) : 0;
  for (size_t i = 0; i < count; i++) {
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) run_child(users[i], work, context);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  }
  free(users);
}
