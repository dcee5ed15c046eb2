/* test_unseen.c - the program sees nothing of the process that makes its HDF5 file: no SIGCHLD, no child for wait(), the
 * same descriptors, signal mask, thread-specific data and errno; whatever it does with SIGCHLD.
 * SPDX-License-Identifier: MIT */
#include <dftracer/h5.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char folder[] = "/tmp/dft-unseen-XXXXXX";
static volatile sig_atomic_t child_signals;

static void count_signal(int number) {
  (void)number;
  child_signals++;
}

static int open_descriptors(void) {
  DIR *entries = opendir("/proc/self/fd");
  int count = 0;
  CHECK(entries != NULL);
  while (readdir(entries)) count++;
  closedir(entries);
  return count;
}

/* Records something and completes the trace; the file is there. */
static void make_file(size_t files) {
  static dft_site site = DFT_SITE("step", "test");
  char pattern[256];
  glob_t found;
  CHECK_INT(dft_start(NULL), DFT_OK);
  for (int i = 0; i < 1000; i++) {
    dft_region_begin(&site);
    dft_update_int("i", i);
    dft_region_end();
  }
  errno = 77;
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK_INT(errno, 77);
  snprintf(pattern, sizeof pattern, "%s/*.h5", folder);
  CHECK_INT(glob(pattern, 0, NULL, &found), 0);
  CHECK_UINT(found.gl_pathc, files);
  for (size_t i = 0; files == 4 && i < files; i++) unlink(found.gl_pathv[i]);
  globfree(&found);
}

static void a_handler_of_sigchld_is_not_called(void) {
  struct sigaction action = {.sa_handler = count_signal};
  CHECK_INT(sigaction(SIGCHLD, &action, NULL), 0);
  make_file(1);
  CHECK_INT(child_signals, 0);
  CHECK_INT(wait(NULL), -1);
  CHECK_INT(errno, ECHILD);
}

static void ignoring_sigchld_does_no_harm(void) {
  signal(SIGCHLD, SIG_IGN);
  make_file(2);
  signal(SIGCHLD, SIG_DFL);
}

/* A child of the program's own is the only one that its wait() meets. */
static void other_children_are_waited_for_as_always(void) {
  int status;
  pid_t child = fork();
  if (child == 0) _exit(9);
  make_file(3);
  CHECK_INT(wait(&status), child);
  CHECK_INT(WEXITSTATUS(status), 9);
  CHECK_INT(wait(&status), -1);
}

static void mask_descriptors_and_keys_stay(void) {
  pthread_key_t keys[4];
  sigset_t before, after;
  int descriptors = open_descriptors();
  for (size_t i = 0; i < 4; i++) {
    CHECK_INT(pthread_key_create(&keys[i], NULL), 0);
    CHECK_INT(pthread_setspecific(keys[i], &keys[i]), 0);
  }
  sigemptyset(&before);
  sigaddset(&before, SIGUSR1);
  CHECK_INT(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
  make_file(4);
  CHECK_INT(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
  for (int number = 1; number < 32; number++) CHECK_INT(sigismember(&after, number), number == SIGUSR1);
  for (size_t i = 0; i < 4; i++) CHECK(pthread_getspecific(keys[i]) == &keys[i]);
  CHECK_INT(open_descriptors(), descriptors);
}

int main(void) {
  char prefix[256];
  if (dft_h5_unusable()) SKIP(dft_h5_unusable());
  CHECK(mkdtemp(folder) != NULL);
  snprintf(prefix, sizeof prefix, "%s/trace", folder);
  setenv("DFTRACER_ENABLE", "1", 1);
  setenv("DFTRACER_SINK", "hdf5", 1);
  setenv("DFTRACER_LOG_FILE", prefix, 1);
  a_handler_of_sigchld_is_not_called();
  ignoring_sigchld_does_no_harm();
  other_children_are_waited_for_as_always();
  mask_descriptors_and_keys_stay();
  CHECK_INT(rmdir(folder), 0); /* and nothing else was left in it */
  return 0;
}
