/* test_name.c - names of regions: missing, strange, huge, and more of them than can be registered.
 * SPDX-License-Identifier: MIT */
#include "session.h"

static void names_may_be_missing(void) {
  dft_site nothing = DFT_SITE(NULL, NULL);
  dft_site empty = DFT_SITE("", "");
  trace in;
  size_t unnamed = 0;
  start_in_memory();
  dft_region_begin(&nothing);
  dft_region_end();
  dft_region_begin(&empty);
  dft_region_end();
  dft_region_begin(NULL);
  dft_region_end();
  dft_region_begin_named(NULL, NULL);
  dft_region_end();
  dft_region_begin_n("abc", 0, "def", 0);
  dft_region_end();
  dft_region_begin_named("named", NULL);
  dft_region_end();
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    unnamed += strcmp(in.events[i].name, "(unnamed)") == 0 && strcmp(in.events[i].cat, "(unnamed)") == 0;
  }
  CHECK_INT(unnamed, 5);
  CHECK_STR(the_event(&in, "named")->cat, "(unnamed)");
  free_trace(&in);
}

static void a_name_may_hold_anything(void) {
  trace in;
  const event *bad;
  start_in_memory();
  dft_region_begin_named("say \"no\"\n\tto\\it", "a\"b");
  dft_region_end();
  dft_region_begin_n("zero\0inside", 11, "[x]", 3);
  dft_region_end();
  dft_region_begin_named("f\xc3\xbcr \xe2\x82\xac", "\xf0\x9f\x98\x80");
  dft_region_end();
  dft_region_begin_named("bad\xff", "cat\xfe");
  dft_region_end();
  in = stop();
  CHECK_STR(the_event(&in, "say \"no\"\n\tto\\it")->cat, "a\"b");
  CHECK(strstr(the_event(&in, "zero")->line, "\"name\":\"zero\\u0000inside\",\"cat\":\"\\u005bx\\u005d\""));
  CHECK_STR(the_event(&in, "f\xc3\xbcr \xe2\x82\xac")->cat, "\xf0\x9f\x98\x80");
  bad = the_event(&in, "bad\xef\xbf\xbd");
  CHECK_STR(bad->cat, "cat\xef\xbf\xbd");
  CHECK_STR(arg_text(bad, "name.hex"), "626164ff");
  CHECK_STR(arg_text(bad, "cat.hex"), "636174fe");
  free_trace(&in);
}

/* Longer than any limit, cut at a character; bytes that are no characters are cut at the limit. */
static void a_huge_name_is_cut_at_a_character(void) {
  enum { LEN = 1 << 20 };
  char *name = malloc(LEN + 1);
  trace in;
  size_t found = 0;
  CHECK(name);
  start_in_memory();
  for (size_t shift = 0; shift < 3; shift++) {
    memset(name, 'x', shift);
    for (size_t i = shift; i + 3 <= LEN; i += 3) memcpy(name + i, "\xe2\x82\xac", 3);
    dft_region_begin_n(name, LEN, name, LEN);
    dft_region_end();
  }
  memset(name, 0x80, LEN);
  dft_region_begin_n(name, LEN, "bad", 3);
  dft_region_end();
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    size_t len = strlen(in.events[i].name);
    if (strcmp(in.events[i].cat, "bad") == 0) {
      CHECK(find_arg(&in.events[i], "name.hex") && find_arg(&in.events[i], "name.hex")->len >= 2 * 4093);
      continue;
    }
    if (len < 100) continue;
    found++;
    CHECK(len <= 4096 && len > 4092);
    CHECK_BYTES(in.events[i].name + len - 3, 3, "\xe2\x82\xac", 3);
    CHECK_STR(in.events[i].cat, in.events[i].name);
    CHECK(!find_arg(&in.events[i], "name.hex"));
  }
  CHECK_INT(found, 3);
  free_trace(&in);
  free(name);
}

/* Many more than can be registered; the others travel with their events. */
static void a_million_distinct_names_are_kept(void) {
  enum { NAMES = FEWER(1000000, 100000) };
  char *seen = calloc(NAMES, 1);
  size_t found = 0;
  trace in;
  CHECK(seen);
  start_in_memory();
  for (int i = 0; i < NAMES; i++) {
    char name[32];
    snprintf(name, sizeof name, "name %d", i);
    dft_region_begin_named(name, i % 2 ? "odd" : "even");
    dft_update_int("number", i);
    dft_region_end();
  }
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    int number;
    if (sscanf(in.events[i].name, "name %d", &number) != 1) continue;
    CHECK(number >= 0 && number < NAMES && !seen[number]++);
    CHECK_STR(in.events[i].cat, number % 2 ? "odd" : "even");
    CHECK_INT(arg_int(&in.events[i], "number"), number);
    found++;
  }
  CHECK_INT(found, NAMES);
  free_trace(&in);
  free(seen);
}

/* Static sites that came too late for the registry. */
static void sites_beyond_the_registry_are_recorded(void) {
  enum { SITES = 70000 };
  dft_site *sites = calloc(SITES, sizeof *sites);
  char(*names)[16] = calloc(SITES, sizeof *names);
  trace in;
  CHECK(sites && names);
  set("DFTRACER_CATEGORIES", "kept");
  start_in_memory();
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < SITES; i++) {
      snprintf(names[i], sizeof names[i], "site %d", i);
      sites[i].name = names[i];
      sites[i].cat = i % 7 ? "kept" : "muted";
      dft_region_begin(&sites[i]);
      dft_region_end();
      dft_record(&sites[i], dft_ticks(), dft_ticks(), NULL, 0);
    }
  }
  in = stop();
  CHECK_INT(count_name(&in, "site 1"), 4);
  CHECK_INT(count_name(&in, "site 69999"), 4);
  CHECK_INT(count_name(&in, "site 7"), 0);
  CHECK_INT(count_name(&in, "site 69993"), 0);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), INT64_C(4) * (SITES - SITES / 7));
  free_trace(&in);
  free(sites);
  free(names);
}

int main(void) {
  RUN(names_may_be_missing);
  RUN(a_name_may_hold_anything);
  RUN(a_huge_name_is_cut_at_a_character);
  RUN(a_million_distinct_names_are_kept);
  RUN(sites_beyond_the_registry_are_recorded);
  return failed_cases;
}
