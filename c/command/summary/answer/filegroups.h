/* filegroups.h - files in groups: what their names have in common, as long as no file of it matters by itself.
 *
 * 1. Three or more files whose paths differ only in numbers are one line: data/img_{0000..9999}.npy.
 * 2. A line with more than a twentieth of the time in calls, or of the bytes, stays as it is.
 * 3. Of the others, more than four lines in one folder with the same extension become one: data/{1,203 files}.bin.
 *    Then, from the deepest folder upwards, more than four lines in a folder and below it become one.
 *
 * docs/summary.md explains it to users. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_FILEGROUPS_H
#define DFTRACER_FILEGROUPS_H

#include "answer.h"

typedef struct file_group {
  dft_text label; /* allocated */
  uint64_t files;
  io_stats io;     /* the sum over its files */
  uint32_t number; /* breaks ties of the order */
} file_group;

typedef struct file_groups {
  file_group *list; /* most time in calls first */
  uint32_t count;
  uint32_t *of_file; /* by number of the file in the state: its place in the list, + 1; 0: no calls; FILE_LEFT_OUT */
  uint32_t left_out; /* files of the MPI runtime */
} file_groups;
#define FILE_LEFT_OUT UINT32_MAX

enum file_grouping {
  FILES_GROUPED,    /* all files, in groups */
  FILES_OF_PROGRAM, /* without those of the MPI runtime (runtimefiles.h) */
  FILES_SINGLE      /* every file is a group */
};
/* 0: no memory. */
int file_groups_make(file_groups *groups, const summary_state *state, enum file_grouping grouping);
void file_groups_free(file_groups *groups);

#endif
