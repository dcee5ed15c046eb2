/* test_file.c - bytes get into the one file they belong in, or nothing changes.
 * SPDX-License-Identifier: MIT */
#include "codec/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char folder[] = "/tmp/dftracer-file-XXXXXX";
static char path[sizeof folder + 16];
static char other[sizeof folder + 16];

static void put_file(const char *name, const char *content) {
  FILE *file = fopen(name, "w");
  CHECK(file && fputs(content, file) >= 0 && fclose(file) == 0);
}

static void check_content(const char *name, const char *expected) {
  char content[4096];
  FILE *file = fopen(name, "r");
  size_t len;
  CHECK(file);
  len = fread(content, 1, sizeof content - 1, file);
  content[len] = '\0';
  fclose(file);
  CHECK_STR(content, expected);
}

static int open_descriptors(void) {
  DIR *dir = opendir("/proc/self/fd");
  int count = 0;
  CHECK(dir);
  while (readdir(dir)) count++;
  closedir(dir);
  return count;
}

static void a_new_file_is_made_by_the_umask(void) {
  struct stat facts;
  mode_t before = umask(027);
  CHECK_INT(dft__file_begin(path, 0), DFT_OK);
  umask(before);
  CHECK_INT(stat(path, &facts), 0);
  CHECK_INT(facts.st_mode & 07777, 0640);
  CHECK_INT(facts.st_size, 0);
}

static void an_existing_file_is_cut_to_the_length(void) {
  put_file(path, "committed, torn");
  CHECK_INT(dft__file_begin(path, 9), DFT_OK);
  check_content(path, "committed");
  CHECK_INT(dft__file_begin(path, 9), DFT_OK);
  check_content(path, "committed");
  CHECK_INT(dft__file_begin(path, 0), DFT_OK);
  check_content(path, "");
}

static void a_file_that_lost_bytes_is_refused(void) {
  put_file(path, "short");
  CHECK_INT(dft__file_begin(path, 6), DFT_EIO);
  CHECK_INT(dft__file_begin(path, UINT64_MAX), DFT_EIO);
  check_content(path, "short");
}

static void a_missing_file_is_refused_unless_new(void) {
  CHECK_INT(dft__file_begin(path, 1), DFT_EIO);
  CHECK_INT(dft__file_append(path, 0, "x", 1), DFT_EIO);
  CHECK_INT(access(path, F_OK), -1);
  snprintf(path, sizeof path, "%s/no/trace", folder);
  CHECK_INT(dft__file_begin(path, 0), DFT_EIO);
}

static void a_symbolic_link_is_never_followed(void) {
  put_file(other, "precious");
  CHECK_INT(symlink(other, path), 0);
  CHECK_INT(dft__file_begin(path, 0), DFT_EIO);
  CHECK_INT(dft__file_begin(path, 3), DFT_EIO);
  CHECK_INT(dft__file_append(path, 8, "x", 1), DFT_EIO);
  check_content(other, "precious");
  CHECK_INT(unlink(other), 0);
  CHECK_INT(dft__file_begin(path, 0), DFT_EIO);
  CHECK_INT(access(other, F_OK), -1);
}

static void a_hard_link_to_another_file_is_refused(void) {
  put_file(other, "precious");
  CHECK_INT(link(other, path), 0);
  CHECK_INT(dft__file_begin(path, 0), DFT_EIO);
  CHECK_INT(dft__file_begin(path, 3), DFT_EIO);
  check_content(other, "precious");
}

/* The alarm would end a test that waits for the other end. */
static void a_fifo_is_refused_without_waiting(void) {
  int reader;
  CHECK_INT(mkfifo(path, 0600), 0);
  alarm(20);
  CHECK_INT(dft__file_begin(path, 0), DFT_EIO);
  CHECK_INT(dft__file_append(path, 0, "x", 1), DFT_EIO);
  reader = open(path, O_RDONLY | O_NONBLOCK);
  CHECK(reader >= 0);
  CHECK_INT(dft__file_begin(path, 0), DFT_EIO);
  CHECK_INT(dft__file_append(path, 0, "x", 1), DFT_EIO);
  alarm(0);
  close(reader);
}

