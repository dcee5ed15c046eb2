/* test_site.c - sites made at run time.
 * SPDX-License-Identifier: MIT */
#include "session.h"

static dft_site *declare(const char *name, const char *cat) {
  return dft_site_declare_n(name, strlen(name), cat, strlen(cat));
}

static void one_site_for_a_name_and_category(void) {
  dft_site *site = declare("step", "solver");
  CHECK(site != NULL);
  CHECK_STR(site->name, "step");
  CHECK_STR(site->cat, "solver");
  CHECK(declare("step", "solver") == site);
  CHECK(declare("step", "other") != site);
  CHECK(declare("steps", "olver") != site);
  CHECK(dft_site_declare_n("step and more", 4, "solver and more", 6) == site);
}

static void nothing_is_a_name_too(void) {
  dft_site *site = dft_site_declare_n(NULL, 0, NULL, 0);
  CHECK(site != NULL && !*site->name && !*site->cat);
  CHECK(declare("", "") == site);
  CHECK(dft_site_declare_n(NULL, 7, NULL, 7) == site);
}

enum { THREADS = 4, SITES = 2000 };
static dft_site *found[THREADS][SITES];

static void *declare_all(void *argument) {
  dft_site **mine = argument;
  for (int i = 0; i < SITES; i++) {
    char name[32];
    snprintf(name, sizeof name, "site %d", i);
    mine[i] = declare(name, "threads");
  }
  return NULL;
}

static void threads_get_the_same_sites(void) {
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++) CHECK_INT(pthread_create(&threads[t], NULL, declare_all, found[t]), 0);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  for (int i = 0; i < SITES; i++) {
    for (int t = 1; t < THREADS; t++) CHECK(found[t][i] == found[0][i]);
    CHECK(i == 0 || found[0][i] != found[0][i - 1]);
  }
}

static void it_names_regions_of_one_trace_after_the_other(void) {
  dft_site *site = declare("step", "solver");
  for (int i = 0; i < 2; i++) {
    trace in;
    start_in_memory();
    dft_region_begin(site);
    dft_region_end();
    in = stop();
    CHECK_STR(the_event(&in, "step")->cat, "solver");
    free_trace(&in);
  }
}

static void one_address_may_hold_one_name_after_the_other(void) {
  const char *names[] = {"abc", "abd", "abcd", "abc", "abc"};
  const char *cats[] = {"one", "one", "one", "two", "one"};
  char name[8], cat[8];
  trace in;
  start_in_memory();
  for (int i = 0; i < 5; i++) {
    memcpy(name, names[i], strlen(names[i]));
    memcpy(cat, cats[i], 3);
    dft_region_begin_n(name, strlen(names[i]), cat, 3);
    dft_region_end();
  }
  for (size_t len = 0; len < 5; len++) { /* nothing is read at NULL, whatever lies in its slot */
    dft_region_begin_n(NULL, len, cat, 3);
    dft_region_begin_n(name, 3, NULL, len);
    dft_region_begin_n(name, 3, "", 0);
    dft_region_end();
    dft_region_end();
    dft_region_end();
  }
  in = stop();
  CHECK_INT((int64_t)count_name(&in, "(unnamed)"), 5);
  CHECK_INT((int64_t)count_name(&in, "abc"), 13);
  CHECK_STR(the_event(&in, "abd")->cat, "one");
  CHECK_STR(the_event(&in, "abcd")->cat, "one");
  free_trace(&in);
}

int main(void) {
  RUN(one_site_for_a_name_and_category);
  RUN(nothing_is_a_name_too);
  RUN(threads_get_the_same_sites);
  RUN(it_names_regions_of_one_trace_after_the_other);
  RUN(one_address_may_hold_one_name_after_the_other);
  return failed_cases;
}
