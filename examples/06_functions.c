/* 06_functions.c - no annotation at all: built with -finstrument-functions, every function is an event of category FUNC.
 *
 *   DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=out/trace ./06_functions
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

static int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void report(int n) {
  printf("%d\n", fibonacci(n));
}

int main(void) {
  report(6);
  return 0;
}