static void a_folder_is_refused(void) {
  CHECK_INT(mkdir(path, 0700), 0);
  CHECK_INT(dft__file_begin(path, 0), DFT_EIO);
  CHECK_INT(dft__file_append(path, 0, "x", 1), DFT_EIO);
  CHECK_INT(rmdir(path), 0);
}

static void appends_follow_each_other(void) {
  CHECK_INT(dft__file_begin(path, 0), DFT_OK);
  CHECK_INT(dft__file_append(path, 0, "one ", 4), DFT_OK);
  CHECK_INT(dft__file_append(path, 4, "two", 3), DFT_OK);
  CHECK_INT(dft__file_append(path, 7, NULL, 0), DFT_OK);
  check_content(path, "one two");
}

/* Not the end of the file counts, but the committed length. */
static void an_append_replaces_what_was_not_committed(void) {
  put_file(path, "one TORN");
  CHECK_INT(dft__file_append(path, 4, "two!", 4), DFT_OK);
  check_content(path, "one two!");
}

static void a_file_cut_by_others_gets_no_hole(void) {
  put_file(path, "one");
  CHECK_INT(dft__file_append(path, 4, "two", 3), DFT_EIO);
  check_content(path, "one");
}

/* SIGXFSZ is at its default here: it would end this test. */
static void the_size_limit_is_a_full_disk_and_no_signal(void) {
  struct rlimit before, limit;
  CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
  put_file(path, "one ");
  limit = before;
  limit.rlim_cur = 8;
  CHECK(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
  CHECK_INT(dft__file_append(path, 4, "three", 5), DFT_ENOSPC);
  CHECK_INT(dft__file_append(path, 9, "x", 1), DFT_ENOSPC);
  CHECK_INT(dft__file_append(path, 4, "two.", 4), DFT_OK);
  CHECK_INT(dft__file_append(path, 8, "x", 1), DFT_ENOSPC);
  CHECK_INT(dft__file_append(path, 8, NULL, 0), DFT_OK);
  CHECK_INT(dft__file_begin(path, 8), DFT_OK);
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
  check_content(path, "one two.");
}

/* A size limit already passed: what is there can still be cut. */
static void a_file_beyond_the_size_limit_can_be_cut(void) {
  struct rlimit before, limit;
  CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
  put_file(path, "a longer text");
  limit = before;
  limit.rlim_cur = 4;
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
  CHECK_INT(dft__file_begin(path, 8), DFT_OK);
  CHECK_INT(dft__file_append(path, 8, "x", 1), DFT_ENOSPC);
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
  check_content(path, "a longer");
}

static void run(void (*test_case)(void)) {
  int descriptors = open_descriptors();
  snprintf(path, sizeof path, "%s/trace", folder);
  snprintf(other, sizeof other, "%s/other", folder);
  test_case();
  CHECK_INT(open_descriptors(), descriptors);
  unlink(path);
  unlink(other);
}

int main(void) {
  CHECK(mkdtemp(folder));
  run(a_new_file_is_made_by_the_umask);
  run(an_existing_file_is_cut_to_the_length);
  run(a_file_that_lost_bytes_is_refused);
  run(a_missing_file_is_refused_unless_new);
  run(a_symbolic_link_is_never_followed);
  run(a_hard_link_to_another_file_is_refused);
  run(a_fifo_is_refused_without_waiting);
  run(a_folder_is_refused);
  run(appends_follow_each_other);
  run(an_append_replaces_what_was_not_committed);
  run(a_file_cut_by_others_gets_no_hole);
  run(the_size_limit_is_a_full_disk_and_no_signal);
  run(a_file_beyond_the_size_limit_can_be_cut);
  CHECK_INT(rmdir(folder), 0);
  return 0;
}
