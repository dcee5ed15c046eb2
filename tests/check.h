/* check.h - what a test program needs. A test is a program: 0 passed, 77 skipped, anything else failed.
 *
 * Inside it one static function per case, named as a sentence and called from main. A check that does not hold prints
 * file, line, expression and both sides to stderr and ends the program with 1; it is never compiled out. Each argument is
 * evaluated once.
 *
 *   CHECK(is_open);                  CHECK_INT(count, 3);        CHECK_STR(text, "three");
 *   CHECK_BYTES(text, len, "a\0b", 3);                           if (geteuid() != 0) SKIP("needs root");
 *
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TESTS_CHECK_H
#define DFTRACER_TESTS_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
#define CHECK_INT(actual, expected) check_int(__FILE__, __LINE__, #actual " == " #expected, (actual), (expected))
#define CHECK_UINT(actual, expected) check_uint(__FILE__, __LINE__, #actual " == " #expected, (actual), (expected))
#define CHECK_STR(actual, expected) check_str(__FILE__, __LINE__, #actual " == " #expected, (actual), (expected))
#define CHECK_BYTES(actual, actual_len, expected, expected_len) \
  check_bytes(__FILE__, __LINE__, #actual " == " #expected, (actual), (actual_len), (expected), (expected_len))
#define SKIP(reason) check_skip(reason)

__attribute__((noreturn, unused)) static void check_failed(const char *file, int line, const char *text) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
  exit(1);
}

__attribute__((noreturn, unused)) static void check_skip(const char *reason) {
  fprintf(stderr, "SKIP: %s\n", reason);
  exit(77);
}

__attribute__((unused)) static void check_int(const char *file, int line, const char *text, int64_t actual,
                                              int64_t expected) {
  if (actual == expected) return;
  fprintf(stderr, "  actual    %" PRId64 "\n  expected  %" PRId64 "\n", actual, expected);
  check_failed(file, line, text);
}

__attribute__((unused)) static void check_uint(const char *file, int line, const char *text, uint64_t actual,
                                               uint64_t expected) {
  if (actual == expected) return;
  fprintf(stderr, "  actual    %" PRIu64 "\n  expected  %" PRIu64 "\n", actual, expected);
  check_failed(file, line, text);
}

__attribute__((unused)) static void check_str(const char *file, int line, const char *text, const char *actual,
                                              const char *expected) {
  if (actual && expected ? strcmp(actual, expected) == 0 : actual == expected) return;
  fprintf(stderr, "  actual    %s\n  expected  %s\n", actual ? actual : "NULL", expected ? expected : "NULL");
  check_failed(file, line, text);
}

/* For texts that are not terminated, or hold zeros. */
__attribute__((unused)) static void check_bytes(const char *file, int line, const char *text, const void *actual,
                                                size_t actual_len, const void *expected, size_t expected_len) {
  if (actual_len == expected_len && (!actual_len || memcmp(actual, expected, actual_len) == 0)) return;
  fprintf(stderr, "  actual    %zu bytes: %.*s\n  expected  %zu bytes: %.*s\n", actual_len, (int)actual_len,
          (const char *)actual, expected_len, (int)expected_len, (const char *)expected);
  check_failed(file, line, text);
}

#endif
