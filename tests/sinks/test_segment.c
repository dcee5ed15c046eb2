/* test_segment.c - a row of segment files is read as one, wherever its writer died.
 * SPDX-License-Identifier: MIT */
#include "sinks/hdf5/segment.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "check.h"

#define MOST 100 /* three records of these tests */

static char folder[] = "/tmp/dftracer-segment-XXXXXX";
static char path[sizeof folder + 16];
static dft__h5_segment segment;

static void put(uint64_t number) {
  dft__h5_record record = {.kind = DFT__H5_NAMES, .first = number, .bytes = 5};
  uint8_t *at = dft__h5_segment_reserve(&segment, 5);
  CHECK(at);
  memcpy(at, "bytes", 5);
  dft__h5_segment_put(&segment, &record);
  CHECK_INT(dft__h5_segment_flush(&segment, 0), DFT_OK);
}

static int roll(void) {
  int is_new;
  CHECK_INT(dft__h5_segment_roll(&segment, MOST, &is_new), DFT_OK);
  return is_new;
}

/* Records from `first` on, until so many files are complete; then one more. Returns the next number. */
static uint64_t fill(uint64_t first, uint32_t files) {
  while (segment.number < files) {
    put(first++);
    roll();
  }
  put(first++);
  return first;
}

static void open_at(uint64_t length) {
  dft__h5_segment_close(&segment);
  CHECK_INT(dft__h5_segment_begin(path, length), DFT_OK);
  CHECK(dft__h5_segment_open(&segment, path, length));
}

static void check_records(uint64_t count) {
  dft__h5_walk walk;
  CHECK(dft__h5_walk_open(&walk, path, segment.length));
  for (int turn = 0; turn < 2; turn++) { /* back to the first file, too */
    walk.next = 0;
    for (uint64_t number = 0; number < count; number++) {
      char bytes[5];
      CHECK_INT(dft__h5_walk_next(&walk), 1);
      CHECK_UINT(walk.record.first, number);
      CHECK(dft__h5_walk_read(&walk, bytes, sizeof bytes));
      CHECK_BYTES(bytes, sizeof bytes, "bytes", 5);
    }
    CHECK_INT(dft__h5_walk_next(&walk), 0);
  }
  dft__h5_walk_close(&walk);
}

static int count_files(void) {
  DIR *dir = opendir(folder);
  int count = -2;
  CHECK(dir);
  while (readdir(dir)) count++;
  closedir(dir);
  return count;
}

static void clean(void) {
  dft__h5_segment_remove(path);
  unlink(path);
  CHECK_INT(count_files(), 0);
}

static void many_files_are_read_as_one(void) {
  uint64_t count;
  open_at(0);
  count = fill(0, 3);
  CHECK_INT(count_files(), 4);
  check_records(count);
  open_at(segment.length);
  check_records(fill(count, 5));
  CHECK_INT(count_files(), 6);
  clean();
}

static void a_short_row_is_one_file(void) {
  open_at(0);
  put(0);
  CHECK(!roll());
  CHECK_INT(count_files(), 1);
  check_records(1);
  clean();
}

/* What was renamed and not committed grows again. `has_next`: the death came after the next file was made. */
static void death_before_the_commit(uint32_t complete, int has_next) {
  uint64_t count, committed;
  open_at(0);
  if (complete) fill(0, complete);
  else put(0);
  count = complete ? 3 * complete + 1 : 1;
  committed = segment.length;
  put(count);
  put(count + 1);
  CHECK(roll());
  if (!has_next) CHECK_INT(unlink(path), 0);
  open_at(committed);
  CHECK_UINT(segment.number, complete);
  CHECK_INT(count_files(), (int)complete + 1);
  check_records(count);
  check_records(fill(count, complete + 2));
  clean();
}

static void death_before_the_first_commit(void) {
  open_at(0);
  fill(0, 1);
  open_at(0);
  CHECK_INT(count_files(), 1);
  check_records(fill(0, 1));
  clean();
}

static void a_commit_at_the_end_of_a_segment(void) {
  uint64_t count = 0;
  open_at(0);
  do put(count++);
  while (!roll());
  open_at(segment.length);
  CHECK_UINT(segment.number, 1);
  check_records(count);
  check_records(fill(count, 2));
  clean();
}

static void removing_goes_on_after_a_death(void) {
  char last[sizeof path + 8];
  open_at(0);
  fill(0, 3);
  CHECK(dft__h5_segment_name(last, sizeof last, path, 3));
  CHECK_INT(unlink(last), 0);
  clean();
}

static void a_missing_segment_is_told_and_nothing_removed(void) {
  char gone[sizeof path + 8];
  dft__h5_walk walk;
  open_at(0);
  fill(0, 3);
  CHECK(dft__h5_segment_name(gone, sizeof gone, path, 2));
  CHECK_INT(unlink(gone), 0);
  CHECK(!dft__h5_walk_open(&walk, path, segment.length));
  CHECK_INT(errno, EIO);
  CHECK_INT(dft__h5_segment_begin(path, segment.length), DFT_EIO);
  CHECK_INT(count_files(), 3);
  CHECK(dft__h5_segment_name(gone, sizeof gone, path, 3));
  CHECK_INT(unlink(gone), 0);
  clean();
}

int main(void) {
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/rows", folder);
  many_files_are_read_as_one();
  a_short_row_is_one_file();
  for (uint32_t complete = 0; complete < 3; complete++) {
    death_before_the_commit(complete, 0);
    death_before_the_commit(complete, 1);
  }
  death_before_the_first_commit();
  a_commit_at_the_end_of_a_segment();
  removing_goes_on_after_a_death();
  a_missing_segment_is_told_and_nothing_removed();
  dft__h5_segment_close(&segment);
  rmdir(folder);
  return 0;
}
