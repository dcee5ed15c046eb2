/* moment.h - what the summary needs to know about an event, and the order in which events are accounted: by thread, then by
 * their end (for equal ends: the later start first, then the deeper level, then file order).
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MOMENT_H
#define DFTRACER_MOMENT_H

#include <stdint.h>

typedef struct moment {
  int64_t start, end; /* ns */
  union {
    int64_t offset; /* of a transfer or a seek; -1: not given */
    int64_t worker; /* of any other event: who loads the batch */
  };
  union {
    int64_t result; /* of a call: the bytes of a transfer; negative: it failed; NO_RESULT: not given */
    int64_t batch;  /* of any other event: that is loaded or fetched; negative: not given */
  };
  uint32_t class_number; /* what its name and category mean to the summary */
  uint32_t group;
  uint32_t file;
  uint32_t second_file; /* the file that a copy writes */
  uint32_t thread;
  uint16_t level;
  uint16_t error : 14; /* errno of a call that failed; 0: not given */
  uint16_t whence : 2; /* where the offset of a seek counts from, or an open begins: SEEK_SET, SEEK_CUR, or another */
  int32_t epoch, step; /* NO_STEP: not given */
} moment;

#define NO_RESULT INT64_MIN
#define NO_STEP INT32_MIN

/* Less than 0: `one` comes first. 0: file order decides. As a record_compare. */
int moment_compare(const void *one, const void *two);
/* Keeps the order of equal moments. Quick if they are nearly in order. 0: no memory. */
int moments_sort(moment *moments, uint32_t count);

#endif
