/* team.c - a team of four OpenMP threads; each opens a file that is named after its number. One has a name of its own, and
 * one the name that newer versions of LLVM's OpenMP give to all of them.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static void *open_one(void *name) {
  fclose(fopen(name, "w"));
  return NULL;
}

int main(void) {
  pthread_t other;
#pragma omp parallel num_threads(4)
  {
    char name[16];
    snprintf(name, sizeof name, "%d", omp_get_thread_num());
    if (omp_get_thread_num() == 1) pthread_setname_np(pthread_self(), "openmp_worker");
    if (omp_get_thread_num() == 2) pthread_setname_np(pthread_self(), "own name");
    open_one(name);
  }
  pthread_create(&other, NULL, open_one, "other");
  pthread_join(other, NULL);
  return 0;
}
