/* test_path.c - paths: each is defined once, before its first use.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "session.h"

static dft_site measured = DFT_SITE("measured", "test");

/* H4: each hash is defined by an FH line above its first use. How often each is defined: once, but for paths that came as
 * text, of which no list can be kept; they are defined again now and then. */
static size_t check_paths(const trace *in, const char *key) {
  size_t used = 0, room = 1 << 18;
  uint64_t *known = calloc(room, sizeof *known);
  CHECK(known);
  for (size_t i = 0; i < in->count; i++) {
    const event *one = &in->events[i];
    const char *text = strcmp(one->name, "FH") == 0 ? arg_text(one, "value") : arg_text(one, key);
    uint64_t hash;
    size_t slot;
    if (!text) continue;
    CHECK_INT(strlen(text), 16);
    CHECK_INT(strspn(text, "0123456789abcdef"), 16);
    hash = strtoull(text, NULL, 16);
    slot = hash % room;
    while (known[slot] && known[slot] != hash) slot = (slot + 1) % room;
    if (strcmp(one->name, "FH") == 0) {
      known[slot] = hash;
    } else {
      if (known[slot] != hash) fprintf(stderr, "  not defined: %s\n", one->line);
      CHECK(known[slot] == hash);
      used++;
    }
  }
  free(known);
  return used;
}

static void record_path(const char *path) {
  dft_key key = DFT_KEY("fhash");
  dft_arg value = {.key = &key, .type = DFT_PATH};
  value.path = dft_path(path, strlen(path));
  value.value.s.text = path;
  value.value.s.len = strlen(path);
  dft_record(&measured, dft_ticks(), dft_ticks(), &value, 1);
}

static size_t count_definitions(const trace *in, const char *path) {
  size_t count = 0;
  for (size_t i = 0; i < in->count; i++) {
    count += strcmp(in->events[i].name, "FH") == 0 && strcmp(arg_text(&in->events[i], "name"), path) == 0;
  }
  return count;
}

static void a_path_is_defined_once_before_its_first_use(void) {
  char cwd[4096];
  trace in;
  CHECK(getcwd(cwd, sizeof cwd));
  start_in_memory();
  for (int i = 0; i < 1000; i++) {
    char path[32];
    snprintf(path, sizeof path, "/data/%d", i % 100);
    record_path(path);
  }
  record_path(cwd); /* the opening lines have it already */
  CHECK_UINT(dft_path(NULL, 5), 0);
  CHECK_UINT(dft_path("", 0), 0);
  in = stop();
  CHECK_INT(check_paths(&in, "fhash"), 1001);
  CHECK_INT(count_name(&in, "FH"), 101);
  CHECK_INT(count_definitions(&in, "/data/7"), 1);
  CHECK_INT(count_definitions(&in, cwd), 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1001);
  free_trace(&in);
}

static void a_path_given_as_text_is_defined_too(void) {
  dft_arg value = {.name = "fhash", .name_len = 5, .type = DFT_PATH, .value.s = {"/as/text", 8}};
  char cwd[4096];
  trace in;
  CHECK(getcwd(cwd, sizeof cwd));
  start_in_memory();
  dft_instant_n("first", 5, "test", 4, &value, 1);
  dft_instant_n("second", 6, "test", 4, &value, 1);
  value.value.s.text = cwd;
  value.value.s.len = strlen(cwd);
  dft_instant_n("third", 5, "test", 4, &value, 1);
  dft_region_begin_named("open", "test");
  value.value.s.text = "/open";
  value.value.s.len = 5;
  dft_update_arg(0, &value);
  in = stop();
  CHECK_INT(check_paths(&in, "fhash"), 4);
  CHECK_INT(count_definitions(&in, "/as/text"), 1);
  CHECK_INT(count_definitions(&in, "/open"), 1);
  CHECK_INT(count_definitions(&in, cwd), 1);
  CHECK_STR(arg_text(the_event(&in, "first"), "fhash"), arg_text(the_event(&in, "second"), "fhash"));
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 4);
  free_trace(&in);
}

static void write_one_path(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(NULL), DFT_OK);
  record_path("/the/same/file");
  CHECK_INT(dft_stop(), DFT_OK);
}

static void the_hash_of_a_path_is_the_same_in_every_process(void) {
  char hashes[2][17];
  for (int i = 0; i < 2; i++) {
    char name[256], path[300];
    trace in;
    set("DFTRACER_LOG_FILE", i ? "b/trace" : "a/trace");
    CHECK_INT(in_process(write_one_path), 0);
    CHECK_INT(count_files(i ? "b" : "a", name), 1);
    snprintf(path, sizeof path, "%s/%s", i ? "b" : "a", name);
    in = read_trace(path);
    snprintf(hashes[i], sizeof hashes[i], "%s", arg_text(the_event(&in, "measured"), "fhash"));
    free_trace(&in);
  }
  CHECK_STR(hashes[0], hashes[1]);
}

/* Some are registered, the rest goes along as text. */
static void more_paths_than_can_be_registered_are_defined(void) {
  enum { PATHS = FEWER(100000, 70000) };
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  set("DFTRACER_LOG_FILE", "paths.pfw");
  for (int i = 0; i < PATHS; i++) {
    char path[64];
    snprintf(path, sizeof path, "/some/folder/with/files/number-%d", i);
    record_path(path);
  }
  record_path("/some/folder/with/files/number-69999");
  CHECK_INT(dft_stop(), DFT_OK);
  in = read_trace("paths.pfw");
  CHECK_INT(check_paths(&in, "fhash"), PATHS + 1);
  CHECK_INT(count_definitions(&in, "/some/folder/with/files/number-0"), 1);
  CHECK(count_definitions(&in, "/some/folder/with/files/number-69999") >= 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), PATHS + 1);
  free_trace(&in);
}

enum { PATH_THREADS = 8, THREAD_PATHS = FEWER(20000, 3000) };

static void *record_paths(void *number) {
  for (int i = 0; i < THREAD_PATHS; i++) {
    char path[64];
    snprintf(path, sizeof path, "/shared/%d", (i * 7 + (int)(intptr_t)number) % 5000);
    record_path(path);
  }
  return NULL;
}

static void threads_share_the_definitions(void) {
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  set("DFTRACER_LOG_FILE", "threads.pfw");
  on_threads(PATH_THREADS, record_paths);
  CHECK_INT(dft_stop(), DFT_OK);
  in = read_trace("threads.pfw");
  CHECK_INT(check_paths(&in, "fhash"), PATH_THREADS * THREAD_PATHS);
  CHECK(count_name(&in, "FH") <= 5001 + 50); /* two threads may register the same text in the same moment */
  free_trace(&in);
}

int main(void) {
  RUN(a_path_is_defined_once_before_its_first_use);
  RUN(a_path_given_as_text_is_defined_too);
  RUN(the_hash_of_a_path_is_the_same_in_every_process);
  RUN(more_paths_than_can_be_registered_are_defined);
  RUN(threads_share_the_definitions);
  return failed_cases;
}
